/* hb_start.c - harmonic balance begins from the last period of a transient. Of an oscillator the
 * period is the time between two rises of the probe through the middle of its range. */
#include <math.h>
#include <string.h>

#include "hb.h"

/* Parts of tstab: the range of the probe is taken from here on, its rises are looked for from here
 * on. */
static const double settle = 0.5, listen = 0.7;
enum { STEPS_A_PERIOD = 60, PERIODS_WITHOUT_GUESS = 1000 };

typedef struct recorder {
    ana_orbit *h;
    double from; /* s; driven: points are kept from here on */
    double end;
    double lo, hi; /* V, of the probe */
    double before, t_before;
    double rise[2]; /* s, the last two rises, NAN: none */
    int32_t rises;
    double *t, *x; /* vecs: times, points [n + 1] */
} recorder;

static double probe(const recorder *w, const double *x)
{
    return x[w->h->o.probe.hi] - x[w->h->o.probe.lo];
}

static void keep(recorder *w, double t, const double *x)
{
    vec_push(w->t, t);
    double *to = NULL;
    const size_t n1 = (size_t)w->h->n + 1, at = vec_len(w->x);
    vec_extend(w->x, n1);
    to = w->x + at;
    memcpy(to, x, n1 * sizeof *to);
}

/* Points before `t` are no longer needed, but for the last of them. */
static void forget(recorder *w, double t)
{
    const size_t n1 = (size_t)w->h->n + 1, n = vec_len(w->t);
    size_t first = 0;
    while (first + 1 < n && w->t[first + 1] <= t)
        first++;
    memmove(w->t, w->t + first, (n - first) * sizeof *w->t);
    memmove(w->x, w->x + first * n1, (n - first) * n1 * sizeof *w->x);
    vec_head_of(w->t)->len = n - first;
    vec_head_of(w->x)->len = (n - first) * n1;
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

static vs_status take(void *user, double t, const double *x)
{
    recorder *w = user;
    if (w->h->o.osc)
        follow_probe(w, t, x);
    if (w->h->o.osc ? t >= listen * w->end : t >= w->from)
        keep(w, t, x);
    return VS_OK;
}

static bool stop(void *user)
{
    const recorder *w = user;
    return w->h->sink.stop && w->h->sink.stop(w->h->sink.user);
}

static void progress(void *user, double fraction, double axis, const ana_stat *st)
{
    const recorder *w = user;
    if (w->h->sink.progress)
        w->h->sink.progress(w->h->sink.user, 0.5 * fraction, axis, st);
}

/* Samples at begin + period m / n_m, on straight lines between points; their transform. */
static void sample(ana_orbit *h, const recorder *w, double begin, double period)
{
    const size_t n1 = (size_t)h->n + 1, n = vec_len(w->t);
    size_t k = 0;
    for (int32_t m = 0; m < h->n_m; m++) {
        const double t = begin + period * m / h->n_m;
        while (k + 2 < n && w->t[k + 1] < t)
            k++;
        const double part = fmin(fmax((t - w->t[k]) / (w->t[k + 1] - w->t[k]), 0), 1);
        const double *a = w->x + k * n1, *b = a + n1;
        for (size_t i = 1; i < n1; i++)
            h->xs[(size_t)m * h->stride + i] = a[i] + part * (b[i] - a[i]);
    }
    for (size_t i = 1; i < n1; i++) {
        for (int32_t m = 0; m < h->n_m; m++)
            h->grid[m] = h->xs[(size_t)m * h->stride + i];
        hb_forward(h, h->grid, h->x + i * (size_t)h->n_k);
    }
}

/* Turns the state in time until the probe's fundamental is real and positive. */
static void turn(ana_orbit *h)
{
    const size_t nk = (size_t)h->n_k;
    hb_cplx first = 0;
    for (size_t k = 0; k < nk; k++)
        if (h->index[k][0] == 1)
            first = h->x[(size_t)h->o.probe.hi * nk + k] - h->x[(size_t)h->o.probe.lo * nk + k];
    const double angle = carg(first);
    for (size_t i = 1; i <= (size_t)h->n; i++)
        for (size_t k = 0; k < nk; k++)
            h->x[i * nk + k] *= cexp(-I * angle * h->index[k][0]);
}

static vs_status no_oscillation(ana_orbit *h, const recorder *w)
{
    diag_error(h->a->d, h->o.span,
               "no oscillation: within %.4g s the probe does not rise twice through the middle of "
               "its range, %.4g to %.4g",
               w->end, w->lo, w->hi);
    diag_note(h->a->d, h->o.span,
              "a start at rest may stay at rest (.ic, uic, or a pulse starts it), a slow one needs "
              "a longer transient: tstab=...; the probe must move at the fundamental");
    return VS_EINPUT;
}

static vs_status from_record(ana_orbit *h, const recorder *w, double period)
{
    if (!h->o.osc) {
        sample(h, w, w->from, period);
        return VS_OK;
    }
    if (w->rises < 2 || !(w->hi > w->lo))
        return no_oscillation(h, w);
    sample(h, w, w->rise[0], w->rise[1] - w->rise[0]);
    hb_set_tone(h, 1 / (w->rise[1] - w->rise[0]));
    turn(h);
    return VS_OK;
}

vs_status hb_from_transient(ana_orbit *h, double tstab)
{
    const bool guessed = h->o.tone[0] > 0;
    const double period = guessed ? 1 / h->o.tone[0] : tstab / PERIODS_WITHOUT_GUESS;
    recorder w = {.h = h, .lo = INFINITY, .hi = -INFINITY, .rise = {NAN, NAN}, .before = NAN};
    w.from = period * ceil(tstab / period);
    w.end = h->o.osc ? tstab : w.from + period;
    const ana_sink sink = {.point = take, .progress = progress, .stop = stop, .user = &w};
    const double most = guessed ? period / STEPS_A_PERIOD : 0;
    const ana_tran_opt to = {
        .tstep = period / STEPS_A_PERIOD, .tstop = w.end, .tmax = most, .uic = h->o.uic};
    vs_status st = ana_tran(h->a, &to, &sink);
    if (st == VS_OK)
        st = from_record(h, &w, period);
    vec_free(w.t);
    vec_free(w.x);
    return st;
}
