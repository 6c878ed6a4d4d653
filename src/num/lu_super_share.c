/* lu_super_share.c - substitutions in the largest block of BTF by several threads.
 *
 * Units are parts that do not depend on each other (lu_super_split.c, by L and by U), and the
 * supernodes that join them, some at a time. A unit computes its own rows of y and writes no
 * others. Below, parts come first: what their columns do to rows of others are products that they
 * leave behind, for each row to fetch. A joining unit fetches, in ascending order, these products
 * and what the blocks of other joining units do to its rows; it waits for each of them. Above, the
 * joining units come first, from the last on; a unit subtracts what columns of later units do to
 * its rows, in descending order, among its own columns. So each row of y has the sums of one thread
 * in their order. Units begin in the order of a job's pieces, and wait only for earlier ones. */
#include <string.h>

#include "lu_super_priv.h"

/* Columns of a unit of joining supernodes: more are longer rows and fewer waits, but a longer chain
 * of units that wait for each other. */
enum { JOINED_COLUMNS = 64 };

typedef struct run { /* rows of a supernode's block, by place there */
    int32_t super, begin, end;
} run;

typedef struct item {   /* what others do to rows of a joining unit */
    int32_t super;      /* the columns, of products the first ones */
    int32_t begin, end; /* rows of its block, or in fetched */
    bool products;
} item;

typedef struct row_run { /* the same, of one supernode */
    int32_t begin, end;
    int32_t product; /* the first one's; -1: rows of the part itself, from which it subtracts */
} row_run;

typedef struct fetched { /* for a row */
    int32_t row, product;
} fetched;

typedef struct turn {  /* segments of U in a joining unit's rows, up to `end` */
    int32_t end, unit; /* of whose columns they are */
} turn;

struct lu_share {
    int32_t block;
    lu_split split;
    int32_t n_unit;
    int32_t *at;      /* [n_unit + 1] supernodes of a unit, in split.list: parts, then the others */
    int32_t *unit;    /* [n_super] of a supernode; -1: other blocks */
    int32_t *row_at;  /* [n_super + 1] in row */
    row_run *row;     /* rows below its columns: its unit's; of a part also those of others */
    int32_t *from_at; /* [n_unit + 1] in from */
    item *from;       /* by joining unit, ascending */
    int32_t *fetched_at; /* [n_unit + 1] in fetched */
    fetched *fetched;    /* by unit */
    double *product;     /* what parts leave behind */
    int32_t n_product;
    int32_t *turn_at;       /* [n_unit + 1] in turn */
    turn *turn;             /* by joining unit, as its supernodes' segments stand, the last first */
    _Atomic uint32_t *done; /* [n_unit] joining ones: the last pass that has it */
    _Atomic int32_t n_done; /* below: parts, above: joining units */
    bool as_if;             /* of the pool; keys: units, and n_unit for those counted in n_done */
    uint32_t pass;
    lu_super *s; /* of the present solution */
};

static inline bool is_part(const lu_share *h, int32_t u) { return u < h->split.n_task; }

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
        int32_t sum = 0;
        for (int32_t o = from; !pass && o <= end; o++) {
            const int32_t n = at[o];
            at[o] = sum;
            sum += n;
        }
        dep = dep ? dep : vs_calloc((size_t)sum + 1, sizeof *dep);
    }
    memmove(at + from + 1, at + from, sizeof *at * (size_t)(end - from));
    at[from] = 0;
    return dep;
}

/* Makes units of the supernodes that join parts: runs of them. */
static void join_supernodes(lu_share *h, const lu_super *s)
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

static void find_units(lu_share *h, const lu_super *s, int32_t from, int32_t end, double limit)
{
    const size_t n = (size_t)s->n_super + 2;
    int32_t *at = vs_calloc(n, sizeof *at), *dep = list_needs(s, from, end, at);
    double *weight = vs_calloc(n, sizeof *weight);
    for (int32_t o = from; o < end; o++)
        weight[o] = entries_of(s, o);
    lu_super_split(&(lu_graph){from, end, at, dep}, weight, limit, &h->split);
    h->at = vs_calloc((size_t)(h->split.n_task + h->split.n_top) + 1, sizeof *h->at);
    memcpy(h->at, h->split.task, sizeof *h->at * ((size_t)h->split.n_task + 1));
    join_supernodes(h, s);
    h->unit = vs_malloc(n * sizeof *h->unit);
    memset(h->unit, -1, n * sizeof *h->unit);
    for (int32_t u = 0; u < h->n_unit; u++)
        for (int32_t i = h->at[u]; i < h->at[u + 1]; i++)
            h->unit[h->split.list[i]] = u;
    vs_free(at);
    vs_free(dep);
    vs_free(weight);
}

/* Places of lists while they are counted and filled. */
typedef struct filling {
    lu_share *h;
    const lu_super *s;
    bool fills;
    int32_t *until; /* [n_unit] its products may join the last item until this supernode; 0: none */
    row_run last[1]; /* of the present supernode */
} filling;

static void add_from(filling *f, int32_t u, item i)
{
    int32_t *at = &f->h->from_at[u];
    if (f->fills)
        f->h->from[*at] = i;
    ++*at;
    f->until[u] = 0;
}

/* The first supernode of unit u behind o. */
static int32_t own_behind(const lu_share *h, int32_t u, int32_t o)
{
    for (int32_t i = h->at[u]; i < h->at[u + 1]; i++)
        if (h->split.list[i] > o)
            return h->split.list[i];
    return o; /* none: rows are below their columns */
}

/* Rows r of the block of part supernode o, which belong to unit u, fetch products. */
static void add_products(filling *f, int32_t u, int32_t o, run r)
{
    lu_share *h = f->h;
    const int32_t *id = f->s->idx + f->s->ip[o];
    if (o >= f->until[u]) {
        add_from(f, u, (item){o, h->fetched_at[u], 0, true});
        f->until[u] = own_behind(h, u, o);
    }
    for (int32_t i = r.begin; i < r.end; i++) {
        if (f->fills)
            h->fetched[h->fetched_at[u]] = (fetched){id[i], h->n_product};
        h->fetched_at[u]++;
        h->n_product++;
    }
    if (f->fills)
        h->from[h->from_at[u] - 1].end = h->fetched_at[u];
}

/* A run of a part's supernode o; begins: it is the first. Neighbours of a kind become one. */
static void add_row(filling *f, int32_t o, row_run r, bool begins)
{
    lu_share *h = f->h;
    int32_t *at = &h->row_at[o];
    row_run *last = f->last;
    if (!begins && last->end == r.begin && (last->product < 0) == (r.product < 0)) {
        last->end = r.end;
    } else {
        *last = r;
        ++*at;
    }
    if (f->fills)
        h->row[*at - 1] = *last;
}

/* Rows below the columns of o: to its own unit's list, or to that of the unit they are of. */
static void take_rows(filling *f, int32_t o)
{
    const lu_share *h = f->h;
    const lu_super *s = f->s;
    const int32_t *id = s->idx + s->ip[o], rows = s->ip[o + 1] - s->ip[o],
                  first = s->start[o + 1] - s->start[o];
    for (int32_t i = first, end; i < rows; i = end) {
        const int32_t u = h->unit[s->of[id[i]]];
        for (end = i + 1; end < rows && h->unit[s->of[id[end]]] == u; end++)
            ;
        const bool own = u == h->unit[o], part = is_part(h, h->unit[o]);
        if (own || part)
            add_row(f, o, (row_run){i, end, own ? -1 : h->n_product}, i == first);
        if (!own && part)
            add_products(f, u, o, (run){o, i, end});
        if (!own && !part)
            add_from(f, u, (item){o, i, end, false});
    }
}

/* The segments of a joining unit's supernode o, of whose columns each is. */
static void take_turns(filling *f, int32_t o)
{
    lu_share *h = f->h;
    const lu_super *s = f->s;
    int32_t *at = &h->turn_at[h->unit[o]];
    for (int32_t j = s->row_at[o + 1], end; j < s->row_at[o]; j = end) {
        const int32_t u = h->unit[s->of[s->column[j]]];
        for (end = j + 1; end < s->row_at[o] && h->unit[s->of[s->column[end]]] == u; end++)
            ;
        if (f->fills)
            h->turn[*at] = (turn){end, u};
        ++*at;
    }
}

/* Counts become places of lists; returns the room for them. */
static size_t add_up(int32_t *at, int32_t n) { return (size_t)csc_begins(at, n) + 1; }

/* Lists have moved their places to the ends. */
static void move_back(int32_t *at, int32_t n)
{
    memmove(at + 1, at, sizeof *at * (size_t)n);
    at[0] = 0;
}

static void fill(filling *f, int32_t from, int32_t end)
{
    f->h->n_product = 0;
    memset(f->until, 0, sizeof *f->until * (size_t)f->h->n_unit);
    for (int32_t o = from; o < end; o++)
        take_rows(f, o);
    for (int32_t o = end - 1; o >= from; o--)
        if (!is_part(f->h, f->h->unit[o]))
            take_turns(f, o);
}

static void make_lists(lu_share *h, const lu_super *s, int32_t from, int32_t end)
{
    const int32_t units = h->n_unit;
    int32_t **const at[] = {&h->from_at, &h->fetched_at, &h->turn_at};
    filling f = {.h = h, .s = s, .until = vs_calloc((size_t)units + 1, sizeof(int32_t))};
    h->row_at = vs_calloc((size_t)s->n_super + 1, sizeof(int32_t));
    for (size_t i = 0; i < VS_COUNT(at); i++)
        *at[i] = vs_calloc((size_t)units + 1, sizeof(int32_t));
    fill(&f, from, end);
    h->row = vs_calloc(add_up(h->row_at, s->n_super), sizeof *h->row);
    h->from = vs_calloc(add_up(h->from_at, units), sizeof *h->from);
    h->fetched = vs_calloc(add_up(h->fetched_at, units), sizeof *h->fetched);
    h->turn = vs_calloc(add_up(h->turn_at, units), sizeof *h->turn);
    h->product = vs_calloc((size_t)h->n_product + 1, sizeof *h->product);
    f.fills = true;
    fill(&f, from, end);
    move_back(h->row_at, s->n_super);
    for (size_t i = 0; i < VS_COUNT(at); i++)
        move_back(*at[i], units);
    vs_free(f.until);
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

lu_share *lu_share_new(const lu_super *s, pool *p, double least)
{
    int32_t block;
    const double entries = largest_block(s, &block);
    if (block < 0 || entries < least)
        return NULL;
    const int32_t from = s->of[s->block[block]], end = s->of[s->block[block + 1] - 1] + 1;
    lu_share *h = vs_calloc(1, sizeof *h);
    h->block = block;
    find_units(h, s, from, end, entries / (pool_size(p) * LU_PARTS_PER_THREAD));
    h->done = vs_calloc((size_t)h->n_unit + 1, sizeof *h->done);
    make_lists(h, s, from, end);
    return h;
}

void lu_share_free(lu_share **ph)
{
    lu_share *h = *ph;
    if (!h)
        return;
    lu_split_free(&h->split);
    void *const all[] = {h->at,      h->unit,    h->row_at,  h->row,
                         h->from_at, h->from,    h->product, h->fetched_at,
                         h->fetched, h->turn_at, h->turn,    (void *)h->done};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vs_free(h);
    *ph = NULL;
}

int32_t lu_share_block(const lu_share *h) { return h->block; }

/* -- solution -- */

static void await(lu_share *h, int32_t u, int worker)
{
    if (h->as_if)
        pool_need(h->s->pool, u);
    if (atomic_load_explicit(&h->done[u], memory_order_acquire) == h->pass)
        return;
    const double paused = pool_pause(h->s->pool);
    for (int n = 0; atomic_load_explicit(&h->done[u], memory_order_acquire) != h->pass; n++)
        pool_wait(n);
    pool_resume(h->s->pool, worker, paused);
}

/* The parts below, the joining units above. */
static void await_all(lu_share *h, int32_t all, int worker)
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

static inline void finish(lu_share *h, int32_t u)
{
    atomic_store_explicit(&h->done[u], h->pass, memory_order_release);
    if (h->as_if)
        pool_made(h->s->pool, u);
}

static inline void count(lu_share *h)
{
    atomic_fetch_add_explicit(&h->n_done, 1, memory_order_release);
    if (h->as_if)
        pool_made(h->s->pool, h->n_unit);
}

/* z[r] = what m columns do to a row, as subtract_product subtracts it. */
static inline void leave_product(double *restrict z, const double *restrict l, int32_t ld,
                                 int32_t rows, const double *restrict u, int32_t m)
{
    if (m == 1)
        for (int32_t r = 0; r < rows; r++)
            z[r] = l[r] * u[0];
    else if (m == 2)
        for (int32_t r = 0; r < rows; r++)
            z[r] = l[r] * u[0] + l[r + ld] * u[1];
    else
        lu_super_multiply(l, ld, rows, u, m, z);
}

/* The columns of supernode o: its own rows, then those below. t: work [n] */
static inline void lower_supernode(const lu_share *h, const lu_super *s, int32_t o, double *t)
{
    const int32_t c0 = s->start[o], m = s->start[o + 1] - c0, ld = s->ip[o + 1] - s->ip[o],
                  *id = s->idx + s->ip[o];
    const double *l = s->lx + s->lp[o];
    double *y = s->y;
    solve_triangle(y + c0, l, ld, m);
    for (const row_run *r = h->row + h->row_at[o], *end = h->row + h->row_at[o + 1]; r < end; r++) {
        const int32_t rows = r->end - r->begin;
        if (r->product < 0)
            subtract_product(y, id + r->begin, l + r->begin, ld, rows, y + c0, m, t);
        else
            leave_product(h->product + r->product, l + r->begin, ld, rows, y + c0, m);
    }
}

static inline void fetch(lu_share *h, item f, int worker, double *t)
{
    const lu_super *s = h->s;
    double *y = s->y;
    if (f.products) {
        await_all(h, h->split.n_task, worker);
        for (const fetched *k = h->fetched + f.begin, *end = h->fetched + f.end; k < end; k++)
            y[k->row] -= h->product[k->product];
        return;
    }
    const int32_t o = f.super, c0 = s->start[o], ld = s->ip[o + 1] - s->ip[o];
    await(h, h->unit[o], worker);
    subtract_product(y, s->idx + s->ip[o] + f.begin, s->lx + s->lp[o] + f.begin, ld,
                     f.end - f.begin, y + c0, s->start[o + 1] - c0, t);
}

static void solve_lower(void *user, int32_t u, int worker)
{
    lu_share *h = user;
    double *t = h->s->t + (size_t)worker * (size_t)h->s->n;
    const item *from = h->from + h->from_at[u], *end = h->from + h->from_at[u + 1];
    for (int32_t i = h->at[u]; i < h->at[u + 1]; i++) {
        for (; from < end && from->super < h->split.list[i]; from++)
            fetch(h, *from, worker, t);
        lower_supernode(h, h->s, h->split.list[i], t);
    }
    if (is_part(h, u))
        count(h);
    else
        finish(h, u);
}

static void upper_part(const lu_share *h, const lu_super *s, int32_t u)
{
    for (int32_t m = h->at[u + 1] - 1; m >= h->at[u]; m--)
        solve_upper_rows(s, h->split.list[m], s->y);
}

static void upper_joining(lu_share *h, int32_t u, int worker)
{
    const lu_super *s = h->s;
    const turn *t = h->turn + h->turn_at[u];
    for (int32_t m = h->at[u + 1] - 1; m >= h->at[u]; m--) {
        const int32_t o = h->split.list[m], own = own_segments(s, o);
        const double *v = s->ux + s->value_at[o + 1];
        int32_t j = s->row_at[o + 1];
        for (; j < s->row_at[o]; j = t++->end) {
            if (t->unit != u)
                await(h, t->unit, worker);
            if (j < own)
                v = lu_super_subtract_rows(s, o, j, t->end < own ? t->end : own, v, s->y);
        }
        solve_own_upper(s, o, own, v, s->y);
    }
}

static void solve_upper(void *user, int32_t i, int worker)
{
    lu_share *h = user;
    const int32_t joining = h->n_unit - h->split.n_task,
                  u = i < joining ? h->n_unit - 1 - i : i - joining;
    if (!is_part(h, u)) {
        upper_joining(h, u, worker);
        finish(h, u);
        count(h);
    } else {
        await_all(h, joining, worker);
        upper_part(h, h->s, u);
    }
}

void lu_share_solve(lu_share *h, lu_super *s)
{
    h->s = s;
    h->as_if = pool_is_as_if(s->pool);
    h->pass++;
    atomic_store(&h->n_done, 0);
    pool_run(s->pool, POOL_SOLVE, h->n_unit, solve_lower, h);
    h->pass++;
    atomic_store(&h->n_done, 0);
    pool_run(s->pool, POOL_SOLVE, h->n_unit, solve_upper, h);
}
