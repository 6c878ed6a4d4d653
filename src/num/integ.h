/* integ.h - implicit integration and prediction with variable steps.
 * Use:    integ_corrector gives the coefficients of d/dt q at the new point from past points,
 *         integ_predictor those of the extrapolation; integ_lte_factor turns the difference of
 *         corrected and predicted unknowns into the truncation error of the step.
 * Source: Brayton, Gustavson & Hachtel, Proc. IEEE 60(1), 1972 (variable-step backward
 *         differentiation); Nagel, SPICE2 (ERL-M520), ch. 6; Alexander, SIAM J. Numer. Anal. 14(6),
 *         1977 (SDIRK2); docs/numerics.md.
 *
 * Past points: t_n, t_{n-1}, ... at the distances past[0] = t_n - t_{n-1}, past[1], ...; the new
 * point is t_n + h. All step lengths in seconds, > 0. */
#ifndef INTEG_H
#define INTEG_H

#include "vs.h"

#define INTEG_MAX_ORDER 5 /* of the coefficients below; the analyses use orders 1 and 2 */

typedef enum integ_method {
    INTEG_TRAP,    /* order 1: backward Euler, order 2: trapezoidal */
    INTEG_GEAR,    /* backward differentiation, order 1: backward Euler */
    INTEG_SDIRK_A, /* first stage of SDIRK2: backward Euler to t_n + gamma h */
    INTEG_SDIRK_B, /* second stage: a[0] q_n + b k_1, k_1 = dq/dt of the first stage */
} integ_method;

/* dq/dt at the new point = alpha q + sum_i a[i] q_{n-i} + b (dq/dt)_n.
 * err: numerical minus true solution of one step = err * x^(order+1), in s^(order+1). */
typedef struct integ_coef {
    int order, n_past; /* q values used: a[0..n_past-1] */
    double alpha;      /* 1/s */
    double a[INTEG_MAX_ORDER];
    double b; /* no dimension */
    double err;
} integ_coef;

/* x_pred = sum_i w[i] x_{n-i}, exact for polynomials of degree `order`; order + 1 past points.
 * err: predicted minus true = -err * x^(order+1). */
typedef struct integ_pred {
    int order;
    double w[INTEG_MAX_ORDER + 1];
    double err;
} integ_pred;

/* Stage position of SDIRK2: 1 - 1/sqrt(2), which makes it L-stable of order 2. */
#define INTEG_SDIRK_GAMMA 0.29289321881345247560

/* order 1..2 for TRAP, 1..INTEG_MAX_ORDER for GEAR (order - 1 entries of past are read), ignored by
 * SDIRK, whose h is the whole step. */
void integ_corrector(integ_method m, int order, double h, const double *past, integ_coef *c);
/* Reads past[0..order-1]. */
void integ_predictor(int order, double h, const double *past, integ_pred *p);
/* Truncation error of the corrector per unit of (corrected - predicted); orders must agree. */
double integ_lte_factor(const integ_coef *c, const integ_pred *p);

#endif
