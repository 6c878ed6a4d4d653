/* ports.h - what follows from scattering parameters of ports, of one frequency (sp.c) or
 * of one each on a periodic orbit (hb_sp.c). Matrices are [np][np] by rows, z the impedances of the
 * ports, z0 in ohm.
 *   Y = z^-1/2 (1 - S)(1 + S)^-1 z^-1/2,  Z = z^1/2 (1 - S)^-1 (1 + S) z^1/2   (z diagonal)
 * Noise: each source drives currents n_i into the shorted ports; Cy = sum of S n n^H. In waves:
 * what reaches port i, loaded with all z, is c_i; n = -z^-1/2 (1 + S)^-1 2 c.
 * Use:    ports_begin; per frequency fill S and Cs, then ports_y_z, ports_cy, ports_figures;
 *         ports_end.
 * Source: Kurokawa, IEEE Trans. Microwave Theory Tech. 13(2), 1965; Hillbrand & Russer, IEEE Trans.
 *         Circuits Syst. 23(4), 1976 (noise correlation matrices). */
#ifndef PORTS_H
#define PORTS_H

#include "ana_priv.h"

#include "cplx.h" /* last */

typedef cplx ports_cplx;

typedef struct ports {
    const ana_port *port;
    int32_t np;
    ports_cplx *S, *Y, *Z, *Cs, *Cy; /* Cs: sum of S c c^H */
    ports_cplx *m;                   /* scratch */
} ports;

enum { PORTS_N_FIGURE = 3 };

void ports_begin(ports *w, const ana_port *port, int32_t np);
void ports_end(ports *w);
/* Y and Z of S; NaN where there is none. */
void ports_y_z(ports *w);
/* Cy of Cs, which is overwritten, and S. */
void ports_cy(ports *w);
/* Of two ports, from Y and Cy: SOpt (at z0 of port 1), NFmin in dB, Rn in ohm; the return value is
 * the noise factor at z0 of port 1. */
double ports_figures(const ports *w, ports_cplx figure[PORTS_N_FIGURE]);
/* Adds columns KIND_i_j to the vec, for all i, j. */
void ports_columns(ana *a, int32_t np, const char *kind, const char *type, ana_column **col);

#endif
