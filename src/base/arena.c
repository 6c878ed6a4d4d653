#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct arena_chunk {
    arena_chunk *prev;
    size_t size, used;
    size_t dirty;  /* of what lies beyond, nobody has written anything: it is 0 */
    void *adopted; /* a block that goes with the chunk, NULL: none */
    _Alignas(16) char data[];
};

/* A chunk is an eighth of what there is, so that large arenas have few of them on large pages. */
enum { CHUNK_LEAST = 1 << 16, CHUNK_MOST = 1 << 23, CHUNK_PART = 8 };
/* Chunks of this size come from the system, as zeros. */
enum { CHUNK_CLEAN = 1 << 20 };

static size_t chunk_size(const arena *a, size_t bytes)
{
    size_t size = a->total / CHUNK_PART;
    size = size < CHUNK_LEAST ? CHUNK_LEAST : size > CHUNK_MOST ? CHUNK_MOST : size;
    return bytes > size ? bytes : size;
}

void arena_init(arena *a) { *a = (arena){0}; }

void arena_fini(arena *a) { arena_release(a, (arena_pos){0}); }

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        vs_no_memory();
    bytes = (bytes + 15) & ~(size_t)15;
    arena_chunk *c = a->top;
    if (!c || c->size - c->used < bytes) {
        const size_t size = chunk_size(a, bytes);
        const bool clean = size >= CHUNK_CLEAN;
        c = clean ? vs_calloc(1, sizeof *c + size) : vs_malloc(sizeof *c + size);
        c->prev = a->top;
        c->size = size;
        c->used = 0;
        c->dirty = clean ? 0 : size;
        c->adopted = NULL;
        a->top = c;
    }
    char *p = c->data + c->used;
    const size_t left = c->used < c->dirty ? c->dirty - c->used : 0;
    c->used += bytes;
    c->dirty = c->used > c->dirty ? c->used : c->dirty;
    a->total += bytes;
    return memset(p, 0, bytes < left ? bytes : left);
}

void arena_adopt(arena *a, void *block, size_t bytes)
{
    arena_chunk *c = vs_malloc(sizeof *c + CHUNK_LEAST);
    *c = (arena_chunk){.prev = a->top, .size = CHUNK_LEAST, .dirty = CHUNK_LEAST, .adopted = block};
    a->top = c;
    a->total += bytes;
}

char *arena_strndup(arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

arena_pos arena_mark(const arena *a)
{
    return (arena_pos){a->top, a->top ? a->top->used : 0, a->total};
}

void arena_release(arena *a, arena_pos pos)
{
    while (a->top != pos.top) {
        arena_chunk *c = a->top;
        a->top = c->prev;
        vs_free(c->adopted);
        vs_free(c);
    }
    if (a->top)
        a->top->used = pos.used;
    a->total = pos.total;
}
