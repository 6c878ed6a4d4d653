/* rcnet.c - see rcnet.h. */
#include "rcnet.h"

#include <math.h>
#include <string.h>

#include "map.h"
#include "vec.h"

enum { MOST_NEIGHBOURS = 24 };

typedef struct waiting { /* of the heap: a node, and its bound when it was put there */
    double bound;
    int32_t node;
} waiting;

struct rcnet {
    int32_t n;
    bool *keep;       /* [n] */
    rcnet_edge *edge; /* vec */
    int32_t *next;    /* vec, [2 edges] the next edge of its node a, and of b; -1: none */
    int32_t *first;   /* [n] of each node, -1 */
    map of_pair;      /* edge that is there, by both nodes */
    double *spent;    /* [n] the largest part of the tolerance that a form at the node has used */
    waiting *heap;    /* vec */
    double omega;
};

typedef struct star { /* a node's neighbours */
    int32_t n, node[MOST_NEIGHBOURS], edge[MOST_NEIGHBOURS];
    double g[MOST_NEIGHBOURS], c[MOST_NEIGHBOURS];
    double gamma, chi;
} star;

static uint64_t pair_key(int32_t a, int32_t b)
{
    const uint32_t lo = (uint32_t)(a < b ? a : b), hi = (uint32_t)(a < b ? b : a);
    return (uint64_t)hi << 32 | lo;
}

rcnet *rcnet_new(int32_t n, const bool *keep)
{
    rcnet *net = vs_calloc(1, sizeof *net);
    const size_t size = (size_t)n + 1;
    net->n = n;
    net->keep = vs_calloc(size, sizeof *net->keep);
    net->first = vs_malloc(size * sizeof *net->first);
    net->spent = vs_calloc(size, sizeof *net->spent);
    memcpy(net->keep, keep, (size_t)n * sizeof *keep);
    net->keep[0] = true;
    for (int32_t i = 0; i < n; i++)
        net->first[i] = -1;
    return net;
}

void rcnet_free(rcnet **pn)
{
    rcnet *net = *pn;
    if (!net)
        return;
    vec_free(net->edge);
    vec_free(net->next);
    vec_free(net->heap);
    map_free(&net->of_pair);
    vs_free(net->keep);
    vs_free(net->first);
    vs_free(net->spent);
    vs_free(net);
    *pn = NULL;
}

int32_t rcnet_add(rcnet *net, int32_t a, int32_t b, double g, double c)
{
    const uint64_t key = pair_key(a, b);
    int32_t k = map_get(&net->of_pair, key, -1);
    if (k < 0) {
        k = (int32_t)vec_len(net->edge);
        const int32_t lo = a < b ? a : b, hi = a < b ? b : a;
        vec_push(net->edge, (rcnet_edge){.a = lo, .b = hi});
        vec_push(net->next, net->first[lo]);
        vec_push(net->next, net->first[hi]);
        net->first[lo] = net->first[hi] = k;
        map_set(&net->of_pair, key, k);
    }
    net->edge[k].g += g;
    net->edge[k].c += c;
    return k;
}

const rcnet_edge *rcnet_edges(const rcnet *net, int32_t *n)
{
    *n = (int32_t)vec_len(net->edge);
    return net->edge;
}

/* The neighbours of a node that does not stay; edges that are gone leave its list. false: there are
 * too many. */
static bool find_star(rcnet *net, int32_t node, star *s)
{
    *s = (star){0};
    int32_t *link = &net->first[node];
    for (int32_t k; (k = *link) >= 0;) {
        const rcnet_edge *e = &net->edge[k];
        int32_t *behind = &net->next[2 * k + (e->b == node)];
        if (e->gone) {
            *link = *behind;
            continue;
        }
        if (s->n == MOST_NEIGHBOURS)
            return false;
        s->node[s->n] = e->a == node ? e->b : e->a;
        s->edge[s->n] = k;
        s->g[s->n] = e->g;
        s->c[s->n++] = e->c;
        s->gamma += e->g;
        s->chi += e->c;
        link = behind;
    }
    return true;
}

/* What the tolerance has to be for this node to go; infinite: it stays. */
static double bound_of(const rcnet *net, int32_t node, const star *s)
{
    if (!(s->gamma > 0))
        return INFINITY;
    return net->spent[node] + net->omega * fmax(s->chi, 0) / s->gamma;
}

/* -- heap: least bound first, then least node -- */

static bool before(const waiting *a, const waiting *b)
{
    return a->bound < b->bound || (a->bound == b->bound && a->node < b->node);
}

static void heap_push(rcnet *net, waiting w)
{
    vec_push(net->heap, w);
    size_t i = vec_len(net->heap) - 1;
    for (; i > 0 && before(&w, &net->heap[(i - 1) / 2]); i = (i - 1) / 2)
        net->heap[i] = net->heap[(i - 1) / 2];
    net->heap[i] = w;
}

static waiting heap_pop(rcnet *net)
{
    const waiting top = net->heap[0], w = vec_pop(net->heap);
    const size_t n = vec_len(net->heap);
    size_t i = 0;
    for (size_t k; n && (k = 2 * i + 1) < n; i = k) {
        k += k + 1 < n && before(&net->heap[k + 1], &net->heap[k]);
        if (!before(&net->heap[k], &w))
            break;
        net->heap[i] = net->heap[k];
    }
    if (n)
        net->heap[i] = w;
    return top;
}

static void consider(rcnet *net, int32_t node, double tolerance)
{
    star s;
    if (net->keep[node] || !find_star(net, node, &s))
        return;
    const double bound = bound_of(net, node, &s);
    if (bound <= tolerance)
        heap_push(net, (waiting){bound, node});
}

/* -- elimination -- */

/* Edges that would be new between the neighbours. */
static int32_t count_new(const rcnet *net, const star *s)
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < i; j++)
            n += (s->g[i] > 0 || s->g[j] > 0) &&
                 map_get(&net->of_pair, pair_key(s->node[i], s->node[j]), -1) < 0;
    return n;
}

static void eliminate(rcnet *net, const star *s, double bound)
{
    for (int32_t i = 0; i < s->n; i++) {
        net->edge[s->edge[i]].gone = true;
        map_remove(&net->of_pair, pair_key(net->edge[s->edge[i]].a, net->edge[s->edge[i]].b));
        net->spent[s->node[i]] = fmax(net->spent[s->node[i]], bound);
    }
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t j = 0; j < i; j++) {
            if (!(s->g[i] > 0 || s->g[j] > 0))
                continue;
            const double wi = s->g[i] / s->gamma, wj = s->g[j] / s->gamma;
            const int32_t k = rcnet_add(net, s->node[i], s->node[j], s->g[i] * wj,
                                        wi * s->c[j] + wj * s->c[i] - s->chi * wi * wj);
            net->edge[k].made = true;
        }
}

double rcnet_reduce(rcnet *net, double tolerance, double omega, bool *gone)
{
    double used = 0;
    memset(gone, 0, (size_t)net->n * sizeof *gone);
    net->omega = omega;
    for (int32_t i = 0; i < net->n; i++)
        consider(net, i, tolerance);
    while (vec_len(net->heap)) {
        const waiting w = heap_pop(net);
        star s;
        if (gone[w.node] || !find_star(net, w.node, &s) || bound_of(net, w.node, &s) != w.bound ||
            count_new(net, &s) > s.n)
            continue; /* what has changed since then stands there once more */
        eliminate(net, &s, w.bound);
        gone[w.node] = true;
        used = fmax(used, w.bound);
        for (int32_t i = 0; i < s.n; i++)
            consider(net, s.node[i], tolerance);
    }
    return used;
}
