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
    /* analysed: called when an analysis ended. flush: called when messages are to be shown. NULL:
     * not called. */
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

/* The deck has a .control block. */
bool ctl_has_block(const sim *s);
/* Tells the engine which vectors the deck's cards (or its block: all) need in memory. */
void ctl_want(sim *s);
/* The form of the deck's cards, before anything runs; `commands`: also that of its blocks.
 * Status: VS_OK, VS_EINPUT with messages. */
VS_MUST_USE vs_status ctl_check(sim *s, bool commands);
/* Runs the blocks. *quit: `quit` was reached, with its exit code in *code.
 * Status: VS_OK; VS_STOP: interrupted; that of the first failure. */
VS_MUST_USE vs_status ctl_run(ctl *c, bool *quit, int *code);
/* The same of other lines, spans [n] in files of the diag; also from within a command (`session`).
 * VS_PAUSED: nothing failed, and they made a transient pause. */
VS_MUST_USE vs_status ctl_lines(ctl *c, const diag_span *line, size_t n, bool *quit, int *code);
/* How many blocks a line opens: 1 (while, if, ...), -1 (end), else 0. */
int ctl_opens(const char *line);
/* -- of sessions -- */
/* The commands work on engine s from now on; none: s has no circuit. A paused run of the engine
 * before ends. */
void ctl_use(ctl *c, sim *s, bool none);
/* Output goes there from now on. */
void ctl_set_log(ctl *c, FILE *log);
/* A transient waits for `resume`. */
bool ctl_paused(const ctl *c);
/* A transient is under way: the engine is inside it. */
bool ctl_in_transient(const ctl *c);
/* Asked for each point that was accepted: is it time to pause (stop, step)? Only transients do. */
bool ctl_is_break(ctl *c);
/* The value of an expression. false: it has none (no message). Not to be called inside a command.
 */
bool ctl_number(ctl *c, const char *text, double *value);
/* A message of the command under way; gives VS_EINPUT. */
vs_status ctl_fail(ctl *c, const char *fmt, ...) VS_PRINTF(2, 3);
/* Words at blanks; quotes are removed and keep blanks. vec, words live until the command ends; the
 * caller frees the vec. */
char **ctl_words(ctl *c, const char *text);
/* The deck's analyses in their order (none: the operating point), each followed by the cards for
 * it. again: their cards are read again before each, for values may depend on what is stepped.
 * Status: VS_OK; that of the first analysis that failed, the others did not run; that of a card. */
VS_MUST_USE vs_status ctl_deck(ctl *c, bool again);
/* Copies to or from an image the results so far, which of the deck's analyses is under way, and
 * which statement of the block. After it was given back, the next ctl_deck and ctl_run begin with
 * these. */
void ctl_image(ctl *c, image *im);
/* Why the transient under way cannot be written to a checkpoint, as a sentence; NULL: it can. */
const char *ctl_unkept(const ctl *c);
/* Whether a block was under way in the image that was given back, and ctl_run did not begin yet. */
bool ctl_goes_back(const ctl *c);
/* Whether a command wrote results after the run was stopped. */
bool ctl_saved(const ctl *c);
/* Whether a command ran an analysis or removed the circuit. */
bool ctl_analysed(const ctl *c);
/* Runs the deck's cards (.meas, .four, ...) for the analysis that ran last, which is of this kind.
 */
VS_MUST_USE vs_status ctl_dot(ctl *c, flat_ana_kind kind);
/* The names of the deck's measures, in its order, to the vec. */
void ctl_measure_names(const sim *s, const char ***list);
/* The deck's .plot cards, with their texts in mem, to the vec. */
typedef struct ctl_plot_card {
    const char *analysis, *list; /* "": of any */
} ctl_plot_card;
void ctl_plot_cards(const sim *s, arena *mem, ctl_plot_card **list);
/* The k-th measure so far; false: there are fewer. *value is NaN if it failed. */
bool ctl_result_at(const ctl *c, size_t k, const char **name, double *value);
/* Writes the table of measures, if one is asked for. Status: VS_OK, VS_EIO (message). */
VS_MUST_USE vs_status ctl_write_measures(ctl *c);

#endif
