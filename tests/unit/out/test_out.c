/* Tests of out.c with out_read.c: what is written is read back, at the end and in the middle. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../suite.h"
#include "out.h"

static const out_vector vec[] = {{"time", "time"}, {"v(out)", "voltage"}, {"i(v1)", "current"}};
static char path[64];

static void name_file(void) { snprintf(path, sizeof path, "/tmp/vsim-test-out-%d", (int)getpid()); }

static void write_plot(out_file *f, int n)
{
    ck_assert_int_eq(out_plot_begin(f, "a title", "Transient Analysis", vec, 3, false), VS_OK);
    for (int i = 0; i < n; i++) {
        double row[] = {i * 1e-9, i / 3.0, -i};
        ck_assert_int_eq(out_point(f, row), VS_OK);
    }
    ck_assert_int_eq(out_plot_end(f), VS_OK);
}

static void check_plot(int32_t k, int64_t n)
{
    out_plot p;
    const char *why;
    ck_assert_int_eq(out_read(&p, path, k, &why), VS_OK);
    ck_assert_int_eq(p.n_vec, 3);
    ck_assert_int_eq(p.n_point, n);
    ck_assert_str_eq(p.name[1], "v(out)");
    for (int64_t i = 0; i < n; i++) {
        ck_assert_double_eq(p.data[3 * i], (double)i * 1e-9);
        ck_assert_double_eq(p.data[3 * i + 1], (double)i / 3.0);
    }
    out_plot_free(&p);
}

START_TEST(two_plots_read_back_in_every_format)
{
    name_file();
    for (out_format fmt = OUT_RAW; fmt <= OUT_CSV; fmt++) {
        out_file *f;
        ck_assert_int_eq(out_open(&f, path, fmt), VS_OK);
        write_plot(f, 10000);
        write_plot(f, 7);
        ck_assert_int_eq(out_close(&f, NULL), VS_OK);
        check_plot(0, 10000);
        check_plot(1, 7);
        out_plot p;
        const char *why;
        ck_assert_int_eq(out_read(&p, path, 2, &why), VS_EINPUT);
    }
    remove(path);
}
END_TEST

/* Points of the first plot that the file has by now; 0 while it has none. */
static int64_t points_so_far(void)
{
    out_plot p;
    const char *why;
    if (out_read(&p, path, 0, &why))
        return 0;
    const int64_t n = p.n_point;
    out_plot_free(&p);
    return n;
}

START_TEST(file_is_complete_up_to_its_count_after_a_kill)
{
    name_file();
    remove(path);
    pid_t child = fork();
    if (!child) {
        out_file *f;
        if (out_open(&f, path, OUT_RAW) ||
            out_plot_begin(f, "t", "Transient Analysis", vec, 3, false))
            _exit(1);
        for (int i = 0;; i++) {
            double row[] = {i * 1e-9, i / 3.0, -i};
            if (out_point(f, row))
                _exit(1);
            if (i % 1000 == 0)
                usleep(1000);
        }
    }
    while (points_so_far() <= 10000)
        usleep(10000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    const int64_t n = points_so_far();
    ck_assert_int_gt(n, 10000);
    check_plot(0, n);
    remove(path);
}
END_TEST

START_TEST(points_do_not_wait_for_the_next_one)
{
    name_file();
    for (out_format fmt = OUT_RAW; fmt <= OUT_CSV; fmt++) {
        out_file *f;
        ck_assert_int_eq(out_open(&f, path, fmt), VS_OK);
        ck_assert_int_eq(out_plot_begin(f, "t", "Transient Analysis", vec, 3, false), VS_OK);
        for (int i = 0; i < 100; i++)
            ck_assert_int_eq(out_point(f, (double[]){i * 1e-9, i / 3.0, -i}), VS_OK);
        out_tick(f);
        usleep((useconds_t)(4e6 * OUT_FLUSH_SECONDS));
        out_tick(f);
        check_plot(0, 100);
        ck_assert_int_eq(out_close(&f, NULL), VS_OK);
    }
    remove(path);
}
END_TEST

START_TEST(full_disk_is_reported)
{
    out_file *f;
    if (access("/dev/full", W_OK) || out_open(&f, "/dev/full", OUT_RAW))
        return;
    vs_status st = out_plot_begin(f, "t", "x", vec, 3, false);
    double row[3] = {0};
    for (int i = 0; i < 100000 && !st; i++)
        st = out_point(f, row);
    ck_assert_int_eq(st, VS_EIO);
    int why = 0;
    ck_assert_int_eq(out_close(&f, &why), VS_EIO);
    ck_assert_int_eq(why, ENOSPC);
}
END_TEST

START_TEST(damaged_files_are_refused_with_a_reason)
{
    static const char *const bad[] = {
        "Title: x\n",
        "Title: x\nNo. Variables: 99999999999\nVariables:\n",
        "Title: x\nNo. Variables: 2\nNo. Points: 1\nVariables:\n\t0\ta\tb\n",
        "Title: x\nNo. Variables: 1\nNo. Points: -5\nVariables:\n\t0\ta\tb\nBinary:\n",
    };
    name_file();
    for (size_t i = 0; i < VS_COUNT(bad); i++) {
        FILE *fp = fopen(path, "w");
        fputs(bad[i], fp);
        fclose(fp);
        out_plot p;
        const char *why = NULL;
        ck_assert_int_eq(out_read(&p, path, 0, &why), VS_EINPUT);
        ck_assert_ptr_nonnull(why);
    }
    remove(path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("out");
    TCase *t = tcase_create("out");
    tcase_add_test(t, two_plots_read_back_in_every_format);
    tcase_add_test(t, file_is_complete_up_to_its_count_after_a_kill);
    tcase_add_test(t, points_do_not_wait_for_the_next_one);
    tcase_add_test(t, full_disk_is_reported);
    tcase_add_test(t, damaged_files_are_refused_with_a_reason);
    suite_add_tcase(s, t);
    return run_suite(s);
}
