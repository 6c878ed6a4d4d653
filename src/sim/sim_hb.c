/* sim_hb.c - periodic analyses of the deck: an orbit (.hb .hbosc .pss), and small signals on the
 * orbit of the card before (.hbac .hbnoise .phasenoise .hbsp .hbxf). */
#include <string.h>

#include "sim_priv.h"
#include "vec.h"

static const sim_axis frequency = {"frequency", "frequency", "Hz"}, period = {"time", "time", "s"};

static ana_hb_opt settings_of(sim *s, const flat_ana *a)
{
    const flat_hb *h = &a->hb;
    ana_hb_opt o = {.n_tone = h->n_tone,
                    .intmod = h->intmod,
                    .tstab = h->tstab,
                    .uic = a->uic,
                    .span = a->span};
    memcpy(o.tone, h->tone, sizeof o.tone);
    memcpy(o.harm, h->harm, sizeof o.harm);
    o.osc = !strcmp(h->word, "hbosc");
    for (int k = 0; k < 2; k++)
        *(k ? &o.probe.lo : &o.probe.hi) =
            a->out[k] > 0 ? ckt_find(s->ckt, s->flat.node[a->out[k]]) : 0;
    return o;
}

/* .pss: of an oscillator if no source moves behind tstab. */
static bool something_moves(const sim *s)
{
    const double from = s->hb.hb.tstab, step = 1.618034e-3 / s->hb.hb.tone[0];
    for (int32_t i = 0; i < ckt_n_source(s->ckt); i++) {
        const double v = ckt_source_value(s->ckt, i, from);
        for (int k = 1; k < 1000; k++)
            if (ckt_source_value(s->ckt, i, from + k * step) != v)
                return true;
    }
    return false;
}

/* Settings of the last card, and what a search found before. */
static ana_hb_opt settings_now(sim *s)
{
    ana_hb_opt o = settings_of(s, &s->hb);
    if (!strcmp(s->hb.hb.word, "pss"))
        o.osc = !something_moves(s);
    if (s->hb_from) {
        o.from = s->hb_from;
        o.from_tone = s->hb_tone;
        o.n_from = vec_len(s->hb_from);
    }
    return o;
}

/* The orbit of the last card, on the circuit as it is now. A search begins from the first one that
 * was found for the card, and ends one update of Newton's method behind it. */
static vs_status find(sim *s, ana_orbit **orbit)
{
    ana_sink sink;
    const ana_hb_opt o = settings_now(s);
    size_t n = 0;
    vs_status st = ana_orbit_find(orbit, s->ana, &o, sim_sink(s, &sink));
    if (st)
        return st;
    const double *x = ana_orbit_state(*orbit, &n);
    if (s->hb_from)
        return VS_OK;
    vec_extend(s->hb_from, n);
    memcpy(s->hb_from, x, n * sizeof *x);
    s->hb_tone = 1 / ana_orbit_period(*orbit);
    return VS_OK;
}

/* -- .pss by shooting -- */

/* The last card's state, on steps that were found before if `again`; harmonic balance begins from
 * it. sink: stays as long as the shot. */
static vs_status shoot(sim *s, bool again, ana_sink *sink, ana_shot **shot)
{
    static const ana_shoot_rule rule[] = {[FLAT_SDIRK4] = ANA_SHOOT_SDIRK4,
                                          [FLAT_TRAP] = ANA_SHOOT_TRAP,
                                          [FLAT_GEAR] = ANA_SHOOT_GEAR,
                                          [FLAT_EULER] = ANA_SHOOT_EULER};
    ana_orbit *from = NULL;
    vs_status st = s->hb.hb.after_hb && !again ? find(s, &from) : VS_OK;
    if (st)
        return st;
    const ana_hb_opt o = settings_now(s);
    const ana_shoot_opt w = {.rule = rule[s->hb.hb.rule],
                             .points = s->hb.hb.points,
                             .halvings = s->hb.hb.halvings,
                             .from = from,
                             .again = again ? s->hb_shot : NULL,
                             .n_again = again ? vec_len(s->hb_shot) : 0};
    st = ana_shoot(shot, s->ana, &o, &w, sim_sink(s, sink));
    ana_orbit_free(&from);
    if (st || again)
        return st;
    s->hb_refuses = ana_shot_refuses(*shot);
    ana_shot_state(*shot, &s->hb_shot);
    const size_t n = 2 * ((size_t)ckt_n(s->ckt) + 1) * (2 * (size_t)o.harm[0] + 1);
    vec_free(s->hb_from);
    vec_extend(s->hb_from, n);
    ana_shot_spectrum(*shot, s->hb_from);
    s->hb_tone = 1 / ana_shot_period(*shot);
    return VS_OK;
}

static vs_status put_shot(sim *s, const ana_shot *o)
{
    double *x = vs_malloc(((size_t)ckt_n(s->ckt) + 1) * sizeof *x);
    vs_status st = sim_plot_begin(s, "pss", "Periodic Steady State", &period, false);
    for (int64_t k = 0; k < s->hb.hb.points && !st; k++) {
        const double t = ana_shot_point(o, k, x);
        st = sim_asked_to_stop(s) ? VS_STOP : sim_plot_point(s, t, x, NULL);
    }
    vs_free(x);
    return sim_plot_end(s, st);
}

/* Lines from 0 Hz on of the state in s->hb_from. */
static vs_status put_shot_spectrum(sim *s)
{
    const size_t n1 = (size_t)ckt_n(s->ckt) + 1, nh = (size_t)s->hb.hb.harm[0], nk = 2 * nh + 1;
    double *z = vs_calloc(5 * n1, sizeof *z), *re = z + 2 * n1, *im = re + n1, *mean = im + n1;
    vs_status st = sim_plot_begin(s, "hb", "Harmonic Balance", &frequency, true);
    for (size_t k = 0; k <= nh && !st; k++) {
        for (size_t i = 1; i < n1; i++) {
            const double *from = s->hb_from + 2 * (i * nk + nh + k);
            re[i] = z[2 * i] = (k ? 2 : 1) * from[0];
            im[i] = z[2 * i + 1] = k ? 2 * from[1] : 0;
            mean[i] = k ? mean[i] : re[i];
        }
        s->op_x = mean;
        s->z = z;
        st = sim_plot_point(s, (double)k * s->hb_tone, re, im);
    }
    s->op_x = s->z = NULL;
    vs_free(z);
    return sim_plot_end(s, st);
}

static vs_status run_shooting(sim *s)
{
    ana_shot *shot = NULL;
    ana_sink sink;
    vs_status st = shoot(s, false, &sink, &shot);
    if (!st)
        st = put_shot(s, shot);
    if (!st)
        st = put_shot_spectrum(s);
    ana_shot_free(&shot);
    return st;
}

static vs_status put_spectrum(sim *s, const ana_orbit *o)
{
    const size_t n1 = (size_t)ckt_n(s->ckt) + 1;
    double *z = vs_malloc(4 * n1 * sizeof *z), *re = z + 2 * n1, *im = re + n1;
    double *mean = vs_calloc(n1, sizeof *mean);
    vs_status st = sim_plot_begin(s, "hb", "Harmonic Balance", &frequency, true);
    for (int32_t k = 0; k < ana_orbit_lines(o) && !st; k++) {
        ana_orbit_phasors(o, k, z);
        for (size_t i = 0; i < n1; i++) {
            re[i] = z[2 * i];
            im[i] = z[2 * i + 1];
            mean[i] = k ? mean[i] : re[i];
        }
        s->op_x = mean;
        s->z = z;
        st = sim_plot_point(s, ana_orbit_freq(o, k), re, im);
    }
    s->op_x = s->z = NULL;
    vs_free(z);
    vs_free(mean);
    return sim_plot_end(s, st);
}

/* Both ends of the period are points. */
static vs_status put_waveform(sim *s, const ana_orbit *o)
{
    const int64_t n = s->hb.hb.points > 0 ? s->hb.hb.points : 20 * s->hb.hb.harm[0] + 101;
    double *x = vs_malloc(((size_t)ckt_n(s->ckt) + 1) * sizeof *x);
    vs_status st = sim_plot_begin(s, "pss", "Periodic Steady State", &period, false);
    for (int64_t k = 0; k < n && !st; k++) {
        const double part = (double)k / (double)(n - 1);
        ana_orbit_at(o, part, x);
        st =
            sim_asked_to_stop(s) ? VS_STOP : sim_plot_point(s, part * ana_orbit_period(o), x, NULL);
    }
    vs_free(x);
    return sim_plot_end(s, st);
}

vs_status sim_run_hb(sim *s, const flat_ana *a)
{
    ana_orbit *o = NULL;
    vs_status st = sim_start(s);
    if (st)
        return st;
    s->hb = *a;
    vec_free(s->hb_from);
    vec_free(s->hb_shot);
    s->hb_refuses = NULL;
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "hb");
    if (a->hb.shooting) {
        st = run_shooting(s);
        sim_count(s);
        return st;
    }
    st = find(s, &o);
    if (!st && a->hb.n_tone == 1)
        st = put_waveform(s, o);
    if (!st)
        st = put_spectrum(s, o);
    ana_orbit_free(&o);
    sim_count(s);
    return st;
}

/* -- the state that small signals are on -- */

typedef struct steady {
    ana_steady on;
    ana_sink sink; /* of the shot */
} steady;

static void steady_end(sim *s, steady *w)
{
    s->st.small_steps = w->on.shot ? ana_shot_steps(w->on.shot) : 0;
    s->st.small_harmonics = w->on.orbit ? ana_orbit_lines(w->on.orbit) - 1 : 0;
    ana_orbit_free(&w->on.orbit);
    ana_shot_free(&w->on.shot);
}

/* The first of the run, for those of small signals to begin from. */
static vs_status find_first(sim *s)
{
    ana_shot *shot = NULL;
    ana_orbit *o = NULL;
    ana_sink sink;
    const vs_status st = s->hb.hb.shooting ? shoot(s, false, &sink, &shot) : find(s, &o);
    ana_shot_free(&shot);
    ana_orbit_free(&o);
    return st;
}

/* Whether the card's small signals are in time: those of an orbit that was found by shooting, but
 * for what that does not cover. */
static vs_status is_in_time(sim *s, const flat_ana *a, bool *yes)
{
    const bool asked = a->hb.small == FLAT_BY_SHOOTING;
    *yes = s->hb.hb.shooting && a->hb.small != FLAT_BY_HB && !s->hb_refuses;
    if (asked && !s->hb.hb.shooting) {
        diag_error(s->d, a->span, "method=shooting needs the orbit of .pss ... method=shooting");
        return VS_EINPUT;
    }
    if (asked && !*yes) {
        diag_error(s->d, a->span, "method=shooting is not possible on the orbit %s", s->hb_refuses);
        diag_note(s->d, a->span, "method=hb, or no word, solves in harmonics");
        return VS_EINPUT;
    }
    if (!*yes && s->hb.hb.shooting && a->hb.small == FLAT_BY_ANY && !s->hb.hb.told &&
        !strcmp(s->hb_refuses, "with lines or delays")) {
        s->hb.hb.told = true;
        diag_warning(s->d, a->span,
                     "small signals on the orbit %s are solved in %d harmonics, as method=hb does",
                     s->hb_refuses, (int)s->hb.hb.harm[0]);
    }
    return VS_OK;
}

/* The card of the orbit: that of the last run, else the deck's first. All small signals on it see
 * the orbit that is found from the first one: the same, to the last bit. */
static vs_status steady_of(sim *s, const flat_ana *a, steady *w)
{
    bool in_time = false;
    for (size_t i = 0; !s->hb.hb.n_tone && i < s->n_todo; i++)
        if (s->todo[i].kind == FLAT_HB)
            s->hb = s->todo[i];
    if (!s->hb.hb.n_tone) {
        diag_error(s->d, a->span, ".%s needs an orbit: put .hb, .hbosc or .pss before it",
                   a->hb.word);
        return VS_EINPUT;
    }
    vs_status st = s->hb_from ? VS_OK : find_first(s);
    if (!st)
        st = is_in_time(s, a, &in_time);
    if (st)
        return st;
    return in_time ? shoot(s, true, &w->sink, &w->on.shot) : find(s, &w->on.orbit);
}

/* -- .hbac -- */

typedef struct hbac_job {
    sim_table t; /* first: its callbacks are called with the job */
    elab_out *vec;
    int32_t most;
    double *row, *re, *im;
} hbac_job;

/* All sidebands of a vector, then the next vector; sideband 0 has the vector's own name. */
static vs_status hbac_begin(hbac_job *j)
{
    sim *s = j->t.s;
    out_vector *v = NULL;
    vec_push(v, ((out_vector){"frequency", "frequency"}));
    for (size_t i = 0; i < vec_len(j->vec); i++)
        for (int32_t k = -j->most; k <= j->most; k++)
            vec_push(v,
                     ((out_vector){k ? arena_printf(&s->ckt_mem, "%s[%d]", j->vec[i].name, (int)k)
                                     : j->vec[i].name,
                                   elab_out_type(&j->vec[i])}));
    const vs_status st = sim_plot_begin_own(s, "hbac", "Periodic AC Analysis", v,
                                            (int32_t)vec_len(v), &frequency, true);
    vec_free(v);
    return st;
}

static vs_status hbac_point(void *user, double f, const double *z)
{
    hbac_job *j = user;
    const size_t n1 = (size_t)ckt_n(j->t.s->ckt) + 1, ns = 2 * (size_t)j->most + 1;
    double *to = j->row;
    *to++ = f;
    *to++ = 0;
    for (size_t v = 0; v < vec_len(j->vec); v++)
        for (size_t k = 0; k < ns; k++) {
            const double *p = z + k * 2 * n1, *hi = p + 2 * j->vec[v].hi,
                         *lo = p + 2 * j->vec[v].lo;
            *to++ = j->vec[v].factor * (hi[0] - lo[0]);
            *to++ = j->vec[v].factor * (hi[1] - lo[1]);
        }
    return sim_plot_row(j->t.s, j->row);
}

/* Values inside devices have no small-signal part. */
static void leave_details_out(elab_out *v)
{
    size_t n = 0;
    for (size_t i = 0; i < vec_len(v); i++)
        if (!v[i].is_detail)
            v[n++] = v[i];
    if (v)
        vec_head_of(v)->len = n;
}

vs_status sim_run_hbac(sim *s, const flat_ana *a)
{
    hbac_job j = {.t = {.s = s}, .most = a->hb.most};
    steady o = {0};
    vs_status st = sim_start(s);
    if (!st)
        st = steady_of(s, a, &o);
    if (!st)
        st = ana_check_sideband(o.on, j.most, a->span);
    const ana_hbac_opt w = {sim_grid_of(a), j.most, hbac_point};
    if (!st)
        st = ana_check_frequencies(o.on, &w.freq, a->span);
    if (!st) {
        elab_outputs(&j.vec, s->ckt, &s->flat, s->d, s->names, true);
        leave_details_out(j.vec);
        st = hbac_begin(&j);
    }
    if (!st) {
        const ana_table t = sim_table_of(&j.t, s, "hbac");
        j.row = vs_malloc((2 + 2 * vec_len(j.vec) * (2 * (size_t)j.most + 1)) * sizeof *j.row);
        st = sim_plot_end(s, ana_hbac(o.on, &w, &t));
    }
    vs_free(j.row);
    vec_free(j.vec);
    steady_end(s, &o);
    sim_count(s);
    return st;
}

/* -- .hbnoise, .phasenoise -- */

static ana_hbnoise_form form_of(const flat_hb *h)
{
    if (!strcmp(h->word, "phasenoise"))
        return ANA_HBNOISE_PHASE;
    if (h->sampled != FLAT_UNSAMPLED)
        return h->sampled == FLAT_STROBE ? ANA_HBNOISE_SAMPLED : ANA_HBNOISE_CROSSING;
    return h->modulated ? ANA_HBNOISE_MODULATED : ANA_HBNOISE_SIDEBAND;
}

vs_status sim_run_hbnoise(sim *s, const flat_ana *a)
{
    sim_table t;
    steady o = {0};
    ana_hbnoise_opt w = {.freq = sim_grid_of(a),
                         .sideband = a->hb.sideband,
                         .source = -1,
                         .summary = a->summary,
                         .form = form_of(&a->hb),
                         .at = a->hb.at,
                         .edge = a->hb.edge,
                         .span = a->span};
    vs_status st = sim_start(s);
    if (!st)
        st = sim_output_of(s, a, &w.out);
    if (!st && a->source)
        st = sim_source_of(s, a->source, a->span, &w.source);
    if (!st)
        st = steady_of(s, a, &o);
    if (!st) {
        const ana_table at = sim_table_of(&t, s, "hbnoise");
        st = ana_hbnoise(o.on, &w, &at);
    }
    steady_end(s, &o);
    sim_count(s);
    return st;
}

/* -- .hbsp -- */

/* Each port at each of its harmonics: vecs. number: of the port, from 1. */
typedef struct faces {
    ana_port *port;
    int32_t *harm, *number;
} faces;

static vs_status faces_of(sim *s, const flat_ana *a, faces *w)
{
    const flat_hb *h = &a->hb;
    ana_port *port = NULL;
    vs_status st = sim_ports_of(s, a, &port);
    const int32_t n = (int32_t)vec_len(port), given = h->n_port_harm,
                  last = given ? h->port_of[given - 1] : 0;
    if (!st && last > n) {
        diag_error(s->d, a->span, "harms= is about %d ports, the deck has %d", (int)last, (int)n);
        st = VS_EINPUT;
    }
    for (int32_t k = 0; k < given + n - last && !st; k++) {
        const int32_t at = k < given ? h->port_of[k] : last + 1 + k - given;
        vec_push(w->port, port[at - 1]);
        vec_push(w->harm, k < given ? h->port_harm[k] : 0);
        vec_push(w->number, at);
    }
    vec_free(port);
    return st;
}

/* Says whose the ports of the file are. */
static void tell_faces(sim *s, const faces *w, out_touchstone *file)
{
    for (size_t k = 0; k < vec_len(w->port); k++) {
        const char *name = ckt_source_at(s->ckt, w->port[k].source).name;
        const int h = (int)w->harm[k];
        char at[64] = "";
        if (h)
            snprintf(at, sizeof at, " %+d x %.17g Hz", h, s->hb_tone);
        out_touchstone_comment(file, "Port %zu: port %d, %s, at the frequency%s", k + 1,
                               (int)w->number[k], name, at);
    }
}

vs_status sim_run_hbsp(sim *s, const flat_ana *a)
{
    sim_table t;
    steady o = {0};
    faces w = {0};
    out_touchstone *file = NULL;
    vs_status st = sim_start(s);
    if (!st)
        st = faces_of(s, a, &w);
    if (!st)
        st = steady_of(s, a, &o);
    if (!st)
        st = sim_touchstone_open(s, a->kind, w.port, &file);
    if (file)
        tell_faces(s, &w, file);
    if (!st) {
        const ana_table at = sim_table_of(&t, s, "hbsp");
        const ana_hbsp_opt opt = {w.port,         w.harm,     (int32_t)vec_len(w.port),
                                  sim_grid_of(a), a->donoise, a->span};
        st = ana_hbsp(o.on, &opt, &at, file ? sim_touchstone_put : NULL, file);
    }
    st = sim_touchstone_close(s, &file, st);
    vec_free(w.port);
    vec_free(w.harm);
    vec_free(w.number);
    steady_end(s, &o);
    sim_count(s);
    return st;
}

/* -- .hbxf -- */

vs_status sim_run_hbxf(sim *s, const flat_ana *a)
{
    sim_table t;
    steady o = {0};
    ana_hbxf_opt w = {
        .freq = sim_grid_of(a), .sideband = a->hb.sideband, .most = a->hb.most, .span = a->span};
    vs_status st = sim_start(s);
    if (!st)
        st = sim_output_of(s, a, &w.out);
    if (!st)
        st = steady_of(s, a, &o);
    if (!st) {
        const ana_table at = sim_table_of(&t, s, "hbxf");
        st = ana_hbxf(o.on, &w, &at);
    }
    steady_end(s, &o);
    sim_count(s);
    return st;
}
