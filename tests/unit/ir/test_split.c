/* Tests of ir_split.c: text in, two texts out. */
#include "ir_test.h"

typedef struct parts {
    int n;
    const char *setup, *eval;
} parts;
static parts split(const char *text)
{
    ir_fn f = fn_of(text), s, e;
    parts p = {.n = ir_split(&s, &e, &f)};
    check_valid(&s);
    check_valid(&e);
    p.setup = strchr(text_of(&s), '\n') + 1;
    p.eval = strchr(text_of(&e), '\n') + 1;
    ir_fn_fini(&f);
    ir_fn_fini(&s);
    ir_fn_fini(&e);
    return p;
}
#define PV "fn f p = in f64 param 0 v = in f64 probe 0 "

START_TEST(static_values_go_to_setup_once)
{
    parts p = split(PV "a = exp p c = mul a, 2 r = mul c, v s = mul v, c t = add r, c out res 0 0 "
                       "t out res 1 0 s");
    ck_assert_int_eq(p.n, 1);
    ck_assert_str_eq(p.setup, "  v0 = in f64 param 0\n  v1 = const f64 2.0\n  v2 = exp v0\n"
                              "  v3 = mul v2, v1\n  out cache 0 0 v3\n");
    ck_assert_str_eq(p.eval, "  v0 = in f64 cache 0\n  v1 = in f64 probe 0\n  v2 = mul v1, v0\n"
                             "  v3 = add v0, v2\n  out res 0 0 v3\n  out res 1 0 v2\n");
}
END_TEST

START_TEST(constants_are_not_cached)
{
    parts p = split("fn f v = in f64 probe 0 a = exp 1 r = mul v, a out res 0 0 r out res 1 0 a");
    ck_assert_int_eq(p.n, 0);
    ck_assert_str_eq(p.setup, "");
}
END_TEST

START_TEST(static_value_in_a_dynamic_arm_is_hoisted)
{
    parts p =
        split(PV "c = flt v, 1 if c a = exp p x = mul a, v else end r = phi x, v out res 0 0 r");
    ck_assert_int_eq(p.n, 1);
    ck_assert_str_eq(p.setup, "  v0 = in f64 param 0\n  v1 = exp v0\n  out cache 0 0 v1\n");
    ck_assert_ptr_nonnull(strstr(p.eval, "if v"));
    ck_assert_ptr_null(strstr(p.eval, "exp"));
}
END_TEST

START_TEST(static_branch_stays_in_setup_and_its_value_is_cached)
{
    parts p = split(
        PV
        "c = flt p, 1 if c a = exp p else e = sin p end q = phi a, e r = mul q, v out res 0 0 r");
    ck_assert_int_eq(p.n, 1);
    ck_assert_ptr_nonnull(strstr(p.setup, "if v"));
    ck_assert_str_eq(p.eval, "  v0 = in f64 cache 0\n  v1 = in f64 probe 0\n  v2 = mul v1, v0\n"
                             "  out res 0 0 v2\n");
}
END_TEST

START_TEST(static_branch_with_dynamic_values_loads_its_condition)
{
    parts p = split(PV "c = flt p, 1 if c a = exp v else e = sin v end q = phi a, e out res 0 0 q");
    ck_assert_int_eq(p.n, 1);
    ck_assert_ptr_nonnull(strstr(p.eval, "in bool cache 0"));
    ck_assert_ptr_nonnull(strstr(p.eval, "if v0"));
}
END_TEST

START_TEST(entry_of_an_arm_not_taken_is_not_computed)
{
    ir_fn f = fn_of(PV
                    "c = flt p, 1 if c a = exp p x = mul a, v else end q = phi x, v out res 0 0 q"),
          s, e;
    ck_assert_int_eq(ir_split(&s, &e, &f), 2);
    values v = {.f = {2}};
    uint8_t *ran;
    run_fn_ran(&s, value_of_input, &v, &ran);
    ck_assert_int_eq(ran[0] + ran[1], 1); /* the condition */
    v.f[0] = 0;
    run_fn_ran(&s, value_of_input, &v, &ran);
    ck_assert_int_eq(ran[0] + ran[1], 2);
    ir_fn_fini(&f);
    ir_fn_fini(&s);
    ir_fn_fini(&e);
}
END_TEST

START_TEST(equal_entries_of_two_arms_are_one)
{
    parts p = split(PV "c = flt v, 1 if c a = exp p x = mul a, v else e = exp p y = add e, v end r "
                       "= phi x, y out res 0 0 r");
    ck_assert_int_eq(p.n, 1);
}
END_TEST

START_TEST(negation_of_an_entry_is_done_again)
{
    parts p =
        split(PV "a = exp p c = neg a x = mul a, v y = atan2 v, c r = add x, y out res 0 0 r");
    ck_assert_int_eq(p.n, 1);
    ck_assert_ptr_nonnull(strstr(p.eval, "neg"));
    p = split(PV "a = exp p c = neg a y = atan2 v, c out res 0 0 y");
    ck_assert_int_eq(p.n, 1);
    ck_assert_ptr_null(strstr(p.eval, "neg"));
}
END_TEST

START_TEST(static_counter_of_a_loop_in_eval_is_computed_there)
{
    parts p = split("fn f n = in i32 param 0 v = in f64 probe 0 z = const i32 0 m = iadd n, 1 "
                    "loop i = lphi z, j x = lphi v, y c = ilt i, m while c "
                    "j = iadd i, 1 y = sin x endloop k = i2f i r = mul x, k out res 0 0 r");
    ck_assert_int_eq(p.n, 2); /* m, and k behind the loop */
    ck_assert_ptr_nonnull(strstr(p.eval, "loop"));
    ck_assert_ptr_nonnull(strstr(p.setup, "loop"));
    ck_assert_ptr_null(strstr(p.setup, "sin"));
}
END_TEST

START_TEST(effects_run_on_their_side_only)
{
    parts p = split(PV "effect info 1 \"p\", p effect info 2 \"v\", v c = flt v, p if c effect "
                       "info 3 \"c\", p else end out res 0 0 v");
    ck_assert(strstr(p.setup, "info 1") && !strstr(p.eval, "info 1"));
    ck_assert(!strstr(p.setup, "info 2") && strstr(p.eval, "info 2"));
    ck_assert(!strstr(p.setup, "info 3") && strstr(p.eval, "info 3"));
}
END_TEST

START_TEST(static_decisions_are_outputs_of_setup)
{
    parts p = split(PV "c = flt p, 1 d = flt v, 1 out collapse 0 0 c out ispot 1 0 d out G 0 0 p");
    ck_assert_int_eq(p.n, 1);
    ck_assert(strstr(p.setup, "out collapse 0 0") && !strstr(p.eval, "collapse"));
    ck_assert(!strstr(p.setup, "ispot") && strstr(p.eval, "out ispot 1 0"));
    ck_assert_ptr_nonnull(strstr(p.eval, "out G 0 0"));
}
END_TEST

int main(void)
{
    const TTest *const test[] = {static_values_go_to_setup_once,
                                 constants_are_not_cached,
                                 static_value_in_a_dynamic_arm_is_hoisted,
                                 static_branch_stays_in_setup_and_its_value_is_cached,
                                 static_branch_with_dynamic_values_loads_its_condition,
                                 entry_of_an_arm_not_taken_is_not_computed,
                                 equal_entries_of_two_arms_are_one,
                                 negation_of_an_entry_is_done_again,
                                 static_counter_of_a_loop_in_eval_is_computed_there,
                                 effects_run_on_their_side_only,
                                 static_decisions_are_outputs_of_setup};
    return run_tests("ir/split", test, VS_COUNT(test));
}
