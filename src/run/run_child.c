/* run_child.c - programs beside a run (child.h). */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run_priv.h"

enum { GRACE = 500 /* ms from the end of its input to SIGKILL */ };

static void shut(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* In the child of a fork. Whoever has threads may only do little there. */
_Noreturn static void become(const char *const *argv, int in, int out, int report)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    if (dup2(in, 0) == 0 && dup2(out, 1) == 1)
        execv(argv[0], (char *const *)argv);
    const int why = errno;
    (void)!write(report, &why, sizeof why);
    _exit(127);
}

/* Why the child of the fork is no program; 0: it is one. */
static int read_report(int fd)
{
    int why = 0;
    ssize_t n;
    while ((n = read(fd, &why, sizeof why)) < 0 && errno == EINTR)
        ;
    return n == sizeof why ? why : 0;
}

static bool start(child_process *c, const char *const *argv)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, report[2] = {-1, -1}, why = 0;
    pid_t pid = -1;
    if (!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC) && !pipe2(report, O_CLOEXEC))
        pid = fork();
    if (pid == 0)
        become(argv, in[0], out[1], report[1]);
    if (pid < 0)
        why = errno;
    shut(&in[0]);
    shut(&out[1]);
    shut(&report[1]);
    if (pid > 0)
        why = read_report(report[0]);
    shut(&report[0]);
    *c = (child_process){.pid = pid > 0 ? pid : 0, .to = in[1], .from = out[0]};
    errno = why;
    return !why;
}

static void stop(child_process *c)
{
    const struct timespec nap = {.tv_nsec = 5000000};
    shut(&c->to);
    shut(&c->from);
    for (int ms = 0; c->pid > 0 && ms <= GRACE; ms += 5) {
        const pid_t p = waitpid(c->pid, NULL, WNOHANG);
        if (p == c->pid || (p < 0 && errno != EINTR))
            c->pid = 0;
        else
            nanosleep(&nap, NULL);
    }
    if (c->pid > 0) {
        kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    c->pid = 0;
}

const child_host run_children = {start, stop};
