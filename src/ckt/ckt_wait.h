/* ckt_wait.h - devices that wait: what was computed of a device at one point of a run serves the
 * points that follow as long as its unknowns stay there, or near there along a line.
 *     D(x_k) = D(x) + sum_e t_e (D(x + h_e e) - D(x)),   t_e = e'(x_k - x) / h_e,
 * with D what is computed, x where the device waits, e the unknowns that moved, and a point beside
 * x in each of them.
 * Use:    ckt_wait_sizes and ckt_wait_see at each point; ckt_wait_init for each group of devices;
 *         at a point ckt_wait_left tells which devices go, ckt_wait_here lets these wait there, and
 *         ckt_wait_shares gives the parts of the others. */
#ifndef CKT_WAIT_H
#define CKT_WAIT_H

#include "ckt_priv.h"

typedef struct ckt_sizes {
    double *most;         /* [n+1] the largest size of each unknown so far, */
    double *stays, *near; /* and how far it may go: without a line, along one */
} ckt_sizes;

typedef struct ckt_wire { /* an unknown of a device that is one of the circuit's; once, where */
    int32_t of, place; /* several of the device are the same. of: the first of these; place: in */
} ckt_wire;            /* the circuit */

typedef struct ckt_share { /* of what a device gives at a point */
    int32_t wire;          /* beside the point where it waits, in this wire of it; -1: at it */
    double part;
} ckt_share;

typedef struct ckt_wait {
    int32_t nb;
    size_t n_u;              /* unknowns of a device */
    bool lines;              /* false: devices do not follow lines */
    ckt_wire *wire;          /* those of device i: from wire_of[i] to wire_of[i + 1] */
    int32_t *wire_of;        /* [nb + 1] */
    int32_t most;            /* wires of a device */
    const int32_t **unknown; /* [nb] [n_u] places of a device's unknowns in x */
    double *x;               /* [1 + nb n_u] where the devices wait; x[0] is 0 */
    double *last;            /* [wires] the point that came last, */
    double *aside;           /* [wires] and h; 0: nothing stands there */
    ckt_share *share;        /* [most + 1] of ckt_wait_shares */
    double dyn[IR_N_DYN];    /* of the point that waits */
    uint8_t *read;           /* [IR_N_DYN] which of them decide on values */
    int32_t *gone, n_gone;   /* devices that have left the point where they wait, ascending */
    bool begun;
} ckt_wait;

void ckt_wait_sizes(ckt_sizes *s, const ckt *c, arena *mem);
/* Takes the sizes of x [n+1] into account. */
void ckt_wait_see(ckt_sizes *s, const ckt *c, const double *x);
/* device [n]: of the circuit, of one model. v: what is evaluated. All memory from mem. */
void ckt_wait_init(ckt_wait *w, const ckt *c, arena *mem, const mdl_variant *v,
                   const int32_t *device, int32_t n);
/* Finds the devices that have left the point where they wait at x; x NULL: all. Returns whether
 * there are any. */
bool ckt_wait_left(ckt_wait *w, const ckt_sizes *s, const double *dyn, const double *x);
/* The devices that went wait at x now. */
void ckt_wait_here(ckt_wait *w, const double *dyn, const double *x);
/* How what device i gives at x is made of what it gives where it waits and beside: w->share, whose
 * number is returned. Notes h of wires that have none. */
int32_t ckt_wait_shares(ckt_wait *w, const ckt_sizes *s, int32_t i, const double *x);

/* x of device i stands beside the point where it waits, in its wire j; and is there again. Then
 * ckt_wait_shares comes before ckt_wait_left. */
void ckt_wait_beside(ckt_wait *w, int32_t i, int32_t j);
void ckt_wait_back(ckt_wait *w, int32_t i, int32_t j);

#endif
