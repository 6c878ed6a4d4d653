/* fig.c - see fig.h. */
#include "fig.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "fig_priv.h"
#include "files.h"
#include "vec.h"

fig_request fig_nothing(void)
{
    return (fig_request){.xlo = NAN, .xhi = NAN, .ylo = NAN, .yhi = NAN};
}

void fig_add(fig *f, const post_val *v, size_t n, const post_val *over, const char *family)
{
    int32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_axis = v[i].plot && v[i].plot->scale && v[i].v == v[i].plot->scale->v;
        if (is_axis && n > 1 && !over)
            continue;
        vec_push(f->value, (fig_value){.v = v[i],
                                       .axis = post_axis(&v[i]),
                                       .over = over ? *over : (post_val){0},
                                       .family = family,
                                       .expression = k++,
                                       .member = f->n_member});
    }
    f->n_member++;
    f->n_expression = k > f->n_expression ? k : f->n_expression;
}

bool fig_eval(fig *f, post_env *e, const char *list, const char *over, const char *family)
{
    post_val *v, x = {0};
    if (!post_eval_list(e, list, &v))
        return false;
    if (over && !post_eval(e, over, &x)) {
        vec_free(v);
        return false;
    }
    fig_add(f, v, vec_len(v), over ? &x : NULL, family);
    vec_free(v);
    return true;
}

void fig_fini(fig *f) { vec_free(f->value); }

const char *fig_family(const post_plot *p)
{
    const char *comma = strstr(p->what, ", ");
    return comma && strchr(comma, '=') ? comma + 2 : NULL;
}

/* -- numbers of curves -- */

static double re_of(const post_val *v, int64_t k) { return v->complex ? v->v[2 * k] : v->v[k]; }
static double im_of(const post_val *v, int64_t k) { return v->complex ? v->v[2 * k + 1] : 0; }
static double size_of(const post_val *v, int64_t k)
{
    return v->complex ? hypot(v->v[2 * k], v->v[2 * k + 1]) : v->v[k];
}

typedef enum aspect { MAGNITUDE, DECIBEL, DEGREES, REAL, IMAGINARY } aspect;

/* An aspect of a value as n numbers, in mem; a real value's own numbers are not copied. */
static const double *aspect_of(arena *mem, const post_val *v, aspect which, int64_t n)
{
    if (!v->complex && (which == MAGNITUDE || which == REAL) && n <= v->n)
        return v->v;
    double *y = arena_array(mem, double, n + 1), turns = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = k < v->n ? k : v->n - 1; /* a shorter one goes on with its last value */
        if (which == DEGREES) {
            y[k] = atan2(im_of(v, at), re_of(v, at)) / 6.283185307179586 + turns;
            if (k && fabs(y[k] - y[k - 1]) > 0.5) { /* takes the turn that is nearest to the last */
                const double jump = round(y[k] - y[k - 1]);
                turns -= jump;
                y[k] -= jump;
            }
        } else {
            y[k] = which == MAGNITUDE ? size_of(v, at)
                   : which == REAL    ? re_of(v, at)
                   : which == DECIBEL ? 20 * log10(fabs(size_of(v, at)))
                                      : im_of(v, at);
        }
    }
    for (int64_t k = 0; k < n && which == DEGREES; k++)
        y[k] *= 360;
    return y;
}

static const double *axis_of(arena *mem, const fig_value *f, int64_t n)
{
    if (f->over.name)
        return aspect_of(mem, &f->over, MAGNITUDE, n);
    if (f->axis && !f->axis->complex)
        return f->axis->v;
    double *x = arena_array(mem, double, n + 1);
    for (int64_t k = 0; k < n; k++)
        x[k] = f->axis ? f->axis->v[2 * k] : (double)k;
    return x;
}

/* -- words -- */

const char *fig_unit(const char *type)
{
    static const char *const t[][2] = {{"voltage", "V"},
                                       {"current", "A"},
                                       {"time", "s"},
                                       {"frequency", "Hz"},
                                       {"decibel", "dB"},
                                       {"phase", "rad"},
                                       {"temperature", "°C"},
                                       {"temp-sweep", "°C"},
                                       {"power", "W"},
                                       {"capacitance", "F"},
                                       {"impedance", "Ω"},
                                       {"res-sweep", "Ω"},
                                       {"admittance", "S"},
                                       {"charge", "C"},
                                       {"voltage-density", "V/√Hz"},
                                       {"current-density", "A/√Hz"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (!strcmp(type, t[i][0]))
            return t[i][1];
    return "";
}

const char *fig_axis_unit(const char *name, const char *type)
{
    return !strcmp(name, "v-sweep") ? "V" : !strcmp(name, "i-sweep") ? "A" : fig_unit(type);
}

/* The label of an axis: its name, if that is a quantity. */
static const char *quantity_of(const char *type)
{
    static const char *const word[] = {"voltage",     "current", "phase",     "temperature",
                                       "power",       "charge",  "impedance", "admittance",
                                       "capacitance", "time",    "frequency"};
    for (size_t i = 0; i < VS_COUNT(word); i++)
        if (!strcmp(type, word[i]))
            return word[i];
    return "";
}

static const char *curve_name(arena *mem, const fig *f, const fig_value *v, fig_kind kind)
{
    const bool bars = v->v.complex && kind == FIG_XY;
    const char *own = arena_printf(mem, bars ? "|%s|" : "%s", v->v.name);
    if (!v->family)
        return own;
    return f->n_expression < 2 ? v->family : arena_printf(mem, "%s, %s", own, v->family);
}

/* -- panels -- */

typedef struct builder {
    const fig *f;
    const fig_request *r;
    arena *mem;
    chart_panel *panel; /* vec; their curves are vecs while more are added */
    int32_t *opener;    /* vec: the expression that opened each panel */
} builder;

static bool by_ratios(const double *x, int64_t n)
{
    if (n < 3 || !(x[0] > 0) || !(x[1] > x[0]) || !(x[n - 1] > 4 * x[0]))
        return false;
    for (int64_t k = 2; k < n && k < 8; k++)
        if (!(fabs(x[k] / x[k - 1] - x[1] / x[0]) < 1e-5 * x[1] / x[0]))
            return false;
    return true;
}

static chart_axis x_axis(const builder *b, const fig_value *v, const double *x, int64_t n)
{
    const fig_request *r = b->r;
    chart_axis a = {.lo = r->xlo, .hi = r->xhi, .log = r->xlog, .label = "index", .unit = ""};
    if (v->over.name) {
        a.label = v->over.name;
        a.unit = fig_unit(v->over.type);
    } else if (v->axis) {
        a.label = v->axis->name;
        a.unit = fig_axis_unit(v->axis->name, v->axis->type);
        a.log |= !strcmp(v->axis->type, "frequency") && isnan(r->xlo) && by_ratios(x, n);
    }
    if (r->xlabel) {
        a.label = r->xlabel;
        a.unit = "";
    }
    return a;
}

static chart_panel new_panel(const builder *b, chart_axis x, const char *label, const char *unit)
{
    const fig_request *r = b->r;
    const bool limits = !vec_len(b->panel); /* limits of y belong to the first panel */
    return (chart_panel){.kind = r->kind == FIG_SMITH   ? CHART_SMITH
                                 : r->kind == FIG_POLAR ? CHART_POLAR
                                                        : CHART_XY,
                         .x = x,
                         .y = {.label = limits && r->ylabel ? r->ylabel : label,
                               .unit = limits && r->ylabel ? "" : unit,
                               .lo = limits ? r->ylo : NAN,
                               .hi = limits ? r->yhi : NAN,
                               .log = r->ylog && r->kind != FIG_BODE},
                         .style = r->style};
}

/* The panel for an expression: its own if panels are stacked, else that of its unit, or the only
 * one. Of a Bode diagram the first of two. */
static size_t panel_of(builder *b, const fig_value *v, chart_axis x)
{
    const char *unit = fig_unit(v->v.type), *quantity = quantity_of(v->v.type);
    const bool one = b->r->kind != FIG_XY || !isnan(b->r->ylo) || b->r->ylabel;
    for (size_t i = 0; i < vec_len(b->panel); i++) {
        chart_panel *p = &b->panel[i];
        if (b->r->stack ? b->opener[i] == v->expression
                        : one || !*unit || !*p->y.unit || !strcmp(p->y.unit, unit)) {
            if (!one && !b->r->stack && !*p->y.unit && *unit) {
                p->y.unit = unit;
                p->y.label = quantity;
            }
            return i;
        }
    }
    chart_panel p = new_panel(b, x, quantity, unit);
    if (b->r->kind == FIG_BODE) {
        p.y.label = b->r->ylabel ? b->r->ylabel : "magnitude";
        p.y.unit = "dB";
        vec_push(b->panel, p);
        vec_push(b->opener, v->expression);
        p = new_panel(b, x, "phase", "°");
    }
    vec_push(b->panel, p);
    vec_push(b->opener, v->expression);
    return vec_len(b->panel) - (b->r->kind == FIG_BODE ? 2 : 1);
}

static void add_curve(builder *b, size_t panel, chart_curve c)
{
    chart_curve *list = (chart_curve *)b->panel[panel].curve;
    vec_push(list, c);
    b->panel[panel].curve = list;
}

static void add_value(builder *b, const fig_value *v)
{
    const fig_kind kind = b->r->kind;
    int64_t n = v->v.n;
    if (v->over.name && v->over.n > n)
        n = v->over.n;
    if (!n || (v->over.name && !v->over.n))
        return;
    const int32_t last = b->f->n_member - 1;
    const double *x = axis_of(b->mem, v, n);
    chart_curve c = {.name = curve_name(b->mem, b->f, v, kind),
                     .x = x,
                     .n = n,
                     .colour = v->expression,
                     .shade = last > 0 ? (double)v->member / last : NAN};
    const size_t panel = panel_of(b, v, x_axis(b, v, x, n));
    if (kind == FIG_BODE) {
        c.y = aspect_of(b->mem, &v->v, DECIBEL, n);
        add_curve(b, panel, c);
        c.y = aspect_of(b->mem, &v->v, DEGREES, n);
        add_curve(b, panel + 1, c);
    } else if (kind == FIG_SMITH || kind == FIG_POLAR) {
        c.x = aspect_of(b->mem, &v->v, REAL, n);
        c.y = aspect_of(b->mem, &v->v, IMAGINARY, n);
        add_curve(b, panel, c);
    } else {
        c.y = aspect_of(b->mem, &v->v, MAGNITUDE, n);
        add_curve(b, panel, c);
    }
}

/* -- margins of a loop gain -- */

/* x where y first passes `level` between two points.  k  out  the point before */
static bool crossing(const chart_curve *c, double level, int64_t *at, double *x)
{
    for (int64_t k = 1; k < c->n; k++) {
        const double a = c->y[k - 1] - level, z = c->y[k] - level;
        if (!(a >= 0 && z < 0) || !(c->x[k - 1] > 0))
            continue;
        *at = k - 1;
        *x = c->x[k - 1] * pow(c->x[k] / c->x[k - 1], a / (a - z)); /* straight over log x */
        return true;
    }
    return false;
}

static double value_at(const chart_curve *c, int64_t k, double x)
{
    return c->y[k] + (c->y[k + 1] - c->y[k]) * log(x / c->x[k]) / log(c->x[k + 1] / c->x[k]);
}

/* Marks the margins of a single curve that begins above 0 dB: the phase above -180 degrees (modulo
 * a turn) where |v| = 1, and the distance of |v| from 1 where the phase is -180 degrees.
 * panel  of magnitude and of phase */
static void add_margins(const builder *b, chart_panel panel[2])
{
    const chart_curve *db = panel[0].curve, *phase = panel[1].curve;
    int64_t k;
    double x;
    if (vec_len(db) != 1 || !(db->n > 1 && db->y[0] > 0))
        return;
    chart_mark *on_db = NULL, *on_phase = NULL;
    if (crossing(db, 0, &k, &x)) {
        const double deg = value_at(phase, k, x), margin = remainder(deg + 180, 360);
        vec_push(on_phase,
                 (chart_mark){x, deg, arena_printf(b->mem, "phase margin %.1f°", margin)});
        vec_push(on_db, (chart_mark){x, 0, "0 dB"});
    }
    for (double level = -180; level > -1000; level -= 360)
        if (crossing(phase, level, &k, &x)) {
            const double gain = value_at(db, k, x);
            vec_push(on_db,
                     (chart_mark){x, gain, arena_printf(b->mem, "gain margin %.1f dB", -gain)});
            break;
        }
    panel[0].mark = on_db;
    panel[0].n_mark = vec_len(on_db);
    panel[1].mark = on_phase;
    panel[1].n_mark = vec_len(on_phase);
}

vs_status fig_draw(const fig *f, post_env *e, const fig_request *r, chart_format format, FILE *out,
                   const char **why)
{
    if (format == CHART_HTML)
        return fig_page(f, e, r, out, why);
    builder b = {.f = f, .r = r, .mem = e->mem};
    const post_plot *of = NULL;
    for (size_t i = 0; i < vec_len(f->value); i++) {
        add_value(&b, &f->value[i]);
        of = of ? of : f->value[i].v.plot;
    }
    for (size_t i = 0; i < vec_len(b.panel); i++)
        b.panel[i].n_curve = vec_len((chart_curve *)b.panel[i].curve);
    for (size_t i = 0; r->kind == FIG_BODE && i < vec_len(b.panel); i += 2)
        add_margins(&b, &b.panel[i]);
    const chart c = {.title = r->title ? r->title
                              : of     ? of->title
                                       : NULL,
                     .panel = b.panel,
                     .n_panel = vec_len(b.panel),
                     .width = r->width,
                     .height = r->height,
                     .dark = r->dark,
                     .plugins = r->plugins};
    const vs_status st = chart_write(&c, format, out, why);
    if (st == VS_EIO)
        *why = files_why(errno);
    for (size_t i = 0; i < vec_len(b.panel); i++) {
        chart_curve *curve = (chart_curve *)b.panel[i].curve;
        chart_mark *mark = (chart_mark *)b.panel[i].mark;
        vec_free(curve);
        vec_free(mark);
    }
    vec_free(b.panel);
    vec_free(b.opener);
    return st;
}
