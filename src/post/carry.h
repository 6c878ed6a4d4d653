/* carry.h - expressions over more points than fit into memory: they are evaluated over one piece of
 * the points after the other, and functions of the whole curve carry on from piece to piece.
 * Use:    post_carry_init; env->carry = c. One evaluation of a few points tells the sites. While
 *         post_carry_pass says so, passes over all points: for each piece, from the first point on,
 *         post_carry_piece and post_eval. Then one pass more for the values. `site` is the state in
 *         front of the next piece: with a copy of it post_carry_copy goes on from there.
 * Method: a call of such a function is a site, known by its place in the order of evaluation.
 *         - neighbours (deriv, group_delay): vectors have some points more on each side of a piece.
 *         - delay: vectors reach as far back or ahead as it does, too. The axis has to rise,
 *           and no running function stands inside.
 *         - running (integ, avg, cph): a site has its sum at the piece's first point.
 *         - one value of all (mean, sum, stddev, max, min, norm): a pass of its own, behind those
 *           of such functions inside its argument; its values are wrong up to then.
 *         Points are added in their order, so the bits are those of a whole evaluation, but for
 *         the points next to a piece.
 * Other functions of the whole set env->whole, as without this. */
#ifndef POST_CARRY_H
#define POST_CARRY_H

#include "expr.h"

typedef struct post_site {
    const char *name;    /* the function's; static */
    bool known, fed;     /* of one value of all: is it known, does this pass find it? fed also: the
                          * delay is known */
    int phase;           /* of stddev: 1 when the mean is known */
    double sum[2], mean; /* real and imaginary part, an extreme, turns of a phase, a delay */
} post_site;

typedef struct post_carry {
    int64_t all;      /* points */
    int64_t from, to; /* those of the piece */
    int64_t lo, n;    /* the first that its vectors have, and how many */
    post_site *site;  /* vec */
    size_t at, inner; /* the next site; the first one inside of the argument of the present call */
    bool lost;        /* sites do not come in the order of the first piece */
} post_carry;

/* Of `all` points; post_carry_fini by the caller. */
void post_carry_init(post_carry *c, int64_t all);
void post_carry_fini(post_carry *c);
/* Before each evaluation: the piece [from, to), of which vectors have the points [lo, lo + n). */
void post_carry_piece(post_carry *c, int64_t from, int64_t to, int64_t lo, int64_t n);
/* Points that vectors need on each side of a piece, once it was evaluated for the first time. */
int64_t post_carry_margin(const post_carry *c);
/* The number of delays, and the longest ones back and ahead, 0 or more, in units of the axis. */
int post_carry_delays(const post_carry *c, double *back, double *ahead);
/* Whether there are sites whose values in a piece depend on what is in front of it. */
bool post_carry_runs(const post_carry *c);
/* At the end of a pass over all points, or over a few if `none`: what that one found is dropped.
 * true: values of all are not known yet, and another pass is needed. */
bool post_carry_pass(post_carry *c, bool none);
/* Replaces the sites of c by n others. */
void post_carry_copy(post_carry *c, const post_site *from, size_t n);

/* -- for func.c -- */
typedef enum post_carried {
    POST_CARRY_NOT, /* no such function, or its argument is no curve: as without */
    POST_CARRY_RUN, /* the function itself does it on a piece */
    POST_CARRY_DONE /* *out has the values */
} post_carried;
post_carried post_carry_call(post_env *e, const char *name, const post_val *arg, int n_arg,
                             post_val *out);

#endif
