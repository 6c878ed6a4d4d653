/* lu_panel.h - columns to the left of a panel are eliminated from all of its columns at once.
 * Use:    lu_super.c puts up to LU_PANEL columns of a supernode into x; calls lu_panel_eliminate
 *         for each run of rows that they have in an earlier supernode, in ascending order; and
 *         takes the rows of their own supernode out of x, which is then zero again.
 * Source: Demmel, Eisenstat, Gilbert, Li & Liu, SIAM J. Matrix Anal. Appl. 20(3), 1999, section
 *         4.2 (supernode-panel updates): a block is read once for all columns of a panel.
 *
 * Columns stand in octets: a row of eight columns is a line of the cache, so scattered rows are
 * moved as SIMD words. Each column's sums have the order of lu_super.c's loops for a single column:
 * how columns are put into panels changes no bit of finite factors but the sign of a zero. */
#ifndef LU_PANEL_H
#define LU_PANEL_H

#include "vs.h"

enum { LU_OCTET = 8, LU_PANEL = 32 };

/* Rows id[0] .. id[m - 1] of the members' columns are solved with the unit triangle of a
 * supernode's block, which makes them U's part, and what they do to the rows below is subtracted.
 *   id       in      [rows] rows of the block, ascending; the first m follow each other
 *   l        in      the block from its row id[0] and the column of that pivot on; m columns, `ld`
 *                    apart
 *   m        in      1 .. 32
 *   members  in      bit j: column j has this run; others are not changed
 *   apart    in      numbers from an octet of x to the next one
 *   x        in/out  octets of [n][LU_OCTET], aligned to 32 bytes; rows id[0] .. id[m - 1] of the
 *                    members become 0
 *   u        out     octets of [m][LU_OCTET], aligned to 32 bytes: U's part of the members; the
 *                    rest is undefined */
void lu_panel_eliminate(const int32_t *id, const double *l, int32_t ld, int32_t rows, int32_t m,
                        uint32_t members, int64_t apart, double *x, double *u);

#endif
