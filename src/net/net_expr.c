/* net_expr.c - expressions of parameters and behavioural sources: text to tree, one operation on
 * numbers, printing. Walking a tree with parameters in scope is flat_eval.c.
 * Precedence from ?: || && comparison + * unary ** as in ngspice; ** and ^ bind to the right and
 * before a minus in front: -2**2 is -4. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "net_for.h"
#include "net_priv.h"
#include "vec.h"

/* Most levels of nesting, and most operators of a chain: they bound the depth of a tree, and so the
 * recursion of every function that walks over it. */
enum { MAX_DEPTH = 2000 };

typedef struct eparse {
    diag *d;
    str_pool *names;
    arena *mem;
    const char *s;
    uint32_t pos, end;
    int32_t file;
    int depth;
    int n_paren; /* round brackets around what is read */
    bool failed;
} eparse;

static const struct fn_info {
    const char *name;
    int32_t lo, hi;
} fn_info[] = {
#define X(id, text, lo, hi) {text, lo, hi},
    NET_FN_LIST(X)
#undef X
};

const char *net_op_text(net_op op)
{
    static const char *const text[] = {
#define X(name, t) t,
        NET_OP_LIST(X)
#undef X
    };
    return text[op];
}

const char *net_fn_text(net_fn fn) { return fn < NET_FN_USER ? fn_info[fn].name : "function"; }

static const net_expr *fail(eparse *p, uint32_t off, uint32_t len, const char *text)
{
    if (!p->failed)
        diag_error(p->d, (diag_span){p->file, off, len}, "%s", text);
    p->failed = true;
    return NULL;
}

static net_expr *make(eparse *p, net_op op, uint32_t from, int32_t n_arg)
{
    net_expr *e = arena_alloc(p->mem, sizeof *e + (size_t)n_arg * sizeof e->arg[0]);
    e->op = op;
    e->n_arg = n_arg;
    e->span = (diag_span){p->file, from, p->pos - from};
    return e;
}

static void skip(eparse *p)
{
    while (p->pos < p->end) {
        char c = p->s[p->pos];
        if (c == '\n') {
            uint32_t next = net_lex_join(p->s, p->end, p->pos);
            p->pos = next ? next : p->end;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            p->pos++;
        } else if (c == '\\' && p->pos + 1 < p->end && strchr("\r\n", p->s[p->pos + 1])) {
            while (p->pos < p->end && p->s[p->pos] != '\n')
                p->pos++;
            p->pos += p->pos < p->end;
        } else {
            break;
        }
    }
}

static char at(const eparse *p, uint32_t k) { return p->pos + k < p->end ? p->s[p->pos + k] : 0; }

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '#' || c == '$' ||
           c == '@' || (unsigned char)c >= 128;
}

static bool is_name(char c)
{
    return is_name_start(c) || (c >= '0' && c <= '9') || c == '.' || c == '[' || c == ']';
}

static const net_expr *parse_expr(eparse *p);

static uint32_t count_digits(const eparse *p, uint32_t from)
{
    uint32_t n = 0;
    while (at(p, from + n) >= '0' && at(p, from + n) <= '9')
        n++;
    return n;
}

/* coded = digits suffix digits [unit]: a value as printed on parts (IEC 60062), whose suffix stands
 * in place of the point: 4k7 is 4700, 2R5 is 2.5, 4L7 is 4.7e-3. true: there was one, p is behind
 * it. */
static bool parse_coded(eparse *p, double *x)
{
    static const char *const suffix[] = {"meg", "t", "g", "k", "m", "u", "n", "p", "f", "r", "l"};
    static const char *const meaning[] = {"meg", "t", "g", "k", "m", "u", "n", "p", "f", "", "m"};
    const uint32_t whole = count_digits(p, 0);
    const char *s = p->s + p->pos;
    char text[64];
    for (size_t i = 0; i < VS_COUNT(suffix); i++) {
        const uint32_t letters = (uint32_t)strlen(suffix[i]);
        const uint32_t part = whole ? count_digits(p, whole + letters) : 0;
        if (!part || whole + part > 40 || str_ncasecmp(s + whole, suffix[i], letters))
            continue;
        snprintf(text, sizeof text, "%.*s.%.*s%s", (int)whole, s, (int)part, s + whole + letters,
                 meaning[i]);
        p->pos += whole + letters + part;
        while (isalpha((unsigned char)at(p, 0)))
            p->pos++;
        return str_spice_number(text, NULL, x);
    }
    return false;
}

/* number = coded | digits [exponent] [suffix] [unit] */
static const net_expr *parse_number(eparse *p)
{
    uint32_t from = p->pos;
    const char *stop;
    double x;
    if (!str_spice_number(p->s + from, &stop, &x))
        return fail(p, from, 1, "bad number");
    if (!parse_coded(p, &x))
        p->pos = (uint32_t)(stop - p->s);
    if (p->pos > p->end)
        p->pos = p->end;
    if (!isfinite(x))
        return fail(p, from, p->pos - from, "number out of range");
    if (is_name(at(p, 0))) {
        while (is_name(at(p, 0)))
            p->pos++;
        diag_error(p->d, (diag_span){p->file, from, p->pos - from}, "bad number '%.*s'",
                   (int)(p->pos - from > 40 ? 40 : p->pos - from), p->s + from);
        p->failed = true;
        return NULL;
    }
    net_expr *e = make(p, NET_NUM, from, 0);
    e->num = x;
    return e;
}

/* One character of a name, or a list of indices "[1,2]" as a whole. */
static void skip_name_char(eparse *p)
{
    const size_t index = at(p, 0) == '[' ? net_index_len(p->s + p->pos, p->end - p->pos) : 0;
    p->pos += index ? (uint32_t)index : 1;
}

/* A node or element name up to ',' or ')'; blanks around it are dropped. NULL: empty. */
static const char *parse_raw_name(eparse *p)
{
    skip(p);
    uint32_t from = p->pos;
    while (p->pos < p->end && !strchr(",() \t\r\n", p->s[p->pos]))
        skip_name_char(p);
    uint32_t to = p->pos;
    skip(p);
    return to > from ? str_intern_lower(p->names, p->s + from, to - from) : NULL;
}

/* probe = "v" "(" node ["," node] ")" | "i" "(" source ")" */
static const net_expr *parse_probe(eparse *p, uint32_t from, net_op op)
{
    p->pos++; /* ( */
    const char *a = parse_raw_name(p), *b = NULL;
    if (!a)
        return fail(p, p->pos, 1, op == NET_VNODE ? "node name expected" : "element name expected");
    if (at(p, 0) == ',' && op == NET_VNODE) {
        p->pos++;
        b = parse_raw_name(p);
        if (!b)
            return fail(p, p->pos, 1, "node name expected");
    }
    if (at(p, 0) != ')')
        return fail(p, p->pos, 1, "')' expected");
    p->pos++;
    net_expr *e = make(p, op, from, 0);
    e->name = a;
    e->name2 = b;
    return e;
}

static net_fn find_fn(const char *name)
{
    static const struct {
        const char *name;
        net_fn fn;
    } alias[] = {{"log", NET_FN_LN},    {"stp", NET_FN_U},       {"arctan", NET_FN_ATAN},
                 {"trunc", NET_FN_INT}, {"mod", NET_FN_FMOD},    {"sign", NET_FN_SGN},
                 {"fabs", NET_FN_ABS},  {"ceiling", NET_FN_CEIL}};
    for (int i = 0; i < NET_FN_USER; i++)
        if (!strcmp(fn_info[i].name, name))
            return (net_fn)i;
    for (size_t i = 0; i < VS_COUNT(alias); i++)
        if (!strcmp(alias[i].name, name))
            return alias[i].fn;
    return NET_FN_USER;
}

static void check_arity(eparse *p, const char *name, net_fn fn, int32_t n, diag_span span)
{
    if (fn == NET_FN_USER)
        return;
    int32_t lo = fn_info[fn].lo, hi = fn_info[fn].hi;
    bool odd = (fn == NET_FN_PWLF || fn == NET_FN_TABLE) && n >= 3 && n % 2 == 0;
    bool broken = fn == NET_FN_FREQTABLE && n >= 5 && n % 3 != 2;
    if (n >= lo && n <= hi && !odd && !broken)
        return;
    if (broken)
        diag_error(p->d, span,
                   "'%s' needs a value, a delay and groups of three: frequency, real and imaginary "
                   "part",
                   name);
    else if (odd)
        diag_error(p->d, span, "'%s' needs a value and pairs of numbers", name);
    else if (lo == hi)
        diag_error(p->d, span, "'%s' takes %d argument%s, not %d", name, lo, lo == 1 ? "" : "s", n);
    else
        diag_error(p->d, span, "'%s' takes %d or more arguments, not %d", name, lo, n);
    p->failed = true;
}

static bool starts_value(char c) { return isalnum((unsigned char)c) || c == '_'; }

void net_expr_in_s(const net_expr *e)
{
    if (e->op == NET_PARAM && !strcmp(e->name, "s"))
        ((net_expr *)(uintptr_t)e)->op = NET_S;
    for (int32_t i = 0; i < e->n_arg; i++)
        net_expr_in_s(e->arg[i]);
}

static bool is_truth(const net_expr *e)
{
    return e->op == NET_LT || e->op == NET_LE || e->op == NET_GT || e->op == NET_GE ||
           e->op == NET_EQ || e->op == NET_NE || e->op == NET_AND || e->op == NET_OR ||
           e->op == NET_NOT;
}

void net_expr_as_xyce(const net_expr *e)
{
    net_expr *const own = (net_expr *)(uintptr_t)e;
    for (int32_t i = 0; i < e->n_arg; i++)
        net_expr_as_xyce(e->arg[i]);
    if (e->op == NET_CALL && e->fn == NET_FN_LN && !strcmp(e->name, "log"))
        own->fn = NET_FN_LOG10;
    else if (e->op == NET_POW && e->name && is_truth(e->arg[0]) && is_truth(e->arg[1]))
        own->op = NET_NE; /* of 0 and 1 */
}

/* call = name "(" [expr ("," expr)*] ")" */
static const net_expr *parse_call(eparse *p, uint32_t from, const char *name)
{
    const net_expr **arg = NULL;
    diag_span word = {p->file, from, (uint32_t)strlen(name)};
    p->pos++; /* ( */
    skip(p);
    while (at(p, 0) != ')' && !p->failed) {
        const net_expr *a = parse_expr(p);
        skip(p);
        if (a)
            vec_push(arg, a);
        if (!p->failed && at(p, 0) == ',')
            p->pos++;
        else if (!p->failed && starts_value(at(p, 0)))
            diag_warning(p->d, (diag_span){p->file, p->pos, 1},
                         "a ',' is missing before this argument");
        else if (!p->failed && at(p, 0) != ')')
            fail(p, p->pos, 1, "',' or ')' expected");
        skip(p);
    }
    p->pos++;
    int32_t n = (int32_t)vec_len(arg);
    bool cond = !strcmp(name, "if") || !strcmp(name, "ternary_fcn");
    net_fn fn = find_fn(name);
    if (cond && n != 3 && !p->failed)
        fail(p, from, word.len, "if() takes 3 arguments: condition, value, other value");
    if (!cond && !p->failed)
        check_arity(p, name, fn, n, word);
    if (!p->failed && (fn == NET_FN_TABLE || fn == NET_FN_PWLF) && arg[0]->op == NET_STR) {
        diag_error(p->d, arg[0]->span, "tables in files are not read: %s(x, x1,y1, x2,y2, ...)",
                   name);
        p->failed = true;
    }
    net_expr *e = NULL;
    if (!p->failed) {
        e = make(p, cond ? NET_COND : NET_CALL, from, n);
        e->fn = fn;
        e->name = name;
        for (int32_t i = 0; i < n; i++)
            e->arg[i] = arg[i];
        if (!cond && fn == NET_FN_LAPLACE)
            net_expr_in_s(e->arg[1]);
    }
    vec_free(arg);
    return e;
}

static const net_expr *parse_string(eparse *p)
{
    uint32_t from = p->pos++;
    while (p->pos < p->end && p->s[p->pos] != '"')
        p->pos++;
    if (p->pos >= p->end)
        return fail(p, from, 1, "no closing quote '\"'");
    p->pos++;
    net_expr *e = make(p, NET_STR, from, 0);
    e->name = str_intern(p->names, p->s + from + 1, p->pos - from - 2);
    return e;
}

/* At "(": an element and its terminal, as in (u1:out), and no expression. */
static bool before_terminal(const eparse *p)
{
    const size_t left = p->end - p->pos;
    const char *s = p->s + p->pos, *colon = memchr(s, ':', left), *close = memchr(s, ')', left);
    return colon && close && colon < close && !memchr(s, '?', (size_t)(colon - s));
}

/* terminal = "ix" "(" element ":" name ")" ; LTspice's name of i(xELEMENT:NAME) */
static const net_expr *parse_terminal(eparse *p, uint32_t from)
{
    const net_expr *e = parse_probe(p, from, NET_IBRANCH);
    if (!e)
        return NULL;
    char *name = vs_text("x%s", e->name);
    ((net_expr *)(uintptr_t)e)->name = str_intern0(p->names, name);
    vs_free(name);
    return e;
}

/* name = call | probe | terminal | "time" | "temper" | "hertz" | parameter */
static const net_expr *parse_name(eparse *p)
{
    uint32_t from = p->pos;
    while (is_name(at(p, 0)))
        skip_name_char(p);
    const char *name = str_intern_lower(p->names, p->s + from, p->pos - from);
    uint32_t after = p->pos;
    skip(p);
    if (at(p, 0) == '(') {
        if (!strcmp(name, "v"))
            return parse_probe(p, from, NET_VNODE);
        if (!strcmp(name, "i"))
            return parse_probe(p, from, NET_IBRANCH);
        if (!strcmp(name, "ix") && before_terminal(p))
            return parse_terminal(p, from);
        return parse_call(p, from, name);
    }
    p->pos = after;
    net_op op = !strcmp(name, "time")     ? NET_TIME
                : !strcmp(name, "temper") ? NET_TEMPER
                : !strcmp(name, "hertz")  ? NET_HERTZ
                                          : NET_PARAM;
    net_expr *e = make(p, op, from, 0);
    e->name = name;
    return e;
}

/* A ')' without its '(' at the end of a quoted expression, as the npn of SKY130 has it, is skipped
 * with a warning. */
static void skip_closing(eparse *p, char close)
{
    uint32_t k = p->pos;
    while (k < p->end && (p->s[k] == ')' || p->s[k] == ' ' || p->s[k] == '\t'))
        k++;
    if (k == p->pos || k >= p->end || p->s[k] != close || at(p, 0) != ')')
        return;
    diag_warning(p->d, (diag_span){p->file, p->pos, 1}, "this ')' closes nothing: skipped");
    p->pos = k;
}

/* primary = number | name | string | "(" expr ")" | "{" expr "}" | "'" expr "'" | '{"' expr '"}'
 * Quotes directly inside braces hold an expression, no text (SKY130: dw = {"-activecd-dw/2"}). */
static const net_expr *parse_primary(eparse *p)
{
    skip(p);
    char c = at(p, 0);
    if ((c >= '0' && c <= '9') || (c == '.' && at(p, 1) >= '0' && at(p, 1) <= '9'))
        return parse_number(p);
    if (is_name_start(c))
        return parse_name(p);
    if (c == '"')
        return parse_string(p);
    if (c == '(' || c == '{' || c == '\'') {
        char close = c == '(' ? ')' : c == '{' ? '}' : '\'';
        p->pos++;
        skip(p);
        if (at(p, 0) == close)
            return fail(p, p->pos - 1, 2, "empty expression");
        const bool quoted = c == '{' && at(p, 0) == '"';
        p->pos += quoted;
        p->n_paren += c == '(';
        const net_expr *e = parse_expr(p);
        p->n_paren -= c == '(';
        skip(p);
        if (e && quoted) {
            if (at(p, 0) != '"')
                return fail(p, p->pos < p->end ? p->pos : p->end - 1, 1,
                            "an operator or the closing quote '\"' is expected here");
            p->pos++;
            skip(p);
        }
        if (e && c != '(')
            skip_closing(p, close);
        if (e && at(p, 0) != close)
            return fail(p, p->pos < p->end ? p->pos : p->end - 1, 1,
                        c == '(' ? "')' expected" : "an operator is expected here");
        p->pos++;
        return e;
    }
    if (!c)
        return fail(p, p->end > 0 ? p->end - 1 : 0, 1,
                    "the expression ends where a value is expected");
    if (!p->failed)
        diag_error(p->d, (diag_span){p->file, p->pos, 1}, "a value is expected, not '%c'", c);
    p->failed = true;
    return NULL;
}

static const net_expr *parse_unary(eparse *p);

/* power = primary [("**" | "^") unary] */
static const net_expr *parse_power(eparse *p)
{
    skip(p);
    uint32_t from = p->pos;
    const net_expr *a = parse_primary(p);
    if (!a)
        return NULL;
    uint32_t after = p->pos;
    skip(p);
    const bool hat = at(p, 0) == '^';
    if (hat)
        p->pos++;
    else if (at(p, 0) == '*' && at(p, 1) == '*')
        p->pos += 2;
    else {
        p->pos = after;
        return a;
    }
    if (++p->depth > MAX_DEPTH)
        return fail(p, p->pos, 1, "expression is nested too deep");
    const net_expr *b = parse_unary(p);
    p->depth--;
    if (!b)
        return NULL;
    net_expr *e = make(p, NET_POW, from, 2);
    e->name = hat ? "^" : NULL;
    e->arg[0] = a;
    e->arg[1] = b;
    return e;
}

/* unary = ("-" | "+" | "!" | "~") unary | power; "~" is PSpice's "!" */
static const net_expr *parse_unary(eparse *p)
{
    skip(p);
    uint32_t from = p->pos;
    char c = at(p, 0);
    if (c != '-' && c != '+' && c != '~' && !(c == '!' && at(p, 1) != '='))
        return parse_power(p);
    p->pos++;
    if (++p->depth > MAX_DEPTH)
        return fail(p, from, 1, "expression is nested too deep");
    const net_expr *a = parse_unary(p);
    p->depth--;
    if (!a || c == '+')
        return a;
    if (c == '-' && a->op == NET_NUM) {
        net_expr *n = make(p, NET_NUM, from, 0);
        n->num = -a->num;
        return n;
    }
    net_expr *e = make(p, c == '-' ? NET_NEG : NET_NOT, from, 1);
    e->arg[0] = a;
    return e;
}

/* The binary operator at p: its level from 1 (loosest) to 5, 0 if none stands there. A lone '=' in
 * brackets compares, as in ngspice's .if; outside of them it ends the expression. */
static int peek_operator(const eparse *p, net_op *op, uint32_t *len)
{
    static const struct {
        const char *text;
        net_op op;
        int level;
    } table[] = {{"||", NET_OR, 1}, {"&&", NET_AND, 2}, {"==", NET_EQ, 3}, {"!=", NET_NE, 3},
                 {"<>", NET_NE, 3}, {"<=", NET_LE, 3},  {">=", NET_GE, 3}, {"<", NET_LT, 3},
                 {">", NET_GT, 3},  {"|", NET_OR, 1},   {"&", NET_AND, 2}, {"+", NET_ADD, 4},
                 {"-", NET_SUB, 4}, {"*", NET_MUL, 5},  {"/", NET_DIV, 5}, {"%", NET_MOD, 5}};
    char c = at(p, 0), next = at(p, 1);
    if (c == '=' && next != '=' && p->n_paren > 0) {
        *op = NET_EQ;
        *len = 1;
        return 3;
    }
    for (size_t i = 0; c && i < VS_COUNT(table); i++) {
        const char *t = table[i].text;
        if (t[0] == c && (!t[1] || t[1] == next)) {
            *op = table[i].op;
            *len = (uint32_t)strlen(t);
            return table[i].level;
        }
    }
    return 0;
}

/* binary(level) = operand (operator operand)*, operators of this level or tighter */
static const net_expr *parse_binary(eparse *p, int level)
{
    skip(p);
    uint32_t from = p->pos;
    int depth = p->depth;
    const net_expr *a = parse_unary(p);
    while (a) {
        uint32_t after = p->pos, len = 0;
        net_op op = NET_NUM;
        skip(p);
        int l = peek_operator(p, &op, &len);
        if (l < level || !l) {
            p->pos = after;
            break;
        }
        if (++p->depth > MAX_DEPTH) {
            a = fail(p, p->pos, 1, "expression is nested too deep");
            break;
        }
        if (op == NET_EQ && len == 1)
            diag_warning(p->d, (diag_span){p->file, p->pos, 1}, "'=' is read as '=='");
        p->pos += len;
        const net_expr *b = parse_binary(p, l + 1);
        if (!b) {
            a = NULL;
            break;
        }
        net_expr *e = make(p, op, from, 2);
        e->arg[0] = a;
        e->arg[1] = b;
        a = e;
    }
    p->depth = depth;
    return a;
}

/* expr = binary ["?" expr ":" expr] */
static const net_expr *parse_expr(eparse *p)
{
    skip(p);
    uint32_t from = p->pos;
    if (++p->depth > MAX_DEPTH)
        return fail(p, from, 1, "expression is nested too deep");
    const net_expr *a = parse_binary(p, 1);
    uint32_t after = p->pos;
    skip(p);
    if (!a || at(p, 0) != '?') {
        p->pos = a ? after : p->pos;
        p->depth--;
        return a;
    }
    p->pos++;
    const net_expr *b = parse_expr(p);
    skip(p);
    if (b && at(p, 0) != ':')
        fail(p, p->pos < p->end ? p->pos : p->end - 1, 1, "':' expected");
    p->pos++;
    const net_expr *c = p->failed ? NULL : parse_expr(p);
    p->depth--;
    if (!c)
        return NULL;
    net_expr *e = make(p, NET_COND, from, 3);
    e->arg[0] = a;
    e->arg[1] = b;
    e->arg[2] = c;
    return e;
}

const net_expr *net_expr_parse(diag *d, str_pool *names, arena *mem, diag_span span, uint32_t *end)
{
    eparse p = {.d = d,
                .names = names,
                .mem = mem,
                .s = d->file[span.file].text,
                .pos = span.off,
                .end = span.off + span.len,
                .file = span.file};
    skip(&p);
    if (p.pos >= p.end) {
        diag_error(d, span, "empty expression");
        return NULL;
    }
    const net_expr *e = parse_expr(&p);
    if (!e)
        return NULL;
    if (end) {
        *end = p.pos;
        return e;
    }
    skip(&p);
    if (p.pos < p.end)
        return fail(&p, p.pos, 1, "an operator is expected here");
    return e;
}

/* -- numbers -- */

static bool bad(char *why, size_t size, const char *fmt, double x)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(why, size, fmt, x);
#pragma GCC diagnostic pop
    return false;
}

static bool apply_power(double a, double b, double *y, char *why, size_t size)
{
    if (a == 0 && b < 0)
        return bad(why, size, "0 to the negative power %g", b);
    if (a < 0 && b != floor(b)) {
        snprintf(why, size, "power of a negative number, (%g)**%g", a, b);
        return false;
    }
    *y = pow(a, b);
    return true;
}

/* Straight lines through (x1, y1), (x2, y2) ..., x all upwards or all downwards. `ends`: constant
 * outside; else the first and the last line go on. x: x, x1,y1, x2,y2, ... */
static double apply_table(const double *x, int32_t n, bool ends)
{
    const int32_t points = (n - 1) / 2;
    const double *p = x + 1, *last = p + 2 * (points - 1);
    const double up = last[0] < p[0] ? -1 : 1;
    if (points == 1 || (ends && up * x[0] <= up * p[0]))
        return p[1];
    if (ends && up * x[0] >= up * last[0])
        return last[1];
    const double *b = p + 2;
    while (b < last && up * x[0] >= up * b[0])
        b += 2;
    return b[-1] + (b[1] - b[-1]) * (x[0] - b[-2]) / (b[0] - b[-2]);
}

static double least(const double *x, int32_t n, double sign)
{
    double m = x[0];
    for (int32_t i = 1; i < n; i++)
        if (sign * x[i] < sign * m)
            m = x[i];
    return m;
}

/* The value of a function. Long: one case for each. */
static bool apply_fn(net_fn fn, const double *x, int32_t n, double *y, char *why, size_t size)
{
    double a = x[0];
    switch (fn) {
    case NET_FN_SIN: *y = sin(a); break;
    case NET_FN_COS: *y = cos(a); break;
    case NET_FN_TAN: *y = tan(a); break;
    case NET_FN_ASIN:
    case NET_FN_ACOS:
        if (fabs(a) > 1)
            return bad(why, size,
                       fn == NET_FN_ASIN ? "asin of %g, outside -1 to 1"
                                         : "acos of %g, outside -1 to 1",
                       a);
        *y = fn == NET_FN_ASIN ? asin(a) : acos(a);
        break;
    case NET_FN_ATAN: *y = atan(a); break;
    case NET_FN_ATAN2: *y = atan2(a + 0.0, x[1] + 0.0); break; /* a zero has no sign: ir_atan2 */
    case NET_FN_SINH: *y = sinh(a); break;
    case NET_FN_COSH: *y = cosh(a); break;
    case NET_FN_TANH: *y = tanh(a); break;
    case NET_FN_ASINH: *y = asinh(a); break;
    case NET_FN_ACOSH:
        if (a < 1)
            return bad(why, size, "acosh of %g, below 1", a);
        *y = acosh(a);
        break;
    case NET_FN_ATANH:
        if (fabs(a) >= 1)
            return bad(why, size, "atanh of %g, not inside -1 to 1", a);
        *y = atanh(a);
        break;
    case NET_FN_EXP: *y = exp(a); break;
    case NET_FN_LN:
    case NET_FN_LOG10:
        if (a <= 0)
            return bad(why, size, "logarithm of %g, which is not positive", a);
        *y = fn == NET_FN_LN ? log(a) : log10(a);
        break;
    case NET_FN_SQRT:
        if (a < 0)
            return bad(why, size, "square root of the negative number %g", a);
        *y = sqrt(a);
        break;
    case NET_FN_ABS: *y = fabs(a); break;
    case NET_FN_MIN: *y = least(x, n, 1); break;
    case NET_FN_MAX: *y = least(x, n, -1); break;
    case NET_FN_POWF: return apply_power(a, x[1], y, why, size);
    case NET_FN_PWR:
        if (a == 0 && x[1] < 0)
            return bad(why, size, "0 to the negative power %g", x[1]);
        *y = copysign(pow(fabs(a), x[1]), a);
        break;
    case NET_FN_SGN: *y = (a > 0) - (a < 0); break;
    case NET_FN_INT: *y = trunc(a); break;
    case NET_FN_FLOOR: *y = floor(a); break;
    case NET_FN_CEIL: *y = ceil(a); break;
    case NET_FN_NINT: *y = rint(a); break;
    case NET_FN_ROUND: *y = round(a); break;
    case NET_FN_U: *y = 0.5 * ((a > 0) + (a >= 0)); break;
    case NET_FN_U2: *y = fmin(fmax(a, 0), 1); break;
    case NET_FN_EQ0: *y = a == 0; break;
    case NET_FN_NE0: *y = a != 0; break;
    case NET_FN_GT0: *y = a > 0; break;
    case NET_FN_LT0: *y = a < 0; break;
    case NET_FN_GE0: *y = a >= 0; break;
    case NET_FN_LE0: *y = a <= 0; break;
    case NET_FN_URAMP: *y = a > 0 ? a : 0; break;
    case NET_FN_LIMIT: *y = n == 2 ? a : a < x[1] ? x[1] : a > x[2] ? x[2] : a; break;
    case NET_FN_PWLF:
    case NET_FN_TABLE: *y = apply_table(x, n, fn == NET_FN_TABLE); break;
    case NET_FN_HYPOT: *y = hypot(a, x[1]); break;
    case NET_FN_FMOD: return net_apply(NET_MOD, fn, x, 2, y, why, size);
    case NET_FN_SQR: *y = a * a; break;
    case NET_FN_GAUSS:
    case NET_FN_AGAUSS:
    case NET_FN_UNIF:
    case NET_FN_AUNIF: *y = a; break;
    case NET_FN_DDT: *y = 0; break;
    case NET_FN_IDT: *y = n > 1 ? x[1] : 0; break;
    case NET_FN_LAPLACE: *y = a * x[1]; break;
    case NET_FN_FREQTABLE: *y = a * x[3]; break;
    case NET_FN_USER:
    case NET_N_FN: assert(false);
    }
    return true;
}

bool net_apply(net_op op, net_fn fn, const double *x, int32_t n, double *y, char *why, size_t size)
{
    double a = x[0], b = n > 1 ? x[1] : 0;
    bool ok = true;
    switch (op) {
    case NET_NEG: *y = -a; break;
    case NET_NOT: *y = a == 0; break;
    case NET_ADD: *y = a + b; break;
    case NET_SUB: *y = a - b; break;
    case NET_MUL: *y = a * b; break;
    case NET_DIV:
    case NET_MOD:
        if (b == 0)
            return bad(why, size, "division of %g by zero", a);
        *y = op == NET_DIV ? a / b : fmod(a, b);
        break;
    case NET_POW: ok = apply_power(a, b, y, why, size); break;
    case NET_LT: *y = a < b; break;
    case NET_LE: *y = a <= b; break;
    case NET_GT: *y = a > b; break;
    case NET_GE: *y = a >= b; break;
    case NET_EQ: *y = a == b; break;
    case NET_NE: *y = a != b; break;
    case NET_AND: *y = a != 0 && b != 0; break;
    case NET_OR: *y = a != 0 || b != 0; break;
    case NET_COND: *y = a != 0 ? x[1] : x[2]; break;
    case NET_CALL: ok = apply_fn(fn, x, n, y, why, size); break;
    default: assert(false);
    }
    if (ok && !isfinite(*y)) {
        const char *name = op == NET_CALL ? net_fn_text(fn) : net_op_text(op);
        snprintf(why, size, "the result of '%s' is out of range (argument %g)", name, a);
        return false;
    }
    return ok;
}

/* -- text -- */

static void print_node(const net_expr *e, int k, const char *const *node, FILE *out)
{
    if (node)
        fputs(node[e->node[k]], out);
    else
        fputs(k ? e->name2 : e->name, out);
}

static void print_args(const net_expr *e, const char *const *node, FILE *out)
{
    for (int32_t i = 0; i < e->n_arg; i++) {
        fputs(i ? ", " : "(", out);
        net_expr_print(e->arg[i], node, out);
    }
    fputs(e->n_arg ? ")" : "()", out);
}

void net_expr_print(const net_expr *e, const char *const *node, FILE *out)
{
    switch (e->op) {
    case NET_NUM: fprintf(out, "%.15g", e->num); break;
    case NET_STR: fprintf(out, "\"%s\"", e->name); break;
    case NET_PARAM:
    case NET_TIME:
    case NET_TEMPER:
    case NET_HERTZ:
    case NET_S: fputs(e->name, out); break;
    case NET_VNODE:
        fputs("v(", out);
        print_node(e, 0, node, out);
        if (node ? e->node[1] != 0 : e->name2 != NULL) {
            fputc(',', out);
            print_node(e, 1, node, out);
        }
        fputc(')', out);
        break;
    case NET_IBRANCH: fprintf(out, "i(%s)", e->name); break;
    case NET_NEG:
    case NET_NOT:
        fputs(e->op == NET_NEG ? "(-" : "(!", out);
        net_expr_print(e->arg[0], node, out);
        fputc(')', out);
        break;
    case NET_COND:
        fputc('(', out);
        net_expr_print(e->arg[0], node, out);
        fputs(" ? ", out);
        net_expr_print(e->arg[1], node, out);
        fputs(" : ", out);
        net_expr_print(e->arg[2], node, out);
        fputc(')', out);
        break;
    case NET_CALL:
        fputs(e->fn == NET_FN_USER ? e->name : net_fn_text(e->fn), out);
        print_args(e, node, out);
        break;
    default:
        fputc('(', out);
        net_expr_print(e->arg[0], node, out);
        fprintf(out, " %s ", net_op_text(e->op));
        net_expr_print(e->arg[1], node, out);
        fputc(')', out);
    }
}
