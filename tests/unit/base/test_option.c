/* Tests of base/option.c: the list against its documentation, defaults, checks, texts. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "../text.h"
#include "option.h"

static char *read_document(void)
{
    char path[4096];
    const char *root = getenv("VSIM_SOURCE_ROOT");
    ck_assert_msg(root, "VSIM_SOURCE_ROOT is not set");
    snprintf(path, sizeof path, "%s/docs/options.md", root);
    char *text = text_of(path);
    ck_assert_uint_gt(strlen(text), 0);
    return text;
}

static void has_line(const char *document, const char *line)
{
    const char *at = strstr(document, line);
    ck_assert_msg(at && (at == document || at[-1] == '\n') && at[strlen(line)] == '\n',
                  "docs/options.md does not have the row\n%s", line);
}

START_TEST(the_document_has_a_row_for_each_option)
{
    char *document = read_document();
    option_set o;
    option_default(&o);
    int n_row = 0;
    for (option_id i = 0; i < OPTION_N; i++) {
        char line[400], buf[32];
        snprintf(line, sizeof line, "| `%s` | %s | %s | %s |", option_table[i].name,
                 option_text(&o, i, buf, sizeof buf), option_wanted(option_table[i].range),
                 option_table[i].text);
        has_line(document, line);
    }
    for (const char *p = document; (p = strstr(p, "\n| `")); p++)
        n_row++;
    ck_assert_int_eq(n_row, OPTION_N);
    vs_free(document);
}
END_TEST

/* Words between `from` and the next empty line, each in backquotes, are those of a list. */
static void check_names(const char *document, const char *from, option_class wanted)
{
    const char *const *name, *at = strstr(document, from);
    option_id id;
    ck_assert_msg(at, "docs/options.md does not say '%s'", from);
    const char *blank = strstr(at, "\n\n"), *end = blank ? blank : at + strlen(at);
    size_t n = option_names(&name), n_listed = 0, n_written = 0;
    for (size_t i = 0; i < n; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "`%s`", name[i]);
        const char *found = strstr(at, quoted);
        const bool listed = option_find(name[i], &id) == wanted;
        ck_assert_msg((found && found < end) == listed, "docs/options.md, %s: %s", from, name[i]);
        n_listed += listed;
    }
    for (const char *p = at; p < end; p++)
        n_written += *p == '`';
    ck_assert_uint_eq(n_written, 2 * n_listed);
}

START_TEST(the_document_has_the_options_without_effect)
{
    char *document = read_document();
    check_names(document, "No warning:", OPTION_SILENT);
    check_names(document, "A warning says so:", OPTION_IGNORED);
    vs_free(document);
}
END_TEST

START_TEST(defaults_pass_their_own_checks)
{
    option_set o, again;
    option_default(&o);
    option_default(&again);
    for (option_id i = 0; i < OPTION_N; i++) {
        char buf[32];
        const char *text = option_text(&o, i, buf, sizeof buf);
        ck_assert(!o.given[i]);
        ck_assert_msg(!option_set_word(&again, i, text, atof(text)), "%s", option_table[i].name);
        ck_assert(again.given[i]);
        ck_assert_double_eq(option_number(&again, i), option_number(&o, i));
        ck_assert_double_eq(option_number(&o, i), option_table[i].dflt);
    }
}
END_TEST

START_TEST(names_are_in_one_list_once)
{
    const char *const *name;
    const size_t n = option_names(&name);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(name[i], name[j]);
    option_id id;
    ck_assert_int_eq(option_find("reltol", &id), OPTION_SET);
    ck_assert_int_eq(id, OPTION_reltol);
    ck_assert_int_eq(option_find("acct", &id), OPTION_SILENT);
    ck_assert_int_eq(option_find("pivtol", &id), OPTION_IGNORED);
    ck_assert_int_eq(option_find("reltoll", &id), OPTION_UNKNOWN);
}
END_TEST

START_TEST(values_outside_of_the_range_set_nothing)
{
    static const struct {
        option_id id;
        const char *text;
        double value;
        option_range range;
    } t[] = {
        {OPTION_reltol, "0", 0, OPTION_IS_POSITIVE},
        {OPTION_reltol, "x", NAN, OPTION_IS_POSITIVE},
        {OPTION_gmin, "-1", -1, OPTION_IS_NOT_NEGATIVE},
        {OPTION_itl1, "0.5", 0.5, OPTION_IS_COUNT},
        {OPTION_itl1, "0", 0, OPTION_IS_COUNT},
        {OPTION_itl4, "2e9", 2e9, OPTION_IS_COUNT},
        {OPTION_threads, "1025", 1025, OPTION_IS_THREADS},
        {OPTION_temp, "-273.15", -273.15, OPTION_IS_CELSIUS},
        {OPTION_seed, "-1", -1, OPTION_IS_SEED},
        {OPTION_rcreduce, "1", 1, OPTION_IS_FRACTION},
        {OPTION_rcreduce, "-0.1", -0.1, OPTION_IS_FRACTION},
        {OPTION_rcreduce, "x", NAN, OPTION_IS_FRACTION},
        {OPTION_rcfreq, "0", 0, OPTION_IS_POSITIVE},
        {OPTION_method, "euler", NAN, OPTION_IS_METHOD},
        {OPTION_lu, "qr", NAN, OPTION_IS_LU},
        {OPTION_bypass, "2", 2, OPTION_IS_BYPASS},
        {OPTION_stepstart, "last", NAN, OPTION_IS_STEPSTART},
        {OPTION_interp, "x", NAN, OPTION_IS_SWITCH},
    };
    option_set o, before;
    memset(&o, 0, sizeof o);
    option_default(&o);
    before = o;
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        const char *wanted = option_set_word(&o, t[i].id, t[i].text, t[i].value);
        ck_assert_msg(wanted, "%s=%s", option_table[t[i].id].name, t[i].text);
        ck_assert_str_eq(wanted, option_wanted(t[i].range));
        ck_assert_double_eq(option_number(&o, t[i].id), option_number(&before, t[i].id));
        ck_assert(!o.given[t[i].id]);
    }
}
END_TEST

START_TEST(words_are_numbers_in_their_order)
{
    option_set o;
    char buf[32];
    option_default(&o);
    ck_assert_ptr_null(option_set_word(&o, OPTION_method, "gear", NAN));
    ck_assert_int_eq(o.method, 1);
    ck_assert_str_eq(option_text(&o, OPTION_method, buf, sizeof buf), "gear");
    ck_assert_ptr_null(option_set_word(&o, OPTION_method, "trapezoidal", NAN));
    ck_assert_int_eq(o.method, 0);
    ck_assert_ptr_null(option_set_word(&o, OPTION_bypass, "1.0", 1));
    ck_assert_int_eq(o.bypass, 2);
    ck_assert_ptr_null(option_set_word(&o, OPTION_lu, "dense", NAN));
    ck_assert_int_eq(o.lu, 4);
    ck_assert_ptr_null(option_set_word(&o, OPTION_stepstart, "first", NAN));
    ck_assert(o.stepstart);
    ck_assert_ptr_null(option_set_word(&o, OPTION_seed, "7", 7));
    ck_assert_uint_eq(o.seed, 7);
    ck_assert_ptr_null(option_set_word(&o, OPTION_interp, "", 1));
    ck_assert(o.interp);
}
END_TEST

/* A preset sets what no card gives, in whatever order they stand, and moderate takes it back. */
START_TEST(a_preset_leaves_what_cards_give)
{
    option_set o;
    option_default(&o);
    ck_assert_ptr_null(option_set_word(&o, OPTION_errpreset, "moderate", NAN));
    ck_assert(o.reltol == option_table[OPTION_reltol].dflt &&
              o.trtol == option_table[OPTION_trtol].dflt);
    ck_assert_ptr_null(option_set_word(&o, OPTION_errpreset, "liberal", NAN));
    ck_assert(o.reltol == 1e-3 && o.trtol == 35);
    ck_assert_ptr_null(option_set_word(&o, OPTION_errpreset, "conservative", NAN));
    ck_assert(o.reltol == 1e-4 && o.trtol == 3.5);
    ck_assert_ptr_null(option_set_word(&o, OPTION_reltol, "1e-5", 1e-5));
    ck_assert_ptr_null(option_set_word(&o, OPTION_errpreset, "liberal", NAN));
    ck_assert(o.reltol == 1e-5 && o.trtol == 35);
    ck_assert_ptr_null(option_set_word(&o, OPTION_trtol, "7", 7));
    ck_assert_ptr_null(option_set_word(&o, OPTION_errpreset, "moderate", NAN));
    ck_assert(o.reltol == 1e-5 && o.trtol == 7);
    ck_assert_str_eq(option_set_word(&o, OPTION_errpreset, "loose", NAN),
                     "liberal, moderate or conservative");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("option");
    TCase *tc = tcase_create("option");
    tcase_add_test(tc, the_document_has_a_row_for_each_option);
    tcase_add_test(tc, the_document_has_the_options_without_effect);
    tcase_add_test(tc, defaults_pass_their_own_checks);
    tcase_add_test(tc, names_are_in_one_list_once);
    tcase_add_test(tc, values_outside_of_the_range_set_nothing);
    tcase_add_test(tc, words_are_numbers_in_their_order);
    tcase_add_test(tc, a_preset_leaves_what_cards_give);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
