/* eye.c - eye diagrams. See eye.h. */
#include "eye.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "post_priv.h"
#include "vec.h"

enum { LEAST_POINTS = 2, MOST_POINTS = 1 << 24, FEW_EDGES = 16 };

#define X(id, name, words, unit) name,
const char *const post_eye_word[POST_N_EYE] = {POST_EYE_FIGURES(X)};
#undef X

/* -- the card -- */

static bool read_key(post_env *e, diag_span at, const post_word *w, post_eye_card *c)
{
    static const char *const keys[] = {"ui",     "rate",      "start", "from", "stop",   "to",
                                       "offset", "threshold", "low",   "high", "points", "periods"};
    double rate = NAN, periods = c->periods;
    double *const number[] = {&c->ui,     &rate,         &c->from, &c->from, &c->to, &c->to,
                              &c->offset, &c->threshold, &c->low,  &c->high, &c->n,  &periods};
    size_t k = 0;
    while (k < VS_COUNT(keys) && str_casecmp(w->text, keys[k]))
        k++;
    if (k == VS_COUNT(keys)) {
        post_wrong_word(e, at, w, "'%s' is no word of .eye", w->text);
        diag_suggest(e->d, w->text, keys, VS_COUNT(keys));
        return false;
    }
    if (!w->value || !*w->value)
        return post_wrong_word(e, at, w, "'%1$s' needs a value: %1$s=...", w->text);
    if (!post_eval_number(e, w->value, number[k]))
        return false;
    if (!isfinite(*number[k]))
        return post_wrong_word(e, at, w, "'%s' is a finite number, not '%s'", w->text);
    if (k == 1)
        c->ui = 1 / rate;
    if (k <= 1 && !(*number[k] > 0 && c->ui > 0 && isfinite(c->ui)))
        return post_wrong_word(e, at, w, "'%s' is greater than 0, not '%s'", w->text);
    if (k == 10 && !(c->n >= LEAST_POINTS && c->n <= MOST_POINTS && c->n == floor(c->n)))
        return post_wrong_word(
            e, at, w, "'%s' is a whole number of points from 2 to 16777216, not '%s'", w->text);
    if (k == 11 && periods != 1 && periods != 2)
        return post_wrong_word(e, at, w, "'%s' is 1 or 2, not '%s'", w->text);
    c->periods = (int)periods;
    return true;
}

bool post_eye_read(post_env *e, const char *text, diag_span at, post_eye_card *c)
{
    *c = (post_eye_card){.ui = NAN,
                         .from = NAN,
                         .to = NAN,
                         .offset = NAN,
                         .threshold = NAN,
                         .low = NAN,
                         .high = NAN,
                         .n = 100,
                         .periods = 2};
    post_word *w = post_words(e, text);
    const size_t n = vec_len(w);
    bool ok = n > 0 && !w[0].value;
    if (!ok)
        diag_error(e->d, at, "a vector is expected first: .eye v(out) ui=1n start=10n");
    else
        c->expr = w[0].text;
    for (size_t i = 1; i < n && ok; i++)
        ok = read_key(e, at, &w[i], c);
    if (ok && c->from >= c->to) {
        diag_error(e->d, at, "start=%g is not before stop=%g", c->from, c->to);
        ok = false;
    }
    if (ok && (isnan(c->low) != isnan(c->high) || c->low >= c->high)) {
        diag_error(e->d, at, "low= and high= are given together, low below high");
        ok = false;
    }
    vec_free(w);
    return ok;
}

/* -- edges -- */

typedef struct edge {
    double t;            /* s */
    int64_t first, last; /* points: behind the first crossing, and where the band is left */
    bool rises;
} edge;

typedef struct part { /* of the windows of all 1, or all 0 */
    double about;     /* deviations are summed about it */
    double time, sum, square;
    double least, most;
} part;

typedef struct eye {
    post_env *e;
    const post_eye_card *c;
    const char *name;
    const double *x, *y;
    int64_t n;
    double least, most;
    double low, high, threshold;
    double ui, middle;   /* s; the mean of the edges is at middle + n ui */
    double offset;       /* s; a unit interval begins at offset + n ui */
    double keep;         /* how well the edges keep to ui, 0 to 1 */
    edge *edge;          /* vec */
    int64_t unit, units; /* first unit interval that the curve has, how many */
    part one, zero;
} eye;

/* Finds the edges of the curve. */
static void find_edges(eye *j)
{
    const double band = (j->high - j->low) / 20;
    double sum = 0;
    int side = 0; /* of the band where the curve was last */
    int64_t first = 0, crossings = 0;
    vec_clear(j->edge);
    for (int64_t k = 0; k < j->n; k++) {
        const double d = j->y[k] - j->threshold, before = k ? j->y[k - 1] - j->threshold : d;
        if ((before < 0) != (d < 0)) {
            const double t = j->x[k - 1] + (j->x[k] - j->x[k - 1]) * (before / (before - d));
            sum += crossings % 2 ? -t : t;
            first = crossings++ ? first : k;
        }
        if (fabs(d) <= band)
            continue;
        const int now = d > 0 ? 1 : -1;
        if (side && now != side)
            vec_push(j->edge, (edge){sum, first, k, now > 0});
        side = now;
        sum = 0;
        crossings = 0;
    }
}

/* Time at which an edge passes another level, next to the threshold; NAN: it turns before. */
static double passes(const eye *j, const edge *g, double level)
{
    const bool onward = (level > j->threshold) == g->rises;
    const int64_t step = onward ? 1 : -1;
    if (level == j->threshold)
        return g->t;
    for (int64_t k = onward ? g->first : g->last; k > 0 && k < j->n; k += step) {
        const double a = j->y[k - 1] - level, b = j->y[k] - level;
        if (g->rises ? a < 0 && b >= 0 : a >= 0 && b < 0)
            return j->x[k - 1] + (j->x[k] - j->x[k - 1]) * (a / (a - b));
        /* the far side of the band, at least, belongs to the edge */
        const double far = j->y[onward ? k : k - 1] - j->threshold;
        const bool beyond = onward ? k >= g->last : k <= g->first;
        if (beyond && (far > 0) != (level > j->threshold))
            return NAN;
    }
    return NAN;
}

/* -- the clock -- */

/* How well the first m edges keep to a unit interval, 0 to 1: the length of the mean of their
 * phases.  phase  out  of a turn */
static double keeps(const eye *j, int64_t m, double ui, double *phase)
{
    cplx sum = 0;
    for (int64_t i = 0; i < m; i++)
        sum += cexp(2 * I * M_PI * fmod((j->edge[i].t - j->edge[0].t) / ui, 1));
    *phase = carg(sum) / (2 * M_PI);
    return cabs(sum) / (double)m;
}

/* The mean of those of the distances gap[n], which rise, that are about gap[k]. */
static double mean_about(const double *gap, int64_t n, int64_t k)
{
    enum { TIMES = 20 };
    double mean = gap[k];
    for (int times = 0; times < TIMES; times++) {
        double sum = 0, count = 0;
        for (int64_t i = 0; i < n && gap[i] < 1.5 * mean; i++)
            if (gap[i] > 0.5 * mean) {
                sum += gap[i];
                count++;
            }
        mean = count > 0 ? sum / count : mean;
    }
    return mean;
}

/* Fits t = offset + n ui to the first m edges, n the whole numbers that the fit before gives, with
 * an offset for rising edges and one for falling ones.
 *   ui, first  in, out  s; first: the middle of the offsets, from the first edge
 * The root of the mean square of what is left, s. */
static double fit_edges(const eye *j, int64_t m, double *ui, double *first)
{
    double count[2] = {0}, mt[2] = {0}, mn[2] = {0}, tn = 0, nn = 0, square = 0;
    const double start = j->edge[0].t, of = *first, by = *ui;
    for (int64_t i = 0; i < m; i++) {
        const edge *g = &j->edge[i];
        count[g->rises]++;
        mt[g->rises] += (g->t - start - mt[g->rises]) / count[g->rises];
        mn[g->rises] += (round((g->t - start - of) / by) - mn[g->rises]) / count[g->rises];
    }
    for (int64_t i = 0; i < m; i++) {
        const edge *g = &j->edge[i];
        const double n = round((g->t - start - of) / by) - mn[g->rises];
        tn += n * (g->t - start - mt[g->rises]);
        nn += n * n;
    }
    if (nn > 0 && tn > 0)
        *ui = tn / nn;
    for (int64_t i = 0; i < m; i++) {
        const edge *g = &j->edge[i];
        const double n = round((g->t - start - of) / by) - mn[g->rises];
        const double left = g->t - start - mt[g->rises] - n * *ui;
        square += left * left;
    }
    const double a = mt[0] - mn[0] * *ui, b = mt[1] - mn[1] * *ui;
    *first = !count[0] ? b : !count[1] ? a : (a + b) / 2;
    return sqrt(square / (double)m);
}

/* A unit interval that the first m edges keep to, near to `mean`: an octave from it weighs as much
 * as 0.14 unit intervals of jitter.  ui, first  out, where that is worth less than *worth */
static void try_near(const eye *j, int64_t m, double mean, double *worth, double *ui, double *first)
{
    const double span = j->edge[m - 1].t - j->edge[0].t;
    const int64_t steps = (int64_t)fmin(fmax(4 * span / mean, 16), 1e4);
    for (int64_t i = -steps * 2 / 5; i <= steps * 3 / 5; i++) {
        double by = mean * (1 + 0.6 * (double)i / (double)steps), at = 0, left = 0;
        for (int times = 0; times < 3; times++)
            left = fit_edges(j, m, &by, &at);
        const double its = left / by + 0.2 * fabs(log(by / mean));
        if (its < *worth) {
            *worth = its;
            *ui = by;
            *first = at;
        }
    }
}

/* Distances of single bits are the shortest, or about those that a sixth is shorter than. */
static double guess_unit(const eye *j, int64_t m, double *first)
{
    const int64_t n = (int64_t)vec_len(j->edge) - 1;
    double *gap = arena_array(j->e->mem, double, n), worth = INFINITY, ui = NAN;
    for (int64_t i = 0; i < n; i++)
        gap[i] = j->edge[i + 1].t - j->edge[i].t;
    qsort(gap, (size_t)n, sizeof *gap, vec_by_value);
    try_near(j, m, mean_about(gap, n, n / 6), &worth, &ui, first);
    try_near(j, m, mean_about(gap, n, 0), &worth, &ui, first);
    return ui;
}

/* Least squares over ever more edges. */
static double fit_unit(const eye *j)
{
    const int64_t all = (int64_t)vec_len(j->edge);
    int64_t m = all < FEW_EDGES ? all : FEW_EDGES;
    double first = 0, ui = guess_unit(j, m, &first);
    while (m < all) {
        m = 2 * m < all ? 2 * m : all;
        for (int times = 0; times < 2; times++)
            (void)fit_edges(j, m, &ui, &first);
    }
    return ui;
}

/* Distance of an edge from the mean of all. */
static double late(const eye *j, double t)
{
    const double turns = (t - j->middle) / j->ui;
    return (turns - round(turns)) * j->ui;
}

/* false: a message was given. */
static bool find_clock(eye *j)
{
    const int64_t n = (int64_t)vec_len(j->edge);
    if (!n)
        return post_fail(j->e, "'%s' has no edges: it goes from %g to %g and never passes %g",
                         j->name, j->least, j->most, j->threshold);
    if (isnan(j->c->ui) && n < 2)
        return post_fail(j->e,
                         "'%s' has a single edge: give the unit interval, ui=..., or the rate of "
                         "the bits, rate=...",
                         j->name);
    double phase, sum = 0;
    j->ui = isnan(j->c->ui) ? fit_unit(j) : j->c->ui;
    j->keep = keeps(j, n, j->ui, &phase);
    j->middle = j->edge[0].t + phase * j->ui;
    for (int64_t i = 0; i < n; i++)
        sum += late(j, j->edge[i].t);
    j->middle += sum / (double)n;
    j->offset = isnan(j->c->offset) ? j->middle : j->c->offset;
    return true;
}

/* -- levels -- */

/* Integrals over [a, b] of the curve, from the line to point *k on, which stays the first. */
static part look_at(const eye *j, double a, double b, double about, int64_t *k)
{
    part p = {.about = about, .least = INFINITY, .most = -INFINITY};
    while (*k + 1 < j->n && j->x[*k] <= a)
        ++*k;
    for (int64_t i = *k; i < j->n && j->x[i - 1] < b; i++) {
        const double h = j->x[i] - j->x[i - 1], from = fmax(a, j->x[i - 1]), to = fmin(b, j->x[i]);
        if (!(h > 0) || !(to > from))
            continue;
        const double slope = (j->y[i] - j->y[i - 1]) / h;
        const double u = j->y[i - 1] + slope * (from - j->x[i - 1]),
                     v = to == j->x[i] ? j->y[i] : j->y[i - 1] + slope * (to - j->x[i - 1]);
        const double du = u - about, dv = v - about;
        p.time += to - from;
        p.sum += (to - from) * (du + dv) / 2;
        p.square += (to - from) * (du * du + du * dv + dv * dv) / 3;
        p.least = fmin(p.least, fmin(u, v));
        p.most = fmax(p.most, fmax(u, v));
    }
    return p;
}

static double mean_of(const part *p)
{
    return p->time > 0 ? p->about + p->sum / p->time : p->about;
}

static double sigma_of(const part *p)
{
    const double m = p->sum / p->time;
    return sqrt(fmax(p->square / p->time - m * m, 0));
}

static void add(part *p, const part *q)
{
    p->time += q->time;
    p->sum += q->sum;
    p->square += q->square;
    p->least = fmin(p->least, q->least);
    p->most = fmax(p->most, q->most);
}

/* Counts the whole unit intervals from `before` one begins to `behind` one ends, in units. */
static void count_units(eye *j, double before, double behind, int64_t *first, int64_t *n)
{
    const double slack = 1e-9, a = ceil((j->x[0] - j->offset) / j->ui + before - slack),
                 b = floor((j->x[j->n - 1] - j->offset) / j->ui - behind + slack);
    *first = (int64_t)fmin(fmax(a, -1e18), 1e18);
    *n = b >= a ? (int64_t)fmin(b - a + 1, 1e18) : 0;
}

/* false: a message was given. */
static bool find_levels(eye *j)
{
    int64_t k = 1;
    /* deviations about the means of the time before lose no digits */
    part one = {.about = mean_of(&j->one), .least = INFINITY, .most = -INFINITY}, zero = one;
    zero.about = mean_of(&j->zero);
    count_units(j, 0, 1, &j->unit, &j->units);
    if (!j->units)
        return post_fail(j->e, "no whole unit interval of %g s is between %g and %g s", j->ui,
                         j->x[0], j->x[j->n - 1]);
    if (j->units > MOST_POINTS)
        return post_fail(j->e, "%g unit intervals of %g s: at most %d can be looked at",
                         (j->x[j->n - 1] - j->x[0]) / j->ui, j->ui, MOST_POINTS);
    for (int64_t i = 0; i < j->units; i++) {
        const double at = j->offset + (double)(j->unit + i) * j->ui;
        int64_t from = k;
        part p = look_at(j, at + 0.4 * j->ui, at + 0.6 * j->ui, j->threshold, &k);
        const bool high = mean_of(&p) > j->threshold;
        p = look_at(j, at + 0.4 * j->ui, at + 0.6 * j->ui, high ? one.about : zero.about, &from);
        add(high ? &one : &zero, &p);
    }
    j->one = one;
    j->zero = zero;
    if (!(one.time > 0) || !(zero.time > 0))
        return post_fail(j->e, "all unit intervals of '%s' are %d: its middle fifths are all %s %g",
                         j->name, one.time > 0, one.time > 0 ? "above" : "below", j->threshold);
    return true;
}

/* false: a message was given. */
static bool find_range(eye *j)
{
    j->least = INFINITY;
    j->most = -INFINITY;
    for (int64_t k = 0; k < j->n; k++) {
        if (!isfinite(j->y[k]) || !isfinite(j->x[k]))
            return post_fail(j->e, "'%s' is not a number at %g s", j->name, j->x[k]);
        if (k && j->x[k] < j->x[k - 1])
            return post_fail(j->e, "the time of '%s' goes back, from %g to %g s", j->name,
                             j->x[k - 1], j->x[k]);
        j->least = fmin(j->least, j->y[k]);
        j->most = fmax(j->most, j->y[k]);
    }
    return j->most - j->least > 1e-12 * fmax(fabs(j->most), fabs(j->least)) ||
           post_fail(j->e, "'%s' is %g all the time: there is no eye", j->name, j->most);
}

/* Edges, clock and levels, three times: the threshold is the middle of the levels before.
 * false: a message was given. */
static bool find_eye(eye *j)
{
    enum { TIMES = 3 };
    const bool given = !isnan(j->c->low);
    if (!find_range(j))
        return false;
    j->one.about = j->high = given ? j->c->high : j->most;
    j->zero.about = j->low = given ? j->c->low : j->least;
    for (int i = 0; i < TIMES; i++) {
        j->threshold = isnan(j->c->threshold) ? j->low + (j->high - j->low) / 2 : j->c->threshold;
        find_edges(j);
        if (!find_clock(j) || !find_levels(j))
            return false;
        if (!given) {
            j->low = mean_of(&j->zero);
            j->high = mean_of(&j->one);
        }
    }
    if (j->keep < 0.5 && vec_len(j->edge) > 3)
        diag_warning(j->e->d, j->e->span,
                     "the edges of '%s' do not keep to a unit interval of %g s", j->name, j->ui);
    return true;
}

/* -- figures -- */

/* Mean times at which rising, or falling, edges pass a level, against the clock. NAN: none does. */
static double mean_edge(const eye *j, double level, bool rises)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < vec_len(j->edge); i++) {
        const edge *g = &j->edge[i];
        const double t = g->rises == rises ? passes(j, g, level) : NAN;
        if (isnan(t))
            continue;
        sum += t - g->t + late(j, g->t);
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

/* The level at which the mean edges cross; NAN: they do not, between 2 and 98 % of the levels. */
static double crossing_level(const eye *j)
{
    const double a = j->low, d = j->high - j->low;
    double lo = 0.02, hi = 0.98;
    double flo = mean_edge(j, a + lo * d, true) - mean_edge(j, a + lo * d, false),
           fhi = mean_edge(j, a + hi * d, true) - mean_edge(j, a + hi * d, false);
    if (!(flo <= 0 && fhi >= 0))
        return NAN;
    for (int i = 0; i < 40; i++) {
        const double at = (lo + hi) / 2, level = a + at * d;
        const double f = mean_edge(j, level, true) - mean_edge(j, level, false);
        *(f < 0 ? &lo : &hi) = at;
    }
    return a + (lo + hi) / 2 * d;
}

/* Mean time from 20 to 80 % of the levels, or back. NAN: no edge does both. */
static double transition(const eye *j, bool rises)
{
    const double d = j->high - j->low;
    double sum = 0, n = 0;
    for (size_t i = 0; i < vec_len(j->edge); i++) {
        const edge *g = &j->edge[i];
        if (g->rises != rises)
            continue;
        const double t = fabs(passes(j, g, j->low + 0.8 * d) - passes(j, g, j->low + 0.2 * d));
        sum += isnan(t) ? 0 : t;
        n += !isnan(t);
    }
    return n > 0 ? sum / n : NAN;
}

static void measure_jitter(const eye *j, double f[POST_N_EYE])
{
    double square = 0, least = INFINITY, most = -INFINITY;
    const size_t n = vec_len(j->edge);
    for (size_t i = 0; i < n; i++) {
        const double t = late(j, j->edge[i].t);
        square += t * t;
        least = fmin(least, t);
        most = fmax(most, t);
    }
    f[POST_EYE_JITTER] = n ? sqrt(square / (double)n) : NAN;
    f[POST_EYE_JITTERPP] = n ? most - least : NAN;
    f[POST_EYE_WIDTH] = j->ui - 6 * f[POST_EYE_JITTER];
    f[POST_EYE_OPENWIDTH] = j->ui - f[POST_EYE_JITTERPP];
    f[POST_EYE_DCD] = fabs(mean_edge(j, j->threshold, true) - mean_edge(j, j->threshold, false));
}

static void measure(const eye *j, double f[POST_N_EYE])
{
    const double one = mean_of(&j->one), zero = mean_of(&j->zero), s1 = sigma_of(&j->one),
                 s0 = sigma_of(&j->zero);
    f[POST_EYE_UI] = j->ui;
    f[POST_EYE_RATE] = 1 / j->ui;
    f[POST_EYE_ONE] = one;
    f[POST_EYE_ZERO] = zero;
    f[POST_EYE_AMPLITUDE] = one - zero;
    f[POST_EYE_HEIGHT] = (one - 3 * s1) - (zero + 3 * s0);
    f[POST_EYE_OPENHEIGHT] = j->one.least - j->zero.most;
    f[POST_EYE_Q] = (one - zero) / (s1 + s0);
    f[POST_EYE_ER] = zero > 0 ? 10 * log10(one / zero) : NAN;
    measure_jitter(j, f);
    f[POST_EYE_LEVEL] = crossing_level(j);
    f[POST_EYE_CROSSING] = 100 * (f[POST_EYE_LEVEL] - j->low) / (j->high - j->low);
    f[POST_EYE_RISE] = transition(j, true);
    f[POST_EYE_FALL] = transition(j, false);
    f[POST_EYE_THRESHOLD] = j->threshold;
}

/* -- traces -- */

/* false: a message was given. */
static bool put_traces(eye *j, const char *type, post_plot *p)
{
    const double ahead = j->c->periods == 2 ? 0.5 : 0, shown = j->c->periods;
    const int64_t n = (int64_t)j->c->n * j->c->periods + 1;
    int64_t first, units, from = 1;
    count_units(j, ahead, shown - ahead, &first, &units);
    if (!units)
        return post_fail(j->e, "no %d whole unit intervals of %g s are between %g and %g s",
                         j->c->periods, j->ui, j->x[0], j->x[j->n - 1]);
    if ((double)units * (double)(n + 1) > MOST_POINTS)
        return post_fail(j->e,
                         "%lld traces of %lld points are more than %d: fewer points=..., or a "
                         "shorter time from start=... to stop=...",
                         (long long)units, (long long)n, MOST_POINTS);
    post_vec *x = post_plot_add(j->e->set, p, "time", "time", false);
    post_vec *y = post_plot_add(j->e->set, p, j->name, type, false);
    p->scale = x;
    for (int64_t u = 0; u < units; u++) {
        const double start = j->offset + (double)(first + u) * j->ui;
        int64_t k = from;
        for (int64_t i = 0; i < n; i++) {
            const double way = ((double)i / j->c->n - ahead) * j->ui;
            const double t = fmin(fmax(start + way, j->x[0]), j->x[j->n - 1]);
            while (k + 1 < j->n && j->x[k] < t)
                k++;
            from = i ? from : k;
            const double h = j->x[k] - j->x[k - 1];
            post_vec_push(x, way, 0);
            post_vec_push(y,
                          h > 0 ? j->y[k - 1] + (j->y[k] - j->y[k - 1]) * ((t - j->x[k - 1]) / h)
                                : j->y[k],
                          0);
        }
        post_vec_push(x, (shown - ahead) * j->ui, 0);
        post_vec_push(y, NAN, 0);
    }
    return true;
}

/* Moves the first and the last point to the ends of the range. false: a message was given. */
static bool cut(eye *j, double *x, double *y)
{
    const double first = x[0], last = x[j->n - 1], slack = 1e-9 * (last - first);
    const double a = isnan(j->c->from) ? first : j->c->from, b = isnan(j->c->to) ? last : j->c->to;
    if (!(b > a) || a < first - slack || b > last + slack)
        return post_fail(j->e, "%g .. %g s is outside the transient, which goes from %g to %g s", a,
                         b, first, last);
    int64_t lo = 0, hi = j->n - 1;
    while (lo + 1 < hi && x[lo + 1] <= a)
        lo++;
    while (hi - 1 > lo && x[hi - 1] >= b)
        hi--;
    const double at_b = b < last ? post_interpolate(x, y, j->n, b) : y[hi],
                 at_a = a > first ? post_interpolate(x, y, j->n, a) : y[lo];
    if (b < last) {
        x[hi] = b;
        y[hi] = at_b;
    }
    if (a > first) {
        x[lo] = a;
        y[lo] = at_a;
    }
    j->x = x + lo;
    j->y = y + lo;
    j->n = hi - lo + 1;
    return true;
}

bool post_eye_of(post_env *e, const post_eye_card *c, double *x, double *y, int64_t n,
                 const char *name, const char *type, post_plot **out)
{
    eye j = {.e = e, .c = c, .name = name, .n = n};
    post_plot *now = e->set->current, *p = NULL;
    double f[POST_N_EYE];
    bool good = cut(&j, x, y) && find_eye(&j);
    if (good) {
        measure(&j, f);
        f[POST_EYE_OFFSET] = j.offset + (double)j.unit * j.ui;
        p = post_plot_new(e->set, "eye", now->title, "Eye Diagram");
        for (size_t k = 0; k < POST_N_EYE; k++)
            vec_push(p->eye, f[k]);
        good = put_traces(&j, type, p);
        if (!good)
            post_plot_destroy(e->set, p);
        e->set->current = good ? p : now;
        *out = good ? p : NULL;
    }
    vec_free(j.edge);
    return good;
}

bool post_eye_make(post_env *e, const post_eye_card *c, post_plot **out)
{
    post_val v;
    double *x, *y;
    if (!post_eval(e, c->expr, &v))
        return false;
    const post_vec *axis = post_axis(&v);
    if (v.plot && v.plot->eye)
        return post_fail(e, "'%s' is of the eye %s: setplot to the transient first", v.name,
                         v.plot->name);
    if (v.complex || !axis || strcmp(axis->type, "time"))
        return post_fail(e, "an eye needs a real vector over time; '%s' %s", v.name,
                         v.complex ? "is complex"
                         : axis    ? arena_printf(e->mem, "is one over %s", axis->name)
                                   : "has no axis");
    return post_over_time(e, &v, &x, &y, "an eye") &&
           post_eye_of(e, c, x, y, v.n, v.name, v.type, out);
}

/* -- results -- */

void post_eye_print(const post_plot *p, FILE *out)
{
#define X(id, name, words, unit) {words, unit},
    static const char *const row[][2] = {POST_EYE_FIGURES(X)};
#undef X
    const post_vec *y = p->vec[1];
    int64_t traces = 0;
    for (int64_t k = 0; k < y->n; k++)
        traces += isnan(y->v[k]);
    fprintf(out, "Eye diagram of %s: %lld traces\n\n", y->name, (long long)traces);
    for (size_t k = 0; k < POST_N_EYE; k++)
        if (!isnan(p->eye[k]))
            fprintf(out, "  %-26s %g%s%s\n", row[k][0], p->eye[k], *row[k][1] ? " " : "",
                    row[k][1]);
    fputc('\n', out);
}

/* Whether two texts are one expression, but for blanks and case. */
static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t");
        b += strspn(b, " \t");
        if (str_lower_char(*a) != str_lower_char(*b))
            return false;
        if (!*a)
            return true;
    }
}

const char *post_eye_figure(post_env *e, const char *expr, size_t k, double *x)
{
    for (size_t i = vec_len(e->set->plot); i-- > 0;) {
        const post_plot *p = e->set->plot[i];
        const char *name = p->eye && vec_len(p->vec) > 1 ? p->vec[1]->name : "";
        if (!(same_text(name, expr) || post_name_matches(name, expr)))
            continue;
        *x = k < vec_len(p->eye) ? p->eye[k] : NAN;
        return isnan(*x) ? arena_printf(e->mem, "the eye of '%s' has no such figure", expr) : NULL;
    }
    return arena_printf(e->mem, "there is no eye of '%s': .eye %s makes one", expr, expr);
}
