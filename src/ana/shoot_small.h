/* shoot_small.h - small signals in time, on the orbit that shooting found.
 *
 * A signal at omega is x(t) = u(t) exp(j omega t), where the envelope u has the orbit's period T:
 *   dq/dt + B u + s = 0,   q = C u,   B = G + j omega C,   q(T) = q(0)
 * s(t) is what sources give, of sidebands of omega. The rule that found the orbit (SDIRK4) takes
 * this on the same steps: at a stage of a step from q_n, with the stages j before it (shoot.h),
 *   (B + alpha C) u = alpha q_n - sum_j w_j k_j - s,   k = -B u - s
 * so that a constant envelope, of a circuit that the orbit does not modulate, is exact whatever the
 * steps are, and else the error is of order 4. q(T) = P q(0) + r is solved by GMRES, with few
 * products where a period forgets. As P is M of omega = 0 turned by -omega T but for errors of the
 * steps, products made at one frequency and on one set of steps precondition at others (recycle.h).
 * If that would not do, columns of that M are made once for all frequencies.
 * The adjoint of an output goes through the same stages from the last to the first: eta_n is its
 * derivative by q_n, and the density lambda(t) of what a source in each row gives to it obeys, at
 * ends of steps,
 *   C' lambda = C' eta_n,   (G + j omega C)' lambda - v in the range of C'
 * with v the output's weights there. All sources and sidebands follow from lambda. With a source
 * of sideband p, exp(j p omega_0 t), the output is H_p = integral of lambda exp(j p omega_0 t) over
 * the period, and sum_p |H_p|^2 = T integral of |lambda|^2: no sideband is left out.
 * Use:    shoot_small_begin; shoot_small_ac, shoot_small_adjoint; shoot_small_refine with the error
 *         of each step; shoot_small_end in any case. Integrals: shoot_quad.
 * Source: Okumura, Tanimoto, Itakura & Sugawara, IEEE Trans. CAD 12(5), 1993 (sources along the
 *         period, adjoint in time); Telichevesky, Kundert & White, DAC 1996 (Krylov method,
 *         recycling over frequencies). docs/analyses.md. */
#ifndef SHOOT_SMALL_H
#define SHOOT_SMALL_H

#include "lu_z.h"
#include "recycle.h"
#include "shoot.h"
#include "small.h"

#include "hb.h" /* last: it brings `complex`, a name in headers */

/* -- shoot_quad.c: integrals over the period of what is known at ends of steps -- */
enum { SHOOT_STENCIL = 4 };
/* Point i is at the end of a step, or at 0. Where the adjoint of a sample jumps there are two. */
typedef struct shoot_point {
    int32_t node; /* 0 .. n_step */
    double part;
} shoot_point;
typedef struct shoot_rule { /* of a step: a cubic through points of its piece */
    int32_t from, n;
    double whole[SHOOT_STENCIL], less[SHOOT_STENCIL]; /* weights; with one point less, for errors */
} shoot_rule;
typedef struct shoot_quad {
    shoot_point *point; /* vec */
    shoot_rule *rule;   /* vec, of each step */
    double *weight;     /* [points] of integrals over the period, in periods */
    hb_cplx **fourier; /* [2 most + 1][points] as weight, times exp(2 pi i p part); NULL: not yet */
    int32_t most;
    int32_t jump; /* node that has two points, -1: none */
} shoot_quad;

/* jump: node at which values jump, where a step is fresh; -1, 0, n_step: none. most: the highest
 * |p| of shoot_quad_fourier. */
void shoot_quad_begin(shoot_quad *q, const ana_shot *s, int32_t jump, int32_t most);
void shoot_quad_end(shoot_quad *q);
const hb_cplx *shoot_quad_fourier(shoot_quad *q, int32_t p);
/* to [points] = derivatives of v [points][stride] by time in periods. */
void shoot_quad_slopes(const shoot_quad *q, const hb_cplx *v, size_t stride, hb_cplx *to);

/* -- shoot_small.c -- */
typedef struct shoot_small {
    ana_shot *s;
    const ana_table *t; /* progress and stop */
    int32_t n, n_step;
    int32_t sample;  /* node at which a sample is taken, -1: none */
    double *g, *c;   /* [stages][nnz], [n_entry]; NULL: made again from the path at each use */
    int32_t n_entry; /* of the matrix that have charge at a stage: */
    int32_t *entry, *at_row, *at_col;
    double *one;      /* [2][nnz + 1] of a stage */
    double *val;      /* [2 nnz] */
    int32_t n_lu;     /* of all stages, or one; products take those at each pass */
    int32_t n_node;   /* of all steps, or one; an answer takes each once */
    lu_z order;       /* the ordering of all */
    lu_z *lu, *node;  /* factors at stages; of G + alpha C at ends of steps, alpha large */
    double *at;       /* [n_lu] omega of the factors, NAN: none */
    int32_t *row;     /* vec: rows with charge at t_0, from 0 */
    double *unit;     /* [rows] C, in which these are measured */
    hb_cplx *m;       /* [rows][rows] P of omega = 0; NULL: too many rows, or not worth it yet */
    hb_cplx *pre;     /* [rows][rows] factors of 1 - P */
    int32_t *pivot;   /* [rows] */
    recycle known[2]; /* products with P turned to omega = 0, and with its transpose */
    shoot_quad quad;
    int32_t n_product;   /* of the solution at hand, without m */
    bool draft;          /* steps are still looked for: answers need not be exact to rounding */
    int level;           /* refinements that were made */
    const small *levels; /* shunts of isolated parts, of which adjoints keep seeds; NULL: none */
    int32_t n_level;
    bool *inside;  /* [n] scratch: of a part */
    hb_cplx *seed; /* [n_step][SHOOT_STAGES][n_level] g s_p (feeds.c) of the last adjoint */
} shoot_small;

/* Steps for small signals on the orbit, and what is needed at each. sample: part of the period at
 * which an output is sampled, a step ends there; NAN: none. Allocates.
 * Status: VS_OK; those of shoot_pass. */
VS_MUST_USE vs_status shoot_small_begin(shoot_small *e, ana_shot *s, const ana_table *t,
                                        double sample);
void shoot_small_end(shoot_small *e);
/* Splits the steps whose s->step[].error is above 1 and finds the orbit again. error: that of all
 * steps together, in tolerances. *done: it is not above 1, or no more steps may be made (a warning
 * says what it is). Status as begin. */
VS_MUST_USE vs_status shoot_small_refine(shoot_small *e, double error, bool *done);
/* The envelope at ends of steps, u [n_step + 1][n], for sources that drive rows with b [n] at f Hz.
 * Status: VS_OK; VS_ESINGULAR (message); VS_STOP; VS_NOCONV (message). */
VS_MUST_USE vs_status shoot_small_ac(shoot_small *e, double f, const hb_cplx *b, hb_cplx *u);
/* After shoot_small_ac at f: the error of each step of u, in parts of what it may be. */
VS_MUST_USE vs_status shoot_small_errors(shoot_small *e, double f, const hb_cplx *b,
                                         const hb_cplx *u);
/* lambda T at the points of e->quad, [points][n], of the mean over the period of v [n] times the
 * envelope at f Hz. direct [n]: of v times it at the sample; out: the part of that which follows
 * the rows at once, with no charge between. NULL: no sample. Status as shoot_small_ac. */
VS_MUST_USE vs_status shoot_small_adjoint(shoot_small *e, double f, const hb_cplx *v,
                                          hb_cplx *direct, hb_cplx *lambda);

/* After shoot_small_adjoint at f, of its v, direct and lambda: the same of its feeds, with lambda T
 * [points][n] and direct [n] of what gmin alone carries. feeds: its `any`, `least`, `node`. Status
 * as there. */
VS_MUST_USE vs_status shoot_small_feeds(shoot_small *e, double f, const hb_cplx *v,
                                        const hb_cplx *direct, const hb_cplx *lambda,
                                        small_feeds *feeds, hb_cplx *feeds_direct,
                                        hb_cplx *feeds_lambda);
/* Means of G + j omega C over the steps, to val [2 nnz]. Status: as of ckt_load_ac. */
VS_MUST_USE vs_status shoot_small_mean(shoot_small *e, double omega, double *val);
/* What a load is told, but for time and alpha. */
ckt_env shoot_small_env(const ana_shot *s);
/* The status of a load at a part of the period, with a message for VS_NOCONV. */
vs_status shoot_small_tell(const shoot_small *e, double part, vs_status st);

/* -- shoot_ac.c: ana_hbac in time -- */
VS_MUST_USE vs_status shoot_ac(ana_shot *s, const ana_hbac_opt *o, const ana_table *t);

#endif
