/* Tests of net_expr.c and of evaluation: values, precedence, functions, errors with the place. */
#include "flat_test.h"

static double value_of(const char *text, char **messages)
{
    char deck[600];
    snprintf(deck, sizeof deck,
             "t\n.param k=3 two=2 neg=-4 s=\"txt\"\n.func f(a,b)={a*10+b}\n.func g(x) 'f(x,x)+k'\n"
             "R1 a 0 {%s}\n",
             text);
    fixture t;
    deck_from(&t, deck, strlen(deck));
    double y = NAN;
    flat_room room;
    const flat_param *p = vec_len(t.f.inst) == 1 ? flat_params(&t.f.inst[0], &room) : NULL;
    if (vec_len(p) == 1)
        y = p[0].value;
    *messages = deck_messages(&t);
    deck_fini(&t);
    return y;
}

START_TEST(expressions_have_their_values)
{
    static const struct {
        const char *text;
        double value;
    } t[] = {
        {"1", 1},
        {"1+2*3", 7},
        {"(1+2)*3", 9},
        {"2**3**2", 512},
        {"2^10", 1024},
        {"-2**2", -4},
        {"2**-1", 0.5},
        {"10-4-3", 3},
        {"100/10/5", 2},
        {"7%4", 3},
        {"-7%4", -3},
        {"1k+1", 1001},
        {"1meg", 1e6},
        {"2.5u", 2.5e-6},
        {"10kohm", 1e4},
        {"1e3", 1e3},
        {".5", 0.5},
        {"1.", 1},
        {"+5", 5},
        {"--5", 5},
        {"!0", 1},
        {"!3", 0},
        {"1<2", 1},
        {"2<=2", 1},
        {"3>4", 0},
        {"3>=4", 0},
        {"3==3", 1},
        {"3!=3", 0},
        {"3<>4", 1},
        {"1&&0", 0},
        {"1||0", 1},
        {"2 && 3", 1},
        {"0||0", 0},
        {"1?2:3", 2},
        {"0?2:3", 3},
        {"1?0?5:6:7", 6},
        {"k>2 ? 10 : 20", 10},
        {"1+2<4", 1},
        {"sin(0)", 0},
        {"cos(0)", 1},
        {"tan(0)", 0},
        {"atan(1)*4", M_PI},
        {"asin(1)", M_PI / 2},
        {"acos(1)", 0},
        {"atan2(1,1)", M_PI / 4},
        {"sinh(0)", 0},
        {"cosh(0)", 1},
        {"tanh(0)", 0},
        {"asinh(0)", 0},
        {"acosh(1)", 0},
        {"atanh(0)", 0},
        {"exp(1)", M_E},
        {"ln(e)", 1},
        {"log(e)", 1},
        {"log10(1000)", 3},
        {"sqrt(16)", 4},
        {"abs(-3)", 3},
        {"min(3,2)", 2},
        {"max(3,2,7)", 7},
        {"max(3)+min(-2)", 1},
        {"4k7", 4.7e3},
        {"2R5*2", 5},
        {"4meg7", 4.7e6},
        {"47p3F", 47.3e-12},
        {"4L7", 4.7e-3},
        {"-2200u2nnn", -2200.2e-6},
        {"pow(2,3)", 8},
        {"pow(-2,3)", -8},
        {"pwr(-2,2)", -4},
        {"sgn(-9)", -1},
        {"sgn(0)", 0},
        {"int(-2.7)", -2},
        {"floor(-2.5)", -3},
        {"ceil(2.1)", 3},
        {"nint(2.5)", 2},
        {"round(2.5)", 3},
        {"u(1)", 1},
        {"u(-1)", 0},
        {"limit(5,0,3)", 3},
        {"limit(-5,0,3)", 0},
        {"limit(5,0)", 5},
        {"if(1,2,3)", 2},
        {"ternary_fcn(0,2,3)", 3},
        {"table(1.5,1,10,2,20)", 15},
        {"table(0,1,10,2,20)", 10},
        {"table(9,1,10,2,20)", 20},
        {"table(0,2,20,1,10)", 10},
        {"pwl(0,1,10,2,20)", 0},
        {"pwl(9,1,10,2,20,3,40)", 160},
        {"pwl(9,3,40,2,20,1,10)", 160},
        {"pwl(1.5,3,40,2,20,1,10)", 15},
        {"pwl(9,1,10)", 10},
        {"agauss(5,0,3)", 5},
        {"gauss(5,.1,0)", 5},
        {"unif(5,0)", 5},
        {"aunif(5,0)", 5},
        {"hypot(3,4)", 5},
        {"sqr(3)", 9},
        {"uramp(-1)", 0},
        {"pi", M_PI},
        {"temper", 27},
        {"kelvin", -273.15},
        {"c", 299792458.0},
        {"boltz", 1.380649e-23},
        {"echarge", 1.602176634e-19},
        {"k", 3},
        {"two*k", 6},
        {"K*TWO", 6},
        {"f(1,2)", 12},
        {"g(2)", 25},
        {"f(f(1,2),3)", 123},
        {"1 + {2*3}", 7},
        {"0 ? 1/0 : 4", 4},
        {"0 && 1/0", 0},
        {"1 || 1/0", 1},
        {"neg**2", 16},
        {"neg**3", -64},
        {"SQRT(4)", 2},
        {"  1 +\n+ 2", 3},
        {"1 +\n* comment\n\n + 2", 3},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char *msg;
        double y = value_of(t[i].text, &msg);
        ck_assert_msg(fabs(y - t[i].value) <= 1e-14 * fabs(t[i].value) && !*msg,
                      "%s: %.17g, not %.17g; %s", t[i].text, y, t[i].value, msg);
        vs_free(msg);
    }
}
END_TEST

START_TEST(wrong_expressions_say_where)
{
    /* the expression starts in line 5, column 9 */
    static const struct {
        const char *text, *message;
    } t[] = {
        {"1/0", "5:9: error: division of 1 by zero\n"},
        {"k+1/(k-3)", "5:11: error: division of 1 by zero\n"},
        {"7%0", "5:9: error: division of 7 by zero\n"},
        {"sqrt(-1)", "5:9: error: square root of the negative number -1\n"},
        {"1+sqrt(neg)", "5:11: error: square root of the negative number -4\n"},
        {"ln(0)", "5:9: error: logarithm of 0, which is not positive\n"},
        {"log10(-2)", "5:9: error: logarithm of -2, which is not positive\n"},
        {"asin(2)", "5:9: error: asin of 2, outside -1 to 1\n"},
        {"acosh(0)", "5:9: error: acosh of 0, below 1\n"},
        {"atanh(1)", "5:9: error: atanh of 1, not inside -1 to 1\n"},
        {"neg**0.5", "5:9: error: power of a negative number, (-4)**0.5\n"},
        {"0**-1", "5:9: error: 0 to the negative power -1\n"},
        {"exp(1000)", "5:9: error: the result of 'exp' is out of range (argument 1000)\n"},
        {"1e999", "5:9: error: number out of range\n"},
        {"two*tow", "5:13: error: unknown parameter 'tow'\nnote: did you mean 'two'?\n"},
        {"sqr1(2)", "5:9: error: unknown function 'sqr1'\nnote: did you mean 'sqrt'?\n"},
        {"f(1)", "5:9: error: function 'f' takes 2 arguments, not 1\n3:7: note: defined here\n"},
        {"sin(1,2)", "5:9: error: 'sin' takes 1 argument, not 2\n"},
        {"sin()", "5:9: error: 'sin' takes 1 argument, not 0\n"},
        {"max()", "5:9: error: 'max' takes 1 or more arguments, not 0\n"},
        {"pwl(1,2,3,4)", "5:9: error: 'pwl' needs a value and pairs of numbers\n"},
        {"if(1,2)", "5:9: error: if() takes 3 arguments: condition, value, other value\n"},
        {"(1+2", "5:13: error: ')' expected\n"},
        {"1+", "5:11: error: a value is expected, not '}'\n"},
        {"1 2", "5:11: error: an operator is expected here\n"},
        {"1?2", "5:12: error: ':' expected\n"},
        {"*2", "5:9: error: a value is expected, not '*'\n"},
        {"", "5:8: error: empty expression\n"},
        {"1x5", "5:9: error: bad number '1x5'\n"},
        {"s+1", "5:9: error: parameter 's' is the text \"txt\", a number is needed\n"},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char *msg;
        value_of(t[i].text, &msg);
        ck_assert_msg(!strcmp(msg, t[i].message), "%s:\n%sexpected:\n%s", t[i].text, msg,
                      t[i].message);
        vs_free(msg);
    }
}
END_TEST

static char *repeat(const char *head, const char *part, size_t n, const char *tail)
{
    size_t k = strlen(part), h = strlen(head);
    char *s = vs_malloc(h + n * k + strlen(tail) + 1), *p = s + h;
    memcpy(s, head, h);
    for (size_t i = 0; i < n; i++, p += k)
        memcpy(p, part, k);
    strcpy(p, tail);
    return s;
}

START_TEST(deep_and_long_expressions_end_with_a_message)
{
    static const struct {
        const char *head, *part, *tail;
    } t[] = {
        {"t\nR1 a 0 {", "(", "1}\n"},    {"t\nR1 a 0 {1", "+1", "}\n"},
        {"t\nR1 a 0 {", "-", "x}\n"},    {"t\nR1 a 0 {", "sin(", "1}\n"},
        {"t\nR1 a 0 {", "1?", "1}\n"},   {"t\nR1 a 0 {2", "**2", "}\n"},
        {"t\nR1 a 0 {1", "?1:1", "}\n"}, {"t\nR1 a 0 {1", "&&x<1", "}\n"},
        {"t\nR1 a 0 ", "{", "\n"},       {"t\nR1 a 0 ", "'", "\n"},
        {"t\nR1 a 0 ", "\"", "\n"},      {"t\nR1 a 0 max(1", ",1", "\n"},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char *s = repeat(t[i].head, t[i].part, 200001, t[i].tail);
        fixture f;
        deck_from(&f, s, strlen(s));
        ck_assert_msg(f.d.n_error > 0, "%s %s", t[i].head, t[i].part);
        ck_assert_int_lt(f.d.n_error, 200002);
        deck_fini(&f);
        vs_free(s);
    }
}
END_TEST

START_TEST(functions_that_double_their_argument_stop)
{
    char deck[8000] = "t\n.func f0(x)={x*x}\n";
    for (int i = 1; i < 60; i++)
        sprintf(deck + strlen(deck), ".func f%d(x)={f%d(x)+f%d(f%d(x))}\n", i, i - 1, i - 1, i - 1);
    size_t n = strlen(deck);
    const char *use[] = {"R1 a 0 {f59(1)}\n", "B1 a 0 v={f59(v(b))}\n", ".param p={f59(1)}\n"};
    for (size_t i = 0; i < VS_COUNT(use); i++) {
        strcpy(deck + n, use[i]);
        fixture f;
        deck_from(&f, deck, strlen(deck));
        ck_assert_int_ge(f.d.n_error, 1);
        deck_fini(&f);
    }
    const char *self = "t\n.func f(x)={f(x)+1}\n.func g(x)={g(g(x))}\nR1 a 0 {f(1)}\nR2 a 0 "
                       "{g(2)}\nB1 a 0 v={g(v(a))}\n";
    fixture f;
    deck_from(&f, self, strlen(self));
    ck_assert_int_ge(f.d.n_error, 2);
    deck_fini(&f);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {expressions_have_their_values, wrong_expressions_say_where,
                                  deep_and_long_expressions_end_with_a_message,
                                  functions_that_double_their_argument_stop};
    return run_tests("flat/expr", tests, VS_COUNT(tests));
}
