/* test_page.c - texts and numbers in JSON, the page with data in its place. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "page.h"
#include "stream.h"

static char *text_of(const char *s)
{
    char *text;
    FILE *out = stream_text(&text, NULL);
    page_string(out, s);
    stream_close(out);
    return text;
}

START_TEST(a_text_is_json_whatever_its_bytes_are)
{
    static const char *const t[][2] = {
        {"v(out)", "\"v(out)\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"</script>", "\"\\u003c/script>\""},
        {"\x01\x7f", "\"\\u0001\\u007f\""},
        {"\xc3\xa4", "\"\xc3\xa4\""},
        {"\xff", "\"\\uf7ff\""},
        {"\xc3", "\"\\uf7c3\""},
        {"\xed\xa0\x80", "\"\\uf7ed\\uf7a0\\uf780\""}, /* half of a surrogate pair */
        {"\xc0\xaf", "\"\\uf7c0\\uf7af\""}};           /* a longer form of / */
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        char *text = text_of(t[k][0]);
        ck_assert_str_eq(text, t[k][1]);
        vs_free(text);
    }
}
END_TEST

START_TEST(bytes_come_back)
{
    char s[] = "a\xef\x9f\xbf\xef\x9c\x80z"; /* U+F7FF, U+F700 */
    page_bytes(s);
    ck_assert_str_eq(s, "a\xff"); /* the second is a zero byte, which ends the text */
}
END_TEST

START_TEST(numbers_read_back_as_themselves)
{
    static const double x[] = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e22};
    for (size_t k = 0; k < VS_COUNT(x); k++) {
        char *text, *end;
        FILE *out = stream_text(&text, NULL);
        page_number(out, x[k]);
        stream_close(out);
        const double back = strtod(text, &end);
        ck_assert(!*end && !memcmp(&back, &x[k], sizeof back));
        vs_free(text);
    }
    char *text;
    FILE *out = stream_text(&text, NULL);
    page_number(out, NAN);
    page_number(out, INFINITY);
    stream_close(out);
    ck_assert_str_eq(text, "nullnull");
    vs_free(text);
}
END_TEST

START_TEST(doubles_are_base64_of_their_bytes)
{
    static const double x[] = {1, 2};
    char *text;
    FILE *out = stream_text(&text, NULL);
    page_numbers(out, x, 1);
    page_numbers(out, x, 2);
    stream_close(out);
    ck_assert_str_eq(text, "\"AAAAAAAA8D8=\"\"AAAAAAAA8D8AAAAAAAAAQA==\"");
    vs_free(text);
}
END_TEST

START_TEST(a_page_has_title_and_data_in_their_places)
{
    char *text;
    FILE *out = stream_text(&text, NULL);
    page_begin(out, "<b>&");
    fputs("{\"x\":1}", out);
    page_end(out);
    stream_close(out);
    ck_assert_ptr_nonnull(strstr(text, "<title>&lt;b>&amp;</title>"));
    ck_assert_ptr_nonnull(strstr(text, "id=\"data\">{\"x\":1}</script>"));
    ck_assert_ptr_null(strstr(text, "/*DATA*/"));
    size_t n;
    const char *served = page_served(&n);
    ck_assert(n > 10000 && !memcmp(served, "<!DOCTYPE html>", 15));
    vs_free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("page");
    TCase *t = tcase_create("page");
    tcase_add_test(t, a_text_is_json_whatever_its_bytes_are);
    tcase_add_test(t, bytes_come_back);
    tcase_add_test(t, numbers_read_back_as_themselves);
    tcase_add_test(t, doubles_are_base64_of_their_bytes);
    tcase_add_test(t, a_page_has_title_and_data_in_their_places);
    suite_add_tcase(s, t);
    return run_suite(s);
}
