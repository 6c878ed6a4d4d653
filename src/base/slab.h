/* slab.h - blocks of 64 kB to 16 MB side by side on large pages. From malloc each block of a
 * megabyte is a mapping of its own, of which the system makes small pages but for what covers a
 * large one, and each page costs a fault.
 * Use: slabs s = {0}; slabs_take(&s, bytes) ... slabs_give(&s, p, bytes); slabs_fini(&s).
 * Not for two threads at a time. */
#ifndef SLAB_H
#define SLAB_H

#include "vs.h"

typedef struct slab slab;
typedef struct slabs {
    slab *first; /* the oldest */
    bool none;   /* the system gave none */
} slabs;
enum { SLAB_LEAST = 1 << 16, SLAB_MOST = 1 << 24 };

/* A block of SLAB_LEAST to SLAB_MOST bytes, aligned to a page. NULL: there is none, ask malloc.
 *   old  out: so many bytes from its begin on may have been written before; all others are 0 */
void *slabs_take(slabs *s, size_t bytes, size_t *old);
/* The block of `bytes` bytes is to have `want`, in its place. false: something stands behind it, or
 * so many belong to malloc. A block does not become smaller than SLAB_LEAST. */
bool slabs_resize(slabs *s, void *p, size_t bytes, size_t want);
void slabs_give(slabs *s, void *p, size_t bytes);
/* Lets all blocks go. */
void slabs_fini(slabs *s);

#endif
