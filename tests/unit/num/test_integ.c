/* Tests of num/integ.c: exactness for polynomials, error constants, order with variable steps. */
#include <check.h>
#include <math.h>

#include "../suite.h"
#include "integ.h"

static double power(double t, int k) { return k == 0 ? 1 : t * power(t, k - 1); }
static double slope(double t, int k) { return k == 0 ? 0 : k * power(t, k - 1); }

/* Points 0.3, then back by past[]; the new one at 0.3 + h. */
static const double past[] = {0.11, 0.2, 0.05, 0.13, 0.17};
static double point(int i) { return i == 0 ? 0.3 : point(i - 1) - past[i - 1]; }

/* Formula's dq/dt for q = t^k, minus the true one. */
static double defect(const integ_coef *c, double h, int k)
{
    double d = c->alpha * power(0.3 + h, k) + c->b * slope(0.3, k) - slope(0.3 + h, k);
    for (int i = 0; i < c->n_past; i++)
        d += c->a[i] * power(point(i), k);
    return d;
}

START_TEST(corrector_is_exact_up_to_its_order_and_err_is_the_first_miss)
{
    static const struct {
        integ_method m;
        int order;
    } t[] = {{INTEG_TRAP, 1}, {INTEG_TRAP, 2}, {INTEG_GEAR, 1}, {INTEG_GEAR, 2},
             {INTEG_GEAR, 3}, {INTEG_GEAR, 4}, {INTEG_GEAR, 5}};
    const double h = 0.07;
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        integ_coef c;
        integ_corrector(t[i].m, t[i].order, h, past, &c);
        for (int k = 0; k <= t[i].order; k++)
            ck_assert_double_le(fabs(defect(&c, h, k)), 1e-11);
        /* q = t^(p+1): the new value is off by err (p+1)!, the formula's slope by -alpha err (p+1)!
         */
        double factorial = tgamma(t[i].order + 2);
        ck_assert_double_eq_tol(defect(&c, h, t[i].order + 1), -c.alpha * c.err * factorial, 1e-11);
    }
}
END_TEST

START_TEST(predictor_is_exact_up_to_its_order)
{
    const double h = 0.07;
    for (int p = 0; p <= 4; p++) {
        integ_pred c;
        integ_predictor(p, h, past, &c);
        for (int k = 0; k <= p + 1; k++) {
            double x = 0;
            for (int i = 0; i <= p; i++)
                x += c.w[i] * power(point(i), k);
            double miss = k <= p ? 0 : -c.err * tgamma(p + 2);
            ck_assert_double_eq_tol(x - power(0.3 + h, k), miss, 1e-12);
        }
    }
}
END_TEST

START_TEST(equal_steps_give_the_textbook_coefficients)
{
    const double even[] = {0.5, 0.5};
    integ_coef c;
    integ_corrector(INTEG_GEAR, 2, 0.5, even, &c);
    ck_assert_double_eq_tol(c.alpha * 0.5, 1.5, 1e-14);
    ck_assert_double_eq_tol(c.a[0] * 0.5, -2, 1e-14);
    ck_assert_double_eq_tol(c.a[1] * 0.5, 0.5, 1e-14);
    ck_assert_double_eq_tol(c.err, 2.0 / 9 * 0.125, 1e-14);
    integ_pred p;
    integ_predictor(1, 0.5, even, &p);
    integ_corrector(INTEG_TRAP, 1, 0.5, even, &c);
    ck_assert_double_eq_tol(integ_lte_factor(&c, &p), 1.0 / 3, 1e-14);
}
END_TEST

/* x' = -x + sin t from x(0) = 1 to t = 2 with steps that alternate h, 1.5h. */
static double decay_error(integ_method m, int order, int n)
{
    double h0 = 2.0 / (1.25 * n), t = 0, x[6] = {1}, dx = -1, hp[6] = {0};
    double k = 1.5; /* exact: (k) exp(-t) + (sin t - cos t)/2 */
    for (int i = 0; i < n; i++) {
        double h = i % 2 ? 1.5 * h0 : h0;
        integ_coef c;
        if (m == INTEG_SDIRK_A) {
            const double g = INTEG_SDIRK_GAMMA;
            integ_corrector(INTEG_SDIRK_A, 1, h, hp, &c);
            double x1 = (sin(t + g * h) - c.a[0] * x[0]) / (c.alpha + 1);
            double k1 = c.alpha * x1 + c.a[0] * x[0];
            integ_corrector(INTEG_SDIRK_B, 2, h, hp, &c);
            dx = k1;
        } else {
            int p = i < order - 1 ? i + 1 : order;
            integ_corrector(m, p, h, hp, &c);
        }
        double hist = c.b * dx;
        for (int j = 0; j < c.n_past; j++)
            hist += c.a[j] * x[j];
        double xn = (sin(t + h) - hist) / (c.alpha + 1);
        if (m == INTEG_GEAR && i < order - 1) /* exact start */
            xn = k * exp(-(t + h)) + (sin(t + h) - cos(t + h)) / 2;
        dx = c.alpha * xn + hist;
        for (int j = 5; j > 0; j--) {
            x[j] = x[j - 1];
            hp[j] = hp[j - 1];
        }
        x[0] = xn;
        hp[0] = h;
        t += h;
        (void)xn;
    }
    return fabs(x[0] - (k * exp(-t) + (sin(t) - cos(t)) / 2));
}

START_TEST(error_falls_with_the_order_of_the_method)
{
    static const struct {
        integ_method m;
        int order;
    } t[] = {{INTEG_TRAP, 1}, {INTEG_TRAP, 2}, {INTEG_GEAR, 2}, {INTEG_SDIRK_A, 2}};
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        double e1 = decay_error(t[i].m, t[i].order, 200), e2 = decay_error(t[i].m, t[i].order, 400);
        double want = t[i].order == 1 ? 2 : 4;
        ck_assert_msg(fabs(e1 / e2 - want) < 0.15 * want, "case %zu: %g / %g", i, e1, e2);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("integ");
    TCase *tc = tcase_create("integ");
    tcase_add_test(tc, corrector_is_exact_up_to_its_order_and_err_is_the_first_miss);
    tcase_add_test(tc, predictor_is_exact_up_to_its_order);
    tcase_add_test(tc, equal_steps_give_the_textbook_coefficients);
    tcase_add_test(tc, error_falls_with_the_order_of_the_method);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
