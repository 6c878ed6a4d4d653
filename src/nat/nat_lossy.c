/* nat_lossy.c - see nat_lossy.h. */
#include "nat_lossy.h"

#include <math.h>
#include <string.h>

#include "vec.h"

struct lossy {
    rlgc r;
    double rest_v[2], rest_zi[2];
    double t, u[2], a[2]; /* of the last accepted point: filtered quantity and wave of each port */
    double *mem[2];       /* [n] at t: exp(-sigma t) * du/dt, of y */
    double *wave[2];      /* [n] at t: exp(-sigma t) * A of the other port one delay before, of
                             exp(-lambda) */
    double *next[2];      /* [n] the same in an attempt */
    double *decay, *step; /* [n] of a step h */
    double h, c;
};

lossy *lossy_new(const rlgc *r, arena *mem)
{
    lossy *o = arena_new(mem, lossy);
    o->r = *r;
    for (int p = 0; p < 2; p++) {
        o->mem[p] = arena_array(mem, double, r->n);
        o->wave[p] = arena_array(mem, double, r->n);
        o->next[p] = arena_array(mem, double, r->n);
    }
    o->decay = arena_array(mem, double, r->n);
    o->step = arena_array(mem, double, r->n);
    return o;
}

const rlgc *lossy_rlgc(const lossy *o) { return &o->r; }

void lossy_start(lossy *o, double t, const double v[2], const double zi[2], const double rest_v[2],
                 const double rest_zi[2])
{
    o->t = t;
    o->h = 0;
    for (int p = 0; p < 2; p++) {
        o->rest_v[p] = rest_v[p];
        o->rest_zi[p] = rest_zi[p];
        const double dv = v[p] - rest_v[p], di = zi[p] - rest_zi[p];
        o->u[p] = o->r.on_current ? di : dv;
        double y = o->r.y0 * o->u[p]; /* u jumped there from 0 */
        for (int32_t k = 0; k < o->r.n; k++) {
            o->mem[p][k] = o->u[p];
            o->wave[p][k] = 0;
            y += o->r.m[k] * o->u[p];
        }
        o->a[p] = y + (o->r.on_current ? dv : di);
    }
}

void lossy_wave(const lossy *o, double a[2]) { memcpy(a, o->a, sizeof o->a); }

static void set_step(lossy *o, double h)
{
    if (o->h == h)
        return;
    o->h = h;
    o->c = o->r.direct / h;
    for (int32_t k = 0; k < o->r.n; k++) {
        const double x = o->r.sigma[k] * h;
        o->decay[k] = exp(-x);
        o->step[k] = rlgc_step(x);
        o->c += o->r.m[k] * o->step[k];
    }
}

/* What y*u at the end of a step of set_step has besides (y0 + c) u. */
static double filter_history(const lossy *o, int p)
{
    double sum = -o->c * o->u[p];
    for (int32_t k = 0; k < o->r.n; k++)
        sum += o->r.m[k] * o->decay[k] * o->mem[p][k];
    return sum;
}

/* -- waves on their way -- */

/* The wave filters in `next` go on for dt, driven by straight lines from a0 to a1 (of port 1, 2).
 */
static void drive(lossy *o, double dt, const double a0[2], const double a1[2])
{
    for (int32_t k = 0; k < o->r.n; k++) {
        if (o->r.w[k] == 0)
            continue;
        const double x = o->r.sigma[k] * dt, step = rlgc_step(x), ramp = rlgc_ramp(x),
                     decay = 1 - x * step;
        for (int p = 0; p < 2; p++)
            o->next[p][k] =
                decay * o->next[p][k] + dt * (a0[1 - p] * (step - ramp) + a1[1 - p] * ramp);
    }
}

static void between(const line_point *p0, const line_point *p1, double t, double a[2])
{
    const double w = (t - p0->t) / (p1->t - p0->t);
    for (int p = 0; p < 2; p++)
        a[p] = p0->a[p] + w * (p1->a[p] - p0->a[p]);
}

/* First point behind t; the length if there is none. */
static size_t first_after(const line_point *past, double t)
{
    size_t lo = 0, hi = vec_len(past);
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (past[mid].t > t)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* `next` becomes what the filters are at t after waves of accepted points only: those that left the
 * ports from o->t - delay to min(t - delay, o->t). */
static void drive_past(lossy *o, double t, const line_point *past)
{
    const size_t n = vec_len(past);
    const double end = fmin(t - o->r.delay, o->t);
    double at = o->t - o->r.delay, a0[2] = {0, 0}, a1[2];
    for (int p = 0; p < 2; p++)
        memcpy(o->next[p], o->wave[p], sizeof(double) * (size_t)o->r.n);
    size_t k = first_after(past, at);
    if (k > 0 && k < n)
        between(&past[k - 1], &past[k], at, a0);
    for (; at < end && k < n; k++) {
        const double to = fmin(past[k].t, end);
        if (k > 0)
            between(&past[k - 1], &past[k], to, a1);
        else
            memset(a1, 0, sizeof a1); /* at rest before the first point */
        drive(o, to - at, a0, a1);
        at = to;
        memcpy(a0, k > 0 ? a1 : past[0].a, sizeof a0);
    }
}

/* The same with what left in the present step: straight from o->a to a. */
static void drive_step(lossy *o, const double a[2])
{
    const double dt = o->h - o->r.delay;
    double end[2];
    if (dt <= 0)
        return;
    for (int p = 0; p < 2; p++)
        end[p] = o->a[p] + (a[p] - o->a[p]) * dt / o->h;
    drive(o, dt, o->a, end);
}

static double sum_of_waves(const lossy *o, int p)
{
    double sum = 0;
    for (int32_t k = 0; k < o->r.n; k++)
        sum += o->r.w[k] * o->next[p][k];
    return sum;
}

/* Part of the wave at the end of the step that reaches the other port in it. */
static double reach(const lossy *o)
{
    const double dt = o->h - o->r.delay;
    if (dt <= 0)
        return 0;
    double sum = o->r.gain;
    for (int32_t k = 0; k < o->r.n; k++)
        sum += o->r.w[k] * dt * rlgc_ramp(o->r.sigma[k] * dt);
    return sum * dt / o->h;
}

nat_now lossy_equation(lossy *o, double t, const line_point *past, const double delayed[2])
{
    const double zero[2] = {0, 0}, dt = t - o->t - o->r.delay;
    set_step(o, t - o->t);
    drive_past(o, t, past);
    drive_step(o, zero);
    const double y = o->r.y0 + o->c;
    nat_now eq = {.cv = o->r.on_current ? 1 : y, .ci = o->r.on_current ? y : 1, .k = reach(o)};
    double y_past[2];
    for (int p = 0; p < 2; p++)
        y_past[p] = filter_history(o, p);
    for (int p = 0; p < 2; p++) {
        const int q = 1 - p;
        const double direct = dt <= 0 ? delayed[q] : o->a[q] * (1 - dt / o->h);
        const double e = o->r.gain * direct + sum_of_waves(o, p);
        eq.s[p] = (o->r.on_current ? -1 : 1) * y_past[p] - e - eq.k * y_past[q];
        eq.s[p] -= eq.cv * o->rest_v[p] - eq.ci * o->rest_zi[p];
        eq.s[p] += eq.k * (eq.cv * o->rest_v[q] + eq.ci * o->rest_zi[q]);
    }
    return eq;
}

void lossy_accept(lossy *o, double t, const line_point *past, const double v[2], const double zi[2],
                  double a[2])
{
    set_step(o, t - o->t);
    drive_past(o, t, past);
    double u[2];
    for (int p = 0; p < 2; p++) {
        const double dv = v[p] - o->rest_v[p], di = zi[p] - o->rest_zi[p];
        u[p] = o->r.on_current ? di : dv;
        a[p] = (o->r.y0 + o->c) * u[p] + filter_history(o, p) + (o->r.on_current ? dv : di);
    }
    drive_step(o, a);
    for (int p = 0; p < 2; p++) {
        double *free_now = o->wave[p];
        for (int32_t k = 0; k < o->r.n; k++)
            o->mem[p][k] = o->decay[k] * o->mem[p][k] + (u[p] - o->u[p]) * o->step[k];
        o->wave[p] = o->next[p];
        o->next[p] = free_now;
        o->u[p] = u[p];
        o->a[p] = a[p];
    }
    o->t = t;
}

void lossy_image(lossy *o, image *im)
{
    IMAGE_ONE(im, o->rest_v);
    IMAGE_ONE(im, o->rest_zi);
    IMAGE_ONE(im, o->t);
    IMAGE_ONE(im, o->u);
    IMAGE_ONE(im, o->a);
    for (int p = 0; p < 2; p++) {
        IMAGE_ARRAY(im, o->mem[p], o->r.n);
        IMAGE_ARRAY(im, o->wave[p], o->r.n);
    }
    o->h = 0; /* what follows from the step is made again */
}
