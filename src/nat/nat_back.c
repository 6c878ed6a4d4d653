/* nat_back.c - see nat_back.h. */
#include "nat_back.h"
#include "nat_delay.h"
#include "nat_past.h"

#include <string.h>

enum { CELL = 4 }; /* of both ports: all, and what stands for the piece behind */

typedef struct device {
    nat_memory m;
    lossy *loss;         /* NULL: ideal, or a delay */
    lossy_back **state;  /* [n_measure] of a lossy one, */
    double (*behind)[4]; /* and derivatives by jumps of v and zi (nat_back_turn) */
    double
        *bar; /* [cap][n_measure][CELL] of points lo .. nat_back.top, at point % cap, 0 elsewhere */
    size_t lo, cap; /* cap: a power of 2 */
} device;

struct nat_back {
    nat_list *l;
    arena mem;
    line_point *point; /* vec; a is not used */
    device *all;       /* vec */
    int32_t n_measure;
    size_t top; /* the last point that was not taken yet */
};

nat_back *nat_back_new(nat_list *l, const nat_time *point, size_t n_point, int32_t n_measure)
{
    nat_back *b = vs_calloc(1, sizeof *b);
    *b = (nat_back){.l = l, .n_measure = n_measure, .top = n_point - 1};
    arena_init(&b->mem);
    for (size_t k = 0; k < n_point; k++)
        vec_push(b->point, ((line_point){.t = point[k].t, .corner = point[k].corner}));
    for (int32_t i = 0; i < nat_n_memory(l); i++) {
        device d = {.m = nat_memory_of(l, i), .lo = b->top, .cap = 4};
        if (d.m.loss) {
            d.loss = lossy_new(d.m.loss, &b->mem);
            d.state = arena_array(&b->mem, lossy_back *, n_measure);
            d.behind = vs_calloc((size_t)n_measure + 1, sizeof *d.behind);
            for (int32_t k = 0; k < n_measure; k++)
                d.state[k] = lossy_back_new(d.loss, &b->mem);
        }
        d.bar = vs_calloc(d.cap * CELL * (size_t)n_measure, sizeof *d.bar);
        vec_push(b->all, d);
    }
    return b;
}

void nat_back_free(nat_back **pb)
{
    nat_back *b = *pb;
    *pb = NULL;
    if (!b)
        return;
    for (size_t i = 0; i < vec_len(b->all); i++) {
        vs_free(b->all[i].bar);
        vs_free(b->all[i].behind);
    }
    vec_free(b->all);
    vec_free(b->point);
    arena_fini(&b->mem);
    vs_free(b);
}

/* -- sums for points -- */

static double *bars_of(const nat_back *b, const device *d, size_t point)
{
    return d->bar + (point & (d->cap - 1)) * CELL * (size_t)b->n_measure;
}

static void widen(nat_back *b, device *d)
{
    device w = *d;
    const size_t n = CELL * (size_t)b->n_measure;
    w.cap = 2 * d->cap;
    w.bar = vs_calloc(w.cap * n, sizeof *w.bar);
    for (size_t k = d->lo; k <= b->top; k++)
        memcpy(bars_of(b, &w, k), bars_of(b, d, k), n * sizeof *w.bar);
    vs_free(d->bar);
    *d = w;
}

typedef struct target {
    nat_back *b;
    device *d;
    int32_t measure;
} target;

static double *cell_of(const target *t, size_t point)
{
    device *d = t->d;
    while (point < d->lo && t->b->top - point >= d->cap)
        widen(t->b, d);
    d->lo = point < d->lo ? point : d->lo;
    return bars_of(t->b, d, point) + CELL * t->measure;
}

static void add(void *user, size_t point, int port, bool begins, double weight)
{
    const target *t = user;
    double *cell = cell_of(t, point);
    cell[port] += weight;
    if (begins && t->b->point[point].corner)
        cell[2 + port] += weight;
}

/* -- equations -- */

static bool is_delay(const device *d) { return !d->m.name; }

/* d of a delay. */
static double time_of(const device *d, const double *x)
{
    const double t = fmax(x[d->m.node[2]], 0);
    return d->m.node[3] < 0 ? t : fmin(t, fmax(x[d->m.node[3]], 0));
}

/* What u at t itself counts for in the delayed signal; the other points, *count of them, first. */
static double own_part(const nat_back *b, const device *d, size_t last, double t, const double *x,
                       line_point near[3], double w[3], int *count)
{
    const double at = t - time_of(d, x);
    *count = nat_delay_points(b->point, last + 1, t, at, near);
    past_weights(near, *count, at, w);
    return near[*count - 1].t == t ? w[--*count] : 0;
}

/* Of delays, in `noted`. */
static const double *slopes_of(const nat_back *b, const double *noted)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(b->all); i++)
        n += is_delay(&b->all[i]);
    return noted + nat_n_note(b->l) - NAT_DELAY_NOTE * n;
}

void nat_back_hold(nat_back *b, size_t last, double t, const double *x, const double *noted,
                   bool behind)
{
    const double *slope = slopes_of(b, noted);
    for (size_t i = 0; i < vec_len(b->all); i++) {
        const device *d = &b->all[i];
        nat_now now = {.cv = 1, .ci = 1};
        if (d->loss)
            now = lossy_coefficients(d->loss, t - b->point[last].t);
        if (is_delay(d)) {
            line_point near[3];
            double w[3];
            int count;
            now = (nat_now){.cv = slope[behind], .k = own_part(b, d, last, t, x, near, w, &count)};
            slope += NAT_DELAY_NOTE;
        }
        nat_hold(b->l, (int32_t)i, &now);
    }
}

/* The first of the points 0 .. last that stands at t or later; last if none does. */
static size_t place_of(const nat_back *b, double t, size_t last)
{
    return line_point_from(b->point, last, t, true);
}

static void delay_rows(nat_back *b, device *d, size_t last, double t, const double *x,
                       const double *const *lambda)
{
    line_point near[3];
    double w[3];
    int count;
    const bool own = own_part(b, d, last, t, x, near, w, &count) != 0,
               begins = past_begins(near, count + own, t - time_of(d, x), t);
    for (int k = 0; k < count; k++)
        for (int32_t m = 0; m < b->n_measure; m++)
            add(&(target){b, d, m}, place_of(b, near[k].t, last), 0, k == 0 && begins,
                -w[k] * lambda[m][d->m.node[1]]);
}

static void line_rows(nat_back *b, device *d, size_t last, double t, const double *const *lambda)
{
    size_t first;
    double w[3];
    const int count = past_points(b->point, last + 1, t - d->m.delay, &first);
    past_weights(b->point + first, count, t - d->m.delay, w);
    const bool begins = past_begins(b->point + first, count, t - d->m.delay, t);
    for (int k = 0; k < count; k++)
        for (int32_t m = 0; m < b->n_measure; m++)
            for (int p = 0; p < 2; p++)
                add(&(target){b, d, m}, first + (size_t)k, 1 - p, k == 0 && begins,
                    -w[k] * lambda[m][d->m.k[p]]);
}

void nat_back_rows(nat_back *b, size_t last, double t, const double *x, const double *const *lambda)
{
    for (size_t i = 0; i < vec_len(b->all); i++) {
        device *d = &b->all[i];
        for (int32_t m = 0; m < b->n_measure && d->loss; m++) {
            target to = {b, d, m};
            const lossy_take take = {add, &to};
            const double row[2] = {lambda[m][d->m.k[0]], lambda[m][d->m.k[1]]};
            lossy_back_equation(d->loss, d->state[m], t, b->point, last + 1, row, &take);
        }
        if (is_delay(d))
            delay_rows(b, d, last, t, x, lambda);
        else if (!d->loss)
            line_rows(b, d, last, t, lambda);
    }
}

/* A corner that stands where the delay ends. */
static bool corner_at(const nat_back *b, size_t last, double at, double t, size_t *point)
{
    const double same = PAST_SAME * t;
    *point = place_of(b, at - same, last);
    return b->point[*point].corner && fabs(b->point[*point].t - at) <= same;
}

double nat_back_beyond(double t, double next)
{
    return t > 0 ? t * (1 + 4 * PAST_SAME) : 4 * PAST_SAME * next;
}

bool nat_back_jumps(const nat_back *b, size_t last, double t, const double *x)
{
    bool jumps = false;
    size_t point;
    for (size_t i = 0; i < vec_len(b->all); i++)
        jumps |= is_delay(&b->all[i]) && corner_at(b, last, t - time_of(&b->all[i], x), t, &point);
    return jumps;
}

void nat_back_behind(nat_back *b, size_t last, double t, const double *x, const double *noted,
                     const double *const *lambda, double *const *rhs)
{
    const double *slope = slopes_of(b, noted);
    for (size_t i = 0; i < vec_len(b->all); i++) {
        device *d = &b->all[i];
        const double delay = is_delay(d) ? time_of(d, x) : d->m.delay;
        const double gain = d->loss ? d->m.loss->gain : 1;
        const double bend = is_delay(d) ? slope[1] - slope[0] : 0;
        slope += is_delay(d) ? NAT_DELAY_NOTE : 0;
        size_t point;
        if (!corner_at(b, last, t - delay, t, &point))
            continue;
        for (int32_t m = 0; m < b->n_measure; m++) {
            double *jump = cell_of(&(target){b, d, m}, point) + 2;
            for (int p = 0; p < 2 && !is_delay(d); p++)
                jump[1 - p] -= gain * lambda[m][d->m.k[p]];
            if (!is_delay(d))
                continue;
            jump[0] -= lambda[m][d->m.node[1]];
            rhs[m][nat_delay_by(d->m.node[2], d->m.node[3], x)] -= bend * lambda[m][d->m.node[1]];
        }
    }
}

/* -- points -- */

static void take_ports(const device *d, const double v[2], const double zi[2], double *rhs)
{
    for (int p = 0; p < 2; p++) {
        rhs[d->m.node[2 * p]] -= v[p];
        rhs[d->m.node[2 * p + 1]] += v[p];
        rhs[d->m.k[p]] -= d->m.z * zi[p];
    }
}

static void take_point(nat_back *b, device *d, size_t point, int32_t m, double *rhs, double *jump)
{
    double *cell = bars_of(b, d, point) + CELL * m, v[2], zi[2];
    const double wave[2] = {cell[0], cell[1]}, behind[2] = {cell[2], cell[3]};
    target to = {b, d, m};
    const lossy_take take = {add, &to};
    memset(cell, 0, CELL * sizeof *cell);
    if (d->loss && b->point[point].corner)
        take_ports(d, d->behind[m], d->behind[m] + 2, jump);
    if (is_delay(d)) {
        rhs[d->m.node[0]] -= wave[0];
        jump[d->m.node[0]] -= behind[0];
    } else if (!d->loss) {
        take_ports(d, wave, wave, rhs);
        take_ports(d, behind, behind, jump);
    } else if (point > 0) {
        lossy_back_accept(d->loss, d->state[m], b->point, point, wave, &take, v, zi);
        take_ports(d, v, zi, rhs);
    } else {
        take_ports(d, d->state[m]->rest_v, d->state[m]->rest_zi, rhs);
    }
}

void nat_back_turn(nat_back *b)
{
    for (size_t i = 0; i < vec_len(b->all); i++) {
        device *d = &b->all[i];
        for (int32_t m = 0; m < b->n_measure && d->loss; m++)
            lossy_back_behind(d->loss, d->state[m], bars_of(b, d, b->top) + CELL * m + 2,
                              d->behind[m], d->behind[m] + 2);
    }
}

void nat_back_point(nat_back *b, size_t point, double *const *rhs, double *const *jump)
{
    assert(point == b->top);
    for (size_t i = 0; i < vec_len(b->all); i++) {
        device *d = &b->all[i];
        for (int32_t m = 0; m < b->n_measure; m++)
            take_point(b, d, point, m, rhs[m], jump[m]);
        if (d->lo == point && point > 0)
            d->lo = point - 1;
    }
    b->top = point > 0 ? point - 1 : 0;
}
