/* cli_run.c - `vsim DECK`, `vsim check DECK`, `vsim explain DECK`: options, reports, exit codes.
 *
 * The run engine (src/sim) does the work; what a stage made is printed by --dump. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "rank.h"
#include "sim.h"
#include "swp.h"
#include "vec.h"

/* Everything of one run; owned by cli_run. */
typedef struct run {
    const cli_opt *o;
    cli_base b;
    sim *sim;
    double worker_start; /* s, to start a process of a sweep; 0: not measured */
    double s_models;     /* s, to open the models: part of the elaboration */
    arena mem;
    cli_progress progress;
    int fatal;          /* 2: $stop or $fatal was reached */
    double total;       /* s */
    cli_survey *survey; /* of analyze */
    ctl *ctl;           /* cards and blocks about results */
    int quit;           /* exit code of `quit` in a .control block */
} run;

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

/* -- what the engine tells -- */

static bool asked_to_stop(void *user)
{
    const run *r = user;
    return interrupted != 0 || (r->survey && cli_survey_done(r->survey));
}

static void print_line(void *user, const char *text)
{
    run *r = user;
    cli_progress_end(&r->progress);
    fprintf(r->b.log, "%s\n", text);
}

static void begin_progress(void *user, const char *what)
{
    run *r = user;
    cli_progress_begin(&r->progress, what, r->o->quiet);
}

static void show_progress(void *user, double fraction, double axis, const char *unit,
                          const ana_stat *st)
{
    run *r = user;
    cli_progress_show(&r->progress, fraction, axis, unit, st->points_accepted, st->iterations);
}

static void end_progress(void *user)
{
    run *r = user;
    cli_progress_end(&r->progress);
}

static void print_value(void *user, const char *name, double value)
{
    run *r = user;
    if (!r->o->quiet && r->o->command == CMD_RUN)
        fprintf(r->b.log, "  %-24s %.9g\n", name, value);
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
        sim_set_param(r->sim, str_intern_lower(&r->b.names, text, (size_t)(eq - text)), x);
    }
    return VS_OK;
}

static vs_status read_deck(run *r)
{
    net_opt no = {
        .include = r->o->include, .n_include = vec_len(r->o->include), .init = !r->o->no_init};
    vs_status st = add_defines(r);
    if (!st)
        st = sim_read(r->sim, r->o->arg[0], &no);
    if (!st && r->o->dump && !strcmp(r->o->dump, "cards"))
        net_print(sim_deck(r->sim), &r->b.d, r->b.log);
    return st ? st : sim_read_options(r->sim);
}

/* -- analyses -- */

static void report_analysis(run *r, const flat_ana *a, const sim_stat *before, double t0,
                            vs_status st)
{
    const sim_stat *now = sim_stats(r->sim);
    int64_t points =
        a->kind == FLAT_TRAN ? now->accepted - before->accepted : now->written - before->written;
    if (r->o->quiet || r->o->json || r->o->command == CMD_ANALYZE || !sim_ana(r->sim))
        return;
    fprintf(r->b.log, "%s: %lld points (%lld rejected), %lld iterations, %.3f s",
            sim_analysis_name(a->kind), (long long)points, (long long)now->rejected,
            (long long)(now->iterations - before->iterations), vs_seconds() - t0);
    if (now->op_method)
        fprintf(r->b.log, "; operating point by %s", now->op_method);
    fputs(st ? " (not finished)\n" : "\n", r->b.log);
}

static void analysed(void *user, const flat_ana *a, const sim_stat *before, double t0, vs_status st)
{
    run *r = user;
    report_analysis(r, a, before, t0, st);
    sim_end_analysis(r->sim);
}

static void flush_messages(void *user)
{
    run *r = user;
    cli_flush_messages(&r->b);
}

static vs_status run_analyses(run *r)
{
    sim *s = r->sim;
    size_t n;
    const flat_ana *todo = sim_todo(s, &n);
    if (!n) {
        static const flat_ana op = {.kind = FLAT_OP};
        diag_warning(&r->b.d, DIAG_NOWHERE,
                     "the deck has no analysis; computing the operating point");
        cli_flush_messages(&r->b);
        return sim_run(s, &op);
    }
    vs_status st = VS_OK,
              cards = VS_OK; /* a wrong card does not keep the other analyses from running */
    for (size_t i = 0; i < n && !st; i++) {
        sim_stat before = *sim_stats(s);
        double t0 = vs_seconds();
        st = sim_run(s, &todo[i]);
        cli_flush_messages(&r->b);
        report_analysis(r, &todo[i], &before, t0, st);
        sim_end_analysis(s);
        vs_status one = st ? VS_OK : ctl_dot(r->ctl, todo[i].kind);
        cards = cards ? cards : one;
    }
    return st ? st : cards;
}

/* A .control block runs what it wants; the deck's analyses follow if it ran none and did not quit.
 */
static vs_status run_block(run *r)
{
    bool quit;
    size_t n;
    vs_status st = ctl_run(r->ctl, &quit, &r->quit);
    (void)sim_todo(r->sim, &n);
    if (!st && !quit && !ctl_analysed(r->ctl) && n)
        st = run_analyses(r);
    return st;
}

/* What was computed is shown by cards and commands, and .control may change the deck: only `vsim
 * DECK`. */
static vs_status run_all(run *r)
{
    ctl_opt co = {.log = r->b.log,
                  .allow_shell = r->o->allow_shell,
                  .quiet = r->o->quiet,
                  .version = VSIM_VERSION,
                  .measures = r->o->measures,
                  .analysed = analysed,
                  .flush = flush_messages,
                  .user = r};
    r->ctl = ctl_new(r->sim, &co);
    if (!r->ctl)
        return VS_ENOMEM;
    bool block = r->o->command == CMD_RUN && ctl_has_block(r->sim);
    ctl_want(r->sim);
    vs_status st = block ? run_block(r) : run_analyses(r), table = ctl_write_measures(r->ctl);
    ctl_free(&r->ctl);
    return st ? st : table;
}

/* -- reports -- */

static void print_circuit_summary(run *r)
{
    const char **kind = NULL;
    int *number = NULL;
    for (size_t i = 0; i < vec_len(sim_flat(r->sim)->inst); i++) {
        const flat_inst *f = &sim_flat(r->sim)->inst[i];
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
    fprintf(r->b.log, "%s\n  %zu devices:", sim_flat(r->sim)->title,
            vec_len(sim_flat(r->sim)->inst));
    for (size_t i = 0; i < vec_len(kind); i++)
        fprintf(r->b.log, "%s %d %s", i ? "," : "", number[i], kind[i]);
    const jit_stat *js = mdl_jit_stats(r->b.lib);
    fprintf(r->b.log,
            "\n  %d unknowns, %d entries in the Jacobian; %d kernels compiled, %d from the cache\n",
            sim_stats(r->sim)->unknowns, csc_nnz(ckt_pattern(sim_ckt(r->sim))), js->n_compiled,
            js->n_from_cache);
    vec_free(kind);
    vec_free(number);
}

/* Largest resident size so far, bytes. getrusage would count the memory that the parent process had
 * when it started this one (Linux keeps the maximum over exec), so the kernel's own figure comes
 * first. */
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
            "time by phase, s: parse %.3f, elaborate %.3f, compile %.3f, op %.3f, tran %.3f "
            "(evaluate %.3f, "
            "stamp %.3f, factor %.3f, solve %.3f, output %.3f), total %.3f; peak memory %s\n",
            sim_stats(r->sim)->s.parse, sim_stats(r->sim)->s.elaborate + r->s_models,
            sim_stats(r->sim)->s.compile, sim_stats(r->sim)->s.op, sim_stats(r->sim)->s.tran,
            sim_stats(r->sim)->s.evaluate, sim_stats(r->sim)->s.stamp, sim_stats(r->sim)->s.factor,
            sim_stats(r->sim)->s.solve, sim_stats(r->sim)->s.output, r->total,
            cli_si(mem, (double)peak_memory(), "B"));
}

/* Results must not replace what was read. */
static bool may_write(run *r, const char *path, const char *what)
{
    for (size_t i = 0; i < vec_len(r->b.d.file); i++)
        if (cli_same_file(path, r->b.d.file[i].name)) {
            diag_error(&r->b.d, DIAG_NOWHERE,
                       "%s would overwrite the input file '%s'; -r FILE writes elsewhere", what,
                       r->b.d.file[i].name);
            return false;
        }
    const char *const other[] = {r->o->log, path == r->o->stats ? r->o->raw : NULL};
    for (size_t i = 0; i < VS_COUNT(other); i++)
        if (other[i] && cli_same_file(path, other[i])) {
            diag_error(&r->b.d, DIAG_NOWHERE, "%s and another output cannot both go to '%s'", what,
                       path);
            return false;
        }
    return true;
}

/* What was asked for, found out of date, made again: in this process and by workers and ranks. */
static void write_generations(const sim *s, FILE *fp)
{
    fputs("  \"generations\": {\n", fp);
    for (gen_kind k = 0; k < GEN_N_KIND; k++) {
        const gen_count n = sim_gen_count(s, k);
        fprintf(fp, "    \"%s\": {\"lookups\": %lld, \"invalidated\": %lld, \"rebuilt\": %lld}%s\n",
                gen_kind_name(k), (long long)n.lookups, (long long)n.invalid, (long long)n.rebuilt,
                k + 1 < GEN_N_KIND ? "," : "");
    }
    fputs("  },\n", fp);
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
    fprintf(
        fp,
        "{\n  \"unknowns\": %d,\n  \"points_accepted\": %lld,\n  \"points_rejected\": %lld,\n"
        "  \"newton_iterations\": %lld,\n  \"device_evaluations\": %lld,\n  \"device_bypasses\": "
        "%lld,\n"
        "  \"peak_memory_bytes\": %zu,\n"
        "  \"kernels_compiled\": %d,\n  \"kernels_from_cache\": %d,\n  \"op_method\": \"%s\",\n",
        sim_stats(r->sim)->unknowns, (long long)sim_stats(r->sim)->accepted,
        (long long)sim_stats(r->sim)->rejected, (long long)sim_stats(r->sim)->iterations,
        (long long)sim_stats(r->sim)->evaluations, (long long)sim_stats(r->sim)->bypasses,
        peak_memory(), js->n_compiled + sim_stats(r->sim)->n_compiled,
        js->n_from_cache + sim_stats(r->sim)->n_from_cache,
        sim_stats(r->sim)->op_method ? sim_stats(r->sim)->op_method : "");
    write_generations(r->sim, fp);
    fprintf(fp,
            "  \"seconds\": {\n"
            "    \"parse\": %.6f, \"elaborate\": %.6f, \"compile\": %.6f, \"op\": %.6f, \"tran\": "
            "%.6f,\n"
            "    \"evaluate\": %.6f, \"stamp\": %.6f, \"factor\": %.6f, \"solve\": %.6f, "
            "\"output\": %.6f,\n"
            "    \"total\": %.6f\n  }\n}\n",
            sim_stats(r->sim)->s.parse, sim_stats(r->sim)->s.elaborate + r->s_models,
            sim_stats(r->sim)->s.compile, sim_stats(r->sim)->s.op, sim_stats(r->sim)->s.tran,
            sim_stats(r->sim)->s.evaluate, sim_stats(r->sim)->s.stamp, sim_stats(r->sim)->s.factor,
            sim_stats(r->sim)->s.solve, sim_stats(r->sim)->s.output, r->total);
    bool bad = ferror(fp);
    if (!fclose(fp) && !bad)
        return VS_OK;
    fprintf(stderr, "vsim: '%s' could not be written: %s\n", r->o->stats, strerror(errno));
    return VS_EIO;
}

static void dump_pattern(const run *r)
{
    const csc *a = ckt_pattern(sim_ckt(r->sim));
    const ckt_unknown *u = ckt_unknowns(sim_ckt(r->sim));
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
        flat_print(sim_flat(r->sim), r->b.log);
    else if (!strcmp(what, "pattern"))
        dump_pattern(r);
    else if (!strcmp(what, "ir") || !strcmp(what, "groups"))
        ckt_dump_groups(sim_ckt(r->sim), r->b.log, !strcmp(what, "ir"));
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
    /* a block writes what it wants by itself, perhaps to a file of that name */
    if (r->o->no_output || ((r->o->command != CMD_RUN || ctl_has_block(r->sim)) && !r->o->raw))
        return VS_OK;
    const char *path = r->o->raw ? r->o->raw : default_raw(r);
    if (!may_write(r, path, "the results"))
        return VS_EINPUT;
    vs_status st = out_open(&sim_opts(r->sim)->out, path, r->o->format);
    if (st)
        diag_error(&r->b.d, DIAG_NOWHERE, "result file '%s' cannot be written: %s", path,
                   strerror(errno));
    return st;
}

static vs_status prepare(run *r)
{
    vs_status st = read_deck(r);
    if (!st)
        st = sim_flatten(r->sim);
    if (!st) {
        double t0 = vs_seconds();
        st = cli_open_models(&r->b, r->o);
        sim_opts(r->sim)->lib = r->b.lib;
        double tuned = 0;
        if (r->o->threads != 1 || r->o->jobs != 1)
            tuned = cli_tuned(r->o, r->b.log, &r->worker_start);
        sim_opts(r->sim)->parallel_min = r->o->parallel_min > 0 ? r->o->parallel_min : tuned;
        r->s_models = vs_seconds() - t0;
    }
    if (!st)
        st = sim_build(r->sim);
    if (!st)
        st = ctl_check(r->sim, r->o->command == CMD_CHECK);
    if (!st && r->b.d.n_error)
        st = VS_EINPUT;
    if (!st && !ckt_n(sim_ckt(r->sim))) {
        diag_error(&r->b.d, DIAG_NOWHERE,
                   "there is nothing to compute: no element has a node besides ground");
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
    return st == VS_OK ? r->quit : st == VS_STOP && r->fatal ? CLI_FATAL : cli_exit_code(st);
}

/* The files of a sweep: it opens them itself, to go on in them. */
static vs_status run_sweep(run *r)
{
    const cli_opt *o = r->o;
    const char *out = o->no_output || o->command == CMD_EXPLAIN ? NULL
                      : o->raw                                  ? o->raw
                                                                : default_raw(r);
    if ((out && !may_write(r, out, "the results")) ||
        (o->measures && !may_write(r, o->measures, "the measures")))
        return VS_EINPUT;
    cli_flush_messages(&r->b);
    vs_status st = cli_sweep(o, r->sim, out, r->worker_start, r->b.log);
    cli_flush_messages(&r->b);
    return st;
}

static vs_status run_deck(run *r)
{
    if (r->o->command == CMD_RUN && swp_wanted(r->sim) && !ctl_has_block(r->sim))
        return run_sweep(r);
    if (r->o->command == CMD_RUN && swp_wanted(r->sim))
        diag_warning(&r->b.d, sim_deck(r->sim)->control_at,
                     "a deck with a .control block does as the block says; its .step, .mc "
                     "and .alter cards, and further values of .temp, have no effect");
    if (r->o->link)
        diag_warning(&r->b.d, DIAG_NOWHERE,
                     "%d processes were started by MPI, but the deck has no points to share%s: one "
                     "computes it",
                     r->o->link->size, swp_wanted(r->sim) ? "" : " (.step, .mc)");
    vs_status st = open_results(r);
    if (!st)
        st = run_all(r);
    int why = 0;
    if (out_close(&sim_opts(r->sim)->out, &why)) {
        diag_error(&r->b.d, DIAG_NOWHERE, "the results could not be written: %s", strerror(why));
        st = VS_EIO;
    }
    cli_flush_messages(&r->b);
    return st;
}

static vs_status profile_deck(run *r)
{
    cli_profile *p = cli_profile_begin(r->o, r->sim);
    if (!p)
        return VS_EIO;
    vs_status st = run_deck(r);
    vs_status written = cli_profile_end(p, sim_ckt(r->sim) ? r->b.log : NULL);
    return st ? st : written;
}

/* The run, with someone who looks on. */
static vs_status survey_deck(run *r)
{
    r->survey = cli_survey_begin(r->o, r->sim);
    vs_status st = r->survey ? run_deck(r) : VS_EINPUT;
    if (r->survey && (st == VS_OK || st == VS_STOP)) {
        st = cli_survey_report(r->survey, r->b.log);
        cli_flush_messages(&r->b);
    }
    if (r->survey)
        cli_survey_free(r->survey);
    r->survey = NULL;
    cli_flush_messages(&r->b);
    return st;
}

static vs_status close_run(run *r)
{
    sim_free(&r->sim);
    arena_fini(&r->mem);
    return cli_base_fini(&r->b);
}

int cli_run(const cli_opt *o)
{
    double t0 = vs_seconds();
    run r = {.o = o};
    vs_status open = cli_base_init(&r.b, o);
    sim_hook hook = {
        print_line, begin_progress, show_progress, end_progress, print_value, asked_to_stop, &r};
    arena_init(&r.mem);
    r.sim = sim_new(&r.b.d, &r.b.names);
    if (open || !r.sim) {
        (void)close_run(&r);
        return CLI_IO;
    }
    sim_opt *so = sim_opts(r.sim);
    so->hook = hook;
    so->touchstone = o->touchstone;
    so->threads = o->threads;
    so->lu = o->lu;
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    vs_status st = prepare(&r);
    if (o->link && o->link->rank > 0 &&
        !cli_go(o->link)) { /* nothing to do; what is wrong rank 0 tells */
        (void)close_run(&r);
        return CLI_OK;
    }
    cli_flush_messages(&r.b);
    bool report = !o->quiet && !o->json && o->command != CMD_ANALYZE;
    if (!st) {
        if (report)
            print_circuit_summary(&r);
        dump_stage(&r);
        if (o->command == CMD_EXPLAIN)
            cli_explain(r.sim, o->json, r.b.log);
        if (o->command == CMD_EXPLAIN && o->redo && swp_wanted(r.sim))
            st = run_sweep(&r);
        fflush(r.b.log);
    }
    if (!st && o->command == CMD_RUN)
        st = run_deck(&r);
    else if (!st && o->command == CMD_PROFILE)
        st = profile_deck(&r);
    else if (!st && o->command == CMD_ANALYZE)
        st = survey_deck(&r);
    r.total = vs_seconds() - t0;
    if (st >= 0 && report)
        print_end(&r);
    if (r.b.lib && write_stats(&r))
        st = VS_EIO;
    int code = exit_code(&r, st);
    vs_status log = close_run(&r);
    return code == CLI_OK && log ? CLI_IO : code;
}
