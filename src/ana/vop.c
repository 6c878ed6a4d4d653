/* vop.c - see vop.h. Every function is compiled for the processors that VS_CLONES names, and the
 * best is chosen when the program starts. `m & ~(VOP_WIDTH - 1)` tells the compiler that there is
 * no rest. */
#include "vop.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "hot.h"
#include "norm.h"

#define EACH(i)                                 \
    int32_t i = 0, end_ = m & ~(VOP_WIDTH - 1); \
    i < end_;                                   \
    i++

VS_HOT_CLONES bool vop_residual(const vop_rows *l, int32_t m, double strict)
{
    const double *f = l->f, *q = l->q, *qlo = l->qlo, *fm = l->fmax, *qm = l->qmax, *tol = l->tol;
    const double *q_n = l->q_n, *qlo_n = l->qlo_n, *hist = l->hist, *rmax = l->rmax;
    const double alpha = l->alpha, floor_q = l->floor, reltol = l->reltol;
    double *restrict r = l->r, *restrict ref = l->ref;
    int64_t bad = 0;
#pragma GCC ivdep /* what is written overlaps nothing that is read */
    for (EACH(i)) {
        const double flow = alpha * ((q[i] - q_n[i]) + (qlo[i] - qlo_n[i])) + hist[i];
        const double size = norm_max(norm_max(fm[i], fabs(flow)), rmax[i]);
        const double rest = f[i] + flow, base = norm_max(size, floor_q * qm[i]);
        r[i] = rest;
        ref[i] = base;
        bad |= fabs(rest) <= strict * (reltol * base + tol[i]) ? 0 : -1;
    }
    return !bad;
}

VS_HOT_CLONES bool vop_residual_is_small(const double *r, const double *ref, const double *tol,
                                         double reltol, int32_t m, double strict)
{
    int64_t bad = 0;
    for (EACH(i))
        bad |= fabs(r[i]) <= strict * (reltol * ref[i] + tol[i]) ? 0 : -1;
    return !bad;
}

VS_HOT_CLONES bool vop_update_is_small(const double *x, const double *dx, const double *xmax,
                                       const double *tol, double reltol, int32_t m, double strict)
{
    int64_t bad = 0;
    for (EACH(i)) {
        const double size = norm_max(norm_max(fabs(x[i]), fabs(x[i] - dx[i])), xmax[i]);
        bad |= fabs(dx[i]) - strict * (reltol * size + tol[i]) <= 0 ? 0 : -1; /* not if infinite */
    }
    return !bad;
}

VS_CLONES double vop_update_size(const double *x, const double *dx, const double *xmax,
                                 const double *tol, double reltol, int32_t m)
{
    double most[VOP_WIDTH] = {0};
    int64_t wild[VOP_WIDTH] = {0};
    for (int32_t i = 0, end = m & ~(VOP_WIDTH - 1); i < end; i += VOP_WIDTH)
        for (int k = 0; k < VOP_WIDTH; k++) {
            const double size =
                norm_max(norm_max(fabs(x[i + k]), fabs(x[i + k] - dx[i + k])), xmax[i + k]);
            const double part = fabs(dx[i + k]) / (reltol * size + tol[i + k] + DBL_MIN);
            most[k] = norm_max(part, most[k]);
            wild[k] |= part < INFINITY ? 0 : -1;
        }
    if (wild[0] | wild[1] | wild[2] | wild[3])
        return INFINITY;
    return norm_max(norm_max(most[0], most[1]), norm_max(most[2], most[3]));
}

VS_HOT_CLONES void vop_move(double *restrict x, const double *dx, double lambda, int32_t m)
{
    for (EACH(i))
        x[i] -= lambda * dx[i];
}

VS_CLONES static void last_shared(const vop_last *l, double *restrict x, double *restrict f,
                                  double *restrict fix, int32_t m)
{
    const double *dx = l->dx, *r = l->r, *q = l->q, *f_prev = l->f_prev, *q_prev = l->q_prev;
    const double alpha = l->alpha;
    for (EACH(i)) {
        const double dq = alpha * fabs(q[i] - q_prev[i]), df = fabs(f[i] - f_prev[i]);
        const double all = dq + df, part = all > 0 ? dq / all : 0, flow = part * r[i];
        x[i] -= dx[i];
        f[i] -= r[i] - flow;
        fix[i] = flow / alpha;
    }
}

void vop_last_update(const vop_last *l, double *x, double *f, double *fix, int32_t m)
{
    if (l->q_prev) {
        last_shared(l, x, f, fix, m);
        return;
    }
    vop_move(x, l->dx, 1, m);
    vop_move(f, l->r, 1, m);
    memset(fix, 0, sizeof *fix * (size_t)m);
}

/* Sums of n terms, once for each n: without loops within the loop. */
#define FOR_EACH_COUNT(n, call) \
    switch (n) {                \
    case 2: call(2); break;     \
    case 3: call(3); break;     \
    default: call(4); break;    \
    }

static inline __attribute__((always_inline)) void predict_from(double *restrict v, const double *w,
                                                               const int n, vop_past p, int32_t m)
{
    for (EACH(i)) {
        double sum = w[0] * p[0][i];
        for (int k = 1; k < n; k++)
            sum += w[k] * p[k][i];
        v[i] = sum;
    }
}

VS_HOT_CLONES void vop_predict(double *v, const double *w, int n, vop_past p, int32_t m)
{
    assert(n >= 2 && n <= VOP_PAST);
#define PREDICT(n) predict_from(v, w, n, p, m)
    FOR_EACH_COUNT(n, PREDICT)
}

VS_CLONES void vop_history(double *restrict hist, double a1, vop_past q, vop_past lo, int32_t m)
{
    for (EACH(i))
        hist[i] = -a1 * ((q[0][i] - q[1][i]) + (lo[0][i] - lo[1][i]));
}

VS_CLONES void vop_scale(double *restrict hist, double b, const double *dq, int32_t m)
{
    for (EACH(i))
        hist[i] = b * dq[i];
}

static inline __attribute__((always_inline)) void
residual_from(double *restrict r, const double *w, const int n, vop_past f, vop_past q, vop_past lo,
              const double *src, const double *hist, double alpha, int32_t m)
{
    for (EACH(i)) {
        const double q1 = q[0][i], lo1 = lo[0][i];
        double current = w[0] * f[0][i] + w[1] * f[1][i],
               dq = w[1] * ((q[1][i] - q1) + (lo[1][i] - lo1));
        for (int k = 2; k < n; k++) {
            current += w[k] * f[k][i];
            dq += w[k] * ((q[k][i] - q1) + (lo[k][i] - lo1));
        }
        r[i] = current + src[i] + (alpha * dq + hist[i]);
    }
}

VS_CLONES void vop_predicted_residual(double *r, const double *w, int n, vop_past f, vop_past q,
                                      vop_past lo, const double *src, const double *hist,
                                      double alpha, int32_t m)
{
    assert(n >= 2 && n <= VOP_PAST);
#define RESIDUAL(n) residual_from(r, w, n, f, q, lo, src, hist, alpha, m)
    FOR_EACH_COUNT(n, RESIDUAL)
}

VS_HOT_CLONES void vop_flow(double *restrict dq, double alpha, const double *q, const double *q1,
                            const double *lo, const double *lo1, const double *hist, int32_t m)
{
    for (EACH(i))
        dq[i] = alpha * ((q[i] - q1[i]) + (lo[i] - lo1[i])) + hist[i];
}

static inline __attribute__((always_inline)) void begin_from(const vop_start *s, const int n,
                                                             const bool two, const int32_t m)
{
    const double *x[VOP_PAST], *f[VOP_PAST], *q[VOP_PAST], *lo[VOP_PAST];
    double w[VOP_PAST], p[3];
    for (int k = 0; k < n; k++) {
        x[k] = s->x[k], f[k] = s->f[k], q[k] = s->q[k], lo[k] = s->lo[k];
        w[k] = s->weight[k];
    }
    for (int k = 0; k < 3; k++)
        p[k] = s->pred_weight[k];
    const double *src = s->src, *slope = s->dq;
    const double alpha = s->alpha, a1 = s->a1, b = s->b;
    double *restrict pred = s->pred, *restrict start = s->start, *restrict hist = s->hist,
                     *restrict r = s->r;
#pragma GCC ivdep /* what is written overlaps nothing that is read */
    for (EACH(i)) {
        const double near = p[0] * x[0][i] + p[1] * x[1][i] + p[2] * x[2][i];
        const double q1 = q[0][i], lo1 = lo[0][i], d2 = (q[1][i] - q1) + (lo[1][i] - lo1);
        double value = w[0] * x[0][i], current = w[0] * f[0][i] + w[1] * f[1][i], dq = w[1] * d2;
        value += w[1] * x[1][i];
        for (int k = 2; k < n; k++) {
            value += w[k] * x[k][i];
            current += w[k] * f[k][i];
            dq += w[k] * ((q[k][i] - q1) + (lo[k][i] - lo1));
        }
        const double past = two ? -a1 * ((q1 - q[1][i]) + (lo1 - lo[1][i])) : b * slope[i];
        pred[i] = near;
        if (n == 4)
            start[i] = value;
        hist[i] = past;
        r[i] = current + src[i] + (alpha * dq + past);
    }
}

VS_HOT_CLONES void vop_begin(const vop_start *s, int32_t m)
{
    assert(s->n == 3 || s->n == 4);
    if (s->n == 4 && s->two)
        begin_from(s, 4, true, m);
    else if (s->n == 4)
        begin_from(s, 4, false, m);
    else if (s->two)
        begin_from(s, 3, true, m);
    else
        begin_from(s, 3, false, m);
}

/* tests: *solved says whether all rows pass the test of vop_residual. */
static inline __attribute__((always_inline)) bool finish_from(const vop_end *e, const bool update,
                                                              const bool less, const bool tests,
                                                              const int32_t m, bool *solved)
{
    const double *dx = e->dx, *r = e->r, *fix = e->fix, *q = e->q, *lo = e->lo, *q1 = e->q1,
                 *lo1 = e->lo1, *src = e->src, *hist = e->hist, *pred = e->pred, *xmax = e->xmax,
                 *tol = e->tol, *weight = e->weight, *fm = e->fmax, *qm = e->qmax, *rmax = e->rmax,
                 *tol_r = e->tol_r;
    const double alpha = e->alpha, reltol = e->reltol, limit = e->limit, far = e->far,
                 strict = e->strict;
    double *restrict x = e->x, *restrict f = e->f, *restrict q_new = e->q_new,
                     *restrict lo_new = e->lo_new, *restrict f_new = e->f_new,
                     *restrict dq_new = e->dq_new;
    int64_t bad = 0, open = 0;
#pragma GCC ivdep /* what is written overlaps nothing that is read */
    for (EACH(i)) {
        const double value = update ? x[i] - dx[i] : x[i], current = update ? f[i] - r[i] : f[i];
        const double rest = less ? lo[i] - fix[i] : lo[i], charge = q[i];
        const double flow = alpha * ((charge - q1[i]) + (rest - lo1[i])) + hist[i];
        const double bound = norm_max(reltol * norm_max(xmax[i], fabs(value)), tol[i]);
        if (update) {
            x[i] = value;
            f[i] = current;
        }
        if (tests) {
            const double size = norm_max(norm_max(fm[i], fabs(flow)), rmax[i]);
            const double base = norm_max(size, alpha * qm[i]);
            open |= fabs(current + flow) <= strict * (reltol * base + tol_r[i]) ? 0 : -1;
        }
        q_new[i] = charge;
        lo_new[i] = rest;
        f_new[i] = current - src[i];
        dq_new[i] = flow;
        bad |= fabs(value - pred[i]) * weight[i] <= limit * bound ? 0 : -1;
        bad |= fabs(value) <= far ? 0 : -1;
    }
    if (tests)
        *solved = !open;
    return !bad;
}

VS_HOT_CLONES bool vop_finish(const vop_end *e, int32_t m)
{
    return e->dx    ? finish_from(e, true, false, false, m, NULL)
           : e->fix ? finish_from(e, false, true, false, m, NULL)
                    : finish_from(e, false, false, false, m, NULL);
}

VS_HOT_CLONES bool vop_finish_solved(const vop_end *e, int32_t m, bool *solved)
{
    return finish_from(e, false, false, true, m, solved);
}

/* One by one, as the solution of a tiny matrix stored b: see hot.h. */
static void subtract_few(double *restrict d, const double *a, const double *b)
{
    for (int i = 0; i < VOP_WIDTH; i++) {
        d[i] = a[i] - b[i];
        __asm__("" : "+m"(d[i]));
    }
}

VS_HOT_CLONES void vop_subtract(double *restrict d, const double *a, const double *b, int32_t m)
{
    if (m == VOP_WIDTH) {
        subtract_few(d, a, b);
        return;
    }
    for (EACH(i))
        d[i] = a[i] - b[i];
}

VS_CLONES void vop_weights(double *restrict w, const double *max, const double *tol, double part,
                           double reltol, int32_t m)
{
    for (EACH(i))
        w[i] = 1 / (part * (reltol * max[i] + tol[i]));
}

VS_HOT_CLONES void vop_larger(double *restrict a, const double *v, double *restrict b,
                              const double *w, int32_t m)
{
    for (EACH(i)) {
        a[i] = norm_max(a[i], fabs(v[i]));
        b[i] = norm_max(b[i], fabs(w[i]));
    }
}

VS_HOT_CLONES bool vop_is_far(const double *x, double far, int32_t m)
{
    int64_t bad = 0;
    for (EACH(i))
        bad |= fabs(x[i]) <= far ? 0 : -1;
    return bad;
}

VS_HOT_CLONES bool vop_miss_is_small(const double *x, const double *pred, const double *xmax,
                                     const double *tol, const double *weight, double reltol,
                                     double limit, int32_t m)
{
    int64_t bad = 0;
    for (EACH(i)) {
        const double bound = norm_max(reltol * norm_max(xmax[i], fabs(x[i])), tol[i]);
        bad |= fabs(x[i] - pred[i]) * weight[i] <= limit * bound ? 0 : -1;
    }
    return !bad;
}
