/* rep_jump.h - where a device's equations jump. */
#ifndef REP_JUMP_H
#define REP_JUMP_H

#include "sim.h"

typedef struct rep_jump {
    int32_t row;     /* unknown of the circuit whose equation jumps */
    int32_t crossed; /* unknown, a voltage */
    double at;       /* V: where the other one crosses this */
    double from, to; /* of the row, just below and just above: A, V, or coulomb */
    bool of_charge;
} rep_jump;

/* Looks for the first jump of a device's currents, voltages and charges in dc, while one of its
 * voltages goes from -reach to reach and the others rest at x. It sees what is larger than ten
 * tolerances and does not hide between two points of a grid.
 *   x  i/o  [n+1] unknowns of the circuit; as before when it returns
 * Allocates. Returns whether there is one. */
bool rep_jump_find(sim *s, int32_t device, double *x, double reach, rep_jump *j);

#endif
