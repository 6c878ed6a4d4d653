#include <check.h>
#include <math.h>

#include "../suite.h"
#include "rlgc.h"

static arena mem;

static void setup(void) { arena_init(&mem); }
static void teardown(void) { arena_fini(&mem); }

static const struct {
    double r, l, g, c;
} lines[] = {
    {49.8, 35.9e-9, 0, 1.872e-12},
    {0.1, 1e-6, 0, 1e-9},
    {5e3, 1e-7, 0, 1e-11},
    {1e6, 1e-7, 0, 1e-11},
    {1e3, 0, 0, 1e-12},
    {50, 1e-7, 1e-3, 4e-11},
    {50, 1e-7, 0.2, 4e-11},
    {0, 1e-7, 1e-2, 4e-11},
    {1e3, 0, 1e-4, 1e-12},
    {1, 1e-6, 0.01, 0},
    {0, 1e-6, 0.01, 0},
    {1e3, 0, 1e-3, 0},
    {10, 2.5e-7, 4e-3, 1e-10},
};

/* exp(-x) I_n(x), n = 0 or 1: mean of exp(x (cos t - 1)) cos(n t), by the trapezoidal rule. */
static double bessel(int n, double x)
{
    const int k_end = 200 + (int)(20 * sqrt(x));
    double sum = 0;
    for (int k = 0; k < k_end; k++) {
        const double t = acos(-1) * (k + 0.5) / k_end;
        sum += exp(-2 * x * sin(t / 2) * sin(t / 2)) * cos(n * t);
    }
    return sum / k_end;
}

START_TEST(sums_of_exponentials_are_the_transfer_functions_on_the_imaginary_axis)
{
    const double t_end = 1e-3, pi = acos(-1);
    for (size_t i = 0; i < VS_COUNT(lines); i++) {
        rlgc o;
        ck_assert_int_eq(rlgc_kind_of(lines[i].r, lines[i].l, lines[i].g, lines[i].c), RLGC_LOSSY);
        rlgc_make(&o, lines[i].r, lines[i].l, lines[i].g, lines[i].c, t_end, &mem);
        ck_assert_int_le(o.n, 700);
        for (double f = 1e3; f < 1e10; f *= 1.7) {
            const double complex s = 2 * pi * f * I, e = cexp(-rlgc_lambda(&o, s)),
                                 y = rlgc_y(&o, s);
            double complex es = o.gain, ys = o.y0 + s * o.direct;
            for (int32_t k = 0; k < o.n; k++) {
                ck_assert(o.m[k] >= 0 && o.sigma[k] >= 0);
                es += o.w[k] / (s + o.sigma[k]);
                ys += s * o.m[k] / (s + o.sigma[k]);
            }
            es *= cexp(-s * o.delay);
            ck_assert_msg(cabs(es - e) < 1e-9, "line %zu, %g Hz: exp(-lambda) off by %g", i, f,
                          cabs(es - e));
            ck_assert_msg(cabs(ys - y) < 1e-9 * cabs(y), "line %zu, %g Hz: y off by %g", i, f,
                          cabs(ys / y - 1));
        }
    }
}
END_TEST

START_TEST(responses_in_time_are_the_closed_forms)
{
    for (size_t i = 0; i < VS_COUNT(lines); i++) {
        const double r = lines[i].r, l = lines[i].l, c = lines[i].c, g = lines[i].g;
        rlgc o;
        rlgc_make(&o, r, l, g, c, 1e-3, &mem);
        if (l == 0 || c == 0)
            continue;
        const double alpha = (r / l + g / c) / 2, beta = fabs(r / l - g / c) / 2, t0 = sqrt(l * c);
        double largest = 0, miss = 0;
        for (double t = o.delay * 1.0001; t < 1e-4; t *= 1.05) {
            const double u = sqrt(t * t - t0 * t0), x = beta * u;
            const double decay =
                (r / l * (g / c) * t * t + beta * beta * t0 * t0) / (alpha * t + x);
            const double want = exp(-decay) * t0 * beta * bessel(1, x) / u;
            double h2 = 0, step = o.y0;
            for (int32_t k = 0; k < o.n; k++) {
                h2 += o.w[k] * exp(-o.sigma[k] * (t - o.delay));
                step += o.m[k] * exp(-o.sigma[k] * t);
            }
            largest = fmax(largest, want);
            miss = fmax(miss, fabs(h2 - want));
            if (g == 0) { /* y/s: exp(-alpha t) I0(alpha t) */
                const double y = bessel(0, alpha * t);
                ck_assert_msg(fabs(step - y) < 1e-9 * y, "line %zu, %g s: step %.15g, not %.15g", i,
                              t, step, y);
            }
        }
        ck_assert_msg(miss <= 1e-9 * largest, "line %zu: %g of %g", i, miss, largest);
    }
}
END_TEST

START_TEST(a_line_without_inductance_diffuses)
{
    rlgc o;
    const double tau = 2e3 * 20e-12, pi = acos(-1);
    rlgc_make(&o, 2e3, 0, 0, 20e-12, 1e-3, &mem);
    for (double t = o.delay; t < 1e-3; t *= 1.3) {
        double h2 = 0, step = 0;
        for (int32_t k = 0; k < o.n; k++) {
            h2 += o.w[k] * exp(-o.sigma[k] * (t - o.delay));
            step += o.m[k] * exp(-o.sigma[k] * t);
        }
        ck_assert_double_le(fabs(h2 - sqrt(tau / (4 * pi * t * t * t)) * exp(-tau / (4 * t))),
                            1e-9 / tau);
        ck_assert_double_le(fabs(step - sqrt(tau / (pi * t))), 1e-9 * step);
    }
}
END_TEST

START_TEST(what_is_no_lossy_line_is_told_apart)
{
    ck_assert_int_eq(rlgc_kind_of(0, 1e-9, 0, 1e-12), RLGC_IDEAL);
    ck_assert_int_eq(rlgc_kind_of(1, 1e-9, 0, 0), RLGC_NONE);
    ck_assert_int_eq(rlgc_kind_of(0, 0, 1, 1e-12), RLGC_NONE);
}
END_TEST

START_TEST(answers_to_step_and_ramp_are_smooth_at_0)
{
    ck_assert_double_eq(rlgc_step(0), 1);
    ck_assert_double_eq(rlgc_ramp(0), 0.5);
    for (double x = 1e-12; x < 700; x *= 1.5) {
        const long double e = expm1l(-(long double)x), step = -e / x;
        ck_assert_double_le(fabs(rlgc_step(x) - (double)step), 3e-16);
        if (x > 1e-3)
            ck_assert_double_le(fabs(rlgc_ramp(x) - (double)((1 - step) / x)), 3e-15);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rlgc");
    TCase *tc = tcase_create("rlgc");
    tcase_set_timeout(tc, TEST_PATIENCE);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, sums_of_exponentials_are_the_transfer_functions_on_the_imaginary_axis);
    tcase_add_test(tc, responses_in_time_are_the_closed_forms);
    tcase_add_test(tc, a_line_without_inductance_diffuses);
    tcase_add_test(tc, what_is_no_lossy_line_is_told_apart);
    tcase_add_test(tc, answers_to_step_and_ramp_are_smooth_at_0);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
