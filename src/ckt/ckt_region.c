/* ckt_region.c - the cells that are awake as a circuit of their own, while the same ones stay
 * awake: see ckt_latent.h. What the rest adds to their rows comes from two sides: entries of latent
 * columns beside them, the rim; and in the rows of hubs what all latent cells add, which is kept in
 * stretches (ckt_hubs.h), in which the region's own parts are 0. */
#include <string.h>

#include "bits.h"
#include "ckt_latent_priv.h"

typedef ckt_two two;

typedef struct rim_entry { /* of a latent column in a row of the region, but of hubs */
    int32_t place, slot, unknown;
} rim_entry;

struct ckt_region {
    int32_t m;        /* places */
    csc a;            /* row and column k - 1 are those of place k */
    int32_t *slot;    /* [nnz] the places of its entries in the circuit's matrix, -1: none, 1 */
    int32_t *pair;    /* vec: entries that pairs have a part of, */
    two *pair_gc;     /* vec: and this part, G and C */
    int32_t *own;     /* vec: entries that devices outside of held groups may add to */
    rim_entry *rim;   /* vec */
    uint64_t *inside; /* [bits of n_cell] */
    two *fq;          /* [m] */
};

/* -- plan -- */

/* The entries in the row at place p, in columns of the region: rows come in the order of places, so
 * that each column has them ascending. Counts, then fills. */
static void walk_row(const ckt_latent *l, struct ckt_region *r, int32_t p, bool fill)
{
    const int32_t i = l->up[p];
    if (i <= 0) {
        const int32_t at = r->a.colptr[p]++;
        if (fill) {
            r->a.row[at] = p - 1;
            r->slot[at] = -1;
        }
        return;
    }
    for (int32_t k = ckt_row_begin(l, i); k < ckt_row_end(l, i); k++) {
        const int32_t j = l->col[k];
        if (!ckt_cell_awake(l, ckt_cell_of(l, j)))
            continue;
        const int32_t at = r->a.colptr[l->place_of[j]]++;
        if (fill) {
            r->a.row[at] = p - 1;
            r->slot[at] = l->place[k];
        }
    }
}

/* The matrix: colptr[p] counts, then moves to the end of the column of place p, which is column p -
 * 1. */
static void list_entries(const ckt_latent *l, struct ckt_region *r)
{
    int32_t sum = 0;
    for (int32_t p = 1; p < r->m; p++)
        walk_row(l, r, p, false);
    for (int32_t p = 0; p < r->m; p++) {
        const int32_t n = r->a.colptr[p];
        r->a.colptr[p] = sum;
        sum += n;
    }
    r->a.row = vs_malloc(((size_t)sum + 1) * sizeof *r->a.row);
    r->a.val = vs_malloc(((size_t)sum + 1) * sizeof *r->a.val);
    r->slot = vs_malloc(((size_t)sum + 1) * sizeof *r->slot);
    for (int32_t p = 1; p < r->m; p++)
        walk_row(l, r, p, true);
    r->a.n = r->m - 1;
    r->a.val[sum] = 0;
}

static bool is_pinned_at(const ckt_latent *l, int32_t p)
{
    return l->up[p] > 0 && l->pinned[l->up[p]];
}

/* Entries that need more than the sums of held devices. */
static void list_special(const ckt *c, struct ckt_region *r)
{
    const ckt_latent *l = c->latent;
    const double *pairs = ckt_pairs_sums(c);
    for (int32_t p = 1; p < r->m; p++)
        for (int32_t k = r->a.colptr[p - 1]; k < r->a.colptr[p]; k++) {
            if (r->slot[k] < 0)
                continue;
            const two gc = pairs ? ((const two *)pairs)[r->slot[k]] : (two){0};
            if (gc[0] != 0 || gc[1] != 0) {
                vec_push(r->pair, k);
                vec_push(r->pair_gc, gc);
            }
            if (is_pinned_at(l, p) && is_pinned_at(l, r->a.row[k] + 1))
                vec_push(r->own, k);
        }
}

static void add_rim_cell(const ckt *c, struct ckt_region *r, int32_t cell)
{
    const ckt_latent *l = c->latent;
    for (int32_t s = cell * CKT_CELL; s < (cell + 1) * CKT_CELL; s++) {
        const int32_t j = l->at_seat[s];
        for (int32_t k = j > 0 ? c->a.colptr[j - 1] : 0; j > 0 && k < c->a.colptr[j]; k++) {
            const int32_t i = c->a.row[k] + 1;
            if (l->row_awake[i] && !l->hubs.is[i])
                vec_push(r->rim, (rim_entry){l->place_of[i], k, j});
        }
    }
}

static void list_rim(const ckt *c, struct ckt_region *r)
{
    const ckt_latent *l = c->latent;
    for (int32_t k = 0; k < l->n_cell; k++) {
        if (ckt_cell_awake(l, k))
            bits_set(r->inside, (size_t)k);
        else if (l->near[k])
            add_rim_cell(c, r, k);
    }
}

/* Parts of hubs' rows that the region's columns add are summed with these columns. */
static void clear_hubs(ckt_latent *l)
{
    for (int32_t s = 0; s < l->n_awake; s++) {
        const int32_t cell = l->cell_at[s];
        for (int32_t k = l->hubs.parts.at[cell]; k < l->hubs.parts.at[cell + 1]; k++) {
            ckt_hub_part *p = &l->hubs.part[l->hubs.parts.which[k]];
            p->sum = (two){0};
            l->hubs.stretch[p->stretch].stale = true;
        }
    }
}

const csc *ckt_region_begin(ckt *c)
{
    ckt_latent *l = c->latent;
    const size_t m = (size_t)l->n_awake * CKT_CELL, words = bits_words((size_t)l->n_cell);
    struct ckt_region *r = l->region = vs_calloc(1, sizeof *r);
    r->m = (int32_t)m;
    r->a.colptr = vs_calloc(m + 1, sizeof *r->a.colptr);
    r->inside = vs_calloc(words, sizeof *r->inside);
    r->fq = vs_calloc(m, sizeof *r->fq);
    list_entries(l, r);
    list_special(c, r);
    list_rim(c, r);
    clear_hubs(l);
    for (int32_t k = 0; k < csc_nnz(&r->a); k++)
        r->a.val[k] = r->slot[k] < 0 ? 1 : c->a.val[r->slot[k]];
    return &r->a;
}

static void free_region(ckt_latent *l)
{
    struct ckt_region *r = l->region;
    void *const all[] = {r->a.colptr, r->a.row, r->a.val, r->slot, r->inside, r->fq};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vec_free(r->pair);
    vec_free(r->pair_gc);
    vec_free(r->own);
    vec_free(r->rim);
    vs_free(r);
    l->region = NULL;
}

void ckt_region_end(ckt *c)
{
    ckt_latent *l = c->latent;
    if (!l || !l->region)
        return;
    ckt_region_store(c);
    free_region(l); /* the next load sums the parts of hubs' rows anew: its cells are awake */
}

void ckt_region_store(ckt *c)
{
    const struct ckt_region *r = c->latent->region;
    for (int32_t k = 0; k < csc_nnz(&r->a); k++)
        if (r->slot[k] >= 0)
            c->a.val[r->slot[k]] = r->a.val[k];
}

/* -- loads -- */

/* The columns of latent cells whose parts of hubs' rows changed. (Nobody reads what they add to
 * other rows.) */
static void multiply_stale(ckt *c, const dev_lin_sums *s, const dev_lin_at *at)
{
    ckt_latent *l = c->latent;
    for (int32_t w = 0; w * 64 < l->n_cell; w++) {
        uint64_t cells = l->is_stale[w] & ~l->region->inside[w];
        for (; cells; cells &= cells - 1) {
            const int32_t cell = w * 64 + __builtin_ctzll(cells);
            if (cell < l->n_cell)
                ckt_latent_multiply(c, s, at, cell);
        }
        l->is_stale[w] = 0;
    }
}

static void multiply_rim(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at)
{
    const struct ckt_region *r = c->latent->region;
    const two *gc = (const two *)s->gc;
    for (const rim_entry *e = r->rim, *end = e + vec_len(r->rim); e < end; e++) {
        const two x = {at->x[e->unknown], at->x[e->unknown]},
                  sum = ckt_slopes_at(s->gc, ckt_pairs_sums(c), e->slot);
        r->fq[e->place] += gc[e->slot] * x;
        c->a.val[e->slot] = sum[0] + at->alpha * sum[1];
    }
}

/* fq += (G x, C x), J = G + alpha C of held devices, in the columns of the region. */
static void multiply_inside(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at)
{
    const ckt_latent *l = c->latent;
    const struct ckt_region *r = l->region;
    const two *gc = (const two *)s->gc;
    const int32_t *row = r->a.row, *slot = r->slot, *colptr = r->a.colptr;
    two *restrict fq = r->fq + 1;
    double *restrict val = r->a.val;
    for (int32_t p = 1; p < r->m; p++) {
        if (l->up[p] <= 0)
            continue;
        const two x = {at->x[l->up[p]], at->x[l->up[p]]};
        for (int32_t k = colptr[p - 1]; k < colptr[p]; k++) {
            const two g = gc[slot[k]];
            fq[row[k]] += g * x;
            val[k] = g[0] + at->alpha * g[1];
        }
    }
}

/* Entries get what pairs add. Those that other devices add to stand in the circuit's matrix until
 * they have done so. */
static void complete_entries(const ckt *c, double alpha)
{
    const struct ckt_region *r = c->latent->region;
    for (size_t k = 0; k < vec_len(r->pair); k++)
        r->a.val[r->pair[k]] += r->pair_gc[k][0] + alpha * r->pair_gc[k][1];
    for (size_t k = 0; k < vec_len(r->own); k++)
        c->a.val[r->slot[r->own[k]]] = r->a.val[r->own[k]];
}

void ckt_region_sum(ckt *c, const dev_lin_at *at)
{
    ckt_latent *l = c->latent;
    const struct ckt_region *r = l->region;
    const dev_lin_sums *s = ckt_bypass_sums(c);
    for (int32_t p = 1; p < r->m; p++)
        if (l->up[p] > 0)
            r->fq[p] = (two){s->i[l->up[p]], s->q[l->up[p]]};
    multiply_inside(c, s, at);
    multiply_rim(c, s, at);
    multiply_stale(c, s, at);
    for (size_t h = 0; h < vec_len(l->hubs.hub); h++)
        r->fq[l->place_of[l->hubs.hub[h].unknown]] +=
            ckt_hubs_row(&l->hubs, &l->hubs.hub[h], (two){0});
    complete_entries(c, at->alpha);
    for (int32_t p = 1; p < r->m; p++)
        if (l->up[p] > 0) {
            l->f[l->up[p]] = r->fq[p][0];
            l->q[l->up[p]] = r->fq[p][1];
        }
}

void ckt_region_take(const ckt *c)
{
    const struct ckt_region *r = c->latent->region;
    for (size_t k = 0; k < vec_len(r->own); k++)
        r->a.val[r->own[k]] = c->a.val[r->slot[r->own[k]]];
}

/* -- products -- */

void ckt_region_subtract(const ckt *c, const double *restrict v, double *restrict to)
{
    const struct ckt_region *r = c->latent->region;
    for (int32_t p = 1; p < r->m; p++)
        for (int32_t k = r->a.colptr[p - 1]; k < r->a.colptr[p]; k++)
            to[r->a.row[k] + 1] -= r->a.val[k] * v[p];
}
