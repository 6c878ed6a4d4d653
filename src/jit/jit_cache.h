/* jit_cache.h - the cache of kernels on disk, as its user sees it.
 * Use:    jit_cache_look, read the fields, jit_cache_look_fini; jit_cache_clear.
 * Files of other programs in the folder are neither listed nor removed. */
#ifndef JIT_CACHE_H
#define JIT_CACHE_H

#include "vs.h"

#include <stddef.h>
#include <stdint.h>

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

/* What is in the folder; dir NULL: the user's ($XDG_CACHE_HOME/vsim or ~/.cache/vsim). It is not made:
 * a folder that does not exist holds no files.
 * Status: VS_OK; VS_EIO: there is no such folder to be named, or it cannot be read (*why, static). */
VS_MUST_USE vs_status jit_cache_look(jit_cache_view *view, const char *dir, const char **why);
void jit_cache_look_fini(jit_cache_view *view);

/* Removes all kernels; counts what was removed.
 * Status: VS_OK; VS_EIO: a file could not be removed (*why, static). */
VS_MUST_USE vs_status jit_cache_clear(const char *dir, size_t *n_file, uint64_t *bytes, const char **why);

#endif
