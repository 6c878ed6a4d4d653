/* Tests of ir_ad.c: each operation against differences, corners, what is emitted. */
#include "ir_test.h"

typedef struct derived {
    ir_fn fn;
    ir_val d[4 * 4];
} derived;

/* Derivatives of output 0 by the probes (or by the seeds given), as OUT G 0 k. */
static derived derive_by(const char *text, const int32_t *seed, int n_seed)
{
    ir_fn f = fn_of(text);
    derived r;
    ir_val want = f.out[0].v, *new_of = arena_array(&test_mem, ir_val, vec_len(f.inst));
    ir_ad(&r.fn, &f, seed, n_seed, &want, 1, r.d, new_of);
    for (int k = 0; k < n_seed; k++)
        if (r.d[k] != IR_NONE)
            ir_out_add(&r.fn, IR_OUT_G, 0, k, r.d[k]);
    check_valid(&r.fn);
    ir_fn_fini(&f);
    return r;
}
static const int32_t in01[] = {0, 1};

static double at(const ir_fn *fn, double x, double y, ir_out_kind kind, int k)
{
    values v = {.probe = {x, y}};
    double *out = run_fn(fn, value_of_input, &v);
    for (size_t j = 0; j < vec_len(fn->out); j++)
        if (fn->out[j].kind == kind && fn->out[j].b == k)
            return out[j];
    return 0;
}

#define XY "fn f x = in f64 probe 0 y = in f64 probe 1 "

START_TEST(each_operation_has_the_slope_of_its_value)
{
    static const struct {
        const char *code;
        double x, y;
    } t[] = {
        {"neg x", 0.7, 1.3},      {"add x, y", 0.7, 1.3},    {"sub x, y", 0.7, 1.3},
        {"mul x, y", 0.7, 1.3},   {"mul x, x", 0.7, 1.3},    {"div x, y", 0.7, 1.3},
        {"div 2, y", 0.7, 1.3},   {"div x, 3", 0.7, 1.3},    {"min x, y", 0.7, 1.3},
        {"min y, x", 0.7, 1.3},   {"max x, y", 0.7, 1.3},    {"abs x", 0.7, 1.3},
        {"abs x", -0.7, 1.3},     {"floor x", 0.7, 1.3},     {"ceil x", 0.7, 1.3},
        {"fmod x, y", 5.7, 1.3},  {"fmod x, y", -5.7, 1.3},  {"sqrt x", 0.7, 1.3},
        {"exp x", 0.7, 1.3},      {"ln x", 0.7, 1.3},        {"pow x, y", 0.7, 1.3},
        {"pow x, 2", -0.7, 1.3},  {"pow x, 3", -0.7, 1.3},   {"pow x, 0.5", 0.7, 1.3},
        {"pow x, -2", -0.7, 1.3}, {"pow 2, y", 0.7, 1.3},    {"pow x, 1", 0.7, 0},
        {"log10 x", 0.7, 1.3},    {"sin x", 0.7, 1.3},       {"cos x", 0.7, 1.3},
        {"tan x", 0.7, 1.3},      {"asin x", 0.7, 1.3},      {"acos x", 0.7, 1.3},
        {"atan x", 0.7, 1.3},     {"atan2 x, y", 0.7, -1.3}, {"sinh x", 0.7, 1.3},
        {"cosh x", 0.7, 1.3},     {"tanh x", 0.7, 1.3},      {"asinh x", 0.7, 1.3},
        {"acosh x", 1.7, 1.3},    {"atanh x", 0.7, 1.3},     {"hypot x, y", 0.7, 1.3},
        {"expm1 x", 0.7, 1.3},    {"log1p x", 0.7, 1.3},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        derived r =
            derive_by(arena_printf(&test_mem, "%s r = %s out res 0 0 r", XY, t[k].code), in01, 2);
        const double h = 1e-5;
        for (int s = 0; s < 2; s++) {
            double hx = s ? 0 : h, hy = s ? h : 0;
            double slope = (at(&r.fn, t[k].x + hx, t[k].y + hy, IR_OUT_RES, 0) -
                            at(&r.fn, t[k].x - hx, t[k].y - hy, IR_OUT_RES, 0)) /
                           (2 * h);
            double got = at(&r.fn, t[k].x, t[k].y, IR_OUT_G, s);
            ck_assert_msg(fabs(got - slope) < 1e-8 * (1 + fabs(slope)), "%s by %d: %g, slope %g",
                          t[k].code, s, got, slope);
        }
        ir_fn_fini(&r.fn);
    }
}
END_TEST

START_TEST(derivative_at_a_singular_point_is_finite)
{
    static const struct {
        const char *code;
        double x, y, dx, dy;
    } t[] = {
        {"sqrt x", 0, 0, 0, 0},     {"pow x, 2", 0, 0, 0, 0},        {"pow x, 1.5", 0, 0, 0, 0},
        {"pow x, 0.5", 0, 0, 0, 0}, {"pow x, y", 0, 1, 1, 0},        {"pow x, y", 0, 2, 0, 0},
        {"pow x, y", 0, -1, 0, 0},  {"pow x, 1.5", 1e-310, 0, 0, 0}, {"hypot x, y", 0, 0, 0, 0},
        {"atan2 x, y", 0, 0, 0, 0}, {"asin x", 1, 0, 0, 0},          {"acos x", -1, 0, 0, 0},
        {"acosh x", 1, 0, 0, 0},
    };
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        derived r =
            derive_by(arena_printf(&test_mem, "%s r = %s out res 0 0 r", XY, t[k].code), in01, 2);
        ck_assert_msg(at(&r.fn, t[k].x, t[k].y, IR_OUT_G, 0) == t[k].dx, "%s by x", t[k].code);
        ck_assert_msg(at(&r.fn, t[k].x, t[k].y, IR_OUT_G, 1) == t[k].dy, "%s by y", t[k].code);
        ir_fn_fini(&r.fn);
    }
}
END_TEST

START_TEST(certain_derivatives_cost_nothing)
{
    /* d(x - 3 + y)/dx = 1, d/dy = 1, by a third value 0 */
    ir_fn f = fn_of(XY "z = in f64 probe 2 a = sub x, 3 r = add a, y out res 0 0 r"), g;
    ir_val want = f.out[0].v, d[3], new_of[16];
    ir_ad(&g, &f, (int32_t[]){0, 1, 2}, 3, &want, 1, d, new_of);
    ck_assert_int_eq(count_op(&g, IR_MUL) + count_op(&g, IR_ADD), 1);
    ck_assert(g.inst[d[0]].op == IR_CONST && g.con[g.inst[d[0]].a] == 1 && d[1] == d[0]);
    ck_assert_int_eq(d[2], IR_NONE);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(only_derivatives_that_are_wanted_are_made)
{
    ir_fn f = fn_of(XY "a = sin x c = exp y q = mul a, c r = sin y out res 0 0 r out res 1 0 q"), g;
    ir_val want = f.out[0].v, d[2], new_of[16];
    ir_ad(&g, &f, in01, 2, &want, 1, d, new_of);
    ck_assert_int_eq(d[0], IR_NONE);
    ck_assert_int_eq(count_op(&g, IR_COS), 1);
    ck_assert_int_eq(count_op(&g, IR_MUL), 1);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(one_reciprocal_serves_a_denominator)
{
    derived r = derive_by(
        XY
        "d = hypot x, y a = div x, d c = div y, d e = ln d s = add a, c r = add s, e out res 0 0 r",
        in01, 2);
    ir_fn g;
    ir_opt(&g, &r.fn, (ir_opt_flags){0});
    ck_assert_int_eq(count_op(&g, IR_DIV), 3); /* x/d, y/d, 1/d */
    ir_fn_fini(&r.fn);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(limit_hides_its_argument)
{
    const char *text = XY "w = mul x, 3 v = limit w, 7 r = mul v, v out res 0 0 r";
    derived r = derive_by(text, (int32_t[]){0, ~7}, 2);
    ck_assert_int_eq(r.d[0], IR_NONE);
    ck_assert_double_eq(at(&r.fn, 2, 0, IR_OUT_G, 1), 12);
    ir_fn_fini(&r.fn);
    r = derive_by(text, in01, 1);
    ck_assert_int_eq(r.d[0], IR_NONE);
    ir_fn_fini(&r.fn);
}
END_TEST

START_TEST(derivative_goes_through_branches_and_loops)
{
    /* r = x^8 by squaring three times; then by sign */
    const char *text = XY "z = const i32 0 loop i = lphi z, j p = lphi x, q c = ilt i, 3 while c "
                          "j = iadd i, 1 q = mul p, p endloop n = flt x, 0 if n a = neg p else end "
                          "r = phi a, p out res 0 0 r";
    derived r = derive_by(text, in01, 2);
    ck_assert_int_eq(r.d[1], IR_NONE);
    ck_assert_double_eq_tol(at(&r.fn, 1.5, 0, IR_OUT_G, 0), 8 * pow(1.5, 7), 1e-9);
    ck_assert_double_eq_tol(at(&r.fn, -1.5, 0, IR_OUT_G, 0), 8 * pow(1.5, 7), 1e-9);
    ir_fn_fini(&r.fn);
}
END_TEST

/* y reaches p only in the third round, through q and r */
START_TEST(dependence_that_takes_several_rounds_is_found)
{
    derived r =
        derive_by(XY "z = const i32 0 loop i = lphi z, j p = lphi x, q q = lphi x, s s = lphi x, t "
                     "c = ilt i, 4 while c j = iadd i, 1 t = mul y, 2 endloop out res 0 0 p",
                  in01, 2);
    ck_assert_double_eq(at(&r.fn, 1, 1, IR_OUT_G, 1), 2);
    ck_assert_double_eq(at(&r.fn, 1, 1, IR_OUT_G, 0), 0);
    ir_fn_fini(&r.fn);
}
END_TEST

START_TEST(more_than_64_seeds_work)
{
    ir_fn f, g;
    ir_fn_init(&f, "wide");
    enum { N = 150 };
    int32_t seed[N];
    ir_val sum = ir_const(&f, 0), d[N], *new_of;
    for (int k = 0; k < N; k++) {
        ir_val x = ir_in(&f, IR_IN_PROBE, k, IR_F64, false);
        ir_val c = ir_const(&f, k + 2);
        sum = ir_bin(&f, IR_ADD, sum, ir_bin(&f, IR_MUL, x, c));
        seed[k] = k;
    }
    new_of = arena_array(&test_mem, ir_val, vec_len(f.inst));
    ir_ad(&g, &f, seed, N, &sum, 1, d, new_of);
    for (int k = 0; k < N; k++)
        ck_assert(g.inst[d[k]].op == IR_CONST && g.con[g.inst[d[k]].a] == k + 2);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

START_TEST(primal_keeps_its_outputs_and_effects)
{
    ir_fn f = fn_of(XY "r = exp x effect strobe 4 \"%g\", r out res 0 0 r out opvar 3 0 y"), g;
    ir_val want = f.out[0].v, d[2], new_of[16];
    ir_ad(&g, &f, in01, 2, &want, 1, d, new_of);
    ck_assert_uint_eq(vec_len(g.out), 2);
    ck_assert_int_eq(g.out[0].v, new_of[f.out[0].v]);
    ck_assert_int_eq(g.eff[0].arg[0], new_of[f.out[0].v]);
    ck_assert_int_eq(d[0], g.out[0].v); /* the derivative of exp is exp */
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {each_operation_has_the_slope_of_its_value,
                                 derivative_at_a_singular_point_is_finite,
                                 certain_derivatives_cost_nothing,
                                 only_derivatives_that_are_wanted_are_made,
                                 one_reciprocal_serves_a_denominator,
                                 limit_hides_its_argument,
                                 derivative_goes_through_branches_and_loops,
                                 dependence_that_takes_several_rounds_is_found,
                                 more_than_64_seeds_work,
                                 primal_keeps_its_outputs_and_effects};
    return run_tests("ir/ad", test, VS_COUNT(test));
}
