/* elab.c - the order of elaboration: models, nodes, elements, elements that refer to others,
 * checks. */
#include "elab_priv.h"
#include "heap.h"

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

const flat_param *elab_card_param(const flat_param *list, const char *name)
{
    for (size_t i = vec_len(list); i-- > 0;)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

double elab_card_number(const flat_param *list, const char *name, double absent)
{
    const flat_param *p = elab_card_param(list, name);
    return p ? p->value : absent;
}

vs_status elab_load_models(elab *e)
{
    vs_status st = VS_OK;
    mdl_forget_loads(e->lib);
    for (size_t i = 0; i < vec_len(e->f->hdl); i++) {
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
    if (in->rare->expr)
        return elab_behavioural(e, in);
    switch (in->letter) {
    case 'v':
    case 'i': return elab_source(e, in);
    case 'e':
    case 'f':
    case 'g':
    case 'h': return elab_controlled(e, in);
    case 'k': return elab_mutual(e, in);
    case 'a': return elab_code(e, in);
    case 'u': return in->rare->logic ? elab_logic(e, in) : elab_line(e, in);
    case 't':
    case 'o':
    case 'p':
    case 'y': return elab_line(e, in);
    default: return elab_bind(e, in);
    }
}

static vs_status place_instance(elab *e, const flat_inst *in)
{
    if (e->made)
        e->made[in - e->f->inst] = ckt_here(e->c);
    return add_instance(e, in);
}

/* Adds elements in rounds, each element once all that it refers to are there. When a round adds
 * none, the rest refers to itself in a circle or to nothing: the last round adds them all the same,
 * so that their messages say what is missing. */
static vs_status add_instances(elab *e)
{
    vs_status st = VS_OK;
    const flat_inst **wait = NULL;
    for (size_t i = 0; i < vec_len(e->f->inst); i++) {
        const flat_inst *in = &e->f->inst[i];
        heap_poll();
        if (!elab_ready(e, in))
            vec_push(wait, in);
        else if (place_instance(e, in) != VS_OK)
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
            if (place_instance(e, in) != VS_OK)
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

/* In Xyce's decks ic= of an element counts without uic too. */
static void warn_unused_ics(elab *e)
{
    const flat *f = e->f;
    bool from_op = false;
    for (size_t i = 0; i < vec_len(f->ana); i++)
        from_op |= f->ana[i].kind == FLAT_TRAN && !f->ana[i].uic;
    for (size_t i = 0; f->xyce && from_op && i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        double v;
        if ((in->letter == 'c' || in->letter == 'l') && in->rare->ic_given &&
            !elab_held_node(in, &v))
            diag_warning(e->d, in->span,
                         "%s: ic= of an inductor, or of a capacitor that is not at ground, counts "
                         "with uic only, while Xyce imposes it on the operating point",
                         in->name);
    }
}

static vs_status build(elab *e)
{
    warn_unused_ics(e);
    vs_status st = elab_load_models(e);
    if (st != VS_OK)
        return st;
    elab_digital_nodes(e);
    for (size_t i = 0; i < vec_len(e->f->node); i++) {
        const int32_t digital = elab_digital_unknown(e, i);
        vec_push(e->node, e->f->gone && e->f->gone[i] ? 0
                          : digital >= 0              ? digital
                                                      : ckt_node(e->c, e->f->node[i]));
    }
    add_node_ics(e);
    st = add_instances(e);
    if (st == VS_OK)
        elab_check_couplings(e);
    if (st == VS_OK)
        st = elab_digital_end(e);
    mdl_put_away(e->lib);
    if (st == VS_OK)
        st = ckt_finish(e->c, e->opt.forms & ~(unsigned)ELAB_NOISE);
    const vs_status said = elab_report_setup(e);
    return st == VS_OK ? said : st;
}

static void find_tran(elab *e)
{
    e->tstep = e->opt.tstep;
    e->tstop = e->opt.tstop;
    for (size_t i = 0; i < vec_len(e->f->ana) && e->tstop == 0; i++)
        if (e->f->ana[i].kind == FLAT_TRAN) {
            e->tstep = e->f->ana[i].tstep;
            e->tstop = e->f->ana[i].tstop;
        }
}

static void find_dampers(elab *e)
{
    e->damper = e->opt.damped ? flat_dampers(e->f, e->tstop) : NULL;
    for (size_t k = 0; k < vec_len(e->damper); k++)
        map_set(&e->damper_of, map_key(e->f->inst[e->damper[k].inst].name), (int32_t)k + 1);
}

void elab_fini(elab *e)
{
    for (size_t i = 0; i < vec_len(e->card); i++)
        vec_free(e->card[i].given);
    vec_free(e->card);
    vec_free(e->node);
    vec_free(e->n_touch);
    vec_free(e->event);
    vec_free(e->position);
    vec_free(e->seen);
    vec_free(e->shape);
    map_free(&e->shape_at);
    vec_free(e->sign);
    vec_free(e->terminal);
    vec_free(e->portconn);
    map_free(&e->seen_at);
    map_free(&e->card_of);
    map_free(&e->bound_of);
    map_free(&e->osdi_card);
    vec_free(e->bound);
    vec_free(e->table);
    map_free(&e->table_of);
    map_free(&e->inst_of);
    map_free(&e->said);
    map_free(&e->row_of_inst);
    vec_free(e->damper);
    map_free(&e->damper_of);
    vec_free(e->made);
    vec_free(e->coupled);
    vec_free(e->mutual);
    arena_fini(&e->mem);
}

double elab_kelvin(const elab *e) { return e->opt.temp + 273.15; }

static vs_status start(elab *e, bool keep)
{
    const flat *f = e->f;
    if (!vec_len(f->inst) && !e->opt.may_be_empty) {
        diag_error(e->d, DIAG_NOWHERE, "the deck has no devices: nothing to simulate");
        return VS_EINPUT;
    }
    arena_init(&e->mem);
    find_tran(e);
    find_dampers(e);
    if (keep)
        vec_extend(e->made, vec_len(f->inst));
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const bool meter = elab_meter_letter(&f->inst[i]) != 0;
        e->metered |= meter;
        if (f->inst[i].letter == 'k')
            vec_push(e->mutual, (int32_t)i);
        if (keep && (meter || f->inst[i].letter == 'k'))
            vec_push(e->coupled, (int32_t)i);
    }
    const ckt_opt copt = {.temp = elab_kelvin(e),
                          .simparam = e->simparam,
                          .names = e->names,
                          .threads = e->opt.threads,
                          .bypass = e->opt.bypass,
                          .parallel_min = e->opt.parallel_min};
    e->c = ckt_new(&copt, e->d);
    return build(e);
}

vs_status elab_circuit(ckt **c, diag *d, str_pool *names, mdl_lib *lib, const flat *f,
                       const elab_opt *opt)
{
    elab e = {.d = d,
              .names = names,
              .lib = lib,
              .f = f,
              .opt = *opt,
              .simparam = opt->simparam ? opt->simparam : ir_simparam_default};
    const vs_status st = start(&e, false);
    *c = e.c;
    elab_fini(&e);
    if (st != VS_OK)
        ckt_free(c);
    return st;
}

vs_status elab_circuit_bound(ckt **c, elab **bound, diag *d, str_pool *names, mdl_lib *lib,
                             const flat *f, const elab_opt *opt)
{
    elab *e = *bound = vs_calloc(1, sizeof *e);
    *c = NULL;
    *e = (elab){.d = d,
                .names = names,
                .lib = lib,
                .f = f,
                .opt = *opt,
                .simparam = opt->simparam ? opt->simparam : ir_simparam_default};
    const vs_status st = start(e, true);
    *c = e->c;
    if (st != VS_OK) {
        ckt_free(c);
        elab_free(bound);
    }
    return st;
}

void elab_free(elab **e)
{
    if (!*e)
        return;
    elab_fini(*e);
    vs_free(*e);
    *e = NULL;
}

/* -- again -- */

void elab_redo_begin(elab *e, double temp, const double *simparam)
{
    const double tstep = e->tstep, tstop = e->tstop;
    e->opt.temp = temp;
    e->simparam = simparam ? simparam : ir_simparam_default;
    e->couple = false;
    map_free(&e->seen_at); /* rows are given back and their numbers used again */
    vec_clear(e->seen);
    memset(e->shared, 0, sizeof e->shared);
    map_free(&e->shape_at); /* the environment of rows may be another */
    vec_clear(e->shape);
    e->mark = arena_mark(&e->mem);
    e->failed = !ckt_redo_begin(e->c);
    find_tran(e);
    if (e->tstep == tstep && e->tstop == tstop)
        return;
    for (size_t i = 0; i < vec_len(e->f->inst);
         i++) /* what waveforms leave out is taken from the times of .tran */
        if (e->f->inst[i].rare->source)
            elab_redo(e, (int32_t)i);
}

void elab_redo_model(elab *e, const flat_model *m) { elab_forget_card(e, m); }

void elab_redo(elab *e, int32_t inst)
{
    const flat_inst *in = &e->f->inst[inst];
    e->failed |= e->opt.damped; /* any value may change which nodes grow, and how fast */
    if (e->failed)
        return;
    e->couple |= in->letter == 'l' || (e->metered && (in->letter == 'c' || in->letter == 'v'));
    ckt_redo_at(e->c, e->made[inst]);
    e->failed |= add_instance(e, in) != VS_OK;
}

void elab_redo_starts(elab *e)
{
    ckt_redo_at(e->c, (ckt_place){0, 0, 0});
    if (!e->failed)
        add_node_ics(e);
}

vs_status elab_redo_end(elab *e, ckt_redone *what)
{
    for (size_t i = 0; e->couple && i < vec_len(e->coupled); i++)
        elab_redo(e, e->coupled[i]);
    if (!e->failed)
        elab_check_couplings(e);
    vs_status st = ckt_redo_end(e->c, elab_kelvin(e), e->simparam, what);
    if (elab_report_setup(e) != VS_OK && st == VS_OK)
        st = VS_EINPUT;
    arena_release(&e->mem, e->mark);
    if (e->failed && !what->why)
        what->why = "a message";
    return e->failed ? VS_REJECT : st;
}

bool elab_redo_coupled(const elab *e) { return e->couple && vec_len(e->coupled); }

int32_t elab_find(elab *e, const char *name)
{
    if (!e->inst_of.n)
        for (size_t i = 0; i < vec_len(e->f->inst); i++)
            map_set(&e->inst_of, map_key(e->f->inst[i].name), (int32_t)i);
    return map_get(&e->inst_of, map_key(name), -1);
}
