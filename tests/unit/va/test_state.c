/* Hidden state: variables that remember, and those that only look as if they did. */
#include "va_check.h"

#define MOD(body) "module m(a, b); inout a, b; electrical a, b; " body " endmodule"

static int states_of(const char *body)
{
    char text[2000];
    snprintf(text, sizeof text, MOD("%s"), body);
    bench b = bench_new(text);
    int n = b.m->n_state;
    bench_free(&b);
    return n;
}

START_TEST(assigned_before_use_is_no_state)
{
    ck_assert_int_eq(states_of("real x; analog begin x = V(a); I(a) <+ x; end"), 0);
    ck_assert_int_eq(
        states_of("real x; analog begin if (V(a) > 0) x = 1; else x = 2; I(a) <+ x; end"), 0);
    ck_assert_int_eq(
        states_of("real x; analog begin : blk real y; y = V(a); x = y; I(a) <+ x; end"), 0);
    ck_assert_int_eq(
        states_of("real x[0:3]; integer i; analog begin for (i = 0; i < 4; i = i + 1) x[i] = V(a);"
                  " I(a) <+ x[2]; end"),
        0);
}
END_TEST

START_TEST(same_static_condition_guards_assignment_and_use)
{
    ck_assert_int_eq(states_of("parameter integer s = 0; real x; analog begin if (s) x = V(a);"
                               " if (s) I(a) <+ x; I(b) <+ 1; end"),
                     0);
    ck_assert_int_eq(
        states_of("parameter integer s = 0, t = 0; real x; analog begin if (s && t) x = V(a);"
                  " if (s) if (t) I(a) <+ x; end"),
        0);
    ck_assert_int_eq(
        states_of(
            "parameter integer s = 0; real x; analog begin if (s > 0) x = V(a); I(a) <+ x; end"),
        0);
    ck_assert_int_eq(
        states_of(
            "parameter integer s = 0; real x; analog begin if (s) x = V(a); else if (s > 3) x = 1;"
            " I(a) <+ x * x; end"),
        0);
}
END_TEST

START_TEST(untouched_variable_reads_its_initial_value)
{
    bench b =
        bench_new(MOD("parameter integer s = 0; real x = 7; real z; analog begin if (s) x = V(a);"
                      " I(a) <+ x; I(b) <+ z; end"));
    ck_assert_int_eq(b.m->n_state, 0);
    bench_x(&b, "a", 3);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 7);
    ck_assert_double_eq(res(&b, "b"), 0);
    bench_set(&b, "s", 1);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 3);
    bench_free(&b);
}
END_TEST

START_TEST(same_dynamic_condition_is_no_state)
{
    ck_assert_int_eq(
        states_of("real x; integer c; analog begin c = V(a) > 1; if (c) x = V(b); I(a) <+ 1;"
                  " if (c) I(b) <+ x; end"),
        0);
}
END_TEST

START_TEST(hysteresis_is_state)
{
    bench b = bench_new(
        MOD("real s; analog begin if (V(a) > 2) s = 1; else if (V(a) < 1) s = 0; V(b) <+ s; end"));
    ck_assert_int_eq(b.m->n_state, 1);
    static const double in[] = {0, 1.5, 3, 1.5, 0.5, 1.5}, want[] = {0, 0, 1, 1, 0, 0};
    for (size_t i = 0; i < VS_COUNT(in); i++) {
        bench_x(&b, "a", in[i]);
        bench_run(&b);
        ck_assert_double_eq(res(&b, "flow(b)"), -want[i]);
        bench_accept(&b);
    }
    bench_free(&b);
}
END_TEST

START_TEST(counter_is_state_with_its_first_value)
{
    bench b = bench_new(
        MOD("integer n; real m = 5; analog begin @(initial_step) n = 10; n = n + 1; m = m + 1;"
            " I(a) <+ n; I(b) <+ m; end"));
    for (int i = 1; i < 4; i++) {
        b.dyn[IR_DYN_INITIAL_STEP] = i == 1;
        bench_run(&b);
        ck_assert_double_eq(res(&b, "a"), 10 + i);
        ck_assert_double_eq(res(&b, "b"), 5 + i);
        bench_accept(&b);
    }
    bench_free(&b);
}
END_TEST

START_TEST(last_value_of_a_voltage_is_state)
{
    bench b = bench_new(MOD("real x; analog begin I(b) <+ x; x = V(a); I(a) <+ x; end"));
    ck_assert_int_eq(b.m->n_state, 1);
    bench_x(&b, "a", 3);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "b"), 0);
    bench_accept(&b);
    bench_x(&b, "a", 4);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "b"), 3);
    bench_free(&b);
}
END_TEST

START_TEST(setup_under_initial_step_stays_static)
{
    bench b = bench_new(MOD("parameter real p = 2; real g, t; analog begin @(initial_step) begin t "
                            "= p * p; g = 1 / t; end"
                            " t = V(a); I(a) <+ g * t; end"));
    ck_assert_int_eq(b.m->n_state, 0);
    bench_x(&b, "a", 8);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 2);
    bench_free(&b);
}
END_TEST

START_TEST(analog_initial_gives_first_values)
{
    bench b = bench_new(
        MOD("parameter real p = 2; real g; integer n; analog initial begin g = 3 * p; n = 4; end"
            " analog begin n = n + 1; I(a) <+ g; I(b) <+ n; end"));
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 6);
    ck_assert_double_eq(res(&b, "b"), 5);
    bench_accept(&b);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "b"), 6);
    bench_free(&b);
}
END_TEST

START_TEST(static_values_keep_their_class)
{
    bench b = bench_new(
        MOD("parameter integer s = 1; parameter real p = 2; real g; analog begin if (s) g = exp(p);"
            " if (s) I(a) <+ g * V(a); end"));
    const ir_fn *fn = &b.m->eval;
    uint8_t *cls = vs_calloc(vec_len(fn->inst), 1);
    ir_classes(fn, cls);
    int n = 0;
    for (size_t i = 0; i < vec_len(fn->inst); i++)
        if (fn->inst[i].op == IR_EXP) {
            ck_assert(ir_class_static(cls[i]));
            n++;
        }
    ck_assert_int_eq(n, 1);
    vs_free(cls);
    bench_free(&b);
}
END_TEST

RUN_SUITE("va/state", assigned_before_use_is_no_state,
          same_static_condition_guards_assignment_and_use,
          untouched_variable_reads_its_initial_value, same_dynamic_condition_is_no_state,
          hysteresis_is_state, counter_is_state_with_its_first_value,
          last_value_of_a_voltage_is_state, setup_under_initial_step_stays_static,
          analog_initial_gives_first_values, static_values_keep_their_class)
