/* hb_load.c - harmonic balance: the circuit at all samples of the grid, residual and Jacobian. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "hb.h"
#include "vec.h"

void hb_inverse(ana_orbit *h, const hb_cplx *spectrum, hb_cplx *samples)
{
    memset(samples, 0, (size_t)h->n_m * sizeof *samples);
    for (int32_t k = 0; k < h->n_k; k++)
        samples[h->cell[k]] += spectrum[k];
    fft_grid((double *)samples, h->dim, h->n_dim, true);
}

void hb_forward(ana_orbit *h, hb_cplx *samples, hb_cplx *spectrum)
{
    fft_grid((double *)samples, h->dim, h->n_dim, false);
    for (int32_t k = 0; k < h->n_k; k++)
        spectrum[k] = samples[h->cell[k]] / h->n_m;
}

/* The samples of the state. */
static void to_samples(ana_orbit *h)
{
    for (int32_t i = 1; i <= h->n; i++) {
        hb_inverse(h, h->x + (size_t)i * (size_t)h->n_k, h->grid);
        for (int32_t m = 0; m < h->n_m; m++)
            h->xs[(size_t)m * h->stride + (size_t)i] = creal(h->grid[m]);
    }
}

ckt_env hb_env(const ana_orbit *h, int32_t sample)
{
    const double part = h->o.n_tone == 1 ? (double)sample / h->n_m : 0;
    return (ckt_env){.mode = CKT_TRAN,
                     .time = h->offset + (h->o.tone[0] > 0 ? part / h->o.tone[0] : 0),
                     .gmin = h->a->opt.gmin,
                     .srcfact = 1,
                     .iter = 1,
                     .steady = true};
}

/* Loads f and q of the sample; the sources' terms are replaced by mean + lambda drive. */
static vs_status load_sample(ana_orbit *h, int32_t m, double *terms)
{
    ana *a = h->a;
    double *x = h->xs + (size_t)m * h->stride, *f = h->fs + (size_t)m * h->stride;
    const double *drive = h->drive + (size_t)m * h->stride,
                 *mean = h->drive + (size_t)h->n_m * h->stride;
    const ckt_env env = hb_env(h, m);
    bool limited;
    const vs_status st =
        ckt_load(a->c, &env, x, f, h->qs + (size_t)m * h->stride, a->fmax, a->qmax, &limited);
    if (st != VS_OK)
        return st;
    ckt_source_terms(a->c, &env, terms);
    const double shunt = a->opt.rshunt > 0 ? 1 / a->opt.rshunt : 0;
    for (int32_t i = 1; i <= h->n; i++) {
        f[i] += mean[i] + h->lambda * drive[i] - terms[i];
        if (a->gdiag[i])
            f[i] += shunt * x[i];
        h->size[i] = fmax(h->size[i], fmax(a->fmax[i], fabs(mean[i] + drive[i])));
    }
    return VS_OK;
}

/* Entry p differs between samples, now that it does so at sample m for the first time: it counts as
 * varying from then on. */
static void add_varying(ana_orbit *h, int32_t p, int32_t m)
{
    const size_t at = vec_len(h->gs);
    vec_extend(h->gs, (size_t)h->n_m);
    vec_extend(h->cs, (size_t)h->n_m);
    for (size_t k = 0; k < (size_t)m; k++) {
        h->gs[at + k] = h->g0[p];
        h->cs[at + k] = h->c0[p];
    }
    h->varying[p] = h->n_varying++;
}

/* G and C at sample m: those that vary to gs and cs, the others, at the first sample, to g0, c0. */
static vs_status linearise_sample(ana_orbit *h, int32_t m)
{
    ana *a = h->a;
    double *g = h->row, *c = g + h->nnz + 1;
    const ckt_env env = hb_env(h, m);
    const vs_status st = ckt_load_ac(a->c, &env, h->xs + (size_t)m * h->stride, false, g, c);
    for (int32_t i = 1; i <= h->n && a->opt.rshunt > 0; i++)
        if (a->gdiag[i])
            g[a->gdiag[i] - a->jac->val] += 1 / a->opt.rshunt;
    for (int32_t p = 0; p < h->nnz && st == VS_OK; p++) {
        if (h->varying[p] < 0 && m == 0) {
            h->g0[p] = g[p];
            h->c0[p] = c[p];
        } else if (h->varying[p] < 0 && !(g[p] == h->g0[p] && c[p] == h->c0[p])) {
            add_varying(h, p, m);
        }
        if (h->varying[p] >= 0) {
            const size_t at = (size_t)h->varying[p] * (size_t)h->n_m + (size_t)m;
            h->gs[at] = g[p];
            h->cs[at] = c[p];
        }
    }
    return st;
}

static void find_means(ana_orbit *h)
{
    const size_t nm = (size_t)h->n_m;
    for (int32_t p = 0; p < h->nnz; p++) {
        if (h->varying[p] < 0)
            continue;
        const size_t at = (size_t)h->varying[p] * nm;
        h->g0[p] = h->c0[p] = 0;
        for (size_t m = 0; m < nm; m++) {
            h->g0[p] += h->gs[at + m] / (double)nm;
            h->c0[p] += h->cs[at + m] / (double)nm;
        }
    }
    h->transformed = false;
}

void hb_transform_entry(ana_orbit *h, const double *samples, hb_cplx *to)
{
    for (int32_t m = 0; m < h->n_m; m++)
        to[m] = samples[m];
    fft_grid((double *)to, h->dim, h->n_dim, false);
    for (int32_t m = 0; m < h->n_m; m++)
        to[m] /= h->n_m;
}

void hb_transform_entries(ana_orbit *h)
{
    const size_t nv = (size_t)h->n_varying, nm = (size_t)h->n_m;
    if (h->transformed)
        return;
    h->g = vs_realloc(h->g, (nv * nm + 1) * sizeof *h->g);
    h->c = vs_realloc(h->c, (nv * nm + 1) * sizeof *h->c);
    for (size_t v = 0; v < nv; v++) {
        hb_transform_entry(h, h->gs + v * nm, h->g + v * nm);
        hb_transform_entry(h, h->cs + v * nm, h->c + v * nm);
    }
    h->transformed = true;
}

void hb_load_delays(ana_orbit *h, double omega)
{
    const size_t nz = (size_t)h->nnz;
    if (!ckt_has_delays(h->a->c))
        return;
    if (!h->y)
        h->y = vs_malloc((size_t)h->n_k * (nz + 1) * sizeof *h->y);
    for (int32_t k = 0; k < h->n_k; k++) {
        hb_cplx *y = h->y + (size_t)k * (nz + 1);
        memset(y, 0, (nz + 1) * sizeof *y);
        ckt_ac_delays(h->a->c, omega + h->omega[k], (double *)y);
    }
}

static void residual_of_delays(ana_orbit *h)
{
    const csc *a = h->a->jac;
    const size_t nk = (size_t)h->n_k, nz = (size_t)h->nnz + 1;
    for (int32_t j = 0; h->y && j < h->n; j++)
        for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
            for (size_t k = 0; k < nk; k++)
                h->r[(size_t)a->row[p] * nk + k] +=
                    h->y[k * nz + (size_t)p] * h->x[(size_t)(j + 1) * nk + k];
}

vs_status hb_load(ana_orbit *h, bool jacobian)
{
    const size_t nk = (size_t)h->n_k;
    vs_status st = VS_OK;
    double *terms = vs_calloc(h->stride, sizeof *terms);
    hb_cplx *q = vs_malloc((nk + (size_t)h->n_m) * sizeof *q), *grid = q + nk;
    memset(h->size, 0, ((size_t)h->n + 1) * sizeof *h->size);
    to_samples(h);
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++)
        st = load_sample(h, m, terms);
    for (int32_t m = 0; m < h->n_m && st == VS_OK && jacobian; m++)
        st = linearise_sample(h, m);
    if (st == VS_OK && jacobian) {
        find_means(h);
        hb_load_delays(h, 0);
    }
    for (int32_t i = 1; i <= h->n && st == VS_OK; i++) {
        hb_cplx *r = h->r + (size_t)(i - 1) * nk;
        for (int32_t m = 0; m < h->n_m; m++)
            grid[m] = h->qs[(size_t)m * h->stride + (size_t)i];
        hb_forward(h, grid, q);
        for (int32_t m = 0; m < h->n_m; m++)
            grid[m] = h->fs[(size_t)m * h->stride + (size_t)i];
        hb_forward(h, grid, r);
        for (size_t k = 0; k < nk; k++)
            r[k] += I * h->omega[k] * q[k];
    }
    if (st == VS_OK)
        residual_of_delays(h);
    vs_free(terms);
    vs_free(q);
    return st;
}

void hb_set_tone(ana_orbit *h, double f)
{
    h->o.tone[0] = f;
    for (int32_t k = 0; k < h->n_k; k++) {
        h->omega[k] = 0;
        for (int32_t t = 0; t < h->o.n_tone; t++)
            h->omega[k] += 2 * M_PI * h->index[k][t] * h->o.tone[t];
    }
}
