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

static double share_of(const hb_cyclo *w, size_t source, const small_feeds *feeds, double f,
                       int32_t p)
{
    const ana_orbit *h = w->h;
    const orbit_source *c = &w->noise.source[source];
    const size_t nk = (size_t)h->n_k;
    small_feeds_sum sum = {0};
    for (size_t g = c->first; g < c->end; g++) {
        const orbit_row *m = &w->noise.row[g];
        const double *y = feeds->lambda + 2 * (size_t)(m->row - 1) * nk;
        for (int32_t k = 0; k < h->n_k; k++) {
            const hb_cplx wk = w->w[g * (size_t)h->n_m + (size_t)hb_difference(h, k, p)] *
                               (m->rate ? I * (2 * M_PI * f + h->omega[k]) : 1);
            small_feeds_add_term(&sum, y + 2 * k, creal(wk), cimag(wk), feeds->least);
        }
    }
    return small_feeds_share(&sum);
}

double hb_cyclo_shares(const hb_cyclo *w, const small_feeds *feeds, double f)
{
    double all = 0;
    for (size_t i = 0; i < vec_len(w->noise.source); i++)
        for (int32_t p = 0; p < w->h->n_k; p++) {
            const double share = share_of(w, i, feeds, f, p);
            if (share > 0)
                all += share * share * density(w, i, f, p);
        }
    return all;
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

/* -- outputs -- */

vs_status hb_cyclo_adjoint(hb_cyclo *w, double f, hb_cplx *y)
{
    return hb_shift_solve(&w->shift, f, y);
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
    if (st == VS_OK)
        hb_shift_begin(&w->shift, h, true);
    return st;
}

void hb_cyclo_end(hb_cyclo *w)
{
    orbit_noise_end(&w->noise);
    vs_free(w->w);
    hb_shift_end(&w->shift);
}
