/* Tests of num/lu_tiny.c: against KLU and the equations on random patterns, zero pivots, limits. */
#include <check.h>
#include <float.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "lu.h"
#include "lu_tiny.h"

enum { N = 201, FEW = 64 }; /* FEW: a list at once */

static uint64_t seed;
static double uniform(void) /* 0..1 */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}

static int32_t colptr[N + 1], row[N * N];
static double val[N * N + 1];

/* A circuit-like pattern: entries at random with `density`, a diagonal that is left out in places
 * and then made up for by a pair of entries beside it, as the branch of a voltage source has it. */
static csc random_pattern(int32_t n, double density)
{
    csc a = {.n = n, .colptr = colptr, .row = row, .val = val};
    bool branch[N];
    for (int32_t i = 0; i < n; i++)
        branch[i] = i > 0 && !branch[i - 1] && uniform() < 0.3;
    int32_t nnz = 0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < n; i++) {
            bool beside = (branch[j] && i == j - 1) || (branch[i] && j == i - 1);
            if (i == j ? !branch[j] : beside || uniform() < density)
                row[nnz++] = i;
        }
        colptr[j + 1] = nnz;
    }
    return a;
}

/* Sizes over three decades; pivots large enough for tame growth. A refactorisation keeps old
 * pivots, so that errors of both grow, by chance the one or the other more. */
static void random_values(csc *a)
{
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            bool big = a->row[k] == j || a->row[k] == j - 1 || a->row[k] == j + 1;
            a->val[k] = (uniform() - 0.5) * pow(10, big ? 0 : -3 * uniform());
            if (big)
                a->val[k] += a->val[k] < 0 ? -2 : 2;
        }
}

/* The largest |b - A x|_i over sum_j |a_ij x_j| + |b_i|: the backward error. */
static double backward_error(const csc *a, const double *x, const double *b)
{
    double r[N], size[N], worst = 0;
    for (int32_t i = 0; i < a->n; i++) {
        r[i] = b[i];
        size[i] = fabs(b[i]);
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            r[a->row[k]] -= a->val[k] * x[j];
            size[a->row[k]] += fabs(a->val[k] * x[j]);
        }
    for (int32_t i = 0; i < a->n; i++)
        worst = fmax(worst, fabs(r[i]) / size[i]);
    return worst;
}

static void new_values(lu_solver *lu, csc *a)
{
    random_values(a);
    vs_status st = lu_refactor(lu, a);
    if (st == VS_REPIVOT)
        st = lu_factor(lu, a);
    ck_assert_int_eq(st, VS_OK);
}

START_TEST(random_patterns_are_solved_as_well_as_by_klu)
{
    int solved = 0, refactored = 0;
    for (seed = 1; seed <= 300 * 0x10001u; seed = (uint64_t)(solved + 1) * 0x10001u) {
        const int32_t n = 1 + solved % FEW;
        solved++;
        csc a = random_pattern(n, 3.0 / n);
        random_values(&a);
        lu_solver tiny, klu;
        lu_init(&tiny, NULL);
        lu_init(&klu, NULL);
        klu.opt.kind = LU_KLU;
        vs_status st = lu_analyze(&tiny, &a);
        ck_assert_int_eq(lu_analyze(&klu, &a), st);
        if (st == VS_OK) {
            ck_assert_int_eq(lu_factor(&tiny, &a), VS_OK);
            ck_assert_int_eq(lu_factor(&klu, &a), VS_OK);
            for (int again = 0; again < 3; again++) {
                double b[N], x[N], y[N];
                for (int32_t i = 0; i < n; i++)
                    b[i] = uniform() - 0.5;
                lu_solve(&tiny, b, x);
                lu_solve(&klu, b, y);
                double ours = backward_error(&a, x, b), theirs = backward_error(&a, y, b);
                ck_assert_msg(ours <= 100 * theirs + 1e-13, "case %d, n %d: %g, KLU %g", solved, n,
                              ours, theirs);
                uint64_t s = seed;
                new_values(&tiny, &a);
                seed = s;
                new_values(&klu, &a);
                refactored++;
            }
        }
        lu_fini(&tiny);
        lu_fini(&klu);
    }
    ck_assert_int_ge(refactored, 600); /* most patterns are not singular */
}
END_TEST

START_TEST(pivots_off_the_diagonal_are_followed)
{
    /* 0 1 0; 1 1 1; 0 1 1 with the pivots of rows 1, 0, 2: u = 1 1 1, then 1 0, then 1 */
    int32_t cp[] = {0, 1, 4, 6}, r[] = {1, 0, 1, 2, 1, 2}, p[] = {1, 0, 2}, q[] = {0, 1, 2};
    double v[] = {1, 1, 1, 1, 1, 1, 0}, scale[] = {1, 1, 1}, b[] = {2, 6, 5}, x[3];
    csc a = {.n = 3, .colptr = cp, .row = r, .val = v};
    lu_tiny *t = lu_tiny_new(&a, p, q, scale, LU_TINY_MAX_PAIRS);
    ck_assert_ptr_nonnull(t);
    ck_assert_double_eq(lu_tiny_factor(t, &a), 1);
    lu_tiny_solve(t, b, x);
    ck_assert_double_eq(x[0], 1);
    ck_assert_double_eq(x[1], 2);
    ck_assert_double_eq(x[2], 3);
    lu_tiny_solve(t, b, b); /* in place */
    ck_assert_mem_eq(b, x, sizeof x);
    ck_assert_int_eq(lu_tiny_nnz(t), 3 + 6); /* l_21, u_01, u_02 and two diagonals */
    lu_tiny_free(&t);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(a_zero_pivot_is_told_and_small_ones_show_in_the_ratio)
{
    int32_t cp[] = {0, 2, 4}, r[] = {0, 1, 0, 1}, id[] = {0, 1};
    double v[] = {0, 1, 1, 1, 0}, scale[] = {1, 1};
    csc a = {.n = 2, .colptr = cp, .row = r, .val = v};
    lu_tiny *t = lu_tiny_new(&a, id, id, scale, LU_TINY_MAX_PAIRS);
    ck_assert_double_eq(lu_tiny_factor(t, &a), 0);
    v[0] = 1e-6;
    ck_assert_double_lt(lu_tiny_factor(t, &a), 1e-11); /* 1e-6 and 1 - 1e6 */
    v[0] = 4;
    ck_assert_double_eq(lu_tiny_factor(t, &a), 0.75 / 4);
    ck_assert_int_eq(lu_tiny_weakest(t), 1);
    lu_tiny_set_scale(t, (double[]){8, 1}); /* 4/8 < 0.75 */
    ck_assert_double_eq(lu_tiny_factor(t, &a), 0.5 / 0.75);
    ck_assert_int_eq(lu_tiny_weakest(t), 0);
    lu_tiny_free(&t);
}
END_TEST

/* Two diagonals; NULL: no list. */
static lu_tiny *list_of_chain(int32_t n)
{
    int32_t *cp = malloc(sizeof *cp * (size_t)(n + 1)), *r = malloc(sizeof *r * (size_t)(2 * n)),
            *id = malloc(sizeof *id * (size_t)n), nnz = 0;
    double *scale = malloc(sizeof *scale * (size_t)n), *v = malloc(sizeof *v * (size_t)(2 * n));
    cp[0] = 0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = j; i < n && i < j + 2; i++) {
            v[nnz] = i == j ? 2 : 1;
            r[nnz++] = i;
        }
        cp[j + 1] = nnz;
        id[j] = j;
        scale[j] = 1;
    }
    csc a = {.n = n, .colptr = cp, .row = r, .val = v};
    lu_tiny *t = lu_tiny_new(&a, id, id, scale, LU_TINY_MAX_PAIRS);
    if (t) { /* x_0 = b_0/2, x_j = (b_j - x_{j-1})/2 */
        for (int32_t j = 0; j < n; j++)
            scale[j] = j ? 3 : 2;
        ck_assert_double_eq(lu_tiny_factor(t, &a), 1);
        lu_tiny_solve(t, scale, scale);
        for (int32_t j = 0; j < n; j++)
            ck_assert_double_eq(scale[j], 1);
    }
    free(cp), free(r), free(id), free(scale), free(v);
    return t;
}

START_TEST(large_and_dense_matrices_are_left_to_others)
{
    int32_t id[N];
    double scale[N];
    for (int32_t i = 0; i < N; i++) {
        id[i] = i;
        scale[i] = 1;
    }
    csc a = random_pattern(N, 1);
    ck_assert_ptr_null(lu_tiny_new(&a, id, id, scale, LU_TINY_MAX_PAIRS));
    lu_tiny *t = list_of_chain(LU_TINY_MAX_N);
    ck_assert_ptr_nonnull(t);
    lu_tiny_free(&t);
    ck_assert_ptr_null(list_of_chain(LU_TINY_MAX_N + 1));
}
END_TEST

enum { RUN = 100 };

/* RUN factorisations of a matrix that drifts; how many of them were not by a list. */
static int drift(lu_solver *lu, csc *a, double *x)
{
    int others = 0;
    seed = 11;
    random_values(a);
    ck_assert_int_eq(lu_factor(lu, a), VS_OK);
    for (int k = 0; k < RUN; k++) {
        double b[N];
        for (int32_t i = 0; i < a->n; i++)
            b[i] = uniform() - 0.5;
        for (int32_t i = 0; i < csc_nnz(a); i++)
            a->val[i] *= 1 + 1e-3 * uniform();
        ck_assert_int_eq(lu_refactor(lu, a), VS_OK);
        lu_solve(lu, b, x);
        ck_assert_double_le(backward_error(a, x, b), 3 * N * DBL_EPSILON * 1000); /* growth */
        others += strcmp(lu->stat.method, "klu/tiny") != 0;
        x += a->n;
    }
    return others;
}

/* As often as planning costs: operating points of larger circuits do not pay for it. */
START_TEST(a_list_is_planned_for_pivots_that_serve)
{
    static double x[RUN * N], again[RUN * N];
    seed = 5;
    csc a = random_pattern(N - 1, 1.0 / N);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    const int others = drift(&lu, &a, x);
    ck_assert_int_gt(others, 0);
    ck_assert_int_lt(others, RUN);
    ck_assert(lu_restart(&lu)); /* the plan is there, but the next run is the same as the first */
    ck_assert_int_eq(drift(&lu, &a, again), others);
    ck_assert_mem_eq(x, again, sizeof(double) * RUN * (size_t)a.n);
    lu_fini(&lu);
}
END_TEST

/* 0: products and differences rounded once, where the processor can; 1: as without FMA. */
START_TEST(code_and_tables_give_the_same_bits)
{
    int compared = 0;
    for (int k = 0; k < 200; k++) {
        seed = (uint64_t)(k + 1) * 0x20003u;
        const int32_t n = k < 150 ? 1 + k % FEW : k;
        csc a = random_pattern(n, k < 150 ? 3.0 / n : 0.7 / n);
        random_values(&a);
        int32_t id[N];
        double scale[N], b[N], x[N], y[N];
        for (int32_t i = 0; i < n; i++) {
            id[i] = i;
            scale[i] = 1 + uniform();
            b[i] = uniform() - 0.5;
        }
        lu_tiny *code = lu_tiny_new(&a, id, id, scale, LU_TINY_MAX_PAIRS),
                *tables = lu_tiny_new(&a, id, id, scale, LU_TINY_MAX_PAIRS);
        if (code && tables && _i) {
            lu_tiny_round_twice(code);
            lu_tiny_round_twice(tables);
        }
        if (code && tables) {
            lu_tiny_use_tables(tables);
            const double r = lu_tiny_factor(code, &a), s = lu_tiny_factor(tables, &a);
            ck_assert_double_eq(r, s);
            if (r > 0) {
                lu_tiny_solve(code, b, x);
                lu_tiny_solve(tables, b, y);
                ck_assert_mem_eq(x, y, sizeof(double) * (size_t)n);
                compared++;
            }
        }
        lu_tiny_free(&code);
        lu_tiny_free(&tables);
    }
    ck_assert_int_ge(compared, 10); /* the diagonal is not always a set of pivots */
}
END_TEST

START_TEST(new_values_allocate_nothing)
{
    seed = 7;
    csc a = random_pattern(20, 0.1);
    random_values(&a);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    double x[N] = {1};
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 10; i++) {
        a.val[0] *= 1.1;
        ck_assert_int_eq(lu_refactor(&lu, &a), VS_OK);
        lu_solve(&lu, x, x);
    }
    ck_assert_uint_eq(mallinfo2().uordblks, before);
    ck_assert_int_eq(lu.stat.n_refactor, 10);
    lu_fini(&lu);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_tiny");
    TCase *tc = tcase_create("lu_tiny");
    tcase_set_timeout(tc, TEST_PATIENCE);
    tcase_add_test(tc, random_patterns_are_solved_as_well_as_by_klu);
    tcase_add_test(tc, pivots_off_the_diagonal_are_followed);
    tcase_add_test(tc, a_zero_pivot_is_told_and_small_ones_show_in_the_ratio);
    tcase_add_test(tc, large_and_dense_matrices_are_left_to_others);
    tcase_add_test(tc, a_list_is_planned_for_pivots_that_serve);
    tcase_add_loop_test(tc, code_and_tables_give_the_same_bits, 0, 2);
    tcase_add_test(tc, new_values_allocate_nothing);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
