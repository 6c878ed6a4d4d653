/* suite.h - runs the tests of one program. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>

/* What main returns. t: with its timeout and fixtures, without tests. */
static inline int run_case(const char *name, TCase *t, const TTest *const *test, size_t n)
{
    Suite *s = suite_create(name);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(t, test[i]);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}

#endif
