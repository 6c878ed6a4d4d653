/* Tests of ir_bound.c: against a machine that rounds otherwise than the interpreter. */
#include <float.h>

#include "ir_test.h"

/* Value and bound of output 0. */
typedef struct answer {
    double value, err;
} answer;

static answer bound_moved(const char *text, double v, double w, double by)
{
    ir_fn f = fn_of(text), g;
    values in = {.probe = {v, w}};
    ir_ifconv(&g, &f, NULL);
    ir_num *input = arena_array(&test_mem, ir_num, vec_len(g.in) + 1),
           *val = arena_array(&test_mem, ir_num, vec_len(g.inst) + 1);
    double *err = arena_array(&test_mem, double, vec_len(g.inst) + 1),
           *moved = arena_array(&test_mem, double, vec_len(g.in) + 1);
    for (size_t k = 0; k < vec_len(g.in); k++) {
        input[k] = value_of_input(&g.in[k], &in);
        moved[k] = by;
    }
    ck_assert_int_eq(ir_bound(&g, input, by ? moved : NULL, val, err), VS_OK);
    const ir_val o = g.out[0].v;
    const answer a = {g.inst[o].type == IR_F64 ? val[o].f : val[o].i, err[o]};
    ir_fn_fini(&f);
    ir_fn_fini(&g);
    return a;
}
static answer bound_of(const char *text, double v, double w) { return bound_moved(text, v, w, 0); }
#define INPUTS "fn f v = in f64 probe 0 w = in f64 probe 1 "

START_TEST(one_operation_has_the_roundings_of_two_machines)
{
    const answer sum = bound_of(INPUTS "r = add v, w out res 0 0 r", 3, 0.1);
    ck_assert_double_ge(sum.err, DBL_EPSILON * 3.1);
    ck_assert_double_le(sum.err, 2 * DBL_EPSILON * 3.1); /* ends are doubles, too */
    const answer e = bound_of(INPUTS "r = exp v out res 0 0 r", 2, 0);
    ck_assert_double_ge(e.err, 3 * DBL_EPSILON * exp(2));
    ck_assert_double_le(e.err, 5 * DBL_EPSILON * exp(2));
    ck_assert_double_eq(bound_of(INPUTS "r = neg v out res 0 0 r", 2, 0).err, 0);
}
END_TEST

/* exp(x) with x = v + w: the error of x, at least half a unit, times the derivative. */
START_TEST(errors_grow_by_the_condition)
{
    const answer e = bound_of(INPUTS "x = add v, w r = exp x out res 0 0 r", 100, 200);
    ck_assert_double_ge(e.err, 150 * DBL_EPSILON * exp(300));
    ck_assert_double_le(e.err, 700 * DBL_EPSILON * exp(300));
    /* (v + w) - v cancels: the error stays that of the sum */
    const answer d = bound_of(INPUTS "x = add v, w r = sub x, v out res 0 0 r", 1e8, 1);
    ck_assert_double_ge(d.err, 0.5 * DBL_EPSILON * 1e8);
    ck_assert_double_le(d.err, 3 * DBL_EPSILON * 1e8);
    /* a pole within the error: nothing can be said */
    const answer p = bound_of(INPUTS "x = add v, w y = sub x, v z = sub y, w r = div 1.0, z "
                                     "out res 0 0 r",
                              1e8, 1);
    ck_assert(isinf(p.err));
}
END_TEST

START_TEST(what_rounding_decides_may_be_either)
{
    static const char text[] =
        INPUTS "s = exp v c = flt s, 1.1051709180756477 if c a = mul v, 2.0 else "
               "b = mul v, 5.0 end r = phi a, b out res 0 0 r";
    const answer near = bound_of(text, 0.1, 0), far = bound_of(text, 0.11, 0);
    ck_assert_double_ge(near.err, 0.3 - 1e-9); /* 5 v - 2 v */
    ck_assert_double_le(near.err, 0.3 + 1e-9);
    ck_assert_double_le(far.err, 1e-15);
    const answer whole = bound_of(INPUTS "s = add v, w r = f2i s out res 0 0 r", 0.2, 0.3);
    ck_assert(isinf(whole.err));
    ck_assert_double_eq(bound_of(INPUTS "s = add v, w r = f2i s out res 0 0 r", 1, 1).err, 0);
}
END_TEST

/* v doubled while it is below w */
/* The range is what counts, not a distance to both sides: a logarithm behind its guard. */
START_TEST(guards_hold)
{
    static const char guard[] = INPUTS "s = add v, w d = sub s, v x = sub d, w y = max x, 1e-30 "
                                       "r = ln y out res 0 0 r";
    const answer a = bound_of(guard, 1, 0.25); /* x is 0, or some 1e-16 */
    ck_assert_double_ge(a.err, log(1e-17 / 1e-30));
    ck_assert_double_le(a.err, log(1e-14 / 1e-30));
    const answer root = bound_of(INPUTS "s = add v, w d = sub s, v x = sub d, w y = mul x, x "
                                        "r = sqrt y out res 0 0 r",
                                 1, 0.25);
    ck_assert_double_le(root.err, 1e-14);
    ck_assert_double_gt(root.err, 0);
}
END_TEST

START_TEST(inputs_that_may_move_carry_it_on)
{
    static const char text[] = INPUTS "s = mul v, v r = sub s, w out res 0 0 r";
    const answer a = bound_moved(text, 3, 1, 0.5); /* 2.5^2 - 1.5 .. 3.5^2 - 0.5, at 8 */
    ck_assert_double_ge(a.err, 3.75);
    ck_assert_double_le(a.err, 3.75 + 1e-12);
    ck_assert(isinf(bound_moved(INPUTS "r = div w, v out res 0 0 r", 1, 1, 1).err));
    const answer c =
        bound_moved(INPUTS "c = flt v, w r = select c, 1.0, 2.0 out res 0 0 r", 1, 2, 0.75);
    ck_assert_double_eq(c.value, 1);
    ck_assert_double_eq(c.err, 1);
    /* the angle at y = 0, x < 0 is pi, and -pi just below */
    static const char angle[] = INPUTS "r = atan2 v, w out res 0 0 r";
    ck_assert_double_le(bound_moved(angle, 0.05, -1, 0.05).err, 0.12);
    ck_assert(isinf(bound_moved(angle, 0.04, -1, 0.05).err));
}
END_TEST

START_TEST(a_loop_whose_end_is_uncertain_has_no_bound)
{
    static const char text[] =
        INPUTS "loop a = lphi v, n c = flt a, w while c b = mul a, 1.1 n = add b, 0.01 endloop "
               "out res 0 0 a";
    const answer far = bound_of(text, 1, 4);
    ck_assert_double_gt(far.err, 0);
    ck_assert_double_le(far.err, 1e-13);
    double x = 1;
    for (int k = 0; k < 3; k++)
        x = x * 1.1 + 0.01;
    ck_assert(isinf(bound_of(text, 1, x).err)); /* ends exactly there */
}
END_TEST

/* -- a machine of its own roundings -- */

static double other_rounding(uint64_t *seed, ir_op op, double v)
{
    const double unit = op == IR_NEG || op == IR_ABS || op == IR_MIN || op == IR_MAX ||
                                op == IR_FLOOR || op == IR_CEIL || op == IR_I2F || op == IR_B2F
                            ? 0
                        : op <= IR_DIV || op == IR_SQRT ? DBL_EPSILON / 2
                                                        : 3 * DBL_EPSILON / 2;
    return v * (1 + unit * (rnd_to(seed, 2001) - 1000) / 1000);
}

static void run_machine(const ir_fn *fn, const ir_num *input, uint64_t seed, ir_num *val)
{
    for (ir_val i = 0; i < (ir_val)vec_len(fn->inst); i++) {
        const ir_inst *p = &fn->inst[i];
        const int n = ir_op_arity(p->op);
        const ir_num none = {0};
        if (p->op == IR_CONST)
            val[i] = p->type == IR_F64 ? (ir_num){.f = fn->con[p->a]}
                                       : (ir_num){.i = (int32_t)fn->con[p->a]};
        else if (p->op == IR_IN)
            val[i] = input[p->a];
        else if (p->op == IR_LIMIT)
            val[i] = val[p->a];
        else
            val[i] =
                ir_eval_op(p->op, val[p->a], n > 1 ? val[p->b] : none, n > 2 ? val[p->c] : none);
        if (p->type == IR_F64 && p->op != IR_CONST && p->op != IR_IN && p->op != IR_LIMIT &&
            p->op != IR_SELECT)
            val[i].f = other_rounding(&seed, p->op, val[i].f);
    }
}

START_TEST(another_machine_stays_within_the_bound)
{
    int64_t n_finite = 0, n_moved = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        ir_fn f = random_fn(seed + 40000, 5 + (int)(seed % 60), seed % 3 != 0), g;
        ir_ifconv(&g, &f, NULL);
        const size_t n = vec_len(g.inst) + 1;
        ir_num *input = arena_array(&test_mem, ir_num, vec_len(g.in) + 1),
               *val = arena_array(&test_mem, ir_num, n), *other = arena_array(&test_mem, ir_num, n);
        double *err = arena_array(&test_mem, double, n),
               *moved = arena_array(&test_mem, double, vec_len(g.in) + 1);
        for (uint64_t j = 0; j < 4 && !count_op(&g, IR_LOOP); j++) {
            values v = random_values(seed * 50 + j, seed % 3 != 0);
            for (size_t k = 0; k < vec_len(g.in); k++) {
                input[k] = value_of_input(&g.in[k], &v);
                moved[k] = j < 2 || g.in[k].type != IR_F64 ? 0 : 1e-5 * fabs(input[k].f);
            }
            ck_assert_int_eq(ir_bound(&g, input, j ? moved : NULL, val, err), VS_OK);
            for (size_t k = 0; k < vec_len(g.in); k++) /* anywhere in its range, at the ends too */
                if (moved[k] > 0)
                    input[k].f += moved[k] * ((double)((seed + k) % 5) - 2) / 2;
            run_machine(&g, input, seed + j, other);
            for (size_t k = 0; k < vec_len(g.inst); k++) {
                const bool real = g.inst[k].type == IR_F64;
                const double a = real ? val[k].f : val[k].i, b = real ? other[k].f : other[k].i;
                const double diff = a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
                n_finite += isfinite(err[k]);
                n_moved += diff > 0;
                ck_assert_msg(isinf(err[k]) || diff <= err[k],
                              "function %d, v%zu: %.17g, %.17g, bound %g\n%s", (int)seed, k, a, b,
                              err[k], text_of(&g));
            }
        }
        ir_fn_fini(&f);
        ir_fn_fini(&g);
        end_mem();
        begin_mem();
    }
    ck_assert_int_gt(n_finite, 50000);
    ck_assert_int_gt(n_moved, 10000);
}
END_TEST

int main(void)
{
    const TTest *test[] = {one_operation_has_the_roundings_of_two_machines,
                           errors_grow_by_the_condition,
                           what_rounding_decides_may_be_either,
                           guards_hold,
                           inputs_that_may_move_carry_it_on,
                           a_loop_whose_end_is_uncertain_has_no_bound,
                           another_machine_stays_within_the_bound};
    return run_tests("ir_bound", test, VS_COUNT(test));
}
