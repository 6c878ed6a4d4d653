/* near.c - Newton's update by the factors of an older matrix, where factors cost many solutions:
 * extracted wires on meshed supplies, arrays. From point to point the matrix changes by some
 * percent of alpha, and at the few devices that switch; a solution of J dx = r by the old factors
 * then takes two steps of GMRES (lu_near.h). Newton's method stays what it is, J is the present
 * matrix. New factors are made when the steps of an update cost more than steps and factors have
 * cost in the mean since the last ones. docs/numerics.md, 5. */
#include <math.h>

#include "ana_priv.h"

#define PART 0.01  /* of the update, what may be left of its error */
#define LEAST 0.02 /* tolerances: a smaller error is none */
/* Factors whose alpha is in a larger ratio to the present one are not tried: FAR, or the price over
 * FAR_PRICE where they are dearer. GMRES takes 3 steps for a ratio of 2, 4 for one of 4. */
#define FAR 1.6
#define FAR_PRICE 6
#define SAFETY 2 /* of the error that one step of GMRES showed */
/* Factors cost as much as PRICE_BASE solutions and one more for so many multiplications per entry,
 * measured (bench/RESULTS.md, old factors). */
#define PRICE_BASE 3
#define PRICE_WORK 8
enum { LEAST_UNKNOWNS = 1000, LEAST_PRICE = 6, NEW_FROM = 4 /* iteration: see STALLED */ };

/* Of new factors, in solutions. */
static double price(const ana *a)
{
    return PRICE_BASE + a->lu.stat.work / ((double)PRICE_WORK * (double)a->lu.stat.nnz_lu);
}

bool near_is_worth_it(const ana *a)
{
    return a->n_all >= LEAST_UNKNOWNS && a->opt.bypass != CKT_BYPASS_OFF &&
           !lu_is_cholesky(&a->lu) && price(a) >= LEAST_PRICE;
}

/* Of the factors and of the present matrix. */
static bool alphas_are_near(const ana *a, double alpha)
{
    const double far = fmax(FAR, price(a) / FAR_PRICE), ratio = a->alpha_lu / alpha;
    return ratio <= far && ratio * far >= 1;
}

bool near_may_serve(const ana *a, const newton_eq *eq, int iter)
{
    return eq->xmax && !eq->damp && !a->latent && !a->repivot && !a->near.spent &&
           iter < NEW_FROM && near_is_worth_it(a) && alphas_are_near(a, eq->env.alpha);
}

typedef struct bounds {
    ana *a;
    const newton_eq *eq;
} bounds;

/* The tolerances of updates, to a->size. */
static void bounds_part(void *user, int32_t k, int32_t m)
{
    const bounds *b = user;
    double *tol = b->a->size;
    for (int32_t i = k; i < k + m; i++)
        tol[i] = b->a->opt.reltol * b->eq->xmax[i] + b->a->tol_x[i];
}

bool near_update(ana *a, const newton_eq *eq)
{
    near_state *s = &a->near;
    const double most = fmin(price(a), LU_NEAR_MOST);
    double *tol = a->size;
    int n;
    if (!s->work)
        s->work = lu_near_new(a->n, ckt_pool(a->c), ckt_cut(a->c));
    bounds b = {a, eq};
    ana_each_part(a, bounds_part, &b);
    const lu_near_opt o = {
        .tol = tol + 1, .part = PART, .least = LEAST, .most = (int)most, .coarse = s->stale};
    const vs_status st = lu_near_solve(s->work, &a->lu, a->jac, &o, a->dx + 1, &n, &s->first);
    s->stale = true;
    s->steps += n;
    s->updates++;
    s->spent = (double)n * (double)s->updates > price(a) + (double)s->steps;
    return st == VS_OK;
}

void near_forget(ana *a)
{
    lu_near *work = a->near.work;
    a->near = (near_state){.work = work, .first = 1};
}

double near_error(const ana *a) { return a->near.stale ? SAFETY * a->near.first : 0; }
