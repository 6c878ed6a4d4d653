/* vop_share.c - the loops of vop.h over vectors of a large circuit, by several threads. Each has
 * the elements of its rows (csc_cut.h), which its loads wrote, or where the vectors are not those
 * of all rows, as many as others, side by side; so it finds them in its cache again. Results are
 * the same bits: elements do not see each other, and no sums are made. */
#include <stdatomic.h>

#include "pool.h"
#include "vop.h"

enum { LINE = 8 }; /* elements of a line of the cache, which parts do not share */

typedef struct shared {
    vop_part part;
    void *user;
    int32_t m, n_part;
    const csc_cut *rows;
} shared;

static int32_t begin_of(const shared *s, int32_t i)
{
    return i == s->n_part ? s->m : pool_part(s->m, i, s->n_part) / LINE * LINE;
}

static void run_part(void *user, int32_t i, int worker)
{
    const shared *s = user;
    const int32_t begin = begin_of(s, i);
    (void)worker;
    s->part(s->user, begin, begin_of(s, i + 1) - begin);
}

/* Row i has element i + 1. Runs take elements from that of the row before on, so that they begin
 * where lines of the cache do; the last one has what is left. */
static void run_rows(void *user, int32_t i, int worker)
{
    const shared *s = user;
    const csc_cut *r = s->rows;
    (void)worker;
    for (int32_t k = r->run_at[i]; k < r->run_at[i + 1]; k++) {
        const int32_t begin = r->run[k].begin, end = r->run[k].end;
        s->part(s->user, begin, (end == r->n ? s->m : end) - begin);
    }
}

void vop_share(csc_team t, int32_t m, vop_part part, void *user)
{
    const bool by_rows = t.rows && t.rows->block % LINE == 0 && VOP_PADDED(t.rows->n) == m;
    shared s = {part, user, m, by_rows ? t.rows->n_part : pool_size(t.pool), t.rows};
    pool_run_each(t.pool, POOL_VECTOR, s.n_part, by_rows ? run_rows : run_part, &s);
}

void vop_note(vop_largest *l, double v)
{
    double most = atomic_load_explicit(l, memory_order_relaxed);
    while (v > most && !atomic_compare_exchange_weak_explicit(l, &most, v, memory_order_relaxed,
                                                              memory_order_relaxed))
        ;
}

/* Vectors from element k on; p may be longer than n. */
static void past_from(vop_past p, int n, int32_t k, double **to)
{
    for (int i = 0; i < n; i++)
        to[i] = p[i] + k;
}

typedef struct rows_job {
    const vop_rows *rows;
    double strict;
    _Atomic bool large;
} rows_job;

static void residual_part(void *user, int32_t k, int32_t m)
{
    rows_job *j = user;
    const vop_rows *l = j->rows;
    const vop_rows at = {.f = l->f + k,
                         .q = l->q + k,
                         .qlo = l->qlo + k,
                         .fmax = l->fmax + k,
                         .qmax = l->qmax + k,
                         .q_n = l->q_n + k,
                         .qlo_n = l->qlo_n + k,
                         .hist = l->hist + k,
                         .rmax = l->rmax + k,
                         .tol = l->tol + k,
                         .r = l->r + k,
                         .ref = l->ref + k,
                         .alpha = l->alpha,
                         .floor = l->floor,
                         .reltol = l->reltol};
    if (!vop_residual(&at, m, j->strict))
        atomic_store_explicit(&j->large, true, memory_order_relaxed);
}

bool vop_share_residual(csc_team t, const vop_rows *l, int32_t m, double strict)
{
    rows_job j = {.rows = l, .strict = strict};
    vop_share(t, m, residual_part, &j);
    return !j.large;
}

typedef struct small_job {
    const double *r, *ref, *tol;
    double reltol, strict;
    _Atomic bool large;
} small_job;

static void small_part(void *user, int32_t k, int32_t m)
{
    small_job *j = user;
    if (!vop_residual_is_small(j->r + k, j->ref + k, j->tol + k, j->reltol, m, j->strict))
        atomic_store_explicit(&j->large, true, memory_order_relaxed);
}

bool vop_share_residual_is_small(csc_team t, const double *r, const double *ref, const double *tol,
                                 double reltol, int32_t m, double strict)
{
    small_job j = {r, ref, tol, reltol, strict, false};
    vop_share(t, m, small_part, &j);
    return !j.large;
}

typedef struct update_job {
    const double *x, *dx, *xmax, *tol;
    double reltol, strict;
    _Atomic bool large;
    vop_largest most;
} update_job;

static void update_part(void *user, int32_t k, int32_t m)
{
    update_job *j = user;
    if (!vop_update_is_small(j->x + k, j->dx + k, j->xmax + k, j->tol + k, j->reltol, m, j->strict))
        atomic_store_explicit(&j->large, true, memory_order_relaxed);
}

bool vop_share_update_is_small(csc_team t, const double *x, const double *dx, const double *xmax,
                               const double *tol, double reltol, int32_t m, double strict)
{
    update_job j = {.x = x, .dx = dx, .xmax = xmax, .tol = tol, .reltol = reltol, .strict = strict};
    vop_share(t, m, update_part, &j);
    return !j.large;
}

static void size_part(void *user, int32_t k, int32_t m)
{
    update_job *j = user;
    vop_note(&j->most, vop_update_size(j->x + k, j->dx + k, j->xmax + k, j->tol + k, j->reltol, m));
}

double vop_share_update_size(csc_team t, const double *x, const double *dx, const double *xmax,
                             const double *tol, double reltol, int32_t m)
{
    update_job j = {.x = x, .dx = dx, .xmax = xmax, .tol = tol, .reltol = reltol};
    vop_share(t, m, size_part, &j);
    return j.most;
}

typedef struct last_job {
    const vop_last *last;
    double *x, *f, *fix;
} last_job;

static void last_part(void *user, int32_t k, int32_t m)
{
    const last_job *j = user;
    vop_last l = *j->last;
    l.dx += k;
    l.r += k;
    l.q += k;
    if (l.q_prev) {
        l.f_prev += k;
        l.q_prev += k;
    }
    vop_last_update(&l, j->x + k, j->f + k, j->fix + k, m);
}

void vop_share_last_update(csc_team t, const vop_last *l, double *x, double *f, double *fix,
                           int32_t m)
{
    last_job j = {l, x, f, fix};
    vop_share(t, m, last_part, &j);
}

typedef struct past_job {
    double *to;
    const double *w;
    int n;
    vop_past f, q, lo;
    const double *src, *hist;
    double alpha;
} past_job;

static void predict_part(void *user, int32_t k, int32_t m)
{
    const past_job *j = user;
    double *f[VOP_PAST];
    past_from(j->f, j->n, k, f);
    vop_predict(j->to + k, j->w, j->n, f, m);
}

void vop_share_predict(csc_team t, double *v, const double *w, int n, vop_past past, int32_t m)
{
    past_job j = {.to = v, .w = w, .n = n, .f = past};
    vop_share(t, m, predict_part, &j);
}

static void predicted_part(void *user, int32_t k, int32_t m)
{
    const past_job *j = user;
    double *f[VOP_PAST], *q[VOP_PAST], *lo[VOP_PAST];
    past_from(j->f, j->n, k, f);
    past_from(j->q, j->n, k, q);
    past_from(j->lo, j->n, k, lo);
    vop_predicted_residual(j->to + k, j->w, j->n, f, q, lo, j->src + k, j->hist + k, j->alpha, m);
}

void vop_share_predicted_residual(csc_team t, double *r, const double *w, int n, vop_past f,
                                  vop_past q, vop_past lo, const double *src, const double *hist,
                                  double alpha, int32_t m)
{
    past_job j = {r, w, n, f, q, lo, src, hist, alpha};
    vop_share(t, m, predicted_part, &j);
}

typedef struct begin_job {
    const vop_start *start;
} begin_job;

static void begin_part(void *user, int32_t k, int32_t m)
{
    const vop_start *all = ((const begin_job *)user)->start;
    double *x[VOP_PAST], *f[VOP_PAST], *q[VOP_PAST], *lo[VOP_PAST];
    vop_start s = *all;
    past_from(all->x, all->n, k, x);
    past_from(all->f, all->n, k, f);
    past_from(all->q, all->n, k, q);
    past_from(all->lo, all->n, k, lo);
    s.x = x;
    s.f = f;
    s.q = q;
    s.lo = lo;
    s.src += k;
    s.dq += k;
    s.pred += k;
    s.start += k;
    s.hist += k;
    s.r += k;
    vop_begin(&s, m);
}

void vop_share_begin(csc_team t, const vop_start *s, int32_t m)
{
    begin_job j = {s};
    vop_share(t, m, begin_part, &j);
}

typedef struct end_job {
    const vop_end *end;
    _Atomic bool large;
} end_job;

static void end_part(void *user, int32_t k, int32_t m)
{
    end_job *j = user;
    const vop_end *l = j->end;
    vop_end e = {.dx = l->dx ? l->dx + k : NULL,
                 .r = l->r + k,
                 .fix = l->fix ? l->fix + k : NULL,
                 .q = l->q + k,
                 .lo = l->lo + k,
                 .q1 = l->q1 + k,
                 .lo1 = l->lo1 + k,
                 .src = l->src + k,
                 .hist = l->hist + k,
                 .pred = l->pred + k,
                 .xmax = l->xmax + k,
                 .tol = l->tol + k,
                 .weight = l->weight + k,
                 .alpha = l->alpha,
                 .reltol = l->reltol,
                 .limit = l->limit,
                 .far = l->far,
                 .x = l->x + k,
                 .f = l->f + k,
                 .q_new = l->q_new + k,
                 .lo_new = l->lo_new + k,
                 .f_new = l->f_new + k,
                 .dq_new = l->dq_new + k};
    if (!vop_finish(&e, m))
        atomic_store_explicit(&j->large, true, memory_order_relaxed);
}

bool vop_share_finish(csc_team t, const vop_end *e, int32_t m)
{
    end_job j = {.end = e};
    vop_share(t, m, end_part, &j);
    return !j.large;
}

typedef struct miss_job {
    const double *x, *pred, *xmax, *tol, *weight;
    double reltol, limit;
    _Atomic bool large;
} miss_job;

static void miss_part(void *user, int32_t k, int32_t m)
{
    miss_job *j = user;
    if (!vop_miss_is_small(j->x + k, j->pred + k, j->xmax + k, j->tol + k, j->weight + k, j->reltol,
                           j->limit, m))
        atomic_store_explicit(&j->large, true, memory_order_relaxed);
}

bool vop_share_miss_is_small(csc_team t, const double *x, const double *pred, const double *xmax,
                             const double *tol, const double *weight, double reltol, double limit,
                             int32_t m)
{
    miss_job j = {x, pred, xmax, tol, weight, reltol, limit, false};
    vop_share(t, m, miss_part, &j);
    return !j.large;
}
