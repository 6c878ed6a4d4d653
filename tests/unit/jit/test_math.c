/* Vector functions: errors against long double, special values, the same bits for every width. */
#include "jit_check.h"

#include <float.h>

enum { N = 40000, PER_CALL = 512 };

typedef struct fun {
    ir_op op;
    long double (*exact)(long double, long double);
    double bound;  /* ulps */
    double lo, hi; /* arguments, besides random bit patterns */
} fun;

#define ONE(f)                                             \
    static long double x_##f(long double x, long double y) \
    {                                                      \
        (void)y;                                           \
        return f##l(x);                                    \
    }
/* clang-format off */
ONE(exp) ONE(log) ONE(expm1) ONE(log1p) ONE(tanh) ONE(sinh) ONE(cosh) ONE(atan) ONE(sin) ONE(cos)
    /* clang-format on */
    static long double x_pow(long double x, long double y)
{
    return powl(x, y);
}

static const fun FUN[] = {
    {IR_EXP, x_exp, 1, -750, 712}, {IR_LN, x_log, 1, 0, 4},       {IR_POW, x_pow, 1, 0, 50},
    {IR_EXPM1, x_expm1, 1, -3, 3}, {IR_LOG1P, x_log1p, 1, -1, 3}, {IR_TANH, x_tanh, 1, -4, 4},
    {IR_SINH, x_sinh, 1, -4, 4},   {IR_COSH, x_cosh, 1, -4, 4},   {IR_ATAN, x_atan, 1, -4, 4},
    {IR_SIN, x_sin, 1, -100, 100}, {IR_COS, x_cos, 1, -100, 100},
};
static const char *const CPU[] = {NULL, "x86-64", "x86-64-v3"};
static const int LANES[] = {1, 2, 4, 8};

static const double SPECIAL[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 1.5,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 DBL_MIN,
                                 -DBL_MIN,
                                 4.9406564584124654e-324,
                                 -4.9406564584124654e-324,
                                 1e-310,
                                 -1e-310,
                                 DBL_MAX,
                                 -DBL_MAX,
                                 709.782712893384,
                                 709.7827128933841,
                                 710.4758600739439,
                                 710.475860073944,
                                 711,
                                 -708.4,
                                 -745.1332191019411,
                                 -745.1332191019412,
                                 -746,
                                 -750,
                                 1e22,
                                 -1e22,
                                 1e300,
                                 -1e300,
                                 1e-20,
                                 -1e-20,
                                 0x1p-54,
                                 -0x1p-54,
                                 0x1p53,
                                 0x1p53 + 2,
                                 4503599627370497.5,
                                 823549.6,
                                 823549.7,
                                 -823549.7,
                                 0.99999999999999989,
                                 1.0000000000000002,
                                 0.70710678118654746,
                                 1.4142135623730951,
                                 0.34657359027997264,
                                 1e5,
                                 3.14159265358979312,
                                 37,
                                 -37,
                                 40,
                                 1e15};
enum { N_SPECIAL = VS_COUNT(SPECIAL) };

static uint64_t seed;
static uint64_t rnd(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed ^ seed >> 33;
}
static double random01(void) { return (double)(rnd() >> 11) * 0x1p-53; }
static double random_bits(void)
{
    uint64_t w = rnd();
    double x;
    memcpy(&x, &w, sizeof x);
    return x;
}

/* Pairs of arguments: special, in the interval, any bits, and near 1 and 0. */
static void arguments(const fun *f, double *x, double *y, int n)
{
    seed = 42;
    for (int i = 0; i < n; i++) {
        int how = i % 4;
        x[i] = i < N_SPECIAL * N_SPECIAL ? SPECIAL[i % N_SPECIAL]
               : how == 0                ? random_bits()
               : how == 1                ? (random01() - 0.5) * pow(2, -(double)(rnd() % 60))
               : how == 2                ? 1 + (random01() - 0.5) * pow(2, -(double)(rnd() % 50))
                                         : f->lo + (f->hi - f->lo) * random01();
        y[i] = i < N_SPECIAL * N_SPECIAL ? SPECIAL[i / N_SPECIAL]
               : how == 0                ? 100 * (random01() - 0.5)
               : how == 2                ? 1e3 * pow(2, (double)(rnd() % 50)) * (random01() - 0.5)
               : how == 1                ? 20 * (random01() - 0.5)
                                         : random01() * 300 - 150;
    }
}

/* out[i] = op(x[i], y[i]) by a kernel of so many lanes */
static void evaluate(const char *cpu, int lanes, ir_op op, const double *x, const double *y,
                     double *out, int n)
{
    jit_opt opt = {.no_cache = true, .opt_level = 2, .cpu = cpu};
    simple_layout s;
    ir_fn fn;
    ir_fn_init(&fn, "f");
    ir_val a = ir_in(&fn, IR_IN_PROBE, 0, IR_F64, false),
           b = ir_in(&fn, IR_IN_PROBE, 1, IR_F64, false);
    ir_out_add(&fn, IR_OUT_RES, 0, 0,
               ir_op_arity(op) == 1 ? ir_un(&fn, op, a) : ir_bin(&fn, op, a, b));
    simple_layout_init(&s, &fn, 2);
    s.lay.lanes = lanes;
    jit *j = jit_open(&opt);
    jit_kernel kernel = compile(j, &fn, &s.lay);
    int32_t nodes[2 * PER_CALL];
    double at[2 * PER_CALL + 1] = {0};
    for (int p = 0; p < PER_CALL / lanes; p++)
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < lanes; l++)
                nodes[(p * 2 + k) * lanes + l] = 1 + 2 * (p * lanes + l) + k;
    for (int i = 0; i < n; i += PER_CALL) {
        double got[PER_CALL];
        for (int k = 0; k < PER_CALL && i + k < n; k++)
            at[1 + 2 * k] = x[i + k], at[2 + 2 * k] = y[i + k];
        kernel(&(jit_batch){.x = at, .map = nodes, .out = got}, 0, PER_CALL / lanes);
        memcpy(out + i, got, sizeof *got * (size_t)(i + PER_CALL < n ? PER_CALL : n - i));
    }
    jit_close(&j);
    ir_fn_fini(&fn);
}

/* |got - want| in units of the last place of a double next to want */
static double ulps(double got, long double want)
{
    double w = (double)want;
    if (isnan(w) || isnan(got))
        return isnan(w) && isnan(got) ? 0 : INFINITY;
    if (isinf(w) || isinf(got))
        return w == got                                                         ? 0
               : fabsl(want) > DBL_MAX * (1 - 0x1p-53L) && fabs(got) >= DBL_MAX ? 0.5
                                                                                : INFINITY;
    int e;
    frexp(w, &e);
    return (double)(fabsl((long double)got - want) / ldexpl(1, e < -1021 ? -1074 : e - 53));
}

static double *x, *y, *out, *other;
static void begin(void)
{
    x = vs_calloc(N, sizeof *x), y = vs_calloc(N, sizeof *y), out = vs_calloc(N, sizeof *out),
    other = vs_calloc(N, sizeof *out);
}
static void end(void) { vs_free(x), vs_free(y), vs_free(out), vs_free(other); }

START_TEST(errors_are_within_the_bound)
{
    const fun *f = &FUN[_i / 3];
    const char *cpu = CPU[_i % 3];
    double worst = 0, worst_x = 0, worst_y = 0;
    arguments(f, x, y, N);
    evaluate(cpu, 4, f->op, x, y, out, N);
    for (int i = 0; i < N; i++) {
        long double want = f->exact(x[i], y[i]);
        double u = ulps(out[i], want);
        if (u > worst)
            worst = u, worst_x = x[i], worst_y = y[i];
        if (out[i] == 0 && want == 0)
            ck_assert_msg(!signbit(out[i]) == !signbit(want), "%s(%.17g, %.17g): sign of 0",
                          ir_op_name(f->op), x[i], y[i]);
    }
    if (getenv("VSIM_VERBOSE"))
        printf("%-6s %-10s %.3f ulp at %.17g %.17g\n", ir_op_name(f->op), cpu ? cpu : "native",
               worst, worst_x, worst_y);
    ck_assert_msg(worst <= f->bound, "%s on %s: %g ulp at %.17g, %.17g", ir_op_name(f->op),
                  cpu ? cpu : "this machine", worst, worst_x, worst_y);
}
END_TEST

START_TEST(bits_do_not_depend_on_the_width)
{
    const fun *f = &FUN[_i];
    arguments(f, x, y, N / 4);
    evaluate(NULL, 1, f->op, x, y, out, N / 4);
    for (size_t k = 1; k < VS_COUNT(LANES); k++) {
        evaluate(NULL, LANES[k], f->op, x, y, other, N / 4);
        for (int i = 0; i < N / 4; i++)
            ck_assert_msg(same(out[i], other[i]),
                          "%s(%.17g, %.17g): %.17g with 1 lane, %.17g with %d", ir_op_name(f->op),
                          x[i], y[i], out[i], other[i], LANES[k]);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("jit math");
    TCase *t = tcase_create("math");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_loop_test(t, errors_are_within_the_bound, 0, 3 * (int)VS_COUNT(FUN));
    tcase_add_loop_test(t, bits_do_not_depend_on_the_width, 0, (int)VS_COUNT(FUN));
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
