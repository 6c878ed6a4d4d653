/* Tests of num/lu.c: solutions, reuse, repivoting, singular matrices, no allocation. */
#include <check.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>

#include "../suite.h"
#include "lu.h"

/* The pattern of the dense matrix d (n-by-n, row-major) where keep or value is not zero. */
static csc csc_of(int n, const double *d, const double *keep)
{
    csc a = {.n = n};
    a.colptr = vs_calloc((size_t)n + 1, sizeof(int32_t));
    a.row = vs_calloc((size_t)(n * n), sizeof(int32_t));
    a.val = vs_calloc((size_t)(n * n + 1), sizeof(double));
    int nnz = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (d[i * n + j] != 0 || (keep && keep[i * n + j] != 0)) {
                a.row[nnz] = i;
                a.val[nnz++] = d[i * n + j];
            }
        a.colptr[j + 1] = nnz;
    }
    return a;
}

static void csc_drop(csc *a)
{
    vs_free(a->colptr);
    vs_free(a->row);
    vs_free(a->val);
}

static void set_values(csc *a, int n, const double *d)
{
    for (int j = 0; j < n; j++)
        for (int k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            a->val[k] = d[a->row[k] * n + j];
}

static double residual(int n, const double *d, const double *x, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double r = -b[i];
        for (int j = 0; j < n; j++)
            r += d[i * n + j] * x[j];
        worst = fmax(worst, fabs(r));
    }
    return worst;
}

static const double A[] = {4, 1, 0, 0, /**/ 1, 3, 0, 1, /**/ 0, 0, 2, 5, /**/ 0, 1, 1, 0};
static const double B[] = {1e3, 1, 0, 0, /**/ 1, 3e-6, 0, 1, /**/ 0, 0, 2, 5, /**/ 0, 1, 7, 0};

START_TEST(solution_satisfies_the_equations_after_factor_and_refactor)
{
    csc a = csc_of(4, A, B);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_refactor(&lu, &a), VS_REPIVOT); /* nothing to refactor yet */
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    const double b[] = {1, 2, 3, 4};
    double x[] = {1, 2, 3, 4};
    lu_solve(&lu, x, x);
    ck_assert_double_le(residual(4, A, x, b), 1e-14);
    set_values(&a, 4, B);
    vs_status st = lu_refactor(&lu, &a);
    if (st == VS_REPIVOT)
        st = lu_factor(&lu, &a);
    ck_assert_int_eq(st, VS_OK);
    double y[] = {1, 2, 3, 4};
    lu_solve(&lu, y, y);
    ck_assert_double_le(residual(4, B, y, b), 1e-12);
    lu_fini(&lu);
    csc_drop(&a);
}
END_TEST

START_TEST(equal_values_are_not_factored_again_and_nothing_is_allocated)
{
    csc a = csc_of(4, A, NULL);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    const size_t before = mallinfo2().uordblks;
    double x[] = {1, 0, 0, 0};
    bool all = true; /* an assertion of Check allocates */
    for (int i = 0; i < 10; i++) {
        a.val[0] = 4 + i / 2;
        all &= lu_refactor(&lu, &a) == VS_OK;
        lu_solve(&lu, x, x);
    }
    const size_t after = mallinfo2().uordblks;
    ck_assert_uint_eq(after, before);
    ck_assert(all);
    ck_assert_int_eq(lu.stat.n_reuse, 6);
    ck_assert_int_eq(lu.stat.n_refactor, 4);
    lu_fini(&lu);
    csc_drop(&a);
}
END_TEST

START_TEST(pivots_that_vanish_ask_for_new_ones)
{
    const double p[] = {1, 1, /**/ 1, 3}, q[] = {1e-14, 1, /**/ 1, 0};
    csc a = csc_of(2, p, NULL);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    set_values(&a, 2, q);
    ck_assert_int_eq(lu_refactor(&lu, &a), VS_REPIVOT);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    double x[] = {1, 2};
    const double b[] = {1, 2};
    lu_solve(&lu, x, x);
    ck_assert_double_le(residual(2, q, x, b), 1e-12);
    lu_fini(&lu);
    csc_drop(&a);
}
END_TEST

/* What follows lu_forget or lu_restart has the bits of a new solver, whatever was factored before:
 * also where the pivots come back, and with them their list of operations. */
START_TEST(factors_serve_the_next_run_if_they_are_its_first)
{
    csc a = csc_of(4, A, B);
    lu_solver lu, other, new;
    lu_init(&lu, NULL);
    lu_init(&other, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_analyze(&other, &a), VS_OK);
    for (int run = 0; run < 5; run++) {
        const double *d = run == 2 || run == 4 ? B : A;
        double x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 4}, z[] = {1, 2, 3, 4};
        set_values(&a, 4, d);
        lu_init(&new, NULL);
        ck_assert_int_eq(lu_analyze(&new, &a), VS_OK);
        ck_assert_int_eq(lu_factor(&new, &a), VS_OK);
        lu_solve(&new, z, z);
        lu_fini(&new);
        ck_assert_int_eq(lu_refactor(&lu, &a), VS_REPIVOT);
        ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        ck_assert_int_eq(lu.stat.n_factor, run == 1 ? 0 : 1);
        ck_assert_int_eq(lu.stat.n_reuse, run == 1 ? 1 : 0);
        ck_assert_double_gt(lu.stat.rcond, 0);
        lu_solve(&lu, x, x);
        ck_assert_int_eq(lu_factor(&other, &a), VS_OK);
        lu_solve(&other, y, y);
        for (int i = 0; i < 4; i++)
            ck_assert(x[i] == z[i] && y[i] == z[i]);
        if (run == 3) { /* A's factors went before those of B: not the first */
            set_values(&a, 4, B);
            if (lu_refactor(&lu, &a) != VS_OK)
                ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        }
        ck_assert(lu_forget(&lu));
        ck_assert(lu_restart(&other));
    }
    lu_fini(&lu);
    lu_fini(&other);
    csc_drop(&a);
}
END_TEST

START_TEST(singular_matrices_name_an_unknown)
{
    const double numeric[] = {1, -1, 0, /**/ -1, 1, 0, /**/ 0, 0, 2};
    const double structure[] = {1, 0, 1, /**/ 0, 0, 1, /**/ 1, 0, 1};
    csc a = csc_of(3, numeric, NULL);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_ESINGULAR);
    ck_assert(lu.stat.singular == 0 || lu.stat.singular == 1);
    lu_fini(&lu);
    csc_drop(&a);
    a = csc_of(3, structure, NULL);
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_ESINGULAR);
    ck_assert_int_eq(lu.stat.singular, 1);
    lu_fini(&lu);
    csc_drop(&a);
}
END_TEST

START_TEST(weakest_pivot_is_found)
{
    const double d[] = {1, 0, 0, /**/ 0, 1e-12, 1e-12, /**/ 0, 1e-12, 1.0000001e-12};
    csc a = csc_of(3, d, NULL);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    int32_t w = lu_weakest(&lu);
    ck_assert(w == 1 || w == 2);
    ck_assert_double_lt(lu.stat.rcond, 1e-6);
    lu_fini(&lu);
    csc_drop(&a);
}
END_TEST

typedef struct heard {
    int n_begin, n_end;
} heard;

static void hear(void *user, bool begins)
{
    heard *h = user;
    ck_assert_int_eq(h->n_begin - h->n_end, begins ? 0 : 1);
    h->n_begin += begins;
    h->n_end += !begins;
}

/* A tridiagonal matrix is small work whatever its size: only its first factors count as long. */
START_TEST(first_factors_of_many_unknowns_are_told)
{
    static const int32_t size[] = {100, 5000};
    for (int k = 0; k < 2; k++) {
        const int32_t n = size[k];
        csc a = {.n = n};
        a.colptr = vs_calloc((size_t)n + 1, sizeof(int32_t));
        a.row = vs_calloc(3 * (size_t)n, sizeof(int32_t));
        a.val = vs_calloc(3 * (size_t)n, sizeof(double));
        int32_t nnz = 0;
        for (int32_t j = 0; j < n; j++) {
            for (int32_t i = j ? j - 1 : 0; i <= j + 1 && i < n; i++) {
                a.row[nnz] = i;
                a.val[nnz++] = i == j ? 4 : i < j ? -1 : -2;
            }
            a.colptr[j + 1] = nnz;
        }
        heard h = {0, 0};
        lu_solver lu;
        lu_init(&lu, NULL);
        lu.opt.long_work = hear;
        lu.opt.long_user = &h;
        ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
        ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        a.val[0] = 5;
        ck_assert_int_eq(lu_refactor(&lu, &a), VS_OK);
        ck_assert_int_eq(h.n_begin, k);
        ck_assert_int_eq(h.n_end, k);
        lu_fini(&lu);
        csc_drop(&a);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu");
    TCase *tc = tcase_create("lu");
    tcase_add_test(tc, solution_satisfies_the_equations_after_factor_and_refactor);
    tcase_add_test(tc, equal_values_are_not_factored_again_and_nothing_is_allocated);
    tcase_add_test(tc, pivots_that_vanish_ask_for_new_ones);
    tcase_add_test(tc, factors_serve_the_next_run_if_they_are_its_first);
    tcase_add_test(tc, singular_matrices_name_an_unknown);
    tcase_add_test(tc, weakest_pivot_is_found);
    tcase_add_test(tc, first_factors_of_many_unknowns_are_told);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
