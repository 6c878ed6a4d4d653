/* ir_class.c - dependence class of every instruction: from which kinds of inputs it is computed.
 * Method: forward union; a loop is walked again until its lphis stop growing, which is soon, since
 *         a class has 5 bits; then effects, which add the conditions of all regions around them. */
#include "ir_priv.h"

#include <string.h>

static const uint8_t class_of_kind[IR_N_IN] = {
#define X(kind, name, cls) [IR_IN_##kind] = CLASS_##cls,
#define CLASS_MODEL IR_CLASS_MODEL
#define CLASS_INST IR_CLASS_INST
#define CLASS_TEMP IR_CLASS_TEMP
#define CLASS_TIME IR_CLASS_TIME
#define CLASS_X IR_CLASS_X
    IR_IN_LIST(X)
#undef X
};

static uint8_t class_of_input(const ir_input *in)
{
    return in->inst ? IR_CLASS_INST : class_of_kind[in->kind];
}

/* Adds the classes of next values and of the loop's condition to the lphis; true: one has grown. */
static bool grow_lphis(const ir_inst *inst, ir_val loop, uint8_t *cls)
{
    bool grown = false;
    uint8_t cond = cls[inst[inst[loop].a].a];
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++) {
        uint8_t c = cls[k] | cls[inst[k].c] | cond;
        grown |= c != cls[k];
        cls[k] = c;
    }
    return grown;
}

static void walk_values(const ir_fn *fn, uint8_t *cls)
{
    const ir_inst *inst = fn->inst;
    ir_val n = (ir_val)vec_len(inst);
    for (ir_val i = 0; i < n; i++) {
        const ir_inst *p = &inst[i];
        switch (p->op) {
        case IR_CONST:
        case IR_ELSE:
        case IR_END:
        case IR_LOOP:
        case IR_EFFECT: break;
        case IR_IN: cls[i] = class_of_input(&fn->in[p->a]); break;
        case IR_PHI: cls[i] = cls[p->a] | cls[p->b] | cls[p->c]; break;
        case IR_LPHI: cls[i] |= cls[p->b]; break;
        case IR_ENDLOOP:
            if (grow_lphis(inst, p->a, cls))
                i = p->a;
            break;
        default: {
            uint8_t c = 0;
            for (int k = 0; k < ir_op_table[p->op].arity; k++)
                c |= cls[ir_operand(p, k)];
            cls[i] = c;
        }
        }
    }
}

static void walk_effects(const ir_fn *fn, uint8_t *cls)
{
    const ir_inst *inst = fn->inst;
    uint8_t cur = 0, *outer = NULL; /* vec */
    for (size_t i = 0; i < vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        switch (p->op) {
        case IR_IF:
        case IR_LOOP:
            vec_push(outer, cur);
            cur |= p->op == IR_IF ? cls[i] : cls[inst[p->a].a];
            break;
        case IR_END:
        case IR_ENDLOOP:
            cur = vec_last(outer);
            (void)vec_pop(outer);
            break;
        case IR_EFFECT:
            cls[i] = cur;
            for (size_t k = 0; k < vec_len(fn->eff[p->a].arg); k++)
                cls[i] |= cls[fn->eff[p->a].arg[k]];
            break;
        default: break;
        }
    }
    vec_free(outer);
}

/* The values that decide v: its operands, and the condition of a phi. Returns how many. */
static int deciders(const ir_fn *fn, ir_val v, ir_val by[3])
{
    const ir_inst *in = &fn->inst[v];
    by[0] = in->a, by[1] = in->b, by[2] = in->c;
    if (in->op != IR_PHI && in->op != IR_LPHI)
        return ir_op_arity(in->op);
    const ir_inst *head = &fn->inst[in->a]; /* the if; the loop, which has its while */
    by[0] = in->op == IR_PHI ? head->a : fn->inst[head->a].a;
    return 3;
}

void ir_spread(const ir_fn *fn, uint8_t *mark)
{
    for (bool again = true, loops = false; again;) { /* what goes round a loop is behind its lphi */
        bool more = false;
        for (size_t k = 0; k < vec_len(fn->inst); k++) {
            ir_val by[3];
            uint8_t now = mark[k];
            for (int a = deciders(fn, (ir_val)k, by); a-- > 0;)
                now |= mark[by[a]];
            loops |= fn->inst[k].op == IR_LPHI;
            more |= now != mark[k];
            mark[k] = now;
        }
        again = loops && more;
    }
}

void ir_classes(const ir_fn *fn, uint8_t *cls)
{
    memset(cls, 0, vec_len(fn->inst));
    walk_values(fn, cls);
    walk_effects(fn, cls);
}
