/* spa_order.c - the undirected graph of a pattern; reverse Cuthill-McKee and nested dissection on
 * it.
 * Source: George & Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981: ch. 4
 *         (RCM, pseudo-peripheral vertices), ch. 8 (dissection by level structures). */
#include "spa.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

#include "vec.h"

#define LEAF 100      /* parts of no more vertices are ordered by minimum degree */
#define HUB_DEGREE 10 /* times sqrt(n): such vertices (supply nets) are ordered last */

spa_graph spa_graph_of(const csc *a, const int32_t *row_at, const int32_t *col_at,
                       const int32_t *block_of, arena *mem)
{
    const int32_t n = a->n;
    spa_graph g = {.n = n, .ptr = arena_array(mem, int32_t, n + 1)};
    int32_t *ptr = g.ptr, *mark = NULL;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (int32_t j = 0; j < n; j++)
            for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
                const int32_t u = row_at[a->row[k]], v = col_at[j];
                if (u == v || (block_of && block_of[u] != block_of[v]))
                    continue;
                if (pass) {
                    g.adj[--ptr[u]] = v;
                    g.adj[--ptr[v]] = u;
                } else {
                    ptr[u]++;
                    ptr[v]++;
                }
            }
        if (pass)
            break;
        for (int32_t v = 1; v <= n; v++) /* ends of the lists; filling moves them to the starts */
            ptr[v] += ptr[v - 1];
        ptr[n] = n ? ptr[n - 1] : 0;
        g.adj = arena_array(mem, int32_t, ptr[n]);
    }
    vec_extend(mark, n); /* last vertex + 1 in whose list it was met */
    int32_t to = 0;
    for (int32_t v = 0, from = 0; v < n; v++) {
        const int32_t end = ptr[v + 1];
        ptr[v] = to;
        for (; from < end; from++)
            if (mark[g.adj[from]] != v + 1) {
                mark[g.adj[from]] = v + 1;
                g.adj[to++] = g.adj[from];
            }
    }
    ptr[n] = to;
    vec_free(mark);
    return g;
}

static int32_t degree(const spa_graph *g, int32_t v) { return g->ptr[v + 1] - g->ptr[v]; }

/* Breadth first search over vertices v with part[v] == id. */
typedef struct search {
    const spa_graph *g;
    int32_t *part; /* [n] */
    int32_t *dist; /* [n] level, valid where seen[v] == round */
    int32_t *seen; /* [n] */
    int32_t round;
    int32_t *queue; /* [n] in the order of visits */
} search;

static search search_new(const spa_graph *g, arena *mem)
{
    return (search){.g = g,
                    .part = arena_array(mem, int32_t, g->n),
                    .dist = arena_array(mem, int32_t, g->n),
                    .seen = arena_array(mem, int32_t, g->n),
                    .queue = arena_array(mem, int32_t, g->n)};
}

/* Visits what is reachable from root; returns how many. Levels ascend along the queue. */
static int32_t visit(search *s, int32_t root)
{
    const int32_t id = s->part[root];
    int32_t n = 0;
    s->round++;
    s->queue[n++] = root;
    s->seen[root] = s->round;
    s->dist[root] = 0;
    for (int32_t k = 0; k < n; k++) {
        const int32_t v = s->queue[k];
        for (int32_t e = s->g->ptr[v]; e < s->g->ptr[v + 1]; e++) {
            const int32_t w = s->g->adj[e];
            if (s->part[w] != id || s->seen[w] == s->round)
                continue;
            s->seen[w] = s->round;
            s->dist[w] = s->dist[v] + 1;
            s->queue[n++] = w;
        }
    }
    return n;
}

/* A vertex far from others: from the last level on to the vertex of least degree, while levels
 * grow. */
static int32_t far_vertex(search *s, int32_t v, int32_t *reached)
{
    int32_t high = -1;
    for (int turn = 0; turn < 8; turn++) {
        const int32_t n = *reached = visit(s, v), top = s->dist[s->queue[n - 1]];
        if (top <= high)
            return v;
        high = top;
        int32_t best = s->queue[n - 1];
        for (int32_t k = n - 1; k >= 0 && s->dist[s->queue[k]] == top; k--)
            if (degree(s->g, s->queue[k]) < degree(s->g, best))
                best = s->queue[k];
        if (top == 0)
            return v;
        v = best;
    }
    *reached = visit(s, v);
    return v;
}

/* -- reverse Cuthill-McKee -- */

typedef struct by_degree {
    int32_t degree, v;
} by_degree;

static int compare_degree(const void *pa, const void *pb)
{
    const by_degree *a = pa, *b = pb;
    return a->degree != b->degree ? (a->degree < b->degree ? -1 : 1)
           : a->v < b->v          ? -1
                                  : a->v > b->v;
}

void spa_rcm(const spa_graph *g, int32_t *perm, arena *scratch)
{
    const arena_pos mark = arena_mark(scratch);
    search s = search_new(g, scratch);
    by_degree *next = NULL;
    bool *done = arena_array(scratch, bool, g->n);
    int32_t n = 0;
    for (int32_t start = 0; start < g->n; start++) {
        if (done[start])
            continue;
        int32_t reached;
        const int32_t root = far_vertex(&s, start, &reached), first = n;
        perm[n++] = root;
        done[root] = true;
        for (int32_t k = first; k < n; k++) {
            vec_clear(next);
            for (int32_t e = g->ptr[perm[k]]; e < g->ptr[perm[k] + 1]; e++)
                if (!done[g->adj[e]]) {
                    done[g->adj[e]] = true;
                    vec_push(next, (by_degree){degree(g, g->adj[e]), g->adj[e]});
                }
            if (vec_len(next) > 1)
                qsort(next, vec_len(next), sizeof *next, compare_degree);
            for (size_t i = 0; i < vec_len(next); i++)
                perm[n++] = next[i].v;
        }
    }
    for (int32_t a = 0, b = g->n - 1; a < b; a++, b--) {
        const int32_t v = perm[a];
        perm[a] = perm[b];
        perm[b] = v;
    }
    vec_free(next);
    arena_release(scratch, mark);
}

/* -- nested dissection -- */

typedef struct part { /* list[lo..hi) is to be ordered into the same places of perm */
    int32_t lo, hi;
} part;

typedef struct dissection {
    search s;
    int32_t *list;  /* [n] the order so far */
    int32_t *local; /* [n] number in a leaf */
    int32_t id;     /* last part number given */
    part *todo;     /* vec */
} dissection;

static void set_part(dissection *d, part p)
{
    d->id++;
    for (int32_t k = p.lo; k < p.hi; k++)
        d->s.part[d->list[k]] = d->id;
}

/* Minimum degree of the subgraph of list[p.lo..p.hi); its order replaces it there. */
static void order_leaf(dissection *d, part p)
{
    const spa_graph *g = d->s.g;
    const int32_t n = p.hi - p.lo;
    if (n < 4)
        return;
    int32_t *ptr = NULL, *adj = NULL, *order = NULL, *old = NULL;
    for (int32_t k = 0; k < n; k++)
        d->local[d->list[p.lo + k]] = k;
    vec_extend(ptr, n + 1);
    for (int32_t k = 0; k < n; k++) {
        const int32_t v = d->list[p.lo + k];
        for (int32_t e = g->ptr[v]; e < g->ptr[v + 1]; e++)
            if (d->s.part[g->adj[e]] == d->s.part[v])
                vec_push(adj, d->local[g->adj[e]]);
        ptr[k + 1] = (int32_t)vec_len(adj);
    }
    vec_extend(order, n);
    vec_reserve(adj, 1); /* never NULL */
    if (amd_order(n, ptr, adj, order, NULL, NULL) >= AMD_OK) {
        for (int32_t k = 0; k < n; k++)
            vec_push(old, d->list[p.lo + k]);
        for (int32_t k = 0; k < n; k++)
            d->list[p.lo + k] = old[order[k]];
    }
    vec_free(ptr);
    vec_free(adj);
    vec_free(order);
    vec_free(old);
}

/* The level whose removal leaves halves as equal as can be; 0 if there are less than three. */
static int32_t middle_level(const search *s, int32_t n)
{
    const int32_t mid = s->dist[s->queue[n / 2]], top = s->dist[s->queue[n - 1]];
    if (top < 2)
        return 0;
    return mid < 1 ? 1 : mid > top - 1 ? top - 1 : mid;
}

/* Halves first, separator last: in the middle level the vertices with a neighbour in the next one.
 */
static void split(dissection *d, part p, int32_t n, int32_t level)
{
    search *s = &d->s;
    int32_t *rank = d->local, count[3] = {0}; /* 0: near half, 1: far half, 2: separator */
    for (int32_t k = 0; k < n; k++) {
        const int32_t v = s->queue[k];
        rank[v] = s->dist[v] > level;
        for (int32_t e = s->g->ptr[v]; s->dist[v] == level && e < s->g->ptr[v + 1]; e++) {
            const int32_t w = s->g->adj[e];
            if (s->part[w] == s->part[v] && s->dist[w] == level + 1)
                rank[v] = 2;
        }
        count[rank[v]]++;
    }
    int32_t at[3] = {p.lo, p.lo + count[0], p.lo + count[0] + count[1]};
    const part near = {at[0], at[1]}, far = {at[1], at[2]};
    for (int32_t k = 0; k < n; k++)
        d->list[at[rank[s->queue[k]]]++] = s->queue[k];
    vec_push(d->todo, near);
    vec_push(d->todo, far);
}

static void split_components(dissection *d, part p)
{
    search *s = &d->s;
    int32_t *old = NULL, to = p.lo;
    for (int32_t k = p.lo; k < p.hi; k++)
        vec_push(old, d->list[k]);
    for (size_t k = 0; k < vec_len(old); k++) {
        if (s->part[old[k]] != d->id)
            continue; /* in one that was found */
        const int32_t n = visit(s, old[k]);
        memcpy(d->list + to, s->queue, (size_t)n * sizeof *d->list);
        for (int32_t i = 0; i < n; i++)
            s->part[s->queue[i]] = 0;
        vec_push(d->todo, (part){to, to + n});
        to += n;
    }
    vec_free(old);
}

static void dissect_part(dissection *d, part p)
{
    const int32_t n = p.hi - p.lo;
    if (n <= 0)
        return;
    set_part(d, p);
    int32_t reached = n;
    if (n > LEAF) {
        far_vertex(&d->s, d->list[p.lo], &reached);
        if (reached == n) {
            const int32_t level = middle_level(&d->s, n);
            if (level > 0) {
                split(d, p, n, level);
                return;
            }
        } else {
            split_components(d, p);
            return;
        }
    }
    order_leaf(d, p);
}

void spa_dissect(const spa_graph *g, int32_t *perm, arena *scratch)
{
    const arena_pos mark = arena_mark(scratch);
    dissection d = {
        .s = search_new(g, scratch), .list = perm, .local = arena_array(scratch, int32_t, g->n)};
    const double hub = fmax(16, HUB_DEGREE * sqrt(g->n));
    int32_t n = 0;
    for (int32_t v = 0; v < g->n; v++)
        if (degree(g, v) <= hub)
            perm[n++] = v;
    vec_push(d.todo, (part){0, n});
    for (int32_t v = 0; v < g->n; v++)
        if (degree(g, v) > hub)
            perm[n++] = v;
    while (vec_len(d.todo)) {
        const part p = vec_pop(d.todo);
        dissect_part(&d, p);
    }
    vec_free(d.todo);
    arena_release(scratch, mark);
}
