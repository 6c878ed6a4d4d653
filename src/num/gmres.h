/* gmres.h - A x = b for a complex A that is only known by its products, with a preconditioner on
 * the right. Source: Saad & Schultz, SIAM J. Sci. Stat. Comput. 7(3), 1986; Saad, "Iterative
 *         methods for sparse linear systems", 2nd ed., 9.3.2.
 * Vectors are pairs of doubles, re and im in turn. */
#ifndef GMRES_H
#define GMRES_H

#include "vs.h"

typedef struct gmres_opt {
    int64_t n;       /* unknowns */
    int32_t restart; /* vectors kept */
    int32_t most;    /* products at most */
    double tol;      /* |b - A x| <= tol |b| */
    bool believe;    /* x is 0 on entry, and the residual that the rotations tell is taken as it is:
                      * no products besides those of the basis */
    /* y = A x; y = M^-1 x, in place of A^-1 x; x and y [2 n] differ */
    void (*product)(void *user, const double *x, double *y);
    void (*precondition)(void *user, const double *x, double *y);
    void *user;
} gmres_opt;

/* x [2 n]: 0 on entry or a first guess; on return the best solution found. *products: how many
 * were made. Status: VS_OK; VS_NOCONV: the tolerance was not reached. */
VS_MUST_USE vs_status gmres(const gmres_opt *o, const double *b, double *x, int32_t *products);

#endif
