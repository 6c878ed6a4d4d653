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

typedef struct window { /* points around a place on a curve, which lies in front of point k */
    int64_t k;          /* 0: there is none */
    int n, at;          /* points here; at: which of them is k */
    double x[5], y[5];  /* k - 2 to k + 2, as far as there are such */
} window;

typedef struct trail { /* the last points of a curve, and the window that was marked last */
    int64_t n;         /* points so far */
    double x[3], y[3]; /* the last of them, the newest at [2] */
    window w;
} trail;

typedef struct place { /* where a clause is; c->expr NULL: at a given t */
    const clause *c;
    meas_crossing s;
    trail of; /* expr - val */
} place;

typedef struct extreme {
    bool any;
    double y, right; /* at point k - 1 by 1 - right, at k by right */
    int64_t k;
} extreme;

typedef struct measure {
    const char *name, *text;
    diag_span at;
    meas_plan plan;
    place a, b;
    trail y;       /* of the expression that FIND or a range looks at */
    double square; /* of a range */
    extreme lo, hi;
    double *chain; /* [measures] d measure / d each that is no PARAM */
} measure;

struct post_slopes {
    arena mem, piece; /* of the plans; of the evaluation of a piece */
    measure *of;      /* vec */
    double *most;     /* vec: the largest size of each vector of the plot */
    int64_t n;        /* points so far */
    int n_piece;      /* in as many pieces */
    double first, last;
    bool up;        /* the axis rises */
    bool needs_all; /* an expression was refused for that */
    bool turned;    /* a sweep whose axis does not go on in one direction: it is one piece */
};

typedef struct work { /* on a piece */
    post_slopes *s;
    const measure *m;
    post_env e;
    bool whole; /* an expression looks further than the piece */
    post_plot *p;
    int64_t n;               /* points of the piece */
    const double *x;         /* [n] the axis; NULL: a point without one */
    bool spectrum;           /* it is one of frequencies */
    int64_t first, from, to; /* its first point; those that slopes are wanted by */
    double by;               /* times which they count */
    post_slope **list;
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
    diag_error(w->e.d, w->m->at, "the measure '%s' has no derivative: %s", w->m->name, text);
    return VS_EINPUT;
}

static void on_piece(work *w, post_slopes *s, const post_env *e)
{
    post_plot *p = e->set->current;
    *w = (work){.s = s,
                .e = *e,
                .p = p,
                .n = p->scale ? p->scale->n : 1,
                .x = p->scale ? p->scale->v : NULL,
                .spectrum = p->scale && !strcmp(p->scale->type, "frequency")};
    w->e.mem = &s->piece;
}

/* -- curves of expressions -- */

static vs_status curve_of(work *w, const char *expr, double **y)
{
    post_val v;
    const bool parts = w->s->n_piece > 1;
    w->whole = false;
    w->e.whole = parts ? &w->whole : NULL;
    w->e.ranges = parts;
    if (!post_eval(&w->e, expr, &v))
        return VS_EINPUT;
    if (w->whole) {
        w->s->needs_all = true;
        return refuse(w, "'%s' computes with several points at once, and not all fit into memory",
                      expr);
    }
    *y = arena_array(w->e.mem, double, w->n + 1);
    for (int64_t k = 0; k < w->n; k++)
        (*y)[k] = creal(post_at(&v, k));
    return VS_OK;
}

static size_t numbers_of(const post_vec *v) { return (size_t)v->n * (v->complex ? 2 : 1); }

static double most_of(const post_vec *v)
{
    double most = 0;
    for (size_t k = 0; k < numbers_of(v); k++)
        most = fmax(most, fabs(v->v[k]));
    return most;
}

static double step_of(double most) { return most > 0 ? most * STEP : STEP; }

/* Steps [v->n] by which each value of a vector is moved. */
static double *steps_of(const work *w, size_t i)
{
    const post_vec *v = w->p->vec[i];
    const double all = step_of(w->s->most[i]);
    double *h = arena_array(w->e.mem, double, v->n + 1);
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
static vs_status moved(work *w, const char *expr, const half *m, int sign, double **y)
{
    post_vec *v = w->p->vec[m->vec];
    const size_t bytes = numbers_of(v) * sizeof *v->v;
    double *was = arena_alloc(w->e.mem, bytes + 1);
    memcpy(was, v->v, bytes);
    for (int64_t k = m->first; k < v->n; k += 2)
        v->v[v->complex ? 2 * k + m->part : k] += sign * m->h[k];
    const vs_status st = curve_of(w, expr, y);
    memcpy(v->v, was, bytes);
    return st;
}

typedef struct weights { /* d measure / d expr, [n] */
    const double *by;
    const double *behind; /* what of it belongs to what follows the point; NULL: not known */
    const double *pulse;  /* by the area of a pulse; NULL: 0 */
} weights;

/* Adds by[k] d expr_k / d vec_k at these values. */
static vs_status add_half(work *w, const char *expr, const half *m, const double *y,
                          const weights *of)
{
    double *hi, *lo;
    vs_status st = moved(w, expr, m, 1, &hi);
    if (st == VS_OK)
        st = moved(w, expr, m, -1, &lo);
    for (int64_t k = 0; k < w->n && st == VS_OK; k++) {
        const double d = (hi[k] - lo[k]) / (2 * m->h[k]), by = of->by[k] * d * w->by;
        const double pulse = of->pulse ? of->pulse[k] * d * w->by : 0;
        const double behind = of->behind ? of->behind[k] * d * w->by : NAN;
        const bool here = k % 2 == m->first;
        if (!here && (hi[k] != y[k] || lo[k] != y[k]))
            return refuse(w, "'%s' computes with several points at once", expr);
        if (!isfinite(d))
            return refuse(w, "'%s' has none at one of its points", expr);
        if (here && (by != 0 || pulse != 0))
            vec_push(*w->list, ((post_slope){m->vec, w->first + k, m->part ? 0 : by,
                                             m->part ? by : 0, behind, pulse}));
    }
    return st;
}

/* The same by all vectors. */
static vs_status add_weighted(work *w, const char *expr, const weights *of)
{
    double *y;
    bool any = w->s->n_piece == 1; /* then it says at least what cannot be differentiated */
    for (int64_t k = 0; k < w->n && !any; k++)
        any = of->by[k] != 0 || (of->pulse && of->pulse[k] != 0);
    if (!any)
        return VS_OK;
    const arena_pos mark = arena_mark(w->e.mem);
    vs_status st = curve_of(w, expr, &y);
    for (size_t i = 0; i < vec_len(w->s->most) && st == VS_OK; i++) {
        const post_vec *v = w->p->vec[i];
        if (v == w->p->scale)
            continue;
        half m = {.vec = i, .h = steps_of(w, i)};
        for (m.part = 0; m.part < (v->complex ? 2 : 1); m.part++)
            for (m.first = 0; m.first < 2 && st == VS_OK; m.first++) {
                const arena_pos here = arena_mark(w->e.mem);
                st = add_half(w, expr, &m, y, of);
                arena_release(w->e.mem, here);
            }
    }
    arena_release(w->e.mem, mark);
    return st;
}

static vs_status add_curve(work *w, const char *expr, const double *weight)
{
    return add_weighted(w, expr, &(weights){.by = weight});
}

/* Measures that an expression names: only PARAM may. */
static vs_status check_names(const work *w, const char *expr)
{
    const char **name = NULL;
    vs_status st = VS_OK;
    post_names(w->e.set->names, expr, &name);
    for (size_t i = 0; i < vec_len(name); i++)
        for (const measure *k = w->s->of; k < w->m && st == VS_OK; k++)
            if (!str_casecmp(k->name, name[i]))
                st = refuse(w, "it looks at another measure, '%s', which PARAM alone may", name[i]);
    vec_free(name);
    return st;
}

/* -- places, while the points come -- */

static void trail_add(trail *t, double x, double y)
{
    window *w = &t->w;
    for (int i = 0; i < 2; i++) {
        t->x[i] = t->x[i + 1];
        t->y[i] = t->y[i + 1];
    }
    t->x[2] = x;
    t->y[2] = y;
    if (w->k > 0 && t->n - w->k <= 2) {
        w->x[w->n] = x;
        w->y[w->n++] = y;
    }
    t->n++;
}

/* The place lies in the piece whose end is the last point. */
static void trail_mark(trail *t)
{
    const int n = t->n < 3 ? (int)t->n : 3;
    t->w = (window){.k = t->n - 1, .n = n, .at = n - 1};
    memcpy(t->w.x, t->x + 3 - n, (size_t)n * sizeof *t->x);
    memcpy(t->w.y, t->y + 3 - n, (size_t)n * sizeof *t->y);
}

/* The same, if t is there or behind: the last such piece counts. */
static void trail_look(const post_slopes *s, trail *t, double at)
{
    if (t->n > 1 && (t->n == 2 || (s->up ? t->x[1] <= at : t->x[1] >= at)))
        trail_mark(t);
}

/* Slope at t, in the piece [k - 1, k], of the parabola through its ends and the point before or
 * behind, whichever bends it less: no corner lies between these three. The measure's own line has
 * the slope of its piece, which is wrong in first order of its length. */
static double slope_at(const double *x, const double *y, int n, int k, double t)
{
    const double line = (y[k] - y[k - 1]) / (x[k] - x[k - 1]);
    double bend = INFINITY;
    for (int j = k - 2; j <= k + 1; j += 3) {
        if (j < 0 || j >= n)
            continue;
        const int end = j < k ? k - 1 : k;
        if ((end - j) * (x[end] - x[j]) * (x[k] - x[k - 1]) <= 0)
            continue; /* another loop of a sweep, or the way back */
        const double other = (y[j] - y[end]) / (x[j] - x[end]);
        const double b = (other - line) / (x[j] - x[j < k ? k : k - 1]);
        bend = fabs(b) < fabs(bend) ? b : bend;
    }
    return isinf(bend) ? line : line + bend * (2 * t - x[k - 1] - x[k]);
}

static double part_at(const window *w, double t)
{
    const double h = w->x[w->at] - w->x[w->at - 1];
    return h != 0 ? fmin(fmax((t - w->x[w->at - 1]) / h, 0), 1) : 0;
}

static double time_of(const place *p) { return p->c->expr ? p->s.t : p->c->at; }

/* Adds point k of a curve to a place; true: the clause is met there. */
static bool place_add(place *p, double x, double y)
{
    trail_add(&p->of, x, y);
    const bool here = meas_crossing_add(&p->s, p->c, x, y);
    if (here)
        trail_mark(&p->of);
    return here;
}

/* What of the measure's range lies in the piece from x0 to x1, as shares of it. false: nothing. */
static bool cut(const meas_plan *p, const double x[2], double share[2])
{
    const int up = x[1] >= x[0];
    const double lo = x[!up], hi = x[up], h = hi - lo;
    const double a = p->a.from > lo ? p->a.from : lo, b = p->a.to < hi ? p->a.to : hi;
    if (!(b > a))
        return false;
    share[!up] = (a - lo) / h;
    share[up] = b < hi ? (b - lo) / h : 1;
    if (!up)
        for (int i = 0; i < 2; i++)
            share[i] = 1 - share[i];
    return true;
}

static double on_line(const double y[2], double share)
{
    return share == 1 ? y[1] : y[0] + share * (y[1] - y[0]);
}

/* The integral of the square of what lies in a piece. */
static double square_of(const meas_plan *p, const double x[2], const double y[2])
{
    double share[2];
    if (!cut(p, x, share))
        return 0;
    const double h = fabs((share[1] - share[0]) * (x[1] - x[0]));
    const double a = on_line(y, share[0]), b = on_line(y, share[1]);
    return h * (a * a + a * b + b * b) / 3;
}

static void see(const post_slopes *s, measure *m, int64_t k, double right, double y)
{
    /* of equal ones the first from left to right */
    const bool low = s->up ? y < m->lo.y : y <= m->lo.y, high = s->up ? y > m->hi.y : y >= m->hi.y;
    const extreme here = {true, y, right, k};
    if (!m->lo.any || low)
        m->lo = here;
    if (!m->hi.any || high)
        m->hi = here;
}

/* The ends of a range between the last two points, in their order. */
static void see_ends(const post_slopes *s, measure *m)
{
    const double *x = m->y.x + 1, *y = m->y.y + 1, end[2] = {m->plan.a.from, m->plan.a.to};
    for (int i = 0; i < 2; i++) {
        const double t = end[s->up ? i : 1 - i];
        if (t > fmin(x[0], x[1]) && t < fmax(x[0], x[1])) {
            const double right = (t - x[0]) / (x[1] - x[0]);
            see(s, m, m->y.n - 1, right, y[0] + right * (y[1] - y[0]));
        }
    }
}

static void range_add(const post_slopes *s, measure *m, double x, double y)
{
    const clause *c = &m->plan.a;
    trail_add(&m->y, x, y);
    trail_look(s, &m->y, c->from);
    if (m->y.n > 1) {
        m->square += square_of(&m->plan, m->y.x + 1, m->y.y + 1);
        see_ends(s, m);
    }
    if (!(x < c->from) && !(x > c->to))
        see(s, m, m->y.n - 1, 1, y);
}

static vs_status place_curve(work *w, const clause *c, double **y)
{
    double *val;
    *y = NULL;
    if (!c->expr)
        return VS_OK;
    vs_status st = curve_of(w, c->expr, y);
    if (st == VS_OK)
        st = curve_of(w, c->val, &val);
    for (int64_t k = 0; k < w->n && st == VS_OK; k++)
        (*y)[k] -= val[k];
    return st;
}

static vs_status take(work *w, measure *m)
{
    post_slopes *s = w->s;
    double *y = NULL, *a = NULL, *b = NULL;
    vs_status st = VS_OK;
    w->m = m;
    if (m->plan.kind == MEAS_PARAM || (m->plan.kind == MEAS_FIND && !w->x))
        return VS_OK;
    if (m->plan.expr)
        st = curve_of(w, m->plan.expr, &y);
    if (st == VS_OK && m->plan.kind != MEAS_RANGE)
        st = place_curve(w, m->a.c, &a);
    if (st == VS_OK && m->plan.kind == MEAS_DELAY)
        st = place_curve(w, m->b.c, &b);
    for (int64_t k = 0; k < w->n && st == VS_OK; k++) {
        const bool here = a && place_add(&m->a, w->x[k], a[k]);
        if (b)
            (void)place_add(&m->b, w->x[k], b[k]);
        if (m->plan.kind == MEAS_RANGE) {
            range_add(s, m, w->x[k], y[k]);
        } else if (y) {
            trail_add(&m->y, w->x[k], y[k]);
            if (here)
                trail_mark(&m->y);
            else if (!a)
                trail_look(s, &m->y, m->plan.a.at);
        }
    }
    return st;
}

/* -- slopes by the points of a piece -- */

/* weight[n] of the points of the piece: by at point k, if it is asked for. */
static void put(const work *w, double *weight, int64_t k, double by)
{
    if (k >= w->from && k < w->to)
        weight[k - w->first] += by;
}

/* Adds left d expr[k - 1] + right d expr[k], of the line between these points: what follows the
 * first and what leads to the second. */
static vs_status add_line(work *w, const char *expr, int64_t k, double left, double right)
{
    double *weight = arena_array(w->e.mem, double, w->n + 1),
           *behind = arena_array(w->e.mem, double, w->n + 1);
    put(w, weight, k - 1, left);
    put(w, behind, k - 1, left);
    put(w, weight, k, right);
    return add_weighted(w, expr, &(weights){.by = weight, .behind = behind});
}

/* Adds by dt, where dt = left d y[k - 1] + right d y[k] of expr - val. */
static vs_status add_place(work *w, const place *p, double by)
{
    const window *at = &p->of.w;
    if (!p->c->expr || at->k < 1)
        return VS_OK;
    const double part = (p->s.t - at->x[at->at - 1]) / (at->x[at->at] - at->x[at->at - 1]);
    const double slope = slope_at(at->x, at->y, at->n, at->at, p->s.t);
    const double left = by * (1 - part) / slope, right = by * part / slope;
    const vs_status st = add_line(w, p->c->expr, at->k, -left, -right);
    return st == VS_OK ? add_line(w, p->c->val, at->k, left, right) : st;
}

/* -- axes that turn: all points are there; ends of ranges are where post_interpolate is -- */

static bool goes_up(const work *w) { return w->x[w->n - 1] >= w->x[0]; }

/* The piece [k, k + 1] of the axis that a search for t ends at, and how far t is in it, which may
 * lie outside. */
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
    const double h = w->x[lo + 1] - w->x[lo];
    *part = h != 0 ? (t - w->x[lo]) / h : 1;
    return lo;
}

static vs_status find_turned(work *w, const measure *m)
{
    double *y, part, *weight = arena_array(w->e.mem, double, w->n + 1);
    const double t = time_of(&m->a);
    const int64_t k = piece_at(w, t, &part);
    vs_status st = curve_of(w, m->plan.expr, &y);
    weight[k] = 1 - part;
    weight[k + 1] = part;
    if (st == VS_OK)
        st = add_curve(w, m->plan.expr, weight);
    const int64_t from = k > 0 ? k - 1 : 0, n = w->n - from < 4 ? w->n - from : 4;
    const double slope =
        st == VS_OK ? slope_at(w->x + from, y + from, (int)n, (int)(k + 1 - from), t) : 0;
    return st == VS_OK ? add_place(w, &m->a, slope) : st;
}

/* The part of a curve from a to b > a, both ends between points. */
typedef struct stretch {
    int64_t n;
    double *x, *y, *d; /* [n]; d measure / dy */
    int64_t *of;       /* [n] point of the curve; point 0 and the last lie in pieces */
    int64_t piece[2];
    double part[2];
} stretch;

static void take_stretch(const work *w, const double *y, double a, double b, stretch *s)
{
    *s = (stretch){.x = arena_array(w->e.mem, double, w->n + 3),
                   .y = arena_array(w->e.mem, double, w->n + 3),
                   .d = arena_array(w->e.mem, double, w->n + 3),
                   .of = arena_array(w->e.mem, int64_t, w->n + 3)};
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

static void integral_of_stretch(stretch *s, range_kind kind)
{
    const bool rms = kind == R_RMS;
    const double span = s->x[s->n - 1] - s->x[0];
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

static void extreme_of_stretch(stretch *s, range_kind kind)
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

static vs_status range_turned(work *w, const measure *m, const double *y)
{
    const range_kind kind = m->plan.range;
    const double from = m->plan.a.from, to = m->plan.a.to;
    double *weight = arena_array(w->e.mem, double, w->n + 1);
    stretch s;
    take_stretch(w, y, isnan(from) ? -INFINITY : from, isnan(to) ? INFINITY : to, &s);
    if (kind == R_AVG || kind == R_RMS || kind == R_INTEG)
        integral_of_stretch(&s, kind);
    else
        extreme_of_stretch(&s, kind);
    for (int64_t k = 1; k + 1 < s.n; k++)
        weight[s.of[k]] += s.d[k];
    for (int end = 0; end < (s.n > 1 ? 2 : 1); end++) {
        const double d = s.d[end ? s.n - 1 : 0];
        weight[s.piece[end]] += d * (1 - s.part[end]);
        weight[s.piece[end] + 1] += d * s.part[end];
    }
    return add_curve(w, m->plan.expr, weight);
}

/* -- slopes of forms -- */

/* Of what FIND looks at; what lies at a point counts to the piece behind. */
static window window_of(const measure *m, double t)
{
    window at = m->y.w;
    if (at.k > 0 && t == at.x[at.at] && at.at + 1 < at.n) {
        at.k++;
        at.at++;
    }
    return at;
}

static vs_status find(work *w, const measure *m)
{
    if (!w->x) /* of an operating point */
        return add_curve(w, m->plan.expr, (double[]){1});
    if (w->s->turned)
        return find_turned(w, m);
    const double t = time_of(&m->a);
    const window at = window_of(m, t);
    if (at.k < 1) { /* a curve of one point */
        double *weight = arena_array(w->e.mem, double, w->n + 1);
        put(w, weight, 0, 1);
        return add_curve(w, m->plan.expr, weight);
    }
    const double part = part_at(&at, t);
    const vs_status st = add_line(w, m->plan.expr, at.k, 1 - part, part);
    return st == VS_OK ? add_place(w, &m->a, slope_at(at.x, at.y, at.n, at.at, t)) : st;
}

/* What the piece between points k and k + 1 has in the integral, by its ends. */
static void slopes_between(const work *w, const measure *m, const double *y, int64_t k,
                           double to[2])
{
    double share[2], d[2];
    to[0] = to[1] = 0;
    if (!cut(&m->plan, w->x + k, share))
        return;
    const double h = fabs((share[1] - share[0]) * (w->x[k + 1] - w->x[k]));
    const double a = on_line(y + k, share[0]), b = on_line(y + k, share[1]);
    const bool rms = m->plan.range == R_RMS;
    d[0] = h * (rms ? (2 * a + b) / 3 : 0.5);
    d[1] = h * (rms ? (a + 2 * b) / 3 : 0.5);
    for (int i = 0; i < 2; i++) {
        to[0] += d[i] * (1 - share[i]);
        to[1] += d[i] * share[i];
    }
}

static void integral_slope(const work *w, const measure *m, const double *y, double *weight,
                           double *pulse)
{
    const post_slopes *s = w->s;
    const range_kind kind = m->plan.range;
    const double lo = fmin(s->first, s->last), hi = fmax(s->first, s->last);
    const double a = m->plan.a.from > lo ? m->plan.a.from : lo;
    const double b = m->plan.a.to < hi ? m->plan.a.to : hi, span = b - a;
    const bool rms = kind == R_RMS;
    if (!(span > 0)) { /* a point: an average is its value */
        const window *at = &m->y.w;
        const double part = at->k < 1 ? 1 : part_at(at, a);
        const double value = at->k < 1 ? m->y.y[2] : on_line(at->y + at->at - 1, part);
        const double by = kind == R_INTEG ? 0 : rms ? copysign(1, value) : 1;
        put(w, weight, at->k - 1, by * (1 - part));
        put(w, weight, at->k, by * part);
        return;
    }
    const double by = kind == R_INTEG  ? 1
                      : kind == R_AVG  ? 1 / span
                      : m->square == 0 ? 0
                                       : 0.5 / sqrt(m->square * span);
    for (int64_t k = 0; k + 1 < w->n; k++) {
        double d[2];
        slopes_between(w, m, y, k, d);
        put(w, weight, w->first + k, d[0]);
        put(w, weight, w->first + k + 1, d[1]);
    }
    for (int64_t k = 0; k < w->n; k++) {
        weight[k] *= by;
        if ((w->x[k] > a || w->x[k] == 0) && w->x[k] < b) /* at the start it is just behind it */
            put(w, pulse, w->first + k, by * (rms ? 2 * y[k] : 1));
    }
}

static void extreme_slope(const work *w, const extreme *e, double by, double *weight)
{
    put(w, weight, e->k - 1, by * (1 - e->right));
    put(w, weight, e->k, by * e->right);
}

static vs_status range(work *w, const measure *m)
{
    double *y, *weight = arena_array(w->e.mem, double, w->n + 1);
    double *pulse = arena_array(w->e.mem, double, w->n + 1);
    const range_kind kind = m->plan.range;
    const vs_status st = curve_of(w, m->plan.expr, &y);
    if (st != VS_OK)
        return st;
    if (w->s->turned)
        return range_turned(w, m, y);
    if (kind == R_AVG || kind == R_RMS || kind == R_INTEG)
        integral_slope(w, m, y, weight, pulse);
    if (kind == R_MAX || kind == R_PP)
        extreme_slope(w, &m->hi, 1, weight);
    if (kind == R_MIN || kind == R_PP)
        extreme_slope(w, &m->lo, kind == R_PP ? -1 : 1, weight);
    return add_weighted(w, m->plan.expr, &(weights){.by = weight, .pulse = pulse});
}

static vs_status differentiate(work *w, const measure *m)
{
    vs_status st;
    switch (m->plan.kind) {
    case MEAS_DELAY: st = add_place(w, &m->a, -1); return st == VS_OK ? add_place(w, &m->b, 1) : st;
    case MEAS_FIND: return find(w, m);
    case MEAS_WHEN: return add_place(w, &m->a, 1);
    default: return range(w, m);
    }
}

/* -- PARAM -- */

static vs_status value_of(work *w, const char *expr, double *y)
{
    post_val v;
    w->e.whole = NULL;
    if (!post_eval(&w->e, expr, &v))
        return VS_EINPUT;
    *y = v.n > 0 ? creal(post_at(&v, v.n - 1)) : NAN;
    return VS_OK;
}

/* A number of numbers: waveforms have no part in it. */
static vs_status check_waves(work *w, const char *expr, double y)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(w->s->most) && st == VS_OK; i++) {
        post_vec *v = w->p->vec[i];
        double z, *was = v->v, *other = arena_alloc(w->e.mem, numbers_of(v) * sizeof *was + 1);
        const double h = step_of(most_of(v));
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

/* m->chain from those of the measures before it. */
static vs_status param(work *w, measure *m)
{
    const char *expr = m->plan.expr;
    const size_t n_vec = vec_len(w->s->most), n = vec_len(w->s->of);
    double y, hi, lo;
    vs_status st = value_of(w, expr, &y);
    if (st == VS_OK)
        st = check_waves(w, expr, y);
    for (size_t i = 0; &w->s->of[i] < m && st == VS_OK; i++) {
        double *v = w->p->vec[n_vec + i]->v;
        const double was = *v, h = was != 0 ? fabs(was) * STEP : STEP;
        *v = was + h;
        st = value_of(w, expr, &hi);
        *v = was - h;
        if (st == VS_OK)
            st = value_of(w, expr, &lo);
        *v = was;
        for (size_t k = 0; k < n && st == VS_OK && hi != lo; k++)
            m->chain[k] += w->s->of[i].chain[k] * (hi - lo) / (2 * h);
    }
    return st;
}

/* -- numbers of other measures -- */

/* A measure, and the time of a FIND ... AT, with the values that other measures have now. */
static vs_status measure_again(work *w, const measure *m, double *y, double *at)
{
    post_meas now;
    meas_plan plan;
    vs_status st = meas_read(&w->e, m->text, m->at, &now, &plan);
    *at = plan.a.at;
    if (st == VS_OK)
        st = post_measure(&w->e, m->text, m->at, &now);
    *y = st == VS_OK && now.ok ? now.value : NAN;
    return st;
}

static bool is_among(const char *const *name, const char *other)
{
    bool found = false;
    for (size_t i = 0; i < vec_len(name) && !found; i++)
        found = !str_casecmp(name[i], other);
    return found;
}

/* m->chain by AT, FROM, TO, TD that name measures before it. The line that FIND has between points
 * is wrong in first order of its length, so that AT takes the slope of a place. */
static vs_status others(work *w, measure *m)
{
    const size_t n_vec = vec_len(w->s->most), n = vec_len(w->s->of);
    const bool at = m->plan.kind == MEAS_FIND && !m->plan.a.expr && m->y.w.k > 0 && !w->s->turned;
    const char **name = NULL;
    vs_status st = VS_OK;
    post_measure_names(w->e.set->names, m->text, &name);
    for (size_t i = 0; &w->s->of[i] < m && st == VS_OK; i++) {
        if (!is_among(name, w->s->of[i].name))
            continue;
        const arena_pos mark = arena_mark(w->e.mem);
        double *v = w->p->vec[n_vec + i]->v, hi = NAN, lo = NAN, at_hi = NAN, at_lo = NAN;
        const double was = *v, h = was != 0 ? fabs(was) * STEP : STEP;
        *v = was + h;
        st = measure_again(w, m, &hi, &at_hi);
        *v = was - h;
        if (st == VS_OK)
            st = measure_again(w, m, &lo, &at_lo);
        *v = was;
        double d = (hi - lo) / (2 * h);
        if (at) {
            const window y = window_of(m, m->plan.a.at);
            d = slope_at(y.x, y.y, y.n, y.at, m->plan.a.at) * (at_hi - at_lo) / (2 * h);
        }
        arena_release(w->e.mem, mark);
        if (st == VS_OK && !isfinite(d))
            st = refuse(w, "it has none beside the value of '%s'", w->s->of[i].name);
        for (size_t k = 0; k < n && st == VS_OK; k++)
            m->chain[k] += w->s->of[i].chain[k] * d;
    }
    vec_free(name);
    return st;
}

/* -- the run -- */

post_slopes *post_slopes_new(void)
{
    post_slopes *s = vs_calloc(1, sizeof *s);
    arena_init(&s->mem);
    arena_init(&s->piece);
    return s;
}

void post_slopes_free(post_slopes **s)
{
    if (!*s)
        return;
    vec_free((*s)->of);
    vec_free((*s)->most);
    arena_fini(&(*s)->mem);
    arena_fini(&(*s)->piece);
    vs_free(*s);
    *s = NULL;
}

static vs_status check(const work *w, const meas_plan *p)
{
    const char *const expr[] = {p->expr, p->a.expr, p->a.val, p->b.expr, p->b.val};
    vs_status st = VS_OK;
    if (p->kind == MEAS_OTHER)
        return refuse(w,
                      "gradients are made of FIND, WHEN, TRIG and TARG, AVG, RMS, INTEG, MIN, "
                      "MAX, PP and PARAM%s",
                      "");
    if (p->kind == MEAS_RANGE && (p->range == R_MIN_AT || p->range == R_MAX_AT))
        return refuse(w, "the time of an extreme is one of the points%s", "");
    for (size_t i = 0; i < VS_COUNT(expr) && p->kind != MEAS_PARAM && st == VS_OK; i++)
        if (expr[i])
            st = check_names(w, expr[i]);
    return st;
}

vs_status post_slopes_add(post_slopes *s, const post_env *e, const char *text, diag_span at)
{
    post_meas read;
    post_env own = *e;
    measure m = {.at = at};
    own.mem = &s->mem;
    if (!s->most)
        vec_extend(s->most, vec_len(e->set->current->vec));
    const vs_status st = meas_read(&own, text, at, &read, &m.plan);
    if (st != VS_OK)
        return st;
    m.name = read.name;
    m.text = arena_strndup(&s->mem, text, strlen(text));
    vec_push(s->of, m);
    const work w = {.s = s, .m = &vec_last(s->of), .e = *e};
    return check(&w, &m.plan);
}

static void note_axis(post_slopes *s, const work *w)
{
    for (int64_t k = 0; k < w->n && w->x; k++) {
        if (!s->n && k < 2)
            s->up = k == 0 || w->x[1] >= w->x[0];
        else if (s->n == 1 && k == 0)
            s->up = w->x[0] >= s->last;
        s->first = !s->n && !k ? w->x[0] : s->first;
        if (k > 0 && strcmp(w->p->scale->type, "time") != 0)
            s->turned |= s->up ? w->x[k] <= w->x[k - 1] : w->x[k] >= w->x[k - 1];
    }
    if (w->n && w->x)
        s->last = w->x[w->n - 1];
}

vs_status post_slopes_take(post_slopes *s, const post_env *e)
{
    work w;
    vs_status st = VS_OK;
    on_piece(&w, s, e);
    s->n_piece++;
    for (size_t i = 0; i < vec_len(s->most); i++)
        s->most[i] = fmax(s->most[i], most_of(w.p->vec[i]));
    note_axis(s, &w);
    for (size_t i = 0; i < vec_len(s->of) && st == VS_OK; i++) {
        const arena_pos mark = arena_mark(&s->piece);
        s->of[i].a.c = &s->of[i].plan.a;
        s->of[i].b.c = &s->of[i].plan.b;
        st = take(&w, &s->of[i]);
        arena_release(&s->piece, mark);
    }
    s->n += w.n;
    return st;
}

vs_status post_slopes_end(post_slopes *s, const post_env *e)
{
    work w;
    const size_t n = vec_len(s->of);
    vs_status st = VS_OK;
    on_piece(&w, s, e);
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        measure *m = &s->of[i];
        m->chain = arena_array(&s->mem, double, n);
        w.m = m;
        if (m->plan.kind == MEAS_PARAM) {
            st = param(&w, m);
        } else {
            m->chain[i] = 1;
            st = s->n_piece > 1 ? VS_OK : others(&w, m); /* there they name none: meas.h */
        }
    }
    return st;
}

bool post_slopes_need_all(const post_slopes *s) { return s->needs_all; }

vs_status post_slopes_of(post_slopes *s, const post_env *e, size_t which, int64_t first,
                         int64_t from, int64_t to, post_slope **list)
{
    work w;
    vs_status st = VS_OK;
    on_piece(&w, s, e);
    w.first = first;
    w.from = from;
    w.to = to;
    w.list = list;
    for (size_t i = 0; i <= which && st == VS_OK; i++) {
        const arena_pos mark = arena_mark(&s->piece);
        w.m = &s->of[i];
        w.by = s->of[which].chain[i];
        if (w.by != 0)
            st = differentiate(&w, w.m);
        arena_release(&s->piece, mark);
    }
    return st;
}
