/* hb_cyclo.c - noise sources along a periodic orbit. */
#include "hb_cyclo.h"

#include <math.h>
#include <string.h>

/* -- the sources -- */

/* One sample of every source. */
static vs_status take_sample(hb_cyclo *w, int32_t m)
{
    ana_orbit *h = w->h;
    const ckt_env env = hb_env(h, m);
    const vs_status st = ckt_load_ac(h->a->c, &env, h->xs + (size_t)m * h->stride, true, h->row,
                                     h->row + h->nnz + 1);
    if (st == VS_OK)
        orbit_noise_take(&w->noise, (size_t)m);
    return st;
}

/* W of all rows, of their samples. */
static void transform(hb_cyclo *w)
{
    ana_orbit *h = w->h;
    const size_t n = vec_len(w->noise.row), nm = (size_t)h->n_m;
    w->w = vs_calloc(n * nm + 1, sizeof *w->w);
    for (size_t k = 0; k < n; k++) {
        memcpy(h->part[0], w->noise.row[k].w, nm * sizeof(double));
        memset(h->part[1], 0, nm * sizeof(double));
        fft_run(h->plan, h->part[0], h->part[1], false);
        for (size_t m = 0; m < nm; m++)
            w->w[k * nm + m] = (h->part[0][m] + I * h->part[1][m]) / h->n_m;
    }
}

static vs_status find_sources(hb_cyclo *w)
{
    ana_orbit *h = w->h;
    vs_status st = VS_OK;
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++)
        st = take_sample(w, m);
    if (st != VS_OK)
        return st;
    transform(w);
    return hb_load(h, true); /* the Jacobian of the response, without analysis("noise") */
}

/* S of a source at sideband p. */
static double density(const hb_cyclo *w, size_t source, double f, int32_t p)
{
    return orbit_noise_sideband(&w->noise, source, f, w->h->omega[p] * (1 / (2 * M_PI)));
}

/* What a source gives to the output whose adjoint is y, by its sideband p. */
static hb_cplx gain_of(const hb_cyclo *w, size_t source, const hb_cplx *y, double f, int32_t p)
{
    const ana_orbit *h = w->h;
    const orbit_source *c = &w->noise.source[source];
    const size_t nk = (size_t)h->n_k;
    hb_cplx to = 0;
    for (size_t g = c->first; g < c->end; g++) {
        const orbit_row *m = &w->noise.row[g];
        const hb_cplx *of = w->w + g * (size_t)h->n_m, *yr = y + (size_t)(m->row - 1) * nk;
        for (int32_t k = 0; k < h->n_k; k++) {
            const hb_cplx wk = of[hb_difference(h, k, p)];
            if (wk != 0)
                to += yr[k] * wk * (m->rate ? I * (2 * M_PI * f + h->omega[k]) : 1);
        }
    }
    return to;
}

double hb_cyclo_density(const hb_cyclo *w, size_t source, const hb_cplx *y, double f)
{
    const ana_orbit *h = w->h;
    double sum = 0;
    for (int32_t p = 0; p < h->n_k; p++) {
        const hb_cplx to = gain_of(w, source, y, f, p);
        const double size = creal(to) * creal(to) + cimag(to) * cimag(to);
        if (size > 0)
            sum += size * density(w, source, f, p);
    }
    return sum;
}

/* to[i][j] += what one source gives at its sideband p; u [n] scratch. */
static void correlate_one(const hb_cyclo *w, size_t source, const hb_cplx *y, int32_t n, double f,
                          int32_t p, hb_cplx *u, hb_cplx *to)
{
    const ana_orbit *h = w->h;
    const size_t all = (size_t)h->n * (size_t)h->n_k + 1;
    bool any = false;
    for (int32_t i = 0; i < n; i++) {
        u[i] = gain_of(w, source, y + (size_t)i * all, f, p);
        any |= u[i] != 0;
    }
    const double s = any ? density(w, source, f, p) : 0;
    for (int32_t i = 0; i < n && s > 0; i++)
        for (int32_t j = 0; j < n; j++)
            to[i * n + j] += s * u[i] * conj(u[j]);
}

void hb_cyclo_correlation(const hb_cyclo *w, const hb_cplx *y, int32_t n, double f, hb_cplx *to)
{
    hb_cplx *u = vs_calloc((size_t)n + 1, sizeof *u);
    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (size_t i = 0; i < vec_len(w->noise.source); i++)
        for (int32_t p = 0; p < w->h->n_k; p++)
            correlate_one(w, i, y, n, f, p, u, to);
    vs_free(u);
}

/* -- oscillators --
 * A shift in time is another orbit: A u = 0 for omega = 0 and the tangent u = j omega_k X_k. With
 * finitely many harmonics A u = m is small but not 0, which would stop the growth of noise towards
 * the carrier. A - m w', with w = conj(u) / |u|^2, has the null vector; Sherman and Morrison's
 * formula solves with it. */
static void find_miss(hb_cyclo *w)
{
    ana_orbit *h = w->h;
    const size_t nk = (size_t)h->n_k, all = (size_t)h->n * nk;
    double size = 0;
    w->miss = vs_calloc(all + 1, sizeof *w->miss);
    w->along = vs_calloc(all + 1, sizeof *w->along);
    w->turn = vs_calloc(all + 1, sizeof *w->turn);
    w->turn_f = NAN;
    for (size_t i = 0; i < all; i++)
        w->along[i] = I * h->omega[i % nk] * h->x[nk + i];
    hb_product(h, 0, w->along, w->miss);
    for (size_t i = 0; i < all; i++)
        size += creal(w->along[i] * conj(w->along[i]));
    for (size_t i = 0; i < all; i++)
        w->along[i] = conj(w->along[i]) / size;
}

/* y solves A' y = b: becomes the solution with the corrected A. */
static vs_status correct(hb_cyclo *w, double f, hb_cplx *y)
{
    const size_t all = (size_t)w->h->n * (size_t)w->h->n_k;
    hb_cplx *z = w->turn, my = 0, mz = 0;
    if (f != w->turn_f) {
        memcpy(z, w->along, (all + 1) * sizeof *z);
        const vs_status st = hb_solve_t(w->h, 2 * M_PI * f, z);
        if (st != VS_OK)
            return st;
        w->turn_f = f;
    }
    for (size_t i = 0; i < all; i++) {
        my += w->miss[i] * y[i];
        mz += w->miss[i] * z[i];
    }
    for (size_t i = 0; i < all; i++)
        y[i] += z[i] * my / (1 - mz);
    return VS_OK;
}

/* -- outputs -- */

vs_status hb_cyclo_adjoint(hb_cyclo *w, double f, hb_cplx *y)
{
    const vs_status st = hb_solve_t(w->h, 2 * M_PI * f, y);
    return st == VS_OK && w->miss ? correct(w, f, y) : st;
}

double hb_cyclo_total(const hb_cyclo *w, const hb_cplx *y, double f)
{
    double sum = 0;
    for (size_t i = 0; i < vec_len(w->noise.source); i++)
        sum += hb_cyclo_density(w, i, y, f);
    return sum;
}

vs_status hb_cyclo_begin(hb_cyclo *w, ana_orbit *h, bool noise)
{
    *w = (hb_cyclo){.h = h, .noise = {.a = h->a, .n_point = (size_t)h->n_m}};
    h->m.factored = false;
    const vs_status st = noise ? find_sources(w) : VS_OK;
    if (st == VS_OK && h->o.osc)
        find_miss(w);
    return st;
}

void hb_cyclo_end(hb_cyclo *w)
{
    orbit_noise_end(&w->noise);
    vs_free(w->w);
    vs_free(w->miss);
    vs_free(w->along);
    vs_free(w->turn);
}
