/* The library as a host sees it: lists, values that are read and set, equations. */
#include "deck.h"

/* -- lists and values -- */

START_TEST(lists_name_what_there_is)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    size_t n;
    ck_assert_str_eq(vsim_deck_title(d), "a divider");
    ck_assert_uint_eq(vsim_deck_card_count(d), 2);
    ck_assert_int_eq(vsim_deck_card_kind(d, 1), VSIM_TRAN);
    ck_done(s, vsim_device_count(d, &n));
    ck_assert_uint_eq(n, 5);
    bool seen = false;
    for (size_t i = 0; i < n; i++) {
        vsim_device dev;
        ck_done(s, vsim_device_at(d, i, &dev));
        if (!strcmp(dev.name, "m1")) {
            seen = true;
            ck_assert_str_eq(dev.type, "mos1");
            ck_assert_str_eq(dev.model, "nch");
            ck_assert_uint_eq(dev.n_node, 4);
            ck_assert_str_eq(dev.node[0], "d");
            ck_assert_str_eq(dev.node[3], "0");
        }
        if (!strcmp(dev.name, "v1"))
            ck_assert_str_eq(dev.type, "v");
        if (dev.name[0] == 'x')
            ck_assert_str_eq(dev.name, "x1.r1");
    }
    ck_assert(seen);
    ck_done(s, vsim_model_count(d, &n));
    ck_assert_uint_eq(n, 1);
    vsim_model m;
    ck_done(s, vsim_model_at(d, 0, &m));
    ck_assert_str_eq(m.type, "nmos");
    ck_done(s, vsim_param_count(d, &n));
    ck_assert_uint_eq(n, 2);
    const char *name;
    ck_done(s, vsim_param_at(d, 1, &name));
    ck_assert_str_eq(name, "bottom");
    ck_assert_int_eq(vsim_param_at(d, 2, &name), VSIM_EINPUT);
    ck_done(s, vsim_unknown_count(d, &n));
    for (size_t i = 1; i <= n; i++) {
        vsim_unknown u;
        size_t k;
        ck_done(s, vsim_unknown_at(d, i, &u));
        ck_done(s, vsim_unknown_find(d, u.name, &k));
        ck_assert_uint_eq(k, i);
        if (!u.internal)
            ck_assert_str_eq(u.unit, u.node ? "V" : "A");
    }
    size_t ground;
    ck_done(s, vsim_unknown_find(d, "0", &ground));
    ck_assert_uint_eq(ground, 0);
    vsim_free(&s);
}
END_TEST

START_TEST(parameters_of_devices_have_units_and_can_be_read)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    size_t n, computed = 0;
    vsim_parameter p;
    double v;
    vsim_run *r = run_of(s, d, "op");
    ck_done(s, vsim_device_parameter_count(d, "m1", &n));
    for (size_t i = 0; i < n; i++) {
        ck_done(s, vsim_device_parameter_at(d, "m1", i, &p));
        ck_done(s, vsim_get_device(d, "m1", p.name, &v));
        computed += p.computed;
        if (!strcmp(p.name, "gm"))
            ck_assert(p.computed && *p.unit);
    }
    ck_assert_uint_gt(computed, 5);
    ck_done(s, vsim_get_device(d, "m1", "gm", &v));
    ck_assert_double_eq_tol(v, 100e-6 * 10 * 2, 1e-8); /* kp w/l vds: in its linear region */
    ck_assert_int_eq(vsim_set_device(d, "m1", "gm", 1), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "computed"));
    ck_done(s, vsim_device_parameter_count(d, "v1", &n));
    ck_assert_uint_eq(n, 6);
    ck_done(s, vsim_model_parameter_count(d, "nch", &n));
    ck_assert_uint_gt(n, 20);
    for (size_t i = 0; i < n; i++) {
        ck_done(s, vsim_model_parameter_at(d, "nch", i, &p));
        ck_assert(!p.computed);
        ck_done(s, vsim_get_model(d, "nch", p.name, &v));
    }
    vsim_run_free(&r);
    vsim_free(&s);
}
END_TEST

START_TEST(values_that_are_set_are_computed_with)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    double v;
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_set_param(d, "TOP", 3e3));
    ck_done(s, vsim_get_param(d, "bottom", &v));
    ck_assert_double_eq(v, 6e3);
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_set_device(d, "r2", "", 3e3));
    ck_near(out_of(s, d), 1.5);
    ck_done(s, vsim_set_device(d, "x1.r1", "r", 1e3));
    ck_near(out_of(s, d), 2.25);
    ck_done(s, vsim_get_device(d, "X1.R1", "", &v));
    ck_assert_double_eq(v, 1e3);
    ck_done(s, vsim_set_device(d, "v1", "dc", 4));
    ck_near(out_of(s, d), 3);
    ck_done(s, vsim_set_model(d, "nch", "vto", 1));
    ck_done(s, vsim_get_model(d, "nch", "vto", &v));
    ck_assert_double_eq(v, 1);
    ck_done(s, vsim_set_device(d, "m1", "w", 20e-6));
    ck_done(s, vsim_get_device(d, "m1", "w", &v));
    ck_assert_double_eq(v, 20e-6);
    ck_near(out_of(s, d), 3);
    ck_done(s, vsim_get_device(d, "m1", "id", &v));
    /* level 1, linear region: kp w/l (vgs - vto - vds/2) vds with vgs = 4, vds = 2 */
    ck_assert_double_eq_tol(v, 100e-6 * 20 * (4 - 1 - 1) * 2, 1e-8);
    ck_done(s, vsim_reset(d));
    ck_near(out_of(s, d), 2);
    ck_done(s, vsim_get_model(d, "nch", "vto", &v));
    ck_assert_double_eq(v, 0.7);
    vsim_free(&s);
}
END_TEST

START_TEST(temperature_and_options_count)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, rectifier);
    double v, cold, warm;
    ck_assert_double_eq(vsim_get_temp(d), 27);
    ck_done(s, vsim_set_device(d, "v1", "dc", 1));
    cold = out_of(s, d);
    ck_done(s, vsim_set_temp(d, 100));
    warm = out_of(s, d);
    ck_assert_double_gt(warm, cold + 0.01); /* 2 mV per kelvin */
    ck_assert_int_eq(vsim_set_temp(d, -300), VSIM_EINPUT);
    ck_done(s, vsim_set_options(d, "reltol=1e-5 method=gear"));
    ck_done(s, vsim_get_option(d, "reltol", &v));
    ck_assert_double_eq(v, 1e-5);
    ck_done(s, vsim_get_option(d, "method", &v));
    ck_assert_double_eq(v, 1);
    ck_assert_int_eq(vsim_set_options(d, "reltol=-1"), VSIM_EINPUT);
    ck_assert_int_eq(vsim_get_option(d, "retol", &v), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "did you mean 'reltol'"));
    vsim_free(&s);
}
END_TEST

START_TEST(a_waveform_that_is_set_is_that_of_a_card)
{
    static const char pulse[] = "RC\nv1 in 0 pulse(0 1 1u 1n 1n 5u 10u)\nr1 in out 1k\n"
                                "c1 out 0 1n\n.end\n";
    static const char other[] = "RC\nv1 in 0 sin(0 2 1k)\nr1 in out 1k\nc1 out 0 1n\n.end\n";
    const double arg[] = {0, 1, 1e-6, 1e-9, 1e-9, 5e-6, 10e-6};
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, other);
    ck_done(s, vsim_set_wave(d, "v1", "pulse", arg, 7));
    ck_assert_uint_eq(bits_of(run_of(s, d, "tran 0.1u 20u")), whole(pulse, "tran 0.1u 20u"));
    ck_assert_int_eq(vsim_set_wave(d, "v1", "puls", arg, 7), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_wave(d, "r1", "pulse", arg, 7), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(a_change_that_cannot_be_built_is_taken_back)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    double v;
    ck_near(out_of(s, d), 2);
    vsim_deck *e = deck_of(s, rectifier);
    const uint64_t before = bits_of(run_of(s, e, "tran 10u 1m"));
    ck_done(s, vsim_set_model(e, "dm", "n", -1));
    ck_assert_int_eq(vsim_deck_build(e), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "'n'"));
    ck_done(s, vsim_get_model(e, "dm", "n", &v));
    ck_assert_double_eq(v, 1);
    ck_assert_uint_eq(bits_of(run_of(s, e, "tran 10u 1m")), before);
    ck_assert_int_eq(vsim_set_device(d, "m1", "l", NAN), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_device(d, "m1", "len", 1), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_device(d, "m2", "l", 1), VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(said(s), "did you mean '"));
    ck_assert_int_eq(vsim_set_param(d, "tpo", 1), VSIM_EINPUT);
    ck_assert_int_eq(vsim_set_model(d, "nch", "vt", 1), VSIM_EINPUT);
    vsim_free(&s);
}
END_TEST

START_TEST(measures_are_those_of_cards)
{
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, divider);
    vsim_run *r;
    vsim_measured m;
    double v;
    ck_done(s, vsim_run_deck_card(d, 1, NULL, &r));
    ck_done(s, vsim_run_go(r));
    ck_assert_uint_eq(vsim_run_measured_count(r), 1);
    ck_assert(vsim_run_measured(r, 0, &m));
    ck_assert_str_eq(m.name, "high");
    ck_assert_double_eq_tol(m.value, 2.0 / 3, 2e-3); /* the largest point of a sine */
    ck_done(s, vsim_run_measure(r, "a MAX v(out)", &v));
    ck_assert_double_eq(v, m.value);
    ck_done(s, vsim_run_measure(r, "x WHEN v(out)=5", &v));
    ck_assert(isnan(v));
    size_t n;
    const vsim_message *w = vsim_messages(s, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(w[0].severity, VSIM_WARNING);
    ck_assert_int_eq(vsim_run_measure(r, "x WHN v(out)=5", &v), VSIM_EINPUT);
    w = vsim_messages(s, &n);
    ck_assert_uint_ge(n, 1);
    ck_assert_str_eq(w[0].source, "x WHN v(out)=5");
    ck_assert_int_eq(w[0].column, 3);
    vsim_free(&s);
}
END_TEST

/* -- equations -- */

static void residual(vsim *s, vsim_deck *d, const double *x, int32_t n, double *f, double *q)
{
    vsim_equations e;
    ck_done(s, vsim_equations_at(d, x, &e));
    memcpy(f, e.f, (size_t)n * sizeof *f);
    memcpy(q, e.q, (size_t)n * sizeof *q);
}

START_TEST(jacobians_are_derivatives_of_residuals)
{
    static const char text[] = "all sorts\nv1 in 0 0.7\nr1 in b 10k\nq1 c b 0 qn\nr2 vcc c 1k\n"
                               "vcc vcc 0 5\nl1 c o 1m\nc1 o 0 1n\nd1 o 0 dm\ne1 z 0 o 0 2\n"
                               "rz z 0 1k\n.model qn npn bf=100 cje=2p cjc=1p tf=1n\n"
                               ".model dm d is=1e-14 cjo=3p\n.end\n";
    vsim *s = simulator();
    vsim_deck *d = deck_of(s, text);
    vsim_equations e;
    ck_done(s, vsim_equations_at(d, NULL, &e));
    const int32_t n = e.n;
    double *x = calloc((size_t)n + 1, sizeof *x), *g = calloc((size_t)(n * n), sizeof *g),
           *c = calloc((size_t)(n * n), sizeof *c), *f[2], *q[2];
    memcpy(x + 1, e.x, (size_t)n * sizeof *x);
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = e.colptr[j]; k < e.colptr[j + 1]; k++) {
            ck_assert(k == e.colptr[j] || e.row[k] > e.row[k - 1]);
            g[e.row[k] * n + j] = e.g[k];
            c[e.row[k] * n + j] = e.c[k];
        }
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, fabs(e.f[i]));
    ck_assert_double_lt(most, 1e-5); /* the operating point solves it */
    for (int k = 0; k < 2; k++) {
        f[k] = calloc((size_t)n, sizeof **f);
        q[k] = calloc((size_t)n, sizeof **q);
    }
    /* Central differences of step h: error h^2 f'''/6 (f''' = f'/vt^2 at most) and rounding. */
    const double h = 1e-6;
    for (int32_t j = 0; j < n; j++) {
        const double at = x[j + 1];
        x[j + 1] = at + h;
        residual(s, d, x, n, f[1], q[1]);
        x[j + 1] = at - h;
        residual(s, d, x, n, f[0], q[0]);
        x[j + 1] = at;
        for (int32_t i = 0; i < n; i++) {
            const double df = (f[1][i] - f[0][i]) / (2 * h), dq = (q[1][i] - q[0][i]) / (2 * h);
            ck_assert_msg(fabs(df - g[i * n + j]) <= 1e-6 * fabs(g[i * n + j]) + 1e-9,
                          "G(%d,%d): %g %g", i, j, df, g[i * n + j]);
            ck_assert_msg(fabs(dq - c[i * n + j]) <= 1e-5 * fabs(c[i * n + j]) + 1e-18,
                          "C(%d,%d): %g %g", i, j, dq, c[i * n + j]);
        }
    }
    for (int k = 0; k < 2; k++) {
        free(f[k]);
        free(q[k]);
    }
    free(x);
    free(g);
    free(c);
    vsim_free(&s);
}
END_TEST

int main(void)
{
    const TTest *const all[] = {lists_name_what_there_is,
                                parameters_of_devices_have_units_and_can_be_read,
                                values_that_are_set_are_computed_with,
                                temperature_and_options_count,
                                a_waveform_that_is_set_is_that_of_a_card,
                                a_change_that_cannot_be_built_is_taken_back,
                                measures_are_those_of_cards,
                                jacobians_are_derivatives_of_residuals};
    return run_tests("lib/values", all, sizeof all / sizeof *all);
}
