/* norm.h - small helpers for loops over vectors. */
#ifndef NORM_H
#define NORM_H

#include "vs.h"

/* Larger of two numbers that are not NaN. Unlike fmax it compiles to one instruction. */
static inline double norm_max(double a, double b) { return a > b ? a : b; }
/* The smaller; like fmin, b where a is NaN. */
static inline double norm_min(double a, double b) { return a < b ? a : b; }

/* Whether none of v[0..n-1] is an infinity or a NaN. */
bool norm_finite(const double *v, int32_t n);
/* The same of v[0..n-1], w[0..n-1] (NULL: of none) and a[0..n_a-1], in one call. */
bool norm_finite_all(const double *v, const double *w, int32_t n, const double *a, int32_t n_a);

#endif
