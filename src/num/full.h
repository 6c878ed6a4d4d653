/* full.h - full systems of equations: small real ones that are solved once, complex ones by
 * factors. Sparse ones, and larger real ones: lu.h, lu_z.h.
 * Use:    full_solve(a, b, n); full_z_factor, then full_z_solve, full_z_solve_t */
#ifndef FULL_H
#define FULL_H

#include "vs.h"

/* b = A^-1 b; A [n * n] by rows is destroyed. Elimination with row pivots.
 * false: A is singular, b is not a solution. Allocates nothing. */
bool full_solve(double *a, double *b, int32_t n);

/* Factors of a complex A [n * n] by rows, in place; pivot [n]. Elimination with row pivots.
 *   least  in  a pivot of this size or less is none
 * false: A is singular. Allocates nothing. */
bool full_z_factor(double _Complex *a, int32_t *pivot, int32_t n, double least);
/* b = A^-1 b, and with the transpose, not conjugated. */
void full_z_solve(const double _Complex *a, const int32_t *pivot, int32_t n, double _Complex *b);
void full_z_solve_t(const double _Complex *a, const int32_t *pivot, int32_t n, double _Complex *b);

#endif
