/* ckt_latent.h - loads of a large circuit in a transient while most of it does not move. Cells of
 * unknowns that stand still are latent and cost nothing. The transient (ana/tran_latent.c) decides
 * which cells are awake.
 * Use:    ckt_latent_begin; ckt_latent_sleep, ckt_latent_wake; before each load ckt_latent_moved,
 *         whose cells are to be woken; ckt_load; ckt_latent_end.
 *
 * A cell is CKT_CELL seats. Unknowns take seats in their order, but those of a wire (ckt_wires.c)
 * one behind the other, the reference and pinned ones (below) in cells before all others; some
 * seats are empty. A resistor, or one inside of a device, never lies between a latent unknown and
 * one that is awake and not pinned: a part of a tolerance of voltage is a large current there, and
 * would be lost.
 * Vectors that analyses and the circuit exchange have, from ckt_latent_begin on, the cells' values
 * in *slots*: slot s holds cell ckt_latent_cells()[s], those that are awake come first, and only
 * they are read and written; element 0 is the reference. A node that voltage sources hold, and an
 * unknown at any other device that every load evaluates, with the wire that it is of, is pinned:
 * its cell is always awake, and pinned cells come first.
 *
 * A latent unknown stays at its value. Devices of which all cells but pinned ones are latent are
 * not looked at; rows of latent cells are not summed; their matrix entries keep the values that
 * they had. A row of a cell that is awake has all its terms. */
#ifndef CKT_LATENT_H
#define CKT_LATENT_H

#include "ckt.h"

enum { CKT_CELL = 16 };

/* All awake, every cell in the slot of its number. false: this circuit has no latent loads
 * (bypass=0, devices with memory or effects of their own, too few unknowns).
 *   x  in  [n+1] the present point, as in other loads */
VS_MUST_USE bool ckt_latent_begin(ckt *c, const double *x);
void ckt_latent_end(ckt *c);   /* loads are as before */
#define CKT_SPARE(n) ((n) / 8) /* seats that may stay empty in cells */
#define CKT_SEATS(n) ((((n) + CKT_SPARE(n)) / CKT_CELL + 3) * CKT_CELL) /* at most, n unknowns */
const int32_t *ckt_latent_seats(const ckt *c);                          /* [n+1] of unknowns */
const int32_t *ckt_latent_unknowns(const ckt *c); /* [n_cell * CKT_CELL] of seats, -1: empty */
int32_t ckt_latent_n_cell(const ckt *c);
int32_t ckt_latent_n_pinned(const ckt *c);
int32_t ckt_latent_n_awake(const ckt *c);
const int32_t *ckt_latent_cells(const ckt *c); /* [n_cell] of slots */
const int32_t *ckt_latent_slots(const ckt *c); /* [n_cell] of cells */
/* Cells that one wire has unknowns in sleep and wake together: the first of those that `cell` is
 * one of; the others follow it. */
int32_t ckt_latent_first(const ckt *c, int32_t cell);
typedef struct ckt_swap {
    int32_t a, b; /* slots */
} ckt_swap;
/* A cell that is awake falls asleep: it changes places with the last one that is awake, and the
 * caller does the same in his vectors.
 *   x    in  [CKT_CELL] where it stays
 *   tol  in  [CKT_CELL] by how much neighbours may move it, each, before it is woken */
ckt_swap ckt_latent_sleep(ckt *c, int32_t cell, const double *x, const double *tol);
ckt_swap ckt_latent_wake(ckt *c, int32_t cell); /* the reverse */
/* Cells that the caller must wake, each once: an unknown beside them has moved, since they were
 * last told, by more than `far` (in slots), or by so much that one of their own would move by its
 * `tol`. Returns a vec of the circuit, valid until the next call. */
const int32_t *ckt_latent_moved(ckt *c, const double *x, const double *far);
/* The own conductance and capacitance of an unknown's row, S and F. */
void ckt_latent_own(const ckt *c, int32_t unknown, double *g, double *capacitance);
/* The matrix of what is held, G + alpha C, also in rows that no load reaches. */
void ckt_latent_fill(ckt *c, double alpha);
/* Marks the unknowns of parts of the circuit with a cell that is awake, and of those with a mark.
 * Parts are what entries of the matrix join without pinned unknowns, which are marked too.
 *   mark  in, out  [n+1] 0, 1
 * Returns how many there are. Allocates. */
int32_t ckt_latent_parts(const ckt *c, uint8_t *mark);
/* Two slots of cells that are awake and not pinned change places. */
void ckt_latent_exchange(ckt *c, ckt_swap s);

/* Where the same cells stay awake, they may be a *region*: loads fill a matrix of its own, the
 * returned one, whose row and column k - 1 are those of place k (1 on the diagonal of empty seats),
 * from the circuit's, and read and write nothing else but what stands beside it. Until
 * ckt_region_end, which gives the circuit's matrix the values, no cell may be woken or fall asleep.
 * Both allocate. */
const csc *ckt_region_begin(ckt *c);
void ckt_region_end(ckt *c); /* does nothing if there is none */

/* r -= J v, of two v, for rows that are awake, v being 0 in latent cells; size = sum_j |J_ij x_j|,
 * voltages counting as `least` at least. */
void ckt_latent_subtract(ckt *c, const double *const v[2], double *const r[2]);
void ckt_latent_sizes(ckt *c, const double *x, double least, double *size);

#endif
