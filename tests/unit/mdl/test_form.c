/* mdl_form.c on modules built by hand: charges, implicit unknowns, limiting, noise, multiplicity.
 */
#include "mdl_check.h"

typedef struct hand { /* a module with two ports p (0) and n (1) and probe 0 = V(p,n) */
    va_module mod;
} hand;

static void hand_begin(hand *h, int n_param)
{
    va_module *m = &h->mod;
    *m = (va_module){.name = "hand", .n_port = 2, .span = DIAG_NOWHERE, .desc = ""};
    vec_push(m->unknown, (va_unknown){.name = "p", .kind = VA_PORT, .unit = "V"});
    vec_push(m->unknown, (va_unknown){.name = "n", .kind = VA_PORT, .unit = "V"});
    vec_push(m->probe, (va_probe){0, 1});
    ir_fn_init(&m->eval, "hand");
    ir_fn_init(&m->params, "hand.params");
    for (int k = 0; k < n_param; k++) {
        static const char *const name[] = {"a", "b", "c"};
        vec_push(m->param, (va_param){.name = name[k],
                                      .unit = "",
                                      .range = "from (0:inf)",
                                      .dflt = "1",
                                      .desc = "",
                                      .span = DIAG_NOWHERE});
        ir_val given = ir_in(&m->params, IR_IN_GIVEN, k, IR_BOOL, false);
        ir_val p = ir_in(&m->params, IR_IN_PARAM, k, IR_F64, false);
        ir_val v = ir_select(&m->params, given, p, ir_const(&m->params, 1.0));
        ir_out_add(&m->params, IR_OUT_PARAM, k, 0, v);
        ir_out_add(&m->params, IR_OUT_PARAM_OK, k, 0,
                   ir_bin(&m->params, IR_FLT, ir_const(&m->params, 0.0), v));
    }
}

static void hand_end(hand *h)
{
    ir_fn_fini(&h->mod.eval);
    ir_fn_fini(&h->mod.params);
    vec_free(h->mod.unknown);
    vec_free(h->mod.probe);
    vec_free(h->mod.param);
    vec_free(h->mod.lim_probe);
    vec_free(h->mod.noise);
}

static ir_val par(hand *h, int k) { return ir_in(&h->mod.eval, IR_IN_PARAM, k, IR_F64, false); }
static ir_val probe(hand *h) { return ir_in(&h->mod.eval, IR_IN_PROBE, 0, IR_F64, false); }
static ir_val mul(hand *h, ir_val a, ir_val b) { return ir_bin(&h->mod.eval, IR_MUL, a, b); }
static ir_val plus(hand *h, ir_val a, ir_val b) { return ir_bin(&h->mod.eval, IR_ADD, a, b); }
static ir_val ddt(hand *h, ir_val q)
{
    int k = h->mod.n_ddt++;
    ir_out_add(&h->mod.eval, IR_OUT_DDT_ARG, k, 0, q);
    return ir_in(&h->mod.eval, IR_IN_DDT, k, IR_F64, false);
}
static void current(hand *h, ir_val i)
{
    ir_out_add(&h->mod.eval, IR_OUT_RES, 0, 0, i);
    ir_out_add(&h->mod.eval, IR_OUT_RES, 1, 0, ir_un(&h->mod.eval, IR_NEG, i));
}

/* Runs `check` with the interpreter and with the kernel. */
static void in_both(hand *h, void (*check)(bench *b, mdl_model *m))
{
    for (int interpret = 0; interpret < 2; interpret++) {
        bench b;
        bench_open(&b, interpret, false);
        check(&b, mdl_ready(mdl_add_module(b.lib, &h->mod)));
        ck_assert_int_eq(b.d.n_error, 0);
        bench_close(&b);
    }
    hand_end(h);
}

/* I = v/a + b ddt(v*v) */
static void check_charge(bench *b, mdl_model *m)
{
    inst s;
    mdl_env env = standard_env();
    env.mfactor = 3;
    ck_assert_int_eq(mdl_n_unknown(m), 2);
    int32_t row = row_with(b, m, env, 2, (const char *[]){"a", "b"}, (double[]){100, 2e-9});
    inst_open(&s, m, row, MDL_TRAN);
    s.x[1] = 3, s.x[2] = 1, s.dyn[IR_DYN_ALPHA] = 1e6;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 3 * 0.02, 1e-15);
    NEAR(inst_out(&s, IR_OUT_REACT, 0, 0), 3 * 8e-9, 1e-15);
    NEAR(inst_out(&s, IR_OUT_REACT, 1, 0), -3 * 8e-9, 1e-15);
    NEAR(inst_out(&s, IR_OUT_J, 0, 0), 3 * (0.01 + 1e6 * 8e-9), 1e-15);
    NEAR(inst_out(&s, IR_OUT_J, 0, 1), -3 * (0.01 + 1e6 * 8e-9), 1e-15);
    inst_close(&s);
    inst_open(&s, m, row, MDL_DC);
    s.x[1] = 3, s.x[2] = 1;
    inst_eval(&s);
    ck_assert_int_eq(s.v->lay.n_out, 6); /* RES and G */
    NEAR(inst_out(&s, IR_OUT_G, 1, 1), 3 * 0.01, 1e-15);
    inst_close(&s);
    inst_open(&s, m, row, MDL_AC);
    s.x[1] = 3, s.x[2] = 1;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_C, 1, 0), -3 * 8e-9, 1e-15);
    inst_close(&s);
}

START_TEST(linear_ddt_becomes_charge)
{
    hand h;
    hand_begin(&h, 2);
    ir_val v = probe(&h);
    ir_val i = ir_bin(&h.mod.eval, IR_DIV, v, par(&h, 0));
    current(&h, plus(&h, i, mul(&h, par(&h, 1), ddt(&h, mul(&h, v, v)))));
    in_both(&h, check_charge);
}
END_TEST

/* I = a * v * ddt(v): unknown u, u - ddt(v) = 0 */
static void check_implicit(bench *b, mdl_model *m)
{
    inst s;
    mdl_env env = standard_env();
    env.mfactor = 2;
    ck_assert_int_eq(mdl_n_unknown(m), 3);
    ck_assert_int_eq(mdl_unknown(m, 2)->kind, VA_IMPLICIT);
    int32_t row = row_with(b, m, env, 1, (const char *[]){"a"}, (double[]){5});
    inst_open(&s, m, row, MDL_TRAN);
    s.x[1] = 3, s.x[2] = 1, s.x[3] = 7, s.dyn[IR_DYN_ALPHA] = 1e3;
    inst_eval(&s);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), 2 * 5 * 2 * 7.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_RES, 2, 0), 7.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_REACT, 2, 0), -2.0, 1e-15);
    ck_assert(!inst_has(&s, IR_OUT_REACT, 0, 0));
    NEAR(inst_out(&s, IR_OUT_J, 0, 2), 2 * 5 * 2.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_J, 2, 2), 1.0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_J, 2, 0), -1e3, 1e-15);
    inst_close(&s);
}

START_TEST(ddt_with_a_dynamic_factor_gets_an_unknown)
{
    hand h;
    hand_begin(&h, 1);
    ir_val v = probe(&h);
    current(&h, mul(&h, par(&h, 0), mul(&h, v, ddt(&h, v))));
    in_both(&h, check_implicit);
}
END_TEST

START_TEST(nested_ddt_gets_an_unknown_inside)
{
    hand h;
    bench b;
    hand_begin(&h, 1);
    ir_val inner = ddt(&h, probe(&h));
    current(&h, ddt(&h, inner)); /* d2v/dt2: the outer one is a charge */
    bench_open(&b, true, false);
    mdl_model *m = mdl_ready(mdl_add_module(b.lib, &h.mod));
    ck_assert_int_eq(mdl_n_unknown(m), 3);
    bench_close(&b);
    hand_end(&h);
}
END_TEST

/* I = a (exp(vl) - 1), vl = limited v */
static void check_limit(bench *b, mdl_model *m)
{
    inst s;
    int32_t row = row_with(b, m, standard_env(), 1, (const char *[]){"a"}, (double[]){1e-3});
    inst_open(&s, m, row, MDL_DC);
    s.x[1] = 3, s.limold[0] = 0.5, s.dyn[IR_DYN_LIMIT] = 1;
    inst_eval(&s);
    double vl = 0.6, i = 1e-3 * (exp(vl) - 1), g = 1e-3 * exp(vl);
    NEAR(s.limnew[0], vl, 1e-15);
    NEAR(inst_out(&s, IR_OUT_LIMITED, 0, 0), 1.0, 0);
    NEAR(inst_out(&s, IR_OUT_RES, 0, 0), i + g * (3 - vl), 1e-14);
    NEAR(inst_out(&s, IR_OUT_G, 0, 0), g, 1e-15);
    inst_close(&s);
}

START_TEST(residual_is_linearised_at_the_limited_value)
{
    hand h;
    hand_begin(&h, 1);
    ir_fn *f = &h.mod.eval;
    ir_val v = probe(&h), old = ir_in(f, IR_IN_LIMOLD, 0, IR_F64, false);
    ir_val vl = ir_bin(f, IR_MIN, v, plus(&h, old, ir_const(f, 0.1)));
    vl = ir_emit(f, IR_LIMIT, IR_F64, vl, 0, IR_NONE);
    ir_val e = ir_bin(f, IR_SUB, ir_un(f, IR_EXP, vl), ir_const(f, 1));
    current(&h, mul(&h, par(&h, 0), e));
    ir_out_add(f, IR_OUT_LIMNEW, 0, 0, vl);
    ir_out_add(f, IR_OUT_LIMITED, 0, 0, ir_bin(f, IR_FNE, vl, v));
    vec_push(h.mod.lim_probe, 0);
    in_both(&h, check_limit);
}
END_TEST

/* I = v + n0 + a ddt(n0) + v n1; n0 also in row 1 with factor -2 */
static void check_noise(bench *b, mdl_model *m)
{
    inst s;
    mdl_env env = standard_env();
    env.mfactor = 4;
    int32_t row = row_with(b, m, env, 1, (const char *[]){"a"}, (double[]){1e-3});
    inst_open(&s, m, row, MDL_AC);
    s.x[1] = 3;
    inst_eval(&s);
    double psd = 1e-20, g0 = inst_out(&s, IR_OUT_NOISE_GAIN, 0, 0);
    NEAR(inst_out(&s, IR_OUT_NOISE_PSD, 0, 0) * g0 * g0, 4 * psd, 1e-14);
    NEAR(inst_out(&s, IR_OUT_NOISE_GAIN, 0, 1), -2 * g0, 1e-15);
    NEAR(inst_out(&s, IR_OUT_NOISE_GAINC, 0, 0), 1e-3 * g0, 1e-15);
    ck_assert(!inst_has(&s, IR_OUT_NOISE_GAINC, 0, 1));
    NEAR(inst_out(&s, IR_OUT_NOISE_GAIN, 1, 0), 3 * g0, 1e-15);
    ck_assert(!inst_has(&s, IR_OUT_NOISE_GAIN, 1, 1));
    ck_assert(!inst_has(&s, IR_OUT_RES, 0, 0));
    NEAR(inst_out(&s, IR_OUT_G, 0, 0), 4.0, 1e-15); /* no trace of n1 */
    inst_close(&s);
}

START_TEST(noise_symbols_become_gains_and_nothing_else)
{
    hand h;
    hand_begin(&h, 1);
    ir_fn *f = &h.mod.eval;
    ir_val v = probe(&h), n0 = ir_in(f, IR_IN_NOISE, 0, IR_F64, false);
    ir_val n1 = ir_in(f, IR_IN_NOISE, 1, IR_F64, false);
    ir_val i = plus(&h, plus(&h, v, n0), mul(&h, par(&h, 0), ddt(&h, n0)));
    ir_out_add(f, IR_OUT_RES, 0, 0, plus(&h, i, mul(&h, v, n1)));
    ir_out_add(f, IR_OUT_RES, 1, 0, mul(&h, n0, ir_const(f, -2)));
    ir_out_add(f, IR_OUT_NOISE_PSD, 0, 0, ir_const(f, 1e-20));
    ir_out_add(f, IR_OUT_NOISE_PSD, 1, 0, mul(&h, v, ir_const(f, 1e-20)));
    vec_push(h.mod.noise, (va_noise){.name = "n0"});
    vec_push(h.mod.noise, (va_noise){.name = "n1"});
    in_both(&h, check_noise);
}
END_TEST

static void check_ranges(bench *b, mdl_model *m)
{
    int32_t r1 = row_with(b, m, standard_env(), 1, (const char *[]){"a"}, (double[]){2});
    ck_assert_int_eq(r1, row_with(b, m, standard_env(), 1, (const char *[]){"a"}, (double[]){2}));
    ck_assert_int_ne(r1, row_with(b, m, standard_env(), 0, NULL, NULL));
    mdl_env hot = standard_env();
    hot.temp = 400; /* the module does not read it: the same row */
    ck_assert_int_eq(r1, row_with(b, m, hot, 1, (const char *[]){"a"}, (double[]){2}));
    ck_assert_int_eq(mdl_n_row(m), 2);
    ck_assert_double_eq(mdl_row_param(m, 1, 0), 1);
    ck_assert_int_eq(row_with(b, m, hot, 1, (const char *[]){"a"}, (double[]){-2}), -1);
    ck_assert_int_eq(b->d.n_error, 1);
    ck_assert_str_eq(b->d.msg[0].text, "x1: parameter 'a' is -2, outside its range from (0:inf)");
    b->d.n_error = 0;
}

START_TEST(rows_are_shared_and_ranges_checked)
{
    hand h;
    hand_begin(&h, 1);
    current(&h, mul(&h, par(&h, 0), probe(&h)));
    in_both(&h, check_ranges);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mdl form");
    TCase *t = tcase_create("form");
    tcase_add_test(t, linear_ddt_becomes_charge);
    tcase_add_test(t, ddt_with_a_dynamic_factor_gets_an_unknown);
    tcase_add_test(t, nested_ddt_gets_an_unknown_inside);
    tcase_add_test(t, residual_is_linearised_at_the_limited_value);
    tcase_add_test(t, noise_symbols_become_gains_and_nothing_else);
    tcase_add_test(t, rows_are_shared_and_ranges_checked);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite_here(s);
}
