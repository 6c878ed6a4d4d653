/* ckt_pairs.c - resistors and capacitors of large circuits, in a transient: their kernels do not
 * run, and their matrix entries are summed once. A load adds y (x_p - x_n), computed from the
 * difference: sums of products G x would show their rounding in a mesh. Values are taken at the
 * first load, and again when a redo may have changed them. Of one kind between the same two
 * unknowns they are one, and in the order of these, so that a load finds what it needs where it has
 * just been. */
#include <math.h>
#include <string.h>

#include "ckt_priv.h"

enum { FIRST = 1, SECOND = 2 };
typedef struct pair_end {
    uint32_t pair : 30, which : 2;
} pair_end;

struct ckt_pairs {
    bool made;
    bool *of_group;  /* [groups] its instances are pairs */
    int32_t n_g, n;  /* conductances, then capacitances */
    ckt_pair_at *at; /* vec */
    double *gc;      /* [2 (nnz + 1)] their sums, G and C in turn */
    uint8_t *visit;  /* [n + 8] those that are looked at; NULL: all */
    /* [parts of c->rows] vecs: pairs with an end there, ascending, and which ends (FIRST, SECOND);
     * NULL: none */
    pair_end **of_part;
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
        ckt_pair_at *last = vec_len(v->at) > from ? &v->at[vec_len(v->at) - 1] : NULL;
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

/* FIRST or SECOND if unknown k is in the part; nobody reads the reference's row. */
static unsigned end_in(const csc_cut *r, int32_t part, int32_t k, unsigned which)
{
    return k && csc_cut_part(r, k - 1) == part ? which : 0;
}

static void list_parts(ckt *c, struct ckt_pairs *v)
{
    if (!c->rows)
        return;
    if (!v->of_part)
        v->of_part = arena_array(&c->mem, pair_end *, c->rows->n_part);
    for (int32_t part = 0; part < c->rows->n_part; part++) {
        vec_clear(v->of_part[part]);
        for (int32_t i = 0; i < v->n; i++) {
            const unsigned which = end_in(c->rows, part, v->at[i].p, FIRST) |
                                   end_in(c->rows, part, v->at[i].n, SECOND);
            if (which)
                vec_push(v->of_part[part], ((pair_end){(uint32_t)i, which}));
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

static inline __attribute__((always_inline)) bool is_visited(const struct ckt_pairs *v,
                                                             const pair_end *e, const bool visits)
{
    return !visits || v->visit[e->pair];
}

/* `visits`: some pairs may not be looked at. */
static inline __attribute__((always_inline)) void
load_part(const ckt *c, int32_t part, const double *restrict x, double *restrict f,
          double *restrict q, double *restrict fmax_, double *restrict qmax, const bool visits)
{
    const struct ckt_pairs *v = c->pairs;
    double *restrict low = c->qlo;
    const pair_end *e = v->of_part[part], *end = e + vec_len(e);
    for (; e < end && (int32_t)e->pair < v->n_g; e++) {
        const ckt_pair_at *p = &v->at[e->pair];
        if (!is_visited(v, e, visits))
            continue;
        const double d = x[p->p] - x[p->n], flow = p->y * d, size = p->most * fabs(d);
        if (e->which & FIRST) {
            f[p->p] += flow;
            fmax_[p->p] = larger(size, fmax_[p->p]);
        }
        if (e->which & SECOND) {
            f[p->n] -= flow;
            fmax_[p->n] = larger(size, fmax_[p->n]);
        }
    }
    for (; e < end; e++) {
        const ckt_pair_at *p = &v->at[e->pair];
        if (!is_visited(v, e, visits))
            continue;
        const double d = x[p->p] - x[p->n], charge = p->y * d, size = p->most * fabs(d);
        if (e->which & FIRST) {
            add_charge(q, low, p->p, charge);
            qmax[p->p] = larger(size, qmax[p->p]);
        }
        if (e->which & SECOND) {
            add_charge(q, low, p->n, -charge);
            qmax[p->n] = larger(size, qmax[p->n]);
        }
    }
}

void ckt_pairs_load_part(const ckt *c, int32_t part, const double *x, double *f, double *q,
                         double *fmax_, double *qmax)
{
    if (c->pairs->visit)
        load_part(c, part, x, f, q, fmax_, qmax, true);
    else
        load_part(c, part, x, f, q, fmax_, qmax, false);
}

void ckt_pairs_load(const ckt *c, const double *x, double *restrict f, double *restrict q,
                    double *restrict fmax_, double *restrict qmax)
{
    const struct ckt_pairs *v = c->pairs;
    double *restrict low = c->qlo;
    /* Nobody reads the reference's row. Half of the capacitors of wires end there: each would wait
     * for the one before. */
    int32_t i = next_pair(v, 0, v->n_g);
    for (; i < v->n_g; i = next_pair(v, i + 1, v->n_g)) {
        const ckt_pair_at *p = &v->at[i];
        const double d = x[p->p] - x[p->n], flow = p->y * d, size = p->most * fabs(d);
        f[p->p] += flow;
        fmax_[p->p] = larger(size, fmax_[p->p]);
        if (p->n) {
            f[p->n] -= flow;
            fmax_[p->n] = larger(size, fmax_[p->n]);
        }
    }
    for (i = next_pair(v, v->n_g, v->n); i < v->n; i = next_pair(v, i + 1, v->n)) {
        const ckt_pair_at *p = &v->at[i];
        const double d = x[p->p] - x[p->n], charge = p->y * d, size = p->most * fabs(d);
        add_charge(q, low, p->p, charge);
        qmax[p->p] = larger(size, qmax[p->p]);
        if (p->n) {
            add_charge(q, low, p->n, -charge);
            qmax[p->n] = larger(size, qmax[p->n]);
        }
    }
}
