/* wave_slope.c - derivatives of source waveforms by a parameter that moves their arguments.
 * Values and their derivatives are computed together (forward differentiation). At a corner that
 * moves the wave is continuous and its derivative jumps: it has that of the piece before or of the
 * piece behind.
 * Source: Griewank & Walther, Evaluating Derivatives, ch. 3. */
#include "wave_priv.h"

typedef struct dual {
    double v, d; /* a value and its derivative */
} dual;

typedef struct sides { /* arguments are those of w, their derivatives the differences of both */
    const wave *w, *lo, *hi;
    double distance;
    bool behind; /* a corner belongs to the piece behind it */
} sides;

/* What counts as one time, where the pieces are told apart. */
static double near_of(const sides *s, double t, double span)
{
    return s->behind ? -resolution(t, span) : resolution(t, span);
}

static dual arg_of(const sides *s, int32_t i)
{
    return (dual){arg_at(s->w, i), (arg_at(s->hi, i) - arg_at(s->lo, i)) / s->distance};
}

static dual add(dual a, dual b) { return (dual){a.v + b.v, a.d + b.d}; }
static dual sub(dual a, dual b) { return (dual){a.v - b.v, a.d - b.d}; }
static dual mul(dual a, dual b) { return (dual){a.v * b.v, a.d * b.v + a.v * b.d}; }
static dual scale(double k, dual a) { return (dual){k * a.v, k * a.d}; }
static dual over(dual a, dual b) { return (dual){a.v / b.v, (a.d - a.v / b.v * b.d) / b.v}; }
static dual sine(dual a) { return (dual){sin(a.v), cos(a.v) * a.d}; }
static dual power_of_e(dual a) { return (dual){exp(a.v), exp(a.v) * a.d}; }
static dual after(double t, dual from) { return (dual){t - from.v, -from.d}; }

/* The line from a to b, at the time u after a of its duration. */
static dual on_line(dual a, dual b, dual u, dual duration)
{
    return add(a, mul(sub(b, a), over(u, duration)));
}

static double pulse_slope(const sides *s, double t)
{
    const dual v1 = arg_of(s, PULSE_V1), v2 = arg_of(s, PULSE_V2), tr = arg_of(s, PULSE_TR);
    const dual pw = arg_of(s, PULSE_PW), tf = arg_of(s, PULSE_TF), per = arg_of(s, PULSE_PER);
    const double np = arg_at(s->w, PULSE_NP), near = near_of(s, t, per.v);
    const dual top = add(tr, pw);
    dual u = after(t, arg_of(s, PULSE_TD));
    if (u.v <= near || (np > 0 && per.v > 0 && u.v > np * per.v + near))
        return v1.d;
    if (per.v > 0) {
        const double k = fmax(0, ceil((u.v - near) / per.v) - 1);
        u = (dual){fma(-k, per.v, u.v), u.d - k * per.d};
    }
    if (tr.v > 0 && u.v <= tr.v + near)
        return on_line(v1, v2, u, tr).d;
    if (u.v <= top.v + near)
        return v2.d;
    return u.v <= top.v + tf.v + near ? on_line(v2, v1, sub(u, top), tf).d : v1.d;
}

/* Point i of a PWL: its time and value. */
static dual pwl_time(const sides *s, int32_t i) { return arg_of(s, 2 * i); }
static dual pwl_level(const sides *s, int32_t i) { return arg_of(s, 2 * i + 1); }

static double pwl_slope(const sides *s, double t)
{
    const int32_t n = s->w->n_arg / 2;
    const double near = near_of(s, t, s->w->pwl_delay);
    const dual delay = {s->w->pwl_delay, (s->hi->pwl_delay - s->lo->pwl_delay) / s->distance};
    const dual end = pwl_time(s, n - 1);
    dual u = after(t, delay);
    if (s->w->pwl_repeat >= 0 && u.v > end.v + near) {
        const dual from = {s->w->pwl_repeat, (s->hi->pwl_repeat - s->lo->pwl_repeat) / s->distance};
        const dual per = sub(end, from);
        const double k = fmax(0, ceil((u.v - from.v - near) / per.v) - 1);
        u = sub(u, scale(k, per));
    }
    int32_t i = 0;
    while (i < n && pwl_time(s, i).v < u.v - near)
        i++;
    if (!i || i == n)
        return pwl_level(s, i ? n - 1 : 0).d;
    const dual from = pwl_time(s, i - 1);
    return on_line(pwl_level(s, i - 1), pwl_level(s, i), sub(u, from), sub(pwl_time(s, i), from)).d;
}

static dual angle_of(const sides *s, int32_t i) { return scale(M_PI / 180, arg_of(s, i)); }

/* 2 pi f u */
static dual turns(const sides *s, int32_t f, dual u)
{
    return scale(2 * M_PI, mul(arg_of(s, f), u));
}

/* sin(2 pi f u + phase); f, phase: places of these arguments */
static dual tone(const sides *s, int32_t f, int32_t phase, dual u)
{
    return sine(add(turns(s, f, u), angle_of(s, phase)));
}

static double sin_slope(const sides *s, double t)
{
    const dual vo = arg_of(s, SIN_VO), va = arg_of(s, SIN_VA);
    const dual u = after(t, arg_of(s, SIN_TD));
    if (u.v <= near_of(s, t, 0))
        return add(vo, mul(va, sine(angle_of(s, SIN_PHASE)))).d;
    const dual damping = power_of_e(scale(-1, mul(u, arg_of(s, SIN_THETA))));
    return add(vo, mul(va, mul(tone(s, SIN_FREQ, SIN_PHASE, u), damping))).d;
}

/* (b - a) (1 - exp(-u/tau)) behind its start */
static double approach_slope(dual a, dual b, dual u, dual tau, double near)
{
    if (u.v <= near)
        return 0;
    if (!(tau.v > 0))
        return b.d - a.d;
    const dual left = power_of_e(scale(-1, over(u, tau)));
    return mul(sub(b, a), (dual){-expm1(-u.v / tau.v), -left.d}).d;
}

static double exp_slope(const sides *s, double t)
{
    const dual v1 = arg_of(s, EXP_V1), v2 = arg_of(s, EXP_V2);
    const double near = near_of(s, t, 0);
    return v1.d + approach_slope(v1, v2, after(t, arg_of(s, EXP_TD1)), arg_of(s, EXP_TAU1), near) +
           approach_slope(v2, v1, after(t, arg_of(s, EXP_TD2)), arg_of(s, EXP_TAU2), near);
}

/* vo + va sin(2 pi fc u + phasec + mdi sin(2 pi fs u + phases)); at: places of these arguments */
static double sffm_slope(const sides *s, dual u, int phasec, int phases)
{
    const dual swing = mul(arg_of(s, SFFM_MDI), tone(s, SFFM_FS, phases, u));
    const dual angle = add(add(turns(s, SFFM_FC, u), angle_of(s, phasec)), swing);
    return add(arg_of(s, SFFM_VO), mul(arg_of(s, SFFM_VA), sine(angle))).d;
}

/* va (vo + signal) carrier */
static double am_slope(const sides *s, dual u)
{
    const dual swing = add(arg_of(s, AM_VO), tone(s, AM_MF, AM_PHASES, u));
    return mul(arg_of(s, AM_VA), mul(swing, tone(s, AM_FC, AM_PHASEC, u))).d;
}

/* vo + (vmo + vma signal) carrier */
static double am_offset_slope(const sides *s, dual u)
{
    const dual signal = mul(arg_of(s, AMO_VMA), tone(s, AMO_FM, AMO_PHASEM, u));
    const dual swing = add(arg_of(s, AMO_VMO), signal);
    return add(arg_of(s, AMO_VO), mul(swing, tone(s, AMO_FC, AMO_PHASEC, u))).d;
}

/* Of a wave that is 0 until its delay, argument td. */
static double slope_behind(const sides *s, double t, int32_t td,
                           double (*slope)(const sides *, dual))
{
    const dual u = after(t, arg_of(s, td));
    return u.v <= near_of(s, t, 0) ? 0 : slope(s, u);
}

static double delayed_sffm_slope(const sides *s, dual u)
{
    return sffm_slope(s, u, SFD_PHASEC, SFD_PHASES);
}

double wave_slope(const wave *w, const wave *lo, const wave *hi, double distance, double t,
                  bool behind)
{
    const sides s = {w, lo, hi, distance, behind};
    if (lo->kind != hi->kind || lo->n_arg != hi->n_arg)
        return (wave_value(hi, t) - wave_value(lo, t)) / distance;
    switch (lo->kind) {
    case WAVE_DC: return (hi->dc - lo->dc) / distance;
    case WAVE_PULSE: return pulse_slope(&s, t);
    case WAVE_SIN: return sin_slope(&s, t);
    case WAVE_EXP: return exp_slope(&s, t);
    case WAVE_PWL: return pwl_slope(&s, t);
    case WAVE_SFFM: return sffm_slope(&s, (dual){t, 0}, SFFM_PHASEC, SFFM_PHASES);
    case WAVE_SFFM_DELAY: return slope_behind(&s, t, SFD_TD, delayed_sffm_slope);
    case WAVE_AM: return slope_behind(&s, t, AM_TD, am_slope);
    case WAVE_AM_OFFSET: return slope_behind(&s, t, AMO_TD, am_offset_slope);
    case WAVE_TRNOISE:
    case WAVE_TRRANDOM: return (wave_value(hi, t) - wave_value(lo, t)) / distance;
    }
    return 0;
}

/* Corners at which the wave jumps: two points of a PWL at one time. */
bool wave_jump_moves(const wave *lo, const wave *hi)
{
    bool moves = false;
    for (int32_t i = 0; lo->kind == WAVE_PWL && hi->kind == WAVE_PWL && lo->n_arg == hi->n_arg &&
                        i + 3 < lo->n_arg;
         i += 2)
        moves |= lo->arg[i] == lo->arg[i + 2] && lo->arg[i + 1] != lo->arg[i + 3] &&
                 (lo->arg[i] != hi->arg[i] || lo->pwl_delay != hi->pwl_delay);
    return moves;
}
