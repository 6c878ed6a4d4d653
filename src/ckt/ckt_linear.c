/* ckt_linear.c - what is linear: functions of devices, whole circuits.
 * A function is linear if every current and charge is of degree 1 in the probes and the Jacobian of
 * degree 0: nothing but sums of probes times setup values, and alpha in the Jacobian alone. */
#include "ckt_priv.h"

enum { SOLID, LINEAR, OTHER }; /* degree in the probes */
typedef struct degree {
    uint8_t of;
    bool alpha; /* alpha is in it */
} degree;

static degree degree_of_input(const ir_input *in)
{
    if (in->kind == IR_IN_CACHE && in->type == IR_F64)
        return (degree){SOLID, false};
    if (in->kind == IR_IN_PROBE)
        return (degree){LINEAR, false};
    if (in->kind == IR_IN_DYN && in->k == IR_DYN_ALPHA)
        return (degree){SOLID, true};
    return (degree){OTHER, false};
}

static degree degree_of_op(const ir_inst *s, degree a, degree b)
{
    const bool alpha = a.alpha || b.alpha;
    if (a.of == OTHER || b.of == OTHER)
        return (degree){OTHER, alpha};
    switch (s->op) {
    case IR_NEG: return a;
    case IR_ADD:
    case IR_SUB: return (degree){a.of == b.of ? a.of : OTHER, alpha};
    case IR_MUL: return (degree){a.of + b.of, alpha};
    case IR_DIV: return (degree){b.of == SOLID ? a.of : OTHER, alpha};
    default: return (degree){OTHER, alpha};
    }
}

static bool outputs_are_linear(const ir_fn *fn, const degree *d)
{
    for (size_t i = 0; i < vec_len(fn->out); i++) {
        const degree o = d[fn->out[i].v];
        const bool current = fn->out[i].kind == IR_OUT_RES || fn->out[i].kind == IR_OUT_REACT;
        if (current ? o.of > LINEAR || o.alpha : fn->out[i].kind != IR_OUT_J || o.of != SOLID)
            return false;
    }
    return vec_len(fn->out) > 0 && vec_len(fn->eff) == 0;
}

bool ckt_fn_is_linear(const ir_fn *fn)
{
    degree *d = NULL;
    for (size_t i = 0; i < vec_len(fn->inst); i++) {
        const ir_inst *s = &fn->inst[i];
        const int n = ir_op_arity((ir_op)s->op);
        degree r = {OTHER, false};
        if (s->op == IR_CONST)
            r = (degree){SOLID, false};
        else if (s->op == IR_IN)
            r = degree_of_input(&fn->in[s->a]);
        else if (s->op >= IR_NEG && s->op <= IR_DIV)
            r = degree_of_op(s, d[s->a], n > 1 ? d[s->b] : d[s->a]);
        vec_push(d, r);
    }
    const bool yes = outputs_are_linear(fn, d);
    vec_free(d);
    return yes;
}

bool ckt_is_linear(const ckt *c)
{
    if (!nat_only_sources(&c->nat) || !(c->forms >> MDL_TRAN & 1))
        return false;
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const dev_group *g = &c->group[i];
        if (g->lin || g->n_lim || g->n_state || !ckt_fn_is_linear(&g->form[MDL_TRAN].variant->eval))
            return false;
    }
    return true;
}

bool ckt_has_gain(const ckt *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < vec_len(c->group); i++)
        n += mdl_module(c->group[i].model)->n_port > 2 ? c->group[i].nb : 0;
    return n > 0 && n >= ckt_n(c) / 16;
}
