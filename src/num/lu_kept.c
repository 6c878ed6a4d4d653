/* lu_kept.c - see lu_kept.h. */
#include "lu_kept.h"

#include <string.h>

#include "heap.h"

void lu_kept_init(lu_kept *k, size_t n_a, size_t n_l) { *k = (lu_kept){.n_a = n_a, .n_l = n_l}; }

void lu_kept_fini(lu_kept *k)
{
    for (int i = 0; i < LU_KEPT; i++) {
        vs_free(k->set[i].a);
        vs_free(k->set[i].l);
    }
    vs_free(k->now.a);
    *k = (lu_kept){0};
}

/* Of the bits of all values, in their order (FNV-1a by words). */
static uint64_t mark_of(const double *a, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &a[i], sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29; /* the high bits of a number tell more than the low ones */
    }
    return h;
}

static bool is_of(const lu_kept *k, const lu_kept_set *s, uint64_t mark, const double *a)
{
    return s->a && s->mark == mark && !memcmp(s->a, a, k->n_a * sizeof *a);
}

/* Notes that this matrix is about to be factored. */
static void note(lu_kept *k, uint64_t mark)
{
    const int n = k->n_seen < LU_SEEN ? (int)k->n_seen : LU_SEEN;
    for (int i = 0; i < n && !k->recurs; i++)
        k->recurs = k->seen[i] == mark;
    k->seen[k->n_seen++ % LU_SEEN] = mark;
}

static void swap(lu_kept_set *a, lu_kept_set *b)
{
    const lu_kept_set t = *a;
    *a = *b;
    *b = t;
}

/* Where the present factors go: an empty place if there is memory for it, else the one that was not
 * used for the longest time. NULL: there is no memory. */
static lu_kept_set *place(lu_kept *k)
{
    lu_kept_set *oldest = NULL;
    for (lu_kept_set *s = k->set; s < k->set + LU_KEPT; s++) {
        if (!s->a && heap_room((k->n_a + k->n_l) * sizeof(double))) {
            s->a = vs_malloc((k->n_a + 1) * sizeof *s->a);
            s->l = vs_calloc(k->n_l + 1, sizeof *s->l);
            return s;
        }
        if (s->a && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    return oldest;
}

bool lu_kept_take(lu_kept *k, const double *a, double **l, double *rcond)
{
    const uint64_t mark = mark_of(a, k->n_a);
    k->now.l = *l;
    k->now.used = k->clock++;
    for (lu_kept_set *s = k->set; s < k->set + LU_KEPT; s++)
        if (is_of(k, s, mark, a)) {
            swap(&k->now, s);
            *l = k->now.l;
            *rcond = k->now.rcond;
            return true;
        }
    note(k, mark);
    lu_kept_set *s = k->recurs && k->now.a ? place(k) : NULL;
    if (s)
        swap(&k->now, s);
    k->now.mark = ~mark; /* of no matrix until lu_kept_made */
    *l = k->now.l;
    return false;
}

void lu_kept_made(lu_kept *k, const double *a, double *l, double rcond)
{
    k->now.l = l;
    k->now.rcond = rcond;
    if (!k->recurs)
        return;
    if (!k->now.a)
        k->now.a = vs_malloc((k->n_a + 1) * sizeof *k->now.a);
    memcpy(k->now.a, a, k->n_a * sizeof *a);
    k->now.mark = ~k->now.mark;
}
