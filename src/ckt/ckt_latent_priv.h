/* ckt_latent_priv.h - what ckt_latent.c and ckt_region.c share. */
#ifndef CKT_LATENT_PRIV_H
#define CKT_LATENT_PRIV_H

#include "ckt_hubs.h"
#include "ckt_latent.h"
#include "ckt_priv.h"

struct ckt_latent {
    int32_t n_cell, n_pinned, n_awake;
    int32_t n_up;               /* unknowns that are awake, and the reference */
    int32_t *cell_at, *slot_of; /* [n_cell] */
    int32_t *with;              /* [n_cell] first of the cells that sleep and wake together */
    int32_t *seat;              /* [n+1] of an unknown */
    int32_t *at_seat;           /* [n_cell * CKT_CELL] unknowns, -1: none */
    int32_t *up;                /* [n_cell * CKT_CELL] the same in the order of slots */
    int32_t *place_of;          /* [n+1] where an unknown stands there */
    bool *pinned;               /* [n+1] */
    int32_t *row_at;            /* [n+2] of a row in: */
    int32_t *col, *place;       /* [nnz] unknowns, places of values */
    ckt_hubs hubs;
    int32_t *near;      /* [n_cell] rows, awake, with entries in the cell's columns; itself */
    int32_t *near_all;  /* [n_cell] the same when all are awake */
    uint64_t *is_near;  /* [bits of n_cell] there are some */
    uint64_t *is_stale; /* [bits of n_cell] what it adds to hubs is to be summed again */
    uint8_t *row_awake; /* [n+1] */
    ckt_two *fq;        /* [n+1] */
    int32_t **piece_at; /* [parts][n+1] first piece of a column, of held entries in a part's rows */
    int32_t *in_at;     /* [n_cell + 1] devices of a cell in: */
    int32_t *in_group, *in_inst;
    uint8_t **n_in; /* [groups + 1][nb] cells of a device that let it be looked at; last: pairs, */
    uint8_t *visit_pair; /* [n_pair + 8] which is the list of those that are, too */
    uint8_t **n_of;      /* [groups][nb] all cells of a device but pinned ones */
    int32_t n_pair;
    double *f, *q, *fmax, *qmax; /* [n+1] of a load */
    double *weight;              /* [n+1] */
    double *rest;                /* [slots] ckt_charge_rest */
    double *told;                /* [n+1] what neighbours know of an unknown, */
    double *reach;               /* [n+1] and 1 / the distance that one of them bears */
    int32_t *woken;              /* vec */
    uint8_t *listed;             /* [n_cell] in `woken` */
    uint8_t *is_asked;           /* [n+1] a neighbour that sleeps may have to be told, */
    uint8_t *n_asked;            /* [n_cell] and how many are so in a cell */
    struct ckt_region *region;   /* NULL: none */
};

static inline int32_t ckt_cell_of(const ckt_latent *l, int32_t unknown)
{
    return l->seat[unknown] / CKT_CELL;
}

static inline bool ckt_cell_awake(const ckt_latent *l, int32_t cell)
{
    return l->slot_of[cell] < l->n_awake;
}

/* Entries of unknown i's row: [begin, end) of col and place. */
static inline int32_t ckt_row_begin(const ckt_latent *l, int32_t i)
{
    return i > 1 ? l->row_at[i - 1] : 0;
}
static inline int32_t ckt_row_end(const ckt_latent *l, int32_t i) { return l->row_at[i]; }

/* G and C of a place of the matrix: of held devices and of pairs. */
static inline ckt_two ckt_slopes_at(const double *held, const double *pairs, int32_t place)
{
    const ckt_two gc = ((const ckt_two *)held)[place];
    return pairs ? gc + ((const ckt_two *)pairs)[place] : gc;
}

/* -- ckt_latent.c -- */
/* Multiplies the columns of a cell, which adds to l->fq; their matrix entries in rows that are
 * awake. What they add to hubs becomes the sum of a part. */
void ckt_latent_multiply(const ckt *c, const dev_lin_sums *s, const dev_lin_at *at, int32_t cell);

/* -- ckt_region.c, while there is one -- */
/* As ckt_latent_sum, of what the last selection left stale. */
void ckt_region_sum(ckt *c, const dev_lin_at *at);
/* After all devices have added: takes their entries from the circuit's matrix. */
void ckt_region_take(const ckt *c);
/* All entries to the circuit's matrix. */
void ckt_region_store(ckt *c);
void ckt_region_subtract(const ckt *c, const double *v, double *r);

#endif
