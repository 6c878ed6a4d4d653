/* Tests of base/pool.c: every piece once, whatever the number of threads and jobs. */
#include "../suite.h"
#include "pool.h"

#include "heap.h"

#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

typedef struct job {
    _Atomic int *times; /* [n] how often piece i ran */
    _Atomic int strangers;
    int size;
} job;

static void count_piece(void *user, int32_t i, int worker)
{
    job *j = user;
    atomic_fetch_add(&j->times[i], 1);
    if (worker < 0 || worker >= j->size)
        atomic_fetch_add(&j->strangers, 1);
}

static void check_jobs(pool *p, int n_job, int32_t n)
{
    job j = {.size = pool_size(p)};
    j.times = vs_calloc((size_t)n + 1, sizeof *j.times);
    for (int k = 1; k <= n_job; k++) {
        pool_run(p, POOL_OTHER, n, count_piece, &j);
        for (int32_t i = 0; i < n; i++)
            ck_assert_int_eq(j.times[i], k);
    }
    ck_assert_int_eq(j.strangers, 0);
    vs_free(j.times);
}

START_TEST(every_piece_runs_once_in_each_job)
{
    for (int threads = 1; threads <= 5; threads++) {
        pool *p = pool_new(threads);
        ck_assert_int_eq(pool_size(p), threads);
        check_jobs(p, 200, 100);
        check_jobs(p, 2000, 3);
        check_jobs(p, 5, 0);
        check_jobs(p, 5, 1);
        pool_free(&p);
        ck_assert_ptr_null(p);
    }
}
END_TEST

START_TEST(threads_that_sleep_wake_for_the_next_job)
{
    pool *p = pool_new(3);
    for (int k = 0; k < 20; k++) {
        check_jobs(p, 2, 50);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    pool_free(&p);
}
END_TEST

START_TEST(no_pool_is_the_plain_loop)
{
    check_jobs(NULL, 3, 10);
    ck_assert_int_eq(pool_size(NULL), 1);
    ck_assert_int_ge(pool_processors(), 1);
}
END_TEST

/* Pieces with homes: which have begun, in the order of begins, and with whom. */
enum { HOMED = 60 };
typedef struct homed {
    _Atomic int n;
    int32_t began[HOMED];
    int by[HOMED];
    _Atomic int times[HOMED];
} homed;

static void begin_piece(void *user, int32_t i, int worker)
{
    homed *h = user;
    const int at = atomic_fetch_add(&h->n, 1);
    h->began[at] = i;
    h->by[at] = worker;
    atomic_fetch_add(&h->times[i], 1);
}

START_TEST(pieces_with_homes_run_once)
{
    static const int32_t home[][4] = {
        {0, 20, 40, 60}, {5, 5, 30, 50}, {60, 60, 60, 60}, {0, 0, 0, 0}, {3, 57, 57, 58}};
    for (int threads = 3; threads <= 5; threads++) {
        pool *p = pool_new(threads);
        for (int k = 0; k < 1000; k++) {
            homed h = {.n = 0};
            pool_run_homes(p, POOL_OTHER, HOMED, home[k % 5], 3, begin_piece, &h);
            for (int i = 0; i < HOMED; i++)
                ck_assert_int_eq(h.times[i], 1);
        }
        pool_free(&p);
    }
}
END_TEST

/* Threads that are not there take pieces as real ones do: those before all homes, their own, those
 * of others, what is left. */
START_TEST(threads_that_are_not_there_have_homes)
{
    static const int32_t home[] = {2, 20, 40, 58};
    pool *p = pool_new(3);
    pool_as_if(p);
    homed h = {.n = 0};
    pool_run_homes(p, POOL_OTHER, HOMED, home, 3, begin_piece, &h);
    bool own[3] = {true, true, true}; /* has begun nothing else at home */
    for (int at = 0; at < HOMED; at++) {
        const int32_t i = h.began[at];
        ck_assert_int_eq(h.times[i], 1);
        ck_assert(i >= 2 || at < 2);
        ck_assert(i < 58 || at >= 58);
        if (i < 2 || i >= 58)
            continue;
        const bool lives = i >= home[h.by[at]] && i < home[h.by[at] + 1];
        ck_assert(!lives || own[h.by[at]]); /* goes to others when none of its own is left */
        own[h.by[at]] &= lives;
    }
    pool_free(&p);
}
END_TEST

typedef struct meeting {
    _Atomic int here;
    _Atomic int met;
} meeting;

/* Waits until both pieces run at the same time. */
static void meet(void *user, int32_t i, int worker)
{
    meeting *m = user;
    (void)i;
    (void)worker;
    atomic_fetch_add(&m->here, 1);
    for (int round = 0; atomic_load(&m->here) < 2; round++)
        pool_wait(round);
    atomic_fetch_add(&m->met, 1);
}

START_TEST(two_threads_work_at_the_same_time)
{
    pool *p = pool_new(2);
    meeting m = {0};
    pool_run(p, POOL_OTHER, 2, meet, &m);
    ck_assert_int_eq(m.met, 2);
    pool_free(&p);
}
END_TEST

typedef struct places {
    meeting m;
    int by[2];
} places;

static void meet_at_home(void *user, int32_t i, int worker)
{
    places *p = user;
    p->by[i] = worker;
    meet(&p->m, i, worker);
}

/* Both run at the same time: each thread begins with its own. */
START_TEST(a_piece_for_each_thread_is_at_home_there)
{
    pool *p = pool_new(2);
    for (int k = 0; k < 1000; k++) {
        places at = {.by = {-1, -1}};
        pool_run_each(p, POOL_OTHER, 2, meet_at_home, &at);
        ck_assert_int_eq(at.by[0], 0);
        ck_assert_int_eq(at.by[1], 1);
    }
    pool_free(&p);
    homed h = {.n = 0};
    pool_run_each(NULL, POOL_OTHER, 3, begin_piece, &h);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(h.began[i], i);
}
END_TEST

static void await_flag(void *user, int32_t i, int worker)
{
    (void)i;
    (void)worker;
    for (int round = 0; !atomic_load((_Atomic bool *)user); round++)
        pool_wait(round);
}

START_TEST(the_caller_goes_on_beside_what_runs_aside)
{
    for (int threads = 2; threads <= 3; threads++) {
        pool *p = pool_new(threads);
        meeting m = {0};
        _Atomic bool flag = false;
        for (int k = 1; k <= 20; k++) {
            atomic_store(&m.here, 0);
            pool_aside(p, meet, &m);
            meet(&m, 0, 0);
            pool_aside_end(p);
            ck_assert_int_eq(m.met, 2 * k);
        }
        pool_aside(p, await_flag, (void *)&flag); /* jobs are done without its thread */
        check_jobs(p, 100, 10);
        atomic_store(&flag, true);
        pool_aside_end(p);
        pool_aside_end(p);
        check_jobs(p, 10, 100);
        pool_free(&p);
    }
}
END_TEST

START_TEST(one_thread_alone_does_at_once_what_should_run_aside)
{
    pool *const alone[] = {NULL, pool_new(1), pool_new(2)};
    pool_as_if(alone[2]);
    for (int k = 0; k < 3; k++) {
        pool *p = alone[k];
        _Atomic int times[1] = {0};
        job j = {.times = times, .size = 1};
        pool_aside(p, count_piece, &j);
        ck_assert_int_eq(times[0], 1);
        pool_aside_end(p);
        pool_aside_quietly(p);
        ck_assert_int_eq(times[0], 1);
        ck_assert_int_eq(j.strangers, 0);
        pool_free(&p);
    }
}
END_TEST

static void find_no_memory(void *user, int32_t i, int worker)
{
    (void)i;
    (void)worker;
    atomic_store((_Atomic bool *)user, true);
    vs_no_memory();
}

typedef struct failing {
    pool *p;
    _Atomic bool begun;
    bool ended;
} failing;

static vs_status end_failing(void *user)
{
    failing *f = user;
    pool_aside(f->p, find_no_memory, (void *)&f->begun);
    pool_aside_end(f->p);
    f->ended = true;
    return VS_OK;
}

START_TEST(memory_that_is_lacking_aside_ends_the_caller)
{
    failing f = {.p = pool_new(2)};
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(guard_run(heap_now(), end_failing, &f), VS_ENOMEM);
        ck_assert(!f.ended);
    }
    pool_aside(f.p, find_no_memory, (void *)&f.begun);
    await_flag((void *)&f.begun, 0, 0);
    pool_aside_quietly(f.p);
    check_jobs(f.p, 10, 10);
    pool_free(&f.p);
}
END_TEST

/* A sum of numbers of different size: each order gives other bits. */
typedef struct sums {
    double made[7], sum;
    int32_t next;
    _Atomic int wrong;
} sums;

static void make_term(void *user, int32_t i, int worker)
{
    (void)worker;
    ((sums *)user)->made[i % 7] = 1.0 / (1 + i * 37 % 101);
}

static void add_term(void *user, int32_t i, int worker)
{
    sums *s = user;
    (void)worker;
    s->wrong += i != s->next++;
    s->sum += s->made[i % 7];
}

START_TEST(ordered_parts_come_one_by_one)
{
    sums ref = {0};
    pool_run_ordered(NULL, POOL_OTHER, 1000, 7, make_term, add_term, &ref);
    ck_assert_int_eq(ref.next, 1000);
    for (int threads = 1; threads <= 5; threads++) {
        pool *p = pool_new(threads);
        for (int k = 0; k < 100; k++) {
            sums s = {0};
            pool_run_ordered(p, POOL_OTHER, 1000, 7, make_term, add_term, &s);
            ck_assert_int_eq(s.wrong, 0);
            ck_assert_int_eq(s.next, 1000);
            ck_assert(s.sum == ref.sum);
        }
        pool_free(&p);
    }
}
END_TEST

/* Pieces of several homes: what each adds goes to the home's own sum, in buffers that pieces use
 * one after the other. */
enum { N_HOME = 4, N_TERM = 400 };
typedef struct home_sums {
    const int32_t *home;
    _Atomic int users[N_HOME * POOL_HOME_SLOTS]; /* pieces that are in a buffer */
    double made[N_HOME * POOL_HOME_SLOTS], sum[N_HOME];
    int32_t next[N_HOME];
    _Atomic int wrong;
} home_sums;

static void make_home_term(void *user, int32_t i, int worker)
{
    home_sums *s = user;
    const int b = pool_home_buffer(s->home, N_HOME, i);
    (void)worker;
    s->wrong += b < 0 || b >= N_HOME * POOL_HOME_SLOTS || atomic_fetch_add(&s->users[b], 1) != 0;
    s->made[b] = 1.0 / (1 + i * 37 % 101);
}

static void add_home_term(void *user, int32_t i, int worker)
{
    home_sums *s = user;
    const int b = pool_home_buffer(s->home, N_HOME, i), w = b / POOL_HOME_SLOTS;
    (void)worker;
    s->wrong += i < s->home[w] || i >= s->home[w + 1] || i != s->home[w] + s->next[w]++;
    s->sum[w] += s->made[b];
    s->wrong += atomic_fetch_sub(&s->users[b], 1) != 1;
}

START_TEST(ordered_parts_come_in_the_order_of_each_home)
{
    static const int32_t home[][N_HOME + 1] = {{0, 100, 200, 300, N_TERM},
                                               {0, 0, 390, 390, N_TERM},
                                               {0, 1, 2, 3, N_TERM},
                                               {0, 0, 0, 0, 0}};
    for (int how = 0; how < 4; how++) {
        home_sums ref = {.home = home[how]};
        pool_run_homes_ordered(NULL, POOL_OTHER, home[how], N_HOME, make_home_term, add_home_term,
                               &ref);
        for (int threads = 4; threads <= 7; threads++) {
            pool *p = pool_new(threads);
            if (threads == 7)
                pool_as_if(p);
            for (int k = 0; k < 100; k++) {
                home_sums s = {.home = home[how]};
                pool_run_homes_ordered(p, POOL_OTHER, home[how], N_HOME, make_home_term,
                                       add_home_term, &s);
                ck_assert_int_eq(s.wrong, 0);
                for (int w = 0; w < N_HOME; w++) {
                    ck_assert_int_eq(s.next[w], home[how][w + 1] - home[how][w]);
                    ck_assert(s.sum[w] == ref.sum[w]);
                }
            }
            pool_free(&p);
        }
    }
}
END_TEST

/* Two pieces that meet; each works for a while, and waits for a while that does not count. */
typedef struct shift_of {
    meeting m;
    pool *p;
    double worked[2], waited[2]; /* s, by thread */
} shift_of;

static void burn(double s)
{
    for (const double end = vs_seconds() + s; vs_seconds() < end;)
        ;
}

static void work_and_wait(void *user, int32_t i, int worker)
{
    shift_of *s = user;
    const double t0 = vs_seconds();
    meet(&s->m, i, worker);
    burn(1e-3);
    const double paused = pool_pause(s->p), t1 = vs_seconds();
    burn(2e-3);
    const double t2 = vs_seconds();
    pool_resume(s->p, worker, paused);
    s->worked[worker] = t1 - t0;
    s->waited[worker] = t2 - t1;
}

START_TEST(work_is_counted_by_thread_and_kind_without_waiting)
{
    shift_of s = {.p = pool_new(2)};
    ck_assert(!pool_watch(s.p, true));
    pool_run(s.p, POOL_SOLVE, 2, work_and_wait, &s);
    ck_assert(pool_watch(s.p, false));
    const double stamp = pool_busy(s.p, POOL_STAMP, 0), solve = pool_busy(s.p, POOL_SOLVE, 0);
    ck_assert_int_eq(pool_spent(s.p, POOL_SOLVE).jobs, 1);
    ck_assert_int_eq(pool_spent(s.p, POOL_STAMP).jobs, 0);
    ck_assert(stamp == 0);
    ck_assert(solve >= s.worked[0]);
    ck_assert(solve <= pool_spent(s.p, POOL_SOLVE).seconds - s.waited[0]);
    s.m = (meeting){0};
    pool_run(s.p, POOL_SOLVE, 2, work_and_wait, &s); /* the other thread has ended the first one */
    ck_assert(pool_busy(s.p, POOL_SOLVE, 1) >= 1e-3);
    ck_assert_int_eq(pool_spent(s.p, POOL_SOLVE).jobs, 1);
    ck_assert(pool_busy(s.p, POOL_SOLVE, 0) == solve);
    pool_free(&s.p);
    ck_assert(!pool_watch(NULL, true));
    ck_assert(pool_busy(NULL, POOL_SOLVE, 0) == 0);
}
END_TEST

/* Pieces that burn `each`; the odd ones need the one before them. */
typedef struct chain {
    pool *p;
    double each;
    int32_t next; /* pieces come in order */
    _Atomic int wrong;
} chain;

static void burn_piece(void *user, int32_t i, int worker)
{
    chain *c = user;
    (void)worker;
    c->wrong += i != c->next++;
    if (i % 2)
        pool_need(c->p, i - 1);
    burn(c->each);
    pool_made(c->p, i);
}

static void burn_alone(void *user, int32_t i, int worker)
{
    (void)i;
    (void)worker;
    burn(((chain *)user)->each);
}

/* burn ends at `each` or, where the machine does other things, later: bounds from below hold
 * always, those from above are in what the caller took. */
START_TEST(threads_that_are_not_there_share_and_wait)
{
    chain c = {.p = pool_new(8), .each = 1e-4};
    ck_assert(!pool_is_as_if(c.p));
    pool_as_if(c.p);
    ck_assert(pool_is_as_if(c.p));
    for (int k = 1; k <= 2; k++) { /* four pieces need nothing, four wait for those */
        c.next = 0;
        pool_run(c.p, POOL_SOLVE, 8, burn_piece, &c);
        const pool_time t = pool_spent(c.p, POOL_SOLVE);
        ck_assert_int_eq(t.jobs, k);
        ck_assert(t.taken >= k * 8 * c.each);
        ck_assert(t.seconds >= k * 2 * c.each);
        ck_assert(t.seconds <= t.taken);
        double busy = 0;
        for (int w = 0; w < 8; w++) {
            ck_assert(pool_busy(c.p, POOL_SOLVE, w) >= k * c.each);
            busy += pool_busy(c.p, POOL_SOLVE, w);
        }
        ck_assert(busy <= t.taken);
    }
    ck_assert_int_eq(c.wrong, 0);
    ck_assert_int_eq(pool_spent(c.p, POOL_STAMP).jobs, 0);
    pool_free(&c.p);
    ck_assert(!pool_is_as_if(NULL));
    pool_as_if(NULL);
}
END_TEST

/* What comes one by one bounds any number of threads, and one slot leaves one piece at a time. */
START_TEST(ordered_parts_bound_threads_that_are_not_there)
{
    for (int32_t slots = 1; slots <= 16; slots *= 16) {
        chain c = {.p = pool_new(16), .each = 1e-4};
        pool_as_if(c.p);
        pool_run_ordered(c.p, POOL_EVALUATE, 16, slots, burn_alone, burn_alone, &c);
        const pool_time t = pool_spent(c.p, POOL_EVALUATE);
        ck_assert(t.taken >= 32 * c.each);
        ck_assert(t.seconds >= (slots == 1 ? 32 : 17) * c.each);
        pool_free(&c.p);
    }
    sums ref = {0}, s = {0};
    pool *p = pool_new(5);
    pool_as_if(p);
    pool_run_ordered(NULL, POOL_OTHER, 1000, 7, make_term, add_term, &ref);
    pool_run_ordered(p, POOL_OTHER, 1000, 7, make_term, add_term, &s);
    ck_assert_int_eq(s.wrong, 0);
    ck_assert(s.sum == ref.sum);
    pool_free(&p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pool");
    TCase *t = tcase_create("pool");
    tcase_add_test(t, every_piece_runs_once_in_each_job);
    tcase_add_test(t, threads_that_sleep_wake_for_the_next_job);
    tcase_add_test(t, no_pool_is_the_plain_loop);
    tcase_add_test(t, pieces_with_homes_run_once);
    tcase_add_test(t, threads_that_are_not_there_have_homes);
    tcase_add_test(t, two_threads_work_at_the_same_time);
    tcase_add_test(t, a_piece_for_each_thread_is_at_home_there);
    tcase_add_test(t, the_caller_goes_on_beside_what_runs_aside);
    tcase_add_test(t, one_thread_alone_does_at_once_what_should_run_aside);
    tcase_add_test(t, memory_that_is_lacking_aside_ends_the_caller);
    tcase_add_test(t, ordered_parts_come_one_by_one);
    tcase_add_test(t, ordered_parts_come_in_the_order_of_each_home);
    tcase_add_test(t, work_is_counted_by_thread_and_kind_without_waiting);
    tcase_add_test(t, threads_that_are_not_there_share_and_wait);
    tcase_add_test(t, ordered_parts_bound_threads_that_are_not_there);
    tcase_set_timeout(t, TEST_PATIENCE);
    suite_add_tcase(s, t);
    return run_suite(s);
}
