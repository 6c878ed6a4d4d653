/* ir_static.c - the static values of a function as a list without the rest.
 * Why:    the static values of a model are computed for each row of parameters. Most of a model
 *         depends on voltages, and stepping over that costs more than what is computed.
 * Method: instructions keep their order; operands and places in markers become indices in the list.
 *         */
#include "ir_priv.h"

/* Whether the list needs instruction i. In ir_interp_static END does nothing, nor do markers of
 * branches and loops that depend on voltages, nor effects. */
static bool is_static(const ir_fn *fn, const uint8_t *cls, const ir_inst *p, ir_val i)
{
    switch (p->op) {
    case IR_END:
    case IR_EFFECT: return false;
    case IR_ELSE:
    case IR_LOOP: return ir_class_static(cls[p->a]);
    case IR_ENDLOOP: return ir_class_static(cls[fn->inst[p->a].a]);
    default: return ir_class_static(cls[i]);
    }
}

/* Renames operands and places of a marker. A jump goes behind the place that it names, so that this
 * becomes the last instruction of the list up to there. */
static void rename_places(ir_inst *p, const ir_val *new_of, const ir_val *last_to)
{
    switch (p->op) {
    case IR_CONST:
    case IR_IN: break;
    case IR_IF: p->a = new_of[p->a], p->b = last_to[p->b], p->c = last_to[p->c]; break;
    case IR_ELSE: p->a = new_of[p->a], p->b = last_to[p->b]; break;
    case IR_LOOP: p->a = new_of[p->a], p->b = new_of[p->b]; break;
    case IR_WHILE: p->a = new_of[p->a], p->b = new_of[p->b], p->c = new_of[p->c]; break;
    case IR_ENDLOOP: p->a = new_of[p->a]; break;
    case IR_LIMIT: p->a = new_of[p->a]; break;
    default:
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            ir_set_operand(p, k, new_of[ir_operand(p, k)]);
        if (p->op == IR_PHI || p->op == IR_LPHI)
            p->a = new_of[p->a];
    }
}

void ir_static_init(ir_static *s, const ir_fn *fn, const uint8_t *cls, const ir_val *want,
                    size_t n_want)
{
    const size_t n = vec_len(fn->inst);
    ir_val *new_of = vs_malloc((n + 1) * sizeof *new_of),
           *last_to = vs_malloc((n + 1) * sizeof *last_to);
    *s = (ir_static){0};
    for (size_t i = 0; i < n; i++) {
        const bool in = is_static(fn, cls, &fn->inst[i], (ir_val)i);
        new_of[i] = in ? (ir_val)vec_len(s->inst) : IR_NONE;
        if (in) {
            vec_push(s->inst, fn->inst[i]);
            vec_push(s->cls, cls[i]);
        }
        last_to[i] = (ir_val)vec_len(s->inst) - 1;
    }
    for (size_t i = 0; i < vec_len(s->inst); i++)
        rename_places(&s->inst[i], new_of, last_to);
    for (size_t i = 0; i < n_want; i++)
        vec_push(s->want, new_of[want[i]]);
    vs_free(new_of);
    vs_free(last_to);
}

void ir_static_fini(ir_static *s)
{
    vec_free(s->inst);
    vec_free(s->cls);
    vec_free(s->want);
}

vs_status ir_static_run(const ir_static *s, const ir_fn *fn, const ir_num *input, ir_num *val,
                        uint8_t *ran)
{
    ir_fn list = *fn;
    list.inst = s->inst;
    return ir_interp_static(&list, s->cls, input, val, ran, NULL);
}
