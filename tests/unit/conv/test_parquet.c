/* test_parquet.c - pages of Parquet with differences: DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY,
 * DELTA_BYTE_ARRAY. The bytes are made by hand; whatever they are cut to is refused.
 * Source: Apache Parquet format, "Encodings", whose examples are among them. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "conv_parquet.h"

enum { BINARY_PACKED = 5, LENGTHS, BYTES }; /* Parquet's numbers of the encodings */
enum { MOST_BYTES = 80, MOST_VALUES = 12, PLENTY = 1000 };

typedef struct sample {
    const char *what;
    int type, width, encoding;
    int64_t n;
    int64_t room; /* for values beyond n; 0: plenty */
    bool optional;
    size_t size;
    unsigned char s[MOST_BYTES];
    double x[MOST_VALUES];
    const char *text[MOST_VALUES];
} sample;

static const sample samples[] = {
    {.what = "equal differences need no bits",
     .type = T_INT32,
     .width = 4,
     .encoding = BINARY_PACKED,
     .n = 5,
     /* block of 8, 1 miniblock, 5 values, the first is 1; least difference 1, 0 bits */
     .size = 6,
     .s = {8, 1, 5, 2, 2, 0},
     .x = {1, 2, 3, 4, 5}},
    {.what = "differences of two bits",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 8,
     /* first 7; least -2, above it 0 0 0 3 3 3 3 */
     .size = 8,
     .s = {8, 1, 8, 14, 3, 2, 0xc0, 63},
     .x = {7, 5, 3, 1, 2, 3, 4, 5}},
    {.what = "one value has no block",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 1,
     .size = 4,
     .s = {8, 1, 1, 5},
     .x = {-3}},
    {.what = "two miniblocks",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 11,
     /* 1 0 1 0 1 0 1 0 in a bit each, 2 0 in two */
     .size = 10,
     .s = {16, 2, 11, 0, 0, 1, 2, 85, 2, 0},
     .x = {0, 1, 1, 2, 2, 3, 3, 4, 4, 6, 6}},
    {.what = "a miniblock that is not needed has a width alone",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 3,
     .size = 8,
     .s = {16, 2, 3, 0, 0, 1, 77, 3},
     .x = {0, 1, 2}},
    {.what = "two blocks",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 10,
     /* least 1, then 2 */
     .size = 8,
     .s = {8, 1, 10, 0, 2, 0, 4, 0},
     .x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10}},
    {.what = "differences around the end of the range",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 3,
     /* -2^63, 2^63 - 1, -2^63: modulo 2^64 -1 and 1; least -1, above it 0 2 */
     .size = 17,
     .s = {8, 1, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2, 8, 0},
     .x = {-0x1p63, 0x1p63, -0x1p63}},
    {.what = "differences of 64 bits",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 3,
     /* least -2^63, above it 0 and 2^64 - 1 */
     .size = 79,
     .s = {8, 1, 3, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,    64,   0,
           0, 0, 0, 0, 0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,
           0, 0, 0, 0, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
           0, 0, 0, 0, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
           0, 0, 0, 0, 0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0},
     .x = {0, -0x1p63, -1}},
    {.what = "32 bits go around too",
     .type = T_INT32,
     .width = 4,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 10,
     .s = {8, 1, 2, 0xfe, 0xff, 0xff, 0xff, 15, 2, 0},
     .x = {2147483647, -2147483648.0}},
    {.what = "values that are missing",
     .type = T_INT32,
     .width = 4,
     .encoding = BINARY_PACKED,
     .n = 4,
     .optional = true,
     /* levels: 2 bytes, 8 bits: 1 0 1 1; then three values */
     .size = 12,
     .s = {2, 0, 0, 0, 3, 13, 8, 1, 3, 20, 20, 0},
     .x = {10, NAN, 20, 30}},
    {.what = "lengths and bytes",
     .type = T_BYTE_ARRAY,
     .encoding = LENGTHS,
     .n = 4,
     .size = 29,
     .s = {8,   1,   4,   10,  0,   1,   2,   'H', 'e', 'l', 'l', 'o', 'W', 'o', 'r',
           'l', 'd', 'F', 'o', 'o', 'b', 'a', 'r', 'A', 'B', 'C', 'D', 'E', 'F'},
     .text = {"Hello", "World", "Foobar", "ABCDEF"}},
    {.what = "what is in common with the text before",
     .type = T_BYTE_ARRAY,
     .encoding = BYTES,
     .n = 4,
     /* in common 0 2 0 3; behind it 4 2 6 5 */
     .size = 35,
     .s = {8,   1,   4,   0,   3,   3,   68,  1,   0,   8,   1,   4,   8,   3,   3,   112, 0,  0,
           'a', 'x', 'i', 's', 'l', 'e', 'b', 'a', 'b', 'b', 'l', 'e', 'y', 'h', 'o', 'o', 'd'},
     .text = {"axis", "axle", "babble", "babyhood"}},
    {.what = "bytes of a number in common",
     .type = T_FIXED,
     .width = 2,
     .encoding = BYTES,
     .n = 2,
     /* halves, the lowest byte first: 1 is 00 3c, 2 is 00 40 */
     .size = 15,
     .s = {8, 1, 2, 0, 2, 0, 8, 1, 2, 4, 1, 0, 0, 60, 64},
     .x = {1, 2}},
};

typedef struct bench {
    arena mem;
    conv_pages pages;
    conv_job job;
    conv_column column;
    char why[CONV_WHY];
} bench;

/* A page of s [size] as a file, with a head that says `told` bytes; its status. */
static vs_status read_page_of(bench *b, const sample *k, const unsigned char *s, size_t size,
                              size_t told)
{
    memset(b, 0, sizeof *b);
    arena_init(&b->mem);
    const unsigned char head[] = {0x15,
                                  0, /* 1: a page of data */
                                  0x15,
                                  (unsigned char)(2 * told | 128),
                                  (unsigned char)(told >> 6),
                                  0x15,
                                  (unsigned char)(2 * told | 128),
                                  (unsigned char)(told >> 6), /* 2, 3: its bytes */
                                  0x2c,
                                  0x15,
                                  (unsigned char)(2 * k->n),
                                  0x15,
                                  (unsigned char)(2 * k->encoding),
                                  0x15,
                                  6,
                                  0x15,
                                  6,
                                  0,
                                  0};                 /* 5: values, encodings */
    unsigned char *file = malloc(sizeof head + size); /* of this size, for the sanitizers */
    memcpy(file, head, sizeof head);
    memcpy(file + sizeof head, s, size);
    b->job = (conv_job){.why = b->why};
    b->pages = (conv_pages){.j = &b->job,
                            .file = file,
                            .n = sizeof head + size,
                            .mem = &b->mem,
                            .room = k->room ? k->n + k->room : PLENTY};
    b->column = (conv_column){
        .name = "c", .kind = {.type = k->type, .width = k->width}, .optional = k->optional};
    const vs_status st = conv_parquet_chunk(&b->pages, &b->column, &(conv_chunk){.values = k->n});
    free(file);
    return st;
}

static void bench_fini(bench *b)
{
    vec_free(b->column.x);
    vec_free(b->column.text);
    arena_fini(&b->mem);
}

static void is_read(const sample *k)
{
    bench b;
    const vs_status st = read_page_of(&b, k, k->s, k->size, k->size);
    ck_assert_msg(st == VS_OK, "%s: %s", k->what, b.why);
    if (k->type == T_BYTE_ARRAY) {
        ck_assert_int_eq((int)vec_len(b.column.text), (int)k->n);
        for (int64_t i = 0; i < k->n; i++)
            ck_assert_str_eq(b.column.text[i], k->text[i]);
    } else {
        ck_assert_int_eq((int)vec_len(b.column.x), (int)k->n);
        for (int64_t i = 0; i < k->n; i++)
            ck_assert_msg(b.column.x[i] == k->x[i] || (isnan(k->x[i]) && isnan(b.column.x[i])),
                          "%s: value %d is %g", k->what, (int)i, b.column.x[i]);
    }
    bench_fini(&b);
}

START_TEST(values_are_those_of_the_format) { is_read(&samples[_i]); }
END_TEST

/* A page that says how short it is, and a file that ends within its page. */
START_TEST(what_is_cut_off_is_refused)
{
    const sample *k = &samples[_i];
    for (size_t size = 0; size < k->size; size++)
        for (int told = 0; told < 2; told++) {
            bench b;
            const vs_status st = read_page_of(&b, k, k->s, size, told ? k->size : size);
            ck_assert_msg(st == VS_EINPUT, "%s, %zu bytes of %zu are read", k->what, size, k->size);
            ck_assert_str_eq(b.why, "has a damaged page in column 'c'");
            bench_fini(&b);
        }
}
END_TEST

static const sample wrong[] = {
    {.what = "65 bits",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 80,
     .s = {8, 1, 2, 0, 0, 65}},
    {.what = "another number of values",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 6,
     .s = {8, 1, 3, 0, 2, 0}},
    {.what = "no miniblocks",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 6,
     .s = {8, 0, 2, 0, 2, 0}},
    {.what = "a block of nothing",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 6,
     .s = {0, 1, 2, 0, 2, 0}},
    {.what = "miniblocks that do not fill a block",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 8,
     .s = {8, 3, 2, 0, 2, 0, 0, 0}},
    {.what = "a miniblock that ends within a byte",
     .type = T_INT64,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 6,
     .s = {12, 1, 2, 0, 2, 0}},
    {.what = "differences of doubles",
     .type = T_DOUBLE,
     .width = 8,
     .encoding = BINARY_PACKED,
     .n = 2,
     .size = 6,
     .s = {8, 1, 2, 0, 2, 0}},
    {.what = "lengths of numbers",
     .type = T_INT32,
     .width = 4,
     .encoding = LENGTHS,
     .n = 1,
     .size = 5,
     .s = {8, 1, 1, 2, 'a'}},
    {.what = "a length below 0",
     .type = T_BYTE_ARRAY,
     .encoding = LENGTHS,
     .n = 1,
     .size = 5,
     .s = {8, 1, 1, 1, 'a'}},
    {.what = "in common with nothing",
     .type = T_BYTE_ARRAY,
     .encoding = BYTES,
     .n = 1,
     .size = 9,
     .s = {8, 1, 1, 2, 8, 1, 1, 2, 'a'}},
    {.what = "less than nothing in common",
     .type = T_BYTE_ARRAY,
     .encoding = BYTES,
     .n = 1,
     .size = 9,
     .s = {8, 1, 1, 1, 8, 1, 1, 2, 'a'}},
    {.what = "a number of three bytes",
     .type = T_FIXED,
     .width = 2,
     .encoding = BYTES,
     .n = 1,
     .size = 11,
     .s = {8, 1, 1, 0, 8, 1, 1, 6, 1, 2, 3}},
    {.what = "repeated more than there is room for",
     .type = T_BYTE_ARRAY,
     .encoding = BYTES,
     .n = 2,
     .room = 1,
     .size = 29,
     .s = {8,   1,   2,   0,   32,  0,   8,   1,   2,   32,  29,  0,   'a', 'b', 'c',
           'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q'}},
};

START_TEST(what_is_wrong_is_refused)
{
    const sample *k = &wrong[_i];
    bench b;
    const vs_status st = read_page_of(&b, k, k->s, k->size, k->size);
    ck_assert_msg(st == VS_EINPUT, "%s is read", k->what);
    ck_assert_str_eq(b.why, "has a damaged page in column 'c'");
    bench_fini(&b);
}
END_TEST

/* The last of them is read where there is room. */
START_TEST(what_is_repeated_takes_room)
{
    sample k = wrong[VS_COUNT(wrong) - 1];
    bench b;
    k.room = 2; /* 16 bytes are two values */
    ck_assert_int_eq(read_page_of(&b, &k, k.s, k.size, k.size), VS_OK);
    ck_assert_str_eq(b.column.text[1], "abcdefghijklmnopq");
    bench_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("parquet");
    TCase *t = tcase_create("differences");
    tcase_add_loop_test(t, values_are_those_of_the_format, 0, VS_COUNT(samples));
    tcase_add_loop_test(t, what_is_cut_off_is_refused, 0, VS_COUNT(samples));
    tcase_add_loop_test(t, what_is_wrong_is_refused, 0, VS_COUNT(wrong));
    tcase_add_test(t, what_is_repeated_takes_room);
    suite_add_tcase(s, t);
    return run_suite(s);
}
