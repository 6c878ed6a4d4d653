/* run_priv.h - between the files of the run of a deck:
 *     run.c         the run: reading, building, analyses, blocks, sweeps, result files
 *     run_checkpoint.c  transients in a file, and runs that go on from it
 *     run_undo.c    what blocks add to files behind a checkpoint, taken away again
 *     run_rights.c  what the author of the deck may do
 *     run_guard.c   a heap for each call, the end without memory
 *     run_report.c  what it tells of itself: circuit, figures, times, stages
 *     run_ngspice.c the same in ngspice's form
 *     run_other.c   what needs no deck: models, compile, cache, tune, merge; words for clients
 *     run_page.c    the report: a run, and one page of what came of it
 *     run_result.c  what needs result files alone: pictures, conversions, comparisons
 *     run_view.c    the viewer: its server, and what it answers
 *     run_ranks.c   processes of an MPI launcher */
#ifndef RUN_PRIV_H
#define RUN_PRIV_H

#include <stdio.h>

#include "ctl.h"
#include "rank.h"
#include "rep.h"
#include "sim.h"
#include "vsim/inside.h"

/* Everything of one run; owned by vsim_inside_run. */
typedef struct run {
    const vsim_inside_job *j;
    FILE *log; /* the job's */
    diag d;
    str_pool names;
    arena mem;
    mdl_lib *lib;
    sim *sim;
    ctl *ctl;              /* cards and blocks about results */
    rep_survey *survey;    /* of analyze */
    rank_link *link;       /* one rank of several; NULL: alone */
    double worker_start;   /* s, to start a process of a sweep; 0: not measured */
    double s_models;       /* s, to open the models: part of the elaboration */
    double total;          /* s */
    bool told_devices;     /* to the witness */
    bool empty;            /* nothing to compute, which only ngspice's manner lets pass */
    char ng_table;         /* 'v', 'i': the last value that run_ng_value printed; 0: none yet */
    const char *results;   /* the path of the results; NULL: none, or not in a file */
    image image;           /* of --restart: what is left of it, */
    uint8_t *checkpoint;   /* vec: in these bytes */
    ana_verified verified; /* of --verify */
    double kept_at;        /* s: the last checkpoint, or the begin */
    bool kept;             /* this run wrote one */
    int n_kept;            /* checkpoints since the run began, in any process */
    const char **longer;   /* vec: files that were made longer since the last one */
    int quit;              /* exit code of `quit` in a .control block */
} run;

/* -- run.c -- */
/* Shows the messages that are new since the last call; quiet: only errors. */
void run_say(run *r);
/* The deck's name without folder and ending. */
const char *run_deck_name(run *r);

/* -- run_witness.c: of a run that has a witness -- */
void run_tell_picture(void *user, const char *path); /* user: the run */
void run_tell_cards(run *r); /* .plot cards, names of measures, files that were included */
void run_tell_devices(run *r);

/* -- run_rights.c -- */
/* Before the deck is read: from now on its blocks write below the folders of the job alone, and in
 * a sandbox all of the process does. Status: VS_OK; VS_EINPUT, VS_EIO, VS_EUNSUPPORTED: the sandbox
 * that the job asks for cannot be had (message). */
VS_MUST_USE vs_status run_confine(run *r);

/* -- run_checkpoint.c -- */
/* Before the analyses: checkpoints are written from now on. family: a sweep is to be run. Status:
 * VS_OK; VS_EINPUT: what is asked for cannot be kept (message). */
VS_MUST_USE vs_status run_checkpoint_begin(run *r, bool family);
/* st: how the run ended. A run that is done needs no checkpoint. */
void run_checkpoint_end(run *r, vs_status st);
/* Of a run that goes on, each with messages, nothing for others: _read reads the checkpoint;
 * _results puts the open result file back to where it was then; _deck does so for what ctl has, and
 * makes the next transient the one of the checkpoint. */
VS_MUST_USE vs_status run_restart_read(run *r);
VS_MUST_USE vs_status run_restart_results(run *r);
VS_MUST_USE vs_status run_restart_deck(run *r);
/* All ran: the transient of the checkpoint must have been among it. */
VS_MUST_USE vs_status run_restart_end(run *r);

/* -- run_undo.c -- */
const char *run_checkpoint_path(run *r);
/* A block is going to make a file longer: how long it is now is noted beside the checkpoint. */
void run_append(void *user, const char *path);
/* A new checkpoint was written, the first one of this run or a later one. */
void run_undo_kept(run *r);
/* A run that goes on: files are as long as they were when the checkpoint was written. Status:
 * VS_OK; VS_EIO, VS_EINPUT: one cannot be cut (message). */
VS_MUST_USE vs_status run_undo(run *r);
void run_undo_end(run *r); /* the run is done: the notes go */

/* -- run_guard.c -- */
typedef struct run_guard {
    size_t memory;                      /* limit in bytes, 0: none */
    int64_t fail_at;                    /* 0, or the allocation that finds none */
    const vsim_inside_streams *streams; /* that hear of missing memory; NULL: nobody */
    vs_status (*body)(void *arg);
    void (*last)(void *arg); /* NULL, or what still can be done without memory for more */
} run_guard;
/* Calls body(arg) in a heap of its own, which is freed afterwards: nothing that body allocated may
 * be used later. Status: VS_ENOMEM: the streams were told; else that of body. */
VS_MUST_USE vs_status run_guarded(const run_guard *g, void *arg);

/* -- run_report.c -- */
void run_print_summary(run *r);
void run_print_end(const run *r);
/* The figures of the run as JSON, if a file for them is asked for. Status: VS_OK, VS_EIO. */
VS_MUST_USE vs_status run_write_stats(run *r);
void run_dump(const run *r);
/* Reports how far kernels were from the interpreter (--check-kernels); sets the exit code if that
 * is too far. */
void run_tell_kernels(run *r);
/* Reports what --verify found; sets the exit code if something is wrong. */
void run_tell_verified(run *r);

/* -- run_ngspice.c: the log of a client that expects ngspice's -- */
/* The result file was opened. */
void run_ng_open(run *r);
void run_ng_circuit(run *r); /* the deck was read */
void run_ng_begin(run *r);
void run_ng_value(run *r, const char *name, double value);
void run_ng_analysis(run *r, int64_t points);
void run_ng_end(const run *r);
void run_ng_messages(const diag *d, FILE *out);

/* -- run_other.c: what run.c shares with it -- */
/* Messages of *d to the streams of s, as run_say. */
void run_tell(diag *d, const vsim_inside_streams *s);
/* Models as the settings say; debug: NULL, none; link: of a rank, NULL. */
VS_MUST_USE vs_status run_open_models(mdl_lib **lib, diag *d, str_pool *names,
                                      const vsim_settings *set, const vsim_inside_streams *s,
                                      const vsim_inside_debug *debug, rank_link *link);

/* -- run_ranks.c -- */
struct vsim_inside_ranks {
    rank_link link;
};
/* Of a rank other than 0: waits until rank 0 has built the deck. false: there is no sweep. */
bool run_go(rank_link *l);
void run_wait_for_go(void *link); /* the same, for a jit_opt */

#endif
