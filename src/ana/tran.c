/* tran.c - transient analysis: the loop over time, choice of the step, corners, output.
 * Source: Nagel, SPICE2 (ERL-M520) ch. 6; Brenan, Campbell & Petzold, Numerical Solution of IVPs in
 *         DAEs, ch. 5; step control constants as in VACASK (docs/numerics.md gives each). */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "norm.h"
#include "tran_priv.h"

#include "hot.h"

#define FIRST_FRACTION 0.25   /* first step, of the least of tstep, hmax and a quarter piece */
#define PIECE_FRACTION 0.2501 /* of the distance between corners: at least 4 points in a piece */
#define PIECE_LARGE 0.5001    /* the same in large circuits, where a corner means little to most */
#define CUT_NEWTON 0.25       /* after Newton failed */
#define REJECT_RATIO 2.5      /* reject if the step is this much longer than the best one */
#define REJECT_RATIO_FIRST 10 /* the same for the estimate of a first step, which is coarse */
#define NEAR_CORNER 0.1       /* no step may leave less than this part of itself to a corner */
#define JUMP_SHRINK 1e-3      /* a miss that stays while the step falls by this is a jump */
#define BARE_PART 0.06        /* of a step in which something without memory moves too fast, */
#define BARE_QUIET 4          /* which counts until this many of them without such a thing */
#define DOUBTFUL 1000     /* times the smallest step: is it rounding that asks for such steps? */
#define NOISE 10          /* a miss below this many last Newton updates is noise */
#define PATIENCE 10000    /* steps in a row that devices cut short */
#define MOST_STEPS 1e10   /* beyond as many of them a run is ended */
#define LEAST_PART 1e-13  /* of the largest step: what is fast may be that much faster */
#define LEAST_STEP 1e-90  /* s; its cube and the inverse of that are numbers */
#define SAME_TIME 3.6e-15 /* times this far apart, relative to tstop, are the same */
#define MOST_EVENTS 16    /* times of a step at which digital nodes change, each with two rows */
#define JUMP_SEEN 3       /* jumps of currents that a row behind a corner shows, in tolerances */

/* -- setting up -- */

static double first_break(tran *t, double after)
{
    const double tstop = t->o.tstop;
    double b = ckt_next_break(t->a->c, after + SAME_TIME * tstop);
    if (t->sink->next)
        b = fmin(b, t->sink->next(t->sink->user, after + SAME_TIME * tstop));
    if (t->noise)
        b = fmin(b, tran_noise_break(t, after));
    return b < tstop * (1 - SAME_TIME) ? b : tstop;
}

static tran *make_work(ana *a)
{
    tran *t = arena_new(&a->mem, tran);
    double **v[] = {&t->dq[0],  &t->dq[1],   &t->hist,          &t->fix,          &t->pred,
                    &t->stage,  &t->k1,      &t->src,           &t->xmax,         &t->rmax,
                    &t->weight, &t->lte_tol, &t->lte_weight[0], &t->lte_weight[1]};
    double **all[VS_COUNT(v) + 4 * (TRAN_KEEP + 1) + TRAN_FLOW];
    size_t n = VS_COUNT(v);
    memcpy(all, v, sizeof v);
    for (int i = 0; i <= TRAN_KEEP; i++) {
        double **of_point[] = {&t->x[i], &t->q[i], &t->qlo[i], &t->f[i]};
        memcpy(&all[n], of_point, sizeof of_point);
        n += VS_COUNT(of_point);
    }
    for (int i = 0; i < TRAN_FLOW; i++)
        all[n++] = &t->y[i];
    ana_vectors(a, all, n);
    t->flow = arena_array(&a->mem, int32_t, a->n + 1);
    t->lte_class = arena_array(&a->mem, uint8_t, CKT_SEATS(a->n));
    t->a = a;
    tran_list_devices(t);
    return t;
}

static double largest_step(const ana_tran_opt *o)
{
    return o->tmax > 0 ? o->tmax : fmin(o->tstep, (o->tstop - o->tstart) / 50);
}

static vs_status check_times(ana *a, const ana_tran_opt *o)
{
    const char *wrong = !(o->tstop > 0)   ? "the stop time must be positive"
                        : !(o->tstep > 0) ? "the step must be positive"
                        : !(o->tstart >= 0 && o->tstart < o->tstop)
                            ? "the start time must lie before the stop time"
                        : !(o->tmax >= 0) ? "the largest step must be positive"
                                          : NULL;
    if (wrong) {
        diag_error(a->d, DIAG_NOWHERE, "transient: %s", wrong);
        return VS_EINPUT;
    }
    if (largest_step(o) < LEAST_STEP) {
        diag_error(a->d, DIAG_NOWHERE, "transient: steps of %.3g s are too short; at least %.0e s",
                   largest_step(o), LEAST_STEP);
        return VS_EINPUT;
    }
    if (largest_step(o) >= 2 * SAME_TIME * o->tstop)
        return VS_OK;
    diag_error(
        a->d, DIAG_NOWHERE,
        "transient: steps of at most %.3g s are too short to reach %.3g s; times have 15 digits",
        largest_step(o), o->tstop);
    return VS_EINPUT;
}

/* Currents of inductors make voltages of their slopes, which jump where slopes of sources do. */
static bool has_flux(const tran *t)
{
    for (int32_t i = 1; i <= t->a->n; i++)
        if (t->a->u[i].kind == CKT_CURRENT && t->a->u[i].has_q)
            return true;
    return false;
}

static void set_limits(tran *t)
{
    const ana_tran_opt *o = &t->o;
    t->hmax = largest_step(o);
    t->gets_breaks = ckt_gets_breaks(t->a->c) || t->sink->next;
    t->hmin = t->a->opt.minstep > 0 ? t->a->opt.minstep : LEAST_PART * fmin(t->hmax, o->tstop);
    t->hmin = fmax(t->hmin, SAME_TIME * o->tstop);
    t->most = INFINITY;
    t->piece_part = t->a->n >= TRAN_LARGE && !t->a->linear ? PIECE_LARGE : PIECE_FRACTION;
    t->may_pass = t->a->n >= TRAN_LARGE && !t->a->linear && !t->gets_breaks && !has_flux(t);
    t->brk_prev = 0;
    t->brk = first_break(t, 0);
    t->n_piece = o->uic ? 0 : 1;    /* given values may jump at once: no point of the piece, */
    t->euler_left = o->uic ? 2 : 0; /* and two steps of order 1 absorb it */
    t->newton_fails = t->lte_fails = t->n_shorter = t->n_bound = 0;
    t->n_jump = 0;
    t->jumped = false;
    t->t = t->next_progress = t->jump_end = t->bare_end = 0;
    t->start_order = t->n_before = t->n_told = 0;
    t->grid[0] = 0;
}

/* With uic the charges are those of sources at 0 V. Currents at that moment tell nothing (a
 * junction between a given node and a supply that is still off may carry 1e9 A). So Newton starts
 * with the sources on, and later tolerances refer to values taken with the sources on. t->q[0] is
 * scratch. */
static vs_status switch_on(tran *t, ckt_env *env)
{
    ana *a = t->a;
    bool limited;
    ckt_switch_on(a->c, t->x[1]);
    ckt_reset_limits(a->c);
    watch_phase(a->watch, ANA_IN_LOAD);
    vs_status st = ckt_load(a->c, env, t->x[1], a->f, t->q[0], a->fmax, a->qmax, &limited);
    watch_phase(a->watch, ANA_IN_OTHER);
    return st == VS_NOCONV ? VS_OK : st; /* where it is not finite Newton will tell */
}

/* Charges at t = 0; the point is accepted. Slopes are not needed: the first steps make their own.
 */
static vs_status initial_charge(tran *t)
{
    ana *a = t->a;
    ckt_env env = {.mode = CKT_TRAN,
                   .gmin = a->opt.gmin,
                   .srcfact = 1,
                   .iter = 1,
                   .initial_step = true,
                   .reltol = a->opt.reltol};
    bool limited;
    watch_phase(a->watch, ANA_IN_LOAD);
    vs_status st = ckt_load(a->c, &env, t->x[1], a->f, t->q[1], a->fmax, a->qmax, &limited);
    watch_phase(a->watch, ANA_IN_OTHER);
    if (st == VS_NOCONV) {
        diag_error(a->d, DIAG_NOWHERE, "the charges at time 0 are not finite");
        newton_report rep = {.nonfinite = true, .iter = 1};
        ana_note_newton(a, &rep);
    }
    if (st != VS_OK)
        return st;
    memcpy(t->qlo[1], ckt_charge_rest(a->c), sizeof(double) * (size_t)(a->n + 1));
    if (t->o.uic && (st = switch_on(t, &env)) != VS_OK)
        return st;
    ckt_source_terms(a->c, &env, t->src);
    tran_take_resistive(t, t->f[1]);
    memset(t->dq[1], 0, sizeof(double) * (size_t)(a->n + 1));
    for (int32_t i = 1; i <= a->n; i++) {
        t->xmax[i] = fabs(t->x[1][i]);
        t->rmax[i] = a->fmax[i];
    }
    tran_weigh(t);
    tran_widen(t);
    return ckt_accept(a->c, &env, t->x[1]);
}

static vs_status initial_point(tran *t)
{
    ana *a = t->a;
    double *x = t->x[1];
    if (!t->o.uic) {
        lu_plan(&a->lu, a->jac); /* of the first step, whose matrix is another than those at rest */
        const ana_step done = {.is_static = true, .columns = a->lu.stat.n_column};
        vs_status st = op_of_tran(a, x);
        if (st == VS_OK)
            watch_step(a->watch, &done);
        ckt_begin_shunts(a->c, x, a->opt.gmin, OP_GMIN_LOOK * a->opt.abstol);
        return st;
    }
    ckt_begin_shunts(a->c, NULL, a->opt.gmin, INFINITY);
    a->st.op_method = "uic";
    ckt_reset_limits(a->c);
    ckt_uic(a->c, x);
    for (size_t k = 0; k < vec_len(a->ic); k++)
        x[a->ic[k].unknown] = a->ic[k].value;
    x[0] = 0;
    const vs_status st = ckt_settle(a->c, x);
    return st == VS_REJECT ? VS_OK : st;
}

/* -- output -- */

VS_HOT static vs_status deliver_taken(tran *t, double time, const double *x)
{
    ana *a = t->a;
    vs_status st = VS_OK;
    if (time < t->o.tstart - SAME_TIME * t->o.tstop)
        return VS_OK;
    if (t->tape)
        tran_tape_row(t, x, time != t->t);
    const int timed = ana_timed(a, a->st.points_accepted);
    double t0 = timed ? vs_seconds() : 0;
    watch_phase(a->watch, ANA_IN_OUTPUT);
    st = t->sink->point(t->sink->user, time, a->latent ? tran_latent_point(t, x) : x);
    watch_phase(a->watch, ANA_IN_OTHER);
    if (timed)
        a->st.s_output += timed * ana_since(a, t0);
    return st;
}

static inline vs_status deliver_at(tran *t, double time, const double *x)
{
    return t->sink->point ? deliver_taken(t, time, x) : VS_OK;
}

static vs_status deliver(tran *t) { return deliver_at(t, t->t, t->x[1]); }

/* The value of unknown i just behind a corner. Lines through the points of the trapezoidal rule
 * have below them just the charge that flowed, and so has a line from here to the end of SDIRK2's
 * step, whose mean is (1 - g) i_A + g i, i_A and i at the stage and the end. What has memory does
 * not jump; a voltage without moves smoothly unless it jumps by more than it moves afterwards. */
static double behind_corner(const tran *t, int32_t i, bool *jumped)
{
    const double from = t->x[2][i], to = t->x[1][i], move = t->stage[i] - to;
    const double value = to + 2 * (1 - INTEG_SDIRK_GAMMA) * move;
    const bool flow = t->a->u[ana_unknown_at(t->a, i)].kind == CKT_CURRENT;
    const double seen = JUMP_SEEN * (t->a->opt.reltol * t->xmax[i] + t->a->tol_x[i]);
    if (t->lte_class[i] == LTE_STATE || !(fabs(value - from) > seen + (flow ? 0 : fabs(move))))
        return from + TRAN_BEHIND * (to - from);
    *jumped |= flow;
    return value;
}

/* The first step behind a corner was accepted. A point has one value, and that of the corner is the
 * value in front of it. If a source's current jumps there, as that of a ramp into a capacitor, a
 * line between the points would show the jump as a slope over the whole step. So the sink also gets
 * a row just behind the corner. It does as well if a digital node changes before that row. */
static vs_status deliver_corner(tran *t, bool digital)
{
    const double h = t->past[0], time = t->t - (1 - TRAN_BEHIND) * h;
    double *x = t->pred;
    bool jumped = digital && ckt_change_from(t->a->c, t->t - h) < time;
    if (TRAN_BEHIND * h < 100 * SAME_TIME * t->o.tstop)
        return VS_OK;
    x[0] = 0;
    for (int32_t i = 1; i <= t->a->n; i++)
        x[i] = behind_corner(t, i, &jumped);
    if (digital)
        ckt_show_at(t->a->c, time, x);
    return jumped ? deliver_at(t, time, x) : VS_OK;
}

static bool is_going(vs_status st) { return st == VS_OK || st == VS_PAUSED; }

/* A row at a time within the last step: lines between its points, digital nodes as they were. A
 * pause that the sink asked for in an earlier one waits: the next step does not come back for the
 * rest. */
static vs_status deliver_within(tran *t, double time, vs_status before)
{
    if (!is_going(before))
        return before;
    const double part = (time - (t->t - t->past[0])) / t->past[0];
    double *x = t->pred;
    x[0] = 0;
    for (int32_t i = 1; i <= t->a->n; i++)
        x[i] = t->x[2][i] + part * (t->x[1][i] - t->x[2][i]);
    ckt_show_at(t->a->c, time, x);
    const vs_status st = deliver_at(t, time, x);
    return st == VS_OK ? before : st;
}

/* Whether digital nodes change at more times of the last step than rows are given for: what is that
 * much faster than the points is not for a table of all vectors. */
static bool is_busy(const tran *t, double from)
{
    int n = 0;
    for (double at = from; n <= MOST_EVENTS && at < t->t; n++)
        at = nextafter(ckt_change_from(t->a->c, at), INFINITY);
    return n > MOST_EVENTS;
}

/* What changes no source makes no point. Where digital nodes change within the last step from that
 * time on, or at its begin, whose point has the values in front of that, there are rows in front of
 * and behind it. */
static vs_status deliver_events(tran *t, double from, vs_status st)
{
    ckt *c = t->a->c;
    const double h = t->past[0], least = 100 * SAME_TIME * t->o.tstop;
    if (is_busy(t, from))
        return st;
    for (double at = ckt_change_from(c, from), next; at < t->t && is_going(st); at = next) {
        next = fmin(ckt_change_from(c, nextafter(at, INFINITY)), t->t);
        const double behind = at + fmin(TRAN_BEHIND * h, (next - at) / 2);
        if (at - from > least)
            st = deliver_within(t, at, st);
        if (behind - at > least)
            st = deliver_within(t, behind, st);
    }
    return st;
}

/* Rows within the last step. corner: it was the first one behind a corner. */
static vs_status deliver_rows(tran *t, bool corner)
{
    const bool digital = t->gets_breaks && ckt_is_digital(t->a->c);
    const vs_status st = corner ? deliver_corner(t, digital) : VS_OK;
    if (!digital)
        return st;
    return deliver_events(t, t->t - (corner ? 1 - TRAN_BEHIND : 1) * t->past[0], st);
}

/* Behind the last point there is nothing to stop, and nothing that another process could go on
 * with. */
static vs_status report_progress(tran *t)
{
    const ana_sink *s = t->sink;
    if (t->t >= t->o.tstop)
        return VS_OK;
    if (s->stop && s->stop(s->user))
        return VS_STOP;
    if (t->a->n <= 256 && t->a->st.points_accepted % 64) /* asking costs as much as a point */
        return VS_OK;
    if (s->pause && s->pause(s->user))
        return VS_PAUSED;
    (void)ana_tick(t->a, &t->next_progress, t->t / t->o.tstop, t->t, s->progress, NULL, s->user);
    return VS_OK;
}

/* -- choice of the step -- */

/* The first time after t where a point must lie but nothing jumps: tstart, or the client's. */
static double first_mark(const tran *t)
{
    const double after = t->t + SAME_TIME * t->o.tstop;
    const double wish = t->sink->mark ? t->sink->mark(t->sink->user, after) : INFINITY;
    return t->o.tstart > after ? fmin(wish, t->o.tstart) : wish;
}

/* The next corner or mark. */
static double next_stay(tran *t)
{
    if (t->t >= t->mark - SAME_TIME * t->o.tstop)
        t->mark = first_mark(t);
    return norm_min(t->brk, t->mark);
}

/* Where factors are dear, steps change seldom, so that factors can be used again: a step keeps its
 * length until twice that length is allowed, and the way to the next mark is divided into equal
 * parts. The first step of a piece has a matrix of its own. Returns a step no longer than h. */
static double lasting_step(const tran *t, double h, double left)
{
    const double last = t->past[0];
    const double steps = ceil(left / h * (1 - 1e-9)), equal = left / steps;
    if (t->n_piece > 2 && h >= last && h < 2 * last)
        return last;
    /* times are rounded, and equal steps have equal matrices */
    return steps * fabs(equal - last) <= SAME_TIME * t->o.tstop ? last : equal;
}

/* Does the piece go on from before the last corner? The last points tell. */
static bool is_passed(const tran *t)
{
    double begin = t->t;
    for (int k = 0; k < t->n_piece - 1 && k < TRAN_KEEP && t->may_pass; k++)
        begin -= t->past[k];
    return begin < t->brk_prev - SAME_TIME * t->o.tstop;
}

/* At the corner t->brk_prev, which the last point has met, slopes of currents alone jump,
 * neither charges nor their derivatives: the rule of integration goes on. Where steps are looked
 * at again later, each corner begins a piece. */
static bool may_go_on(const tran *t)
{
    return t->may_pass && !t->tape && !t->sink->kept && !t->noise && t->brk_prev < t->o.tstop &&
           ckt_slopes_alone(t->a->c, t->brk_prev, SAME_TIME * t->o.tstop, t->brk);
}

/* Corners that appear while time goes on come so often that the run would not end. */
static bool has_short_pieces(const tran *t)
{
    return t->gets_breaks && (t->brk - t->brk_prev) * MOST_STEPS < t->o.tstop - t->t;
}

/* Sets h and t_new from the wanted step: within its limits, not across a mark, not just short of
 * it. */
VS_HOT static void plan(tran *t, double want)
{
    double mark = next_stay(t), left = mark - t->t;
    const double part = is_passed(t) ? 1 : t->piece_part;
    double h = norm_min(norm_min(want, t->hmax), part * (t->brk - t->brk_prev));
    if (ana_factors_are_dear(t->a))
        h = lasting_step(t, h, left);
    h = norm_min(h, t->most);
    double bound = ckt_bound_step(t->a->c);
    const bool cut = bound > 0 && bound < h;
    t->n_bound = cut || has_short_pieces(t) ? t->n_bound + 1 : 0;
    if (cut)
        h = fmin(h, fmax(bound, t->hmin)); /* a wish of a model: time must go on */
    if (h >= left * (1 - 1e-9)) {
        const bool same = h == t->past[0] && fabs(h - left) <= SAME_TIME * t->o.tstop;
        t->h = same ? h : left; /* times are rounded, and equal steps have equal matrices */
        t->t_new = mark;
    } else {
        t->h = left - h < NEAR_CORNER * h ? left / 2 : h;
        t->t_new = t->t + t->h;
    }
}

/* Of a piece of that length. tstep may be anything above 0, 5e-324 too. */
static double first_step(const tran *t, double piece)
{
    return FIRST_FRACTION * fmin(fmin(fmax(t->o.tstep, t->hmin), t->hmax), PIECE_FRACTION * piece);
}

/* The client hears of a point that was accepted, and may shorten the step that is planned. */
static void ask_next(tran *t)
{
    double h = t->h;
    if (!t->sink->sync)
        return;
    (void)t->sink->sync(t->sink->user, t->t, &h, 0, false);
    if (h < t->h && t->t < t->o.tstop) {
        t->most = fmax(h, t->hmin);
        plan(t, t->most);
    }
}

static void start_piece(tran *t, int euler_steps)
{
    t->n_piece = 1;
    t->n_before = 0;
    t->euler_left = euler_steps;
}

void tran_start_anew(tran *t)
{
    t->brk_prev = t->t;
    t->brk = first_break(t, t->t);
    start_piece(t, 0);
    plan(t, first_step(t, t->brk - t->brk_prev));
}

/* -- accepting and rejecting -- */

/* Unknowns that count modulo something: the whole history moves, so that extrapolation goes on. The
 * charge of such an unknown's row is the unknown. */
static void wrap_unknowns(tran *t)
{
    double by;
    int32_t k;
    for (int32_t i = 0; (k = ckt_wrapped(t->a->c, i, t->x[1], &by)) >= 0; i++) {
        for (int j = 1; j <= TRAN_KEEP && by != 0; j++) {
            t->x[j][k] -= by;
            t->q[j][k] -= by;
        }
    }
}

static bool is_bare(const tran *t) { return t->lte_class[t->lte.worst] != LTE_STATE; }

/* An unknown without memory carries no error to later points. If it moves too fast for any step, as
 * a voltage that a current drives through zero from one diode to another, it is enough to find the
 * moment to a part of the step in which this was seen. Still shorter steps would resolve modes that
 * larger ones do not see (macro models have negative capacitances, whose modes grow). */
static double best_step(tran *t)
{
    const double best = tran_best_step(t), least = BARE_PART * t->bare_h;
    if (!t->lte.worst || !is_bare(t) || t->t >= t->bare_end || best >= least)
        return best;
    return fmin(least, tran_states_best(t));
}

/* Notes the length of a step that was rejected for a bare unknown: until bare_end such unknowns
 * shorten steps to no less than BARE_PART of it. */
static void note_bare(tran *t)
{
    if (t->t >= t->bare_end || t->h > t->bare_h)
        t->bare_h = t->h;
    t->bare_end = t->t_new + BARE_QUIET * t->bare_h;
}

/* best: the next step that the error of this one allows, by best_step. */
VS_HOT static vs_status accept(tran *t, double best)
{
    ana *a = t->a;
    ckt_env *env = &t->eq.env; /* in place: its time was stored just now, and a copy would wait */
    env->limit = false;
    env->weight = NULL;
    env->reltol = a->opt.reltol;
    vs_status st = t->verify ? tran_verify_point(t, env) : VS_OK;
    if (st == VS_OK && t->tape)
        tran_tape_before(t);
    if (st == VS_OK)
        st = ckt_accept(a->c, env, t->x[0]);
    env->limit = true;
    env->reltol = 0;
    if (st < 0)
        return st;
    best = t->lte.order == 0 ? t->h : norm_min(best, a->opt.maxgrowth * t->h);
    const bool first = t->kind == TRAN_SDIRK;
    if (t->tape)
        tran_tape_step(t);
    tran_shift(t);
    const vs_status corner = deliver_rows(t, first);
    if (a->latent)
        tran_latent_rest(t);
    else if (t->latent)
        tran_latent_again(t);
    if (t->wraps)
        wrap_unknowns(t);
    t->n_piece++;
    t->euler_left -= t->euler_left > 0;
    t->newton_fails = t->lte_fails = 0;
    t->refused.node = 0;
    t->jumped = false;
    a->st.points_accepted++;
    if (t->t >= t->brk) {
        t->brk_prev = t->brk;
        t->brk = first_break(t, t->t);
        const int n = t->n_piece;
        if (!may_go_on(t)) {
            start_piece(t, 0);
            t->n_before = n;
        }
    } else if (t->gets_breaks) {
        t->brk = fmin(t->brk, first_break(t, t->t));
    }
    vs_status out = deliver(t);
    out = out == VS_OK ? corner : out;
    if (t->t < t->o.tstop)
        plan(t, norm_max(best, t->hmin));
    ask_next(t);
    if (t->noise && st == VS_OK && out == VS_OK)
        return tran_noise_accept(t);
    return st != VS_OK ? st : out;
}

static void reject(tran *t, double h)
{
    t->a->st.points_rejected++;
    ckt_restore_limits(t->a->c);
    plan(t, h);
}

/* Tells a watcher how the attempt ended. */
static void tell_watcher(const tran *t, ana_verdict v, double best)
{
    const bool newton = v == ANA_STEP_NEWTON || v == ANA_STEP_EVENT; /* no error was estimated */
    const ana_step s = {.t = t->t_new,
                        .h = t->h,
                        .best = best,
                        .ratio = newton ? 0 : t->lte.ratio,
                        .worst = newton ? 0 : ana_unknown_at(t->a, t->lte.worst),
                        .iterations = t->rep.iter,
                        .verdict = v,
                        .corner = t->t_new >= t->brk,
                        .columns = t->a->lu.stat.n_column};
    watch_step(t->a->watch, &s);
}

static inline void tell(const tran *t, ana_verdict v, double best)
{
    if (t->a->watch) /* asked at each point */
        tell_watcher(t, v, best);
}

/* Asks the client, after an attempt, how long the next step may be. true: it wants the attempt
 * undone. */
static bool ask_client(tran *t, double next, bool refused)
{
    t->most = INFINITY;
    if (!t->sink->sync)
        return false;
    double h = fmin(next, t->hmax);
    const bool again = t->sink->sync(t->sink->user, t->t_new, &h, t->h, refused);
    t->most = fmax(h, t->hmin);
    return again && !refused;
}

/* Could the attempt be accepted, but the client undoes it because its sources changed? */
static bool is_undone(tran *t, double best)
{
    if (!ask_client(t, best, false))
        return false;
    t->most = fmin(t->most, t->h);
    tell(t, ANA_STEP_EVENT, t->most);
    reject(t, t->most);
    return true;
}

/* Repeats the failed attempt, and notes its iterations to the message. */
static void explain_newton(tran *t)
{
    ana *a = t->a;
    ana_log log;
    ana_log_begin(&log, a);
    ckt_restore_limits(a->c);
    const vs_status again = tran_solve(t);
    diag_note(a->d, DIAG_NOWHERE, "Newton did not converge in %d iterations", t->rep.iter);
    diag_note(a->d, DIAG_NOWHERE, "tried: steps from %.3g s down to %.3g s, %lld rejected so far",
              t->hmax, t->h, (long long)log.st.points_rejected);
    ana_note_newton(a, &t->rep);
    if (again == VS_NOCONV) {
        ana_note_iterations(&log);
        ana_hint_step(&log, &t->rep, t->x[0], t->t);
    }
    ana_log_end(&log);
}

static void explain_step(tran *t, bool newton)
{
    ana *a = t->a;
    const int32_t i = !newton           ? ana_unknown_at(a, t->lte.worst)
                      : t->rep.worst_dx ? t->rep.worst_dx
                                        : t->rep.worst_r;
    tran_latent_end(t);
    const char *who = i ? ana_unknown_text(a, i) : "a device";
    diag_error(a->d, DIAG_NOWHERE, "time step too small at t = %.9g s: step %.3g s, limited by %s",
               t->t, t->h, who);
    if (newton) {
        explain_newton(t);
    } else {
        diag_note(a->d, DIAG_NOWHERE,
                  "its truncation error is %.3g times the tolerance; devices "
                  "there: %s",
                  t->lte.ratio, ana_blame_text(a, i));
        diag_note(a->d, DIAG_NOWHERE,
                  "hint: if one of them jumps at this time, give it a finite slope; else "
                  "looser tolerances (.options reltol, trtol) or method=gear");
    }
}

/* The shortest step again: what no charge holds may jump where a solution ends, and Newton from the
 * last point does not find the next one. Behind it Newton must do. true: it is found. */
static bool finds_jump(tran *t)
{
    enum { MOST_JUMPS = 1000 };
    if (t->a->n >= TRAN_LARGE || t->a->latent || t->a->opt.itl4 < TRAN_ITL4 || t->jumped ||
        t->n_jump >= MOST_JUMPS)
        return false;
    const newton_report last = t->rep;
    ckt_restore_limits(t->a->c);
    t->follows = true;
    const vs_status st = tran_solve(t);
    t->follows = false;
    if (st != VS_OK)
        t->rep = last;
    return st == VS_OK;
}

/* The attempt is a point behind a jump; followed: finds_jump found it. */
static vs_status accept_jump(tran *t, double best, bool followed)
{
    if (is_undone(t, best))
        return VS_OK;
    if (followed && t->n_jump++ == 0)
        diag_warning(t->a->d, DIAG_NOWHERE,
                     "at t = %.9g s a part without charge jumps: Newton does not find the point "
                     "behind it from the one before, and homotopies do; capacitances would tell "
                     "which of several it is",
                     t->t_new);
    tell(t, ANA_STEP_JUMP, best);
    const vs_status st = accept(t, best);
    start_piece(t, 1);
    t->jumped = followed;
    return st;
}

/* Newton, or what it found was refused. */
static vs_status newton_failed(tran *t)
{
    double h = CUT_NEWTON * t->h;
    tell(t, ANA_STEP_NEWTON, h);
    if (h < t->hmin) {
        if (!(t->refused.node && t->refused.fed) && finds_jump(t))
            return accept_jump(t, t->h, true);
        if (t->refused.node)
            tran_tell_refused(t);
        else
            explain_step(t, true);
        return VS_ESTEP;
    }
    if (++t->newton_fails >= 2 && t->n_piece > 0) /* given values stay no point of the piece */
        start_piece(t, 1);
    (void)ask_client(t, h, true);
    if (t->a->latent) /* updates that are left out may be what is missing */
        tran_latent_pause(t);
    reject(t, h);
    return VS_OK;
}

/* Detects jumps. If the worst miss of the prediction stays the same however short the step,
 * something jumped. Steps that are accepted on the way to the place of the jump do not end the
 * search. A miss of the same size just behind that place is the same jump, since a fold at which a
 * solution ends lies a little later each time. A miss that falls belongs to something steep; later
 * misses are compared with it. */
static bool is_jump(tran *t)
{
    if (t->lte_fails++ == 0) {
        t->first_h = t->h;
        t->first_size = t->lte.size;
        if (t->t >= t->jump_end) {
            const bool same = t->t < t->jump_end + t->jump_h && t->lte.size > 0.5 * t->jump_size;
            t->jump_end = t->t_new;
            t->jump_h = same ? t->jump_h : t->h;
            t->jump_size = same ? t->jump_size : t->lte.size;
        }
    }
    if (t->lte.size <= 0.5 * t->jump_size) {
        t->jump_h = t->h;
        t->jump_size = t->lte.size;
    }
    return t->h < JUMP_SHRINK * t->jump_h;
}

/* Whether the miss is rounding, which no step length improves: it grows when the step shrinks
 * (charges of large capacitors, over h), or is no more than what Newton leaves (nodes that hang on
 * 1e-9 S). */
static bool is_noise(const tran *t)
{
    return (t->lte_fails >= 1 && t->h < 0.5 * t->first_h && t->lte.size > 1.5 * t->first_size) ||
           (t->lte_fails >= 2 && fabs(t->lte.miss) <= NOISE * fabs(t->a->dx[t->lte.worst]));
}

/* The estimate of a first step is coarse: it shortens the step once, then the step stands. */
static bool is_good(const tran *t, double best)
{
    if (t->kind == TRAN_SDIRK)
        return t->lte_fails > 0 || t->h <= REJECT_RATIO_FIRST * best;
    return t->h <= REJECT_RATIO * best;
}

/* Ringing that is just within what is accepted: each step is a little shorter than the one before,
 * without an end. */
static bool is_endless(tran *t, double best)
{
    enum { MANY = 5 };
    t->n_shorter = best < t->h ? t->n_shorter + 1 : 0;
    return t->n_shorter >= MANY && tran_rings(t);
}

/* A model has found an event within the step, which should have ended there. */
static bool is_too_late(const tran *t, double asked)
{
    return asked < t->h * (1 - 1e-9) && asked >= t->hmin;
}

/* The first step from given values, with no points before it (n_piece 0): to be made again? In a
 * large circuit these are 0 V of logic whose supply is switched on: its settling counts little. */
__attribute__((noinline)) static bool is_given_too_long(tran *t)
{
    const double best = t->a->n < TRAN_LARGE ? tran_given_best(t) : t->h;
    if (best >= t->h || best < t->hmin)
        return false;
    t->lte_fails++;
    tell(t, ANA_STEP_LTE, best);
    (void)ask_client(t, best, true);
    reject(t, best);
    return true;
}

typedef struct far_job {
    const tran *t;
    _Atomic bool yes;
} far_job;

static void far_part(void *user, int32_t k, int32_t m)
{
    far_job *j = user;
    if (vop_is_far(j->t->x[0] + k, j->t->far, m))
        atomic_store_explicit(&j->yes, true, memory_order_relaxed);
}

static bool is_far(const tran *t)
{
    far_job j = {t, false};
    if (!t->unseen)
        ana_each_part(t->a, far_part, &j);
    return j.yes;
}

static vs_status judge(tran *t)
{
    const double asked = ckt_asked_step(t->a->c);
    if (is_too_late(t, asked)) {
        tell(t, ANA_STEP_EVENT, asked);
        reject(t, asked);
        return VS_OK;
    }
    if ((t->fed && tran_feeds_firm(t)) || (is_far(t) && tran_refuses(t)))
        return newton_failed(t);
    watch_phase(t->a->watch, ANA_IN_LTE);
    if (t->n_piece == 0 && is_given_too_long(t))
        return VS_OK;
    tran_estimate(t);
    double best = best_step(t);
    bool good = is_good(t, best);
    while (!good && best < DOUBTFUL * t->hmin && tran_is_rounding(t)) {
        best = best_step(t);
        good = is_good(t, best);
    }
    watch_phase(t->a->watch, ANA_IN_OTHER);
    if (good) {
        if (is_undone(t, best))
            return VS_OK;
        tell(t, ANA_STEP_GOOD, best);
        const bool rings = is_endless(t, best);
        vs_status st = accept(t, best);
        if (rings)
            start_piece(t, 0);
        return st;
    }
    if (is_noise(t)) {
        if (is_undone(t, t->h))
            return VS_OK;
        t->lte.order = 0; /* no estimate: the step stays */
        tell(t, ANA_STEP_NOISE, best);
        return accept(t, best);
    }
    if (is_jump(t))
        return accept_jump(t, best, false);
    if (tran_rings(t))
        start_piece(t, 0); /* the L-stable first step ends the ringing */
    tell(t, ANA_STEP_LTE, best);
    if (is_bare(t)) {
        note_bare(t);
        best = best_step(t);
    }
    if (best < t->hmin) {
        explain_step(t, false);
        return VS_ESTEP;
    }
    (void)ask_client(t, best, true);
    if (is_passed(t) && t->t - t->brk_prev <= SAME_TIME * t->o.tstop)
        start_piece(t, 0); /* what the corner does is more than points before it show */
    reject(t, best);
    return VS_OK;
}

/* Devices (short delays, $bound_step) have held the steps so short, for so long, that the run
 * would not end. */
static vs_status check_patience(const tran *t)
{
    if (t->n_bound < PATIENCE || t->o.tstop - t->t < MOST_STEPS * t->h)
        return VS_OK;
    diag_error(t->a->d, DIAG_NOWHERE,
               "transient: at %.6g s devices allow steps of %.3g s at most; more than %.0e of them "
               "would be needed to reach %.6g s",
               t->t, t->h, MOST_STEPS, t->o.tstop);
    diag_note(t->a->d, DIAG_NOWHERE,
              "short delays of lines and digital parts, and $bound_step of models do that");
    return VS_ESTEP;
}

static vs_status march(tran *t, double until)
{
    vs_status st = VS_OK;
    while (t->t < t->o.tstop && st == VS_OK) {
        if (t->t >= until)
            return VS_PAUSED;
        st = tran_solve(t);
        st = st == VS_OK ? judge(t) : st == VS_NOCONV ? newton_failed(t) : st;
        if (st == VS_OK)
            st = check_patience(t);
        if (st == VS_OK)
            st = report_progress(t);
    }
    return st;
}

vs_status ana_tran_ready(ana *a, const ana_tran_opt *opt, const ana_sink *sink)
{
    if (!a->tran)
        a->tran = make_work(a);
    tran *t = a->tran;
    t->begun = t->imaged = false;
    t->far = tran_far(a);
    t->refused.node = 0;
    t->verify = NULL;
    t->tape = NULL;
    vs_status st = check_times(a, opt);
    if (st != VS_OK)
        return st;
    t->o = *opt;
    t->noise = NULL;
    t->sink = sink;
    a->linear = ckt_is_linear(a->c);
    t->asks_weight = ckt_asks_weight(a->c);
    tran_begin_equations(t);
    tran_classify(t);
    set_limits(t);
    return VS_OK;
}

vs_status ana_tran_begin(ana *a, const ana_tran_opt *opt, const ana_sink *sink)
{
    vs_status st = ana_tran_ready(a, opt, sink);
    if (st != VS_OK)
        return st;
    tran *t = a->tran;
    st = initial_point(t);
    if (st == VS_OK)
        st = initial_charge(t);
    if (st == VS_OK)
        st = tran_noise_begin(t);
    if (t->noise || ckt_is_digital(a->c)) /* which know of times since the first point alone */
        t->brk = first_break(t, 0);
    if (st == VS_OK)
        tran_verify_begin(t, a->verify);
    return st;
}

VS_HOT vs_status ana_tran_go(ana *a, double until)
{
    tran *t = a->tran;
    const double t0 = vs_seconds();
    vs_status st = VS_OK;
    const bool first = !t->begun;
    double by;
    size_t none = 0;
    t->plain = tran_is_plain(t);
    t->fed = ckt_next_firm(a->c, &none) != NULL;
    t->wraps = ckt_wrapped(a->c, 0, t->x[1], &by) >= 0;
    t->mark = first_mark(t);
    if (first) {
        t->begun = true;
        st = deliver(t);
        plan(t, first_step(t, t->brk));
        ask_next(t);
    } else if (t->t_new > t->mark) { /* which the client did not want when the step was planned */
        plan(t, t->h);
    }
    if (st == VS_OK) {
        tran_latent_begin(t);
        if (first)
            tran_latent_start(t);
        st = march(t, until);
        const bool parts = a->latent != NULL;
        if (st == VS_OK)
            tran_latent_finish(t);
        else
            tran_latent_end(t);
        if (parts) /* the factors have entries of several steps: they are no image of any */
            (void)lu_restart(&a->lu);
    }
    a->st.s_tran += vs_seconds() - t0;
    return st;
}

const double *ana_tran_point(const ana *a, double *time)
{
    *time = a->tran->t;
    return a->tran->x[1];
}

/* Tells of a current that no circuit has. Only its size is known then, not its time: looking at
 * each point would cost small circuits more. */
static void tell_current(const tran *t)
{
    ana *a = t->a;
    const int32_t node = a->told_current ? 0 : op_node_of_absurd_current(a, t->rmax);
    if (node)
        op_tell_absurd_current(a, "transient", node, t->rmax[node], t->xmax[node]);
    a->told_current |= node != 0;
}

void ana_tran_end(ana *a, vs_status st)
{
    if (a->tran->begun)
        tell_current(a->tran);
    if (a->tran->begun && st == VS_OK)
        tran_tell_leak(a->tran);
    if (a->tran->begun && a->tran->verify)
        tran_verify_end(a->tran);
    if (a->tran->begun)
        ana_warn_limit(a, st, true, "itl4", a->opt.itl4);
}

vs_status ana_tran(ana *a, const ana_tran_opt *opt, const ana_sink *sink)
{
    vs_status st = ana_tran_begin(a, opt, sink);
    if (st == VS_OK)
        st = ana_tran_go(a, INFINITY);
    ana_tran_end(a, st);
    return st;
}
