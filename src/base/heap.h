/* heap.h - the memory of one simulator. Allocations are counted, may have a limit, and are freed
 * all at once. An allocation that finds no memory ends the work at the innermost guard.
 * Use:    heap_new; guard_run(h, body, arg) for each call into the simulator; heap_free.
 * Inside: vs_malloc, vs_calloc, vs_realloc, vs_strdup ... vs_free (vs.h), and arenas, vecs and maps
 *         allocate from the thread's heap. They never return NULL.
 *
 * A block remembers its heap: it may be freed under any other. The heap NULL is that of the
 * process: no limit, nothing counted; the command's own words and unit tests live there.
 * The jump to the guard runs no clean-up code. Objects of the heap may be half made afterwards, and
 * the heap can only be freed. What is not memory (files, mappings, threads, objects of other
 * libraries) is registered with heap_own, and is let go before the memory. */
#ifndef HEAP_H
#define HEAP_H

#include "vs.h"

typedef struct heap heap;
typedef struct files_list files_list; /* files.h */

/* limit: bytes, 0: none. NULL: no memory. */
heap *heap_new(size_t limit);
/* Lets go what is registered, the latest first, then frees all blocks. *h is NULL afterwards; NULL
 * is allowed. Not for a heap that a thread still uses. */
void heap_free(heap **h);
/* The thread's heap; NULL: that of the process. heap_use sets it and returns the one before. */
heap *heap_now(void);
heap *heap_use(heap *h);
/* Where the heap has its registry of files; NULL: h is NULL. */
files_list **heap_files(heap *h);
/* Bytes in blocks of this heap: now, and the most there ever were. */
size_t heap_bytes(const heap *h);
size_t heap_peak(const heap *h);
/* Allocations so far. */
int64_t heap_count(const heap *h);
/* Lifts the limit and cancels heap_fail_at, so that the last messages can be written. */
void heap_relax(heap *h);
/* Whether the process can get this many bytes more. Asked before a call to a library that ends the
 * process when it finds no memory. */
bool heap_room(size_t bytes);
/* Whether the system limits the process' memory, addresses or data. */
bool heap_limited(void);
/* For tests: the n-th allocation from now on (1: the next) fails; with `on` all later ones fail
 * too. n = 0: none fails. */
void heap_fail_at(heap *h, int64_t n, bool on);

/* Long work that has no results to lose yet asks whether to end. heap_poll asks `stop` and, if that
 * says true, jumps to the innermost guard, whose guard_run returns VS_STOP. heap_asked only tells:
 * threads of a pool and code around libraries use it, leave their loop and reach a heap_poll soon
 * after. `stop` is called from any thread that works for h; once it said true it is not called
 * again. stop NULL, or no heap: never asked. */
void heap_set_stop(heap *h, bool (*stop)(void *user), void *user);
bool heap_asked(void);
void heap_poll(void);
/* Whether a heap_poll jumped. */
bool heap_left(const heap *h);

/* Calls body(arg) with h as this thread's heap. Status: that of body; VS_ENOMEM: an allocation
 * found no memory; VS_STOP: heap_poll ended the work. In the latter two cases body did not return.
 * Guards may be nested. A guard must not stand around foreign code (a host's callback) that calls
 * back into ours: the jump would skip its frames. The one exception is LLVM (jit_memory.c). */
VS_MUST_USE vs_status guard_run(heap *h, vs_status (*body)(void *), void *arg);

/* A resource that is not memory. The node lies in a block of the heap, mostly in the object that
 * owns the resource, and is zeroed before use. */
typedef void heap_drop(void *what, size_t n);
typedef struct heap_owned {
    struct heap_owned *newer, *older;
    heap *in;
    heap_drop *drop; /* NULL: not registered */
    void *what;
    size_t n;
} heap_owned;
/* From now on drop(what, 0) is called when the thread's heap is freed. Allocates nothing. */
void heap_own(heap_owned *o, heap_drop *drop, void *what);
/* Takes it out of the registry, since its owner let it go. Does nothing for what is not registered.
 */
void heap_disown(heap_owned *o);
/* Like heap_own, for a resource without a block: the registry allocates the node, and calls
 * drop(what, n). heap_unhold takes it out, since its owner let it go. Without memory for the node,
 * heap_hold calls drop(what, n) at once and ends as vs_malloc does. */
void heap_hold(heap_drop *drop, void *what, size_t n);
void heap_unhold(heap_drop *drop, const void *what);

#endif
