/* ana_trace.h - callbacks that watch an analysis: where its time goes, and the outcome of each
 * Newton iteration and each time step. Nothing is watched in normal runs: the hooks are one test of
 * a NULL pointer each.
 * Use:    fill an ana_watch (any callback may be NULL), ana_set_watch(a, &w), run; NULL ends it.
 *         `vsim profile`, `vsim analyze` and the table of a failed Newton run are made of it. */
#ifndef ANA_TRACE_H
#define ANA_TRACE_H

#include "ana.h"

/* What the analysis is doing; times between two changes belong to the earlier one. */
/* clang-format off */
#define ANA_PHASE_LIST(X)                         \
    X(ANA_IN_OTHER, "other")                      \
    X(ANA_IN_LOAD, "load")                        \
    X(ANA_IN_TEST, "convergence test")            \
    X(ANA_IN_FACTOR, "factor")                    \
    X(ANA_IN_REFACTOR, "refactor")                \
    X(ANA_IN_SOLVE, "solve")                      \
    X(ANA_IN_PREDICT, "predict")                  \
    X(ANA_IN_LTE, "truncation error")             \
    X(ANA_IN_PRODUCT, "products")                 \
    X(ANA_IN_OUTPUT, "output")                    \
    X(ANA_IN_WATCH, "watching") /* work that only a watcher causes */
/* clang-format on */
typedef enum ana_phase {
#define X(name, text) name,
    ANA_PHASE_LIST(X)
#undef X
        ANA_N_PHASE
} ana_phase;

/* One Newton iteration, at its end. Unknowns and rows from 1; 0: none beyond its tolerance. */
typedef struct ana_iteration {
    int iter;                  /* from 1 */
    bool tran;                 /* of a transient point, not of a static one */
    bool converged;            /* it was the last one: the run succeeded */
    bool limited;              /* a device moved a voltage by limiting */
    bool nonfinite, singular;  /* why the run ends here without success */
    double damping;            /* part of the update that is made, 1: all */
    int32_t worst_dx, worst_r; /* farthest beyond (or, converged, nearest to) the tolerance */
    double dx, dx_tol;         /* update of worst_dx and what is allowed */
    double r, r_tol;           /* residual of worst_r and what is allowed */
} ana_iteration;

typedef enum ana_verdict {
    ANA_STEP_GOOD,   /* accepted by the truncation error test */
    ANA_STEP_JUMP,   /* accepted: something jumps, no step is short enough */
    ANA_STEP_NOISE,  /* accepted: the error is rounding */
    ANA_STEP_LTE,    /* rejected: truncation error */
    ANA_STEP_NEWTON, /* rejected: Newton did not converge */
    ANA_STEP_EVENT   /* rejected: an event of a model lies within it */
} ana_verdict;

/* One attempt of a time step, at its end. */
typedef struct ana_step {
    double t, h;    /* s, the new time and the step that led there */
    double best;    /* s, the step the truncation error allows, +inf: no estimate */
    double ratio;   /* error / tolerance */
    int32_t worst;  /* the unknown with the largest error, 0: none */
    int iterations; /* of the last Newton run, transients */
    ana_verdict verdict;
    bool corner;     /* it ended at a corner of a source */
    int64_t columns; /* of factors, made anew in this analysis so far */
    bool is_static;  /* an operating point or a point of a dc sweep instead: t is the axis */
} ana_step;

typedef struct ana_watch {
    void (*phase)(void *user, ana_phase p);
    /* a load was made: f, q, J of the circuit are those of x */
    void (*loaded)(void *user, const ckt_env *env, const double *x);
    /* worst updates and residuals are looked for only if this is set */
    void (*iteration)(void *user, const ana_iteration *it);
    void (*step)(void *user, const ana_step *s);
    void *user;
} ana_watch;

const char *ana_phase_name(ana_phase p);
/* The watch must outlive its use; NULL: none. */
void ana_set_watch(ana *a, const ana_watch *w);

/* -- for the files of src/ana -- */
static inline void watch_phase(const ana_watch *w, ana_phase p)
{
    if (w && w->phase)
        w->phase(w->user, p);
}

static inline void watch_loaded(const ana_watch *w, const ckt_env *env, const double *x)
{
    if (w && w->loaded)
        w->loaded(w->user, env, x);
}

static inline void watch_step(const ana_watch *w, const ana_step *s)
{
    if (w && w->step)
        w->step(w->user, s);
}

#endif
