/* dev_fixed.c - the parts of G and C that no voltage changes, see dev_lin.h.
 * A resistor inside of a device has no curvature, however large its conductance: the network of a
 * transistor's body, its gate and its series resistances. So the bound that bypass assumes for
 * currents that were not measured applies to the other part of each slope only.
 * Method: a slope is followed through sums, negations and products with static factors down to
 * setup values and constants; everything else counts as changing. The operations that this takes
 * are listed once for a group and run for each row. */
#include "dev_lin_priv.h"

struct dev_fixed_op {
    uint8_t op;   /* CONST, IN, NEG, ADD, SUB, MUL */
    int32_t a, b; /* results of operations before; IN: a setup value */
    double value; /* CONST */
};

typedef struct part { /* of a value */
    int32_t at;       /* the result that it is, -1: none */
    bool all;         /* the value is nothing else */
} part;

typedef struct search {
    const ir_fn *fn;
    uint8_t *need;           /* [n_inst] a slope is a sum with it */
    part *part;              /* [n_inst] */
    struct dev_fixed_op *op; /* vec */
} search;

static part add_op(search *s, uint8_t op, int32_t a, int32_t b, double value, bool all)
{
    vec_push(s->op, (struct dev_fixed_op){op, a, b, value});
    return (part){(int32_t)vec_len(s->op) - 1, all};
}

static part sum_of(search *s, uint8_t op, part a, part b)
{
    if (a.at >= 0 && b.at >= 0)
        return add_op(s, op, a.at, b.at, 0, a.all && b.all);
    if (a.at >= 0)
        return (part){a.at, false};
    if (b.at < 0 || op == IR_ADD)
        return (part){b.at, false};
    return add_op(s, IR_NEG, b.at, -1, 0, false);
}

static part part_of(search *s, ir_val k)
{
    const ir_inst *in = &s->fn->inst[k];
    const part none = {-1, false};
    switch ((ir_op)in->op) {
    case IR_CONST: return add_op(s, IR_CONST, -1, -1, s->fn->con[in->a], true);
    case IR_IN: {
        const ir_input *i = &s->fn->in[in->a];
        return i->kind == IR_IN_CACHE && i->type == IR_F64 ? add_op(s, IR_IN, i->k, -1, 0, true)
                                                           : none;
    }
    case IR_NEG: {
        const part a = s->part[in->a];
        return a.at < 0 ? none : add_op(s, IR_NEG, a.at, -1, 0, a.all);
    }
    case IR_ADD:
    case IR_SUB: return sum_of(s, in->op, s->part[in->a], s->part[in->b]);
    case IR_MUL: {
        const part a = s->part[in->a], b = s->part[in->b];
        return a.at >= 0 && b.at >= 0 && (a.all || b.all)
                   ? add_op(s, IR_MUL, a.at, b.at, 0, a.all && b.all)
                   : none;
    }
    default: return none;
    }
}

/* Marks the operations that slopes are sums and products of, from the last to the first. */
static void mark(search *s)
{
    const ir_fn *fn = s->fn;
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == IR_OUT_G || fn->out[o].kind == IR_OUT_C)
            s->need[fn->out[o].v] = 1;
    for (ir_val k = (ir_val)vec_len(fn->inst); k-- > 0;) {
        const ir_inst *in = &fn->inst[k];
        const bool two = in->op == IR_ADD || in->op == IR_SUB || in->op == IR_MUL;
        if (!s->need[k])
            continue;
        if (two || in->op == IR_NEG)
            s->need[in->a] = 1;
        if (two)
            s->need[in->b] = 1;
    }
}

static void list_parts(const search *s, struct dev_lin *l, int32_t *fixed)
{
    const ir_fn *fn = s->fn;
    int32_t k = 0;
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const ir_out *out = &fn->out[o];
        if (out->kind == IR_OUT_STATE || out->kind == IR_OUT_LIMNEW)
            continue; /* not among the kernel's outputs */
        const bool slope = out->kind == IR_OUT_G || out->kind == IR_OUT_C;
        const int32_t at = slope ? s->part[out->v].at : -1;
        fixed[k++] = at < 0 ? -1 : l->n_fixed;
        if (at >= 0)
            l->fixed_at[l->n_fixed++] = at;
    }
}

void dev_fixed_init(const dev_group *g, struct dev_lin *l, int32_t *fixed, arena *mem)
{
    const mdl_variant *v = l->apart->variant;
    const size_t n = vec_len(v->eval.inst);
    search s = {
        .fn = &v->eval, .need = vs_calloc(n + 1, 1), .part = vs_malloc((n + 1) * sizeof(part))};
    mark(&s);
    for (int32_t k = 0; k < v->lay.n_out; k++)
        fixed[k] = -1;
    for (size_t k = 0; k < n; k++)
        s.part[k] = s.need[k] ? part_of(&s, (ir_val)k) : (part){-1, false};
    l->fixed_at = arena_array(mem, int32_t, v->lay.n_out);
    list_parts(&s, l, fixed);
    l->n_fixed_op = (int32_t)vec_len(s.op);
    l->fixed_op = arena_array(mem, struct dev_fixed_op, l->n_fixed_op);
    if (l->n_fixed_op)
        memcpy(l->fixed_op, s.op, (size_t)l->n_fixed_op * sizeof *s.op);
    l->fixed = arena_array(mem, double, (size_t)g->n_row *(size_t)l->n_fixed);
    vs_free(s.need);
    vs_free(s.part);
    vec_free(s.op);
    dev_fixed_rows(g, l);
}

void dev_fixed_rows(const dev_group *g, struct dev_lin *l)
{
    const dev_form *f = l->apart;
    double *val = vs_malloc((size_t)(l->n_fixed_op + 1) * sizeof *val);
    for (int32_t r = 0; r < g->n_row; r++) {
        const double *cache = &f->rows[(size_t)r * (size_t)f->n_cache];
        for (int32_t k = 0; k < l->n_fixed_op; k++) {
            const struct dev_fixed_op *o = &l->fixed_op[k];
            val[k] = o->op == IR_CONST ? o->value
                     : o->op == IR_IN  ? cache[o->a]
                     : o->op == IR_NEG ? -val[o->a]
                     : o->op == IR_ADD ? val[o->a] + val[o->b]
                     : o->op == IR_SUB ? val[o->a] - val[o->b]
                                       : val[o->a] * val[o->b];
        }
        for (int32_t k = 0; k < l->n_fixed; k++)
            l->fixed[(size_t)r * (size_t)l->n_fixed + (size_t)k] = val[l->fixed_at[k]];
    }
    vs_free(val);
}
