/* meas_slope.c - derivatives of a measure by the points of the curves that it was taken from.
 * Forms are differentiated as meas.c computes them: lines between points, sums of trapezia.
 * Expressions of vectors are differentiated by differences of their values. Each point of an
 * expression depends on the same point of the vectors alone (this is tested), so two evaluations
 * give the derivatives by a vector at all points at once. */
#include <math.h>
#include <string.h>

#include "meas_priv.h"
#include "post_priv.h"

/* Of the largest value of a vector: exact for products, 1e-10 for what is smooth. */
#define STEP 1e-5
/* Of each value of a spectrum, since these differ by decades: 3e-9 for logarithms and angles. */
#define STEP_OF_EACH 1e-4

typedef struct work {
    post_env *e;
    diag_span at;
    const char *name;
    post_plot *p;
    const post_measured *before; /* [n_before] */
    size_t n_before, n_vec;      /* vectors that are no measures */
    int64_t n;                   /* points */
    const double *x;             /* [n] the axis */
    bool spectrum;               /* it is one of frequencies */
    post_slope **to;
} work;

static vs_status refuse(const work *w, const char *fmt, const char *what)
{
    char text[300];
    size_t n = 0;
    for (const char *s = fmt; *s && n + 1 < sizeof text; s++) {
        const bool here = s[0] == '%' && s[1] == 's';
        for (const char *k = here ? what : ""; *k && n + 1 < sizeof text;)
            text[n++] = *k++;
        if (here)
            s++;
        else
            text[n++] = *s;
    }
    text[n] = 0;
    diag_error(w->e->d, w->at, "the measure '%s' has no derivative: %s", w->name, text);
    return VS_EINPUT;
}

/* -- curves of expressions -- */

static vs_status curve_of(const work *w, const char *expr, double **y)
{
    post_val v;
    if (!post_eval(w->e, expr, &v))
        return VS_EINPUT;
    *y = arena_array(w->e->mem, double, w->n + 1);
    for (int64_t k = 0; k < w->n; k++)
        (*y)[k] = creal(post_at(&v, k));
    return VS_OK;
}

static size_t numbers_of(const post_vec *v) { return (size_t)v->n * (v->complex ? 2 : 1); }

static double step_of(const post_vec *v)
{
    double most = 0;
    for (size_t k = 0; k < numbers_of(v); k++)
        most = fmax(most, fabs(v->v[k]));
    return most > 0 ? most * STEP : STEP;
}

/* Steps [v->n] by which each value is moved. */
static double *steps_of(const work *w, const post_vec *v)
{
    const double all = step_of(v);
    double *h = arena_array(w->e->mem, double, v->n + 1);
    for (int64_t k = 0; k < v->n; k++) {
        const double size = v->complex ? hypot(v->v[2 * k], v->v[2 * k + 1]) : fabs(v->v[k]);
        h[k] = w->spectrum && size > 0 ? size * STEP_OF_EACH : all;
    }
    return h;
}

typedef struct half { /* every second value of a vector, from `first` on */
    size_t vec;
    int first;
    int part;        /* 0, or 1: the imaginary part */
    const double *h; /* [n] steps */
} half;

/* The expression with these values moved by `sign` steps. */
static vs_status moved(const work *w, const char *expr, const half *m, int sign, double **y)
{
    post_vec *v = w->p->vec[m->vec];
    const size_t bytes = numbers_of(v) * sizeof *v->v;
    double *was = arena_alloc(w->e->mem, bytes + 1);
    memcpy(was, v->v, bytes);
    for (int64_t k = m->first; k < v->n; k += 2)
        v->v[v->complex ? 2 * k + m->part : k] += sign * m->h[k];
    const vs_status st = curve_of(w, expr, y);
    memcpy(v->v, was, bytes);
    return st;
}

/* Adds weight[k] d expr_k / d vec_k at these values. */
static vs_status add_half(const work *w, const char *expr, const half *m, const double *y,
                          const double *weight)
{
    double *hi, *lo;
    vs_status st = moved(w, expr, m, 1, &hi);
    if (st == VS_OK)
        st = moved(w, expr, m, -1, &lo);
    for (int64_t k = 0; k < w->n && st == VS_OK; k++) {
        const double d = (hi[k] - lo[k]) / (2 * m->h[k]), by = weight[k] * d;
        const bool here = k % 2 == m->first;
        if (!here && (hi[k] != y[k] || lo[k] != y[k]))
            return refuse(w, "'%s' computes with several points at once", expr);
        if (!isfinite(d))
            return refuse(w, "'%s' has none at one of its points", expr);
        if (here && d != 0 && weight[k] != 0)
            vec_push(*w->to, ((post_slope){m->vec, k, m->part ? 0 : by, m->part ? by : 0}));
    }
    return st;
}

/* The same by all vectors. */
static vs_status add_curve(const work *w, const char *expr, const double *weight)
{
    double *y;
    vs_status st = curve_of(w, expr, &y);
    for (size_t i = 0; i < w->n_vec && st == VS_OK; i++) {
        const post_vec *v = w->p->vec[i];
        if (v == w->p->scale)
            continue;
        half m = {.vec = i, .h = steps_of(w, v)};
        for (m.part = 0; m.part < (v->complex ? 2 : 1); m.part++)
            for (m.first = 0; m.first < 2 && st == VS_OK; m.first++)
                st = add_half(w, expr, &m, y, weight);
    }
    return st;
}

/* Measures that an expression names: only PARAM may. */
static vs_status check_names(const work *w, const char *expr)
{
    const char **name = NULL;
    vs_status st = VS_OK;
    post_names(w->e->set->names, expr, &name);
    for (size_t i = 0; i < vec_len(name); i++)
        for (size_t k = 0; k < w->n_before && st == VS_OK; k++)
            if (!str_casecmp(w->before[k].m.name, name[i]))
                st = refuse(w, "it looks at another measure, '%s', which PARAM alone may", name[i]);
    vec_free(name);
    return st;
}

/* -- places -- */

/* Slope at t, in the piece [k - 1, k], of the parabola through its ends and the point before or
 * behind, whichever bends it less: no corner lies between these three. The measure's own line has
 * the slope of its piece, which is wrong in first order of its length. */
static double slope_at(const work *w, const double *y, int64_t k, double t)
{
    const double *x = w->x, line = (y[k] - y[k - 1]) / (x[k] - x[k - 1]);
    double bend = INFINITY;
    for (int64_t j = k - 2; j <= k + 1; j += 3) {
        if (j < 0 || j >= w->n)
            continue;
        const int64_t end = j < k ? k - 1 : k;
        const double other = (y[j] - y[end]) / (x[j] - x[end]);
        const double b = (other - line) / (x[j] - x[j < k ? k : k - 1]);
        bend = fabs(b) < fabs(bend) ? b : bend;
    }
    return isinf(bend) ? line : line + bend * (2 * t - x[k - 1] - x[k]);
}

typedef struct place { /* t; dt = left d y[k - 1] + right d y[k] of expr - val; k < 1: fixed */
    double t, left, right;
    int64_t k;
    const clause *c;
} place;

static vs_status find_place(const work *w, const clause *c, place *p)
{
    double *y, *val;
    *p = (place){.t = c->at, .c = c};
    if (!c->expr)
        return VS_OK;
    vs_status st = check_names(w, c->expr);
    if (st == VS_OK)
        st = check_names(w, c->val);
    if (st == VS_OK)
        st = curve_of(w, c->expr, &y);
    if (st == VS_OK)
        st = curve_of(w, c->val, &val);
    meas_crossing s = {0};
    for (int64_t k = 0; k < w->n && st == VS_OK; k++) {
        y[k] -= val[k];
        if (meas_crossing_add(&s, c, w->x[k], y[k]))
            p->k = k;
    }
    if (p->k < 1)
        return st;
    const double part = (s.t - w->x[p->k - 1]) / (w->x[p->k] - w->x[p->k - 1]);
    const double slope = slope_at(w, y, p->k, s.t);
    p->t = s.t;
    p->left = -(1 - part) / slope;
    p->right = -part / slope;
    return st;
}

/* Adds by dt. */
static vs_status add_place(const work *w, const place *p, double by)
{
    if (p->k < 1)
        return VS_OK;
    double *weight = arena_array(w->e->mem, double, w->n + 1);
    weight[p->k - 1] = by * p->left;
    weight[p->k] = by * p->right;
    const vs_status st = add_curve(w, p->c->expr, weight);
    weight[p->k - 1] = -by * p->left;
    weight[p->k] = -by * p->right;
    return st == VS_OK ? add_curve(w, p->c->val, weight) : st;
}

static bool goes_up(const work *w) { return w->x[w->n - 1] >= w->x[0]; }

/* The piece [k, k + 1] of the axis, which rises or falls, with t in it, and how far t is in it,
 * 0 .. 1. */
static int64_t piece_at(const work *w, double t, double *part)
{
    const bool up = goes_up(w);
    int64_t lo = 0, hi = w->n - 1;
    while (hi - lo > 1) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (up ? w->x[mid] <= t : w->x[mid] >= t)
            lo = mid;
        else
            hi = mid;
    }
    const double h = w->n > 1 ? w->x[lo + 1] - w->x[lo] : 0;
    *part = h != 0 ? fmin(fmax((t - w->x[lo]) / h, 0), 1) : 0;
    return lo;
}

/* -- forms -- */

static vs_status delay(const work *w, const meas_plan *plan)
{
    place from, to;
    vs_status st = find_place(w, &plan->a, &from);
    if (st == VS_OK)
        st = find_place(w, &plan->b, &to);
    if (st == VS_OK)
        st = add_place(w, &from, -1);
    return st == VS_OK ? add_place(w, &to, 1) : st;
}

static vs_status when(const work *w, const meas_plan *plan)
{
    place p;
    const vs_status st = find_place(w, &plan->a, &p);
    return st == VS_OK ? add_place(w, &p, 1) : st;
}

static vs_status find(const work *w, const meas_plan *plan)
{
    place p;
    double *y, *weight, part;
    vs_status st = check_names(w, plan->expr);
    if (st == VS_OK && !w->x) /* of an operating point */
        return add_curve(w, plan->expr, (double[]){1});
    if (st == VS_OK)
        st = find_place(w, &plan->a, &p);
    if (st == VS_OK)
        st = curve_of(w, plan->expr, &y);
    if (st != VS_OK)
        return st;
    const int64_t k = piece_at(w, p.t, &part);
    weight = arena_array(w->e->mem, double, w->n + 1);
    weight[k] = 1 - part;
    if (part > 0)
        weight[k + 1] = part;
    st = add_curve(w, plan->expr, weight);
    if (p.k < 1 || st != VS_OK)
        return st;
    return add_place(w, &p, slope_at(w, y, k + 1, p.t));
}

/* The part of a curve from a to b > a, both ends between points. */
typedef struct stretch {
    int64_t n;
    double *x, *y, *d; /* [n]; d measure / dy */
    int64_t *of;       /* [n] point of the curve; point 0 and the last lie in pieces */
    int64_t piece[2];
    double part[2];
} stretch;

static void cut(const work *w, const double *y, double a, double b, stretch *s)
{
    *s = (stretch){.x = arena_array(w->e->mem, double, w->n + 3),
                   .y = arena_array(w->e->mem, double, w->n + 3),
                   .d = arena_array(w->e->mem, double, w->n + 3),
                   .of = arena_array(w->e->mem, int64_t, w->n + 3)};
    const bool up = goes_up(w);
    a = fmax(a, w->x[up ? 0 : w->n - 1]);
    b = fmin(b, w->x[up ? w->n - 1 : 0]);
    for (int end = 0; end < 2; end++)
        s->piece[end] = piece_at(w, end ? b : a, &s->part[end]);
    s->x[s->n] = a;
    s->y[s->n++] = post_interpolate(w->x, y, w->n, a);
    for (int64_t i = 0; i < w->n; i++) {
        const int64_t k = up ? i : w->n - 1 - i;
        if (!(w->x[k] > a && w->x[k] < b))
            continue;
        s->of[s->n] = k;
        s->x[s->n] = w->x[k];
        s->y[s->n++] = y[k];
    }
    if (b == a)
        return;
    s->x[s->n] = b;
    s->y[s->n++] = post_interpolate(w->x, y, w->n, b);
}

static void integral_slope(stretch *s, range_kind kind)
{
    const double span = s->x[s->n - 1] - s->x[0], rms = kind == R_RMS;
    double square = 0;
    if (s->n == 1) { /* a point: an average is its value */
        s->d[0] = kind == R_INTEG ? 0 : rms ? copysign(1, s->y[0]) : 1;
        return;
    }
    for (int64_t k = 1; k < s->n; k++) {
        const double h = s->x[k] - s->x[k - 1], a = s->y[k - 1], b = s->y[k];
        square += h * (a * a + a * b + b * b) / 3;
        s->d[k - 1] += h * (rms ? (2 * a + b) / 3 : 0.5);
        s->d[k] += h * (rms ? (a + 2 * b) / 3 : 0.5);
    }
    const double by = kind == R_INTEG ? 1 : kind == R_AVG ? 1 / span : 0.5 / sqrt(square * span);
    for (int64_t k = 0; k < s->n; k++)
        s->d[k] *= rms && square == 0 ? 0 : by;
}

static void extreme_slope(stretch *s, range_kind kind)
{
    int64_t lo = 0, hi = 0;
    for (int64_t k = 1; k < s->n; k++) {
        lo = s->y[k] < s->y[lo] ? k : lo;
        hi = s->y[k] > s->y[hi] ? k : hi;
    }
    if (kind != R_MIN)
        s->d[hi] += 1;
    if (kind != R_MAX)
        s->d[lo] += kind == R_PP ? -1 : 1;
}

static vs_status range(const work *w, const meas_plan *plan)
{
    double *y, *weight;
    stretch s;
    const double from = plan->a.from, to = plan->a.to;
    if (plan->range == R_MIN_AT || plan->range == R_MAX_AT)
        return refuse(w, "the time of an extreme is one of the points%s", "");
    vs_status st = check_names(w, plan->expr);
    if (st == VS_OK)
        st = curve_of(w, plan->expr, &y);
    if (st != VS_OK)
        return st;
    cut(w, y, isnan(from) ? -INFINITY : from, isnan(to) ? INFINITY : to, &s);
    if (plan->range == R_AVG || plan->range == R_RMS || plan->range == R_INTEG)
        integral_slope(&s, plan->range);
    else
        extreme_slope(&s, plan->range);
    weight = arena_array(w->e->mem, double, w->n + 2);
    for (int64_t k = 1; k + 1 < s.n; k++)
        weight[s.of[k]] += s.d[k];
    for (int end = 0; end < (s.n > 1 ? 2 : 1); end++) {
        const double d = s.d[end ? s.n - 1 : 0];
        weight[s.piece[end]] += d * (1 - s.part[end]);
        if (s.part[end] > 0)
            weight[s.piece[end] + 1] += d * s.part[end];
    }
    return add_curve(w, plan->expr, weight);
}

static vs_status value_of(const work *w, const char *expr, double *y)
{
    post_val v;
    if (!post_eval(w->e, expr, &v))
        return VS_EINPUT;
    *y = v.n > 0 ? creal(post_at(&v, v.n - 1)) : NAN;
    return VS_OK;
}

/* A number of numbers: waveforms have no part in it. */
static vs_status check_waves(const work *w, const char *expr, double y)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < w->n_vec && st == VS_OK; i++) {
        post_vec *v = w->p->vec[i];
        double z, *was = v->v, *other = arena_alloc(w->e->mem, numbers_of(v) * sizeof *was + 1);
        const double h = step_of(v);
        for (size_t k = 0; k < numbers_of(v); k++)
            other[k] = was[k] + h;
        v->v = other;
        st = value_of(w, expr, &z);
        v->v = was;
        if (st == VS_OK && z != y)
            st = refuse(w, "'%s' looks at waveforms; measure them by FIND, AVG and the like", expr);
    }
    return st;
}

static vs_status param(const work *w, const char *expr)
{
    double y, hi, lo;
    vs_status st = value_of(w, expr, &y);
    if (st == VS_OK)
        st = check_waves(w, expr, y);
    for (size_t i = 0; i < w->n_before && st == VS_OK; i++) {
        double *v = w->p->vec[w->n_vec + i]->v;
        const double was = *v, h = was != 0 ? fabs(was) * STEP : STEP;
        *v = was + h;
        st = value_of(w, expr, &hi);
        *v = was - h;
        if (st == VS_OK)
            st = value_of(w, expr, &lo);
        *v = was;
        if (st != VS_OK || hi == lo)
            continue;
        const post_slope *s = w->before[i].slope;
        for (size_t k = 0; k < vec_len(s); k++)
            vec_push(*w->to, ((post_slope){s[k].vec, s[k].point, s[k].by * (hi - lo) / (2 * h),
                                           s[k].by_im * (hi - lo) / (2 * h)}));
    }
    return st;
}

static vs_status differentiate(const work *w, const meas_plan *plan)
{
    switch (plan->kind) {
    case MEAS_PARAM: return param(w, plan->expr);
    case MEAS_DELAY: return delay(w, plan);
    case MEAS_FIND: return find(w, plan);
    case MEAS_WHEN: return when(w, plan);
    case MEAS_RANGE: return range(w, plan);
    default:
        return refuse(w,
                      "gradients are made of FIND, WHEN, TRIG and TARG, AVG, RMS, INTEG, MIN, "
                      "MAX, PP and PARAM%s",
                      "");
    }
}

vs_status post_measure_slope(post_env *e, const char *text, diag_span at,
                             const post_measured *before, size_t n, post_measured *out)
{
    meas_plan plan;
    post_meas read;
    post_plot *p = e->set->current;
    vs_status st = post_measure(e, text, at, &out->m);
    if (st == VS_OK && !out->m.ok) {
        diag_error(e->d, at, "the measure '%s' failed: %s", out->m.name,
                   out->m.why ? out->m.why : "no such value");
        st = VS_EINPUT;
    }
    if (st == VS_OK)
        st = meas_read(e, text, at, &read, &plan);
    if (st != VS_OK)
        return st;
    const work w = {.e = e,
                    .at = at,
                    .name = out->m.name,
                    .p = p,
                    .before = before,
                    .n_before = n,
                    .n_vec = vec_len(p->vec) - n,
                    .n = p->scale ? p->scale->n : 1,
                    .x = p->scale ? p->scale->v : NULL,
                    .spectrum = p->scale && !strcmp(p->scale->type, "frequency"),
                    .to = &out->slope};
    return differentiate(&w, &plan);
}
