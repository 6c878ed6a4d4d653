/* shoot_lossy.h - shooting: what one lossy line remembers besides its waves.
 *
 * With A_p = y*u_p + (zi or v)_p and the sums of exponentials of rlgc.h the equation of port p is
 *   y*u_p - (zi or v)_p - e*A_q + c_p = 0
 *   y*u = (y0 + sum m_k) u - sum m_k z_k + direct du/dt,   dz_k/dt = sigma_k (u - z_k)
 *   e*A = gain a + sum (w_k/sigma_k) z'_k,   a = A(t - delay),   dz'_k/dt = sigma_k (a - z'_k)
 * The filters are integrated by the shooting's own rule, in a stage
 *   z = (sigma u + h)/(alpha + sigma),   h = alpha z_n - sum_j w_j k_j - b k_n + a (z_n - z_n-1)
 * A periodic state has passed infinitely many periods: with y what a period makes of z(0) = 0, and
 * y(1) of that with 1 at the input, z(0) -> z(0) + y(u - z(0))/y(1). That is right for time
 * constants of any length, and they do not limit how Newton's method converges.
 *
 * At 0 Hz these equations are of no use without G or without R: with y = 0, e = 1 both say that
 * i_1 = -i_2. The constants c_p are unknowns, and the equations for them are the line's static
 * ones, of the means of v and i over the period:
 *   v_p - R/(a z) zi_p - b/a v_q = 0   or   G z/a v_p - zi_p - b/a zi_q = 0
 * with a = lambda coth(lambda), b = lambda/sinh(lambda). c_p also takes what sums of exponentials
 * are short of at 0 Hz.
 * Use: shoot_line.c. */
#ifndef SHOOT_LOSSY_H
#define SHOOT_LOSSY_H

#include "shoot.h"

typedef struct shoot_lossy shoot_lossy;     /* a line */
typedef struct shoot_filters shoot_filters; /* its integrals in a pass, or changes of them */

/* Of the line `r`, for periods around `period` s. */
shoot_lossy *shoot_lossy_new(const struct rlgc *r, double period);
void shoot_lossy_free(shoot_lossy **l);
size_t shoot_lossy_n_tail(const shoot_lossy *l); /* unknowns of the state */
/* First values from v and zi of ports 1, 2, [np] each, at times `at` in periods: the tail, and the
 * waves a [np] of both. */
void shoot_lossy_first(const shoot_lossy *l, double period, size_t np, const double *at,
                       double *const v[2], double *const zi[2], double *const a[2], double *tail);
/* New steps, or another period. */
void shoot_lossy_span(ana_shot *s, shoot_lossy *l);

shoot_filters *shoot_filters_new(shoot_lossy *l);
void shoot_filters_free(shoot_filters **f);
/* records: ln T is an unknown, and this is the pass. */
void shoot_filters_begin(shoot_filters *f, const double *tail, bool records);
void shoot_filters_end(shoot_filters *f, double *tail);
/* Stage g of the period; in: the wave of each port one delay before. *eq is the equation then. */
void shoot_filters_stage(shoot_filters *f, const shoot_stage *g, double period, const double in[2],
                         double dlnt, nat_now *eq);
/* With v and zi of the stage; a: the waves that leave. */
void shoot_filters_advance(shoot_filters *f, const shoot_stage *g, const double v[2],
                           const double zi[2], double a[2]);
/* SDIRK4, at the end of a step: the difference to the embedded method, in what a port gets. */
double shoot_filters_error(const shoot_filters *f, const shoot_stage *g);
/* The equation if the integrals hold: its coefficients, s is 0. */
void shoot_lossy_rest(const shoot_lossy *l, double alpha, nat_now *eq);

#endif
