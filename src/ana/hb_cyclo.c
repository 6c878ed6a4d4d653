/* hb_cyclo.c - noise sources along a periodic orbit. */
#include "hb_cyclo.h"

#include <math.h>
#include <string.h>

/* -- the sources -- */

static void list_sources(hb_cyclo *w)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(w->h->a->c, &n, &gain);
    for (size_t i = 0; i < n; i++) {
        hb_source one = {.unit = s[i], .first = vec_len(w->mod)};
        for (int32_t k = s[i].first; k < s[i].end; k++)
            vec_push(w->mod, ((hb_modulated){gain[k].row, gain[k].rate,
                                             vs_calloc((size_t)w->h->n_m, sizeof(hb_cplx))}));
        one.end = vec_len(w->mod);
        vec_push(w->source, one);
    }
    noise_origins(w->h->a, &w->origin, &w->origin_of);
}

/* OSDI libraries tell densities only: that at 1 Hz is taken as the power. */
static bool is_native(const hb_cyclo *w, const ckt_noise *s)
{
    return s->device >= ckt_n_device(w->h->a->c);
}

/* One sample of every source. */
static vs_status take_sample(hb_cyclo *w, int32_t m)
{
    ana_orbit *h = w->h;
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_env env = hb_env(h, m);
    const vs_status st = ckt_load_ac(h->a->c, &env, h->xs + (size_t)m * h->stride, true, h->row,
                                     h->row + h->nnz + 1);
    if (st != VS_OK)
        return st;
    const ckt_noise *s = ckt_noises(h->a->c, &n, &gain);
    if (m == 0)
        list_sources(w);
    for (size_t i = 0; i < n; i++) {
        hb_source *c = &w->source[i];
        const double power =
            is_native(w, &s[i]) ? ckt_noise_density(h->a->c, &s[i], 1) : fabs(s[i].psd);
        if (power > 0) {
            c->unit = s[i];
            c->unit.psd = 1;
        }
        for (size_t k = c->first; k < c->end; k++)
            w->mod[k].w[m] = sqrt(power) * gain[s[i].first + (int32_t)(k - c->first)].gain;
    }
    return VS_OK;
}

static vs_status find_sources(hb_cyclo *w)
{
    ana_orbit *h = w->h;
    vs_status st = VS_OK;
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++)
        st = take_sample(w, m);
    for (size_t k = 0; k < vec_len(w->mod) && st == VS_OK; k++) {
        hb_cplx *z = w->mod[k].w;
        for (int32_t m = 0; m < h->n_m; m++) {
            h->part[0][m] = creal(z[m]);
            h->part[1][m] = 0;
        }
        fft_run(h->plan, h->part[0], h->part[1], false);
        for (int32_t m = 0; m < h->n_m; m++)
            z[m] = (h->part[0][m] + I * h->part[1][m]) / h->n_m;
    }
    if (st == VS_OK)
        st = hb_load(h, true); /* the Jacobian of the response, without analysis("noise") */
    return st;
}

/* Infinite or nan: 1/f noise at 0 Hz. */
static double unit_density(const hb_cyclo *w, const hb_source *c, double f)
{
    const double s = ckt_noise_density(w->h->a->c, &c->unit, f);
    if (!is_native(w, &c->unit))
        return s;
    const double at_1 = ckt_noise_density(w->h->a->c, &c->unit, 1);
    return at_1 > 0 ? s / at_1 : 0;
}

/* A sideband at 0 Hz is that of white sources: no line of a grid can have an infinite density. */
static double density(const hb_cyclo *w, const hb_source *c, double f)
{
    const double s = unit_density(w, c, f);
    return isfinite(s) ? s : 0;
}

bool hb_cyclo_is_white(const hb_cyclo *w, size_t source)
{
    return isfinite(unit_density(w, &w->source[source], 0));
}

/* The frequency of sideband p; 0 if it is not more than rounding of a multiple of the orbit's. */
static double frequency_at(const hb_cyclo *w, double f, int32_t p)
{
    const double shift = w->h->omega[p] * (1 / (2 * M_PI)), at = fabs(f + shift);
    return at > 1e-12 * fabs(shift) ? at : 0;
}

/* What a source gives to the output whose adjoint is y, by its sideband p. */
static hb_cplx gain_of(const hb_cyclo *w, const hb_source *c, const hb_cplx *y, double f, int32_t p)
{
    const ana_orbit *h = w->h;
    const size_t nk = (size_t)h->n_k;
    hb_cplx to = 0;
    for (size_t g = c->first; g < c->end; g++) {
        const hb_modulated *m = &w->mod[g];
        const hb_cplx *yr = y + (size_t)(m->row - 1) * nk;
        for (int32_t k = 0; k < h->n_k; k++) {
            const hb_cplx wk = m->w[hb_difference(h, k, p)];
            if (wk != 0)
                to += yr[k] * wk * (m->rate ? I * (2 * M_PI * f + h->omega[k]) : 1);
        }
    }
    return to;
}

double hb_cyclo_density(const hb_cyclo *w, size_t source, const hb_cplx *y, double f)
{
    const ana_orbit *h = w->h;
    const hb_source *c = &w->source[source];
    double sum = 0;
    for (int32_t p = 0; p < h->n_k; p++) {
        const hb_cplx to = gain_of(w, c, y, f, p);
        const double size = creal(to) * creal(to) + cimag(to) * cimag(to);
        if (size > 0)
            sum += size * density(w, c, frequency_at(w, f, p));
    }
    return sum;
}

/* to[i][j] += what one source gives at its sideband p; u [n] scratch. */
static void correlate_one(const hb_cyclo *w, const hb_source *c, const hb_cplx *y, int32_t n,
                          double f, int32_t p, hb_cplx *u, hb_cplx *to)
{
    const ana_orbit *h = w->h;
    const size_t all = (size_t)h->n * (size_t)h->n_k + 1;
    bool any = false;
    for (int32_t i = 0; i < n; i++) {
        u[i] = gain_of(w, c, y + (size_t)i * all, f, p);
        any |= u[i] != 0;
    }
    const double s = any ? density(w, c, frequency_at(w, f, p)) : 0;
    for (int32_t i = 0; i < n && s > 0; i++)
        for (int32_t j = 0; j < n; j++)
            to[i * n + j] += s * u[i] * conj(u[j]);
}

void hb_cyclo_correlation(const hb_cyclo *w, const hb_cplx *y, int32_t n, double f, hb_cplx *to)
{
    hb_cplx *u = vs_calloc((size_t)n + 1, sizeof *u);
    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (size_t i = 0; i < vec_len(w->source); i++)
        for (int32_t p = 0; p < w->h->n_k; p++)
            correlate_one(w, &w->source[i], y, n, f, p, u, to);
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
    for (size_t i = 0; i < vec_len(w->source); i++)
        sum += hb_cyclo_density(w, i, y, f);
    return sum;
}

vs_status hb_cyclo_begin(hb_cyclo *w, ana_orbit *h, bool noise)
{
    *w = (hb_cyclo){.h = h};
    h->m.factored = false;
    const vs_status st = noise ? find_sources(w) : VS_OK;
    if (st == VS_OK && h->o.osc)
        find_miss(w);
    return st;
}

void hb_cyclo_end(hb_cyclo *w)
{
    for (size_t i = 0; i < vec_len(w->mod); i++)
        vs_free(w->mod[i].w);
    vec_free(w->mod);
    vec_free(w->source);
    vec_free(w->origin);
    vec_free(w->origin_of);
    vs_free(w->miss);
    vs_free(w->along);
    vs_free(w->turn);
}
