/* The run of a deck as clients of vsim/inside.h see it: streams, files, statuses, hooks. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "../text.h"
#include "vsim/inside.h"
#include "stream.h"

static char folder[] = "/tmp/vsim-run-XXXXXX", deck[64], file[64], kept[80];

typedef struct told {
    char *log, *say; /* what the streams got */
    vsim_status st;
    int quit, begun, ended, asked;
} told;

static void setup(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(deck, sizeof deck, "%s/d.sp", folder);
    snprintf(file, sizeof file, "%s/out", folder);
    snprintf(kept, sizeof kept, "%s.checkpoint", file);
}

static void teardown(void)
{
    unlink(deck);
    unlink(file);
    unlink(kept);
    rmdir(folder);
}

static void count_begin(void *user, const char *what)
{
    (void)what;
    ((told *)user)->begun++;
}

static void count_end(void *user) { ((told *)user)->ended++; }
static bool at_once(void *user) { return user != NULL; }
/* Preparing a divider asks a few times for each pass of a kernel. */
static bool in_the_run(void *user) { return ++((told *)user)->asked > 20000; }

static int stop_at;
/* Questions since the first analysis began. */
static bool at_one(void *user)
{
    told *t = user;
    return t->begun && ++t->asked >= stop_at;
}

static told run(const char *text, vsim_inside_job j)
{
    told t = {0};
    size_t n_log, n_say;
    FILE *fp = fopen(deck, "w");
    fprintf(fp, "a deck\n%s\n.end\n", text);
    fclose(fp);
    j.set.interpret = true;
    j.streams.log = stream_text(&t.log, &n_log);
    j.streams.say = stream_text(&t.say, &n_say);
    j.deck = deck;
    j.jobs = j.n_shard = 1;
    j.no_output = !j.raw;
    j.begin = count_begin;
    j.end = count_end;
    j.user = &t;
    t.st = vsim_inside_run(&j, &t.quit);
    fclose(j.streams.log);
    fclose(j.streams.say);
    return t;
}

static void forget(told *t)
{
    vs_free(t->log);
    vs_free(t->say);
}

#define DIVIDER "v1 in 0 dc 2 sin(0 1 1meg)\nr1 in out 1k\nr2 out 0 1k\n"

START_TEST(reports_and_messages_go_to_the_streams_of_the_caller)
{
    told t = run(DIVIDER ".op\n.tran 10n 1u", (vsim_inside_job){0});
    ck_assert_int_eq(t.st, VSIM_OK);
    ck_assert_ptr_nonnull(strstr(t.log, "operating point: "));
    ck_assert_ptr_nonnull(strstr(t.log, "transient: "));
    ck_assert_str_eq(t.say, "");
    ck_assert_int_eq(t.begun, 1);
    ck_assert_int_ge(t.ended, 1);
    forget(&t);
    t = run(DIVIDER ".ac lin", (vsim_inside_job){.streams.say_in_log = true});
    ck_assert_int_eq(t.st, VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(t.say, "d.sp:5:"));
    ck_assert_ptr_nonnull(strstr(t.log, "d.sp:5:"));
    forget(&t);
}
END_TEST

START_TEST(without_analysis_the_operating_point_is_computed_with_its_cards)
{
    told t = run(DIVIDER ".print op v(out)", (vsim_inside_job){0});
    ck_assert_int_eq(t.st, VSIM_OK);
    ck_assert_ptr_nonnull(strstr(t.say, "no analysis"));
    ck_assert_ptr_nonnull(strstr(t.log, "operating point"));
    forget(&t);
}
END_TEST

START_TEST(a_wrong_card_does_not_keep_the_other_analyses_from_running)
{
    told t = run(DIVIDER ".tran 10n 1u\n.op\n.four 10meg v(nix)", (vsim_inside_job){0});
    ck_assert_int_ne(t.st, VSIM_OK);
    ck_assert_ptr_nonnull(strstr(t.log, "operating point: "));
    forget(&t);
}
END_TEST

START_TEST(results_do_not_replace_the_deck)
{
    told t = run(DIVIDER ".op", (vsim_inside_job){.raw = deck});
    ck_assert_int_eq(t.st, VSIM_EINPUT);
    ck_assert_ptr_nonnull(strstr(t.say, "would be overwritten by an output"));
    forget(&t);
}
END_TEST

START_TEST(the_caller_ends_what_has_no_results_yet)
{
    told t = run(DIVIDER ".tran 10n 1", (vsim_inside_job){.stop = at_once, .raw = file});
    ck_assert_int_eq(t.st, VSIM_STOP);
    ck_assert_ptr_nonnull(strstr(t.say, "stopped before anything was computed"));
    ck_assert_int_ne(access(file, F_OK), 0);
    forget(&t);
}
END_TEST

START_TEST(the_caller_ends_a_run_in_order)
{
    told t = run(DIVIDER ".tran 10n 1", (vsim_inside_job){.stop = in_the_run, .raw = file});
    ck_assert_int_eq(t.st, VSIM_STOP);
    ck_assert_ptr_nonnull(strstr(t.log, "(not finished)"));
    ck_assert_int_eq(access(file, R_OK), 0);
    forget(&t);
}
END_TEST

START_TEST(a_block_gives_the_exit_code)
{
    told t = run(DIVIDER ".control\nop\nquit 7\n.endc", (vsim_inside_job){0});
    ck_assert_int_eq(t.st, VSIM_OK);
    ck_assert_int_eq(t.quit, 7);
    forget(&t);
}
END_TEST

START_TEST(points_of_a_family_are_told)
{
    told t = run(".param r=1k\nv1 in 0 1\nr1 in 0 {r}\n.op\n.step param r list 1k 2k",
                 (vsim_inside_job){.raw = file});
    ck_assert_int_eq(t.st, VSIM_OK);
    ck_assert_ptr_nonnull(strstr(t.log, "sweep: 2 of 2 points, 0 failed"));
    forget(&t);
}
END_TEST

#define LOW_PASS "v1 in 0 ac 1 sin(0 1 1meg)\nr1 in out 1k\nc1 out 0 100p\n"

/* Stops the run at each question in turn; those that kept something go on and end as the run that
 * was never stopped. How many did. */
static int stop_anywhere(const char *text)
{
    const vsim_inside_job j = {
        .raw = file, .format = VSIM_CSV, .checkpoint = true, .stop = at_one, .no_date = true};
    int back = 0;
    stop_at = 1 << 30;
    told t = run(text, j);
    ck_assert_int_eq(t.st, VSIM_OK);
    const int n = t.asked;
    char *whole = text_of(file);
    forget(&t);
    for (stop_at = 1; stop_at <= n; stop_at++) {
        t = run(text, j);
        ck_assert_ptr_null(strstr(t.say, "error"));
        ck_assert(t.st == VSIM_STOP || t.st == VSIM_OK);
        if (t.st == VSIM_STOP && !access(kept, F_OK)) {
            vsim_inside_job again = j;
            again.restart = kept;
            again.stop = NULL;
            forget(&t);
            t = run(text, again);
            ck_assert_str_eq(t.say, "");
            ck_assert_int_eq(t.st, VSIM_OK);
            char *now = text_of(file);
            ck_assert_str_eq(now, whole);
            vs_free(now);
            back++;
        }
        forget(&t);
    }
    vs_free(whole);
    return back;
}

START_TEST(a_run_that_is_stopped_anywhere_goes_on)
{
    ck_assert_int_gt(stop_anywhere(LOW_PASS ".op\n.tran 50n 1u\n.ac dec 2 1 1meg"), 10);
    ck_assert_int_gt(stop_anywhere(LOW_PASS ".tran 50n 1u\n.control\nrepeat 2\nrun\n"
                                            "linearize v(out)\nend\n.endc"),
                     20);
}
END_TEST

/* A run with an error in front of its last transient, stopped in that when it is asked for the
 * `first` time: what goes on says the error. */
static void error_stays(const char *text, int first)
{
    const vsim_inside_job j = {
        .raw = file, .format = VSIM_CSV, .checkpoint = true, .stop = at_one, .no_date = true};
    vsim_inside_job again = j;
    again.restart = kept;
    stop_at = first;
    told t = run(text, j);
    ck_assert_int_eq(t.st, VSIM_STOP);
    ck_assert_int_eq(access(kept, F_OK), 0);
    for (int i = 0; i < 2; i++) { /* the second goes on from the first */
        forget(&t);
        stop_at = i ? 1 << 30 : 10;
        t = run(text, again);
        ck_assert_int_eq(t.st, i ? VSIM_EINPUT : VSIM_STOP);
        ck_assert_ptr_nonnull(strstr(t.say, "d.sp:"));
        ck_assert_ptr_nonnull(strstr(t.say, "nix"));
        ck_assert_ptr_nonnull(strstr(t.say, "before the checkpoint"));
    }
    forget(&t);
}

START_TEST(a_run_that_goes_on_says_the_error_of_its_exit_code)
{
    error_stays(LOW_PASS ".tran 10n 200n\n.four 100meg v(nix)\n.tran 10n 2u", 120);
    error_stays(LOW_PASS ".control\nprint v(nix)\ntran 10n 2u\n.endc", 20);
}
END_TEST

START_TEST(what_a_stopped_block_misses_is_no_error)
{
    stop_at = 2;
    told t = run(LOW_PASS ".control\ntran 10n 2u\nlinearize v(out)\nprint v(out)[30]\n.endc",
                 (vsim_inside_job){.stop = at_one});
    ck_assert_int_eq(t.st, VSIM_STOP);
    ck_assert_ptr_null(strstr(t.say, "error"));
    ck_assert_ptr_nonnull(strstr(t.say, "warning"));
    ck_assert_ptr_nonnull(strstr(t.say, "the block was stopped"));
    forget(&t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run/run");
    TCase *tc = tcase_create("run");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, reports_and_messages_go_to_the_streams_of_the_caller);
    tcase_add_test(tc, without_analysis_the_operating_point_is_computed_with_its_cards);
    tcase_add_test(tc, a_wrong_card_does_not_keep_the_other_analyses_from_running);
    tcase_add_test(tc, results_do_not_replace_the_deck);
    tcase_add_test(tc, the_caller_ends_what_has_no_results_yet);
    tcase_add_test(tc, the_caller_ends_a_run_in_order);
    tcase_add_test(tc, a_block_gives_the_exit_code);
    tcase_add_test(tc, points_of_a_family_are_told);
    tcase_add_test(tc, a_run_that_is_stopped_anywhere_goes_on);
    tcase_add_test(tc, a_run_that_goes_on_says_the_error_of_its_exit_code);
    tcase_add_test(tc, what_a_stopped_block_misses_is_no_error);
    tcase_set_timeout(tc, TEST_PATIENCE);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
