/* op_given.c - voltages that follow from those of sources, to rounding.
 * A source's equation has its two nodes, a controlled or behavioural one's those that it depends
 * on too, and no others. Where all but one of them are given, the equation gives the last, and what
 * a long update of Newton's method left there by cancellation is taken out. */
#include <float.h>
#include <math.h>

#include "ana_priv.h"

enum { MOST = 64 }; /* unknowns; the search is quadratic */
/* A residual that rounding of the equation's own terms explains is left alone. */
#define ROUNDED (4 * DBL_EPSILON)

typedef struct given {
    int32_t row[MOST]; /* of the equations, in order */
    int32_t col[MOST]; /* of the voltages that they give */
    int n;
    bool follows; /* one of them depends on others */
    bool is[MOST];
} given;

/* Unknowns of an equation that are not given: how many, and the last of them. */
typedef struct open_row {
    int32_t n, terms, col;
} open_row;

static void count_open(const csc *jac, const given *g, open_row *row)
{
    for (int32_t i = 0; i < jac->n; i++)
        row[i] = (open_row){0};
    for (int32_t j = 0; j < jac->n; j++)
        for (int32_t p = jac->colptr[j]; p < jac->colptr[j + 1]; p++) {
            open_row *r = &row[jac->row[p]];
            if (jac->val[p] == 0)
                continue;
            r->terms++;
            if (!g->is[j]) {
                r->n++;
                r->col = j;
            }
        }
}

static void find_given(const ana *a, given *g)
{
    open_row row[MOST];
    for (bool more = true; more;) {
        more = false;
        count_open(a->jac, g, row);
        for (int32_t i = 0; i < a->n; i++)
            if (a->u[i + 1].kind == CKT_CURRENT && row[i].n == 1 && !g->is[row[i].col] &&
                a->u[row[i].col + 1].kind == CKT_VOLTAGE) {
                g->is[row[i].col] = more = true;
                g->follows |= row[i].terms > 1;
                g->row[g->n] = i;
                g->col[g->n++] = row[i].col;
            }
    }
}

void op_settle_given(ana *a, const newton_eq *eq, double *x)
{
    given g = {.n = 0};
    double move[MOST] = {0};
    bool limited = false;
    ckt_env env = eq->env;
    if (a->n > MOST || a->jac->n != a->n || eq->n_force)
        return;
    find_given(a, &g);
    if (!g.follows)
        return;
    env.iter = 2;
    if (ckt_load(a->c, &env, x, a->f, a->q, a->fmax, a->qmax, &limited) != VS_OK || limited)
        return;
    for (int k = 0; k < g.n; k++) {
        double r = a->f[g.row[k] + 1], slope = 0;
        for (int32_t j = 0; j < a->n; j++) {
            const int32_t p = csc_find(a->jac, g.row[k], j);
            if (p >= 0 && j == g.col[k])
                slope = a->jac->val[p];
            else if (p >= 0)
                r -= a->jac->val[p] * move[j];
        }
        const int32_t i = g.col[k] + 1;
        const double d = r / slope, size = fabs(x[i]);
        if (fabs(d) > ROUNDED * size && fabs(d) <= a->opt.reltol * size + a->tol_x[i])
            move[g.col[k]] = d;
    }
    for (int k = 0; k < g.n; k++)
        x[g.col[k] + 1] -= move[g.col[k]];
}
