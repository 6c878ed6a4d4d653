/* full_z.c - see full_z.h. */
#include "full_z.h"

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex cplx;

/* Without the checks for infinity of the language. */
static inline cplx times(cplx a, cplx b)
{
    const double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);
    return CMPLX(ar * br - ai * bi, ar * bi + ai * br);
}

static void swap(cplx *a, cplx *b)
{
    const cplx t = *a;
    *a = *b;
    *b = t;
}

bool full_z_factor(double *values, int32_t *pivot, int32_t n)
{
    cplx *a = (cplx *)values;
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++)
            if (cabs(a[(size_t)i * n + k]) > cabs(a[(size_t)best * n + k]))
                best = i;
        pivot[k] = best;
        cplx *top = a + (size_t)k * n, *other = a + (size_t)best * n;
        for (int32_t j = 0; j < n && best != k; j++)
            swap(&top[j], &other[j]);
        if (!(cabs(top[k]) > 0))
            return false;
        for (int32_t i = k + 1; i < n; i++) {
            cplx *row = a + (size_t)i * n;
            const cplx f = row[k] /= top[k];
            for (int32_t j = k + 1; j < n && f != 0; j++)
                row[j] -= times(f, top[j]);
        }
    }
    return true;
}

void full_z_solve(const double *values, const int32_t *pivot, int32_t n, double *vector)
{
    const cplx *a = (const cplx *)values;
    cplx *b = (cplx *)vector;
    for (int32_t k = 0; k < n; k++)
        swap(&b[k], &b[pivot[k]]);
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < k; j++)
            b[k] -= times(a[(size_t)k * n + j], b[j]);
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++)
            b[k] -= times(a[(size_t)k * n + j], b[j]);
        b[k] /= a[(size_t)k * n + k];
    }
}

void full_z_solve_t(const double *values, const int32_t *pivot, int32_t n, double *vector)
{
    const cplx *a = (const cplx *)values;
    cplx *b = (cplx *)vector;
    for (int32_t k = 0; k < n; k++) {
        b[k] /= a[(size_t)k * n + k];
        for (int32_t j = k + 1; j < n; j++)
            b[j] -= times(a[(size_t)k * n + j], b[k]);
    }
    for (int32_t k = n - 1; k >= 0; k--)
        for (int32_t j = 0; j < k; j++)
            b[j] -= times(a[(size_t)k * n + j], b[k]);
    for (int32_t k = n - 1; k >= 0; k--)
        swap(&b[k], &b[pivot[k]]);
}
