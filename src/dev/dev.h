/* dev.h - groups: all instances that share the variants of one model, evaluated together.
 * Use:    dev_group_init, dev_form_add per analysis form, dev_state_init; dev_eval in each load;
 *         dev_advance after it; dev_accept / dev_restore at accepted and rejected points; _fini.
 *
 * A group has flat arrays only: instances of one parameter row share its setup values (cache), an
 * instance itself is n_u map entries and one row index. Outputs are not kept: a batch of instances
 * is evaluated into a small buffer and stamped from there while it is in the processor's cache.
 *
 * Kernels take packs of W instances (jit.h). Pack p has the instances first[p] .. first[p+1]-1 in
 * its lanes from 0; the lanes behind them are padding, copies of the last one. Either every pack is
 * of one row (its setup values are broadcast), or, when that would leave many lanes empty, lanes
 * have rows of their own (row_per_lane).
 *
 * Limited probes and hidden state come in three and two copies:
 *   lim[ACC] of the last accepted point, lim[OLD] read by the kernel, lim[NEW] written by it;
 *   state: of the last accepted point; state_new: as of the last evaluation. */
#ifndef DEV_H
#define DEV_H

#include "image.h"
#include "mdl_compare.h"

enum { DEV_BATCH = 64 }; /* instances that are evaluated together at most; a multiple of every W */

typedef enum dev_lim { DEV_LIM_ACC, DEV_LIM_OLD, DEV_LIM_NEW, DEV_N_LIM } dev_lim;

/* A run of outputs of one kind: out[begin..end) of every instance. */
typedef struct dev_run {
    uint8_t kind; /* IR_OUT_RES, REACT, G, J, LIMITED, BOUND_STEP; others are not listed */
    int32_t begin, end;
} dev_run;

typedef struct dev_form { /* one analysis form of a group; variant NULL: not asked for */
    mdl_variant *variant;
    bool evaluated; /* false: the form is used for its pattern only, and has no kernel */
    int32_t n_u, n_out, n_cache;
    const int32_t *map; /* [nb * n_u] unknowns of the circuit; 0: reference or not in use */
    int32_t *lane_map;  /* [n_pack][n_u][W] the same for kernels */
    double *cache;      /* [n_row][n_cache] setup values of the rows used here;
                        * row_per_lane: [n_pack][n_cache][W] */
    double *rows;       /* [n_row][n_cache]; row_per_lane: NULL, but for linearisations */
    dev_run *run;       /* vec */
    int32_t *slot;      /* [nb * n_out] where out[k] goes; made by src/ckt */
} dev_form;

typedef struct dev_group {
    mdl_model *model;
    int32_t nb;      /* instances */
    int32_t *inst;   /* [nb] their numbers in the circuit */
    int32_t *row_of; /* [nb] index into row; ascending, equal rows stand together */
    int32_t *row;    /* [n_row] rows of the model */
    int32_t n_row;
    /* 1; more: the rows have so many variants, and share one made of what is known in all of them
     */
    int32_t n_variant;
    int32_t lanes, n_pack; /* W; 0 until the first form is added */
    int32_t *first;        /* [n_pack + 1] */
    int32_t *pack_row;     /* [n_pack] index into row (of lane 0) */
    bool row_per_lane;
    /* [nb][mdl_n_unknown] of the owner, outlives the group: forms need no copies; NULL. Set before
     * the first dev_form_add */
    const int32_t *unknown;
    bool gathers; /* those that moved are put together; set before the first dev_form_add */
    dev_form form[MDL_N_FORM];
    int32_t n_lim, n_state;
    double *lim[DEV_N_LIM];    /* [n_pack][n_lim][W] */
    double *state, *state_new; /* [n_pack][n_state][W] */
    int64_t n_eval,
        n_bypass;  /* instances evaluated so far by loads; left at their linearisations */
    double s_eval; /* s, for them and their stamps, where loads are timed */
    struct dev_lin
        *lin;        /* linearisations of its instances (dev_lin.h); NULL: every load evaluates */
    mdl_who_fn *who; /* names inst[] of who_user, where kernels are compared */
    const void *who_user;
    bool lim_fresh; /* lim[OLD] is to be filled from the probes of the next evaluation */
} dev_group;

/* Instances inst[nb] with model rows row[nb], equal ones together. Arrays are copied into `mem`. */
void dev_group_init(dev_group *g, arena *mem, mdl_model *m, const int32_t *inst, const int32_t *row,
                    int32_t nb);
void dev_group_fini(dev_group *g);
/* Adds a form: unknown gives for instance i of the group the circuit unknowns [mdl_n_unknown].
 * evaluated: runs the setup of each row, asks for the kernel (mdl_compile_wanted makes it).
 * All forms must be added before dev_state_init. */
void dev_form_add(dev_group *g, arena *mem, mdl_form_kind form, mdl_variant *v,
                  const int32_t *const *unknown, bool evaluated);
/* Limiting and hidden state, zero. */
void dev_state_init(dev_group *g, arena *mem);

/* Called after g->row[k] was set to another row of the same variants, for k in which[n]. Runs the
 * setup of these rows. Returns the forms, bits 1 << mdl_form_kind, whose setup values have changed.
 */
unsigned dev_rows_changed(dev_group *g, const int32_t *which, size_t n);
/* Setup values of row r of the group, to to[n_cache]. */
void dev_row_of_form(const dev_group *g, const dev_form *f, int32_t r, double *to);
/* Limits and state as dev_state_init leaves them; hidden state alone. */
void dev_state_fresh(dev_group *g);
void dev_state_zero(dev_group *g);
/* Limits and hidden state as numbers: how many there are; _save copies them to `to`, _load back. */
size_t dev_state_size(const dev_group *g);
void dev_state_save(const dev_group *g, double *to);
void dev_state_load(dev_group *g, const double *from);

/* dev_image.c. dev_image copies to or from the image what the group remembers from load to load.
 * dev_identity compares what its equations are made of. Both fit groups of any number of lanes. */
void dev_image(dev_group *g, image *im);
void dev_identity(const dev_group *g, image *im);

/* The pack of instance i; its lane is i - first[pack]. */
int32_t dev_pack_of(const dev_group *g, int32_t i);

/* Evaluates packs [begin, end) of a form at x.
 *   last  in   false: the next evaluation (reads lim[OLD]); true: repeats the last one for messages
 *              after dev_advance; it gives the same outputs and state again
 *   out   out  [end - begin][n_out][W]
 * Status: VS_OK; VS_NOCONV (a loop without end). Allocates nothing. */
VS_MUST_USE vs_status dev_eval(dev_group *g, mdl_form_kind form, const double *dyn, const double *x,
                               int32_t begin, int32_t end, bool last, double *out);
/* The batch as dev_eval hands it to the kernel, from pack `begin` on (effects need it). */
jit_batch dev_batch(dev_group *g, mdl_form_kind form, const double *dyn, const double *x,
                    int32_t begin, bool last, double *out);
/* Called when the kernel of a form has evaluated packs [0, n) of b: with --check-kernels compares
 * them with the interpreter. b begins with pack `begin` of the group; item: of each lane the pack *
 * W + lane of the group that it is a copy of, NULL: they are packs of the group. Before
 * dev_advance. */
void dev_compare(const dev_group *g, mdl_form_kind form, const jit_batch *b, int32_t begin,
                 int32_t n, const int32_t *item);
/* Before the evaluation of a group: fills lim[OLD] from the probes at x if it is fresh. */
void dev_begin(dev_group *g, mdl_form_kind form, const double *x);
/* The limits that packs [begin, end) come from are the values of their probes at x. */
void dev_limits_at(dev_group *g, mdl_form_kind form, const double *x, int32_t begin, int32_t end);
/* Called when all instances were evaluated: the limited voltages of this evaluation become those
 * that the next one starts from. */
void dev_advance(dev_group *g);
void dev_accept(dev_group *g);
void dev_restore(dev_group *g);

#endif
