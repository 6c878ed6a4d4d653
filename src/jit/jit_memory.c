/* jit_memory.c - LLVM without memory: the thread that asked leaves it, and the process goes on.
 * LLVM's own answer ends the process: it is C++ built without exceptions. C++ and LLVM call a
 * handler first; ours jumps out to the thread's guard (heap.h). What LLVM had begun is lost: its
 * memory stays taken, and it may not be touched again. The handlers belong to the process; they are
 * set while a thread is inside, and other threads get what they would have got without them.
 * Source: ISO C++ [new.handler]; llvm/Support/ErrorHandling.h. */
#include <pthread.h>
#include <stdlib.h>

#include "heap.h"
#include "jit_priv.h"

typedef void new_handler(void);
typedef void llvm_handler(void *user, const char *reason, bool crash);

/* Neither has C names for these. Weak: where one is missing LLVM ends the process as before. */
#define CXX(name) __asm__(name) __attribute__((weak))
extern new_handler *cxx_set_new_handler(new_handler *h) CXX("_ZSt15set_new_handlerPFvvE");
extern void cxx_throw_bad_alloc(void) CXX("_ZSt17__throw_bad_allocv");
extern void llvm_set_handler(llvm_handler *h, void *user)
    CXX("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
extern void llvm_remove_handler(void) CXX("_ZN4llvm30remove_bad_alloc_error_handlerEv");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the next two */
static int n_inside;
static new_handler *others; /* who was asked before */
static _Thread_local bool inside, left;

static void leave(void)
{
    left = true;
    vs_no_memory();
}

static void on_new(void)
{
    if (inside)
        leave();
    if (others)
        others();
    else if (cxx_throw_bad_alloc)
        cxx_throw_bad_alloc();
    abort();
}

static void on_llvm(void *user, const char *reason, bool crash)
{
    (void)user;
    (void)reason;
    (void)crash;
    if (inside)
        leave();
    abort(); /* as LLVM does */
}

void jit_memory_begin(void)
{
    pthread_mutex_lock(&lock);
    if (!n_inside++) {
        if (cxx_set_new_handler)
            others = cxx_set_new_handler(on_new);
        if (llvm_set_handler)
            llvm_set_handler(on_llvm, NULL);
    }
    pthread_mutex_unlock(&lock);
    inside = true;
    left = false;
}

bool jit_memory_left(void) { return left; }

void jit_memory_end(void)
{
    inside = false;
    pthread_mutex_lock(&lock);
    if (!--n_inside) {
        if (cxx_set_new_handler)
            (void)cxx_set_new_handler(others);
        if (llvm_remove_handler)
            llvm_remove_handler();
    }
    pthread_mutex_unlock(&lock);
}
