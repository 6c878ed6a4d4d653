/* nat_past.c - see nat_past.h. */
#include "nat_past.h"
#include "vec.h"

#include <math.h>
#include <string.h>

#define SHORT 0.2         /* an interval that much shorter than its neighbour may be a jump */
#define CORNER_RATIO 0.02 /* a slope that changes by less, relative, is no corner */
#define CORNER_MISS \
    10 /* nor one that moves the wave by less than this many reltol of its largest value and of */
#define CORNER_VOLT 1e-4 /* volt together, see reach_of_corner */

void past_clear(past *p)
{
    vec_clear(p->point);
    vec_clear(p->brk);
    p->size = 0;
}

void past_free(past *p)
{
    vec_free(p->point);
    vec_free(p->brk);
}

/* Index k with point[k].t <= t < point[k+1].t; the first or last interval if t lies outside. */
static size_t interval(const line_point *p, size_t n, double t)
{
    return line_point_from(p + 1, n - 2, t, false);
}

double past_parabola(const double t[3], const double a[3], double at)
{
    const double d01 = (a[1] - a[0]) / (t[1] - t[0]);
    const double d12 = (a[2] - a[1]) / (t[2] - t[1]);
    return a[0] + (at - t[0]) * (d01 + (at - t[1]) * (d12 - d01) / (t[2] - t[0]));
}

bool past_is_smooth(double other, double own) { return other >= SHORT * own; }

static double parabola(const line_point *p, int port, double at)
{
    const double t[3] = {p[0].t, p[1].t, p[2].t}, a[3] = {p[0].a[port], p[1].a[port], p[2].a[port]};
    return past_parabola(t, a, at);
}

int past_points(const line_point *p, size_t n, double t, size_t *first)
{
    *first = 0;
    if (t <= p[0].t || n == 1)
        return 1;
    *first = n - 1;
    if (t >= p[n - 1].t)
        return 1;
    const size_t k = *first = interval(p, n, t);
    if (k > 0 && !p[k].corner && past_is_smooth(p[k].t - p[k - 1].t, p[k + 1].t - p[k].t)) {
        *first = k - 1;
        return 3;
    }
    return k + 2 < n && !p[k + 1].corner &&
                   past_is_smooth(p[k + 2].t - p[k + 1].t, p[k + 1].t - p[k].t)
               ? 3
               : 2;
}

void past_weights(const line_point *p, int count, double at, double w[3])
{
    for (int i = 0; i < count; i++) {
        w[i] = 1;
        for (int j = 0; j < count; j++)
            w[i] *= j == i ? 1 : (at - p[j].t) / (p[i].t - p[j].t);
    }
}

void past_slopes(const line_point *p, int count, double at, double w[3])
{
    for (int i = 0; i < count; i++) {
        w[i] = 0;
        for (int k = 0; k < count; k++) {
            double term = k == i ? 0 : 1 / (p[i].t - p[k].t);
            for (int j = 0; j < count; j++)
                term *= j == i || j == k ? 1 : (at - p[j].t) / (p[i].t - p[j].t);
            w[i] += term;
        }
    }
}

double past_at(const past *h, int port, double t)
{
    const line_point *p = h->point;
    size_t k;
    if (vec_len(p) == 0)
        return 0;
    const int count = past_points(p, vec_len(p), t, &k);
    if (count == 1)
        return p[k].a[port];
    if (count == 3)
        return parabola(&p[k], port, t);
    return p[k].a[port] + (p[k + 1].a[port] - p[k].a[port]) * (t - p[k].t) / (p[k + 1].t - p[k].t);
}

/* The time over which a change of slope is judged: times this it is the error of the next point if
 * no breakpoint announces the corner. It should be the step in which the corner arrives one delay
 * later, which is at most half a delay, and, where waves have many corners, about the step in which
 * the corner arose: so the geometric mean of both. Without such a limit corners multiply: with two
 * delays there are n corners after n of them, with four n^3, each with points of its own. */
static double reach_of_corner(double delay, double around)
{
    return sqrt(delay * fmin(delay, around));
}

/* A corner at point n-2 is one if the slope of a wave changed there; before the first point it was
 * 0. */
static void note_corner(past *p, double delay, double reltol)
{
    const size_t n = vec_len(p->point);
    if (n < 2 || !p->point[n - 2].corner || !(delay > 0))
        return;
    const line_point *p1 = &p->point[n - 2], *p2 = &p->point[n - 1], *p0 = n > 2 ? p1 - 1 : NULL;
    const double reach = reach_of_corner(delay, p2->t - (p0 ? p0->t : p1->t));
    const double least = CORNER_MISS * reltol * (p->size + CORNER_VOLT);
    for (int port = 0; port < 2; port++) {
        const double right = (p2->a[port] - p1->a[port]) / (p2->t - p1->t);
        const double left = p0 ? (p1->a[port] - p0->a[port]) / (p1->t - p0->t) : 0;
        const double change = fabs(right - left);
        if (change <= CORNER_RATIO * fmax(fabs(left), fabs(right)) || change * reach <= least)
            continue;
        vec_push(p->brk, p1->t + delay);
        return;
    }
}

void past_add(past *p, const line_point *point, double delay, double reltol)
{
    for (int port = 0; port < 2; port++)
        p->size = fmax(p->size, fabs(point->a[port]));
    vec_push(p->point, *point);
    note_corner(p, delay, reltol);
}

void past_forget(past *p, double least, double now)
{
    const size_t n = vec_len(p->point), half = n / 2;
    if (n < 64 || p->point[half + 2].t >= least)
        return;
    memmove(p->point, p->point + half, (n - half) * sizeof *p->point);
    vec_head_of(p->point)->len = n - half;
    size_t k = 0;
    while (k < vec_len(p->brk) && p->brk[k] < now)
        k++;
    if (k) {
        memmove(p->brk, p->brk + k, (vec_len(p->brk) - k) * sizeof *p->brk);
        vec_head_of(p->brk)->len -= k;
    }
}

double past_next_break(const past *p, double t)
{
    for (size_t k = 0; k < vec_len(p->brk); k++)
        if (p->brk[k] > t)
            return p->brk[k];
    return INFINITY;
}

void past_image(past *p, image *im)
{
    IMAGE_VEC(im, p->point);
    IMAGE_VEC(im, p->brk);
    for (size_t i = 0; i < vec_len(p->point); i++)
        image_check_flag(im, &p->point[i].corner);
    IMAGE_ONE(im, p->size);
}
