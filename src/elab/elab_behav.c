/* elab_behav.c - expressions of the netlist as Verilog-A modules.
 *
 * An expression becomes
 *     module behav_<hash>(p, n, t2, t3, ..., c0, ...);
 * with a terminal for each node that it reads (p and n are the element's own), a terminal for each
 * current that it reads (bound to the branch-current unknown), a parameter k<i> for each number,
 * and variables w<i> for operands that are used more than once. The text decides the name: elements
 * with the same shape share one module, whatever their numbers. Functions: net.h says what each
 * means; the text below must compute the same. */
#include "elab_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

enum { LARGE = 100 }; /* nodes of an expression's tree */

typedef struct behav {
    elab *e;
    const flat_inst *in;
    int32_t *node;       /* vec; flat nodes of terminals p, n, t2, ... */
    const char **branch; /* vec; elements of terminals c0, ... */
    double *num;         /* vec; values of k0, ... */
    int32_t n_var;
    bool apart; /* a large expression: nodes that it reads get terminals of their own even where
                 * they are p or n, and 0 and 1 become parameters as other numbers do, so that one
                 * module serves all elements of this shape */
    FILE *body; /* statements that set the variables */
    bool failed;
} behav;

static const char *num(behav *b, const net_expr *x);

/* -- leaves -- */

static const char *terminal(behav *b, int32_t node)
{
    size_t i = b->apart ? 2 : 0;
    while (i < vec_len(b->node) && b->node[i] != node)
        i++;
    if (i == vec_len(b->node))
        vec_push(b->node, node);
    return i == 0 ? "p" : i == 1 ? "n" : elab_printf(b->e, "t%zu", i);
}

static const char *voltage(behav *b, int32_t hi, int32_t lo)
{
    if (hi == lo)
        return "0.0";
    if (!lo)
        return elab_printf(b->e, "V(%s)", terminal(b, hi));
    if (!hi)
        return elab_printf(b->e, "(-V(%s))", terminal(b, lo));
    const char *t = terminal(b, hi);
    return elab_printf(b->e, "V(%s, %s)", t, terminal(b, lo));
}

static const char *current(behav *b, const char *element)
{
    size_t i = 0;
    if (element == b->in->name && b->in->expr_is_v && !b->in->is_row)
        return "I(out)";
    while (i < vec_len(b->branch) && b->branch[i] != element)
        i++;
    if (i == vec_len(b->branch))
        vec_push(b->branch, element);
    return elab_printf(b->e, "V(c%zu)", i);
}

static const char *constant(behav *b, double v)
{
    if (!b->apart && !b->e->opt.numbers_move && (v == 0 || v == 1))
        return v == 0 ? "0.0" : "1.0";
    vec_push(b->num, v);
    return elab_printf(b->e, "k%zu", vec_len(b->num) - 1);
}

/* A variable that holds the value of `text`. */
static const char *hold(behav *b, const char *text)
{
    const char *w = elab_printf(b->e, "w%d", (int)b->n_var++);
    fprintf(b->body, "        %s = %s;\n", w, text);
    return w;
}

static const char *held(behav *b, const net_expr *x) { return hold(b, num(b, x)); }

/* -- conditions -- */

static const char *condition(behav *b, const net_expr *x)
{
    static const char *const compare[NET_N_OP] = {
        [NET_LT] = "<",  [NET_LE] = "<=", [NET_GT] = ">",
        [NET_GE] = ">=", [NET_EQ] = "==", [NET_NE] = "!="};
    if (compare[x->op]) {
        const char *l = num(b, x->arg[0]);
        return elab_printf(b->e, "(%s %s %s)", l, compare[x->op], num(b, x->arg[1]));
    }
    if (x->op == NET_AND || x->op == NET_OR) {
        const char *l = condition(b, x->arg[0]);
        return elab_printf(b->e, "(%s %s %s)", l, x->op == NET_AND ? "&&" : "||",
                           condition(b, x->arg[1]));
    }
    if (x->op == NET_NOT)
        return elab_printf(b->e, "(!%s)", condition(b, x->arg[0]));
    return elab_printf(b->e, "(%s != 0.0)", num(b, x));
}

/* -- functions -- */

/* Newton starts at 0 and may pass by points where a function or its slope is infinite. As ngspice
 * does, roots and logarithms take |x|, which is kept off 0; a divisor is kept off 0; exp goes on as
 * a line above 1e99. */
static const char *magnitude(behav *b, const char *w)
{
    return elab_printf(b->e, "max(abs(%s), 1e-32)", w);
}

static const char *divisor(behav *b, const net_expr *x)
{
    if (x->op == NET_NUM && x->num != 0)
        return num(b, x);
    const char *w = held(b, x);
    return elab_printf(b->e, "((abs(%s) < 1e-32) ? 1e-32 : %s)", w, w);
}

static const char *exponential(behav *b, const net_expr *x)
{
    const char *w = held(b, x);
    return elab_printf(b->e, "(exp(min(%s, 227.9559242)) * (1.0 + max(%s - 227.9559242, 0.0)))", w,
                       w);
}

/* w^n by repeated squaring, n > 0. */
static const char *whole_power(behav *b, const char *w, int n)
{
    const char *s = NULL;
    for (const char *square = w; n; n >>= 1) {
        if (n & 1)
            s = s ? elab_printf(b->e, "%s * %s", s, square) : square;
        if (n > 1)
            square = hold(b, elab_printf(b->e, "%s * %s", square, square));
    }
    return elab_printf(b->e, "(%s)", s);
}

/* Whole exponents keep the sign of the base; others take its magnitude. */
static const char *power(behav *b, const net_expr *x, const net_expr *y)
{
    const char *w = held(b, x);
    if (y->op == NET_NUM && y->num == floor(y->num) && fabs(y->num) <= 64) {
        const int n = (int)fabs(y->num);
        if (n == 0)
            return "1.0";
        const char *s = whole_power(b, w, n);
        if (y->num > 0)
            return s;
        const char *v = hold(b, s);
        return elab_printf(b->e, "(1.0 / ((abs(%s) < 1e-32) ? 1e-32 : %s))", v, v);
    }
    const char *base = magnitude(b, w);
    return elab_printf(b->e, "pow(%s, %s)", base, num(b, y));
}

static const char *fold(behav *b, const net_expr *x, const char *fn)
{
    const char *s = num(b, x->arg[0]);
    for (int32_t i = 1; i < x->n_arg; i++)
        s = elab_printf(b->e, "%s(%s, %s)", fn, s, num(b, x->arg[i]));
    return s;
}

/* Numbers of a table: x of point i is at[step i], y is at[step i + y]. */
typedef struct curve {
    const net_expr *const *at;
    int32_t step, y;
} curve;

/* Points i .. j of a curve, as a binary tree of comparisons. */
static const char *between(behav *b, const curve *c, const char *w, int32_t i, int32_t j)
{
    const net_expr *const *left = &c->at[c->step * i], *const *right = &c->at[c->step * j];
    if (j - i == 1) {
        const char *x0 = num(b, left[0]), *y0 = num(b, left[c->y]);
        const char *x1 = num(b, right[0]), *y1 = num(b, right[c->y]);
        return elab_printf(b->e, "(%s + (%s - %s) * ((%s - %s) / (%s - %s)))", y0, w, x0, y1, y0,
                           x1, x0);
    }
    const int32_t mid = i + (j - i) / 2;
    const char *at = num(b, c->at[c->step * mid]), *l = between(b, c, w, i, mid);
    return elab_printf(b->e, "((%s < %s) ? %s : %s)", w, at, l, between(b, c, w, mid, j));
}

static const char *clamped(behav *b, const char *x, const net_expr *first, const net_expr *last)
{
    const char *lo = num(b, first), *hi = num(b, last);
    return hold(b, elab_printf(b->e, "min(max(%s, %s), %s)", x, lo, hi));
}

/* x = table(v, x1,y1, x2,y2 ...), constant outside of its points, or pwl(...), whose first and last
 * line go on there. */
static const char *table(behav *b, const net_expr *x)
{
    const int32_t n = (x->n_arg - 1) / 2;
    if (n == 1)
        return num(b, x->arg[2]);
    const net_expr *const *first = &x->arg[1], *const *last = &x->arg[2 * n - 1];
    const bool down =
        (*first)->op == NET_NUM && (*last)->op == NET_NUM && (*last)->num < (*first)->num;
    const curve c = down ? (curve){last, -2, 1} : (curve){first, 2, 1};
    const char *v = num(b, x->arg[0]);
    const char *w = x->fn == NET_FN_PWLF ? hold(b, v)
                    : down               ? clamped(b, v, *last, *first)
                                         : clamped(b, v, *first, *last);
    return between(b, &c, w, 0, n - 1);
}

static const char *list(behav *b, const double *c, int degree)
{
    const char *s = constant(b, c[0]);
    for (int i = 1; i <= degree; i++)
        s = elab_printf(b->e, "%s, %s", s, constant(b, c[i]));
    return s;
}

/* Coefficients are parameters of the module, so that one module serves all filters of a degree. */
static const char *filter(behav *b, const net_expr *x)
{
    elab *e = b->e;
    elab_ratio h;
    if (!elab_transfer(e, b->in->name, x->arg[1], &h)) {
        b->failed = true;
        return "0.0";
    }
    const char *in = held(b, x->arg[0]),
               *sum = elab_printf(e, "%s * %s", constant(b, h.whole[0]), in);
    if (h.whole[1] != 0)
        sum = elab_printf(e, "%s + %s * ddt(%s)", sum, constant(b, h.whole[1]), in);
    if (h.n_den > 0 && (h.n_num > 0 || h.num[0] != 0)) {
        const char *num = list(b, h.num, h.n_num), *den = list(b, h.den, h.n_den);
        sum = elab_printf(e, "%s + laplace_nd(%s, '{%s}, '{%s})", sum, in, num, den);
    }
    sum = hold(b, sum);
    return h.delay > 0 ? hold(b, elab_printf(e, "absdelay(%s, %s)", sum, constant(b, h.delay)))
                       : sum;
}

static bool refuse_freq_table(behav *b, const net_expr *at, const char *why)
{
    diag_error(b->e->d, at->span, "%s: %s in a table over frequency", b->in->name, why);
    b->failed = true;
    return false;
}

static bool check_freq_table(behav *b, const net_expr *x)
{
    for (int32_t i = 1; i < x->n_arg; i++)
        if (x->arg[i]->op != NET_NUM || !isfinite(x->arg[i]->num))
            return refuse_freq_table(b, x->arg[i], "something else than a finite number");
    if (x->arg[1]->num < 0)
        return refuse_freq_table(b, x->arg[1], "a delay below 0");
    if (x->arg[2]->num < 0)
        return refuse_freq_table(b, x->arg[2], "a frequency below 0");
    for (int32_t i = 5; i < x->n_arg; i += 3)
        if (!(x->arg[i]->num > x->arg[i - 3]->num))
            return refuse_freq_table(b, x->arg[i], "a frequency that is not above the one before");
    return true;
}

/* Part `y` (1: real, 2: imaginary) of the gain at the frequency w, constant beyond the table. */
static const char *gain_part(behav *b, const net_expr *x, const char *w, int32_t y)
{
    const int32_t n = (x->n_arg - 2) / 3;
    const curve c = {&x->arg[2], 3, y};
    return hold(b, n == 1 ? num(b, c.at[y]) : between(b, &c, w, 0, n - 1));
}

/* H x with H = re + j im at the frequency of an ac analysis: re x + im/w dx/dt. The real part of
 * the lowest frequency at operating points; no step of a transient has a frequency. */
static const char *freq_table(behav *b, const net_expr *x)
{
    elab *e = b->e;
    if (!check_freq_table(b, x))
        return "0.0";
    fprintf(
        b->body,
        "        if (analysis(\"tran\"))\n            $fatal(0, \"a table over frequency (FREQ) "
        "says nothing about time: write a transfer function, LAPLACE {v(a)} {1/(1+s*1u)}\");\n");
    const char *f = hold(b, "$simparam(\"hertz\")"), *in = held(b, x->arg[0]),
               *at = clamped(b, f, x->arg[2], x->arg[x->n_arg - 3]), *re = gain_part(b, x, at, 1),
               *im = gain_part(b, x, at, 2),
               *w = hold(b, elab_printf(e, "6.283185307179586 * %s", f));
    if (x->arg[1]->num > 0) { /* exp(-j w delay) */
        const char *turn = hold(b, elab_printf(e, "%s * %s", w, num(b, x->arg[1]))),
                   *c = hold(b, elab_printf(e, "cos(%s)", turn)),
                   *s = hold(b, elab_printf(e, "sin(%s)", turn)), *old = re;
        re = hold(b, elab_printf(e, "%s * %s + %s * %s", re, c, im, s));
        im = hold(b, elab_printf(e, "%s * %s - %s * %s", im, c, old, s));
    }
    const char *slope = hold(b, elab_printf(e, "(%s > 0.0) ? %s / %s : 0.0", f, im, w));
    return elab_printf(e, "(%s * %s + %s * ddt(%s))", re, in, slope, in);
}

static const char *compare0(behav *b, const net_expr *x, const char *op)
{
    return elab_printf(b->e, "((%s %s 0.0) ? 1.0 : 0.0)", num(b, x->arg[0]), op);
}

/* A function as Verilog-A. Long: one case for each function. */
static const char *call(behav *b, const net_expr *x)
{
    elab *e = b->e;
    switch (x->fn) {
    case NET_FN_SIN:
    case NET_FN_COS:
    case NET_FN_TAN:
    case NET_FN_ASIN:
    case NET_FN_ACOS:
    case NET_FN_ATAN:
    case NET_FN_SINH:
    case NET_FN_COSH:
    case NET_FN_TANH:
    case NET_FN_ASINH:
    case NET_FN_ACOSH:
    case NET_FN_ATANH:
    case NET_FN_ABS:
    case NET_FN_FLOOR:
    case NET_FN_CEIL:
    case NET_FN_DDT: return elab_printf(e, "%s(%s)", net_fn_text(x->fn), num(b, x->arg[0]));
    case NET_FN_EXP: return exponential(b, x->arg[0]);
    case NET_FN_LN:
    case NET_FN_LOG10:
    case NET_FN_SQRT: {
        const char *fn = x->fn == NET_FN_LN ? "ln" : x->fn == NET_FN_SQRT ? "sqrt" : "log";
        return elab_printf(e, "%s(%s)", fn, magnitude(b, held(b, x->arg[0])));
    }
    case NET_FN_ATAN2:
    case NET_FN_HYPOT:
    case NET_FN_MIN:
    case NET_FN_MAX: return fold(b, x, net_fn_text(x->fn));
    case NET_FN_IDT:
        if (x->n_arg == 1)
            return elab_printf(e, "idt(%s)", num(b, x->arg[0]));
        return fold(b, x, "idt");
    case NET_FN_LAPLACE: return filter(b, x);
    case NET_FN_FREQTABLE: return freq_table(b, x);
    case NET_FN_POWF: return power(b, x->arg[0], x->arg[1]);
    case NET_FN_PWR: {
        const char *w = held(b, x->arg[0]), *y = num(b, x->arg[1]);
        return elab_printf(e, "(((%s < 0.0) ? -1.0 : 1.0) * pow(%s, %s))", w, magnitude(b, w), y);
    }
    case NET_FN_SGN: {
        const char *w = held(b, x->arg[0]);
        return elab_printf(e, "((%s > 0.0) ? 1.0 : ((%s < 0.0) ? -1.0 : 0.0))", w, w);
    }
    case NET_FN_INT: {
        const char *w = held(b, x->arg[0]);
        return elab_printf(e, "((%s < 0.0) ? ceil(%s) : floor(%s))", w, w, w);
    }
    case NET_FN_NINT: {
        const char *w = held(b, x->arg[0]);
        const char *r = hold(b, elab_printf(e, "floor(%s + 0.5)", w));
        return elab_printf(e,
                           "(((%s - %s == 0.5) && (%s != 2.0 * floor(0.5 * %s))) ? %s - 1.0 : %s)",
                           r, w, r, r, r, r);
    }
    case NET_FN_ROUND: {
        const char *w = held(b, x->arg[0]);
        return elab_printf(e, "((%s < 0.0) ? -floor(0.5 - %s) : floor(%s + 0.5))", w, w, w);
    }
    case NET_FN_U: {
        const char *w = held(b, x->arg[0]);
        return elab_printf(e, "((%s > 0.0) ? 1.0 : (%s < 0.0) ? 0.0 : 0.5)", w, w);
    }
    case NET_FN_U2: return elab_printf(e, "min(max(%s, 0.0), 1.0)", num(b, x->arg[0]));
    case NET_FN_EQ0: return compare0(b, x, "==");
    case NET_FN_NE0: return compare0(b, x, "!=");
    case NET_FN_GT0: return compare0(b, x, ">");
    case NET_FN_LT0: return compare0(b, x, "<");
    case NET_FN_GE0: return compare0(b, x, ">=");
    case NET_FN_LE0: return compare0(b, x, "<=");
    case NET_FN_URAMP: return elab_printf(e, "max(%s, 0.0)", num(b, x->arg[0]));
    case NET_FN_LIMIT: {
        if (x->n_arg < 3)
            return num(b, x->arg[0]);
        const char *v = num(b, x->arg[0]), *lo = num(b, x->arg[1]);
        return elab_printf(e, "min(max(%s, %s), %s)", v, lo, num(b, x->arg[2]));
    }
    case NET_FN_PWLF:
    case NET_FN_TABLE: return table(b, x);
    case NET_FN_FMOD: {
        const char *l = num(b, x->arg[0]);
        return elab_printf(e, "(%s %% %s)", l, divisor(b, x->arg[1]));
    }
    case NET_FN_SQR: {
        const char *w = held(b, x->arg[0]);
        return elab_printf(e, "(%s * %s)", w, w);
    }
    case NET_FN_GAUSS:
    case NET_FN_AGAUSS:
    case NET_FN_UNIF:
    case NET_FN_AUNIF: return num(b, x->arg[0]); /* nominal */
    case NET_FN_USER:
    case NET_N_FN: break;
    }
    diag_error(e->d, x->span, "%s: this function cannot be used here", b->in->name);
    b->failed = true;
    return "0.0";
}

static const char *num(behav *b, const net_expr *x)
{
    elab *e = b->e;
    switch (x->op) {
    case NET_NUM: return constant(b, x->num);
    case NET_VNODE: return voltage(b, x->node[0], x->node[1]);
    case NET_IBRANCH: return current(b, x->name);
    case NET_TIME: return "$abstime";
    case NET_TEMPER: return "($temperature - 273.15)";
    case NET_HERTZ: return "$simparam(\"hertz\")";
    case NET_NEG: return elab_printf(e, "(-%s)", num(b, x->arg[0]));
    case NET_ADD:
    case NET_SUB:
    case NET_MUL: {
        const char *l = num(b, x->arg[0]);
        return elab_printf(e, "(%s %s %s)", l, net_op_text(x->op), num(b, x->arg[1]));
    }
    case NET_DIV:
    case NET_MOD: {
        const char *l = num(b, x->arg[0]);
        return elab_printf(e, "(%s %s %s)", l, net_op_text(x->op), divisor(b, x->arg[1]));
    }
    case NET_POW: return power(b, x->arg[0], x->arg[1]);
    case NET_NOT:
    case NET_LT:
    case NET_LE:
    case NET_GT:
    case NET_GE:
    case NET_EQ:
    case NET_NE:
    case NET_AND:
    case NET_OR: return elab_printf(e, "(%s ? 1.0 : 0.0)", condition(b, x));
    case NET_COND: {
        const char *c = condition(b, x->arg[0]), *l = num(b, x->arg[1]);
        return elab_printf(e, "(%s ? %s : %s)", c, l, num(b, x->arg[2]));
    }
    case NET_CALL: return call(b, x);
    case NET_S:
    case NET_STR:
    case NET_PARAM:
    case NET_N_OP: break;
    }
    diag_error(e->d, x->span, "%s: '%s' cannot be used in an expression of voltages", b->in->name,
               x->name ? x->name : net_op_text(x->op));
    b->failed = true;
    return "0.0";
}

/* -- modules -- */

/* The module around a contribution; `out` is used in it as a branch from p to n. */
static const char *module_text(behav *b, const char *body, const char *contribution)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = stream_text(&text, &len);
    fprintf(f, "(p, n");
    for (size_t i = 2; i < vec_len(b->node); i++)
        fprintf(f, ", t%zu", i);
    for (size_t i = 0; i < vec_len(b->branch); i++)
        fprintf(f, ", c%zu", i);
    fprintf(f, ");\n    inout p, n;\n    electrical p, n;\n");
    for (size_t i = 2; i < vec_len(b->node); i++)
        fprintf(f, "    inout t%zu;\n    electrical t%zu;\n", i, i);
    for (size_t i = 0; i < vec_len(b->branch); i++)
        fprintf(f, "    inout c%zu;\n    electrical c%zu;\n", i, i);
    fprintf(f, "    branch (p, n) out;\n");
    for (size_t i = 0; i < vec_len(b->num); i++)
        fprintf(f, "    (* type=\"instance\" *) parameter real k%zu = 0.0;\n", i);
    for (int32_t i = 0; i < b->n_var; i++)
        fprintf(f, "    real w%d;\n", (int)i);
    fprintf(f, "    analog begin\n%s        %s\n    end\nendmodule\n", body, contribution);
    stream_close(f);
    const char *copy = elab_printf(b->e, "%s", text);
    vs_free(text);
    return copy;
}

static mdl_model *module_for(behav *b, const char *text)
{
    const char *name =
        elab_printf(b->e, "behav_%016llx", (unsigned long long)str_hash(text, strlen(text)));
    mdl_model *m = mdl_find(b->e->lib, name);
    if (m)
        return m;
    const char *whole = elab_printf(b->e, "`include \"disciplines.vams\"\nmodule %s%s", name, text);
    if (mdl_load_text(b->e->lib, name, whole) != VS_OK) {
        diag_note(b->e->d, b->in->span, "in the module written for the expression of '%s'",
                  b->in->name);
        return NULL;
    }
    return mdl_find(b->e->lib, name);
}

static vs_status add_module(behav *b, const char *contribution, char **body)
{
    elab *e = b->e;
    stream_close(b->body);
    b->body = NULL;
    mdl_model *m = b->failed ? NULL : module_for(b, module_text(b, *body, contribution));
    if (!m)
        return VS_EINPUT;
    int32_t *to = NULL;
    mdl_given *given = NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(b->node); i++)
        vec_push(to, e->node[b->node[i]]);
    for (size_t i = 0; i < vec_len(b->branch); i++) {
        const int32_t k = elab_branch(e, b->branch[i]);
        if (k < 0) {
            diag_error(e->d, b->in->span,
                       "%s: there is no current i(%s) among the unknowns; put a "
                       "voltage source of 0 V in series",
                       b->in->name, b->branch[i]);
            st = VS_EINPUT;
        }
        vec_push(to, k);
    }
    for (size_t i = 0; i < vec_len(b->num); i++)
        vec_push(given,
                 (mdl_given){elab_param(e, m, elab_printf(e, "k%zu", i)), b->num[i], DIAG_NOWHERE});
    if (st == VS_OK)
        st = elab_add(e, b->in, m, given, vec_len(given), to, NULL, elab_kelvin(e), b->in->m);
    vec_free(to);
    vec_free(given);
    return st;
}

/* Do the trees have more than `most` leaves and operators? */
static bool exceeds(const net_expr *x, int *most)
{
    for (int32_t i = 0; i < x->n_arg && *most > 0; i++)
        exceeds(x->arg[i], most);
    return --*most < 0;
}

static behav begin(elab *e, const flat_inst *in, char **body, size_t *len)
{
    behav b = {.e = e, .in = in, .body = stream_text(body, len)};
    vec_push(b.node, in->node[0]);
    vec_push(b.node, in->node[1]);
    return b;
}

static vs_status end(behav *b, const char *contribution, char **body)
{
    const vs_status st = add_module(b, contribution, body);
    vec_free(b->node);
    vec_free(b->branch);
    vec_free(b->num);
    vs_free(*body);
    return st;
}

static bool has_param(const flat_inst *in, const char *name)
{
    for (size_t i = 0; i < vec_len(in->param); i++)
        if (!strcmp(in->param[i].name, name))
            return true;
    return false;
}

static bool of_temperature(const char *name)
{
    return !strcmp(name, "tc1") || !strcmp(name, "tc2") || !strcmp(name, "temp") ||
           !strcmp(name, "dtemp");
}

/* The factor of the expression's value at the element's temperature: 1 + tc1 dt + tc2 dt^2 with
 * dt = T - tnom. */
static double temperature_factor(const elab *e, const flat_inst *in)
{
    double tc1 = 0, tc2 = 0, t = elab_kelvin(e) - 273.15, dtemp = 0;
    for (size_t i = 0; i < vec_len(in->param); i++) {
        const flat_param *p = &in->param[i];
        if (!of_temperature(p->name))
            continue;
        double *to = !strcmp(p->name, "tc1")    ? &tc1
                     : !strcmp(p->name, "tc2")  ? &tc2
                     : !strcmp(p->name, "temp") ? &t
                                                : &dtemp;
        *to = p->value;
    }
    const double dt = t + dtemp - e->simparam[IR_SIMPARAM_tnom];
    return 1 + dt * (tc1 + dt * tc2);
}

/* Warns of parameters on the line that an element with an expression does not use. The parameter
 * whose value is NaN holds the expression itself. */
static void warn_params(elab *e, const flat_inst *in)
{
    for (size_t i = 0; i < vec_len(in->param); i++)
        if (!isnan(in->param[i].value) && strcmp(in->param[i].name, "m") &&
            strcmp(in->param[i].name, "poly") && !of_temperature(in->param[i].name))
            diag_warning(e->d, in->param[i].span,
                         "%s: parameter '%s' has no effect beside an expression", in->name,
                         in->param[i].name);
}

/* R: i = v/x. C: i = x dv/dt, or x is the charge. L: v = x di/dt. Else the voltage or the current.
 */
static const char *contribution_form(const flat_inst *in)
{
    switch (in->letter) {
    case 'r': return "I(out) <+ V(out) / (%s);";
    case 'c': return has_param(in, "q") ? "I(out) <+ ddt(%s);" : "I(out) <+ (%s) * ddt(V(out));";
    case 'l': return "V(out) <+ (%s) * ddt(I(out));";
    default:
        if (in->is_row) /* one unknown, where a voltage source has two */
            return "I(out) <+ V(out) - (%s);";
        return in->expr_is_v ? "V(out) <+ %s;" : "I(out) <+ %s;";
    }
}

vs_status elab_behavioural(elab *e, const flat_inst *in)
{
    char *body = NULL;
    size_t len = 0;
    behav b = begin(e, in, &body, &len);
    int most = LARGE;
    b.apart = exceeds(in->rare->expr, &most);
    warn_params(e, in);
    const char *x = in->letter == 'r' ? divisor(&b, in->rare->expr) : num(&b, in->rare->expr);
    const double factor = temperature_factor(e, in);
    if (factor != 1)
        x = elab_printf(e, "((%s) * %s)", x, constant(&b, factor));
    const char *form = contribution_form(in), *at = strstr(form, "%s");
    const char *text = elab_printf(e, "%.*s%s%s", (int)(at - form), form, x, at + 2);
    return end(&b, text, &body);
}

/* -- POLY -- */

/* The next monomial of a degree, SPICE's order: indices that do not decrease, the last one fastest.
 * x1 x1, x1 x2, x1 x3, x2 x2, ... False after the last one. */
static bool next_monomial(int *index, int degree, int dim)
{
    int i = degree - 1;
    while (i >= 0 && index[i] == dim - 1)
        i--;
    if (i < 0)
        return false;
    const int v = index[i] + 1;
    for (; i < degree; i++)
        index[i] = v;
    return true;
}

static const char *monomial(behav *b, const char *const *control, const int *index, int degree,
                            double coefficient)
{
    const char *s = constant(b, coefficient);
    for (int i = 0; i < degree; i++)
        s = elab_printf(b->e, "%s * %s", s, control[index[i]]);
    return s;
}

/* c0 + c1 x1 + ...; a single coefficient of one control is c1. */
static const char *polynomial(behav *b, const char *const *control, int dim)
{
    enum { MAX_DEGREE = 64 };
    const double *c = b->in->rare->poly;
    const size_t n = vec_len(c);
    if (dim == 1 && n == 1)
        return monomial(b, control, &(int){0}, 1, c[0]);
    const char *s = constant(b, c[0]);
    size_t k = 1;
    int index[MAX_DEGREE];
    for (int degree = 1; k < n && degree <= MAX_DEGREE; degree++) {
        memset(index, 0, sizeof index);
        do {
            if (c[k] != 0)
                s = elab_printf(b->e, "%s + %s", s, monomial(b, control, index, degree, c[k]));
            k++;
        } while (k < n && next_monomial(index, degree, dim));
    }
    return s;
}

vs_status elab_poly(elab *e, const flat_inst *in, int32_t dim)
{
    const bool by_current = in->letter == 'f' || in->letter == 'h';
    const int32_t have = by_current ? (int32_t)vec_len(in->rare->ref) : (in->n_node - 2) / 2;
    if (in->n_node < 2 || have < dim) {
        diag_error(e->d, in->span, "%s: POLY(%d) needs %d controlling %s, %d given", in->name,
                   (int)dim, (int)dim, by_current ? "sources" : "pairs of nodes", (int)have);
        return VS_EINPUT;
    }
    char *body = NULL;
    size_t len = 0;
    behav b = begin(e, in, &body, &len);
    const char **control = NULL;
    for (int32_t i = 0; i < dim; i++) {
        const char *x = by_current ? current(&b, in->rare->ref[i])
                                   : voltage(&b, in->node[2 + 2 * i], in->node[3 + 2 * i]);
        vec_push(control, hold(&b, x));
    }
    const bool volts = in->letter == 'e' || in->letter == 'h';
    const char *text =
        elab_printf(e, "%s(out) <+ %s;", volts ? "V" : "I", polynomial(&b, control, dim));
    vec_free(control);
    return end(&b, text, &body);
}
