/* csc.h - compressed sparse column matrix. Columns and rows from 0; rows ascending in a column.
 *
 * A circuit counts its unknowns from 1, unknown 0 being the reference node. An entry (row, col) of
 * two unknowns stands in row - 1 and column col - 1; one with the reference has no place, and what
 * is added to it goes to the value behind the last one. */
#ifndef CSC_H
#define CSC_H

#include <assert.h>
#include <string.h>

#include "vs.h"

typedef struct csc {
    int32_t n;       /* square */
    int32_t *colptr; /* [n+1] */
    int32_t *row;    /* [nnz] */
    double *val;     /* [nnz + 1]; the last one takes discarded stamps */
} csc;
static inline int32_t csc_nnz(const csc *a) { return a->colptr[a->n]; }

/* at [n + 1]: numbers of things, to where those of each begin. Returns how many there are. */
static inline int32_t csc_begins(int32_t *at, int32_t n)
{
    int32_t sum = 0;
    for (int32_t k = 0; k <= n; k++) {
        const int32_t here = at[k];
        at[k] = sum;
        sum += here;
    }
    return sum;
}

/* The places, each of which has moved to its end while its things were listed, to where those of
 * each begin. */
static inline void csc_ends_to_begins(int32_t *at, int32_t n)
{
    memmove(at + 1, at, sizeof *at * (size_t)n);
    at[0] = 0;
}

typedef uint64_t csc_entry; /* row << 32 | col, unknowns */
static inline csc_entry csc_entry_of(int32_t row, int32_t col)
{
    return (uint64_t)(uint32_t)row << 32 | (uint32_t)col;
}
static inline int32_t csc_entry_row(csc_entry e) { return (int32_t)(e >> 32); }
static inline int32_t csc_entry_col(csc_entry e) { return (int32_t)(e & 0xffffffffu); }

/* Index into the values of the entry in this row and column, from 0; -1: the pattern has none. */
static inline int32_t csc_find(const csc *a, int32_t row, int32_t col)
{
    int32_t lo = a->colptr[col], hi = a->colptr[col + 1];
    while (lo < hi) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (a->row[mid] < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < a->colptr[col + 1] && a->row[lo] == row ? lo : -1;
}

/* Index into the values of an entry of the pattern; nnz for the reference. */
static inline int32_t csc_slot(const csc *a, csc_entry e)
{
    const int32_t row = csc_entry_row(e) - 1, col = csc_entry_col(e) - 1;
    if (row < 0 || col < 0)
        return csc_nnz(a);
    const int32_t slot = csc_find(a, row, col);
    assert(slot >= 0);
    return slot;
}

#endif
