/* mdl_border.c - what a variant is specialised for: the static values that dynamic code or an
 * output uses, and the static conditions that choose dynamic code. An analysis of the function of a
 * form, which it leaves as it is; result in f->decide and f->how. */
#include "mdl_pass.h"

typedef struct border {
    const form_fn *f;
    uint8_t *used;        /* [n_inst] 1 as a number, 2 as a condition */
    ir_val *open;         /* vec of IFs */
    uint8_t *has_dynamic; /* vec; per open IF */
} border;

static void use_value(border *b, ir_val v)
{
    if (ir_class_static(b->f->cls[v]) && b->f->fn.inst[v].op != IR_CONST)
        b->used[v] |= 1;
}

static void close_if(border *b)
{
    ir_val k = vec_pop(b->open);
    uint8_t dynamic = vec_pop(b->has_dynamic);
    ir_val cond = b->f->fn.inst[k].a;
    if (!dynamic)
        return;
    if (ir_class_static(b->f->cls[cond]))
        b->used[cond] |= 2;
    if (vec_len(b->open))
        vec_last(b->has_dynamic) = 1;
}

static void scan_border(border *b, ir_val k)
{
    const ir_inst *in = &b->f->fn.inst[k];
    const ir_val v[3] = {in->a, in->b, in->c};
    if (in->op == IR_IF) {
        vec_push(b->open, k);
        vec_push(b->has_dynamic, 0);
        return;
    }
    if (in->op == IR_END) {
        close_if(b);
        return;
    }
    if (ir_class_static(b->f->cls[k]) || in->op == IR_ELSE || in->op == IR_ENDLOOP)
        return;
    if (vec_len(b->open))
        vec_last(b->has_dynamic) = 1;
    if (in->op == IR_PHI) {
        ir_val cond = b->f->fn.inst[in->a].a;
        if (ir_class_static(b->f->cls[cond]))
            b->used[cond] |= 2;
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op == IR_LPHI) {
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op == IR_SELECT) {
        if (ir_class_static(b->f->cls[in->a]))
            b->used[in->a] |= 2;
        use_value(b, in->b), use_value(b, in->c);
    } else if (in->op != IR_IN && in->op != IR_LOOP) {
        for (int a = 0; a < ir_op_arity(in->op); a++)
            use_value(b, v[a]);
    }
}

void mdl_find_border(form_fn *f)
{
    size_t n = vec_len(f->fn.inst);
    border b = {.f = f, .used = vs_calloc(n + 1, 1)};
    for (size_t k = 0; k < n; k++)
        scan_border(&b, (ir_val)k);
    for (size_t o = 0; o < vec_len(f->fn.out); o++)
        use_value(&b, f->fn.out[o].v);
    for (size_t k = 0; k < n; k++)
        if (b.used[k]) {
            vec_push(f->decide, (ir_val)k);
            vec_push(f->how, b.used[k] & 1 ? 1 : 2);
        }
    vs_free(b.used);
    vec_free(b.open);
    vec_free(b.has_dynamic);
}
