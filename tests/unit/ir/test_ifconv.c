/* Tests of ir_ifconv.c. */
#include "ir_test.h"

static ir_fn ifconv_of(const char *text, ir_ifconv_stats *st)
{
    ir_fn f = fn_of(text), g;
    ir_ifconv(&g, &f, st);
    check_valid(&g);
    ir_fn_fini(&f);
    return g;
}
#define INPUTS "fn f p = in f64 param 0 v = in f64 probe 0 w = in f64 probe 1 "

START_TEST(nested_branches_become_selects)
{
    ir_ifconv_stats st;
    ir_fn g = ifconv_of(
        INPUTS "c = flt v, 1 if c d = flt w, 2 if d x = exp v else x2 = exp w end y = phi x, x2 "
               "else z = sin v end r = phi y, z s = phi v, w out res 0 0 r out res 1 0 s",
        &st);
    ck_assert_int_eq(st.n_branch, 2);
    ck_assert_int_eq(st.n_left, 0);
    ck_assert_int_eq(st.n_select, 3);
    ck_assert_int_eq(count_op(&g, IR_IF) + count_op(&g, IR_PHI), 0);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(what_both_arms_compute_is_computed_once)
{
    ir_ifconv_stats st;
    ir_fn g =
        ifconv_of(INPUTS "c = flt v, 1 if c x = exp v a = add x, w else y = exp v b = sub y, w end "
                         "r = phi a, b out res 0 0 r",
                  &st);
    ck_assert_int_eq(count_op(&g, IR_EXP), 1);
    ir_fn_fini(&g);
}
END_TEST

/* The loop does not end for v >= 0, but its arm is not taken there. */
START_TEST(loop_in_an_arm_runs_only_where_the_arm_does)
{
    ir_ifconv_stats st;
    ir_fn g = ifconv_of(
        INPUTS
        "zero = const f64 0 c = flt v, zero if c loop a = lphi v, n d = fne a, zero while d "
        "e = add a, 1 n = min e, zero endloop else b = sub v, w end r = phi a, b out res 0 0 r",
        &st);
    ck_assert_int_eq(st.n_left, 0);
    ck_assert_int_eq(st.n_loop, 1);
    ck_assert_int_eq(count_op(&g, IR_BAND), 1);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(converted_function_computes_the_same_bits)
{
    int n_branch = 0, n_loop = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        ir_fn f = random_fn(seed + 700000, 5 + (int)(seed % 90), false), g;
        ir_ifconv_stats st;
        ir_ifconv(&g, &f, &st);
        check_valid(&g);
        n_branch += st.n_branch;
        n_loop += st.n_loop;
        ck_assert_int_eq(count_op(&g, IR_IF), 0);
        for (uint64_t j = 0; j < 6; j++) {
            values v = random_values(seed * 100 + j, false);
            double *a = run_fn(&f, value_of_input, &v), *b = run_fn(&g, value_of_input, &v);
            for (size_t k = 0; k < vec_len(f.out); k++)
                ck_assert_msg(f.out[k].kind == IR_OUT_CACHE || same_bits(a[k], b[k]),
                              "function %d, output %zu: %.17g is not %.17g\n%s\n%s", (int)seed, k,
                              b[k], a[k], text_of(&f), text_of(&g));
        }
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_branch, 1000);
    ck_assert_int_gt(n_loop, 300);
}
END_TEST

/* 1 if the function of ir_flag says that an effect happens at probe v, w. */
static double flag_at(const ir_fn *f, double v, double w)
{
    values in = {0};
    in.probe[0] = v;
    in.probe[1] = w;
    double *out = run_fn(f, value_of_input, &in);
    return out[0];
}

START_TEST(flag_is_set_where_an_effect_happens)
{
    ir_fn f = fn_of(INPUTS "c = flt 5, v d = flt 7, w if c effect warning 1 null else if d effect "
                           "warning 2 null, v else end end x = exp v out res 0 0 x"),
          g;
    ck_assert(ir_flag(&g, &f));
    check_valid(&g);
    ck_assert_int_eq(vec_len(g.out), 1);
    ck_assert_int_eq(count_op(&g, IR_EXP) + count_op(&g, IR_IF) + count_op(&g, IR_EFFECT), 0);
    ck_assert(flag_at(&g, 6, 0) == 1);
    ck_assert(flag_at(&g, 0, 8) == 1);
    ck_assert(flag_at(&g, 0, 0) == 0);
    ck_assert(flag_at(&g, 6, 8) == 1);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(effects_that_always_happen_or_stand_in_loops_have_no_flag)
{
    static const char *const text[] = {
        INPUTS "effect strobe 1 null, v out res 0 0 v",
        INPUTS "c = flt v, 1 if c effect warning 1 null else end effect strobe 2 null, v "
               "out res 0 0 v",
        INPUTS "out res 0 0 v",
    };
    for (size_t i = 0; i < VS_COUNT(text); i++) {
        ir_fn f = fn_of(text[i]), g;
        ck_assert(!ir_flag(&g, &f));
        ir_fn_fini(&f);
    }
}
END_TEST

int main(void)
{
    const TTest *const test[] = {nested_branches_become_selects,
                                 what_both_arms_compute_is_computed_once,
                                 loop_in_an_arm_runs_only_where_the_arm_does,
                                 converted_function_computes_the_same_bits,
                                 flag_is_set_where_an_effect_happens,
                                 effects_that_always_happen_or_stand_in_loops_have_no_flag};
    return run_tests("ir/ifconv", test, VS_COUNT(test));
}
