/* fft.c - see fft.h. Real and imaginary parts are arrays of their own, so that butterflies are
 * operations on contiguous vectors. */
#include "fft.h"

#include <math.h>
#include <string.h>

#include "cplx.h"

typedef struct fft_dim {
    int64_t n, stride; /* values; from one to the next */
    int64_t n_swap;    /* pairs whose numbers have the opposite order of bits */
    int64_t *swap;     /* [n_swap][2] */
    double *root[2];   /* [n - 1] re, im of exp(-pi i k / half), k < half, for half = 1, 2, 4 ... */
} fft_dim;

struct fft_plan {
    int32_t n_dim;
    int64_t total;
    fft_dim dim[];
};

static void dim_make(fft_dim *d, int64_t n, int64_t stride)
{
    *d = (fft_dim){.n = n, .stride = stride};
    d->swap = vs_malloc((size_t)(n + 1) * sizeof *d->swap);
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            d->swap[2 * d->n_swap] = i;
            d->swap[2 * d->n_swap++ + 1] = j;
        }
    }
    for (int part = 0; part < 2; part++)
        d->root[part] = vs_malloc((size_t)n * sizeof(double));
    for (int64_t half = n / 2; half > 0; half /= 2)
        for (int64_t k = 0; k < half; k++) {
            const int64_t at = half - 1 + k, twice = 2 * half - 1 + 2 * k;
            const bool first = half == n / 2;
            const cplx w = first ? cexp(-I * M_PI * (double)k / (double)half) : 0;
            d->root[0][at] = first ? creal(w) : d->root[0][twice];
            d->root[1][at] = first ? cimag(w) : d->root[1][twice];
        }
}

static fft_plan *plan_of(int32_t n_dim)
{
    fft_plan *p = vs_calloc(1, sizeof *p + (size_t)n_dim * sizeof *p->dim);
    p->n_dim = n_dim;
    p->total = 1;
    return p;
}

fft_plan *fft_plan_make(const int32_t *dim, int32_t n_dim)
{
    fft_plan *p = plan_of(n_dim);
    for (int32_t d = n_dim - 1; d >= 0; d--) {
        dim_make(&p->dim[d], dim[d], p->total);
        p->total *= dim[d];
    }
    return p;
}

static fft_plan *plan_of_line(int64_t n)
{
    fft_plan *p = plan_of(1);
    dim_make(&p->dim[0], n, 1);
    p->total = n;
    return p;
}

void fft_plan_free(fft_plan **plan)
{
    fft_plan *p = *plan;
    *plan = NULL;
    for (int32_t d = 0; p && d < p->n_dim; d++) {
        vs_free(p->dim[d].swap);
        vs_free(p->dim[d].root[0]);
        vs_free(p->dim[d].root[1]);
    }
    vs_free(p);
}

/* a + w b and a - w b into a and b, n of each. */
VS_CLONES static void butterflies(double *restrict ar, double *restrict ai, double *restrict br,
                                  double *restrict bi, const double *restrict wr,
                                  const double *restrict wi, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const double vr = br[k] * wr[k] - bi[k] * wi[k], vi = br[k] * wi[k] + bi[k] * wr[k];
        br[k] = ar[k] - vr;
        bi[k] = ai[k] - vi;
        ar[k] += vr;
        ai[k] += vi;
    }
}

/* The same with one root for all. */
VS_CLONES static void butterflies_of(double *restrict ar, double *restrict ai, double *restrict br,
                                     double *restrict bi, double wr, double wi, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const double vr = br[k] * wr - bi[k] * wi, vi = br[k] * wi + bi[k] * wr;
        br[k] = ar[k] - vr;
        bi[k] = ai[k] - vi;
        ar[k] += vr;
        ai[k] += vi;
    }
}

/* half = 1 and 2 of a contiguous line at once: their roots are 1 and -i. */
static void first_two(double *re, double *im, int64_t n)
{
    for (int64_t b = 0; b < n; b += 4) {
        double *r = re + b, *i = im + b;
        const double r0 = r[0] + r[1], r1 = r[0] - r[1], r2 = r[2] + r[3], r3 = r[2] - r[3],
                     i0 = i[0] + i[1], i1 = i[0] - i[1], i2 = i[2] + i[3], i3 = i[2] - i[3];
        r[0] = r0 + r2;
        i[0] = i0 + i2;
        r[2] = r0 - r2;
        i[2] = i0 - i2;
        r[1] = r1 + i3;
        i[1] = i1 - r3;
        r[3] = r1 - i3;
        i[3] = i1 + r3;
    }
}

static void line(const fft_dim *d, double *re, double *im)
{
    for (int64_t s = 0; s < d->n_swap; s++) {
        const int64_t i = d->swap[2 * s], j = d->swap[2 * s + 1];
        const double r = re[i], m = im[i];
        re[i] = re[j];
        im[i] = im[j];
        re[j] = r;
        im[j] = m;
    }
    if (d->n >= 4)
        first_two(re, im, d->n);
    for (int64_t half = d->n >= 4 ? 4 : 1; half < d->n; half *= 2)
        for (int64_t b = 0; b < d->n; b += 2 * half)
            butterflies(re + b, im + b, re + b + half, im + b + half, d->root[0] + half - 1,
                        d->root[1] + half - 1, half);
}

static void exchange(double *a, double *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const double t = a[k];
        a[k] = b[k];
        b[k] = t;
    }
}

/* Lines side by side, d->stride of them. */
static void lines(const fft_dim *d, double *re, double *im)
{
    const int64_t m = d->stride;
    for (int64_t s = 0; s < d->n_swap; s++) {
        const int64_t i = d->swap[2 * s] * m, j = d->swap[2 * s + 1] * m;
        exchange(re + i, re + j, m);
        exchange(im + i, im + j, m);
    }
    for (int64_t half = 1; half < d->n; half *= 2)
        for (int64_t b = 0; b < d->n; b += 2 * half)
            for (int64_t k = 0; k < half; k++) {
                const int64_t i = (b + k) * m, j = i + half * m;
                butterflies_of(re + i, im + i, re + j, im + j, d->root[0][half - 1 + k],
                               d->root[1][half - 1 + k], m);
            }
}

void fft_run(const fft_plan *p, double *re, double *im, bool inverse)
{
    if (inverse) { /* exchanging re and im before and behind changes the sign of the exponent */
        double *const t = re;
        re = im;
        im = t;
    }
    for (int32_t k = p->n_dim - 1; k >= 0; k--) {
        const fft_dim *d = &p->dim[k];
        const int64_t block = d->n * d->stride;
        for (int64_t at = 0; at < p->total; at += block)
            (d->stride == 1 ? line : lines)(d, re + at, im + at);
    }
}

/* -- one transform -- */

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
    double *a = vs_calloc(4 * (size_t)m, sizeof *a), *ai = a + m, *b = ai + m, *bi = b + m;
    const double sign = inverse ? 1 : -1;
    for (int64_t k = 0; k < n; k++) {
        const cplx u = x[k] * chirp(k, n, sign), v = chirp(k, n, -sign);
        const int64_t mirrored = k ? m - k : 0;
        a[k] = creal(u);
        ai[k] = cimag(u);
        b[k] = b[mirrored] = creal(v);
        bi[k] = bi[mirrored] = cimag(v);
    }
    fft_plan *p = plan_of_line(m);
    fft_run(p, a, ai, false);
    fft_run(p, b, bi, false);
    for (int64_t k = 0; k < m; k++) {
        const double re = a[k] * b[k] - ai[k] * bi[k];
        ai[k] = a[k] * bi[k] + ai[k] * b[k];
        a[k] = re;
    }
    fft_run(p, a, ai, true);
    fft_plan_free(&p);
    for (int64_t k = 0; k < n; k++)
        x[k] = (a[k] + I * ai[k]) * chirp(k, n, sign) / (double)m;
    vs_free(a);
}

void fft(double *x, int64_t n, bool inverse)
{
    if (n < 2)
        return;
    if (n & (n - 1)) {
        bluestein((cplx *)x, n, inverse);
        return;
    }
    double *re = vs_malloc(2 * (size_t)n * sizeof *re), *im = re + n;
    for (int64_t k = 0; k < n; k++) {
        re[k] = x[2 * k];
        im[k] = x[2 * k + 1];
    }
    fft_plan *p = plan_of_line(n);
    fft_run(p, re, im, inverse);
    fft_plan_free(&p);
    for (int64_t k = 0; k < n; k++) {
        x[2 * k] = re[k];
        x[2 * k + 1] = im[k];
    }
    vs_free(re);
}
