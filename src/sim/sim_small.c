/* sim_small.c - small-signal analyses of the deck: cards to the settings of src/ana, results to
 * plots. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "io.h"
#include "sim_priv.h"
#include "vec.h"

static const sim_axis frequency = {"frequency", "frequency", "Hz"};

ana_freq sim_grid_of(const flat_ana *a)
{
    static const ana_grid grid[] = {
        [FLAT_DEC] = ANA_DEC, [FLAT_OCT] = ANA_OCT, [FLAT_LIN] = ANA_LIN, [FLAT_LIST] = ANA_LIST};
    return (ana_freq){grid[a->grid], a->n_freq, a->f_from, a->f_to,
                      a->grid == FLAT_LIST ? a->sweep[0].value : NULL};
}

static int32_t unknown_of(const sim *s, int32_t node)
{
    return node > 0 ? ckt_find(s->ckt, s->flat.node[node]) : 0;
}

vs_status sim_output_of(sim *s, const flat_ana *a, ana_output *o)
{
    *o = (ana_output){unknown_of(s, a->out[0]), unknown_of(s, a->out[1]), false, a->out_name};
    if (!a->out_branch)
        return VS_OK;
    const char *branch = arena_printf(&s->ckt_mem, "%s#branch", a->out_branch);
    *o = (ana_output){ckt_find(s->ckt, branch), 0, true, a->out_branch};
    if (o->hi > 0)
        return VS_OK;
    diag_error(
        s->d, a->span,
        "the current of '%s' is not an unknown of the circuit; put a voltage source of 0 V in "
        "series",
        a->out_branch);
    return VS_EINPUT;
}

vs_status sim_source_of(sim *s, const char *name, diag_span span, int32_t *source)
{
    *source = ckt_find_source(s->ckt, name);
    if (*source >= 0)
        return VS_OK;
    diag_error(s->d, span, "'%s' is no independent source", name);
    return VS_EINPUT;
}

/* -- plots of named columns -- */

static vs_status table_begin(void *user, const char *plot, const ana_column *col, int32_t n,
                             bool complex)
{
    sim_table *t = user;
    out_vector *v = NULL;
    for (int32_t i = 0; i < n; i++)
        vec_push(v, ((out_vector){col[i].name, col[i].type}));
    const bool axis = n > 0 && !strcmp(col[0].name, frequency.name); /* one row has no axis */
    const vs_status st =
        sim_plot_begin_own(t->s, t->word, plot, v, n, axis ? &frequency : NULL, complex);
    vec_free(v);
    if (st == VS_OK && axis && t->s->opt.hook.begin)
        t->s->opt.hook.begin(t->s->opt.hook.user, t->word);
    return st;
}

static vs_status table_row(void *user, const double *v)
{
    return sim_plot_row(((sim_table *)user)->s, v);
}

static vs_status table_end(void *user) { return sim_plot_end(((sim_table *)user)->s, VS_OK); }

static void table_progress(void *user, double fraction, double axis, const ana_stat *st)
{
    sim_table *t = user;
    t->base.progress(t->base.user, fraction, axis, st);
}

static bool table_stop(void *user)
{
    sim_table *t = user;
    return t->base.stop(t->base.user);
}

ana_table sim_table_of(sim_table *t, sim *s, const char *word)
{
    *t = (sim_table){.s = s, .word = word};
    (void)sim_sink(s, &t->base);
    return (ana_table){table_begin, table_row, table_end, table_progress, table_stop, t};
}

/* -- .ac -- */

typedef struct ac_job {
    sim_table t;     /* first: the callbacks of a table serve here too */
    double *re, *im; /* [n+1] */
} ac_job;

static vs_status ac_point(void *user, double f, const double *x, const double *z)
{
    ac_job *j = user;
    j->t.s->op_x = x;
    j->t.s->z = z;
    j->t.s->omega = 2 * M_PI * f;
    for (int32_t i = 0; i <= ckt_n(j->t.s->ckt); i++) {
        j->re[i] = z[2 * i];
        j->im[i] = z[2 * i + 1];
    }
    return sim_plot_point(j->t.s, f, j->re, j->im);
}

static void warn_no_drive(sim *s, const flat_ana *a)
{
    for (int32_t i = 0; i < ckt_n_source(s->ckt); i++)
        if (ckt_source_at(s->ckt, i).ac_mag != 0)
            return;
    diag_warning(s->d, a->span,
                 "no source has an ac value: all results are 0; write 'ac 1' on the input source");
}

/* -- rows of a table: each is a circuit, an operating point and a frequency of its own -- */

/* Whether more than the frequency changes. */
static bool has_rows(const flat_ana *a) { return a->grid == FLAT_LIST && a->n_sweep > 1; }

/* The circuit of this row with its analysis begun, and *f its frequency. */
static vs_status begin_row(sim *s, const flat_ana *a, size_t row, ana_freq *f)
{
    bool anew;
    vs_status st = sim_row_put(s, a, row, true, &anew);
    *f = (ana_freq){ANA_LIST, 1, 0, 0, &a->sweep[0].value[row]};
    if (!st && anew)
        st = sim_build(s);
    if (!st) {
        sim_fresh(s);
        st = sim_start_op(s, false);
    }
    return st;
}

/* Runs `one` for each row, with the frequency of it. */
static vs_status for_rows(sim *s, const flat_ana *a,
                          vs_status (*one)(void *user, size_t row, const ana_freq *f), void *user)
{
    vs_status st = VS_OK;
    ana_freq f;
    sim_before before;
    sim_before_keep(s, &before);
    for (size_t k = 0; k < (size_t)a->n_freq && !st; k++) {
        st = begin_row(s, a, k, &f);
        if (!st)
            st = one(user, k, &f);
        if (!st && sim_stopped(s))
            st = VS_STOP;
    }
    sim_before_restore(s, &before, "the end of a table");
    return st;
}

static vs_status ac_at(ac_job *j, const ana_freq *f)
{
    sim *s = j->t.s;
    const size_t n1 = (size_t)ckt_n(s->ckt) + 1;
    j->re = vs_calloc(n1, sizeof *j->re);
    j->im = vs_calloc(n1, sizeof *j->im);
    const ana_sink sink = {
        .zpoint = ac_point, .progress = table_progress, .stop = table_stop, .user = j};
    const vs_status st = ana_ac(s->ana, f, &sink);
    vs_free(j->re);
    vs_free(j->im);
    sim_count(s);
    return st;
}

static vs_status ac_begin(ac_job *j, const flat_ana *a)
{
    sim *s = j->t.s;
    warn_no_drive(s, a);
    const vs_status st = sim_plot_begin(s, "ac", "AC Analysis", &frequency, true);
    if (!st && s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "ac");
    return st;
}

typedef struct ac_rows {
    ac_job j;
    const flat_ana *a;
    bool open;
} ac_rows;

static vs_status ac_row(void *user, size_t row, const ana_freq *f)
{
    ac_rows *r = user;
    const vs_status st = row ? sim_plot_follow(r->j.t.s, r->a->span) : ac_begin(&r->j, r->a);
    r->open |= !st;
    return st ? st : ac_at(&r->j, f);
}

vs_status sim_run_ac(sim *s, const flat_ana *a)
{
    ac_rows r = {.a = a};
    (void)sim_table_of(&r.j.t, s, "ac");
    if (has_rows(a)) {
        const vs_status st = for_rows(s, a, ac_row, &r);
        return r.open ? sim_plot_end(s, st) : st;
    }
    const ana_freq f = sim_grid_of(a);
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = ac_begin(&r.j, a);
    return st ? st : sim_plot_end(s, ac_at(&r.j, &f));
}

/* -- .disto -- */

typedef struct disto_job {
    ac_job ac; /* first: so that its callbacks serve */
    bool open; /* a plot is */
} disto_job;

static vs_status disto_plot(void *user, const char *name)
{
    disto_job *j = user;
    sim *s = j->ac.t.s;
    const vs_status st = j->open ? sim_plot_end(s, VS_OK) : VS_OK;
    j->open = false;
    if (st)
        return st;
    j->open = true;
    return sim_plot_begin(s, "disto", name, &frequency, true);
}

static bool has_tone(const sim *s, int tone)
{
    for (int32_t i = 0; i < ckt_n_source(s->ckt); i++)
        if (ckt_source_at(s->ckt, i).disto_mag[tone] != 0)
            return true;
    return false;
}

vs_status sim_run_disto(sim *s, const flat_ana *a)
{
    disto_job j = {.open = false};
    const ana_disto_opt o = {sim_grid_of(a), a->ratio, disto_plot};
    vs_status st = sim_start_op(s, false);
    if (st)
        return st;
    for (int k = 0; k < (a->ratio > 0 ? 2 : 1); k++)
        if (!has_tone(s, k))
            diag_warning(s->d, a->span,
                         "no source has a distof%d value: %s; write 'distof%d 1' on the input "
                         "source",
                         k + 1, k ? "all products are 0" : "all results are 0", k + 1);
    (void)sim_table_of(&j.ac.t, s, "disto");
    const size_t n1 = (size_t)ckt_n(s->ckt) + 1;
    j.ac.re = vs_calloc(n1, sizeof *j.ac.re);
    j.ac.im = vs_calloc(n1, sizeof *j.ac.im);
    const ana_sink sink = {
        .zpoint = ac_point, .progress = table_progress, .stop = table_stop, .user = &j};
    if (s->opt.hook.begin)
        s->opt.hook.begin(s->opt.hook.user, "disto");
    st = ana_disto(s->ana, &o, &sink);
    vs_free(j.ac.re);
    vs_free(j.ac.im);
    sim_count(s);
    return j.open ? sim_plot_end(s, st) : st;
}

/* -- the others -- */

/* What noise gives of a row goes into one plot; totals over circuits that differ mean nothing. */
typedef struct noise_rows {
    sim_table t; /* first: its callbacks serve */
    const flat_ana *a;
    int n_plot;    /* of this row so far */
    int32_t n_col; /* of the spectrum */
    bool open;
} noise_rows;

static vs_status noise_row_begin(void *user, const char *plot, const ana_column *col, int32_t n,
                                 bool complex)
{
    noise_rows *r = user;
    if (r->n_plot++)
        return VS_OK;
    if (r->open && n == r->n_col)
        return VS_OK;
    if (r->open) {
        diag_error(r->t.s->d, r->a->span,
                   "the rows of this table change what makes noise; leave "
                   "the number of points per summary out");
        return VS_EINPUT;
    }
    const vs_status st = table_begin(&r->t, plot, col, n, complex);
    r->open = !st;
    r->n_col = n;
    return st;
}

static vs_status noise_row_put(void *user, const double *v)
{
    noise_rows *r = user;
    return r->n_plot == 1 ? table_row(&r->t, v) : VS_OK;
}

static vs_status noise_row_end(void *user)
{
    (void)user;
    return VS_OK;
}

static vs_status noise_at(sim *s, const flat_ana *a, const ana_freq *f, const ana_table *t)
{
    ana_noise_opt o = {.freq = *f, .summary = a->summary};
    vs_status st = sim_output_of(s, a, &o.out);
    if (!st)
        st = sim_source_of(s, a->source, a->span, &o.source);
    if (st)
        return st;
    st = ana_noise(s->ana, &o, t);
    sim_count(s);
    return st;
}

static vs_status noise_row(void *user, size_t row, const ana_freq *f)
{
    noise_rows *r = user;
    const ana_table t = {.begin = noise_row_begin,
                         .row = noise_row_put,
                         .end = noise_row_end,
                         .progress = table_progress,
                         .stop = table_stop,
                         .user = r};
    (void)row;
    r->n_plot = 0;
    return noise_at(r->t.s, r->a, f, &t);
}

static bool ascends(const double *f)
{
    for (size_t k = 1; k < vec_len(f); k++)
        if (!(f[k] > f[k - 1]))
            return false;
    return true;
}

vs_status sim_run_noise(sim *s, const flat_ana *a)
{
    if (has_rows(a) || (a->grid == FLAT_LIST && !ascends(a->sweep[0].value))) {
        noise_rows r = {.a = a};
        (void)sim_table_of(&r.t, s, "noise");
        diag_warning(
            s->d, a->span,
            has_rows(a)
                ? "rows of a table are circuits of their own: there are no totals of noise"
                : "the frequencies of the table do not ascend: there are no totals of noise");
        const vs_status st = for_rows(s, a, noise_row, &r);
        return r.open ? sim_plot_end(s, st) : st;
    }
    sim_table t;
    const ana_freq f = sim_grid_of(a);
    const vs_status st = sim_start_op(s, false);
    if (st)
        return st;
    const ana_table at = sim_table_of(&t, s, "noise");
    return noise_at(s, a, &f, &at);
}

vs_status sim_run_tf(sim *s, const flat_ana *a)
{
    sim_table t;
    ana_output out;
    int32_t source;
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = sim_output_of(s, a, &out);
    if (!st)
        st = sim_source_of(s, a->source, a->span, &source);
    if (st)
        return st;
    const ana_table at = sim_table_of(&t, s, "tf");
    st = ana_tf(s->ana, &out, source, &at);
    sim_count(s);
    return st;
}

vs_status sim_run_sens(sim *s, const flat_ana *a)
{
    sim_table t;
    ana_output out;
    const ana_freq f = sim_grid_of(a);
    if (a->gradient.n_meas)
        return sim_run_gradient(s, a);
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = sim_output_of(s, a, &out);
    if (st)
        return st;
    const ana_table at = sim_table_of(&t, s, "sens");
    st = ana_sens(s->ana, &out, a->has_freq ? &f : NULL, &at);
    sim_count(s);
    return st;
}

vs_status sim_run_pz(sim *s, const flat_ana *a)
{
    sim_table t;
    ana_pz_opt o = {.voltage = a->voltage, .poles = a->poles, .zeros = a->zeros};
    vs_status st = sim_start_op(s, false);
    if (st)
        return st;
    for (int k = 0; k < 2; k++) {
        o.in[k] = unknown_of(s, a->in[k]);
        o.out[k] = unknown_of(s, a->out[k]);
    }
    const ana_table at = sim_table_of(&t, s, "pz");
    st = ana_pz(s->ana, &o, &at);
    sim_count(s);
    return st;
}

/* -- .sp -- */

vs_status sim_ports_of(sim *s, const flat_ana *a, ana_port **port)
{
    int32_t most = 0, n = 0;
    for (size_t i = 0; i < vec_len(s->flat.inst); i++) {
        const flat_source *v = s->flat.inst[i].rare->source;
        n += v && v->port;
        most = v && v->port > most ? v->port : most;
    }
    if (!n) {
        diag_error(s->d, a->span,
                   ".%s needs ports: voltage sources with 'portnum 1 z0 50' and so on",
                   sim_analysis_word(a->kind));
        return VS_EINPUT;
    }
    vec_extend(*port, (size_t)most);
    for (int32_t k = 0; k < most; k++)
        (*port)[k].z0 = 0;
    for (size_t i = 0; i < vec_len(s->flat.inst); i++) {
        const flat_inst *in = &s->flat.inst[i];
        if (!in->rare->source || !in->rare->source->port)
            continue;
        ana_port *p = &(*port)[in->rare->source->port - 1];
        if (p->z0 > 0) {
            diag_error(s->d, in->span, "%s: there are two ports %d", in->name,
                       (int)in->rare->source->port);
            return VS_EINPUT;
        }
        *p = (ana_port){unknown_of(s, in->node[0]), unknown_of(s, in->node[1]),
                        ckt_find_source(s->ckt, in->name), in->rare->source->z0};
    }
    for (int32_t k = 0; k < most; k++)
        if (!((*port)[k].z0 > 0)) {
            diag_error(s->d, a->span,
                       "port %d is missing: port numbers go from 1 to the number of ports",
                       (int)k + 1);
            return VS_EINPUT;
        }
    return VS_OK;
}

vs_status sim_touchstone_put(void *file, double f, const double *v)
{
    return out_touchstone_point(file, f, v);
}

/* The first file of .sp has no word in its name, and no first one has a number. For vs_free. */
static char *touchstone_name(sim *s, bool orbit, size_t n_port)
{
    char number[16] = "";
    const uint32_t k = ++s->n_touchstone[orbit];
    if (k > 1)
        snprintf(number, sizeof number, "%" PRIu32, k);
    return vs_text("%s%s%s.s%zup", s->opt.touchstone,
                   orbit   ? ".hbsp"
                   : k > 1 ? ".sp"
                           : "",
                   number, n_port);
}

vs_status sim_touchstone_open(sim *s, flat_ana_kind kind, const ana_port *port,
                              out_touchstone **file)
{
    if (!s->opt.touchstone)
        return VS_OK;
    double *z0 = NULL;
    s->touchstone = touchstone_name(s, kind == FLAT_HBSP, vec_len(port));
    for (size_t k = 0; k < vec_len(port); k++)
        vec_push(z0, port[k].z0);
    const vs_status st = out_touchstone_open(file, s->touchstone, z0, (int32_t)vec_len(z0));
    if (st)
        diag_error(s->d, DIAG_NOWHERE, "Touchstone file '%s' cannot be written: %s", s->touchstone,
                   files_why(errno));
    else if (s->opt.label)
        out_touchstone_comment(*file, "at %s", s->opt.label);
    vec_free(z0);
    return st;
}

vs_status sim_touchstone_close(sim *s, out_touchstone **file, vs_status st)
{
    const bool any = *file != NULL;
    if ((out_touchstone_close(file) || (any && s->opt.fsync && !io_sync(s->touchstone))) && !st) {
        diag_error(s->d, DIAG_NOWHERE, "the Touchstone file '%s' could not be written: %s",
                   s->touchstone, strerror(errno));
        st = VS_EIO;
    }
    vs_free(s->touchstone);
    s->touchstone = NULL;
    return st;
}

/* What .save asks for of the solution itself: node voltages and currents. vec. */
static void watch_of(sim *s, ana_sp_watch **watch)
{
    elab_out *v = NULL;
    elab_outputs(&v, s->ckt, &s->flat, s->d, s->names, true);
    for (size_t i = 0; i < vec_len(v); i++)
        if (!v[i].is_detail)
            vec_push(
                *watch,
                ((ana_sp_watch){{v[i].name, elab_out_type(&v[i])}, v[i].hi, v[i].lo, v[i].factor}));
    vec_free(v);
}

vs_status sim_run_sp(sim *s, const flat_ana *a)
{
    sim_table t;
    ana_port *port = NULL;
    ana_sp_watch *watch = NULL;
    out_touchstone *file = NULL;
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = sim_ports_of(s, a, &port);
    if (!st)
        watch_of(s, &watch);
    if (!st)
        st = sim_touchstone_open(s, a->kind, port, &file);
    const ana_table at = sim_table_of(&t, s, "sp");
    if (!st) {
        const ana_sp_opt o = {.port = port,
                              .n_port = (int32_t)vec_len(port),
                              .freq = sim_grid_of(a),
                              .noise = a->donoise,
                              .watch = watch,
                              .n_watch = (int32_t)vec_len(watch)};
        st = ana_sp(s->ana, &o, &at, file ? sim_touchstone_put : NULL, file);
        sim_count(s);
    }
    st = sim_touchstone_close(s, &file, st);
    vec_free(port);
    vec_free(watch);
    return st;
}

/* .acxf, .dcxf */
vs_status sim_run_xf(sim *s, const flat_ana *a)
{
    sim_table t;
    ana_output out;
    const ana_freq f = sim_grid_of(a);
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = sim_output_of(s, a, &out);
    if (st)
        return st;
    const ana_table at = sim_table_of(&t, s, sim_analysis_word(a->kind));
    st = ana_xf(s->ana, &out, a->kind == FLAT_ACXF ? &f : NULL, &at);
    sim_count(s);
    return st;
}

/* -- .lstb -- */

vs_status sim_grid_or_ac(sim *s, const flat_ana *a, ana_freq *f)
{
    *f = sim_grid_of(a);
    for (size_t i = 0; !a->has_freq && i < s->n_todo; i++)
        if (s->todo[i].kind == FLAT_AC) {
            *f = sim_grid_of(&s->todo[i]);
            return VS_OK;
        }
    if (a->has_freq)
        return VS_OK;
    diag_error(s->d, a->span,
               "frequencies are missing: 'dec 10 1 1e9' here, or an .ac card whose they are");
    return VS_EINPUT;
}

static vs_status check_probe(sim *s, const flat_ana *a, int32_t source)
{
    const ckt_source_facts v = ckt_source_at(s->ckt, source);
    if (!v.is_v || v.dc != 0)
        diag_error(s->d, a->span, "'%s' is no voltage source of 0 V", v.name);
    else if (v.p == v.n || !v.p || !v.n)
        diag_error(s->d, a->span, "'%s' lies in no loop: one of its sides is ground", v.name);
    else
        return VS_OK;
    return VS_EINPUT;
}

vs_status sim_run_lstb(sim *s, const flat_ana *a)
{
    sim_table t;
    static const ana_lstb_mode mode[] = {ANA_LSTB_SINGLE, ANA_LSTB_DIFF, ANA_LSTB_COMM};
    ana_lstb_opt o = {.n_probe = a->hb.mode == FLAT_LSTB_SINGLE ? 1 : 2,
                      .mode = mode[a->hb.mode],
                      .span = a->span};
    vs_status st = sim_start_op(s, false);
    if (!st)
        st = sim_grid_or_ac(s, a, &o.freq);
    for (int k = 0; k < o.n_probe && !st; k++) {
        st = sim_source_of(s, a->hb.source[k], a->span, &o.probe[k]);
        if (!st)
            st = check_probe(s, a, o.probe[k]);
    }
    if (st)
        return st;
    const ana_table at = sim_table_of(&t, s, "lstb");
    st = ana_lstb(s->ana, &o, &at);
    sim_count(s);
    return st;
}
