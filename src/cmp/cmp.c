/* cmp.c - see cmp.h. */
#include "cmp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmp_priv.h"

cmp_opt cmp_defaults(void) { return (cmp_opt){.reltol = 0.005, .abstol = NAN}; }

void cmp_init(cmp *c, const cmp_opt *o) { *c = (cmp){.o = *o}; }
void cmp_fini(cmp *c) { vec_free(c->found); }

static double abstol_of(const cmp_opt *o, const post_vec *v)
{
    return !isnan(o->abstol) ? o->abstol : !strcmp(v->type, "voltage") ? 1e-6 : 1e-9;
}

static double modulus(const post_vec *v, int64_t k)
{
    return v->complex ? hypot(v->v[2 * k], v->v[2 * k + 1]) : fabs(v->v[k]);
}

static double greatest(const post_vec *v)
{
    double most = 0;
    for (int64_t k = 0; k < v->n; k++)
        if (isfinite(modulus(v, k)))
            most = fmax(most, modulus(v, k));
    return most;
}

/* Part 0 or 1 of a vector as numbers of their own; real ones are not copied. */
static const double *numbers(arena *mem, const post_vec *v, int part)
{
    if (!v->complex && !part)
        return v->v;
    double *x = arena_array(mem, double, v->n + 1);
    for (int64_t k = 0; k < v->n && v->complex; k++)
        x[k] = v->v[2 * k + part];
    return x;
}

static bool rises(const double *x, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (!(x[k] >= x[k - 1]))
            return false;
    return n > 0;
}

/* -- point by point: no axis, or one that goes to and fro -- */

static void by_points(const cmp_opt *o, cmp_found *f)
{
    const double most = fmax(greatest(f->a), greatest(f->b));
    const double tol = abstol_of(o, f->a) + o->reltol * most;
    if (f->a->n != f->b->n) {
        f->kind = CMP_END;
        f->at = (double)f->a->n;
        f->size = (double)f->b->n;
        f->tolerance = 0.5;
        return;
    }
    for (int64_t k = 0; k < f->a->n; k++)
        for (int part = 0; part <= f->a->complex; part++) {
            const int64_t at = f->a->complex ? 2 * k + part : k;
            const double d = fabs(f->a->v[at] - f->b->v[at]);
            const bool nan = isnan(f->a->v[at]) != isnan(f->b->v[at]);
            if (!nan && !(d > tol && d > f->size))
                continue;
            f->kind = nan ? CMP_NAN : CMP_VALUE;
            f->at = (double)k;
            f->size = nan ? INFINITY : d;
            f->tolerance = tol;
        }
}

/* -- over an axis -- */

/* Is b the same curve, higher by a constant? */
static bool offset(const cmp_line *a, const cmp_line *b, double tol, cmp_found *f)
{
    cmp_found g;
    int64_t at = 0;
    double sum = 0, time = 0, chord, slope;
    for (int64_t k = 0; k < a->n; k++) {
        const double d = cmp_value_at(b, a->x[k], &at, &chord, &slope) - a->y[k];
        const double h = a->x[k + 1 < a->n ? k + 1 : k] - a->x[k ? k - 1 : k];
        if (isfinite(d)) {
            sum += d * h;
            time += h;
        }
    }
    const double lift = time > 0 ? sum / time : 0;
    if (!(fabs(lift) > tol) || !cmp_values(a, b, &(cmp_warp){0}, -lift, tol, 0, &g))
        return false;
    f->kind = CMP_OFFSET;
    f->at = a->x[0];
    f->size = lift;
    f->tolerance = tol;
    return true;
}

static void take(cmp_found *f, const cmp_found *g)
{
    f->kind = g->kind;
    f->at = g->at;
    f->size = g->size;
    f->tolerance = g->tolerance;
    f->index = g->index;
    f->rise = g->rise;
    f->n_a = g->n_a;
    f->n_b = g->n_b;
    f->period_a = g->period_a;
    f->period_b = g->period_b;
}

static void real_curves(const cmp_opt *o, const cmp_line *a, const cmp_line *b, bool time,
                        cmp_found *f)
{
    cmp_found g;
    const double tol = abstol_of(o, f->a) + o->reltol * fmax(greatest(f->a), greatest(f->b));
    if (cmp_values(a, b, &(cmp_warp){0}, 0, tol, 0, &g))
        return;
    if (g.kind == CMP_NAN) {
        take(f, &g);
        return;
    }
    if (offset(a, b, tol, f))
        return;
    if (time) {
        double *pair_a, *pair_b;
        cmp_found e;
        cmp_edges(a, b, o, tol, &e, &pair_a, &pair_b);
        const cmp_warp w = {pair_a, pair_b, (int64_t)vec_len(pair_a)};
        if (e.kind != CMP_SAME)
            take(f, &e);
        else if (!cmp_values(a, b, &w, 0, tol, o->time_shift, &g)) {
            g.period_a = e.period_a;
            take(f, &g);
        }
        vec_free(pair_a);
        vec_free(pair_b);
        return;
    }
    take(f, &g);
}

/* Each point of one against the other between its points; the tolerance is that of the point. */
static bool complex_way(const cmp_opt *o, const cmp_line a[2], const cmp_line b[2], cmp_found *f)
{
    int64_t at = 0;
    bool ok = true;
    for (int64_t k = 0; k < a->n; k++) {
        double chord[2], slope, y[2];
        for (int i = 0; i < 2; i++)
            y[i] = cmp_value_at(&b[i], a->x[k], &at, &chord[i], &slope);
        const double d = hypot(a[0].y[k] - y[0], a[1].y[k] - y[1]);
        const double tol = abstol_of(o, f->a) + 2 * (chord[0] + chord[1]) +
                           o->reltol * fmax(hypot(a[0].y[k], a[1].y[k]), hypot(y[0], y[1]));
        const bool outside = a->x[k] < b->x[0] || a->x[k] > b->x[b->n - 1];
        if (outside || !(d > tol) || !(d * f->tolerance >= f->size * tol))
            continue;
        ok = false;
        f->kind = CMP_VALUE;
        f->at = a->x[k];
        f->size = d;
        f->tolerance = tol;
    }
    return ok;
}

static void by_axis(const cmp_opt *o, const double *xa, const double *xb, bool time, cmp_found *f)
{
    arena mem;
    arena_init(&mem);
    cmp_line a[2], b[2];
    for (int i = 0; i < 2; i++) {
        a[i] = (cmp_line){xa, numbers(&mem, f->a, i), f->a->n};
        b[i] = (cmp_line){xb, numbers(&mem, f->b, i), f->b->n};
    }
    if (f->a->complex) {
        f->tolerance = 1;
        const bool there = complex_way(o, a, b, f);
        if (complex_way(o, b, a, f) && there)
            f->kind = CMP_SAME;
    } else {
        real_curves(o, a, b, time, f);
    }
    arena_fini(&mem);
}

/* -- plots -- */

static void note(cmp *c, cmp_found f)
{
    const bool alone = f.kind == CMP_ONLY_A || f.kind == CMP_ONLY_B;
    if (f.kind == CMP_SAME)
        c->n_same++;
    else if (!alone || !c->o.common)
        vec_push(c->found, f);
}

static void signal(cmp *c, const post_plot *p, const post_plot *q, const post_vec *a,
                   const post_vec *b)
{
    arena mem;
    arena_init(&mem);
    cmp_found f = {.plot_a = p, .plot_b = q, .a = a, .b = b};
    const post_vec *x = p->scale, *y = q->scale;
    const bool axes = x && y && x->n == a->n && y->n == b->n && a->n && b->n;
    const double *xa = axes ? numbers(&mem, x, 0) : NULL, *xb = axes ? numbers(&mem, y, 0) : NULL;
    if (a->complex != b->complex)
        f.kind = CMP_SHAPE;
    else if (axes && rises(xa, a->n) && rises(xb, b->n))
        by_axis(&c->o, xa, xb, !strcmp(x->type, "time"), &f);
    else
        by_points(&c->o, &f);
    note(c, f);
    arena_fini(&mem);
}

/* Do the axes end at one place? */
static void axes(cmp *c, const post_plot *p, const post_plot *q)
{
    const post_vec *x = p->scale, *y = q->scale;
    if (!x || !y || !x->n || !y->n)
        return;
    const double a = x->complex ? x->v[2 * (x->n - 1)] : x->v[x->n - 1],
                 b = y->complex ? y->v[2 * (y->n - 1)] : y->v[y->n - 1];
    const double tol = c->o.reltol * fmax(fabs(a), fabs(b)) + c->o.time_shift;
    if (fabs(a - b) > tol)
        note(c, (cmp_found){.kind = CMP_END,
                            .plot_a = p,
                            .plot_b = q,
                            .a = x,
                            .b = y,
                            .at = a,
                            .size = b,
                            .tolerance = tol});
}

/* The vector of the same name: by place where the orders are the same. */
static const post_vec *partner(const post_plot *p, const char *name, size_t place)
{
    if (place < vec_len(p->vec) && !strcmp(p->vec[place]->name, name))
        return p->vec[place];
    return post_plot_find(p, name);
}

/* Of files that are not in memory: the values of vectors [i, *end) of a, and of their partners; let
 * go of those before. */
static void fetch(const post_plot *a, const post_plot *b, size_t i, size_t *end, post_vec ***of_b)
{
    enum { BYTES = 256 << 20 };
    size_t bytes = 0;
    if (*of_b)
        post_let_go(b, *of_b, vec_len(*of_b));
    if (*end)
        post_let_go(a, a->vec, *end);
    vec_clear(*of_b);
    const size_t from = i;
    for (; i < vec_len(a->vec) && bytes < BYTES; i++) {
        const post_vec *w = b ? partner(b, a->vec[i]->name, i) : NULL;
        bytes += (size_t)(a->vec[i]->n + (w ? w->n : 0)) * 2 * sizeof(double);
        if (w)
            vec_push(*of_b, (post_vec *)w);
    }
    *end = i;
    post_fetch(a, a->vec + from, i - from);
    if (*of_b)
        post_fetch(b, *of_b, vec_len(*of_b));
}

void cmp_plots(cmp *c, const post_plot *a, const post_plot *b)
{
    size_t fetched = 0;
    post_vec **of_b = NULL;
    for (size_t i = 0; a && i < vec_len(a->vec); i++) {
        if (b && i == fetched)
            fetch(a, b, i, &fetched, &of_b);
        const post_vec *v = a->vec[i], *w = b ? partner(b, v->name, i) : NULL;
        if (v == a->scale && b)
            continue;
        if (w)
            signal(c, a, b, v, w);
        else
            note(c, (cmp_found){.kind = CMP_ONLY_A, .plot_a = a, .plot_b = b, .a = v});
    }
    for (size_t i = 0; b && i < vec_len(b->vec); i++) {
        const post_vec *w = b->vec[i];
        if (!(w == b->scale && a) && !(a && partner(a, w->name, i)))
            note(c, (cmp_found){.kind = CMP_ONLY_B, .plot_a = a, .plot_b = b, .b = w});
    }
    if (a && b)
        axes(c, a, b);
    vec_free(of_b);
}

static double weight(const cmp_found *f)
{
    return f->kind >= CMP_SHAPE || !f->a || !f->b ? -1 : fabs(f->size) / f->tolerance;
}

const cmp_found *cmp_worst(const cmp *c)
{
    const cmp_found *worst = NULL;
    for (size_t i = 0; i < vec_len(c->found); i++)
        if (weight(&c->found[i]) > (worst ? weight(worst) : 0))
            worst = &c->found[i];
    return worst;
}

/* -- words -- */

static const char *unit_of(const post_vec *v)
{
    return !v                                ? ""
           : !strcmp(v->type, "voltage")     ? "V"
           : !strcmp(v->type, "current")     ? "A"
           : !strcmp(v->type, "time")        ? "s"
           : !strcmp(v->type, "frequency")   ? "Hz"
           : !strcmp(v->type, "temperature") ? "C"
                                             : "";
}

/* "1.53 ns" */
static const char *si(char buf[32], double x, const char *unit)
{
    static const char *const prefix[] = {"a", "f", "p", "n", "u", "m", "", "k", "M", "G", "T"};
    const int e = x != 0 && isfinite(x) ? (int)floor(log10(fabs(x)) / 3 + 1e-12) : 0;
    if (e < -6 || e > 4 || !*unit)
        snprintf(buf, 32, "%.6g%s%s", x, *unit ? " " : "", unit);
    else
        snprintf(buf, 32, "%.6g %s%s", x / pow(10, 3 * e), prefix[e + 6], unit);
    return buf;
}

/* Long: one case for each kind. */
void cmp_text(const cmp_found *f, char *buf, size_t size)
{
    char s[4][32];
    const post_vec *axis = f->plot_a ? f->plot_a->scale : NULL;
    const char *unit = unit_of(f->a ? f->a : f->b);
    const char *at = axis ? si(s[0], f->at, unit_of(axis)) : si(s[0], f->at, "");
    const char *tol = si(s[1], f->tolerance, unit), *by = si(s[2], fabs(f->size), unit);
    const char *tol_t =
        si(s[1], f->tolerance, f->kind == CMP_EDGE || f->kind == CMP_PHASE ? "s" : unit);
    switch (f->kind) {
    case CMP_SAME: snprintf(buf, size, "agrees"); break;
    case CMP_VALUE:
        snprintf(buf, size, "differs by %s at %s%s (tolerance %s)", by, axis ? "" : "point ", at,
                 tol);
        break;
    case CMP_OFFSET:
        snprintf(buf, size, "is %s %s throughout (tolerance %s)", by,
                 f->size > 0 ? "higher" : "lower", tol);
        break;
    case CMP_EDGE:
        snprintf(buf, size, "edge %lld (%s) at %s is %s %s (tolerance %s)", (long long)f->index,
                 f->rise ? "rise" : "fall", at, si(s[2], fabs(f->size), "s"),
                 f->size > 0 ? "late" : "early", tol_t);
        break;
    case CMP_EDGES:
        snprintf(buf, size, "has %lld edges, not %lld: the first without a partner is at %s",
                 (long long)f->n_b, (long long)f->n_a, at);
        break;
    case CMP_PERIOD:
        snprintf(buf, size, "has the period %s, not %s: %+.4g %% (tolerance %.4g %%)",
                 si(s[2], f->period_b, "s"), si(s[3], f->period_a, "s"), 100 * f->size,
                 100 * f->tolerance);
        break;
    case CMP_PHASE:
        snprintf(buf, size, "oscillates %s %s (tolerance %s)", si(s[2], fabs(f->size), "s"),
                 f->size > 0 ? "late" : "early", tol_t);
        break;
    case CMP_NAN:
        snprintf(buf, size, "is not a number at %s%s in one file", axis ? "" : "point ", at);
        break;
    case CMP_SHAPE:
        snprintf(buf, size, "is %s, not %s", f->b->complex ? "complex" : "real",
                 f->a->complex ? "complex" : "real");
        break;
    case CMP_END:
        if (f->a == axis)
            snprintf(buf, size, "ends at %s, not at %s", si(s[2], f->size, unit),
                     si(s[3], f->at, unit));
        else
            snprintf(buf, size, "has %.0f values, not %.0f", f->size, f->at);
        break;
    case CMP_ONLY_A: snprintf(buf, size, "is in the first file alone"); break;
    case CMP_ONLY_B: snprintf(buf, size, "is in the second file alone"); break;
    }
}

const char *cmp_kind_word(cmp_kind kind)
{
    static const char *const word[] = {
        [CMP_SAME] = "same",   [CMP_VALUE] = "value",   [CMP_OFFSET] = "offset",
        [CMP_EDGE] = "edge",   [CMP_EDGES] = "edges",   [CMP_PERIOD] = "period",
        [CMP_PHASE] = "phase", [CMP_NAN] = "nan",       [CMP_SHAPE] = "shape",
        [CMP_END] = "end",     [CMP_ONLY_A] = "only_a", [CMP_ONLY_B] = "only_b"};
    return word[kind];
}
