/* mdl_mult.c - the equations of m devices in parallel.
 * Requires: RES and REACT by row.  Keeps: rows, their order.  Breaks: small, head (m comes last).
 * Rule:     node rows are m * RES and m * REACT; rows of branch currents and implicit equations
 *           hold for one device. m independent noise sources average: PSD / m, while the node rows
 *           carry m * gain, in all m * PSD. With m = 0 the gains are 0, and the PSD stays finite.
 */
#include "mdl_pass.h"

static bool is_node(const mdl_model *m, int32_t u)
{
    return m->unknown[u].kind == VA_PORT || m->unknown[u].kind == VA_NODE;
}

static void scale_out(ir_fn *fn, int kind, int32_t row, ir_val mult)
{
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == kind && fn->out[o].a == row) {
            const ir_val v = ir_bin(fn, IR_MUL, mult, fn->out[o].v);
            fn->out[o].v = v;
            return;
        }
}

void mdl_mult(const mdl_model *m, ir_fn *fn)
{
    const ir_val mult = ir_in(fn, IR_IN_MFACTOR, 0, IR_F64, true);
    for (int32_t r = 0; r < (int32_t)vec_len(m->unknown); r++)
        if (is_node(m, r)) {
            scale_out(fn, IR_OUT_RES, r, mult);
            scale_out(fn, IR_OUT_REACT, r, mult);
        }
    const ir_val is0 = ir_bin(fn, IR_FEQ, mult, ir_const(fn, 0.0));
    const ir_val safe = ir_select(fn, is0, ir_const(fn, 1.0), mult);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        if (fn->out[o].kind == IR_OUT_NOISE_PSD) {
            const ir_val one = mdl_as_f64(fn, fn->out[o].v);
            fn->out[o].v = ir_bin(fn, IR_DIV, one, safe);
        }
}
