/* test_fig.c - which panels and curves vectors become; margins of a loop gain that is known. */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#undef complex

#include "../suite.h"
#include "fig.h"
#include "stream.h"
#include "vec.h"

typedef struct bench {
    diag d;
    str_pool names;
    arena mem;
    post_set set;
    post_env e;
    fig f;
} bench;

/* ac1: v(loop) = 1000/(1 + s)^3 with s = j f; tran2: v(a) = t, i(r) = -t, n = 1 (no unit). */
static void bench_init(bench *b)
{
    *b = (bench){0};
    diag_init(&b->d);
    str_pool_init(&b->names);
    arena_init(&b->mem);
    post_set_init(&b->set, &b->names);
    b->e = (post_env){.set = &b->set, .d = &b->d, .span = DIAG_NOWHERE, .mem = &b->mem};
    post_plot *p = post_plot_new(&b->set, "ac", "loop", "AC Analysis");
    p->scale = post_plot_add(&b->set, p, "frequency", "frequency", false);
    post_vec *v = post_plot_add(&b->set, p, "v(loop)", "voltage", true);
    for (int k = 0; k <= 400; k++) {
        const double f = pow(10, -2 + k / 100.0);
        const double _Complex s = 1 + I * f, h = 1000 / (s * s * s);
        post_vec_push(p->scale, f, 0);
        post_vec_push(v, creal(h), cimag(h));
    }
    p = post_plot_new(&b->set, "tran", "t", "Transient Analysis, r=5 temp=27");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *a = post_plot_add(&b->set, p, "v(a)", "voltage", false),
             *i = post_plot_add(&b->set, p, "i(r)", "current", false),
             *n = post_plot_add(&b->set, p, "n", "notype", false);
    for (int k = 0; k <= 10; k++) {
        post_vec_push(p->scale, k, 0);
        post_vec_push(a, k, 0);
        post_vec_push(i, -k, 0);
        post_vec_push(n, 1, 0);
    }
}

static void bench_fini(bench *b)
{
    fig_fini(&b->f);
    post_set_fini(&b->set);
    arena_fini(&b->mem);
    str_pool_fini(&b->names);
    diag_fini(&b->d);
}

static char *drawn(bench *b, const fig_request *r, vs_status want)
{
    char *text = NULL;
    const char *why = "";
    FILE *fp = stream_text(&text, NULL);
    ck_assert_int_eq(fig_draw(&b->f, &b->e, r, CHART_SVG, fp, &why), want);
    stream_close(fp);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

START_TEST(units_have_panels_of_their_own)
{
    bench b;
    bench_init(&b);
    fig_request r = fig_nothing();
    ck_assert(fig_eval(&b.f, &b.e, "all", NULL, NULL)); /* the axis is no curve */
    char *svg = drawn(&b, &r, VS_OK);
    ck_assert_int_eq(count(svg, "<clipPath"), 2); /* n joins the first */
    ck_assert_int_eq(count(svg, "stroke-width='1.5'"), 3);
    ck_assert_int_eq(count(svg, ">voltage [V]<"), 1);
    ck_assert_int_eq(count(svg, ">current [A]<"), 1);
    ck_assert_int_eq(count(svg, ">time [s]<"), 1); /* shared */
    vs_free(svg);
    r.stack = true;
    svg = drawn(&b, &r, VS_OK);
    ck_assert_int_eq(count(svg, "<clipPath"), 3);
    vs_free(svg);
    r.stack = false;
    r.ylo = -20; /* limits are for one panel */
    r.yhi = 20;
    svg = drawn(&b, &r, VS_OK);
    ck_assert_int_eq(count(svg, "<clipPath"), 1);
    vs_free(svg);
    bench_fini(&b);
}
END_TEST

/* |1 + j f|^3 = 1000 at f = sqrt(99), where the phase is -3 atan(sqrt(99)) = -252.8 degrees; it is
 * -180 at f = sqrt(3), where the gain is 1000/8, 41.9 dB: margins of -72.8 degrees and -41.9 dB. */
START_TEST(margins_of_a_loop_gain_are_marked)
{
    bench b;
    bench_init(&b);
    fig_request r = fig_nothing();
    r.kind = FIG_BODE;
    b.set.current = b.set.plot[0];
    ck_assert(fig_eval(&b.f, &b.e, "v(loop)", NULL, NULL));
    char *svg = drawn(&b, &r, VS_OK);
    ck_assert_int_eq(count(svg, "<clipPath"), 2);
    ck_assert_ptr_nonnull(strstr(svg, "phase margin -72.8°"));
    ck_assert_ptr_nonnull(strstr(svg, "gain margin -41.9 dB"));
    ck_assert_ptr_nonnull(strstr(svg, ">frequency [Hz]<"));
    ck_assert_ptr_nonnull(strstr(svg, ">100m<")); /* a sweep by decades: a logarithmic axis */
    vs_free(svg);
    bench_fini(&b);
}
END_TEST

START_TEST(stacked_loop_gains_have_two_panels_each)
{
    bench b;
    bench_init(&b);
    fig_request r = fig_nothing();
    r.kind = FIG_BODE;
    r.stack = true;
    b.set.current = b.set.plot[0];
    ck_assert(fig_eval(&b.f, &b.e, "v(loop) v(loop)*2", NULL, NULL));
    char *svg = drawn(&b, &r, VS_OK);
    ck_assert_int_eq(count(svg, "<clipPath"), 4);
    ck_assert_int_eq(count(svg, "phase margin "), 2);
    ck_assert_ptr_nonnull(strstr(svg, "gain margin -41.9 dB"));
    ck_assert_ptr_nonnull(strstr(svg, "gain margin -48.0 dB")); /* 20 log10 250 */
    vs_free(svg);
    bench_fini(&b);
}
END_TEST

START_TEST(families_are_named_by_their_values)
{
    bench b;
    bench_init(&b);
    const fig_request r = fig_nothing();
    const char *family = fig_family(b.set.plot[1]);
    ck_assert_str_eq(family, "r=5 temp=27");
    ck_assert_ptr_null(fig_family(b.set.plot[0]));
    ck_assert(fig_eval(&b.f, &b.e, "v(a)", NULL, family));
    ck_assert(fig_eval(&b.f, &b.e, "2*v(a)", NULL, "r=6"));
    char *svg = drawn(&b, &r, VS_OK);
    ck_assert_ptr_nonnull(strstr(svg, ">r=5 temp=27<"));
    ck_assert_ptr_nonnull(strstr(svg, ">r=6<"));
    vs_free(svg);
    bench_fini(&b);
}
END_TEST

START_TEST(curves_over_an_expression)
{
    bench b;
    bench_init(&b);
    const fig_request r = fig_nothing();
    ck_assert(fig_eval(&b.f, &b.e, "i(r)", "v(a)", NULL));
    char *svg = drawn(&b, &r, VS_OK);
    ck_assert_ptr_nonnull(strstr(svg, ">v(a) [V]<"));
    vs_free(svg);
    ck_assert(!fig_eval(&b.f, &b.e, "v(nix)", NULL, NULL));
    ck_assert_int_eq(b.d.n_error, 1);
    bench_fini(&b);
}
END_TEST

START_TEST(an_empty_figure_is_told)
{
    bench b;
    bench_init(&b);
    const fig_request r = fig_nothing();
    vs_free(drawn(&b, &r, VS_EINPUT));
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fig");
    TCase *t = tcase_create("fig");
    tcase_add_test(t, units_have_panels_of_their_own);
    tcase_add_test(t, margins_of_a_loop_gain_are_marked);
    tcase_add_test(t, stacked_loop_gains_have_two_panels_each);
    tcase_add_test(t, families_are_named_by_their_values);
    tcase_add_test(t, curves_over_an_expression);
    tcase_add_test(t, an_empty_figure_is_told);
    suite_add_tcase(s, t);
    return run_suite(s);
}
