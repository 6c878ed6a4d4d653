/* wave.c - values and corners of source waveforms.
 * Source: ngspice manual, chapter "Independent sources". A periodic wave is reduced to one period
 * by phase = t - k per, k = floor(t/per); the product is not rounded (fma), so that the phase stays
 * exact to the spacing of doubles at t also after 2^32 periods. */
#include "wave_priv.h"

#include "hot.h"

/* -- arguments -- */

static const char *check_pwl(const wave *w)
{
    if (w->n_arg < 2)
        return "PWL needs at least one pair of time and value";
    if (w->n_arg % 2)
        return "PWL needs pairs of time and value; the last value is missing";
    for (int32_t i = 2; i < w->n_arg; i += 2)
        if (w->arg[i] < w->arg[i - 2])
            return "the times of PWL must not decrease";
    if (w->pwl_repeat >= 0 && !(w->pwl_repeat < w->arg[w->n_arg - 2]))
        return "the repeat time of PWL must lie before its last time";
    if (w->pwl_repeat >= 0 && w->pwl_repeat < w->arg[0])
        return "the repeat time of PWL must not lie before its first time";
    return NULL;
}

const char *wave_check(const wave *w)
{
    static const struct {
        int min, max;
        const char *few, *many;
    } count[] = {
        [WAVE_DC] = {0, 0, "", ""},
        [WAVE_PULSE] = {2, 8, "PULSE needs at least the two values v1 and v2",
                        "PULSE has at most 8 arguments: v1 v2 td tr tf pw per np"},
        [WAVE_SIN] = {2, 6, "SIN needs at least offset and amplitude",
                      "SIN has at most 6 arguments: vo va freq td theta phase"},
        [WAVE_EXP] = {2, 6, "EXP needs at least the two values v1 and v2",
                      "EXP has at most 6 arguments: v1 v2 td1 tau1 td2 tau2"},
        [WAVE_SFFM] = {2, 7, "SFFM needs at least offset and amplitude",
                       "SFFM has at most 7 arguments: vo va fc mdi fs phasec phases"},
        [WAVE_AM] = {2, 7, "AM needs at least amplitude and offset",
                     "AM has at most 7 arguments: va vo mf fc td phasec phases"},
        [WAVE_SFFM_DELAY] = {8, 8, "",
                             "SFFM has at most 8 arguments: vo va fc mdi fs td phases phasec"},
        [WAVE_AM_OFFSET] = {8, 8, "",
                            "AM has at most 8 arguments: vo vmo vma fm fc td phasem phasec"},
    };
    for (int32_t i = 0; i < w->n_arg; i++)
        if (!isfinite(w->arg[i]))
            return "an argument of the waveform is not a finite number";
    if (w->kind == WAVE_PWL)
        return check_pwl(w);
    if (w->kind == WAVE_TRNOISE || w->kind == WAVE_TRRANDOM)
        return wave_noise_check(w);
    if (w->n_arg < count[w->kind].min)
        return count[w->kind].few;
    if (w->n_arg > count[w->kind].max)
        return count[w->kind].many;
    const int time_from = w->kind == WAVE_PULSE ? PULSE_TR : w->n_arg;
    for (int32_t i = time_from; i < w->n_arg && i <= PULSE_PER; i++)
        if (w->arg[i] < 0)
            return "rise time, fall time, width and period of PULSE must not be negative";
    if (w->kind == WAVE_EXP && ((w->n_arg > EXP_TAU1 && w->arg[EXP_TAU1] < 0) ||
                                (w->n_arg > EXP_TAU2 && w->arg[EXP_TAU2] < 0)))
        return "the time constants of EXP must not be negative";
    return NULL;
}

static void default_if_zero(double *arg, double value)
{
    if (*arg == 0)
        *arg = value;
}

void wave_defaults(wave *w, double *arg, double tstep, double tstop)
{
    if (w->kind == WAVE_DC || w->kind == WAVE_PWL)
        return;
    const int32_t given = w->n_arg;
    for (int32_t i = 0; i < WAVE_ARGS; i++)
        arg[i] = i < given ? w->arg[i] : 0;
    switch (w->kind) {
    case WAVE_PULSE:
        default_if_zero(&arg[PULSE_TR], tstep);
        default_if_zero(&arg[PULSE_TF], tstep);
        default_if_zero(&arg[PULSE_PW], tstop);
        default_if_zero(&arg[PULSE_PER], tstop);
        break;
    case WAVE_SIN: default_if_zero(&arg[SIN_FREQ], tstop > 0 ? 1 / tstop : 0); break;
    case WAVE_EXP:
        default_if_zero(&arg[EXP_TAU1], tstep);
        default_if_zero(&arg[EXP_TAU2], tstep);
        if (given <= EXP_TD2)
            arg[EXP_TD2] = arg[EXP_TD1] + tstep;
        break;
    case WAVE_SFFM:
        default_if_zero(&arg[SFFM_FC], tstop > 0 ? 1 / tstop : 0);
        default_if_zero(&arg[SFFM_FS], tstop > 0 ? 1 / tstop : 0);
        break;
    case WAVE_AM: default_if_zero(&arg[AM_MF], tstop > 0 ? 1 / tstop : 0); break;
    case WAVE_TRNOISE:
    case WAVE_TRRANDOM: wave_noise_defaults(w, arg, tstop); break;
    case WAVE_AM_OFFSET:
    case WAVE_SFFM_DELAY:
    case WAVE_DC:
    case WAVE_PWL: break;
    }
    w->arg = arg;
    w->n_arg = WAVE_ARGS;
}

double wave_interval(const wave *w)
{
    if (w->kind == WAVE_PULSE && w->arg[PULSE_NP] == 0)
        return w->arg[PULSE_PER] > 0 ? w->arg[PULSE_PER] : INFINITY;
    if (w->kind == WAVE_PWL && w->pwl_repeat >= 0 && w->n_arg >= 2)
        return w->arg[w->n_arg / 2 * 2 - 2] - w->pwl_repeat;
    return w->kind == WAVE_TRNOISE || w->kind == WAVE_TRRANDOM ? wave_noise_interval(w) : INFINITY;
}

/* -- values -- */

/* t reduced to [0, per). */
static inline __attribute__((always_inline)) double phase_of(double t, double per)
{
    const double phase = fma(-floor(t / per), per, t);
    return phase < 0 ? phase + per : phase;
}

VS_HOT_CLONES static double pulse_value(const wave *w, double t)
{
    const double v1 = arg_at(w, PULSE_V1), v2 = arg_at(w, PULSE_V2);
    const double tr = arg_at(w, PULSE_TR), pw = arg_at(w, PULSE_PW), tf = arg_at(w, PULSE_TF);
    const double per = arg_at(w, PULSE_PER), np = arg_at(w, PULSE_NP);
    t -= arg_at(w, PULSE_TD);
    if (t <= 0 || (np > 0 && per > 0 && t >= np * per))
        return v1;
    if (per > 0)
        t = phase_of(t, per);
    if (t < tr)
        return v1 + (v2 - v1) * (t / tr);
    if (t <= tr + pw)
        return v2;
    if (t < tr + pw + tf)
        return v2 + (v1 - v2) * ((t - (tr + pw)) / tf);
    return v1;
}

VS_HOT_CLONES static double sin_value(const wave *w, double t)
{
    const double phase = radian(arg_at(w, SIN_PHASE)), theta = arg_at(w, SIN_THETA);
    const double vo = arg_at(w, SIN_VO), va = arg_at(w, SIN_VA), freq = arg_at(w, SIN_FREQ);
    t -= arg_at(w, SIN_TD);
    if (t <= 0)
        return vo + va * sin(phase);
    const double cycles = fma(t, freq, -floor(t * freq)); /* keeps the argument of sin small */
    const double value = va * sin(2 * M_PI * cycles + phase);
    return vo + (theta == 0 ? value : value * exp(-t * theta));
}

static double approach(double t, double tau) { return tau > 0 ? -expm1(-t / tau) : 1; }

static double exp_value(const wave *w, double t)
{
    const double v1 = arg_at(w, EXP_V1), v2 = arg_at(w, EXP_V2);
    const double td1 = arg_at(w, EXP_TD1), td2 = arg_at(w, EXP_TD2);
    double v = v1;
    if (t > td1)
        v += (v2 - v1) * approach(t - td1, arg_at(w, EXP_TAU1));
    if (t > td2)
        v += (v1 - v2) * approach(t - td2, arg_at(w, EXP_TAU2));
    return v;
}

static double sffm_value(const wave *w, double t)
{
    const double signal = sin(2 * M_PI * arg_at(w, SFFM_FS) * t + radian(arg_at(w, SFFM_PHASES)));
    return arg_at(w, SFFM_VO) +
           arg_at(w, SFFM_VA) * sin(2 * M_PI * arg_at(w, SFFM_FC) * t +
                                    radian(arg_at(w, SFFM_PHASEC)) + arg_at(w, SFFM_MDI) * signal);
}

static double sffm_delay_value(const wave *w, double t)
{
    t -= arg_at(w, SFD_TD);
    if (t <= 0)
        return 0;
    const double signal = sin(2 * M_PI * arg_at(w, SFD_FS) * t + radian(arg_at(w, SFD_PHASES)));
    return arg_at(w, SFD_VO) +
           arg_at(w, SFD_VA) * sin(2 * M_PI * arg_at(w, SFD_FC) * t +
                                   radian(arg_at(w, SFD_PHASEC)) + arg_at(w, SFD_MDI) * signal);
}

static double am_value(const wave *w, double t)
{
    t -= arg_at(w, AM_TD);
    if (t <= 0)
        return 0;
    const double signal = sin(2 * M_PI * arg_at(w, AM_MF) * t + radian(arg_at(w, AM_PHASES)));
    return arg_at(w, AM_VA) * (arg_at(w, AM_VO) + signal) *
           sin(2 * M_PI * arg_at(w, AM_FC) * t + radian(arg_at(w, AM_PHASEC)));
}

static double am_offset_value(const wave *w, double t)
{
    t -= arg_at(w, AMO_TD);
    if (t <= 0)
        return 0;
    const double signal = sin(2 * M_PI * arg_at(w, AMO_FM) * t + radian(arg_at(w, AMO_PHASEM)));
    return arg_at(w, AMO_VO) +
           (arg_at(w, AMO_VMO) + arg_at(w, AMO_VMA) * signal) *
               sin(2 * M_PI * arg_at(w, AMO_FC) * t + radian(arg_at(w, AMO_PHASEC)));
}

/* Number of PWL points with time <= t. */
static int32_t pwl_count(const wave *w, double t)
{
    int32_t lo = 0, hi = w->n_arg / 2;
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (w->arg[2 * mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static double pwl_value(const wave *w, double t)
{
    const int32_t n = w->n_arg / 2;
    const double end = w->arg[2 * n - 2];
    t -= w->pwl_delay;
    if (t > end && w->pwl_repeat >= 0)
        t = w->pwl_repeat + phase_of(t - w->pwl_repeat, end - w->pwl_repeat);
    int32_t k = pwl_count(w, t);
    if (k == 0)
        return w->arg[1];
    while (k > 1 && w->arg[2 * k - 2] == t &&
           w->arg[2 * k - 4] == t) /* a jump: the value before it */
        k--;
    if (w->arg[2 * k - 2] == t)
        return w->arg[2 * k - 1];
    if (k == n)
        return w->arg[2 * n - 1];
    const double *a = &w->arg[2 * k - 2];
    return a[1] + (a[3] - a[1]) * ((t - a[0]) / (a[2] - a[0]));
}

VS_HOT double wave_value(const wave *w, double t)
{
    switch (w->kind) {
    case WAVE_DC: return w->dc;
    case WAVE_PULSE: return pulse_value(w, t);
    case WAVE_SIN: return sin_value(w, t);
    case WAVE_EXP: return exp_value(w, t);
    case WAVE_PWL: return pwl_value(w, t);
    case WAVE_SFFM: return sffm_value(w, t);
    case WAVE_AM: return am_value(w, t);
    case WAVE_AM_OFFSET: return am_offset_value(w, t);
    case WAVE_SFFM_DELAY: return sffm_delay_value(w, t);
    case WAVE_TRNOISE:
    case WAVE_TRRANDOM: return wave_noise_value(w, t);
    }
    return 0;
}

double wave_dc(const wave *w)
{
    return w->dc_given || w->kind == WAVE_DC ? w->dc : wave_value(w, 0);
}

double wave_most(const wave *w)
{
    double most = 0;
    switch (w->kind) {
    case WAVE_DC: return fabs(w->dc);
    case WAVE_PULSE:
    case WAVE_EXP: return fmax(fabs(w->arg[0]), fabs(w->arg[1]));
    case WAVE_SIN: return fabs(w->arg[0]) + fabs(w->arg[1]);
    case WAVE_PWL:
        for (int32_t i = 1; i < w->n_arg; i += 2)
            most = fmax(most, fabs(w->arg[i]));
        return most;
    default: return 0;
    }
}

/* -- corners -- */

/* The smallest start + k per + corner[i] after t, for k >= 0 up to k_max. */
static double periodic_break(double t, double start, double per, const double *corner, int n,
                             double k_max)
{
    const double after = t + resolution(t, per);
    const double k0 = fmax(0, floor((t - start) / per) - 1);
    for (double k = k0; k <= k0 + 3 && k <= k_max; k++) {
        double best = INFINITY;
        for (int i = 0; i < n; i++) {
            const double at = fma(k, per, start) + corner[i];
            if (at > after && at < best)
                best = at;
        }
        if (best < INFINITY)
            return best;
    }
    return INFINITY;
}

static double pulse_break(const wave *w, double t)
{
    const double td = arg_at(w, PULSE_TD), tr = arg_at(w, PULSE_TR), pw = arg_at(w, PULSE_PW);
    const double tf = arg_at(w, PULSE_TF), per = arg_at(w, PULSE_PER), np = arg_at(w, PULSE_NP);
    double corner[4] = {0, tr, tr + pw, tr + pw + tf};
    int n = 4;
    if (!(per > 0))
        return periodic_break(t, td, 1, corner, n, 0);
    while (n > 1 && corner[n - 1] > per) /* cut off by the next period */
        n--;
    const double k_max = np > 0 ? ceil(np) - 1 : INFINITY;
    const double next = periodic_break(t, td, per, corner, n, k_max);
    const double end = td + np * per; /* a last period cut off jumps back to v1 */
    if (np > 0 && end > t + resolution(t, per) && end < next)
        return end;
    return next;
}

/* The first of n times after t. */
static double first_after(double t, const double *at, int n)
{
    double best = INFINITY;
    for (int i = 0; i < n; i++)
        if (at[i] > t + resolution(t, 0) && at[i] < best)
            best = at[i];
    return best;
}

/* Corners of the second and later passes of a PWL with repeat. */
static double pwl_break_repeated(const wave *w, double t)
{
    const int32_t n = w->n_arg / 2, first = pwl_count(w, w->pwl_repeat);
    const double end = w->arg[2 * n - 2], per = end - w->pwl_repeat;
    const double after = t + resolution(t, w->pwl_delay);
    const double k = floor((t - w->pwl_delay - w->pwl_repeat) / per);
    for (double j = fmax(1, k - 1); j <= fmax(1, k + 1); j++) {
        const double shift = fma(j, per, w->pwl_delay);
        int32_t i = pwl_count(w, after - shift);
        if (i < first)
            i = first;
        for (; i < n; i++)
            if (w->arg[2 * i] + shift > after)
                return w->arg[2 * i] + shift;
    }
    return INFINITY;
}

static double pwl_break(const wave *w, double t)
{
    const int32_t n = w->n_arg / 2;
    const double after = t + resolution(t, w->pwl_delay);
    for (int32_t i = pwl_count(w, after - w->pwl_delay); i < n; i++)
        if (w->arg[2 * i] + w->pwl_delay > after)
            return w->arg[2 * i] + w->pwl_delay;
    return w->pwl_repeat >= 0 ? pwl_break_repeated(w, t) : INFINITY;
}

double wave_next_break(const wave *w, double t)
{
    switch (w->kind) {
    case WAVE_PULSE: return pulse_break(w, t);
    case WAVE_SIN: return first_after(t, &(double){arg_at(w, SIN_TD)}, 1);
    case WAVE_EXP: return first_after(t, (double[]){arg_at(w, EXP_TD1), arg_at(w, EXP_TD2)}, 2);
    case WAVE_AM: return first_after(t, &(double){arg_at(w, AM_TD)}, 1);
    case WAVE_AM_OFFSET: return first_after(t, &(double){arg_at(w, AMO_TD)}, 1);
    case WAVE_SFFM_DELAY: return first_after(t, &(double){arg_at(w, SFD_TD)}, 1);
    case WAVE_PWL: return pwl_break(w, t);
    case WAVE_TRNOISE:
    case WAVE_TRRANDOM: return wave_noise_break(w, t + resolution(t, 0));
    case WAVE_DC:
    case WAVE_SFFM: break;
    }
    return INFINITY;
}
