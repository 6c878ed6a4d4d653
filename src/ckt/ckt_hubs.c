/* ckt_hubs.c - cuts rows and columns of hubs by cells, and sums the rows: see ckt_hubs.h. */
#include "ckt_hubs.h"

/* Rows with more entries of pinned cells are summed by cells. */
enum { HUB = 128 };
enum { STRETCH = 64 }; /* parts of a hub's row whose sum is kept */

static int32_t row_begin(const ckt_hub_rows *in, int32_t i)
{
    return i > 1 ? in->row_at[i - 1] : 0;
}
static int32_t cell_of(const ckt_hub_rows *in, int32_t i) { return in->seat[i] / in->width; }

/* The entries of hub i's row, a part a cell, STRETCH parts a stretch. Wires sit together, so the
 * columns of a cell need not follow each other: cut[cell] is the last hub that has a part of it. */
static void cut_row(ckt_hubs *h, const ckt_hub_rows *in, int32_t i, int32_t *cut)
{
    int32_t room = 0;
    for (int32_t k = row_begin(in, i); k < in->row_at[i]; k++) {
        const int32_t cell = cell_of(in, in->col[k]), n = (int32_t)vec_len(h->part);
        if (cut[cell] == i || h->is[in->col[k]])
            continue;
        if (room-- == 0) {
            vec_push(h->stretch, (ckt_hub_stretch){.begin = n});
            room = STRETCH - 1;
        }
        const int32_t stretch = (int32_t)vec_len(h->stretch) - 1;
        vec_push(h->part, (ckt_hub_part){.cell = cell, .hub = i, .stretch = stretch});
        vec_last(h->stretch).end = n + 1;
        cut[cell] = i;
    }
}

static void cut_column(ckt_hubs *h, const ckt_hub_rows *in, int32_t i)
{
    const int32_t begin = in->a->colptr[i - 1], end = in->a->colptr[i];
    for (int32_t k = begin; k < end; k++) {
        const int32_t cell = cell_of(in, in->a->row[k] + 1);
        if (k == begin || cell != vec_last(h->run).cell)
            vec_push(h->run, (ckt_hub_run){.cell = cell, .hub = i, .begin = k});
        vec_last(h->run).end = k + 1;
    }
}

/* Parts or runs by their cells: `cell` of the first, the others `size` bytes apart. */
static ckt_by_cell sort_by_cell(arena *mem, int32_t n_cell, const int32_t *cell, size_t size,
                                size_t n)
{
    const ckt_by_cell to = {arena_array(mem, int32_t, n_cell + 2),
                            arena_array(mem, int32_t, n + 1)};
#define CELL(i) *(const int32_t *)(const void *)((const char *)cell + (i) * size)
    for (size_t i = 0; i < n; i++)
        to.at[CELL(i) + 2]++; /* of cell + 1, one further on: see below */
    for (int32_t k = 2; k <= n_cell; k++)
        to.at[k + 1] += to.at[k];
    for (size_t i = 0; i < n; i++)
        to.which[to.at[CELL(i) + 1]++] = (int32_t)i; /* they move to their ends */
#undef CELL
    return to;
}

void ckt_hubs_make(ckt_hubs *h, const ckt_hub_rows *in, arena *mem)
{
    const int32_t n = in->a->n;
    int32_t *cut = vs_calloc((size_t)in->n_cell + 1, sizeof *cut);
    *h = (ckt_hubs){.is = arena_array(mem, bool, n + 1)};
    for (int32_t i = 1; i <= n; i++)
        h->is[i] = in->pinned[i] && in->row_at[i] - row_begin(in, i) >= HUB;
    for (int32_t i = 1; i <= n; i++) {
        if (!h->is[i])
            continue;
        vec_push(h->hub, (ckt_hub){.unknown = i, .begin = (int32_t)vec_len(h->stretch)});
        cut_row(h, in, i, cut);
        vec_last(h->hub).end = (int32_t)vec_len(h->stretch);
        cut_column(h, in, i);
    }
    vs_free(cut);
    h->parts = sort_by_cell(mem, in->n_cell, vec_len(h->part) ? &h->part->cell : NULL,
                            sizeof *h->part, vec_len(h->part));
    h->runs = sort_by_cell(mem, in->n_cell, vec_len(h->run) ? &h->run->cell : NULL, sizeof *h->run,
                           vec_len(h->run));
}

void ckt_hubs_free(ckt_hubs *h)
{
    vec_free(h->hub);
    vec_free(h->part);
    vec_free(h->stretch);
    vec_free(h->run);
}

static ckt_two sum_of_stretch(const ckt_hubs *h, ckt_hub_stretch *t)
{
    if (!t->stale)
        return t->sum;
    t->sum = (ckt_two){0};
    for (int32_t p = t->begin; p < t->end; p++)
        t->sum += h->part[p].sum;
    t->stale = false;
    return t->sum;
}

ckt_two ckt_hubs_row(ckt_hubs *h, const ckt_hub *hub, ckt_two start)
{
    for (int32_t t = hub->begin; t < hub->end; t++)
        start += sum_of_stretch(h, &h->stretch[t]);
    return start;
}
