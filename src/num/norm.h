/* norm.h - small helpers for loops over vectors. Vectors [n+1], element 0 belongs to the reference.
 */
#ifndef NORM_H
#define NORM_H

#include "vs.h"

/* Larger of two numbers that are not NaN. Unlike fmax it compiles to one instruction. */
static inline double norm_max(double a, double b) { return a > b ? a : b; }
/* The smaller; like fmin, b where a is NaN. */
static inline double norm_min(double a, double b) { return a < b ? a : b; }

/* Whether v[1..n] holds no infinity and no NaN. */
bool norm_finite(const double *v, int32_t n);

#endif
