/* sim_gradient.c - .sens tran: gradients of measures of the deck's transient.
 *  1. Each parameter is moved to both sides of its value: which devices have other parameters then,
 *     which sources other waveforms, which initial conditions other values, is noted.
 *  2. The deck is as it was; its transient runs and is recorded (ana_tape).
 *  3. The measures give their derivatives by the rows of the run (post_measure_slope).
 *  4. The adjoint of the run gives the weights of what each parameter adds to the equations at each
 *     point; differences of single devices, with what 1. noted, are that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "meas.h"
#include "sim_vary.h"
#include "vec.h"

#define STEP 1e-5                  /* of a parameter's value; as sens.c has it */
#define STEP_OF_ZERO 1e-6          /* of one that is 0 */
#define STEP_OF_TEMPERATURE 2e-3   /* K */
#define MEMORY ((size_t)256 << 20) /* bytes for solutions of the run */

typedef struct side { /* the circuit with a parameter a little off */
    double value;
    sim_vary_side at; /* what differs from the circuit as it is */
    double *ic;       /* vec: of .ic; with uic all start values [n+1] */
    double *number;   /* vec: what measures call by name */
} side;

typedef struct by {
    flat_target t;
    double value;
    side side[2];
} by;

typedef struct card {
    const char *name, *text;
    diag_span at;
    bool wanted;
    post_measured got;
} card;

typedef struct gradient {
    sim *s;
    arena mem;
    flat_ana tran;
    size_t memory;
    const char **meas;   /* vec */
    by *by;              /* vec */
    card *card;          /* vec: the measures of the deck's transient */
    const char **number; /* vec: parameters that they name, */
    const double *value; /* [numbers] and what they are now */
    sim_vary now;        /* the circuit as it is */
    side base;
    diag_span span;
    post_set plots;
    ana_tape *tape;
    ckt_vary *vary;
    int32_t *ic_node; /* vec */
    double *to;       /* [measures][parameters] */
} gradient;

/* -- measures of the deck -- */

static bool is_name(const char *s, size_t n, const char *name)
{
    return strlen(name) == n && !str_ncasecmp(name, s, n);
}

/* A measure of a transient: its text behind the analysis. */
static bool read_measure(gradient *g, const net_card *from, card *c)
{
    sim *s = g->s;
    *c = (card){0};
    if (strcmp(from->name, "meas") && strcmp(from->name, "measure"))
        return false;
    c->text = sim_card_text(s, &g->mem, from, 1, &c->at);
    size_t n = strcspn(c->text, " \t"), skip = n + strspn(c->text + n, " \t");
    const char *second = c->text + skip;
    if (is_name(c->text, n, "tran")) {
        c->text += skip;
        c->at.off += (uint32_t)skip;
        c->at.len -= (uint32_t)skip;
        n = strcspn(c->text, " \t");
    } else if (!post_measure_form(second, strcspn(second, " \t=")) || !s->n_todo ||
               s->todo[0].kind != FLAT_TRAN) {
        return false;
    }
    c->name = str_intern_lower(s->names, c->text, n);
    return true;
}

static card *find_card(gradient *g, const char *name)
{
    for (size_t i = 0; i < vec_len(g->card); i++)
        if (!str_casecmp(g->card[i].name, name))
            return &g->card[i];
    return NULL;
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
            card *c = find_card(g, name[k]);
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
        card c;
        if (read_measure(g, s->flat.post[i], &c))
            vec_push(g->card, c);
    }
    for (size_t i = 0; i < vec_len(g->meas); i++) {
        card *c = find_card(g, g->meas[i]);
        if (c) {
            c->wanted = true;
            continue;
        }
        const char **have = NULL;
        for (size_t k = 0; k < vec_len(g->card); k++)
            vec_push(have, g->card[k].name);
        diag_error(s->d, g->span, "no measure '%s': .sens tran needs a card '.meas tran %s ...'",
                   g->meas[i], g->meas[i]);
        diag_suggest(s->d, g->meas[i], have, vec_len(have));
        vec_free(have);
        st = VS_EINPUT;
    }
    follow_names(g);
    return st;
}

/* -- parameters -- */

/* A device that has the model card. */
static const char *device_of_model(const sim *s, const char *model)
{
    for (size_t i = 0; i < vec_len(s->flat.inst); i++)
        if (s->flat.inst[i].model && s->flat.inst[i].model->name == model)
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

static bool find_value(sim *s, by *b)
{
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
    double *x = vs_calloc((size_t)ckt_n(s->ckt) + 1, sizeof *x);
    const bool ok = ckt_find_detail(s->ckt, who, what, &d) == CKT_FOUND &&
                    d.what != CKT_DETAIL_OSDI && d.what != CKT_DETAIL_OPVAR &&
                    ckt_details(s->ckt, &env, x, &d, 1, &b->value) == VS_OK;
    vs_free(x);
    return ok;
}

static vs_status set_value(sim *s, const flat_target *t, double y)
{
    const sim_change c = {.name = t->name,
                          .model = t->kind == FLAT_SET_MODEL,
                          .param = t->param,
                          .value = &y,
                          .n = 1,
                          .span = t->span};
    if (t->kind == FLAT_SET_TEMP)
        return sim_set_temp(s, y, t->span);
    if (t->kind == FLAT_SET_PARAM)
        sim_set_param(s, t->name, y);
    else
        sim_alter(s, &c);
    return VS_OK;
}

static void free_side(side *k)
{
    sim_vary_side_free(&k->at);
    vec_free(k->ic);
    vec_free(k->number);
}

static void take_starts(gradient *g, side *k)
{
    sim *s = g->s;
    elab_node_value *ic, *nodeset;
    elab_ics(&ic, &nodeset, s->ckt, &s->flat);
    if (g->tran.uic) {
        vec_extend(k->ic, (size_t)ckt_n(s->ckt) + 1);
        ckt_uic(s->ckt, k->ic);
    }
    for (size_t i = 0; i < vec_len(ic); i++) {
        if (g->tran.uic)
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

/* The circuit with b a little off, or as it is where that is not allowed. */
static vs_status look_at(gradient *g, by *b, side *k)
{
    sim *s = g->s;
    const diag_mark before = diag_try(s->d);
    vs_status st = set_value(s, &b->t, k->value);
    if (st == VS_OK)
        st = sim_build(s);
    diag_take_back(s->d, before);
    if (st == VS_OK && sim_vary_same(&g->now)) {
        sim_vary_take(&g->now, &k->at);
        take_starts(g, k);
        return VS_OK;
    }
    k->value = b->value;
    for (size_t i = 0; i < vec_len(g->base.ic); i++)
        vec_push(k->ic, g->base.ic[i]);
    for (size_t i = 0; i < vec_len(g->base.number); i++)
        vec_push(k->number, g->base.number[i]);
    return st == VS_EINPUT || st == VS_OK ? VS_OK : st;
}

static double step_of(const by *b)
{
    return b->t.kind == FLAT_SET_TEMP ? STEP_OF_TEMPERATURE
           : b->value != 0            ? fabs(b->value) * STEP
                                      : STEP_OF_ZERO;
}

static vs_status vary_one(gradient *g, by *b)
{
    sim *s = g->s;
    vs_status st = VS_OK;
    if (!find_value(s, b) || !isfinite(b->value)) {
        diag_error(s->d, b->t.span, "'%s' has no value that could be moved", b->t.text);
        return VS_EINPUT;
    }
    ckt_redo_note(s->ckt, true);
    for (int k = 0; k < 2 && st == VS_OK; k++) {
        b->side[k].value = b->value + (k ? 1 : -1) * step_of(b);
        st = look_at(g, b, &b->side[k]);
    }
    if (st == VS_OK)
        st = set_value(s, &b->t, b->value);
    if (st == VS_OK)
        st = sim_build(s);
    if (st == VS_OK && b->side[0].value == b->side[1].value) {
        diag_error(s->d, b->t.span, "'%s' can be moved to neither side of %.9g", b->t.text,
                   b->value);
        st = VS_EINPUT;
    }
    return st;
}

static vs_status find_variations(gradient *g)
{
    sim *s = g->s;
    sim_saved *was = sim_save(s);
    vs_status st = sim_ready(s, &g->tran);
    sim_many(s);
    if (st == VS_OK)
        st = sim_build(s);
    if (st == VS_OK) {
        sim_vary_begin(&g->now, s, &g->mem);
        take_starts(g, &g->base);
    }
    for (size_t i = 0; i < vec_len(g->by) && st == VS_OK; i++)
        st = vary_one(g, &g->by[i]);
    sim_restore(s, was);
    sim_saved_free(&was);
    return st;
}

/* -- the run -- */

static vs_status refuse(const gradient *g)
{
    const sim *s = g->s;
    const char *who = ckt_vary_refuses(s->ckt);
    if (s->flat.trannoise.on)
        diag_error(s->d, g->span,
                   ".sens tran: there are no gradients of runs with noise; leave "
                   ".trannoise out");
    else if (s->option.rcreduce > 0)
        diag_error(s->d, g->span,
                   ".sens tran: option rcreduce joins elements that parameters belong to; leave it "
                   "out");
    else if (ckt_has_delays(s->ckt))
        diag_error(s->d, g->span, ".sens tran: transmission lines and delays have no adjoint here");
    else if (who)
        diag_error(s->d, g->span,
                   ".sens tran: '%s' remembers more than charges, or is of an OSDI library: it has "
                   "no adjoint here",
                   who);
    else
        return VS_OK;
    return VS_EUNSUPPORTED;
}

static vs_status add_varied(gradient *g, const by *b, int32_t number)
{
    const sim_vary_side both[2] = {b->side[0].at, b->side[1].at};
    return sim_vary_add(&g->now, both, b->side[1].value - b->side[0].value, number, g->vary);
}

static vs_status begin_variations(gradient *g)
{
    vs_status st = VS_OK;
    g->vary = ckt_vary_new(g->s->ckt);
    for (size_t i = 0; i < vec_len(g->by) && st == VS_OK; i++)
        st = add_varied(g, &g->by[i], (int32_t)i);
    return st == VS_OK ? ckt_vary_ready(g->vary, vec_len(g->meas)) : st;
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

static vs_status run(gradient *g)
{
    static const sim_axis axis = {"time", "time", "s"};
    sim *s = g->s;
    const flat_ana *a = &g->tran;
    const ana_tran_opt o = {a->tstep, a->tstop, a->tstart, a->tmax, a->uic, 0, 0, 0};
    vs_status st = sim_plot_begin(s, "tran", "Transient Analysis", &axis, false);
    if (st != VS_OK)
        return st;
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "sens");
    st = ana_tape_run(&g->tape, s->ana, &o, sim_sink(s, &s->sink), g->memory);
    return sim_plot_end(s, st);
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

static post_env env_of(gradient *g, const card *c, uint64_t *seed)
{
    return (post_env){.set = &g->plots,
                      .d = g->s->d,
                      .span = c->at,
                      .line = c->text,
                      .line_at = c->at,
                      .mem = &g->mem,
                      .seed = seed,
                      .number = number_of,
                      .user = g};
}

static vs_status measure(gradient *g)
{
    uint64_t seed = 1;
    post_measured *before = NULL;
    vs_status st = VS_OK;
    g->value = g->base.number;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        card *c = &g->card[i];
        post_env e = env_of(g, c, &seed);
        if (!c->wanted)
            continue;
        st = post_measure_slope(&e, c->text, c->at, before, vec_len(before), &c->got);
        vec_push(before, c->got);
        if (st == VS_OK)
            post_vec_push(post_plot_add(&g->plots, g->plots.current, c->name, "notype", false),
                          c->got.m.value, 0);
    }
    vec_free(before);
    return st;
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

/* Vectors of the plot are the axis and s->mem_vec. */
static vs_status seeds_of(gradient *g, ana_seed **seed)
{
    for (size_t m = 0; m < vec_len(g->meas); m++) {
        const card *c = find_card(g, g->meas[m]);
        for (size_t i = 0; i < vec_len(c->got.slope); i++) {
            const post_slope *p = &c->got.slope[i];
            const elab_out *o = &g->s->mem_vec[p->vec - 1];
            if (o->is_detail) {
                diag_error(g->s->d, c->at,
                           "the measure '%s' has no derivative: '%s' is a value inside a device; "
                           "voltages and currents of sources have one",
                           c->name, o->name);
                return VS_EINPUT;
            }
            const double weight = p->by * o->factor;
            if (o->hi)
                vec_push(*seed, ((ana_seed){p->point, (int32_t)m, o->hi, weight}));
            if (o->lo)
                vec_push(*seed, ((ana_seed){p->point, (int32_t)m, o->lo, -weight}));
        }
    }
    if (vec_len(*seed))
        qsort(*seed, vec_len(*seed), sizeof **seed, compare_rows);
    return VS_OK;
}

/* -- sums over the points of the adjoint -- */

/* d/dp of the rows of a source that both sides or one of them changes, times f. */
static void add_source(gradient *g, size_t p, int32_t source, const ana_adjoint *at)
{
    const by *b = &g->by[p];
    const ckt_source_facts f = ckt_source_at(g->s->ckt, source);
    const double t = at->env.mode == CKT_STATIC ? 0 : at->env.time;
    const sim_vary_wave *lo = sim_vary_wave_of(&g->now, &b->side[0].at, source),
                        *hi = sim_vary_wave_of(&g->now, &b->side[1].at, source);
    const double span = b->side[1].value - b->side[0].value;
    const double dv = (sim_vary_wave_value(hi, t) - sim_vary_wave_value(lo, t)) / span;
    const double di =
        (hi->m * sim_vary_wave_value(hi, t) - lo->m * sim_vary_wave_value(lo, t)) / span;
    for (size_t m = 0; m < vec_len(g->meas); m++) {
        const double *y = at->f[m];
        g->to[m * vec_len(g->by) + p] +=
            f.is_v ? -y[f.k] * dv : ((f.p ? y[f.p] : 0) - (f.n ? y[f.n] : 0)) * di;
    }
}

static void add_sources(gradient *g, const ana_adjoint *at)
{
    for (size_t p = 0; p < vec_len(g->by); p++) {
        const side *k = g->by[p].side;
        for (size_t i = 0; i < vec_len(k[1].at.wave); i++)
            add_source(g, p, k[1].at.wave[i].source, at);
        for (size_t i = 0; i < vec_len(k[0].at.wave); i++) {
            bool both = false;
            for (size_t j = 0; j < vec_len(k[1].at.wave); j++)
                both |= k[1].at.wave[j].source == k[0].at.wave[i].source;
            if (!both)
                add_source(g, p, k[0].at.wave[i].source, at);
        }
    }
}

/* Start values: those of uic are x itself, those of .ic are held by conductances. */
static void add_starts(gradient *g, const ana_adjoint *at)
{
    for (size_t p = 0; p < vec_len(g->by); p++) {
        const side *k = g->by[p].side;
        for (size_t i = 0; i < vec_len(g->base.ic); i++) {
            const double d = (k[1].ic[i] - k[0].ic[i]) / (k[1].value - k[0].value);
            const size_t node = at->given ? i : (size_t)g->ic_node[i];
            for (size_t m = 0; m < vec_len(g->meas) && d != 0; m++)
                g->to[m * vec_len(g->by) + p] += d * at->f[m][node] * (at->given ? 1 : -at->force);
        }
    }
}

static vs_status visit(void *user, const ana_adjoint *at)
{
    gradient *g = user;
    const size_t n = vec_len(g->meas);
    vs_status st = VS_OK;
    if (at->given || at->env.mode == CKT_STATIC)
        add_starts(g, at);
    if (at->given)
        return VS_OK;
    ckt_pairing *with = vs_malloc((n + 1) * sizeof *with);
    for (size_t m = 0; m < n; m++)
        with[m] = (ckt_pairing){at->f[m], at->q[m]};
    st = ckt_vary_sum(g->vary, &at->env, at->x, with, n, vec_len(g->by), g->to);
    vs_free(with);
    if (st == VS_NOCONV)
        diag_error(g->s->d, g->span, "a derivative is not finite at t = %.9g s", at->env.time);
    add_sources(g, at);
    return st;
}

/* The wanted measures of the run with other parameters in their texts, to the vec. */
static vs_status measure_with(gradient *g, const double *number, double **value)
{
    uint64_t seed = 1;
    vs_status st = VS_OK;
    size_t place = vec_len(g->plots.current->vec);
    for (size_t i = 0; i < vec_len(g->card); i++)
        place -= g->card[i].wanted;
    g->value = number;
    for (size_t i = 0; i < vec_len(g->card) && st == VS_OK; i++) {
        const card *c = &g->card[i];
        post_env e = env_of(g, c, &seed);
        post_meas m = {0};
        if (c->wanted) {
            st = post_measure(&e, c->text, c->at, &m);
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
        const side *k = g->by[p].side;
        double *lo = NULL, *hi = NULL;
        if (!memcmp(k[0].number, k[1].number, bytes))
            continue;
        st = measure_with(g, k[0].number, &lo);
        if (st == VS_OK)
            st = measure_with(g, k[1].number, &hi);
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
    const card *c = find_card(g, g->meas[m]);
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

static vs_status run_and_measure(gradient *g)
{
    ana_seed *seed = NULL;
    vs_status st = run(g);
    if (st == VS_OK)
        st = measure(g);
    if (st == VS_OK)
        st = seeds_of(g, &seed);
    if (st == VS_OK)
        st = begin_variations(g);
    if (st == VS_OK)
        st = ana_tape_back(g->tape, seed, vec_len(seed), (int32_t)vec_len(g->meas), visit, g);
    if (st == VS_OK) {
        ckt_vary_total(g->vary, vec_len(g->meas), vec_len(g->by), g->to);
        st = add_numbers(g);
    }
    vec_free(seed);
    return st;
}

static vs_status find_gradient(gradient *g)
{
    sim *s = g->s;
    vs_status st = find_measures(g);
    if (st == VS_OK)
        st = find_variations(g);
    if (st == VS_OK)
        st = sim_ready(s, &g->tran);
    if (st == VS_OK)
        st = refuse(g);
    if (st == VS_OK)
        st = sim_start_op(s, true);
    if (st != VS_OK)
        return st;
    g->to = vs_calloc(vec_len(g->meas) * vec_len(g->by) + 1, sizeof *g->to);
    const sim_opt was = divert(g);
    st = run_and_measure(g);
    ana_tape_free(&g->tape);
    ckt_vary_free(&g->vary);
    sim_count(s);
    vec_free(s->opt.keep_name);
    s->opt = was;
    sim_fresh(s);
    for (size_t m = 0; m < vec_len(g->meas) && st == VS_OK; m++)
        st = put(g, m);
    return st;
}

static void free_gradient(gradient *g)
{
    for (size_t i = 0; i < vec_len(g->by); i++)
        for (int k = 0; k < 2; k++)
            free_side(&g->by[i].side[k]);
    free_side(&g->base);
    sim_vary_end(&g->now);
    for (size_t i = 0; i < vec_len(g->card); i++)
        vec_free(g->card[i].got.slope);
    vec_free(g->by);
    vec_free(g->card);
    vec_free(g->number);
    vec_free(g->meas);
    vec_free(g->ic_node);
    vs_free(g->to);
    post_set_fini(&g->plots);
    arena_fini(&g->mem);
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
        vec_push(g.by, ((by){.t = a->gradient.by[i]}));
    for (size_t i = 0; i < vec_len(s->flat.ana) && !g.tran.tstop; i++)
        if (s->flat.ana[i].kind == FLAT_TRAN)
            g.tran = s->flat.ana[i];
    if (g.tran.tstop > 0)
        st = find_gradient(&g);
    else
        diag_error(s->d, a->span, ".sens tran needs a .tran card: it is its run that is meant");
    free_gradient(&g);
    return st;
}
