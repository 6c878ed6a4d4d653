/* shim.c - a library to be preloaded that makes calls of the system fail. Used by attack.py.
 * Environment, each a number; what is not set does nothing:
 *   SHIM_MALLOC=N   the N-th allocation from the start of the program on fails
 *   SHIM_WRITE=N    the N-th write to a file fails (descriptors 0 to 2 are left alone)
 *   SHIM_READ=N     the N-th read fails
 *   SHIM_PERSIST=1  so do all later ones
 *   SHIM_ERRNO=E    with this error (EIO)
 *   SHIM_EINTR=1    every other read and write ends with EINTR
 *   SHIM_SHORT=1    reads and writes take half of what is asked
 *   SHIM_CLOCK=K    clocks: 1 stand still, 2 run backwards, 3 jump by a day now and then
 *   SHIM_SIGNAL=S   the N-th write sends this signal to the process (N of SHIM_SIGNAL_AT)
 *   SHIM_FROM=NAME  counting begins when a library with NAME in its path was loaded (dlopen)
 *   SHIM_WHILE=NAME it counts, and calls fail, only while such a library is loaded (dlopen)
 *   SHIM_ONCE=1     only allocations of a thread count that makes what its process has once (a
 *                   static variable of a C++ function, what pthread_once calls) while it holds no
 *                   mutex: where it is left, all who need the same wait forever. SHIM_ONCE=2: mutex
 *                   or not
 *   SHIM_COUNT=FILE how many allocations, writes and reads there were, at the end
 * glibc only (__libc_malloc). */
#undef _FILE_OFFSET_BITS /* pwrite and pwrite64 are two functions here */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n), *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n), *__libc_memalign(size_t align, size_t n);

static struct {
    long malloc_at, write_at, read_at, persist, error, eintr, half, clock, sig, sig_at, once;
} ask;
static atomic_bool on;
static atomic_long n_malloc, n_write, n_read, n_clock;

static long number(const char *name)
{
    const char *s = getenv(name);
    return s ? atol(s) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    ask.malloc_at = number("SHIM_MALLOC");
    ask.write_at = number("SHIM_WRITE");
    ask.read_at = number("SHIM_READ");
    ask.persist = number("SHIM_PERSIST");
    ask.error = number("SHIM_ERRNO");
    ask.eintr = number("SHIM_EINTR");
    ask.half = number("SHIM_SHORT");
    ask.clock = number("SHIM_CLOCK");
    ask.sig = number("SHIM_SIGNAL");
    ask.sig_at = number("SHIM_SIGNAL_AT");
    ask.once = number("SHIM_ONCE");
    if (!ask.error)
        ask.error = EIO;
    atomic_store(&on, !getenv("SHIM_FROM") && !getenv("SHIM_WHILE"));
}

void *dlopen(const char *path, int flags)
{
    typedef void *call(const char *, int);
    call *real = (call *)dlsym(RTLD_NEXT, "dlopen");
    const char *from = getenv("SHIM_FROM"), *within = getenv("SHIM_WHILE");
    const bool counted = path && within && strstr(path, within);
    if (counted)
        atomic_store(&on, true);
    void *lib = real(path, flags);
    if (counted)
        atomic_store(&on, false);
    if (lib && path && from && strstr(path, from))
        atomic_store(&on, true);
    return lib;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("SHIM_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    char text[100];
    atomic_store(&on, false);
    if (fd < 0)
        return;
    const int n = snprintf(text, sizeof text, "%ld %ld %ld\n", atomic_load(&n_malloc),
                           atomic_load(&n_write), atomic_load(&n_read));
    if (write(fd, text, (size_t)n) != n)
        perror(path);
    close(fd);
}

/* Of this thread: things for all that it makes just now, and mutexes that it holds. */
static __thread int n_once, n_mutex;

/* Is this call, counted by n, one that fails? */
static bool fails(atomic_long *n, long at)
{
    if (!atomic_load(&on) || (ask.once && (!n_once || (ask.once == 1 && n_mutex))))
        return 0;
    const long k = atomic_fetch_add(n, 1) + 1;
    return at && (ask.persist ? k >= at : k == at);
}

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n) { return fails(&n_malloc, ask.malloc_at) ? no_memory() : __libc_malloc(n); }

void *calloc(size_t n, size_t size)
{
    return fails(&n_malloc, ask.malloc_at) ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails(&n_malloc, ask.malloc_at) ? no_memory() : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails(&n_malloc, ask.malloc_at) ? no_memory() : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    if (fails(&n_malloc, ask.malloc_at))
        return ENOMEM;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

/* What read or write of n bytes is to do: -1 with errno, or how many bytes it takes. */
static ssize_t meddle(int fd, size_t n, atomic_long *count, long at)
{
    if (fd < 3 || !atomic_load(&on))
        return (ssize_t)n;
    if (fails(count, at)) {
        errno = (int)ask.error;
        return -1;
    }
    const long k = atomic_load(count);
    if (count == &n_write && ask.sig && k == ask.sig_at)
        kill(getpid(), (int)ask.sig);
    if (ask.eintr && k % 2) {
        errno = EINTR;
        return -1;
    }
    return (ssize_t)(ask.half && n > 1 ? n / 2 : n);
}

#define REAL(name, type) type *real = (type *)dlsym(RTLD_NEXT, name)

int pthread_mutex_lock(pthread_mutex_t *m)
{
    typedef int call(pthread_mutex_t *);
    static call *real;
    if (!real)
        real = (call *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
    n_mutex++;
    return real(m);
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    typedef int call(pthread_mutex_t *);
    static call *real;
    if (!real)
        real = (call *)dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    n_mutex--;
    return real(m);
}

int pthread_once(pthread_once_t *o, void (*make)(void))
{
    typedef int call(pthread_once_t *, void (*)(void));
    REAL("pthread_once", call);
    n_once++;
    const int rc = real(o, make);
    n_once--;
    return rc;
}

/* C++'s, in whose library is looked also where it is not open to all. */
static void *cxx(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    return f ? f : dlsym(dlopen("libstdc++.so.6", RTLD_LAZY), name);
}

int __cxa_guard_acquire(void *guard);
void __cxa_guard_release(void *guard);

int __cxa_guard_acquire(void *guard)
{
    typedef int call(void *);
    call *real = (call *)cxx("__cxa_guard_acquire");
    const int make = real(guard);
    n_once += make;
    return make;
}

void __cxa_guard_release(void *guard)
{
    typedef void call(void *);
    call *real = (call *)cxx("__cxa_guard_release");
    n_once--;
    real(guard);
}

ssize_t write(int fd, const void *p, size_t n)
{
    typedef ssize_t call(int, const void *, size_t);
    REAL("write", call);
    const ssize_t k = meddle(fd, n, &n_write, ask.write_at);
    return k < 0 ? k : real(fd, p, (size_t)k);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    typedef ssize_t call(int, const void *, size_t, off64_t);
    REAL("pwrite64", call);
    const ssize_t k = meddle(fd, n, &n_write, ask.write_at);
    return k < 0 ? k : real(fd, p, (size_t)k, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at) { return pwrite64(fd, p, n, at); }

ssize_t read(int fd, void *p, size_t n)
{
    typedef ssize_t call(int, void *, size_t);
    REAL("read", call);
    const ssize_t k = meddle(fd, n, &n_read, ask.read_at);
    return k < 0 ? k : real(fd, p, (size_t)k);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    typedef int call(clockid_t, struct timespec *);
    REAL("clock_gettime", call);
    const int rc = real(id, t);
    const long k = atomic_fetch_add(&n_clock, 1);
    if (rc || !ask.clock)
        return rc;
    if (ask.clock == 1)
        *t = (struct timespec){1000000, 0};
    else if (ask.clock == 2)
        *t = (struct timespec){1000000 - k, 0};
    else
        t->tv_sec += k % 7 ? 0 : 86400 * (k % 3 - 1);
    return 0;
}
