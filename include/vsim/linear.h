/* linear.h - the equations of a circuit at a point: residual and Jacobian as sparse arrays.
 * r(x) = f(x) + d/dt q(x) = 0, row i the equation of unknown i: for a node the sum of currents that
 * leave it into devices. G = df/dx, C = dq/dx. */
#ifndef VSIM_LINEAR_H
#define VSIM_LINEAR_H

#include "deck.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays belong to the deck and live until its next call that is not a pure read. Column j and row
 * i of the matrices (from 0) are unknowns j + 1 and i + 1 of vsim_unknown_at. */
typedef struct vsim_equations {
    int32_t n;             /* unknowns without ground */
    const int32_t *colptr; /* [n+1] */
    const int32_t *row;    /* [nnz] ascending in each column, nnz = colptr[n] */
    const double *g;       /* [nnz] siemens between nodes; by the units of row and unknown */
    const double *c;       /* [nnz] farad between nodes */
    const double *f;       /* [n] resistive residual */
    const double *q;       /* [n] charge (coulomb) or flux (weber) */
    const double *x;       /* [n] the point */
} vsim_equations;
/* At the point x [n+1] (as vsim_point has it), or with NULL at the operating point, which is
 * computed. Sources have their dc values. Status: VSIM_OK; VSIM_NOCONV: no operating point, or a
 * value that is not finite; VSIM_EINPUT: a run is under way; those of building the circuit. */
VSIM_MUST_USE vsim_status vsim_equations_at(vsim_deck *d, const double *x, vsim_equations *e);

#ifdef __cplusplus
}
#endif
#endif
