/* test_cmp.c - pairs that differ in known ways are found and named; equal ones with other points
 * are not. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../suite.h"
#include "cmp.h"
#include "vec.h"

typedef struct bench {
    str_pool names;
    post_set set;
} bench;

typedef double curve(double t);

/* A plot of v(a) at n points over [0, end]; uneven: not equally far apart. */
static post_plot *made(bench *b, curve *f, int n, double end, bool uneven)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *v = post_plot_add(&b->set, p, "v(a)", "voltage", false);
    for (int k = 0; k < n; k++) {
        const double u = (double)k / (n - 1), t = end * (uneven ? u + 0.3 * u * (1 - u) : u);
        post_vec_push(p->scale, t, 0);
        post_vec_push(v, f(t), 0);
    }
    return p;
}

/* The corners of a pulse train as points: period 10, up from 1 to 2, down from 6 to 7; edge number
 * `late` (from 1) by `by`. */
static post_plot *pulses(bench *b, int late, double by, double lift, int skip)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *v = post_plot_add(&b->set, p, "v(a)", "voltage", false);
    post_vec_push(p->scale, 0, 0);
    post_vec_push(v, lift, 0);
    for (int e = 1; e <= 10; e++) {
        const double t = 5 * (e - 1) + 1 + (e == late ? by : 0), from = e % 2 ? 0 : 1;
        if (e == skip || e == skip + 1)
            continue;
        post_vec_push(p->scale, t, 0);
        post_vec_push(v, from + lift, 0);
        post_vec_push(p->scale, t + 0.3, 0);
        post_vec_push(v, from + (1 - 2 * from) * 0.3 + lift, 0);
        post_vec_push(p->scale, t + 1, 0);
        post_vec_push(v, 1 - from + lift, 0);
    }
    post_vec_push(p->scale, 60, 0);
    post_vec_push(v, lift, 0);
    return p;
}

static void bench_init(bench *b)
{
    str_pool_init(&b->names);
    post_set_init(&b->set, &b->names);
}

static void bench_fini(bench *b)
{
    post_set_fini(&b->set);
    str_pool_fini(&b->names);
}

/* The only finding. */
static cmp_found only(const post_plot *a, const post_plot *b, const cmp_opt *o)
{
    cmp c;
    const cmp_opt usual = cmp_defaults();
    cmp_init(&c, o ? o : &usual);
    cmp_plots(&c, a, b);
    ck_assert_uint_le(vec_len(c.found), 1);
    const cmp_found f = c.found ? c.found[0] : (cmp_found){.kind = CMP_SAME};
    ck_assert(!c.found || f.kind >= CMP_SHAPE || cmp_worst(&c)->kind == f.kind);
    cmp_fini(&c);
    return f;
}

static double sine(double t) { return sin(6.283185307179586 * t); }
static double decay(double t) { return exp(-t); }
static double slower(double t) { return sine(t * 0.98); }
static double shifted(double t) { return sine(t - 0.1); }
static double nearly(double t)
{
    return sine(t * 1.0005);
} /* in phase at 0, 0.05 turns off at 100 */
static double larger(double t) { return 1.02 * sine(t); }
static double glitch(double t) { return sine(t) + (t > 3.14 && t < 3.15 ? 0.2 : 0); }

START_TEST(the_same_curve_at_other_points_agrees)
{
    bench b;
    bench_init(&b);
    ck_assert_int_eq(only(made(&b, sine, 900, 10, false), made(&b, sine, 613, 10, true), NULL).kind,
                     CMP_SAME);
    ck_assert_int_eq(only(made(&b, decay, 40, 10, false), made(&b, decay, 57, 10, true), NULL).kind,
                     CMP_SAME);
    ck_assert_int_eq(only(pulses(&b, 0, 0, 0, -9), pulses(&b, 0, 0, 0, -9), NULL).kind, CMP_SAME);
    bench_fini(&b);
}
END_TEST

START_TEST(a_late_edge_is_named)
{
    bench b;
    char text[300];
    bench_init(&b);
    const cmp_found f = only(pulses(&b, 0, 0, 0, -9), pulses(&b, 4, 0.1, 0, -9), NULL);
    ck_assert_int_eq(f.kind, CMP_EDGE);
    ck_assert_int_eq(f.index, 4);
    ck_assert(!f.rise);
    ck_assert_double_eq_tol(f.at, 16.5, 1e-9);
    ck_assert_double_eq_tol(f.size, 0.1, 1e-9);
    cmp_text(&f, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "edge 4 (fall) at 16.5 s is 100 ms late"));
    cmp_opt o = cmp_defaults();
    o.time_shift = 0.2;
    ck_assert_int_eq(only(pulses(&b, 0, 0, 0, -9), pulses(&b, 4, 0.1, 0, -9), &o).kind, CMP_SAME);
    bench_fini(&b);
}
END_TEST

START_TEST(an_offset_is_named)
{
    bench b;
    char text[300];
    bench_init(&b);
    const cmp_found f = only(pulses(&b, 0, 0, 0, -9), pulses(&b, 0, 0, -0.02, -9), NULL);
    ck_assert_int_eq(f.kind, CMP_OFFSET);
    ck_assert_double_eq_tol(f.size, -0.02, 1e-6);
    cmp_text(&f, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "is 20 mV lower throughout"));
    bench_fini(&b);
}
END_TEST

START_TEST(missing_edges_are_counted)
{
    bench b;
    bench_init(&b);
    const cmp_found f = only(pulses(&b, 0, 0, 0, -9), pulses(&b, 0, 0, 0, 5), NULL);
    ck_assert_int_eq(f.kind, CMP_EDGES);
    ck_assert_int_eq(f.n_a, 10);
    ck_assert_int_eq(f.n_b, 8);
    ck_assert_double_eq_tol(f.at, 21.5, 1e-9);
    bench_fini(&b);
}
END_TEST

START_TEST(oscillations_are_compared_by_period_and_phase)
{
    bench b;
    bench_init(&b);
    post_plot *a = made(&b, sine, 20001, 100, false);
    const cmp_found f = only(a, made(&b, slower, 20001, 100, false), NULL);
    ck_assert_int_eq(f.kind, CMP_PERIOD);
    ck_assert_double_eq_tol(f.size, 1 / 0.98 - 1, 1e-4);
    const cmp_found g = only(a, made(&b, shifted, 20001, 100, false), NULL);
    ck_assert_int_eq(g.kind, CMP_PHASE);
    ck_assert_double_eq_tol(g.size, 0.1, 1e-3);
    ck_assert_int_eq(only(a, made(&b, nearly, 20001, 100, false), NULL).kind, CMP_SAME);
    const cmp_found h = only(a, made(&b, larger, 20001, 100, false), NULL);
    ck_assert_int_eq(h.kind, CMP_VALUE);
    ck_assert_double_eq_tol(h.size, 0.02, 1e-3);
    bench_fini(&b);
}
END_TEST

START_TEST(a_glitch_between_the_points_of_the_other_is_found)
{
    bench b;
    bench_init(&b);
    const cmp_found f =
        only(made(&b, sine, 300, 10, false), made(&b, glitch, 20001, 10, false), NULL);
    ck_assert_int_eq(f.kind, CMP_VALUE);
    ck_assert_double_eq_tol(f.at, 3.145, 0.006);
    ck_assert_double_eq_tol(f.size, 0.2, 0.02);
    bench_fini(&b);
}
END_TEST

START_TEST(missing_signals_ends_and_shapes_are_named)
{
    bench b;
    bench_init(&b);
    post_plot *a = made(&b, decay, 50, 10, false), *c = made(&b, decay, 50, 10, false);
    ck_assert_int_eq(only(a, made(&b, decay, 25, 5, false), NULL).kind, CMP_END);
    post_vec *x = post_plot_add(&b.set, c, "v(x)", "voltage", false);
    for (int k = 0; k < 50; k++)
        post_vec_push(x, 0, 0);
    ck_assert_int_eq(only(a, c, NULL).kind, CMP_ONLY_B);
    ck_assert_int_eq(only(c, a, NULL).kind, CMP_ONLY_A);
    post_vec *y = post_plot_add(&b.set, a, "v(x)", "voltage", true);
    for (int k = 0; k < 50; k++)
        post_vec_push(y, 0, 0);
    ck_assert_int_eq(only(a, c, NULL).kind, CMP_SHAPE);
    post_plot_remove(a, y);
    post_plot_remove(c, x);
    c->vec[1]->v[20] = NAN;
    ck_assert_int_eq(only(a, c, NULL).kind, CMP_NAN);
    cmp o;
    const cmp_opt usual = cmp_defaults();
    cmp_init(&o, &usual);
    cmp_plots(&o, a, NULL);
    ck_assert_uint_eq(vec_len(o.found), 2);
    ck_assert_ptr_null(cmp_worst(&o));
    cmp_fini(&o);
    bench_fini(&b);
}
END_TEST

/* 1/(1 + j f) at other frequencies; 1 % at one place where it is small is a difference. */
START_TEST(responses_are_compared_at_each_frequency)
{
    bench b;
    bench_init(&b);
    post_plot *p[2];
    for (int i = 0; i < 2; i++) {
        p[i] = post_plot_new(&b.set, "ac", "t", "AC Analysis");
        p[i]->scale = post_plot_add(&b.set, p[i], "frequency", "frequency", false);
        post_vec *v = post_plot_add(&b.set, p[i], "v(a)", "voltage", true);
        for (int k = 0; k <= (i ? 500 : 400); k++) {
            const double f = pow(10, (i ? 4.0 / 500 : 4.0 / 400) * k - 1), d = 1 + f * f;
            post_vec_push(p[i]->scale, f, 0);
            post_vec_push(v, 1 / d, -f / d);
        }
    }
    ck_assert_int_eq(only(p[0], p[1], NULL).kind, CMP_SAME);
    p[1]->vec[1]->v[2 * 450 + 1] *= 1.02;
    const cmp_found f = only(p[0], p[1], NULL);
    ck_assert_int_eq(f.kind, CMP_VALUE);
    ck_assert_double_eq_tol(log10(f.at), 4.0 / 500 * 450 - 1, 0.011);
    bench_fini(&b);
}
END_TEST

START_TEST(points_without_an_axis)
{
    bench b;
    bench_init(&b);
    post_plot *p[2];
    for (int i = 0; i < 2; i++) {
        p[i] = post_plot_new(&b.set, "op", "t", "Operating Point");
        post_vec_push(post_plot_add(&b.set, p[i], "v(a)", "voltage", false), 1 + 0.002 * i, 0);
        post_vec_push(post_plot_add(&b.set, p[i], "i(v1)", "current", false), 1e-12 * i, 0);
    }
    ck_assert_int_eq(only(p[0], p[1], NULL).kind, CMP_SAME);
    const cmp_opt o = {.reltol = 1e-3, .abstol = 0};
    cmp c;
    cmp_init(&c, &o);
    cmp_plots(&c, p[0], p[1]);
    ck_assert_uint_eq(vec_len(c.found), 2);
    ck_assert_int_eq(c.found[0].kind, CMP_VALUE);
    cmp_fini(&c);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cmp");
    TCase *t = tcase_create("cmp");
    tcase_add_test(t, the_same_curve_at_other_points_agrees);
    tcase_add_test(t, a_late_edge_is_named);
    tcase_add_test(t, an_offset_is_named);
    tcase_add_test(t, missing_edges_are_counted);
    tcase_add_test(t, oscillations_are_compared_by_period_and_phase);
    tcase_add_test(t, a_glitch_between_the_points_of_the_other_is_found);
    tcase_add_test(t, missing_signals_ends_and_shapes_are_named);
    tcase_add_test(t, responses_are_compared_at_each_frequency);
    tcase_add_test(t, points_without_an_axis);
    suite_add_tcase(s, t);
    return run_suite(s);
}
