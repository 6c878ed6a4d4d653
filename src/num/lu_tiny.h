/* lu_tiny.h - LU of a matrix with pivots that are known: a list of operations. For matrices of
 * circuits with up to some thousand unknowns, which have little fill.
 * Use:    lu_tiny_new with the pivots of a sparse factorisation; lu_tiny_factor for new values,
 *         lu_tiny_solve; lu_tiny_free.
 * Source: Gustavson, Liniger & Willoughby, J. ACM 17(1), 1970 (the elimination of a fixed pattern
 *         as a program without searching); Doolittle's order, row by row.
 *
 * On such matrices a sparse solver spends most of its time with pointers, scatter and gather of
 * columns, row scaling and checks. Here each entry of L and U is one sum of products of entries
 * known before, their places are fixed, and the factors lie in memory in the order of use. */
#ifndef LU_TINY_H
#define LU_TINY_H

#include "csc.h"

enum { LU_TINY_MAX_N = 4096, LU_TINY_MAX_PAIRS = 1 << 15 };

typedef struct lu_tiny lu_tiny;

/* Plans the elimination of the pattern of `a`, whose k-th pivot is in row p[k] and column q[k].
 *   p, q   in  [n] permutations of 0..n-1
 *   scale  in  [n] size of the row of pivot k; only lu_tiny_factor's result depends on it
 *   max_pairs  products, at most LU_TINY_MAX_PAIRS
 * NULL: more than these, or than LU_TINY_MAX_N unknowns. */
lu_tiny *lu_tiny_new(const csc *a, const int32_t *p, const int32_t *q, const double *scale,
                     int32_t max_pairs);
void lu_tiny_free(lu_tiny **t);
/* Whether it was made for these pivots [n], of a matrix of the same pattern. */
bool lu_tiny_fits(const lu_tiny *t, const int32_t *p, const int32_t *q);

/* Other sizes of the rows, in the order of pivots. */
void lu_tiny_set_scale(lu_tiny *t, const double *scale);

/* Factors of the values of `a`. Returns min|u_kk| / max|u_kk|, rows divided by their scale; 0 if a
 * pivot is zero: then there are no factors. Allocates nothing. */
double lu_tiny_factor(lu_tiny *t, const csc *a);

/* x = A^-1 b; b and x [n] may be the same. Allocates nothing. */
void lu_tiny_solve(lu_tiny *t, const double *b, double *x);

/* From now on t works by tables and not by machine code: for tests, and for machines other than
 * x86-64, which have nothing else. */
void lu_tiny_use_tables(lu_tiny *t);
/* From now on a product and its difference round twice, as where the processor has no FMA: for
 * tests. */
void lu_tiny_round_twice(lu_tiny *t);

int32_t lu_tiny_nnz(const lu_tiny *t);     /* entries of L and U, both with their diagonal */
int32_t lu_tiny_pairs(const lu_tiny *t);   /* products of a factorisation */
int32_t lu_tiny_weakest(const lu_tiny *t); /* the column of the least |u_kk| over scale */

#endif
