/* jit_cache.h - the cache on disk: kernels and prepared models, found by the hash of all that
 * determines them.
 * Use:    jit_cache_open; jit_cache_get, use the item, jit_cache_release; after a miss make it and
 *         jit_cache_put; jit_cache_close. For `vsim cache`: jit_cache_look, read the fields,
 *         jit_cache_look_fini; jit_cache_clear.
 * Files of other programs in the folder are neither listed nor removed. */
#ifndef JIT_CACHE_H
#define JIT_CACHE_H

#include "jit.h"

typedef struct jit_cache {
    char *dir;          /* NULL: no cache */
    uint64_t max_bytes; /* files beyond it are removed, oldest use first */
} jit_cache;
enum { JIT_CACHE_MB = 256 };
/* Makes the folder. dir NULL: there is none. *why set (static text) if there is no cache. */
void jit_cache_open(jit_cache *c, const char *dir, const char **why);
void jit_cache_close(jit_cache *c);

typedef enum jit_cache_kind {
    JIT_CACHE_KERNEL, /* .vso: objects of a kernel (jit_pack.c) */
    JIT_CACHE_MODEL   /* .vsm: a model or a part of one, prepared (mdl_keep.c) */
} jit_cache_kind;
typedef struct jit_cache_item { /* a file mapped into memory, to be read only */
    const void *data;           /* aligned to 16 */
    size_t size;
    size_t now; /* bytes that were summed; what is behind them its user sums when he needs it */
    void *map;
    size_t map_bytes;
} jit_cache_item;
typedef enum jit_found { JIT_CACHE_MISS, JIT_CACHE_HIT, JIT_CACHE_BAD } jit_found;
/* HIT: *item, of its size and unchanged up to item->now since it was put; its user releases it.
 * BAD: a file is there but cannot be used; *why says how. */
jit_found jit_cache_get(const jit_cache *c, jit_cache_kind kind, jit_hash key, jit_cache_item *item,
                        const char **why);
void jit_cache_release(jit_cache_item *item);
/* Status: VS_OK, VS_EIO with *why. */
VS_MUST_USE vs_status jit_cache_put(const jit_cache *c, jit_cache_kind kind, jit_hash key,
                                    const void *data, size_t size, const char **why);
/* The same; jit_cache_get sums only the first `now` bytes. */
VS_MUST_USE vs_status jit_cache_put_now(const jit_cache *c, jit_cache_kind kind, jit_hash key,
                                        const void *data, size_t size, size_t now,
                                        const char **why);
/* The sum that says whether bytes are whole. */
jit_hash jit_cache_sum(const void *bytes, size_t n);
/* Bytes of an item that are read next, all of them: their pages at once. */
void jit_cache_expect(const void *bytes, size_t n);

typedef struct jit_cache_file {
    char name[64];
    uint64_t size; /* bytes */
    double idle;   /* seconds since it was last read or written */
} jit_cache_file;

typedef struct jit_cache_view {
    char *dir;
    uint64_t total, limit; /* bytes; beyond the limit files longest not used are removed */
    jit_cache_file *file;  /* vec; last used first */
} jit_cache_view;

/* What is in the folder; dir NULL: the user's ($XDG_CACHE_HOME/vsim or ~/.cache/vsim). It is not
 * made: a folder that does not exist holds no files.
 * Status: VS_OK; VS_EIO: there is no such folder to be named, or it cannot be read (*why, static).
 */
VS_MUST_USE vs_status jit_cache_look(jit_cache_view *view, const char *dir, const char **why);
void jit_cache_look_fini(jit_cache_view *view);

/* Removes all files; counts what was removed.
 * Status: VS_OK; VS_EIO: a file could not be removed (*why, static). */
VS_MUST_USE vs_status jit_cache_clear(const char *dir, size_t *n_file, uint64_t *bytes,
                                      const char **why);

#endif
