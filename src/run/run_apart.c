/* run_apart.c - work in a child: what may end a process. */
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
