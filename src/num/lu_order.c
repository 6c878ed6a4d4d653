/* lu_order.c - an ordering for a block of KLU's: AMD's, or that of AMD with other ties broken.
 * Minimum degree takes one of many nodes of the same degree, and which one follows from the order
 * that it is given. In chains and logic all are as good; in arrays, whose word and bit lines cross
 * and couple, the work of the factors differs by three times. So where a factorisation costs much
 * more than an ordering, AMD also begins from the other end, and without aggressive absorption. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <suitesparse/amd.h>

#include "lu_priv.h"
#include "pool.h"

/* Multiplications of a factorisation for each entry of the matrix, from which on others are tried:
 * an ordering takes some 60 ns for each entry, KLU some 0.5 ns for each multiplication. */
#define WORTH 200
/* Another ordering is taken if it leaves at most so much of the work: what is as good stays. */
#define PART 0.85

enum {
    OTHERS = 3,    /* that are tried */
    SHARED = 20000 /* entries from which on threads share them: an ordering takes 1 ms */
};

typedef struct pattern { /* CSC without values */
    int n;
    int *colptr, *row;
} pattern;

/* AMD's order of the nodes, its multiplications and entries of L. */
static bool order(const pattern *a, bool aggressive, int *perm, double *info)
{
    double control[AMD_CONTROL];
    amd_defaults(control);
    control[AMD_AGGRESSIVE] = aggressive;
    return amd_order(a->n, a->colptr, a->row, perm, control, info) >= AMD_OK;
}

/* Node n - 1 - j of `to` is node j of `from`. */
static void turn(const pattern *from, const pattern *to)
{
    const int n = from->n;
    int at = 0;
    for (int j = 0; j < n; j++) {
        to->colptr[j] = at;
        const int own = n - 1 - j;
        for (int k = from->colptr[own + 1] - 1; k >= from->colptr[own]; k--)
            to->row[at++] = n - 1 - from->row[k];
    }
    to->colptr[n] = at;
}

/* Another way to order. */
typedef struct other {
    const pattern *a;
    bool turned, aggressive;
    int *perm; /* [n] */
    bool good; /* it ended well */
    double info[AMD_INFO];
} other;

static void order_other(void *user, int32_t i, int worker)
{
    other *o = (other *)user + i;
    (void)worker;
    o->good = order(o->a, o->aggressive, o->perm, o->info);
}

/* Takes that order if it is much better. */
static void take(const other *o, int *perm, double *best)
{
    const int n = o->a->n;
    if (!o->good || !(o->info[AMD_NMULTSUBS_LU] <= PART * best[AMD_NMULTSUBS_LU]))
        return;
    for (int k = 0; k < n; k++)
        perm[k] = o->turned ? n - 1 - o->perm[k] : o->perm[k];
    memcpy(best, o->info, sizeof o->info);
}

/* Tries all others, each by one thread. False: no memory. */
static bool try_others(const pattern *a, const lu_ordering *with, int *perm, double *best,
                       klu_common *common)
{
    const size_t n = (size_t)a->n, nnz = (size_t)a->colptr[n], size = (OTHERS + 1) * n + 1 + nnz;
    int *room = klu_malloc(size, sizeof(int), common);
    if (!room)
        return false;
    const pattern b = {a->n, room + OTHERS * n, room + (OTHERS + 1) * n + 1};
    other way[OTHERS] = {{a, false, false, room, false, {0}},
                         {&b, true, true, room + n, false, {0}},
                         {&b, true, false, room + 2 * n, false, {0}}};
    turn(a, &b);
    pool_run(nnz >= SHARED ? with->pool : NULL, POOL_FACTOR, OTHERS, order_other, way);
    for (int i = 0; i < OTHERS; i++)
        take(&way[i], perm, best);
    klu_free(room, size, sizeof(int), common);
    return true;
}

int lu_order(int n, int *colptr, int *row, int *perm, klu_common *common)
{
    const pattern a = {n, colptr, row};
    lu_ordering *with = common->user_data;
    double info[AMD_INFO];
    if (!order(&a, true, perm, info))
        return 0;
    if (info[AMD_NMULTSUBS_LU] > WORTH * (double)colptr[n] &&
        !try_others(&a, with, perm, info, common))
        return 0;
    with->work += info[AMD_NMULTSUBS_LU];
    const double entries = info[AMD_LNZ] + n;
    return entries < INT_MAX ? (int)entries : INT_MAX;
}
