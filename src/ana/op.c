/* op.c - operating point: Newton, then homotopies, each from the start value.
 *   gmin stepping       a conductance from every node to ground shrinks to nothing
 *   source stepping     all independent sources grow from 0
 *   pseudo-transient    a capacitor at every node, backward Euler with growing steps
 * Source: ngspice manual ch. "Convergence"; Kelley & Keyes, SIAM J. Numer. Anal. 35(2), 1998. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ana_priv.h"

#define FORCE_CONDUCTANCE 1e7 /* S: 1 A shifts a forced node by 0.1 uV */

newton_eq ana_static_eq(const ana *a, bool tran_op)
{
    newton_eq eq = {
        .env = {.mode = CKT_STATIC,
                .gmin = a->opt.gmin,
                .srcfact = 1,
                .limit = true,
                .initial_step = true,
                .tran_op = tran_op},
        .gshunt = a->opt.rshunt > 0 ? 1 / a->opt.rshunt : 0,
        .gforce = FORCE_CONDUCTANCE,
        .itl = a->opt.itl1,
        .damp = true,
    };
    if (tran_op) {
        eq.force = a->ic;
        eq.n_force = vec_len(a->ic);
    }
    return eq;
}

static void copy(const ana *a, double *to, const double *from)
{
    memcpy(to, from, sizeof(double) * (size_t)(a->n + 1));
}

/* How far each method came, for the message. */
typedef struct op_progress {
    double gmin, source, pseudo; /* S; 0..1; S. < 0: no solution at all */
    newton_report first;         /* of plain Newton */
} op_progress;

/* Newton at eq from x_good; x_good moves only on success. */
static vs_status attempt(ana *a, const newton_eq *eq, newton_report *rep)
{
    copy(a, a->x_try, a->x_good);
    vs_status st = newton_run(a, eq, a->x_try, rep);
    if (st == VS_OK)
        copy(a, a->x_good, a->x_try);
    return st;
}

/* Conductance of node rows from 1 mS (more if need be) down to nothing, in steps that follow the
 * effort: quick success makes them longer, failure shorter. */
static vs_status gmin_stepping(ana *a, const newton_eq *base, double *reached)
{
    const double first = 1e-3, most = 1e2, least = 1e-15, max_factor = 10, min_factor = 1.00005;
    newton_eq eq = *base;
    newton_report rep;
    double g = first, g_good = -1, factor = max_factor;
    *reached = -1;
    for (int step = 0; step < 400; step++) {
        eq.gshunt = base->gshunt + g;
        vs_status st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = g_good = g;
            if (g == 0)
                return VS_OK;
            if (rep.iter <= a->opt.itl1 / 4)
                factor = fmin(factor * sqrt(factor), max_factor);
            else if (rep.iter > a->opt.itl1 * 3 / 4)
                factor = fmax(sqrt(factor), min_factor);
            g = g <= least ? 0 : g / factor;
        } else if (g_good < 0) {
            g *= 10;
            if (g > most * 1.001)
                return VS_NOCONV;
        } else {
            if (g == 0 || factor < min_factor)
                return VS_NOCONV;
            factor = sqrt(sqrt(factor));
            g = g_good / factor;
        }
    }
    return VS_NOCONV;
}

static vs_status source_stepping(ana *a, const newton_eq *base, double *reached)
{
    const double first = 0.01, scale = 3, least = 1e-7;
    newton_eq eq = *base;
    newton_report rep;
    double ignored, s_good = 0, step = first;
    *reached = -1;
    eq.env.srcfact = 0;
    vs_status st = attempt(a, &eq, &rep);
    if (st == VS_NOCONV)
        st = gmin_stepping(a, &eq, &ignored);
    if (st != VS_OK)
        return st;
    *reached = 0;
    for (int i = 0; i < 1000 && step >= least; i++) {
        eq.env.srcfact = fmin(s_good + step, 1);
        st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = s_good = eq.env.srcfact;
            if (s_good >= 1)
                return VS_OK;
            if (rep.iter <= a->opt.itl1 / 4)
                step *= scale;
        } else {
            step /= scale;
        }
    }
    return VS_NOCONV;
}

/* g = C/h of the pseudo capacitors falls as the pseudo time step h grows. Steps that long damp more
 * than the circuit would: where there are several solutions, the one found may be unstable. */
static vs_status pseudo_transient(ana *a, const newton_eq *base, double *reached)
{
    const double first = 1e-2, most = 1e6, least = 1e-14;
    newton_eq eq = *base;
    newton_report rep;
    double factor = 2;
    *reached = -1;
    eq.gpt = first;
    eq.xref = a->x_start;
    for (int step = 0; step < 2000; step++) {
        copy(a, a->x_start, a->x_good);
        vs_status st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = eq.gpt;
            if (eq.gpt < least) {
                eq.gpt = 0;
                return attempt(a, &eq, &rep);
            }
            factor = rep.iter <= 6 ? fmin(factor * 1.5, 10) : rep.iter > 20 ? 1.2 : 2;
            eq.gpt /= factor;
        } else {
            eq.gpt *= 4;
            factor = 1.2;
            if (eq.gpt > most)
                return VS_NOCONV;
        }
    }
    return VS_NOCONV;
}

static void start_value(ana *a, double *x)
{
    memset(x, 0, sizeof(double) * (size_t)(a->n + 1));
    for (size_t i = 0; i < vec_len(a->nodeset); i++)
        x[a->nodeset[i].unknown] = a->nodeset[i].value;
}

/* The nodes are let go gradually: at once, the output of a gate that was held above its supply is
 * an open circuit to Newton, and the update throws it, and the latch behind it, anywhere. x stays
 * at the last solution. */
static vs_status release_slowly(ana *a, newton_eq *eq, double *x)
{
    static const double hold[] = {1e-2, 1e-4, 1e-6}; /* S */
    newton_report rep;
    vs_status st = VS_OK;
    for (size_t k = 0; k < VS_COUNT(hold) && st == VS_OK; k++) {
        eq->gforce = hold[k];
        copy(a, a->x_start, x);
        st = newton_run(a, eq, a->x_start, &rep);
        if (st == VS_OK)
            copy(a, x, a->x_start);
    }
    return st < 0 ? st : VS_OK;
}

/* A solution with the .nodeset nodes held is the start; if there is none, the values alone are. */
static vs_status solve_with_nodeset(ana *a, const newton_eq *base, double *x)
{
    newton_eq eq = *base;
    newton_report rep;
    ana_node_value *both = NULL;
    for (size_t i = 0; i < vec_len(a->nodeset); i++)
        vec_push(both, a->nodeset[i]);
    for (size_t i = 0; i < base->n_force; i++)
        vec_push(both, base->force[i]);
    eq.force = both;
    eq.n_force = vec_len(both);
    vs_status st = newton_run(a, &eq, x, &rep);
    if (st == VS_OK && !base->n_force) /* what .ic holds is not let go */
        st = release_slowly(a, &eq, x);
    vec_free(both);
    if (st == VS_NOCONV)
        start_value(a, x);
    return st < 0 ? st : VS_OK;
}

static vs_status plain_newton(ana *a, const newton_eq *base, double *x, bool warm,
                              newton_report *rep)
{
    newton_eq eq = *base;
    ckt_reset_limits(a->c);
    if (warm) {
        eq.itl = a->opt.itl2;
        vs_status st = newton_run(a, &eq, x, rep);
        if (st != VS_NOCONV)
            return st;
        eq.itl = a->opt.itl1;
        ckt_reset_limits(a->c);
    }
    start_value(a, x);
    if (vec_len(a->nodeset)) {
        vs_status st = solve_with_nodeset(a, &eq, x);
        if (st != VS_OK)
            return st;
    }
    return newton_run(a, &eq, x, rep);
}

static const char *how_far(const ana *a, double down_to)
{
    return down_to < 0    ? "no solution at all"
           : down_to == 0 ? "none in the last step"
                          : arena_printf(&a->d->mem, "solutions down to %.3g S", down_to);
}

static void note_homotopies(ana *a, const op_progress *p)
{
    const char *s = p->source < 0 ? "no solution at all"
                                  : arena_printf(&a->d->mem, "up to %.4g %% of the sources",
                                                 fmin(100 * p->source, 99.99));
    diag_note(a->d, DIAG_NOWHERE,
              "tried: Newton (%d iterations), gmin stepping (%s), source stepping (%s), "
              "pseudo-transient (%s)",
              p->first.iter, how_far(a, p->gmin), s, how_far(a, p->pseudo));
}

/* Plain Newton is made again: its iterations are what can be understood. */
static void explain_failure(ana *a, const newton_eq *eq, const op_progress *p)
{
    ana_log log;
    newton_report rep = p->first;
    ana_log_begin(&log, a);
    const vs_status again = plain_newton(a, eq, a->x_try, false, &rep);
    diag_error(a->d, DIAG_NOWHERE, "no operating point found");
    ana_note_newton(a, &rep);
    if (again == VS_NOCONV)
        ana_note_iterations(&log);
    if (!a->opt.no_op_stepping)
        note_homotopies(a, p);
    ana_hint_static(&log, &rep, a->x_try, p->gmin);
    ana_log_end(&log);
}
static vs_status try_homotopies(ana *a, const newton_eq *eq, double *x, op_progress *p)
{
    static const struct {
        const char *name;
        vs_status (*run)(ana *, const newton_eq *, double *reached);
    } method[] = {{"gmin stepping", gmin_stepping},
                  {"source stepping", source_stepping},
                  {"pseudo-transient", pseudo_transient}};
    double *reached[] = {&p->gmin, &p->source, &p->pseudo};
    vs_status st = VS_NOCONV;
    for (size_t i = 0; i < VS_COUNT(method) && st == VS_NOCONV; i++) {
        start_value(a, a->x_good);
        ckt_reset_limits(a->c);
        st = method[i].run(a, eq, reached[i]);
        a->st.op_method = method[i].name;
    }
    if (st == VS_OK)
        copy(a, x, a->x_good);
    return st;
}

vs_status op_solve(ana *a, double *x, bool warm, bool tran_op)
{
    double t0 = vs_seconds();
    newton_eq eq = ana_static_eq(a, tran_op);
    op_progress p = {.gmin = -1, .source = -1, .pseudo = -1};
    a->st.op_method = "Newton";
    a->st.n_op++;
    vs_status st = plain_newton(a, &eq, x, warm, &p.first);
    if (st == VS_NOCONV && !a->opt.no_op_stepping)
        st = try_homotopies(a, &eq, x, &p);
    a->st.s_op += vs_seconds() - t0;
    watch_phase(a->watch, ANA_IN_OTHER);
    x[0] = 0;
    if (st == VS_NOCONV)
        explain_failure(a, &eq, &p);
    return st;
}

/* -- operating points that are there already -- */

void ana_keep(ana *a, ana_kept *op, ana_kept *tran_op)
{
    a->kept[0] = op;
    a->kept[1] = tran_op;
}

void ana_kept_fini(ana_kept *k)
{
    free(k->x);
    free(k->state);
    *k = (ana_kept){0};
}

void ana_begin_from(ana *a, const double *op, const double *tran_op)
{
    a->begin[0] = op;
    a->begin[1] = tran_op;
}

/* x where there is something to begin from. */
static bool begin_at(const ana *a, bool tran_op, double *x)
{
    if (a->begin[tran_op])
        copy(a, x, a->begin[tran_op]);
    return a->begin[tran_op] != NULL;
}

/* Who looks on sees every operating point being found. */
static bool take_over(ana *a, const ana_kept *k, double *x)
{
    if (!k || !k->valid || k->n != a->n || a->watch)
        return false;
    copy(a, x, k->x);
    ckt_state_load(a->c, k->state);
    a->st.op_method = k->method;
    a->st.n_op_taken++;
    return true;
}

static void keep(ana *a, ana_kept *k, const double *x)
{
    size_t n_state;
    if (!k || !ckt_state_size(a->c, &n_state))
        return;
    ana_kept_fini(k);
    k->n = a->n;
    k->x = malloc(((size_t)a->n + 1) * sizeof *k->x);
    k->state = malloc((n_state + 1) * sizeof *k->state);
    k->valid = k->x && k->state;
    if (!k->valid)
        return;
    copy(a, k->x, x);
    ckt_state_save(a->c, k->state);
    k->method = a->st.op_method;
}

vs_status op_of_tran(ana *a, double *x)
{
    if (take_over(a, a->kept[1], x))
        return VS_OK;
    ckt_state_zero(a->c);
    const vs_status st = op_solve(a, x, begin_at(a, true, x), true);
    a->alpha_lu = NAN;
    a->repivot = false;
    if (lu_restart(&a->lu) && st == VS_OK)
        keep(a, a->kept[1], x);
    return st;
}

vs_status ana_op(ana *a, double *x, bool warm, bool tran_op)
{
    ana_kept *k = warm || tran_op ? NULL : a->kept[0];
    if (take_over(a, k, x))
        return VS_OK;
    if (!warm)
        ckt_state_zero(a->c);
    newton_eq eq = ana_static_eq(a, tran_op);
    vs_status st = op_solve(a, x, warm || begin_at(a, tran_op, x), tran_op);
    const ana_step done = {.is_static = true};
    if (st == VS_OK)
        watch_step(a->watch, &done);
    if (st == VS_OK)
        st = ckt_accept(a->c, &eq.env, x);
    if (st == VS_OK)
        keep(a, k, x);
    return st;
}
