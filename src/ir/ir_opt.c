/* ir_opt.c - folding, value numbering, known conditions, removal of dead code; one rewriter that
 * ir_opt and ir_sccp share.
 * Requires: a function that ir_verify accepts.  Gives: small; head: inputs (in the order of
 *           from->in, unused ones dropped) and constants first, each once.
 * Method:   a round marks what is needed, walks it once and emits simplified, numbered instructions
 *           to an intermediate function, marks that, and copies what is needed. Rounds go on until
 *           nothing shrinks.
 * Names:    in the intermediate function an id >= 0 is an instruction of the body; an id <= -2 one
 *           of the prelude (constants and inputs, visible everywhere): entry k is ~(k + 1).
 * Numbers:  a hash table with an undo stack. At the end of a region the entries made in it are
 *           forgotten, so that whatever is found dominates.
 * Branches: inside an arm the condition is known. sub_body and sub_pre hold what a value is known
 *           to be here; each operand is looked up there. The end of the region undoes that.
 * Folding:  ir_eval_op; identities are exact in IEEE arithmetic up to the sign and payload of a
 *           NaN, unless flags.fold_zero allows 0*x = 0, x + 0 = x, 0 - x = -x, -(x - y) = y - x. */
#include "ir_priv.h"

#include <math.h>
#include <string.h>

/* ---- 1. what is needed ---- */

enum { LIVE = 1, CHAIN = 2 /* so are the regions around it */, TO_SELECT = 4 };

typedef struct live {
    const ir_inst *inst;
    size_t n;
    const ir_fn *fn;
    ir_facts facts;
    uint8_t *on;    /* [n] LIVE, CHAIN, TO_SELECT */
    uint8_t *pre;   /* prelude entries needed, or NULL */
    ir_val *parent; /* [n] innermost region around it, -1: none, DEAD: in an arm that cannot run */
    ir_val *work;   /* vec */
} live;
enum { DEAD = -2 };

/* 0 or 1 if the condition is known, else -1. */
static int decision(const ir_fn *fn, ir_facts facts, ir_val cond)
{
    if (cond < 0)
        return -1;
    if (facts.state && facts.state[cond])
        return facts.val[cond].i != 0;
    return fn->inst[cond].op == IR_CONST ? fn->con[fn->inst[cond].a] != 0 : -1;
}

/* Marks a value, or entry of the prelude, that something needed uses. */
static void need(live *l, ir_val v)
{
    if (v < 0) {
        assert(v != IR_NONE && l->pre);
        l->pre[~v - 1] = 1;
    } else if (!(l->on[v] & LIVE)) {
        l->on[v] |= LIVE;
        vec_push(l->work, v);
    }
}

/* Marks the region and those around it, up to the first whose chain is marked. */
static void need_chain(live *l, ir_val region)
{
    for (; region >= 0 && !(l->on[region] & CHAIN); region = l->parent[region]) {
        need(l, region);
        l->on[region] |= CHAIN;
    }
}

/* Marks what v is computed from: of phis and selects with a known condition only the side taken. */
static void need_operands(live *l, ir_val v)
{
    const ir_inst *p = &l->inst[v];
    int d;
    switch (p->op) {
    case IR_PHI:
        d = decision(l->fn, l->facts, l->inst[p->a].a);
        if (d < 0)
            need(l, p->a);
        if (d != 0)
            need(l, p->b);
        if (d != 1)
            need(l, p->c);
        break;
    case IR_LPHI:
        need(l, p->b);
        if (decision(l->fn, l->facts, l->inst[l->inst[p->a].a].a) != 0) {
            need(l, p->a);
            need(l, p->c);
        }
        break;
    case IR_SELECT:
        d = decision(l->fn, l->facts, p->a);
        if (d < 0)
            need(l, p->a);
        if (d != 0)
            need(l, p->b);
        if (d != 1)
            need(l, p->c);
        break;
    case IR_LOOP: need(l, l->inst[p->a].a); break;
    case IR_EFFECT:
        for (size_t k = 0; k < vec_len(l->fn->eff[p->a].arg); k++)
            need(l, l->fn->eff[p->a].arg[k]);
        break;
    default:
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            need(l, ir_operand(p, k));
    }
}

/* Finds parents, and marks effects that can run, with the regions around them. */
static void walk_regions(live *l)
{
    struct {
        ir_val head, outer;
    } frame, *open = NULL; /* vec */
    ir_val cur = -1;
    for (size_t i = 0; i < l->n; i++)
        l->parent[i] = DEAD;
    for (ir_val i = 0; i < (ir_val)l->n; i++) {
        const ir_inst *p = &l->inst[i];
        l->parent[i] = cur;
        switch (p->op) {
        case IR_IF:
        case IR_LOOP: {
            int d = decision(l->fn, l->facts, p->op == IR_IF ? p->a : l->inst[p->a].a);
            frame.head = i;
            frame.outer = cur;
            vec_push(open, frame);
            if (d < 0 || (p->op == IR_LOOP && d == 1))
                cur = i;
            if (p->op == IR_IF && d == 0)
                i = p->b;
            break;
        }
        case IR_ELSE:
            if (decision(l->fn, l->facts, l->inst[p->a].a) == 1)
                i = p->b - 1;
            break;
        case IR_WHILE:
            if (decision(l->fn, l->facts, p->a) == 0)
                i = p->b - 1;
            break;
        case IR_END:
        case IR_ENDLOOP:
            cur = vec_last(open).outer;
            (void)vec_pop(open);
            break;
        case IR_EFFECT:
            need(l, i);
            need_chain(l, cur);
            break;
        default: break;
        }
    }
    vec_free(open);
}

/* Fills in `on`, from outputs and effects backward. */
static void mark_needed(live *l)
{
    walk_regions(l);
    for (size_t i = 0; i < vec_len(l->fn->out); i++) {
        ir_val v = l->fn->out[i].v;
        if (v >= 0 && l->parent[v] == DEAD)
            continue; /* a CACHE value in an arm that cannot run */
        need(l, v);
        if (v >= 0)
            need_chain(l, l->parent[v]);
    }
    while (vec_len(l->work)) {
        ir_val v = vec_pop(l->work);
        if (!(l->facts.state && l->facts.state[v] == IR_FACT_CONST))
            need_operands(l, v);
    }
}

/* What is needed of fn, for live_fini; pre: out, [prelude] or NULL. */
static live live_of(const ir_fn *fn, ir_facts facts, uint8_t *pre)
{
    live l = {.inst = fn->inst, .n = vec_len(fn->inst), .fn = fn, .facts = facts, .pre = pre};
    l.on = vs_calloc(l.n + 1, 1);
    l.parent = vs_malloc((l.n + 1) * sizeof *l.parent);
    assert(l.on && l.parent);
    mark_needed(&l);
    return l;
}

static void live_fini(live *l)
{
    vs_free(l->on);
    vs_free(l->parent);
    vec_free(l->work);
}

/* ---- 2. the rewriter: numbering and substitution ---- */

typedef struct cse_entry {
    ir_val id;
    int32_t next; /* older entry of the bucket, -1 */
    uint32_t bucket;
} cse_entry;
typedef struct undo {
    ir_val id, was;
} undo;
typedef struct frame {
    ir_val head; /* IF or LOOP in `from` */
    ir_val at;   /* the same in the body, -1: straightened */
    size_t cse, undo;
} frame;

typedef struct rewriter {
    const ir_fn *from;
    ir_facts facts;
    bool fold_zero;
    const uint8_t *on;
    ir_fn t;         /* the body; its operands are ids */
    ir_inst *pre;    /* vec */
    map con_id[4];   /* by type */
    ir_val *in_id;   /* [n inputs] */
    ir_val *map;     /* [n from] id of each value */
    ir_val *then_id; /* [n from] of a phi: id of its then value */
    int32_t *bucket;
    uint32_t mask;
    cse_entry *cse;             /* vec, a stack */
    ir_val *sub_body, *sub_pre; /* vecs: what the id is known to be here, or IR_NONE */
    undo *undo;                 /* vec, a stack */
    frame *open;                /* vec */
    ir_val *work;               /* vec */
} rewriter;

/* The instruction of an id. */
static inline ir_inst inst_of(const rewriter *r, ir_val id)
{
    return id >= 0 ? r->t.inst[id] : r->pre[~id - 1];
}

/* Appends a constant or an input to the prelude; returns its id. */
static ir_val add_prelude(rewriter *r, ir_op op, ir_type type, int32_t a)
{
    vec_push(
        r->pre,
        (ir_inst){.op = (uint8_t)op, .type = (uint8_t)type, .a = a, .b = IR_NONE, .c = IR_NONE});
    vec_push(r->sub_pre, IR_NONE);
    return ~(ir_val)vec_len(r->pre);
}

/* The id of a constant, each in the prelude once. */
static ir_val constant(rewriter *r, ir_type type, ir_num v)
{
    int32_t con = ir_con_index(&r->t, ir_con_of_num(type, v));
    ir_val id = map_get(&r->con_id[type], (uint64_t)con, IR_NONE);
    if (id == IR_NONE) {
        id = add_prelude(r, IR_CONST, type, con);
        map_set(&r->con_id[type], (uint64_t)con, id);
    }
    return id;
}

static ir_val con_f(rewriter *r, double x) { return constant(r, IR_F64, (ir_num){.f = x}); }
static ir_val con_i(rewriter *r, int32_t i) { return constant(r, IR_I32, (ir_num){.i = i}); }
static ir_val con_b(rewriter *r, bool b) { return constant(r, IR_BOOL, (ir_num){.i = b}); }

static inline bool is_const(const rewriter *r, ir_val id)
{
    return id < -1 && r->pre[~id - 1].op == IR_CONST;
}
static ir_num const_of(const rewriter *r, ir_val id)
{
    ir_inst p = inst_of(r, id);
    return ir_num_of_con(p.type, r->t.con[p.a]);
}
/* Whether id is the F64 constant x, bit by bit. */
static bool is_f(const rewriter *r, ir_val id, double x)
{
    return is_const(r, id) && ir_num_same(IR_F64, const_of(r, id), (ir_num){.f = x});
}
static bool is_zero_f(const rewriter *r, ir_val id)
{
    return is_const(r, id) && const_of(r, id).f == 0;
}
static bool is_i(const rewriter *r, ir_val id, int32_t i)
{
    return is_const(r, id) && const_of(r, id).i == i;
}

/* What the id is known to be at this place. */
static inline ir_val known_here(const rewriter *r, ir_val id)
{
    ir_val s = id >= 0 ? r->sub_body[id] : r->sub_pre[~id - 1];
    return s == IR_NONE ? id : s;
}

/* The operand `v` of `from` as an id, here. */
static inline ir_val resolve(rewriter *r, ir_val v)
{
    if (r->facts.state && r->facts.state[v] == IR_FACT_CONST)
        return constant(r, r->from->inst[v].type, r->facts.val[v]); /* its place may be skipped */
    assert(r->map[v] != IR_NONE);
    return known_here(r, r->map[v]);
}

/* Appends an instruction to the body; returns its id. */
static ir_val emit(rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    vec_push(r->sub_body, IR_NONE);
    return ir_emit(&r->t, op, type, a, b, c);
}

static uint32_t hash_of(ir_op op, ir_val a, ir_val b, ir_val c)
{
    uint64_t h = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    h += (uint64_t)(uint32_t)c << 8 | (uint64_t)op;
    h *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

/* The id of an instruction that computes the same and is visible here, or IR_NONE. */
static ir_val find_equal(const rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    for (int32_t e = r->bucket[hash_of(op, a, b, c) & r->mask]; e >= 0; e = r->cse[e].next) {
        const ir_inst *p = &r->t.inst[r->cse[e].id];
        if (p->op == op && p->type == type && p->a == a && p->b == b && p->c == c)
            return r->cse[e].id;
    }
    return IR_NONE;
}

/* The id of the operation: of one that computes the same, or of a new instruction. */
static ir_val number(rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    ir_val id = find_equal(r, op, type, a, b, c);
    if (id != IR_NONE)
        return known_here(r, id);
    id = emit(r, op, type, a, b, c);
    uint32_t k = hash_of(op, a, b, c) & r->mask;
    vec_push(r->cse, (cse_entry){.id = id, .next = r->bucket[k], .bucket = k});
    r->bucket[k] = (int32_t)vec_len(r->cse) - 1;
    return id;
}

/* Forgets numbers and substitutions that were made since f. */
static void leave_scope(rewriter *r, const frame *f)
{
    while (vec_len(r->cse) > f->cse) {
        cse_entry e = vec_pop(r->cse);
        r->bucket[e.bucket] = e.next;
    }
    while (vec_len(r->undo) > f->undo) {
        undo u = vec_pop(r->undo);
        *(u.id >= 0 ? &r->sub_body[u.id] : &r->sub_pre[~u.id - 1]) = u.was;
    }
}

/* Uses of `id` become uses of `is` until the region ends. */
static void substitute(rewriter *r, ir_val id, ir_val is)
{
    ir_val *s = id >= 0 ? &r->sub_body[id] : &r->sub_pre[~id - 1];
    vec_push(r->undo, (undo){id, *s});
    *s = is;
}

/* Notes that to the end of the region the BOOL `cond` is `is`, and what follows from that. */
static void assume(rewriter *r, ir_val cond, bool is)
{
    vec_push(r->work, cond);
    vec_push(r->work, is);
    while (vec_len(r->work)) {
        bool v = vec_pop(r->work);
        ir_val id = vec_pop(r->work);
        if (is_const(r, id) || known_here(r, id) != id)
            continue;
        substitute(r, id, con_b(r, v));
        ir_inst p = inst_of(r, id);
        switch (p.op) {
        case IR_BNOT:
            vec_push(r->work, p.a);
            vec_push(r->work, !v);
            break;
        case IR_BAND:
        case IR_BOR:
            if (v == (p.op == IR_BAND)) {
                vec_push(r->work, p.a);
                vec_push(r->work, v);
                vec_push(r->work, p.b);
                vec_push(r->work, v);
            }
            break;
        case IR_IEQ:
        case IR_INE:
            if (v == (p.op == IR_IEQ) && is_const(r, p.b) && !is_const(r, p.a))
                substitute(r, p.a, p.b);
            break;
        case IR_FEQ:
        case IR_FNE: /* not 0: -0.0 is equal to it */
            if (v == (p.op == IR_FEQ) && is_const(r, p.b) && !is_const(r, p.a) &&
                const_of(r, p.b).f != 0 && !isnan(const_of(r, p.b).f))
                substitute(r, p.a, p.b);
            break;
        default: break;
        }
    }
}

/* ---- 3. the rewriter: identities ---- */

static ir_val make(rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c);
static ir_val make1(rewriter *r, ir_op op, ir_val a)
{
    return make(r, op, ir_op_table[op].result, a, IR_NONE, IR_NONE);
}
static ir_val make2(rewriter *r, ir_op op, ir_val a, ir_val b)
{
    return make(r, op, ir_op_table[op].result, a, b, IR_NONE);
}

static bool commutes(ir_op op)
{
    switch (op) {
    case IR_ADD:
    case IR_MUL:
    case IR_FEQ:
    case IR_FNE:
    case IR_IADD:
    case IR_IMUL:
    case IR_IAND:
    case IR_IOR:
    case IR_IXOR:
    case IR_IEQ:
    case IR_INE:
    case IR_BAND:
    case IR_BOR:
    case IR_BXOR: return true;
    default: return false;
    }
}

/* 1/x if x is 2^k or -2^k, |k| < 1000, so that y / x is exactly y times it; else 0. */
static double exact_reciprocal(double x)
{
    int e;
    return fabs(frexp(x, &e)) == 0.5 && e > -1000 && e < 1000 ? 1 / x : 0;
}

/* Whether id is `cond ? k1 : k2` with constants: a SELECT, or b2i, b2f. */
static bool two_constants(rewriter *r, ir_val id, ir_val *cond, ir_num *k1, ir_num *k2)
{
    if (id < 0)
        return false;
    ir_inst p = r->t.inst[id];
    *cond = p.a;
    if (p.op == IR_SELECT && is_const(r, p.b) && is_const(r, p.c)) {
        *k1 = const_of(r, p.b);
        *k2 = const_of(r, p.c);
        return true;
    }
    *k1 = p.op == IR_B2F ? (ir_num){.f = 1} : (ir_num){.i = 1};
    *k2 = p.op == IR_B2F ? (ir_num){.f = 0} : (ir_num){.i = 0};
    return p.op == IR_B2I || p.op == IR_B2F;
}

/* 0 or 1 if the outcome of this comparison is known here, else -1. */
static int known_compare(const rewriter *r, ir_op op, ir_val a, ir_val b)
{
    ir_val id = find_equal(r, op, IR_BOOL, a, b, IR_NONE);
    if (id == IR_NONE || !is_const(r, r->sub_body[id]))
        return -1;
    return const_of(r, r->sub_body[id]).i;
}

/* The simplify functions give the id of something simpler, or IR_NONE. Operands are ids; a constant
 * among operands that may change places is b. */
static ir_val simplify_compare(rewriter *r, ir_op op, ir_val a, ir_val b)
{
    ir_val cond;
    ir_num k1, k2;
    bool left = is_const(r, b) && two_constants(r, a, &cond, &k1, &k2);
    if (left || (is_const(r, a) && two_constants(r, b, &cond, &k1, &k2))) {
        ir_num k = const_of(r, left ? b : a), none = {0};
        bool t = (left ? ir_eval_op(op, k1, k, none) : ir_eval_op(op, k, k1, none)).i;
        bool e = (left ? ir_eval_op(op, k2, k, none) : ir_eval_op(op, k, k2, none)).i;
        return t == e ? con_b(r, t) : t ? cond : make1(r, IR_BNOT, cond);
    }
    switch (op) {
    case IR_FEQ:
    case IR_FNE:
        if (a >= 0 && inst_of(r, a).op == IR_I2F && is_const(r, b)) {
            double k = const_of(r, b).f;
            if (k == floor(k) && k >= INT32_MIN && k <= INT32_MAX)
                return make2(r, op == IR_FEQ ? IR_IEQ : IR_INE, inst_of(r, a).a,
                             con_i(r, (int32_t)k));
            return con_b(r, op == IR_FNE);
        }
        k1.i = known_compare(r, op == IR_FEQ ? IR_FNE : IR_FEQ, a, b);
        return k1.i < 0 ? IR_NONE : con_b(r, !k1.i);
    case IR_IEQ:
    case IR_INE:
        if (a == b)
            return con_b(r, op == IR_IEQ);
        k1.i = known_compare(r, op == IR_IEQ ? IR_INE : IR_IEQ, a, b);
        return k1.i < 0 ? IR_NONE : con_b(r, !k1.i);
    case IR_ILT:
    case IR_ILE:
        if (a == b)
            return con_b(r, op == IR_ILE);
        k1.i = known_compare(r, op == IR_ILT ? IR_ILE : IR_ILT, b, a);
        return k1.i < 0 ? IR_NONE : con_b(r, !k1.i);
    case IR_FLT: /* false if b <= a or b < a; with NaN nothing follows from a false one */
        if (a == b || known_compare(r, IR_FLE, b, a) == 1 || known_compare(r, IR_FLT, b, a) == 1)
            return con_b(r, false);
        return IR_NONE;
    default: /* FLE */
        if (known_compare(r, IR_FLT, b, a) == 1)
            return con_b(r, false);
        if (known_compare(r, IR_FLT, a, b) == 1)
            return con_b(r, true);
        return IR_NONE;
    }
}

/* Long: one case for each operation, with its identities. */
static ir_val simplify_float(rewriter *r, ir_op op, ir_val a, ir_val b)
{
    bool zero = r->fold_zero;
    ir_op oa = inst_of(r, a).op, ob = b == IR_NONE ? IR_CONST : inst_of(r, b).op;
    ir_val na = oa == IR_NEG ? inst_of(r, a).a : IR_NONE;
    ir_val nb = ob == IR_NEG && b != IR_NONE ? inst_of(r, b).a : IR_NONE;
    switch (op) {
    case IR_NEG:
        if (na != IR_NONE)
            return na;
        if (zero && oa == IR_SUB)
            return make2(r, IR_SUB, inst_of(r, a).b, inst_of(r, a).a);
        if (oa == IR_MUL && is_const(r, inst_of(r, a).b))
            return make2(r, IR_MUL, inst_of(r, a).a, con_f(r, -const_of(r, inst_of(r, a).b).f));
        break;
    case IR_ADD:
        if (is_f(r, b, -0.0) || (zero && is_zero_f(r, b)))
            return a;
        if (nb != IR_NONE)
            return make2(r, IR_SUB, a, nb);
        if (na != IR_NONE)
            return make2(r, IR_SUB, b, na);
        break;
    case IR_SUB:
        if (is_f(r, b, 0.0) || (zero && is_zero_f(r, b)))
            return a;
        if (is_f(r, a, -0.0) || (zero && is_zero_f(r, a)))
            return make1(r, IR_NEG, b);
        if (nb != IR_NONE)
            return make2(r, IR_ADD, a, nb);
        break;
    case IR_MUL:
        if (is_f(r, b, 1))
            return a;
        if (is_f(r, b, -1))
            return make1(r, IR_NEG, a);
        if (zero && is_zero_f(r, b))
            return con_f(r, 0);
        if (na != IR_NONE && is_const(r, b))
            return make2(r, IR_MUL, na, con_f(r, -const_of(r, b).f));
        if (na != IR_NONE && nb != IR_NONE)
            return make2(r, IR_MUL, na, nb);
        if (na != IR_NONE || nb != IR_NONE)
            return make1(r, IR_NEG,
                         make2(r, IR_MUL, na != IR_NONE ? na : a, nb != IR_NONE ? nb : b));
        break;
    case IR_DIV:
        if (is_f(r, b, 1))
            return a;
        if (is_const(r, b) && exact_reciprocal(const_of(r, b).f) != 0)
            return make2(r, IR_MUL, a, con_f(r, exact_reciprocal(const_of(r, b).f)));
        if (zero && is_zero_f(r, a))
            return con_f(r, 0);
        if (na != IR_NONE && nb != IR_NONE)
            return make2(r, IR_DIV, na, nb);
        if (na != IR_NONE || nb != IR_NONE)
            return make1(r, IR_NEG,
                         make2(r, IR_DIV, na != IR_NONE ? na : a, nb != IR_NONE ? nb : b));
        break;
    case IR_MIN:
    case IR_MAX:
        if (a == b)
            return a;
        break;
    case IR_ABS:
        if (oa == IR_NEG)
            return make1(r, IR_ABS, na);
        if (oa == IR_ABS)
            return a;
        break;
    case IR_POW:
        if (is_f(r, b, 1))
            return a;
        if (is_zero_f(r, b) || is_f(r, a, 1))
            return con_f(r, 1);
        break;
    default: break;
    }
    return IR_NONE;
}

static ir_val simplify_int(rewriter *r, ir_op op, ir_val a, ir_val b)
{
    ir_op oa = inst_of(r, a).op, ob = b == IR_NONE ? IR_CONST : inst_of(r, b).op;
    switch (op) {
    case IR_INEG:
    case IR_INOT: return oa == op ? inst_of(r, a).a : IR_NONE;
    case IR_ISUB:
        if (a == b)
            return con_i(r, 0);
        /* fall through */
    case IR_IADD:
    case IR_ISHL:
    case IR_ISHR: return is_i(r, b, 0) ? a : IR_NONE;
    case IR_IMUL: return is_i(r, b, 1) ? a : is_i(r, b, 0) ? b : IR_NONE;
    case IR_IDIV: return is_i(r, b, 1) ? a : is_i(r, b, 0) ? b : IR_NONE;
    case IR_IMOD: return is_i(r, b, 1) || is_i(r, b, 0) ? con_i(r, 0) : IR_NONE;
    case IR_IAND:
    case IR_IOR:
    case IR_IXOR:
        if (a == b)
            return op == IR_IXOR ? con_i(r, 0) : a;
        if (is_i(r, b, 0))
            return op == IR_IAND ? b : a;
        if (oa == IR_B2I && ob == IR_B2I) {
            ir_op logic = op == IR_IAND ? IR_BAND : op == IR_IOR ? IR_BOR : IR_BXOR;
            return make1(r, IR_B2I, make2(r, logic, inst_of(r, a).a, inst_of(r, b).a));
        }
        return IR_NONE;
    default: return IR_NONE;
    }
}

static ir_val simplify_bool(rewriter *r, ir_op op, ir_val a, ir_val b)
{
    if (op == IR_BNOT)
        return inst_of(r, a).op == IR_BNOT ? inst_of(r, a).a : IR_NONE;
    bool opposite = (inst_of(r, a).op == IR_BNOT && inst_of(r, a).a == b) ||
                    (inst_of(r, b).op == IR_BNOT && inst_of(r, b).a == a);
    if (a == b)
        return op == IR_BXOR ? con_b(r, false) : a;
    if (opposite)
        return con_b(r, op != IR_BAND);
    if (!is_const(r, b))
        return IR_NONE;
    bool k = const_of(r, b).i;
    if (op == IR_BXOR)
        return k ? make1(r, IR_BNOT, a) : a;
    return k == (op == IR_BAND) ? a : b;
}

static ir_val simplify_convert(rewriter *r, ir_op op, ir_val a)
{
    ir_inst p = inst_of(r, a);
    if (op == IR_I2F && p.op == IR_B2I)
        return make1(r, IR_B2F, p.a);
    if (op == IR_F2I && p.op == IR_I2F)
        return p.a;
    if (op == IR_F2I && p.op == IR_B2F)
        return make1(r, IR_B2I, p.a);
    if (p.op == IR_SELECT && is_const(r, p.b) && is_const(r, p.c)) {
        ir_val x = make1(r, op, p.b), y = make1(r, op, p.c);
        return make(r, IR_SELECT, ir_op_table[op].result, p.a, x, y);
    }
    return IR_NONE;
}

static ir_val simplify_select(rewriter *r, ir_type type, ir_val c, ir_val a, ir_val b)
{
    if (is_const(r, c))
        return const_of(r, c).i ? a : b;
    ir_inst ca = inst_of(r, a), cb = inst_of(r, b);
    if (ca.op == IR_SELECT && ca.a == c)
        return make(r, IR_SELECT, type, c, ca.b, b);
    if (cb.op == IR_SELECT && cb.a == c)
        return make(r, IR_SELECT, type, c, a, cb.c);
    if (a == b)
        return a;
    if (inst_of(r, c).op == IR_BNOT)
        return make(r, IR_SELECT, type, inst_of(r, c).a, b, a);
    if (type != IR_BOOL)
        return IR_NONE;
    bool ka = is_const(r, a), kb = is_const(r, b);
    if (ka && kb)
        return const_of(r, a).i ? c : make1(r, IR_BNOT, c);
    if (a == c || (ka && const_of(r, a).i))
        return make2(r, IR_BOR, c, b);
    if (b == c || (kb && !const_of(r, b).i))
        return make2(r, IR_BAND, c, a);
    if (ka)
        return make2(r, IR_BAND, make1(r, IR_BNOT, c), b);
    if (kb)
        return make2(r, IR_BOR, make1(r, IR_BNOT, c), a);
    return IR_NONE;
}

static ir_val simplify(rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    if (op >= IR_NEG && op <= IR_LOG1P)
        return simplify_float(r, op, a, b);
    if ((op >= IR_FLT && op <= IR_FNE) || (op >= IR_ILT && op <= IR_INE))
        return simplify_compare(r, op, a, b);
    if (op >= IR_INEG && op <= IR_INOT)
        return simplify_int(r, op, a, b);
    if (op >= IR_BAND && op <= IR_BNOT)
        return simplify_bool(r, op, a, b);
    if (op >= IR_I2F && op <= IR_B2F)
        return simplify_convert(r, op, a);
    if (op == IR_SELECT)
        return simplify_select(r, type, a, b, c);
    return IR_NONE;
}

/* The id of a pure operation on ids: folded, simplified or numbered. The rules bound the depth of
 * the recursion through simplify, whatever the function: each removes an operation. */
static ir_val make(rewriter *r, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c)
{
    int n = ir_op_table[op].arity;
    bool folds =
        ir_op_pure(op) && is_const(r, a) && (n < 2 || is_const(r, b)) && (n < 3 || is_const(r, c));
    if (folds) {
        ir_num none = {0};
        return constant(r, type,
                        ir_eval_op(op, const_of(r, a), n > 1 ? const_of(r, b) : none,
                                   n > 2 ? const_of(r, c) : none));
    }
    if (commutes(op) && !is_const(r, b) && (is_const(r, a) || a > b)) {
        ir_val t = a;
        a = b;
        b = t;
    }
    ir_val s = simplify(r, op, type, a, b, c);
    return s != IR_NONE ? known_here(r, s) : number(r, op, type, a, b, c);
}

/* ---- 4. the rewriter: the walk ---- */

/* Whether the value is needed and was not found to be a constant. */
static inline bool wanted(const rewriter *r, ir_val v)
{
    return (r->on[v] & LIVE) && !(r->facts.state && r->facts.state[v] == IR_FACT_CONST);
}

/* 0 or 1 if the condition is known at this place, else -1. */
static int decide(rewriter *r, ir_val cond)
{
    int d = decision(r->from, r->facts, cond);
    if (d >= 0)
        return d;
    ir_val id = r->map[cond];
    if (id == IR_NONE) /* of an IF that nothing needs */
        return -1;
    id = known_here(r, id);
    return is_const(r, id) ? const_of(r, id).i : -1;
}

static void open_frame(rewriter *r, ir_val head, ir_val at)
{
    vec_push(r->open, (frame){head, at, vec_len(r->cse), vec_len(r->undo)});
}

/* Each enter/leave function returns the instruction after which the walk goes on. */
static ir_val enter_if(rewriter *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    int d = decide(r, p->a);
    if (d >= 0) {
        open_frame(r, i, -1);
        return d ? i : p->b;
    }
    if (!(r->on[i] & LIVE))
        return p->c;
    ir_val cond = resolve(r, p->a);
    open_frame(r, i, emit(r, IR_IF, IR_VOID, cond, IR_NONE, IR_NONE));
    assume(r, cond, true);
    return i;
}

/* For each phi i behind the `end` of an IF of `from`. */
#define each_phi(r, i, end)    \
    for (ir_val i = (end) + 1; \
         (size_t)i < vec_len((r)->from->inst) && (r)->from->inst[i].op == IR_PHI; i++)

static ir_val turn_to_else(rewriter *r, ir_val i)
{
    frame f = vec_last(r->open);
    const ir_inst *inst = r->from->inst;
    ir_val end = inst[i].b;
    each_phi(r, k, end) if (wanted(r, k)) * (f.at < 0 ? &r->map[k] : &r->then_id[k]) =
        resolve(r, inst[k].b);
    if (f.at < 0) {
        (void)vec_pop(r->open);
        return end;
    }
    leave_scope(r, &f);
    emit(r, IR_ELSE, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
    assume(r, r->t.inst[f.at].a, false);
    return i;
}

/* Takes back the IF at `at` and its ELSE: both arms came out empty. */
static void drop_empty_if(rewriter *r, ir_val at)
{
    assert((ir_val)vec_len(r->t.inst) == at + 2);
    for (int k = 0; k < 2; k++) {
        (void)vec_pop(r->t.inst);
        (void)vec_pop(r->sub_body);
    }
    (void)vec_pop(r->t.open);
}

static ir_val leave_if(rewriter *r, ir_val i)
{
    frame f = vec_pop(r->open);
    const ir_inst *inst = r->from->inst;
    each_phi(r, k, i) if (wanted(r, k)) r->map[k] =
        resolve(r, inst[k].c); /* for now the else value */
    if (f.at < 0)
        return i;
    leave_scope(r, &f);
    ir_val cond = r->t.inst[f.at].a;
    if ((ir_val)vec_len(r->t.inst) == f.at + 2)
        drop_empty_if(r, f.at);
    else
        emit(r, IR_END, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
    /* First the real phis, which stand right behind END, then those of values from outside. */
    each_phi(r, k, i) if (wanted(r, k) && (r->then_id[k] >= f.at || r->map[k] >= f.at))
    {
        r->map[k] = number(r, IR_PHI, inst[k].type, f.at, r->then_id[k], r->map[k]);
        r->then_id[k] = IR_NONE;
    }
    each_phi(r, k, i) if (wanted(r, k) && r->then_id[k] != IR_NONE) r->map[k] =
        make(r, IR_SELECT, inst[k].type, cond, r->then_id[k], r->map[k]);
    return i;
}

/* An lphi that never changes: it is its first value. */
static bool trivial_lphi(const ir_inst *inst, ir_val k)
{
    return inst[k].c == k || inst[k].c == inst[k].b;
}

static ir_val enter_loop(rewriter *r, ir_val i)
{
    const ir_inst *inst = r->from->inst;
    bool never = decision(r->from, r->facts, inst[inst[i].a].a) == 0;
    if (!never && !(r->on[i] & LIVE))
        return inst[i].b;
    ir_val k = i + 1, at = -1;
    if (!never)
        at = emit(r, IR_LOOP, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
    for (; inst[k].op == IR_LPHI; k++) {
        if (!wanted(r, k))
            continue;
        ir_val init = resolve(r, inst[k].b);
        r->map[k] = never || trivial_lphi(inst, k)
                        ? init
                        : emit(r, IR_LPHI, inst[k].type, at, init, IR_NONE);
    }
    open_frame(r, i, at);
    return k - 1;
}

static ir_val pass_while(rewriter *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    if (vec_last(r->open).at < 0)
        return p->b - 1;
    ir_val cond = resolve(r, p->a);
    emit(r, IR_WHILE, IR_VOID, cond, IR_NONE, IR_NONE);
    assume(r, cond, true);
    return i;
}

static void leave_loop(rewriter *r)
{
    frame f = vec_pop(r->open);
    if (f.at < 0)
        return;
    const ir_inst *inst = r->from->inst;
    for (ir_val k = f.head + 1; inst[k].op == IR_LPHI; k++)
        if (wanted(r, k) && !trivial_lphi(inst, k))
            r->t.inst[r->map[k]].c = resolve(r, inst[k].c);
    leave_scope(r, &f);
    emit(r, IR_ENDLOOP, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
}

static void copy_effect(rewriter *r, const ir_effect *e)
{
    ir_effect to = *e;
    to.arg = NULL;
    for (size_t k = 0; k < vec_len(e->arg); k++)
        vec_push(to.arg, resolve(r, e->arg[k]));
    vec_push(r->sub_body, IR_NONE);
    ir_effect_add(&r->t, to);
}

/* The id of a value of `from` that is neither a marker nor a phi. */
static ir_val rewrite_value(rewriter *r, ir_val i)
{
    const ir_inst *p = &r->from->inst[i];
    int d;
    switch (p->op) {
    case IR_CONST: return constant(r, p->type, ir_num_of_con(p->type, r->from->con[p->a]));
    case IR_IN:
        if (r->in_id[p->a] == IR_NONE)
            r->in_id[p->a] = add_prelude(r, IR_IN, p->type, p->a);
        return r->in_id[p->a];
    case IR_LIMIT: return number(r, IR_LIMIT, IR_F64, resolve(r, p->a), p->b, IR_NONE);
    case IR_SELECT:
        d = decision(r->from, r->facts, p->a);
        if (d >= 0)
            return resolve(r, d ? p->b : p->c);
        /* fall through */
    default: {
        int n = ir_op_table[p->op].arity;
        return make(r, p->op, p->type, resolve(r, p->a), n > 1 ? resolve(r, p->b) : IR_NONE,
                    n > 2 ? resolve(r, p->c) : IR_NONE);
    }
    }
}

/* Writes the body and the outputs. */
static void walk(rewriter *r)
{
    const ir_inst *inst = r->from->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        switch (inst[i].op) {
        case IR_IF: i = enter_if(r, i); break;
        case IR_ELSE: i = turn_to_else(r, i); break;
        case IR_END: i = leave_if(r, i); break;
        case IR_LOOP: i = enter_loop(r, i); break;
        case IR_WHILE: i = pass_while(r, i); break;
        case IR_ENDLOOP: leave_loop(r); break;
        case IR_PHI: break; /* done where the IF ends */
        case IR_EFFECT:
            if (r->on[i] & LIVE)
                copy_effect(r, &r->from->eff[inst[i].a]);
            break;
        default:
            if (wanted(r, i))
                r->map[i] = rewrite_value(r, i);
        }
    }
    for (size_t i = 0; i < vec_len(r->from->out); i++) {
        ir_out o = r->from->out[i];
        bool constant_out = r->facts.state && r->facts.state[o.v] == IR_FACT_CONST;
        if (r->map[o.v] == IR_NONE && !constant_out) {
            assert(o.kind == IR_OUT_CACHE);
            continue;
        }
        o.v = resolve(r, o.v);
        vec_push(r->t.out, o);
    }
}

static rewriter rewriter_of(const ir_fn *from, ir_opt_flags flags, ir_facts facts,
                            const uint8_t *on)
{
    rewriter r = {.from = from, .facts = facts, .fold_zero = flags.fold_zero, .on = on};
    size_t n = vec_len(from->inst), cap = 64;
    ir_fn_init(&r.t, from->name);
    while (cap < 2 * n)
        cap *= 2;
    r.mask = (uint32_t)cap - 1;
    r.bucket = vs_malloc(cap * sizeof *r.bucket);
    r.map = vs_malloc((n + 1) * sizeof *r.map);
    r.then_id = vs_malloc((n + 1) * sizeof *r.then_id);
    r.in_id = vs_malloc((vec_len(from->in) + 1) * sizeof *r.in_id);
    assert(r.bucket && r.map && r.then_id && r.in_id);
    memset(r.bucket, 0xff, cap * sizeof *r.bucket);
    memset(r.map, 0xff, n * sizeof *r.map); /* IR_NONE */
    memset(r.then_id, 0xff, n * sizeof *r.then_id);
    memset(r.in_id, 0xff, vec_len(from->in) * sizeof *r.in_id);
    return r;
}

static void rewriter_fini(rewriter *r)
{
    ir_fn_fini(&r->t);
    vec_free(r->pre);
    for (int k = 0; k < 4; k++)
        map_free(&r->con_id[k]);
    vs_free(r->in_id);
    vs_free(r->map);
    vs_free(r->then_id);
    vs_free(r->bucket);
    vec_free(r->cse);
    vec_free(r->sub_body);
    vec_free(r->sub_pre);
    vec_free(r->undo);
    vec_free(r->open);
    vec_free(r->work);
}

/* ---- 5. the result ---- */

typedef struct result {
    ir_fn *to;
    const rewriter *r;
    ir_val *body, *pre; /* new value of each id */
} result;

/* The value of an id in the result. */
static ir_val final(const result *f, ir_val id) { return id >= 0 ? f->body[id] : f->pre[~id - 1]; }

/* Marks IFs with nothing needed in their arms: their phis become selects. */
static void find_empty_ifs(const ir_fn *t, uint8_t *on)
{
    size_t n = vec_len(t->inst);
    int32_t *before = vs_malloc((n + 1) * sizeof *before); /* needed instructions before i */
    assert(before);
    before[0] = 0;
    for (size_t i = 0; i < n; i++)
        before[i + 1] = before[i] + ((on[i] & LIVE) != 0);
    for (size_t i = 0; i < n; i++) {
        const ir_inst *p = &t->inst[i];
        if (p->op == IR_IF && (on[i] & LIVE) && before[p->c] == before[i + 1])
            on[i] |= TO_SELECT;
    }
    vs_free(before);
}

/* Constants and inputs that are needed, to the head; inputs in the order of from->in. */
static void copy_prelude(result *f, const uint8_t *needed)
{
    const rewriter *r = f->r;
    for (size_t k = 0; k < vec_len(r->from->in); k++) {
        ir_val id = r->in_id[k];
        if (id == IR_NONE || !needed[~id - 1])
            continue;
        ir_input in = r->from->in[k];
        f->pre[~id - 1] = ir_in(f->to, in.kind, in.k, in.type, in.inst);
    }
    for (size_t k = 0; k < vec_len(r->pre); k++)
        if (needed[k] && r->pre[k].op == IR_CONST)
            f->pre[k] = ir_emit(f->to, IR_CONST, r->pre[k].type,
                                ir_con_index(f->to, r->t.con[r->pre[k].a]), IR_NONE, IR_NONE);
}

static void copy_inst(result *f, const uint8_t *on, ir_val i)
{
    const ir_inst *inst = f->r->t.inst, *p = &inst[i];
    ir_fn *to = f->to;
    ir_val x[3] = {IR_NONE, IR_NONE, IR_NONE};
    switch (p->op) {
    case IR_ELSE:
    case IR_END:
        if ((on[p->a] & LIVE) && !(on[p->a] & TO_SELECT))
            ir_emit(to, p->op, IR_VOID, IR_NONE, IR_NONE, IR_NONE);
        return;
    case IR_WHILE:
        if (on[p->c] & LIVE)
            ir_while(to, final(f, p->a));
        return;
    case IR_ENDLOOP:
        if (!(on[p->a] & LIVE))
            return;
        for (ir_val k = p->a + 1; inst[k].op == IR_LPHI; k++)
            if (on[k] & LIVE)
                to->inst[f->body[k]].c = final(f, inst[k].c);
        ir_endloop(to);
        return;
    default: break;
    }
    if (!(on[i] & LIVE) || (on[i] & TO_SELECT))
        return;
    switch (p->op) {
    case IR_PHI:
        f->body[i] = on[p->a] & TO_SELECT ? ir_emit(to, IR_SELECT, p->type, final(f, inst[p->a].a),
                                                    final(f, p->b), final(f, p->c))
                                          : ir_emit(to, IR_PHI, p->type, f->body[p->a],
                                                    final(f, p->b), final(f, p->c));
        return;
    case IR_LPHI:
        f->body[i] = ir_emit(to, IR_LPHI, p->type, f->body[p->a], final(f, p->b), IR_NONE);
        return;
    case IR_LIMIT:
        f->body[i] = ir_emit(to, IR_LIMIT, IR_F64, final(f, p->a), p->b, IR_NONE);
        return;
    case IR_EFFECT: {
        ir_effect e = f->r->t.eff[p->a];
        ir_val *arg = NULL;
        for (size_t k = 0; k < vec_len(e.arg); k++)
            vec_push(arg, final(f, e.arg[k]));
        e.arg = arg;
        ir_effect_add(to, e);
        return;
    }
    default:
        for (int k = 0; k < ir_op_table[p->op].arity; k++)
            x[k] = final(f, ir_operand(p, k));
        f->body[i] = ir_emit(to, p->op, p->type, x[0], x[1], x[2]);
    }
}

/* Initialises `to` with what is needed of the body. */
static void copy_needed(ir_fn *to, const rewriter *r)
{
    size_t n = vec_len(r->t.inst), np = vec_len(r->pre);
    uint8_t *pre_needed = vs_calloc(np + 1, 1);
    result f = {.to = to,
                .r = r,
                .body = vs_malloc((n + 1) * sizeof(ir_val)),
                .pre = vs_malloc((np + 1) * sizeof(ir_val))};
    assert(pre_needed && f.body && f.pre);
    live l = live_of(&r->t, (ir_facts){0}, pre_needed);
    find_empty_ifs(&r->t, l.on);
    ir_fn_init(to, r->from->name);
    vec_reserve(to->inst, n + np);
    copy_prelude(&f, pre_needed);
    for (size_t i = 0; i < n; i++)
        copy_inst(&f, l.on, (ir_val)i);
    for (size_t i = 0; i < vec_len(r->t.out); i++) {
        ir_out o = r->t.out[i];
        ir_out_add(to, o.kind, o.a, o.b, final(&f, o.v));
    }
    live_fini(&l);
    vs_free(pre_needed);
    vs_free(f.body);
    vs_free(f.pre);
}

/* One round; initialises `to`. */
static void rewrite_once(ir_fn *to, const ir_fn *from, ir_opt_flags flags, ir_facts facts)
{
    live l = live_of(from, facts, NULL);
    rewriter r = rewriter_of(from, flags, facts, l.on);
    walk(&r);
    assert(!vec_len(r.open));
    copy_needed(to, &r);
    rewriter_fini(&r);
    live_fini(&l);
}

void ir_rewrite(ir_fn *to, const ir_fn *from, ir_opt_flags flags, ir_facts facts)
{
    enum { MAX_REWRITES = 5 };
    rewrite_once(to, from, flags, facts);
    for (int k = 1; k < MAX_REWRITES && !flags.once; k++) {
        ir_fn next;
        rewrite_once(&next, to, flags, (ir_facts){0});
        bool smaller = vec_len(next.inst) < vec_len(to->inst);
        ir_fn_fini(to);
        *to = next;
        if (!smaller)
            break;
    }
}

void ir_opt(ir_fn *to, const ir_fn *from, ir_opt_flags flags)
{
    ir_rewrite(to, from, flags, (ir_facts){0});
}
