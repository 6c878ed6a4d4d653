/* api_priv.h - between the files that implement include/vsim:
 *     api_guard.c    the way in and out of the library, callbacks of the host
 *     api_message.c  messages as records
 *     api.c          simulators
 *     api_deck.c     decks, their circuits
 *     api_list.c     what a circuit consists of
 *     api_value.c    values that are read and changed
 *     api_family.c   points of .step and .mc
 *     api_host.c     sources of the host
 *     api_linear.c   the equations at a point
 *     api_run.c      runs
 *     api_card.c     analyses from structs
 *     api_result.c   plots, vectors, measures
 *     api_session.c  commands one at a time
 * A public function packs what it was given into an api_args, and api_enter calls the function that
 * does the work: what every call begins and ends with stands there alone. */
#ifndef API_PRIV_H
#define API_PRIV_H

#include <fenv.h>
#include <locale.h>

#include "fam.h"
#include "heap.h"
#include "sim.h"
#include "vec.h"
#include "vsim/vsim.h"

/* Functions below run inside of api_enter, with one thread in the simulator, unless they say
 * otherwise; they put messages to s->d, and a missing allocation leaves them by the guard's jump.
 * Status: VS_OK; VS_EINPUT after a message. */

struct vsim {
    heap *heap;             /* of all that is made from it; the struct itself is not there */
    bool dead;              /* a call found no memory: it can only be freed */
    vsim_message no_memory; /* what is told then */
    arena mem;              /* copies of the settings */
    vsim_settings set;      /* its texts in mem */
    diag d;
    str_pool names;
    mdl_lib *lib; /* NULL: it could not be opened */
    vsim_deck *deck;
    vsim_session *session;
    arena message_mem;
    vsim_message *message; /* vec: of the last call */
    size_t own_file;       /* 1 + number of a text that the call under way added; 0: none */
    int depth;             /* calls under way: more than 1 in a callback */
    locale_t numbers;      /* the locale of numbers in decks */
    fenv_t host_env;       /* of the thread that entered */
    locale_t host_locale;
};

/* Tables of what the circuit consists of; names are the circuit's. */
typedef struct api_list {
    int64_t stamp; /* of the circuit that they are of */
    arena mem;
    vsim_device *device;    /* vec */
    int32_t *inst;          /* vec: its number in the netlist */
    map inst_of;            /* name -> number in the netlist, of all */
    vsim_model *model;      /* vec */
    const char **param;     /* vec */
    vsim_parameter *detail; /* vec: parameters of detail_of, the last that was asked for */
    const char *detail_of;
    bool detail_of_model;
} api_list;

typedef struct api_source api_source;
struct vsim_deck {
    vsim *s;
    vsim_deck *next;
    vsim_session *session; /* whose circuit it is; NULL: the host's own */
    arena mem;
    sim *sim;
    flat_override *define; /* vec: of vsim_read */
    vsim_file_fn *file;    /* of vsim_read: files that the host has; NULL: none */
    void *file_user;
    vsim_run *run;       /* all of this deck */
    vsim_run *active;    /* the one under way; NULL: none */
    sim_saved *saved;    /* of before the changes since the last circuit; NULL: there are none */
    fam fam;             /* the points of .step and .mc */
    bool family_known;   /* they were counted */
    bool family_begun;   /* one was set */
    bool beside;         /* values were changed besides: the next point sets all of its own */
    const char **column; /* vec */
    arena label_mem;     /* of the last point */
    api_list list;
    api_source *source; /* those of the host */
    bool host_wrong;    /* one of them gave what cannot be: the run is to end */
};

typedef enum api_state { API_NEW, API_UNDER_WAY, API_ENDED } api_state;
struct vsim_run {
    vsim_deck *d;
    vsim_run *next;
    arena mem;
    arena card_mem;   /* of the analysis as it was read last */
    flat_ana a;       /* its values are this run's */
    const char *card; /* its text without the dot; NULL: the deck's */
    size_t number;    /* card of the deck */
    double *sweep[4]; /* vecs: values of sweeps that were given as arrays */
    size_t n_sweep;
    flat_trannoise noise; /* that a struct asks for */
    vsim_run_options o;
    const char **keep; /* vec: names to be kept, of the options and of measures */
    api_state state;
    post_set plots; /* once it has ended; before they are the engine's */
    double axis;
    const double *x; /* [n+1] the last point; NULL: none */
    double *last;    /* [n_last] its copy: of all but a transient under way */
    size_t n_last;
    double next_tick;       /* s of the clock: the host hears of progress again */
    bool polled;            /* the host's answer to the last poll */
    sim_stat before, after; /* of the engine */
    double seconds;
    vsim_measured *measured; /* vec */
};

/* Arguments of a public function on their way to the one that does the work. */
typedef struct api_args {
    vsim *s;
    vsim_deck *d;
    vsim_run *r;
    const char *name, *part;
    size_t i;
    double value;
    const void *in;
    void *out;
} api_args;

/* -- api_guard.c -- */
/* The only way in: calls body with what a call needs around it (messages of this call alone,
 * numbers of the C locale, the floating-point environment that results are computed in, a guard
 * for missing memory) and gives everything back. */
vsim_status api_enter(vsim *s, vs_status (*body)(void *arg), void *arg);
/* Frees something in the simulator's heap, without messages; nothing if the heap is to go whole. */
void api_release(vsim *s, vs_status (*body)(void *arg), void *arg);
/* Stand around each callback: the host finds its own locale and floating-point environment, and
 * ours come back. api_back_from_host does not return if a call from the callback found no
 * memory. */
void api_leave_to_host(vsim *s);
void api_back_from_host(vsim *s);
/* A message, and false, inside a callback: `what` would change what is under way. */
bool api_may_change(vsim *s, const char *what);

/* -- api_message.c -- */
/* Frees the records of the last call: its texts end. */
void api_forget_messages(vsim *s);
/* The messages of the diag become those of the simulator, and are told to the host. */
void api_take_messages(vsim *s);

/* -- api_deck.c -- */
/* Files are asked for as this deck's reader wants, from here to the end of the call. */
void api_use_files(vsim_deck *d);
/* The circuit with the present values; while a run is under way that of the run. If building fails
 * the changes since the last circuit are taken back. */
VS_MUST_USE vs_status api_circuit(vsim_deck *d);
/* The same with what an analysis needs of the models. */
VS_MUST_USE vs_status api_circuit_for(vsim_deck *d, flat_ana_kind kind);
/* After changes, and what was to follow from them, with its status: where it failed, the values are
 * those of before the changes. Returns the status. */
VS_MUST_USE vs_status api_take_back(vsim_deck *d, vs_status st);
/* Takes the deck off the simulator's list and frees it with its runs. Outside of api_enter. */
void api_free_deck(vsim_deck *d);
/* The same inside a call. */
vs_status api_drop_deck(vsim_deck *d);
/* Inside a call. text NULL: `name` is a file; ngspice: it is of ngspice's language, whatever cards
 * are in it. *d: also after an error, NULL or to be dropped. */
VS_MUST_USE vs_status api_read_deck(vsim *s, const char *name, const char *text, size_t len,
                                    const vsim_read *how, bool ngspice, vsim_deck **d);

/* -- api_value.c -- */
/* Before a change: what holds now, in case the circuit cannot be built with it. false: `what` is
 * not allowed now, or the value is no number (message). */
bool api_begin_change(vsim_deck *d, const char *what, double value);

/* -- api_list.c -- */
/* Makes d->list for the present circuit, if it is of another. */
VS_MUST_USE vs_status api_need_list(vsim_deck *d);
void api_free_list(api_list *l);                        /* l is empty then, of no circuit */
const char *api_intern(vsim_deck *d, const char *name); /* as the netlist has it, lower case */
/* The element of this name; the first that has the model of this name. After api_need_list, whose
 * netlist owns it. NULL after a message with the nearest name. */
const flat_inst *api_find_device(vsim_deck *d, const char *name);
const flat_inst *api_find_model(vsim_deck *d, const char *name);

/* -- api_run.c -- */
/* Ends it if it is under way, takes it off its deck's list and frees it. Outside of api_enter. */
void api_free_run(vsim_run *r);

/* -- api_card.c -- */
/* The card of an analysis, its sweeps without their values; NULL after a message. *a: the analysis,
 * with 0 for what a client of an older header does not have. */
const char *api_card_of(vsim_deck *d, arena *mem, const vsim_analysis *from, vsim_analysis *a);

/* -- api_session.c -- */
/* Frees it with its deck, inside a call. */
void api_drop_session(vsim_session *p);

/* -- api_result.c -- */
/* A plot of the interface is one of src/post: nothing needs to be added to it. */
static inline const vsim_plot *api_plot(const post_plot *p) { return (const vsim_plot *)p; }
/* Before a run: appends to r->keep the vectors that the deck's measures of this analysis need. */
void api_want_measures(vsim_run *r);
/* Fills r->measured from the plots of a run that has ended; a measure that fails is nan. */
vs_status api_measure_all(vsim_run *r);

#endif
