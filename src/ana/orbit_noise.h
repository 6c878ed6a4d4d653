/* orbit_noise.h - the noise sources of all devices at points along a periodic state, whether
 * harmonic balance (hb_cyclo.c) or shooting (shoot_cyclo.c) found it.
 *
 * Source s drives row r with w_sr(t) xi_s(t): xi_s is stationary with the source's dependence on
 * frequency, S_s(f), w_sr^2 its power (and gain) along the orbit.
 * Use:    {.a, .n_point}; for each point ckt_load_ac with noise there, then orbit_noise_take;
 *         orbit_noise_end in any case. */
#ifndef ORBIT_NOISE_H
#define ORBIT_NOISE_H

#include "small.h"

typedef struct orbit_row { /* one row that a source drives */
    int32_t row;           /* from 1 */
    bool rate;             /* it drives a charge */
    double *w;             /* [n_point] */
} orbit_row;

typedef struct orbit_source {
    ckt_noise unit;    /* of power 1, for the dependence on frequency */
    size_t first, end; /* of orbit_noise.row */
} orbit_source;

typedef struct orbit_noise {
    ana *a;
    size_t n_point;
    orbit_source *source; /* vec */
    orbit_row *row;       /* vec */
    noise_origin *origin; /* vec */
    int32_t *origin_of;   /* vec, of each source */
} orbit_noise;

/* The powers of all sources at a point; point 0 is the first. Allocates there. */
void orbit_noise_take(orbit_noise *s, size_t point);
/* Leaves no sources. */
void orbit_noise_end(orbit_noise *s);
/* S of a source at f, Hz. Infinite or nan: 1/f noise at 0 Hz. */
double orbit_noise_density(const orbit_noise *s, size_t source, double f);
/* S at |f + shift|, Hz, the sideband of a signal at f that lies `shift` away, a multiple of the
 * orbit's frequency. At 0 Hz, or what rounding leaves of it, it is that of white sources; 1/f noise
 * has none there: no line of a grid can have an infinite density. */
double orbit_noise_sideband(const orbit_noise *s, size_t source, double f, double shift);

#endif
