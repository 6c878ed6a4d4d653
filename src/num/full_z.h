/* full_z.h - factors of full complex matrices, for some hundred unknowns. One real system: full.h.
 * Use:    full_z_factor; full_z_solve, full_z_solve_t
 * Matrices are stored by rows; numbers are pairs of doubles, re and im in turn. */
#ifndef FULL_Z_H
#define FULL_Z_H

#include "vs.h"

/* a [n][n] becomes its factors, with row pivots pivot [n]. false: it is singular. Allocates
 * nothing, nor do the others. */
bool full_z_factor(double *a, int32_t *pivot, int32_t n);
/* b [n] becomes A^-1 b; of the transpose, which is not conjugated. */
void full_z_solve(const double *a, const int32_t *pivot, int32_t n, double *b);
void full_z_solve_t(const double *a, const int32_t *pivot, int32_t n, double *b);

#endif
