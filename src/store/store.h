/* store.h - files on disk that a later run reads instead of making their contents again: kernels
 * and prepared models. A file is found by the hash of everything that determines its contents.
 * Use:    store_open; store_get, use the item, store_release; after a miss make it and store_put;
 *         store_close. For `vsim cache`: store_look, read the fields, store_look_fini; store_clear.
 * Trust:  what is in the folder may be executed. A folder or file that another user owns or may
 *         write is not used.
 * Files of other programs in the folder are neither listed nor removed. */
#ifndef STORE_H
#define STORE_H

#include "hash.h"
#include "vs.h"

typedef struct store {
    char *dir;          /* NULL: no cache */
    uint64_t max_bytes; /* files beyond it are removed, oldest use first */
} store;
enum { STORE_MB = 256 };
/* Opens the cache in a folder, which is made if it does not exist.
 *   dir  NULL: no cache
 *   why  out  NULL; or why there is no cache (static text): gets miss and puts fail */
void store_open(store *c, const char *dir, const char **why);
void store_close(store *c);

typedef enum store_kind {
    STORE_KERNEL, /* .vso: objects of a kernel (jit_pack.c) */
    STORE_MODEL   /* .vsm: a model or a part of one, prepared (mdl_store.c) */
} store_kind;
typedef struct store_item { /* a file mapped into memory, to be read only */
    const void *data;       /* aligned to 16 */
    size_t size;
    /* bytes whose checksum store_get has tested; the caller tests the rest when he needs it */
    size_t now;
    void *map;
    size_t map_bytes;
} store_item;
typedef enum store_found { STORE_MISS, STORE_HIT, STORE_BAD } store_found;
/* Looks a file up.
 *   item  out  HIT: the file, its size right and its first item->now bytes unchanged; the caller
 *         calls store_release
 *   why   out  BAD: why the file that there is cannot be used (static text) */
store_found store_get(const store *c, store_kind kind, hash128 key, store_item *item,
                      const char **why);
void store_release(store_item *item);
/* Writes a file, and removes old ones beyond the limit. Status: VS_OK, VS_EIO (*why, static). */
VS_MUST_USE vs_status store_put(const store *c, store_kind kind, hash128 key, const void *data,
                                size_t size, const char **why);
/* Like store_put, but store_get will test the checksum of the first `now` bytes only. */
VS_MUST_USE vs_status store_put_now(const store *c, store_kind kind, hash128 key, const void *data,
                                    size_t size, size_t now, const char **why);
/* The checksum that store_get tests, for bytes that the caller tests himself. */
hash128 store_sum(const void *bytes, size_t n);
/* Tells the system that the caller reads all these bytes of an item next, so that it fetches their
 * pages at once. */
void store_expect(const void *bytes, size_t n);

typedef struct store_file {
    char name[64];
    uint64_t size; /* bytes */
    double idle;   /* seconds since it was last read or written */
} store_file;

typedef struct store_view {
    char *dir;
    uint64_t total, limit; /* bytes; beyond the limit files longest not used are removed */
    store_file *file;      /* vec; last used first */
} store_view;

/* Lists the files of a cache. A folder that does not exist holds none, and is not made.
 *   view  out  store_look_fini by the caller
 * Status: VS_OK; VS_EIO: dir is NULL, or cannot be read (*why, static). */
VS_MUST_USE vs_status store_look(store_view *view, const char *dir, const char **why);
void store_look_fini(store_view *view);

/* Removes all files of a cache, and counts them and their bytes.
 * Status: VS_OK; VS_EIO: a file could not be removed (*why, static). */
VS_MUST_USE vs_status store_clear(const char *dir, size_t *n_file, uint64_t *bytes,
                                  const char **why);

#endif
