/* tran_carry.c - a transient that rests goes on in another circuit, made of the same elements with
 * other values, as after `alter`. A sudden change of values is a corner. So the run goes on as
 * behind a corner: with a step that needs nothing of the past but the charges, which stay. */
#include <string.h>

#include "tran_priv.h"

struct ana_tran_left {
    ana_tran_opt o;
    double t;
    const char *op_method;      /* static */
    double *x, *q, *qlo, *xmax; /* [n+1] */
};

static double *copy(const double *v, int32_t n)
{
    double *own = vs_calloc((size_t)n + 1, sizeof *own);
    memcpy(own, v, ((size_t)n + 1) * sizeof *own);
    return own;
}

ana_tran_left *ana_tran_leave(const ana *a)
{
    const tran *t = a->tran;
    if (t->noise)
        return NULL;
    ana_tran_left *l = vs_calloc(1, sizeof *l);
    *l = (ana_tran_left){.o = t->o,
                         .t = t->t,
                         .op_method = a->st.op_method,
                         .x = copy(t->x[1], a->n),
                         .q = copy(t->q[1], a->n),
                         .qlo = copy(t->qlo[1], a->n),
                         .xmax = copy(t->xmax, a->n)};
    return l;
}

void ana_tran_left_free(ana_tran_left **left)
{
    ana_tran_left *l = *left;
    *left = NULL;
    if (!l)
        return;
    vs_free(l->x);
    vs_free(l->q);
    vs_free(l->qlo);
    vs_free(l->xmax);
    vs_free(l);
}

static void take_vectors(tran *t, const ana_tran_left *l, const int32_t *from)
{
    for (int32_t i = 1; i <= t->a->n; i++) {
        t->x[1][i] = l->x[from[i]];
        t->q[1][i] = l->q[from[i]];
        t->qlo[1][i] = l->qlo[from[i]];
        t->xmax[i] = l->xmax[from[i]];
    }
}

/* The terms of all rows at the point, with the new values. t->q[0] is scratch. */
static vs_status load_there(tran *t)
{
    ana *a = t->a;
    const ckt_env env = {.mode = CKT_TRAN,
                         .time = t->t,
                         .gmin = a->opt.gmin,
                         .srcfact = 1,
                         .iter = 1,
                         .reltol = a->opt.reltol};
    bool limited;
    ckt_reset_limits(a->c);
    const vs_status st = ckt_load(a->c, &env, t->x[1], a->f, t->q[0], a->fmax, a->qmax, &limited);
    if (st)
        return st;
    ckt_source_terms(a->c, &env, t->src);
    tran_take_resistive(t, t->f[1]);
    for (int32_t i = 1; i <= a->n; i++)
        t->rmax[i] = a->fmax[i];
    return VS_OK;
}

vs_status ana_tran_enter(ana *a, const ana_tran_left *l, const int32_t *from, const ana_sink *sink)
{
    vs_status st = ana_tran_ready(a, &l->o, sink);
    if (st)
        return st;
    tran *t = a->tran;
    a->st.op_method = l->op_method;
    t->t = l->t;
    take_vectors(t, l, from);
    st = load_there(t);
    if (st)
        return st;
    memset(t->dq[1], 0, sizeof(double) * (size_t)(a->n + 1));
    tran_weigh(t);
    tran_widen(t);
    tran_verify_begin(t, a->verify);
    t->begun = true;
    tran_start_anew(t);
    return VS_OK;
}
