/* ir_split.c - a function into setup (static values, once per parameter row) and eval (the rest).
 * Requires: head, small, placed; no CACHE inputs and outputs.  Gives: apart; both are small.
 * Method:  1. classes; which static values differ from round to round of a loop around them;
 *          2. backward from eval's outputs and effects: a static operand is cached and not
 *             followed, unless it is a constant or differs between rounds of a loop that stays in
 *             eval (such a value is computed again there);
 *          3. setup is emitted and optimised; equal cache entries merge, constant ones go;
 *          4. eval is emitted with the cache as inputs, and optimised; entries that it no longer
 *             uses go.
 * A cached value of a loop is the same in every round, so that setup's last one serves all. */
#include "ir_priv.h"

#include <string.h>

enum { EVAL = 1, CACHED = 2, REDO = 4, SETUP = 8 };

typedef struct split {
    const ir_fn *from;
    const ir_inst *inst;
    ir_val n;
    uint8_t *cls;     /* [n] */
    uint8_t *differs; /* [n] computed from an lphi of a loop around it */
    ir_val *outer;  /* [n + 1] outermost LOOP around an instruction, IR_NONE: none; [n]: the end */
    ir_val *parent; /* [n] innermost IF or LOOP around it, or IR_NONE */
    ir_val *home;   /* [n] innermost such with a static condition */
    uint8_t *use;   /* [n] EVAL, CACHED, ... */
    ir_val *work;   /* vec */
    ir_val *map;    /* [n] value in the function being built */
    ir_val *top;    /* [n] of CACHED, REDO and constants: value at the head of eval */
} split;

static bool is_static(const split *s, ir_val v) { return ir_class_static(s->cls[v]); }

/* The condition of an IF or a LOOP. */
static ir_val cond_of(const split *s, ir_val region)
{
    const ir_inst *p = &s->inst[region];
    return p->op == IR_IF ? p->a : s->inst[p->a].a;
}

/* ---- 1. places ---- */

/* Fills in outer, parent and home. */
static void find_places(split *s)
{
    ir_val cur = IR_NONE, out = IR_NONE;
    for (ir_val i = 0; i < s->n; i++) {
        const ir_inst *p = &s->inst[i];
        if (p->op == IR_END || p->op == IR_ENDLOOP) {
            if (out == p->a)
                out = IR_NONE;
            cur = s->parent[p->a];
        }
        s->parent[i] = cur;
        s->home[i] = cur == IR_NONE || is_static(s, cond_of(s, cur)) ? cur : s->home[cur];
        if (p->op == IR_LOOP && out == IR_NONE)
            out = i;
        s->outer[i] = out;
        if (p->op == IR_IF || p->op == IR_LOOP)
            cur = i;
    }
    s->outer[s->n] = IR_NONE;
}

/* At instruction `at`, v is not the same in all rounds of a loop around both. */
static bool differs_at(const split *s, ir_val v, ir_val at)
{
    return s->differs[v] && s->outer[v] != IR_NONE && s->outer[v] == s->outer[at];
}

/* Fills in differs. */
static void find_differing(split *s)
{
    for (ir_val i = 0; i < s->n; i++) {
        const ir_inst *p = &s->inst[i];
        bool d = p->op == IR_LPHI || (p->op == IR_PHI && differs_at(s, p->a, i));
        for (int k = 0; k < ir_op_table[p->op].arity && !d; k++)
            d = differs_at(s, ir_operand(p, k), i);
        s->differs[i] = d;
    }
}

/* ---- 2. what eval needs ---- */

/* Whether setup gives this output: a static one that decides the shape of the circuit. */
static bool at_setup(const split *s, const ir_out *o)
{
    return (o->kind == IR_OUT_ISPOT || o->kind == IR_OUT_COLLAPSE || o->kind == IR_OUT_DROP) &&
           is_static(s, o->v);
}

/* Sets a bit of use; what goes to eval or setup is followed by its caller. */
static void mark(split *s, ir_val v, uint8_t bit)
{
    if (s->use[v] & bit)
        return;
    s->use[v] |= bit;
    if (bit == EVAL || bit == SETUP)
        vec_push(s->work, v);
}

/* v is an operand of instruction `at` of eval ([n]: an output): cached if it may be. */
static void use_in_eval(split *s, ir_val v, ir_val at)
{
    bool cached = s->inst[v].op != IR_CONST && is_static(s, v) && !differs_at(s, v, at);
    mark(s, v, cached ? CACHED : EVAL);
}

/* Marks what eval computes, EVAL, and what it takes from the cache, CACHED. */
static void mark_eval(split *s)
{
    for (size_t k = 0; k < vec_len(s->from->out); k++) {
        assert(s->from->out[k].kind != IR_OUT_CACHE);
        if (!at_setup(s, &s->from->out[k]))
            use_in_eval(s, s->from->out[k].v, s->n);
    }
    for (ir_val i = 0; i < s->n; i++)
        if (s->inst[i].op == IR_EFFECT && !is_static(s, i)) {
            mark(s, i, EVAL);
            for (ir_val r = s->parent[i]; r != IR_NONE && !(s->use[r] & EVAL); r = s->parent[r])
                mark(s, r, EVAL);
        }
    while (vec_len(s->work)) {
        ir_val i = vec_pop(s->work);
        const ir_inst *p = &s->inst[i];
        if (p->op == IR_PHI || p->op == IR_LPHI)
            mark(s, p->a, EVAL);
        if (p->op == IR_LOOP)
            use_in_eval(s, cond_of(s, i), i);
        if (p->op == IR_EFFECT)
            for (size_t k = 0; k < vec_len(s->from->eff[p->a].arg); k++)
                use_in_eval(s, s->from->eff[p->a].arg[k], i);
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            use_in_eval(s, ir_operand(p, k), i);
    }
}

/* Marks cached values that are a cheap function of another one: eval computes them again. */
static void mark_redo(split *s)
{
    for (ir_val i = 0; i < s->n; i++) {
        int op = s->inst[i].op;
        bool cheap = op == IR_NEG || op == IR_BNOT || op == IR_I2F || op == IR_B2F;
        if (cheap && (s->use[i] & CACHED) && (s->use[s->inst[i].a] & (CACHED | REDO)))
            s->use[i] = (uint8_t)((s->use[i] & ~CACHED) | REDO);
    }
}

/* ---- 3. setup ---- */

/* Marks what setup computes: cached values, static effects, its outputs, and what they need. */
static void mark_setup(split *s)
{
    for (ir_val i = 0; i < s->n; i++)
        if ((s->use[i] & CACHED) || (s->inst[i].op == IR_EFFECT && is_static(s, i)))
            mark(s, i, SETUP);
    for (size_t k = 0; k < vec_len(s->from->out); k++)
        if (at_setup(s, &s->from->out[k]))
            mark(s, s->from->out[k].v, SETUP);
    while (vec_len(s->work)) {
        ir_val i = vec_pop(s->work);
        const ir_inst *p = &s->inst[i];
        /* setup keeps static regions around it, so they are needed; others vanish */
        if (s->home[i] != IR_NONE)
            mark(s, s->home[i], SETUP);
        if (p->op == IR_PHI || p->op == IR_LPHI)
            mark(s, p->a, SETUP);
        if (p->op == IR_LOOP)
            mark(s, cond_of(s, i), SETUP);
        if (p->op == IR_EFFECT)
            for (size_t k = 0; k < vec_len(s->from->eff[p->a].arg); k++)
                mark(s, s->from->eff[p->a].arg[k], SETUP);
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            mark(s, ir_operand(p, k), SETUP);
    }
}

/* The value in the function being built that stands for operand v of instruction `at`. */
typedef ir_val (*operand_fn)(const split *s, ir_val v, ir_val at);

static ir_val operand_in_setup(const split *s, ir_val v, ir_val at)
{
    (void)at;
    return s->map[v];
}

static ir_val operand_in_eval(const split *s, ir_val v, ir_val at)
{
    bool head = s->inst[v].op == IR_CONST || (is_static(s, v) && !differs_at(s, v, at));
    return head ? s->top[v] : s->map[v];
}

/* Copies instruction i; `bit`: the function it goes to. */
static void copy_inst(split *s, ir_fn *to, ir_val i, uint8_t bit, operand_fn operand)
{
    const ir_inst *p = &s->inst[i];
    ir_val x[3] = {IR_NONE, IR_NONE, IR_NONE};
    switch (p->op) {
    case IR_ELSE:
    case IR_END:
        if (s->use[p->a] & bit)
            ir_emit(to, p->op, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
        return;
    case IR_WHILE:
        if (s->use[p->c] & bit)
            ir_while(to, operand(s, p->a, i));
        return;
    case IR_ENDLOOP:
        if (!(s->use[p->a] & bit))
            return;
        for (ir_val k = p->a + 1; s->inst[k].op == IR_LPHI; k++)
            if (s->use[k] & bit)
                to->inst[s->map[k]].c = operand(s, s->inst[k].c, k);
        ir_endloop(to);
        return;
    default: break;
    }
    if (!(s->use[i] & bit))
        return;
    switch (p->op) {
    case IR_CONST:
        s->map[i] =
            ir_emit(to, IR_CONST, p->type, ir_con_index(to, s->from->con[p->a]), IR_NONE, IR_NONE);
        return;
    case IR_IN:
        s->map[i] =
            ir_emit(to, IR_IN, p->type, ir_in_index(to, s->from->in[p->a]), IR_NONE, IR_NONE);
        return;
    case IR_LIMIT:
        s->map[i] = ir_emit(to, IR_LIMIT, IR_F64, operand(s, p->a, i), p->b, IR_NONE);
        return;
    case IR_PHI:
    case IR_LPHI:
        s->map[i] = ir_emit(to, p->op, p->type, s->map[p->a], operand(s, p->b, i),
                            p->op == IR_PHI ? operand(s, p->c, i) : IR_NONE);
        return;
    case IR_EFFECT: {
        ir_effect e = s->from->eff[p->a];
        ir_val *arg = NULL;
        for (size_t k = 0; k < vec_len(e.arg); k++)
            vec_push(arg, operand(s, e.arg[k], i));
        e.arg = arg;
        ir_effect_add(to, e);
        return;
    }
    default:
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            x[k] = operand(s, ir_operand(p, k), i);
        s->map[i] = ir_emit(to, p->op, p->type, x[0], x[1], x[2]);
    }
}

/* OUT CACHE k for each cached value in order, then the static decisions. */
static void build_setup(split *s, ir_fn *setup)
{
    ir_fn raw;
    ir_fn_init(&raw, s->from->name);
    for (ir_val i = 0; i < s->n; i++)
        copy_inst(s, &raw, i, SETUP, operand_in_setup);
    int32_t k = 0;
    for (ir_val i = 0; i < s->n; i++)
        if (s->use[i] & CACHED)
            ir_out_add(&raw, IR_OUT_CACHE, k++, 0, s->map[i]);
    for (size_t j = 0; j < vec_len(s->from->out); j++) {
        ir_out o = s->from->out[j];
        if (at_setup(s, &o))
            ir_out_add(&raw, o.kind, o.a, o.b, s->map[o.v]);
    }
    ir_opt(setup, &raw, (ir_opt_flags){0});
    ir_fn_fini(&raw);
}

/* What became of a cached value: entry k, or a constant. */
typedef struct entry {
    bool constant;
    int32_t k;
    double x;
} entry;

/* Merges equal cache entries of setup's outputs, and drops constants. e [n_cached] tells what
 * became of each. Returns the number of entries left. */
static int merge_entries(ir_fn *setup, entry *e, int n_cached)
{
    int32_t n = 0, *of_value = vs_malloc((vec_len(setup->inst) + 1) * sizeof *of_value);
    assert(of_value);
    memset(of_value, 0xff, vec_len(setup->inst) * sizeof *of_value);
    for (int k = 0; k < n_cached; k++)
        e[k] = (entry){.constant = true}; /* 0 if setup found that it cannot be computed */
    ir_out *kept = NULL;
    for (size_t j = 0; j < vec_len(setup->out); j++) {
        ir_out o = setup->out[j];
        const ir_inst *p = &setup->inst[o.v];
        if (o.kind != IR_OUT_CACHE) {
            vec_push(kept, o);
        } else if (p->op == IR_CONST) {
            e[o.a].x = setup->con[p->a];
        } else {
            e[o.a].constant = false;
            if (of_value[o.v] < 0) {
                of_value[o.v] = n++;
                vec_push(kept, (ir_out){.kind = IR_OUT_CACHE, .a = of_value[o.v], .v = o.v});
            }
            e[o.a].k = of_value[o.v];
        }
    }
    vec_free(setup->out);
    setup->out = kept;
    vs_free(of_value);
    return n;
}

/* ---- 4. eval ---- */

/* The cache as inputs and constants at the head, then what is marked EVAL, and eval's outputs.
 *   e  in  what became of the cached values, in their order   [n_cached] */
static void build_eval(split *s, ir_fn *eval, const entry *e)
{
    ir_fn raw;
    ir_fn_init(&raw, s->from->name);
    int32_t k = 0;
    for (ir_val i = 0; i < s->n; i++) {
        const ir_inst *p = &s->inst[i];
        if (s->use[i] & CACHED) {
            s->top[i] = e[k].constant ? ir_emit(&raw, IR_CONST, p->type, ir_con_index(&raw, e[k].x),
                                                IR_NONE, IR_NONE)
                                      : ir_in(&raw, IR_IN_CACHE, e[k].k, p->type, false);
            k++;
        } else if (s->use[i] & REDO) {
            s->top[i] = ir_un(&raw, p->op, s->top[p->a]);
        } else if (p->op == IR_CONST && (s->use[i] & EVAL)) {
            copy_inst(s, &raw, i, EVAL, operand_in_eval);
            s->top[i] = s->map[i];
        }
    }
    for (ir_val i = 0; i < s->n; i++)
        if (s->inst[i].op != IR_CONST)
            copy_inst(s, &raw, i, EVAL, operand_in_eval);
    for (size_t j = 0; j < vec_len(s->from->out); j++) {
        ir_out o = s->from->out[j];
        if (!at_setup(s, &o))
            ir_out_add(&raw, o.kind, o.a, o.b, operand_in_eval(s, o.v, s->n));
    }
    ir_opt(eval, &raw, (ir_opt_flags){0});
    ir_fn_fini(&raw);
}

/* Drops entries that eval did not use in the end, and closes the gaps; optimises setup again if it
 * lost an output, here or before (merged). Returns the number of entries left. */
static int drop_unused(ir_fn *setup, ir_fn *eval, int n_entry, bool merged)
{
    int32_t *new_k = vs_malloc(((size_t)n_entry + 1) * sizeof *new_k), n = 0;
    assert(new_k);
    memset(new_k, 0xff, (size_t)n_entry * sizeof *new_k);
    for (size_t j = 0; j < vec_len(eval->in); j++)
        if (eval->in[j].kind == IR_IN_CACHE)
            new_k[eval->in[j].k] = 0;
    for (int k = 0; k < n_entry; k++)
        if (new_k[k] == 0)
            new_k[k] = n++;
    if (n < n_entry || merged) {
        ir_input *in = eval->in; /* the same inputs in the same order, numbered anew */
        eval->in = NULL;
        map_free(&eval->in_map);
        for (size_t j = 0; j < vec_len(in); j++) {
            if (in[j].kind == IR_IN_CACHE)
                in[j].k = new_k[in[j].k];
            ir_in_index(eval, in[j]);
        }
        vec_free(in);
        ir_fn full = *setup;
        full.out = NULL;
        for (size_t j = 0; j < vec_len(setup->out); j++) {
            ir_out o = setup->out[j];
            if (o.kind == IR_OUT_CACHE && new_k[o.a] < 0)
                continue;
            if (o.kind == IR_OUT_CACHE)
                o.a = new_k[o.a];
            vec_push(full.out, o);
        }
        vec_free(setup->out);
        ir_opt(setup, &full, (ir_opt_flags){0});
        ir_fn_fini(&full);
    }
    vs_free(new_k);
    return n;
}

int ir_split(ir_fn *setup, ir_fn *eval, const ir_fn *from)
{
    size_t n = vec_len(from->inst);
    split s = {.from = from, .inst = from->inst, .n = (ir_val)n};
    s.cls = vs_calloc(n + 1, 1);
    s.differs = vs_calloc(n + 1, 1);
    s.use = vs_calloc(n + 1, 1);
    s.outer = vs_malloc((n + 1) * sizeof *s.outer);
    s.parent = vs_malloc((n + 1) * sizeof *s.parent);
    s.home = vs_malloc((n + 1) * sizeof *s.home);
    s.map = vs_malloc((n + 1) * sizeof *s.map);
    s.top = vs_malloc((n + 1) * sizeof *s.top);
    assert(s.cls && s.differs && s.use && s.outer && s.parent && s.home && s.map && s.top);

    ir_classes(from, s.cls);
    find_places(&s);
    find_differing(&s);
    mark_eval(&s);
    mark_redo(&s);
    mark_setup(&s);
    int n_cached = 0;
    for (size_t i = 0; i < n; i++)
        n_cached += (s.use[i] & CACHED) != 0;
    entry *e = vs_malloc(((size_t)n_cached + 1) * sizeof *e);
    assert(e);
    build_setup(&s, setup);
    int n_entry = merge_entries(setup, e, n_cached);
    build_eval(&s, eval, e);
    n_entry = drop_unused(setup, eval, n_entry, n_entry < n_cached);

    vs_free(e);
    vs_free(s.cls);
    vs_free(s.differs);
    vs_free(s.use);
    vs_free(s.outer);
    vs_free(s.parent);
    vs_free(s.home);
    vs_free(s.map);
    vs_free(s.top);
    vec_free(s.work);
    return n_entry;
}
