/* nat_past.h - inside src/nat: the history of waves at accepted points, for delays and lines.
 * Use:    past_add at each accepted point, past_at for the value one delay ago; past_clear at the
 * first point. Between points waves are parabolas, straight lines beside a corner. A corner of a
 * wave comes out as a corner one delay later, so it makes a breakpoint there. past_add recognises a
 * corner when the next point is added, which must come within the delay. */
#ifndef NAT_PAST_H
#define NAT_PAST_H

#include "nat_lossy.h"

/* Points that far from a time, relative to the time of the run, stand at it. */
#define PAST_SAME 1e-14

typedef struct past {
    line_point *point; /* vec; oldest first */
    double *brk;       /* vec; pending breakpoints, ascending */
    double size;       /* largest |a| so far */
} past;

void past_clear(past *p);
void past_image(past *p, image *im);
void past_free(past *p);
/* The parabola through three points (t, a) at a time, in Newton's form. */
double past_parabola(const double t[3], const double a[3], double at);
/* Whether the parabola over an interval may use the point at the end of a neighbour of another
 * length: not over what may be a jump, which steps make in no time. */
bool past_is_smooth(double other, double own);
/* The points [n] that give a wave at a time, n > 0: 1 .. 3 from *first on. */
int past_points(const line_point *p, size_t n, double t, size_t *first);
/* What each of these points counts for at `at`, which the piece that they give reaches as well. */
void past_weights(const line_point *p, int count, double at, double w[3]);
/* Whether the first of them begins a piece that `at`, a time of a run at t, lies in. */
static inline bool past_begins(const line_point *p, int count, double at, double t)
{
    return count > 1 && at > p->t + PAST_SAME * t;
}
/* The same as past_weights of the derivative by `at`. */
void past_slopes(const line_point *p, int count, double at, double w[3]);
/* Wave of a port at a time; before the first and after the last point that point's, 0 if there is
 * none. */
double past_at(const past *p, int port, double t);
/* The point is accepted. delay: a corner in the point before becomes a breakpoint that much later;
 * 0: none does. reltol: of the analysis, corners below this relative size get no breakpoint. */
void past_add(past *p, const line_point *point, double delay, double reltol);
/* Forgets points before `least` (half of the history at a time, so that a call is cheap on
 * average), and breakpoints before `now`. */
void past_forget(past *p, double least, double now);
double past_next_break(const past *p, double t); /* first one after t, +inf if none */

#endif
