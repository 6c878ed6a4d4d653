/* gradient_dc.c - gradients of measures of operating points and dc sweeps, by the adjoint method.
 * F(x, p, u) = 0 holds at each point, u the swept sources. For a measure M(x_1 ... x_N)
 *     F_x' l_k = -dM/dx_k,   dM/dp = sum_k l_k' F_p(x_k):
 * one factorisation for each point that measures look at, and a solution for each measure there,
 * whatever the number of parameters.
 * Source: Director & Rohrer, IEEE Trans. Circuit Theory 16(3), 1969; docs/analyses.md. */
#include <string.h>

#include "ckt_vary.h"
#include "small.h"
#include "vec.h"

typedef struct work {
    ana *a;
    const ana_static_opt *o;
    small s;
    double *l;         /* [n_measure][n+1] */
    double *z;         /* [2 (n+1)] */
    ckt_pairing *with; /* [n_measure] */
    double *to;
    small_feeds feeds;       /* of the solution at hand */
    small_shares *share;     /* [n_measure] */
    ckt_vary_entry *current; /* vec: F_p of the row; made when they are needed */
    bool has_current;
} work;

static vs_status at_row(work *w, int64_t row)
{
    for (int32_t k = 0; k < w->o->n_swept; k++)
        ckt_set_source_dc(w->a->c, w->o->swept[k], w->o->level[row * w->o->n_swept + k]);
    const vs_status st = small_static_at(&w->s, w->a, w->o->x + w->o->at[row]);
    return st == VS_OK ? small_factor(&w->s, 0) : st;
}

/* l of one measure, whose seeds at the row are seed[0 .. n). */
static void solve(work *w, const ana_seed *seed, size_t n)
{
    const size_t n1 = (size_t)w->a->n + 1;
    double *l = w->l + (size_t)seed->measure * n1;
    memset(w->z, 0, 2 * n1 * sizeof *w->z);
    for (size_t i = 0; i < n; i++)
        w->z[2 * seed[i].unknown] -= seed[i].weight;
    small_solve_t(&w->s, w->z);
    for (size_t i = 0; i < n1; i++)
        l[i] = w->z[2 * i];
}

static bool is_swept(const ana_static_opt *o, int32_t source)
{
    for (int32_t k = 0; k < o->n_swept; k++)
        if (o->swept[k] == source)
            return true;
    return false;
}

static void add_pushes(work *w, const double *l, double *to)
{
    for (size_t i = 0; i < w->o->n_push; i++) {
        const ana_push *p = &w->o->push[i];
        const ckt_source_facts f = ckt_source_at(w->a->c, p->source);
        if (!is_swept(w->o, p->source))
            to[p->param] += p->by * (f.is_v ? -l[f.k] : l[f.p] - l[f.n]);
    }
}

static void add_lines(work *w, const double *l, double *to)
{
    for (size_t i = 0; i < w->o->n_line; i++)
        to[w->o->line[i]] += ckt_line_side_sum(w->a->c, (int32_t)i, w->s.x, NULL, false, l);
}

/* What of it gmin alone carries (feeds.c); l is in z. */
static vs_status add_share(work *w, int32_t measure, const ckt_env *env)
{
    vs_status st = VS_OK;
    if (!small_feeds_of(&w->feeds, &w->s, w->z))
        return VS_OK;
    if (!w->has_current) {
        vec_clear(w->current);
        st = ckt_vary_currents(w->o->vary, env, w->s.x, &w->current);
        w->has_current = true;
    }
    ana_push *push = NULL;
    for (size_t i = 0; i < w->o->n_push; i++)
        if (!is_swept(w->o, w->o->push[i].source))
            vec_push(push, w->o->push[i]);
    if (st == VS_OK)
        small_shares_add(
            &w->share[measure], &w->feeds, &w->s,
            &(small_moved){.sign = -1, .entry = w->current, .push = push, .n_push = vec_len(push)});
    vec_free(push);
    return st;
}

/* All measures that look at a row. */
static vs_status add_row(work *w, const ana_seed *seed, size_t n)
{
    const size_t n1 = (size_t)w->a->n + 1;
    const ckt_env env = small_env(w->a);
    vs_status st = at_row(w, seed->row);
    memset(w->l, 0, w->o->n_measure * n1 * sizeof *w->l);
    w->has_current = false;
    for (size_t i = 0, j; i < n && st == VS_OK; i = j) {
        for (j = i + 1; j < n && seed[j].measure == seed[i].measure;)
            j++;
        const double *l = w->l + (size_t)seed[i].measure * n1;
        double *to = w->to + (size_t)seed[i].measure * w->o->n_param;
        solve(w, &seed[i], j - i);
        add_pushes(w, l, to);
        add_lines(w, l, to);
        st = add_share(w, seed[i].measure, &env);
    }
    if (st == VS_OK)
        st = ckt_vary_sum(w->o->vary, &env, w->s.x, w->with, w->o->n_measure, w->o->n_param, w->to);
    return st;
}

static vs_status add_rows(work *w, const ana_sink *sink)
{
    const ana_seed *seed = w->o->seed;
    vs_status st = VS_OK;
    for (size_t i = 0, j; i < w->o->n_seed && st == VS_OK; i = j) {
        for (j = i + 1; j < w->o->n_seed && seed[j].row == seed[i].row;)
            j++;
        st = add_row(w, &seed[i], j - i);
        if (st == VS_OK && sink->stop && sink->stop(sink->user))
            st = VS_STOP;
    }
    if (st == VS_OK)
        st = ckt_vary_total(w->o->vary, w->o->n_measure, w->o->n_param, w->to);
    for (size_t m = 0; m < w->o->n_measure && st == VS_OK && w->s.a; m++)
        small_shares_judge(&w->share[m], &w->s, w->o->name, w->to + m * w->o->n_param);
    return st;
}

vs_status ana_gradient_static(ana *a, const ana_static_opt *o, const ana_sink *sink, double *to)
{
    const size_t n1 = (size_t)a->n + 1;
    work w = {.a = a, .o = o, .to = to};
    double *was = vs_calloc((size_t)o->n_swept + 1, sizeof *was);
    for (int32_t k = 0; k < o->n_swept; k++)
        was[k] = ckt_source_dc(a->c, o->swept[k]);
    w.l = vs_calloc(o->n_measure * n1 + 1, sizeof *w.l);
    w.z = vs_calloc(2 * n1, sizeof *w.z);
    w.with = vs_calloc(o->n_measure + 1, sizeof *w.with);
    w.share = vs_calloc(o->n_measure + 1, sizeof *w.share);
    for (size_t m = 0; m < o->n_measure; m++) {
        w.with[m].f = w.l + m * n1;
        small_shares_begin(&w.share[m], o->n_param);
    }
    const vs_status st = add_rows(&w, sink);
    for (int32_t k = 0; k < o->n_swept; k++)
        ckt_set_source_dc(a->c, o->swept[k], was[k]);
    vs_free(was);
    if (st == VS_NOCONV)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives no finite value with its parameters or voltages a little off");
    for (size_t m = 0; m < o->n_measure; m++)
        small_shares_end(&w.share[m]);
    vs_free(w.share);
    vec_free(w.current);
    small_feeds_fini(&w.feeds);
    small_fini(&w.s);
    vs_free(w.l);
    vs_free(w.z);
    vs_free(w.with);
    return st;
}
