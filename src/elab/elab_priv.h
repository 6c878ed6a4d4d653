/* elab_priv.h - state of one elaboration, shared by the files of src/elab. */
#ifndef ELAB_PRIV_H
#define ELAB_PRIV_H

#include "elab.h"
#include "map.h"
#include "wave.h"

typedef struct elab_card { /* a model card resolved for a module */
    const flat_model *model;
    mdl_model *mdl;
    mdl_given *given; /* vec */
    int min_node;
    bool spice, scales, three, heats; /* as in elab_binding */
    bool resolved, ok;
} elab_card;

typedef struct elab_seen { /* a parameter row and what it was made from, so that equal instances
                              cost a look-up */
    const uint64_t *sign;  /* [n] in the arena */
    uint32_t n;
    int32_t row, next; /* next: the earlier elab_seen with this hash, -1: none */
} elab_seen;

typedef struct elab_shared { /* the row of the last instance with a list of parameters, and what
                                else decided it */
    const flat_param *param; /* NULL: none */
    const flat_rare *rare;   /* which has the card */
    const mdl_model *model;
    int32_t n_node;
    char letter;
    double m;
    uint32_t alone; /* as in elab */
    int32_t row;
} elab_shared;
enum { ELAB_N_SHARED = 64 };

/* Instances that differ in the first number of their lines alone: what they share. */
typedef struct elab_shape {
    const uint64_t *sign; /* [n] in the arena; 0 for the number */
    uint32_t n;
    int32_t next;  /* the shape before with this hash, -1: none */
    int32_t row;   /* of the first instance */
    int32_t param; /* that the number sets; -1: they cannot be a kin (mdl_kin) */
    int32_t kin;   /* -1: they are none yet */
    int32_t n_row; /* rows so far */
} elab_shape;

typedef struct elab_type { /* model types of SPICE */
    const char *type;
    int level; /* 0: any */
    const char *module;
    int polarity; /* value of parameter `type`; 0: it has none */
    int min_node; /* terminals that must be given */
} elab_type;
typedef struct elab_binding {
    mdl_model *mdl;          /* one of the two is not NULL */
    const osdi_module *osdi; /* of a compiled library */
    const char *polarity;    /* parameter that tells n from p, NULL: none */
    int value;               /* of the parameter `polarity` */
    int min_node;            /* terminals that an instance must have */
    bool scales; /* the module reads .option scale itself, as all that come with vsim do */
    bool three;  /* VBIC without a substrate: nodes are c b e and the thermal one */
    bool heats;  /* it heats itself also without a thermal node on the line, as in Xyce */
    bool spice;  /* type and level are SPICE's: parameters that the module does not know are skipped
                    with a warning */
} elab_binding;

struct elab {
    ckt *c;
    diag *d;
    str_pool *names;
    mdl_lib *lib;
    const flat *f;
    elab_opt opt;
    const double *simparam;
    arena mem;
    int32_t *node;            /* vec; flat node -> unknown */
    struct elab_event *event; /* vec; of flat nodes, if there are digital parts: elab_digital.c */
    elab_card *card;          /* vec */
    map card_of;              /* flat_model -> card */
    elab_binding *bound;      /* vec */
    map bound_of;             /* flat_model -> bound */
    const nat_table **table;  /* vec */
    map table_of;             /* flat_model -> table */
    map osdi_card;            /* flat_model of a compiled module -> 1: its warnings were given */
    mdl_model *plain[3];      /* of R, C, L without a card, once known */
    int32_t *position;        /* vec; of a parameter in the merged list, for merge_given */
    map inst_of;              /* name -> instance */
    map seen_at;              /* hash of what decides a row -> the last elab_seen of that hash */
    elab_seen *seen;          /* vec */
    elab_shared shared[ELAB_N_SHARED]; /* by list of parameters */
    uint64_t *sign;                    /* vec; scratch of elab_bind, as are */
    int32_t *terminal;                 /* vec; of an instance, */
    uint8_t *portconn;                 /* vec; and which of them its line names */
    uint32_t alone;                    /* bits of its ports with MDL_ALONE */
    uint8_t *n_touch;                  /* vec; of a flat node: how often it is named, up to 2;
                                          empty: nobody asked */
    map shape_at;                      /* hash -> the last elab_shape of that hash */
    elab_shape *shape;                 /* vec */
    map said;                          /* card and text of a model's warning -> 1 */
    map row_of_inst;                   /* inductor (if metered: or capacitor) -> row */
    bool metered;                      /* there are cmeters or lmeters */
    flat_damper *damper;               /* vec */
    map damper_of;                     /* name of its capacitor -> index + 1 */
    int32_t *mutual;                   /* vec; instances that are mutual inductances */
    bool check_couplings;              /* one of them was added */
    double tstep, tstop;
    /* only of elab_circuit_bound, for elab_redo: */
    ckt_place *made;  /* vec; for each instance where its devices begin */
    int32_t *coupled; /* vec; instances that are mutual inductances or meters */
    bool couple;      /* redo: an inductance, or a value that meters add up, has changed */
    arena_pos mark;
    bool failed;
};

/* elab.c: loads the files that the deck names; frees what e holds. */
VS_MUST_USE vs_status elab_load_models(elab *e);
void elab_fini(elab *e);

/* elab_type.c */
/* The module that the type and level of a card stand for. If both mdl and osdi of the result are
 * NULL, no module fits: the caller lets elab_unknown_type say so. elab_find_binding searches anew;
 * elab_binding_of searches at the first use of a card, and its result is valid until the next call.
 */
elab_binding elab_find_binding(elab *e, const flat_model *c);
const elab_binding *elab_binding_of(elab *e, const flat_model *c);
void elab_unknown_type(elab *e, const flat_model *c);
/* Path of the .va file that defines the module, in the folders of the kit whose file `at` is in;
 * NULL: none does. Memory of e. */
const char *elab_find_source(elab *e, diag_span at, const char *module);
/* One warning that names all parameters of a card that its SPICE model does not know.
 *   p  vec of these parameters
 *   m  the model, to suggest a name that it knows; NULL: no suggestion */
void elab_say_unknown(elab *e, const flat_model *c, const char *module, const flat_param **p,
                      mdl_model *m);
void elab_suggest_param(elab *e, mdl_model *m, const char *name);
/* The number of a parameter on the line of a MOS transistor whose module does not read .option
 * scale: sizes are multiplied by it, areas by its square. */
double elab_scaled(const elab *e, const flat_inst *in, const flat_param *p);
/* A version as a number: "4.8.2" is 4.82, "3.2.4" is 3.24. NaN: the text is no version. */
double elab_version(const char *text);

/* elab_bind.c: adds the device of an element with a model. The message is in e->d on failure. */
VS_MUST_USE vs_status elab_bind(elab *e, const flat_inst *in);
/* The module by its fixed name (standard folder); NULL with a message. */
mdl_model *elab_module(elab *e, const char *name, diag_span at);
/* Adds a device of module m.
 *   terminal  [terminals of m] unknowns
 *   portconn  [terminals of m] 1: the element's line names the terminal; NULL: it names all
 *   temp      degrees Celsius
 *   mfactor   devices in parallel */
VS_MUST_USE vs_status elab_add(elab *e, const flat_inst *in, mdl_model *m, const mdl_given *given,
                               size_t n_given, const int32_t *terminal, const uint8_t *portconn,
                               double temp, double mfactor);
/* The parameters of a model card as those of module m, which need not be the module of the card's
 * type. false: a message was given.
 *   given  out  vec, the caller frees it */
bool elab_given(elab *e, const flat_model *c, mdl_model *m, mdl_given **given);
/* The parameter of that name in a list of an element or a model card, the last one if it is
 * repeated; NULL: it is not given. elab_card_number gives its value, or `absent`. */
const flat_param *elab_card_param(const flat_param *list, const char *name);
double elab_card_number(const flat_param *list, const char *name, double absent);
/* Connection `at` of an A element, NULL behind the last one; where it stands, or the model's name
 * behind it. */
const flat_conn *elab_conn_at(const flat_inst *in, size_t at);
diag_span elab_conn_span(const flat_inst *in, size_t at);
/* The message that an element has no model, or one that is not there. */
void elab_unknown_model(elab *e, const flat_inst *in);
/* Tells what setups of the circuit's rows had to say (mdl_next_message). Status: VS_OK; VS_EINPUT:
 * a $fatal. */
vs_status elab_report_setup(elab *e);
/* -- elab_meter.c -- */
/* 'c' for a cmeter, 'l' for an lmeter, 0 for other elements */
char elab_meter_letter(const flat_inst *in);
/* The sum that a cmeter or lmeter gives, in farad or henry. The caller has added the elements at
 * its node before. False: a message was given. */
VS_MUST_USE bool elab_meter(elab *e, const flat_inst *in, double *value);

/* elab_code.c: A elements */
VS_MUST_USE vs_status elab_code(elab *e, const flat_inst *in);
/* Port i of a code model; pair: a connection of it has two nodes unless its type says otherwise. */
typedef struct elab_port {
    const char *name; /* NULL: there is none */
    bool pair;
    bool is_digital;
} elab_port;
elab_port elab_code_port(const char *type, int i);
elab_port elab_digital_port(const char *type, int i); /* elab_digital.c */
/* The port that pin k of a digital part belongs to. */
const char *elab_logic_port(const flat_gate *g, size_t k);
/* -- elab_digital.c: digital nodes, parts and bridges -- */
/* Before nodes are made: which ones digital parts connect. */
void elab_digital_nodes(elab *e);
/* The unknown of flat node i if only digital parts connect it; -1: it is an analog node. */
int32_t elab_digital_unknown(elab *e, size_t i);
/* Whether a card of that type makes a digital part or a bridge, or one that is refused. */
bool elab_is_digital(const char *type);
void elab_digital_types(const char ***to); /* all of them, to the end of a vec */
VS_MUST_USE vs_status elab_digital(elab *e, const flat_inst *in);
/* A U element that is a digital device. */
VS_MUST_USE vs_status elab_logic(elab *e, const flat_inst *in);
/* After all elements: bridges at nodes that analog and digital ports share. */
VS_MUST_USE vs_status elab_digital_end(elab *e);
/* elab_table.c: the code models table2d and table3d.
 *   terminal  [2 n_axis + 2] unknowns: two of each axis, then two of the output
 *   current   is the output a current, or a voltage
 * Status: VS_OK, VS_EINPUT (message). */
VS_MUST_USE vs_status elab_table(elab *e, const flat_inst *in, int32_t n_axis,
                                 const int32_t *terminal, bool current);
/* -- elab_file.c -- */
/* Opens the file of p (NULL, or without text: `absent`), or takes the text that another element or
 * an earlier point of a sweep has read: its number to *file. false: there is none (message). */
VS_MUST_USE bool elab_open_file(elab *e, const flat_inst *in, const flat_param *p,
                                const char *absent, int32_t *file);
/* The code model filesource, n sources from hi[] to lo[] */
VS_MUST_USE vs_status elab_filesource(elab *e, const flat_inst *in, const int32_t *hi,
                                      const int32_t *lo, const bool *current, size_t n);
/* elab_osdi.c: modules of OSDI libraries. elab_is_osdi: is the file such a library, by its name?
 * elab_osdi_module: the compiled module of an instance, NULL: its model is no compiled one.
 * elab_osdi: adds the device. */
bool elab_is_osdi(const char *path);
const osdi_module *elab_osdi_module(elab *e, const flat_inst *in);
VS_MUST_USE vs_status elab_osdi(elab *e, const flat_inst *in, const osdi_module *m);
/* To call when values of card m have changed: its next use resolves it again. */
void elab_forget_card(elab *e, const flat_model *m);
/* Whether cards of other programs have the parameter p, and vsim may leave it out. A warning says
 * so, unless p says nothing about the device itself, or is a limit of the module's devices.
 *   module  its name, NULL: of a compiled library */
bool elab_is_accepted(elab *e, const char *module, const flat_param *p, const char *owner);
/* elab_limit.c: whether a parameter is a limit of safe operation of a module's devices. */
bool elab_is_limit(const char *module, const char *name);
int32_t elab_param(elab *e, mdl_model *m, const char *name); /* -1: none */
double elab_kelvin(const elab *e);

/* elab_control.c: E F G H and waveforms */
/* Whether all elements that `in` refers to have been added. */
bool elab_ready(elab *e, const flat_inst *in);
VS_MUST_USE vs_status elab_source(elab *e, const flat_inst *in);
VS_MUST_USE vs_status elab_controlled(elab *e, const flat_inst *in);
/* The unknown of the current through an element; -1 if it has none. */
int32_t elab_branch(const elab *e, const char *element);

/* Like elab_branch for the controlling source `name` of the element `in`. False: a message was
 * given. */
bool elab_control_branch(elab *e, const flat_inst *in, const char *name, int32_t *unknown);

/* elab_couple.c: K */
VS_MUST_USE vs_status elab_mutual(elab *e, const flat_inst *in);
/* Warns where inductors store negative energy by their couplings, if one was added since the last
 * call. To call when all elements are there. */
void elab_check_couplings(elab *e);

/* elab_line.c: T O U */
VS_MUST_USE vs_status elab_line(elab *e, const flat_inst *in);

/* elab_transfer.c. whole[0] + whole[1] s + num/den, all times exp(-s delay); coefficients by power
 * of s; the degree of num is less than that of den, or both are 0 and num is 0. */
enum { ELAB_DEGREE = 30, ELAB_WHOLE = 2 };
typedef struct elab_ratio {
    double num[ELAB_DEGREE + 1], den[ELAB_DEGREE + 1], whole[ELAB_WHOLE], delay;
    int n_num, n_den; /* degrees */
} elab_ratio;
/* h: expression of NET_S and numbers. false: a message was given. */
VS_MUST_USE bool elab_transfer(elab *e, const char *who, const net_expr *h, elab_ratio *x);
/* elab_behav.c: expressions and polynomials */
VS_MUST_USE vs_status elab_behavioural(elab *e, const flat_inst *in);
VS_MUST_USE vs_status elab_poly(elab *e, const flat_inst *in, int32_t dim);

const char *elab_printf(elab *e, const char *fmt, ...) VS_PRINTF(2, 3);

struct evt_model;
/* -- elab_logic.c: timing models of U elements -- */
/* Whether the element has a timing model of the right type; false: a message was given. */
bool elab_logic_check(elab *e, const flat_inst *in);
/* The numbers [EVT_MOST_PARAMS] of a part of it. */
void elab_logic_delays(const flat_inst *in, const flat_gate *g, const struct evt_model *type,
                       double *par);

/* -- elab_stimulus.c: what digital parts read -- */
typedef struct elab_rows { /* for an evt_table; freed with elab_rows_free */
    double *number;        /* vec */
    uint8_t *value;        /* vec */
    int32_t n_row;
} elab_rows;
void elab_rows_free(elab_rows *r);
/* The stimulus of a d_source: lines of a time and n_out values. p: the parameter with the name of
 * the file, NULL: none was given, and it is `absent`. False: a message was given. */
VS_MUST_USE bool elab_stimulus(elab *e, const flat_inst *in, const flat_param *p,
                               const char *absent, int32_t n_out, elab_rows *to);
/* The states of a d_state: lines of a state, its outputs, inputs, -> and the next state; more
 * inputs and next states of it may follow in lines of their own. */
VS_MUST_USE bool elab_states(elab *e, const flat_inst *in, const flat_param *p, const char *absent,
                             int32_t n_in, int32_t n_out, elab_rows *to);

#endif
