/* va_lower_expr.c - expressions to IR values, with folding of constants.
 * Types: a value is F64, I32 or BOOL (a comparison); conversions follow LRM 2.4, clause 4.2.1. */
#include "va_lower.h"

#include <math.h>
#include <string.h>

/* -- building -- */

bool lw_konst(const lw *L, ir_val v, double *x)
{
    const ir_inst *p = &L->fn->inst[v];
    if (p->op != IR_CONST)
        return false;
    *x = L->fn->con[p->a];
    return true;
}

static ir_num num_of(const lw *L, ir_val v)
{
    const ir_inst *p = &L->fn->inst[v];
    ir_num n = {.f = L->fn->con[p->a]};
    if (p->type != IR_F64)
        n = (ir_num){.i = (int32_t)L->fn->con[p->a]};
    return n;
}

static bool is_const(const lw *L, ir_val v) { return L->fn->inst[v].op == IR_CONST; }
static ir_type type_of(const lw *L, ir_val v) { return (ir_type)L->fn->inst[v].type; }

ir_val lw_f(lw *L, double x) { return ir_const(L->fn, x); }
ir_val lw_i(lw *L, int32_t x) { return ir_const_i(L->fn, x); }
ir_val lw_b(lw *L, bool x) { return ir_const_b(L->fn, x); }

static ir_val const_num(lw *L, ir_type t, ir_num n)
{
    return t == IR_F64 ? lw_f(L, n.f) : t == IR_I32 ? lw_i(L, n.i) : lw_b(L, n.i);
}

static ir_type result_type(ir_op op)
{
    static const uint8_t type[IR_N_OP] = {
#define X(id, name, result, n) [IR_##id] = IR_##result,
        IR_OP_LIST(X)
#undef X
    };
    return (ir_type)type[op];
}

ir_val lw_un(lw *L, ir_op op, ir_val a)
{
    if (is_const(L, a))
        return const_num(L, result_type(op),
                         ir_eval_op(op, num_of(L, a), (ir_num){0}, (ir_num){0}));
    return ir_un(L->fn, op, a);
}

ir_val lw_bin(lw *L, ir_op op, ir_val a, ir_val b)
{
    if (is_const(L, a) && is_const(L, b))
        return const_num(L, result_type(op),
                         ir_eval_op(op, num_of(L, a), num_of(L, b), (ir_num){0}));
    double k;
    if (op == IR_BAND && (lw_konst(L, a, &k) || lw_konst(L, b, &k)))
        return k == 0 ? lw_b(L, false) : is_const(L, a) ? b : a;
    if (op == IR_BOR && (lw_konst(L, a, &k) || lw_konst(L, b, &k)))
        return k != 0 ? lw_b(L, true) : is_const(L, a) ? b : a;
    return ir_bin(L->fn, op, a, b);
}

ir_val lw_sel(lw *L, ir_val c, ir_val a, ir_val b)
{
    double k;
    if (a == b)
        return a;
    if (lw_konst(L, c, &k))
        return k != 0 ? a : b;
    return ir_select(L->fn, c, a, b);
}

ir_val lw_real(lw *L, ir_val v)
{
    ir_type t = type_of(L, v);
    return t == IR_F64 ? v : lw_un(L, t == IR_I32 ? IR_I2F : IR_B2F, v);
}

ir_val lw_int(lw *L, ir_val v)
{
    ir_type t = type_of(L, v);
    return t == IR_I32 ? v : lw_un(L, t == IR_F64 ? IR_F2I : IR_B2I, v);
}

ir_val lw_bool(lw *L, ir_val v)
{
    ir_type t = type_of(L, v);
    if (t == IR_BOOL)
        return v;
    return t == IR_I32 ? lw_bin(L, IR_INE, v, lw_i(L, 0)) : lw_bin(L, IR_FNE, v, lw_f(L, 0));
}

ir_val lw_as(lw *L, ir_val v, ir_type t)
{
    return t == IR_F64 ? lw_real(L, v) : t == IR_I32 ? lw_int(L, v) : lw_bool(L, v);
}

ir_type lw_ir_type(int type) { return type == VA_REAL ? IR_F64 : IR_I32; }

ir_val lw_dyn(lw *L, ir_dyn k) { return ir_in(L->fn, IR_IN_DYN, (int32_t)k, IR_F64, false); }

/* Toward zero, as a real. */
static ir_val toward_zero(lw *L, ir_val v)
{
    return lw_sel(L, lw_bin(L, IR_FLT, v, lw_f(L, 0)), lw_un(L, IR_CEIL, v), lw_un(L, IR_FLOOR, v));
}

/* -- names -- */

bool lw_const_index(lw *L, const va_expr *e, int32_t *k)
{
    double x;
    ir_val v = lw_int(L, lw_expr(L, e));
    if (!lw_konst(L, v, &x))
        return false;
    *k = (int32_t)x;
    return true;
}

static int32_t param_index(const lw *L, const va_sym *y)
{
    return y->pset ? y->index : L->param_base + y->index;
}

static ir_val param_elem(lw *L, const va_sym *y, int32_t pos)
{
    int32_t k = param_index(L, y) + pos;
    double x;
    if (L->params)
        return L->pval[k] >= 0 ? L->pval[k] : lw_f(L, 0);
    if (y->local && !y->array && !y->pset && y->type != VA_STRING && va_const_value(y->init, &x))
        return y->type == VA_INTEGER ? lw_int(L, lw_f(L, x)) : lw_f(L, x);
    return ir_in(L->fn, IR_IN_PARAM, k, lw_ir_type(y->type), L->pinst[k]);
}

static ir_val elem(lw *L, const va_sym *y, int32_t pos)
{
    if (y->kind == SY_PARAM)
        return param_elem(L, y, pos);
    ir_val v = L->cur[lw_slot_of(L, y) + pos];
    return v >= 0 ? v : lw_ir_type(y->type) == IR_F64 ? L->zero_f : L->zero_i;
}

/* The element that an index chooses at run time, by a chain of selects; outside of the bounds 0. */
static ir_val dynamic_elem(lw *L, const va_sym *y, ir_val index)
{
    ir_val v = lw_ir_type(y->type) == IR_F64 ? L->zero_f : L->zero_i;
    for (int32_t k = 0; k < y->n; k++) {
        ir_val hit = lw_bin(L, IR_IEQ, index, lw_i(L, y->first + y->step * k));
        v = lw_sel(L, hit, elem(L, y, k), v);
    }
    return v;
}

static bool index_in_range(lw *L, const va_sym *y, const va_expr *e, int32_t k, int32_t *pos)
{
    *pos = (k - y->first) * y->step;
    if (*pos >= 0 && *pos < y->n)
        return true;
    lw_error(L, e->span, e->macro, "index %d is outside of '%s[%d:%d]'", k, y->name, y->first,
             y->first + y->step * (y->n - 1));
    *pos = 0;
    return false;
}

static ir_val lower_name(lw *L, const va_expr *e)
{
    const va_sym *y = e->sym;
    if (!y || (y->kind != SY_PARAM && y->kind != SY_VAR && y->kind != SY_GENVAR))
        return L->zero_f;
    if (!e->n_arg)
        return elem(L, y, 0);
    double x;
    int32_t pos;
    ir_val index = lw_int(L, lw_expr(L, e->arg[0]));
    if (!lw_konst(L, index, &x))
        return dynamic_elem(L, y, index);
    index_in_range(L, y, e->arg[0], (int32_t)x, &pos);
    return elem(L, y, pos);
}

void lw_assign_elem(lw *L, const va_sym *y, const va_expr *index_expr, ir_val v)
{
    int32_t slot = lw_slot_of(L, y), pos = 0;
    double x;
    v = lw_as(L, v, lw_ir_type(y->type));
    if (!index_expr) {
        lw_set(L, slot, v);
        return;
    }
    ir_val index = lw_int(L, lw_expr(L, index_expr));
    if (lw_konst(L, index, &x)) {
        if (index_in_range(L, y, index_expr, (int32_t)x, &pos))
            lw_set(L, slot + pos, v);
        return;
    }
    for (int32_t k = 0; k < y->n; k++) {
        ir_val hit = lw_bin(L, IR_IEQ, index, lw_i(L, y->first + y->step * k));
        lw_set(L, slot + k, lw_sel(L, hit, v, elem(L, y, k)));
    }
}

/* -- operators -- */

static ir_val lower_unary(lw *L, const va_expr *e)
{
    ir_val a = lw_expr(L, e->arg[0]);
    switch (e->op) {
    case '-':
        return type_of(L, a) == IR_F64 ? lw_un(L, IR_NEG, a) : lw_un(L, IR_INEG, lw_int(L, a));
    case '!': return lw_un(L, IR_BNOT, lw_bool(L, a));
    case '~': return lw_un(L, IR_INOT, lw_int(L, a));
    default: return a;
    }
}

/* Integers: x**y, y < 0 gives 0 except for |x| = 1 (LRM table 4-5). */
static ir_val int_power(lw *L, ir_val a, ir_val b)
{
    return lw_int(L, toward_zero(L, lw_bin(L, IR_POW, lw_real(L, a), lw_real(L, b))));
}

/* >> fills with 0, >>> with the sign: ~(~a >> b) for negative a. */
static ir_val arith_shift(lw *L, ir_val a, ir_val b)
{
    ir_val neg = lw_bin(L, IR_ILT, a, lw_i(L, 0));
    ir_val flipped = lw_un(L, IR_INOT, lw_bin(L, IR_ISHR, lw_un(L, IR_INOT, a), b));
    return lw_sel(L, neg, flipped, lw_bin(L, IR_ISHR, a, b));
}

static ir_val compare(lw *L, int op, ir_val a, ir_val b, bool ints)
{
    switch (op) {
    case '<': return lw_bin(L, ints ? IR_ILT : IR_FLT, a, b);
    case '>': return lw_bin(L, ints ? IR_ILT : IR_FLT, b, a);
    case T_LE: return lw_bin(L, ints ? IR_ILE : IR_FLE, a, b);
    case T_GE: return lw_bin(L, ints ? IR_ILE : IR_FLE, b, a);
    case T_EQ: return lw_bin(L, ints ? IR_IEQ : IR_FEQ, a, b);
    default: return lw_bin(L, ints ? IR_INE : IR_FNE, a, b);
    }
}

static ir_op arith_op(int op, bool ints)
{
    switch (op) {
    case '+': return ints ? IR_IADD : IR_ADD;
    case '-': return ints ? IR_ISUB : IR_SUB;
    case '*': return ints ? IR_IMUL : IR_MUL;
    case '/': return ints ? IR_IDIV : IR_DIV;
    case '%': return ints ? IR_IMOD : IR_FMOD;
    default: return IR_POW;
    }
}

static ir_val lower_bits(lw *L, int op, ir_val a, ir_val b)
{
    a = lw_int(L, a);
    b = lw_int(L, b);
    switch (op) {
    case '&': return lw_bin(L, IR_IAND, a, b);
    case '|': return lw_bin(L, IR_IOR, a, b);
    case '^': return lw_bin(L, IR_IXOR, a, b);
    case T_XNOR: return lw_un(L, IR_INOT, lw_bin(L, IR_IXOR, a, b));
    case T_SHL: return lw_bin(L, IR_ISHL, a, b);
    case T_SHR: return lw_bin(L, IR_ISHR, a, b);
    default: return arith_shift(L, a, b);
    }
}

static ir_val lower_binary(lw *L, const va_expr *e)
{
    ir_val a = lw_expr(L, e->arg[0]);
    double k;
    if (e->op == T_AND || e->op == T_OR) {
        a = lw_bool(L, a);
        if (lw_konst(L, a, &k) && (k != 0) == (e->op == T_OR))
            return a; /* the right side is not evaluated, and may make no sense */
        ir_val c = lw_bool(L, lw_expr(L, e->arg[1]));
        return lw_bin(L, e->op == T_AND ? IR_BAND : IR_BOR, a, c);
    }
    ir_val b = lw_expr(L, e->arg[1]);
    bool ints = type_of(L, a) != IR_F64 && type_of(L, b) != IR_F64;
    ir_type t = ints ? IR_I32 : IR_F64;
    switch (e->op) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%': return lw_bin(L, arith_op(e->op, ints), lw_as(L, a, t), lw_as(L, b, t));
    case T_POW: return ints ? int_power(L, a, b) : lw_bin(L, IR_POW, lw_real(L, a), lw_real(L, b));
    case '<':
    case '>':
    case T_LE:
    case T_GE:
    case T_EQ:
    case T_NE: return compare(L, e->op, lw_as(L, a, t), lw_as(L, b, t), ints);
    default: return lower_bits(L, e->op, a, b);
    }
}

/* Whether an arm is so cheap that both may be computed. */
static int cost(const va_expr *e)
{
    if (e->kind == EX_NUM || e->kind == EX_STR)
        return 0;
    if (e->kind == EX_NAME)
        return e->n_arg ? 20 : 0;
    if (e->kind != EX_UN && e->kind != EX_BIN)
        return 100;
    int n = e->kind == EX_BIN && (e->op == '/' || e->op == T_POW) ? 20 : 1;
    for (int i = 0; i < e->n_arg && n < 100; i++)
        n += cost(e->arg[i]);
    return n;
}

static ir_val lower_cond(lw *L, const va_expr *e)
{
    ir_val c = lw_bool(L, lw_expr(L, e->arg[0]));
    ir_type t = lw_ir_type(e->type);
    double k;
    if (lw_konst(L, c, &k))
        return lw_as(L, lw_expr(L, e->arg[k != 0 ? 1 : 2]), t);
    if (cost(e->arg[1]) + cost(e->arg[2]) <= 4) {
        ir_val a = lw_as(L, lw_expr(L, e->arg[1]), t);
        return lw_sel(L, c, a, lw_as(L, lw_expr(L, e->arg[2]), t));
    }
    lw_region r = lw_if(L, c);
    ir_val a = lw_as(L, lw_expr(L, e->arg[1]), t);
    lw_else(L, &r);
    ir_val b = lw_as(L, lw_expr(L, e->arg[2]), t);
    return lw_end_value(L, &r, a, b);
}

/* -- calls -- */

static ir_val lower_abs(lw *L, ir_val a)
{
    if (type_of(L, a) == IR_F64)
        return lw_un(L, IR_ABS, a);
    a = lw_int(L, a);
    return lw_sel(L, lw_bin(L, IR_ILT, a, lw_i(L, 0)), lw_un(L, IR_INEG, a), a);
}

static ir_val lower_minmax(lw *L, bool max, ir_val a, ir_val b)
{
    if (type_of(L, a) == IR_F64 || type_of(L, b) == IR_F64)
        return lw_bin(L, max ? IR_MAX : IR_MIN, lw_real(L, a), lw_real(L, b));
    a = lw_int(L, a);
    b = lw_int(L, b);
    return lw_sel(L, max ? lw_bin(L, IR_ILT, b, a) : lw_bin(L, IR_ILT, a, b), a, b);
}

/* Least n with 2**n >= a; 0 for a <= 1. Exact for 32 bits: counts the bits of a - 1. */
static ir_val lower_clog2(lw *L, ir_val a)
{
    ir_val n = lw_i(L, 0), x = lw_bin(L, IR_ISUB, lw_int(L, a), lw_i(L, 1));
    for (int b = 0; b < 31; b++)
        n = lw_sel(L, lw_bin(L, IR_ILE, lw_i(L, (int32_t)(1u << b)), x), lw_i(L, b + 1), n);
    return n;
}

/* x up to 80, then the tangent: no overflow, and exact where models work. */
static ir_val limited_exp(lw *L, ir_val x)
{
    ir_val lim = lw_f(L, 80.0), e = lw_un(L, IR_EXP, lw_bin(L, IR_MIN, x, lim));
    ir_val over = lw_bin(L, IR_ADD, lw_f(L, 1.0), lw_bin(L, IR_SUB, x, lim));
    return lw_sel(L, lw_bin(L, IR_FLE, x, lim), e, lw_bin(L, IR_MUL, e, over));
}

static const struct {
    const char *name;
    int16_t k;
    bool dyn;
} simparam[] = {
#define X(name, ...) {#name, IR_SIMPARAM_##name, false},
    IR_SIMPARAM_LIST(X)
#undef X
        {"gmin", IR_DYN_GMIN, true},
    {"sourceScaleFactor", IR_DYN_SRCFACT, true},
    {"iteration", IR_DYN_ITER, true},
    {"hertz", IR_DYN_FREQ, true},
};

static ir_val lower_simparam(lw *L, const va_expr *e)
{
    const char *cand[VS_COUNT(simparam)], *name = e->arg[0]->name;
    for (size_t i = 0; i < VS_COUNT(simparam); i++) {
        cand[i] = simparam[i].name;
        if (strcmp(name, simparam[i].name))
            continue;
        if (!simparam[i].dyn)
            return ir_in(L->fn, IR_IN_SIMPARAM, simparam[i].k, IR_F64, false);
        if (!L->params)
            return lw_dyn(L, (ir_dyn)simparam[i].k);
        if (e->n_arg < 2)
            return lw_f(L, simparam[i].k == IR_DYN_GMIN   ? 1e-12
                           : simparam[i].k == IR_DYN_FREQ ? 0
                                                          : 1);
    }
    if (e->n_arg > 1)
        return lw_real(L, lw_expr(L, e->arg[1]));
    lw_error(L, e->arg[0]->span, e->arg[0]->macro,
             "unknown simulation parameter \"%s\" and no default value", name);
    diag_suggest(L->c->d, name, cand, VS_COUNT(cand));
    return L->zero_f;
}

/* kT/q in volts, with the constants of CODATA 2018, which are exact. */
static ir_val lower_vt(lw *L, const va_expr *e)
{
    ir_val t =
        e->n_arg ? lw_real(L, lw_expr(L, e->arg[0])) : ir_in(L->fn, IR_IN_TEMP, 0, IR_F64, false);
    return lw_bin(L, IR_MUL, t, lw_f(L, 1.380649e-23 / 1.602176634e-19));
}

static ir_val lower_analysis(lw *L, const va_expr *e)
{
    static const struct {
        const char *name;
        ir_dyn k;
    } kind[] = {{"dc", IR_DYN_IS_DC},           {"op", IR_DYN_IS_DC},
                {"tran", IR_DYN_IS_TRAN},       {"ac", IR_DYN_IS_AC},
                {"noise", IR_DYN_IS_NOISE},     {"ic", IR_DYN_IS_IC},
                {"nodeset", IR_DYN_IS_NODESET}, {"static", IR_DYN_IS_STATIC}};
    ir_val any = lw_b(L, false);
    for (int i = 0; i < e->n_arg; i++)
        for (size_t k = 0; k < VS_COUNT(kind); k++)
            if (!strcmp(e->arg[i]->name, kind[k].name))
                any = lw_bin(L, IR_BOR, any, lw_bool(L, lw_dyn(L, kind[k].k)));
    return any;
}

static ir_val lower_param_given(lw *L, const va_expr *e)
{
    const va_sym *y = e->arg[0]->sym;
    if (L->pset && !y->pset)
        return lw_b(L, y->bound != NULL);
    if (y->local)
        return lw_b(L, false);
    int32_t k = param_index(L, y);
    return ir_in(L->fn, IR_IN_GIVEN, k, IR_BOOL, L->pinst[k]);
}

static ir_val lower_user_call(lw *L, const va_expr *e)
{
    va_func *f = e->sym->func;
    ir_val *arg = NULL;
    for (int i = 0; i < e->n_arg; i++) {
        const va_sym *want = f->arg[i];
        for (int32_t k = 0; k < want->n; k++) {
            ir_val v = want->array ? elem(L, e->arg[i]->sym, k) : lw_expr(L, e->arg[i]);
            vec_push(arg, lw_as(L, v, lw_ir_type(want->type)));
        }
    }
    ir_val v = lw_inline(L, e, f, arg, e->arg);
    vec_free(arg);
    return v;
}

static ir_val lower_call(lw *L, const va_expr *e)
{
    ir_val a = IR_NONE, b = IR_NONE;
    switch (e->op) {
    case FN_USER: return lower_user_call(L, e);
    case FN_ACCESS: return lw_access(L, e);
    case FN_SIMPARAM: return lower_simparam(L, e);
    case FN_PARAM_GIVEN: return lower_param_given(L, e);
    case FN_PORT_CONN: return ir_in(L->fn, IR_IN_PORTCONN, e->arg[0]->sym->index, IR_BOOL, false);
    case FN_TEMPERATURE: return ir_in(L->fn, IR_IN_TEMP, 0, IR_F64, false);
    case FN_VT: return lower_vt(L, e);
    case FN_MFACTOR: return ir_in(L->fn, IR_IN_MFACTOR, 0, IR_F64, false);
    case FN_ZERO: return lw_f(L, 0);
    case FN_ONE: return lw_i(L, 1);
    case FN_SKIP: return lw_i(L, 0);
    case FN_ABSTIME: return ir_in(L->fn, IR_IN_ABSTIME, 0, IR_F64, false);
    case FN_ANALYSIS: return lower_analysis(L, e);
    case FN_DDT:
    case FN_DDX:
    case FN_IDT:
    case FN_WHITE:
    case FN_FLICKER:
    case FN_TABLE:
    case FN_TABLE_LOG:
    case FN_LIMIT:
    case FN_TRANSITION:
    case FN_SLEW:
    case FN_LAPLACE:
    case FN_IDTMOD:
    case FN_ABSDELAY:
    case FN_LAST_CROSSING: return lw_operator(L, e);
    default: break;
    }
    a = e->n_arg > 0 ? lw_expr(L, e->arg[0]) : L->zero_f;
    b = e->n_arg > 1 ? lw_expr(L, e->arg[1]) : IR_NONE;
    switch (e->op) {
    case FN_ABS: return lower_abs(L, a);
    case FN_MIN:
    case FN_MAX: return lower_minmax(L, e->op == FN_MAX, a, b);
    case FN_INT:
    case FN_RTOI: return lw_int(L, toward_zero(L, lw_real(L, a)));
    case FN_ITOR: return lw_real(L, a);
    case FN_CLOG2: return lower_clog2(L, a);
    case FN_LIMEXP: return limited_exp(L, lw_real(L, a));
    case FN_MATH: {
        ir_op op = (ir_op)va_builtins[(int)e->num].op;
        return b < 0 ? lw_un(L, op, lw_real(L, a)) : lw_bin(L, op, lw_real(L, a), lw_real(L, b));
    }
    default: return L->zero_f;
    }
}

static ir_val lower_any(lw *L, const va_expr *e)
{
    switch (e->kind) {
    case EX_NUM: return e->type == VA_INTEGER ? lw_i(L, (int32_t)e->num) : lw_f(L, e->num);
    case EX_STR: return lw_i(L, str_id(L->c->names, e->name));
    case EX_NAME: return lower_name(L, e);
    case EX_UN: return lower_unary(L, e);
    case EX_BIN: return lower_binary(L, e);
    case EX_COND: return lower_cond(L, e);
    case EX_CALL: return lower_call(L, e);
    case EX_INF: return lw_f(L, e->num * HUGE_VAL);
    default: return L->zero_f;
    }
}

ir_val lw_expr(lw *L, const va_expr *e)
{
    if (!L->stop && vec_len(L->fn->inst) > VA_MAX_INST) {
        lw_error(L, e->span, e->macro, "module grows beyond %d operations", VA_MAX_INST);
        L->stop = true;
    }
    return L->stop ? L->zero_f : lower_any(L, e);
}
