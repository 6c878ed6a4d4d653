/* view_measure.c - what stands between two cursors, as src/page/measure.js has it for pages without
 *     a server: of x rising, y over it, straight between points.
 * Method: one pass over the part between the cursors for its extremes and areas, one for crossings
 *         of the levels that follow from them. */
#include <math.h>

#include "view_priv.h"

/* A walk along the part from lo to hi, whose ends are interpolated. */
typedef struct walk {
    const double *x, *y; /* [n] */
    int64_t n, k;        /* k: the next point */
    double lo, hi;
    enum { FRONT, INSIDE, OVER } at;
} walk;

/* The last k with x[k] <= at; -1: none. */
static int64_t index_below(const double *x, int64_t n, double at)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (x[mid] <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo - 1;
}

/* NAN outside of the points. */
static double value_at(const double *x, const double *y, int64_t n, double at)
{
    const int64_t k = index_below(x, n, at);
    if (k < 0 || (k == n - 1 && at > x[k]))
        return NAN;
    if (at <= x[k])
        return y[k];
    return y[k] + (y[k + 1] - y[k]) * (at - x[k]) / (x[k + 1] - x[k]);
}

static walk begin(const double *x, const double *y, int64_t n, double a, double b)
{
    walk w = {.x = x, .y = y, .n = n, .lo = fmin(a, b), .hi = fmax(a, b), .at = OVER};
    if (!n)
        return w;
    w.lo = w.lo > x[0] ? w.lo : x[0];
    w.hi = w.hi < x[n - 1] ? w.hi : x[n - 1];
    w.k = index_below(x, n, w.lo) + 1;
    w.at = w.hi >= w.lo ? FRONT : OVER;
    return w;
}

/* The next point of the part; false: there is none. */
static bool next(walk *w, double *x, double *y)
{
    if (w->at == OVER)
        return false;
    const bool front = w->at == FRONT;
    if (!front && w->k < w->n && w->x[w->k] < w->hi) {
        *x = w->x[w->k];
        *y = w->y[w->k++];
        return true;
    }
    *x = front ? w->lo : w->hi;
    *y = value_at(w->x, w->y, w->n, *x);
    w->at = front && w->hi > w->lo ? INSIDE : OVER;
    return true;
}

/* Extremes, average, rms: y^2 is a parabola between points. */
static void find_sums(walk w, view_measures *m)
{
    double x, y, last_x = 0, last_y = 0, area = 0, square = 0, span = 0;
    for (bool first = true; next(&w, &x, &y); first = false) {
        m->min = isfinite(y) && !(y >= m->min) ? y : m->min;
        m->max = isfinite(y) && !(y <= m->max) ? y : m->max;
        const double h = x - last_x, part = h * (last_y + y) / 2;
        if (!first && isfinite(part)) {
            area += part;
            square += h * (last_y * last_y + last_y * y + y * y) / 3;
            span += h;
        }
        last_x = x;
        last_y = y;
    }
    m->mean = area / span;
    m->rms = sqrt(square / span);
}

/* Where a piece from p to q passes the level: 1: rising, -1: falling, 0: nowhere. */
static int crossing(const double p[2], const double q[2], double level, double *at)
{
    const double a = p[1] - level, b = q[1] - level;
    if (isnan(a) || isnan(b) || (a < 0) == (b < 0))
        return 0;
    *at = p[0] + (q[0] - p[0]) * (a / (a - b));
    return a < 0 ? 1 : -1;
}

/* An edge from one level to the other: from the last crossing in front of the first end. */
typedef struct edge {
    double from, to, began, time;
    int way;
} edge;

static void follow_edge(edge *e, const double p[2], const double q[2])
{
    double at = 0;
    if (!isnan(e->time))
        return;
    if (crossing(p, q, e->from, &at) == e->way)
        e->began = at;
    if (crossing(p, q, e->to, &at) == e->way && at >= e->began)
        e->time = at - e->began;
}

/* Crossings of the middle. */
typedef struct swing {
    int64_t n[2];              /* rising, falling */
    double first[2], last[2];  /* of each */
    double high, since, tried; /* time above the middle, up to the last fall that a rise followed,
                                * and up to the last one */
} swing;

static void follow_swing(swing *s, const double p[2], const double q[2], double middle)
{
    double at = 0;
    const int way = crossing(p, q, middle, &at), k = way < 0;
    if (!way)
        return;
    if (!s->n[k]++)
        s->first[k] = at;
    s->last[k] = at;
    if (way > 0) {
        s->high = s->tried;
        s->since = at;
    } else if (s->n[0]) {
        s->tried += at - s->since;
    }
}

static void find_times(walk w, view_measures *m)
{
    const double pp = m->max - m->min, low = m->min + 0.1 * pp, high = m->min + 0.9 * pp;
    double p[2], q[2];
    edge rise = {low, high, NAN, NAN, 1}, fall = {high, low, NAN, NAN, -1};
    swing s = {.high = 0};
    for (bool there = next(&w, &p[0], &p[1]); there && next(&w, &q[0], &q[1]);
         p[0] = q[0], p[1] = q[1]) {
        follow_swing(&s, p, q, (m->min + m->max) / 2);
        follow_edge(&rise, p, q);
        follow_edge(&fall, p, q);
    }
    const int k = s.n[0] < s.n[1];
    m->rise = rise.time;
    m->fall = fall.time;
    if (s.n[k] > 1)
        m->period = (s.last[k] - s.first[k]) / (double)(s.n[k] - 1);
    if (s.n[0] > 1)
        m->duty = 100 * s.high / (s.last[0] - s.first[0]);
}

view_measures view_measure_of(const double *x, const double *y, int64_t n, double a, double b)
{
    view_measures m = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    m.a = value_at(x, y, n, a);
    m.b = value_at(x, y, n, b);
    find_sums(begin(x, y, n, a, b), &m);
    find_times(begin(x, y, n, a, b), &m);
    return m;
}
