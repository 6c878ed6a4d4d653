/* wave.h - waveforms of independent sources and their breakpoints.
 * Source: ngspice manual, chapter "Independent sources" (PULSE SIN EXP PWL SFFM AM). Argument 8 of
 *         PULSE is the number of pulses, 0: no end. Random ones: wave_noise.h. */
#ifndef WAVE_H
#define WAVE_H

#include "vs.h"

typedef enum wave_kind {
    WAVE_DC,
    WAVE_PULSE,
    WAVE_SIN,
    WAVE_EXP,
    WAVE_PWL,
    WAVE_SFFM,
    WAVE_AM,
    WAVE_AM_OFFSET, /* AM and SFFM with all their eight values, as newer versions of ngspice have */
    WAVE_SFFM_DELAY, /* them: other places, and a delay */
    WAVE_TRNOISE,
    WAVE_TRRANDOM
} wave_kind;
/* Arguments in volt or ampere, seconds, hertz, degrees. Missing ones take the defaults of the
 * manual (they depend on tstep and tstop of the transient run: wave_defaults). */
typedef struct wave {
    wave_kind kind;
    double dc;
    bool dc_given;                       /* not given: the dc value is the wave's at t = 0 */
    double ac_mag, ac_phase;             /* degrees */
    double disto_mag[2], disto_phase[2]; /* distof1, distof2; degrees */
    const double *arg;                   /* [n_arg]; PWL: t, v pairs */
    int32_t n_arg;
    double pwl_repeat, pwl_delay; /* repeat < 0: none */
    uint64_t key;                 /* of the draws of TRNOISE and TRRANDOM */
    double *memo; /* TRNOISE: [3] number of the sample used last, it and the next; NULL: not kept */
} wave;

/* Checks argument counts and PWL order. NULL if it is right, else a sentence for the user. */
const char *wave_check(const wave *w);
/* Completes arguments that were not given; arg must have room for WAVE_ARGS (all but PWL). */
enum { WAVE_ARGS = 11 };
void wave_defaults(wave *w, double *arg, double tstep, double tstop);
/* After wave_defaults: how far apart the corners are that come again and again, s; INFINITY: there
 * are none. */
double wave_interval(const wave *w);
/* At a jump the value before it, since integration starts anew behind each corner, from the charges
 * alone. */
double wave_value(const wave *w, double t);
/* The derivative of w by a parameter that is moved to both sides, by `distance` in all; at a corner
 * that of the piece before or behind it. Times of jumps are held: see wave_jump_moves. */
double wave_slope(const wave *w, const wave *lo, const wave *hi, double distance, double t,
                  bool behind);
/* Whether the time of a jump differs between them: there the derivative has a part that a value at
 * a time does not have. */
bool wave_jump_moves(const wave *lo, const wave *hi);
/* Value in static analyses that are not a transient's operating point. */
double wave_dc(const wave *w);
/* The largest |value| that it comes to, as DC PULSE SIN EXP PWL say; 0: it is 0, or not known. */
double wave_most(const wave *w);
/* First corner strictly after t, +inf if none. O(1) for periodic waves, O(log n) for PWL. */
double wave_next_break(const wave *w, double t);

#endif
