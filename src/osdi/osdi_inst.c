/* osdi_inst.c - models and instances of OSDI modules, and their evaluation. */
#include "osdi_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The lists of $simparam: values that are fixed in a run, and those of this load. */
static osdi_abi_simparam simparam_lists(osdi_lib *lib, const double *fixed, const osdi_dyn *dyn)
{
    memcpy(lib->sim_value, fixed, IR_N_SIMPARAM * sizeof *fixed);
    lib->sim_value[IR_N_SIMPARAM] = dyn ? dyn->gmin : 1e-12;
    lib->sim_value[IR_N_SIMPARAM + 1] = dyn ? dyn->srcfact : 1;
    lib->sim_value[IR_N_SIMPARAM + 2] = dyn ? dyn->iteration : 0;
    return (osdi_abi_simparam){lib->sim_name, lib->sim_value, lib->sim_none, lib->sim_none};
}

static bool put(const osdi_module *m, void *inst, void *model, const osdi_set *s,
                const osdi_env *env)
{
    const osdi_abi_param *p = &m->abi->param[s->id];
    const uint32_t flags = OSDI_ACCESS_SET | (inst ? (uint32_t)OSDI_ACCESS_INST : 0);
    void *at = m->abi->access(inst, model, (uint32_t)s->id, flags);
    if (!at) {
        diag_error(env->d, s->span, "%s: parameter '%s' of module '%s' cannot be set here",
                   env->who, p->name[0], m->name);
        return false;
    }
    switch (p->flags & OSDI_TYPE_MASK) {
    case OSDI_TYPE_REAL: *(double *)at = s->value; break;
    case OSDI_TYPE_INT: *(int32_t *)at = (int32_t)s->value; break;
    default: *(char **)at = arena_strndup(&m->lib->mem, s->str, strlen(s->str)); break;
    }
    return true;
}

/* Gives the errors that a setup function found as messages, and frees their list. */
static vs_status report(const osdi_module *m, osdi_abi_init *res, const osdi_set *set, size_t n,
                        const osdi_env *env)
{
    const uint32_t n_error = res->n_error;
    for (uint32_t i = 0; i < n_error && res->error; i++) {
        const uint32_t id = res->error[i].param;
        diag_span at = env->at;
        const osdi_set *given = NULL;
        for (size_t k = 0; k < n; k++)
            if ((uint32_t)set[k].id == id)
                given = &set[k];
        if (given && given->span.file >= 0)
            at = given->span;
        if (res->error[i].code != OSDI_INIT_OUT_OF_BOUNDS || id >= m->abi->n_param)
            diag_error(env->d, at, "%s: module '%s' refuses its parameters (code %u)", env->who,
                       m->name, res->error[i].code);
        else if (given)
            diag_error(env->d, at, "%s: parameter '%s' of module '%s' is out of its range: %g",
                       env->who, m->abi->param[id].name[0], m->name, given->value);
        else
            diag_error(env->d, at, "%s: parameter '%s' of module '%s' is out of its range",
                       env->who, m->abi->param[id].name[0], m->name);
    }
    free(res->error);
    return n_error ? VS_EINPUT : VS_OK;
}

/* -- models -- */

static bool same_set(const osdi_set *a, size_t na, const osdi_set *b, size_t nb)
{
    if (na != nb)
        return false;
    for (size_t i = 0; i < na; i++) {
        const bool text = a[i].str || b[i].str;
        if (a[i].id != b[i].id ||
            (text && (!a[i].str || !b[i].str || strcmp(a[i].str, b[i].str) != 0)) ||
            (!text && memcmp(&a[i].value, &b[i].value, sizeof a[i].value) != 0))
            return false;
    }
    return true;
}

static osdi_model *find_model(osdi_own *o, const osdi_set *set, size_t n, const double *simparam)
{
    for (size_t i = vec_len(o->model); i-- > 0;) {
        osdi_model *m = o->model[i];
        if (same_set(m->set, vec_len(m->set), set, n) &&
            !memcmp(m->simparam, simparam, sizeof m->simparam))
            return m;
    }
    return NULL;
}

vs_status osdi_model_get(osdi_model **model, const osdi_module *m, const osdi_set *set, size_t n,
                         const osdi_env *env)
{
    osdi_own *o = (osdi_own *)(uintptr_t)m;
    *model = find_model(o, set, n, env->simparam);
    if (*model)
        return VS_OK;
    osdi_model *k = vs_calloc(1, sizeof *k);
    k->own = o;
    k->data = vs_calloc(1, m->abi->model_size + 1);
    k->handle = (osdi_handle){m->lib, env->who, env->d, env->at};
    memcpy(k->simparam, env->simparam, sizeof k->simparam);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        ok &= put(m, NULL, k->data, &set[i], env);
        vec_push(k->set, set[i]);
        if (set[i].str)
            vec_last(k->set).str = arena_strndup(&m->lib->mem, set[i].str, strlen(set[i].str));
    }
    osdi_abi_simparam sim = simparam_lists(m->lib, env->simparam, NULL);
    osdi_abi_init res = {0};
    const int errors = env->d->n_error;
    if (ok)
        m->abi->setup_model(&k->handle, k->data, &sim, &res);
    if (!ok || report(m, &res, set, n, env) != VS_OK || env->d->n_error > errors) {
        vs_free(k->data);
        vec_free(k->set);
        vs_free(k);
        return VS_EINPUT;
    }
    k->handle.d = NULL;
    k->handle.who = arena_strndup(&m->lib->mem, env->who, strlen(env->who));
    vec_push(o->model, k);
    *model = k;
    return VS_OK;
}

/* -- instances -- */

static int32_t root(const int32_t *of, int32_t i)
{
    while (i >= 0 && of[i] != i)
        i = of[i];
    return i;
}

/* Joins two nodes that the model collapses. It does not join two terminals, or a terminal and the
 * reference: only the circuit may. */
static void collapse(osdi_inst *in)
{
    const osdi_abi_descriptor *d = in->module->abi;
    const bool *done = (const bool *)((char *)in->data + d->collapsed_off);
    for (int32_t i = 0; i < in->module->n_node; i++)
        in->one_with[i] = i;
    for (uint32_t k = 0; k < d->n_collapsible; k++) {
        if (!done[k] || d->collapsible[k].a >= d->n_node)
            continue;
        int32_t a = root(in->one_with, (int32_t)d->collapsible[k].a);
        int32_t b =
            d->collapsible[k].b < d->n_node ? root(in->one_with, (int32_t)d->collapsible[k].b) : -1;
        if (a == b)
            continue;
        if (a >= 0 && a < in->n_terminal) { /* the terminal remains */
            const int32_t t = a;
            a = b;
            b = t;
        }
        if (a >= in->n_terminal)
            in->one_with[a] = b;
    }
    for (int32_t i = 0; i < in->module->n_node; i++)
        in->one_with[i] = root(in->one_with, i);
}

static void wire(osdi_inst *in)
{
    const osdi_abi_descriptor *d = in->module->abi;
    osdi_own *o = in->model->own;
    char *data = in->data;
    uint32_t *map_to = (uint32_t *)(void *)(data + d->node_map_off);
    double **jac = (double **)(void *)(data + d->jac_ptr_off);
    uint32_t *state = (uint32_t *)(void *)(data + d->state_off);
    for (uint32_t i = 0; i < d->n_node; i++)
        map_to[i] = i;
    for (uint32_t k = 0; k < d->n_jacobian; k++) {
        jac[k] = &o->g[k];
        if (d->jacobian[k].react_ptr_off != UINT32_MAX)
            *(double **)(void *)(data + d->jacobian[k].react_ptr_off) = &o->c[k];
    }
    for (uint32_t s = 0; s < d->n_state; s++)
        state[s] = s;
}

vs_status osdi_inst_new(osdi_inst **inst, osdi_model *model, const osdi_set *set, size_t n,
                        int32_t n_terminal, double mfactor, const osdi_env *env)
{
    const osdi_module *m = &model->own->pub;
    osdi_lib *lib = m->lib;
    osdi_inst_own *own = vs_calloc(1, sizeof *own);
    own->pub = (osdi_inst){.module = m, .model = model, .n_terminal = n_terminal};
    own->pub.data = vs_calloc(1, m->abi->inst_size + 1);
    own->pub.one_with = vs_calloc((size_t)m->n_node + 1, sizeof(int32_t));
    own->pub.name = arena_strndup(&lib->mem, env->who, strlen(env->who));
    own->handle = (osdi_handle){lib, own->pub.name, env->d, env->at};
    vec_push(lib->inst, own);
    bool ok = true;
    if (m->mfactor >= 0) {
        const osdi_set mf = {m->mfactor, mfactor, NULL, env->at};
        ok = put(m, own->pub.data, model->data, &mf, env);
    }
    for (size_t i = 0; i < n; i++)
        ok &= put(m, own->pub.data, model->data, &set[i], env);
    if (!ok)
        return VS_EINPUT;
    osdi_abi_simparam sim = simparam_lists(lib, env->simparam, NULL);
    osdi_abi_init res = {0};
    const int errors = env->d->n_error;
    m->abi->setup_inst(&own->handle, own->pub.data, model->data, env->kelvin, (uint32_t)n_terminal,
                       &sim, &res);
    if (report(m, &res, set, n, env) != VS_OK || env->d->n_error > errors)
        return VS_EINPUT;
    own->handle.d = NULL;
    collapse(&own->pub);
    wire(&own->pub);
    *inst = &own->pub;
    return VS_OK;
}

/* -- evaluation -- */

void osdi_begin(osdi_lib *lib, const double *simparam, const osdi_dyn *dyn)
{
    (void)simparam_lists(lib, simparam, dyn);
}

void osdi_eval(osdi_inst *in, const osdi_dyn *dyn, double *x, double *old_state, double *new_state)
{
    osdi_lib *lib = in->module->lib;
    osdi_inst_own *own = (osdi_inst_own *)in;
    osdi_abi_info info = {.simparam = {lib->sim_name, lib->sim_value, lib->sim_none, lib->sim_none},
                          .abstime = dyn->time,
                          .prev_solve = x,
                          .prev_state = old_state,
                          .next_state = new_state,
                          .flags = dyn->flags};
    in->ret = in->module->abi->eval(&own->handle, in->data, in->model->data, &info);
}

static void with_limit(osdi_inst *in, double *to, void (*load)(void *, void *, double *),
                       void (*limit)(void *, void *, double *))
{
    load(in->data, in->model->data, to);
    if (!(in->ret & OSDI_RET_LIM))
        return;
    double *work = in->model->own->work;
    const size_t n = (size_t)in->module->n_node;
    memset(work, 0, n * sizeof *work);
    limit(in->data, in->model->data, work);
    for (size_t i = 0; i < n; i++)
        to[i] -= work[i];
}

void osdi_residual(osdi_inst *in, double *r)
{
    with_limit(in, r, in->module->abi->load_residual_resist, in->module->abi->load_limit_resist);
}

void osdi_charge(osdi_inst *in, double *q)
{
    with_limit(in, q, in->module->abi->load_residual_react, in->module->abi->load_limit_react);
}

static double *cleared(double *v, uint32_t n)
{
    memset(v, 0, n * sizeof *v);
    return v;
}

const double *osdi_jacobian_g(osdi_inst *in)
{
    const double *g = cleared(in->model->own->g, in->module->abi->n_jacobian);
    in->module->abi->load_jacobian_resist(in->data, in->model->data);
    return g;
}

const double *osdi_jacobian_tran(osdi_inst *in, double alpha)
{
    const double *g = cleared(in->model->own->g, in->module->abi->n_jacobian);
    in->module->abi->load_jacobian_tran(in->data, in->model->data, alpha);
    return g;
}

const double *osdi_jacobian_c(osdi_inst *in)
{
    const double *c = cleared(in->model->own->c, in->module->abi->n_jacobian);
    in->module->abi->load_jacobian_react(in->data, in->model->data, 1);
    return c;
}

void osdi_noise(osdi_inst *in, double freq, double *density)
{
    memset(density, 0, in->module->abi->n_noise * sizeof *density);
    if (in->module->abi->n_noise)
        in->module->abi->load_noise(in->data, in->model->data, freq, density);
}

double osdi_value(const osdi_inst *in, int32_t id)
{
    const osdi_abi_descriptor *d = in->module->abi;
    const bool model = (uint32_t)id >= d->n_inst_param && (uint32_t)id < d->n_param;
    const void *at = d->access(in->data, in->model->data, (uint32_t)id,
                               OSDI_ACCESS_READ | (model ? 0 : (uint32_t)OSDI_ACCESS_INST));
    if (!at)
        return NAN;
    switch (d->param[id].flags & OSDI_TYPE_MASK) {
    case OSDI_TYPE_REAL: return *(const double *)at;
    case OSDI_TYPE_INT: return *(const int32_t *)at;
    default: return NAN;
    }
}

double osdi_bound_step(const osdi_inst *in)
{
    const uint32_t off = in->module->abi->bound_step_off;
    if (off == UINT32_MAX)
        return INFINITY;
    const double b = *(const double *)(const void *)((const char *)in->data + off);
    return b > 0 ? b : INFINITY;
}
