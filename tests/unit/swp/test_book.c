/* Tests of swp_book.c and swp_stat.c: files in order, a journal cut anywhere, statistics of known
 * samples. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "../text.h"
#include "swp_priv.h"
#include "stream.h"

enum { POINTS = 4, SPOOLED = 100 };

static char folder[] = "/tmp/vsim-book-XXXXXX";
static char result[80], table[80], journal[100];
static char *said; /* by the log */
static size_t n_said;

static void begin(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(result, sizeof result, "%s/r.csv", folder);
    snprintf(table, sizeof table, "%s/m.csv", folder);
    snprintf(journal, sizeof journal, "%s.journal", result);
}

static void end(void)
{
    unlink(result);
    unlink(table);
    unlink(journal);
    rmdir(folder);
}

/* A family of one step and one measure, limits 0 and 10. */
static void book_init(swp_book *b, int64_t mc)
{
    *b = (swp_book){.path = result,
                    .measures = table,
                    .csv = true,
                    .quiet = true,
                    .table = mc > 0,
                    .format = OUT_CSV,
                    .total = POINTS,
                    .n_mine = POINTS,
                    .mc = mc,
                    .n_shard = 1,
                    .id = 7,
                    .fd = -1,
                    .mfd = -1,
                    .lfd = -1,
                    .jfd = -1};
    vec_push(b->step, mc ? "sample" : "r");
    vec_push(b->meas, "y");
    vec_push(b->min, 0.0);
    vec_push(b->max, 10.0);
    b->log = stream_text(&said, &n_said);
}

static void book_fini(swp_book *b, bool finished)
{
    ck_assert_int_eq(swp_book_close(b, finished), VS_OK);
    fclose(b->log);
    vec_free(b->step);
    vec_free(b->meas);
    vec_free(b->min);
    vec_free(b->max);
    arena_fini(&b->mem);
}

/* Point k with the measure y; its results are a table of its own with the header that all have. */
static void add_point(swp_book *b, int k, double y, vs_status st)
{
    char text[SPOOLED], label[20], spool[] = "/tmp/vsim-spool-XXXXXX";
    const int n = snprintf(text, sizeof text, "time,v(a)\n0,%d\n1,%d\n\n", k, k + 1),
              fd = mkstemp(spool);
    unlink(spool);
    ck_assert_int_eq(write(fd, text, (size_t)n), n);
    swp_rec r = {.point = k, .status = st, .n_bytes = n, .value = &y};
    snprintf(label, sizeof label, "%d", k + 1);
    ck_assert_int_eq(swp_book_add(b, &r, label, fd, 0, NULL), VS_OK);
    close(fd);
}

/* failing: the point that does not converge, -1: none */
static void run_from(int64_t first, int64_t stop, bool resume, int64_t failing)
{
    swp_book b;
    int64_t next;
    book_init(&b, 0);
    ck_assert_int_eq(swp_book_open(&b, resume, &next), VS_OK);
    ck_assert_int_eq(next, first);
    for (int64_t k = next; k < stop; k++)
        add_point(&b, (int)k, 0.5 * (double)k, k == failing ? VS_NOCONV : VS_OK);
    book_fini(&b, stop == POINTS);
    vs_free(said);
}

START_TEST(points_are_one_table_and_a_failed_one_is_named)
{
    run_from(0, POINTS, false, 2);
    char *r = text_of(result), *m = text_of(table);
    ck_assert_str_eq(m, "point,r,y,status\n1,1,0,done\n2,2,0.5,done\n3,3,1,failed\n4,4,1.5,done\n");
    const char *header = strstr(r, "time,v(a)");
    ck_assert_ptr_nonnull(header);
    ck_assert_ptr_null(strstr(header + 1, "time,v(a)"));
    ck_assert_int_ne(access(journal, F_OK), 0); /* all is done */
    vs_free(r);
    vs_free(m);
}
END_TEST

/* Whatever a kill left of the journal: a run that resumes ends with the files of one that was not
 * killed. */
START_TEST(a_journal_that_is_cut_anywhere_resumes_to_the_same_files)
{
    run_from(0, POINTS, false, -1);
    char *whole = text_of(result), *measures = text_of(table);
    run_from(0, 3, false, -1);
    char *kept = text_of(journal);
    const size_t size = strlen(kept);
    const char *points_line = strstr(kept, "points\t#");
    const size_t head = (size_t)(strchr(points_line, '\n') + 1 - kept);
    for (size_t n = size + 1; n-- > 0;) {
        run_from(0, 3, false, -1);
        ck_assert_int_eq(truncate(journal, (off_t)n), 0);
        swp_journal j;
        arena mem = {0};
        int64_t points = 0;
        ck_assert_int_eq(swp_journal_open(&j, journal, &mem), n >= head);
        while (n >= head && swp_journal_next(&j, &mem)) {
            ck_assert_int_eq(j.rec.point, points);
            ck_assert_double_eq(j.rec.value[0], 0.5 * (double)points);
            ck_assert_int_eq(j.rec.status, VS_OK);
            points++;
        }
        if (n >= head) {
            ck_assert_int_le((int64_t)j.good, (int64_t)n);
            swp_journal_close(&j);
        }
        arena_fini(&mem);
        ck_assert_int_eq(points == 3, n == size);
        run_from(points, POINTS, true, -1);
        char *r = text_of(result), *m = text_of(table);
        ck_assert_str_eq(r, whole);
        ck_assert_str_eq(m, measures);
        vs_free(r);
        vs_free(m);
    }
    vs_free(kept);
    vs_free(whole);
    vs_free(measures);
}
END_TEST

/* Byte `at` of the file: another one, or the file ends there. */
static void damage(const char *path, off_t at, bool cut)
{
    char c;
    const int fd = open(path, O_RDWR);
    ck_assert_int_eq(pread(fd, &c, 1, at), 1);
    c ^= 1;
    ck_assert_int_eq(cut ? ftruncate(fd, at) : pwrite(fd, &c, 1, at) - 1, 0);
    close(fd);
}

/* Goes on from where the damaged files allow: to the files of an undamaged run. */
static int64_t mend(const char *whole, const char *measures)
{
    swp_book b;
    int64_t next;
    book_init(&b, 0);
    ck_assert_msg(swp_book_open(&b, true, &next) == VS_OK, "%s", b.why);
    for (int64_t k = next; k < POINTS; k++)
        add_point(&b, (int)k, 0.5 * (double)k, VS_OK);
    book_fini(&b, true);
    vs_free(said);
    char *r = text_of(result), *m = text_of(table);
    ck_assert_str_eq(r, whole);
    ck_assert_str_eq(m, measures);
    vs_free(r);
    vs_free(m);
    return next;
}

START_TEST(whatever_is_damaged_is_seen_and_computed_again)
{
    run_from(0, POINTS, false, -1);
    char *whole = text_of(result), *measures = text_of(table);
    const off_t version = (off_t)strlen("vsim-sweep 2");
    const char *const file[] = {journal, result, table};
    for (size_t f = 0; f < VS_COUNT(file); f++)
        for (off_t at = f ? 0 : version;; at++) {
            struct stat sb;
            run_from(0, 3, false, -1);
            ck_assert_int_eq(stat(file[f], &sb), 0);
            if (at >= sb.st_size)
                break;
            damage(file[f], at, false);
            ck_assert_int_lt(mend(whole, measures), 3);
            run_from(0, 3, false, -1);
            damage(file[f], at, true);
            ck_assert_int_lt(mend(whole, measures), 3);
        }
    vs_free(whole);
    vs_free(measures);
}
END_TEST

START_TEST(lines_of_a_journal_that_are_missing_or_out_of_order_are_seen)
{
    run_from(0, POINTS, false, -1);
    char *whole = text_of(result), *measures = text_of(table), command[400];
    static const char *const edit[] = {"/^p 0 /d", "/^p 1 /d", "/^p 2 /d",
                                       "/^h /d",   "/^step/d", "/^p 0 /{h;d};/^p 1 /G",
                                       "/^p 1 /p"};
    for (size_t i = 0; i < VS_COUNT(edit); i++) {
        run_from(0, 3, false, -1);
        snprintf(command, sizeof command, "sed -i '%s' %s", edit[i], journal);
        ck_assert_int_eq(system(command), 0);
        ck_assert_int_lt(mend(whole, measures), 3);
    }
    vs_free(whole);
    vs_free(measures);
}
END_TEST

START_TEST(a_file_that_is_no_journal_is_not_overwritten)
{
    swp_book b;
    int64_t next;
    for (int again = 0; again < 2; again++) {
        FILE *f = fopen(journal, "w");
        fputs("my diary", f);
        fclose(f);
        book_init(&b, 0);
        ck_assert_int_eq(swp_book_open(&b, again, &next), VS_EINPUT);
        ck_assert_ptr_nonnull(strstr(b.why, "no journal of a sweep"));
        book_fini(&b, false);
        vs_free(said);
        char *text = text_of(journal);
        ck_assert_str_eq(text, "my diary");
        vs_free(text);
    }
}
END_TEST

static void refused(swp_book *b, const char *why)
{
    int64_t next;
    ck_assert_int_eq(swp_book_open(b, true, &next), VS_EINPUT);
    ck_assert_msg(strstr(b->why, why) != NULL, "%s", b->why);
    book_fini(b, false);
    vs_free(said);
}

START_TEST(a_journal_of_another_sweep_or_version_is_refused)
{
    swp_book b;
    run_from(0, 3, false, -1);
    book_init(&b, 0);
    b.id = 8;
    refused(&b, "belongs to another sweep");
    book_init(&b, 0);
    b.total = 5;
    refused(&b, "belongs to another sweep");
    FILE *f = fopen(journal, "w");
    fputs("vsim-sweep 1\n", f);
    fclose(f);
    book_init(&b, 0);
    refused(&b, "another version");
}
END_TEST

/* 1, 2, 3 and 12: mean 4.5, sigma sqrt(77/3) = 5.066228, median 2.5, lower quartile 1.75; 3 of 4
 * within 0 .. 10. */
START_TEST(statistics_of_four_samples)
{
    static const double y[POINTS] = {12, 3, 1, 2};
    swp_book b;
    int64_t next;
    book_init(&b, POINTS);
    ck_assert_int_eq(swp_book_open(&b, false, &next), VS_OK);
    for (int k = 0; k < POINTS; k++)
        add_point(&b, k, y[k], VS_OK);
    book_fini(&b, true);
    static const char *const part[] = {
        "y: 4 samples, 0 failed, 1 outside [0, 10]", "mean 4.5, sigma 5.066228, min 1, max 12",
        "25%: 1.75, 50%: 2.5",
        "lowest: 1 (sample 3) 2 (sample 4) 3 (sample 2); highest: 12 (sample 1)",
        "yield: 3 of 4, 75 %"};
    for (size_t i = 0; i < VS_COUNT(part); i++)
        ck_assert_msg(strstr(said, part[i]) != NULL, "%s is not in\n%s", part[i], said);
    vs_free(said);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("book");
    TCase *t = tcase_create("book");
    tcase_add_checked_fixture(t, begin, end);
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_test(t, points_are_one_table_and_a_failed_one_is_named);
    tcase_add_test(t, a_journal_that_is_cut_anywhere_resumes_to_the_same_files);
    tcase_add_test(t, whatever_is_damaged_is_seen_and_computed_again);
    tcase_add_test(t, lines_of_a_journal_that_are_missing_or_out_of_order_are_seen);
    tcase_add_test(t, a_file_that_is_no_journal_is_not_overwritten);
    tcase_add_test(t, a_journal_of_another_sweep_or_version_is_refused);
    tcase_add_test(t, statistics_of_four_samples);
    suite_add_tcase(s, t);
    return run_suite(s);
}
