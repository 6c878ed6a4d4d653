/* hb_load.c - harmonic balance: the circuit at all samples of the grid, residual and Jacobian. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "hb.h"
#include "vec.h"

void hb_inverse(const ana_orbit *h, const hb_cplx *spectrum, double *re, double *im)
{
    const size_t bytes = (size_t)h->n_m * sizeof *re;
    memset(re, 0, bytes);
    memset(im, 0, bytes);
    for (int32_t k = 0; k < h->n_k; k++) {
        re[h->cell[k]] += creal(spectrum[k]);
        im[h->cell[k]] += cimag(spectrum[k]);
    }
    fft_run(h->plan, re, im, true);
}

void hb_forward(const ana_orbit *h, double *re, double *im, hb_cplx *spectrum)
{
    fft_run(h->plan, re, im, false);
    for (int32_t k = 0; k < h->n_k; k++)
        spectrum[k] = (re[h->cell[k]] + I * im[h->cell[k]]) / h->n_m;
}

/* Two real signals are a + j b. Rounding of the larger one is in both: b is scaled by a power of
 * two to the size of a. */
static double largest(const double *v, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(v[i]));
    return most;
}

static double balance(double a, double b)
{
    int more, own;
    if (!(a > 0 && b > 0 && a <= DBL_MAX && b <= DBL_MAX))
        return 1;
    (void)frexp(a, &more);
    (void)frexp(b, &own);
    return ldexp(1, more - own);
}

/* Returns the factor; INFINITY: b is 0, so that what it seems to have is the rounding of a. */
static double balance_samples(const double *a, double *b, size_t n)
{
    const double size = largest(b, n), by = balance(largest(a, n), size);
    if (size == 0)
        return INFINITY;
    for (size_t i = 0; i < n && by != 1; i++)
        b[i] *= by;
    return by;
}

void hb_inverse_real(const ana_orbit *h, const hb_cplx *a, const hb_cplx *b, double *to_a,
                     double *to_b)
{
    const size_t nm = (size_t)h->n_m, parts = 2 * (size_t)h->n_k;
    const double by = balance(largest((const double *)a, parts), largest((const double *)b, parts));
    memset(to_a, 0, nm * sizeof *to_a);
    memset(to_b, 0, nm * sizeof *to_b);
    for (int32_t k = 0; k < h->n_k; k++) { /* rounding that is no real signal's is not scaled */
        const hb_cplx u = 0.5 * (a[k] + conj(a[h->minus[k]])),
                      v = 0.5 * by * (b[k] + conj(b[h->minus[k]]));
        to_a[h->cell[k]] += creal(u) - cimag(v);
        to_b[h->cell[k]] += cimag(u) + creal(v);
    }
    fft_run(h->plan, to_a, to_b, true);
    for (size_t m = 0; m < nm && by != 1; m++)
        to_b[m] /= by;
}

/* Z of a + j b: A_k = (Z_k + Z_-k*) / 2, B_k = (Z_k - Z_-k*) / 2j. */
void hb_forward_real(const ana_orbit *h, double *from_a, double *from_b, hb_cplx *a, hb_cplx *b)
{
    const double by = balance_samples(from_a, from_b, (size_t)h->n_m), half = 0.5 / h->n_m,
                 half_b = half / by;
    fft_run(h->plan, from_a, from_b, false);
    for (int32_t k = 0; k < h->n_k; k++) {
        const int32_t p = h->cell[k], q = h->cell[h->minus[k]];
        a[k] = half * ((from_a[p] + from_a[q]) + I * (from_b[p] - from_b[q]));
        if (b)
            b[k] = half_b * ((from_b[p] + from_b[q]) - I * (from_a[p] - from_a[q]));
    }
}

/* Samples of unknowns stand side by side: so many are taken at once. */
enum { ROWS = 8 };

static int32_t rows_from(const ana_orbit *h, int32_t i)
{
    return h->n + 1 - i < ROWS ? h->n + 1 - i : ROWS;
}

/* The samples of the state. rows: [ROWS][n_m] */
static void to_samples(ana_orbit *h, double *rows)
{
    const size_t nk = (size_t)h->n_k, nm = (size_t)h->n_m;
    for (int32_t i = 1; i <= h->n; i += ROWS) {
        const int32_t n = rows_from(h, i);
        for (int32_t j = 0; j < n; j += 2) { /* the last one may be alone */
            const hb_cplx *x = h->x + (size_t)(i + j) * nk;
            double *to = rows + (size_t)j * nm;
            hb_inverse_real(h, x, j + 1 < n ? x + nk : x, to, to + nm);
        }
        for (size_t m = 0; m < nm; m++)
            for (int32_t j = 0; j < n; j++)
                h->xs[m * h->stride + (size_t)(i + j)] = rows[(size_t)j * nm + m];
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

/* f [stride] and q [stride] of the sample at another gmin, sources as they are. */
static vs_status load_devices(ana_orbit *h, int32_t m, double gmin, double *f, double *q)
{
    ana *a = h->a;
    ckt_env env = hb_env(h, m);
    bool limited;
    env.gmin = gmin;
    return ckt_load(a->c, &env, h->xs + (size_t)m * h->stride, f, q, a->fmax, a->qmax, &limited);
}

/* Loads f and q of the sample; the sources' terms are replaced by mean + lambda drive. */
static vs_status load_sample(ana_orbit *h, int32_t m, double *terms)
{
    ana *a = h->a;
    double *x = h->xs + (size_t)m * h->stride, *f = h->fs + (size_t)m * h->stride;
    const double *drive = h->drive + (size_t)m * h->stride,
                 *mean = h->drive + (size_t)h->n_m * h->stride;
    const ckt_env env = hb_env(h, m);
    const vs_status st = load_devices(h, m, a->opt.gmin, f, h->qs + (size_t)m * h->stride);
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

/* G and C at sample m, which was loaded: those that vary to gs and cs, the others, at the first
 * sample, to g0, c0. */
static vs_status linearise_sample(ana_orbit *h, int32_t m)
{
    ana *a = h->a;
    double *g = h->row, *c = g + h->nnz + 1;
    const ckt_env env = hb_env(h, m);
    const vs_status st = ckt_load_slopes(a->c, &env, h->xs + (size_t)m * h->stride, g, c);
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

void hb_transform_entry(ana_orbit *h, int32_t v, hb_cplx *g, hb_cplx *c)
{
    const size_t nm = (size_t)h->n_m;
    double *a = h->part[0], *b = h->part[1];
    memcpy(a, h->gs + (size_t)v * nm, nm * sizeof *a);
    memcpy(b, h->cs + (size_t)v * nm, nm * sizeof *b);
    const double by = balance_samples(a, b, nm), half = 0.5 / h->n_m, half_c = half / by;
    fft_run(h->plan, a, b, false);
    for (size_t p = 0; p < nm; p++) { /* as hb_forward_real */
        const int32_t q = h->opposite[p];
        g[p] = half * ((a[p] + a[q]) + I * (b[p] - b[q]));
        if (c)
            c[p] = half_c * ((b[p] + b[q]) - I * (a[p] - a[q]));
    }
}

void hb_transform_entries(ana_orbit *h)
{
    const size_t nv = (size_t)h->n_varying, nm = (size_t)h->n_m;
    if (h->transformed)
        return;
    h->g = vs_realloc(h->g, (nv * nm + 1) * sizeof *h->g);
    h->c = vs_realloc(h->c, (nv * nm + 1) * sizeof *h->c);
    for (size_t v = 0; v < nv; v++)
        hb_transform_entry(h, (int32_t)v, h->g + v * nm, h->c + v * nm);
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

/* From the samples of f and q to the residual. rows: [2 ROWS][n_m] */
static void to_residual(ana_orbit *h, double *rows)
{
    const size_t nk = (size_t)h->n_k, nm = (size_t)h->n_m;
    hb_cplx *q = vs_malloc(nk * sizeof *q);
    for (int32_t i = 1; i <= h->n; i += ROWS) {
        const int32_t n = rows_from(h, i);
        for (size_t m = 0; m < nm; m++)
            for (int32_t j = 0; j < n; j++) {
                const size_t at = m * h->stride + (size_t)(i + j);
                rows[(size_t)(2 * j) * nm + m] = h->fs[at];
                rows[(size_t)(2 * j + 1) * nm + m] = h->qs[at];
            }
        for (int32_t j = 0; j < n; j++) {
            hb_cplx *r = h->r + (size_t)(i + j - 1) * nk;
            double *of = rows + (size_t)(2 * j) * nm;
            hb_forward_real(h, of, of + nm, r, q);
            for (size_t k = 0; k < nk; k++)
                r[k] += I * h->omega[k] * q[k];
        }
    }
    vs_free(q);
}

vs_status hb_load(ana_orbit *h, bool jacobian)
{
    vs_status st = VS_OK;
    double *terms = vs_calloc(h->stride, sizeof *terms),
           *rows = vs_malloc(2 * ROWS * (size_t)h->n_m * sizeof *rows);
    memset(h->size, 0, ((size_t)h->n + 1) * sizeof *h->size);
    to_samples(h, rows);
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++) {
        st = load_sample(h, m, terms);
        if (st == VS_OK && jacobian)
            st = linearise_sample(h, m);
    }
    if (st == VS_OK && jacobian) {
        find_means(h);
        hb_load_delays(h, 0);
    }
    if (st == VS_OK) {
        to_residual(h, rows);
        residual_of_delays(h);
    }
    vs_free(terms);
    vs_free(rows);
    return st;
}

vs_status hb_currents(ana_orbit *h, int32_t m, double gmin, double *f)
{
    const double *drive = h->drive + (size_t)m * h->stride,
                 *mean = h->drive + (size_t)h->n_m * h->stride;
    const ckt_env env = hb_env(h, m);
    double *terms = vs_calloc(h->stride, sizeof *terms), *q = vs_calloc(h->stride, sizeof *q);
    const vs_status st = load_devices(h, m, gmin, f, q);
    if (st == VS_OK)
        ckt_source_terms(h->a->c, &env, terms);
    for (int32_t i = 1; i <= h->n && st == VS_OK; i++)
        f[i] += mean[i] + drive[i] - terms[i];
    vs_free(terms);
    vs_free(q);
    return st;
}

/* To fs what 2 gmin adds to the currents of the sample; without gmin what the shunts carry. */
static vs_status load_gmin_sample(ana_orbit *h, int32_t m, double *less)
{
    const double gmin = h->a->opt.gmin, *x = h->xs + (size_t)m * h->stride;
    double *f = h->fs + (size_t)m * h->stride, *q = h->qs + (size_t)m * h->stride;
    const ckt_env env = hb_env(h, m);
    vs_status st = gmin > 0 ? load_devices(h, m, gmin, less, q) : VS_OK;
    if (st == VS_OK && gmin > 0)
        st = load_devices(h, m, 2 * gmin, f, q);
    memset(q, 0, h->stride * sizeof *q);
    if (!(gmin > 0)) {
        memset(f, 0, h->stride * sizeof *f);
        ckt_add_shunts(h->a->c, &env, x, f);
    }
    for (int32_t i = 1; i <= h->n && gmin > 0; i++)
        f[i] -= less[i];
    return st;
}

vs_status hb_load_gmin(ana_orbit *h)
{
    vs_status st = VS_OK;
    double *less = vs_calloc(h->stride, sizeof *less),
           *rows = vs_malloc(2 * ROWS * (size_t)h->n_m * sizeof *rows);
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++)
        st = load_gmin_sample(h, m, less);
    if (st == VS_OK)
        to_residual(h, rows);
    vs_free(less);
    vs_free(rows);
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
