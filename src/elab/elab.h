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

#include "ckt.h"
#include "flat.h"
#include "option.h"

/* What .option and .temp say. Unknown options are warnings with the nearest name; a value that
 * makes no sense is an error. Status: VS_OK, VS_EINPUT. */
VS_MUST_USE vs_status elab_options(option_set *o, const flat *f, diag *d);
/* The same on top of options that were read before. */
VS_MUST_USE vs_status elab_set_options(option_set *o, const flat *f, diag *d);
/* What models read with $simparam. simparam  out  [IR_N_SIMPARAM] */
void elab_simparam(double *simparam, const option_set *o);

typedef struct elab_opt {
    double temp;            /* degrees Celsius */
    const double *simparam; /* [IR_N_SIMPARAM], NULL: defaults */
    unsigned forms;         /* bits 1 << mdl_form_kind */
    int threads;
    double parallel_min; /* as in ckt_opt */
    ckt_bypass bypass;
    double tstep, tstop; /* for defaults of waveforms; tstop 0: the deck's first .tran */
    bool lenient;        /* cards of modules that the deck loads may have unknown parameters too */
    bool may_be_empty;   /* a deck without devices is a circuit without unknowns, no error */
} elab_opt;
/* Builds and finishes the circuit. On failure *c is NULL and messages are in d.
 * Status: VS_OK, VS_EINPUT, VS_EUNSUPPORTED. */
VS_MUST_USE vs_status elab_circuit(ckt **c, diag *d, str_pool *names, mdl_lib *lib, const flat *f,
                                   const elab_opt *opt);
/* Like elab_circuit; *bound is also able to bind single instances again, for which the flat netlist
 * and the circuit must stay. bound out elab_free it before the circuit; NULL on failure */
typedef struct elab elab;
VS_MUST_USE vs_status elab_circuit_bound(ckt **c, elab **bound, diag *d, str_pool *names,
                                         mdl_lib *lib, const flat *f, const elab_opt *opt);
void elab_free(elab **e);
/* Values of the flat netlist changed: elab_redo_begin, then elab_redo_model for model cards,
 * elab_redo for instances (index in the netlist), elab_redo_starts for .ic; elab_redo_end.
 *   temp  degrees Celsius   simparam  as in elab_opt
 * Status of elab_redo_end: VS_OK; VS_REJECT: build the circuit anew, what->why tells what is in the
 * way. */
void elab_redo_begin(elab *e, double temp, const double *simparam);
void elab_redo_model(elab *e, const flat_model *m);
void elab_redo(elab *e, int32_t inst);
void elab_redo_starts(elab *e);
VS_MUST_USE vs_status elab_redo_end(elab *e, ckt_redone *what);
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
/* Is a detail of a device (ckt_find_detail) something that its model has computed? */
bool elab_is_computed(const char *name, const ckt_detail *d);
/* What is to be written: .save/.print if there are any, else (or for `all`) every node voltage of
 * the top level and below and the currents of the voltage sources; with `branches` also the
 * currents of other branches that are unknowns (inductors, controlled voltage sources).
 * A name that is nowhere gets a warning in d and is left out.
 *   out  out  vec, the caller frees it; names live in `names` */
void elab_outputs(elab_out **out, const ckt *c, const flat *f, diag *d, str_pool *names,
                  bool branches);

typedef struct elab_node_value { /* as ana_node_value */
    int32_t unknown;
    double value;
} elab_node_value;
/* .ic and .nodeset as vecs; the caller frees them. */
void elab_ics(elab_node_value **ic, elab_node_value **nodeset, const ckt *c, const flat *f);

#endif
