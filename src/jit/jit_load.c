/* jit_load.c - loads the module with LLVM.
 * Constructors of LLVM and of the C++ library make 3,000 allocations while the module is loaded. If
 * one fails the process ends, which nobody inside of it can stop: they are C++ that no handler of
 * exceptions calls. So where the memory of this process has a limit a child, which has the same
 * memory and the same limit, loads the module first (16 ms of the processor), and where it ends
 * without success this process does not try. Without a limit allocations fail on few systems, and
 * nothing is tried first. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io.h"
#include "jit_build.h"
#include "jit_priv.h"

#define MODULE_FILE "libvsim-llvm.so"

enum { PATIENCE = 60 /* s, of a child that does not end */ };

static void *open_module(const char *dir)
{
    static const char *const place[] = {".",          "vsim",     JIT_FROM_BIN, "src/jit",
                                        "../src/jit", JIT_LIBDIR, NULL};
    return plugin_open(MODULE_FILE, dir, place, false);
}

static bool is_limited(void)
{
    struct rlimit space, data;
    return (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY) ||
           (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}

/* Whether the loader's last message says so, in glibc's words. A module that was seen a moment ago
 * and does not exist is one whose name could not be copied. */
static bool loader_lacks_memory(void)
{
    static const char *const words[] = {"out of memory", "cannot allocate", "cannot create"};
    const char *text = dlerror();
    bool lacks = text && strstr(text, strerror(ENOMEM));
    for (size_t i = 0; text && i < VS_COUNT(words); i++)
        lacks |= strstr(text, words[i]) != NULL;
    if (text && strstr(text, "failed to map segment"))
        lacks |= !strstr(text, strerror(EPERM)) && !strstr(text, strerror(EACCES));
    if (text && strstr(text, MODULE_FILE))
        lacks |= strstr(text, strerror(ENOENT)) != NULL;
    return lacks;
}

/* The child: what LLVM writes at its end is not for the user. */
_Noreturn static void try_it(const char *dir)
{
    const struct rlimit none = {0, 0};
    const int nowhere = open("/dev/null", O_WRONLY);
    (void)setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    if (nowhere >= 0)
        (void)dup2(nowhere, STDERR_FILENO);
    alarm(PATIENCE);
    _exit(!open_module(dir) && loader_lacks_memory());
}

/* Whether a child can load the module; true too where none could be asked. */
static bool can_load(const char *dir)
{
    int how = 0;
    const pid_t pid = fork();
    if (pid == 0)
        try_it(dir);
    if (pid < 0)
        return errno != ENOMEM;
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            return true;
    return (WIFEXITED(how) && !WEXITSTATUS(how)) || (WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM);
}

void *jit_load(const char *dir)
{
    if (is_limited() && !can_load(dir))
        vs_no_memory();
    (void)dlerror();
    void *module = open_module(dir);
    if (!module && loader_lacks_memory())
        vs_no_memory();
    return module;
}
