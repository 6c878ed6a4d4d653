/* test_view.c - groups of plots, curves of expressions, files that grow. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "out.h"
#include "spectrum.h"
#include "stream.h"
#include "view.h"

static char path[] = "/tmp/vsim-test-view-XXXXXX";

static const out_vector vectors[] = {{"time", "time"},
                                     {"v(out)", "voltage"},
                                     {"v(x1.\xff)", "voltage"}};

/* Two plots of a family, v(out) = r t; n points each. */
static void write_file(int n)
{
    out_file *f;
    ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
    for (int r = 1; r <= 2; r++) {
        char name[64];
        snprintf(name, sizeof name, "Transient Analysis, r=%d", r);
        ck_assert_int_eq(out_plot_begin(f, "title", name, vectors, 3, false), VS_OK);
        for (int k = 0; k < n; k++)
            ck_assert_int_eq(out_point(f, (double[]){k, r * k, 7}), VS_OK);
        ck_assert_int_eq(out_plot_end(f), VS_OK);
    }
    ck_assert_int_eq(out_close(&f, NULL), VS_OK);
}

static view *open_view(void)
{
    char why[CONV_WHY];
    view *v = view_new(NULL);
    ck_assert_msg(view_add(v, path, false, why) == VS_OK, "%s", why);
    return v;
}

static char *curve_of(view *v, view_question q, size_t *n, bool *good)
{
    char *text;
    FILE *out = stream_text(&text, n);
    *good = view_curve(v, &q, out);
    stream_close(out);
    return text;
}

static const double *numbers_of(const char *text)
{
    uint32_t head;
    memcpy(&head, text, sizeof head);
    ck_assert_int_eq((head + 4) % 8, 0);
    return (const double *)(const void *)(text + 4 + head);
}

START_TEST(a_family_is_one_group)
{
    char *text;
    write_file(5);
    view *v = open_view();
    FILE *out = stream_text(&text, NULL);
    view_index(v, "vsim 1", out);
    stream_close(out);
    ck_assert_ptr_nonnull(strstr(text, "\"members\":[[\"r=1\",5],[\"r=2\",5]]"));
    ck_assert_ptr_nonnull(strstr(text, "\"names\":[\"time\",\"v(out)\",\"v(x1.\\uf7ff)\"]"));
    ck_assert_ptr_null(strstr(text, "\"id\":1"));
    vs_free(text);
    view_free(&v);
}
END_TEST

START_TEST(a_curve_has_its_points_behind_the_head)
{
    size_t n;
    bool good;
    write_file(5);
    view *v = open_view();
    char *text = curve_of(
        v, (view_question){.expr = "2*v(out)", .x0 = 1, .x1 = 2, .columns = 100, .member = -1}, &n,
        &good);
    ck_assert(good);
    const double *x = numbers_of(text); /* points 0 to 3 of each: one on each side */
    static const double expected[] = {0, 1, 2, 3, 0, 2, 4, 6, 0, 1, 2, 3, 0, 4, 8, 12};
    ck_assert_int_eq(n - (size_t)((const char *)x - text), sizeof expected);
    ck_assert(!memcmp(x, expected, sizeof expected));
    ck_assert_ptr_nonnull(strstr(text + 4, "\"unit\":\"V\""));
    vs_free(text);
    view_free(&v);
}
END_TEST

START_TEST(names_with_any_bytes_are_found)
{
    size_t n;
    bool good;
    write_file(3);
    view *v = open_view();
    char *text = curve_of(
        v, (view_question){.expr = "v(x1.\xff)", .x0 = NAN, .x1 = NAN, .member = 1}, &n, &good);
    ck_assert(good && numbers_of(text)[3] == 7);
    vs_free(text);
    view_free(&v);
}
END_TEST

START_TEST(what_is_wrong_is_told_with_its_place)
{
    size_t n;
    bool good;
    write_file(3);
    view *v = open_view();
    static const struct {
        view_question q;
        const char *told;
    } t[] = {{{.expr = "1+v(aut)", .member = -1}, "v(aut)"},
             {{.expr = "v(out", .member = -1}, "error"},
             {{.expr = "", .member = -1}, "error"},
             {{.expr = "v(out)", .member = 9}, "member 10"},
             {{.expr = "v(out)", .group = 5, .member = -1}, "no such plot"}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        char *text = curve_of(v, t[k].q, &n, &good);
        ck_assert_msg(!good && !strncmp(text, "{\"error\":", 9), "%zu: %s", k, text);
        ck_assert_msg(strstr(text, t[k].told), "%zu: %s", k, text);
        vs_free(text);
    }
    view_free(&v);
}
END_TEST

START_TEST(a_file_that_grows_is_read_again)
{
    size_t n;
    bool good;
    write_file(3);
    view *v = open_view();
    const int64_t before = view_generation(v);
    ck_assert(!view_refresh(v));
    write_file(6);
    ck_assert(view_refresh(v));
    ck_assert_int_gt(view_generation(v), before);
    char *text = curve_of(v, (view_question){.expr = "v(out)", .x0 = NAN, .x1 = NAN, .member = 0},
                          &n, &good);
    ck_assert(good && strstr(text + 4, "\"all\":6"));
    vs_free(text);
    unlink(path);
    ck_assert(!view_refresh(v)); /* what was read stays */
    view_free(&v);
}
END_TEST

/* v(out) = sin(t), with a peak of one point, v(x1.) = 7; more points than are read as a whole. */
static void write_large(int n, int peak)
{
    out_file *f;
    ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
    ck_assert_int_eq(out_plot_begin(f, "t", "Transient Analysis", vectors, 3, false), VS_OK);
    for (int k = 0; k < n; k++)
        ck_assert_int_eq(out_point(f, (double[]){k, k == peak ? 99 : sin(k * 1e-3), 7}), VS_OK);
    ck_assert_int_eq(out_plot_end(f), VS_OK);
    ck_assert_int_eq(out_close(&f, NULL), VS_OK);
}

START_TEST(a_window_of_a_large_plot_has_its_extremes)
{
    enum { POINTS = 200000, PEAK = 123457 };
    size_t n;
    bool good;
    write_large(POINTS, PEAK);
    view *v = open_view();
    const view_question whole = {
        .expr = "v(out)", .x0 = NAN, .x1 = NAN, .columns = 100, .member = -1};
    char *text = curve_of(v, whole, &n, &good);
    ck_assert(good && strstr(text + 4, "\"all\":200000") && strstr(text + 4, "\"x1\":199999"));
    const double *x = numbers_of(text);
    const size_t points = (n - (size_t)((const char *)x - text)) / (2 * sizeof *x);
    ck_assert(points > 100 && points <= 4 * 202); /* a cell is at most a column, at least half */
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < points; k++) {
        ck_assert(!k || x[k] >= x[k - 1]);
        lo = fmin(lo, x[points + k]);
        hi = fmax(hi, x[points + k]);
    }
    ck_assert(hi == 99);
    ck_assert(lo < -1 + 1e-6); /* steps of 1e-3: 1 - cos(5e-4) */
    vs_free(text);
    view_question part = whole;
    part.x0 = PEAK - 1.5;
    part.x1 = PEAK + 1.5;
    text = curve_of(v, part, &n, &good);
    x = numbers_of(text);
    ck_assert(good && n - (size_t)((const char *)x - text) == 2 * 5 * sizeof *x);
    ck_assert(x[0] == PEAK - 2 && x[4] == PEAK + 2 && x[5 + 2] == 99);
    vs_free(text);
    part.expr = "v(out)+1"; /* in pieces */
    text = curve_of(v, part, &n, &good);
    x = numbers_of(text);
    ck_assert(good && x[2] == PEAK && x[5 + 2] == 100);
    vs_free(text);
    view_free(&v);
}
END_TEST

/* What a curve has in its first member: points, and the extremes of y. */
typedef struct seen {
    size_t n;
    double lo, hi;
} seen;

static seen look_at(view *v, const char *expr, int64_t columns)
{
    size_t n;
    bool good;
    const view_question q = {
        .expr = expr, .x0 = 1000, .x1 = 130000, .columns = columns, .member = -1};
    char *text = curve_of(v, q, &n, &good);
    ck_assert_msg(good, "%s", text);
    const double *x = numbers_of(text);
    seen s = {(n - (size_t)((const char *)x - text)) / (2 * sizeof *x), INFINITY, -INFINITY};
    for (size_t k = 0; k < s.n; k++) {
        ck_assert_msg(!k || x[k] > x[k - 1], "%s: point %zu", expr, k);
        s.lo = fmin(s.lo, x[s.n + k]);
        s.hi = fmax(s.hi, x[s.n + k]);
    }
    ck_assert(x[0] >= 999 && x[s.n - 1] <= 130001);
    vs_free(text);
    return s;
}

START_TEST(expressions_by_pieces_have_the_extremes_of_all_points)
{
    /* the last but one needs all points at once, because of single values; the peak is in the
     * second piece of 65536 points */
    static const char *const expr[] = {"v(out)*2-1",
                                       "sqrt(v(out)+1e6)",
                                       "db(v(out)+100)",
                                       "max(v(out),0)*v(x1.\xff)",
                                       "v(out) > 0.5 ? 3 : v(out)",
                                       "v(out)-mean(v(out))",
                                       "norm(v(out)-max(v(out)))+stddev(v(out))*length(v(out))",
                                       "mean(abs(v(out)-mean(v(out))))+v(out)-min(v(out))",
                                       "mag(sqrt(v(out)+0.25))",
                                       "delay(v(out),3)"};
    write_large(135000, 123457);
    view *v = open_view();
    for (size_t k = 0; k < VS_COUNT(expr); k++) {
        const seen few = look_at(v, expr[k], 100), all = look_at(v, expr[k], 0);
        ck_assert_int_eq(all.n, 129003);
        ck_assert(few.n > 100 && few.n < 4 * 110);
        ck_assert_msg(few.lo == all.lo && few.hi == all.hi, "%s", expr[k]);
    }
    view_free(&v);
}
END_TEST

/* Asks `most` times until the whole is there. *first: the first answer, NULL if it is the whole.
 * Each other one does a piece of 65536 points of a pass, or of those shown, at least. */
static char *curve_at_last(view *v, view_question q, int most, char **first, size_t *n)
{
    bool good;
    char *text = NULL;
    q.soon = true;
    *first = NULL;
    for (int k = 0; k < most; k++) {
        vs_free(text);
        text = curve_of(v, q, n, &good);
        ck_assert_msg(good, "%s", text);
        if (!strstr(text + 4, "\"done\":"))
            return text;
        if (!k) {
            *first = text;
            text = NULL;
        }
    }
    ck_abort_msg("%s: no end", q.expr);
    return NULL;
}

/* The first answer has values of the curve; the last one is that of a question that waits. */
START_TEST(an_answer_at_once_is_followed_by_the_whole)
{
    static const struct {
        const char *expr;
        bool sketch;
    } e[] = {{"v(out)*2-1", true},           {"db(v(out)+1e6)*v(x1.\xff)", true},
             {"v(out)-mean(v(out))", false}, {"stddev(v(out))+v(out)", false},
             {"integ(v(out))", false},       {"deriv(v(out))", false},
             {"v(out)[0]+v(out)", false}};
    static const double window[][2] = {{NAN, NAN}, {140000, 199000}, {70000, 199999}};
    enum { POINTS = 200000, PIECES = 4, PASSES = 3 };
    write_large(POINTS, 123457);
    for (size_t k = 0; k < VS_COUNT(e) * VS_COUNT(window); k++) {
        const size_t at = k % VS_COUNT(e), which = k / VS_COUNT(e);
        const view_question q = {.expr = e[at].expr,
                                 .x0 = window[which][0],
                                 .x1 = window[which][1],
                                 .columns = 500,
                                 .member = -1};
        size_t n, n_want;
        bool good;
        char *first;
        view *v = open_view(), *other = open_view();
        char *want = curve_of(other, q, &n_want, &good),
             *got = curve_at_last(v, q, PIECES * PASSES + 3, &first, &n);
        ck_assert(good && n == n_want && !memcmp(got, want, n));
        const char *count = first ? strstr(first + 4, "\"n\":") : NULL;
        const int points = count ? atoi(count + 4) : 0;
        ck_assert_int_eq(points > 0, e[at].sketch && which != 1);
        if (points) {
            view_question all = q;
            all.columns = 0;
            all.x0 = all.x1 = NAN; /* cells at an end begin outside of the window */
            vs_free(want);
            want = curve_of(other, all, &n_want, &good);
            const double *x = numbers_of(first), *y = numbers_of(want);
            const int64_t n_all = (int64_t)(n_want - (size_t)((const char *)y - want)) / 16;
            ck_assert_int_ge(points, 500);
            for (int i = 0; i < points; i++)
                ck_assert_double_eq(x[points + i], y[n_all + (int64_t)x[i]]);
        }
        vs_free(first);
        vs_free(got);
        vs_free(want);
        view_free(&v);
        view_free(&other);
    }
}
END_TEST

/* Two questions in turn; one whose work was dropped for many others begins again. */
START_TEST(answers_at_once_to_many_questions_are_kept_apart)
{
    enum { POINTS = 200000, PIECES = 4, OTHERS = 20 };
    char *first, *text, *want;
    size_t n, n_want;
    bool good;
    write_large(POINTS, 123457);
    view *v = open_view(), *fresh = open_view();
    view_question q = {.x0 = NAN, .x1 = NAN, .columns = 100, .member = -1, .soon = true};
    for (int k = 0; k < 2 * PIECES + 4; k++) {
        q.expr = k % 2 ? "v(out)*3" : "v(out)-7";
        vs_free(curve_of(v, q, &n, &good));
    }
    for (int k = 0; k < 2; k++) {
        q.expr = k % 2 ? "v(out)*3" : "v(out)-7";
        text = curve_at_last(v, q, PIECES + 2, &first, &n);
        q.soon = false;
        want = curve_of(fresh, q, &n_want, &good);
        ck_assert(n == n_want && !memcmp(text, want, n));
        q.soon = true;
        vs_free(first);
        vs_free(text);
        vs_free(want);
    }
    for (int k = 0; k <= OTHERS; k++) {
        char expr[32];
        snprintf(expr, sizeof expr, "v(out)*%d+1", k % OTHERS);
        q.expr = expr;
        text = curve_of(v, q, &n, &good);
        ck_assert_ptr_nonnull(strstr(text + 4, "\"done\":0.0000"));
        vs_free(text);
    }
    view_free(&v);
    view_free(&fresh);
}
END_TEST

/* Each point of a curve that was computed in pieces, against all points at once. The windows begin
 * in several pieces, the second one behind what the first one has found. */
static void check_pieces(view *v, const char *expr, double tol)
{
    static const double window[][2] = {
        {100000, 134999}, {65530, 65545}, {0, 134999}, {131060, 131090}};
    size_t n;
    bool good;
    const view_question whole = {.expr = expr, .x0 = NAN, .x1 = NAN, .columns = 0, .member = -1};
    char *text = curve_of(v, whole, &n, &good);
    ck_assert_msg(good, "%s", text);
    const double *all = numbers_of(text) + 135000;
    for (size_t i = 0; i < VS_COUNT(window); i++) {
        view_question part = whole;
        part.x0 = window[i][0];
        part.x1 = window[i][1];
        part.columns = 50;
        char *few = curve_of(v, part, &n, &good);
        ck_assert_msg(good, "%s", few);
        const double *x = numbers_of(few);
        const size_t points = (n - (size_t)((const char *)x - few)) / (2 * sizeof *x);
        ck_assert(points > 10);
        for (size_t k = 0; k < points; k++) {
            const double y = x[points + k], want = all[(size_t)x[k]];
            ck_assert_msg(fabs(y - want) <= tol, "%s at %g: %.17g, not %.17g", expr, x[k], y, want);
        }
        vs_free(few);
    }
    vs_free(text);
}

START_TEST(functions_of_the_whole_curve_carry_on_from_piece_to_piece)
{
    /* points are added in the same order; next to a piece sums go back from it, and what they lose
     * there is a rounding of the sum, below 1e5 */
    static const struct {
        const char *expr;
        double tol;
    } e[] = {{"deriv(v(out))", 0},
             {"deriv(deriv(v(out)))*2", 0},
             {"integ(v(out))", 0},
             {"avg(v(out)*2)", 0},
             {"integ(deriv(v(out))+1)", 0},
             {"integ(v(out)-mean(v(out)))", 0},
             {"deriv(integ(v(out)))", 1e5 * 2.3e-16 * 8},
             {"mean(integ(v(out)))-avg(integ(v(out)))", 0},
             {"cph(exp(j(2*v(out)))*exp(j(time*0.01)))", 0},
             {"group_delay(exp(j(time*0.01)))", 1e4 * 2.3e-16 * 8}};
    write_large(135000, 123457);
    view *v = open_view();
    for (size_t k = 0; k < VS_COUNT(e); k++)
        check_pieces(v, e[k].expr, e[k].tol);
    view_free(&v);
}
END_TEST

enum { N_UNEVEN = 70000, GAP = 150 };

/* Steps of an axis that go from nothing to 1000 times the least one, a value that is no number. */
static void write_uneven(double x[N_UNEVEN])
{
    static const double step[] = {0.25, 0, 0.001, 0.5, 0, 0, 1, 0.125, 0.013};
    out_file *f;
    uint32_t noise = 1;
    double at = -3;
    ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
    ck_assert_int_eq(out_plot_begin(f, "t", "Transient Analysis", vectors, 3, false), VS_OK);
    for (int k = 0; k < N_UNEVEN; k++) {
        noise = noise * 1664525 + 1013904223;
        x[k] = at;
        ck_assert_int_eq(out_point(f, (double[]){at, k == GAP ? NAN : noise * 0x1p-32, 7}), VS_OK);
        at += step[k % VS_COUNT(step)];
    }
    ck_assert_int_eq(out_plot_end(f), VS_OK);
    ck_assert_int_eq(out_close(&f, NULL), VS_OK);
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* A window's points, all of which the picture has, against those of the whole curve y. Returns how
 * many there are. */
static size_t check_window(view *v, const char *expr, const double *x, const double *y, int first,
                           int last)
{
    size_t n;
    bool good;
    int from = first;
    const view_question q = {
        .expr = expr, .x0 = x[first], .x1 = x[last], .columns = 1000, .member = -1};
    char *text = curve_of(v, q, &n, &good);
    ck_assert_msg(good, "%s", text);
    const double *few = numbers_of(text);
    const int points = (int)((n - (size_t)((const char *)few - text)) / (2 * sizeof *few));
    while (from > 0 && x[from - 1] == x[first])
        from--;
    from -= from > 0; /* the point in front of the window */
    ck_assert_int_ge(points, last - from + 1);
    for (int k = 0; k < points; k++) {
        ck_assert(few[k] == x[from + k]);
        ck_assert_msg(is_same(few[points + k], y[from + k]),
                      "%s at %d, window from %d: %.17g, not %.17g", expr, from + k, first,
                      few[points + k], y[from + k]);
    }
    vs_free(text);
    return (size_t)points;
}

/* Windows of some points are a piece each: with them, one begins and one ends at each of some
 * hundred points, at the beginning, at the end, and where pieces of 65536 points meet. */
START_TEST(delays_by_pieces_have_the_bits_of_the_whole)
{
    static const char *const expr[] = {"delay(v(out),0)",
                                       "delay(v(out),0.37)",
                                       "delay(v(out),-0.25)",
                                       "delay(v(out),1e9)",
                                       "delay(v(out),-1e9)",
                                       "delay(delay(v(out),5),-3.1)",
                                       "delay(delay(v(out),-3),7)",
                                       "deriv(delay(deriv(v(out)+time),1.3))",
                                       "mag(delay(j(v(out))+1,12))",
                                       "delay(v(out)-mean(time),20000)",
                                       "delay(integ(time),4)"};
    static const int place[][2] = {
        {0, 200}, {65536 - 100, 65536 + 60}, {N_UNEVEN - 150, N_UNEVEN - 60}};
    static double x[N_UNEVEN];
    write_uneven(x);
    view *v = open_view();
    for (size_t i = 0; i < VS_COUNT(expr); i++) {
        char all[128]; /* a single value: it needs all points at once */
        size_t n;
        bool good;
        snprintf(all, sizeof all, "(%s)+0*v(out)[0]", expr[i]);
        const view_question whole = {.expr = all, .x0 = NAN, .x1 = NAN, .member = -1};
        char *text = curve_of(v, whole, &n, &good);
        ck_assert_msg(good, "%s", text);
        const double *y = numbers_of(text) + N_UNEVEN;
        ck_assert(i > 0 || isnan(y[GAP]));
        for (size_t k = 0; k < VS_COUNT(place); k++)
            for (int at = place[k][0]; at < place[k][1]; at++)
                ck_assert(check_window(v, expr[i], x, y, at, at + 40) > 40);
        vs_free(text);
    }
    view_free(&v);
}
END_TEST

/* A delay reaches to all points of 2e7, since they all are at 0: 16 bytes for each of them, of one
 * vector and three operations. */
START_TEST(an_expression_that_needs_too_much_is_refused)
{
    enum { POINTS = 20000000 };
    size_t n;
    bool good;
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "Title: t\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: 2\n"
            "No. Points: %d\nVariables:\n\t0\ttime\ttime\n\t1\tv(a)\tvoltage\nBinary:\n",
            POINTS);
    ck_assert_int_eq(fflush(f), 0);
    ck_assert_int_eq(ftruncate(fileno(f), ftell(f) + 16L * POINTS), 0); /* zeros, not on the disk */
    ck_assert_int_eq(fclose(f), 0);
    view *v = open_view();
    const view_question q = {
        .expr = "delay(v(a),1n)", .x0 = NAN, .x1 = NAN, .columns = 100, .member = -1};
    char *text = curve_of(v, q, &n, &good);
    ck_assert_msg(!good &&
                      strstr(text, "needs all 20000000 points at once, which takes 1220 MB; it "
                                   "may take 1024 MB"),
                  "%s", text);
    vs_free(text);
    view_free(&v);
}
END_TEST

/* The mean of a large curve is one number, as it is of a short one. */
START_TEST(one_number_of_a_large_plot_is_a_point)
{
    size_t n;
    bool good;
    write_large(70000, 5);
    view *v = open_view();
    char *text[2];
    for (int k = 0; k < 2; k++) {
        const view_question q = {
            .expr = "stddev(v(out))*2", .x0 = NAN, .x1 = NAN, .columns = k ? 0 : 100, .member = -1};
        text[k] = curve_of(v, q, &n, &good);
        ck_assert_msg(good, "%s", text[k]);
        ck_assert_uint_eq(n, (size_t)((const char *)numbers_of(text[k]) - text[k]) + 16);
    }
    ck_assert(!memcmp(numbers_of(text[0]), numbers_of(text[1]), 16));
    vs_free(text[0]);
    vs_free(text[1]);
    view_free(&v);
}
END_TEST

START_TEST(mistakes_in_expressions_over_large_plots_are_told)
{
    size_t n;
    bool good;
    write_large(70000, 5);
    view *v = open_view();
    const view_question q = {
        .expr = "v(out)+v(oot)", .x0 = NAN, .x1 = NAN, .columns = 100, .member = -1};
    char *text = curve_of(v, q, &n, &good);
    ck_assert(!good && strstr(text, "\"from\":7,\"length\":6") && strstr(text, "v(out)"));
    vs_free(text);
    view_free(&v);
}
END_TEST

START_TEST(values_between_points_are_on_the_line)
{
    static const double expected[] = {3.25, 6.5, 7}; /* a quarter of the way from 3 to 4 */
    char *text;
    write_file(5);
    view *v = open_view();
    FILE *out = stream_text(&text, NULL);
    ck_assert(view_point(v, 0, 1, 0, 3.25, out));
    stream_close(out);
    ck_assert(!memcmp(numbers_of(text), expected, sizeof expected));
    vs_free(text);
    view_free(&v);
}
END_TEST

START_TEST(a_point_has_a_value_for_each_signal)
{
    static const double expected[] = {3, 6, 7, 4, 8, 7};
    write_file(5);
    view *v = open_view();
    for (int last = 0; last < 2; last++) {
        char *text;
        FILE *out = stream_text(&text, NULL);
        ck_assert(view_point(v, 0, 1, last ? -1 : 3, NAN, out));
        stream_close(out);
        ck_assert(!memcmp(numbers_of(text), expected + 3 * last, 3 * sizeof *expected));
        vs_free(text);
    }
    view_free(&v);
}
END_TEST

/* Trapezoids: 0 up to t = 1, 1 from 2 to 5, 0 from 7 to 10, and again; n periods of 20 points of
 * one length each. */
static void write_trapezoids(int n)
{
    out_file *f;
    ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
    ck_assert_int_eq(out_plot_begin(f, "title", "Transient Analysis", vectors, 3, false), VS_OK);
    for (int k = 0; k <= 20 * n; k++) {
        const double t = 0.5 * (k % 20), y = t < 1   ? 0
                                             : t < 2 ? t - 1
                                             : t < 5 ? 1
                                             : t < 7 ? (7 - t) / 2
                                                     : 0;
        ck_assert_int_eq(out_point(f, (double[]){0.5 * k, y, 7}), VS_OK);
    }
    ck_assert_int_eq(out_plot_end(f), VS_OK);
    ck_assert_int_eq(out_close(&f, NULL), VS_OK);
}

/* A number of the answer; NAN: null. */
static double told(const char *text, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(text, key);
    ck_assert_msg(at != NULL, "%s: %s", name, text);
    at += strlen(key);
    return !strncmp(at, "null", 4) ? NAN : atof(at);
}

static char *measures_of(view *v, const char *expr, double a, double b, int64_t columns)
{
    char *text;
    size_t n;
    FILE *out = stream_text(&text, &n);
    const view_question q = {.expr = expr, .x0 = a, .x1 = b, .columns = columns};
    const bool good = view_measure(v, &q, out);
    stream_close(out);
    ck_assert_msg(good, "%s", text);
    return text;
}

START_TEST(measures_between_cursors_are_those_of_the_curve)
{
    /* few points, and so many that pieces of them are read */
    for (int n = 7; n <= 4200; n *= 600) {
        write_trapezoids(n);
        view *v = open_view();
        for (int twice = 0; twice < 2; twice++) {
            const double y = 1 + twice; /* cursors: four periods, in either order */
            char *text = measures_of(v, twice ? "v(out)*2" : "v(out)", twice ? 41.25 : 1.25,
                                     twice ? 1.25 : 41.25, 200000);
            ck_assert_double_eq_tol(told(text, "a"), 0.25 * y, 1e-12);
            ck_assert_double_eq_tol(told(text, "b"), 0.25 * y, 1e-12);
            ck_assert_double_eq(told(text, "min"), 0);
            ck_assert_double_eq(told(text, "max"), y);
            ck_assert_double_eq_tol(told(text, "mean"), 0.45 * y, 1e-12);
            ck_assert_double_eq_tol(told(text, "rms"), sqrt(0.4) * y, 1e-12);
            ck_assert_double_eq_tol(told(text, "period"), 10, 1e-11);
            ck_assert_double_eq_tol(told(text, "duty"), 45, 1e-10);
            ck_assert_double_eq_tol(told(text, "rise"), 0.8, 1e-12);
            ck_assert_double_eq_tol(told(text, "fall"), 1.6, 1e-12);
            ck_assert_double_eq(told(text, "part"), told(text, "points"));
            vs_free(text);
        }
        char *text = measures_of(v, "v(out)", 1.25, NAN, 200000);
        ck_assert_double_eq_tol(told(text, "a"), 0.25, 1e-12);
        ck_assert_double_nan(told(text, "b"));
        ck_assert_double_nan(told(text, "period"));
        vs_free(text);
        text = measures_of(v, "v(out)", -5, 1e9, 200000); /* outside there is nothing */
        ck_assert_double_nan(told(text, "a"));
        ck_assert_double_nan(told(text, "b"));
        ck_assert_double_eq_tol(told(text, "mean"), 0.45, 1e-12);
        vs_free(text);
        view_free(&v);
    }
}
END_TEST

START_TEST(measures_of_extremes_say_so_and_have_exact_values_at_cursors)
{
    static const char *const expr[] = {"v(out)", "v(out)+0"};
    write_trapezoids(4200);
    view *v = open_view();
    for (size_t k = 0; k < VS_COUNT(expr); k++) {
        char *text = measures_of(v, expr[k], 1.25, 41996.25, 100);
        ck_assert(told(text, "points") < told(text, "part"));
        ck_assert_double_eq_tol(told(text, "a"), 0.25, 1e-12);
        ck_assert_double_eq_tol(told(text, "b"), 0.375, 1e-12);
        ck_assert_double_eq(told(text, "min"), 0);
        ck_assert_double_eq(told(text, "max"), 1);
        vs_free(text);
    }
    view_free(&v);
}
END_TEST

START_TEST(a_spectrum_has_its_tone)
{
    out_file *f;
    char *text;
    size_t n;
    ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
    ck_assert_int_eq(out_plot_begin(f, "t", "Transient Analysis", vectors, 3, false), VS_OK);
    for (int k = 0; k <= 4096; k++)
        ck_assert_int_eq(
            out_point(f, (double[]){k / 4096.0, 0.5 * cos(2 * M_PI * 64 * k / 4096.0), 0}), VS_OK);
    ck_assert_int_eq(out_plot_end(f), VS_OK);
    ck_assert_int_eq(out_close(&f, NULL), VS_OK);
    view *v = open_view();
    const view_fft q = {
        .expr = "v(out)", .from = NAN, .to = NAN, .n = 1024, .window = "rectangular"};
    FILE *out = stream_text(&text, &n);
    ck_assert(view_spectrum(v, &q, out));
    stream_close(out);
    const double *x = numbers_of(text);
    ck_assert_int_eq(n - (size_t)((const char *)x - text), 2 * 513 * sizeof *x);
    ck_assert(x[64] == 64);
    ck_assert(fabs(x[513 + 64] - 0.5) < 1e-9); /* samples fall on points: rounding alone */
    ck_assert(x[513 + 65] < 1e-9);
    vs_free(text);
    view_free(&v);
}
END_TEST

/* The amplitudes that post_fft_make finds with all points in memory: [n / 2 + 1], for vs_free. */
static double *whole_spectrum(const view_fft *q)
{
    str_pool names;
    post_set set;
    diag d;
    arena mem;
    post_plot *p;
    const char *why;
    str_pool_init(&names);
    post_set_init(&set, &names);
    diag_init(&d);
    arena_init(&mem);
    ck_assert_int_eq(post_load(&set, path, false, &why), VS_OK);
    post_env e = {.set = &set, .d = &d, .mem = &mem};
    const post_fft_card c = {.expr = q->expr,
                             .window = q->window,
                             .from = q->from,
                             .to = q->to,
                             .fmin = NAN,
                             .fmax = NAN,
                             .alfa = 3,
                             .n = q->n};
    ck_assert(post_fft_make(&e, &c, &p));
    double *out = vs_calloc((size_t)q->n, sizeof *out);
    for (int64_t k = 0; k <= q->n / 2; k++)
        out[k] = hypot(p->vec[1]->v[2 * k], p->vec[1]->v[2 * k + 1]);
    arena_fini(&mem);
    diag_fini(&d);
    post_set_fini(&set);
    str_pool_fini(&names);
    return out;
}

/* Samples that pieces give are those of all points, to the last bit; more or fewer samples than
 * points, over all of the axis and over a part that begins and ends within pieces. */
START_TEST(a_spectrum_of_a_large_plot_is_that_of_all_its_points)
{
    static const view_fft q[] = {
        {.expr = "v(out)", .from = NAN, .to = NAN, .n = 1024, .window = "rectangular"},
        {.expr = "v(out)", .from = 65530.25, .to = 131100.75, .n = 262144, .window = "hann"},
        {.expr = "2*v(out)+time", .from = 10.5, .to = 70000, .n = 16, .window = "hann"},
        {.expr = "integ(v(out))", .from = 70000, .to = 140000, .n = 4096, .window = "blackman"},
        {.expr = "v(out)-mean(v(out))", .from = NAN, .to = NAN, .n = 4096, .window = "hann"},
        {.expr = "delay(v(out),3)", .from = NAN, .to = NAN, .n = 64, .window = "hann"}};
    write_large(150000, 123457);
    view *v = open_view();
    for (size_t i = 0; i < VS_COUNT(q); i++) {
        char *text;
        size_t n;
        FILE *out = stream_text(&text, &n);
        const bool good = view_spectrum(v, &q[i], out);
        stream_close(out);
        ck_assert_msg(good, "%s", text);
        double *want = whole_spectrum(&q[i]);
        const int64_t lines = q[i].n / 2 + 1;
        ck_assert_int_eq(memcmp(numbers_of(text) + lines, want, (size_t)lines * sizeof *want), 0);
        vs_free(want);
        vs_free(text);
    }
    const view_fft outside = {.expr = "v(out)", .from = 1, .to = 150001, .n = 64, .window = "hann"};
    char *text;
    size_t n;
    FILE *out = stream_text(&text, &n);
    ck_assert(!view_spectrum(v, &outside, out));
    stream_close(out);
    ck_assert_ptr_nonnull(strstr(text, "is outside the transient"));
    vs_free(text);
    view_free(&v);
}
END_TEST

static double number_in(const char *text, const char *name)
{
    const char *at = strstr(text + 4, name);
    ck_assert_msg(at != NULL, "%s", name);
    return strtod(at + strlen(name), NULL);
}

/* A clock of period 2000, edges of 200, in `n` points. 4,194,304 samples of a large file are less
 * than a point apart: edges are known to the chords beside their corners. */
START_TEST(an_eye_of_a_file)
{
    const int points[] = {20001, 200001};
    for (size_t i = 0; i < VS_COUNT(points); i++) {
        out_file *f;
        char *text;
        size_t n;
        ck_assert_int_eq(out_open(&f, path, OUT_RAW), VS_OK);
        ck_assert_int_eq(out_plot_begin(f, "t", "Transient Analysis", vectors, 3, false), VS_OK);
        for (int k = 0; k < points[i]; k++) {
            const double at = k % 2000, edge = fmin(at, 2000 - at) - 450;
            ck_assert_int_eq(out_point(f, (double[]){k, fmax(0, fmin(1, edge / 100.0)), 7}), VS_OK);
        }
        ck_assert_int_eq(out_plot_end(f), VS_OK);
        ck_assert_int_eq(out_close(&f, NULL), VS_OK);
        view *v = open_view();
        view_eye q = {.expr = "v(out)", .from = NAN, .to = NAN, .ui = NAN, .offset = NAN};
        FILE *out = stream_text(&text, &n);
        ck_assert(view_eye_of(v, &q, out));
        stream_close(out);
        ck_assert(fabs(number_in(text, "\"ui\":") - 1000) < 1e-3);
        ck_assert(fabs(number_in(text, "\"offset\":") - 500) < 1e-3);
        ck_assert(fabs(number_in(text, "\"rise\":") - 60) < 1e-3);
        ck_assert(fabs(number_in(text, "\"openheight\":") - 1) < 1e-9);
        const double rows = number_in(text, "\"n\":");
        ck_assert(fmod(rows, 2 * 64 + 2) == 0 && rows / (2 * 64 + 2) >= points[i] / 1000 - 2);
        ck_assert_int_eq(n - (size_t)((const char *)numbers_of(text) - text),
                         2 * (size_t)rows * sizeof(double));
        vs_free(text);
        q.expr = "v(x1.\xff)";
        out = stream_text(&text, &n);
        ck_assert(!view_eye_of(v, &q, out));
        stream_close(out);
        ck_assert_ptr_nonnull(strstr(text, "is 7 all the time"));
        vs_free(text);
        view_free(&v);
    }
}
END_TEST

int main(void)
{
    close(mkstemp(path));
    Suite *s = suite_create("view");
    TCase *t = tcase_create("view");
    tcase_add_test(t, a_family_is_one_group);
    tcase_add_test(t, a_curve_has_its_points_behind_the_head);
    tcase_add_test(t, names_with_any_bytes_are_found);
    tcase_add_test(t, what_is_wrong_is_told_with_its_place);
    tcase_add_test(t, a_file_that_grows_is_read_again);
    tcase_add_test(t, a_window_of_a_large_plot_has_its_extremes);
    tcase_add_test(t, a_point_has_a_value_for_each_signal);
    tcase_add_test(t, expressions_by_pieces_have_the_extremes_of_all_points);
    tcase_add_test(t, functions_of_the_whole_curve_carry_on_from_piece_to_piece);
    tcase_add_test(t, an_answer_at_once_is_followed_by_the_whole);
    tcase_add_test(t, answers_at_once_to_many_questions_are_kept_apart);
    tcase_add_test(t, delays_by_pieces_have_the_bits_of_the_whole);
    tcase_add_test(t, one_number_of_a_large_plot_is_a_point);
    tcase_add_test(t, an_expression_that_needs_too_much_is_refused);
    tcase_add_test(t, mistakes_in_expressions_over_large_plots_are_told);
    tcase_add_test(t, values_between_points_are_on_the_line);
    tcase_add_test(t, a_spectrum_has_its_tone);
    tcase_add_test(t, a_spectrum_of_a_large_plot_is_that_of_all_its_points);
    tcase_add_test(t, an_eye_of_a_file);
    tcase_add_test(t, measures_between_cursors_are_those_of_the_curve);
    tcase_add_test(t, measures_of_extremes_say_so_and_have_exact_values_at_cursors);
    suite_add_tcase(s, t);
    const int bad = run_suite(s);
    unlink(path);
    return bad != 0;
}
