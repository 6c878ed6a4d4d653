/* ckt_delay.h - inside src/ckt: what models have as va_native: delays of signals, unknowns that
 * count modulo. Delay: an unknown y whose row is, with the unknowns u and d of the same instance,
 *   static      y - u = 0
 *   transient   y - u(t - d) = 0; u of accepted points is the history (ckt_past.h). Where the step
 * is longer than d, u is the parabola (beside a corner the straight line) through the last points
 * and the one that is solved for ac          y - exp(-j omega d) u = 0, d being that of the
 * operating point */
#ifndef CKT_DELAY_H
#define CKT_DELAY_H

#include "ckt_priv.h"

void ckt_delay_add(ckt *c, const va_module *m,
                   const int32_t *unk); /* unk: unknowns of the instance */
void ckt_delay_free(ckt *c);
bool ckt_has_delay(const ckt *c);
void ckt_delay_entries(const ckt *c, ckt_entry **e);
void ckt_delay_place(ckt *c);
/* Adds to f, fmax and the values of J; *bound: no step may be longer. */
void ckt_delay_load(ckt *c, const ckt_env *env, const double *x, double *f, double *fmax,
                    double *bound);
void ckt_delay_load_ac(ckt *c, const double *x, double *g);
void ckt_delay_ac(const ckt *c, double omega, double *val);
void ckt_delay_accept(ckt *c, const ckt_env *env, const double *x, bool corner);
double ckt_delay_next_break(const ckt *c, double t); /* first one after t, +inf if none */

#endif
