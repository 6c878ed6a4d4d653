/* ng_abi.h - the binary interface of libngspice.so.0: names, types and layouts as programs know
 * them from ngspice's header (manual, ch. "ngspice as shared library or dynamic link library").
 * Written anew from these facts; tests/ng compares it with the library that Debian ships.
 *
 * Texts that the library gives stay its own: those of vectors until the next ngGet_Vec_Info, lists
 * until the next call of the same function. Callbacks come from the thread that runs: that of the
 * call, or the library's own for `bg_` commands. Callbacks that return int: the number is not
 * looked at, except where a comment says so. */
#ifndef NG_ABI_H
#define NG_ABI_H

#include <stdbool.h>

#define NG_API __attribute__((visibility("default")))

typedef struct ng_complex {
    double re, im;
} ng_complex;

enum { NG_REAL = 1, NG_COMPLEX = 2, NG_PERMANENT = 128 }; /* bits of ng_vector.flags */

typedef struct ng_vector {
    char *name;
    int type; /* voltage 3, current 4, ...: ng_name.c */
    short flags;
    double *real;        /* [length]; NULL: it is complex */
    ng_complex *complex; /* [length]; NULL: it is real */
    int length;
} ng_vector;

typedef struct ng_value { /* of a vector at the newest point */
    char *name;
    double re, im;
    bool is_scale, is_complex;
} ng_value;

typedef struct ng_values {
    int n;
    int index; /* of the point, from 0 */
    ng_value **value;
} ng_values;

typedef struct ng_column { /* a vector of a plot that begins */
    int number;
    char *name;
    bool is_real;
    void *vector, *scale;
} ng_column;

typedef struct ng_columns {
    char *name, *title, *date, *type; /* "Transient Analysis", the deck's, ..., "tran1" */
    int n;
    ng_column **column;
} ng_columns;

/* Event nodes of digital models: this library has none. */
typedef struct ng_event {
    int dcop;
    double step;
    char *value;
} ng_event;
typedef struct ng_events {
    ng_event **event;
    int n;
} ng_events;

typedef int ng_send_char(char *line, int ident, void *user);
typedef int ng_send_stat(char *status, int ident, void *user);
typedef int ng_controlled_exit(int status, bool unload_now, bool by_quit, int ident, void *user);
typedef int ng_send_data(ng_values *v, int n, int ident, void *user);
typedef int ng_send_init_data(ng_columns *c, int ident, void *user);
typedef int ng_thread(bool not_running, int ident, void *user);
typedef int ng_get_source(double *value, double time, char *name, int ident, void *user);
/* Asked behind each step of a transient; *delta may be made smaller. An answer other than 0: the
 * step is to be done again with it. */
typedef int ng_get_sync(double time, double *delta, double old_delta, int redo, int ident,
                        int place, void *user);
typedef int ng_send_event(int, double, double, char *, void *, int, int, int, int, void *);
typedef int ng_send_init_event(int, int, char *, char *, int, void *);

/* Results of type int: 0 done, 1 not (ngspice's own numbers). Texts and arrays that functions
 * return are the library's, until the next call of the same function or the next command; hosts may
 * write to none of them. Any thread may call; one at a time is inside (ng_gate.c). */

/* Sets the callbacks, NULL: none, and makes the session; again: other callbacks. */
NG_API int ngSpice_Init(ng_send_char *line, ng_send_stat *stat, ng_controlled_exit *ended,
                        ng_send_data *data, ng_send_init_data *init_data, ng_thread *thread,
                        void *user);
/* Callbacks for the values of external sources and for steps. *ident, NULL: 0, is passed to all. */
NG_API int ngSpice_Init_Sync(ng_get_source *voltage, ng_get_source *current, ng_get_sync *sync,
                             int *ident, void *user);
/* Answers 1: there are no event nodes, and nothing is called. */
NG_API int ngSpice_Init_Evt(ng_send_event *event, ng_send_init_event *init, void *user);
/* A command, as of .control blocks; bg_run, bg_resume and bg_halt in a thread of the library. */
NG_API int ngSpice_Command(char *command);
/* A deck, line by line, NULL behind the last. */
NG_API int ngSpice_Circ(char **line);
/* A vector of the current plot, or "plot.vector"; NULL: none. Its values are not copied. */
NG_API ng_vector *ngGet_Vec_Info(char *name);
/* Both NULL: there are no event nodes. */
NG_API ng_events *ngGet_Evt_NodeInfo(char *node);
NG_API char **ngSpice_AllEvtNodes(void);
/* The name of the current plot; names of all plots, of a plot's vectors, NULL behind the last. */
NG_API char *ngSpice_CurPlot(void);
NG_API char **ngSpice_AllPlots(void);
NG_API char **ngSpice_AllVecs(char *plot);
NG_API bool ngSpice_running(void); /* a run in the background is under way */
/* As vsim_session_break, for times from 0 on, s: of the transient under way or paused, else of the
 * next one, whose end forgets them. false: no such time, or no circuit. */
NG_API bool ngSpice_SetBkpt(double time);
/* Between these two calls vectors neither move nor grow: a run waits at its next point. Both answer
 * 1. */
NG_API int ngSpice_LockRealloc(void);
NG_API int ngSpice_UnlockRealloc(void);
/* Do without the start-up file of the system, which vsim has not, and of the user. */
NG_API int ngSpice_nospinit(void);
NG_API int ngSpice_nospiceinit(void);
NG_API int ngSpice_Reset(void);
NG_API char *ngCM_Input_Path(const char *path);

#endif
