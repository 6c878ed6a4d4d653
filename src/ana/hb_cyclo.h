/* hb_cyclo.h - noise sources along a periodic orbit (they are cyclostationary), and what they give
 * to an output.
 *
 * The sources' w_sr along the orbit (orbit_noise.h) have Fourier coefficients W_sr. With the
 * adjoint y of the output (row r at harmonic k) a source's density at the output is
 *   sum_p |sum_rk y_rk W_sr,k-p|^2 S_s(|f + p f_0|)
 * The output is any sum of sidebands of unknowns: one sideband, a modulation, a sample in time.
 * Use:    hb_cyclo_begin; for each frequency hb_cyclo_adjoint of each output, then hb_cyclo_density
 *         of each source; hb_cyclo_end in any case.
 * Source: Telichevesky, Kundert & White, DAC 1996. */
#ifndef HB_CYCLO_H
#define HB_CYCLO_H

#include "orbit_noise.h"

#include "hb.h" /* last: it brings `complex`, a name in headers */

typedef struct hb_cyclo {
    ana_orbit *h;
    orbit_noise noise; /* empty without noise */
    hb_cplx *w;        /* [noise.row][n_m] W; {w_0, 0 ...}: it does not change */
    hb_shift shift;
} hb_cyclo;

/* Takes the sources' powers along the orbit (`noise`; else there is none) and the Jacobian of small
 * signals. Allocates. Status: VS_OK; those of ckt_load_ac. */
VS_MUST_USE vs_status hb_cyclo_begin(hb_cyclo *w, ana_orbit *h, bool noise);
void hb_cyclo_end(hb_cyclo *w);
/* y [n n_k + 1]: in the output's weights of all unknowns and harmonics, out its adjoint at f, Hz.
 * Status: as of hb_solve_t. */
VS_MUST_USE vs_status hb_cyclo_adjoint(hb_cyclo *w, double f, hb_cplx *y);
/* What a source gives to the output whose adjoint is y, at f: the output's unit squared per Hz.
 * White noise from 0 Hz is in it; 1/f noise from 0 Hz exactly is left out. */
double hb_cyclo_density(const hb_cyclo *w, size_t source, const hb_cplx *y, double f);
/* The same from all sources. */
double hb_cyclo_total(const hb_cyclo *w, const hb_cplx *y, double f);
/* The power of all sources' shares, of which gmin alone carries it, with the output's feeds. */
double hb_cyclo_shares(const hb_cyclo *w, const small_feeds *feeds, double f);
/* to [n][n] = the correlation of n outputs, of adjoints y [n][n n_k + 1]: what all sources give to
 * output i times the conjugate of what they give to output j. */
void hb_cyclo_correlation(const hb_cyclo *w, const hb_cplx *y, int32_t n, double f, hb_cplx *to);

/* -- hb_instant.c: one tone -- */
/* The output at a part of the period, 0 .. 1, and its slope, per second. */
double hb_output_at(const ana_orbit *h, const ana_output *out, double part, double *slope);

#endif
