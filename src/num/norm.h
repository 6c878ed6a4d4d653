/* norm.h - small helpers for loops over vectors. Vectors [n+1], element 0 belongs to the reference. */
#ifndef NORM_H
#define NORM_H

#include "vs.h"

/* Larger of two numbers that are not NaN. Unlike fmax it compiles to one instruction. */
static inline double norm_max(double a, double b) { return a > b ? a : b; }

/* Whether v[1..n] holds no infinity and no NaN. Sums apart, for the loop to run over vectors. */
static inline bool norm_finite(const double *v, int32_t n)
{
    double s[8] = {0};
    int32_t i = 1;
    for (; i + 8 <= n + 1; i += 8)
        for (int k = 0; k < 8; k++)
            s[k] += v[i + k] * 0.0; /* 0 or NaN */
    for (; i <= n; i++)
        s[0] += v[i] * 0.0;
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) == 0;
}

#endif
