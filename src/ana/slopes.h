/* slopes.h - how the small-signal matrices G and C change when the operating point moves along a
 * direction: what second and third derivatives of the models' equations amount to.
 * They are differences of order 8 of the exact G and C, from eight points around: with steps of 3
 * mV at the node that moves most, and exponentials of 25 mV, to 1e-10.
 * Use:    slopes_begin after small_begin; slopes_of for each phasor; slopes_end. */
#ifndef SLOPES_H
#define SLOPES_H

#include "small.h"

#include "cplx.h" /* last */

typedef struct slopes { /* of G and C, in the places of a->jac: [nnz + 1] */
    cplx *g, *c;
} slopes;

typedef struct slopes_work {
    const small *s;
    int32_t nnz;
    double *x, *dir;     /* [n+1] a point near the operating point; the direction */
    double *g, *c;       /* [nnz + 1] at the point near */
    double *along[3][4]; /* [nnz + 1] along re X, im X and their sum: G', C', G'', C'' */
    double *g0, *c0;     /* [nnz + 1] at the operating point */
} slopes_work;

/* Allocates; s must outlive it. slopes_end in any case. Status: VS_OK; those of ckt_load_ac. */
VS_MUST_USE vs_status slopes_begin(slopes_work *w, const small *s);
void slopes_end(slopes_work *w);
void slopes_new(const slopes_work *w, slopes *s); /* allocates the arrays */
void slopes_free(slopes *s);

/* once = F''[x, .] and, unless NULL, twice = F'''[x, x, .] of the phasor x [n+1].
 * Status: VS_OK; VS_NOCONV (message). Allocates nothing. */
VS_MUST_USE vs_status slopes_of(slopes_work *w, const cplx *x, const slopes *once,
                                const slopes *twice);

#endif
