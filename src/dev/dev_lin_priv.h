/* dev_lin_priv.h - constants and vectors that dev_lin.c and dev_whole.c share.
 * Loops take WIDE lanes at a time on every processor. They fuse nothing and keep the order of sums,
 * so results do not depend on the processor. */
#ifndef DEV_LIN_PRIV_H
#define DEV_LIN_PRIV_H

#include "dev_lin.h"

#include <math.h>
#include <string.h>

/* No bypass beyond this distance, V: an exponential of 25 mV then grows by 22 %, and A and B still
 * hold. */
#define FARTHEST 5e-3
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

/* Whether the dynamic inputs are those at which the linearisations were made. Stores the present
 * ones. */
static inline bool dev_lin_same_dyn(struct dev_lin *l, const double *dyn)
{
    bool same = true;
    for (int32_t k = 0; k < l->n_dyn; k++) {
        same &= l->dyn_at[k] == dyn[l->dyn[k]];
        l->dyn_at[k] = dyn[l->dyn[k]];
    }
    return same;
}

/* dev_fixed.c: the parts of G and C that depend on the row alone. Fills l->n_fixed and what is
 * behind it; fixed [n_out of APART], the place of an output's part in a row of l->fixed, -1: none.
 */
void dev_fixed_init(const dev_group *g, struct dev_lin *l, int32_t *fixed, arena *mem);
void dev_fixed_rows(const dev_group *g, struct dev_lin *l); /* l->fixed anew */

/* dev_whole.c */
void dev_whole_fix(dev_group *g); /* takes l->fixed */
void dev_whole_init(dev_group *g, arena *mem);
void dev_whole_fresh(dev_group *g);
/* The last evaluation [n_pack][n_out of APART][stride] and its voltages [n_pack][n_col][stride],
 * for an image: outputs are written anew by the next load. */
void dev_whole_arrays(dev_group *g, double **now, double **v0);
/* What the instance in a lane of a pack holds, held[k * stride], and the voltages v0[c * stride] of
 * its columns. */
const double *dev_whole_held(const dev_group *g, int32_t pack, int32_t lane, const double **v0);

#endif
