/* cycle.c - see cycle.h. Of an oscillator the period is the time between two rises of the probe
 * through the middle of its range. */
#include "cycle.h"

#include <math.h>
#include <string.h>

#include "hb.h"
#include "vec.h"

/* Fractions of tstab: the probe's range is taken from `settle` on, its rises are looked for from
 * `listen` on. */
static const double settle = 0.5, listen = 0.7;
enum { STEPS_A_PERIOD = 60, PERIODS_WITHOUT_GUESS = 1000 };

typedef struct recorder {
    ckt *ckt;
    const ana_hb_opt *o;
    const ana_sink *sink;
    cycle *c;
    size_t n1;
    double from; /* s; driven: points are kept from the last one before it on */
    double end;
    double lo, hi; /* V, of the probe */
    double before, t_before;
    double rise[2]; /* s, the last two rises, NAN: none */
    int32_t rises;
} recorder;

static double probe(const recorder *w, const double *x)
{
    return x[w->o->probe.hi] - x[w->o->probe.lo];
}

static void keep(recorder *w, double t, const double *x)
{
    const size_t at = vec_len(w->c->x);
    vec_push(w->c->t, t);
    vec_extend(w->c->x, w->n1);
    memcpy(w->c->x + at, x, w->n1 * sizeof *x);
}

/* Points before `t` are no longer needed, but for the last of them. */
static void forget(recorder *w, double t)
{
    cycle *c = w->c;
    const size_t n = vec_len(c->t);
    size_t first = 0;
    while (first + 1 < n && c->t[first + 1] <= t)
        first++;
    if (!n)
        return;
    memmove(c->t, c->t + first, (n - first) * sizeof *c->t);
    memmove(c->x, c->x + first * w->n1, (n - first) * w->n1 * sizeof *c->x);
    vec_head_of(c->t)->len = n - first;
    vec_head_of(c->x)->len = (n - first) * w->n1;
}

static void follow_probe(recorder *w, double t, const double *x)
{
    const double v = probe(w, x), middle = 0.5 * (w->lo + w->hi);
    if (t >= listen * w->end && w->before < middle && v >= middle) {
        const double at = w->t_before + (middle - w->before) / (v - w->before) * (t - w->t_before);
        w->rise[0] = w->rise[1];
        w->rise[1] = at;
        if (w->rises++ > 0)
            forget(w, w->rise[0]);
    }
    if (t >= settle * w->end && t < listen * w->end) {
        w->lo = fmin(w->lo, v);
        w->hi = fmax(w->hi, v);
    }
    w->before = v;
    w->t_before = t;
}

/* Devices that remember find corners on the way. */
static void follow_corners(recorder *w, double t)
{
    const double next = ckt_next_break(w->ckt, t);
    if (next < INFINITY && (!vec_len(w->c->corner) || next > vec_last(w->c->corner)))
        vec_push(w->c->corner, next);
}

static vs_status take(void *user, double t, const double *x)
{
    recorder *w = user;
    if (ckt_has_delays(w->ckt))
        follow_corners(w, t);
    if (w->o->osc)
        follow_probe(w, t, x);
    if (!w->o->osc && t <= w->from) {
        vec_clear(w->c->t);
        vec_clear(w->c->x);
    }
    if (!w->o->osc || t >= listen * w->end)
        keep(w, t, x);
    return VS_OK;
}

static bool stop(void *user)
{
    const recorder *w = user;
    return w->sink->stop && w->sink->stop(w->sink->user);
}

static void progress(void *user, double fraction, double axis, const ana_stat *st)
{
    const recorder *w = user;
    if (w->sink->progress)
        w->sink->progress(w->sink->user, 0.5 * fraction, axis, st);
}

static vs_status no_oscillation(ana *a, const recorder *w)
{
    diag_error(a->d, w->o->span,
               "no oscillation: within %.4g s the probe does not rise twice through the middle of "
               "its range, %.4g to %.4g",
               w->end, w->lo, w->hi);
    diag_note(a->d, w->o->span,
              "a start at rest may stay at rest (.ic, uic, or a pulse starts it), a slow one needs "
              "a longer transient: tstab=...; the probe must move at the fundamental");
    return VS_EINPUT;
}

void cycle_at(const cycle *c, size_t n1, double t, size_t *k, double *x)
{
    const size_t n = vec_len(c->t);
    while (*k + 2 < n && c->t[*k + 1] < t)
        ++*k;
    const double part = fmin(fmax((t - c->t[*k]) / (c->t[*k + 1] - c->t[*k]), 0), 1);
    const double *a = c->x + *k * n1, *b = a + n1;
    x[0] = 0;
    for (size_t i = 1; i < n1; i++)
        x[i] = a[i] + part * (b[i] - a[i]);
}

void cycle_fini(cycle *c)
{
    vec_free(c->t);
    vec_free(c->x);
    vec_free(c->corner);
}

vs_status cycle_record(ana *a, const ana_hb_opt *o, const ana_sink *sink, double tstab, cycle *c)
{
    const bool guessed = o->tone[0] > 0;
    const double period = guessed ? 1 / o->tone[0] : tstab / PERIODS_WITHOUT_GUESS;
    recorder w = {.ckt = a->c,
                  .o = o,
                  .sink = sink,
                  .c = c,
                  .n1 = (size_t)a->n + 1,
                  .lo = INFINITY,
                  .hi = -INFINITY,
                  .rise = {NAN, NAN},
                  .before = NAN};
    *c = (cycle){0};
    w.from = period * ceil(tstab / period);
    w.end = o->osc ? tstab : w.from + period;
    const ana_sink own = {.point = take, .progress = progress, .stop = stop, .user = &w};
    const double most = guessed ? period / STEPS_A_PERIOD : 0;
    const ana_tran_opt to = {
        .tstep = period / STEPS_A_PERIOD, .tstop = w.end, .tmax = most, .uic = o->uic};
    const vs_status st = ana_tran(a, &to, &own);
    if (st != VS_OK)
        return st;
    if (o->osc && (w.rises < 2 || !(w.hi > w.lo)))
        return no_oscillation(a, &w);
    c->begin = o->osc ? w.rise[0] : w.from;
    c->period = o->osc ? w.rise[1] - w.rise[0] : period;
    return VS_OK;
}

/* Where in the period the probe rises through the middle of its range, n points being looked at. */
static double rise_of(const ana_orbit *orbit, const ana_hb_opt *o, int32_t n, double *x)
{
    double *v = vs_malloc(((size_t)n + 1) * sizeof *v), lo = INFINITY, hi = -INFINITY, part = 0;
    for (int32_t k = 0; k <= n; k++) {
        ana_orbit_at(orbit, (double)k / n, x);
        v[k] = x[o->probe.hi] - x[o->probe.lo];
        lo = fmin(lo, v[k]);
        hi = fmax(hi, v[k]);
    }
    const double middle = 0.5 * (lo + hi);
    for (int32_t k = n; k > 0; k--)
        if (v[k - 1] < middle && v[k] >= middle)
            part = (k - 1 + (middle - v[k - 1]) / (v[k] - v[k - 1])) / n;
    vs_free(v);
    return part;
}

void cycle_of_orbit(const ana_orbit *orbit, const ana_hb_opt *o, double tstab, int32_t n, cycle *c)
{
    const double period = ana_orbit_period(orbit),
                 skip = fmax(ceil(tstab / period), round(orbit->offset / period));
    const size_t n1 = (size_t)orbit->n + 1;
    *c = (cycle){.begin = skip * period, .period = period};
    vec_extend(c->x, n1 * ((size_t)n + 1));
    const double from = o->osc ? rise_of(orbit, o, n, c->x) : 0;
    for (int32_t k = 0; k <= n; k++) {
        vec_push(c->t, c->begin + period * k / n);
        ana_orbit_at(orbit, from + (double)k / n, c->x + (size_t)k * n1);
    }
}
