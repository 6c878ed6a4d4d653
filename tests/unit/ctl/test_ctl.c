/* Tests of the control language, command by command: what it prints, what it changes, which message
 * a mistake gets. Files and exit codes are in tests/cli/control.py. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../suite.h"
#include "ctl.h"

static diag d;
static str_pool names;
static mdl_lib *lib;
static sim *s;
static ctl *c;
static char *log_text;
static size_t log_size;
static FILE *log_file;
static bool quit;
static int code;

static void setup(void)
{
    diag_init(&d);
    str_pool_init(&names);
    s = sim_new(&d, &names);
    ck_assert_ptr_nonnull(s);
    const mdl_opt mo = {.interpret = true};
    ck_assert_int_eq(mdl_lib_new(&lib, &d, &names, &mo), VS_OK);
    sim_opts(s)->lib = lib;
    log_file = open_memstream(&log_text, &log_size);
    quit = false;
    code = 0;
}

static void teardown(void)
{
    ctl_free(&c);
    sim_free(&s);
    mdl_lib_free(&lib);
    str_pool_fini(&names);
    diag_fini(&d);
    fclose(log_file);
    free(log_text);
}

static const char divider[] = "v1 in 0 dc 2 ac 1\nr1 in out 1k\nr2 out 0 1k\n";

static vs_status prepare(const char *deck, const char *block)
{
    char *text = malloc(strlen(deck) + strlen(block) + 64);
    const net_opt no = {0};
    sprintf(text, *block ? "deck\n%s.control\n%s\n.endc\n.end\n" : "deck\n%s%s.end\n", deck, block);
    vs_status st = sim_read_text(s, "deck.sp", text, strlen(text), &no);
    free(text);
    if (!st)
        st = sim_read_options(s);
    if (!st)
        st = sim_flatten(s);
    if (!st)
        st = sim_build(s);
    ck_assert_int_eq(st, VS_OK);
    ctl_want(s);
    const ctl_opt o = {.log = log_file, .quiet = true, .version = "0"};
    c = ctl_new(s, &o);
    ck_assert_ptr_nonnull(c);
    return ctl_check(s, false);
}

/* Runs a block on the divider; its status. */
static vs_status block(const char *commands)
{
    ck_assert_int_eq(prepare(divider, commands), VS_OK);
    const vs_status st = ctl_run(c, &quit, &code);
    fflush(log_file);
    return st;
}

/* A block that must run without messages prints this and nothing else. */
static void prints(const char *commands, const char *wanted)
{
    setup();
    const vs_status st = block(commands);
    ck_assert_msg(!st && !vec_len(d.msg), "%s: %s", commands,
                  vec_len(d.msg) ? d.msg[0].text : vs_status_text(st));
    ck_assert_msg(!strcmp(log_text, wanted), "%s\nprints\n%s\nand not\n%s", commands, log_text,
                  wanted);
    teardown();
}

static bool said(const char *text)
{
    for (size_t i = 0; i < vec_len(d.msg); i++)
        if (strstr(d.msg[i].text, text))
            return true;
    return false;
}

/* A block that fails says this in the given line of the deck. */
static void complains(const char *commands, const char *wanted, int wanted_line)
{
    setup();
    ck_assert_msg(block(commands) != VS_OK, "%s: no error", commands);
    int line = 0, col = 0;
    size_t i = 0;
    while (i < vec_len(d.msg) && !strstr(d.msg[i].text, wanted))
        i++;
    ck_assert_msg(i < vec_len(d.msg), "%s: '%s', not '%s'", commands,
                  vec_len(d.msg) ? d.msg[0].text : "nothing", wanted);
    diag_span at = d.msg[i].span;
    while (d.file[at.file].from.file >= 0) /* the text of a card, made from a command */
        at = d.file[at.file].from;
    diag_where(&d, at, &line, &col);
    ck_assert_msg(line == wanted_line, "%s: line %d", commands, line);
    teardown();
}

/* -- statements -- */

START_TEST(conditions_choose)
{
    prints("if 1 > 2\necho a\nelse\necho b\nend", "b\n");
    prints("if 2 > 1\necho a\nelse\necho b\nend", "a\n");
    prints("if 0\necho a\nend\necho c", "c\n");
    prints("if 1\nif 0\necho a\nelse\necho b\nend\nelse\necho c\nend", "b\n");
}
END_TEST

START_TEST(loops_turn_as_often_as_they_say)
{
    prints("let k = 0\nwhile k < 3\necho $&k\nlet k = k + 1\nend", "0\n1\n2\n");
    prints("let k = 7\ndowhile k < 3\necho $&k\nlet k = k + 1\nend", "7\n");
    prints("repeat 2\necho x\nend", "x\nx\n");
    prints("foreach w a b c\necho $w\nend", "a\nb\nc\n");
    prints("foreach v 1 2\nforeach w a b\necho $v$w\nend\nend", "1a\n1b\n2a\n2b\n");
    prints("repeat 0\necho x\nend\necho y", "y\n");
}
END_TEST

START_TEST(loops_are_left_and_gone_on_with)
{
    prints("foreach w a b c\necho $w\nbreak\nend", "a\n");
    prints("let k = 0\nrepeat 4\nlet k = k + 1\nif k = 2\ncontinue\nend\necho $&k\nend",
           "1\n3\n4\n");
    prints("repeat 2\nrepeat\necho in\nbreak\nend\necho out\nend", "in\nout\nin\nout\n");
}
END_TEST

START_TEST(quit_ends_the_block_with_its_code)
{
    ck_assert_int_eq(block("echo a\nif 1\nquit 7\nend\necho b"), VS_OK);
    ck_assert(quit);
    ck_assert_int_eq(code, 7);
    ck_assert_str_eq(log_text, "a\n");
}
END_TEST

/* -- variables and vectors -- */

START_TEST(variables_are_words)
{
    prints("set x = 5\necho <$x> $?x $?y", "<5> 1 0\n");
    prints("set x = ( a b c )\necho $x[2] $#x", "b 3\n");
    prints("set x = 5\nunset x\necho $?x", "0\n");
    prints("set x = 5\necho {$x}k \\$x", "5k $x\n");
    prints("strcmp r abc abd\nif $r < 0\necho less\nend", "less\n");
}
END_TEST

START_TEST(vectors_are_computed)
{
    prints("let x = 2^3 + 1\nprint x", "x = 9.000000e+00\n");
    prints("compose x values 1 2 4\nlet y = x[2] + mean(x[0,1])\nprint y", "y = 5.500000e+00\n");
    prints("compose x start=0 stop=1 step=0.25\necho $&{length(x)} $&{sum(x)}", "5 2.5\n");
    prints("define twice(a) 2*a\nlet x = twice(twice(3))\necho $&x", "12\n");
    prints("let x = 1\nunlet x\nlet x = 2\necho $&x", "2\n");
    prints("compose x values 1 2 3\nlet x[1] = 7\necho $&{x[1]} $&{x[2]}", "7 3\n");
}
END_TEST

/* -- analyses and changes -- */

START_TEST(analyses_make_plots)
{
    prints("op\nprint v(out)\necho $curplot", "v(out) = 1.000000e+00\nop1\n");
    prints("dc v1 0 4 2\nop\necho $curplot\nsetplot dc1\necho $&{v(out)[2]} $&{length(v(out))}",
           "op1\n2 3\n");
    prints("op\nalter v1 = 6\nop\nlet step = op2.v(out) - op1.v(out)\necho $&step", "2\n");
}
END_TEST

START_TEST(changes_hold_for_what_follows)
{
    prints("alter r2 = 3k\nop\nprint v(out)", "v(out) = 1.500000e+00\n");
    prints("alter @v1[dc] = 8\nop\nprint v(out)", "v(out) = 4.000000e+00\n");
    prints("alter r2 = 3k\nreset\nop\nprint v(out)", "v(out) = 1.000000e+00\n");
    prints("set temp = 85\nop\necho $temp", "85\n");
}
END_TEST

START_TEST(options_are_set_and_shown)
{
    ck_assert_int_eq(block("option reltol = 1e-5 method=gear\noption temp=50\noption"), VS_OK);
    ck_assert_double_eq(sim_option(s)->reltol, 1e-5);
    ck_assert_int_eq(sim_option(s)->method, 1);
    ck_assert_ptr_nonnull(strstr(log_text, "\nreltol = 1e-05\n"));
    ck_assert_ptr_nonnull(strstr(log_text, "\nmethod = gear\n"));
    ck_assert_ptr_nonnull(strstr(log_text, "\ntemp = 50\n"));
    ck_assert_ptr_nonnull(strstr(log_text, "\nitl1 = 100\n"));
}
END_TEST

START_TEST(measures_are_printed_and_become_vectors)
{
    ck_assert_int_eq(block("dc v1 0 4 1\nmeas dc half find v(out) at=3\nlet twice = 2*half\n"
                           "print twice"),
                     VS_OK);
    const char *name, *analysis;
    double value;
    ck_assert_ptr_nonnull(strstr(log_text, "half"));
    ck_assert_ptr_nonnull(strstr(log_text, "twice = 3.000000e+00\n"));
    ck_assert(ctl_result_at(c, 0, &name, &analysis, &value));
    ck_assert_str_eq(name, "half");
    ck_assert_str_eq(analysis, "dc");
    ck_assert_double_eq_tol(value, 1.5, 1e-9);
    ck_assert(!ctl_result_at(c, 1, &name, &analysis, &value));
}
END_TEST

/* -- mistakes -- */

START_TEST(mistakes_have_places) /* the block's first line is the sixth of the deck */
{
    complains("prnt x", "prnt", 6);
    complains("op\nprint v(nowhere)", "nowhere", 7);
    complains("op\nalter r9 = 1\nop", "r9", 7);
    complains("let x = 1 +", "", 6);
    complains("shell ls", "allow-shell", 6);
    complains("trace v(out)", "trace", 6);
    complains("tran 1u", "", 6);
    complains("set temp = -300", "absolute zero", 6);
    complains("set maxturns = many", "number of turns", 6);
    complains("set maxturns = -1", "number of turns", 6);
    complains("option method=euler", "trap or gear", 6);
    complains("echo $nothing", "nothing", 6);
}
END_TEST

START_TEST(the_next_command_runs_and_the_first_failure_counts)
{
    ck_assert_int_eq(block("prnt x\nop\nprint v(out)"), VS_EINPUT);
    ck_assert_str_eq(log_text, "v(out) = 1.000000e+00\n");
    ck_assert(said("did you mean 'print'?"));
}
END_TEST

START_TEST(blocks_without_end_are_told_before_anything_runs)
{
    ck_assert_int_eq(prepare(divider, "while 1\necho x"), VS_OK);
    ck_assert_int_eq(ctl_check(s, true), VS_EINPUT);
    ck_assert_str_eq(log_text ? log_text : "", "");
}
END_TEST

START_TEST(a_loop_of_errors_is_left)
{
    ck_assert_int_ne(block("repeat\nprnt x\nend\necho after"), VS_OK);
    ck_assert_str_eq(log_text, "after\n");
    ck_assert_int_le(d.n_error, 200);
}
END_TEST

static bool stop_now(void *user)
{
    (void)user;
    return true;
}

START_TEST(a_block_stops_when_the_client_asks)
{
    ck_assert_int_eq(prepare(divider, "while 1\nend\necho after"), VS_OK);
    sim_opts(s)->hook.stop = stop_now;
    ck_assert_int_eq(ctl_run(c, &quit, &code), VS_STOP);
    fflush(log_file);
    ck_assert_str_eq(log_text, "after\n"); /* results may be saved there */
}
END_TEST

/* -- cards -- */

START_TEST(cards_follow_their_analysis)
{
    ck_assert_int_eq(prepare("v1 in 0 2\nr1 in out 1k\nr2 out 0 1k\n.dc v1 0 4 1\n.op\n"
                             ".meas dc top max v(out)\n.meas dc sum param='top+1'\n",
                             ""),
                     VS_OK);
    ck_assert(!ctl_has_block(s));
    ck_assert_int_eq(ctl_deck(c, false), VS_OK);
    const char **list = NULL, *name, *analysis;
    double value;
    ctl_measure_names(s, &list, NULL);
    ck_assert_uint_eq(vec_len(list), 2);
    ck_assert_str_eq(list[1], "sum");
    vec_free(list);
    ck_assert(ctl_result_at(c, 1, &name, &analysis, &value));
    ck_assert_double_eq_tol(value, 3, 1e-9);
}
END_TEST

START_TEST(a_measure_that_fails_is_nan_and_the_others_count)
{
    ck_assert_int_eq(prepare("v1 in 0 2\nr1 in 0 1k\n.dc v1 0 4 1\n"
                             ".meas dc never when v(in)=9\n.meas dc top max v(in)\n",
                             ""),
                     VS_OK);
    (void)!ctl_deck(c, false);
    const char *name, *analysis;
    double value;
    ck_assert(ctl_result_at(c, 0, &name, &analysis, &value));
    ck_assert(isnan(value));
    ck_assert(ctl_result_at(c, 1, &name, &analysis, &value));
    ck_assert_double_eq_tol(value, 4, 1e-9);
}
END_TEST

START_TEST(the_form_of_cards_is_checked_before_the_run)
{
    ck_assert_int_eq(prepare("v1 in 0 2\nr1 in 0 1k\n.dc v1 0 4 1\n.meas dc top maxx v(in)\n", ""),
                     VS_EINPUT);
    ck_assert(said("maxx"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ctl");
    TCase *plain = tcase_create("whole"), *tc = tcase_create("parts");
    tcase_add_test(plain, conditions_choose);
    tcase_add_test(plain, loops_turn_as_often_as_they_say);
    tcase_add_test(plain, loops_are_left_and_gone_on_with);
    tcase_add_test(plain, variables_are_words);
    tcase_add_test(plain, vectors_are_computed);
    tcase_add_test(plain, analyses_make_plots);
    tcase_add_test(plain, changes_hold_for_what_follows);
    tcase_add_test(plain, mistakes_have_places);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, quit_ends_the_block_with_its_code);
    tcase_add_test(tc, options_are_set_and_shown);
    tcase_add_test(tc, measures_are_printed_and_become_vectors);
    tcase_add_test(tc, the_next_command_runs_and_the_first_failure_counts);
    tcase_add_test(tc, blocks_without_end_are_told_before_anything_runs);
    tcase_add_test(tc, a_loop_of_errors_is_left);
    tcase_add_test(tc, a_block_stops_when_the_client_asks);
    tcase_add_test(tc, cards_follow_their_analysis);
    tcase_add_test(tc, a_measure_that_fails_is_nan_and_the_others_count);
    tcase_add_test(tc, the_form_of_cards_is_checked_before_the_run);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
