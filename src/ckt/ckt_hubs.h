/* ckt_hubs.h - rows and columns of hubs while parts of a circuit are latent (ckt_latent.c). A hub
 * is a pinned unknown that many devices share: a supply. Its row and its column are cut by cells,
 * so that only those that are awake are summed. Sums of stretches of parts are kept, so that a load
 * visits those that changed and one sum for each stretch of the others.
 * Use:    ckt_hubs_make; in each load, for each cell whose columns are multiplied, ckt_hubs_clear
 *         before and ckt_hubs_take after; then ckt_hubs_row of each hub; ckt_hubs_free. */
#ifndef CKT_HUBS_H
#define CKT_HUBS_H

#include "csc.h"
#include "csc_cut.h"
#include "vec.h"

typedef double ckt_two __attribute__((vector_size(16), aligned(8))); /* of f and q, or of G and C */

typedef struct ckt_hub_part { /* the entries of a hub's row in the columns of a cell, but of hubs */
    int32_t cell, hub;        /* unknown */
    int32_t stretch;
    ckt_two sum; /* G x, C x */
} ckt_hub_part;

typedef struct ckt_hub_stretch {
    int32_t begin, end; /* parts */
    bool stale;         /* one of them changed */
    ckt_two sum;
} ckt_hub_stretch;

typedef struct ckt_hub_run { /* the entries of its column in the rows of a cell */
    int32_t cell, hub;       /* unknown */
    int32_t begin, end;      /* places */
} ckt_hub_run;

typedef struct ckt_hub {
    int32_t unknown;
    int32_t begin, end; /* stretches */
} ckt_hub;

typedef struct ckt_by_cell { /* of cell k: which[at[k] .. at[k + 1]), ascending */
    int32_t *at, *which;
} ckt_by_cell;

typedef struct ckt_hubs {
    bool *is;                 /* [n+1] of an unknown */
    ckt_hub *hub;             /* vec, ascending */
    ckt_hub_part *part;       /* vec */
    ckt_hub_stretch *stretch; /* vec */
    ckt_hub_run *run;         /* vec */
    ckt_by_cell parts, runs;
} ckt_hubs;

/* What hubs are found in. Unknown i's row: entries [row_at[i - 1], row_at[i]); of 1: from 0 on. */
typedef struct ckt_hub_rows {
    const csc *a;
    const int32_t *row_at, *col; /* [n+2], [nnz] unknowns of the entries, row by row */
    const bool *pinned;          /* [n+1] */
    const int32_t *seat;         /* [n+1] of an unknown; a cell is `width` of them */
    int32_t n_cell, width;
} ckt_hub_rows;

/* Fills *h; what is no vec is mem's. */
void ckt_hubs_make(ckt_hubs *h, const ckt_hub_rows *in, arena *mem);
void ckt_hubs_free(ckt_hubs *h);

/* start, and G x, C x of the hub's row in the columns of all cells. */
ckt_two ckt_hubs_row(ckt_hubs *h, const ckt_hub *hub, ckt_two start);

/* Whether a part of a thread's rows has the hub's; part -1: of all rows. */
static inline bool ckt_hubs_mine(const csc_cut *rows, int32_t part, int32_t hub)
{
    return part < 0 || csc_cut_part(rows, hub - 1) == part;
}

/* The hubs that a cell adds to, those of a part of the rows, begin at 0 in fq [n+1] ... */
static inline void ckt_hubs_clear(const ckt_hubs *h, int32_t cell, const csc_cut *rows,
                                  int32_t part, ckt_two *fq)
{
    for (int32_t p = h->parts.at[cell]; p < h->parts.at[cell + 1]; p++) {
        const int32_t hub = h->part[h->parts.which[p]].hub;
        if (ckt_hubs_mine(rows, part, hub))
            fq[hub] = (ckt_two){0};
    }
}

/* ... and what its columns added to them becomes the sum of their parts. */
static inline void ckt_hubs_take(ckt_hubs *h, int32_t cell, const csc_cut *rows, int32_t part,
                                 const ckt_two *fq)
{
    for (int32_t p = h->parts.at[cell]; p < h->parts.at[cell + 1]; p++) {
        ckt_hub_part *of = &h->part[h->parts.which[p]];
        if (!ckt_hubs_mine(rows, part, of->hub))
            continue;
        of->sum = fq[of->hub];
        h->stretch[of->stretch].stale = true;
    }
}

#endif
