/* spa.c - the order of an analysis: facts of the pattern, block form, orderings, factors. See
 * spa.h. */
#include "spa.h"

#include <math.h>
#include <string.h>
#include <suitesparse/amd.h>
#include <suitesparse/btf.h>
#include <suitesparse/colamd.h>

#include "vec.h"

#define SMALL_BLOCK 3 /* KLU leaves blocks of no more rows as they are */

static const struct {
    const char *name, *text;
} order_texts[] = {
#define X(name, text, long_text) {text, long_text},
    SPA_ORDER_LIST(X)
#undef X
};

const char *spa_order_name(spa_order o) { return order_texts[o].name; }
const char *spa_order_text(spa_order o) { return order_texts[o].text; }

/* -- facts -- */

/* at = A': columns of `a` by rows; from[k] is the place of its k-th entry in a. */
static csc transpose(const csc *a, int32_t *from, arena *mem)
{
    csc t = {.n = a->n,
             .colptr = arena_array(mem, int32_t, a->n + 1),
             .row = arena_array(mem, int32_t, csc_nnz(a))};
    int32_t *next = NULL;
    for (int32_t k = 0; k < csc_nnz(a); k++)
        t.colptr[a->row[k] + 1]++;
    for (int32_t i = 0; i < a->n; i++)
        t.colptr[i + 1] += t.colptr[i];
    vec_extend(next, a->n + 1);
    memcpy(next, t.colptr, sizeof *next * (size_t)(a->n + 1));
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            from[next[a->row[k]]] = k;
            t.row[next[a->row[k]]++] = j;
        }
    vec_free(next);
    return t;
}

static void compare_triangles(spa_report *r, const csc *a, arena *scratch)
{
    const arena_pos mark = arena_mark(scratch);
    int32_t *from = arena_array(scratch, int32_t, csc_nnz(a));
    const csc t = transpose(a, from, scratch);
    for (int32_t j = 0; j < a->n; j++) {
        int32_t k = a->colptr[j], l = t.colptr[j];
        const int32_t in_col = a->colptr[j + 1] - k, in_row = t.colptr[j + 1] - l;
        r->max_col = in_col > r->max_col ? in_col : r->max_col;
        r->max_row = in_row > r->max_row ? in_row : r->max_row;
        for (; k < a->colptr[j + 1]; k++) {
            const int32_t i = a->row[k];
            r->n_zero += a->val && a->val[k] == 0;
            if (i == j) {
                r->n_diag++;
                continue;
            }
            r->n_off++;
            while (l < t.colptr[j + 1] && t.row[l] < i)
                l++;
            if (l == t.colptr[j + 1] || t.row[l] != i)
                continue;
            r->n_mirror++;
            if (a->val) {
                r->n_equal += a->val[from[l]] == a->val[k];
                r->n_opposite += a->val[from[l]] == -a->val[k];
            }
        }
    }
    arena_release(scratch, mark);
}

static void measure_band(const spa_graph *g, const int32_t *at, int32_t *bandwidth,
                         int64_t *profile)
{
    *bandwidth = 0;
    *profile = 0;
    for (int32_t v = 0; v < g->n; v++) {
        int32_t least = at[v];
        for (int32_t e = g->ptr[v]; e < g->ptr[v + 1]; e++)
            if (at[g->adj[e]] < least)
                least = at[g->adj[e]];
        *profile += at[v] - least;
        if (at[v] - least > *bandwidth)
            *bandwidth = at[v] - least;
    }
}

static void find_bands(spa_report *r, const csc *a, arena *scratch)
{
    const arena_pos mark = arena_mark(scratch);
    const int32_t n = a->n;
    int32_t *at = arena_array(scratch, int32_t, n), *perm = arena_array(scratch, int32_t, n);
    for (int32_t k = 0; k < n; k++)
        at[k] = k;
    const spa_graph g = spa_graph_of(a, at, at, NULL, scratch);
    measure_band(&g, at, &r->bandwidth, &r->profile);
    spa_rcm(&g, perm, scratch);
    for (int32_t k = 0; k < n; k++)
        at[perm[k]] = k;
    measure_band(&g, at, &r->bandwidth_rcm, &r->profile_rcm);
    arena_release(scratch, mark);
}

/* -- block form -- */

static void find_blocks(spa_report *r, const csc *a, arena *mem)
{
    const int32_t n = a->n;
    r->p = arena_array(mem, int32_t, n);
    r->q = arena_array(mem, int32_t, n);
    int32_t *start = arena_array(mem, int32_t, n + 1),
            *work = vs_malloc(sizeof *work * 5 * (size_t)n);
    double flops;
    r->n_block = btf_order(n, a->colptr, a->row, 0, &flops, r->p, r->q, start, &r->rank, work);
    vs_free(work);
    r->block = start;
    if (r->rank < n) {
        for (int32_t k = 0; k < n; k++)
            r->p[k] = r->q[k] = k;
        r->n_block = 1;
        start[1] = n;
    }
    for (int32_t b = 0; b < r->n_block; b++) {
        const int32_t size = start[b + 1] - start[b];
        r->largest = size > r->largest ? size : r->largest;
        r->n_single += size == 1;
    }
}

typedef struct blocks {       /* numbering of the block form */
    int32_t *row_at, *col_at; /* [n] position of a row and column of A */
    int32_t *of;              /* [n] block of a position */
    csc c;                    /* the diagonal blocks, columns by position, rows unsorted */
} blocks;

static blocks split_blocks(spa_report *r, const csc *a, arena *mem)
{
    const int32_t n = a->n;
    blocks b = {.row_at = arena_array(mem, int32_t, n),
                .col_at = arena_array(mem, int32_t, n),
                .of = arena_array(mem, int32_t, n)};
    for (int32_t k = 0; k < n; k++) {
        b.row_at[r->p[k]] = k;
        b.col_at[r->q[k]] = k;
    }
    for (int32_t i = 0; i < r->n_block; i++)
        for (int32_t k = r->block[i]; k < r->block[i + 1]; k++)
            b.of[k] = i;
    b.c = (csc){.n = n,
                .colptr = arena_array(mem, int32_t, n + 1),
                .row = arena_array(mem, int32_t, csc_nnz(a))};
    int32_t nnz = 0;
    for (int32_t k = 0; k < n; k++) {
        for (int32_t e = a->colptr[r->q[k]]; e < a->colptr[r->q[k] + 1]; e++) {
            const int32_t i = b.row_at[a->row[e]];
            if (b.of[i] == b.of[k])
                b.c.row[nnz++] = i;
            else
                r->n_outside++;
        }
        b.c.colptr[k + 1] = nnz;
    }
    return b;
}

/* -- orderings -- */

/* The block lo..hi-1 of c for itself: numbers from 0. */
static void cut_block(const csc *c, int32_t lo, int32_t hi, int32_t *colptr, int32_t *row)
{
    const int32_t base = c->colptr[lo];
    for (int32_t k = lo; k <= hi; k++)
        colptr[k - lo] = c->colptr[k] - base;
    for (int32_t e = base; e < c->colptr[hi]; e++)
        row[e - base] = c->row[e] - lo;
}

static bool minimum_degree(spa_order o, int32_t n, int32_t *colptr, int32_t *row, size_t room,
                           int32_t *perm)
{
    if (o == SPA_AMD)
        return amd_order(n, colptr, row, perm, NULL, NULL) >= AMD_OK;
    int stats[COLAMD_STATS];
    if (!colamd(n, n, (int32_t)room, row, colptr, NULL, stats))
        return false;
    memcpy(perm, colptr, sizeof *perm * (size_t)n);
    return true;
}

static vs_status order_by_block(spa_order o, const spa_report *r, const blocks *b, int32_t *perm)
{
    const int32_t nnz = b->c.colptr[r->n];
    const size_t room = o == SPA_COLAMD ? colamd_recommended(nnz, r->n, r->n) : (size_t)nnz + 1;
    int32_t *colptr = vs_malloc(sizeof *colptr * ((size_t)r->n + 1)),
            *row = vs_malloc(sizeof *row * (room + 1));
    vs_status st = room > 0 && room < INT32_MAX ? VS_OK : VS_ENOMEM; /* COLAMD's own limits */
    for (int32_t i = 0; st == VS_OK && i < r->n_block; i++) {
        const int32_t lo = r->block[i], hi = r->block[i + 1], n = hi - lo;
        for (int32_t k = 0; k < n; k++)
            perm[lo + k] = k;
        if (n > SMALL_BLOCK) {
            cut_block(&b->c, lo, hi, colptr, row);
            if (!minimum_degree(o, n, colptr, row, room, perm + lo))
                st = VS_ENOMEM;
        }
        for (int32_t k = lo; k < hi; k++)
            perm[k] += lo;
    }
    vs_free(colptr);
    vs_free(row);
    return st;
}

/* Sorts the order of all positions by blocks, within each as it is; but small ones as KLU has them.
 */
static void gather_blocks(const spa_report *r, const blocks *b, const int32_t *all, int32_t *perm)
{
    int32_t *next = NULL;
    for (int32_t i = 0; i < r->n_block; i++)
        vec_push(next, r->block[i]);
    for (int32_t k = 0; k < r->n; k++)
        perm[next[b->of[all[k]]]++] = all[k];
    vec_free(next);
    for (int32_t i = 0; i < r->n_block; i++)
        for (int32_t k = r->block[i];
             k < r->block[i + 1] && r->block[i + 1] - r->block[i] <= SMALL_BLOCK; k++)
            perm[k] = k;
}

static vs_status find_order(spa_order o, const spa_report *r, const blocks *b, const spa_graph *g,
                            int32_t *perm, arena *scratch)
{
    if (o == SPA_AMD || o == SPA_COLAMD)
        return order_by_block(o, r, b, perm);
    const arena_pos mark = arena_mark(scratch);
    int32_t *all = arena_array(scratch, int32_t, r->n);
    if (o == SPA_RCM)
        spa_rcm(g, all, scratch);
    else if (o == SPA_ND)
        spa_dissect(g, all, scratch);
    else
        memcpy(all, b->col_at, sizeof *all * (size_t)r->n); /* columns 0, 1, ... of A */
    gather_blocks(r, b, all, perm);
    arena_release(scratch, mark);
    return VS_OK;
}

/* For any choice of pivots the factors stay within those of B'B, whose fill is that of stars: each
 * row of B joins its columns to that one of them which is eliminated first (George & Ng, SIAM J.
 * Sci. Stat. Comput. 8(6), 1987). */
static spa_graph star_graph(const blocks *b, const int32_t *perm, arena *mem)
{
    const csc *c = &b->c;
    const int32_t n = c->n;
    int32_t *first = arena_array(mem, int32_t, n), *same = arena_array(mem, int32_t, n);
    csc star = {.n = n,
                .colptr = arena_array(mem, int32_t, n + 1),
                .row = arena_array(mem, int32_t, c->colptr[n])};
    for (int32_t i = 0; i < n; i++)
        first[i] = -1;
    for (int32_t k = 0; k < n; k++) {
        same[k] = k;
        for (int32_t e = c->colptr[perm[k]]; e < c->colptr[perm[k] + 1]; e++)
            if (first[c->row[e]] < 0)
                first[c->row[e]] = perm[k];
    }
    for (int32_t j = 0; j <= n; j++)
        star.colptr[j] = c->colptr[j];
    for (int32_t e = 0; e < c->colptr[n]; e++)
        star.row[e] = first[c->row[e]];
    return spa_graph_of(&star, same, same, NULL, mem);
}

static vs_status analyze_order(spa_report *r, spa_order o, const blocks *b, const spa_graph *g,
                               const spa_opt *opt, arena *mem, arena *scratch)
{
    spa_fill *f = &r->fill[o];
    const arena_pos mark = arena_mark(scratch);
    f->order = o;
    f->bound = o == SPA_COLAMD;
    f->perm = arena_array(mem, int32_t, r->n);
    vs_status st = find_order(o, r, b, g, f->perm, scratch);
    if (st == VS_OK) {
        int32_t *before = arena_array(scratch, int32_t, r->n);
        memcpy(before, f->perm, sizeof *before * (size_t)r->n);
        const spa_graph star = f->bound ? star_graph(b, f->perm, scratch) : *g;
        spa_eliminate(f, &star, mem);
        f->nnz_lu = 2 * f->lnz - r->n + r->n_outside;
        spa_factor(f, r, before, opt, scratch);
    }
    arena_release(scratch, mark);
    return st;
}

vs_status spa_analyze(spa_report *r, const csc *a, const spa_opt *opt, arena *mem)
{
    arena scratch;
    *r = (spa_report){.a = a, .n = a->n, .nnz = csc_nnz(a)};
    arena_init(&scratch);
    compare_triangles(r, a, &scratch);
    find_bands(r, a, &scratch);
    find_blocks(r, a, mem);
    const blocks b = split_blocks(r, a, &scratch);
    const spa_graph g = spa_graph_of(a, b.row_at, b.col_at, b.of, &scratch);
    vs_status st = VS_OK;
    for (int o = 0; o < SPA_N_ORDER && st == VS_OK; o++)
        st = analyze_order(r, (spa_order)o, &b, &g, opt, mem, &scratch);
    arena_fini(&scratch);
    return st;
}
