/* Each homotopy of ana/op.c by itself (the file is included to reach them) on circuits where plain
 * Newton does not converge. */
#include <check.h>

#include "../suite.h"
#include "mock_ckt.h"
#include "op.c"

static ckt c;
static diag d;
static ana *a;

static void setup(void)
{
    memset(&c, 0, sizeof c);
    diag_init(&d);
}
static void teardown(void)
{
    ana_free(&a);
    mock_drop(&c);
    diag_fini(&d);
}
static double at(const char *name) { return a->x_good[mock_node(&c, name)]; }

static void begin(void)
{
    option_set opt;
    option_default(&opt);
    mock_finish(&c);
    ck_assert_int_eq(ana_new(&a, &c, &opt, &d), VS_OK);
    ckt_reset_limits(&c);
}

/* 3 diodes without limiting behind 1 kOhm at 20 V. */
static void series(void)
{
    mock_add(&c, MOCK_V, "v1", "in", "0", 20);
    mock_add(&c, MOCK_R, "r1", "in", "n0", 1e3);
    mock_add(&c, MOCK_D, "d1", "n0", "n1", 0)->val2 = 1;
    mock_add(&c, MOCK_D, "d2", "n1", "n2", 0)->val2 = 1;
    mock_add(&c, MOCK_D, "d3", "n2", "0", 0)->val2 = 1;
    begin();
}

static void check_series(void)
{
    double i = (20 - at("n0")) / 1e3;
    ck_assert_double_eq_tol(at("n2"), 0.02585 * log(i / 1e-14 + 1), 1e-3);
    ck_assert_double_eq_tol(at("n0"), 3 * at("n2"), 1e-2);
}

START_TEST(plain_newton_fails)
{
    series();
    newton_eq eq = ana_static_eq(a, false);
    newton_report rep;
    ck_assert_int_eq(plain_newton(a, &eq, a->x_good, false, &rep), VS_NOCONV);
    ck_assert_int_ne(rep.worst_dx, 0);
}
END_TEST

START_TEST(gmin_stepping_ends_without_conductance)
{
    double reached;
    series();
    newton_eq eq = ana_static_eq(a, false);
    ck_assert_int_eq(gmin_stepping(a, &eq, &reached), VS_OK);
    ck_assert_double_eq(reached, 0);
    check_series();
}
END_TEST

START_TEST(source_stepping_ends_with_full_sources)
{
    double reached;
    series();
    newton_eq eq = ana_static_eq(a, false);
    ck_assert_int_eq(source_stepping(a, &eq, &reached), VS_OK);
    ck_assert_double_eq(reached, 1);
    check_series();
}
END_TEST

START_TEST(pseudo_transient_ends_at_a_solution)
{
    double reached;
    series();
    newton_eq eq = ana_static_eq(a, false);
    ck_assert_int_eq(pseudo_transient(a, &eq, &reached), VS_OK);
    check_series();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("homotopy");
    TCase *tc = tcase_create("homotopy");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, plain_newton_fails);
    tcase_add_test(tc, gmin_stepping_ends_without_conductance);
    tcase_add_test(tc, source_stepping_ends_with_full_sources);
    tcase_add_test(tc, pseudo_transient_ends_at_a_solution);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
