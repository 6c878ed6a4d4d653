/* nat_lossy.c - see nat_lossy.h. */
#include "nat_lossy.h"
#include "nat_past.h"

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

void lossy_fresh(lossy *o)
{
    o->t = o->h = 0;
    for (int p = 0; p < 2; p++) {
        o->rest_v[p] = o->rest_zi[p] = o->u[p] = o->a[p] = 0;
        memset(o->mem[p], 0, sizeof(double) * (size_t)o->r.n);
        memset(o->wave[p], 0, sizeof(double) * (size_t)o->r.n);
    }
    o->c = 0;
}

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

/* `next` becomes what the filters are at t after waves of accepted points only: those that left the
 * ports from o->t - delay to min(t - delay, o->t). */
static void drive_past(lossy *o, double t, const line_point *point)
{
    const size_t n = vec_len(point);
    const double end = fmin(t - o->r.delay, o->t);
    double at = o->t - o->r.delay, a0[2] = {0, 0}, a1[2];
    for (int p = 0; p < 2; p++)
        memcpy(o->next[p], o->wave[p], sizeof(double) * (size_t)o->r.n);
    size_t k = line_point_from(point, n, at, false);
    if (k > 0 && k < n)
        between(&point[k - 1], &point[k], at, a0);
    for (; at < end && k < n; k++) {
        const double to = fmin(point[k].t, end);
        if (k > 0)
            between(&point[k - 1], &point[k], to, a1);
        else
            memset(a1, 0, sizeof a1); /* at rest before the first point */
        drive(o, to - at, a0, a1);
        at = to;
        memcpy(a0, k > 0 ? a1 : point[0].a, sizeof a0);
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

nat_now lossy_equation(lossy *o, double t, const line_point *point, const double delayed[2])
{
    const double zero[2] = {0, 0}, dt = t - o->t - o->r.delay;
    set_step(o, t - o->t);
    drive_past(o, t, point);
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

nat_now lossy_coefficients(lossy *o, double h)
{
    set_step(o, h);
    const double y = o->r.y0 + o->c;
    return (nat_now){.cv = o->r.on_current ? 1 : y, .ci = o->r.on_current ? y : 1, .k = reach(o)};
}

void lossy_accept(lossy *o, double t, const line_point *point, const double v[2],
                  const double zi[2], double a[2])
{
    set_step(o, t - o->t);
    drive_past(o, t, point);
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

/* -- adjoint: each function goes through the statements of the one named, from last to first -- */

lossy_back *lossy_back_new(const lossy *o, arena *mem)
{
    lossy_back *b = arena_new(mem, lossy_back);
    for (int p = 0; p < 2; p++) {
        b->mem[p] = arena_array(mem, double, o->r.n);
        b->wave[p] = arena_array(mem, double, o->r.n);
    }
    return b;
}

/* drive: `next` are derivatives by the filters; those by a0 and a1 out. */
static void back_drive(lossy *o, double dt, double a0[2], double a1[2])
{
    memset(a0, 0, 2 * sizeof *a0);
    memset(a1, 0, 2 * sizeof *a1);
    for (int32_t k = 0; k < o->r.n; k++) {
        if (o->r.w[k] == 0)
            continue;
        const double x = o->r.sigma[k] * dt, step = rlgc_step(x), ramp = rlgc_ramp(x),
                     decay = 1 - x * step;
        for (int p = 0; p < 2; p++) {
            a0[1 - p] += o->next[p][k] * dt * (step - ramp);
            a1[1 - p] += o->next[p][k] * dt * ramp;
            o->next[p][k] *= decay;
        }
    }
}

/* between */
static void back_between(const line_point *point, size_t k, double t, const double a[2],
                         const lossy_take *take)
{
    const double w = (t - point[k - 1].t) / (point[k].t - point[k - 1].t);
    for (int p = 0; p < 2; p++) {
        if (w != 1)
            take->wave(take->user, k - 1, p, true, (1 - w) * a[p]);
        if (w != 0)
            take->wave(take->user, k, p, false, w * a[p]);
    }
}

/* drive_past for a step from `from` to t, whose last point is point[n - 1]. */
static void back_drive_past(lossy *o, double t, const line_point *point, size_t n,
                            const lossy_take *take)
{
    const double last = point[n - 1].t, end = fmin(t - o->r.delay, last), at = last - o->r.delay;
    const size_t begin = line_point_from(point, n, at, false);
    size_t k = begin;
    double a0[2], a1[2];
    while (k < n && point[k].t < end)
        k++;
    for (; at < end && k < n; k--) {
        const bool first = k == begin;
        const double lo = first ? at : point[k - 1].t, hi = fmin(point[k].t, end);
        if (hi > lo)
            back_drive(o, hi - lo, a0, a1);
        if (hi > lo && k > 0) {
            back_between(point, k, hi, a1, take);
            back_between(point, k, lo, a0, take);
        }
        if (first)
            break;
    }
}

/* drive_step: derivatives by o->a to old [2], by a to now [2]. */
static void back_drive_step(lossy *o, double old[2], double now[2])
{
    const double dt = o->h - o->r.delay;
    double a0[2], a1[2];
    if (dt <= 0)
        return;
    back_drive(o, dt, a0, a1);
    for (int p = 0; p < 2; p++) {
        old[p] += a0[p] + a1[p] * (1 - dt / o->h);
        now[p] += a1[p] * dt / o->h;
    }
}

/* filter_history, whose derivative is y. */
static void back_history(const lossy *o, lossy_back *b, int p, double y)
{
    b->u[p] -= o->c * y;
    for (int32_t k = 0; k < o->r.n; k++)
        b->mem[p][k] += o->r.m[k] * o->decay[k] * y;
}

/* The filters of waves at the end of a step, which are in `next`. */
static void back_waves(lossy *o, lossy_back *b, double t, const line_point *point, size_t n,
                       const lossy_take *take)
{
    back_drive_past(o, t, point, n, take);
    for (int p = 0; p < 2; p++)
        for (int32_t k = 0; k < o->r.n; k++)
            b->wave[p][k] += o->next[p][k];
}

void lossy_back_equation(lossy *o, lossy_back *b, double t, const line_point *point, size_t n,
                         const double lambda[2], const lossy_take *take)
{
    const double h = t - point[n - 1].t, dt = h - o->r.delay;
    const nat_now eq = lossy_coefficients(o, h);
    double unused[2] = {0, 0};
    for (int p = 0; p < 2; p++) {
        const int q = 1 - p;
        const double e = -lambda[p], direct = o->r.gain * e;
        back_history(o, b, p, (o->r.on_current ? -1 : 1) * lambda[p] - eq.k * lambda[q]);
        b->rest_v[p] += eq.cv * (eq.k * lambda[q] - lambda[p]);
        b->rest_zi[p] += eq.ci * (eq.k * lambda[q] + lambda[p]);
        for (int32_t k = 0; k < o->r.n; k++)
            o->next[p][k] = o->r.w[k] * e;
        if (dt > 0) {
            b->a[q] += direct * (1 - dt / h);
            continue;
        }
        size_t first;
        double w[3];
        const int count = past_points(point, n, t - o->r.delay, &first);
        past_weights(point + first, count, t - o->r.delay, w);
        for (int i = 0; i < count; i++)
            take->wave(take->user, first + (size_t)i, q,
                       i == 0 && past_begins(point + first, count, t - o->r.delay, t),
                       direct * w[i]);
    }
    back_drive_step(o, b->a, unused);
    back_waves(o, b, t, point, n, take);
}

/* The last statements about u: v and zi of the port. */
static void back_port(const lossy *o, int p, double u, double a, double v[2], double zi[2])
{
    v[p] = o->r.on_current ? a : u;
    zi[p] = o->r.on_current ? u : a;
}

/* Where u jumps, the filters of u jump by as much, and y*u by y(inf) times that. What follows
 * within `direct`, in which less than a step passes, is left out. Without L or C y grows without
 * bound, no front travels, and nothing jumps but by less than a step tells. */
void lossy_back_behind(const lossy *o, const lossy_back *b, const double wave[2], double v[2],
                       double zi[2])
{
    const bool front = o->r.l > 0 && o->r.c > 0;
    for (int p = 0; p < 2; p++) {
        const double a = b->a[p] + wave[p];
        double u = b->u[p] + o->r.y0 * a;
        for (int32_t k = 0; k < o->r.n; k++)
            u += b->mem[p][k] + o->r.m[k] * a;
        back_port(o, p, front ? u : 0, front ? a : 0, v, zi);
    }
}

void lossy_back_accept(lossy *o, lossy_back *b, const line_point *point, size_t n,
                       const double wave[2], const lossy_take *take, double v[2], double zi[2])
{
    const double h = point[n].t - point[n - 1].t;
    double u[2], a[2], old[2] = {0, 0};
    (void)lossy_coefficients(o, h);
    for (int p = 0; p < 2; p++) {
        a[p] = b->a[p] + wave[p];
        u[p] = b->u[p];
        b->u[p] = 0;
        memcpy(o->next[p], b->wave[p], sizeof(double) * (size_t)o->r.n);
        memset(b->wave[p], 0, sizeof(double) * (size_t)o->r.n);
        for (int32_t k = 0; k < o->r.n; k++) {
            u[p] += o->step[k] * b->mem[p][k];
            b->u[p] -= o->step[k] * b->mem[p][k];
            b->mem[p][k] *= o->decay[k];
        }
    }
    back_drive_step(o, old, a);
    back_waves(o, b, point[n].t, point, n, take);
    for (int p = 0; p < 2; p++) {
        u[p] += (o->r.y0 + o->c) * a[p];
        back_history(o, b, p, a[p]);
        b->a[p] = old[p];
        back_port(o, p, u[p], a[p], v, zi);
        b->rest_v[p] -= v[p];
        b->rest_zi[p] -= zi[p];
    }
}
