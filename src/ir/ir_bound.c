/* ir_bound.c - how far a machine's values of a function may be from the interpreter's.
 * Requires: no branches (ir_ifconv); loops may stay.
 * Method:  running error analysis (N. J. Higham, "Accuracy and Stability of Numerical Algorithms",
 *          2nd ed., section 3.3). Both compute the same instructions with roundings of their own.
 * If operands differ by at most e, the values differ by at most max |op(x + e) - op(x)|  +
 * (rounding of both) * |op(x)|. The first term is found from the operation: sums, products and
 * quotients in closed form, monotonic functions at the ends of the interval. A comparison whose
 * operands differ by less than their errors is undecided: a select on it may give either value, so
 * its bound is their distance. What nothing can be said about gets the bound infinity. Rounding:
 * arithmetic and sqrt are correctly rounded in both, half a unit each; a product that a fused
 * multiply-add does not round is within that. Functions: the code generator's are within one unit
 * (docs/math.md, enforced by its tests), the C library's within two on the machines that have the
 * code generator; FUNCTION allows for one more. */
#include "ir_priv.h"

#include <float.h>
#include <math.h>

static const double ARITHMETIC = DBL_EPSILON;            /* half a unit twice */
static const double FUNCTION = 4 * DBL_EPSILON;          /* one unit, two, and one */
static const double TINY = 16 * 4.9406564584124654e-324; /* the same where results are denormal */
enum { MAX_ROUNDS = 10 * 1000 * 1000 };

typedef struct number { /* what the interpreter has, and how far the machine's may be from it */
    ir_num v;
    double e;
} number;

static double rounded(double value, double moved, double unit)
{
    const double e = moved + unit * (fabs(value) + moved) + TINY;
    return isnan(e) ? INFINITY : e;
}

/* x * e, where e = 0 means that there is no error, whatever x is. */
static double times(double x, double e) { return e == 0 ? 0 : fabs(x) * e; }

static double value_at(ir_op op, double x)
{
    return ir_eval_op(op, (ir_num){.f = x}, (ir_num){0}, (ir_num){0}).f;
}

/* The ends of the interval, one step outwards: x + e may round to x. */
static double above(number a) { return nextafter(a.v.f + a.e, INFINITY); }
static double below(number a) { return nextafter(a.v.f - a.e, -INFINITY); }

static double moved_to(double there, double here)
{
    return there == here ? 0 : fabs(there - here); /* both may be infinite; NaN stays NaN */
}

static double moved_monotonic(ir_op op, number a, double v)
{
    if (a.e == 0)
        return 0;
    const double up = moved_to(value_at(op, above(a)), v),
                 down = moved_to(value_at(op, below(a)), v);
    return isnan(up) || isnan(down) ? INFINITY : fmax(up, down);
}

static double moved_quotient(number a, number b, double v)
{
    if (b.e == 0)
        return a.e == 0 ? 0 : a.e / fabs(b.v.f);
    return b.e < fabs(b.v.f) ? (a.e + times(v, b.e)) / (fabs(b.v.f) - b.e) : INFINITY;
}

static double moved_cosh(number a, double v)
{
    const double ends = moved_monotonic(IR_COSH, a, v);
    return below(a) < 0 && above(a) > 0 && a.e > 0 ? fmax(ends, v - 1) : ends;
}

static double moved_tan(number a)
{
    const double c = fabs(cos(a.v.f));
    return a.e == 0 ? 0 : a.e < c / 2 ? a.e / ((c - a.e) * (c - a.e)) : INFINITY;
}

/* Monotonic in each operand where x > 0; a whole power elsewhere has its derivative. */
static double moved_pow(number x, number y, double v)
{
    if (x.e == 0 && y.e == 0)
        return 0;
    if (y.e == 0 && y.v.f >= 1 && y.v.f == floor(y.v.f))
        return y.v.f * pow(nextafter(fabs(x.v.f) + x.e, INFINITY), y.v.f - 1) * x.e;
    double most = 0;
    const double xs[2] = {below(x), above(x)}, ys[2] = {below(y), above(y)};
    if (!(xs[0] > 0))
        return INFINITY;
    for (int k = 0; k < 4; k++) {
        const double d =
            moved_to(pow(x.e == 0 ? x.v.f : xs[k & 1], y.e == 0 ? y.v.f : ys[k >> 1]), v);
        most = isnan(d) ? INFINITY : fmax(most, d);
    }
    return most;
}

static double moved_atan2(number y, number x)
{
    const double r = hypot(x.v.f, y.v.f), e = x.e + y.e;
    const bool cut = x.v.f - x.e < 0 && fabs(y.v.f) <= y.e; /* pi on one side, -pi on the other */
    return e == 0 ? 0 : cut || !(e < r) ? INFINITY : e / (r - e);
}

static double moved_fmod(number a, number b)
{
    if (a.e == 0 && b.e == 0)
        return 0;
    return b.e == 0 && trunc(above(a) / b.v.f) == trunc(below(a) / b.v.f) ? a.e : INFINITY;
}

/* A number of type F64 from numbers of type F64. */
static double error_of(ir_op op, number a, number b, double v)
{
    switch (op) {
    case IR_NEG:
    case IR_ABS: return a.e;
    case IR_MIN:
    case IR_MAX: return fmax(a.e, b.e);
    case IR_ADD:
    case IR_SUB: return rounded(v, a.e + b.e, ARITHMETIC);
    case IR_MUL:
        return rounded(v, times(b.v.f, a.e) + times(a.v.f, b.e) + times(a.e, b.e), ARITHMETIC);
    case IR_DIV: return rounded(v, moved_quotient(a, b, v), ARITHMETIC);
    case IR_FLOOR:
    case IR_CEIL: return moved_monotonic(op, a, v);
    case IR_SQRT: return rounded(v, moved_monotonic(op, a, v), FUNCTION);
    case IR_SIN:
    case IR_COS: return rounded(v, fmin(a.e, 2), FUNCTION);
    case IR_TAN: return rounded(v, moved_tan(a), FUNCTION);
    case IR_COSH: return rounded(v, moved_cosh(a, v), FUNCTION);
    case IR_POW: return rounded(v, moved_pow(a, b, v), FUNCTION);
    case IR_ATAN2: return rounded(v, moved_atan2(a, b), FUNCTION);
    case IR_HYPOT: return rounded(v, a.e + b.e, FUNCTION);
    case IR_FMOD: return rounded(v, moved_fmod(a, b), FUNCTION);
    default: return rounded(v, moved_monotonic(op, a, v), FUNCTION);
    }
}

/* Integers and conditions are the same in both, 0, or anything, infinity. */
static double undecided_if(bool may_differ) { return may_differ ? INFINITY : 0; }

static double error_of_comparison(number a, number b)
{
    const double e = a.e + b.e;
    return undecided_if(e > 0 && !(fabs(a.v.f - b.v.f) > e));
}

static double error_of_integer(ir_op op, number a, number b)
{
    switch (op) {
    case IR_FLT:
    case IR_FLE:
    case IR_FEQ:
    case IR_FNE: return error_of_comparison(a, b);
    case IR_BAND:
        return undecided_if((a.e > 0 || b.e > 0) && !(a.e == 0 && !a.v.i) && !(b.e == 0 && !b.v.i));
    case IR_BOR:
        return undecided_if((a.e > 0 || b.e > 0) && !(a.e == 0 && a.v.i) && !(b.e == 0 && b.v.i));
    case IR_F2I: {
        const ir_num none = {0};
        return undecided_if(a.e > 0 && ir_eval_op(op, (ir_num){.f = above(a)}, none, none).i !=
                                           ir_eval_op(op, (ir_num){.f = below(a)}, none, none).i);
    }
    default: return fmax(a.e, b.e);
    }
}

static double error_of_select(int type, number c, number a, number b)
{
    if (c.e == 0)
        return c.v.i ? a.e : b.e;
    if (type != IR_F64)
        return undecided_if(a.v.i != b.v.i || a.e > 0 || b.e > 0);
    const double e = moved_to(a.v.f, b.v.f) + fmax(a.e, b.e);
    return isnan(e) ? INFINITY : e;
}

typedef struct bound {
    const ir_fn *fn;
    ir_num *val;
    double *err;
    bool *loose; /* [n] of a LOOP: once it was not certain whether it ends */
} bound;

static number get(const bound *s, ir_val v) { return (number){s->val[v], s->err[v]}; }

static void compute(bound *s, ir_val i)
{
    const ir_inst *p = &s->fn->inst[i];
    const int n = ir_op_table[p->op].arity;
    const number none = {{0}, 0}, a = get(s, p->a), b = n > 1 ? get(s, p->b) : none,
                 c = n > 2 ? get(s, p->c) : none;
    s->val[i] = p->op == IR_LIMIT ? a.v : ir_eval_op(p->op, a.v, b.v, c.v);
    if (p->op == IR_SELECT)
        s->err[i] = error_of_select(p->type, a, b, c);
    else if (p->op == IR_LIMIT)
        s->err[i] = a.e;
    else if (p->op == IR_I2F || p->op == IR_B2F)
        s->err[i] = a.e > 0 && p->op == IR_B2F ? 1 : a.e;
    else if (p->type == IR_F64)
        s->err[i] = error_of(p->op, a, b, s->val[i].f);
    else
        s->err[i] = error_of_integer(p->op, a, b);
}

/* lphis of a loop take their next values, all at once; loose: the loop may have ended before. */
static void step_lphis(bound *s, ir_val loop)
{
    const ir_inst *inst = s->fn->inst;
    number *next = NULL; /* vec */
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
        vec_push(next, get(s, inst[k].c));
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++) {
        s->val[k] = next[k - loop - 1].v;
        s->err[k] = s->loose[loop] ? INFINITY : next[k - loop - 1].e;
    }
    vec_free(next);
}

/* At the WHILE: an end that is not certain leaves lphis that may be those of another round. */
static bool goes_on(bound *s, ir_val i)
{
    const ir_inst *inst = s->fn->inst;
    const ir_val loop = inst[i].c;
    if (s->err[inst[i].a] > 0) {
        s->loose[loop] = true;
        for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
            s->err[k] = INFINITY;
    }
    return s->val[inst[i].a].i != 0;
}

static vs_status run(bound *s, const ir_num *input)
{
    const ir_inst *inst = s->fn->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        s->err[i] = 0;
        switch (p->op) {
        case IR_CONST: s->val[i] = ir_num_of_con(p->type, s->fn->con[p->a]); break;
        case IR_IN: s->val[i] = input[p->a]; break;
        case IR_LOOP: s->val[i] = (ir_num){0}; break;
        case IR_LPHI:
            s->val[i] = s->val[p->b];
            s->err[i] = s->err[p->b];
            break;
        case IR_WHILE:
            if (!goes_on(s, i))
                i = p->b;
            break;
        case IR_ENDLOOP:
            if (++s->val[p->a].i > MAX_ROUNDS)
                return VS_NOCONV;
            step_lphis(s, p->a);
            for (i = p->a; inst[i + 1].op == IR_LPHI;)
                i++;
            break;
        case IR_EFFECT: break;
        default: assert(p->op == IR_LIMIT || ir_op_pure(p->op)); compute(s, i);
        }
    }
    return VS_OK;
}

vs_status ir_bound(const ir_fn *fn, const ir_num *input, ir_num *val, double *err)
{
    bound s = {.fn = fn, .val = val, .err = err};
    s.loose = vs_calloc(vec_len(fn->inst) + 1, sizeof *s.loose);
    const vs_status st = run(&s, input);
    vs_free(s.loose);
    return st;
}
