/* text.h - files that tests read. */
#ifndef TEST_TEXT_H
#define TEST_TEXT_H

#include <check.h>
#include <stdio.h>

#include "vs.h"

/* All of a file, and a zero byte behind it. Free with vs_free. A file that is missing or cannot be
 * read fails the test. */
static inline char *text_of(const char *path)
{
    FILE *fp = fopen(path, "rb");
    ck_assert_msg(fp != NULL, "%s is missing", path);
    fseek(fp, 0, SEEK_END);
    const long n = ftell(fp);
    ck_assert_int_ge(n, 0);
    rewind(fp);
    char *text = vs_malloc((size_t)n + 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)n, fp), (size_t)n);
    text[n] = 0;
    fclose(fp);
    return text;
}

#endif
