/* shoot.h - periodic states by shooting: what the files shoot*.c share.
 *
 * The map from x_0 at t_0 to x_N one period later is that of a one-step method on fixed steps. Each
 * solution of the equations, a stage of a step from q_n, is
 *   f(x) + k = 0,   k = alpha (q(x) - q_n) + sum_j w_j k_j + b k_n - a (q_n - q_n-1)
 * with k_j the stages before it, k_n = dq/dt at the end of the step before. Its derivative along a
 * change of the state (dq_n, ...) and of ln T, by which alpha and a fall,
 *   (G + alpha C) dx = alpha dq_n - sum_j w_j dk_j - b dk_n + a (dq_n - dq_n-1) + turn dlnT
 *   dq = C dx,   dk = -G dx,   turn = alpha (q - q_n) - a (q_n - q_n-1)
 * makes the products with the monodromy matrix M = dx_N/dx_0, from the factors of each stage. A
 * piece between corners begins with steps that need no past, so that x_N depends on q(x_0) alone.
 * Use:    ana_shoot (shoot.c): shoot_find_corners, shoot_make_grid; then Newton on x_0, from
 *         shoot_pass and shoot_product, until x_N - x_0 is within tolerances; shoot_improve.
 * Source: Aprille & Trick, Proc. IEEE 60(1), 1972; Telichevesky, Kundert & White, "Efficient
 *         steady-state analysis based on matrix-free Krylov-subspace methods", DAC 1995; Hairer &
 *         Wanner, Solving ODEs II, table IV.6.5 (SDIRK4). docs/analyses.md. */
#ifndef SHOOT_H
#define SHOOT_H

#include "ana_priv.h"
#include "cycle.h"
#include "recycle.h"

enum { SHOOT_STAGES = 5, SHOOT_PROBES = 2 };

typedef struct shoot_stage {
    double part; /* of the period: its time */
    double alpha, a, b;
    double w[SHOOT_STAGES];
    int32_t number; /* in its step, from 0 */
    bool ends;      /* the step */
} shoot_stage;

typedef struct shoot_lin { /* a stage's linearisation */
    double *g, *c;         /* [nnz + 1] */
    csc m;                 /* G + alpha C; the circuit's pattern */
    lu_solver lu;
    bool analyzed, factored; /* lu has an ordering; factors of m */
} shoot_lin;

typedef struct shoot_step {
    double end;   /* in periods */
    bool fresh;   /* it begins at a corner, or at t_0 */
    double error; /* of SDIRK4: its estimate in the last pass, in tolerances; -1: there is none */
} shoot_step;

/* Derivatives along n_column changes of the state, carried through the period: each array is
 * [n_column][n + 1]. */
typedef struct shoot_wave {
    int32_t n_column;
    double *dlnt;            /* [n_column] how much of the change is one of ln T */
    double *q, *q_before;    /* of q_n, q_n-1 */
    double *d;               /* of k_n */
    double *k[SHOOT_STAGES]; /* of k_j of the step at hand */
    double *x;               /* of x at the last stage */
} shoot_wave;

/* Whether a period leaves much of a change of the state. */
typedef enum shoot_memory { SHOOT_UNKNOWN, SHOOT_FORGETS, SHOOT_REMEMBERS } shoot_memory;

typedef struct shoot_lines shoot_lines; /* shoot_line.c */
typedef struct shoot_track shoot_track;

struct ana_shot {
    ana *a;
    ana_hb_opt o;
    ana_shoot_rule rule;
    int64_t n_shown;
    int halvings; /* of the steps, at most */
    bool limited; /* the user gave that */
    const ana_sink *sink;
    double next_progress;
    int32_t n, nnz;
    size_t n1, stride;            /* n + 1; of vectors that are loaded */
    double t0, period;            /* s */
    double level;                 /* V, of an oscillator's probe at t_0 */
    double reltol, *tol_x;        /* the user's; [n+1] */
    cycle c;                      /* of the transient before */
    double *corner;               /* vec: of sources, in periods, ascending, within 0 .. 1 */
    shoot_step *step;             /* vec */
    int32_t n_sample, *sample_at; /* steps at whose end the samples m / n_sample, m > 0, are */
    int32_t *shown_at;            /* [n_shown] the same of points to be written; -1: at t_0 */
    double *x0;                   /* [n+1] the state at t_0 */
    shoot_lines *lines;           /* NULL: no device remembers */
    double *tail;                 /* [n_tail] the rest of the state: what they do */
    size_t n_tail;
    double *x_max, *r_max;  /* [stride] largest values of unknowns, of terms of rows in the pass */
    double *xs;             /* vec: [n+1] at t_0 and at the end of each step */
    int32_t *state;         /* vec: unknowns that have charge at t_0 */
    double *qs;             /* vec: [n+1] charges at the same */
    double *scale;          /* [n1] largest values in the recorded period */
    double *path_t, *old_t; /* vecs: times, in periods, of all stages of the last pass, and of the
                             * one before on this grid, if there is one: */
    float *path, *old;      /* vecs: [n+1] x there, where Newton's method begins from; else from */
    bool keeps_stages;      /* for small signals, of SDIRK4: */
    double *stage;          /* vec: [step][SHOOT_STAGES][n+1] x of the last pass */
    shoot_step *last_step;  /* vec: steps of the grid before, or of the transient */
    double *last_xs;        /* vec: and its s->xs */
    int grid, path_grid;    /* how many grids there were; of path */
    double *row_max, *weight; /* [stride] largest r_max; of held linearisations (nat_env) */
    bool weighed;             /* both are those of a whole pass */
    bool dense;               /* all columns of M are made in the pass */
    recycle known;            /* else, products with M, in tolerances */
    shoot_memory memory;
    bool probes;   /* the pass carries changes of the state along: */
    double *probe; /* [SHOOT_PROBES][n+1] what the last one left of them, and its size, */
    double left, left_before; /* in tolerances, 1 at first; before it */
    bool follows;      /* the pass begins near the last one, on the same grid: it may end where both
                        * have come together */
    shoot_wave wave;   /* of the pass; of products */
    double *c0;        /* [nnz + 1] C at t_0 */
    shoot_lin lin;     /* of the stage at hand */
    shoot_lin *kept;   /* vec */
    int32_t n_kept;    /* `kept` are those of so many stages; later ones are made again from xk */
    double *xk, *turn; /* vecs: [n+1] of all stages, for products */
    newton_report rep;
    double failed_at; /* s, where a pass ended */
};

/* -- shoot_grid.c -- */
/* Stages of step k. Returns how many. */
int32_t shoot_stages(const ana_shot *s, int32_t k, shoot_stage to[SHOOT_STAGES]);
/* Weights of the slopes of SDIRK4's stages in the difference to the embedded method of order 3, as
 * a change of alpha q. */
extern const double shoot_embedded[SHOOT_STAGES];
/* Corners of the sources in the period. Status: VS_OK; VS_EINPUT: a source does not repeat
 * (message). */
VS_MUST_USE vs_status shoot_find_corners(ana_shot *s);
/* Steps: between samples, points to be written and corners, as many as the recorded transient had,
 * each halved `level` times. */
void shoot_make_grid(ana_shot *s, int level);
/* Splits steps whose error is above `most` so that it is not; no step into more than MOST_PIECES.
 */
void shoot_split(ana_shot *s, double most);
int32_t shoot_n_stage(const ana_shot *s); /* of all steps of the grid together */
/* Takes n steps by their ends, in periods; negative: a fresh one. */
void shoot_take_steps(ana_shot *s, const double *end, size_t n);
/* Weights [n] of the values at t [n] in the polynomial through them at `at`, and in its first and
 * second derivative; each may be NULL. */
void shoot_weights(const double *t, int32_t n, double at, double *value, double *first,
                   double *second);
/* For small signals: a step ends at `cut`, a part of the period (NAN: none), and what follows is a
 * piece of its own; pieces between corners have some steps, whose lengths differ little from one to
 * the next. */
void shoot_grade(ana_shot *s, double cut);
/* How many steps end up to this part of the period; 0 is the same as 1. */
int32_t shoot_node_at(const ana_shot *s, double part);

/* -- shoot.c -- */
/* The state on the steps as they are now, by SDIRK4, from the one that is known. Status: VS_OK;
 * VS_NOCONV (message); those of shoot_pass. */
VS_MUST_USE vs_status shoot_settle(ana_shot *s);
enum { SHOOT_MOST_STEPS = 400000 };

/* -- shoot_pass.c -- */
/* Solves all stages of the period from s->x0: fills s->xs; with `derive` also what products need,
 * in s->wave if dense. Allocates.
 * Status: VS_OK; VS_NOCONV: s->rep, s->failed_at; VS_ESINGULAR (message); VS_STOP. */
VS_MUST_USE vs_status shoot_pass(ana_shot *s, bool derive);
/* Guesses of the first pass are from the transient before. */
void shoot_keep_cycle(ana_shot *s);
/* Before there are new steps: guesses of the first pass on them are from the solution at hand, if
 * there is one. */
void shoot_leave_grid(ana_shot *s, bool solved);
/* x_N of the last pass, [n+1], the shot's. */
const double *shoot_end(const ana_shot *s);
/* What the last pass made of the state, less the state: to [n+1 + n_tail], x and then the tail. */
void shoot_residual(ana_shot *s, double *to);
/* to = M v + dx_N/dlnT dlnt, v and to [n+1 + n_tail], after a pass with `derive`. Status: VS_OK,
 * VS_ESINGULAR, VS_STOP. */
VS_MUST_USE vs_status shoot_product(ana_shot *s, const double *v, double dlnt, double *to);
/* Currents that only slopes of charges determine, at all points (see there). Status as shoot_pass.
 */
VS_MUST_USE vs_status shoot_improve(ana_shot *s);
void shoot_pass_free(ana_shot *s);

/* -- shoot_line.c: lines and delays. All do nothing if there are none -- */
/* After the transient. Status: VS_OK; VS_EINPUT: a delay changes (message). */
VS_MUST_USE vs_status shoot_lines_make(ana_shot *s);
void shoot_lines_free(shoot_lines **lines);
/* There are new steps: s->tail and s->n_tail become those that belong to them, with the waves as
 * they were. */
void shoot_lines_place(ana_shot *s);
double shoot_lines_tolerance(const ana_shot *s, size_t k); /* of tail[k] */
/* What one pass knows, and what a product does; NULL: nothing. It begins with a tail [n_tail] and
 * ends with another. */
shoot_track *shoot_lines_pass(ana_shot *s);
shoot_track *shoot_lines_change(ana_shot *s);
void shoot_lines_begin(ana_shot *s, shoot_track *t, const double *tail);
void shoot_lines_end(ana_shot *s, shoot_track *t, double *tail);
/* At a stage of `step`: what arrives; the equations of the devices for the next loads, of which
 * linearisations that are made anew need the coefficients; what the change of them is on the right
 * side of a stage's equation [n+1]; and, with the stage's x [n+1], what goes on. */
void shoot_lines_stage(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step,
                       double dlnt);
void shoot_lines_hold(ana_shot *s, const shoot_track *t);
void shoot_lines_drive(ana_shot *s, const shoot_track *t, double *rhs);
void shoot_lines_advance(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step,
                         const double *x);
/* After a pass: sizes for tolerances; errors of waves into those of steps. */
void shoot_lines_measure(ana_shot *s);
void shoot_lines_estimate(ana_shot *s);
/* Equations that x at the end of a step solves. */
void shoot_lines_rest(ana_shot *s, const shoot_stage *g, const double *x);

#endif
