/* ir_slope.c - derivatives of single operations, as code, for ir_ad.c and ir_reverse.c.
 * Points where the derivative is infinite or undefined give 0 instead of inf or NaN, so that
 * 0 * inf does not spoil a Jacobian: sqrt at 0, asin and acos at +-1, acosh at 1, hypot and atan2
 * at (0,0), d pow/dx at |x| below the smallest normal number (1 if y = 1), d pow/dy at x <= 0. */
#include "ir_priv.h"

#include <float.h>
#include <math.h>

enum { ZERO = IR_SLOPE_ZERO, ONE = IR_SLOPE_ONE, MINUS_ONE = IR_SLOPE_MINUS_ONE };

ir_slope ir_slope_begin(ir_fn *to)
{
    ir_slope s = {.to = to};
    s.zero = ir_const(to, 0);
    s.one = ir_const(to, 1);
    s.minus_one = ir_const(to, -1);
    return s;
}

ir_val ir_slope_value(const ir_slope *s, ir_val code)
{
    return code == ZERO ? s->zero : code == ONE ? s->one : code == MINUS_ONE ? s->minus_one : code;
}

bool ir_carries_slope(const ir_inst *p)
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

static void put(ir_val *to, ir_val v)
{
    if (to)
        *to = v;
}

static ir_val reciprocal(const ir_slope *s, ir_val x) { return ir_bin(s->to, IR_DIV, s->one, x); }

/* 1/x; 0 where x is 0. */
static ir_val safe_reciprocal(const ir_slope *s, ir_val x)
{
    ir_val r = reciprocal(s, x), at_zero = ir_bin(s->to, IR_FEQ, x, s->zero);
    return ir_select(s->to, at_zero, s->zero, r);
}

/* (1 - x)(1 + x) and (x - 1)(x + 1), without cancellation near 1 */
static ir_val one_minus_square(const ir_slope *s, ir_val x)
{
    ir_val below = ir_bin(s->to, IR_SUB, s->one, x), above = ir_bin(s->to, IR_ADD, s->one, x);
    return ir_bin(s->to, IR_MUL, below, above);
}
static ir_val square_minus_one(const ir_slope *s, ir_val x)
{
    ir_val below = ir_bin(s->to, IR_SUB, x, s->one), above = ir_bin(s->to, IR_ADD, x, s->one);
    return ir_bin(s->to, IR_MUL, below, above);
}

/* d pow(x, y)/dx = y v/x; k: value of y if it is a constant, else NaN */
static ir_val pow_dx(const ir_slope *s, ir_val x, ir_val y, ir_val v, double k)
{
    if (k == 0)
        return ZERO;
    if (k == 1)
        return ONE;
    if (k == 2)
        return ir_bin(s->to, IR_ADD, x, x);
    if (k == 3)
        return ir_bin(s->to, IR_MUL, y, ir_bin(s->to, IR_MUL, x, x));
    ir_val p = ir_bin(s->to, IR_MUL, y, ir_bin(s->to, IR_MUL, v, reciprocal(s, x)));
    ir_val size = ir_un(s->to, IR_ABS, x);
    ir_val tiny = ir_bin(s->to, IR_FLT, size, ir_const(s->to, DBL_MIN));
    ir_val there = s->zero;
    if (isnan(k))
        there = ir_select(s->to, ir_bin(s->to, IR_FEQ, y, s->one), s->one, s->zero);
    return ir_select(s->to, tiny, there, p);
}

/* d pow(x, y)/dy = v ln x */
static ir_val pow_dy(const ir_slope *s, ir_val x, ir_val v)
{
    ir_val p = ir_bin(s->to, IR_MUL, v, ir_un(s->to, IR_LN, x));
    ir_val above = ir_bin(s->to, IR_FLT, s->zero, x);
    return ir_select(s->to, above, p, s->zero);
}

ir_val ir_slope_of(const ir_slope *s, ir_op op, ir_val a, ir_val v)
{
    ir_val r;
    switch (op) {
    case IR_NEG: return MINUS_ONE;
    case IR_ABS: return ir_select(s->to, ir_bin(s->to, IR_FLT, a, s->zero), s->minus_one, s->one);
    case IR_SQRT: r = safe_reciprocal(s, v); return ir_bin(s->to, IR_MUL, ir_const(s->to, 0.5), r);
    case IR_EXP: return v;
    case IR_LN: return reciprocal(s, a);
    case IR_LOG10: r = reciprocal(s, a); return ir_bin(s->to, IR_MUL, ir_const(s->to, M_LOG10E), r);
    case IR_SIN: return ir_un(s->to, IR_COS, a);
    case IR_COS: return ir_un(s->to, IR_NEG, ir_un(s->to, IR_SIN, a));
    case IR_TAN: return ir_bin(s->to, IR_ADD, s->one, ir_bin(s->to, IR_MUL, v, v));
    case IR_ASIN: return safe_reciprocal(s, ir_un(s->to, IR_SQRT, one_minus_square(s, a)));
    case IR_ACOS:
        return ir_un(s->to, IR_NEG,
                     safe_reciprocal(s, ir_un(s->to, IR_SQRT, one_minus_square(s, a))));
    case IR_ATAN: return reciprocal(s, ir_bin(s->to, IR_ADD, s->one, ir_bin(s->to, IR_MUL, a, a)));
    case IR_SINH: return ir_un(s->to, IR_COSH, a);
    case IR_COSH: return ir_un(s->to, IR_SINH, a);
    case IR_TANH: return one_minus_square(s, v);
    case IR_ASINH:
        r = ir_bin(s->to, IR_ADD, s->one, ir_bin(s->to, IR_MUL, a, a));
        return reciprocal(s, ir_un(s->to, IR_SQRT, r));
    case IR_ACOSH: return safe_reciprocal(s, ir_un(s->to, IR_SQRT, square_minus_one(s, a)));
    case IR_ATANH: return reciprocal(s, one_minus_square(s, a));
    case IR_EXPM1: return ir_bin(s->to, IR_ADD, v, s->one);
    case IR_LOG1P: return reciprocal(s, ir_bin(s->to, IR_ADD, s->one, a));
    default: assert(!"not differentiable"); return ZERO;
    }
}

void ir_slopes_of(const ir_slope *s, const ir_fn *from, ir_val i, const ir_val *new_of, ir_val *pa,
                  ir_val *pb)
{
    const ir_inst *p = &from->inst[i];
    const ir_val a = new_of[p->a], b = new_of[p->b], v = new_of[i];
    const ir_inst *y = &from->inst[p->b];
    ir_val r;
    switch (p->op) {
    case IR_POW:
        put(pa, pa ? pow_dx(s, a, b, v, y->op == IR_CONST ? from->con[y->a] : NAN) : ZERO);
        put(pb, pb ? pow_dy(s, a, v) : ZERO);
        break;
    case IR_HYPOT:
        r = safe_reciprocal(s, v);
        put(pa, pa ? ir_bin(s->to, IR_MUL, a, r) : ZERO);
        put(pb, pb ? ir_bin(s->to, IR_MUL, b, r) : ZERO);
        break;
    case IR_ATAN2:
        r = ir_bin(s->to, IR_MUL, b, b);
        r = safe_reciprocal(s, ir_bin(s->to, IR_ADD, ir_bin(s->to, IR_MUL, a, a), r));
        put(pa, pa ? ir_bin(s->to, IR_MUL, b, r) : ZERO);
        put(pb, pb ? ir_un(s->to, IR_NEG, ir_bin(s->to, IR_MUL, a, r)) : ZERO);
        break;
    case IR_FMOD: /* a - n b with the integer n = (a - v)/b */
        put(pa, ONE);
        put(pb, pb ? ir_bin(s->to, IR_DIV, ir_bin(s->to, IR_SUB, v, a), b) : ZERO);
        break;
    default: assert(!"not differentiable");
    }
}
