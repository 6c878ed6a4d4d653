/* jit_load.c - loads the module with LLVM.
 * Constructors of LLVM and of the C++ library make 3,000 allocations while the module is loaded. If
 * one fails they end the process: they are C++ that no handler of exceptions calls. In a process
 * that is the client's own (jit_opt.apart) there are two answers:
 * - Where memory has a limit, another process with the same memory and the same limit loads the
 *   module first, and where it ends without success this one does not try.
 * - What the constructors call before the end, C++'s handler of operator new and that of SIGABRT,
 *   jumps out of them to the guard (heap.h). The loader's lock stays with this thread, and the
 *   module half made, so it is not asked for again. The client's process has to end soon, and
 *   without destructors (main.c).
 * In a guest the handlers are the host's, and so is the process that ends. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "heap.h"
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

/* -- a way out of constructors -- */

typedef void new_handler(void);
typedef new_handler *new_handler_setter(new_handler *h);

static new_handler_setter *set_new_handler; /* while the module is loaded; NULL: none */
static bool (*on_abort)(void (*leave)(void));
static bool left;

static void be_as_before(void)
{
    if (set_new_handler)
        (void)set_new_handler(NULL);
    set_new_handler = NULL;
    (void)on_abort(NULL);
}

static void leave(void)
{
    be_as_before();
    left = true;
    vs_no_memory();
}

/* The C++ library comes first, so that its handler is set before LLVM's constructors run: the
 * exception that is thrown without one needs memory itself, of which ld.so ends the process. */
static void *open_guarded(const jit_opt *o)
{
    on_abort = o->on_abort;
    if (left || !on_abort(leave))
        vs_no_memory();
    void *cxx = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (cxx)
        *(void **)&set_new_handler = dlsym(cxx, "_ZSt15set_new_handlerPFvvE");
    if (set_new_handler)
        (void)set_new_handler(leave);
    void *module = open_module(o->plugin_dir);
    be_as_before();
    return module;
}

void *jit_load(const jit_opt *o)
{
    if (o->apart && heap_limited() && o->apart(try_it, o->plugin_dir))
        vs_no_memory();
    (void)dlerror();
    void *module = o->apart ? open_guarded(o) : open_module(o->plugin_dir);
    if (!module && loader_lacks_memory())
        vs_no_memory();
    return module;
}
