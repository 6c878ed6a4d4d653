/* integ.c - see integ.h. Nodes are counted from the new point: tau[0] = 0, tau[j] = t_new -
 * t_{n+1-j}. */
#include "integ.h"

#include "hot.h"

static double factorial(int n)
{
    double f = 1;
    for (int i = 2; i <= n; i++)
        f *= i;
    return f;
}

static void distances(int n, double h, const double *past, double *tau)
{
    tau[0] = 0;
    tau[1] = h;
    for (int j = 2; j <= n; j++)
        tau[j] = tau[j - 1] + past[j - 2];
}

/* Derivative at tau = 0 of the polynomial through the new point and p past points (Lagrange form):
 * alpha = sum_j 1/tau_j;  a_i = -1/tau_i * prod_{j != i} tau_j / (tau_j - tau_i).
 * The derivative misses x^(p+1)/(p+1)! * prod tau_j; divided by alpha it is the error of the step.
 */
static void backward_differences(int p, double h, const double *past, integ_coef *c)
{
    double tau[INTEG_MAX_ORDER + 1], prod = 1;
    distances(p, h, past, tau);
    c->alpha = 0;
    for (int i = 1; i <= p; i++) {
        c->alpha += 1 / tau[i];
        prod *= tau[i];
        double w = -1 / tau[i];
        for (int j = 1; j <= p; j++)
            if (j != i)
                w *= tau[j] / (tau[j] - tau[i]);
        c->a[i - 1] = w;
    }
    c->n_past = p;
    c->err = prod / (factorial(p + 1) * c->alpha);
}

void integ_corrector(integ_method m, int order, double h, const double *past, integ_coef *c)
{
    const double g = INTEG_SDIRK_GAMMA;
    assert(h > 0 && order >= 1 && order <= (m == INTEG_GEAR ? INTEG_MAX_ORDER : 2));
    *c = (integ_coef){.order = order, .n_past = 1};
    if (m == INTEG_SDIRK_A || m == INTEG_SDIRK_B) {
        c->order = m == INTEG_SDIRK_A ? 1 : 2;
        c->alpha = 1 / (g * h);
        c->a[0] = -c->alpha;
        c->b = m == INTEG_SDIRK_A ? 0 : -(1 - g) / g;
        /* stage A: backward Euler of length g h. B: third-order coefficient of the stability
         * function (1 + (1 - 2g) z)/(1 - g z)^2 minus that of exp z. */
        c->err = m == INTEG_SDIRK_A ? g * g * h * h / 2
                                    : (3 * g * g - 2 * g * g * g - 1.0 / 6) * h * h * h;
    } else if (m == INTEG_TRAP && order == 2) {
        c->alpha = 2 / h;
        c->a[0] = -c->alpha;
        c->b = -1;
        c->err = h * h * h / 12;
    } else {
        backward_differences(order, h, past, c);
    }
}

void integ_predictor(int order, double h, const double *past, integ_pred *p)
{
    assert(h > 0 && order >= 0 && order <= INTEG_MAX_ORDER);
    double tau[INTEG_MAX_ORDER + 2], prod = 1;
    distances(order + 1, h, past, tau);
    p->order = order;
    for (int i = 1; i <= order + 1; i++) {
        double w = 1;
        for (int j = 1; j <= order + 1; j++)
            if (j != i)
                w *= tau[j] / (tau[j] - tau[i]);
        p->w[i - 1] = w;
        prod *= tau[i];
    }
    p->err = prod / factorial(order + 1);
}

VS_HOT double integ_lte_factor(const integ_coef *c, const integ_pred *p)
{
    assert(c->order == p->order);
    return c->err / (c->err + p->err);
}
