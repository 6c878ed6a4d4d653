/* recycle.c - see recycle.h. */
#include "recycle.h"

#include <math.h>
#include <string.h>

#include "full.h"
#include "vec.h"

#include "cplx.h"

/* Of its length, what a vector has outside of V to add to it. What operators differ by is divided
 * by this. */
static const double independent = 1e-2;

static cplx *row(const recycle *r, double *of, int32_t k)
{
    return (cplx *)of + (size_t)k * (size_t)r->n;
}

/* a' b, a conjugated. */
static cplx dot(const cplx *a, const cplx *b, int64_t n)
{
    double re = 0, im = 0;
    for (int64_t i = 0; i < n; i++) {
        re += creal(a[i]) * creal(b[i]) + cimag(a[i]) * cimag(b[i]);
        im += creal(a[i]) * cimag(b[i]) - cimag(a[i]) * creal(b[i]);
    }
    return CMPLX(re, im);
}

static void add(cplx by, const cplx *a, cplx *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += cplx_times(by, a[i]);
}

void recycle_begin(recycle *r, int64_t n)
{
    enum { MOST = 128 };
    static const double most_numbers = 6e6;
    const double fit = most_numbers / (2 * (double)n + 1);
    const int32_t most = fit > MOST ? MOST : (int32_t)fit;
    const size_t all = 2 * (size_t)n * (size_t)most + 1, square = 2 * (size_t)most * (size_t)most;
    *r = (recycle){.n = n, .most = most};
    r->v = vs_malloc(all * sizeof *r->v);
    r->w = vs_malloc(all * sizeof *r->w);
    r->core = vs_malloc((square + 1) * sizeof *r->core);
    r->factor = vs_malloc((square + 1) * sizeof *r->factor);
    r->pivot = vs_malloc(((size_t)most + 1) * sizeof *r->pivot);
}

void recycle_end(recycle *r)
{
    void *const own[] = {r->v, r->w, r->core, r->factor, r->pivot};
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
    vec_free(r->fresh);
    *r = (recycle){0};
}

void recycle_add(recycle *r, const double *x, const double *px)
{
    const size_t n = 2 * (size_t)r->n, at = vec_len(r->fresh);
    if (at >= 2 * n * (size_t)r->most)
        return;
    vec_extend(r->fresh, 2 * n);
    memcpy(r->fresh + at, x, n * sizeof *x);
    memcpy(r->fresh + at + n, px, n * sizeof *px);
}

/* x becomes what it has outside of V, c [n_basis] what it has within. */
static void split(const recycle *r, cplx *x, cplx *c)
{
    enum { TWICE = 2 }; /* rounding leaves nothing then */
    memset(c, 0, (size_t)r->n_basis * sizeof *c);
    for (int pass = 0; pass < TWICE; pass++)
        for (int32_t i = 0; i < r->n_basis; i++) {
            const cplx by = dot(row(r, r->v, i), x, r->n);
            add(-by, row(r, r->v, i), x, r->n);
            c[i] += by;
        }
}

/* Takes a product in; x, px [n] are overwritten. */
static void take(recycle *r, cplx *x, cplx *px, cplx *c)
{
    const int64_t n = r->n;
    const double size = sqrt(creal(dot(x, x, n)));
    split(r, x, c);
    const double out = sqrt(creal(dot(x, x, n)));
    double in = 0;
    for (int32_t i = 0; i < r->n_basis; i++) {
        add(-c[i], row(r, r->w, i), px, n);
        in += creal(c[i] * conj(c[i]));
    }
    if (!(size > 0 && size < INFINITY && creal(dot(px, px, n)) < INFINITY))
        return;
    if (out > independent * size && r->n_basis < r->most) {
        cplx *v = row(r, r->v, r->n_basis), *w = row(r, r->w, r->n_basis);
        for (int64_t i = 0; i < n; i++) {
            v[i] = x[i] / out;
            w[i] = px[i] / out;
        }
        r->n_basis++;
    } else if (out <= independent * size) {
        for (int32_t i = 0; i < r->n_basis; i++)
            add(conj(c[i]) / in, px, row(r, r->w, i), n);
    }
    r->changed = true;
}

static void make_core(recycle *r)
{
    const int32_t m = r->n_basis;
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < m; j++)
            ((cplx *)r->core)[(size_t)i * m + j] = dot(row(r, r->v, i), row(r, r->w, j), r->n);
    r->changed = false;
}

void recycle_prepare(recycle *r, const double turn[2])
{
    const size_t n = 2 * (size_t)r->n;
    cplx *c = vs_malloc(((size_t)r->most + 1) * sizeof *c);
    for (size_t at = 0; at < vec_len(r->fresh); at += 2 * n)
        take(r, (cplx *)(r->fresh + at), (cplx *)(r->fresh + at + n), c);
    vec_clear(r->fresh);
    vs_free(c);
    if (r->changed)
        make_core(r);
    const int32_t m = r->n_basis;
    const cplx t = CMPLX(turn[0], turn[1]);
    for (int32_t i = 0; i < m * m; i++)
        ((cplx *)r->factor)[i] = (i / m == i % m) - cplx_times(t, ((cplx *)r->core)[i]);
    r->turn[0] = turn[0];
    r->turn[1] = turn[1];
    if (!full_z_factor((cplx *)r->factor, r->pivot, m, 0))
        r->n_basis = 0;
}

void recycle_apply(const recycle *r, const double *x, double *to)
{
    const int64_t n = r->n;
    const int32_t m = r->n_basis;
    const cplx t = CMPLX(r->turn[0], r->turn[1]);
    cplx *y = (cplx *)to, *c = vs_malloc(((size_t)m + 1) * sizeof *c);
    for (int32_t i = 0; i < m; i++)
        c[i] = dot(row(r, r->v, i), (const cplx *)x, n);
    full_z_solve((const cplx *)r->factor, r->pivot, m, c);
    memcpy(to, x, (size_t)n * sizeof *y);
    for (int32_t i = 0; i < m; i++)
        add(cplx_times(t, c[i]), row(r, r->w, i), y, n);
    vs_free(c);
}
