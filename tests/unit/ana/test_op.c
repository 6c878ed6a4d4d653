/* Tests of the operating point and the dc sweep on the mock circuit. */
#include <check.h>
#include <stdio.h>

#include "../suite.h"
#include "ana.h"
#include "mock_ckt.h"

static ckt c;
static diag d;
static option_set opt;
static ana *a;
static double x[MOCK_MAX + 1];

static void setup(void)
{
    memset(&c, 0, sizeof c);
    memset(x, 0, sizeof x);
    diag_init(&d);
    option_default(&opt);
    a = NULL;
}
static void teardown(void)
{
    ana_free(&a);
    mock_drop(&c);
    diag_fini(&d);
}
static void begin(void)
{
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
}
static double at(const char *name) { return x[mock_node(&c, name)]; }
static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    return false;
}

START_TEST(divider_is_exact)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 3);
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_R, "r2", "out", "0", 2e3);
    begin();
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert_double_eq_tol(at("out"), 2, 1e-12);
    ck_assert_str_eq(ana_stats(a)->op_method, "Newton");
    ck_assert_int_eq(ana_stats(a)->iterations, 2);
    ck_assert_int_eq(ana_stats(a)->n_factor, 1);
}
END_TEST

/* k diodes in series with 1 kOhm at v volts; without limiting Newton needs hundreds of iterations.
 */
static void series(int k, double v, bool limiting)
{
    static char name[64][8];
    mock_add(&c, MOCK_V, "v1", "in", "0", v);
    mock_add(&c, MOCK_R, "r1", "in", "n0", 1e3);
    for (int i = 0; i <= k; i++)
        snprintf(name[i], sizeof name[i], "n%d", i);
    for (int i = 0; i < k; i++)
        mock_add(&c, MOCK_D, "d", name[i], i == k - 1 ? "0" : name[i + 1], 0)->val2 = !limiting;
}

START_TEST(series_diodes_converge_with_limiting)
{
    series(40, 60, true);
    begin();
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    double i = (60 - at("n0")) / 1e3;
    ck_assert_double_eq_tol(at("n39"), 0.02585 * log(i / 1e-14 + 1), 1e-3);
}
END_TEST

START_TEST(series_diodes_without_limiting_need_a_homotopy)
{
    series(3, 20, false);
    begin();
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert_str_eq(ana_stats(a)->op_method, "gmin stepping");
    double i = (20 - at("n0")) / 1e3;
    ck_assert_double_eq_tol(at("n2"), 0.02585 * log(i / 1e-14 + 1), 1e-3);
    ana_free(&a);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    ana_only_newton(a);
    ck_assert_int_eq(ana_op(a, x, false, false), VS_NOCONV);
}
END_TEST

/* It is that of a transient too where the circuit says so, and not with .ic. */
START_TEST(a_transient_takes_the_operating_point_of_op)
{
    const bool with_ic = _i;
    ana_memo memo[2] = {{0}};
    const ana_node_value ic = {2, 0.1};
    const ana_tran_opt o = {.tstep = 1e-6, .tstop = 1e-6};
    const ana_sink none = {0};
    series(3, 20, true);
    c.same_start = true;
    begin();
    ana_set_memo(a, &memo[0], &memo[1]);
    if (with_ic)
        ana_set_ic(a, &ic, 1);
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert(memo[0].valid && memo[1].valid == !with_ic);
    ck_assert_int_eq(ana_tran(a, &o, &none), VS_OK);
    ck_assert_int_eq(ana_stats(a)->n_op_taken, !with_ic);
    ck_assert_int_eq(ana_stats(a)->n_op, 1 + with_ic);
    ana_memo_fini(&memo[0]);
    ana_memo_fini(&memo[1]);
}
END_TEST

START_TEST(an_operating_point_that_is_kept_is_taken_over)
{
    ana_memo memo[2] = {{0}};
    series(3, 20, true);
    begin();
    ana_set_memo(a, &memo[0], &memo[1]);
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert(memo[0].valid && !memo[1].valid);
    const double v = at("n2"), limit = c.dev[2].vlim;
    const int64_t n = ana_stats(a)->iterations;
    memset(x, 0, sizeof(double) * (size_t)(ckt_n(&c) + 1));
    c.dev[2].vlim = 0.1;
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert(at("n2") == v);
    ck_assert(c.dev[2].vlim == limit);
    ck_assert_int_eq(ana_stats(a)->iterations, n);
    ck_assert_int_eq(ana_stats(a)->n_op_taken, 1);
    ck_assert_int_eq(ana_op(a, x, false, true), VS_OK); /* that of a transient is another one */
    ck_assert_int_gt(ana_stats(a)->iterations, n);
    memo[0].valid = false;
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert_int_eq(ana_stats(a)->n_op, 3);
    ana_memo_fini(&memo[0]);
    ana_memo_fini(&memo[1]);
}
END_TEST

/* Two inverters back to back: stable at about +-1 V, unstable at 0. */
static void latch(void)
{
    mock_add(&c, MOCK_R, "ra", "a", "0", 1e3);
    mock_add(&c, MOCK_R, "rb", "b", "0", 1e3);
    mock_dev *ia = mock_add(&c, MOCK_TANH, "xa", "a", "0", 1e-3);
    mock_dev *ib = mock_add(&c, MOCK_TANH, "xb", "b", "0", 1e-3);
    ia->cp = ib->p;
    ib->cp = ia->p;
    ia->val2 = ib->val2 = 5;
}

START_TEST(nodeset_chooses_the_state_of_a_latch)
{
    latch();
    begin();
    for (int sign = -1; sign <= 1; sign += 2) {
        ana_node_value v = {mock_node(&c, "a"), 0.8 * sign};
        ana_set_nodeset(a, &v, 1);
        ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
        ck_assert_double_eq_tol(at("a"), sign, 1e-2);
        ck_assert_double_eq_tol(at("b"), -sign, 1e-2);
    }
}
END_TEST

START_TEST(no_solution_names_node_device_and_what_was_tried)
{
    mock_add(&c, MOCK_I, "ibias", "0", "x1.sat", 1e-3); /* 1 mA into what takes 0.5 mA */
    mock_dev *t = mock_add(&c, MOCK_TANH, "x1.load", "x1.sat", "0", 0.5e-3);
    t->cp = t->p;
    t->val2 = 1;
    begin();
    ck_assert_int_eq(ana_op(a, x, false, false), VS_NOCONV);
    ck_assert(said("no operating point"));
    ck_assert(said("x1.sat"));
    ck_assert(said("x1.load"));
    ck_assert(said("gmin stepping"));
    ck_assert(said("pseudo-transient"));
}
END_TEST

START_TEST(node_without_path_to_ground_is_named)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 1);
    mock_add(&c, MOCK_R, "r1", "in", "0", 1e3);
    mock_add(&c, MOCK_R, "r2", "fa", "fb", 1024);
    begin();
    ana_only_newton(a);
    ck_assert_int_eq(ana_op(a, x, false, false), VS_NOCONV);
    ck_assert(said("singular"));
    ck_assert(said("'fa'") || said("'fb'"));
}
END_TEST

START_TEST(undetermined_equations_are_an_input_error)
{
    mock_add(&c, MOCK_R, "r1", "a", "0", 1e3);
    mock_add(&c, MOCK_I, "i1", "a", "0", 1e-3)->cp = mock_node(&c, "a");
    mock_unknown(&c, "lost", CKT_CURRENT, false);
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_ESINGULAR);
    ck_assert(said("lost"));
    ck_assert_ptr_null(a);
}
END_TEST

START_TEST(values_that_are_not_finite_name_the_device)
{
    mock_add(&c, MOCK_R, "r1", "a", "0", 1e3);
    c.nonfinite = true;
    begin();
    ck_assert_int_eq(ana_op(a, x, false, false), VS_NOCONV);
    ck_assert(said("not finite"));
    ck_assert(said("r1"));
}
END_TEST

START_TEST(initial_condition_is_forced_in_the_transients_point)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 5);
    mock_add(&c, MOCK_R, "r1", "in", "out", 1e3);
    mock_add(&c, MOCK_C, "c1", "out", "0", 1e-6);
    begin();
    ana_node_value v = {mock_node(&c, "out"), 1.5};
    ana_set_ic(a, &v, 1);
    ck_assert_int_eq(ana_op(a, x, false, true), VS_OK);
    ck_assert_double_eq_tol(at("out"), 1.5, 1e-6);
    ck_assert_int_eq(ana_op(a, x, false, false), VS_OK);
    ck_assert_double_eq_tol(at("out"), 5, 1e-9);
}
END_TEST

typedef struct record {
    int n, stop_after;
    double axis[256], v[256];
    int32_t unknown;
} record;

static vs_status keep(void *user, double axis, const double *xx)
{
    record *r = user;
    r->axis[r->n] = axis;
    r->v[r->n++] = xx[r->unknown];
    return r->stop_after && r->n >= r->stop_after ? VS_STOP : VS_OK;
}

START_TEST(sweep_delivers_every_value_and_restores_the_source)
{
    series(1, 0, true);
    begin();
    record r = {.unknown = mock_node(&c, "n0")};
    ana_sink sink = {.point = keep, .user = &r};
    double v[101];
    for (int i = 0; i <= 100; i++)
        v[i] = -1 + 0.1 * i;
    ck_assert_int_eq(ana_dc(a, 0, v, 101, x, &(ana_sweep){0}, &sink), VS_OK);
    ck_assert_int_eq(r.n, 101);
    for (int i = 0; i <= 100; i++) {
        double id = 1e-14 * expm1(r.v[i] / 0.02585) + 1e-12 * r.v[i];
        ck_assert_double_eq(r.axis[i], v[i]);
        ck_assert_double_eq_tol(r.v[i] + 1e3 * id, v[i], 3e-3 * fabs(v[i]) + 1e-6);
    }
    ck_assert_double_eq(ckt_source_dc(&c, 0), 0);
    ck_assert_int_eq(c.n_accept, 101);
    r.n = 0;
    r.stop_after = 5;
    ck_assert_int_eq(ana_dc(a, 0, v, 101, x, &(ana_sweep){0}, &sink), VS_STOP);
    ck_assert_int_eq(r.n, 5);
}
END_TEST

START_TEST(sweep_across_a_fold_goes_on_behind_it)
{
    latch(); /* a current into node a flips the latch near 0.6 mA */
    int source = c.n_dev;
    mock_add(&c, MOCK_I, "i1", "0", "a", 0);
    begin();
    ana_node_value start = {mock_node(&c, "a"), -0.8};
    ana_set_nodeset(a, &start, 1);
    record r = {.unknown = mock_node(&c, "a")};
    ana_sink sink = {.point = keep, .user = &r};
    double v[41];
    for (int i = 0; i <= 40; i++)
        v[i] = 0.05e-3 * i;
    ck_assert_int_eq(ana_dc(a, source, v, 41, x, &(ana_sweep){0}, &sink), VS_OK);
    ck_assert_double_lt(r.v[5], -0.5);
    ck_assert_double_gt(r.v[40], 2.5);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op");
    TCase *tc = tcase_create("op");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, divider_is_exact);
    tcase_add_test(tc, series_diodes_converge_with_limiting);
    tcase_add_test(tc, series_diodes_without_limiting_need_a_homotopy);
    tcase_add_loop_test(tc, a_transient_takes_the_operating_point_of_op, 0, 2);
    tcase_add_test(tc, an_operating_point_that_is_kept_is_taken_over);
    tcase_add_test(tc, nodeset_chooses_the_state_of_a_latch);
    tcase_add_test(tc, no_solution_names_node_device_and_what_was_tried);
    tcase_add_test(tc, node_without_path_to_ground_is_named);
    tcase_add_test(tc, undetermined_equations_are_an_input_error);
    tcase_add_test(tc, values_that_are_not_finite_name_the_device);
    tcase_add_test(tc, initial_condition_is_forced_in_the_transients_point);
    tcase_add_test(tc, sweep_delivers_every_value_and_restores_the_source);
    tcase_add_test(tc, sweep_across_a_fold_goes_on_behind_it);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
