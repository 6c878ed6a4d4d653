/* dc.c - sweep of a source. Each point starts from the one before; when Newton fails the step
 * between them is halved, and when that does not help the operating point is computed without an
 * initial guess. */
#include <math.h>
#include <string.h>

#include "ana_priv.h"

#define MAX_HALVINGS 10

/* Newton from x at the present source values; x moves only on success. */
static vs_status continue_from(ana *a, double *x)
{
    newton_eq eq = ana_static_eq(a, false);
    newton_report rep;
    eq.itl = a->opt.itl2;
    eq.env.initial_step = false;
    a->stopped = false;
    memcpy(a->x_try, x, sizeof(double) * (size_t)(a->n + 1));
    vs_status st = newton_run(a, &eq, a->x_try, &rep);
    while (st == VS_OK && (st = ckt_settle(a->c, a->x_try)) == VS_REJECT)
        st = newton_run(a, &eq, a->x_try, &rep);
    if (st == VS_OK)
        memcpy(x, a->x_try, sizeof(double) * (size_t)(a->n + 1));
    return st;
}

/* Moves x from the solution at source value `from` to that at `to`: in one step, or where Newton
 * fails in halves of it. */
static vs_status walk(ana *a, int32_t source, double from, double to, double *x)
{
    double at = from, step = to - from;
    int halvings = 0;
    while (at != to) {
        double next = fabs(to - at) <= fabs(step) ? to : at + step;
        ckt_set_source_dc(a->c, source, next);
        vs_status st = continue_from(a, x);
        if (st < 0 || a->stopped)
            return st < 0 ? st : VS_STOP;
        if (st == VS_OK) {
            at = next;
            continue;
        }
        if (++halvings > MAX_HALVINGS)
            return VS_NOCONV;
        step /= 2;
        ckt_restore_limits(a->c);
    }
    return VS_OK;
}

/* The operating point, from x or without an initial guess, by op_solve or ana_op. Behind a point
 * without solution only Newton is tried: many such points in a row do not take the time of all
 * methods each. Of them only the first has messages. */
static vs_status solve_alone(ana *a, vs_status (*solve)(ana *, double *, bool, bool), double *x,
                             ana_sweep *w)
{
    const bool all = !a->only_newton;
    const diag_mark before = diag_try(a->d);
    a->only_newton |= w->lost;
    vs_status st = solve(a, x, w->warm, false);
    if (st == VS_NOCONV && w->lost && w->warm)
        st = solve(a, x, false, false);
    if (all)
        a->only_newton = false;
    if (st == VS_NOCONV && w->n_lost > 0)
        diag_take_back(a->d, before);
    return st;
}

/* from: the value whose solution x is, NAN: none of this loop. */
static vs_status solve_point(ana *a, int32_t source, double from, double to, double *x,
                             ana_sweep *w)
{
    if (from == to)
        return w->lost ? VS_NOCONV : VS_OK;
    if (!isnan(from) && !w->lost) {
        const vs_status st = walk(a, source, from, to, x);
        if (st != VS_NOCONV)
            return st;
    }
    ckt_set_source_dc(a->c, source, to);
    const bool guess = w->warm;
    w->warm &= isnan(from) || w->lost; /* the walk has failed from there */
    const vs_status st = solve_alone(a, op_solve, x, w);
    w->warm = guess;
    return st;
}

/* Values differ from point to point only in the swept source: accept, deliver, go on. */
static vs_status deliver(ana *a, double value, bool first, const double *x, const ana_sink *sink)
{
    newton_eq eq = ana_static_eq(a, false);
    eq.env.initial_step = first;
    vs_status st = ckt_accept(a->c, &eq.env, x);
    if (st < 0)
        return st;
    double t0 = vs_seconds();
    const ana_step done = {.t = value, .is_static = true, .columns = a->lu.stat.n_column};
    watch_step(a->watch, &done);
    watch_phase(a->watch, ANA_IN_OUTPUT);
    vs_status out = sink->point ? sink->point(sink->user, value, x) : VS_OK;
    watch_phase(a->watch, ANA_IN_OTHER);
    a->st.s_output += vs_seconds() - t0;
    a->st.points_accepted++;
    if (out == VS_OK && st == VS_OK && sink->stop && sink->stop(sink->user))
        out = VS_STOP;
    return st != VS_OK ? st : out;
}

/* Tells the first point with a current that no circuit has, in nested sweeps once as well. */
static void tell_current(ana *a, double value, const double *x)
{
    const int32_t node = a->told_current ? 0 : op_node_of_absurd_current(a, a->fmax);
    if (node)
        op_tell_absurd_current(a, arena_printf(&a->d->mem, "dc sweep, at the value %.6g", value),
                               node, a->fmax[node], x[node]);
    a->told_current |= node != 0;
}

bool ana_told_current(const ana *a) { return a->told_current; }
void ana_tell_no_current(ana *a) { a->told_current = true; }

/* Counts a point; of the first without solution tells where it is. x: what `good` keeps, the last
 * solution, in place of one that was not found. */
static void count_point(ana *a, double value, vs_status st, const double *good, double *x,
                        ana_sweep *w)
{
    w->n++;
    w->lost = st == VS_NOCONV;
    if (!w->lost) {
        w->warm |= st == VS_OK;
        return;
    }
    memcpy(x, good, sizeof(double) * (size_t)(a->n + 1));
    ckt_reset_limits(a->c);
    if (w->n_lost++ == 0)
        diag_note(a->d, DIAG_NOWHERE, "in the dc sweep, at the value %.6g", value);
}

vs_status ana_dc_op(ana *a, double value, double *x, ana_sweep *w)
{
    double *good = vs_malloc(sizeof(double) * (size_t)(a->n + 1));
    memcpy(good, x, sizeof(double) * (size_t)(a->n + 1));
    const vs_status st = solve_alone(a, ana_op, x, w);
    count_point(a, value, st, good, x, w);
    vs_free(good);
    return st;
}

vs_status ana_dc(ana *a, int32_t source, const double *value, size_t n, double *x, ana_sweep *w,
                 const ana_sink *sink)
{
    const double original = ckt_source_dc(a->c, source);
    double *good = vs_malloc(sizeof(double) * (size_t)(a->n + 1));
    double from = NAN;
    vs_status st = VS_OK;
    a->told_current &= w->warm;
    for (size_t k = 0; k < n && st == VS_OK; k++) {
        memcpy(good, x, sizeof(double) * (size_t)(a->n + 1));
        st = solve_point(a, source, from, value[k], x, w);
        count_point(a, value[k], st, good, x, w);
        if (st == VS_OK) {
            tell_current(a, value[k], x);
            st = deliver(a, value[k], k == 0, x, sink);
            from = value[k];
        } else if (st == VS_NOCONV) {
            st = sink->gap ? sink->gap(sink->user, value[k]) : VS_OK;
            if (st == VS_OK && sink->stop && sink->stop(sink->user))
                st = VS_STOP;
        }
        if (sink->progress && st == VS_OK)
            sink->progress(sink->user, (double)(k + 1) / (double)n, value[k], &a->st);
    }
    vs_free(good);
    ckt_set_source_dc(a->c, source, original);
    ana_warn_limit(a, st, false, "itl2", a->opt.itl2);
    return st;
}
