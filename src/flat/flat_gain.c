/* flat_gain.c - HSPICE's transfer functions of E and G: LAPLACE with lists of coefficients, POLE,
 * FOSTER, DELAY, and OPAMP. Each becomes an expression of laplace(), or of voltages. Lists are cut
 * at a '/' that stands between blanks or brackets.
 * Source: Star-Hspice manual, chapters on G and E elements and on Laplace and pole/zero modelling.
 */
#include <math.h>
#include <string.h>

#include "flat_priv.h"

enum { MOST = 64 }; /* numbers of a list; laplace() takes 30 powers of s */

typedef struct gain {
    cur *q;
    diag_span at;      /* of the form's word */
    const net_expr *x; /* the controlling voltage */
} gain;

static bool is_failed(gain *g, const char *what)
{
    diag_error(g->q->c->d, g->at, "%s", what);
    return false;
}

/* -- expressions -- */

static const net_expr *number(const gain *g, double x) { return flat_number(g->q->c, x, g->at).e; }

static const net_expr *op(const gain *g, net_op o, const net_expr *a, const net_expr *b)
{
    return flat_operation(g->q->c, o, a, b);
}

static const net_expr *s_of(const gain *g)
{
    net_expr *s = arena_alloc(g->q->c->mem, sizeof *s);
    *s = (net_expr){.op = NET_S, .name = str_intern0(g->q->c->names, "s"), .span = g->at};
    return s;
}

static const net_expr *call2(const gain *g, net_fn fn, const char *name, const net_expr *a,
                             const net_expr *b)
{
    net_expr *e = flat_call(g->q->c, fn, name, b ? 2 : 1, g->at);
    e->arg[0] = a;
    if (b)
        e->arg[1] = b;
    return e;
}

static const net_expr *filtered(const gain *g, const net_expr *h)
{
    return call2(g, NET_FN_LAPLACE, "laplace", g->x, h);
}

/* c[0] + c[1] s + ... by Horner's rule. */
static const net_expr *polynomial(const gain *g, const net_expr *const *c, int n)
{
    const net_expr *e = c[n - 1];
    for (int i = n - 2; i >= 0; i--)
        e = op(g, NET_ADD, c[i], op(g, NET_MUL, s_of(g), e));
    return e;
}

/* -- lists -- */

static bool at_slash(const cur *q)
{
    const net_tok *t = &q->card->tok[q->i];
    return cur_more(q) && t->kind == NET_T_WORD && t->text[0] == '/' && !t->text[1];
}

/* Values up to a '/', a key or the end of the card: e [MOST]. -1: one is no value, or too many. */
static int take_list(gain *g, const net_expr **e)
{
    int n = 0;
    while (cur_skip_punct(g->q), cur_more(g->q) && !cur_at_key(g->q) && !at_slash(g->q)) {
        const rhs v = cur_value(g->q);
        if (!v.e || n == MOST) {
            if (v.e)
                is_failed(g, "more than 64 numbers in a list of a transfer function");
            return -1;
        }
        e[n++] = v.e;
    }
    return n;
}

/* Two lists with a '/' between them. */
static bool take_lists(gain *g, const char *what, const net_expr **a, int *na, const net_expr **b,
                       int *nb)
{
    *na = take_list(g, a);
    if (*na < 0)
        return false;
    if (!at_slash(g->q))
        return is_failed(g, what);
    g->q->i++;
    *nb = take_list(g, b);
    return *nb >= 0 && ((*na > 0 && *nb > 0) || is_failed(g, what));
}

/* -- forms -- */

/* laplace = "laplace" a b k0 k1 ... "/" d0 d1 ... */
static const net_expr *read_laplace(gain *g)
{
    static const char what[] = "LAPLACE needs coefficients of 1, s, s^2 ... of numerator and "
                               "denominator: LAPLACE a 0 1 / 1 1u";
    const net_expr *k[MOST], *d[MOST];
    int nk, nd;
    if (!take_lists(g, what, k, &nk, d, &nd))
        return NULL;
    return filtered(g, op(g, NET_DIV, polynomial(g, k, nk), polynomial(g, d, nd)));
}

/* The value of a number; *ok false: it is none. */
static double known(gain *g, const net_expr *e, bool *ok)
{
    if (e->op == NET_NUM)
        return e->num;
    if (e->op == NET_NEG && e->arg[0]->op == NET_NUM)
        return -e->arg[0]->num;
    if (*ok)
        diag_error(g->q->c->d, e->span, "a root is written as two numbers");
    *ok = false;
    return 0;
}

/* a (s + alpha) or, of a pair, a ((s + alpha)^2 + (2 pi f)^2), for each alpha, f behind a. */
static const net_expr *roots(gain *g, const net_expr *const *e, int n, bool *ok)
{
    const net_expr *h = e[0];
    for (int i = 1; i + 1 < n && *ok; i += 2) {
        const double alpha = known(g, e[i], ok), w = 2 * acos(-1) * known(g, e[i + 1], ok);
        const net_expr *one[] = {number(g, alpha), number(g, 1)},
                       *two[] = {number(g, alpha * alpha + w * w), number(g, 2 * alpha),
                                 number(g, 1)};
        h = op(g, NET_MUL, h, w != 0 ? polynomial(g, two, 3) : polynomial(g, one, 2));
    }
    return h;
}

/* pole = "pole" a b k (alpha "," f)* "/" k (alpha "," f)* */
static const net_expr *read_pole(gain *g)
{
    static const char what[] = "POLE needs a factor and pairs of alpha and f, for zeros and for "
                               "poles: POLE a 0 1 / 1 1k,0 500,159";
    const net_expr *z[MOST], *p[MOST];
    int nz, np;
    bool ok = take_lists(g, what, z, &nz, p, &np);
    if (!ok || nz % 2 == 0 || np % 2 == 0) {
        if (ok)
            is_failed(g, what);
        return NULL;
    }
    const net_expr *num = roots(g, z, nz, &ok), *den = roots(g, p, np, &ok);
    return ok ? filtered(g, op(g, NET_DIV, num, den)) : NULL;
}

/* A/(s - p) and its conjugate: 2 (Re A s - Re A Re p - Im A Im p) / (s^2 - 2 Re p s + |p|^2); of a
 * real pole 2 A/(s - p). */
static const net_expr *residue(gain *g, const double *v)
{
    const double re = v[0], im = v[1], pr = v[2], pi = v[3];
    const net_expr *num[] = {number(g, -2 * (re * pr + im * pi)), number(g, 2 * re)},
                   *den[] = {number(g, pr * pr + pi * pi), number(g, -2 * pr), number(g, 1)},
                   *real[] = {number(g, -pr), number(g, 1)};
    return filtered(g, pi == 0 ? op(g, NET_DIV, num[1], polynomial(g, real, 2))
                               : op(g, NET_DIV, polynomial(g, num, 2), polynomial(g, den, 3)));
}

/* foster = "foster" a b k0 k1 ("(" re "," im ")" "/" "(" re "," im ")")* */
static const net_expr *read_foster(gain *g)
{
    static const char what[] = "FOSTER needs k0, k1, and residues over poles: FOSTER a 0 1m 1p "
                               "(0.4m,0)/(-10g,0) (1m,-6m)/(-0.1g,18g)";
    const net_expr *k[MOST];
    double v[4];
    bool ok = true;
    int n = 0;
    while (cur_skip_punct(g->q), cur_more(g->q) && !cur_at_key(g->q) && n < MOST) {
        if (at_slash(g->q)) {
            ok &= n >= 4 && n % 4 == 0; /* behind k0, k1 and a residue */
            g->q->i++;
            continue;
        }
        const rhs x = cur_value(g->q);
        if (!x.e)
            return NULL;
        k[n++] = x.e;
    }
    if (!ok || n < 2 || n % 4 != 2 || n == MOST) {
        is_failed(g, what);
        return NULL;
    }
    const net_expr *sum = op(g, NET_ADD, op(g, NET_MUL, k[0], g->x),
                             op(g, NET_MUL, k[1], call2(g, NET_FN_DDT, "ddt", g->x, NULL)));
    for (int i = 2; i < n && ok; i += 4) {
        for (int j = 0; j < 4; j++)
            v[j] = known(g, k[i + j], &ok);
        if (ok)
            sum = op(g, NET_ADD, sum, residue(g, v));
    }
    return ok ? sum : NULL;
}

/* delay = "delay" a b ("td" "=" t | "scale" "=" k)* */
static const net_expr *read_delay(gain *g)
{
    rhs td = {0}, scale = {0};
    while (cur_skip_punct(g->q), cur_at_key(g->q)) {
        rhs *v = cur_is_word(g->q, "td") ? &td : cur_is_word(g->q, "scale") ? &scale : NULL;
        if (!v)
            break;
        g->q->i += 2;
        *v = cur_value(g->q);
        if (!v->e)
            return NULL;
    }
    if (!td.given) {
        is_failed(g, "DELAY needs a time: DELAY a 0 TD=1n");
        return NULL;
    }
    const net_expr *by = op(g, NET_MUL, number(g, -1), op(g, NET_MUL, s_of(g), td.e)),
                   *y = filtered(g, call2(g, NET_FN_EXP, "exp", by, NULL));
    return scale.given ? op(g, NET_MUL, scale.e, y) : y;
}

/* opamp = "opamp" a b: the output is whatever makes v(a,b) 0, v(p,n) = v(p,n) + v(a,b). */
static const net_expr *read_opamp(gain *g, const net_expr *out)
{
    return op(g, NET_ADD, out, g->x);
}

/* The form's word stands before two names of nodes. LAPLACE of PSpice has an expression there, and
 * a node may be called `pole`, `foster` or `delay`: those forms have a '/' or a time. */
bool flat_at_gain(const cur *q)
{
    static const char *const words[] = {"laplace", "opamp", "pole", "foster", "delay"};
    const net_tok *t = &q->card->tok[q->i], *end = q->card->tok + q->card->n_tok;
    size_t k = 0;
    while (k < VS_COUNT(words) && !cur_is_word(q, words[k]))
        k++;
    if (k == VS_COUNT(words) || end - t < 3 || t[1].kind != NET_T_WORD || t[2].kind != NET_T_WORD)
        return false;
    if (k < 2)
        return k == 0 || end - t == 3 || t[4 < end - t ? 4 : 3].punct == '=';
    for (t += 3; t < end; t++)
        if (t->kind == NET_T_WORD && !strcmp(t->text, k == 4 ? "td" : "/"))
            return true;
    return false;
}

const net_expr *flat_gain(cur *q, const char *plus, const char *minus)
{
    gain g = {.q = q, .at = cur_span(q)};
    const bool laplace = cur_is_word(q, "laplace"), pole = cur_is_word(q, "pole"),
               foster = cur_is_word(q, "foster"), delay = cur_is_word(q, "delay");
    const net_tok *t = &q->card->tok[q->i];
    g.x = flat_voltage(q->c, t[1].text, t[2].text, g.at);
    q->i += 3;
    return laplace  ? read_laplace(&g)
           : pole   ? read_pole(&g)
           : foster ? read_foster(&g)
           : delay  ? read_delay(&g)
                    : read_opamp(&g, flat_voltage(q->c, plus, minus, g.at));
}
