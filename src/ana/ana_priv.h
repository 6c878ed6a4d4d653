/* ana_priv.h - what the files of src/ana share: the analysis object and one Newton solution.
 * Unknowns and rows count from 1; element 0 of every vector [n+1] belongs to the reference node. */
#ifndef ANA_PRIV_H
#define ANA_PRIV_H

#include "ana.h"
#include "ana_trace.h"
#include "ckt_latent.h"
#include "lu_near.h"
#include "lu_z.h"
#include "vop.h"
#include "norm.h"

/* Where a Newton iteration stood when it gave up. Amounts in the unit of the unknown or row. */
typedef struct newton_report {
    int iter;
    int32_t worst_dx, worst_r; /* unknown and row farthest beyond their tolerance, 0: none */
    double dx, dx_tol, r, r_tol;
    int32_t beyond;   /* node whose voltage was too large to mean anything, 0: none */
    int32_t singular; /* unknown without pivot, 0: none */
    bool nonfinite;   /* a device or the solution was not finite */
    bool refused;     /* lu_factor refused to fill the factors */
    bool limited;     /* devices were still limiting */
    bool updated;     /* x is one update beyond the last evaluated point: see newton_eq.fix */
    bool left;        /* that update, a->dx and a->r, is still to be made: see newton_eq.leaves */
} newton_report;

/* The equations one Newton run solves:
 *   f(x) + [alpha (q(x) - q_n) + hist] + gshunt x + gpt (x - xref) + gforce (x_i - v_i) = 0
 * the conductances on node rows only. Charges enter as a difference: a large constant part of q
 * (100 uF at 20 V) costs no digits of the current. */
typedef struct newton_eq {
    ckt_env env;                 /* iter and rough are newton_run's, 0 behind it */
    const double *q_n;           /* [n+1] charges of the last point; NULL: no d/dt */
    const double *qlo_n;         /* [n+1] what rounding took from them */
    const double *hist;          /* [n+1] A or V, the rest of d/dt that the past gives */
    double gshunt;               /* S */
    double gpt;                  /* S */
    const double *xref;          /* [n+1], where gpt pulls to */
    const ana_node_value *force; /* [n_force] nodes held by gforce */
    size_t n_force;
    double gforce;      /* S */
    const double *xmax; /* [m] further reference of the update test, NULL: none; if given, all
                         * vectors here and x have m elements */
    const double *rmax; /* [n+1] the same of the residual test */
    double *fix;        /* [m] NULL, or the run may end with an update that no evaluation follows;
                         * then rep->updated, f is brought to x, and q at x is q - fix */
    bool leaves;        /* an update that ends the run after one evaluation is left to the caller;
                         * all of it is f's */
    int itl, itl_more;  /* most iterations; most while residuals fall (0: no more) */
    bool solved;        /* x solves a linearisation: its first evaluation may end the run */
    bool loaded;        /* f, q and matrix at x are there already, and is_solved says no */
    bool damp;          /* shorten updates that swing to and fro */
    double most_move; /* V, longest update of a node near 0; far from it half its voltage; 0: any */
} newton_eq;

typedef struct ana_latent ana_latent; /* tran_latent.c */

/* Factors that are older than the last iteration, see near.c. */
typedef struct near_state {
    lu_near *work;          /* NULL: not needed yet */
    bool stale, spent;      /* they are older; they cost more by now than new ones would */
    double first;           /* of lu_near_solve, the last time */
    double alpha;           /* 1/s, of the last update's J, while stale */
    int64_t steps, updates; /* by these factors */
} near_state;

struct ana {
    ckt *c;
    option_set opt;
    bool only_newton; /* ana_only_newton */
    diag *d;
    ana_stat st;
    arena mem;
    int32_t n, m;         /* unknowns; elements of vectors, VOP_PADDED(n); see `latent` */
    int32_t n_all;        /* unknowns */
    bool shares;          /* threads share loops over vectors of m elements */
    const ckt_unknown *u; /* [n+1], the circuit's */
    const csc *jac;       /* the circuit's */
    lu_solver lu;
    near_state near;
    double clock_cost;           /* s, of reading the clock */
    double alpha_lu;             /* 1/s, alpha of the present factors, NAN: none */
    bool repivot;                /* the last run failed: choose new pivots */
    bool linear;                 /* in a transient: the circuit is (ckt_is_linear) */
    double inside;               /* V: homotopies accept no node beyond; INFINITY */
    bool told_current;           /* of a current that no circuit has: once a sweep */
    double *f, *q, *fmax, *qmax; /* [n+1] of the last load */
    double *r;                   /* [n+1] residual with all terms */
    double *ref;                 /* [n+1] size of the terms of each row */
    double *size;                /* [n+1] of products in each row, scratch */
    double *dx, *dx_prev;        /* [n+1] Newton updates: x_new = x - dx */
    double *tol_x, *tol_r;       /* [n+1] absolute tolerances */
    double **gdiag;              /* [n+1] diagonal values of node rows, NULL elsewhere */
    double dx_size; /* of the iteration before, if eq.fix: its largest update in tolerances */
    double *f_prev, *q_prev;                 /* [n+1] of the load before, if eq.fix */
    double *x_good, *x_try, *x_start, *x_dc; /* [n+1] of the homotopies; of the dc sweep */
    int32_t *far;                            /* vec: nodes that newton_run looks at, see there */
    double *x_doubtful;                      /* [n+1] a solution that is no operating point */
    ana_node_value *nodeset, *ic;            /* vec */
    ana_memo *memo[2];                       /* of ana_op, of ana_tran; NULL: none */
    const double *begin[2];                  /* [n+1] of the same; NULL: nothing */
    struct ana_latent *latent;               /* while parts of a transient are latent, else NULL */
    struct tran *tran;                       /* work of the transient, made at its first use */
    bool (*stop)(void *user);                /* of ana_set_stop; NULL: none */
    void *stop_user;
    bool homotopy, stopped; /* an operating point is looked for by homotopies; it said so while one
                             * was looked for */
    ana_verified *verify;   /* NULL: transients are not looked at again */
    const ana_watch *watch; /* NULL: nobody looks on */
    int64_t n_run[2],
        n_limit[2]; /* Newton runs, static and transient; those that used up their iterations */
};

/* Rounding of sums in a row, in units of its largest term. */
#define NEWTON_ROUNDING (32 * 2.2e-16)

/* -- ana.c -- */
/* Asks the client whether the search for an operating point is to end. After a yes a->stopped stays
 * true until the next search. */
bool ana_asked(ana *a);
/* As lu_z_init, for a matrix whose factors tell the analysis' client that they take long. */
void ana_lu_z_init(const ana *a, lu_z *lu);

/* Whether the threads of ckt_pool share loops over vectors (vop_share.c). */
static inline bool ana_shares(const ana *a) { return __builtin_expect(a->shares, false); }
static inline csc_team ana_team(const ana *a) { return (csc_team){ckt_pool(a->c), ckt_cut(a->c)}; }
/* part(user, k, m) for all elements of vectors, in parts that threads share or at once. */
static inline void ana_each_part(const ana *a, vop_part part, void *user)
{
    if (ana_shares(a))
        vop_share(ana_team(a), a->m, part, user);
    else
        part(user, 0, a->m);
}
static inline void ana_set_size(ana *a, int32_t n, int32_t m)
{
    a->n = n;
    a->m = m;
    a->shares = ckt_shares_vectors(a->c, m);
}

/* -- near.c: updates by the factors of an older matrix -- */
/* Whether new factors cost so many solutions in this circuit that older ones may be cheaper. */
bool near_is_worth_it(const ana *a);
/* Whether the present ones may be cheaper than new ones for this update. */
bool near_may_serve(const ana *a, const newton_eq *eq, int iter);
/* a->dx in: M^-1 r, M being what the factors are of; out: J^-1 r to 0.01 of its size. False: M is
 * too far from J; a->dx is as it was. */
bool near_update(ana *a, const newton_eq *eq);
/* There are new factors. */
void near_forget(ana *a);
/* A bound of |J^-1 r - M^-1 r| as part of |M^-1 r|, estimated from the last near_update; 0: M was
 * the matrix of the iteration before. */
double near_error(const ana *a);

/* -- op.c -- */
/* Follows the solution of base from x, which solves other equations, by pseudo-transient, then by
 * gmin stepping: where one ends, Newton from there does not find the next. x and *rep out as by
 * newton_run, but no update is left. What gmin alone would carry, and currents that no circuit has,
 * are no solution. Status: as newton_run; *rep stays as it was on VS_NOCONV. */
VS_MUST_USE vs_status op_follow(ana *a, const newton_eq *base, double *x, newton_report *rep);

/* -- op_given.c -- */
/* Brings the voltages of x, an operating point, that sources alone give to rounding. */
void op_settle_given(ana *a, const newton_eq *eq, double *x);

/* The error that the method of option lu, after VS_EUNSUPPORTED, does not take a matrix. */
void ana_say_refused(const ana *a, const lu_solver *lu);

/* -- newton.c -- */
/* x in: start, out: the last evaluated point (or see eq->fix); on VS_OK a->f, a->q belong to it.
 * Status: VS_OK; VS_NOCONV with *rep filled (also for a singular matrix). */
VS_MUST_USE vs_status newton_run(ana *a, newton_eq *eq, double *x, newton_report *rep);
/* Factors of a->jac, whose alpha this is; the old pivots if they serve.
 * Status: VS_OK; VS_ESINGULAR: there are none; others end the run, VS_EUNSUPPORTED (no message yet)
 * because of option lu. */
VS_MUST_USE vs_status newton_factor(ana *a, double alpha);
/* A run has ended: its factorisations and solutions to a->st. */
void newton_count(ana *a);
double *ana_vector(ana *a); /* zeroed, [m], lives as long as a */
/* n of them, to *v[0] to *v[n - 1]: those that loops read together are to be made together. */
void ana_vectors(ana *a, double **const *v, size_t n);
/* Tells how far an analysis is, at most 20 times a second: *next is when the next time may be (s,
 * clock). progress, stop: NULL for none. True: it is to stop. */
bool ana_tick(const ana *a, double *next, double fraction, double axis,
              void (*progress)(void *, double, double, const ana_stat *), bool (*stop)(void *),
              void *user);
double ana_since(const ana *a, double t0); /* seconds since t0 without the cost of the clock */
/* Whether the clock is to be read around the k-th of many calls, from 0, and how many of them its
 * seconds stand for; 0: no. In small systems, where its own cost shows, the first calls, which may
 * have more to do, stand for themselves, and then one of many for all. */
static inline int ana_timed(const ana *a, int64_t k)
{
    enum { SMALL = 1024, FIRST = 16, EVERY = 256 };
    return a->n_all >= SMALL || k < FIRST ? 1 : k % EVERY ? 0 : EVERY;
}

/* -- freq.c -- */
typedef struct freq_sweep {
    const double *f; /* [n] Hz, in the order of the run */
    size_t n;
    vs_status (*at)(void *work, double f); /* solves at one frequency and delivers the results */
    void *work;
} freq_sweep;
/* Calls `at` for one frequency after the other, until it gives another status than VS_OK. After
 * each it counts an accepted point, reports progress to the sink and asks it whether to stop; other
 * members of the sink are not used. Allocates nothing.
 * Status: VS_OK; the one of `at` that ended the run; VS_STOP: the user asked to stop. */
VS_MUST_USE vs_status freq_run(ana *a, const freq_sweep *s, const ana_sink *sink);
/* The same with progress and stop of a table. */
VS_MUST_USE vs_status freq_run_table(ana *a, const freq_sweep *s, const ana_table *t);
/* The same, for a plot that t->begin has opened: calls t->end in any case.
 * Status: as freq_run; else that of t->end. */
VS_MUST_USE vs_status freq_plot(ana *a, const freq_sweep *s, const ana_table *t);
/* The same at these frequencies; freq NULL: at 0 Hz. */
VS_MUST_USE vs_status freq_plot_of(ana *a, const ana_freq *freq,
                                   vs_status (*at)(void *work, double f), void *work,
                                   const ana_table *t);

/* -- tran_latent.c: while parts of the circuit are latent, vectors have its unknowns in slots of
 * cells (ckt_latent.h), n and m are those of the part that is awake -- */
int32_t ana_latent_unknown(const ana *a, int32_t i); /* of the circuit, at place i */
/* Before a load at x: wakes the neighbours of unknowns that moved. */
void ana_latent_load(ana *a, const double *x);
/* x = A^-1 b; what would move a latent unknown wakes it. */
void ana_latent_solve(ana *a, const double *b, double *x);
/* As lu_refactor, of the columns that are awake, and lu_factor. */
VS_MUST_USE vs_status ana_latent_refactor(ana *a);
VS_MUST_USE vs_status ana_latent_factor(ana *a);

static inline int32_t ana_unknown_at(const ana *a, int32_t i)
{
    return a->latent ? ana_latent_unknown(a, i) : i;
}
/* Where an unknown of the circuit stands in vectors. */
static inline int32_t ana_place(const ana *a, int32_t unknown)
{
    if (!a->latent)
        return unknown;
    const int32_t seat = ckt_latent_seats(a->c)[unknown];
    return ckt_latent_slots(a->c)[seat / CKT_CELL] * CKT_CELL + seat % CKT_CELL;
}

/* ckt_env.blur: vntol, and no more than changes exp(v / 25 mV) by `part` of reltol, V. */
static inline double ana_blur(const ana *a, double part)
{
    const double steepest = part * a->opt.reltol * 0.025;
    return a->opt.vntol < steepest ? a->opt.vntol : steepest;
}

/* Factors by Cholesky (meshes of resistors and capacitors, whose matrix depends on the step alone)
 * that cost as much as several points: steps stay equal for them, and solutions are saved. */
static inline bool ana_factors_are_dear(const ana *a)
{
    enum { DEAR = 16 }; /* multiplications per entry of the factors */
    return a->lu.stat.work > (double)DEAR * a->lu.stat.nnz_lu && lu_is_cholesky(&a->lu);
}

/* x = A^-1 b with the present factors; [n+1], element 0 is left alone. Factors that near.c has used
 * are those of another matrix than the present one: they may be coarse. */
static inline void ana_solve(ana *a, const double *b, double *x)
{
    if (a->latent)
        ana_latent_solve(a, b, x);
    else if (a->near.stale)
        lu_solve_coarse(&a->lu, b + 1, x + 1);
    else
        lu_solve(&a->lu, b + 1, x + 1);
}

/* -- op.c -- */
/* The equations of a static analysis with the options of a. */
newton_eq ana_static_eq(const ana *a, bool tran_op);
/* As ana_op, but the point is not yet accepted by the circuit. */
VS_MUST_USE vs_status op_solve(ana *a, double *x, bool warm, bool tran_op);
/* Like op_solve for a transient, without an initial guess. The transient takes over x and the state
 * of devices, not the pivots. */
VS_MUST_USE vs_status op_of_tran(ana *a, double *x);
#define OP_GMIN_LOOK 10      /* times abstol: gmin currents from which on a node is looked at */
#define OP_GMIN_CURRENT 1e-9 /* A; gmin carries no more than this where there is nothing better */
/* The node that gmin carries with the largest current, 0: none. x [n+1] solves the equations of
 * `base`; f and q are those of x again afterwards. */
int32_t op_carried_by_gmin(ana *a, const newton_eq *base, const double *x);
/* f, q and what devices remember at x, in the equations of `base`. false: not finite. */
bool op_load_at(ana *a, const newton_eq *base, const double *x);
/* Whether a part has a node outside of devices. */
bool op_is_seen(const ana *a, const ckt_firm *k);
/* The sum of v [n+1] over the nodes of a part, of latent ones those that are awake; *size: of |of|
 * [n+1], part of which is rounding. */
double op_part_sum(const ana *a, const ckt_firm *k, const double *v, const double *of,
                   double *size);
double op_most_gmin(const ana *a);                                   /* S, at any node */
double op_gmin_current(const ana *a, const double *x, int32_t node); /* A, of such a node */
/* The node with the largest contribution (size [n+1] ampere: a->fmax at the last load, or the
 * largest ones of a run) beyond what a device of a circuit has; 0: none. */
int32_t op_node_of_absurd_current(const ana *a, const double *size);
/* Warns of it. where: words in front of the sentence; current in ampere; v: the node's voltage. */
void op_tell_absurd_current(ana *a, const char *where, int32_t node, double current, double v);

/* -- op_levels.c -- */
/* Blocks of logic, each of which sees the voltages of others. */
typedef struct op_levels op_levels;

/* The blocks of the circuit, at the start x [n+1]; NULL: it does not fall into parts. */
op_levels *op_levels_new(ana *a, const newton_eq *eq, const double *x);
void op_levels_free(op_levels **l);

/* Whether signals may come back to where they came from, between blocks or within one. If not, the
 * circuit has one operating point: inputs give each block's voltages, one after the other. */
bool op_levels_have_loops(const op_levels *l);

/* Values from which Newton finds the operating point of logic in a few iterations. x [n+1] out: all
 * nodes where their gates put them. most_move out: V, as in newton_eq: nodes between transistors
 * that are off hang on leakage, and Newton would throw them, and what they lead to, far away. */
void op_levels_solve(op_levels *l, double *x, double *most_move);

/* -- ana_fail.c -- */
/* For a failed run that is made again: between begin and end every iteration is recorded; the
 * figures of `a` stay as they were. */
typedef struct ana_log {
    ana *a;
    ana_watch watch;
    const ana_watch *before;
    ana_stat st;
    int64_t runs[2], limits[2];
    ana_iteration *it;   /* vec: of the last Newton run */
    const char **device; /* vec: which device adds most to the worst row, "": none */
} ana_log;
void ana_log_begin(ana_log *l, ana *a);
void ana_log_end(ana_log *l); /* l is empty again */
/* Notes to the last message: the table of iterations; what may help, x [n+1] being the last point.
 */
void ana_note_iterations(const ana_log *l);
/* The circuit has digital parts, which have no periodic state here: says so. */
bool ana_refuses_digital(const ana *a, const char *method);
/* gmin_reached: the least conductance with a solution, S; <= 0: there was none. _step: at t s of a
 * transient. */
void ana_hint_static(const ana_log *l, const newton_report *rep, const double *x,
                     double gmin_reached);
void ana_hint_step(const ana_log *l, const newton_report *rep, const double *x, double t);
/* A warning if Newton mostly stopped at its limit, set by `option`; st: how the analysis ended. */
void ana_warn_limit(ana *a, vs_status st, bool tran, const char *option, int limit);

/* -- report.c -- */
/* "node 'x1.out'" or "current 'v1#branch'" */
const char *ana_unknown_text(ana *a, int32_t unknown);
/* The three devices that contribute most to the row: "m1 (1.2e-05 A), ...", "" if none. */
const char *ana_blame_text(ana *a, int32_t row);
/* Notes to the last message: worst update, worst residual, singular unknown. */
void ana_note_newton(ana *a, const newton_report *rep);

#endif
