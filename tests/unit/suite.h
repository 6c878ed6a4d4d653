/* suite.h - runs the tests of one program. */
#ifndef TEST_SUITE_H
#define TEST_SUITE_H

#include <check.h>

enum {
    TEST_PATIENCE = 300
}; /* s, for a test that may take more than a moment: machines are busy */

static inline int run_suite_as(Suite *s, enum fork_status how)
{
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, how);
    srunner_run_all(r, CK_ENV);
    const int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}

/* What main returns: 0 if all passed, else 1. Frees s. */
static inline int run_suite(Suite *s) { return run_suite_as(s, CK_FORK_GETENV); }

/* The same in this process, for tests whose state goes from one to the next. */
static inline int run_suite_here(Suite *s) { return run_suite_as(s, CK_NOFORK); }

/* What main returns. t: with its timeout and fixtures, without tests. */
static inline int run_case(const char *name, TCase *t, const TTest *const *test, size_t n)
{
    Suite *s = suite_create(name);
    for (size_t i = 0; i < n; i++)
        tcase_add_test(t, test[i]);
    suite_add_tcase(s, t);
    return run_suite(s);
}

#endif
