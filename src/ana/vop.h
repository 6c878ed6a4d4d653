/* vop.h - operations on vectors of all unknowns, of which a time point consists.
 * Use:    vectors have VOP_PADDED(n) elements (ana_vector): element 0 belongs to the reference
 * node, those behind n are 0 and stay 0, so that loops work on whole vector registers.
 * Method: results do not depend on the processor: products are not fused and sums not reordered. */
#ifndef VOP_H
#define VOP_H

#include "csc_cut.h"
#include "vs.h"

enum { VOP_WIDTH = 4 };
#define VOP_PADDED(n) (((n) + 1 + VOP_WIDTH - 1) & ~(VOP_WIDTH - 1))

enum { VOP_PAST = 4 }; /* most points of an extrapolation */
/* Past values of one quantity, the latest first, each [m]. */
typedef double *const *vop_past;

typedef struct vop_rows {                    /* rows of the equations, all [m] */
    const double *f, *q, *qlo, *fmax, *qmax; /* of the load */
    const double *q_n, *qlo_n, *hist, *rmax; /* of the past */
    const double *tol;
    double *r, *ref; /* out */
    double alpha, floor, reltol;
} vop_rows;

typedef struct vop_last { /* of the last evaluation, all [m] */
    const double *dx, *r; /* the update found there, the residual it removes */
    const double *q;
    const double *f_prev, *q_prev; /* of the evaluation before; NULL: there was none */
    double alpha;
} vop_last;

/* A step begins: [m] each, weights as in vop_predict, points and charges as in the functions of one
 * result below. */
typedef struct vop_start {
    vop_past x, f, q, lo;
    const double *src, *dq;
    const double *pred_weight; /* of 3 points, for pred */
    const double *weight;      /* of n points, 3 or 4, for r and, if there are 4, for start */
    int n;
    bool two; /* hist is that of vop_history, else of vop_scale */
    double alpha, a1, b;
    double *pred, *start, *hist, *r;
} vop_start;

/* A step ends: x, f, q, lo are of the last evaluation. */
typedef struct vop_end {
    const double *dx, *r; /* NULL, or the update that is still to be made, and its residual */
    const double *fix;    /* NULL, or what the new charges have less */
    const double *q, *lo, *q1, *lo1, *src, *hist;
    const double *pred, *xmax, *tol, *weight; /* as for vop_miss_is_small */
    double alpha, reltol, limit;
    double far;    /* the result is also false if an |x| is beyond */
    double *x, *f; /* in and out */
    double *q_new, *lo_new, *f_new, *dq_new;
    const double *fmax, *qmax, *rmax, *tol_r; /* of vop_finish_solved alone, as in vop_rows */
    double strict;
} vop_end;

/* r = f + alpha (q - q_n) + hist; ref = the size that terms of the row have. The charge itself
 * (with its constant part) counts only with its rounding, times `floor`: it is a difference of
 * charges that flows. True if |r| <= strict (reltol ref + tol) in all rows. */
bool vop_residual(const vop_rows *l, int32_t m, double strict);
bool vop_residual_is_small(const double *r, const double *ref, const double *tol, double reltol,
                           int32_t m, double strict);
/* |dx| <= strict (reltol max(|x|, |x - dx|, xmax) + tol) everywhere? */
bool vop_update_is_small(const double *x, const double *dx, const double *xmax, const double *tol,
                         double reltol, int32_t m, double strict);
/* The largest |dx| in these units, strict 1; infinity if one is not finite. */
double vop_update_size(const double *x, const double *dx, const double *xmax, const double *tol,
                       double reltol, int32_t m);
void vop_move(double *x, const double *dx, double lambda, int32_t m); /* x -= lambda dx */
/* v = w[0] p[0] + w[1] p[1] + ..., n terms from 2 to VOP_PAST */
void vop_predict(double *v, const double *w, int n, vop_past p, int32_t m);
/* hist = -a1 ((q[0] - q[1]) + (lo[0] - lo[1])), lo being what rounding took from q */
void vop_history(double *hist, double a1, vop_past q, vop_past lo, int32_t m);
/* hist = b dq */
void vop_scale(double *hist, double b, const double *dq, int32_t m);
/* r = extrapolated f without sources + src + alpha (extrapolated q - q[0]) + hist */
void vop_predicted_residual(double *r, const double *w, int n, vop_past f, vop_past q, vop_past lo,
                            const double *src, const double *hist, double alpha, int32_t m);
/* x -= dx, and f and q follow to first order: alpha dq + df = r is shared as the iteration before
 * shared its change; without one (q_prev NULL) all is f. q itself stays: fix is what q_new has
 * less. */
void vop_last_update(const vop_last *l, double *x, double *f, double *fix, int32_t m);
/* dq = alpha ((q - q1) + (lo - lo1)) + hist */
void vop_flow(double *dq, double alpha, const double *q, const double *q1, const double *lo,
              const double *lo1, const double *hist, int32_t m);
/* pred, start, hist and r in one pass: vop_predict (twice), vop_history or vop_scale,
 * vop_predicted_residual. */
void vop_begin(const vop_start *s, int32_t m);
/* In one pass: x -= dx, f -= r; q_new = q, lo_new = lo - fix, f_new = f - src, dq_new = vop_flow.
 * The result is that of vop_miss_is_small. */
bool vop_finish(const vop_end *e, int32_t m);
/* The same, without an update and without fix, if x passes the test of vop_residual: *solved. */
bool vop_finish_solved(const vop_end *e, int32_t m, bool *solved);
void vop_subtract(double *d, const double *a, const double *b, int32_t m); /* d = a - b */
/* w = 1 / (part (reltol max + tol)) */
void vop_weights(double *w, const double *max, const double *tol, double part, double reltol,
                 int32_t m);
/* a = max(a, |v|), b = max(b, |w|) */
void vop_larger(double *a, const double *v, double *b, const double *w, int32_t m);
/* Is an |x| beyond? */
bool vop_is_far(const double *x, double far, int32_t m);
/* |x - pred| weight <= limit max(reltol max(xmax, |x|), tol) everywhere? */
bool vop_miss_is_small(const double *x, const double *pred, const double *xmax, const double *tol,
                       const double *weight, double reltol, double limit, int32_t m);

/* -- vop_share.c: the same by the threads of a team, for vectors from some 8,000 elements on; of
 * what comes in pieces, each is that of the functions above -- */
/* What a job does with elements k to k + m - 1. */
typedef void (*vop_part)(void *user, int32_t k, int32_t m);
/* part(user, k, m) for parts that make up [0, m), a thread each. Allocates nothing. */
void vop_share(csc_team t, int32_t m, vop_part part, void *user);
typedef _Atomic double vop_largest; /* of all parts; at first 0 */
void vop_note(vop_largest *l, double v);
bool vop_share_residual(csc_team t, const vop_rows *l, int32_t m, double strict);
bool vop_share_residual_is_small(csc_team t, const double *r, const double *ref, const double *tol,
                                 double reltol, int32_t m, double strict);
bool vop_share_update_is_small(csc_team t, const double *x, const double *dx, const double *xmax,
                               const double *tol, double reltol, int32_t m, double strict);
double vop_share_update_size(csc_team t, const double *x, const double *dx, const double *xmax,
                             const double *tol, double reltol, int32_t m);
void vop_share_last_update(csc_team t, const vop_last *l, double *x, double *f, double *fix,
                           int32_t m);
void vop_share_predict(csc_team t, double *v, const double *w, int n, vop_past past, int32_t m);
void vop_share_predicted_residual(csc_team t, double *r, const double *w, int n, vop_past f,
                                  vop_past q, vop_past lo, const double *src, const double *hist,
                                  double alpha, int32_t m);
void vop_share_begin(csc_team t, const vop_start *s, int32_t m);
bool vop_share_finish(csc_team t, const vop_end *e, int32_t m);
bool vop_share_miss_is_small(csc_team t, const double *x, const double *pred, const double *xmax,
                             const double *tol, const double *weight, double reltol, double limit,
                             int32_t m);

#endif
