/* lu.h - LU of the Newton matrix: one interface, several methods.
 * Use:    lu_init, lu_analyze (new pattern), lu_factor/lu_refactor (new values), lu_solve, lu_fini
 * Source: Davis & Palamadai Natarajan, "Algorithm 907: KLU", ACM TOMS 37(3), 2010; Davis,
 *         "Algorithm 832: UMFPACK", ACM TOMS 30(2), 2004; LAPACK dgetrf. The check after a
 *         refactorisation follows SUNDIALS, sunlinsol_klu.c (cheap estimate first).
 *         docs/numerics.md has the limits.
 *
 * With LU_AUTO KLU chooses the pivots; of large matrices those on the diagonal are tried first, by
 * supernodes, and are the same if they pass KLU's rule. New values and solutions with these pivots
 * are computed, by size, by a list of operations (lu_tiny.h; from 64 unknowns on only after the
 * pivots have served for some time) or by supernodes (lu_super.h). Large matrices that are
 * symmetric and positive definite, but for rows and columns of one unknown, get Cholesky factors
 * instead. The first factors tell the work: if they are nearly full, LU_AUTO goes over to a dense
 * matrix, and if fill is great to UMFPACK. CHOLMOD, UMFPACK and LAPACK are loaded when they are
 * first needed; LU_AUTO leaves out those that are not installed. */
#ifndef LU_H
#define LU_H

#include "csc.h"
#include "image.h"

#define LU_KIND_LIST(X) \
    X(AUTO, "auto")     \
    X(KLU, "klu") X(TINY, "tiny") X(UMFPACK, "umfpack") X(DENSE, "dense") X(CHOLESKY, "cholesky")
typedef enum lu_kind {
#define X(id, name) LU_##id,
    LU_KIND_LIST(X)
#undef X
        LU_N_KIND
} lu_kind;

typedef struct lu_opt {
    double pivot_tol; /* a diagonal entry this times the column's largest is taken as pivot; 1e-3 */
    double rcond_drop; /* refactor: look closer when min|u_kk|/max|u_kk| fell by this; 1e-3 */
    double growth_min; /* refactor: least accepted reciprocal pivot growth; 1e-8 */
    lu_kind kind; /* KLU: plain KLU for all sizes; TINY: a list of operations up to its limits */
    /* Factors that serve few solutions, one of thousands with the same pattern: AUTO is KLU where a
     * list of operations, which would not pay, could be made (up to 4096 unknowns) */
    bool brief;
    struct pool *pool; /* for large matrices; NULL: one thread. Results do not depend on it */
    /* Which of its threads has which rows of A in its cache; NULL: none. Results do not depend on
     * it */
    const struct csc_cut *rows;
    double share_from;     /* entries of L and U from which on threads share a solution; 2e5 */
    double coarse_from;    /* and from which on lu_solve_coarse rounds them; 2e6 */
    int32_t cholesky_from; /* unknowns from which on AUTO tries Cholesky: it saves more than its
                              ordering and loading cost; 5000 */
    /* lu_factor gives VS_NOCONV instead of factors that pivots beside the diagonal make much larger
     * than those with pivots on it, if the matrix is large; see LU_REFUSE_FROM. KLU only. */
    bool refuse_fill;
    /* Matrices of a circuit at rest: mostly some pivot on the diagonal is too small. AUTO tries
     * them only where KLU's choice would cost far more than the attempt. */
    bool at_rest;
    /* Values of a circuit with gain, symmetric by chance if at all: AUTO does not try Cholesky. */
    bool lopsided;
    /* Factors of a large matrix are going to be made, which nothing can interrupt, or are made. */
    void (*long_work)(void *user, bool begins); /* NULL: nobody is told */
    void *long_user;
} lu_opt;

typedef struct lu_stat {
    int64_t n_factor, n_refactor, n_reuse, n_solve; /* n_reuse: values equal to those factored */
    int64_t n_column;                               /* columns of L and U that were made anew */
    double rcond;       /* min|u_kk|/max|u_kk| of the last factors: a crude estimate */
    int32_t singular;   /* after VS_ESINGULAR: column without pivot, from 0; -1 unknown */
    const char *why;    /* after VS_EUNSUPPORTED: what of the matrix the method cannot take; NULL:
                           its library is not installed */
    int32_t nnz_lu;     /* entries of L and U of the last full factorisation */
    double work;        /* multiplications of it */
    const char *method; /* of the present factors: "klu", "klu/tiny", "klu/supernodes", "umfpack",
                           "dense", "cholesky" */
} lu_stat;

typedef struct lu_solver {
    lu_opt opt;
    lu_stat stat;
    struct lu_fac *fac;
} lu_solver;

/* Expected entries of L and U from which on a matrix is large as to opt.refuse_fill: below, such
 * factors are made in hundredths of a second. */
enum { LU_REFUSE_FROM = 250000 };

/* "klu" and so on; the number of a name, -1: none. */
const char *lu_kind_name(lu_kind k);
int lu_kind_of(const char *name);

/* opt NULL: the defaults in the comments above. Allocates nothing. */
void lu_init(lu_solver *lu, const lu_opt *opt);
void lu_fini(lu_solver *lu);

/* Ordering for the pattern of `a`, which must stay unchanged and alive until lu_fini. That of a
 * large matrix waits until its first factors, or lu_plan, ask for it. Allocates.
 * Status: VS_OK; VS_ESINGULAR: no set of pivots exists whatever the values (stat.singular);
 * VS_EUNSUPPORTED: the library for opt.kind is not installed, or the method cannot take the matrix
 * (stat.why).
 */
VS_MUST_USE vs_status lu_analyze(lu_solver *lu, const csc *a);

/* The first factors of `a` as a whole will be made, not now: where opt.pool has other threads, one
 * begins with what the pattern alone tells, beside what the caller does. a: the pattern of
 * lu_analyze. Allocates. */
void lu_plan(lu_solver *lu, const csc *a);

/* Between lu_at_rest(.., true) and (.., false) the matrix is that of a circuit at rest: its pattern
 * has entries for charges that are 0. LU_AUTO then leaves out, of large matrices, what was always
 * 0. The first call forgets the factors of large matrices, the second those that leave something
 * out. a: the pattern of lu_analyze. Allocates. */
void lu_at_rest(lu_solver *lu, const csc *a, bool yes);

/* Returns to the state after lu_analyze, for other values in the same pattern: no factors, counters
 * at 0. false: LU_AUTO had gone over to another method, and lu_analyze must be called again. */
bool lu_forget(lu_solver *lu);

/* Forgets the factors but not the counters, so that later results do not depend on what was
 * factored before. false: LU_AUTO had gone over to another method, which stays, with its factors.
 */
bool lu_restart(lu_solver *lu);
bool lu_can_restart(const lu_solver *lu); /* whether lu_restart would return true */

/* New values, new pivots. Allocates.
 * Status: VS_OK; VS_ESINGULAR (stat.singular), also for values that are not finite; VS_NOCONV: see
 * opt.refuse_fill; VS_EUNSUPPORTED: opt.kind is LU_CHOLESKY, and the values are not symmetric or
 * not positive definite (stat.why). */
VS_MUST_USE vs_status lu_factor(lu_solver *lu, const csc *a);

/* New values, old pivots. Values equal to those of the present factors cost a comparison; with
 * Cholesky so do values that come back, if their factors are kept (lu_kept.h): this counts as no
 * refactorisation. (UMFPACK and dense choose pivots each time.)
 * Status: VS_OK; VS_REPIVOT: no factors yet, zero pivot or pivots grown too much: call lu_factor. A
 * NaN in the values may only show in the solution. Allocates nothing, except UMFPACK, and once
 * where a list is planned or factors are kept. */
VS_MUST_USE vs_status lu_refactor(lu_solver *lu, const csc *a);

/* The solution of A x = b with the present factors; b and x [n] may be the same. Allocates nothing.
 */
void lu_solve(lu_solver *lu, const double *b, double *x);
/* The same for a matrix near the factored one, the same one until the next factorisation, where
 * that is faster: the factors of many entries are rounded to single precision. Sums are double, so
 * that it is as linear as lu_solve. For iterations, which need no more (lu_near.h). Allocates when
 * first called. */
void lu_solve_coarse(lu_solver *lu, const double *b, double *x);

/* Copies the counters, and the values that led to the factors, to or from the image; giving back
 * makes the factors again, bit by bit. a: the pattern of the same matrix. It is given back after
 * lu_analyze. Allocates.
 * Status: VS_OK; VS_EINPUT: im->wrong says why the factors could not be made again. */
VS_MUST_USE vs_status lu_image(lu_solver *lu, const csc *a, image *im);

/* -- a part of the unknowns, while the others rest -- */
typedef struct lu_part {
    int32_t n, n_column;   /* elements of b and x; columns of the matrix */
    const int32_t *column; /* [n] their columns, from 0; -1: an element that is no unknown */
    const uint8_t *in;     /* [n_column] it is one of them */
    const double *drop;    /* [n_column] updates up to this size are taken as 0 */
    int32_t n_found;       /* out: others whose update is larger, */
    int32_t *found;        /* [n_column] which, */
    double *value;         /* [n_column] and their updates */
    double *work;          /* [n_column] */
} lu_part;

/* Like lu_refactor, when only columns of the part are to be looked at: entries of other columns
 * count with the values that they had in the last factors. */
VS_MUST_USE vs_status lu_refactor_part(lu_solver *lu, const csc *a, const lu_part *p);

/* As lu_solve for a right side that is 0 outside of the part. Updates of unknowns up to their
 * `drop` are taken as 0, with all their effects (those of the part may be). Allocates nothing. */
void lu_solve_part(lu_solver *lu, lu_part *p, const double *b, double *x);

bool lu_is_ready(const lu_solver *lu); /* there are factors: the last ones did not fail */

/* The column whose pivot is smallest, the unknown to name when a matrix is nearly singular; -1
 * none. */
int32_t lu_weakest(const lu_solver *lu);

/* Whether the present factors are Cholesky's. */
bool lu_is_cholesky(const lu_solver *lu);

#endif
