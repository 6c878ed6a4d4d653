/* ckt_rows.c - sums over a large circuit by several threads: each has the rows of one part
 * (csc_cut.h), and adds to a row what one thread alone would, in the same order. */
#include "ckt_priv.h"

#include <stdatomic.h>
#include <string.h>

#include "norm.h"

/* An entry of a sum takes as long as some 20 operations of a kernel. */
enum { OPERATIONS = 20 };

void ckt_rows_make(ckt *c)
{
    if (c->pool && (double)csc_nnz(&c->a) * OPERATIONS >= c->parallel_min)
        c->rows = csc_cut_new(&c->mem, &c->a, pool_size(c->pool));
}

const struct csc_cut *ckt_cut(const ckt *c) { return c->rows; }

/* -- what a load does with all rows and entries -- */

typedef struct job {
    ckt *c;
    const ckt_all *l;
    _Atomic bool wild;
} job;

/* Unknowns and entries of a part: unknown i belongs to the part of matrix row i - 1, the reference
 * to part 0. */
typedef struct share {
    int32_t begin, end;
    size_t from, to;
} share;

static share share_of(const ckt *c, int32_t part)
{
    const csc_cut *r = c->rows;
    const int64_t nnz = csc_nnz(&c->a);
    if (part < 0)
        return (share){0, c->a.n + 1, 0, (size_t)nnz};
    return (share){part ? r->row[part] + 1 : 0, r->row[part + 1] + 1,
                   (size_t)(nnz * part / r->n_part), (size_t)(nnz * (part + 1) / r->n_part)};
}

/* Part by part, by the circuit's threads if there are parts; else all at once. */
static void run(job *j, pool_fn fn)
{
    if (j->c->rows)
        pool_run(j->c->pool, POOL_STAMP, j->c->rows->n_part, fn, j);
    else
        fn(j, -1, 0);
}

/* val = G + alpha C of R and C: they have most entries of a circuit with wires. */
VS_CLONES static void set_slopes(const double *gc, double alpha, double *restrict val, size_t n)
{
    for (size_t k = 0; k < n; k++)
        val[k] = gc[2 * k] + alpha * gc[2 * k + 1];
}

static void clear_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const share s = share_of(j->c, part);
    const size_t n = (size_t)(s.end - s.begin) * sizeof(double);
    (void)worker;
    memcpy(j->c->x + s.begin, j->l->x + s.begin, n);
    memset(j->l->f + s.begin, 0, n);
    memset(j->l->fmax + s.begin, 0, n);
    if (j->l->paired)
        set_slopes(ckt_pairs_sums(j->c) + 2 * s.from, j->l->alpha, j->c->a.val + s.from,
                   s.to - s.from);
    else
        memset(j->c->a.val + s.from, 0, (s.to - s.from) * sizeof(double));
    if (!j->l->charges)
        return;
    memset(j->l->q + s.begin, 0, n);
    memset(j->l->qmax + s.begin, 0, n);
    memset(j->c->qlo + s.begin, 0, n);
}

void ckt_clear_all(ckt *c, const ckt_all *l)
{
    job j = {.c = c, .l = l};
    run(&j, clear_part);
    c->a.val[csc_nnz(&c->a)] = 0;
}

static void sum_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt_all *l = j->l;
    (void)worker;
    if (l->held)
        ckt_bypass_sum(j->c, l, part);
    if (!l->paired || l->matrix)
        return;
    if (part < 0)
        ckt_pairs_load(j->c, l->x, l->f, l->q, l->fmax, l->qmax);
    else
        ckt_pairs_load_part(j->c, part, l->x, l->f, l->q, l->fmax, l->qmax);
}

void ckt_sum_all(ckt *c, const ckt_all *l)
{
    job j = {.c = c, .l = l};
    if (l->held || l->paired)
        run(&j, sum_part);
}

static void look_at_part(void *user, int32_t part, int worker)
{
    job *j = user;
    const ckt_all *l = j->l;
    const share s = share_of(j->c, part);
    (void)worker;
    if (!norm_finite_all(l->f + s.begin, l->charges ? l->q + s.begin : NULL, s.end - s.begin,
                         j->c->a.val + s.from, (int32_t)(s.to - s.from)))
        atomic_store(&j->wild, true);
}

bool ckt_finite_all(ckt *c, const ckt_all *l)
{
    job j = {.c = c, .l = l};
    run(&j, look_at_part);
    return !j.wild;
}
