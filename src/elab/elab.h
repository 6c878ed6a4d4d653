/* elab.h - from the flattened netlist to a circuit: the only place that sees netlist and devices.
 * Use:    elab_options (the .option cards), elab_circuit, elab_outputs, elab_ics.
 *
 * Binding of an instance to a Verilog-A module:
 *   R C L without model        resistor, capacitor, inductor
 *   .model type r c l d        resistor, capacitor, inductor, diode
 *   nmos pmos npn pnp njf pjf  mos1..mos3 by level, bjt, jfet, with their parameter `type` 1 or -1
 *   any other model type       the module of that name (.hdl files, then the standard folder)
 *   no model card, but a word  the module of that name
 *   E G F H K                  vcvs vccs cccs ccvs mutual; a terminal of the last three is bound
 *                              to the current unknown of the controlling element
 *   B, POLY, VALUE={..}, R C L with an expression of voltages: a module written for the expression,
 *                              its numbers being parameters, so that equal expressions share it
 * Model card and instance line give one parameter set, the instance wins. */
#ifndef ELAB_H
#define ELAB_H

#include "child.h"
#include "ckt.h"
#include "flat.h"
#include "option.h"

/* Sets *o to the defaults, then to what the .option and .temp cards say. An unknown option gets a
 * warning with the nearest name; a value that the option cannot have is an error.
 *   o  out
 * Status: VS_OK, VS_EINPUT (messages in d). */
VS_MUST_USE vs_status elab_options(option_set *o, const flat *f, diag *d);
/* Like elab_options, but *o keeps the values that no card of f sets. */
VS_MUST_USE vs_status elab_set_options(option_set *o, const flat *f, diag *d);
/* The values that models read with $simparam.  simparam  out  [IR_N_SIMPARAM] */
void elab_simparam(double *simparam, const option_set *o);

/* In forms: without it internal nodes that only noise can move from 0 are not made, since other
 * analyses have 0 there. */
enum { ELAB_NOISE = 1 << MDL_N_FORM };
/* Of digital models with a parameter inertial_delay: what it is if it is not given, or is in any
 * case. In the order of the option digital_delay_type. */
typedef enum elab_delays {
    ELAB_TRANSPORT,
    ELAB_INERTIAL,
    ELAB_ALL_TRANSPORT,
    ELAB_ALL_INERTIAL
} elab_delays;
typedef struct elab_opt {
    double temp;            /* degrees Celsius */
    const double *simparam; /* [IR_N_SIMPARAM], NULL: defaults */
    unsigned forms;         /* bits 1 << mdl_form_kind, ELAB_NOISE */
    int threads;
    double parallel_min; /* as in ckt_opt */
    ckt_bypass bypass;
    double tstep, tstop; /* s, for defaults of waveforms; tstop 0: both of the deck's first .tran */
    bool damped;         /* of a transient until tstop: with the resistors of flat_dampers */
    bool lenient;        /* cards of modules that the deck loads may have unknown parameters too */
    bool numbers_move;   /* 0 and 1 in expressions are values like others, which may move */
    bool may_be_empty;   /* a deck without devices is a circuit without unknowns, no error */
    elab_delays delays;
    bool no_bridge, tell_bridges; /* automatic ones are not added; are told */
    const child_host *programs;   /* who starts those of d_process; NULL: nobody */
} elab_opt;
/* Builds and finishes the circuit of a flat netlist. f, names and lib must outlive it.
 *   c  out  ckt_free by the caller; NULL on failure
 * Status: VS_OK; VS_EINPUT, VS_EUNSUPPORTED (messages in d). */
VS_MUST_USE vs_status elab_circuit(ckt **c, diag *d, str_pool *names, mdl_lib *lib, const flat *f,
                                   const elab_opt *opt);
/* Like elab_circuit. With *bound the caller can bind single instances again, as long as the flat
 * netlist and the circuit exist.
 *   bound  out  elab_free by the caller before he frees the circuit; NULL on failure */
typedef struct elab elab;
VS_MUST_USE vs_status elab_circuit_bound(ckt **c, elab **bound, diag *d, str_pool *names,
                                         mdl_lib *lib, const flat *f, const elab_opt *opt);
void elab_free(elab **e);
/* To call when values of the flat netlist have changed: elab_redo_begin, then elab_redo_model for
 * each changed model card, elab_redo for each changed instance (index in the netlist),
 * elab_redo_starts if an .ic changed; elab_redo_end at the end.
 *   temp      degrees Celsius
 *   simparam  as in elab_opt
 * Status of elab_redo_end: VS_OK; VS_REJECT: the caller must build the circuit anew, what->why
 * tells what is in the way. */
void elab_redo_begin(elab *e, double temp, const double *simparam);
void elab_redo_model(elab *e, const flat_model *m);
void elab_redo(elab *e, int32_t inst);
void elab_redo_starts(elab *e);
VS_MUST_USE vs_status elab_redo_end(elab *e, ckt_redone *what);
/* Whether the last one changed inductances, or what meters add up, and others follow these. */
bool elab_redo_coupled(const elab *e);
/* Tells the warnings that setup has for the circuit as it is, whether or not they were told before:
 * one of each kind, of a card and a wording (diag_kind). */
void elab_tell_setup(elab *e);
/* The names of flat_terminals: of modules and code models. `names` is an elab_names, and f the
 * netlist that is being expanded. */
typedef struct elab_names {
    diag *d;
    str_pool *names;
    mdl_lib *lib; /* NULL: modules are not known */
    const flat *f;
} elab_names;
void elab_terminal_names(void *names, const flat_inst *in, flat_terminal *t);
/* Index of an instance, -1: none. */
int32_t elab_find(elab *e, const char *name);

/* A result vector: factor * (x[hi] - x[lo]), or a value inside a device. */
typedef struct elab_out {
    const char *name; /* "v(out)", "v(a,b)", "i(v1)" */
    bool current;     /* ampere, else volt */
    int32_t hi, lo;
    double factor;
    bool is_detail; /* "@m1[gm]": not from x; hi is then the client's, 0 at first */
    ckt_detail detail;
} elab_out;
/* "voltage", "current" or "notype" */
const char *elab_out_type(const elab_out *o);
/* Whether the model of a device computes this detail of it (ckt_find_detail); false: a card gives
 * its value. */
bool elab_is_computed(const char *name, const ckt_detail *d);
/* The vectors that a run writes. The .save and .print cards name them. Without such cards, and for
 * the word `all`, they are the voltages of all nodes and the currents of the voltage sources; with
 * `branches` also the currents of other branches that are unknowns (inductors, controlled voltage
 * sources). A name that the circuit does not have gets a warning in d and is left out.
 *   out  out  vec, the caller frees it; names live in `names` */
void elab_outputs(elab_out **out, const ckt *c, const flat *f, diag *d, str_pool *names,
                  bool branches);

/* A limit of safe operation (elab_limit.c). What is compared:
 *   VOLTAGE      of its one term: its size, or sign times it
 *   CURRENT      the size of the current of its one term, over m
 *   POWER        the sum of the sizes of current times voltage, with value - derating (Te - tnom),
 *                not below 0, above tnom
 *   TEMPERATURE  Te
 *   REGION       no limit: which of two junctions, the voltages of the terms, conduct: above value,
 *                and `second`; in directions of sign */
typedef enum elab_limit_kind {
    ELAB_LIMIT_VOLTAGE,
    ELAB_LIMIT_CURRENT,
    ELAB_LIMIT_POWER,
    ELAB_LIMIT_TEMPERATURE,
    ELAB_LIMIT_REGION
} elab_limit_kind;
typedef struct elab_limit_term {
    int32_t hi, lo; /* unknowns; volt */
    ckt_detail current;
} elab_limit_term;
typedef struct elab_limit {
    elab_limit_kind kind;
    const char *device, *quantity, *name; /* "x1.d1", "Vd", "fv_max" */
    const char *card;                     /* of the device; without one its module */
    diag_span span;                       /* of the number, or of the element */
    double value, second;                 /* volt, ampere, watt or degrees Celsius */
    double m;    /* the devices in parallel if the limit is that of one of them, else 1 */
    int32_t row; /* limits of a sort have the same number, below ELAB_LIMIT_ROWS */
    int sign;    /* 1, -1, 0: both directions */
    elab_limit_term term[3];
    int n_term;
    double tnom, derating; /* degrees Celsius, W/K */
    int32_t te_node;       /* the unknown that is Te; -1: Te is te */
    double te;             /* degrees Celsius */
} elab_limit;
enum { ELAB_LIMIT_ROWS = 64 };
/* The limits that cards and lines give to the devices of c, a device after the other.
 *   out      out  vec, the caller frees it
 *   regions       those of VBIC transistors too
 *   temp          of the circuit, degrees Celsius */
void elab_limits(elab_limit **out, const ckt *c, const flat *f, bool regions, double temp);

typedef struct elab_node_value { /* as ana_node_value */
    int32_t unknown;
    double value;
} elab_node_value;
/* The values of .ic and .nodeset cards in volt, as vecs that the caller frees. Transistors that
 * start `off` add to *nodeset, in Xyce's decks capacitors at ground with ic= to *ic. */
void elab_ics(elab_node_value **ic, elab_node_value **nodeset, const ckt *c, const flat *f);

/* The node that a capacitor at ground with ic= holds there, and at what voltage; 0: none. */
int32_t elab_held_node(const flat_inst *in, double *v);

#endif
