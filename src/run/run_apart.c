/* run_apart.c - what may end a process: work in a child, a way out of abort(). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_priv.h"

enum { PATIENCE = 60 /* s, of a child that does not end */ };

/* What the child writes at its end is not for the user. */
_Noreturn static void be_apart(int (*work)(const void *), const void *arg)
{
    const struct rlimit none = {0, 0};
    const int nowhere = open("/dev/null", O_WRONLY);
    (void)setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    if (nowhere >= 0)
        (void)dup2(nowhere, STDERR_FILENO);
    alarm(PATIENCE);
    _exit(work(arg));
}

int run_apart(int (*work)(const void *arg), const void *arg)
{
    int how = 0;
    const pid_t pid = fork();
    if (pid == 0)
        be_apart(work, arg);
    if (pid < 0)
        return errno == ENOMEM ? -1 : 0;
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return 0;
    if (WIFSIGNALED(how))
        return WTERMSIG(how) == SIGALRM ? 0 : -1;
    return WEXITSTATUS(how);
}

static struct sigaction before;
static void (*way_out)(void); /* NULL: `before` is in place */

/* A call of abort() in this thread, never a signal of another process: then what was interrupted
 * may be anything. */
static void aborted(int sig, siginfo_t *info, void *context)
{
    void (*leave)(void) = way_out;
    (void)context;
    if (leave && info->si_code == SI_TKILL && info->si_pid == getpid())
        leave();
    (void)run_on_abort(NULL);
    (void)raise(sig);
}

bool run_on_abort(void (*leave)(void))
{
    const struct sigaction sa = {.sa_sigaction = aborted, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (leave && !way_out && sigaction(SIGABRT, &sa, &before))
        return false;
    if (!leave && way_out)
        (void)sigaction(SIGABRT, &before, NULL);
    way_out = leave;
    return true;
}
