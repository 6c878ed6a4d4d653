/* recycle.h - products of a linear operator that were made, as a preconditioner of later solutions
 * with it or with one like it (on other steps, at another frequency, after an update).
 *
 * Vectors x of the products x -> P x span a space V, orthonormal, in which P takes V to W.
 * (1 - t P) y = x is solved as if P were W V', which it is on V:
 *   y = x + t W (1 - t V' W)^-1 V' x
 * A new product adds what its x has outside of V. What it has within, where the operator may have
 * changed since, corrects W by the least that makes W V' x = P x.
 * Use:    recycle_begin; recycle_add of each product; recycle_prepare before recycle_apply, which
 *         is gmres_opt.precondition; recycle_end in any case.
 * Source: Telichevesky, Kundert & White, DAC 1996 (products at one frequency serve the next);
 *         Broyden, Math. Comp. 19(92), 1965 (the correction).
 * Vectors are pairs of doubles, re and im in turn. */
#ifndef RECYCLE_H
#define RECYCLE_H

#include "vs.h"

typedef struct recycle {
    int64_t n;
    int32_t most, n_basis; /* vectors at most; vectors */
    double *v, *w;         /* [most][2 n] */
    double *core, *factor; /* [n_basis][2 n_basis] V' W; factors of 1 - t V' W, with */
    int32_t *pivot;        /* [most] */
    double *fresh;         /* vec: x, P x [4 n] of products since recycle_prepare */
    bool changed;          /* core is not of v, w */
    double turn[2];        /* t */
} recycle;

/* Of vectors [n]; as many are kept as fit into some 100 MB, and at most 128. */
void recycle_begin(recycle *r, int64_t n);
void recycle_end(recycle *r);
/* Remembers that P takes x [2 n] to px [2 n], from the next recycle_prepare on. */
void recycle_add(recycle *r, const double *x, const double *px);
/* For (1 - t P), t = turn[0] + i turn[1]. Without products recycle_apply is the identity; those
 * that make 1 - t V' W singular are forgotten. */
void recycle_prepare(recycle *r, const double turn[2]);
void recycle_apply(const recycle *r, const double *x, double *y);

#endif
