/* ckt_curve.c - see ckt_curve.h. */
#include "ckt_curve.h"

#include <math.h>

#include "ckt_priv.h"

typedef struct where { /* a device: place in its group; NULL: it has no form of ac */
    dev_group *group;
    int32_t i;
} where;

typedef struct run {
    const double *dyn, *x;
    mdl_curve *one; /* vec: of a device */
    ckt_curve **to;
    ckt_vary_noise **noise;
} run;

static void take(const run *r, const mdl_curve *k, int32_t device, const int32_t *unknown)
{
    const int32_t by = unknown[k->by];
    const bool cap = k->of.kind == IR_OUT_C;
    if (by <= 0 || k->value == 0)
        return;
    if (!cap && k->of.kind != IR_OUT_G) {
        if (r->noise)
            ckt_vary_add_noise(by, device, &k->of, unknown, k->value, r->noise);
        return;
    }
    const int32_t row = unknown[k->of.a], col = unknown[k->of.b];
    if (row > 0 && col > 0)
        vec_push(*r->to, ((ckt_curve){row, col, by, cap ? 0 : k->value, cap ? k->value : 0}));
}

static vs_status of_device(run *r, const where *w)
{
    dev_group *g = w->group;
    const dev_form *fm = &g->form[MDL_AC];
    const int32_t p = dev_pack_of(g, w->i);
    const jit_batch b = dev_batch(g, MDL_AC, r->dyn, r->x, p, false, NULL);
    vec_clear(r->one);
    vs_status st = mdl_curves(fm->variant, g->row_per_lane, &b, w->i - g->first[p], &r->one);
    for (size_t k = 0; k < vec_len(r->one) && st == VS_OK; k++) {
        if (!isfinite(r->one[k].value))
            st = VS_NOCONV;
        else
            take(r, &r->one[k], g->inst[w->i], &fm->map[(size_t)w->i * (size_t)fm->n_u]);
    }
    return st;
}

/* In the order of devices, whatever groups they are in: it decides on sums. */
static vs_status of_devices(ckt *c, run *r)
{
    const size_t n = (size_t)ckt_n_device(c);
    where *at = vs_calloc(n + 1, sizeof *at);
    vs_status st = VS_OK;
    for (size_t k = 0; k < vec_len(c->group); k++) {
        dev_group *g = &c->group[k];
        assert(g->form[MDL_AC].variant); /* the form was asked for in ckt_finish */
        dev_begin(g, MDL_AC, r->x);
        for (int32_t i = 0; i < g->nb; i++)
            at[g->inst[i]] = (where){g, i};
    }
    for (size_t i = 0; i < n && st == VS_OK; i++)
        if (at[i].group)
            st = of_device(r, &at[i]);
    vs_free(at);
    return st;
}

static vs_status of_native(const ckt *c, const double *x, ckt_curve **to)
{
    nat_curve *n = NULL;
    vs_status st = VS_OK;
    nat_curves(&c->nat, x, &n);
    for (size_t k = 0; k < vec_len(n) && st == VS_OK; k++) {
        if (!isfinite(n[k].g))
            st = VS_NOCONV;
        else if (n[k].row > 0 && n[k].col > 0 && n[k].by > 0)
            vec_push(*to, ((ckt_curve){n[k].row, n[k].col, n[k].by, n[k].g, 0}));
    }
    vec_free(n);
    return st;
}

vs_status ckt_curves(ckt *c, const ckt_env *env, const double *x, ckt_curve **to,
                     ckt_vary_noise **noise)
{
    double dyn[IR_N_DYN];
    run r = {.dyn = dyn, .x = x, .to = to, .noise = noise};
    ckt_fill_dyn_ac(dyn, env, noise != NULL);
    vs_status st = of_devices(c, &r);
    if (st == VS_OK)
        st = of_native(c, x, to);
    vec_free(r.one);
    return st;
}
