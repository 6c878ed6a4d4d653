/* Tests of ir_eval.c: operations at their corners, loops, effects, static values. */
#include <float.h>

#include "ir_test.h"

static ir_num f_(double x) { return (ir_num){.f = x}; }
static ir_num i_(int32_t x) { return (ir_num){.i = x}; }

START_TEST(integer_operations_wrap_and_never_trap)
{
    static const struct {
        ir_op op;
        int32_t a, b, want;
    } t[] = {
        {IR_IADD, INT32_MAX, 1, INT32_MIN},
        {IR_ISUB, INT32_MIN, 1, INT32_MAX},
        {IR_IMUL, 65536, 65536, 0},
        {IR_IDIV, 7, 0, 0},
        {IR_IDIV, INT32_MIN, -1, INT32_MIN},
        {IR_IDIV, -7, 2, -3},
        {IR_IMOD, 7, 0, 0},
        {IR_IMOD, INT32_MIN, -1, 0},
        {IR_IMOD, -7, 2, -1},
        {IR_ISHL, 1, 31, INT32_MIN},
        {IR_ISHL, 1, 32, 0},
        {IR_ISHL, 1, -1, 0},
        {IR_ISHR, -1, 28, 15},
        {IR_ISHR, -1, 32, 0},
        {IR_INEG, INT32_MIN, 0, INT32_MIN},
        {IR_INOT, 0, 0, -1},
        {IR_ILT, -1, 0, 1},
        {IR_ILE, 0, 0, 1},
        {IR_BXOR, 1, 1, 0},
        {IR_BNOT, 1, 0, 0},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++)
        ck_assert_int_eq(ir_eval_op(t[k].op, i_(t[k].a), i_(t[k].b), i_(0)).i, t[k].want);
}
END_TEST

START_TEST(conversion_to_integer_rounds_and_saturates)
{
    static const struct {
        double x;
        int32_t want;
    } t[] = {{0.5, 1},
             {-0.5, -1},
             {1.5, 2},
             {2.5, 3},
             {0.49999999999999994, 0},
             {1e30, INT32_MAX},
             {-1e30, INT32_MIN},
             {INFINITY, INT32_MAX},
             {NAN, 0},
             {2147483646.5, INT32_MAX},
             {-2147483648.4, INT32_MIN}};
    for (size_t k = 0; k < VS_COUNT(t); k++)
        ck_assert_int_eq(ir_eval_op(IR_F2I, f_(t[k].x), f_(0), f_(0)).i, t[k].want);
}
END_TEST

START_TEST(min_and_max_take_the_second_unless_the_first_wins)
{
    ck_assert(isnan(ir_eval_op(IR_MIN, f_(1), f_(NAN), f_(0)).f));
    ck_assert_double_eq(ir_eval_op(IR_MIN, f_(NAN), f_(1), f_(0)).f, 1);
    ck_assert_double_eq(ir_eval_op(IR_MAX, f_(NAN), f_(1), f_(0)).f, 1);
    ck_assert_double_eq(ir_eval_op(IR_MAX, f_(2), f_(1), f_(0)).f, 2);
    ck_assert(signbit(ir_eval_op(IR_MAX, f_(0.0), f_(-0.0), f_(0)).f));
}
END_TEST

static ir_num probe_is_5(const ir_input *in, void *user)
{
    (void)user;
    return in->type == IR_F64 ? f_(5) : i_(5);
}

START_TEST(lphis_step_at_once)
{
    /* a, b swap each round */
    ir_fn fn = fn_of("fn f z = const i32 0 x = const f64 1 y = const f64 2 n = in i32 param 0 "
                     "loop i = lphi z, j a = lphi x, b b = lphi y, a c = ilt i, n while c "
                     "j = iadd i, 1 endloop out res 0 0 a out res 1 0 b out res 2 0 i");
    double *out = run_fn(&fn, probe_is_5, NULL);
    ck_assert_double_eq(out[0], 2);
    ck_assert_double_eq(out[1], 1);
    ck_assert_double_eq(out[2], 5);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(many_crossing_lphis_step_at_once)
{
    ir_fn fn;
    ir_fn_init(&fn, "rotate");
    enum { N = 100 };
    ir_val init[N], p[N], zero = ir_const_i(&fn, 0), seven = ir_const_i(&fn, 7);
    for (int k = 0; k < N; k++)
        init[k] = ir_const(&fn, k);
    ir_val loop = ir_loop(&fn), count = ir_lphi(&fn, loop, zero);
    for (int k = 0; k < N; k++)
        p[k] = ir_lphi(&fn, loop, init[k]);
    for (int k = 0; k < N; k++)
        fn.inst[p[k]].c = p[(k + N - 1) % N];
    ir_while(&fn, ir_bin(&fn, IR_ILT, count, seven));
    ir_val next = ir_bin(&fn, IR_IADD, count, ir_const_i(&fn, 1));
    fn.inst[count].c = next;
    ir_endloop(&fn);
    for (int k = 0; k < N; k++)
        ir_out_add(&fn, IR_OUT_RES, k, 0, p[k]);
    check_valid(&fn);
    double *out = run_fn(&fn, probe_is_5, NULL);
    for (int k = 0; k < N; k++)
        ck_assert_double_eq(out[k], (k + N - 7) % N);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(only_the_arm_taken_runs)
{
    ir_fn fn = fn_of("fn f c = in bool given 0 if c x = sin 1 else y = cos 1 end z = phi x, y");
    ir_num in = i_(1), val[16];
    uint8_t ran[16];
    ck_assert_int_eq(ir_interp(&fn, &in, val, ran, NULL), VS_OK);
    ck_assert(ran[3] && !ran[6]);
    in.i = 0;
    ck_assert_int_eq(ir_interp(&fn, &in, val, ran, NULL), VS_OK);
    ck_assert(!ran[3] && ran[6]);
    ck_assert_double_eq(val[8].f, cos(1));
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(endless_loop_is_stopped)
{
    ir_fn fn = fn_of("fn f c = const bool true loop while c endloop");
    ir_num val[8];
    ck_assert_int_eq(ir_interp(&fn, NULL, val, NULL, NULL), VS_NOCONV);
    ir_fn_fini(&fn);
}
END_TEST

static void add_first_arg(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val)
{
    (void)fn;
    *(double *)user += val[eff->arg[0]].f;
}

START_TEST(effects_that_are_reached_are_reported)
{
    ir_fn fn = fn_of("fn f x = const f64 3 effect strobe 1 \"%g\", x "
                     "if false effect strobe 2 null, x else effect finish 3 null, x end");
    double sum = 0;
    ir_num val[16];
    ir_host host = {add_first_arg, &sum};
    ck_assert_int_eq(ir_interp(&fn, NULL, val, NULL, &host), VS_OK);
    ck_assert_double_eq(sum, 6);
    ir_fn_fini(&fn);
}
END_TEST

/* -- ir_interp_static -- */

typedef struct statics {
    ir_num val[64];
    uint8_t cls[64], ran[64];
    vs_status st;
} statics;
static statics run_static(const ir_fn *fn, const ir_host *host)
{
    statics s = {0};
    ir_num in[8];
    for (size_t k = 0; k < vec_len(fn->in); k++)
        in[k] = probe_is_5(&fn->in[k], NULL);
    ir_classes(fn, s.cls);
    s.st = ir_interp_static(fn, s.cls, in, s.val, s.ran, host);
    return s;
}

START_TEST(static_values_in_both_arms_of_a_dynamic_branch_are_known)
{
    ir_fn fn = fn_of("fn f p = in f64 param 0 v = in f64 probe 0 c = flt v, p "
                     "if c x = sqrt p else y = exp p end z = phi x, y");
    statics s = run_static(&fn, NULL);
    ck_assert_int_eq(s.st, VS_OK);
    ck_assert(s.ran[4] && s.ran[6] && !s.ran[8] && !s.ran[2] && !s.ran[1]);
    ck_assert_double_eq(s.val[6].f, exp(5));
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(one_arm_of_a_static_branch_runs)
{
    ir_fn fn = fn_of(
        "fn f p = in f64 param 0 c = flt 0, p if c x = sqrt p else y = exp p end z = phi x, y");
    statics s = run_static(&fn, NULL);
    ck_assert(s.ran[4] && !s.ran[6] && s.ran[8]);
    ck_assert_double_eq(s.val[8].f, sqrt(5));
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(static_loop_runs_and_only_what_stays_the_same_is_known)
{
    ir_fn fn = fn_of("fn f z = const i32 0 n = in i32 param 0 p = in f64 param 1 "
                     "loop i = lphi z, j c = ilt i, n while c "
                     "j = iadd i, 1 q = sqrt p endloop r = imul i, 2 out res 0 0 r");
    statics s = run_static(&fn, NULL);
    ck_assert_int_eq(s.st, VS_OK);
    ck_assert(!s.ran[4] && !s.ran[5] && !s.ran[8]); /* i, c, j change */
    ck_assert(s.ran[9] && s.ran[12]);               /* q does not; r runs once */
    ck_assert_int_eq(s.val[12].i, 10);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(body_of_a_dynamic_loop_runs_once)
{
    ir_fn fn = fn_of("fn f z = const i32 0 n = in i32 param 0 v = in f64 probe 1 w = f2i v "
                     "loop i = lphi z, j c = ilt i, w while c j = iadd i, n k = iadd n, 1 endloop");
    statics s = run_static(&fn, NULL);
    ck_assert(!s.ran[5] && !s.ran[6] && !s.ran[8] && s.ran[10]);
    ck_assert_int_eq(s.val[10].i, 6);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(only_static_effects_run_with_static_values)
{
    ir_fn fn =
        fn_of("fn f p = in f64 param 0 v = in f64 probe 0 c = flt v, p effect strobe 1 null, p "
              "effect strobe 2 null, v if c effect strobe 3 null, p else end");
    double sum = 0;
    ir_host host = {add_first_arg, &sum};
    run_static(&fn, &host);
    ck_assert_double_eq(sum, 5);
    ir_fn_fini(&fn);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {integer_operations_wrap_and_never_trap,
                                 conversion_to_integer_rounds_and_saturates,
                                 min_and_max_take_the_second_unless_the_first_wins,
                                 lphis_step_at_once,
                                 many_crossing_lphis_step_at_once,
                                 only_the_arm_taken_runs,
                                 endless_loop_is_stopped,
                                 effects_that_are_reached_are_reported,
                                 static_values_in_both_arms_of_a_dynamic_branch_are_known,
                                 one_arm_of_a_static_branch_runs,
                                 static_loop_runs_and_only_what_stays_the_same_is_known,
                                 body_of_a_dynamic_loop_runs_once,
                                 only_static_effects_run_with_static_values};
    return run_tests("ir/eval", test, VS_COUNT(test));
}
