/* Tests of num/lu.c: every method on the same systems, choice by LU_AUTO, threads, matrices without
 * factors. */
#include <check.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "lu_priv.h"
#include "pool.h"

/* -- systems: entries by columns, built from a list -- */

typedef struct entry {
    int32_t row, col;
    double val;
} entry;

typedef struct system {
    const char *name;
    csc a;
    double *start; /* [nnz] values at first */
} system_t;

static uint32_t seed;
static double noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24) + 0.1;
}

static int by_place(const void *va, const void *vb)
{
    const entry *a = va, *b = vb;
    return a->col != b->col ? (a->col < b->col ? -1 : 1) : a->row < b->row ? -1 : a->row > b->row;
}

static system_t system_of(const char *name, int32_t n, entry *e, int32_t n_entry)
{
    system_t s = {.name = name, .a = {.n = n}};
    qsort(e, (size_t)n_entry, sizeof *e, by_place);
    s.a.colptr = vs_calloc((size_t)n + 1, sizeof(int32_t));
    s.a.row = vs_calloc((size_t)n_entry + 1, sizeof(int32_t));
    s.a.val = vs_calloc((size_t)n_entry + 1, sizeof(double));
    int32_t nnz = 0;
    for (int32_t i = 0; i < n_entry; i++) {
        if (i && e[i].row == e[i - 1].row && e[i].col == e[i - 1].col) {
            s.a.val[nnz - 1] += e[i].val;
            continue;
        }
        s.a.row[nnz] = e[i].row;
        s.a.val[nnz++] = e[i].val;
        s.a.colptr[e[i].col + 1]++;
    }
    for (int32_t k = 0; k < n; k++)
        s.a.colptr[k + 1] += s.a.colptr[k];
    s.start = vs_malloc(sizeof(double) * ((size_t)nnz + 1));
    memcpy(s.start, s.a.val, sizeof(double) * (size_t)nnz);
    return s;
}

static void drop(system_t *s)
{
    vs_free(s->a.colptr);
    vs_free(s->a.row);
    vs_free(s->a.val);
    vs_free(s->start);
}

static int32_t conductance(entry *e, int32_t k, int32_t a, int32_t b, double g)
{
    e[k] = (entry){a, a, g};
    if (b < 0)
        return k + 1;
    e[k + 1] = (entry){b, b, g};
    e[k + 2] = (entry){a, b, -g};
    e[k + 3] = (entry){b, a, -g};
    return k + 4;
}

/* Resistors on a grid of w x w x d nodes, a controlled source here and there, node 0 to ground. */
static system_t grid(const char *name, int32_t w, int32_t d)
{
    const int32_t n = w * w * d;
    entry *e = vs_malloc(sizeof *e * (size_t)n * 20);
    int32_t k = conductance(e, 0, 0, -1, 1);
    seed = 7;
    for (int32_t z = 0; z < d; z++)
        for (int32_t y = 0; y < w; y++)
            for (int32_t x = 0; x < w; x++) {
                const int32_t at = (z * w + y) * w + x;
                if (x + 1 < w)
                    k = conductance(e, k, at, at + 1, noise());
                if (y + 1 < w)
                    k = conductance(e, k, at, at + w, noise());
                if (z + 1 < d)
                    k = conductance(e, k, at, at + w * w, noise());
                if (at % 7 == 3 && x + 1 < w)
                    e[k++] = (entry){at, at + 1, noise()};
                e[k++] = (entry){at, at, 0.01 * noise()};
            }
    const system_t s = system_of(name, n, e, k);
    vs_free(e);
    return s;
}

/* Node `at` of a plane of w x w nodes, numbered from `first` on, and those behind it that it is
 * joined to. */
static int32_t join_on_plane(entry *e, int32_t k, int32_t first, int32_t at, int32_t w)
{
    const int32_t i = first + at;
    if (at % w + 1 < w)
        k = conductance(e, k, i, i + 1, noise());
    if (at + w < w * w)
        k = conductance(e, k, i, i + w, noise());
    return k;
}

/* A grid each of whose w x w nodes hangs on a supply: the row of its current has all of them. */
static system_t supplied(int32_t w)
{
    const int32_t n = w * w, supply = n, current = n + 1;
    entry *e = vs_malloc(sizeof *e * ((size_t)n * 12 + 2));
    int32_t k = 0;
    seed = 17;
    for (int32_t at = 0; at < n; at++) {
        k = join_on_plane(e, k, 0, at, w);
        k = conductance(e, k, at, supply, 0.01 * noise());
    }
    e[k++] = (entry){supply, current, 1};
    e[k++] = (entry){current, supply, 1};
    const system_t s = system_of("supply", n + 2, e, k);
    vs_free(e);
    return s;
}

/* Grids behind voltage sources: rows and columns without a diagonal, blocks that follow from
 * others. */
static system_t blocks(int32_t w)
{
    enum { PARTS = 5 };
    const int32_t n = w * w, size = n + 1;
    entry *e = vs_malloc(sizeof *e * PARTS * (size_t)size * 12);
    int32_t k = 0;
    seed = 5;
    for (int32_t p = 0; p < PARTS; p++) {
        const int32_t o = p * size, branch = o + n;
        for (int32_t i = 0; i < n; i++) {
            k = join_on_plane(e, k, o, i, w);
            e[k++] = (entry){o + i, o + i, 0.1 * noise()};
        }
        e[k++] = (entry){o, branch, 1};
        e[k++] = (entry){branch, o, 1};
        if (p)
            e[k++] = (entry){branch, o - size + 17, -2};
    }
    const system_t s = system_of("blocks", PARTS * size, e, k);
    vs_free(e);
    return s;
}

/* A grid whose nodes also see others far away that do not see them: L and U differ in pattern. */
static system_t oneway(void)
{
    enum { W = 40, N = W * W };
    entry *e = vs_malloc(sizeof *e * N * 12);
    int32_t k = 0;
    seed = 11;
    for (int32_t i = 0; i < N; i++) {
        k = join_on_plane(e, k, 0, i, W);
        e[k++] = (entry){i, i, noise()};
        if (i % 3 == 0)
            e[k++] = (entry){i, (i * 37 + 11) % N, 0.1 * noise()};
    }
    const system_t s = system_of("oneway", N, e, k);
    vs_free(e);
    return s;
}

static system_t full(int32_t n)
{
    entry *e = vs_malloc(sizeof *e * (size_t)(n * n));
    seed = 3;
    for (int32_t i = 0; i < n * n; i++)
        e[i] = (entry){i % n, i / n, noise() + (i % n == i / n ? 5 : 0)};
    const system_t s = system_of("full", n, e, n * n);
    vs_free(e);
    return s;
}

/* Rows and columns in other units: conductances of 1e-12 S beside equations of volts. */
static void rescale(system_t *s)
{
    s->name = "badly scaled";
    for (int32_t j = 0; j < s->a.n; j++)
        for (int32_t k = s->a.colptr[j]; k < s->a.colptr[j + 1]; k++)
            s->a.val[k] = s->start[k] *= pow(10, s->a.row[k] % 13 - 12) * pow(10, j % 5);
}

/* -- checks -- */

/* What elimination may leave: |r| <= 3 n eps |L||U||x| row by row (Higham, Accuracy and Stability,
 * th. 9.4). |L||U| is |A| times the growth of the elements, which is at most a few tens here: grids
 * are nearly diagonally dominant, and the full matrices small. Single rows of |L||U||x| may be much
 * larger than those of |A||x|, so the norm is bounded and not each row; elimination does not see
 * the units of rows and columns, so the norm is that of the equilibrated matrix. */
#define GROWTH 30
static double residual_bound(int32_t n) { return 3.0 * n * DBL_EPSILON * GROWTH; }

/* |r| / (|A| |x| + |b|), norms of the largest element; rows over their largest entry, then columns.
 */
static double backward_error(const csc *a, const double *x, const double *b)
{
    const size_t n = (size_t)a->n;
    double *r = vs_calloc(n, sizeof *r), *unit = vs_calloc(n, sizeof *unit);
    double *sum = vs_calloc(n, sizeof *sum), most = 0, worst = 0;
    for (int32_t k = 0; k < a->colptr[n]; k++)
        unit[a->row[k]] = fmax(unit[a->row[k]], fabs(a->val[k]));
    for (size_t j = 0; j < n; j++) {
        double col = 0;
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            r[a->row[k]] += a->val[k] * x[j];
            col = fmax(col, fabs(a->val[k]) / unit[a->row[k]]);
        }
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            sum[a->row[k]] += fabs(a->val[k]) / unit[a->row[k]] / col;
        most = fmax(most, col * fabs(x[j]));
    }
    double norm = 0, right = 0;
    for (size_t i = 0; i < n; i++) {
        norm = fmax(norm, sum[i]);
        right = fmax(right, fabs(b[i]) / unit[i]);
        worst = fmax(worst, fabs(r[i] - b[i]) / unit[i]);
    }
    vs_free(r);
    vs_free(unit);
    vs_free(sum);
    return worst / (norm * most + right);
}

/* Values that move a little with each step, signs kept. */
static void change_values(system_t *s, int step)
{
    for (int32_t k = 0; k < s->a.colptr[s->a.n]; k++)
        s->a.val[k] = s->start[k] * (1 + 0.05 * sin(step * (k % 17)));
}

/* Solutions after a factorisation and three refactorisations, x [4][n]. */
static void solve_all(system_t *s, lu_kind kind, pool *p, const char *method, double *x)
{
    const size_t n = (size_t)s->a.n;
    lu_solver lu;
    lu_init(&lu, NULL);
    lu.opt.kind = kind;
    lu.opt.pool = p;
    lu.opt.share_from = 0;
    double *b = vs_malloc(sizeof(double) * n);
    for (size_t i = 0; i < n; i++)
        b[i] = i % 11 ? sin((double)i) : 0;
    change_values(s, 0);
    ck_assert_int_eq(lu_analyze(&lu, &s->a), VS_OK);
    for (int step = 0; step < 4; step++, x += n) {
        change_values(s, step);
        if (step == 0 || lu_refactor(&lu, &s->a) != VS_OK)
            ck_assert_int_eq(lu_factor(&lu, &s->a), VS_OK);
        memcpy(x, b, sizeof(double) * n);
        lu_solve(&lu, x, x);
        const double left = backward_error(&s->a, x, b);
        ck_assert_msg(left <= residual_bound(s->a.n), "%s, %s, step %d: %g", s->name,
                      lu.stat.method, step, left);
        ck_assert_int_ge(lu_weakest(&lu), 0);
        ck_assert(lu.stat.rcond > 0 && lu.stat.rcond <= 1);
    }
    ck_assert_str_eq(lu.stat.method, method);
    vs_free(b);
    lu_fini(&lu);
}

static void compare(system_t s, const char *automatic)
{
    const size_t n4 = 4 * (size_t)s.a.n;
    double *ref = vs_malloc(sizeof(double) * n4), *x = vs_malloc(sizeof(double) * n4), scale = 0;
    solve_all(&s, LU_KLU, NULL, "klu", ref);
    for (size_t i = 0; i < n4; i++)
        scale = fmax(scale, fabs(ref[i]));
    const struct {
        lu_kind kind;
        const char *method;
    } t[] = {{LU_UMFPACK, "umfpack"}, {LU_DENSE, "dense"}, {LU_AUTO, automatic}};
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        solve_all(&s, t[k].kind, NULL, t[k].method, x);
        for (size_t i = 0; i < n4; i++)
            ck_assert_msg(fabs(x[i] - ref[i]) <= 1e-9 * scale, "%s, %s: x[%zu] = %.17g, KLU: %.17g",
                          s.name, t[k].method, i, x[i], ref[i]);
    }
    vs_free(ref);
    vs_free(x);
    drop(&s);
}

START_TEST(methods_agree_and_the_automatic_one_is_by_size)
{
    compare(grid("small", 4, 1), "klu/tiny");
    compare(grid("medium", 12, 1), "klu");
    compare(grid("plane", 40, 1), "klu/supernodes");
    compare(grid("cube", 11, 11), "klu/supernodes");
    compare(blocks(12), "klu/supernodes");
    compare(full(30), "klu");
    compare(full(150), "dense");
    system_t s = grid("", 30, 1);
    rescale(&s);
    compare(s, "klu/supernodes");
}
END_TEST

START_TEST(brief_factors_have_no_list)
{
    static const struct {
        int edge; /* of a grid */
        const char *brief;
    } t[] = {{4, "klu"}, {40, "klu"}, {65, "klu/supernodes"}}; /* 65^2 is above 4096 */
    for (size_t k = 0; k < VS_COUNT(t); k++) {
        system_t s = grid("", t[k].edge, 1);
        lu_solver lu;
        const lu_opt o = {.pivot_tol = 1e-3, .rcond_drop = 1e-3, .growth_min = 1e-8, .brief = true};
        lu_init(&lu, &o);
        ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
        ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
        ck_assert_str_eq(lu.stat.method, t[k].brief);
        lu_fini(&lu);
        drop(&s);
    }
}
END_TEST

START_TEST(great_fill_is_left_to_umfpack)
{
    system_t s = grid("large cube", 24, 24);
    double *x = vs_malloc(sizeof(double) * 4 * (size_t)s.a.n);
    solve_all(&s, LU_AUTO, NULL, "umfpack", x);
    vs_free(x);
    drop(&s);
}
END_TEST

/* Conductances on a plane of w x w nodes; behind two voltage sources, one of them through a node of
 * its own, so that rows and columns of one unknown stand before and behind it. */
static system_t mesh(int32_t w)
{
    /* nodes v, v + 1; currents v + 2, v + 3; a node with a source alone, its current */
    const int32_t n = w * w + 6, v = w * w;
    entry *e = vs_malloc(sizeof *e * (size_t)n * 20);
    int32_t k = conductance(e, 0, 0, v, 2);
    seed = 11;
    for (int32_t at = 0; at < w * w; at++) {
        if (at % w + 1 < w)
            k = conductance(e, k, at, at + 1, noise());
        if (at + w < w * w)
            k = conductance(e, k, at, at + w, noise());
        k = conductance(e, k, at, -1, 1e-3);
    }
    k = conductance(e, k, w, v + 1, 1);
    for (int32_t s = 0; s < 2; s++) {
        e[k++] = (entry){v + s, v + 2 + s, 1};
        e[k++] = (entry){v + 2 + s, v + s, 1};
    }
    e[k++] = (entry){v + 4, v + 4, 0};
    e[k++] = (entry){v + 4, v + 5, 1};
    e[k++] = (entry){v + 5, v + 4, 1};
    const system_t s = system_of("mesh", n, e, k);
    vs_free(e);
    return s;
}

/* The solution for b, and what the method says of itself. */
static void solve_one(lu_solver *lu, const system_t *s, double *x, const char *method)
{
    double *b = vs_malloc(sizeof(double) * (size_t)s->a.n);
    for (int32_t i = 0; i < s->a.n; i++)
        b[i] = sin((double)i);
    const vs_status again = lu_refactor(lu, &s->a);
    ck_assert(again == VS_OK || again == VS_REPIVOT);
    if (again != VS_OK)
        ck_assert_int_eq(lu_factor(lu, &s->a), VS_OK);
    lu_solve(lu, b, x);
    const double left = backward_error(&s->a, x, b);
    ck_assert_msg(left <= residual_bound(s->a.n), "%s: %g", lu->stat.method, left);
    ck_assert_str_eq(lu->stat.method, method);
    vs_free(b);
}

/* Symmetric values stay with Cholesky; one entry that has no mirror, or a matrix that is not
 * definite, goes back to KLU with the right solution. */
START_TEST(large_meshes_are_left_to_cholesky_as_long_as_it_can)
{
    system_t s = mesh(80);
    double *x = vs_malloc(sizeof(double) * (size_t)s.a.n);
    for (int what = 0; what < 2; what++) {
        lu_solver lu;
        lu_init(&lu, NULL);
        memcpy(s.a.val, s.start, sizeof(double) * (size_t)s.a.colptr[s.a.n]);
        ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
        solve_one(&lu, &s, x, "cholesky");
        for (int32_t k = 0; k < s.a.colptr[s.a.n]; k++)
            s.a.val[k] = 3 * s.start[k];
        solve_one(&lu, &s, x, "cholesky");
        for (int32_t k = s.a.colptr[5]; k < s.a.colptr[6]; k++)
            if (what == 0 ? s.a.row[k] == 4 : s.a.row[k] == 5)
                s.a.val[k] *= what == 0 ? 1.5 : 0.01;
        solve_one(&lu, &s, x, "klu/supernodes");
        lu_fini(&lu);
    }
    vs_free(x);
    drop(&s);
}
END_TEST

/* Whichever half has it: CHOLMOD reads one half alone. */
START_TEST(cholesky_refuses_an_entry_without_a_mirror)
{
    for (int upper = 0; upper < 3; upper++) { /* in the lower half, in the upper half, none */
        entry e[20];
        lu_solver lu;
        int32_t k = 0;
        for (int32_t at = 0; at < 4; at++)
            k = conductance(e, k, at, at < 3 ? at + 1 : -1, 1);
        if (upper < 2)
            e[k++] = upper ? (entry){0, 3, 0.5} : (entry){3, 0, 0.5};
        system_t s = system_of("path", 4, e, k);
        lu_init(&lu, &(lu_opt){.kind = LU_CHOLESKY, .pivot_tol = 1e-3});
        ck_assert_int_eq(lu_analyze(&lu, &s.a), upper < 2 ? VS_EUNSUPPORTED : VS_OK);
        if (upper < 2)
            ck_assert_str_eq(lu.stat.why, "it is not symmetric");
        lu_fini(&lu);
        drop(&s);
    }
}
END_TEST

/* Two matrices in turn: as soon as one has come back their factors are kept, with the same bits; a
 * third one is made, and the kept ones stay. */
START_TEST(cholesky_keeps_factors_of_matrices_that_come_back)
{
    static const int turn[] = {0, 1, 0, 1, 0, 1, 2, 1, 0}, made[] = {1, 2, 3, 4, 4, 4, 5, 5, 5};
    system_t s = mesh(80);
    const size_t bytes = sizeof(double) * (size_t)s.a.n;
    double *x = vs_malloc(bytes), *first[3] = {0};
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    for (size_t k = 0; k < VS_COUNT(turn); k++) {
        const double scale = 1 + 0.3 * turn[k];
        for (int32_t i = 0; i < s.a.colptr[s.a.n]; i++)
            s.a.val[i] = scale * s.start[i];
        solve_one(&lu, &s, x, "cholesky");
        ck_assert_int_eq(lu.stat.n_factor + lu.stat.n_refactor, made[k]);
        if (!first[turn[k]]) {
            first[turn[k]] = vs_malloc(bytes);
            memcpy(first[turn[k]], x, bytes);
        }
        ck_assert_int_eq(memcmp(x, first[turn[k]], bytes), 0);
    }
    lu_fini(&lu);
    for (int k = 0; k < 3; k++)
        vs_free(first[k]);
    vs_free(x);
    drop(&s);
}
END_TEST

/* A chain of gates: each row has a conductance and the gain of the gate before; capacitors, whose
 * entries are 0 at rest, lead back. */
static system_t gates(int32_t n)
{
    entry *e = vs_malloc(sizeof *e * (size_t)n * 3);
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        e[k++] = (entry){i, i, 1};
        if (i) {
            e[k++] = (entry){i, i - 1, i % 10 ? -10 : -1e-9}; /* the solution stays a number */
            e[k++] = (entry){i - 1, i, 0};
        }
    }
    const system_t s = system_of("gates", n, e, k);
    vs_free(e);
    return s;
}

/* The place of an entry. */
static double *entry_at(system_t *s, int32_t row, int32_t col)
{
    return &s->a.val[csc_find(&s->a, row, col)];
}

/* x[i] = b[i] - sum of the gains times x[i - 1]: nothing is divided and little is rounded. */
static void check_chain(lu_solver *lu, system_t *s)
{
    const int32_t n = s->a.n;
    double *b = vs_malloc(sizeof(double) * (size_t)n), *x = vs_malloc(sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < n; i++)
        b[i] = sin((double)i);
    lu_solve(lu, b, x);
    for (int32_t i = 0; i < n; i++) {
        double sum = x[i] * *entry_at(s, i, i), size = fabs(sum) + fabs(b[i]);
        for (int32_t j = i - 1; j <= i + 1; j += 2)
            if (j >= 0 && j < n) {
                const double part = *entry_at(s, i, j) * x[j];
                sum += part;
                size += fabs(part);
            }
        ck_assert_msg(fabs(sum - b[i]) <= residual_bound(3) * size, "row %d: %g of %g", i,
                      sum - b[i], size);
    }
    vs_free(b);
    vs_free(x);
}

/* Each gate is a block of its own: one entry of L and one of U each, and no other. With the
 * capacitors all are one block. What comes to be other than 0 is taken in, more than once; at the
 * end the whole matrix is left, without factors. */
START_TEST(what_is_0_at_rest_is_left_out)
{
    enum { N = 1500 };
    system_t s = gates(N);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    lu_at_rest(&lu, &s.a, true);
    ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
    ck_assert_int_eq(lu.stat.nnz_lu, 2 * N);
    ck_assert_str_eq(lu.stat.method, "klu"); /* they may serve once: no plan yet */
    check_chain(&lu, &s);
    for (int32_t i = 0; i < N; i++)
        *entry_at(&s, i, i) = 1 + 0.1 * (i % 3);
    ck_assert_int_eq(lu_refactor(&lu, &s.a), VS_OK);
    ck_assert_str_eq(lu.stat.method, "klu/supernodes");
    check_chain(&lu, &s);
    int32_t anew = 0;
    for (int32_t more = 1; more < 20; more++) {
        *entry_at(&s, 10 * more - 1, 10 * more) = 1e-3;
        if (lu_refactor(&lu, &s.a) != VS_OK) {
            ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
            anew++;
        }
        check_chain(&lu, &s);
    }
    ck_assert_int_gt(anew, 1);
    ck_assert_int_lt(anew, 19); /* then the whole matrix */
    lu_at_rest(&lu, &s.a, false);
    ck_assert_int_eq(lu_restart(&lu), true);
    ck_assert_int_eq(lu_refactor(&lu, &s.a), VS_REPIVOT);
    ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
    check_chain(&lu, &s);
    lu_fini(&lu);
    drop(&s);
}
END_TEST

/* A cube whose factors are much work, with entries of 0 at rest. A pivot on the diagonal fails: KLU
 * chooses. The plan for the diagonal is kept, and tried again. */
START_TEST(a_pivot_that_fails_at_rest_may_serve_later)
{
    system_t s = grid("cube", 18, 18);
    const double usual = *entry_at(&s, 0, 0);
    double *x = vs_calloc((size_t)s.a.n, sizeof *x);
    lu_solver lu;
    lu_init(&lu, NULL);
    for (int32_t i = 0; i + 1 < s.a.n; i += 4)
        if (csc_find(&s.a, i, i + 1) >= 0)
            *entry_at(&s, i, i + 1) = *entry_at(&s, i + 1, i) = 0;
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    lu_at_rest(&lu, &s.a, true);
    *entry_at(&s, 0, 0) = 1e-9;
    ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
    solve_one(&lu, &s, x, "klu");
    *entry_at(&s, 0, 0) = usual;
    ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
    solve_one(&lu, &s, x, "klu/supernodes");
    vs_free(x);
    lu_fini(&lu);
    drop(&s);
}
END_TEST

/* An ordering that waits is the same, whoever makes it: the caller, or another thread before the
 * first factors. What no values could determine is told at once. */
START_TEST(an_ordering_that_waits_is_the_same)
{
    enum { W = 60, N = W * W };
    system_t s = grid("plane", W, 1), empty = grid("plane", W, 1);
    double *x[3];
    pool *threads = pool_new(2);
    for (int k = 0; k < 3; k++) {
        lu_solver lu;
        lu_init(&lu, NULL);
        lu.opt.pool = k ? threads : NULL;
        ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
        if (k == 2)
            lu_plan(&lu, &s.a);
        ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
        x[k] = vs_calloc(N, sizeof(double));
        x[k][3] = 1;
        lu_solve(&lu, x[k], x[k]);
        ck_assert_int_eq(memcmp(x[0], x[k], sizeof(double) * N), 0);
        lu_fini(&lu);
    }
    lu_solver lu;
    lu_init(&lu, NULL);
    lu.opt.pool = threads;
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    lu_plan(&lu, &s.a);
    lu_fini(&lu); /* while it is made */
    const int32_t at = empty.a.colptr[6], gone = empty.a.colptr[7] - at;
    memmove(empty.a.row + at, empty.a.row + at + gone,
            sizeof(int32_t) * (size_t)(csc_nnz(&empty.a) - at - gone));
    for (int32_t j = 7; j <= N; j++)
        empty.a.colptr[j] -= gone;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &empty.a), VS_ESINGULAR);
    ck_assert_int_eq(lu.stat.singular, 6);
    lu_fini(&lu);
    pool_free(&threads);
    for (int k = 0; k < 3; k++)
        vs_free(x[k]);
    drop(&s);
    drop(&empty);
}
END_TEST

/* A matrix that has no factors is told of as without lu_at_rest, and one without zeros has the bits
 * of one that nobody called at rest. */
START_TEST(at_rest_matrices_without_zeros_or_factors_are_as_always)
{
    enum { N = 1500 };
    system_t s = gates(N), plane = grid("plane", 40, 1);
    lu_solver lu, other;
    double x[2][1600], b[1600];
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    *entry_at(&s, 700, 700) = *entry_at(&s, 701, 700) = 0;
    lu_at_rest(&lu, &s.a, true);
    ck_assert_int_eq(lu_factor(&lu, &s.a), VS_ESINGULAR);
    ck_assert_int_eq(lu.stat.singular, 700);
    lu_fini(&lu); /* as it is, at rest */
    lu_init(&lu, NULL);
    lu_init(&other, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &plane.a), VS_OK);
    ck_assert_int_eq(lu_analyze(&other, &plane.a), VS_OK);
    lu_at_rest(&lu, &plane.a, true);
    ck_assert_int_eq(lu_factor(&lu, &plane.a), VS_OK);
    ck_assert_int_eq(lu_factor(&other, &plane.a), VS_OK);
    for (int32_t i = 0; i < 1600; i++)
        b[i] = sin((double)i);
    lu_solve(&lu, b, x[0]);
    lu_solve(&other, b, x[1]);
    ck_assert_int_eq(memcmp(x[0], x[1], sizeof x[0]), 0);
    lu_fini(&lu);
    lu_fini(&other);
    drop(&plane);
    drop(&s);
}
END_TEST

/* A chain of gates with this gain, each of which hangs on a node of a plane of w x w nodes: what
 * flows into its output comes from there. */
static system_t chain_on_plane(int32_t w, double gain)
{
    const int32_t n = w * w;
    entry *e = vs_malloc(sizeof *e * (size_t)n * 20);
    int32_t k = 0;
    seed = 13;
    for (int32_t at = 0; at < n; at++) {
        const int32_t gate = n + at, before = gate - 1;
        k = join_on_plane(e, k, 0, at, w);
        k = conductance(e, k, at, -1, 1e-2);
        k = conductance(e, k, at, gate, 1e-3);
        if (at == 0)
            continue;
        e[k++] = (entry){gate, before, gain * 1e-3};
        e[k++] = (entry){at, before, -gain * 1e-3};
    }
    const system_t s = system_of("chain on a plane", 2 * n, e, k);
    vs_free(e);
    return s;
}

/* With a gain of 1e5 pivots stand beside the diagonal and fill the factors. These are refused if
 * the solver is to do so and the matrix is large; those of a chain without gain are not, and are
 * the same bits. */
START_TEST(factors_that_pivots_fill_are_refused)
{
    static const struct {
        int32_t w;
        double gain;
        vs_status st;
    } t[] = {{60, 1e5, VS_NOCONV}, {60, 0.1, VS_OK}, {30, 1e5, VS_OK}};
    for (size_t k = 0; k < sizeof t / sizeof t[0]; k++) {
        system_t s = chain_on_plane(t[k].w, t[k].gain);
        double *x[2];
        for (int refuse = 0; refuse < 2; refuse++) {
            lu_solver lu;
            lu_init(&lu, NULL);
            x[refuse] = vs_calloc((size_t)s.a.n, sizeof(double));
            x[refuse][3] = 1;
            lu.opt.refuse_fill = refuse;
            ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
            const vs_status st = lu_factor(&lu, &s.a);
            ck_assert_int_eq(st, refuse ? t[k].st : VS_OK);
            if (st != VS_OK) {
                ck_assert_int_eq(lu.stat.n_factor, 0);
                lu.opt.refuse_fill = false; /* the next call makes them */
                ck_assert_int_eq(lu_refactor(&lu, &s.a), VS_REPIVOT);
                ck_assert_int_eq(lu_factor(&lu, &s.a), VS_OK);
            }
            ck_assert_int_eq(lu.stat.n_factor, 1);
            lu_solve(&lu, x[refuse], x[refuse]);
            lu_fini(&lu);
        }
        ck_assert_int_eq(memcmp(x[0], x[1], sizeof(double) * (size_t)s.a.n), 0);
        vs_free(x[0]);
        vs_free(x[1]);
        drop(&s);
    }
}
END_TEST

START_TEST(results_do_not_depend_on_threads)
{
    system_t all[] = {grid("plane", 60, 1), grid("cube", 12, 12), blocks(36), oneway(),
                      supplied(60)};
    for (size_t k = 0; k < VS_COUNT(all); k++) {
        const bool is_long = k == VS_COUNT(all) - 1; /* 3,600 entries are summed in two chunks */
        const size_t n4 = 4 * (size_t)all[k].a.n;
        double *ref = vs_malloc(sizeof(double) * n4), *x = vs_malloc(sizeof(double) * n4);
        solve_all(&all[k], LU_AUTO, NULL, "klu/supernodes", ref);
        for (int threads = 2; threads <= 4; threads++) {
            pool *p = pool_new(threads);
            pool_watch(p, true);
            solve_all(&all[k], LU_AUTO, p, "klu/supernodes", x);
            /* below and above, four times; and the chunks */
            ck_assert_int_eq(pool_spent(p, POOL_SOLVE).jobs, is_long ? 12 : 8);
            ck_assert_msg(!memcmp(x, ref, sizeof(double) * n4), "%s, %d threads", all[k].name,
                          threads);
            pool_free(&p);
        }
        vs_free(ref);
        vs_free(x);
        drop(&all[k]);
    }
}
END_TEST

/* Coarse solutions x [3][n] for b, c and b + c, and that of b by the factors themselves. */
static void solve_coarse(const system_t *s, pool *p, double *x, double *fine, double *b)
{
    const size_t n = (size_t)s->a.n;
    lu_solver lu;
    lu_init(&lu, NULL);
    lu.opt.pool = p;
    lu.opt.share_from = lu.opt.coarse_from = 0;
    ck_assert_int_eq(lu_analyze(&lu, &s->a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &s->a), VS_OK);
    ck_assert_str_eq(lu.stat.method, "klu/supernodes");
    for (size_t i = 0; i < n; i++) {
        b[i] = x[i] = sin((double)i);
        x[n + i] = cos((double)i);
        x[2 * n + i] = x[i] + x[n + i];
    }
    lu_solve(&lu, b, fine);
    for (int k = 0; k < 3; k++)
        lu_solve_coarse(&lu, x + (size_t)k * n, x + (size_t)k * n);
    lu_fini(&lu);
}

/* Factors rounded to 24 bits for 53: 2^29 times the error, of a matrix that is the same each time.
 */
START_TEST(coarse_solutions_are_near_and_linear)
{
    system_t all[] = {grid("plane", 60, 1), grid("cube", 12, 12), blocks(36), oneway(),
                      supplied(60)};
    for (size_t k = 0; k < VS_COUNT(all); k++) {
        const size_t n = (size_t)all[k].a.n;
        double *work = vs_malloc(sizeof(double) * 8 * n), *x = work, *y = work + 3 * n,
               *fine = work + 6 * n, *b = work + 7 * n, scale = 0;
        solve_coarse(&all[k], NULL, x, fine, b);
        ck_assert_double_le(backward_error(&all[k].a, x, b), 0x1p29 * residual_bound(all[k].a.n));
        ck_assert(memcmp(x, fine, sizeof(double) * n));
        for (size_t i = 0; i < 3 * n; i++)
            scale = fmax(scale, fabs(x[i]));
        for (size_t i = 0; i < n; i++)
            ck_assert_double_le(fabs(x[i] + x[n + i] - x[2 * n + i]), 1e-9 * scale);
        for (int threads = 2; threads <= 3; threads++) {
            pool *p = pool_new(threads);
            solve_coarse(&all[k], p, y, fine, b);
            ck_assert_int_eq(memcmp(x, y, sizeof(double) * 3 * n), 0);
            pool_free(&p);
        }
        vs_free(work);
        drop(&all[k]);
    }
}
END_TEST

START_TEST(values_that_cannot_be_rounded_stay)
{
    static const double unit[] = {1e60, 1e-60};
    for (size_t k = 0; k < VS_COUNT(unit); k++) {
        system_t s = grid("plane", 24, 1);
        const size_t n = (size_t)s.a.n;
        double *x = vs_malloc(sizeof(double) * 5 * n);
        for (int32_t i = 0; i < csc_nnz(&s.a); i++)
            s.a.val[i] *= unit[k];
        solve_coarse(&s, NULL, x, x + 3 * n, x + 4 * n);
        ck_assert_int_eq(memcmp(x, x + 3 * n, sizeof(double) * n), 0);
        vs_free(x);
        drop(&s);
    }
}
END_TEST

/* -- orderings -- */

/* Word lines across and pairs of bit lines down a square of w cells a side, each a wire with three
 * nodes between two cells that couples to the line before it; cells of a row share two supplies.
 * Unknowns: 5 of each cell (two inner ones, its places on word line and bit lines), the supplies,
 * then those along the wires. */
typedef struct array {
    int32_t w, n, k;
    entry *e;
    int32_t *before, *line; /* [4 w] nodes of the last line, of the present one */
} array_t;

static void wire(array_t *a, int32_t first, int32_t step, bool coupled)
{
    enum { BETWEEN = 3 };
    int32_t m = 0;
    for (int32_t i = 0; i < a->w; i++)
        for (int32_t j = 0; j <= BETWEEN; j++) {
            a->line[m] = j ? a->n++ : first + i * step;
            if (m)
                a->k = conductance(a->e, a->k, a->line[m - 1], a->line[m], 10 * noise());
            if (coupled && m % 2 == 0)
                a->k = conductance(a->e, a->k, a->line[m], a->before[m], 0.1 * noise());
            m++;
        }
    memcpy(a->before, a->line, sizeof *a->line * (size_t)m);
}

static system_t array_of(int32_t w, bool turned)
{
    const int32_t cells = w * w, most = 5 * cells + 2 * w + 12 * cells;
    array_t a = {.w = w, .n = 5 * cells + 2 * w, .e = vs_malloc(sizeof(entry) * (size_t)most * 16)};
    a.before = vs_malloc(sizeof(int32_t) * (size_t)w * 4);
    a.line = vs_malloc(sizeof(int32_t) * (size_t)w * 4);
    seed = 13;
    for (int32_t i = 0; i < cells; i++) {
        const int32_t q = 5 * i, supply = 5 * cells + 2 * (i / w);
        const struct {
            int32_t a, b;
        } t[] = {{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 4}, {2, 3}, {2, 4}};
        for (size_t j = 0; j < VS_COUNT(t); j++)
            a.k = conductance(a.e, a.k, q + t[j].a, q + t[j].b, noise());
        for (int32_t j = 0; j < 4; j++)
            a.k = conductance(a.e, a.k, q + j / 2, supply + j % 2, noise());
    }
    for (int32_t i = 0; i < w; i++)
        wire(&a, 5 * i * w + 2, 5, i > 0);
    for (int32_t i = 0; i < 2 * w; i++)
        wire(&a, 5 * (i / 2) + 3 + i % 2, 5 * w, true);
    for (int32_t i = 0; i < a.n; i++)
        a.e[a.k++] = (entry){i, i, 0.1 * noise()};
    for (int32_t i = 0; turned && i < a.k; i++)
        a.e[i] = (entry){a.n - 1 - a.e[i].row, a.n - 1 - a.e[i].col, a.e[i].val};
    const system_t s = system_of("array", a.n, a.e, a.k);
    vs_free(a.e);
    vs_free(a.before);
    vs_free(a.line);
    return s;
}

/* Multiplications of factors whose pivots are perm[0], perm[1] ... on the diagonal; the pattern is
 * symmetric. */
static double work_of(const csc *a, const int32_t *perm)
{
    const size_t n = (size_t)a->n, bytes = sizeof(int32_t) * n;
    int32_t *place = vs_malloc(bytes), *parent = vs_malloc(bytes), *seen = vs_malloc(bytes);
    double *below = vs_calloc(n, sizeof *below), work = 0;
    for (int32_t k = 0; k < a->n; k++)
        place[perm[k]] = k;
    for (int32_t k = 0; k < a->n; k++) {
        parent[k] = -1;
        seen[k] = k;
        for (int32_t i = a->colptr[perm[k]]; i < a->colptr[perm[k] + 1]; i++)
            for (int32_t p = place[a->row[i]]; p < k && seen[p] != k; p = parent[p]) {
                parent[p] = parent[p] < 0 ? k : parent[p];
                seen[p] = k;
                below[p]++;
            }
    }
    for (size_t k = 0; k < n; k++)
        work += below[k] * below[k];
    vs_free(place);
    vs_free(parent);
    vs_free(seen);
    vs_free(below);
    return work;
}

/* An ordering is taken unless another of the four has less than 0.85 of its work, whichever end
 * comes first: that of AMD alone differs by 1.22. */
START_TEST(work_does_not_depend_on_the_end_where_an_ordering_begins)
{
    double work[2];
    for (int turned = 0; turned < 2; turned++) {
        system_t s = array_of(41, turned);
        klu_common common;
        lu_ordering with = {0};
        klu_defaults(&common);
        common.user_data = &with;
        int32_t *perm = vs_malloc(sizeof(int32_t) * (size_t)s.a.n);
        ck_assert_int_gt(lu_order(s.a.n, s.a.colptr, s.a.row, perm, &common), s.a.n);
        work[turned] = work_of(&s.a, perm);
        vs_free(perm);
        drop(&s);
    }
    ck_assert_msg(work[0] <= work[1] / 0.85 && work[1] <= work[0] / 0.85, "%g and %g", work[0],
                  work[1]);
}
END_TEST

/* Threads share orderings from 20,000 entries on. */
START_TEST(orderings_do_not_depend_on_threads)
{
    system_t s = array_of(81, 0);
    ck_assert_int_gt(csc_nnz(&s.a), 20000);
    int32_t *perm[2];
    for (int i = 0; i < 2; i++) {
        klu_common common;
        lu_ordering with = {.pool = pool_new(1 + 2 * i)};
        klu_defaults(&common);
        common.user_data = &with;
        perm[i] = vs_malloc(sizeof(int32_t) * (size_t)s.a.n);
        ck_assert_int_gt(lu_order(s.a.n, s.a.colptr, s.a.row, perm[i], &common), s.a.n);
        ck_assert_double_gt(with.work, 200.0 * csc_nnz(&s.a)); /* others are tried */
        pool_free(&with.pool);
    }
    ck_assert_mem_eq(perm[0], perm[1], sizeof **perm * (size_t)s.a.n);
    vs_free(perm[0]);
    vs_free(perm[1]);
    drop(&s);
}
END_TEST

/* Two solvers with factors of the same matrix. */
static void factor_both(const system_t *s, lu_solver *some, lu_solver *all)
{
    lu_init(some, NULL);
    lu_init(all, NULL);
    ck_assert_int_eq(lu_analyze(some, &s->a), VS_OK);
    ck_assert_int_eq(lu_analyze(all, &s->a), VS_OK);
    ck_assert_int_eq(lu_factor(some, &s->a), VS_OK);
    ck_assert_int_eq(lu_factor(all, &s->a), VS_OK);
}

/* The solution for a right side of ones, bit by bit, of factors that are all made anew. */
static void solve_anew(system_t *s, lu_solver *lu, double *x)
{
    ck_assert(lu_restart(lu));
    ck_assert_int_eq(lu_factor(lu, &s->a), VS_OK);
    for (int32_t i = 0; i < s->a.n; i++)
        x[i] = 1;
    lu_solve(lu, x, x);
    ck_assert_str_eq(lu->stat.method, "klu/supernodes");
}

START_TEST(columns_made_anew_have_the_bits_of_all_made_anew)
{
    system_t s = grid("cube", 9, 9);
    const size_t n = (size_t)s.a.n;
    double *x = vs_malloc(sizeof(double) * n), *y = vs_malloc(sizeof(double) * n);
    lu_solver some, all;
    factor_both(&s, &some, &all);
    for (int32_t col = 0; col < s.a.n; col += 31) {
        for (int32_t k = s.a.colptr[col]; k < s.a.colptr[col + 1]; k++)
            s.a.val[k] *= s.a.row[k] == col ? 1.01 : 1;
        ck_assert_int_eq(lu_refactor(&some, &s.a), VS_OK);
        for (int32_t i = 0; i < s.a.n; i++)
            y[i] = 1;
        lu_solve(&some, y, y);
        solve_anew(&s, &all, x);
        ck_assert_msg(!memcmp(x, y, sizeof(double) * n), "column %d", col);
    }
    lu_fini(&some);
    lu_fini(&all);
    vs_free(x);
    vs_free(y);
    drop(&s);
}
END_TEST

/* Values of all columns change, of which those of a part count, in trees and in the crown, as in
 * factors of a matrix where the others have not changed; at last all do. */
START_TEST(only_columns_of_a_part_count)
{
    enum { WIDTH = 15, PART = 5 * WIDTH * WIDTH / 3 };
    system_t s = array_of(WIDTH, false);
    const size_t n = (size_t)s.a.n, bytes = sizeof(double) * n;
    const size_t values = sizeof(double) * (size_t)csc_nnz(&s.a);
    double *x = vs_malloc(bytes), *y = vs_malloc(bytes), *now = vs_malloc(values);
    lu_part p = {.n = PART, .n_column = s.a.n};
    int32_t *column = vs_malloc(sizeof(int32_t) * PART);
    lu_solver some, all;
    for (int32_t i = 0; i < PART; i++)
        column[i] = 3 * i + 1;
    p.column = column;
    factor_both(&s, &some, &all);
    memcpy(now, s.a.val, values);
    for (int turn = 1; turn <= 4; turn++) {
        for (int32_t j = 0; j < s.a.n; j++)
            for (int32_t k = s.a.colptr[j]; k < s.a.colptr[j + 1]; k++)
                s.a.val[k] *= s.a.row[k] == j ? 1 + 0.01 * turn : 1;
        if (turn < 4)
            ck_assert_int_eq(lu_refactor_part(&some, &s.a, &p), VS_OK);
        else
            ck_assert_int_eq(lu_refactor(&some, &s.a), VS_OK);
        for (int32_t j = 0; j < s.a.n; j++)
            for (int32_t k = s.a.colptr[j]; k < s.a.colptr[j + 1]; k++)
                if (turn == 4 || (j % 3 == 1 && j / 3 < PART))
                    now[k] = s.a.val[k];
        double *val = s.a.val;
        s.a.val = now;
        solve_anew(&s, &all, x);
        s.a.val = val;
        for (size_t i = 0; i < n; i++)
            y[i] = 1;
        lu_solve(&some, y, y);
        ck_assert_msg(!memcmp(x, y, bytes), "turn %d", turn);
    }
    lu_fini(&some);
    lu_fini(&all);
    vs_free(column);
    vs_free(now);
    vs_free(x);
    vs_free(y);
    drop(&s);
}
END_TEST

/* Pivots of values 1, factors of values `last`, made again: the same bits from there on. */
static void check_image(system_t *s, lu_kind kind, int last)
{
    lu_solver lu[2];
    const size_t n = (size_t)s->a.n;
    double *x[2], *b = vs_malloc(sizeof(double) * n);
    for (int k = 0; k < 2; k++) {
        lu_init(&lu[k], NULL);
        lu[k].opt.kind = kind;
        ck_assert_int_eq(lu_analyze(&lu[k], &s->a), VS_OK);
        x[k] = vs_malloc(sizeof(double) * n);
    }
    for (size_t i = 0; i < n; i++)
        b[i] = (double)i - 3;
    change_values(s, 1);
    ck_assert_int_eq(lu_factor(&lu[0], &s->a), VS_OK);
    for (int v = 2; v <= last; v++) {
        change_values(s, v);
        ck_assert_int_eq(lu_refactor(&lu[0], &s->a), VS_OK);
    }
    image taken = image_take();
    ck_assert_int_eq(lu_image(&lu[0], &s->a, &taken), VS_OK);
    change_values(s, 999); /* what is in the matrix does not matter */
    image given = image_give(taken.bytes, image_size(&taken));
    ck_assert_int_eq(lu_image(&lu[1], &s->a, &given), VS_OK);
    ck_assert(given.at == given.end);
    ck_assert_int_eq(lu[1].stat.n_refactor, lu[0].stat.n_refactor);
    for (int v = last + 1; v <= last + 2; v++) {
        for (int k = 0; k < 2; k++)
            lu_solve(&lu[k], b, x[k]);
        ck_assert_msg(!memcmp(x[0], x[1], sizeof(double) * n), "%s, %s", s->name,
                      lu_kind_name(kind));
        change_values(s, v);
        for (int k = 0; k < 2; k++)
            ck_assert_int_eq(lu_refactor(&lu[k], &s->a), VS_OK);
    }
    given = image_give(taken.bytes, image_size(&taken) / 2);
    ck_assert_int_eq(lu_image(&lu[1], &s->a, &given), VS_EINPUT);
    ck_assert_str_eq(given.wrong, "its end is missing");
    for (int k = 0; k < 2; k++) {
        lu_fini(&lu[k]);
        vs_free(x[k]);
    }
    vec_free(taken.bytes);
    vs_free(b);
}

START_TEST(factors_are_made_again_from_an_image)
{
    static const lu_kind all[] = {LU_AUTO, LU_KLU, LU_UMFPACK, LU_DENSE};
    for (size_t k = 0; k < VS_COUNT(all); k++) {
        system_t s[] = {grid("small", 4, 1), grid("medium", 12, 1), grid("plane", 40, 1),
                        blocks(12), full(120)};
        for (size_t i = 0; i < VS_COUNT(s); i++) {
            check_image(&s[i], all[k], 3);
            check_image(&s[i], all[k], i < 2 ? 64 : 1); /* 64: before a list begins */
            drop(&s[i]);
        }
    }
}
END_TEST

static const lu_kind kinds[] = {LU_AUTO, LU_KLU, LU_TINY, LU_UMFPACK, LU_DENSE};

/* What a matrix with one bad entry or row says; then good values again. */
static void check_failure(system_t *s, lu_kind kind, int32_t row, double value)
{
    lu_solver lu;
    lu_init(&lu, NULL);
    lu.opt.kind = kind;
    change_values(s, 1);
    ck_assert_int_eq(lu_analyze(&lu, &s->a), VS_OK);
    ck_assert_int_eq(lu_factor(&lu, &s->a), VS_OK);
    for (int32_t k = 0; k < s->a.colptr[s->a.n]; k++)
        if (s->a.row[k] == row)
            s->a.val[k] = value;
    const vs_status again = lu_refactor(&lu, &s->a);
    if (again == VS_OK && isnan(value)) { /* not looked for by every method, but it comes out */
        double *x = vs_calloc((size_t)s->a.n, sizeof *x);
        lu_solve(&lu, x, x);
        ck_assert(!isfinite(x[0]));
        vs_free(x);
    } else {
        ck_assert_msg(again == VS_REPIVOT, "%s, %s, row of %g", s->name, lu_kind_name(kind), value);
    }
    ck_assert_int_eq(lu_factor(&lu, &s->a), VS_ESINGULAR);
    ck_assert_int_lt(lu.stat.singular, s->a.n);
    ck_assert_int_eq(lu_refactor(&lu, &s->a), VS_REPIVOT);
    change_values(s, 2);
    ck_assert_int_eq(lu_factor(&lu, &s->a), VS_OK);
    lu_fini(&lu);
}

START_TEST(matrices_without_factors_are_found_by_every_method)
{
    system_t all[] = {grid("small", 4, 1), grid("plane", 24, 1), full(120)};
    for (size_t k = 0; k < VS_COUNT(all); k++) {
        for (size_t i = 0; i < VS_COUNT(kinds); i++) {
            check_failure(&all[k], kinds[i], 5, 0);
            check_failure(&all[k], kinds[i], 5, NAN);
        }
        drop(&all[k]);
    }
}
END_TEST

START_TEST(structure_without_pivots_is_found_before_values)
{
    entry e[] = {{0, 0, 1}, {1, 1, 1}, {0, 2, 1}, {1, 2, 1}, {0, 1, 2}};
    system_t s = system_of("empty row", 3, e, VS_COUNT(e));
    for (size_t i = 0; i < VS_COUNT(kinds); i++) {
        lu_solver lu;
        lu_init(&lu, NULL);
        lu.opt.kind = kinds[i];
        ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_ESINGULAR);
        ck_assert_int_ge(lu.stat.singular, 0);
        lu_fini(&lu);
    }
    drop(&s);
}
END_TEST

START_TEST(names_and_numbers_of_methods_correspond)
{
    for (int k = 0; k < LU_N_KIND; k++)
        ck_assert_int_eq(lu_kind_of(lu_kind_name((lu_kind)k)), k);
    ck_assert_int_eq(lu_kind_of("sparse"), -1);
}
END_TEST

/* A host that computes with the same BLAS keeps its number of threads. */
START_TEST(threads_of_the_blas_are_those_of_the_host)
{
    int (*get)(void) = NULL;
    void (*set)(int) = NULL;
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW);
    if (lib) {
        *(void **)&get = dlsym(lib, "openblas_get_num_threads");
        *(void **)&set = dlsym(lib, "openblas_set_num_threads");
    }
    system_t s = full(60);
    double *x = vs_calloc(4 * 60, sizeof *x);
    for (int n = 2; get && set && n <= 3; n++) {
        set(n);
        const int now = get(); /* fewer where the library has a limit */
        solve_all(&s, LU_DENSE, NULL, "dense", x);
        ck_assert_int_eq(get(), now);
        solve_all(&s, LU_UMFPACK, NULL, "umfpack", x);
        ck_assert_int_eq(get(), now);
    }
    vs_free(x);
    drop(&s);
}
END_TEST

/* How many threads this process has; 0: this system does not tell. */
static int threads_now(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int n = 0;
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Threads:", 8))
            n = atoi(line + 8);
    if (f)
        fclose(f);
    return n;
}

/* CHOLMOD would open a parallel region for each supernode, and wait for its threads. */
START_TEST(cholesky_starts_no_threads_and_keeps_the_setting_of_the_host)
{
    int (*levels)(void) = NULL;
    system_t s = mesh(150), other = full(60);
    double *x = vs_malloc(sizeof(double) * (size_t)s.a.n);
    lu_solver lu;
    lu_init(&lu, NULL);
    ck_assert_int_eq(lu_analyze(&lu, &s.a), VS_OK);
    solve_all(&other, LU_UMFPACK, NULL, "umfpack", x); /* now the BLAS has its threads */
    void *lib = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (lib)
        *(void **)&levels = dlsym(lib, "omp_get_max_active_levels");
    const int before = threads_now(), host = levels ? levels() : 0;
    solve_one(&lu, &s, x, "cholesky");
    ck_assert_int_eq(threads_now(), before);
    ck_assert_int_eq(levels ? levels() : 0, host);
    lu_fini(&lu);
    vs_free(x);
    drop(&other);
    drop(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lu_kinds");
    TCase *t = tcase_create("lu_kinds");
    tcase_add_test(t, methods_agree_and_the_automatic_one_is_by_size);
    tcase_add_test(t, brief_factors_have_no_list);
    tcase_add_test(t, great_fill_is_left_to_umfpack);
    tcase_add_test(t, large_meshes_are_left_to_cholesky_as_long_as_it_can);
    tcase_add_test(t, cholesky_refuses_an_entry_without_a_mirror);
    tcase_add_test(t, cholesky_keeps_factors_of_matrices_that_come_back);
    tcase_add_test(t, what_is_0_at_rest_is_left_out);
    tcase_add_test(t, a_pivot_that_fails_at_rest_may_serve_later);
    tcase_add_test(t, an_ordering_that_waits_is_the_same);
    tcase_add_test(t, at_rest_matrices_without_zeros_or_factors_are_as_always);
    tcase_add_test(t, factors_that_pivots_fill_are_refused);
    tcase_add_test(t, results_do_not_depend_on_threads);
    tcase_add_test(t, coarse_solutions_are_near_and_linear);
    tcase_add_test(t, values_that_cannot_be_rounded_stay);
    tcase_add_test(t, work_does_not_depend_on_the_end_where_an_ordering_begins);
    tcase_add_test(t, orderings_do_not_depend_on_threads);
    tcase_add_test(t, columns_made_anew_have_the_bits_of_all_made_anew);
    tcase_add_test(t, only_columns_of_a_part_count);
    tcase_add_test(t, factors_are_made_again_from_an_image);
    tcase_add_test(t, matrices_without_factors_are_found_by_every_method);
    tcase_add_test(t, structure_without_pivots_is_found_before_values);
    tcase_add_test(t, names_and_numbers_of_methods_correspond);
    tcase_add_test(t, threads_of_the_blas_are_those_of_the_host);
    tcase_add_test(t, cholesky_starts_no_threads_and_keeps_the_setting_of_the_host);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite(s);
}
