/* Tests of solutions by the factors of another matrix: against its own factors. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "lu_near.h"

enum {
    SIDE = 48, /* supernodes are made from 500 unknowns on, pieces of vectors have 2048 */
    N = SIDE * SIDE
};
static int32_t colptr[N + 1], row[5 * N];
static double near_val[5 * N], val[5 * N], tol[N], b[N];
static csc a = {.n = N, .colptr = colptr, .row = row};

/* A mesh of conductances 1 with capacitances to ground, 0.1 to 1: G + alpha C. */
static void fill(double *to, double alpha)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        const int32_t x = j % SIDE, y = j / SIDE;
        const int32_t beside[] = {y > 0 ? j - SIDE : -1, x > 0 ? j - 1 : -1, j,
                                  x + 1 < SIDE ? j + 1 : -1, y + 1 < SIDE ? j + SIDE : -1};
        colptr[j] = k;
        for (int i = 0; i < 5; i++)
            if (beside[i] >= 0) {
                row[k] = beside[i];
                to[k++] = i == 2 ? 4.1 + alpha * (0.1 + 0.9 * (j % 7) / 6.0) : -1;
            }
        tol[j] = 1e-3 * (1 + j % 3);
        b[j] = sin(j);
    }
    colptr[N] = k;
}

static void begin(lu_solver *lu, double alpha)
{
    fill(near_val, alpha);
    a.val = near_val;
    lu_init(lu, NULL);
    lu->opt.coarse_from = 0;
    ck_assert_int_eq(lu_analyze(lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(lu, &a), VS_OK);
}

static void solve_exactly(double *x)
{
    lu_solver lu;
    lu_init(&lu, NULL);
    a.val = val;
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    lu_solve(&lu, b, x);
    lu_fini(&lu);
}

static double size_of(const double *x, const double *minus)
{
    double sum = 0;
    for (int32_t i = 0; i < N; i++) {
        const double d = (x[i] - (minus ? minus[i] : 0)) / tol[i];
        sum += d * d;
    }
    return sqrt(sum);
}

/* |x - A^-1 b| <= |(M^-1 A)^-1| |M^-1 (b - A x)|. With alphas of ratio q >= 1 both matrices are
 * symmetric, and M^-1 A has eigenvalues from 1 to q or from 1/q to 1. D, which weighs the norm, has
 * entries of ratio 3: in it the norm of the inverse is at most 3 q. */
START_TEST(what_is_left_is_within_the_part_asked_for)
{
    static const double alpha[] = {1, 0.7, 1.5, 3}, part[] = {1e-1, 1e-3, 1e-5};
    for (size_t i = 0; i < VS_COUNT(alpha); i++)
        for (size_t p = 0; p < 2 * VS_COUNT(part); p++) {
            const bool coarse = p >= VS_COUNT(part);
            const double least = part[p % VS_COUNT(part)];
            lu_solver lu;
            lu_near *s = lu_near_new(N, NULL, NULL);
            double x[N], right[N], first = -1;
            int steps;
            begin(&lu, 1);
            fill(val, alpha[i]);
            solve_exactly(right);
            (coarse ? lu_solve_coarse : lu_solve)(&lu, b, x);
            const double size = size_of(x, NULL);
            const lu_near_opt o = {
                .tol = tol, .part = least, .most = LU_NEAR_MOST, .coarse = coarse};
            ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_OK);
            ck_assert_double_le(size_of(x, right), 3 * 3 * least * size + 1e-9);
            ck_assert(steps >= 1 && steps <= LU_NEAR_MOST);
            ck_assert(first >= 0 && first < 1);
            lu_near_free(&s);
            lu_fini(&lu);
        }
}
END_TEST

START_TEST(the_same_matrix_takes_one_step)
{
    lu_solver lu;
    lu_near *s = lu_near_new(N, NULL, NULL);
    double x[N], before[N], first = -1;
    int steps;
    begin(&lu, 1);
    lu_solve(&lu, b, before);
    lu_solve(&lu, b, x);
    const lu_near_opt o = {.tol = tol, .part = 1e-9, .most = LU_NEAR_MOST};
    ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_OK);
    ck_assert_int_eq(steps, 1);
    ck_assert_double_lt(first, 1e-9);
    ck_assert_double_le(size_of(x, before), 1e-9 * size_of(before, NULL));
    lu_near_free(&s);
    lu_fini(&lu);
}
END_TEST

/* M's rounding makes it another matrix near A, no less exact: each step leaves some 1e-7 of the
 * error, to far below that. */
START_TEST(rounded_factors_leave_no_error_behind)
{
    lu_solver lu;
    lu_near *s = lu_near_new(N, NULL, NULL);
    double x[N], right[N], first = -1;
    int steps;
    begin(&lu, 1);
    lu_solve(&lu, b, right);
    lu_solve_coarse(&lu, b, x);
    ck_assert_double_gt(size_of(x, right), 1e-11 * size_of(right, NULL));
    const lu_near_opt o = {.tol = tol, .part = 1e-12, .most = LU_NEAR_MOST, .coarse = true};
    ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_OK);
    ck_assert(steps >= 2 && steps <= 3);
    ck_assert(first > 1e-12 && first < 1e-5);
    ck_assert_double_le(size_of(x, right), 1e-11 * size_of(right, NULL));
    lu_near_free(&s);
    lu_fini(&lu);
}
END_TEST

/* Threads that share vectors and products, more of them than pieces too. */
START_TEST(threads_change_no_bit)
{
    static double x[5][N];
    double first[5];
    int steps[5];
    arena mem;
    arena_init(&mem);
    for (int threads = 0; threads < 5; threads++) {
        lu_solver lu;
        begin(&lu, 1);
        fill(val, 3);
        a.val = val;
        pool *p = threads ? pool_new(threads) : NULL;
        lu_near *s = lu_near_new(N, p, threads ? csc_cut_new(&mem, &a, NULL, threads) : NULL);
        lu_solve(&lu, b, x[threads]);
        const lu_near_opt o = {.tol = tol, .part = 1e-5, .most = LU_NEAR_MOST};
        ck_assert_int_eq(
            lu_near_solve(s, &lu, &a, &o, x[threads], &steps[threads], &first[threads]), VS_OK);
        ck_assert_int_ge(steps[threads], 2);
        ck_assert_int_eq(steps[threads], steps[0]);
        ck_assert(first[threads] == first[0]);
        ck_assert(memcmp(x[threads], x[0], sizeof x[0]) == 0);
        lu_near_free(&s);
        pool_free(&p);
        lu_fini(&lu);
    }
    arena_fini(&mem);
}
END_TEST

START_TEST(a_matrix_too_far_leaves_x_alone)
{
    lu_solver lu;
    lu_near *s = lu_near_new(N, NULL, NULL);
    double x[N], before[N], first = -1;
    int steps;
    begin(&lu, 1);
    fill(val, 1000);
    a.val = val;
    lu_solve(&lu, b, before);
    lu_solve(&lu, b, x);
    const lu_near_opt o = {.tol = tol, .part = 1e-9, .most = 2};
    ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_NOCONV);
    ck_assert_int_eq(steps, 2);
    for (int32_t i = 0; i < N; i++)
        ck_assert(x[i] == before[i]);
    val[7] = NAN;
    ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_NOCONV);
    for (int32_t i = 0; i < N; i++)
        ck_assert(x[i] == before[i]);
    lu_near_free(&s);
    lu_fini(&lu);
}
END_TEST

START_TEST(no_right_side_is_no_work)
{
    lu_solver lu;
    lu_near *s = lu_near_new(N, NULL, NULL);
    double x[N] = {0}, first = 0.25;
    int steps;
    begin(&lu, 1);
    const lu_near_opt o = {.tol = tol, .part = 1e-9, .most = 2};
    ck_assert_int_eq(lu_near_solve(s, &lu, &a, &o, x, &steps, &first), VS_OK);
    ck_assert_int_eq(steps, 0);
    ck_assert(first == 0.25);
    lu_near_free(&s);
    lu_fini(&lu);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_near");
    TCase *t = tcase_create("lu_near");
    tcase_add_test(t, what_is_left_is_within_the_part_asked_for);
    tcase_add_test(t, the_same_matrix_takes_one_step);
    tcase_add_test(t, threads_change_no_bit);
    tcase_add_test(t, rounded_factors_leave_no_error_behind);
    tcase_add_test(t, a_matrix_too_far_leaves_x_alone);
    tcase_add_test(t, no_right_side_is_no_work);
    suite_add_tcase(s, t);
    return run_suite(s);
}
