/* csc_cut.h - the rows of a matrix, cut into parts for threads that share sums over its entries:
 * each adds to its own rows what one thread alone would, in the same order. So results have the
 * same bits for any number of parts.
 * Use:    csc_cut_new, csc_cut_like */
#ifndef CSC_CUT_H
#define CSC_CUT_H

#include "arena.h"
#include "csc.h"

/* Part p has rows row[p] to row[p + 1] - 1. Of each column it takes the entries there: they stand
 * side by side, since rows ascend. */
typedef struct csc_cut {
    int32_t n_part;
    int32_t *row; /* [n_part + 1] */
    int32_t *col; /* [n_part][2] the first column with an entry there; behind the last */
    int32_t *at;  /* [n_part + 1][n] of a column: its first entry in row[p] or below */
} csc_cut;

/* Parts of about as many entries each; the values of a do not matter. Lives in mem. */
csc_cut *csc_cut_new(arena *mem, const csc *a, int32_t n_part);
/* a, with as many rows as those that `rows` cuts, in the same parts. */
csc_cut *csc_cut_like(arena *mem, const csc *a, const csc_cut *rows);

#endif
