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

/* Multiplications of a factorisation for each entry of the matrix, from which on others are tried:
 * an ordering takes some 60 ns for each entry, KLU some 0.5 ns for each multiplication. */
#define WORTH 200
/* Another ordering is taken if it leaves at most so much of the work: what is as good stays. */
#define PART 0.85

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
static void turn(const pattern *from, pattern *to)
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

/* Orders it from the given end into `other`, and takes that order if it is much better. */
static void try(const pattern *a, bool turned, bool aggressive, int *other, int *perm, double *best)
{
    double info[AMD_INFO];
    if (!order(a, aggressive, other, info) ||
        !(info[AMD_NMULTSUBS_LU] <= PART * best[AMD_NMULTSUBS_LU]))
        return;
    for (int k = 0; k < a->n; k++)
        perm[k] = turned ? a->n - 1 - other[k] : other[k];
    memcpy(best, info, sizeof info);
}

int lu_order(int n, int *colptr, int *row, int *perm, klu_common *common)
{
    const pattern a = {n, colptr, row};
    const size_t nnz = (size_t)colptr[n], size = (size_t)n * 2 + 1 + nnz;
    double info[AMD_INFO];
    if (!order(&a, true, perm, info))
        return 0;
    if (info[AMD_NMULTSUBS_LU] > WORTH * (double)nnz) {
        int *room = klu_malloc(size, sizeof(int), common);
        if (!room)
            return 0;
        pattern b = {n, room + n, room + 2 * n + 1};
        turn(&a, &b);
        try(&a, false, false, room, perm, info);
        try(&b, true, true, room, perm, info);
        try(&b, true, false, room, perm, info);
        klu_free(room, size, sizeof(int), common);
    }
    if (common->user_data)
        *(double *)common->user_data += info[AMD_NMULTSUBS_LU];
    const double entries = info[AMD_LNZ] + n;
    return entries < INT_MAX ? (int)entries : INT_MAX;
}
