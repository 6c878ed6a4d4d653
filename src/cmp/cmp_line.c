/* cmp_line.c - curves between their points. */
#include <math.h>

#include "cmp_priv.h"

static double warped(const cmp_warp *w, double x, bool back)
{
    const double *from = back ? w->b : w->a, *to = back ? w->a : w->b;
    if (!w->n)
        return x;
    int64_t lo = 0, hi = w->n - 1;
    if (x <= from[lo])
        return x + to[lo] - from[lo];
    if (x >= from[hi])
        return x + to[hi] - from[hi];
    while (hi - lo > 1) {
        const int64_t k = (lo + hi) / 2;
        if (from[k] <= x)
            lo = k;
        else
            hi = k;
    }
    const double d = from[hi] - from[lo];
    return d > 0 ? to[lo] + (to[hi] - to[lo]) * (x - from[lo]) / d : to[lo];
}

/* The second divided difference at the points k - 1, k, k + 1; 0 at the ends, and where one of the
 * pieces is much shorter: a corner, as those of a pulse, tells nothing of the long one. */
static double bend(const cmp_line *l, int64_t k)
{
    if (k < 1 || k + 1 >= l->n)
        return 0;
    const double h = l->x[k] - l->x[k - 1], g = l->x[k + 1] - l->x[k];
    if (!(h > 0 && g > 0) || h < g / 4 || g < h / 4)
        return 0;
    return fabs((l->y[k + 1] - l->y[k]) / g - (l->y[k] - l->y[k - 1]) / h) / (h + g);
}

static double slope_of(const cmp_line *l, int64_t k)
{
    if (k < 0 || k + 1 >= l->n || !(l->x[k + 1] > l->x[k]))
        return 0;
    return fabs((l->y[k + 1] - l->y[k]) / (l->x[k + 1] - l->x[k]));
}

/* The last k with x[k] <= t. */
static int64_t find(const cmp_line *l, double t, int64_t k)
{
    int64_t lo = 0, hi = l->n;
    if (k >= 0 && k + 1 < l->n && l->x[k] <= t && t < l->x[k + 1])
        return k;
    if (k >= 0 && k + 2 < l->n && l->x[k + 1] <= t && t < l->x[k + 2])
        return k + 1;
    while (hi - lo > 1) {
        const int64_t m = (lo + hi) / 2;
        if (l->x[m] <= t)
            lo = m;
        else
            hi = m;
    }
    return lo;
}

/* |f - chord| <= h^2/8 |f''|, and a second divided difference is f''/2. Of the two at the ends of a
 * piece the smaller one counts: beside a corner the other one is not of this piece. */
double cmp_value_at(const cmp_line *l, double x, int64_t *at, double *chord, double *slope)
{
    *chord = *slope = 0;
    if (!(x >= l->x[0] && x <= l->x[l->n - 1]))
        return NAN;
    const int64_t k = *at = find(l, x, *at);
    if (k + 1 >= l->n)
        return l->y[k];
    const double h = l->x[k + 1] - l->x[k], a = l->y[k], b = l->y[k + 1];
    const double d = fmin(bend(l, k), bend(l, k + 1));
    *chord = fmin(h * h / 4 * d, fabs(b - a) + h * h / 16 * d);
    *slope = fmax(slope_of(l, k), fmax(slope_of(l, k - 1), slope_of(l, k + 1)));
    return h > 0 ? a + (b - a) * ((x - l->x[k]) / h) : a;
}

typedef struct check {
    const cmp_line *of, *to;
    const cmp_warp *w;
    bool back; /* `of` is b */
    double lift, tolerance, time_shift;
} check;

static bool one_way(const check *c, cmp_found *f)
{
    int64_t at = 0;
    bool ok = true;
    for (int64_t k = 0; k < c->of->n; k++) {
        double chord, slope;
        const double x = warped(c->w, c->of->x[k], c->back), y = c->of->y[k];
        const double other = cmp_value_at(c->to, x, &at, &chord, &slope);
        if (isnan(other) && (x < c->to->x[0] || x > c->to->x[c->to->n - 1]))
            continue;
        /* at a jump any value between its ends is one */
        if (k && c->of->x[k] <= c->of->x[k - 1])
            continue;
        const double d = y - other + (c->back ? c->lift : -c->lift);
        const double tol = c->tolerance + 2 * chord + slope * c->time_shift;
        if (isnan(y) != isnan(other)) {
            *f = (cmp_found){
                .kind = CMP_NAN, .at = c->of->x[k], .size = INFINITY, .tolerance = c->tolerance};
            return false;
        }
        if (fabs(d) > tol && fabs(d) * f->tolerance >= f->size * tol) {
            f->kind = CMP_VALUE;
            f->at = c->of->x[k];
            f->size = fabs(d);
            f->tolerance = tol;
        }
        ok &= !(fabs(d) > tol);
    }
    return ok;
}

bool cmp_values(const cmp_line *a, const cmp_line *b, const cmp_warp *w, double lift,
                double tolerance, double time_shift, cmp_found *f)
{
    check c = {a, b, w, false, lift, tolerance, time_shift};
    *f = (cmp_found){.tolerance = 1};
    const bool there = one_way(&c, f);
    if (f->kind == CMP_NAN)
        return false;
    c.of = b;
    c.to = a;
    c.back = true;
    return one_way(&c, f) && there;
}
