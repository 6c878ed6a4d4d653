/* ckt_line.h - inside src/ckt: transmission lines, delays between two ports.
 *
 * Ideal line with impedance z and delay td; i_1, i_2 are currents into its ports, v_1, v_2 their
 * voltages. static      v_1 - v_2 = 1e-9 z i_1, i_1 + i_2 = 0 transient   v_1 - z i_1 = e_1(t) =
 * (v_2 + z i_2)(t - td), and the same with 1 and 2 exchanged ac          the same with exp(-j omega
 * td) for the delay Lossy line (r, l, g, c of the whole line; lambda^2 = (r + s l)(g + s c), here
 * at s = 0) static      r i_1 = lambda coth(lambda) v_1 - lambda/sinh(lambda) v_2, or, without r,
 *               g v_1 = lambda coth(lambda) i_1 + lambda/sinh(lambda) i_2; and the same with 1 and
 * 2 exchanged transient   ckt_lossy.h ac          as static with s = j omega; with waves where
 * lambda is large Source: Branin, "Transient analysis of lossless transmission lines", Proc. IEEE
 * 55(11), 1967. The waves v + z i of accepted points are the history (ckt_past.h). */
#ifndef CKT_LINE_H
#define CKT_LINE_H

#include "ckt_priv.h"

typedef struct ckt_lines ckt_lines;

void ckt_line_free(ckt *c);
void ckt_line_mark_charges(ckt *c); /* ports of lines with memory */
void ckt_line_uic(ckt *c);          /* the next start is one with uic */
bool ckt_has_line(const ckt *c);
void ckt_line_entries(const ckt *c, ckt_entry **e); /* of all forms */
void ckt_line_place(ckt *c);                        /* after the pattern is made */
/* Nodes of line i; false: there is no such line. */
bool ckt_line_at(const ckt *c, int32_t i, const int32_t **node, const char **name, diag_span *span);
/* Adds to f, fmax and the values of J; *bound: no step may be longer. */
void ckt_line_load(ckt *c, const ckt_env *env, const double *x, double *f, double *fmax,
                   double *bound);
void ckt_line_source_terms(ckt *c, const ckt_env *env, double *s);
void ckt_line_load_ac(const ckt *c, double *g); /* the part that is the same at all frequencies */
void ckt_line_ac(const ckt *c, double omega, double *val); /* the rest, as ckt_ac_delays */
/* The point at env->time is accepted; corner: waves may have a corner there. */
void ckt_line_accept(ckt *c, const ckt_env *env, const double *x, bool corner);
double ckt_line_next_break(const ckt *c, double t); /* first one after t, +inf if none */

#endif
