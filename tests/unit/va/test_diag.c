/* Messages: what is wrong, and exactly where. Each text follows an include line, so it starts on
 * line 2. */
#include "va_check.h"

typedef struct diag_case {
    const char *text;
    int line, col;
    const char *part; /* of the first message */
} diag_case;

#define IN_MODULE(s)                                                                            \
    "module m(a, b); inout a, b; electrical a, b; parameter real p = 1; real x; integer n;\n" s \
    "\nendmodule"
#define IN_ANALOG(s) IN_MODULE("analog begin\n" s "\nend")

static void check_cases(const diag_case *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[2000];
        snprintf(text, sizeof text, HEAD "%s\n", t[i].text);
        bench b;
        bench_compile(&b, text);
        int line = 0, col = 0;
        char *all = bench_messages(&b);
        ck_assert_msg(b.st == VS_EINPUT && vec_len(b.d.msg), "no error for\n%s", text);
        diag_where(&b.d, b.d.msg[0].span, &line, &col);
        ck_assert_msg(strstr(b.d.msg[0].text, t[i].part) != NULL, "expected '%s' in\n%s", t[i].part,
                      all);
        ck_assert_msg(line == t[i].line && col == t[i].col, "expected %d:%d in\n%s", t[i].line,
                      t[i].col, all);
        vs_free(all);
        bench_free(&b);
    }
}

START_TEST(syntax)
{
    static const diag_case t[] = {
        {"modul m;", 2, 1, "expected 'module', 'nature', 'discipline' or 'paramset', not 'modul'"},
        {"module (a);", 2, 8, "expected the name of the module"},
        {"module m(a) inout a; endmodule", 2, 13,
         "expected ';' after the head of the module, not 'inout'"},
        {IN_ANALOG("x = ;"), 4, 5, "expected an expression, not ';'"},
        {IN_ANALOG("x = 1"), 4, 6, "expected ';' at the end of the statement"},
        {IN_ANALOG("x = (1 + 2;"), 4, 11, "expected ')', not ';'"},
        {IN_ANALOG("x 1;"), 4, 3, "expected '=', '<+' or '('"},
        {IN_ANALOG("if x > 1) x = 2;"), 4, 4, "expected '(' after 'if'"},
        {IN_ANALOG("else x = 1;"), 4, 1, "'else' without 'if'"},
        {IN_ANALOG("x = 1 ? 2;"), 4, 10, "expected ':' of the '?' operator"},
        {IN_ANALOG("for (n = 0 n < 3; n = n + 1) x = 1;"), 4, 12, "expected ';' in 'for'"},
        {IN_ANALOG("x = 3q;"), 4, 5, "malformed number"},
        {IN_ANALOG("x = \"abc;"), 4, 5, "string is not closed"},
        {IN_ANALOG("x = 1 # 2;"), 4, 7, "expected ';'"},
        {IN_MODULE("parameter real q 1;"), 3, 18, "expected '=' after the name of a parameter"},
        {IN_MODULE("parameter real q = 1 from [0;1];"), 3, 29, "expected ':' between the bounds"},
        {"module m; analog begin", 3, 1, "expected 'end', not end of file"},
        {"module m; real x;\n", 4, 1, "expected 'endmodule'"},
        {"/* open", 2, 1, "comment is not closed"},
        {"nature N; access = Q endnature", 2, 22, "expected ';' after the attribute"},
        {IN_ANALOG("x = \xc3\xa4;"), 4, 5, "no meaning in Verilog-A"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(names_and_types)
{
    static const diag_case t[] = {
        {IN_ANALOG("x = foo;"), 4, 5, "unknown name 'foo'"},
        {IN_ANALOG("x = sqr(2);"), 4, 5, "unknown function 'sqr'"},
        {IN_ANALOG("$strob(\"x\");"), 4, 1, "unknown system task '$strob'"},
        {IN_ANALOG("p = 2;"), 4, 1, "'p' cannot be assigned to: it is a parameter"},
        {IN_ANALOG("x = \"text\";"), 4, 5, "'x' is a number, the value assigned to it is not"},
        {IN_ANALOG("x = 1 + \"a\";"), 4, 9, "operand is a string: expected a number"},
        {IN_ANALOG("x = n & 1.5;"), 4, 7, "'&' needs integer operands"},
        {IN_ANALOG("x = exp(1, 2);"), 4, 5, "'exp' takes 1 argument, not 2"},
        {IN_ANALOG("x = pow(1);"), 4, 5, "'pow' takes 2 arguments, not 1"},
        {IN_ANALOG("x = x[1];"), 4, 5, "'x' is no array"},
        {IN_ANALOG("x = V(x);"), 4, 7, "'x' is not a node or a branch"},
        {IN_ANALOG("x = Temp(a);"), 4, 5, "'Temp' is no access function of 'a'"},
        {IN_ANALOG("x = V(a, b, a);"), 4, 5, "takes a branch, or one or two nodes"},
        {IN_ANALOG("V(a, a) <+ 1;"), 4, 1, "both terminals of the branch are the same node"},
        {IN_ANALOG("x <+ 1;"), 4, 1, "left side of '<+'"},
        {IN_ANALOG("x = a;"), 4, 5, "'x' is a number, the value assigned to it is not"},
        {IN_MODULE("real x;"), 3, 6, "'x' is declared twice"},
        {IN_MODULE("real v[0:p];"), 3, 10, "array bound must be a constant integer"},
        {IN_MODULE("parameter real v[0:2] = '{1, 2};"), 3, 25,
         "'v' has 3 elements, the list has 2"},
        {IN_MODULE("real v[0:2]; analog x = v[3];"), 3, 27, "index 3 is outside of 'v[0:2]'"},
        {IN_MODULE("real v[0:2]; analog x = v[1.5];"), 3, 27, "index is real"},
        {IN_MODULE("parameter real q = r; parameter real r = 1;"), 3, 20,
         "'r' is declared after 'q'"},
        {IN_MODULE("parameter real q = V(a);"), 3, 20,
         "'V' cannot be used in the value of a parameter"},
        {IN_MODULE("parameter real q = \"s\";"), 3, 20,
         "'q' is a number: its value must be a number"},
        {IN_MODULE("parameter real q = 1 from [2:1];"), 3, 28, "range is empty"},
        {IN_MODULE("aliasparam z = pp;"), 3, 16, "unknown parameter 'pp'"},
        {IN_MODULE("electric c;"), 3, 1, "unknown discipline 'electric'"},
        {IN_MODULE("branch (a, x) q;"), 3, 12, "terminal of branch 'q': expected a node"},
        {IN_MODULE("inout c;"), 3, 7, "'c' is not in the port list"},
        {IN_MODULE("analog function real f; input q; real q; f = x; endfunction"), 3, 46,
         "variable of the module"},
        {IN_MODULE("analog function real f; input q; real q; f = V(a); endfunction"), 3, 46,
         "cannot be used in an analog function"},
        {IN_MODULE("analog function real f; input q; real q; f = ddt(q); endfunction"), 3, 46,
         "analog operator 'ddt'"},
        {IN_MODULE("analog function real f; input q; real q; f = f(q); endfunction"), 3, 46,
         "calls itself"},
        {IN_MODULE("analog function real f; input q; real q; f = g(q); endfunction analog function "
                   "real g; input q;"
                   " real q; g = f(q); endfunction analog x = f(1);"),
         3, 109, "calls itself"},
        {IN_MODULE("analog function real f; output q; real q; f = 1; endfunction analog x = f(2);"),
         3, 75, "expected a variable"},
        {IN_ANALOG("x = ddx(x, p);"), 4, 12, "expected the unknown to derive by"},
        {IN_ANALOG("x = $simparam(\"tmon\");"), 4, 15, "unknown simulation parameter \"tmon\""},
        {IN_ANALOG("x = $limit(V(a), \"pnjlim\", 1);"), 4, 5, "'pnjlim' needs 2 more arguments"},
        {"paramset q nosuch; endparamset", 2, 12, "unknown module 'nosuch'"},
        {"module m; parameter real l = 1; endmodule paramset q m; .ll = 1; endparamset", 2, 58,
         "module 'm' has no parameter 'll'"},
        {"module m; endmodule module m; endmodule", 2, 28, "module 'm' is declared twice"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(what_is_not_supported_is_named)
{
    static const diag_case t[] = {
        {IN_ANALOG("V(a): V(b) == 1;"), 4, 1, "indirect branch contributions"},
        {IN_ANALOG("n = 0; while (V(a) > n) begin x = slew(V(a), 1); n = n + 1; end"), 4, 35,
         "number of rounds is not constant"},
        {IN_ANALOG("x = laplace_nd(V(a), '{1, 2, 3}, '{1, 2});"), 4, 5,
         "'laplace_nd' has more zeros than poles"},
        {IN_ANALOG("x = laplace_nd(V(a), 1, '{1, 2});"), 4, 22, "expected a list of coefficients"},
        {IN_ANALOG("x = laplace_zp(V(a), '{1}, '{1, 2});"), 4, 22, "expected a list of roots"},
        {IN_ANALOG("x = zi_nd(V(a), '{1}, '{1, 2}, 1n);"), 4, 5, "'zi_nd' is not supported"},
        {IN_ANALOG("x = absdelay(V(a));"), 4, 5, "'absdelay' takes 2 to 3 arguments"},
        {IN_ANALOG("x = $random;"), 4, 5, "'$random' is not supported"},
        {IN_ANALOG("x = $table_model(1, \"f\");"), 4, 5, "'$table_model' is not supported"},
        {IN_ANALOG("n = cross(V(a) - 1, 1);"), 4, 5, "'cross' is an event"},
        {IN_ANALOG("@(absdelta(V(a), 1)) n = 1;"), 4, 3, "event 'absdelta' is not supported"},
        {IN_ANALOG("n = 0; while (V(a) > n) begin @(cross(V(a))) x = 1; n = n + 1; end"), 4, 33,
         "number of rounds is not constant"},
        {IN_ANALOG("I(b) <+ I(<a>);"), 4, 9, "I(<port>)"},
        {IN_ANALOG("casez (n) 1: x = 1; endcase"), 4, 1, "'casez' is not supported"},
        {IN_MODULE("resistor #(.r(1)) r1(a, b);"), 3, 1, "instances of other modules"},
        {IN_MODULE("if (p) resistor r1(a, b);"), 3, 8, "can only hold 'analog' blocks"},
        {IN_MODULE("initial x = 1;"), 3, 1, "digital behaviour"},
        {IN_ANALOG("n = 0; while (V(a) > n) begin I(a) <+ ddt(V(a)); n = n + 1; end"), 4, 39,
         "number of rounds is not constant"},
        {IN_MODULE(
             "electrical [0:3] v; integer k; analog for (k = 0; k < p; k = k + 1) I(v[k]) <+ 1;"),
         3, 73, "index of 'v' must be constant"},
        {IN_ANALOG("n = 0; while (1) begin I(a) <+ ddt(V(a)); n = n + 1; end"), 4, 8,
         "does not end"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(preprocessor)
{
    static const diag_case t[] = {
        {"`include \"nofile.inc\"", 2, 10, "included file 'nofile.inc' does not exist"},
        {"`include nofile", 2, 1, "expected a file name in quotes"},
        {"`nomacro", 2, 1, "macro '`nomacro' is not defined"},
        {"`define F(x) x\n`F", 3, 1, "macro 'F' needs 1 argument in parentheses"},
        {"`define F(x) x\n`F(1, 2)", 3, 1, "macro 'F' takes 1 argument, not 2"},
        {"`define F(x) x\n`F(1", 3, 1, "arguments of macro 'F' are not closed"},
        {"`define A `B\n`define B `A\n`A", 4, 1, "macro 'A' uses itself"},
        {"`ifdef X\n", 2, 1, "expected '`endif'"},
        {"`endif", 2, 1, "'`endif' without '`ifdef'"},
        {"`else", 2, 1, "'`else' without '`ifdef'"},
        {"`define 3", 2, 9, "expected the name of a macro"},
        {"`define F(x x", 2, 13, "expected ',' or ')'"},
    };
    check_cases(t, VS_COUNT(t));
}
END_TEST

START_TEST(work_goes_on_after_an_error)
{
    bench b;
    bench_compile(&b, HEAD
                  "module m(a); inout a; electrical a; real x;\nanalog begin\nx = ;\nx = 1 +;\nx = "
                  "y;\nx = foo(1);\n"
                  "if (x) begin x = ); end\nI(a) <+ zz;\nend\nendmodule\nmodule ok; endmodule\n");
    ck_assert_int_eq(b.d.n_error, 6);
    ck_assert_uint_eq(vec_len(b.u.module), 1);
    ck_assert_str_eq(b.u.module[0]->name, "ok");
    bench_free(&b);
}
END_TEST

START_TEST(near_names_are_suggested)
{
    bench b;
    bench_compile(&b, HEAD "module m(a); inout a; electrical a; parameter real length = 1;\nanalog "
                           "I(a) <+ lenght;\nendmodule\n");
    ck_assert_int_eq(b.d.n_error, 1);
    ck_assert_str_eq(b.d.msg[1].text, "did you mean 'length'?");
    bench_free(&b);
}
END_TEST

RUN_SUITE("va/diag", syntax, names_and_types, what_is_not_supported_is_named, preprocessor,
          work_goes_on_after_an_error, near_names_are_suggested)
