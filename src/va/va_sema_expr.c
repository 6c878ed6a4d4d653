/* va_sema_expr.c - Verilog-A expressions: names, types, arguments.
 * Source: Verilog-AMS LRM 2.4, clause 4. Types are written into the tree; an operand that is
 * already wrong has TY_ERROR and causes no second message. */
#include "va_ast.h"

#include <math.h>
#include <string.h>

static void bad(va_sema *s) { s->m->bad = true; }

#define ERR(s, e, ...) (bad(s), va_error((s)->c, (e)->at, (e)->macro, __VA_ARGS__))

va_sym *va_lookup(va_sema *s, const char *name)
{
    int32_t k = map_get(&s->bind, map_key(name), -1);
    return k < 0 ? NULL : s->sym[k];
}

void va_unknown_name(va_sema *s, const va_expr *e, const char *what)
{
    const char **cand = NULL;
    bad(s);
    if (map_get(&s->unknown, map_key(e->name), 0))
        return; /* once for each name */
    map_set(&s->unknown, map_key(e->name), 1);
    ERR(s, e, "unknown %s '%s'", what, e->name);
    if (e->kind == EX_NAME && va_find_builtin(s->c, e->name)) {
        diag_note(s->c->d, DIAG_NOWHERE, "'%s' is a function: expected '%s(...)'", e->name,
                  e->name);
        return;
    }
    for (size_t i = 0; i < vec_len(s->sym); i++)
        if (va_lookup(s, s->sym[i]->name) == s->sym[i])
            vec_push(cand, s->sym[i]->name);
    for (size_t i = 0; e->kind == EX_CALL && i < va_n_builtin; i++)
        if (va_builtins[i].cls != FC_REFUSE)
            vec_push(cand, va_builtins[i].name);
    for (size_t i = 0; e->kind == EX_CALL && i < vec_len(s->c->nature); i++)
        if (s->c->nature[i]->access)
            vec_push(cand, s->c->nature[i]->access);
    diag_suggest(s->c->d, e->name, cand, vec_len(cand));
    vec_free(cand);
}

/* -- constants -- */

typedef struct konst {
    double v;
    bool is_int;
} konst;

static bool const_of(const va_expr *e, konst *k, int depth);

static bool const_binary(const va_expr *e, konst *k, int depth)
{
    konst a, b;
    if (!const_of(e->arg[0], &a, depth) || !const_of(e->arg[1], &b, depth))
        return false;
    bool ints = a.is_int && b.is_int;
    k->is_int = ints;
    switch (e->op) {
    case '+': k->v = a.v + b.v; return true;
    case '-': k->v = a.v - b.v; return true;
    case '*': k->v = a.v * b.v; return true;
    case '/': k->v = ints ? (b.v != 0 ? trunc(a.v / b.v) : 0) : a.v / b.v; return true;
    case '%': k->v = b.v != 0 ? fmod(a.v, b.v) : 0; return true;
    case T_POW: k->v = ints ? trunc(pow(a.v, b.v)) : pow(a.v, b.v); return true;
    case '<': k->v = a.v < b.v; break;
    case '>': k->v = a.v > b.v; break;
    case T_LE: k->v = a.v <= b.v; break;
    case T_GE: k->v = a.v >= b.v; break;
    case T_EQ: k->v = a.v == b.v; break;
    case T_NE: k->v = a.v != b.v; break;
    case T_AND: k->v = a.v != 0 && b.v != 0; break;
    case T_OR: k->v = a.v != 0 || b.v != 0; break;
    default: return false;
    }
    k->is_int = true;
    return true;
}

static bool const_of(const va_expr *e, konst *k, int depth)
{
    konst a;
    if (depth > VA_MAX_NEST)
        return false;
    switch (e->kind) {
    case EX_NUM: *k = (konst){e->num, e->type == VA_INTEGER}; return true;
    case EX_UN:
        if (!const_of(e->arg[0], &a, depth + 1))
            return false;
        *k = (konst){e->op == '-' ? -a.v : e->op == '!' ? a.v == 0 : a.v, a.is_int || e->op == '!'};
        return e->op == '-' || e->op == '+' || e->op == '!';
    case EX_BIN: return const_binary(e, k, depth + 1);
    case EX_COND:
        return const_of(e->arg[0], &a, depth + 1) &&
               const_of(e->arg[a.v != 0 ? 1 : 2], k, depth + 1);
    case EX_NAME:
        if (!e->sym || e->sym->kind != SY_PARAM || !e->sym->local || e->sym->array ||
            e->sym->pset || !e->sym->init || !const_of(e->sym->init, k, depth + 50))
            return false;
        if (e->sym->type == VA_INTEGER && !e->sym->untyped)
            *k = (konst){round(k->v), true};
        else if (e->sym->type == VA_REAL && !e->sym->untyped)
            k->is_int = false;
        return true;
    default: return false;
    }
}

bool va_const_value(const va_expr *e, double *value)
{
    konst k;
    if (!const_of(e, &k, 0))
        return false;
    *value = k.v;
    return true;
}

/* -- types -- */

static bool is_numeric(int t) { return t == VA_REAL || t == VA_INTEGER; }

static const char *type_text(int t)
{
    switch (t) {
    case VA_REAL: return "real";
    case VA_INTEGER: return "an integer";
    case VA_STRING: return "a string";
    case TY_LIST: return "a list";
    case TY_NODE: return "a node";
    case TY_BRANCH: return "a branch";
    default: return "without a value";
    }
}

static const char *op_text(int op)
{
    static const char *const multi[] = {"<+", "<=", ">=",  "==", "!=", "&&", "||",
                                        "<<", ">>", ">>>", "**", "~^", "~&", "~|"};
    static const char single[] = "+\0-\0*\0/\0%\0<\0>\0!\0&\0|\0^\0~\0?";
    if (op >= T_CONTRIB)
        return multi[op - T_CONTRIB];
    for (const char *p = single; p < single + sizeof single; p += 2)
        if (*p == op)
            return p;
    return "?";
}

/* The value of a must be a number; names it in the message otherwise. */
static bool want_number(va_sema *s, const va_expr *a, const char *of)
{
    if (is_numeric(a->type))
        return true;
    if (a->type != TY_ERROR) {
        bad(s);
        va_error(s->c, a->span, a->macro, "%s is %s: expected a number", of, type_text(a->type));
        const va_sym *n = a->type == TY_NODE     ? a->sym
                          : a->type == TY_BRANCH ? a->sym->hi->sym
                                                 : NULL;
        if (n && n->disc && n->disc->pot && n->disc->pot->access)
            diag_note(s->c->d, DIAG_NOWHERE, "did you mean '%s(%s)'?", n->disc->pot->access,
                      a->name);
    }
    return false;
}

static bool want_integer(va_sema *s, const va_expr *e, const va_expr *a)
{
    if (!want_number(s, a, "operand"))
        return false;
    if (a->type == VA_INTEGER)
        return true;
    ERR(s, e, "'%s' needs integer operands, not real", op_text(e->op));
    return false;
}

static void check_unary(va_sema *s, va_expr *e)
{
    va_expr *a = e->arg[0];
    va_sema_expr(s, a);
    switch (e->op) {
    case '+':
    case '-':
        if (want_number(s, a, "operand"))
            e->type = a->type;
        break;
    case '!':
        if (want_number(s, a, "operand"))
            e->type = VA_INTEGER;
        break;
    case '~':
        if (want_integer(s, e, a))
            e->type = VA_INTEGER;
        break;
    default: ERR(s, e, "reduction operator '%s' is not supported", op_text(e->op));
    }
}

static void check_binary(va_sema *s, va_expr *e)
{
    va_expr *a = e->arg[0], *b = e->arg[1];
    va_sema_expr(s, a);
    va_sema_expr(s, b);
    if (a->type == TY_ERROR || b->type == TY_ERROR)
        return;
    bool equality = e->op == T_EQ || e->op == T_NE;
    if (equality && a->type == VA_STRING && b->type == VA_STRING) {
        e->type = VA_INTEGER;
        return;
    }
    if ((a->type == VA_STRING) != (b->type == VA_STRING) && equality) {
        ERR(s, e, "a string is compared with a number");
        return;
    }
    bool ok = want_number(s, a, "operand");
    if (!(want_number(s, b, "operand") && ok))
        return;
    switch (e->op) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
    case T_POW:
        e->type = a->type == VA_INTEGER && b->type == VA_INTEGER ? VA_INTEGER : VA_REAL;
        break;
    case '&':
    case '|':
    case '^':
    case T_XNOR:
    case T_SHL:
    case T_SHR:
    case T_ASHR:
        if (want_integer(s, e, a) && want_integer(s, e, b))
            e->type = VA_INTEGER;
        break;
    default: e->type = VA_INTEGER;
    }
}

static void check_cond(va_sema *s, va_expr *e)
{
    for (int i = 0; i < 3; i++)
        va_sema_expr(s, e->arg[i]);
    int a = e->arg[1]->type, b = e->arg[2]->type;
    if (!want_number(s, e->arg[0], "condition") || a == TY_ERROR || b == TY_ERROR)
        return;
    if (a == VA_STRING && b == VA_STRING)
        e->type = VA_STRING;
    else if (is_numeric(a) && is_numeric(b))
        e->type = a == VA_INTEGER && b == VA_INTEGER ? VA_INTEGER : VA_REAL;
    else
        ERR(s, e, "the two values of '?' have different types: %s and %s", type_text(a),
            type_text(b));
}

/* -- names -- */

static void check_index(va_sema *s, va_expr *e)
{
    va_expr *i = e->arg[0];
    double k;
    va_sema_expr(s, i);
    if (e->sym->bad_dims)
        return;
    if (i->type == VA_REAL) {
        bad(s);
        va_error(s->c, i->span, i->macro, "index is real: expected an integer");
        return;
    }
    if (!want_number(s, i, "index"))
        return;
    if (!va_const_value(i, &k)) {
        s->n_index++;
        return;
    }
    double pos = (k - e->sym->first) * e->sym->step;
    if (pos < 0 || pos >= e->sym->n) {
        bad(s);
        va_error(s->c, i->span, i->macro, "index %g is outside of '%s[%d:%d]'", k, e->sym->name,
                 e->sym->first, e->sym->first + e->sym->step * (e->sym->n - 1));
    }
}

/* Resolves a name of any kind; the caller says which kinds it wants. */
static void resolve_name(va_sema *s, va_expr *e, const char *what)
{
    va_sym *y = va_lookup(s, e->name);
    if (y && y->kind == SY_ALIAS)
        y = y->alias_of;
    if (!y) {
        if (!va_lookup(s, e->name))
            va_unknown_name(s, e, what);
        return;
    }
    e->sym = y;
    if (e->n_arg && !y->array) {
        ERR(s, e, "'%s' is no array: no index expected", e->name);
        e->sym = NULL;
    } else if (e->n_arg) {
        check_index(s, e);
    }
}

static void check_name(va_sema *s, va_expr *e)
{
    resolve_name(s, e, "name");
    va_sym *y = e->sym;
    if (!y)
        return;
    switch (y->kind) {
    case SY_PARAM: e->type = y->type; break;
    case SY_VAR:
    case SY_GENVAR:
        if (s->in_params) {
            ERR(s, e, "'%s' is a variable: expected a constant expression of parameters", e->name);
            return;
        }
        if (s->func && !y->in_func) {
            ERR(s, e, "'%s' is a variable of the module, which an analog function cannot use",
                e->name);
            return;
        }
        e->type = y->type;
        break;
    case SY_NODE: e->type = TY_NODE; break;
    case SY_BRANCH: e->type = TY_BRANCH; break;
    default:
        ERR(s, e, "'%s' is %s: expected a value", e->name,
            y->kind == SY_FUNC ? "a function" : "a block");
    }
    if (y->array && !e->n_arg)
        e->type = e->type == TY_NODE || e->type == TY_BRANCH ? e->type : TY_LIST;
}

/* -- access functions: V(a, b), I(branch), ... -- */

static const va_discipline *discipline_with(va_ctx *c, const char *access)
{
    const va_discipline *found = NULL;
    for (size_t i = 0; i < vec_len(c->disc); i++) {
        const va_discipline *d = c->disc[i];
        bool yes = (d->pot && d->pot->access == access) || (d->flow && d->flow->access == access);
        if (yes && (!found || (d->pot && d->flow && !(found->pot && found->flow))))
            found = d;
    }
    return found;
}

static bool is_access_name(va_ctx *c, const char *name)
{
    return !strcmp(name, "potential") || !strcmp(name, "flow") || discipline_with(c, name);
}

/* The node that tells the discipline of an access argument. */
static va_sym *node_of(va_expr *a)
{
    va_sym *y = a->sym;
    return y->kind == SY_BRANCH ? y->hi->sym : y;
}

/* 0 potential, 1 flow, -1 error */
static int access_kind(va_sema *s, const va_expr *e, va_sym *node)
{
    if (!strcmp(e->name, "potential"))
        return 0;
    if (!strcmp(e->name, "flow"))
        return 1;
    if (!node->disc)
        node->disc = (va_discipline *)discipline_with(s->c, e->name);
    const va_discipline *d = node->disc;
    if (d && d->pot && d->pot->access == e->name)
        return 0;
    if (d && d->flow && d->flow->access == e->name)
        return 1;
    ERR(s, e, "'%s' is no access function of '%s'", e->name, node->name);
    const char *pot = d && d->pot ? d->pot->access : NULL,
               *flow = d && d->flow ? d->flow->access : NULL;
    if (d)
        diag_note(s->c->d, node->span, "its discipline '%s' has %s%s%s", d->name, pot ? pot : "",
                  pot && flow ? " and " : "", flow ? flow : "");
    return -1;
}

static bool access_arg(va_sema *s, va_expr *a)
{
    if (a->kind != EX_NAME) {
        if (a->kind != EX_ERROR) {
            bad(s);
            va_error(s->c, a->span, a->macro, "expected a node or a branch");
        }
        return false;
    }
    resolve_name(s, a, "node or branch");
    if (!a->sym)
        return false;
    if (a->sym->kind != SY_NODE && a->sym->kind != SY_BRANCH) {
        ERR(s, a, "'%s' is not a node or a branch", a->name);
        return false;
    }
    if (a->sym->array && !a->n_arg) {
        ERR(s, a, "'%s' is a vector: expected an index", a->name);
        return false;
    }
    if (a->sym->kind == SY_BRANCH && !a->sym->hi->sym) { /* declarations come before branches */
        ERR(s, a, "'%s' has no value in a declaration: expected a constant", a->name);
        return false;
    }
    a->type = a->sym->kind == SY_NODE ? TY_NODE : TY_BRANCH;
    a->sym->used = true;
    if (a->sym->kind == SY_BRANCH) {
        a->sym->hi->sym->used = true;
        if (a->sym->lo)
            a->sym->lo->sym->used = true;
    }
    return true;
}

/* flow "(" "<" port ">" ")"; e->num: 2 */
static bool port_access(va_sema *s, va_expr *e, va_expr *a)
{
    va_sym *y = va_lookup(s, a->name);
    if (!y || y->kind != SY_NODE || !y->port || y->array) {
        ERR(s, a, "'%s' is not a port", a->name);
        return false;
    }
    int kind = access_kind(s, e, y);
    if (kind == 0)
        ERR(s, e, "only the flow of a port can be read, not its potential");
    a->sym = y;
    if (!s->m->port_flow.len)
        s->m->port_flow = e->span;
    e->num = 2;
    e->type = VA_REAL;
    return kind == 1;
}

/* access "(" branch | node ["," node] ")"; e->num: 0 potential, 1 flow */
static bool check_access(va_sema *s, va_expr *e)
{
    e->op = FN_ACCESS;
    if (e->n_arg < 1 || e->n_arg > 2) {
        ERR(s, e, "'%s' takes a branch, or one or two nodes", e->name);
        return false;
    }
    if (e->n_arg == 1 && e->arg[0]->kind == EX_PORT)
        return port_access(s, e, e->arg[0]);
    for (int i = 0; i < e->n_arg; i++)
        if (!access_arg(s, e->arg[i]))
            return false;
    if (e->n_arg == 2 && (e->arg[0]->sym->kind == SY_BRANCH || e->arg[1]->sym->kind == SY_BRANCH)) {
        ERR(s, e, "'%s' takes one branch or two nodes", e->name);
        return false;
    }
    int kind = access_kind(s, e, node_of(e->arg[0]));
    if (kind < 0)
        return false;
    if (e->n_arg == 2) {
        const va_discipline *a = e->arg[0]->sym->disc, *b = e->arg[1]->sym->disc;
        if (a && b && a != b && a->pot != b->pot && a->flow != b->flow) {
            ERR(s, e, "nodes '%s' and '%s' have incompatible disciplines", e->arg[0]->name,
                e->arg[1]->name);
            return false;
        }
    }
    e->num = kind;
    e->type = VA_REAL;
    return true;
}

/* -- calls -- */

static bool check_count(va_sema *s, const va_expr *e, int min, int max)
{
    if (e->n_arg >= min && (max < 0 || e->n_arg <= max))
        return true;
    if (min == max)
        ERR(s, e, "'%s' takes %d argument%s, not %d", e->name, min, min == 1 ? "" : "s", e->n_arg);
    else if (max < 0)
        ERR(s, e, "'%s' takes at least %d argument%s", e->name, min, min == 1 ? "" : "s");
    else
        ERR(s, e, "'%s' takes %d to %d arguments, not %d", e->name, min, max, e->n_arg);
    return false;
}

static bool numbers(va_sema *s, va_expr *e, int from, int to)
{
    bool ok = true;
    for (int i = from; i < to && i < e->n_arg; i++) {
        if (e->arg[i]->kind == EX_NULL && i > 0)
            continue;
        va_sema_expr(s, e->arg[i]);
        ok = want_number(s, e->arg[i], "argument") && ok;
    }
    return ok;
}

static bool want_string(va_sema *s, va_expr *e, int i)
{
    if (i >= e->n_arg)
        return true;
    va_expr *a = e->arg[i];
    if (a->kind == EX_STR)
        return a->type = VA_STRING, true;
    bad(s);
    va_error(s->c, a->span, a->macro, "expected a string in quotes");
    return false;
}

static bool check_user_call(va_sema *s, va_expr *e, va_func *f)
{
    e->op = FN_USER;
    e->sym = f->sym;
    e->type = f->sym->type;
    if (!check_count(s, e, (int)vec_len(f->arg), (int)vec_len(f->arg))) {
        diag_note(s->c->d, f->sym->span, "declared here");
        return false;
    }
    bool ok = true;
    for (int i = 0; i < e->n_arg; i++) {
        va_expr *a = e->arg[i];
        va_sym *want = f->arg[i];
        va_sema_expr(s, a);
        if (want->output && (a->kind != EX_NAME || !a->sym || a->sym->kind != SY_VAR)) {
            if (a->type != TY_ERROR) {
                bad(s);
                va_error(s->c, a->span, a->macro,
                         "argument '%s' of '%s' is an output: expected a variable", want->name,
                         e->name);
            }
            ok = false;
            continue;
        }
        if (want->output)
            va_count_assign(s, a->sym);
        if (want->array || a->type == TY_LIST) {
            if (!want->array || a->kind != EX_NAME || a->type != TY_LIST || a->sym->n != want->n) {
                bad(s);
                va_error(s->c, a->span, a->macro, "argument '%s' of '%s' needs %s", want->name,
                         e->name, want->array ? "an array of the same length" : "a single value");
            }
            continue;
        }
        bool strings = want->type == VA_STRING && a->type == VA_STRING;
        if (!strings && !want_number(s, a, "argument"))
            ok = false;
        else if (!strings && want->type == VA_STRING)
            ok = (ERR(s, e, "argument '%s' of '%s' is a string", want->name, e->name), false);
    }
    return ok;
}

static bool param_arg(va_sema *s, va_expr *e, sy_kind kind, const char *what)
{
    va_expr *a = e->arg[0];
    if (a->kind != EX_NAME) {
        ERR(s, e, "'%s' takes the name of a %s", e->name, what);
        return false;
    }
    resolve_name(s, a, what);
    if (!a->sym)
        return false;
    bool ok = a->sym->kind == kind && (kind != SY_NODE || a->sym->port);
    if (!ok)
        ERR(s, a, "'%s' is not a %s", a->name, what);
    return ok;
}

/* The variable of a derivative: V(node), V(a, b), I(branch). */
static bool check_ddx(va_sema *s, va_expr *e)
{
    va_expr *u = e->arg[1];
    if (!numbers(s, e, 0, 1))
        return false;
    if (u->kind != EX_CALL || va_find_builtin(s->c, u->name) || va_lookup(s, u->name)) {
        bad(s);
        va_error(s->c, u->span, u->macro,
                 "expected the unknown to derive by, like V(node) or I(branch)");
        return false;
    }
    if (!check_access(s, u))
        return false;
    if (u->num == 2) {
        ERR(s, u, "no derivative by the current of a port");
        return false;
    }
    s->m->has_ddx = true;
    u->arg[0]->sym->ddx = true;
    return true;
}

static bool check_table(va_sema *s, va_expr *e)
{
    va_expr *a = e->arg[0];
    if (a->kind == EX_STR) {
        ERR(s, e, "'%s' with a file is not supported: write the table as '{f, power, ...}",
            e->name);
        return false;
    }
    if (a->kind != EX_LIST || a->n_arg < 2 || a->n_arg % 2) {
        bad(s);
        va_error(s->c, a->span, a->macro, "expected a list '{f1, power1, f2, power2, ...}");
        return false;
    }
    for (int i = 0; i < a->n_arg; i++) {
        double v;
        va_sema_expr(s, a->arg[i]);
        if (!va_const_value(a->arg[i], &v)) {
            bad(s);
            va_error(s->c, a->arg[i]->span, a->arg[i]->macro, "expected a constant");
            return false;
        }
    }
    return want_string(s, e, 1);
}

/* A list '{...} of at least `least` numbers, in pairs if they are roots. */
static bool check_numbers_list(va_sema *s, va_expr *a, int least, bool roots)
{
    if (a->kind == EX_NULL && least == 0)
        return true;
    if (a->kind != EX_LIST || a->n_arg < least || (roots && a->n_arg % 2)) {
        bad(s);
        va_error(s->c, a->span, a->macro,
                 roots ? "expected a list of roots '{real, imaginary, ...}"
                       : "expected a list of coefficients '{c0, c1, ...}");
        return false;
    }
    return numbers(s, a, 0, a->n_arg);
}

/* laplace_XY(x, X, Y): X zeros (z) or numerator (n), Y poles (p) or denominator (d) */
static bool check_laplace(va_sema *s, va_expr *e)
{
    const bool zeros = e->name[8] == 'z', poles = e->name[9] == 'p';
    return numbers(s, e, 0, 1) && check_numbers_list(s, e->arg[1], zeros ? 0 : 1, zeros) &&
           check_numbers_list(s, e->arg[2], 1, poles);
}

/* $limit(access, "name" | function, ...) */
static bool check_limit(va_sema *s, va_expr *e)
{
    static const struct {
        const char *name;
        int n;
    } known[] = {{"pnjlim", 2}, {"fetlim", 1}, {"limvds", 0}, {"vdslim", 0}};
    va_expr *a = e->arg[0];
    va_sema_expr(s, a);
    if (a->kind != EX_CALL || a->op != FN_ACCESS) {
        if (a->type != TY_ERROR)
            ERR(s, e, "'$limit' takes an access like V(a, b) first");
        return false;
    }
    if (e->n_arg < 2)
        return true;
    va_expr *how = e->arg[1];
    bool ok = numbers(s, e, 2, e->n_arg);
    if (how->kind == EX_STR) {
        const char *cand[VS_COUNT(known)];
        how->type = VA_STRING;
        for (size_t i = 0; i < VS_COUNT(known); i++) {
            cand[i] = known[i].name;
            if (strcmp(known[i].name, how->name))
                continue;
            if (e->n_arg - 2 < known[i].n) {
                ERR(s, e, "'%s' needs %d more argument%s", how->name, known[i].n,
                    known[i].n == 1 ? "" : "s");
                return false;
            }
            return ok;
        }
        va_warning(s->c, how->at, how->macro, "unknown limiting function \"%s\": no limiting",
                   how->name);
        diag_suggest(s->c->d, how->name, cand, VS_COUNT(cand));
        return ok;
    }
    va_sym *f = how->kind == EX_NAME ? va_lookup(s, how->name) : NULL;
    if (!f || f->kind != SY_FUNC) {
        bad(s);
        va_error(s->c, how->span, how->macro,
                 "unknown limiting function: expected \"pnjlim\", \"fetlim\", "
                 "\"limvds\" or an analog function");
        return false;
    }
    how->sym = f;
    if ((int)vec_len(f->func->arg) != e->n_arg) {
        ERR(s, e, "'%s' takes %d arguments: two voltages and %d more, not %d", f->name,
            (int)vec_len(f->func->arg), (int)vec_len(f->func->arg) - 2, e->n_arg - 2);
        return false;
    }
    return ok;
}

static bool check_simparam(va_sema *s, va_expr *e)
{
    return want_string(s, e, 0) && (e->n_arg < 2 || numbers(s, e, 1, 2));
}

static bool check_analysis(va_sema *s, va_expr *e)
{
    bool ok = true;
    for (int i = 0; i < e->n_arg; i++)
        ok = want_string(s, e, i) && ok;
    return ok;
}

/* Print arguments: any mixture of strings and values. */
static bool check_print(va_sema *s, va_expr *e)
{
    for (int i = 0; i < e->n_arg; i++) {
        va_expr *a = e->arg[i];
        if (a->kind == EX_NULL)
            continue;
        va_sema_expr(s, a);
        if (a->type == TY_NODE || a->type == TY_BRANCH || a->type == TY_LIST) {
            bad(s);
            va_error(s->c, a->span, a->macro, "argument is %s: expected a value",
                     type_text(a->type));
        }
    }
    return true;
}

static void numeric_result(va_expr *e)
{
    bool ints = true;
    for (int i = 0; i < e->n_arg; i++)
        ints = ints && e->arg[i]->type == VA_INTEGER;
    e->type = ints ? VA_INTEGER : VA_REAL;
}

static bool place_allows(va_sema *s, va_expr *e, const va_builtin *b)
{
    if (b->cls == FC_REFUSE) {
        const bool sampled = !strncmp(e->name, "zi_", 3);
        ERR(s, e, "'%s' is not supported%s", e->name,
            sampled ? ": write its difference equation in @(timer(0, period))" : "");
        return false;
    }
    if (b->cls == FC_EVENT && !s->in_event) {
        ERR(s, e, "'%s' is an event: it can only stand in @(...)", e->name);
        return false;
    }
    s->in_event = false; /* its arguments do not */
    bool op = b->cls == FC_OPERATOR;
    if (op && s->func)
        ERR(s, e, "analog operator '%s' cannot be used inside an analog function", e->name);
    else if ((op || b->id == FN_ABSTIME || b->id == FN_ANALYSIS) && s->in_params)
        ERR(s, e, "'%s' cannot be used in the value of a parameter", e->name);
    else
        return true;
    return false;
}

static void check_builtin(va_sema *s, va_expr *e, const va_builtin *b)
{
    e->op = b->id;
    if (!place_allows(s, e, b) || !check_count(s, e, b->n_min, b->n_max))
        return;
    bool ok = true;
    e->num = (double)(b - va_builtins);
    if ((b->cls == FC_OPERATOR && b->id != FN_DDX) || b->cls == FC_EVENT)
        s->n_index++;
    int type = VA_REAL;
    switch (b->id) {
    case FN_DDX: ok = check_ddx(s, e); break;
    case FN_DDT: ok = numbers(s, e, 0, 1); break;
    case FN_WHITE: ok = numbers(s, e, 0, 1) && want_string(s, e, 1); break;
    case FN_FLICKER: ok = numbers(s, e, 0, 2) && want_string(s, e, 2); break;
    case FN_TABLE:
    case FN_TABLE_LOG: ok = check_table(s, e); break;
    case FN_LIMIT: ok = check_limit(s, e); break;
    case FN_SIMPARAM: ok = check_simparam(s, e); break;
    case FN_PARAM_GIVEN:
        ok = param_arg(s, e, SY_PARAM, "parameter");
        type = VA_INTEGER;
        break;
    case FN_PORT_CONN:
        ok = param_arg(s, e, SY_NODE, "port");
        type = VA_INTEGER;
        break;
    case FN_ANALYSIS:
        ok = check_analysis(s, e);
        type = VA_INTEGER;
        break;
    case FN_PRINT:
    case FN_FINISH:
        ok = check_print(s, e);
        type = TY_VOID;
        break;
    case FN_SKIP: type = VA_INTEGER; break;
    case FN_IDT: ok = numbers(s, e, 0, 3); break;
    case FN_TRANSITION:
    case FN_IDTMOD: ok = numbers(s, e, 0, 4); break;
    case FN_LAPLACE: ok = check_laplace(s, e); break;
    default: ok = numbers(s, e, 0, e->n_arg);
    }
    if (!ok)
        return;
    if (b->cls == FC_TASK)
        type = TY_VOID;
    e->type = (uint8_t)type;
    if (b->id == FN_CLOG2 || b->id == FN_RTOI || b->id == FN_INT || b->id == FN_ONE)
        e->type = VA_INTEGER;
    if (b->id == FN_ABS || b->id == FN_MIN || b->id == FN_MAX)
        numeric_result(e);
}

static void check_call(va_sema *s, va_expr *e)
{
    va_sym *y = va_lookup(s, e->name);
    if (y && y->kind == SY_FUNC) {
        if (!check_user_call(s, e, y->func))
            e->type = TY_ERROR;
        return;
    }
    const va_builtin *b = va_find_builtin(s->c, e->name);
    if (b) {
        check_builtin(s, e, b);
    } else if (is_access_name(s->c, e->name)) {
        if (s->in_params || s->func)
            ERR(s, e, "'%s' cannot be used in %s", e->name,
                s->func ? "an analog function" : "the value of a parameter");
        else
            check_access(s, e);
    } else if (y && s->func && y == s->func->result) {
        ERR(s, e, "function '%s' calls itself, which is not possible in an analog function",
            e->name);
    } else if (y) {
        ERR(s, e, "'%s' is not a function", e->name);
    } else {
        va_unknown_name(s, e, e->name[0] == '$' ? "system function" : "function");
    }
}

void va_sema_expr(va_sema *s, va_expr *e)
{
    switch (e->kind) {
    case EX_NUM: break;
    case EX_STR: e->type = VA_STRING; break;
    case EX_NAME: check_name(s, e); break;
    case EX_UN: check_unary(s, e); break;
    case EX_BIN: check_binary(s, e); break;
    case EX_COND: check_cond(s, e); break;
    case EX_CALL: check_call(s, e); break;
    case EX_LIST:
        e->type = TY_LIST;
        for (int i = 0; i < e->n_arg; i++)
            va_sema_expr(s, e->arg[i]);
        break;
    case EX_NULL: ERR(s, e, "expected an expression"); break;
    case EX_PORT: ERR(s, e, "'<%s>' is only meaningful as I(<port>)", e->name); break;
    case EX_INF: ERR(s, e, "'inf' can only be used in the range of a parameter"); break;
    default: break;
    }
}
