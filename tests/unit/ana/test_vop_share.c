/* Tests of vop_share.c: the parts of a team have each element once, and those of its rows. */
#include <check.h>
#include <string.h>

#include "../suite.h"
#include "pool.h"
#include "vop.h"

enum { MOST = 20000 };

typedef struct seen {
    int8_t times[MOST];
    int32_t n_part; /* calls; there is one thread */
} seen;

static void note(void *user, int32_t k, int32_t m)
{
    seen *s = user;
    for (int32_t i = k; i < k + m; i++)
        s->times[i]++;
    s->n_part++;
    ck_assert_int_eq(k % VOP_WIDTH, 0);
    ck_assert_int_eq(m % VOP_WIDTH, 0);
}

/* Rows by turns: blocks of `block` go to one part after the other. */
static csc_cut *by_turns(arena *mem, int32_t n, int32_t block, int32_t n_part)
{
    csc_cut *r = arena_new(mem, csc_cut);
    *r = (csc_cut){.n = n,
                   .n_part = n_part,
                   .block = block,
                   .run_at = arena_array(mem, int32_t, n_part + 1),
                   .run = arena_array(mem, csc_run, n / block + 1)};
    int32_t at = 0;
    for (int32_t p = 0; p < n_part; p++) {
        r->run_at[p] = at;
        for (int32_t b = p; b * block < n; b += n_part)
            r->run[at++] = (csc_run){b * block, (b + 1) * block < n ? (b + 1) * block : n};
    }
    r->run_at[n_part] = at;
    return r;
}

START_TEST(each_element_is_in_one_part)
{
    static const int32_t sizes[] = {1, 8, 255, 256, 257, 1000, 19990};
    static const int32_t blocks[] = {1, 8, 64, 256}; /* of 1: they share lines, and do not count */
    static seen s;
    arena mem;
    arena_init(&mem);
    for (size_t i = 0; i < VS_COUNT(sizes); i++)
        for (size_t k = 0; k < VS_COUNT(blocks); k++)
            for (int32_t n_part = 1; n_part <= 3; n_part++)
                for (int32_t other = 0; other < 2; other++) {
                    const int32_t n = sizes[i], m = VOP_PADDED(n);
                    const csc_cut *r = by_turns(&mem, n + other * VOP_WIDTH, blocks[k], n_part);
                    memset(&s, 0, sizeof s);
                    vop_share((csc_team){NULL, r}, m, note, &s);
                    for (int32_t e = 0; e < m; e++)
                        ck_assert_int_eq(s.times[e], 1);
                    /* the rows of another size leave vectors whole */
                    ck_assert_int_eq(s.n_part, other || blocks[k] < VOP_WIDTH
                                                   ? 1
                                                   : (n + blocks[k] - 1) / blocks[k]);
                }
    arena_fini(&mem);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vop_share");
    TCase *t = tcase_create("parts");
    tcase_add_test(t, each_element_is_in_one_part);
    suite_add_tcase(s, t);
    return run_suite(s);
}
