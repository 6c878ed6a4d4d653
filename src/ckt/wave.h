/* wave.h - waveforms of independent sources and their breakpoints.
 * Source: ngspice manual, chapter "Independent sources" (PULSE SIN EXP PWL SFFM AM). Argument 8 of
 *         PULSE is the number of pulses, 0: no end. */
#ifndef WAVE_H
#define WAVE_H

#include "vs.h"

typedef enum wave_kind {
    WAVE_DC, WAVE_PULSE, WAVE_SIN, WAVE_EXP, WAVE_PWL, WAVE_SFFM, WAVE_AM
} wave_kind;
/* Arguments in volt or ampere, seconds, hertz, degrees. Missing ones take the defaults of the manual
 * (they depend on tstep and tstop of the transient run: wave_defaults). */
typedef struct wave {
    wave_kind kind;
    double dc;
    bool dc_given;           /* not given: the dc value is the wave's at t = 0 */
    double ac_mag, ac_phase; /* degrees */
    const double *arg;       /* [n_arg]; PWL: t, v pairs */
    int32_t n_arg;
    double pwl_repeat, pwl_delay; /* repeat < 0: none */
} wave;

/* Checks argument counts and PWL order. NULL if it is right, else a sentence for the user. */
const char *wave_check(const wave *w);
/* Completes arguments that were not given; arg must have room for 8 (PULSE..AM). */
void wave_defaults(wave *w, double *arg, double tstep, double tstop);
double wave_value(const wave *w, double t);
/* Value in static analyses that are not a transient's operating point. */
double wave_dc(const wave *w);
/* First corner strictly after t, +inf if none. O(1) for periodic waves, O(log n) for PWL. */
double wave_next_break(const wave *w, double t);

#endif
