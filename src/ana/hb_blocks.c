/* hb_blocks.c - harmonic balance: the preconditioner of large matrices.
 * The circuit's matrix varies most with one tone, as with the local oscillator of a mixer. Its mean
 * over the phases of the other tones couples only harmonics that differ by that tone: a block for
 * each choice of the others. With one tone, or where such blocks would be too large, the mean over
 * all samples is taken, a block for each harmonic.
 * Source: Rizzoli, Mastri, Cecchetti & Sgallari, IEEE Trans. Microwave Theory Tech. 45(9), 1997
 *         (blocks of harmonics for GMRES). */
#include <string.h>

#include "hb.h"
#include "vec.h"

/* Entries of all blocks together, above which each harmonic has its own. */
static const double largest = 2.5e7;

struct hb_blocks {
    int32_t n;         /* of blocks */
    int32_t tone;      /* whose harmonics a block couples; -1: none */
    int32_t *block;    /* [n_k] of each harmonic */
    int32_t *k;        /* [n_k] harmonics, block by block */
    int32_t *first;    /* [n + 1] where each block's begin in k */
    int32_t n_varying; /* of the patterns */
    csc *a;            /* [n] unknown i, harmonic number m of the block: column i n_m + m */
    lu_z *lu;          /* [n] */
    hb_cplx *val;      /* of the largest */
    hb_cplx *g, *c;    /* [n_varying][2 most + 1] coefficients of the tone */
    int32_t most;      /* the largest difference of harmonics */
    hb_cplx *x;        /* [n n_m] */
};

static int32_t size_of(const hb_blocks *b, int32_t i) { return b->first[i + 1] - b->first[i]; }

void hb_blocks_free(hb_blocks **blocks)
{
    hb_blocks *b = *blocks;
    *blocks = NULL;
    if (!b)
        return;
    for (int32_t i = 0; i < b->n; i++) {
        lu_z_fini(&b->lu[i]);
        vs_free(b->a[i].colptr);
        vs_free(b->a[i].row);
    }
    void *const own[] = {b->block, b->k, b->first, b->a, b->lu, b->val, b->g, b->c, b->x, b};
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
}

/* -- which harmonics -- */

static bool together(const ana_orbit *h, int32_t tone, int32_t k, int32_t l)
{
    for (int32_t t = 0; t < h->o.n_tone; t++)
        if (t != tone && h->index[k][t] != h->index[l][t])
            return false;
    return true;
}

static void list_blocks(const ana_orbit *h, hb_blocks *b)
{
    b->n = 0;
    for (int32_t k = 0; k < h->n_k; k++)
        b->block[k] = -1;
    int32_t at = 0;
    for (int32_t k = 0; k < h->n_k; k++) {
        if (b->block[k] >= 0)
            continue;
        b->first[b->n] = at;
        for (int32_t l = k; l < h->n_k; l++)
            if (b->block[l] < 0 && together(h, b->tone, k, l)) {
                b->block[l] = b->n;
                b->k[at++] = l;
            }
        b->first[++b->n] = at;
    }
}

static double entries(const ana_orbit *h, const hb_blocks *b)
{
    double sum = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const double m = size_of(b, i);
        sum += h->n_varying * m * m + (h->nnz - h->n_varying) * m;
    }
    return sum;
}

/* The tone with which entries of G change most: by their coefficients at its harmonics. */
static int32_t strongest(ana_orbit *h)
{
    double most = -1;
    int32_t tone = 0;
    double power[ANA_TONES] = {0};
    hb_cplx *g = vs_malloc((size_t)h->n_m * sizeof *g);
    for (int32_t v = 0; v < h->n_varying; v++) {
        hb_transform_entry(h, v, g, NULL);
        for (int32_t t = 0; t < h->o.n_tone; t++)
            for (int32_t m = 1; m <= 2 * h->o.harm[t]; m++) {
                int32_t k[ANA_TONES] = {0};
                k[t] = m;
                const hb_cplx z = g[hb_cell(h, k)];
                power[t] += creal(z) * creal(z) + cimag(z) * cimag(z);
            }
    }
    vs_free(g);
    for (int32_t t = 0; t < h->o.n_tone; t++)
        if (power[t] > most) {
            most = power[t];
            tone = t;
        }
    return tone;
}

/* -- matrices -- */

static void make_pattern(const ana_orbit *h, const hb_blocks *b, int32_t i)
{
    const csc *j = h->a->jac;
    csc *a = &b->a[i];
    const int32_t m = size_of(b, i);
    const size_t nnz =
        (size_t)h->n_varying * (size_t)m * (size_t)m + (size_t)(h->nnz - h->n_varying) * (size_t)m;
    a->n = h->n * m;
    a->colptr = vs_malloc(((size_t)a->n + 1) * sizeof *a->colptr);
    a->row = vs_malloc((nnz + 1) * sizeof *a->row);
    int32_t at = 0;
    for (int32_t c = 0; c < h->n; c++)
        for (int32_t l = 0; l < m; l++) {
            a->colptr[c * m + l] = at;
            for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++) {
                const bool full = h->varying[p] >= 0;
                for (int32_t k = full ? 0 : l; k < (full ? m : l + 1); k++)
                    a->row[at++] = j->row[p] * m + k;
            }
        }
    a->colptr[a->n] = at;
}

static vs_status make(ana_orbit *h)
{
    hb_blocks *b = h->blocks = vs_calloc(1, sizeof *b);
    const size_t nk = (size_t)h->n_k;
    b->block = vs_malloc(nk * sizeof *b->block);
    b->k = vs_malloc(nk * sizeof *b->k);
    b->first = vs_malloc((nk + 1) * sizeof *b->first);
    b->tone = h->o.n_tone > 1 ? strongest(h) : -1;
    list_blocks(h, b);
    if (entries(h, b) > largest) {
        b->tone = -1;
        list_blocks(h, b);
    }
    b->n_varying = h->n_varying;
    b->a = vs_calloc((size_t)b->n, sizeof *b->a);
    b->lu = vs_calloc((size_t)b->n, sizeof *b->lu);
    b->most = b->tone < 0 ? 0 : 2 * h->o.harm[b->tone];
    const size_t wide = 2 * (size_t)b->most + 1, nv = (size_t)h->n_varying;
    b->g = vs_malloc((nv * wide + 1) * sizeof *b->g);
    b->c = vs_malloc((nv * wide + 1) * sizeof *b->c);
    size_t nnz = 0, m = 0;
    for (int32_t i = 0; i < b->n; i++) {
        make_pattern(h, b, i);
        nnz = nnz < (size_t)csc_nnz(&b->a[i]) ? (size_t)csc_nnz(&b->a[i]) : nnz;
        m = m < (size_t)size_of(b, i) ? (size_t)size_of(b, i) : m;
        ana_lu_z_init(h->a, &b->lu[i]);
        const vs_status st = lu_z_analyze(&b->lu[i], &b->a[i]);
        if (st != VS_OK)
            return st;
    }
    b->val = vs_malloc((nnz + 1) * sizeof *b->val);
    b->x = vs_malloc(((size_t)h->n * m + 1) * sizeof *b->x);
    return VS_OK;
}

static void take_coefficients(ana_orbit *h, hb_blocks *b)
{
    const size_t wide = 2 * (size_t)b->most + 1, nm = (size_t)h->n_m;
    hb_cplx *g = vs_malloc(2 * nm * sizeof *g), *c = g + nm;
    for (int32_t v = 0; v < h->n_varying && b->tone >= 0; v++) {
        hb_cplx *to_g = b->g + (size_t)v * wide + b->most, *to_c = b->c + (to_g - b->g);
        hb_transform_entry(h, v, g, c);
        for (int32_t m = -b->most; m <= b->most; m++) {
            int32_t k[ANA_TONES] = {0};
            k[b->tone] = m;
            const int32_t cell = hb_cell(h, k);
            to_g[m] = g[cell];
            to_c[m] = c[cell];
        }
    }
    vs_free(g);
}

static hb_cplx value(const ana_orbit *h, const hb_blocks *b, int32_t p, int32_t k, int32_t l,
                     double omega)
{
    const int32_t v = h->varying[p];
    const bool coupled = b->tone >= 0 && v >= 0;
    const size_t at = coupled ? (size_t)v * (2 * (size_t)b->most + 1) + (size_t)b->most +
                                    (size_t)(h->index[k][b->tone] - h->index[l][b->tone])
                              : 0;
    const hb_cplx g = coupled ? b->g[at] : h->g0[p], c = coupled ? b->c[at] : h->c0[p],
                  y = h->y && k == l ? h->y[(size_t)k * ((size_t)h->nnz + 1) + (size_t)p] : 0;
    return g + I * (omega + h->omega[k]) * c + y;
}

static void fill(const ana_orbit *h, const hb_blocks *b, int32_t i, double omega)
{
    const csc *j = h->a->jac;
    const int32_t m = size_of(b, i), *of = b->k + b->first[i];
    hb_cplx *val = b->val;
    for (int32_t c = 0; c < h->n; c++)
        for (int32_t l = 0; l < m; l++)
            for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++) {
                const bool full = h->varying[p] >= 0;
                for (int32_t k = full ? 0 : l; k < (full ? m : l + 1); k++)
                    *val++ = value(h, b, p, of[k], of[l], omega);
            }
}

vs_status hb_blocks_factor(ana_orbit *h, double omega, int32_t *unknown)
{
    vs_status st = VS_OK;
    *unknown = -1;
    if (h->blocks && h->blocks->n_varying != h->n_varying)
        hb_blocks_free(&h->blocks);
    if (!h->blocks)
        st = make(h);
    if (st != VS_OK) {
        hb_blocks_free(&h->blocks);
        return st;
    }
    hb_blocks *b = h->blocks;
    take_coefficients(h, b);
    for (int32_t i = 0; i < b->n && st == VS_OK; i++) {
        fill(h, b, i, omega);
        st = lu_z_factor(&b->lu[i], (const double *)b->val);
        if (st != VS_OK && b->lu[i].singular >= 0)
            *unknown = b->lu[i].singular / size_of(b, i);
    }
    return st;
}

void hb_blocks_solve(const ana_orbit *h, bool transposed, hb_cplx *y)
{
    const hb_blocks *b = h->blocks;
    const size_t nk = (size_t)h->n_k, n = (size_t)h->n;
    for (int32_t i = 0; i < b->n; i++) {
        const size_t m = (size_t)size_of(b, i);
        const int32_t *of = b->k + b->first[i];
        for (size_t u = 0; u < n; u++)
            for (size_t k = 0; k < m; k++)
                b->x[u * m + k] = y[u * nk + (size_t)of[k]];
        (transposed ? lu_z_solve_t : lu_z_solve)(&b->lu[i], (double *)b->x);
        for (size_t u = 0; u < n; u++)
            for (size_t k = 0; k < m; k++)
                y[u * nk + (size_t)of[k]] = b->x[u * m + k];
    }
}
