/* ng_priv.h - between the files of libngspice:
 *     ng.c         begin, commands, circuits, the thread of bg_ commands
 *     ng_gate.c    who may use the simulator: one thread at a time
 *     ng_text.c    lines and statuses as ngspice's clients read them
 *     ng_plot.c    plots and vectors: lists, values, what callbacks hear of points
 *     ng_name.c    names and types of vectors as ngspice has them
 *     ng_source.c  external sources, steps and breakpoints of the host
 * The interface has no handle: a process has one ngspice, and its state is the one object `ng`. */
#ifndef NG_PRIV_H
#define NG_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "ng_abi.h"
#include "vsim/vsim.h"

typedef struct ng_gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool held;
    pthread_t owner;
    int depth; /* of the owner */
    int waiting;
    unsigned turns; /* how often it was taken */
} ng_gate;

/* Memory that a call gave out: freed by the next call of its kind. */
typedef struct ng_list {
    char **text; /* [n], and NULL behind it */
    size_t n;
} ng_list;

typedef struct ng_state {
    ng_gate gate;
    vsim *s;
    vsim_session *session;
    ng_send_char *line;
    ng_send_stat *stat;
    ng_controlled_exit *ended;
    ng_send_data *data;
    ng_send_init_data *init_data;
    ng_thread *on_thread;
    ng_get_source *voltage, *current;
    ng_get_sync *sync;
    void *user, *sync_user;
    int ident;
    bool no_start_files;
    bool silent;      /* lines are not passed on */
    char *folder;     /* of files that decks name; NULL: none */
    char *file_text;  /* what was read there last */
    pthread_t thread; /* of the last bg_ command */
    bool has_thread;  /* it is to be joined */
    char *bg_command;
    atomic_bool running, halt;

    /* what callbacks hear, made when a plot begins */
    ng_values values;
    ng_list value_name;
    double last_percent;

    /* what calls gave out */
    ng_vector vector;
    double number;    /* of `vector`, if it is a single one */
    ng_complex *axis; /* of a plot of complex vectors, as complex numbers */
    char *current_plot;
    ng_list plots, vectors;
} ng_state;

/* Of the process; see above. */
extern ng_state ng __attribute__((visibility("hidden")));

/* -- ng_gate.c -- */
/* Around every exported function: one thread at a time is inside of the simulator; another one
 * waits in ng_enter. The same thread may enter again. */
void ng_enter(void);
void ng_leave(void);
/* Called before and after a callback: in between other threads may enter. ng_out returns the number
 * that ng_back takes. */
int ng_out(void);
void ng_back(int depth);
/* Lets a waiting thread enter once; then the caller goes on. */
void ng_window(void);

/* -- ng_text.c -- */
/* "<stream> <text>" to the host's callback for lines; nothing if it gave none or ng.silent is set.
 * stream: "stdout" or "stderr". Called inside of the gate, as are all functions below; while a
 * callback runs the gate is open (ng_out). ng_sayf cuts its text at 999 characters. */
void ng_say(const char *stream, const char *text);
void ng_sayf(const char *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Callbacks of the library's session (vsim/session.h), which hand on to the host what ngspice would
 * say: lines without blanks in front, no empty ones; messages with "Error:" or "Warning:" in front
 * of each line; progress as "tran: 12.3%", at steps of 0.1 %. */
void ng_take_line(void *user, vsim_output to, const char *text);
void ng_take_message(void *user, const vsim_message *m);
void ng_take_progress(void *user, const vsim_progress *p);
/* The text, at most 99 characters, to the host's callback for the status. */
void ng_status(const char *text);

/* -- ng_plot.c -- */
/* Callbacks of the session: a plot begins (the host hears which vectors it has), ends or pauses,
 * got a point (the host hears the newest value of each vector, complex ones with both parts). */
void ng_begin_plot(void *user, const vsim_plot *p);
void ng_end_plot(void *user, const vsim_plot *p, bool paused);
void ng_take_point(void *user, const vsim_plot *p);
/* Frees what points are handed over in; pointers that a callback was given end with it. */
void ng_forget_values(void);

/* -- ng_name.c -- */
/* ngspice's name of one of our vectors: "v(out)" is "out", "i(x1.l1)" is "l.x1.l1#branch". A text
 * for free. */
char *ng_name_of(const char *vector);
/* Ours for a name that ngspice's clients ask for. A text for free. */
char *ng_name_asked(const char *name);
/* ngspice's number of a kind of vector ("voltage" is 3, "time" 1); 0: it has none. */
int ng_type_of(const char *kind);

/* -- ng_source.c -- */
/* Callbacks of the session. The value at t s of a source that the deck calls external, V or A: the
 * host's for current if the name begins with i, else for voltage; 0 if it gave none. */
double ng_source_value(void *user, const char *name, double t);
/* A step to `time` s of length `last` was accepted or refused; *h: the next one's length, which the
 * host may shorten. true: the host wants an accepted step to be made again with *h. */
bool ng_take_step(void *user, double time, double *h, double last, bool refused);

#endif
