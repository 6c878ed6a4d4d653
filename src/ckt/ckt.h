/* ckt.h - the circuit as equations: unknowns, Jacobian pattern, load.
 * Use:    elab builds it (ckt_new, ckt_node, ckt_add_*, ckt_finish); the analyses call ckt_load.
 *
 * Unknowns x[1..n]: node voltages, branch currents, internal nodes; x[0] is the reference node, 0.
 * Row i is the equation of unknown i: Kirchhoff's current law (sum of currents leaving the node
 * into devices = 0) or a branch equation. The residual is r_i = f_i(x,t) + d/dt q_i(x); a load
 * gives
 *   f  [n+1]  resistive part                q  [n+1]  charge or flux part
 *   fmax [n+1] largest |single contribution| to f_i, the reference of the residual test qmax [n+1]
 *   the same for q_i
 *   J  values of the CSC matrix G + alpha C (matrix row/column i-1 belongs to unknown i)
 * Trash: stamps to the reference node or to unused unknowns go to f[0], q[0] and one value behind
 * J. */
#ifndef CKT_H
#define CKT_H

#include "csc.h"
#include "diag.h"
#include "lu.h"
#include "mdl.h"
#include "nat_back.h"
#include "nat_line.h"
#include "nat_osdi.h"
#include "nat_source.h"
#include "nat_table.h"

typedef enum ckt_kind { CKT_VOLTAGE, CKT_CURRENT, CKT_OTHER } ckt_kind;
typedef struct ckt_tolerance {
    double x;   /* of an unknown's nature as the model declares it, 0: vntol or abstol by kind */
    double row; /* of its row, 0: abstol for KCL rows, vntol for voltage equations */
} ckt_tolerance;
typedef struct ckt_unknown { /* there may be a million of them */
    const char *name;        /* "out", "x1.n3", "v1#branch", "m1#di" */
    int32_t tolerance;       /* see ckt_tolerance_of */
    ckt_kind kind : 8;
    bool internal : 1; /* inside a device; not among the default vectors */
    bool node : 1;     /* a KCL row: homotopy may put a conductance on its diagonal */
    bool has_q : 1;    /* its row has a charge: takes part in the truncation error test */
    bool digital : 1;  /* 0, 1 or 0.5 as a digital node is: it jumps, nothing is solved for it */
    bool closed : 1;   /* inside a device of an OSDI library: the user can do nothing about it */
} ckt_unknown;

/* What a load sees besides x. Native devices see it too, so src/nat defines it. */
typedef nat_mode ckt_mode;
#define CKT_STATIC NAT_STATIC
#define CKT_TRAN NAT_TRAN
typedef nat_env ckt_env;

typedef struct ckt_stat {
    int64_t n_load, n_eval; /* loads; device instance evaluations */
    int64_t n_bypass;       /* times that an instance was loaded without being evaluated */
    int64_t n_latent;       /* times that an unknown was left alone in a load (ckt_latent.h) */
    double s_eval, s_stamp; /* seconds */
} ckt_stat;

typedef struct ckt ckt;
struct ckt_vec; /* nothing public */

/* -- building (src/elab) -- */
/* Whether instances whose voltages hardly move contribute their stored linearisation in a
 * transient. */
typedef enum ckt_bypass {
    CKT_BYPASS_AUTO, /* models whose evaluation is worth it */
    CKT_BYPASS_OFF,
    CKT_BYPASS_ALL /* every model that suits */
} ckt_bypass;
typedef struct ckt_opt {
    double temp;            /* circuit temperature, kelvin */
    const double *simparam; /* [IR_N_SIMPARAM], copied */
    int threads;            /* 0: as many as there are processors, up to 8 */
    /* A group is shared by threads if evaluating it takes this many operations or more; 0: 2
     * million. Results do not depend on it. */
    double parallel_min;
    ckt_bypass bypass;
    /* where names are kept, outlives the circuit: those given to ckt_node and ckt_add_device are
     * interned there (asserted in debug builds). NULL: the circuit has its own */
    str_pool *names;
    bool general_load; /* small circuits are loaded like large ones: the oracle of ckt_small.c */
} ckt_opt;
ckt *ckt_new(const ckt_opt *opt, diag *d);
void ckt_free(ckt **c);
/* The unknown of a node by interned name, made if new; "0" and "gnd" are 0. */
int32_t ckt_node(ckt *c, const char *name);
int32_t ckt_inner_node(ckt *c, const char *name); /* a new one inside an element */
int32_t ckt_find(const ckt *c, const char *name); /* -1 if none; also "v1#branch" */

/* One instance of a model. terminal: unknowns [n_port of the module]; -1: not connected, gets an
 * unknown of its own; may be a branch current (controlled sources). Internal unknowns and branch
 * currents are made here, named "<inst>#<unknown>" (a VA_CURRENT of the only branch:
 * "<inst>#branch").
 * Status: VS_OK; VS_EINPUT when the variant cannot be had (message). */
VS_MUST_USE vs_status ckt_add_device(ckt *c, const char *name, mdl_model *m, int32_t row,
                                     const int32_t *terminal, diag_span span);
/* A device of an OSDI library; terminal: unknowns [in->n_terminal]. The circuit does not own `in`,
 * which must outlive it. */
void ckt_add_osdi(ckt *c, osdi_inst *in, const int32_t *terminal, diag_span span);
/* Independent sources; the waveform is copied. V: its current unknown is "<name>#branch", positive
 * from p through the source to n. Wave arguments: see wave.h. */
VS_MUST_USE vs_status ckt_add_vsource(ckt *c, const char *name, int32_t p, int32_t n, const wave *w,
                                      double m, diag_span span);
VS_MUST_USE vs_status ckt_add_isource(ckt *c, const char *name, int32_t p, int32_t n, const wave *w,
                                      double m, diag_span span);
/* Ideal line between the ports (node[0], node[1]) and (node[2], node[3]): impedance z > 0 in ohm,
 * delay td > 0 in seconds; m of them in parallel. Its currents are the unknowns "<name>#i1",
 * "<name>#i2". */
void ckt_add_line(ckt *c, const char *name, const int32_t node[4], double z, double td, double m,
                  diag_span span);
/* Like ckt_add_line, with losses. If o has initial conditions, the caller also calls ckt_add_ic for
 * the ports. */
void ckt_add_lossy_line(ckt *c, const char *name, const int32_t node[4], const nat_lossy_opt *o,
                        double m, diag_span span);
/* The table with its numbers, copied into the circuit's memory, for ckt_add_table. */
const nat_table *ckt_own_table(ckt *c, const nat_table *t);
/* A current in a table over voltages (nat_table.h), whose o->table is one of ckt_own_table. The
 * name is copied. */
void ckt_add_table(ckt *c, const nat_table_opt *o);
/* -- the digital part (ckt_event.c) -- */
struct evt; /* evt.h; nat_event.h: */
struct nat_adc;
struct nat_dac;
struct nat_osc;
struct nat_bidi;
/* Its nodes and parts, made if there are none: to be filled before ckt_finish. Its names must
 * outlive the circuit (ckt_keep_name). NULL: there is none and `make` is false. */
struct evt *ckt_digital(ckt *c, bool make);
bool ckt_is_digital(const ckt *c);
const char *ckt_keep_name(ckt *c, const char *name);
/* The unknown that shows a digital node, with the node's name. */
int32_t ckt_show(ckt *c, int32_t node);
/* Bridges (nat_event.h), whose names are copied. A dac that is a voltage source gets the unknown of
 * its current, "<name>#branch", here. */
void ckt_add_adc(ckt *c, const struct nat_adc *a);
void ckt_add_dac(ckt *c, const struct nat_dac *d, bool current);
void ckt_add_bidi(ckt *c, const struct nat_bidi *b);
void ckt_add_osc(ckt *c, const struct nat_osc *o);
/* Of the accepted points of a transient of a circuit with a digital part: the first time not before
 * t at which a digital node changed, infinite if there is none; the unknowns that show them at t,
 * changes at just that time left out. */
double ckt_change_from(ckt *c, double t);
void ckt_show_at(ckt *c, double t, double *x);
/* The operating point's equations are solved at x. Status: VS_OK; VS_REJECT: the digital part has
 * other values now, so that they have to be solved again, from x; VS_EINPUT (message). */
VS_MUST_USE vs_status ckt_settle(ckt *c, const double *x);

/* Groups instances, compiles the variants of the forms in `forms` (bit 1 << mdl_form_kind), makes
 * the pattern, checks the topology: nodes without a dc path to ground and loops of voltage sources
 * are named in messages (floating: warning and a gmin shunt; loop of sources: error).
 * Status: VS_OK, VS_EINPUT. */
VS_MUST_USE vs_status ckt_finish(ckt *c, unsigned forms);

/* -- other values in the same circuit (ckt_redo.c) --
 * ckt_redo_begin; for each element whose values changed ckt_redo_at and the same ckt_add_... call
 * again; then ckt_redo_end. Between begin and end ckt_add_... adds nothing: it compares with what
 * is there and takes over the new row, waveform or initial condition. The circuit is then the one
 * that would have been built anew, to the last bit of its loads. */
typedef struct ckt_place { /* how many of each were added */
    int32_t device, source, ic;
} ckt_place;
ckt_place ckt_here(const ckt *c);
/* false: some device cannot take other values; only ckt_redo_end may follow */
bool ckt_redo_begin(ckt *c);
void ckt_redo_at(ckt *c, ckt_place at);
enum {                       /* what the changed numbers have an effect on */
       CKT_OTHER_STATIC = 1, /* devices in static loads */
       CKT_OTHER_DC = 2,     /* sources in an operating point */
       CKT_OTHER_START = 4,  /* sources at time 0 */
       CKT_OTHER_LINEAR = 8  /* resistors and capacitors whose kernel does not run (ckt_small.c) */
};
typedef struct ckt_redone {
    int32_t rows, sources, ics;
    unsigned other;  /* bits CKT_OTHER_... */
    const char *why; /* with VS_REJECT: what else changed */
} ckt_redone;
/* temp in kelvin. Status: VS_OK; VS_REJECT: the circuit must be built anew, nothing else may be
 * done with it. */
VS_MUST_USE vs_status ckt_redo_end(ckt *c, double temp, const double *simparam, ckt_redone *what);
/* While it is on, ckt_redo_end leaves the devices as they are and notes which ones would have other
 * rows, whoever shares a row with them. Sources and initial conditions change. The rows stay until
 * they are given back (mdl_row_release). */
typedef struct ckt_other_row {
    int32_t device, row;
} ckt_other_row;
void ckt_redo_note(ckt *c, bool on);
bool ckt_redo_notes(const ckt *c);
/* Those of the last ckt_redo_end, by device: [*n]. */
const ckt_other_row *ckt_redo_noted(const ckt *c, size_t *n);
/* Puts limits, hidden state and breakpoints back to what they were before the first load. */
void ckt_fresh(ckt *c);
/* Limits and hidden state of all devices as *n numbers: _save copies them to the caller's [n],
 * _load back. false: an operating point leaves more behind than these (lines and delays, OSDI
 * libraries, models that print or end the run), so that they cannot stand for it. */
bool ckt_state_size(const ckt *c, size_t *n);
void ckt_state_save(const ckt *c, double *to);
void ckt_state_load(ckt *c, const double *from);
/* Whether the operating point of a transient is that of .op: every source begins at its dc value,
 * and no device asks which analysis runs. */
bool ckt_same_start(const ckt *c);
/* Sets all hidden state to 0, as at the start of an operating point without an initial guess. */
void ckt_state_zero(ckt *c);
/* The ordering of the matrix passes from one analysis to the next: an analysis gives its solver
 * with ckt_give_lu when it ends, the next takes it with ckt_take_lu. false: there is none, or it is
 * for another method. The solver's pool is that of the circuit. */
bool ckt_take_lu(ckt *c, lu_kind kind, lu_solver *lu);
void ckt_give_lu(ckt *c, lu_solver *lu);

/* -- facts -- */
int32_t ckt_n(const ckt *c);                   /* unknowns without the reference */
const ckt_unknown *ckt_unknowns(const ckt *c); /* [n+1] */
ckt_tolerance ckt_tolerance_of(const ckt *c, int32_t unknown);
const csc *ckt_pattern(const ckt *c);      /* values: the last load's J */
double *ckt_diag(ckt *c, int32_t unknown); /* the diagonal value of a node row, NULL if none */
ckt_stat *ckt_stats(ckt *c);
struct pool *ckt_pool(const ckt *c); /* the threads of this circuit; NULL: one */
/* The rows of ckt_pattern for these threads; NULL: the matrix is too small to share. */
const struct csc_cut *ckt_cut(const ckt *c);
double ckt_parallel_min(const ckt *c); /* operations from which on threads share work */
/* Whether they share loops over vectors of m elements. */
bool ckt_shares_vectors(const ckt *c, int32_t m);
/* all: each load is timed, group by group. Otherwise small circuits time one load in 16, and no
 * groups. */
void ckt_time_all(ckt *c, bool all);
/* For messages: the names of up to n devices with the largest contributions to row `row` in the
 * last load, and the contributions in amount [n]. row 0: the devices that gave a NaN or infinity.
 * Returns how many. */
int ckt_blame(const ckt *c, int32_t row, const char **device, double *amount, int n);

/* Group i: instances that share the variants of one model. */
typedef struct ckt_group_facts {
    mdl_model *model;
    int32_t n_instance, n_row; /* distinct parameter rows */
    int32_t row;               /* one of them */
    int32_t n_variant; /* more than 1: the rows have so many variants, and share one made of what
                        * is known in all of them */
    const mdl_variant *variant[MDL_N_FORM]; /* NULL: the form is not in use */
    const int32_t *inst;                    /* [n_instance] instances, for ckt_instance_name */
    int64_t n_eval;                         /* evaluations of instances so far */
    int64_t n_bypass;                       /* times that held linearisations served instead */
    double s_eval;                          /* s, evaluation and stamping; see ckt_time_all */
} ckt_group_facts;
/* Devices of OSDI libraries, in the order in which they were added. */
typedef struct ckt_osdi_facts {
    const char *name;
    osdi_inst *in;
    const int32_t *unknown; /* [module->n_node] of the circuit */
    int32_t n_terminal;
    diag_span span;
} ckt_osdi_facts;
int32_t ckt_n_osdi(const ckt *c); /* devices of OSDI libraries */
/* Appends the nodes of devices of OSDI libraries, terminals and internal ones, to the vec *node;
 * each once. */
void ckt_osdi_nodes(const ckt *c, int32_t **node);
/* S, of what is put from a node without a dc path to ground where option gmin is this. */
static inline double ckt_shunt(double gmin) { return gmin > 0 ? gmin : 1e-12; }
/* In time, from a node of a part that nothing joins to ground: no current flows there, and gmin
 * beside C/h would be rounding. */
#define CKT_FIRM_SIEMENS 1.0
/* A transient begins, at x [n+1], an operating point with this gmin, or NULL: parts from which its
 * shunts carry more than `most` amperes there keep gmin in time. */
void ckt_begin_shunts(ckt *c, const double *x, double gmin, double most);
/* Static loads have firm shunts, too, from now on, or no more: beside micro-ohms gmin is rounding,
 * and the matrix singular. false: nothing has changed. */
bool ckt_stiffen(ckt *c, bool stiff);
/* The node of such a shunt, which must carry no current, that carries most of them at x [n+1]; 0:
 * none carries any. */
int32_t ckt_most_stiff(const ckt *c, const double *x);
typedef struct ckt_firm { /* a firm shunt of a part into which a current may flow: it has no path */
    int32_t node, part;
    int32_t fix;     /* what is put there */
    bool by_devices; /* not from independent sources alone */
    bool held;       /* also at rest; gmin of devices, which is not meant, joins it to ground */
} ckt_firm;
/* The next of them that is not loose, from the i-th on; NULL: there is none. *i moves behind it. */
const ckt_firm *ckt_next_firm(const ckt *c, size_t *i);
/* The nodes of its part, as unknowns: [*n], owned by c. */
const int32_t *ckt_part(const ckt *c, const ckt_firm *k, int32_t *n);
/* Every node has a resistor to ground that the circuit does not know of, or none has: shunts are
 * gmin then, and no part is isolated. */
void ckt_soften(ckt *c, bool soft);
typedef struct ckt_level { /* a shunt of a matrix of small signals */
    int32_t node;
    double siemens;
    const int32_t *of; /* [n] nodes whose level it gives, owned by c; of one node, if it is alone */
    int32_t n;
    bool judged; /* a current may flow into the part, and nothing else gives it a level */
} ckt_level;
/* The next of them, from the i-th on; false: there is none. *i moves behind it. still: those of
 * static loads; else those of isolated parts. */
bool ckt_next_level(const ckt *c, const ckt_env *env, bool still, size_t *i, ckt_level *l);
/* Adds what these carry at x [n+1], in loads of that mode, to f [n+1]; firm ones carry nothing. */
void ckt_add_shunts(const ckt *c, const ckt_env *env, const double *x, double *f);
/* Puts gmin from node k to ground in static loads from now on, with a warning. Needed because OSDI
 * libraries also list derivatives that are 0 with the given parameters: the check of the topology
 * then sees a dc path where there is none. false: k is no node of such a device, or has gmin
 * already. */
bool ckt_anchor(ckt *c, int32_t k);
/* Puts gmin across one end of each line at rest from now on: lines with both ends open have no
 * dc path between their terminals. false: there is no line, or they have it already. */
bool ckt_leak(ckt *c, double gmin);
ckt_osdi_facts ckt_osdi_at(const ckt *c, int32_t i);
int32_t ckt_n_group(const ckt *c);
ckt_group_facts ckt_group(const ckt *c, int32_t i);
const char *ckt_instance_name(const ckt *c, int32_t inst);

/* Text form for --dump=groups: groups, rows, variants, unknowns; with `ir` also the functions. */
void ckt_dump_groups(const ckt *c, FILE *out, bool ir);

/* -- evaluation -- */
/* Fills f, q (TRAN only), fmax, qmax [n+1] and the values of ckt_pattern.
 *   limited  out  a device moved a voltage by limiting: the iteration may not be taken as converged
 * With env->finite, in static loads, currents and derivatives of devices that are not finite count
 * as 0; the former as limiting.
 * Allocates nothing. Status: VS_OK; VS_NOCONV: a NaN or infinity came out (ckt_blame names it). */
VS_MUST_USE vs_status ckt_load(ckt *c, const ckt_env *env, const double *x, double *f, double *q,
                               double *fmax, double *qmax, bool *limited);
/* The part of f that the independent sources give whatever x is, s [n+1]; f - s depends on time
 * only through x, or explicitly in models. */
void ckt_source_terms(ckt *c, const ckt_env *env, double *s);
/* What rounding took from the charge sums q of the last TRAN load: q_i + rest_i is the exact sum of
 * the devices' charges. [n+1], valid until the next load. The charges of a large capacitor cancel
 * between its two nodes in these exact sums only (docs/design.md, 2). */
enum { CKT_PADDING = 8 }; /* zeros behind the vector, for loops over vector registers */
const double *ckt_charge_rest(const ckt *c);
/* The point of the last load is accepted: hidden state advances, effects ($strobe, $finish) run. */
VS_MUST_USE vs_status ckt_accept(ckt *c, const ckt_env *env, const double *x);
/* A fresh start of Newton at x: limiting history is initialised from the models' start values. */
void ckt_reset_limits(ckt *c);
/* A rejected step: the limiting history returns to that of the last accepted point. */
void ckt_restore_limits(ckt *c);

/* -- a second opinion (ckt_verify.c) -- */
typedef struct ckt_second {      /* [n+1], [nnz+1]; complete for the rows that were picked */
    double *f, *q, *fmax, *qmax; /* as ckt_load has them */
    double *corner;              /* what held linearisations may be off by beyond a corner */
    double *qlo, *val;           /* scratch */
    int64_t n_eval;              /* devices evaluated by the interpreter */
} ckt_second;
/* Evaluates again f and q of the rows with pick[i] != 0 at x, the point of the last load: the
 * interpreter evaluates every device at these rows. pick [n+1] in/out: rows with a device of an
 * OSDI library are taken out, and all rows if they have more than `most` devices. Status: VS_OK,
 * VS_NOCONV. */
VS_MUST_USE vs_status ckt_evaluate_again(ckt *c, const ckt_env *env, const double *x, uint8_t *pick,
                                         int32_t most, ckt_second *to);

/* -- a transient that goes on in another process (ckt_image.c) -- */
/* Copies what the circuit remembers between two points to or from the image. */
void ckt_image(ckt *c, image *im);
/* Copies, or compares, what its equations are made of. If this fits, an image of ckt_image fits
 * too. */
void ckt_identity(const ckt *c, image *im);

/* -- a transient that goes on with other values (ckt_carry.c) -- */
typedef struct ckt_carried ckt_carried;
/* What c remembers between two points of a transient, beside the unknowns: for ckt_carry_free. */
ckt_carried *ckt_carry_take(ckt *c);
void ckt_carry_free(ckt_carried **k);
/* Into a fresh circuit (ckt_fresh) of the same elements. Returns NULL if it was done; else a static
 * text that says why it does not fit, and the caller calls ckt_fresh again.
 *   from  out  [n+1] which unknown of the other circuit each one was */
const char *ckt_carry_put(ckt *c, ckt_carried *k, int32_t *from);

/* -- small signals (ckt_ac.c); `forms` of ckt_finish must have MDL_AC -- */
typedef struct ckt_noise {  /* one noise source of a device */
    int32_t device, source; /* number of the device (those of OSDI libraries behind the others); of
                             * the source in its module */
    double psd, exponent;   /* psd f^-exponent: A^2/Hz, V^2/Hz */
    int32_t first, end;     /* what it drives: gain[first .. end) */
} ckt_noise;
typedef struct ckt_noise_gain { /* row: f += gain n, or with `rate`: q += gain n */
    int32_t row;
    bool rate;
    double gain;
} ckt_noise_gain;
/* The linearised circuit at x: G and C in the places of ckt_pattern, g and c [nnz + 1].
 *   noise  in   the devices see analysis("noise"); their noise sources are collected
 * Status: VS_OK; VS_NOCONV: a NaN or infinity (ckt_blame does not know it). */
VS_MUST_USE vs_status ckt_load_ac(ckt *c, const ckt_env *env, const double *x, bool noise,
                                  double *g, double *cap);
/* The same in the analysis of env, without noise: analysis("tran") holds in a transient. Form
 * MDL_AC is needed. Status as ckt_load_ac. */
VS_MUST_USE vs_status ckt_load_apart(ckt *c, const ckt_env *env, const double *x, double *g,
                                     double *cap);
/* The same as ckt_load_ac, without noise, right behind a TRAN load at x that limiting did not act
 * in: what that load knows of devices is not evaluated again. */
VS_MUST_USE vs_status ckt_load_slopes(ckt *c, const ckt_env *env, const double *x, double *g,
                                      double *cap);
/* Adds what lines and delays contribute to G + j omega C to val [2 nnz], re and im in turn. */
void ckt_ac_delays(const ckt *c, double omega, double *val);
/* The same of the derivatives of that by ln omega. */
void ckt_ac_delays_slope(const ckt *c, double omega, double *val);
/* Whether G and C depend on env->freq: an expression has `hertz`. */
bool ckt_uses_freq(const ckt *c);
/* The right side b of A x = b from the ac values of the independent sources: [2 (n+1)], re and im
 * in turn. */
void ckt_ac_drive(const ckt *c, double *b);
/* The noise sources of the last ckt_load_ac in the order of the devices; valid until the next. */
const ckt_noise *ckt_noises(const ckt *c, size_t *n, const ckt_noise_gain **gain);
double ckt_noise_density(const ckt *c, const ckt_noise *s, double f); /* at f hertz */
/* Derivatives of ckt_noise_density by psd and exponent. Not of a source of an OSDI library. */
void ckt_noise_slopes(const ckt *c, const ckt_noise *s, double f, double *by_psd,
                      double *by_exponent);
const char *ckt_noise_name(const ckt *c, const ckt_noise *s); /* as the module calls it, or "" */

/* -- devices and sources by number, their details (ckt_detail.c) -- */
int32_t ckt_n_device(const ckt *c);
const char *ckt_device_name(const ckt *c,
                            int32_t device); /* ckt_n_device + i: i-th of OSDI libraries */
typedef struct ckt_device_facts {
    const char *name;
    mdl_model *model;
    int32_t row;
    const int32_t *unknown; /* [mdl_n_unknown] of the circuit */
    diag_span span;
} ckt_device_facts;
ckt_device_facts ckt_device(const ckt *c, int32_t device);
/* Its unknowns of the circuit [*n]; 0: the reference, or not in use. */
const int32_t *ckt_device_unknowns(const ckt *c, int32_t device, int32_t *n);
int32_t ckt_n_source(const ckt *c);
typedef struct ckt_source_facts {
    const char *name;
    bool is_v;
    int32_t p, n, k; /* nodes; the current's unknown of a voltage source, else 0 */
    double m, dc, ac_mag, ac_phase;
    double disto_mag[2], disto_phase[2]; /* of distof1 and distof2; degrees */
    diag_span span;
} ckt_source_facts;
ckt_source_facts ckt_source_at(const ckt *c, int32_t source);
const nat_source *ckt_source_all(const ckt *c, int32_t source); /* with its waveform */
/* The least of the largest values that voltage sources come to, volt, those of 0 V left out; 0:
 * there are none, or one is not known. */
double ckt_least_supply(const ckt *c);
/* The value of an independent source at a time of a transient, volt or ampere. */
double ckt_source_value(const ckt *c, int32_t source, double t);
/* All outputs of a device at x by the interpreter: RES REACT G C OPVAR ... of the equation form,
 * without specialisation. A parameter of its row may be changed for this evaluation.
 *   param  in   -1: none
 *   out    out  vecs: values, and what each is: rows and columns are unknowns of the circuit
 * Status: VS_OK; VS_EINPUT: the value is not in the parameter's range (no message); VS_NOCONV. */
VS_MUST_USE vs_status ckt_device_outputs(ckt *c, const ckt_env *env, const double *x,
                                         int32_t device, int32_t param, double value, double **out,
                                         mdl_out **what);
/* "@device[name]": an operating-point variable or a parameter of a device, what ngspice tells of
 * elements of its letter (i, v, p, current, flux ...; ckt_asked.c), or dc, i, v, p, acmag,
 * acphase of an independent source, whose i is also current, and dc c, if it is a current source.
 * It is evaluated only when a client asks for its value. */
typedef struct ckt_detail {
    enum {
        CKT_DETAIL_OPVAR,
        CKT_DETAIL_PARAM,
        CKT_DETAIL_SOURCE,
        CKT_DETAIL_OSDI,
        CKT_DETAIL_ASKED
    } what;
    int32_t device, k;
    const char *unit; /* "A", "V", ... "" if none */
} ckt_detail;
typedef enum ckt_lookup { CKT_FOUND, CKT_NO_DEVICE, CKT_NO_DETAIL } ckt_lookup;
/* The number of a device by name; -1: none, or of an OSDI library. */
int32_t ckt_find_device(const ckt *c, const char *name);
ckt_lookup ckt_find_detail(const ckt *c, const char *device, const char *name, ckt_detail *d);
/* The same for what can be set alone: a parameter also where a value of the operating point has its
 * name (`is` of a transistor); dc, acmag, acphase of a source. Not of OSDI libraries. */
ckt_lookup ckt_find_param(const ckt *c, const char *device, const char *name, ckt_detail *d);
/* Names of all details of a device, for lists and suggestions: vec that the caller frees. */
const char **ckt_detail_names(const ckt *c, const char *device);
/* Values of k details at x: value [k]. A device is evaluated once for all that follow each other.
 */
VS_MUST_USE vs_status ckt_details(ckt *c, const ckt_env *env, const double *x, const ckt_detail *d,
                                  size_t k, double *value);

/* The phasor of a detail that is a current or a voltage of an element (i, v, ie ... of ckt_asked.c;
 * i and v of a source), small signals around the operating point. Others keep their value.
 *   op      in   [n+1] operating point
 *   z       in   [2(n+1)] phasors at omega (rad/s), re and im in turn
 *   re, im  i/o  value at the operating point; the phasor */
VS_MUST_USE vs_status ckt_detail_phasor(ckt *c, const ckt_env *env, const double *op,
                                        const double *z, double omega, const ckt_detail *d,
                                        double *re, double *im);

/* -- time -- */
/* The first breakpoint after t (strictly), +inf if none. Constant memory for periodic waves. */
double ckt_next_break(ckt *c, double t);
/* At the breakpoint t nothing jumps but the slopes of current sources, at nodes whose rows have
 * charges: with them the derivatives of charges go on. `same`: times so far apart are the same,
 * `next`: the breakpoint behind t. Not where ckt_gets_breaks. */
bool ckt_slopes_alone(const ckt *c, double t, double same, double next);
/* Some equations depend on accepted points (lines, delays). */
bool ckt_has_delays(const ckt *c);
/* Those devices, 0 .. ckt_n_memory - 1, and the equation that device i has in loads with env.held
 * from now on (nat.h). */
int32_t ckt_n_memory(const ckt *c);
nat_memory ckt_memory(const ckt *c, int32_t i);
void ckt_hold(ckt *c, int32_t i, const nat_now *now);
/* What they need of their past for gradients (nat.h), and its adjoint (nat_back.h). */
size_t ckt_n_note(const ckt *c);
void ckt_note(ckt *c, double t, const double *x, double *to);
nat_back *ckt_back_of_past(ckt *c, const nat_time *point, size_t n_point, int32_t n_measure);
/* Lines, and derivatives by their numbers (nat_line.h). */
int32_t ckt_n_line(const ckt *c);
nat_line_numbers ckt_line_numbers(const ckt *c, int32_t i);
const char *ckt_line_name(const ckt *c, int32_t i);
const char *ckt_line_side(ckt *c, int32_t i, const nat_line_numbers side[2], double distance);
void ckt_line_no_sides(ckt *c);
double ckt_line_side_sum(const ckt *c, int32_t i, const double *x, const double *noted, bool behind,
                         const double *lambda);
/* y' dA/dp z of a side at omega; what delays add by their unknowns d to to [n+1]. */
double _Complex ckt_line_side_phasor(const ckt *c, int32_t i, double omega,
                                     const double _Complex *y, const double _Complex *z);
void ckt_delay_phasors(const ckt *c, double omega, const double _Complex *y,
                       const double _Complex *z, double *to);
/* The point at t, which is accepted next or was just now, is a breakpoint. */
bool ckt_is_break(const ckt *c, double t);
/* Loads of a transient depend on ckt_env.weight. */
bool ckt_asks_weight(const ckt *c);
/* Transients have linear devices and independent sources alone: the matrix depends on alpha, f
 * without sources and q on x by it. */
bool ckt_is_linear(const ckt *c);
/* Compiled devices with more than two ports are one for 16 unknowns or more: the matrix is not
 * symmetric, but by chance where all of them are off. */
bool ckt_has_gain(const ckt *c);
/* Delays or a client's waveform make new breakpoints during the run, so the caller asks
 * ckt_next_break at each point. */
bool ckt_gets_breaks(const ckt *c);
/* Largest step that models asked for with $bound_step in the last load, +inf if none. */
double ckt_bound_step(const ckt *c);
/* Unknowns that count modulo something (idtmod) and leave their range at the accepted point x.
 * Returns the i-th one, 0 if it is not in use, -1 if there is no i-th; *by: the multiple of its
 * modulus that the caller subtracts. */
int32_t ckt_wrapped(const ckt *c, int32_t i, const double *x, double *by);
/* An event lies within the step of the last load: the length that this step should have had; +inf:
 * no event. */
double ckt_asked_step(const ckt *c);
/* Initial conditions given on instances (C ic=, L ic=) for uic: adds (unknown, value) pairs;
 * elab registers them: voltage p-n or current. */
void ckt_add_ic(ckt *c, int32_t p, int32_t n, double value);
/* For uic: sets x from the registered node and instance ics; everything else is 0, sources
 * included. */
void ckt_uic(ckt *c, double *x);
/* The moment after ckt_uic: nodes that voltage sources tie to ground get their voltage at t = 0;
 * the others stay. */
void ckt_switch_on(const ckt *c, double *x);

/* -- altering sources (dc sweeps) -- */
int32_t ckt_find_source(const ckt *c, const char *name); /* -1 */
double ckt_source_dc(const ckt *c, int32_t src);
void ckt_set_source_dc(ckt *c, int32_t src, double value);

/* From now on the client gives the waveform w of source src; NULL: the netlist does again. *w is
 * copied. */
void ckt_set_source_wave(ckt *c, int32_t src, const nat_wave *w);

/* Gives a line of text, which is copied, to the sink; until there is a sink the circuit collects
 * the lines. */
void ckt_say(ckt *c, const char *text);
/* Sets the sink: models' effects ($strobe and its kin) print lines there. */
void ckt_set_line_sink(ckt *c, void (*line)(void *user, const char *text), void *user);

#endif
