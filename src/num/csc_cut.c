/* csc_cut.c - see csc_cut.h. */
#include "csc_cut.h"

#include <math.h>
#include <string.h>

#include "vec.h"

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

/* Entries between blocks, those of hubs left out: of block b to others, or of others to b, w[k]
 * with to[k], k from at[b] to at[b + 1] - 1. */
typedef struct links {
    int32_t *at, *to, *w;
    int32_t *sum; /* [blocks] of w */
} links;

/* Two passes: counts, then fills. sum [blocks]: 0, and so again afterwards. */
static void walk_links(const csc_cut *r, const csc *a, links *l, int32_t *sum, bool fill)
{
    int32_t *near = vs_malloc(((size_t)n_block(r, a->n) + 1) * sizeof *near);
    for (int32_t b = 0; b < n_block(r, a->n); b++) {
        const int32_t begin = b * r->block;
        int32_t n = 0;
        for (int32_t j = begin; j < begin + r->block && j < a->n; j++)
            for (int32_t k = a->colptr[j]; k < a->colptr[j + 1] && !is_hub(a, j); k++) {
                const int32_t to = a->row[k] / r->block;
                if (to != b && !is_hub(a, a->row[k]) && sum[to]++ == 0)
                    near[n++] = to;
            }
        for (int32_t i = 0; i < n; sum[near[i++]] = 0) {
            const int32_t from[2] = {b, near[i]};
            for (int side = 0; side < 2; side++) {
                const int32_t at = l->at[from[side]]++;
                if (!fill)
                    continue;
                l->to[at] = from[1 - side];
                l->w[at] = sum[near[i]];
                l->sum[from[side]] += sum[near[i]];
            }
        }
    }
    vs_free(near);
}

static links find_links(const csc_cut *r, const csc *a)
{
    const size_t n = (size_t)n_block(r, a->n) + 1;
    int32_t *sum = vs_calloc(n, sizeof *sum);
    links l = {.at = vs_calloc(n, sizeof *l.at), .sum = vs_calloc(n, sizeof *l.sum)};
    walk_links(r, a, &l, sum, false);
    const size_t all = (size_t)csc_begins(l.at, (int32_t)n - 1) + 1;
    l.to = vs_malloc(all * sizeof *l.to);
    l.w = vs_malloc(all * sizeof *l.w);
    walk_links(r, a, &l, sum, true);
    csc_ends_to_begins(l.at, (int32_t)n - 1);
    vs_free(sum);
    return l;
}

static void free_links(links *l)
{
    vs_free(l->at);
    vs_free(l->to);
    vs_free(l->w);
    vs_free(l->sum);
}

/* Blocks from `from` on to the end of `order`, [*n], each time that after which the fewest entries
 * lead out. seen [blocks]: those that are there; in [blocks]: entries to these, 0 at first. */
static void spread(const links *l, int32_t from, bool *seen, int32_t *in, int32_t *order,
                   int32_t *n)
{
    const int32_t first = *n;
    int32_t *near = NULL; /* vec */
    vec_push(near, from);
    while (vec_len(near)) {
        size_t best = 0;
        for (size_t i = 1; i < vec_len(near); i++)
            if (2 * in[near[i]] - l->sum[near[i]] > 2 * in[near[best]] - l->sum[near[best]])
                best = i;
        const int32_t b = near[best];
        near[best] = vec_last(near);
        (void)vec_pop(near);
        seen[b] = true;
        order[(*n)++] = b;
        for (int32_t k = l->at[b]; k < l->at[b + 1]; k++) {
            const int32_t to = l->to[k];
            if (in[to] == 0 && to != from && !seen[to])
                vec_push(near, to);
            in[to] += l->w[k];
        }
    }
    for (int32_t i = first; i < *n; i++)
        in[order[i]] = 0;
    vec_free(near);
}

/* All blocks, those side by side that are near each other: in each piece of the graph from one that
 * is far from the others. */
static void order_blocks(const links *l, int32_t blocks, int32_t *order)
{
    bool *seen = vs_calloc((size_t)blocks + 1, sizeof *seen);
    int32_t *in = vs_calloc((size_t)blocks + 1, sizeof *in), n = 0;
    for (int32_t b = 0; b < blocks; b++) {
        const int32_t first = n;
        if (seen[b])
            continue;
        spread(l, b, seen, in, order, &n);
        const int32_t far = order[n - 1];
        for (; n > first; n--)
            seen[order[n - 1]] = false;
        spread(l, far, seen, in, order, &n);
    }
    vs_free(seen);
    vs_free(in);
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

/* -- blocks that change parts -- */

/* Parts to which blocks belong, and what they have: load [n_part], and of block b to part p as many
 * entries as to[b * n_part + p] says. */
typedef struct parting {
    int32_t n, n_part, *of, *to;
    const int32_t *cost;
    int64_t *load;
    int32_t *stays; /* [n] the round in which a block may move no more */
    double most;    /* load of a part */
} parting;

static void count_entries(parting *t, const links *l, int32_t b)
{
    for (int32_t k = l->at[b]; k < l->at[b + 1]; k++)
        t->to[b * t->n_part + t->of[l->to[k]]] += l->w[k];
}

static void move(parting *t, const links *l, int32_t b, int32_t part)
{
    const int32_t from = t->of[b];
    t->load[from] -= t->cost[b];
    t->load[part] += t->cost[b];
    for (int32_t k = l->at[b]; k < l->at[b + 1]; k++) {
        t->to[l->to[k] * t->n_part + from] -= l->w[k];
        t->to[l->to[k] * t->n_part + part] += l->w[k];
    }
    t->of[b] = part;
}

/* By how many fewer entries cross if block b goes to a part. */
static int32_t gain_of(const parting *t, int32_t b, int32_t part)
{
    return t->to[b * t->n_part + part] - t->to[b * t->n_part + t->of[b]];
}

/* May block b go to a part? A part that has too much gives to others that have less. */
static bool may_move(const parting *t, int32_t b, int32_t part)
{
    const int64_t from = t->load[t->of[b]], to = t->load[part] + t->cost[b];
    return (double)to <= t->most || to < from;
}

/* The best of all moves in a round, to *part; -1: there is none. */
static int32_t best_move(const parting *t, int32_t round, int32_t *part)
{
    int32_t best = -1, most = 0;
    for (int32_t b = 0; b < t->n; b++) {
        for (int32_t p = 0; p < t->n_part && t->stays[b] < round; p++) {
            if (p == t->of[b] || !may_move(t, b, p))
                continue;
            const int32_t gain = gain_of(t, b, p);
            if (best < 0 || gain > most) {
                best = b;
                most = gain;
                *part = p;
            }
        }
    }
    return best;
}

typedef struct moved {
    int32_t b, from;
} moved;

/* Blocks move, each once, the best one first, even where more entries cross for a while; then all
 * behind the best that there was go back. Returns by how many fewer entries cross. */
static int64_t refine_once(parting *t, const links *l, int32_t round)
{
    enum { PATIENCE = 64 };
    moved *list = NULL; /* vec */
    size_t keep = 0;
    int64_t sum = 0, best = 0;
    for (int32_t b, part;
         vec_len(list) < keep + PATIENCE && (b = best_move(t, round, &part)) >= 0;) {
        sum += gain_of(t, b, part);
        vec_push(list, ((moved){b, t->of[b]}));
        move(t, l, b, part);
        t->stays[b] = round;
        if (sum > best) {
            best = sum;
            keep = vec_len(list);
        }
    }
    for (size_t i = vec_len(list); i > keep; i--)
        move(t, l, list[i - 1].b, list[i - 1].from);
    vec_free(list);
    return best;
}

/* Fewer entries cross, and no part has more than it had, or than `room` above the mean.
 * Source: Fiduccia & Mattheyses, 19th Design Automation Conference, 1982. */
static void refine(parting *t, const links *l, double room, int64_t sum)
{
    enum { ROUNDS = 8, MOST = 4096 }; /* so large a table is looked through for each move */
    t->most = (double)sum / t->n_part + room;
    for (int32_t p = 0; p < t->n_part; p++)
        t->most = fmax(t->most, (double)t->load[p]);
    for (int32_t b = 0; b < t->n; b++)
        count_entries(t, l, b);
    for (int32_t round = 1; round <= ROUNDS && t->n <= MOST / t->n_part; round++)
        if (refine_once(t, l, round) <= 0)
            return;
}

/* Blocks of rows that are near everything, as those of supplies, stand anywhere: each goes where
 * the least is, and stays there. Those that are left: to the front of order [t->n]; returns how
 * many. */
static int32_t place_heavy(parting *t, int64_t sum, int32_t *order)
{
    enum { HEAVY = 4 }; /* times the mean */
    int32_t light = 0;
    for (int32_t i = 0; i < t->n; i++) {
        const int32_t b = order[i];
        if ((int64_t)t->cost[b] * t->n <= HEAVY * sum) {
            order[light++] = b;
            continue;
        }
        int32_t least = 0;
        for (int32_t p = 1; p < t->n_part; p++)
            least = t->load[p] < t->load[least] ? p : least;
        t->of[b] = least;
        t->load[least] += t->cost[b];
        t->stays[b] = INT32_MAX;
    }
    return light;
}

/* The others fill the parts in their order. */
static void fill_parts(parting *t, int64_t sum, const int32_t *order, int32_t n)
{
    const double share = even_share(t->load, t->n_part, sum);
    double room = fmax(share - (double)t->load[0], 0); /* of the parts so far */
    int32_t part = 0;
    for (int32_t i = 0; i < n; i++) {
        const double half = 0.5 * t->cost[order[i]];
        for (; part + 1 < t->n_part && room < half; part++)
            room += fmax(share - (double)t->load[part + 1], 0);
        t->of[order[i]] = part;
        t->load[part] += t->cost[order[i]];
        room -= 2 * half;
    }
}

static void share_out(csc_cut *r, const csc *a, const int32_t *more)
{
    const int32_t blocks = n_block(r, a->n);
    const size_t n = (size_t)blocks + 1, n_part = (size_t)r->n_part;
    int32_t *cost = vs_calloc(n, sizeof *cost), *order = vs_malloc(n * sizeof *order);
    const int64_t sum = count_costs(r, a, more, cost);
    parting t = {.n = blocks,
                 .n_part = r->n_part,
                 .of = r->of,
                 .to = vs_calloc(n * n_part, sizeof *t.to),
                 .cost = cost,
                 .load = vs_calloc(n_part, sizeof *t.load),
                 .stays = vs_calloc(n, sizeof *t.stays)};
    links l = find_links(r, a);
    order_blocks(&l, blocks, order);
    fill_parts(&t, sum, order, place_heavy(&t, sum, order));
    refine(&t, &l, (double)sum / (blocks + 1), sum);
    free_links(&l);
    vs_free(t.to);
    vs_free(t.load);
    vs_free(t.stays);
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
    r->n = n;
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
