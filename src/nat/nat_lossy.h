/* nat_lossy.h - inside src/nat: what a lossy line remembers, and the equation of its ports in a
 * step.
 * Use:    lossy_new; lossy_start at the first point; lossy_equation for an attempt; lossy_accept.
 * Source: rlgc.h for the responses as sums of exponentials. Between accepted points voltages,
 *         currents and waves are straight lines, for which the convolutions with exponentials are
 *         exact recursions (Semlyen & Dabuleanu 1975; the straight lines are those of Roychowdhury
 *         & Pederson, DAC 1991, who sum over the whole past instead).
 *
 * All quantities are deviations from the state at rest before the first point, which is in balance
 * by itself. A port p with the other one q: with u = v (or z i, see rlgc.h) y*u = (y0 + c) u +
 * history, and the row of i_p is
 *   cv v_p - ci z i_p - k (cv v_q + ci z i_q) + s_p = 0
 * k is not 0 where the step is longer than the delay: then the wave that arrives left the other
 * port within the step. */
#ifndef NAT_LOSSY_H
#define NAT_LOSSY_H

#include "nat.h"
#include "rlgc.h"

typedef struct lossy lossy;
typedef struct line_point { /* of a line's history */
    double t, a[2]; /* wave of port 1, 2: v + z i; lossy: A of rlgc.h, deviation from rest */
    bool corner;
} line_point;
/* The first of n points behind t, or, with `at`, at t or behind it; n: there is none. */
static inline size_t line_point_from(const line_point *p, size_t n, double t, bool at)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (p[mid].t < t || (p[mid].t == t && !at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

lossy *lossy_new(const rlgc *r, arena *mem); /* r is copied, its arrays are not */
const rlgc *lossy_rlgc(const lossy *o);
void lossy_fresh(lossy *o); /* as made */
/* At time t, v and zi [2] (volt; zi is z times the current); rest: the line's state before. */
void lossy_start(lossy *o, double t, const double v[2], const double zi[2], const double rest_v[2],
                 const double rest_zi[2]);
void lossy_wave(const lossy *o, double a[2]); /* of the last accepted point */
/* The equation at t after the last accepted point; past: vec of accepted points; delayed [2]: the
 * wave of each port one delay before t, if that is not after the last accepted point. */
nat_now lossy_equation(lossy *o, double t, const line_point *past, const double delayed[2]);
/* The point at t is accepted: state advances; a [2] becomes A of the ports. past: without this
 * point. */
void lossy_accept(lossy *o, double t, const line_point *past, const double v[2], const double zi[2],
                  double a[2]);

/* cv, ci and k of the equation h after the last accepted point. */
nat_now lossy_coefficients(lossy *o, double h);

/* -- adjoint --
 * A sum over equations, sum_k lambda_k F_k, has derivatives by what the line remembered before.
 * Going backwards: lossy_back_equation for each equation, lossy_back_accept for the point before
 * it. At the first point, where the line was at rest, rest_v and rest_zi are all that is left. */
typedef struct lossy_back { /* derivatives by the state behind a point */
    double u[2], a[2], rest_v[2], rest_zi[2];
    double *mem[2], *wave[2]; /* [n] */
} lossy_back;
/* Where derivatives by the waves of points go: weight times a[port] of the point was used. begins:
 * as the first one of a piece. */
typedef struct lossy_take {
    void (*wave)(void *user, size_t point, int port, bool begins, double weight);
    void *user;
} lossy_take;

lossy_back *lossy_back_new(const lossy *o, arena *mem);
/* The equations lambda[2] at t; past [n]: the points accepted before it. */
void lossy_back_equation(lossy *o, lossy_back *b, double t, const line_point *past, size_t n,
                         const double lambda[2], const lossy_take *take);
/* Point past[n] was accepted, wave [2] is the derivative by its wave as a point of the past. b
 * becomes that of the state before; v, zi [2]: the derivatives by the port's values there. */
void lossy_back_accept(lossy *o, lossy_back *b, const line_point *past, size_t n,
                       const double wave[2], const lossy_take *take, double v[2], double zi[2]);

/* Before the equations of a step of no length behind the point: the derivatives by jumps of the
 * port's values there, wave [2] by those of its wave as a point of the past. */
void lossy_back_behind(const lossy *o, const lossy_back *b, const double wave[2], double v[2],
                       double zi[2]);

/* Copies what the line remembers of accepted points to or from the image. */
void lossy_image(lossy *o, image *im);

#endif
