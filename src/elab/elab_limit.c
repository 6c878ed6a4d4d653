/* elab_limit.c - limits of safe operation that model cards give: which voltages, currents, powers
 * and temperatures of a circuit they are about.
 * Source: ngspice manual, chapter "Safe operating area"; docs/ngspice-compatibility.md tells the
 *         differences. */
#include "elab_priv.h"

#include <math.h>
#include <string.h>

/* Devices with the same limits; INNER: voltages are those behind the series resistances. */
typedef enum family { NONE, RESISTOR, CAPACITOR, DIODE, BIPOLAR, MOSFET, VDMOS } family;
enum { INNER = 1 };

static const struct {
    const char *module; /* or how its name begins, with a star */
    family family;
    int flags;
} family_table[] = {
    {"resistor", RESISTOR, 0}, {"capacitor", CAPACITOR, 0}, {"diode", DIODE, 0},
    {"diode_heat", DIODE, 0},  {"bjt", BIPOLAR, INNER},     {"vbic", BIPOLAR, 0},
    {"hicum2", BIPOLAR, 0},    {"mextram*", BIPOLAR, 0},    {"vdmos", VDMOS, 0},
    {"mos*", MOSFET, INNER},   {"bsim*", MOSFET, INNER},
};

/* The voltage from hi to lo. sign: 1, -1: only that direction counts; 0: its size, or, if the card
 * has `reverse`, the polarity's direction, and the other one against `reverse`. */
static const struct voltage {
    family family;
    const char *quantity, *hi, *lo, *limit;
    const char *other; /* taken in place of `limit` that is not there; NULL: none */
    const char *reverse;
    int sign;
} voltage_table[] = {
    {RESISTOR, "Vr", "p", "n", "bv_max", NULL, NULL, 0},
    {CAPACITOR, "Vc", "p", "n", "bv_max", NULL, NULL, 0},
    {DIODE, "Vd", "a", "c", "fv_max", NULL, NULL, 1},
    {DIODE, "Vd", "a", "c", "bv_max", NULL, NULL, -1},
    {BIPOLAR, "Vbe", "b", "e", "vbe_max", NULL, NULL, 0},
    {BIPOLAR, "Vbc", "b", "c", "vbc_max", NULL, NULL, 0},
    {BIPOLAR, "Vce", "c", "e", "vce_max", NULL, NULL, 0},
    {BIPOLAR, "Vcs", "c", "s", "vsub_max", "vcs_max", NULL, 0},
    {MOSFET, "Vgs", "g", "s", "vgs_max", NULL, "vgsr_max", 0},
    {MOSFET, "Vgd", "g", "d", "vgd_max", NULL, "vgdr_max", 0},
    {MOSFET, "Vgb", "g", "b", "vgb_max", "vgs_max", "vgbr_max", 0},
    {MOSFET, "Vds", "d", "s", "vds_max", NULL, NULL, 0},
    {MOSFET, "Vbs", "b", "s", "vbs_max", "vbd_max", "vbsr_max", 0},
    {MOSFET, "Vbd", "b", "d", "vbd_max", NULL, "vbdr_max", 0},
    {VDMOS, "Vgs", "g", "s", "vgs_max", NULL, "vgsr_max", 0},
    {VDMOS, "Vgd", "g", "d", "vgd_max", NULL, "vgdr_max", 0},
    {VDMOS, "Vds", "d", "s", "vds_max", NULL, NULL, 0},
};

/* Currents, and the powers that they make with the voltages from hi to lo. In a transient they are
 * without what charges capacitances. */
static const struct current {
    family family;
    const char *quantity, *detail;
    const char *limit; /* NULL: part of the power only */
    const char *hi, *lo;
} current_table[] = {
    {DIODE, "Id", "id", "id_max", "a", "c"},   {BIPOLAR, "Ic", "ic", "ic_max", "c", "e"},
    {BIPOLAR, "Ib", "ib", "ib_max", "b", "e"}, {BIPOLAR, "Is", "is", NULL, "s", "c"},
    {VDMOS, "Id", "id", "id_max", "d", "s"},   {VDMOS, "Idr", "idio", "idr_max", "s", "d"},
};

/* Where the temperature stands that te_max and the derating of pd_max are about, and what the card
 * gives the derating by: kelvin a watt, or watt a kelvin. */
static const struct heat {
    family family;
    const char *node, *rth, *derating;
} heat_table[] = {{DIODE, "tj", "rth0", NULL},
                  {BIPOLAR, NULL, "rth0", NULL},
                  {VDMOS, "tc", NULL, "derating"}};

enum {
    POWER_ROW = VS_COUNT(voltage_table) + VS_COUNT(current_table),
    HEAT_ROW = POWER_ROW + 8,
    SUBSTRATE_ROW = HEAT_ROW + 8,
    REGION_ROW
};
static_assert((int)REGION_ROW < (int)ELAB_LIMIT_ROWS, "each sort of limit has a row");

/* VBIC's cards: from which voltage on a junction conducts; volt. */
#define FORWARD 0.2
static const char *const forward_limit[] = {"vsubfwd", "vbefwd", "vbcfwd"};

static family family_of(const char *module, int *flags)
{
    for (size_t i = 0; i < VS_COUNT(family_table); i++) {
        const char *name = family_table[i].module, *star = strchr(name, '*');
        if (star ? !strncmp(module, name, (size_t)(star - name)) : !strcmp(module, name)) {
            *flags = family_table[i].flags;
            return family_table[i].family;
        }
    }
    return NONE;
}

static bool is_one(const char *name, const char *a, const char *b, const char *c)
{
    return (a && !strcmp(name, a)) || (b && !strcmp(name, b)) || (c && !strcmp(name, c));
}

bool elab_is_limit(const char *module, const char *name)
{
    int flags;
    const family f = family_of(module, &flags);
    for (size_t i = 0; i < VS_COUNT(voltage_table); i++) {
        const struct voltage *v = &voltage_table[i];
        if (v->family == f && is_one(name, v->limit, v->other, v->reverse))
            return true;
    }
    for (size_t i = 0; i < VS_COUNT(current_table); i++)
        if (current_table[i].family == f && is_one(name, current_table[i].limit, NULL, NULL))
            return true;
    for (size_t i = 0; i < VS_COUNT(heat_table); i++) {
        const struct heat *h = &heat_table[i];
        if (h->family == f &&
            (is_one(name, "pd_max", h->rth, h->derating) || (h->node && !strcmp(name, "te_max"))))
            return true;
    }
    for (size_t i = 0; i < VS_COUNT(forward_limit); i++)
        if (!strcmp(module, "vbic") && !strcmp(name, forward_limit[i]))
            return true;
    return false;
}

/* -- the limits of one device -- */

typedef struct found {
    elab_limit **out;
    const ckt *c;
    const flat_inst *in;
    const flat_param *line; /* what its card gives */
    family family;
    int flags;
    int32_t device;
    const va_module *module;
    double temp; /* of the device, degrees Celsius */
} found;

/* A limit of the element's line, or of its card; NULL: it is not there. */
static const flat_param *given(const found *f, const char *name)
{
    if (!name)
        return NULL;
    const flat_model *card = f->in->rare->model;
    const flat_param *p = elab_card_param(f->line, name);
    if (!p && card)
        p = elab_card_param(card->param, name);
    return p && !p->str ? p : NULL; /* a text was told before */
}

/* A number of the card, the module's own too. */
static double number(const found *f, const char *name)
{
    return f->in->rare->model && name ? elab_card_number(f->in->rare->model->param, name, NAN)
                                      : NAN;
}

/* The circuit's unknown of a node of the module; with INNER the node behind its resistance, which
 * has an i after its name. -1: the module has no such node. */
static int32_t unknown(const found *f, const char *node)
{
    int32_t n, at = -1;
    const int32_t *u = ckt_device_unknowns(f->c, f->device, &n);
    for (int32_t k = 0; k < n && k < (int32_t)vec_len(f->module->unknown); k++) {
        const char *name = f->module->unknown[k].name;
        if (!strcmp(name, node) ||
            ((f->flags & INNER) && name[0] == node[0] && !strcmp(name + 1, "i")))
            at = u[k];
    }
    return at;
}

static bool is_p_channel(const flat_model *m)
{
    return m && (!strcmp(m->type, "pmos") || !strcmp(m->type, "vdmosp") ||
                 elab_card_number(m->param, "pchan", 0) != 0);
}

/* p NULL: the card does not give it. */
static elab_limit limit_of(const found *f, elab_limit_kind kind, const char *quantity,
                           const char *name, const flat_param *p, size_t row)
{
    return (elab_limit){.kind = kind,
                        .device = f->in->name,
                        .card = f->in->rare->model ? f->in->rare->model->name : f->module->name,
                        .quantity = quantity,
                        .name = name,
                        .span = p ? p->span : f->in->span,
                        .value = p ? p->value : FORWARD,
                        .m = f->family == BIPOLAR && kind == ELAB_LIMIT_CURRENT ? f->in->m : 1,
                        .row = (int32_t)row,
                        .te_node = -1,
                        .te = f->temp};
}

static void add_voltage(const found *f, size_t row)
{
    const struct voltage *v = &voltage_table[row];
    const flat_param *own = given(f, v->limit), *p = own ? own : given(f, v->other);
    const flat_param *r = given(f, v->reverse);
    const int32_t hi = unknown(f, v->hi), lo = unknown(f, v->lo);
    if (hi < 0 || lo < 0)
        return;
    const int polarity = is_p_channel(f->in->rare->model) ? -1 : 1;
    for (int back = 0; back < 2; back++) {
        const flat_param *one = back ? r : p;
        if (!one)
            continue;
        elab_limit l = limit_of(f, ELAB_LIMIT_VOLTAGE, v->quantity,
                                back  ? v->reverse
                                : own ? v->limit
                                      : v->other,
                                one, row);
        l.sign = r ? (back ? -polarity : polarity) : v->sign;
        l.term[l.n_term++] = (elab_limit_term){.hi = hi, .lo = lo};
        vec_push(*f->out, l);
    }
}

/* Adds current k to the terms of a limit. */
static void add_term(const found *f, elab_limit *l, const struct current *k)
{
    elab_limit_term t = {.hi = unknown(f, k->hi), .lo = unknown(f, k->lo)};
    if (t.hi >= 0 && t.lo >= 0 &&
        ckt_find_detail(f->c, f->in->name, k->detail, &t.current) == CKT_FOUND &&
        t.current.what != CKT_DETAIL_PARAM)
        l->term[l->n_term++] = t;
}

static void add_current(const found *f, size_t i)
{
    const struct current *k = &current_table[i];
    const flat_param *p = given(f, k->limit);
    if (!p)
        return;
    elab_limit l =
        limit_of(f, ELAB_LIMIT_CURRENT, k->quantity, k->limit, p, VS_COUNT(voltage_table) + i);
    add_term(f, &l, k);
    l.value = fabs(l.value);
    if (l.n_term)
        vec_push(*f->out, l);
}

/* pd_max less what the temperature above tnom takes away, if the card tells how much; te_max. */
static void add_heat(const found *f, const struct heat *h)
{
    const int32_t node = h->node ? unknown(f, h->node) : -1;
    const flat_param *pd = given(f, "pd_max"), *te = given(f, "te_max");
    if (pd) {
        elab_limit l = limit_of(f, ELAB_LIMIT_POWER, "Pd", "pd_max", pd, POWER_ROW + f->family);
        for (size_t i = 0; i < VS_COUNT(current_table); i++)
            if (current_table[i].family == f->family)
                add_term(f, &l, &current_table[i]);
        const double per = h->rth ? 1 / number(f, h->rth) : number(f, h->derating);
        l.tnom = number(f, "tnom");
        l.derating = isnan(l.tnom) || !isfinite(per) ? 0 : per;
        l.te_node = node > 0 ? node : -1;
        vec_push(*f->out, l);
    }
    if (te && node > 0) {
        elab_limit l =
            limit_of(f, ELAB_LIMIT_TEMPERATURE, "Te", "te_max", te, HEAT_ROW + f->family);
        l.te_node = node;
        vec_push(*f->out, l);
    }
}

/* sign (hi - lo) of a junction. */
static bool add_junction(const found *f, elab_limit *l, const char *hi, const char *lo)
{
    const elab_limit_term t = {.hi = unknown(f, hi), .lo = unknown(f, lo)};
    l->sign = elab_card_number(f->in->rare->model->param, "type", 1) < 0 ||
                      !strcmp(f->in->rare->model->type, "pnp")
                  ? -1
                  : 1;
    if (t.hi >= 0 && t.lo >= 0)
        l->term[l->n_term++] = t;
    return t.hi >= 0 && t.lo >= 0;
}

/* What ngspice looks for at VBIC alone: a conducting substrate junction; regions. */
static void add_vbic(const found *f, bool regions)
{
    elab_limit s =
        limit_of(f, ELAB_LIMIT_VOLTAGE, "Vsc", "vsubfwd", given(f, "vsubfwd"), SUBSTRATE_ROW);
    if (add_junction(f, &s, "s", "c"))
        vec_push(*f->out, s);
    elab_limit r = limit_of(f, ELAB_LIMIT_REGION, "", "its region", given(f, "vbefwd"), REGION_ROW);
    const flat_param *second = given(f, "vbcfwd");
    r.second = second ? second->value : FORWARD;
    r.span = f->in->span;
    if (regions && add_junction(f, &r, "b", "e") && add_junction(f, &r, "b", "c"))
        vec_push(*f->out, r);
}

static void add_limits(const found *f, bool regions)
{
    if (!strcmp(f->module->name, "vbic") && f->in->rare->model)
        add_vbic(f, regions);
    for (size_t i = 0; i < VS_COUNT(voltage_table); i++)
        if (voltage_table[i].family == f->family)
            add_voltage(f, i);
    for (size_t i = 0; i < VS_COUNT(current_table); i++)
        if (current_table[i].family == f->family)
            add_current(f, i);
    for (size_t i = 0; i < VS_COUNT(heat_table); i++)
        if (heat_table[i].family == f->family)
            add_heat(f, &heat_table[i]);
}

void elab_limits(elab_limit **out, const ckt *c, const flat *f, bool regions, double temp)
{
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        if (!strchr("rcdqm", in->letter))
            continue;
        flat_room room;
        found w = {.out = out,
                   .c = c,
                   .in = in,
                   .line = flat_params(in, &room),
                   .device = ckt_find_device(c, in->name)};
        if (w.device < 0)
            continue;
        w.module = mdl_module(ckt_device(c, w.device).model);
        w.family = family_of(w.module->name, &w.flags);
        w.temp = elab_card_number(w.line, "temp", temp + elab_card_number(w.line, "dtemp", 0));
        add_limits(&w, regions);
    }
}
