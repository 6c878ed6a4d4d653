/* Every operation: machine code against the interpreter, bit for bit, over special values. */
#include "jit_check.h"

static const double SPECIAL[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 -0.5,
                                 1.5,
                                 2.5,
                                 -2.5,
                                 3.0,
                                 1e-3,
                                 709.7,
                                 710.0,
                                 -745.2,
                                 1e10,
                                 -1e10,
                                 2147483647.4,
                                 2147483647.5,
                                 -2147483648.5,
                                 -2147483649.0,
                                 1e300,
                                 -1e300,
                                 4.9e-324,
                                 -4.9e-324,
                                 2.3e-308,
                                 1e-310,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0.9999999999999999,
                                 3.141592653589793,
                                 1e22};
enum { N_SPECIAL = VS_COUNT(SPECIAL), N_RANDOM = 400 };

static double random_value(void)
{
    double m = (double)rand() / RAND_MAX * 2 - 1;
    return rand() % 3 ? m * 10 : m * pow(10, rand() % 60 - 30);
}

static ir_type operand_type(ir_op op)
{
    if (op >= IR_INEG && op <= IR_INE)
        return IR_I32;
    if (op >= IR_BAND && op <= IR_BNOT)
        return IR_BOOL;
    return op == IR_I2F ? IR_I32 : op == IR_B2I || op == IR_B2F ? IR_BOOL : IR_F64;
}

/* out[0] = op(probe 0, probe 1), operands converted; the values come as doubles. */
static void build(ir_fn *fn, ir_op op)
{
    ir_val v[2];
    ir_fn_init(fn, ir_op_name(op));
    for (int k = 0; k < 2; k++) {
        v[k] = ir_in(fn, IR_IN_PROBE, k, IR_F64, false);
        if (operand_type(op) == IR_I32)
            v[k] = ir_un(fn, IR_F2I, v[k]);
        else if (operand_type(op) == IR_BOOL)
            v[k] = ir_bin(fn, IR_FLT, ir_const(fn, 0), v[k]);
    }
    ir_val r = op == IR_SELECT
                   ? ir_select(fn, ir_bin(fn, IR_FLT, v[0], ir_const(fn, 1)), v[0], v[1])
               : op == IR_LIMIT       ? ir_emit(fn, IR_LIMIT, IR_F64, v[0], 0, 0)
               : ir_op_arity(op) == 1 ? ir_un(fn, op, v[0])
                                      : ir_bin(fn, op, v[0], v[1]);
    ir_out_add(fn, IR_OUT_RES, 0, 0, r);
}

static void check_pair(ir_fn *fn, const simple_layout *s, jit_kernel kernel, double a, double b)
{
    const double x[3] = {0, a, b};
    const int32_t nodes[2] = {1, 2};
    double got = 123, want = 456;
    jit_batch batch = {.x = x, .map = nodes, .out = &got};
    kernel(&batch, 0, 1);
    batch.out = &want;
    ck_assert_int_eq(jit_interpret(fn, &s->lay, &batch, 0, 1), VS_OK);
    ck_assert_msg(same(got, want), "%s(%.17g, %.17g): kernel %.17g, interpreter %.17g", fn->name, a,
                  b, got, want);
}

static jit *the_jit;
static void open_one(void) { the_jit = open_jit(NULL); }
static void close_one(void) { jit_close(&the_jit); }

START_TEST(operation_equals_interpreter)
{
    ir_op op = (ir_op)_i;
    ir_fn fn;
    simple_layout s;
    build(&fn, op);
    simple_layout_init(&s, &fn, 2);
    jit_kernel kernel = compile(the_jit, &fn, &s.lay);
    for (int i = 0; i < N_SPECIAL; i++)
        for (int j = 0; j < N_SPECIAL; j++)
            check_pair(&fn, &s, kernel, SPECIAL[i], SPECIAL[j]);
    for (int i = 0; i < N_RANDOM; i++)
        check_pair(&fn, &s, kernel, random_value(), random_value());
    ir_fn_fini(&fn);
}
END_TEST

/* (a*b) + c must be rounded twice. */
START_TEST(multiplication_and_addition_are_not_fused)
{
    ir_fn fn;
    simple_layout s;
    ir_fn_init(&fn, "fma");
    ir_val a = ir_in(&fn, IR_IN_PROBE, 0, IR_F64, false);
    ir_val b = ir_in(&fn, IR_IN_PROBE, 1, IR_F64, false);
    ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_bin(&fn, IR_SUB, ir_bin(&fn, IR_MUL, a, a), b));
    simple_layout_init(&s, &fn, 2);
    jit_kernel kernel = compile(the_jit, &fn, &s.lay);
    double t = 1.0 + 0x1p-30;
    check_pair(&fn, &s, kernel, t, t * t);
    ir_fn_fini(&fn);
}
END_TEST

START_TEST(constants_keep_their_bits)
{
    for (int i = 0; i < N_SPECIAL; i++) {
        ir_fn fn;
        simple_layout s;
        double out[3];
        ir_fn_init(&fn, "const");
        ir_out_add(&fn, IR_OUT_RES, 0, 0, ir_const(&fn, SPECIAL[i]));
        ir_out_add(&fn, IR_OUT_RES, 1, 0, ir_const_i(&fn, -7 - i));
        ir_out_add(&fn, IR_OUT_LIMITED, 0, 0, ir_const_b(&fn, true));
        simple_layout_init(&s, &fn, 0);
        compile(the_jit, &fn, &s.lay)(&(jit_batch){.out = out}, 0, 1);
        ck_assert(same(out[0], SPECIAL[i]));
        ck_assert_double_eq(out[1], -7 - i);
        ck_assert_double_eq(out[2], 1);
        ir_fn_fini(&fn);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit ops");
    TCase *t = tcase_create("ops");
    tcase_add_unchecked_fixture(t, open_one, close_one);
    tcase_add_loop_test(t, operation_equals_interpreter, IR_NEG, IR_LIMIT + 1);
    tcase_add_test(t, multiplication_and_addition_are_not_fused);
    tcase_add_test(t, constants_keep_their_bits);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
