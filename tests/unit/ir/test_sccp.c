/* Tests of ir_sccp.c: text and known values in, text and counts out. */
#include "ir_test.h"

static ir_sccp_stats st;

/* known[k], val[k] for the instruction that the text names third.. are given by index. */
static const char *sccp(const char *text, const uint8_t *known, const ir_num *val,
                        ir_opt_flags flags)
{
    ir_fn f = fn_of(text), g;
    ir_sccp(&g, &f, known, val, flags, &st);
    check_valid(&g);
    const char *s = text_of(&g);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
    return strchr(s, '\n') + 1;
}
static const char *plain(const char *text) { return sccp(text, NULL, NULL, (ir_opt_flags){0}); }

START_TEST(branch_on_a_constant_removes_one_block)
{
    ck_assert_str_eq(plain("fn f x = in f64 probe 0 c = flt 1, 2 if c a = exp x else e = sin x end "
                           "r = phi a, e out res 0 0 r"),
                     "  v0 = in f64 probe 0\n  v1 = exp v0\n  out res 0 0 v1\n");
    ck_assert_int_eq(st.n_branch, 1);
    ck_assert_int_eq(st.n_branch_decided, 1);
    ck_assert_int_eq(st.n_block, 4);
    ck_assert_int_eq(st.n_block_dead, 1);
    ck_assert_int_eq(st.n_const, 1); /* c */
}
END_TEST

START_TEST(dead_region_takes_its_blocks_along)
{
    plain("fn f x = in f64 probe 0 d = in bool given 0 "
          "if false if d a = exp x else end p = phi a, x z = const i32 0 loop i = lphi z, z while "
          "d endloop "
          "else end r = phi p, x s = select d, r, 1.0 out res 0 0 s");
    ck_assert_int_eq(st.n_branch, 3);
    ck_assert_int_eq(st.n_branch_decided, 1);
    ck_assert_int_eq(st.n_block, 10);
    ck_assert_int_eq(st.n_block_dead, 7);
    ck_assert_int_eq(st.n_select, 1);
}
END_TEST

/* A value that is the same on all paths that can run, also through a loop: needs optimism. */
START_TEST(constant_is_found_through_a_loop)
{
    ck_assert_str_eq(
        plain("fn f n = in i32 param 0 z = const i32 0 one = const i32 1 "
              "loop i = lphi z, j k = lphi one, k2 c = ilt i, n while c "
              "j = iadd i, 1 t = ieq k, 1 if t k3 = const i32 1 else k4 = iadd k, 1 end "
              "k2 = phi k3, k4 endloop out res 0 0 k"),
        "  v0 = const i32 1\n  out res 0 0 v0\n");
    ck_assert_int_eq(st.n_branch, 2);
    ck_assert_int_eq(st.n_branch_decided, 1);
    ck_assert_int_eq(st.n_block_dead, 1);
}
END_TEST

START_TEST(loop_that_never_runs_vanishes)
{
    ck_assert_str_eq(
        plain("fn f x = in f64 probe 0 z = const i32 0 loop i = lphi z, j y = lphi x, w "
              "c = ilt i, 0 while c j = iadd i, 1 w = exp y endloop r = sin y out res 0 0 r"),
        "  v0 = in f64 probe 0\n  v1 = sin v0\n  out res 0 0 v1\n");
    ck_assert_int_eq(st.n_block_dead, 1);
    ck_assert_int_eq(st.n_branch_decided, 1);
}
END_TEST

START_TEST(phi_of_equal_constants_is_constant)
{
    ck_assert_str_eq(plain("fn f d = in bool given 0 if d a = add 1, 1 else e = mul 1, 2 end r = "
                           "phi a, e out res 0 0 r"),
                     "  v0 = const f64 2.0\n  out res 0 0 v0\n");
}
END_TEST

START_TEST(many_lphis_in_a_chain_end)
{
    ir_fn f, g;
    ir_fn_init(&f, "chain");
    enum { N = 300 };
    ir_val zero = ir_const(&f, 0), x = ir_in(&f, IR_IN_PROBE, 0, IR_F64, false), p[N];
    ir_val loop = ir_loop(&f);
    for (int k = 0; k < N; k++)
        p[k] = ir_lphi(&f, loop, zero);
    for (int k = 0; k < N; k++)
        f.inst[p[k]].c = k ? p[k - 1] : x;
    ir_while(&f, ir_bin(&f, IR_FLT, p[N - 1], x));
    ir_endloop(&f);
    ir_out_add(&f, IR_OUT_RES, 0, 0, p[N - 1]);
    check_valid(&f);
    ir_sccp(&g, &f, NULL, NULL, (ir_opt_flags){0}, &st);
    check_valid(&g);
    ck_assert_int_eq(count_op(&g, IR_LPHI), N);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(known_value_is_used_as_a_constant)
{
    uint8_t known[8] = {[1] = 1};
    ir_num val[8] = {[1] = {.f = 1}};
    ck_assert_str_eq(sccp("fn f x = in f64 probe 0 p = in f64 param 0 r = mul x, p out res 0 0 r",
                          known, val, (ir_opt_flags){0}),
                     "  v0 = in f64 probe 0\n  out res 0 0 v0\n");
}
END_TEST

START_TEST(known_zero_switches_a_term_off)
{
    uint8_t known[8] = {[1] = 1};
    ir_num val[8] = {{0}};
    const char *text = "fn f x = in f64 probe 0 p = in f64 param 0 q = exp x a = mul q, p r = add "
                       "x, a out res 0 0 r";
    ck_assert_str_eq(sccp(text, known, val, (ir_opt_flags){.fold_zero = true}),
                     "  v0 = in f64 probe 0\n  out res 0 0 v0\n");
}
END_TEST

START_TEST(decision_is_used_by_branches_only)
{
    /* c is known to be true as a decision: b2f c stays a value */
    uint8_t known[16] = {[2] = 2};
    ir_num val[16] = {[2] = {.i = 1}};
    ck_assert_str_eq(
        sccp("fn f x = in f64 probe 0 p = in f64 param 0 c = flt p, x "
             "if c a = exp x else e = sin x end s = phi a, e t = select c, s, x u = b2f c "
             "r = add t, u out res 0 0 r",
             known, val, (ir_opt_flags){0}),
        "  v0 = in f64 probe 0\n  v1 = in f64 param 0\n  v2 = flt v1, v0\n  v3 = exp v0\n"
        "  v4 = b2f v2\n  v5 = add v3, v4\n  out res 0 0 v5\n");
    ck_assert_int_eq(st.n_branch_decided, 1);
    ck_assert_int_eq(st.n_block_dead, 1);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {
        branch_on_a_constant_removes_one_block, dead_region_takes_its_blocks_along,
        constant_is_found_through_a_loop,       loop_that_never_runs_vanishes,
        phi_of_equal_constants_is_constant,     many_lphis_in_a_chain_end,
        known_value_is_used_as_a_constant,      known_zero_switches_a_term_off,
        decision_is_used_by_branches_only};
    return run_tests("ir/sccp", test, VS_COUNT(test));
}
