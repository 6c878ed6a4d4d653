/* dev_lin.h - linearisations of a group's instances, kept from load to load (bypass).
 * Use:    dev_lin_suits for a pair of variants, dev_lin_init after the forms TRAN and APART were added; in a load
 *         dev_lin_begin, dev_lin_select for all packs, dev_lin_gather, dev_lin_eval for what it counted, and
 *         dev_lin_outputs in the place of dev_eval of the form TRAN.
 *
 * An instance keeps i0, q0, G, C of its last evaluation at v0. As long as that is good enough it contributes
 *   i = i0 + G (v - v0),   q = q0 + C (v - v0),   J = G + alpha C,
 * which is exact to first order, so that Newton's method stays what it is. What is left out is of second
 * order: in units of the rows' tolerances (weights) at most (A + alpha B) d^2, d = max |v - v0|. A and B are
 * measured: each evaluation tells how far the prediction was off; G and C tell how far it can be off when
 * currents follow exp(v / 25 mV). An instance is evaluated when the bound exceeds 1 or d its limit.
 * The decision is one for each instance, from x and what it keeps: results do not depend on lanes or threads.
 * Instances to be evaluated are put together into new packs, in their order. */
#ifndef DEV_LIN_H
#define DEV_LIN_H

#include "dev.h"

enum { DEV_LIN_COLS = 32 }; /* most unknowns that an instance may depend on */

typedef struct dev_lin_term { /* + kept[at] * (v - v0)[col] */
    int32_t at, col;
} dev_lin_term;

typedef struct dev_lin_out { /* an output of the form TRAN */
    uint8_t kind;            /* IR_OUT_RES, REACT, J */
    int32_t at;              /* RES, REACT: the value at v0 */
    int32_t begin, end;      /* terms */
    int32_t g, c;            /* J: places of both parts, -1: 0 */
} dev_lin_out;

struct dev_lin {
    const dev_form *apart;
    int32_t n_col, col[DEV_LIN_COLS]; /* local unknowns that outputs depend on */
    int32_t n_probed, *probed;  /* local unknowns that the kernel reads, */
    int32_t *probed_col;        /* and their columns, -1: the reference */
    dev_lin_out *out;           /* [n_out of TRAN] */
    dev_lin_term *term;
    int32_t n_dyn, dyn[IR_N_DYN]; /* which of the dynamic inputs the kernel reads, */
    double dyn_at[IR_N_DYN];    /* and what they were: linearisations hold for these */
    int32_t *at;                /* [n_pack][n_col][W] unknowns of the columns */
    double *v0;                 /* [n_pack][n_col][W] */
    double *kept;               /* [n_pack][n_out of APART][W] */
    double *bound;              /* [n_pack][2][W] A, B; A +inf: there is no linearisation */
    uint8_t *mask;              /* [n_pack] lanes to be evaluated */
    /* what is to be evaluated, after dev_lin_gather */
    int32_t *item;              /* [nb] pack * W + lane */
    int32_t n_pack, *first;     /* [nb + 1] packs of items */
    int32_t n_item;
    struct dev_lin_buffer *buffer; /* [workers] */
};

typedef struct dev_lin_at { /* a load */
    const double *x, *dyn;
    const double *weight;   /* [n+1] 1 / what may be left out in a row, 0 for the reference; NULL: all are evaluated */
    double alpha;
} dev_lin_at;

/* Whether instances may be bypassed: outputs depend on nothing but voltages, and both forms agree. */
bool dev_lin_suits(const mdl_model *m, const mdl_variant *tran, const mdl_variant *apart);
/* Makes g->lin, empty. workers: threads that may call dev_lin_eval at the same time. */
void dev_lin_init(dev_group *g, arena *mem, int workers);
void dev_lin_begin(dev_group *g, const dev_lin_at *at);
/* Which of the packs [begin, end) have instances to be evaluated: the same for any order of calls. */
void dev_lin_select(dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end);
/* Packs of instances to be evaluated; g->lin->n_item of them. */
int32_t dev_lin_gather(dev_group *g);
/* Evaluates those packs from begin to end, end - begin <= DEV_BLOCK / W. Status: as dev_eval. */
VS_MUST_USE vs_status dev_lin_eval(dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end, int worker);
/* Outputs of the form TRAN at x of the packs [begin, end), as dev_eval has them. */
void dev_lin_outputs(const dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end, double *out);

#endif
