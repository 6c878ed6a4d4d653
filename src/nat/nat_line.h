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

/* -- derivatives by numbers of lines -- */
typedef struct nat_line_numbers { /* what a line is made of */
    double z, td, m;              /* as nat_line_add; 0 of a lossy one */
    nat_lossy_opt lossy;          /* of an ideal one 0 */
} nat_line_numbers;
int32_t nat_n_line(const nat_list *l);
nat_line_numbers nat_line_numbers_of(const nat_list *l, int32_t i);
const char *nat_line_name(const nat_list *l, int32_t i);

/* Beside a line go two with other numbers, which see the same voltages and currents: the difference
 * of their equations over `distance` is the derivative of the line's equations, the past included,
 * by what was moved by it. nat_note notes it from then on.
 * NULL, or why there is none. */
const char *nat_line_side(nat_list *l, int32_t i, const nat_line_numbers side[2], double distance);
void nat_line_no_sides(nat_list *l);
enum { NAT_LINE_NOTE = 4 }; /* numbers that a side notes */
/* sum_r lambda_r dF_r/dp of side i, added up over the rows of its line; lambda [n+1].
 *   noted   in  its numbers at the point; NULL: of the static equations
 *   behind  in  what the derivative jumps by just behind the point */
double nat_line_side_sum(const nat_list *l, int32_t i, const double *x, const double *noted,
                         bool behind, const double *lambda);
/* y' dA/dp z of its rows at omega; y and z [n+1], 0 at the reference node. */
double _Complex nat_line_side_phasor(const nat_list *l, int32_t i, double omega,
                                     const double _Complex *y, const double _Complex *z);

#endif
