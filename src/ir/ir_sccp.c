/* ir_sccp.c - conditional constant propagation, removal of code that cannot run.
 * Requires: a function of one form.  Gives: head, small, constants for what is decided.
 * Source:  Wegman & Zadeck, "Constant propagation with conditional branches", TOPLAS 13(2), 1991.
 * Value:   UNSEEN -> CONST -> VARIES. An arm is walked once its condition may choose it; a phi
 *          meets the arms that can run; a loop is walked again until its lphis no longer change.
 * Method:  structured code needs no edge list: one walk in execution order, which goes back at an
 *          ENDLOOP whose lphis changed. States only fall, so the walks of a loop are few; after
 *          MANY of them its lphis are taken to vary.
 * Folding: ir_eval_op, the interpreter's own routine: a folded value is the evaluated value.
 * Rewriting: ir_rewrite, with what was found. */
#include "ir_priv.h"

#include <string.h>

enum { UNSEEN, CONST, VARIES };
enum { THEN = 1, ELSE = 2, BODY = 4, SEEN = 8 };
enum { MANY = 16 };

typedef struct sccp {
    const ir_fn *fn;
    const uint8_t *known; /* [n] as ir_sccp has it, or NULL */
    const ir_num *known_val;
    bool fold_zero;
    uint8_t *state; /* [n] */
    ir_num *val;    /* [n] where CONST */
    uint8_t *runs;  /* [n] of an IF, a LOOP: parts that can run */
    uint8_t *round; /* [n] of a LOOP: walks made */
} sccp;

/* Lowers the state of v to `state`, with the constant x; true: it fell. */
static bool lower(sccp *s, ir_val v, uint8_t state, ir_num x)
{
    if (s->known && s->known[v] == 1 && state != UNSEEN) {
        state = CONST;
        x = s->known_val[v];
    }
    if (state == UNSEEN || s->state[v] == VARIES)
        return false;
    if (s->state[v] == CONST && state == CONST && ir_num_same(s->fn->inst[v].type, s->val[v], x))
        return false;
    s->state[v] = s->state[v] == CONST ? VARIES : state;
    s->val[v] = x;
    return true;
}

/* 0 or 1 if the condition is decided, else -1. */
static int decided(const sccp *s, ir_val cond)
{
    if (s->known && s->known[cond])
        return s->known_val[cond].i != 0;
    return s->state[cond] == CONST ? s->val[cond].i != 0 : -1;
}

/* Whether v is known to be 0 (or -0.0, or false). */
static bool is_zero(const sccp *s, ir_val v, ir_type t)
{
    return s->state[v] == CONST && (t == IR_F64 ? s->val[v].f == 0 : s->val[v].i == 0);
}

/* Whether the result, *x, is known although not all operands are. */
static bool absorbs(const sccp *s, const ir_inst *p, ir_num *x)
{
    *x = (ir_num){0};
    switch (p->op) {
    case IR_BAND:
    case IR_IAND:
    case IR_IMUL: return is_zero(s, p->a, IR_I32) || is_zero(s, p->b, IR_I32);
    case IR_BOR:
        x->i = 1;
        return (s->state[p->a] == CONST && s->val[p->a].i) ||
               (s->state[p->b] == CONST && s->val[p->b].i);
    case IR_MUL: return s->fold_zero && (is_zero(s, p->a, IR_F64) || is_zero(s, p->b, IR_F64));
    case IR_DIV: return s->fold_zero && is_zero(s, p->a, IR_F64);
    case IR_POW: x->f = 1; return is_zero(s, p->b, IR_F64);
    default: return false;
    }
}

/* Lowers a pure operation to what its operands are known to be. */
static void eval_pure(sccp *s, ir_val i)
{
    const ir_inst *p = &s->fn->inst[i];
    if (s->state[i] == VARIES)
        return;
    ir_num x[3] = {{0}, {0}, {0}}, y;
    if (p->op == IR_SELECT && decided(s, p->a) >= 0) {
        ir_val side = decided(s, p->a) ? p->b : p->c;
        lower(s, i, s->state[side], s->val[side]);
        return;
    }
    bool all = true;
    for (int k = 0; k < ir_op_table[p->op].arity; k++) {
        ir_val o = ir_operand(p, k);
        all &= s->state[o] == CONST;
        x[k] = s->val[o];
    }
    if (all)
        lower(s, i, CONST, ir_eval_op(p->op, x[0], x[1], x[2]));
    else if (absorbs(s, p, &y))
        lower(s, i, CONST, y);
    else if (p->op == IR_SELECT && s->state[p->b] == CONST && s->state[p->c] == CONST &&
             ir_num_same(p->type, x[1], x[2]))
        lower(s, i, CONST, x[1]);
    else
        lower(s, i, VARIES, y);
}

/* Lowers a phi by the values of the arms that can run. */
static void meet_phi(sccp *s, ir_val i)
{
    const ir_inst *p = &s->fn->inst[i];
    if (s->runs[p->a] & THEN)
        lower(s, i, s->state[p->b], s->val[p->b]);
    if (s->runs[p->a] & ELSE)
        lower(s, i, s->state[p->c], s->val[p->c]);
}

/* Meets the lphis with their next values; true: the body has to be walked again. */
static bool close_loop(sccp *s, ir_val loop)
{
    const ir_inst *inst = s->fn->inst;
    bool fell = false;
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
        fell |= lower(s, k, s->state[inst[k].c], s->val[inst[k].c]);
    if (fell && ++s->round[loop] >= MANY) {
        s->round[loop] = MANY;
        for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
            if (!s->known || s->known[k] != 1)
                s->state[k] = VARIES;
    }
    return fell;
}

static void propagate(sccp *s)
{
    const ir_inst *inst = s->fn->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        int d;
        switch (p->op) {
        case IR_CONST: lower(s, i, CONST, ir_num_of_con(p->type, s->fn->con[p->a])); break;
        case IR_IN:
        case IR_LIMIT: lower(s, i, VARIES, (ir_num){0}); break;
        case IR_IF:
            d = decided(s, p->a);
            s->runs[i] |= SEEN | (d != 0 ? THEN : 0) | (d != 1 ? ELSE : 0);
            if (!(s->runs[i] & THEN))
                i = p->b;
            break;
        case IR_ELSE:
            if (!(s->runs[p->a] & ELSE))
                i = p->b;
            break;
        case IR_END:
        case IR_EFFECT: break;
        case IR_PHI: meet_phi(s, i); break;
        case IR_LOOP: s->runs[i] |= SEEN; break;
        case IR_LPHI: lower(s, i, s->state[p->b], s->val[p->b]); break;
        case IR_WHILE:
            if (decided(s, p->a) != 0)
                s->runs[p->c] |= BODY;
            else
                i = p->b;
            break;
        case IR_ENDLOOP:
            if (close_loop(s, p->a))
                i = p->a;
            break;
        default: eval_pure(s, i);
        }
    }
}

static void count(const sccp *s, ir_sccp_stats *st)
{
    *st = (ir_sccp_stats){.n_block = 1};
    for (size_t i = 0; i < vec_len(s->fn->inst); i++) {
        int op = s->fn->inst[i].op, r = s->runs[i];
        st->n_const += s->state[i] == CONST && op != IR_CONST;
        st->n_select += op == IR_SELECT;
        if (op != IR_IF && op != IR_LOOP)
            continue;
        st->n_branch++;
        st->n_block += 3;
        if (!(r & SEEN))
            st->n_block_dead += 3;
        else if (op == IR_IF)
            st->n_block_dead += !(r & THEN) + !(r & ELSE);
        else
            st->n_block_dead += !(r & BODY);
        if (r & SEEN)
            st->n_branch_decided += op == IR_IF ? !(r & THEN) || !(r & ELSE) : !(r & BODY);
    }
}

/* Turns states into the facts that ir_rewrite takes. */
static void make_facts(sccp *s)
{
    for (size_t i = 0; i < vec_len(s->fn->inst); i++) {
        bool decides = s->state[i] == VARIES && s->known && s->known[i] == 2;
        s->state[i] = s->state[i] == CONST ? IR_FACT_CONST
                      : decides            ? IR_FACT_DECIDES
                                           : IR_FACT_NONE;
        if (decides)
            s->val[i] = s->known_val[i];
    }
}

void ir_sccp(ir_fn *to, const ir_fn *from, const uint8_t *known, const ir_num *known_val,
             ir_opt_flags flags, ir_sccp_stats *st)
{
    size_t n = vec_len(from->inst) + 1;
    sccp s = {.fn = from, .known = known, .known_val = known_val, .fold_zero = flags.fold_zero};
    s.state = vs_calloc(n, 1);
    s.runs = vs_calloc(n, 1);
    s.round = vs_calloc(n, 1);
    s.val = vs_calloc(n, sizeof *s.val);
    assert(s.state && s.runs && s.round && s.val);
    propagate(&s);
    if (st)
        count(&s, st);
    make_facts(&s);
    ir_rewrite(to, from, flags, (ir_facts){s.state, s.val});
    vs_free(s.state);
    vs_free(s.runs);
    vs_free(s.round);
    vs_free(s.val);
}
