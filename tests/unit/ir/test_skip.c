/* Tests of ir_skip.c. */
#include "ir_test.h"

#define INPUTS "fn f p = in f64 param 0 v = in f64 probe 0 w = in f64 probe 1 "

static ir_fn skip_of(const char *text)
{
    ir_fn f = fn_of(text), g;
    ir_skip(&g, &f);
    check_valid(&g);
    ir_fn_fini(&f);
    return g;
}

/* Instructions of this kind within ifs. */
static int count_inside(const ir_fn *f, ir_op op)
{
    int depth = 0, n = 0;
    for (size_t k = 0; k < vec_len(f->inst); k++) {
        const ir_op o = f->inst[k].op;
        depth += (o == IR_IF) - (o == IR_END);
        n += depth > 0 && o == op;
    }
    return n;
}

START_TEST(function_that_one_arm_needs_gets_a_branch)
{
    static const char *const text[] = {
        INPUTS "c = flt v, w x = exp v y = add x, w r = select c, y, v out res 0 0 r",
        INPUTS "c = flt v, w x = exp v y = add x, w r = select c, v, y out res 0 0 r"};
    for (int inverted = 0; inverted < 2; inverted++) {
        ir_fn g = skip_of(text[inverted]);
        ck_assert_int_eq(count_op(&g, IR_IF), 1);
        ck_assert_int_eq(count_op(&g, IR_SELECT), 0);
        ck_assert_int_eq(count_inside(&g, IR_EXP), 1);
        ck_assert_int_eq(count_inside(&g, IR_ADD), 1);
        ck_assert_int_eq(count_op(&g, IR_BNOT), inverted);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(value_that_others_need_too_stays)
{
    static const char *const text[] = {
        INPUTS "c = flt v, w x = exp v r = select c, x, v out res 0 0 r out res 1 0 x",
        INPUTS "c = flt v, w x = exp v y = mul x, w r = select c, x, y out res 0 0 r",
        INPUTS "c = flt v, w x = exp v r = select c, x, v s = sub x, w t = add r, s out res 0 0 t",
        INPUTS "x = exp v c = flt x, w r = select c, x, v out res 0 0 r"};
    for (size_t i = 0; i < VS_COUNT(text); i++) {
        ir_fn g = skip_of(text[i]);
        ck_assert_int_eq(count_op(&g, IR_IF), 0);
        ck_assert_int_eq(count_op(&g, IR_SELECT), 1);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(short_arms_stay)
{
    ir_fn g = skip_of(INPUTS "c = flt v, w x = mul v, v r = select c, x, v out res 0 0 r");
    ck_assert_int_eq(count_op(&g, IR_IF), 0);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(selects_with_one_condition_share_a_branch)
{
    ir_fn g = skip_of(INPUTS "c = flt v, w x = exp v y = mul x, w r = select c, x, v "
                             "s = select c, y, w out res 0 0 r out res 1 0 s");
    ck_assert_int_eq(count_op(&g, IR_IF), 1);
    ck_assert_int_eq(count_op(&g, IR_PHI), 2);
    ck_assert_int_eq(count_inside(&g, IR_EXP), 1);
    ir_fn_fini(&g);
}
END_TEST

/* The sum of exp v and log w is needed where v < w, the logarithm of it where v < 1 too. */
START_TEST(select_in_an_arm_has_a_branch_within)
{
    ir_fn g = skip_of(INPUTS "c = flt v, w d = flt v, 1 x = exp v y = ln w z = select d, y, w "
                             "t = add x, z r = select c, t, v out res 0 0 r");
    ck_assert_int_eq(count_op(&g, IR_IF), 2);
    ck_assert_int_eq(count_inside(&g, IR_IF), 2);
    ck_assert_int_eq(count_inside(&g, IR_LN), 1);
    ir_fn_fini(&g);
}
END_TEST

/* Selects in selects, deeper than branches may be. */
START_TEST(long_chain_of_selects_is_left_at_some_depth)
{
    enum { LONG = 200 };
    ir_fn f, g;
    ir_fn_init(&f, "chain");
    const ir_val v = ir_in(&f, IR_IN_PROBE, 0, IR_F64, false);
    ir_val r = v;
    for (int k = 0; k < LONG; k++) {
        const ir_val c = ir_bin(&f, IR_FLT, v, ir_const(&f, k));
        r = ir_select(&f, c, ir_un(&f, IR_EXP, r), v);
    }
    ir_out_add(&f, IR_OUT_RES, 0, 0, r);
    ir_skip(&g, &f);
    check_valid(&g);
    ck_assert_int_gt(count_op(&g, IR_IF), 0);
    ck_assert_int_lt(count_op(&g, IR_IF), LONG);
    ck_assert_int_eq(count_op(&g, IR_EXP), LONG);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(result_has_the_same_bits)
{
    int n_branch = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        ir_fn f = random_fn(seed + 900000, 5 + (int)(seed % 190), false), lanes, g;
        ir_ifconv(&lanes, &f, NULL);
        ir_skip(&g, &lanes);
        check_valid(&g);
        n_branch += count_op(&g, IR_IF);
        for (uint64_t j = 0; j < 6; j++) {
            values v = random_values(seed * 100 + j, false);
            double *a = run_fn(&lanes, value_of_input, &v), *b = run_fn(&g, value_of_input, &v);
            for (size_t k = 0; k < vec_len(lanes.out); k++)
                ck_assert_msg(lanes.out[k].kind == IR_OUT_CACHE || same_bits(a[k], b[k]),
                              "function %d, output %zu: %.17g is not %.17g\n%s\n%s", (int)seed, k,
                              b[k], a[k], text_of(&lanes), text_of(&g));
        }
        ir_fn_fini(&f);
        ir_fn_fini(&lanes);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_branch, 100);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {function_that_one_arm_needs_gets_a_branch,
                                 value_that_others_need_too_stays,
                                 short_arms_stay,
                                 selects_with_one_condition_share_a_branch,
                                 select_in_an_arm_has_a_branch_within,
                                 long_chain_of_selects_is_left_at_some_depth,
                                 result_has_the_same_bits};
    return run_tests("ir/skip", test, VS_COUNT(test));
}
