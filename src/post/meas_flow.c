/* meas_flow.c - measures of a transient as its points come. See meas.h.
 * Curves are evaluated over pieces of the waveforms by the functions that evaluate whole ones,
 * value by value, and points are added up in the same order, so that results are those of
 * post_measure, bit by bit. An expression that needs more than a piece (a function of the whole
 * vector, a power or a root, which is complex if any value asks for that) is refused: its measure
 * needs the curve. */
#include <math.h>
#include <string.h>

#include "heap.h"
#include "meas_priv.h"
#include "post_priv.h"

/* The value of a curve, whose points are added, at t. Of the points at or before t the last one
 * counts, and the one behind it; at the end of the curve the last two. */
typedef struct meas_value {
    double t, value; /* value NAN: outside */
    bool asked, found;
    int64_t n;
    double x[2], y[2]; /* the last two points */
} meas_value;

typedef struct flow_part {
    meas_plan plan;
    post_meas m;
    diag_span at;
    meas_crossing a, b;
    meas_value value, from, to; /* of FIND; at the limits of a range */
    meas_sum sum;
    bool ended; /* the range is behind */
} flow_part;

struct post_flow {
    arena mem, piece; /* of the plans; of the evaluation of a piece */
    flow_part *part;  /* vec */
    int64_t n;        /* points so far */
    bool broken;      /* a later piece could not be evaluated */
    double first, last;
};

post_flow *post_flow_new(void)
{
    post_flow *f = vs_calloc(1, sizeof *f);
    arena_init(&f->mem);
    arena_init(&f->piece);
    return f;
}

void post_flow_free(post_flow **f)
{
    if (!*f)
        return;
    vec_free((*f)->part);
    arena_fini(&(*f)->mem);
    arena_fini(&(*f)->piece);
    vs_free(*f);
    *f = NULL;
}

/* -- reading -- */

/* Is one of the names in the list? */
static bool any_listed(const char *const *name, const char *const *list)
{
    for (size_t i = 0; i < vec_len(name); i++)
        for (size_t k = 0; k < vec_len(list); k++)
            if (!str_casecmp(name[i], list[k]))
                return true;
    return false;
}

static bool names_listed(str_pool *names, const char *text, const char *const *list)
{
    const char **name = NULL;
    post_measure_names(names, text, &name);
    const bool found = any_listed(name, list);
    vec_free(name);
    return found;
}

/* Does an expression name a vector of the current plot? */
static bool of_plot(const post_env *e, const char *text)
{
    const char **name = NULL;
    bool found = false;
    post_names(e->set->names, text, &name);
    for (size_t i = 0; i < vec_len(name) && !found; i++)
        found = post_plot_find(e->set->current, name[i]) != NULL;
    vec_free(name);
    return found;
}

static double number_or(double x, double other) { return isnan(x) ? other : x; }

bool post_flow_add(post_flow *f, const post_env *env, const char *text, diag_span at,
                   const char *const *later)
{
    post_env e = *env;
    diag quiet;
    flow_part p = {.at = at};
    diag_quiet_init(&quiet, NULL);
    e.mem = &f->mem;
    e.d = &quiet;
    const bool form = meas_read(&e, text, at, &p.m, &p.plan) == VS_OK && p.plan.kind != MEAS_OTHER;
    diag_quiet_fini(&quiet);
    if (form && p.plan.kind == MEAS_PARAM)
        return !of_plot(&e, p.plan.expr); /* a number when all is over */
    if (!form || names_listed(e.set->names, text, later))
        return false;
    const meas_plan *q = &p.plan;
    if (q->kind == MEAS_FIND && !q->a.expr && isnan(q->a.at)) /* of an operating point */
        return false;
    p.value.asked = q->kind == MEAS_FIND && !q->a.expr;
    p.value.t = q->a.at;
    p.to.asked = q->kind == MEAS_RANGE && !isnan(q->a.to);
    p.to.t = q->a.to;
    vec_push(f->part, p);
    return true;
}

/* -- points -- */

static double between(const meas_value *v)
{
    return v->x[1] == v->x[0]
               ? v->y[1]
               : v->y[0] + (v->y[1] - v->y[0]) * ((v->t - v->x[0]) / (v->x[1] - v->x[0]));
}

static void value_add(meas_value *v, double x, double y)
{
    v->x[0] = v->n ? v->x[1] : x;
    v->y[0] = v->n ? v->y[1] : y;
    v->x[1] = x;
    v->y[1] = y;
    if (v->asked && !v->found && x > v->t) {
        v->found = true;
        v->value = v->n ? between(v) : NAN;
    }
    v->n++;
}

static void value_end(meas_value *v, double first, double last)
{
    if (!v->found)
        v->value = v->t < first || v->t > last ? NAN : between(v);
    v->found = true;
}

static void range_add(const post_flow *f, flow_part *p, double x, double y)
{
    const clause *c = &p->plan.a;
    if (!f->n) {
        p->from.asked = true;
        p->from.t = fmax(number_or(c->from, x), x);
    }
    const bool begun = p->from.found, any = p->value.n > 0;
    const double was[2] = {p->value.x[1], p->value.y[1]};
    value_add(&p->from, x, y);
    value_add(&p->to, x, y);
    value_add(&p->value, x, y); /* never asked: it remembers the point before */
    if (!begun && p->from.found)
        meas_sum_add(&p->sum, p->from.t, p->from.value);
    if (any && !p->ended && was[0] > p->from.t && !(p->to.asked && was[0] >= p->to.t))
        meas_sum_add(&p->sum, was[0], was[1]);
    if (!p->ended && p->to.found && p->from.found) {
        p->ended = true;
        if (p->to.t != p->from.t)
            meas_sum_add(&p->sum, p->to.t, p->to.value);
    }
}

static void find_add(flow_part *p, double x, double d, double y)
{
    if (p->plan.a.expr && meas_crossing_add(&p->a, &p->plan.a, x, d)) {
        p->value.asked = true;
        p->value.found = false;
        p->value.t = p->a.t;
    }
    value_add(&p->value, x, y);
}

/* -- pieces -- */

/* text - minus over the piece: y [n]. false: it cannot be told from a piece alone. */
static bool curve_of(post_env *e, const char *text, const char *minus, double **y)
{
    post_val v, w;
    const int64_t n = e->set->current->scale->n;
    if (!text) {
        *y = NULL;
        return true;
    }
    if (!post_eval(e, text, &v) || (minus && !post_eval(e, minus, &w)) || (v.n != n && v.n != 1) ||
        (minus && w.n != n && w.n != 1))
        return false;
    *y = arena_array(e->mem, double, n + 1);
    for (int64_t k = 0; k < n; k++)
        (*y)[k] = creal(post_at(&v, k)) - (minus ? creal(post_at(&w, k)) : 0);
    return true;
}

static bool take_part(post_flow *f, flow_part *p, post_env *e, const double *x, int64_t n)
{
    const meas_plan *q = &p->plan;
    double *a, *b, *y;
    if (!curve_of(e, q->kind == MEAS_RANGE ? NULL : q->a.expr, q->a.val, &a) ||
        !curve_of(e, q->kind == MEAS_DELAY ? q->b.expr : NULL, q->b.val, &b) ||
        !curve_of(e, q->expr, NULL, &y) || *e->whole)
        return false;
    const int64_t before = f->n;
    for (int64_t k = 0; k < n; k++, f->n++) {
        if (q->kind == MEAS_RANGE) {
            range_add(f, p, x[k], y[k]);
            continue;
        }
        if (q->kind == MEAS_FIND) {
            find_add(p, x[k], a ? a[k] : 0, y[k]);
            continue;
        }
        if (a)
            (void)meas_crossing_add(&p->a, &q->a, x[k], a[k]);
        if (b)
            (void)meas_crossing_add(&p->b, &q->b, x[k], b[k]);
    }
    f->n = before;
    return true;
}

bool post_flow_take(post_flow *f, const post_env *env)
{
    const post_vec *x = env->set->current->scale;
    bool whole = false, ok = true;
    diag quiet;
    post_env e = *env;
    e.mem = &f->piece;
    e.whole = &whole;
    diag_quiet_init(&quiet, NULL);
    e.d = &quiet;
    for (size_t i = 0; ok && i < vec_len(f->part); i++) {
        const arena_pos mark = arena_mark(&f->piece);
        ok = take_part(f, &f->part[i], &e, x->v, x->n);
        arena_release(&f->piece, mark);
    }
    diag_quiet_fini(&quiet);
    if (!f->n && x->n)
        f->first = x->v[0];
    if (x->n)
        f->last = x->v[x->n - 1];
    f->broken |= !ok && f->n;
    f->n += x->n;
    return ok;
}

/* -- the end -- */

/* The place of a clause; false: there is none, and the measure says why. */
static bool place(arena *mem, flow_part *p, const clause *c, const meas_crossing *s, double *t)
{
    *t = c->expr ? s->t : c->at;
    if (!c->expr || meas_crossing_found(s, c))
        return true;
    p->m.why = meas_no_crossing(mem, c, s->n);
    return false;
}

static void end_range(const post_flow *f, arena *mem, flow_part *p)
{
    const clause *c = &p->plan.a;
    p->m.why = meas_no_part(mem, c->from, c->to, f->first, f->last);
    if (p->m.why)
        return;
    if (!p->from.found) {
        value_end(&p->from, f->first, f->last);
        meas_sum_add(&p->sum, p->from.t, p->from.value);
    }
    if (!p->ended) {
        p->to.t = fmin(number_or(c->to, f->last), f->last);
        value_end(&p->to, f->first, f->last);
        if (p->to.t != p->from.t)
            meas_sum_add(&p->sum, p->to.t, p->to.value);
    }
    meas_sum_tell(&p->sum, p->plan.range, &p->m);
}

static void end_part(const post_flow *f, arena *mem, flow_part *p)
{
    const meas_plan *q = &p->plan;
    double a, b;
    switch (q->kind) {
    case MEAS_DELAY:
        p->m.ok = place(mem, p, &q->a, &p->a, &a) && place(mem, p, &q->b, &p->b, &b);
        if (p->m.ok) {
            p->m.value = b - a;
            meas_part(&p->m, "targ", b);
            meas_part(&p->m, "trig", a);
        }
        break;
    case MEAS_WHEN: p->m.ok = place(mem, p, &q->a, &p->a, &p->m.value); break;
    case MEAS_FIND:
        if (!place(mem, p, &q->a, &p->a, &a))
            break;
        value_end(&p->value, f->first, f->last);
        p->m.ok = !isnan(p->value.value);
        if (p->m.ok)
            p->m.value = p->value.value;
        else
            p->m.why = meas_outside(mem, a, f->first, f->last);
        break;
    default: end_range(f, mem, p);
    }
    meas_check(&p->m);
}

bool post_flow_result(post_flow *f, diag_span at, arena *mem, post_meas *m)
{
    for (size_t i = 0; i < vec_len(f->part); i++) {
        flow_part *p = &f->part[i];
        if (p->at.file != at.file || p->at.off != at.off)
            continue;
        if (f->broken)
            p->m.why = "it cannot be computed";
        else
            end_part(f, mem, p);
        *m = p->m;
        return true;
    }
    return false;
}

static void crossing_image(meas_crossing *c, image *im)
{
    IMAGE_ONE(im, c->any);
    IMAGE_ONE(im, c->x);
    IMAGE_ONE(im, c->y);
    IMAGE_COUNTED(im, c->n);
    IMAGE_ONE(im, c->t);
}

static void value_image(meas_value *v, image *im)
{
    IMAGE_ONE(im, v->t);
    IMAGE_ONE(im, v->value);
    IMAGE_ONE(im, v->asked);
    IMAGE_ONE(im, v->found);
    IMAGE_COUNTED(im, v->n);
    IMAGE_ONE(im, v->x);
    IMAGE_ONE(im, v->y);
}

void post_flow_image(post_flow *f, image *im)
{
    const size_t n = vec_len(f->part);
    IMAGE_SAME(im, n, "the measures");
    for (size_t i = 0; i < n; i++) {
        flow_part *p = &f->part[i];
        crossing_image(&p->a, im);
        crossing_image(&p->b, im);
        value_image(&p->value, im);
        value_image(&p->from, im);
        value_image(&p->to, im);
        IMAGE_ONE(im, p->sum);
        IMAGE_ONE(im, p->ended);
        if (im->giving && !(p->sum.n >= 0 && p->sum.n < INT64_MAX / 2))
            image_refuse(im);
    }
    IMAGE_COUNTED(im, f->n);
    IMAGE_ONE(im, f->broken);
    IMAGE_ONE(im, f->first);
    IMAGE_ONE(im, f->last);
    f->broken |= im->wrong != NULL;
}
