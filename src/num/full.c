/* full.c - see full.h. */
#include "full.h"

#include <math.h>

#include "cplx.h"

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

/* -- complex -- */

bool full_z_factor(cplx *a, int32_t *pivot, int32_t n, double least)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t best = k;
        for (int32_t i = k + 1; i < n; i++)
            if (cabs(a[(size_t)i * n + k]) > cabs(a[(size_t)best * n + k]))
                best = i;
        pivot[k] = best;
        cplx *top = a + (size_t)k * n, *other = a + (size_t)best * n;
        for (int32_t j = 0; j < n && best != k; j++) {
            const cplx t = top[j];
            top[j] = other[j];
            other[j] = t;
        }
        if (!(cabs(top[k]) > least))
            return false;
        for (int32_t i = k + 1; i < n; i++) {
            cplx *row = a + (size_t)i * n;
            const cplx f = row[k] /= top[k];
            for (int32_t j = k + 1; j < n && f != 0; j++)
                row[j] -= cplx_times(f, top[j]);
        }
    }
    return true;
}

static void swap(cplx *b, int32_t i, int32_t k)
{
    const cplx t = b[i];
    b[i] = b[k];
    b[k] = t;
}

void full_z_solve(const cplx *a, const int32_t *pivot, int32_t n, cplx *b)
{
    for (int32_t k = 0; k < n; k++)
        swap(b, pivot[k], k);
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < k; j++)
            b[k] -= cplx_times(a[(size_t)k * n + j], b[j]);
    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++)
            b[k] -= cplx_times(a[(size_t)k * n + j], b[j]);
        b[k] /= a[(size_t)k * n + k];
    }
}

void full_z_solve_t(const cplx *a, const int32_t *pivot, int32_t n, cplx *b)
{
    for (int32_t k = 0; k < n; k++) {
        b[k] /= a[(size_t)k * n + k];
        for (int32_t j = k + 1; j < n; j++)
            b[j] -= cplx_times(a[(size_t)k * n + j], b[k]);
    }
    for (int32_t k = n - 1; k >= 0; k--)
        for (int32_t j = 0; j < k; j++)
            b[j] -= cplx_times(a[(size_t)k * n + j], b[k]);
    for (int32_t k = n - 1; k >= 0; k--)
        swap(b, pivot[k], k);
}
