/* ir.h - structured SSA: the form in which vsim holds a device model.
 *
 * A function is one list of instructions in execution order; the index of an instruction is the
 * name of the value that it defines. Control flow is structured: regions are bracketed in the list,
 *
 *     if c ... else ... end   followed at once by phis:   v = phi if, then_value, else_value
 *     loop   followed at once by lphis:   v = lphi init, next   ... while c ... endloop
 *
 * so a pass is one walk over the list with a stack, "dominates" means "earlier, and its region is
 * still open", and if-conversion is a local rewrite. A value defined inside a region is used only
 * inside it or by the phis behind its `end`. `lphi` values are visible after `endloop` (the value
 * at exit); `else` is always present. Compact models need no more: Verilog-A has no goto.
 *
 * Use:    ir_fn_init, ir_emit*, ir_out_add; passes rewrite a function into a new one; ir_fn_fini.
 * Text:   docs/ir.md; ir_print, ir_read.
 * Types:  F64; I32 (Verilog-A integer, wraps, 32 bits); BOOL. Strings are I32 ids of the string
 * pool. */
#ifndef IR_H
#define IR_H

#include "arena.h"
#include "map.h"
#include "option.h"
#include "vec.h"

#include <stdio.h>

typedef int32_t ir_val;
enum { IR_NONE = -1 };

typedef enum ir_type { IR_VOID, IR_F64, IR_I32, IR_BOOL } ir_type;

/*  X(op, name, result, n operands)   operand types follow from the family (see ir_verify) */
/* clang-format off */
#define IR_OP_LIST(X)                                                                          \
    X(CONST, "const", VOID, 0)  /* con[a]; typed                                            */ \
    X(IN, "in", VOID, 0)        /* in[a]; typed                                             */ \
    X(NEG, "neg", F64, 1) X(ADD, "add", F64, 2) X(SUB, "sub", F64, 2) X(MUL, "mul", F64, 2)    \
    X(DIV, "div", F64, 2) X(MIN, "min", F64, 2) X(MAX, "max", F64, 2) X(ABS, "abs", F64, 1)    \
    X(FLOOR, "floor", F64, 1) X(CEIL, "ceil", F64, 1) X(FMOD, "fmod", F64, 2)                  \
    X(SQRT, "sqrt", F64, 1) X(EXP, "exp", F64, 1) X(LN, "ln", F64, 1) X(POW, "pow", F64, 2)    \
    X(LOG10, "log10", F64, 1) X(SIN, "sin", F64, 1) X(COS, "cos", F64, 1) X(TAN, "tan", F64, 1)\
    X(ASIN, "asin", F64, 1) X(ACOS, "acos", F64, 1) X(ATAN, "atan", F64, 1)                    \
    X(ATAN2, "atan2", F64, 2) X(SINH, "sinh", F64, 1) X(COSH, "cosh", F64, 1)                  \
    X(TANH, "tanh", F64, 1) X(ASINH, "asinh", F64, 1) X(ACOSH, "acosh", F64, 1)                \
    X(ATANH, "atanh", F64, 1) X(HYPOT, "hypot", F64, 2)                                        \
    X(EXPM1, "expm1", F64, 1) X(LOG1P, "log1p", F64, 1)                                        \
    X(FLT, "flt", BOOL, 2) X(FLE, "fle", BOOL, 2) X(FEQ, "feq", BOOL, 2) X(FNE, "fne", BOOL, 2)\
    X(INEG, "ineg", I32, 1) X(IADD, "iadd", I32, 2) X(ISUB, "isub", I32, 2)                    \
    X(IMUL, "imul", I32, 2) X(IDIV, "idiv", I32, 2) /* x/0 is 0, INT_MIN/-1 wraps */           \
    X(IMOD, "imod", I32, 2) X(ISHL, "ishl", I32, 2) X(ISHR, "ishr", I32, 2)                    \
    X(IAND, "iand", I32, 2) X(IOR, "ior", I32, 2) X(IXOR, "ixor", I32, 2) X(INOT, "inot", I32, 1)\
    X(ILT, "ilt", BOOL, 2) X(ILE, "ile", BOOL, 2) X(IEQ, "ieq", BOOL, 2) X(INE, "ine", BOOL, 2)\
    X(BAND, "band", BOOL, 2) X(BOR, "bor", BOOL, 2) X(BXOR, "bxor", BOOL, 2) \
    X(BNOT, "bnot", BOOL, 1) \
    X(I2F, "i2f", F64, 1) X(F2I, "f2i", I32, 1) /* nearest, ties away from 0, saturating; NaN 0 */ \
    X(B2I, "b2i", I32, 1) X(B2F, "b2f", F64, 1)                                                \
    X(SELECT, "select", VOID, 3) /* a ? b : c; type of b */                                    \
    X(LIMIT, "limit", F64, 1)    /* a itself; b (not a value): limited probe, a seed of ir_ad */ \
    X(IF, "if", VOID, 1) X(ELSE, "else", VOID, 0) X(END, "end", VOID, 0)                       \
    X(PHI, "phi", VOID, 3)       /* a: the IF; b: value of then; c: value of else */           \
    X(LOOP, "loop", VOID, 0)                                                                   \
    X(LPHI, "lphi", VOID, 3)     /* a: the LOOP; b: init; c: next */                           \
    X(WHILE, "while", VOID, 1) X(ENDLOOP, "endloop", VOID, 0)                                  \
    X(EFFECT, "effect", VOID, 0) /* eff[a]; interpreter only, kernels skip it */
/* clang-format on */

typedef enum ir_op {
#define X(op, name, result, n) IR_##op,
    IR_OP_LIST(X)
#undef X
        IR_N_OP
} ir_op;

typedef struct ir_inst {
    uint8_t op;   /* ir_op */
    uint8_t type; /* ir_type of the value, IR_VOID for markers */
    uint16_t pad;
    ir_val a, b, c; /* operands; for CONST, IN, EFFECT a is an index of con, in, eff */
} ir_inst;
/* Markers carry the places of their partners in the fields that hold no operand; ir_emit fills them
 * in, nobody else writes them:  IF: b ELSE, c END.  ELSE: a IF, b END.  END: a IF.
 * LOOP: a WHILE, b ENDLOOP.  WHILE: b ENDLOOP, c LOOP.  ENDLOOP: a LOOP. */

/* Where a value comes from. Static kinds (known once the instance, its parameters, the temperature
 * and the options are known) stand before IR_IN_ABSTIME. */
/* clang-format off */
#define IR_IN_LIST(X)                                                                              \
    X(PARAM, "param", MODEL)       /* k: parameter; class MODEL or INST by ir_input.inst        */ \
    X(GIVEN, "given", MODEL)       /* k: parameter; BOOL                                        */ \
    X(PORTCONN, "portconn", INST)  /* k: port; BOOL                                             */ \
    X(MFACTOR, "mfactor", INST)                                                                    \
    X(TEMP, "temp", TEMP)          /* kelvin; the instance's own, dtemp included by the model   */ \
    X(SIMPARAM, "simparam", TEMP)  /* k: ir_simparam, fixed during a run                        */ \
    X(CACHE, "cache", TEMP)        /* k: setup value; only after the split                      */ \
    X(ABSTIME, "abstime", TIME)    /* seconds                                                   */ \
    X(DYN, "dyn", TIME)            /* k: ir_dyn, the same for all instances                     */ \
    X(STATE, "state", X)           /* k: value kept from the last accepted time point           */ \
    X(LIMOLD, "limold", X)         /* k: limited probe of the last iteration                    */ \
    X(PROBE, "probe", X)           /* k: probe, volts or amperes                                */ \
    X(DDT, "ddt", X)               /* k: symbol of the k-th ddt(); gone after mdl_form          */ \
    X(NOISE, "noise", X)           /* k: symbol of the k-th noise source; gone after mdl_form   */
/* clang-format on */
typedef enum ir_in_kind {
#define X(kind, name, cls) IR_IN_##kind,
    IR_IN_LIST(X)
#undef X
        IR_N_IN
} ir_in_kind;

/* Dependence classes, a bit each; a value has the union over everything it was computed from,
 * the conditions that chose it included. Static: no bit from TIME up. */
typedef enum ir_class {
    IR_CLASS_CONST = 0,
    IR_CLASS_MODEL = 1,
    IR_CLASS_INST = 2,
    IR_CLASS_TEMP = 4,
    IR_CLASS_TIME = 8,
    IR_CLASS_X = 16
} ir_class;
#define ir_class_static(cls) ((cls) < IR_CLASS_TIME)

/* Scalars that change during a run, the same for every instance (kernel argument dyn[]). */
typedef enum ir_dyn {
    IR_DYN_ALPHA,   /* leading coefficient of d/dt, 1/s; 0 in static analyses */
    IR_DYN_GMIN,    /* siemens, may be raised by homotopy */
    IR_DYN_SRCFACT, /* source stepping factor 0..1 */
    IR_DYN_ITER,    /* Newton iteration, 1-based */
    IR_DYN_INITIAL_STEP,
    IR_DYN_FINAL_STEP, /* 0 or 1 */
    IR_DYN_LIMIT,      /* 1: $limit acts */
    IR_DYN_IS_DC,      /* analysis("dc") or static: op and dc sweeps, tran's first point */
    IR_DYN_IS_TRAN,
    IR_DYN_IS_AC,
    IR_DYN_IS_NOISE,
    IR_DYN_IS_IC,
    IR_DYN_IS_NODESET,
    IR_DYN_IS_STATIC,
    IR_DYN_ABSTIME, /* kernel slot of IR_IN_ABSTIME */
    IR_DYN_FREQ,    /* hertz in small-signal analyses, 0 elsewhere */
    IR_N_DYN
} ir_dyn;

/* $simparam names with a fixed value during a run (IR_IN_SIMPARAM): options, and two of our own.
 * gmin, sourceScaleFactor, iteration and hertz are IR_IN_DYN instead. */
#define IR_SIMPARAM_LIST(X)                                             \
    OPTION_MODEL_LIST(X)                                                \
    X(simulatorVersion, double, 1.0, NUMBER, "the simulator's version") \
    X(simulatorSubversion, double, 0.0, NUMBER, "its second part, of none")
typedef enum ir_simparam {
#define X(name, ...) IR_SIMPARAM_##name,
    IR_SIMPARAM_LIST(X)
#undef X
        IR_N_SIMPARAM
} ir_simparam;
extern const double ir_simparam_default[IR_N_SIMPARAM];

typedef struct ir_input {
    uint8_t kind; /* ir_in_kind */
    uint8_t type; /* ir_type */
    bool inst;    /* PARAM, GIVEN: an instance parameter */
    int32_t k;
    bool by_gmin; /* PROBE of a variant: no current or charge follows it but with gmin */
} ir_input;

/* What a function computes. a, b: equation row and unknown column of the module, or an index. */
/* clang-format off */
#define IR_OUT_LIST(X)                                                                         \
    X(RES, "res")           /* a: row; i(x), current INTO the device at that terminal, ampere */ \
    X(REACT, "react")       /* a: row; q(x), coulomb; the row's residual is i + dq/dt         */ \
    X(G, "G")               /* a: row, b: unknown; di/dx                                      */ \
    X(C, "C")               /* a: row, b: unknown; dq/dx                                      */ \
    X(J, "J")               /* a: row, b: unknown; G + alpha C                                */ \
    X(NOISE_PSD, "psd")     /* a: source; PSD at 1 Hz (white: at all)                         */ \
    X(NOISE_EXP, "nexp")    /* a: source; PSD ~ f^-value (0 for white)                        */ \
    X(NOISE_GAIN, "ngain")  /* a: source, b: row; factor of its amplitude                     */ \
    X(NOISE_GAINC, "ngainc")/* a: source, b: row; factor of d/dt of its amplitude             */ \
    X(DDT_ARG, "ddtarg")    /* a: ddt symbol; its argument; gone after mdl_form               */ \
    X(STATE, "state")       /* a: state; its value if this point is accepted                  */ \
    X(LIMNEW, "limnew")     /* a: limited probe; value used in this evaluation                */ \
    X(LIMITED, "limited")   /* BOOL as 0/1: some probe was moved by limiting                  */ \
    X(BOUND_STEP, "bound")  /* largest next step, seconds                                     */ \
    X(OPVAR, "opvar")       /* a: operating-point variable                                    */ \
    X(ISPOT, "ispot")       /* a: branch; BOOL: its current is an unknown (V contribution)    */ \
    X(COLLAPSE, "collapse") /* a: branch; BOOL: V(branch) <+ 0, its nodes are one             */ \
    X(DROP, "drop")         /* a: unknown; BOOL: unknown not in use (switch branch as flow)   */ \
    X(CACHE, "cache")       /* a: setup value; set at top level or inside a region            */ \
    X(BY, "by")             /* a: setup value; derivative by it (ir_reverse)                 */ \
    X(PARAM, "param")       /* a: parameter; its value after defaults (params function)       */ \
    X(PARAM_OK, "paramok")  /* a: parameter; BOOL: inside its range                           */
/* clang-format on */
typedef enum ir_out_kind {
#define X(kind, name) IR_OUT_##kind,
    IR_OUT_LIST(X)
#undef X
        IR_N_OUT
} ir_out_kind;

typedef struct ir_out {
    uint8_t kind;    /* ir_out_kind */
    uint8_t still;   /* G of a static form: 1 if it is 0 while the unknowns of rates (ddt) are 0 */
    uint8_t by_gmin; /* of a variant: 1 if it is 0 where gmin is */
    int32_t a, b;
    ir_val v; /* a value visible at the end of the function */
} ir_out;

/* $strobe and its family. Arguments are values visible where the EFFECT stands. */
typedef enum ir_eff_kind {
    IR_EFF_STROBE,
    IR_EFF_DISPLAY,
    IR_EFF_WRITE,
    IR_EFF_MONITOR,
    IR_EFF_DEBUG,
    IR_EFF_INFO,
    IR_EFF_WARNING,
    IR_EFF_ERROR,
    IR_EFF_FATAL,
    IR_EFF_FINISH,
    IR_EFF_STOP,
    IR_EFF_DISCONTINUITY
} ir_eff_kind;
typedef struct ir_effect {
    uint8_t kind;
    const char *format; /* interned; %d %h %o %b %c %s %e %f %g %r %m (instance path) %%; or NULL */
    ir_val *arg;        /* vec; types tell how to print; %s takes an I32 string id */
    int32_t where;      /* line in the source, for the message */
} ir_effect;

typedef struct ir_fn {
    const char *name;
    ir_inst *inst;  /* vec */
    double *con;    /* vec; interned by bit pattern and type through con_map */
    ir_input *in;   /* vec; interned */
    ir_out *out;    /* vec */
    ir_effect *eff; /* vec */
    map con_map, in_map;
    ir_val *open; /* vec; IF and LOOP regions not closed yet; empty when building is done */
} ir_fn;

/* An empty function; name is not copied. ir_fn_fini frees its vecs. */
void ir_fn_init(ir_fn *fn, const char *name);
void ir_fn_fini(ir_fn *fn);

/* -- building (ir.c): each appends one instruction and returns its value. No folding here. Operands
 * stand before; types are those of the operation's row in the table (asserted). -- */
ir_val ir_emit(ir_fn *fn, ir_op op, ir_type type, ir_val a, ir_val b, ir_val c);
ir_val ir_const(ir_fn *fn, double x); /* F64; the same constant twice gives two instructions */
ir_val ir_const_i(ir_fn *fn, int32_t i);
ir_val ir_const_b(ir_fn *fn, bool b);
/* Reads input k of a kind, which fn->in lists once; inst: its value belongs to the instance. */
ir_val ir_in(ir_fn *fn, ir_in_kind kind, int32_t k, ir_type type, bool inst);
ir_val ir_un(ir_fn *fn, ir_op op, ir_val a); /* result type from the table */
ir_val ir_bin(ir_fn *fn, ir_op op, ir_val a, ir_val b);
ir_val ir_select(ir_fn *fn, ir_val c, ir_val a, ir_val b);
ir_val ir_if(ir_fn *fn, ir_val c); /* returns the IF, an operand of its phis */
void ir_else(ir_fn *fn);
void ir_end(ir_fn *fn);
ir_val ir_phi(ir_fn *fn, ir_val iff, ir_val then_v, ir_val else_v);
/* A loop: LOOP, its LPHIs, what makes the condition, WHILE c, the body, ENDLOOP. */
ir_val ir_loop(ir_fn *fn);
/* Set inst[].c = next before ENDLOOP; not in one statement with the call that makes next: inst
 * moves. */
ir_val ir_lphi(ir_fn *fn, ir_val loop, ir_val init);
void ir_while(ir_fn *fn, ir_val c);
void ir_endloop(ir_fn *fn);
void ir_effect_add(ir_fn *fn, ir_effect eff); /* takes over eff.arg */
int32_t ir_out_add(ir_fn *fn, ir_out_kind kind, int32_t a, int32_t b, ir_val v);

const char *ir_op_name(ir_op op);
int ir_op_arity(ir_op op); /* operands that are values (PHI and LPHI: 2, at b and c) */

/* Types, regions, visibility of operands; on failure *why is a text in `scratch` naming the
 * instruction. The pipeline (src/mdl/mdl_pass.c) calls it after each pass. */
bool ir_verify(const ir_fn *fn, arena *scratch, const char **why);
void ir_print(const ir_fn *fn, FILE *out);
/* Reads the text form (docs/ir.md) and verifies it; fn is initialised by it (after a failure too,
 * so that ir_fn_fini is always right). Names and format strings live in scratch.
 * Status: VS_OK, VS_EINPUT with *why in scratch. */
VS_MUST_USE vs_status ir_read(ir_fn *fn, const char *text, arena *scratch, const char **why);

/* -- meaning (ir_eval.c): the one definition of each operation, used by interpreter and folding --
 */
typedef union ir_num {
    double f;
    int32_t i; /* I32; BOOL as 0 or 1 */
} ir_num;
/* Pure operations only (NEG..SELECT). min is a < b ? a : b, max is a > b ? a : b. Shifts are
 * logical; a count outside 0..31 gives 0. imod: sign of the dividend, x mod 0 is 0. */
ir_num ir_eval_op(ir_op op, ir_num a, ir_num b, ir_num c);
/* The angle of (x, y), of interpreter and kernels. A zero has no sign here: `fold_zero` does not
 * keep it, and the angle at y = 0, x < 0 must not depend on what was folded. It is pi. */
double ir_atan2(double y, double x);

/* Interpreter: runs fn once.
 *   input  in   value of each fn->in entry, in its type   [vec_len(fn->in)]
 *   val    out  value of each instruction that ran         [vec_len(fn->inst)], caller's storage
 *   ran    out  1 for each instruction that ran, or NULL   [vec_len(fn->inst)]
 *   effect      called for each EFFECT that is reached, or NULL; values of its args in val
 * A loop is stopped after 1e7 rounds. Status: VS_OK, VS_NOCONV (loop limit). */
typedef struct ir_host {
    void (*effect)(void *user, const ir_fn *fn, const ir_effect *eff, const ir_num *val);
    void *user;
} ir_host;
VS_MUST_USE vs_status ir_interp(const ir_fn *fn, const ir_num *input, ir_num *val, uint8_t *ran,
                                const ir_host *host);

/* How far the values of a machine's code may be from the interpreter's, when both compute fn with
 * roundings of their own (ir_bound.c), and the machine perhaps with other inputs. fn has no
 * branches.
 *   moved  in   how far F64 inputs may be from `input`; NULL: all are the same [vec_len(fn->in)]
 *   val    out  as ir_interp                                             [vec_len(fn->inst)]
 *   err    out  bound of the difference; 0: none; infinity: any. Of integers and conditions 0 or
 *               infinity                                                 [vec_len(fn->inst)]
 * Status: VS_OK, VS_NOCONV (loop limit). */
VS_MUST_USE vs_status ir_bound(const ir_fn *fn, const ir_num *input, const double *moved,
                               ir_num *val, double *err);

/* -- passes: each writes a new function `to` (initialised by the pass) from `from` -- */

/* ir_opt, ir_sccp and ir_split drop inputs that are not used: to->in is a part of from->in, in its
 * order. Constants and inputs stand at the head of `to`, each once. An `if` with nothing left in
 * its arms becomes selects. An OUT CACHE in an arm that cannot run is dropped. */

/* Copies with constant folding, algebra that is exact in IEEE (x*1, x+(-0), x-0, --x, not x*0
 * unless `fold_zero`), value numbering (scoped by regions, commutative operands ordered), phi of
 * equal values, selection of known branches, removal of everything no output or effect needs. */
typedef struct ir_opt_flags {
    bool once;      /* one round; else rounds until the function does not shrink any more (the last
                     * few per cent, at the price of at least another round) */
    bool fold_zero; /* 0*x is 0 although x may be inf or NaN (a term that a parameter switches off)
                     */
} ir_opt_flags;
void ir_opt(ir_fn *to, const ir_fn *from, ir_opt_flags flags);

/* Sparse conditional constant propagation (Wegman & Zadeck, TOPLAS 13(2), 1991; optimistic also
 * through loops) with some values known beforehand, then rewriting: decided branches become
 * straight code, dead regions vanish; followed by value numbering and dead code removal as ir_opt.
 *   known      per instruction: 0 unknown, 1 use known_val as a constant, 2 only the branch
 *              decision (BOOL) of this value is used where it is the condition of an `if`/`select`
 * NULL for both: plain SCCP. */
typedef struct ir_sccp_stats {
    int n_branch, n_branch_decided, n_block, n_block_dead, n_const, n_select;
} ir_sccp_stats;
void ir_sccp(ir_fn *to, const ir_fn *from, const uint8_t *known, const ir_num *known_val,
             ir_opt_flags flags, ir_sccp_stats *st);

/* In place: the inputs of is_zero[vec_len(fn->in)] are 0, and so is every product with them. */
void ir_zero(ir_fn *fn, const uint8_t *is_zero);

/* Marks [vec_len(fn->inst)] that some values have go on to all that these decide: operands, and the
 * condition of a phi or of the loop of an lphi. */
void ir_spread(const ir_fn *fn, uint8_t *mark);

/* Dependence class of every instruction: cls[vec_len(fn->inst)], bits of ir_class. A phi takes the
 * class of its condition; an lphi that of its loop's conditions; an effect that of what encloses
 * it. */
void ir_classes(const ir_fn *fn, uint8_t *cls);

/* Forward automatic differentiation.
 *   seed    what to differentiate by [n_seed]: i >= 0 the input fn->in[i]; ~k the LIMIT k, which
 *           then has derivative 1 and hides what it was computed from (without a seed: derivative
 *           0)
 *   want    values (indices into from->inst, visible at the end) whose derivatives are wanted
 *           [n_want]
 *   deriv   out: [n_want * n_seed] values in `to`, IR_NONE where the derivative is 0 for certain
 * `to` gets the primal code of `from` (same outputs, values renumbered; new_of[old] = new,
 * [n_inst]) with derivative code beside it; only derivatives that a wanted one needs are made.
 * Derivatives of exp, sqrt, pow, ln, tanh, div reuse the value; one reciprocal per denominator. At
 * a kink (abs, min, max, select) the derivative is that of the side taken. Where it is infinite or
 * undefined (sqrt at 0, pow at 0, ...; list in ir_slope.c) it is 0. to->in has the entries of
 * from->in at the same indices. */
void ir_ad(ir_fn *to, const ir_fn *from, const int32_t *seed, int n_seed, const ir_val *want,
           int n_want, ir_val *deriv, ir_val *new_of);

/* Reverse automatic differentiation of straight code: with the weights w_k, inputs STATE k, OUT BY
 * c is d/d(CACHE c) of the sum of w_a RES_a + w_(n_row+a) REACT_a over all rows a. Setup values of
 * F64 alone; one on which the sum does not depend has no output. Kinks as in ir_ad.
 *   from  in   no branches
 * false: a derivative passes through a loop, or `from` has hidden state, inputs STATE of its own;
 *        `to` has no outputs. */
bool ir_reverse(ir_fn *to, const ir_fn *from, int32_t n_row);

/* One reciprocal per denominator: x/d becomes x * (1/d) where several divisions use d, or where d
 * is static and x is not; run before ir_split. Changes results by a rounding each; docs in
 * ir_recip.c. */
void ir_recip(ir_fn *to, const ir_fn *from);

/* Branches become straight code and selects, loops get conditions that are false for lanes which do
 * not take part (docs in ir_ifconv.c). Effects are left out; outputs keep their order. The code of
 * `to` may be run for several instances at once.
 *   n_branch, n_loop   before;  n_left  branches after: 0;  n_select  selects after */
typedef struct ir_ifconv_stats {
    int n_branch, n_loop, n_left, n_select;
} ir_ifconv_stats;
void ir_ifconv(ir_fn *to, const ir_fn *from, ir_ifconv_stats *st);

/* What only one arm of a select needs gets a branch, if it is long (docs in ir_skip.c). For
 * kernels; functions with branches or loops stay as they are. */
void ir_skip(ir_fn *to, const ir_fn *from);
/* Of `from` the one question whether any of its effects happens: an output LIMITED, 1 or 0, without
 * branches. false, and `to` is not touched: one happens always, or stands in a loop, or there is
 * none. */
bool ir_flag(ir_fn *to, const ir_fn *from);

/* Evaluates only the static values (classes from ir_classes), entering both arms of
 * voltage-dependent branches and the bodies of voltage-dependent loops once; ran[i] = 1 where
 * val[i] is known: it ran and, in a loop, had the same value each time. The table is what ir_sccp
 * takes as `known`. Arguments as ir_interp; dynamic inputs are not read. */
VS_MUST_USE vs_status ir_interp_static(const ir_fn *fn, const uint8_t *cls, const ir_num *input,
                                       ir_num *val, uint8_t *ran, const ir_host *host);

/* The same values of a function that is evaluated often: its static instructions alone.
 *   want   vec: places in `inst` of the instructions asked for, in their order; IR_NONE: not static
 * ir_static_run: `fn` is the function that it was made of; val, ran [vec_len(s->inst)]. No effects.
 */
typedef struct ir_static {
    ir_inst *inst; /* vec */
    uint8_t *cls;  /* vec like inst */
    ir_val *want;  /* vec */
} ir_static;
void ir_static_init(ir_static *s, const ir_fn *fn, const uint8_t *cls, const ir_val *want,
                    size_t n_want);
void ir_static_fini(ir_static *s);
VS_MUST_USE vs_status ir_static_run(const ir_static *s, const ir_fn *fn, const ir_num *input,
                                    ir_num *val, uint8_t *ran);

/* An evaluation of a function as straight code (ir_trace.c): for many evaluations that differ in a
 * few inputs and take the same way through the branches.
 * ir_trace_init evaluates fn with `input`, as ir_interp does, or with `cls` as ir_interp_static.
 *   vary  in  which inputs vary                       [vec_len(fn->in)]
 *   want  in  values that t->out tells of; IR_NONE: none  [n_want]
 * false: the evaluation meets a loop or an effect; t is empty.
 * ir_trace_run: the values of the inputs that vary, in their order; then those of t->out that vary
 * are in t->val. false: a condition is not what it was; nothing is known. */
typedef struct ir_trace_op {
    uint8_t op;          /* IR_IF: val[a] has to be b */
    int32_t a, b, c, to; /* places in val */
} ir_trace_op;
typedef struct ir_trace_out {
    bool ran, varies;
    int32_t at;   /* in val, if it varies */
    ir_num fixed; /* as it was in the evaluation by ir_trace_init; 0 if it did not run */
} ir_trace_out;
typedef struct ir_trace {
    int32_t n_in;
    ir_num *val;       /* vec; [n_in] inputs, then numbers and results */
    ir_trace_op *op;   /* vec */
    ir_trace_out *out; /* vec [n_want] */
} ir_trace;
bool ir_trace_init(ir_trace *t, const ir_fn *fn, const uint8_t *cls, const ir_num *input,
                   const uint8_t *vary, const ir_val *want, size_t n_want);
void ir_trace_fini(ir_trace *t);
bool ir_trace_run(ir_trace *t, const ir_num *input);

/* Split at the static/dynamic border.
 *   setup  every static value that `eval` needs, as OUT CACHE k, and the static outputs of the
 *          kinds ISPOT, COLLAPSE, DROP; voltage-dependent branches are straightened (static values
 *          inside both arms are computed), static branches stay branches; effects of static class.
 *   eval   the rest; static values it needs are IN CACHE k (type kept), constants stay constants.
 * Static values that cost nothing to redo (neg, not) need not be cached. An output whose value is
 * static (a constant conductance) goes to eval as OUT of IN CACHE. A cache entry that is not
 * computed on the static path taken holds 0. Returns the number of cache entries. */
int ir_split(ir_fn *setup, ir_fn *eval, const ir_fn *from);

#endif
