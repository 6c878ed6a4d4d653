/* evt_priv.h - inside src/evt: parts in a queue, the journal, what a model's code sees.
 *
 * State of parts is in words and reals of the evt, set by evt_set_word and evt_set_real alone, so
 * that the journal knows. */
#ifndef EVT_PRIV_H
#define EVT_PRIV_H

#include "evt.h"

typedef struct part { /* a part in the circuit */
    const char *name;
    const evt_model *model;
    const struct evt_code *code;
    evt_pin *in; /* [n_in] connections of input ports, port after port */
    int32_t n_in;
    int32_t out, n_out;            /* its outputs: numbers of outputs, port after port */
    int32_t first[EVT_MOST_PORTS]; /* where a port begins in `in`, or from `out` on */
    int32_t n[EVT_MOST_PORTS];
    double par[EVT_MOST_PARAMS];
    double *list[EVT_MOST_PARAMS];
    int32_t n_list[EVT_MOST_PARAMS];
    evt_table table;
    struct evt_child *child;            /* the program of a d_process */
    int32_t word, n_word, real, n_real; /* its state */
} part;

typedef struct output { /* a driver of a node */
    int32_t node;       /* -1: not connected */
    bool invert;
    int32_t part;     /* -1: from outside */
    const char *name; /* of the driver from outside */
    double value;
    int32_t pending; /* the first of its events, -1: none */
} output;

typedef struct node {
    const char *name;
    evt_kind kind;
    int32_t *driver; /* vec of outputs */
    int32_t *reader; /* vec of parts, each once */
    double value;
    bool watched, watched_drivers, marked;
} node;

typedef struct event {
    double t;
    uint64_t seq;
    double value;
    int32_t output; /* >= 0; -1 - part: a part is called */
    int32_t next;   /* event of the same output, -1: none */
    bool removed;   /* a later post has replaced it */
    bool free;
} event;

typedef enum undo_kind {
    UNDO_NODE,
    UNDO_OUTPUT,
    UNDO_WORD,
    UNDO_REAL,
    UNDO_POP,    /* event back into the queue */
    UNDO_POST,   /* event out of it */
    UNDO_REMOVE, /* event.removed back to false */
    UNDO_PENDING,
    UNDO_NEXT
} undo_kind;
typedef struct undo {
    double t; /* horizon when it was done */
    double old;
    undo_kind kind;
    int32_t at;
} undo;

struct evt {
    arena mem;
    part *part;     /* vec */
    output *output; /* vec */
    node *node;     /* vec */
    bool finished;
    bool has_programs; /* some parts have one */
    int32_t *word;     /* vec */
    double *real;      /* vec */
    event *event;      /* vec; slots */
    int32_t *spare;    /* vec of free slots */
    int32_t *heap;     /* vec of slots, by time, then seq */
    uint64_t seq;
    undo *journal; /* vec; [0 .. n_done) are committed */
    size_t n_done;
    evt_change *record; /* vec */
    double *initial;    /* vec */
    double dropped;
    double horizon, committed;
    bool is_static, first;     /* time 0; no part was called yet */
    int32_t *changed, *called; /* vec; work lists: nodes with drivers that changed, parts */
    uint8_t *is_called;        /* [parts] vec */
    evt_culprit culprit;
    bool failed;
    bool halt; /* evt_run stops behind this time, as if a watched node had changed */
    /* values as evt_before has them */
    double *shown;  /* [nodes] vec */
    size_t n_shown; /* changes of the record that are in `shown` */
};

/* What a model does. `call` reads inputs and posts outputs; at time 0 (e->is_static) outputs pass
 * at once. */
typedef struct evt_code {
    const char *type;
    void (*size)(const part *p, int32_t *n_word, int32_t *n_real); /* NULL: two words, one real */
    void (*begin)(evt *e, const part *p); /* the state before the first call; NULL: all 0 */
    void (*call)(evt *e, const part *p);
    void (*start)(evt *e, const part *p); /* the first events of a transient; NULL: none */
} evt_code;
/* type NULL at the end: */
extern const evt_code evt_gate_code[], evt_flip_code[], evt_table_code[], evt_number_code[],
    evt_process_code[];

static inline double evt_time(const evt *e) { return e->horizon; }
/* The state of connection i of an input port; EVT_0 if the port is not connected. */
int evt_in(const evt *e, const part *p, int port, int32_t i);
/* The number at an input port. */
double evt_in_number(const evt *e, const part *p, int port);
int32_t evt_get_word(const evt *e, const part *p, int32_t k);
void evt_set_word(evt *e, const part *p, int32_t k, int32_t v);
double evt_get_real(const evt *e, const part *p, int32_t k);
void evt_set_real(evt *e, const part *p, int32_t k, double v);
/* Connection i of an output port gets an evt_value, or a number: at once at time 0, else `delay`
 * later. */
void evt_put(evt *e, const part *p, int port, int32_t i, double v, double delay);
/* The same at a time of a transient. */
void evt_put_at(evt *e, const part *p, int port, int32_t i, double v, double t);
/* The part cannot go on. why: of a sentence whose subject is its program; lives as long as it. */
void evt_fail(evt *e, const part *p, const char *why);
/* The part is called at that time. */
void evt_wake(evt *e, const part *p, double t);

static inline int evt_not(int state) { return state == EVT_U ? EVT_U : !state; }

#endif
