/* nat_line.h - native devices: transmission lines between two ports, ideal and lossy.
 *
 * i_1, i_2 are the currents into the ports, v_1, v_2 the voltages.
 * Ideal line with impedance z and delay td:
 *   static      v_1 - v_2 = 1e-9 z i_1, i_1 + i_2 = 0
 *   transient   v_1 - z i_1 = e_1(t) = (v_2 + z i_2)(t - td), and the same with 1 and 2 exchanged
 *   ac          the same with exp(-j omega td) for the delay
 * Lossy line (r, l, g, c of the whole line; lambda^2 = (r + s l)(g + s c), here at s = 0):
 *   static      r i_1 = lambda coth(lambda) v_1 - lambda/sinh(lambda) v_2, or, without r,
 *               g v_1 = lambda coth(lambda) i_1 + lambda/sinh(lambda) i_2; and the same with 1 and
 *               2 exchanged
 *   transient   nat_lossy.h
 *   ac          as static with s = j omega; with waves where lambda is large
 * The waves v + z i of accepted points are the history (nat_past.h). Both are one kind: the order
 * in which lines add to the rows is the order in which they were added to the circuit.
 * Source: Branin, "Transient analysis of lossless transmission lines", Proc. IEEE 55(11), 1967. */
#ifndef NAT_LINE_H
#define NAT_LINE_H

#include "nat.h"

typedef struct nat_line_opt {
    const char *name; /* outlives the list */
    diag_span span;
    int32_t node[4]; /* p1 n1 p2 n2 */
    int32_t k[2];    /* its current unknowns */
    double m;        /* that many in parallel */
} nat_line_opt;
/* z > 0 in ohm, td > 0 in seconds. */
void nat_line_add(nat_list *l, const nat_line_opt *o, double z, double td);

typedef struct nat_lossy_opt { /* of a lossy line */
    double r, l, g, c; /* ohm, henry, siemens, farad of the whole length; one of r and l, one of g
                        * and c is > 0, not r = g = 0 */
    double t_end;      /* longest time of interest, s */
    bool limited;      /* steps are shorter than its delay */
    bool ic; /* initial conditions are given for its ports: it starts from them with uic */
} nat_lossy_opt;
void nat_lossy_add(nat_list *l, const nat_line_opt *o, const nat_lossy_opt *lossy);

#endif
