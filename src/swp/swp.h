/* swp.h - runs the points of .step and .mc and puts their results into one file (docs/sweeps.md).
 * Use: after sim_build: if swp_wanted, swp_run in place of the deck's analyses. swp_merge makes one
 * sweep of the shards that several machines computed. A point is a number. Its values are computed
 * from it on demand (mixed radix: the sample varies fastest, then the steps in the order of the
 * deck), so memory does not grow with the number of points. Every point starts anew: its results do
 * not depend on what was computed before, by whom, or in which order. Workers are processes,
 * perhaps of other machines (rank.h), forked when the deck is read and its models are compiled.
 * A worker asks for the next point when it is done. This process writes what they return in the
 * order of the points. */
#ifndef SWP_H
#define SWP_H

#include <stdio.h>

#include "ctl.h"
#include "rank.h"

typedef struct swp_opt {
    const char *deck;    /* path of the deck's file */
    const net_opt *read; /* the options that it was read with */
    FILE *log;           /* for reports */
    FILE *say;           /* messages of points and of lost ranks; NULL: nowhere */
    const char *out;     /* result file, NULL: none */
    out_format format;
    const char *measures; /* table of measures as CSV, NULL: none */
    const char *limits;  /* log of devices beyond limits (option warn), "-": that for reports; NULL:
                             they are warnings */
    double worker_start; /* s, to start a process; 0: not measured */
    int jobs; /* worker processes; 1: none, this one computes; 0: one for each processor */
    /* processes of an MPI launcher, NULL: none; rank 0 gives points out, the other ranks compute
     * them */
    rank_link *link;
    int shard, n_shard; /* this run computes points shard, shard + n_shard, ... of all; 0, 1: all */
    bool resume, fsync; /* fsync: what is written is on disk before the next point is */
    bool checkpoint;    /* write checkpoints of unfinished points when the run is stopped, */
    double minutes;     /* and every so many minutes; 0: only then */
    bool quiet;
    const char *version;
    bool redo; /* report for each point what the engine made anew for it */
} swp_opt;

/* Whether the deck has .step or .mc. */
bool swp_wanted(const sim *s);
/* Computes all points of this shard and writes their results. A failed point does not end the
 * sweep. Messages about the sweep are in the diag of s; those of points go to o->say.
 * Status: VS_OK; VS_STOP: interrupted; VS_EINPUT: the sweep as a whole is wrong; VS_EIO; else that
 * of the first point that failed. */
VS_MUST_USE vs_status swp_run(sim *s, const swp_opt *o);
/* Writes the result files shard[n] of all shards as one file, and their tables as one if `measures`
 * is not NULL.
 *   worst  out  status of the first point that failed, as swp_run returns it
 *   why    out  a sentence, if the status is not VS_OK
 * Status: VS_OK, VS_EIO, VS_EINPUT. */
VS_MUST_USE vs_status swp_merge(const char *out, const char *measures, const char *const *shard,
                                size_t n, FILE *log, FILE *say, vs_status *worst, char why[300]);

#endif
