/* Tests of spa: forests, counts, levels and blocks of known matrices; counts against elimination
 * done naively and against KLU's factors. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "spa.h"
#include "stream.h"

static const spa_opt with_klu = {1e12, 1e12};
static arena mem;
static unsigned long seed = 1;

static void setup(void) { arena_init(&mem); }
static void teardown(void) { arena_fini(&mem); }

static double random01(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}

/* The pattern of has[n*n], row by row. */
static csc pattern_of(int n, const bool *has)
{
    csc a = {.n = n,
             .colptr = arena_array(&mem, int32_t, n + 1),
             .row = arena_array(&mem, int32_t, n *n)};
    int nnz = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (has[i * n + j])
                a.row[nnz++] = i;
        a.colptr[j + 1] = nnz;
    }
    return a;
}

static bool *blank(int n)
{
    bool *has = arena_array(&mem, bool, n *n);
    for (int i = 0; i < n; i++)
        has[i * n + i] = true;
    return has;
}

static bool *tridiagonal(int n)
{
    bool *has = blank(n);
    for (int i = 1; i < n; i++)
        has[i * n + i - 1] = has[(i - 1) * n + i] = true;
    return has;
}

static bool *arrow(int n, int tip)
{
    bool *has = blank(n);
    for (int i = 0; i < n; i++)
        has[i * n + tip] = has[tip * n + i] = true;
    return has;
}

static bool *grid(int k)
{
    const int n = k * k;
    bool *has = blank(n);
    for (int v = 0; v < n; v++) {
        if (v % k)
            has[v * n + v - 1] = has[(v - 1) * n + v] = true;
        if (v >= k)
            has[v * n + v - k] = has[(v - k) * n + v] = true;
    }
    return has;
}

/* Entries of L after elimination in the order perm: column counts into count. */
static int64_t eliminate(int n, const bool *has, const int32_t *perm, int32_t *count)
{
    bool *w = arena_array(&mem, bool, n *n);
    int64_t all = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i * n + j] = has[perm[i] * n + perm[j]] || has[perm[j] * n + perm[i]];
    for (int k = 0; k < n; k++) {
        count[k] = 1;
        for (int i = k + 1; i < n; i++)
            if (w[i * n + k]) {
                count[k]++;
                for (int j = k + 1; j < n; j++)
                    if (w[k * n + j])
                        w[i * n + j] = true;
            }
        all += count[k];
    }
    return all;
}

static spa_report analyze(const csc *a)
{
    spa_report r;
    ck_assert_int_eq(spa_analyze(&r, a, &with_klu, &mem), VS_OK);
    return r;
}

START_TEST(a_tridiagonal_matrix_is_a_path_without_fill)
{
    const int n = 50;
    const csc a = pattern_of(n, tridiagonal(n));
    const spa_report r = analyze(&a);
    const spa_fill *f = &r.fill[SPA_NATURAL];
    for (int k = 0; k < n; k++) {
        ck_assert_int_eq(f->parent[k], k + 1 < n ? k + 1 : -1);
        ck_assert_int_eq(f->count[k], k + 1 < n ? 2 : 1);
    }
    ck_assert_int_eq(f->n_level, n);
    ck_assert_int_eq(f->n_leaf, 1);
    ck_assert_double_eq(f->critical, f->flops);
    ck_assert_int_eq(r.fill[SPA_AMD].lnz, 2 * n - 1);
    ck_assert_int_eq(r.bandwidth, 1);
    ck_assert_int_eq(r.profile, n - 1);
    ck_assert_int_eq(r.n_mirror, 2 * (n - 1));
}
END_TEST

START_TEST(an_arrow_fills_or_not_by_where_its_tip_is)
{
    const int n = 40;
    const csc first = pattern_of(n, arrow(n, 0)), last = pattern_of(n, arrow(n, n - 1));
    const spa_report rf = analyze(&first), rl = analyze(&last);
    ck_assert_int_eq(rf.fill[SPA_NATURAL].lnz, n * (n + 1) / 2);
    ck_assert_int_eq(rf.fill[SPA_NATURAL].n_level, n);
    ck_assert_int_eq(rf.fill[SPA_NATURAL].fundamental.n, 1);
    ck_assert_int_eq(rf.fill[SPA_AMD].lnz, 2 * n - 1);
    const spa_fill *f = &rl.fill[SPA_NATURAL];
    ck_assert_int_eq(f->lnz, 2 * n - 1);
    ck_assert_int_eq(f->n_level, 2);
    ck_assert_int_eq(f->level[0].n, n - 1);
    ck_assert_int_eq(f->level[1].n, 1);
    ck_assert_double_eq(f->flops, 3.0 * (n - 1));
    ck_assert_double_eq(f->critical, 3.0);
    for (int k = 0; k < n - 1; k++)
        ck_assert_int_eq(f->parent[k], n - 1);
    ck_assert_int_eq(f->fundamental.n, n); /* the root has many children */
    ck_assert_int_lt(f->relaxed.n, n);
    ck_assert_int_eq(rl.max_col, n);
}
END_TEST

static void check_counts(int n, const bool *has)
{
    const csc a = pattern_of(n, has);
    const spa_report r = analyze(&a);
    int32_t *count = arena_array(&mem, int32_t, n), *p = arena_array(&mem, int32_t, n);
    bool *square = arena_array(&mem, bool, n *n), *block = arena_array(&mem, bool, n *n);
    for (int b = 0; b < r.n_block; b++) /* the diagonal blocks, by position */
        for (int i = r.block[b]; i < r.block[b + 1]; i++)
            for (int j = r.block[b]; j < r.block[b + 1]; j++)
                block[i * n + j] = has[r.p[i] * n + r.q[j]];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                square[i * n + j] |= block[k * n + i] && block[k * n + j];
    for (int o = 0; o < SPA_N_ORDER; o++) {
        const spa_fill *f = &r.fill[o];
        memset(p, 0, sizeof *p * (size_t)n);
        for (int k = 0; k < n; k++)
            p[f->perm[k]]++;
        for (int k = 0; k < n; k++)
            ck_assert_int_eq(p[k], 1);
        ck_assert_int_eq(f->lnz, eliminate(n, f->bound ? square : block, f->perm, count));
        for (int k = 0; k < n; k++)
            ck_assert_int_eq(f->count[k], count[k]);
        ck_assert_int_eq(f->klu.state, SPA_KLU_DONE);
        ck_assert_int_eq(f->klu.off, r.n_outside);
        if (f->bound || f->klu.off_diagonal)
            continue;
        ck_assert_int_le(f->klu.lnz + f->klu.unz, 2 * f->lnz);
        if (r.n_mirror == r.n_off) { /* symmetric: KLU has what was counted */
            ck_assert_int_eq(f->klu.lnz, f->lnz);
            ck_assert_int_eq(f->klu.unz, f->lnz);
            ck_assert_double_eq(f->klu.flops, f->flops);
        }
    }
    ck_assert_int_ge(2 * r.fill[SPA_COLAMD].lnz,
                     r.fill[SPA_COLAMD].klu.lnz + r.fill[SPA_COLAMD].klu.unz);
}

START_TEST(counts_of_a_grid_are_those_of_elimination_and_of_klu)
{
    check_counts(144, grid(12));
    const csc a = pattern_of(144, grid(12));
    const spa_report r = analyze(&a);
    ck_assert_int_eq(r.bandwidth, 12);
    ck_assert_int_lt(r.fill[SPA_AMD].lnz, r.fill[SPA_NATURAL].lnz);
    ck_assert_int_lt(r.fill[SPA_ND].n_level, r.fill[SPA_NATURAL].n_level);
    ck_assert_double_gt(r.fill[SPA_ND].flops / r.fill[SPA_ND].critical, 2);
}
END_TEST

START_TEST(counts_of_random_matrices_are_those_of_elimination)
{
    for (int turn = 0; turn < 30; turn++) {
        const int n = 5 + turn * 2;
        bool *has = blank(n), symmetric = turn % 2;
        for (int k = 0; k < 2 * n; k++) {
            const int i = (int)(random01() * n), j = (int)(random01() * n);
            has[i * n + j] = true;
            if (symmetric)
                has[j * n + i] = true;
        }
        check_counts(n, has);
    }
}
END_TEST

START_TEST(matrices_without_diagonal_are_matched_first)
{
    const int n = 6; /* a cyclic shift: blocks of one row after matching */
    bool *has = arena_array(&mem, bool, n *n);
    for (int i = 0; i < n; i++)
        has[i * n + (i + 1) % n] = true;
    const csc a = pattern_of(n, has);
    const spa_report r = analyze(&a);
    ck_assert_int_eq(r.n_diag, 0);
    ck_assert_int_eq(r.rank, n);
    ck_assert_int_eq(r.n_block, n);
    ck_assert_int_eq(r.n_single, n);
    ck_assert_int_eq(r.fill[SPA_AMD].lnz, n);
    ck_assert_int_eq(r.fill[SPA_AMD].n_level, 1);
}
END_TEST

START_TEST(blocks_and_entries_outside_are_found)
{
    const int n = 7; /* 3 and 4 dense rows, one entry between */
    bool *has = blank(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            has[i * n + j] |= (i < 3) == (j < 3);
    has[1 * n + 5] = true;
    const csc a = pattern_of(n, has);
    const spa_report r = analyze(&a);
    ck_assert_int_eq(r.n_block, 2);
    ck_assert_int_eq(r.largest, 4);
    ck_assert_int_eq(r.n_outside, 1);
    ck_assert_int_eq(r.fill[SPA_AMD].nnz_lu, 9 + 16 + 1);
    ck_assert_int_eq(r.fill[SPA_AMD].fundamental.n, 2);
    ck_assert_int_eq(r.fill[SPA_AMD].fundamental.widest, 4);
}
END_TEST

START_TEST(an_empty_column_lowers_the_rank)
{
    const int n = 5;
    bool *has = tridiagonal(n);
    for (int i = 0; i < n; i++)
        has[i * n + 2] = false;
    const csc a = pattern_of(n, has);
    const spa_report r = analyze(&a);
    ck_assert_int_eq(r.rank, n - 1);
    ck_assert_int_eq(r.n_block, 1);
    ck_assert_int_eq(r.fill[SPA_AMD].klu.state, SPA_KLU_SINGULAR);
}
END_TEST

START_TEST(cuthill_mckee_finds_the_band_again)
{
    const int n = 60;
    bool *line = tridiagonal(n), *has = blank(n);
    int at[60];
    for (int i = 0; i < n; i++)
        at[i] = i * 37 % n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            has[at[i] * n + at[j]] |= line[i * n + j];
    const csc a = pattern_of(n, has);
    const spa_report r = analyze(&a);
    ck_assert_int_gt(r.bandwidth, 10);
    ck_assert_int_eq(r.bandwidth_rcm, 1);
    ck_assert_int_eq(r.profile_rcm, n - 1);
    ck_assert_int_eq(r.fill[SPA_RCM].lnz, 2 * n - 1);
}
END_TEST

START_TEST(values_tell_symmetric_from_opposite)
{
    double v[] = {1, 2, 2, 3, -5, 5, 0};
    int32_t colptr[] = {0, 2, 5, 7}, row[] = {0, 1, 0, 1, 2, 1, 2};
    const csc a = {3, colptr, row, v};
    const spa_report r = analyze(&a);
    ck_assert_int_eq(r.n_equal, 2);
    ck_assert_int_eq(r.n_opposite, 2);
    ck_assert_int_eq(r.n_zero, 1);
}
END_TEST

START_TEST(large_factorisations_are_left_out)
{
    const csc a = pattern_of(64, grid(8));
    const spa_opt none = {0, 0};
    spa_report r;
    ck_assert_int_eq(spa_analyze(&r, &a, &none, &mem), VS_OK);
    ck_assert_int_eq(r.fill[SPA_AMD].klu.state, SPA_KLU_LARGE);
}
END_TEST

/* Text of the picture of a grid of k x k nodes. */
static size_t picture_size(int k)
{
    const int n = k * k;
    csc a = {.n = n,
             .colptr = arena_array(&mem, int32_t, n + 1),
             .row = arena_array(&mem, int32_t, 5 * n)};
    int nnz = 0;
    for (int v = 0; v < n; v++) {
        const int near[] = {v - k, v % k ? v - 1 : -1, v, v % k < k - 1 ? v + 1 : -1, v + k};
        for (int i = 0; i < 5; i++)
            if (near[i] >= 0 && near[i] < n)
                a.row[nnz++] = near[i];
        a.colptr[v + 1] = nnz;
    }
    spa_report r;
    const spa_opt none = {0, 0};
    ck_assert_int_eq(spa_analyze(&r, &a, &none, &mem), VS_OK);
    char *text = NULL;
    size_t len = 0;
    FILE *fp = stream_text(&text, &len);
    spa_svg(&r, &r.fill[SPA_AMD], "a & b <c>", fp);
    fclose(fp);
    ck_assert_ptr_nonnull(strstr(text, "a &amp; b &lt;c&gt;"));
    ck_assert_ptr_nonnull(strstr(text, "</svg>\n"));
    vs_free(text);
    return len;
}

START_TEST(pictures_stay_small)
{
    ck_assert_uint_lt(picture_size(10), 60000);
    ck_assert_uint_lt(picture_size(200), 600000);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("spa");
    TCase *t = tcase_create("spa");
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_tridiagonal_matrix_is_a_path_without_fill);
    tcase_add_test(t, an_arrow_fills_or_not_by_where_its_tip_is);
    tcase_add_test(t, counts_of_a_grid_are_those_of_elimination_and_of_klu);
    tcase_add_test(t, counts_of_random_matrices_are_those_of_elimination);
    tcase_add_test(t, matrices_without_diagonal_are_matched_first);
    tcase_add_test(t, blocks_and_entries_outside_are_found);
    tcase_add_test(t, an_empty_column_lowers_the_rank);
    tcase_add_test(t, cuthill_mckee_finds_the_band_again);
    tcase_add_test(t, values_tell_symmetric_from_opposite);
    tcase_add_test(t, large_factorisations_are_left_out);
    tcase_add_test(t, pictures_stay_small);
    suite_add_tcase(s, t);
    return run_suite(s);
}
