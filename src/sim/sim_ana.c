/* sim_ana.c - one function per analysis card, and the table of them. A function starts the analysis
 * object (sim_start, or sim_start_op for one that begins with an operating point), opens its plot
 * (sim_plot_begin), runs, counts (sim_count) and closes the plot. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "sim_priv.h"
#include "vec.h"

enum {
    MAX_TOLD = 100
}; /* devices whose operating-point variables are told; of others @dev[name] gives them */

/* The operating-point variables of all devices. */
static vs_status tell_devices(sim *s, const double *x)
{
    const ckt_env env = sim_env(s, 0);
    const int32_t n = ckt_n_device(s->ckt);
    vs_status st = VS_OK;
    for (int32_t i = 0; i < n && n <= MAX_TOLD && !st; i++) {
        const va_opvar *var = mdl_module(ckt_device(s->ckt, i).model)->opvar;
        ckt_detail *d = NULL;
        const char **name = NULL;
        double *value = NULL;
        for (size_t k = 0; k < vec_len(var); k++)
            if (var[k].type != VA_STRING) {
                vec_push(d, ((ckt_detail){CKT_DETAIL_OPVAR, i, (int32_t)k, ""}));
                vec_push(name, var[k].name);
            }
        vec_extend(value, vec_len(d));
        st = ckt_details(s->ckt, &env, x, d, vec_len(d), value);
        if (!st && vec_len(d))
            s->opt.hook.device(s->opt.hook.user, ckt_device_name(s->ckt, i), name, value,
                               vec_len(d));
        vec_free(d);
        vec_free(name);
        vec_free(value);
    }
    return st;
}

static vs_status run_op(sim *s, const flat_ana *a)
{
    (void)a;
    double *x;
    bool warm;
    vs_status st = sim_start_both(s);
    if (!st)
        st = sim_plot_begin(s, "op", "Operating Point", NULL, false);
    if (!st)
        sim_solution(s, &x, &warm);
    if (st)
        return st;
    memset(x, 0, ((size_t)s->n_x + 1) * sizeof *x);
    st = ana_op(s->ana, x, false, false);
    s->x_valid = st == VS_OK;
    if (!st)
        st = sim_plot_point(s, 0, x, NULL);
    for (size_t i = 0; !st && s->opt.hook.value && i < vec_len(s->vec); i++)
        s->opt.hook.value(s->opt.hook.user, s->vec[i].name, sim_value(s, &s->vec[i], x));
    if (!st && s->opt.hook.value && s->opt.hook.device)
        st = tell_devices(s, x);
    sim_count(s);
    return sim_plot_end(s, st);
}

ana_tran_opt sim_tran_options(const sim *s, const flat_ana *a)
{
    const double usual = a->tmax > 0 ? a->tmax : fmin(a->tstep, (a->tstop - a->tstart) / 50),
                 most = s->option.delmax;
    return (ana_tran_opt){.tstep = a->tstep,
                          .tstop = a->tstop,
                          .tstart = a->tstart,
                          .tmax = most > 0 ? fmin(most, usual) : a->tmax,
                          .uic = a->uic};
}

vs_status sim_tran_begin(sim *s, const flat_ana *a)
{
    static const sim_axis axis = {"time", "time", "s"};
    ana_tran_opt to = sim_tran_options(s, a);
    const flat_trannoise *noise = a->noise.on ? &a->noise : &s->flat.trannoise;
    if (noise->on) {
        const uint64_t seed = noise->seed_given ? noise->seed : s->option.seed;
        to.noise_fmax = noise->fmax > 0 ? noise->fmax : 0.5 / a->tstep;
        to.noise_scale = noise->scale;
        to.noise_key = draw_text(draw_seed(seed, s->deck.sample), "trannoise");
    }
    vs_status st = sim_ready(s, a);
    vec_clear(s->last);
    if (!st)
        st = s->opt.take_up ? sim_start(s) : sim_start_op(s, true);
    if (!st)
        st = sim_plot_begin(s, "tran", "Transient Analysis", &axis, false);
    if (st)
        return st;
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "tran");
    sim_grid_begin(s, a);
    st = s->opt.take_up ? sim_tran_take_up(s, &to)
                        : ana_tran_begin(s->ana, &to, sim_sink(s, &s->sink));
    return st ? sim_tran_end(s, st) : VS_OK;
}

vs_status sim_tran_end(sim *s, vs_status st)
{
    if (s->ana) { /* sim_tran_change may have lost it */
        ana_tran_end(s->ana, st);
        sim_count(s);
    }
    sim_grid_end(s);
    return sim_plot_end(s, st);
}

static vs_status run_tran(sim *s, const flat_ana *a)
{
    const vs_status st = sim_tran_begin(s, a);
    return st ? st : sim_tran_end(s, sim_tran_go(s, INFINITY));
}

/* -- .dc: the outer loops, and those sweeps that are no source: every point of these elaborates
 * anew
 *    with the value in place. The inner loop over a source is ana_dc. -- */

typedef struct dc_job {
    sim *s;
    const flat_ana *a;
    ana_sweep sweep;
    double at[FLAT_LOOPS]; /* the value of each loop */
} dc_job;

/* A new circuit has the deck's values of the sources of the outer loops. */
static void dc_restore_sources(const dc_job *j, int level)
{
    for (int k = level + 1; k < j->a->n_sweep; k++) {
        const flat_sweep *w = &j->a->sweep[k];
        const int32_t src = w->what == FLAT_SWEEP_SOURCE ? ckt_find_source(j->s->ckt, w->name) : -1;
        if (src >= 0)
            ckt_set_source_dc(j->s->ckt, src, j->at[k]);
    }
}

static vs_status dc_rebuild(dc_job *j, int level)
{
    sim *s = j->s;
    double *x;
    bool fits;
    const bool told = s->ana && ana_told_current(s->ana);
    vs_status st = sim_rebuild(s);
    if (!st)
        dc_restore_sources(j, level);
    if (!st && told)
        ana_tell_no_current(s->ana);
    if (!st)
        st = sim_plot_follow(s, j->a->span);
    if (!st) {
        s->x_valid = true; /* whether it is a solution, `warm` says */
        sim_solution(s, &x, &fits);
        j->sweep.warm &= fits;
    }
    return st;
}

static int32_t sweep_source(sim *s, const flat_sweep *w)
{
    int32_t src = ckt_find_source(s->ckt, w->name);
    if (src < 0)
        diag_error(s->d, w->span, "'%s' is no independent source that .dc could sweep", w->name);
    return src;
}

vs_status sim_dc_put(sim *s, const flat_sweep *w, double v)
{
    if (w->what == FLAT_SWEEP_TEMP)
        return sim_set_temp(s, v, w->span);
    if (w->what == FLAT_SWEEP_PARAM) {
        sim_set_param(s, w->param ? w->param : w->name, v);
        return VS_OK;
    }
    const bool value = !w->param || !strcmp(w->param, "value"); /* of an element; or a parameter */
    const sim_change c = {.name = w->name,
                          .param = value ? str_intern0(s->names, "") : w->param,
                          .value = &v,
                          .n = 1,
                          .span = w->span};
    sim_alter(s, &c);
    return VS_OK;
}

static vs_status dc_set(dc_job *j, int level, double v)
{
    sim *s = j->s;
    const flat_sweep *w = &j->a->sweep[level];
    if (w->what != FLAT_SWEEP_SOURCE) {
        const vs_status st = sim_dc_put(s, w, v);
        return st ? st : dc_rebuild(j, level);
    }
    const int32_t src = sweep_source(s, w);
    if (src < 0)
        return VS_EINPUT;
    ckt_set_source_dc(s->ckt, src, v);
    return VS_OK;
}

/* The operating point where the axis has this value. */
static vs_status dc_point(dc_job *j, double at)
{
    sim *s = j->s;
    vs_status st = ana_dc_op(s->ana, at, s->x, &j->sweep);
    s->own_axis = true;
    s->axis = at;
    if (!st)
        st = sim_plot_point(s, at, s->x, NULL);
    else if (st == VS_NOCONV)
        st = sim_plot_gap(s, at);
    sim_count(s);
    return st;
}

/* Runs everything inside loop `level` for each of its values. */
static vs_status dc_level(dc_job *j, int level)
{
    sim *s = j->s;
    const flat_sweep *w = &j->a->sweep[level];
    ana_sink sink;
    sim_sink(s, &sink);
    if (level == 0 && w->what == FLAT_SWEEP_SOURCE) {
        int32_t src = sweep_source(s, w);
        if (src < 0)
            return VS_EINPUT;
        return ana_dc(s->ana, src, w->value, vec_len(w->value), s->x, &j->sweep, &sink);
    }
    for (size_t k = 0; k < vec_len(w->value); k++) {
        vs_status st = dc_set(j, level, j->at[level] = w->value[k]);
        if (!st && level) {
            st = dc_level(j, level - 1);
        } else if (!st) {
            st = dc_point(j, w->value[k]);
        }
        if (st)
            return st;
        if (sim_stopped(s))
            return VS_STOP;
    }
    return VS_OK;
}

/* -- rows of a table -- */

void sim_before_keep(sim *s, sim_before *b)
{
    *b = (sim_before){.temp = s->temp};
    for (size_t i = 0; i < vec_len(s->over); i++)
        vec_push(b->over, s->over[i]);
    for (size_t i = 0; i < vec_len(s->change); i++) {
        vec_push(b->change, s->change[i]);
        for (int32_t k = 0; k < s->change[i].n; k++)
            vec_push(b->value, s->change[i].value[k]);
    }
}

void sim_before_restore(sim *s, sim_before *b, const char *why)
{
    vec_clear(s->over);
    for (size_t i = 0; i < vec_len(b->over); i++)
        vec_push(s->over, b->over[i]);
    const double *value = b->value;
    vec_clear(s->change);
    sim_forget_changes(s);
    for (size_t i = 0; i < vec_len(b->change); i++) {
        const sim_change *c = &b->change[i];
        memcpy((double *)(uintptr_t)c->value, value, (size_t)c->n * sizeof *value);
        value += c->n;
        vec_push(s->change, *c);
    }
    s->temp = b->temp;
    if (why)
        sim_deep(s, why);
    vec_free(b->over);
    vec_free(b->change);
    vec_free(b->value);
}

vs_status sim_row_put(sim *s, const flat_ana *a, size_t row, bool sources, bool *anew)
{
    vs_status st = VS_OK;
    *anew = false;
    for (int32_t i = 0; i < a->n_sweep && !st; i++) {
        const flat_sweep *w = &a->sweep[i];
        if (w->what == FLAT_SWEEP_FREQ || (w->what == FLAT_SWEEP_SOURCE && !sources))
            continue;
        st = sim_dc_put(s, w, w->value[row]);
        *anew = true;
    }
    return st;
}

static vs_status put_sources(sim *s, const flat_ana *a, size_t row)
{
    for (int32_t i = 0; i < a->n_sweep; i++) {
        const flat_sweep *w = &a->sweep[i];
        const int32_t src = w->what == FLAT_SWEEP_SOURCE ? sweep_source(s, w) : 0;
        if (src < 0)
            return VS_EINPUT;
        if (w->what == FLAT_SWEEP_SOURCE)
            ckt_set_source_dc(s->ckt, src, w->value[row]);
    }
    return VS_OK;
}

/* A point a row; the axis is the number of the row from 1 on, as in Xyce, where from= and to= of
 * measures count so too. */
static vs_status dc_rows(dc_job *j)
{
    for (size_t k = 0; k < vec_len(j->a->sweep[0].value); k++) {
        bool anew;
        vs_status st = sim_row_put(j->s, j->a, k, false, &anew);
        if (!st && anew)
            st = dc_rebuild(j, j->a->n_sweep);
        if (!st)
            st = put_sources(j->s, j->a, k);
        if (!st)
            st = dc_point(j, (double)k + 1);
        if (st)
            return st;
        if (sim_stopped(j->s))
            return VS_STOP;
    }
    return VS_OK;
}

/* The value of a resistor itself */
static bool sweeps_resistance(const flat_sweep *w)
{
    const char *dot = strrchr(w->name, '.');
    return w->what == FLAT_SWEEP_INST && !strcmp(w->param, "value") &&
           (dot ? dot[1] : w->name[0]) == 'r';
}

static sim_axis dc_axis(const flat_ana *a)
{
    static const char *const name[] = {"v-sweep", "temp-sweep", "param-sweep", "param-sweep"};
    static const char *const type[] = {"voltage", "temperature", "notype", "notype"};
    const flat_sweep *inner = &a->sweep[0];
    if (a->rows)
        return (sim_axis){"row", "notype", ""};
    const bool is_current = inner->what == FLAT_SWEEP_SOURCE && inner->name[0] == 'i',
               is_r = sweeps_resistance(inner);
    return (sim_axis){is_current ? "i-sweep"
                      : is_r     ? "res-sweep"
                                 : name[inner->what],
                      is_current ? "current"
                      : is_r     ? "res-sweep"
                                 : type[inner->what],
                      is_current ? "A" : "V"};
}

/* Points of the loops over sources that are inside all others: with one circuit. */
static double points_with_one_circuit(const flat_ana *a)
{
    double n = 1;
    for (int k = 0; k < a->n_sweep && !a->rows && a->sweep[k].what == FLAT_SWEEP_SOURCE; k++)
        n *= (double)vec_len(a->sweep[k].value);
    return n;
}

static vs_status run_dc(sim *s, const flat_ana *a)
{
    const sim_axis axis = dc_axis(a);
    double *x;
    bool fits;
    vs_status st = sim_start(s);
    if (!st)
        st = sim_plot_begin(s, "dc", "DC transfer characteristic", &axis, false);
    s->n_same = points_with_one_circuit(a);
    if (!st)
        sim_solution(s, &x, &fits);
    if (st)
        return st;
    memset(x, 0, ((size_t)s->n_x + 1) * sizeof *x);
    sim_before before;
    sim_before_keep(s, &before);
    const double *begin = sim_begin(s, false);
    dc_job j = {.s = s, .a = a, .sweep.warm = begin != NULL};
    if (begin)
        memcpy(x, begin, ((size_t)s->n_x + 1) * sizeof *x);
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "dc");
    st = a->rows ? dc_rows(&j) : dc_level(&j, a->n_sweep - 1);
    if (!st && j.sweep.n_lost > 0) {
        diag_error(
            s->d, a->span,
            "%lld of %lld points of this sweep have no operating point: their values are nan",
            (long long)j.sweep.n_lost, (long long)j.sweep.n);
        st = VS_NOCONV;
    }
    s->x_valid = st == VS_OK;
    if (s->ana)
        sim_count(s);
    const bool outer = a->rows || a->n_sweep > 1 || a->sweep[0].what != FLAT_SWEEP_SOURCE;
    sim_before_restore(s, &before, outer ? "the end of .dc" : NULL);
    return sim_plot_end(s, st);
}

const sim_kind *sim_kind_of(flat_ana_kind kind)
{
    enum {
        small = 1 << MDL_DC | 1 << MDL_AC | ELAB_NOISE,
        orbit = 1 << MDL_DC | 1 << MDL_TRAN | 1 << MDL_AC,
        periodic = orbit | ELAB_NOISE
    };
    static const sim_kind kinds[] = {
        [FLAT_OP] = {"op", "operating point", 1u << MDL_DC, run_op},
        [FLAT_DCSWEEP] = {"dc", "dc sweep", 1u << MDL_DC, run_dc},
        [FLAT_TRAN] = {"tran", "transient", 1u << MDL_DC | 1u << MDL_TRAN, run_tran},
        [FLAT_AC] = {"ac", "ac analysis", small, sim_run_ac},
        [FLAT_NOISE] = {"noise", "noise", small, sim_run_noise},
        [FLAT_TF] = {"tf", "transfer function", 1u << MDL_DC, sim_run_tf},
        [FLAT_SENS] = {"sens", "sensitivities", small, sim_run_sens},
        [FLAT_PZ] = {"pz", "poles and zeros", small, sim_run_pz},
        [FLAT_SP] = {"sp", "S-parameters", small, sim_run_sp},
        [FLAT_HB] = {"hb", "harmonic balance", orbit, sim_run_hb},
        [FLAT_HBAC] = {"hbac", "periodic ac analysis", orbit, sim_run_hbac},
        [FLAT_HBNOISE] = {"hbnoise", "periodic noise", periodic, sim_run_hbnoise},
        [FLAT_HBSP] = {"hbsp", "periodic S-parameters", periodic, sim_run_hbsp},
        [FLAT_HBXF] = {"hbxf", "periodic transfer functions", orbit, sim_run_hbxf},
        [FLAT_LSTB] = {"lstb", "loop stability", small, sim_run_lstb},
        [FLAT_ACXF] = {"acxf", "ac transfer functions", small, sim_run_xf},
        [FLAT_DCXF] = {"dcxf", "dc transfer functions", 1u << MDL_DC, sim_run_xf},
        [FLAT_DISTO] = {"disto", "distortion", small, sim_run_disto},
        [FLAT_DCMATCH] = {"dcmatch", "dc mismatch", 1u << MDL_DC, sim_run_match},
        [FLAT_ACMATCH] = {"acmatch", "ac mismatch", small, sim_run_match},
    };
    return &kinds[kind];
}
