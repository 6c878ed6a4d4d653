/* mdl_curve.c - how the numbers of the small-signal form change with the unknowns of a device:
 * second derivatives of its equations, first ones of its noise.
 * Method: ir_ad once more, of the code of a variant of MDL_AC, by its probes and limited probes:
 *         what mdl_deriv.c does to RES and REACT is done to G, C, and noise. At a kink they are
 *         those of the side that is taken, as G and C are. Made at the first call, and evaluated by
 *         the interpreter: a point is asked for once. */
#include "mdl_pass.h"

static bool has_curve(const ir_fn *fn, const ir_out *w)
{
    switch (w->kind) {
    case IR_OUT_G:
    case IR_OUT_C:
    case IR_OUT_NOISE_PSD:
    case IR_OUT_NOISE_EXP:
    case IR_OUT_NOISE_GAIN:
    case IR_OUT_NOISE_GAINC: return fn->inst[w->v].type == IR_F64;
    default: return false;
    }
}

/* Replaces the outputs of `to`, which are those of `from`, by their derivatives. */
static void put_derivatives(variant_data *d, ir_fn *to, const int32_t *seed, const ir_val *deriv,
                            const int32_t *out_of, size_t n_want)
{
    const mdl_model *m = d->v.model;
    const int32_t n = (int32_t)vec_len(m->unknown);
    ir_val *entry = vs_malloc(((size_t)n + 1) * sizeof *entry);
    vec_clear(to->out);
    for (size_t w = 0; w < n_want; w++) {
        const ir_out *of = &d->v.eval.out[out_of[w]];
        mdl_by_unknown(m, to, seed, deriv + w * vec_len(seed), entry);
        for (int32_t u = 0; u < n; u++)
            if (entry[u] != IR_NONE) {
                ir_out_add(to, of->kind, of->a, of->b, entry[u]);
                vec_push(d->curve_by, u);
            }
    }
    vs_free(entry);
}

static void make_curve(variant_data *d)
{
    const mdl_model *m = d->v.model;
    const ir_fn *from = &d->v.eval;
    int32_t *seed = NULL, *out_of = NULL;
    ir_val *want = NULL;
    ir_fn to;
    mdl_probe_seeds(m, from, &seed);
    for (size_t o = 0; o < vec_len(from->out); o++)
        if (has_curve(from, &from->out[o])) {
            vec_push(want, from->out[o].v);
            vec_push(out_of, (int32_t)o);
        }
    const size_t n_want = vec_len(want);
    ir_val *deriv = vs_calloc(n_want * vec_len(seed) + 1, sizeof *deriv);
    ir_val *moved = vs_calloc(vec_len(from->inst) + 1, sizeof *moved);
    ir_ad(&to, from, seed, (int)vec_len(seed), want, (int)n_want, deriv, moved);
    put_derivatives(d, &to, seed, deriv, out_of, n_want);
    ir_opt(&d->curve, &to, (ir_opt_flags){.fold_zero = !m->lib->opt.no_specialize});
    d->curve_made = true;
    ir_fn_fini(&to);
    vec_free(seed);
    vec_free(out_of);
    vec_free(want);
    vs_free(deriv);
    vs_free(moved);
}

vs_status mdl_curves(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t i,
                     mdl_curve **to)
{
    variant_data *d = (variant_data *)(uintptr_t)v;
    const ir_fn *fn = &d->curve;
    if (!d->curve_made)
        make_curve(d);
    if (!vec_len(fn->out))
        return VS_OK;
    ir_num *val = vs_calloc(vec_len(fn->inst) + 1, sizeof *val);
    ir_num *input = vs_calloc(vec_len(fn->in) + 1, sizeof *input);
    jit_layout lay = v->lay;
    lay.row_per_lane = row_per_lane;
    jit_inputs(fn, &lay, b, i, input);
    const vs_status st = ir_interp(fn, input, val, NULL, NULL);
    for (size_t o = 0; o < vec_len(fn->out) && st == VS_OK; o++) {
        const ir_out *w = &fn->out[o];
        vec_push(*to, ((mdl_curve){{w->kind, 0, 0, w->a, w->b}, d->curve_by[o], val[w->v].f}));
    }
    vs_free(val);
    vs_free(input);
    return st;
}
