/* osdi.h - compiled device models in OSDI libraries (.osdi files of OpenVAF), the second kind of
 * module.
 * Use:    osdi_lib_new; osdi_load per file; osdi_find a module by name; osdi_model_get per
 *         parameter set; osdi_inst_new per device; src/ckt evaluates and stamps; osdi_lib_free
 *         frees all of it.
 * Source: the OSDI specification, versions 0.3 to 0.5 (osdi_abi.h).
 *
 * An instance works on local vectors: its node map is the identity, so that unknowns are gathered
 * into x[n_node] and residuals come back as r[n_node]; every entry of its Jacobian goes to one
 * place of a buffer that all instances of a library share. Nodes that are collapsed share one
 * unknown of the circuit, where their residuals add up. */
#ifndef OSDI_H
#define OSDI_H

#include "diag.h"
#include "ir.h"
#include "osdi_abi.h"

typedef struct osdi_lib osdi_lib;
typedef struct osdi_file osdi_file;

typedef struct osdi_node {
    const char *name;
    bool flow;     /* a branch current; else a node */
    double abstol; /* as the nature declares it; 0: not known or that of volt or ampere */
    double res_abstol;
    bool volt, ampere; /* its unit */
    bool aside; /* a temperature, or an inner node that is compared with ground alone: what follows
                   it, and what it follows, is joined to it by no current */
} osdi_node;

typedef struct osdi_module {
    const osdi_abi_descriptor *abi;
    const osdi_file *file;
    osdi_lib *lib;
    const char *name; /* lower case */
    int32_t n_node, n_terminal;
    osdi_node *node; /* [n_node] */
    int32_t mfactor; /* id of the parameter $mfactor, -1: none */
} osdi_module;

osdi_lib *osdi_lib_new(void);       /* empty; never NULL */
void osdi_lib_free(osdi_lib **lib); /* and every model and instance made from it */
/* Loads the modules of a file. Loading it again does nothing.
 *   at  where messages point
 * Status: VS_OK; VS_EIO: no such file; VS_EINPUT: it is no OSDI library, of an unknown version, or
 * needs something that vsim lacks (absdelay). */
VS_MUST_USE vs_status osdi_load(osdi_lib *lib, const char *path, diag *d, diag_span at);
/* Hides the modules of all loaded files from osdi_find. osdi_load shows those of its file again. */
void osdi_forget_loads(osdi_lib *lib);
const osdi_module *osdi_find(const osdi_lib *lib, const char *name); /* any case; NULL: none */
int32_t osdi_n_module(const osdi_lib *lib);

/* The voltages that the module reads, pairs of its nodes, -1: ground. How many, -1: its library
 * does not tell (0.3). */
int32_t osdi_n_input(const osdi_module *m);
void osdi_input(const osdi_module *m, int32_t k, int32_t *hi, int32_t *lo);

/* The id of a parameter or operating-point variable by name or alias, case ignored; -1: none. */
int32_t osdi_param(const osdi_module *m, const char *name);
int32_t osdi_n_param(const osdi_module *m);
int32_t osdi_n_opvar(const osdi_module *m); /* ids n_param .. n_param + n_opvar - 1 */
const char *osdi_param_name(const osdi_module *m, int32_t id);
bool osdi_param_is_inst(const osdi_module *m, int32_t id);
int osdi_param_type(const osdi_module *m, int32_t id); /* OSDI_TYPE_* */
bool osdi_param_is_array(const osdi_module *m, int32_t id);

typedef struct osdi_set { /* one given parameter */
    int32_t id;
    double value;
    const char *str; /* of a string parameter */
    diag_span span;
} osdi_set;

typedef struct osdi_env {
    diag *d;
    diag_span at;    /* of the instance, for messages */
    const char *who; /* its name */
    double kelvin;
    const double *simparam; /* [IR_N_SIMPARAM] */
} osdi_env;

typedef struct osdi_model osdi_model; /* model data of one set of model parameters */
/* The model with the parameters set[n], among which may be defaults of instance parameters. Equal
 * sets give the same model, which the library owns.
 * Status: VS_OK; VS_EINPUT: a value is out of range (the message names the parameter). */
VS_MUST_USE vs_status osdi_model_get(osdi_model **model, const osdi_module *m, const osdi_set *set,
                                     size_t n, const osdi_env *env);

typedef struct osdi_inst {
    const osdi_module *module;
    osdi_model *model;
    void *data;
    const char *name;
    int32_t n_terminal; /* connected ones */
    int32_t *one_with;  /* [n_node] node that it is collapsed with; itself: none; -1: the reference
                           */
    uint32_t ret;       /* flags that the last evaluation returned */
} osdi_inst;
/* Makes an instance, which the library owns.
 *   set         [n] instance parameters
 *   n_terminal  how many terminals are connected, the first ones
 *   mfactor     devices in parallel
 * Status: VS_OK; VS_EINPUT: a value is out of range (the message names the parameter). */
VS_MUST_USE vs_status osdi_inst_new(osdi_inst **inst, osdi_model *model, const osdi_set *set,
                                    size_t n, int32_t n_terminal, double mfactor,
                                    const osdi_env *env);

typedef struct osdi_dyn { /* what an evaluation sees besides its unknowns */
    uint32_t flags;       /* OSDI_CALC_*, OSDI_ANALYSIS_*, ... */
    double time, gmin, srcfact, iteration;
} osdi_dyn;
/* To call before the evaluations of a load: sets the values of $simparam. */
void osdi_begin(osdi_lib *lib, const double *simparam, const osdi_dyn *dyn);
/* Evaluates the instance at x[n_node]. old_state, new_state [n_state] are its limited voltages of
 * the last and of this evaluation. The model's messages go to the line sink. */
void osdi_eval(osdi_inst *in, const osdi_dyn *dyn, double *x, double *old_state, double *new_state);
/* Results of the last evaluation, added to r, q [n_node]: with limiting, r is the linear
 * continuation f(xl) + J (x - xl), so that r at x fits the Jacobian. */
void osdi_residual(osdi_inst *in, double *r);
void osdi_charge(osdi_inst *in, double *q);
/* The entries of abi->jacobian as G, G + alpha C (alpha in 1/s), or C of the last evaluation:
 * [n_jacobian], valid until the next call for a module of this kind. */
const double *osdi_jacobian_g(osdi_inst *in);
const double *osdi_jacobian_tran(osdi_inst *in, double alpha);
const double *osdi_jacobian_c(osdi_inst *in);
/* density [n_noise]: spectral densities at freq Hz, A^2/Hz, after an evaluation with
 * OSDI_CALC_NOISE. */
void osdi_noise(osdi_inst *in, double freq, double *density);
/* Value of a parameter or operating-point variable after an evaluation with OSDI_CALC_OP. */
double osdi_value(const osdi_inst *in, int32_t id);
double osdi_bound_step(const osdi_inst *in); /* +inf: none */

/* Sets the function that takes the models' messages ($strobe, $warning, ...); level: OSDI_LOG_*. */
void osdi_set_line_sink(osdi_lib *lib,
                        void (*line)(void *user, const char *who, const char *text, int level),
                        void *user);

#endif
