#include "arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct arena_chunk {
    arena_chunk *prev;
    char *data;
    size_t size, used;
    size_t dirty;  /* of what lies beyond, nobody has written anything: it is 0 */
    void *adopted; /* a block that goes with the chunk, NULL: none */
    bool inside;   /* the chunk is the rest of the one before */
};

/* A chunk is an eighth of what there is. Arrays of CHUNK_LEAST that do not fit are blocks of their
 * own. */
enum { CHUNK_LEAST = 1 << 16, CHUNK_MOST = 1 << 18, CHUNK_PART = 8 };
/* Chunks of this size come as zeros, which are mostly the system's. */
enum { CHUNK_CLEAN = 1 << 17 };
/* What begins a chunk: its data are aligned to 16. */
enum { HEAD = (sizeof(arena_chunk) + 15) / 16 * 16 };

static size_t chunk_size(const arena *a, size_t bytes)
{
    size_t size = a->total / CHUNK_PART;
    size = size < CHUNK_LEAST ? CHUNK_LEAST : size > CHUNK_MOST ? CHUNK_MOST : size;
    return bytes > size ? bytes : size;
}

void arena_init(arena *a) { *a = (arena){0}; }

void arena_fini(arena *a) { arena_release(a, (arena_pos){0}); }

static size_t left_of(const arena_chunk *c) { return c ? c->size - c->used : 0; }

/* Zeros of a chunk in which there is room for them. */
static void *take(arena_chunk *c, size_t bytes)
{
    char *p = c->data + c->used;
    const size_t left = c->used < c->dirty ? c->dirty - c->used : 0;
    c->used += bytes;
    c->dirty = c->used > c->dirty ? c->used : c->dirty;
    return memset(p, 0, bytes < left ? bytes : left);
}

static void add_chunk(arena *a, size_t bytes)
{
    const size_t size = chunk_size(a, bytes);
    const bool clean = size >= CHUNK_CLEAN;
    arena_chunk *c = clean ? vs_calloc(1, HEAD + size) : vs_malloc(HEAD + size);
    *c = (arena_chunk){
        .prev = a->top, .data = (char *)c + HEAD, .size = size, .dirty = clean ? 0 : size};
    a->top = c;
}

/* A chunk that goes with a block. It has the rest of the one before, if there is any: an array that
 * did not fit there is a block of its own, and what is smaller still does. */
static void add_around(arena *a, void *block)
{
    arena_chunk *before = a->top;
    if (left_of(before) < HEAD)
        add_chunk(a, CHUNK_LEAST);
    before = a->top;
    arena_chunk *c = take(before, HEAD);
    const size_t used = before->used;
    *c = (arena_chunk){.prev = before,
                       .data = before->data + used,
                       .size = before->size - used,
                       .dirty = before->dirty - used,
                       .adopted = block,
                       .inside = true};
    a->top = c;
}

void *arena_alloc(arena *a, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        vs_no_memory();
    bytes = (bytes + 15) & ~(size_t)15;
    if (!a->top || left_of(a->top) < bytes) {
        if (bytes >= CHUNK_LEAST) {
            void *block = vs_calloc(1, bytes);
            arena_adopt(a, block, bytes);
            return block;
        }
        add_chunk(a, bytes);
    }
    a->total += bytes;
    return take(a->top, bytes);
}

void *arena_lines(arena *a, size_t bytes)
{
    enum { GIVEN = 16 };
    return vs_at_line(arena_alloc(a, bytes > SIZE_MAX / 2 ? bytes : bytes + VS_LINE - GIVEN));
}

void arena_adopt(arena *a, void *block, size_t bytes)
{
    add_around(a, block);
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
        if (c->inside) /* what it wrote is written */
            c->prev->dirty = (size_t)(c->data - c->prev->data) + c->dirty;
        else
            vs_free(c);
    }
    if (a->top)
        a->top->used = pos.used;
    a->total = pos.total;
}
