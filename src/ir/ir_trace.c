/* ir_trace.c - a function as straight code, for evaluations that differ in few inputs.
 * Why:    a million resistors differ in one number. Nearly all of what a model computes of its
 *         parameters is then the same for each, and so is its way through the branches.
 * Method: one evaluation with known inputs. What depends on an input that varies is noted as an
 *         operation, everything else is a number. A condition that depends on one becomes a check
 *         that it is what it was; where it is not, the caller evaluates the whole function.
 *         Operations are those of ir_eval_op: the same bits as by the interpreter. */
#include "ir_priv.h"

typedef struct tracer {
    ir_trace *t;
    const ir_fn *fn;
    const ir_num *input;
    const int32_t *place_of; /* of inputs */
    ir_num *val;             /* [n_inst] */
    int32_t *at;             /* [n_inst] place of a value that varies, else FIXED, NOT_RUN */
} tracer;
enum { FIXED = -1, NOT_RUN = -2 };

static int32_t new_place(ir_trace *t, ir_num v)
{
    vec_push(t->val, v);
    return (int32_t)vec_len(t->val) - 1;
}

/* Where a value stands; a number gets a place of its own. */
static int32_t place_of(tracer *r, ir_val v)
{
    return r->at[v] >= 0 ? r->at[v] : new_place(r->t, r->val[v]);
}

static bool varies(const tracer *r, ir_val v) { return r->at[v] >= 0; }

/* The condition of a branch that is taken as it is now. */
static void check(tracer *r, ir_val v)
{
    if (varies(r, v))
        vec_push(r->t->op, (ir_trace_op){.op = IR_IF, .a = r->at[v], .b = r->val[v].i});
}

static void copy(tracer *r, ir_val to, ir_val from)
{
    r->val[to] = r->val[from];
    r->at[to] = r->at[from];
}

static void pure(tracer *r, ir_val i)
{
    const ir_inst *p = &r->fn->inst[i];
    const int n = ir_op_table[p->op].arity;
    const ir_num zero = {.f = 0};
    bool any = false;
    for (int k = 0; k < n; k++)
        any |= varies(r, ir_operand(p, k));
    r->val[i] =
        ir_eval_op(p->op, r->val[p->a], n > 1 ? r->val[p->b] : zero, n > 2 ? r->val[p->c] : zero);
    r->at[i] = FIXED;
    if (!any)
        return;
    ir_trace_op o = {.op = p->op, .a = place_of(r, p->a)};
    o.b = n > 1 ? place_of(r, p->b) : o.a;
    o.c = n > 2 ? place_of(r, p->c) : o.a;
    o.to = r->at[i] = new_place(r->t, r->val[i]);
    vec_push(r->t->op, o);
}

/* Evaluates instruction *i and moves *i behind the arm that is not taken. false: not straight. */
static bool step(tracer *r, ir_val *i)
{
    const ir_inst *p = &r->fn->inst[*i];
    switch (p->op) {
    case IR_CONST:
        r->val[*i] = ir_num_of_con(p->type, r->fn->con[p->a]);
        r->at[*i] = FIXED;
        return true;
    case IR_IN:
        r->val[*i] = r->input[p->a];
        r->at[*i] = r->place_of[p->a];
        return true;
    case IR_IF:
        check(r, p->a);
        r->val[*i] = (ir_num){.f = 0};
        r->val[*i].i = r->val[p->a].i;
        if (!r->val[p->a].i)
            *i = p->b;
        return true;
    case IR_ELSE: *i = p->b; return true;
    case IR_END: return true;
    case IR_PHI: copy(r, *i, r->val[p->a].i ? p->b : p->c); return true;
    case IR_LIMIT: copy(r, *i, p->a); return true;
    case IR_LOOP:
    case IR_LPHI:
    case IR_WHILE:
    case IR_ENDLOOP:
    case IR_EFFECT: return false;
    default: pure(r, *i); return true;
    }
}

/* As ir_interp_static: both arms of a branch that depends on voltages are entered. */
static bool is_passed(const ir_fn *fn, const uint8_t *cls, ir_val i)
{
    const ir_inst *p = &fn->inst[i];
    return cls && (!ir_class_static(cls[i]) || (p->op == IR_ELSE && !ir_class_static(cls[p->a])) ||
                   (p->op == IR_ENDLOOP && !ir_class_static(cls[fn->inst[p->a].a])));
}

bool ir_trace_init(ir_trace *t, const ir_fn *fn, const uint8_t *cls, const ir_num *input,
                   const uint8_t *vary, const ir_val *want, size_t n_want)
{
    const size_t n = vec_len(fn->inst), n_in = vec_len(fn->in);
    int32_t *of_input = vs_malloc((n_in + 1) * sizeof *of_input);
    tracer r = {.t = t,
                .fn = fn,
                .input = input,
                .place_of = of_input,
                .val = vs_calloc(n + 1, sizeof *r.val),
                .at = vs_malloc((n + 1) * sizeof *r.at)};
    bool straight = true;
    *t = (ir_trace){0};
    for (size_t k = 0; k < n_in; k++) {
        of_input[k] = vary[k] ? new_place(t, input[k]) : FIXED;
        t->n_in += vary[k];
    }
    for (size_t i = 0; i < n; i++)
        r.at[i] = NOT_RUN;
    for (ir_val i = 0; i < (ir_val)n && straight; i++)
        if (!is_passed(fn, cls, i))
            straight = step(&r, &i);
    for (size_t k = 0; k < n_want && straight; k++) {
        const ir_val v = want[k];
        const bool ran = v != IR_NONE && r.at[v] != NOT_RUN;
        vec_push(t->out, (ir_trace_out){.ran = ran,
                                        .varies = ran && varies(&r, v),
                                        .at = ran && varies(&r, v) ? r.at[v] : -1,
                                        .fixed = ran ? r.val[v] : (ir_num){.f = 0}});
    }
    vs_free(of_input);
    vs_free(r.val);
    vs_free(r.at);
    if (!straight)
        ir_trace_fini(t);
    return straight;
}

void ir_trace_fini(ir_trace *t)
{
    vec_free(t->op);
    vec_free(t->val);
    vec_free(t->out);
    *t = (ir_trace){0};
}

bool ir_trace_run(ir_trace *t, const ir_num *input)
{
    ir_num *val = t->val;
    for (int32_t k = 0; k < t->n_in; k++)
        val[k] = input[k];
    for (const ir_trace_op *o = t->op, *end = o + vec_len(t->op); o < end; o++) {
        if (o->op != IR_IF)
            val[o->to] = ir_eval_op(o->op, val[o->a], val[o->b], val[o->c]);
        else if (val[o->a].i != o->b)
            return false;
    }
    return true;
}
