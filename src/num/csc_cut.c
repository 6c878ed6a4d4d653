/* csc_cut.c - see csc_cut.h. */
#include "csc_cut.h"

#include <string.h>

static void cut_rows(csc_cut *r, const csc *a)
{
    const int64_t nnz = csc_nnz(a);
    int32_t *len = vs_calloc((size_t)a->n + 1, sizeof *len), part = 1;
    int64_t sum = 0;
    for (int64_t k = 0; k < nnz; k++)
        len[a->row[k]]++;
    for (int32_t i = 0; i < a->n; i++) {
        while (part < r->n_part && sum >= nnz * part / r->n_part)
            r->row[part++] = i;
        sum += len[i];
    }
    while (part <= r->n_part)
        r->row[part++] = a->n;
    vs_free(len);
}

static void cut_columns(csc_cut *r, const csc *a)
{
    for (int32_t p = 0; p <= r->n_part; p++)
        for (int32_t j = 0; j < a->n; j++) {
            int32_t k = p ? r->at[(size_t)(p - 1) * (size_t)a->n + (size_t)j] : a->colptr[j];
            while (k < a->colptr[j + 1] && a->row[k] < r->row[p])
                k++;
            r->at[(size_t)p * (size_t)a->n + (size_t)j] = k;
        }
    for (int32_t p = 0; p < r->n_part; p++) {
        const int32_t *at = r->at + (size_t)p * (size_t)a->n, *next = at + a->n;
        int32_t begin = 0, end = a->n;
        while (begin < end && at[begin] == next[begin])
            begin++;
        while (end > begin && at[end - 1] == next[end - 1])
            end--;
        r->col[2 * p] = begin;
        r->col[2 * p + 1] = end;
    }
}

static csc_cut *empty(arena *mem, const csc *a, int32_t n_part)
{
    csc_cut *r = arena_new(mem, csc_cut);
    r->n_part = n_part;
    r->row = arena_array(mem, int32_t, n_part + 1);
    r->col = arena_array(mem, int32_t, 2 * n_part);
    r->at = arena_array(mem, int32_t, (size_t)(n_part + 1) * (size_t)(a->n + 1));
    return r;
}

csc_cut *csc_cut_new(arena *mem, const csc *a, int32_t n_part)
{
    csc_cut *r = empty(mem, a, n_part);
    cut_rows(r, a);
    cut_columns(r, a);
    return r;
}

csc_cut *csc_cut_like(arena *mem, const csc *a, const csc_cut *rows)
{
    csc_cut *r = empty(mem, a, rows->n_part);
    memcpy(r->row, rows->row, (size_t)(rows->n_part + 1) * sizeof *r->row);
    cut_columns(r, a);
    return r;
}
