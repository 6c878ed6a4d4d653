/* api_run.c - runs: made, gone on with, ended (run.h). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "api_priv.h"

#include "hot.h"

#define TICK 0.05 /* s between two calls of progress */

/* -- what the engine tells, and the host hears -- */

static void print_line(void *user, const char *text)
{
    vsim *s = ((vsim_run *)user)->d->s;
    if (!s->set.line)
        return;
    api_leave_to_host(s);
    s->set.line(s->set.user, text);
    api_back_from_host(s);
}

static vs_status tell_point(vsim_run *r, const vsim_point *p)
{
    vsim *s = r->d->s;
    if (!r->o.point)
        return VS_OK;
    api_leave_to_host(s);
    const vsim_action action = r->o.point(r->o.user, p);
    api_back_from_host(s);
    if (action != VSIM_DO_PAUSE)
        return action == VSIM_DO_STOP ? VS_STOP : VS_OK;
    if (r->a.kind == FLAT_TRAN)
        return VS_PAUSED;
    diag_error(&s->d, DIAG_NOWHERE, "only transients can be paused; this is %s",
               sim_analysis_name(&r->a));
    return VS_EINPUT;
}

/* Of a transient the point stays where it is until the run goes on; of others it is copied. */
VS_HOT static const double *keep_point(vsim_run *r, const double *x)
{
    const size_t n = (size_t)ckt_n(sim_ckt(r->d->sim)) + 1;
    if (r->a.kind == FLAT_TRAN)
        return x;
    if (r->n_last != n)
        r->last = arena_array(&r->mem, double, n);
    r->n_last = n;
    return memcpy(r->last, x, n * sizeof *x);
}

static vs_status take_point(void *user, double axis, const double *x, const double *z)
{
    vsim_run *r = user;
    r->axis = axis;
    r->x = keep_point(r, x);
    if (r->d->host_wrong)
        return VS_EINPUT;
    return tell_point(r, &(vsim_point){.axis = axis, .x = x, .z = z});
}

static vs_status take_row(void *user, const double *row, size_t n)
{
    vsim_run *r = user;
    r->axis = n ? row[0] : 0;
    return tell_point(r, &(vsim_point){.axis = r->axis, .row = row, .n_row = n});
}

static void take_progress(void *user, double fraction, double axis, const char *unit,
                          const ana_stat *st)
{
    vsim_run *r = user;
    const vsim_progress p = {fraction, axis, unit, st->points_accepted, st->iterations};
    if (!r->o.progress && !r->o.poll)
        return;
    const double now = vs_seconds();
    if (now < r->next_tick)
        return;
    r->next_tick = now + TICK;
    api_leave_to_host(r->d->s);
    if (r->o.progress)
        r->o.progress(r->o.user, &p);
    const bool polled = r->o.poll && r->o.poll(r->o.user);
    api_back_from_host(r->d->s);
    r->polled = r->polled || polled;
}

static bool asked_to_stop(void *user)
{
    const vsim_run *r = user;
    if (r->d->host_wrong || r->polled)
        return true;
    if (!r->o.stop)
        return false;
    api_leave_to_host(r->d->s);
    const bool stop = r->o.stop(r->o.user);
    api_back_from_host(r->d->s);
    return stop;
}

/* -- making -- */

/* What a run is of: a card's text, or the deck's i-th card. */
typedef struct making {
    vsim_deck *d;
    const char *card;              /* NULL: card i of the deck */
    const vsim_analysis *analysis; /* NULL: see card */
    size_t i;
    const vsim_run_options *o;
    vsim_run *r;
} making;

/* Nothing of it stays in memory that later analyses are read to. */
static void own_analysis(vsim_run *r)
{
    str_pool *names = &r->d->s->names;
    flat_ana *a = &r->a;
    for (int32_t i = 0; i < a->n_sweep; i++) {
        flat_sweep *w = &a->sweep[i];
        double *value = vec_fixed(&r->card_mem, double, vec_len(w->value));
        for (size_t k = 0; k < vec_len(w->value); k++)
            value[k] = w->value[k];
        w->value = value;
        w->name = w->name ? str_intern0(names, w->name) : NULL;
        w->param = w->param ? str_intern0(names, w->param) : NULL;
    }
    a->out_name = a->out_name ? str_intern0(names, a->out_name) : NULL;
}

/* The sweeps of a struct have their values as arrays. */
static void take_sweeps(vsim_run *r)
{
    for (size_t i = 0; i < r->n_sweep && (int32_t)i < r->a.n_sweep; i++)
        r->a.sweep[i].value = r->sweep[i];
}

/* Noise of devices, which no card of an analysis asks for. */
static void ask_for_noise(vsim_run *r, const vsim_analysis *a)
{
    r->noise = (flat_trannoise){.on = a->device_noise,
                                .fmax = a->noise_fmax,
                                .scale = a->noise_scale == 0 ? 1 : a->noise_scale,
                                .seed_given = a->noise_seed != 0,
                                .seed = a->noise_seed};
}

/* The analysis as it reads with the present values; the netlist is up to date. */
static vs_status read_analysis(vsim_run *r)
{
    vsim *s = r->d->s;
    sim *e = r->d->sim;
    vs_status st = VS_OK;
    arena_fini(&r->card_mem);
    arena_init(&r->card_mem);
    if (r->card) {
        s->own_file = vec_len(s->d.file) + 1;
        st = sim_parse(e, &r->a, r->card, DIAG_NOWHERE);
    } else if (r->number < vec_len(sim_flat(e)->ana)) {
        r->a = sim_flat(e)->ana[r->number];
    } else {
        diag_error(&s->d, DIAG_NOWHERE, "the deck has %zu analysis cards; there is no card %zu",
                   vec_len(sim_flat(e)->ana), r->number);
        st = VS_EINPUT;
    }
    if (st)
        return st;
    own_analysis(r);
    take_sweeps(r);
    r->a.noise = r->noise;
    return VS_OK;
}

static void copy_options(vsim_run *r, const vsim_run_options *o)
{
    vsim_run_options_init(&r->o);
    if (!o)
        return;
    memcpy(&r->o, o, o->size < sizeof r->o ? o->size : sizeof r->o);
    for (size_t i = 0; i < r->o.n_name; i++)
        vec_push(r->keep, str_intern0(&r->d->s->names, o->name[i]));
    r->o.name = NULL;
}

/* What the card needs of the models is compiled with the rest. */
static flat_ana_kind kind_of(const making *m)
{
    const char *card = m->r->card;
    if (!card)
        return vsim_deck_card_count(m->d) > m->i ? (flat_ana_kind)vsim_deck_card_kind(m->d, m->i)
                                                 : FLAT_OP;
    card += strspn(card, " \t");
    const size_t n = strcspn(card, " \t");
    for (flat_ana_kind k = FLAT_OP; k < FLAT_N_ANA; k++)
        if (strlen(sim_analysis_word(k)) == n && !str_ncasecmp(card, sim_analysis_word(k), n))
            return k;
    return FLAT_OP;
}

static vs_status describe(making *m)
{
    vsim_run *r = m->r;
    r->number = m->i;
    if (m->analysis) {
        vsim_analysis a;
        r->card = api_card_of(m->d, &r->mem, m->analysis, &a);
        if (!r->card)
            return VS_EINPUT;
        ask_for_noise(r, &a);
        for (size_t i = 0; a.kind == VSIM_DC && i < a.n_sweep; i++) {
            const vsim_dc_sweep *w = &a.sweep[i];
            r->sweep[i] = vec_fixed(&r->mem, double, w->n);
            for (size_t k = 0; k < w->n; k++)
                r->sweep[i][k] = w->value[k];
            r->n_sweep = i + 1;
        }
    } else if (m->card) {
        r->card = arena_strndup(&r->mem, m->card, strlen(m->card));
    }
    vs_status st = VS_OK;
    if (r->noise.on) /* gains of sources of noise are in the form of these */
        st = api_circuit_for(m->d, FLAT_NOISE);
    if (!st)
        st = api_circuit_for(m->d, kind_of(m));
    return st ? st : read_analysis(r);
}

static vs_status do_make(void *arg)
{
    making *m = arg;
    vsim_deck *d = m->d;
    if (!api_may_change(d->s, "vsim_run_card"))
        return VS_EINPUT;
    if (d->active) {
        diag_error(&d->s->d, DIAG_NOWHERE,
                   "another run of this deck is under way: vsim_run_go ends it in order, "
                   "vsim_run_stop at once");
        return VS_EINPUT;
    }
    vsim_run *r = m->r = vs_calloc(1, sizeof *r);
    r->d = d;
    r->next = d->run;
    d->run = r;
    arena_init(&r->mem);
    arena_init(&r->card_mem);
    post_set_init(&r->plots, &d->s->names);
    copy_options(r, m->o);
    return describe(m);
}

static vsim_status make(making *m, vsim_run **r)
{
    *r = NULL;
    const vsim_status st = api_enter(m->d->s, do_make, m);
    if (!st)
        *r = m->r;
    else if (m->r)
        api_free_run(m->r);
    return st;
}

vsim_status vsim_run_card(vsim_deck *d, const char *card, const vsim_run_options *o, vsim_run **r)
{
    making m = {.d = d, .card = card, .o = o};
    return make(&m, r);
}

vsim_status vsim_run_deck_card(vsim_deck *d, size_t i, const vsim_run_options *o, vsim_run **r)
{
    making m = {.d = d, .i = i, .o = o};
    return make(&m, r);
}

vsim_status vsim_run_analysis(vsim_deck *d, const vsim_analysis *a, const vsim_run_options *o,
                              vsim_run **r)
{
    making m = {.d = d, .analysis = a, .o = o};
    return make(&m, r);
}

size_t vsim_deck_card_count(const vsim_deck *d)
{
    size_t n;
    (void)sim_todo(d->sim, &n);
    return n;
}

vsim_kind vsim_deck_card_kind(const vsim_deck *d, size_t i)
{
    static const vsim_kind kind[] = {
        [FLAT_OP] = VSIM_OP,           [FLAT_DCSWEEP] = VSIM_DC,  [FLAT_TRAN] = VSIM_TRAN,
        [FLAT_AC] = VSIM_AC,           [FLAT_NOISE] = VSIM_NOISE, [FLAT_TF] = VSIM_TF,
        [FLAT_SENS] = VSIM_SENS,       [FLAT_PZ] = VSIM_PZ,       [FLAT_SP] = VSIM_SP,
        [FLAT_HB] = VSIM_HB,           [FLAT_HBAC] = VSIM_HBAC,   [FLAT_HBNOISE] = VSIM_HBNOISE,
        [FLAT_HBSP] = VSIM_HBSP,       [FLAT_LSTB] = VSIM_LSTB,   [FLAT_ACXF] = VSIM_ACXF,
        [FLAT_DCXF] = VSIM_DCXF,       [FLAT_DISTO] = VSIM_DISTO, [FLAT_DCMATCH] = VSIM_DCMATCH,
        [FLAT_ACMATCH] = VSIM_ACMATCH, [FLAT_HBXF] = VSIM_HBXF};
    size_t n;
    const flat_ana *a = sim_todo(d->sim, &n);
    return i < n ? kind[a[i].kind] : VSIM_OP;
}

/* -- going -- */

static void listen(vsim_run *r)
{
    static const sim_keep keep[] = {[VSIM_KEEP_SAVED] = SIM_KEEP_ALL,
                                    [VSIM_KEEP_NAMED] = SIM_KEEP_NAMED,
                                    [VSIM_KEEP_NOTHING] = SIM_KEEP_NOTHING};
    sim_opt *o = sim_opts(r->d->sim);
    o->hook = (sim_hook){.line = print_line,
                         .progress = take_progress,
                         .stop = asked_to_stop,
                         .point = take_point,
                         .row = take_row,
                         .user = r};
    o->keep = keep[r->o.keep];
    o->keep_name = r->keep;
}

/* The last point outlives the analysis; its plots are the run's from now on. */
static vs_status end(vsim_run *r, vs_status st)
{
    vsim_deck *d = r->d;
    sim *e = d->sim;
    if (r->x && r->a.kind == FLAT_TRAN) {
        const size_t n = (size_t)ckt_n(sim_ckt(e)) + 1;
        r->last = arena_array(&r->mem, double, n);
        r->x = memcpy(r->last, r->x, n * sizeof *r->last);
    }
    sim_end_analysis(e);
    sim_opts(e)->hook = (sim_hook){.user = r};
    sim_opts(e)->keep = SIM_KEEP_NOTHING;
    sim_opts(e)->keep_name = NULL;
    r->plots = *sim_plots(e);
    post_set_init(sim_plots(e), &d->s->names);
    r->after = *sim_stats(e);
    r->state = API_ENDED;
    d->active = NULL;
    if (d->host_wrong)
        return VS_EINPUT;
    if (st == VS_STOP && d->s->d.n_error)
        st = VS_EINPUT; /* a model ended it */
    return st ? st : api_measure_all(r);
}

/* The results so far, then the transient. */
static void plots_image(vsim_run *r, image *im)
{
    post_image(sim_plots(r->d->sim), im);
    IMAGE_ONE(im, r->axis);
}

static vs_status read(vsim_run *r)
{
    const vs_status st = api_circuit_for(r->d, r->a.kind);
    return st ? st : read_analysis(r);
}

/* The circuit, with what the vectors that are wanted need, and the analysis. */
static vs_status prepare(vsim_run *r)
{
    vs_status st = read(r);
    bool more = false;
    if (st)
        return st;
    api_want_measures(r);
    for (size_t i = 0; i < vec_len(r->keep); i++)
        more |= sim_meter(r->d->sim, r->keep[i]);
    return more ? read(r) : VS_OK;
}

/* im: of a checkpoint that the run begins with, NULL: it begins at its start. */
static vs_status start(vsim_run *r, image *im)
{
    vsim_deck *d = r->d;
    vs_status st = prepare(r);
    if (st)
        return st;
    listen(r);
    r->before = *sim_stats(d->sim);
    r->state = API_UNDER_WAY;
    d->host_wrong = false;
    d->active = r;
    if (r->a.kind != FLAT_TRAN)
        return VS_OK;
    if (im)
        plots_image(r, im);
    sim_opts(d->sim)->take_up = im;
    st = sim_tran_begin(d->sim, &r->a);
    sim_opts(d->sim)->take_up = NULL;
    return st ? end(r, st) : VS_OK;
}

static vs_status go_on(vsim_run *r, double until)
{
    sim *e = r->d->sim;
    if (r->a.kind != FLAT_TRAN)
        return end(r, sim_run(e, &r->a));
    const vs_status st = sim_tran_go(e, until);
    return st == VS_PAUSED ? st : end(r, sim_tran_end(e, st));
}

static vs_status do_go(void *arg)
{
    const api_args *a = arg;
    vsim_run *r = a->r;
    diag *d = &r->d->s->d;
    const double t0 = vs_seconds();
    const char *wrong =
        r->state == API_ENDED                          ? "the run has ended already"
        : r->d->active && r->d->active != r            ? "another run of this deck is under way"
        : isfinite(a->value) && r->a.kind != FLAT_TRAN ? "only transients run until a time"
        : isnan(a->value)                              ? "the time is not a number"
                                                       : NULL;
    if (wrong)
        diag_error(d, DIAG_NOWHERE, "%s", wrong);
    if (wrong || !api_may_change(r->d->s, "vsim_run_go"))
        return VS_EINPUT;
    vs_status st = r->state == API_NEW ? start(r, NULL) : VS_OK;
    if (!st)
        st = go_on(r, a->value);
    r->seconds += vs_seconds() - t0;
    return st;
}

vsim_status vsim_run_go(vsim_run *r)
{
    api_args a = {.r = r, .value = INFINITY};
    return api_enter(r->d->s, do_go, &a);
}

vsim_status vsim_run_until(vsim_run *r, double t)
{
    api_args a = {.r = r, .value = t};
    return api_enter(r->d->s, do_go, &a);
}

/* -- checkpoints -- */

static vs_status do_checkpoint(void *arg)
{
    const api_args *a = arg;
    vsim_run *r = a->r;
    diag *d = &r->d->s->d;
    if (!api_may_change(r->d->s, "vsim_run_checkpoint"))
        return VS_EINPUT;
    if (r->state != API_UNDER_WAY || r->a.kind != FLAT_TRAN) {
        diag_error(d, DIAG_NOWHERE, "only a transient that is paused can be kept");
        return VS_EINPUT;
    }
    image im = image_take();
    plots_image(r, &im);
    vs_status st = sim_tran_image(r->d->sim, &im);
    if (!st && (st = sim_checkpoint_write(&im, a->name)))
        diag_error(d, DIAG_NOWHERE, "checkpoint '%s' cannot be written: %s", a->name,
                   files_why(errno));
    vec_free(im.bytes);
    return st;
}

vsim_status vsim_run_checkpoint(vsim_run *r, const char *path)
{
    api_args a = {.r = r, .name = path};
    return api_enter(r->d->s, do_checkpoint, &a);
}

static vs_status do_restart(void *arg)
{
    const api_args *a = arg;
    vsim_run *r = a->r;
    diag *d = &r->d->s->d;
    const double t0 = vs_seconds();
    const char *wrong = r->state != API_NEW      ? "the run has begun already"
                        : r->d->active           ? "another run of this deck is under way"
                        : r->a.kind != FLAT_TRAN ? "only transients go on from checkpoints"
                        : sim_opts(r->d->sim)->out
                            ? "the deck has an output file, which would lack the points before"
                            : NULL;
    if (wrong)
        diag_error(d, DIAG_NOWHERE, "%s", wrong);
    if (wrong || !api_may_change(r->d->s, "vsim_run_restart"))
        return VS_EINPUT;
    image im;
    uint8_t *bytes;
    const char *why;
    vs_status st = sim_checkpoint_read(&im, &bytes, a->name, &why);
    if (st)
        diag_error(d, DIAG_NOWHERE, "checkpoint '%s': %s", a->name, why);
    else
        st = start(r, &im);
    vec_free(bytes);
    r->seconds += vs_seconds() - t0;
    return st ? st : VS_PAUSED;
}

vsim_status vsim_run_restart(vsim_run *r, const char *path)
{
    api_args a = {.r = r, .name = path};
    return api_enter(r->d->s, do_restart, &a);
}

static vs_status do_stop(void *arg)
{
    vsim_run *r = ((const api_args *)arg)->r;
    if (!api_may_change(r->d->s, "vsim_run_stop"))
        return VS_EINPUT;
    if (r->state != API_UNDER_WAY)
        return VS_OK;
    const vs_status st = end(r, sim_tran_end(r->d->sim, VS_STOP));
    return st == VS_STOP ? VS_OK : st;
}

vsim_status vsim_run_stop(vsim_run *r)
{
    api_args a = {.r = r};
    return api_enter(r->d->s, do_stop, &a);
}

static vs_status free_run(void *arg)
{
    vsim_run *r = arg;
    vsim_run **at = &r->d->run;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    post_set_fini(&r->plots);
    vec_free(r->keep);
    vec_free(r->measured);
    arena_fini(&r->card_mem);
    arena_fini(&r->mem);
    vs_free(r);
    return VS_OK;
}

void api_free_run(vsim_run *r)
{
    api_args a = {.r = r};
    vsim *s = r->d->s;
    if (r->state == API_UNDER_WAY)
        (void)api_enter(s, do_stop, &a);
    api_release(s, free_run, r);
}

void vsim_run_free(vsim_run **r)
{
    if (*r)
        api_free_run(*r);
    *r = NULL;
}

/* -- state -- */

double vsim_run_axis(const vsim_run *r) { return r->axis; }
const double *vsim_run_point(const vsim_run *r) { return r->x; }

void vsim_run_stats(const vsim_run *r, vsim_run_stat *st)
{
    const sim *e = r->d->sim;
    *st = (vsim_run_stat){.seconds = r->seconds};
    if (r->state == API_NEW)
        return;
    const sim_stat *b = &r->before, *a = r->state == API_ENDED ? &r->after : sim_stats(e);
    *st = (vsim_run_stat){.accepted = a->accepted - b->accepted,
                          .rejected = a->rejected - b->rejected,
                          .iterations = a->iterations - b->iterations,
                          .evaluations = a->evaluations - b->evaluations,
                          .bypasses = a->bypasses - b->bypasses,
                          .op_method = a->op_method,
                          .seconds = r->seconds};
    if (r->state != API_UNDER_WAY || !sim_ana(e))
        return;
    const ana_stat *live = ana_stats(sim_ana(e));
    const ckt_stat *c = ckt_stats(sim_ckt(e));
    st->accepted += live->points_accepted;
    st->rejected += live->points_rejected;
    st->iterations += live->iterations;
    st->evaluations += c->n_eval;
    st->bypasses += c->n_bypass;
    st->op_method = live->op_method;
}
