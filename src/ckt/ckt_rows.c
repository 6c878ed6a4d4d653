/* ckt_rows.c - sums over a large circuit by several threads: each has the rows of one part
 * (csc_cut.h), and adds to a row what one thread alone would, in the same order. */
#include "ckt_priv.h"

#include <stdatomic.h>
#include <string.h>

#include "norm.h"

/* An entry of a sum takes as long as some 20 operations of a kernel. */
enum { OPERATIONS = 20 };

/* Elements whose contributions each load computes (ckt_pairs.c): an end of one takes as long as
 * some entries of held sums. */
static void add_ends(const dev_group *g, int32_t *more)
{
    enum { END = 2 };
    const dev_form *f = &g->form[MDL_TRAN];
    for (int32_t k = 0; f->variant && k < f->n_out; k++) {
        const mdl_out *o = &f->variant->out[k];
        if (o->kind != IR_OUT_RES && o->kind != IR_OUT_REACT)
            continue;
        for (int32_t i = 0; i < g->nb; i++) {
            const int32_t row = f->map[(size_t)i * (size_t)f->n_u + (size_t)o->a];
            if (row)
                more[row - 1] += END;
        }
    }
}

static void make_rows(void *user, int32_t i, int worker)
{
    ckt *c = user;
    int32_t *more = vs_calloc((size_t)c->a.n + 1, sizeof *more);
    (void)i;
    (void)worker;
    for (size_t g = 0; g < vec_len(c->group); g++)
        if (!c->group[g].lin)
            add_ends(&c->group[g], more);
    c->rows = csc_cut_new(&c->rows_mem, &c->a, more, pool_size(c->pool));
    vs_free(more);
}

void ckt_rows_begin(ckt *c)
{
    if (c->pool && (double)csc_nnz(&c->a) * OPERATIONS >= c->parallel_min)
        pool_aside(c->pool, make_rows, c);
}

const struct csc_cut *ckt_cut(const ckt *c) { return c->rows; }

/* -- what a load does with all rows and entries -- */

typedef struct job {
    ckt *c;
    const ckt_all *l;
    double *v; /* ckt_clear_rows */
    _Atomic bool wild;
} job;

/* Unknowns of a run, and the entries of their columns: unknown i stands in row i - 1, the reference
 * with the first. */
typedef struct share {
    int32_t begin, end;
    size_t from, to;
} share;

static share share_of(const csc *a, csc_run run)
{
    return (share){run.begin ? run.begin + 1 : 0, run.end + 1, (size_t)a->colptr[run.begin],
                   (size_t)a->colptr[run.end]};
}

/* Part by part, each by the thread that had it before, if there are parts; else all at once. */
static void run(job *j, pool_fn fn)
{
    const ckt *c = j->c;
    if (c->rows)
        pool_run_each(c->pool, POOL_STAMP, c->rows->n_part, fn, j);
    else
        fn(j, -1, 0);
}

/* Calls fn with the shares of a part; -1: with all at once. */
static void each_share(job *j, int32_t part, void (*fn)(job *j, share s))
{
    const ckt *c = j->c;
    const csc_cut *r = c->rows;
    if (part < 0)
        fn(j, share_of(&c->a, (csc_run){0, c->a.n}));
    else
        for (int32_t k = r->run_at[part]; k < r->run_at[part + 1]; k++)
            fn(j, share_of(&c->a, r->run[k]));
}

/* val = G + alpha C of R and C: they have most entries of a circuit with wires. */
VS_CLONES static void set_slopes(const double *gc, double alpha, double *restrict val, size_t n)
{
    for (size_t k = 0; k < n; k++)
        val[k] = gc[2 * k] + alpha * gc[2 * k + 1];
}

static void clear_share(job *j, share s)
{
    const ckt *c = j->c;
    const ckt_all *l = j->l;
    const size_t n = (size_t)(s.end - s.begin) * sizeof(double);
    memcpy(c->x + s.begin, l->x + s.begin, n);
    memset(l->f + s.begin, 0, n);
    memset(l->fmax + s.begin, 0, n);
    if (l->paired)
        set_slopes(ckt_pairs_sums(c) + 2 * s.from, l->alpha, c->a.val + s.from, s.to - s.from);
    else
        memset(c->a.val + s.from, 0, (s.to - s.from) * sizeof(double));
    if (!l->charges)
        return;
    memset(l->q + s.begin, 0, n);
    memset(l->qmax + s.begin, 0, n);
    memset(c->qlo + s.begin, 0, n);
}

static void clear_part(void *user, int32_t part, int worker)
{
    (void)worker;
    each_share(user, part, clear_share);
}

void ckt_clear_all(ckt *c, const ckt_all *l)
{
    job j = {.c = c, .l = l};
    run(&j, clear_part);
    c->a.val[csc_nnz(&c->a)] = 0;
}

static void clear_row_share(job *j, share s)
{
    memset(j->v + s.begin, 0, (size_t)(s.end - s.begin) * sizeof(double));
}

static void clear_rows_of(void *user, int32_t part, int worker)
{
    (void)worker;
    each_share(user, part, clear_row_share);
}

void ckt_clear_rows(ckt *c, double *v)
{
    job j = {.c = c, .v = v};
    run(&j, clear_rows_of);
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

static void look_at_share(job *j, share s)
{
    const ckt_all *l = j->l;
    if (!norm_finite_all(l->f + s.begin, l->charges ? l->q + s.begin : NULL, s.end - s.begin,
                         j->c->a.val + s.from, (int32_t)(s.to - s.from)))
        atomic_store(&j->wild, true);
}

static void look_at_part(void *user, int32_t part, int worker)
{
    (void)worker;
    each_share(user, part, look_at_share);
}

bool ckt_finite_all(ckt *c, const ckt_all *l)
{
    job j = {.c = c, .l = l};
    run(&j, look_at_part);
    return !j.wild;
}
