/* elab.c - the order of elaboration: models, nodes, elements, elements that refer to others, checks. */
#include "elab_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *elab_printf(elab *e, const char *fmt, ...)
{
    va_list ap, ap2;
    va_start(ap, fmt);
    va_copy(ap2, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = arena_alloc(&e->mem, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap2);
    va_end(ap);
    va_end(ap2);
    return s;
}

static vs_status load_models(elab *e)
{
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(e->f->hdl) && !e->opt->models_loaded; i++) {
        const char *path = e->f->hdl[i];
        const diag_span at = vec_len(e->f->hdl_span) > i ? e->f->hdl_span[i] : DIAG_NOWHERE;
        const bool compiled = elab_is_osdi(path);
        const vs_status one = compiled ? mdl_load_osdi(e->lib, path, at) : mdl_load(e->lib, path);
        if (one == VS_OK)
            continue;
        if (!compiled && vec_len(e->f->hdl_span) > i)
            diag_note(e->d, at, "loaded from here");
        st = VS_EINPUT;
    }
    return st;
}

static vs_status add_instance(elab *e, const flat_inst *in)
{
    if (in->expr)
        return elab_behavioural(e, in);
    switch (in->letter) {
    case 'v':
    case 'i':
        return elab_source(e, in);
    case 'e':
    case 'f':
    case 'g':
    case 'h':
        return elab_controlled(e, in);
    case 'k':
        return elab_mutual(e, in);
    case 't':
    case 'o':
    case 'u':
        return elab_line(e, in);
    default:
        return elab_bind(e, in);
    }
}

/* An element of a closed circle of references (or of one to nothing) is tried all the same: its
 * message says what is missing. */
static vs_status add_instances(elab *e)
{
    vs_status st = VS_OK;
    const flat_inst **wait = NULL;
    for (size_t i = 0; i < vec_len(e->f->inst); i++) {
        const flat_inst *in = &e->f->inst[i];
        if (!elab_ready(e, in))
            vec_push(wait, in);
        else if (add_instance(e, in) != VS_OK)
            st = VS_EINPUT;
    }
    for (bool any = true, force = false; vec_len(wait) && (any || !force);) {
        force = !any;
        any = false;
        size_t left = 0;
        for (size_t i = 0; i < vec_len(wait); i++) {
            const flat_inst *in = wait[i];
            if (!force && !elab_ready(e, in)) {
                wait[left++] = in;
                continue;
            }
            any = true;
            if (add_instance(e, in) != VS_OK)
                st = VS_EINPUT;
        }
        vec_head_of(wait)->len = left;
    }
    vec_free(wait);
    return st;
}

static void add_node_ics(elab *e)
{
    for (size_t i = 0; i < vec_len(e->f->ic); i++)
        ckt_add_ic(e->c, e->node[e->f->ic[i].node], 0, e->f->ic[i].value);
}

static vs_status build(elab *e)
{
    vs_status st = load_models(e);
    if (st != VS_OK)
        return st;
    for (size_t i = 0; i < vec_len(e->f->node); i++)
        vec_push(e->node, ckt_node(e->c, e->f->node[i]));
    for (size_t i = 0; i < vec_len(e->f->inst); i++)
        map_set(&e->inst_of, map_key(e->f->inst[i].name), (int32_t)i);
    add_node_ics(e);
    st = add_instances(e);
    return st == VS_OK ? ckt_finish(e->c, e->opt->forms) : st;
}

static void find_tran(elab *e)
{
    e->tstep = e->opt->tstep;
    e->tstop = e->opt->tstop;
    for (size_t i = 0; i < vec_len(e->f->ana) && e->tstop == 0; i++)
        if (e->f->ana[i].kind == FLAT_TRAN) {
            e->tstep = e->f->ana[i].tstep;
            e->tstop = e->f->ana[i].tstop;
        }
}

static void fini(elab *e)
{
    for (size_t i = 0; i < vec_len(e->card); i++)
        vec_free(e->card[i].given);
    vec_free(e->card);
    vec_free(e->node);
    vec_free(e->position);
    vec_free(e->seen);
    vec_free(e->sign);
    map_free(&e->seen_at);
    map_free(&e->card_of);
    map_free(&e->inst_of);
    map_free(&e->row_of_inst);
    arena_fini(&e->mem);
}

double elab_kelvin(const elab *e)
{
    return e->opt->temp + 273.15;
}

/* Instances of the model that has most; linear elements have none. */
static int32_t largest_group(const flat *f)
{
    map count = {0};
    int32_t most = 0;
    for (size_t i = 0; i < vec_len(f->inst); i++)
        if (f->inst[i].model) {
            const int32_t n = map_get(&count, map_key(f->inst[i].model), 0) + 1;
            map_set(&count, map_key(f->inst[i].model), n);
            most = n > most ? n : most;
        }
    map_free(&count);
    return most;
}

vs_status elab_circuit(ckt **c, diag *d, str_pool *names, mdl_lib *lib, const flat *f,
                       const elab_opt *opt)
{
    elab e = {.d = d, .names = names, .lib = lib, .f = f, .opt = opt,
              .simparam = opt->simparam ? opt->simparam : ir_simparam_default};
    *c = NULL;
    if (!vec_len(f->inst)) {
        diag_error(d, DIAG_NOWHERE, "the deck has no devices: nothing to simulate");
        return VS_EINPUT;
    }
    arena_init(&e.mem);
    find_tran(&e);
    mdl_largest_group(lib, largest_group(f));
    const ckt_opt copt = {.temp = elab_kelvin(&e), .simparam = e.simparam, .threads = opt->threads,
                          .bypass = opt->bypass};
    *c = e.c = ckt_new(&copt, d);
    const vs_status st = e.c ? build(&e) : VS_ENOMEM;
    fini(&e);
    if (st != VS_OK)
        ckt_free(c);
    return st;
}
