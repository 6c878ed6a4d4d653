/* The run of a deck as clients of vsim/inside.h see it: streams, files, statuses, hooks. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "vsim/inside.h"
#include "stream.h"

static char folder[] = "/tmp/vsim-run-XXXXXX", deck[64], file[64];

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
}

static void teardown(void)
{
    unlink(deck);
    unlink(file);
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
    told t = run(DIVIDER ".op\n.tran 10n 1u\n.print op v(nix)", (vsim_inside_job){0});
    ck_assert_int_ne(t.st, VSIM_OK);
    ck_assert_ptr_nonnull(strstr(t.log, "transient: "));
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
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
