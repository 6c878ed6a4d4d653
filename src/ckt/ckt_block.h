/* ckt_block.h - static loads of blocks of a circuit: the equations of few unknowns at given values
 * of all others. ana/op_levels.c solves a circuit block by block with them.
 * Use:    ckt_blocks_new; ckt_blocks_strength to find blocks; per block ckt_block_begin, then
 *         ckt_block_load at each x; ckt_blocks_free. Loads of the whole circuit may come between; a
 *         client resets the limits (ckt_reset_limits) before the next one.
 *
 * Devices of groups are evaluated without limiting. Native devices are linearised at the x of
 * ckt_blocks_new, and of their entries only those of the block's own unknowns count. So a solution
 * of blocks is a start for Newton, not a solution of the circuit. */
#ifndef CKT_BLOCK_H
#define CKT_BLOCK_H

#include "ckt.h"

typedef struct ckt_blocks ckt_blocks;

/* Nodes that voltage sources tie to ground get their voltage in x [n+1] and true in known [n+1];
 * the currents of these sources and the reference are known as well, their x stays. x NULL: which
 * alone; env is not read. */
void ckt_known_voltages(const ckt *c, const ckt_env *env, double *x, bool *known);

/* known [n+1] is read as long as the object lives. env is static. */
ckt_blocks *ckt_blocks_new(ckt *c, const ckt_env *env, const double *x, const bool *known);
void ckt_blocks_free(ckt_blocks **p);
/* After ckt_blocks_strength: what another thread uses for blocks of its own, at the same time.
 * Freed before p. */
ckt_blocks *ckt_blocks_beside(const ckt_blocks *p);

/* Two vectors over the places of ckt_pattern, [nnz+1]: strength sums over the devices the largest
 * |df/dx| of each at some voltages from lo to hi; conducts sums their largest -df/dx, the sign of a
 * conductance between two nodes. Also notes which devices belong to which row.
 * Status: VS_OK, VS_NOCONV (a device cannot be evaluated). */
VS_MUST_USE vs_status ckt_blocks_strength(ckt_blocks *p, double lo, double hi, double *strength,
                                          double *conducts);

/* Whether strengths are those of all voltages: there is no native device but sources. */
bool ckt_blocks_see_all(const ckt_blocks *p);

/* One block. Valid until the next ckt_block_begin. */
typedef struct ckt_block {
    int32_t n;
    const int32_t *unknown; /* [n] of the circuit, in an order that equal blocks share */
    const csc *a;           /* n-by-n; values of the last ckt_block_load */
    const double *f;        /* [n], of the same */
    bool alike;             /* nothing but devices is in it: `key` tells blocks apart */
    uint64_t key;           /* a hash of devices, their connections inside the block, and the
                             * voltages around it, in steps of `grid` */
} ckt_block;
/* The block of unknowns u[n], none of them known. grid: volt. */
const ckt_block *ckt_block_begin(ckt_blocks *p, const int32_t *u, int32_t n, const double *x,
                                 double grid);
/* Status: VS_OK; VS_NOCONV: not finite. */
VS_MUST_USE vs_status ckt_block_load(ckt_blocks *p, const double *x);

#endif
