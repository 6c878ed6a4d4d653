/* ir.c - building of functions, the verifier, and copies of single instructions. See ir.h, and
 * ir_priv.h for what only passes use.
 * Verifier: one walk in the order of the list. It holds the values that are visible and a stack of
 *           the open regions; the end of a region hides what was defined in it. Operands of phis
 *           are checked where the arm or body that defines them ends, while they are visible. */
#include "ir_priv.h"

#include <math.h>
#include <string.h>

/* Phis have their region at a; their values stand from b on. The third operand of an LPHI, its next
 * value, is known only at the end of the loop. */
#define IS_PHI(op) ((op) == IR_PHI || (op) == IR_LPHI)

const double ir_simparam_default[IR_N_SIMPARAM] = {
#define X(name, type, dflt, ...) dflt,
    IR_SIMPARAM_LIST(X)
#undef X
};

const ir_op_info ir_op_table[IR_N_OP] = {
#define X(op, name, result, n) \
    [IR_##op] = {name, IR_##result, IS_PHI(IR_##op) ? 2 : n, IS_PHI(IR_##op)},
    IR_OP_LIST(X)
#undef X
};

const char *ir_op_name(ir_op op) { return ir_op_table[op].name; }
int ir_op_arity(ir_op op) { return ir_op_table[op].arity; }

ir_type ir_operand_type(ir_op op, int k)
{
    if (op >= IR_NEG && op <= IR_FNE)
        return IR_F64;
    if (op >= IR_INEG && op <= IR_INE)
        return IR_I32;
    if (op >= IR_BAND && op <= IR_BNOT)
        return IR_BOOL;
    switch (op) {
    case IR_I2F: return IR_I32;
    case IR_F2I:
    case IR_LIMIT: return IR_F64;
    case IR_B2I:
    case IR_B2F:
    case IR_IF:
    case IR_WHILE: return IR_BOOL;
    case IR_SELECT: return k == 0 ? IR_BOOL : IR_VOID;
    default: return IR_VOID;
    }
}

void ir_fn_init(ir_fn *fn, const char *name) { *fn = (ir_fn){.name = name}; }

void ir_fn_fini(ir_fn *fn)
{
    for (size_t i = 0; i < vec_len(fn->eff); i++)
        vec_free(fn->eff[i].arg);
    vec_free(fn->inst);
    vec_free(fn->con);
    vec_free(fn->in);
    vec_free(fn->out);
    vec_free(fn->eff);
    vec_free(fn->open);
    map_free(&fn->con_map);
    map_free(&fn->in_map);
    *fn = (ir_fn){0};
}

/* ---- constants and inputs ---- */

int32_t ir_con_index(ir_fn *fn, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* one to one; spreads the leading bits, in which round numbers differ, over the low ones */
    uint64_t key = bits ^ (bits >> 32);
    int32_t k = map_get(&fn->con_map, key, -1);
    if (k < 0) {
        k = (int32_t)vec_len(fn->con);
        vec_push(fn->con, x);
        map_set(&fn->con_map, key, k);
    }
    return k;
}

int32_t ir_in_index(ir_fn *fn, ir_input in)
{
    uint64_t key =
        (uint64_t)(uint32_t)in.k << 32 | (uint64_t)in.inst << 16 | (uint64_t)in.type << 8 | in.kind;
    int32_t k = map_get(&fn->in_map, key, -1);
    if (k < 0) {
        k = (int32_t)vec_len(fn->in);
        vec_push(fn->in, in);
        map_set(&fn->in_map, key, k);
    }
    return k;
}

/* ---- instructions ---- */

/* Writes the places of the region's other markers into the marker `at`, and its place into them
 * (see ir_inst). Asserts that the innermost open region takes such a marker now. */
static void link_marker(ir_fn *fn, ir_op op, ir_val at)
{
    if (op == IR_IF || op == IR_LOOP) {
        vec_push(fn->open, at);
        return;
    }
    assert(vec_len(fn->open) > 0);
    ir_val head = vec_last(fn->open);
    ir_inst *h = &fn->inst[head], *p = &fn->inst[at];
    switch (op) {
    case IR_ELSE:
        assert(h->op == IR_IF && h->b == IR_NONE);
        h->b = at;
        p->a = head;
        break;
    case IR_END:
        assert(h->op == IR_IF && h->b != IR_NONE);
        h->c = at;
        fn->inst[h->b].b = at;
        p->a = head;
        break;
    case IR_WHILE:
        assert(h->op == IR_LOOP && h->a == IR_NONE);
        h->a = at;
        p->c = head;
        break;
    default: /* ENDLOOP */
        assert(h->op == IR_LOOP && h->a != IR_NONE);
        h->b = at;
        fn->inst[h->a].b = at;
        p->a = head;
        break;
    }
    if (op == IR_END || op == IR_ENDLOOP)
        (void)vec_pop(fn->open);
}

ir_val ir_emit(ir_fn *fn, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    ir_val at = (ir_val)vec_len(fn->inst);
    vec_push(fn->inst, (ir_inst){.op = (uint8_t)op, .type = (uint8_t)type, .a = a, .b = b, .c = c});
    if (op >= IR_IF && op != IR_PHI && op != IR_LPHI && op != IR_EFFECT)
        link_marker(fn, op, at);
    return at;
}

ir_val ir_const(ir_fn *fn, double x)
{
    return ir_emit(fn, IR_CONST, IR_F64, ir_con_index(fn, x), IR_NONE, IR_NONE);
}

ir_val ir_const_i(ir_fn *fn, int32_t i)
{
    return ir_emit(fn, IR_CONST, IR_I32, ir_con_index(fn, i), IR_NONE, IR_NONE);
}

ir_val ir_const_b(ir_fn *fn, bool b)
{
    return ir_emit(fn, IR_CONST, IR_BOOL, ir_con_index(fn, b), IR_NONE, IR_NONE);
}

ir_val ir_in(ir_fn *fn, ir_in_kind kind, int32_t k, ir_type type, bool inst)
{
    ir_input in = {.kind = (uint8_t)kind, .type = (uint8_t)type, .inst = inst, .k = k};
    return ir_emit(fn, IR_IN, type, ir_in_index(fn, in), IR_NONE, IR_NONE);
}

ir_val ir_un(ir_fn *fn, ir_op op, ir_val a)
{
    assert(ir_op_table[op].arity == 1 && ir_op_table[op].result != IR_VOID);
    return ir_emit(fn, op, ir_op_table[op].result, a, IR_NONE, IR_NONE);
}

ir_val ir_bin(ir_fn *fn, ir_op op, ir_val a, ir_val b)
{
    assert(ir_op_table[op].arity == 2 && ir_op_table[op].result != IR_VOID);
    return ir_emit(fn, op, ir_op_table[op].result, a, b, IR_NONE);
}

ir_val ir_select(ir_fn *fn, ir_val c, ir_val a, ir_val b)
{
    return ir_emit(fn, IR_SELECT, fn->inst[a].type, c, a, b);
}

ir_val ir_if(ir_fn *fn, ir_val c) { return ir_emit(fn, IR_IF, IR_VOID, c, IR_NONE, IR_NONE); }

void ir_else(ir_fn *fn) { ir_emit(fn, IR_ELSE, IR_VOID, IR_NONE, IR_NONE, IR_NONE); }
void ir_end(ir_fn *fn) { ir_emit(fn, IR_END, IR_VOID, IR_NONE, IR_NONE, IR_NONE); }

ir_val ir_phi(ir_fn *fn, ir_val iff, ir_val then_v, ir_val else_v)
{
    return ir_emit(fn, IR_PHI, fn->inst[then_v].type, iff, then_v, else_v);
}

ir_val ir_loop(ir_fn *fn) { return ir_emit(fn, IR_LOOP, IR_VOID, IR_NONE, IR_NONE, IR_NONE); }

ir_val ir_lphi(ir_fn *fn, ir_val loop, ir_val init)
{
    return ir_emit(fn, IR_LPHI, fn->inst[init].type, loop, init, IR_NONE);
}

void ir_while(ir_fn *fn, ir_val c) { ir_emit(fn, IR_WHILE, IR_VOID, c, IR_NONE, IR_NONE); }
void ir_endloop(ir_fn *fn) { ir_emit(fn, IR_ENDLOOP, IR_VOID, IR_NONE, IR_NONE, IR_NONE); }

void ir_effect_add(ir_fn *fn, ir_effect eff)
{
    int32_t k = (int32_t)vec_len(fn->eff);
    vec_push(fn->eff, eff);
    ir_emit(fn, IR_EFFECT, IR_VOID, k, IR_NONE, IR_NONE);
}

int32_t ir_out_add(ir_fn *fn, ir_out_kind kind, int32_t a, int32_t b, ir_val v)
{
    vec_push(fn->out, (ir_out){.kind = (uint8_t)kind, .a = a, .b = b, .v = v});
    return (int32_t)vec_len(fn->out) - 1;
}

/* ---- verifier ---- */

typedef struct verify {
    const ir_fn *fn;
    size_t n;         /* instructions */
    uint8_t *visible; /* [n] is the value visible now? */
    ir_val *shown;    /* vec: the values visible now, in order of definition */
    struct region {
        ir_val head; /* its IF or LOOP */
        size_t mark; /* length of `shown` where it began */
    } *region;       /* vec: the open ones, the innermost last */
    arena *scratch;
    const char *why; /* the first fault, in scratch; NULL: none */
} verify;

/* Notes the fault `what` of instruction `at`, if it is the first. Returns false. */
static bool fail(verify *v, ir_val at, const char *what)
{
    if (!v->why) {
        const char *op = at >= 0 && (size_t)at < v->n && v->fn->inst[at].op < IR_N_OP
                             ? ir_op_name(v->fn->inst[at].op)
                             : "?";
        v->why = arena_printf(v->scratch, "v%d (%s): %s", at, op, what);
    }
    return false;
}

static void show(verify *v, ir_val x)
{
    v->visible[x] = 1;
    vec_push(v->shown, x);
}

/* Makes the values invisible that were shown since `shown` had the length `mark`. */
static void hide_to(verify *v, size_t mark)
{
    while (vec_len(v->shown) > mark)
        v->visible[vec_pop(v->shown)] = 0;
}

/* Whether instruction `at` may use x as an operand of the type `want`. */
static bool check_use(verify *v, ir_val at, ir_val x, ir_type want)
{
    if (x < 0 || (size_t)x >= v->n)
        return fail(v, at, "operand out of range");
    if (!v->visible[x])
        return fail(v, at, arena_printf(v->scratch, "v%d is not visible here", x));
    if (v->fn->inst[x].type != want)
        return fail(v, at, arena_printf(v->scratch, "v%d has the wrong type", x));
    return true;
}

/* A CONST or IN: its index is in the table, and its type fits the entry. */
static bool check_leaf(verify *v, ir_val i)
{
    const ir_inst *p = &v->fn->inst[i];
    if (p->type != IR_F64 && p->type != IR_I32 && p->type != IR_BOOL)
        return fail(v, i, "has no type");
    if (p->op == IR_IN) {
        if (p->a < 0 || (size_t)p->a >= vec_len(v->fn->in))
            return fail(v, i, "input index out of range");
        if (v->fn->in[p->a].type != p->type || v->fn->in[p->a].kind >= IR_N_IN)
            return fail(v, i, "type differs from that of the input");
        return true;
    }
    if (p->a < 0 || (size_t)p->a >= vec_len(v->fn->con))
        return fail(v, i, "constant index out of range");
    double x = v->fn->con[p->a];
    if (p->type == IR_BOOL && x != 0 && x != 1)
        return fail(v, i, "bool constant is neither 0 nor 1");
    if (p->type == IR_I32 && !(x >= INT32_MIN && x <= INT32_MAX && x == floor(x)))
        return fail(v, i, "constant is no 32-bit integer");
    return true;
}

/* Operand k of all phis or lphis (op) that stand from `at` on: 0 the then value, 1 the else value
 * or the next one. The arm or body that defines it has just ended and is still visible. */
static bool check_phi_side(verify *v, ir_val at, ir_op op, int k)
{
    for (ir_val i = at; (size_t)i < v->n && v->fn->inst[i].op == op; i++)
        if (!check_use(v, i, ir_operand(&v->fn->inst[i], k), v->fn->inst[i].type))
            return false;
    return true;
}

/* A marker: it fits the innermost open region, and the markers of the region name each other. Opens
 * and closes regions. */
static bool check_marker(verify *v, ir_val i)
{
    const ir_inst *p = &v->fn->inst[i];
    if (p->type != IR_VOID)
        return fail(v, i, "a marker has no type");
    if ((p->op == IR_IF || p->op == IR_WHILE) && !check_use(v, i, p->a, IR_BOOL))
        return false;
    if (p->op == IR_IF || p->op == IR_LOOP) {
        vec_push(v->region, (struct region){i, vec_len(v->shown)});
        return true;
    }
    if (!vec_len(v->region))
        return fail(v, i, "no region is open");
    struct region r = vec_last(v->region);
    const ir_inst *h = &v->fn->inst[r.head];
    bool is_if = p->op == IR_ELSE || p->op == IR_END;
    if (h->op != (is_if ? IR_IF : IR_LOOP))
        return fail(v, i, "closes the wrong kind of region");
    switch (p->op) {
    case IR_ELSE:
        if (h->b != i || p->a != r.head || p->b != h->c || h->c <= i || (size_t)h->c >= v->n)
            return fail(v, i, "if, else and end do not name each other");
        if (!check_phi_side(v, h->c + 1, IR_PHI, 0))
            return false;
        hide_to(v, r.mark);
        return true;
    case IR_END:
        if (h->c != i || p->a != r.head || h->b <= r.head || h->b >= i)
            return fail(v, i, "if, else and end do not name each other");
        if (!check_phi_side(v, i + 1, IR_PHI, 1))
            return false;
        hide_to(v, r.mark);
        break;
    case IR_WHILE:
        if (h->a != i || p->c != r.head || p->b != h->b)
            return fail(v, i, "loop, while and endloop do not name each other");
        return true;
    default: /* ENDLOOP */
        if (h->b != i || p->a != r.head || h->a <= r.head || h->a >= i)
            return fail(v, i, "loop, while and endloop do not name each other");
        if (!check_phi_side(v, r.head + 1, IR_LPHI, 1))
            return false;
        hide_to(v, r.mark);
        /* what lphis have at exit may be used behind the loop */
        for (ir_val k = r.head + 1; v->fn->inst[k].op == IR_LPHI; k++)
            show(v, k);
        break;
    }
    (void)vec_pop(v->region);
    return true;
}

/* A PHI or LPHI: it has a type and stands right behind its region's END or LOOP, or behind another
 * phi of the same region; of an LPHI also the first value. */
static bool check_phi(verify *v, ir_val i)
{
    const ir_inst *inst = v->fn->inst, *p = &inst[i];
    if (p->type != IR_F64 && p->type != IR_I32 && p->type != IR_BOOL)
        return fail(v, i, "has no type");
    const ir_inst *prev = i ? p - 1 : NULL;
    if (p->op == IR_PHI) {
        if (!prev ||
            !((prev->op == IR_END && prev->a == p->a) || (prev->op == IR_PHI && prev->a == p->a)))
            return fail(v, i, "a phi stands right behind the end of its if");
        return true; /* operands were checked where the arms end */
    }
    if (!prev ||
        !((prev->op == IR_LOOP && p->a == i - 1) || (prev->op == IR_LPHI && prev->a == p->a)))
        return fail(v, i, "an lphi stands right behind its loop");
    return check_use(v, i, p->b, p->type);
}

/* One instruction, whichever it is. */
static bool check_inst(verify *v, ir_val i)
{
    const ir_inst *p = &v->fn->inst[i];
    if (p->op >= IR_N_OP)
        return fail(v, i, "unknown operation");
    switch (p->op) {
    case IR_CONST:
    case IR_IN: return check_leaf(v, i);
    case IR_IF:
    case IR_ELSE:
    case IR_END:
    case IR_LOOP:
    case IR_WHILE:
    case IR_ENDLOOP: return check_marker(v, i);
    case IR_PHI:
    case IR_LPHI: return check_phi(v, i);
    case IR_EFFECT:
        if (p->a < 0 || (size_t)p->a >= vec_len(v->fn->eff))
            return fail(v, i, "effect index out of range");
        for (size_t k = 0; k < vec_len(v->fn->eff[p->a].arg); k++) {
            ir_val x = v->fn->eff[p->a].arg[k];
            if (x < 0 || (size_t)x >= v->n || !v->visible[x] || !v->fn->inst[x].type)
                return fail(v, i, "argument is not visible here");
        }
        return true;
    default: {
        ir_type result = ir_op_table[p->op].result;
        if (result != IR_VOID ? p->type != result : p->type < IR_F64 || p->type > IR_BOOL)
            return fail(v, i, "has the wrong type");
        for (int k = 0; k < ir_op_table[p->op].arity; k++) {
            ir_type want = ir_operand_type(p->op, k);
            if (!check_use(v, i, ir_operand(p, k), want == IR_VOID ? p->type : want))
                return false;
        }
        return true;
    }
    }
}

/* Outputs are values visible at the end; setup values (CACHE) may also stand inside a region. */
static bool check_outputs(verify *v)
{
    for (size_t i = 0; i < vec_len(v->fn->out); i++) {
        const ir_out *o = &v->fn->out[i];
        if (o->kind >= IR_N_OUT || o->v < 0 || (size_t)o->v >= v->n || !v->fn->inst[o->v].type)
            return fail(v, o->v, arena_printf(v->scratch, "output %zu names no value", i));
        if (o->kind != IR_OUT_CACHE && !v->visible[o->v])
            return fail(v, o->v,
                        arena_printf(v->scratch, "output %zu is not visible at the end", i));
    }
    return true;
}

bool ir_verify(const ir_fn *fn, arena *scratch, const char **why)
{
    verify v = {.fn = fn, .n = vec_len(fn->inst), .scratch = scratch};
    v.visible = vs_calloc(v.n + 1, 1);
    assert(v.visible);
    bool ok = true;
    for (size_t i = 0; i < v.n && ok; i++) {
        ok = check_inst(&v, (ir_val)i);
        if (ok && fn->inst[i].type != IR_VOID)
            show(&v, (ir_val)i);
    }
    if (ok && vec_len(v.region))
        ok = fail(&v, vec_last(v.region).head, "region is not closed");
    ok = ok && check_outputs(&v);
    vs_free(v.visible);
    vec_free(v.shown);
    vec_free(v.region);
    if (why)
        *why = v.why;
    return ok;
}

/* ---- copies ---- */

void ir_copy_tables(ir_fn *to, const ir_fn *from)
{
    for (size_t k = 0; k < vec_len(from->con); k++)
        ir_con_index(to, from->con[k]);
    for (size_t k = 0; k < vec_len(from->in); k++)
        ir_in_index(to, from->in[k]);
}

/* Appends a copy of e with the arguments' places in `to`: new_of[old]. */
static void copy_effect(ir_fn *to, const ir_effect *e, const ir_val *new_of)
{
    ir_effect copy = *e;
    copy.arg = NULL;
    for (size_t k = 0; k < vec_len(e->arg); k++)
        vec_push(copy.arg, new_of[e->arg[k]]);
    ir_effect_add(to, copy);
}

void ir_copy_inst(ir_fn *to, const ir_fn *from, ir_val i, ir_val *new_of)
{
    const ir_inst *p = &from->inst[i];
    ir_inst x = {.a = IR_NONE, .b = IR_NONE, .c = IR_NONE};
    int n = ir_op_table[p->op].arity;
    x.op = p->op;
    switch (p->op) {
    case IR_CONST:
    case IR_IN: x.a = p->a; break;
    case IR_LIMIT: x.b = p->b; break;
    case IR_PHI: x.a = new_of[p->a]; break;
    case IR_LPHI:
        x.a = new_of[p->a];
        n = 1;
        break;
    case IR_ENDLOOP: /* only now there are copies of the next values */
        for (ir_val k = p->a + 1; from->inst[k].op == IR_LPHI; k++)
            to->inst[new_of[k]].c = new_of[from->inst[k].c];
        break;
    case IR_EFFECT:
        new_of[i] = (ir_val)vec_len(to->inst);
        copy_effect(to, &from->eff[p->a], new_of);
        return;
    default: break;
    }
    for (int k = 0; k < n; k++)
        ir_set_operand(&x, k, new_of[ir_operand(p, k)]);
    new_of[i] = ir_emit(to, p->op, p->type, x.a, x.b, x.c);
}
