/* nat_delay.h - native devices: delays of signals (absdelay in models).
 *
 * An unknown y whose row is, with the unknowns u and d of the same instance,
 *   static      y - u = 0
 *   transient   y - u(t - d) = 0; u of accepted points is the history (nat_past.h). Where the step
 *               is longer than d, u is the parabola (beside a corner the straight line) through the
 *               last points and the one that is solved for
 *   ac          y - exp(-j omega d) u = 0, d being that of the operating point */
#ifndef NAT_DELAY_H
#define NAT_DELAY_H

#include "nat.h"

/* most: the unknown that is the largest d ever; -1: d is constant. */
void nat_delay_add(nat_list *l, int32_t u, int32_t y, int32_t d, int32_t most);

/* Adds y' dA/dd z of each delay at omega, after nat_load_ac, to[unknown that d is] (real part). */
void nat_delay_phasors(const nat_list *l, double omega, const double _Complex *y,
                       const double _Complex *z, double *to);

/* The unknown that the delay is at x; 0: it is cut off at 0. */
int32_t nat_delay_by(int32_t d, int32_t most, const double *x);

/* Numbers that nat_note notes of each: the derivative of the delayed signal by time, in front of a
 * corner that arrives and behind it. */
enum { NAT_DELAY_NOTE = 2 };

/* The points near [3], 1 .. 3 of them, that give u at `at` in a step to t behind the points p [n];
 * the one at t is that which is solved for. */
struct line_point;
int nat_delay_points(const struct line_point *p, size_t n, double t, double at,
                     struct line_point *near);

#endif
