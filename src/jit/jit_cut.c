/* jit_cut.c - a long kernel in pieces that fit the processor's instruction cache.
 * Use:    jit_cut_init, read the fields, jit_cut_fini (jit_priv.h).
 * Method: straight code of a hundred kilobytes runs no faster than instructions come from the
 *         second-level cache, and what the processor sees ahead belongs to one pack. A piece is run
 *         for several packs before the next one: it is fetched once for them, and the start of a
 *         pack runs beside the end of the one before. Values that later pieces need wait in memory.
 *         Cuts are where few values wait: the sum over all cuts is least among the ways to have no
 *         piece above the limit (one walk, best way to each place from those within a piece before
 *         it). Constants and setup values do not wait; they are loaded anew. Results do not depend
 *         on cuts or order. */
#include "jit_priv.h"

#include <limits.h>

/* Instructions of a processor with wide registers that an operation becomes, roughly. */
static int weight_of(ir_op op)
{
    switch (op) {
    case IR_CONST:
    case IR_IN:
    case IR_LIMIT: return 0;
    case IR_EXP:
    case IR_EXPM1: return 40;
    case IR_LN:
    case IR_LOG1P:
    case IR_LOG10: return 50;
    case IR_SINH:
    case IR_COSH:
    case IR_TANH:
    case IR_SIN:
    case IR_COS:
    case IR_ATAN: return 70;
    case IR_POW: return 150;
    case IR_TAN:
    case IR_ASIN:
    case IR_ACOS:
    case IR_ATAN2:
    case IR_ASINH:
    case IR_ACOSH:
    case IR_ATANH:
    case IR_HYPOT:
    case IR_FMOD:
    case IR_IDIV:
    case IR_IMOD: return 40; /* calls, or lane by lane */
    default: return 2;
    }
}

int jit_operands(const ir_fn *fn, const uint8_t *fused, ir_val k, ir_val v[4])
{
    const ir_inst *p = &fn->inst[k];
    const bool phi = p->op == IR_PHI || p->op == IR_LPHI;
    const ir_val at[3] = {phi ? p->b : p->a, phi ? p->c : p->b, phi ? IR_NONE : p->c};
    int n = 0;
    if (p->op == IR_MUL && fused[k])
        return 0; /* computed where its sum is */
    for (int i = 0; i < ir_op_arity(p->op); i++) {
        const bool product = fused[k] && i == fused[k] - 1;
        if (product)
            v[n++] = fn->inst[at[i]].a;
        v[n++] = product ? fn->inst[at[i]].b : at[i];
    }
    return n;
}

/* -- fused multiply-add -- */

/* How often each value is used, up to 2. */
static void count_uses(const ir_fn *fn, uint8_t *uses)
{
    for (size_t k = 0; k < vec_len(fn->inst); k++) {
        const ir_inst *p = &fn->inst[k];
        const bool phi = p->op == IR_PHI || p->op == IR_LPHI;
        const ir_val v[3] = {phi ? p->b : p->a, phi ? p->c : p->b, phi ? IR_NONE : p->c};
        for (int i = 0; i < ir_op_arity(p->op); i++)
            uses[v[i]] += uses[v[i]] < 2;
    }
    for (size_t o = 0; o < vec_len(fn->out); o++)
        uses[fn->out[o].v] = 2;
}

/* A product that one sum in the same region uses, and nothing else, is computed with the sum. In a
 * difference of two products none is: there ab - ba must be 0. */
static void find_fused(const ir_fn *fn, uint8_t *fused)
{
    const ir_inst *inst = fn->inst;
    const size_t n = vec_len(inst);
    uint8_t *uses = NULL;
    int32_t *place = NULL, n_place = 0, here = 0; /* vec: number of the region or arm, or of the */
    int32_t *outer = NULL;                        /* stretch between markers of loops; vec */
    vec_extend(uses, n + 1);
    vec_extend(place, n + 1);
    count_uses(fn, uses);
    for (size_t k = 0; k < n; k++) {
        const ir_inst *p = &inst[k];
        if (p->op == IR_IF)
            vec_push(outer, here);
        if (p->op >= IR_IF && p->op != IR_PHI)
            here = p->op == IR_END ? vec_pop(outer) : ++n_place;
        place[k] = here;
        if (p->op != IR_ADD && p->op != IR_SUB)
            continue;
        const bool a = inst[p->a].op == IR_MUL && uses[p->a] == 1 && place[p->a] == here;
        const bool b = inst[p->b].op == IR_MUL && uses[p->b] == 1 && place[p->b] == here;
        const bool two = inst[p->a].op == IR_MUL && inst[p->b].op == IR_MUL;
        if ((!a && !b) || (two && p->op == IR_SUB))
            continue;
        fused[k] = b ? 2 : 1;
        fused[b ? p->b : p->a] = 1;
    }
    vec_free(uses);
    vec_free(place);
    vec_free(outer);
}

/* -- where to cut -- */

typedef struct cutter {
    const ir_fn *fn;
    const jit_cut *cut; /* order and fused */
    ir_val n;
    int limit;     /* weight of a piece */
    ir_val *place; /* [n] of a value in the order */
    ir_val *last;  /* [n] place of the last instruction that reads a value, or IR_NONE */
    ir_val *first; /* [n] of the first one */
    int32_t *live; /* [n + 1] values that would wait if the cut were before that place */
    bool *whole;   /* [n + 1] no cut before that place: inside a region, or phis follow */
    int64_t *sum;  /* [n + 1] weight before that place */
} cutter;

/* A value that waits in memory between its piece and later ones. */
static bool can_wait(const cutter *c, ir_val k)
{
    const ir_inst *p = &c->fn->inst[k];
    if (p->op == IR_IN)
        return c->fn->in[p->a].kind == IR_IN_PROBE;
    return p->type != IR_VOID && p->op != IR_CONST;
}

static void find_readers(cutter *c)
{
    int depth = 0;
    ir_val v[4];
    for (ir_val k = 0; k < c->n; k++)
        c->first[k] = c->last[k] = IR_NONE;
    for (ir_val i = 0; i < c->n; i++) {
        const ir_val k = c->cut->order[i];
        const ir_op op = c->fn->inst[k].op;
        c->place[k] = i;
        for (int a = 0, m = jit_operands(c->fn, c->cut->fused, k, v); a < m; a++) {
            c->first[v[a]] = c->first[v[a]] == IR_NONE ? i : c->first[v[a]];
            c->last[v[a]] = i;
        }
        c->whole[i] = depth > 0 || op == IR_PHI || op == IR_LPHI;
        depth += (op == IR_IF || op == IR_LOOP) - (op == IR_END || op == IR_ENDLOOP);
    }
}

static void count_live(cutter *c)
{
    for (ir_val k = 0; k < c->n; k++) { /* differences, then their sums */
        const ir_val from = c->fn->inst[k].op == IR_IN ? c->first[k] : c->place[k];
        if (c->last[k] <= from ||
            !can_wait(c, k)) /* not read, or only in the next round of its loop */
            continue;
        c->live[from + 1]++;
        c->live[c->last[k] + 1]--;
    }
    for (ir_val i = 1; i <= c->n; i++)
        c->live[i] += c->live[i - 1];
}

/* The best place before i from which a piece can reach to i; a stretch that must not be cut is a
 * piece, however long. */
static ir_val best_before(const cutter *c, const int64_t *cost, ir_val i)
{
    ir_val best = IR_NONE;
    for (ir_val b = i - 1; b >= 0; b--) {
        const bool too_large = c->sum[i] - c->sum[b] > c->limit;
        if (c->whole[b])
            continue;
        if (best != IR_NONE && too_large)
            break;
        if (best == IR_NONE || cost[b] < cost[best])
            best = b;
        if (too_large)
            break;
    }
    return best;
}

static void add_weights(cutter *c)
{
    for (ir_val i = 0; i < c->n; i++) {
        const ir_val k = c->cut->order[i];
        const ir_op op = c->fn->inst[k].op;
        c->sum[i + 1] = c->sum[i] + (op == IR_MUL && c->cut->fused[k] ? 0 : weight_of(op));
    }
}

/* cost[i]: values that wait, over all cuts up to one before i; from[i]: where the one before that
 * is. */
static void choose_cuts(const cutter *c, ir_val **begin)
{
    enum { PIECE_COST = 20 }; /* what the head of a piece costs, in values that wait */
    int64_t *cost = NULL;
    ir_val *from = NULL, *back = NULL;
    vec_extend(cost, c->n + 1);
    vec_extend(from, c->n + 1);
    for (ir_val i = 1; i <= c->n && c->sum[c->n] > c->limit; i++) {
        if (c->whole[i])
            continue;
        from[i] = best_before(c, cost, i);
        cost[i] = cost[from[i]] + c->live[i] + PIECE_COST;
    }
    vec_push(back, c->n);
    for (ir_val i = c->n; i > 0 && from[i] > 0; i = from[i])
        vec_push(back, from[i]);
    vec_push(*begin, 0);
    while (vec_len(back))
        vec_push(*begin, vec_pop(back));
    vec_free(back);
    vec_free(cost);
    vec_free(from);
}

/* Objects of their own, of as many pieces each; small ones would only cost what LLVM needs to
 * begin. */
static void choose_objects(const cutter *c, jit_cut *cut)
{
    enum { OBJECT = 4000, MOST = 64 };
    const int64_t n = c->sum[c->n] / OBJECT, most = cut->n_piece < MOST ? cut->n_piece : MOST;
    cut->n_object = (int32_t)(n < 1 ? 1 : n > most ? most : n);
    for (int32_t q = 0; q <= cut->n_object; q++)
        vec_push(cut->object, (int32_t)((int64_t)q * cut->n_piece / cut->n_object));
}

/* -- who waits where -- */

static void find_homes(const cutter *c, jit_cut *cut)
{
    int32_t *piece = NULL; /* [n] of a place */
    vec_extend(piece, c->n + 1);
    for (int32_t p = 0; p < cut->n_piece; p++)
        for (ir_val i = cut->begin[p]; i < cut->begin[p + 1]; i++)
            piece[i] = p;
    for (ir_val k = 0; k < c->n; k++) {
        const bool probe = c->fn->inst[k].op == IR_IN && can_wait(c, k) && c->first[k] != IR_NONE;
        cut->home[k] = piece[probe ? c->first[k] : c->place[k]];
        cut->slot[k] = c->last[k] == IR_NONE || !can_wait(c, k) ? -1 : piece[c->last[k]];
    }
    vec_free(piece);
}

/* slot[k] of a value holds the last piece that reads it, or -1, and gets its place in memory. A
 * place serves another value from the piece on that comes after its last reader's. */
static void give_slots(const cutter *c, jit_cut *cut)
{
    int32_t *busy = NULL; /* vec: last piece that reads a slot */
    for (int32_t p = 0; p < cut->n_piece; p++) {
        size_t s = 0;
        for (ir_val k = 0; k < c->n; k++) {
            if (cut->home[k] != p)
                continue;
            if (cut->slot[k] <= p) {
                cut->slot[k] = -1;
                continue;
            }
            while (s < vec_len(busy) && busy[s] >= p)
                s++;
            if (s == vec_len(busy))
                vec_push(busy, 0);
            busy[s] = cut->slot[k];
            cut->slot[k] = (int32_t)s++;
        }
    }
    cut->n_slot = (int32_t)vec_len(busy);
    vec_free(busy);
}

enum { MOST_SLOTS = 4096 };

void jit_cut_init(jit_cut *cut, const ir_fn *fn, jit_cut_opt opt)
{
    cutter c = {.fn = fn,
                .cut = cut,
                .n = (ir_val)vec_len(fn->inst),
                .limit = opt.limit > 0 ? opt.limit : INT_MAX};
    *cut = (jit_cut){.one_pack = opt.one_pack};
    vec_extend(cut->fused, c.n + 1);
    vec_extend(cut->home, c.n + 1);
    vec_extend(cut->slot, c.n + 1);
    vec_extend(c.place, c.n + 1);
    vec_extend(c.last, c.n + 1);
    vec_extend(c.first, c.n + 1);
    vec_extend(c.live, c.n + 2);
    vec_extend(c.whole, c.n + 1);
    vec_extend(c.sum, c.n + 1);
    if (opt.fuse)
        find_fused(fn, cut->fused);
    if (opt.interleave)
        jit_order(&cut->order, fn, cut->fused, opt.one_pack);
    else
        for (ir_val k = 0; k < c.n; k++)
            vec_push(cut->order, k);
    find_readers(&c);
    count_live(&c);
    add_weights(&c);
    choose_cuts(&c, &cut->begin);
    cut->n_piece = (int32_t)vec_len(cut->begin) - 1;
    choose_objects(&c, cut);
    find_homes(&c, cut);
    give_slots(&c, cut);
    if (cut->n_slot > MOST_SLOTS) { /* they are memory of the stack */
        jit_cut_fini(cut);
        opt.limit = 0;
        jit_cut_init(cut, fn, opt);
    }
    vec_free(c.place);
    vec_free(c.last);
    vec_free(c.first);
    vec_free(c.live);
    vec_free(c.whole);
    vec_free(c.sum);
}

void jit_cut_fini(jit_cut *cut)
{
    vec_free(cut->order);
    vec_free(cut->begin);
    vec_free(cut->object);
    vec_free(cut->fused);
    vec_free(cut->home);
    vec_free(cut->slot);
}
