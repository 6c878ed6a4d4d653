/* rlgc.h - a uniform transmission line with losses as sums of exponentials: its exact impulse
 * responses, written as integrals along the branch cut of its transfer functions and these by
 * Gauss-Legendre rules.
 * Use:    rlgc_kind_of; rlgc_make once for a line; rlgc_y, rlgc_lambda for ac; rlgc_static for dc.
 * Source: the line's equations and responses: Roychowdhury & Pederson, "Efficient transient
 *         simulation of lossy interconnect", DAC 1991; convolution with exponentials by recursion:
 *         Semlyen & Dabuleanu, IEEE Trans. PAS 94(2), 1975. The integral is that of Bromwich with
 *         its contour put around the cut.
 *
 * v_p, i_p are voltage and current (into the line) of port p; R, L, G, C are of the whole length.
 * With
 *   lambda(s) = sqrt((R + s L)(G + s C)),  A_p = y(s) v_p + z i_p,  B_p = y(s) v_p - z i_p
 * the line is B_1 = exp(-lambda) A_2, B_2 = exp(-lambda) A_1. z is a constant. For s -> inf y stays
 * bounded, or grows as sqrt(s) if the line has no L. Where G/C > R/L (or C = 0) y would be an
 * integrator: then the filter is on the currents, A_p = v_p + y(s) z i_p, B_p = v_p - y(s) z i_p
 * with the roles of (R, L) and (G, C) exchanged.
 *   y(s)              = y0 + s (direct + sum_k m_k/(s + sigma_k))
 *   exp(-lambda(s))   = gain exp(-s delay) + exp(-s delay) sum_k w_k/(s + sigma_k)
 * with all m_k >= 0, sigma_k >= 0. Errors are below 1e-9 of the largest value for times up to
 * t_end. */
#ifndef RLGC_H
#define RLGC_H

#include <complex.h>

#include "arena.h"

typedef enum rlgc_kind { RLGC_NONE, RLGC_IDEAL, RLGC_LOSSY } rlgc_kind;

typedef struct rlgc {
    double r, l, g, c; /* ohm, henry, siemens, farad of the whole line */
    bool on_current;
    double z, y0, direct; /* ohm, 1, second */
    double delay, gain;   /* second, 1 */
    int32_t n;
    double *sigma, *m, *w; /* [n] 1/s, 1, 1/s; owned by the arena */
} rlgc;

/* NONE: no line (no series element, or nothing across); IDEAL: L and C alone. All >= 0. */
rlgc_kind rlgc_kind_of(double r, double l, double g, double c);
/* A lossy line; t_end > 0: the longest time of interest, in seconds. */
void rlgc_make(rlgc *line, double r, double l, double g, double c, double t_end, arena *mem);
/* y and lambda at a complex frequency. */
double complex rlgc_y(const rlgc *line, double complex s);
double complex rlgc_lambda(const rlgc *line, double complex s);
/* lambda coth(lambda) and lambda/sinh(lambda): (R + s L) i_1 = a v_1 - b v_2, (G + s C) v_1 = a i_1
 * + b i_2. */
void rlgc_hyperbolic(double complex lambda, double complex *a, double complex *b);
/* (1 - exp(-x))/x and (1 - that)/x: answers of exp(-x) to a step and to a ramp; x >= 0. */
double rlgc_step(double x);
double rlgc_ramp(double x);

#endif
