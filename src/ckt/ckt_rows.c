/* ckt_rows.c - sums over a large circuit by several threads: each has the rows of one part, and
 * adds to a row what one thread alone would, in the same order. So results have the same bits for
 * any number of parts. A part takes, of each column, the entries in its rows: they stand side by
 * side, since rows ascend. */
#include "ckt_priv.h"

#include <stdatomic.h>
#include <string.h>

#include "norm.h"

/* An entry of a sum takes as long as some 20 operations of a kernel. */
enum { OPERATIONS = 20 };

/* Parts have about as many entries each. */
static void cut_rows(ckt_rows *r, const csc *a)
{
    const int64_t nnz = csc_nnz(a);
    int32_t *len = vs_calloc((size_t)a->n + 1, sizeof *len), part = 1;
    int64_t sum = 0;
    for (int64_t k = 0; k < nnz; k++)
        len[a->row[k]]++;
    for (int32_t i = 0; i < a->n; i++) {
        while (part < r->n_part && sum >= nnz * part / r->n_part)
            r->row[part++] = i;
        sum += len[i];
    }
    while (part <= r->n_part)
        r->row[part++] = a->n;
    vs_free(len);
}

static void cut_columns(ckt_rows *r, const csc *a)
{
    for (int32_t p = 0; p <= r->n_part; p++)
        for (int32_t j = 0; j < a->n; j++) {
            int32_t k = p ? r->at[(size_t)(p - 1) * (size_t)a->n + (size_t)j] : a->colptr[j];
            while (k < a->colptr[j + 1] && a->row[k] < r->row[p])
                k++;
            r->at[(size_t)p * (size_t)a->n + (size_t)j] = k;
        }
    for (int32_t p = 0; p < r->n_part; p++) {
        const int32_t *at = r->at + (size_t)p * (size_t)a->n, *next = at + a->n;
        int32_t begin = 0, end = a->n;
        while (begin < end && at[begin] == next[begin])
            begin++;
        while (end > begin && at[end - 1] == next[end - 1])
            end--;
        r->col[2 * p] = begin;
        r->col[2 * p + 1] = end;
    }
}

void ckt_rows_make(ckt *c)
{
    const csc *a = &c->a;
    if (!c->pool || (double)csc_nnz(a) * OPERATIONS < c->parallel_min)
        return;
    ckt_rows *r = c->rows = arena_new(&c->mem, ckt_rows);
    r->n_part = pool_size(c->pool);
    r->row = arena_array(&c->mem, int32_t, r->n_part + 1);
    r->col = arena_array(&c->mem, int32_t, 2 * r->n_part);
    r->at = arena_array(&c->mem, int32_t, (size_t)(r->n_part + 1) * (size_t)(a->n + 1));
    cut_rows(r, a);
    cut_columns(r, a);
}

/* -- what a load does with all rows and entries -- */

typedef struct job {
    ckt *c;
    const ckt_all *l;
    _Atomic bool wild;
} job;

typedef struct share { /* unknowns and entries of a part */
    int32_t begin, end;
    size_t from, to;
} share;

static share share_of(const ckt *c, int32_t part)
{
    const ckt_rows *r = c->rows;
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

static void clear_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const share s = share_of(j->c, part);
    const size_t n = (size_t)(s.end - s.begin) * sizeof(double);
    (void)worker;
    memcpy(j->c->x + s.begin, j->l->x + s.begin, n);
    memset(j->l->f + s.begin, 0, n);
    memset(j->l->fmax + s.begin, 0, n);
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

/* val += G + alpha C, of one kind of sums and then of the other. */
VS_CLONES static void add_both(const double *gc, const double *more, double alpha,
                               double *restrict val, size_t n)
{
    for (size_t k = 0; k < n; k++)
        val[k] = (val[k] + (gc[2 * k] + alpha * gc[2 * k + 1])) +
                 (more[2 * k] + alpha * more[2 * k + 1]);
}

VS_CLONES static void add_slopes(const double *gc, double alpha, double *restrict val, size_t n)
{
    for (size_t k = 0; k < n; k++)
        val[k] += gc[2 * k] + alpha * gc[2 * k + 1];
}

static void sum_part(void *user, int32_t part, int worker)
{
    const job *j = user;
    const ckt *c = j->c;
    const ckt_all *l = j->l;
    const share s = share_of(c, part);
    const double *gc = l->held ? ckt_bypass_sums(c)->gc + 2 * s.from : NULL,
                 *pairs = l->paired ? ckt_pairs_sums(c) + 2 * s.from : NULL;
    (void)worker;
    if (gc)
        ckt_bypass_sum(c, l->x, l->f, l->q, part);
    if (gc && pairs)
        add_both(gc, pairs, l->alpha, c->a.val + s.from, s.to - s.from);
    else
        add_slopes(gc ? gc : pairs, l->alpha, c->a.val + s.from, s.to - s.from);
    if (!pairs || l->matrix)
        return;
    if (part < 0)
        ckt_pairs_load(c, l->x, l->f, l->q, l->fmax, l->qmax);
    else
        ckt_pairs_load_part(c, part, l->x, l->f, l->q, l->fmax, l->qmax);
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
