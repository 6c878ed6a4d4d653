/* jit_load.c - loads the module with LLVM.
 * Constructors of LLVM and of the C++ library make 3,000 allocations while the module is loaded. If
 * one fails the process ends, which nobody inside of it can stop: they are C++ that no handler of
 * exceptions calls. So where the memory of this process has a limit, another one with the same
 * memory and the same limit loads the module first, if the client lets there be one (jit_opt), and
 * where it ends without success this process does not try. Without a limit allocations fail on few
 * systems, and nothing is tried first. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "io.h"
#include "jit_build.h"
#include "jit_priv.h"

#define MODULE_FILE "libvsim-llvm.so"

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

static int try_it(const void *dir) { return !open_module(dir) && loader_lacks_memory(); }

void *jit_load(const jit_opt *o)
{
    if (o->apart && is_limited() && o->apart(try_it, o->plugin_dir))
        vs_no_memory();
    (void)dlerror();
    void *module = open_module(o->plugin_dir);
    if (!module && loader_lacks_memory())
        vs_no_memory();
    return module;
}
