/* tran_lte.c - local truncation error of a step and the step it suggests.
 * error_i = (corrected - predicted)_i c/(c + p), c and p the error constants of corrector and
 * predictor; tolerance_i = lteratio max(reltol max_t |x_i|, abstol_i).
 * Source: Brayton, Gustavson & Hachtel 1972; the reference |x| is that of VACASK's default
 *         (per unknown, largest so far) and Kundert's (4.57). */
#include <math.h>

#include "tran_priv.h"

/* Voltages of nodes and all unknowns with a charge or flux in their row. Other currents (of voltage
 * sources) may jump with the slope of a source and say nothing about accuracy. Unknowns without
 * memory are seen only when the corner, where they may jump, has left the predictor. */
void tran_classify(tran *t)
{
    for (int32_t i = 1; i <= t->a->n; i++) {
        const ckt_unknown *u = &t->a->u[i];
        t->lte_class[i] = u->has_q ? LTE_STATE
                          : u->node && u->kind == CKT_VOLTAGE && !u->internal ? LTE_ALGEBRAIC
                                                                              : LTE_NEVER;
    }
}

/* The largest |x - pred| factor / tolerance. */
static void worst_ratio(tran *t, const double *pred, double factor, int max_class)
{
    const ana *a = t->a;
    const double reltol = a->opt.reltol, scale = factor / a->opt.lteratio;
    const double *x = t->x[0];
    t->lte.ratio = 0;
    t->lte.worst = 0;
    for (int32_t i = 1; i <= a->n; i++) {
        double miss = fabs(x[i] - pred[i]) * scale;
        double tol = fmax(reltol * fmax(t->xmax[i], fabs(x[i])), a->tol_x[i]);
        if (miss > t->lte.ratio * tol && t->lte_class[i] != LTE_NEVER &&
            t->lte_class[i] <= max_class) {
            t->lte.ratio = miss / tol;
            t->lte.worst = i;
        }
    }
    if (t->lte.worst)
        t->lte.miss = x[t->lte.worst] - pred[t->lte.worst];
}

/* First step of a piece: the line through corner and stage against the step, states only.
 * miss = (1/2 - g) h^2 x'', compared as the error h^2/2 x'' of backward Euler would be. */
static void estimate_sdirk(tran *t)
{
    const double g = INTEG_SDIRK_GAMMA;
    const double *x1 = t->x[1], *s = t->stage;
    for (int32_t i = 1; i <= t->a->n; i++)
        t->pred[i] = x1[i] + (s[i] - x1[i]) / g;
    worst_ratio(t, t->pred, 0.5 / (0.5 - g), LTE_STATE);
    t->lte.order = 1;
}

void tran_estimate(tran *t)
{
    t->lte = (tran_lte){0};
    if (t->kind == TRAN_SDIRK) {
        estimate_sdirk(t);
        return;
    }
    if (!t->have_pred)
        return;
    int order = t->pc.order;
    integ_coef c = t->cc;
    if (c.order != order) /* a line is all there is yet: its miss, read as backward Euler's error */
        integ_corrector(INTEG_TRAP, order, t->h, t->past, &c);
    bool corner_gone = t->n_piece > order + 1;
    worst_ratio(t, t->pred, integ_lte_factor(&c, &t->pc), corner_gone ? LTE_ALGEBRAIC : LTE_STATE);
    t->lte.order = order;
}

double tran_best_step(const tran *t)
{
    if (t->lte.order == 0 || t->lte.ratio == 0)
        return INFINITY;
    return t->h * pow(t->lte.ratio, -1.0 / (t->lte.order + 1));
}

/* Slopes of the last four steps, the attempt included, alternate around their mean. */
bool tran_rings(const tran *t)
{
    int32_t i = t->lte.worst;
    if (t->kind != TRAN_MAIN || t->a->opt.method != ANA_TRAP || t->n_piece < 5 || i == 0)
        return false;
    double s[4], h[4] = {t->h, t->past[0], t->past[1], t->past[2]};
    for (int k = 0; k < 4; k++)
        s[k] = (t->x[k][i] - t->x[k + 1][i]) / h[k];
    double d0 = s[0] - s[1], d1 = s[1] - s[2], d2 = s[2] - s[3];
    return d0 * d1 < 0 && d1 * d2 < 0 && fabs(d1) < 4 * fabs(d2) && fabs(d2) < 4 * fabs(d1);
}
