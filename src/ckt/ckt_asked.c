/* ckt_asked.c - what ngspice tells of an element of each letter, and its model here has no variable
 * for, or one without charges (id of a diode, ic of a Q): currents into terminals, voltages,
 * powers, the flux of a coil. They come from the static outputs of the device: a current that
 * charges something is 0 in them, as at an operating point.
 * In transients flat_probe.c puts a source in series with terminals whose current is saved.
 * Source: ngspice's command devhelp. */
#include "ckt_priv.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef enum quantity {
    CURRENT, /* into a terminal */
    VOLTAGE, /* from the first to the second terminal */
    POWER,   /* sum of v i over the terminals */
    FLUX     /* of a coil, with the coils that are coupled to it */
} quantity;

static const struct asked {
    const char *letters, *name;
    quantity what;
    int32_t terminal; /* CURRENT */
    const char *unit;
} table[] = {
    {"rcleghfbswd", "i", CURRENT, 0, "A"}, {"l", "current", CURRENT, 0, "A"},
    {"d", "c", CURRENT, 0, "A"},           {"q", "ie", CURRENT, 2, "A"},
    {"q", "is", CURRENT, 3, "A"},          {"mjz", "ig", CURRENT, 1, "A"},
    {"mjz", "is", CURRENT, 2, "A"},        {"m", "ib", CURRENT, 3, "A"},
    {"rcleghfb", "v", VOLTAGE, 0, "V"},    {"l", "volt", VOLTAGE, 0, "V"},
    {"l", "flux", FLUX, 0, "Wb"},          {"rcleghfbswdqmjz", "p", POWER, 0, "W"},
    {"d", "id", CURRENT, 0, "A"},          {"q", "ic", CURRENT, 0, "A"},
    {"q", "ib", CURRENT, 1, "A"},          {"jz", "id", CURRENT, 0, "A"},
};

char ckt_letter_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot[1] : name[0];
}

static bool has(const ckt *c, int32_t device, size_t k)
{
    const char letter = ckt_letter_of(c->inst[device].name);
    const int32_t n = mdl_module(c->inst[device].model)->n_port;
    return letter && strchr(table[k].letters, letter) && n >= 2 && table[k].terminal < n;
}

bool ckt_asked_find(const ckt *c, int32_t device, const char *name, ckt_detail *d)
{
    if (ckt_letter_of(c->inst[device].name) == 'k' &&
        (!strcasecmp(name, "k") || !strcasecmp(name, "coefficient"))) { /* m = k sqrt(l1 l2) */
        *d = (ckt_detail){CKT_DETAIL_PARAM, device, 0, "H"};
        return true;
    }
    for (size_t k = 0; k < VS_COUNT(table); k++)
        if (!strcasecmp(table[k].name, name) && has(c, device, k)) {
            *d = (ckt_detail){CKT_DETAIL_ASKED, device, (int32_t)k, table[k].unit};
            return true;
        }
    return false;
}

static bool is_variable(const va_module *mod, const char *name)
{
    for (size_t k = 0; k < vec_len(mod->opvar); k++)
        if (!strcasecmp(mod->opvar[k].name, name))
            return true;
    return false;
}

void ckt_asked_names(const ckt *c, int32_t device, const char ***names)
{
    const va_module *mod = mdl_module(c->inst[device].model);
    for (size_t k = 0; k < VS_COUNT(table); k++)
        if (has(c, device, k) && !is_variable(mod, table[k].name))
            vec_push(*names, table[k].name);
}

/* -- values -- */

typedef struct outputs { /* of one device; vecs */
    double *v;
    mdl_out *what;
} outputs;

static void outputs_free(outputs *o)
{
    vec_free(o->v);
    vec_free(o->what);
}

/* The terminal that an unknown of the model is one with; itself if it is inside. */
static int32_t is_one_with(const ckt_inst *in, int32_t u)
{
    const int32_t rep = mdl_row_topology(in->model, in->row)[u];
    return rep >= 0 ? rep : u;
}

static bool charges(const ckt_inst *in, const ckt_outputs *o, int32_t t)
{
    bool any = false;
    for (size_t k = 0; k < o->n; k++)
        any |=
            o->what[k].kind == IR_OUT_REACT && o->v[k] != 0 && is_one_with(in, o->what[k].a) == t;
    return any;
}

/* The source that flat_probe.c has put in series with terminal t; -1: none. */
static int32_t meter_of(const ckt *c, const ckt_inst *in, int32_t t)
{
    const char *letters = strchr("mjz", ckt_letter_of(in->name)) ? "dgsb" : "cbes";
    char name[512];
    if (strchr("cd", ckt_letter_of(in->name)))
        snprintf(name, sizeof name, "%s#probe", in->name);
    else
        snprintf(name, sizeof name, "%s:%c#probe", in->name, letters[t < 4 ? t : 3]);
    return ckt_find_source(c, name);
}

int32_t ckt_asked_meter(const ckt *c, bool transient, const ckt_detail *d)
{
    ckt_detail same = *d;
    const bool own =
        d->what == CKT_DETAIL_OPVAR && transient &&
        ckt_asked_find(c, d->device, mdl_module(c->inst[d->device].model)->opvar[d->k].name, &same);
    if (same.what != CKT_DETAIL_ASKED)
        return -1;
    const ckt_inst *in = &c->inst[d->device];
    const struct asked *a = &table[same.k];
    const bool power = !own && a->what == POWER && ckt_letter_of(in->name) == 'c';
    return a->what == CURRENT || power ? meter_of(c, in, a->terminal) : -1;
}

double ckt_asked_by_meter(const ckt *c, const double *x, const ckt_detail *d, int32_t source)
{
    const double i = x[c->sources->all[source].k];
    const int32_t *to = &c->unk[c->inst[d->device].first];
    const bool power = d->what == CKT_DETAIL_ASKED && table[d->k].what == POWER;
    return power ? i * (x[to[0]] - x[to[1]]) : i;
}

/* The current into terminal t, A. */
static double current(const ckt_inst *in, const ckt_outputs *o, int32_t t)
{
    double i = 0;
    for (size_t k = 0; k < o->n; k++)
        if (o->what[k].kind == IR_OUT_RES && is_one_with(in, o->what[k].a) == t)
            i += o->v[k];
    return i;
}

static double power(const ckt *c, const ckt_inst *in, const ckt_outputs *o, const double *x)
{
    double p = 0;
    for (int32_t t = 0; t < mdl_module(in->model)->n_port; t++)
        p += x[c->unk[in->first + t]] * current(in, o, t);
    return p;
}

/* The row of a coil's current is v - d flux/dt = 0, to which the couplings add (mutual.va). */
static vs_status flux_of(ckt *c, const ckt_env *env, const double *x, int32_t device, double *flux)
{
    const ckt_inst *coil = &c->inst[device];
    const int32_t inner = mdl_module(coil->model)->n_port;
    const int32_t row = inner < mdl_n_unknown(coil->model) ? c->unk[coil->first + inner] : 0;
    vs_status st = VS_OK;
    *flux = 0;
    for (int32_t i = 0; i < (int32_t)vec_len(c->inst) && row && !st; i++) {
        if (i != device && ckt_letter_of(c->inst[i].name) != 'k')
            continue;
        outputs o = {0};
        st = ckt_device_outputs(c, env, x, i, -1, 0, &o.v, &o.what);
        for (size_t k = 0; k < vec_len(o.what) && !st; k++)
            if (o.what[k].kind == IR_OUT_REACT && o.what[k].a == row)
                *flux -= o.v[k];
        outputs_free(&o);
    }
    return st;
}

vs_status ckt_asked_value(ckt *c, const ckt_env *env, const double *x, const ckt_detail *d,
                          double *value)
{
    const int32_t *to = &c->unk[c->inst[d->device].first];
    if (table[d->k].what == FLUX)
        return flux_of(c, env, x, d->device, value);
    *value = x[to[0]] - x[to[1]];
    return VS_OK;
}

bool ckt_asked_of_outputs(const ckt_detail *d)
{
    return d->what == CKT_DETAIL_OPVAR ||
           (d->what == CKT_DETAIL_ASKED &&
            (table[d->k].what == CURRENT || table[d->k].what == POWER));
}

double ckt_asked_from(const ckt *c, const ckt_env *env, const double *x, const ckt_detail *d,
                      const ckt_outputs *o)
{
    const ckt_inst *in = &c->inst[d->device];
    if (d->what == CKT_DETAIL_OPVAR) {
        for (size_t k = 0; k < o->n; k++)
            if (o->what[k].kind == IR_OUT_OPVAR && o->what[k].a == d->k)
                return o->v[k];
        return NAN;
    }
    const struct asked *a = &table[d->k];
    const char letter = ckt_letter_of(in->name);
    if (env->mode == CKT_TRAN && letter != 'd' && (a->what == CURRENT || letter == 'c') &&
        charges(in, o, a->terminal))
        return NAN; /* dq/dt is not known here */
    return a->what == CURRENT ? current(in, o, a->terminal) : power(c, in, o, x);
}

/* -- phasors -- */

static double complex between(const double *z, int32_t p, int32_t n)
{
    return z[2 * p] - z[2 * n] + I * (z[2 * p + 1] - z[2 * n + 1]);
}

/* (G + j omega C) z, the row of a terminal. */
static double complex small_current(const ckt *c, const ckt_inst *in, const outputs *o,
                                    const double *z, double omega, int32_t t)
{
    double complex i = 0;
    for (size_t k = 0; k < vec_len(o->what); k++) {
        const mdl_out *w = &o->what[k];
        if ((w->kind != IR_OUT_G && w->kind != IR_OUT_C) || is_one_with(in, w->a) != t)
            continue;
        const double complex v = between(z, c->unk[in->first + w->b], 0);
        i += (w->kind == IR_OUT_G ? 1 : I * omega) * o->v[k] * v;
    }
    return i;
}

static void source_phasor(const ckt *c, const double *z, const ckt_detail *d, double complex *y)
{
    const nat_source *s = &c->sources->all[d->device];
    const double complex v = between(z, s->p, s->n);
    if (d->k == CKT_SOURCE_I)
        *y = s->is_v ? between(z, s->k, 0) : s->w.ac_mag * cexp(I * s->w.ac_phase * M_PI / 180);
    else if (d->k == CKT_SOURCE_V)
        *y = s->is_v ? v : -v;
}

static vs_status current_phasor(ckt *c, const ckt_env *env, const double *op, const double *z,
                                double omega, const ckt_detail *d, double complex *y)
{
    const ckt_inst *in = &c->inst[d->device];
    const int32_t t = table[d->k].terminal, meter = meter_of(c, in, t);
    if (meter >= 0) {
        *y = between(z, c->sources->all[meter].k, 0);
        return VS_OK;
    }
    outputs o = {0};
    const vs_status st = ckt_device_point(c, env, op, d->device, -1, 0, &o.v, &o.what);
    *y = small_current(c, in, &o, z, omega, t);
    outputs_free(&o);
    return st;
}

vs_status ckt_detail_phasor(ckt *c, const ckt_env *env, const double *op, const double *z,
                            double omega, const ckt_detail *d, double *re, double *im)
{
    double complex y = *re + I * *im;
    ckt_detail same = *d; /* a model may have a variable for it: i of a resistor */
    if (d->what == CKT_DETAIL_OPVAR)
        (void)ckt_asked_find(c, d->device, mdl_module(c->inst[d->device].model)->opvar[d->k].name,
                             &same);
    const quantity what = same.what == CKT_DETAIL_ASKED ? table[same.k].what : POWER;
    const int32_t *to = same.what == CKT_DETAIL_ASKED ? &c->unk[c->inst[d->device].first] : NULL;
    vs_status st = VS_OK;
    if (d->what == CKT_DETAIL_SOURCE)
        source_phasor(c, z, d, &y);
    else if (what == VOLTAGE)
        y = between(z, to[0], to[1]);
    else if (what == CURRENT)
        st = current_phasor(c, env, op, z, omega, &same, &y);
    *re = creal(y);
    *im = cimag(y);
    return st;
}
