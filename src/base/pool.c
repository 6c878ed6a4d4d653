/* pool.c - see pool.h. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "heap.h"
#include "vec.h"

/* Rounds of waiting (some 10 ns each) before a thread lets others run, and before it sleeps. The
 * gaps between the parallel parts of a Newton iteration are shorter than that, those between
 * analyses are longer. */
enum { SPIN_ROUNDS = 200, SLEEP_ROUNDS = 4000 };
#define CLOSED 0x7fffffffu /* as next piece: there is none */

/* Seconds of work of a thread, which alone writes it; its own line of the cache. */
typedef struct tally {
    _Alignas(64) _Atomic double seconds[POOL_N_KIND];
} tally;

/* Pieces that are at home with a thread; its own line of the cache. */
typedef struct seat {
    _Alignas(64) _Atomic int32_t next;     /* to begin */
    _Atomic int32_t turn;                  /* with an ordered part: to take next; */
    _Atomic bool taking;                   /* somebody does; */
    _Atomic int32_t made[POOL_HOME_SLOTS]; /* number + 1 of the piece that a slot holds */
} seat;

/* The clocks of threads that are not there, s; they never go back. */
typedef struct as_if {
    double *free; /* [size] when a thread has ended what it took */
    double *made; /* vec: when what a key stands for was done */
    double next;  /* the dispenser of pieces has no thread before that */
    double end;   /* of the job before */
    double begun; /* the thread's clock at `since` */
    double since; /* by the real clock: the piece began */
    double seen;  /* the thread's clock was that far when it was last looked at */
} as_if;

struct pool {
    int size, n_started;
    pthread_t *thread;       /* [size - 1] */
    _Atomic uint64_t ticket; /* job number << 32 | next piece */
    _Atomic(pool_fn) fn;     /* of the job; valid for who got a piece of it */
    _Atomic(void *) user;
    _Atomic int32_t n;
    _Atomic int32_t done; /* pieces of the job that have returned */
    _Atomic int sleeping;
    _Atomic bool stop;
    _Atomic bool failed; /* a piece of the job found no memory: the others are left out */
    bool watched;        /* changes between jobs */
    pool_kind kind;      /* of the job, while it is watched */
    pool_time spent[POOL_N_KIND];
    tally *busy;       /* [size]; NULL: was never watched */
    void *block;       /* that holds it */
    _Atomic int aside; /* how far it is, */
    pool_fn aside_fn;  /* and what it calls */
    void *aside_user;
    int32_t *each; /* [size + 1] 0, 1, 2 ...: homes of one piece each */
    int n_seat;    /* of homes, as many as threads at first; of pieces before them; and behind */
    seat *seat;
    void *seats;  /* that holds them */
    as_if *as_if; /* NULL: real threads */
    heap *heap;   /* of who made the pool: its threads allocate there */
    heap_owned own;
    pthread_mutex_t lock; /* for sleeping */
    pthread_cond_t wake;
};

/* Of pool_aside. */
enum { ASIDE_NONE, ASIDE_WAITS, ASIDE_RUNS, ASIDE_DONE, ASIDE_FAILED };

typedef struct start {
    pool *p;
    int worker;
} start;

void pool_wait(int n)
{
    if (n >= SPIN_ROUNDS) {
        sched_yield();
        return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

typedef struct shift {
    pool *p;
    int worker;
} shift;

static void add_seconds(pool *p, int worker, pool_kind kind, double s)
{
    _Atomic double *to = &p->busy[worker].seconds[kind];
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + s,
                          memory_order_relaxed);
}

/* Pieces of one job in a row, on one thread. */
typedef struct stint {
    bool timed;
    uint64_t job;
    pool_kind kind;
    double since;
} stint;

static void end_stint(pool *p, int worker, stint *s)
{
    if (s->timed)
        add_seconds(p, worker, s->kind, vs_seconds() - s->since);
    s->timed = false;
}

/* A piece of `job` was taken. */
static void go_on(pool *p, int worker, uint64_t job, stint *s)
{
    if (s->timed && s->job == job)
        return;
    end_stint(p, worker, s);
    if (p->watched)
        *s = (stint){.timed = true, .job = job, .kind = p->kind, .since = vs_seconds()};
}

/* Takes pieces of the present job until there are none. */
static vs_status take_pieces(void *user)
{
    pool *p = ((shift *)user)->p;
    const int worker = ((shift *)user)->worker;
    stint s = {0};
    uint64_t t = atomic_load_explicit(&p->ticket, memory_order_acquire);
    for (;;) {
        /* A job's fields change only after its last piece was done and the ticket was closed: then
         * there is no piece, or the swap below fails. */
        const pool_fn fn = atomic_load_explicit(&p->fn, memory_order_relaxed);
        void *arg = atomic_load_explicit(&p->user, memory_order_relaxed);
        const int32_t i = (int32_t)(uint32_t)t;
        if (i >= atomic_load_explicit(&p->n, memory_order_acquire)) {
            end_stint(p, worker, &s);
            return VS_OK;
        }
        if (!atomic_compare_exchange_weak_explicit(&p->ticket, &t, t + 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        go_on(p, worker, t >> 32, &s);
        if (!atomic_load_explicit(&p->failed, memory_order_relaxed))
            fn(arg, i, worker);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
        t = atomic_load_explicit(&p->ticket, memory_order_acquire);
    }
}

/* A piece that found no memory is done, as the others of its job are then. */
static void work(pool *p, int worker)
{
    shift s = {p, worker};
    while (guard_run(p->heap, take_pieces, &s)) {
        atomic_store(&p->failed, true);
        atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
    }
}

static vs_status call_aside(void *user)
{
    const shift *s = user;
    s->p->aside_fn(s->p->aside_user, 0, s->worker);
    return VS_OK;
}

/* What waits aside, unless another thread has taken it. */
static void take_aside(pool *p, int worker)
{
    shift s = {p, worker};
    int waits = ASIDE_WAITS;
    if (atomic_load_explicit(&p->aside, memory_order_relaxed) != ASIDE_WAITS ||
        !atomic_compare_exchange_strong(&p->aside, &waits, ASIDE_RUNS))
        return;
    const vs_status st = guard_run(p->heap, call_aside, &s);
    atomic_store(&p->aside, st == VS_OK ? ASIDE_DONE : ASIDE_FAILED);
}

/* Is there nothing to do: no job after `seen`, nothing aside, and not the end? */
static bool idle(pool *p, uint64_t seen)
{
    return atomic_load(&p->ticket) >> 32 == seen && atomic_load(&p->aside) != ASIDE_WAITS &&
           !atomic_load(&p->stop);
}

static void await_job(pool *p, uint64_t seen)
{
    for (int round = 0; round < SLEEP_ROUNDS; round++) {
        if (!idle(p, seen))
            return;
        pool_wait(round);
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->sleeping, 1);
    while (idle(p, seen))
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->sleeping, 1);
    pthread_mutex_unlock(&p->lock);
}

static void *thread_main(void *arg)
{
    const start s = *(start *)arg;
    vs_free(arg);
    uint64_t seen = 0;
    for (;;) {
        await_job(s.p, seen);
        if (atomic_load(&s.p->stop))
            return NULL;
        take_aside(s.p, s.worker);
        seen = atomic_load_explicit(&s.p->ticket, memory_order_acquire) >> 32;
        work(s.p, s.worker);
    }
}

static void wake_all(pool *p)
{
    if (!atomic_load(&p->sleeping))
        return;
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

static void end(pool *p)
{
    atomic_store(&p->stop, true);
    wake_all(p);
    for (int i = 0; i < p->n_started; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
}

static void drop(void *what, size_t n)
{
    (void)n;
    end(what);
}

pool *pool_new(int threads)
{
    pool *p = vs_calloc(1, sizeof *p);
    p->size = threads > 1 ? threads : 1;
    p->thread = vs_calloc((size_t)p->size, sizeof *p->thread);
    p->each = vs_calloc((size_t)p->size + 1, sizeof *p->each);
    for (int w = 0; w <= p->size; w++)
        p->each[w] = w;
    p->n_seat = p->size + 2;
    p->seats = vs_calloc((size_t)p->n_seat + 1, sizeof *p->seat);
    p->seat = vs_at_line(p->seats);
    p->heap = heap_now();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    heap_own(&p->own, drop, p);
    return p;
}

void pool_free(pool **pp)
{
    pool *p = *pp;
    if (!p)
        return;
    heap_disown(&p->own);
    end(p);
    vs_free(p->block);
    vs_free(p->seats);
    if (p->as_if) {
        vec_free(p->as_if->made);
        vs_free(p->as_if->free);
        vs_free(p->as_if);
    }
    vs_free(p->each);
    vs_free(p->thread);
    vs_free(p);
    *pp = NULL;
}

int pool_size(const pool *p) { return p ? p->size : 1; }

/* The other threads; fewer than asked for if the system gives no more. */
static void start_threads(pool *p)
{
    while (p->n_started < p->size - 1) {
        start *s = vs_malloc(sizeof *s);
        *s = (start){p, p->n_started + 1};
        if (pthread_create(&p->thread[p->n_started], NULL, thread_main, s)) {
            vs_free(s);
            p->size = p->n_started + 1;
            return;
        }
        p->n_started++;
    }
}

static void run(pool *p, int32_t n, pool_fn fn, void *user)
{
    atomic_store(&p->failed, false);
    const uint64_t job = atomic_load_explicit(&p->ticket, memory_order_relaxed) >> 32;
    atomic_store(&p->ticket, job << 32 | CLOSED);
    atomic_store_explicit(&p->fn, fn, memory_order_release);
    atomic_store_explicit(&p->user, user, memory_order_release);
    atomic_store_explicit(&p->n, n, memory_order_release);
    atomic_store_explicit(&p->done, 0, memory_order_release);
    atomic_store(&p->ticket, ((job + 1) & 0xffffffffu) << 32);
    wake_all(p);
    work(p, 0);
    for (int round = 0; atomic_load_explicit(&p->done, memory_order_acquire) < n; round++)
        pool_wait(round);
    if (atomic_load(&p->failed))
        vs_no_memory();
}

/* A job whose pieces have homes. */
typedef struct homes {
    pool *p;
    const int32_t *home;
    int n_home;
    int32_t n;
    pool_fn fn;
    void *user;
} homes;

/* -- as if -- */

/* s, one line of the cache from one thread's to another's: of processors of some 64 cores, 20 to 40
 * ns within a group of cores, 100 between groups, 200 between sockets (docs/numerics.md, section
 * 8). */
static const double TRANSFER = 200e-9;

void pool_as_if(pool *p)
{
    if (!p || p->as_if || p->size < 2)
        return;
    (void)pool_watch(p, true);
    p->as_if = vs_calloc(1, sizeof *p->as_if);
    p->as_if->free = vs_calloc((size_t)p->size, sizeof *p->as_if->free);
}

bool pool_is_as_if(const pool *p) { return p && p->as_if; }

/* Now, by the clock of the thread whose piece this is. */
static double time_as_if(const as_if *a) { return a->begun + (vs_seconds() - a->since); }

void pool_made(pool *p, int32_t key)
{
    as_if *a = p->as_if;
    while ((int32_t)vec_len(a->made) <= key)
        vec_push(a->made, 0.0);
    a->made[key] = fmax(a->made[key], time_as_if(a));
}

void pool_need(pool *p, int32_t key)
{
    as_if *a = p->as_if;
    const double from = key < (int32_t)vec_len(a->made) ? a->made[key] + TRANSFER : 0;
    if (from <= a->seen) /* most are: reading the clock takes longer than what needs it */
        return;
    const double now = time_as_if(a);
    a->begun += from > now ? from - now : 0;
    a->seen = fmax(from, now);
}

static int free_first(const pool *p)
{
    int w = 0;
    for (int i = 1; i < p->size; i++)
        w = p->as_if->free[i] < p->as_if->free[w] ? i : w;
    return w;
}

/* Thread w works from a time of its clock on, and is free behind that. */
static void work_as_if(pool *p, int w, double from, pool_kind kind, pool_fn fn, void *user,
                       int32_t i)
{
    as_if *a = p->as_if;
    a->begun = a->seen = from;
    a->since = vs_seconds();
    fn(user, i, w);
    const double s = vs_seconds() - a->since;
    a->free[w] = a->begun + s;
    add_seconds(p, w, kind, s);
}

/* Pieces, and their ordered parts where there are any. A thread takes ordered parts as long as they
 * are ready; who makes one meanwhile leaves it to that thread (drain). */
typedef struct job_as_if {
    pool_fn fn, take;
    void *user;
    const homes *at; /* NULL: pieces begin in order */
} job_as_if;

/* The piece that thread w takes next; next [n_home + 2]: how many of each range are taken. */
static int32_t next_at_home(const homes *h, int w, int32_t *next)
{
    const int32_t *home = h->home;
    if (next[h->n_home] < home[0])
        return next[h->n_home]++;
    for (int k = 0; k < h->n_home; k++) {
        const int v = (w + k) % h->n_home;
        if (next[v] < home[v + 1] - home[v])
            return home[v] + next[v]++;
    }
    return home[h->n_home] + next[h->n_home + 1]++;
}

static void run_as_if(pool *p, pool_kind kind, int32_t n, int32_t slots, const job_as_if *j)
{
    as_if *a = p->as_if;
    const double t0 = vs_seconds(), begin = a->end;
    double taken[POOL_MAX_SLOTS]; /* when a slot became free */
    int taker = 0;
    int32_t *next = j->at ? vs_calloc((size_t)j->at->n_home + 2, sizeof *next) : NULL;
    for (int32_t i = 0; i < slots && j->take; i++)
        taken[i] = begin;
    for (int w = 0; w < p->size; w++)
        a->free[w] = begin + w * TRANSFER;
    a->next = begin;
    for (int32_t i = 0; i < n; i++) {
        const int w = free_first(p);
        /* who is at home has the counter of its pieces in its cache */
        a->next = j->at ? a->free[w] : fmax(a->next, a->free[w]) + TRANSFER;
        work_as_if(p, w, j->take ? fmax(a->next, taken[i % slots]) : a->next, kind, j->fn, j->user,
                   j->at ? next_at_home(j->at, w, next) : i);
        if (!j->take)
            continue;
        if (i == 0 || a->free[w] >= taken[(i - 1) % slots])
            taker = w;
        work_as_if(p, taker, a->free[taker], kind, j->take, j->user, i);
        taken[i % slots] = a->free[taker];
    }
    vs_free(next);
    for (int w = 0; w < p->size; w++)
        a->end = fmax(a->end, a->free[w]);
    a->end += TRANSFER;
    p->spent[kind].jobs++;
    p->spent[kind].seconds += a->end - begin;
    p->spent[kind].taken += vs_seconds() - t0;
}

void pool_run(pool *p, pool_kind kind, int32_t n, pool_fn fn, void *user)
{
    if (!p || p->size == 1 || n < 2) {
        for (int32_t i = 0; i < n; i++)
            fn(user, i, 0);
        return;
    }
    if (p->as_if) {
        run_as_if(p, kind, n, n, &(job_as_if){.fn = fn, .user = user});
        return;
    }
    start_threads(p);
    const double t0 = p->watched ? vs_seconds() : 0;
    p->kind = kind;
    run(p, n, fn, user);
    if (p->watched) {
        const double s = vs_seconds() - t0;
        p->spent[kind].jobs++;
        p->spent[kind].seconds += s;
        p->spent[kind].taken += s;
    }
}

/* -- aside -- */

void pool_aside(pool *p, pool_fn fn, void *user)
{
    pool_aside_end(p);
    if (p && p->size > 1 && !p->as_if)
        start_threads(p);
    if (!p || p->size == 1 || p->as_if) {
        fn(user, 0, 0);
        return;
    }
    p->aside_fn = fn;
    p->aside_user = user;
    atomic_store(&p->aside, ASIDE_WAITS);
    wake_all(p);
}

/* Returns how it ended, ASIDE_WAITS: nobody has begun it, nor will. */
static int end_aside(pool *p)
{
    int was = ASIDE_WAITS;
    if (atomic_load(&p->aside) == ASIDE_NONE ||
        atomic_compare_exchange_strong(&p->aside, &was, ASIDE_NONE))
        return was;
    for (int round = 0; (was = atomic_load(&p->aside)) == ASIDE_RUNS; round++)
        pool_wait(round);
    atomic_store(&p->aside, ASIDE_NONE);
    return was;
}

void pool_aside_end(pool *p)
{
    if (!p || atomic_load(&p->aside) == ASIDE_NONE)
        return;
    const int was = end_aside(p);
    if (was == ASIDE_WAITS)
        p->aside_fn(p->aside_user, 0, 0);
    if (was == ASIDE_FAILED)
        vs_no_memory();
}

void pool_aside_quietly(pool *p)
{
    if (p)
        (void)end_aside(p);
}

void pool_ahead_init(pool_ahead *a, size_t bytes, pool_fn fill)
{
    *a = (pool_ahead){.p = pool_new(2), .fill = fill};
    a->now = vs_calloc(1, bytes);
    a->next = vs_calloc(1, bytes);
}

void pool_ahead_fill(pool_ahead *a) { pool_aside(a->p, a->fill, a->next); }

void pool_ahead_turn(pool_ahead *a)
{
    void *used = a->now;
    pool_aside_end(a->p);
    a->now = a->next;
    a->next = used;
}

void pool_ahead_fini(pool_ahead *a)
{
    pool_free(&a->p);
    vs_free(a->now);
    vs_free(a->next);
    *a = (pool_ahead){0};
}

/* -- pieces with homes -- */

static void take_range(const homes *h, int which, int32_t begin, int32_t end, int worker)
{
    _Atomic int32_t *next = &h->p->seat[which].next;
    while (atomic_load_explicit(next, memory_order_relaxed) < end - begin &&
           !atomic_load_explicit(&h->p->failed, memory_order_relaxed)) {
        const int32_t i = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
        if (i < end - begin)
            h->fn(h->user, begin + i, worker);
    }
}

/* All that a thread does of such a job. */
static void work_at_home(void *user, int32_t i, int worker)
{
    const homes *h = user;
    (void)i;
    take_range(h, h->n_home, 0, h->home[0], worker);
    for (int k = 0; k < h->n_home; k++) {
        const int w = (worker + k) % h->n_home;
        take_range(h, w, h->home[w], h->home[w + 1], worker);
    }
    take_range(h, h->n_home + 1, h->home[h->n_home], h->n, worker);
}

void pool_run_homes(pool *p, pool_kind kind, int32_t n, const int32_t *home, int n_home, pool_fn fn,
                    void *user)
{
    if (!p || p->size == 1 || n < 2) {
        pool_run(p, kind, n, fn, user);
        return;
    }
    homes h = {.p = p, .home = home, .n_home = n_home, .n = n, .fn = fn, .user = user};
    if (p->as_if) {
        run_as_if(p, kind, n, n, &(job_as_if){.fn = fn, .user = user, .at = &h});
        return;
    }
    assert(n_home + 2 <= p->n_seat);
    for (int w = 0; w < n_home + 2; w++)
        atomic_store_explicit(&p->seat[w].next, 0, memory_order_relaxed);
    pool_run(p, kind, n < p->size ? n : p->size, work_at_home, &h);
}

void pool_run_each(pool *p, pool_kind kind, int32_t n, pool_fn fn, void *user)
{
    if (p && n <= p->size)
        pool_run_homes(p, kind, n, p->each, n, fn, user);
    else
        pool_run(p, kind, n, fn, user);
}

/* -- pieces with an ordered part -- */

/* Pieces whose second parts are called in their order. */
typedef struct ordered {
    pool *p;
    pool_fn fn, take;
    void *user;
    int32_t from, n, slots; /* the first piece, how many, buffers for them */
    _Atomic int32_t *turn;  /* to take next, from 0 */
    _Atomic bool *taking;   /* somebody does */
    _Atomic int32_t *made;  /* [slots] number + 1 of the piece that a slot holds */
} ordered;

static bool next_is_made(const ordered *o)
{
    const int32_t t = atomic_load(o->turn);
    return t < o->n && atomic_load(&o->made[t % o->slots]) == t + 1;
}

/* Takes what is ready, unless another thread does. Who stops taking looks once more: a piece that
 * became ready meanwhile was left to him. */
static void drain(const ordered *o, int worker)
{
    while (next_is_made(o) && !atomic_exchange(o->taking, true)) {
        while (next_is_made(o)) {
            o->take(o->user, o->from + atomic_load(o->turn), worker);
            atomic_fetch_add(o->turn, 1);
        }
        atomic_store(o->taking, false);
    }
}

static void run_in_turn(const ordered *o, int32_t i, int worker)
{
    const int32_t k = i - o->from;
    for (int round = 0; k - atomic_load(o->turn) >= o->slots; round++) {
        if (o->p && atomic_load(&o->p->failed))
            return; /* the turn may never come */
        drain(o, worker);
        const double paused = pool_pause(o->p);
        pool_wait(round);
        pool_resume(o->p, worker, paused);
    }
    o->fn(o->user, i, worker);
    atomic_store(&o->made[k % o->slots], k + 1);
    drain(o, worker);
}

static void run_ordered(void *user, int32_t i, int worker) { run_in_turn(user, i, worker); }

void pool_run_ordered(pool *p, pool_kind kind, int32_t n, int32_t slots, pool_fn fn, pool_fn take,
                      void *user)
{
    assert(slots >= 1 && slots <= POOL_MAX_SLOTS);
    if (p && p->as_if && n > 1) {
        run_as_if(p, kind, n, slots, &(job_as_if){.fn = fn, .take = take, .user = user});
        return;
    }
    _Atomic int32_t turn = 0, made[POOL_MAX_SLOTS] = {0};
    _Atomic bool taking = false;
    ordered o = {.p = p,
                 .fn = fn,
                 .take = take,
                 .user = user,
                 .n = n,
                 .slots = slots,
                 .turn = &turn,
                 .taking = &taking,
                 .made = made};
    pool_run(p, kind, n, run_ordered, &o);
}

typedef struct home_order {
    pool *p;
    const int32_t *home;
    int n_home;
    pool_fn fn, take;
    void *user;
} home_order;

static int home_of(const int32_t *home, int n_home, int32_t i)
{
    int lo = 0, hi = n_home;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        *(home[mid] <= i ? &lo : &hi) = mid;
    }
    return lo;
}

int pool_home_buffer(const int32_t *home, int n_home, int32_t i)
{
    const int w = home_of(home, n_home, i);
    return w * POOL_HOME_SLOTS + (i - home[w]) % POOL_HOME_SLOTS;
}

static void run_home_ordered(void *user, int32_t i, int worker)
{
    const home_order *h = user;
    const int w = home_of(h->home, h->n_home, i);
    seat *s = &h->p->seat[w];
    const int32_t n = h->home[w + 1] - h->home[w];
    run_in_turn(&(ordered){.p = h->p,
                           .fn = h->fn,
                           .take = h->take,
                           .user = h->user,
                           .from = h->home[w],
                           .n = n,
                           .slots = POOL_HOME_SLOTS,
                           .turn = &s->turn,
                           .taking = &s->taking,
                           .made = s->made},
                i, worker);
}

/* One piece after the other: by one thread, or by several "as if". */
static void run_both(void *user, int32_t i, int worker)
{
    const home_order *o = user;
    o->fn(o->user, i, worker);
    o->take(o->user, i, worker);
}

void pool_run_homes_ordered(pool *p, pool_kind kind, const int32_t *home, int n_home, pool_fn fn,
                            pool_fn take, void *user)
{
    home_order o = {p, home, n_home, fn, take, user};
    const bool alone = !p || p->size == 1 || p->as_if || home[n_home] < 2;
    for (int w = 0; w < n_home && !alone; w++) {
        seat *s = &p->seat[w];
        atomic_store_explicit(&s->turn, 0, memory_order_relaxed);
        atomic_store_explicit(&s->taking, false, memory_order_relaxed);
        for (int k = 0; k < POOL_HOME_SLOTS; k++)
            atomic_store_explicit(&s->made[k], 0, memory_order_relaxed);
    }
    pool_run_homes(p, kind, home[n_home], home, n_home, alone ? run_both : run_home_ordered, &o);
}

/* -- where the time goes -- */

bool pool_watch(pool *p, bool yes)
{
    const bool before = p && p->watched;
    if (!p)
        return false;
    if (yes && !p->busy) {
        p->block = vs_calloc((size_t)p->size + 1, sizeof *p->busy);
        p->busy = vs_at_line(p->block);
    }
    p->watched = yes;
    return before;
}

double pool_pause(const pool *p) { return p && p->watched ? vs_seconds() : 0; }

void pool_resume(pool *p, int worker, double paused)
{
    if (p && p->watched)
        add_seconds(p, worker, p->kind, paused - vs_seconds());
}

pool_time pool_spent(const pool *p, pool_kind kind) { return p ? p->spent[kind] : (pool_time){0}; }

double pool_busy(const pool *p, pool_kind kind, int worker)
{
    return p && p->busy && worker < p->size
               ? atomic_load_explicit(&p->busy[worker].seconds[kind], memory_order_relaxed)
               : 0;
}

int pool_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    const int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}
