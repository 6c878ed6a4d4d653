/* newton.c - Newton's method on the circuit equations, one run.
 * The accepted point is the last *evaluated* one: its residual is known to be small, the next
 * update would be small, and f and q that were computed there enter the history without another
 * load. Or, in a transient, it is one small update beyond it, and f and q follow to first order.
 * Source: Kundert, The Designer's Guide to SPICE and Spectre, 2.2.2 (both convergence criteria);
 *         Deuflhard, Newton Methods for Nonlinear Problems, 2.1 (simplified update as a test). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ana_priv.h"
#include "ckt_latent.h"

#include "hot.h"

/* The factors of the iteration before give only an estimate of the update, so it must be smaller by
 * this factor. */
#define CHORD_STRICT 0.5
/* A point that one evaluation confirms has not been corrected with what that evaluation found, so
 * its error is that of the tests; after a correction it is mostly the square of that. */
#define FIRST_STRICT 0.1
/* A run may end with an update that no evaluation follows, if the update is at most this many
 * tolerances and the residuals are at most that many. The error that such an update leaves is of
 * second order. How it divides into charge and current is an estimate (vop_last_update). At the
 * first evaluation there is no estimate, so the update must be as small as the test of updates
 * wants. */
#define LAST_UPDATE 2
#define LAST_RESIDUAL 100
/* Such an update by the factors of the iteration before must be this much smaller than that
 * iteration's: what it leaves is this part of it. */
#define CONTRACTION 0.1
#define FACTORS_COST 256 /* unknowns, from which on a factorisation costs several solutions */
/* From this iteration on it is enough that the residual is of the size of rounding, or that updates
 * are this much below their tolerance: models compute charges with rounding errors nobody knows. */
#define STALLED 4
#define STALLED_STRICT 1e-3

static bool pulls(const newton_eq *eq) { return eq->gshunt > 0 || eq->gpt > 0 || eq->n_force > 0; }

/* Fills r and ref; true if r passes the test already. A static load has no history.
 *   floor  in  of the tolerance of a row with charges q, alpha q reltol times it */
static inline __attribute__((always_inline)) bool add_history(ana *a, const newton_eq *eq,
                                                              double strict, double floor)
{
    const double alpha = eq->env.alpha, reltol = a->opt.reltol;
    if (!eq->q_n) {
        memcpy(a->r, a->f, sizeof(double) * (size_t)a->m);
        memcpy(a->ref, a->fmax, sizeof(double) * (size_t)a->m);
        return false;
    }
    const vop_rows rows = {.f = a->f,
                           .q = a->q,
                           .qlo = ckt_charge_rest(a->c),
                           .fmax = a->fmax,
                           .qmax = a->qmax,
                           .q_n = eq->q_n,
                           .qlo_n = eq->qlo_n,
                           .hist = eq->hist,
                           .rmax = eq->rmax,
                           .tol = a->tol_r,
                           .r = a->r,
                           .ref = a->ref,
                           .alpha = alpha,
                           .floor = alpha * floor,
                           .reltol = reltol};
    if (ana_shares(a))
        return vop_share_residual(ana_team(a), &rows, a->m, strict);
    return vop_residual(&rows, a->m, strict);
}

/* Fills r; true if it is the rounding of sums of the rows' largest terms. Of a linear circuit,
 * whose equations one solution solves. */
__attribute__((noinline)) static bool is_solved(ana *a, const newton_eq *eq)
{
    return add_history(a, eq, NEWTON_ROUNDING / a->opt.reltol, 1);
}

static void add_conductance(ana *a, int32_t i, double g, double v)
{
    if (!a->gdiag[i])
        return;
    a->r[i] += g * v;
    a->ref[i] = norm_max(a->ref[i], g * fabs(v));
    *a->gdiag[i] += g;
}

static void add_homotopy(ana *a, const newton_eq *eq, const double *x)
{
    if (eq->gshunt > 0 || eq->gpt > 0)
        for (int32_t i = 1; i <= a->n; i++) {
            if (eq->gshunt > 0)
                add_conductance(a, i, eq->gshunt, x[i]);
            if (eq->gpt > 0)
                add_conductance(a, i, eq->gpt, x[i] - eq->xref[i]);
        }
    for (size_t k = 0; k < eq->n_force; k++) {
        int32_t i = eq->force[k].unknown;
        add_conductance(a, i, eq->gforce, x[i] - eq->force[k].value);
        a->ref[i] = norm_max(a->ref[i], NEWTON_ROUNDING / a->opt.reltol * eq->gforce * fabs(x[i]));
    }
}

static double residual_tolerance(const ana *a, int32_t i)
{
    return a->opt.reltol * a->ref[i] + a->tol_r[i];
}

static double update_tolerance(const ana *a, const newton_eq *eq, const double *x, int32_t i)
{
    double size = norm_max(fabs(x[i]), fabs(x[i] - a->dx[i]));
    if (eq->xmax)
        size = norm_max(size, eq->xmax[i]);
    return a->opt.reltol * size + a->tol_x[i];
}

/* What several threads do stands apart, so that small circuits save no registers for it. */
#define APART __attribute__((noinline)) static

APART bool shared_residual_is_below(const ana *a, double strict)
{
    return vop_share_residual_is_small(ana_team(a), a->r, a->ref, a->tol_r, a->opt.reltol, a->m,
                                       strict);
}

static inline __attribute__((always_inline)) bool residual_is_below(const ana *a, double strict)
{
    if (ana_shares(a))
        return shared_residual_is_below(a, strict);
    return vop_residual_is_small(a->r, a->ref, a->tol_r, a->opt.reltol, a->m, strict);
}

/* in: what add_history said, true only for residuals that nothing was added to. */
static bool residual_is_small(const ana *a, const newton_eq *eq, bool in, double strict)
{
    if (eq->q_n && !pulls(eq))
        return in;
    return residual_is_below(a, strict);
}

APART bool shared_update_is_small(const ana *a, const newton_eq *eq, const double *x, double strict)
{
    return vop_share_update_is_small(ana_team(a), x, a->dx, eq->xmax, a->tol_x, a->opt.reltol, a->m,
                                     strict);
}

/* No update with an infinity or a NaN is small. */
VS_HOT static bool update_is_small(const ana *a, const newton_eq *eq, const double *x,
                                   double strict)
{
    if (ana_shares(a) && eq->xmax)
        return shared_update_is_small(a, eq, x, strict);
    if (eq->xmax)
        return vop_update_is_small(x, a->dx, eq->xmax, a->tol_x, a->opt.reltol, a->m, strict);
    for (int32_t i = 1; i <= a->n; i++)
        if (!(fabs(a->dx[i]) - strict * update_tolerance(a, eq, x, i) <= 0))
            return false;
    return true;
}

/* size_i = sum_j |J_ij x_j|, voltages counting as `least` at least; [n+1] */
static void size_rows(const ana *a, const double *x, double least, double *size)
{
    const csc *m = a->jac;
    memset(size, 0, sizeof(double) * (size_t)(a->n + 1));
    if (a->latent)
        ckt_latent_sizes(a->c, x, least, size);
    for (int32_t j = 0; !a->latent && j < m->n; j++) {
        const double xj = norm_max(fabs(x[j + 1]), a->u[j + 1].kind == CKT_VOLTAGE ? least : 0);
        for (int32_t k = m->colptr[j]; k < m->colptr[j + 1]; k++)
            size[m->row[k] + 1] += fabs(m->val[k]) * xj;
    }
}

/* V. Models take a voltage to volts, as in the charge of a junction, of 1 - v/vj: however small it
 * is, they know it no better than to the rounding of such a sum. */
#define MODEL_VOLT 1.0

/* A row with |r_i| <= c eps sum_j |J_ij x_j| is solved as well as doubles allow: x solves equations
 * that differ from the given ones by rounding only. No iteration improves such a row, though nodes
 * that hang on 1e-9 S may still move far. So the run converges if all other rows pass their tests,
 * and the update that these rows ask for is small. (Examples: a diode with 1e-5 ohm in series. Its
 * current is known to 1e-11 A, and amplifiers behind it follow this rounding for ever. A junction
 * of 5 fF at 1 mV: in steps of 1e-18 s the rounding of its charge is 1e-12 A.) */
static bool only_rounding_is_left(ana *a, const newton_eq *eq, const double *x)
{
    double *size = a->size;
    bool others = false;
    size_rows(a, x, MODEL_VOLT, size);
    for (int32_t i = 1; i <= a->n; i++) {
        const bool rounding = fabs(a->r[i]) <= NEWTON_ROUNDING * size[i];
        if (!rounding && !(fabs(a->r[i]) <= residual_tolerance(a, i)))
            return false;
        others |= !rounding;
        size[i] = rounding ? 0 : a->r[i];
    }
    if (!others)
        return true;
    ana_solve(a, size, size);
    for (int32_t i = 1; i <= a->n; i++)
        if (!(fabs(size[i]) <= update_tolerance(a, eq, x, i)))
            return false;
    return true;
}

/* All rows of the present residual are rounding: x solves equations that differ by rounding from
 * the given ones. Asked where a solution costs much more than this look, and of linear circuits, in
 * which one solution finds such an x. */
static bool all_is_rounding(ana *a, const double *x)
{
    double *size = a->size;
    if (a->latent || (!a->linear && !ana_factors_are_dear(a)))
        return false;
    size_rows(a, x, 0, size);
    for (int32_t i = 1; i <= a->n; i++)
        if (!(fabs(a->r[i]) <= NEWTON_ROUNDING * size[i]))
            return false;
    return true;
}

/* Fills *rep from the vectors of the last iteration: what is beyond `least` times its tolerance. */
static void report(const ana *a, const newton_eq *eq, const double *x, double least,
                   newton_report *rep)
{
    double worst_dx = least, worst_r = least;
    for (int32_t i = 1; i <= a->n; i++) {
        double tx = update_tolerance(a, eq, x, i), tr = residual_tolerance(a, i);
        if (!(fabs(a->dx[i]) <= worst_dx * tx)) {
            worst_dx = fabs(a->dx[i]) / tx;
            rep->worst_dx = ana_unknown_at(a, i);
            rep->dx = a->dx[i];
            rep->dx_tol = tx;
        }
        if (!(fabs(a->r[i]) <= worst_r * tr)) {
            worst_r = fabs(a->r[i]) / tr;
            rep->worst_r = ana_unknown_at(a, i);
            rep->r = a->r[i];
            rep->r_tol = tr;
        }
    }
}

/* Factors of the present matrix; pivots are chosen anew when they must be. */
static vs_status factor(ana *a)
{
    const int timed = ana_timed(a, a->st.iterations);
    double t0 = timed ? vs_seconds() : 0;
    vs_status st = VS_REPIVOT;
    watch_phase(a->watch, ANA_IN_REFACTOR);
    if (!a->repivot)
        st = a->latent ? ana_latent_refactor(a) : lu_refactor(&a->lu, a->jac);
    if (st == VS_REPIVOT) {
        watch_phase(a->watch, ANA_IN_FACTOR);
        st = a->latent ? ana_latent_factor(a) : lu_factor(&a->lu, a->jac);
    }
    watch_phase(a->watch, ANA_IN_TEST);
    a->repivot = false;
    if (timed)
        a->st.s_factor += timed * ana_since(a, t0);
    return st;
}

vs_status newton_factor(ana *a, double alpha)
{
    const vs_status st = factor(a);
    a->alpha_lu = st == VS_OK ? alpha : NAN;
    near_forget(a);
    return st;
}

/* dx = A^-1 r with the present factors. */
static void solve(ana *a)
{
    const int timed = ana_timed(a, a->st.iterations);
    double t0 = timed ? vs_seconds() : 0;
    watch_phase(a->watch, ANA_IN_SOLVE);
    ana_solve(a, a->r, a->dx);
    watch_phase(a->watch, ANA_IN_TEST);
    if (timed)
        a->st.s_solve += timed * ana_since(a, t0);
}

/* Length of the update: halved while successive updates point against each other. */
static double damping(ana *a, double last)
{
    double dot = 0, now = 0, before = 0;
    for (int32_t i = 1; i <= a->n; i++) {
        dot += a->dx[i] * a->dx_prev[i];
        now += a->dx[i] * a->dx[i];
        before += a->dx_prev[i] * a->dx_prev[i];
    }
    memcpy(a->dx_prev, a->dx, sizeof(double) * (size_t)(a->n + 1));
    bool swings = dot < -0.5 * sqrt(now * before) && now > 0.25 * before;
    return swings ? norm_max(last / 2, 1.0 / 16) : fmin(1, last * 2);
}

/* Limits the move of each node by itself, so that voltages at devices stay differences of node
 * voltages. */
static void move_limited(const ana *a, const newton_eq *eq, double *x)
{
    for (int32_t i = 1; i <= a->n; i++) {
        const double most = a->gdiag[i] ? norm_max(eq->most_move, 0.5 * fabs(x[i])) : INFINITY;
        x[i] -= fmin(fmax(a->dx[i], -most), most);
    }
}

static void move(const ana *a, const newton_eq *eq, double lambda, double *restrict x)
{
    const double *restrict dx = a->dx;
    if (eq->most_move > 0) {
        move_limited(a, eq, x);
        return;
    }
    if (eq->xmax)
        vop_move(x, dx, lambda, a->m);
    else
        for (int32_t i = 1; i <= a->n; i++)
            x[i] -= lambda * dx[i];
}

void newton_count(ana *a)
{
    a->st.n_factor = a->lu.stat.n_factor;
    a->st.n_refactor = a->lu.stat.n_refactor;
    a->st.n_reuse = a->lu.stat.n_reuse;
    a->st.n_solve = a->lu.stat.n_solve;
}

/* Hands the watcher the figures of this iteration. */
static void tell(const ana *a, const newton_eq *eq, const double *x, const newton_report *rep,
                 double lambda, bool converged)
{
    if (!a->watch || !a->watch->iteration)
        return;
    newton_report worst = *rep;
    watch_phase(a->watch, ANA_IN_WATCH);
    if (!rep->nonfinite)
        report(a, eq, x, converged ? 0 : 1, &worst);
    const ana_iteration it = {
        .iter = rep->iter,
        .tran = eq->env.mode == CKT_TRAN,
        .converged = converged,
        .limited = rep->limited,
        .nonfinite = rep->nonfinite,
        .singular = rep->singular != 0,
        .damping = lambda,
        .worst_dx = worst.worst_dx,
        .worst_r = worst.worst_r,
        .dx = worst.dx,
        .dx_tol = worst.dx_tol,
        .r = worst.r,
        .r_tol = worst.r_tol,
    };
    a->watch->iteration(a->watch->user, &it);
    watch_phase(a->watch, ANA_IN_TEST);
}

static vs_status give_up(ana *a, const newton_eq *eq, const double *x, newton_report *rep)
{
    newton_count(a);
    a->repivot = true;
    if (rep->iter <= eq->itl && (rep->nonfinite || rep->singular))
        tell(a, eq, x, rep, 1, false);
    if (!rep->nonfinite)
        report(a, eq, x, 1, rep);
    return VS_NOCONV;
}

static inline bool may_be_last(const ana *a, const newton_eq *eq, const newton_report *rep)
{
    return eq->fix && !rep->limited && (rep->iter > 1 || eq->solved) && !pulls(eq) &&
           residual_is_below(a, LAST_RESIDUAL);
}

/* The largest update, in tolerances. */
static double update_size(const ana *a, const newton_eq *eq, const double *x)
{
    if (ana_shares(a))
        return vop_share_update_size(ana_team(a), x, a->dx, eq->xmax, a->tol_x, a->opt.reltol,
                                     a->m);
    return vop_update_size(x, a->dx, eq->xmax, a->tol_x, a->opt.reltol, a->m);
}

/* Whether the update by the factors of the iteration before, or older ones, is as good as Newton's
 * own. */
static bool contracts(const ana *a, const newton_eq *eq, const double *x)
{
    const double now = update_size(a, eq, x);
    if (a->near.stale)
        return now <= LAST_UPDATE && near_error(a) * now <= CONTRACTION * LAST_UPDATE;
    return now <= LAST_UPDATE && now <= CONTRACTION * a->dx_size;
}

static void keep_loaded(ana *a, const newton_eq *eq, const double *x)
{
    if (a->n_all >= FACTORS_COST)
        a->dx_size = update_size(a, eq, x);
    memcpy(a->f_prev, a->f, sizeof(double) * (size_t)a->m);
    memcpy(a->q_prev, a->q, sizeof(double) * (size_t)a->m);
}

/* The usual update of a large circuit: x moves, and what was loaded is kept. */
typedef struct stride {
    ana *a;
    const newton_eq *eq;
    double *x, lambda;
    vop_largest largest;
} stride;

static void stride_part(void *user, int32_t k, int32_t m)
{
    stride *s = user;
    ana *a = s->a;
    const size_t bytes = sizeof(double) * (size_t)m;
    vop_move(s->x + k, a->dx + k, s->lambda, m);
    vop_note(&s->largest,
             vop_update_size(s->x + k, a->dx + k, s->eq->xmax + k, a->tol_x + k, a->opt.reltol, m));
    memcpy(a->f_prev + k, a->f + k, bytes);
    memcpy(a->q_prev + k, a->q + k, bytes);
}

APART void stride_shared(ana *a, const newton_eq *eq, double lambda, double *x)
{
    stride s = {.a = a, .eq = eq, .x = x, .lambda = lambda};
    vop_share(ana_team(a), a->m, stride_part, &s);
    a->dx_size = s.largest;
}

static inline void move_and_keep(ana *a, const newton_eq *eq, double lambda, double *x)
{
    if (ana_shares(a) && eq->fix && eq->xmax && !(eq->most_move > 0)) {
        stride_shared(a, eq, lambda, x);
        return;
    }
    move(a, eq, lambda, x);
    if (eq->fix)
        keep_loaded(a, eq, x);
}

APART void share_last_update(const ana *a, const vop_last *l, double *x, double *fix)
{
    vop_share_last_update(ana_team(a), l, x, a->f, fix, a->m);
}

/* The last update, without an evaluation after it. */
static inline void finish(const ana *a, const newton_eq *eq, newton_report *rep, double *x)
{
    const bool first = rep->iter == 1;
    rep->updated = true;
    rep->left = first && eq->leaves;
    if (rep->left)
        return;
    const vop_last l = {.dx = a->dx,
                        .r = a->r,
                        .q = a->q,
                        .alpha = eq->env.alpha,
                        .f_prev = first ? NULL : a->f_prev,
                        .q_prev = first ? NULL : a->q_prev};
    if (ana_shares(a))
        share_last_update(a, &l, x, eq->fix);
    else
        vop_last_update(&l, x, a->f, eq->fix, a->m);
}

/* What the evaluation of an iterate allows. */
typedef struct verdict {
    double strict; /* factor of both tolerances */
    bool may_stop; /* the residual passes: a small update ends the run */
    bool rounding; /* of a linear circuit: the residual is that of sums of such terms */
    bool try_last; /* an update by the factors of the iteration before may be the last */
    bool tried;    /* that update is in a->dx */
} verdict;

/* f, q, their history and the homotopy at x. false: a device gave no finite number. */
static bool evaluate(ana *a, const newton_eq *eq, const ckt_env *env, const double *x,
                     newton_report *rep, verdict *v)
{
    a->st.iterations++;
    rep->limited = false;
    watch_phase(a->watch, ANA_IN_LOAD);
    if (a->latent)
        ana_latent_load(a, x);
    if (!eq->loaded &&
        ckt_load(a->c, env, x, a->f, a->q, a->fmax, a->qmax, &rep->limited) != VS_OK) {
        rep->nonfinite = true;
        return false;
    }
    watch_phase(a->watch, ANA_IN_TEST);
    watch_loaded(a->watch, env, x);
    v->strict = env->iter == 1 ? FIRST_STRICT : 1;
    v->rounding = a->linear && env->iter == 1 && eq->solved && !eq->loaded && is_solved(a, eq);
    if (v->rounding)
        return v->may_stop = true;
    const bool small = add_history(a, eq, v->strict, NEWTON_ROUNDING / a->opt.reltol);
    add_homotopy(a, eq, x);
    v->may_stop = (env->iter > 1 || eq->solved) && !rep->limited &&
                  (!a->opt.residual || residual_is_small(a, eq, small, v->strict));
    v->try_last = a->n_all >= FACTORS_COST && env->iter > 1 && may_be_last(a, eq, rep);
    return true;
}

/* Whether the factors of the iteration before, which cost nothing, show that x is the solution. */
static bool old_factors_end_it(ana *a, const newton_eq *eq, verdict *v, newton_report *rep,
                               double *x)
{
    v->tried = false;
    if (!v->may_stop && !v->try_last)
        return false;
    if (v->may_stop && (v->rounding || all_is_rounding(a, x))) {
        hot_clear(a->dx, (size_t)a->m);
        return true;
    }
    solve(a);
    v->tried = true;
    if (near_error(a) > CHORD_STRICT)
        return false;
    if (v->may_stop && update_is_small(a, eq, x, CHORD_STRICT * v->strict))
        return true;
    if (!v->try_last || !contracts(a, eq, x))
        return false;
    finish(a, eq, rep, x);
    return true;
}

/* The update by older factors, in a->dx as they give it if `tried`. */
static bool update_by_old_factors(ana *a, const newton_eq *eq, bool tried)
{
    if (!tried)
        solve(a);
    const double t0 = vs_seconds(); /* large circuits only */
    watch_phase(a->watch, ANA_IN_SOLVE);
    const bool good = near_update(a, eq);
    a->near.alpha = eq->env.alpha;
    watch_phase(a->watch, ANA_IN_TEST);
    a->st.s_solve += ana_since(a, t0);
    return good;
}

/* Newton's update into a->dx, where it is already if it was tried and the matrix is what it was.
 * Status: VS_OK; VS_ESINGULAR with rep->singular; others end the run. */
static vs_status new_update(ana *a, const newton_eq *eq, bool tried, newton_report *rep)
{
    if (near_may_serve(a, eq, rep->iter) && update_by_old_factors(a, eq, tried))
        return VS_OK;
    const int64_t reused = a->lu.stat.n_reuse;
    const bool coarse = a->near.stale; /* what was tried */
    const vs_status st = newton_factor(a, eq->env.alpha);
    if (st == VS_ESINGULAR)
        rep->singular = a->lu.stat.singular + 1;
    if (st == VS_EUNSUPPORTED)
        ana_say_refused(a, &a->lu);
    if (st != VS_OK)
        return st;
    if (!tried || coarse || a->lu.stat.n_reuse == reused)
        solve(a);
    return VS_OK;
}

/* Asked of updates that end nothing, for those that do are finite. Status as new_update. */
static vs_status check_update(ana *a, newton_report *rep)
{
    if (norm_finite(a->dx + 1, a->n))
        return VS_OK;
    rep->singular = lu_weakest(&a->lu) + 1;
    return VS_ESINGULAR;
}

/* Whether the update shows that x, or x - dx if `last`, is the solution. */
static bool update_ends_it(ana *a, const newton_eq *eq, const verdict *v, bool last,
                           newton_report *rep, double *x)
{
    if (v->may_stop && update_is_small(a, eq, x, v->strict))
        return true;
    if (last && update_is_small(a, eq, x, rep->iter == 1 ? FIRST_STRICT : LAST_UPDATE)) {
        finish(a, eq, rep, x);
        return true;
    }
    return false;
}

/* Whether no iteration would come nearer. */
static bool is_stalled(ana *a, const newton_eq *eq, const newton_report *rep, const double *x)
{
    return rep->iter >= STALLED && !rep->limited &&
           (update_is_small(a, eq, x, STALLED_STRICT) || only_rounding_is_left(a, eq, x));
}

/* The largest residual that is more than rounding, in tolerances of the accepted points: those of
 * the iterate fall with its currents, and a residual that is all of a current stays at 1 / reltol
 * of them. */
static double worst_residual(ana *a, const newton_eq *eq, const double *x)
{
    double worst = 0, *size = a->size;
    size_rows(a, x, MODEL_VOLT, size);
    for (int32_t i = 1; i <= a->n; i++)
        if (!(fabs(a->r[i]) <= NEWTON_ROUNDING * size[i]))
            worst = norm_max(worst, fabs(a->r[i]) / (a->opt.reltol * eq->rmax[i] + a->tol_r[i]));
    return worst;
}

/* Newton that comes down an exponential leaves 1/e of the residual in each iteration: slow, but it
 * ends, and a shorter step would begin it again. */
#define PROGRESS 0.6
static bool may_go_on(ana *a, const newton_eq *eq, const double *x, int iter, double *worst)
{
    if (iter < eq->itl || eq->itl_more <= eq->itl)
        return iter <= eq->itl;
    const double before = *worst;
    *worst = worst_residual(a, eq, x);
    return iter == eq->itl || (iter <= eq->itl_more && *worst <= PROGRESS * before);
}

/* Finds a node at a device of an OSDI library whose voltage is so large that neighbouring doubles
 * are more than its tolerance apart. Far outside of its range such a library may give derivatives
 * that do not fit its currents. Updates are then small beside the voltage and the equations hold to
 * rounding, but the point is no solution of the circuit. */
static int32_t node_beyond(const ana *a, const double *x)
{
    for (size_t i = 0; i < vec_len(a->far); i++)
        if (!(fabs(x[a->far[i]]) * DBL_EPSILON <= a->tol_x[a->far[i]]))
            return a->far[i];
    return 0;
}

/* Homotopies may take hours, and so may single iterations of large circuits: they end when the
 * client says so (op_solve gives VS_STOP). Small circuits are done before anyone waits. */
enum { LARGE = 1000 };
static bool is_stopped(ana *a, const newton_eq *eq)
{
    if (!a->homotopy && (!eq->damp || a->n < LARGE))
        return false;
    return ana_asked(a);
}

static inline __attribute__((always_inline)) vs_status iterate(ana *a, newton_eq *eq, double *x,
                                                               newton_report *rep)
{
    ckt_env *const env = &eq->env;
    const bool tran = env->mode == CKT_TRAN;
    double lambda = 1;
    double worst = INFINITY;
    bool found = false;
    *rep = (newton_report){0};
    if (eq->damp)
        memset(a->dx_prev, 0, sizeof(double) * (size_t)(a->n + 1));
    for (env->iter = 1; may_go_on(a, eq, x, env->iter, &worst); env->iter++) {
        verdict v;
        rep->iter = env->iter;
        env->rough = tran && env->iter == 1 && !eq->solved; /* may_stop, may_be_last */
        if (is_stopped(a, eq))
            return VS_NOCONV; /* and so does each run of a homotopy that is under way */
        if (!evaluate(a, eq, env, x, rep, &v))
            return give_up(a, eq, x, rep);
        if ((found = old_factors_end_it(a, eq, &v, rep, x)))
            break;
        const bool last = v.try_last || may_be_last(a, eq, rep);
        vs_status st = new_update(a, eq, v.tried, rep);
        if (st == VS_OK && (found = update_ends_it(a, eq, &v, last, rep, x)))
            break;
        if (st == VS_OK)
            st = check_update(a, rep);
        if (st == VS_OK && (found = is_stalled(a, eq, rep, x)))
            break;
        rep->refused = st == VS_NOCONV;
        if (st == VS_ESINGULAR || rep->refused)
            return give_up(a, eq, x, rep);
        if (st != VS_OK)
            return st;
        if (eq->damp)
            lambda = damping(a, lambda);
        tell(a, eq, x, rep, lambda, false);
        move_and_keep(a, eq, lambda, x);
        eq->loaded = false;
    }
    a->n_run[tran]++;
    if (!found) {
        a->n_limit[tran]++;
        return give_up(a, eq, x, rep);
    }
    rep->beyond = node_beyond(a, x);
    if (rep->beyond) {
        newton_count(a);
        a->repivot = true;
        return VS_NOCONV;
    }
    tell(a, eq, x, rep, 1, true);
    newton_count(a);
    return VS_OK;
}

/* eq->env in place: its time was stored just now, and a copy by wider words would wait for it. */
VS_HOT vs_status newton_run(ana *a, newton_eq *eq, double *x, newton_report *rep)
{
    const vs_status st = iterate(a, eq, x, rep);
    eq->env.iter = 0;
    eq->env.rough = false;
    eq->loaded = false;
    return st;
}
