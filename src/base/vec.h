/* vec.h - growable array with the type of a plain pointer.
 * Use:   int *v = NULL; vec_push(v, 3); for (size_t i = 0; i < vec_len(v); i++) v[i]; vec_free(v);
 * The element may move on each push: keep indices, not pointers. */
#ifndef VEC_H
#define VEC_H

#include "arena.h"

typedef struct vec_head {
    size_t len, cap;
} vec_head;

#define vec_head_of(v) ((vec_head *)(void *)(v) - 1)
#define vec_len(v) ((v) ? vec_head_of(v)->len : (size_t)0)
#define vec_full_(v, extra) (!(v) || vec_head_of(v)->cap - vec_head_of(v)->len < (size_t)(extra))
#define vec_reserve(v, extra) \
    (vec_full_(v, extra) ? (void)((v) = vec_grow_((v), (size_t)(extra), sizeof *(v))) : (void)0)
#define vec_push(v, ...) (vec_reserve(v, 1), (v)[vec_head_of(v)->len++] = (__VA_ARGS__))
/* n zeroed elements at the end */
#define vec_extend(v, n) ((v) = vec_extend_((v), (size_t)(n), sizeof *(v)))
#define vec_pop(v) ((v)[--vec_head_of(v)->len])
#define vec_last(v) ((v)[vec_head_of(v)->len - 1])
#define vec_clear(v) ((v) ? (void)(vec_head_of(v)->len = 0) : (void)0)
#define vec_free(v) (vec_free_(v), (v) = NULL)

void *vec_grow_(void *v, size_t extra, size_t elem);
void *vec_extend_(void *v, size_t n, size_t elem);
void vec_free_(void *v);

/* A growing array copied into the arena; vec_len works on the result. The original is freed. */
void *vec_freeze_(arena *mem, void *v, size_t elem);
#define vec_freeze(mem, v) ((v) = vec_freeze_((mem), (v), sizeof *(v)))
/* An array of n zeroed elements in the arena on which vec_len works; NULL for n = 0. */
void *vec_fixed_(arena *mem, size_t n, size_t elem);
#define vec_fixed(mem, type, n) ((type *)vec_fixed_((mem), (n), sizeof(type)))

/* Orders for qsort of int32_t and of double, ascending; no element is NaN. */
int vec_by_number(const void *a, const void *b);
int vec_by_value(const void *a, const void *b);
/* A number and where it stood; its order for qsort: ascending, NaN last, equal ones by place. */
typedef struct vec_placed {
    double x;
    int64_t at;
} vec_placed;
int vec_by_placed(const void *a, const void *b);

#endif
