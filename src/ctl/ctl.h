/* ctl.h - what a deck asks to be done with results: .control blocks, and the cards .meas .four
 * .print.
 * Use:    ctl_new on an engine whose deck was read (sim_build); ctl_run, or after each analysis
 *         ctl_dot; ctl_free. The language is that of ngspice's control blocks (manual, ch.
 *         "Interactive Interpreter"); docs/control.md lists the commands.
 * A command that fails is reported and the next one runs, as in ngspice; the status is that of the
 * first failure. Commands that start programs are refused unless allow_shell is set. */
#ifndef CTL_H
#define CTL_H

#include <stdio.h>

#include "sim.h"

typedef struct ctl_opt {
    FILE *log; /* what the commands print; opened by the caller */
    bool allow_shell, quiet;
    bool no_measures;     /* measures are not printed: the caller has a table of them */
    const char *version;  /* of the program */
    const char *measures; /* file for the table of measures, NULL: none; .json or comma separated */
    /* an analysis ended; messages are to be shown now. Both may be NULL. */
    void (*analysed)(void *user, const flat_ana *a, const sim_stat *before, double t0,
                     vs_status st);
    void (*flush)(void *user);
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
/* The deck's analyses in their order (none: the operating point), each followed by the cards for
 * it. again: their cards are read again before each, for values may depend on what is stepped.
 * Status: VS_OK; that of the first analysis that failed, the others did not run; that of a card. */
VS_MUST_USE vs_status ctl_deck(ctl *c, bool again);
/* Did a command run an analysis? */
bool ctl_analysed(const ctl *c);
/* The cards for the analysis that ran last, of this kind. */
VS_MUST_USE vs_status ctl_dot(ctl *c, flat_ana_kind kind);
/* The names of the deck's measures, in its order, to the vec. */
void ctl_measure_names(const sim *s, const char ***list);
/* The k-th measure so far; false: there are fewer. *value is NaN if it failed. */
bool ctl_result_at(const ctl *c, size_t k, const char **name, double *value);
/* Writes the table of measures, if one is asked for. Status: VS_OK, VS_EIO (message). */
VS_MUST_USE vs_status ctl_write_measures(ctl *c);

#endif
