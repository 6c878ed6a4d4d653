/* ckt_pairs.c - resistors and capacitors of large circuits, in a transient: their kernels do not
 * run, and their matrix entries are summed once. A load adds y (x_p - x_n), computed from the
 * difference: sums of products G x would show their rounding in a mesh. Values are taken at the
 * first load, and again when a redo may have changed them. Of one kind between the same two
 * unknowns they are one, and in the order of these, so that a load finds what it needs where it has
 * just been. */
#include <math.h>
#include <string.h>

#include "ckt_priv.h"

/* Ends of pairs that a load adds to; the reference's row, which nobody reads, is added to with the
 * other end. */
enum { FIRST = 1, SECOND = 2, BOTH = FIRST | SECOND };
typedef struct pair_run { /* pairs [begin, end) */
    int32_t begin, end;
    unsigned ends;
} pair_run;

struct ckt_pairs {
    bool made;
    bool *of_group;  /* [groups] its instances are pairs */
    int32_t n_g, n;  /* conductances, then capacitances */
    ckt_pair_at *at; /* vec */
    double *gc;      /* [2 (nnz + 1)] their sums, G and C in turn */
    uint8_t *visit;  /* [n + 8] those that are looked at; NULL: all */
    /* [parts of c->rows] vecs: pairs with an end there, ascending; NULL: none */
    pair_run **of_part;
};

void ckt_pairs_fresh(ckt *c)
{
    if (c->pairs)
        c->pairs->made = false;
}

void ckt_pairs_free(ckt *c)
{
    if (!c->pairs)
        return;
    vec_free(c->pairs->at);
    for (int32_t p = 0; c->pairs->of_part && p < c->rows->n_part; p++)
        vec_free(c->pairs->of_part[p]);
}

const double *ckt_pairs_sums(const ckt *c) { return c->pairs && c->pairs->n ? c->pairs->gc : NULL; }

const ckt_pair_at *ckt_pairs_list(const ckt *c, int32_t *n)
{
    *n = c->pairs ? c->pairs->n : 0;
    return *n ? c->pairs->at : NULL;
}

int32_t ckt_pairs_n_resistor(const ckt *c) { return c->pairs ? c->pairs->n_g : 0; }

bool ckt_is_paired(const ckt *c, size_t group) { return c->pairs && c->pairs->of_group[group]; }

void ckt_pairs_visit(ckt *c, uint8_t *visit)
{
    if (c->pairs)
        c->pairs->visit = visit;
}

/* Adds y to the entries of a pair. */
static void stamp(double *gc, const ckt_pair *p, bool charge)
{
    for (int k = 0; k < 4; k++)
        gc[2 * p->slot[k] + charge] += k == 0 || k == 3 ? p->value : -p->value;
}

/* What a group has of pairs. */
typedef struct group_pairs {
    ckt_pair *pair; /* vec */
    bool charge;
} group_pairs;

static group_pairs *take_groups(ckt *c)
{
    group_pairs *list = NULL;
    vec_extend(list, vec_len(c->group));
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (!c->group[i].lin)
            (void)ckt_take_pairs(c, &c->group[i], &list[i].pair, &list[i].charge);
    return list;
}

/* Appends the pairs of a kind to *to, but those with both ends at one unknown. */
static void take_kind(struct ckt_pairs *v, const group_pairs *list, bool charges, ckt_pair_at **to)
{
    for (size_t i = 0; i < vec_len(list); i++) {
        const ckt_pair *pair = list[i].pair;
        if (!vec_len(pair) || list[i].charge != charges)
            continue;
        v->of_group[i] = true;
        for (size_t k = 0; k < vec_len(pair); k++) {
            const int32_t p = pair[k].p, n = pair[k].n;
            const double y = pair[k].value;
            stamp(v->gc, &pair[k], charges);
            if (p != n)
                vec_push(*to, ((ckt_pair_at){p > n ? p : n, p > n ? n : p, y, fabs(y)}));
        }
    }
}

/* order: places of `pair`, by p or by n, those of one unknown as they were. */
static void sort_by(const ckt *c, const ckt_pair_at *pair, bool by_n, int32_t *order)
{
    const size_t n_pair = vec_len(pair), n1 = (size_t)ckt_n(c) + 2;
    int32_t *at = vs_calloc(n1, sizeof *at), *was = vs_malloc((n_pair + 1) * sizeof *was);
    memcpy(was, order, n_pair * sizeof *was);
    for (size_t k = 0; k < n_pair; k++)
        at[by_n ? pair[k].n : pair[k].p]++;
    (void)csc_begins(at, (int32_t)n1 - 1);
    for (size_t k = 0; k < n_pair; k++) {
        const ckt_pair_at *one = &pair[was[k]];
        order[at[by_n ? one->n : one->p]++] = was[k];
    }
    vs_free(at);
    vs_free(was);
}

/* The pairs of a kind by p, then n, those between the same two as one. */
static void add_kind(const ckt *c, struct ckt_pairs *v, const group_pairs *list, bool charges)
{
    ckt_pair_at *pair = NULL; /* vec */
    take_kind(v, list, charges, &pair);
    int32_t *order = vs_malloc((vec_len(pair) + 1) * sizeof *order);
    for (size_t k = 0; k < vec_len(pair); k++)
        order[k] = (int32_t)k;
    sort_by(c, pair, true, order);
    sort_by(c, pair, false, order);
    const size_t from = vec_len(v->at);
    for (size_t k = 0; k < vec_len(pair); k++) {
        const ckt_pair_at *one = &pair[order[k]];
        ckt_pair_at *last = vec_len(v->at) > from ? &vec_last(v->at) : NULL;
        if (!last || last->p != one->p || last->n != one->n) {
            vec_push(v->at, *one);
            continue;
        }
        last->y += one->y;
        last->most = fmax(last->most, one->most);
    }
    vec_free(pair);
    vs_free(order);
}

/* Which ends of a pair are in a part; 0: none. */
static unsigned ends_in(const csc_cut *r, int32_t part, const ckt_pair_at *p)
{
    const bool first = csc_cut_part(r, p->p - 1) == part,
               second = p->n ? csc_cut_part(r, p->n - 1) == part : first;
    return (first ? FIRST : 0) | (second ? SECOND : 0);
}

static void list_parts(ckt *c, struct ckt_pairs *v)
{
    if (!c->rows)
        return;
    if (!v->of_part)
        v->of_part = arena_array(&c->mem, pair_run *, c->rows->n_part);
    for (int32_t part = 0; part < c->rows->n_part; part++) {
        pair_run **to = &v->of_part[part], *last = NULL;
        vec_clear(*to);
        for (int32_t i = 0; i < v->n; i++) {
            const unsigned ends = ends_in(c->rows, part, &v->at[i]);
            if (last && last->end == i && last->ends == ends && i != v->n_g) {
                last->end++;
            } else if (ends) {
                vec_push(*to, ((pair_run){i, i + 1, ends}));
                last = &vec_last(*to);
            }
        }
    }
}

void ckt_pairs_make(ckt *c)
{
    if (c->small || c->opt.general_load || c->opt.bypass == CKT_BYPASS_OFF)
        return;
    const size_t nv = 2 * ((size_t)csc_nnz(&c->a) + 1), groups = vec_len(c->group);
    if (!c->pairs) {
        c->pairs = arena_new(&c->mem, struct ckt_pairs);
        c->pairs->of_group = arena_array(&c->mem, bool, groups + 1);
        c->pairs->gc = arena_array(&c->mem, double, nv);
    }
    struct ckt_pairs *v = c->pairs;
    if (v->made)
        return;
    v->made = true;
    memset(v->of_group, 0, groups * sizeof *v->of_group);
    memset(v->gc, 0, nv * sizeof *v->gc);
    vec_clear(v->at);
    group_pairs *list = take_groups(c);
    add_kind(c, v, list, false);
    v->n_g = (int32_t)vec_len(v->at);
    add_kind(c, v, list, true);
    v->n = (int32_t)vec_len(v->at);
    for (size_t i = 0; i < vec_len(list); i++)
        vec_free(list[i].pair);
    vec_free(list);
    list_parts(c, v);
}

/* The first pair from i on that is to be loaded. */
static inline int32_t next_pair(const struct ckt_pairs *v, int32_t i, int32_t end)
{
    while (v->visit && i < end && !v->visit[i]) {
        uint64_t word;
        memcpy(&word, v->visit + i, sizeof word);
        i += word ? __builtin_ctzll(word) / 8 : 8;
    }
    return i < end ? i : end;
}

static inline void add_charge(double *q, double *low, int32_t r, double v)
{
    const double s = q[r], t = s + v, w = t - s;
    q[r] = t;
    low[r] += (s - (t - w)) + (v - w);
}

static inline double larger(double a, double b) { return a > b ? a : b; }

/* Where a load adds to. */
typedef struct sums {
    const double *x;
    double *f, *q, *low, *fmax, *qmax;
} sums;

/* Half of the capacitors of wires end at the reference: were it added to, each would wait for the
 * one before. */
static inline __attribute__((always_inline)) void load_run(const struct ckt_pairs *v, int32_t begin,
                                                           int32_t end, const unsigned ends,
                                                           const bool charge, const sums *to)
{
    const double *restrict x = to->x;
    double *restrict sum = charge ? to->q : to->f, *restrict low = to->low,
                     *restrict max = charge ? to->qmax : to->fmax;
    for (int32_t i = next_pair(v, begin, end); i < end; i = next_pair(v, i + 1, end)) {
        const ckt_pair_at *p = &v->at[i];
        const double d = x[p->p] - x[p->n], value = p->y * d, size = p->most * fabs(d);
        if (ends & FIRST) {
            if (charge)
                add_charge(sum, low, p->p, value);
            else
                sum[p->p] += value;
            max[p->p] = larger(size, max[p->p]);
        }
        if (ends & SECOND && p->n) {
            if (charge)
                add_charge(sum, low, p->n, -value);
            else
                sum[p->n] -= value;
            max[p->n] = larger(size, max[p->n]);
        }
    }
}

static void load_ends(const struct ckt_pairs *v, const pair_run *r, const sums *to)
{
    const bool charge = r->begin >= v->n_g;
    switch (2 * r->ends + charge) {
    case 2 * BOTH: load_run(v, r->begin, r->end, BOTH, false, to); break;
    case 2 * BOTH + 1: load_run(v, r->begin, r->end, BOTH, true, to); break;
    case 2 * FIRST: load_run(v, r->begin, r->end, FIRST, false, to); break;
    case 2 * FIRST + 1: load_run(v, r->begin, r->end, FIRST, true, to); break;
    case 2 * SECOND: load_run(v, r->begin, r->end, SECOND, false, to); break;
    default: load_run(v, r->begin, r->end, SECOND, true, to); break;
    }
}

void ckt_pairs_load_part(const ckt *c, int32_t part, const double *x, double *f, double *q,
                         double *fmax_, double *qmax)
{
    const struct ckt_pairs *v = c->pairs;
    const sums to = {x, f, q, c->qlo, fmax_, qmax};
    for (size_t k = 0; k < vec_len(v->of_part[part]); k++)
        load_ends(v, &v->of_part[part][k], &to);
}

void ckt_pairs_load(const ckt *c, const double *x, double *f, double *q, double *fmax_,
                    double *qmax)
{
    const struct ckt_pairs *v = c->pairs;
    const sums to = {x, f, q, c->qlo, fmax_, qmax};
    load_ends(v, &(pair_run){0, v->n_g, BOTH}, &to);
    load_ends(v, &(pair_run){v->n_g, v->n, BOTH}, &to);
}
