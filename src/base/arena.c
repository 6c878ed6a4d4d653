#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct arena_chunk {
    arena_chunk *prev;
    size_t size, used;
    size_t pad; /* keeps data 16-byte aligned */
    char data[];
};

enum { CHUNK_BYTES = 1 << 16 };

void arena_init(arena *a) { *a = (arena){0}; }

void arena_fini(arena *a) { arena_release(a, (arena_pos){0}); }

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        vs_no_memory();
    bytes = (bytes + 15) & ~(size_t)15;
    arena_chunk *c = a->top;
    if (!c || c->size - c->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        c = vs_malloc(sizeof *c + size);
        c->prev = a->top;
        c->size = size;
        c->used = 0;
        a->top = c;
    }
    void *p = c->data + c->used;
    c->used += bytes;
    a->total += bytes;
    return memset(p, 0, bytes);
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
        vs_free(c);
    }
    if (a->top)
        a->top->used = pos.used;
    a->total = pos.total;
}
