/* ir_zero.c - some inputs are 0: products with them vanish, sums lose them.
 * Requires: nothing.  Keeps: inputs, outputs and their order.  Breaks: small (dead code stays).
 * Why:      such an input stands for a small or absent quantity (the symbol of a ddt, of a noise
 *           source), so 0 * x is 0 even where x may be inf or NaN, which ir_opt must not assume.
 * Method:   one walk in place. A vanishing value becomes the constant 0; a sum that loses a term is
 *           replaced, where it is used, by the other term. A phi's operand may become a value
 *           outside its arm, which is visible there. ir_opt does the rest. */
#include "ir_priv.h"

typedef struct zeroing {
    ir_fn *fn;
    uint8_t *zero; /* [n_inst] the value is 0 */
    ir_val *same;  /* [n_inst] the value to use instead */
    int32_t con;   /* index of the constant 0 */
} zeroing;

/* Instruction k becomes the constant 0, if it is F64. */
static void make_zero(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    if (in->type != IR_F64)
        return;
    in->op = IR_CONST;
    in->a = z->con;
    in->b = in->c = IR_NONE;
    z->zero[k] = 1;
}

/* Uses what replaces the operands of k. */
static void rename_operands(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    bool phi = in->op == IR_PHI || in->op == IR_LPHI;
    int n = ir_op_arity(in->op);
    ir_val *v[3] = {phi ? &in->b : &in->a, phi ? &in->c : &in->b, &in->c};
    for (int a = 0; a < n; a++)
        *v[a] = z->same[*v[a]]; /* lphi.c: a later value, renamed at the end */
}

/* What follows for k from operands that are 0. */
static void simplify_zero(zeroing *z, ir_val k)
{
    ir_inst *in = &z->fn->inst[k];
    const uint8_t *zero = z->zero;
    switch ((ir_op)in->op) {
    case IR_NEG:
        if (zero[in->a])
            make_zero(z, k);
        break;
    case IR_MUL:
        if (zero[in->a] || zero[in->b])
            make_zero(z, k);
        break;
    case IR_DIV:
        if (zero[in->a])
            make_zero(z, k);
        break;
    case IR_ADD:
    case IR_SUB:
        if (zero[in->a] && zero[in->b])
            make_zero(z, k);
        else if (zero[in->b])
            z->same[k] = in->a;
        else if (zero[in->a] && in->op == IR_ADD)
            z->same[k] = in->b;
        else if (zero[in->a])
            in->op = IR_NEG, in->a = in->b, in->b = IR_NONE;
        break;
    case IR_SELECT:
        if (zero[in->b] && zero[in->c])
            make_zero(z, k);
        break;
    case IR_PHI: /* it stays, since phis stand together; ir_opt sees that it is constant */
        z->zero[k] = zero[in->b] && zero[in->c];
        break;
    default: break;
    }
}

void ir_zero(ir_fn *fn, const uint8_t *is_zero)
{
    zeroing z = {.fn = fn};
    ir_val dummy = ir_const(fn, 0.0);
    size_t n = vec_len(fn->inst);
    z.con = fn->inst[dummy].a;
    z.zero = vs_calloc(n + 1, 1);
    vec_extend(z.same, n);
    for (size_t k = 0; k < n; k++)
        z.same[k] = (ir_val)k;
    for (size_t k = 0; k < n; k++) {
        ir_inst *in = &fn->inst[k];
        if (in->op == IR_IN && is_zero[in->a]) {
            make_zero(&z, (ir_val)k);
            continue;
        }
        if (in->op == IR_IN || in->op == IR_CONST || in->op == IR_LPHI)
            continue;
        rename_operands(&z, (ir_val)k);
        simplify_zero(&z, (ir_val)k);
    }
    for (size_t k = 0; k < n; k++)
        if (fn->inst[k].op == IR_LPHI)
            rename_operands(&z, (ir_val)k);
    for (size_t o = 0; o < vec_len(fn->out); o++)
        fn->out[o].v = z.same[fn->out[o].v];
    for (size_t e = 0; e < vec_len(fn->eff); e++)
        for (size_t a = 0; a < vec_len(fn->eff[e].arg); a++)
            fn->eff[e].arg[a] = z.same[fn->eff[e].arg[a]];
    vs_free(z.zero);
    vec_free(z.same);
}
