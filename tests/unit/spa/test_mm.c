/* Tests of spa_mm.c: every format, and messages with their place for what is wrong. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "spa.h"
#include "stream.h"

static arena mem;
static diag d;

static void setup(void)
{
    arena_init(&mem);
    diag_init(&d);
}

static void teardown(void)
{
    arena_fini(&mem);
    diag_fini(&d);
}

static vs_status read_text(const char *text, csc *a, spa_mm *m)
{
    char path[] = "/tmp/test_mm_XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const vs_status st = spa_mm_read(a, m, &d, path, &mem);
    unlink(path);
    return st;
}

/* Value at row i, column j from 1; NAN: no entry. */
static double at(const csc *a, int i, int j)
{
    for (int32_t k = a->colptr[j - 1]; k < a->colptr[j]; k++)
        if (a->row[k] == i - 1)
            return a->val ? a->val[k] : 1;
    return NAN;
}

START_TEST(all_formats_are_read)
{
    static const struct {
        const char *text;
        int nnz;
        double v12, v21;
    } c[] = {
        {"%%MatrixMarket matrix coordinate real general\n% c\n\n2 2 3\n1 1 1\n2 1 -3.5e0\n2 2 4\n",
         3, NAN, -3.5},
        {"%%matrixmarket MATRIX Coordinate Integer Symmetric\r\n2 2 2\r\n1 1 1\r\n2 1 7\r\n", 3, 7,
         7},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n", 2, -7, 7},
        {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 3 -4\n", 3, 5, 5},
        {"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 0 2\n", 1, 2, NAN},
        {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", 2, 1, 1},
        {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n0\n4\n", 3, NAN, 2},
        {"%%MatrixMarket matrix array real general\n2 2\n1 2 3 4\n", 4, 3, 2},
        {"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n", 4, 2, 2},
        {"%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n", 2, -2, 2},
        {"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n1 2 2\n2 1 4\n", 2, 3, 4},
    };
    for (size_t i = 0; i < VS_COUNT(c); i++) {
        csc a = {0};
        spa_mm m;
        ck_assert_int_eq(read_text(c[i].text, &a, &m), VS_OK);
        ck_assert_msg(csc_nnz(&a) == c[i].nnz, "case %zu: %d entries", i, csc_nnz(&a));
        const double v12 = at(&a, 1, 2), v21 = at(&a, 2, 1);
        ck_assert_msg((isnan(v12) && isnan(c[i].v12)) || v12 == c[i].v12, "case %zu: (1,2) %g", i,
                      v12);
        ck_assert_msg((isnan(v21) && isnan(c[i].v21)) || v21 == c[i].v21, "case %zu: (2,1) %g", i,
                      v21);
        ck_assert_int_eq(m.n_double, i == 10);
    }
}
END_TEST

START_TEST(wrong_files_give_the_place)
{
#define HEAD "%%MatrixMarket matrix coordinate real general\n"
    static const struct {
        const char *text, *message;
        int line, col;
    } c[] = {
        {"", "the banner is missing", 1, 1},
        {"MatrixMarket matrix\n", "unknown banner", 1, 1},
        {"%%MatrixMarket matrix coordnate real general\n", "unknown format 'coordnate'", 1, 23},
        {"%%MatrixMarket matrix coordinate real\n", "the symmetry is missing", 1, 38},
        {"%%MatrixMarket matrix coordinate real general x\n", "the first line ends", 1, 47},
        {"%%MatrixMarket matrix array pattern general\n2 2\n", "a pattern has no array format", 1,
         1},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "only a complex matrix", 1, 1},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "a pattern has no sign", 1,
         1},
        {HEAD, "the file ends where the number of rows", 1, 46},
        {HEAD "2 2 -1\n", "expected the number of entries", 2, 5},
        {HEAD "0 0 0\n", "must lie between", 2, 1},
        {HEAD "2 3 1\n1 1 1\n", "must be square", 2, 1},
        {HEAD "2 2 99999999999999999999\n", "must lie between", 2, 5},
        {HEAD "900000000 900000000 900000000\n1 1 1\n", "the file is too short", 2, 1},
        {HEAD "2 2 2\n1 1 1\n\n", "the file ends after 1 of 2 entries", 4, 1},
        {HEAD "2 2 1\n3 1 1\n", "a row must lie between 1 and 2", 3, 1},
        {HEAD "2 2 1\n1 0 1\n", "a column must lie between 1 and 2", 3, 3},
        {HEAD "2 2 1\n1 1 x\n", "expected a value", 3, 5},
        {HEAD "2 2 1\n1 1\n", "expected a value", 3, 4},
        {HEAD "2 2 1\n1 1 nan\n", "not a finite number", 3, 5},
        {HEAD "2 2 1\n1 1 1 2\n", "more than one entry on a line", 3, 7},
        {HEAD "2 2 1\n1 1 1\n2 2 1\n", "more entries than the 1", 4, 1},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n",
         "on and below the diagonal", 3, 1},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n",
         "below the diagonal", 3, 1},
        {"%%MatrixMarket matrix array real general\n3 3\n1\n2\n3 4 5 6 7 8\n",
         "the file ends where a value", 5, 12},
        {"%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "the file is too short",
         2, 1},
    };
    for (size_t i = 0; i < VS_COUNT(c); i++) {
        csc a = {0};
        spa_mm m;
        teardown();
        setup();
        ck_assert_msg(read_text(c[i].text, &a, &m) == VS_EINPUT, "case %zu was read", i);
        int line, col;
        diag_where(&d, d.msg[0].span, &line, &col);
        ck_assert_msg(strstr(d.msg[0].text, c[i].message), "case %zu: %s", i, d.msg[0].text);
        ck_assert_msg(line == c[i].line && col == c[i].col, "case %zu: at %d:%d: %s", i, line, col,
                      d.msg[0].text);
    }
}
END_TEST

START_TEST(what_is_written_is_read_again)
{
    double v[] = {1.0 / 3, -2e-300, 3};
    int32_t colptr[] = {0, 2, 3}, row[] = {0, 1, 1};
    const csc a = {2, colptr, row, v};
    const char *name[] = {"x1.out", "v1#branch"};
    char *text = NULL;
    size_t len = 0;
    FILE *fp = stream_text(&text, &len);
    spa_mm_write(&a, "title", name, fp);
    fclose(fp);
    ck_assert_ptr_nonnull(strstr(text, "% 2 v1#branch\n"));
    csc b = {0};
    spa_mm m;
    ck_assert_int_eq(read_text(text, &b, &m), VS_OK);
    ck_assert_int_eq(csc_nnz(&b), 3);
    ck_assert(at(&b, 1, 1) == 1.0 / 3 && at(&b, 2, 1) == -2e-300 && at(&b, 2, 2) == 3);
    vs_free(text);
}
END_TEST

START_TEST(the_first_line_tells)
{
    char path[] = "/tmp/test_mm_XXXXXX";
    const int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, "%%MATRIXmarket x", 16), 16);
    close(fd);
    ck_assert(spa_mm_is(path));
    ck_assert_int_eq(truncate(path, 5), 0);
    ck_assert(!spa_mm_is(path));
    unlink(path);
    ck_assert(!spa_mm_is(path));
    ck_assert(!spa_mm_is("/tmp"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mm");
    TCase *t = tcase_create("mm");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, all_formats_are_read);
    tcase_add_test(t, wrong_files_give_the_place);
    tcase_add_test(t, what_is_written_is_read_again);
    tcase_add_test(t, the_first_line_tells);
    suite_add_tcase(s, t);
    return run_suite(s);
}
