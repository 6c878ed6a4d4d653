/* Tests of straight.c: each operation with each encoding, against the same operation in C. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "straight.h"

/* Registers and indices with all forms of the prefixes and displacements. */
static const int REG[] = {0, 3, 8, 11};
static const int32_t INDEX[] = {0, 15, 16, 700};
enum { LENGTH = 701 };

static double value_of(straight_op op, double a, double b)
{
    switch (op) {
    case STRAIGHT_ADD: return a + b;
    case STRAIGHT_SUB: return a - b;
    case STRAIGHT_MUL: return a * b;
    case STRAIGHT_DIV: return a / b;
    case STRAIGHT_MIN: return a < b ? a : b;
    case STRAIGHT_MAX: return a > b ? a : b;
    }
    return NAN;
}

static straight *begin(int avx)
{
    straight *l = straight_new();
    if (l && !avx)
        straight_without_avx(l);
    return l;
}

static bool same(double a, double b) { return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a); }

static const double VALUE[] = {1.5, -2.25, 0.0, -0.0, 3e300, INFINITY, NAN};

/* What the function gives for all pairs of values; x and y are read from a0[1] and a0[2]. */
static void check(straight *l, straight_op op, bool one)
{
    double in[LENGTH] = {0}, out[LENGTH];
    straight_fn fn = straight_done(l);
    ck_assert_ptr_nonnull(fn);
    for (size_t i = 0; i < VS_COUNT(VALUE); i++)
        for (size_t k = 0; k < VS_COUNT(VALUE); k++) {
            in[1] = VALUE[i];
            in[2] = one ? VALUE[i] : VALUE[k];
            fn(in, in, out, out, out, out);
            ck_assert(same(out[0], value_of(op, in[1], in[2])));
        }
    straight_free(&l);
}

START_TEST(operations_on_registers)
{
    for (int op = STRAIGHT_ADD; op <= STRAIGHT_MAX; op++)
        for (int k = 0; k < 4 * 4 * 4; k++) {
            const int r = REG[k % 4], s = REG[k / 4 % 4], u = REG[k / 16];
            straight *l = begin(_i);
            if (!l)
                return;
            straight_load(l, s, 0, 1);
            if (u != s)
                straight_load(l, u, 0, 2);
            straight_from(l, (straight_op)op, r, s, u);
            straight_store(l, r, 2, 0);
            check(l, (straight_op)op, u == s);
        }
}
END_TEST

START_TEST(operands_in_each_array)
{
    for (int k = 0; k < STRAIGHT_MAX_ARRAYS * 4 * 4 * 4; k++) {
        const int array = k % STRAIGHT_MAX_ARRAYS, left = k / STRAIGHT_MAX_ARRAYS;
        const int r = REG[left % 4], s = REG[left / 4 % 4];
        const int32_t at = INDEX[left / 16];
        double a[STRAIGHT_MAX_ARRAYS][LENGTH] = {{0}};
        straight *l = begin(_i);
        if (!l)
            return;
        straight_load(l, s, 0, 1);
        straight_from_mem(l, STRAIGHT_SUB, r, s, array, at);
        straight_mem(l, STRAIGHT_MUL, r, array, at);
        straight_store(l, r, 5, at);
        straight_fn fn = straight_done(l);
        ck_assert_ptr_nonnull(fn);
        a[array][at] = 3;
        a[0][1] = 5;
        fn(a[0], a[1], a[2], a[3], a[4], a[5]);
        ck_assert(a[5][at] == 6);
        straight_free(&l);
    }
}
END_TEST

START_TEST(signs_copies_and_inverses)
{
    for (int k = 0; k < 16; k++) {
        const int r = REG[k % 4], s = REG[k / 4];
        double in[2] = {0, -4}, out[5] = {0};
        straight *l = begin(_i);
        if (!l)
            return;
        straight_load(l, s, 0, 1);
        straight_inverse(l, r, s);
        straight_store(l, r, 2, 0);
        straight_load(l, s, 0, 1);
        straight_copy(l, r, s);
        straight_neg(l, r);
        straight_store(l, r, 2, 1);
        straight_load(l, r, 0, 1);
        straight_abs(l, r);
        straight_store(l, r, 2, 2);
        straight_zero(l, r);
        straight_store(l, r, 2, 3);
        straight_load(l, s, 0, 1);
        straight_reg(l, STRAIGHT_ADD, s, s);
        straight_store(l, s, 2, 4);
        straight_fn fn = straight_done(l);
        ck_assert_ptr_nonnull(fn);
        fn(in, in, out, out, out, out);
        ck_assert(out[0] == -0.25 && out[1] == 4 && out[2] == 4 && out[3] == 0 && out[4] == -8);
        straight_free(&l);
    }
}
END_TEST

START_TEST(products_are_subtracted_with_one_rounding)
{
    const double x = 1 + 0x1p-30, y = 1 - 0x1p-30, from = 1; /* x y rounds to 1 */
    for (int k = 0; k < STRAIGHT_MAX_ARRAYS * 4 * 4 * 4; k++) {
        const int array = k % STRAIGHT_MAX_ARRAYS, left = k / STRAIGHT_MAX_ARRAYS;
        const int r = REG[left % 4], s = REG[left / 4 % 4];
        const int32_t at = INDEX[left / 16];
        double a[STRAIGHT_MAX_ARRAYS][LENGTH] = {{0}};
        straight *l = straight_new();
        if (!l || !straight_fuses(l) || r == s) {
            straight_free(&l);
            continue;
        }
        const int u = k % 2 ? 9 : 1; /* none of REG */
        straight_load(l, r, 0, 1);
        straight_load(l, s, 0, 2);
        straight_minus_product_mem(l, r, s, array, at);
        straight_store(l, r, 5, 3);
        straight_load(l, r, 0, 1);
        straight_load(l, u, array, at);
        straight_minus_product(l, r, s, u);
        straight_store(l, r, 5, 4);
        straight_fn fn = straight_done(l);
        ck_assert_ptr_nonnull(fn);
        a[array][at] = y;
        a[0][1] = from;
        a[0][2] = x;
        fn(a[0], a[1], a[2], a[3], a[4], a[5]);
        ck_assert(a[5][3] == 0x1p-60 && a[5][4] == 0x1p-60);
        straight_free(&l);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("num/straight");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, operations_on_registers, 0, 2);
    tcase_add_loop_test(t, operands_in_each_array, 0, 2);
    tcase_add_loop_test(t, signs_copies_and_inverses, 0, 2);
    tcase_add_test(t, products_are_subtracted_with_one_rounding);
    suite_add_tcase(s, t);
    return run_suite(s);
}
