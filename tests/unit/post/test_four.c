/* test_four.c - Fourier series, spectra, pictures. */
#include <string.h>

#include "../suite.h"
#include "four.h"
#include "plots.h"
#include "stream.h"

/* 0.5 + 2 sin(w t) + 0.3 cos(3 w t) at 1 Hz, `per` points a second for 4 s, as the plot tran2 */
static post_val curve(bench *b, int per)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *y = post_plot_add(&b->set, p, "v(y)", "voltage", false);
    for (int k = 0; k <= 4 * per; k++) {
        double t = (double)k / per, w = 2 * M_PI * t;
        post_vec_push(p->scale, t, 0);
        post_vec_push(y, 0.5 + 2 * sin(w) + 0.3 * cos(3 * w), 0);
    }
    post_val v;
    ck_assert(post_eval(&b->e, "v(y)", &v));
    return v;
}

START_TEST(a_series_has_its_amplitudes_and_phases)
{
    bench b;
    bench_init(&b);
    post_val v = curve(&b, 1000);
    post_four f;
    ck_assert(post_fourier(&b.e, &v, 1, 0, 0, &f));
    ck_assert_int_eq(f.n, 10);
    ck_assert_double_eq_tol(f.mag[0], 0.5, 1e-6);
    ck_assert_double_eq_tol(f.mag[1], 2, 1e-6);
    ck_assert_double_eq_tol(f.phase[1], 0, 1e-6);
    ck_assert_double_eq_tol(f.mag[3], 0.3, 1e-6);
    ck_assert_double_eq_tol(f.phase[3], 90, 1e-6);
    ck_assert_double_eq_tol(f.thd, 15, 1e-4);
    ck_assert(!post_fourier(&b.e, &v, 0.1, 0, 0, &f)); /* longer than the run */
    ck_assert(!post_fourier(&b.e, &v, -1, 0, 0, &f));
    bench_fini(&b);
}
END_TEST

START_TEST(spectra_have_the_lines_of_the_curve)
{
    bench b;
    bench_init(&b);
    post_val v = curve(&b, _i ? 125 : 128); /* both ways of the transform */
    ck_assert(post_fft(&b.e, &v, 1, (post_window){"none", 0}, false, 0));
    static const struct {
        const char *text;
        double value;
    } t[] = {{"mag(v(y))[0]", 0.5},
             {"mag(v(y))[4]", 2},
             {"mag(v(y))[12]", 0.3},
             {"mag(v(y))[7]", 0},
             {"frequency[4]", 1}};
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        double x;
        ck_assert(post_eval_number(&b.e, t[i].text, &x));
        ck_assert_msg(fabs(x - t[i].value) < 1e-9, "%s = %.12g", t[i].text, x);
    }
    b.set.current = post_set_find(&b.set, "tran2");
    ck_assert(post_spec(&b.e, &v, 1, (post_window){NULL, 0}, 0, 4, 0.25));
    double x;
    ck_assert(post_eval_number(&b.e, "mag(v(y))[4]", &x) && fabs(x - 2) < 1e-9);
    b.set.current = post_set_find(&b.set, "tran2");
    ck_assert(post_fft(&b.e, &v, 1, (post_window){"none", 0}, true, 0));
    ck_assert(post_eval_number(&b.e, "v(y)[4]", &x) && fabs(x - 2) < 1e-9); /* 2^2 / 2 */
    ck_assert(!post_fft(&b.e, &v, 1, (post_window){"hannig", 0}, false, 0));
    bench_fini(&b);
}
END_TEST

START_TEST(linearize_keeps_the_curve)
{
    bench b;
    bench_init(&b);
    post_val v = curve(&b, 1000);
    ck_assert(post_linearize(&b.e, &v, 1, 0.25, NAN, NAN));
    ck_assert_str_eq(b.set.current->what, "Transient Analysis (linearized)");
    double n, y;
    ck_assert(post_eval_number(&b.e, "length(time)", &n) && n == 17);
    ck_assert(post_eval_number(&b.e, "v(y)[1]", &y) && fabs(y - 2.5) < 1e-9);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/four");
    TCase *t = tcase_create("post/four");
    tcase_add_test(t, a_series_has_its_amplitudes_and_phases);
    tcase_add_loop_test(t, spectra_have_the_lines_of_the_curve, 0, 2);
    tcase_add_test(t, linearize_keeps_the_curve);
    suite_add_tcase(s, t);
    return run_suite(s);
}
