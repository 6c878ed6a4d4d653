/* elab_output.c - which vectors a run writes; .ic and .nodeset in terms of unknowns. */
#include "elab.h"

#include <stdio.h>
#include <string.h>

typedef struct outputs {
    elab_out *v; /* vec */
    map seen;    /* name -> index */
    const ckt *c;
    const flat *f;
    diag *d;
    str_pool *names;
} outputs;

static void add(outputs *o, const char *name, bool current, int32_t hi, int32_t lo)
{
    name = str_intern0(o->names, name);
    if (map_get(&o->seen, map_key(name), -1) >= 0)
        return;
    map_set(&o->seen, map_key(name), (int32_t)vec_len(o->v));
    vec_push(o->v, ((elab_out){.name = name, .current = current, .hi = hi, .lo = lo, .factor = 1}));
}

static void add_call(outputs *o, const char *fn, const char *arg, bool current, int32_t hi)
{
    char *name = vs_text("%s(%s)", fn, arg);
    add(o, name, current, hi, 0);
    vs_free(name);
}

/* Whether .probe put this source there: its current is saved under the name of the terminal. */
static bool of_probe(const char *name)
{
    const char *hash = strstr(name, "#probe");
    return hash && (!hash[6] || hash[6] == '#');
}

static void add_nodes(outputs *o)
{
    const ckt_unknown *u = ckt_unknowns(o->c);
    for (int32_t k = 1; k <= ckt_n(o->c); k++)
        if ((u[k].node || u[k].digital) && !u[k].internal && !of_probe(u[k].name))
            add_call(o, "v", u[k].name, false, k);
}

/* Currents of voltage sources; with `branches` every branch current. */
static void add_currents(outputs *o, bool branches)
{
    const ckt_unknown *u = ckt_unknowns(o->c);
    for (int32_t k = 1; k <= ckt_n(o->c); k++) {
        const char *hash = strstr(u[k].name, "#branch");
        char name[512];
        if (u[k].kind != CKT_CURRENT || !hash || hash[7] || of_probe(u[k].name))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(hash - u[k].name), u[k].name);
        if (branches || ckt_find_source(o->c, name) >= 0)
            add_call(o, "i", name, true, k);
    }
}

static int32_t unknown_of(const outputs *o, int32_t node)
{
    return node <= 0 ? 0 : ckt_find(o->c, o->f->node[node]);
}

static void save_voltage(outputs *o, const flat_save *s)
{
    const int32_t hi = unknown_of(o, s->node[0]), lo = unknown_of(o, s->node[1]);
    char buf[512];
    if (s->as)
        snprintf(buf, sizeof buf, "%s", s->as);
    else if (s->node[1] < 0)
        snprintf(buf, sizeof buf, "v(%s)", o->f->node[s->node[0]]);
    else
        snprintf(buf, sizeof buf, "v(%s,%s)", o->f->node[s->node[0]], o->f->node[s->node[1]]);
    add(o, buf, false, hi, lo);
}

const char *elab_out_type(const elab_out *o)
{
    const char *colon = strrchr(o->name, ':');
    if (colon && !strcmp(colon, ":power")) /* of .probe p(r1) */
        return "power";
    if (!o->is_detail)
        return o->current ? "current" : "voltage";
    return !strcmp(o->detail.unit, "A")   ? "current"
           : !strcmp(o->detail.unit, "V") ? "voltage"
                                          : "notype";
}

static void add_detail(outputs *o, const char *name, ckt_detail d)
{
    const size_t n = vec_len(o->v);
    add(o, name, !strcmp(d.unit, "A"), 0, 0);
    if (vec_len(o->v) > n) {
        vec_last(o->v).is_detail = true;
        vec_last(o->v).detail = d;
    }
}

/* ngspice's @m1[cbd], @m1[cbs] of a MOS transistor are capacitances at the bias, here called capbd
 * and capbs, and not what the card gives, unless the model computes values of these names. */
static void prefer_computed(const outputs *o, const flat_save *s, ckt_detail *d)
{
    ckt_detail own;
    const bool is_junction = !str_casecmp(s->param, "cbd") || !str_casecmp(s->param, "cbs");
    if (d->what != CKT_DETAIL_PARAM || !is_junction)
        return;
    char *name = vs_text("cap%s", s->param + 1);
    if (ckt_find_detail(o->c, s->device, name, &own) == CKT_FOUND && own.what == CKT_DETAIL_OPVAR)
        *d = own;
    vs_free(name);
}

/* @device[name] */
static void save_detail(outputs *o, const flat_save *s)
{
    ckt_detail d;
    if (ckt_find_detail(o->c, s->device, s->param, &d) == CKT_FOUND) {
        prefer_computed(o, s, &d);
        add_detail(o, s->text, d);
        return;
    }
    if (diag_said(o->d, s->span))
        return;
    const char **name = ckt_detail_names(o->c, s->device);
    if (vec_len(name))
        diag_warning(o->d, s->span, "'%s' is not written: '%s' has no variable or parameter '%s'",
                     s->text, s->device, s->param);
    else
        diag_warning(o->d, s->span,
                     "'%s' is not written: '%s' is no device with variables of its own", s->text,
                     s->device);
    diag_suggest(o->d, s->param, name, vec_len(name));
    vec_free(name);
}

/* Saves the current of an element that is no unknown: the value that its model calls i. */
static bool save_own_current(outputs *o, const flat_save *s)
{
    ckt_detail d;
    char buf[512];
    if (ckt_find_detail(o->c, s->device, "i", &d) != CKT_FOUND || d.what == CKT_DETAIL_PARAM)
        return false;
    snprintf(buf, sizeof buf, "i(%s)", s->device);
    add_detail(o, buf, d);
    return true;
}

static void save_current(outputs *o, const flat_save *s)
{
    char branch[512];
    snprintf(branch, sizeof branch, "%s#branch", s->device);
    const int32_t k = ckt_find(o->c, branch);
    if (k >= 0 && s->as)
        add(o, s->as, true, k, 0);
    else if (k >= 0)
        add_call(o, "i", s->device, true, k);
    else if (!save_own_current(o, s) && !diag_said(o->d, s->span))
        diag_warning(o->d, s->span,
                     "i(%s) is not written: the current of '%s' is not an unknown of the "
                     "circuit; put a voltage source of 0 V in series",
                     s->device, s->device);
}

/* Whether .options savecurrents writes this value, which a device can compute. */
static bool is_current(const flat_inst *in, const char *word, const ckt_detail *d)
{
    const bool is_id = in->letter == 'd' && !strcmp(word, "i"); /* both are found, id is written */
    return d->what != CKT_DETAIL_PARAM && in->letter != 'v' && !is_id;
}

/* Adds every current that a device can compute: @r1[i], @d1[id], @q1[ic], @i1[current], ... Those
 * that charge something are measured (flat_probe.c). */
static void add_device_currents(outputs *o)
{
    static const char *const word[] = {"i", "id", "ig", "is", "ib", "ic", "ie"};
    for (size_t i = 0; i < vec_len(o->f->inst); i++) {
        const flat_inst *in = &o->f->inst[i];
        for (size_t k = 0; k < VS_COUNT(word); k++) {
            ckt_detail d;
            if (ckt_find_detail(o->c, in->name, word[k], &d) != CKT_FOUND ||
                !is_current(in, word[k], &d))
                continue;
            char *name = vs_text("@%s[%s]", in->name, in->letter == 'i' ? "current" : word[k]);
            add_detail(o, name, d);
            vs_free(name);
        }
    }
}

/* Of a model: a computed value, no parameter. Of a source: a value that no card gives. */
bool elab_is_computed(const char *name, const ckt_detail *d)
{
    return d->what != CKT_DETAIL_PARAM && (d->what != CKT_DETAIL_SOURCE || *d->unit) &&
           strcmp(name, "dc") != 0 && strcmp(name, "acmag") != 0;
}

/* Adds every value that the models of devices compute: @m1[gm], @q1[ft], ... */
static void add_device_values(outputs *o)
{
    for (size_t i = 0; i < vec_len(o->f->inst); i++) {
        const char *device = o->f->inst[i].name, **word = ckt_detail_names(o->c, device);
        for (size_t k = 0; k < vec_len(word); k++) {
            ckt_detail d;
            if (ckt_find_detail(o->c, device, word[k], &d) != CKT_FOUND ||
                !elab_is_computed(word[k], &d))
                continue;
            char *name = vs_text("@%s[%s]", device, word[k]);
            add_detail(o, name, d);
            vs_free(name);
        }
        vec_free(word);
    }
}

static bool asks_for(const flat *f, const char *option)
{
    bool asks = false;
    for (size_t i = 0; i < vec_len(f->option); i++)
        if (!strcmp(f->option[i].name, option))
            asks = f->option[i].value != 0;
    return asks;
}

static void save(outputs *o, const flat_save *s, bool branches)
{
    switch (s->what) {
    case FLAT_SAVE_ALLI:
        add_nodes(o);
        add_currents(o, true);
        add_device_currents(o);
        break;
    case FLAT_SAVE_ALL:
        add_nodes(o);
        add_currents(o, branches);
        break;
    case FLAT_SAVE_V: save_voltage(o, s); break;
    case FLAT_SAVE_I: save_current(o, s); break;
    case FLAT_SAVE_PARAM: save_detail(o, s); break;
    case FLAT_SAVE_EXPR:
        diag_warning(o->d, s->span,
                     "'%s' is not written: expressions cannot be saved yet; save what they "
                     "are made of",
                     s->text);
        break;
    }
}

void elab_outputs(elab_out **out, const ckt *c, const flat *f, diag *d, str_pool *names,
                  bool branches)
{
    outputs o = {.c = c, .f = f, .d = d, .names = names};
    for (size_t i = 0; i < vec_len(f->save); i++)
        save(&o, &f->save[i], branches);
    if (!vec_len(o.v)) {
        add_nodes(&o);
        add_currents(&o, branches);
    }
    if (asks_for(f, "savecurrents"))
        add_device_currents(&o);
    if (asks_for(f, "savedevices"))
        add_device_values(&o);
    map_free(&o.seen);
    *out = o.v;
}

int32_t elab_held_node(const flat_inst *in, double *v)
{
    if (in->letter != 'c' || !in->rare->ic_given || (in->node[0] && in->node[1]))
        return 0;
    *v = in->node[0] ? in->rare->ic[0] : -in->rare->ic[0];
    return in->node[0] ? in->node[0] : in->node[1];
}

static void node_values(elab_node_value **to, const flat_ic *from, const ckt *c, const flat *f)
{
    *to = NULL;
    for (size_t i = 0; i < vec_len(from); i++) {
        const int32_t k = from[i].node > 0 ? ckt_find(c, f->node[from[i].node]) : 0;
        if (k > 0)
            vec_push(*to, (elab_node_value){k, from[i].value});
    }
}

/* A transistor that starts `off` has its base or gate held at 0 V, as a .nodeset does, if its
 * emitter or source is ground. Any other needs nothing: Newton starts with all junctions at 0 V. */
static void hold_off(elab_node_value **nodeset, const ckt *c, const flat *f)
{
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        if (!in->off || (in->letter != 'q' && in->letter != 'm') || in->n_node < 3 ||
            in->node[2] != 0)
            continue;
        const int32_t k = in->node[1] > 0 ? ckt_find(c, f->node[in->node[1]]) : 0;
        if (k > 0)
            vec_push(*nodeset, (elab_node_value){k, 0});
    }
}

/* Xyce imposes ic= of a capacitor on the operating point of a transient too; here that of one at
 * ground. Of others elab_circuit warns. */
static void hold_charged(elab_node_value **ic, const ckt *c, const flat *f)
{
    for (size_t i = 0; f->xyce && i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        double v;
        const int32_t node = elab_held_node(in, &v);
        const int32_t k = node > 0 ? ckt_find(c, f->node[node]) : 0;
        if (k > 0)
            vec_push(*ic, (elab_node_value){k, v});
    }
}

void elab_ics(elab_node_value **ic, elab_node_value **nodeset, const ckt *c, const flat *f)
{
    node_values(ic, f->ic, c, f);
    hold_charged(ic, c, f);
    node_values(nodeset, f->nodeset, c, f);
    hold_off(nodeset, c, f);
}
