/* ckt_delay.c - see ckt_delay.h. */
#include "ckt_delay.h"
#include "ckt_past.h"

#include <math.h>

typedef struct delay {
    int32_t u, y, d, most; /* unknowns; most -1: d is constant */
    int32_t slot[2];       /* (y,y) (y,u) */
    past past;             /* of u */
    double ac;             /* s, d at the operating point */
} delay;

typedef struct wrap {
    int32_t z, m;
} wrap;

struct ckt_delays {
    delay *delay; /* vec */
    wrap *wrap;   /* vec */
};

static delay *delays_of(const ckt *c) { return c->delays ? c->delays->delay : NULL; }

void ckt_delay_add(ckt *c, const va_module *m, const int32_t *unk)
{
    for (size_t i = 0; i < vec_len(m->native); i++) {
        const int32_t *u = m->native[i].unknown;
        if (!c->delays)
            c->delays = arena_new(&c->mem, struct ckt_delays);
        if (m->native[i].kind == VA_WRAP) {
            const wrap w = {unk[u[0]], unk[u[1]]};
            vec_push(c->delays->wrap, w);
            continue;
        }
        const delay d = {
            .u = unk[u[0]], .y = unk[u[1]], .d = unk[u[2]], .most = u[3] < 0 ? -1 : unk[u[3]]};
        vec_push(c->delays->delay, d);
    }
}

void ckt_delay_free(ckt *c)
{
    delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        past_free(&all[i].past);
    vec_free(all);
    if (c->delays)
        vec_free(c->delays->wrap);
}

bool ckt_has_delay(const ckt *c) { return vec_len(delays_of(c)) > 0; }

void ckt_delay_entries(const ckt *c, ckt_entry **e)
{
    const delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        vec_push(*e, ckt_entry_of(all[i].y, all[i].y));
        vec_push(*e, ckt_entry_of(all[i].y, all[i].u));
    }
}

void ckt_delay_place(ckt *c)
{
    delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        all[i].slot[0] = ckt_slot_of(&c->a, all[i].y, all[i].y);
        all[i].slot[1] = ckt_slot_of(&c->a, all[i].y, all[i].u);
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

/* From points and the one under way, `at` lying between the last point and t. */
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

static delayed signal_at(const delay *l, const ckt_env *env, const double *x)
{
    const size_t n = vec_len(l->past.point);
    if (env->mode != CKT_TRAN || env->initial_step || n == 0)
        return (delayed){0, 1};
    const double at = env->time - delay_at(l, x);
    return at > l->past.point[n - 1].t ? ahead_of_history(&l->past, env->time, at)
                                       : (delayed){past_at(&l->past, 0, at), 0};
}

/* The step behind a corner ends within the delay, so that the corner is seen in time. */
static double step_limit(const ckt *c, const delay *l, const ckt_env *env, const double *x)
{
    const double d = delay_at(l, x);
    const bool corner = env->mode == CKT_TRAN && (env->initial_step || env->time == c->last_break);
    return corner && d > 0 ? 0.5 * d : INFINITY;
}

void ckt_delay_load(ckt *c, const ckt_env *env, const double *x, double *f, double *fmx,
                    double *bound)
{
    const delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        const delay *l = &all[i];
        const delayed s = signal_at(l, env, x);
        f[l->y] += x[l->y] - s.sum - s.own * x[l->u];
        fmx[l->y] = fmax(fmx[l->y], fmax(fabs(x[l->y]), fmax(fabs(s.sum), fabs(s.own * x[l->u]))));
        c->a.val[l->slot[0]] += 1;
        c->a.val[l->slot[1]] -= s.own;
        *bound = fmin(*bound, step_limit(c, l, env, x));
    }
}

void ckt_delay_load_ac(ckt *c, const double *x, double *g)
{
    delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++) {
        g[all[i].slot[0]] += 1;
        all[i].ac = delay_at(&all[i], x);
    }
}

void ckt_delay_ac(const ckt *c, double omega, double *val)
{
    const delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        ckt_add_complex(c, val, all[i].slot[1], -cexp(-I * omega * all[i].ac));
}

/* -- accepted points -- */

void ckt_delay_accept(ckt *c, const ckt_env *env, const double *x, bool corner)
{
    delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all) && env->mode == CKT_TRAN; i++) {
        delay *l = &all[i];
        if (env->initial_step)
            past_clear(&l->past);
        const line_point p = {
            .t = env->time, .a = {x[l->u], 0}, .corner = corner || env->initial_step};
        const double d = delay_at(l, x);
        past_add(&l->past, &p, d, env->reltol);
        past_forget(&l->past, env->time - (l->most < 0 ? d : fmax(x[l->most], 0)), env->time);
    }
}

double ckt_delay_next_break(const ckt *c, double t)
{
    double best = INFINITY;
    const delay *all = delays_of(c);
    for (size_t i = 0; i < vec_len(all); i++)
        best = fmin(best, past_next_break(&all[i].past, t));
    return best;
}

int32_t ckt_wrapped(const ckt *c, int32_t i, const double *x, double *by)
{
    *by = 0;
    if (!c->delays || i >= (int32_t)vec_len(c->delays->wrap))
        return -1;
    const wrap *w = &c->delays->wrap[i];
    const double m = x[w->m];
    if (w->z > 0 && m > 0)
        *by = m * floor(x[w->z] / m);
    return w->z;
}
