/* api_linear.c - the equations of a circuit at a point (linear.h). */
#include "api_priv.h"

static vs_status do_equations(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    sim_linear l;
    if (!api_may_change(d->s, "vsim_equations_at"))
        return VS_EINPUT;
    if (d->active) {
        diag_error(&d->s->d, DIAG_NOWHERE, "a run is under way: its circuit is in use");
        return VS_EINPUT;
    }
    vs_status st = api_circuit_for(d, FLAT_AC);
    if (!st)
        st = sim_linearise(d->sim, a->in, &l);
    if (st)
        return st;
    *(vsim_equations *)a->out = (vsim_equations){.n = l.pattern->n,
                                                 .colptr = l.pattern->colptr,
                                                 .row = l.pattern->row,
                                                 .g = l.g,
                                                 .c = l.c,
                                                 .f = l.f + 1,
                                                 .q = l.q + 1,
                                                 .x = l.x + 1};
    return VS_OK;
}

vsim_status vsim_equations_at(vsim_deck *d, const double *x, vsim_equations *e)
{
    api_args a = {.d = d, .in = x, .out = e};
    return api_enter(d->s, do_equations, &a);
}
