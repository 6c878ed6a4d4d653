/* dev_lin.h - linearisations of a group's instances, held from load to load (bypass).
 * Use:    dev_lin_suits for a pair of variants, dev_lin_init after the forms TRAN and APART were
 * added; in a load dev_lin_begin, dev_lin_select for all packs, dev_lin_gather, dev_lin_eval for
 * what it counted and dev_lin_add behind each, in order; or dev_lin_add_all; dev_lin_sizes;
 * dev_lin_accept at accepted points; between loads dev_lin_add_at.
 *
 * An instance holds i0, q0, G, C of its last evaluation at v0. As long as that is good enough it
 * contributes i = i0 + G (v - v0),   q = q0 + C (v - v0),   J = G + alpha C, which is exact to
 * first order, so that Newton's method stays what it is. What is left out is of second order: in
 * units of the rows' tolerances (weights), or of what a voltage that is off by `blur` explains, at
 * most (A + alpha B) d^2, d = max |v - v0|. A and B are measured: each evaluation tells how far the
 * prediction was off; G and C tell how far it can be off when currents follow exp(v / 25 mV): what
 * of them voltages change, and not the resistors inside of a device. An instance is evaluated when
 * the bound exceeds 1 or d its limit. The decision is one for each instance, from x and what it
 * holds: results do not depend on lanes or threads. Instances to be evaluated are put together into
 * new packs, in their order.
 *
 * The sums over all instances are held too: G, C, i0 - G v0 and q0 - C v0 by places of the circuit.
 * An evaluation adds what it changed, in the order of instances, so that those that did not move
 * cost a comparison and no more: f = sum(i0 - G v0) + G x. Rounding of what left the sums stays in
 * them: they are made anew now and then, and sooner when values were so large that their rounding
 * can be seen (dev_lin.wear).
 *
 * $limit: an instance compares with the voltages of its own last evaluation. Where limiting moved
 * one, the values are those of another place, so that nothing is held of them: the next load
 * evaluates the instance again.
 *
 * A group can be held as a whole (dev_whole.c; small circuits): there are no sums to correct, all
 * instances give their outputs in each load. If one moved, all are evaluated where that takes no
 * more packs of eight than those that moved; else these are put together: dev_lin_init with buffers
 * 0; in a load dev_whole_load; dev_lin_outputs. */
#ifndef DEV_LIN_H
#define DEV_LIN_H

#include "dev.h"

enum {
    DEV_LIN_COLS = 32,
    DEV_LIN_OUTS = 512,  /* most unknowns that an instance may depend on, and outputs */
    DEV_LIN_EVERY = 256, /* loads after which sums must be made anew, */
    DEV_LIN_ALL = 2048,  /* and those that have the rounding of many instances */
    DEV_WHOLE_PACK = 8 /* instances of a group held as a whole that count as one pack, for any W */
};

typedef struct dev_lin_term { /* + held[at] * (v - v0)[col] */
    int32_t at, col;
    int32_t fixed; /* its fixed part (dev_fixed.c), -1: none */
    double volt;   /* 1: of a voltage, 0: of another unknown */
} dev_lin_term;

typedef struct dev_lin_out { /* an output of the form TRAN */
    uint8_t kind;            /* IR_OUT_RES, REACT, J, LIMITED */
    int32_t at;              /* RES, REACT: the value at v0; LIMITED: where it is */
    int32_t begin, end;      /* terms */
    int32_t g, c;            /* J: places of both parts, -1: 0 */
} dev_lin_out;

typedef struct dev_lin_packs { /* packs [begin, end) */
    int32_t begin, end;
} dev_lin_packs;

typedef struct dev_lin_late { /* entry `k` of `add`, which goes to sum `to` in common */
    int32_t k, to;
} dev_lin_late;

/* With which threads the instances of a group are at home (dev_homes.c). */
typedef struct dev_lin_homes {
    int n_home;
    int32_t *at;        /* [n_home + 1] packs of a home: run[at[w]] to run[at[w + 1] - 1] */
    dev_lin_packs *run; /* ascending in each home */
    int32_t *begin;     /* [n_home + 1] after dev_lin_gather: new packs of each home */
    int32_t *of;        /* [nb] whose an instance is */
    int32_t n_row;      /* places in `to` below: rows that no other home adds currents to */
    int32_t *to;        /* [nb][n_add[2]] where entries of `add` go at once */
    int32_t *late_at;   /* [nb + 1] in late and change */
    dev_lin_late *late; /* by instance, ascending: what goes to sums in common */
    double *change;     /* [2 late_at[nb]] what they change; slopes: of G and C */
    uint8_t *waits;     /* [nb + 8] 1: an instance whose changes are to be added */
} dev_lin_homes;

struct dev_lin {
    const dev_form *apart;
    int32_t n_col, col[DEV_LIN_COLS]; /* local unknowns that outputs depend on */
    int32_t n_probed, *probed;        /* local unknowns that the kernel reads, */
    int32_t *probed_col;              /* and their columns, -1: the reference */
    dev_lin_out *out;                 /* [n_out of TRAN] */
    dev_lin_term *term;
    int32_t *add;                  /* outputs of TRAN that are summed: currents up to n_add[0], */
    int32_t n_add[3];              /* charges up to n_add[1], entries of J up to n_add[2] */
    int32_t n_sum, *sum;           /* what of APART an instance gives to the sums, in that order, of
                                      J G and C in turn; n_out: 0. n_sum is a multiple of WIDE */
    uint8_t *is_slope;             /* [n_out of APART] G or C */
    int32_t limited;               /* output of APART that tells that limiting acted, -1: none */
    int32_t n_dyn, dyn[IR_N_DYN];  /* which of the dynamic inputs the kernel reads, */
    double dyn_at[IR_N_DYN];       /* and what they were: linearisations hold for these */
    int32_t n_fixed;               /* slopes with a part that no voltage changes, */
    double *fixed;                 /* [n_row][n_fixed] and this part */
    struct dev_fixed_op *fixed_op; /* [n_fixed_op] how it follows from a row's setup values, */
    int32_t n_fixed_op, *fixed_at; /* [n_fixed] and which results it is */
    int32_t *at;                   /* [n_pack][n_col][W] unknowns of the columns */
    double *v0;                    /* [n_pack][n_col][W] */
    double *held;                  /* [nb][n_out of APART] */
    double *bound;                 /* [n_pack][2][W] A, B; A +inf: there is no linearisation */
    uint8_t *mask;                 /* [n_pack] lanes to be evaluated; 0 between loads */
    bool partly;                   /* only these are looked at: */
    uint8_t *visit;                /* [n_pack + 8] lanes */
    int32_t *pack_of;              /* [nb] for who sets them; both NULL until somebody does */
    /* what is to be evaluated, after dev_lin_gather */
    int32_t *item;          /* [nb] pack * W + lane */
    int32_t n_pack, *first; /* [nb + 1] packs of items */
    int32_t n_item;
    int32_t n_recent, *recent; /* [nb] instances evaluated since the last accepted point */
    uint8_t *is_recent;        /* [nb] */
    uint8_t *is_worn;          /* [nb] evaluated since the sums that it adds to were made anew */
    bool all_limits;           /* dev_group.lim: OLD may differ from ACC in any instance; else in
                                  recent ones alone */
    _Atomic int32_t wear;      /* the rounding that evaluations since dev_lin_begin leave in sums is
                                  at most that of so many ordinary loads */
    _Atomic bool moved;        /* limiting acted in one */
    struct dev_lin_buffer *buffer; /* [n_buffer] */
    int32_t n_buffer;
    dev_lin_homes *homes; /* NULL: one thread has all */
    struct dev_whole
        *whole; /* held as a whole: of what is above v0, held and mask to pack_of are not
                                in use, nor what follows is_recent; else NULL */
};

typedef struct dev_lin_sums { /* over the instances of all groups */
    double *gc;               /* by places of matrix entries: G and C in turn */
    double *i, *q;            /* [n+1] i0 - G v0, q0 - C v0 */
} dev_lin_sums;

typedef struct dev_lin_at { /* a load */
    const double *x, *dyn;
    const double *weight; /* [n+1] 1 / what may be left out in a row, 0 for the reference; NULL: all
                             are evaluated */
    double alpha;
    double blur; /* V: what a voltage of the instance that is off by this explains may be left out
                    too */
    bool rough;  /* another load follows before a point can be accepted */
} dev_lin_at;

/* Whether instances may be bypassed: outputs depend on nothing but voltages, and both forms agree.
 */
bool dev_lin_suits(const mdl_model *m, const mdl_variant *tran, const mdl_variant *apart);
/* Whether an output of the form TRAN is a current or charge. */
static inline bool dev_lin_is_row(const dev_lin_out *o)
{
    return o->kind == IR_OUT_RES || o->kind == IR_OUT_REACT;
}
/* Makes g->lin, empty; after dev_state_init. buffers: that many calls of dev_lin_eval may wait for
 * their dev_lin_add; 0: held as a whole. */
void dev_lin_init(dev_group *g, arena *mem, int buffers);
/* Called when setup values of rows have changed: linearisations of these rows no longer hold. */
void dev_lin_rows_changed(dev_group *g);
/* Forgets all linearisations, as after dev_lin_init. */
void dev_lin_fresh(dev_group *g);
void dev_lin_begin(dev_group *g, const dev_lin_at *at); /* as dev_begin, too */
/* Marks the instances of packs [begin, end) that are to be evaluated. The calls may come in any
 * order. */
void dev_lin_select(dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end);
/* Puts the g->lin->n_item marked instances into packs, home by home, and returns the number of
 * packs. */
int32_t dev_lin_gather(dev_group *g);
/* Evaluates those packs from begin to end, end - begin <= DEV_BATCH / W. Status: as dev_eval. */
VS_MUST_USE vs_status dev_lin_eval(dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end,
                                   int buffer);
/* Adds what that evaluation changed. */
void dev_lin_add(const dev_group *g, int32_t begin, int32_t end, int buffer,
                 const dev_lin_sums *to);
/* Adds all instances to sums that are 0. */
void dev_lin_add_all(dev_group *g, const dev_lin_sums *to);
typedef struct dev_lin_seats { /* the unknowns with a seat in [begin, end) */
    const int32_t *seat;       /* [n+1] */
    int32_t first;             /* seats below it are not cut: begin >= first */
    int32_t begin, end;
} dev_lin_seats;
/* Adds instance i to the sums of these unknowns alone: rows of i and q, and matrix entries of their
 * columns, and of their rows in columns with a seat below `first`. Needs pack_of. */
void dev_lin_add_at(const dev_group *g, int32_t i, const dev_lin_seats *s, const dev_lin_sums *to);
void dev_lin_renewed(dev_group *g); /* so were all sums to which worn instances add */
/* dev_homes.c. Gives the instances to n_home threads: those of a pack to the one that has most of
 * their rows; part [n_row]: whose a row of the circuit is. g->lin->homes stays NULL where too many
 * sums would belong to several. n_row, n_place: how long the sums are; they have DEV_LIN_NOWHERE
 * more elements for each home. Threads may find those of several groups at the same time; then
 * _keep gives to an arena what was found. */
enum { DEV_LIN_NOWHERE = 8 };
void dev_homes_find(dev_group *g, int n_home, const int32_t *part, int32_t n_row, int32_t n_place);
void dev_homes_keep(dev_group *g, arena *mem);
/* As dev_lin_add, of packs of one home, but for sums in common; homes may do so at the same time.
 * Then _end adds to those, to NULL: nothing, since the sums are made anew. */
void dev_homes_add(const dev_group *g, int32_t begin, int32_t end, int buffer,
                   const dev_lin_sums *to);
void dev_homes_end(const dev_group *g, const dev_lin_sums *to);
/* fmax, qmax [n+1] (qmax NULL: no charges): largest contributions at the last evaluations, of all
 * instances, or of those evaluated since the last accepted point: the others had theirs before. Of
 * these dev_lin_n_sizes, numbers [begin, end); shared: other threads raise the same rows. */
int32_t dev_lin_n_sizes(const dev_group *g, bool all);
void dev_lin_sizes(const dev_group *g, bool all, int32_t begin, int32_t end, bool shared,
                   double *fmax, double *qmax);
/* dev_homes.c. The same of one home's instances; homes may do so at the same time. */
void dev_homes_sizes(const dev_group *g, int home, bool all, double *fmax, double *qmax);
void dev_lin_accept(dev_group *g);
/* by [n+1]: adds to each row what the slopes that the instances hold, at alpha, give over their
 * largest distance from where they hold. So far charges and currents with a corner in between may
 * be off whose slope is no more than twice as large beyond it. */
void dev_lin_corners(const dev_group *g, const double *x, double alpha, double *by);
/* Resistances inside of instance i whose conductance no voltage changes and is at least `least`, S:
 * appends the unknowns of the circuit that each joins, two and two, to the vec *ends. */
void dev_lin_resistances(const dev_group *g, int32_t i, double least, int32_t **ends);
/* Outputs of the form TRAN at x of the packs [begin, end), as dev_eval has them. */
void dev_lin_outputs(const dev_group *g, const dev_lin_at *at, int32_t begin, int32_t end,
                     double *out);

/* A load of a group that is held as a whole: evaluates all of it, or what moved if that takes
 * fewer packs.
 *   out  in/out  [n_pack][n_out of TRAN][dev_whole_stride] outputs of the form TRAN; the same array
 * in each load, since what is still right there is not written again Status: as dev_eval. */
VS_MUST_USE vs_status dev_whole_load(dev_group *g, const dev_lin_at *at, double *out);
int32_t dev_whole_stride(const dev_group *g);

#endif
