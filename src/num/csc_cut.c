/* csc_cut.c - see csc_cut.h. */
#include "csc_cut.h"

#include <math.h>
#include <string.h>

/* A row with more entries is near everything: it says nothing of who belongs together. */
enum { HUB = 64 };

/* Blocks of a part at least, and rows of a block at most: blocks of 32 rows made sums of circuits
 * of 30,000 unknowns a third slower, where lines lay between two of them. */
enum { BLOCKS = 16, MOST_ROWS = 256 };

static int32_t rows_of_block(int32_t n, int32_t n_part)
{
    int32_t block = MOST_ROWS;
    while (block > 1 && (int64_t)block * BLOCKS * n_part > n)
        block /= 2;
    return block;
}

static int32_t n_block(const csc_cut *r, int32_t n) { return (n + r->block - 1) / r->block; }

static bool is_hub(const csc *a, int32_t j) { return a->colptr[j + 1] - a->colptr[j] > HUB; }

/* Blocks breadth first from `from` to the end of `order`, [*n]. seen [blocks]: those that are
 * there. */
static void spread(const csc_cut *r, const csc *a, int32_t from, bool *seen, int32_t *order,
                   int32_t *n)
{
    int32_t next = *n;
    seen[from] = true;
    order[(*n)++] = from;
    while (next < *n) {
        const int32_t begin = order[next++] * r->block;
        for (int32_t j = begin; j < begin + r->block && j < a->n; j++)
            for (int32_t k = a->colptr[j]; k < a->colptr[j + 1] && !is_hub(a, j); k++) {
                const int32_t b = a->row[k] / r->block;
                if (seen[b] || is_hub(a, a->row[k]))
                    continue;
                seen[b] = true;
                order[(*n)++] = b;
            }
    }
}

/* All blocks, those side by side that are near each other: in each piece of the graph from one that
 * is far from the others. From there not all is reached again where entries stand on one side of
 * the diagonal alone. */
static void order_blocks(const csc_cut *r, const csc *a, int32_t *order)
{
    const int32_t blocks = n_block(r, a->n);
    bool *seen = vs_calloc((size_t)blocks + 1, sizeof *seen);
    int32_t n = 0;
    for (int32_t b = 0; b < blocks; b++) {
        const int32_t first = n;
        if (seen[b])
            continue;
        spread(r, a, b, seen, order, &n);
        const int32_t far = order[n - 1];
        for (; n > first; n--)
            seen[order[n - 1]] = false;
        spread(r, a, far, seen, order, &n);
        if (!seen[b])
            spread(r, a, b, seen, order, &n);
    }
    vs_free(seen);
}

/* What a block costs: entries, and rows. Returns the sum. */
static int64_t count_costs(const csc_cut *r, const csc *a, const int32_t *more, int32_t *cost)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < a->n; i++)
        cost[i / r->block] += CSC_CUT_ROW + (more ? more[i] : 0);
    for (int64_t k = 0; k < csc_nnz(a); k++)
        cost[a->row[k] / r->block]++;
    for (int32_t b = 0; b < n_block(r, a->n); b++)
        sum += cost[b];
    return sum;
}

/* A part's share when some have more than that already: load [n_part] of `sum` in all. */
static double even_share(const int64_t *load, int32_t n_part, int64_t sum)
{
    double share = (double)sum / n_part, before = INFINITY;
    while (share < before) {
        double left = (double)sum;
        int32_t n = 0;
        for (int32_t p = 0; p < n_part; p++) {
            n += (double)load[p] <= share;
            left -= (double)load[p] <= share ? 0 : (double)load[p];
        }
        before = share;
        share = n ? left / n : share;
    }
    return share;
}

/* Blocks of rows that are near everything, as those of supplies, stand anywhere: each where the
 * least is. The others fill the parts in their order. */
static void share_out(csc_cut *r, const csc *a, const int32_t *more)
{
    enum { HEAVY = 4 }; /* times the mean */
    const int32_t blocks = n_block(r, a->n);
    int32_t *cost = vs_calloc((size_t)blocks + 1, sizeof *cost),
            *order = vs_malloc(((size_t)blocks + 1) * sizeof *order), part = 0, light = 0;
    int64_t *load = vs_calloc((size_t)r->n_part, sizeof *load);
    const int64_t sum = count_costs(r, a, more, cost);
    order_blocks(r, a, order);
    for (int32_t i = 0; i < blocks; i++) {
        const int32_t b = order[i];
        if ((int64_t)cost[b] * blocks <= HEAVY * sum) {
            order[light++] = b;
            continue;
        }
        int32_t least = 0;
        for (int32_t p = 1; p < r->n_part; p++)
            least = load[p] < load[least] ? p : least;
        r->of[b] = least;
        load[least] += cost[b];
    }
    const double share = even_share(load, r->n_part, sum);
    double room = fmax(share - (double)load[0], 0); /* of the parts so far */
    for (int32_t i = 0; i < light; i++) {
        const double half = 0.5 * cost[order[i]];
        for (; part + 1 < r->n_part && room < half; part++)
            room += fmax(share - (double)load[part + 1], 0);
        r->of[order[i]] = part;
        room -= 2 * half;
    }
    vs_free(load);
    vs_free(cost);
    vs_free(order);
}

/* The blocks of each part, those side by side as one run. */
static void list_runs(csc_cut *r, arena *mem, int32_t n)
{
    const int32_t blocks = n_block(r, n);
    for (int32_t b = 0; b < blocks; b++)
        r->run_at[r->of[b]] += b == 0 || r->of[b] != r->of[b - 1];
    r->run = arena_array(mem, csc_run, csc_begins(r->run_at, r->n_part));
    for (int32_t b = 0, end; b < blocks; b = end) {
        for (end = b + 1; end < blocks && r->of[end] == r->of[b];)
            end++;
        const int32_t last = end * r->block;
        r->run[r->run_at[r->of[b]]++] = (csc_run){b * r->block, last < n ? last : n};
    }
    csc_ends_to_begins(r->run_at, r->n_part);
}

/* The first entry of a column from k on that is in another part than that of k. */
static int32_t piece_end(const csc_cut *r, const csc *a, int32_t k, int32_t end)
{
    const int32_t part = csc_cut_part(r, a->row[k]);
    while (k < end && csc_cut_part(r, a->row[k]) == part)
        k++;
    return k;
}

static void list_pieces(csc_cut *r, arena *mem, const csc *a)
{
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j], end = a->colptr[j + 1]; k < end; k = piece_end(r, a, k, end))
            r->piece_at[csc_cut_part(r, a->row[k])]++;
    r->piece = arena_array(mem, csc_piece, csc_begins(r->piece_at, r->n_part));
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j], end = a->colptr[j + 1], next; k < end; k = next) {
            next = piece_end(r, a, k, end);
            r->piece[r->piece_at[csc_cut_part(r, a->row[k])]++] = (csc_piece){j, k, next};
        }
    csc_ends_to_begins(r->piece_at, r->n_part);
}

static csc_cut *empty(arena *mem, int32_t n, int32_t n_part)
{
    csc_cut *r = arena_new(mem, csc_cut);
    r->n_part = n_part;
    r->block = rows_of_block(n, n_part);
    r->of = arena_array(mem, int32_t, n_block(r, n) + 1);
    r->run_at = arena_array(mem, int32_t, n_part + 1);
    r->piece_at = arena_array(mem, int32_t, n_part + 1);
    return r;
}

csc_cut *csc_cut_new(arena *mem, const csc *a, const int32_t *more, int32_t n_part)
{
    csc_cut *r = empty(mem, a->n, n_part);
    share_out(r, a, more);
    list_runs(r, mem, a->n);
    list_pieces(r, mem, a);
    return r;
}

csc_cut *csc_cut_like(arena *mem, const csc *a, const csc_cut *rows)
{
    csc_cut *r = empty(mem, a->n, rows->n_part);
    memcpy(r->of, rows->of, (size_t)n_block(r, a->n) * sizeof *r->of);
    list_runs(r, mem, a->n);
    list_pieces(r, mem, a);
    return r;
}
