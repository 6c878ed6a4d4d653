/* lu_near.h - A x = b by the factors of another matrix M that is near A: GMRES with M on the left,
 * in a norm of the caller. Where factors cost many solutions, a few of these are cheaper than new
 * factors.
 * Use:    lu_near_new, lu_near_solve, lu_near_free
 * Source: Saad & Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986; Saad, "Iterative methods for
 *         sparse linear systems", 2nd ed., 9.3.1. */
#ifndef LU_NEAR_H
#define LU_NEAR_H

#include "csc_cut.h"
#include "lu.h"
#include "pool.h"

enum { LU_NEAR_MOST = 12 }; /* products at most */

typedef struct lu_near lu_near;

typedef struct lu_near_opt {
    const double *tol; /* [n] > 0, of the unknowns: sizes are |x / tol|_2 */
    double part;       /* what is left of the error, as part of the solution's size */
    double least;      /* a size that is small enough */
    int most;          /* products with A at most, 1 to LU_NEAR_MOST */
    bool coarse;       /* M^-1 is lu_solve_coarse, also of x */
} lu_near_opt;

/* For n unknowns. Threads of p share what is not a solution, the product by `cut`, which is of A's
 * pattern; both live at least as long. NULL: one thread; results have the same bits. */
lu_near *lu_near_new(int32_t n, pool *p, const csc_cut *cut);
void lu_near_free(lu_near **s);

/* Solves A x = b.
 *   lu      has factors of M; its counter of solutions goes on
 *   a       A, pattern as in lu_analyze
 *   x       [n] in: M^-1 b; out: the solution, M^-1 (b - A x) being small in o's units; as it was
 *           if that was not reached
 *   n_step  out: products that were made, each with one solution
 *   first   out: the size of M^-1 (b - A x) for the best multiple of M^-1 b, as part of its own:
 *           how near M is. As it was if b is 0.
 * Status: VS_OK; VS_NOCONV: `most` products do not suffice. Allocates nothing. */
VS_MUST_USE vs_status lu_near_solve(lu_near *s, lu_solver *lu, const csc *a, const lu_near_opt *o,
                                    double *x, int *n_step, double *first);

#endif
