/* The curve of a bidirectional bridge: continuous in voltage and time, its slope, what is taken
 * back. */
#include <check.h>
#include <math.h>

#include "../suite.h"
#include "nat_bidi.h"

static bidi new_bidi(void)
{
    return (bidi){.o = {.low = 0.2,
                        .high = 3,
                        .limit = {0.02, 0.03},
                        .r_strong = {20, 30},
                        .r_weak = {1e4, 2e4},
                        .ramp = {1e-9, 2e-9},
                        .m = 1}};
}

static double at(const bidi *b, double t, double v)
{
    double g;
    return bidi_current(b, t, v, &g);
}

/* Each drive beside each other one, in between too. */
static void for_each(void (*check)(bidi *b))
{
    for (int from = 0; from < EVT_N_VALUE; from++)
        for (int to = 0; to < EVT_N_VALUE; to++) {
            bidi b = new_bidi();
            bidi_rest(&b, (evt_value)from);
            bidi_turn(&b, (evt_value)to, 10e-9);
            bidi_turn(&b, (evt_value)from, 10.4e-9);
            bidi_turn(&b, (evt_value)to, 10.7e-9);
            check(&b);
            vec_free(b.turn);
        }
}

static void check_voltage(bidi *b)
{
    const double d = 1e-6;
    for (double t = 9.9e-9; t < 14e-9; t += 0.31e-9)
        for (double v = -1.0001; v < 4.5; v += 0.0737) {
            double g;
            const double i = bidi_current(b, t, v, &g), next = at(b, t, v + d);
            /* no slope is larger than that of both strong drivers and both weak ones */
            ck_assert_double_le(fabs(next - i), 0.0835 * d + 1e-15);
            ck_assert_double_ge(next, i); /* it takes power that it gave at most */
            ck_assert_double_ge(g, 0);
            ck_assert_double_le(g, 0.0835);
        }
}

static void check_slope(bidi *b)
{
    const double d = 1e-7;
    int differ = 0;
    for (double v = -1.0001; v < 4.5; v += 0.0737) {
        double g;
        (void)bidi_current(b, 11e-9, v, &g);
        const double by = (at(b, 11e-9, v + d) - at(b, 11e-9, v - d)) / (2 * d);
        differ += fabs(g - by) > 1e-7; /* i of 0.1 A has 1.4e-17 / d of rounding */
    }
    ck_assert_int_le(differ, 4 * 2); /* corners of four curves may lie within d */
}

/* In 1 ns a curve moves by 83.5 mS times 2.8 V, and one that fades into another by 83.5 mS times
 * 5.5 V: together 8.3 V. Three fade at once. */
static void check_time(bidi *b)
{
    const double d = 1e-15;
    for (double t = 9.9e-9; t < 14e-9; t += 0.31e-9)
        for (double v = -1; v < 4.5; v += 0.31)
            ck_assert_double_le(fabs(at(b, t + d, v) - at(b, t, v)), (0.0835 * 8.3 / 1e-9) * 3 * d);
    for (size_t k = 1; k < vec_len(b->turn); k++) {
        const double t = b->turn[k].t;
        for (double v = -1; v < 4.5; v += 0.31)
            ck_assert_double_eq_tol(at(b, nextafter(t, 0), v), at(b, t, v), 1e-12);
    }
}

START_TEST(it_is_monotone_and_without_jumps) { for_each(check_voltage); }
END_TEST
START_TEST(slopes_are_those_of_differences) { for_each(check_slope); }
END_TEST
START_TEST(it_moves_without_jumps) { for_each(check_time); }
END_TEST

/* A walk from any voltage to any other comes to its end by at most one step for each corner. */
START_TEST(walks_stop_at_corners)
{
    bidi b = new_bidi();
    bidi_rest(&b, evt_of(EVT_0, EVT_STRONG));
    bidi_turn(&b, evt_of(EVT_1, EVT_RESISTIVE), 1e-9);
    for (double from = -1; from < 4; from += 0.7)
        for (double to = -2; to < 5; to += 0.3) {
            double i, g;
            int n = 0;
            b.v = from;
            b.walks = true;
            while (b.v != to && n++ < 10)
                b.v = bidi_walk(&b, 1.5e-9, to, &i, &g);
            ck_assert_int_le(n, 4);
            ck_assert_double_eq(b.v, to);
        }
    vec_free(b.turn);
}
END_TEST

START_TEST(turns_are_taken_back_and_forgotten)
{
    bidi b = new_bidi();
    bidi_rest(&b, evt_of(EVT_0, EVT_STRONG));
    bidi_turn(&b, evt_of(EVT_1, EVT_STRONG), 1e-9);
    const double before = at(&b, 1.5e-9, 1.7);
    bidi_turn(&b, evt_of(EVT_U, EVT_HIZ), 1.4e-9);
    ck_assert_double_ne(at(&b, 1.5e-9, 1.7), before);
    bidi_go_back(&b, 1.3e-9);
    ck_assert_double_eq(at(&b, 1.5e-9, 1.7), before);
    ck_assert_double_eq(bidi_next(&b, 0), 1e-9);
    ck_assert_double_eq_tol(bidi_next(&b, 1e-9), 3e-9, 1e-23);
    bidi_forget(&b, 2e-9);
    ck_assert_uint_eq(vec_len(b.turn), 2);
    const double late = at(&b, 4e-9, 1.7);
    bidi_forget(&b, 3.5e-9);
    ck_assert_uint_eq(vec_len(b.turn), 1);
    ck_assert_double_eq(at(&b, 4e-9, 1.7), late);
    ck_assert(bidi_is_sound(&b));
    b.turn[0].s = NAN;
    ck_assert(!bidi_is_sound(&b));
    vec_free(b.turn);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("bidi");
    tcase_add_test(tc, it_is_monotone_and_without_jumps);
    tcase_add_test(tc, slopes_are_those_of_differences);
    tcase_add_test(tc, it_moves_without_jumps);
    tcase_add_test(tc, walks_stop_at_corners);
    tcase_add_test(tc, turns_are_taken_back_and_forgotten);
    Suite *s = suite_create("nat/bidi");
    suite_add_tcase(s, tc);
    return run_suite(s);
}
