/* Tests of num/lu_fill.c, lu_super.c and lu_klu.c: pivots on the diagonal without KLU's choice. KLU
 * itself is the reference: its pattern, its work, its pivots and what it finds singular. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "lu_super_priv.h"

static uint32_t seed;
static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(seed >> 4) * below >> 28);
}
static double noise(void) { return 0.1 + draw(1 << 20) / (double)(1 << 20); }

/* -- matrices: dense marks of small ones, then CSC -- */

enum { N = 700 };
typedef double square[N][N];

static csc csc_of(const square d)
{
    csc a = {.n = N};
    a.colptr = vs_calloc(N + 1, sizeof *a.colptr);
    a.row = vs_malloc(sizeof *a.row * N * N);
    a.val = vs_malloc(sizeof *a.val * (N * N + 1));
    int32_t nnz = 0;
    for (int32_t j = 0; j < N; j++) {
        for (int32_t i = 0; i < N; i++)
            if (d[i][j] != 0) {
                a.row[nnz] = i;
                a.val[nnz++] = d[i][j];
            }
        a.colptr[j + 1] = nnz;
    }
    return a;
}

static void drop(csc *a)
{
    vs_free(a->colptr);
    vs_free(a->row);
    vs_free(a->val);
}

/* What the matrices below have. */
typedef struct kind {
    const char *name;
    int32_t oneway;  /* entries without a mirror */
    int32_t sources; /* rows and columns of voltage sources: no diagonal */
    int32_t parts;   /* that others follow from: blocks of BTF */
    int32_t weak;    /* diagonals of 1e-9: KLU takes other pivots */
} kind;

static const kind kinds[] = {
    {.name = "symmetric"},
    {.name = "oneway", .oneway = 400},
    {.name = "mostly oneway", .oneway = 1500},
    {.name = "sources", .oneway = 50, .sources = 40},
    {.name = "parts", .oneway = 60, .sources = 10, .parts = 9},
    {.name = "weak", .oneway = 60, .sources = 10, .parts = 3, .weak = 30},
    {.name = "weak oneway", .oneway = 400, .weak = 3},
};

static void add(square d, int32_t a, int32_t b, double g)
{
    d[a][a] += g;
    d[b][b] += g;
    d[a][b] -= g;
    d[b][a] -= g;
}

static csc matrix(const kind *k, uint32_t from)
{
    double(*d)[N] = vs_calloc(N, sizeof *d);
    const int32_t nodes = N - k->sources, parts = k->parts ? k->parts : 1, size = nodes / parts;
    seed = from;
    for (int32_t i = 0; i < nodes; i++) {
        const int32_t begin = i / size * size, end = begin + size < nodes ? begin + size : nodes;
        d[i][i] += 0.05 * noise();
        if (i + 1 < end)
            add(d, i, i + 1, noise());
        if (draw(2))
            add(d, i, begin + (int32_t)draw((uint32_t)(end - begin)), noise());
        if (begin > 0 && draw(8) == 0)
            d[i][draw((uint32_t)begin)] += 0.2 * noise();
    }
    for (int32_t e = 0; e < k->oneway; e++) {
        const int32_t i = (int32_t)draw((uint32_t)nodes), begin = i / size * size;
        d[i][begin + (int32_t)draw((uint32_t)(nodes - begin < size ? nodes - begin : size))] +=
            0.1 * noise();
    }
    for (int32_t s = 0; s < k->sources; s++) /* each at a node of its own */
        d[nodes + s][s * 7] = d[s * 7][nodes + s] = 1;
    for (int32_t w = 0; w < k->weak; w++) {
        const int32_t i = (int32_t)draw((uint32_t)nodes);
        d[i][i] = 1e-9;
    }
    const csc a = csc_of((const double(*)[N])d);
    vs_free(d);
    return a;
}

/* -- KLU -- */

typedef struct reference {
    klu_common common;
    klu_symbolic *sym;
    klu_numeric *num;
} reference;

static reference begin_klu(const csc *a)
{
    reference r;
    klu_defaults(&r.common);
    r.common.scale = 2;
    r.sym = klu_analyze(a->n, a->colptr, a->row, &r.common);
    ck_assert_ptr_nonnull(r.sym);
    r.num = klu_factor(a->colptr, a->row, a->val, r.sym, &r.common);
    return r;
}

static void end_klu(reference *r)
{
    klu_free_numeric(&r->num, &r->common);
    klu_free_symbolic(&r->sym, &r->common);
}

/* -- tests -- */

/* For the pivots that KLU chose, on the diagonal or beside it, in patterns of all kinds: as many
 * entries and multiplications, and a solution that satisfies the equations as KLU's does. */
START_TEST(pattern_and_work_are_those_of_klu)
{
    for (size_t k = 0; k < VS_COUNT(kinds); k++)
        for (uint32_t turn = 1; turn < 6; turn++) {
            csc a = matrix(&kinds[k], turn);
            reference r = begin_klu(&a);
            ck_assert_ptr_nonnull(r.num);
            klu_flops(r.sym, r.num, &r.common);
            lu_super *s = lu_super_new(&a, r.sym, r.num->Pnum, (csc_team){0}, 1e6, true);
            ck_assert_int_eq(lu_super_entries(s), (int64_t)r.num->lnz + r.num->unz);
            ck_assert_double_eq(lu_super_work(s), r.common.flops / 2);
            lu_super_set_scale(s, &a);
            for (int32_t i = 0; i < N; i++) /* the same numbers, not sums of them */
                ck_assert_double_eq(lu_super_scale(s)[i], r.num->Rs[i]);
            double b[N], x[N], y[N], most = 0, far = 0;
            for (int32_t i = 0; i < N; i++)
                b[i] = y[i] = sin((double)i);
            klu_rcond(r.sym, r.num, &r.common);
            const double rcond = lu_super_factor(s, &a);
            ck_assert_double_eq_tol(rcond / r.common.rcond, 1, 1e-6);
            lu_super_solve(s, b, x);
            klu_solve(r.sym, r.num, N, 1, y, &r.common);
            for (int32_t i = 0; i < N; i++) {
                most = fmax(most, fabs(y[i]));
                far = fmax(far, fabs(x[i] - y[i]));
            }
            ck_assert_msg(far <= 1e-8 * most, "%s %u: %g of %g", kinds[k].name, turn, far, most);
            lu_super_free(&s);
            end_klu(&r);
            drop(&a);
        }
}
END_TEST

/* Columns outside of trees, with pivots on the diagonal. */
static int32_t crown_of(const csc *a, bool trees)
{
    reference r = begin_klu(a);
    lu_super *s = lu_super_new(a, r.sym, r.sym->P, (csc_team){0}, 1e6, trees);
    const int32_t n = s->n_crown;
    lu_super_free(&s);
    end_klu(&r);
    return n;
}

/* A node of a chain has two neighbours; half of the nodes have a conductance to anywhere too, and
 * where these meet is the crown. What has no mirrored pattern is in it, with all above. */
START_TEST(columns_are_in_trees_where_patterns_mirror)
{
    csc mirrored = matrix(&kinds[0], 1), oneway = matrix(&kinds[2], 1);
    const int32_t crown = crown_of(&mirrored, true);
    ck_assert_int_lt(crown, N / 2);
    ck_assert_int_gt(crown_of(&oneway, true), crown);
    ck_assert_int_eq(crown_of(&mirrored, false), N);
    drop(&mirrored);
    drop(&oneway);
}
END_TEST

/* Factors with the diagonal are accepted where KLU chooses no other pivot, and only there; with any
 * number of threads. */
START_TEST(the_diagonal_is_taken_where_klu_takes_it)
{
    int taken = 0, refused = 0;
    for (size_t k = 0; k < VS_COUNT(kinds); k++)
        for (uint32_t turn = 1; turn < 8; turn++) {
            csc a = matrix(&kinds[k], turn);
            reference r = begin_klu(&a);
            ck_assert_ptr_nonnull(r.num);
            const bool diagonal = !memcmp(r.num->Pnum, r.sym->P, sizeof(int) * N);
            taken += diagonal;
            refused += !diagonal;
            for (int threads = 1; threads <= 3; threads++) {
                pool *p = threads > 1 ? pool_new(threads) : NULL;
                lu_super *s = lu_super_new(&a, r.sym, r.sym->P, (csc_team){.pool = p}, 1e6, true);
                lu_super_set_scale(s, &a);
                const double rcond = lu_super_factor_with(s, &a, r.common.tol);
                ck_assert_msg((rcond > 0) == diagonal, "%s %u: %g", kinds[k].name, turn, rcond);
                if (diagonal) /* and the check has changed nothing */
                    ck_assert_double_eq(lu_super_factor(s, &a), rcond);
                lu_super_free(&s);
                pool_free(&p);
            }
            end_klu(&r);
            drop(&a);
        }
    ck_assert_int_gt(taken, 10);
    ck_assert_int_gt(refused, 5);
}
END_TEST

/* What lu_factor gives has the bits of KLU's choice: a solver that was given up the diagonal by
 * other values asks KLU, and finds the same pivots. After lu_restart the plan serves again. */
START_TEST(factors_have_the_bits_of_those_whose_pivots_klu_chose)
{
    for (size_t k = 0; k < 5; k++) {
        csc a = matrix(&kinds[k], 3);
        const int32_t col = 350;
        int32_t at = a.colptr[col];
        while (a.row[at] != col)
            at++;
        const double right = a.val[at];
        double x[3][N];
        lu_solver lu, asks;
        lu_init(&lu, NULL);
        lu_init(&asks, NULL);
        ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
        ck_assert_int_eq(lu_analyze(&asks, &a), VS_OK);
        a.val[at] = 1e-12;
        ck_assert_int_eq(lu_factor(&asks, &a), VS_OK);
        a.val[at] = right;
        ck_assert_int_eq(lu_factor(&asks, &a), VS_OK);
        ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        ck_assert_str_eq(lu.stat.method, "klu/supernodes");
        ck_assert_str_eq(asks.stat.method, "klu/supernodes");
        ck_assert_int_eq(lu.stat.nnz_lu, asks.stat.nnz_lu);
        ck_assert_double_eq(lu.stat.work, asks.stat.work);
        for (int32_t i = 0; i < N; i++)
            x[0][i] = x[1][i] = x[2][i] = cos((double)i);
        lu_solve(&lu, x[0], x[0]);
        lu_solve(&asks, x[1], x[1]);
        ck_assert_int_eq(memcmp(x[0], x[1], sizeof x[0]), 0);
        a.val[at] = 1e-12; /* another matrix between */
        ck_assert(lu_restart(&lu));
        ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        a.val[at] = right;
        ck_assert(lu_restart(&lu));
        ck_assert_int_eq(lu_refactor(&lu, &a), VS_REPIVOT);
        ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
        lu_solve(&lu, x[2], x[2]);
        ck_assert_int_eq(memcmp(x[0], x[2], sizeof x[0]), 0);
        lu_fini(&lu);
        lu_fini(&asks);
        drop(&a);
    }
}
END_TEST

/* Node 0 has no current in matrix 0, unknowns 0 and 1 the same equation in 1, a value that is none
 * in 2 and 3. */
START_TEST(matrices_without_factors_are_found_as_by_klu)
{
    for (int which = 0; which < 4; which++) {
        csc a = matrix(&kinds[0], 4);
        lu_solver lu, klu;
        lu_init(&lu, NULL);
        lu_init(&klu, NULL);
        klu.opt.kind = LU_KLU;
        ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
        ck_assert_int_eq(lu_analyze(&klu, &a), VS_OK);
        for (int32_t j = 0; j < N; j++)
            for (int32_t i = a.colptr[j]; i < a.colptr[j + 1]; i++)
                if (which == 0 && (a.row[i] == 400 || j == 400))
                    a.val[i] = 0;
                else if (which == 1)
                    a.val[i] = a.row[i] == j ? 1 : 0;
                else if (which == 2 && a.row[i] == 300 && j == 300)
                    a.val[i] = NAN;
                else if (which == 3 && a.row[i] == 300 && j == 300)
                    a.val[i] = INFINITY;
        if (which == 1) /* and one column without entry */
            for (int32_t i = a.colptr[123]; i < a.colptr[124]; i++)
                a.val[i] = 0;
        ck_assert_int_eq(lu_factor(&klu, &a), VS_ESINGULAR);
        ck_assert_int_eq(lu_factor(&lu, &a), VS_ESINGULAR);
        ck_assert_int_eq(lu.stat.singular, klu.stat.singular);
        lu_fini(&lu);
        lu_fini(&klu);
        drop(&a);
    }
}
END_TEST

/* A chain of gates, each pivot on the diagonal 1/500 of its column, so that KLU takes it: what
 * comes into the first one grows 500 times a stage. i + 1 of the nodes behind the chain see gate i,
 * so that minimum degree takes the gates one after the other. Then the largest entries are taken,
 * as where KLU chooses. */
START_TEST(pivots_that_grow_are_given_up)
{
    enum { GATES = 20, LAST = 2 * GATES };
    double(*d)[N] = vs_calloc(N, sizeof *d);
    for (int32_t i = 0; i < N; i++)
        d[i][i] = 1;
    for (int32_t i = 0; i < GATES; i++) {
        for (int32_t j = GATES; j <= GATES + i; j++)
            d[j][i] = 1e-200;
        if (i + 1 < GATES)
            d[i + 1][i] = -500;
    }
    for (int32_t j = GATES; j < LAST; j++)
        d[LAST][j] = 1e-200;
    d[0][LAST] = 1;
    csc a = csc_of((const double(*)[N])d);
    reference r = begin_klu(&a);
    ck_assert_int_eq(memcmp(r.num->Pnum, r.sym->P, sizeof(int) * N), 0);
    klu_rgrowth(a.colptr, a.row, a.val, r.sym, r.num, &r.common);
    lu_super *s = lu_super_new(&a, r.sym, r.sym->P, (csc_team){0}, 1e6, true);
    lu_super_set_scale(s, &a);
    ck_assert(lu_super_factor_with(s, &a, r.common.tol) > 0);
    ck_assert_double_lt(r.common.rgrowth, 1e-8); /* as sharp as KLU's number, but for rounding */
    ck_assert(lu_super_grows_beyond(s, r.common.rgrowth * (1 + 1e-6)));
    ck_assert(!lu_super_grows_beyond(s, r.common.rgrowth * (1 - 1e-6)));
    lu_super_free(&s);
    end_klu(&r);
    lu_solver lu, klu;
    double x[N], b[N], back[N] = {0}, sum[N] = {0}, most = 0;
    lu_init(&lu, NULL);
    lu_init(&klu, NULL);
    klu.opt.kind = LU_KLU;
    ck_assert_int_eq(lu_analyze(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_analyze(&klu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &a), VS_OK);
    ck_assert_int_eq(lu_factor(&klu, &a), VS_OK);
    ck_assert_int_eq(lu.stat.nnz_lu, klu.stat.nnz_lu);
    ck_assert_double_eq(lu.stat.work, klu.stat.work);
    for (int32_t i = 0; i < N; i++)
        b[i] = sin((double)i);
    lu_solve(&lu, b, x);
    for (int32_t j = 0; j < N; j++)
        for (int32_t i = a.colptr[j]; i < a.colptr[j + 1]; i++) {
            back[a.row[i]] += a.val[i] * x[j];
            sum[a.row[i]] += fabs(a.val[i] * x[j]);
        }
    for (int32_t i = 0; i < N; i++)
        most = fmax(most, sum[i] + fabs(b[i]));
    for (int32_t i = 0; i < N; i++) /* 3 n eps |L||U||x|, whose growth is some tens */
        ck_assert_msg(fabs(back[i] - b[i]) <= 3.0 * N * DBL_EPSILON * 30 * most, "row %d: %g", i,
                      back[i] - b[i]);
    lu_fini(&lu);
    lu_fini(&klu);
    drop(&a);
    vs_free(d);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_fill");
    TCase *t = tcase_create("lu_fill");
    tcase_set_timeout(t, TEST_PATIENCE);
    tcase_add_test(t, pattern_and_work_are_those_of_klu);
    tcase_add_test(t, columns_are_in_trees_where_patterns_mirror);
    tcase_add_test(t, the_diagonal_is_taken_where_klu_takes_it);
    tcase_add_test(t, factors_have_the_bits_of_those_whose_pivots_klu_chose);
    tcase_add_test(t, matrices_without_factors_are_found_as_by_klu);
    tcase_add_test(t, pivots_that_grow_are_given_up);
    suite_add_tcase(s, t);
    return run_suite(s);
}
