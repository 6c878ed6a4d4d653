/* heap.c - see heap.h. Blocks of a heap are a list; the header before each keeps what follows
 * aligned to 16 bytes. */
#define _DEFAULT_SOURCE /* madvise */
#include "heap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "slab.h"

#if defined(__has_include) && __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ONE_THREAD __libc_single_threaded
#else
#define ONE_THREAD 0
#endif

typedef struct block {
    struct block *newer, *older; /* of its heap */
    heap *in;                    /* NULL: of the process, no list */
    size_t bytes : 63;
    bool in_slab : 1; /* else it is malloc's */
} block;
static_assert(sizeof(block) % 16 == 0, "blocks are aligned as malloc aligns them");

struct heap {
    pthread_mutex_t lock; /* threads of a pool share a heap */
    block *top;
    slabs slabs;
    heap_owned *owned, *oldest; /* of the owned */
    files_list *files;          /* in a block of this heap; NULL: none were asked for */
    size_t limit, bytes, peak;
    int64_t count, fail_at;
    bool fail_on;
    bool (*stop)(void *user); /* NULL: nobody to ask */
    void *stop_user;
    atomic_bool asked; /* it said true */
    bool left;
};

/* What longjmp brings. */
enum { NO_MEMORY = 1, STOPPED };

typedef struct guard {
    jmp_buf back;
    struct guard *outer;
} guard;

/* What this thread works for: set by guard_run, and back when it returns. */
static _Thread_local struct {
    heap *heap;
    guard *guard;
} here;

heap *heap_now(void) { return here.heap; }

heap *heap_use(heap *h)
{
    heap *before = here.heap;
    here.heap = h;
    return before;
}

heap *heap_new(size_t limit)
{
    heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->limit = limit;
    pthread_mutex_init(&h->lock, NULL);
    return h;
}

void heap_free(heap **p)
{
    heap *h = *p;
    if (!h)
        return;
    while (h->owned) {
        heap_owned *o = h->owned;
        const heap_owned it = *o;
        heap_disown(o);
        it.drop(it.what, it.n);
    }
    for (block *b = h->top, *older; b; b = older) {
        older = b->older;
        if (!b->in_slab)
            free(b);
    }
    slabs_fini(&h->slabs);
    pthread_mutex_destroy(&h->lock);
    free(h);
    *p = NULL;
}

files_list **heap_files(heap *h) { return h ? &h->files : NULL; }
size_t heap_bytes(const heap *h) { return h->bytes; }
size_t heap_peak(const heap *h) { return h->peak; }
int64_t heap_count(const heap *h) { return h->count; }

void heap_fail_at(heap *h, int64_t n, bool on)
{
    h->fail_at = n > 0 ? h->count + n : 0;
    h->fail_on = on;
}

void heap_relax(heap *h)
{
    h->limit = 0;
    h->fail_at = 0;
}

bool heap_room(size_t bytes)
{
    void *p = malloc(bytes);
    free(p);
    return p != NULL;
}

bool heap_limited(void)
{
    struct rlimit space, data;
    return (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY) ||
           (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}

/* -- guards -- */

vs_status guard_run(heap *h, vs_status (*body)(void *), void *arg)
{
    guard g = {.outer = here.guard};
    heap *const before = here.heap;
    vs_status st;
    here.guard = &g;
    here.heap = h;
    switch (setjmp(g.back)) {
    case 0: st = body(arg); break;
    case STOPPED: st = VS_STOP; break;
    default: st = VS_ENOMEM;
    }
    here.guard = g.outer;
    here.heap = before;
    return st;
}

void vs_no_memory(void)
{
    if (here.guard)
        longjmp(here.guard->back, NO_MEMORY);
    __builtin_trap(); /* a call from outside without a guard: a mistake of ours */
}

void heap_set_stop(heap *h, bool (*stop)(void *user), void *user)
{
    h->stop = stop;
    h->stop_user = user;
}

bool heap_asked(void)
{
    heap *h = here.heap;
    if (!h || !h->stop)
        return false;
    if (!h->asked && h->stop(h->stop_user))
        h->asked = true;
    return h->asked;
}

void heap_poll(void)
{
    if (!here.guard || !heap_asked())
        return;
    here.heap->left = true;
    longjmp(here.guard->back, STOPPED);
}

bool heap_left(const heap *h) { return h->left; }

/* -- blocks -- */

/* A process with one thread needs no lock: a third of what a small allocation costs. What lock()
 * returns is for unlock(): nothing between them starts a thread. */
static bool lock(heap *h)
{
    const bool locked = !ONE_THREAD;
    if (locked)
        pthread_mutex_lock(&h->lock);
    return locked;
}

static void unlock(heap *h, bool locked)
{
    if (locked)
        pthread_mutex_unlock(&h->lock);
}

/* `more` bytes in place of `less` are counted; false: they are too many. With the lock. */
static bool count(heap *h, size_t more, size_t less)
{
    h->count++;
    const bool fails = h->fail_at && (h->fail_on ? h->count >= h->fail_at : h->count == h->fail_at);
    if (fails || (h->limit && (more > h->limit || h->bytes - less > h->limit - more)))
        return false;
    h->bytes += more - less;
    if (h->bytes > h->peak)
        h->peak = h->bytes;
    return true;
}

static void put_in(heap *h, block *b)
{
    b->older = h->top;
    b->newer = NULL;
    if (h->top)
        h->top->newer = b;
    h->top = b;
}

static void take_out(heap *h, block *b)
{
    *(b->newer ? &b->newer->older : &h->top) = b->older;
    if (b->older)
        b->older->newer = b->newer;
}

/* It moved. */
static void relink(heap *h, block *b)
{
    *(b->newer ? &b->newer->older : &h->top) = b;
    if (b->older)
        b->older->newer = b;
}

/* malloc's large blocks on large pages, where the system has them: a page fault costs as much as
 * filling 50 kB. The block's mapping is told as a whole: as two parts realloc could not move it,
 * and would copy it to small pages. Neighbours that are told alike share large pages. */
static void use_large_pages(block *b)
{
#ifdef MADV_HUGEPAGE
    enum { LEAST = 1 << 20 };
    if (b->bytes < LEAST)
        return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)b & ~(page - 1);
    const uintptr_t to = ((uintptr_t)(b + 1) + b->bytes + page - 1) & ~(page - 1);
    (void)madvise((char *)b - ((uintptr_t)b - from), to - from, MADV_HUGEPAGE);
#else
    (void)b;
#endif
}

/* What a new block is to be. */
typedef enum block_kind { BLOCK_ANY, BLOCK_ZERO, BLOCK_SPARSE } block_kind;

/* A small circuit is not worth a page of 2 MB: blocks are in slabs from so many bytes of a heap on.
 */
enum { SLABS_FROM = 1 << 22 };

/* A new block of n bytes in a slab. With the lock. NULL: it is malloc's.
 *   old  out: bytes that may not be 0 */
static block *slab_block(heap *h, size_t n, block_kind kind, size_t *old)
{
    const size_t all = sizeof(block) + n;
    if (!h || kind == BLOCK_SPARSE || h->bytes < SLABS_FROM || all < SLAB_LEAST || all > SLAB_MOST)
        return NULL;
    block *b = slabs_take(&h->slabs, all, old);
    if (b) {
        *old = *old < all ? *old : all;
        b->in_slab = true;
    }
    return b;
}

static block *new_block(heap *h, size_t n, block_kind kind, size_t *old)
{
    block *b = slab_block(h, n, kind, old);
    if (b)
        return b;
    *old = 0; /* calloc clears what it gives */
    b = kind ? calloc(1, sizeof *b + n) : malloc(sizeof *b + n);
    if (b)
        b->in_slab = false;
    return b;
}

static void let_go(heap *h, block *b)
{
    if (b->in_slab)
        slabs_give(&h->slabs, b, sizeof *b + b->bytes);
    else
        free(b);
}

/* The same block for n bytes, or another one with its contents. NULL: no memory, it stays. */
static block *resized(heap *h, block *b, size_t n)
{
    const size_t had = sizeof *b + b->bytes;
    if (b->in_slab && slabs_resize(&h->slabs, b, had, sizeof *b + n))
        return b;
    if (!b->in_slab && (n < b->bytes || sizeof *b + n < SLAB_LEAST))
        return realloc(b, sizeof *b + n);
    size_t old;
    block *to = b->in_slab ? new_block(h, n, BLOCK_ANY, &old) : slab_block(h, n, BLOCK_ANY, &old);
    if (!to)
        return b->in_slab ? NULL : realloc(b, sizeof *b + n);
    const bool in_slab = to->in_slab;
    if (!in_slab) { /* before it has pages, which would be small ones */
        to->bytes = n;
        use_large_pages(to);
    }
    memcpy(to, b, n < b->bytes ? sizeof *b + n : had);
    to->in_slab = in_slab;
    let_go(h, b);
    return to;
}

/* A block for n bytes in the place of `before` (NULL: a new one). NULL: no memory, `before` stays.
 */
static block *change(heap *h, block *before, size_t n, block_kind kind)
{
    const size_t less = before ? before->bytes : 0;
    size_t old = 0;
    if (n > SIZE_MAX / 2)
        return NULL;
    bool locked = false;
    if (h) {
        locked = lock(h);
        if (!count(h, n, less)) {
            unlock(h, locked);
            return NULL;
        }
    }
    block *b = before ? resized(h, before, n) : new_block(h, n, kind, &old);
    if (b) {
        b->in = h;
        b->bytes = n;
        if (kind != BLOCK_SPARSE && !b->in_slab)
            use_large_pages(b);
    }
    if (h) {
        if (!b)
            h->bytes += less - n;
        else if (!before)
            put_in(h, b);
        else if (b != before)
            relink(h, b);
        unlock(h, locked);
    }
    if (b && kind == BLOCK_ZERO && old > sizeof *b)
        memset(b + 1, 0, old - sizeof *b);
    return b;
}

static void *data_of(block *b)
{
    if (!b)
        vs_no_memory();
    return b + 1;
}

void *vs_malloc(size_t bytes) { return data_of(change(here.heap, NULL, bytes, BLOCK_ANY)); }

static void *zeroed(size_t n, size_t size, block_kind kind)
{
    if (size && n > SIZE_MAX / 2 / size)
        vs_no_memory();
    return data_of(change(here.heap, NULL, n * size, kind));
}

void *vs_calloc(size_t n, size_t size) { return zeroed(n, size, BLOCK_ZERO); }

void *vs_sparse(size_t n, size_t size) { return zeroed(n, size, BLOCK_SPARSE); }

void *vs_try_realloc(void *p, size_t bytes)
{
    block *old = p ? (block *)p - 1 : NULL,
          *b = change(old ? old->in : here.heap, old, bytes, BLOCK_ANY);
    return b ? b + 1 : NULL;
}

void *vs_realloc(void *p, size_t bytes)
{
    void *q = vs_try_realloc(p, bytes);
    if (!q)
        vs_no_memory();
    return q;
}

void vs_free(void *p)
{
    if (!p)
        return;
    block *b = (block *)p - 1;
    heap *h = b->in;
    if (!h) {
        free(b);
        return;
    }
    const bool locked = lock(h);
    take_out(h, b);
    h->bytes -= b->bytes;
    const bool in_slab = b->in_slab;
    if (in_slab)
        let_go(h, b);
    unlock(h, locked);
    if (!in_slab)
        free(b);
}

char *vs_strndup(const char *s, size_t n)
{
    const char *end = memchr(s, 0, n);
    if (end)
        n = (size_t)(end - s);
    char *p = vs_malloc(n + 1);
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

char *vs_strdup(const char *s) { return vs_strndup(s, strlen(s)); }

char *vs_text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = vs_vtext(fmt, ap);
    va_end(ap);
    return text;
}

char *vs_vtext(const char *fmt, va_list ap)
{
    char most[200]; /* are shorter */
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(most, sizeof most, fmt, ap);
    char *text = vs_malloc((size_t)n + 1);
    if ((size_t)n < sizeof most)
        memcpy(text, most, (size_t)n + 1);
    else
        vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}

/* -- what is not memory -- */

void heap_own(heap_owned *o, heap_drop *drop, void *what)
{
    heap *h = here.heap;
    *o = (heap_owned){.in = h, .drop = drop, .what = what};
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    o->older = h->owned;
    *(h->owned ? &h->owned->newer : &h->oldest) = o;
    h->owned = o;
    pthread_mutex_unlock(&h->lock);
}

void heap_disown(heap_owned *o)
{
    heap *h = o->in;
    if (o->drop && h) {
        pthread_mutex_lock(&h->lock);
        *(o->newer ? &o->newer->older : &h->owned) = o->older;
        *(o->older ? &o->older->newer : &h->oldest) = o->newer;
        pthread_mutex_unlock(&h->lock);
    }
    *o = (heap_owned){0};
}

void heap_hold(heap_drop *drop, void *what, size_t n)
{
    if (!here.heap)
        return;
    heap_owned *o = vs_try_realloc(NULL, sizeof *o);
    if (!o) {
        drop(what, n);
        vs_no_memory();
    }
    heap_own(o, drop, what);
    o->n = n;
}

static bool is_of(const heap_owned *o, heap_drop *drop, const void *what)
{
    return o->drop == drop && o->what == what;
}

/* What a run has many of it lets go in the order in which it took them, or in the opposite one: the
 * search goes from both ends. */
void heap_unhold(heap_drop *drop, const void *what)
{
    heap *h = here.heap;
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    heap_owned *o = h->owned, *old = h->oldest;
    while (o && !is_of(o, drop, what) && !is_of(old, drop, what)) {
        o = o->older;
        old = old->newer;
    }
    if (o && !is_of(o, drop, what))
        o = old;
    pthread_mutex_unlock(&h->lock);
    if (o)
        heap_disown(o);
    vs_free(o);
}
