/* Modules from text: topology, variants, messages, the library's index. */
#include "mdl_check.h"

#include <sys/stat.h>

static bench b;
static void open_it(void) { bench_open(&b, false, false); }
static void close_it(void) { bench_close(&b); }

static mdl_model *model(const char *name, const char *text)
{
    char full[4000];
    snprintf(full, sizeof full, "`include \"constants.vams\"\n`include \"disciplines.vams\"\n%s",
             text);
    vs_status st = mdl_load_text(b.lib, "test.va", full);
    mdl_model *m = st == VS_OK ? mdl_find(b.lib, name) : NULL;
    if (!m)
        bench_show(&b);
    ck_assert_ptr_nonnull(m);
    return m;
}

static int32_t row1(mdl_model *m, const char *name, double value)
{
    int32_t row = row_with(&b, m, standard_env(), name != NULL, &name, &value);
    if (row < 0)
        bench_show(&b);
    return row;
}

static int32_t unknown(const mdl_model *m, const char *name)
{
    for (int32_t u = 0; u < mdl_n_unknown(m); u++)
        if (!strcmp(mdl_unknown(m, u)->name, name))
            return u;
    ck_abort_msg("no unknown %s", name);
    return -1;
}

static const char *const SERIES = /* a resistance that may vanish, before a conductance */
    "module series(p, n); inout p, n; electrical p, n, i;\n"
    "parameter real rs = 0 from [0:inf); parameter real g = 1m from (0:inf);\n"
    "analog begin\n"
    "  if (rs > 0) I(p,i) <+ V(p,i)/rs; else V(p,i) <+ 0;\n"
    "  I(i,n) <+ g*V(i,n);\n"
    "end endmodule\n";

START_TEST(node_behind_a_vanished_resistance_is_the_port)
{
    mdl_model *m = model("series", SERIES);
    int32_t i = unknown(m, "i"), r0 = row1(m, "rs", 0), r1 = row1(m, "rs", 100);
    ck_assert_int_eq(mdl_row_topology(m, r0)[i], 0);
    ck_assert_int_eq(mdl_row_topology(m, r1)[i], i);
    for (int32_t u = 3; u < mdl_n_unknown(m); u++) { /* current of the switch branch */
        ck_assert_int_eq(mdl_row_topology(m, r0)[u], -2);
        ck_assert_int_eq(mdl_row_topology(m, r1)[u], -2);
    }
    inst s;
    inst_open(&s, m, r0, MDL_DC);
    s.x[1] = 2, s.x[2] = 1, s.nodes[i] = s.nodes[0];
    for (int32_t u = 3; u < mdl_n_unknown(m); u++)
        s.nodes[u] = 0;
    inst_eval(&s);
    ck_assert_int_eq(s.v->lay.n_out, 6); /* 2 RES, 4 G */
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 1e-3, 1e-15);
    NEAR(inst_out(&s, IR_OUT_G, 1, 1), 1e-3, 1e-15);
    inst_close(&s);
    inst_open(&s, m, r1, MDL_DC);
    s.x[1] = 2, s.x[2] = 1, s.x[1 + i] = 1.5;
    for (int32_t u = 3; u < mdl_n_unknown(m); u++)
        s.nodes[u] = 0;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 5e-3, 1e-15);
    NEAR(inst_out(&s, IR_OUT_RES, i, 0), -5e-3 + 0.5e-3, 1e-15);
    inst_close(&s);
}
END_TEST

START_TEST(chain_of_collapses_ends_at_the_port)
{
    mdl_model *m = model(
        "chain",
        "module chain(p, n); inout p, n; electrical p, n, a, bb, c;\n"
        "analog begin V(c,bb) <+ 0; V(bb,a) <+ 0; V(a,p) <+ 0; I(c,n) <+ V(c,n); end endmodule\n");
    const int32_t *t = mdl_row_topology(m, row1(m, NULL, 0));
    ck_assert_int_eq(t[unknown(m, "a")], 0);
    ck_assert_int_eq(t[unknown(m, "bb")], 0);
    ck_assert_int_eq(t[unknown(m, "c")], 0);
    ck_assert_int_eq(t[1], 1);
}
END_TEST

START_TEST(ports_are_not_collapsed_into_each_other)
{
    mdl_model *m =
        model("short2",
              "module short2(p, n); inout p, n; electrical p, n; analog V(p,n) <+ 0; endmodule\n");
    int32_t row = row1(m, NULL, 0);
    const int32_t *t = mdl_row_topology(m, row);
    ck_assert_int_eq(mdl_n_unknown(m), 3);
    ck_assert_int_eq(t[0], 0);
    ck_assert_int_eq(t[1], 1);
    ck_assert_int_eq(t[2], 2); /* its current stays an unknown */
    inst s;
    inst_open(&s, m, row, MDL_DC);
    s.x[1] = 2, s.x[2] = 1, s.x[3] = 0.5;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 0.5, 0);
    NEAR(inst_out(&s, IR_OUT_RES, 1, 0), -0.5, 0);
    NEAR(fabs(inst_out(&s, IR_OUT_RES, 2, 0)), 1.0, 0);
    NEAR(inst_out(&s, IR_OUT_G, 0, 2), 1.0, 0);
    inst_close(&s);
}
END_TEST

START_TEST(inductance_keeps_its_flux_in_the_current_row)
{
    mdl_model *m =
        model("coil", "module coil(p, n); inout p, n; electrical p, n; branch (p,n) br;\n"
                      "parameter real l = 1u; analog V(br) <+ ddt(l*I(br)); endmodule\n");
    ck_assert_int_eq(mdl_n_unknown(m), 3);
    inst s;
    mdl_env env = standard_env();
    env.mfactor = 2;
    inst_open(&s, m, row_with(&b, m, env, 0, NULL, NULL), MDL_TRAN);
    s.x[1] = 5, s.x[2] = 1, s.x[3] = 3, s.dyn[IR_DYN_ALPHA] = 1e6;
    inst_eval(&s);
    double sign = inst_out(&s, IR_OUT_RES, 2, 0) > 0 ? 1 : -1;
    NEAR(sign * inst_out(&s, IR_OUT_RES, 2, 0), 4.0, 1e-15);
    NEAR(sign * inst_out(&s, IR_OUT_REACT, 2, 0), -3e-6, 1e-15);
    NEAR(sign * inst_out(&s, IR_OUT_J, 2, 2), -1.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 6.0, 1e-15); /* two coils, i each */
    NEAR(inst_out(&s, IR_OUT_J, 1, 2), -2.0, 1e-15);
    inst_close(&s);
}
END_TEST

static const char *const POLY =
    "module poly(p, n); inout p, n; electrical p, n;\n"
    "parameter real a = 1; parameter real c = 0; parameter integer mode = 0;\n"
    "real x;\n"
    "analog begin\n"
    "  if (mode == 1) x = a*V(p,n); else x = a*exp(V(p,n));\n"
    "  I(p,n) <+ x + c*pow(V(p,n), 2.5);\n"
    "end endmodule\n";

START_TEST(variants_follow_decisions_not_numbers)
{
    mdl_model *m = model("poly", POLY);
    mdl_variant *v[6];
    const struct {
        const char *name;
        double value;
    } t[6] = {{"a", 2}, {"a", 3}, {"a", 1}, {"c", 0.5}, {"mode", 1}, {"a", 2}};
    for (int k = 0; k < 6; k++) {
        ck_assert_int_eq(mdl_variant_get(m, row1(m, t[k].name, t[k].value), MDL_DC, &v[k]), VS_OK);
        mdl_prepare(v[k], false);
    }
    ck_assert_ptr_eq(v[0], v[1]); /* another number */
    ck_assert_ptr_ne(v[0], v[2]); /* factor exactly 1 */
    ck_assert_ptr_ne(v[2], v[3]); /* a term that is no longer 0 */
    ck_assert_ptr_ne(v[2], v[4]); /* another branch */
    ck_assert_ptr_eq(v[0], v[5]);
    ck_assert_int_eq(v[0]->n_row, 2);
    ck_assert_int_gt(v[4]->stats.n_branch_decided, 0);
    bool has_pow = false;
    for (size_t k = 0; k < vec_len(v[0]->eval.inst); k++)
        has_pow |= v[0]->eval.inst[k].op == IR_POW || v[0]->eval.inst[k].op == IR_IF;
    ck_assert_msg(!has_pow, "0 * pow() was not removed, or a branch remained");
    ck_assert_int_eq(v[4]->lay.n_cache, 0); /* a = 1, c = 0: nothing is left to load */
    ck_assert_int_eq(mdl_jit_stats(b.lib)->n_compiled, 4);
}
END_TEST

/* A variant made for 0, 1 or -1 must not serve another number. */
START_TEST(variants_are_right_for_each_row)
{
    static const double value[] = {0, 1, -1, 0.5, -0.0, 1, 0, 2, -1};
    mdl_model *m = model("poly", POLY);
    for (size_t i = 0; i < VS_COUNT(value); i++)
        for (size_t k = 0; k < VS_COUNT(value); k++)
            for (int mode = 0; mode < 2; mode++) {
                inst s;
                double a = value[i], c = value[k], v = 1.5;
                int32_t row = row_with(&b, m, standard_env(), 3, (const char *[]){"a", "c", "mode"},
                                       (double[]){a, c, mode});
                inst_open(&s, m, row, MDL_DC);
                s.x[1] = 2, s.x[2] = 0.5;
                inst_eval(&s);
                double x = mode == 1 ? a * v : a * exp(v), g = mode == 1 ? a : a * exp(v);
                NEAR(inst_out(&s, IR_OUT_RES, 0, 0), x + c * pow(v, 2.5), 1e-15);
                NEAR(inst_out(&s, IR_OUT_G, 0, 0), g + c * 2.5 * pow(v, 1.5), 1e-14);
                inst_close(&s);
            }
}
END_TEST

/* -0 is lost where a parameter switches a term off. The angle there must be that of all rows: pi,
 * and not -pi where k times a negative voltage was computed. */
START_TEST(angles_do_not_depend_on_what_was_folded)
{
    static const char text[] = "`include \"disciplines.vams\"\n"
                               "module angle(a, c); inout a, c; electrical a, c;\n"
                               "parameter real k = 0;\n"
                               "analog I(a,c) <+ atan2(k * V(a,c), -1) + atan2(0, k * V(a,c));\n"
                               "endmodule\n";
    const bench kept = b;
    for (int mode = 0; mode < 4; mode++) {
        inst s;
        bench_open(&b, mode & 1, mode & 2);
        mdl_model *m = model("angle", text);
        inst_open(&s, m, row_with(&b, m, standard_env(), 0, NULL, NULL), MDL_DC);
        s.x[1] = -2;
        inst_eval(&s);
        ck_assert_double_eq(inst_out(&s, IR_OUT_RES, 0, 0), M_PI);
        inst_close(&s);
        bench_close(&b);
    }
    b = kept;
}
END_TEST

START_TEST(multiplier_of_one_costs_nothing)
{
    mdl_model *m = model("poly", POLY);
    mdl_variant *v;
    ck_assert_int_eq(mdl_variant_get(m, row1(m, "mode", 1), MDL_DC, &v), VS_OK);
    for (size_t k = 0; k < vec_len(v->eval.inst); k++)
        ck_assert_int_ne(v->eval.inst[k].op, IR_MUL);
}
END_TEST

START_TEST(messages_of_static_code_belong_to_the_row)
{
    mdl_model *m =
        model("talk", "module talk(p, n); inout p, n; electrical p, n; parameter real r = 1k;\n"
                      "analog begin\n"
                      "  if (r < 1) $warning(\"%m: r = %g is small\", r);\n"
                      "  I(p,n) <+ V(p,n)/r;\n"
                      "  if (V(p,n) > 10) $strobe(\"V = %.3f at %d\", V(p,n), 7);\n"
                      "end endmodule\n");
    size_t n = 0;
    mdl_row_messages(m, row1(m, "r", 10), &n);
    ck_assert_uint_eq(n, 0);
    const mdl_message *say = mdl_row_messages(m, row1(m, "r", 0.5), &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(say[0].kind, IR_EFF_WARNING);
    ck_assert_str_eq(say[0].text, "warning: x1: r = 0.5 is small");
}
END_TEST

static char heard[200];
static void hear(void *user, ir_eff_kind kind, const char *text)
{
    (void)user, (void)kind;
    strncat(heard, text, sizeof heard - strlen(heard) - 1);
}

START_TEST(effects_of_dynamic_code_run_on_request)
{
    mdl_model *m = model(
        "talk2", "module talk2(p, n); inout p, n; electrical p, n;\n"
                 "analog begin I(p,n) <+ V(p,n);\n"
                 "  if (V(p,n) > 10) begin $strobe(\"V = %.3f %s at %d%%\", V(p,n), \"high\", 7);\n"
                 "    $finish; end\n"
                 "end endmodule\n");
    inst s;
    int what = 0;
    inst_open(&s, m, row1(m, NULL, 0), MDL_TRAN);
    ck_assert(s.v->has_effects);
    jit_batch batch = inst_batch(&s);
    s.x[1] = 5;
    inst_eval(&s);
    ck_assert_int_eq(mdl_effects(s.v, false, &batch, 0, "x1", hear, NULL, &what), VS_OK);
    ck_assert_str_eq(heard, "");
    ck_assert_int_eq(what, 0);
    s.x[1] = 12.5;
    ck_assert_int_eq(mdl_effects(s.v, false, &batch, 0, "x1", hear, NULL, &what), VS_OK);
    ck_assert_str_eq(heard, "V = 12.500 high at 7%$finish");
    ck_assert_int_eq(what, 1);
    inst_close(&s);
}
END_TEST

START_TEST(range_error_names_parameter_value_and_place)
{
    mdl_model *m = model("series", SERIES);
    ck_assert_int_eq(row_with(&b, m, standard_env(), 1, (const char *[]){"g"}, (double[]){-1}), -1);
    ck_assert_int_eq(b.d.n_error, 1);
    ck_assert_ptr_nonnull(strstr(b.d.msg[0].text, "x1: parameter 'g' is -1"));
    ck_assert_ptr_nonnull(strstr(b.d.msg[0].text, "from (0:"));
    ck_assert_int_eq(b.d.msg[1].level, DIAG_NOTE);
    ck_assert_int_ge(b.d.msg[1].span.file, 0);
    b.d.n_error = 0;
}
END_TEST

START_TEST(ten_thousand_equal_instances_share_a_row)
{
    mdl_model *m = model("series", SERIES);
    int32_t first = row1(m, "rs", 5);
    for (int k = 0; k < 10112; k++)
        ck_assert_int_eq(row1(m, "rs", 5), first);
    ck_assert_int_eq(mdl_n_row(m), 1);
}
END_TEST

/* Values that come back find their rows, their variants and their counts; the others' numbers go to
 * new rows, however many come and go. */
START_TEST(rows_given_back_are_found_again_and_do_not_add_up)
{
    mdl_model *m = model("series", SERIES);
    mdl_variant *v, *w;
    const int32_t first = row1(m, "rs", 5);
    ck_assert(mdl_row_is_new(m, first) && !mdl_row_is_new(m, first));
    ck_assert_int_eq(mdl_variant_get(m, first, MDL_DC, &v), VS_OK);
    ck_assert_int_eq(v->n_row, 1);
    mdl_row_release(m, first);
    ck_assert_int_eq(v->n_row, 0);
    const int32_t other = row1(m, "rs", 6);
    ck_assert(other != first && mdl_row_is_new(m, other));
    ck_assert_int_eq(row1(m, "rs", 5), first);
    ck_assert(!mdl_row_is_new(m, first));
    ck_assert_int_eq(v->n_row, 1);
    ck_assert_int_eq(mdl_variant_get(m, other, MDL_DC, &w), VS_OK);
    ck_assert(v == w && v->n_row == 2);
    for (int k = 0; k < 1000; k++)
        mdl_row_release(m, row1(m, "rs", 10 + k));
    ck_assert_int_le(mdl_n_row(m), 30);
    ck_assert_int_eq(row1(m, "rs", 5), first);
    ck_assert_int_eq(row1(m, "rs", 6), other);
}
END_TEST

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(index_finds_modules_without_compiling_files)
{
    char dir[] = "/tmp/vsim-models-XXXXXX", cmd[64];
    ck_assert_ptr_nonnull(mkdtemp(dir));
    write_file(dir, "one.va",
               "// vsim-types: res alias2\n/* module no1 */ // module no2\n"
               "`include \"disciplines.vams\"\n"
               "module First(p, n); inout p, n; electrical p, n;\n"
               "analog I(p,n) <+ V(p,n); endmodule\n");
    write_file(dir, "broken.va", "module broken(p; this is not Verilog\n");
    bench lib;
    bench_open_opt(&lib, (mdl_opt){.model_dir = dir, .interpret = true});
    const char **name = mdl_names(lib.lib);
    const char *want[] = {"broken", "one", "res", "alias2", "first"};
    ck_assert_uint_eq(vec_len(name), VS_COUNT(want));
    for (size_t k = 0; k < VS_COUNT(want); k++)
        ck_assert_str_eq(name[k], want[k]);
    ck_assert_int_eq(lib.d.n_error, 0);
    mdl_model *m = mdl_find(lib.lib, "RES");
    ck_assert_ptr_nonnull(m);
    ck_assert_str_eq(mdl_module(m)->name, "First");
    ck_assert_ptr_eq(mdl_find(lib.lib, "FIRST"), m);
    ck_assert_ptr_eq(mdl_find(lib.lib, "one"), m);
    ck_assert_ptr_null(mdl_find(lib.lib, "no1"));
    ck_assert_int_eq(lib.d.n_error, 0);
    ck_assert_ptr_null(mdl_find(lib.lib, "broken"));
    ck_assert_int_gt(lib.d.n_error, 0);
    bench_close(&lib);
    snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

START_TEST(correlated_noise_has_one_source_and_two_gains)
{
    mdl_model *m =
        model("noisy", "module noisy(a, bb, c); inout a, bb, c; electrical a, bb, c, n;\n"
                       "analog begin\n"
                       "  I(n) <+ V(n) + white_noise(4e-20, \"one\");\n"
                       "  I(a,c) <+ 1e-3*V(a,c) + 2*V(n); I(bb,c) <+ 1e-3*V(bb,c) + 3*ddt(V(n));\n"
                       "  I(a,c) <+ flicker_noise(1e-18*V(a,c), 1.5, \"fl\");\n"
                       "end endmodule\n");
    inst s;
    inst_open(&s, m, row1(m, NULL, 0), MDL_AC);
    s.x[1] = 2;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_NOISE_PSD, 0, 0), 4e-20, 1e-15);
    NEAR(inst_out(&s, IR_OUT_NOISE_PSD, 1, 0), 2e-18, 1e-15);
    NEAR(inst_out(&s, IR_OUT_NOISE_EXP, 1, 0), 1.5, 1e-15);
    NEAR(fabs(inst_out(&s, IR_OUT_NOISE_GAIN, 1, 0)), 1.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_NOISE_GAIN, 1, 2), -inst_out(&s, IR_OUT_NOISE_GAIN, 1, 0), 1e-15);
    NEAR(inst_out(&s, IR_OUT_C, 1, unknown(m, "n")), 3.0, 1e-15);
    inst_close(&s);
}
END_TEST

START_TEST(noise_node_is_in_use_only_for_noise)
{
    mdl_model *m =
        model("quiet",
              "module quiet(a, c); inout a, c; electrical a, c, n, k;\n"
              "analog begin\n"
              "  I(n) <+ V(n)/(1 + V(a,c)*V(a,c)) + white_noise(4e-20, \"one\") + ddt(V(a)*V(n));\n"
              "  I(k) <+ 1e-3*V(k) - 1m;\n"
              "  I(a,c) <+ 1e-3*V(a,c) + 2*V(n) + V(k);\n"
              "end endmodule\n");
    mdl_env env = standard_env();
    int32_t n = unknown(m, "n"), k = unknown(m, "k"), row = row_with(&b, m, env, 0, NULL, NULL);
    ck_assert_int_eq(mdl_row_topology(m, row)[n], n);
    env.no_noise = true;
    row = row_with(&b, m, env, 0, NULL, NULL);
    ck_assert_int_eq(mdl_row_topology(m, row)[n], -2);
    ck_assert_int_eq(mdl_row_topology(m, row)[k], k);
    inst s;
    inst_open(&s, m, row, MDL_TRAN);
    s.x[1] = 3, s.nodes[n] = 0, s.dyn[IR_DYN_ALPHA] = 1e6;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 3e-3, 1e-15);
    ck_assert(!inst_has(&s, IR_OUT_RES, n, 0) && !inst_has(&s, IR_OUT_J, 0, n));
    inst_close(&s);
}
END_TEST

/* Noise that voltages switch on is no reason for an unknown: charges beside it stay charges, and
 * the source keeps its gain. What a voltage switches, or noise multiplies, is another matter. */
START_TEST(charge_beside_noise_that_voltages_switch_stays_a_charge)
{
    mdl_model *m = model("shot", "module shot(a, c, d); inout a, c, d; electrical a, c, d;\n"
                                 "analog begin\n"
                                 "  I(a,c) <+ 1e-3*V(a,c) + ddt(2e-9*V(a,c));\n"
                                 "  if (V(a) > 1) I(a,c) <+ white_noise(V(a)*1e-20, \"one\");\n"
                                 "  if (V(a) > 2) I(d) <+ ddt(3e-9*V(d));\n"
                                 "  I(d,c) <+ (1 + white_noise(1e-20, \"two\"))*ddt(V(d,c));\n"
                                 "end endmodule\n");
    inst s;
    ck_assert_int_eq(mdl_n_unknown(m), 5); /* one for each ddt of d */
    const int32_t row = row_with(&b, m, standard_env(), 0, NULL, NULL);
    inst_open(&s, m, row, MDL_TRAN);
    s.x[1] = 3, s.x[2] = 1, s.dyn[IR_DYN_ALPHA] = 1e6;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 2e-3, 1e-15);
    NEAR(inst_out(&s, IR_OUT_REACT, 0, 0), 4e-9, 1e-15);
    NEAR(inst_out(&s, IR_OUT_J, 0, 0), 1e-3 + 2e-3, 1e-15);
    inst_close(&s);
    for (int on = 0; on < 2; on++) {
        inst_open(&s, m, row, MDL_AC);
        s.x[1] = on ? 3 : 0.5;
        inst_eval(&s);
        NEAR(inst_out(&s, IR_OUT_NOISE_GAIN, 0, 0), on ? 1.0 : 0.0, 1e-15);
        NEAR(inst_out(&s, IR_OUT_NOISE_PSD, 0, 0), on ? 3e-20 : 0.0, 1e-15);
        NEAR(inst_out(&s, IR_OUT_C, 0, 0), 2e-9, 1e-15);
        inst_close(&s);
    }
}
END_TEST

/* A switch branch whose flow is read before anything is contributed. With r > 0 parameters make it
 * a conductance: no current unknown, and what is read is the sum. With r = 0 the current is one.
 * The second branch needs its own flow for its sum, and keeps the unknown. */
START_TEST(flow_of_a_switch_branch_is_a_sum_where_parameters_decide)
{
    mdl_model *m = model("ends", "module ends(a, c, d); inout a, c, d; electrical a, c, d, i, k;\n"
                                 "branch (a,i) one; branch (c,k) own; parameter real r = 2;\n"
                                 "real f;\n"
                                 "analog begin\n"
                                 "  I(d) <+ I(one)*V(one) + I(own);\n"
                                 "  I(i,c) <+ V(i,c); I(k) <+ V(k);\n"
                                 "  f = V(one) > 1 ? 3 : 4;\n"
                                 "  if (r > 0) I(one) <+ f*V(one)/r; else V(one) <+ 0.5*I(one);\n"
                                 "  if (r > 0) I(own) <+ V(own)/r + I(own)/2; else V(own) <+ 0;\n"
                                 "end endmodule\n");
    const int32_t one = unknown(m, "flow(one)"), own = unknown(m, "flow(own)");
    const int32_t sum = row1(m, "r", 2), pot = row1(m, "r", 0);
    ck_assert_int_eq(mdl_row_topology(m, sum)[one], -2);
    ck_assert_int_eq(mdl_row_topology(m, sum)[own], own);
    ck_assert_int_eq(mdl_row_topology(m, pot)[one], one);
    const int32_t at_i = unknown(m, "i");
    inst s;
    for (int high = 0; high < 2; high++) {
        const double v = high ? 4 : 0.5, flow = (high ? 3 : 4) * v / 2;
        inst_open(&s, m, sum, MDL_DC);
        s.x[1] = v, s.x[1 + own] = 7;
        inst_eval(&s);
        NEAR(inst_out(&s, IR_OUT_RES, 0, 0), flow, 1e-15);
        NEAR(inst_out(&s, IR_OUT_RES, 2, 0), flow * v + 7, 1e-15);
        NEAR(inst_out(&s, IR_OUT_G, 2, 0), 2 * flow, 1e-15);
        ck_assert(!inst_has(&s, IR_OUT_RES, one, 0));
        inst_close(&s);
    }
    inst_open(&s, m, pot, MDL_DC);
    s.x[1] = 4, s.x[1 + at_i] = 1, s.x[1 + one] = 5, s.x[1 + own] = 7;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 5.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_RES, 2, 0), 5.0 * 3 + 7, 1e-15);
    NEAR(inst_out(&s, IR_OUT_RES, one, 0), 3 - 2.5, 1e-15);
    inst_close(&s);
}
END_TEST

/* A state that a flag switches off: node, both branch currents and the integral stand alone. */
START_TEST(unknowns_that_nothing_drives_leave_the_matrix)
{
    mdl_model *m =
        model("idle",
              "module idle(a, c); inout a, c; electrical a, c, q; branch (q) st; branch (q) res;\n"
              "parameter integer sw = 0; parameter real r = 1k; real f, ic;\n"
              "analog begin\n"
              "  f = 0; ic = 0;\n"
              "  if (sw > 0) f = V(a,c) - V(st);\n"
              "  if (sw < 0) ic = 0.5;\n"
              "  V(res) <+ r*I(res);\n"
              "  V(st) <+ idt(1e6*f, ic);\n"
              "  I(a,c) <+ 1m*V(a,c) + 1m*V(st)*V(st);\n"
              "end endmodule\n");
    const int32_t off = row1(m, "sw", 0), on = row1(m, "sw", 1), start = row1(m, "sw", -1);
    const int32_t n = mdl_n_unknown(m);
    ck_assert_int_eq(n, 7); /* with the current of each branch, the integral, its derivative */
    for (int32_t u = 0; u < n; u++) {
        ck_assert_int_eq(mdl_row_topology(m, off)[u], u < 2 ? u : -2);
        ck_assert_int_eq(mdl_row_topology(m, on)[u], u);
        ck_assert_int_eq(mdl_row_topology(m, start)[u], u);
    }
    inst s;
    inst_open(&s, m, off, MDL_TRAN);
    s.x[1] = 3, s.x[2] = 1;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 2e-3, 1e-15);
    ck_assert_int_eq(s.v->lay.n_out, 6); /* two currents and their four derivatives */
    inst_close(&s);
}
END_TEST

/* A port that is no voltage and has a node of its own is held at 0 where nothing heats it. */
START_TEST(port_that_is_alone_is_held_where_nothing_drives_it)
{
    mdl_model *m = model("warm", "module warm(a, c, t); inout a, c, t; electrical a, c;\n"
                                 "thermal t; parameter real rth = 0; real g;\n"
                                 "analog begin\n"
                                 "  g = 1e-3*(1 + 0.1*Temp(t));\n"
                                 "  I(a,c) <+ g*V(a,c);\n"
                                 "  if (rth > 0) Pwr(t) <+ Temp(t)/rth - g*V(a,c)*V(a,c);\n"
                                 "  else Pwr(t) <+ 2*Temp(t);\n"
                                 "  Pwr(t) <+ ddt(3*Temp(t));\n"
                                 "end endmodule\n");
    const char *const name = "rth";
    const double cold = 0, hot = 10;
    mdl_env env = standard_env();
    env.portconn = (const uint8_t[]){MDL_ALONE, 1, MDL_ALONE};
    ck_assert(mdl_may_hold(m, 2) && !mdl_may_hold(m, 0));
    const int32_t alone = row_with(&b, m, env, 1, &name, &cold),
                  heated = row_with(&b, m, env, 1, &name, &hot), shared = row1(m, "rth", 0);
    ck_assert_int_eq(mdl_row_topology(m, alone)[2], MDL_HELD);
    ck_assert_int_eq(mdl_row_topology(m, alone)[0], 0);
    ck_assert_int_eq(mdl_row_topology(m, heated)[2], 2);
    ck_assert_int_eq(mdl_row_topology(m, shared)[2], 2);
    inst s;
    inst_open(&s, m, alone, MDL_TRAN);
    s.x[1] = 2, s.dyn[IR_DYN_ALPHA] = 100;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 2e-3, 1e-15);
    ck_assert(!inst_has(&s, IR_OUT_RES, 2, 0) && !inst_has(&s, IR_OUT_REACT, 2, 0));
    ck_assert(!inst_has(&s, IR_OUT_J, 0, 2) && !inst_has(&s, IR_OUT_J, 2, 0));
    NEAR(inst_out(&s, IR_OUT_J, 2, 2), 302.0, 1e-15); /* the matrix is regular */
    inst_close(&s);
}
END_TEST

START_TEST(without_code_generator_models_are_interpreted_with_a_warning)
{
    bench_close(&b);
    bench_open_opt(&b, (mdl_opt){.jit.plugin_dir = "/nowhere"});
    mdl_model *m = model("series", SERIES);
    inst s;
    inst_open(&s, m, row1(m, "rs", 5), MDL_DC);
    ck_assert_ptr_null(s.v->kernel[0]);
    s.x[1] = 2, s.x[3] = 1;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 0.2, 1e-15);
    ck_assert_int_eq(b.d.n_warning, 1);
    ck_assert_ptr_nonnull(strstr(b.d.msg[0].text, "interpreter"));
    inst_close(&s);
}
END_TEST

START_TEST(given_value_must_be_a_number)
{
    mdl_model *m = model("series", SERIES);
    ck_assert_int_eq(row_with(&b, m, standard_env(), 1, (const char *[]){"g"}, (double[]){NAN}),
                     -1);
    ck_assert_ptr_nonnull(strstr(b.d.msg[0].text, "'g' is not a number"));
}
END_TEST

static const char *const KIN = /* a row of 0 goes another way, a large one warns, b follows a */
    "module kin(p, n); inout p, n; electrical p, n;\n"
    "parameter real a = 1 from [0:1000]; parameter real b = 2*a; parameter real g = 1;\n"
    "analog begin\n"
    "  if (a > 100) $warning(\"large a=%g\", a);\n"
    "  if (a > 0) I(p,n) <+ V(p,n)/a; else I(p,n) <+ 1k*V(p,n);\n"
    "  I(p) <+ (g*b + 1/(1+a))*V(p) + ddt(a*V(p));\n"
    "end endmodule\n";

/* The row of a number in a library that knows a kin, against one of a library without. */
static void check_kin_row(mdl_model *m, int32_t row, mdl_model *other, int32_t same)
{
    size_t n, n_other;
    double cache[16], expected[16];
    const int32_t a = va_find_param(mdl_module(m), "a"), b_ = va_find_param(mdl_module(m), "b");
    ck_assert(mdl_row_param(m, row, a) == mdl_row_param(other, same, a));
    ck_assert(mdl_row_param(m, row, b_) == mdl_row_param(other, same, b_));
    ck_assert_int_eq(memcmp(mdl_row_topology(m, row), mdl_row_topology(other, same),
                            (size_t)mdl_n_unknown(m) * sizeof(int32_t)),
                     0);
    (void)mdl_row_messages(m, row, &n);
    (void)mdl_row_messages(other, same, &n_other);
    ck_assert_uint_eq(n, n_other);
    for (int f = MDL_DC; f <= MDL_TRAN; f++) {
        mdl_variant *v, *w;
        ck_assert_int_eq(mdl_variant_get(m, row, (mdl_form_kind)f, &v), VS_OK);
        ck_assert_int_eq(mdl_variant_get(other, same, (mdl_form_kind)f, &w), VS_OK);
        const hash128 x = mdl_variant_code(v), y = mdl_variant_code(w);
        ck_assert_int_eq(memcmp(&x, &y, sizeof x), 0);
        ck_assert_int_le(v->lay.n_cache, (int32_t)VS_COUNT(cache));
        mdl_setup(v, row, cache);
        mdl_setup(w, same, expected);
        ck_assert_int_eq(memcmp(cache, expected, (size_t)v->lay.n_cache * sizeof *cache), 0);
    }
}

START_TEST(rows_of_a_kin_are_the_rows_that_they_stand_for)
{
    static const double special[] = {0, 1, 100, 101, 1000, 0.5, 5, 1e-300, 7};
    bench plain;
    bench_open(&plain, false, false);
    const bench kept = b;
    mdl_model *m = model("kin", KIN);
    b = plain;
    mdl_model *other = model("kin", KIN);
    plain = b;
    b = kept;
    const int32_t param = va_find_param(mdl_module(m), "a"), first = row1(m, "a", 5);
    const int32_t before = row1(m, "a", 7), kin = mdl_kin(m, first, param);
    ck_assert_int_ge(kin, 0);
    ck_assert_int_eq(mdl_kin(m, first, param), kin);
    ck_assert_int_eq(mdl_kin_row(m, kin, 7), before);
    ck_assert_int_eq(mdl_kin_row(m, kin, -1), -1); /* out of range */
    ck_assert_int_eq(mdl_kin_row(m, kin, NAN), -1);
    int32_t numbers = 0;
    for (int i = 0; i < 300 + (int)VS_COUNT(special); i++) {
        const double x = i < 300 ? 0.3 + i / 7.0 : special[i - 300];
        int32_t row = mdl_kin_row(m, kin, x);
        if (row < 0)
            row = row1(m, "a", x);
        numbers += m->row[row].is_number;
        ck_assert_int_eq(row1(m, "a", x), row);
        check_kin_row(m, row, other,
                      row_with(&plain, other, standard_env(), 1, (const char *[]){"a"}, &x));
        double *key = vs_calloc(mdl_key_len(m) + 1, sizeof *key);
        int32_t again;
        mdl_row_key(m, row, key);
        ck_assert(mdl_row_has_key(m, row, key));
        ck_assert_int_eq(mdl_row_of_key(m, key, &again), VS_OK);
        ck_assert_int_eq(again, row);
        vs_free(key);
    }
    ck_assert_int_gt(numbers, 290);
    const int32_t n_row = mdl_n_row(m);
    ck_assert_int_eq(n_row, mdl_n_row(other));
    for (int i = 0; i < 200; i++) { /* given back, and the numbers given again */
        const int32_t row = mdl_kin_row(m, kin, 0.3 + i / 7.0);
        if (i % 3 == 0) /* their table is made again */
            mdl_put_away(m->lib);
        mdl_row_release(m, row);
    }
    for (int i = 0; i < 100; i++) {
        const int32_t row = mdl_kin_row(m, kin, 0.35 + i / 7.0);
        ck_assert_int_ge(row, 0);
        if (i % 3 == 0)
            mdl_put_away(m->lib);
        ck_assert_int_eq(mdl_kin_row(m, kin, 0.35 + i / 7.0), row);
    }
    ck_assert_int_eq(mdl_n_row(m), n_row);
    mdl_put_away(m->lib);
    for (int i = 200; i < 300; i++) {
        const double x = 0.3 + i / 7.0;
        check_kin_row(m, mdl_kin_row(m, kin, x), other,
                      row_with(&plain, other, standard_env(), 1, (const char *[]){"a"}, &x));
    }
    bench_close(&plain);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl model");
    TCase *t = tcase_create("model");
    tcase_add_checked_fixture(t, open_it, close_it);
    tcase_add_test(t, node_behind_a_vanished_resistance_is_the_port);
    tcase_add_test(t, chain_of_collapses_ends_at_the_port);
    tcase_add_test(t, ports_are_not_collapsed_into_each_other);
    tcase_add_test(t, inductance_keeps_its_flux_in_the_current_row);
    tcase_add_test(t, variants_follow_decisions_not_numbers);
    tcase_add_test(t, variants_are_right_for_each_row);
    tcase_add_test(t, angles_do_not_depend_on_what_was_folded);
    tcase_add_test(t, multiplier_of_one_costs_nothing);
    tcase_add_test(t, messages_of_static_code_belong_to_the_row);
    tcase_add_test(t, effects_of_dynamic_code_run_on_request);
    tcase_add_test(t, range_error_names_parameter_value_and_place);
    tcase_add_test(t, ten_thousand_equal_instances_share_a_row);
    tcase_add_test(t, rows_given_back_are_found_again_and_do_not_add_up);
    tcase_add_test(t, index_finds_modules_without_compiling_files);
    tcase_add_test(t, correlated_noise_has_one_source_and_two_gains);
    tcase_add_test(t, noise_node_is_in_use_only_for_noise);
    tcase_add_test(t, charge_beside_noise_that_voltages_switch_stays_a_charge);
    tcase_add_test(t, flow_of_a_switch_branch_is_a_sum_where_parameters_decide);
    tcase_add_test(t, unknowns_that_nothing_drives_leave_the_matrix);
    tcase_add_test(t, port_that_is_alone_is_held_where_nothing_drives_it);
    tcase_add_test(t, without_code_generator_models_are_interpreted_with_a_warning);
    tcase_add_test(t, given_value_must_be_a_number);
    tcase_add_test(t, rows_of_a_kin_are_the_rows_that_they_stand_for);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
