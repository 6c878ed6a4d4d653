/* run.c - the run of a deck: what its cards, blocks and sweeps ask for, in which order, with which
 * files and messages (vsim/inside.h). The engine (src/sim) computes; .control and cards about
 * results are src/ctl, families of runs src/swp, reports src/rep. */
#include "run_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "stream.h"
#include "swp.h"
#include "vec.h"

static bool plain(const run *r) { return r->j->task == VSIM_TASK_RUN; }

void run_say(run *r) { run_tell(&r->d, &r->j->streams); }

/* -- what the engine tells -- */

static bool asked_to_stop(void *user)
{
    const run *r = user;
    return r->j->stop && r->j->stop(r->j->user);
}

static void long_work(void *user, bool begins)
{
    const run *r = user;
    r->j->long_work(r->j->user, begins);
}

static bool survey_stops(void *user)
{
    return rep_survey_done(((const run *)user)->survey) || asked_to_stop(user);
}

static void end_progress(void *user)
{
    const run *r = user;
    if (r->j->end)
        r->j->end(r->j->user);
}

static void print_line(void *user, const char *text)
{
    const run *r = user;
    end_progress(user);
    fprintf(r->log, "%s\n", text);
}

static void begin_progress(void *user, const char *what)
{
    const run *r = user;
    if (r->j->begin)
        r->j->begin(r->j->user, what);
}

static void show_progress(void *user, double fraction, double axis, const char *unit,
                          const ana_stat *st)
{
    const run *r = user;
    const vsim_progress p = {fraction, axis, unit, st->points_accepted, st->iterations};
    if (r->j->progress)
        r->j->progress(r->j->user, &p);
}

static void print_value(void *user, const char *name, double value)
{
    run *r = user;
    if (r->j->streams.quiet || !plain(r))
        return;
    if (r->j->streams.ngspice)
        run_ng_value(r, name, value);
    else
        fprintf(r->log, "  %-24s %.9g\n", name, value);
}

/* Prints one row for a device with the values that users look at first, and all with -v. (Result
 * files have all: .save @m1[all].) Prints nothing when run as ngspice. */
static void print_device(void *user, const char *device, const char *const *name,
                         const double *value, size_t n)
{
    static const char *const first[] = {"i",    "id",  "ids", "ic",  "ib",  "vd",    "vgs",  "vds",
                                        "vbs",  "vbe", "vbc", "von", "vth", "vdsat", "vdss", "gm",
                                        "gmbs", "gds", "gpi", "go",  "gd",  "reff"};
    enum { FEW = 4, WIDTH = 12 };
    run *r = user;
    if (r->j->streams.quiet || !plain(r) || r->j->streams.ngspice)
        return;
    if (r->j->streams.notes) {
        for (size_t k = 0; k < n; k++)
            fprintf(r->log, "  @%s[%s]%*s %.9g\n", device, name[k],
                    (int)(WIDTH - (strlen(name[k]) < WIDTH ? strlen(name[k]) : WIDTH)), "",
                    value[k]);
        return;
    }
    fprintf(r->log, "  %-12s", device);
    for (size_t k = 0; k < n && n <= FEW; k++)
        fprintf(r->log, " %s=%.4g", name[k], value[k]);
    for (size_t i = 0; i < VS_COUNT(first) && n > FEW; i++)
        for (size_t k = 0; k < n; k++)
            if (!strcmp(name[k], first[i]))
                fprintf(r->log, " %s=%.4g", name[k], value[k]);
    fputc('\n', r->log);
}

/* -- files to write -- */

typedef struct output {
    const char *path, *what;
    files_role role;
} output;

enum { N_OUTPUT = 9 };

static size_t outputs_of(const vsim_inside_job *j, output to[N_OUTPUT])
{
    const output all[] = {{j->streams.log_path, "the report", FILES_REPORT},
                          {j->raw, "the results", FILES_RESULTS},
                          {j->measures, "the measures", FILES_MEASURES},
                          {j->limit_log, "the log of limits", FILES_LIMITS},
                          {j->stats, "the figures", FILES_FIGURES},
                          {j->svg, "the picture", FILES_PICTURE},
                          {j->mtx, "the matrix", FILES_MATRIX},
                          {j->trace, "the events", FILES_TRACE},
                          {j->steps, "the steps", FILES_RESULTS}};
    size_t n = 0;
    for (size_t i = 0; i < VS_COUNT(all); i++)
        if (all[i].path && strcmp(all[i].path, "-") != 0)
            to[n++] = all[i];
    return n;
}

/* The names that S-parameters may get: of how many ports, points of a family and analyses is not
 * known before the deck is read. */
static vs_status claim_touchstone(run *r)
{
    static const char *const point[] = {"", ".point-" FILES_DIGITS};
    static const char *const kind[] = {"", ".sp" FILES_DIGITS, ".hbsp", ".hbsp" FILES_DIGITS};
    const char *to = r->j->touchstone;
    bool ok = true;
    for (size_t i = 0; i < VS_COUNT(point) * VS_COUNT(kind) && to && ok; i++) {
        char *name = vs_text("%s%s%s.s" FILES_DIGITS "p", to, point[i / VS_COUNT(kind)],
                             kind[i % VS_COUNT(kind)]);
        ok = files_claim_all(name, FILES_TOUCHSTONE);
        vs_free(name);
    }
    if (ok)
        return VS_OK;
    diag_error(&r->d, DIAG_NOWHERE, "the S-parameters cannot be written to '%s.sNp': %s", to,
               files_why(errno));
    return VS_EINPUT;
}

/* Registers the files that the run will write, before it reads any: a file cannot be both. */
static vs_status claim_outputs(run *r)
{
    output to[N_OUTPUT];
    const size_t n = outputs_of(r->j, to);
    for (size_t i = 0; i < n; i++)
        if (!files_claim(to[i].path, to[i].role)) {
            diag_error(&r->d, DIAG_NOWHERE, "%s cannot be written to '%s': %s", to[i].what,
                       to[i].path, files_why(errno));
            return VS_EINPUT;
        }
    return claim_touchstone(r);
}

/* Checks the outputs against inputs that no card names: source files of models from the cache. */
static vs_status check_outputs(run *r)
{
    output to[N_OUTPUT];
    const size_t n = outputs_of(r->j, to);
    for (size_t i = 0; i < n; i++)
        if (files_refused(to[i].role)) {
            diag_error(&r->d, DIAG_NOWHERE, "%s would overwrite the input file '%s'", to[i].what,
                       to[i].path);
            return VS_EINPUT;
        }
    if (!files_refused(FILES_TOUCHSTONE))
        return VS_OK;
    diag_error(&r->d, DIAG_NOWHERE, "the S-parameters would overwrite an input file '%s...'",
               r->j->touchstone);
    return VS_EINPUT;
}

/* -- reading -- */

static vs_status add_defines(run *r)
{
    for (size_t i = 0; i < r->j->n_define; i++) {
        const char *text = r->j->define[i], *eq = strchr(text, '=');
        double x;
        const char *end;
        if (!str_spice_number(eq + 1, &end, &x) || *end) {
            diag_error(&r->d, DIAG_NOWHERE, "-D %s: '%s' is not a number", text, eq + 1);
            return VS_EINPUT;
        }
        sim_set_param(r->sim, str_intern_lower(&r->names, text, (size_t)(eq - text)), x);
    }
    return VS_OK;
}

static net_opt how_to_read(const run *r)
{
    return (net_opt){.include = r->j->set.include,
                     .n_include = r->j->set.n_include,
                     .init = r->j->set.start_files,
                     .ngspice = r->j->streams.ngspice};
}

static vs_status read_deck(run *r)
{
    const net_opt no = how_to_read(r);
    vs_status st = run_confine(r);
    if (!st)
        st = claim_outputs(r);
    if (!st)
        st = add_defines(r);
    if (!st)
        st = sim_read(r->sim, r->j->deck, &no);
    if (r->j->streams.ngspice && sim_deck(r->sim) && sim_deck(r->sim)->title)
        run_ng_circuit(r);
    if (!st && r->j->dump && !strcmp(r->j->dump, "cards"))
        net_print(sim_deck(r->sim), &r->d, &r->names, r->log);
    return st ? st : sim_read_options(r->sim);
}

static vs_status open_models(run *r)
{
    const vsim_settings *set = &r->j->set;
    const double t0 = vs_seconds();
    const vs_status st =
        run_open_models(&r->lib, &r->d, &r->names, set, &r->j->streams, &r->j->debug, r->link);
    double tuned = 0;
    sim_opts(r->sim)->lib = r->lib;
    if (!st && set->cache && (set->threads != 1 || r->j->jobs != 1))
        tuned = rep_tuned(set->cache, r->j->streams.notes ? r->log : NULL, &r->worker_start);
    sim_opts(r->sim)->parallel_min = set->parallel_min > 0 ? set->parallel_min : tuned;
    r->s_models = vs_seconds() - t0;
    return st;
}

static vs_status prepare(run *r)
{
    vs_status st = read_deck(r);
    const bool own_seed = !st && r->j->seed && !sim_option(r->sim)->given[OPTION_seed];
    if (own_seed)
        sim_set_sample(r->sim, r->j->seed, 0);
    if (!st)
        st = open_models(r); /* of which the expansion asks names of terminals */
    if (!st)
        st = sim_flatten(r->sim);
    if (!st && own_seed && sim_flat(r->sim)->drew && !r->j->streams.quiet)
        fprintf(r->log, "Seed value for random number generator is set to %llu\n",
                (unsigned long long)r->j->seed);
    if (!st)
        st = sim_build(r->sim);
    if (!st || !r->d.n_error)
        st = check_outputs(r) ? VS_EINPUT : st;
    if (!st)
        st = ctl_check(r->sim, r->j->task == VSIM_TASK_CHECK);
    if (!st && r->d.n_error)
        st = VS_EINPUT;
    /* a deck may consist of a block alone, which loads files, computes, prints */
    r->empty = !st && !ckt_n(sim_ckt(r->sim)) && !(plain(r) && ctl_has_block(r->sim));
    if (r->empty && r->j->streams.ngspice) {
        diag_warning(&r->d, DIAG_NOWHERE, "there is nothing to compute: the circuit is empty");
    } else if (r->empty) {
        diag_error(&r->d, DIAG_NOWHERE,
                   "there is nothing to compute: no element has a node besides ground");
        st = VS_EINPUT;
    }
    if (!st && r->j->strict && r->d.n_warning) {
        diag_error(&r->d, DIAG_NOWHERE, "warnings are errors (--strict)");
        st = VS_EINPUT;
    }
    return st;
}

/* -- analyses -- */

static bool is_on_orbit(const flat_ana *a)
{
    return a->kind == FLAT_HBAC || a->kind == FLAT_HBNOISE || a->kind == FLAT_HBSP ||
           a->kind == FLAT_HBXF;
}

static void report_analysis(run *r, const flat_ana *a, const sim_stat *before, double t0,
                            vs_status st)
{
    const sim_stat *now = sim_stats(r->sim);
    int64_t points =
        a->kind == FLAT_TRAN ? now->accepted - before->accepted : now->written - before->written;
    if (r->j->streams.quiet || r->j->json || r->j->task == VSIM_TASK_ANALYZE || !sim_ana(r->sim))
        return;
    if (st == VS_PAUSED) /* it is counted at its end */
        return;
    if (r->j->streams.ngspice) {
        run_ng_analysis(r, points);
        return;
    }
    fprintf(r->log, "%s: %lld points (%lld rejected), %lld iterations, %.3f s",
            sim_analysis_name(a), (long long)points, (long long)(now->rejected - before->rejected),
            (long long)(now->iterations - before->iterations), vs_seconds() - t0);
    if (now->op_method)
        fprintf(r->log, "; operating point by %s", now->op_method);
    if (is_on_orbit(a) && now->small_steps)
        fprintf(r->log, "; solved in time, %lld steps a period", (long long)now->small_steps);
    else if (is_on_orbit(a))
        fprintf(r->log, "; solved in %lld harmonics", (long long)now->small_harmonics);
    fputs(st ? " (not finished)\n" : "\n", r->log);
}

static void analysed(void *user, const flat_ana *a, const sim_stat *before, double t0, vs_status st)
{
    run *r = user;
    run_say(r);
    report_analysis(r, a, before, t0, st);
    if (r->j->witness && a->kind == FLAT_OP && !st)
        run_tell_devices(r);
}

static void flush_messages(void *user) { run_say(user); }

static vs_status run_analyses(run *r)
{
    size_t n;
    (void)sim_todo(r->sim, &n);
    if (!n) {
        diag_warning(&r->d, DIAG_NOWHERE,
                     "the deck has no analysis; computing the operating point");
        run_say(r);
    }
    return ctl_deck(r->ctl, false);
}

static vs_status look_for_break(void *user, double axis, const double *x, const double *z)
{
    const run *r = user;
    (void)axis;
    (void)x;
    (void)z;
    return ctl_is_break(r->ctl) ? VS_PAUSED : VS_OK;
}

static double next_stop(void *user, double t)
{
    const run *r = user;
    return ctl_next_stop(r->ctl, t);
}

static int start_program(void *user, const char *command)
{
    (void)user;
    fflush(NULL);
    return system(command);
}

/* Runs the .control block, and then the deck's analyses if the block ran none and did not quit. */
static vs_status run_block(run *r)
{
    bool quit = false;
    size_t n;
    sim_opts(r->sim)->hook.point = look_for_break;
    sim_opts(r->sim)->hook.mark = next_stop;
    vs_status st = VS_OK;
    const bool over =
        r->j->restart && !ctl_goes_back(r->ctl); /* the deck's analyses were under way */
    if (!over)
        st = ctl_run(r->ctl, &quit, &r->quit);
    (void)sim_todo(r->sim, &n);
    /* the failed command gave its message; a client that starts an ngspice looks for the results */
    if (st == VS_EINPUT && r->j->streams.ngspice)
        st = VS_OK;
    if (!st && !quit && (over || !ctl_analysed(r->ctl)) && n)
        st = run_analyses(r);
    return st == VS_PAUSED ? VS_OK : st; /* a transient that rests ends with its deck */
}

/* Without folder and ending. */
const char *run_deck_name(run *r)
{
    const char *deck = r->j->deck, *base = strrchr(deck, '/');
    base = base ? base + 1 : deck;
    const char *dot = strrchr(base, '.');
    const size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return arena_printf(&r->mem, "%.*s", (int)n, base);
}

/* Runs the deck's block, else its analyses. Tasks other than a plain run (profile, explain ...)
 * skip the block, which may change the deck. */
static vs_status run_all(run *r)
{
    const ctl_opt co = {.log = r->log,
                        .shell = r->j->allow_shell ? start_program : NULL,
                        .variable = r->j->variable,
                        .n_variable = r->j->n_variable,
                        .raw = r->j->raw,
                        .seed = r->j->seed,
                        .quiet = r->j->streams.quiet,
                        .version = r->j->version,
                        .measures = r->j->measures,
                        .analysed = analysed,
                        .flush = flush_messages,
                        .append = run_append,
                        .pages = r->j->pages,
                        .picture = r->j->witness ? run_tell_picture : NULL,
                        .user = r};
    r->ctl = ctl_new(r->sim, &co);
    const bool block = plain(r) && ctl_has_block(r->sim);
    ctl_want(r->sim);
    if (block && !r->j->no_output)
        sim_opts(r->sim)->part = run_deck_name(r);
    vs_status st = run_restart_deck(r);
    if (!st)
        st = block ? run_block(r) : run_analyses(r);
    if (!st)
        st = run_restart_end(r);
    const vs_status table = ctl_write_measures(r->ctl);
    sim_part_end(r->sim, st == VS_STOP && !ctl_saved(r->ctl));
    ctl_free(&r->ctl);
    return st ? st : table;
}

/* -- result files -- */

/* Whether the start-up file of an ngspice asks for raw files as text, and the command line for no
 * other ones. */
static bool starts_with_text(const run *r)
{
    const vsim_inside_job *j = r->j;
    if (!j->streams.ngspice || j->server || j->format != VSIM_RAW || !sim_deck(r->sim))
        return false;
    for (size_t i = 0; i < j->n_variable; i++)
        if (!str_ncasecmp(j->variable[i], "filetype=", 9))
            return false;
    const char *type = net_start_value(sim_deck(r->sim), "filetype");
    return type && !str_casecmp(type, "ascii");
}

static out_format format(const run *r)
{
    static const out_format of[] = {
        [VSIM_RAW] = OUT_RAW, [VSIM_ASCII] = OUT_ASCII, [VSIM_CSV] = OUT_CSV};
    return starts_with_text(r) ? OUT_ASCII : of[r->j->format];
}

/* NAME.sp -> NAME.raw in the current folder. */
static const char *default_raw(run *r)
{
    return arena_printf(&r->mem, "%s.%s", run_deck_name(r), format(r) == OUT_CSV ? "csv" : "raw");
}

static vs_status open_results(run *r)
{
    /* a block writes results itself, perhaps to a file of that name */
    const bool own_file = plain(r) && !ctl_has_block(r->sim) && !r->j->streams.ngspice;
    if (r->j->no_output || (!own_file && !r->j->raw))
        return VS_OK;
    const char *path = r->j->raw ? r->j->raw : default_raw(r);
    vs_status st = r->j->restart ? out_go_on(&sim_opts(r->sim)->out, path, format(r))
                                 : out_open(&sim_opts(r->sim)->out, path, format(r));
    const int why = errno;
    if (st) {
        diag_error(&r->d, DIAG_NOWHERE, "result file '%s' cannot be written: %s", path,
                   files_why(why));
        return why == FILES_IS_INPUT || why == FILES_IS_OUTPUT ? VS_EINPUT : VS_EIO;
    }
    r->results = strcmp(path, "-") ? path : NULL;
    run_ng_open(r);
    out_set_sync(sim_opts(r->sim)->out, r->j->fsync);
    return st;
}

/* Runs a sweep, which opens its result files itself, since it may go on in them. */
static vs_status run_sweep(run *r)
{
    const vsim_inside_job *j = r->j;
    const char *out = j->no_output || !plain(r) ? NULL : j->raw ? j->raw : default_raw(r);
    run_say(r);
    net_opt read = how_to_read(r);
    read.init = false;
    const swp_opt so = {.deck = j->deck,
                        .read = &read,
                        .log = r->log,
                        .say = j->streams.say,
                        .out = out,
                        .format = format(r),
                        .measures = plain(r) ? j->measures : NULL,
                        .limits = files_refused(FILES_LIMITS) ? NULL : j->limit_log,
                        .worker_start = r->worker_start,
                        .jobs = j->jobs,
                        .link = r->link,
                        .shard = j->shard,
                        .n_shard = j->n_shard,
                        .resume = j->resume,
                        .fsync = j->fsync,
                        .checkpoint = j->checkpoint,
                        .minutes = j->minutes,
                        .quiet = j->streams.quiet,
                        .version = j->version,
                        .redo = j->redo};
    const vs_status st = swp_run(r->sim, &so);
    run_say(r);
    return st;
}

/* -- the tasks -- */

/* The log of option warn; "-": the report. */
static vs_status open_limit_log(run *r)
{
    const char *path = r->j->limit_log;
    if (!path || files_refused(FILES_LIMITS)) /* refused: a message said so */
        return VS_OK;
    FILE *to = strcmp(path, "-") ? stream_create(path, FILES_LIMITS) : r->log;
    if (!to) {
        diag_error(&r->d, DIAG_NOWHERE, "'%s' cannot be written: %s", path, files_why(errno));
        return VS_EIO;
    }
    sim_opts(r->sim)->limit_log = to;
    return VS_OK;
}

static vs_status close_limit_log(run *r)
{
    FILE *to = sim_opts(r->sim)->limit_log;
    sim_opts(r->sim)->limit_log = NULL;
    if (!to || to == r->log || !stream_close(to))
        return VS_OK;
    diag_error(&r->d, DIAG_NOWHERE, "'%s' could not be written: %s", r->j->limit_log,
               strerror(errno));
    return VS_EIO;
}

static void tell_no_touchstone(run *r)
{
    const flat_ana *a = sim_flat(r->sim)->ana;
    bool any = !r->j->touchstone || ctl_has_block(r->sim);
    for (size_t i = 0; i < vec_len(a) && !any; i++)
        any = a[i].kind == FLAT_SP || a[i].kind == FLAT_HBSP;
    if (!any)
        diag_warning(&r->d, DIAG_NOWHERE,
                     "no '%s.sNp' is written: the deck has no .sp and no .hbsp", r->j->touchstone);
}

static vs_status run_deck(run *r)
{
    if (r->empty)
        return VS_OK;
    if (r->j->witness)
        run_tell_cards(r);
    const bool family = swp_wanted(r->sim);
    vs_status st = run_checkpoint_begin(r, family && !(plain(r) && ctl_has_block(r->sim)));
    if (st) {
        run_say(r);
        return st;
    }
    tell_no_touchstone(r);
    if (plain(r) && family && !ctl_has_block(r->sim))
        return run_sweep(r);
    if (plain(r) && family)
        diag_warning(&r->d, sim_deck(r->sim)->control_at,
                     "a deck with a .control block does as the block says; its .step, .mc "
                     "and .alter cards, and further values of .temp, have no effect");
    if (family && (r->j->task == VSIM_TASK_PROFILE || r->j->task == VSIM_TASK_ANALYZE))
        diag_warning(&r->d, DIAG_NOWHERE,
                     "the deck is run as it stands: its .step, .mc and .alter cards, and further "
                     "values of .temp, have no effect here");
    if (r->link)
        diag_warning(&r->d, DIAG_NOWHERE,
                     "%d processes were started by MPI, but the deck has no points to share%s: one "
                     "computes it",
                     r->link->size, family ? "" : " (.step, .mc)");
    st = run_restart_read(r);
    if (!st)
        st = open_results(r);
    if (!st)
        st = run_restart_results(r);
    if (!st)
        st = open_limit_log(r);
    if (!st)
        st = run_all(r);
    const vs_status log = close_limit_log(r);
    st = st ? st : log;
    int why = 0;
    if (out_close(&sim_opts(r->sim)->out, &why)) {
        diag_error(&r->d, DIAG_NOWHERE, "the results could not be written: %s", strerror(why));
        st = VS_EIO;
    }
    run_checkpoint_end(r, st);
    run_say(r);
    return st;
}

static vs_status profile_deck(run *r)
{
    const rep_profile_opt o = {.deck = r->j->deck,
                               .trace = r->j->trace,
                               .svg = r->j->svg,
                               .steps = r->j->steps,
                               .json = r->j->json,
                               .as_if = r->j->as_if};
    rep_profile *p = rep_profile_begin(&o, r->sim);
    vs_status st = p ? run_deck(r) : VS_EIO;
    const vs_status written = p ? rep_profile_end(p, sim_ckt(r->sim) ? r->log : NULL) : VS_OK;
    run_say(r);
    return st ? st : written;
}

static rep_analyze_opt analyze_options(const vsim_inside_job *j)
{
    return (rep_analyze_opt){.deck = j->deck,
                             .at = j->at,
                             .order = j->order,
                             .svg = j->svg,
                             .mtx = j->mtx,
                             .json = j->json,
                             .csv = j->format == VSIM_CSV};
}

/* Runs the deck with r->survey looking on (analyze). */
static vs_status survey_deck(run *r)
{
    const rep_analyze_opt o = analyze_options(r->j);
    r->survey = rep_survey_begin(&o, r->sim);
    sim_opts(r->sim)->hook.stop = survey_stops;
    vs_status st = r->survey ? run_deck(r) : VS_EINPUT;
    sim_opts(r->sim)->hook.stop = asked_to_stop;
    if (r->survey && (st == VS_OK || st == VS_STOP))
        st = rep_survey_report(r->survey, r->log);
    if (r->survey)
        rep_survey_free(r->survey);
    r->survey = NULL;
    run_say(r);
    return st;
}

static vs_status examine(run *r)
{
    const vs_status st = rep_doctor(r->sim, r->j->json, r->log);
    run_say(r);
    return st;
}

static vs_status do_task(run *r, bool report)
{
    const vsim_inside_job *j = r->j;
    vs_status st = VS_OK;
    if (report)
        j->streams.ngspice ? run_ng_begin(r) : run_print_summary(r);
    run_dump(r);
    if (j->task == VSIM_TASK_EXPLAIN)
        rep_explain(r->sim, j->json, r->log);
    if (j->task == VSIM_TASK_EXPLAIN && j->redo && swp_wanted(r->sim))
        st = run_sweep(r);
    fflush(r->log);
    switch (j->task) {
    case VSIM_TASK_RUN: return run_deck(r);
    case VSIM_TASK_PROFILE: return profile_deck(r);
    case VSIM_TASK_ANALYZE: return survey_deck(r);
    case VSIM_TASK_DOCTOR: return examine(r);
    case VSIM_TASK_CHECK:
    case VSIM_TASK_EXPLAIN: break;
    }
    return st;
}

/* -- begin, end -- */

static vs_status begin(run *r)
{
    const vsim_inside_job *j = r->j;
    diag_init(&r->d);
    r->d.variable = j->set.variable;
    r->d.variable_user = j->set.user;
    str_pool_init(&r->names);
    arena_init(&r->mem);
    r->sim = sim_new(&r->d, &r->names);
    sim_plots(r->sim)->no_date = j->no_date;
    sim_opt *so = sim_opts(r->sim);
    so->hook = (sim_hook){.line = print_line,
                          .begin = begin_progress,
                          .progress = show_progress,
                          .end = end_progress,
                          .value = print_value,
                          .device = print_device,
                          .stop = asked_to_stop,
                          .long_work = j->long_work ? long_work : NULL,
                          .user = r};
    so->programs = &run_children;
    so->touchstone = j->touchstone;
    so->fsync = j->fsync;
    so->verify = j->verify ? &r->verified : NULL;
    so->manner =
        (out_manner){.program = arena_printf(&r->mem, "vsim %s", j->version ? j->version : ""),
                     .ngspice = j->streams.ngspice};
    so->threads = j->set.threads;
    so->lu = j->lu ? lu_kind_of(j->lu) + 1 : 0;
    return VS_OK;
}

static void end(run *r)
{
    sim_free(&r->sim);
    mdl_lib_free(&r->lib);
    vec_free(r->checkpoint);
    vec_free(r->longer);
    arena_fini(&r->mem);
    str_pool_fini(&r->names);
    diag_fini(&r->d);
}

static vs_status run_matrix(run *r)
{
    const rep_analyze_opt o = analyze_options(r->j);
    vs_status st = claim_outputs(r);
    if (!st)
        st = rep_matrix(&r->d, &o, r->log);
    run_say(r);
    return st;
}

static vs_status run_it(run *r)
{
    const vsim_inside_job *j = r->j;
    const double t0 = vs_seconds();
    const bool report = !j->streams.quiet && !j->json && j->task != VSIM_TASK_ANALYZE &&
                        j->task != VSIM_TASK_DOCTOR;
    /* until it computes a run may end anywhere, unless other ranks wait for its messages */
    const bool may_leave = j->stop && !r->link;
    if (may_leave)
        heap_set_stop(heap_now(), asked_to_stop, r);
    vs_status st = prepare(r);
    if (may_leave)
        heap_set_stop(heap_now(), NULL, NULL);
    if (r->link && r->link->rank > 0 && !run_go(r->link))
        return VS_OK;                      /* no work for this rank; rank 0 gives the messages */
    if (st || j->task != VSIM_TASK_DOCTOR) /* doctor's report has the messages so far */
        run_say(r);
    if (!st)
        st = do_task(r, report);
    r->total = vs_seconds() - t0;
    if (r->lib && j->debug.check_kernels && !(r->link && r->link->rank > 0))
        run_tell_kernels(r); /* other ranks have sent what they found */
    if (j->verify && st >= 0)
        run_tell_verified(r);
    if (st >= 0 && report)
        j->streams.ngspice ? run_ng_end(r) : run_print_end(r);
    if (r->lib && run_write_stats(r))
        st = VS_EIO;
    return st;
}

/* Forgets the last frame of another rank: it is in the heap that is freed now. */
static void forget_frame(run *r)
{
    if (r->link)
        vec_free(r->link->data);
}

static vs_status run_job(void *user)
{
    run *r = user;
    const vsim_inside_job *j = r->j;
    vs_status st = begin(r);
    if (!st)
        st = j->task == VSIM_TASK_ANALYZE && rep_is_matrix(j->deck) ? run_matrix(r) : run_it(r);
    forget_frame(r);
    end(r);
    return st;
}

static void last_words(void *user)
{
    run *r = user;
    end_progress(r);
    forget_frame(r);
    run_say(r);
}

vsim_status vsim_inside_run(const vsim_inside_job *j, int *quit)
{
    run r = {.j = j, .log = j->streams.log, .link = j->ranks ? &j->ranks->link : NULL};
    const run_guard g = {.memory = j->set.memory,
                         .fail_at = j->fail_at,
                         .streams = &j->streams,
                         .body = run_job,
                         .last = last_words};
    const vs_status st = run_guarded(&g, &r);
    *quit = r.quit;
    return (vsim_status)st;
}
