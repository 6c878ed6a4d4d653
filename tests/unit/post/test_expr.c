/* test_expr.c - vector expressions. */
#include <string.h>

#include "../suite.h"
#include "plots.h"

static const struct {
    const char *text;
    double re, im;
} values[] = {
    {"1+2*3", 7, 0},
    {"-2^2", -4, 0},
    {"2^-1", 0.5, 0},
    {"2**3", 8, 0},
    {"(1+2)*3", 9, 0},
    {"7%4", 3, 0},
    {"1k+1meg", 1001000, 0},
    {"2 gt 1", 1, 0},
    {"2 lt 1", 0, 0},
    {"1=1", 1, 0},
    {"1<>1", 0, 0},
    {"1 & 0", 0, 0},
    {"1 | 0", 1, 0},
    {"~1", 0, 0},
    {"!0", 1, 0},
    {"1 ? 5 : 6", 5, 0},
    {"0 ? 5 : 0 ? 6 : 7", 7, 0},
    {"(3,4)", 3, 4},
    {"mag((3,4))", 5, 0},
    {"re((3,4))", 3, 0},
    {"im((3,4))", 4, 0},
    {"(1,1)*(1,-1)", 2, 0},
    {"i*i", -1, 0},
    {"conj((1,2))", 1, -2},
    {"sqrt(-4)", 0, 2},
    {"ph((0,1))", M_PI / 2, 0},
    {"j(2)", 0, 2},
    {"db(10)", 20, 0},
    {"db(0)", -1000, 0},
    {"db(1e-49)", -980, 0},
    {"db(1e-60)", -1000, 0},
    {"db((0,0))", -1000, 0},
    {"log(1000)", 6.907755278982137, 0},
    {"log10(1000)", 3, 0},
    {"ln(1)", 0, 0},
    {"(-8)^(1/3)", 1, 1.7320508075688772},
    {"length(vector(5))", 5, 0},
    {"vector(5)[3]", 3, 0},
    {"mean(vector(5))", 2, 0},
    {"max(vector(5))", 4, 0},
    {"min(vector(5)+1)", 1, 0},
    {"max(2,3)", 3, 0},
    {"sum(vector(5))", 10, 0},
    {"vector(4)[1,2][1]", 2, 0},
    {"pi", M_PI, 0},
    {"const.e", M_E, 0},
    {"v(up)[1000]", 1, 0},
    {"up[500]", 0.5, 0},
    {"V(UP)[500]", 0.5, 0},
    {"v(up,wave)[250]", -0.75, 0},
    {"v1#branch[1000]", -1, 0},
    {"i(v1)[1000]", -1, 0},
    {"v(0)", 0, 0},
    {"tran1.v(up)[10]", 0.01, 0},
    {"ac1.v(out)[1]", 0.5, -0.5},
    {"mag(ac1.out)[1]", M_SQRT1_2, 0},
    {"ac1.vm(out)[1]", M_SQRT1_2, 0},
    {"ac1.vdb(out)[1]", -3.010299956639812, 0},
    {"ac1.vp(out)[1]", -M_PI / 4, 0},
    {"ac1.vr(out)[1]", 0.5, 0},
    {"ac1.vi(out)[1]", -0.5, 0},
    {"integ(v(up))[1000]", 0.5, 0},
    {"deriv(v(up)*v(up))[300]", 0.6, 0},
    {"delay(v(up),0.2)[500]", 0.3, 0},
    {"delay(v(up),0.2)[100]", 0, 0},
    {"delay(v(up),-0.7)[900]", 1, 0},
    {"v(up)[[0.5,0.6]][0]", 0.5, 0},
    {"length(v(up)[[0.5,0.6]])", 101, 0},
    {"{1+1}*'2'", 4, 0},
    {"twice(3)", 6, 0},
    {"twice(twice(1))+par", 47, 0},
    {"interpolate(ac1.frequency)[0]", 1, 0},
};

static bool number(void *user, const char *name, double *value)
{
    (void)user;
    *value = 43;
    return !strcmp(name, "par");
}

START_TEST(expressions_have_their_values)
{
    bench b;
    bench_init(&b);
    post_def d = {.name = "twice", .text = "2*x"};
    vec_push(d.arg, "x");
    vec_push(b.e.def, d);
    b.e.number = number;
    post_val v;
    ck_assert_msg(post_eval(&b.e, values[_i].text, &v), "%s: %s", values[_i].text,
                  vec_len(b.d.msg) ? b.d.msg[0].text : "");
    ck_assert_msg(v.n >= 1, "%s", values[_i].text);
    double re = v.v[0], im = v.complex ? v.v[1] : 0;
    ck_assert_msg(fabs(re - values[_i].re) < 1e-9 * (1 + fabs(values[_i].re)) &&
                      fabs(im - values[_i].im) < 1e-9,
                  "%s = %.15g,%.15g", values[_i].text, re, im);
    vec_free(b.e.def[0].arg);
    vec_free(b.e.def);
    bench_fini(&b);
}
END_TEST

static const char *const wrong[][2] = {
    {"1+", "an expression is expected"},
    {"nix", "there is no vector 'nix' in the plot tran1"},
    {"v(nix)", "there is no vector 'v(nix)' in the plot tran1"},
    {"foo(1)", "there is no function 'foo'"},
    {"vector(5)[7]", "the index 7 is outside 0 .. 4"},
    {"(1", "')' is expected to close the bracket"},
    {"mag()", "mag() takes 1 argument, not 0"},
    {"delay(v(up),v(up))", "delay() takes a curve and a number: delay(v(out), 1n)"},
    {"delay(3,1)", "delay() needs a vector with an axis"},
    {"deriv(3)", "deriv() needs a vector with an axis"},
    {"1 2", "'2' is not expected behind the expression"},
    {"vector(-1)", "vector() takes a length from 0 to 1e8"},
    {"endless(1)", "the function 'endless' calls itself without end"},
    {"max(vector(0))", "max() of an empty vector"},
};

START_TEST(wrong_expressions_say_why)
{
    bench b;
    bench_init(&b);
    post_def d = {.name = "endless", .text = "endless(x+1)"};
    vec_push(d.arg, "x");
    vec_push(b.e.def, d);
    post_val v;
    ck_assert_msg(!post_eval(&b.e, wrong[_i][0], &v), "%s", wrong[_i][0]);
    ck_assert_int_ge(vec_len(b.d.msg), 1);
    ck_assert_msg(strstr(b.d.msg[0].text, wrong[_i][1]) != NULL, "%s: %s", wrong[_i][0],
                  b.d.msg[0].text);
    vec_free(b.e.def[0].arg);
    vec_free(b.e.def);
    bench_fini(&b);
}
END_TEST

START_TEST(lists_of_expressions_end_where_no_operator_follows)
{
    bench b;
    bench_init(&b);
    const char *text = "v(up) -1 v(wave)*2 time";
    const char *const want[] = {"v(up) -1", "v(wave)*2", "time"};
    for (size_t i = 0; i < VS_COUNT(want); i++) {
        post_val v;
        ck_assert(text && post_eval_next(&b.e, &text, &v));
        ck_assert_str_eq(v.name, want[i]);
        ck_assert_int_eq(v.n, 1001);
    }
    ck_assert_ptr_null(text);
    bench_fini(&b);
}
END_TEST

START_TEST(names_of_an_expression_are_found_without_evaluating_it)
{
    bench b;
    bench_init(&b);
    const char **list = NULL;
    post_names(&b.names, "v(a,b)*2+vdb(out), i(v9) ,mag(Foo) @m1[gm]", &list);
    const char *const want[] = {"v(a)", "v(b)", "v(out)", "i(v9)", "foo", "@m1[gm]"};
    ck_assert_int_eq(vec_len(list), VS_COUNT(want));
    for (size_t i = 0; i < VS_COUNT(want); i++)
        ck_assert_str_eq(list[i], want[i]);
    vec_free(list);
    bench_fini(&b);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
    bench b;
    bench_init(&b);
    char text[20001];
    memset(text, '(', 20000);
    text[20000] = 0;
    post_val v;
    ck_assert(!post_eval(&b.e, text, &v));
    memset(text, '-', 20000);
    ck_assert(!post_eval(&b.e, text, &v));
    bench_fini(&b);
}
END_TEST

START_TEST(functions_with_a_range_need_the_whole_where_a_value_is_out_of_it)
{
    static const struct {
        const char *text;
        bool whole;
    } t[] = {{"v(up)*2", false},        {"sqrt(v(up))", false},   {"sqrt(v(up)-1)", true},
             {"v(up)^2", false},        {"(v(up)-1)^2", false},   {"(v(up)-0.5)^0.5", true},
             {"-2^(v(up)-1)", false},   {"ln(v(up)+1)", false},   {"log10(v(up)-1)", true},
             {"acosh(v(up)+1)", false}, {"atanh(2*v(up))", true}, {"deriv(v(up))", true}};
    bench b;
    bool whole;
    post_val v;
    bench_init(&b);
    b.e.whole = &whole;
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        b.e.ranges = true;
        whole = false;
        ck_assert(post_eval(&b.e, t[k].text, &v));
        ck_assert_msg(whole == t[k].whole, "%s", t[k].text);
        b.e.ranges = whole = false;
        ck_assert(post_eval(&b.e, t[k].text, &v)); /* of any value: one behind them may be out */
        ck_assert_msg(whole == (k > 0), "%s", t[k].text);
    }
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/expr");
    TCase *t = tcase_create("post/expr");
    tcase_add_loop_test(t, expressions_have_their_values, 0, (int)VS_COUNT(values));
    tcase_add_loop_test(t, wrong_expressions_say_why, 0, (int)VS_COUNT(wrong));
    tcase_add_test(t, lists_of_expressions_end_where_no_operator_follows);
    tcase_add_test(t, names_of_an_expression_are_found_without_evaluating_it);
    tcase_add_test(t, deep_nesting_is_refused);
    tcase_add_test(t, functions_with_a_range_need_the_whole_where_a_value_is_out_of_it);
    suite_add_tcase(s, t);
    return run_suite(s);
}
