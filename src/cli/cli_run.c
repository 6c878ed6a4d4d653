/* cli_run.c - `vsim DECK`, check, explain, analyze, profile: the job, signals, the exit code. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

/* Factors of a large matrix may take minutes, and nothing can interrupt the libraries that make
 * them. A run that is asked to stop meanwhile ends at once: all points were written before. */
static volatile sig_atomic_t working; /* number of the present piece of such work, 0: none */
static volatile sig_atomic_t worked;  /* its value at the last look */
enum { MOST_PIECES = 1 << 20 };
/* Looks once for each second of processor time. (SIGALRM belongs to the ranks.) */
static const struct itimerval look = {{1, 0}, {1, 0}};

static void long_work(void *user, bool begins)
{
    static sig_atomic_t number;
    (void)user;
    number = number % MOST_PIECES + 1;
    working = begins ? number : 0;
}

static void on_look(int sig)
{
    static const char text[] =
        "vsim: stopped within a factorisation, which cannot be interrupted; what was computed "
        "before is in the results\n";
    (void)sig;
    if (working && working == worked) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(CLI_INTERRUPT);
    }
    worked = working;
}

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
    worked = working;
    setitimer(ITIMER_PROF, &look, NULL);
}

static volatile sig_atomic_t wants_checkpoint;

static void on_keep(int sig)
{
    (void)sig;
    wants_checkpoint = 1;
}

static bool asked_to_keep(void *user)
{
    (void)user;
    const bool yes = wants_checkpoint != 0;
    wants_checkpoint = 0;
    return yes;
}

static void listen_to_signals(void)
{
    struct sigaction keep = {.sa_handler = on_keep, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &keep, NULL);
    struct sigaction looks = {.sa_handler = on_look, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &looks, NULL);
    struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND | SA_RESTART};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* the write that meets the limit fails instead */
}

static bool asked_to_stop(void *user)
{
    const cli_progress *p = user;
    return interrupted != 0 || cli_watch_stopped(p->watch);
}

static void begin_progress(void *user, const char *what) { cli_progress_begin(user, what); }
static void show_progress(void *user, const vsim_progress *p) { cli_progress_show(user, p); }
static void end_progress(void *user) { cli_progress_end(user); }

static vsim_inside_task task_of(cli_command c)
{
    return c == CMD_CHECK     ? VSIM_TASK_CHECK
           : c == CMD_DOCTOR  ? VSIM_TASK_DOCTOR
           : c == CMD_EXPLAIN ? VSIM_TASK_EXPLAIN
           : c == CMD_ANALYZE ? VSIM_TASK_ANALYZE
           : c == CMD_PROFILE ? VSIM_TASK_PROFILE
                              : VSIM_TASK_RUN;
}

static vsim_inside_job job_of(const cli_opt *o, const cli_out *out, cli_progress *p)
{
    return (vsim_inside_job){.set = cli_settings(o),
                             .streams = out->streams,
                             .task = task_of(o->command),
                             .deck = o->arg[0],
                             .version = VSIM_VERSION,
                             .define = o->define,
                             .n_define = o->n_define,
                             .lu = o->lu,
                             .dump = o->dump,
                             .debug = o->debug,
                             .strict = o->strict,
                             .json = o->json,
                             .allow_shell = o->allow_shell,
                             .permissive = o->ngspice || o->server,
                             .allow_native = o->allow_native,
                             .sandbox = o->sandbox,
                             .writable = o->writable,
                             .n_writable = o->n_writable,
                             .trust = o->trust,
                             .n_trust = o->n_trust,
                             .variable = o->variable,
                             .n_variable = o->n_variable,
                             .seed = o->seed,
                             .raw = o->server ? "-" : o->raw,
                             .server = o->server,
                             .format = o->format,
                             .no_output = o->no_output,
                             .fsync = o->fsync,
                             .checkpoint = o->checkpoint,
                             .minutes = o->minutes,
                             .restart = o->restart,
                             .verify = o->verify,
                             .touchstone = o->touchstone,
                             .stats = o->stats,
                             .measures = o->measures,
                             .limit_log = o->soa_log,
                             .jobs = o->jobs,
                             .shard = o->shard,
                             .n_shard = o->n_shard,
                             .resume = o->resume,
                             .redo = o->redo,
                             .ranks = o->ranks,
                             .order = o->order,
                             .svg = o->svg,
                             .mtx = o->mtx,
                             .at = o->at,
                             .trace = o->trace,
                             .steps = o->steps,
                             .as_if = o->as_if,
                             .begin = begin_progress,
                             .progress = show_progress,
                             .end = end_progress,
                             .stop = asked_to_stop,
                             .long_work = long_work,
                             .keep = asked_to_keep,
                             .user = p};
}

/* "a/ring.html", ".raw" -> "a/ring.raw", to be freed; NULL: no memory. */
static char *beside(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    const size_t n = dot ? (size_t)(dot - path) : strlen(path), k = strlen(ending);
    char *s = malloc(n + k + 1);
    if (s) {
        memcpy(s, path, n);
        memcpy(s + n, ending, k + 1);
    }
    return s;
}

int cli_run_report(const cli_opt *o)
{
    cli_progress progress = {.quiet = o->quiet};
    cli_opt here = *o;
    cli_out out;
    here.log = NULL; /* -o names the page */
    if (!cli_out_open(&out, &here))
        return CLI_IO;
    listen_to_signals();
    char *raw = beside(o->log, ".raw"), *measures = beside(o->log, ".measures.csv");
    vsim_inside_job job = job_of(o, &out, &progress);
    const vsim_inside_page page = {
        .output = o->log, .no_times = o->no_times, .keep_measures = o->measures != NULL};
    job.format = VSIM_RAW;
    job.raw = o->raw ? o->raw : raw;
    job.measures = o->measures ? o->measures : measures;
    vsim_status st = VSIM_ENOMEM;
    if (job.raw && job.measures)
        st = vsim_inside_report(&job, &page);
    const int code = interrupted ? CLI_INTERRUPT : cli_exit_code(st);
    free(raw);
    free(measures);
    return cli_out_close(&out) || code != CLI_OK ? code : CLI_IO;
}

/* With --view: opens the page that `plot` in a block wrote. */
static void see_picture(void *user, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && !strcmp(dot, ".html") && cli_opens(user))
        cli_open(path);
}

int cli_run(const cli_opt *o)
{
    cli_out out;
    cli_progress progress = {.quiet = o->quiet};
    int quit = 0;
    if (o->at && vsim_inside_is_matrix(o->arg[0])) {
        fprintf(stderr, "vsim: --at is for decks; a matrix file has one set of values\n");
        return CLI_USAGE;
    }
    if (!cli_out_open(&out, o))
        return CLI_IO;
    cli_index *index = cli_index_begin(o);
    progress.watch = cli_watch_begin(o);
    listen_to_signals();
    cli_opt here = *o;
    const vsim_inside_witness shown = {.picture = see_picture, .user = &here};
    vsim_inside_job job = job_of(o, &out, &progress);
    job.witness = o->view ? &shown : NULL;
    job.pages = o->view;
    const vsim_status st = vsim_inside_run(&job, &quit);
    const bool differ = (o->debug.check_kernels && quit == VSIM_KERNELS_DIFFER) ||
                        (o->verify && quit == VSIM_NOT_VERIFIED);
    const bool ended = interrupted || cli_watch_stopped(progress.watch);
    const int code = ended ? CLI_INTERRUPT : st == VSIM_OK || differ ? quit : cli_exit_code(st);
    bool told = cli_out_close(&out);
    told &= cli_index_end(index);
    cli_watch_end(progress.watch);
    return code == CLI_OK && !told ? CLI_IO : code;
}
