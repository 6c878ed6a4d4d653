/* rcnet.h - takes nodes out of a network of conductances and capacitances, with a bound of the
 * error to a given frequency.
 * Use:    rcnet_new; rcnet_add for each element; rcnet_reduce; rcnet_edges; rcnet_free
 * Source: Sheehan, "TICER: realizable reduction of extracted RC circuits", ICCAD 1999 (nodes by
 *         their time constants); the capacitances here are those of Kerns & Yang, "Stable and
 *         efficient reduction of large, multiport RC networks by pole analysis via congruence
 *         transformations", IEEE Trans. CAD 16(7), 1997: exact to the first order in s.
 *
 * A node n has conductances g_j and capacitances c_j to its neighbours j; gamma and chi are their
 * sums, w = g / gamma. Exactly, its elimination adds between neighbours
 *     (g_i + s c_i)(g_j + s c_j) / (gamma + s chi)
 *         = gamma w_i w_j + s (w_i c_j + c_i w_j - chi w_i w_j) + s^2 d_i d_j / (gamma + s chi),
 * d = c - chi w. The last term is left out: with v_n = sum w_j v_j it is, at s = j omega, as a form
 * of the voltages, at most omega chi/gamma times omega sum_j c_j |v_j - v_n|^2, the form of the
 * node's own capacitances. Such parts add up at each node, and a node is taken out while their sum
 * stays within the tolerance. So to the first order in it
 *     |x^H E x| <= tolerance * omega x^H C x
 * for the error E of the admittance between the nodes that stay, their capacitances C, and all x.
 * Conductances are exact: an operating point does not change but for rounding. C stays positive
 * semidefinite, though some of its capacitances between nodes are negative. */
#ifndef RCNET_H
#define RCNET_H

#include "vs.h"

typedef struct rcnet rcnet;

typedef struct rcnet_edge { /* between two nodes; all that is parallel is one */
    int32_t a, b;           /* a < b */
    double g, c;            /* siemens, farad */
    bool made;              /* the reduction changed it */
    bool gone;              /* it went with one of its nodes */
} rcnet_edge;

/* Nodes 0 to n - 1. keep [n]: those that stay; node 0, ground, always does. It is copied. */
rcnet *rcnet_new(int32_t n, const bool *keep);
void rcnet_free(rcnet **net);
/* An element between a and b, a != b, of g >= 0 and c >= 0. Returns the number of its edge. */
int32_t rcnet_add(rcnet *net, int32_t a, int32_t b, double g, double c);
/* Takes nodes out in the order of their bounds; never one that would leave more edges than it had.
 *   tolerance  see above, 0 to below 1; with 0 only nodes without capacitance go
 *   omega      1/s
 * Returns the largest bound that was used. gone [n] out: nodes that were taken out. */
double rcnet_reduce(rcnet *net, double tolerance, double omega, bool *gone);
const rcnet_edge *rcnet_edges(const rcnet *net, int32_t *n);

#endif
