/* cli_index.c - --index: a process beside the run makes the index of the results while they are
 * written. The two share a page of memory. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

struct cli_index {
    atomic_bool ended;
    pid_t maker;
};

static bool is_over(void *user) { return atomic_load(&((cli_index *)user)->ended); }

static int make(const cli_opt *o, const char *path, cli_index *x)
{
    cli_out out;
    cli_opt here = *o;
    const vsim_settings set = cli_settings(o);
    here.log = here.raw = NULL;
    signal(SIGINT, SIG_IGN); /* Ctrl-C ends the run, and that ends this process */
    signal(SIGTERM, SIG_IGN);
    if (!cli_out_open(&out, &here))
        return CLI_IO;
    const vsim_status st = vsim_inside_index(&set, &out.streams, path, is_over, x);
    return cli_out_close(&out) && st == VSIM_OK ? CLI_OK : CLI_IO;
}

cli_index *cli_index_begin(const cli_opt *o)
{
    char path[4096];
    if (!o->index || !cli_results_of(o, path))
        return NULL;
    cli_index *x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED) {
        fprintf(stderr, "vsim: no index: %s\n", strerror(errno));
        return NULL;
    }
    fflush(NULL);
    const pid_t run = getpid();
    x->maker = fork();
    if (x->maker < 0)
        fprintf(stderr, "vsim: no index: %s\n", strerror(errno));
    if (x->maker)
        return x;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive a run that is killed */
    if (getppid() != run)
        _exit(CLI_OK);
    const int code = make(o, path, x);
    fflush(NULL);
    _exit(code);
}

bool cli_index_end(cli_index *x)
{
    int status = 0;
    if (!x || x->maker < 0)
        return !x;
    atomic_store(&x->ended, true);
    while (waitpid(x->maker, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}
