/* Tests of nat/wave_noise.c: moments, spectrum, telegraph times, corners; draws do not depend on
 * the order of questions. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "draw.h"
#include "wave.h"

enum { N = 4096 };

static wave make(wave_kind kind, const double *given, int n, double *arg, double tstop)
{
    wave w = {.kind = kind,
              .arg = given,
              .n_arg = n,
              .pwl_repeat = -1,
              .key = draw_text(draw_seed(3, 0), "v1")};
    ck_assert_msg(!wave_check(&w), "%s", wave_check(&w));
    wave_defaults(&w, arg, 1e-9, tstop);
    return w;
}
#define MAKE(kind, tstop, ...)                \
    make(kind, (const double[]){__VA_ARGS__}, \
         (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), arg, tstop)

static void within(const char *what, double got, double want, double part)
{
    ck_assert_msg(fabs(got - want) <= part * fabs(want), "%s: got %g, want %g", what, got, want);
}

START_TEST(white_noise_has_its_deviation_and_straight_lines)
{
    double arg[WAVE_ARGS], sum = 0, square = 0, lag = 0, last = 0;
    const wave w = MAKE(WAVE_TRNOISE, 1, 2, 1e-3);
    ck_assert_double_eq(wave_value(&w, 0), 0);
    for (int k = 1; k <= 50000; k++) {
        const double y = wave_value(&w, k * 1e-3);
        sum += y;
        square += y * y;
        lag += y * last;
        last = y;
    }
    ck_assert_double_lt(fabs(sum / 50000), 0.03);
    within("variance", square / 50000, 4, 0.03);
    ck_assert_double_lt(fabs(lag / 50000), 0.08);
    within("half way", wave_value(&w, 7.5e-3), (wave_value(&w, 7e-3) + wave_value(&w, 8e-3)) / 2,
           1e-9);
}
END_TEST

/* Mean of the squared Fourier sums (Hann window) of several pieces at bin k. */
static double power(const double *y, int n, int piece, int k)
{
    double sum = 0;
    int pieces = 0;
    for (int from = 0; from + piece <= n; from += piece / 2, pieces++) {
        double re = 0, im = 0;
        for (int i = 0; i < piece; i++) {
            const double h = 0.5 - 0.5 * cos(2 * M_PI * i / piece), x = h * y[from + i];
            re += x * cos(2 * M_PI * i * k / piece);
            im += x * sin(2 * M_PI * i * k / piece);
        }
        sum += re * re + im * im;
    }
    return sum / pieces / (0.375 * piece);
}

/* Density over that of white noise with the deviation namp, mean over pieces and neighbouring bins.
 */
START_TEST(flicker_noise_follows_the_power_law)
{
    static const double alpha[] = {0.5, 1, 1.6};
    double *y = vs_malloc(16 * N * sizeof *y);
    for (size_t a = 0; a < VS_COUNT(alpha); a++) {
        double arg[WAVE_ARGS];
        const wave w = MAKE(WAVE_TRNOISE, 16 * N * 1e-6, 0, 1e-6, alpha[a], 1);
        for (int i = 0; i < 16 * N; i++)
            y[i] = wave_value(&w, i * 1e-6);
        for (int k = 8; k < 256; k *= 4) {
            double got = 0, want = 0;
            for (int i = k - k / 4; i <= k + k / 4; i++) {
                got += power(y, 16 * N, 512, i);
                want += pow(2 * sin(M_PI * i / 512), -alpha[a]);
            }
            within("density", got, want, 0.12);
        }
    }
    vs_free(y);
}
END_TEST

START_TEST(telegraph_noise_has_its_mean_times)
{
    double arg[WAVE_ARGS], t = 0, high = 0;
    const wave w = MAKE(WAVE_TRNOISE, 1, 0, 0, 0, 0, 5, 18, 30);
    int changes = 0;
    bool on = false;
    ck_assert_double_eq(wave_value(&w, 0), 0);
    while (changes < 20000) {
        const double next = wave_next_break(&w, t);
        ck_assert_double_gt(next, t);
        ck_assert_double_eq(wave_value(&w, next), on ? 5 : 0); /* before the jump */
        high += on ? next - t : 0;
        on = !on;
        ck_assert_double_eq(wave_value(&w, nextafter(next, INFINITY)), on ? 5 : 0);
        t = next;
        changes++;
    }
    within("time of capture", (t - high) / 10000, 18, 0.03);
    within("time of emission", high / 10000, 30, 0.03);
}
END_TEST

START_TEST(random_steps_have_their_distributions)
{
    static const struct {
        double type, p1, mean, deviation;
    } c[] = {{1, 2, 1, 2 / 1.7320508}, {2, 2, 1, 2}, {3, 2, 3, 2}, {4, 9, 10, 3}};
    for (size_t i = 0; i < VS_COUNT(c); i++) {
        double arg[WAVE_ARGS], sum = 0, square = 0;
        const wave w = MAKE(WAVE_TRRANDOM, 1, c[i].type, 1e-6, 3e-6, c[i].p1, 1);
        ck_assert_double_eq(wave_value(&w, 3e-6), 0);
        for (int k = 0; k < 40000; k++) {
            const double y = wave_value(&w, (3.5 + k) * 1e-6);
            sum += y;
            square += (y - c[i].mean) * (y - c[i].mean);
        }
        within("mean", sum / 40000, c[i].mean, 0.03);
        within("variance", square / 40000, c[i].deviation * c[i].deviation, 0.05);
    }
}
END_TEST

/* Each corner of random steps lies where the value changes, also where multiples of the step are
 * not exact. */
START_TEST(steps_change_at_their_corners)
{
    double arg[WAVE_ARGS], t = 0;
    const wave w = MAKE(WAVE_TRRANDOM, 1, 2, 1e-8, 0.3e-8);
    for (int k = 0; k < 5000; k++) {
        const double next = wave_next_break(&w, t), before = wave_value(&w, next);
        ck_assert_double_gt(next, t);
        ck_assert_double_eq(before, wave_value(&w, (t + next) / 2));
        ck_assert_double_ne(before, wave_value(&w, nextafter(next, INFINITY)));
        t = next;
    }
    within("end", t, 5000e-8, 1e-3);
}
END_TEST

START_TEST(values_do_not_depend_on_the_order_of_questions)
{
    double arg[WAVE_ARGS], memo[3] = {NAN, 0, 0}, y[300];
    wave w = MAKE(WAVE_TRNOISE, 1e-3, 1, 1e-6, 1.2, 2, 3, 5e-6, 7e-6);
    for (int i = 0; i < 300; i++)
        y[i] = wave_value(&w, i * 0.37e-6);
    w.memo = memo;
    for (int i = 0; i < 3000; i++) {
        const int k = (i * 7) % 300;
        ck_assert_double_eq(wave_value(&w, k * 0.37e-6), y[k]);
    }
    w.key++;
    memo[0] = NAN;
    ck_assert_double_ne(wave_value(&w, 1e-6), y[3]);
}
END_TEST

START_TEST(wrong_arguments_are_named)
{
    static const struct {
        wave_kind kind;
        double arg[8];
        int n;
        const char *word;
    } c[] = {
        {WAVE_TRNOISE, {1}, 1, "needs an amplitude"},
        {WAVE_TRNOISE, {1, 0}, 2, "needs a time step"},
        {WAVE_TRNOISE, {1, -1}, 2, "negative"},
        {WAVE_TRNOISE, {0, 1, 2, 1}, 4, "nalpha"},
        {WAVE_TRNOISE, {0, 0, 0, 0, 1, 1}, 6, "capture"},
        {WAVE_TRNOISE, {0, 0, 0, 0, 1, 1, 1e9}, 7, "10,000"},
        {WAVE_TRNOISE, {1, 1, 1, 1, 1, 1, 1, 1}, 8, "at most 7"},
        {WAVE_TRRANDOM, {1}, 1, "a type"},
        {WAVE_TRRANDOM, {5, 1}, 2, "type of"},
        {WAVE_TRRANDOM, {1, 0}, 2, "positive"},
        {WAVE_TRRANDOM, {4, 1, 0, 701}, 4, "Poisson"},
        {WAVE_TRRANDOM, {1, 1, 1, 1, 1, 1}, 6, "at most 5"},
    };
    for (size_t i = 0; i < VS_COUNT(c); i++) {
        const wave w = {.kind = c[i].kind, .arg = c[i].arg, .n_arg = c[i].n};
        const char *why = wave_check(&w);
        ck_assert_msg(why && strstr(why, c[i].word), "%zu: %s", i, why ? why : "no message");
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("wave_noise");
    TCase *t = tcase_create("wave_noise");
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_test(t, white_noise_has_its_deviation_and_straight_lines);
    tcase_add_test(t, flicker_noise_follows_the_power_law);
    tcase_add_test(t, telegraph_noise_has_its_mean_times);
    tcase_add_test(t, random_steps_have_their_distributions);
    tcase_add_test(t, steps_change_at_their_corners);
    tcase_add_test(t, values_do_not_depend_on_the_order_of_questions);
    tcase_add_test(t, wrong_arguments_are_named);
    suite_add_tcase(s, t);
    return run_suite(s);
}
