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
 * Use:    ana_orbit_find (hb.c) makes an ana_orbit, starts with hb_from_transient, and iterates
 *         hb_load, hb_factor, hb_solve; ana_hbac, ana_hbnoise and ana_hbsp use its matrix at other
 *         omega.
 * Shapes: a spectrum is [n_k], samples of one unknown are [n_m]. Unknowns are numbered from 1 in x,
 *         xs, fs, qs (0 is the reference) and from 0 in vectors of the matrix, r, dx and b. Units
 *         are those of the unknown or of the row: V, A, C; omega in rad/s.
 * Source: Kundert, White & Sangiovanni-Vincentelli, "Steady-state methods for simulating analog and
 *         microwave circuits", 1990; Maas, "Nonlinear microwave and RF circuits", 2nd ed., 2003. */
#ifndef HB_H
#define HB_H

#include "ana_priv.h"
#include "fft.h"
#include "lu_z.h"

#include "cplx.h" /* last */

typedef cplx hb_cplx;

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

typedef struct hb_blocks hb_blocks;

struct ana_orbit {
    ana *a;
    ana_hb_opt o;
    ana_sink sink;
    double next_progress;
    int32_t n, nnz;
    /* -- the lattice -- */
    int32_t dim[ANA_TONES], n_dim, n_m; /* of the transform: its dimensions; samples in all */
    int32_t turn[ANA_TONES];            /* n_dim < n_tone: hb_grid.c */
    fft_plan *plan;
    int32_t *opposite; /* [n_m] the cell of -k, of the one of k */
    int32_t n_k;
    int32_t (*index)[ANA_TONES]; /* vec: [n_k] k_1, k_2, ... */
    int32_t *cell;               /* [n_k] where the harmonic stands in a transform of the grid */
    int32_t *minus;              /* [n_k] number of -k */
    double *omega;               /* [n_k] */
    int32_t *line;               /* vec: harmonics of the one-sided spectrum, frequencies rising */
    double offset;               /* s, added to times: sources have started */
    int32_t *tone_of; /* vec: number of the tone that each source follows, -1: it is constant */
    /* -- the state and what belongs to it -- */
    hb_cplx *x;       /* [n + 1][n_k] */
    double *xs;       /* [n_m][stride] samples */
    size_t stride;    /* of a vector of unknowns */
    double *fs, *qs;  /* [n_m][stride] */
    double *drive;    /* [n_m][stride] what sources give, without its mean */
    double *size;     /* [n+1] largest term of each row over all samples, for its tolerance */
    double *gs, *cs;  /* vecs: [n_varying][n_m] entries that vary, at all samples */
    double *row;      /* [2][nnz + 1] G, C of the sample at hand */
    hb_cplx *g, *c;   /* [n_varying][n_m] their transforms / n_m, for the whole matrix */
    bool transformed; /* g, c are those of the last load */
    double *g0, *c0;  /* [nnz] means */
    int32_t *varying; /* [nnz] number among those that vary, -1: constant */
    int32_t n_varying, n_varying_made; /* of g and c, of the matrix */
    bool bordered, bordered_made;      /* the matrix has the frequency and the phase */
    hb_cplx *y;                        /* [n_k][nnz] of lines and delays, NULL: there are none */
    hb_cplx *r, *dx;                   /* [n n_k + 1] */
    double *part[2];                   /* [n_m] scratch: samples, or the parts of a transform */
    hb_matrix m;                       /* factors of the whole matrix, or its pattern alone */
    hb_blocks *blocks; /* the preconditioner, NULL: the matrix is factored as a whole */
    bool slow;         /* GMRES with the blocks did not get to an end */
    double left;       /* of the right side, when GMRES ends */
    double lambda;     /* 0 .. 1: the factor of the drive, raised step by step if Newton fails */
};

/* -- hb_grid.c -- */
/* Sets dim, n_dim, n_m and turn, for the kept harmonics: a grid, or a lattice where it is smaller.
 * Allocates. Status: VS_OK; VS_EINPUT with a message: too many samples. */
VS_MUST_USE vs_status hb_make_grid(ana_orbit *h);
/* Where harmonic k = (k_1, k_2, ...) stands in a transform, 0 .. n_m - 1, modulo the grid. */
int32_t hb_cell(const ana_orbit *h, const int32_t *k);
/* The time of a sample in periods of the tone, 0 .. below 1. */
double hb_phase(const ana_orbit *h, int32_t sample, int32_t tone);

/* -- hb_load.c -- */
/* Transforms of the entries that vary, into h->g and h->c, if there are none since the last load.
 */
void hb_transform_entries(ana_orbit *h);
/* The transforms of entry v of those that vary, / n_m: of G and, if c is given, of C. g, c [n_m] */
void hb_transform_entry(ana_orbit *h, int32_t v, hb_cplx *g, hb_cplx *c);
/* One unknown, from spectrum [n_k] to samples [n_m], re and im. */
void hb_inverse(const ana_orbit *h, const hb_cplx *spectrum, double *re, double *im);
/* And back: the samples are overwritten by their transform. */
void hb_forward(const ana_orbit *h, double *re, double *im, hb_cplx *spectrum);
/* The same of two real signals at once. Back, b may be NULL. */
void hb_inverse_real(const ana_orbit *h, const hb_cplx *a, const hb_cplx *b, double *to_a,
                     double *to_b);
void hb_forward_real(const ana_orbit *h, double *from_a, double *from_b, hb_cplx *a, hb_cplx *b);
/* The residual h->r and the sizes of rows at h->x. With `jacobian` also G and C, their transforms
 * and what lines and delays add at omega_k; factors are not made. Allocates workspace.
 * Status: VS_OK; VS_NOCONV: a value is not finite, or a model's loop has no end. */
VS_MUST_USE vs_status hb_load(ana_orbit *h, bool jacobian);
/* Currents f [stride] of all devices and sources into the nodes at a sample, for another gmin. */
VS_MUST_USE vs_status hb_currents(ana_orbit *h, int32_t m, double gmin, double *f);
/* To h->r what another gmin adds: the state moves by -J^-1 r for it. h->fs and h->qs are lost.
 * Both allocate workspace. Status: as hb_load. */
VS_MUST_USE vs_status hb_load_gmin(ana_orbit *h);
/* What lines and delays add at omega_k + omega, into h->y; NULL stays if there are none. */
void hb_load_delays(ana_orbit *h, double omega);
/* Gives the first tone the frequency f, Hz, and all omega_k what follows. */
void hb_set_tone(ana_orbit *h, double f);
/* What a load at the sample, 0 .. n_m - 1, is told: with one tone its time within the period; with
 * several h->offset, since drive has the values of the sources. */
ckt_env hb_env(const ana_orbit *h, int32_t sample);

/* -- hb_refuse.c -- */
/* Whether the state, of the last hb_load with the Jacobian, is one of the circuit. Allocates.
 * Status: VS_OK; VS_ESINGULAR with a message: gmin alone carries it. */
VS_MUST_USE vs_status hb_refuse(ana_orbit *h);

/* -- hb_matrix.c -- */
/* Factors of the matrix at omega from the G and C of the last hb_load: of the whole, or, where that
 * would be too large, of one block for each harmonic, which then precondition GMRES. Allocates.
 * Status: VS_OK; VS_ESINGULAR; VS_EUNSUPPORTED: too large for an LU with 32-bit numbers. */
VS_MUST_USE vs_status hb_factor(ana_orbit *h, double omega);
/* Solves A x = b at omega in place, b [n n_k + 1]. Where the factors are of another omega, GMRES
 * tries them as preconditioner if it is near; else, or if that fails, hb_factor makes new ones.
 * Allocates.
 * Status: VS_OK; VS_ESINGULAR; VS_NOCONV: GMRES did not get there. */
VS_MUST_USE vs_status hb_solve(ana_orbit *h, double omega, hb_cplx *b);
/* The same with A' (transposed, not conjugated): adjoint of noise and of gradients. */
VS_MUST_USE vs_status hb_solve_t(ana_orbit *h, double omega, hb_cplx *b);
/* The cell, 0 .. n_m - 1, of coefficient k - l in a transform over the grid, modulo the grid. */
int32_t hb_difference(const ana_orbit *h, int32_t k, int32_t l);
/* y = A x at omega, x and y [n n_k], without the frequency and the phase of an oscillator.
 * Allocates workspace. */
void hb_product(ana_orbit *h, double omega, const hb_cplx *x, hb_cplx *y);
/* Frees matrix, factors and preconditioners; the next hb_factor makes them from nothing. */
void hb_matrix_free(ana_orbit *h);

/* -- hb_blocks.c -- */
/* Makes h->blocks at omega from the last load. Allocates. Status: VS_OK; VS_ESINGULAR: *unknown,
 * from 0, is the one whose pivot is 0, -1: it is not known. */
VS_MUST_USE vs_status hb_blocks_factor(ana_orbit *h, double omega, int32_t *unknown);
/* y [n n_k] in place: the blocks' solution, with `transposed` that of their transposes. */
void hb_blocks_solve(const ana_orbit *h, bool transposed, hb_cplx *y);
void hb_blocks_free(hb_blocks **blocks);

/* -- hb_start.c -- */
/* Runs a transient for tstab seconds and a period more. The spectrum of that period becomes h->x;
 * of an oscillator its frequency the first tone's, with the phase turned so that Im X_1 of the
 * probe is 0. Status: as of cycle_record. */
VS_MUST_USE vs_status hb_from_transient(ana_orbit *h, double tstab);

/* -- hb_shift.c -- */
typedef struct hb_shift {
    ana_orbit *h;
    bool transposed;
    hb_cplx *miss, *along; /* [n n_k + 1] m and w; NULL: no oscillator */
    hb_cplx *turn;         /* [n n_k + 1] solution of the correction at turn_f, Hz; NAN: none yet */
    double turn_f;
} hb_shift;
/* For many solutions of small signals, of a last hb_load with the Jacobian. Allocates. */
void hb_shift_begin(hb_shift *w, ana_orbit *h, bool transposed);
void hb_shift_end(hb_shift *w);
/* As hb_solve and, with `transposed`, hb_solve_t, at f Hz; the matrix of an oscillator is corrected
 * so that it knows nothing of a shift in time at f = 0. */
VS_MUST_USE vs_status hb_shift_solve(hb_shift *w, double f, hb_cplx *b);

/* -- hb_small.c -- */
/* Number of the harmonic (s, 0, ...), 0 .. n_k - 1; -1: it is not kept. */
int32_t hb_sideband(const ana_orbit *h, int32_t s);

#endif
