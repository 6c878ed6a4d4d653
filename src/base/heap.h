/* heap.h - the memory of one simulator: what was allocated is counted, may have a limit, and goes
 * at once; where memory is missing, work ends at the innermost guard.
 * Use:    heap_new; guard_run(h, body, arg) for each call into the simulator; heap_free.
 * Inside: vs_malloc, vs_calloc, vs_realloc, vs_strdup ... vs_free (vs.h), and arenas, vecs and maps
 *         allocate from the thread's heap. They never return NULL.
 *
 * A block remembers its heap: it may be freed under any other. The heap NULL is that of the
 * process: no limit, nothing counted; the command's own words and unit tests live there.
 * When memory is missing, nothing is put in order on the way to the guard: the objects of the heap
 * may be half made, and the heap can only be freed. What is not memory (files, mappings, threads,
 * objects of other libraries) is registered with heap_own, and is let go before the memory. */
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
/* The thread's heap; NULL: that of the process. heap_use returns the one before. */
heap *heap_now(void);
heap *heap_use(heap *h);
/* Where the heap has its registry of files; NULL: h is NULL. */
files_list **heap_files(heap *h);
/* What the blocks hold now, and at most held. */
size_t heap_bytes(const heap *h);
size_t heap_peak(const heap *h);
/* Allocations so far. */
int64_t heap_count(const heap *h);
/* No limit, and no more failures, for the last words. */
void heap_relax(heap *h);
/* Whether the process could have this much more: asked before a library is called that ends the
 * process without it. */
bool heap_room(size_t bytes);
/* For tests: the n-th allocation from now on (1: the next) finds no memory, and, if `on`, none
 * after it does. 0: no such. */
void heap_fail_at(heap *h, int64_t n, bool on);

/* Work that takes long and has nothing to lose yet asks whether it is to end: heap_poll, which then
 * does not return, as where memory is missing, but for guard_run's VS_STOP; heap_asked where that
 * may not be (in threads of a pool, around libraries), to come to a heap_poll soon. `stop` is
 * called from any thread that works for h; once it said true it is not asked again. NULL: there is
 * nobody to ask, as without a heap. */
void heap_set_stop(heap *h, bool (*stop)(void *user), void *user);
bool heap_asked(void);
void heap_poll(void);
/* A heap_poll did not return. */
bool heap_left(const heap *h);

/* Calls body(arg) with h as this thread's heap. VS_ENOMEM, VS_STOP: memory was missing, a heap_poll
 * ended it, and body did not return; else its status. Guards may be nested. Must not stand around
 * the code of somebody else (a host's callback, LLVM) that calls back: its frames would be skipped.
 */
VS_MUST_USE vs_status guard_run(heap *h, vs_status (*body)(void *), void *arg);

/* Something that is not memory. The node lies in a block of the heap, mostly in the object itself,
 * zeroed before. */
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
/* It was let go by its owner. Allowed for what is not registered. */
void heap_disown(heap_owned *o);
/* The same with a node of its own, for what lives in no block, and drop(what, n); heap_unhold: the
 * owner lets it go himself. Without memory for the node, `what` is dropped at once. */
void heap_hold(heap_drop *drop, void *what, size_t n);
void heap_unhold(heap_drop *drop, const void *what);

#endif
