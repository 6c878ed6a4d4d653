/* chart_curve.c - curves to paths. A column of the picture keeps its first, least, greatest and
 * last value: what is drawn covers the same pixels as all points would. */
#include <math.h>

#include "chart_priv.h"

typedef struct tracer {
    chart_surface *s;
    const chart_pen *pen;
    double *xy;    /* vec: the present path */
    double column; /* x of the present column */
    double lo, hi; /* its extremes, */
    double first;  /* its first value, */
    double x, y;   /* and its last point */
    bool in_column;
} tracer;

static void add(tracer *t, double x, double y)
{
    vec_push(t->xy, x);
    vec_push(t->xy, y);
}

static void end_column(tracer *t)
{
    const bool straight = fmin(t->first, t->y) <= t->lo && fmax(t->first, t->y) >= t->hi;
    if (t->in_column && straight && t->hi - t->lo > t->s->fine) {
        add(t, t->x, t->y);
    } else if (t->in_column && t->hi - t->lo > t->s->fine) {
        add(t, t->column, t->lo);
        add(t, t->column, t->hi);
        add(t, t->column, t->y);
    }
    t->in_column = false;
}

static void end_path(tracer *t)
{
    end_column(t);
    if (vec_len(t->xy) == 2) /* a point between gaps */
        t->s->dot(t->s, t->xy[0], t->xy[1], t->pen->width, t->pen->rgb);
    else if (t->xy)
        t->s->path(t->s, t->xy, vec_len(t->xy) / 2, t->pen);
    vec_clear(t->xy);
}

static void line_to(tracer *t, double x, double y)
{
    if (t->in_column && fabs(x - t->column) < 2.5 * t->s->fine) {
        t->lo = fmin(t->lo, y);
        t->hi = fmax(t->hi, y);
        t->x = x;
        t->y = y;
        return;
    }
    end_column(t);
    add(t, x, y);
    t->in_column = true;
    t->column = t->x = x;
    t->lo = t->hi = t->first = t->y = y;
}

/* -1, 1: left and right of the axis. */
static int side_of(const chart_scale *x, double px)
{
    return px < x->at - 1 ? -1 : px > x->at + x->len + 1 ? 1 : 0;
}

/* A point of a comb, or a dot. */
static void mark(const tracer *t, chart_style style, double px, double py, double ground)
{
    if (style == CHART_COMB)
        t->s->path(t->s, (double[]){px, ground, px, py}, 2, t->pen);
    if (style == CHART_POINTS || style == CHART_BOTH)
        t->s->dot(t->s, px, py, 2, t->pen->rgb);
}

void chart_draw_curve(chart_surface *s, const chart_curve *c, const chart_scale *x,
                      const chart_scale *y, chart_style style, uint32_t rgb)
{
    const chart_pen pen = {.rgb = rgb, .width = 1.5};
    tracer t = {.s = s, .pen = &pen};
    const double ground = y->log || y->lo > 0 ? y->at
                          : y->hi < 0         ? y->at + y->len
                                              : chart_place(y, 0);
    const bool lines = style == CHART_LINES || style == CHART_BOTH || style == CHART_STEPS;
    double last_x = NAN, last_y = NAN, dot_x = NAN, dot_y = NAN;
    int last_side = 0;
    bool skipped = false;
    for (int64_t k = 0; k < c->n; k++) {
        if (!chart_usable(c->x[k], x->log) || !chart_usable(c->y[k], y->log)) {
            end_path(&t);
            last_y = NAN;
            skipped = false;
            continue;
        }
        const double px = chart_place(x, c->x[k]), py = chart_place(y, c->y[k]);
        const int side = side_of(x, px);
        const bool beside = side && side == last_side && !isnan(last_y);
        if (lines && !beside) {
            if (skipped) /* the last point outside of the frame begins the line into it */
                line_to(&t, last_x, last_y);
            if (style == CHART_STEPS && !isnan(last_y))
                line_to(&t, px, last_y);
            line_to(&t, px, py);
        }
        skipped = beside;
        last_side = side;
        last_x = px;
        last_y = py;
        if (side || (fabs(px - dot_x) < s->fine && fabs(py - dot_y) < s->fine))
            continue;
        mark(&t, style, px, py, ground);
        dot_x = px;
        dot_y = py;
    }
    end_path(&t);
    vec_free(t.xy);
}
