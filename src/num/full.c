/* full.c - see full.h. */
#include "full.h"

#include <math.h>

bool full_solve(double *a, double *b, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++)
            p = fabs(a[i * n + k]) > fabs(a[p * n + k]) ? i : p;
        if (!(fabs(a[p * n + k]) > 0))
            return false;
        for (int32_t j = k; j < n && p != k; j++) {
            const double t = a[p * n + j];
            a[p * n + j] = a[k * n + j];
            a[k * n + j] = t;
        }
        const double t = b[p];
        b[p] = b[k];
        b[k] = t;
        for (int32_t i = k + 1; i < n; i++) {
            const double w = a[i * n + k] / a[k * n + k];
            for (int32_t j = k + 1; j < n && w != 0; j++)
                a[i * n + j] -= w * a[k * n + j];
            b[i] -= w * b[k];
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++)
            b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
    return true;
}
