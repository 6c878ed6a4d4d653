/* elab_osdi.c - instances of modules that come compiled, from OSDI libraries.
 * Model card and instance line give one parameter set as everywhere; parameters that belong to the
 * model data but stand on an instance line give that instance model data of its own. */
#include "elab_priv.h"

#include <math.h>
#include <string.h>

bool elab_is_osdi(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".osdi");
}

const osdi_module *elab_osdi_module(elab *e, const flat_inst *in)
{
    if (in->rare->model)
        return elab_binding_of(e, in->rare->model)->osdi;
    return in->rare->word ? mdl_find_osdi(e->lib, in->rare->word) : NULL;
}

static void unknown_param(elab *e, const osdi_module *m, const flat_param *p, const char *owner)
{
    const char **cand = NULL;
    for (int32_t i = 0; i < osdi_n_param(m); i++)
        vec_push(cand, osdi_param_name(m, i));
    diag_error(e->d, p->span, "%s: module '%s' has no parameter '%s'", owner, m->name, p->name);
    diag_suggest(e->d, p->name, cand, vec_len(cand));
    vec_free(cand);
}

/* Appends p to *set, replacing an earlier value. */
static bool take(elab *e, const osdi_module *m, int32_t id, const flat_param *p, const char *owner,
                 osdi_set **set)
{
    const int type = osdi_param_type(m, id);
    osdi_set s = {id, p->value, NULL, p->span};
    flat_param text = *p;
    if (!strcmp(p->name, "version") && type == OSDI_TYPE_STRING && !p->str)
        text.str = str_intern0(e->names, elab_printf(e, "%g", p->value));
    if (!strcmp(p->name, "version") && type != OSDI_TYPE_STRING && p->str) {
        s.value = elab_version(p->str);
        text.str = isnan(s.value) ? p->str : NULL;
    }
    p = &text;
    if (osdi_param_is_array(m, id)) {
        diag_error(e->d, p->span,
                   "%s: parameter '%s' of module '%s' is an array, which cannot be set", owner,
                   p->name, m->name);
        return false;
    }
    if ((type == OSDI_TYPE_STRING) != (p->str != NULL)) {
        diag_error(e->d, p->span, "%s: parameter '%s' needs a %s", owner, p->name,
                   p->str ? "number" : "string");
        return false;
    }
    if (type == OSDI_TYPE_STRING)
        s.str = p->str;
    if (type == OSDI_TYPE_INT && s.value != round(s.value)) {
        s.value = round(s.value);
        diag_warning(e->d, p->span, "%s: parameter '%s' is an integer; %g is rounded to %g", owner,
                     p->name, p->value, s.value);
    }
    if (type == OSDI_TYPE_INT && fabs(s.value) > INT32_MAX) {
        diag_error(e->d, p->span, "%s: parameter '%s' is an integer of 32 bits; %g is too large",
                   owner, p->name, s.value);
        return false;
    }
    for (size_t i = 0; i < vec_len(*set); i++)
        if ((*set)[i].id == id) {
            (*set)[i] = s;
            return true;
        }
    vec_push(*set, s);
    return true;
}

static bool take_card(elab *e, const osdi_module *m, const flat_model *card, bool first,
                      osdi_set **set)
{
    bool ok = true;
    const elab_binding b = *elab_binding_of(e, card);
    const flat_param **unknown = NULL;
    const bool lenient = b.spice || e->opt.lenient;
    const char *owner = elab_printf(e, "model '%s'", card->name);
    const int32_t kind = b.polarity ? osdi_param(m, b.polarity) : -1;
    if (kind >= 0)
        vec_push(*set, (osdi_set){kind, b.value, NULL, card->span});
    for (size_t i = 0; i < vec_len(card->param); i++) {
        const flat_param *p = &card->param[i];
        const int32_t id = osdi_param(m, p->name);
        if (id >= 0 && id < osdi_n_param(m)) {
            ok &= take(e, m, id, p, owner, set);
        } else if (!first && lenient) {
            continue;
        } else if (!elab_is_accepted(e, NULL, p, owner)) {
            if (lenient)
                vec_push(unknown, p);
            else
                unknown_param(e, m, p, owner);
            ok = ok && lenient;
        }
    }
    elab_say_unknown(e, card, m->name, unknown, NULL);
    vec_free(unknown);
    return ok;
}

static bool take_line(elab *e, const osdi_module *m, const flat_inst *in, osdi_set **model,
                      osdi_set **inst, double *kelvin)
{
    bool ok = true;
    const bool scale = in->rare->model && elab_binding_of(e, in->rare->model)->spice;
    flat_room room;
    const flat_param *line = flat_params(in, &room);
    for (size_t i = 0; i < vec_len(line); i++) {
        flat_param scaled = line[i];
        const flat_param *p = &scaled;
        const int32_t id = osdi_param(m, p->name);
        if (scale)
            scaled.value = elab_scaled(e, in, p);
        if (!strcmp(p->name, "m"))
            continue; /* multiplicity, in flat_inst.m */
        if (id >= 0 && id < osdi_n_param(m)) {
            ok &= take(e, m, id, p, in->name, osdi_param_is_inst(m, id) ? inst : model);
        } else if (!strcmp(p->name, "temp")) {
            *kelvin = p->value + 273.15;
        } else if (!strcmp(p->name, "dtemp")) {
            *kelvin = elab_kelvin(e) + p->value;
        } else if (!strcmp(p->name, "value")) {
            diag_error(e->d, p->span,
                       "%s: a bare value means nothing to module '%s'; write name=value", in->name,
                       m->name);
            ok = false;
        } else {
            unknown_param(e, m, p, in->name);
            ok = false;
        }
    }
    return ok;
}

static bool terminals(elab *e, const flat_inst *in, const osdi_module *m, int32_t *terminal)
{
    if (in->n_node > m->n_terminal || in->n_node < 1) {
        diag_error(e->d, in->span, "%s: %d nodes given, but '%s' has %d terminals", in->name,
                   (int)in->n_node, m->name, (int)m->n_terminal);
        return false;
    }
    for (int32_t i = 0; i < in->n_node; i++)
        terminal[i] = e->node[in->node[i]];
    return true;
}

vs_status elab_osdi(elab *e, const flat_inst *in, const osdi_module *m)
{
    osdi_set *model = NULL, *inst = NULL;
    osdi_env env = {.d = e->d,
                    .at = in->span,
                    .who = in->name,
                    .kelvin = elab_kelvin(e),
                    .simparam = e->simparam};
    int32_t *terminal = NULL;
    vec_extend(terminal, m->n_terminal);
    bool ok = terminals(e, in, m, terminal);
    if (in->rare->model)
        ok &= take_card(e, m, in->rare->model,
                        map_get(&e->osdi_card, map_key(in->rare->model), 0) == 0, &model);
    if (in->rare->model)
        map_set(&e->osdi_card, map_key(in->rare->model), 1);
    ok &= take_line(e, m, in, &model, &inst, &env.kelvin);
    if (in->off || in->rare->ic_given)
        diag_warning(e->d, in->span, "%s: off and ic= have no effect on devices of OSDI libraries",
                     in->name);
    osdi_model *data;
    osdi_inst *dev;
    vs_status st = ok ? osdi_model_get(&data, m, model, vec_len(model), &env) : VS_EINPUT;
    if (st == VS_OK)
        st = osdi_inst_new(&dev, data, inst, vec_len(inst), in->n_node, in->m, &env);
    if (st == VS_OK)
        ckt_add_osdi(e->c, dev, terminal, in->span);
    vec_free(model);
    vec_free(inst);
    vec_free(terminal);
    return st;
}
