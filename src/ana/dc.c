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

static vs_status solve_point(ana *a, int32_t source, double from, double to, bool have, double *x)
{
    vs_status st = have ? walk(a, source, from, to, x) : VS_NOCONV;
    if (st == VS_NOCONV) {
        ckt_set_source_dc(a->c, source, to);
        st = op_solve(a, x, false, false);
    }
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

vs_status ana_dc(ana *a, int32_t source, const double *value, size_t n, double *x, bool warm,
                 const ana_sink *sink)
{
    double original = ckt_source_dc(a->c, source);
    vs_status st = VS_OK;
    a->told_current &= warm;
    for (size_t k = 0; k < n && st == VS_OK; k++) {
        if (k == 0) {
            ckt_set_source_dc(a->c, source, value[0]);
            st = op_solve(a, x, warm, false);
        } else if (value[k] != value[k - 1]) {
            st = solve_point(a, source, value[k - 1], value[k], true, x);
        }
        if (st == VS_NOCONV)
            diag_note(a->d, DIAG_NOWHERE, "in the dc sweep, at the value %.6g", value[k]);
        if (st == VS_OK) {
            tell_current(a, value[k], x);
            st = deliver(a, value[k], k == 0, x, sink);
        }
        if (sink->progress && st == VS_OK)
            sink->progress(sink->user, (double)(k + 1) / (double)n, value[k], &a->st);
    }
    ckt_set_source_dc(a->c, source, original);
    ana_warn_limit(a, st, false, "itl2", a->opt.itl2);
    return st;
}
