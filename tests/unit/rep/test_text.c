#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "heap.h"
#include "rep.h"
#include "stream.h"

START_TEST(numbers_have_three_digits_and_a_prefix)
{
    static const struct {
        double x;
        const char *text;
    } t[] = {{0, "0.00 s"},     {1, "1.00 s"},      {12.34, "12.3 s"},    {999, "999 s"},
             {1530, "1.53 ks"}, {2.6e7, "26.0 Ms"}, {4.7e-12, "4.70 ps"}, {-2e-3, "-2.00 ms"}};
    char buf[16];
    for (size_t i = 0; i < VS_COUNT(t); i++)
        ck_assert_str_eq(rep_si(buf, t[i].x, "s"), t[i].text);
}
END_TEST

START_TEST(strings_of_json_are_quoted)
{
    char *text = NULL;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    rep_json_string(fp, "a\"b\\c\n\x7f");
    fclose(fp);
    ck_assert_str_eq(text, "\"a\\\"b\\\\c\\u000a\\u007f\"");
    vs_free(text);
}
END_TEST

static vs_status create_files(void *arg)
{
    const char *path = arg;
    diag d;
    diag_init(&d);
    ck_assert(files_input(path));
    ck_assert_ptr_null(rep_create(&d, path, FILES_PICTURE));
    ck_assert_int_eq(d.n_error, 1);
    ck_assert_ptr_nonnull(strstr(d.msg[0].text, "would be overwritten"));
    ck_assert_ptr_null(rep_create(&d, "/nowhere/x", FILES_PICTURE));
    ck_assert_int_eq(d.n_error, 2);
    files_forget();
    FILE *fp = rep_create(&d, path, FILES_PICTURE);
    ck_assert_ptr_nonnull(fp);
    ck_assert_int_eq(rep_close(&d, fp, path), VS_OK);
    fp = rep_create(&d, "/dev/full", FILES_PICTURE);
    if (fp) {
        fputs("lost", fp);
        ck_assert_int_eq(rep_close(&d, fp, "/dev/full"), VS_EIO);
        ck_assert_int_eq(d.n_error, 3);
    }
    diag_fini(&d);
    return VS_OK;
}

START_TEST(the_input_is_not_overwritten)
{
    char path[] = "/tmp/vsim-rep-XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    heap *h = heap_new(0);
    ck_assert_int_eq(guard_run(h, create_files, path), VS_OK);
    heap_free(&h);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rep/text");
    TCase *tc = tcase_create("text");
    tcase_add_test(tc, numbers_have_three_digits_and_a_prefix);
    tcase_add_test(tc, strings_of_json_are_quoted);
    tcase_add_test(tc, the_input_is_not_overwritten);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
