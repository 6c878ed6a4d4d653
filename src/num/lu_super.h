/* lu_super.h - LU of a large sparse matrix with pivots that are known, by supernodes.
 * Use:    lu_super_new with the pivots, lu_super_set_scale, lu_super_factor for new values (or
 *         lu_super_factor_with, which checks the pivots), lu_super_solve; lu_super_free.
 * Source: Demmel, Eisenstat, Gilbert, Li & Liu, SIAM J. Matrix Anal. Appl. 20(3), 1999
 *         (supernode-column updates); Chen, Wang & Yang, IEEE Trans. CAD 32(2), 2013 (columns in
 *         the order of a pipeline).
 *
 * A supernode is a run of columns of L with the same rows below: they lie in memory as one dense
 * block, and what they do to a later column is a product of this block with a short vector, one
 * index per row instead of one per entry. Rows are not scaled, since with given pivots scaling
 * changes only the rounding. Columns whose entries of A are the same as in the factorisation
 * before, and which use no column that changed, stay.
 *
 * Threads: parts of the matrix that do not depend on each other are factored at the same time, then
 * the columns that join them, each waiting for those that it needs. A column's sums have one order,
 * and so have the rows' of a solution: results do not depend on the number of threads. */
#ifndef LU_SUPER_H
#define LU_SUPER_H

#include <suitesparse/klu.h>

#include "csc_cut.h"
#include "lu.h"
#include "pool.h"

typedef struct lu_super lu_super;

/* Plans the factorisation of a's pattern, in the blocks and with the columns of `sym`.
 *   a        in  its pattern stays the caller's, and alive
 *   p        in  [n] rows of A in the order of pivots: sym->P, pivots on the diagonal of its
 *                permutation, or those that KLU chose. Copied
 *   team         threads that lu_super_factor uses, and lu_super_solve from `share_from` entries
 *                on; each gets, of what is its own, what has most of its rows
 *   trees        small subtrees are planned as a whole, which a few factorisations do not repay
 * NULL: too many entries. Allocates. */
lu_super *lu_super_new(const csc *a, const klu_symbolic *sym, const int32_t *p, csc_team team,
                       double share_from, bool trees);
void lu_super_free(lu_super **s);

/* Whether the plan, of the same pattern, is one for these pivots. */
bool lu_super_fits(const lu_super *s, const int32_t *p);

/* The next factors are made as if they were the first. */
void lu_super_forget(lu_super *s);

const int32_t *lu_super_rows(const lu_super *s); /* [n] rows of A in the order of pivots */
int64_t lu_super_entries(const lu_super *s);     /* of L and U, both with their diagonal */
double lu_super_work(const lu_super *s);         /* multiplications, as klu_flops counts them */

const double *lu_super_values(const lu_super *s); /* [nnz] of A, that the factors are of */

/* Sizes of the rows: the largest entry of each, as KLU's. Before the first factors. Factors do not
 * depend on it, but what is said of their pivots does. */
void lu_super_set_scale(lu_super *s, const csc *a);
const double *lu_super_scale(const lu_super *s); /* [n] in the order of pivots */

/* Factors of the values of `a`. Returns min|u_kk| / max|u_kk|, rows divided by their scale; 0 if
 * one is zero or not finite: then there are no factors. Allocates nothing. */
double lu_super_factor(lu_super *s, const csc *a);
/* The same, and 0 too if a pivot is below `tol` times the largest entry of its column after
 * elimination, rows divided by their scale: KLU would choose another one. */
double lu_super_factor_with(lu_super *s, const csc *a, double tol);

/* Whether an entry of U is more than 1 / least times the largest one of A in its column, within the
 * block: klu_rgrowth would be below `least`. */
bool lu_super_grows_beyond(const lu_super *s, double least);

/* x = A^-1 b; b and x [n] may be the same. Allocates nothing. */
void lu_super_solve(lu_super *s, const double *b, double *x);
/* The same with the factors rounded to 24 bits, unless they are out of range: the exact solution,
 * but for the rounding of sums of 53 bits, for another matrix near A. Allocates at its first call
 * and rounds at the first one after a factorisation. */
void lu_super_solve_coarse(lu_super *s, const double *b, double *x);

/* Columns that the last factorisation, or part of one, made anew. */
int32_t lu_super_made(const lu_super *s);
/* lu_refactor_part and lu_solve_part, with the value of lu_super_factor. Only supernodes are looked
 * at that have columns of the part, or use columns that changed; in a solution those that the right
 * side reaches. Allocate nothing but at their first call. */
double lu_super_factor_part(lu_super *s, const csc *a, const lu_part *p);
void lu_super_solve_part(lu_super *s, lu_part *p, const double *b, double *x);

int32_t lu_super_weakest(const lu_super *s); /* the column of the least |u_kk| over scale */

#endif
