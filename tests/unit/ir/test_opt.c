/* Tests of ir_opt.c: text in, text out. */
#include "ir_test.h"

/* The optimised body: values, markers and outputs on one line each, without the first line. */
static const char *opt_flags(const char *text, ir_opt_flags flags)
{
    ir_fn f = fn_of(text), g;
    ir_opt(&g, &f, flags);
    check_valid(&g);
    const char *s = text_of(&g);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
    return strchr(s, '\n') + 1;
}
static const char *opt(const char *text) { return opt_flags(text, (ir_opt_flags){0}); }

/* opt of "x, y probes; b, d BOOL inputs; m, n I32 inputs; `code`; out r" gives `want`. */
#define INPUTS                                                                            \
    "fn f x = in f64 probe 0 y = in f64 probe 1 b = in bool given 0 d = in bool given 1 " \
    "m = in i32 param 0 n = in i32 param 1 "
static void expect_same_as(const char *code, const char *simple, ir_opt_flags flags)
{
    const char *a = opt_flags(arena_printf(&test_mem, "%s %s out res 0 0 r", INPUTS, code), flags);
    const char *c = opt_flags(arena_printf(&test_mem, "%s %s out res 0 0 r", INPUTS, simple),
                              (ir_opt_flags){0});
    ck_assert_msg(!strcmp(a, c), "%s\n%s is not\n%s", code, a, c);
}

START_TEST(identities_that_are_exact_are_applied)
{
    static const struct {
        const char *code, *simple;
    } t[] = {
        {"r = mul x, 1", "r = max x, x"}, /* max x, x stands for x */
        {"r = mul 1, x", "r = max x, x"},
        {"r = div x, 1", "r = max x, x"},
        {"r = add x, -0.0", "r = max x, x"},
        {"r = sub x, 0.0", "r = max x, x"},
        {"a = neg x r = neg a", "r = max x, x"},
        {"r = pow x, 1", "r = max x, x"},
        {"r = pow x, 0", "r = const f64 1"},
        {"r = mul x, -1", "r = neg x"},
        {"r = div x, 4", "r = mul x, 0.25"},
        {"r = sub -0.0, x", "r = neg x"},
        {"a = neg y r = add x, a", "r = sub x, y"},
        {"a = neg y r = sub x, a", "r = add x, y"},
        {"a = neg x c = neg y r = mul a, c", "r = mul x, y"},
        {"a = neg x r = mul a, 3", "r = mul x, -3"},
        {"a = neg x r = abs a", "r = abs x"},
        {"r = add y, x", "r = add x, y"},
        {"a = exp 1 r = mul x, a", "r = mul x, 2.718281828459045"},
        {"r = band b, true", "r = band b, b"},
        {"r = bor b, true", "r = const bool true"},
        {"a = bnot b r = band a, b", "r = const bool false"},
        {"r = select b, true, false", "r = band b, b"},
        {"r = select b, false, true", "r = bnot b"},
        {"r = select b, d, false", "r = band b, d"},
        {"r = select b, true, d", "r = bor b, d"},
        {"a = bnot b r = select a, x, y", "r = select b, y, x"},
        {"a = select b, x, y r = select b, a, 1.0", "r = select b, x, 1.0"},
        {"a = b2i b r = ine a, 0", "r = band b, b"},
        {"a = b2i b r = ieq a, 0", "r = bnot b"},
        {"a = b2i b c = b2i d e = iand a, c r = ine e, 0", "r = band b, d"},
        {"a = select b, 3, 4 r = ieq a, 4", "r = bnot b"},
        {"a = i2f m r = feq a, 2", "r = ieq m, 2"},
        {"a = i2f m r = f2i a", "r = iadd m, 0"},
        {"r = ilt m, m", "r = const bool false"},
        {"r = imul m, 0", "r = const i32 0"},
        {"r = isub m, m", "r = const i32 0"},
        {"a = select b, 1, 0 r = i2f a", "r = select b, 1.0, 0.0"},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++)
        expect_same_as(t[k].code, t[k].simple, (ir_opt_flags){0});
}
END_TEST

START_TEST(identities_that_are_not_exact_are_left)
{
    static const char *const code[] = {
        "r = mul x, 0", "r = add x, 0.0", "r = sub x, x", "r = div x, x",          "r = div x, 3",
        "r = feq x, x", "r = sub 0.0, x", "r = fle x, x", "a = sub x, y r = neg a"};
    for (size_t k = 0; k < VS_COUNT(code); k++) {
        ir_fn f = fn_of(arena_printf(&test_mem, "%s %s out res 0 0 r", INPUTS, code[k])), g;
        ir_opt(&g, &f, (ir_opt_flags){0});
        ir_inst last = g.inst[g.out[0].v];
        ck_assert_int_eq(last.op, f.inst[f.out[0].v].op);
        ir_fn_fini(&f);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(fold_zero_drops_what_a_zero_switches_off)
{
    ir_opt_flags zero = {.fold_zero = true};
    expect_same_as("r = mul x, 0", "r = const f64 0", zero);
    expect_same_as("a = exp x r = div 0, a", "r = const f64 0", zero);
    expect_same_as("a = mul x, 0 r = add y, a", "r = max y, y", zero);
    expect_same_as("a = mul 0, x r = sub a, y", "r = neg y", zero);
    expect_same_as("a = sub x, y r = neg a", "r = sub y, x", zero);
}
END_TEST

START_TEST(equal_values_are_computed_once)
{
    ck_assert_str_eq(opt("fn f x = in f64 probe 0 x2 = in f64 probe 0 a = mul x, 2 c = mul 2, x2 r "
                         "= add a, c out res 0 0 r"),
                     "  v0 = in f64 probe 0\n"
                     "  v1 = const f64 2.0\n"
                     "  v2 = mul v0, v1\n"
                     "  v3 = add v2, v2\n"
                     "  out res 0 0 v3\n");
}
END_TEST

START_TEST(value_of_a_closed_region_is_not_reused)
{
    ir_fn
        f = fn_of(
            INPUTS
            "if b a = exp x c = sin a else end p = phi c, x e = exp x r = add p, e out res 0 0 r"),
        g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    check_valid(&g);
    ck_assert_int_eq(count_op(&g, IR_EXP), 2);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(value_of_an_open_region_is_reused)
{
    ir_fn
        f = fn_of(
            INPUTS
            "e = exp x if b a = exp x c = sin a else end p = phi c, x r = add p, e out res 0 0 r"),
        g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    check_valid(&g);
    ck_assert_int_eq(count_op(&g, IR_EXP), 1);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(what_nothing_needs_goes)
{
    ck_assert_str_eq(
        opt(INPUTS "a = exp x if b c = exp y else end p = phi c, y "
                   "z = const i32 0 loop i = lphi z, j t = ilt i, m while t j = iadd i, 1 endloop "
                   "out res 0 0 x"),
        "  v0 = in f64 probe 0\n  out res 0 0 v0\n");
}
END_TEST

START_TEST(branch_around_an_effect_stays)
{
    ck_assert_str_eq(opt(INPUTS "a = exp x if b if d effect strobe 1 null, a else end else end"),
                     "  v0 = in f64 probe 0\n  v1 = in bool given 0\n  v2 = in bool given 1\n"
                     "  v3 = exp v0\n  if v1\n    if v2\n      effect strobe 1 null, v3\n"
                     "    else\n    end\n  else\n  end\n");
}
END_TEST

START_TEST(branch_on_a_constant_becomes_straight)
{
    ck_assert_str_eq(
        opt(INPUTS "c = flt 1, 2 if c a = exp x else e = sin x end r = phi a, e out res 0 0 r"),
        "  v0 = in f64 probe 0\n  v1 = exp v0\n  out res 0 0 v1\n");
}
END_TEST

START_TEST(branch_with_empty_arms_becomes_selects)
{
    ck_assert_str_eq(
        opt(INPUTS "if b else end r = phi x, y s = phi y, x out res 0 0 r out res 1 0 s"),
        "  v0 = in f64 probe 0\n  v1 = in f64 probe 1\n  v2 = in bool given 0\n"
        "  v3 = select v2, v0, v1\n  v4 = select v2, v1, v0\n"
        "  out res 0 0 v3\n  out res 1 0 v4\n");
}
END_TEST

START_TEST(known_condition_decides_inside_its_arms)
{
    ck_assert_str_eq(opt(INPUTS "if b if b a = exp x else c = sin x end p = phi a, c "
                                "else s = select b, x, y e = exp s end r = phi p, e out res 0 0 r"),
                     "  v0 = in f64 probe 0\n  v1 = in f64 probe 1\n  v2 = in bool given 0\n"
                     "  if v2\n    v4 = exp v0\n  else\n    v6 = exp v1\n  end\n"
                     "  v8 = phi v4, v6\n  out res 0 0 v8\n");
}
END_TEST

/* In the arm named first, `cond` is what the text after it says. */
START_TEST(what_a_condition_implies_is_known)
{
    static const struct {
        const char *outer, *inner;
        bool in_then, value;
    } t[] = {
        {"c = bnot b", "q = bnot c", true, false},
        {"c = band b, d", "q = band d, true", true, true},
        {"c = bor b, d", "q = bor b, false", false, false},
        {"c = flt x, y", "q = flt y, x", true, false},
        {"c = flt x, y", "q = fle x, y", true, true},
        {"c = fle x, y", "q = flt y, x", true, false},
        {"c = ilt m, n", "q = ile n, m", true, false},
        {"c = ilt m, n", "q = ile n, m", false, true},
        {"c = ieq m, n", "q = ine m, n", false, true},
        {"c = fne x, y", "q = feq x, y", true, false},
        {"c = ieq m, 3", "q = ilt m, 4", true, true},
        {"c = feq x, 2", "q = flt x, 3", true, true},
        {"c = ine m, 3", "q = ilt m, 4", false, true},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        const char *arm = arena_printf(
            &test_mem, "%s if q a = exp y else e = sin y end p = phi a, e", t[k].inner);
        ir_fn f = fn_of(arena_printf(&test_mem,
                                     "%s %s if c %s else %s end r = phi %s out res 0 0 r", INPUTS,
                                     t[k].outer, t[k].in_then ? arm : "", t[k].in_then ? "" : arm,
                                     t[k].in_then ? "p, x" : "x, p")),
              g;
        ir_opt(&g, &f, (ir_opt_flags){0});
        check_valid(&g);
        ck_assert_msg(count_op(&g, IR_EXP) == t[k].value && count_op(&g, IR_SIN) == !t[k].value,
                      "%s, %s:\n%s", t[k].outer, t[k].inner, text_of(&g));
        ir_fn_fini(&f);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(nothing_follows_from_a_false_comparison_of_floats)
{
    ir_fn f = fn_of(INPUTS "c = flt x, y if c else q = fle y, x if q a = exp x else e = sin x end "
                           "p = phi a, e end "
                           "r = phi x, p out res 0 0 r"),
          g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    ck_assert_int_eq(count_op(&g, IR_IF), 2); /* with NaN both are false */
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(zero_is_not_put_in_for_a_value_equal_to_it)
{
    ir_fn f = fn_of(INPUTS "c = feq x, 0 if c a = div y, x else end r = phi a, y out res 0 0 r"), g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    values v = {.probe = {-0.0, -1}};
    ck_assert_double_eq(run_fn(&g, value_of_input, &v)[0], INFINITY);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(lphi_that_does_not_change_is_its_first_value)
{
    ck_assert_str_eq(opt(INPUTS
                         "z = const i32 0 loop i = lphi z, j k = lphi x, k t = ilt i, m while t "
                         "j = iadd i, 1 endloop r = exp k out res 0 0 r"),
                     "  v0 = in f64 probe 0\n  v1 = exp v0\n  out res 0 0 v1\n");
}
END_TEST

START_TEST(limits_of_different_places_stay_apart)
{
    ir_fn f = fn_of(INPUTS "a = limit x, 0 c = limit x, 1 e = limit x, 0 r = add a, c s = add e, c "
                           "out res 0 0 r out res 1 0 s"),
          g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    ck_assert_int_eq(count_op(&g, IR_LIMIT), 2);
    ck_assert_int_eq(count_op(&g, IR_ADD), 1);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(unused_inputs_are_dropped_in_order)
{
    ir_fn f = fn_of(INPUTS "a = i2f n r = add y, a out res 0 0 r"), g;
    ir_opt(&g, &f, (ir_opt_flags){0});
    ck_assert_uint_eq(vec_len(g.in), 2);
    ck_assert(g.in[0].kind == IR_IN_PROBE && g.in[0].k == 1 && g.in[1].kind == IR_IN_PARAM);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(deep_nesting_is_no_problem)
{
    enum { DEPTH = 5000 };
    ir_fn f, g, h, s;
    ir_fn_init(&f, "deep");
    ir_val x = ir_in(&f, IR_IN_PROBE, 0, IR_F64, false), y[DEPTH], iff[DEPTH];
    for (int k = 0; k < DEPTH; k++) {
        ir_val c = ir_bin(&f, IR_FLT, x, ir_const(&f, k));
        y[k] = x;
        iff[k] = ir_if(&f, c);
        x = ir_un(&f, IR_EXP, x);
        ir_val p = ir_in(&f, IR_IN_PARAM, k, IR_F64, false);
        x = ir_bin(&f, IR_ADD, x, p);
    }
    for (int k = DEPTH - 1; k >= 0; k--) {
        ir_else(&f);
        ir_end(&f);
        x = ir_phi(&f, iff[k], x, y[k]);
    }
    ir_out_add(&f, IR_OUT_RES, 0, 0, x);
    check_valid(&f);
    ir_opt(&g, &f, (ir_opt_flags){0});
    check_valid(&g);
    ck_assert_int_eq(count_op(&g, IR_IF), DEPTH);
    int n_cache = ir_split(&s, &h, &f);
    ck_assert_int_eq(n_cache, DEPTH);
    check_valid(&h);
    ir_val deriv, *new_of = arena_array(&test_mem, ir_val, vec_len(f.inst));
    ir_fn d;
    ir_ad(&d, &f, (int32_t[]){0}, 1, &x, 1, &deriv, new_of);
    check_valid(&d);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
    ir_fn_fini(&h);
    ir_fn_fini(&s);
    ir_fn_fini(&d);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {identities_that_are_exact_are_applied,
                                 identities_that_are_not_exact_are_left,
                                 fold_zero_drops_what_a_zero_switches_off,
                                 equal_values_are_computed_once,
                                 value_of_a_closed_region_is_not_reused,
                                 value_of_an_open_region_is_reused,
                                 what_nothing_needs_goes,
                                 branch_around_an_effect_stays,
                                 branch_on_a_constant_becomes_straight,
                                 branch_with_empty_arms_becomes_selects,
                                 known_condition_decides_inside_its_arms,
                                 what_a_condition_implies_is_known,
                                 nothing_follows_from_a_false_comparison_of_floats,
                                 zero_is_not_put_in_for_a_value_equal_to_it,
                                 lphi_that_does_not_change_is_its_first_value,
                                 limits_of_different_places_stay_apart,
                                 unused_inputs_are_dropped_in_order,
                                 deep_nesting_is_no_problem};
    return run_tests("ir/opt", test, VS_COUNT(test));
}
