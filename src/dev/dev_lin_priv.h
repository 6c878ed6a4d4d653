/* dev_lin_priv.h - constants and vectors that dev_lin.c and dev_whole.c share.
 * Loops take WIDE lanes at a time on every processor. They fuse nothing and keep the order of sums,
 * so results do not depend on the processor. */
#ifndef DEV_LIN_PRIV_H
#define DEV_LIN_PRIV_H

#include "dev_lin.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* No bypass beyond this distance, V: an exponential of 25 mV then grows by 22 %, and A and B still
 * hold. */
#define FARTHEST 5e-3
/* A load that no point can end with only says where Newton goes next: instances may leave out
 * ROUGH times as much there, up to this distance. What that moves is some tolerances of a residual,
 * less than what the extrapolation, at which such a load is made, misses. */
#define ROUGH 64
#define ROUGH_FARTHEST 20e-3
/* Distances below this tell nothing about curvature: the difference is rounding, V. */
#define MEASURABLE 1e-4
/* |i(v) - i0 - G dv| <= 1/2 |G| dv^2 / 25 mV if i follows exp(v / 25 mV), and less for everything
 * slower. */
#define STEEPEST 20.0
/* A measurement along one direction says little about others. So the bound never falls below
 * LEAST_PART of the bound above, a new measurement counts SAFETY times, and an old one fades by
 * FADING at each evaluation. */
#define LEAST_PART (1.0 / 64)
#define SAFETY 4
#define FADING 0.25

/* Work space of an evaluation of instances that were put together. */
struct dev_lin_buffer {
    int32_t n_lane; /* there is room for */
    int32_t *map;   /* [n_lane / W][n_u][W] */
    int32_t *row;   /* [n_lane / W] */
    double *cache;  /* row_per_lane: [n_lane / W][n_cache][W] setup values, */
    int32_t *has;   /* [n_lane] and of which row they are, -1: none */
    int32_t *lane;  /* [n_lane] items of the lanes; -1 - item: a copy of it */
    double *lim[2]; /* [n_lane / W][n_lim][W] limited voltages of the evaluation before; of this */
    double *out;    /* [n_lane / W][n_out][W] */
    double
        *change; /* [n_lane][n_sum] of i0 - G v0, q0 - C v0, G and C, as l->sum has them; held as a
                       whole: NULL */
};

enum { WIDE = 4 };
typedef double wide __attribute__((vector_size(WIDE * 8), aligned(8), may_alias));
typedef int64_t wide_mask __attribute__((vector_size(WIDE * 8), aligned(8), may_alias));

#define GET(p) (*(const wide *)(p))
#define PUT(p, v) (*(wide *)(p) = (v))
#define MAGNITUDE(v) ((wide)((wide_mask)(v) & INT64_MAX))
#define CHOOSE(mask, a, b) ((wide)(((wide_mask)(a) & (mask)) | ((wide_mask)(b) & ~(mask))))
/* a > b ? a : b. Macros: functions that are compiled for several processors cannot hand such values
 * to others. */
#define LARGER(a, b) CHOOSE((a) > (b), a, b)

/* 1 / what may be left out in a row, of current or charge: as much as its tolerance allows, or as
 * much as `blur` at the voltage on which it depends most steeply explains. The larger of both
 * counts, for A or for B; the other one's is 0. For charges the first is less, the larger alpha is,
 * and belongs to B; the second has no alpha and belongs to A. Where it is the larger one at the
 * alpha of the measurement, A stays as strict as both together for any alpha, and else B does. */
typedef struct dev_lin_units {
    wide a, b;
} dev_lin_units;

/* w: of the row's tolerance. */
static inline __attribute__((always_inline)) dev_lin_units dev_lin_units_of(wide w,
                                                                            const dev_lin_at *at,
                                                                            const int charge,
                                                                            wide steepest)
{
    const wide explained = at->blur * steepest, none = {0};
    const wide_mask larger = explained * ((charge ? at->alpha : 1) * w) > 1;
    if (!(larger[0] | larger[1] | larger[2] | larger[3])) /* divisions take long */
        return charge ? (dev_lin_units){none, w} : (dev_lin_units){w, none};
    return charge ? (dev_lin_units){CHOOSE(larger, 1 / explained, none), CHOOSE(larger, none, w)}
                  : (dev_lin_units){CHOOSE(larger, 1 / explained, w), none};
}

/* Which instances move, nobody can foresee, so that what belongs to one lies in memory that the
 * processor does not expect: it is asked for before it is needed. */
static inline void dev_lin_ask_for(const void *p, size_t bytes)
{
    const uintptr_t from = (uintptr_t)p & ~(uintptr_t)(VS_LINE - 1), to = (uintptr_t)p + bytes;
    for (const char *line = (const char *)p - ((uintptr_t)p - from); (uintptr_t)line < to;
         line += VS_LINE)
        __builtin_prefetch(line);
}

/* What instance i holds, and where its outputs go. */
static inline void dev_lin_ask_for_instance(const dev_group *g, int32_t i)
{
    const size_t n_out = (size_t)g->lin->apart->n_out, n = (size_t)g->form[MDL_TRAN].n_out;
    dev_lin_ask_for(&g->lin->held[(size_t)i * n_out], n_out * sizeof(double));
    dev_lin_ask_for(&g->form[MDL_TRAN].slot[(size_t)i * n], n * sizeof(int32_t));
    if (g->lin->homes)
        dev_lin_ask_for(&g->lin->homes->to[(size_t)i * (size_t)g->lin->n_add[2]],
                        (size_t)g->lin->n_add[2] * sizeof(int32_t));
}

static inline double dev_lin_most(const dev_lin_at *a) { return a->rough ? ROUGH : 1; }
static inline double dev_lin_farthest(const dev_lin_at *a)
{
    return a->rough ? ROUGH_FARTHEST : FARTHEST;
}

/* Of a row that several threads have: the largest is the same in any order. */
static inline void dev_lin_raise_common(double *max, double v)
{
    _Atomic double *at = (_Atomic double *)max;
    double old = atomic_load_explicit(at, memory_order_relaxed);
    while (v > old && !atomic_compare_exchange_weak_explicit(at, &old, v, memory_order_relaxed,
                                                             memory_order_relaxed)) {
    }
}

/* Pack and lane of an item (pack * W + lane), W being a power of two; its number in the group. */
static inline int32_t dev_lin_pack_in(const dev_group *g, int32_t code)
{
    return code >> __builtin_ctz((unsigned)g->lanes);
}

static inline int32_t dev_lin_lane_in(const dev_group *g, int32_t code)
{
    return code & (g->lanes - 1);
}

static inline int32_t dev_lin_instance_of(const dev_group *g, int32_t code)
{
    return g->first[dev_lin_pack_in(g, code)] + dev_lin_lane_in(g, code);
}

/* The circuit's unknowns that are unknown u of the instances in a pack's lanes: to [W]. */
static inline void dev_lin_unknowns(const dev_group *g, const dev_form *f, int32_t pack, int32_t u,
                                    int32_t *to)
{
    const size_t w = (size_t)g->lanes;
    memcpy(to, &f->lane_map[((size_t)pack * (size_t)f->n_u + (size_t)u) * w], w * sizeof *to);
}

/* Whether dyn [IR_N_DYN] has, of the inputs that the kernel reads, the values that l->dyn_at notes.
 * Notes the present ones: after false, linearisations no longer hold. */
static inline bool dev_lin_same_dyn(struct dev_lin *l, const double *dyn)
{
    bool same = true;
    for (int32_t k = 0; k < l->n_dyn; k++) {
        same &= l->dyn_at[k] == dyn[l->dyn[k]];
        l->dyn_at[k] = dyn[l->dyn[k]];
    }
    return same;
}

/* -- dev_fixed.c: the parts of G and C that depend on the row alone -- */
/* Lists the operations that make these parts from setup values, and runs them for all rows: sets
 * l->n_fixed, fixed_op, fixed_at and fixed, in `mem`. fixed[k], k < n_out of APART: out, the place
 * of output k's part in a row of l->fixed; -1: the output has none. */
void dev_fixed_init(const dev_group *g, struct dev_lin *l, int32_t *fixed, arena *mem);
/* Fills l->fixed [n_row][n_fixed] from the present setup values of all rows. */
void dev_fixed_rows(const dev_group *g, struct dev_lin *l);

/* -- dev_lin.c: unknowns of the columns, [n_pack][n_col][stride], in `mem`; from lane W on: 0 -- */
int32_t *dev_lin_columns(const dev_group *g, arena *mem, int32_t stride);

/* -- and evaluations of instances that were put together -- */
/* Makes a buffer of so many packs, in `mem`. */
void dev_lin_init_buffer(const dev_group *g, arena *mem, struct dev_lin_buffer *b, int32_t packs);
/* Makes a lane of the buffer, of b->n_lane, that of an item: its unknowns and setup values. */
void dev_lin_seat(const dev_group *g, struct dev_lin_buffer *b, int32_t lane, int32_t code);
/* Evaluates packs [begin, end) into b->out, the first into its lanes from 0; b->lane and l->item
 * tell whom. */
VS_MUST_USE vs_status dev_lin_run(dev_group *g, const dev_lin_at *a, int32_t begin, int32_t end,
                                  struct dev_lin_buffer *b);

/* -- dev_whole.c: groups held as a whole; dev_whole_stride S lanes to a pack -- */
/* Spreads l->fixed over the lanes; after dev_fixed_rows. */
void dev_whole_fix(dev_group *g);
/* Makes g->lin->whole in `mem`, empty; the rest of g->lin is there. */
void dev_whole_init(dev_group *g, arena *mem);
/* Forgets the linearisations: the next load evaluates the group. */
void dev_whole_fresh(dev_group *g);
/* For an image: *now, the last evaluation [n_pack][n_out of APART][S], *v0, its voltages
 * [n_pack][n_col][S]; both the group's. When they were changed the next load writes all outputs. */
void dev_whole_arrays(dev_group *g, double **now, double **v0);
/* What an instance holds: output k of APART is the returned [k * S]; *v0 [c * S] the voltage at
 * which it was evaluated, of column c. The group's, until its next evaluation. */
const double *dev_whole_held(const dev_group *g, int32_t pack, int32_t lane, const double **v0);

#endif
