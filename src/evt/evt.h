/* evt.h - digital circuits as events in time: values, nodes, parts, a queue.
 * Use:    evt_new; evt_add_node, evt_add_driver, evt_add_part; evt_finish once. Static analyses:
 *         evt_begin, then evt_drive and evt_settle in turn. Transients: evt_start after the last
 *         evt_settle, then evt_run ahead of the analog time, evt_rollback and evt_post where an
 *         analog input has changed, evt_commit at accepted points.
 * Source: ngspice manual, chapters "Digital models", "Event-driven nodes"; XSPICE's rules for
 *         several drivers of one node and for delays.
 *
 * It knows nothing of analog circuits: what passes between the two is a driver (from outside) and a
 * watched node (to outside); src/nat/nat_event.c has the bridges. Times are seconds.
 *
 * The order of events is that of their times, of equal ones that in which they were posted; so it
 * depends on nothing but the circuit. At one time a part is called once for all inputs that
 * changed. Times are the same if they differ by rounding alone (1e-14 of themselves).
 *
 * The state may be ahead of the time of the analog circuit: everything since evt_commit is in a
 * journal, by which evt_rollback takes it back. */
#ifndef EVT_H
#define EVT_H

#include "child.h"
#include "image.h"
#include "vs.h"

/* What a node carries and a port takes; only those of one kind may be connected. */
typedef enum evt_kind { EVT_DIGITAL, EVT_NUMBER } evt_kind;

/* A digital value: state + 3 strength. Nodes have their values as doubles: a digital one this
 * number, one of numbers the sum of what drives it. */
typedef uint8_t evt_value;
enum { EVT_0, EVT_1, EVT_U, EVT_N_STATE };
enum { EVT_STRONG, EVT_RESISTIVE, EVT_HIZ, EVT_UNDETERMINED, EVT_N_STRENGTH };
enum { EVT_N_VALUE = EVT_N_STATE * EVT_N_STRENGTH };
static inline evt_value evt_of(int state, int strength)
{
    return (evt_value)(state + EVT_N_STATE * strength);
}
static inline int evt_state(evt_value v) { return v % EVT_N_STATE; }
static inline int evt_strength(evt_value v) { return v / EVT_N_STATE; }
/* "0s", "1r", "Uz", "0u" ... */
const char *evt_text(evt_value v);
/* The value of a text of that form; -1: it is none. */
int evt_read(const char *text, size_t n);
/* Two drivers of one node: the stronger one wins, equal ones with different states give U. An
 * undetermined strength may be any: it wins against all but a strong one, whose state it makes U
 * unless it is the same. */
evt_value evt_resolve(evt_value a, evt_value b);

typedef struct evt evt;

/* -- models -- */

enum { EVT_MOST_PORTS = 7, EVT_MOST_PARAMS = 18 };
typedef struct evt_port {
    const char *name; /* NULL: there are no more */
    bool out, vector, null_ok;
    int least, most; /* connections of a vector; most 0: any number */
    evt_kind kind;
} evt_port;
typedef enum evt_param_kind {
    EVT_REAL,
    EVT_INT,
    EVT_BOOL,
    EVT_LIST, /* of reals */
    EVT_FILE, /* a name in quotes */
    EVT_WORDS /* a text */
} evt_param_kind;
typedef struct evt_param {
    const char *name; /* NULL: there are no more */
    evt_param_kind kind;
    double absent;   /* its value if it is not given */
    double min, max; /* of a number that is given; both 0: any */
    bool idle;       /* cards may have it, it has no effect */
} evt_param;
typedef struct evt_model {
    const char *type; /* "d_and" */
    evt_port port[EVT_MOST_PORTS];
    evt_param param[EVT_MOST_PARAMS];
} evt_model;
/* NULL: there is none of that type. */
const evt_model *evt_find_model(const char *type);
size_t evt_n_model(void);
const evt_model *evt_model_at(size_t i);
/* Whether its outputs are not always strong. */
bool evt_lets_go(const evt_model *m);
/* What a bidirectional bridge drives; no part of a netlist is one. in: its analog level, dir: 0
 * makes it z. EVT_BIDI_*: places of its numbers. */
extern const evt_model evt_bidi_model;
enum { EVT_BIDI_RISE, EVT_BIDI_FALL, EVT_BIDI_STRENGTH };

/* -- building -- */

typedef struct evt_pin {
    int32_t node; /* -1: not connected */
    bool invert;  /* of numbers: the sign */
} evt_pin;
typedef struct evt_table { /* what stands in a file or a string; copied */
    const double *number;  /* [n_number]: d_source: times; d_state: state, next state of each row */
    const uint8_t *value;  /* [n_value]: d_source: row by row; d_state: each row's outputs, then its
                            * inputs (EVT_U: any); d_lut, d_genlut: values by input */
    size_t n_number, n_value;
    int32_t n_row;
} evt_table;
typedef struct evt_part {
    const char *name; /* outlives the evt */
    const evt_model *model;
    const evt_pin *pin;          /* [sum of n]: the ports' connections one after the other */
    int32_t n[EVT_MOST_PORTS];   /* of each port; 0: it is not connected */
    double par[EVT_MOST_PARAMS]; /* of numbers */
    const double *list[EVT_MOST_PARAMS]; /* of lists: [n_list], NULL: not given */
    int32_t n_list[EVT_MOST_PARAMS];
    evt_table table;
    const child_host *host;     /* of a d_process: who starts and ends the program, */
    const char *const *program; /* and its file and arguments, NULL */
} evt_part;

evt *evt_new(void);
void evt_free(evt **e);
/* name: outlives the evt. */
int32_t evt_add_node(evt *e, const char *name, evt_kind kind);
/* A driver from outside of a digital node. Returns its number for evt_drive and evt_post. */
int32_t evt_add_driver(evt *e, const char *name, evt_pin pin);
/* Everything in it but names is copied. Returns the number of its first output. */
int32_t evt_add_part(evt *e, const evt_part *p);
/* evt_run stops behind a time at which this node has changed; drivers: or one of its drivers. */
void evt_watch(evt *e, int32_t node, bool drivers);
void evt_finish(evt *e);

int32_t evt_n_node(const evt *e);
const char *evt_node_name(const evt *e, int32_t node);
evt_kind evt_node_kind(const evt *e, int32_t node);
int32_t evt_find_node(const evt *e, const char *name); /* -1: none */

/* -- static analyses -- */

/* All nodes 0u or 0, no part was called, nothing is pending. */
void evt_begin(evt *e);
/* A driver's value, for the next evt_settle. */
void evt_drive(evt *e, int32_t driver, evt_value v);
/* Lets values pass through the parts without delay until nothing changes.
 * Status: VS_OK; VS_NOCONV: they do not settle, evt_culprit names a node and a part of the loop. */
VS_MUST_USE vs_status evt_settle(evt *e);
/* Values now: of static analyses, and of the time that evt_run has come to. */
double evt_now(const evt *e, int32_t node);
/* What all but one of its drivers make of a digital node; none: Uz. */
evt_value evt_others(const evt *e, int32_t node, int32_t output);
typedef struct evt_culprit {
    const char *node, *part;
    double time;
    bool queue;          /* there are too many events; else a loop without delay, */
    bool overflow;       /* or the node's number is too large */
    const char *program; /* why that of the part does not go on; NULL: it is another reason */
    const char *file;    /* its name */
} evt_culprit;
evt_culprit evt_blame(const evt *e);

/* -- transients -- */

/* Time 0 of a transient: sources put their first events into the queue, the record begins. */
void evt_start(evt *e);
/* The time of the next event that has not been removed; infinite if there is none. */
double evt_next(evt *e);
/* Events up to `until`, that time included, in order, until a watched node changes or a program
 * beside has something to be asked (evt_child.h): *changed is set
 * and the rest of `until` is not run. At most `most` times with events.
 * Status: VS_OK; VS_NOCONV: evt_blame. */
VS_MUST_USE vs_status evt_run(evt *e, double until, int most, bool *changed);
/* The time up to which evt_run has come: no event is left before or at it. */
double evt_horizon(const evt *e);
/* Back to the time t, not before that of evt_commit: events behind it are in the queue again, and
 * what they did is undone. */
void evt_rollback(evt *e, double t);
/* The driver's value from `at` on; later changes of it that are pending are removed. at >= the
 * horizon, which may be that time. */
void evt_post(evt *e, int32_t driver, evt_value v, double at);
/* No rollback will be to a time before t, which is at most the horizon. */
void evt_commit(evt *e, double t);

/* -- the record -- */

typedef struct evt_change {
    double t;
    double value, old;
    int32_t node;
} evt_change;
/* Changes of nodes since evt_start in order of time, up to the committed time: [*n]; those at time
 * 0 are not among them. */
const evt_change *evt_record(const evt *e, size_t *n);
/* The time of the first of them that is not before t; infinite if there is none. */
double evt_change_from(const evt *e, double t);
/* Values at time 0 [evt_n_node]. */
const double *evt_initial(const evt *e);
/* Changes before this time were dropped, because there were too many; 0: none. */
double evt_dropped(const evt *e);
/* A node's value at a time up to the horizon, changes at just that time left out. Calls with times
 * near each other are cheap. */
double evt_before(evt *e, int32_t node, double t);

/* -- a run that goes on elsewhere -- */

/* State, queue and record; first goes back to the committed time. */
void evt_image(evt *e, image *im);
/* Compares what the circuit is made of. */
void evt_identity(const evt *e, image *im);

#endif
