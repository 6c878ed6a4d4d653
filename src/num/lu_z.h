/* lu_z.h - sparse LU of a complex matrix G + j omega C, on KLU, or on UMFPACK where much fill is
 * expected (harmonic balance as a whole) and it is installed: its dense blocks are many times as
 * fast there, and it chooses pivots each time.
 * Use:    lu_z_init, lu_z_analyze (pattern, once) or lu_z_share, lu_z_factor (new values; old
 *         pivots are kept as long as they are good), lu_z_solve / lu_z_solve_t, lu_z_fini
 * Source: as lu.h. Complex vectors and values are pairs of doubles, re and im in turn. */
#ifndef LU_Z_H
#define LU_Z_H

#include "csc.h"

typedef struct lu_z {
    int64_t n_factor, n_refactor; /* with new pivots, with the old ones */
    int32_t singular;             /* after VS_ESINGULAR: column without pivot, from 0; -1 unknown */
    struct lu_z_fac *fac;
    /* To set after lu_z_init; as lu_opt has them. */
    void (*long_work)(void *user, bool begins); /* NULL: nobody is told */
    void *long_user;
    double umfpack_from; /* expected multiplications per entry of the factors; LU_UMFPACK_WORK */
} lu_z;

void lu_z_init(lu_z *lu);
void lu_z_fini(lu_z *lu);

/* Ordering for the pattern of `a` (its values are not read), which must stay alive until lu_z_fini.
 * Status: VS_OK; VS_ESINGULAR: no set of pivots exists. */
VS_MUST_USE vs_status lu_z_analyze(lu_z *lu, const csc *a);

/* The ordering of `of`, which was analysed and must stay as it is until lu_z_fini of this one. */
void lu_z_share(lu_z *lu, const lu_z *of);

/* About how many bytes its factors take, after lu_z_analyze. */
double lu_z_bytes(const lu_z *lu);

/* Factors of the matrix with the values val [2 nnz], which are not used afterwards. Allocates only
 * when pivots are chosen anew. Status: VS_OK; VS_ESINGULAR (lu->singular). */
VS_MUST_USE vs_status lu_z_factor(lu_z *lu, const double *val);

/* A x = b and (transposed, not conjugated) A' x = b; x [2n] holds b on entry. Allocate nothing. */
void lu_z_solve(lu_z *lu, double *x);
void lu_z_solve_t(lu_z *lu, double *x);

#endif
