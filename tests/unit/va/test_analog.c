/* Contributions, branches, unknowns, analog operators. */
#include "va_check.h"

#define MOD(ports, body) \
    "module m(" ports "); inout " ports "; electrical " ports "; " body " endmodule"

static bool has_out(const bench *b, ir_out_kind kind, int32_t a)
{
    for (size_t i = 0; i < vec_len(b->m->eval.out); i++)
        if (b->m->eval.out[i].kind == kind && b->m->eval.out[i].a == a)
            return true;
    return false;
}

START_TEST(flow_enters_one_node_and_leaves_the_other)
{
    bench b = bench_new(MOD(
        "a, b",
        "parameter real r = 2; analog begin I(a, b) <+ V(a, b) / r; I(b, a) <+ 1; I(b) <+ 4; end"));
    bench_x(&b, "a", 3);
    bench_x(&b, "b", 1);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 0);
    ck_assert_double_eq(res(&b, "b"), 4);
    ck_assert_uint_eq(vec_len(b.m->unknown), 2);
    ck_assert_int_eq(b.m->n_port, 2);
    bench_free(&b);
}
END_TEST

START_TEST(potential_source_has_a_current_unknown)
{
    bench b = bench_new(MOD("a, b", "parameter real v = 5; analog V(a, b) <+ v;"));
    bench_x(&b, "a", 3);
    bench_x(&b, "b", 1);
    bench_x(&b, "flow(a,b)", 7);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 7);
    ck_assert_double_eq(res(&b, "b"), -7);
    ck_assert_double_eq(res(&b, "flow(a,b)"), 2 - 5);
    ck_assert_double_eq(out(&b, IR_OUT_ISPOT, 0), 1);
    ck_assert(!has_out(&b, IR_OUT_COLLAPSE, 0));
    ck_assert_int_eq(b.m->branch[0].current, 2);
    ck_assert_str_eq(b.m->unknown[2].unit, "A");
    ck_assert_double_eq(b.m->unknown[2].abstol, 1e-12);
    ck_assert_double_eq(b.m->unknown[2].res_abstol, 1e-6);
    bench_free(&b);
}
END_TEST

START_TEST(static_switch_collapses_or_drops_its_current)
{
    bench b = bench_new(
        MOD("a, b",
            "electrical i; parameter real r = 0; analog begin if (r > 0) I(a, i) <+ V(a, i) / r;"
            " else V(a, i) <+ 0.0; I(i, b) <+ V(i, b); end"));
    bench_x(&b, "flow(a,i)", 7);
    bench_x(&b, "a", 6);
    bench_x(&b, "i", 2);
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_COLLAPSE, 0), 1);
    ck_assert_double_eq(out(&b, IR_OUT_ISPOT, 0), 1);
    ck_assert_double_eq(out(&b, IR_OUT_DROP, 3), 0);
    ck_assert_double_eq(res(&b, "a"), 7);
    ck_assert_double_eq(res(&b, "flow(a,i)"), 4);
    bench_set(&b, "r", 2);
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_COLLAPSE, 0), 0);
    ck_assert_double_eq(out(&b, IR_OUT_DROP, 3), 1);
    ck_assert_double_eq(res(&b, "a"), 2);
    ck_assert_double_eq(res(&b, "flow(a,i)"), 7);
    bench_free(&b);
}
END_TEST

START_TEST(dynamic_switch_never_collapses)
{
    bench b = bench_new(MOD("a, b, c", "analog if (V(c) > 1) V(a, b) <+ 0; else I(a, b) <+ 0;"));
    ck_assert(!has_out(&b, IR_OUT_COLLAPSE, 0));
    ck_assert(!has_out(&b, IR_OUT_DROP, 3));
    bench_x(&b, "flow(a,b)", 7);
    bench_x(&b, "a", 3);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 0);
    ck_assert_double_eq(res(&b, "flow(a,b)"), 7);
    bench_x(&b, "c", 2);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 7);
    ck_assert_double_eq(res(&b, "flow(a,b)"), 3);
    bench_free(&b);
}
END_TEST

START_TEST(the_last_kind_of_contribution_wins)
{
    bench b = bench_new(MOD("a", "analog begin I(a) <+ 5; V(a) <+ 2; I(a) <+ 1; I(a) <+ 3; end"));
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 4);
    ck_assert_double_eq(out(&b, IR_OUT_ISPOT, 0), 0);
    bench_free(&b);
}
END_TEST

START_TEST(flow_of_a_flow_branch_is_its_sum)
{
    bench b = bench_new(
        MOD("a, b", "branch (a) p; (*desc=\"i\"*) real i; analog begin I(p) <+ 3 * V(p); i = I(p);"
                    " I(b) <+ I(p); end"));
    bench_x(&b, "a", 2);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "b"), 6);
    ck_assert_double_eq(opvar(&b, "i"), 6);
    ck_assert_uint_eq(vec_len(b.m->unknown), 2);
    bench_free(&b);
    /* read before it is complete: the flow becomes an unknown */
    b = bench_new(MOD("a, b", "branch (a) p; analog begin I(b) <+ I(p); I(p) <+ 3 * V(p); end"));
    bench_x(&b, "a", 2);
    bench_x(&b, "flow(p)", 10);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 10);
    ck_assert_double_eq(res(&b, "b"), 10);
    ck_assert_double_eq(res(&b, "flow(p)"), 4);
    bench_free(&b);
}
END_TEST

START_TEST(reading_the_flow_of_an_empty_branch_makes_an_ammeter)
{
    bench b = bench_new(MOD("a, b, c", "analog I(c) <+ 2 * I(a, b);"));
    bench_x(&b, "a", 2);
    bench_x(&b, "flow(a,b)", 10);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "c"), 20);
    ck_assert_double_eq(res(&b, "a"), 10);
    ck_assert_double_eq(res(&b, "flow(a,b)"), 2);
    bench_free(&b);
}
END_TEST

START_TEST(resistor_as_potential_source_drops_when_it_is_none)
{
    bench b = bench_new(
        MOD("a, b", "parameter real r = 2; branch (a, b) x; analog if (r < 10) V(x) <+ I(x) * r;"
                    " else I(x) <+ V(x) / r;"));
    bench_x(&b, "a", 3);
    bench_x(&b, "flow(x)", 10);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "flow(x)"), 3 - 20);
    bench_set(&b, "r", 30);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 0.1);
    ck_assert_double_eq(out(&b, IR_OUT_DROP, 2), 1);
    bench_free(&b);
}
END_TEST

START_TEST(ddt_is_a_symbol_and_its_argument_an_output)
{
    bench b = bench_new(
        MOD("a", "parameter real c = 2; real q; analog begin q = c * V(a); I(a) <+ ddt(q) + ddt(3);"
                 " if (V(a) > 1) I(a) <+ 2 * ddt(V(a) * V(a)); end"));
    ck_assert_int_eq(b.m->n_ddt, 2);
    bench_x(&b, "a", 3);
    b.ddt[0] = 10;
    b.ddt[1] = 100;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 210);
    ck_assert_double_eq(out(&b, IR_OUT_DDT_ARG, 0), 6);
    ck_assert_double_eq(out(&b, IR_OUT_DDT_ARG, 1), 9);
    bench_x(&b, "a", 0.5);
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_DDT_ARG, 1), 0);
    ck_assert_double_eq(res(&b, "a"), 10);
    bench_free(&b);
}
END_TEST

START_TEST(noise_is_a_symbol_per_call)
{
    bench b = bench_new(
        MOD("a, b",
            "real n; analog begin n = white_noise(2 * V(a), \"n1\"); I(a) <+ n; I(b) <+ -0.5 * n;"
            " if (V(a) > 1) I(a) <+ flicker_noise(V(a), 1.5, \"f\");"
            " I(a) <+ noise_table('{1, 2, 10, 3}); end"));
    ck_assert_uint_eq(vec_len(b.m->noise), 3);
    ck_assert_str_eq(b.m->noise[0].name, "n1");
    ck_assert_int_eq(b.m->noise[1].kind, VA_FLICKER);
    ck_assert_uint_eq(vec_len(b.m->noise[2].table), 4);
    bench_x(&b, "a", 2);
    b.noise[0] = 8;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 8);
    ck_assert_double_eq(res(&b, "b"), -4);
    ck_assert_double_eq(out(&b, IR_OUT_NOISE_PSD, 0), 4);
    ck_assert_double_eq(out(&b, IR_OUT_NOISE_PSD, 1), 2);
    ck_assert_double_eq(out(&b, IR_OUT_NOISE_EXP, 1), 1.5);
    ck_assert_double_eq(out(&b, IR_OUT_NOISE_PSD, 2), 1);
    bench_x(&b, "a", 0.5);
    bench_run(&b);
    ck_assert_double_eq(out(&b, IR_OUT_NOISE_PSD, 1), 0);
    bench_free(&b);
}
END_TEST

START_TEST(ddx_derives_by_one_node)
{
    bench b = bench_new(
        MOD("a, b", "electrical c; branch (a, c) br; (*desc=\"g\"*) real ga, gb, gc, gi, g2;"
                    " real x; analog begin V(br) <+ 0.5 * I(br); I(c) <+ V(c);"
                    " x = V(a, b) * V(a, b) + 3 * V(b); ga = ddx(x, V(a)); gb = ddx(x, V(b));"
                    " gc = ddx(x, V(c)); gi = ddx(I(br) * V(a), I(br));"
                    " if (V(a) > 1) begin x = exp(x - 7); g2 = 2 * ddx(x, V(a)); end end"));
    bench_x(&b, "a", 3);
    bench_x(&b, "b", 1);
    bench_run(&b);
    ck_assert_double_eq(opvar(&b, "ga"), 4);
    ck_assert_double_eq(opvar(&b, "gb"), -1);
    ck_assert_double_eq(opvar(&b, "gc"), 0);
    ck_assert_double_eq(opvar(&b, "gi"), 3);
    ck_assert_double_eq(opvar(&b, "g2"), 8);
    bench_free(&b);
}
END_TEST

START_TEST(idt_is_an_unknown_of_its_own)
{
    bench b = bench_new(MOD("a, b", "analog V(a, b) <+ idt(3 * V(b), 7) + idt(V(a));"));
    bench_x(&b, "b", 2);
    bench_x(&b, "idt1", 4);
    b.ddt[0] = 100;
    b.ddt[1] = 1000;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "idt1"), 100 - 6);
    ck_assert_double_eq(res(&b, "idt2"), 1000);
    ck_assert_double_eq(res(&b, "flow(a,b)"), -2 - 4);
    ck_assert_double_eq(out(&b, IR_OUT_DDT_ARG, 0), 4);
    b.dyn[IR_DYN_IS_STATIC] = 1;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "idt1"), 4 - 7);
    bench_free(&b);
}
END_TEST

static double pnjlim_of(double v, double old, double vt, double vcrit)
{
    bench b = bench_new(MOD("a, b", "parameter real vt = 1, vcrit = 1; analog I(a, b) <+ "
                                    "$limit(V(a, b), \"pnjlim\", vt, vcrit);"));
    bench_set(&b, "vt", vt);
    bench_set(&b, "vcrit", vcrit);
    bench_x(&b, "a", v);
    b.limold[0] = old;
    bench_run(&b);
    double r = res(&b, "a");
    ck_assert_double_eq(out(&b, IR_OUT_LIMNEW, 0), r);
    ck_assert_double_eq(out(&b, IR_OUT_LIMITED, 0), r != v);
    b.dyn[IR_DYN_LIMIT] = 0;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), v);
    bench_free(&b);
    return r;
}

START_TEST(junction_voltage_is_limited_like_in_spice)
{
    const double vt = 0.025, vc = 0.6;
    ck_assert_double_eq(pnjlim_of(0.5, 0, vt, vc), 0.5);
    ck_assert_double_eq(pnjlim_of(0.62, 0.6, vt, vc), 0.62);
    ck_assert_double_eq_tol(pnjlim_of(5, 0.7, vt, vc), 0.7 + vt * (2 + log(4.3 / vt - 2)), 1e-15);
    ck_assert_double_eq_tol(pnjlim_of(0.7, 5, vt, vc), 5 - vt * (2 + log(2 + 4.3 / vt)), 1e-15);
    ck_assert_double_eq_tol(pnjlim_of(5, -1, vt, vc), vt * log(5 / vt), 1e-15);
    ck_assert_double_eq(pnjlim_of(-50, 1, vt, vc), -2);
    ck_assert_double_eq(pnjlim_of(-50, -3, vt, vc), -7);
}
END_TEST

START_TEST(user_function_can_limit)
{
    bench b = bench_new(
        MOD("a", "analog function real lim; input vn, vo, s; real vn, vo, s; lim = min(vn, vo + s);"
                 " endfunction analog I(a) <+ $limit(V(a), lim, 0.5);"));
    bench_x(&b, "a", 3);
    b.limold[0] = 1;
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 1.5);
    bench_free(&b);
}
END_TEST

START_TEST(port_current_is_the_sum_of_its_row)
{
    bench b = bench_new(
        MOD("a, b", "(*desc=\"i\"*) real i; analog begin if (V(a) > 1) i = 10 * I(<a>); else i = 0;"
                    " I(a, b) <+ V(a, b); I(a) <+ 3; end"));
    bench_x(&b, "a", 2);
    bench_run(&b);
    ck_assert_double_eq(opvar(&b, "i"), 50);
    bench_free(&b);
}
END_TEST

START_TEST(vectors_of_nodes_and_branches)
{
    bench b = bench_new("module m(p, n); inout [1:0] p; inout n; electrical [1:0] p; electrical n; "
                        "electrical [0:2] k;"
                        " branch (p, n) br; genvar i; analog begin"
                        " for (i = 0; i < 2; i = i + 1) begin I(p[i], k[i + 1]) <+ (i + 1) * "
                        "V(p[i], k[i + 1]); I(br[i]) <+ 1; end"
                        " end endmodule");
    ck_assert_int_eq(b.m->n_port, 3);
    ck_assert_str_eq(b.m->unknown[0].name, "p[1]");
    ck_assert_uint_eq(vec_len(b.m->unknown), 5); /* k[0] is not used */
    bench_x(&b, "p[1]", 2);
    bench_x(&b, "k[2]", 1);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "p[1]"), 3);
    ck_assert_double_eq(res(&b, "k[2]"), -2);
    ck_assert_double_eq(res(&b, "n"), -2);
    bench_free(&b);
}
END_TEST

START_TEST(generate_loops_hold_analog_blocks)
{
    bench b = bench_new(
        "module m(p); inout [0:2] p; electrical [0:2] p; genvar i; parameter integer s = 1;"
        " for (i = 0; i < 3; i = i + 1) begin : g analog I(p[i]) <+ i; end"
        " if (s) analog begin I(p[0]) <+ 5; end else analog I(p[0]) <+ 7; endmodule");
    bench_run(&b);
    ck_assert_double_eq(res(&b, "p[0]"), 5);
    ck_assert_double_eq(res(&b, "p[2]"), 2);
    bench_free(&b);
}
END_TEST

START_TEST(ground_is_the_reference)
{
    bench b = bench_new(MOD("a", "electrical gnd; ground gnd; analog begin I(a, gnd) <+ V(a, gnd); "
                                 "I(gnd, a) <+ V(gnd, a) * 2; end"));
    bench_x(&b, "a", 2);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "a"), 6);
    ck_assert_uint_eq(vec_len(b.m->unknown), 1);
    bench_free(&b);
}
END_TEST

START_TEST(natures_name_their_access_functions)
{
    bench b =
        bench_new("module m(a, t); inout a, t; electrical a; thermal t; analog begin I(a) <+ V(a);"
                  " Pwr(t) <+ -V(a) * I(a); flow(t) <+ 2 * potential(t); end endmodule");
    bench_x(&b, "a", 3);
    bench_x(&b, "t", 5);
    bench_run(&b);
    ck_assert_double_eq(res(&b, "t"), -9 + 10);
    ck_assert_str_eq(b.m->unknown[1].unit, "K");
    ck_assert_str_eq(b.m->unknown[1].discipline, "thermal");
    bench_free(&b);
}
END_TEST

RUN_SUITE("va/analog", flow_enters_one_node_and_leaves_the_other,
          potential_source_has_a_current_unknown, static_switch_collapses_or_drops_its_current,
          dynamic_switch_never_collapses, the_last_kind_of_contribution_wins,
          flow_of_a_flow_branch_is_its_sum, reading_the_flow_of_an_empty_branch_makes_an_ammeter,
          resistor_as_potential_source_drops_when_it_is_none,
          ddt_is_a_symbol_and_its_argument_an_output, noise_is_a_symbol_per_call,
          ddx_derives_by_one_node, idt_is_an_unknown_of_its_own,
          junction_voltage_is_limited_like_in_spice, user_function_can_limit,
          port_current_is_the_sum_of_its_row, vectors_of_nodes_and_branches,
          generate_loops_hold_analog_blocks, ground_is_the_reference,
          natures_name_their_access_functions)
