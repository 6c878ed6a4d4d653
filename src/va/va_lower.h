/* va_lower.h - shared by the files that turn the typed tree into IR.
 * Method: every variable element has a slot whose current SSA value is `cur[slot]`. A region
 *         (if, loop) writes the slots it changes into a log; at its end the log tells which slots
 *         need a phi. Accumulators of branches, arguments of ddt() and the like are slots too.
 * If a pass finds out too late that a branch needs a current unknown, it notes that in lw_branch,
 * and the module is lowered again from the start. */
#ifndef VA_LOWER_H
#define VA_LOWER_H

#include "va_ast.h"

/* Values are ir_val of L->fn; a type's default is 0. After L->stop functions give L->zero_f and do
 * nothing. Slots and values live in vecs of the lw, expressions and texts in the unit's arena. */

/* Inputs that exist only until va_finish replaces them: flows of switch branches that are read
 * (va_read.c), port currents I(<port>), derivatives asked for by ddx(), and the unknowns that they
 * derive by. */
enum {
    LW_READ = 1 << 18,
    LW_PORT = 1 << 19,
    LW_DDX = 1 << 20,
    LW_PERT_NODE = 1 << 21,
    LW_PERT_FLOW = 1 << 22
};

typedef struct lw_branch {
    const char *name;
    int32_t hi, lo; /* nodes, -1: reference */
    diag_span span;
    /* kept between passes */
    bool has_pot;      /* some potential contribution */
    bool need_current; /* its flow is read before it is complete, or nothing contributes */
    /* of this pass */
    bool has_flow, probed; /* probed: flow read outside of its own potential contribution */
    bool is_sum;   /* where it is no potential source, what was read is the sum of its flows */
    int32_t probe; /* of its flow, if a switch branch is read */
    int32_t slot;  /* of flow; potential, "is potential", "is literal 0" follow; -1: unused */
    int32_t last_contrib, first_read; /* sequence numbers, 0: none */
} lw_branch;

typedef enum lw_probe_kind { LW_NODES, LW_FLOW, LW_IMPLICIT } lw_probe_kind;
typedef struct lw_probe {
    lw_probe_kind kind;
    int32_t a, b; /* nodes; or branch; or number of the implicit equation */
} lw_probe;

typedef struct lw_ddx {
    ir_val e;   /* to be derived */
    int32_t by; /* k of the perturbation */
} lw_ddx;

typedef struct lw_native { /* va_native before unknowns have numbers: implicit equations, -1: none
                            */
    va_native_kind kind;
    int32_t eq[VA_NATIVE_UNKNOWNS];
} lw_native;

typedef struct lw_log {
    int32_t slot;
    ir_val old;
} lw_log;

typedef struct lw {
    va_ctx *c;
    va_mod *m;    /* module whose text is lowered */
    va_mod *pset; /* paramset or NULL */
    va_module *out;
    ir_fn *fn;
    arena *keep;       /* of the unit: names that outlive the compilation */
    bool params;       /* lowering the params function */
    bool failed, stop; /* error; limit reached */
    bool again;        /* restart the pass */
    int64_t work;
    int32_t param_base; /* paramset: number of its own parameters */
    ir_val *pval;       /* params function: value of each parameter so far */
    bool *pinst;        /* vec: parameter depends on the instance */

    ir_val *cur;      /* vec by slot */
    uint8_t *type;    /* vec by slot: ir_type */
    int32_t *stamp;   /* vec by slot */
    ir_val *then_val; /* vec by slot, valid where stamp says so */
    int32_t now;      /* last stamp given */
    lw_log *log;      /* vec */
    int32_t frame;    /* first slot of the function being inlined */
    int inline_depth, loop_depth;
    ir_val zero_f, zero_i, zero_b; /* visible everywhere */

    lw_branch *br;   /* vec: declared branches first */
    map br_of;       /* pair of nodes -> unnamed branch */
    lw_probe *probe; /* vec */
    map probe_of;
    bool *node_used, *node_ddx; /* [n_node] */
    int32_t seq;
    int32_t own_pot;        /* branch whose potential contribution is being lowered, -1: none */
    lw_ddx *ddx;            /* vec */
    int32_t *ddt;           /* vec: slot of each argument */
    int32_t *psd, *nexp;    /* vecs by noise source */
    int32_t *limnew;        /* vec by $limit: slot of the value used; the flag "was used" follows */
    int32_t *state;         /* vec: slots of operators' states, numbered behind the variables */
    ir_val *state_in;       /* vec: their values at the last point, read ahead of everything else */
    int32_t most_state;     /* so many the passes so far needed */
    int32_t *implicit;      /* vec by equation: slot of the residual; the flag "is used" follows */
    lw_native *native;      /* vec */
    int32_t limited, bound; /* slots */
    bool bound_used;
    ir_val event_cond; /* inside a hoisted initial_step: its condition; IR_NONE: outside */
    bool has_port;     /* some I(<port>) */
    bool has_read;     /* some LW_READ */
    ir_val *init_val;  /* vec by variable slot: value before the first point */
} lw;

/* As va_error, once for each place and format, whatever the number of unrolled rounds and inlined
 * calls. The module counts as failed. */
void lw_error(lw *L, diag_span at, int32_t macro, const char *fmt, ...) VS_PRINTF(4, 5);

/* -- building with folding (va_lower_expr.c) -- */
/* false: v is no constant. *x: its value, integers and truth values too. */
bool lw_konst(const lw *L, ir_val v, double *x);
/* An operation; with constant operands its value, by ir_eval_op. lw_sel: c ? a : b. */
ir_val lw_un(lw *L, ir_op op, ir_val a);
ir_val lw_bin(lw *L, ir_op op, ir_val a, ir_val b);
ir_val lw_sel(lw *L, ir_val c, ir_val a, ir_val b);
/* Constants: real, integer, truth value. */
ir_val lw_f(lw *L, double x);
ir_val lw_i(lw *L, int32_t x);
ir_val lw_b(lw *L, bool x);
/* v converted as the LRM converts (4.2.1.1: reals are rounded, a truth value is 0 or 1; not 0 is
 * true); v itself if it has the type. */
ir_val lw_real(lw *L, ir_val v);
ir_val lw_int(lw *L, ir_val v);
ir_val lw_bool(lw *L, ir_val v);
ir_val lw_as(lw *L, ir_val v, ir_type t);
/* A dynamic input: temperature, time, gmin, ... */
ir_val lw_dyn(lw *L, ir_dyn k);
/* Of a va_type: variables that are not real are integers. */
ir_type lw_ir_type(int va_type);
/* The value of a checked expression, with what it does besides (assignments by calls, accesses). */
ir_val lw_expr(lw *L, const va_expr *e);
/* false: e is no constant here. *k: its value as an integer. */
bool lw_const_index(lw *L, const va_expr *e, int32_t *k);

/* -- slots and regions (va_lower_stmt.c) -- */
/* The number of a new slot whose value is init. */
int32_t lw_new_slot(lw *L, ir_type t, ir_val init);
/* Assigns v, which has the slot's type, and logs the old value. */
void lw_set(lw *L, int32_t slot, ir_val v);
/* An if: lw_if, the first arm, lw_else, the second, lw_end_value; in both arms lw_set. */
typedef struct lw_region {
    ir_val iff;
    size_t mark;      /* of L->log where the region begins */
    lw_log *then_mod; /* vec: slot and value at the end of the first arm */
} lw_region;
lw_region lw_if(lw *L, ir_val c);
void lw_else(lw *L, lw_region *r);
/* Closes the region, which it frees: slots that an arm changed get phis. Returns the phi of a value
 * that both arms made; IR_NONE where then_v is IR_NONE. */
ir_val lw_end_value(lw *L, lw_region *r, ir_val then_v, ir_val else_v);
/* s NULL: nothing. Loops with constant bounds are unrolled. */
void lw_stmt(lw *L, const va_stmt *s);
/* The (first) slot of a variable: of the module, or of the call that is being inlined. */
int32_t lw_slot_of(const lw *L, const va_sym *y);
/* Inlines the call `at` of f, and returns its result. arg: values, arrays element by element; out:
 * by argument the expressions that outputs are assigned to, NULL: none. Recursion is an error. */
ir_val lw_inline(lw *L, const va_expr *at, va_func *f, const ir_val *arg, va_expr *const *out);
/* y = v, or y[index] = v; an index that is not constant selects among all elements. */
void lw_assign_elem(lw *L, const va_sym *y, const va_expr *index, ir_val v);

/* -- branches, operators (va_lower_analog.c) -- */
typedef struct lw_target {
    int32_t branch; /* -1 until needed (plain potential read of nodes) */
    int32_t hi, lo;
    int sign;
} lw_target;
/* The value of V(..), I(..) or I(<port>). */
ir_val lw_access(lw *L, const va_expr *e);
/* access <+ expression: adds to the branch's flow or potential, and discards what the other kind
 * has accumulated (LRM 5.6.1.2). */
void lw_contrib(lw *L, const va_stmt *s);
/* The first of the 4 slots of the branch that an access names: flow, potential, "is potential", "is
 * literal 0"; -1: it is no access, or was refused. */
int32_t lw_contrib_slot(lw *L, const va_expr *access);
/* Inputs of the model: the current unknown of a branch, A; the voltage between two nodes (-1: the
 * reference), V; unknown k of the implicit equations. Where the module has ddx(), each with the
 * perturbation that ddx() derives by. */
ir_val lw_flow_probe(lw *L, int32_t branch);
ir_val lw_node_probe(lw *L, int32_t hi, int32_t lo);
ir_val lw_implicit_probe(lw *L, int32_t k);
/* An unknown y with an equation of its own: `arg` and `res` are slots, dy = d(arg)/dt, res = 0 is
 * the equation. */
typedef struct lw_equation {
    ir_val y, dy;
    int32_t arg, res;
    int32_t k; /* its number */
} lw_equation;
lw_equation lw_new_equation(lw *L);
/* Message, and true, where e stands in a loop that is not unrolled: an operator has state. */
bool lw_refuse_in_loop(lw *L, const va_expr *e);
/* ddt, idt, ddx, $limit, and by lw_time_operator those with a history. */
ir_val lw_operator(lw *L, const va_expr *e);

/* -- operators with a history, events (va_lower_time.c) -- */
ir_val lw_time_operator(lw *L, const va_expr *e);
/* A truth value: does the event cross, above or timer happen at this point? */
ir_val lw_event(lw *L, const va_expr *e);

/* -- va_read.c -- */
void va_find_reads(lw *L); /* sets is_sum of the branches */
void va_put_reads(lw *L);  /* LW_READ inputs become what they stand for */

/* -- va_finish.c -- */
/* Copies instruction i of `from`, whose operands are at vmap[] in `to`. */
ir_val lw_copy_inst(ir_fn *to, const ir_fn *from, ir_val i, const ir_val *vmap);
/* Turns L->fn into the functions of the module: ddx() and port currents are resolved, operators'
 * states numbered, parts optimized and cut into setup and evaluation. */
void va_finish(lw *L);

#endif
