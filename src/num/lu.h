/* lu.h - sparse LU of the Newton matrix, on KLU.
 * Use:    lu_init, lu_analyze (new pattern), lu_factor/lu_refactor (new values), lu_solve, lu_fini
 *         KLU chooses pivots; small matrices are then refactored and solved by lu_tiny with these.
 * Source: Davis & Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010. The check after
 *         a refactorisation follows SUNDIALS, sunlinsol_klu.c (cheap estimate first). */
#ifndef LU_H
#define LU_H

#include "csc.h"

typedef struct lu_opt {
    double pivot_tol;  /* a diagonal entry this times the column's largest is taken as pivot; 1e-3 */
    double rcond_drop; /* refactor: look closer when min|u_kk|/max|u_kk| fell by this; 1e-3 */
    double growth_min; /* refactor: least accepted reciprocal pivot growth; 1e-8 */
    bool no_tiny;      /* KLU for all sizes (tests) */
} lu_opt;

typedef struct lu_stat {
    int64_t n_factor, n_refactor, n_reuse, n_solve; /* n_reuse: values equal to those factored */
    double rcond;      /* min|u_kk|/max|u_kk| of the last factors: a crude estimate */
    int32_t singular;  /* after VS_ESINGULAR: column without pivot, from 0; -1 unknown */
    int32_t nnz_lu;    /* entries of L and U of the last full factorisation */
} lu_stat;

typedef struct lu_solver {
    lu_opt opt;
    lu_stat stat;
    struct lu_fac *fac;
} lu_solver;

/* opt NULL: the defaults in the comments above. Allocates nothing. */
void lu_init(lu_solver *lu, const lu_opt *opt);
void lu_fini(lu_solver *lu);

/* Ordering for the pattern of `a`, which must stay unchanged and alive until lu_fini. Allocates.
 * Status: VS_OK; VS_ESINGULAR: no set of pivots exists whatever the values (stat.singular);
 * VS_ENOMEM. */
VS_MUST_USE vs_status lu_analyze(lu_solver *lu, const csc *a);

/* New values, new pivots. Allocates.
 * Status: VS_OK; VS_ESINGULAR (stat.singular); VS_ENOMEM. */
VS_MUST_USE vs_status lu_factor(lu_solver *lu, const csc *a);

/* New values, old pivots. Values equal to those of the present factors cost a comparison.
 * Status: VS_OK; VS_REPIVOT: no factors yet, zero pivot or pivots grown too much: call lu_factor.
 * Allocates nothing. */
VS_MUST_USE vs_status lu_refactor(lu_solver *lu, const csc *a);

/* The solution of A x = b with the present factors; b and x [n] may be the same. Allocates nothing. */
void lu_solve(lu_solver *lu, const double *b, double *x);

/* The column whose pivot is smallest, the unknown to name when a matrix is nearly singular; -1 none. */
int32_t lu_weakest(const lu_solver *lu);

#endif
