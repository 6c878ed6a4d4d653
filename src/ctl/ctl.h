/* ctl.h - what a deck asks to be done with results: .control blocks, and the cards .meas .four
 * .print.
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
    /* an analysis ended; messages are to be shown now. Both may be NULL. */
    void (*analysed)(void *user, const flat_ana *a, const sim_stat *before, double t0,
                     vs_status st);
    void (*flush)(void *user);
    void (*picture)(void *user, const char *path); /* a command has drawn it; NULL */
    void (*append)(void *user, const char *path);  /* a file is going to be made longer; NULL */
    /* Starts a program and returns its status, 0 for success. NULL: refused. */
    int (*shell)(void *user, const char *command);
    /* What only a session can do: commands about circuits, scripts and folders, by their word and
     * the text behind it. NULL: refused. */
    vs_status (*session)(void *user, const char *word, const char *text);
    void *user;
} ctl_opt;

typedef struct ctl ctl;
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
/* From now on the commands are about this engine; none: it stands for no circuit at all. A paused
 * run of the one before ends. */
void ctl_use(ctl *c, sim *s, bool none);
/* Output goes there from now on. */
void ctl_set_log(ctl *c, FILE *log);
/* A transient waits for `resume`. */
bool ctl_paused(const ctl *c);
/* A transient is under way: the engine is inside it. */
bool ctl_in_transient(const ctl *c);
/* Asked for each point that was accepted: is it time to pause (stop, step)? Only transients do. */
bool ctl_is_break(ctl *c);
/* A number that an expression gives, without messages; not inside a command. */
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
/* As an image: the results so far, which of the deck's analyses is under way, and which statement
 * of the block: given back, the next ctl_deck and ctl_run begin with these. */
void ctl_image(ctl *c, image *im);
/* Why the transient under way cannot be kept, as a sentence; NULL: it can. */
const char *ctl_unkept(const ctl *c);
/* Was the block under way in the image that was given back, and did ctl_run not begin yet? */
bool ctl_goes_back(const ctl *c);
/* Was something written after a stop? */
bool ctl_saved(const ctl *c);
/* Did a command run an analysis, or remove the circuit? */
bool ctl_analysed(const ctl *c);
/* The cards for the analysis that ran last, of this kind. */
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
