/* Tests of nat/wave.c: values against closed forms, corners, pulse trains of 2^32 periods. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "wave.h"

#define WAVE(k, ...)                                                       \
    {.kind = (k),                                                          \
     .arg = (const double[]){__VA_ARGS__},                                 \
     .n_arg = (int32_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
     .pwl_repeat = -1}

static void near(double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-12 * (1 + fabs(want)), "got %.17g, want %.17g", got, want);
}

START_TEST(pulse_follows_its_corners)
{
    wave w = WAVE(WAVE_PULSE, 1, 3, 10, 2, 4, 5, 20);
    static const double t[][2] = {{0, 1},    {10, 1}, {11, 2}, {12, 3}, {15, 3}, {17, 3}, {19, 2},
                                  {20, 1.5}, {21, 1}, {29, 1}, {30, 1}, {31, 2}, {39, 2}};
    for (size_t i = 0; i < VS_COUNT(t); i++)
        near(wave_value(&w, t[i][0]), t[i][1]);
    near(wave_dc(&w), 1);
    w.dc = 7;
    w.dc_given = true;
    near(wave_dc(&w), 7);
}
END_TEST

START_TEST(pulse_defaults_come_from_the_transient)
{
    wave w = WAVE(WAVE_PULSE, 0, 1);
    double arg[WAVE_ARGS];
    wave_defaults(&w, arg, 1e-9, 1e-6);
    near(wave_value(&w, 0.5e-9), 0.5);
    near(wave_value(&w, 0.9e-6), 1);
    ck_assert_double_eq(arg[6], 1e-6);
}
END_TEST

START_TEST(number_of_pulses_ends_the_train)
{
    wave w = WAVE(WAVE_PULSE, 0, 1, 0, 0.1, 0.1, 0.3, 1, 3);
    near(wave_value(&w, 2.3), 1);
    near(wave_value(&w, 3.3), 0);
    double t = 0;
    int n = 0;
    for (; t < 100; n++)
        t = wave_next_break(&w, t);
    ck_assert(isinf(t));
    ck_assert_int_eq(n, 3 * 4 + 1); /* corners after 0, the end at 3, infinity */
}
END_TEST

START_TEST(sine_damps_after_its_delay)
{
    wave w = WAVE(WAVE_SIN, 0.5, 2, 50, 0.01, 3, 30);
    near(wave_value(&w, 0), 0.5 + 2 * sin(M_PI / 6));
    for (double t = 0.0101; t < 0.2; t += 0.0037)
        near(wave_value(&w, t),
             0.5 + 2 * sin(2 * M_PI * 50 * (t - 0.01) + M_PI / 6) * exp(-3 * (t - 0.01)));
    ck_assert_double_eq(wave_next_break(&w, 0), 0.01);
    ck_assert(isinf(wave_next_break(&w, 0.01)));
}
END_TEST

START_TEST(sine_stays_exact_after_many_periods)
{
    wave w = WAVE(WAVE_SIN, 0, 1, 1);
    near(wave_value(&w, 4294967296.25), 1);
    near(wave_value(&w, 4294967296.5), 0);
}
END_TEST

START_TEST(exp_rises_and_falls)
{
    wave w = WAVE(WAVE_EXP, -4, -1, 2, 30, 60, 40);
    near(wave_value(&w, 1), -4);
    near(wave_value(&w, 50), -4 + 3 * (1 - exp(-48 / 30.)));
    near(wave_value(&w, 100), -4 + 3 * (1 - exp(-98 / 30.)) - 3 * (1 - exp(-40 / 40.)));
    ck_assert_double_eq(wave_next_break(&w, 0), 2);
    ck_assert_double_eq(wave_next_break(&w, 2), 60);
    ck_assert(isinf(wave_next_break(&w, 60)));
}
END_TEST

START_TEST(sffm_and_am_follow_the_manual)
{
    wave f = WAVE(WAVE_SFFM, 1, 2, 1000, 5, 100, 10, 20);
    wave a = WAVE(WAVE_AM, 0.5, 1, 200, 1500, 0.001, 15, 25);
    for (double t = 0.0013; t < 0.02; t += 0.0011) {
        const double s = sin(2 * M_PI * 100 * t + 20 * M_PI / 180);
        near(wave_value(&f, t), 1 + 2 * sin(2 * M_PI * 1000 * t + 10 * M_PI / 180 + 5 * s));
        const double u = t - 0.001;
        near(wave_value(&a, t), 0.5 * (1 + sin(2 * M_PI * 200 * u + 25 * M_PI / 180)) *
                                    sin(2 * M_PI * 1500 * u + 15 * M_PI / 180));
    }
    wave o = WAVE(WAVE_AM_OFFSET, 0.3, 0.5, 2, 200, 1500, 0.001, 25, 15);
    for (double u = 1e-4; u < 0.02; u += 0.0011)
        near(wave_value(&o, 0.001 + u),
             0.3 + (0.5 + 2 * sin(2 * M_PI * 200 * u + 25 * M_PI / 180)) *
                       sin(2 * M_PI * 1500 * u + 15 * M_PI / 180));
    near(wave_value(&o, 0.0005), 0);
    ck_assert_double_eq(wave_next_break(&o, 0), 0.001);
    wave d = WAVE(WAVE_SFFM_DELAY, 0.3, 2, 1000, 5, 100, 0.001, 20, 10);
    for (double u = 1e-4; u < 0.02; u += 0.0011)
        near(wave_value(&d, 0.001 + u),
             0.3 + 2 * sin(2 * M_PI * 1000 * u + 10 * M_PI / 180 +
                           5 * sin(2 * M_PI * 100 * u + 20 * M_PI / 180)));
    near(wave_value(&d, 0.0005), 0);
    ck_assert_double_eq(wave_next_break(&d, 0), 0.001);
    near(wave_value(&a, 0.0005), 0);
    ck_assert_double_eq(wave_next_break(&a, 0), 0.001);
    ck_assert(isinf(wave_next_break(&f, 0)));
}
END_TEST

START_TEST(pwl_interpolates_delays_and_repeats)
{
    wave w = WAVE(WAVE_PWL, 1, 0, 2, 10, 4, 20, 5, 0);
    near(wave_value(&w, 0), 0);
    near(wave_value(&w, 1.5), 5);
    near(wave_value(&w, 3), 15);
    near(wave_value(&w, 9), 0);
    static const double corner[] = {1, 2, 4, 5};
    double t = 0;
    for (size_t i = 0; i < VS_COUNT(corner); i++) {
        t = wave_next_break(&w, t);
        ck_assert_double_eq(t, corner[i]);
    }
    ck_assert(isinf(wave_next_break(&w, t)));
    w.pwl_delay = 100;
    w.pwl_repeat = 2;
    near(wave_value(&w, 103), 15);
    near(wave_value(&w, 106), 15); /* 2 + 4 is 3 in the first pass */
    near(wave_value(&w, 100 + 5 + 3 * 7 + 0.5), 12.5);
    static const double again[] = {101, 102, 104, 105, 107, 108, 110, 111, 113};
    t = 0;
    for (size_t i = 0; i < VS_COUNT(again); i++) {
        t = wave_next_break(&w, t);
        ck_assert_double_eq(t, again[i]);
    }
    ck_assert_double_eq(wave_next_break(&w, 104.5), 105);
}
END_TEST

START_TEST(long_pwl_is_searched)
{
    enum { N = 100000 };
    double *a = vs_malloc(2 * N * sizeof *a);
    for (int i = 0; i < N; i++) {
        a[2 * i] = i;
        a[2 * i + 1] = i % 2;
    }
    wave w = {.kind = WAVE_PWL, .arg = a, .n_arg = 2 * N, .pwl_repeat = -1};
    for (int i = 0; i < N - 1; i++) {
        near(wave_value(&w, i + 0.25), i % 2 ? 0.75 : 0.25);
        ck_assert_double_eq(wave_next_break(&w, i), i + 1);
    }
    vs_free(a);
}
END_TEST

START_TEST(pulse_train_of_2_to_32_periods)
{
    wave w = WAVE(WAVE_PULSE, 0, 1, 0, 1e-10, 1e-10, 4e-10, 1e-9);
    const double far = 4294967296.0 * 1e-9;
    near(wave_value(&w, far + 3e-10), 1);
    double t = far, last = 0;
    for (int i = 0; i < 4000; i++) { /* 1000 periods out there: four corners each, none lost */
        t = wave_next_break(&w, t);
        ck_assert(t > last);
        last = t;
    }
    ck_assert_double_eq_tol(t - far, 1000e-9, 0.11e-9);
}
END_TEST

START_TEST(pulse_that_fills_its_period_has_three_corners)
{
    wave w = WAVE(WAVE_PULSE, 0, 1, 0, 0.3, 0.3, 0.4, 1); /* the end is the next start */
    double t = 0;
    for (int i = 0; i < 3000; i++)
        t = wave_next_break(&w, t);
    ck_assert_double_eq_tol(t, 1000, 1e-9);
}
END_TEST

START_TEST(largest_value_is_that_of_the_curve_or_not_known)
{
    const wave dc = {.kind = WAVE_DC, .dc = -3, .pwl_repeat = -1};
    const wave w[] = {
        WAVE(WAVE_PULSE, -2, 1), WAVE(WAVE_EXP, 0, -4),      WAVE(WAVE_SIN, -1, 2, 1e6),
        WAVE(WAVE_TRNOISE, 1),   WAVE(WAVE_SFFM, 1, 1, 1e6), WAVE(WAVE_PWL, 9, 1, 10, -5, 20, 2),
    };
    static const double most[] = {2, 4, 3, 0, 0, 5};
    near(wave_most(&dc), 3);
    for (size_t i = 0; i < VS_COUNT(w); i++)
        near(wave_most(&w[i]), most[i]);
}
END_TEST

START_TEST(bad_arguments_are_named)
{
    wave w = WAVE(WAVE_PWL, 1, 0, 0.5, 1);
    ck_assert_ptr_nonnull(wave_check(&w));
    wave odd = WAVE(WAVE_PWL, 1, 0, 2);
    ck_assert_ptr_nonnull(wave_check(&odd));
    wave few = WAVE(WAVE_PULSE, 1);
    ck_assert_ptr_nonnull(wave_check(&few));
    wave many = WAVE(WAVE_SIN, 1, 2, 3, 4, 5, 6, 7);
    ck_assert_ptr_nonnull(wave_check(&many));
    wave negative = WAVE(WAVE_PULSE, 0, 1, 0, -1);
    ck_assert_ptr_nonnull(wave_check(&negative));
    wave good = WAVE(WAVE_PULSE, 0, 1, -1, 1);
    ck_assert_ptr_null(wave_check(&good));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wave");
    TCase *t = tcase_create("wave");
    tcase_add_test(t, pulse_follows_its_corners);
    tcase_add_test(t, pulse_defaults_come_from_the_transient);
    tcase_add_test(t, number_of_pulses_ends_the_train);
    tcase_add_test(t, sine_damps_after_its_delay);
    tcase_add_test(t, sine_stays_exact_after_many_periods);
    tcase_add_test(t, exp_rises_and_falls);
    tcase_add_test(t, sffm_and_am_follow_the_manual);
    tcase_add_test(t, pwl_interpolates_delays_and_repeats);
    tcase_add_test(t, long_pwl_is_searched);
    tcase_add_test(t, pulse_train_of_2_to_32_periods);
    tcase_add_test(t, pulse_that_fills_its_period_has_three_corners);
    tcase_add_test(t, largest_value_is_that_of_the_curve_or_not_known);
    tcase_add_test(t, bad_arguments_are_named);
    suite_add_tcase(s, t);
    return run_suite(s);
}
