/* hb_matrix.c - harmonic balance: the matrix of all unknowns and harmonics, its factors, GMRES.
 * Small ones are factored as a whole. Large ones are solved by GMRES, products being made in time;
 * hb_blocks.c has the preconditioner. */
#include <math.h>
#include <string.h>

#include "gmres.h"
#include "hb.h"

/* Entries of the whole matrix, above which it is not factored, and those above which, with several
 * tones, blocks are tried first: they have most of such a matrix. */
static const double largest = 2.5e7, many = 2e5;
/* GMRES tries factors of another omega up to near_omega times the first tone away. FEW: products
 * that it may take with such factors; MOST: with the blocks; it restarts after RESTART. */
static const double near_omega = 0.3;
enum { FEW = 40, RESTART = 80, MOST = 800 };

static int64_t unknowns(const ana_orbit *h)
{
    return (int64_t)h->n * h->n_k + (h->bordered ? 1 : 0);
}

void hb_matrix_free(ana_orbit *h)
{
    lu_z_fini(&h->m.lu);
    vs_free(h->m.a.colptr);
    vs_free(h->m.a.row);
    vs_free(h->m.val);
    hb_blocks_free(&h->blocks);
    h->m = (hb_matrix){0};
}

/* -- as a whole -- */

static double entries(const ana_orbit *h)
{
    const double nk = h->n_k, nv = h->n_varying, nc = h->nnz - h->n_varying;
    return nv * nk * nk + nc * nk + (h->bordered ? 2.0 * h->n * nk : 0);
}

static bool as_whole(const ana_orbit *h)
{
    const double option = h->a->opt.hbwhole, n = entries(h);
    if (h->bordered)
        return true;
    return n <= (option > 0 ? option : h->o.n_tone > 1 && !h->slow ? many : largest);
}

/* Column (j, l): rows (i, k), those of constant entries for k = l only. */
static void make_pattern(ana_orbit *h)
{
    hb_matrix *m = &h->m;
    const csc *a = h->a->jac;
    const int32_t nk = h->n_k;
    const int64_t n = unknowns(h);
    const size_t nnz = (size_t)entries(h) + 1;
    m->a.n = (int32_t)n;
    m->a.colptr = vs_malloc((size_t)(n + 1) * sizeof *m->a.colptr);
    m->a.row = vs_malloc(nnz * sizeof *m->a.row);
    m->val = vs_malloc(2 * nnz * sizeof *m->val);
    int32_t at = 0;
    for (int32_t j = 0; j < h->n; j++)
        for (int32_t l = 0; l < nk; l++) {
            m->a.colptr[j * nk + l] = at;
            for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++) {
                const bool full = h->varying[p] >= 0;
                for (int32_t k = full ? 0 : l; k < (full ? nk : l + 1); k++)
                    m->a.row[at++] = a->row[p] * nk + k;
            }
            if (h->bordered) /* the row of the phase */
                m->a.row[at++] = (int32_t)n - 1;
        }
    if (h->bordered) {
        m->a.colptr[n - 1] = at;
        for (int32_t i = 0; i < h->n * nk; i++)
            m->a.row[at++] = i;
    }
    m->a.colptr[n] = at;
    h->n_varying_made = h->n_varying;
    h->bordered_made = h->bordered;
}

int32_t hb_difference(const ana_orbit *h, int32_t k, int32_t l)
{
    int32_t d[ANA_TONES] = {0};
    for (int32_t t = 0; t < h->o.n_tone; t++)
        d[t] = h->index[k][t] - h->index[l][t];
    return hb_cell(h, d);
}

static hb_cplx value(const ana_orbit *h, int32_t p, int32_t cell, bool same, double omega,
                     int32_t k)
{
    const int32_t v = h->varying[p];
    const double w = omega + h->omega[k];
    const hb_cplx g = v < 0 ? h->g0[p] : h->g[(size_t)v * (size_t)h->n_m + (size_t)cell];
    const hb_cplx c = v < 0 ? h->c0[p] : h->c[(size_t)v * (size_t)h->n_m + (size_t)cell];
    const hb_cplx y = h->y && same ? h->y[(size_t)k * ((size_t)h->nnz + 1) + (size_t)p] : 0;
    return g + I * w * c + y;
}

/* The phase of the probe: Im X_1 = 0. */
static hb_cplx phase_row(const ana_orbit *h, int32_t j, int32_t l)
{
    const double sign = j + 1 == h->o.probe.hi ? 1 : j + 1 == h->o.probe.lo ? -1 : 0;
    return h->index[l][0] == 1 ? sign / (2 * I) : h->index[l][0] == -1 ? -sign / (2 * I) : 0;
}

/* Adds what lines and delays have in d R_ik / d ln omega_0. */
static void add_slopes(const ana_orbit *h, hb_cplx *val)
{
    const csc *a = h->a->jac;
    const size_t nk = (size_t)h->n_k, nz = (size_t)h->nnz + 1;
    hb_cplx *slope = vs_malloc(nz * sizeof *slope);
    for (size_t k = 0; k < nk; k++) {
        memset(slope, 0, nz * sizeof *slope);
        ckt_ac_delays_slope(h->a->c, h->omega[k], (double *)slope);
        for (int32_t j = 0; j < h->n; j++)
            for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
                val[(size_t)a->row[p] * nk + k] += slope[p] * h->x[(size_t)(j + 1) * nk + k];
    }
    vs_free(slope);
}

/* d R_ik / d ln omega_0 */
static void fill_frequency(ana_orbit *h, hb_cplx *val)
{
    const size_t nk = (size_t)h->n_k;
    hb_cplx *q = vs_malloc(nk * sizeof *q);
    for (int32_t i = 1; i <= h->n; i++) {
        memset(h->part[1], 0, (size_t)h->n_m * sizeof *h->part[1]);
        for (int32_t m = 0; m < h->n_m; m++)
            h->part[0][m] = h->qs[(size_t)m * h->stride + (size_t)i];
        hb_forward_real(h, h->part[0], h->part[1], q, NULL);
        for (size_t k = 0; k < nk; k++)
            val[(size_t)(i - 1) * nk + k] = I * h->omega[k] * q[k];
    }
    if (h->y)
        add_slopes(h, val);
    vs_free(q);
}

static void fill(ana_orbit *h, double omega)
{
    const csc *a = h->a->jac;
    const int32_t nk = h->n_k;
    hb_cplx *val = (hb_cplx *)h->m.val;
    const size_t all = h->n_varying ? (size_t)nk : 0; /* of entries that vary, full blocks */
    int32_t *cell = vs_malloc((all * all + 1) * sizeof *cell);
    for (size_t l = 0; l < all; l++)
        for (size_t k = 0; k < all; k++)
            cell[l * all + k] = hb_difference(h, (int32_t)k, (int32_t)l);
    for (int32_t j = 0; j < h->n; j++)
        for (int32_t l = 0; l < nk; l++) {
            for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++) {
                const bool full = h->varying[p] >= 0;
                for (int32_t k = full ? 0 : l; k < (full ? nk : l + 1); k++)
                    *val++ =
                        value(h, p, full ? cell[(size_t)l * all + (size_t)k] : 0, k == l, omega, k);
            }
            if (h->bordered)
                *val++ = phase_row(h, j, l);
        }
    if (h->bordered)
        fill_frequency(h, val);
    vs_free(cell);
}

static vs_status singular(ana_orbit *h, int32_t column)
{
    const int32_t u = column >= 0 && column < h->n * h->n_k ? column / h->n_k + 1 : 0;
    diag_error(h->a->d, h->o.span, "the matrix of harmonic balance is singular%s%s",
               u > 0 ? " at " : "", u > 0 ? ana_unknown_text(h->a, u) : "");
    return VS_ESINGULAR;
}

static vs_status factor_whole(ana_orbit *h, double omega)
{
    hb_matrix *m = &h->m;
    vs_status st = VS_OK;
    if (h->n_varying_made != h->n_varying || h->bordered_made != h->bordered || !m->a.colptr) {
        hb_matrix_free(h);
        ana_lu_z_init(h->a, &m->lu);
        make_pattern(h);
        st = lu_z_analyze(&m->lu, &m->a);
    }
    hb_transform_entries(h);
    fill(h, omega);
    if (st == VS_OK)
        st = lu_z_factor(&m->lu, m->val);
    m->omega = omega;
    m->factored = st == VS_OK;
    return st == VS_ESINGULAR ? singular(h, m->lu.singular) : st;
}

/* -- by blocks -- */

static vs_status factor_blocks(ana_orbit *h, double omega)
{
    int32_t unknown;
    const vs_status st = hb_blocks_factor(h, omega, &unknown);
    h->m.omega = omega;
    h->m.factored = st == VS_OK;
    return st == VS_ESINGULAR ? singular(h, unknown >= 0 ? unknown * h->n_k : -1) : st;
}

vs_status hb_factor(ana_orbit *h, double omega)
{
    if (omega != 0) /* lines at other frequencies than those of the harmonics */
        hb_load_delays(h, omega);
    if (as_whole(h))
        return factor_whole(h, omega);
    return factor_blocks(h, omega);
}

/* -- GMRES -- */

typedef struct products {
    ana_orbit *h;
    double omega;
    bool transposed;
    double *in, *g, *c; /* [n][2][n_m] samples, re and im; sums of G x and C x */
} products;

static products products_make(ana_orbit *h, double omega, bool transposed)
{
    products w = {.h = h, .omega = omega, .transposed = transposed};
    const size_t all = 2 * (size_t)h->n * (size_t)h->n_m;
    w.in = vs_malloc(3 * all * sizeof *w.in);
    w.g = w.in + all;
    w.c = w.g + all;
    return w;
}

/* g += gs in, c += cs in, sample by sample. */
VS_CLONES static void add_varying(double *restrict g, double *restrict c, const double *restrict gs,
                                  const double *restrict cs, const double *restrict in, size_t n)
{
    for (size_t m = 0; m < n; m++) {
        g[m] += gs[m] * in[m];
        c[m] += cs[m] * in[m];
    }
}

VS_CLONES static void add_constant(double *restrict to, double by, const double *restrict in,
                                   size_t n)
{
    for (size_t m = 0; m < n; m++)
        to[m] += by * in[m];
}

/* Sums over the entries at all samples: by column or, transposed, by row. */
static void multiply_samples(const products *w)
{
    const ana_orbit *h = w->h;
    const csc *a = h->a->jac;
    const size_t nm = (size_t)h->n_m, each = 2 * nm;
    memset(w->g, 0, (size_t)h->n * each * sizeof *w->g);
    memset(w->c, 0, (size_t)h->n * each * sizeof *w->c);
    for (int32_t j = 0; j < h->n; j++)
        for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++) {
            const size_t to = (size_t)(w->transposed ? j : a->row[p]) * each,
                         from = (size_t)(w->transposed ? a->row[p] : j) * each;
            const int32_t v = h->varying[p];
            for (size_t part = 0; part < each && v >= 0; part += nm)
                add_varying(w->g + to + part, w->c + to + part, h->gs + (size_t)v * nm,
                            h->cs + (size_t)v * nm, w->in + from + part, nm);
            if (v < 0 && h->g0[p] != 0)
                add_constant(w->g + to, h->g0[p], w->in + from, each);
            if (v < 0 && h->c0[p] != 0)
                add_constant(w->c + to, h->c0[p], w->in + from, each);
        }
}

/* y = A x = FFT(G x(t)) + j (omega + omega_k) FFT(C x(t)) + Y x */
static void product(void *user, const double *xv, double *yv)
{
    products *w = user;
    ana_orbit *h = w->h;
    const hb_cplx *x = (const hb_cplx *)xv;
    hb_cplx *y = (hb_cplx *)yv;
    const size_t nk = (size_t)h->n_k, nm = (size_t)h->n_m, nz = (size_t)h->nnz + 1;
    hb_cplx *s = vs_malloc(nk * sizeof *s);
    for (size_t i = 0; i < (size_t)h->n; i++)
        hb_inverse(h, x + i * nk, w->in + 2 * i * nm, w->in + (2 * i + 1) * nm);
    multiply_samples(w);
    for (size_t i = 0; i < (size_t)h->n; i++) {
        double *g = w->g + 2 * i * nm, *c = w->c + 2 * i * nm;
        hb_forward(h, g, g + nm, y + i * nk);
        hb_forward(h, c, c + nm, s);
        for (size_t k = 0; k < nk; k++)
            y[i * nk + k] += I * (w->omega + h->omega[k]) * s[k];
    }
    const csc *a = h->a->jac;
    for (int32_t j = 0; h->y && j < h->n; j++)
        for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
            for (size_t k = 0; k < nk; k++)
                y[(size_t)a->row[p] * nk + k] += h->y[k * nz + (size_t)p] * x[(size_t)j * nk + k];
    vs_free(s);
}

/* y = A' x, transposed and not conjugated. Transposing exchanges k and l in G_(k-l): the product in
 * time is made with x at -k, and j omega multiplies before it. */
static void product_t(void *user, const double *xv, double *yv)
{
    products *w = user;
    ana_orbit *h = w->h;
    const hb_cplx *x = (const hb_cplx *)xv;
    hb_cplx *y = (hb_cplx *)yv;
    const size_t nk = (size_t)h->n_k, nm = (size_t)h->n_m, nz = (size_t)h->nnz + 1;
    hb_cplx *s = vs_malloc(2 * nk * sizeof *s), *t = s + nk;
    for (int pass = 0; pass < 2; pass++) { /* 0: G, 1: C */
        for (size_t i = 0; i < (size_t)h->n; i++) {
            for (size_t k = 0; k < nk; k++)
                s[h->minus[k]] = x[i * nk + k] * (pass ? I * (w->omega + h->omega[k]) : 1);
            hb_inverse(h, s, w->in + 2 * i * nm, w->in + (2 * i + 1) * nm);
        }
        multiply_samples(w);
        for (size_t i = 0; i < (size_t)h->n; i++) {
            double *of = (pass ? w->c : w->g) + 2 * i * nm;
            hb_forward(h, of, of + nm, t);
            for (size_t k = 0; k < nk; k++)
                y[i * nk + k] = (pass ? y[i * nk + k] : 0) + t[h->minus[k]];
        }
    }
    const csc *a = h->a->jac;
    for (int32_t j = 0; h->y && j < h->n; j++)
        for (int32_t p = a->colptr[j]; p < a->colptr[j + 1]; p++)
            for (size_t k = 0; k < nk; k++)
                y[(size_t)j * nk + k] += h->y[k * nz + (size_t)p] * x[(size_t)a->row[p] * nk + k];
    vs_free(s);
}

/* Solves with the factors at hand: of the whole matrix at another omega, or of the blocks. */
static void precondition(void *user, const double *xv, double *yv)
{
    const products *w = user;
    ana_orbit *h = w->h;
    memcpy(yv, xv, (size_t)h->n * (size_t)h->n_k * sizeof(hb_cplx));
    if (h->blocks)
        hb_blocks_solve(h, w->transposed, (hb_cplx *)yv);
    else
        (w->transposed ? lu_z_solve_t : lu_z_solve)(&h->m.lu, yv);
}

void hb_product(ana_orbit *h, double omega, const hb_cplx *x, hb_cplx *y)
{
    products w = products_make(h, omega, false);
    product(&w, (const double *)x, (double *)y);
    vs_free(w.in);
}

static vs_status iterate(ana_orbit *h, double omega, bool transposed, int32_t most, hb_cplx *b)
{
    products w = products_make(h, omega, transposed);
    const gmres_opt o = {.n = (int64_t)h->n * h->n_k,
                         .restart = most < RESTART ? most : RESTART,
                         .most = most,
                         .tol = h->left,
                         .product = transposed ? product_t : product,
                         .precondition = precondition,
                         .user = &w};
    hb_cplx *x = vs_calloc((size_t)o.n + 1, sizeof *x);
    int32_t made;
    const vs_status st = gmres(&o, (const double *)b, (double *)x, &made);
    if (st == VS_OK)
        memcpy(b, x, (size_t)o.n * sizeof *b);
    vs_free(w.in);
    vs_free(x);
    return st;
}

static vs_status solve(ana_orbit *h, double omega, bool transposed, hb_cplx *b)
{
    vs_status st = VS_OK;
    const bool whole = as_whole(h);
    if (!h->m.factored || h->m.omega != omega) {
        const bool try_first = whole && h->m.factored && !h->bordered && !h->y &&
                               fabs(omega - h->m.omega) < near_omega * 2 * M_PI * h->o.tone[0];
        if (try_first && iterate(h, omega, transposed, FEW, b) == VS_OK)
            return VS_OK;
        st = hb_factor(h, omega);
    }
    if (st == VS_OK && whole)
        (transposed ? lu_z_solve_t : lu_z_solve)(&h->m.lu, (double *)b);
    else if (st == VS_OK)
        st = iterate(h, omega, transposed, MOST, b);
    if (st != VS_NOCONV || h->slow)
        return st;
    h->slow = true; /* the whole matrix may be small enough */
    h->m.factored = false;
    return as_whole(h) ? solve(h, omega, transposed, b) : st;
}

vs_status hb_solve(ana_orbit *h, double omega, hb_cplx *b) { return solve(h, omega, false, b); }

vs_status hb_solve_t(ana_orbit *h, double omega, hb_cplx *b) { return solve(h, omega, true, b); }
