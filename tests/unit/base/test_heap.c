/* heap.h, stream.h: memory that is counted, limited and freed at once, and guards. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../suite.h"
#include "arena.h"
#include "heap.h"
#include "map.h"
#include "pool.h"
#include "stream.h"
#include "vec.h"

static vs_status take_all(void *arg)
{
    char **out = arg;
    int *v = NULL;
    map m = {0};
    arena mem;
    arena_init(&mem);
    for (int i = 0; i < 1000; i++) {
        vec_push(v, i);
        map_set(&m, (uint64_t)i, i);
        arena_alloc(&mem, 100);
    }
    *out = vs_text("%d", v[999]);
    *out = vs_realloc(*out, 5000);
    vs_free(vs_calloc(10, 10));
    return VS_STOP;
}

START_TEST(what_is_allocated_is_counted_and_freed_at_once)
{
    heap *h = heap_new(0);
    char *text;
    ck_assert_int_eq(guard_run(h, take_all, &text), VS_STOP);
    ck_assert_str_eq(text, "999");
    ck_assert_uint_eq((uintptr_t)text % 16, 0);
    ck_assert_ptr_null(heap_now());
    const size_t bytes = heap_bytes(h);
    ck_assert_uint_gt(bytes, 100000 + 5000 + 1000 * sizeof(int));
    ck_assert_uint_ge(heap_peak(h), bytes);
    vs_free(text); /* under another heap */
    ck_assert_uint_eq(heap_bytes(h), bytes - 5000);
    heap_free(&h);
    ck_assert_ptr_null(h);
}
END_TEST

START_TEST(every_allocation_can_fail_and_a_limit_is_kept)
{
    char *text;
    heap *h = heap_new(0);
    ck_assert_int_eq(guard_run(h, take_all, &text), VS_STOP);
    const int64_t n = heap_count(h);
    const size_t peak = heap_peak(h);
    heap_free(&h);
    for (int64_t k = 1; k <= n; k++) {
        h = heap_new(0);
        heap_fail_at(h, k, k % 2 != 0);
        ck_assert_int_eq(guard_run(h, take_all, &text), VS_ENOMEM);
        heap_free(&h);
    }
    h = heap_new(peak - 1);
    ck_assert_int_eq(guard_run(h, take_all, &text), VS_ENOMEM);
    ck_assert_uint_lt(heap_peak(h), peak);
    heap_relax(h);
    ck_assert_int_eq(guard_run(h, take_all, &text), VS_STOP);
    heap_free(&h);
}
END_TEST

static vs_status ask_for_too_much(void *arg)
{
    (void)arg;
    vs_free(vs_calloc(SIZE_MAX / 4, 8));
    return VS_OK;
}

static vs_status nested(void *arg)
{
    heap *h = heap_now();
    ck_assert_int_eq(guard_run(h, ask_for_too_much, NULL), VS_ENOMEM);
    ck_assert_ptr_eq(heap_now(), h);
    *(bool *)arg = true;
    return ask_for_too_much(NULL);
}

START_TEST(sparse_blocks_are_zero_and_count)
{
    enum { MANY = 1 << 18 };
    heap *h = heap_new(0), *before = heap_use(h);
    double *v = vs_sparse(MANY, sizeof *v);
    ck_assert_uint_ge(heap_bytes(h), MANY * sizeof *v);
    for (int k = 0; k < MANY; k += 511)
        ck_assert_double_eq(v[k], 0);
    vs_free(v);
    ck_assert_uint_eq(heap_bytes(h), 0);
    heap_use(before);
    heap_free(&h);
}
END_TEST

enum { N_LARGE = 40, TURNS = 400 };
typedef struct large {
    unsigned char *p;
    size_t n;
    unsigned char is; /* all of its bytes */
} large;

static bool holds(const large *b) { return b->p[0] == b->is && !memcmp(b->p, b->p + 1, b->n - 1); }

/* Blocks from below to above the sizes that slabs have, each with a byte of its own: taken, made
 * larger and smaller, and freed in any order. The heap has 2 to 200 MB. */
START_TEST(large_blocks_keep_what_they_hold)
{
    heap *h = heap_new(0), *before = heap_use(h);
    large b[N_LARGE] = {0};
    uint32_t random = 1;
    size_t all = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        random = random * 1664525u + 1013904223u;
        large *x = &b[(random >> 8) % N_LARGE];
        const size_t n = (size_t)1 << (15 + (random >> 16) % 10),
                     size = n + (random >> 20) % (n / 8);
        all -= x->n;
        if (x->p && random >> 31) {
            const size_t kept = size < x->n ? size : x->n;
            ck_assert(holds(x));
            x->p = vs_realloc(x->p, size);
            x->n = kept;
            ck_assert(holds(x));
        } else if (x->p) {
            ck_assert(holds(x));
            vs_free(x->p);
            *x = (large){0};
        } else {
            x->p = vs_calloc(1, size);
            ck_assert(!x->p[0] && !memcmp(x->p, x->p + 1, size - 1));
        }
        if (x->p) {
            ck_assert_uint_eq((uintptr_t)x->p % 16, 0);
            x->n = size;
            x->is = (unsigned char)(1 + turn % 255);
            memset(x->p, x->is, size);
        }
        all += x->n;
        ck_assert_uint_eq(heap_bytes(h), all);
    }
    for (int i = 0; i < N_LARGE; i++) {
        ck_assert(!b[i].p || holds(&b[i]));
        if (i % 2)
            vs_free(b[i].p);
    }
    heap_use(before);
    heap_free(&h); /* with the others */
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
/* Who takes and gives one block again and again gets it from the system once: each turn wrote on
 * new pages, which the system clears. */
START_TEST(a_block_that_comes_and_goes_stays_in_the_process)
{
    enum { BASE = 15 << 18, BLOCK = 1 << 20, ROUNDS = 200 }; /* BASE alone is in no slab */
    heap *h = heap_new(0), *before = heap_use(h);
    struct rusage first, last;
    void *base = vs_malloc(BASE);
    for (int i = 0; i <= ROUNDS; i++) {
        void *p = vs_malloc(BLOCK);
        memset(p, 1 + i, BLOCK);
        vs_free(p);
        if (!i)
            getrusage(RUSAGE_SELF, &first);
    }
    getrusage(RUSAGE_SELF, &last);
    vs_free(base);
    heap_use(before);
    heap_free(&h);
    if (!heap_limited())
        ck_assert_int_lt(last.ru_minflt - first.ru_minflt, ROUNDS / 2);
}
END_TEST
#endif

START_TEST(the_innermost_guard_ends_the_work)
{
    heap *h = heap_new(0);
    bool came = false;
    ck_assert_int_eq(guard_run(h, nested, &came), VS_ENOMEM);
    ck_assert(came);
    heap_free(&h);
}
END_TEST

static void note(void *what, size_t n)
{
    char **s = what;
    *(*s)++ = (char)('0' + n);
}

static vs_status own_things(void *arg)
{
    heap_owned *o = vs_calloc(1, sizeof *o);
    heap_hold(note, arg, 1);
    heap_own(o, note, arg);
    heap_disown(o);
    heap_hold(note, arg, 3);
    FILE *f = stream_create("/dev/null", FILES_BLOCK);
    char *text; /* nobody is there when the heap goes */
    FILE *g = stream_text(&text, NULL);
    fputs("lost", g);
    return f ? VS_OK : VS_EIO;
}

START_TEST(what_is_not_memory_is_let_go_the_latest_first)
{
    heap *h = heap_new(0);
    char said[8] = "", *at = said;
    ck_assert_int_eq(guard_run(h, own_things, &at), VS_OK);
    heap_free(&h);
    ck_assert_str_eq(said, "31");
}
END_TEST

typedef struct things {
    int order[5], n;
    char *said; /* [n] what the heap lets go writes its number, from 1 */
} things;

static void note_thing(void *what, size_t n) { **(char **)what = (char)('0' + n); }

/* Lets all but the last of `order` go. */
static vs_status let_go(void *arg)
{
    things *t = arg;
    char **at[5];
    for (int i = 0; i < t->n; i++) {
        at[i] = vs_malloc(sizeof *at[i]);
        *at[i] = t->said + i;
        heap_hold(note_thing, at[i], (size_t)i + 1);
    }
    for (int i = 0; i + 1 < t->n; i++) {
        heap_unhold(note_thing, at[t->order[i]]);
        heap_unhold(note_thing, at[t->order[i]]); /* it is not there any more */
    }
    heap_unhold(note, at[t->order[t->n - 1]]); /* of another kind */
    return VS_OK;
}

START_TEST(things_go_in_any_order)
{
    static const int orders[][5] = {
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}, {1, 3, 2, 4, 0}, {3, 2, 4, 0, 1}};
    for (size_t k = 0; k < VS_COUNT(orders); k++)
        for (int n = 1; n <= 5; n += 4) {
            char said[6] = ".....", want[6] = ".....";
            things t = {.n = n, .said = said};
            for (int i = 0; i < n; i++)
                t.order[i] = n == 1 ? 0 : orders[k][i];
            want[t.order[n - 1]] = (char)('1' + t.order[n - 1]);
            heap *h = heap_new(0);
            ck_assert_int_eq(guard_run(h, let_go, &t), VS_OK);
            heap_free(&h);
            ck_assert_str_eq(said, want);
        }
}
END_TEST

static vs_status write_text(void *arg)
{
    char **text = arg;
    size_t n;
    FILE *f = stream_text(text, &n);
    for (int i = 0; i < 5000; i++)
        fprintf(f, "%d,", i);
    const long at = ftell(f);
    stream_close(f);
    ck_assert_uint_eq(n, strlen(*text));
    ck_assert_int_eq(at, (long)n);
    return VS_OK;
}

START_TEST(a_stream_into_memory_is_whole_or_ends_the_work)
{
    heap *h = heap_new(0);
    char *text = NULL;
    ck_assert_int_eq(guard_run(h, write_text, &text), VS_OK);
    ck_assert_ptr_nonnull(strstr(text, "0,1,2,"));
    ck_assert_ptr_nonnull(strstr(text, ",4998,4999,"));
    heap_free(&h);
    h = heap_new(8000);
    ck_assert_int_eq(guard_run(h, write_text, &text), VS_ENOMEM);
    heap_free(&h);
}
END_TEST

typedef struct job {
    pool *p;
    bool ordered;
    int n[64];
} job;

static void piece(void *user, int32_t i, int worker)
{
    job *j = user;
    (void)worker;
    j->n[i]++;
    if (i == 20)
        vs_free(vs_malloc(SIZE_MAX / 2 + 1));
    vs_free(vs_malloc(100));
}

static void take(void *user, int32_t i, int worker)
{
    (void)worker;
    ((job *)user)->n[i] += 10;
}

static vs_status share(void *arg)
{
    job *j = arg;
    if (j->ordered)
        pool_run_ordered(j->p, POOL_OTHER, 64, 4, piece, take, j);
    else
        pool_run(j->p, POOL_OTHER, 64, piece, j);
    return VS_OK;
}

static vs_status make_pool(void *arg)
{
    *(pool **)arg = pool_new(4);
    return VS_OK;
}

START_TEST(missing_memory_in_a_thread_ends_the_work_of_its_caller)
{
    for (int k = 0; k < 40; k++) {
        heap *h = heap_new(0);
        job j = {.ordered = k % 2 != 0};
        ck_assert_int_eq(guard_run(h, make_pool, &j.p), VS_OK);
        ck_assert_int_eq(guard_run(h, share, &j), VS_ENOMEM);
        for (int i = 0; i < 64; i++)
            ck_assert_int_le(j.n[i] % 10, 1);
        ck_assert_int_eq(j.n[20], 1);
        heap_free(&h); /* with its threads */
    }
}
END_TEST

static bool third_time(void *user) { return ++*(int *)user >= 3; }

static vs_status poll_for_ever(void *arg)
{
    while (*(int *)arg < 1000) {
        vs_free(vs_malloc(10));
        ++*(int *)arg;
        heap_poll();
    }
    return VS_OK;
}

static vs_status poll_twice(void *arg)
{
    (void)arg;
    heap_poll();
    heap_poll();
    return VS_OK;
}

START_TEST(long_work_ends_at_the_poll_that_is_answered)
{
    heap *h = heap_new(0);
    int asked = 0, turns = 0;
    heap_poll(); /* without a guard nobody is asked */
    ck_assert_int_eq(guard_run(h, poll_twice, NULL), VS_OK);
    heap_set_stop(h, third_time, &asked);
    ck_assert_int_eq(guard_run(h, poll_twice, NULL), VS_OK);
    ck_assert(!heap_left(h));
    ck_assert_int_eq(guard_run(h, poll_for_ever, &turns), VS_STOP);
    ck_assert(heap_left(h));
    ck_assert_int_eq(turns, 1);
    ck_assert_int_eq(asked, 3);
    ck_assert_int_eq(guard_run(h, poll_twice, NULL), VS_STOP); /* it stays so, unasked */
    ck_assert_int_eq(asked, 3);
    heap_set_stop(h, NULL, NULL);
    ck_assert_int_eq(guard_run(h, poll_twice, NULL), VS_OK);
    heap_free(&h);
}
END_TEST

/* Arrays that fit in no chunk are blocks beside it: a release gives both again, and what is small
 * goes on in the chunk. */
START_TEST(what_an_arena_gives_is_zero_also_after_a_release)
{
    enum { ALL = 16 << 20, ONE = 100001 };
    arena mem;
    arena_init(&mem);
    arena_alloc(&mem, ALL);
    const arena_pos pos = arena_mark(&mem);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i <= 5 * turn; i++) {
            char *p = arena_alloc(&mem, ONE);
            ck_assert_uint_eq((uintptr_t)p % 16, 0);
            ck_assert(!p[0] && !memcmp(p, p + 1, ONE - 1));
            memset(p, 1, ONE);
            char *few = arena_alloc(&mem, 1000);
            ck_assert(!few[0] && !memcmp(few, few + 1, 999));
            memset(few, 1, 1000);
        }
        arena_release(&mem, pos);
        arena_alloc(&mem, ONE);
        const arena_pos within = arena_mark(&mem);
        memset(arena_alloc(&mem, ONE), 1, ONE);
        arena_release(&mem, within);
        const char *again = arena_alloc(&mem, ONE / 2);
        ck_assert(!again[0] && !memcmp(again, again + 1, ONE / 2 - 1));
    }
    arena_fini(&mem);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base/heap");
    TCase *tc = tcase_create("heap");
    tcase_add_test(tc, what_is_allocated_is_counted_and_freed_at_once);
    tcase_add_test(tc, every_allocation_can_fail_and_a_limit_is_kept);
    tcase_add_test(tc, sparse_blocks_are_zero_and_count);
    tcase_add_test(tc, large_blocks_keep_what_they_hold);
#ifndef __SANITIZE_ADDRESS__
    tcase_add_test(tc, a_block_that_comes_and_goes_stays_in_the_process);
#endif
    tcase_add_test(tc, what_an_arena_gives_is_zero_also_after_a_release);
    tcase_add_test(tc, the_innermost_guard_ends_the_work);
    tcase_add_test(tc, what_is_not_memory_is_let_go_the_latest_first);
    tcase_add_test(tc, things_go_in_any_order);
    tcase_add_test(tc, a_stream_into_memory_is_whole_or_ends_the_work);
    tcase_add_test(tc, missing_memory_in_a_thread_ends_the_work_of_its_caller);
    tcase_add_test(tc, long_work_ends_at_the_poll_that_is_answered);
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
