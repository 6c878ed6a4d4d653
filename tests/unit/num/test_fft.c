/* Tests of Fourier transforms: against the sums of their definition, whose terms are of size 1, so
 * that rounding leaves some n eps. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "fft.h"

static double random_part(void) { return 2.0 * rand() / RAND_MAX - 1; }

static void check_sum(const double *x, int64_t n, int64_t k, const double *got)
{
    double re = 0, im = 0;
    for (int64_t m = 0; m < n; m++) {
        const double angle = -2 * M_PI * (double)(k * m % n) / (double)n;
        re += x[2 * m] * cos(angle) - x[2 * m + 1] * sin(angle);
        im += x[2 * m] * sin(angle) + x[2 * m + 1] * cos(angle);
    }
    ck_assert_double_eq_tol(got[0], re, 1e-14 * (double)n);
    ck_assert_double_eq_tol(got[1], im, 1e-14 * (double)n);
}

START_TEST(transforms_of_any_length_are_their_sums)
{
    static const int64_t length[] = {1, 2, 3, 4, 8, 12, 64, 100, 256};
    srand(3);
    for (size_t i = 0; i < VS_COUNT(length); i++) {
        const int64_t n = length[i];
        double x[512], y[512];
        for (int64_t k = 0; k < 2 * n; k++)
            x[k] = y[k] = random_part();
        fft(y, n, false);
        for (int64_t k = 0; k < n; k++)
            check_sum(x, n, k, y + 2 * k);
        fft(y, n, true);
        for (int64_t k = 0; k < 2 * n; k++)
            ck_assert_double_eq_tol(y[k] / (double)n, x[k], 1e-14 * (double)n);
    }
}
END_TEST

/* A wave of one line in each dimension is one value in the transform, and 0 elsewhere. */
START_TEST(a_wave_over_several_dimensions_is_one_line)
{
    static const int32_t dim[] = {8, 1, 4, 2};
    enum { N = 64 };
    double re[N], im[N];
    fft_plan *p = fft_plan_make(dim, 4);
    for (int32_t line = 0; line < N; line++) {
        const int32_t a = line / 8, b = line / 2 % 4, c = line % 2;
        for (int32_t m = 0; m < N; m++) {
            const double turn = (double)(a * (m / 8)) / 8 + (double)(b * (m / 2 % 4)) / 4 +
                                (double)(c * (m % 2)) / 2;
            re[m] = cos(2 * M_PI * turn);
            im[m] = sin(2 * M_PI * turn);
        }
        fft_run(p, re, im, false);
        for (int32_t k = 0; k < N; k++) {
            ck_assert_double_eq_tol(re[k], k == line ? N : 0, 1e-14 * N);
            ck_assert_double_eq_tol(im[k], 0, 1e-14 * N);
        }
        fft_run(p, re, im, true);
        ck_assert_double_eq_tol(re[0], N, 1e-13 * N);
    }
    fft_plan_free(&p);
    ck_assert_ptr_null(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fft");
    TCase *t = tcase_create("fft");
    tcase_add_test(t, transforms_of_any_length_are_their_sums);
    tcase_add_test(t, a_wave_over_several_dimensions_is_one_line);
    suite_add_tcase(s, t);
    return run_suite(s);
}
