/* vs.h - what every module shares: the status codes and a few helpers.
 * The sign of a status is what the caller can do: 0 done, > 0 try something else, < 0 give up. */
#ifndef VS_H
#define VS_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define VS_STATUS_LIST(X)                                                   \
    X(VS_OK, 0, "done")                                                     \
    X(VS_NOCONV, 1, "Newton iteration did not converge")                    \
    X(VS_REJECT, 2, "time step rejected")                                   \
    X(VS_REPIVOT, 3, "pivots no longer usable")                             \
    X(VS_STOP, 4, "stopped on request")                                     \
    X(VS_PAUSED, 5, "paused")                                               \
    X(VS_EINPUT, -1, "error in the input")                                  \
    X(VS_ENOMEM, -2, "out of memory")                                       \
    X(VS_ESINGULAR, -3, "matrix is singular")                               \
    X(VS_ESTEP, -4, "time step too small")                                  \
    X(VS_EIO, -5, "file input or output failed")                            \
    X(VS_EUNSUPPORTED, -6, "not supported")                                 \
    X(VS_EDIED, -7, "a process that computed a part of the work died")
/* clang-format on */

typedef enum vs_status {
#define X(name, value, text) name = value,
    VS_STATUS_LIST(X)
#undef X
} vs_status;

#define VS_MUST_USE __attribute__((warn_unused_result))
#define VS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* A function compiled for several kinds of processor, the best taken at start. Loops over vectors
 * only: elsewhere it costs a jump for nothing. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VS_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define VS_CLONES
#endif
#define VS_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Bytes of a line of the cache; where the first one begins that does not begin before p. */
enum { VS_LINE = 64 };
static inline void *vs_at_line(void *p) { return (char *)p + (-(uintptr_t)p & (VS_LINE - 1)); }

/* The text of a status, never NULL. */
const char *vs_status_text(vs_status st);

/* Memory from the thread's heap (heap.h), for vs_free: as malloc, calloc, ... of the C library, but
 * never NULL, also for 0 bytes. */
void *vs_malloc(size_t bytes);
void *vs_calloc(size_t n, size_t size);
/* The same for a block of which much may never be read or written: large pages would make the
 * system give memory for it all the same. */
void *vs_sparse(size_t n, size_t size);
void *vs_realloc(void *p, size_t bytes); /* p stays in its heap */
char *vs_strdup(const char *s);
char *vs_strndup(const char *s, size_t n);
char *vs_text(const char *fmt, ...) VS_PRINTF(1, 2); /* as asprintf */
char *vs_vtext(const char *fmt, va_list ap) VS_PRINTF(1, 0);
void vs_free(void *p); /* NULL is allowed */
/* As realloc: NULL if there is no memory, and p stays valid. For code that the jump to a guard must
 * not leave (callbacks of libraries), or that goes on without the memory. */
void *vs_try_realloc(void *p, size_t bytes);
/* What they, arenas, vecs and maps do where memory is missing: back to the innermost guard. */
_Noreturn void vs_no_memory(void);

/* Seconds on a clock that never goes back; its zero is any. */
double vs_seconds(void);
/* The same to some milliseconds, for a fraction of the time that vs_seconds takes. */
double vs_coarse_seconds(void);

#endif
