/* sim.c - deck, netlist, circuit and what changes them. See sim.h. */
#include "sim_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "vec.h"

enum {
    MOST_ROWS = 64
}; /* of a model that are kept of circuits that are gone, besides two for each instance */

sim *sim_new(diag *d, str_pool *names)
{
    sim *s = vs_malloc(sizeof *s);
    *s = (sim){.d = d, .names = names, .stale = true};
    arena_init(&s->mem);
    arena_init(&s->ckt_mem);
    arena_init(&s->card_mem);
    post_set_init(&s->plots, names);
    gen_init(&s->gen);
    sim_memo_init(s);
    return s;
}

sim_opt *sim_opts(sim *s) { return &s->opt; }
const sim_stat *sim_stats(const sim *s) { return &s->st; }
diag *sim_diag(const sim *s) { return s->d; }
str_pool *sim_names(const sim *s) { return s->names; }
const net_deck *sim_deck(const sim *s) { return &s->deck; }
const flat *sim_flat(const sim *s) { return &s->flat; }
ckt *sim_ckt(const sim *s) { return s->ckt; }
ana *sim_ana(const sim *s) { return s->ana; }
post_set *sim_plots(sim *s) { return s->opt.plots ? s->opt.plots : &s->plots; }
const option_set *sim_option(const sim *s) { return &s->option; }
flat_override *sim_params(const sim *s) { return s->over; }
double sim_temp(const sim *s) { return s->temp; }
double sim_build_seconds(const sim *s) { return s->s_build; }
const char *sim_why(const sim *s) { return s->why; }
void sim_why_cut(sim *s, size_t len) { s->why[len] = 0; }
void sim_end_analysis(sim *s) { ana_free(&s->ana); }

const flat_ana *sim_todo(const sim *s, size_t *n)
{
    *n = s->n_todo;
    return s->todo;
}

void sim_forget_plots(sim *s)
{
    const bool no_date = s->plots.no_date;
    post_set_fini(&s->plots);
    post_set_init(&s->plots, s->names);
    s->plots.no_date = no_date;
    memset(s->n_touchstone, 0, sizeof s->n_touchstone);
}

void sim_tell_setup(sim *s)
{
    if (s->elab && s->ckt)
        elab_tell_setup(s->elab);
}

void sim_drop_circuit(sim *s)
{
    ckt_kept_free(&s->kept);
    ana_free(&s->ana);
    elab_free(&s->elab);
    ckt_free(&s->ckt);
    sim_forget_cards(s);
}

void sim_drop_netlist(sim *s)
{
    sim_drop_circuit(s);
    sim_plan_drop(s);
    s->stale = s->deep = true;
}

void sim_free(sim **at)
{
    sim *s = *at;
    *at = NULL;
    if (!s)
        return;
    sim_part_end(s, false);
    sim_drop_netlist(s);
    gen_fini(&s->gen);
    sim_memo_fini(s);
    vec_free(s->opt.keep_name);
    vec_free(s->opt.save);
    vec_free(s->over);
    vec_free(s->change);
    sim_forget_changes(s);
    vec_free(s->watch);
    vec_free(s->wave);
    vec_free(s->hb_from);
    vec_free(s->hb_shot);
    vec_free(s->linear);
    vec_free(s->last);
    vec_free(s->deck.metered);
    vec_free(s->option_text);
    vec_free(s->vec);
    vec_free(s->mem_vec);
    sim_limits_free(s);
    vec_free(s->detail);
    vec_free(s->detail_value);
    vec_free(s->detail_imag);
    vs_free(s->row);
    vs_free(s->x);
    post_set_fini(&s->plots);
    arena_fini(&s->card_mem);
    arena_fini(&s->ckt_mem);
    arena_fini(&s->mem);
    vs_free(s);
}

bool sim_stopped(const sim *s) { return s->opt.hook.stop && s->opt.hook.stop(s->opt.hook.user); }

/* Takes back messages of an elaboration after the first: they were given then. */
static void drop_repeated(sim *s, diag_mark m, vs_status st)
{
    if (!st && s->built)
        diag_take_back(s->d, m);
}

/* -- the deck -- */

static net_opt with_params(const sim *s, const net_opt *opt)
{
    net_opt with = *opt;
    with.define = s->over;
    with.n_define = vec_len(s->over);
    with.threads = s->opt.threads;
    return with;
}

hash128 sim_text(const sim *s)
{
    hash128 *all = NULL;
    for (size_t i = s->text_from; i < s->text_to; i++)
        if (s->d->file[i].text)
            vec_push(all, hash128_of(s->d->file[i].text, s->d->file[i].len));
    const hash128 sum = hash128_of(all, vec_len(all) * sizeof *all);
    vec_free(all);
    return sum;
}

vs_status sim_read(sim *s, const char *path, const net_opt *opt)
{
    double t0 = vs_seconds();
    const net_opt with = with_params(s, opt);
    s->text_from = vec_len(s->d->file);
    vs_status st = net_read(&s->deck, s->d, s->names, &s->mem, path, &with);
    s->as_read = s->deck;
    s->text_to = vec_len(s->d->file);
    s->st.s.parse += vs_seconds() - t0;
    return st;
}

vs_status sim_read_text(sim *s, const char *name, const char *text, size_t len, const net_opt *opt)
{
    double t0 = vs_seconds();
    const net_opt with = with_params(s, opt);
    s->text_from = vec_len(s->d->file);
    vs_status st = net_read_text(&s->deck, s->d, s->names, &s->mem, name, text, len, &with);
    s->as_read = s->deck;
    s->text_to = vec_len(s->d->file);
    s->st.s.parse += vs_seconds() - t0;
    return st;
}

void sim_change_deck(sim *s, const net_deck *deck)
{
    const char **metered = s->deck.metered;
    sim_drop_netlist(s);
    s->deck = *deck;
    s->deck.metered = metered;
    sim_deep(s, "another deck");
}

/* The options of the deck, then those that the client has set. */
static vs_status options_again(sim *s)
{
    const char **text = s->option_text;
    s->option_text = NULL; /* each that is set again is noted again */
    vs_status st = sim_read_options(s);
    for (size_t i = 0; i < vec_len(text) && !st; i++)
        st = sim_set_option(s, text[i], DIAG_NOWHERE);
    vec_free(text);
    return st;
}

vs_status sim_use_deck(sim *s, const net_deck *deck)
{
    const diag_mark m = diag_try(s->d);
    sim_change_deck(s, deck);
    const vs_status st = options_again(s);
    drop_repeated(s, m, st);
    return st;
}

vs_status sim_use_read_deck(sim *s)
{
    const bool taken = s->deck.taken;
    const vs_status st = sim_use_deck(s, &s->as_read);
    s->deck.taken = taken;
    return st;
}

vs_status sim_read_options(sim *s)
{
    double t0 = vs_seconds();
    flat options;
    arena mem;
    arena_init(&mem);
    flat_options(&options, &s->deck, s->d, s->names, &mem);
    const vs_status st = elab_options(&s->option, &options, s->d);
    elab_simparam(s->simparam, &s->option);
    arena_fini(&mem);
    s->temp = s->option.temp;
    s->st.s.parse += vs_seconds() - t0;
    return st;
}

/* -- changes -- */

/* Is something of the present circuit computed from this parameter of the top level? Those of
 * subcircuits ("sub.name") are none before they are set. */
static bool is_used(const sim *s, const char *name)
{
    if (strchr(name, '.') || !s->flat.mem || s->deep)
        return true;
    for (size_t i = 0; i < vec_len(s->flat.used); i++)
        if (s->flat.used[i] == name)
            return true;
    return false;
}

void sim_set_param(sim *s, const char *name, double value)
{
    size_t i = 0;
    while (i < vec_len(s->over) && s->over[i].name != name)
        i++;
    if (i < vec_len(s->over))
        s->over[i].value = value;
    else
        vec_push(s->over, (flat_override){name, value, false});
    if (is_used(s, name))
        sim_param_changed(s, name);
}

void sim_unset_param(sim *s, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(s->over); i++)
        if (s->over[i].name != name)
            s->over[n++] = s->over[i];
    if (s->over)
        vec_head_of(s->over)->len = n;
    if (is_used(s, name))
        sim_param_changed(s, name);
}

void sim_set_sample(sim *s, uint64_t seed, int64_t sample)
{
    s->option.given[OPTION_seed] = s->deck.vary = true;
    s->option.seed = s->deck.seed = seed;
    s->deck.sample = sample;
    sim_knob_changed(s, FLAT_KNOB_DRAW, "sample");
}

vs_status sim_set_option_number(sim *s, const char *name, double value, diag_span span)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    flat_option *list = NULL;
    vec_push(list, ((flat_option){.name = name, .str = text, .value = value, .span = span}));
    const flat f = {.option = list};
    const option_set before = s->option;
    double models_before[IR_N_SIMPARAM];
    memcpy(models_before, s->simparam, sizeof models_before);
    const int warnings = s->d->n_warning;
    vs_status st = elab_set_options(&s->option, &f, s->d);
    elab_simparam(s->simparam, &s->option);
    vec_free(list);
    if (!st && s->d->n_warning > warnings) {
        diag_error(s->d, span, "no option '%s' to step", name);
        st = VS_EINPUT;
    }
    if (st)
        return st;
    sim_number_changed(s, SIM_OF_OPTIONS);
    if (before.rcreduce != s->option.rcreduce || before.rcfreq != s->option.rcfreq)
        sim_deep(s, name);
    if (!strcmp(name, "temp"))
        return sim_set_temp(s, s->option.temp, span);
    if (before.given[OPTION_seed] != s->option.given[OPTION_seed] || before.seed != s->option.seed)
        sim_set_sample(s, s->option.seed, s->deck.sample);
    else if (memcmp(models_before, s->simparam, sizeof models_before)) /* devices read it */
        sim_ambient_changed(s, name, false);
    else
        sim_analysis_changed(s, name);
    return VS_OK;
}

void sim_fresh(sim *s)
{
    if (s->ckt)
        ckt_fresh(s->ckt);
}

vs_status sim_set_temp(sim *s, double celsius, diag_span span)
{
    if (!(celsius > -273.15)) {
        diag_error(s->d, span, "%g degrees Celsius is not above absolute zero", celsius);
        return VS_EINPUT;
    }
    if (s->temp != celsius) {
        s->temp = celsius;
        sim_ambient_changed(s, "temp", true);
    }
    return VS_OK;
}

void sim_reset(sim *s, const flat_override *over, size_t n)
{
    vec_clear(s->over);
    for (size_t i = 0; i < n; i++)
        vec_push(s->over, over[i]);
    vec_clear(s->change);
    sim_forget_changes(s);
    s->temp = s->option.temp;
    sim_deep(s, "reset");
}

/* -- netlist and circuit -- */

/* The deck's own list of analyses outlives the flat netlists that come later. */
static void copy_analyses(sim *s)
{
    s->n_todo = vec_len(s->flat.ana);
    s->todo = arena_array(&s->mem, flat_ana, s->n_todo);
    if (s->n_todo)
        memcpy(s->todo, s->flat.ana, s->n_todo * sizeof *s->todo);
}

static int threads_of(const sim *s) { return s->opt.threads ? s->opt.threads : s->option.threads; }

vs_status sim_flatten(sim *s)
{
    sim_drop_circuit(s);
    sim_plan_drop(s);
    double t0 = vs_seconds();
    const diag_mark m = diag_try(s->d);
    bool first = !s->flat.mem;
    arena_fini(&s->ckt_mem);
    arena_init(&s->ckt_mem);
    s->deck.vary = s->option.given[OPTION_seed];
    s->deck.seed = s->option.seed;
    s->deck.threads = threads_of(s);
    /* a deck that runs once needs none; where wires are reduced, elements are not the deck's */
    s->plan = first || s->option.rcreduce > 0 ? NULL : flat_plan_new();
    for (size_t i = 0; i < vec_len(s->watch) && s->plan; i++)
        flat_plan_watch(s->plan, s->watch[i]);
    s->plan_taken = s->deck.taken;
    s->terminal_of = (elab_names){s->d, s->names, s->opt.lib, &s->flat};
    s->terminals = (flat_terminals){elab_terminal_names, &s->terminal_of};
    vs_status st = flat_build(&s->flat, &s->deck, s->d, s->names, first ? &s->mem : &s->ckt_mem,
                              s->temp, s->over, vec_len(s->over), s->plan, &s->terminals);
    if (st)
        sim_plan_drop(s);
    if (first)
        copy_analyses(s);
    s->deck.taken = true;
    if (!st)
        st = sim_apply_changes(s);
    if (!st)
        sim_reduce(s);
    sim_forget_cards(s); /* elements are others */
    drop_repeated(s, m, st);
    s->stale = s->deep = st != VS_OK;
    s->st.expanded++;
    s->gen.count[GEN_NETLIST].rebuilt++;
    s->st.s.elaborate += vs_seconds() - t0;
    return st;
}

/* Bits 1 << mdl_form_kind that the deck's analyses need. */
static unsigned forms_of(const sim *s)
{
    unsigned forms = 1u << MDL_DC | s->forms;
    if (s->flat.trannoise.on)
        forms |= 1u << MDL_AC | ELAB_NOISE;
    for (size_t i = 0; i < s->n_todo; i++)
        forms |= sim_kind_of(s->todo[i].kind)->forms;
    return forms;
}

static int64_t count_rows(const ckt *c)
{
    int64_t n = 0;
    for (int32_t i = 0; i < ckt_n_group(c); i++)
        n += ckt_group(c, i).n_row;
    return n;
}

static vs_status build_circuit(sim *s)
{
    sim_drop_circuit(s);
    double t0 = vs_seconds(), compile0 = mdl_jit_stats(s->opt.lib)->seconds_compile;
    const diag_mark m = diag_try(s->d);
    if (s->built && !s->opt.shared_models)
        mdl_drop_rows(s->opt.lib, MOST_ROWS + 2 * (int32_t)vec_len(s->flat.inst));
    elab_opt eo = {.programs = s->opt.programs,
                   .may_be_empty = sim_deck(s)->control_at.file >= 0 || s->opt.manner.ngspice,
                   .lenient = s->opt.manner.ngspice,
                   .numbers_move = s->numbers_move,
                   .temp = s->temp,
                   .simparam = s->simparam,
                   .forms = forms_of(s),
                   .threads = threads_of(s),
                   .parallel_min = s->opt.parallel_min,
                   .bypass = (ckt_bypass)s->option.bypass,
                   .delays = (elab_delays)s->option.digital_delay_type,
                   .no_bridge = !s->option.auto_bridge,
                   .tell_bridges = s->option.auto_bridge == 2,
                   .tstep = s->time[0],
                   .tstop = s->time[1],
                   .damped = s->damped};
    vs_status st =
        s->plan ? elab_circuit_bound(&s->ckt, &s->elab, s->d, s->names, s->opt.lib, &s->flat, &eo)
                : elab_circuit(&s->ckt, s->d, s->names, s->opt.lib, &s->flat, &eo);
    drop_repeated(s, m, st);
    double compile = mdl_jit_stats(s->opt.lib)->seconds_compile - compile0;
    s->st.s.compile += compile;
    s->s_build = vs_seconds() - t0 - compile;
    s->st.s.elaborate += s->s_build;
    if (st)
        return st;
    s->built = true;
    s->st.built++;
    sim_number_changed(s, SIM_OF_CIRCUIT);
    gen_rebuilt(&s->numbers, s->linear_node);
    s->gen.count[GEN_PATTERN].rebuilt++;
    s->gen.count[GEN_ROW].rebuilt += count_rows(s->ckt);
    sim_plan_ready(s);
    s->st.unknowns = ckt_n(s->ckt);
    return VS_OK;
}

vs_status sim_build(sim *s)
{
    vs_status st = VS_OK;
    if (s->stale && sim_redo(s))
        st = sim_flatten(s);
    return st || s->ckt ? st : build_circuit(s);
}

/* -- the analysis object -- */

vs_status sim_start(sim *s)
{
    ana_free(&s->ana);
    option_set o = s->option;
    if (s->opt.lu)
        o.lu = s->opt.lu - 1;
    if (!ckt_n(s->ckt)) {
        diag_error(s->d, DIAG_NOWHERE,
                   "there is nothing to compute: no element has a node besides ground");
        return VS_EINPUT;
    }
    vs_status st = ana_new(&s->ana, s->ckt, &o, s->d);
    if (st)
        return st;
    s->gen.count[GEN_SYMBOLIC].rebuilt += ana_stats(s->ana)->n_symbolic;
    sim_ask(s, GEN_PATTERN);
    sim_ask(s, GEN_SYMBOLIC);
    (void)gen_current(&s->numbers, s->linear_node);
    ana_set_watch(s->ana, s->opt.watch);
    ana_set_verify(s->ana, s->opt.verify);
    ana_set_long_work(s->ana, s->opt.hook.long_work ? sim_long_work : NULL, s);
    ana_set_stop(s->ana, s->opt.hook.stop ? sim_asked_to_stop : NULL, s);
    ckt_set_line_sink(s->ckt, s->opt.hook.line, s->opt.hook.user);
    st = sim_put_waves(s);
    if (st)
        return st;
    elab_node_value *ic, *nodeset;
    elab_ics(&ic, &nodeset, s->ckt, &s->flat);
    ana_node_value *list = NULL;
    for (size_t i = 0; i < vec_len(ic); i++)
        vec_push(list, (ana_node_value){ic[i].unknown, ic[i].value});
    ana_set_ic(s->ana, list, vec_len(list));
    vec_clear(list);
    for (size_t i = 0; i < vec_len(nodeset); i++)
        vec_push(list, (ana_node_value){nodeset[i].unknown, nodeset[i].value});
    ana_set_nodeset(s->ana, list, vec_len(list));
    vec_free(list);
    vec_free(ic);
    vec_free(nodeset);
    return VS_OK;
}

vs_status sim_rebuild(sim *s)
{
    vs_status st = sim_build(s);
    if (!st)
        sim_fresh(s);
    return st ? st : sim_start(s);
}

void sim_count(sim *s)
{
    const ana_stat *a = ana_stats(s->ana);
    s->st.accepted += a->points_accepted;
    s->st.rejected += a->points_rejected;
    s->st.iterations += a->iterations;
    s->st.symbolic += a->n_symbolic;
    sim_memo_count(s, a);
    s->st.s.op += a->s_op;
    s->st.s.tran += a->s_tran;
    s->st.s.factor += a->s_factor;
    s->st.s.solve += a->s_solve;
    s->st.s.output += a->s_output;
    if (a->op_method)
        s->st.op_method = a->op_method;
    ckt_stat *c = ckt_stats(s->ckt);
    s->st.evaluations += c->n_eval;
    s->st.bypasses += c->n_bypass;
    s->st.latent += c->n_latent;
    s->st.s.evaluate += c->s_eval;
    s->st.s.stamp += c->s_stamp;
    *c = (ckt_stat){0};
}

void sim_solution(sim *s, double **x, bool *warm)
{
    int32_t n = ckt_n(s->ckt);
    *warm = s->x_valid && s->n_x == n;
    if (!s->x || s->n_x != n) { /* no starting point: it belongs to another circuit */
        vs_free(s->x);
        s->n_x = n;
        s->x = vs_calloc((size_t)n + 1, sizeof *s->x);
        s->x_valid = false;
    }
    *x = s->x;
}

vs_status sim_build_for(sim *s, flat_ana_kind kind)
{
    const sim_kind *k = sim_kind_of(kind);
    if (k->forms & ~forms_of(s)) { /* the models were compiled without what this analysis needs */
        s->forms |= k->forms;
        sim_drop_circuit(s);
    }
    return sim_build(s);
}

/* Waveforms that leave arguments out, and lines, refer to the times of the transient. */
static bool refers_to_times(const flat_inst *in)
{
    if (!in->rare->source)
        return strchr("tou", in->letter) != NULL;
    return in->rare->source->wave != FLAT_DC && in->rare->source->wave != FLAT_PWL;
}

/* The circuit is that of the times of the deck's first .tran, which the elaboration takes by
 * itself, unless another transient runs. */
static void take_times(sim *s, const flat_ana *a)
{
    double time[2] = {a->tstep, a->tstop};
    bool first = true, any = s->damped;
    for (size_t i = 0; i < vec_len(s->flat.ana) && first; i++)
        if (s->flat.ana[i].kind == FLAT_TRAN) {
            first = false;
            if (s->flat.ana[i].tstep == a->tstep && s->flat.ana[i].tstop == a->tstop)
                time[0] = time[1] = 0;
        }
    if (!memcmp(time, s->time, sizeof time))
        return;
    memcpy(s->time, time, sizeof time);
    for (size_t i = 0; i < vec_len(s->flat.inst) && !any; i++)
        any = refers_to_times(&s->flat.inst[i]);
    if (any)
        sim_drop_circuit(s);
}

static void tell_damped(sim *s, const flat_damper *d)
{
    const double t = -d->at.farad / d->at.siemens;
    const flat_inst *in = &s->flat.inst[d->inst];
    const size_t others = vec_len(d) - 1;
    diag_warning(
        s->d, in->span,
        "at node '%s' capacitances sum up to %.3g F and conductances to %.3g S: its voltage "
        "would grow by e each %.3g s, so in transients %s has %.3g ohm in series",
        s->flat.node[d->at.node], d->at.farad, d->at.siemens, t, in->name, d->ohm / in->m);
    if (others)
        diag_note(s->d, s->flat.inst[d[1].inst].span, "%s%s", s->flat.inst[d[1].inst].name,
                  others > 1 ? " and others, too" : ", too");
    diag_note(s->d, DIAG_NOWHERE,
              "what is slow beside that time stays as it is; a transient of at most %.3g s has no "
              "such resistor and follows the growth",
              FLAT_GROWTHS * t);
}

/* Transients have resistors where voltages would grow, other analyses have none. */
static void take_dampers(sim *s, const flat_ana *a)
{
    flat_damper *d = a->kind == FLAT_TRAN ? flat_dampers(&s->flat, a->tstop) : NULL;
    const bool any = d, told = s->told_damped;
    s->told_damped |= any;
    if (any && !told)
        tell_damped(s, d);
    vec_free(d);
    if (any != s->damped)
        sim_drop_circuit(s);
    s->damped = any;
}

vs_status sim_ready(sim *s, const flat_ana *a)
{
    vs_status st = sim_build_for(s, a->kind);
    if (st)
        return st;
    take_dampers(s, a);
    if (a->kind != FLAT_TRAN)
        return sim_build(s);
    const double before[] = {s->time[0], s->time[1]};
    take_times(s, a);
    st = sim_build(s);
    if (st) { /* there may be no circuit of these times: the next analysis has that of before */
        memcpy(s->time, before, sizeof before);
        sim_drop_circuit(s);
    }
    return st;
}

double sim_analysing(const sim_stat *st) { return st->s.op + st->s.tran + st->s.other; }

/* Seconds that have a phase of their own. */
static double accounted(const sim *s)
{
    return s->st.s.parse + s->st.s.elaborate + s->st.s.compile + s->st.s.op + s->st.s.tran;
}

vs_status sim_run(sim *s, const flat_ana *a)
{
    vs_status st = sim_ready(s, a);
    vec_clear(s->last);
    if (st)
        return st;
    const double t0 = vs_seconds(), before = accounted(s);
    st = sim_kind_of(a->kind)->run(s, a);
    s->st.s.other += fmax(vs_seconds() - t0 - (accounted(s) - before), 0);
    return st;
}

const char *sim_analysis_name(const flat_ana *a)
{
    return a->kind == FLAT_HB && a->hb.shooting ? "shooting" : sim_kind_of(a->kind)->name;
}

const char *sim_analysis_word(flat_ana_kind kind) { return sim_kind_of(kind)->word; }

/* -- cards of results -- */

/* Words of cards that are not those of an analysis, and the plots that they mean. */
static const struct {
    const char *word, *plots;
    flat_ana_kind kind;
    bool own;                                 /* of the card of this word alone */
} result[] = {{"pss", "pss", FLAT_HB, false}, /* every orbit of one tone has both plots */
              {"hbosc", "hb", FLAT_HB, true},
              {"phasenoise", "hbnoise", FLAT_HBNOISE, true}};

const char *sim_result_word(size_t i)
{
    if (i < FLAT_N_ANA)
        return sim_analysis_word((flat_ana_kind)i);
    i -= FLAT_N_ANA;
    return i < VS_COUNT(result) ? result[i].word : NULL;
}

bool sim_result_of(const flat_ana *a, const char *word)
{
    for (size_t i = 0; i < VS_COUNT(result); i++)
        if (!str_casecmp(word, result[i].word))
            return a->kind == result[i].kind && (!result[i].own || !str_casecmp(word, a->hb.word));
    return !str_casecmp(word, sim_analysis_word(a->kind));
}

const char *sim_result_plots(const char *word)
{
    for (size_t i = 0; i < VS_COUNT(result); i++)
        if (!str_casecmp(word, result[i].word))
            return result[i].plots;
    return word;
}
