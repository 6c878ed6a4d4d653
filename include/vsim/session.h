/* session.h - commands one at a time, as .control blocks have them and as a person types them:
 * circuits are loaded, analyses run, pause and go on, plots add up and are read.
 * Use:   vsim_session_new; vsim_session_file or _text for each circuit; vsim_session_command(
 *        "tran 1n 1u"); vsim_session_plot, vsim_plot_find (result.h); vsim_session_free.
 * docs/control.md lists the commands. A line that begins a block (while, if, foreach, ...) is kept
 * with those behind it, and the block runs when its `end` comes.
 *
 * Circuits are decks; the newest is the current one, number 1, and commands are about it. Only the
 * current one is built, the 64 newest are kept. Plots are the session's and outlive their circuits.
 *
 * A transient pauses where `stop` or `step` say, or when `stop` of the options answers true; the
 * command `resume` goes on. Analyses of other kinds end then. While it waits, the circuit stays as
 * it is; another analysis, another circuit or `reset` ends it, and its points stay. */
#ifndef VSIM_SESSION_H
#define VSIM_SESSION_H

#include "result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vsim_session vsim_session;

typedef enum vsim_output { VSIM_TO_OUT, VSIM_TO_ERR } vsim_output;

typedef struct vsim_session_options {
    size_t size;
    /* A line that a command prints, or of an error or warning (TO_ERR), without its end. */
    void (*line)(void *user, vsim_output to, const char *text);
    /* Errors and warnings as records; NULL: they are formatted and given to `line`. */
    void (*message)(void *user, const vsim_message *m);
    /* Before the first `point` of each plot, and of a paused run that goes on. */
    void (*begin)(void *user, const vsim_plot *p);
    /* A point was accepted and added to the plot: the last value of each of its vectors. */
    void (*point)(void *user, const vsim_plot *p);
    /* An analysis has ended, or paused; p: the plot of its points, NULL if there were none. */
    void (*end)(void *user, const vsim_plot *p, bool paused);
    void (*progress)(void *user, const vsim_progress *p);
    /* Asked between points and between commands: true pauses a transient, ends what else is under
     * way. */
    bool (*stop)(void *user);
    /* Volt or ampere at time t of a source that the deck calls external ("v1", "v.x1.v1"): asked in
     * every iteration. Where it jumps vsim_session_break says. */
    double (*source)(void *user, const char *name, double t);
    /* A transient tried a step of `last` seconds to `time`; refused: it was too long and will be
     * done again. *h: how long the next step may be, which may be made smaller. true: undo a step
     * that was good and do it again with *h, at most `last`: external sources have changed.
     * last = 0: the point at `time` was accepted, or is the first; *h is the step planned. */
    bool (*sync)(void *user, double time, double *h, double last, bool refused);
    /* Starts a program for `shell`, gives its exit status; enters a folder for `cd`, gives 0.
     * NULL: the commands are refused. */
    int (*shell)(void *user, const char *command);
    int (*folder)(void *user, const char *path);
    bool ngspice;        /* names in tables and files, refused commands, decks: as ngspice's */
    const char *version; /* what `version` prints; NULL: "vsim" and vsim_version */
    void *user;
} vsim_session_options;
VSIM_API void vsim_session_options_init_size(vsim_session_options *o, size_t size);
static inline void vsim_session_options_init(vsim_session_options *o)
{
    vsim_session_options_init_size(o, sizeof *o);
}

/* A session on a simulator; o is copied, NULL for defaults.
 *   out  NULL unless VSIM_OK; free with vsim_session_free, or with the simulator
 * Status: VSIM_OK, VSIM_EINPUT: the simulator could not be made; VSIM_ENOMEM. */
VSIM_MUST_USE vsim_status vsim_session_new(vsim *s, const vsim_session_options *o,
                                           vsim_session **out);
/* With its circuits and plots. *p is NULL afterwards; NULL is allowed. */
VSIM_API void vsim_session_free(vsim_session **p);

/* A circuit from a file, or from `len` bytes of text shown as `name` in messages: it is built, is
 * the current one from now on, and its .control blocks run. how: as in deck.h, NULL for defaults.
 * Status: of reading and building, then there is no new circuit; else as vsim_session_command. */
VSIM_MUST_USE vsim_status vsim_session_file(vsim_session *p, const char *path,
                                            const vsim_read *how);
VSIM_MUST_USE vsim_status vsim_session_text(vsim_session *p, const char *name, const char *text,
                                            size_t len, const vsim_read *how);
/* The current circuit; NULL: none. It may be inspected and changed (deck.h), not freed or run. */
VSIM_API vsim_deck *vsim_session_deck(const vsim_session *p);

/* One line. Status: VSIM_OK: also for a line of a block whose end has not come; VSIM_PAUSED: it
 * made a transient pause; VSIM_STOP: `quit` was reached, or `stop` of the options ended it; of the
 * first thing that failed, with messages. */
VSIM_MUST_USE vsim_status vsim_session_command(vsim_session *p, const char *line);
/* Blocks whose `end` has not come. vsim_session_forget drops their lines. */
VSIM_API int vsim_session_open_blocks(const vsim_session *p);
VSIM_API void vsim_session_forget(vsim_session *p);
/* Transients make a step end at time t (seconds), also the one under way if it is not there yet:
 * allowed in callbacks. false: t is not finite. t < 0: all such times are forgotten. */
VSIM_API bool vsim_session_break(vsim_session *p, double t);
/* Was `quit` reached? With its exit code. */
VSIM_API bool vsim_session_quit(const vsim_session *p, int *code);
VSIM_API bool vsim_session_paused(const vsim_session *p);

/* What an expression of commands gives: "@m1[gm]", "pi", "v(out)[3]". false: no single real number,
 * or a callback is under way. */
VSIM_API bool vsim_session_number(vsim_session *p, const char *expression, double *value);
/* Plots, the newest first; "const", of constants, is the oldest. They live until `destroy`, their
 * arrays until a run goes on. */
VSIM_API size_t vsim_session_plot_count(const vsim_session *p);
VSIM_API const vsim_plot *vsim_session_plot(const vsim_session *p, size_t i); /* NULL: no i-th */
VSIM_API const vsim_plot *vsim_session_current(const vsim_session *p);
/* "tran1", without regard to case; NULL: none. */
VSIM_API const vsim_plot *vsim_session_find(const vsim_session *p, const char *plot);

#ifdef __cplusplus
}
#endif
#endif
