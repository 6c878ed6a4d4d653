/* run_priv.h - between the files of the run of a deck:
 *     run.c         the run: reading, building, analyses, blocks, sweeps, result files
 *     run_apart.c     work in a child, a way out of abort()
 *     run_child.c     programs beside a run
 *     run_checkpoint.c  transients in a file, and runs that go on from it
 *     run_undo.c    what blocks add to files behind a checkpoint, taken away again
 *     run_rights.c  what the author of the deck may do
 *     run_guard.c   a heap for each call, the end without memory
 *     run_report.c  what a run prints about itself: circuit, figures, times, stages
 *     run_ngspice.c the same in ngspice's form
 *     run_other.c   tasks without a deck: models, compile, cache, tune, merge; words for clients
 *     run_page.c    the report: a run, and one page with its results
 *     run_result.c  tasks on result files: pictures, conversions, comparisons
 *     run_view.c    the viewer: its server, and its answers
 *     run_witness.c what a run tells a witness: cards, pictures, devices
 *     run_index.c   the index of a result file that the run writes
 *     run_ranks.c   processes of an MPI launcher */
#ifndef RUN_PRIV_H
#define RUN_PRIV_H

#include <stdio.h>

#include "conv.h"
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
    bool told_devices;     /* the witness has been told of the devices */
    bool empty;            /* the deck computes nothing, which is an error unless run as ngspice */
    char ng_table;         /* 'v', 'i': the last value that run_ng_value printed; 0: none yet */
    const char *results;   /* the path of the results; NULL: none, or not in a file */
    image image;           /* --restart: the part of the checkpoint that is not read yet, */
    uint8_t *checkpoint;   /* vec: in these bytes */
    ana_verified verified; /* of --verify */
    double kept_at;        /* s: the last checkpoint, or the begin */
    bool kept;             /* this process wrote a checkpoint */
    int n_kept;            /* checkpoints since the run began, in any process */
    const char **longer;   /* vec: files that blocks appended to since the last checkpoint */
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
/* To call before the deck is read. From then on its blocks can write only below the job's folders;
 * if the job asks for a sandbox, so can the whole process.
 * Status: VS_OK; VS_EINPUT, VS_EIO, VS_EUNSUPPORTED: there can be no such sandbox (message). */
VS_MUST_USE vs_status run_confine(run *r);

/* -- run_checkpoint.c -- */
/* To call before the analyses: from then on the run writes checkpoints.  family  the run is a sweep
 * Status: VS_OK; VS_EINPUT: a checkpoint cannot hold what this run does (message). */
VS_MUST_USE vs_status run_checkpoint_begin(run *r, bool family);
/* To call at the end of the run with its status: removes the checkpoint of a run that is done. */
void run_checkpoint_end(run *r, vs_status st);
/* For a run that goes on from a checkpoint; without one they do nothing. run_restart_read reads the
 * checkpoint; run_restart_results puts the open result file back to the place where it was then;
 * run_restart_deck gives r->ctl its state of then, and makes the next transient the one of the
 * checkpoint. Status: VS_OK; VS_EINPUT, VS_EIO (message). */
VS_MUST_USE vs_status run_restart_read(run *r);
VS_MUST_USE vs_status run_restart_results(run *r);
VS_MUST_USE vs_status run_restart_deck(run *r);
/* To call when all analyses ran. Status: VS_EINPUT (message): the transient of the checkpoint was
 * not among them. */
VS_MUST_USE vs_status run_restart_end(run *r);

/* -- run_undo.c -- */
const char *run_checkpoint_path(run *r);
/* To call before a block appends to a file: notes its present length beside the checkpoint. */
void run_append(void *user, const char *path);
/* To call before a checkpoint is written: the first of a run removes the checkpoint of an earlier
 * run that has notes, which would be taken for those of the new one. */
void run_undo_first(run *r);
/* To call when a checkpoint was written: the next append to each file is noted anew. */
void run_undo_kept(run *r);
/* For a run that goes on: cuts files to the lengths that they had when the checkpoint was written.
 * Status: VS_OK; VS_EIO, VS_EINPUT: a file cannot be cut (message). */
VS_MUST_USE vs_status run_undo(run *r);
void run_undo_end(run *r); /* the run is done: removes the checkpoint and the notes */

/* -- run_guard.c -- */
typedef struct run_guard {
    size_t memory;                      /* limit in bytes, 0: none */
    int64_t fail_at;                    /* 0, or the allocation that finds none */
    const vsim_inside_streams *streams; /* for the message that memory is missing; NULL: none */
    vs_status (*body)(void *arg);
    void (*last)(void *arg); /* NULL, or called when memory is missing; it may allocate none */
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
/* Shows the messages of d on the streams of s, as run_say does. */
void run_tell(diag *d, const vsim_inside_streams *s);
/* Warns of what of a file was not read. */
void run_tell_notes(diag *d, const char *path, const conv_notes *notes);
/* Opens the model store that the settings describe.
 *   debug  NULL: none
 *   link   to the other ranks, NULL: none
 * Status: that of mdl_lib_new (messages in d). */
VS_MUST_USE vs_status run_open_models(mdl_lib **lib, diag *d, str_pool *names,
                                      const vsim_settings *set, const vsim_inside_streams *s,
                                      const vsim_inside_debug *debug, rank_link *link);

/* -- run_apart.c: jit_opt.apart. What could not be tried, or found no end, returns 0. -- */
int run_apart(int (*work)(const void *arg), const void *arg);
bool run_on_abort(void (*leave)(void)); /* jit_opt.on_abort */

/* -- run_child.c: programs beside a run -- */
extern const child_host run_children;

/* -- run_ranks.c -- */
struct vsim_inside_ranks {
    rank_link link;
};
/* Called by ranks other than 0: waits until rank 0 has built the deck. false: there is no sweep. */
bool run_go(rank_link *l);
void run_wait_for_go(void *link); /* run_go as jit_opt wants it */

#endif
