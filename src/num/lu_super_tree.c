/* lu_super_tree.c - small subtrees of the elimination tree, each eliminated as a whole.
 *
 * Most columns of a circuit's matrix have few entries: ends of wires, nodes within devices. One by
 * one, each is a handful of multiplications behind searches in lists of other columns, and each
 * column above reads it again. Where patterns of L and U mirror each other, a subtree of the
 * elimination tree depends on nothing outside, and what it does to columns above is one block of
 * the rows below its last column. So all of it is computed in one piece of memory that stays in the
 * first cache: an entry of L and the mirrored one of U lie there as a pair, a pivot with mirrored
 * columns (l, u) subtracts (l_j u_i, l_i u_j) from the pair (j, i), and the places of these pairs
 * are listed beforehand. Then L and U go to their places, and the block stays for the columns
 * above, which add it in the order of trees.
 * Source: Duff & Reid, ACM TOMS 9(3), 1983 (what a subtree leaves to its parents); Gustavson,
 *         Liniger & Willoughby, J. ACM 17(1), 1970 (places instead of searches). */
#include <string.h>

#include "lu_super_priv.h"

enum {
    MOST_COLUMNS = 512, /* of a tree: its pairs are to stay in a near cache, and all of it is made
                           anew where one entry changes */
    MOST_ROWS = 32,     /* below a pivot; longer ones pay as panels */
    AHEAD = 48, /* entries of A, and columns, by which their memory is asked for early: what */
    COLUMNS_AHEAD = 8 /* has left the caches since the last factorisation is far apart */
};
_Static_assert(2 * MOST_COLUMNS * (MOST_ROWS + 1) + MOST_ROWS * (MOST_ROWS + 1) <= UINT16_MAX,
               "numbers of pairs");

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias)); /* of L, of U */

#define INLINE static inline __attribute__((always_inline))

typedef struct node { /* a column */
    uint32_t lower;   /* its first value in s->lx; there are fewer than 2^32 */
    int32_t column;
    int32_t upper; /* in s->ux: the values of its supernode's rows */
    uint8_t rows;  /* below the pivot */
    uint8_t width; /* of its supernode, */
    uint8_t place; /* and columns of that before it */
} node;

typedef struct tree {
    int32_t first;   /* its first supernode, */
    int32_t root;    /* and the last one, above all others */
    int32_t outside; /* rows below */
    int32_t n_pair;  /* of its columns (a diagonal counts as one), then of the rows below */
    int32_t node;    /* the first; nodes end where those of the next tree begin, and so on */
    int32_t entry;   /* of A */
    int64_t target;  /* places of what pivots subtract */
    int64_t left;    /* [outside][outside] what it leaves to columns above, by columns */
} tree;

struct lu_trees {
    int32_t n;
    int32_t *of; /* [n_super] tree of a supernode; -1: in none */
    tree *tree;  /* [n + 1] */
    node *node;
    uint16_t *target; /* pairs, by the number of their first one among the numbers of all */
    int32_t *from;    /* of an entry: place in a->val */
    uint16_t *to;     /* and among the numbers of all pairs */
    double *left;
    double *work; /* [threads][work_size] */
    size_t work_size;
    int32_t *part_at; /* [n + 1] in part, by columns of L */
    lu_tree_part *part;
};

/* -- which -- */

/* Whether the columns of U in a supernode's rows are those of L's rows in its columns. */
static bool is_mirrored(const lu_super *s, int32_t o)
{
    const int32_t first = s->start[o], end = s->start[o + 1], width = end - first,
                  rows = s->ip[o + 1] - s->ip[o];
    const int32_t *id = s->idx + s->ip[o], *column = s->column + s->row_at[o + 1];
    if (s->row_at[o] - s->row_at[o + 1] != rows - 1)
        return false;
    for (int32_t i = 0; i < rows - 1; i++)
        if (column[i] != id[rows - 1 - i] || s->skip[s->row_at[o + 1] + i])
            return false;
    return s->value_at[o] - s->value_at[o + 1] == (rows - width) * width + width * (width - 1) / 2;
}

/* The supernode of the first row below o; -1: none. */
static int32_t parent(const lu_super *s, int32_t o)
{
    const int32_t i = s->ip[o] + s->start[o + 1] - s->start[o];
    return i < s->ip[o + 1] ? s->of[s->idx[i]] : -1;
}

/* Whoever uses a supernode that is in no tree is in none. */
static void refuse_users(const lu_super *s, int32_t o, uint8_t *refused)
{
    for (int32_t i = s->ip[o]; i < s->ip[o + 1]; i++)
        refused[s->of[s->idx[i]]] = 1;
    for (int32_t j = s->row_at[o + 1]; j < s->row_at[o]; j++)
        refused[s->of[s->column[j]]] = 1;
}

/* Supernodes of trees: of [n_super] becomes the tree, or -1. A tree of one supernode saves nothing.
 * Returns the number of trees. */
static int32_t find_trees(const lu_super *s, int32_t *of)
{
    const size_t room = (size_t)s->n_super + 1;
    uint8_t *refused = vs_calloc(room, 1);
    int32_t *size = vs_calloc(room, sizeof *size), n = 0;
    for (int32_t o = 0; o < s->n_super; o++) {
        const int32_t up = parent(s, o);
        size[o] += s->start[o + 1] - s->start[o];
        refused[o] |=
            size[o] > MOST_COLUMNS || s->ip[o + 1] - s->ip[o] > MOST_ROWS + 1 || !is_mirrored(s, o);
        if (refused[o])
            refuse_users(s, o, refused);
        if (up >= 0)
            size[up] += size[o];
    }
    for (int32_t o = s->n_super - 1; o >= 0; o--) {
        const int32_t up = refused[o] ? -1 : parent(s, o);
        const bool in_parents = up >= 0 && !refused[up];
        of[o] = refused[o]                                ? -1
                : in_parents                              ? of[up]
                : size[o] > s->start[o + 1] - s->start[o] ? n++
                                                          : -1;
    }
    for (int32_t o = 0; o < s->n_super; o++) /* ascending by their roots */
        of[o] = of[o] < 0 ? -1 : n - 1 - of[o];
    vs_free(refused);
    vs_free(size);
    return n;
}

/* -- plan -- */

typedef struct plan {
    lu_super *s;
    lu_trees *h;
    int32_t *tree; /* [n] of a column; -1: in none */
    int32_t *pair; /* [n] in its tree, place of the diagonal; of rows below the present tree which
                      they are */
} plan;

static void count_nodes(plan *p)
{
    const lu_super *s = p->s;
    lu_trees *h = p->h;
    for (int32_t o = 0; o < s->n_super; o++) {
        if (h->of[o] < 0)
            continue;
        tree *t = &h->tree[h->of[o]];
        const int32_t rows = s->ip[o + 1] - s->ip[o];
        t->first = t->node ? t->first : o;
        t->root = o;
        t->outside = rows - (s->start[o + 1] - s->start[o]);
        for (int32_t r = rows - 1; r >= t->outside; r--) {
            t->node++;
            t->n_pair += r + 1;
            t->target += (int64_t)r * (r + 1) / 2;
        }
    }
}

/* Of n rows and columns, with the diagonal. */
static inline int32_t pairs_of_square(int32_t n) { return n * (n + 1) / 2; }

/* Counts become places. */
static void place_trees(lu_trees *h)
{
    tree sum = {0};
    int32_t most = 0;
    for (int32_t i = 0; i <= h->n; i++) {
        tree *t = &h->tree[i];
        const tree count = *t;
        t->node = sum.node;
        t->target = sum.target;
        t->left = sum.left;
        sum.node += count.node;
        sum.target += count.target;
        sum.left += (int64_t)count.outside * count.outside;
        const int32_t pairs = t->n_pair + pairs_of_square(t->outside);
        most = pairs > most ? pairs : most;
    }
    h->node = vs_calloc((size_t)sum.node + COLUMNS_AHEAD + 1, sizeof *h->node);
    h->target = vs_calloc((size_t)sum.target + 1, sizeof *h->target);
    h->left = vs_calloc((size_t)sum.left + 1, sizeof *h->left);
    h->work_size = 2 * ((size_t)most + 4);
}

/* Nodes of all trees, ascending by columns in each, and their pairs. */
static void list_nodes(plan *p)
{
    const lu_super *s = p->s;
    lu_trees *h = p->h;
    for (int32_t i = 0; i < h->n; i++)
        h->tree[i].n_pair = 0;
    memset(p->tree, -1, sizeof *p->tree * (size_t)s->n);
    for (int32_t o = 0; o < s->n_super; o++) {
        if (h->of[o] < 0)
            continue;
        tree *t = &h->tree[h->of[o]];
        const int32_t ld = s->ip[o + 1] - s->ip[o], width = s->start[o + 1] - s->start[o];
        for (int32_t i = 0; i < width; i++) {
            p->tree[s->start[o] + i] = h->of[o];
            p->pair[s->start[o] + i] = t->n_pair;
            t->n_pair += ld - i;
            h->node[t->node++] = (node){.lower = (uint32_t)(s->lp[o] + (int64_t)i * ld + i + 1),
                                        .column = s->start[o] + i,
                                        .upper = s->value_at[o + 1],
                                        .rows = (uint8_t)(ld - i - 1),
                                        .width = (uint8_t)width,
                                        .place = (uint8_t)i};
        }
    }
    for (int32_t i = h->n; i > 0; i--)
        h->tree[i].node = h->tree[i - 1].node;
    h->tree[0].node = 0;
    for (int32_t i = 0; i < h->n; i++)
        h->tree[i].n_pair += pairs_of_square(h->tree[i].outside);
}

static const int32_t *rows_below(const lu_super *s, const node *v)
{
    return s->idx + s->ip[s->of[v->column]] + v->place + 1;
}

/* Where node v's products go, which is in tree t: for each of its rows i the pairs of i and of the
 * rows behind. */
static uint16_t *list_targets(const plan *p, const tree *t, const node *v, uint16_t *to)
{
    const lu_super *s = p->s;
    const int32_t *row = rows_below(s, v), *end = row + v->rows;
    const int32_t last = s->start[t->root + 1];
    for (; row < end && *row < last; row++) {
        const int32_t o = s->of[*row], *in = s->idx + s->ip[o] + (*row - s->start[o]) + 1;
        int32_t place = p->pair[*row];
        *to++ = (uint16_t)(2 * place++);
        for (const int32_t *b = row + 1; b < end; b++, place++) {
            while (*in++ != *b)
                place++;
            *to++ = (uint16_t)(2 * place);
        }
    }
    const int32_t square = t->n_pair - pairs_of_square(t->outside);
    for (; row < end; row++) {
        const int32_t i = p->pair[*row], diagonal = square + i * t->outside - i * (i - 1) / 2;
        for (const int32_t *b = row; b < end; b++)
            *to++ = (uint16_t)(2 * (diagonal + p->pair[*b] - i));
    }
    return to;
}

static void plan_tree(plan *p, const tree *t)
{
    const lu_super *s = p->s;
    lu_trees *h = p->h;
    const int32_t *outside = s->idx + s->ip[t->root + 1] - t->outside;
    uint16_t *to = h->target + t->target;
    for (int32_t i = 0; i < t->outside; i++)
        p->pair[outside[i]] = i;
    for (const node *v = h->node + t->node; v < h->node + t[1].node; v++)
        to = list_targets(p, t, v, to);
    assert(to == h->target + t[1].target);
}

/* The tree that an entry of A belongs to; -1: none. */
static inline int32_t owner(const plan *p, int32_t row, int32_t column)
{
    return p->tree[row < column ? row : column];
}

/* The number of an entry of A in its tree. */
static int32_t place_of(const plan *p, int32_t row, int32_t column)
{
    const lu_super *s = p->s;
    const int32_t i = row < column ? row : column, j = row < column ? column : row, o = s->of[i],
                  *first = s->idx + s->ip[o] + (i - s->start[o]), *lo = first,
                  *hi = s->idx + s->ip[o + 1] - 1;
    while (lo < hi) {
        const int32_t *mid = lo + (hi - lo) / 2;
        if (*mid < j)
            lo = mid + 1;
        else
            hi = mid;
    }
    assert(*lo == j);
    return 2 * (p->pair[i] + (int32_t)(lo - first)) + (row < column);
}

/* Entries of A by trees; others stay in ap. */
static void share_entries(const plan *p)
{
    lu_super *s = p->s;
    lu_trees *h = p->h;
    int32_t all = 0, left = 0, e = 0;
    for (int32_t k = 0; k < s->n; k++)
        for (; e < s->ap[k + 1]; e++) {
            const int32_t t = owner(p, s->arow[e], k);
            if (t >= 0)
                h->tree[t].entry++;
        }
    for (int32_t i = 0; i <= h->n; i++) {
        const int32_t count = h->tree[i].entry;
        h->tree[i].entry = all;
        all += count;
    }
    h->from = vs_calloc((size_t)all + AHEAD + 1, sizeof *h->from);
    h->to = vs_calloc((size_t)all + 1, sizeof *h->to);
    e = 0;
    for (int32_t k = 0; k < s->n; k++) {
        for (; e < s->ap[k + 1]; e++) {
            const int32_t t = owner(p, s->arow[e], k);
            if (t >= 0) {
                h->from[h->tree[t].entry] = s->apos[e];
                h->to[h->tree[t].entry++] = (uint16_t)place_of(p, s->arow[e], k);
            } else {
                s->apos[left] = s->apos[e];
                s->arow[left++] = s->arow[e];
            }
        }
        s->ap[k + 1] = left; /* e is where it was */
    }
    for (int32_t i = h->n; i > 0; i--)
        h->tree[i].entry = h->tree[i - 1].entry;
    h->tree[0].entry = 0;
}

/* Numbers the columns of the crown, in s->crown and for A's entries that are left. */
static void number_crown(lu_super *s)
{
    int32_t *number = vs_malloc(sizeof *number * ((size_t)s->n + 1));
    for (int32_t k = 0; k < s->n; k++)
        number[k] = s->trees->of[s->of[k]] < 0 ? s->n_crown++ : -1;
    s->crown = vs_calloc((size_t)s->ip[s->n_super] + 1, sizeof *s->crown);
    for (int32_t o = 0; o < s->n_super; o++) {
        const int32_t t = s->trees->of[o];
        if (t >= 0 && s->trees->tree[t].root != o)
            continue;
        for (int32_t i = s->ip[o]; i < s->ip[o + 1]; i++)
            s->crown[i] = number[s->idx[i]];
    }
    for (int32_t e = 0; e < s->ap[s->n]; e++)
        s->arow[e] = number[s->arow[e]];
    vs_free(number);
}

/* What trees leave, by the columns that add it. */
static void list_parts(lu_super *s)
{
    lu_trees *h = s->trees;
    h->part_at = vs_calloc((size_t)s->n + 1, sizeof *h->part_at);
    for (int pass = 0; pass < 2; pass++) { /* counted, then listed */
        for (const tree *t = h->tree; t < h->tree + h->n; t++) {
            const int32_t *column = s->idx + s->ip[t->root + 1] - t->outside,
                          *row = s->crown + s->ip[t->root + 1] - t->outside;
            for (int32_t i = 0; i < t->outside; i++) {
                int32_t *at = &h->part_at[column[i]];
                if (pass)
                    h->part[*at] =
                        (lu_tree_part){.value = h->left + t->left + (int64_t)i * t->outside,
                                       .row = row,
                                       .n = t->outside,
                                       .root = t->root};
                ++*at;
            }
        }
        if (!pass)
            h->part = vs_calloc((size_t)csc_begins(h->part_at, s->n) + 1, sizeof *h->part);
    }
    csc_ends_to_begins(h->part_at, s->n);
}

/* Segments of a column whose supernodes are in trees come first: a factorisation goes through the
 * others. */
static void part_segments(lu_super *s)
{
    int32_t most = 0;
    for (int32_t k = 0; k < s->n; k++)
        most = s->gp[k + 1] - s->gp[k] > most ? s->gp[k + 1] - s->gp[k] : most;
    int32_t *seg = vs_calloc(2 * (size_t)most + 1, sizeof *seg), *place = seg + most;
    for (int32_t k = 0; k < s->n; k++) {
        int32_t to = s->gp[k], n = 0;
        if (s->trees->of[s->of[k]] >= 0)
            to = s->gp[k + 1];
        for (int32_t g = to; g < s->gp[k + 1]; g++) {
            if (s->trees->of[s->of[s->seg[g]]] < 0) {
                seg[n] = s->seg[g];
                place[n++] = s->place[g];
            } else {
                s->seg[to] = s->seg[g];
                s->place[to++] = s->place[g];
            }
        }
        s->rest[k] = to;
        memcpy(s->seg + to, seg, sizeof *seg * (size_t)n);
        memcpy(s->place + to, place, sizeof *place * (size_t)n);
    }
    vs_free(seg);
}

/* All columns are the crown. */
static void do_without(lu_super *s)
{
    lu_trees *h = s->trees;
    memset(h->of, -1, sizeof *h->of * (size_t)s->n_super);
    h->part_at = vs_calloc((size_t)s->n + 1, sizeof *h->part_at);
    s->n_crown = s->n;
    s->crown = s->idx;
    memcpy(s->rest, s->gp, sizeof *s->rest * (size_t)s->n);
}

static void plan_all(lu_super *s)
{
    const size_t n = (size_t)s->n + 1;
    lu_trees *h = s->trees;
    plan p = {.s = s,
              .h = h,
              .tree = vs_malloc(n * sizeof *p.tree),
              .pair = vs_malloc(n * sizeof *p.pair)};
    count_nodes(&p);
    place_trees(h);
    list_nodes(&p);
    share_entries(&p);
    for (int32_t i = 0; i < h->n; i++)
        plan_tree(&p, &h->tree[i]);
    vs_free(p.tree);
    vs_free(p.pair);
    number_crown(s);
    list_parts(s);
    part_segments(s);
    h->work = vs_calloc(h->work_size * (size_t)pool_size(s->pool), sizeof *h->work);
}

void lu_trees_new(lu_super *s, bool any)
{
    lu_trees *h = s->trees = vs_calloc(1, sizeof *h);
    h->of = vs_calloc((size_t)s->n_super + 1, sizeof *h->of);
    h->n = any ? find_trees(s, h->of) : 0;
    h->tree = vs_calloc((size_t)h->n + 1, sizeof *h->tree);
    s->rest = vs_calloc((size_t)s->n + 1, sizeof *s->rest);
    if (h->n)
        plan_all(s);
    else
        do_without(s);
}

void lu_trees_free(lu_trees **ph)
{
    lu_trees *h = *ph;
    if (!h)
        return;
    void *const all[] = {h->of, h->tree, h->node, h->target,  h->from,
                         h->to, h->left, h->work, h->part_at, h->part};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vs_free(h);
    *ph = NULL;
}

int32_t lu_tree_of(const lu_super *s, int32_t o) { return s->trees->of[o]; }
int32_t lu_tree_root(const lu_super *s, int32_t t) { return s->trees->tree[t].root; }

int32_t lu_tree_root_of(const lu_super *s, int32_t o)
{
    const int32_t t = s->trees->of[o];
    return t < 0 ? o : s->trees->tree[t].root;
}
int32_t lu_tree_first(const lu_super *s, int32_t t) { return s->trees->tree[t].first; }

lu_tree_parts lu_tree_parts_of(const lu_super *s, int32_t k)
{
    const lu_trees *h = s->trees;
    return (lu_tree_parts){h->part + h->part_at[k], h->part + h->part_at[k + 1]};
}

/* -- new values -- */

/* Column v's pairs p go to L and U. */
INLINE void store(lu_super *s, const node *v, const pair *restrict p, const int32_t n)
{
    double *restrict l = s->lx + v->lower, *restrict u = s->ux + v->upper;
    for (int32_t a = 0; a < n; a++)
        l[a] = p[a][0];
    if (v->width == 1) {
        for (int32_t a = 0; a < n; a++)
            u[n - 1 - a] = p[a][1];
        return;
    }
    const int32_t own = v->width - 1 - v->place; /* rows of the supernode */
    u += v->place;
    for (int32_t a = n - 1; a >= own; a--, u += v->width)
        *u = p[a][1];
    for (int32_t a = own - 1; a >= 0; a--) {
        *u = p[a][1];
        u += v->place + 1 + a;
    }
}

/* Column i with n rows, whose pairs p are in `work`: L's are divided by the pivot, and products
 * subtracted. */
INLINE const uint16_t *eliminate(lu_super *s, const node *i, double *restrict work,
                                 pair *restrict p, const uint16_t *restrict to, const int32_t n)
{
    const double pivot = s->diag[i->column] = p[-1][0];
    const pair by = {1 / pivot, 1};
    for (int32_t a = 0; a < n; a++)
        p[a] *= by;
    for (int32_t a = 0; a < n; a++) {
        const pair q = {p[a][1], p[a][0]};
        for (int32_t b = a; b < n; b++)
            *(pair *)(work + *to++) -= p[b] * q;
    }
    store(s, i, p, n);
    s->changed[i->column] = 1;
    return to;
}

/* The block of rows below from their pairs p, by columns. */
static void leave(double *restrict to, const pair *restrict p, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        to[i * n + i] = p[0][0];
        for (int32_t j = i + 1; j < n; j++) {
            to[i * n + j] = p[j - i][0];
            to[j * n + i] = p[j - i][1];
        }
        p += n - i;
    }
}

/* All columns of tree t. The work is that of the tree's entries. */
WIDE static void eliminate_tree(lu_super *s, const tree *t, double *restrict work)
{
    const lu_trees *h = s->trees;
    const node *const end = h->node + t[1].node;
    const uint16_t *to = h->target + t->target;
    pair *p = (pair *)work + 1;
    for (const node *i = h->node + t->node; i < end; p += i++->rows + 1) {
        __builtin_prefetch(s->lx + i[COLUMNS_AHEAD].lower, 1);
        __builtin_prefetch(s->ux + i[COLUMNS_AHEAD].upper, 1);
        switch (i->rows) {
        case 1: to = eliminate(s, i, work, p, to, 1); break;
        case 2: to = eliminate(s, i, work, p, to, 2); break;
        case 3: to = eliminate(s, i, work, p, to, 3); break;
        case 4: to = eliminate(s, i, work, p, to, 4); break;
        case 5: to = eliminate(s, i, work, p, to, 5); break;
        case 6: to = eliminate(s, i, work, p, to, 6); break;
        case 7: to = eliminate(s, i, work, p, to, 7); break;
        case 8: to = eliminate(s, i, work, p, to, 8); break;
        default: to = eliminate(s, i, work, p, to, i->rows);
        }
    }
    leave(h->left + t->left, p - 1, t->outside);
}

/* The values of tree t's entries to their places in work; val: new ones, NULL: those of s->val. */
static void take_values(lu_super *s, const tree *t, const double *restrict val,
                        double *restrict work)
{
    const lu_trees *h = s->trees;
    const int32_t n = t[1].entry - t->entry;
    const int32_t *restrict in = h->from + t->entry;
    const uint16_t *restrict to = h->to + t->entry;
    double *restrict value = s->val;
    memset(work, 0, sizeof(pair) * (size_t)t->n_pair);
    if (val)
        for (int32_t e = 0; e < n; e++) {
            __builtin_prefetch(val + in[e + AHEAD], 0);
            __builtin_prefetch(value + in[e + AHEAD], 1);
            work[to[e]] = value[in[e]] = val[in[e]];
        }
    else
        for (int32_t e = 0; e < n; e++)
            work[to[e]] = value[in[e]];
}

static bool are_new(const lu_super *s, const tree *t, const double *val)
{
    const int32_t *in = s->trees->from;
    for (int32_t e = t->entry; e < t[1].entry; e++)
        if (val[in[e]] != s->val[in[e]])
            return true;
    return false;
}

bool lu_tree_take(lu_super *s, int32_t t, const double *val, const int32_t *column,
                  const uint8_t *counts)
{
    const int32_t *in = s->trees->from;
    const tree *tr = &s->trees->tree[t];
    bool any = false;
    for (int32_t e = tr->entry; e < tr[1].entry; e++) {
        const int32_t at = in[e];
        if (counts[column[at]] && val[at] != s->val[at]) {
            s->val[at] = val[at];
            any = true;
        }
    }
    return any;
}

bool lu_tree_factor(lu_super *s, int32_t t, const double *val, int worker)
{
    lu_trees *h = s->trees;
    const tree *tr = &h->tree[t];
    double *work = h->work + h->work_size * (size_t)worker;
    if (val && s->have && !are_new(s, tr, val)) {
        for (const node *i = h->node + tr->node; i < h->node + tr[1].node; i++)
            s->changed[i->column] = 0;
        return false;
    }
    take_values(s, tr, val, work);
    eliminate_tree(s, tr, work);
    return true;
}
