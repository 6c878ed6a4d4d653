/* ir_ad.c - forward automatic differentiation. Only derivatives that are not 0 for certain and that
 * a wanted one needs become code.
 * Requires: nothing.  Keeps: inputs and their indices, outputs.  Breaks: small, head.
 * Method: 1. dep: forward, the seeds that each value depends on, as bit sets; a loop is walked
 *            again until its sets no longer grow;
 *         2. need: backward from the wanted values, the seeds by which the derivative of each value
 *            is needed, a part of its dep;
 *         3. one walk copies the function; behind each copy it appends the needed derivatives.
 * Rules:  dv = sum_k (dv/da_k) da_k over the operands a_k of v, for each seed; dv/da_k from
 *         ir_slope.c. A phi's derivative is the phi of the derivatives; an lphi's an lphi.
 *         At v = x/d all seeds share r = 1/d: dv = (dx - v dd) r; the value itself stays x/d.
 * Codes:  a derivative that is 0, 1 or -1 for certain is a code (ir_slope in ir_priv.h), not an
 *         instruction.
 * Source: Griewank & Walther, "Evaluating derivatives", 2nd ed., 2008, ch. 3, and ch. 7 (sparse).
 */
#include "bits.h"
#include "ir_priv.h"

#include <string.h>

enum { ZERO = IR_SLOPE_ZERO, ONE = IR_SLOPE_ONE, MINUS_ONE = IR_SLOPE_MINUS_ONE };

typedef struct ad {
    const ir_fn *from;
    ir_fn *to;
    const int32_t *seed; /* [n_seed] as ir_ad has it */
    int n_seed;
    size_t words;         /* of the bit set of one value */
    uint64_t *dep, *need; /* [n * words] bit k: seed k */
    int32_t *off;         /* [n] place in d of a value's first derivative */
    ir_val *d;            /* values of `to` or codes, one for each bit of need, seeds rising */
    ir_val *map;          /* [n] copies in `to` */
    ir_slope k;
} ad;

/* ---- 1, 2. sets ---- */

static inline uint64_t *set_of(const ad *s, uint64_t *sets, ir_val v)
{
    return sets + (size_t)v * s->words;
}

/* to |= from & mask; true if it grew. */
static bool join(const ad *s, uint64_t *to, const uint64_t *from, const uint64_t *mask)
{
    uint64_t grown = 0;
    for (size_t w = 0; w < s->words; w++) {
        uint64_t add = from[w] & mask[w] & ~to[w];
        to[w] |= add;
        grown |= add;
    }
    return grown != 0;
}

/* Whether the set has a seed. */
static bool any(const ad *s, const uint64_t *set)
{
    uint64_t x = 0;
    for (size_t w = 0; w < s->words; w++)
        x |= set[w];
    return x != 0;
}

/* v is an input or a LIMIT: notes the seeds that stand for it, those equal to `what`. */
static void set_seed(ad *s, ir_val v, int32_t what)
{
    for (int k = 0; k < s->n_seed; k++)
        if (s->seed[k] == what)
            bits_set(set_of(s, s->dep, v), (size_t)k);
}

/* Fills in dep. Sets only grow, so that a loop is walked at most once for each seed of each lphi
 * and once more. */
static void find_dep(ad *s)
{
    const ir_inst *inst = s->from->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        if (p->op == IR_IN && p->type == IR_F64) {
            set_seed(s, i, p->a);
        } else if (p->op == IR_LIMIT) {
            set_seed(s, i, ~p->b);
        } else if (p->op == IR_LPHI) {
            bits_or(set_of(s, s->dep, i), set_of(s, s->dep, p->b), s->words);
        } else if (p->op == IR_ENDLOOP) {
            bool grown = false;
            for (ir_val k = p->a + 1; inst[k].op == IR_LPHI; k++)
                grown |= bits_or(set_of(s, s->dep, k), set_of(s, s->dep, inst[k].c), s->words);
            if (grown)
                i = p->a;
        } else if (ir_carries_slope(p)) {
            for (int k = 0; k < ir_op_table[p->op].arity; k++)
                bits_or(set_of(s, s->dep, i), set_of(s, s->dep, ir_operand(p, k)), s->words);
        }
    }
}

/* Needs of x what `user` is needed by and x depends on; true: its set grew. */
static bool need_of_operand(ad *s, ir_val user, ir_val x)
{
    return join(s, set_of(s, s->need, x), set_of(s, s->need, user), set_of(s, s->dep, x));
}

/* Fills in need, from the wanted values backward. */
static void find_need(ad *s, const ir_val *want, int n_want)
{
    const ir_inst *inst = s->from->inst;
    for (int k = 0; k < n_want; k++)
        bits_or(set_of(s, s->need, want[k]), set_of(s, s->dep, want[k]), s->words);
    for (ir_val i = (ir_val)vec_len(inst) - 1; i >= 0; i--) {
        const ir_inst *p = &inst[i];
        if (p->op == IR_LOOP) {
            bool grown = false;
            for (ir_val k = i + 1; inst[k].op == IR_LPHI; k++)
                grown |= need_of_operand(s, k, inst[k].c);
            if (grown)
                i = p->b;
        } else if (p->op == IR_LPHI) {
            need_of_operand(s, i, p->b);
        } else if (ir_carries_slope(p)) {
            for (int k = 0; k < ir_op_table[p->op].arity; k++)
                need_of_operand(s, i, ir_operand(p, k));
        }
    }
}

/* Place in d of the derivative of v by a seed; -1: nothing needs it, or it is 0. */
static int32_t place(const ad *s, ir_val v, int seed)
{
    const uint64_t *set = set_of(s, s->need, v);
    size_t w = (size_t)seed >> 6;
    uint64_t bit = (uint64_t)1 << (seed & 63);
    if (!(set[w] & bit))
        return -1;
    int32_t k = s->off[v];
    for (size_t j = 0; j < w; j++)
        k += __builtin_popcountll(set[j]);
    return k + __builtin_popcountll(set[w] & (bit - 1));
}

/* The derivative of v by a seed, a value of `to` or a code. */
static ir_val get(const ad *s, ir_val v, int seed)
{
    int32_t k = place(s, v, seed);
    return k < 0 ? ZERO : s->d[k];
}

/* For each seed k by which the derivative of v is needed. */
#define each_seed(s, v, k)                \
    for (int k = 0; k < (s)->n_seed; k++) \
        if (bits_get(set_of((s), (s)->need, (v)), (size_t)k))

/* ---- arithmetic on derivatives: values of `to` or codes; an instruction is appended only where no
 * code says the result ---- */

static ir_val un(ad *s, ir_op op, ir_val a) { return ir_un(s->to, op, a); }
static ir_val bin(ad *s, ir_op op, ir_val a, ir_val b) { return ir_bin(s->to, op, a, b); }

/* The value of `to` that a derivative is, of a code the constant. */
static ir_val value_of(const ad *s, ir_val code) { return ir_slope_value(&s->k, code); }

static ir_val d_neg(ad *s, ir_val x)
{
    return x == ZERO ? ZERO : x == ONE ? MINUS_ONE : x == MINUS_ONE ? ONE : un(s, IR_NEG, x);
}

static ir_val d_add(ad *s, ir_val x, ir_val y)
{
    if (x == ZERO || y == ZERO)
        return x == ZERO ? y : x;
    if ((x == ONE && y == MINUS_ONE) || (x == MINUS_ONE && y == ONE))
        return ZERO;
    return bin(s, IR_ADD, value_of(s, x), value_of(s, y));
}

static ir_val d_sub(ad *s, ir_val x, ir_val y)
{
    if (y == ZERO)
        return x;
    if (x == ZERO || y == MINUS_ONE)
        return d_add(s, x, d_neg(s, y));
    if (x == y)
        return ZERO;
    return bin(s, IR_SUB, value_of(s, x), value_of(s, y));
}

static ir_val d_mul(ad *s, ir_val x, ir_val y)
{
    if (x == ZERO || y == ZERO)
        return ZERO;
    if (x < 0 || y < 0) {
        ir_val code = x < 0 ? x : y, other = x < 0 ? y : x;
        return code == ONE ? other : d_neg(s, other);
    }
    return bin(s, IR_MUL, x, y);
}

static ir_val d_select(ad *s, ir_val cond, ir_val x, ir_val y)
{
    return x == y ? x : ir_select(s->to, cond, value_of(s, x), value_of(s, y));
}

/* ---- derivatives of one instruction i, by all seeds that are needed; s->map has its copy ---- */

static void set(ad *s, ir_val i, int seed, ir_val code) { s->d[place(s, i, seed)] = code; }

/* v(a): dv = v'(a) da. */
static void chain_unary(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    const ir_val part = ir_slope_of(&s->k, p->op, s->map[p->a], s->map[i]);
    each_seed(s, i, k) set(s, i, k, d_mul(s, part, get(s, p->a, k)));
}

/* Whether a needed derivative of i has a term of its operand x. */
static bool goes_through(const ad *s, ir_val i, ir_val x)
{
    const uint64_t *need = set_of(s, s->need, i), *dep = set_of(s, s->dep, x);
    for (size_t w = 0; w < s->words; w++)
        if (need[w] & dep[w])
            return true;
    return false;
}

/* v(a, b) of pow, hypot, atan2, fmod: dv = (dv/da) da + (dv/db) db. */
static void chain_binary(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val pa = ZERO, pb = ZERO;
    ir_slopes_of(&s->k, s->from, i, s->map, goes_through(s, i, p->a) ? &pa : NULL,
                 goes_through(s, i, p->b) ? &pb : NULL);
    each_seed(s, i, k)
    {
        ir_val da = d_mul(s, pa, get(s, p->a, k)), db = d_mul(s, pb, get(s, p->b, k));
        set(s, i, k, d_add(s, da, db));
    }
}

/* v = a/b: dv = (da - v db) r with r = 1/b; with da = 0 that is -(v r) db, and v r is shared. */
static void chain_div(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val r = ir_bin(s->to, IR_DIV, s->k.one, s->map[p->b]), q = ZERO; /* q = -v r */
    each_seed(s, i, k)
    {
        ir_val da = get(s, p->a, k), db = get(s, p->b, k), d;
        if (db == ZERO) {
            d = d_mul(s, da, r);
        } else if (da == ZERO) {
            if (q == ZERO)
                q = un(s, IR_NEG, bin(s, IR_MUL, s->map[i], r));
            d = d_mul(s, q, db);
        } else {
            d = d_mul(s, d_sub(s, da, d_mul(s, s->map[i], db)), r);
        }
        set(s, i, k, d);
    }
}

/* v = a b: dv = da b + a db; of a square da (a + a). */
static void chain_mul(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val a = s->map[p->a], b = s->map[p->b];
    ir_val twice = p->a == p->b ? bin(s, IR_ADD, a, a) : ZERO;
    each_seed(s, i, k)
    {
        ir_val x = d_mul(s, get(s, p->a, k), twice != ZERO ? twice : b);
        ir_val y = twice != ZERO ? ZERO : d_mul(s, a, get(s, p->b, k));
        set(s, i, k, d_add(s, x, y));
    }
}

/* min, max and select: the derivative of the side that is taken. On a tie min and max take their
 * second operand, as ir_eval_op does. */
static void chain_choice(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val cond, x = p->a, y = p->b;
    if (p->op == IR_SELECT) {
        cond = s->map[p->a];
        x = p->b;
        y = p->c;
    } else if (p->op == IR_MIN) {
        cond = bin(s, IR_FLT, s->map[x], s->map[y]);
    } else {
        cond = bin(s, IR_FLT, s->map[y], s->map[x]);
    }
    each_seed(s, i, k) set(s, i, k, d_select(s, cond, get(s, x, k), get(s, y, k)));
}

/* Appends the needed derivatives of i and notes them in d. An lphi's get their next values at the
 * end of the loop (close_loop). */
static void derive(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    switch (p->op) {
    case IR_IN:
    case IR_LIMIT: each_seed(s, i, k) set(s, i, k, ONE); break;
    case IR_ADD: each_seed(s, i, k) set(s, i, k, d_add(s, get(s, p->a, k), get(s, p->b, k))); break;
    case IR_SUB: each_seed(s, i, k) set(s, i, k, d_sub(s, get(s, p->a, k), get(s, p->b, k))); break;
    case IR_MUL: chain_mul(s, i); break;
    case IR_DIV: chain_div(s, i); break;
    case IR_MIN:
    case IR_MAX:
    case IR_SELECT: chain_choice(s, i); break;
    case IR_PHI:
        each_seed(s, i, k)
        {
            ir_val x = get(s, p->b, k), y = get(s, p->c, k);
            set(s, i, k,
                x == y && x < 0
                    ? x
                    : ir_emit(s->to, IR_PHI, IR_F64, s->map[p->a], value_of(s, x), value_of(s, y)));
        }
        break;
    case IR_LPHI:
        each_seed(s, i, k) set(s, i, k, ir_lphi(s->to, s->map[p->a], value_of(s, get(s, p->b, k))));
        break;
    default:
        if (ir_op_table[p->op].arity == 1)
            chain_unary(s, i);
        else
            chain_binary(s, i);
    }
}

/* ---- 3. the walk ---- */

/* Gives the derivatives of the loop's lphis their next values, those of the lphis' next values. */
static void close_loop(ad *s, ir_val loop)
{
    const ir_inst *inst = s->from->inst;
    for (ir_val i = loop + 1; inst[i].op == IR_LPHI; i++)
        each_seed(s, i, k) s->to->inst[get(s, i, k)].c = value_of(s, get(s, inst[i].c, k));
}

/* Gives each needed derivative a place in d: off, and d itself, whose values are set later. */
static void layout(ad *s)
{
    size_t n = vec_len(s->from->inst);
    int32_t total = 0;
    for (size_t i = 0; i < n; i++) {
        s->off[i] = total;
        for (size_t w = 0; w < s->words; w++)
            total += __builtin_popcountll(set_of(s, s->need, (ir_val)i)[w]);
    }
    s->d = vs_malloc(((size_t)total + 1) * sizeof *s->d);
    assert(s->d);
}

void ir_ad(ir_fn *to, const ir_fn *from, const int32_t *seed, int n_seed, const ir_val *want,
           int n_want, ir_val *deriv, ir_val *new_of)
{
    size_t n = vec_len(from->inst), words = bits_words(n_seed ? n_seed : 1);
    ad s = {.from = from, .to = to, .seed = seed, .n_seed = n_seed, .words = words, .map = new_of};
    s.dep = vs_calloc(n * words + 1, sizeof *s.dep);
    s.need = vs_calloc(n * words + 1, sizeof *s.need);
    s.off = vs_malloc((n + 1) * sizeof *s.off);
    assert(s.dep && s.need && s.off);
    find_dep(&s);
    find_need(&s, want, n_want);
    layout(&s);

    ir_fn_init(to, from->name);
    ir_copy_tables(to, from);
    s.k = ir_slope_begin(to);
    for (size_t i = 0; i < n; i++) {
        if (from->inst[i].op == IR_ENDLOOP)
            close_loop(&s, from->inst[i].a);
        ir_copy_inst(to, from, (ir_val)i, new_of);
        if (any(&s, set_of(&s, s.need, (ir_val)i)))
            derive(&s, (ir_val)i);
    }
    for (size_t i = 0; i < vec_len(from->out); i++) {
        ir_out o = from->out[i];
        ir_out_add(to, o.kind, o.a, o.b, new_of[o.v]);
    }
    for (int j = 0; j < n_want; j++)
        for (int k = 0; k < n_seed; k++) {
            ir_val code = get(&s, want[j], k);
            deriv[j * n_seed + k] = code == ZERO ? IR_NONE : value_of(&s, code);
        }
    vs_free(s.dep);
    vs_free(s.need);
    vs_free(s.off);
    vs_free(s.d);
}
