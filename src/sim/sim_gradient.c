/* sim_gradient.c - .sens tran, ac, noise: gradients of measures of the deck's runs.
 *  1. Each parameter is moved to both sides of its value: which devices have other parameters then,
 *     which sources other values, which initial conditions other values, is noted.
 *  2. The deck is as it was; its analysis runs, the measures give their derivatives by its rows,
 *     and an adjoint those by the parameters (sim_gradient_tran.c, sim_gradient_small.c).
 *  3. What the texts of measures say of parameters is added. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim_gradient.h"
#include "vec.h"

#define STEP 1e-5                  /* of a parameter's value; as sens.c has it */
#define STEP_OF_ZERO 1e-6          /* of one that is 0 */
#define STEP_OF_TEMPERATURE 2e-3   /* K */
#define MEMORY ((size_t)256 << 20) /* bytes for the steps of a transient */

/* -- measures of the deck -- */

static bool is_name(const char *s, size_t n, const char *name)
{
    return strlen(name) == n && !str_ncasecmp(name, s, n);
}

/* A measure of the run: its text behind the analysis. */
static bool read_measure(gradient *g, const net_card *from, gradient_card *c)
{
    sim *s = g->s;
    *c = (gradient_card){0};
    if (strcmp(from->name, "meas") && strcmp(from->name, "measure"))
        return false;
    c->text = sim_card_text(s, &g->mem, from, 1, &c->at);
    size_t n = strcspn(c->text, " \t"), skip = n + strspn(c->text + n, " \t");
    const char *second = c->text + skip;
    if (is_name(c->text, n, sim_analysis_word(g->run.kind))) {
        c->text += skip;
        c->at.off += (uint32_t)skip;
        c->at.len -= (uint32_t)skip;
        n = strcspn(c->text, " \t");
    } else if (!post_measure_form(second, strcspn(second, " \t=")) || !s->n_todo ||
               s->todo[0].kind != g->run.kind) {
        return false;
    }
    c->name = str_intern_lower(s->names, c->text, n);
    return true;
}

const gradient_card *sim_gradient_find_card(const gradient *g, const char *name)
{
    for (size_t i = 0; i < vec_len(g->card); i++)
        if (!str_casecmp(g->card[i].name, name))
            return &g->card[i];
    return NULL;
}

static gradient_card *find_card(gradient *g, const char *name)
{
    const gradient_card *c = sim_gradient_find_card(g, name);
    return c ? &g->card[c - g->card] : NULL;
}

/* Adds the measures that wanted ones name, and notes the parameters that they name. */
static void follow_names(gradient *g)
{
    for (size_t i = vec_len(g->card); i-- > 0;) {
        const char **name = NULL;
        if (!g->card[i].wanted)
            continue;
        post_measure_names(g->s->names, g->card[i].text, &name);
        for (size_t k = 0; k < vec_len(name); k++) {
            gradient_card *c = find_card(g, name[k]);
            double y;
            if (c && c < &g->card[i])
                c->wanted = true;
            else if (sim_param(g->s, name[k], &y))
                vec_push(g->number, name[k]);
        }
        vec_free(name);
    }
}

static vs_status find_measures(gradient *g)
{
    sim *s = g->s;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(s->flat.post); i++) {
        gradient_card c;
        if (read_measure(g, s->flat.post[i], &c))
            vec_push(g->card, c);
    }
    for (size_t i = 0; i < vec_len(g->meas); i++) {
        gradient_card *c = find_card(g, g->meas[i]);
        if (c) {
            c->wanted = true;
            continue;
        }
        const char **have = NULL;
        for (size_t k = 0; k < vec_len(g->card); k++)
            vec_push(have, g->card[k].name);
        const char *word = sim_analysis_word(g->run.kind);
        diag_error(s->d, g->span, "no measure '%s': .sens %s needs a card '.meas %s %s ...'",
                   g->meas[i], word, word, g->meas[i]);
        diag_suggest(s->d, g->meas[i], have, vec_len(have));
        vec_free(have);
        st = VS_EINPUT;
    }
    return st;
}

/* -- parameters -- */

/* A device that has the model card. */
static const char *device_of_model(const sim *s, const char *model)
{
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        if (s->flat.inst[i].rare->model && s->flat.inst[i].rare->model->name == model)
            return s->flat.inst[i].name;
    return "";
}

/* The parameter that an element line gives without a name. */
static const char *main_value(const char *element)
{
    const char *dot = strrchr(element, '.');
    switch (dot ? dot[1] : element[0]) {
    case 'r': return "r";
    case 'c': return "c";
    case 'l': return "l";
    case 'v':
    case 'i': return "dc";
    default: return "gain";
    }
}

/* The value as the netlist has it, which is what is moved: lengths are not scaled yet there. */
static bool given_value(const sim *s, const flat_target *t, const char *what, double *value)
{
    const int32_t k = t->kind == FLAT_SET_INST && s->elab ? elab_find(s->elab, t->name) : -1;
    flat_room room;
    const flat_param *p = k >= 0 ? flat_params(&s->flat.inst[k], &room) : NULL;
    for (size_t i = 0; i < vec_len(s->flat.model) && t->kind == FLAT_SET_MODEL; i++)
        if (s->flat.model[i]->name == t->name)
            p = s->flat.model[i]->param;
    for (size_t i = 0; i < vec_len(p); i++)
        if (!p[i].str && !strcmp(p[i].name, what)) {
            *value = p[i].value;
            return true;
        }
    return false;
}

/* The coupling of inductors has several names. */
static bool given_coupling(const sim *s, const flat_target *t, double *value)
{
    static const char *const name[] = {"", "value", "k", "coupling", "coef"};
    const int32_t i = t->kind == FLAT_SET_INST && s->elab ? elab_find(s->elab, t->name) : -1;
    bool asked = false, any = false;
    for (size_t k = 0; k < VS_COUNT(name) && i >= 0 && s->flat.inst[i].letter == 'k'; k++)
        asked |= !strcmp(t->param, name[k]);
    for (size_t k = 0; k < VS_COUNT(name) && asked && !any; k++)
        any = given_value(s, t, name[k], value);
    return any;
}

static bool find_value(gradient *g, gradient_by *b)
{
    sim *s = g->s;
    const flat_target *t = &b->t;
    const ckt_env env = sim_env(s, 0);
    ckt_detail d;
    if (t->kind == FLAT_SET_TEMP) {
        b->value = s->temp;
        return true;
    }
    if (t->kind == FLAT_SET_PARAM)
        return sim_param(s, t->name, &b->value);
    const char *who = t->kind == FLAT_SET_MODEL ? device_of_model(s, t->name) : t->name;
    const char *what = *t->param ? t->param : main_value(t->name);
    if (given_coupling(s, t, &b->value) || given_value(s, t, what, &b->value))
        return true;
    double *x = vs_calloc((size_t)ckt_n(s->ckt) + 1, sizeof *x);
    const bool ok = ckt_find_param(s->ckt, who, what, &d) == CKT_FOUND &&
                    ckt_details(s->ckt, &env, x, &d, 1, &b->value) == VS_OK;
    vs_free(x);
    return ok;
}

static sim_change change_of(const flat_target *t, const double *y)
{
    return (sim_change){.name = t->name,
                        .model = t->kind == FLAT_SET_MODEL,
                        .param = t->param,
                        .value = y,
                        .n = 1,
                        .span = t->span};
}

static vs_status set_value(sim *s, const flat_target *t, double y)
{
    const sim_change c = change_of(t, &y);
    if (t->kind == FLAT_SET_TEMP)
        return sim_set_temp(s, y, t->span);
    if (t->kind == FLAT_SET_PARAM)
        sim_set_param(s, t->name, y);
    else
        sim_alter(s, &c);
    return VS_OK;
}

/* What a client or a sweep gives the parameter; NULL: it has its definition in the deck. */
static const flat_override *over_of(const sim *s, const flat_target *t)
{
    for (size_t i = 0; i < vec_len(s->over); i++)
        if (s->over[i].name == t->name)
            return &s->over[i];
    return NULL;
}

static void free_side(gradient_side *k)
{
    sim_vary_side_free(&k->at);
    vec_free(k->ic);
    vec_free(k->number);
}

static void take_starts(gradient *g, gradient_side *k)
{
    sim *s = g->s;
    elab_node_value *ic, *nodeset;
    elab_ics(&ic, &nodeset, s->ckt, &s->flat);
    if (g->run.uic) {
        vec_extend(k->ic, (size_t)ckt_n(s->ckt) + 1);
        ckt_uic(s->ckt, k->ic);
    }
    for (size_t i = 0; i < vec_len(ic); i++) {
        if (g->run.uic)
            k->ic[ic[i].unknown] = ic[i].value;
        else
            vec_push(k->ic, ic[i].value);
        if (k == &g->base)
            vec_push(g->ic_node, ic[i].unknown);
    }
    for (size_t i = 0; i < vec_len(g->number); i++) {
        double y = NAN;
        (void)sim_param(s, g->number[i], &y);
        vec_push(k->number, y);
    }
    vec_free(ic);
    vec_free(nodeset);
}

/* Those that are as they were are not kept. */
static void take_other_starts(gradient *g, gradient_side *k)
{
    take_starts(g, k);
    if (k->ic && !memcmp(k->ic, g->base.ic, vec_len(k->ic) * sizeof *k->ic))
        vec_free(k->ic);
    if (k->number && !memcmp(k->number, g->base.number, vec_len(k->number) * sizeof *k->number))
        vec_free(k->number);
}

static double step_of(const gradient_by *b)
{
    return b->t.kind == FLAT_SET_TEMP ? STEP_OF_TEMPERATURE
           : b->value != 0            ? fabs(b->value) * STEP
                                      : STEP_OF_ZERO;
}

/* The side of b that was tried, or the circuit as it is where that is not allowed. */
static vs_status take_side(gradient *g, const gradient_by *b, gradient_side *k, vs_status tried)
{
    if (tried == VS_OK && sim_vary_same(&g->now))
        sim_vary_take(&g->now, &k->at);
    else
        k->value = b->value;
    return tried == VS_EINPUT ? VS_OK : tried;
}

/* A value of an element or a model card is tried beside the netlist.
 * Status: VS_OK; VS_REJECT: it must be built with it. */
static vs_status try_aside(gradient *g, gradient_by *b, gradient_side *k)
{
    sim *s = g->s;
    sim_aside *a;
    const sim_change c = change_of(&b->t, &k->value);
    const diag_mark before = diag_try(s->d);
    vs_status st = sim_aside_begin(&a, s, &c);
    if (st != VS_REJECT)
        st = take_side(g, b, k, st);
    const vs_status end = sim_aside_end(&a);
    diag_take_back(s->d, before);
    return st == VS_OK ? end : st;
}

/* The circuit with b a little off. */
static vs_status look_at(gradient *g, gradient_by *b, gradient_side *k)
{
    sim *s = g->s;
    const diag_mark before = diag_try(s->d);
    vs_status st = set_value(s, &b->t, k->value);
    if (st == VS_OK)
        st = sim_build(s);
    diag_take_back(s->d, before);
    if (st == VS_OK && sim_vary_same(&g->now))
        take_other_starts(g, k);
    return take_side(g, b, k, st);
}

/* In the netlist, which is then as it was: a parameter that others do not follow any more, or a
 * device in which one counts as given, would change what the next one does. */
static vs_status vary_in_netlist(gradient *g, gradient_by *b)
{
    sim *s = g->s;
    const bool alters = b->t.kind == FLAT_SET_INST || b->t.kind == FLAT_SET_MODEL;
    sim_saved *was = alters ? sim_save(s) : NULL;
    const flat_override *over = over_of(s, &b->t);
    const bool given = over != NULL;
    const double value = given ? over->value : b->value;
    vs_status st = VS_OK;
    ckt_redo_note(s->ckt, true);
    for (int k = 0; k < 2 && st == VS_OK; k++)
        st = look_at(g, b, &b->side[k]);
    if (alters)
        sim_restore(s, was);
    else if (b->t.kind == FLAT_SET_PARAM && !given)
        sim_unset_param(s, b->t.name);
    else if (st == VS_OK)
        st = set_value(s, &b->t, value);
    if (st == VS_OK)
        st = sim_build(s);
    sim_saved_free(&was);
    return st;
}

static vs_status vary_one(gradient *g, gradient_by *b)
{
    sim *s = g->s;
    vs_status st = VS_REJECT;
    if (!find_value(g, b) || !isfinite(b->value)) {
        diag_error(s->d, b->t.span, "'%s' has no value that could be moved", b->t.text);
        return VS_EINPUT;
    }
    for (int k = 0; k < 2; k++)
        b->side[k].value = b->value + (k ? 1 : -1) * step_of(b);
    if (b->t.kind == FLAT_SET_INST || b->t.kind == FLAT_SET_MODEL) {
        st = try_aside(g, b, &b->side[0]);
        if (st == VS_OK)
            st = try_aside(g, b, &b->side[1]);
    }
    if (st == VS_REJECT) {
        for (int k = 0; k < 2; k++) {
            free_side(&b->side[k]);
            b->side[k] = (gradient_side){.value = b->value + (k ? 1 : -1) * step_of(b)};
        }
        st = vary_in_netlist(g, b);
    }
    if (st == VS_OK && b->side[0].value == b->side[1].value) {
        diag_error(s->d, b->t.span, "'%s' can be moved to neither side of %.9g", b->t.text,
                   b->value);
        st = VS_EINPUT;
    }
    return st;
}

/* A parameter of the deck with a definition there, which a plan has to watch. */
static bool is_watched(const sim *s, const gradient_by *b)
{
    return b->t.kind == FLAT_SET_PARAM && !strchr(b->t.name, '.') && !over_of(s, &b->t);
}

/* Watches parameters from by[from] on, `most` at most of those that `wanted` names. Returns behind
 * the last. */
static size_t watch(gradient *g, size_t from, size_t most, const bool *wanted)
{
    sim *s = g->s;
    bool known = s->plan != NULL;
    size_t i = from;
    vec_clear(s->watch);
    for (; i < vec_len(g->by); i++) {
        if (!wanted[i] || !is_watched(s, &g->by[i]))
            continue;
        if (vec_len(s->watch) == most)
            break;
        vec_push(s->watch, g->by[i].t.name);
        known = known && flat_plan_knob(s->plan, g->by[i].t.name) >= 0;
    }
    if (vec_len(s->watch) && !known)
        sim_deep(s, "parameters of .sens");
    return i;
}

/* The knob of a parameter decides on more than values, and it is not known whether this parameter
 * does: others have the same knob. */
static bool is_unclear(const sim *s, const gradient_by *b)
{
    const int knob = is_watched(s, b) && s->plan ? flat_plan_knob(s->plan, b->t.name) : -1;
    return knob >= 0 && vec_len(s->watch) > flat_plan_most_watched(vec_len(s->over)) &&
           flat_plan_structure(s->plan) >> knob & 1;
}

/* Those that are not clear are moved again, so many at a time that each has a knob. */
static vs_status move_unclear(gradient *g, const bool *unclear)
{
    sim *s = g->s;
    const size_t most = flat_plan_most_watched(vec_len(s->over));
    vs_status st = VS_OK;
    for (size_t i = 0, end = 0; i < vec_len(g->by) && st == VS_OK; i++) {
        if (!unclear[i])
            continue;
        if (i >= end) {
            end = most ? watch(g, i, most, unclear) : vec_len(g->by);
            st = sim_build(s);
        }
        if (st == VS_OK)
            st = vary_one(g, &g->by[i]);
    }
    return st;
}

/* All parameters of the deck are watched together, by plans whose knobs stand for several. */
static vs_status move_all(gradient *g)
{
    const size_t n = vec_len(g->by);
    bool *unclear = vs_calloc(n + 1, sizeof *unclear);
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && st == VS_OK; i++) {
        unclear[i] = !g->by[i].held && is_unclear(g->s, &g->by[i]);
        if (!g->by[i].held && !unclear[i])
            st = vary_one(g, &g->by[i]);
    }
    if (st == VS_OK)
        st = move_unclear(g, unclear);
    vs_free(unclear);
    return st;
}

vs_status sim_gradient_move(gradient *g)
{
    sim *s = g->s;
    sim_saved *was = sim_save(s);
    bool *all = vs_calloc(vec_len(g->by) + 1, sizeof *all);
    memset(all, true, vec_len(g->by) * sizeof *all);
    (void)watch(g, 0, SIZE_MAX, all);
    vs_free(all);
    sim_many(s);
    vs_status st = sim_ready(s, &g->run);
    if (st == VS_OK) {
        if (!vec_len(g->number))
            follow_names(g); /* of parameters, which are known without an expansion now */
        sim_vary_begin(&g->now, s, &g->mem);
        take_starts(g, &g->base);
        st = move_all(g);
    }
    vec_clear(s->watch);
    if (s->ckt)
        ckt_redo_note(s->ckt, false);
    if (st != VS_OK)
        sim_restore(s, was);
    sim_saved_free(&was);
    return st;
}

void sim_gradient_unmove(gradient *g)
{
    for (size_t i = 0; i < vec_len(g->by); i++)
        for (int k = 0; k < 2; k++) {
            free_side(&g->by[i].side[k]);
            g->by[i].side[k] = (gradient_side){0};
        }
    free_side(&g->base);
    g->base = (gradient_side){0};
    vec_clear(g->ic_node);
    sim_vary_end(&g->now);
    g->now = (sim_vary){0};
}

/* -- what the runs need -- */

vs_status sim_gradient_vary(gradient *g, ckt_vary **vary)
{
    vs_status st = VS_OK;
    *vary = ckt_vary_new(g->s->ckt);
    for (size_t i = 0; i < vec_len(g->by) && st == VS_OK; i++) {
        const gradient_by *b = &g->by[i];
        const sim_vary_side both[2] = {b->side[0].at, b->side[1].at};
        st = sim_vary_add(&g->now, both, b->side[1].value - b->side[0].value, (int32_t)i, *vary);
    }
    return st;
}

const char **sim_gradient_names(const gradient *g)
{
    const char **name = vs_calloc(vec_len(g->by) + 1, sizeof *name);
    for (size_t i = 0; i < vec_len(g->by); i++)
        name[i] = g->by[i].t.text;
    return name;
}

/* The engine keeps the vectors that the measures name, in plots of ours. */
static sim_opt divert(gradient *g)
{
    sim_opt was = g->s->opt, *o = &g->s->opt;
    o->out = NULL;
    o->piece = NULL;
    o->part = NULL;
    o->keep = SIM_KEEP_NAMED;
    o->keep_name = NULL;
    o->save = NULL;
    o->plots = &g->plots;
    o->hook.point = NULL;
    o->hook.row = NULL;
    for (size_t i = 0; i < vec_len(g->card); i++)
        if (g->card[i].wanted)
            post_measure_names(g->s->names, g->card[i].text, &o->keep_name);
    return was;
}

/* -- derivatives of the measures by rows -- */

static bool number_of(void *user, const char *name, double *value)
{
    const gradient *g = user;
    for (size_t i = 0; i < vec_len(g->number); i++)
        if (!str_casecmp(g->number[i], name)) {
            *value = g->value[i];
            return true;
        }
    return false;
}

static post_env env_of(gradient *g, const gradient_card *c, uint64_t *seed)
{
    return (post_env){.set = &g->plots,
                      .d = g->s->d,
                      .span = c->at,
                      .line = c->text,
                      .line_at = c->at,
                      .mem = &g->mem,
                      .seed = seed,
                      .ranges = true,
                      .number = number_of,
                      .user = g};
}

/* -- pieces of a run -- */

/* What all of the run takes in one part, by how far the first one came, and a quarter more. */
static double bytes_of_all(const gradient *g)
{
    return 1.25 * (double)g->memory * g->run.tstop / g->first_end;
}

static vs_status too_long(const gradient *g, const gradient_card *c)
{
    diag_error(g->s->d, c->at,
               "the measure '%s' needs another one, or all points of the run at once, which do "
               "not fit into %.3g bytes: give .sens tran memory=%.2g or so",
               c->name, (double)g->memory, bytes_of_all(g));
    return VS_EINPUT;
}

static void note_memory(const gradient *g)
{
    if (g->slopes && post_slopes_need_all(g->slopes))
        diag_note(g->s->d, g->span, "memory=%.2g or so here has room for all points of the run",
                  bytes_of_all(g));
}

static vs_status begin_flow(gradient *g, const double *number, const char *const *later)
{
    uint64_t seed = 1;
    gradient_flow f = {number, post_flow_new()};
    vs_status st = VS_OK;
    g->value = number;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        const gradient_card *c = &g->card[i];
        const post_env e = env_of(g, c, &seed);
        if (c->wanted && !post_flow_add(f.flow, &e, c->text, c->at, later))
            st = too_long(g, c);
    }
    vec_push(g->flow, f);
    return st;
}

static vs_status add_slopes(gradient *g, const gradient_card *c)
{
    uint64_t seed = 1;
    const post_env e = env_of(g, c, &seed);
    if (!g->slopes)
        g->slopes = post_slopes_new();
    return post_slopes_add(g->slopes, &e, c->text, c->at);
}

static vs_status take_slopes(gradient *g)
{
    uint64_t seed = 1;
    const post_env e = env_of(g, &g->card[0], &seed);
    return post_slopes_take(g->slopes, &e);
}

/* Such a word stands in a measure without meaning another one of this name. */
static bool is_word_of_measures(const char *name)
{
    static const char *const key[] = {"targ", "val",  "td",   "at",    "from",
                                      "to",   "rise", "fall", "cross", "last"};
    bool is = post_measure_form(name, strlen(name));
    for (size_t i = 0; i < VS_COUNT(key) && !is; i++)
        is = !str_casecmp(name, key[i]);
    return is;
}

/* FROM, AT and the like that name another measure, whose value is known when all points are. PARAM
 * is computed then. */
static bool names_other(const gradient *g, const gradient_card *c, const char *const *later)
{
    const char **name = NULL, *form = c->text + strcspn(c->text, " \t");
    bool other = false;
    form += strspn(form, " \t");
    post_measure_names(g->s->names, c->text, &name);
    for (size_t i = 0; i < vec_len(name) && str_ncasecmp(form, "param", 5); i++)
        for (size_t k = 0; k < vec_len(later); k++)
            other |= !str_casecmp(later[k], name[i]) && str_casecmp(c->name, name[i]);
    vec_free(name);
    return other;
}

/* Measures with other values of the parameters that they name are wanted too (add_numbers). */
static vs_status begin_pieces(gradient *g)
{
    const char **later = NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(g->card); i++)
        if (!is_word_of_measures(g->card[i].name))
            vec_push(later, g->card[i].name);
    g->value = g->base.number;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++)
        if (g->card[i].wanted)
            st = names_other(g, &g->card[i], later) ? too_long(g, &g->card[i])
                                                    : add_slopes(g, &g->card[i]);
    if (st == VS_OK)
        st = begin_flow(g, g->base.number, later);
    for (size_t p = 0; p < vec_len(g->by); p++)
        for (int k = 0; k < 2 && st == VS_OK; k++)
            if (g->by[p].side[k].number)
                st = begin_flow(g, g->by[p].side[k].number, later);
    vec_free(later);
    return st;
}

vs_status sim_gradient_piece(gradient *g)
{
    uint64_t seed = 1;
    if (!g->plots.current->scale->n)
        return VS_OK;
    if (!g->flow)
        g->first_end = g->plots.current->scale->v[g->plots.current->scale->n - 1];
    vs_status st = g->flow ? VS_OK : begin_pieces(g);
    g->value = g->base.number;
    if (st == VS_OK)
        st = take_slopes(g);
    if (st != VS_OK)
        note_memory(g);
    for (size_t i = 0; i < vec_len(g->flow) && st == VS_OK; i++) {
        const post_env e = env_of(g, &g->card[0], &seed);
        g->value = g->flow[i].number;
        if (!post_flow_take(g->flow[i].flow, &e)) {
            diag_error(g->s->d, g->span,
                       "a measure computes with several points at once, and not all of the run fit "
                       "into %.3g bytes: give .sens tran memory=%.2g or so",
                       (double)g->memory, bytes_of_all(g));
            st = VS_EINPUT;
        }
    }
    return st;
}

static post_flow *flow_of(const gradient *g, const double *number)
{
    for (size_t i = 0; i < vec_len(g->flow); i++)
        if (g->flow[i].number == number)
            return g->flow[i].flow;
    return NULL;
}

/* A wanted measure of the run, with g->value = number. */
static vs_status measure(gradient *g, const gradient_card *c, const double *number, post_meas *m)
{
    uint64_t seed = 1;
    post_env e = env_of(g, c, &seed);
    post_flow *flow = flow_of(g, number);
    g->value = number;
    if (flow && post_flow_result(flow, c->at, &g->mem, m))
        return VS_OK;
    return post_measure(&e, c->text, c->at, m);
}

vs_status sim_gradient_values(gradient *g)
{
    uint64_t seed = 1;
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        gradient_card *c = &g->card[i];
        if (!c->wanted)
            continue;
        st = measure(g, c, g->base.number, &c->got.m);
        if (st == VS_OK && !c->got.m.ok) {
            diag_error(g->s->d, c->at, "the measure '%s' failed: %s", c->name,
                       c->got.m.why ? c->got.m.why : "no such value");
            st = VS_EINPUT;
        }
        if (st == VS_OK && !g->flow)
            st = add_slopes(g, c);
        if (st == VS_OK)
            post_vec_push(post_plot_add(&g->plots, g->plots.current, c->name, "notype", false),
                          c->got.m.value, 0);
    }
    if (st == VS_OK && !g->flow)
        st = take_slopes(g);
    const post_env e = env_of(g, &g->card[0], &seed);
    return st == VS_OK ? post_slopes_end(g->slopes, &e) : st;
}

vs_status sim_gradient_slopes(gradient *g, int64_t first, int64_t from, int64_t to)
{
    uint64_t seed = 1;
    size_t k = 0;
    vs_status st = VS_OK;
    g->value = g->base.number;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        gradient_card *c = &g->card[i];
        const post_env e = env_of(g, c, &seed);
        vec_clear(c->got.slope);
        if (c->wanted)
            st = post_slopes_of(g->slopes, &e, k++, first, from, to, &c->got.slope);
    }
    if (st != VS_OK)
        note_memory(g);
    return st;
}

vs_status sim_gradient_measure(gradient *g)
{
    const vs_status st = sim_gradient_values(g);
    const post_vec *x = g->plots.current->scale;
    return st == VS_OK ? sim_gradient_slopes(g, 0, 0, x ? x->n : 1) : st;
}

vs_status sim_gradient_no_detail(const gradient *g, const gradient_card *c, const elab_out *o)
{
    diag_error(g->s->d, c->at,
               "the measure '%s' has no derivative: '%s' is a value inside a device; voltages and "
               "currents of sources have one",
               c->name, o->name);
    return VS_EINPUT;
}

/* Vectors of the plot are the axis, if there is one, and s->mem_vec. */
const elab_out *sim_gradient_vector(const gradient *g, const gradient_card *c, const post_slope *p)
{
    const elab_out *o = &g->s->mem_vec[p->vec - (g->plots.current->scale ? 1 : 0)];
    if (!o->is_detail)
        return o;
    (void)sim_gradient_no_detail(g, c, o);
    return NULL;
}

static int compare_rows(const void *va, const void *vb)
{
    const ana_seed *a = va, *b = vb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->measure != b->measure)
        return a->measure < b->measure ? -1 : 1;
    return a->unknown < b->unknown ? -1 : a->unknown > b->unknown;
}

vs_status sim_gradient_seeds(const gradient *g, ana_seed **seed)
{
    for (size_t m = 0; m < vec_len(g->meas); m++) {
        const gradient_card *c = sim_gradient_find_card(g, g->meas[m]);
        for (size_t i = 0; i < vec_len(c->got.slope); i++) {
            const post_slope *p = &c->got.slope[i];
            const elab_out *o = sim_gradient_vector(g, c, p);
            if (!o)
                return VS_EINPUT;
            const double weight = p->by * o->factor, behind = p->behind * o->factor,
                         pulse = p->pulse * o->factor;
            if (o->hi)
                vec_push(*seed, ((ana_seed){p->point, (int32_t)m, o->hi, weight, behind, pulse}));
            if (o->lo)
                vec_push(*seed,
                         ((ana_seed){p->point, (int32_t)m, o->lo, -weight, -behind, -pulse}));
        }
    }
    if (vec_len(*seed))
        qsort(*seed, vec_len(*seed), sizeof **seed, compare_rows);
    return VS_OK;
}

void sim_gradient_sources(const gradient *g, gradient_source **to)
{
    for (size_t p = 0; p < vec_len(g->by); p++) {
        int32_t *source = NULL;
        sim_vary_sources(&g->by[p].side[0].at, &g->by[p].side[1].at, &source);
        for (size_t i = 0; i < vec_len(source); i++)
            vec_push(*to, ((gradient_source){p, source[i]}));
        vec_free(source);
    }
}

/* Lines with other numbers see the run beside those that are in it. */
static vs_status add_lines_of(gradient *g, size_t p, size_t **of)
{
    const gradient_by *b = &g->by[p];
    const gradient_side *k = b->side;
    ckt *c = g->s->ckt;
    int32_t *line = NULL;
    vs_status st = VS_OK;
    sim_vary_lines(&k[0].at, &k[1].at, &line);
    for (size_t i = 0; i < vec_len(line) && st == VS_OK; i++) {
        const nat_line_numbers both[2] = {sim_vary_line_of(&g->now, &k[0].at, line[i]),
                                          sim_vary_line_of(&g->now, &k[1].at, line[i])};
        const char *why = ckt_line_side(c, line[i], both, k[1].value - k[0].value);
        vec_push(*of, p);
        if (!why)
            continue;
        diag_error(g->s->d, b->t.span, "there is no derivative of the line '%s' by '%s': %s",
                   ckt_line_name(c, line[i]), b->t.text, why);
        st = VS_EUNSUPPORTED;
    }
    vec_free(line);
    return st;
}

vs_status sim_gradient_lines(gradient *g, size_t **of)
{
    vs_status st = VS_OK;
    for (size_t p = 0; p < vec_len(g->by) && st == VS_OK; p++)
        st = add_lines_of(g, p, of);
    return st;
}

/* -- parameters in texts of measures -- */

/* The wanted measures of the run with other parameters in their texts, to the vec. */
static vs_status measure_with(gradient *g, const double *number, double **value)
{
    vs_status st = VS_OK;
    size_t place = vec_len(g->plots.current->vec);
    for (size_t i = 0; i < vec_len(g->card); i++)
        place -= g->card[i].wanted;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        const gradient_card *c = &g->card[i];
        post_meas m = {0};
        if (c->wanted) {
            st = measure(g, c, number, &m);
            g->plots.current->vec[place++]->v[0] = m.ok ? m.value : NAN;
        }
        vec_push(*value, m.ok ? m.value : NAN);
    }
    return st;
}

/* Adds the derivatives of measures by parameters that their texts name. */
static vs_status add_numbers(gradient *g)
{
    const size_t n_by = vec_len(g->by), bytes = vec_len(g->number) * sizeof(double);
    vs_status st = VS_OK;
    for (size_t p = 0; p < n_by && st == VS_OK && bytes; p++) {
        const gradient_side *k = g->by[p].side;
        const double *one = k[0].number ? k[0].number : g->base.number;
        const double *two = k[1].number ? k[1].number : g->base.number;
        double *lo = NULL, *hi = NULL;
        if (g->by[p].held || !memcmp(one, two, bytes))
            continue;
        st = measure_with(g, one, &lo);
        if (st == VS_OK)
            st = measure_with(g, two, &hi);
        for (size_t m = 0; m < vec_len(g->meas) && st == VS_OK; m++) {
            const size_t i = (size_t)(find_card(g, g->meas[m]) - g->card);
            g->to[m * n_by + p] += (hi[i] - lo[i]) / (k[1].value - k[0].value);
        }
        vec_free(lo);
        vec_free(hi);
    }
    return st;
}

/* -- results -- */

static vs_status put(gradient *g, size_t m)
{
    sim *s = g->s;
    const gradient_card *c = find_card(g, g->meas[m]);
    out_vector *v = NULL;
    double *row = NULL;
    vec_push(v, ((out_vector){c->name, "notype"}));
    vec_push(row, c->got.m.value);
    for (size_t p = 0; p < vec_len(g->by); p++) {
        vec_push(v, ((out_vector){g->by[p].t.text, "notype"}));
        vec_push(row, g->to[m * vec_len(g->by) + p]);
    }
    const char *what = arena_printf(&s->mem, "Gradient of %s", c->name);
    vs_status st = sim_plot_begin_own(s, "sens", what, v, (int32_t)vec_len(v), NULL, false);
    if (st == VS_OK)
        st = sim_plot_row(s, row);
    vec_free(v);
    vec_free(row);
    return sim_plot_end(s, st);
}

static vs_status find_gradient(gradient *g)
{
    sim *s = g->s;
    vs_status st = find_measures(g);
    if (st == VS_OK)
        st = sim_gradient_move(g);
    if (st == VS_OK)
        st = sim_ready(s, &g->run);
    if (st != VS_OK)
        return st;
    g->to = vs_calloc(vec_len(g->meas) * vec_len(g->by) + 1, sizeof *g->to);
    const sim_opt was = divert(g);
    st = g->run.kind == FLAT_TRAN                              ? sim_gradient_of_tran(g)
         : g->run.kind == FLAT_AC || g->run.kind == FLAT_NOISE ? sim_gradient_of_small(g)
                                                               : sim_gradient_of_static(g);
    if (st == VS_OK)
        st = add_numbers(g);
    vec_free(s->opt.keep_name);
    s->opt = was;
    sim_fresh(s);
    for (size_t m = 0; m < vec_len(g->meas) && st == VS_OK; m++)
        st = put(g, m);
    return st;
}

static void free_gradient(gradient *g)
{
    sim_gradient_unmove(g);
    for (int k = 0; k < g->run.n_sweep; k++)
        vec_free(g->run.sweep[k].value);
    for (size_t i = 0; i < vec_len(g->card); i++)
        vec_free(g->card[i].got.slope);
    post_slopes_free(&g->slopes);
    for (size_t i = 0; i < vec_len(g->flow); i++)
        post_flow_free(&g->flow[i].flow);
    vec_free(g->flow);
    vec_free(g->by);
    vec_free(g->card);
    vec_free(g->number);
    vec_free(g->meas);
    vec_free(g->ic_node);
    vs_free(g->to);
    post_set_fini(&g->plots);
    arena_fini(&g->mem);
}

static const flat_ana *run_of(const sim *s, flat_ana_kind kind)
{
    for (size_t i = 0; i < vec_len(s->flat.ana); i++)
        if (s->flat.ana[i].kind == kind)
            return &s->flat.ana[i];
    for (size_t i = 0; i < s->n_todo; i++) /* expansions after the first leave .dc out */
        if (s->todo[i].kind == kind)
            return &s->todo[i];
    return NULL;
}

/* The card, and values of sweeps, which would not outlive the expansion that they are of. */
static void take_run(gradient *g, const flat_ana *run)
{
    g->run = *run;
    for (int k = 0; k < run->n_sweep; k++) {
        double *own = NULL;
        for (size_t i = 0; i < vec_len(run->sweep[k].value); i++)
            vec_push(own, run->sweep[k].value[i]);
        g->run.sweep[k].value = own;
    }
}

/* While gradients are computed, the modules of expressions do not depend on which numbers are 0 or
 * 1: those may be what moves. */
static void let_numbers_move(sim *s, bool move)
{
    bool any = false;
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        any |= s->flat.inst[i].rare->expr != NULL;
    s->numbers_move = move;
    if (any)
        sim_deep(s, "numbers of expressions");
}

vs_status sim_run_gradient(sim *s, const flat_ana *a)
{
    gradient g = {.s = s,
                  .span = a->span,
                  .memory = a->gradient.memory > 0 ? (size_t)a->gradient.memory : MEMORY};
    vs_status st = VS_EINPUT;
    arena_init(&g.mem);
    post_set_init(&g.plots, s->names);
    for (int32_t i = 0; i < a->gradient.n_meas; i++)
        vec_push(g.meas, a->gradient.meas[i]);
    for (int32_t i = 0; i < a->gradient.n_by; i++)
        vec_push(g.by, ((gradient_by){.t = a->gradient.by[i]}));
    const flat_ana *run = run_of(s, a->gradient.of);
    if (run)
        take_run(&g, run);
    if (run && run->grid == FLAT_LIST && run->n_sweep > !run->rows) {
        diag_error(s->d, a->span, "there are no derivatives of an analysis at the rows of a table");
    } else if (run) {
        let_numbers_move(s, true);
        st = find_gradient(&g);
        let_numbers_move(s, false);
    } else {
        diag_error(s->d, a->span, ".sens %s needs a .%s card: it is its run that is meant",
                   sim_analysis_word(a->gradient.of), sim_analysis_word(a->gradient.of));
    }
    free_gradient(&g);
    return st;
}
