/* jit_interp.c - the kernel contract by the interpreter. */
#include "jit_priv.h"

static ir_num to_num(double x, int type)
{
    return type == IR_F64 ? (ir_num){.f = x} : (ir_num){.i = (int32_t)x};
}

static double to_f64(ir_num v, int type) { return type == IR_F64 ? v.f : (double)v.i; }

/* Place of value k of n of instance i. */
static int64_t at(const jit_layout *lay, int64_t i, int32_t n, int32_t k)
{
    return (i / lay->lanes * n + k) * lay->lanes + i % lay->lanes;
}

static double unknown(const jit_layout *lay, const jit_batch *b, int64_t i, int32_t u)
{
    return u < 0 ? 0.0 : b->x[b->map[at(lay, i, lay->n_u, u)]];
}

static double setup_value(const jit_layout *lay, const jit_batch *b, int64_t i, int32_t k)
{
    return lay->row_per_lane ? b->cache[at(lay, i, lay->n_cache, k)]
                             : b->cache[(int64_t)b->row_of[i / lay->lanes] * lay->n_cache + k];
}

static double input_value(const jit_layout *lay, const jit_batch *b, int64_t i, const ir_input *in)
{
    switch ((ir_in_kind)in->kind) {
    case IR_IN_PROBE:
        return unknown(lay, b, i, lay->probe_hi[in->k]) - unknown(lay, b, i, lay->probe_lo[in->k]);
    case IR_IN_CACHE: return setup_value(lay, b, i, in->k);
    case IR_IN_DYN: return b->dyn[in->k];
    case IR_IN_ABSTIME: return b->dyn[IR_DYN_ABSTIME];
    case IR_IN_STATE: return b->state[at(lay, i, lay->n_state, in->k)];
    case IR_IN_LIMOLD: return b->limold[at(lay, i, lay->n_lim, in->k)];
    default: return 0.0;
    }
}

static void store(const ir_fn *fn, const jit_layout *lay, const jit_batch *b, int64_t i,
                  const ir_num *val)
{
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const ir_out *w = &fn->out[o];
        double x = to_f64(val[w->v], fn->inst[w->v].type);
        int32_t slot = lay->out_slot[o];
        if (w->kind == IR_OUT_STATE)
            b->state_new[at(lay, i, lay->n_state, slot)] = x;
        else if (w->kind == IR_OUT_LIMNEW)
            b->limnew[at(lay, i, lay->n_lim, slot)] = x;
        else
            b->out[at(lay, i, lay->n_out, slot)] = x;
    }
}

void jit_inputs(const ir_fn *eval, const jit_layout *lay, const jit_batch *b, int64_t i,
                ir_num *input)
{
    for (size_t k = 0; k < vec_len(eval->in); k++)
        input[k] = to_num(input_value(lay, b, i, &eval->in[k]), eval->in[k].type);
}

vs_status jit_interpret(const ir_fn *eval, const jit_layout *lay, const jit_batch *b, int64_t begin,
                        int64_t end)
{
    vs_status st = VS_OK;
    ir_num *val = vs_calloc(vec_len(eval->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(eval->in) + 1, sizeof *input);
    for (int64_t i = begin * lay->lanes; i < end * lay->lanes && st == VS_OK; i++) {
        jit_inputs(eval, lay, b, i, input);
        st = ir_interp(eval, input, val, NULL, NULL);
        if (st == VS_OK)
            store(eval, lay, b, i, val);
    }
    vs_free(val);
    vs_free(input);
    return st;
}
