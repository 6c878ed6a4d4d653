/* lu_priv.h - what lu.c expects of a method of factorisation, and the libraries that some load.
 * A method is a table of functions; its innards begin with an lu_fac. lu.c chooses the method,
 * compares values with those factored, counts, and goes over to another method; a method only
 * computes. Methods: lu_klu.c (with lu_tiny.c, lu_super.c), lu_umfpack.c, lu_dense.c, lu_chol.c;
 * lu_rest.c, which hands a smaller matrix to one of them. */
#ifndef LU_PRIV_H
#define LU_PRIV_H

#include <suitesparse/klu.h>

#include "lu.h"

struct cholmod_common_struct;
struct cholmod_factor_struct;
struct cholmod_sparse_struct;
struct cholmod_dense_struct;

/* Innards of a method begin with this. */
typedef struct lu_fac {
    const struct lu_method *method;
    double *val;   /* [nnz] the values that are factored, kept by lu.c; see `values` */
    int32_t other; /* the first value that was another one, the last time that one was */
    bool have;     /* there are factors of val */
    bool spare;    /* lu_restart was called: the factors count as none, but are taken again if the
                    next lu_factor has the values of val */
    lu_stat first; /* lu->stat right after the factors were made, for when `spare` ones are taken */
    bool no_chol;  /* LU_AUTO has tried CHOLMOD for this matrix and does not try again */
    int32_t made;  /* columns that the method made anew; lu.c sets it to all of them before */
} lu_fac;

/* Contracts are those of the functions of lu.h with the same names: a is n-by-n CSC with the
 * pattern of `analyze`, b and x are [n] and may be the same. */
typedef struct lu_method {
    const char *name;
    /* *fac: new innards, the solver's, freed by `free`; `method` and `val` are set by lu.c. NULL
     * with any status but VS_OK. */
    vs_status (*analyze)(lu_solver *lu, const csc *a, lu_fac **fac);
    /* Both set lu->stat.rcond. refactor NULL: the method chooses pivots each time, and lu.c calls
     * factor. */
    vs_status (*factor)(lu_solver *lu, lu_fac *fac, const csc *a);
    vs_status (*refactor)(lu_solver *lu, lu_fac *fac, const csc *a);
    void (*solve)(lu_fac *fac, const double *b, double *x);
    int32_t (*weakest)(const lu_fac *fac); /* column from 0, -1: none */
    void (*free)(lu_fac *fac);
    void (*forget)(lu_fac *fac); /* frees the numbers, keeps the ordering; NULL: cannot */
    /* What the present factors come from besides their values, `now`: given back, they are made
     * again. NULL: they are factor(now). Status: as factor. */
    vs_status (*image)(lu_solver *lu, lu_fac *fac, const csc *now, image *im);
    /* lu_refactor_part, lu_solve_part; false: not with these factors. NULL: never. */
    bool (*refactor_part)(lu_solver *lu, lu_fac *fac, const csc *a, const lu_part *p);
    bool (*solve_part)(lu_fac *fac, lu_part *p, const double *b, double *x);
    void (*solve_coarse)(lu_fac *fac, const double *b, double *x); /* NULL: solve */
    /* [nnz] the values that are factored, if the method keeps them itself: while it does, val of
     * lu_fac has others. NULL: it does not, ever or now. */
    const double *(*values)(const lu_fac *fac);
} lu_method;

/* lu_plan, by the innards of lu_method_klu. */
void lu_klu_plan(lu_solver *lu, lu_fac *fac, const csc *a);

extern const lu_method lu_method_klu, lu_method_umfpack, lu_method_dense, lu_method_cholesky,
    lu_method_rest;

/* -- lu_rest.c: `analyze` is lu_rest_new -- */
/* Innards that leave out what is 0, and own those of *lu. `factor` may say VS_EUNSUPPORTED: the
 * whole matrix is to be factored. */
lu_fac *lu_rest_new(const lu_solver *lu);
/* Whether enough is 0 in the first matrix; later ones suit. */
bool lu_rest_suits(const lu_fac *fac, const csc *a);
/* Those innards of *lu, which the caller owns again. */
lu_fac *lu_rest_whole(lu_fac *fac);
bool lu_rest_is_cholesky(const lu_fac *fac);

/* lu_order.c. An ordering of a block, as klu_common's user_order: perm[k] is the node at place k.
 * user_data: an lu_ordering. Returns the entries of L, 0: no memory. */
typedef struct lu_ordering {
    struct pool *pool; /* NULL: one thread */
    double work; /* grows by the multiplications of a factorisation with pivots on the diagonal */
} lu_ordering;
int lu_order(int n, int *colptr, int *row, int *perm, klu_common *common);

/* lu.c. The first column that a maximum matching of columns with rows leaves out; -1 if none or no
 * memory. */
int32_t lu_unmatched_column(const csc *a);

/* lu_lib.c: libraries that are loaded when they are first asked for, because they bring a BLAS of
 * 40 MB with threads of its own. NULL: this machine has none. */
typedef struct lu_blas lu_blas;
/* Stand around calls that compute with the BLAS. The first lu_blas_begin notes how many threads the
 * host gave the BLAS and sets one, because sums depend on how many there are; the last lu_blas_end
 * sets the host's number again. Calls of several threads may overlap. A BLAS that is not OpenBLAS
 * is left alone. */
void lu_blas_begin(lu_blas *b);
void lu_blas_end(lu_blas *b);

/* Stand around a factorisation of CHOLMOD. It opens a parallel region of OpenMP with four threads
 * for each supernode, a hundred thousand times for a large mesh, and each time waits for the
 * slowest: where other programs run, for the scheduler. Between these calls the regions of this
 * thread have one thread. begin gives what end takes: the host's setting. */
typedef struct lu_team lu_team;
int lu_team_begin(lu_team *t);
void lu_team_end(lu_team *t, int levels);

/* The functions below return tables of addresses that stay valid for the process, or NULL: the
 * library is not installed. The first call loads the library; any thread may call. Members have the
 * names and arguments of the library's own functions (LAPACK dgetrf, dgetrs; umfpack_di_*,
 * umfpack_zi_*; cholmod_*, `solve` is cholmod_solve2): arrays of sparse matrices are CSC with
 * numbers from 0. */

typedef struct lu_lapack {
    lu_blas *blas;
    void (*getrf)(const int *m, const int *n, double *a, const int *lda, int *piv, int *info);
    void (*getrs)(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
                  const int *piv, double *b, const int *ldb, int *info, size_t trans_len);
} lu_lapack;
const lu_lapack *lu_load_lapack(void);

typedef struct lu_umf_calls {
    lu_blas *blas;
    void (*defaults)(double *control);
    int (*symbolic)(int n_row, int n_col, const int *ap, const int *ai, const double *ax,
                    void **symbolic, const double *control, double *info);
    int (*numeric)(const int *ap, const int *ai, const double *ax, void *symbolic, void **numeric,
                   const double *control, double *info);
    int (*wsolve)(int sys, const int *ap, const int *ai, const double *ax, double *x,
                  const double *b, void *numeric, const double *control, double *info, int *wi,
                  double *w);
    int (*get_numeric)(int *lp, int *lj, double *lx, int *up, int *ui, double *ux, int *p, int *q,
                       double *dx, int *do_recip, double *rs, void *numeric);
    void (*free_symbolic)(void **symbolic);
    void (*free_numeric)(void **numeric);
} lu_umf_calls;
const lu_umf_calls *lu_load_umfpack(void);

/* Of complex matrices, umfpack_zi_*. Values are pairs of doubles, re and im in turn, where the
 * arrays of imaginary parts (az, xz, bz, lz, uz, dz) are NULL. */
typedef struct lu_umfz_calls {
    lu_blas *blas;
    void (*defaults)(double *control);
    int (*symbolic)(int n_row, int n_col, const int *ap, const int *ai, const double *ax,
                    const double *az, void **symbolic, const double *control, double *info);
    int (*numeric)(const int *ap, const int *ai, const double *ax, const double *az, void *symbolic,
                   void **numeric, const double *control, double *info);
    int (*wsolve)(int sys, const int *ap, const int *ai, const double *ax, const double *az,
                  double *xx, double *xz, const double *bx, const double *bz, void *numeric,
                  const double *control, double *info, int *wi, double *w);
    int (*get_numeric)(int *lp, int *lj, double *lx, double *lz, int *up, int *ui, double *ux,
                       double *uz, int *p, int *q, double *dx, double *dz, int *do_recip,
                       double *rs, void *numeric);
    void (*free_symbolic)(void **symbolic);
    void (*free_numeric)(void **numeric);
} lu_umfz_calls;
const lu_umfz_calls *lu_load_umfpack_z(void);

/* -- lu_umfpack.c, for real and complex matrices -- */
/* Fills in control [UMFPACK_CONTROL]: the library's defaults, rows scaled by their largest value,
 * the tolerance of pivots on the diagonal, no refinement. */
void lu_umf_settings(void (*defaults)(double *control), double pivot_tol, double *control);
/* The column of the least pivot, or of the first that is NaN: all behind it come from that one.
 *   size    in  |u_kk|                         [n]
 *   column  in  column of the matrix of each   [n]
 * -1: n is 0. */
int32_t lu_umf_weakest(int32_t n, const double *size, const int *column);

/* Above so many multiplications per entry of the factors UMFPACK's blocks pay. */
#define LU_UMFPACK_WORK 250.0

typedef struct lu_dense_calls { /* BLAS and LAPACK that libcholmod uses; lengths of texts last */
    void (*gemm)(const char *ta, const char *tb, const int32_t *m, const int32_t *n,
                 const int32_t *k, const double *alpha, const double *a, const int32_t *lda,
                 const double *b, const int32_t *ldb, const double *beta, double *c,
                 const int32_t *ldc, size_t n_ta, size_t n_tb);
    void (*syrk)(const char *uplo, const char *trans, const int32_t *n, const int32_t *k,
                 const double *alpha, const double *a, const int32_t *lda, const double *beta,
                 double *c, const int32_t *ldc, size_t n_uplo, size_t n_trans);
    void (*trsm)(const char *side, const char *uplo, const char *trans, const char *diag,
                 const int32_t *m, const int32_t *n, const double *alpha, const double *a,
                 const int32_t *lda, double *b, const int32_t *ldb, size_t n_side, size_t n_uplo,
                 size_t n_trans, size_t n_diag);
    void (*potrf)(const char *uplo, const int32_t *n, double *a, const int32_t *lda, int32_t *info,
                  size_t n_uplo);
} lu_dense_calls;
typedef struct lu_chol_calls {
    lu_dense_calls dense;
    lu_blas *blas;
    lu_team *team;
    int (*start)(struct cholmod_common_struct *common);
    int (*finish)(struct cholmod_common_struct *common);
    struct cholmod_factor_struct *(*analyze)(struct cholmod_sparse_struct *a,
                                             struct cholmod_common_struct *common);
    int (*factorize)(struct cholmod_sparse_struct *a, struct cholmod_factor_struct *l,
                     struct cholmod_common_struct *common);
    int (*solve)(int sys, struct cholmod_factor_struct *l, struct cholmod_dense_struct *b,
                 struct cholmod_sparse_struct *b_set, struct cholmod_dense_struct **x,
                 struct cholmod_sparse_struct **x_set, struct cholmod_dense_struct **y,
                 struct cholmod_dense_struct **e, struct cholmod_common_struct *common);
    double (*rcond)(struct cholmod_factor_struct *l, struct cholmod_common_struct *common);
    int (*free_factor)(struct cholmod_factor_struct **l, struct cholmod_common_struct *common);
    int (*free_dense)(struct cholmod_dense_struct **x, struct cholmod_common_struct *common);
} lu_chol_calls;
const lu_chol_calls *lu_load_cholmod(void);

#endif
