/* ir_bound.c - how far a machine's values of a function may be from the interpreter's.
 * Requires: no branches (ir_ifconv); loops may stay.
 * Method:   interval arithmetic around the interpreter's run (R. E. Moore, R. B. Kearfott, M. J.
 *           Cloud, "Introduction to Interval Analysis", SIAM 2009, chapters 2, 5). Each value has
 *           an interval that holds what the machine may have. That of op(x) is the range of op over
 *           the operands' intervals, wider by the roundings: from the ends where op is monotonic,
 *           from a bound of the derivative elsewhere. The bound of the difference is the distance
 *           to the farther end: units of rounding times the condition of the way to the value.
 * Choices:  a comparison of intervals that overlap is undecided. A select on it may give either
 *           value: its interval covers both. Where nothing can be said (a pole, NaN, a loop that
 *           may have ended) the interval is everything, and the bound is infinite.
 * Rounding: the machine rounds arithmetic and sqrt correctly, within half a unit; a product that a
 *           fused multiply-add does not round is within that. The code generator's functions are
 *           within one unit (docs/math.md, enforced by its tests). The ends are computed here, with
 *           half a unit and the C library's two; FUNCTION allows for one more. */
#include "ir_priv.h"

#include <float.h>
#include <math.h>

static const double ARITHMETIC = DBL_EPSILON;            /* half a unit there, half here */
static const double FUNCTION = 4 * DBL_EPSILON;          /* one unit there, two here, one spare */
static const double TINY = 16 * 4.9406564584124654e-324; /* for results that are denormal */
enum { MAX_ROUNDS = 10 * 1000 * 1000 };

typedef struct range {
    double lo, hi;
} range;
static const range ANY = {-INFINITY, INFINITY};

typedef struct number { /* what the interpreter has, and what the machine may have */
    ir_num v;
    double e; /* F64: distance to the farther end of r; others: 0 the same, infinity anything */
    range r;
} number;

/* -- ranges of F64 -- */

/* r, wider at both ends by `unit` times its larger end; rounding keeps the sign, and 0. */
static range widened(range r, double unit)
{
    const double most = fmax(fabs(r.lo), fabs(r.hi)), by = unit * most + TINY;
    if (isnan(r.lo) || isnan(r.hi))
        return ANY;
    if (isinf(by))
        return r;
    return (range){r.lo >= 0 ? fmax(0, r.lo - by) : r.lo - by,
                   r.hi <= 0 ? fmin(0, r.hi + by) : r.hi + by};
}

/* v, moved by no more than `moved`. */
static range around(double v, double moved)
{
    return moved == 0                                 ? (range){v, v}
           : isnan(moved) || isinf(moved) || isnan(v) ? ANY
                                                      : (range){v - moved, v + moved};
}

static double value_at(ir_op op, double x)
{
    return ir_eval_op(op, (ir_num){.f = x}, (ir_num){0}, (ir_num){0}).f;
}

/* The least interval that holds x [n]; ANY if one is NaN. */
static range hull(const double *x, int n)
{
    range r = {x[0], x[0]};
    for (int k = 0; k < n; k++) {
        if (isnan(x[k]))
            return ANY;
        r.lo = fmin(r.lo, x[k]);
        r.hi = fmax(r.hi, x[k]);
    }
    return r;
}

/* -- ranges of operations without rounding: of intervals, or of numbers whose values give v -- */

/* A monotonic function. */
static range at_ends(ir_op op, range x)
{
    const double end[2] = {value_at(op, x.lo), value_at(op, x.hi)};
    return hull(end, 2);
}

static range product(range a, range b)
{
    const double corner[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return hull(corner, 4);
}

static range square(range a)
{
    const double end[3] = {a.lo * a.lo, a.hi * a.hi, 0};
    return hull(end, a.lo <= 0 && a.hi >= 0 ? 3 : 2);
}

static range quotient(range a, range b)
{
    const double corner[4] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
    return b.lo <= 0 && b.hi >= 0 ? ANY : hull(corner, 4);
}

static range magnitude(range a)
{
    const double end[3] = {fabs(a.lo), fabs(a.hi), 0};
    return hull(end, a.lo <= 0 && a.hi >= 0 ? 3 : 2);
}

static range of_cosh(range a)
{
    const double end[3] = {cosh(a.lo), cosh(a.hi), 1};
    return hull(end, a.lo <= 0 && a.hi >= 0 ? 3 : 2);
}

/* sin, cos: slope at most 1, values within -1 .. 1. */
static range of_wave(double v, double e)
{
    return (range){fmax(-1, v - fmin(e, 2)), fmin(1, v + fmin(e, 2))};
}

/* The slope is 1/cos^2, and cos moves by no more than e. */
static range of_tan(number a, double v)
{
    const double c = fabs(cos(a.v.f));
    return a.e < c / 2 ? around(v, a.e / ((c - a.e) * (c - a.e))) : ANY;
}

/* pow is monotonic in each operand where x > 0; elsewhere a whole power is bounded by its
 * derivative. */
static range of_pow(number x, number y, double v)
{
    const double corner[4] = {pow(x.r.lo, y.r.lo), pow(x.r.lo, y.r.hi), pow(x.r.hi, y.r.lo),
                              pow(x.r.hi, y.r.hi)};
    const double n = y.v.f;
    if (x.r.lo > 0 || (x.r.lo == 0 && y.r.lo > 0))
        return hull(corner, 4);
    if (y.e == 0 && n >= 1 && n == floor(n))
        return around(v, n * pow(fmax(fabs(x.r.lo), fabs(x.r.hi)), n - 1) * x.e);
    return ANY;
}

/* The slopes by x and y are at most 1/hypot, which moves by no more than e. */
static range of_atan2(number y, number x, double v)
{
    const double r = hypot(x.v.f, y.v.f), e = x.e + y.e;
    const bool cut = x.r.lo < 0 && y.r.lo < 0 && y.r.hi >= 0; /* pi from 0 on, -pi below */
    return cut || !(e < r) ? ANY : around(v, e / (r - e));
}

/* a - b trunc(a/b): moves as a does while the whole quotient stays. */
static range of_fmod(number a, number b, double v)
{
    const bool same = b.e == 0 && trunc(a.r.lo / b.v.f) == trunc(a.r.hi / b.v.f);
    return same ? around(v, a.e) : ANY;
}

/* The range of op without rounding. same: both operands are one value. */
static range range_of(ir_op op, number a, number b, double v, bool same)
{
    switch (op) {
    case IR_NEG: return (range){-a.r.hi, -a.r.lo};
    case IR_ABS: return magnitude(a.r);
    case IR_MIN: return (range){fmin(a.r.lo, b.r.lo), fmin(a.r.hi, b.r.hi)};
    case IR_MAX: return (range){fmax(a.r.lo, b.r.lo), fmax(a.r.hi, b.r.hi)};
    case IR_ADD: return (range){a.r.lo + b.r.lo, a.r.hi + b.r.hi};
    case IR_SUB: return same ? (range){0, 0} : (range){a.r.lo - b.r.hi, a.r.hi - b.r.lo};
    case IR_MUL: return same ? square(a.r) : product(a.r, b.r);
    case IR_DIV: return quotient(a.r, b.r);
    case IR_SIN:
    case IR_COS: return of_wave(v, a.e);
    case IR_TAN: return of_tan(a, v);
    case IR_COSH: return of_cosh(a.r);
    case IR_POW: return of_pow(a, b, v);
    case IR_ATAN2: return of_atan2(a, b, v);
    case IR_HYPOT: return around(v, a.e + b.e);
    case IR_FMOD: return of_fmod(a, b, v);
    default: return at_ends(op, a.r);
    }
}

/* Roundings of one operation, in parts of its result: here and in the machine together. */
static double unit_of(ir_op op)
{
    switch (op) {
    case IR_NEG:
    case IR_ABS:
    case IR_MIN:
    case IR_MAX:
    case IR_FLOOR:
    case IR_CEIL: return 0;
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_DIV: return ARITHMETIC;
    default: return FUNCTION;
    }
}

/* The range of op with rounding, F64 from F64. An operand that may be anything may be NaN, which no
 * interval holds. */
static range rounded_range(ir_op op, number a, number b, double v, bool same)
{
    const bool exact = a.e == 0 && b.e == 0;
    if (isinf(a.e) || isinf(b.e))
        return ANY;
    if (exact && (unit_of(op) == 0 || !isfinite(v)))
        return (range){v, v};
    const range r = exact ? (range){v, v} : range_of(op, a, b, v, same);
    return unit_of(op) == 0 ? r : widened(r, unit_of(op));
}

/* From v to the farther end of r. */
static double distance(double v, range r)
{
    if (r.lo == v && r.hi == v)
        return 0;
    const double e = fmax(fabs(r.hi - v), fabs(v - r.lo));
    return isnan(e) || isnan(v) ? INFINITY : e;
}

/* -- errors of integers and conditions: 0, or infinity where the machine may have another -- */

static double undecided_if(bool may_differ) { return may_differ ? INFINITY : 0; }

static double error_of_comparison(ir_op op, number a, number b)
{
    const bool apart = a.r.hi < b.r.lo || b.r.hi < a.r.lo;
    const bool touching = op == IR_FLT ? a.r.lo >= b.r.hi : op == IR_FLE && a.r.hi <= b.r.lo;
    return undecided_if((a.e > 0 || b.e > 0) && !apart && !touching);
}

static double error_of_integer(ir_op op, number a, number b)
{
    const ir_num none = {0};
    switch (op) {
    case IR_FLT:
    case IR_FLE:
    case IR_FEQ:
    case IR_FNE: return error_of_comparison(op, a, b);
    case IR_BAND:
        return undecided_if((a.e > 0 || b.e > 0) && !(a.e == 0 && !a.v.i) && !(b.e == 0 && !b.v.i));
    case IR_BOR:
        return undecided_if((a.e > 0 || b.e > 0) && !(a.e == 0 && a.v.i) && !(b.e == 0 && b.v.i));
    case IR_F2I:
        return undecided_if(
            a.e > 0 && (isinf(a.e) || ir_eval_op(op, (ir_num){.f = a.r.lo}, none, none).i !=
                                          ir_eval_op(op, (ir_num){.f = a.r.hi}, none, none).i));
    default: return fmax(a.e, b.e);
    }
}

/* -- the run -- */

typedef struct bound {
    const ir_fn *fn;
    ir_num *val;
    double *err;
    range *ends; /* [n] of F64 */
    bool *loose; /* [n] of a LOOP: in some round it was not certain whether it ends */
} bound;

static number get(const bound *s, ir_val v) { return (number){s->val[v], s->err[v], s->ends[v]}; }

/* Gives instruction i its range and its error; val[i] is set. */
static void set_f64(bound *s, ir_val i, range r)
{
    s->ends[i] = r;
    s->err[i] = distance(s->val[i].f, r);
}

static void set_exact(bound *s, ir_val i)
{
    s->err[i] = 0;
    if (s->fn->inst[i].type == IR_F64)
        s->ends[i] = (range){s->val[i].f, s->val[i].f};
}

static void select(bound *s, ir_val i, number c, number a, number b)
{
    const number *one = c.v.i ? &a : &b;
    s->err[i] = one->e;
    s->ends[i] = one->r;
    if (c.e == 0)
        return;
    if (s->fn->inst[i].type != IR_F64)
        s->err[i] = undecided_if(a.v.i != b.v.i || a.e > 0 || b.e > 0);
    else if (isinf(a.e) || isinf(b.e) || isnan(a.v.f) || isnan(b.v.f))
        set_f64(s, i, ANY);
    else
        set_f64(s, i, (range){fmin(a.r.lo, b.r.lo), fmax(a.r.hi, b.r.hi)});
}

static void compute(bound *s, ir_val i)
{
    const ir_inst *p = &s->fn->inst[i];
    const int n = ir_op_table[p->op].arity;
    const number none = {{0}, 0, {0, 0}}, a = get(s, p->a), b = n > 1 ? get(s, p->b) : none,
                 c = n > 2 ? get(s, p->c) : none;
    s->val[i] = p->op == IR_LIMIT ? a.v : ir_eval_op(p->op, a.v, b.v, c.v);
    if (p->op == IR_SELECT)
        select(s, i, a, b, c);
    else if (p->op == IR_LIMIT)
        set_f64(s, i, a.r);
    else if (p->op == IR_I2F || p->op == IR_B2F)
        set_f64(s, i,
                a.e == 0          ? (range){s->val[i].f, s->val[i].f}
                : p->op == IR_B2F ? (range){0, 1}
                                  : ANY);
    else if (p->type == IR_F64)
        set_f64(s, i, rounded_range(p->op, a, b, s->val[i].f, n > 1 && p->a == p->b));
    else
        s->err[i] = error_of_integer(p->op, a, b);
}

/* Lets value k be anything. */
static void loosen(bound *s, ir_val k)
{
    s->err[k] = INFINITY;
    s->ends[k] = ANY;
}

/* Gives the lphis of a loop their next values, all at once. Of a loose loop they may be anything:
 * it may have ended before. */
static void step_lphis(bound *s, ir_val loop)
{
    const ir_inst *inst = s->fn->inst;
    number *next = NULL; /* vec */
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
        vec_push(next, get(s, inst[k].c));
    for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++) {
        s->val[k] = next[k - loop - 1].v;
        s->err[k] = next[k - loop - 1].e;
        s->ends[k] = next[k - loop - 1].r;
        if (s->loose[loop])
            loosen(s, k);
    }
    vec_free(next);
}

/* Whether the loop goes on at its WHILE. Where the machine may decide otherwise, its lphis may be
 * those of another round. */
static bool goes_on(bound *s, ir_val i)
{
    const ir_inst *inst = s->fn->inst;
    const ir_val loop = inst[i].c;
    if (s->err[inst[i].a] > 0) {
        s->loose[loop] = true;
        for (ir_val k = loop + 1; inst[k].op == IR_LPHI; k++)
            loosen(s, k);
    }
    return s->val[inst[i].a].i != 0;
}

static vs_status run(bound *s, const ir_num *input, const double *moved)
{
    const ir_inst *inst = s->fn->inst;
    for (ir_val i = 0; i < (ir_val)vec_len(inst); i++) {
        const ir_inst *p = &inst[i];
        switch (p->op) {
        case IR_CONST: s->val[i] = ir_num_of_con(p->type, s->fn->con[p->a]); break;
        case IR_IN: s->val[i] = input[p->a]; break;
        case IR_LOOP: s->val[i] = (ir_num){0}; break;
        case IR_LPHI:
            s->val[i] = s->val[p->b];
            s->err[i] = s->err[p->b];
            s->ends[i] = s->ends[p->b];
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
        if (p->op == IR_IN && p->type == IR_F64 && moved)
            set_f64(s, i, around(s->val[i].f, moved[p->a]));
        else if (p->op == IR_CONST || p->op == IR_IN || p->op == IR_LOOP)
            set_exact(s, i);
    }
    return VS_OK;
}

vs_status ir_bound(const ir_fn *fn, const ir_num *input, const double *moved, ir_num *val,
                   double *err)
{
    const size_t n = vec_len(fn->inst) + 1;
    bound s = {.fn = fn, .val = val, .err = err};
    s.loose = vs_calloc(n, sizeof *s.loose);
    s.ends = vs_calloc(n, sizeof *s.ends);
    const vs_status st = run(&s, input, moved);
    vs_free(s.loose);
    vs_free(s.ends);
    return st;
}
