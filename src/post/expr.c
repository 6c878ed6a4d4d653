/* expr.c - parser and evaluation of vector expressions. See expr.h.
 *   list = expr+                        expr = or ["?" expr ":" expr]
 *   or = and (("|" | "or") and)*        and = cmp (("&" | "and") cmp)*
 *   cmp = sum (("=" "==" "<>" "!=" "<" ">" "<=" ">=" "eq" "ne" "lt" "gt" "le" "ge") sum)*
 *   sum = term (("+" | "-") term)*      term = unary (("*" | "/" | "%") unary)*
 *   unary = ("-" | "+" | "~" | "!" | "not") unary | power
 *   power = postfix (("^" | "**") unary)?
 *   postfix = primary ("[" expr ["," expr] "]" | "[[" expr "," expr "]]")*
 *   primary = number | name | name "(" args ")" | "(" expr ["," expr] ")" | "'" expr "'" | "{" expr
 * "}"
 * A blank may stand between the name of a function and "("; behind that of a vector it separates
 * two expressions of a list. */
#include "expr.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "carry.h"
#include "post_priv.h"

enum { MAX_DEPTH = 200, MAX_ARG = 8, MAX_CALLS = 10000 };

typedef struct parser {
    post_env *e;
    const char *s; /* the rest */
    int depth;
    const char ***names; /* only collects names, evaluates nothing */
    bool differences;    /* v(a,b) is such a name, too */
    str_pool *pool;
} parser;

bool post_fail(post_env *e, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    diag_error(e->d, e->span, "%s", text);
    return false;
}

post_val post_new_val(post_env *e, int64_t n, bool complex)
{
    return (post_val){
        .complex = complex,
        .n = n,
        .type = "notype",
        .name = "",
        .v = arena_alloc(e->mem, (size_t)n * (1 + complex) * sizeof(double) + sizeof(double))};
}

post_val post_number(post_env *e, double x)
{
    post_val v = post_new_val(e, 1, false);
    v.v[0] = x;
    return v;
}

const post_vec *post_axis(const post_val *v)
{
    const post_vec *a = v->plot ? v->plot->scale : NULL;
    return a && a->n == v->n ? a : NULL;
}

/* "const" plot: pi, e, c, kelvin, echarge, boltz, planck, true, false, yes, no; i is complex. */
static bool constant(const char *name, double value[2], bool *complex)
{
    static const struct {
        const char *name;
        double re, im;
    } t[] = {{"pi", M_PI, 0},
             {"e", M_E, 0},
             {"c", 299792458.0, 0},
             {"i", 0, 1},
             {"kelvin", -273.15, 0},
             {"echarge", 1.602176634e-19, 0},
             {"boltz", 1.380649e-23, 0},
             {"planck", 6.62607015e-34, 0},
             {"true", 1, 0},
             {"false", 0, 0},
             {"yes", 1, 0},
             {"no", 0, 0}};
    for (size_t k = 0; k < VS_COUNT(t); k++)
        if (!str_casecmp(name, t[k].name)) {
            value[0] = t[k].re;
            value[1] = t[k].im;
            *complex = t[k].im != 0;
            return true;
        }
    return false;
}

/* -- text -- */

/* Messages point to n characters from `a`, if that is a part of the file. */
static void point(parser *p, const char *a, size_t n)
{
    post_env *e = p->e;
    if (e->line && a >= e->line && a <= e->line + strlen(e->line))
        e->span = (diag_span){e->line_at.file, e->line_at.off + (uint32_t)(a - e->line),
                              (uint32_t)(n ? n : 1)};
}

static void blanks(parser *p) { p->s += strspn(p->s, " \t\r\n"); }

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_.#@$", c)) || (unsigned char)c >= 128;
}

static bool take(parser *p, const char *op)
{
    blanks(p);
    size_t n = strlen(op);
    if (str_ncasecmp(p->s, op, n))
        return false;
    if (op[0] >= 'a' && op[0] <= 'z' && name_char(p->s[n]))
        return false;
    p->s += n;
    return true;
}

static bool expect(parser *p, const char *op, const char *what)
{
    if (take(p, op))
        return true;
    point(p, p->s, 1);
    return post_fail(p->e, *p->s ? "'%s' is expected %s, not '%.20s'" : "'%s' is expected %s", op,
                     what, p->s);
}

/* -- operations -- */

static post_val like(post_env *e, const post_val *a, const post_val *b, bool complex)
{
    int64_t n = a->n > b->n ? a->n : b->n;
    if (!a->n || !b->n)
        n = 0;
    post_val r = post_new_val(e, n, complex);
    r.plot = a->plot && (a->n == n || !b->plot) ? a->plot : b->plot;
    return r;
}

/* Of products and quotients of voltages and currents; NULL: no such. */
static const char *power_type(char op, const char *a, const char *b)
{
    static const struct {
        char op;
        const char *a, *b, *type;
    } rule[] = {{'*', "voltage", "current", "power"},
                {'*', "current", "voltage", "power"},
                {'/', "voltage", "current", "impedance"},
                {'/', "current", "voltage", "admittance"}};
    for (size_t i = 0; i < VS_COUNT(rule); i++)
        if (op == rule[i].op && !strcmp(a, rule[i].a) && !strcmp(b, rule[i].b))
            return rule[i].type;
    return NULL;
}

static const char *type_of(char op, const post_val *a, const post_val *b)
{
    bool plain_a = !strcmp(a->type, "notype"), plain_b = !strcmp(b->type, "notype");
    if (op == '+' || op == '-' || op == '%')
        return !strcmp(a->type, b->type) || plain_b ? a->type : plain_a ? b->type : "notype";
    if (op == '*')
        return plain_b ? a->type : plain_a ? b->type : "notype";
    return op == '/' && plain_b ? a->type : "notype";
}

static double compare(int op, cplx x, cplx y)
{
    double a = creal(x), b = creal(y);
    switch (op) {
    case '<': return a < b;
    case '>': return a > b;
    case 'l': return a <= b;
    case 'g': return a >= b;
    case '=': return x == y;
    case 'n': return x != y;
    case '&': return x != 0 && y != 0;
    default: return x != 0 || y != 0;
    }
}

static cplx arithmetic(int op, cplx x, cplx y)
{
    switch (op) {
    case '+': return x + y;
    case '-': return x - y;
    case '*': return x * y;
    case '/': return x / y;
    default: return cpow(x, y);
    }
}

static double arithmetic_real(int op, double x, double y)
{
    switch (op) {
    case '+': return x + y;
    case '-': return x - y;
    case '*': return x * y;
    case '/': return x / y;
    case '%': return fmod(x, y);
    default: return pow(x, y);
    }
}

static void needs_whole(post_env *e)
{
    if (e->whole)
        *e->whole = true;
}

static post_val apply(post_env *e, int op, const post_val *a, const post_val *b)
{
    bool logic = strchr("<>lg=n&|", op) != NULL;
    bool complex = !logic && op != '%' && (a->complex || b->complex);
    if (op == '^' && !e->ranges)
        needs_whole(e);
    const bool were = complex;
    if (op == '^' && !complex) /* a negative number to a broken power */
        for (int64_t k = 0; k < (a->n > b->n ? a->n : b->n) && !complex; k++) {
            const double power = creal(post_at(b, k));
            complex = creal(post_at(a, k)) < 0 && power != floor(power);
        }
    if (complex && !were)
        needs_whole(e);
    post_val r = like(e, a, b, complex);
    for (int64_t k = 0; k < r.n; k++)
        if (logic)
            post_put(&r, k, compare(op, post_at(a, k), post_at(b, k)));
        else if (complex)
            post_put(&r, k, arithmetic(op, post_at(a, k), post_at(b, k)));
        else
            r.v[k] = arithmetic_real(op, creal(post_at(a, k)), creal(post_at(b, k)));
    const char *power = power_type((char)op, a->type, b->type);
    r.type = power ? power : type_of((char)op, a, b);
    r.derived = !power;
    return r;
}

/* -- names -- */

static post_val of_vec(post_env *e, const post_vec *v, const post_plot *plot)
{
    return (post_val){.complex = v->complex,
                      .n = v->n,
                      .v = v->v,
                      .dim = v->dim,
                      .n_dim = vec_len(v->dim),
                      .plot = plot,
                      .type = v->type,
                      .name = arena_printf(e->mem, "%s", v->name)};
}

static bool find_in(post_env *e, const post_plot *plot, const char *name, post_val *out)
{
    post_vec *v = plot ? post_plot_find(plot, name) : NULL;
    if (v && v->n > 1 && plot != e->set->current)
        needs_whole(e);
    if (v) {
        post_fetch(plot, &v, 1);
        *out = of_vec(e, v, plot);
    }
    return v != NULL;
}

/* "tran1.v(a)" of a plot, "gain.r1" of the newest gradient of a measure. */
static bool find_of(post_env *e, const char *name, post_val *out)
{
    const char *dot = strchr(name, '.');
    if (!dot || dot == name)
        return false;
    const char *of = arena_strndup(e->mem, name, (size_t)(dot - name));
    return find_in(e, post_set_find(e->set, of), dot + 1, out) ||
           find_in(e, post_set_gradient(e->set, of), dot + 1, out);
}

static bool find_vector(post_env *e, const char *name, post_val *out)
{
    if (find_in(e, e->set->current, name, out) ||
        find_in(e, post_set_find(e->set, "const"), name, out) || find_of(e, name, out))
        return true;
    if (!str_ncasecmp(name, "const.", 6))
        name += 6;
    double c[2];
    bool complex;
    if (constant(name, c, &complex)) {
        *out = post_new_val(e, 1, complex);
        post_put(out, 0, c[0] + I * c[1]);
        return true;
    }
    return false;
}

bool post_is_vector(post_env *e, const char *name)
{
    post_val v;
    double x;
    return find_vector(e, name, &v) || (e->number && e->number(e->user, name, &x));
}

/* name: the vector, as which `said` asks for it */
static bool no_vector_as(post_env *e, const char *name, const char *said)
{
    post_fail(e, "there is no vector '%s'%s%s", said,
              e->set->current ? " in the plot " : "; no analysis has run",
              e->set->current ? e->set->current->name : "");
    const char *note = e->lack ? e->lack(e->user, name) : NULL;
    if (note) {
        diag_note(e->d, DIAG_NOWHERE, "%s", note);
        return false;
    }
    const post_plot *p = e->set->current;
    const char **cand = NULL;
    for (size_t i = 0; p && i < vec_len(p->vec); i++)
        vec_push(cand, p->vec[i]->name);
    diag_suggest(e->d, said, cand, vec_len(cand));
    vec_free(cand);
    return false;
}

static bool no_vector(post_env *e, const char *name) { return no_vector_as(e, name, name); }

static bool look_up(parser *p, const char *name, post_val *out)
{
    post_env *e = p->e;
    double x = 1;
    if (!e->check && find_vector(e, name, out))
        return true;
    if (e->check) {
        *out = post_number(e, 1);
        return true;
    }
    if (e->number && e->number(e->user, name, &x)) {
        *out = post_number(e, x);
        return true;
    }
    return no_vector(e, name);
}

/* -- calls -- */

static bool expression(parser *p, post_val *out);

/* The raw text up to ',' or the closing bracket: a node or element name. */
static const char *raw_name(parser *p)
{
    blanks(p);
    const char *a = p->s;
    int depth = 0;
    for (; *p->s && (depth || (*p->s != ',' && *p->s != ')')); p->s++)
        depth += *p->s == '(' || *p->s == '[' ? 1 : *p->s == ')' || *p->s == ']' ? -1 : 0;
    size_t n = (size_t)(p->s - a);
    while (n && strchr(" \t", a[n - 1]))
        n--;
    return p->names ? str_intern_lower(p->pool, a, n) : arena_strndup(p->e->mem, a, n);
}

static void note_name(parser *p, const char *name)
{
    vec_push(*p->names, str_intern_lower(p->pool, name, strlen(name)));
}

/* "[-1]" at the cursor if the vector `name` of .hbac has this sideband, whose name ends so; "": it
 * has not. Without vectors (names) both are noted. */
static const char *sideband(parser *p, const char *name)
{
    const char *s = p->s;
    const size_t sign = *s == '[' && (s[1] == '-' || s[1] == '+'),
                 digits = *s == '[' ? strspn(s + 1 + sign, "0123456789") : 0,
                 n = 1 + sign + digits + 1;
    post_val v;
    if (!digits || s[n - 1] != ']')
        return "";
    const char *index = arena_strndup(p->e->mem, s, n),
               *whole = arena_printf(p->e->mem, "%s%s", name, index);
    if (p->names)
        note_name(p, whole);
    if (p->names || p->e->check || !find_vector(p->e, whole, &v))
        return "";
    p->s += n;
    return index;
}

/* "x1.m1:d" of "x1:m1:d": levels of hierarchy that Xyce divides by colons. NULL: it has none. */
static const char *terminal_with_dots(arena *mem, const char *name)
{
    const char *last = strrchr(name, ':');
    const char *path =
        last ? str_with_dots(mem, arena_strndup(mem, name, (size_t)(last - name))) : NULL;
    return path ? arena_printf(mem, "%s%s", path, last) : NULL;
}

/* index: of the sideband */
static bool node_voltage(parser *p, char letter, const char *prefix, const char *node,
                         const char *index, post_val *out)
{
    if (p->names) {
        const char *dots = str_with_dots(p->e->mem, node),
                   *of = letter == 'i' ? terminal_with_dots(p->e->mem, node) : NULL;
        note_name(p, arena_printf(p->e->mem, "%c(%s)", letter, node));
        if (dots)
            note_name(p, arena_printf(p->e->mem, "%c(%s)", letter, dots));
        if (of)
            note_name(p, arena_printf(p->e->mem, "%c(%s)", letter, of));
        return true;
    }
    if (letter == 'v' && (!strcmp(node, "0") || !str_casecmp(node, "gnd"))) {
        *out = post_number(p->e, 0);
        out->type = "voltage";
        return true;
    }
    if (p->e->check) {
        *out = post_number(p->e, 1);
        return true;
    }
    const char *name = arena_printf(p->e->mem, "%s%c(%s)%s", prefix, letter, node, index),
               *dots = str_with_dots(p->e->mem, name),
               *of = letter == 'i' ? terminal_with_dots(p->e->mem, name) : NULL;
    return find_vector(p->e, name, out) || (dots && find_vector(p->e, dots, out)) ||
           (of && find_vector(p->e, of, out)) || no_vector(p->e, name);
}

/* v(a,b) by that name, as the card of a spectrum called it. */
static bool named_difference(parser *p, char letter, const char *prefix, const char *hi,
                             const char *lo, post_val *out)
{
    const char *name = arena_printf(p->e->mem, "%s%c(%s,%s)", prefix, letter, hi, lo);
    if (p->differences)
        note_name(p, name);
    return !p->names && !p->e->check && find_vector(p->e, name, out);
}

/* What v(a), v(a,b), i(v1) and what .print knows of them in ac take of a phasor: vm vp vdb vr vi,
 * im ip idb ir ii. */
typedef struct access_part {
    const char *suffix;
    const char *fn; /* NULL: all of it */
} access_part;

/* NULL: the word is none of these. */
static const access_part *find_access(const char *word)
{
    static const access_part part[] = {{"", NULL},   {"m", "mag"}, {"p", "ph"},
                                       {"db", "db"}, {"r", "re"},  {"i", "im"}};
    const char letter = str_lower_char(word[0]);
    if ((letter != 'v' && letter != 'i') || !str_casecmp(word, "im")) /* the imaginary part */
        return NULL;
    for (size_t i = 0; i < VS_COUNT(part); i++)
        if (!str_casecmp(word + 1, part[i].suffix))
            return &part[i];
    return NULL;
}

static bool access(parser *p, const char *fn, bool *taken, post_val *out)
{
    const char *dot = strrchr(fn, '.'), *word = dot ? dot + 1 : fn;
    const access_part *part = find_access(word);
    char letter = str_lower_char(word[0]), prefix[128];
    *taken = part != NULL;
    if (!part)
        return true;
    snprintf(prefix, sizeof prefix, "%.*s", (int)(word - fn), fn);
    post_val a = {0}, b = {0};
    const char *hi = raw_name(p), *lo = take(p, ",") ? raw_name(p) : NULL;
    if (!expect(p, ")", "after a node"))
        return false;
    const char *index = sideband(p, arena_printf(p->e->mem, "%s%c(%s)", prefix, letter, hi));
    if (lo && p->names)
        (void)sideband(p, arena_printf(p->e->mem, "%s%c(%s)", prefix, letter, lo));
    const bool whole = lo && named_difference(p, letter, prefix, hi, lo, &a);
    if (!whole && (!node_voltage(p, letter, prefix, hi, index, &a) ||
                   (lo && !node_voltage(p, letter, prefix, lo, index, &b))))
        return false;
    if (lo && !whole && !p->names)
        a = apply(p->e, '-', &a, &b);
    *out = a;
    bool known;
    return p->names || !part->fn || post_call(p->e, part->fn, &a, 1, out, &known);
}

/* The text of a user's function with its arguments in place, each in brackets. */
static const char *substitute(post_env *e, const post_def *f, const char *const *arg)
{
    char *text = NULL;
    for (const char *s = f->text; *s;) {
        size_t n = 0;
        while (name_char(s[n]))
            n++;
        const char *with = NULL;
        for (size_t i = 0; n && i < vec_len(f->arg); i++)
            if (strlen(f->arg[i]) == n && !str_ncasecmp(f->arg[i], s, n))
                with = arg[i];
        size_t len = n ? n : 1;
        if (with)
            vec_push(text, '(');
        for (size_t i = 0; i < (with ? strlen(with) : len); i++)
            vec_push(text, with ? with[i] : s[i]);
        if (with)
            vec_push(text, ')');
        s += len;
    }
    vec_push(text, 0);
    const char *copy = arena_strndup(e->mem, text, strlen(text));
    vec_free(text);
    return copy;
}

static bool call_user(parser *p, const post_def *f, const char *const *arg, int n_arg,
                      post_val *out)
{
    post_env *e = p->e;
    if ((size_t)n_arg != vec_len(f->arg))
        return post_fail(e, "the function '%s' takes %zu arguments, not %d", f->name,
                         vec_len(f->arg), n_arg);
    if (e->depth > 50)
        return post_fail(e, "the function '%s' calls itself without end", f->name);
    e->n_call = e->depth ? e->n_call + 1 : 1;
    if (e->n_call > MAX_CALLS)
        return post_fail(e, "the functions of this expression call each other more than %d times",
                         MAX_CALLS);
    const char *text = substitute(e, f, arg);
    e->depth++;
    bool ok = strlen(text) < (1u << 20)
                  ? post_eval(e, text, out)
                  : post_fail(e, "the function '%s' grows without end", f->name);
    e->depth--;
    return ok;
}

/* Currents into terminals as PSpice, HSPICE and Xyce write them, id(m1) or i2(t1), and powers of
 * elements, p(m1) or w(m1): the names that .probe gives them. NULL: another function. */
static const char *probe_of(const post_env *e, const char *word, const char *element)
{
    const char a = str_lower_char(word[0]), b = a ? str_lower_char(word[1]) : 0;
    if (!element[0] || element[strcspn(element, " \t()+*/,'{}=<>")])
        return NULL;
    if ((a == 'p' || a == 'w') && !b)
        return arena_printf(e->mem, "%s:power", element);
    if (a != 'i' || !b || word[2] || !strchr("dgsbce123456789", b))
        return NULL;
    return arena_printf(e->mem, "i(%s:%c)", element, b);
}

static bool is_own_function(const post_env *e, const char *word)
{
    for (size_t i = 0; i < vec_len(e->def); i++)
        if (!str_casecmp(e->def[i].name, word))
            return true;
    return false;
}

/* A probe's value, if the call at the cursor is one of those; the cursor then is behind it. */
static bool probe(parser *p, const char *word, const char *start, bool *taken, post_val *out)
{
    const char *from = p->s, *element = raw_name(p), *dots = str_with_dots(p->e->mem, element);
    const char *name = probe_of(p->e, word, element);
    *taken = name && *p->s == ')' && !is_own_function(p->e, word);
    if (!*taken) {
        p->s = from;
        return true;
    }
    dots = dots ? probe_of(p->e, word, dots) : NULL;
    const char *whole = arena_strndup(p->e->mem, start, (size_t)(++p->s - start));
    if (p->names) {
        note_name(p, name);
        note_name(p, whole); /* a vector may be so called */
        if (dots)
            note_name(p, dots);
        return true;
    }
    if (p->e->check) {
        *out = post_number(p->e, 1);
        return true;
    }
    return find_in(p->e, p->e->set->current, whole, out) || find_vector(p->e, name, out) ||
           (dots && find_vector(p->e, dots, out)) || no_vector_as(p->e, name, whole);
}

static bool call(parser *p, const char *name, const char *start, post_val *out)
{
    bool taken, known;
    if (!access(p, name, &taken, out) || (!taken && !probe(p, name, start, &taken, out)))
        return false;
    if (taken)
        return true;
    post_val arg[MAX_ARG];
    const char *text[MAX_ARG];
    const post_def *def = NULL;
    int n = 0;
    const size_t site = p->e->carry ? p->e->carry->at : 0;
    for (size_t i = 0; !p->names && i < vec_len(p->e->def); i++)
        if (!str_casecmp(p->e->def[i].name, name))
            def = &p->e->def[i];
    blanks(p);
    const char *inside = p->s;
    /* a vector whose name has brackets: noise and fft results, "onoise_total(r1)" */
    for (bool more = *p->s != ')'; more; more = take(p, ",")) {
        if (n == MAX_ARG)
            return post_fail(p->e, "%s() has more than %d arguments", name, MAX_ARG);
        blanks(p);
        const char *a = p->s;
        if (def) {
            raw_name(p);
            text[n++] = arena_strndup(p->e->mem, a, (size_t)(p->s - a));
            continue;
        }
        if (!p->names && n == 0) {
            const char *close = strchr(inside, ')');
            if (close &&
                !strpbrk(arena_strndup(p->e->mem, inside, (size_t)(close - inside)), "+*/(, ")) {
                const char *whole = arena_strndup(p->e->mem, start, (size_t)(close + 1 - start));
                if (find_in(p->e, p->e->set->current, whole, out) || find_of(p->e, whole, out)) {
                    p->s = close + 1;
                    return true;
                }
            }
        }
        if (!expression(p, &arg[n++]))
            return false;
    }
    if (!expect(p, ")", "after the arguments"))
        return false;
    if (p->names)
        return true;
    if (def)
        return call_user(p, def, text, n, out);
    if (p->e->carry)
        p->e->carry->inner = site;
    if (!post_call(p->e, name, arg, n, out, &known) && known)
        return false;
    if (known)
        return true;
    if (p->e->check && inside[strspn(inside, "0123456789")] == ')') { /* pole(1) of .pz */
        *out = post_number(p->e, 1);
        return true;
    }
    post_fail(p->e, "there is no function '%s'", name);
    diag_suggest(p->e->d, name, post_function_names, post_n_function);
    return false;
}

static bool is_function(const post_env *e, const char *name)
{
    if (!e->check && e->set->current && post_plot_find(e->set->current, name))
        return false;
    if (is_own_function(e, name))
        return true;
    for (size_t i = 0; i < post_n_function; i++)
        if (!str_casecmp(post_function_names[i], name))
            return true;
    return find_access(name) != NULL;
}

/* Takes the bracket that begins the arguments of `name`, if one does. */
static bool begins_call(parser *p, const char *name)
{
    const size_t n = strspn(p->s, " \t");
    if (p->s[n] != '(' || (n && !is_function(p->e, name)))
        return false;
    p->s += n + 1;
    return true;
}

/* -- grammar -- */

/* What v[i] or v[i,j] is: a row, or an array of `n` rows. */
static void shape_of_rows(post_env *e, const post_val *v, int64_t n, bool several, post_val *r)
{
    if (v->n_dim < 2 || (!several && v->n_dim == 2))
        return;
    r->n_dim = v->n_dim - !several;
    if (!several) {
        r->dim = v->dim + 1;
        return;
    }
    int64_t *dim = arena_alloc(e->mem, v->n_dim * sizeof *dim);
    memcpy(dim, v->dim, v->n_dim * sizeof *dim);
    dim[0] = n;
    r->dim = dim;
}

static bool index_range(parser *p, post_val *v)
{
    bool by_scale = take(p, "[[");
    if (!by_scale && !take(p, "["))
        return true;
    post_val lo, hi;
    bool two = false;
    if (!expression(p, &lo))
        return false;
    if (take(p, ",")) {
        two = true;
        if (!expression(p, &hi))
            return false;
    }
    if (!expect(p, by_scale ? "]]" : "]", "after an index"))
        return false;
    if (p->names || p->e->check)
        return true;
    needs_whole(p->e);
    double a = creal(post_at(&lo, 0)), b = two ? creal(post_at(&hi, 0)) : a;
    const post_vec *axis = post_axis(v);
    int64_t n = 0;
    if (by_scale && !axis)
        return post_fail(p->e, "[[ ]] needs a vector with an axis");
    const int64_t n_row = v->n_dim ? v->dim[0] : v->n, row = n_row ? v->n / n_row : 0;
    if (!by_scale) { /* computed numbers seldom are whole: the nearest, as in ngspice */
        a = floor(a + 0.5);
        b = floor(b + 0.5);
    }
    if (!by_scale && !(a >= 0 && b >= 0 && a < (double)n_row && b < (double)n_row))
        return post_fail(p->e, "the index %g is outside 0 .. %lld",
                         !(a >= 0 && a < (double)n_row) ? a : b, (long long)n_row - 1);
    post_val r = post_new_val(p->e, by_scale ? v->n : ((int64_t)fabs(b - a) + 1) * row, v->complex);
    if (by_scale) {
        for (int64_t k = 0; k < v->n; k++) {
            double x = axis->complex ? axis->v[2 * k] : axis->v[k];
            if (x >= fmin(a, b) && x <= fmax(a, b))
                post_put(&r, n++, post_at(v, k));
        }
    } else {
        int64_t i = (int64_t)a, j = (int64_t)b, step = i <= j ? 1 : -1;
        for (int64_t k = i;; k += step) {
            for (int64_t t = 0; t < row; t++)
                post_put(&r, n++, post_at(v, k * row + t));
            if (k == j)
                break;
        }
        shape_of_rows(p->e, v, n / (row ? row : 1), two, &r);
    }
    r.n = n;
    r.type = v->type;
    r.plot = v->plot;
    *v = r;
    return index_range(p, v);
}

static bool name_or_call(parser *p, post_val *out)
{
    const char *a = p->s;
    const diag_span outside = p->e->span;
    const char *at = a + strcspn(a, "@"), *end = a;
    while (name_char(*end))
        end++;
    if (at < end && (at == a || at[-1] == '.')) { /* @m1[gm], dc1.@m1[gm] */
        p->s = end;
        const char *close = *p->s == '[' ? strchr(p->s, ']') : NULL;
        if (close)
            p->s = close + 1;
    } else {
        while (name_char(*p->s) || (p->s > a && *p->s == '!' && p->s[1] != '=')) /* node sub! */
            p->s++;
        if (p->s > a && !str_ncasecmp(p->s, ":power", 6) && !name_char(p->s[6]))
            p->s += 6; /* of .probe p(q1) */
    }
    size_t n = (size_t)(p->s - a);
    point(p, a, *p->s == '(' ? n + strcspn(p->s, ")") + (strchr(p->s, ')') != NULL) : n);
    if (!n)
        return post_fail(
            p->e, *a ? "an expression is expected, not '%.20s'" : "an expression is expected", a);
    if (p->names) {
        const char *name = str_intern_lower(p->pool, a, n);
        if (take(p, "("))
            return call(p, name, a, out);
        note_name(p, name);
        (void)sideband(p, name);
        return true;
    }
    const char *name = arena_strndup(p->e->mem, a, n);
    bool ok = begins_call(p, name)
                  ? call(p, name, a, out)
                  : look_up(p, arena_printf(p->e->mem, "%s%s", name, sideband(p, name)), out);
    if (ok)
        p->e->span = outside;
    return ok;
}

static bool closed(parser *p, const char *close, post_val *out)
{
    post_val im;
    if (!expression(p, out))
        return false;
    if (*close == ')' && take(p, ",")) {
        if (!expression(p, &im))
            return false;
        if (!p->names) {
            post_val j = post_new_val(p->e, 1, true);
            post_put(&j, 0, I);
            im = apply(p->e, '*', &im, &j);
            *out = apply(p->e, '+', out, &im);
        }
    }
    return expect(p, close, "to close the bracket");
}

/* "temp-sweep": a vector whose name an expression could not have. false: there is none of this
 * name, and the quotes are brackets. */
static bool quoted_vector(parser *p, post_val *out)
{
    const char *name = p->s + 1, *end = *p->s == '"' ? strchr(name, '"') : NULL;
    if (!end || p->e->check)
        return false;
    name = arena_strndup(p->e->mem, name, (size_t)(end - name));
    if (p->names) { /* nobody knows yet: both are wanted */
        note_name(p, name);
        return false;
    }
    if (!find_vector(p->e, name, out))
        return false;
    p->s = end + 1;
    return true;
}

static bool primary(parser *p, post_val *out)
{
    double x;
    const char *end;
    blanks(p);
    if (quoted_vector(p, out))
        return true;
    if (take(p, "("))
        return closed(p, ")", out);
    if (take(p, "{"))
        return closed(p, "}", out);
    if (take(p, "'"))
        return closed(p, "'", out);
    if (take(p, "\""))
        return closed(p, "\"", out);
    if (((*p->s >= '0' && *p->s <= '9') || (*p->s == '.' && p->s[1] >= '0' && p->s[1] <= '9')) &&
        str_spice_number(p->s, &end, &x)) {
        p->s = end;
        if (!p->names)
            *out = post_number(p->e, x);
        return true;
    }
    return name_or_call(p, out);
}

static bool postfix(parser *p, post_val *out) { return primary(p, out) && index_range(p, out); }

static bool unary(parser *p, post_val *out)
{
    if (++p->depth > MAX_DEPTH)
        return post_fail(p->e, "the expression is nested too deep");
    bool ok, known;
    if (take(p, "-")) {
        ok = unary(p, out);
        if (ok && !p->names)
            ok = post_call(p->e, "unary minus", out, 1, out, &known);
    } else if (take(p, "+")) {
        ok = unary(p, out);
    } else if (take(p, "~") || (strncmp(p->s, "!=", 2) && take(p, "!")) || take(p, "not")) {
        ok = unary(p, out);
        if (ok && !p->names) {
            post_val zero = post_number(p->e, 0);
            *out = apply(p->e, '=', out, &zero);
        }
    } else {
        ok = postfix(p, out);
        if (ok && (take(p, "^") || take(p, "**"))) {
            post_val b;
            ok = unary(p, &b);
            if (ok && !p->names)
                *out = apply(p->e, '^', out, &b);
        }
    }
    p->depth--;
    return ok;
}

typedef struct operation {
    const char *text;
    char op;
} operation;

static bool left(parser *p, post_val *out, const operation *op, size_t n,
                 bool (*below)(parser *, post_val *))
{
    if (!below(p, out))
        return false;
    for (;;) {
        size_t k = 0;
        while (k < n && !take(p, op[k].text))
            k++;
        if (k == n)
            return true;
        post_val b;
        if (!below(p, &b))
            return false;
        if (!p->names)
            *out = apply(p->e, op[k].op, out, &b);
    }
}

static bool term(parser *p, post_val *out)
{
    static const operation op[] = {{"*", '*'}, {"/", '/'}, {"%", '%'}};
    return left(p, out, op, VS_COUNT(op), unary);
}

static bool sum(parser *p, post_val *out)
{
    static const operation op[] = {{"+", '+'}, {"-", '-'}};
    return left(p, out, op, VS_COUNT(op), term);
}

static bool comparison(parser *p, post_val *out)
{
    static const operation op[] = {{"<>", 'n'}, {"><", 'n'}, {"!=", 'n'}, {"<=", 'l'}, {">=", 'g'},
                                   {"==", '='}, {"<", '<'},  {">", '>'},  {"=", '='},  {"eq", '='},
                                   {"ne", 'n'}, {"lt", '<'}, {"gt", '>'}, {"le", 'l'}, {"ge", 'g'}};
    return left(p, out, op, VS_COUNT(op), sum);
}

static bool conjunction(parser *p, post_val *out)
{
    static const operation op[] = {{"&&", '&'}, {"&", '&'}, {"and", '&'}};
    return left(p, out, op, VS_COUNT(op), comparison);
}

static bool disjunction(parser *p, post_val *out)
{
    static const operation op[] = {{"||", '|'}, {"|", '|'}, {"or", '|'}};
    return left(p, out, op, VS_COUNT(op), conjunction);
}

static bool expression(parser *p, post_val *out)
{
    if (++p->depth > MAX_DEPTH)
        return post_fail(p->e, "the expression is nested too deep");
    bool ok = disjunction(p, out);
    if (ok && take(p, "?")) {
        post_val a, b;
        ok = expression(p, &a) && expect(p, ":", "in a choice") && expression(p, &b);
        if (ok && !p->names) {
            post_val r = like(p->e, &a, &b, a.complex || b.complex);
            if (out->n > 1 && out->n > r.n) {
                r = post_new_val(p->e, out->n, r.complex);
                r.plot = out->plot;
            }
            for (int64_t k = 0; k < r.n; k++)
                post_put(&r, k, post_at(out, k) != 0 ? post_at(&a, k) : post_at(&b, k));
            *out = r;
        }
    }
    p->depth--;
    return ok;
}

/* -- entry -- */

bool post_eval_next(post_env *e, const char **text, post_val *out)
{
    parser p = {.e = e, .s = *text};
    blanks(&p);
    const char *a = p.s;
    if (!expression(&p, out))
        return false;
    size_t n = (size_t)(p.s - a);
    while (n && strchr(" \t\r\n", a[n - 1]))
        n--;
    out->name = arena_strndup(e->mem, a, n);
    blanks(&p);
    *text = *p.s ? p.s : NULL;
    return true;
}

bool post_eval(post_env *e, const char *text, post_val *out)
{
    if (!post_eval_next(e, &text, out))
        return false;
    return !text || post_fail(e, "'%.30s' is not expected behind the expression", text);
}

/* "all", "tran1.all", "allv", "alli", "ally" (all but the axis) at the start of the list. */
static bool take_all(post_env *e, const char **text, post_val **out)
{
    const char *s = *text + strspn(*text, " \t,");
    size_t n = strcspn(s, " \t,");
    const char *dot = memchr(s, '.', n), *word = dot ? dot + 1 : s;
    size_t len = (size_t)(s + n - word);
    if (!(len == 3 || len == 4) || str_ncasecmp(word, "all", 3) ||
        (len == 4 && !strchr("viy", str_lower_char(word[3]))))
        return false;
    const post_plot *p =
        dot ? post_set_find(e->set, arena_strndup(e->mem, s, (size_t)(dot - s))) : e->set->current;
    if (p)
        post_fetch_all(p);
    for (size_t i = 0; p && i < vec_len(p->vec); i++) {
        const post_vec *v = p->vec[i];
        const char kind = len == 3 ? 0 : str_lower_char(word[3]);
        if (!kind || (kind == 'y' && v != p->scale) ||
            (kind != 'y' && !strcmp(v->type, kind == 'v' ? "voltage" : "current")))
            vec_push(*out, (post_val){.complex = v->complex,
                                      .n = v->n,
                                      .v = v->v,
                                      .dim = v->dim,
                                      .n_dim = vec_len(v->dim),
                                      .plot = p,
                                      .type = v->type,
                                      .name = v->name});
    }
    *text = s + n;
    return true;
}

bool post_eval_list(post_env *e, const char *text, post_val **out)
{
    *out = NULL;
    while (text && *(text += strspn(text, " \t,"))) {
        post_val v;
        if (take_all(e, &text, out))
            continue;
        if (!post_eval_next(e, &text, &v)) {
            vec_free(*out);
            return false;
        }
        vec_push(*out, v);
    }
    return true;
}

bool post_eval_number(post_env *e, const char *text, double *x)
{
    post_val v;
    if (!post_eval(e, text, &v))
        return false;
    if (v.n < 1)
        return post_fail(e, "'%s' has no value", text);
    *x = creal(post_at(&v, v.n - 1));
    return true;
}

static void collect_names(str_pool *names, const char *text, bool differences, const char ***list)
{
    diag quiet;
    diag_quiet_init(&quiet, NULL);
    post_env e = {.d = &quiet, .span = DIAG_NOWHERE, .line_at = DIAG_NOWHERE, .mem = &quiet.mem};
    parser p = {.e = &e, .s = text, .names = list, .differences = differences, .pool = names};
    post_val v;
    do
        p.s += strspn(p.s, " \t\r\n,");
    while (*p.s && expression(&p, &v));
    diag_quiet_fini(&quiet);
}

void post_names(str_pool *names, const char *text, const char ***list)
{
    collect_names(names, text, false, list);
}

void post_names_of_plots(str_pool *names, const char *text, const char ***list)
{
    collect_names(names, text, true, list);
}
