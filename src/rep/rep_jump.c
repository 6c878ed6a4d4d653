/* rep_jump.c - where a device's equations jump, found by values: whatever the model's source says,
 * and wherever two branches of it do not meet.
 * Method: between two points of a grid an output f(v) with a monotone slope changes by no more than
 *         the larger slope and no less than the smaller one says. Where it does, the interval is
 *         halved, on the side that changes more: a steep slope comes to nothing, a jump stays. */
#include <float.h>
#include <math.h>

#include "rep_jump.h"
#include "vec.h"

enum { GRID = 48, MOST_HALVES = 60 };

static const double NARROW = 1e-12; /* of the reach: what still changes there is a jump */
static const double MOST = 1e6;     /* A, V, C; no circuit has more at a device's terminals */
static const double PLAIN = 10;     /* tolerances that a jump has at least */

typedef struct line { /* one output along the voltage: value and slope */
    int32_t row;
    bool of_charge;
    double f, g;
} line;

typedef struct point {
    double v;
    line *line; /* vec */
    bool good;  /* all are finite */
} point;

typedef struct scan {
    ckt *c;
    const option_set *o;
    ckt_env env;
    int32_t device, crossed;
    double *x;
    double *out; /* vecs of ckt_device_outputs */
    mdl_out *what;
} scan;

static line *line_of(point *p, int32_t row, bool of_charge)
{
    for (size_t i = 0; i < vec_len(p->line); i++)
        if (p->line[i].row == row && p->line[i].of_charge == of_charge)
            return &p->line[i];
    vec_push(p->line, ((line){.row = row, .of_charge = of_charge}));
    return &vec_last(p->line);
}

static void look(scan *w, point *p, double v)
{
    p->v = w->x[w->crossed] = v;
    vec_clear(p->line);
    p->good = !ckt_device_outputs(w->c, &w->env, w->x, w->device, -1, 0, &w->out, &w->what);
    for (size_t i = 0; i < vec_len(w->what) && p->good; i++) {
        const mdl_out *o = &w->what[i];
        const bool value = o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT,
                   slope = o->kind == IR_OUT_G || o->kind == IR_OUT_C,
                   of_charge = o->kind == IR_OUT_REACT || o->kind == IR_OUT_C;
        if (!o->a || !(value || (slope && o->b == w->crossed)))
            continue;
        line *l = line_of(p, o->a, of_charge);
        *(value ? &l->f : &l->g) += w->out[i];
        p->good = isfinite(w->out[i]);
    }
    for (size_t i = 0; i < vec_len(p->line) && p->good; i++)
        p->good = fabs(p->line[i].f) < MOST || ckt_unknowns(w->c)[p->line[i].row].internal;
}

/* What counts as a change of the row between two points. */
static double plain(const scan *w, const line *a, const line *b)
{
    const ckt_kind kind = ckt_unknowns(w->c)[a->row].kind;
    const double least = a->of_charge          ? w->o->chgtol
                         : kind == CKT_VOLTAGE ? w->o->abstol
                                               : w->o->vntol;
    return PLAIN * (w->o->reltol * fmax(fabs(a->f), fabs(b->f)) + least);
}

static bool same_lines(const point *a, const point *b)
{
    bool same = a->good && b->good && vec_len(a->line) == vec_len(b->line);
    for (size_t i = 0; same && i < vec_len(a->line); i++)
        same = a->line[i].row == b->line[i].row && a->line[i].of_charge == b->line[i].of_charge;
    return same;
}

static bool beyond_slopes(const scan *w, const point *a, const point *b, size_t i)
{
    const line *p = &a->line[i], *q = &b->line[i];
    const double h = b->v - a->v, df = q->f - p->f;
    const double more = df - h * fmax(p->g, q->g), less = h * fmin(p->g, q->g) - df;
    return fmax(more, less) > plain(w, p, q) && fmax(fabs(p->f), fabs(q->f)) < MOST;
}

static double change(const point *a, const point *b, size_t i)
{
    return fabs(b->line[i].f - a->line[i].f);
}

static void swap(point *a, point *b)
{
    const point c = *a;
    *a = *b;
    *b = c;
}

/* Halves [a, b] until it is narrow. Whether line i of them jumps there; a and b change. */
static bool halve(scan *w, point *a, point *b, size_t i, double narrow)
{
    point m = {0};
    bool same = true;
    for (int k = 0; k < MOST_HALVES && same && b->v - a->v > narrow; k++) {
        look(w, &m, a->v + (b->v - a->v) / 2);
        same = same_lines(a, &m);
        if (same)
            swap(&m, change(a, &m, i) > change(&m, b, i) ? b : a);
    }
    vec_free(m.line);
    if (!same)
        return false;
    const double steep = fmax(fabs(a->line[i].g), fabs(b->line[i].g)) * (b->v - a->v);
    return change(a, b, i) > plain(w, &a->line[i], &b->line[i]) + 2 * steep;
}

/* Whether a line that changes beyond its slopes between a and b, which are kept, jumps. */
static bool between(scan *w, const point *a, const point *b, double reach, rep_jump *j)
{
    bool found = false;
    for (size_t i = 0; same_lines(a, b) && i < vec_len(a->line) && !found; i++) {
        if (!beyond_slopes(w, a, b, i))
            continue;
        point p = {0}, q = {0};
        look(w, &p, a->v);
        look(w, &q, b->v);
        found = same_lines(&p, &q) && halve(w, &p, &q, i, NARROW * reach);
        if (found)
            *j = (rep_jump){p.line[i].row, w->crossed,  q.v,
                            p.line[i].f,   q.line[i].f, p.line[i].of_charge};
        vec_free(p.line);
        vec_free(q.line);
    }
    return found;
}

static bool along(scan *w, int32_t unknown, double reach, rep_jump *j)
{
    const double rest = w->x[unknown];
    point a = {0}, b = {0};
    bool found = false;
    w->crossed = unknown;
    look(w, &a, -reach);
    for (int k = 1; k <= GRID && !found; k++) {
        look(w, &b, reach * (2.0 * k / GRID - 1));
        found = between(w, &a, &b, reach, j);
        swap(&a, &b);
    }
    w->x[unknown] = rest;
    vec_free(a.line);
    vec_free(b.line);
    return found;
}

bool rep_jump_find(sim *s, int32_t device, double *x, double reach, rep_jump *j)
{
    scan w = {.c = sim_ckt(s), .o = sim_option(s), .device = device, .x = x};
    w.env = (ckt_env){.mode = CKT_STATIC, .srcfact = 1, .iter = 1, .gmin = w.o->gmin};
    int32_t n;
    const int32_t *u = ckt_device_unknowns(w.c, device, &n);
    bool found = false;
    for (int32_t i = 0; i < n && !found; i++) {
        bool before = !u[i];
        for (int32_t k = 0; k < i; k++)
            before |= u[k] == u[i];
        if (!before && ckt_unknowns(w.c)[u[i]].kind == CKT_VOLTAGE)
            found = along(&w, u[i], reach, j);
    }
    vec_free(w.out);
    vec_free(w.what);
    return found;
}
