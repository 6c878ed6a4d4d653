/* full.h - small full systems of equations, solved once. Larger or repeated ones: lu.h.
 * Use:    full_solve(a, b, n) */
#ifndef FULL_H
#define FULL_H

#include "vs.h"

/* b = A^-1 b; A [n * n] by rows is destroyed. Elimination with row pivots.
 * false: A is singular, b is not a solution. Allocates nothing. */
bool full_solve(double *a, double *b, int32_t n);

#endif
