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
/* Calls fn(user, 0 .. n-1), in ascending order of start, and returns when all have returned. Not to
 * be called from inside a job, nor from two threads at a time. Allocates nothing after the first
 * call. */
void pool_run(pool *p, int32_t n, pool_fn fn, void *user);
/* The same with a second part of each piece, take(user, i, worker), called for i = 0, 1, 2 ... in
 * this order, one call at a time, each after fn(user, i): sums whose order must not depend on
 * threads. fn(user, i) may use buffer i % slots (slots <= POOL_MAX_SLOTS): it is not called before
 * take(user, i - slots) has returned. */
enum { POOL_MAX_SLOTS = 64 };
void pool_run_ordered(pool *p, int32_t n, int32_t slots, pool_fn fn, pool_fn take, void *user);
/* A moment of waiting in a loop that waits for another thread: the n-th in a row, from 0. */
void pool_wait(int n);

/* Processors that this process may use. */
int pool_processors(void);

#endif
