/* Preprocessor: macros, conditionals, includes, places of tokens. */
#include "va_check.h"

#include <unistd.h>

static double y_of(const char *head, const char *expr)
{
    char text[4000];
    snprintf(text, sizeof text,
             "%s\nmodule m(a); inout a; electrical a; (*desc=\"y\"*) real y; analog begin y = %s;"
             " I(a) <+ 0; end endmodule",
             head, expr);
    bench b = bench_new(text);
    bench_run(&b);
    double v = opvar(&b, "y");
    bench_free(&b);
    return v;
}

START_TEST(macros_take_arguments_and_nest)
{
    ck_assert_double_eq(y_of("`define A 3\n`define B (`A + 1)", "`B * 2"), 8);
    ck_assert_double_eq(y_of("`define MAX(x, y) ((x) > (y) ? (x) : (y))", "`MAX(1, `MAX(5, 2))"),
                        5);
    ck_assert_double_eq(
        y_of("`define F(x) pow(x, 2)\n`define G(a, b) (`F(a) + `F(b))", "`G(3, min(1, 2))"), 10);
    ck_assert_double_eq(y_of("`define LONG(p) (p + \\\n  1 + \\\n  2) // remark\n", "`LONG(4)"), 7);
    ck_assert_double_eq(y_of("`define C 5 // a remark is not part of it", "`C + 1"), 6);
    ck_assert_double_eq(y_of("`define E\n", "1 `E + 1"), 2);
    ck_assert_double_eq(y_of("`define Z() 4\n", "`Z()"), 4);
    ck_assert_double_eq(y_of("`define OBJ (2)\n", "`OBJ"), 2);
    ck_assert_double_eq(y_of("`define A 1\n`define A 2\n", "`A"), 2);
    ck_assert_double_eq(y_of("`define S(n) $simparam(\"no\", n)\n", "`S(min(3, 4))"), 3);
}
END_TEST

START_TEST(conditionals_nest_and_skip_anything)
{
    ck_assert_double_eq(y_of("`define X\n`ifdef X\n`define V 1\n`else\n`define V 2\n`endif", "`V"),
                        1);
    ck_assert_double_eq(y_of("`ifndef X\n`define V 1\n`else\n`define V 2\n`endif", "`V"), 1);
    ck_assert_double_eq(
        y_of("`define Y\n`ifdef X\n`define V 1\n`elsif Y\n`define V 2\n`else\n`define V 3\n`endif",
             "`V"),
        2);
    ck_assert_double_eq(y_of("`ifdef X\n`ifdef Q\n`else\n`endif\n don't \"care # \\ \n/* `endif */ "
                             "// `endif\n`else\n`define V 4\n`endif",
                             "`V"),
                        4);
    ck_assert_double_eq(
        y_of("`define X\n`undef X\n`ifdef X\n`define V 1\n`else\n`define V 2\n`endif", "`V"), 2);
    ck_assert_double_eq(
        y_of("",
             "1\n`ifdef __VAMS_COMPACT_MODELING__\n + 10\n`endif\n`ifdef __VSIM__\n+ 100\n`endif\n"
             "`ifdef __OPENVAF__\n+ 1000\n`endif\n`ifdef __XYCE__\n+ 10000\n`endif\n"),
        1111);
    ck_assert_double_eq(
        y_of("`define T(x) \\\n`ifdef NO \\\n 1 \\\n`else \\\n x \\\n`endif\n", "`T(7)"), 7);
}
END_TEST

START_TEST(the_standard_files_have_all_their_names)
{
    static const char *const constants[] = {"constants.vams", "constants.va", "constants.h"};
    static const char *const disciplines[] = {"disciplines.vams", "disciplines.va", "disciplines.h",
                                              "discipline.h"};
    char text[200];
    for (size_t i = 0; i < VS_COUNT(constants); i++) {
        snprintf(text, sizeof text, "`include \"%s\"", constants[i]);
        ck_assert_double_eq(y_of(text, "`M_PI"), 3.14159265358979323846);
    }
    for (size_t i = 0; i < VS_COUNT(disciplines); i++) {
        bench b;
        snprintf(text, sizeof text,
                 "`include \"%s\"\nmodule m(a); inout a; electrical a; thermal t;"
                 " analog begin I(a) <+ 1; Pwr(t) <+ Temp(t); end endmodule\n",
                 disciplines[i]);
        bench_compile(&b, text);
        char *msg = bench_messages(&b);
        ck_assert_str_eq(msg, "");
        vs_free(msg);
        bench_free(&b);
    }
}
END_TEST

START_TEST(other_directives_are_accepted)
{
    ck_assert_double_eq(y_of("`resetall\n`timescale 1ns / 1ps\n`default_discipline "
                             "electrical\n`default_transition 1n\n"
                             "`begin_keywords \"VAMS-2.3\"\n",
                             "2"),
                        2);
}
END_TEST

START_TEST(constants_are_built_in)
{
    ck_assert_double_eq(y_of("`include \"constants.vams\"", "`M_PI"), 3.14159265358979323846);
    ck_assert_double_eq(
        y_of("`include \"constants.h\"\n`include \"constants.vams\"", "`P_CELSIUS0"), 273.15);
}
END_TEST

START_TEST(a_token_of_a_macro_stands_where_the_macro_is_used)
{
    bench b;
    bench_compile(&b, "`define BAD(x) x + nothing\nmodule m(a); inout a;\n  real y;\n  analog y = "
                      "`BAD(nil);\nendmodule\n");
    char *msg = bench_messages(&b);
    ck_assert_str_eq(msg, "t.va:4:19: error: unknown name 'nil'\n"
                          "    4 |   analog y = `BAD(nil);\n"
                          "      |                   ^~~\n"
                          "t.va:4:14: error: unknown name 'nothing'\n"
                          "    4 |   analog y = `BAD(nil);\n"
                          "      |              ^~~~\n"
                          "t.va:1:9: note: in the expansion of macro 'BAD'\n"
                          "    1 | `define BAD(x) x + nothing\n"
                          "      |         ^~~\n");
    vs_free(msg);
    bench_free(&b);
}
END_TEST

static void put(const char *dir, const char *name, const char *text)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *fp = fopen(path, "w");
    ck_assert_ptr_nonnull(fp);
    fputs(text, fp);
    fclose(fp);
}

START_TEST(includes_are_found_beside_the_file_and_in_the_folders)
{
    char dir[] = "/tmp/vapp.XXXXXX", sub[100], path[300];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(sub, sizeof sub, "%s/lib", dir);
    snprintf(path, sizeof path, "mkdir %s", sub);
    ck_assert_int_eq(system(path), 0);
    put(dir, "m.va",
        HEAD "`include \"one.inc\"\n`include \"two.inc\"\nmodule m(a); inout a; electrical a;"
             " analog I(a) <+ `ONE + `TWO + `THREE + `OPT; endmodule\n");
    put(dir, "one.inc", "`define ONE 1\n");
    put(sub, "one.inc", "`define ONE 100\n");
    put(sub, "two.inc", "`define TWO 20\n`include \"three.inc\"\n");
    put(sub, "three.inc", "`define THREE 300\n");
    bench b = {.temp = 300};
    const char *inc[] = {"/nowhere", sub}, *def[] = {"OPT=4000", "FLAG"};
    va_opt opt = {inc, 2, def, 2};
    snprintf(path, sizeof path, "%s/m.va", dir);
    diag_init(&b.d);
    str_pool_init(&b.names);
    ck_assert_int_eq(va_compile(&b.u, &b.d, &b.names, path, &opt), VS_OK);
    b.m = b.u.module[0];
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 4321);
    bench_free(&b);
    bench c = {0};
    diag_init(&c.d);
    str_pool_init(&c.names);
    snprintf(path, sizeof path, "%s/none.va", dir);
    ck_assert_int_eq(va_compile(&c.u, &c.d, &c.names, path, NULL), VS_EIO);
    ck_assert_int_eq(c.d.n_error, 1);
    bench_free(&c);
    snprintf(path, sizeof path, "rm -r %s", dir);
    ck_assert_int_eq(system(path), 0);
}
END_TEST

RUN_SUITE("va/pp", macros_take_arguments_and_nest, conditionals_nest_and_skip_anything,
          other_directives_are_accepted, constants_are_built_in,
          the_standard_files_have_all_their_names,
          a_token_of_a_macro_stands_where_the_macro_is_used,
          includes_are_found_beside_the_file_and_in_the_folders)
