/* Tests of the complex LU on tridiagonal and random matrices whose residuals are known. */
#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "lu_priv.h"
#include "lu_z.h"

enum { N = 40 };
static int32_t colptr[N + 1], row[3 * N];
static double complex val[3 * N];
static csc a = {.n = N, .colptr = colptr, .row = row};

/* A ladder of R and C: tridiagonal, g + j w c */
static void fill(double w)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; j++) {
        colptr[j] = k;
        for (int32_t i = j - 1; i <= j + 1; i++) {
            if (i < 0 || i >= N)
                continue;
            row[k] = i;
            val[k++] = i == j ? 2.1 + I * w * (1 + j) : i > j ? -1 : -0.7 - I * 0.1 * w;
        }
    }
    colptr[N] = k;
}

static double residual(const double complex *x, const double complex *b, bool transposed)
{
    double complex r[N];
    memcpy(r, b, sizeof r);
    for (int32_t j = 0; j < N; j++)
        for (int32_t p = colptr[j]; p < colptr[j + 1]; p++)
            r[transposed ? j : row[p]] -= val[p] * x[transposed ? row[p] : j];
    double worst = 0;
    for (int32_t i = 0; i < N; i++)
        worst = fmax(worst, cabs(r[i]));
    return worst;
}

START_TEST(solves_both_ways_with_one_choice_of_pivots)
{
    lu_z lu;
    double complex b[N], x[N];
    lu_z_init(&lu);
    fill(0);
    ck_assert_int_eq(lu_z_analyze(&lu, &a), VS_OK);
    for (int k = 0; k < 20; k++) {
        fill(1e-3 * pow(2, k));
        for (int i = 0; i < N; i++)
            b[i] = cos(i) + I * sin(3 * i + k);
        ck_assert_int_eq(lu_z_factor(&lu, (double *)val), VS_OK);
        memcpy(x, b, sizeof b);
        lu_z_solve(&lu, (double *)x);
        ck_assert_double_lt(residual(x, b, false), 1e-12);
        memcpy(x, b, sizeof b);
        lu_z_solve_t(&lu, (double *)x);
        ck_assert_double_lt(residual(x, b, true), 1e-12);
    }
    ck_assert_int_eq(lu.n_factor, 1);
    ck_assert_int_eq(lu.n_refactor, 19);
    lu_z_fini(&lu);
}
END_TEST

START_TEST(bad_pivots_are_chosen_anew)
{
    int32_t ptr[] = {0, 2, 4}, r[] = {0, 1, 0, 1};
    csc m = {.n = 2, .colptr = ptr, .row = r};
    double complex v1[] = {1, 0.1, 0.1, 1}, v2[] = {1e-14, 1, 1, 0}, x[] = {1, 2};
    lu_z lu;
    lu_z_init(&lu);
    ck_assert_int_eq(lu_z_analyze(&lu, &m), VS_OK);
    ck_assert_int_eq(lu_z_factor(&lu, (double *)v1), VS_OK);
    ck_assert_int_eq(lu_z_factor(&lu, (double *)v2), VS_OK);
    ck_assert_int_eq(lu.n_factor, 2);
    lu_z_solve(&lu, (double *)x);
    ck_assert_double_eq_tol(creal(x[0]), 2, 1e-15);
    ck_assert_double_eq_tol(creal(x[1]), 1, 1e-13);
    lu_z_fini(&lu);
}
END_TEST

START_TEST(singular_matrices_are_found)
{
    int32_t ptr[] = {0, 2, 4}, r[] = {0, 1, 0, 1}, ptr2[] = {0, 2, 2};
    csc m = {.n = 2, .colptr = ptr, .row = r}, empty = {.n = 2, .colptr = ptr2, .row = r};
    double complex v[] = {1, I, I, -1};
    lu_z lu;
    lu_z_init(&lu);
    ck_assert_int_eq(lu_z_analyze(&lu, &m), VS_OK);
    ck_assert_int_eq(lu_z_factor(&lu, (double *)v), VS_ESINGULAR);
    ck_assert_int_ge(lu.singular, 0);
    ck_assert_int_eq(lu_z_analyze(&lu, &empty), VS_ESINGULAR);
    lu_z_fini(&lu);
}
END_TEST

/* A full matrix, as harmonic balance makes them of a circuit with many harmonics: a third of FULL
 * multiplications for each entry of the factors. */
enum { FULL = 1000 };

static void fill_full(csc *m, double complex *v, uint32_t key)
{
    int32_t k = 0;
    for (int32_t j = 0; j < FULL; j++) {
        m->colptr[j] = k;
        for (int32_t i = 0; i < FULL; i++) {
            key = key * 1664525u + 1013904223u;
            const double re = (int32_t)key / 2147483648.0;
            key = key * 1664525u + 1013904223u;
            m->row[k] = i;
            v[k++] = re + I * ((int32_t)key / 2147483648.0) + (i == j ? 30 : 0);
        }
    }
    m->colptr[FULL] = k;
}

/* The largest part of b - A x; transposed: b - A' x. */
static double full_residual(const csc *m, const double complex *v, const double complex *x,
                            bool transposed)
{
    double complex r[FULL];
    double worst = 0;
    for (int32_t i = 0; i < FULL; i++)
        r[i] = cos(i) + I * sin(3 * i);
    for (int32_t j = 0; j < FULL; j++)
        for (int32_t p = m->colptr[j]; p < m->colptr[j + 1]; p++)
            r[transposed ? j : m->row[p]] -= v[p] * x[transposed ? m->row[p] : j];
    for (int32_t i = 0; i < FULL; i++)
        worst = fmax(worst, cabs(r[i]));
    return worst;
}

static int told;

static void count(void *user, bool begins)
{
    ck_assert_ptr_eq(user, &told);
    ck_assert_int_eq(told % 2, !begins);
    told++;
}

START_TEST(much_fill_is_left_to_umfpack)
{
    csc m = {.n = FULL,
             .colptr = malloc((FULL + 1) * sizeof *m.colptr),
             .row = malloc(FULL * FULL * sizeof *m.row)};
    double complex *v = malloc(FULL * FULL * sizeof *v), x[FULL];
    lu_z lu;
    lu_z_init(&lu);
    lu.long_work = count;
    lu.long_user = &told;
    fill_full(&m, v, 1);
    ck_assert_int_eq(lu_z_analyze(&lu, &m), VS_OK);
    for (uint32_t k = 1; k <= 2; k++) {
        fill_full(&m, v, k);
        ck_assert_int_eq(lu_z_factor(&lu, (double *)v), VS_OK);
        for (int t = 0; t < 2; t++) {
            for (int32_t i = 0; i < FULL; i++)
                x[i] = cos(i) + I * sin(3 * i);
            (t ? lu_z_solve_t : lu_z_solve)(&lu, (double *)x);
            ck_assert_double_lt(full_residual(&m, v, x, t), 1e-10);
        }
    }
    ck_assert_int_eq(told, 4);
    if (lu_load_umfpack_z()) /* KLU would have kept its pivots */
        ck_assert_int_eq(lu.n_factor, 2);
    for (int32_t i = 0; i < FULL; i++)
        v[9 * FULL + i] = 0;
    ck_assert_int_eq(lu_z_factor(&lu, (double *)v), VS_ESINGULAR);
    ck_assert_int_eq(lu.singular, 9);
    lu_z_fini(&lu);
    free(m.colptr);
    free(m.row);
    free(v);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_z");
    TCase *t = tcase_create("lu_z");
    tcase_add_test(t, solves_both_ways_with_one_choice_of_pivots);
    tcase_add_test(t, bad_pivots_are_chosen_anew);
    tcase_add_test(t, singular_matrices_are_found);
    tcase_add_test(t, much_fill_is_left_to_umfpack);
    suite_add_tcase(s, t);
    return run_suite(s);
}
