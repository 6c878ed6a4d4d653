/* sim_carry.c - changes of values while a transient rests: copies its state from the old circuit to
 * the new one. */
#include "sim_priv.h"
#include "vec.h"

typedef struct rest { /* of the transient */
    ana_tran_left *left;
    ckt_carried *circuit;
} rest;

/* The circuit with the present values, and the transient in it. *why: what does not fit, static; or
 * there are messages. */
static vs_status go_over(sim *s, const rest *r, diag_span at, const char **why)
{
    *why = NULL;
    vs_status st = sim_rebuild(s);
    if (st)
        return st;
    int32_t *from = NULL;
    vec_extend(from, (size_t)ckt_n(s->ckt) + 1);
    *why = ckt_carry_put(s->ckt, r->circuit, from);
    if (!*why)
        st = sim_plot_follow(s, at);
    if (!*why && !st) {
        st = ana_tran_enter(s->ana, r->left, from, sim_sink(s, &s->sink));
        *why = st > 0 ? "a device's current would not be finite" : NULL;
    }
    vec_free(from);
    return *why ? VS_EINPUT : st;
}

vs_status sim_tran_change(sim *s, const sim_saved *before, diag_span at)
{
    const char *why;
    rest r = {.left = ana_tran_leave(s->ana)};
    if (!r.left) {
        diag_error(s->d, at, "nothing can be changed while a run with noise of devices is paused");
        sim_restore(s, before);
        return VS_EINPUT;
    }
    sim_count(s);
    r.circuit = ckt_carry_take(s->ckt);
    vs_status st = go_over(s, &r, at, &why);
    if (st) {
        if (why)
            diag_error(s->d, at, "this cannot be changed while a run is paused: %s", why);
        sim_restore(s, before);
        st = go_over(s, &r, at, &why) ? VS_STOP : VS_EINPUT;
    }
    if (st == VS_STOP) {
        ana_free(&s->ana);
        diag_error(s->d, at, "the paused run cannot go on");
    }
    ana_tran_left_free(&r.left);
    ckt_carry_free(&r.circuit);
    return st;
}
