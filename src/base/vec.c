#include "vec.h"

#include <math.h>
#include <string.h>

/* Of the first piece: most vecs stay below. */
enum { FIRST_ELEMENTS = 8, FIRST_BYTES = 128 };
/* A frozen vec of so much keeps its block. */
enum { ADOPTED_BYTES = 1 << 20 };

void *vec_grow_(void *v, size_t extra, size_t elem)
{
    size_t len = vec_len(v), cap = v ? vec_head_of(v)->cap : 0;
    if (len + extra <= cap && v)
        return v;
    size_t want = cap * 2 > len + extra ? cap * 2 : len + extra;
    if (want < FIRST_ELEMENTS)
        want = FIRST_ELEMENTS;
    if (want * elem < FIRST_BYTES)
        want = FIRST_BYTES / elem;
    vec_head *h = vs_realloc(v ? vec_head_of(v) : NULL, sizeof *h + want * elem);
    h->len = len;
    h->cap = want;
    return h + 1;
}

void *vec_extend_(void *v, size_t n, size_t elem)
{
    v = vec_grow_(v, n, elem);
    size_t len = vec_len(v);
    memset((char *)v + len * elem, 0, n * elem);
    vec_head_of(v)->len = len + n;
    return v;
}

void vec_free_(void *v)
{
    if (v)
        vs_free(vec_head_of(v));
}

void *vec_fixed_(arena *mem, size_t n, size_t elem)
{
    if (!n)
        return NULL;
    vec_head *h = arena_alloc(mem, sizeof *h + n * elem);
    h->len = h->cap = n;
    return h + 1;
}

void *vec_freeze_(arena *mem, void *v, size_t elem)
{
    size_t n = vec_len(v);
    if (n * elem >= ADOPTED_BYTES) { /* no second copy while the first is there */
        vec_head *h = vs_realloc(vec_head_of(v), sizeof *h + n * elem);
        h->cap = n;
        arena_adopt(mem, h, sizeof *h + n * elem);
        return h + 1;
    }
    void *copy = vec_fixed_(mem, n, elem);
    if (n)
        memcpy(copy, v, n * elem);
    vec_free_(v);
    return copy;
}

int vec_by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int vec_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int vec_by_placed(const void *a, const void *b)
{
    const vec_placed *x = a, *y = b;
    if (isnan(x->x) != isnan(y->x))
        return isnan(x->x) ? 1 : -1;
    if (x->x != y->x && !isnan(x->x))
        return x->x < y->x ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}
