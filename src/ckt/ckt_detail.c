/* ckt_detail.c - devices and sources by number or name; operating-point variables and parameters.
 * Nothing here costs a run that does not ask: devices are evaluated by the interpreter on request.
 */

#include "ckt_priv.h"
#include <math.h>
#include <string.h>
#include <strings.h>

int32_t ckt_n_device(const ckt *c) { return (int32_t)vec_len(c->inst); }

const char *ckt_device_name(const ckt *c, int32_t device)
{
    const int32_t n = ckt_n_device(c);
    return device < n ? c->inst[device].name : ckt_osdi_at(c, device - n).name;
}

ckt_device_facts ckt_device(const ckt *c, int32_t device)
{
    const ckt_inst *in = &c->inst[device];
    return (ckt_device_facts){in->name, in->model, in->row, &c->unk[in->first], ckt_inst_span(in)};
}

const int32_t *ckt_device_unknowns(const ckt *c, int32_t device, int32_t *n)
{
    const ckt_inst *in = &c->inst[device];
    *n = mdl_n_unknown(in->model);
    return &c->unk[in->first];
}

int32_t ckt_n_source(const ckt *c) { return (int32_t)vec_len(c->sources->all); }

ckt_source_facts ckt_source_at(const ckt *c, int32_t source)
{
    const nat_source *s = &c->sources->all[source];
    return (ckt_source_facts){.name = s->name,
                              .is_v = s->is_v,
                              .p = s->p,
                              .n = s->n,
                              .k = s->k,
                              .m = s->m,
                              .dc = wave_dc(&s->w),
                              .ac_mag = s->w.ac_mag,
                              .ac_phase = s->w.ac_phase,
                              .disto_mag = {s->w.disto_mag[0], s->w.disto_mag[1]},
                              .disto_phase = {s->w.disto_phase[0], s->w.disto_phase[1]},
                              .span = s->span};
}

double ckt_least_supply(const ckt *c)
{
    double least = INFINITY;
    for (int32_t i = 0; i < ckt_n_source(c); i++) {
        const nat_source *s = &c->sources->all[i];
        if (!s->is_v || (s->w.kind == WAVE_DC && s->w.dc == 0 && !s->own.value))
            continue;
        least = fmin(least, s->own.value ? 0 : wave_most(&s->w));
    }
    return isfinite(least) ? least : 0;
}

const nat_source *ckt_source_all(const ckt *c, int32_t source) { return &c->sources->all[source]; }

double ckt_source_value(const ckt *c, int32_t source, double t)
{
    return nat_source_at(&c->sources->all[source], t);
}

/* -- one device -- */

/* The hidden state of a device as of the last accepted point; vec, NULL if it has none. */
static double *state_of(const ckt *c, int32_t device)
{
    double *v = NULL;
    if (!mdl_module(c->inst[device].model)->n_state)
        return NULL;
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        for (int32_t i = 0; g->model == c->inst[device].model && g->state && i < g->nb; i++) {
            if (g->inst[i] != device)
                continue;
            const int32_t p = dev_pack_of(g, i), lane = i - g->first[p];
            for (int32_t k = 0; k < g->n_state; k++)
                vec_push(v,
                         g->state[((size_t)p * (size_t)g->n_state + (size_t)k) * (size_t)g->lanes +
                                  (size_t)lane]);
            return v;
        }
    }
    return v;
}

static bool has_row(uint8_t kind)
{
    return kind == IR_OUT_RES || kind == IR_OUT_REACT || kind == IR_OUT_G || kind == IR_OUT_C ||
           kind == IR_OUT_J;
}

vs_status ckt_device_point(ckt *c, const ckt_env *env, const double *x, int32_t device,
                           int32_t param, double value, double **out, mdl_out **what)
{
    const ckt_inst *in = &c->inst[device];
    double dyn[IR_N_DYN], *state = state_of(c, device);
    ckt_fill_dyn(dyn, env);
    dyn[IR_DYN_LIMIT] = 0;
    const mdl_at at = {.x = x, .map = &c->unk[in->first], .dyn = dyn, .state = state};
    vec_clear(*out);
    vec_clear(*what);
    const vs_status st = mdl_point(in->model, in->row, param, value, &at, out, what);
    vec_free(state);
    return st;
}

vs_status ckt_device_outputs(ckt *c, const ckt_env *env, const double *x, int32_t device,
                             int32_t param, double value, double **out, mdl_out **what)
{
    const int32_t *to = &c->unk[c->inst[device].first];
    const vs_status st = ckt_device_point(c, env, x, device, param, value, out, what);
    for (size_t k = 0; k < vec_len(*what); k++) {
        mdl_out *o = &(*what)[k];
        if (has_row(o->kind))
            o->a = to[o->a];
        if (o->kind == IR_OUT_G || o->kind == IR_OUT_C || o->kind == IR_OUT_J)
            o->b = to[o->b];
    }
    return st;
}

/* -- details by name -- */

int32_t ckt_find_device(const ckt *cc, const char *name)
{
    ckt *c = (ckt *)(uintptr_t)cc; /* the map is made at the first question */
    if (!c->inst_by_name.n)
        for (size_t i = 0; i < vec_len(c->inst); i++)
            map_set(&c->inst_by_name, map_key(c->inst[i].name), (int32_t)i);
    return map_get(&c->inst_by_name, map_key(ckt_own_name(c, name)), -1);
}

/* CKT_SOURCE_... in this order. The last two say the phasor again: they are in no list of names. */
static const char *const source_detail[] = {"dc", "acmag", "acphase", "i",
                                            "v",  "p",     "acreal",  "acimag"};
static const char *const v_unit[] = {"V", "V", "", "A", "V", "W", "V", "V"};
static const char *const i_unit[] = {"A", "A", "", "A", "V", "W", "A", "A"};
enum { N_LISTED = 6 };

static ckt_lookup find_source_detail(const ckt *c, int32_t source, const char *name, ckt_detail *d)
{
    const bool is_v = c->sources->all[source].is_v;
    if (!is_v && !strcasecmp(name, "current")) /* ngspice's words */
        name = "i";
    if (!is_v && !strcasecmp(name, "c"))
        name = "dc";
    for (size_t k = 0; k < VS_COUNT(source_detail); k++)
        if (!strcasecmp(source_detail[k], name)) {
            const char *unit = is_v ? v_unit[k] : i_unit[k];
            *d = (ckt_detail){CKT_DETAIL_SOURCE, source, (int32_t)k, unit};
            return CKT_FOUND;
        }
    return CKT_NO_DETAIL;
}

/* Words of ngspice for what a model here has under another name. */
static const char *own_word(char letter, const char *name)
{
    static const struct {
        const char *letters, *name, *own; /* letters: NULL: any */
    } word[] = {{NULL, "qd", "charge"}, {NULL, "gmb", "gmbs"}, {NULL, "cgd", "capgd"},
                {"mz", "cd", "id"},     {"z", "cg", "ig"},     {"z", "cs", "is"}};
    for (size_t k = 0; k < VS_COUNT(word); k++)
        if (!strcasecmp(word[k].name, name) &&
            (!word[k].letters || (letter && strchr(word[k].letters, letter))))
            return word[k].own;
    return NULL;
}

static ckt_lookup find_own_param(const va_module *mod, int32_t device, const char *name,
                                 ckt_detail *d)
{
    const int32_t p = va_find_param(mod, name);
    if (p < 0 || mod->param[p].type == VA_STRING)
        return CKT_NO_DETAIL;
    *d = (ckt_detail){CKT_DETAIL_PARAM, device, p, mod->param[p].unit};
    return CKT_FOUND;
}

static ckt_lookup find_own_detail(const ckt *c, int32_t device, const char *name, ckt_detail *d)
{
    const va_module *mod = mdl_module(c->inst[device].model);
    for (size_t k = 0; k < vec_len(mod->opvar); k++)
        if (!strcasecmp(mod->opvar[k].name, name) && mod->opvar[k].type != VA_STRING) {
            *d = (ckt_detail){CKT_DETAIL_OPVAR, device, (int32_t)k, mod->opvar[k].unit};
            return CKT_FOUND;
        }
    if (ckt_asked_find(c, device, name, d))
        return CKT_FOUND;
    return find_own_param(mod, device, name, d);
}

static ckt_lookup find_device_detail(const ckt *c, int32_t device, const char *name, ckt_detail *d)
{
    const ckt_lookup l = find_own_detail(c, device, name, d);
    const char letter = ckt_letter_of(c->inst[device].name);
    const char *own = l == CKT_FOUND ? NULL : own_word(letter, name);
    return own ? find_own_detail(c, device, own, d) : l;
}

static bool osdi_number(const osdi_module *m, int32_t id)
{
    return osdi_param_type(m, id) != OSDI_TYPE_STRING && !osdi_param_is_array(m, id);
}

static ckt_lookup find_osdi_detail(const ckt *c, int32_t device, const char *name, ckt_detail *d)
{
    const osdi_module *m = ckt_osdi_at(c, device).in->module;
    const int32_t id = osdi_param(m, name);
    if (id < 0 || !osdi_number(m, id))
        return CKT_NO_DETAIL;
    *d = (ckt_detail){CKT_DETAIL_OSDI, device, id, m->abi->param[id].unit};
    return CKT_FOUND;
}

ckt_lookup ckt_find_detail(const ckt *c, const char *device, const char *name, ckt_detail *d)
{
    const int32_t i = ckt_find_device(c, device);
    const int32_t o = i < 0 ? nat_osdi_find(&c->nat, ckt_own_name(c, device)) : -1;
    const int32_t s = i < 0 && o < 0 ? ckt_find_source(c, device) : -1;
    ckt_lookup l = i >= 0   ? find_device_detail(c, i, name, d)
                   : o >= 0 ? find_osdi_detail(c, o, name, d)
                   : s >= 0 ? find_source_detail(c, s, name, d)
                            : CKT_NO_DEVICE;
    if (l == CKT_FOUND && !d->unit)
        d->unit = "";
    return l;
}

ckt_lookup ckt_find_param(const ckt *c, const char *device, const char *name, ckt_detail *d)
{
    const int32_t i = ckt_find_device(c, device), s = i < 0 ? ckt_find_source(c, device) : -1;
    if (i >= 0)
        return find_own_param(mdl_module(c->inst[i].model), i, name, d);
    const ckt_lookup l = s >= 0 ? find_source_detail(c, s, name, d) : CKT_NO_DEVICE;
    return l == CKT_FOUND && d->k > CKT_SOURCE_ACPHASE ? CKT_NO_DETAIL : l;
}

const char **ckt_detail_names(const ckt *c, const char *device)
{
    const char **v = NULL;
    const int32_t i = ckt_find_device(c, device),
                  o = i < 0 ? nat_osdi_find(&c->nat, ckt_own_name(c, device)) : -1;
    if (o >= 0) {
        const osdi_module *m = ckt_osdi_at(c, o).in->module;
        for (int32_t k = 0; k < osdi_n_param(m) + osdi_n_opvar(m); k++)
            if (osdi_number(m, k))
                vec_push(v, osdi_param_name(m, k));
        return v;
    }
    if (i < 0) {
        const int32_t s = ckt_find_source(c, device);
        for (size_t k = 0; k < N_LISTED && s >= 0; k++)
            vec_push(v, source_detail[k]);
        if (s >= 0 && !c->sources->all[s].is_v)
            vec_push(v, "current");
        return v;
    }
    const va_module *mod = mdl_module(c->inst[i].model);
    for (size_t k = 0; k < vec_len(mod->opvar); k++)
        if (mod->opvar[k].type != VA_STRING)
            vec_push(v, mod->opvar[k].name);
    ckt_asked_names(c, i, &v);
    for (size_t k = 0; k < vec_len(mod->param); k++)
        if (mod->param[k].type != VA_STRING)
            vec_push(v, mod->param[k].name);
    return v;
}

static double source_value(nat_source *s, const ckt_env *env, const double *x, int32_t k)
{
    const double e = nat_source_value(s, env), v = x[s->p] - x[s->n];
    const double i = s->is_v ? x[s->k] : e;
    switch (k) {
    case CKT_SOURCE_DC: return wave_dc(&s->w);
    case CKT_SOURCE_ACMAG: return s->w.ac_mag;
    case CKT_SOURCE_ACPHASE: return s->w.ac_phase;
    case CKT_SOURCE_I: return i;
    case CKT_SOURCE_V:
        return s->is_v ? v : -v; /* that of a current source: across what it drives */
    case CKT_SOURCE_ACREAL: return s->w.ac_mag * cos(s->w.ac_phase * M_PI / 180);
    case CKT_SOURCE_ACIMAG: return s->w.ac_mag * sin(s->w.ac_phase * M_PI / 180);
    case CKT_SOURCE_P:
    default: return s->m * v * i;
    }
}

vs_status ckt_details(ckt *c, const ckt_env *env, const double *x, const ckt_detail *d, size_t n,
                      double *value)
{
    double *out = NULL;
    mdl_out *what = NULL;
    int32_t have = -1;
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        if (d[i].what == CKT_DETAIL_SOURCE) {
            value[i] = source_value(&c->sources->all[d[i].device], env, x, d[i].k);
            continue;
        }
        if (d[i].what == CKT_DETAIL_OSDI) {
            value[i] = nat_osdi_value(&c->nat, env, x, d[i].device, d[i].k);
            continue;
        }
        if (d[i].what == CKT_DETAIL_ASKED && !ckt_asked_of_outputs(&d[i])) {
            st = ckt_asked_value(c, env, x, &d[i], &value[i]);
            continue;
        }
        const ckt_inst *in = &c->inst[d[i].device];
        if (d[i].what == CKT_DETAIL_PARAM) {
            value[i] = mdl_row_param(in->model, in->row, d[i].k);
            continue;
        }
        const int32_t meter = ckt_asked_meter(c, env->mode == CKT_TRAN, &d[i]);
        if (meter >= 0) {
            value[i] = ckt_asked_by_meter(c, x, &d[i], meter);
            continue;
        }
        if (have != d[i].device)
            st = ckt_device_point(c, env, x, have = d[i].device, -1, 0, &out, &what);
        const ckt_outputs o = {out, what, vec_len(what)};
        value[i] = st ? NAN : ckt_asked_from(c, env, x, &d[i], &o);
    }
    vec_free(out);
    vec_free(what);
    return st;
}
