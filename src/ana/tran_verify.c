/* tran_verify.c - a second look at a transient while it runs (--verify).
 *   Kirchhoff: at some accepted points the currents of some nodes are summed device by device, each
 *     evaluated by the interpreter (ckt_verify.c); with dq/dt by the formula of the step they are 0
 *     within what Newton's method may leave.
 *   Charge: over all points the charge of each node is what flowed into it. A step with the formula
 *     dq/dt = alpha (q_n - q_n-1) + hist has q_n - q_n-1 = -(f_n + hist) / alpha: the difference is
 * the sum of the residuals, which is bounded by the residual test. Bounds: KIRCHHOFF and CHARGE
 * times what the residual test allows. A point may stand one update behind its last evaluation, of
 * at most LAST_UPDATE tolerances of its voltage (newton.c): a current that follows exp(v / 25 mV)
 * is then off by half the square of that part. Linearisations that are held (bypass) are off by
 * the second order of the distance from where they were made, but where a corner lies in between,
 * as in BSIM4's charges at vds = 0: there by the first order, which the row's slopes bound. */
#include <math.h>
#include <string.h>

#include "draw.h"
#include "tran_priv.h"

#define KIRCHHOFF 8
#define CHARGE 1
#define LAST_UPDATE 2
#define THERMAL 0.025 /* V */
#define ROUNDING (64 * 2.2e-16)
enum {
    SOON = 8,         /* the first points are all looked at, */
    EVERY = 64,       /* then one in so many, */
    NODES = 4,        /* at so many nodes that are drawn, */
    MOST_DEVICES = 64 /* unless they have more devices */
};

struct tran_verify {
    ana_verified *said; /* the client's */
    ckt_second again;
    uint8_t *pick;         /* [n+1] */
    double *missing, *may; /* [n+1] coulomb: what residuals add up to, and may */
    int64_t n_point;
};

void tran_verify_begin(tran *t, ana_verified *said)
{
    ana *a = t->a;
    t->verify = NULL;
    if (!said)
        return;
    tran_verify *v = t->verify = arena_new(&a->mem, tran_verify);
    double **const w[] = {&v->again.f,   &v->again.q,      &v->again.fmax, &v->again.qmax,
                          &v->again.qlo, &v->again.corner, &v->missing,    &v->may};
    for (size_t i = 0; i < VS_COUNT(w); i++)
        *w[i] = ana_vector(a);
    v->again.val = arena_array(&a->mem, double, (size_t)csc_nnz(a->jac) + 1);
    v->pick = arena_array(&a->mem, uint8_t, a->n + 1);
    v->said = said;
}

/* What a row may be off by, ref being the largest of its terms. */
static double allowed(const tran *t, int32_t i, double ref, double factor)
{
    const ana *a = t->a;
    const double v = a->opt.reltol * t->xmax[i] + a->opt.vntol, part = LAST_UPDATE * v / THERMAL;
    return factor * (a->opt.reltol * ref + a->tol_r[i]) +
           (t->rep.updated ? fmin(part * part / 2, 1) * ref : 0);
}

/* The residual of row i from these sums, and how large its terms are. */
static double residual_of(const tran *t, int32_t i, const ckt_second *s, double *ref)
{
    const ana *a = t->a;
    const double dq = (s->q[i] - t->q[1][i]) - (t->qlo[1][i] - s->qlo[i]);
    const double flow = t->cc.alpha * dq,
                 shunt = a->opt.rshunt > 0 && a->gdiag[i] ? t->x[0][i] / a->opt.rshunt : 0;
    *ref = fmax(fmax(s->fmax[i], fabs(flow)), fmax(t->rmax[i], fabs(t->hist[i])));
    return s->f[i] + flow + t->hist[i] + shunt;
}

static void follow_charge(tran *t)
{
    const ana *a = t->a;
    tran_verify *v = t->verify;
    const ckt_second now = {.f = a->f, .q = t->q[0], .qlo = t->qlo[0], .fmax = a->fmax};
    for (int32_t i = 1; i <= a->n; i++) {
        double ref;
        v->missing[i] += residual_of(t, i, &now, &ref) / t->cc.alpha;
        v->may[i] += allowed(t, i, ref, CHARGE) / t->cc.alpha + ROUNDING * a->qmax[i];
    }
}

static void look_at_row(tran *t, int32_t i)
{
    const ana *a = t->a;
    tran_verify *v = t->verify;
    double ref;
    const double r = fabs(residual_of(t, i, &v->again, &ref));
    const double ratio = r / (allowed(t, i, ref, KIRCHHOFF) + v->again.corner[i] +
                              ROUNDING * t->cc.alpha * v->again.qmax[i]);
    v->said->n_sum++;
    if (!(ratio <= v->said->worst_sum)) {
        v->said->worst_sum = ratio;
        v->said->at = t->t_new;
        v->said->node = a->u[i].name;
    }
}

static vs_status look(tran *t, const ckt_env *env)
{
    ana *a = t->a;
    tran_verify *v = t->verify;
    const uint64_t key = draw_add(draw_seed(1, v->n_point), (uint64_t)a->n);
    for (int k = 0; k < NODES; k++) { /* one by one: one of them may be a supply */
        const double even = draw_even(draw_add(key, (uint64_t)k));
        const int32_t i = 1 + (int32_t)((even + 1) / 2 * a->n);
        if (i > a->n || !a->u[i].node)
            continue;
        memset(v->pick, 0, (size_t)a->n + 1);
        v->pick[i] = 1;
        const vs_status st =
            ckt_evaluate_again(a->c, env, t->x[0], v->pick, MOST_DEVICES, &v->again);
        if (st != VS_OK)
            return st;
        v->said->n_eval += v->again.n_eval;
        if (v->pick[i])
            look_at_row(t, i);
    }
    v->said->n_point++;
    return VS_OK;
}

vs_status tran_verify_point(tran *t, const ckt_env *env)
{
    tran_verify *v = t->verify;
    vs_status st = VS_OK;
    const int64_t n = v->n_point++;
    if (t->noise)
        tran_noise_add(t, t->t_new, 1);
    follow_charge(t);
    if (n < SOON || n % EVERY == 0)
        st = look(t, env);
    if (t->noise)
        tran_noise_add(t, t->t_new, -1);
    return st;
}

void tran_verify_end(tran *t)
{
    const tran_verify *v = t->verify;
    const ana *a = t->a;
    for (int32_t i = 1; i <= a->n; i++) {
        const double ratio = fabs(v->missing[i]) / v->may[i];
        if (v->n_point && a->u[i].node && a->u[i].has_q && !(ratio <= v->said->worst_charge)) {
            v->said->worst_charge = ratio;
            v->said->charge_node = a->u[i].name;
        }
    }
}
