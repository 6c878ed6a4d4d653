/* tran_refuse.c - points of a transient that solve its equations and are none of the circuit.
 *   gmin      a current for which there is no path but gmin, as at operating points (op.c). Where
 *             charge takes it, the voltage follows from that and is right, however large.
 *             Isolated parts have a firm level in time (ckt_topo.c), and what feeds them is
 *             the sum of the currents of sources, or of all devices, into their nodes.
 *   rounding  a level that next to nothing joins to ground, beside charges over a short step: such
 *             a conductance is lost in the sums of its rows, and any level solves these.
 * Only voltages beyond t->far, and firm levels, are looked at: others cost a comparison. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tran_priv.h"

#define LEAST_PART 1e-4 /* of a row's largest current, gmin's there: less is no reason for a look */
#define MANY_ROUNDINGS 10 /* a sum of currents has at most, of all of them */
#define LEAST_SHARE \
    1e-3 /* -d ln v / d ln gmin, by gmin to ground, that is: a node may have a
                          * thousand junctions */

double tran_far(const ana *a)
{
    return fmin(OP_GMIN_CURRENT / op_most_gmin(a), a->opt.vntol / DBL_EPSILON);
}

/* The node beyond `far` that dx moves by more than a part of its voltage, the most; 0: none. */
static int32_t most_moved(const tran *t, double far, double part)
{
    const ana *a = t->a;
    int32_t node = 0;
    for (int32_t i = 1; i <= a->n; i++) {
        const double x = fabs(t->x[0][i]);
        if (a->gdiag[ana_unknown_at(a, i)] && x > far && fabs(a->dx[i]) > part * x) {
            part = fabs(a->dx[i]) / x;
            node = i;
        }
    }
    return node;
}

/* A node that more gmin from nodes to ground would move; 0: none. */
static int32_t maybe_by_gmin(const tran *t, double far)
{
    ana *a = t->a;
    const double gmin = op_most_gmin(a);
    int32_t node = 0;
    for (int32_t i = 0; i < a->m; i++) {
        const bool is_far = i && i <= a->n && fabs(t->x[0][i]) > far;
        a->r[i] = is_far && a->gdiag[ana_unknown_at(a, i)] ? gmin * t->x[0][i] : 0;
        if (fabs(a->r[i]) > LEAST_PART * a->fmax[i])
            node = i;
    }
    if (!node || a->near.stale) /* older factors do not know what conducts no more */
        return node;
    ana_solve(a, a->r, a->dx);
    return most_moved(t, far, LEAST_SHARE);
}

/* While parts are latent the answer is a guess: what is refused is solved again with all awake. */
static int32_t by_gmin(tran *t)
{
    ana *a = t->a;
    const double far = OP_GMIN_CURRENT / op_most_gmin(a);
    const int32_t node = maybe_by_gmin(t, far);
    if (!node || a->latent)
        return node;
    const int32_t sure = op_carried_by_gmin(a, &t->eq, t->x[0]);
    if (!lu_is_ready(&a->lu)) /* next to singular: nothing else holds it */
        return node;
    return op_gmin_current(a, t->x[0], sure) > OP_GMIN_CURRENT ? sure : 0;
}

/* A node that the rounding of the products of its row, and of others, moves by more than reltol. */
static int32_t by_rounding(const tran *t)
{
    ana *a = t->a;
    const csc *j = a->jac;
    const double far = a->opt.vntol / DBL_EPSILON, *x = t->x[0];
    if (a->latent || a->near.stale || !vop_is_far(x, far, a->m))
        return 0;
    memset(a->r, 0, sizeof *a->r * (size_t)a->m);
    for (int32_t c = 0; c < j->n; c++)
        for (int32_t k = j->colptr[c]; k < j->colptr[c + 1]; k++)
            a->r[j->row[k] + 1] += DBL_EPSILON * fabs(j->val[k] * x[c + 1]);
    ana_solve(a, a->r, a->dx);
    return most_moved(t, far, a->opt.reltol);
}

/* -- firm levels -- */

/* The current of the firm conductance; *at: the place of its node, 0: at rest. */
static double firm_current(const tran *t, const ckt_firm *k, int32_t *at)
{
    *at = ana_place(t->a, k->node);
    if (*at > t->a->n)
        *at = 0;
    return *at ? CKT_FIRM_SIEMENS * t->x[0][*at] : 0;
}

/* What sources and devices feed into a part, A. The firm conductance also carries what Newton's
 * method leaves in the rows of the part, so that it only tells when to ask devices. */
static double fed_current(tran *t, const ckt_firm *k, double *size)
{
    ana *a = t->a;
    int32_t at;
    if (!k->by_devices)
        return op_part_sum(t->a, k, t->src, t->src, size);
    const double firm = firm_current(t, k, &at);
    *size = 0;
    if (fabs(firm) <= OP_GMIN_CURRENT)
        return 0;
    if (a->latent) {
        *size = a->opt.reltol / DBL_EPSILON * (a->fmax[at] + t->cc.alpha * a->qmax[at]);
        return firm;
    }
    newton_eq eq = t->eq;
    eq.env.gmin = k->held ? 0 : eq.env.gmin;
    const bool loaded = op_load_at(a, &eq, t->x[0]);
    const double current = loaded ? op_part_sum(a, k, a->f, a->fmax, size) - firm : 0;
    if (k->held)
        (void)op_load_at(a, &t->eq, t->x[0]);
    return current;
}

/* Sources alone tell what they feed, to the last digit. */
static void note_leak(tran *t, const ckt_firm *k, double current)
{
    if (!k->by_devices && current > t->leak.current)
        t->leak = (tran_leak){k->node, current, t->t};
}

void tran_tell_leak(const tran *t)
{
    const tran_leak *k = &t->leak;
    if (k->node)
        diag_warning(t->a->d, DIAG_NOWHERE,
                     "transient: sources feed up to %.3g A, at t = %.9g s, into %s, which has no "
                     "way back but gmin: it would be at %.3g V, and has a level that the current "
                     "does not move",
                     k->current, k->time, ana_unknown_text(t->a, k->node),
                     k->current / ckt_shunt(t->a->opt.gmin));
}

bool tran_feeds_firm(tran *t)
{
    const ckt_firm *k;
    for (size_t i = 0; (k = ckt_next_firm(t->a->c, &i)) != NULL;) {
        double size;
        const double current = fabs(fed_current(t, k, &size));
        const double rounding = MANY_ROUNDINGS * DBL_EPSILON * size;
        if (current <= OP_GMIN_CURRENT + rounding) {
            if (current > OP_GMIN_LOOK * t->a->opt.abstol + rounding)
                note_leak(t, k, current);
            continue;
        }
        t->refused = (tran_refused){.node = k->node,
                                    .v = current / ckt_shunt(t->a->opt.gmin),
                                    .current = current,
                                    .fed = true};
        return true;
    }
    return false;
}

bool tran_refuses(tran *t)
{
    const double *x = t->x[0];
    tran_refused *r = &t->refused;
    r->current = 0;
    r->fed = false;
    r->node = by_rounding(t);
    if (!r->node && (r->node = by_gmin(t)) != 0)
        r->current = op_gmin_current(t->a, x, r->node);
    r->v = x[r->node];
    r->node = ana_unknown_at(t->a, r->node);
    return r->node != 0;
}

void tran_tell_refused(const tran *t)
{
    const tran_refused *r = &t->refused;
    ana *a = t->a;
    const char *who = ana_unknown_text(a, r->node);
    if (r->current > 0)
        diag_error(a->d, DIAG_NOWHERE,
                   "no solution just after t = %.9g s: %s would be at %.3g V, where gmin alone "
                   "carries the current (%.3g A)",
                   t->t, who, r->v, r->current);
    else
        diag_error(a->d, DIAG_NOWHERE,
                   "no solution just after t = %.9g s: %s would be at %.3g V, which rounding "
                   "decides: next to nothing joins it to ground",
                   t->t, who, r->v);
    diag_note(a->d, DIAG_NOWHERE,
              r->current > 0
                  ? "perhaps a current source or a loop of gain has no path for its current there; "
                    "a resistor bounds the voltage, a capacitor its slope"
                  : "a resistor to ground of at most 1e9 ohm there gives it a level");
}
