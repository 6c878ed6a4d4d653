/* Tests of src/idx: each cell of a window against the points that it stands for, found in the
 * values themselves; files that grow, end early or are replaced; indexes that are damaged. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "draw.h"
#include "idx.h"
#include "out.h"

enum { N_POINT = 100000, N_COL = 3 };

typedef struct bench {
    char dir[32], path[48], index[64];
    double *v; /* [n][n_col] */
    int64_t n;
    int32_t n_col;
} bench;

static void bench_init(bench *b, int64_t n, int32_t n_col)
{
    strcpy(b->dir, "/tmp/vsim-idx-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(b->dir));
    snprintf(b->path, sizeof b->path, "%s/a.raw", b->dir);
    snprintf(b->index, sizeof b->index, "%s.idx", b->path);
    b->n = n;
    b->n_col = n_col;
    b->v = malloc((size_t)(n * n_col) * sizeof *b->v);
    uint64_t key = draw_seed(7, 1);
    double t = 0;
    for (int64_t k = 0; k < n; k++) {
        t += k % 1000 < 10 ? 1e-9 : 1e-12 * (1 + draw_even(key = draw_add(key, 1)));
        b->v[k * n_col] = t;
        for (int32_t c = 1; c < n_col; c++)
            b->v[k * n_col + c] = c + sin((double)k * c / 300) + draw_even(key + (uint64_t)(k * c));
    }
}

static void bench_fini(bench *b)
{
    char text[64];
    snprintf(text, sizeof text, "rm -rf %s", b->dir);
    ck_assert_int_eq(system(text), 0);
    free(b->v);
}

/* The rows [from, to) as a plot of the file. */
static void put(const bench *b, const char *how, int64_t to, int64_t stated)
{
    FILE *f = fopen(b->path, how);
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "Title: t\nPlotname: Transient Analysis\nFlags: real\nNo. Variables: %d\n"
            "No. Points: %-20lld\nVariables:\n",
            b->n_col, (long long)stated);
    for (int32_t c = 0; c < b->n_col; c++)
        fprintf(f, "\t%d\t%s%d\t%s\n", c, c ? "v" : "time", c, c ? "voltage" : "time");
    fprintf(f, "Binary:\n");
    ck_assert_uint_eq(fwrite(b->v, (size_t)b->n_col * sizeof *b->v, (size_t)to, f), (size_t)to);
    ck_assert_int_eq(fclose(f), 0);
}

static idx *open_it(const bench *b, bool keep)
{
    idx *x;
    const char *why = "";
    ck_assert_msg(idx_open(&x, b->path, keep, &why) == VS_OK, "%s", why);
    return x;
}

/* What a cell says about points [from, from + n) of a column. */
static void check_cell(const bench *b, int32_t col, int64_t from, int64_t n, const double *y)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t k = from; k < from + n; k++) {
        const double v = b->v[k * b->n_col + col];
        lo = isfinite(v) && v < lo ? v : lo;
        hi = isfinite(v) && v > hi ? v : hi;
    }
    const double want[4] = {b->v[from * b->n_col + col], lo, hi,
                            b->v[(from + n - 1) * b->n_col + col]};
    for (int i = 0; i < 4; i++)
        ck_assert_msg(y[i] == want[i] || (isnan(y[i]) && isnan(want[i])),
                      "column %d, points %lld + %lld, %d: %g, not %g", col, (long long)from,
                      (long long)n, i, y[i], want[i]);
}

/* The cells follow one another, each is right and no wider than a pixel or a single point. */
static void check_view(const bench *b, const idx_view *v, const int32_t *col, double pixel,
                       bool log_axis)
{
    for (int64_t i = 0; i < v->n; i++) {
        const int64_t from = v->from[i], n = v->count[i];
        ck_assert(n > 0 && from >= 0 && from + n <= b->n);
        ck_assert(!i || from == v->from[i - 1] + v->count[i - 1]);
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t k = from; k < from + n; k++) {
            lo = fmin(lo, b->v[k * b->n_col]);
            hi = fmax(hi, b->v[k * b->n_col]);
        }
        ck_assert_double_eq(v->x[2 * i], b->v[from * b->n_col]);
        ck_assert_double_eq(v->x[2 * i + 1], b->v[(from + n - 1) * b->n_col]);
        ck_assert(n == 1 || (log_axis ? log(hi) - log(lo) : hi - lo) <= pixel);
        for (int32_t c = 0; c < v->n_col; c++)
            check_cell(b, col[c], from, n, v->y + (i * v->n_col + c) * 4);
    }
}

/* A window; its ends and a point on each side are in the cells. */
static int64_t window(const bench *b, idx *x, double lo, double hi, int32_t width, bool log_axis)
{
    const int32_t col[] = {b->n_col - 1, 1};
    const idx_window w = {lo, hi, width, log_axis, false};
    idx_view v;
    const char *why = "";
    ck_assert_msg(idx_look(x, 0, &w, col, 2, &v, &why) == VS_OK, "%s", why);
    check_view(b, &v, col, (log_axis ? log(hi) - log(lo) : hi - lo) / width, log_axis);
    ck_assert(v.n > 0);
    ck_assert(v.from[0] == 0 || v.x[0] < lo);
    ck_assert(v.from[v.n - 1] + v.count[v.n - 1] == b->n || v.x[2 * v.n - 1] > hi);
    const int64_t n = v.n;
    idx_view_fini(&v);
    return n;
}

static void check_windows(const bench *b, idx *x)
{
    const double end = b->v[(b->n - 1) * b->n_col];
    uint64_t key = draw_seed(3, 0);
    /* two cells that follow one another are wider than a pixel: else they were one */
    ck_assert_int_le(window(b, x, 0, end, 500, false), 2 * 500 + 3);
    ck_assert_int_le(window(b, x, end / 1e3, end, 300, true), 2 * 300 + 3);
    for (int i = 0; i < 40; i++) {
        const double at = end * fabs(draw_even(key = draw_add(key, 1))),
                     wide = end * pow(10, -5 * fabs(draw_even(key = draw_add(key, 2))));
        ck_assert_int_le(window(b, x, at, at + wide, 200, i % 3 == 0), 2 * 200 + 3);
    }
}

START_TEST(cells_have_the_extremes_of_their_points)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    b.v[5 * N_COL + 1] = NAN;
    b.v[70000 * N_COL + 2] = INFINITY;
    for (int64_t k = 200; k < 5000; k++)
        b.v[k * N_COL + 1] = k % 2 ? -INFINITY : NAN;
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    ck_assert_int_eq(idx_n_plot(x), 1);
    ck_assert_str_eq(idx_plot_of(x, 0)->name[1], "v1");
    ck_assert_str_eq(idx_plot_of(x, 0)->type[1], "voltage");
    ck_assert_int_eq(idx_plot_of(x, 0)->n_point, N_POINT);
    ck_assert(idx_plot_of(x, 0)->axis && !idx_plot_of(x, 0)->complex);
    check_windows(&b, x);
    ck_assert_int_ne(access(b.index, F_OK), 0); /* not asked for */
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

/* The range of the 32 points around k, over the rounding. */
static double step_at(const bench *b, int32_t col, int64_t k)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = k / 32 * 32; i < k / 32 * 32 + 32 && i < b->n; i++) {
        lo = fmin(lo, b->v[i * b->n_col + col]);
        hi = fmax(hi, b->v[i * b->n_col + col]);
    }
    return (hi - lo) / 65000 + 1e-15 * (fabs(lo) + fabs(hi));
}

/* A quick look has the same points in its cells as their numbers say; least and greatest are not
 * inside of those of these points, and a step of the rounding outside of them at most. */
static void check_quick(const bench *b, idx *x, double lo, double hi)
{
    const int32_t col = 1;
    const idx_window w = {lo, hi, 500, false, true};
    double least = INFINITY, greatest = -INFINITY, y[2] = {INFINITY, -INFINITY};
    const char *why;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &w, &col, 1, &v, &why), VS_OK);
    for (int64_t i = 0; i < v.n; i++) {
        double p = INFINITY, q = -INFINITY, step = 0;
        for (int64_t k = v.from[i]; k < v.from[i] + v.count[i]; k++) {
            p = fmin(p, b->v[k * b->n_col + 1]);
            q = fmax(q, b->v[k * b->n_col + 1]);
            step = fmax(step, step_at(b, 1, k));
        }
        const double *c = &v.y[4 * i];
        ck_assert_double_le(c[1], p);
        ck_assert_double_ge(c[1], p - step);
        ck_assert_double_ge(c[2], q);
        ck_assert_double_le(c[2], q + step);
        ck_assert_double_eq_tol(c[0], b->v[v.from[i] * b->n_col + 1], step);
        ck_assert_double_eq_tol(c[3], b->v[(v.from[i] + v.count[i] - 1) * b->n_col + 1], step);
        if (i)
            ck_assert_int_eq(v.from[i], v.from[i - 1] + v.count[i - 1]);
        least = fmin(least, p);
        greatest = fmax(greatest, q);
        y[0] = fmin(y[0], c[1]);
        y[1] = fmax(y[1], c[2]);
    }
    ck_assert_double_eq(y[0], least);
    ck_assert_double_eq(y[1], greatest);
    idx_view_fini(&v);
}

START_TEST(a_quick_look_rounds_outwards)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    for (int64_t k = 4096; k < 8192;
         k++) /* a range that no number holds, one of nothing, tiny ones */
        b.v[k * N_COL + 1] = k < 5000   ? (k % 3 - 1) * 1.7e308
                             : k < 6000 ? 3
                             : k < 7000 ? 1 + (double)(k % 7) * 0x1p-52
                                        : (double)(k % 5) * 0x1p-1074;
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    const double end = b.v[(b.n - 1) * N_COL];
    check_quick(&b, x, b.v[8192 * N_COL], b.v[(8192 + 4096) * N_COL]);
    for (int k = 0; k < 12; k++) /* from 20 to 8 points for a pixel, and behind the odd ones */
        check_quick(&b, x, 0.2 * end, end * (0.2 + 0.1 * pow(0.9, k)));
    const int32_t col = 1;
    const idx_window odd = {b.v[4096 * N_COL], b.v[8191 * N_COL], 400, false, true};
    const char *why;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &odd, &col, 1, &v, &why), VS_OK);
    for (int64_t i = 0; i < v.n; i++)
        for (int64_t k = v.from[i]; k < v.from[i] + v.count[i]; k++) {
            ck_assert_double_le(v.y[4 * i + 1], b.v[k * N_COL + 1]);
            ck_assert_double_ge(v.y[4 * i + 2], b.v[k * N_COL + 1]);
        }
    idx_view_fini(&v);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(what_is_not_finite_is_kept_by_rounded_cells)
{
    bench b;
    bench_init(&b, 20000, N_COL);
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int64_t k = 0; k < b.n; k++) {
        b.v[k * N_COL] = (double)k;
        if (k / 8 % 4 != 3)
            b.v[k * N_COL + 1] = odd[k / 8 % 4];
    }
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    const int32_t col = 1;
    const idx_window w = {NAN, NAN, 20000 / 9, false, true}; /* pixels of 9 points: cells of 8 */
    const char *why;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &w, &col, 1, &v, &why), VS_OK);
    for (int64_t i = 0; i < v.n; i++) {
        ck_assert_int_eq(v.count[i], 8);
        const double *c = &v.y[4 * i], want = b.v[v.from[i] * N_COL + 1];
        ck_assert_int_eq(c[1] <= c[2], isfinite(want));
        if (isfinite(want))
            continue;
        ck_assert(isnan(want) ? isnan(c[0]) && isnan(c[3]) : c[0] == want && c[3] == want);
    }
    idx_view_fini(&v);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

/* The ends of a window, by the index and on the last points without it, on an axis that has values
 * more than once, also on both sides of a chunk's end. */
START_TEST(the_ends_of_a_window_are_found)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    for (int64_t k = 0; k < b.n; k++)
        b.v[k * N_COL] = (double)(k < 32000 || k > 33500 ? k / 3 : 10700 + (k > 32900));
    for (int64_t k = 33501; k < b.n; k++)
        b.v[k * N_COL] += 100;
    put(&b, "w", b.n, b.n);
    for (int part = 0; part < 3; part++) { /* all is indexed; the first chunk; nothing */
        idx *x = open_it(&b, false);
        const char *why;
        double done;
        if (part < 2)
            ck_assert_int_eq(idx_build(x, part ? 1 : INT64_MAX, &done, &why), VS_OK);
        for (int i = 0; i < 600; i++) {
            const double at = i % 2 ? b.v[(i * 7919 % b.n) * N_COL] : i * 62.5 + 0.5;
            int64_t from, to, lo = 0, hi = 0;
            bool rises;
            ck_assert_int_eq(idx_range(x, 0, at, at, &from, &to, &rises, &why), VS_OK);
            ck_assert(rises);
            while (lo < b.n && b.v[lo * N_COL] < at)
                lo++;
            for (hi = lo; hi < b.n && b.v[hi * N_COL] <= at;)
                hi++;
            ck_assert_int_eq(from, lo - (lo > 0));
            ck_assert_int_eq(to, hi + (hi < b.n));
        }
        idx_close(&x);
    }
    bench_fini(&b);
}
END_TEST

START_TEST(few_points_for_a_pixel_are_single)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    const idx_window w = {b.v[40000 * N_COL], b.v[40099 * N_COL], 60, false, false};
    const int32_t col = 1;
    const char *why;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &w, &col, 1, &v, &why), VS_OK);
    ck_assert_int_eq(v.n, 102);
    ck_assert_int_eq(v.from[0], 39999);
    for (int64_t i = 0; i < v.n; i++)
        ck_assert_int_eq(v.count[i], 1);
    idx_view_fini(&v);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(many_columns_are_built_in_strips)
{
    bench b;
    bench_init(&b, 40000, 300);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    check_windows(&b, x);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

/* Rows above 4 kB: the values of a signal are read one by one, cells are shorter. */
START_TEST(long_rows_have_an_index_of_short_cells)
{
    bench b;
    bench_init(&b, 9000, 520);
    b.v[70 * 520 + 1] = NAN;
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    check_windows(&b, x);
    double *v = malloc((size_t)(2 * b.n) * sizeof *v);
    const int32_t col[] = {519, 2};
    const char *why;
    ck_assert_int_eq(idx_read(x, 0, col, 2, 100, 3000, v, &why), VS_OK);
    for (int64_t k = 0; k < 3000; k++)
        for (int c = 0; c < 2; c++)
            ck_assert_double_eq(v[c * 3000 + k], b.v[(100 + k) * 520 + col[c]]);
    free(v);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

/* Bytes that this process has read so far; -1: the system does not tell. */
static long long bytes_read(void)
{
    FILE *f = fopen("/proc/self/io", "r");
    long long n = -1;
    if (f && fscanf(f, "rchar: %lld", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

/* A cell of 32 points (of a quick look of 8) whose rows are read is wider than a pixel, or at an
 * end of the window, where 32 are read: there are fewer than W + 4. With them come of each chunk of
 * 32768 points the records of two columns, of less than 40 kB each (72 kB with rounded cells), and
 * the search for the ends. */
static void check_bytes(bool quick)
{
    enum { COLUMNS = 101, CHUNKS = 2, SEARCH = 10000 };
    const long long record = quick ? 72000 : 40000, cell = quick ? 8 : 32;
    bench b;
    double done;
    const char *why;
    const int32_t col = 7;
    bench_init(&b, 40000, COLUMNS);
    for (int64_t k = 0; k < b.n; k++)
        b.v[k * COLUMNS] = (double)k;
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    ck_assert_int_eq(idx_build(x, INT64_MAX, &done, &why), VS_OK);
    for (int32_t width = 350; width < 4800; width *= 2) {
        const idx_window w = {NAN, NAN, width, false, quick};
        idx_view v;
        const long long before = bytes_read(), most = (cell * (width + 4) + 64) * COLUMNS * 8 +
                                                      2 * CHUNKS * record + SEARCH;
        ck_assert_int_eq(idx_look(x, 0, &w, &col, 1, &v, &why), VS_OK);
        const long long n = bytes_read() - before;
        ck_assert_msg(before < 0 || n <= most, "%lld bytes for %d pixels, not %lld", n, width,
                      most);
        idx_view_fini(&v);
    }
    idx_close(&x);
    bench_fini(&b);
}

START_TEST(a_window_reads_few_rows)
{
    check_bytes(false);
    check_bytes(true);
}
END_TEST

START_TEST(an_axis_may_go_to_and_fro)
{
    bench b;
    bench_init(&b, 30000, N_COL);
    for (int64_t k = 0; k < b.n; k++)
        b.v[k * N_COL] = sin((double)k / 5000);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    const idx_window w = {NAN, NAN, 100, false, false};
    const int32_t col[] = {1, 2};
    const char *why;
    double axis[2], y[2];
    int64_t k;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &w, col, 2, &v, &why), VS_OK);
    check_view(&b, &v, col, 2.0 / 100, false);
    ck_assert_int_eq(v.from[0], 0);
    ck_assert_int_eq(v.from[v.n - 1] + v.count[v.n - 1], b.n);
    idx_view_fini(&v);
    ck_assert_int_eq(idx_at(x, 0, 0.5, col, 1, &k, axis, y, &why), VS_OK);
    for (int64_t i = 0; i < b.n; i++)
        ck_assert_double_ge(fabs(b.v[i * N_COL] - 0.5), fabs(axis[0] - 0.5));
    ck_assert_double_eq(y[0], b.v[k * N_COL + 1]);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(a_cursor_stands_between_two_points)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    const int32_t col[] = {2, 1};
    const double at = (b.v[777 * N_COL] + b.v[778 * N_COL]) / 2;
    double axis[2], y[4];
    const char *why;
    int64_t k;
    ck_assert_int_eq(idx_at(x, 0, at, col, 2, &k, axis, y, &why), VS_OK);
    ck_assert_int_eq(k, 777);
    ck_assert_double_eq(axis[1], b.v[778 * N_COL]);
    ck_assert_double_eq(y[1], b.v[778 * N_COL + 2]);
    ck_assert_double_eq(y[2], b.v[777 * N_COL + 1]);
    ck_assert_int_eq(idx_at(x, 0, 1e9, col, 2, &k, axis, y, &why), VS_OK);
    ck_assert_int_eq(k, N_POINT - 1);
    ck_assert_int_eq(idx_at(x, 0, -1e9, col, 2, &k, axis, y, &why), VS_OK);
    ck_assert_int_eq(k, 0);
    double *v = malloc(2 * N_POINT * sizeof *v);
    ck_assert_int_eq(idx_read(x, 0, col, 2, 100, N_POINT - 100, v, &why), VS_OK);
    for (int64_t i = 0; i < N_POINT - 100; i++)
        ck_assert_double_eq(v[N_POINT - 100 + i], b.v[(i + 100) * N_COL + 1]);
    free(v);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(text_is_read_as_binary_files_are)
{
    for (out_format f = OUT_ASCII; f <= OUT_CSV; f++) {
        static const out_vector vec[] = {
            {"time", "time"}, {"v(1)", "voltage"}, {"v(2)", "voltage"}};
        bench b;
        out_file *to;
        bench_init(&b, 20000, N_COL);
        ck_assert_int_eq(out_open(&to, b.path, f), VS_OK);
        for (int plot = 0; plot < 2; plot++) {
            ck_assert_int_eq(out_plot_begin(to, "t", "Transient Analysis", vec, 3, false), VS_OK);
            for (int64_t k = 0; k < b.n; k++)
                ck_assert_int_eq(out_point(to, b.v + k * N_COL), VS_OK);
        }
        ck_assert_int_eq(out_close(&to, NULL), VS_OK);
        idx *x = open_it(&b, true);
        ck_assert_int_eq(idx_n_plot(x), 2);
        ck_assert_str_eq(idx_plot_of(x, 1)->name[2], "v(2)");
        check_windows(&b, x);
        double last;
        const int32_t col = 2;
        const char *why;
        ck_assert_int_eq(idx_read(x, 1, &col, 1, b.n - 1, 1, &last, &why), VS_OK);
        ck_assert_double_eq(last, b.v[b.n * N_COL - 1]);
        ck_assert_int_ne(access(b.index, F_OK), 0);
        idx_close(&x);
        bench_fini(&b);
    }
}
END_TEST

START_TEST(an_index_beside_the_file_is_found_again)
{
    bench b;
    double done;
    const char *why;
    bench_init(&b, N_POINT, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, true);
    ck_assert(!idx_found(x));
    for (done = 0; done < 1;)
        ck_assert_int_eq(idx_build(x, 1, &done, &why), VS_OK);
    ck_assert_int_eq(access(b.index, F_OK), 0);
    idx_close(&x);
    x = open_it(&b, false);
    ck_assert(idx_found(x));
    check_windows(&b, x);
    idx_close(&x);
    put(&b, "w", b.n, b.n - 1); /* the file is another one now */
    b.n--;
    x = open_it(&b, false);
    ck_assert(!idx_found(x));
    check_windows(&b, x);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(a_short_plot_behind_the_others_is_noted)
{
    bench b;
    double done;
    const char *why;
    bench_init(&b, N_POINT, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, true);
    for (done = 0; done < 1;)
        ck_assert_int_eq(idx_build(x, INT64_MAX, &done, &why), VS_OK);
    put(&b, "a", 1, 1);
    ck_assert_int_eq(idx_refresh(x), IDX_GREW);
    idx_whole(x);
    ck_assert_int_eq(idx_build(x, INT64_MAX, &done, &why), VS_OK);
    ck_assert_double_eq(done, 1);
    idx_close(&x);
    x = open_it(&b, false);
    ck_assert_int_eq(idx_n_plot(x), 2);
    ck_assert(idx_found(x));
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

/* Each byte of the head, and some of the records. */
START_TEST(a_damaged_index_is_made_again)
{
    bench b;
    double done;
    const char *why;
    struct stat sb;
    bench_init(&b, 40000, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, true);
    ck_assert_int_eq(idx_build(x, INT64_MAX, &done, &why), VS_OK);
    ck_assert_double_eq(done, 1);
    idx_close(&x);
    for (int i = 0; i < 60; i++) {
        ck_assert_int_eq(stat(b.index, &sb), 0);
        const long at = i < 10 ? 9 * i : (long)(4096 + (sb.st_size - 4096) / 51 * (i - 10));
        FILE *f = fopen(b.index, "r+");
        ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
        const int byte = fgetc(f);
        ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
        fputc(byte ^ 0x5a, f);
        ck_assert_int_eq(fclose(f), 0);
        if (i % 7 == 3)
            ck_assert_int_eq(truncate(b.index, sb.st_size - 1), 0);
        x = open_it(&b, true);
        const double end = b.v[(b.n - 1) * b.n_col];
        window(&b, x, 0, end, 100, false);
        window(&b, x, end / 3, end / 2, 100, false);
        idx_close(&x);
    }
    bench_fini(&b);
}
END_TEST

START_TEST(a_file_that_grows_is_followed)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    const int64_t all = b.n;
    b.n = 10;
    put(&b, "w", 10, 10);
    idx *x = open_it(&b, false);
    ck_assert_int_eq(idx_refresh(x), IDX_SAME);
    for (int64_t n = 10; n < all;) {
        const int64_t more = all - n < 7777 ? all - n : 7777;
        FILE *f = fopen(b.path, "r+");
        char line[32];
        ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
        ck_assert_uint_eq(fwrite(b.v + n * N_COL, N_COL * sizeof *b.v, (size_t)more, f),
                          (size_t)more);
        fwrite(b.v, 1, 11, f); /* a part of the next */
        n += more;
        ck_assert_int_eq(fseek(f, 0, SEEK_SET), 0);
        for (int i = 0; i < 4; i++)
            ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
        ck_assert_int_eq(fseek(f, 0, SEEK_CUR), 0);
        fprintf(f, "No. Points: %-20lld", (long long)n);
        ck_assert_int_eq(fclose(f), 0);
        ck_assert_int_eq(idx_refresh(x), IDX_GREW);
        b.n = n;
        ck_assert_int_eq(idx_plot_of(x, 0)->n_point, n);
        window(&b, x, 0, b.v[(n - 1) * N_COL], 100, false);
        struct stat sb;
        ck_assert_int_eq(stat(b.path, &sb), 0);
        ck_assert_int_eq(truncate(b.path, sb.st_size - 11), 0);
        idx_close(&x); /* to forget the size with the part */
        x = open_it(&b, false);
        window(&b, x, 0, b.v[(n - 1) * N_COL], 100, false);
    }
    b.n = all;
    check_windows(&b, x);
    put(&b, "a", 50, 50); /* a second plot */
    ck_assert_int_eq(idx_refresh(x), IDX_GREW);
    ck_assert_int_eq(idx_n_plot(x), 2);
    ck_assert_int_eq(idx_plot_of(x, 1)->n_point, 50);
    check_windows(&b, x);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(another_file_and_one_cut_off_are_told)
{
    bench b;
    bench_init(&b, N_POINT, N_COL);
    put(&b, "w", b.n, b.n);
    idx *x = open_it(&b, false);
    ck_assert_int_eq(truncate(b.path, 100000), 0);
    const int32_t col = 1;
    const idx_window w = {NAN, NAN, 100, false, false};
    const char *why = NULL;
    idx_view v;
    ck_assert_int_eq(idx_look(x, 0, &w, &col, 1, &v, &why), VS_EIO);
    ck_assert_ptr_nonnull(why);
    idx_view_fini(&v);
    ck_assert_int_eq(idx_refresh(x), IDX_REPLACED);
    idx_close(&x);
    x = open_it(&b, false); /* the points in front of the end are there */
    b.n = idx_plot_of(x, 0)->n_point;
    ck_assert_int_lt(b.n, N_POINT);
    window(&b, x, 0, b.v[(b.n - 1) * N_COL], 100, false);
    for (int64_t k = 0; k < b.n; k++)
        b.v[k * N_COL + 1] += 1;
    put(&b, "w", b.n, b.n); /* in place, longer: the next results of the same deck */
    ck_assert_int_eq(idx_refresh(x), IDX_REPLACED);
    idx_close(&x);
    x = open_it(&b, false);
    ck_assert_int_eq(unlink(b.path), 0);
    ck_assert_int_eq(idx_refresh(x), IDX_GONE);
    put(&b, "w", b.n, b.n);
    ck_assert_int_eq(idx_refresh(x), IDX_REPLACED);
    idx_close(&x);
    bench_fini(&b);
}
END_TEST

START_TEST(what_is_no_result_file_is_refused)
{
    bench b;
    idx *x;
    const char *why = NULL;
    bench_init(&b, 1, 1);
    ck_assert_int_eq(idx_open(&x, "/dev/null/x", false, &why), VS_EIO);
    ck_assert_ptr_null(x);
    fclose(fopen(b.path, "w"));
    ck_assert_int_eq(idx_open(&x, b.path, false, &why), VS_EINPUT);
    ck_assert_str_eq(why, "is empty");
    ck_assert_ptr_null(x);
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("idx");
    TCase *tc = tcase_create("idx");
    tcase_add_test(tc, cells_have_the_extremes_of_their_points);
    tcase_add_test(tc, a_quick_look_rounds_outwards);
    tcase_add_test(tc, what_is_not_finite_is_kept_by_rounded_cells);
    tcase_add_test(tc, the_ends_of_a_window_are_found);
    tcase_add_test(tc, few_points_for_a_pixel_are_single);
    tcase_add_test(tc, many_columns_are_built_in_strips);
    tcase_add_test(tc, long_rows_have_an_index_of_short_cells);
    tcase_add_test(tc, a_window_reads_few_rows);
    tcase_add_test(tc, an_axis_may_go_to_and_fro);
    tcase_add_test(tc, a_cursor_stands_between_two_points);
    tcase_add_test(tc, text_is_read_as_binary_files_are);
    tcase_add_test(tc, an_index_beside_the_file_is_found_again);
    tcase_add_test(tc, a_short_plot_behind_the_others_is_noted);
    tcase_add_test(tc, a_damaged_index_is_made_again);
    tcase_add_test(tc, a_file_that_grows_is_followed);
    tcase_add_test(tc, another_file_and_one_cut_off_are_told);
    tcase_add_test(tc, what_is_no_result_file_is_refused);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
