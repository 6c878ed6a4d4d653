/* test_chart.c - pictures: what is drawn keeps the extremes, ticks are round, any text and any
 * number is taken. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "chart.h"
#include "stream.h"

enum { N = 200000 };

static char *written(const chart *c, chart_format f, vs_status want)
{
    static char *text; /* set when the stream is closed */
    const char *why = NULL;
    FILE *fp = stream_text(&text, NULL);
    ck_assert_int_eq(chart_write(c, f, fp, &why), want);
    ck_assert(want == VS_OK || why);
    stream_close(fp);
    return text;
}

static chart_panel panel_of(const chart_curve *c, size_t n)
{
    return (chart_panel){.x = {.label = "time", .unit = "s", .lo = NAN, .hi = NAN},
                         .y = {.label = "voltage", .unit = "V", .lo = NAN, .hi = NAN},
                         .curve = c,
                         .n_curve = n};
}

static chart_curve curve_of(const char *name, const double *x, const double *y, int64_t n)
{
    return (chart_curve){.name = name, .x = x, .y = y, .n = n, .shade = NAN};
}

/* The least and the greatest y of the first curve's path, which has the width 1.5. */
static int extremes(const char *svg, double *lo, double *hi)
{
    const char *at = strstr(svg, "stroke-width='1.5' d='");
    int n = 0;
    *lo = INFINITY;
    *hi = -INFINITY;
    ck_assert_ptr_nonnull(at);
    at = strstr(at, "d='") + 3;
    for (double x, y; *at != '\'' && sscanf(at + 1, "%lf %lf", &x, &y) == 2; n++) {
        *lo = fmin(*lo, y);
        *hi = fmax(*hi, y);
        at++;
        while (*at != 'L' && *at != '\'')
            at++;
    }
    return n;
}

START_TEST(one_peak_among_many_points_is_drawn)
{
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), lo, hi;
    for (int k = 0; k < N; k++) {
        x[k] = k * 1e-9;
        y[k] = 0.1 * sin(k * 0.01);
    }
    y[123457] = 5;
    y[123460] = -3;
    const chart_curve c = curve_of("v(a)", x, y, N);
    const chart_panel p = panel_of(&c, 1);
    const chart pic = {.panel = &p, .n_panel = 1};
    char *svg = written(&pic, CHART_SVG, VS_OK);
    const int n = extremes(svg, &lo, &hi);
    ck_assert_int_lt(n, 4 * 2 * 800 + 8);
    /* 8 V of the axis, from -3 to 5, fill the frame: the ends of the path are its edges */
    const char *frame = strstr(svg, "<clipPath");
    double top, height;
    ck_assert_int_eq(
        sscanf(strstr(frame, " y='"), " y='%lf' width='%*f' height='%lf'", &top, &height), 2);
    ck_assert_double_eq_tol(lo, top, 0.11);
    ck_assert_double_eq_tol(hi, top + height, 0.11);
    vs_free(svg);
    free(x);
    free(y);
}
END_TEST

/* Of a window in the middle only what it shows is written, with the lines to both sides. */
START_TEST(what_is_beside_the_frame_is_not_written)
{
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), lo, hi;
    for (int k = 0; k < N; k++) {
        x[k] = k;
        y[k] = k % 2;
    }
    const chart_curve c = curve_of("v(a)", x, y, N);
    chart_panel p = panel_of(&c, 1);
    p.x.lo = 1000.5;
    p.x.hi = 1003.5;
    char *svg = written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_OK);
    /* 1000 to 1004; the first point, which begins the path, and the last one before the frame */
    ck_assert_int_le(extremes(svg, &lo, &hi), 3 * 7);
    ck_assert_int_ge(extremes(svg, &lo, &hi), 5);
    vs_free(svg);
    free(x);
    free(y);
}
END_TEST

START_TEST(gaps_part_a_curve)
{
    const double x[] = {0, 1, 2, 3, 4, 5, 6}, y[] = {0, 1, NAN, 1, INFINITY, 2, 3};
    const chart_curve c = curve_of("v(a)", x, y, 7);
    const chart_panel p = panel_of(&c, 1);
    char *svg = written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_OK);
    int paths = 0;
    for (const char *s = svg; (s = strstr(s, "stroke-width='1.5' d='")); s++)
        paths++;
    ck_assert_int_eq(paths, 2); /* 0-1 and 5-6; the point at 3 is a dot */
    ck_assert_ptr_nonnull(strstr(svg, "<circle"));
    ck_assert_ptr_null(strstr(svg, "nan"));
    ck_assert_ptr_null(strstr(svg, "inf"));
    vs_free(svg);
}
END_TEST

static const struct {
    double lo, hi;
    bool log;
    const char *label, *tick;
} ranges[] = {
    {0, 40e-9, false, "[ns]", ">20</text>"},
    {-3e-3, 5e-3, false, "[mV]", ">-2</text>"},
    {1.2, 1.2000001, false, "- 1.2 [nV]", ">50</text>"},
    {1, 1e6, true, "[V]", ">10k</text>"},
    {1e-300, 1e300, true, "[V]", ">1e"},
    {-1e308, 1e308, false, "[V]", ">0"},
    {3, 3, false, "[V]", ">3.00</text>"},
};

START_TEST(ticks_are_round_and_have_a_prefix)
{
    const double x[] = {0, 1}, y[] = {ranges[_i].lo, ranges[_i].hi};
    const chart_curve c = curve_of("v(a)", x, y, 2);
    chart_panel p = panel_of(&c, 1);
    p.y.log = ranges[_i].log;
    if (_i == 0) {
        p.y.unit = "s";
        p.y.label = "";
    }
    char *svg = written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_OK);
    ck_assert_msg(strstr(svg, ranges[_i].label), "no %s", ranges[_i].label);
    ck_assert_msg(strstr(svg, ranges[_i].tick), "no %s", ranges[_i].tick);
    ck_assert_ptr_null(strstr(svg, "nan"));
    vs_free(svg);
}
END_TEST

START_TEST(any_bytes_are_a_name)
{
    const double x[] = {0, 1}, y[] = {0, 1};
    const chart_curve c[] = {curve_of("a < b & \"c\"", x, y, 2),
                             curve_of("\xff\xc0\xaf\x01\xed\xa0", x, y, 2),
                             curve_of("µΩ \xe2\x82", x, y, 2), curve_of("", x, y, 2)};
    chart_panel p = panel_of(c, 4);
    p.y.label = "\x80\x80";
    for (chart_format f = CHART_SVG; f <= CHART_ANSI; f++) {
        if (f == CHART_PNG || f == CHART_PDF)
            continue;
        char *text = written(&(chart){.panel = &p, .n_panel = 1, .title = "\xfe<"}, f, VS_OK);
        ck_assert_ptr_null(strstr(text, "\xff"));
        ck_assert_ptr_null(strstr(text, "\xc0\xaf"));
        ck_assert(f != CHART_SVG || strstr(text, "a &lt; b &amp; \"c\""));
        vs_free(text);
    }
}
END_TEST

START_TEST(nothing_to_draw_is_said)
{
    const double x[] = {0, 1}, y[] = {-1, NAN};
    const chart_curve c = curve_of("v(a)", x, y, 2);
    chart_panel p = panel_of(&c, 1);
    p.y.log = true;
    vs_free(written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_EINPUT));
    vs_free(written(&(chart){0}, CHART_TXT, VS_EINPUT));
    p.y.log = false;
    p.x.lo = 5;
    p.x.hi = 6; /* the data are elsewhere */
    vs_free(written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_EINPUT));
}
END_TEST

/* A line from one corner to the other: the dots of braille on the diagonal. */
START_TEST(letters_show_the_curve)
{
    const double x[] = {0, 1}, y[] = {0, 1};
    const chart_curve c = curve_of("v(a)", x, y, 2);
    const chart_panel p = panel_of(&c, 1);
    char *text =
        written(&(chart){.panel = &p, .n_panel = 1, .width = 60, .height = 20}, CHART_TXT, VS_OK);
    int rows = 0, widest = 0, at = 0;
    for (const char *s = text; *s; s++) {
        at += (*s & 0xc0) != 0x80;
        if (*s == '\n') {
            widest = at - 1 > widest ? at - 1 : widest;
            at = 0;
            rows++;
        }
    }
    ck_assert_int_eq(rows, 20);
    ck_assert_int_le(widest, 60);
    ck_assert_ptr_nonnull(strstr(text, "v(a)"));
    ck_assert_ptr_nonnull(strstr(text, "\xe2\xa0")); /* U+28xx */
    ck_assert_ptr_null(strstr(text, "\033"));
    vs_free(text);
    text = written(&(chart){.panel = &p, .n_panel = 1}, CHART_ANSI, VS_OK);
    ck_assert_ptr_nonnull(strstr(text, "\033[38;2;"));
    vs_free(text);
}
END_TEST

START_TEST(a_million_curves_have_a_short_legend)
{
    enum { MANY = 1000000 };
    const double x[] = {0, 1}, y[] = {0, 1};
    chart_curve *c = malloc(MANY * sizeof *c);
    for (int i = 0; i < MANY; i++) {
        c[i] = curve_of("v(x1.a_long_name_of_a_node)", x, y, i < 20 ? 2 : 0);
        c[i].colour = i;
    }
    const chart_panel p = panel_of(c, MANY);
    char *svg = written(&(chart){.panel = &p, .n_panel = 1}, CHART_SVG, VS_OK);
    ck_assert_int_lt(strlen(svg), 20000);
    ck_assert_ptr_nonnull(strstr(svg, "more</text>"));
    vs_free(svg);
    free(c);
}
END_TEST

START_TEST(endings_are_formats)
{
    chart_format f;
    chart_style s;
    ck_assert(chart_format_of("a.b/c.PNG", &f) && f == CHART_PNG);
    ck_assert(chart_format_of("x.html", &f) && f == CHART_HTML);
    ck_assert(!chart_format_of("a.svg/c", &f) && !chart_format_of("svg", &f));
    ck_assert(chart_style_of("steps", &s) && s == CHART_STEPS && !chart_style_of("x", &s));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chart");
    TCase *t = tcase_create("chart");
    tcase_add_test(t, one_peak_among_many_points_is_drawn);
    tcase_add_test(t, what_is_beside_the_frame_is_not_written);
    tcase_add_test(t, gaps_part_a_curve);
    tcase_add_loop_test(t, ticks_are_round_and_have_a_prefix, 0, VS_COUNT(ranges));
    tcase_add_test(t, any_bytes_are_a_name);
    tcase_add_test(t, nothing_to_draw_is_said);
    tcase_add_test(t, letters_show_the_curve);
    tcase_add_test(t, a_million_curves_have_a_short_legend);
    tcase_add_test(t, endings_are_formats);
    suite_add_tcase(s, t);
    return run_suite(s);
}
