/* cmp_edge.c - edges: where a signal goes from its lower quarter to its upper one or back, at the
 * time of the last crossing of the middle between them. An oscillation is a signal of at least SIX
 * rising edges whose distances are alike in its second half. */
#include <math.h>

#include "cmp_priv.h"

enum { SIX = 6 };

typedef struct edge {
    double t, slope;
    bool rise;
} edge;

static void range(const cmp_line *l, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int64_t k = 0; k < l->n; k++) {
        *lo = fmin(*lo, l->y[k]);
        *hi = fmax(*hi, l->y[k]);
    }
}

static edge *edges_of(const cmp_line *l, double lo, double hi)
{
    edge *out = NULL, last = {NAN, 0, false};
    const double low = lo + 0.25 * (hi - lo), middle = 0.5 * (lo + hi),
                 high = hi - 0.25 * (hi - lo);
    int state = l->y[0] > high ? 1 : l->y[0] < low ? -1 : 0;
    for (int64_t k = 1; k < l->n; k++) {
        const double a = l->y[k - 1], b = l->y[k], h = l->x[k] - l->x[k - 1];
        if ((a < middle) != (b < middle))
            last = (edge){l->x[k - 1] + h * ((middle - a) / (b - a)),
                          h > 0 ? fabs((b - a) / h) : INFINITY, b > a};
        const int next = b > high ? 1 : b < low ? -1 : state;
        if (state && next != state && !isnan(last.t)) {
            last.rise = next > 0;
            vec_push(out, last);
        }
        state = next;
    }
    return out;
}

/* The mean distance of rising edges; NAN: it does not oscillate. */
static double period_of(const edge *e)
{
    double *t = NULL, period = NAN;
    for (size_t i = 0; i < vec_len(e); i++)
        if (e[i].rise)
            vec_push(t, e[i].t);
    const size_t n = vec_len(t);
    if (n >= SIX) {
        period = (t[n - 1] - t[n / 2]) / (double)(n - 1 - n / 2);
        for (size_t i = n / 2 + 1; i < n; i++)
            if (!(fabs(t[i] - t[i - 1] - period) <= 0.02 * period)) {
                period = NAN;
                break;
            }
    }
    vec_free(t);
    return period;
}

/* The times of b over those of a: t_b - t_a = delay + rate (t_a - t_0), by least squares. */
static void fit(const edge *a, const edge *b, size_t n, double *delay, double *rate)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = a[i].t - a[0].t, y = b[i].t - a[i].t;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    const double d = (double)n * sxx - sx * sx;
    *rate = d > 0 ? ((double)n * sxy - sx * sy) / d : 0;
    *delay = (sy - *rate * sx) / (double)n;
}

/* The first edge without a partner: nearer to no edge of the other than to its neighbour. */
static double unmatched(const edge *more, const edge *less)
{
    const size_t n = vec_len(less);
    for (size_t i = 0; i < n; i++) {
        const double gap = i + 1 < vec_len(more) ? more[i + 1].t - more[i].t : INFINITY;
        if (more[i].rise != less[i].rise || fabs(more[i].t - less[i].t) > 0.5 * fabs(gap))
            return more[i].t;
    }
    return more[n].t;
}

typedef struct pair {
    const edge *a, *b;  /* [n_a], [n_b] */
    size_t n_a, n_b, n; /* n: edges that belong together */
    double period_a, period_b;
    const cmp_opt *o;
    double tolerance;
} pair;

/* What an edge may be late: the time in which the signal passes its tolerance. */
static double time_tolerance(const pair *p, size_t i)
{
    const double slope = fmin(p->a[i].slope, p->b[i].slope);
    return p->o->time_shift + (slope > 0 ? p->tolerance / slope : 0);
}

static void late_edge(const pair *p, double delay, double rate, double more, cmp_found *f)
{
    double worst = 1;
    for (size_t i = 0; i < p->n; i++) {
        const double d = p->b[i].t - p->a[i].t - delay - rate * (p->a[i].t - p->a[0].t);
        const double tol = time_tolerance(p, i) + more;
        if (fabs(d) > worst * tol) {
            worst = fabs(d) / tol;
            f->kind = CMP_EDGE;
            f->at = p->a[i].t;
            f->size = d;
            f->tolerance = tol;
            f->index = (int64_t)i + 1;
            f->rise = p->a[i].rise;
        }
    }
}

/* The first edges that belong together: of one kind, and nearest to each other. One of the curves
 * may begin in the middle of an edge, or a little later. */
static void align(pair *p)
{
    size_t best_i = 0, best_k = 0;
    double best = INFINITY;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < (i ? 1 : 3); k++) {
            const double d = fabs(p->b[k].t - p->a[i].t);
            if (p->a[i].rise == p->b[k].rise && d < best) {
                best = d;
                best_i = i;
                best_k = k;
            }
        }
    p->a += best_i;
    p->b += best_k;
    const size_t n_a = p->n_a - best_i, n_b = p->n_b - best_k;
    p->n = n_a < n_b ? n_a : n_b;
}

/* Of the same period but for reltol. */
static void oscillation(pair *p, cmp_found *f)
{
    double delay, rate;
    const double apart = fabs(p->period_b / p->period_a - 1);
    f->period_a = p->period_a;
    f->period_b = p->period_b;
    if (apart > p->o->reltol) {
        f->kind = CMP_PERIOD;
        f->size = p->period_b / p->period_a - 1;
        f->tolerance = p->o->reltol;
        f->at = p->a[0].t;
        return;
    }
    align(p);
    fit(p->a, p->b, p->n, &delay, &rate);
    const double few = p->o->reltol * p->period_a;
    late_edge(p, delay, rate, few, f);
    if (f->kind == CMP_SAME && fabs(delay) > p->o->time_shift + few) {
        f->kind = CMP_PHASE;
        f->at = p->a[0].t;
        f->size = delay;
        f->tolerance = p->o->time_shift + few;
    }
}

void cmp_edges(const cmp_line *a, const cmp_line *b, const cmp_opt *o, double tolerance,
               cmp_found *f, double **pair_a, double **pair_b)
{
    double lo, hi, lo_b, hi_b;
    range(a, &lo, &hi);
    range(b, &lo_b, &hi_b);
    *f = (cmp_found){.kind = CMP_SAME, .tolerance = 1};
    *pair_a = *pair_b = NULL;
    if (!(hi - lo > 4 * tolerance) || !(hi_b - lo_b > 0.5 * (hi - lo)) ||
        !(hi - lo > 0.5 * (hi_b - lo_b)))
        return; /* values tell */
    lo = 0.5 * (lo + lo_b);
    hi = 0.5 * (hi + hi_b);
    edge *own_a = edges_of(a, lo, hi), *own_b = edges_of(b, lo, hi);
    const size_t n_a = vec_len(own_a), n_b = vec_len(own_b);
    pair p = {own_a, own_b,    n_a, n_b, n_a < n_b ? n_a : n_b, period_of(own_a), period_of(own_b),
              o,     tolerance};
    f->n_a = (int64_t)n_a;
    f->n_b = (int64_t)n_b;
    if (p.period_a > 0 && p.period_b > 0)
        oscillation(&p, f);
    else if (n_a != n_b) {
        f->kind = CMP_EDGES;
        f->at = n_a > n_b ? unmatched(own_a, own_b) : unmatched(own_b, own_a);
        f->size = fabs((double)n_a - (double)n_b);
        f->tolerance = 0.5;
    } else {
        late_edge(&p, 0, 0, 0, f);
    }
    for (size_t i = 0; i < p.n && f->kind == CMP_SAME; i++) {
        vec_push(*pair_a, p.a[i].t);
        vec_push(*pair_b, p.b[i].t);
    }
    vec_free(own_a);
    vec_free(own_b);
}
