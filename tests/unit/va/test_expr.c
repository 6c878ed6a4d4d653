/* Expressions: every operator and function with the types of LRM 2.4, clause 4. */
#include "va_check.h"

typedef struct expr_case {
    const char *expr;
    double value;
} expr_case;

/* i, j: integers 7, -3 that no folding can see; x, z: reals 2.5, -1.5 */
static const char DECL[] =
    "integer i, j; real x, z; parameter integer pi = 7; parameter integer pj = -3;"
    "parameter real px = 2.5; parameter real pz = -1.5; parameter string ps = \"on\";";
static const char SET[] = "i = pi; j = pj; x = px; z = pz;";

static void check_table(const expr_case *t, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        char stmt[600];
        snprintf(stmt, sizeof stmt, "%s y = %s;", SET, t[k].expr);
        double v = value_of(DECL, stmt);
        ck_assert_msg(v == t[k].value || fabs(v - t[k].value) < 1e-14 * fabs(t[k].value) ||
                          (v != v && t[k].value != t[k].value),
                      "%s gives %.17g, not %.17g", t[k].expr, v, t[k].value);
    }
}

START_TEST(integers_divide_like_integers)
{
    static const expr_case t[] = {
        {"i / j", -2},
        {"i % j", 1},
        {"j % 2", -1},
        {"i / 2.0", 3.5},
        {"1 / 2", 0},
        {"1 / 2.0", 0.5},
        {"i + j", 4},
        {"i - j", 10},
        {"i * j", -21},
        {"-i", -7},
        {"i ** 2", 49},
        {"2 ** -1", 0},
        {"i ** 0.5", 2.6457513110645907},
        {"i / x", 2.8},
        {"7 / 2 * 2.0", 6},
        {"2147483647 + 1", -2147483648.0},
        {"i % 0", 0},
        {"5.5 % 2", 1.5},
        {"z % 1", -0.5},
        {"-2 ** 2", 4},
        {"2 ** 3 ** 2", 64},
    };
    check_table(t, VS_COUNT(t));
}
END_TEST

START_TEST(operators_have_their_precedence_and_type)
{
    static const expr_case t[] = {
        {"i > j", 1},
        {"i < j", 0},
        {"i >= 7", 1},
        {"i <= 6.5", 0},
        {"i == 7.0", 1},
        {"i != j", 1},
        {"x == 2.5 && z < 0", 1},
        {"x == 2.5 && z > 0", 0},
        {"0 || 0.5", 1},
        {"!x", 0},
        {"!0.0", 1},
        {"i & 3", 3},
        {"i | 8", 15},
        {"i ^ 2", 5},
        {"i ~^ 2", -6},
        {"~i", -8},
        {"i << 2", 28},
        {"i >> 1", 3},
        {"j >> 1", 2147483646},
        {"j >>> 1", -2},
        {"i <<< 1", 14},
        {"j >>> 40", -1},
        {"1 + 2 * 3 == 7 && 1", 1},
        {"i > 3 ? x : z", 2.5},
        {"i < 3 ? 1 : 2", 2},
        {"i > 3 ? 1 : 2.5", 1},
        {"(i > 3) + (i > 4)", 2},
        {"i < 3 ? exp(1) : i > 100 ? ln(2) : x * x / z", 2.5 * 2.5 / -1.5},
        {"1 | 2 ^ 3 & 1", 3},
        {"10 - 4 - 3", 3},
        {"+i - -j", 4},
        {"i === 7", 1},
        {"i !== 7", 0},
        {"ps == \"on\"", 1},
        {"ps != \"on\"", 0},
        {"\"a\" == \"b\"", 0},
    };
    check_table(t, VS_COUNT(t));
}
END_TEST

START_TEST(functions_have_their_value)
{
    static const expr_case t[] = {
        {"exp(1)", 2.718281828459045},
        {"ln(x)", 0.9162907318741551},
        {"$ln(x)", 0.9162907318741551},
        {"log(100.0)", 2},
        {"$log10(1000)", 3},
        {"sqrt(x)", 1.5811388300841898},
        {"pow(x, 2)", 6.25},
        {"pow(2, 3) / 16", 0.5},
        {"abs(z)", 1.5},
        {"abs(j)", 3},
        {"abs(j) / 2", 1},
        {"min(i, j)", -3},
        {"max(i, j) / 2", 3},
        {"max(x, i)", 7},
        {"min(x, z)", -1.5},
        {"floor(z)", -2},
        {"ceil(z)", -1},
        {"hypot(3, 4)", 5},
        {"atan2(1, 1)", 0.7853981633974483},
        {"sin(x)", 0.5984721441039564},
        {"cos(x)", -0.8011436155469337},
        {"tan(x)", -0.7470222972386603},
        {"asin(0.5)", 0.5235987755982989},
        {"acos(0.5)", 1.0471975511965979},
        {"atan(x)", 1.1902899496825317},
        {"sinh(x)", 6.050204481039787},
        {"cosh(x)", 6.132289479663686},
        {"tanh(x)", 0.9866142981514303},
        {"asinh(x)", 1.6472311463710958},
        {"acosh(x)", 1.566799236972411},
        {"atanh(0.5)", 0.5493061443340549},
        {"clog2(i)", 3},
        {"clog2(8)", 3},
        {"clog2(9)", 4},
        {"clog2(1)", 0},
        {"$clog2(1025)", 11},
        {"int(2.9)", 2},
        {"int(-2.9)", -2},
        {"$rtoi(z)", -1},
        {"$itor(i) / 2", 3.5},
        {"limexp(1)", 2.718281828459045},
        {"limexp(81)", 1.108124476878702e+35},
        {"$vt(1)", 1.380649e-23 / 1.602176634e-19},
        {"$temperature", 300.15},
        {"$mfactor", 1},
        {"$hflip + $angle + $xposition", 1},
        {"$simparam(\"tnom\")", 27},
        {"$simparam(\"nonsense\", 3.5)", 3.5},
        {"$simparam(\"gmin\")", 1e-12},
        {"ln1p(0.5)", 0.4054651081081644},
        {"expm1(0.5)", 0.6487212707001282},
        {"$param_given(px)", 0},
        {"$port_connected(a)", 1},
        {"$abstime", 0},
        {"analysis(\"tran\")", 0},
    };
    check_table(t, VS_COUNT(t));
}
END_TEST

START_TEST(numbers_have_scale_factors_and_bases)
{
    static const expr_case t[] = {
        {"1.5k", 1500},        {"2M", 2e6},    {"3G", 3e9},     {"1T", 1e12},        {"4m", 4e-3},
        {"5u", 5e-6},          {"6n", 6e-9},   {"7p", 7e-12},   {"8f", 8e-15},       {"9a", 9e-18},
        {"1_000", 1000},       {"1e-3", 1e-3}, {"2.5E+2", 250}, {".5", .5},          {"'h1F", 31},
        {"8'b1010_1010", 170}, {"'o17", 15},   {"16'd12", 12},  {"3000000000", 3e9}, {"1.0K", 1000},
    };
    check_table(t, VS_COUNT(t));
}
END_TEST

START_TEST(values_are_converted_when_assigned)
{
    static const struct {
        const char *expr;
        double value;
    } t[] = {{"2.5", 3}, {"-2.5", -3}, {"2.4", 2},          {"x + 1.0", 4},
             {"z", -2},  {"i > 3", 1}, {"1e10", 2147483647}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        char stmt[300];
        snprintf(stmt, sizeof stmt, "%s n = %s; y = n;", SET, t[k].expr);
        char decl[600];
        snprintf(decl, sizeof decl, "%s integer n;", DECL);
        ck_assert_msg(value_of(decl, stmt) == t[k].value, "%s gives %g", t[k].expr,
                      value_of(decl, stmt));
    }
    ck_assert_double_eq(value_of("integer n;", "n = 3; y = n / 2;"), 1);
    ck_assert_double_eq(value_of("real n;", "n = 3; y = n / 2;"), 1.5);
}
END_TEST

START_TEST(a_known_left_side_decides_and_or)
{
    ck_assert_double_eq(
        value_of("real v[0:1]; genvar k;",
                 "v[0] = 4; v[1] = 5; y = 0;"
                 "for (k = 0; k < 3; k = k + 1) if (k < 2 && v[k] > 4) y = y + v[k];"),
        5);
}
END_TEST

RUN_SUITE("va/expr", integers_divide_like_integers, operators_have_their_precedence_and_type,
          functions_have_their_value, numbers_have_scale_factors_and_bases,
          values_are_converted_when_assigned, a_known_left_side_decides_and_or)
