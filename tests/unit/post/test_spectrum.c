/* test_spectrum.c - .fft and the figures of a tone, against closed forms. */
#include <float.h>
#include <string.h>

#include "../suite.h"
#include "meas.h"
#include "plots.h"
#include "spectrum.h"
#include "stream.h"

#define HARMONIC 0.01
#define SPUR 0.001

/* 0.5 + sin(w t) + 0.01 sin(3 w t) + 0.001 sin(5.5 w t), 1 Hz, 8 s, at uneven points */
static void curve(bench *b)
{
    post_plot *p = post_plot_new(&b->set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b->set, p, "time", "time", false);
    post_vec *y = post_plot_add(&b->set, p, "v(y)", "voltage", false);
    for (int k = 0; k <= 8000; k++) {
        const double t = 8 * ((double)k / 8000), even = k == 0 || k == 8000;
        const double u = even ? t : t + 2e-4 * sin(0.7 * k), w = 2 * M_PI * u;
        post_vec_push(p->scale, u, 0);
        post_vec_push(y, 0.5 + sin(w) + HARMONIC * sin(3 * w) + SPUR * sin(5.5 * w), 0);
    }
}

static post_plot *spectrum(bench *b, const char *text, post_fft_card *c)
{
    post_plot *tran = b->set.current, *p;
    ck_assert(post_fft_read(&b->e, text, DIAG_NOWHERE, c));
    ck_assert(post_fft_make(&b->e, c, &p));
    ck_assert_ptr_eq(b->set.current, p);
    ck_assert_ptr_ne(p, tran);
    return p;
}

/* The cubic between points at most 1.4 ms apart errs by 3/128 h^4 (5.5 w)^4 SPUR and less for the
 * tone: below 1e-10. Where the curve turns its bend the parabola or the line stands: h^3 w^3 / 8 is
 * 8e-8 of the tone, at two intervals of a thousand. */
#define WITHIN 1e-8

START_TEST(lines_are_the_amplitudes)
{
    static const char *const window[] = {"rect", "hann", "hamming", "black", "harris", "flattop"};
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    char text[100];
    snprintf(text, sizeof text, "v(y) np=1000 window=%s", window[_i]);
    const post_plot *p = spectrum(&b, text, &c);
    ck_assert_int_eq(c.n, 1024);
    ck_assert_int_eq((int)p->scale->n, 513);
    const double *s = p->vec[1]->v;
    ck_assert_double_eq_tol(s[0], 0.5, WITHIN);
    ck_assert_double_eq_tol(s[2 * 8 + 1], -1, WITHIN); /* a sine: -j */
    ck_assert_double_eq_tol(s[2 * 8], 0, WITHIN);
    ck_assert_double_eq_tol(s[2 * 24 + 1], -HARMONIC, WITHIN);
    ck_assert_double_eq_tol(s[2 * 44 + 1], -SPUR, WITHIN);
    ck_assert_double_eq_tol(hypot(s[2 * 33], s[2 * 33 + 1]), 0, WITHIN);
    bench_fini(&b);
}
END_TEST

START_TEST(phases_count_from_time_zero)
{
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    const post_plot *p = spectrum(&b, "v(y) np=1024 start=0.3 stop=6.3 window=harris", &c);
    ck_assert_double_eq_tol(p->scale->v[6], 1, 1e-12);
    ck_assert_double_eq_tol(p->vec[1]->v[2 * 6], 0, WITHIN);
    ck_assert_double_eq_tol(p->vec[1]->v[2 * 6 + 1], -1, WITHIN);
    bench_fini(&b);
}
END_TEST

static double measure(bench *b, const char *text)
{
    post_meas m;
    ck_assert_int_eq(post_measure(&b->e, text, DIAG_NOWHERE, &m), VS_OK);
    ck_assert_msg(m.ok, "%s: %s", text, m.why ? m.why : "?");
    return m.value;
}

START_TEST(figures_are_those_of_the_definitions)
{
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    /* every window gives the same figures, since a tone is all that the window made of it */
    (void)spectrum(&b, _i ? "v(y) np=1024 window=hann" : "v(y) np=1024", &c);
    const double h = HARMONIC * HARMONIC, s = SPUR * SPUR, sndr = -10 * log10(h + s);
    ck_assert_double_eq_tol(measure(&b, "a THD v(y)"), 100 * HARMONIC, 1e-4);
    ck_assert_double_eq_tol(measure(&b, "a SNR v(y)"), 60, 1e-3);
    ck_assert_double_eq_tol(measure(&b, "a SNDR v(y)"), sndr, 1e-4);
    ck_assert_double_eq_tol(measure(&b, "a SFDR v(y)"), 40, 1e-5);
    ck_assert_double_eq_tol(measure(&b, "a ENOB v(y)"), (sndr - 10 * log10(1.5)) / (20 * log10(2)),
                            1e-4);
    ck_assert_double_eq_tol(measure(&b, "a SNDR v(y) maxfreq=5"), 40, 1e-4);
    ck_assert(measure(&b, "a THD v(y) nbharm=2") < 1e-4);
    ck_assert_double_eq_tol(measure(&b, "a THD v(y) freq=3 maxfreq=5"), 0, 1e-2);
    ck_assert_double_eq_tol(measure(&b, "a FIND vm(y) AT=3"), HARMONIC, WITHIN);
    bench_fini(&b);
}
END_TEST

/* With a Hann window and no lines beside it a tone has 2/3 of its power in its own line: the rest
 * is taken for noise, which is what BINSIZ=0 asks for. Amplitudes 1/2, 1, 1/2 of it: SNDR 3 dB. */
START_TEST(binsiz_is_obeyed)
{
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    (void)spectrum(&b, "v(y) np=1024 window=hann", &c);
    ck_assert_double_eq_tol(measure(&b, "a SNDR v(y) binsiz=0 minfreq=0.8 maxfreq=1.2"),
                            10 * log10(2), 1e-6);
    ck_assert(measure(&b, "a SNDR v(y) binsiz=1") == measure(&b, "a SNDR v(y)"));
    bench_fini(&b);
}
END_TEST

/* Between samples that jump the curve stays between them: a pulse of unequal points. */
START_TEST(edges_do_not_overshoot)
{
    bench b;
    bench_init(&b);
    post_plot *p = post_plot_new(&b.set, "tran", "t", "Transient Analysis");
    p->scale = post_plot_add(&b.set, p, "time", "time", false);
    post_vec *y = post_plot_add(&b.set, p, "v(y)", "voltage", false);
    static const double t[] = {0, 1, 1.001, 2, 3, 3.001, 4}, v[] = {0, 0, 1, 1, 1, 0, 0};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        post_vec_push(p->scale, t[k], 0);
        post_vec_push(y, v[k], 0);
    }
    post_fft_card c;
    const post_plot *s = spectrum(&b, "v(y) np=4096", &c);
    /* a trapezoid of area 2 over 4 s; the samples miss the edges by at most one of 4096 */
    ck_assert_double_eq_tol(s->vec[1]->v[0], 0.5, 1.0 / 4096);
    double power = 0; /* of all lines: mean square, at most the pulse's own */
    for (int64_t k = 0; k < s->scale->n; k++) {
        const double a = hypot(s->vec[1]->v[2 * k], s->vec[1]->v[2 * k + 1]);
        power += k && k < 2048 ? a * a / 2 : a * a;
    }
    ck_assert_double_eq_tol(power, 0.5, 1.0 / 4096);
    bench_fini(&b);
}
END_TEST

START_TEST(bad_cards_are_told)
{
    static const char *const t[][2] = {
        {"", "a vector is expected first"},
        {"np=8", "a vector is expected first"},
        {"v(y) np=2", "a number of samples from 4 to"},
        {"v(y) np=1e9", "a number of samples from 4 to"},
        {"v(y) windw=hann", "'windw' is no word of .fft"},
        {"v(y) window=hannn", "there is no window 'hannn'"},
        {"v(y) window", "'window' needs a value: window=..."},
        {"v(y) format=db", "is NORM (parts of the largest line) or UNORM, not 'db'"},
        {"v(y) alfa=0", "goes from 1 to 20"},
        {"v(y) freq=-1", "is a frequency, not '-1'"},
        {"v(y) start=2 stop=1", "start=2 is not before stop=1"},
        {"v(y) stop=9", "is outside the transient"},
        {"v(y) freq=100 np=64", "above half the rate of the samples"},
        {"v(nothing)", "v(nothing)"}};
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    post_plot *p;
    const bool ok = post_fft_read(&b.e, t[_i][0], DIAG_NOWHERE, &c) && post_fft_make(&b.e, &c, &p);
    ck_assert(!ok);
    ck_assert(vec_len(b.d.msg) > 0);
    ck_assert_msg(strstr(b.d.msg[0].text, t[_i][1]), "%s", b.d.msg[0].text);
    bench_fini(&b);
}
END_TEST

START_TEST(figures_need_a_spectrum_and_a_tone)
{
    bench b;
    bench_init(&b);
    curve(&b);
    post_meas m;
    ck_assert_int_eq(post_measure(&b.e, "a THD v(y)", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "is no spectrum"));
    post_fft_card c;
    (void)spectrum(&b, "v(y) np=64", &c);
    ck_assert_int_eq(post_measure(&b.e, "a THD v(y) freq=1k", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "is not among the lines"));
    ck_assert_int_eq(post_measure(&b.e, "a THD v(y) minfreq=3 maxfreq=2", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "no lines"));
    ck_assert_int_eq(post_measure(&b.e, "a THD v(y) binsize=1", DIAG_NOWHERE, &m), VS_EINPUT);
    ck_assert_int_eq(post_measure(&b.e, "a THD v(y) binsiz=0.5", DIAG_NOWHERE, &m), VS_EINPUT);
    bench_fini(&b);
}
END_TEST

/* A tone of 1 on line `at` of n, and 1e-20 on line `spur`, which is below the rounding of the tone;
 * all else is 0. */
static post_plot *pure(bench *b, int64_t n, int64_t at, int64_t spur)
{
    post_plot *p = post_plot_new(&b->set, "fft", "t", "FFT");
    p->scale = post_plot_add(&b->set, p, "frequency", "frequency", false);
    p->band[0] = p->band[1] = NAN;
    post_vec *v = post_plot_add(&b->set, p, "v(y)", "voltage", true);
    for (int64_t k = 0; k < n; k++) {
        post_vec_push(p->scale, (double)k, 0);
        post_vec_push(v, k == at ? 1 : k == spur ? 1e-20 : 0, 0);
    }
    return p;
}

START_TEST(figures_below_rounding_are_what_it_allows)
{
    bench b;
    bench_init(&b);
    const post_plot *p = pure(&b, 33, 3, _i ? 5 : -1);
    const double most = -20 * log10(DBL_EPSILON);
    ck_assert_double_eq_tol(measure(&b, "a SNR v(y)"), most, 1e-9);
    ck_assert_double_eq_tol(measure(&b, "a SNDR v(y)"), most, 1e-9);
    ck_assert_double_eq_tol(measure(&b, "a SFDR v(y)"), most, 1e-9);
    ck_assert_double_eq_tol(measure(&b, "a ENOB v(y)"), (most - 10 * log10(1.5)) / (20 * log10(2)),
                            1e-9);
    ck_assert_double_eq(measure(&b, "a THD v(y)"), 0);
    char *text;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    const post_fft_card c = {.window = "rect", .fmin = NAN, .fmax = NAN, .n = 64};
    post_fft_print(&b.e, &c, p, fp);
    (void)stream_close(fp);
    ck_assert(strstr(text, "  SNR  above 313.071 dB, the rounding of the data\n"));
    ck_assert(strstr(text, "  ENOB above 51.7075 bits, the rounding of the data\n"));
    ck_assert(!strstr(text, "inf"));
    ck_assert(strstr(text, "-1000"));
    ck_assert_double_eq(measure(&b, "a FIND vdb(y) AT=7"), -1000);
    vs_free(text);
    bench_fini(&b);
}
END_TEST

/* Of one period all lines are harmonics. */
START_TEST(figures_without_lines_are_told)
{
    bench b;
    bench_init(&b);
    const post_plot *p = pure(&b, 9, 1, 2);
    post_meas m;
    ck_assert_int_eq(post_measure(&b.e, "a SNR v(y)", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "no line is left"));
    ck_assert_double_eq_tol(measure(&b, "a SNDR v(y)"), -20 * log10(DBL_EPSILON), 1e-9);
    ck_assert_int_eq(post_measure(&b.e, "a SFDR v(y) maxfreq=1", DIAG_NOWHERE, &m), VS_OK);
    ck_assert(!m.ok && strstr(m.why, "no line is left"));
    char *text;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    const post_fft_card c = {.window = "rect", .fmin = NAN, .fmax = NAN, .n = 16};
    post_fft_print(&b.e, &c, p, fp);
    (void)stream_close(fp);
    ck_assert(strstr(text, "  SNR  none: no line is left for it\n"));
    vs_free(text);
    bench_fini(&b);
}
END_TEST

START_TEST(the_table_shows_harmonics_of_a_named_tone)
{
    bench b;
    bench_init(&b);
    curve(&b);
    post_fft_card c;
    const post_plot *p = spectrum(&b, "v(y) np=1024 freq=1 fmax=5 format=unorm", &c);
    char *text;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    post_fft_print(&b.e, &c, p, fp);
    (void)stream_close(fp);
    ck_assert(strstr(text, "FFT of v(y): 1024 samples, window rectangular, a line each 0.125"));
    ck_assert(strstr(text, "      24  3 "));
    ck_assert(!strstr(text, "      44  5.5 "));
    ck_assert(strstr(text, "THD  1 %"));
    vs_free(text);
    bench_fini(&b);
}
END_TEST

/* v(y,z) = v(y) - 0.5: its constant is 0, that of v(y) is 0.5. */
START_TEST(a_difference_of_nodes_is_found_by_its_name)
{
    static const char *const card[] = {"v(y, z) np=64", "v(y) np=64", "v(z) np=64"};
    bench b;
    bench_init(&b);
    curve(&b);
    post_plot *tran = b.set.current;
    post_vec *z = post_plot_add(&b.set, tran, "v(z)", "voltage", false);
    for (int64_t k = 0; k < tran->scale->n; k++)
        post_vec_push(z, 0.5, 0);
    post_fft_card c;
    const post_plot *p[3];
    for (size_t i = 0; i < VS_COUNT(card); i++) {
        b.set.current = tran;
        p[i] = spectrum(&b, card[i], &c);
    }
    const char **name = NULL;
    post_names_of_plots(&b.names, "vm(y,z)", &name);
    b.set.current = post_set_of(&b.set, "fft", name, vec_len(name));
    ck_assert_ptr_eq(b.set.current, p[0]);
    post_val v;
    ck_assert(post_eval(&b.e, "vm(y,z)", &v));
    ck_assert_double_eq_tol(v.v[0], 0, WITHIN);
    ck_assert(post_eval(&b.e, "v( y , z )[8]", &v));
    ck_assert_double_eq_tol(hypot(v.v[0], v.v[1]), 1, WITHIN);
    ck_assert(!post_eval(&b.e, "v(z,y)", &v));
    vec_clear(name);
    post_names_of_plots(&b.names, "vdb(z)", &name);
    ck_assert_ptr_eq(post_set_of(&b.set, "fft", name, vec_len(name)), p[2]);
    vec_free(name);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("post/spectrum");
    TCase *t = tcase_create("post/spectrum");
    tcase_add_loop_test(t, lines_are_the_amplitudes, 0, 6);
    tcase_add_test(t, phases_count_from_time_zero);
    tcase_add_loop_test(t, figures_are_those_of_the_definitions, 0, 2);
    tcase_add_test(t, binsiz_is_obeyed);
    tcase_add_test(t, edges_do_not_overshoot);
    tcase_add_loop_test(t, bad_cards_are_told, 0, 14);
    tcase_add_test(t, figures_need_a_spectrum_and_a_tone);
    tcase_add_loop_test(t, figures_below_rounding_are_what_it_allows, 0, 2);
    tcase_add_test(t, figures_without_lines_are_told);
    tcase_add_test(t, the_table_shows_harmonics_of_a_named_tone);
    tcase_add_test(t, a_difference_of_nodes_is_found_by_its_name);
    suite_add_tcase(s, t);
    return run_suite(s);
}
