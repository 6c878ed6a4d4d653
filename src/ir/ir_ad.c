/* ir_ad.c - forward automatic differentiation, sparse and on demand.
 * Requires: nothing.  Keeps: inputs and their indices, outputs.  Breaks: small, head.
 * Method: 1. dep: the seeds each value depends on (bit sets; loops walked until they rest);
 *         2. need: backward from the wanted values, the derivatives that some wanted one uses;
 *         3. one walk copies the function and sets the needed derivatives beside it.
 * A derivative that is 0, 1 or -1 for certain is a code, not an instruction.
 * At x/d: r = 1/d is shared by all seeds, d(x/d) = (dx - (x/d) dd) r; the value itself stays x/d.
 * Points where the derivative is infinite or undefined give 0 instead of inf or NaN, so that
 * 0 * inf does not spoil a Jacobian: sqrt at 0, asin and acos at +-1, acosh at 1, hypot and atan2
 * at (0,0), d pow/dx at |x| below the smallest normal number (1 if y = 1), d pow/dy at x <= 0. */
#include "bits.h"
#include "ir_priv.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Codes of derivatives; >= 0: a value of `to`. */
enum { ZERO = IR_NONE, ONE = -2, MINUS_ONE = -3 };

typedef struct ad {
    const ir_fn *from;
    ir_fn *to;
    const int32_t *seed;
    int n_seed;
    size_t words;
    uint64_t *dep, *need; /* [n * words] */
    int32_t *off;         /* [n + 1] first derivative of a value in d; one per bit of need */
    ir_val *d;            /* codes */
    ir_val *map;
    ir_val zero, one, minus_one; /* constants at the head of `to` */
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

static bool any(const ad *s, const uint64_t *set)
{
    uint64_t x = 0;
    for (size_t w = 0; w < s->words; w++)
        x |= set[w];
    return x != 0;
}

/* The derivative of the result follows from those of the operands. */
static bool carries(const ir_inst *p)
{
    if (p->type != IR_F64)
        return false;
    switch (p->op) {
    case IR_CONST:
    case IR_IN:
    case IR_LIMIT:
    case IR_FLOOR:
    case IR_CEIL:
    case IR_I2F:
    case IR_B2F: return false;
    default: return true;
    }
}

static void set_seed(ad *s, ir_val v, int32_t what)
{
    for (int k = 0; k < s->n_seed; k++)
        if (s->seed[k] == what)
            bits_set(set_of(s, s->dep, v), (size_t)k);
}

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
        } else if (carries(p)) {
            for (int k = 0; k < ir_op_table[p->op].arity; k++)
                bits_or(set_of(s, s->dep, i), set_of(s, s->dep, ir_operand(p, k)), s->words);
        }
    }
}

static bool need_of_operand(ad *s, ir_val user, ir_val x)
{
    return join(s, set_of(s, s->need, x), set_of(s, s->need, user), set_of(s, s->dep, x));
}

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
        } else if (carries(p)) {
            for (int k = 0; k < ir_op_table[p->op].arity; k++)
                need_of_operand(s, i, ir_operand(p, k));
        }
    }
}

/* Place of derivative `seed` of v in d, or -1 if nothing needs it. */
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

static ir_val get(const ad *s, ir_val v, int seed)
{
    int32_t k = place(s, v, seed);
    return k < 0 ? ZERO : s->d[k];
}

/* for each seed k whose derivative of v is needed */
#define each_seed(s, v, k)                \
    for (int k = 0; k < (s)->n_seed; k++) \
        if (bits_get(set_of((s), (s)->need, (v)), (size_t)k))

/* ---- arithmetic on codes ---- */

static ir_val un(ad *s, ir_op op, ir_val a) { return ir_un(s->to, op, a); }
static ir_val bin(ad *s, ir_op op, ir_val a, ir_val b) { return ir_bin(s->to, op, a, b); }

static ir_val value_of(const ad *s, ir_val code)
{
    return code == ZERO ? s->zero : code == ONE ? s->one : code == MINUS_ONE ? s->minus_one : code;
}

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

/* ---- partial derivatives ---- */

static ir_val reciprocal(ad *s, ir_val x) { return bin(s, IR_DIV, s->one, x); }

/* 1/x, and 0 where x is 0 */
static ir_val safe_reciprocal(ad *s, ir_val x)
{
    ir_val r = reciprocal(s, x), at_zero = bin(s, IR_FEQ, x, s->zero);
    return ir_select(s->to, at_zero, s->zero, r);
}

/* (1 - x)(1 + x) and (x - 1)(x + 1), without cancellation near 1 */
static ir_val one_minus_square(ad *s, ir_val x)
{
    ir_val below = bin(s, IR_SUB, s->one, x), above = bin(s, IR_ADD, s->one, x);
    return bin(s, IR_MUL, below, above);
}
static ir_val square_minus_one(ad *s, ir_val x)
{
    ir_val below = bin(s, IR_SUB, x, s->one), above = bin(s, IR_ADD, x, s->one);
    return bin(s, IR_MUL, below, above);
}

/* d pow(x, y)/dx = y v/x; k: value of y if it is a constant, else NaN */
static ir_val pow_dx(ad *s, ir_val x, ir_val y, ir_val v, double k)
{
    if (k == 0)
        return ZERO;
    if (k == 1)
        return ONE;
    if (k == 2)
        return bin(s, IR_ADD, x, x);
    if (k == 3)
        return bin(s, IR_MUL, y, bin(s, IR_MUL, x, x));
    ir_val p = bin(s, IR_MUL, y, bin(s, IR_MUL, v, reciprocal(s, x)));
    ir_val size = un(s, IR_ABS, x);
    ir_val tiny = bin(s, IR_FLT, size, ir_const(s->to, DBL_MIN));
    ir_val there = s->zero;
    if (isnan(k))
        there = ir_select(s->to, bin(s, IR_FEQ, y, s->one), s->one, s->zero);
    return ir_select(s->to, tiny, there, p);
}

/* d pow(x, y)/dy = v ln x */
static ir_val pow_dy(ad *s, ir_val x, ir_val v)
{
    ir_val p = bin(s, IR_MUL, v, un(s, IR_LN, x));
    ir_val above = bin(s, IR_FLT, s->zero, x);
    return ir_select(s->to, above, p, s->zero);
}

/* d/da of the unary operation p; v its value */
static ir_val partial(ad *s, ir_op op, ir_val a, ir_val v)
{
    ir_val r;
    switch (op) {
    case IR_NEG: return MINUS_ONE;
    case IR_ABS: return ir_select(s->to, bin(s, IR_FLT, a, s->zero), s->minus_one, s->one);
    case IR_SQRT: r = safe_reciprocal(s, v); return bin(s, IR_MUL, ir_const(s->to, 0.5), r);
    case IR_EXP: return v;
    case IR_LN: return reciprocal(s, a);
    case IR_LOG10: r = reciprocal(s, a); return bin(s, IR_MUL, ir_const(s->to, M_LOG10E), r);
    case IR_SIN: return un(s, IR_COS, a);
    case IR_COS: return un(s, IR_NEG, un(s, IR_SIN, a));
    case IR_TAN: return bin(s, IR_ADD, s->one, bin(s, IR_MUL, v, v));
    case IR_ASIN: return safe_reciprocal(s, un(s, IR_SQRT, one_minus_square(s, a)));
    case IR_ACOS: return un(s, IR_NEG, safe_reciprocal(s, un(s, IR_SQRT, one_minus_square(s, a))));
    case IR_ATAN: return reciprocal(s, bin(s, IR_ADD, s->one, bin(s, IR_MUL, a, a)));
    case IR_SINH: return un(s, IR_COSH, a);
    case IR_COSH: return un(s, IR_SINH, a);
    case IR_TANH: return one_minus_square(s, v);
    case IR_ASINH:
        r = bin(s, IR_ADD, s->one, bin(s, IR_MUL, a, a));
        return reciprocal(s, un(s, IR_SQRT, r));
    case IR_ACOSH: return safe_reciprocal(s, un(s, IR_SQRT, square_minus_one(s, a)));
    case IR_ATANH: return reciprocal(s, one_minus_square(s, a));
    case IR_EXPM1: return bin(s, IR_ADD, v, s->one);
    case IR_LOG1P: return reciprocal(s, bin(s, IR_ADD, s->one, a));
    default: assert(!"not differentiable"); return ZERO;
    }
}

/* pa, pb: the partial derivatives that are asked for (da, db). a, b, v: values in `to`. */
static void partials2(ad *s, const ir_inst *p, ir_val v, bool da, bool db, ir_val *pa, ir_val *pb)
{
    ir_val a = s->map[p->a], b = s->map[p->b];
    switch (p->op) {
    case IR_POW: {
        const ir_inst *y = &s->from->inst[p->b];
        if (da)
            *pa = pow_dx(s, a, b, v, y->op == IR_CONST ? s->from->con[y->a] : NAN);
        if (db)
            *pb = pow_dy(s, a, v);
        break;
    }
    case IR_HYPOT: {
        ir_val r = safe_reciprocal(s, v);
        *pa = da ? bin(s, IR_MUL, a, r) : ZERO;
        *pb = db ? bin(s, IR_MUL, b, r) : ZERO;
        break;
    }
    case IR_ATAN2: {
        ir_val aa = bin(s, IR_MUL, a, a), bb = bin(s, IR_MUL, b, b);
        ir_val r = safe_reciprocal(s, bin(s, IR_ADD, aa, bb));
        *pa = da ? bin(s, IR_MUL, b, r) : ZERO;
        *pb = db ? un(s, IR_NEG, bin(s, IR_MUL, a, r)) : ZERO;
        break;
    }
    case IR_FMOD: /* a - n b with the integer n = (a - v)/b */
        *pa = ONE;
        if (db)
            *pb = bin(s, IR_DIV, bin(s, IR_SUB, v, a), b);
        break;
    default: assert(!"not differentiable");
    }
}

/* ---- derivatives of one instruction ---- */

static void set(ad *s, ir_val i, int seed, ir_val code) { s->d[place(s, i, seed)] = code; }

static void chain_unary(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val part = partial(s, p->op, s->map[p->a], s->map[i]);
    each_seed(s, i, k) set(s, i, k, d_mul(s, part, get(s, p->a, k)));
}

/* Some needed derivative of i goes through its operand x. */
static bool goes_through(const ad *s, ir_val i, ir_val x)
{
    const uint64_t *need = set_of(s, s->need, i), *dep = set_of(s, s->dep, x);
    for (size_t w = 0; w < s->words; w++)
        if (need[w] & dep[w])
            return true;
    return false;
}

static void chain_binary(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val pa = ZERO, pb = ZERO;
    partials2(s, p, s->map[i], goes_through(s, i, p->a), goes_through(s, i, p->b), &pa, &pb);
    each_seed(s, i, k)
    {
        ir_val da = d_mul(s, pa, get(s, p->a, k)), db = d_mul(s, pb, get(s, p->b, k));
        set(s, i, k, d_add(s, da, db));
    }
}

static void chain_div(ad *s, ir_val i)
{
    const ir_inst *p = &s->from->inst[i];
    ir_val r = reciprocal(s, s->map[p->b]), q = ZERO; /* q = -(a/b)/b */
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

/* Next values of the derivatives of the lphis. */
static void close_loop(ad *s, ir_val loop)
{
    const ir_inst *inst = s->from->inst;
    for (ir_val i = loop + 1; inst[i].op == IR_LPHI; i++)
        each_seed(s, i, k) s->to->inst[get(s, i, k)].c = value_of(s, get(s, inst[i].c, k));
}

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
    s.zero = ir_const(to, 0);
    s.one = ir_const(to, 1);
    s.minus_one = ir_const(to, -1);
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
