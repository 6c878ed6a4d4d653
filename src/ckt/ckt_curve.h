/* ckt_curve.h - how the circuit linearised at a point changes with the point: second derivatives of
 * all equations, and derivatives of noise sources.
 * They are exact (mdl_curve.c): no steps are taken, so that a kink that is near does not matter; at
 * one they are those of the side that G and C are of. */
#ifndef CKT_CURVE_H
#define CKT_CURVE_H

#include "ckt_vary.h"

typedef struct ckt_curve { /* d(G + j omega C)_row,col / dx_by; a place may have several */
    int32_t row, col, by;
    double g, c;
} ckt_curve;

/* Those of all devices at x to the vec, by the interpreter, in the order of devices. The forms of
 * ac must be there, as for ckt_load_ac.
 *   noise  out  vec: changes of the numbers of noise sources with the unknowns, and the devices see
 *               analysis("noise"); NULL: an analysis of ac
 * Status: VS_OK; VS_NOCONV: a value is not finite. */
VS_MUST_USE vs_status ckt_curves(ckt *c, const ckt_env *env, const double *x, ckt_curve **to,
                                 ckt_vary_noise **noise);

#endif
