/* mdl_point.c - one device at one point, every output, by the interpreter and without
 * specialisation: operating-point variables, and sensitivities by a changed parameter. */
#include "mdl_priv.h"

static double to_f64(ir_num v, int type) { return type == IR_F64 ? v.f : (double)v.i; }

static double dynamic_input(const mdl_model *m, const ir_input *in, const mdl_at *at)
{
    switch ((ir_in_kind)in->kind) {
    case IR_IN_PROBE: {
        const va_probe *p = &m->probe[in->k];
        return (p->hi < 0 ? 0 : at->x[at->map[p->hi]]) - (p->lo < 0 ? 0 : at->x[at->map[p->lo]]);
    }
    case IR_IN_DYN: return at->dyn[in->k];
    case IR_IN_ABSTIME: return at->dyn[IR_DYN_ABSTIME];
    case IR_IN_STATE: return at->state ? at->state[in->k] : 0;
    default: return 0;
    }
}

static bool is_dynamic(uint8_t kind)
{
    return kind == IR_IN_PROBE || kind == IR_IN_DYN || kind == IR_IN_ABSTIME ||
           kind == IR_IN_STATE || kind == IR_IN_LIMOLD;
}

static vs_status interpret(const mdl_model *m, const row_data *r, const ir_fn *fn, const mdl_at *at,
                           double **value, mdl_out **what)
{
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    mdl_row_inputs(m, r, fn, input);
    for (size_t k = 0; k < vec_len(fn->in); k++)
        if (is_dynamic(fn->in[k].kind)) {
            const double x = dynamic_input(m, &fn->in[k], at);
            input[k] = fn->in[k].type == IR_F64 ? (ir_num){.f = x} : (ir_num){.i = (int32_t)x};
        }
    const vs_status st = ir_interp(fn, input, val, NULL, NULL);
    for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++) {
        const ir_out *w = &fn->out[o];
        vec_push(*value, to_f64(val[w->v], fn->inst[w->v].type));
        vec_push(*what, ((mdl_out){w->kind, w->still, w->by_gmin, w->a, w->b}));
    }
    vs_free(val);
    vs_free(input);
    return st;
}

vs_status mdl_point(mdl_model *m, int32_t row, int32_t param, double param_value, const mdl_at *at,
                    double **value, mdl_out **what)
{
    const form_fn *f = mdl_form_get(m, MDL_FULL);
    row_data *changed = NULL;
    vs_status st = VS_OK;
    if (param >= 0)
        st = mdl_row_vary(m, row, param, param_value, &changed);
    if (st == VS_OK)
        st = interpret(m, changed ? changed : mdl_row_data(m, row), &f->fn, at, value, what);
    if (changed)
        mdl_row_free(changed);
    return st;
}
