/* fft.c - see fft.h. */
#include "fft.h"

#include <math.h>
#include <string.h>

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex cplx;

/* The roots exp(+- 2 pi i k / n), k < n / 2, for vs_free; n: a power of two. */
static cplx *roots(int64_t n, bool inverse)
{
    cplx *root = vs_malloc((size_t)(n / 2 + 1) * sizeof *root);
    for (int64_t k = 0; k < n / 2; k++)
        root[k] = cexp((inverse ? 2 : -2) * I * M_PI * (double)k / (double)n);
    return root;
}

/* n: a power of two, as n_root, which is not below n */
static void power_of_two(cplx *x, int64_t n, const cplx *root, int64_t n_root)
{
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const cplx t = x[i];
            x[i] = x[j];
            x[j] = t;
        }
    }
    for (int64_t len = 2; len <= n; len *= 2)
        for (int64_t k = 0; k < len / 2; k++) {
            const cplx w = root[k * (n_root / len)];
            for (int64_t i = k; i < n; i += len) {
                const cplx u = x[i], v = x[i + len / 2] * w;
                x[i] = u + v;
                x[i + len / 2] = u - v;
            }
        }
}

/* exp(+- i pi k^2 / n); k^2 modulo 2n keeps the angle exact */
static cplx chirp(int64_t k, int64_t n, double sign)
{
    const uint64_t square = (uint64_t)k * (uint64_t)k % (uint64_t)(2 * n);
    return cexp(sign * I * M_PI * (double)square / (double)n);
}

/* Bluestein's algorithm: a convolution with a chirp, by transforms of a power of two. */
static void bluestein(cplx *x, int64_t n, bool inverse)
{
    int64_t m = 1;
    while (m < 2 * n)
        m *= 2;
    cplx *a = vs_calloc((size_t)m, sizeof *a), *b = vs_calloc((size_t)m, sizeof *b);
    const double sign = inverse ? 1 : -1;
    for (int64_t k = 0; k < n; k++) {
        a[k] = x[k] * chirp(k, n, sign);
        b[k] = chirp(k, n, -sign);
        if (k)
            b[m - k] = b[k];
    }
    cplx *there = roots(m, false), *back = roots(m, true);
    power_of_two(a, m, there, m);
    power_of_two(b, m, there, m);
    for (int64_t k = 0; k < m; k++)
        a[k] *= b[k];
    power_of_two(a, m, back, m);
    vs_free(there);
    vs_free(back);
    for (int64_t k = 0; k < n; k++)
        x[k] = a[k] * chirp(k, n, sign) / (double)m;
    vs_free(a);
    vs_free(b);
}

void fft(double *x, int64_t n, bool inverse)
{
    if (n < 2)
        return;
    if (n & (n - 1)) {
        bluestein((cplx *)x, n, inverse);
        return;
    }
    cplx *root = roots(n, inverse);
    power_of_two((cplx *)x, n, root, n);
    vs_free(root);
}

void fft_grid(double *x, const int32_t *dim, int32_t n_dim, bool inverse)
{
    cplx *z = (cplx *)x;
    int64_t total = 1, stride = 1, longest = 1;
    for (int32_t d = 0; d < n_dim; d++) {
        total *= dim[d];
        longest = dim[d] > longest ? dim[d] : longest;
    }
    cplx *root = roots(longest, inverse);
    if (n_dim == 1) {
        power_of_two(z, total, root, longest);
        vs_free(root);
        return;
    }
    cplx *line = vs_malloc((size_t)longest * sizeof *line);
    for (int32_t d = n_dim - 1; d >= 0; d--) {
        const int64_t n = dim[d];
        for (int64_t at = 0; at < total; at++) {
            if (at / stride % n)
                continue; /* not the first of a line of this dimension */
            for (int64_t k = 0; k < n; k++)
                line[k] = z[at + k * stride];
            power_of_two(line, n, root, longest);
            for (int64_t k = 0; k < n; k++)
                z[at + k * stride] = line[k];
        }
        stride *= n;
    }
    vs_free(line);
    vs_free(root);
}
