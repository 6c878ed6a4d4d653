/* ckt_verify.c - currents and charges of some nodes once more, device by device: each is evaluated
 * by the interpreter with the unspecialised function of its model, at the point and not at a held
 * linearisation. Nothing is shared with the loads of Newton's method but the models' text, the
 * unknowns and the waveforms of sources and lines. */
#include "ckt_priv.h"

#include <math.h>
#include <string.h>

/* Takes out nodes at devices of OSDI libraries: these cannot be evaluated by other means. */
static void drop_closed(ckt *c, uint8_t *pick)
{
    int32_t *node = NULL;
    ckt_osdi_nodes(c, &node);
    for (size_t i = 0; i < vec_len(node); i++)
        pick[node[i]] = 0;
    vec_free(node);
}

static bool touches(const ckt *c, int32_t device, const uint8_t *pick)
{
    int32_t n;
    const int32_t *unknown = ckt_device_unknowns(c, device, &n);
    for (int32_t k = 0; k < n; k++)
        if (unknown[k] > 0 && pick[unknown[k]])
            return true;
    return false;
}

static vs_status add_device(ckt *c, const ckt_env *env, const double *x, int32_t device,
                            ckt_second *to, double **out, mdl_out **what)
{
    const vs_status st = ckt_device_outputs(c, env, x, device, -1, 0, out, what);
    for (size_t k = 0; st == VS_OK && k < vec_len(*what); k++) {
        const mdl_out *o = &(*what)[k];
        if (o->kind == IR_OUT_RES)
            nat_add(to->f, to->fmax, o->a, (*out)[k]);
        else if (o->kind == IR_OUT_REACT)
            nat_add(to->q, to->qmax, o->a, (*out)[k]);
    }
    to->n_eval++;
    return st;
}

static void add_native(ckt *c, const ckt_env *env, const double *x, ckt_second *to)
{
    nat_sums sums = {.f = to->f,
                     .fmax = to->fmax,
                     .q = to->q,
                     .qlo = to->qlo,
                     .qmax = to->qmax,
                     .val = to->val,
                     .corner = env->time == c->last_break,
                     .bound = INFINITY};
    if (!ckt_n_osdi(c)) {
        nat_load(&c->nat, true, env, x, &sums);
        nat_load(&c->nat, false, env, x, &sums);
    } else if (c->sources) {
        nat_source_kind.load(&c->sources->set, env, x, &sums);
    }
    for (size_t i = 0; i < vec_len(c->fix); i++) {
        const ckt_fix *k = &c->fix[i];
        if (k->always)
            nat_add(to->f, to->fmax, k->unknown, ckt_fix_value(k, env) * x[k->unknown]);
    }
}

vs_status ckt_evaluate_again(ckt *c, const ckt_env *env, const double *x, uint8_t *pick,
                             int32_t most, ckt_second *to)
{
    const size_t n1 = vec_len(c->unknown), nv = (size_t)csc_nnz(&c->a) + 1;
    double *const v[] = {to->f, to->q, to->fmax, to->qmax, to->qlo, to->corner};
    double *out = NULL;
    mdl_out *what = NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; i < VS_COUNT(v); i++)
        memset(v[i], 0, n1 * sizeof *v[i]);
    memset(to->val, 0, nv * sizeof *to->val);
    to->n_eval = 0;
    pick[0] = 0;
    drop_closed(c, pick);
    int32_t n = 0;
    for (size_t i = 0; i < vec_len(c->inst) && n <= most; i++)
        n += touches(c, (int32_t)i, pick);
    if (n > most) { /* a supply: as many devices as the circuit has */
        memset(pick, 0, n1);
        return VS_OK;
    }
    for (size_t i = 0; i < vec_len(c->inst) && st == VS_OK; i++)
        if (touches(c, (int32_t)i, pick))
            st = add_device(c, env, x, (int32_t)i, to, &out, &what);
    add_native(c, env, x, to);
    for (size_t i = 0; i < vec_len(c->group); i++)
        if (c->group[i].lin)
            dev_lin_corners(&c->group[i], x, env->alpha, to->corner);
    vec_free(out);
    vec_free(what);
    return st;
}
