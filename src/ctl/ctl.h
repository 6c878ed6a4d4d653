/* ctl.h - the interpreter of .control blocks, and of the cards that compute from results: .meas
 * .four .print.
 * Use:    ctl_new on an engine whose deck was read (sim_build); ctl_run, or after each analysis
 *         ctl_dot; ctl_free. The language is that of ngspice's control blocks (manual, ch.
 *         "Interactive Interpreter"); docs/control.md lists the commands.
 *         A session (vsim/session.h) gives commands as they come: ctl_lines, and ctl_use when
 *         another circuit is meant.
 * A command that fails is reported and the next one runs, as in ngspice; the status is that of the
 * first failure. Commands that start programs are refused unless the client has `shell`. */
#ifndef CTL_H
#define CTL_H

#include <stdio.h>

#include "sim.h"

typedef struct ctl_opt {
    FILE *log; /* what the commands print; opened by the caller */
    bool quiet;
    bool pages;          /* `plot` without a file name writes .html in place of .svg */
    bool no_measures;    /* measures are not printed: the caller has a table of them */
    const char *version; /* of the program; of a session: what `version` prints */
    const char *raw; /* the file that all results go to, for `write` without a name; NULL: none */
    const char *const *variable; /* [n_variable] "name=text", as by set */
    size_t n_variable;
    uint64_t seed;        /* that rnd, sgauss and sunif begin from; 0: 1 */
    const char *measures; /* file for the table of measures, NULL: none; .json or comma separated */
    /* analysed: called at the end of each analysis (t0: s, when it began). flush: called when new
     * messages should be shown. NULL: not called. */
    void (*analysed)(void *user, const flat_ana *a, const sim_stat *before, double t0,
                     vs_status st);
    void (*flush)(void *user);
    /* called with the path of each picture that a command drew; NULL: nobody is told */
    void (*picture)(void *user, const char *path);
    /* called with the path of a file before a command appends to it; NULL: nobody is told */
    void (*append)(void *user, const char *path);
    /* Starts a program and returns its status, 0 for success. NULL: refused. */
    int (*shell)(void *user, const char *command);
    /* What only a session can do: commands about circuits, scripts and folders, by their word and
     * the text behind it. NULL: refused. */
    vs_status (*session)(void *user, const char *word, const char *text);
    void *user;
} ctl_opt;

typedef struct ctl ctl;
/* s must outlive it, and so must the texts of o, which is copied. ctl_free ends a paused run. */
ctl *ctl_new(sim *s, const ctl_opt *o);
void ctl_free(ctl **c);

/* Whether the deck has a .control block. */
bool ctl_has_block(const sim *s);
/* Tells the engine which vectors the deck's cards (or its block: all) need in memory. */
void ctl_want(sim *s);
/* Checks the form of the deck's cards before anything runs; with `commands` also that of its
 * blocks. Status: VS_OK, VS_EINPUT (messages). */
VS_MUST_USE vs_status ctl_check(sim *s, bool commands);
/* Runs the blocks.
 *   quit, code  out  the command `quit` was reached, with this exit code
 * Status: VS_OK; VS_STOP: interrupted; that of the first failure. */
VS_MUST_USE vs_status ctl_run(ctl *c, bool *quit, int *code);
/* Like ctl_run, for the lines [n] in files of the diag. A command may call it (`session`).
 * Status: also VS_PAUSED: nothing failed, and a transient of theirs has paused. */
VS_MUST_USE vs_status ctl_lines(ctl *c, const diag_span *line, size_t n, bool *quit, int *code);
/* How many blocks a line opens: 1 (while, if, ...), -1 (end), else 0. */
int ctl_opens(const char *line);
/* -- of sessions -- */
/* Lets the commands work on engine s from now on; ends a paused run of the engine before.
 *   none  s has no circuit */
void ctl_use(ctl *c, sim *s, bool none);
/* The commands print to `log` from now on. */
void ctl_set_log(ctl *c, FILE *log);
/* Whether a transient has paused and waits for `resume`. */
bool ctl_paused(const ctl *c);
/* Whether the engine is inside a transient. */
bool ctl_in_transient(const ctl *c);
/* Whether a command (stop, step) makes the transient pause at the newest accepted point. To call
 * once for each. */
bool ctl_is_break(ctl *c);
/* The first time after t s of which `stop when time = ...` speaks; INFINITY: none. */
double ctl_next_stop(const ctl *c, double t);
/* The value of an expression. false: it has none (no message). Not to be called inside a command.
 */
bool ctl_number(ctl *c, const char *text, double *value);
/* Gives a message that points to the present command; returns VS_EINPUT. */
vs_status ctl_fail(ctl *c, const char *fmt, ...) VS_PRINTF(2, 3);
/* Splits a text at blanks outside of quotes, and removes the quotes. A vec that the caller frees;
 * the words live until the command ends. */
char **ctl_words(ctl *c, const char *text);
/* Runs the deck's analyses in their order, each followed by the cards for its results; a deck
 * without any gets the operating point. The first analysis that fails is the last one to run.
 *   again  read the card of each analysis again before it runs, since its values may depend on
 *          what a sweep changes
 * Status: VS_OK; that of the analysis that failed, else that of a card that failed. */
VS_MUST_USE vs_status ctl_deck(ctl *c, bool again);
/* Copies the results so far, and which of the deck's analyses and which statement of its block is
 * running, to or from an image. After a copy from an image, the next ctl_deck and ctl_run begin
 * with these. */
void ctl_image(ctl *c, image *im);
/* Why the present transient cannot be written to a checkpoint, as a sentence; NULL: it can. */
const char *ctl_unkept(const ctl *c);
/* Whether the image last copied from was written inside a block that ctl_run has not gone on with
 * yet. */
bool ctl_goes_back(const ctl *c);
/* Whether a command wrote results after the run was stopped. */
bool ctl_saved(const ctl *c);
/* Whether a command ran an analysis or removed the circuit. */
bool ctl_analysed(const ctl *c);
/* Runs the deck's cards (.meas, .four, ...) for the analysis that ran last, which is this one. */
VS_MUST_USE vs_status ctl_dot(ctl *c, const flat_ana *a);
/* The names of the deck's measures, in its order, to the vec, and the words of their analyses to
 * the other one (or NULL), as ctl_result_at has them. */
void ctl_measure_names(const sim *s, const char ***list, const char ***analysis);
/* Warns of measures with several results, of which a table with a column for each name has one. */
void ctl_tell_lost_measures(const sim *s);
/* The deck's .plot cards, with their texts in mem, to the vec. */
typedef struct ctl_plot_card {
    const char *analysis, *list; /* "": of any */
} ctl_plot_card;
void ctl_plot_cards(const sim *s, arena *mem, ctl_plot_card **list);
/* The k-th measure so far, with the word of its analysis; false: there are fewer. *value is NaN if
 * it failed. */
bool ctl_result_at(const ctl *c, size_t k, const char **name, const char **analysis, double *value);
/* Writes the table of measures, if one is asked for. Status: VS_OK, VS_EIO (message). */
VS_MUST_USE vs_status ctl_write_measures(ctl *c);

#endif
