/* sens.c - derivatives of an output by every parameter, by the adjoint method.
 * dc:  F(x, p) = 0, A = dF/dx, A' y = c (c the output's unit vector): dv/dp = -y' dF/dp.
 * ac:  A z = b with A = G + j omega C: dv/dp = -y' (dA/dp) z, at a fixed operating point as ngspice
 *      has it.
 * dF/dp and dA/dp are central differences of one device's own outputs: one factorisation serves
 * all.
 * Source: Director & Rohrer, IEEE Trans. Circuit Theory 16(3), 1969. */
#include <math.h>
#include <string.h>

#include "small.h"

static const double step_rel = 1e-5; /* truncation 1e-10, rounding 1e-11 of the device's terms */

typedef struct change { /* of one row (dc) or matrix entry (ac) per unit of the parameter */
    int32_t row, col;
    double g, c;
} change;

typedef struct param {
    const char *name;
    int32_t first, end; /* change[first .. end) */
    int32_t source;     /* an independent source, -1 */
} param;

typedef struct sens {
    small s;
    const ana_output *out;
    const ana_table *t;
    bool ac;
    param *param;   /* vec */
    change *change; /* vec */
    double *y, *z;  /* [2 (n+1)] */
    double *b;      /* [2 (n+1)] what moves with a parameter */
    double *row;    /* vec */
    small_feeds feeds;
} sens;

/* -- what changes with a parameter -- */

static bool is_wanted(const sens *w, uint8_t kind)
{
    return w->ac ? kind == IR_OUT_G || kind == IR_OUT_C : kind == IR_OUT_RES;
}

static void add_difference(sens *w, const double *lo, const double *hi, const mdl_out *what,
                           double dp)
{
    for (size_t k = 0; k < vec_len(what); k++) {
        if (!is_wanted(w, what[k].kind) || hi[k] == lo[k] || what[k].a <= 0)
            continue;
        const double d = (hi[k] - lo[k]) / dp;
        const bool cap = what[k].kind == IR_OUT_C;
        vec_push(w->change, ((change){what[k].a, w->ac ? what[k].b : 0, cap ? 0 : d, cap ? d : 0}));
    }
}

/* Differences of the outputs for the parameter one step down and up, or one-sided at an end of its
 * range. */
static vs_status differentiate(sens *w, int32_t device, int32_t p, double value)
{
    ckt *c = w->s.a->c;
    const ckt_env env = small_env(w->s.a);
    double *lo = NULL, *hi = NULL, at_lo = value - fabs(value) * step_rel,
           at_hi = value + fabs(value) * step_rel;
    mdl_out *what = NULL;
    vs_status st = ckt_device_outputs(c, &env, w->s.x, device, p, at_lo, &lo, &what);
    if (st == VS_EINPUT)
        st = ckt_device_outputs(c, &env, w->s.x, device, p, at_lo = value, &lo, &what);
    if (st == VS_OK)
        st = ckt_device_outputs(c, &env, w->s.x, device, p, at_hi, &hi, &what);
    if (st == VS_EINPUT)
        st = ckt_device_outputs(c, &env, w->s.x, device, p, at_hi = value, &hi, &what);
    if (st == VS_OK && at_hi != at_lo)
        add_difference(w, lo, hi, what, at_hi - at_lo);
    vec_free(lo);
    vec_free(hi);
    vec_free(what);
    return st < 0 && st != VS_EINPUT ? st : VS_OK;
}

/* The parameter that an element line gives without a name. */
static bool is_principal(const va_module *mod, const char *name)
{
    static const char *const t[][2] = {{"resistor", "r"}, {"capacitor", "c"}, {"inductor", "l"},
                                       {"vcvs", "gain"},  {"vccs", "gain"},   {"cccs", "gain"},
                                       {"ccvs", "gain"},  {"mutual", "m"}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        if (!strcmp(mod->name, t[i][0]) && !strcmp(name, t[i][1]))
            return true;
    return false;
}

static vs_status add_device(sens *w, int32_t device)
{
    const ckt_device_facts f = ckt_device(w->s.a->c, device);
    const va_module *mod = mdl_module(f.model);
    vs_status st = VS_OK;
    for (int32_t k = 0; k < (int32_t)vec_len(mod->param) && st == VS_OK; k++) {
        const va_param *p = &mod->param[k];
        const double value = mdl_row_param(f.model, f.row, k);
        if (p->type != VA_REAL || p->local || value == 0 || !isfinite(value))
            continue;
        const char *name = is_principal(mod, p->name)
                               ? f.name
                               : arena_printf(&w->s.a->mem, "%s_%s", f.name, p->name);
        const int32_t first = (int32_t)vec_len(w->change);
        st = differentiate(w, device, k, value);
        vec_push(w->param, ((param){name, first, (int32_t)vec_len(w->change), -1}));
    }
    return st;
}

static void add_source(sens *w, int32_t k)
{
    const ckt_source_facts f = ckt_source_at(w->s.a->c, k);
    if (w->ac && f.ac_mag == 0)
        return;
    const char *name = w->ac ? arena_printf(&w->s.a->mem, "%s_acmag", f.name) : f.name;
    vec_push(w->param, ((param){name, 0, 0, k}));
}

static vs_status find_params(sens *w)
{
    ckt *c = w->s.a->c;
    vs_status st = VS_OK;
    if (ckt_has_delays(c))
        diag_warning(w->s.a->d, DIAG_NOWHERE,
                     ".sens leaves out the parameters of transmission lines%s",
                     w->ac ? ", and takes the delays of absdelay() as fixed" : "");
    for (int32_t i = 0; i < ckt_n_device(c) && st == VS_OK; i++)
        st = add_device(w, i);
    for (int32_t i = 0; i < ckt_n_source(c); i++)
        add_source(w, i);
    return st;
}

/* -- values -- */

/* y' b for a unit of the source, in ac at its phase */
static void of_source(sens *w, int32_t source, double *re, double *im)
{
    const ckt_source_facts f = ckt_source_at(w->s.a->c, source);
    const double *p = &w->y[2 * f.p], *n = &w->y[2 * f.n], *k = &w->y[2 * f.k];
    const double r = f.is_v ? k[0] : f.m * (n[0] - p[0]), i = f.is_v ? k[1] : f.m * (n[1] - p[1]);
    const double a = w->ac ? f.ac_phase * (acos(-1) / 180) : 0;
    *re = r * cos(a) - i * sin(a);
    *im = r * sin(a) + i * cos(a);
}

/* What a change adds to its row, per unit of the parameter. */
static void moved(const sens *w, const change *d, double omega, double *re, double *im)
{
    *re = d->g;
    *im = 0;
    if (w->ac) {
        const double *z = &w->z[2 * d->col], cap = omega * d->c;
        *re = d->g * z[0] - cap * z[1];
        *im = d->g * z[1] + cap * z[0];
    }
}

static void of_param(sens *w, const param *p, double omega, double *re, double *im)
{
    *re = *im = 0;
    for (int32_t k = p->first; k < p->end; k++) {
        const change *d = &w->change[k];
        const double *y = &w->y[2 * d->row];
        double tr, ti;
        moved(w, d, omega, &tr, &ti);
        *re -= y[0] * tr - y[1] * ti;
        *im -= y[0] * ti + y[1] * tr;
    }
}

/* What of a value, per unit of the source or the parameter, gmin alone carries. */
static double share_of(const sens *w, const param *p, double omega)
{
    small_feeds_sum sum = {0};
    if (p->source >= 0)
        small_feeds_add_source(&w->feeds, &w->s, p->source, &sum);
    for (int32_t k = p->first; k < p->end; k++) {
        double re, im;
        moved(w, &w->change[k], omega, &re, &im);
        small_feeds_add(&w->feeds, w->change[k].row, -re, -im, &sum);
    }
    return small_feeds_share(&sum);
}

/* What moves per unit of the source or the parameter, to b. */
static void drive(sens *w, const param *p, double omega)
{
    if (p->source >= 0)
        small_drive(&w->s, p->source, w->b);
    else
        memset(w->b, 0, sizeof *w->b * 2 * ((size_t)w->s.a->n + 1));
    for (int32_t k = p->first; k < p->end; k++) {
        double re, im, *b = &w->b[2 * w->change[k].row];
        moved(w, &w->change[k], omega, &re, &im);
        b[0] -= re;
        b[1] -= im;
    }
}

/* Whether gmin alone carries what a source or a parameter moves: there is no sensitivity then. */
static bool is_open(sens *w, const param *p, double f, double value)
{
    const double omega = 2 * acos(-1) * f;
    const small_answer v = {.f = f,
                            .value = value,
                            .share = w->feeds.any ? share_of(w, p, omega) : 0,
                            .b = w->b,
                            .what = "the sensitivity to"};
    if (small_feeds_will_tell(&w->feeds, &w->s, &v))
        drive(w, p, omega);
    return small_feeds_is_none(&w->feeds, &w->s, &v, p->name);
}

static vs_status put(sens *w, double f)
{
    const double omega = 2 * acos(-1) * f;
    vec_clear(w->row);
    if (w->ac) {
        vec_push(w->row, f);
        vec_push(w->row, 0.0);
    }
    for (size_t i = 0; i < vec_len(w->param); i++) {
        double re, im;
        if (w->param[i].source >= 0)
            of_source(w, w->param[i].source, &re, &im);
        else
            of_param(w, &w->param[i], omega, &re, &im);
        if (is_open(w, &w->param[i], f, hypot(re, im)))
            re = im = NAN;
        vec_push(w->row, re);
        if (w->ac)
            vec_push(w->row, im);
    }
    return VS_OK;
}

static vs_status solve(sens *w, double f)
{
    const vs_status st = small_factor(&w->s, 2 * acos(-1) * f);
    if (st != VS_OK)
        return st;
    small_adjoint(&w->s, w->out, w->y);
    small_solve_t(&w->s, w->y);
    small_feeds_tell_level(&w->feeds, &w->s, w->out, w->y);
    (void)small_feeds_of(&w->feeds, &w->s, w->y);
    if (!w->ac)
        return put(w, f);
    ckt_ac_drive(w->s.a->c, w->z);
    small_solve(&w->s, w->z);
    const vs_status fed = small_refuse_fed(&w->s, w->z, f);
    return fed == VS_OK ? put(w, f) : fed;
}

static vs_status begin(sens *w)
{
    const ana_table *t = w->t;
    ana_column *col = NULL;
    if (w->ac)
        vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (size_t i = 0; i < vec_len(w->param); i++)
        vec_push(col, ((ana_column){w->param[i].name, w->out->current ? "current" : "voltage"}));
    const vs_status st =
        t->begin(t->user, "Sensitivity Analysis", col, (int32_t)vec_len(col), w->ac);
    vec_free(col);
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    sens *w = work;
    const vs_status st = solve(w, f);
    return st == VS_OK ? w->t->row(w->t->user, w->row) : st;
}

vs_status ana_sens(ana *a, const ana_output *out, const ana_freq *freq, const ana_table *t)
{
    sens w = {.out = out, .t = t, .ac = freq != NULL};
    vs_status st = freq ? small_begin(&w.s, a, false) : small_begin_static(&w.s, a);
    w.y = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.y);
    w.z = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.z);
    w.b = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.b);
    if (st == VS_OK)
        st = find_params(&w);
    if (st == VS_OK && !vec_len(w.param)) {
        diag_error(a->d, DIAG_NOWHERE,
                   "the circuit has no parameter that a sensitivity could be found for");
        st = VS_EINPUT;
    }
    if (st == VS_OK)
        st = begin(&w);
    if (st == VS_OK)
        st = freq_plot_of(a, freq, at_frequency, &w, t);
    small_fini(&w.s);
    vs_free(w.y);
    vs_free(w.z);
    vs_free(w.b);
    small_feeds_fini(&w.feeds);
    vec_free(w.param);
    vec_free(w.change);
    vec_free(w.row);
    return st;
}
