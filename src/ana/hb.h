/* hb.h - harmonic balance: what the files hb*.c share.
 *
 * Unknown i is x_i(t) = sum_k X_ik exp(j omega_k t) over the kept harmonics k = (k_1, k_2, ...) of
 * the tones, both signs: n_k of them. The equations f(x, t) + d/dt q(x) = 0 are evaluated at
 * samples of a grid with one dimension a tone, which their Fourier transform turns into
 *   R_ik = F_ik + j omega_k Q_ik + sum_j Y_ij(omega_k) X_jk
 * with Y of lines and delays. Newton's matrix is G_(k-l) + j omega_k C_(k-l) for row k and column
 * l, G_m and C_m the transforms of the Jacobian's entries over the grid: taken modulo the grid,
 * this is exact. With omega + omega_k in place of omega_k it is the response to small signals at
 * omega.
 * Source: Kundert, White & Sangiovanni-Vincentelli, "Steady-state methods for simulating analog and
 *         microwave circuits", 1990; Maas, "Nonlinear microwave and RF circuits", 2nd ed., 2003. */
#ifndef HB_H
#define HB_H

#include "ana_priv.h"
#include "fft.h"
#include "lu_z.h"

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex hb_cplx;

/* The matrix for small signals at omega, of all unknowns and harmonics: unknown i, harmonic k is
 * column i n_k + k, from 0; an oscillator has one column and row more, the frequency and the phase.
 * Entries that are the same at all samples couple only equal harmonics. */
typedef struct hb_matrix {
    csc a; /* pattern; val stays NULL */
    lu_z lu;
    double *val;  /* [2 nnz] */
    double omega; /* of the factors */
    bool factored;
} hb_matrix;

struct ana_orbit {
    ana *a;
    ana_hb_opt o;
    ana_sink sink;
    double next_progress;
    int32_t n, nnz;
    /* -- the lattice -- */
    int32_t dim[ANA_TONES], n_m; /* samples of each tone, in all */
    int32_t n_k;
    int32_t (*index)[ANA_TONES]; /* [n_k] k_1, k_2, ... */
    int32_t *cell;               /* [n_k] where the harmonic stands in a transform of the grid */
    int32_t *minus;              /* [n_k] number of -k */
    double *omega;               /* [n_k] */
    int32_t *line;               /* vec: harmonics of the one-sided spectrum, frequencies rising */
    double offset;               /* s, added to times: sources have started */
    int32_t *tone_of;            /* vec: of each source, -1: it does not move */
    /* -- the state and what belongs to it -- */
    hb_cplx *x;                        /* [n + 1][n_k] */
    double *xs;                        /* [n_m][stride] samples */
    size_t stride;                     /* of a vector of unknowns */
    double *fs, *qs;                   /* [n_m][stride] */
    double *drive;                     /* [n_m][stride] what sources give, without its mean */
    double *size;                      /* [n+1] largest term of each row */
    double *gs, *cs;                   /* [n_m][nnz + 1] */
    hb_cplx *g, *c;                    /* [n_varying][n_m] transforms of entries that vary, / n_m */
    double *g0, *c0;                   /* [nnz] means */
    int32_t *varying;                  /* [nnz] number among those that vary, -1: constant */
    int32_t n_varying, n_varying_made; /* of g and c, of the matrix */
    bool bordered, bordered_made;      /* the matrix has the frequency and the phase */
    hb_cplx *y;                        /* [n_k][nnz] of lines and delays, NULL: there are none */
    hb_cplx *r, *dx;                   /* [n n_k + 1] */
    hb_cplx *grid;                     /* [n_m] scratch */
    hb_matrix m;
    lu_z *block;       /* [n_k] preconditioners, NULL: the matrix is factored as a whole */
    double *block_val; /* [2 nnz] */
    double lambda;     /* part of the drive that acts */
};

/* -- hb_load.c -- */
/* One unknown, from spectrum [n_k] to samples [n_m] and back. */
void hb_inverse(ana_orbit *h, const hb_cplx *spectrum, hb_cplx *samples);
void hb_forward(ana_orbit *h, hb_cplx *samples, hb_cplx *spectrum);
/* Residual h->r, sizes of rows; with `jacobian` G and C too.
 * Status: VS_OK; VS_NOCONV: not finite. */
VS_MUST_USE vs_status hb_load(ana_orbit *h, bool jacobian);
/* What lines and delays add at omega_k + omega, into h->y; NULL stays if there are none. */
void hb_load_delays(ana_orbit *h, double omega);
/* Other frequency of the first tone. */
void hb_set_tone(ana_orbit *h, double f);
ckt_env hb_env(const ana_orbit *h, int32_t sample);

/* -- hb_matrix.c -- */
/* Values for omega and factors. Status: VS_OK; VS_ESINGULAR; VS_EUNSUPPORTED: too large. */
VS_MUST_USE vs_status hb_factor(ana_orbit *h, double omega);
/* A x = b and A' x = b at omega, b [n n_k + 1] in place; factors of another omega serve GMRES.
 * Status: VS_OK, VS_ESINGULAR, VS_NOCONV. */
VS_MUST_USE vs_status hb_solve(ana_orbit *h, double omega, hb_cplx *b);
VS_MUST_USE vs_status hb_solve_t(ana_orbit *h, double omega, hb_cplx *b);
/* Where coefficient k - l stands in a transform over the grid. */
int32_t hb_difference(const ana_orbit *h, int32_t k, int32_t l);
/* y = A x at omega, without the frequency and the phase of an oscillator. */
void hb_product(ana_orbit *h, double omega, const hb_cplx *x, hb_cplx *y);
void hb_matrix_free(ana_orbit *h);

/* -- hb_start.c -- */
/* The last period of a transient becomes the state; of an oscillator also the frequency. */
VS_MUST_USE vs_status hb_from_transient(ana_orbit *h, double tstab);

#endif
