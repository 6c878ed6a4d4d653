/* api_value.c - values of a deck that are read and changed (deck.h). A change is put down; the next
 * circuit is built with it, or, if that fails, takes back all that were put down since the last. */
#include <math.h>
#include <string.h>

#include "api_priv.h"

/* -- changes -- */

bool api_begin_change(vsim_deck *d, const char *what, double value)
{
    if (!api_may_change(d->s, what))
        return false;
    if (!isfinite(value)) {
        diag_error(&d->s->d, DIAG_NOWHERE, "%s: the value is not a finite number", what);
        return false;
    }
    if (!d->saved)
        d->saved = sim_save(d->sim);
    d->beside = true;
    return true;
}

/* An element's or a model card's value, set as `alter` and `altermod` set it. */
static vs_status put_down(vsim_deck *d, const char *what, sim_change c)
{
    if (!api_begin_change(d, what, c.n == 1 ? *c.value : 0))
        return VS_EINPUT;
    c.span = DIAG_NOWHERE;
    sim_alter(d->sim, &c);
    return VS_OK;
}

static vs_status unknown_name(vsim_deck *d, const char *owner, const char *name,
                              const char *const *known, size_t n)
{
    diag_error(&d->s->d, DIAG_NOWHERE, "%s has no parameter '%s'", owner, name);
    diag_suggest(&d->s->d, name, known, n);
    return VS_EINPUT;
}

/* -- parameters of the deck -- */

static vs_status do_get_param(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    if (sim_param(d->sim, api_intern(d, a->name), a->out))
        return VS_OK;
    const vs_status st = api_need_list(d); /* for a suggestion */
    return st ? st : unknown_name(d, "the deck", a->name, d->list.param, vec_len(d->list.param));
}

static vs_status do_set_param(void *arg)
{
    double old;
    api_args a = *(const api_args *)arg;
    a.out = &old;
    const vs_status st = do_get_param(&a);
    if (st)
        return st;
    if (!api_begin_change(a.d, "vsim_set_param", a.value))
        return VS_EINPUT;
    sim_set_param(a.d->sim, api_intern(a.d, a.name), a.value);
    return VS_OK;
}

vsim_status vsim_get_param(vsim_deck *d, const char *name, double *value)
{
    api_args a = {.d = d, .name = name, .out = value};
    return api_enter(d->s, do_get_param, &a);
}

vsim_status vsim_set_param(vsim_deck *d, const char *name, double value)
{
    api_args a = {.d = d, .name = name, .value = value};
    return api_enter(d->s, do_set_param, &a);
}

/* -- devices -- */

/* What "" stands for. */
static const char *main_value(const flat_inst *in)
{
    static const struct {
        const char *letters, *param;
    } known[] = {{"r", "r"}, {"c", "c"}, {"l", "l"}, {"efgh", "gain"}, {"vi", "dc"}};
    for (size_t i = 0; i < VS_COUNT(known); i++)
        if (strchr(known[i].letters, in->letter))
            return known[i].param;
    return "";
}

static const char *parameter_of(vsim_deck *d, const flat_inst *in, const char *name)
{
    const char *own = api_intern(d, name);
    if (in->letter == 'v' || in->letter == 'i')
        return !*own ? "dc" : !strcmp(own, "ac") ? "acmag" : own;
    return !*own || (!strcmp(own, "value") && *main_value(in)) ? main_value(in) : own;
}

static vs_status no_parameter(vsim_deck *d, const flat_inst *in, const char *name)
{
    const char **known = ckt_detail_names(sim_ckt(d->sim), in->name);
    const vs_status st = unknown_name(d, arena_printf(&d->s->d.mem, "device '%s'", in->name), name,
                                      known, vec_len(known));
    vec_free(known);
    return st;
}

static const flat_param *given_in(const flat_param *list, const char *name)
{
    for (size_t i = vec_len(list); i-- > 0;)
        if (!str_casecmp(list[i].name, name))
            return &list[i];
    return NULL;
}

/* Values at the operating point, or at the point of the run that is under way. */
static vs_status get_detail(vsim_deck *d, const flat_inst *in, const ckt_detail *detail,
                            double *value)
{
    const vsim_run *r = d->active;
    const bool at_time = r && r->a.kind == FLAT_TRAN && r->x;
    if (sim_detail_value(d->sim, detail, at_time ? r->axis : 0, at_time ? r->x : NULL, value))
        return VS_OK;
    diag_error(&d->s->d, DIAG_NOWHERE,
               "values of '%s' are computed at an operating point, and there is none of the "
               "present circuit: run op first",
               in->name);
    return VS_EINPUT;
}

static vs_status do_get_device(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    double *value = a->out;
    const vs_status st = api_need_list(d);
    const flat_inst *in = st ? NULL : api_find_device(d, a->name);
    if (!in)
        return st ? st : VS_EINPUT;
    const char *name = parameter_of(d, in, a->part);
    ckt *c = sim_ckt(d->sim);
    ckt_detail detail;
    flat_room room;
    if (!in->rare->source && !strcmp(name, "m")) {
        *value = in->m;
        return VS_OK;
    }
    const ckt_lookup found = ckt_find_detail(c, in->name, name, &detail);
    const flat_param *given = found == CKT_FOUND ? NULL : given_in(flat_params(in, &room), name);
    if (given && !given->str) {
        *value = given->value;
        return VS_OK;
    }
    if (found != CKT_FOUND)
        return no_parameter(d, in, a->part);
    if (detail.what == CKT_DETAIL_PARAM) {
        const ckt_device_facts f = ckt_device(c, detail.device);
        *value = mdl_row_param(f.model, f.row, detail.k);
        return VS_OK;
    }
    if (detail.what == CKT_DETAIL_SOURCE && detail.k < 3) { /* dc, acmag, acphase */
        const ckt_source_facts f = ckt_source_at(c, detail.device);
        *value = detail.k == 0 ? f.dc : detail.k == 1 ? f.ac_mag : f.ac_phase;
        return VS_OK;
    }
    return get_detail(d, in, &detail, value);
}

/* VS_OK: a card may give it. */
static vs_status check_settable(vsim_deck *d, const flat_inst *in, const char *name,
                                const char *as_written)
{
    const ckt *c = sim_ckt(d->sim);
    const int32_t k = in->rare->source ? -1 : ckt_find_device(c, in->name);
    ckt_detail detail;
    flat_room room;
    if (!in->rare->source && (!strcmp(name, "m") || given_in(flat_params(in, &room), name)))
        return VS_OK;
    if (k >= 0 && mdl_find_param(ckt_device(c, k).model, name) >= 0)
        return VS_OK;
    if (ckt_find_detail(c, in->name, name, &detail) != CKT_FOUND)
        return no_parameter(d, in, as_written);
    if (detail.what == CKT_DETAIL_OSDI &&
        detail.k < (int32_t)osdi_n_param(ckt_osdi_at(c, detail.device).in->module))
        return VS_OK;
    if (detail.what == CKT_DETAIL_SOURCE && detail.k < 3)
        return VS_OK;
    diag_error(&d->s->d, DIAG_NOWHERE, "'%s' of '%s' is computed and cannot be set", as_written,
               in->name);
    return VS_EINPUT;
}

static vs_status do_set_device(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    vs_status st = api_need_list(d);
    const flat_inst *in = st ? NULL : api_find_device(d, a->name);
    if (!in)
        return st ? st : VS_EINPUT;
    const char *name = parameter_of(d, in, a->part);
    st = check_settable(d, in, name, a->part);
    if (st)
        return st;
    if (!strcmp(name, main_value(in)))
        name = "";
    return put_down(
        d, "vsim_set_device",
        (sim_change){.name = in->name, .param = api_intern(d, name), .value = &a->value, .n = 1});
}

vsim_status vsim_get_device(vsim_deck *d, const char *device, const char *param, double *value)
{
    api_args a = {.d = d, .name = device, .part = param, .out = value};
    return api_enter(d->s, do_get_device, &a);
}

vsim_status vsim_set_device(vsim_deck *d, const char *device, const char *param, double value)
{
    api_args a = {.d = d, .name = device, .part = param, .value = value};
    return api_enter(d->s, do_set_device, &a);
}

static vs_status check_wave(vsim_deck *d, const flat_inst *in, const char *form, const double *arg,
                            size_t n)
{
    static const char *const known[] = {"pulse", "sin", "exp",     "pwl",
                                        "sffm",  "am",  "trnoise", "trrandom"};
    size_t k = 0;
    while (k < VS_COUNT(known) && strcmp(known[k], form))
        k++;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(arg[i])) {
            diag_error(&d->s->d, DIAG_NOWHERE, "vsim_set_wave: argument %zu is not finite", i + 1);
            return VS_EINPUT;
        }
    if (in->rare->source && k < VS_COUNT(known) && n > 0 && n <= INT32_MAX)
        return VS_OK;
    if (!in->rare->source) {
        diag_error(&d->s->d, DIAG_NOWHERE, "'%s' is no V or I source", in->name);
    } else if (k == VS_COUNT(known)) {
        diag_error(&d->s->d, DIAG_NOWHERE, "'%s' is no waveform", form);
        diag_suggest(&d->s->d, form, known, VS_COUNT(known));
    } else {
        diag_error(&d->s->d, DIAG_NOWHERE, "the waveform has no arguments");
    }
    return VS_EINPUT;
}

static vs_status do_set_wave(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    vs_status st = api_need_list(d);
    const flat_inst *in = st ? NULL : api_find_device(d, a->name);
    if (!in)
        return st ? st : VS_EINPUT;
    const char *form = api_intern(d, a->part);
    st = check_wave(d, in, form, a->in, a->i);
    if (st)
        return st;
    return put_down(
        d, "vsim_set_wave",
        (sim_change){.name = in->name, .param = form, .value = a->in, .n = (int32_t)a->i});
}

vsim_status vsim_set_wave(vsim_deck *d, const char *source, const char *form, const double *arg,
                          size_t n)
{
    api_args a = {.d = d, .name = source, .part = form, .in = arg, .i = n};
    return api_enter(d->s, do_set_wave, &a);
}

/* -- model cards -- */

typedef struct model_value {
    const flat_inst *in; /* one with this model */
    mdl_model *m;        /* NULL: of an OSDI library */
    int32_t row, param;
} model_value;

static vs_status find_model_value(const api_args *a, model_value *v)
{
    vsim_deck *d = a->d;
    const vs_status st = api_need_list(d);
    *v = (model_value){.in = st ? NULL : api_find_model(d, a->name), .param = -1};
    if (!v->in)
        return st ? st : VS_EINPUT;
    const ckt *c = sim_ckt(d->sim);
    const int32_t k = ckt_find_device(c, v->in->name);
    const char *name = api_intern(d, a->part), **known;
    ckt_detail detail;
    if (k >= 0) {
        const ckt_device_facts f = ckt_device(c, k);
        v->m = f.model;
        v->row = f.row;
        v->param = mdl_find_param(f.model, name);
    } else if (ckt_find_detail(c, v->in->name, name, &detail) == CKT_FOUND) {
        v->param = detail.k;
    }
    if (v->param >= 0)
        return VS_OK;
    known = ckt_detail_names(c, v->in->name);
    const vs_status wrong =
        unknown_name(d, arena_printf(&d->s->d.mem, "model '%s'", v->in->rare->model->name), a->part,
                     known, vec_len(known));
    vec_free(known);
    return wrong;
}

/* What the card says, by any of the parameter's names; else what the device has from it. */
static vs_status do_get_model(void *arg)
{
    const api_args *a = arg;
    model_value v;
    const vs_status st = find_model_value(a, &v);
    if (st)
        return st;
    const flat_param *p = v.in->rare->model->param;
    double *value = a->out;
    for (size_t i = vec_len(p); i-- > 0;)
        if (!p[i].str &&
            (v.m ? mdl_find_param(v.m, p[i].name) == v.param : !str_casecmp(p[i].name, a->part))) {
            *value = p[i].value;
            return VS_OK;
        }
    if (v.m) {
        *value = mdl_row_param(v.m, v.row, v.param);
        return VS_OK;
    }
    diag_error(&a->d->s->d, DIAG_NOWHERE, "the card of model '%s' does not give '%s'", a->name,
               a->part);
    return VS_EINPUT;
}

static vs_status do_set_model(void *arg)
{
    const api_args *a = arg;
    model_value v;
    const vs_status st = find_model_value(a, &v);
    if (st)
        return st;
    return put_down(a->d, "vsim_set_model",
                    (sim_change){.name = v.in->rare->model->name,
                                 .model = true,
                                 .param = api_intern(a->d, a->part),
                                 .value = &a->value,
                                 .n = 1});
}

vsim_status vsim_get_model(vsim_deck *d, const char *model, const char *param, double *value)
{
    api_args a = {.d = d, .name = model, .part = param, .out = value};
    return api_enter(d->s, do_get_model, &a);
}

vsim_status vsim_set_model(vsim_deck *d, const char *model, const char *param, double value)
{
    api_args a = {.d = d, .name = model, .part = param, .value = value};
    return api_enter(d->s, do_set_model, &a);
}

/* -- temperature, options, sample -- */

double vsim_get_temp(const vsim_deck *d) { return sim_temp(d->sim); }

static vs_status do_set_temp(void *arg)
{
    const api_args *a = arg;
    if (!api_begin_change(a->d, "vsim_set_temp", a->value))
        return VS_EINPUT;
    return sim_set_temp(a->d->sim, a->value, DIAG_NOWHERE);
}

vsim_status vsim_set_temp(vsim_deck *d, double celsius)
{
    api_args a = {.d = d, .value = celsius};
    return api_enter(d->s, do_set_temp, &a);
}

static vs_status do_set_options(void *arg)
{
    const api_args *a = arg;
    vsim *s = a->d->s;
    if (!api_begin_change(a->d, "vsim_set_options", 0))
        return VS_EINPUT;
    s->own_file = vec_len(s->d.file) + 1;
    const int n_error = s->d.n_error;
    const vs_status st = sim_set_option(a->d->sim, a->name, DIAG_NOWHERE);
    return !st && s->d.n_error > n_error ? VS_EINPUT : st;
}

vsim_status vsim_set_options(vsim_deck *d, const char *text)
{
    api_args a = {.d = d, .name = text};
    return api_enter(d->s, do_set_options, &a);
}

static vs_status do_get_option(void *arg)
{
    const api_args *a = arg;
    option_id id;
    const char *const *known;
    if (option_find(api_intern(a->d, a->name), &id) == OPTION_SET) {
        *(double *)a->out = option_number(sim_option(a->d->sim), id);
        return VS_OK;
    }
    diag_error(&a->d->s->d, DIAG_NOWHERE, "there is no option '%s' with a number", a->name);
    const size_t n = option_names(&known);
    diag_suggest(&a->d->s->d, a->name, known, n);
    return VS_EINPUT;
}

vsim_status vsim_get_option(vsim_deck *d, const char *name, double *value)
{
    api_args a = {.d = d, .name = name, .out = value};
    return api_enter(d->s, do_get_option, &a);
}

typedef struct sample {
    vsim_deck *d;
    uint64_t seed;
    int64_t sample;
} sample;

static vs_status do_set_sample(void *arg)
{
    const sample *a = arg;
    if (!api_begin_change(a->d, "vsim_set_sample", 0))
        return VS_EINPUT;
    if (a->sample < 0) {
        diag_error(&a->d->s->d, DIAG_NOWHERE, "samples are counted from 0");
        return VS_EINPUT;
    }
    sim_set_sample(a->d->sim, a->seed, a->sample);
    return VS_OK;
}

vsim_status vsim_set_sample(vsim_deck *d, uint64_t seed, int64_t number)
{
    sample a = {d, seed, number};
    return api_enter(d->s, do_set_sample, &a);
}

static vs_status do_reset(void *arg)
{
    vsim_deck *d = ((const api_args *)arg)->d;
    if (!api_begin_change(d, "vsim_reset", 0))
        return VS_EINPUT;
    const vs_status st = sim_use_read_deck(d->sim);
    sim_reset(d->sim, d->define, vec_len(d->define));
    return st;
}

vsim_status vsim_reset(vsim_deck *d)
{
    api_args a = {.d = d};
    return api_enter(d->s, do_reset, &a);
}
