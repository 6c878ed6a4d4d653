/* wave_priv.h - between wave.c (values, corners) and wave_slope.c (derivatives): places of
 * arguments, and what both compute of times. */
#ifndef WAVE_PRIV_H
#define WAVE_PRIV_H

#include "wave_noise.h"

#include <float.h>
#include <math.h>

enum { PULSE_V1, PULSE_V2, PULSE_TD, PULSE_TR, PULSE_TF, PULSE_PW, PULSE_PER, PULSE_NP };
enum { SIN_VO, SIN_VA, SIN_FREQ, SIN_TD, SIN_THETA, SIN_PHASE };
enum { EXP_V1, EXP_V2, EXP_TD1, EXP_TAU1, EXP_TD2, EXP_TAU2 };
enum { SFFM_VO, SFFM_VA, SFFM_FC, SFFM_MDI, SFFM_FS, SFFM_PHASEC, SFFM_PHASES };
enum { AM_VA, AM_VO, AM_MF, AM_FC, AM_TD, AM_PHASEC, AM_PHASES };
enum { SFD_VO, SFD_VA, SFD_FC, SFD_MDI, SFD_FS, SFD_TD, SFD_PHASES, SFD_PHASEC };
enum { AMO_VO, AMO_VMO, AMO_VMA, AMO_FM, AMO_FC, AMO_TD, AMO_PHASEM, AMO_PHASEC };

static inline double radian(double degree) { return degree * (M_PI / 180); }

static inline double arg_at(const wave *w, int32_t i) { return i < w->n_arg ? w->arg[i] : 0; }

/* Corners that rounding alone keeps apart (the end of a pulse that fills its period and the start
 * of the next) count as one: a corner must lie this much after t. */
static inline double resolution(double t, double span)
{
    return 4 * DBL_EPSILON * (fabs(t) + fabs(span));
}

#endif
