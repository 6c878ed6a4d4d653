/* lu_super_split.c - parts of a factorisation that threads compute independently of each other, by
 * joining each supernode with all that it depends on while the work is below a limit. */
#include <math.h>

#include "lu_super_priv.h"

/* Parts of less than a SMALL-th of the limit are put together with those behind them. */
enum { SMALL = 2 };

typedef struct parts { /* union-find of supernodes into parts of limited work */
    const lu_graph *g;
    int32_t *up;         /* [end] */
    double *work;        /* [end] of a root; < 0: joins parts, in none */
    int32_t *seen;       /* [end] the last supernode that asked for this root, + 1 */
    int32_t *piece;      /* [end] of a root: its number in the split */
    const int32_t *with; /* [end] homes; NULL: there are none */
    double limit;
} parts;

static int32_t root(int32_t *up, int32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* Work of the parts that sn depends on; infinite if one of these joins parts. */
static double needs(parts *v, int32_t sn)
{
    double sum = 0;
    for (int32_t i = v->g->at[sn]; i < v->g->at[sn + 1]; i++) {
        const int32_t r = root(v->up, v->g->needs[i]);
        if (v->work[r] < 0)
            return INFINITY;
        if (r == sn || v->seen[r] == sn + 1)
            continue;
        sum += v->work[r];
        v->seen[r] = sn + 1;
    }
    return sum;
}

/* Puts sn into the part of all that it depends on, if the work of the union fits. */
static void place(parts *v, int32_t sn, double work)
{
    v->up[sn] = sn;
    v->work[sn] = 0;
    const double sum = needs(v, sn) + work;
    if (sum > v->limit || (v->with && v->with[sn] < 0)) {
        v->work[sn] = -1;
        return;
    }
    for (int32_t i = v->g->at[sn]; i < v->g->at[sn + 1]; i++)
        v->up[root(v->up, v->g->needs[i])] = sn;
    v->work[sn] = sum;
}

/* Numbers the pieces of home w (-1: of all), in the order of the parts' last supernodes, from n
 * on. */
static int32_t number(parts *v, int32_t w, int32_t n)
{
    double sum = INFINITY; /* of the last piece */
    for (int32_t k = v->g->from; k < v->g->end; k++) {
        if (root(v->up, k) != k || v->work[k] < 0 || (w >= 0 && v->with[k] != w))
            continue;
        if (sum + v->work[k] > v->limit || sum > v->limit / SMALL) {
            n++;
            sum = 0;
        }
        v->piece[k] = n - 1;
        sum += v->work[k];
    }
    return n;
}

static void list(parts *v, int32_t from, int32_t end, lu_split *to)
{
    int32_t at = 0;
    for (int32_t k = from; k < end; k++) {
        const int32_t r = root(v->up, k);
        if (v->work[r] >= 0)
            to->task[v->piece[r]]++;
    }
    for (int32_t i = 0; i < to->n_task; i++) {
        const int32_t len = to->task[i];
        to->task[i] = at;
        at += len;
    }
    to->n_top = end - from - at;
    for (int32_t k = from; k < end; k++) {
        const int32_t r = root(v->up, k);
        to->list[v->work[r] >= 0 ? to->task[v->piece[r]]++ : at++] = k;
    }
    csc_ends_to_begins(to->task, to->n_task);
}

/* The pieces of each home: its parts, then the supernodes that join them. */
static void list_homes(parts *v, lu_split *to)
{
    const int32_t *top = to->list + to->task[to->n_task], n_home = to->n_home;
    int32_t *order = vs_calloc((size_t)(to->n_task + to->n_top) + 1, sizeof *order), n = 0;
    for (int32_t w = 0; w <= n_home; w++) {
        const int32_t begin = to->home[w];
        to->home[w] = n;
        for (int32_t t = begin; w < n_home && t < to->home[w + 1]; t++)
            order[n++] = t;
        for (int32_t i = 0; i < to->n_top; i++)
            if (v->with[top[i]] == (w < n_home ? w : -1))
                order[n++] = -1 - top[i];
    }
    to->order = order;
}

static void split(parts *v, const double *weight, lu_split *to)
{
    const int32_t from = v->g->from, end = v->g->end;
    const size_t n = (size_t)end + 1;
    v->up = vs_calloc(n, sizeof(int32_t));
    v->work = vs_calloc(n, sizeof(double));
    v->seen = vs_calloc(n, sizeof(int32_t));
    v->piece = vs_calloc(n, sizeof(int32_t));
    for (int32_t k = from; k < end; k++)
        place(v, k, weight[k]);
    if (v->with)
        for (int32_t w = 0; w < to->n_home; w++)
            to->home[w + 1] = to->n_task = number(v, w, to->n_task);
    else
        to->n_task = number(v, -1, 0);
    to->task = vs_calloc((size_t)to->n_task + 1, sizeof(int32_t));
    to->list = vs_calloc((size_t)(end - from) + 1, sizeof(int32_t));
    list(v, from, end, to);
    vs_free(v->up);
    vs_free(v->work);
    vs_free(v->seen);
    vs_free(v->piece);
}

void lu_super_split(const lu_graph *g, const double *weight, double limit, lu_split *to)
{
    parts v = {.g = g, .limit = limit};
    split(&v, weight, to);
}

/* -- homes -- */

/* Work that no home has: its part of the time, threads waiting for each other there. */
#define SHARED_COST 0.75

typedef struct forest {    /* what a supernode needs stands below it */
    int32_t *parent;       /* [end] -1: none */
    int32_t *child, *next; /* [end] the first one below; the next one beside; -1: none */
    double *work;          /* [end] with all below */
} forest;

int32_t *lu_nobody(int32_t n)
{
    int32_t *near = vs_malloc(((size_t)n + 1) * sizeof *near);
    memset(near, 0xff, (size_t)n * sizeof *near); /* -1 */
    return near;
}

static void make_forest(forest *f, const lu_graph *g, const double *weight)
{
    const size_t n = (size_t)g->end + 1;
    int32_t *up = vs_calloc(n, sizeof *up);
    f->parent = vs_malloc(n * sizeof(int32_t));
    f->child = vs_malloc(n * sizeof(int32_t));
    f->next = vs_malloc(n * sizeof(int32_t));
    f->work = vs_calloc(n, sizeof(double));
    for (int32_t k = g->from; k < g->end; k++) {
        up[k] = k;
        f->parent[k] = f->child[k] = f->next[k] = -1;
        f->work[k] = weight[k];
        for (int32_t i = g->at[k]; i < g->at[k + 1]; i++) {
            const int32_t r = root(up, g->needs[i]);
            if (r == k)
                continue;
            up[r] = f->parent[r] = k;
            f->next[r] = f->child[k];
            f->child[k] = r;
            f->work[k] += f->work[r];
        }
    }
    vs_free(up);
}

static void free_forest(forest *f)
{
    vs_free(f->parent);
    vs_free(f->child);
    vs_free(f->next);
    vs_free(f->work);
}

/* Trees, a heap: the heaviest first. */
typedef struct trees {
    int32_t *k, n;
    double sum;
} trees;

/* Whether tree a comes before b; of equals the one that is eliminated first. */
static bool heavier(const forest *f, int32_t a, int32_t b)
{
    return f->work[a] != f->work[b] ? f->work[a] > f->work[b] : a < b;
}

static void put_tree(trees *t, const forest *f, int32_t k)
{
    int32_t at = t->n++;
    for (; at && heavier(f, k, t->k[(at - 1) / 2]); at = (at - 1) / 2)
        t->k[at] = t->k[(at - 1) / 2];
    t->k[at] = k;
    t->sum += f->work[k];
}

static int32_t take_heaviest(trees *t, const forest *f)
{
    const int32_t top = t->k[0], last = t->k[--t->n];
    int32_t at = 0;
    for (int32_t c; (c = 2 * at + 1) < t->n; at = c) {
        c += c + 1 < t->n && heavier(f, t->k[c + 1], t->k[c]);
        if (!heavier(f, t->k[c], last))
            break;
        t->k[at] = t->k[c];
    }
    t->k[at] = last;
    t->sum -= f->work[top];
    return top;
}

/* Opens the heaviest tree `steps` times: its root is shared, what stood below it is trees. Returns
 * after how many steps that takes the least time, those of all. */
static int32_t open_trees(trees *t, const forest *f, const lu_graph *g, const double *weight,
                          int n_home, int32_t steps)
{
    double shared = 0, best = INFINITY;
    int32_t best_step = 0;
    t->n = 0;
    t->sum = 0;
    for (int32_t k = g->from; k < g->end; k++)
        if (f->parent[k] < 0)
            put_tree(t, f, k);
    for (int32_t i = 0; t->n; i++) {
        const double heaviest = f->work[t->k[0]], even = t->sum / n_home;
        const double time = fmax(heaviest, even) + SHARED_COST * shared;
        if (time < best) {
            best = time;
            best_step = i;
        }
        if (i == steps || SHARED_COST * shared > best || heaviest <= even)
            break;
        const int32_t k = take_heaviest(t, f);
        shared += weight[k];
        for (int32_t c = f->child[k]; c >= 0; c = f->next[c])
            put_tree(t, f, c);
    }
    return best_step;
}

/* Which home most of a tree's work is near, -1: none. with: the trees' numbers. */
static int32_t *near_homes(const lu_graph *g, const double *weight, int32_t n_tree,
                           const int32_t *with)
{
    int32_t *near = lu_nobody(n_tree);
    double *lead = vs_calloc((size_t)n_tree + 1, sizeof *lead);
    for (int32_t k = g->from; g->near && k < g->end; k++)
        if (with[k] >= 0 && g->near[k] >= 0)
            lu_vote(&near[with[k]], &lead[with[k]], g->near[k], weight[k]);
    vs_free(lead);
    return near;
}

static int32_t least_of(const double *work, int n)
{
    int32_t least = 0;
    for (int32_t w = 1; w < n; w++)
        least = work[w] < work[least] ? w : least;
    return least;
}

/* How much more than an even share a home may get, so that trees are where they are near. */
#define UNEVEN 0.02

/* Trees get homes, the heaviest first, each where most of it is near, as long as that has no more
 * than its share, else where there is the least work. Returns those of the trees, in that order,
 * which is the one of their numbers in `with`. */
static int32_t *home_trees(trees *t, const forest *f, const lu_graph *g, const double *weight,
                           int n_home, int32_t *with)
{
    const int32_t n = t->n;
    const double share = t->sum / n_home * (1 + UNEVEN);
    int32_t *home = vs_malloc(((size_t)n + 1) * sizeof *home), i;
    double *work = vs_calloc((size_t)n_home + 1, sizeof *work),
           *tree = vs_malloc(((size_t)n + 1) * sizeof *tree);
    for (i = 0; i < n; i++) {
        const int32_t k = take_heaviest(t, f);
        with[k] = i;
        tree[i] = f->work[k];
    }
    for (int32_t k = g->end - 1; k >= g->from; k--)
        if (f->parent[k] >= 0 && with[f->parent[k]] >= 0)
            with[k] = with[f->parent[k]];
    int32_t *near = near_homes(g, weight, n, with);
    for (i = 0; i < n; i++) {
        const int32_t w = near[i];
        home[i] = w >= 0 && work[w] + tree[i] <= share ? w : least_of(work, n_home);
        work[home[i]] += tree[i];
    }
    vs_free(near);
    vs_free(tree);
    vs_free(work);
    return home;
}

void lu_share_out(const lu_graph *g, const double *weight, int n_home, int32_t *with)
{
    forest f;
    make_forest(&f, g, weight);
    trees t = {.k = vs_calloc((size_t)g->end + 1, sizeof(int32_t))};
    const int32_t steps = open_trees(&t, &f, g, weight, n_home, INT32_MAX);
    (void)open_trees(&t, &f, g, weight, n_home, steps);
    for (int32_t k = g->from; k < g->end; k++)
        with[k] = -1;
    int32_t *home = home_trees(&t, &f, g, weight, n_home, with);
    for (int32_t k = g->from; k < g->end; k++)
        with[k] = with[k] < 0 ? -1 : home[with[k]];
    free_forest(&f);
    vs_free(t.k);
    vs_free(home);
}

void lu_split_for_homes(const lu_graph *g, const double *weight, double limit, int n_home,
                        int32_t *with, lu_split *to)
{
    parts v = {.g = g, .with = with, .limit = limit};
    to->n_home = n_home;
    to->home = vs_calloc((size_t)n_home + 1, sizeof *to->home);
    lu_share_out(g, weight, n_home, with);
    split(&v, weight, to);
    list_homes(&v, to);
}

void lu_split_free(lu_split *to)
{
    vs_free(to->home);
    vs_free(to->order);
    vs_free(to->task);
    vs_free(to->list);
    *to = (lu_split){0};
}
