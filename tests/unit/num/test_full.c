/* Tests of small full systems. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "full.h"

#include <complex.h>

START_TEST(a_zero_on_the_diagonal_is_no_pivot)
{
    double a[] = {0, 2, 1, 1, 0, 3, 4, 1, 0}, b[] = {7, 10, 6};
    ck_assert(full_solve(a, b, 3)); /* x = 1, 2, 3 */
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(b[i], i + 1, 1e-14);
}
END_TEST

START_TEST(a_singular_matrix_is_told)
{
    double a[] = {1, 2, 2, 4}, b[] = {1, 1};
    ck_assert(!full_solve(a, b, 2));
}
END_TEST

/* Rows of any size: the residual of elimination with row pivots is some n eps times the terms. */
START_TEST(random_systems_are_solved)
{
    enum { N = 30 };
    double a[N * N], was[N * N], b[N], x[N];
    srand(5);
    for (int k = 0; k < N * N; k++)
        was[k] = a[k] = (rand() / (double)RAND_MAX - 0.5) * (k / N + 1);
    for (int i = 0; i < N; i++)
        b[i] = x[i] = rand() / (double)RAND_MAX;
    ck_assert(full_solve(a, x, N));
    for (int i = 0; i < N; i++) {
        double sum = -b[i], size = 0;
        for (int j = 0; j < N; j++) {
            sum += was[i * N + j] * x[j];
            size += fabs(was[i * N + j] * x[j]);
        }
        ck_assert_double_le(fabs(sum), 1e-12 * size);
    }
}
END_TEST

/* The same of complex ones by factors, of the matrix and of its transpose. */
START_TEST(random_complex_systems_are_solved)
{
    enum { N = 30 };
    double _Complex a[N * N], was[N * N], b[N], x[N], y[N];
    int32_t pivot[N];
    srand(7);
    for (int k = 0; k < N * N; k++) {
        const double re = rand() / (double)RAND_MAX - 0.5, im = rand() / (double)RAND_MAX - 0.5;
        was[k] = a[k] =
            k % (N + 1) ? (re + im * I) * (k / N + 1) : 0; /* no pivot where it stands */
    }
    for (int i = 0; i < N; i++)
        b[i] = x[i] = y[i] = rand() / (double)RAND_MAX - I;
    ck_assert(full_z_factor(a, pivot, N, 0));
    full_z_solve(a, pivot, N, x);
    full_z_solve_t(a, pivot, N, y);
    for (int i = 0; i < N; i++) {
        double _Complex rest = -b[i], rest_t = -b[i];
        double size = 0, other = 0;
        for (int j = 0; j < N; j++) {
            rest += was[i * N + j] * x[j];
            rest_t += was[j * N + i] * y[j];
            size += cabs(was[i * N + j] * x[j]);
            other += cabs(was[j * N + i] * y[j]);
        }
        ck_assert_double_le(cabs(rest), 1e-12 * size);
        ck_assert_double_le(cabs(rest_t), 1e-12 * other);
    }
}
END_TEST

START_TEST(a_pivot_that_is_too_small_is_none)
{
    double _Complex a[] = {1, I, 2, 2 * I + 1e-14}, b[] = {1, I, 2, 2 * I + 1e-14};
    int32_t pivot[2];
    ck_assert(full_z_factor(a, pivot, 2, 0));
    ck_assert(!full_z_factor(b, pivot, 2, 1e-13));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("full");
    TCase *t = tcase_create("full");
    tcase_add_test(t, a_zero_on_the_diagonal_is_no_pivot);
    tcase_add_test(t, a_singular_matrix_is_told);
    tcase_add_test(t, random_systems_are_solved);
    tcase_add_test(t, random_complex_systems_are_solved);
    tcase_add_test(t, a_pivot_that_is_too_small_is_none);
    suite_add_tcase(s, t);
    return run_suite(s);
}
