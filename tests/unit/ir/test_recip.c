/* Tests of ir_recip.c. */
#include "ir_test.h"

static ir_fn recip_of(const char *text)
{
    ir_fn f = fn_of(text), o, g;
    ir_opt(&o, &f, (ir_opt_flags){0});
    ir_recip(&g, &o);
    check_valid(&g);
    ir_fn_fini(&f);
    ir_fn_fini(&o);
    return g;
}
#define INPUTS "fn f p = in f64 param 0 v = in f64 probe 0 w = in f64 probe 1 "

START_TEST(divisions_by_one_value_share_a_reciprocal)
{
    ir_fn g = recip_of(INPUTS "a = div v, w c = exp v b = div c, w r = div 1, w out res 0 0 a out "
                              "res 1 0 b out res 2 0 r");
    ck_assert_int_eq(count_op(&g, IR_DIV), 1);
    ck_assert_int_eq(count_op(&g, IR_MUL), 2);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(single_division_stays)
{
    ir_fn g = recip_of(INPUTS "a = div v, w out res 0 0 a");
    ck_assert_int_eq(count_op(&g, IR_MUL), 0);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(division_by_a_static_value_multiplies)
{
    ir_fn g = recip_of(INPUTS "a = div v, p c = div 2, p out res 0 0 a out res 1 0 c"), s, e;
    ck_assert_int_eq(ir_split(&s, &e, &g), 2);
    ck_assert_int_eq(count_op(&e, IR_DIV), 0);
    ir_fn_fini(&g);
    ir_fn_fini(&s);
    ir_fn_fini(&e);
    g = recip_of(INPUTS "a = div v, 3 out res 0 0 a");
    ck_assert_int_eq(count_op(&g, IR_DIV), 0);
    ir_fn_fini(&g);
    g = recip_of(INPUTS "a = div v, 1e-310 out res 0 0 a");
    ck_assert_int_eq(count_op(&g, IR_DIV), 1);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(divisions_of_static_values_stay)
{
    ir_fn g =
        recip_of("fn f p = in f64 param 0 q = in f64 param 1 v = in f64 probe 0 "
                 "a = div q, p b = div 2, p c = mul a, b d = div v, p e = div q, 3 f = mul d, e "
                 "out res 0 0 c out res 1 0 f");
    ck_assert_int_eq(count_op(&g, IR_DIV), 4); /* three of the text and 1/p for v/p */
    ir_fn_fini(&g);
}
END_TEST

START_TEST(reciprocal_serves_both_arms_and_phis)
{
    ir_fn g =
        recip_of(INPUTS "c = flt v, 1 if c x = exp v else y = sin v end d = phi x, y e = phi v, y "
                        "if c a = div v, d else b = div w, d end r = phi a, b s = div e, d t = div "
                        "w, e u = div v, e "
                        "out res 0 0 r out res 1 0 s out res 2 0 t out res 3 0 u");
    ck_assert_int_eq(count_op(&g, IR_DIV), 2);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(results_differ_by_roundings_only)
{
    int n_checked = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        ir_fn f = random_fn(seed + 600000, 5 + (int)(seed % 15), true), o, g;
        ir_opt(&o, &f, (ir_opt_flags){0});
        ir_recip(&g, &o);
        check_valid(&g);
        values v = random_values(seed, true);
        double *a = run_fn(&f, value_of_input, &v), *b = run_fn(&g, value_of_input, &v);
        for (size_t k = 0; k < vec_len(f.out); k++)
            if (isfinite(a[k]) && fabs(a[k]) < 100) { /* beyond, exp and tan blow roundings up */
                n_checked++;
                ck_assert_double_eq_tol(a[k], b[k], 1e-9);
            }
        ir_fn_fini(&f);
        ir_fn_fini(&o);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_checked, 2000);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {
        divisions_by_one_value_share_a_reciprocal, single_division_stays,
        division_by_a_static_value_multiplies,     divisions_of_static_values_stay,
        reciprocal_serves_both_arms_and_phis,      results_differ_by_roundings_only};
    return run_tests("ir/recip", test, VS_COUNT(test));
}
