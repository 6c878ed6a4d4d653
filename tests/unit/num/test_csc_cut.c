/* Tests of csc_cut.c: parts have every row and entry once, and rows that are near each other. */
#include <check.h>
#include <stdlib.h>

#include "../suite.h"
#include "csc_cut.h"
#include "vec.h"

enum { MOST = 4000 };

/* The pattern of n unknowns, each joined to the one `step` further on; every `hub`-th (0: none) to
 * unknown 0 too. Lives in mem. */
static csc pattern(arena *mem, int32_t n, int32_t step, int32_t hub)
{
    csc a = {.n = n,
             .colptr = arena_array(mem, int32_t, n + 1),
             .row = arena_array(mem, int32_t, 8 * n)};
    int32_t nnz = 0;
    for (int32_t j = 0; j < n; j++) {
        if (hub && j > 0 && j % hub == 0 && j != step)
            a.row[nnz++] = 0;
        for (int32_t i = 0; j == 0 && i < n; i++)
            if (i == 0 || i == step || (hub && i % hub == 0))
                a.row[nnz++] = i;
        for (int32_t k = -1; j > 0 && k <= 1; k++)
            if (j + k * step >= 0 && j + k * step < n)
                a.row[nnz++] = j + k * step;
        a.colptr[j + 1] = nnz;
    }
    return a;
}

/* Each row is in one run, that of its part; each entry in one piece, that of its row's part; rows
 * and columns ascend. */
static void check_cut(const csc_cut *r, const csc *a)
{
    static int32_t rows[MOST], entries[8 * MOST];
    memset(rows, 0, sizeof rows);
    memset(entries, 0, sizeof entries);
    for (int32_t p = 0; p < r->n_part; p++) {
        int32_t last = -1;
        for (int32_t k = r->run_at[p]; k < r->run_at[p + 1]; k++) {
            ck_assert_int_gt(r->run[k].begin, last);
            ck_assert_int_gt(r->run[k].end, r->run[k].begin);
            for (int32_t i = r->run[k].begin; i < r->run[k].end; i++) {
                ck_assert_int_eq(csc_cut_part(r, i), p);
                rows[i]++;
            }
            last = r->run[k].end; /* the next one does not touch it */
        }
        last = -1;
        for (int32_t k = r->piece_at[p]; k < r->piece_at[p + 1]; k++) {
            const csc_piece e = r->piece[k];
            ck_assert_int_ge(e.col, last);
            ck_assert(e.from >= a->colptr[e.col] && e.from < e.end &&
                      e.end <= a->colptr[e.col + 1]);
            for (int32_t i = e.from; i < e.end; i++) {
                ck_assert_int_eq(csc_cut_part(r, a->row[i]), p);
                entries[i]++;
            }
            last = e.col;
        }
    }
    for (int32_t i = 0; i < a->n; i++)
        ck_assert_int_eq(rows[i], 1);
    for (int32_t k = 0; k < csc_nnz(a); k++)
        ck_assert_int_eq(entries[k], 1);
}

START_TEST(parts_have_all_rows_and_entries)
{
    static const int32_t size[] = {1, 2, 7, 63, 64, 1000, 2999};
    for (size_t s = 0; s < VS_COUNT(size); s++)
        for (int32_t parts = 1; parts <= 9; parts += 2)
            for (int32_t step = 1; step <= 500; step *= 5) {
                arena mem;
                arena_init(&mem);
                const csc a = pattern(&mem, size[s], step, step == 5 ? 3 : 0);
                const csc_cut *r = csc_cut_new(&mem, &a, NULL, parts);
                ck_assert_int_eq(r->n_part, parts);
                check_cut(r, &a);
                const csc diagonal = pattern(&mem, size[s], size[s], 0);
                const csc_cut *like = csc_cut_like(&mem, &diagonal, r);
                check_cut(like, &diagonal);
                for (int32_t i = 0; i < a.n; i++)
                    ck_assert_int_eq(csc_cut_part(like, i), csc_cut_part(r, i));
                arena_fini(&mem);
            }
}
END_TEST

/* Circuits whose blocks stand in turn are parts, however many entries all have with one row, as
 * with that of a supply. */
START_TEST(rows_near_each_other_are_a_part)
{
    enum { N = 2048, BLOCK = N / 32 };
    for (int32_t hub = 0; hub <= 4; hub += 2) {
        arena mem;
        arena_init(&mem);
        const csc a = pattern(&mem, N, 2 * BLOCK, hub);
        const csc_cut *r = csc_cut_new(&mem, &a, NULL, 2);
        ck_assert_int_eq(r->block, BLOCK);
        int32_t cut = 0;
        for (int32_t i = 0; i + 2 * BLOCK < N; i++)
            cut += csc_cut_part(r, i) != csc_cut_part(r, i + 2 * BLOCK);
        /* chains of every second block: a cut at one place of one of them at most */
        ck_assert_int_le(cut, BLOCK);
        arena_fini(&mem);
    }
}
END_TEST

static int64_t sum_of(const int32_t *more, int32_t begin, int32_t end)
{
    int64_t sum = 0;
    for (int32_t i = begin; more && i < end; i++)
        sum += more[i];
    return sum;
}

/* As much work in each part as in any other, but for a block of rows with `most` entries each. */
static void check_even(const csc_cut *r, const csc *a, const int32_t *more, int32_t most)
{
    const int64_t all = csc_nnz(a) + (int64_t)CSC_CUT_ROW * a->n + sum_of(more, 0, a->n);
    for (int32_t p = 0; p < r->n_part; p++) {
        int64_t n = 0;
        for (int32_t k = r->piece_at[p]; k < r->piece_at[p + 1]; k++)
            n += r->piece[k].end - r->piece[k].from;
        for (int32_t k = r->run_at[p]; k < r->run_at[p + 1]; k++)
            n += (int64_t)CSC_CUT_ROW * (r->run[k].end - r->run[k].begin) +
                 sum_of(more, r->run[k].begin, r->run[k].end);
        ck_assert_int_le(llabs(n - all / r->n_part), (most + CSC_CUT_ROW) * r->block + 1);
    }
}

/* Two circuits whose blocks stand in turn, and a mesh, the first block, each of whose rows is
 * joined to a row of the others: from there all is as near. The cut goes between the circuits, for
 * any other cuts chains of one of them. */
START_TEST(few_entries_cross)
{
    enum { N = 2048, BLOCK = N / 32, REACH = 8 };
    csc_entry *e = NULL; /* vec */
    for (int32_t i = 0; i < N; i++) {
        vec_push(e, csc_entry_of(i, i));
        for (int32_t k = 2; i >= BLOCK && k <= REACH && i + k * BLOCK < N; k += 2) {
            vec_push(e, csc_entry_of(i, i + k * BLOCK));
            vec_push(e, csc_entry_of(i + k * BLOCK, i));
        }
    }
    for (int32_t b = 1; b < N / BLOCK; b++) {
        vec_push(e, csc_entry_of(b, b * BLOCK));
        vec_push(e, csc_entry_of(b * BLOCK, b));
    }
    arena mem;
    arena_init(&mem);
    csc a = {.n = N,
             .colptr = arena_array(&mem, int32_t, N + 1),
             .row = arena_array(&mem, int32_t, vec_len(e))};
    for (size_t k = 0; k < vec_len(e); k++)
        a.colptr[csc_entry_col(e[k])]++;
    (void)csc_begins(a.colptr, N);
    for (size_t k = 0; k < vec_len(e); k++)
        a.row[a.colptr[csc_entry_col(e[k])]++] = csc_entry_row(e[k]);
    csc_ends_to_begins(a.colptr, N);
    vec_free(e);
    const csc_cut *r = csc_cut_new(&mem, &a, NULL, 2);
    ck_assert_int_eq(r->block, BLOCK);
    check_even(r, &a, NULL, 2 * REACH + 1);
    int32_t cross = 0;
    for (int32_t j = 0; j < N; j++)
        for (int32_t k = a.colptr[j]; k < a.colptr[j + 1]; k++)
            cross += csc_cut_part(r, a.row[k]) != csc_cut_part(r, j);
    /* of the mesh to the other circuit, and what one block has if the halves are not even */
    ck_assert_int_le(cross, N / BLOCK + 2 * REACH * BLOCK);
    arena_fini(&mem);
}
END_TEST

START_TEST(parts_are_even)
{
    arena mem;
    arena_init(&mem);
    for (int32_t hub = 0; hub <= 6;
         hub += 2) { /* a supply's row of up to a seventh of the entries */
        const csc a = pattern(&mem, 3000, 1, hub);
        for (int32_t parts = 2; parts <= 5; parts++)
            check_even(csc_cut_new(&mem, &a, NULL, parts), &a, NULL, 3 + (hub > 0));
    }
    arena_fini(&mem);
}
END_TEST

/* Rows of one half take more than their entries tell, as those of wires. */
START_TEST(work_besides_entries_counts)
{
    enum { N = 3000, MORE = 12 };
    arena mem;
    arena_init(&mem);
    int32_t more[N] = {0};
    for (int32_t i = N / 2; i < N; i++)
        more[i] = MORE;
    const csc a = pattern(&mem, N, 1, 0);
    for (int32_t parts = 2; parts <= 5; parts++) {
        const csc_cut *r = csc_cut_new(&mem, &a, more, parts);
        check_cut(r, &a);
        check_even(r, &a, more, 3 + MORE);
    }
    arena_fini(&mem);
}
END_TEST

/* Without the entries above (or below) the diagonal, as controlled sources have them, nothing is
 * reached from an end of the graph. */
START_TEST(entries_on_one_side_of_the_diagonal)
{
    enum { N = 3000 };
    for (int side = 0; side < 2; side++) {
        arena mem;
        arena_init(&mem);
        csc a = pattern(&mem, N, 1, 0);
        int32_t nnz = 0;
        for (int32_t j = 0; j < N; j++) {
            const int32_t begin = a.colptr[j], end = a.colptr[j + 1];
            a.colptr[j] = nnz;
            for (int32_t k = begin; k < end; k++)
                if (side ? a.row[k] <= j : a.row[k] >= j)
                    a.row[nnz++] = a.row[k];
        }
        a.colptr[N] = nnz;
        for (int32_t parts = 2; parts <= 5; parts++) {
            const csc_cut *r = csc_cut_new(&mem, &a, NULL, parts);
            check_cut(r, &a);
            check_even(r, &a, NULL, 2);
        }
        arena_fini(&mem);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("csc_cut");
    TCase *t = tcase_create("csc_cut");
    tcase_add_test(t, parts_have_all_rows_and_entries);
    tcase_add_test(t, rows_near_each_other_are_a_part);
    tcase_add_test(t, few_entries_cross);
    tcase_add_test(t, parts_are_even);
    tcase_add_test(t, work_besides_entries_counts);
    tcase_add_test(t, entries_on_one_side_of_the_diagonal);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite(s);
}
