/* Tests of base/gen.c: what a change reaches, what a question costs; and of map_remove. */
#include <check.h>
#include <stdlib.h>

#include "../suite.h"
#include "gen.h"
#include "map.h"

/* a -> c -> d, b -> d */
typedef struct four {
    gen g;
    int32_t a, b, c, d;
} four;

static four make_four(void)
{
    four f;
    gen_init(&f.g);
    f.a = gen_node(&f.g, GEN_INPUT);
    f.b = gen_node(&f.g, GEN_INPUT);
    f.c = gen_node(&f.g, GEN_VALUE);
    f.d = gen_node(&f.g, GEN_DEVICE);
    gen_edge(&f.g, f.a, f.c);
    gen_edge(&f.g, f.c, f.d);
    gen_edge(&f.g, f.b, f.d);
    gen_seal(&f.g);
    return f;
}

START_TEST(a_change_reaches_what_depends_on_it_and_nothing_else)
{
    four f = make_four();
    ck_assert(gen_current(&f.g, f.c) && gen_current(&f.g, f.d));
    gen_change(&f.g, f.b);
    ck_assert(gen_current(&f.g, f.c));
    ck_assert(!gen_current(&f.g, f.d));
    ck_assert_int_eq(gen_next(&f.g), f.d);
    ck_assert_int_eq(gen_next(&f.g), -1);
    gen_rebuilt(&f.g, f.d);
    ck_assert(gen_current(&f.g, f.d));
    gen_change(&f.g, f.a);
    ck_assert(!gen_current(&f.g, f.c) && !gen_current(&f.g, f.d));
    ck_assert_int_eq((int)f.g.count[GEN_DEVICE].invalid, 2);
    ck_assert_int_eq((int)f.g.count[GEN_DEVICE].rebuilt, 1);
    ck_assert_int_eq((int)f.g.count[GEN_VALUE].invalid, 1);
    gen_fini(&f.g);
}
END_TEST

START_TEST(an_object_may_be_out_of_date_by_itself)
{
    four f = make_four();
    gen_outdate(&f.g, f.c);
    ck_assert(!gen_current(&f.g, f.c) && !gen_current(&f.g, f.d));
    gen_outdate(&f.g, f.d);
    ck_assert_int_eq(gen_next(&f.g), f.c);
    ck_assert_int_eq(gen_next(&f.g), f.d);
    ck_assert_int_eq(gen_next(&f.g), -1);
    gen_rebuilt(&f.g, f.c);
    gen_rebuilt(&f.g, f.d);
    gen_outdate(&f.g, f.d);
    ck_assert(gen_current(&f.g, f.c) && !gen_current(&f.g, f.d));
    ck_assert_int_eq((int)f.g.count[GEN_INPUT].invalid, 0);
    gen_fini(&f.g);
}
END_TEST

START_TEST(two_changes_invalidate_once)
{
    four f = make_four();
    gen_change(&f.g, f.a);
    gen_change(&f.g, f.b);
    gen_change(&f.g, f.a);
    ck_assert_int_eq((int)f.g.count[GEN_DEVICE].invalid, 1);
    int n = 0;
    while (gen_next(&f.g) >= 0)
        n++;
    ck_assert_int_eq(n, 2);
    gen_rebuilt(&f.g, f.c);
    gen_rebuilt(&f.g, f.d);
    gen_change(&f.g, f.b);
    ck_assert_int_eq(gen_next(&f.g), f.d);
    gen_fini(&f.g);
}
END_TEST

START_TEST(questions_without_a_change_find_nothing_out_of_date)
{
    four f = make_four();
    for (int i = 0; i < 100000; i++)
        ck_assert(gen_current(&f.g, i % 2 ? f.c : f.d));
    ck_assert_int_eq((int)f.g.count[GEN_VALUE].lookups, 50000);
    ck_assert_int_eq((int)f.g.count[GEN_VALUE].invalid, 0);
    gen_fini(&f.g);
}
END_TEST

START_TEST(keys_are_found_after_others_were_removed)
{
    enum { N = 4000 };
    map m = {0};
    static int want[N];
    srand(1);
    for (int i = 0; i < 40000; i++) {
        const int k = rand() % N;
        if (rand() % 3) {
            map_set(&m, (uint64_t)k * 64, i);
            want[k] = i + 1;
        } else {
            map_remove(&m, (uint64_t)k * 64);
            want[k] = 0;
        }
    }
    size_t n = 0;
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(map_get(&m, (uint64_t)k * 64, -1), want[k] - 1);
        n += want[k] > 0;
    }
    ck_assert_uint_eq(m.n, n);
    map_free(&m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gen");
    TCase *t = tcase_create("gen");
    tcase_add_test(t, a_change_reaches_what_depends_on_it_and_nothing_else);
    tcase_add_test(t, an_object_may_be_out_of_date_by_itself);
    tcase_add_test(t, two_changes_invalidate_once);
    tcase_add_test(t, questions_without_a_change_find_nothing_out_of_date);
    tcase_add_test(t, keys_are_found_after_others_were_removed);
    suite_add_tcase(s, t);
    return run_suite(s);
}
