/* wave_noise.c - random waveforms. */
#include "wave_noise.h"

#include <math.h>

#include "draw.h"

enum {
    NA,
    NT,
    NALPHA,
    NAMP,
    RTSAM,
    RTSCAPT,
    RTSEMT,
    OCTAVES,
    OCTAVE_FIRST,
    FLICKER_WHITE,
    FLICKER_START
};
enum { TYPE, TS, TD, P1, P2 };
enum { EVEN = 1, NORMAL, EXPONENTIAL, POISSON };
/* What a draw is for; flicker noise uses one more for each octave. */
enum { FOR_WHITE, FOR_COUNT, FOR_PLACE, FOR_STATE, FOR_VALUE, FOR_FLICKER, FOR_OCTAVE };
enum { MAX_OCTAVES = 60 };

/* -- arguments -- */

static double given(const wave *w, int32_t i) { return i < w->n_arg ? w->arg[i] : 0; }

static bool has_flicker(const double *arg) { return arg[NALPHA] > 0 && arg[NAMP] != 0; }

static const char *check_trnoise(const wave *w)
{
    const double alpha = given(w, NALPHA), capture = given(w, RTSCAPT), emission = given(w, RTSEMT);
    if (w->n_arg < 2)
        return "TRNOISE needs an amplitude and a time step";
    if (w->n_arg > 7)
        return "TRNOISE has at most 7 arguments: na nt nalpha namp rtsam rtscapt rtsemt";
    if (given(w, NT) < 0)
        return "the time step of TRNOISE must not be negative";
    if (given(w, NT) == 0 && (given(w, NA) != 0 || (alpha > 0 && given(w, NAMP) != 0)))
        return "TRNOISE needs a time step, the second argument, for white and 1/f noise";
    if (alpha < 0 || alpha >= 2)
        return "the exponent of 1/f noise of TRNOISE, nalpha, must be at least 0 and below 2";
    if (given(w, RTSAM) == 0)
        return NULL;
    if (!(capture > 0 && emission > 0))
        return "telegraph noise of TRNOISE needs the times of capture and emission, rtscapt and "
               "rtsemt, above 0";
    if (capture > 1e4 * emission || emission > 1e4 * capture)
        return "the times of capture and emission of TRNOISE must not differ by more than 10,000 "
               "times";
    return NULL;
}

static const char *check_trrandom(const wave *w)
{
    const double type = given(w, TYPE), p1 = w->n_arg > P1 ? w->arg[P1] : 1;
    if (w->n_arg < 2)
        return "TRRANDOM needs a type and a time step";
    if (w->n_arg > 5)
        return "TRRANDOM has at most 5 arguments: type ts td p1 p2";
    if (type != EVEN && type != NORMAL && type != EXPONENTIAL && type != POISSON)
        return "the type of TRRANDOM is 1 (uniform), 2 (normal), 3 (exponential) or 4 (Poisson)";
    if (!(given(w, TS) > 0))
        return "the time step of TRRANDOM, the second argument, must be positive";
    if (type == POISSON && !(p1 >= 0 && p1 <= 700))
        return "the mean of the Poisson distribution of TRRANDOM must be 0 to 700";
    return NULL;
}

const char *wave_noise_check(const wave *w)
{
    return w->kind == WAVE_TRNOISE ? check_trnoise(w) : check_trrandom(w);
}

/* Density of Kasdin's process over that of its white noise; f in parts of the sampling rate. */
static double kasdin(double f, double alpha) { return pow(2 * sin(M_PI * f), -alpha); }

/* The same of the sum of octaves, the first with amplitude 1. */
static double octaves_density(double f, double alpha, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++) {
        const double T = ldexp(1, j), h = sin(M_PI * f * T) / sin(M_PI * f);
        sum += pow(T, alpha - 1) * (h * h) * (h * h) / (T * T * T);
    }
    return sum;
}

/* Amplitudes: of the octaves such that their sum over all scales is the power law, integral of
 * u^(alpha-1) sinc^4(u) over u > 0 (a Mellin transform); of the white part from what is missing
 * above a fifth of the sampling rate. */
static void set_flicker(double *arg, double tstop)
{
    static const double at[] = {0.2, 0.3, 0.4, 0.5};
    const double alpha = arg[NALPHA], s = alpha - 4;
    const double mellin =
        M_PI / (2 * sin(M_PI * s / 2) * tgamma(1 - s)) * (pow(4, -s) / 8 - pow(2, -s) / 2);
    const double first = M_LN2 / (mellin * pow(M_PI, -alpha) * pow(2 * M_PI, alpha));
    double missing = 0;
    for (size_t i = 0; i < VS_COUNT(at); i++)
        missing += kasdin(at[i], alpha) - first * octaves_density(at[i], alpha, 40);
    const double samples = fmax(tstop / arg[NT], 1);
    arg[OCTAVES] = fmin(ceil(log2(samples)) + 3, MAX_OCTAVES);
    arg[OCTAVE_FIRST] = sqrt(first);
    arg[FLICKER_WHITE] = sqrt(fmax(missing / VS_COUNT(at), 0));
}

/* -- white and 1/f noise -- */

static double sample(const wave *w, int what, double k)
{
    return draw_normal(draw_add(draw_add(w->key, (uint64_t)what), (uint64_t)k));
}

static double flicker(const wave *w, double k)
{
    const double growth = exp2((w->arg[NALPHA] - 1) / 2);
    double sum = w->arg[FLICKER_WHITE] * sample(w, FOR_FLICKER, k),
           amplitude = w->arg[OCTAVE_FIRST], span = 1;
    for (int j = 0; j < (int)w->arg[OCTAVES]; j++) {
        const double n = floor(k / span), part = k / span - n;
        double y = (1 - part) * sample(w, FOR_OCTAVE + j, n);
        if (part > 0)
            y += part * sample(w, FOR_OCTAVE + j, n + 1);
        sum += amplitude * y;
        amplitude *= growth;
        span *= 2;
    }
    return sum;
}

void wave_noise_defaults(const wave *w, double *arg, double tstop)
{
    if (w->kind == WAVE_TRRANDOM && w->n_arg <= P1)
        arg[P1] = 1;
    if (w->kind != WAVE_TRNOISE || !has_flicker(arg))
        return;
    wave full = *w;
    full.arg = arg;
    set_flicker(arg, tstop);
    arg[FLICKER_START] = flicker(&full, 0);
}

double wave_noise_interval(const wave *w)
{
    if (w->kind == WAVE_TRRANDOM)
        return w->arg[TS];
    const bool sampled = w->arg[NA] != 0 || has_flicker(w->arg);
    return fmin(sampled ? w->arg[NT] : INFINITY,
                w->arg[RTSAM] != 0 ? fmin(w->arg[RTSCAPT], w->arg[RTSEMT]) : INFINITY);
}

static double sampled(const wave *w, double k)
{
    if (k == 0)
        return 0;
    double y = w->arg[NA] != 0 ? w->arg[NA] * sample(w, FOR_WHITE, k) : 0;
    if (has_flicker(w->arg))
        y += w->arg[NAMP] * (flicker(w, k) - w->arg[FLICKER_START]);
    return y;
}

/* -- telegraph noise -- */

/* Events of the Poisson process: cells as long as the mean interval, each with a number of events
 * and their places. */
static double cell_length(const wave *w) { return 1 / (1 / w->arg[RTSCAPT] + 1 / w->arg[RTSEMT]); }

static uint64_t event_key(const wave *w, int what, double cell, int32_t i)
{
    return draw_add(draw_add(draw_add(w->key, (uint64_t)what), (uint64_t)cell), (uint64_t)i);
}

static int32_t events_of(const wave *w, double cell)
{
    return draw_poisson(event_key(w, FOR_COUNT, cell, 0), 1);
}

static double event_time(const wave *w, double cell, int32_t i)
{
    return (cell + 0.5 + 0.5 * draw_even(event_key(w, FOR_PLACE, cell, i))) * cell_length(w);
}

static bool event_state(const wave *w, double cell, int32_t i)
{
    const double high = cell_length(w) / w->arg[RTSCAPT];
    return 0.5 + 0.5 * draw_even(event_key(w, FOR_STATE, cell, i)) < high;
}

/* The state that the last event before t has drawn. */
static bool telegraph(const wave *w, double t)
{
    for (double cell = floor(t / cell_length(w)) + 1; cell >= 0;
         cell--) { /* + 1: the quotient is rounded */
        const int32_t n = events_of(w, cell);
        int32_t last = -1;
        double at = -1;
        for (int32_t i = 0; i < n; i++) {
            const double e = event_time(w, cell, i);
            if (e < t && e > at) {
                at = e;
                last = i;
            }
        }
        if (last >= 0)
            return event_state(w, cell, last);
    }
    return false;
}

/* The first event after t that draws another state than the last one up to t. */
static double telegraph_break(const wave *w, double t)
{
    const bool now = telegraph(w, nextafter(t, INFINITY));
    for (double cell = fmax(floor(t / cell_length(w)) - 1, 0);; cell++) {
        const int32_t n = events_of(w, cell);
        double best = INFINITY;
        for (int32_t i = 0; i < n; i++) {
            const double e = event_time(w, cell, i);
            if (e > t && e < best && event_state(w, cell, i) != now)
                best = e;
        }
        if (best < INFINITY)
            return best;
    }
}

/* -- both -- */

/* k with from + k step <= t < from + (k + 1) step, in the arithmetic that makes the breakpoints. */
static double step_at(double t, double from, double step)
{
    double k = floor((t - from) / step);
    if (fma(k + 1, step, from) <= t)
        k++;
    return k > 0 && fma(k, step, from) > t ? k - 1 : k;
}

/* Sample k and the next one. */
static void two_samples(const wave *w, double k, double y[2])
{
    double *memo = w->memo;
    if (memo && memo[0] == k) {
        y[0] = memo[1];
        y[1] = memo[2];
        return;
    }
    y[0] = memo && memo[0] + 1 == k ? memo[2] : sampled(w, k);
    y[1] = sampled(w, k + 1);
    if (memo) {
        memo[0] = k;
        memo[1] = y[0];
        memo[2] = y[1];
    }
}

static double trnoise_value(const wave *w, double t)
{
    double y = 0, s[2];
    if (t <= 0)
        return 0;
    if (w->arg[NA] != 0 || has_flicker(w->arg)) {
        const double k = step_at(t, 0, w->arg[NT]);
        two_samples(w, k, s);
        y = s[0] + (s[1] - s[0]) * (t / w->arg[NT] - k);
    }
    return w->arg[RTSAM] != 0 && telegraph(w, t) ? y + w->arg[RTSAM] : y;
}

static double trrandom_value(const wave *w, double t)
{
    const double *arg = w->arg;
    if (t <= arg[TD])
        return 0;
    double k = step_at(t, arg[TD], arg[TS]);
    if (fma(k, arg[TS], arg[TD]) == t)
        k--;
    const uint64_t key = draw_add(draw_add(w->key, FOR_VALUE), (uint64_t)k);
    switch ((int)arg[TYPE]) {
    case EVEN: return arg[P2] + arg[P1] * draw_even(key);
    case NORMAL: return arg[P2] + arg[P1] * draw_normal(key);
    case EXPONENTIAL: return arg[P2] + arg[P1] * draw_exponential(key);
    default: return arg[P2] + draw_poisson(key, arg[P1]);
    }
}

double wave_noise_value(const wave *w, double t)
{
    const double y = w->kind == WAVE_TRNOISE ? trnoise_value(w, t) : trrandom_value(w, t);
    return w->dc_given ? w->dc + y : y;
}

double wave_noise_break(const wave *w, double after)
{
    if (w->kind == WAVE_TRRANDOM)
        return after < w->arg[TD]
                   ? w->arg[TD]
                   : fma(step_at(after, w->arg[TD], w->arg[TS]) + 1, w->arg[TS], w->arg[TD]);
    const double from = fmax(after, 0);
    const bool samples = w->arg[NA] != 0 || has_flicker(w->arg);
    const double next = samples ? (step_at(from, 0, w->arg[NT]) + 1) * w->arg[NT] : INFINITY;
    return w->arg[RTSAM] != 0 ? fmin(next, telegraph_break(w, from)) : next;
}
