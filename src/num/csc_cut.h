/* csc_cut.h - the rows of a matrix, cut into parts for threads that share sums over its entries:
 * each adds to its own rows what one thread alone would, in the same order. So results have the
 * same bits for any number of parts.
 * Use:    csc_cut_new, csc_cut_like
 *
 * Rows that stand side by side mostly belong together, and share lines of the cache, which two
 * threads should not both write: blocks of them stay whole. A part has blocks that have few entries
 * with those of others, so that threads read little of what others write. */
#ifndef CSC_CUT_H
#define CSC_CUT_H

#include "arena.h"
#include "csc.h"

typedef struct csc_run { /* [begin, end) */
    int32_t begin, end;
} csc_run;

typedef struct csc_piece { /* entries [from, end) of a column */
    int32_t col, from, end;
} csc_piece;

/* Part p has the rows of run[run_at[p]] to run[run_at[p + 1] - 1], ascending, and of the entries
 * those there: piece[piece_at[p]] to piece[piece_at[p + 1] - 1], by columns, ascending. */
typedef struct csc_cut {
    int32_t n; /* rows */
    int32_t n_part;
    int32_t block; /* rows */
    int32_t *of;   /* [blocks] part of a block */
    int32_t *run_at, *piece_at;
    csc_run *run;
    csc_piece *piece;
} csc_cut;

/* Threads, and which rows each of them has. */
struct pool;
typedef struct csc_team {
    struct pool *pool;
    const csc_cut *rows; /* NULL: nobody has any. Those of a matrix of another size do not count */
} csc_team;

static inline int32_t csc_cut_part(const csc_cut *c, int32_t row) { return c->of[row / c->block]; }

/* A row is as much work as some entries, for loads and loops read many vectors. */
enum { CSC_CUT_ROW = 4 };

/* Parts of about as much work each; the values of a do not matter. more [n]: what a row takes
 * besides, in entries; NULL: nothing. Lives in mem. */
csc_cut *csc_cut_new(arena *mem, const csc *a, const int32_t *more, int32_t n_part);
/* a, with as many rows as those that `rows` cuts, in the same parts. */
csc_cut *csc_cut_like(arena *mem, const csc *a, const csc_cut *rows);

#endif
