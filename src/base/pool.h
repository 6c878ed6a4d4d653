/* pool.h - a few threads that share the pieces of one loop.
 * Use:    pool_new once; pool_run for each loop; pool_free.
 * Source: the dispenser of pieces is one 64-bit word (job number, next piece) that is advanced by
 *         compare-and-swap, so that a thread which wakes late takes nothing from a later job.
 *
 * The caller works too, and pool_run returns when every piece is done, whether or not other threads
 * came: on a busy machine it is never slower than the loop by more than the wait for pieces already
 * taken. Threads start at the first pool_run, wait for the next job by spinning for a moment and
 * then sleep. Which thread runs a piece is not determined; results must not depend on it. */
#ifndef POOL_H
#define POOL_H

#include "vs.h"

typedef struct pool pool;

/* What a job is part of, for pool_spent. */
typedef enum pool_kind {
    POOL_OTHER,
    POOL_EVALUATE,
    POOL_STAMP,
    POOL_FACTOR,
    POOL_SOLVE,
    POOL_VECTOR, /* loops over vectors of unknowns */
    POOL_N_KIND
} pool_kind;

/* Piece `i` of a job on thread `worker` (0: the caller of pool_run .. pool_size - 1). */
typedef void (*pool_fn)(void *user, int32_t i, int worker);

/* threads: with the caller's, at least 1. Its threads allocate from the caller's heap. If a piece
 * finds no memory, pieces that have not begun are left out; when all others have returned, pool_run
 * jumps to the guard as vs_malloc does. So pieces that wait for each other must not allocate. The
 * caller frees it with pool_free. */
pool *pool_new(int threads);
void pool_free(pool **p);
/* Threads that can work at the same time; 1 for NULL. */
int pool_size(const pool *p);
/* Where part i of n elements begins, that are cut into n_part alike; part n_part: the end. */
static inline int32_t pool_part(int32_t n, int32_t i, int32_t n_part)
{
    return (int32_t)((int64_t)n * i / n_part);
}
/* Calls fn(user, 0 .. n-1), in ascending order of start, and returns when all have returned. Not to
 * be called from inside a job, nor from two threads at a time. Allocates nothing after the first
 * call. */
void pool_run(pool *p, pool_kind kind, int32_t n, pool_fn fn, void *user);
/* The same for pieces that have homes: those from home[w] to home[w + 1] - 1 are at home with
 * thread w < n_home <= pool_size; what it had of them in its cache it finds there again. A thread
 * begins pieces of others where none of its own is left. Pieces before home[0] are begun first,
 * those from home[n_home] on last, in ascending order, as are the pieces of a home: a piece may
 * wait for those before it at its home and before home[0], and from home[n_home] on for any before
 * it. */
void pool_run_homes(pool *p, pool_kind kind, int32_t n, const int32_t *home, int n_home, pool_fn fn,
                    void *user);
/* The same, piece i at home with thread i; with none where there are more than threads. */
void pool_run_each(pool *p, pool_kind kind, int32_t n, pool_fn fn, void *user);
/* As pool_run, with a second part of each piece, take(user, i, worker), called for i = 0, 1, 2 ...
 * in this order, one call at a time, each after fn(user, i): sums whose order must not depend on
 * threads. fn(user, i) may use buffer i % slots (slots <= POOL_MAX_SLOTS): it is not called before
 * take(user, i - slots) has returned. */
enum { POOL_MAX_SLOTS = 256 };
void pool_run_ordered(pool *p, pool_kind kind, int32_t n, int32_t slots, pool_fn fn, pool_fn take,
                      void *user);
/* Both: take(user, i, worker) in the order of the pieces of a home, one call of a home at a time,
 * those of different homes beside each other. All pieces have homes: home[0] = 0, home[n_home] = n.
 * fn(user, i) may use buffer pool_home_buffer: no piece is in it at the same time. */
enum { POOL_HOME_SLOTS = 2 };
void pool_run_homes_ordered(pool *p, pool_kind kind, const int32_t *home, int n_home, pool_fn fn,
                            pool_fn take, void *user);
/* Of piece i: from 0 to POOL_HOME_SLOTS * n_home - 1. */
int pool_home_buffer(const int32_t *home, int n_home, int32_t i);
/* Begins fn(user, 0, worker) on one of the other threads, beside what the caller does until
 * pool_aside_end, jobs included, which the thread then takes no part in. Alone it is called at once
 * by the caller. One at a time: one before it is waited for. fn must not use the pool. */
void pool_aside(pool *p, pool_fn fn, void *user);
/* Waits until it has returned; if no thread had time for it, the caller calls it now. It may have
 * found no memory: then this jumps as pool_run does, but for `quietly`, which does not call it
 * either, for ends after a failure. NULL, or nothing begun: does nothing. */
void pool_aside_end(pool *p);
void pool_aside_quietly(pool *p);
/* Two buffers: one is used while pool_aside fills the other. The caller sets in `next` what fill is
 * to do, and calls pool_ahead_fill; pool_ahead_turn waits until it is full. Then it is `now`, and
 * what was `now` is `next`. */
typedef struct pool_ahead {
    pool *p;
    pool_fn fill; /* its user: the buffer */
    void *now, *next;
} pool_ahead;
/* bytes: of a buffer; both begin with zeros. Allocates two threads and the buffers. */
void pool_ahead_init(pool_ahead *a, size_t bytes, pool_fn fill);
void pool_ahead_fill(pool_ahead *a);
void pool_ahead_turn(pool_ahead *a);
/* Waits for a fill under way. Of zeros: does nothing. */
void pool_ahead_fini(pool_ahead *a);
/* A moment of waiting in a loop that waits for another thread: the n-th in a row, from 0. */
void pool_wait(int n);
/* Around such a loop in a piece, so that its time does not count as work: pool_resume gets what
 * pool_pause returned. p may be NULL. */
double pool_pause(const pool *p);
void pool_resume(pool *p, int worker, double paused);

/* From now on jobs that threads share are timed, or no longer; returns what was so before. Not from
 * inside a job. NULL: none are. */
bool pool_watch(pool *p, bool yes);
typedef struct pool_time {
    int64_t jobs;
    double seconds; /* of the jobs; each thread worked or waited for as long */
    double taken;   /* of the caller in pool_run: the same, but for a pool "as if" */
} pool_time;
/* What was timed since pool_new. Between jobs; a thread may still add a moment to the last one. */
pool_time pool_spent(const pool *p, pool_kind kind);
double pool_busy(const pool *p, pool_kind kind, int worker); /* s, work alone */

/* From now on the caller does all pieces, and the pool is watched as if its threads did: each has a
 * clock. A piece begins on the thread that is free first, ends as much later as it takes, and waits
 * at pool_need. To see a job, to take a piece and to see the end cost a transfer of a line of the
 * cache, one thread after the other. What threads take from each other otherwise (bandwidth of the
 * memory) is not in it. For pieces that wait for earlier ones only. Between jobs; allocates. */
void pool_as_if(pool *p);
bool pool_is_as_if(const pool *p); /* false for NULL */
/* What `key` (from 0) stands for is done by a piece, or by one more of several; a piece needs it.
 * Only where pool_is_as_if; it stands beside what real threads do. pool_made allocates. */
void pool_made(pool *p, int32_t key);
void pool_need(pool *p, int32_t key);

/* Processors that this process may use. */
int pool_processors(void);

#endif
