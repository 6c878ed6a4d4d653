/* sim_redo.c - puts changed values into the existing netlist and circuit. From the second expansion
 * of a deck on it is known which values depend on what (flat_plan), and the circuit keeps what
 * binds its elements (elab_circuit_bound). Inputs (parameters, temperature, options, the sample,
 * altered values) and what is made from them are nodes with generation counters (gen.h): a change
 * marks its dependents, sim_build makes these again and nothing else. The code that would apply a
 * change recognises what cannot be done in place; then the circuit, or the netlist too, is made
 * anew, with the same results. */
#include <stdio.h>
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

enum { N_KNOB = 64 };

/* -- the graph -- */

static bool is_device(const flat_inst *in) { return !in->rare->source || in->rare->source->port; }

/* Nodes of instances come first, those of owners of values behind them. */
static void add_nodes(sim *s, const flat_owner *owner, size_t n_owner)
{
    gen *g = &s->gen;
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        gen_node(g, is_device(&s->flat.inst[i]) ? GEN_DEVICE : GEN_SOURCE);
    s->owner_node = (int32_t)vec_len(g->node);
    for (size_t i = 0; i < n_owner; i++)
        gen_node(g, owner[i].kind == FLAT_OWNER_IC ? GEN_START : GEN_VALUE);
    for (int i = 0; i < N_KNOB; i++)
        s->knob_node[i] = gen_node(g, GEN_INPUT);
    s->ambient_node = gen_node(g, GEN_INPUT);
    s->option_node = gen_node(g, GEN_INPUT);
    for (int k = 0; k < GEN_N_KIND; k++)
        s->whole[k] = -1;
    static const gen_kind whole[] = {GEN_NETLIST, GEN_PATTERN, GEN_SYMBOLIC};
    for (size_t i = 0; i < VS_COUNT(whole); i++)
        s->whole[whole[i]] = gen_node(g, whole[i]);
}

/* Netlist to pattern to ordering. What is computed with the numbers: sim_memo.c. */
static void add_common_edges(sim *s)
{
    gen *g = &s->gen;
    const int32_t *w = s->whole;
    gen_edge(g, w[GEN_NETLIST], w[GEN_PATTERN]);
    gen_edge(g, w[GEN_PATTERN], w[GEN_SYMBOLIC]);
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        if (is_device(&s->flat.inst[i]))
            gen_edge(g, s->ambient_node, (int32_t)i);
}

static void add_model_edge(gen *g, const map *of_model, const flat_model *m, int32_t inst)
{
    const int32_t node = m ? map_get(of_model, map_key(m), -1) : -1;
    if (node >= 0)
        gen_edge(g, node, inst);
}

static void add_owner_edges(sim *s, const flat_owner *owner, size_t n_owner)
{
    gen *g = &s->gen;
    map of_model = {0};
    for (size_t i = 0; i < n_owner; i++) {
        const int32_t node = s->owner_node + (int32_t)i;
        for (int k = 0; k < N_KNOB; k++)
            if (owner[i].mask >> k & 1)
                gen_edge(g, s->knob_node[k], node);
        if (owner[i].kind == FLAT_OWNER_INST)
            gen_edge(g, node, owner[i].inst);
        else if (owner[i].kind == FLAT_OWNER_MODEL)
            map_set(&of_model, map_key(owner[i].model), node);
    }
    for (size_t i = 0; i < vec_len(s->flat.inst) && of_model.n; i++) {
        const flat_inst *in = &s->flat.inst[i];
        add_model_edge(g, &of_model, in->rare->bin ? NULL : in->rare->model, (int32_t)i);
        for (size_t k = 0; k < vec_len(in->rare->bin); k++)
            add_model_edge(g, &of_model, in->rare->bin[k], (int32_t)i);
    }
    map_free(&of_model);
}

/* An altered value is an input of its own. */
static void add_change_edges(sim *s)
{
    gen *g = &s->gen;
    map of_inst = {0};
    sim_instances(s, &of_inst);
    for (size_t i = 0; i < vec_len(s->change); i++) {
        sim_change *c = &s->change[i];
        c->node = gen_node(g, GEN_INPUT);
        const int32_t own = c->model ? -1 : map_get(&of_inst, map_key(c->name), -1);
        if (own >= 0)
            gen_edge(g, c->node, own);
        for (int32_t k = c->model ? sim_card_user(s, c->name) : -1; k >= 0;
             k = s->cards.user[k].next)
            gen_edge(g, c->node, s->cards.user[k].inst);
    }
    map_free(&of_inst);
}

void sim_plan_ready(sim *s)
{
    if (!s->plan || s->gen.sealed)
        return;
    size_t n;
    const flat_owner *owner = flat_plan_owners(s->plan, &n);
    const uint64_t structure = flat_plan_structure(s->plan);
    add_nodes(s, owner, n);
    add_common_edges(s);
    add_owner_edges(s, owner, n);
    add_change_edges(s);
    for (int k = 0; k < N_KNOB; k++)
        if (structure >> k & 1)
            gen_edge(&s->gen, s->knob_node[k], s->whole[GEN_NETLIST]);
    gen_seal(&s->gen);
    s->changed = 0;
    s->not_knobs = false;
}

static void forget_graph(sim *s)
{
    gen_clear(&s->gen);
    for (size_t i = 0; i < vec_len(s->change); i++)
        s->change[i].node = -1;
}

void sim_plan_drop(sim *s)
{
    flat_plan_free(&s->plan);
    forget_graph(s);
}

/* -- what changed -- */

static void tell(sim *s, const char *what)
{
    const size_t n = strlen(s->why);
    snprintf(s->why + n, sizeof s->why - n, "%s%s", n ? ", " : "", what);
}

static bool planned(const sim *s) { return s->plan && s->gen.sealed && !s->deep; }

void sim_knob_changed(sim *s, int knob, const char *name)
{
    tell(s, name);
    s->stale = true;
    if (!planned(s) || knob < 0) {
        s->deep = true;
        return;
    }
    s->changed |= UINT64_C(1) << knob;
    gen_change(&s->gen, s->knob_node[knob]);
}

void sim_param_changed(sim *s, const char *name)
{
    sim_knob_changed(s, s->plan ? flat_plan_knob(s->plan, name) : -1, name);
}

/* The temperature or an option that devices read: all devices depend on it. */
void sim_ambient_changed(sim *s, const char *name, bool temper)
{
    tell(s, name);
    s->stale = true;
    if (!planned(s)) {
        s->deep = true;
        return;
    }
    gen_change(&s->gen, s->ambient_node);
    s->not_knobs = true;
    if (temper) {
        s->changed |= UINT64_C(1) << FLAT_KNOB_TEMPER;
        gen_change(&s->gen, s->knob_node[FLAT_KNOB_TEMPER]);
    }
}

/* A change that the graph has no node for, since it is newer: the elements that it reaches are out
 * of date. false: there are none. */
static bool outdate_elements(sim *s, const sim_change *c)
{
    const int32_t own = c->model ? -1 : sim_instance(s, c->name);
    const int32_t user = c->model ? sim_card_user(s, c->name) : -1;
    if (own >= 0)
        gen_outdate(&s->gen, own);
    for (int32_t k = user; k >= 0; k = s->cards.user[k].next)
        gen_outdate(&s->gen, s->cards.user[k].inst);
    return own >= 0 || user >= 0;
}

void sim_change_changed(sim *s, const sim_change *c)
{
    char text[200];
    snprintf(text, sizeof text,
             c->model    ? "%s(%s)"
             : *c->param ? "@%s[%s]"
                         : "%s",
             c->name, c->param);
    tell(s, text);
    s->stale = true;
    s->not_knobs = true;
    if (planned(s) && c->node >= 0)
        gen_change(&s->gen, c->node);
    else if (!planned(s) || !outdate_elements(s, c))
        s->deep = true;
}

void sim_analysis_changed(sim *s, const char *name)
{
    tell(s, name);
    if (planned(s))
        gen_change(&s->gen, s->option_node);
    sim_number_changed(s, SIM_OF_OPTIONS);
}

void sim_deep(sim *s, const char *what)
{
    tell(s, what);
    s->stale = s->deep = true;
}

void sim_many(sim *s)
{
    s->deck.stepping = true;
    if (!s->plan)
        sim_deep(s, "first");
}

void sim_retake_analyses(sim *s)
{
    if (s->stale)
        s->deck.taken = false;
}

/* -- in place -- */

typedef struct todo {
    int32_t *owner, *inst; /* vecs: what changes have reached */
    int32_t *model;        /* vec: owners with other values, of model cards, */
    int32_t *moved;        /* vec: the instances of the others */
    bool starts, netlist;
} todo;

static todo collect(sim *s)
{
    todo t = {0};
    gen *g = &s->gen;
    for (int32_t k; (k = gen_next(g)) >= 0;) {
        if (g->node[k].kind == GEN_VALUE || g->node[k].kind == GEN_START)
            vec_push(t.owner, k - s->owner_node);
        else if (g->node[k].kind == GEN_DEVICE || g->node[k].kind == GEN_SOURCE)
            vec_push(t.inst, k);
        t.netlist |= k == s->whole[GEN_NETLIST];
        t.starts |= g->node[k].kind == GEN_START;
    }
    return t;
}

/* If subcircuit instances were expanded again, elements and nodes are others: the circuit is built
 * anew. */
static void take_parts(sim *s)
{
    size_t n;
    const char *const *path = flat_plan_again(s->plan, &n);
    if (!n)
        return;
    sim_drop_circuit(s);
    forget_graph(s);
    for (size_t i = 0; i < n; i++) {
        char text[100];
        const int len = (int)strlen(path[i]) - 1;
        snprintf(text, sizeof text, ".if of %.*s", len, path[i]);
        tell(s, text);
    }
    s->gen.count[GEN_PART].rebuilt += (int64_t)n;
    s->gen.count[GEN_PART].invalid += (int64_t)n;
}

static vs_status redo_netlist(sim *s, todo *t)
{
    vs_status st = VS_OK;
    size_t n;
    const flat_owner *owner = flat_plan_owners(s->plan, &n);
    bool starts = false;
    flat_redo_begin(s->plan, s->over, vec_len(s->over), s->temp, s->changed);
    for (size_t i = 0; i < vec_len(t->owner) && !st; i++) {
        const flat_owner *w = &owner[t->owner[i]];
        bool moved = false;
        st = flat_redo_owner(s->plan, (size_t)t->owner[i], &moved);
        if (moved && w->kind == FLAT_OWNER_MODEL)
            vec_push(t->model, t->owner[i]);
        else if (moved && w->kind == FLAT_OWNER_INST)
            vec_push(t->moved, w->inst);
        starts |= moved && w->kind == FLAT_OWNER_IC;
    }
    t->starts &= starts || s->not_knobs;
    vs_status end = flat_redo_end(s->plan);
    st = st ? st : end;
    if (st)
        return st;
    take_parts(s);
    return sim_apply_changes(s);
}

/* Where knobs alone changed, elements whose values are what they were stay: a knob may stand for
 * several parameters. */
static vs_status redo_circuit(sim *s, const todo *t)
{
    size_t n;
    ckt_redone what;
    const flat_owner *owner = flat_plan_owners(s->plan, &n);
    const int32_t *inst = s->not_knobs || vec_len(t->model) ? t->inst : t->moved;
    const double t0 = vs_seconds();
    ana_free(&s->ana);
    elab_redo_begin(s->elab, s->temp, s->simparam);
    for (size_t i = 0; i < vec_len(t->model); i++)
        elab_redo_model(s->elab, owner[t->model[i]].model);
    for (size_t i = 0; i < vec_len(s->change); i++)
        for (int32_t k = s->change[i].model ? sim_card(s, s->change[i].name) : -1; k >= 0;
             k = s->cards.next[k])
            elab_redo_model(s->elab, s->flat.model[k]);
    for (size_t i = 0; i < vec_len(inst); i++)
        elab_redo(s->elab, inst[i]);
    if (t->starts)
        elab_redo_starts(s->elab);
    const vs_status st = elab_redo_end(s->elab, &what);
    if (st) {
        tell(s, what.why ? what.why : "the circuit");
    } else {
        sim_numbers_redone(s, &what);
        if (t->starts)
            sim_number_changed(s, SIM_OF_ICS);
        s->gen.count[GEN_ROW].rebuilt += what.rows;
        s->st.rows += what.rows;
        s->st.sources += what.sources;
    }
    s->st.s.elaborate += vs_seconds() - t0;
    return st;
}

static void count_rebuilt(sim *s, const todo *t)
{
    for (size_t i = 0; i < vec_len(t->owner); i++)
        gen_rebuilt(&s->gen, s->owner_node + t->owner[i]);
    for (size_t i = 0; i < vec_len(t->inst); i++)
        gen_rebuilt(&s->gen, t->inst[i]);
}

vs_status sim_redo(sim *s)
{
    if (!planned(s) || (s->plan_taken && !s->deck.taken))
        return VS_REJECT;
    todo t = collect(s);
    const diag_mark before = diag_try(s->d);
    vs_status st =
        t.netlist || !gen_current(&s->gen, s->whole[GEN_NETLIST]) ? VS_REJECT : redo_netlist(s, &t);
    if (st)
        tell(s, "the netlist");
    if (!st && s->ckt && redo_circuit(s, &t))
        sim_drop_circuit(s); /* the netlist is right: the circuit alone is built anew */
    if (!st) {
        if (s->gen.sealed)
            count_rebuilt(s, &t);
        s->st.redone++;
        s->stale = false;
        s->changed = 0;
        s->not_knobs = false;
    }
    diag_take_back(s->d, before);
    vec_free(t.owner);
    vec_free(t.inst);
    vec_free(t.model);
    vec_free(t.moved);
    return st;
}

/* -- questions of the analyses -- */

void sim_ask(sim *s, gen_kind kind)
{
    if (!s->gen.sealed || s->whole[kind] < 0)
        return;
    if (!gen_current(&s->gen, s->whole[kind]))
        gen_rebuilt(&s->gen, s->whole[kind]);
}
