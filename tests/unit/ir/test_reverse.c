/* Tests of ir_reverse.c: against forward differentiation, arms not taken, what it costs. */
#include "ir_test.h"

enum { N_ROW = 16 };

typedef struct point {
    double cache[8], weight[2 * N_ROW], probe[4];
    values other;
} point;

static ir_num input_of(const ir_input *in, void *user)
{
    point *p = user;
    switch (in->kind) {
    case IR_IN_CACHE: return (ir_num){.f = p->cache[in->k]};
    case IR_IN_STATE: return (ir_num){.f = p->weight[in->k]};
    case IR_IN_PROBE: return (ir_num){.f = p->probe[in->k]};
    default: return value_of_input(in, &p->other);
    }
}

static ir_fn reversed(const ir_fn *f)
{
    ir_fn g;
    ck_assert(ir_reverse(&g, f, N_ROW));
    check_valid(&g);
    return g;
}

/* d/d(cache k) */
static double by(const ir_fn *g, point *p, int32_t k)
{
    const double *out = run_fn(g, input_of, p);
    for (size_t o = 0; o < vec_len(g->out); o++) {
        ck_assert_int_eq(g->out[o].kind, IR_OUT_BY);
        if (g->out[o].a == k)
            return out[o];
    }
    return 0;
}

/* The same by ir_ad, from the outputs of f. */
static double forward(const ir_fn *f, point *p, int32_t k)
{
    const size_t n = vec_len(f->out);
    int32_t seed = -1;
    ir_val *want = arena_array(&test_mem, ir_val, n), *d = arena_array(&test_mem, ir_val, n),
           *new_of = arena_array(&test_mem, ir_val, vec_len(f->inst));
    double sum = 0;
    ir_fn g;
    for (size_t i = 0; i < vec_len(f->in); i++)
        if (f->in[i].kind == IR_IN_CACHE && f->in[i].k == k)
            seed = (int32_t)i;
    if (seed < 0)
        return 0;
    for (size_t o = 0; o < n; o++)
        want[o] = f->out[o].v;
    ir_ad(&g, f, &seed, 1, want, (int)n, d, new_of);
    for (size_t o = 0; o < n; o++)
        if (d[o] != IR_NONE)
            ir_out_add(&g, IR_OUT_G, (int32_t)o, 0, d[o]);
    const double *v = run_fn(&g, input_of, p);
    for (size_t j = n; j < vec_len(g.out); j++) {
        const ir_out *o = &f->out[g.out[j].a];
        sum += v[j] * p->weight[o->kind == IR_OUT_RES ? o->a : N_ROW + o->a];
    }
    ir_fn_fini(&g);
    return sum;
}

#define XY "fn f x = in f64 cache 0 y = in f64 cache 1 "

START_TEST(each_operation_gives_its_slope_to_its_operands)
{
    static const char *const code[] = {
        "neg x",      "add x, y", "sub x, y", "sub y, x", "mul x, y",   "mul x, x",   "div x, y",
        "div 2, y",   "div x, 3", "min x, y", "max x, y", "abs x",      "fmod x, y",  "sqrt x",
        "exp x",      "ln x",     "pow x, y", "pow x, 2", "pow x, 3",   "pow x, 0.5", "pow 2, y",
        "log10 x",    "sin x",    "cos x",    "tan x",    "asin x",     "acos x",     "atan x",
        "atan2 x, y", "sinh x",   "cosh x",   "tanh x",   "asinh x",    "acosh y",    "atanh x",
        "hypot x, y", "expm1 x",  "log1p x",  "floor x",  "limit x, 0",
    };
    point p = {.cache = {0.7, 1.3}, .weight = {1.5}};
    for (size_t k = 0; k < VS_COUNT(code); k++) {
        ir_fn f = fn_of(arena_printf(&test_mem, "%s r = %s out res 0 0 r", XY, code[k]));
        ir_fn g = reversed(&f);
        const bool limit = !strncmp(code[k], "limit", 5);
        for (int32_t c = 0; c < 2; c++) {
            const double want = limit ? (c ? 0 : 1.5) : forward(&f, &p, c), got = by(&g, &p, c);
            /* a handful of roundings each */
            ck_assert_msg(fabs(got - want) <= 1e-14 * fabs(want), "%s by %d: %.17g for %.17g",
                          code[k], c, got, want);
        }
        ir_fn_fini(&f);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(rows_and_charges_count_with_their_weights)
{
    point p = {.cache = {3, 5}, .weight = {[2] = 7, [N_ROW + 2] = 11, [N_ROW + 4] = 13}};
    ir_fn f = fn_of(XY "a = mul x, y b = mul x, x out res 2 0 a out react 2 0 b out react 4 0 y");
    ir_fn g = reversed(&f);
    ck_assert_double_eq(by(&g, &p, 0), 7 * 5 + 11 * 2 * 3);
    ck_assert_double_eq(by(&g, &p, 1), 7 * 3 + 13);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

/* sqrt and ln of a negative number, 1/0: what stands in the arm not taken does not count. */
START_TEST(arms_that_are_not_taken_give_nothing)
{
    static const struct {
        const char *arm;
        double x;
    } t[] = {{"sqrt x", -1}, {"ln x", -1}, {"div y, x", 0}, {"exp x", 1e4}, {"pow x, 0.5", -1}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        ir_fn f = fn_of(
            arena_printf(&test_mem,
                         "%s v = in f64 probe 0 u = %s q = mul u, y s = mul q, q c = flt v, 0 "
                         "r = select c, s, y e = mul r, x out res 0 0 e",
                         XY, t[k].arm));
        ir_fn g = reversed(&f);
        point p = {.cache = {t[k].x, 2}, .weight = {1}, .probe = {1}};
        ck_assert_msg(by(&g, &p, 0) == 2 && by(&g, &p, 1) == t[k].x, "%s: %g %g", t[k].arm,
                      by(&g, &p, 0), by(&g, &p, 1));
        ir_fn_fini(&f);
        ir_fn_fini(&g);
    }
}
END_TEST

START_TEST(derivatives_through_loops_are_refused)
{
    static const char loop[] =
        "fn f x = in f64 cache 0 n = in i32 param 3 z = const i32 0 w = in f64 probe 0 "
        "loop i = lphi z, j y = lphi w, m c = ilt i, n while c j = iadd i, 1 m = mul y, %s "
        "endloop r = mul y, x out res 0 0 r";
    point p = {.cache = {3}, .weight = {1}, .probe = {2}, .other = {.i = 2}};
    ir_fn f = fn_of(arena_printf(&test_mem, loop, "x")), g;
    ck_assert(!ir_reverse(&g, &f, N_ROW));
    ck_assert_uint_eq(vec_len(g.out), 0);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
    f = fn_of(arena_printf(&test_mem, loop, "w")); /* nothing that x moves is in the loop */
    g = reversed(&f);
    ck_assert_double_eq(by(&g, &p, 0), 2 * 2 * 2);
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

/* Its inputs would be taken for weights. */
START_TEST(hidden_state_is_refused)
{
    static const char text[] = "fn f x = in f64 cache 0 s = in f64 state %d v = in f64 probe 0 "
                               "y = mul x, v z = add y, s r = mul x, %s out res 0 0 r";
    ir_fn f, g;
    for (int k = 0; k < 200; k += 100) {
        f = fn_of(arena_printf(&test_mem, text, k, "z"));
        ck_assert(!ir_reverse(&g, &f, N_ROW));
        ck_assert_uint_eq(vec_len(g.out), 0);
        ir_fn_fini(&f);
        ir_fn_fini(&g);
    }
}
END_TEST

/* Each of n values is a product of two: with n inputs, forward code has n derivatives of each. */
START_TEST(cost_does_not_grow_with_the_number_of_inputs)
{
    enum { N = 100 };
    char *text = arena_printf(&test_mem, "fn f v = in f64 probe 0 r0 = add v, 1");
    for (int k = 0; k < N; k++)
        text = arena_printf(&test_mem, "%s c%d = in f64 cache %d r%d = mul r%d, c%d", text, k, k,
                            k + 1, k, k);
    ir_fn f = fn_of(arena_printf(&test_mem, "%s out res 0 0 r%d", text, N)), g = reversed(&f);
    ck_assert_uint_eq(vec_len(g.out), N);
    ck_assert_int_le(count_op(&g, IR_MUL), 3 * N); /* the value, and a product for each operand */
    ir_fn_fini(&f);
    ir_fn_fini(&g);
}
END_TEST

static bool finite_at(const ir_fn *f, point *p)
{
    const double *v = run_fn(f, input_of, p);
    for (size_t o = 0; o < vec_len(f->out); o++)
        if (!isfinite(v[o]))
            return false;
    return true;
}

/* Random code whose parameters are setup values, straightened. */
START_TEST(random_code_has_the_derivatives_of_forward_differentiation)
{
    int compared = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        ir_fn f = random_fn(seed, 40, true), s, g;
        for (size_t i = 0; i < vec_len(f.in); i++)
            if (f.in[i].kind == IR_IN_PARAM && f.in[i].type == IR_F64)
                f.in[i].kind = IR_IN_CACHE;
        ir_ifconv(&s, &f, NULL);
        if (ir_reverse(&g, &s, N_ROW)) {
            check_valid(&g);
            const values v = random_values(seed, true);
            point p = {.weight = {0.5, -2, 3}, .other = v};
            memcpy(p.cache, v.f, sizeof p.cache);
            memcpy(p.probe, v.probe, sizeof p.probe);
            for (int32_t k = 0; k < 3 && finite_at(&s, &p); k++) {
                const double want = forward(&s, &p, k), got = by(&g, &p, k);
                /* sums in another order, of a function of up to 40 smooth operations */
                ck_assert_msg(!isfinite(want) || fabs(got - want) <= 1e-9 * (1 + fabs(want)),
                              "seed %d by %d: %.17g for %.17g", (int)seed, k, got, want);
                compared += want != 0;
            }
        }
        ir_fn_fini(&f);
        ir_fn_fini(&s);
        ir_fn_fini(&g);
    }
    ck_assert_int_gt(compared, 200);
}
END_TEST

int main(void)
{
    const TTest *const test[] = {each_operation_gives_its_slope_to_its_operands,
                                 rows_and_charges_count_with_their_weights,
                                 arms_that_are_not_taken_give_nothing,
                                 derivatives_through_loops_are_refused,
                                 hidden_state_is_refused,
                                 cost_does_not_grow_with_the_number_of_inputs,
                                 random_code_has_the_derivatives_of_forward_differentiation};
    return run_tests("ir/reverse", test, VS_COUNT(test));
}
