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

/* Entries come one by one, in any order and several times each. They are taken twice: to count
 * those of each column, then to its place. A circuit may have so many that a list of them would
 * need more memory than the matrix. */
typedef struct columns {
    int32_t *at;  /* [n+2] count; then where the next row of a column goes */
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

/* The same by a bit for each row of the matrix: for columns of supplies, which have copies by the
 * hundred thousand. mark [bits of n_row]: 0 between calls. */
static int32_t mark_rows(int32_t *row, int32_t n, uint64_t *mark, int32_t n_row)
{
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++)
        bits_set(mark, (size_t)row[i]);
    for (size_t w = 0; w < bits_words(n_row); w++)
        for (; mark[w]; mark[w] &= mark[w] - 1)
            row[left++] = (int32_t)(w * 64) + __builtin_ctzll(mark[w]);
    return left;
}

/* Sorts the rows [0, n) of a column and drops copies; returns how many stay. */
static int32_t sort_rows(int32_t *row, int32_t n, uint64_t *mark, int32_t n_row)
{
    enum { FEW = 24, PER_WORD = 8 };
    if (n > FEW && (size_t)n * PER_WORD > bits_words(n_row))
        return mark_rows(row, n, mark, n_row);
    if (n > FEW)
        qsort(row, (size_t)n, sizeof *row, compare_rows);
    for (int32_t i = 1; i < n && n <= FEW; i++) {
        const int32_t r = row[i];
        int32_t k = i;
        for (; k > 0 && row[k - 1] > r; k--)
            row[k] = row[k - 1];
        row[k] = r;
    }
    int32_t left = n > 0;
    for (int32_t i = 1; i < n; i++)
        if (row[i] != row[left - 1])
            row[left++] = row[i];
    return left;
}

static void make_csc(ckt *c)
{
    csc *a = &c->a;
    columns t = {0};
    csc_entry *native = NULL;
    nat_entries(&c->nat, ckt_is_reactive(c), &native);
    a->n = ckt_n(c);
    a->colptr = arena_array(&c->mem, int32_t, a->n + 1);
    vec_extend(t.at, a->n + 2);
    take_all(c, native, &t);
    int32_t total = 0;
    for (int32_t col = 0; col < a->n + 2; col++) { /* at[col + 1] was the count of column col */
        const int32_t count = t.at[col];
        t.at[col] = total += count;
    }
    for (int32_t j = 0; j <= a->n; j++)
        a->colptr[j] = t.at[j + 1];
    vec_extend(t.row, total + 1);
    take_all(c, native, &t);
    int32_t nnz = 0;
    uint64_t *mark = vs_calloc(bits_words(a->n) + 1, sizeof *mark);
    for (int32_t j = 0; j < a->n; j++) {
        int32_t *row = &t.row[a->colptr[j]];
        const int32_t n = sort_rows(row, a->colptr[j + 1] - a->colptr[j], mark, a->n);
        memmove(&t.row[nnz], row, (size_t)n * sizeof *row);
        a->colptr[j] = nnz;
        nnz += n;
    }
    a->colptr[a->n] = nnz;
    a->row = arena_array(&c->mem, int32_t, nnz);
    a->val = arena_array(&c->mem, double, nnz + 1);
    if (nnz)
        memcpy(a->row, t.row, (size_t)nnz * sizeof *a->row);
    vs_free(mark);
    vec_free(t.at);
    vec_free(t.row);
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

/* An output of the group that has the same matrix entry in every instance as output k of the form,
 * and its place: among the outputs before it, or another form's. *of: that form. -1: none. */
static int32_t twin_of(const dev_group *g, const dev_form *f, int32_t k, const dev_form **of)
{
    const mdl_out *o = &f->variant->out[k];
    for (int i = 0; i < MDL_N_FORM; i++) {
        *of = &g->form[i];
        if (*of != f && (!(*of)->slot || (*of)->map != f->map))
            continue;
        const int32_t end = *of == f ? k : (*of)->n_out;
        for (int32_t j = 0; j < end; j++) {
            const mdl_out *t = &(*of)->variant->out[j];
            if (is_matrix(t->kind) && t->a == o->a && t->b == o->b)
                return j;
        }
    }
    return -1;
}

/* Not for a static form that is not evaluated: nobody stamps it. (Groups that hold linearisations
 * use the places of the form TRAN, evaluated or not.) Each place is searched for once. */
static void place_form(ckt *c, const dev_group *g, dev_form *f)
{
    if (f == &g->form[MDL_DC] && !f->evaluated)
        return;
    const size_t n_out = (size_t)f->n_out;
    const dev_form **of = vs_calloc(n_out + 1, sizeof *of);
    int32_t *twin = vs_calloc(n_out + 1, sizeof *twin);
    for (int32_t k = 0; k < f->n_out; k++)
        twin[k] = is_matrix(f->variant->out[k].kind) ? twin_of(g, f, k, &of[k]) : -1;
    f->slot = arena_array(&c->mem, int32_t, (size_t)g->nb *n_out);
    for (int32_t i = 0; i < g->nb; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        int32_t *slot = &f->slot[(size_t)i * n_out];
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT)
                slot[k] = to[o->a];
            else if (twin[k] >= 0)
                slot[k] = of[k]->slot[(size_t)i * (size_t)of[k]->n_out + (size_t)twin[k]];
            else if (is_matrix(o->kind))
                slot[k] = csc_slot(&c->a, csc_entry_of(to[o->a], to[o->b]));
        }
    }
    vs_free(of);
    vs_free(twin);
}

void ckt_make_pattern(ckt *c)
{
    make_csc(c);
    find_diagonal(c);
    for (size_t g = 0; g < vec_len(c->group); g++)
        for (int f = 0; f < MDL_N_FORM; f++)
            if (c->group[g].form[f].variant)
                place_form(c, &c->group[g], &c->group[g].form[f]);
    nat_place(&c->nat, &c->a, ckt_is_reactive(c));
    for (size_t i = 0; i < vec_len(c->fix); i++)
        c->fix[i].slot = c->diag_slot[c->fix[i].unknown];
}
