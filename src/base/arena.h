/* arena.h - bump allocator: many small objects with one lifetime.
 * Use:   arena_init, arena_alloc ..., arena_mark/arena_release for scratch, arena_fini.
 * All memory is zeroed. Chunks come from the thread's heap. */
#ifndef ARENA_H
#define ARENA_H

#include "vs.h"

typedef struct arena_chunk arena_chunk;
typedef struct arena {
    arena_chunk *top;
    size_t total; /* bytes handed out */
} arena;
typedef struct arena_pos {
    arena_chunk *top;
    size_t used, total;
} arena_pos;

void arena_init(arena *a);
void arena_fini(arena *a);
/* `bytes` zeroed bytes aligned to 16, valid until arena_fini or the release of an older mark. bytes
 * may be 0. Never NULL. */
void *arena_alloc(arena *a, size_t bytes);
/* The same, aligned to 64: what kernels read and write by whole lines of a cache. A vector across
 * two lines takes two accesses, and a store across two pages some 200 cycles. */
void *arena_lines(arena *a, size_t bytes);
/* The arena takes over a block that vs_malloc, vs_calloc or vs_realloc gave, of `bytes` bytes. A
 * release that frees what was allocated after this call frees the block too. */
void arena_adopt(arena *a, void *block, size_t bytes);
char *arena_strndup(arena *a, const char *s, size_t n);
char *arena_printf(arena *a, const char *fmt, ...) VS_PRINTF(2, 3);
arena_pos arena_mark(const arena *a);
void arena_release(arena *a, arena_pos pos);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), (size_t)(n) * sizeof(type)))
#define arena_vectors(a, n) ((double *)arena_lines((a), (size_t)(n) * sizeof(double)))

#endif
