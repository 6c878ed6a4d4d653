/* mdl_pass.h - the pipeline of passes from a lowered module to the code of a kernel.
 * Use:    mdl_pipe_of, then the passes of a module, a form or a variant; p.fn is the caller's.
 * The list below says of each pass what the function must have, and what the pass adds and breaks;
 * everything else it keeps. mdl_pass.c checks that in every build, has each result verified
 * (ir_verify) in debug builds, in tests and with a dump, and shows the pass that is asked for. */
#ifndef MDL_PASS_H
#define MDL_PASS_H

#include "mdl_priv.h"

enum { MDL_NO_FORM = -1 }; /* of a pipe: passes of the module */
typedef enum mdl_has {
    MDL_HAS_HEAD = 1 << 0,     /* inputs and constants stand first, each once */
    MDL_HAS_SMALL = 1 << 1,    /* no value is unused or computed twice */
    MDL_HAS_ROWS = 1 << 2,     /* one RES and at most one REACT a row, before all other outputs */
    MDL_HAS_NO_DDT = 1 << 3,   /* no symbols of ddt */
    MDL_HAS_SCALED = 1 << 4,   /* rows and noise are those of m devices */
    MDL_HAS_JACOBIAN = 1 << 5, /* G, C, J and gains */
    MDL_HAS_NO_NOISE = 1 << 6, /* no symbols of noise sources */
    MDL_HAS_FORM = 1 << 7,     /* outputs and effects of one form only */
    MDL_HAS_DECIDED = 1 << 8,  /* what a variant knows is constant, what cannot run is gone */
    MDL_HAS_PLACED = 1 << 9,   /* one output a place of the matrix */
    MDL_HAS_APART = 1 << 10,   /* static values come from the cache that setup fills */
    MDL_HAS_LANES = 1 << 11    /* no branch, no effect: any lanes run together */
} mdl_has;

typedef struct mdl_facts { /* what ir_sccp takes: which values are known, and their values */
    uint8_t *known;        /* [n_inst], or NULL: nothing is decided */
    ir_num *val;
} mdl_facts;

/* What passes work on. A pass reads *in and leaves its result in fn; from then on in is &fn. */
typedef struct mdl_pipe {
    mdl_model *m;
    int form; /* mdl_form_kind, FORM_TOPOLOGY, FORM_IDLE; MDL_NO_FORM */
    const ir_fn *in;
    ir_fn fn;
    unsigned has; /* mdl_has of *in */
    /* of a variant */
    mdl_facts facts;
    const int32_t *topology; /* [n_unknown] */
    ir_sccp_stats *stats;
    ir_ifconv_stats *ifconv;
    ir_fn setup, kernel; /* results beside fn, which is the evaluation */
    int n_cache;         /* values that setup hands over */
} mdl_pipe;

/* form MDL_NO_FORM: from is the lowered function; a form: m->full; a variant: the form's function.
 */
mdl_pipe mdl_pipe_of(mdl_model *m, int form, const ir_fn *from);
void mdl_pass_module(mdl_pipe *p);
void mdl_pass_form(mdl_pipe *p);
void mdl_pass_variant(mdl_pipe *p);
/* Called after each pass: gives an error in diag and returns false if ir_verify does not accept fn.
 * Public for tests. */
bool mdl_pass_verify(const mdl_pipe *p, mdl_pass pass, const ir_fn *fn);

/* -- the passes that are not in src/ir; each changes fn in place -- */
void mdl_charge(mdl_model *m, ir_fn *fn); /* adds unknowns and probes to m */
void mdl_mult(const mdl_model *m, ir_fn *fn);
void mdl_deriv(mdl_model *m, ir_fn *fn); /* counts m->n_derivative */
void mdl_pick(const mdl_model *m, int form, ir_fn *to, const ir_fn *from);
/* topology NULL: the unknowns as they are. n_noise: sources of the module. */
void mdl_merge(ir_fn *fn, const int32_t *topology, size_t n_noise);

/* -- analyses between them -- */
void mdl_find_quiet(mdl_model *m);
/* Sets ir_out.still of each G of a static form. */
void mdl_mark_still(const mdl_model *m, ir_fn *fn);
/* Sets ir_out.by_gmin of what a variant computes, and ir_input.by_gmin of its probes. */
void mdl_mark_gmin(ir_fn *fn);
/* Finds the internal unknowns of parts of the module that nothing drives with some parameters, and
 * that no noise source reaches. */
void mdl_find_may_idle(mdl_model *m);
void mdl_find_border(form_fn *f);

/* -- decisions (mdl_decide.c) -- */
/* Appends a code for each of f->decide, then the topology. Without specialisation nothing is
 * decided. Status: VS_OK, VS_NOCONV (a loop without end). */
VS_MUST_USE vs_status mdl_decide(mdl_model *m, const row_data *r, form_fn *f, uint8_t **key);
/* The code of one value, of instruction `in` and dependence class cls. */
uint8_t mdl_decide_code(ir_num v, const ir_inst *in, uint8_t cls);
/* Arrays are the caller's. */
mdl_facts mdl_decided(const mdl_model *m, const form_fn *f, const uint8_t *key,
                      const int32_t *topology);
/* What is known in both of two decisions. If one of them does not run the code, the other one's
 * decision stays; a zero is known only if both are zero. */
uint8_t mdl_decide_meet(uint8_t a, uint8_t b);

/* -- small helpers of passes -- */
ir_val mdl_find_out(const ir_fn *fn, int kind, int32_t a); /* IR_NONE: there is none */
ir_val mdl_sum(ir_fn *fn, ir_val a, ir_val b);             /* either may be IR_NONE: zero */
ir_val mdl_as_f64(ir_fn *fn, ir_val v);
/* Seeds of ir_ad to the vec: probes and noise symbols by their inputs, limited probes. */
void mdl_probe_seeds(const mdl_model *m, const ir_fn *fn, int32_t **seed);
/* Derivatives of a value by the unknowns, entry [n_unknown], IR_NONE: 0.
 *   seed   in  vec: as above; fn has the inputs
 *   deriv  in  [seeds] by each of them */
void mdl_by_unknown(const mdl_model *m, ir_fn *fn, const int32_t *seed, const ir_val *deriv,
                    ir_val *entry);

#endif
