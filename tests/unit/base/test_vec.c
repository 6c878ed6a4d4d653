/* Tests of base/vec.c: orders of numbers. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "../suite.h"
#include "vec.h"

START_TEST(whole_numbers_stand_in_order_at_both_ends_of_their_range)
{
    int32_t v[] = {7, INT32_MIN, 3, INT32_MAX, -1, 7, 0};
    static const int32_t want[] = {INT32_MIN, -1, 0, 3, 7, 7, INT32_MAX};
    qsort(v, VS_COUNT(v), sizeof *v, vec_by_number);
    for (size_t i = 0; i < VS_COUNT(v); i++)
        ck_assert_int_eq(v[i], want[i]);
}
END_TEST

START_TEST(values_stand_in_order_with_infinities)
{
    double v[] = {2.5, -INFINITY, 1e-300, INFINITY, -2.5, 0, 2.5};
    static const double want[] = {-INFINITY, -2.5, 0, 1e-300, 2.5, 2.5, INFINITY};
    qsort(v, VS_COUNT(v), sizeof *v, vec_by_value);
    for (size_t i = 0; i < VS_COUNT(v); i++)
        ck_assert(v[i] == want[i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vec");
    TCase *t = tcase_create("vec");
    tcase_add_test(t, whole_numbers_stand_in_order_at_both_ends_of_their_range);
    tcase_add_test(t, values_stand_in_order_with_infinities);
    suite_add_tcase(s, t);
    return run_suite(s);
}
