/* ckt_pattern.c - the Jacobian's pattern from the stamps, and the place of every stamp in it. */
#include "bits.h"
#include "ckt_priv.h"

#include <stdlib.h>
#include <string.h>

/* Of groups whose rows have several variants, the one that instance i had alone. */
static const mdl_variant *own_variant(const dev_group *g, mdl_form_kind form, int32_t i)
{
    mdl_variant *own = g->form[form].variant, *v;
    if (g->n_variant > 1 && mdl_plan_get(g->model, g->row[g->row_of[i]], form, &v) == VS_OK)
        own = v;
    return own;
}

bool ckt_has_own_row(const dev_group *g, int32_t i)
{
    return i == 0 || (g->n_variant > 1 && g->row_of[i] != g->row_of[i - 1]);
}

static bool is_by_gmin(const mdl_variant *own, const mdl_out *o)
{
    for (int32_t k = 0; k < own->lay.n_out; k++) {
        const mdl_out *p = &own->out[k];
        if (p->kind == o->kind && p->a == o->a && p->b == o->b)
            return p->by_gmin;
    }
    return false;
}

void ckt_outputs_by_gmin(const dev_group *g, mdl_form_kind form, int32_t i, bool *out)
{
    const dev_form *f = &g->form[form];
    const mdl_variant *own = own_variant(g, form, i);
    for (int32_t k = 0; k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        out[k] = own == f->variant ? o->by_gmin : is_by_gmin(own, o);
    }
}

bool ckt_looks_at(const dev_group *g, mdl_form_kind form, int32_t i, int32_t probe)
{
    const ir_fn *fn = &own_variant(g, form, i)->eval;
    for (size_t k = 0; k < vec_len(fn->in); k++)
        if (fn->in[k].kind == IR_IN_PROBE && fn->in[k].k == probe)
            return !fn->in[k].by_gmin;
    return false;
}

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

void ckt_own_entries(const ckt *c, csc_entry **e)
{
    bool *by_gmin = NULL;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        const dev_form *f = &g->form[MDL_DC];
        vec_clear(by_gmin);
        vec_extend(by_gmin, f->n_out);
        for (int32_t i = 0; f->variant && i < g->nb; i++) {
            const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
            if (ckt_has_own_row(g, i))
                ckt_outputs_by_gmin(g, MDL_DC, i, by_gmin);
            for (int32_t k = 0; k < f->n_out; k++) {
                const mdl_out *o = &f->variant->out[k];
                if (is_matrix(o->kind) && !o->still && !by_gmin[k])
                    vec_push(*e, csc_entry_of(to[o->a], to[o->b]));
            }
        }
    }
    vec_free(by_gmin);
}

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

/* An output at whose places the n-th of those taken is too. */
typedef struct same_place {
    int form;
    int32_t k;
    size_t n;
} same_place;

/* Matrix outputs of a form that no form of the group before it has in the same places. */
typedef struct taken {
    const dev_group *g;
    const dev_form *f;
    const mdl_out **out; /* vec */
    same_place *same;    /* vec */
} taken;

/* Entries come one by one, in any order and several times each. They are taken three times: to
 * count those of each column, then to the places of its rows, then again for the places of the
 * matrix that these have become. A list of them would need more memory than the matrix, and a
 * search for each more time: columns of supplies are long. Of several threads each takes a part of
 * the entries, which has places of its own in each column. */
typedef struct columns {
    ckt *c;
    taken *taken;      /* vec */
    csc_entry *native; /* vec */
    int32_t n_part, total;
    int32_t **at; /* [n_part][n+1] count; then where the next row of a column goes, or is */
    int32_t *row; /* NULL: counting */
    int32_t *cut; /* [n_part + 1] columns that the threads end */
    int32_t **of; /* [n_part] vec: their rows */
} columns;

static void take_entry(const columns *t, int32_t *at, int32_t row, int32_t col)
{
    if (!row || !col)
        return;
    if (t->row)
        t->row[at[col]] = row - 1;
    at[col]++;
}

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

static taken *list_taken(const ckt *c)
{
    taken *list = NULL;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        map known = {0};
        for (int form = 0; form < MDL_N_FORM; form++)
            if (c->forms >> form & 1 && g->form[form].variant)
                vec_push(list, ((taken){g, &g->form[form], new_outputs(c, g, form, &known), NULL}));
        map_free(&known);
    }
    return list;
}

static void free_taken(taken *list)
{
    for (size_t i = 0; i < vec_len(list); i++) {
        vec_free(list[i].out);
        vec_free(list[i].same);
    }
    vec_free(list);
}

/* What is not a group's. */
static void take_others(const columns *t, int32_t *at)
{
    const ckt *c = t->c;
    for (size_t i = 0; i < vec_len(t->native); i++)
        take_entry(t, at, csc_entry_row(t->native[i]), csc_entry_col(t->native[i]));
    for (int32_t k = 1; k < (int32_t)vec_len(c->unknown); k++)
        if (c->unknown[k].node)
            take_entry(t, at, k, k);
    for (size_t i = 0; i < vec_len(c->fix); i++)
        take_entry(t, at, c->fix[i].unknown, c->fix[i].unknown);
}

static void take_part(void *user, int32_t part, int worker)
{
    const columns *t = user;
    int32_t *at = t->at[part];
    (void)worker;
    for (size_t w = 0; w < vec_len(t->taken); w++) {
        const taken *l = &t->taken[w];
        const int32_t end = pool_part(l->g->nb, part + 1, t->n_part);
        for (int32_t i = pool_part(l->g->nb, part, t->n_part); i < end; i++) {
            const int32_t *to = &l->f->map[(size_t)i * (size_t)l->f->n_u];
            for (size_t k = 0; k < vec_len(l->out); k++)
                take_entry(t, at, to[l->out[k]->a], to[l->out[k]->b]);
        }
    }
    if (part == 0)
        take_others(t, at);
}

static void by_parts(columns *t, pool_fn fn)
{
    pool_run_each(t->n_part > 1 ? t->c->pool : NULL, POOL_OTHER, t->n_part, fn, t);
}

/* How many threads share the entries. */
static int32_t parts_for(const columns *t)
{
    enum { OPERATIONS = 20 }; /* of a kernel that an entry takes as long as */
    double n = 0;
    for (size_t w = 0; w < vec_len(t->taken); w++)
        n += (double)t->taken[w].g->nb * (double)vec_len(t->taken[w].out);
    return n * OPERATIONS >= t->c->parallel_min ? pool_size(t->c->pool) : 1;
}

/* Counts become the places where rows go, in each column those of part 0 first. */
static void begin_columns(columns *t, int32_t n)
{
    t->total = 0;
    for (int32_t col = 0; col <= n; col++)
        for (int32_t p = 0; p < t->n_part; p++) {
            const int32_t count = t->at[p][col];
            t->at[p][col] = t->total;
            t->total += count;
        }
}

/* Ends of what a part has of a column become its begins: those of what stands before it. */
static void begin_again(columns *t, int32_t n)
{
    const int32_t last = t->n_part - 1;
    for (int32_t col = n; col > 0; col--) {
        for (int32_t p = last; p > 0; p--)
            t->at[p][col] = t->at[p - 1][col];
        t->at[0][col] = t->at[last][col - 1];
    }
}

/* Where the rows of column j of n begin; n: the end. */
static int32_t begin_of(const columns *t, int32_t j, int32_t n)
{
    return j < n ? t->at[0][j + 1] : t->total;
}

/* Threads end as many entries each. */
static void cut_columns(columns *t, int32_t n)
{
    t->cut = vs_calloc((size_t)t->n_part + 1, sizeof *t->cut);
    for (int32_t j = 0, p = 1; p <= t->n_part; p++) {
        while (j < n && (p == t->n_part || begin_of(t, j, n) < pool_part(t->total, p, t->n_part)))
            j++;
        t->cut[p] = j;
    }
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
        qsort(row, (size_t)n, sizeof *row, vec_by_number);
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

/* The columns of a thread: colptr has the places in their own list of rows. */
static void end_part(void *user, int32_t part, int worker)
{
    const columns *t = user;
    csc *a = &t->c->a;
    int32_t *where = vs_malloc(((size_t)a->n + 1) * sizeof *where);
    uint64_t *mark = vs_calloc(bits_words(a->n) + 1, sizeof *mark);
    (void)worker;
    for (int32_t i = 0; i < a->n; i++)
        where[i] = -1;
    for (int32_t j = t->cut[part]; j < t->cut[part + 1]; j++) {
        const int32_t begin = begin_of(t, j, a->n);
        end_column(t->row + begin, begin_of(t, j + 1, a->n) - begin, &t->of[part], where, mark,
                   a->n);
        a->colptr[j + 1] = (int32_t)vec_len(t->of[part]);
    }
    vs_free(where);
    vs_free(mark);
}

/* The lists of rows become one. */
static void join_part(void *user, int32_t part, int worker)
{
    const columns *t = user;
    csc *a = &t->c->a;
    const int32_t end = begin_of(t, t->cut[part + 1], a->n);
    int32_t before = 0;
    (void)worker;
    for (int32_t p = 0; p < part; p++)
        before += (int32_t)vec_len(t->of[p]);
    if (vec_len(t->of[part]))
        memcpy(a->row + before, t->of[part], vec_len(t->of[part]) * sizeof *a->row);
    for (int32_t j = t->cut[part]; before && j < t->cut[part + 1]; j++)
        a->colptr[j + 1] += before;
    for (int32_t i = begin_of(t, t->cut[part], a->n); before && i < end; i++)
        t->row[i] += before;
}

/* Afterwards t has the places of all entries, as take_part takes them. */
static void make_csc(ckt *c, columns *t)
{
    csc *a = &c->a;
    size_t n_row = 0;
    nat_entries(&c->nat, ckt_is_reactive(c), &t->native);
    a->n = ckt_n(c);
    a->colptr = arena_array(&c->mem, int32_t, a->n + 1);
    by_parts(t, take_part);
    begin_columns(t, a->n);
    t->row = vs_malloc(((size_t)t->total + 1) * sizeof *t->row);
    by_parts(t, take_part);
    begin_again(t, a->n);
    cut_columns(t, a->n);
    by_parts(t, end_part);
    for (int32_t p = 0; p < t->n_part; p++)
        n_row += vec_len(t->of[p]);
    a->row = arena_array(&c->mem, int32_t, n_row);
    by_parts(t, join_part);
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

static void place_rows(const dev_form *f, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t *to = &f->map[(size_t)i * (size_t)f->n_u];
        int32_t *slot = &f->slot[(size_t)i * (size_t)f->n_out];
        for (int32_t k = 0; k < f->n_out; k++) {
            const mdl_out *o = &f->variant->out[k];
            if (o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT)
                slot[k] = to[o->a];
        }
    }
}

/* found [forms][outputs]: those that have been listed */
static same_place *find_same(const taken *l, uint8_t *const *found)
{
    same_place *same = NULL;
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *to = &l->g->form[form];
        for (int32_t k = 0; is_placed(l->g, form) && to->map == l->f->map && k < to->n_out; k++)
            for (size_t n = 0; n < vec_len(l->out) && is_matrix(to->variant->out[k].kind); n++)
                if (l->out[n]->a == to->variant->out[k].a &&
                    l->out[n]->b == to->variant->out[k].b) {
                    vec_push(same, (same_place){form, k, n});
                    found[form][k] = 1;
                }
    }
    return same;
}

/* Takes the places of instances [begin, end) as take_part does, in the same order. place: scratch
 */
static void place_taken(const columns *t, const taken *l, int32_t *at, int32_t begin, int32_t end,
                        int32_t *place)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t *to = &l->f->map[(size_t)i * (size_t)l->f->n_u];
        for (size_t k = 0; k < vec_len(l->out); k++) {
            const int32_t row = to[l->out[k]->a], col = to[l->out[k]->b];
            place[k] = row && col ? t->row[at[col]++] : csc_nnz(&t->c->a);
        }
        for (size_t k = 0; k < vec_len(l->same); k++) {
            const dev_form *w = &l->g->form[l->same[k].form];
            w->slot[(size_t)i * (size_t)w->n_out + (size_t)l->same[k].k] = place[l->same[k].n];
        }
    }
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

/* Makes room for the places of a group, and finds those that are no entry's that was taken. */
static void begin_places(ckt *c, dev_group *g, const columns *t)
{
    uint8_t *found[MDL_N_FORM] = {0};
    for (int form = 0; form < MDL_N_FORM; form++)
        if (is_placed(g, form)) {
            dev_form *f = &g->form[form];
            f->slot = arena_array(&c->mem, int32_t, (size_t)g->nb *(size_t)f->n_out);
            found[form] = vs_calloc((size_t)f->n_out + 1, 1);
        }
    for (size_t w = 0; w < vec_len(t->taken); w++)
        if (t->taken[w].g == g)
            t->taken[w].same = find_same(&t->taken[w], found);
    for (int form = 0; form < MDL_N_FORM; form++) {
        const dev_form *f = &g->form[form];
        for (int32_t k = 0; found[form] && k < f->n_out; k++)
            if (is_matrix(f->variant->out[k].kind) && !found[form][k])
                search_places(c, g, f, k);
        vs_free(found[form]);
    }
}

static void place_part(void *user, int32_t part, int worker)
{
    const columns *t = user;
    const ckt *c = t->c;
    int32_t *place = NULL; /* vec */
    (void)worker;
    for (size_t gi = 0; gi < vec_len(c->group); gi++)
        for (int form = 0; form < MDL_N_FORM; form++)
            if (is_placed(&c->group[gi], form))
                place_rows(&c->group[gi].form[form], pool_part(c->group[gi].nb, part, t->n_part),
                           pool_part(c->group[gi].nb, part + 1, t->n_part));
    for (size_t w = 0; w < vec_len(t->taken); w++) {
        const taken *l = &t->taken[w];
        vec_clear(place);
        vec_extend(place, vec_len(l->out));
        place_taken(t, l, t->at[part], pool_part(l->g->nb, part, t->n_part),
                    pool_part(l->g->nb, part + 1, t->n_part), place);
    }
    vec_free(place);
}

static columns begin_entries(ckt *c)
{
    columns t = {.c = c, .taken = list_taken(c)};
    t.n_part = parts_for(&t);
    t.at = vs_calloc((size_t)t.n_part, sizeof *t.at);
    t.of = vs_calloc((size_t)t.n_part, sizeof *t.of);
    for (int32_t p = 0; p < t.n_part; p++)
        t.at[p] = vs_calloc((size_t)ckt_n(c) + 1, sizeof **t.at);
    return t;
}

static void free_entries(columns *t)
{
    for (int32_t p = 0; p < t->n_part; p++) {
        vs_free(t->at[p]);
        vec_free(t->of[p]);
    }
    vs_free(t->at);
    vs_free(t->of);
    vs_free(t->cut);
    vs_free(t->row);
    vec_free(t->native);
    free_taken(t->taken);
}

void ckt_make_pattern(ckt *c)
{
    columns t = begin_entries(c);
    make_csc(c, &t);
    ckt_rows_begin(c);
    find_diagonal(c);
    for (size_t g = 0; g < vec_len(c->group); g++)
        begin_places(c, &c->group[g], &t);
    by_parts(&t, place_part);
    free_entries(&t);
    c->a.val = arena_array(&c->mem, double, csc_nnz(&c->a) + 1); /* where t.row was */
    nat_place(&c->nat, &c->a, ckt_is_reactive(c));
    for (size_t i = 0; i < vec_len(c->fix); i++)
        c->fix[i].slot = c->diag_slot[c->fix[i].unknown];
}
