/* test_four.c - Fourier series, spectra, pictures. */
#include <string.h>

#include "../suite.h"
#include "four.h"
#include "plots.h"
#include "stream.h"

/* A plot of n points. */
static post_val points(bench *b, const double *t, const double *y, int n)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *v = post_plot_add(&b->set, p, "v(y)", "voltage", false);
    for (int k = 0; k < n; k++) {
        post_vec_push(p->scale, t[k], 0);
        post_vec_push(v, y[k], 0);
    }
    post_val out;
    ck_assert(post_eval(&b->e, "v(y)", &out));
    return out;
}

/* 0.5 + 2 sin(w t) + 0.3 cos(3 w t) at 1 Hz, `per` points a second for 4 s, as the plot tran2 */
static post_val curve(bench *b, int per)
{
    enum { MOST = 1000 };
    static double t[4 * MOST + 1], y[4 * MOST + 1];
    ck_assert_int_le(per, MOST);
    for (int k = 0; k <= 4 * per; k++) {
        t[k] = (double)k / per;
        const double w = 2 * M_PI * t[k];
        y[k] = 0.5 + 2 * sin(w) + 0.3 * cos(3 * w);
    }
    return points(b, t, y, 4 * per + 1);
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

static void says(bench *b, bool done, const char *text)
{
    ck_assert_msg(!done, "done, instead of: %s", text);
    const char *said = vec_last(b->d.msg).text;
    ck_assert_msg(strstr(said, text) != NULL, "%s, instead of: %s", said, text);
}

/* At half the rate of the points a line stands for itself alone, and powers add up to the mean
 * square. */
START_TEST(the_line_at_half_the_rate_counts_once)
{
    bench b;
    bench_init(&b);
    double t[9], y[9], x, square = 0, sum = 0;
    for (int k = 0; k < 9; k++) {
        t[k] = k;
        y[k] = 0.25 + (k % 2 ? -1 : 1) + cos(2 * M_PI * k / 8);
        square += k < 8 ? y[k] * y[k] / 8 : 0;
    }
    post_val v = points(&b, t, y, 9);
    post_plot *from = b.set.current;
    ck_assert(post_fft(&b.e, &v, 1, (post_window){"none", 0}, false, 0));
    ck_assert(post_eval_number(&b.e, "mag(v(y))[4]", &x) && fabs(x - 1) < 1e-12);
    b.set.current = from;
    ck_assert(post_spec(&b.e, &v, 1, (post_window){"none", 0}, 0, 0.5, 0.125));
    ck_assert(post_eval_number(&b.e, "mag(v(y))[4]", &x) && fabs(x - 1) < 1e-12);
    b.set.current = from;
    ck_assert(post_fft(&b.e, &v, 1, (post_window){"none", 0}, true, 0));
    for (int k = 0; k < 5; k++)
        sum += b.set.current->vec[1]->v[k];
    ck_assert_double_eq_tol(sum, square, 1e-12);
    b.set.current = from;
    says(&b, post_spec(&b.e, &v, 1, (post_window){"none", 0}, 0, 1, 0.125),
         "1 Hz is above half the rate of the points, 0.5 Hz");
    /* of one interval a window has nothing else */
    post_val two = points(&b, t, (double[]){3, 3}, 2);
    ck_assert(post_fft(&b.e, &two, 1, (post_window){NULL, 0}, false, 0));
    ck_assert_double_eq_tol(b.set.current->vec[1]->v[0], 3, 1e-12);
    bench_fini(&b);
}
END_TEST

START_TEST(harmonics_beyond_half_the_grid_are_refused)
{
    bench b;
    bench_init(&b);
    post_val v = curve(&b, 1000);
    post_four f;
    ck_assert(post_fourier(&b.e, &v, 1, 100, 200, &f));
    ck_assert_double_eq_tol(f.thd, 15, 1e-3);
    says(&b, post_fourier(&b.e, &v, 1, 101, 200, &f),
         "100 harmonics are not told apart by 200 points");
    ck_assert(post_fourier(&b.e, &v, 1, 1, 1, &f)); /* the constant part alone */
    bench_fini(&b);
}
END_TEST

START_TEST(what_is_no_number_has_no_distortion)
{
    bench b;
    bench_init(&b);
    double t[101], y[101];
    for (int k = 0; k < 101; k++) {
        t[k] = k / 100.0;
        y[k] = k == 50 ? NAN : sin(2 * M_PI * t[k]);
    }
    post_val v = points(&b, t, y, 101);
    post_four f;
    ck_assert(post_fourier(&b.e, &v, 1, 0, 0, &f));
    ck_assert(isnan(f.thd));
    bench_fini(&b);
}
END_TEST

/* Complex vectors, axes that go back, and vectors over other axes have no spectrum. */
START_TEST(what_is_no_curve_over_one_axis_is_refused)
{
    bench b;
    bench_init(&b);
    const post_window none = {"none", 0};
    post_four f;
    post_val v[2] = {curve(&b, 100), curve(&b, 50)};
    post_plot *now = b.set.current;
    says(&b, post_fft(&b.e, v, 2, none, false, 0), "vectors over one axis");
    says(&b, post_spec(&b.e, v, 2, none, 0, 1, 1), "vectors over one axis");
    ck_assert_ptr_eq(b.set.current, now);
    post_val back = points(&b, (double[]){0, 1, 2, 0, 1, 2}, (double[]){0, 1, 2, 3, 4, 5}, 6);
    const char *said = "a rising axis: the time of 'v(y)' goes from 2 to 0";
    says(&b, post_fourier(&b.e, &back, 1, 0, 0, &f), said);
    says(&b, post_fft(&b.e, &back, 1, none, false, 0), said);
    says(&b, post_linearize(&b.e, &back, 1, 0.5, NAN, NAN), said);
    post_val z;
    b.set.current = now;
    ck_assert(post_eval(&b.e, "v(y)*i", &z));
    says(&b, post_fourier(&b.e, &z, 1, 0, 0, &f), "needs a real vector");
    says(&b, post_fft(&b.e, &z, 1, none, false, 0), "fft needs a real vector");
    says(&b, post_fft(&b.e, &z, 1, none, true, 0), "psd needs a real vector");
    says(&b, post_spec(&b.e, &z, 1, none, 0, 1, 1), "spec needs a real vector");
    says(&b, post_linearize(&b.e, &z, 1, 0.5, NAN, NAN), "linearize needs a real vector");
    bench_fini(&b);
}
END_TEST

START_TEST(linearize_goes_no_further_than_the_curve)
{
    bench b;
    bench_init(&b);
    post_val v = curve(&b, 1000);
    says(&b, post_linearize(&b.e, &v, 1, 0.25, NAN, 5),
         "from 0 to 5 is outside of the curves, which go from 0 to 4");
    says(&b, post_linearize(&b.e, &v, 1, 0.25, -1, 2), "from -1 to 2 is outside");
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
    tcase_add_test(t, linearize_goes_no_further_than_the_curve);
    tcase_add_test(t, the_line_at_half_the_rate_counts_once);
    tcase_add_test(t, harmonics_beyond_half_the_grid_are_refused);
    tcase_add_test(t, what_is_no_number_has_no_distortion);
    tcase_add_test(t, what_is_no_curve_over_one_axis_is_refused);
    suite_add_tcase(s, t);
    return run_suite(s);
}
