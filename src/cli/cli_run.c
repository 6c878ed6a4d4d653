/* cli_run.c - `vsim DECK`, `vsim check DECK`, `vsim explain DECK`: text to waveforms.
 *
 * The order of the work is that of docs/design.md section 1; what a stage made is printed by --dump. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ana.h"
#include "cli.h"
#include "elab.h"
#include "vec.h"

/* Everything of one run; owned by cli_run. */
typedef struct run {
    const cli_opt *o;
    cli_base b;
    arena mem;
    arena sweep_mem;        /* the circuit of one value of a sweep */
    net_deck deck;
    flat flat;
    elab_sim sim;
    flat_override *over;    /* vec: -D, and the values of sweeps */
    ckt *ckt;
    ana *ana;
    out_file *out;
    elab_out *vec;          /* vec: what is written */
    double *row;            /* [1 + vec_len(vec)] */
    const char *unit;       /* of the axis */
    double wrap_add;        /* added to the axis: nothing, or degrees Celsius */
    bool own_axis;          /* the axis is `axis`, not the analysis' own (sweeps by elaboration) */
    double axis;
    double t_start, t_end;  /* of the progress display */
    cli_progress progress;
    int64_t n_written;
    int fatal;              /* 2: $stop or $fatal was reached */
    /* figures for --stats */
    struct {
        double parse, elaborate, compile, op, tran, evaluate, stamp, factor, solve, output, total;
    } s;
    int64_t accepted, rejected, iterations, evaluations;
    int32_t unknowns;
    const char *op_method;
} run;

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

static bool asked_to_stop(void *user)
{
    (void)user;
    return interrupted != 0;
}

/* -- reading -- */

static vs_status add_defines(run *r)
{
    for (size_t i = 0; i < vec_len(r->o->define); i++) {
        const char *text = r->o->define[i], *eq = strchr(text, '=');
        double x;
        const char *end;
        if (!str_spice_number(eq + 1, &end, &x) || *end) {
            diag_error(&r->b.d, DIAG_NOWHERE, "-D %s: '%s' is not a number", text, eq + 1);
            return VS_EINPUT;
        }
        const char *name = str_intern_lower(&r->b.names, text, (size_t)(eq - text));
        vec_push(r->over, (flat_override){name, x});
    }
    return VS_OK;
}

static vs_status read_deck(run *r)
{
    double t0 = cli_seconds();
    net_opt no = {.include = r->o->include, .n_include = vec_len(r->o->include)};
    vs_status st = net_read(&r->deck, &r->b.d, &r->b.names, &r->mem, r->o->arg[0], &no);
    if (!st && r->o->dump && !strcmp(r->o->dump, "cards"))
        net_print(&r->deck, &r->b.d, r->b.log);
    if (!st)
        st = add_defines(r);
    flat options;
    if (!st)
        st = flat_options(&options, &r->deck, &r->b.d, &r->b.names, &r->mem);
    if (!st)
        st = elab_options(&r->sim, &options, &r->b.d);
    r->s.parse += cli_seconds() - t0;
    return st;
}

static vs_status flatten(run *r, arena *mem, double temper)
{
    double t0 = cli_seconds();
    vs_status st = flat_build(&r->flat, &r->deck, &r->b.d, &r->b.names, mem, temper, r->over, vec_len(r->over));
    r->s.elaborate += cli_seconds() - t0;
    return st;
}

static unsigned forms_needed(const run *r)
{
    unsigned forms = 1u << MDL_DC;
    for (size_t i = 0; i < vec_len(r->flat.ana); i++)
        if (r->flat.ana[i].kind == FLAT_TRAN)
            forms |= 1u << MDL_TRAN;
    return forms;
}

static void print_line(void *user, const char *text)
{
    run *r = user;
    cli_progress_end(&r->progress);
    fprintf(r->b.log, "%s\n", text);
}

/* The circuit at a temperature (degrees Celsius), replacing an earlier one. */
static vs_status build_circuit(run *r, double temper, bool again)
{
    ana_free(&r->ana);
    ckt_free(&r->ckt);
    double t0 = cli_seconds(), compile0 = mdl_jit_stats(r->b.lib)->seconds_compile;
    elab_opt eo = {.temp = temper, .simparam = r->sim.simparam, .forms = forms_needed(r),
                   .threads = r->o->threads, .models_loaded = again};
    vs_status st = elab_circuit(&r->ckt, &r->b.d, &r->b.names, r->b.lib, &r->flat, &eo);
    double compile = mdl_jit_stats(r->b.lib)->seconds_compile - compile0;
    r->s.compile += compile;
    r->s.elaborate += cli_seconds() - t0 - compile;
    if (!st) {
        ckt_set_line_sink(r->ckt, print_line, r);
        r->unknowns = ckt_n(r->ckt);
    }
    return st;
}

/* -- settings of the analyses -- */

static void take(double *to, double given)
{
    if (!isnan(given))
        *to = given;
}

static void take_int(int *to, int given)
{
    if (given >= 0)
        *to = given;
}

static ana_opt analysis_options(const elab_sim *s)
{
    ana_opt o;
    ana_opt_default(&o);
    take(&o.reltol, s->reltol);
    take(&o.vntol, s->vntol);
    take(&o.abstol, s->abstol);
    take(&o.chgtol, s->chgtol);
    take(&o.trtol, s->trtol);
    take(&o.lteratio, s->trtol);
    take(&o.gmin, s->gmin);
    take(&o.rshunt, s->rshunt);
    take(&o.max_growth, s->max_growth);
    take(&o.min_step, s->min_step);
    take_int(&o.maxord, s->maxord);
    take_int(&o.itl1, s->itl1);
    take_int(&o.itl2, s->itl2);
    take_int(&o.itl4, s->itl4);
    if (s->method >= 0)
        o.method = s->method ? ANA_GEAR : ANA_TRAP;
    if (s->residual_check >= 0)
        o.residual_check = s->residual_check;
    return o;
}

static vs_status start_analysis(run *r)
{
    ana_opt o = analysis_options(&r->sim);
    vs_status st = ana_new(&r->ana, r->ckt, &o, &r->b.d);
    if (st)
        return st;
    elab_node_value *ic, *nodeset;
    elab_ics(&ic, &nodeset, r->ckt, &r->flat);
    ana_node_value *list = NULL;
    for (size_t i = 0; i < vec_len(ic); i++)
        vec_push(list, (ana_node_value){ic[i].unknown, ic[i].value});
    ana_set_ic(r->ana, list, vec_len(list));
    vec_clear(list);
    for (size_t i = 0; i < vec_len(nodeset); i++)
        vec_push(list, (ana_node_value){nodeset[i].unknown, nodeset[i].value});
    ana_set_nodeset(r->ana, list, vec_len(list));
    vec_free(list);
    vec_free(ic);
    vec_free(nodeset);
    return VS_OK;
}

/* Adds the figures of the analysis object to the run's before it is closed or asked again. */
static void count(run *r)
{
    const ana_stat *a = ana_stats(r->ana);
    r->accepted += a->points_accepted;
    r->rejected += a->points_rejected;
    r->iterations += a->iterations;
    r->s.op += a->s_op;
    r->s.tran += a->s_tran;
    r->s.factor += a->s_factor;
    r->s.solve += a->s_solve;
    r->s.output += a->s_output;
    if (a->op_method)
        r->op_method = a->op_method;
    ckt_stat *c = ckt_stats(r->ckt);
    r->evaluations += c->n_eval;
    r->s.evaluate += c->s_eval;
    r->s.stamp += c->s_stamp;
    *c = (ckt_stat){0};
}

/* -- results -- */

static vs_status write_point(void *user, double axis, const double *x)
{
    run *r = user;
    if (!r->out)
        return VS_OK;
    size_t n = 0;
    if (r->unit)
        r->row[n++] = r->own_axis ? r->axis : axis;
    for (size_t i = 0; i < vec_len(r->vec); i++)
        r->row[n++] = r->vec[i].factor * (x[r->vec[i].hi] - x[r->vec[i].lo]);
    r->n_written++;
    return out_point(r->out, r->row);
}

static void show_progress(void *user, double fraction, double axis, const ana_stat *st)
{
    run *r = user;
    cli_progress_show(&r->progress, fraction, axis, r->unit ? r->unit : "", st->points_accepted,
                      st->iterations);
}

static const ana_sink *sink_of(run *r, ana_sink *s)
{
    *s = (ana_sink){.point = write_point, .progress = show_progress, .stop = asked_to_stop, .user = r};
    return s;
}

/* Starts the plot of an analysis: its vectors, with an axis unless axis_name is NULL. */
static vs_status begin_plot(run *r, const char *plot, const char *axis_name, const char *axis_type,
                            const char *unit)
{
    vec_free(r->vec);
    free(r->row);
    r->row = NULL;
    vs_status st = elab_outputs(&r->vec, r->ckt, &r->flat, &r->b.d, &r->b.names, true);
    if (st)
        return st;
    r->unit = unit;
    r->own_axis = false;
    r->row = calloc(vec_len(r->vec) + 1, sizeof *r->row);
    if (!r->row)
        return VS_ENOMEM;
    if (!r->out)
        return VS_OK;
    out_vector *v = NULL;
    if (axis_name)
        vec_push(v, (out_vector){axis_name, axis_type});
    for (size_t i = 0; i < vec_len(r->vec); i++)
        vec_push(v, (out_vector){r->vec[i].name, r->vec[i].current ? "current" : "voltage"});
    st = out_plot_begin(r->out, r->flat.title, plot, v, (int32_t)vec_len(v));
    vec_free(v);
    return st;
}

static vs_status end_plot(run *r, vs_status st)
{
    cli_progress_end(&r->progress);
    vs_status closing = r->out ? out_plot_end(r->out) : VS_OK;
    return st ? st : closing;
}

/* -- analyses -- */

static vs_status run_op(run *r)
{
    vs_status st = start_analysis(r);
    if (!st)
        st = begin_plot(r, "Operating Point", NULL, NULL, NULL);
    if (st)
        return st;
    double *x = calloc((size_t)ckt_n(r->ckt) + 1, sizeof *x);
    if (!st)
        st = ana_op(r->ana, x, false, false);
    if (!st)
        st = write_point(r, 0, x);
    for (size_t i = 0; !st && !r->o->quiet && i < vec_len(r->vec); i++)
        fprintf(r->b.log, "  %-24s %.9g\n", r->vec[i].name,
                r->vec[i].factor * (x[r->vec[i].hi] - x[r->vec[i].lo]));
    free(x);
    count(r);
    return end_plot(r, st);
}

static vs_status run_tran(run *r, const flat_ana *a)
{
    vs_status st = start_analysis(r);
    if (!st)
        st = begin_plot(r, "Transient Analysis", "time", "time", "s");
    if (st)
        return st;
    ana_tran_opt to = {a->tstep, a->tstop, a->tstart, a->tmax, a->uic};
    ana_sink sink;
    cli_progress_begin(&r->progress, "tran", r->o->quiet);
    st = ana_tran(r->ana, &to, sink_of(r, &sink));
    count(r);
    return end_plot(r, st);
}

/* The outer loops of .dc and those sweeps that are no source: every point elaborates anew with the
 * value in place. The inner loop over a source is ana_dc. */
typedef struct dc_job {
    run *r;
    const flat_ana *a;
    double *x;              /* [n + 1] */
    int32_t n;
    bool warm;
    double temper;
    const char **name;      /* vec: what the plot's columns are called */
} dc_job;

/* A value may change the circuit behind the plot: its columns must still exist, wherever they are now. */
static vs_status dc_follow(dc_job *j)
{
    run *r = j->r;
    vec_free(r->vec);
    size_t n_msg = vec_len(r->b.d.msg);
    int n_warning = r->b.d.n_warning;
    vs_status st = elab_outputs(&r->vec, r->ckt, &r->flat, &r->b.d, &r->b.names, true);
    if (!st) { /* the warnings were given with the first point */
        if (r->b.d.msg)
            vec_head_of(r->b.d.msg)->len = n_msg;
        r->b.d.n_warning = n_warning;
    }
    bool same = !st && vec_len(r->vec) == vec_len(j->name);
    for (size_t i = 0; same && i < vec_len(j->name); i++)
        same = !strcmp(r->vec[i].name, j->name[i]);
    if (st || same)
        return st;
    diag_error(&r->b.d, j->a->span, "this sweep changes which nodes the circuit has; run the deck once for "
               "each value, or .save what is always there");
    return VS_EINPUT;
}

static vs_status dc_rebuild(dc_job *j)
{
    run *r = j->r;
    ana_free(&r->ana);
    ckt_free(&r->ckt);
    arena_fini(&r->sweep_mem);
    arena_init(&r->sweep_mem);
    vs_status st = flatten(r, &r->sweep_mem, j->temper);
    if (!st)
        st = build_circuit(r, j->temper, true);
    if (!st)
        st = start_analysis(r);
    if (!st)
        st = dc_follow(j);
    if (!st && j->n != ckt_n(r->ckt)) { /* no starting point: it belongs to another circuit */
        free(j->x);
        j->n = ckt_n(r->ckt);
        j->x = calloc((size_t)j->n + 1, sizeof *j->x);
        j->warm = false;
        st = j->x ? VS_OK : VS_ENOMEM;
    }
    return st;
}

static int32_t sweep_source(run *r, const flat_sweep *s)
{
    int32_t src = ckt_find_source(r->ckt, s->name);
    if (src < 0)
        diag_error(&r->b.d, s->span, "'%s' is no independent source that .dc could sweep", s->name);
    return src;
}

static void set_override(run *r, const char *name, double value)
{
    for (size_t i = 0; i < vec_len(r->over); i++)
        if (r->over[i].name == name) {
            r->over[i].value = value;
            return;
        }
    vec_push(r->over, (flat_override){name, value});
}

/* Applies value k of loop `level` and runs everything inside it. */
static vs_status dc_level(dc_job *j, int level)
{
    run *r = j->r;
    const flat_sweep *s = &j->a->sweep[level];
    ana_sink sink;
    sink_of(r, &sink);
    if (level == 0 && s->what == FLAT_SWEEP_SOURCE) {
        int32_t src = sweep_source(r, s);
        if (src < 0)
            return VS_EINPUT;
        vs_status st = ana_dc(r->ana, src, s->value, vec_len(s->value), j->x, j->warm, &sink);
        j->warm = st == VS_OK;
        return st;
    }
    for (size_t k = 0; k < vec_len(s->value); k++) {
        double v = s->value[k];
        vs_status st = VS_OK;
        if (s->what == FLAT_SWEEP_SOURCE) {
            int32_t src = sweep_source(r, s);
            if (src < 0)
                return VS_EINPUT;
            ckt_set_source_dc(r->ckt, src, v);
        } else if (s->what == FLAT_SWEEP_TEMP) {
            j->temper = v;
            if (!(v > -273.15)) {
                diag_error(&r->b.d, s->span, "%g degrees Celsius is not above absolute zero", v);
                return VS_EINPUT;
            }
            st = dc_rebuild(j);
        } else if (s->what == FLAT_SWEEP_PARAM) {
            set_override(r, s->param ? s->param : s->name, v);
            st = dc_rebuild(j);
        } else {
            diag_error(&r->b.d, s->span, ".dc over the instance parameter '%s' is not supported; use a .param",
                       s->name);
            st = VS_EINPUT;
        }
        if (st)
            return st;
        if (level) {
            st = dc_level(j, level - 1);
        } else {
            st = ana_op(r->ana, j->x, j->warm, false);
            r->own_axis = true;
            r->axis = v;
            if (!st)
                st = write_point(r, v, j->x);
            count(r);
        }
        if (st)
            return st;
        j->warm = true;
        if (interrupted)
            return VS_STOP;
    }
    return VS_OK;
}

static vs_status run_dc(run *r, const flat_ana *a)
{
    static const char *const axis[] = {"v-sweep", "temp-sweep", "param-sweep", "param-sweep"};
    static const char *const type[] = {"voltage", "temperature", "notype", "notype"};
    const flat_sweep *inner = &a->sweep[0];
    bool is_current = inner->what == FLAT_SWEEP_SOURCE && strchr(inner->name, 'i') == inner->name;
    vs_status st = start_analysis(r);
    if (!st)
        st = begin_plot(r, "DC transfer characteristic", is_current ? "i-sweep" : axis[inner->what],
                        is_current ? "current" : type[inner->what], is_current ? "A" : "V");
    if (st)
        return st;
    /* The flat deck is built again while the sweep is walked: keep its own copy of the analysis. */
    flat_ana copy = *a;
    dc_job j = {.r = r, .a = &copy, .n = ckt_n(r->ckt), .temper = r->sim.temp};
    j.x = calloc((size_t)j.n + 1, sizeof *j.x);
    for (size_t i = 0; i < vec_len(r->vec); i++)
        vec_push(j.name, r->vec[i].name);
    cli_progress_begin(&r->progress, "dc", r->o->quiet);
    double t0 = cli_seconds();
    st = dc_level(&j, copy.n_sweep - 1);
    if (r->ana)
        count(r);
    r->s.op += cli_seconds() - t0;
    free(j.x);
    vec_free(j.name);
    return end_plot(r, st);
}

static const char *const analysis_name[] = {"operating point", "dc sweep", "transient"};

static vs_status run_analyses(run *r)
{
    size_t n = vec_len(r->flat.ana);
    if (!n) {
        diag_warning(&r->b.d, DIAG_NOWHERE, "the deck has no analysis; computing the operating point");
        cli_flush_messages(&r->b);
        return run_op(r);
    }
    flat_ana *todo = NULL; /* a sweep builds r->flat anew */
    for (size_t i = 0; i < n; i++)
        vec_push(todo, r->flat.ana[i]);
    vs_status st = VS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        int64_t points0 = r->accepted, iterations0 = r->iterations, written0 = r->n_written;
        double t0 = cli_seconds();
        if (i && todo[i - 1].kind == FLAT_DCSWEEP) { /* sweeps leave their last value behind */
            vec_clear(r->over);
            st = add_defines(r);
            if (!st)
                st = flatten(r, &r->mem, r->sim.temp);
            if (!st)
                st = build_circuit(r, r->sim.temp, true);
        }
        if (!st)
            st = todo[i].kind == FLAT_OP        ? run_op(r)
                 : todo[i].kind == FLAT_DCSWEEP ? run_dc(r, &todo[i])
                                                : run_tran(r, &todo[i]);
        cli_flush_messages(&r->b);
        if (!r->o->quiet && r->ana) {
            const char *name = analysis_name[todo[i].kind];
            fprintf(r->b.log, "%s: %lld points (%lld rejected), %lld iterations, %.3f s", name,
                    (long long)(todo[i].kind == FLAT_TRAN ? r->accepted - points0 : r->n_written - written0),
                    (long long)r->rejected, (long long)(r->iterations - iterations0), cli_seconds() - t0);
            if (r->op_method)
                fprintf(r->b.log, "; operating point by %s", r->op_method);
            fputs(st ? " (not finished)\n" : "\n", r->b.log);
        }
        ana_free(&r->ana);
    }
    vec_free(todo);
    return st;
}

/* -- reports -- */

static void print_circuit_summary(run *r)
{
    const char **kind = NULL;
    int *number = NULL;
    for (size_t i = 0; i < vec_len(r->flat.inst); i++) {
        const flat_inst *f = &r->flat.inst[i];
        char letter[2] = {f->letter, 0};
        const char *k = f->model ? f->model->name : str_intern0(&r->b.names, letter);
        size_t at = 0;
        while (at < vec_len(kind) && kind[at] != k)
            at++;
        if (at == vec_len(kind)) {
            if (at == 12)
                continue;
            vec_push(kind, k);
            vec_push(number, 0);
        }
        number[at]++;
    }
    fprintf(r->b.log, "%s\n  %zu devices:", r->flat.title, vec_len(r->flat.inst));
    for (size_t i = 0; i < vec_len(kind); i++)
        fprintf(r->b.log, "%s %d %s", i ? "," : "", number[i], kind[i]);
    const jit_stat *js = mdl_jit_stats(r->b.lib);
    fprintf(r->b.log, "\n  %d unknowns, %d entries in the Jacobian; %d kernels compiled, %d from the cache\n",
            r->unknowns, csc_nnz(ckt_pattern(r->ckt)), js->n_compiled, js->n_from_cache);
    vec_free(kind);
    vec_free(number);
}

/* Largest resident size so far, bytes. getrusage would count the memory that the parent process had
 * when it started this one (Linux keeps the maximum over exec), so the kernel's own figure comes first. */
static size_t peak_memory(void)
{
    size_t kb = 0;
    char line[128];
    FILE *fp = fopen("/proc/self/status", "r");
    while (fp && !kb && fgets(line, sizeof line, fp))
        if (sscanf(line, "VmHWM: %zu", &kb) != 1)
            kb = 0;
    if (fp)
        fclose(fp);
    if (kb)
        return kb * 1024;
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (size_t)u.ru_maxrss * 1024;
}

static void print_end(run *r)
{
    char mem[16];
    fprintf(r->b.log,
            "time by phase, s: parse %.3f, elaborate %.3f, compile %.3f, op %.3f, tran %.3f (evaluate %.3f, "
            "stamp %.3f, factor %.3f, solve %.3f, output %.3f), total %.3f; peak memory %s\n",
            r->s.parse, r->s.elaborate, r->s.compile, r->s.op, r->s.tran, r->s.evaluate, r->s.stamp, r->s.factor,
            r->s.solve, r->s.output, r->s.total, cli_si(mem, (double)peak_memory(), "B"));
}

/* Results must not replace what was read. */
static bool may_write(run *r, const char *path, const char *what)
{
    for (size_t i = 0; i < vec_len(r->b.d.file); i++)
        if (cli_same_file(path, r->b.d.file[i].name)) {
            diag_error(&r->b.d, DIAG_NOWHERE, "%s would overwrite the input file '%s'; -r FILE writes elsewhere",
                       what, r->b.d.file[i].name);
            return false;
        }
    const char *const other[] = {r->o->log, path == r->o->stats ? r->o->raw : NULL};
    for (size_t i = 0; i < VS_COUNT(other); i++)
        if (other[i] && cli_same_file(path, other[i])) {
            diag_error(&r->b.d, DIAG_NOWHERE, "%s and another output cannot both go to '%s'", what, path);
            return false;
        }
    return true;
}

static vs_status write_stats(run *r)
{
    if (!r->o->stats)
        return VS_OK;
    bool may = may_write(r, r->o->stats, "the figures");
    cli_flush_messages(&r->b);
    FILE *fp = may ? fopen(r->o->stats, "w") : NULL;
    if (!fp) {
        if (may)
            fprintf(stderr, "vsim: '%s' cannot be written: %s\n", r->o->stats, strerror(errno));
        return VS_EIO;
    }
    const jit_stat *js = mdl_jit_stats(r->b.lib);
    fprintf(fp,
            "{\n  \"unknowns\": %d,\n  \"points_accepted\": %lld,\n  \"points_rejected\": %lld,\n"
            "  \"newton_iterations\": %lld,\n  \"device_evaluations\": %lld,\n  \"peak_memory_bytes\": %zu,\n"
            "  \"kernels_compiled\": %d,\n  \"kernels_from_cache\": %d,\n  \"op_method\": \"%s\",\n"
            "  \"seconds\": {\n",
            r->unknowns, (long long)r->accepted, (long long)r->rejected, (long long)r->iterations,
            (long long)r->evaluations, peak_memory(), js->n_compiled, js->n_from_cache,
            r->op_method ? r->op_method : "");
    fprintf(fp,
            "    \"parse\": %.6f, \"elaborate\": %.6f, \"compile\": %.6f, \"op\": %.6f, \"tran\": %.6f,\n"
            "    \"evaluate\": %.6f, \"stamp\": %.6f, \"factor\": %.6f, \"solve\": %.6f, \"output\": %.6f,\n"
            "    \"total\": %.6f\n  }\n}\n",
            r->s.parse, r->s.elaborate, r->s.compile, r->s.op, r->s.tran, r->s.evaluate, r->s.stamp, r->s.factor,
            r->s.solve, r->s.output, r->s.total);
    bool bad = ferror(fp);
    if (!fclose(fp) && !bad)
        return VS_OK;
    fprintf(stderr, "vsim: '%s' could not be written: %s\n", r->o->stats, strerror(errno));
    return VS_EIO;
}

static void dump_pattern(const run *r)
{
    const csc *a = ckt_pattern(r->ckt);
    const ckt_unknown *u = ckt_unknowns(r->ckt);
    fprintf(r->b.log, "%%%%MatrixMarket matrix coordinate pattern general\n");
    for (int32_t i = 1; i <= a->n; i++)
        fprintf(r->b.log, "%% %d %s\n", i, u[i].name);
    fprintf(r->b.log, "%d %d %d\n", a->n, a->n, csc_nnz(a));
    for (int32_t c = 0; c < a->n; c++)
        for (int32_t k = a->colptr[c]; k < a->colptr[c + 1]; k++)
            fprintf(r->b.log, "%d %d\n", a->row[k] + 1, c + 1);
}

static void dump_stage(run *r)
{
    const char *what = r->o->dump;
    if (!what)
        return;
    if (!strcmp(what, "circuit"))
        flat_print(&r->flat, r->b.log);
    else if (!strcmp(what, "pattern"))
        dump_pattern(r);
    else if (!strcmp(what, "ir") || !strcmp(what, "groups"))
        ckt_dump_groups(r->ckt, r->b.log, !strcmp(what, "ir"));
}

/* -- the run -- */

/* NAME.sp -> NAME.raw in the current folder. */
static const char *default_raw(run *r)
{
    const char *deck = r->o->arg[0], *base = strrchr(deck, '/');
    base = base ? base + 1 : deck;
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return arena_printf(&r->mem, "%.*s.%s", (int)n, base, r->o->format == OUT_CSV ? "csv" : "raw");
}

static vs_status open_results(run *r)
{
    if (r->o->no_output)
        return VS_OK;
    const char *path = r->o->raw ? r->o->raw : default_raw(r);
    if (!may_write(r, path, "the results"))
        return VS_EINPUT;
    vs_status st = out_open(&r->out, path, r->o->format);
    if (st)
        diag_error(&r->b.d, DIAG_NOWHERE, "result file '%s' cannot be written: %s", path, strerror(errno));
    return st;
}

static vs_status prepare(run *r)
{
    vs_status st = read_deck(r);
    if (!st)
        st = flatten(r, &r->mem, r->sim.temp);
    if (!st) {
        double t0 = cli_seconds();
        st = cli_open_models(&r->b, r->o);
        r->s.elaborate += cli_seconds() - t0;
    }
    if (!st)
        st = build_circuit(r, r->sim.temp, false);
    if (!st && r->b.d.n_error)
        st = VS_EINPUT;
    if (!st && !ckt_n(r->ckt)) {
        diag_error(&r->b.d, DIAG_NOWHERE, "there is nothing to compute: no element has a node besides ground");
        st = VS_EINPUT;
    }
    if (!st && r->o->strict && r->b.d.n_warning) {
        diag_error(&r->b.d, DIAG_NOWHERE, "warnings are errors (--strict)");
        st = VS_EINPUT;
    }
    return st;
}

static int exit_code(const run *r, vs_status st)
{
    if (interrupted)
        return CLI_INTERRUPT;
    switch (st) {
    case VS_OK: return CLI_OK;
    case VS_STOP: return r->fatal ? CLI_FATAL : CLI_OK;
    case VS_EINPUT:
    case VS_EUNSUPPORTED: return CLI_INPUT;
    case VS_EIO: return CLI_IO;
    default: return CLI_NUMERIC;
    }
}

static vs_status close_run(run *r)
{
    ana_free(&r->ana);
    ckt_free(&r->ckt);
    vec_free(r->vec);
    vec_free(r->over);
    free(r->row);
    arena_fini(&r->sweep_mem);
    arena_fini(&r->mem);
    return cli_base_fini(&r->b);
}

int cli_run(const cli_opt *o)
{
    double t0 = cli_seconds();
    run r = {.o = o};
    arena_init(&r.mem);
    arena_init(&r.sweep_mem);
    if (cli_base_init(&r.b, o)) {
        (void)close_run(&r);
        return CLI_IO;
    }
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    vs_status st = prepare(&r);
    cli_flush_messages(&r.b);
    bool report = !o->quiet && !o->json;
    if (!st) {
        if (report)
            print_circuit_summary(&r);
        dump_stage(&r);
        if (o->command == CMD_EXPLAIN)
            cli_explain(r.ckt, o->json, r.b.log);
        fflush(r.b.log);
    }
    if (!st && o->command == CMD_RUN) {
        st = open_results(&r);
        if (!st)
            st = run_analyses(&r);
        int why = 0;
        if (out_close(&r.out, &why)) {
            diag_error(&r.b.d, DIAG_NOWHERE, "the results could not be written: %s", strerror(why));
            st = VS_EIO;
        }
        cli_flush_messages(&r.b);
    }
    r.s.total = cli_seconds() - t0;
    if (st >= 0 && report)
        print_end(&r);
    if (r.b.lib && write_stats(&r))
        st = VS_EIO;
    int code = exit_code(&r, st);
    vs_status log = close_run(&r);
    return code == CLI_OK && log ? CLI_IO : code;
}
