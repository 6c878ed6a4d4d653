/* rlgc.c - see rlgc.h.
 * Let a = min(R/L, G/C), b = max. With both L and C the cut is [-b, -a] and at s = -sigma beside it
 *   y/s       -> density of m:  sqrt((sigma - a)/(b - sigma)) / (pi sigma)
 *   exp(-l)   -> density of w:  sin(T sqrt((sigma - a)(b - sigma))) exp(-delay sigma) / pi
 * with T = sqrt(L C). sigma = a + (b - a) sin^2(theta/2) makes both smooth in theta = 0 ... pi.
 * Without L (or C) b is infinite, y = sqrt(tau (s + a)) = lambda, tau = R C (or G L), and sigma
 * = a + x^2, x = 0 ... X. Panels grow by factors of 2 from where sigma t_end is 1. A diffusive
 * line (tau/T > 100) has sent nothing measurable (erfc(5) = 2e-12) before tau/100: delay is put
 * there, which keeps the density of w from oscillating. */
#include "rlgc.h"

#include <math.h>

#include "vec.h"

#define QUIET 100  /* tau/QUIET: nothing has come yet */
#define DECAYED 45 /* exp(-45) is nothing */
#define FINEST 1e9 /* without L: the shortest time, in parts of the scale of the line */
#define PHASE 5    /* radians of a panel */
enum { RULE = 12 };

typedef struct panels {
    rlgc *line;
    double node[RULE], weight[RULE];
    double a, b, t, tau;   /* b = INFINITY: no second reactance; t: travel time sqrt(L C) */
    double *sigma, *m, *w; /* vecs */
} panels;

rlgc_kind rlgc_kind_of(double r, double l, double g, double c)
{
    if (!(r > 0 || l > 0) || !(g > 0 || c > 0))
        return RLGC_NONE;
    return r == 0 && g == 0 ? RLGC_IDEAL : RLGC_LOSSY;
}

/* Nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial. */
static void gauss_legendre(double *node, double *weight)
{
    for (int i = 0; i < RULE; i++) {
        double x = cos(acos(-1) * (i + 0.75) / (RULE + 0.5)), slope = 1;
        for (int it = 0; it < 8; it++) {
            double p0 = 1, p1 = x;
            for (int k = 2; k <= RULE; k++) {
                const double p2 = ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
                p0 = p1;
                p1 = p2;
            }
            slope = RULE * (x * p1 - p0) / (x * x - 1);
            x -= p1 / slope;
        }
        node[i] = x;
        weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

static bool finite_cut(const panels *p) { return p->b < INFINITY; }

/* sigma - a at a place of the variable of integration. */
static double above(const panels *p, double place)
{
    const double s = sin(place / 2);
    return finite_cut(p) ? (p->b - p->a) * s * s : place * place;
}

/* Argument of the sine in w's density. */
static double phase(const panels *p, double place)
{
    return finite_cut(p) ? p->t * (p->b - p->a) / 2 * sin(place) : sqrt(p->tau) * place;
}

static void add_node(panels *p, double place, double weight)
{
    const double pi = acos(-1), up = above(p, place), sigma = p->a + up;
    const double d_sigma = finite_cut(p) ? (p->b - p->a) / 2 * sin(place) : 2 * place;
    const double m = finite_cut(p) ? up / sigma : 2 * sqrt(p->tau) * up / sigma;
    const double decay = p->line->delay * sigma;
    vec_push(p->sigma, sigma);
    vec_push(p->m, weight * m / pi);
    vec_push(p->w,
             decay > DECAYED ? 0 : weight * exp(-decay) * sin(phase(p, place)) * d_sigma / pi);
}

static void add_panel(panels *p, double from, double to)
{
    int parts = 1;
    if (p->line->delay * (p->a + above(p, from)) < DECAYED)
        parts = (int)ceil(fmin(fmax(1, fabs(phase(p, to) - phase(p, from)) / PHASE), QUIET));
    for (int k = 0; k < parts; k++) {
        const double lo = from + (to - from) * k / parts, hi = from + (to - from) * (k + 1) / parts;
        for (int i = 0; i < RULE; i++)
            add_node(p, (lo + hi) / 2 + (hi - lo) / 2 * p->node[i], (hi - lo) / 2 * p->weight[i]);
    }
}

static void add_panels(panels *p, double top, double t_end)
{
    while (above(p, top / 2) * t_end > 0.25) {
        add_panel(p, top / 2, top);
        top /= 2;
    }
    add_panel(p, 0, top);
}

static double *keep(double *v, arena *mem)
{
    double *copy = arena_array(mem, double, vec_len(v) + 1);
    for (size_t i = 0; i < vec_len(v); i++)
        copy[i] = v[i];
    vec_free(v);
    return copy;
}

/* Series (r, l) and shunt (g, c) as the filter on voltages sees them: r/l >= g/c. */
static void integrate(panels *p, double r, double l, double g, double c, double t_end)
{
    rlgc *o = p->line;
    const double pi = acos(-1);
    p->t = sqrt(l * c);
    p->a = c > 0 ? g / c : 0;
    p->b = l > 0 ? r / l : INFINITY;
    p->tau = finite_cut(p) ? p->t * p->t * (p->b - p->a) : r * c;
    o->y0 = finite_cut(p) ? sqrt(p->a / p->b) : sqrt(r * g);
    o->delay = fmax(p->t, p->tau / QUIET);
    o->gain = o->delay > p->t ? 0 : exp(-p->t * (p->a + p->b) / 2);
    if (c == 0 && l == 0)
        o->gain = exp(-sqrt(r * g));
    else if (!finite_cut(p)) {
        const double top = sqrt(FINEST * fmax(1 / fmin(p->tau, t_end / 1000), p->a));
        add_panels(p, top, t_end);
        o->direct = 2 / pi * sqrt(p->tau) / top;
        o->gain = 0;
    } else if (p->b > p->a) {
        add_panels(p, pi, t_end);
    }
}

void rlgc_make(rlgc *line, double r, double l, double g, double c, double t_end, arena *mem)
{
    panels p = {.line = line};
    *line = (rlgc){.r = r, .l = l, .g = g, .c = c, .on_current = r * c < g * l};
    gauss_legendre(p.node, p.weight);
    if (line->on_current) {
        line->z = c > 0 ? sqrt(l / c) : 1 / g;
        integrate(&p, g, c, r, l, t_end);
    } else {
        line->z = l > 0 ? sqrt(l / c) : r;
        integrate(&p, r, l, g, c, t_end);
    }
    line->n = (int32_t)vec_len(p.sigma);
    line->sigma = keep(p.sigma, mem);
    line->m = keep(p.m, mem);
    line->w = keep(p.w, mem);
}

double complex rlgc_lambda(const rlgc *o, double complex s)
{
    return csqrt(o->r + s * o->l) * csqrt(o->g + s * o->c);
}

double complex rlgc_y(const rlgc *o, double complex s)
{
    const double complex y = o->z * csqrt(o->g + s * o->c) / csqrt(o->r + s * o->l);
    return o->on_current ? 1 / y : y;
}

void rlgc_hyperbolic(double complex lambda, double complex *a, double complex *b)
{
    if (cabs(lambda) < 1e-4) { /* the next terms are lambda^4/45, 7 lambda^4/360 */
        *a = 1 + lambda * lambda / 3;
        *b = 1 - lambda * lambda / 6;
        return;
    }
    const double complex e = cexp(-lambda);
    *a = lambda * (1 + e * e) / (1 - e * e);
    *b = 2 * lambda * e / (1 - e * e);
}

double rlgc_step(double x) { return x < 1e-8 ? 1 - x / 2 : -expm1(-x) / x; }

double rlgc_ramp(double x)
{
    if (x > 0.1)
        return (1 - rlgc_step(x)) / x;
    double sum = 0, term = 0.5; /* sum over k of (-x)^k/(k + 2)! */
    for (int k = 0; k < 9; k++) {
        sum += term;
        term *= -x / (k + 3);
    }
    return sum;
}
