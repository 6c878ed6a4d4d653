/* Missing memory at any place ends a run of the command with a message and VSIM_ENOMEM; what was
 * written to a result file before can be read. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "out.h"
#include "stream.h"
#include "vsim/inside.h"

enum { PLACES = 300 };

static char folder[] = "/tmp/vsim-mem-XXXXXX", deck[64], file[64], copy[64];

static void setup(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(deck, sizeof deck, "%s/d.sp", folder);
    snprintf(file, sizeof file, "%s/out", folder);
    snprintf(copy, sizeof copy, "%s/copy", folder);
}

static void teardown(void)
{
    unlink(deck);
    unlink(file);
    unlink(copy);
    rmdir(folder);
}

static vsim_status run(const char *text, vsim_inside_job j, char **say)
{
    char *log;
    size_t n;
    int quit;
    FILE *fp = fopen(deck, "w");
    fprintf(fp, "a deck\n%s\n.end\n", text);
    fclose(fp);
    j.set.interpret = !j.set.cpu; /* compiled kernels: where a case names a processor */
    j.streams.log = stream_text(&log, NULL);
    j.streams.say = stream_text(say, &n);
    j.deck = deck;
    j.jobs = j.n_shard = 1;
    j.raw = file;
    const vsim_status st = vsim_inside_run(&j, &quit);
    fclose(j.streams.log);
    fclose(j.streams.say);
    vs_free(log);
    return st;
}

/* From some allocation on all fail: at the last of them the run still ends as it should. Returns
 * the number of places. */
static int at_places_of(const char *text, vsim_inside_job j, int places)
{
    char *say;
    int n = 0;
    int64_t step = 1;
    vsim_status st = VSIM_ENOMEM;
    for (int64_t k = 1; st == VSIM_ENOMEM; k += step, n++) {
        j.fail_at = k;
        st = run(text, j, &say);
        if (st == VSIM_ENOMEM)
            ck_assert_msg(strstr(say, "error: out of memory"), "allocation %lld: %s", (long long)k,
                          say);
        if (st != VSIM_ENOMEM)
            ck_assert_msg(st == VSIM_OK, "allocation %lld: %s", (long long)k, say);
        vs_free(say);
        step = n < places / 3 ? 1 : 1 + k / (places / 4);
    }
    return n;
}

static int at_places(const char *text) { return at_places_of(text, (vsim_inside_job){0}, PLACES); }

#define LOAD                                                                     \
    "v1 in 0 dc 1 ac 1 sin(0 1 1meg)\nr1 in out {r}\nc1 out 0 1n\nd1 out 0 dx\n" \
    ".model dx d is=1e-15\n.param r=1k\n"

START_TEST(analyses_end_with_a_message)
{
    ck_assert_int_gt(at_places(LOAD ".op\n.tran 10n 1u\n.ac dec 2 1 1meg\n.meas tran m max v(out)"),
                     PLACES / 2);
}
END_TEST

START_TEST(blocks_end_with_a_message)
{
    char text[600];
    snprintf(text, sizeof text,
             LOAD ".control\nop\ntran 10n 1u\nlet y = 2*v(out)\nmeas tran m max y\nalter r1 = 2k\n"
                  "foreach k 1 2\nop\nend\nwrite %s v(out)\n.endc",
             copy);
    ck_assert_int_gt(at_places(text), PLACES / 2);
}
END_TEST

START_TEST(sweeps_end_with_a_message)
{
    ck_assert_int_gt(
        at_places(LOAD ".tran 50n 1u\n.step param r list 1k 2k 3k\n.meas tran m max v(out)"),
        PLACES / 2);
}
END_TEST

START_TEST(eyes_end_with_a_message)
{
    ck_assert_int_gt(at_places(LOAD ".tran 20n 3u\n.eye v(in) points=5\n.meas eye h height v(in)"),
                     PLACES / 2);
}
END_TEST

/* With machine code: by two threads, without a cache. */
START_TEST(compiling_ends_with_a_message)
{
    vsim_inside_job j = {.set.cpu = "x86-64", .set.lanes = 1, .set.threads = 2};
    ck_assert_int_gt(at_places_of(LOAD ".op", j, 60), 30);
}
END_TEST

/* A spectrum needs all points at once: memory grows with the transient. */
START_TEST(points_before_are_in_the_file)
{
    char *say;
    vsim_inside_job j = {.set.memory = 6 << 20};
    const vsim_status st = run(LOAD ".tran 1n 10m\n.fft v(out)", j, &say);
    ck_assert_int_eq(st, VSIM_ENOMEM);
    ck_assert_ptr_nonnull(strstr(say, "error: out of memory"));
    vs_free(say);
    out_plot p;
    const char *why;
    ck_assert_int_eq(out_read(&p, file, 0, &why), VS_OK);
    ck_assert_int_gt(p.n_point, 1000);
    out_plot_free(&p);
}
END_TEST

/* A block does not go on, and writes no result that is cut off. */
START_TEST(a_block_does_not_go_on)
{
    char *say, text[600];
    vsim_inside_job j = {.set.memory = 6 << 20};
    snprintf(text, sizeof text, LOAD ".control\ntran 1n 10m\nwrite %s v(out)\n.endc", copy);
    ck_assert_int_eq(run(text, j, &say), VSIM_ENOMEM);
    ck_assert_ptr_nonnull(strstr(say, "error: out of memory"));
    ck_assert_int_ne(access(copy, F_OK), 0);
    vs_free(say);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run/memory");
    TCase *tc = tcase_create("memory");
    tcase_set_timeout(tc, TEST_PATIENCE);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, analyses_end_with_a_message);
    tcase_add_test(tc, blocks_end_with_a_message);
    tcase_add_test(tc, sweeps_end_with_a_message);
    tcase_add_test(tc, eyes_end_with_a_message);
    tcase_add_test(tc, compiling_ends_with_a_message);
    tcase_add_test(tc, points_before_are_in_the_file);
    tcase_add_test(tc, a_block_does_not_go_on);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
