/* Modules, parameters, attributes, paramsets. */
#include "va_check.h"

START_TEST(defaults_depend_on_parameters_before_them)
{
    bench b = bench_new(
        "module m(a); inout a; electrical a; parameter real l = 2; parameter real w = 3 * l;"
        " parameter integer n = w / 4; localparam real A = w * l; parameter string s = \"x\";"
        " parameter k = 2, f = 2.5; analog I(a) <+ A + n; endmodule");
    ck_assert(bench_params(&b));
    ck_assert_double_eq(b.param[1], 6);
    ck_assert_double_eq(b.param[2], 2);
    ck_assert_int_eq(b.m->param[5].type, VA_INTEGER);
    ck_assert_int_eq(b.m->param[6].type, VA_REAL);
    ck_assert(b.m->param[3].local);
    bench_set(&b, "L", 5);
    bench_run(&b);
    ck_assert_double_eq(b.param[1], 15);
    ck_assert_double_eq(res(&b, "a"), 75 + 4);
    ck_assert_str_eq(str_of_id(&b.names, (int32_t)b.param[4]), "x");
    ck_assert_str_eq(b.m->param[1].dflt, "3*l");
    bench_free(&b);
}
END_TEST

START_TEST(ranges_are_checked_at_their_ends)
{
    static const struct {
        const char *range;
        double ok[3], bad[3];
    } t[] = {{"from [0:1]", {0, 1, .5}, {-.1, 1.1, 9}},
             {"from (0:1)", {.1, .9, .5}, {0, 1, 2}},
             {"from [0:inf)", {0, 1, HUGE_VAL}, {-1, -2, -1e-9}},
             {"from (-inf:0]", {0, -1, -2}, {1, 2, 3}},
             {"from [0:9] exclude 5", {4, 6, 0}, {5, -1, 10}},
             {"exclude [2:3)", {3, 1, 4}, {2, 2.5, 2.9}},
             {"from [0:1] from [5:6]", {0, 5, 6}, {2, 4, 7}},
             {"from '{1, 4}", {1, 4, 1}, {2, 3, 0}},
             {"exclude (0)", {1, 2, 3}, {0, 0, 0}}};
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "module m(a); inout a; electrical a; parameter real p = 1 %s; analog I(a) <+ p; "
                 "endmodule",
                 t[i].range);
        bench b = bench_new(text);
        for (int k = 0; k < 3; k++) {
            bench_set(&b, "p", t[i].ok[k]);
            ck_assert_msg(bench_params(&b), "%s accepts %g", t[i].range, t[i].ok[k]);
            bench_set(&b, "p", t[i].bad[k]);
            ck_assert_msg(!bench_params(&b), "%s refuses %g", t[i].range, t[i].bad[k]);
        }
        ck_assert_int_eq(strncmp(b.m->param[0].range, t[i].range, 4), 0);
        bench_free(&b);
    }
}
END_TEST

START_TEST(string_parameters_have_a_set_of_values)
{
    bench b = bench_new(
        "module m(a); inout a; electrical a; parameter string t = \"n\" from '{\"n\", \"p\"};"
        " analog if (t == \"p\") I(a) <+ 1; else I(a) <+ 2; endmodule");
    ck_assert(bench_params(&b));
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 2);
    bench_set(&b, "t", str_id(&b.names, str_intern0(&b.names, "p")));
    ck_assert(bench_params(&b));
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 1);
    bench_set(&b, "t", str_id(&b.names, str_intern0(&b.names, "q")));
    ck_assert(!bench_params(&b));
    bench_free(&b);
}
END_TEST

START_TEST(attributes_describe_parameters_and_variables)
{
    bench b = bench_new("(* desc=\"a thing\" *) module m(a); inout a; electrical a;\n"
                        "(* desc=\"length\", units=\"m\", type=\"instance\" *) parameter real l = "
                        "1e-6 from (0:inf);\n"
                        "aliasparam len = l; (* unit=\"V\", desc=\"v\" *) real v; real hidden; (* "
                        "op=\"yes\" *) real o;\n"
                        "localparam real ll = 2 * l; analog begin v = V(a); o = 2; hidden = "
                        "$param_given(len); I(a) <+ hidden + ll; end endmodule");
    ck_assert_str_eq(b.m->desc, "a thing");
    ck_assert_str_eq(b.m->param[0].desc, "length");
    ck_assert_str_eq(b.m->param[0].unit, "m");
    ck_assert(b.m->param[0].inst);
    ck_assert_str_eq(b.m->param[0].dflt, "1e-06");
    ck_assert_str_eq(b.m->param[0].range, "from (0:inf)");
    ck_assert_int_eq(va_find_param(b.m, "LEN"), 0);
    ck_assert_int_eq(va_find_param(b.m, "x"), -1);
    ck_assert_uint_eq(vec_len(b.m->opvar), 2);
    ck_assert_str_eq(b.m->opvar[0].unit, "V");
    for (size_t i = 0; i < vec_len(b.m->eval.in); i++)
        if (b.m->eval.in[i].kind == IR_IN_PARAM)
            ck_assert(b.m->eval.in[i].inst); /* also the localparam made of it */
    bench_set(&b, "len", 3);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 7);
    bench_free(&b);
}
END_TEST

START_TEST(array_parameters_are_elements)
{
    bench b = bench_new(
        "module m(a); inout a; electrical a; parameter real c[0:2] = '{1, 2, 3} from [0:10];"
        " parameter integer k = 1; analog I(a) <+ c[2] + 10 * c[k]; endmodule");
    ck_assert_uint_eq(vec_len(b.m->param), 4);
    bench_set(&b, "c[1]", 5);
    ck_assert(bench_params(&b));
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 53);
    bench_free(&b);
}
END_TEST

START_TEST(paramset_binds_parameters_of_its_module)
{
    bench b = bench_new(
        "paramset ps m; parameter real w = 2 from (0:5); .l = 3 * w; .n = 4; endparamset\n"
        "module m(a); inout a; electrical a; parameter real w = 1; parameter real l = 1;"
        " parameter integer n = 1; parameter real z = w + l; analog I(a) <+ l + 100 * n + 1000 * z"
        " + $param_given(l) - $param_given(z); endmodule\n");
    ck_assert_uint_eq(vec_len(b.u.module), 2);
    b.m = b.u.module[0];
    ck_assert_str_eq(b.m->name, "ps");
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 6 + 400 + 7000 + 1);
    bench_set(&b, "w", 1);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 3 + 400 + 4000 + 1);
    bench_set(&b, "w", 6);
    ck_assert(!bench_params(&b));
    bench_free(&b);
}
END_TEST

START_TEST(both_styles_of_headers)
{
    static const char *const text[] = {
        "module m(a, b); inout a, b; electrical a, b; analog I(a, b) <+ V(a, b); endmodule",
        "module m(a, b); inout electrical a; inout electrical b; analog I(a, b) <+ V(a, b); "
        "endmodule",
        "module m(inout electrical a, inout electrical b); analog I(a, b) <+ V(a, b); endmodule",
        "module m(inout electrical a, b); analog I(a, b) <+ V(a, b); endmodule",
        "module m(inout a, input b); electrical a; electrical b; analog I(a, b) <+ V(a, b); "
        "endmodule",
        "module m #(parameter real r = 1, parameter integer n = 2) (a, b); inout a, b; electrical "
        "a, b;"
        " analog I(a, b) <+ n / r * V(a, b) / 2; endmodule",
    };
    for (size_t i = 0; i < VS_COUNT(text); i++) {
        bench b = bench_new(text[i]);
        ck_assert_int_eq(b.m->n_port, 2);
        bench_x(&b, "a", 3);
        bench_run(&b);
        ck_assert_double_eq(res(&b, "b"), -3);
        bench_free(&b);
    }
}
END_TEST

START_TEST(a_file_may_hold_several_modules)
{
    bench b = bench_new(
        "module p(a); inout a; electrical a; analog I(a) <+ 1; endmodule module q; endmodule");
    ck_assert_uint_eq(vec_len(b.u.module), 2);
    ck_assert_str_eq(b.u.module[1]->name, "q");
    ck_assert_int_eq(b.u.module[1]->n_port, 0);
    bench_free(&b);
}
END_TEST

START_TEST(models_of_this_repository_compile_without_state)
{
    static const char *const name[] = {"resistor", "capacitor", "inductor", "diode"};
    const char *root = getenv("VSIM_SOURCE_ROOT");
    for (size_t i = 0; root && i < VS_COUNT(name); i++) {
        char path[1000];
        bench b = {0};
        snprintf(path, sizeof path, "%s/models/%s.va", root, name[i]);
        diag_init(&b.d);
        str_pool_init(&b.names);
        vs_status st = va_compile(&b.u, &b.d, &b.names, path, NULL);
        ck_assert_msg(st == VS_OK, "%s: %s", path, vec_len(b.d.msg) ? b.d.msg[0].text : "");
        check_ir(&b);
        ck_assert_int_eq(b.u.module[0]->n_state, 0);
        bench_free(&b);
    }
}
END_TEST

RUN_SUITE("va/module", defaults_depend_on_parameters_before_them, ranges_are_checked_at_their_ends,
          string_parameters_have_a_set_of_values, attributes_describe_parameters_and_variables,
          array_parameters_are_elements, paramset_binds_parameters_of_its_module,
          both_styles_of_headers, a_file_may_hold_several_modules,
          models_of_this_repository_compile_without_state)
