/* nat_back.h - the adjoint of what lines and delays remember, for the discrete adjoint of a
 * transient (ana/tran_tape.c). A row at a time is a sum over waves of accepted points before, and a
 * lossy line's also one over its filters, which are sums over such waves too. Going backwards, what
 * rows say of a point is added up until the point itself is reached.
 * Use:    nat_back_new with all accepted points; from the last point on: nat_back_point; then, for
 *         the solution there and each stage of the step to it, nat_back_hold (loads with env->held
 *         have their Jacobian) and nat_back_rows; at point 0 nat_back_point alone; nat_back_free.
 */
#ifndef NAT_BACK_H
#define NAT_BACK_H

#include "nat.h"

typedef struct nat_time { /* an accepted point */
    double t;
    bool corner; /* as in nat_accept; true of the first one */
} nat_time;

typedef struct nat_back nat_back;

/* The list must outlive it; point [n_point] is copied. */
nat_back *nat_back_new(nat_list *l, const nat_time *point, size_t n_point, int32_t n_measure);
void nat_back_free(nat_back **b);

/* The equations at t behind the points 0 .. last; x: their solution; noted: what nat_note noted;
 * behind: just behind a corner that arrives. */
void nat_back_hold(nat_back *b, size_t last, double t, const double *x, const double *noted,
                   bool behind);
/* A time just behind a corner at t, for which lines and delays have the piece behind it; next: the
 * end of the step behind it. */
double nat_back_beyond(double t, double next);
/* Whether a corner arrives at t through a delay, which forces its output to follow at once. */
bool nat_back_jumps(const nat_back *b, size_t last, double t, const double *x);
/* The multipliers of these rows, lambda [n_measure][n+1]. */
void nat_back_rows(nat_back *b, size_t last, double t, const double *x,
                   const double *const *lambda);
/* The multipliers of what these rows jump by behind a corner at t. Adds to rhs[i] [n+1], for each
 * measure, minus what they give by unknowns at t, which delays are. */
void nat_back_behind(nat_back *b, size_t last, double t, const double *x, const double *noted,
                     const double *const *lambda, double *const *rhs);
/* At a corner, before rows of a step of no length, which do not belong to the piece behind it. */
void nat_back_turn(nat_back *b);
/* Sets rhs[i] [n+1], for each measure, to minus the derivatives of all later rows, times their
 * multipliers, by x at the point, the last one that was not taken yet; and jump[i] to the part of
 * it that stands for the piece behind the point, whose derivatives may be others at a corner. */
void nat_back_point(nat_back *b, size_t point, double *const *rhs, double *const *jump);

#endif
