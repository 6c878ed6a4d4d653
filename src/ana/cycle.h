/* cycle.h - the last period of a transient, recorded, or that of an orbit: where periodic states
 * begin.
 * Use:    cycle_record or cycle_of_orbit; cycle_at; cycle_fini */
#ifndef CYCLE_H
#define CYCLE_H

#include "ana_priv.h"

typedef struct cycle {
    double *t, *x;        /* vecs: times of points in s; [n+1] of each */
    double *corner;       /* vec: times of breakpoints, ascending, of lines and delays too */
    double begin, period; /* s; the points reach from before begin to behind begin + period */
} cycle;

/* Runs a transient of `tstab` s and keeps its last period. Of a driven circuit it begins at the
 * first multiple of 1 / o->tone[0] behind tstab; that of an oscillator is the time between the last
 * two rises of o->probe through the middle of its range.
 *   sink  in  progress and stop; its points are not used
 * Status: VS_OK; VS_EINPUT: no oscillation (message); those of ana_tran. *c is for cycle_fini. */
VS_MUST_USE vs_status cycle_record(ana *a, const ana_hb_opt *o, const ana_sink *sink, double tstab,
                                   cycle *c);
/* The same of an orbit that harmonic balance found: n points of its period. Behind tstab, and where
 * its sources have started; that of an oscillator begins at a rise too. */
void cycle_of_orbit(const ana_orbit *orbit, const ana_hb_opt *o, double tstab, int32_t n, cycle *c);
/* x [n+1] at t s, on straight lines between points. *k: where the search begins, 0 at first; times
 * that are asked for ascend. */
void cycle_at(const cycle *c, size_t n1, double t, size_t *k, double *x);
void cycle_fini(cycle *c);

#endif
