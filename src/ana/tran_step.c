/* tran_step.c - one step: predict, solve the equations of the corrector. See tran_priv.h. */
#include <math.h>
#include <string.h>

#include "ckt_latent.h"
#include "pool.h"
#include "tran_priv.h"

#include "hot.h"

/* Of the tolerance of a row's residual: what each bypassed instance may leave out in it. */
#define BYPASS_PART 0.05
#define ALPHA_SAME 1e-9 /* relative: the factors of the last point are those of this one */

/* Extrapolation from equal steps, order 3: sum_k (-1)^k (p+1 over k+1) x_{n-k}. Orders 4 and 5
 * start nearer where all is smooth, but multiply the error that Newton left by 31 and 63, which
 * moves the start of oscillators. */
#define LEAST_ORDER 2 /* the predictor's own */
#define MOST_ORDER 3
static const double equal_weight[VOP_PAST] = {4, -6, 4, -1};

/* dq/dt at the new point = alpha q + sum a_i q_{n-i} + b dq. The coefficients of q sum to 0, so
 * with two points it is alpha (q - q_n) - a_1 (q_n - q_{n-1}) + b dq; hist is all but the first
 * term. */
typedef struct history_job {
    const tran *t;
    const double *dq;
} history_job;

static void history_part(void *user, int32_t k, int32_t m)
{
    const history_job *j = user;
    const tran *t = j->t;
    const integ_coef *c = &t->cc;
    if (c->n_past == 2)
        vop_history(t->hist + k, c->a[1], (double *[]){t->q[1] + k, t->q[2] + k},
                    (double *[]){t->qlo[1] + k, t->qlo[2] + k}, m);
    else if (c->b != 0)
        vop_scale(t->hist + k, c->b, j->dq + k, m);
    else
        memset(t->hist + k, 0, sizeof(double) * (size_t)m);
}

static void set_history(tran *t, const double *dq)
{
    history_job j = {t, dq};
    ana_each_part(t->a, history_part, &j);
}

/* Coefficients stay as they are while steps do: most of the time. */
static bool same_grid(const tran *t)
{
    return t->h == t->grid[0] && t->past[0] == t->grid[1] && t->past[1] == t->grid[2];
}

static void remember_grid(tran *t)
{
    t->grid[0] = t->h;
    t->grid[1] = t->past[0];
    t->grid[2] = t->past[1];
    t->last_kind = t->kind;
}

/* v = the past points with these weights. */
static void extrapolate(const tran *t, const double *w, int n, double *v)
{
    if (ana_shares(t->a))
        vop_share_predict(ana_team(t->a), v, w, n, t->x + 1, t->a->m);
    else
        vop_predict(v, w, n, t->x + 1, t->a->m);
}

/* Extrapolates x with as many points of the piece as there are, up to order 2. */
static void predict(tran *t)
{
    int order = t->n_piece - 1 < 2 ? t->n_piece - 1 : 2;
    if (t->kind != TRAN_MAIN && order > 1)
        order = 1;
    t->have_pred = order >= 1;
    if (!t->have_pred) {
        t->pc.order = 0;
        return;
    }
    if (!same_grid(t) || t->pc.order != order)
        integ_predictor(order, t->h, t->past, &t->pc);
    extrapolate(t, t->pc.w, order + 1, t->pred);
}

void tran_take_resistive(const tran *t, double *f) { vop_subtract(f, t->a->f, t->src, t->a->m); }

/* Is the matrix of the last point, or its factors, that of this one, as to alpha? */
static bool same_alpha(const tran *t)
{
    const double last = t->a->near.stale ? t->a->near.alpha : t->a->alpha_lu;
    return fabs(t->cc.alpha - last) <= ALPHA_SAME * t->cc.alpha;
}

/* The highest order that the last steps allow: all points within the piece, the corner not among
 * them, and as far apart as the new one. Steps that truncation error chooses differ. */
static int highest_start(const tran *t)
{
    int order = 0;
    while (order < MOST_ORDER && order < t->n_piece - 2 && t->past[order] == t->h)
        order++;
    return order > LEAST_ORDER ? order : LEAST_ORDER;
}

static const double *start_weights(const tran *t, int order)
{
    return order > LEAST_ORDER ? equal_weight : t->pc.w;
}

/* r of the extrapolated point, see improve_prediction. */
static void predicted_residual(tran *t, int order, double *r)
{
    const double *w = start_weights(t, order);
    if (ana_shares(t->a))
        vop_share_predicted_residual(ana_team(t->a), r, w, order + 1, t->f + 1, t->q + 1,
                                     t->qlo + 1, t->src, t->hist, t->cc.alpha, t->a->m);
    else
        vop_predicted_residual(r, w, order + 1, t->f + 1, t->q + 1, t->qlo + 1, t->src, t->hist,
                               t->cc.alpha, t->a->m);
}

typedef struct start_job {
    const tran *t;
    int order;
} start_job;

/* Elements k to k + m - 1 of v: extrapolated with as many points as a start of this order has. */
static void extrapolate_part(const tran *t, int order, int32_t k, int32_t m, double *v)
{
    double *past[VOP_PAST];
    for (int i = 0; i <= order; i++)
        past[i] = t->x[i + 1] + k;
    vop_predict(v + k, start_weights(t, order), order + 1, past, m);
}

/* x of a start, from t->pred where that has its order, else from what x is extrapolated to. */
static void moved_part(void *user, int32_t k, int32_t m)
{
    const start_job *j = user;
    const tran *t = j->t;
    if (j->order == t->pc.order)
        vop_subtract(t->x[0] + k, t->pred + k, t->a->dx + k, m);
    else
        vop_move(t->x[0] + k, t->a->dx + k, 1, m);
}

static void start_part(void *user, int32_t k, int32_t m)
{
    const start_job *j = user;
    const tran *t = j->t;
    if (j->order != t->pc.order)
        extrapolate_part(t, j->order, k, m, t->x[0]);
    moved_part(user, k, m);
}

/* One Newton update from the predicted point without evaluating devices there: f without sources
 * and q are extrapolated as x is, sources are known, and the factors are those of the last point,
 * or correct such older ones. Exact for what is linear; as good as the prediction for the rest.
 * False: the older factors did not serve. */
VS_HOT static bool improve_prediction(tran *t)
{
    ana *a = t->a;
    int order = t->pc.order;
    if (order == LEAST_ORDER && t->start_order > order) {
        const int most = highest_start(t);
        order = t->start_order < most ? t->start_order : most;
    }
    predicted_residual(t, order, a->r);
    watch_phase(a->watch, ANA_IN_SOLVE);
    ana_solve(a, a->r, a->dx);
    const bool good = !a->near.stale || a->latent || near_update(a, &t->eq);
    watch_phase(a->watch, ANA_IN_PREDICT);
    if (!good)
        return false;
    start_job j = {t, order};
    const bool holds = a->latent && order != t->pc.order;
    if (holds) {
        extrapolate(t, start_weights(t, order), order + 1, t->x[0]);
        tran_latent_hold(t, t->x[0], order + 1);
    }
    ana_each_part(a, holds ? moved_part : start_part, &j);
    return true;
}

bool tran_is_plain(const tran *t)
{
    const ana *a = t->a;
    return !t->noise && !t->verify && !t->tape && !vec_len(a->far) && !(a->opt.rshunt > 0);
}

/* The usual step: as long as the last one, both of one matrix, and all past points in the piece. It
 * starts as by predict, set_history and improve_prediction, in two loops. */
static bool is_usual(const tran *t)
{
    return t->n_piece >= 3 && t->euler_left <= 0 && same_grid(t) && t->pc.order == LEAST_ORDER &&
           t->last_kind == TRAN_MAIN && t->cc.order == 2 && !t->a->near.stale && same_alpha(t) &&
           t->plain && !t->a->latent && !t->a->watch;
}

/* What is the same in all steps from here to the next one that is not the usual one. */
__attribute__((noinline)) static void take_rule(tran *t)
{
    ana *a = t->a;
    t->factor = integ_lte_factor(&t->cc, &t->pc);
    t->begin = (vop_start){.x = t->x + 1,
                           .f = t->f + 1,
                           .q = t->q + 1,
                           .lo = t->qlo + 1,
                           .src = t->src,
                           .pred_weight = t->pc.w,
                           .two = t->cc.n_past == 2,
                           .alpha = t->cc.alpha,
                           .a1 = t->cc.a[1],
                           .b = t->cc.b,
                           .pred = t->pred,
                           .hist = t->hist,
                           .r = a->r};
    t->end = (vop_end){.r = a->r,
                       .q = a->q,
                       .lo = ckt_charge_rest(a->c),
                       .src = t->src,
                       .hist = t->hist,
                       .pred = t->pred,
                       .xmax = t->xmax,
                       .tol = t->lte_tol,
                       .alpha = t->cc.alpha,
                       .reltol = a->opt.reltol,
                       .limit = tran_unseen_miss(t, t->factor),
                       .far = t->far,
                       .f = a->f,
                       .fmax = a->fmax,
                       .qmax = a->qmax,
                       .rmax = t->rmax,
                       .tol_r = a->tol_r,
                       .strict = NEWTON_ROUNDING / a->opt.reltol};
    t->same_rule = true;
}

static inline __attribute__((always_inline)) void start_usual(tran *t, const bool shared)
{
    ana *a = t->a;
    if (!t->same_rule)
        take_rule(t);
    int order = LEAST_ORDER;
    if (t->start_order > order) {
        const int most = highest_start(t);
        order = t->start_order < most ? t->start_order : most;
    }
    vop_start *s = &t->begin;
    s->dq = t->dq[1];
    s->weight = start_weights(t, order);
    s->n = order + 1;
    s->start = t->x[0];
    t->have_pred = true;
    if (shared)
        vop_share_begin(ana_team(a), s, a->m);
    else
        vop_begin(s, a->m);
    watch_phase(a->watch, ANA_IN_SOLVE);
    ana_solve(a, a->r, a->dx);
    watch_phase(a->watch, ANA_IN_PREDICT);
    if (shared)
        vop_share(ana_team(a), a->m, moved_part, &(start_job){t, order});
    else if (order == LEAST_ORDER)
        vop_subtract(t->x[0], t->pred, a->dx, a->m);
    else
        vop_move(t->x[0], a->dx, 1, a->m);
    t->x[0][0] = 0;
}

/* The starts of the two orders beside each other. How good one was: its residual to first order,
 * J (x_start - x), as the largest part of a row's tolerance. x and J are those of the point that
 * Newton found, x_start = x_pred - A^-1 r_pred. */
enum { N_START = MOST_ORDER - LEAST_ORDER + 1 };
typedef struct start_try {
    double *off; /* x_pred - x */
    double *r;   /* r_pred, less J off */
} start_try;

/* Both r less the products with entries [k, end) of column c. */
static inline __attribute__((always_inline)) void
subtract_entries(const csc *j, const start_try s[N_START], int32_t c, int32_t k, int32_t end)
{
    const double x = s[0].off[c + 1], x2 = s[1].off[c + 1];
    double *restrict r = s[0].r, *restrict r2 = s[1].r;
    for (; k < end; k++) {
        const double v = j->val[k];
        const int32_t i = j->row[k] + 1;
        r[i] -= v * x;
        r2[i] -= v * x2;
    }
}

typedef struct try_job {
    const tran *t;
    const start_try *s;
    vop_largest miss[N_START];
} try_job;

/* The rows of a part. */
static void subtract_part(void *user, int32_t part, int worker)
{
    const try_job *j = user;
    const ana *a = j->t->a;
    const csc_cut *cut = ckt_cut(a->c);
    (void)worker;
    for (int32_t p = cut->piece_at[part]; p < cut->piece_at[part + 1]; p++)
        subtract_entries(a->jac, j->s, cut->piece[p].col, cut->piece[p].from, cut->piece[p].end);
}

static void subtract_products(try_job *t)
{
    const ana *a = t->t->a;
    const csc *j = a->jac;
    const csc_cut *cut = ana_shares(a) ? ckt_cut(a->c) : NULL;
    if (a->latent) {
        ckt_latent_subtract(a->c, (const double *[]){t->s[0].off, t->s[1].off},
                            (double *[]){t->s[0].r, t->s[1].r});
        return;
    }
    if (cut)
        pool_run_each(ckt_pool(a->c), POOL_VECTOR, cut->n_part, subtract_part, t);
    for (int32_t c = 0; !cut && c < j->n; c++)
        subtract_entries(j, t->s, c, j->colptr[c], j->colptr[c + 1]);
}

/* How far the predicted points of both orders are from the one that was found. */
static void off_part(void *user, int32_t k, int32_t m)
{
    const try_job *j = user;
    const tran *t = j->t;
    for (int o = 0; o < N_START; o++) {
        extrapolate_part(t, LEAST_ORDER + o, k, m, j->s[o].off);
        vop_move(j->s[o].off + k, t->x[0] + k, 1, m);
    }
}

/* The largest part of a tolerance among elements k to k + m - 1. */
static void miss_part(void *user, int32_t k, int32_t m)
{
    try_job *j = user;
    const ana *a = j->t->a;
    for (int o = 0; o < N_START; o++) {
        const double *r = j->s[o].r;
        double worst = 0;
        for (int32_t i = k > 1 ? k : 1; i < k + m && i <= a->n; i++)
            worst = norm_max(worst, fabs(r[i]) / (a->opt.reltol * a->ref[i] + a->tol_r[i]));
        vop_note(&j->miss[o], worst);
    }
}

/* A start was not good enough: the next ones have the order that would have been the best here. */
VS_HOT static void choose_start(tran *t)
{
    ana *a = t->a;
    const start_try s[N_START] = {{a->size, a->r}, {t->stage, t->k1}}; /* of SDIRK's steps */
    if (highest_start(t) == LEAST_ORDER)
        return;
    try_job j = {.t = t, .s = s};
    ana_each_part(a, off_part, &j);
    for (int k = 0; k < N_START; k++)
        predicted_residual(t, LEAST_ORDER + k, s[k].r);
    subtract_products(&j);
    ana_each_part(a, miss_part, &j);
    double least = INFINITY;
    for (int k = 0; k < N_START; k++)
        if (j.miss[k] < least) {
            least = j.miss[k];
            t->start_order = LEAST_ORDER + k;
        }
}

/* Where shorter steps do not help, as behind a jump of a source into a junction, limited steps of
 * Newton may: a current falls by e in each. A limit that a user has lowered stands. */
static bool shorter_did_not_help(const tran *t)
{
    enum { PATIENCE = 4 };
    return t->newton_fails >= PATIENCE && t->a->opt.itl4 >= TRAN_ITL4;
}

static int allowed_iterations(const tran *t)
{
    enum { MORE = 10 };
    return (shorter_did_not_help(t) ? MORE : 1) * t->a->opt.itl4;
}

void tran_begin_equations(tran *t)
{
    const option_set *o = &t->a->opt;
    t->eq = (newton_eq){
        .env = {.mode = CKT_TRAN, .gmin = o->gmin, .srcfact = 1, .limit = true},
        .hist = t->hist,
        .gshunt = o->rshunt > 0 ? 1 / o->rshunt : 0,
        .xmax = t->xmax,
        .rmax = t->rmax,
        .itl_more = o->itl4 < TRAN_ITL4 ? 0 : 3 * o->itl4,
    };
}

static inline void load_at(tran *t, double time)
{
    ckt_env *env = &t->eq.env;
    env->time = time;
    env->alpha = t->cc.alpha;
    env->final_step = time == t->o.tstop;
    env->weight = t->noise || !t->asks_weight ? NULL : t->weight;
    env->blur = ana_blur(t->a, BYPASS_PART);
}

VS_HOT static vs_status solve_at(tran *t, double time, double *x, bool solved, double *fix)
{
    newton_eq *eq = &t->eq;
    load_at(t, time);
    eq->q_n = t->q[1];
    eq->qlo_n = t->qlo[1];
    eq->fix = fix;
    eq->itl = allowed_iterations(t);
    eq->damp = shorter_did_not_help(t); /* between two pieces of a charge updates may swing */
    eq->solved = solved;
    return t->follows ? op_follow(t->a, eq, x, &t->rep) : newton_run(t->a, eq, x, &t->rep);
}

/* dq/dt of the point that Newton found, lo being the rest of its charges. */
static void take_flow(const tran *t, const double *lo, double *dq)
{
    vop_flow(dq, t->cc.alpha, t->a->q, t->q[1], lo, t->qlo[1], t->hist, t->a->m);
}

/* The point's charges, currents and slopes. */
static void point_part(void *user, int32_t k, int32_t m)
{
    const tran *t = user;
    const ana *a = t->a;
    const double *lo = ckt_charge_rest(a->c) + k;
    memcpy(t->q[0] + k, a->q + k, sizeof(double) * (size_t)m);
    if (t->rep.updated) /* added to the charges themselves it would be lost in their rounding */
        vop_subtract(t->qlo[0] + k, lo, t->fix + k, m);
    else
        memcpy(t->qlo[0] + k, lo, sizeof(double) * (size_t)m);
    vop_subtract(t->f[0] + k, a->f + k, t->src + k, m);
    vop_flow(t->dq[0] + k, t->cc.alpha, a->q + k, t->q[1] + k, t->qlo[0] + k, t->qlo[1] + k,
             t->hist + k, m);
}

/* The matrix of this step, and its factors, if the last ones have another alpha. False: there are
 * none; Newton will say so. */
static bool make_matrix(tran *t, const ckt_env *env)
{
    ana *a = t->a;
    bool limited;
    if (fabs(env->alpha - a->alpha_lu) <= ALPHA_SAME * env->alpha)
        return true;
    watch_phase(a->watch, ANA_IN_LOAD);
    const vs_status st = ckt_load(a->c, env, t->x[1], a->f, a->q, a->fmax, a->qmax, &limited);
    const bool made = st == VS_OK && newton_factor(a, env->alpha) == VS_OK;
    watch_phase(a->watch, ANA_IN_PREDICT);
    return made;
}

/* In a linear circuit f without sources and q are f_n + G (x - x_n) and q_n + C (x - x_n), so one
 * solution from the last point finds x at `time`, whatever the step and the method. False: x is as
 * it was, the circuit is not linear, or the last point has given charges that are not those of its
 * x. */
static bool starts_linear(tran *t, double time, double *x)
{
    static const double last[2] = {1, 0};
    ana *a = t->a;
    ckt_env env = t->eq.env;
    env.time = time;
    env.alpha = t->cc.alpha;
    env.iter = 1;
    env.matrix = true;
    if (!a->linear || t->n_piece < 1 || a->opt.rshunt > 0 || near_is_worth_it(a) ||
        !make_matrix(t, &env))
        return false;
    if (time != t->t_new)
        ckt_source_terms(a->c, &env, t->fix);
    vop_predicted_residual(a->r, last, 2, t->f + 1, t->q + 1, t->qlo + 1,
                           time == t->t_new ? t->src : t->fix, t->hist, t->cc.alpha, a->m);
    watch_phase(a->watch, ANA_IN_SOLVE);
    ana_solve(a, a->r, a->dx);
    watch_phase(a->watch, ANA_IN_PREDICT);
    vop_subtract(x, t->x[1], a->dx, a->m);
    x[0] = 0;
    return true;
}

/* Where Newton starts from in the first stage of a step behind a corner. In a small circuit all may
 * turn there. In a large one most goes on as before: those points are extrapolated over the corner,
 * without the one before it, unless they are so close that what Newton left in them would count.
 * They are no part of the step itself. */
static void start_over_corner(const tran *t, double h, double *x)
{
    enum { FAR = 4 }; /* times the last step */
    integ_pred p;
    const int order = t->n_before - 2 < 2 ? t->n_before - 2 : 2;
    if (t->a->n < TRAN_LARGE || order < 1 || h > FAR * t->past[0]) {
        memcpy(x, t->x[1], sizeof(double) * (size_t)(t->a->n + 1));
        return;
    }
    integ_predictor(order, h, t->past, &p);
    vop_predict(x, p.w, order + 1, t->x + 1, t->a->m);
    if (t->a->latent)
        tran_latent_hold(t, x, order + 1);
    x[0] = 0;
}

/* And in the second one: on the line through corner and first stage, likewise. */
static void start_from_stage(const tran *t, double *x)
{
    const double *restrict x1 = t->x[1], *restrict s = t->stage;
    if (t->a->n < TRAN_LARGE)
        memcpy(x, s, sizeof(double) * (size_t)(t->a->n + 1));
    for (int32_t i = 0; t->a->n >= TRAN_LARGE && i < t->a->m; i++)
        x[i] = x1[i] + (s[i] - x1[i]) / INTEG_SDIRK_GAMMA;
}

/* SDIRK2: backward Euler to t + g h, then the whole step with the slope k_1 found there. */
static vs_status solve_sdirk(tran *t)
{
    t->grid[0] = 0; /* cc is about to be another method's */
    integ_corrector(INTEG_SDIRK_A, 1, t->h, t->past, &t->cc);
    set_history(t, NULL);
    const double middle = t->t + INTEG_SDIRK_GAMMA * t->h;
    if (t->noise)
        tran_noise_add(t, middle, 1);
    start_over_corner(t, middle - t->t, t->stage);
    vs_status st = solve_at(t, middle, t->stage, starts_linear(t, middle, t->stage), NULL);
    if (st != VS_OK)
        return st;
    if (t->noise)
        tran_noise_add(t, middle, -1);
    take_flow(t, ckt_charge_rest(t->a->c), t->k1);
    integ_corrector(INTEG_SDIRK_B, 2, t->h, t->past, &t->cc);
    set_history(t, t->k1);
    if (t->noise)
        tran_noise_add(t, t->t_new, 1);
    start_from_stage(t, t->x[0]);
    const bool solved = starts_linear(t, t->t_new, t->x[0]);
    return solve_at(t, t->t_new, t->x[0], solved, NULL);
}

/* Newton begins where past points lead to, or at the last one. */
static void begin_part(void *user, int32_t k, int32_t m)
{
    const tran *t = user;
    memcpy(t->x[0] + k, (t->have_pred ? t->pred : t->x[1]) + k, sizeof(double) * (size_t)m);
}

static vs_status solve_multistep(tran *t)
{
    const integ_method m = tran_by_trap(t) ? INTEG_TRAP : INTEG_GEAR;
    int order = t->kind == TRAN_EULER || t->a->opt.maxord < 2 ? 1 : 2;
    if (!same_grid(t) || t->last_kind != t->kind || t->cc.order != order)
        integ_corrector(m, order, t->h, t->past, &t->cc);
    remember_grid(t);
    set_history(t, t->dq[1]);
    if (t->noise)
        tran_noise_add(t, t->t_new, 1);
    bool solved = t->have_pred && same_alpha(t) && t->a->opt.rshunt <= 0;
    if (solved)
        solved = improve_prediction(t);
    if (!solved)
        ana_each_part(t->a, begin_part, t);
    if (!solved)
        solved = starts_linear(t, t->t_new, t->x[0]);
    t->x[0][0] = 0;
    vs_status st = solve_at(t, t->t_new, t->x[0], solved, t->fix);
    if (st == VS_OK && solved && t->rep.iter > 1 && t->pc.order == LEAST_ORDER)
        choose_start(t);
    return st;
}

/* Where the attempt is and goes to. */
static inline vop_end *end_at(tran *t)
{
    vop_end *e = &t->end;
    e->q1 = t->q[1];
    e->lo1 = t->qlo[1];
    e->weight = tran_seen(t);
    e->x = t->x[0];
    e->q_new = t->q[0];
    e->lo_new = t->qlo[0];
    e->f_new = t->f[0];
    e->dq_new = t->dq[0];
    return e;
}

/* The start of a step solves a linear circuit: as newton_run, which finds that it does after one
 * load, and finish_usual. False: it does not; what was loaded stays for Newton. */
static bool confirm_linear(tran *t)
{
    ana *a = t->a;
    newton_eq *eq = &t->eq;
    bool solved;
    load_at(t, t->t_new);
    eq->env.iter = 1;
    t->rep = (newton_report){.iter = 1};
    if (ckt_load(a->c, &eq->env, t->x[0], a->f, a->q, a->fmax, a->qmax, &t->rep.limited) != VS_OK)
        return false;
    t->unseen = vop_finish_solved(end_at(t), a->m, &solved);
    eq->loaded = !solved;
    if (!solved)
        return false;
    a->st.iterations++;
    a->n_run[1]++;
    newton_count(a);
    hot_clear(a->dx, (size_t)a->m);
    eq->env.iter = 0;
    return true;
}

/* The rest of a step in one loop: an update that Newton left, charges, currents and slopes of the
 * point, and the usual case of the truncation error. */
static inline __attribute__((always_inline)) void finish_usual(tran *t, const bool shared)
{
    ana *a = t->a;
    vop_end *e = end_at(t);
    e->dx = t->rep.left ? a->dx : NULL;
    e->fix = t->rep.updated && !t->rep.left ? t->fix : NULL;
    t->unseen = shared ? vop_share_finish(ana_team(a), e, a->m) : vop_finish(e, a->m);
}

static inline __attribute__((always_inline)) vs_status solve_usual(tran *t, const bool shared)
{
    t->kind = TRAN_MAIN;
    t->eq.env.time = t->t_new;
    ckt_source_terms(t->a->c, &t->eq.env, t->src);
    start_usual(t, shared);
    if (t->a->linear && !shared && !t->newton_fails && !t->follows && confirm_linear(t))
        return VS_OK;
    t->eq.leaves = true;
    const vs_status st = solve_at(t, t->t_new, t->x[0], true, t->fix);
    t->eq.leaves = false;
    if (st != VS_OK)
        return st;
    if (t->rep.iter > 1)
        choose_start(t);
    finish_usual(t, shared);
    return VS_OK;
}

/* Of a large circuit, by several threads: not among what small ones need. */
__attribute__((noinline)) static vs_status solve_usual_shared(tran *t)
{
    return solve_usual(t, true);
}

VS_HOT vs_status tran_solve(tran *t)
{
    t->unseen = false;
    watch_phase(t->a->watch, ANA_IN_PREDICT);
    if (is_usual(t))
        return ana_shares(t->a) ? solve_usual_shared(t) : solve_usual(t, false);
    t->same_rule = false;
    t->kind = t->euler_left > 0 ? TRAN_EULER : t->n_piece <= 1 ? TRAN_SDIRK : TRAN_MAIN;
    if (t->a->latent)
        tran_latent_due(t);
    predict(t);
    if (t->a->latent)
        tran_latent_predicted(t);
    t->eq.env.time = t->t_new;
    ckt_source_terms(t->a->c, &t->eq.env, t->src);
    vs_status st = t->kind == TRAN_SDIRK ? solve_sdirk(t) : solve_multistep(t);
    watch_phase(t->a->watch, ANA_IN_OTHER);
    if (st != VS_OK)
        return st;
    if (t->noise)
        tran_noise_add(t, t->t_new, -1);
    ana_each_part(t->a, point_part, t);
    return VS_OK;
}

static inline __attribute__((always_inline)) void rotate(double **v, const int n)
{
    double *last = v[n - 1];
#pragma GCC unroll 8
    for (int i = n - 1; i > 0; i--)
        v[i] = v[i - 1];
    v[0] = last;
}

/* Empty places and the reference weigh nothing. */
static void clear_weights(const tran *t)
{
    for (int32_t i = t->a->n + 1; i < t->a->m; i++)
        t->weight[i] = 0;
    t->weight[0] = 0;
}

void tran_weigh(tran *t)
{
    if (!t->asks_weight)
        return;
    vop_weights(t->weight, t->rmax, t->a->tol_r, BYPASS_PART, t->a->opt.reltol, t->a->m);
    clear_weights(t);
}

/* The largest values so far, and what follows from them. */
static void largest_part(void *user, int32_t k, int32_t m)
{
    const tran *t = user;
    vop_larger(t->xmax + k, t->x[0] + k, t->rmax + k, t->a->fmax + k, m);
    vop_weights(t->weight + k, t->rmax + k, t->a->tol_r + k, BYPASS_PART, t->a->opt.reltol, m);
}

VS_HOT void tran_shift(tran *t)
{
    if (!t->asks_weight) {
        vop_larger(t->xmax, t->x[0], t->rmax, t->a->fmax, t->a->m);
    } else {
        ana_each_part(t->a, largest_part, t);
        clear_weights(t);
    }
    if (t->n_device)
        tran_widen(t);
    rotate(t->x, TRAN_KEEP + 1);
    rotate(t->q, TRAN_KEEP + 1);
    rotate(t->qlo, TRAN_KEEP + 1);
    rotate(t->f, TRAN_KEEP + 1);
    rotate(t->dq, 2);
    rotate(t->y, TRAN_FLOW);
#pragma GCC unroll 8
    for (int i = TRAN_KEEP - 1; i > 0; i--)
        t->past[i] = t->past[i - 1];
    t->past[0] = t->h;
    t->t = t->t_new;
}
