/* ckt_pattern.c - the Jacobian's pattern from the stamps, and the place of every stamp in it. */
#include "bits.h"
#include "ckt_priv.h"

#include <stdlib.h>
#include <string.h>

static bool is_matrix(uint8_t kind)
{
    return kind == IR_OUT_G || kind == IR_OUT_C || kind == IR_OUT_J;
}

/* still: those that vanish at rest too */
static void device_entries(const ckt *c, mdl_form_kind form, bool still, csc_entry **e)
{
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[form];
        for (int32_t k = 0; f->variant && k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (!is_matrix(o->kind) || (o->still && !still))
                continue;
            vec_reserve(*e, g->nb);
            for (int32_t i = 0; i < g->nb; i++) {
                const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
                vec_push(*e, csc_entry_of(to[o->a], to[o->b]));
            }
        }
    }
}

void ckt_device_entries(const ckt *c, mdl_form_kind form, csc_entry **e)
{
    device_entries(c, form, true, e);
}

void ckt_rest_entries(const ckt *c, csc_entry **e) { device_entries(c, MDL_DC, false, e); }

bool ckt_has_still(const ckt *c)
{
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_form *f = &c->group[gi].form[MDL_DC];
        for (int32_t k = 0; f->variant && k < f->n_out; k++)
            if (is_matrix(f->variant->out[k].kind) && f->variant->out[k].still)
                return true;
    }
    return false;
}

static int compare_entries(const void *va, const void *vb)
{
    const csc_entry a = *(const csc_entry *)va, b = *(const csc_entry *)vb;
    return a < b ? -1 : a > b;
}

/* Stable counting sort by column or row: from -> to, keys below n. */
static void sort_by(const csc_entry *from, csc_entry *to, size_t len, bool row, int32_t *start,
                    size_t n)
{
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t i = 0; i < len; i++)
        start[(row ? csc_entry_row(from[i]) : csc_entry_col(from[i])) + 1]++;
    for (size_t k = 0; k < n; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < len; i++)
        to[start[row ? csc_entry_row(from[i]) : csc_entry_col(from[i])]++] = from[i];
}

void ckt_sort_entries(const ckt *c, csc_entry *e)
{
    const size_t len = vec_len(e), n = vec_len(c->unknown);
    if (!len)
        return;
    csc_entry *other = NULL;
    int32_t *start = NULL;
    vec_extend(other, len);
    vec_extend(start, n + 1);
    sort_by(e, other, len, false, start, n);
    sort_by(other, e, len, true, start, n);
    vec_free(other);
    vec_free(start);
    size_t k = 1;
    for (size_t i = 1; i < len; i++)
        if (e[i] != e[k - 1])
            e[k++] = e[i];
    vec_head_of(e)->len = k;
}

bool ckt_has_entry(const csc_entry *e, int32_t row, int32_t col)
{
    const csc_entry key = csc_entry_of(row, col);
    return vec_len(e) && bsearch(&key, e, vec_len(e), sizeof *e, compare_entries);
}

/* Entries come one by one, in any order and several times each. They are taken three times: to
 * count those of each column, then to the places of its rows, then again for the places of the
 * matrix that these have become. A list of them would need more memory than the matrix, and a
 * search for each more time: columns of supplies are long. */
typedef struct columns {
    int32_t *at;  /* [n+2] count; then where the next row of a column goes, or is */
    int32_t *row; /* NULL: counting */
} columns;

static void take_entry(columns *t, int32_t row, int32_t col)
{
    if (!row || !col)
        return;
    if (t->row)
        t->row[t->at[col]++] = row - 1;
    else
        t->at[col + 1]++;
}

/* Matrix outputs of a form that no form before it has in the same places. */
static const mdl_out **new_outputs(const ckt *c, const dev_group *g, int form, map *known)
{
    const dev_form *f = &g->form[form];
    const mdl_out **out = NULL;
    bool same = false;
    for (int k = 0; k < form; k++)
        same |= c->forms >> k & 1 && g->form[k].map == f->map;
    if (!same)
        map_free(known);
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        const uint64_t key = csc_entry_of(o->a, o->b);
        if (!is_matrix(o->kind) || map_get(known, key, 0))
            continue;
        map_set(known, key, 1);
        vec_push(out, o);
    }
    return out;
}

static void take_group(const ckt *c, const dev_group *g, columns *t)
{
    map known = {0};
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *f = &g->form[form];
        if (!(c->forms >> form & 1) || !f->variant)
            continue;
        const mdl_out **out = new_outputs(c, g, form, &known);
        for (int32_t i = 0; i < g->nb; i++) {
            const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
            for (size_t k = 0; k < vec_len(out); k++)
                take_entry(t, to[out[k]->a], to[out[k]->b]);
        }
        vec_free(out);
    }
    map_free(&known);
}

static void take_all(const ckt *c, const csc_entry *native, columns *t)
{
    for (size_t g = 0; g < vec_len(c->group); g++)
        take_group(c, &c->group[g], t);
    for (size_t i = 0; i < vec_len(native); i++)
        take_entry(t, csc_entry_row(native[i]), csc_entry_col(native[i]));
    for (int32_t k = 1; k < (int32_t)vec_len(c->unknown); k++)
        if (c->unknown[k].node)
            take_entry(t, k, k);
    for (size_t i = 0; i < vec_len(c->fix); i++)
        take_entry(t, c->fix[i].unknown, c->fix[i].unknown);
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* The same by a bit for each row of the matrix: for columns of supplies. mark [bits of n_row]: 0
 * between calls. */
static void mark_rows(int32_t *row, int32_t n, uint64_t *mark, int32_t n_row)
{
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++)
        bits_set(mark, (size_t)row[i]);
    for (size_t w = 0; w < bits_words(n_row); w++)
        for (; mark[w]; mark[w] &= mark[w] - 1)
            row[left++] = (int32_t)(w * 64) + __builtin_ctzll(mark[w]);
}

/* Sorts the rows [0, n) of a column, which differ. */
static void sort_rows(int32_t *row, int32_t n, uint64_t *mark, int32_t n_row)
{
    enum { FEW = 24, PER_WORD = 8 };
    if (n > FEW && (size_t)n * PER_WORD > bits_words(n_row)) {
        mark_rows(row, n, mark, n_row);
        return;
    }
    if (n > FEW)
        qsort(row, (size_t)n, sizeof *row, compare_rows);
    for (int32_t i = 1; i < n && n <= FEW; i++) {
        const int32_t r = row[i];
        int32_t k = i;
        for (; k > 0 && row[k - 1] > r; k--)
            row[k] = row[k - 1];
        row[k] = r;
    }
}

/* The rows of a column, which stand at *raw, n with copies, go to the end of the vec *rows, each
 * once and ascending. Each raw one becomes its place there. where [n_row]: below the places of this
 * column. */
static void end_column(int32_t *raw, int32_t n, int32_t **rows, int32_t *where, uint64_t *mark,
                       int32_t n_row)
{
    const int32_t first = (int32_t)vec_len(*rows);
    if (!n)
        return;
    vec_reserve(*rows, n);
    int32_t *row = *rows + first, left = 0;
    for (int32_t i = 0; i < n; i++)
        if (where[raw[i]] < first) {
            where[raw[i]] = first;
            row[left++] = raw[i];
        }
    sort_rows(row, left, mark, n_row);
    for (int32_t k = 0; k < left; k++)
        where[row[k]] = first + k;
    for (int32_t i = 0; i < n; i++)
        raw[i] = where[raw[i]];
    vec_head_of(*rows)->len += (size_t)left;
}

/* Afterwards t has the places of all entries, as take_all takes them. The caller frees it. */
static void make_csc(ckt *c, columns *t)
{
    csc *a = &c->a;
    csc_entry *native = NULL;
    nat_entries(&c->nat, ckt_is_reactive(c), &native);
    a->n = ckt_n(c);
    a->colptr = arena_array(&c->mem, int32_t, a->n + 1);
    vec_extend(t->at, a->n + 2);
    take_all(c, native, t);
    int32_t total = 0;
    for (int32_t col = 0; col < a->n + 2; col++) { /* at[col + 1] was the count of column col */
        const int32_t count = t->at[col];
        t->at[col] = total += count;
    }
    t->row = vs_malloc(((size_t)total + 1) * sizeof *t->row);
    take_all(c, native, t); /* at[col]: from its begin to its end */
    memmove(t->at + 1, t->at, ((size_t)a->n + 1) * sizeof *t->at);
    int32_t *rows = NULL, *where = vs_malloc(((size_t)a->n + 1) * sizeof *where);
    uint64_t *mark = vs_calloc(bits_words(a->n) + 1, sizeof *mark);
    for (int32_t i = 0; i < a->n; i++)
        where[i] = -1;
    for (int32_t j = 0; j < a->n; j++) {
        const int32_t begin = t->at[j + 1], end = j + 1 < a->n ? t->at[j + 2] : total;
        end_column(t->row + begin, end - begin, &rows, where, mark, a->n);
        a->colptr[j + 1] = (int32_t)vec_len(rows);
    }
    a->row = arena_array(&c->mem, int32_t, vec_len(rows));
    if (vec_len(rows))
        memcpy(a->row, rows, vec_len(rows) * sizeof *a->row);
    vs_free(where);
    vs_free(mark);
    vec_free(rows);
    vec_free(native);
}

static void find_diagonal(ckt *c)
{
    c->diag_slot = arena_array(&c->mem, int32_t, c->a.n + 1);
    c->diag_slot[0] = -1;
    for (int32_t j = 0; j < c->a.n; j++) {
        c->diag_slot[j + 1] = -1;
        for (int32_t p = c->a.colptr[j]; p < c->a.colptr[j + 1]; p++)
            if (c->a.row[p] == j)
                c->diag_slot[j + 1] = p;
    }
}

/* Not a static form that is not evaluated: nobody stamps it. (Groups that hold linearisations use
 * the places of the form TRAN, evaluated or not.) */
static bool is_placed(const dev_group *g, int form)
{
    const dev_form *f = &g->form[form];
    return f->variant && (form != MDL_DC || f->evaluated);
}

static void place_rows(ckt *c, const dev_group *g, dev_form *f)
{
    f->slot = arena_array(&c->mem, int32_t, (size_t)g->nb *(size_t)f->n_out);
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        int32_t *slot = &f->slot[(size_t)i * (size_t)f->n_out];
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT)
                slot[k] = to[o->a];
        }
    }
}

/* An output at whose places the n-th of new_outputs is too. */
typedef struct same_place {
    int form;
    int32_t k;
    size_t n;
} same_place;

/* found [forms][outputs]: those that have been listed */
static same_place *find_same(const dev_group *g, const dev_form *f, const mdl_out *const *out,
                             uint8_t *const *found)
{
    same_place *same = NULL;
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *to = &g->form[form];
        for (int32_t k = 0; is_placed(g, form) && to->map == f->map && k < to->n_out; k++)
            for (size_t n = 0; n < vec_len(out) && is_matrix(to->variant->out[k].kind); n++)
                if (out[n]->a == to->variant->out[k].a && out[n]->b == to->variant->out[k].b) {
                    vec_push(same, (same_place){form, k, n});
                    found[form][k] = 1;
                }
    }
    return same;
}

/* Takes the places of new outputs as take_group does, in the same order. */
static void place_new(const ckt *c, const dev_group *g, const dev_form *f,
                      const mdl_out *const *out, const same_place *same, const columns *t)
{
    int32_t *place = NULL;
    vec_extend(place, vec_len(out));
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        for (size_t k = 0; k < vec_len(out); k++) {
            const int32_t row = to[out[k]->a], col = to[out[k]->b];
            place[k] = row && col ? t->row[t->at[col]++] : csc_nnz(&c->a);
        }
        for (size_t k = 0; k < vec_len(same); k++) {
            const dev_form *w = &g->form[same[k].form];
            w->slot[(size_t)i * (size_t)w->n_out + (size_t)same[k].k] = place[same[k].n];
        }
    }
    vec_free(place);
}

/* Of a form whose unknowns are others than those of the forms that the pattern was made of. */
static void search_places(const ckt *c, const dev_group *g, const dev_form *f, int32_t k)
{
    const mdl_out *o = &f->variant->out[k];
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        f->slot[(size_t)i * (size_t)f->n_out + (size_t)k] =
            csc_slot(&c->a, csc_entry_of(to[o->a], to[o->b]));
    }
}

static void place_group(ckt *c, dev_group *g, const columns *t)
{
    map known = {0};
    uint8_t *found[MDL_N_FORM] = {0};
    for (int form = 0; form < MDL_N_FORM; form++)
        if (is_placed(g, form)) {
            place_rows(c, g, &g->form[form]);
            found[form] = vs_calloc((size_t)g->form[form].n_out + 1, 1);
        }
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *f = &g->form[form];
        if (!(c->forms >> form & 1) || !f->variant)
            continue;
        const mdl_out **out = new_outputs(c, g, form, &known);
        same_place *same = find_same(g, f, out, found);
        place_new(c, g, f, out, same, t);
        vec_free(out);
        vec_free(same);
    }
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *f = &g->form[form];
        for (int32_t k = 0; found[form] && k < f->n_out; k++)
            if (is_matrix(f->variant->out[k].kind) && !found[form][k])
                search_places(c, g, f, k);
        vs_free(found[form]);
    }
    map_free(&known);
}

void ckt_make_pattern(ckt *c)
{
    columns t = {0};
    make_csc(c, &t);
    ckt_rows_begin(c);
    find_diagonal(c);
    for (size_t g = 0; g < vec_len(c->group); g++)
        place_group(c, &c->group[g], &t);
    vec_free(t.at);
    vs_free(t.row);
    c->a.val = arena_array(&c->mem, double, csc_nnz(&c->a) + 1); /* where t.row was */
    nat_place(&c->nat, &c->a, ckt_is_reactive(c));
    for (size_t i = 0; i < vec_len(c->fix); i++)
        c->fix[i].slot = c->diag_slot[c->fix[i].unknown];
}
