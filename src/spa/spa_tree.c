/* spa_tree.c - symbolic factorisation without fill: forest, column counts, levels, supernodes.
 * Source: Liu, SIAM J. Matrix Anal. Appl. 11(1), 1990 (forest by path compression);
 *         Gilbert, Ng & Peyton, same journal 15(4), 1994 (counts from least common ancestors);
 *         Ashcraft & Grimes, ACM TOMS 15(4), 1989 (relaxed supernodes). */
#include "spa.h"

#include <math.h>
#include <string.h>

#include "vec.h"

const int spa_workers[SPA_N_WORKERS] = {2, 4, 8, 16};

/* parent[k] of the forest of g in the order perm; at[v] is the position of vertex v. */
static void find_forest(const spa_graph *g, const int32_t *perm, const int32_t *at, int32_t *parent,
                        int32_t *up)
{
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t v = perm[k];
        parent[k] = up[k] = -1;
        for (int32_t e = g->ptr[v]; e < g->ptr[v + 1]; e++) {
            int32_t i = at[g->adj[e]];
            while (i >= 0 && i < k) { /* to the root, which becomes a child of k */
                const int32_t next = up[i];
                up[i] = k;
                if (next < 0)
                    parent[i] = k;
                i = next;
            }
        }
    }
}

/* order[k]: the node that a depth-first walk leaves as the k-th; children in ascending order. */
static void find_postorder(int32_t n, const int32_t *parent, int32_t *order, int32_t *first,
                           int32_t *next)
{
    int32_t *stack = NULL, count = 0;
    for (int32_t k = 0; k < n; k++)
        first[k] = -1;
    for (int32_t k = n - 1; k >= 0; k--)
        if (parent[k] >= 0) {
            next[k] = first[parent[k]];
            first[parent[k]] = k;
        }
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0)
            continue;
        vec_push(stack, root);
        while (vec_len(stack)) {
            const int32_t k = vec_last(stack);
            if (first[k] >= 0) {
                vec_push(stack, first[k]);
                first[k] = next[first[k]];
            } else {
                order[count++] = k;
                (void)vec_pop(stack);
            }
        }
    }
    vec_free(stack);
}

static int32_t find(int32_t *set, int32_t k)
{
    int32_t root = k;
    while (set[root] != root)
        root = set[root];
    while (set[k] != root) {
        const int32_t next = set[k];
        set[k] = root;
        k = next;
    }
    return root;
}

/* Column counts of the filled graph, positions being a postorder: vertex j is in the row subtree of
 * u if it is a descendant of a neighbour of u; leaves of each subtree count 1, least common
 * ancestors of successive leaves take the double count back. */
static void count_columns(const spa_graph *g, const int32_t *perm, const int32_t *at,
                          const int32_t *parent, int32_t *count, arena *scratch)
{
    const int32_t n = g->n;
    int32_t *first = arena_array(scratch, int32_t, n), *set = arena_array(scratch, int32_t, n),
            *last_leaf = arena_array(scratch, int32_t, n),
            *last_nbr = arena_array(scratch, int32_t, n);
    for (int32_t k = 0; k < n; k++) {
        first[k] = set[k] = k;
        last_leaf[k] = last_nbr[k] = -1;
        count[k] = 1; /* of leaves; an inner node inherits */
    }
    for (int32_t k = 0; k < n; k++)
        if (parent[k] >= 0) {
            if (first[k] < first[parent[k]])
                first[parent[k]] = first[k];
            count[parent[k]] = 0;
        }
    for (int32_t k = 0; k < n; k++) {
        const int32_t v = perm[k];
        if (parent[k] >= 0)
            count[parent[k]]--;
        for (int32_t e = g->ptr[v]; e < g->ptr[v + 1]; e++) {
            const int32_t u = at[g->adj[e]];
            if (u <= k)
                continue;
            if (first[k] > last_nbr[u]) { /* k is a leaf of u's row subtree */
                count[k]++;
                if (last_leaf[u] >= 0)
                    count[find(set, last_leaf[u])]--;
                last_leaf[u] = k;
            }
            last_nbr[u] = k;
        }
        if (parent[k] >= 0)
            set[k] = parent[k];
    }
    for (int32_t k = 0; k < n; k++)
        if (parent[k] >= 0)
            count[parent[k]] += count[k];
}

/* Column k divides c-1 entries by its pivot and updates a block of (c-1) x (c-1) with a
 * multiplication and an addition each: what KLU counts too. */
static double column_flops(int32_t count)
{
    const double below = count - 1;
    return below + 2 * below * below;
}

static void find_levels(spa_fill *f, int32_t n, arena *mem, arena *scratch)
{
    int32_t *height = arena_array(scratch, int32_t, n);
    double *path = arena_array(scratch, double, n); /* heaviest path from a leaf up to below k */
    for (int32_t k = 0; k < n; k++) {
        const double own = column_flops(f->count[k]), sum = path[k] + own;
        const int32_t p = f->parent[k];
        f->flops += own;
        f->lnz += f->count[k];
        f->critical = fmax(f->critical, sum);
        f->n_leaf += height[k] == 0;
        if (height[k] >= f->n_level)
            f->n_level = height[k] + 1;
        if (p >= 0) {
            path[p] = fmax(path[p], sum);
            if (height[p] < height[k] + 1)
                height[p] = height[k] + 1;
        }
    }
    f->level = arena_array(mem, spa_level, f->n_level);
    for (int32_t k = 0; k < n; k++) {
        spa_level *l = &f->level[height[k]];
        const double own = column_flops(f->count[k]);
        l->n++;
        l->flops += own;
        l->max_flops = fmax(l->max_flops, own);
    }
    for (int w = 0; w < SPA_N_WORKERS; w++) {
        double time = 0;
        for (int32_t i = 0; i < f->n_level; i++)
            time += fmax(f->level[i].max_flops, f->level[i].flops / spa_workers[w]);
        f->speedup[w] = time > 0 ? f->flops / time : 1;
    }
}

typedef struct super { /* columns begin .. end-1 */
    int32_t begin, end;
    double rows;    /* of its first column, all those stored */
    double entries; /* of L that are really there */
} super;

/* Entries of a dense trapezoid: columns of c, c-1, ... entries. */
static double trapezoid(double width, double c) { return width * c - width * (width - 1) / 2; }

static void add_super(spa_super *s, int32_t width)
{
    s->n++;
    s->widest = width > s->widest ? width : s->widest;
}

/* Small supernodes may waste much, large ones little (the usual thresholds of multifrontal codes).
 */
static bool worth_merging(double width, double zeros, double all)
{
    return width <= 4 || (width <= 16 && zeros < 0.8 * all) || (width <= 48 && zeros < 0.1 * all) ||
           zeros < 0.05 * all;
}

static void find_supernodes(spa_fill *f, int32_t n, arena *scratch)
{
    int32_t *children = arena_array(scratch, int32_t, n);
    for (int32_t k = 0; k < n; k++)
        if (f->parent[k] >= 0)
            children[f->parent[k]]++;
    super *stack = NULL; /* merged supernodes whose parents may still take them in */
    for (int32_t b = 0, e; b < n; b = e) {
        super s = {.begin = b, .rows = f->count[b], .entries = f->count[b]};
        for (e = b + 1; e < n && f->parent[e - 1] == e && children[e] == 1 &&
                        f->count[e - 1] == f->count[e] + 1;
             e++)
            s.entries += f->count[e];
        s.end = e;
        add_super(&f->fundamental, e - b);
        while (vec_len(stack)) { /* the child that ends where this one begins */
            const super c = vec_last(stack);
            const int32_t p = f->parent[c.end - 1];
            const double width = s.end - c.begin, rows = c.end - c.begin + s.rows;
            const double all = trapezoid(width, rows), entries = c.entries + s.entries;
            if (c.end != s.begin || p < s.begin || p >= s.end ||
                !worth_merging(width, all - entries, all))
                break;
            s = (super){c.begin, s.end, rows, entries};
            (void)vec_pop(stack);
        }
        vec_push(stack, s);
    }
    for (size_t i = 0; i < vec_len(stack); i++) {
        const int32_t width = stack[i].end - stack[i].begin;
        add_super(&f->relaxed, width);
        f->relaxed.zeros += (int64_t)(trapezoid(width, stack[i].rows) - stack[i].entries + 0.5);
    }
    vec_free(stack);
}

static void invert(const int32_t *perm, int32_t n, int32_t *at)
{
    for (int32_t k = 0; k < n; k++)
        at[perm[k]] = k;
}

void spa_eliminate(spa_fill *f, const spa_graph *g, arena *mem)
{
    const int32_t n = g->n;
    arena scratch;
    arena_init(&scratch);
    f->parent = arena_array(mem, int32_t, n);
    f->count = arena_array(mem, int32_t, n);
    int32_t *at = arena_array(&scratch, int32_t, n), *up = arena_array(&scratch, int32_t, n),
            *post = arena_array(&scratch, int32_t, n), *work = arena_array(&scratch, int32_t, n);
    invert(f->perm, n, at);
    find_forest(g, f->perm, at, work, up);
    find_postorder(n, work, post, at, up);
    invert(post, n, at); /* old position -> new position */
    for (int32_t k = 0; k < n; k++) {
        const int32_t p = work[post[k]];
        f->parent[k] = p < 0 ? -1 : at[p];
        up[k] = f->perm[post[k]];
    }
    memcpy(f->perm, up, sizeof *up * (size_t)n);
    invert(f->perm, n, at);
    count_columns(g, f->perm, at, f->parent, f->count, &scratch);
    find_levels(f, n, mem, &scratch);
    find_supernodes(f, n, &scratch);
    arena_fini(&scratch);
}
