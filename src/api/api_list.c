/* api_list.c - what a circuit consists of: unknowns, devices, models and their parameters, .params
 * (deck.h). Tables are made when they are first asked for, and again when the circuit is another.
 */
#include <string.h>

#include "api_priv.h"

/* -- tables -- */

static int64_t stamp_of(const vsim_deck *d)
{
    const sim_stat *st = sim_stats(d->sim);
    return st->expanded + st->built; /* each only grows */
}

void api_free_list(api_list *l)
{
    vec_free(l->device);
    vec_free(l->inst);
    vec_free(l->model);
    vec_free(l->param);
    vec_free(l->detail);
    map_free(&l->inst_of);
    arena_fini(&l->mem);
    *l = (api_list){.stamp = -1};
}

/* Made by the expansion for its own use: what measures a current for .probe, shared expressions. */
static bool is_own(const flat_inst *in) { return in->is_row || strstr(in->name, "#probe"); }

static const char *type_of(const vsim_deck *d, const flat_inst *in)
{
    const ckt *c = sim_ckt(d->sim);
    const int32_t k = in->rare->source ? -1 : ckt_find_device(c, in->name);
    if (k >= 0)
        return mdl_module(ckt_device(c, k).model)->name;
    for (int32_t i = 0; i < ckt_n_osdi(c); i++)
        if (ckt_osdi_at(c, i).name == in->name)
            return ckt_osdi_at(c, i).in->module->name;
    const char letter = (char)in->letter;
    return str_intern(&d->s->names, &letter, 1);
}

static void add_device(vsim_deck *d, api_list *l, int32_t i)
{
    const flat *f = sim_flat(d->sim);
    const flat_inst *in = &f->inst[i];
    const char **node = arena_array(&l->mem, const char *, in->n_node);
    for (int32_t k = 0; k < in->n_node; k++)
        node[k] = f->node[in->node[k]];
    vec_push(l->device, (vsim_device){.name = in->name,
                                      .model = in->rare->model ? in->rare->model->name : NULL,
                                      .type = type_of(d, in),
                                      .node = node,
                                      .n_node = (size_t)in->n_node});
    vec_push(l->inst, i);
}

static void add_model(api_list *l, const flat_model *m)
{
    for (size_t i = 0; i < vec_len(l->model); i++)
        if (l->model[i].name == m->name)
            return;
    vec_push(l->model, (vsim_model){m->name, m->type});
}

static void add_param(vsim_deck *d, api_list *l, const char *name)
{
    double value;
    for (size_t i = 0; i < vec_len(l->param); i++)
        if (l->param[i] == name)
            return;
    if (sim_param(d->sim, name, &value)) /* else it stands in an .if that is not taken */
        vec_push(l->param, name);
}

/* .param a=1 b={2*a}: words with '=' behind them; "f(x)=..." is a function. */
static void add_params(vsim_deck *d, api_list *l)
{
    const net_sub *top = sim_deck(d->sim)->top;
    for (size_t i = 0; i < vec_len(top->line); i++) {
        const net_card *c = net_line_param(&top->line[i]);
        for (int32_t k = 1; c && k + 1 < c->n_tok; k++)
            if (c->tok[k].kind == NET_T_WORD && c->tok[k + 1].punct == '=')
                add_param(d, l, c->tok[k].text);
    }
}

vs_status api_need_list(vsim_deck *d)
{
    api_list *l = &d->list;
    const vs_status st = api_circuit(d);
    if (st || l->stamp == stamp_of(d))
        return st;
    const flat *f = sim_flat(d->sim);
    api_free_list(l);
    arena_init(&l->mem);
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        map_set(&l->inst_of, map_key(f->inst[i].name), (int32_t)i);
        if (!is_own(&f->inst[i]))
            add_device(d, l, (int32_t)i);
        if (f->inst[i].rare->model)
            add_model(l, f->inst[i].rare->model);
    }
    add_params(d, l);
    l->stamp = stamp_of(d);
    return VS_OK;
}

/* -- by name -- */

const char *api_intern(vsim_deck *d, const char *name)
{
    return str_intern_lower(&d->s->names, name, strlen(name));
}

static void suggest_device(vsim_deck *d, const char *name)
{
    const char **known = NULL;
    for (size_t i = 0; i < vec_len(d->list.device); i++)
        vec_push(known, d->list.device[i].name);
    diag_suggest(&d->s->d, name, known, vec_len(known));
    vec_free(known);
}

const flat_inst *api_find_device(vsim_deck *d, const char *name)
{
    const char *own = sim_element_name(d->sim, api_intern(d, name));
    const int32_t i = map_get(&d->list.inst_of, map_key(own), -1);
    if (i >= 0)
        return &sim_flat(d->sim)->inst[i];
    diag_error(&d->s->d, DIAG_NOWHERE, "the circuit has no device '%s'", name);
    suggest_device(d, name);
    return NULL;
}

const flat_inst *api_find_model(vsim_deck *d, const char *name)
{
    const flat *f = sim_flat(d->sim);
    const char *own = api_intern(d, name), **known = NULL;
    for (size_t i = 0; i < vec_len(f->inst); i++)
        if (f->inst[i].rare->model && f->inst[i].rare->model->name == own)
            return &f->inst[i];
    diag_error(&d->s->d, DIAG_NOWHERE, "no model '%s' is in use", name);
    for (size_t i = 0; i < vec_len(d->list.model); i++)
        vec_push(known, d->list.model[i].name);
    diag_suggest(&d->s->d, name, known, vec_len(known));
    vec_free(known);
    return NULL;
}

/* -- counts and items -- */

typedef enum subject {
    UNKNOWNS,
    DEVICES,
    MODELS,
    PARAMS,
    DEVICE_PARAMETERS,
    MODEL_PARAMETERS
} subject;
typedef struct question {
    vsim_deck *d;
    subject what;
    const char *name;
    size_t i;
    void *out;
} question;

static vs_status out_of_range(const question *q, size_t first, size_t n)
{
    diag_error(&q->d->s->d, DIAG_NOWHERE, "there is no number %zu: they go from %zu to %zu", q->i,
               first, first + n - 1);
    return VS_EINPUT;
}

static void add_detail(api_list *l, const char *name, const char *unit, const char *text,
                       bool computed)
{
    vec_push(l->detail, (vsim_parameter){name, unit ? unit : "", text ? text : "", computed});
}

static void list_source(const ckt *c, api_list *l, const flat_inst *in)
{
    static const char *const set[] = {"dc", "acmag", "acphase"};
    static const char *const text[] = {"Value in static analyses", "Amplitude in ac analyses",
                                       "Phase in ac analyses, degrees"};
    static const char *const computed[] = {"i", "v", "p"};
    static const char *const about[] = {"Current through it", "Voltage across it",
                                        "Power that it takes up"};
    ckt_detail d;
    for (size_t k = 0; k < VS_COUNT(set); k++)
        if (ckt_find_detail(c, in->name, set[k], &d) == CKT_FOUND)
            add_detail(l, set[k], d.unit, text[k], false);
    for (size_t k = 0; k < VS_COUNT(computed); k++)
        if (ckt_find_detail(c, in->name, computed[k], &d) == CKT_FOUND)
            add_detail(l, computed[k], d.unit, about[k], true);
}

static void list_module(api_list *l, const va_module *mod, bool computed)
{
    for (size_t i = 0; i < vec_len(mod->param); i++)
        if (!mod->param[i].local && mod->param[i].type != VA_STRING)
            add_detail(l, mod->param[i].name, mod->param[i].unit, mod->param[i].desc, false);
    for (size_t i = 0; computed && i < vec_len(mod->opvar); i++)
        if (mod->opvar[i].type != VA_STRING)
            add_detail(l, mod->opvar[i].name, mod->opvar[i].unit, mod->opvar[i].desc, true);
}

/* Of an OSDI library, or of a line and the like: what its card gives. */
static void list_other(const ckt *c, api_list *l, const flat_inst *in)
{
    const char **name = ckt_detail_names(c, in->name);
    ckt_detail d;
    for (size_t i = 0; i < vec_len(name); i++)
        if (ckt_find_detail(c, in->name, name[i], &d) == CKT_FOUND)
            add_detail(l, name[i], d.unit, "",
                       d.k >= (int32_t)osdi_n_param(ckt_osdi_at(c, d.device).in->module));
    flat_room room;
    const flat_param *given = flat_params(in, &room);
    for (size_t i = 0; !name && i < vec_len(given); i++)
        add_detail(l, given[i].name, "", "", false);
    vec_free(name);
}

static vs_status list_details(const question *q)
{
    vsim_deck *d = q->d;
    api_list *l = &d->list;
    const bool model = q->what == MODEL_PARAMETERS;
    const flat_inst *in = model ? api_find_model(d, q->name) : api_find_device(d, q->name);
    if (!in)
        return VS_EINPUT;
    const ckt *c = sim_ckt(d->sim);
    const int32_t k = in->rare->source ? -1 : ckt_find_device(c, in->name);
    const char *owner = model ? in->rare->model->name : in->name;
    if (l->detail_of == owner && l->detail_of_model == model)
        return VS_OK;
    vec_clear(l->detail);
    l->detail_of = owner;
    l->detail_of_model = model;
    if (in->rare->source)
        list_source(c, l, in);
    else if (k >= 0)
        list_module(l, mdl_module(ckt_device(c, k).model), !model);
    else
        list_other(c, l, in);
    return VS_OK;
}

static vs_status do_count(void *arg)
{
    const question *q = arg;
    const api_list *l = &q->d->list;
    vs_status st = api_need_list(q->d);
    if (!st && (q->what == DEVICE_PARAMETERS || q->what == MODEL_PARAMETERS))
        st = list_details(q);
    if (st)
        return st;
    size_t n = 0;
    switch (q->what) {
    case UNKNOWNS: n = (size_t)ckt_n(sim_ckt(q->d->sim)); break;
    case DEVICES: n = vec_len(l->device); break;
    case MODELS: n = vec_len(l->model); break;
    case PARAMS: n = vec_len(l->param); break;
    case DEVICE_PARAMETERS:
    case MODEL_PARAMETERS: n = vec_len(l->detail); break;
    }
    *(size_t *)q->out = n;
    return VS_OK;
}

static void give_unknown(const question *q)
{
    static const char *const unit[] = {[CKT_VOLTAGE] = "V", [CKT_CURRENT] = "A", [CKT_OTHER] = ""};
    const ckt_unknown *u = &ckt_unknowns(sim_ckt(q->d->sim))[q->i];
    *(vsim_unknown *)q->out = (vsim_unknown){u->name, unit[u->kind], u->node, u->internal};
}

static vs_status do_item(void *arg)
{
    question *q = arg;
    const api_list *l = &q->d->list;
    size_t n = 0;
    const size_t first = q->what == UNKNOWNS;
    question count = *q;
    count.out = &n;
    const vs_status st = do_count(&count);
    if (st)
        return st;
    if (q->i < first || q->i >= first + n)
        return out_of_range(q, first, n);
    switch (q->what) {
    case UNKNOWNS: give_unknown(q); break;
    case DEVICES: *(vsim_device *)q->out = l->device[q->i]; break;
    case MODELS: *(vsim_model *)q->out = l->model[q->i]; break;
    case PARAMS: *(const char **)q->out = l->param[q->i]; break;
    case DEVICE_PARAMETERS:
    case MODEL_PARAMETERS: *(vsim_parameter *)q->out = l->detail[q->i]; break;
    }
    return VS_OK;
}

static vsim_status count(vsim_deck *d, subject what, const char *name, size_t *n)
{
    question q = {.d = d, .what = what, .name = name, .out = n};
    return api_enter(d->s, do_count, &q);
}

static vsim_status item(vsim_deck *d, subject what, const char *name, size_t i, void *out)
{
    question q = {.d = d, .what = what, .name = name, .i = i, .out = out};
    return api_enter(d->s, do_item, &q);
}

vsim_status vsim_unknown_count(vsim_deck *d, size_t *n) { return count(d, UNKNOWNS, NULL, n); }
vsim_status vsim_device_count(vsim_deck *d, size_t *n) { return count(d, DEVICES, NULL, n); }
vsim_status vsim_model_count(vsim_deck *d, size_t *n) { return count(d, MODELS, NULL, n); }
vsim_status vsim_param_count(vsim_deck *d, size_t *n) { return count(d, PARAMS, NULL, n); }

vsim_status vsim_device_parameter_count(vsim_deck *d, const char *device, size_t *n)
{
    return count(d, DEVICE_PARAMETERS, device, n);
}

vsim_status vsim_model_parameter_count(vsim_deck *d, const char *model, size_t *n)
{
    return count(d, MODEL_PARAMETERS, model, n);
}

vsim_status vsim_unknown_at(vsim_deck *d, size_t i, vsim_unknown *u)
{
    return item(d, UNKNOWNS, NULL, i, u);
}

vsim_status vsim_device_at(vsim_deck *d, size_t i, vsim_device *dev)
{
    return item(d, DEVICES, NULL, i, dev);
}

vsim_status vsim_model_at(vsim_deck *d, size_t i, vsim_model *m)
{
    return item(d, MODELS, NULL, i, m);
}

vsim_status vsim_param_at(vsim_deck *d, size_t i, const char **name)
{
    return item(d, PARAMS, NULL, i, name);
}

vsim_status vsim_device_parameter_at(vsim_deck *d, const char *device, size_t i, vsim_parameter *p)
{
    return item(d, DEVICE_PARAMETERS, device, i, p);
}

vsim_status vsim_model_parameter_at(vsim_deck *d, const char *model, size_t i, vsim_parameter *p)
{
    return item(d, MODEL_PARAMETERS, model, i, p);
}

static vs_status do_find(void *arg)
{
    const question *q = arg;
    vsim_deck *d = q->d;
    vs_status st = api_circuit(d);
    if (st)
        return st;
    const ckt *c = sim_ckt(d->sim);
    const char *name = api_intern(d, q->name);
    const bool ground = !strcmp(name, "0") || !strcmp(name, "gnd");
    const int32_t i = ground ? 0 : ckt_find(c, name);
    if (i >= 0) {
        *(size_t *)q->out = (size_t)i;
        return VS_OK;
    }
    const char **known = NULL;
    for (int32_t k = 1; k <= ckt_n(c); k++)
        vec_push(known, ckt_unknowns(c)[k].name);
    diag_error(&d->s->d, DIAG_NOWHERE, "the circuit has no unknown '%s'", q->name);
    diag_suggest(&d->s->d, name, known, vec_len(known));
    vec_free(known);
    return VS_EINPUT;
}

vsim_status vsim_unknown_find(vsim_deck *d, const char *name, size_t *i)
{
    question q = {.d = d, .name = name, .out = i};
    return api_enter(d->s, do_find, &q);
}
