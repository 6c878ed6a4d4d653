/* Tests of base/str.c and diag.c: numbers with suffixes, interning, nearest names, carets. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "diag.h"
#include "stream.h"
#include "vec.h"

START_TEST(spice_numbers_have_suffixes_and_tails)
{
    static const struct {
        const char *text;
        double value;
        size_t used;
    } t[] = {
        {"1k", 1e3, 2},
        {"1Meg", 1e6, 4},
        {"1MEGohm", 1e6, 7},
        {"0.1u", 1e-7, 4},
        {"2mil", 50.8e-6, 4},
        {"2.5e-3", 2.5e-3, 6},
        {"1e3k", 1e6, 4},
        {"5V", 5, 2},
        {"1m", 1e-3, 2},
        {"10pF", 1e-11, 4},
        {"-.5n", -5e-10, 4},
        {"1.e2", 100, 4},
        {"1e", 1, 2},
        {"7f", 7e-15, 2},
        {"1.2u*3", 1.2e-6, 4},
        {"10\xc2\xb5"
         "F",
         1e-5, 5},
        {"3\xb5", 3e-6, 2},
        {"2\xce\xbc", 2e-6, 3},
        {"27\xc2\xb0"
         "C",
         27, 5},
        {"4.7k\xce\xa9", 4700, 6},
        {"0x10", 0, 2},
        {"-0XA", 0, 4},
        {"10x", 10, 3},
        {"00x7", 0, 3},
    };
    for (size_t i = 0; i < VS_COUNT(t); i++) {
        double x = 0;
        const char *end = NULL;
        ck_assert_msg(str_spice_number(t[i].text, &end, &x), "%s", t[i].text);
        ck_assert_double_eq(x, t[i].value);
        ck_assert_uint_eq((size_t)(end - t[i].text), t[i].used);
    }
    double x;
    ck_assert(!str_spice_number("k1", NULL, &x));
    ck_assert(!str_spice_number(".", NULL, &x));
    ck_assert(!str_spice_number("-", NULL, &x));
    ck_assert(!str_spice_number("nan", NULL, &x));
}
END_TEST

START_TEST(equal_strings_are_one_pointer)
{
    str_pool p;
    str_pool_init(&p);
    const char *a = str_intern0(&p, "net1");
    ck_assert_ptr_eq(a, str_intern(&p, "net12", 4));
    ck_assert_ptr_eq(a, str_intern_lower(&p, "NET1", 4));
    for (int i = 0; i < 5000; i++) {
        char buf[32];
        snprintf(buf, sizeof buf, "n%d", i);
        ck_assert_str_eq(str_intern0(&p, buf), buf);
    }
    ck_assert_ptr_eq(a, str_intern0(&p, "net1"));
    ck_assert_int_eq(str_id(&p, a), str_id(&p, str_intern0(&p, "net1")));
    ck_assert_str_eq(str_of_id(&p, str_id(&p, a)), "net1");
    str_pool_fini(&p);
}
END_TEST

/* Characters beside the letters, and those with bit 7, stay as they are at each place of a word. */
START_TEST(only_letters_change_in_lower_case)
{
    str_pool p;
    str_pool_init(&p);
    for (int c = 1; c < 256; c++)
        for (size_t n = 1; n < 20; n++) {
            char text[20], low[20];
            memset(text, 'q', n);
            text[c % n] = (char)c;
            memcpy(low, text, n);
            low[c % n] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : (char)c;
            const char *a = str_intern_hashed(&p, text, n, str_hash_folded(text, n), NULL);
            ck_assert_uint_eq(strlen(a), n);
            ck_assert_mem_eq(a, low, n);
            ck_assert_ptr_eq(a, str_intern(&p, low, n));
        }
    str_pool_fini(&p);
}
END_TEST

START_TEST(nearest_name_is_a_plausible_slip)
{
    const char *cand[] = {"nmos1", "pmos1", "resistor"};
    ck_assert_str_eq(str_nearest("nmos1x", cand, 3), "nmos1");
    ck_assert_str_eq(str_nearest("RESISTRO", cand, 3), "resistor");
    ck_assert_ptr_null(str_nearest("capacitor", cand, 3));
    ck_assert_ptr_null(str_nearest("q", cand, 3));
}
END_TEST

START_TEST(message_has_line_column_and_caret)
{
    diag d;
    diag_init(&d);
    const char *text = "title\nM1 out in 0 0 nmos1x w=1u\n";
    int32_t f = diag_add_file(&d, "inv.cir", text, strlen(text), DIAG_NOWHERE);
    diag_error(&d, (diag_span){f, 20, 6}, "unknown model '%s'", "nmos1x");
    char *buf = NULL;
    size_t n = 0;
    FILE *fp = stream_text(&buf, &n);
    diag_render(&d, fp, false);
    fclose(fp);
    ck_assert_str_eq(buf, "inv.cir:2:15: error: unknown model 'nmos1x'\n"
                          "    2 | M1 out in 0 0 nmos1x w=1u\n"
                          "      |               ^~~~~~\n");
    vs_free(buf);
    diag_fini(&d);
}
END_TEST

START_TEST(what_was_tried_is_taken_back)
{
    diag d;
    diag_init(&d);
    d.max_error = 2;
    diag_error(&d, DIAG_NOWHERE, "one");
    diag_warning(&d, DIAG_NOWHERE, "careful");
    const diag_mark before = diag_try(&d);
    for (int i = 0; i < 4; i++)
        diag_error(&d, DIAG_NOWHERE, "tried %d", i);
    diag_note(&d, DIAG_NOWHERE, "a note of what was dropped");
    ck_assert_int_eq(d.n_dropped, 3);
    diag_take_back(&d, before);
    ck_assert_uint_eq(vec_len(d.msg), 2);
    ck_assert_int_eq(d.n_error, 1);
    ck_assert_int_eq(d.n_warning, 1);
    ck_assert_int_eq(d.n_dropped, 0);
    diag_note(&d, DIAG_NOWHERE, "of the warning"); /* dropped, if the mark forgot drop_notes */
    ck_assert_uint_eq(vec_len(d.msg), 3);
    const diag_mark shown = diag_try(&d);
    diag_clear(&d);
    diag_take_back(&d, shown); /* what was rendered does not come back */
    ck_assert_uint_eq(vec_len(d.msg), 0);
    ck_assert_int_eq(d.n_error, 1);
    diag_fini(&d);
}
END_TEST

/* Whatever way a number is read, it is the double nearest to its text. */
START_TEST(numbers_round_as_strtod_does)
{
    static const struct {
        const char *text;
        int decade;
    } suffix[] = {{"", 0}, {"k", 3}, {"meg", 6}, {"m", -3}, {"u", -6}, {"p", -12}, {"f", -15}};
    uint32_t random = 7;
    for (int k = 0; k < 20000; k++) {
        char text[64], want[80];
        const char *end;
        double x;
        int n = 0;
        random = random * 1664525u + 1013904223u;
        const uint32_t digits = 1 + (random >> 8) % 18, point = (random >> 14) % (digits + 1);
        if (random >> 31)
            text[n++] = '-';
        for (uint32_t i = 0; i < digits; i++) {
            random = random * 1664525u + 1013904223u;
            if (i == point)
                text[n++] = '.';
            text[n++] = (char)('0' + (random >> 16) % 10);
        }
        random = random * 1664525u + 1013904223u;
        const int power = (int)((random >> 16) % 61) - 30;
        const size_t i = (random >> 8) % VS_COUNT(suffix);
        if (random >> 31) {
            snprintf(text + n, sizeof text - (size_t)n, "e%d", power);
            memcpy(want, text, sizeof text);
        } else {
            snprintf(want, sizeof want, "%.*se%d", n, text, suffix[i].decade);
            snprintf(text + n, sizeof text - (size_t)n, "%s", suffix[i].text);
        }
        ck_assert(str_spice_number(text, &end, &x));
        ck_assert_int_eq(*end, 0);
        const double y = strtod(want, NULL);
        ck_assert_msg(!memcmp(&x, &y, sizeof x), "%s: %.17g, not %.17g", text, x, y);
    }
}
END_TEST

static const char *noted(str_pool *p, const char *text, int32_t **note)
{
    const size_t n = strlen(text);
    return str_intern_hashed(p, text, n, str_hash_folded(text, n), note);
}

START_TEST(a_text_keeps_its_note_until_all_are_dropped)
{
    str_pool p;
    int32_t *note;
    char text[32];
    str_pool_init(&p);
    ck_assert_ptr_null(p.note);
    for (int i = 0; i < 5000; i++) { /* the pool grows in between */
        snprintf(text, sizeof text, "N%d", i);
        (void)noted(&p, text, &note);
        ck_assert_int_eq(*note, 0);
        *note = i + 1;
    }
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "n%d", i);
            ck_assert_str_eq(noted(&p, text, &note), text);
            ck_assert_int_eq(*note, turn ? 0 : i + 1);
        }
        str_drop_notes(&p);
        ck_assert_ptr_null(p.note);
    }
    str_pool_fini(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("str");
    tcase_add_test(t, spice_numbers_have_suffixes_and_tails);
    tcase_add_test(t, equal_strings_are_one_pointer);
    tcase_add_test(t, only_letters_change_in_lower_case);
    tcase_add_test(t, nearest_name_is_a_plausible_slip);
    tcase_add_test(t, message_has_line_column_and_caret);
    tcase_add_test(t, what_was_tried_is_taken_back);
    tcase_add_test(t, numbers_round_as_strtod_does);
    tcase_add_test(t, a_text_keeps_its_note_until_all_are_dropped);
    suite_add_tcase(s, t);
    return run_suite(s);
}
