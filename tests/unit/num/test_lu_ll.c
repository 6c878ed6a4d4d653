/* Tests of Cholesky factors in supernodes: against the matrix that they come from. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "../suite.h"
#include "lu_ll.h"

/* Blocks of one column and of few, as they are computed here, and of so many that the BLAS does. */
static const int32_t width[] = {1, 2, 1, 3, 5, 1, 16, 4, 40, 7, 1, 30};
enum { N_SUPER = VS_COUNT(width), N = 1 + 2 + 1 + 3 + 5 + 1 + 16 + 4 + 40 + 7 + 1 + 30 };
static int32_t first[N_SUPER + 1], row_at[N_SUPER + 1], val_at[N_SUPER + 1], row[N_SUPER * N];
static double a[N][N]; /* symmetric */
static lu_ll l;

static double next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Random entries, one of 12; the diagonal is larger than the rest of its row. */
static void fill(void)
{
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++)
            if (next_random() < 1.0 / 12)
                a[i][j] = a[j][i] = next_random() - 0.5;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += fabs(a[i][j]);
        a[i][i] = 1.01 * sum + 0.1;
    }
}

/* Rows of each block: its columns, where they have entries, and rows of blocks of which it is the
 * next (Liu's elimination tree, by blocks). */
static void analyze(void)
{
    static bool in[N_SUPER][N];
    memset(in, 0, sizeof in);
    for (int s = 0; s < N_SUPER; s++)
        first[s + 1] = first[s] + width[s];
    for (int s = 0; s < N_SUPER; s++) {
        for (int i = first[s]; i < N; i++)
            for (int j = first[s]; j < first[s + 1]; j++)
                in[s][i] |= i < first[s + 1] || a[i][j] != 0;
        int next = first[s + 1], parent = s + 1;
        while (next < N && !in[s][next])
            next++;
        while (parent < N_SUPER && first[parent + 1] <= next)
            parent++;
        for (int i = next; i < N; i++)
            in[parent][i] |= in[s][i];
        row_at[s + 1] = row_at[s];
        for (int i = first[s]; i < N; i++)
            if (in[s][i])
                row[row_at[s + 1]++] = i;
        val_at[s + 1] = val_at[s] + width[s] * (row_at[s + 1] - row_at[s]);
    }
}

static void begin(void)
{
    const lu_chol_calls *lib = lu_load_cholmod();
    ck_assert_ptr_nonnull(lib);
    fill();
    analyze();
    lu_ll_init(&l, N, N_SUPER, first, row_at, row, val_at, (size_t)N * N, &lib->dense);
}

static void end(void) { lu_ll_fini(&l); }

static bool factor(double *rcond)
{
    memset(l.val, 0, (size_t)val_at[N_SUPER] * sizeof *l.val);
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++)
            if (a[i][j] != 0)
                l.val[lu_ll_at(&l, i, j)] = a[i][j];
    return lu_ll_factor(&l, rcond);
}

/* Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, theorem 10.4, for sums in
 * any order: |b - A x| <= gamma(3n+1) |L| |L'| |x|, where (|L| |L'|)_ij <= sqrt(a_ii a_jj) to first
 * order; and the rounding of the sum that is left. */
START_TEST(the_solution_fits_to_rounding)
{
    double x[N], b[N], rcond = 0;
    ck_assert(factor(&rcond));
    ck_assert_double_gt(rcond, 0);
    ck_assert_double_le(rcond, 1);
    for (int i = 0; i < N; i++)
        x[i] = b[i] = sin(3.0 * i);
    lu_ll_solve(&l, x);
    for (int i = 0; i < N; i++) {
        double left = b[i], size = fabs(b[i]), bound = 0;
        for (int j = 0; j < N; j++) {
            left -= a[i][j] * x[j];
            size += fabs(a[i][j] * x[j]);
            bound += sqrt(a[i][i] * a[j][j]) * fabs(x[j]);
        }
        ck_assert_double_le(fabs(left), DBL_EPSILON * ((3 * N + 1) * bound + (N + 1) * size));
    }
}
END_TEST

START_TEST(what_is_not_positive_definite_is_refused)
{
    static const int32_t where[] = {0, 2, 20, 50, N - 1}; /* in small blocks and in large ones */
    double rcond;
    for (size_t k = 0; k < VS_COUNT(where); k++)
        for (int what = 0; what < 2; what++) {
            const double before = a[where[k]][where[k]];
            a[where[k]][where[k]] = what ? NAN : -1e-3;
            ck_assert_msg(!factor(&rcond), "column %d, %d", (int)where[k], what);
            a[where[k]][where[k]] = before;
        }
    ck_assert(factor(&rcond));
}
END_TEST

START_TEST(factors_are_the_same_bits_each_time)
{
    double rcond, again;
    ck_assert(factor(&rcond));
    const size_t n = (size_t)val_at[N_SUPER] * sizeof(double);
    double *before = vs_malloc(n);
    memcpy(before, l.val, n);
    ck_assert(factor(&again));
    ck_assert_mem_eq(before, l.val, n);
    ck_assert_double_eq(rcond, again);
    vs_free(before);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_ll");
    TCase *t = tcase_create("lu_ll");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, the_solution_fits_to_rounding);
    tcase_add_test(t, what_is_not_positive_definite_is_refused);
    tcase_add_test(t, factors_are_the_same_bits_each_time);
    suite_add_tcase(s, t);
    return run_suite(s);
}
