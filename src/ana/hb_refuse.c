/* hb_refuse.c - periodic states that solve their equations and are none of the circuit, as
 * points of transients (tran_refuse.c): what gmin alone carries.
 *   firm parts  what feeds an isolated part is the sum of the currents of all devices into its
 *               nodes; charges of the part add up to nothing.
 *   gmin        beyond 1 nA a node is looked at: what another gmin adds to the currents of all
 *               samples gives, with the matrix of the state, how far this moves. */
#include "hb.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MANY_ROUNDINGS 10 /* a sum of currents has at most, of all of them */
#define LEAST_SHARE 0.5   /* -d ln v / d ln gmin of a node that gmin carries */

typedef struct refused {
    int32_t node, sample;
    double v, current; /* V, A */
} refused;

/* The sum of what feeds a part at the sample; *size: of the largest terms of its rows. */
static vs_status fed_current(ana_orbit *h, const ckt_firm *k, int32_t m, double *f, double *sum,
                             double *size)
{
    const double firm = CKT_FIRM_SIEMENS * h->xs[(size_t)m * h->stride + (size_t)k->node];
    const vs_status st = hb_currents(h, m, k->held ? 0 : h->a->opt.gmin, f);
    *sum = op_part_sum(h->a, k, f, h->size, size) - firm;
    *size += fabs(firm);
    return st;
}

/* The largest current that feeds a firm part. */
static vs_status look_at_parts(ana_orbit *h, refused *r)
{
    const ckt_firm *k;
    double *f = vs_calloc(h->stride, sizeof *f), sum, size;
    vs_status st = VS_OK;
    for (size_t i = 0; (k = ckt_next_firm(h->a->c, &i)) != NULL;)
        for (int32_t m = 0; m < h->n_m && st == VS_OK && op_is_seen(h->a, k); m++) {
            st = fed_current(h, k, m, f, &sum, &size);
            if (fabs(sum) > OP_GMIN_CURRENT + MANY_ROUNDINGS * DBL_EPSILON * size &&
                fabs(sum) > r->current)
                *r = (refused){k->node, m, sum / ckt_shunt(h->a->opt.gmin), fabs(sum)};
        }
    vs_free(f);
    return st;
}

static bool is_far(const ana_orbit *h)
{
    const double far = OP_GMIN_CURRENT / op_most_gmin(h->a);
    bool is = false;
    for (int32_t m = 0; m < h->n_m; m++)
        is |= vop_is_far(h->xs + (size_t)m * h->stride, far, h->n + 1);
    return is;
}

/* h->dx: how the state moves for another gmin. The residual and the slopes are those of the state
 * again. */
static vs_status move_by_gmin(ana_orbit *h)
{
    const size_t all = (size_t)h->n * (size_t)h->n_k;
    vs_status st = hb_load_gmin(h);
    if (st == VS_OK) {
        memcpy(h->dx, h->r, all * sizeof *h->dx);
        h->dx[all] = 0;
        st = hb_load(h, true);
    }
    if (st == VS_OK)
        st = hb_factor(h, 0);
    return st == VS_OK ? hb_solve(h, 0, h->dx) : st;
}

/* The largest of v [n_m], in size, and where. */
static double largest(const double *v, int32_t n, int32_t *at)
{
    *at = 0;
    for (int32_t m = 1; m < n; m++)
        if (fabs(v[m]) > fabs(v[*at]))
            *at = m;
    return fabs(v[*at]);
}

static vs_status look_at_gmin(ana_orbit *h, refused *r)
{
    const size_t nk = (size_t)h->n_k;
    const vs_status st = is_far(h) ? move_by_gmin(h) : VS_NOCONV;
    for (int32_t i = 1; i <= h->n && st == VS_OK; i++) {
        const hb_cplx *x = h->x + (size_t)i * nk, *dx = h->dx + (size_t)(i - 1) * nk;
        int32_t at, of_dx;
        hb_inverse_real(h, x, dx, h->part[0], h->part[1]);
        const double v = largest(h->part[0], h->n_m, &at);
        const double current = op_most_gmin(h->a) * v;
        if (h->a->gdiag[i] && !h->a->u[i].internal && current > OP_GMIN_CURRENT &&
            current > r->current && largest(h->part[1], h->n_m, &of_dx) > LEAST_SHARE * v)
            *r = (refused){i, at, h->part[0][at], current};
    }
    return st == VS_NOCONV ? VS_OK : st; /* nothing is far; or nobody can tell */
}

static vs_status tell(const ana_orbit *h, const refused *r)
{
    ana *a = h->a;
    const char *who = ana_unknown_text(a, r->node);
    if (h->o.n_tone == 1)
        diag_error(a->d, h->o.span,
                   "no periodic solution: %s would be at %.3g V %.3g s after the beginning of a "
                   "period, where gmin alone carries the current (%.3g A)",
                   who, r->v, (double)r->sample / h->n_m / h->o.tone[0], r->current);
    else
        diag_error(a->d, h->o.span,
                   "no periodic solution: %s would be at %.3g V, where gmin alone carries the "
                   "current (%.3g A)",
                   who, r->v, r->current);
    diag_note(a->d, h->o.span,
              "perhaps a current source or a loop of gain has no path for its current there; a "
              "resistor to ground of at most 1e9 ohm gives it one");
    return VS_ESINGULAR;
}

vs_status hb_refuse(ana_orbit *h)
{
    refused r = {0};
    vs_status st = look_at_parts(h, &r);
    if (st == VS_OK && !r.node)
        st = look_at_gmin(h, &r);
    if (st == VS_OK && r.node)
        return tell(h, &r);
    const int32_t node = op_node_of_absurd_current(h->a, h->size);
    if (st == VS_OK && node)
        op_tell_absurd_current(h->a, "periodic state", node, h->size[node], h->xs[node]);
    return st;
}
