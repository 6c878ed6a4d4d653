/* mdl_pick.c - of the equation form the outputs and effects of one analysis form.
 * Requires: the equation form.  Gives: head, small.  Keeps: order of outputs.
 * Forms:    mdl_form_kind, and those of mdl_priv.h: the topology of a row, and rows that may idle.
 */
#include "mdl_pass.h"

static bool belongs(int form, int kind)
{
    if (form == FORM_IDLE)
        return kind == IR_OUT_RES || kind == IR_OUT_REACT;
    switch (kind) {
    case IR_OUT_RES: return form != MDL_AC && form != FORM_TOPOLOGY;
    case IR_OUT_STATE:
    case IR_OUT_LIMNEW:
    case IR_OUT_LIMITED:
        return form != MDL_AC && form != MDL_BACK && form != MDL_ASKED && form != FORM_TOPOLOGY;
    case IR_OUT_REACT:
        return form == MDL_TRAN || form == MDL_APART || form == MDL_BACK || form == MDL_ASKED ||
               form == MDL_FULL;
    case IR_OUT_BOUND_STEP: return form == MDL_TRAN || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_G: return form == MDL_DC || form == MDL_AC || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_C: return form == MDL_AC || form == MDL_APART || form == MDL_FULL;
    case IR_OUT_J: return form == MDL_TRAN;
    case IR_OUT_NOISE_PSD:
    case IR_OUT_NOISE_EXP:
    case IR_OUT_NOISE_GAIN:
    case IR_OUT_NOISE_GAINC: return form == MDL_AC || form == MDL_FULL;
    case IR_OUT_OPVAR: return form == MDL_ASKED || form == MDL_FULL;
    case IR_OUT_ISPOT:
    case IR_OUT_COLLAPSE:
    case IR_OUT_DROP: return form == FORM_TOPOLOGY;
    default: return false;
    }
}

/* Effects of dynamic code belong to the forms of accepted points, those of static code to the
 * topology form. The others become constants that nothing uses; true if there were any. */
static bool drop_effects(ir_fn *fn, int form)
{
    size_t n = vec_len(fn->inst);
    uint8_t *cls = vs_calloc(n + 1, 1);
    int32_t con = -1;
    ir_classes(fn, cls);
    for (size_t k = 0; k < n; k++) {
        if (fn->inst[k].op != IR_EFFECT)
            continue;
        bool is_static = ir_class_static(cls[k]);
        if (form == FORM_TOPOLOGY ? is_static
                                  : !is_static && form != MDL_AC && form != MDL_BACK &&
                                        form != MDL_ASKED && form != FORM_IDLE)
            continue;
        if (con < 0) {
            ir_val zero = ir_const(fn, 0.0); /* first: it may move inst */
            con = fn->inst[zero].a;
        }
        fn->inst[k] =
            (ir_inst){.op = IR_CONST, .type = IR_F64, .a = con, .b = IR_NONE, .c = IR_NONE};
    }
    vs_free(cls);
    return con >= 0;
}

/* Kernels write numbers of one type alone. */
static void make_real(ir_fn *fn)
{
    for (size_t o = 0; o < vec_len(fn->out); o++) {
        const uint8_t type = fn->inst[fn->out[o].v].type;
        if (type == IR_F64)
            continue;
        const ir_val v = ir_un(fn, type == IR_I32 ? IR_I2F : IR_B2F, fn->out[o].v);
        fn->out[o].v = v;
    }
}

void mdl_pick(const mdl_model *m, int form, ir_fn *to, const ir_fn *from)
{
    ir_fn view = *from; /* the same code with fewer outputs */
    view.out = NULL;
    for (size_t o = 0; o < vec_len(from->out); o++) {
        const ir_out *w = &from->out[o];
        if (belongs(form, w->kind) && (form != FORM_IDLE || m->quiet[w->a] & MAY_IDLE))
            vec_push(view.out, *w);
    }
    ir_opt(to, &view, (ir_opt_flags){.once = true});
    vec_free(view.out);
    if (drop_effects(to, form)) {
        ir_fn clean;
        ir_opt(&clean, to, (ir_opt_flags){.once = true});
        ir_fn_fini(to);
        *to = clean;
    }
    if (form == MDL_ASKED)
        make_real(to);
}
