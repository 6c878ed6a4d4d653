/* lu_super_solve.c - solutions with the factors of lu_super.c, by one thread or several.
 *
 * The largest block of BTF is cut into units: parts that do not depend on each other
 * (lu_super_split.c, by L and by U), and the supernodes that join them, some at a time. A unit
 * computes its own rows of y and writes no others. Below, parts come first: what their columns do
 * to rows of others goes to copies that they have of these rows. A joining unit adds up the copies
 * of its rows, part after part, then subtracts in ascending order what the blocks of other joining
 * units do to its rows; it waits for each of them. Above, the joining units come first, from the
 * last on; a unit subtracts what columns of later units do to its rows, in descending order, among
 * its own columns. Units begin in the order of a job's pieces, and wait only for earlier ones. How
 * a block is cut does not depend on threads, so each row's sums have one order. Threads are at home
 * with parts and with units that join parts of one home only. */
#include "lu_super_priv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "vec.h"

enum {
    LEAST_IN_UNITS = 20000, /* entries of L and U in a block that is cut */
    PARTS = 16, /* of its entries are the most that a part has: fewer serve few threads, of more the
                   supernodes that join them are more */
    JOINED_COLUMNS = 64, /* columns of a unit of joining supernodes: more are longer rows and fewer
                            waits, but a longer chain of units that wait for each other */
    LANES = 8,           /* sums of a row above its block */
    CHUNK = 2048,   /* its entries that are summed at once: a supply's current has more; threads
                            share the chunks, which are added in their order */
    PIECE = 1 << 16 /* values that are rounded at a time */
};

/* Of a pivot, what may be left out of its row. */
#define SMALL_PART 1e-20

typedef struct run { /* rows of a supernode's block, by place there */
    int32_t super, begin, end;
} run;

typedef struct range { /* supernodes of a unit with nothing between them */
    int32_t from, end;
} range;

typedef struct copied { /* what a part does to a row of a joining unit */
    int32_t row, place; /* in y */
} copied;

typedef struct turn {  /* segments of U in a joining unit's rows, up to `end` */
    int32_t end, unit; /* of whose columns they are */
} turn;

struct lu_units {
    int32_t block;   /* of BTF; -1: none is in units */
    bool shared;     /* by the threads of the pool */
    double *y;       /* [n + copy_at[n_task]] right side and solution; copies */
    double *chunk;   /* sums of the chunks of a row above the blocks */
    const double *b; /* of the present solution, [n] */
    double *x;       /* likewise */
    lu_split split;
    int32_t n_unit;
    int32_t *at; /* [n_unit + 1] supernodes of a unit, in split.list: parts, then the others */
    int32_t *range_at;  /* [n_unit + 1] in range */
    range *range;       /* the same, ascending in each unit */
    int32_t *unit;      /* [n_super] of a supernode; -1: other blocks */
    int32_t *target;    /* as s->idx, places in y: of a part's columns rows of others are copies */
    int32_t *copy_at;   /* [n_task + 1] copies of a part, behind n */
    int32_t *own_end;   /* [n_super] of a joining unit: rows of the block up to there are its own */
    int32_t *copied_at; /* [n_unit + 1] in copied */
    copied *copied;     /* by joining unit, parts ascending */
    int32_t *from_at;   /* [n_unit + 1] in from */
    run *from;          /* rows of a joining unit in blocks of others, by unit, ascending */
    int32_t *turn_at;   /* [n_super] in turn, of supernodes of joining units */
    turn *turn;         /* by joining unit, as its supernodes' segments stand, the last first */
    /* homes (pool_run_homes) */
    int32_t n_home;
    int32_t n_shared;                 /* units that join homes */
    int32_t *with;                    /* [n_unit] its home; -1: it joins homes */
    int32_t *below, *above;           /* [n_unit] the order in which they are begun */
    int32_t *home_below, *home_above; /* [n_home + 1] in these */
    int32_t *joins;                   /* [n_home] in below: where units that join parts begin */
    _Atomic uint32_t *done;           /* [n_unit] the last pass that has it */
    _Atomic int32_t n_done;           /* below: parts, above: units that join homes */
    bool as_if; /* of the pool; keys: units, and n_unit for those counted in n_done */
    uint32_t pass;
    lu_super *s; /* of the present solution */
};

static inline bool is_part(const lu_units *h, int32_t u) { return u < h->split.n_task; }

/* -- plan -- */

static double entries_of(const lu_super *s, int32_t o)
{
    const double rows = s->ip[o + 1] - s->ip[o], columns = s->start[o + 1] - s->start[o];
    return rows * columns + (double)(s->value_at[o] - s->value_at[o + 1]);
}

/* The next run of rows in one supernode, of o's block from place `begin` on. */
static run next_run(const lu_super *s, int32_t o, int32_t begin)
{
    const int32_t *id = s->idx + s->ip[o], n = s->ip[o + 1] - s->ip[o];
    const int32_t t = s->of[id[begin]];
    int32_t end = begin + 1;
    while (end < n && s->of[id[end]] == t)
        end++;
    return (run){t, begin, end};
}

/* The supernodes [from, end) that each depends on, by L and by U: dep [at[o] .. at[o + 1]). */
static int32_t *list_needs(const lu_super *s, int32_t from, int32_t end, int32_t *at)
{
    int32_t *dep = NULL;
    for (int pass = 0; pass < 2; pass++) { /* counted, then listed */
        for (int32_t o = from; o < end; o++) {
            const int32_t rows = s->ip[o + 1] - s->ip[o];
            run r = {.end = s->start[o + 1] - s->start[o]};
            for (int32_t i = r.end; i < rows; i = r.end) {
                r = next_run(s, o, i);
                if (dep)
                    dep[at[r.super]] = o;
                at[r.super]++;
            }
            for (int32_t g = s->gp[s->start[o]]; g < s->gp[s->start[o + 1]]; g++) {
                if (dep)
                    dep[at[o]] = s->of[s->seg[g]];
                at[o]++;
            }
        }
        if (!pass)
            dep = vs_calloc((size_t)csc_begins(at + from, end - from) + 1, sizeof *dep);
    }
    csc_ends_to_begins(at + from, end - from);
    return dep;
}

/* Makes units of the supernodes that join parts: runs of them. */
static void join_supernodes(lu_units *h, const lu_super *s)
{
    const int32_t end = h->split.task[h->split.n_task] + h->split.n_top;
    h->n_unit = h->split.n_task;
    for (int32_t i = h->at[h->n_unit]; i < end;) {
        int32_t columns = 0;
        for (; i < end; i++) {
            const int32_t o = h->split.list[i], width = s->start[o + 1] - s->start[o];
            if (columns && columns + width > JOINED_COLUMNS)
                break;
            columns += width;
        }
        h->at[++h->n_unit] = i;
    }
}

/* What units need of others, and their entries. The graph's lists are vecs of the caller. */
static void graph_of_units(const lu_units *h, const lu_super *s, const int32_t *at,
                           const int32_t *dep, int32_t **begin, int32_t **needs, double *entries)
{
    int32_t *seen = vs_calloc((size_t)h->n_unit + 1, sizeof *seen);
    for (int32_t u = 0; u < h->n_unit; u++) {
        vec_push(*begin, (int32_t)vec_len(*needs));
        for (int32_t i = h->at[u]; i < h->at[u + 1]; i++) {
            const int32_t o = h->split.list[i];
            entries[u] += entries_of(s, o);
            for (int32_t k = at[o]; k < at[o + 1]; k++) {
                const int32_t v = h->unit[dep[k]];
                if (v != u && seen[v] != u + 1)
                    vec_push(*needs, v);
                seen[v] = u + 1;
            }
        }
    }
    vec_push(*begin, (int32_t)vec_len(*needs));
    vs_free(seen);
}

/* Of each unit the thread with most of what it solves with: the factors' homes. */
static int32_t *near_factors(const lu_units *h, const lu_super *s)
{
    const int32_t end = h->at[h->n_unit];
    int32_t *near = lu_nobody(h->n_unit);
    double *lead = vs_calloc((size_t)h->n_unit + 1, sizeof *lead);
    for (int32_t i = 0; i < end; i++) {
        const int32_t o = h->split.list[i], u = h->unit[o];
        if (s->with[o] >= 0)
            lu_vote(&near[u], &lead[u], s->with[o], entries_of(s, o));
    }
    vs_free(lead);
    return near;
}

/* The parts of home w from place n of the lower pass on, the one with the most entries first: the
 * last ones, which others may take, are small. */
static int32_t list_parts(lu_units *h, const double *entries, int32_t w, int32_t n)
{
    const int32_t first = n;
    for (int32_t u = 0; u < h->split.n_task; u++) {
        if (h->with[u] != w)
            continue;
        int32_t at = n++;
        for (; at > first && entries[u] > entries[h->below[at - 1]]; at--)
            h->below[at] = h->below[at - 1];
        h->below[at] = u;
    }
    return n;
}

/* In which order units are begun: below the parts of a home, the units that join these, ascending,
 * at last the units that join homes; above these come first, and all from the last one on. */
static void list_orders(lu_units *h, const double *entries)
{
    const int32_t joining = h->split.n_task, n_unit = h->n_unit;
    int32_t below = 0, above = 0;
    for (int32_t u = n_unit - 1; u >= joining; u--)
        if (h->with[u] < 0)
            h->above[above++] = u;
    h->n_shared = above;
    for (int32_t w = 0; w < h->n_home; w++) {
        h->home_below[w] = below;
        h->home_above[w] = above;
        h->joins[w] = below = list_parts(h, entries, w, below);
        for (int32_t u = joining; u < n_unit; u++)
            if (h->with[u] == w)
                h->below[below++] = u;
        for (int32_t i = below - 1; i >= h->joins[w]; i--)
            h->above[above++] = h->below[i];
        for (int32_t i = h->home_below[w]; i < h->joins[w]; i++)
            h->above[above++] = h->below[i];
    }
    h->home_below[h->n_home] = below;
    h->home_above[h->n_home] = above;
    for (int32_t i = h->n_shared - 1; i >= 0; i--)
        h->below[below++] = h->above[i];
}

/* Parts always get a home. */
static void share_units(lu_units *h, const lu_super *s, const int32_t *at, const int32_t *dep,
                        double *entries)
{
    int32_t *begin = NULL, *needs = NULL;
    graph_of_units(h, s, at, dep, &begin, &needs, entries);
    int32_t *near = s->with ? near_factors(h, s) : NULL;
    lu_share_out(&(lu_graph){0, h->n_unit, begin, needs, near}, entries, h->n_home, h->with);
    for (int32_t u = 0; u < h->split.n_task; u++)
        h->with[u] = h->with[u] < 0 ? u % h->n_home : h->with[u];
    vs_free(near);
    vec_free(begin);
    vec_free(needs);
}

/* With which threads units are at home; one thread is with all. */
static void find_homes(lu_units *h, const lu_super *s, const int32_t *at, const int32_t *dep)
{
    const size_t n = (size_t)h->n_unit + 1, n_home = (size_t)pool_size(s->pool) + 1;
    double *entries = vs_calloc(n, sizeof *entries);
    int32_t **const of_unit[] = {&h->with, &h->below, &h->above},
                    **const of_home[] = {&h->home_below, &h->home_above, &h->joins};
    for (size_t i = 0; i < VS_COUNT(of_unit); i++) {
        *of_unit[i] = vs_calloc(n, sizeof(int32_t));
        *of_home[i] = vs_calloc(n_home, sizeof(int32_t));
    }
    h->n_home = pool_size(s->pool);
    if (h->n_home > 1)
        share_units(h, s, at, dep, entries);
    list_orders(h, entries);
    vs_free(entries);
}

static void find_units(lu_units *h, const lu_super *s, int32_t from, int32_t end, double limit)
{
    const size_t n = (size_t)s->n_super + 2;
    int32_t *at = vs_calloc(n, sizeof *at), *dep = list_needs(s, from, end, at);
    double *weight = vs_calloc(n, sizeof *weight);
    for (int32_t o = from; o < end; o++)
        weight[o] = entries_of(s, o);
    lu_super_split(&(lu_graph){from, end, at, dep, NULL}, weight, limit, &h->split);
    h->at = vs_calloc((size_t)(h->split.n_task + h->split.n_top) + 1, sizeof *h->at);
    memcpy(h->at, h->split.task, sizeof *h->at * ((size_t)h->split.n_task + 1));
    join_supernodes(h, s);
    h->unit = vs_malloc(n * sizeof *h->unit);
    memset(h->unit, -1, n * sizeof *h->unit);
    for (int32_t u = 0; u < h->n_unit; u++)
        for (int32_t i = h->at[u]; i < h->at[u + 1]; i++)
            h->unit[h->split.list[i]] = u;
    find_homes(h, s, at, dep);
    vs_free(at);
    vs_free(dep);
    vs_free(weight);
}

static void find_ranges(lu_units *h)
{
    const int32_t *list = h->split.list;
    h->range_at = vs_calloc((size_t)h->n_unit + 1, sizeof *h->range_at);
    h->range = vs_calloc((size_t)h->at[h->n_unit] + 1, sizeof *h->range);
    int32_t n = 0;
    for (int32_t u = 0; u < h->n_unit; u++) {
        for (int32_t i = h->at[u]; i < h->at[u + 1]; i++) {
            if (i > h->at[u] && list[i] == list[i - 1] + 1)
                h->range[n - 1].end++;
            else
                h->range[n++] = (range){list[i], list[i] + 1};
        }
        h->range_at[u + 1] = n;
    }
}

/* Places of lists while they are counted and filled. */
typedef struct filling {
    lu_units *h;
    const lu_super *s;
    bool fills;
    int32_t *copy; /* [n] of a row: the last one's place in y */
    int32_t n_copy, n_turn;
} filling;

/* Rows below supernode o of part u that are of others get copies, one a part. */
static void take_copies(filling *f, int32_t u, int32_t o)
{
    lu_units *h = f->h;
    const lu_super *s = f->s;
    const int32_t first = s->n + h->copy_at[u];
    for (int32_t i = s->ip[o]; i < s->ip[o + 1]; i++) {
        const int32_t row = s->idx[i], of = h->unit[s->of[row]];
        if (of == u)
            continue;
        assert(!is_part(h, of));
        if (f->copy[row] < first) {
            f->copy[row] = s->n + f->n_copy++;
            if (f->fills)
                h->copied[h->copied_at[of]] = (copied){row, f->copy[row]};
            h->copied_at[of]++;
        }
        h->target[i] = f->copy[row];
    }
}

/* Rows below supernode o of a joining unit: its own, then those of others. */
static void take_rows(filling *f, int32_t o)
{
    lu_units *h = f->h;
    const lu_super *s = f->s;
    const int32_t *id = s->idx + s->ip[o], rows = s->ip[o + 1] - s->ip[o], own = h->unit[o];
    int32_t i = s->start[o + 1] - s->start[o], end;
    while (i < rows && h->unit[s->of[id[i]]] == own)
        i++;
    h->own_end[o] = i;
    for (; i < rows; i = end) {
        const int32_t u = h->unit[s->of[id[i]]];
        for (end = i + 1; end < rows && h->unit[s->of[id[end]]] == u; end++)
            ;
        if (f->fills)
            h->from[h->from_at[u]] = (run){o, i, end};
        h->from_at[u]++;
    }
}

/* The segments of a joining unit's supernode o, of whose columns each is. */
static void take_turns(filling *f, int32_t o)
{
    lu_units *h = f->h;
    const lu_super *s = f->s;
    h->turn_at[o] = f->n_turn;
    for (int32_t j = s->row_at[o + 1], end; j < s->row_at[o]; j = end) {
        const int32_t u = h->unit[s->of[s->column[j]]];
        for (end = j + 1; end < s->row_at[o] && h->unit[s->of[s->column[end]]] == u; end++)
            ;
        if (f->fills)
            h->turn[f->n_turn] = (turn){end, u};
        f->n_turn++;
    }
}

/* Counts become places of lists; returns the room for them. */
static size_t add_up(int32_t *at, int32_t n) { return (size_t)csc_begins(at, n) + 1; }

static void fill(filling *f)
{
    lu_units *h = f->h;
    memset(f->copy, 0, sizeof *f->copy * (size_t)f->s->n);
    f->n_copy = f->n_turn = 0;
    for (int32_t u = 0; u < h->n_unit; u++) {
        for (int32_t i = h->at[u]; i < h->at[u + 1]; i++) {
            if (is_part(h, u))
                take_copies(f, u, h->split.list[i]);
            else
                take_rows(f, h->split.list[i]);
        }
        if (is_part(h, u))
            h->copy_at[u + 1] = f->n_copy;
        for (int32_t i = h->at[u + 1] - 1; i >= h->at[u] && !is_part(h, u); i--)
            take_turns(f, h->split.list[i]);
    }
}

static void make_lists(lu_units *h, const lu_super *s)
{
    const int32_t units = h->n_unit, rows = s->ip[s->n_super];
    int32_t **const at[] = {&h->from_at, &h->copied_at};
    filling f = {.h = h, .s = s, .copy = vs_calloc((size_t)s->n + 1, sizeof *f.copy)};
    h->target = vs_malloc(sizeof *h->target * ((size_t)rows + 1));
    memcpy(h->target, s->idx, sizeof *h->target * (size_t)rows);
    h->copy_at = vs_calloc((size_t)h->split.n_task + 1, sizeof *h->copy_at);
    h->own_end = vs_calloc((size_t)s->n_super + 1, sizeof *h->own_end);
    h->turn_at = vs_calloc((size_t)s->n_super + 1, sizeof *h->turn_at);
    for (size_t i = 0; i < VS_COUNT(at); i++)
        *at[i] = vs_calloc((size_t)units + 1, sizeof(int32_t));
    fill(&f);
    h->from = vs_calloc(add_up(h->from_at, units), sizeof *h->from);
    h->copied = vs_calloc(add_up(h->copied_at, units), sizeof *h->copied);
    h->turn = vs_calloc((size_t)f.n_turn + 1, sizeof *h->turn);
    f.fills = true;
    fill(&f);
    for (size_t i = 0; i < VS_COUNT(at); i++)
        csc_ends_to_begins(*at[i], units);
    vs_free(f.copy);
}

/* The block of BTF with the most entries, which are returned. */
static double largest_block(const lu_super *s, int32_t *block)
{
    double most = 0;
    *block = -1;
    for (int32_t b = 0; b < s->n_block; b++) {
        double sum = 0;
        for (int32_t o = s->of[s->block[b]]; o <= s->of[s->block[b + 1] - 1]; o++)
            sum += entries_of(s, o);
        if (sum > most) {
            most = sum;
            *block = b;
        }
    }
    return most;
}

lu_units *lu_units_new(const lu_super *s, double least)
{
    int32_t block;
    const double entries = largest_block(s, &block);
    lu_units *h = vs_calloc(1, sizeof *h);
    h->block = -1;
    if (entries >= LEAST_IN_UNITS) {
        h->block = block;
        h->shared = pool_size(s->pool) > 1 && entries >= least;
        find_units(h, s, s->of[s->block[block]], s->of[s->block[block + 1] - 1] + 1,
                   entries / PARTS);
        h->done = vs_calloc((size_t)h->n_unit + 1, sizeof *h->done);
        find_ranges(h);
        make_lists(h, s);
    }
    const int32_t copies = h->block < 0 ? 0 : h->copy_at[h->split.n_task];
    h->y = vs_calloc((size_t)s->n + (size_t)copies + 1, sizeof *h->y);
    h->chunk = vs_calloc((size_t)s->n / CHUNK + 1, sizeof *h->chunk);
    return h;
}

void lu_units_free(lu_units **ph)
{
    lu_units *h = *ph;
    if (!h)
        return;
    lu_split_free(&h->split);
    void *const all[] = {h->with,       h->below,       h->above,   h->home_below, h->joins,
                         h->home_above, h->range_at,    h->range,   h->y,          h->at,
                         h->unit,       h->target,      h->copy_at, h->own_end,    h->copied_at,
                         h->copied,     h->from_at,     h->from,    h->turn_at,    h->turn,
                         h->chunk,      (void *)h->done};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vs_free(h);
    *ph = NULL;
}

/* -- solution -- */

static inline bool is_done(const lu_units *h, int32_t u)
{
    return atomic_load_explicit(&h->done[u], memory_order_acquire) == h->pass;
}

static void await(lu_units *h, int32_t u, int worker)
{
    if (h->as_if)
        pool_need(h->s->pool, u);
    if (is_done(h, u))
        return;
    const double paused = pool_pause(h->s->pool);
    for (int n = 0; !is_done(h, u); n++)
        pool_wait(n);
    pool_resume(h->s->pool, worker, paused);
}

/* All parts below, all units that join homes above. */
static void await_all(lu_units *h, int32_t all, int worker)
{
    if (h->as_if)
        pool_need(h->s->pool, h->n_unit);
    if (atomic_load_explicit(&h->n_done, memory_order_acquire) == all)
        return;
    const double paused = pool_pause(h->s->pool);
    for (int n = 0; atomic_load_explicit(&h->n_done, memory_order_acquire) != all; n++)
        pool_wait(n);
    pool_resume(h->s->pool, worker, paused);
}

/* Units of a home: places [begin, end) of the lower pass. */
static void await_home(lu_units *h, int32_t begin, int32_t end, int worker)
{
    for (int32_t i = begin; i < end; i++)
        await(h, h->below[i], worker);
}

static inline void finish(lu_units *h, int32_t u)
{
    atomic_store_explicit(&h->done[u], h->pass, memory_order_release);
    if (h->as_if)
        pool_made(h->s->pool, u);
}

static inline void count(lu_units *h)
{
    atomic_fetch_add_explicit(&h->n_done, 1, memory_order_release);
    if (h->as_if)
        pool_made(h->s->pool, h->n_unit);
}

/* -- rows above the blocks: what later blocks do to those before them -- */

static int32_t chunks_of(const lu_super *s, int32_t k)
{
    return (s->fp[k + 1] - s->fp[k] + CHUNK - 1) / CHUNK;
}

/* Entries j to end - 1 of a row. */
static double above_of(const lu_super *s, int32_t j, int32_t end, const double *restrict y)
{
    double sum[LANES] = {0};
    for (; end - j >= LANES; j += LANES)
        for (int i = 0; i < LANES; i++)
            sum[i] += s->fx[j + i] * y[s->fcol[j + i]];
    for (int i = 0; j < end; j++, i++)
        sum[i] += s->fx[j] * y[s->fcol[j]];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

typedef struct long_row {
    const lu_units *h;
    int32_t k, n_part;
} long_row;

static void chunk_part(void *user, int32_t i, int worker)
{
    const long_row *r = user;
    const lu_super *s = r->h->s;
    const int32_t n = chunks_of(s, r->k), last = pool_part(n, i + 1, r->n_part);
    (void)worker;
    for (int32_t c = pool_part(n, i, r->n_part); c < last; c++) {
        const int32_t from = s->fp[r->k] + c * CHUNK, end = s->fp[r->k + 1];
        r->h->chunk[c] = above_of(s, from, c < n - 1 ? from + CHUNK : end, r->h->y);
    }
}

static double above_row(const lu_units *h, int32_t k)
{
    const lu_super *s = h->s;
    const int32_t n = chunks_of(s, k);
    if (n < 2)
        return above_of(s, s->fp[k], s->fp[k + 1], h->y);
    pool *team = h->shared ? s->pool : NULL;
    long_row r = {h, k, pool_size(team)};
    double sum = 0;
    pool_run_each(team, POOL_SOLVE, r.n_part, chunk_part, &r);
    for (int32_t c = 0; c < n; c++)
        sum += h->chunk[c];
    return sum;
}

/* The right side of unit u, without what later blocks of BTF do to it. */
static void load_unit(lu_units *h, int32_t u)
{
    const lu_super *s = h->s;
    double *y = h->y;
    for (const range *r = h->range + h->range_at[u]; r < h->range + h->range_at[u + 1]; r++) {
        const int32_t from = s->start[r->from], end = s->start[r->end];
        for (int32_t k = from; k < end; k++)
            y[k] = h->b[s->p[k]];
        for (int32_t j = s->fp[from]; j < s->fp[end]; j++)
            y[s->frow[j]] -= s->fx[j] * y[s->fcol[j]];
    }
}

static void store_unit(lu_units *h, int32_t u)
{
    const lu_super *s = h->s;
    for (const range *r = h->range + h->range_at[u]; r < h->range + h->range_at[u + 1]; r++)
        for (int32_t k = s->start[r->from]; k < s->start[r->end]; k++)
            h->x[s->q[k]] = h->y[k];
}

static void clear_copies(lu_units *h, int32_t u)
{
    const int32_t copies = h->copy_at[u + 1] - h->copy_at[u];
    memset(h->y + h->s->n + h->copy_at[u], 0, sizeof *h->y * (size_t)copies);
}

static void add_copies(lu_units *h, int32_t u)
{
    double *y = h->y;
    for (const copied *c = h->copied + h->copied_at[u]; c < h->copied + h->copied_at[u + 1]; c++)
        y[c->row] += y[c->place];
}

#define VALUE double
#define SUMS(name) name##_double
#define LOWER s->lx
#define UPPER s->ux
#include "lu_super_pass.h"

#define VALUE float
#define SUMS(name) name##_float
#define LOWER s->coarse_lx
#define UPPER s->coarse_ux
#include "lu_super_pass.h"

typedef struct passes { /* for values of one type */
    pool_fn lower, upper;
    void (*lower_alone)(lu_units *h);
    void (*block)(const lu_super *s, int32_t from, int32_t end, double *y);
} passes;

static const passes exact = {lower_unit_double, upper_unit_double, lower_alone_double,
                             solve_block_double},
                    rounded = {lower_unit_float, upper_unit_float, lower_alone_float,
                               solve_block_float};

static void run_pass(lu_units *h, pool_fn fn, const int32_t *home)
{
    h->pass++;
    atomic_store(&h->n_done, 0);
    pool_run_homes(h->shared ? h->s->pool : NULL, POOL_SOLVE, h->n_unit, home, h->n_home, fn, h);
}

static void solve_units(lu_units *h, const passes *by)
{
    h->as_if = h->shared && pool_is_as_if(h->s->pool);
    if (h->shared)
        run_pass(h, by->lower, h->home_below);
    else
        by->lower_alone(h);
    run_pass(h, by->upper, h->home_above);
}

/* b and x may be the same: b is read whole before x is written. */
static void solve_by(lu_super *s, const passes *by, const double *b, double *x)
{
    lu_units *h = s->units;
    double *y = h->y;
    h->s = s;
    h->b = b;
    h->x = x;
    for (int32_t i = 0; i < s->n_block; i++)
        for (int32_t k = s->block[i]; k < s->block[i + 1] && i != h->block; k++)
            y[k] = b[s->p[k]];
    for (int32_t i = s->n_block - 1; i >= 0; i--) {
        const int32_t k0 = s->block[i], k1 = s->block[i + 1];
        if (i == h->block) {
            solve_units(h, by);
            continue;
        }
        for (int32_t k = k0; k < k1; k++)
            if (s->fp[k] < s->fp[k + 1])
                y[k] -= above_row(h, k);
        by->block(s, s->of[k0], s->of[k1 - 1] + 1, y);
    }
    for (int32_t i = 0; i < s->n_block; i++)
        for (int32_t k = s->block[i]; k < s->block[i + 1] && i != h->block; k++)
            x[s->q[k]] = y[k];
}

void lu_super_solve(lu_super *s, const double *b, double *x) { solve_by(s, &exact, b, x); }

/* -- rounded factors -- */

typedef struct rounding {
    const double *from;
    float *to;
    int64_t n;
    _Atomic bool *wrong;
} rounding;

/* Numbers below FLT_MIN become 0. True: one is too large. */
VS_CLONES static bool round_values(const double *restrict from, int64_t n, float *restrict to)
{
    bool wrong = false;
    for (int64_t i = 0; i < n; i++) {
        const float v = (float)from[i];
        wrong |= !(fabsf(v) <= FLT_MAX);
        to[i] = fabsf(v) < FLT_MIN ? 0 : v;
    }
    return wrong;
}

/* Whether numbers below FLT_MIN are nothing beside all pivots. */
static bool small_is_nothing(const lu_super *s)
{
    double least = INFINITY;
    for (int32_t k = 0; k < s->n; k++)
        least = fmin(least, fabs(s->diag[k]));
    return least >= FLT_MIN / SMALL_PART;
}

static void round_piece(void *user, int32_t i, int worker)
{
    const rounding *r = user;
    const int64_t at = (int64_t)i * PIECE, n = r->n - at < PIECE ? r->n - at : PIECE;
    (void)worker;
    if (round_values(r->from + at, n, r->to + at))
        atomic_store(r->wrong, true);
}

static bool round_all(lu_super *s, const double *from, int64_t n, float *to)
{
    _Atomic bool wrong = false;
    rounding r = {from, to, n, &wrong};
    pool_run(s->units->shared ? s->pool : NULL, POOL_SOLVE, (int32_t)((n + PIECE - 1) / PIECE),
             round_piece, &r);
    return !wrong;
}

static void make_coarse(lu_super *s)
{
    const int64_t n_lower = s->lp[s->n_super], n_upper = s->value_at[0];
    if (!s->coarse_lx) {
        s->coarse_lx = vs_malloc(sizeof(float) * ((size_t)n_lower + 1));
        s->coarse_ux = vs_malloc(sizeof(float) * ((size_t)n_upper + 1));
    }
    const bool good =
        round_all(s, s->lx, n_lower, s->coarse_lx) && round_all(s, s->ux, n_upper, s->coarse_ux);
    s->coarse = good && small_is_nothing(s) ? LU_MADE : LU_OUT_OF_RANGE;
}

void lu_super_solve_coarse(lu_super *s, const double *b, double *x)
{
    if (s->coarse == LU_NOT_MADE)
        make_coarse(s);
    solve_by(s, s->coarse == LU_MADE ? &rounded : &exact, b, x);
}
