/* elab_transfer.c - transfer functions written as expressions of s: quotients of polynomials, with
 * a delay. A value is (num/den) exp(-s delay). Sums keep the denominator that both have in common,
 * so that a sum of fractions over one denominator does not double its poles. */
#include "elab_priv.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    elab *e;
    const char *who;
    bool failed;
} reader;

static elab_ratio value(reader *r, const net_expr *h);

static elab_ratio refuse(reader *r, const net_expr *at, const char *why)
{
    if (!r->failed)
        diag_error(
            r->e->d, at->span,
            "%s: %s; a transfer function is a quotient of polynomials in s, times exp(-s*delay)",
            r->who, why);
    r->failed = true;
    return (elab_ratio){.num = {1}, .den = {1}};
}

static elab_ratio number(double x) { return (elab_ratio){.num = {x}, .den = {1}}; }

/* -- polynomials -- */

typedef struct poly {
    double c[ELAB_DEGREE + 1];
    int n; /* degree */
} poly;

static poly poly_of(const double *c, int n)
{
    poly p = {.n = n};
    memcpy(p.c, c, sizeof *c * (size_t)(n + 1));
    return p;
}

static poly product(reader *r, const net_expr *at, const poly *a, const poly *b)
{
    poly p = {.n = a->n + b->n};
    if (p.n > ELAB_DEGREE) {
        refuse(r, at, "more than 30 powers of s");
        return *a;
    }
    for (int i = 0; i <= a->n; i++)
        for (int j = 0; j <= b->n; j++)
            p.c[i + j] += a->c[i] * b->c[j];
    while (p.n > 0 && p.c[p.n] == 0)
        p.n--;
    return p;
}

static poly num_of(const elab_ratio *x) { return poly_of(x->num, x->n_num); }
static poly den_of(const elab_ratio *x) { return poly_of(x->den, x->n_den); }

static elab_ratio ratio(const poly *num, const poly *den, double delay)
{
    elab_ratio x = {.n_num = num->n, .n_den = den->n, .delay = delay};
    memcpy(x.num, num->c, sizeof num->c);
    memcpy(x.den, den->c, sizeof den->c);
    return x;
}

static bool is_zero(const elab_ratio *x) { return x->n_num == 0 && x->num[0] == 0; }

/* -- operations -- */

static elab_ratio times(reader *r, const net_expr *at, const elab_ratio *a, const elab_ratio *b,
                        bool divide)
{
    const poly an = num_of(a), ad = den_of(a), bn = num_of(b), bd = den_of(b);
    if (divide && is_zero(b))
        return refuse(r, at, "division by 0");
    const poly n = product(r, at, &an, divide ? &bd : &bn),
               d = product(r, at, &ad, divide ? &bn : &bd);
    return ratio(&n, &d, a->delay + (divide ? -b->delay : b->delay));
}

static elab_ratio plus(reader *r, const net_expr *at, const elab_ratio *a, const elab_ratio *b,
                       double sign)
{
    poly an = num_of(a), ad = den_of(a), bn = num_of(b), bd = den_of(b);
    if (a->delay != b->delay && !is_zero(a) && !is_zero(b))
        return refuse(r, at, "a sum of different delays");
    if (ad.n != bd.n || memcmp(ad.c, bd.c, sizeof ad.c) != 0) {
        an = product(r, at, &an, &bd);
        bn = product(r, at, &bn, &ad);
        ad = product(r, at, &ad, &bd);
    }
    poly n = {.n = an.n > bn.n ? an.n : bn.n};
    for (int i = 0; i <= n.n; i++)
        n.c[i] = an.c[i] + sign * bn.c[i];
    while (n.n > 0 && n.c[n.n] == 0)
        n.n--;
    return ratio(&n, &ad, is_zero(a) ? b->delay : a->delay);
}

static elab_ratio power(reader *r, const net_expr *at, const elab_ratio *a, const elab_ratio *b)
{
    const double y = b->num[0] / b->den[0];
    if (b->n_num || b->n_den || b->delay != 0)
        return refuse(r, at, "s in an exponent");
    if (!a->n_num && !a->n_den && a->delay == 0)
        return number(pow(a->num[0] / a->den[0], y));
    if (y != floor(y) || fabs(y) > ELAB_DEGREE)
        return refuse(r, at, "a power of s that is not a whole number up to 30");
    elab_ratio x = number(1);
    for (int k = 0; k < (int)fabs(y) && !r->failed; k++)
        x = times(r, at, &x, a, y < 0);
    return x;
}

/* exp(-s td) */
static elab_ratio exponential(reader *r, const net_expr *at, const elab_ratio *a)
{
    if (a->n_num > 1 || a->n_den || a->delay != 0)
        return refuse(r, at, "exp() of something else than a number or -s times a delay");
    if (a->n_num == 1 && a->num[1] / a->den[0] > 0)
        return refuse(r, at, "a delay below 0");
    elab_ratio x = number(exp(a->num[0] / a->den[0]));
    x.delay = a->n_num ? -a->num[1] / a->den[0] : 0;
    return x;
}

/* Functions of numbers. */
static elab_ratio call(reader *r, const net_expr *h)
{
    double x[4], y;
    char why[128];
    if (h->n_arg > 4)
        return refuse(r, h, "this function");
    elab_ratio a = {0};
    for (int32_t i = 0; i < h->n_arg; i++) {
        a = value(r, h->arg[i]);
        if (h->op == NET_CALL && h->fn == NET_FN_EXP && !r->failed)
            return exponential(r, h, &a);
        if (a.n_num || a.n_den || a.delay != 0)
            return refuse(r, h, "this function of s");
        x[i] = a.num[0] / a.den[0];
    }
    if (!net_apply(h->op, h->fn, x, h->n_arg, &y, why, sizeof why))
        return refuse(r, h, why);
    return number(y);
}

static elab_ratio value(reader *r, const net_expr *h)
{
    static const poly s = {{0, 1}, 1}, one = {{1}, 0};
    switch (h->op) {
    case NET_NUM: return number(h->num);
    case NET_S: return ratio(&s, &one, 0);
    case NET_VNODE:
    case NET_IBRANCH:
    case NET_TIME:
    case NET_TEMPER:
    case NET_HERTZ:
    case NET_STR:
    case NET_PARAM: return refuse(r, h, "it depends on the circuit");
    case NET_NEG:
    case NET_ADD:
    case NET_SUB:
    case NET_MUL:
    case NET_DIV:
    case NET_POW: break;
    default: return call(r, h);
    }
    const elab_ratio a = value(r, h->arg[0]), zero = number(0),
                     b = h->n_arg > 1 ? value(r, h->arg[1]) : zero;
    if (r->failed)
        return a;
    return h->op == NET_NEG   ? plus(r, h, &zero, &a, -1)
           : h->op == NET_ADD ? plus(r, h, &a, &b, 1)
           : h->op == NET_SUB ? plus(r, h, &a, &b, -1)
           : h->op == NET_POW ? power(r, h, &a, &b)
                              : times(r, h, &a, &b, h->op == NET_DIV);
}

/* Moves the polynomial part of num/den to `whole`: num = quotient den + rest. */
static void divide(elab_ratio *x)
{
    for (int k = x->n_num - x->n_den; k >= 0 && x->n_den >= 0; k--) {
        const double q = x->num[k + x->n_den] / x->den[x->n_den];
        if (k < ELAB_WHOLE)
            x->whole[k] = q;
        for (int i = 0; i <= x->n_den; i++)
            x->num[k + i] -= q * x->den[i];
        x->num[k + x->n_den] = 0;
    }
    x->n_num = x->n_num < x->n_den ? x->n_num : x->n_den > 0 ? x->n_den - 1 : 0;
    while (x->n_num > 0 && x->num[x->n_num] == 0)
        x->n_num--;
}

/* Takes the factors s out that num and den have in common, as in s/(s + s^2). */
static void cancel_zeros(elab_ratio *x)
{
    while (x->n_num > 0 && x->n_den > 0 && x->num[0] == 0 && x->den[0] == 0) {
        memmove(x->num, x->num + 1, sizeof *x->num * (size_t)x->n_num--);
        memmove(x->den, x->den + 1, sizeof *x->den * (size_t)x->n_den--);
        x->num[x->n_num + 1] = x->den[x->n_den + 1] = 0;
    }
}

bool elab_transfer(elab *e, const char *who, const net_expr *h, elab_ratio *x)
{
    reader r = {.e = e, .who = who};
    *x = value(&r, h);
    if (r.failed)
        return false;
    if (x->delay < 0)
        refuse(&r, h, "a delay below 0");
    cancel_zeros(x);
    if (x->n_num > x->n_den + ELAB_WHOLE - 1)
        refuse(&r, h, "a second derivative: two zeros more than poles");
    for (int i = 0; i <= x->n_num; i++)
        if (!isfinite(x->num[i]))
            refuse(&r, h, "a coefficient that is no finite number");
    for (int i = 0; i <= x->n_den; i++)
        if (!isfinite(x->den[i]))
            refuse(&r, h, "a coefficient that is no finite number");
    if (!r.failed)
        divide(x);
    return !r.failed;
}
