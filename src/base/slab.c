/* slab.c - see slab.h. A slab is a mapping of 32 MB at a multiple of its size, so that a block's
 * address tells its slab. Its first page has the list of its holes. */
#define _DEFAULT_SOURCE /* madvise */
#include "slab.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap.h"

enum { PAGE = 1 << 12, SLAB = 1 << 25, N_PAGE = SLAB / PAGE };
/* A block has at least SLAB_LEAST bytes, and at least a page of a hole follows it. */
enum { LEAST = SLAB_LEAST / PAGE, MOST_HOLES = N_PAGE / (LEAST + 1) + 1 };

typedef struct hole {
    uint16_t at, n; /* pages */
} hole;
struct slab {
    slab *next; /* younger */
    uint32_t n_hole;
    uint32_t top;          /* pages from here on were never handed out */
    hole hole[MOST_HOLES]; /* by address; no two touch */
};
static_assert(sizeof(slab) <= PAGE, "a slab's list is its first page");

static slab *slab_of(const void *p) { return (slab *)((uintptr_t)p & ~(uintptr_t)(SLAB - 1)); }

static char *page_of(slab *s, uint32_t at) { return (char *)s + (size_t)at * PAGE; }

static uint32_t pages(size_t bytes)
{
    const uint32_t n = (uint32_t)((bytes + PAGE - 1) / PAGE);
    return n < LEAST ? LEAST : n;
}

/* A mapping of 64 MB without what stands before and behind the slab in it. Where addresses are few,
 * it would take those of other blocks. */
static slab *new_slab(void)
{
#if defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)
    if (sysconf(_SC_PAGESIZE) != PAGE || heap_limited())
        return NULL;
    char *p = mmap(NULL, 2 * (size_t)SLAB, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    slab *s = slab_of(p + SLAB - 1);
    const size_t before = (size_t)((char *)s - p);
    if (before)
        (void)munmap(p, before);
    (void)munmap((char *)s + SLAB, SLAB - before);
    (void)madvise(s, SLAB, MADV_HUGEPAGE);
    s->top = 1;
    s->n_hole = 1;
    s->hole[0] = (hole){1, N_PAGE - 1};
    return s;
#else
    return NULL;
#endif
}

/* The first n pages of hole i. */
static void *take_of(slab *s, uint32_t i, uint32_t n, size_t *old)
{
    hole *h = &s->hole[i];
    char *p = page_of(s, h->at);
    *old = h->at >= s->top ? 0 : (size_t)(s->top - h->at) * PAGE;
    h->at = (uint16_t)(h->at + n);
    h->n = (uint16_t)(h->n - n);
    s->top = h->at > s->top ? h->at : s->top;
    if (!h->n) {
        s->n_hole--;
        memmove(h, h + 1, (s->n_hole - i) * sizeof *h);
    }
    return p;
}

void *slabs_take(slabs *all, size_t bytes, size_t *old)
{
    const uint32_t n = pages(bytes);
    slab **end = &all->first;
    for (slab *s; (s = *end); end = &s->next)
        for (uint32_t i = 0; i < s->n_hole; i++)
            if (s->hole[i].n >= n)
                return take_of(s, i, n, old);
    if (all->none || !(*end = new_slab())) {
        all->none = true;
        return NULL;
    }
    return take_of(*end, 0, n, old);
}

/* Index of the first hole at or behind a page. */
static uint32_t find(const slab *s, uint32_t at)
{
    uint32_t from = 0, to = s->n_hole;
    while (from < to) {
        const uint32_t mid = (from + to) / 2;
        if (s->hole[mid].at < at)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* n pages from `at` on are free. They stay the process' own: what comes next takes them, and to get
 * a large page again costs more than to clear it. */
static void give(slab *s, uint32_t at, uint32_t n)
{
    const uint32_t i = find(s, at);
    hole *h = &s->hole[i];
    const bool before = i > 0 && h[-1].at + h[-1].n == at,
               behind = i < s->n_hole && h->at == at + n;
    if (before && behind) {
        h[-1].n = (uint16_t)(h[-1].n + n + h->n);
        s->n_hole--;
        memmove(h, h + 1, (s->n_hole - i) * sizeof *h);
    } else if (before) {
        h[-1].n = (uint16_t)(h[-1].n + n);
    } else if (behind) {
        h->at = (uint16_t)at;
        h->n = (uint16_t)(h->n + n);
    } else {
        memmove(h + 1, h, (s->n_hole - i) * sizeof *h);
        s->n_hole++;
        *h = (hole){(uint16_t)at, (uint16_t)n};
    }
}

bool slabs_resize(slabs *all, void *p, size_t bytes, size_t want)
{
    (void)all;
    slab *s = slab_of(p);
    const uint32_t at = (uint32_t)((char *)p - (char *)s) / PAGE, n = pages(bytes),
                   more = pages(want);
    if (want > SLAB_MOST)
        return false;
    if (more < n)
        give(s, at + more, n - more);
    if (more <= n)
        return true;
    const uint32_t i = find(s, at + n);
    if (i >= s->n_hole || s->hole[i].at != at + n || s->hole[i].n < more - n)
        return false;
    size_t old;
    (void)take_of(s, i, more - n, &old);
    return true;
}

static bool is_empty(const slab *s) { return s->n_hole == 1 && s->hole[0].n == N_PAGE - 1; }

/* One slab without blocks stays, for who takes and gives one block again and again; another goes
 * back to the system. */
void slabs_give(slabs *all, void *p, size_t bytes)
{
    slab *s = slab_of(p);
    give(s, (uint32_t)((char *)p - (char *)s) / PAGE, pages(bytes));
    if (!is_empty(s))
        return;
    bool spare = false;
    for (const slab *o = all->first; o; o = o->next)
        spare |= o != s && is_empty(o);
    if (!spare)
        return;
    slab **at = &all->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    (void)munmap(s, SLAB);
}

void slabs_fini(slabs *all)
{
    for (slab *s = all->first, *next; s; s = next) {
        next = s->next;
        (void)munmap(s, SLAB);
    }
    *all = (slabs){0};
}
