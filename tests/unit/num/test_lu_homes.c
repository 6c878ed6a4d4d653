/* Tests of lu_super_split.c: which thread is at home with which supernodes. */
#include <check.h>

#include "../suite.h"
#include "lu_super_priv.h"

/* N_TREE trees of three supernodes: two below, one above them. */
enum { N_TREE = 40, N = 3 * N_TREE, MOST_HOMES = 4 };

static int32_t at[N + 1], needs[2 * N_TREE], near[N], with[N];
static double weight[N];

static lu_graph trees_of(double (*size)(int32_t tree))
{
    int32_t n = 0;
    for (int32_t k = 0; k < N; k++) {
        at[k] = n;
        if (k % 3 == 2) {
            needs[n++] = k - 2;
            needs[n++] = k - 1;
        }
        weight[k] = size(k / 3) / 3;
    }
    at[N] = n;
    return (lu_graph){0, N, at, needs, near};
}

static double even(int32_t tree)
{
    (void)tree;
    return 1;
}
static double uneven(int32_t tree) { return 1 + tree % 7; }

/* Each supernode has a home, and one tree has one. */
static void check_trees(const double *w, int n_home, double *most)
{
    double work[MOST_HOMES] = {0};
    for (int32_t k = 0; k < N; k++) {
        ck_assert_int_ge(with[k], 0);
        ck_assert_int_lt(with[k], n_home);
        ck_assert_int_eq(with[k], with[k - k % 3]);
        work[with[k]] += w[k];
    }
    *most = 0;
    for (int i = 0; i < n_home; i++)
        *most = work[i] > *most ? work[i] : *most;
}

START_TEST(trees_are_where_they_are_near_if_that_is_even)
{
    const lu_graph g = trees_of(even);
    for (int n_home = 2; n_home <= MOST_HOMES; n_home += 2)
        for (int32_t turn = 0; turn < n_home; turn++) {
            double most;
            for (int32_t k = 0; k < N; k++)
                near[k] = (k / 3 + turn) % n_home;
            lu_share_out(&g, weight, n_home, with);
            check_trees(weight, n_home, &most);
            for (int32_t k = 0; k < N; k++)
                ck_assert_int_eq(with[k], near[k]);
        }
}
END_TEST

/* All want one home: it gets its share, and no more than that and the largest tree differ. */
START_TEST(work_is_even_whoever_is_near)
{
    double (*const sizes[])(int32_t) = {even, uneven};
    for (size_t s = 0; s < VS_COUNT(sizes); s++)
        for (int n_home = 2; n_home <= MOST_HOMES; n_home++)
            for (int32_t to = -1; to < n_home; to++) {
                const lu_graph g = trees_of(sizes[s]);
                double sum = 0, most, mine = 0;
                for (int32_t k = 0; k < N; k++) {
                    near[k] = to;
                    sum += weight[k];
                }
                lu_share_out(&g, weight, n_home, with);
                check_trees(weight, n_home, &most);
                ck_assert_double_le(most, sum / n_home * 1.02 + weight[0] + 7.0 / 3);
                for (int32_t k = 0; k < N; k++)
                    mine += with[k] == to ? weight[k] : 0;
                if (to >= 0)
                    ck_assert_double_ge(mine, sum / n_home - 7);
            }
}
END_TEST

/* A tree goes where most of its work is near, wherever the rest is. */
START_TEST(most_of_a_tree_decides)
{
    const lu_graph g = trees_of(even);
    double most;
    for (int32_t k = 0; k < N; k++)
        near[k] = k % 3 == 0 ? -1 : k % 3 == 1 ? k / 3 % 2 : 1 - k / 3 % 2;
    for (int32_t k = 2; k < N; k += 3)
        weight[k] *= 1.5;
    lu_share_out(&g, weight, 2, with);
    check_trees(weight, 2, &most);
    for (int32_t k = 2; k < N; k += 3)
        ck_assert_int_eq(with[k], near[k]);
}
END_TEST

/* -- of factors: meshes beside each other, whose rows two threads have by turns -- */

enum { SIDE = 16, MESH = SIDE * SIDE, N_MESH = 32, CELLS = N_MESH * MESH };

static csc meshes(arena *mem)
{
    csc a = {.n = CELLS,
             .colptr = arena_array(mem, int32_t, CELLS + 1),
             .row = arena_array(mem, int32_t, 5 * CELLS)};
    int32_t n = 0;
    for (int32_t j = 0; j < CELLS; j++) {
        const int32_t x = j % MESH / SIDE, y = j % SIDE;
        const int32_t beside[] = {x ? j - SIDE : -1, y ? j - 1 : -1, j, y + 1 < SIDE ? j + 1 : -1,
                                  x + 1 < SIDE ? j + SIDE : -1};
        for (size_t i = 0; i < VS_COUNT(beside); i++)
            if (beside[i] >= 0)
                a.row[n++] = beside[i];
        a.colptr[j + 1] = n;
    }
    a.val = arena_array(mem, double, n);
    return a;
}

START_TEST(factors_are_at_home_where_their_rows_are)
{
    arena mem;
    arena_init(&mem);
    const csc a = meshes(&mem);
    pool *p = pool_new(2);
    klu_common common;
    klu_defaults(&common);
    klu_symbolic *sym = klu_analyze(a.n, a.colptr, a.row, &common);
    csc_cut *rows = csc_cut_new(&mem, &a, NULL, 2);
    ck_assert_int_eq(rows->block, MESH);
    for (int32_t turn = 0; turn < 2; turn++) {
        for (int32_t b = 0; b < N_MESH; b++)
            rows->of[b] = (b / 2 + turn) % 2;
        lu_super *s = lu_super_new(&a, sym, sym->P, (csc_team){p, rows}, 0, true);
        ck_assert_ptr_nonnull(s->with); /* there is work for two */
        for (int32_t o = 0; o < s->n_super; o++)
            for (int32_t k = s->start[o]; k < s->start[o + 1]; k++)
                ck_assert_int_eq(s->with[o], csc_cut_part(rows, s->q[k]));
        lu_super_free(&s);
    }
    klu_free_symbolic(&sym, &common);
    pool_free(&p);
    arena_fini(&mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_homes");
    TCase *t = tcase_create("homes");
    tcase_add_test(t, trees_are_where_they_are_near_if_that_is_even);
    tcase_add_test(t, work_is_even_whoever_is_near);
    tcase_add_test(t, most_of_a_tree_decides);
    tcase_add_test(t, factors_are_at_home_where_their_rows_are);
    suite_add_tcase(s, t);
    return run_suite(s);
}
