/* rep_condition.h - how far rounding of a circuit's equations moves its operating point. */
#ifndef REP_CONDITION_H
#define REP_CONDITION_H

#include "sim.h"

typedef struct rep_condition {
    int32_t unknown; /* the one moved farthest, in units of its tolerance; 0: there is none */
    double moved;    /* V or A, by relative changes of 2^-53 of all entries of the equations */
    double tol;      /* V or A: reltol, vntol, abstol at its value */
} rep_condition;

/* Looks for the operating point of the engine's circuit and its linear equations; messages may be
 * in the engine's diag. Allocates.
 * Status: VS_OK; VS_ESINGULAR; those of building and of the operating point. */
VS_MUST_USE vs_status rep_condition_find(sim *s, rep_condition *c);

#endif
