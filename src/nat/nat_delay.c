/* nat_delay.c - see nat_delay.h. */
#include "nat_delay.h"
#include "nat_complex.h"
#include "nat_past.h"

#include <math.h>
#include <string.h>

typedef struct delay {
    int32_t u, y, d, most; /* unknowns; most -1: d is constant */
    int32_t slot[4];       /* (y,y) (y,u) (y,d) (y,most) */
    past past;             /* of u */
    double ac;             /* s, d at the operating point, */
    int32_t by;            /* and the unknown that it is; 0: it is cut off at 0 */
    nat_now held;
} delay;

typedef struct delays {
    nat_set set;
    delay *all; /* vec */
} delays;

static delay *delays_of(const nat_set *s) { return ((const delays *)s)->all; }

void nat_delay_add(nat_list *l, int32_t u, int32_t y, int32_t d, int32_t most)
{
    delays *to = (delays *)nat_need(l, NAT_DELAY, sizeof *to);
    vec_push(to->all, ((delay){.u = u, .y = y, .d = d, .most = most}));
}

static void free_delays(nat_set *set)
{
    delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        past_free(&all[i].past);
    vec_free(((delays *)set)->all);
}

static int32_t count(const nat_set *set) { return (int32_t)vec_len(delays_of(set)); }

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    const delay *all = delays_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++) {
        vec_push(*e, csc_entry_of(all[i].y, all[i].y));
        vec_push(*e, csc_entry_of(all[i].y, all[i].u));
        vec_push(*e, csc_entry_of(all[i].y, all[i].d));
        if (all[i].most >= 0)
            vec_push(*e, csc_entry_of(all[i].y, all[i].most));
    }
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    delay *all = delays_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(all); i++) {
        all[i].slot[0] = csc_slot(a, csc_entry_of(all[i].y, all[i].y));
        all[i].slot[1] = csc_slot(a, csc_entry_of(all[i].y, all[i].u));
        all[i].slot[2] = csc_slot(a, csc_entry_of(all[i].y, all[i].d));
        if (all[i].most >= 0)
            all[i].slot[3] = csc_slot(a, csc_entry_of(all[i].y, all[i].most));
    }
}

/* -- loads -- */

/* y = sum + own u: what the delayed signal is at time t. */
typedef struct delayed {
    double sum, own;
} delayed;

static double delay_at(const delay *l, const double *x)
{
    const double d = fmax(x[l->d], 0);
    return l->most < 0 ? d : fmin(d, fmax(x[l->most], 0));
}

int32_t nat_delay_by(int32_t d, int32_t most, const double *x)
{
    if (x[d] < 0 || (most >= 0 && x[most] < 0))
        return 0;
    return most >= 0 && x[d] > x[most] ? most : d;
}

/* The delayed signal where `at` lies between the last point and t: on the line to the present u. */
static delayed ahead_of_history(const past *p, double t, double at)
{
    const size_t n = vec_len(p->point);
    const line_point *last = &p->point[n - 1];
    if (n < 2 || last->corner || !(t > last->t) ||
        !past_is_smooth(last->t - last[-1].t, t - last->t)) {
        const double own = t > last->t ? (at - last->t) / (t - last->t) : 0;
        return (delayed){(1 - own) * last->a[0], own};
    }
    const double time[3] = {last[-1].t, last->t, t}, known[3] = {last[-1].a[0], last->a[0], 0},
                 one[3] = {0, 0, 1};
    return (delayed){past_parabola(time, known, at), past_parabola(time, one, at)};
}

int nat_delay_points(const line_point *p, size_t n, double t, double at, line_point *near)
{
    const line_point *last = &p[n - 1], now = {.t = t};
    size_t first;
    if (at <= last->t || !(t > last->t)) {
        const int count = past_points(p, n, at, &first);
        memcpy(near, p + first, (size_t)count * sizeof *p);
        return count;
    }
    if (n < 2 || last->corner || !past_is_smooth(last->t - last[-1].t, t - last->t)) {
        near[0] = *last;
        near[1] = now;
        return 2;
    }
    near[0] = last[-1];
    near[1] = *last;
    near[2] = now;
    return 3;
}

static delayed signal_at(const delay *l, const nat_env *env, const double *x)
{
    const size_t n = vec_len(l->past.point);
    if (env->held)
        return (delayed){-l->held.s[0], l->held.k};
    if (env->steady)
        return (delayed){0, 0};
    if (env->mode != NAT_TRAN || env->initial_step || n == 0)
        return (delayed){0, 1};
    const double at = env->time - delay_at(l, x);
    return at > l->past.point[n - 1].t ? ahead_of_history(&l->past, env->time, at)
                                       : (delayed){past_at(&l->past, 0, at), 0};
}

/* The step behind a corner ends within the delay, so that the corner is seen in time. */
static double step_limit(const delay *l, const nat_env *env, const double *x, bool corner)
{
    const double d = delay_at(l, x);
    const bool behind = env->mode == NAT_TRAN && (env->initial_step || corner);
    return behind && d > 0 ? 0.5 * d : INFINITY;
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const delay *l = &all[i];
        const delayed s = signal_at(l, env, x);
        to->f[l->y] += x[l->y] - s.sum - s.own * x[l->u];
        to->fmax[l->y] =
            fmax(to->fmax[l->y], fmax(fabs(x[l->y]), fmax(fabs(s.sum), fabs(s.own * x[l->u]))));
        to->val[l->slot[0]] += 1;
        to->val[l->slot[1]] -= s.own;
        to->bound = fmin(to->bound, step_limit(l, env, x, to->corner));
    }
}

static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        to->g[all[i].slot[0]] += 1;
        if (env->held)
            to->g[all[i].slot[1]] -= all[i].held.k;
        all[i].by = nat_delay_by(all[i].d, all[i].most, x);
        if (env->held && all[i].by)
            to->g[all[i].slot[all[i].by == all[i].d ? 2 : 3]] += all[i].held.cv;
        all[i].ac = delay_at(&all[i], x);
    }
}

static void at_omega(const nat_set *set, double omega, const csc *a, double *val)
{
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        nat_add_complex(a, val, all[i].slot[1], -cexp(-I * omega * all[i].ac));
}

static void by_omega(const nat_set *set, double omega, const csc *a, double *val)
{
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const double complex turn = I * omega * all[i].ac;
        nat_add_complex(a, val, all[i].slot[1], turn * cexp(-turn));
    }
}

void nat_delay_phasors(const nat_list *l, double omega, const double complex *y,
                       const double complex *z, double *to)
{
    const delay *all = l->set[NAT_DELAY] ? delays_of(l->set[NAT_DELAY]) : NULL;
    for (size_t i = 0; i < vec_len(all); i++)
        to[all[i].by] +=
            creal(y[all[i].y] * I * omega * cexp(-I * omega * all[i].ac) * z[all[i].u]);
}

static nat_memory memory(const nat_set *set, int32_t i)
{
    const delay *l = &delays_of(set)[i];
    return (nat_memory){.node = {l->u, l->y, l->d, l->most}};
}

static size_t n_note(const nat_set *set) { return NAT_DELAY_NOTE * vec_len(delays_of(set)); }

/* d(sum + own u)/dat, in front of (-1) or behind (1) a corner that stands at just that time. */
static double slope_at(const delay *l, double t, const double *x, int which)
{
    const past *p = &l->past;
    const size_t n = vec_len(p->point);
    const double at = t - delay_at(l, x), beside = at + which * PAST_SAME * t;
    line_point near[3];
    double w[3], slope = 0;
    if (n == 0)
        return 0;
    const int count = nat_delay_points(p->point, n, t, beside, near);
    past_slopes(near, count, at, w);
    for (int i = 0; i < count; i++)
        slope += w[i] * (near[i].t == t ? x[l->u] : near[i].a[0]);
    return slope;
}

static void note(nat_set *set, double t, const double *x, double *to)
{
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        for (int k = 0; k < NAT_DELAY_NOTE; k++)
            to[NAT_DELAY_NOTE * i + (size_t)k] = slope_at(&all[i], t, x, k ? 1 : -1);
}

static void hold(nat_set *set, int32_t i, const nat_now *now) { delays_of(set)[i].held = *now; }

/* -- accepted points -- */

static vs_status accept(nat_set *set, const nat_env *env, const double *x, bool corner)
{
    delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all) && env->mode == NAT_TRAN; i++) {
        delay *l = &all[i];
        if (env->initial_step)
            past_clear(&l->past);
        const line_point p = {
            .t = env->time, .a = {x[l->u], 0}, .corner = corner || env->initial_step};
        const double d = delay_at(l, x);
        past_add(&l->past, &p, d, env->reltol);
        past_forget(&l->past, env->time - (l->most < 0 ? d : fmax(x[l->most], 0)), env->time);
    }
    return VS_OK;
}

static double next_break(nat_set *set, double t)
{
    double best = INFINITY;
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        best = fmin(best, past_next_break(&all[i].past, t));
    return best;
}

static void fresh(nat_set *set)
{
    delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        past_clear(&all[i].past);
}

static void take_image(nat_set *set, image *im)
{
    delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++)
        past_image(&all[i].past, im);
}

static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other delays";
    const delay *all = delays_of(set);
    for (size_t i = 0; i < vec_len(all); i++) {
        const int32_t what[] = {all[i].u, all[i].y, all[i].d, all[i].most};
        IMAGE_SAME(im, what, other);
    }
}

const nat_kind nat_delay_kind = {
    .name = "delay",
    .remembers = true,
    .free = free_delays,
    .count = count,
    .entries = entries,
    .place = place,
    .load = load,
    .load_ac = load_ac,
    .at_omega = at_omega,
    .by_omega = by_omega,
    .memory = memory,
    .n_note = n_note,
    .note = note,
    .hold = hold,
    .accept = accept,
    .next_break = next_break,
    .fresh = fresh,
    .image = take_image,
    .identity = identity,
};
