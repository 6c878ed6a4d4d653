/* Statements: regions and their phis, loops, functions, arrays. */
#include "va_check.h"

START_TEST(if_joins_what_either_arm_assigns)
{
    static const char s[] =
        "k = V(a) > 0.4; x = 1; w = 10;"
        "if (k) x = 2; else begin x = 3; w = 4; end if (!k) ; else w = w + 1; y = x + 100 * w;";
    ck_assert_double_eq(value_of("integer k; real x, w;", s), 2 + 1100);
    ck_assert_double_eq(
        value_of("real x;", "if (V(a) > 1) x = 1; else if (V(a) > 0.3) x = 2; else x = 3; y = x;"),
        2);
}
END_TEST

START_TEST(both_arms_may_assign_the_same_value)
{
    ck_assert_double_eq(
        value_of("real x, w;", "x = V(a) + 1; w = 7; if (V(a) > 0.4) w = x; else w = x; y = w;"),
        1.5);
    ck_assert_double_eq(value_of("real x, w;", "x = V(a) + 1; w = 7; if (V(a) > 1) w = x; y = w;"),
                        7);
}
END_TEST

START_TEST(case_takes_the_first_match_or_default)
{
    static const char c[] = "case (k) 1, 2: y = 10; default: y = 99; 3: y = 30; 2: y = 7; endcase";
    static const double want[] = {99, 10, 10, 30, 99};
    for (int k = 0; k < 5; k++) {
        char s[300];
        snprintf(s, sizeof s, "k = %d + (V(a) > 0); k = k - 1; %s", k, c);
        ck_assert_double_eq(value_of("integer k;", s), want[k]);
        snprintf(s, sizeof s, "k = %d; %s", k, c);
        ck_assert_double_eq(value_of("integer k;", s), want[k]);
    }
    ck_assert_double_eq(
        value_of("parameter string t = \"b\";", "case (t) \"a\": y = 1; \"b\": y = 2; endcase"), 2);
    ck_assert_double_eq(value_of("", "y = 0; case (V(a)) 0.5: y = 1; endcase"), 1);
}
END_TEST

START_TEST(loops_run_until_their_condition_fails)
{
    ck_assert_double_eq(value_of("integer k, n; parameter integer p = 10;",
                                 "n = p; y = 0; for (k = 1; k <= n; k = k + 1) y = y + k;"),
                        55);
    ck_assert_double_eq(
        value_of("integer k;", "k = 5; y = 1; while (k > 1) begin y = y * k; k = k - 1; end"), 120);
    ck_assert_double_eq(
        value_of("integer n; parameter integer p = 3;", "y = 1; repeat (p) y = y * 2;"), 8);
    ck_assert_double_eq(value_of("", "y = 1; repeat (0) y = y * 2;"), 1);
    ck_assert_double_eq(value_of("integer k, j;",
                                 "y = 0; for (k = 0; k < 4; k = k + 1)"
                                 " for (j = 0; j < k; j = j + 1) if (j != 1) y = y + 10 * k + j;"),
                        10 + 20 + 30 + 32);
    ck_assert_double_eq(
        value_of("real x, e;",
                 "x = 1; e = 1; while (e > 1e-12) begin e = abs(x - 0.5 * (x + 2 / x));"
                 " x = 0.5 * (x + 2 / x); end y = abs(x * x - 2) < 1e-14;"),
        1);
    ck_assert_double_eq(value_of("integer k;", "y = 7; for (k = 0; V(a) > 1; k = k + 1) y = k;"),
                        7);
}
END_TEST

START_TEST(functions_are_inlined_with_their_arguments)
{
    static const char f[] =
        "analog function real sq; input x; real x; sq = x * x; endfunction\n"
        "analog function real swap; inout p, q; output s; real p, q, s, t; begin t = p; p = q; q = "
        "t; s = p + q;"
        " swap = p - q; end endfunction\n"
        "analog function integer half; input n; integer n; half = n / 2; endfunction\n"
        "analog function real poly; input x; real x; integer k; begin poly = 0; for (k = 0; k < 3; "
        "k = k + 1)"
        " poly = poly * x + sq(k); end endfunction\n real u, v, w;";
    ck_assert_double_eq(value_of(f, "y = sq(3) + sq(sq(2));"), 25);
    ck_assert_double_eq(
        value_of(f, "u = 3; v = 5; y = swap(u, v, w) + 10 * u + 100 * v + 1000 * w;"),
        2 + 50 + 300 + 8000);
    ck_assert_double_eq(value_of(f, "y = half(7) + half(4.6);"), 5);
    ck_assert_double_eq(value_of(f, "y = poly(2);"), (0 * 2 + 1) * 2 + 4);
    ck_assert_double_eq(value_of(f, "u = 1; if (V(a) > 0) u = sq(V(a)); else v = sq(2); w = 0;"
                                    " if (u > 0.2) begin w = sq(4); end y = u + w;"),
                        16.25);
    ck_assert_double_eq(
        value_of("analog function real g(input real x, output real z); begin z = 2 * x; g = x; end"
                 " endfunction real z;",
                 "y = g(4, z) + z;"),
        12);
}
END_TEST

START_TEST(array_arguments_and_array_assignment)
{
    static const char f[] =
        "analog function real sum; input v; real v[0:2]; integer k; begin sum = 0;"
        " for (k = 0; k < 3; k = k + 1) sum = sum + v[k]; end endfunction\n real p[0:2], q[0:2];";
    ck_assert_double_eq(value_of(f, "p = '{1, 2, 4}; q = p; q[1] = 10; y = sum(p) + 100 * sum(q);"),
                        7 + 1500);
}
END_TEST

START_TEST(arrays_take_constant_and_computed_indices)
{
    static const char d[] = "real v[3:0]; integer k, n; parameter integer p = 2; localparam "
                            "integer N = 4; real u[0:N-1];";
    ck_assert_double_eq(
        value_of(d, "for (k = 0; k <= 3; k = k + 1) v[k] = k * k; y = v[3] + v[p] * 10;"), 9 + 40);
    ck_assert_double_eq(
        value_of(
            d, "for (k = 0; k <= 3; k = k + 1) v[k] = 1; n = p; v[n] = 5; y = v[0] + v[1] + v[2];"),
        7);
    ck_assert_double_eq(
        value_of(d, "n = p + 2; for (k = 0; k < n; k = k + 1) u[k] = k; y = u[3] + u[n - 2];"), 5);
}
END_TEST

START_TEST(blocks_have_their_own_names)
{
    ck_assert_double_eq(
        value_of("real x;",
                 "x = 1; begin : one real x; x = 5; begin : two integer x; x = 2.6; y = x; end"
                 " y = y + x; end y = y + 10 * x;"),
        18);
}
END_TEST

START_TEST(declarations_may_have_values)
{
    ck_assert_double_eq(value_of("real x = 3; integer v[0:1] = '{4, 5};", "y = x + v[1];"), 8);
}
END_TEST

START_TEST(messages_are_effects_with_a_format)
{
    bench b = bench_new("module m(a); inout a; electrical a; real x; analog begin x = V(a);\n"
                        " $strobe(\"x=%g\", x, \" twice \", 2 * x, x);\n"
                        " if (x > 1) $warning(\"big\"); else $display(\"small %d\", 3);\n"
                        " @(final_step) $strobe(\"end\");\n @(initial_step) $write(\"go\"); I(a) "
                        "<+ x; end endmodule");
    bench_x(&b, "a", 0.5);
    bench_run(&b);
    ck_assert_str_eq(b.effect, "x=%g twice %g%g|small %d|");
    ck_assert_int_eq(b.n_effect, 2);
    b.n_effect = 0;
    b.effect[0] = 0;
    b.dyn[IR_DYN_INITIAL_STEP] = 1;
    bench_run(&b);
    ck_assert_int_eq(b.n_effect, 3);
    ck_assert_int_eq(b.m->eval.eff[0].where, 3);
    bench_free(&b);
}
END_TEST

START_TEST(bound_step_is_the_least_one_asked_for)
{
    bench b = bench_new("module m(a); inout a; electrical a; analog begin $bound_step(1e-3);"
                        " if (V(a) > 1) $bound_step(1e-6); I(a) <+ V(a); end endmodule");
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_BOUND_STEP, 0), 1e-3);
    bench_x(&b, "a", 2);
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_BOUND_STEP, 0), 1e-6);
    bench_free(&b);
}
END_TEST

RUN_SUITE("va/stmt", if_joins_what_either_arm_assigns, both_arms_may_assign_the_same_value,
          case_takes_the_first_match_or_default, loops_run_until_their_condition_fails,
          functions_are_inlined_with_their_arguments, array_arguments_and_array_assignment,
          arrays_take_constant_and_computed_indices, blocks_have_their_own_names,
          declarations_may_have_values, messages_are_effects_with_a_format,
          bound_step_is_the_least_one_asked_for)
