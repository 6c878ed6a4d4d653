/* cyclo.h - outputs on a periodic state, what sources and noise give to them: by harmonics on the
 * orbit of harmonic balance (hb_cyclo.h), in time on that of shooting (shoot_cyclo.c). See ana.h
 * for the choice.
 * Use:    cyclo_facts; cyclo_begin; for each frequency cyclo_solve of each output, into slots, then
 *         densities and gains; cyclo_end in any case. */
#ifndef CYCLO_H
#define CYCLO_H

#include "hb_cyclo.h"
#include "shoot_small.h"

enum { CYCLO_PARTS = 3, CYCLO_SIDES = 2 };
/* An output: sum over sidebands side[] and unknowns at[] of gain[] by[] X, or one sample. */
typedef struct cyclo_view {
    int32_t n_at, at[CYCLO_PARTS]; /* unknowns from 1 */
    double by[CYCLO_PARTS];
    int32_t n_side, side[CYCLO_SIDES];
    hb_cplx gain[CYCLO_SIDES];
    bool sample; /* at `part` of the period */
    double part;
} cyclo_view;

typedef struct shoot_cyclo shoot_cyclo;
typedef struct cyclo {
    ana_steady on;
    ana *a;
    double tone;              /* Hz */
    const orbit_noise *noise; /* of hb or shot; empty without noise */
    hb_cyclo hb;              /* on.orbit: */
    hb_cplx **y;              /* [n_slot][n n_k + 1] */
    int32_t n_slot;
    shoot_cyclo *shot; /* on.shot */
    small levels;      /* shunts of isolated parts, of which `feeds` are; no matrix */
    ckt_env env;
    small_feeds *feeds; /* [n_slot] of on.orbit, lambda [2 (n n_k + 1)]; NULL: there are no parts */
    double f;           /* Hz, of the last solution */
} cyclo;

/* What a plan is for: steps are refined for these outputs at both frequencies. */
typedef struct cyclo_plan {
    const cyclo_view *view; /* [n_view] */
    int32_t n_view;
    const int32_t *source; /* [n_in] sources whose gains are asked for */
    int32_t n_in;
    double least; /* in time: gains below this part of what a source of the kind (V or I) would give
                   * anywhere in the circuit at most may have the error of one at it */
    bool noise;   /* the devices' */
    double from, to;
    const ana_table *t;
    diag_span span; /* of messages */
} cyclo_plan;

/* Sideband k of an output alone. */
cyclo_view cyclo_view_of(const ana_output *out, int32_t k);
/* Status: VS_OK; those of ckt_load_ac, shoot_small_begin. */
VS_MUST_USE vs_status cyclo_begin(cyclo *w, ana_steady on, const cyclo_plan *p);
void cyclo_end(cyclo *w);
/* Solves for a view, into slot 0 .. n_view - 1. Status: as of hb_solve_t, shoot_small_adjoint. */
VS_MUST_USE vs_status cyclo_solve(cyclo *w, int32_t slot, const cyclo_view *v, double f);
/* As hb_cyclo_density and so on, of the output in a slot. */
double cyclo_density(const cyclo *w, size_t source, int32_t slot, double f);
double cyclo_total(const cyclo *w, int32_t slot, double f);
/* to [n][n] of slots 0 .. n - 1 */
void cyclo_correlation(const cyclo *w, int32_t n, double f, hb_cplx *to);
/* The output by 1 V or 1 A of a source at f + k f_0; the sum of |gain|^2 over all k. */
hb_cplx cyclo_gain(const cyclo *w, int32_t slot, int32_t source, int32_t k);
double cyclo_gains(const cyclo *w, int32_t slot, int32_t source);

/* -- what gmin alone carries (feeds.c) --
 * At each sideband a part's shunt takes what feeds the part at that sideband, in time what feeds it
 * at that time: lambda is of all of them. */
/* Shunts of isolated parts are those of the orbit's matrices, *env; no matrix. */
small cyclo_levels(ana_steady on, ckt_env *env);
/* Refuses one of the sidebands -most .. most of a response, z [2 most + 1][n+1], of which gmin
 * alone carries what feeds a part. levels->val: means of the matrix at f. */
VS_MUST_USE vs_status cyclo_refuse_fed(small *levels, ana_steady on, const hb_cplx *z, int32_t most,
                                       double f);
/* Of cyclo_gain; of the root of cyclo_total. */
double cyclo_gain_share(const cyclo *w, int32_t slot, int32_t source, int32_t k);
double cyclo_noise_share(const cyclo *w, int32_t slot, double f);
/* lambda of an adjoint y [n n_k + 1] of on.orbit, by one more solution at f. Only with w->feeds. */
VS_MUST_USE vs_status cyclo_find_feeds(cyclo *w, small_feeds *to, const hb_cplx *y, double f);
/* As small_feeds_judge; of `what` of the output in a slot. */
VS_MUST_USE vs_status cyclo_judge(cyclo *w, int32_t slot, double value, double share,
                                  const char *what);
/* Warns of an output that is a voltage to ground from such a part. */
void cyclo_tell_level(cyclo *w, const ana_output *out);
/* Whether a gain of this size is none, with a warning that its source has nan. Also warns of a
 * share that matters. */
bool cyclo_is_open(cyclo *w, int32_t slot, int32_t source, int32_t k, double size);

/* The output by 1 V or 1 A of a source, of the adjoint y whose unknown i, from 1, is at
 * (i - 1) stride. */
hb_cplx cyclo_of_source(const ckt_source_facts *v, const hb_cplx *y, size_t stride);
/* What gmin alone carries of b times that, lambda being at y's place. */
void cyclo_add_source(small_feeds_sum *sum, const small_feeds *feeds, const ckt_source_facts *v,
                      const hb_cplx *lambda, size_t stride, hb_cplx b);

/* -- facts of the state -- */
typedef struct cyclo_facts {
    ana *a;
    double tone;
    int32_t n_tone;
    bool osc;
} cyclo_facts;
cyclo_facts cyclo_facts_of(ana_steady on);
/* X_k of the output; *most: the largest harmonic of its unknowns. */
hb_cplx cyclo_phasor(ana_steady on, const ana_output *out, int32_t k, double *most);
/* The output at a part of the period, 0 .. 1, and its slope, per second. */
double cyclo_output_at(ana_steady on, const ana_output *out, double part, double *slope);
/* hb_instant.c: the part of the period at which the output passes `level` for the n-th time, edge
 * n: upwards, -n: downwards. Status: VS_OK; VS_EINPUT with a message: it does not. */
VS_MUST_USE vs_status cyclo_instant(ana_steady on, const ana_output *out, double level,
                                    int32_t edge, diag_span span, double *part);

/* -- shoot_cyclo.c: the same in time -- */
VS_MUST_USE vs_status shoot_cyclo_begin(shoot_cyclo **w, ana_shot *s, const cyclo_plan *p,
                                        const small *levels);
void shoot_cyclo_end(shoot_cyclo **w);
VS_MUST_USE vs_status shoot_cyclo_solve(shoot_cyclo *w, int32_t slot, const cyclo_view *v,
                                        double f);
double shoot_cyclo_density(const shoot_cyclo *w, size_t source, int32_t slot, double f);
void shoot_cyclo_correlation(const shoot_cyclo *w, int32_t n, double f, hb_cplx *to);
hb_cplx shoot_cyclo_gain(const shoot_cyclo *w, int32_t slot, int32_t source, int32_t k);
double shoot_cyclo_gains(const shoot_cyclo *w, int32_t slot, int32_t source);
/* As cyclo_gain_share and so on; of a noise source that is not white as if its density were that
 * at f. node: of cyclo_judge. */
double shoot_cyclo_gain_share(const shoot_cyclo *w, int32_t slot, int32_t source, int32_t k);
double shoot_cyclo_noise_share(const shoot_cyclo *w, int32_t slot, double f);
int32_t shoot_cyclo_fed_node(const shoot_cyclo *w, int32_t slot);
const orbit_noise *shoot_cyclo_noise(const shoot_cyclo *w);
hb_cplx shoot_cyclo_phasor(const ana_shot *s, const ana_output *out, int32_t k, double *most);
double shoot_cyclo_output_at(const ana_shot *s, const ana_output *out, double part, double *slope);

#endif
