/* small.h - what the small-signal analyses share: the operating point, (G + j omega C) and its
 * factors. Complex vectors [2 (n+1)] are re and im in turn; element 0 belongs to the reference
 * node. */
#ifndef SMALL_H
#define SMALL_H

#include "ana_priv.h"
#include "lu_z.h"

typedef struct small {
    ana *a;
    double *x;     /* [n+1] operating point */
    double *g, *c; /* [nnz+1] in the places of a->jac */
    double *val;   /* [2 nnz] of the last small_factor */
    bool delays;   /* delays add to G + j omega C */
    lu_z lu;
    bool noise, by_freq; /* as small_begin; G and C change with the frequency */
} small;

/* Finds the operating point and linearises there. On failure messages were given; small_fini in any
 * case.
 * Status: VS_OK; VS_NOCONV, VS_ESINGULAR, VS_STOP as ana_op. */
VS_MUST_USE vs_status small_begin(small *s, ana *a, bool noise);
/* The same with G of the static equations (form MDL_DC) and C = 0: what an operating point obeys.
 */
VS_MUST_USE vs_status small_begin_static(small *s, ana *a);
/* The same at a point that is known, x [n+1]; s of 0 before the first call. */
VS_MUST_USE vs_status small_static_at(small *s, ana *a, const double *x);
void small_fini(small *s);

/* Factors G + j omega C. Allocates only when pivots are chosen anew.
 * Status: VS_OK; VS_ESINGULAR with a message that names the unknown. */
VS_MUST_USE vs_status small_factor(small *s, double omega);
/* A b = b and A' b = b in place, b [2 (n+1)]; element 0 becomes 0. */
void small_solve(small *s, double *b);
void small_solve_t(small *s, double *b);

/* A voltage between two unknowns, or a current (lo 0): value of the output in z. */
void small_output(const ana_output *o, const double *z, double *re, double *im);
/* b = unit vector of the output, its adjoint right side */
void small_adjoint(const small *s, const ana_output *o, double *b);
/* b [2 (n+1)]: the right side of a unit value of an independent source (1 V or 1 A) */
void small_drive(const small *s, int32_t source, double *b);

/* The env of a static load at the operating point. */
ckt_env small_env(const ana *a);

/* -- noise.c -- */
typedef struct noise_origin { /* where noise comes from: a device, or one noise source of it */
    const char *name;         /* "r1", "q1_ic" */
    int32_t owner;            /* origin that is the device, -1 if this is one */
    double now, last;         /* output density at this frequency and the one before */
    double out, in;           /* integrals of output and input density */
} noise_origin;
/* The origins of all noise sources of the last load, to the vec; a device's sources stand before
 * it. origin_of: vec, of each noise source. */
void noise_origins(ana *a, noise_origin **list, int32_t **origin_of);
/* Integral of a density from f0 to f1 that is a power of f between d0 at f0 and d1 at f1; where one
 * of these is 0, a straight line. */
double noise_integral(double d0, double d1, double f0, double f1);

#endif
