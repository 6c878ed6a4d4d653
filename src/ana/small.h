/* small.h - what the small-signal analyses share: the operating point, (G + j omega C) and its
 * factors. Complex vectors [2 (n+1)] are re and im in turn; element 0 belongs to the reference
 * node. */
#ifndef SMALL_H
#define SMALL_H

#include <math.h>

#include "ana_priv.h"
#include "ckt_vary.h"
#include "lu_z.h"

typedef struct small {
    ana *a;
    double *x;     /* [n+1] operating point */
    double *g, *c; /* [nnz+1] in the places of a->jac */
    double *val;   /* [2 nnz] of the last small_factor */
    bool delays;   /* delays add to G + j omega C */
    lu_z lu;
    bool noise, by_freq; /* as small_begin; G and C change with the frequency */
    bool still;          /* of the static equations */
    const ckt_env *env;  /* of shunts; NULL: small_env */
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

/* The same of a source of noise, of those of ckt_noises, of a unit density. */
void small_noise_drive(const small *s, const ckt_noise *source, const ckt_noise_gain *gain,
                       double omega, double *b);

/* The env of a static load at the operating point. */
ckt_env small_env(const ana *a);

/* -- feeds.c: what gmin alone carries from isolated parts -- */
typedef struct small_feeds { /* what an output has of it; of 0 before the first use */
    double *lambda;          /* [2 (n+1)] per unit of each row; allocated when there is any */
    bool any;
    double least;                     /* what rounding, or gmin of devices, leaves of a unit */
    int32_t node;                     /* of the part whose level matters most to the output */
    bool told, told_none, told_level; /* warnings are given once */
} small_feeds;
typedef struct small_feeds_sum { /* of the rows of a right side; of 0 at the beginning */
    double re, im, terms, least; /* lambda' b; sum |lambda_k b_k|; what is left of |b_k| */
} small_feeds_sum;
/* A term y (re + j im); `least` as in small_feeds. */
static inline void small_feeds_add_term(small_feeds_sum *to, const double *y, double re, double im,
                                        double least)
{
    to->re += y[0] * re - y[1] * im;
    to->im += y[0] * im + y[1] * re;
    to->terms += hypot(y[0], y[1]) * hypot(re, im);
    to->least += least * hypot(re, im);
}
typedef struct small_answer {
    double f, value;
    double share;     /* of it, that gmin alone carries */
    const double *b;  /* [2 (n+1)] the right side, */
    int32_t node;     /* or, not 0, the node that it feeds */
    const char *what; /* "the noise at the output" */
} small_answer;

/* The next shunt of an isolated part (of a still one: of what has no path at rest) that has a node
 * outside of devices: a model may leave one that nothing reads to itself. */
bool small_next_level(const small *s, size_t *i, ckt_level *l);
/* g s_p of such a part to seed[0..1], the right side for lambda, of an output's adjoint y whose row
 * i, from 1, is at y[stride (i - 1)]; the feeds' `node` and `least` follow. level: y_p, where that
 * is known to more digits; NULL. False: it is 0. */
bool small_feeds_seed(small_feeds *w, const small *s, const ckt_level *l, const double *y,
                      size_t stride, const double *level, double *seed);
typedef struct small_columns { /* of A' y = scale v + what charges give */
    const csc *jac;
    const double *g, *v; /* conductances of its entries; NULL: v is 0 */
    double scale;
} small_columns;
/* y_p of a part. In y itself it is lost in rounding of its neighbours, times C/h. But the columns
 * of the part add up to
 *   g y_p = sum over its nodes c of (scale v_c - sum over rows r outside of it of G_rc y_r),
 * as charges, and conductances between its nodes, add up to 0. Unknown i, from 1, is at
 * stride (i - 1) of y and v, at i - 1 of inside [n], scratch: false, and so again afterwards. */
double small_feeds_level(const ckt_level *l, const small_columns *by, bool *inside, const double *y,
                         size_t stride);
/* Before the first seed of an output. */
void small_feeds_clear(small_feeds *w);
/* For the output with the adjoint y [2 (n+1)]. One more solution, in circuits with isolated parts
 * that the output depends on; false: it depends on none, and has no share. */
bool small_feeds_of(small_feeds *w, small *s, const double *y);
void small_feeds_fini(small_feeds *w);
void small_feeds_add(const small_feeds *w, int32_t row, double re, double im, small_feeds_sum *to);
/* A unit of an independent source. */
void small_feeds_add_source(const small_feeds *w, const small *s, int32_t source,
                            small_feeds_sum *to);
double small_feeds_share(const small_feeds_sum *sum);
/* The same of a right side b [2 (n+1)]. */
double small_feeds_share_of(const small_feeds *w, const small *s, const double *b);
/* A share so large that the value is none. */
bool small_feeds_are_all(double share, double value);
/* Warns of a share that matters, once; one that is all is refused, with a message.
 * Status: VS_OK, VS_ESINGULAR. */
VS_MUST_USE vs_status small_feeds_judge(small_feeds *w, small *s, const small_answer *v);
/* The same of noise v->value, A or V per root of Hz: finds the share, and the right side of its
 * loudest source, to b [2 (n+1)]. */
VS_MUST_USE vs_status small_feeds_judge_noise(small_feeds *w, small *s, const small_answer *v,
                                              double *b);
/* Warns, once, that what comes of a source or a parameter with the right side b is nan; b NULL: it
 * feeds the feeds' node. */
void small_feeds_tell_none(small_feeds *w, small *s, const double *b, const char *source);
/* Whether one answer among others is none, since gmin alone carries what its source or parameter
 * feeds: warns of it, and of a share that matters. v->what: "the gain from"; name: of that. */
bool small_feeds_is_none(small_feeds *w, small *s, const small_answer *v, const char *name);
/* Whether it will warn: else it does not look at v->b. */
bool small_feeds_will_tell(const small_feeds *w, const small *s, const small_answer *v);
/* The node of the part from which gmin carries most of b, 0: there is no part. One solution. */
int32_t small_fed_node(small *s, const double *b);
/* Adds an adjoint to lambda: what moves by these rows moves what feeds parts. */
void small_feeds_follow(small_feeds *w, const small *s, const double *lambda);
/* Warns, once, of a voltage to ground from a part that nothing joins to it. y: the output's
 * adjoint; NULL: of the output's own nodes alone. */
void small_feeds_tell_level(small_feeds *w, small *s, const ana_output *o, const double *y);
/* A node of a part into which more flows than out of it, in the solution z [2 (n+1)], and what,
 * A; 0: none. */
int32_t small_fed(const small *s, const double *z, double *current);
/* Are there parts that nothing joins to ground? */
bool small_has_levels(const small *s);
/* The node whose level that of `node` follows, in an isolated part; 0: it is in none. */
int32_t small_level_of(const small *s, int32_t node);
/* Leaves parts gmin, not more: something else may be joined to those that nothing feeds. */
void small_loosen(small *s);
/* Is z the response to 1 A for which there is no path but gmin? */
bool small_is_open(const small *s, const double *z);
/* Status: VS_OK; VS_ESINGULAR, with a message: there is such a part. */
VS_MUST_USE vs_status small_refuse_fed(small *s, const double *z, double f);
/* The same of z[at], one of n sidebands [2 (n+1)], with s->val of any of them: rounding is that of
 * all. */
VS_MUST_USE vs_status small_refuse_fed_among(small *s, const double *z, size_t n, size_t at,
                                             double f);

/* -- feeds_by.c: the same of derivatives by parameters -- */
typedef struct small_moved {     /* what parameters add to rows, per unit of each */
    double sign;                 /* of all of it */
    const ckt_vary_entry *entry; /* vec: (g + j omega c) z_col; of column 0, g */
    double omega;
    const double *z;                 /* [2 (n+1)]; NULL: all entries are of column 0 */
    const ana_push *push;            /* [n_push] */
    const ana_gradient_drive *drive; /* [n_drive] right sides, that is with the other sign */
    size_t n_push, n_drive;
} small_moved;
typedef struct small_shares { /* of an output or a measure, of its derivatives by n parameters */
    small_feeds_sum *sum;     /* [n] */
    int32_t *node;            /* [n] what the parameter feeds, 0: nothing so far */
    size_t n;
} small_shares;
void small_shares_begin(small_shares *w, size_t n);
void small_shares_end(small_shares *w);
/* Adds shares of what moves, by the output's feeds. s: factored, as at small_feeds_of. One solution
 * for each parameter that has one. */
void small_shares_add(small_shares *to, const small_feeds *by, small *s, const small_moved *what);
/* A share that was found elsewhere. */
void small_shares_add_value(small_shares *to, size_t param, double share);
/* lambda' b of a parameter, re and im; 0 if it is nothing. */
void small_shares_value(const small_shares *w, size_t param, double *re, double *im);
/* Derivatives of a measure that are gmin's become nan, with a warning of one of them; of one that
 * has a share that matters, a warning. name [n]: of the parameters. */
void small_shares_judge(const small_shares *w, const small *s, const char *const *name,
                        double *value);

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
