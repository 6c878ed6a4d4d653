/* tran_step.c - one step: predict, solve the equations of the corrector. See tran_priv.h. */
#include <math.h>
#include <string.h>

#include "tran_priv.h"

/* dq/dt at the new point = alpha q + sum a_i q_{n-i} + b dq. The coefficients of q sum to 0, so with
 * two points it is alpha (q - q_n) - a_1 (q_n - q_{n-1}) + b dq; hist is all but the first term. */
static void set_history(tran *t, const double *dq)
{
    const integ_coef *c = &t->cc;
    const double *q1 = t->q[1], *q2 = t->q[2], b = c->b, a1 = c->a[1];
    const double *lo1 = t->qlo[1], *lo2 = t->qlo[2];
    const int32_t n = t->a->n;
    if (c->n_past == 2)
        for (int32_t i = 1; i <= n; i++)
            t->hist[i] = -a1 * ((q1[i] - q2[i]) + (lo1[i] - lo2[i]));
    else if (b != 0)
        for (int32_t i = 1; i <= n; i++)
            t->hist[i] = b * dq[i];
    else
        memset(t->hist, 0, sizeof(double) * (size_t)(n + 1));
}

/* Extrapolates x with as many points of the piece as there are, up to order 2. */
static void predict(tran *t)
{
    int order = t->n_piece - 1 < 2 ? t->n_piece - 1 : 2;
    if (t->kind != TRAN_MAIN && order > 1)
        order = 1;
    t->have_pred = order >= 1;
    if (!t->have_pred)
        return;
    integ_predictor(order, t->h, t->past, &t->pc);
    const double w0 = t->pc.w[0], w1 = t->pc.w[1], w2 = t->pc.w[2];
    const double *x1 = t->x[1], *x2 = t->x[2], *x3 = t->x[3];
    if (order == 1)
        for (int32_t i = 1; i <= t->a->n; i++)
            t->pred[i] = w0 * x1[i] + w1 * x2[i];
    else
        for (int32_t i = 1; i <= t->a->n; i++)
            t->pred[i] = w0 * x1[i] + w1 * x2[i] + w2 * x3[i];
}

static vs_status solve_at(tran *t, double time, double *x)
{
    ana *a = t->a;
    newton_eq eq = {
        .env = {.mode = CKT_TRAN, .time = time, .alpha = t->cc.alpha, .gmin = a->opt.gmin,
                .srcfact = 1, .limit = true, .final_step = time == t->o.tstop},
        .q_n = t->q[1],
        .qlo_n = t->qlo[1],
        .hist = t->hist,
        .gshunt = a->opt.rshunt > 0 ? 1 / a->opt.rshunt : 0,
        .xmax = t->xmax,
        .rmax = t->rmax,
        .itl = a->opt.itl4,
    };
    return newton_run(a, &eq, x, &t->rep);
}

/* dq/dt of the point that Newton found. */
static void take_flow(const tran *t, double *dq)
{
    const double *q = t->a->q, *q1 = t->q[1], *lo = ckt_charge_rest(t->a->c), *lo1 = t->qlo[1];
    for (int32_t i = 1; i <= t->a->n; i++)
        dq[i] = t->cc.alpha * ((q[i] - q1[i]) + (lo[i] - lo1[i])) + t->hist[i];
}

/* SDIRK2: backward Euler to t + g h, then the whole step with the slope k_1 found there. */
static vs_status solve_sdirk(tran *t)
{
    const size_t bytes = sizeof(double) * (size_t)(t->a->n + 1);
    integ_corrector(INTEG_SDIRK_A, 1, t->h, t->past, &t->cc);
    set_history(t, NULL);
    memcpy(t->stage, t->x[1], bytes);
    vs_status st = solve_at(t, t->t + INTEG_SDIRK_GAMMA * t->h, t->stage);
    if (st != VS_OK)
        return st;
    take_flow(t, t->k1);
    integ_corrector(INTEG_SDIRK_B, 2, t->h, t->past, &t->cc);
    set_history(t, t->k1);
    memcpy(t->x[0], t->stage, bytes);
    return solve_at(t, t->t_new, t->x[0]);
}

static vs_status solve_multistep(tran *t)
{
    const size_t bytes = sizeof(double) * (size_t)(t->a->n + 1);
    integ_method m = t->a->opt.method == ANA_GEAR ? INTEG_GEAR : INTEG_TRAP;
    int order = t->kind == TRAN_EULER || t->a->opt.maxord < 2 ? 1 : 2;
    integ_corrector(m, order, t->h, t->past, &t->cc);
    set_history(t, t->dq[1]);
    memcpy(t->x[0], t->have_pred ? t->pred : t->x[1], bytes);
    t->x[0][0] = 0;
    return solve_at(t, t->t_new, t->x[0]);
}

vs_status tran_solve(tran *t)
{
    t->kind = t->euler_left > 0 ? TRAN_EULER : t->n_piece <= 1 ? TRAN_SDIRK : TRAN_MAIN;
    predict(t);
    vs_status st = t->kind == TRAN_SDIRK ? solve_sdirk(t) : solve_multistep(t);
    if (st != VS_OK)
        return st;
    memcpy(t->q[0], t->a->q, sizeof(double) * (size_t)(t->a->n + 1));
    memcpy(t->qlo[0], ckt_charge_rest(t->a->c), sizeof(double) * (size_t)(t->a->n + 1));
    take_flow(t, t->dq[0]);
    return VS_OK;
}

static void rotate(double **v, int n)
{
    double *last = v[n - 1];
    for (int i = n - 1; i > 0; i--)
        v[i] = v[i - 1];
    v[0] = last;
}

void tran_shift(tran *t)
{
    const ana *a = t->a;
    for (int32_t i = 1; i <= a->n; i++) {
        t->xmax[i] = norm_max(t->xmax[i], fabs(t->x[0][i]));
        t->rmax[i] = norm_max(t->rmax[i], a->fmax[i]);
    }
    rotate(t->x, TRAN_KEEP + 1);
    rotate(t->q, 3);
    rotate(t->qlo, 3);
    rotate(t->dq, 2);
    rotate(t->y, TRAN_KEEP);
    for (int i = TRAN_KEEP - 1; i > 0; i--)
        t->past[i] = t->past[i - 1];
    t->past[0] = t->h;
    t->t = t->t_new;
}
