/* ckt_kept.h - details whose values are wanted at many points. Devices are evaluated by kernels of
 * a form of its own (MDL_ASKED), many at a time; ckt_details takes the interpreter.
 * Use:    ckt_kept_new; ckt_kept_values at each point; ckt_kept_free, which does not look at the
 *         circuit, when that is another. */
#ifndef CKT_KEPT_H
#define CKT_KEPT_H

#include "ckt.h"

typedef struct ckt_kept ckt_kept;

/* Details d [n], which are copied; of points in time, or of operating points. Makes the kernels
 * that are not there yet. Devices whose kernel cannot be made, or that have hidden state, are left
 * to ckt_details. */
ckt_kept *ckt_kept_new(ckt *c, bool transient, const ckt_detail *d, size_t n);
void ckt_kept_free(ckt_kept **k);
/* Their values at x to value [n]; env: of such a point. Status: VS_OK, VS_NOCONV. */
VS_MUST_USE vs_status ckt_kept_values(ckt_kept *k, const ckt_env *env, const double *x,
                                      double *value);

#endif
