/* test_reduce.c - the points of a curve that a picture shows. */
#include <check.h>
#include <math.h>

#include "../suite.h"
#include "reduce.h"

enum { N = 100000, COLUMNS = 50 };

static double x[N], y[N];
static int64_t at[4 * COLUMNS + 2];

static void make_curve(void)
{
    for (int k = 0; k < N; k++) {
        x[k] = (double)k * k; /* most points at the left */
        y[k] = sin(k * 0.01);
    }
    y[77777] = 50; /* a peak of one point */
    y[12345] = -50;
}

START_TEST(each_column_keeps_first_least_greatest_and_last)
{
    make_curve();
    const int64_t n = reduce_points(x, y, N, COLUMNS, at);
    ck_assert_int_le(n, 4 * COLUMNS);
    ck_assert_int_eq(at[0], 0);
    ck_assert_int_eq(at[n - 1], N - 1);
    for (int c = 0, k = 0; c < COLUMNS; c++) {
        const double to = x[N - 1] * (c + 1) / COLUMNS;
        double lo = INFINITY, hi = -INFINITY, klo = INFINITY, khi = -INFINITY;
        int first = k;
        while (k < N && (x[k] < to || c == COLUMNS - 1)) {
            lo = fmin(lo, y[k]);
            hi = fmax(hi, y[k]);
            k++;
        }
        for (int64_t i = 0; i < n; i++)
            if (at[i] >= first && at[i] < k) {
                klo = fmin(klo, y[at[i]]);
                khi = fmax(khi, y[at[i]]);
            }
        ck_assert(klo == lo && khi == hi);
    }
    for (int64_t i = 1; i < n; i++)
        ck_assert(at[i] > at[i - 1]);
}
END_TEST

START_TEST(few_points_are_all_kept)
{
    make_curve();
    ck_assert_int_eq(reduce_points(x, y, 4 * COLUMNS, COLUMNS, at), 4 * COLUMNS);
    ck_assert_int_eq(reduce_points(x, y, 0, COLUMNS, at), 0);
    ck_assert_int_eq(reduce_points(x, y, 1, COLUMNS, at), 1);
}
END_TEST

START_TEST(an_axis_that_does_not_rise_has_columns_of_equally_many_points)
{
    make_curve();
    for (int k = 0; k < N; k++)
        x[k] = k % 100;
    const int64_t n = reduce_points(x, y, N, COLUMNS, at);
    bool peak = false;
    for (int64_t i = 0; i < n; i++)
        peak |= at[i] == 77777;
    ck_assert(peak && n <= 4 * COLUMNS);
    x[5] = NAN;
    ck_assert(!reduce_rises(x, N));
    ck_assert_int_gt(reduce_points(x, y, N, COLUMNS, at), 0);
}
END_TEST

START_TEST(a_part_has_a_point_on_each_side)
{
    static const double t[] = {0, 1, 2, 3, 4, 5};
    int64_t from, to;
    reduce_part(t, 6, 1.5, 3.5, &from, &to);
    ck_assert(from == 1 && to == 5);
    reduce_part(t, 6, 2, 3, &from, &to);
    ck_assert(from == 1 && to == 5);
    reduce_part(t, 6, NAN, 0.5, &from, &to);
    ck_assert(from == 0 && to == 2);
    reduce_part(t, 6, 7, 9, &from, &to);
    ck_assert(from == 5 && to == 6);
    reduce_part(t, 6, -3, -2, &from, &to);
    ck_assert(from == 0 && to == 1);
    reduce_part(t, 0, 1, 2, &from, &to);
    ck_assert(from == 0 && to == 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reduce");
    TCase *t = tcase_create("reduce");
    tcase_add_test(t, each_column_keeps_first_least_greatest_and_last);
    tcase_add_test(t, few_points_are_all_kept);
    tcase_add_test(t, an_axis_that_does_not_rise_has_columns_of_equally_many_points);
    tcase_add_test(t, a_part_has_a_point_on_each_side);
    suite_add_tcase(s, t);
    return run_suite(s);
}
