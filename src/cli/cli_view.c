/* cli_view.c - `vsim view FILES`, and --view while a deck runs: the viewer is a process of its own
 * beside the run, which reads what the run has written; the two share a page of memory. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    (void)sig;
    interrupted = 1;
}

/* Memory shared with the run. A torn copy of `now` at worst shows the progress of another moment.
 */
struct cli_watch {
    atomic_bool stop, ended;
    vsim_inside_running now;
    double begun;
    pid_t viewer;
};

typedef struct window { /* of vsim_inside_viewer */
    const cli_opt *o;
    cli_watch *watch; /* NULL: nothing runs */
    char file[64];    /* that leads a browser to the page; "": none */
} window;

/* -- the browser -- */

static bool has_display(void)
{
    const char *const name[] = {"WAYLAND_DISPLAY", "DISPLAY"};
    for (size_t k = 0; k < 2; k++) {
        const char *value = cli_variable(NULL, name[k]);
        if (value && *value)
            return true;
    }
    return false;
}

/* Writes a file, which only this user may read, that leads the browser to the page: the address
 * must not be seen in the list of processes. */
static bool write_way(char file[64], const char *address)
{
    strcpy(file, "/tmp/vsim-view-XXXXXX.html");
    const int fd = mkstemps(file, 5);
    if (fd < 0) {
        *file = 0;
        return false;
    }
    char text[512];
    const int n =
        snprintf(text, sizeof text,
                 "<!DOCTYPE html><meta charset='utf-8'><title>vsim view</title>"
                 "<meta http-equiv='refresh' content='0;url=%s'><a href='%s'>vsim view</a>",
                 address, address);
    const bool good = write(fd, text, (size_t)n) == n;
    return !close(fd) && good;
}

static void start_browser(const char *file)
{
    fflush(NULL);
    if (fork())
        return;
    setsid();
    if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
        !freopen("/dev/null", "w", stderr))
        _exit(1);
    execlp("xdg-open", "xdg-open", file, (char *)NULL);
    _exit(127);
}

bool cli_opens(const cli_opt *o) { return !o->no_open && has_display(); }

void cli_open(const char *file) { start_browser(file); }

static void opened(void *user, const char *address)
{
    window *w = user;
    fprintf(stderr, "%svsim view: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", address);
    if (!w->o->quiet)
        fputs("           (ends when the page is closed, or by Ctrl-C)\n", stderr);
    fflush(stderr);
    if (cli_opens(w->o) && write_way(w->file, address))
        start_browser(w->file);
}

/* -- the viewer -- */

static void tell_index(void *user, const char *path, double done)
{
    const window *w = user;
    if (!w->o->quiet && isatty(STDERR_FILENO))
        fprintf(stderr, "\rindex of %s: %3.0f %%\033[K", path, 100 * done);
}

static bool asked_to_stop(void *user)
{
    (void)user;
    return interrupted != 0;
}

static void look_at_run(void *user, vsim_inside_running *r)
{
    const cli_watch *w = ((window *)user)->watch;
    *r = w->now;
    r->now.unit = r->unit;
    r->ended = atomic_load(&w->ended);
}

static void end_run(void *user) { atomic_store(&((window *)user)->watch->stop, true); }

static int show(const cli_opt *o, const char *const *file, size_t n, cli_watch *watch)
{
    cli_out out;
    window w = {.o = o, .watch = watch};
    cli_opt here = *o;
    here.log = here.raw = NULL;
    const vsim_settings set = cli_settings(o);
    const vsim_inside_viewer v = {.file = file,
                                  .n_file = n,
                                  .version = VSIM_VERSION,
                                  .indexing = tell_index,
                                  .opened = opened,
                                  .stop = asked_to_stop,
                                  .running = watch ? look_at_run : NULL,
                                  .end_run = watch ? end_run : NULL,
                                  .user = &w};
    const struct sigaction sa = {.sa_handler = on_signal}; /* without SA_RESTART: poll ends */
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for the browser's starter */
    signal(SIGPIPE, SIG_IGN);
    if (!cli_out_open(&out, &here))
        return CLI_IO;
    const vsim_status st = vsim_inside_view(&set, &out.streams, &v);
    if (*w.file)
        unlink(w.file);
    const bool told = cli_out_close(&out);
    return st != VSIM_OK ? st == VSIM_EUNSUPPORTED ? CLI_IO : cli_exit_code(st)
           : told ? CLI_OK
                         : CLI_IO;
}

static int view_files(const cli_opt *o) { return show(o, o->arg, o->n_arg, NULL); }

int cli_view(const cli_opt *o) { return cli_guarded(o, o->n_arg, view_files); }

/* -- beside a run -- */

/* Where the run writes its results: its own rule (vsim_inside_job.raw). */
bool cli_results_of(const cli_opt *o, char path[4096])
{
    static const char *const ending[] = {".raw", ".raw", ".csv"};
    if (o->steps)
        return snprintf(path, 4096, "%s", o->steps) < 4096;
    const char *name = o->raw ? o->raw : o->arg[0], *slash = strrchr(name, '/'),
               *base = o->raw || !slash ? name : slash + 1, *dot = strrchr(base, '.');
    const size_t n = o->raw || !dot || dot == base ? strlen(base) : (size_t)(dot - base);
    return snprintf(path, 4096, "%.*s%s", (int)n, base, o->raw ? "" : ending[o->format]) < 4096;
}

cli_watch *cli_watch_begin(const cli_opt *o)
{
    char path[4096];
    if (!o->view || !cli_results_of(o, path))
        return NULL;
    cli_watch *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED) {
        fprintf(stderr, "vsim: no viewer: %s\n", strerror(errno));
        return NULL;
    }
    fflush(NULL);
    const pid_t run = getpid();
    w->viewer = fork();
    if (w->viewer < 0)
        fprintf(stderr, "vsim: no viewer: %s\n", strerror(errno));
    if (w->viewer)
        return w;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* it does not outlive a run that is killed */
    if (getppid() != run)
        _exit(CLI_OK);
    const char *file = path;
    const int code = show(o, &file, 1, w);
    fflush(NULL);
    _exit(code);
}

bool cli_watch_stopped(const cli_watch *w) { return w && atomic_load(&w->stop); }

void cli_watch_new(cli_watch *w, const char *what)
{
    if (!w)
        return;
    w->begun = vsim_inside_seconds();
    w->now = (vsim_inside_running){0};
    snprintf(w->now.what, sizeof w->now.what, "%s", what);
}

void cli_watch_tell(cli_watch *w, const vsim_progress *p)
{
    if (!w)
        return;
    w->now.now = *p;
    w->now.seconds = vsim_inside_seconds() - w->begun;
    snprintf(w->now.unit, sizeof w->now.unit, "%s", p->unit ? p->unit : "");
}

void cli_watch_end(cli_watch *w)
{
    if (!w || w->viewer < 0)
        return;
    atomic_store(&w->ended, true);
    while (waitpid(w->viewer, NULL, 0) < 0 && errno == EINTR)
        continue;
}
