/* rep_threads.h - what each thread of a run did: how long it worked on its share of each phase, how
 * long it waited for the others there, and how long it had nothing to do because one thread alone
 * went on.
 * Use: rep_threads_new; _see at each passage between phases, then the reports; _free. */
#ifndef REP_THREADS_H
#define REP_THREADS_H

#include <stdio.h>

#include "pool.h"

typedef struct rep_threads rep_threads;
rep_threads *rep_threads_new(bool as_if);
void rep_threads_free(rep_threads **t);
/* Takes what the pool has counted since the call before; another pool than then begins at 0. NULL:
 * one thread. The pool is watched from its first call on, as if its threads worked with `as_if` of
 * _new. */
void rep_threads_see(rep_threads *t, pool *p);
/* seconds: of all analyses, and of the phases that have jobs of a kind. */
typedef struct rep_threads_of {
    double total, phase[POOL_N_KIND];
} rep_threads_of;
void rep_threads_text(const rep_threads *t, const rep_threads_of *of, FILE *out);
/* Writes a member of a JSON object, with its comma. */
void rep_threads_json(const rep_threads *t, const rep_threads_of *of, FILE *out);

#endif
