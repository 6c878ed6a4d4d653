/* tran_priv.h - state of a transient run, shared by tran*.c. See docs/numerics.md.
 * A run is a row of smooth pieces between corners. At a corner derivatives may jump, so each piece
 * starts with a one-step method that needs no past (SDIRK2: order 2, L-stable) and goes on with the
 * method of the options. `n_piece` counts the points of the piece, its corner included. */
#ifndef TRAN_PRIV_H
#define TRAN_PRIV_H

#include "ana_priv.h"
#include "integ.h"

#define TRAN_KEEP VOP_PAST /* past points; past[] has one less */
#define TRAN_ITL4 10       /* option itl4 if nobody says otherwise */
#define TRAN_LARGE 1000    /* unknowns from which on a circuit is large */
#define TRAN_FLOW 4        /* values of filtered currents, the attempt's among them */

/* Of a step, where a row shows the other side of a corner. */
#define TRAN_BEHIND (1.0 / 4096)

typedef enum tran_kind { TRAN_SDIRK, TRAN_EULER, TRAN_MAIN } tran_kind;

/* Which unknowns the truncation error test looks at, and from when. */
enum { LTE_NEVER, LTE_STATE, LTE_ALGEBRAIC };

/* Voltages of a device: of_device[begin..others) inside of it, [others..end) at it. */
typedef struct tran_device {
    int32_t begin, others, end;
} tran_device;

typedef struct tran_lte {
    double ratio;  /* largest error / tolerance */
    int order;     /* of the estimate; 0: none could be made */
    int32_t worst; /* unknown with the largest ratio */
    double miss;   /* its corrected minus predicted value */
    double
        size; /* |miss| in units of its tolerance: the worst unknown may change from try to try */
} tran_lte;

typedef struct tran_leak { /* into an isolated part; node 0: none */
    int32_t node;
    double current, time; /* A, s */
} tran_leak;

typedef struct tran_refused { /* a point that solves the equations and is none of the circuit */
    int32_t node;             /* whose voltage is v; */
    double v, current;        /* gmin carries this current; 0: the voltage is rounding */
    bool fed;                 /* sources feed it: there is no other solution */
} tran_refused;

typedef struct tran_noise tran_noise;   /* tran_noise.c */
typedef struct tran_verify tran_verify; /* tran_verify.c */

typedef struct tran {
    ana *a;
    ana_tran_opt o;
    const ana_sink *sink;
    double t, t_new, h; /* last accepted time, time of the attempt, step */
    double hmin, hmax;
    double brk, brk_prev;       /* the corners around t: brk_prev <= t < brk */
    double mark;                /* the next time where a point must lie but nothing jumps */
    int n_piece;                /* accepted points since the corner, the corner included
                                 * (given values of a start with uic not) */
    int euler_left;             /* backward Euler steps still to make */
    tran_kind kind;             /* of the attempt */
    double *x[TRAN_KEEP + 1];   /* [n+1] x[0] attempt, x[1] at t, x[2] before, ... */
    double *q[TRAN_KEEP + 1];   /* [n+1] charges, q[0] attempt, q[1] at t, q[2] before, ... */
    double *qlo[TRAN_KEEP + 1]; /* [n+1] what rounding took from them */
    double *f[TRAN_KEEP + 1];   /* [n+1] resistive part without sources, f[0] attempt, ... */
    double *src;                /* [n+1] sources at t_new */
    double *dq[2];              /* [n+1] dq/dt, attempt and at t */
    double past[TRAN_KEEP];     /* s, past[0] = t - time of x[2], ... */
    double *hist;               /* [n+1] dq/dt = alpha (q - q[1]) + hist */
    double *fix;  /* [n+1] what the attempt's charges have less than those of the load */
    double *pred; /* [n+1] extrapolated x */
    integ_pred pc;
    bool have_pred;
    int start_order;       /* of the extrapolation that Newton starts from while steps are equal */
    double piece_part;     /* a step may have of the distance between corners */
    bool may_pass;         /* a piece may go on over corners at which nothing but slopes jumps */
    int n_before;          /* points of the piece that ended where this one begins; 0: none */
    double *stage, *k1;    /* [n+1] first stage of SDIRK2: x and dq/dt */
    double *xmax;          /* [n+1] largest |x| accepted so far */
    double *rmax;          /* [n+1] largest size of the terms of each row accepted so far */
    double *weight;        /* [n+1] 1 / what bypassed instances may leave out in a row */
    bool asks_weight;      /* the circuit asks for weight */
    uint8_t *lte_class;    /* [n+1] */
    double *lte_weight[2]; /* [m] 1 for states, 1 for states and algebraic voltages; else 0 */
    double *lte_tol;       /* [n+1] least tolerances of the truncation error */
    int32_t n_device, *of_device;
    tran_device *device;   /* [n_device] with voltages inside */
    int n_widened;         /* calls of tran_widen */
    int n_told;            /* tolerances that tran_is_rounding has widened */
    int32_t n_flow, *flow; /* [n_flow] currents without memory */
    double *y[TRAN_FLOW];  /* [n_flow] the same without zigzag, y[0] attempt, y[1] at t, ... */
    integ_coef cc;
    double grid[3];      /* s, h, past[0], past[1] that pc and cc were made for; 0: none */
    tran_kind last_kind; /* and the kind */
    newton_eq eq;        /* of the attempt; what no step changes is set once */
    newton_report rep;
    bool unseen;     /* the attempt's truncation error is below what could change the next step, and
                     * no voltage is beyond `far` */
    bool same_rule;  /* factor, begin and end are those of cc and pc: since the last step that was
                     * not the usual one */
    double factor;   /* integ_lte_factor */
    vop_start begin; /* of the usual step; what changes with each of them is set in it */
    vop_end end;
    tran_lte lte;
    double far;                  /* V: tran_refuses looks at what is beyond */
    bool fed;                    /* there are isolated parts into which a current may flow */
    tran_leak leak;              /* the largest into one, less than is refused */
    tran_refused refused;        /* the last of the attempts in a row; .node 0: none was */
    int newton_fails, lte_fails; /* in a row */
    bool follows;                /* Newton has op_follow's help */
    bool jumped;                 /* with it the last point was found: */
    int n_jump;                  /* so many were */
    bool gets_breaks;            /* breakpoints appear while time goes on (ckt.h) */
    double most;                 /* s, the next step as the client wants it; INFINITY: as it is */
    int n_bound;                 /* steps in a row that a device cut short */
    int n_shorter;               /* accepted steps in a row of which each asked for a shorter one */
    double first_h, first_size;  /* of the first LTE rejection in a row */
    double jump_h, jump_size,
        jump_end;              /* its step, kept until the time that this would have reached */
    double bare_h, bare_end;   /* the same of the first that something without memory rejected */
    double next_progress;      /* s, clock */
    bool begun;                /* the first point was delivered */
    bool plain;                /* tran_is_plain */
    bool wraps;                /* there are unknowns that count modulo something */
    bool imaged;               /* an image was taken or given: what follows is the same in both */
    struct ana_latent *latent; /* made at its first use; in use while a->latent is set */
    tran_noise *noise;         /* NULL: devices are without noise */
    double *noise_g, *noise_c; /* [nnz + 1] scratch */
    tran_verify *verify;       /* NULL: nobody looks again */
    ana_tape *tape;            /* NULL: steps are not kept */
} tran;

/* -- tran.c -- */
/* A corner is at t->t, whose point is accepted: plans the first step behind it. */
void tran_start_anew(tran *t);

/* -- tran_step.c -- */
/* Once for a run, its options being known. */
void tran_begin_equations(tran *t);
/* Solves the equations at t->t_new with the step t->h. On VS_OK x[0], q[0], dq[0] are those of the
 * new point. Status: VS_OK, VS_NOCONV (t->rep). Allocates nothing but new pivots. */
VS_MUST_USE vs_status tran_solve(tran *t);
/* Nothing of the run asks for more than the equations; a->latent and a->watch, which come and go,
 * are not looked at. */
bool tran_is_plain(const tran *t);
/* Sets t->weight, the bound on what bypassed instances may leave out of each row, from the largest
 * terms so far. */
void tran_weigh(tran *t);
/* f [n+1]: resistive part of the last load without the sources t->src. */
void tran_take_resistive(const tran *t, double *f);
/* The attempt becomes the last point of the history. */
void tran_shift(tran *t);

/* -- tran_latent.c -- */
/* All is awake, for some points. */
void tran_latent_pause(tran *t);
/* From here on parts may be latent, if the circuit and the options allow it. */
void tran_latent_begin(tran *t);
/* At an operating point, from which the first step is planned: what is at rest falls asleep. */
void tran_latent_start(tran *t);
/* All is awake, and vectors are in the order of the circuit again. */
void tran_latent_end(tran *t);
/* The same where the run is over: past points and factors are not needed any more. */
void tran_latent_finish(tran *t);
/* Before a step to t->t_new: cells whose leave ends wake. */
void tran_latent_due(tran *t);
/* x [n+1] is extrapolated from the last n points: what has been constant in a pinned cell stays so
 * without the rounding of the weights. */
void tran_latent_hold(const tran *t, double *x, int n);
/* t->pred is made, if t->have_pred: the same for it; updates of its rounding count as none. */
void tran_latent_predicted(tran *t);
/* The last point is part of the history: cells that have been quiet fall asleep. */
void tran_latent_rest(tran *t);
/* Like tran_latent_begin, after a while without latent parts because nearly all was awake. */
void tran_latent_again(tran *t);
/* A point x in the order of the circuit; valid until the next one. */
const double *tran_latent_point(tran *t, const double *x);

/* -- tran_region.c: where the same cells stay awake, their matrix as one of its own -- */
typedef struct tran_region {
    lu_solver lu;
    const csc *jac; /* the circuit's (ckt_region_begin); NULL: there is no region */
    int points;     /* made with it */
    int calm, wait; /* points in a row without changes; how many are waited for */
} tran_region;

static inline bool tran_region_is(const tran_region *r) { return r->jac != NULL; }
void tran_region_reset(tran_region *r); /* nothing is known of the circuit's changes yet */
/* After a point: whether a region may pay. changes: cells that woke or fell asleep in it. */
bool tran_region_is_due(tran_region *r, int changes);
/* Makes its matrix and factors; none, if there are none. Allocates. */
void tran_region_begin(tran_region *r, ana *a);
void tran_region_end(tran_region *r, ana *a);
/* As lu_refactor, and lu_factor where that does not do. Counts in a->lu. */
VS_MUST_USE vs_status tran_region_refactor(tran_region *r, ana *a);
void tran_region_solve(tran_region *r, ana *a, const double *b, double *x); /* as ana_solve */
/* What factors of a part cost counts as the circuit's. */
void tran_move_counts(lu_solver *lu, ana *a);

/* -- tran_scene.c: where parts of the circuit sleep from the start, factors of the others -- */
typedef struct tran_scene {
    lu_solver lu;
    csc a;            /* the entries of its rows and columns; n 0: there is no scene */
    int32_t *from;    /* [nnz of a] their places in the circuit's matrix */
    int32_t *column;  /* [unknowns + 1] of the circuit: their columns of a, -1: none */
    int32_t *unknown; /* [a.n] the reverse */
    uint8_t *in;      /* [a.n] these for lu_part, by columns of a */
    double *drop;
    int32_t *found;
    double *value, *work;
    bool wanted;   /* the next new factors are those of a scene, if it is small; */
    int64_t spent; /* columns of all that were made: the circuit's number of them ends that */
} tran_scene;

static inline bool tran_scene_is(const tran_scene *s) { return s->a.n > 0; }
void tran_scene_reset(tran_scene *s); /* nothing is known of the circuit yet */
/* The parts with a cell that is awake, and those of the last scene: matrix and factors. false: it
 * would be most of the circuit of n_all unknowns, too much was spent, or there are no factors; then
 * there is no scene. Allocates. */
bool tran_scene_begin(tran_scene *s, ana *a, int32_t n_all);
void tran_scene_end(tran_scene *s); /* does nothing if there is none */
/* As the functions of lu.h. Count in a->lu. */
VS_MUST_USE vs_status tran_scene_factor(tran_scene *s, ana *a);
VS_MUST_USE vs_status tran_scene_refactor(tran_scene *s, ana *a, const lu_part *p);
void tran_scene_solve(tran_scene *s, ana *a, lu_part *p, const double *b, double *x);

static inline bool tran_by_trap(const tran *t) { return t->a->opt.method == ANA_TRAP; }

/* -- tran_noise.c -- */
/* Noise from t->x[1] on, if the options ask for it. Status: VS_OK; VS_NOCONV (message). */
VS_MUST_USE vs_status tran_noise_begin(tran *t);
/* The sources' powers at the point that was accepted. Status as tran_noise_begin. */
VS_MUST_USE vs_status tran_noise_accept(tran *t);
/* Its part of ana_tran_image, behind the circuit's. */
void tran_noise_image(tran *t, image *im);
double tran_noise_break(const tran *t, double after); /* the first corner after a time */
/* Adds sign times the noise at `time` to t->hist. */
void tran_noise_add(tran *t, double time, double sign);

/* -- tran_verify.c: at the first point, at each one that is going to be accepted, at the end -- */
/* Makes t->verify, which writes to *said (ana_set_verify) at every point. */
void tran_verify_begin(tran *t, ana_verified *said);
/* Adds the point's residuals to the account of charges; at the first points and one in 64 also sums
 * the currents of some nodes from devices that the interpreter evaluates.
 * Status: VS_OK; VS_NOCONV: a device's loop has no end. */
VS_MUST_USE vs_status tran_verify_point(tran *t, const ckt_env *env);
void tran_verify_end(tran *t);

/* -- tran_tape.c: what .sens tran needs of each step -- */
/* Called when a step is going to be part of the history: keeps its formula and points. */
void tran_tape_step(const tran *t);
/* A step was solved, and is accepted next. */
void tran_tape_before(const tran *t);
/* Called when a row x [n+1] goes to the sink; corner: it stands just behind a corner. */
void tran_tape_row(const tran *t, const double *x, bool corner);

/* -- tran_refuse.c -- */
/* V; voltages up to there need no look. */
double tran_far(const ana *a);
/* Whether the attempt, with a voltage beyond t->far, is no point of the circuit: t->refused. */
bool tran_refuses(tran *t);
/* Whether it is none because a current flows into an isolated part, that has no path from there. */
bool tran_feeds_firm(tran *t);
/* Warns of the largest current that was less, at the end. */
void tran_tell_leak(const tran *t);
void tran_tell_refused(const tran *t); /* the error that ends the run */

/* -- tran_lte.c -- */
void tran_list_devices(tran *t); /* once for a circuit */
void tran_classify(tran *t);
/* Tolerances of voltages inside of devices, after xmax grew. */
void tran_widen(tran *t);
/* Truncation error of the attempt into t->lte. If t->unseen it is 0, but for currents without
 * memory. */
void tran_estimate(tran *t);
/* Of the attempt, if it is of kind TRAN_MAIN and pc and cc have the same order: the largest miss,
 * in tolerances, that is not seen, and the unknowns that the test looks at (as weights). */
double tran_unseen_miss(const tran *t, double factor);
const double *tran_seen(const tran *t);
/* At the first step from given values, of backward Euler, instead: the step with which it is to be
 * made again, t->h if it may stay. t->lte_fails counts such attempts. */
double tran_given_best(tran *t);
/* Step that would have had an error equal to the tolerance, no more than maxgrowth h; +inf if
 * there is no estimate. */
double tran_best_step(const tran *t);
/* The same for unknowns with memory alone. */
double tran_states_best(tran *t);
/* Whether rounding explains the miss of the worst unknown, which no step makes smaller. Its
 * tolerance is then as large from here on, the user is told, and the error is estimated again. */
bool tran_is_rounding(tran *t);
/* The last points of the worst unknown zigzag: the error is the ringing of the trapezoidal rule. */
bool tran_rings(const tran *t);

#endif
