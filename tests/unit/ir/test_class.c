/* Tests of ir_class.c. */
#include "ir_test.h"

/* Class of the value of output 0. */
static int class_of(const char *text)
{
    ir_fn f = fn_of(text);
    uint8_t *cls = arena_array(&test_mem, uint8_t, vec_len(f.inst));
    ir_classes(&f, cls);
    int c = cls[f.out[0].v];
    ir_fn_fini(&f);
    return c;
}

START_TEST(class_is_the_union_of_what_was_used)
{
    ck_assert_int_eq(class_of("fn f x = sin 1 out res 0 0 x"), IR_CLASS_CONST);
    ck_assert_int_eq(
        class_of("fn f p = in f64 param 0 t = in f64 temp 0 x = mul p, t out res 0 0 x"),
        IR_CLASS_MODEL | IR_CLASS_TEMP);
    ck_assert_int_eq(class_of("fn f p = in f64 param 0 inst x = neg p out res 0 0 x"),
                     IR_CLASS_INST);
    ck_assert_int_eq(class_of("fn f p = in f64 abstime 0 out res 0 0 p"), IR_CLASS_TIME);
    ck_assert_int_eq(class_of("fn f p = in f64 state 0 out res 0 0 p"), IR_CLASS_X);
}
END_TEST

START_TEST(phi_takes_in_its_condition)
{
    ck_assert_int_eq(class_of("fn f p = in f64 param 0 v = in f64 probe 0 c = flt v, 1 "
                              "if c a = neg p else end r = phi a, p out res 0 0 r"),
                     IR_CLASS_MODEL | IR_CLASS_X);
}
END_TEST

START_TEST(value_in_an_arm_does_not)
{
    ck_assert_int_eq(class_of("fn f p = in f64 param 0 v = in f64 probe 0 c = flt v, 1 "
                              "if c a = neg p else end out cache 0 0 a"),
                     IR_CLASS_MODEL);
}
END_TEST

START_TEST(lphi_takes_in_next_values_and_the_condition)
{
    ck_assert_int_eq(class_of("fn f p = in f64 param 0 v = in f64 probe 0 t = in f64 temp 0 "
                              "loop a = lphi p, b b = lphi p, c q = flt t, 1 while q c = add a, v "
                              "endloop out res 0 0 a"),
                     IR_CLASS_MODEL | IR_CLASS_TEMP | IR_CLASS_X);
    ck_assert_int_eq(
        class_of("fn f p = in f64 param 0 v = in f64 probe 0 "
                 "loop a = lphi p, b q = flt v, 1 while q b = add a, 1 endloop out res 0 0 a"),
        IR_CLASS_MODEL | IR_CLASS_X);
}
END_TEST

START_TEST(effect_takes_in_what_encloses_it)
{
    ir_fn f = fn_of("fn f p = in f64 param 0 v = in f64 probe 0 c = flt v, 1 t = in bool given 0 "
                    "effect info 1 null loop effect info 2 null while c endloop "
                    "if t effect info 3 null, p else end effect info 4 null, v");
    uint8_t *cls = arena_array(&test_mem, uint8_t, vec_len(f.inst)),
            want[] = {0, IR_CLASS_X, IR_CLASS_MODEL, IR_CLASS_X};
    ir_classes(&f, cls);
    for (size_t i = 0; i < vec_len(f.inst); i++)
        if (f.inst[i].op == IR_EFFECT)
            ck_assert_int_eq(cls[i], want[f.inst[i].a]);
    ir_fn_fini(&f);
}
END_TEST

/* Whether a mark on the first input reaches output 0. */
static bool reaches(const char *text)
{
    ir_fn f = fn_of(text);
    uint8_t *mark = arena_array(&test_mem, uint8_t, vec_len(f.inst));
    for (size_t i = 0; i < vec_len(f.inst); i++)
        mark[i] = f.inst[i].op == IR_IN && f.inst[i].a == 0;
    ir_spread(&f, mark);
    const bool there = mark[f.out[0].v];
    ir_fn_fini(&f);
    return there;
}

START_TEST(marks_go_on_to_what_values_decide)
{
    ck_assert(reaches("fn f v = in f64 probe 0 p = in f64 param 0 x = mul p, v out res 0 0 x"));
    ck_assert(!reaches("fn f v = in f64 probe 0 p = in f64 param 0 x = neg p out res 0 0 x"));
    ck_assert(reaches("fn f v = in f64 probe 0 p = in f64 param 0 c = flt v, 1 "
                      "if c a = neg p else end r = phi a, p out res 0 0 r"));
    ck_assert(!reaches("fn f v = in f64 probe 0 p = in f64 param 0 c = flt v, 1 "
                       "if c a = neg p else end out cache 0 0 a"));
    ck_assert(reaches("fn f v = in f64 probe 0 p = in f64 param 0 loop a = lphi p, b b = lphi p, c "
                      "q = flt p, 1 while q c = add a, v endloop out res 0 0 a"));
    ck_assert(reaches("fn f v = in f64 probe 0 p = in f64 param 0 "
                      "loop a = lphi p, b q = flt v, 1 while q b = add a, 1 endloop "
                      "out res 0 0 a"));
}
END_TEST

int main(void)
{
    const TTest *const test[] = {class_is_the_union_of_what_was_used,
                                 phi_takes_in_its_condition,
                                 value_in_an_arm_does_not,
                                 lphi_takes_in_next_values_and_the_condition,
                                 effect_takes_in_what_encloses_it,
                                 marks_go_on_to_what_values_decide};
    return run_tests("ir/class", test, VS_COUNT(test));
}
