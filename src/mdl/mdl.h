/* mdl.h - a Verilog-A module as the simulator sees it: interface, parameter rows, variants.
 * Use:    mdl_load/mdl_load_text; mdl_find; mdl_row per distinct parameter set; mdl_variant_get per
 *         group and form; evaluate variant kernels over batches (src/dev).
 *
 * From a va_module a model makes, once: the equation form (mdl_form.c: ddt symbols split into
 * charges or implicit unknowns, noise gains, Jacobian by ir_ad, limiting correction RES += sum
 * dRES/dv (v - vlim), multiplicity), then per analysis form a function of only the outputs that
 * this analysis needs. Per parameter row it evaluates the static values (ir_interp_static), takes
 * the decisions (static branch conditions, values that are exactly 0, 1, -1), and looks the variant
 * up by them; a new variant is ir_sccp + ir_split + jit_compile. Numbers stay loads from the row.
 */
#ifndef MDL_H
#define MDL_H

#include <stdio.h>

#include "jit.h"
#include "osdi.h"
#include "va.h"

typedef enum mdl_form_kind {
    MDL_DC,    /* RES, G */
    MDL_TRAN,  /* RES, REACT, J = G + alpha C */
    MDL_AC,    /* G, C, NOISE_* */
    MDL_APART, /* RES, REACT, G, C: transients that hold linearisations (dev_lin.h) */
    MDL_BACK,  /* BY: derivatives of a weighted sum of RES and REACT (ir_reverse); its kernels take
                * the weights as states, of row a at a, of its charge at mdl_n_unknown + a; no
                * outputs: the module has loops that they would go through, or hidden state */
    MDL_ASKED, /* RES, REACT, OPVAR: what results have of devices (ckt_kept.h) */
    MDL_FULL,  /* everything with OPVAR: interpreter only */
    MDL_N_FORM
} mdl_form_kind;

/* The passes in the order in which they first run; what they need, give and break: mdl_pass.h.
 *   X(id, name, file, needs, gives, breaks) */
/* clang-format off */
#define MDL_PASS_LIST(X)                                                                           \
    /* of a module, once */                                                                        \
    X(LOWER, "lower", "src/va/va_lower.c", 0, 0, 0)                                                \
    X(OPT, "opt", "src/ir/ir_opt.c", 0, HEAD | SMALL, 0)                                           \
    X(CHARGE, "charge", "src/mdl/mdl_charge.c", HEAD, ROWS, SMALL)                                 \
    X(MULT, "mult", "src/mdl/mdl_mult.c", ROWS, SCALED, HEAD | SMALL)                              \
    X(ZERO, "zero", "src/ir/ir_zero.c", ROWS, NO_DDT, SMALL)                                       \
    X(DERIV, "deriv", "src/mdl/mdl_deriv.c", HEAD | NO_DDT | SCALED, JACOBIAN, HEAD | SMALL)       \
    X(QUIET, "quiet", "src/ir/ir_zero.c", JACOBIAN, NO_NOISE, SMALL)                               \
    /* of a form */                                                                                \
    X(PICK, "pick", "src/mdl/mdl_pick.c", JACOBIAN | NO_NOISE, FORM, 0)                            \
    /* of a variant */                                                                             \
    X(SCCP, "sccp", "src/ir/ir_sccp.c", FORM, DECIDED, 0)                                          \
    X(MERGE, "merge", "src/mdl/mdl_merge.c", DECIDED, PLACED, SMALL)                               \
    X(RECIP, "recip", "src/ir/ir_recip.c", SMALL | DECIDED, 0, 0)                                  \
    X(SPLIT, "split", "src/ir/ir_split.c", HEAD | SMALL | PLACED, APART, 0)                        \
    X(IFCONV, "ifconv", "src/ir/ir_ifconv.c", APART, LANES, 0)                                     \
    X(REVERSE, "reverse", "src/ir/ir_reverse.c", APART | LANES, 0, 0)
/* clang-format on */
typedef enum mdl_pass {
#define X(id, name, file, needs, gives, breaks) MDL_PASS_##id,
    MDL_PASS_LIST(X)
#undef X
        MDL_N_PASS
} mdl_pass;
enum { MDL_DUMP_NONE = -1, MDL_DUMP_LAST = -2, MDL_DUMP_ALL = -3 };
const char *mdl_pass_name(int pass); /* NULL: there is no such number */
int mdl_pass_find(
    const char *name); /* mdl_pass; "all": MDL_DUMP_ALL; MDL_DUMP_NONE: no such pass */

typedef struct mdl_model mdl_model; /* one module */
typedef struct mdl_lib mdl_lib;     /* all modules that were loaded, the JIT, the built-in models */

typedef struct mdl_opt {
    const char *const *include; /* .va include folders [n_include] */
    size_t n_include;
    const char *const *macro; /* of Verilog-A: "NAME" or "NAME=text" [n_macro] */
    size_t n_macro;
    const char
        *model_dir;      /* folder of the standard models/ *.va; NULL: the installed or build one */
    bool interpret;      /* no machine code */
    bool no_specialize;  /* one variant per form: all static branches and divisions stay */
    bool exact_division; /* divisions stay with specialisation too: no ir_recip */
    bool verify;         /* ir_verify after each pass; in debug builds and with dump always */
    int check_kernels;   /* K > 0: each K-th call of a variant's kernel is compared with the
                          * interpreter (mdl_compare.h) */
    FILE *dump;          /* shows a pass there, for each function it works on; NULL: none. Models
                          * on disk are not used then */
    int dump_pass;       /* mdl_pass: before and after it; MDL_DUMP_LAST, MDL_DUMP_ALL */
    jit_opt jit;
} mdl_opt;

/* Status of each: VS_OK, VS_EINPUT/VS_EIO with messages in d. */
VS_MUST_USE vs_status mdl_lib_new(mdl_lib **lib, diag *d, str_pool *names, const mdl_opt *opt);
void mdl_lib_free(mdl_lib **lib);
VS_MUST_USE vs_status mdl_load(mdl_lib *lib, const char *path);
/* Called before another deck is read: mdl_find no longer finds modules of files that mdl_load and
 * mdl_load_osdi read, until the file is loaded again. That load reads nothing, since the library
 * still has the file. */
void mdl_forget_loads(mdl_lib *lib);
/* A module written by the program itself (behavioural sources); the text is kept for messages. */
VS_MUST_USE vs_status mdl_load_text(mdl_lib *lib, const char *name, const char *text);

/* A module by name, ASCII case ignored; the last loaded wins. If it is not loaded yet and the
 * standard folder has a file for it (its index: file name, or a `// vsim-types:` comment line
 * listing model type names), that file is loaded. NULL if there is none (no message). */
mdl_model *mdl_find(mdl_lib *lib, const char *name);
/* Names of all modules known, loaded or in the standard folder: vec of interned strings, owned by
 * the library and valid until the next call. */
const char **mdl_names(mdl_lib *lib);
/* Modules loaded so far, in order of loading. */
size_t mdl_n_loaded(const mdl_lib *lib);
mdl_model *mdl_loaded(const mdl_lib *lib, size_t i);
const va_module *mdl_module(const mdl_model *m);
/* Unknowns of the equation form (mdl_form.c): the module's, the implicit ones behind them. */
int32_t mdl_n_unknown(const mdl_model *m);
const va_unknown *mdl_unknown(const mdl_model *m, int32_t u);

/* -- parameter rows -- */
typedef struct mdl_given { /* one parameter of a card, already evaluated */
    int32_t param;
    double value; /* integer and string (str_id) parameters as exact doubles */
    diag_span at; /* of the value in the user's text; length 0: none */
} mdl_given;
enum { MDL_ALONE = 2, MDL_HELD = -3 }; /* of portconn; of a topology */
typedef struct mdl_env {
    double temp; /* kelvin */
    double mfactor;
    const double *simparam;  /* [IR_N_SIMPARAM] */
    const uint8_t *portconn; /* [n_port] 0 or 1; MDL_ALONE: and nothing else is at its node; NULL:
                              * all connected */
    bool no_noise;         /* the circuit has no noise analysis: internal nodes that only noise can
                    * move from 0 are not in use */
    const diag_span *card; /* the model card, for notes; NULL: none */
} mdl_env;
/* A parameter that a card may give, by name or alias (interned in the library's names); -1: none.
 * The library stores each answer, since the circuits of a sweep ask again and again. */
int32_t mdl_find_param(mdl_model *m, const char *name);
/* The row of one parameter set (model card and instance line merged by the caller, later wins).
 * Equal sets in an equal environment give the same row, found by hash.
 * Checks ranges: a violation is an error at the value given, else at `where`, the instance; it
 * names parameter, value and range.
 * Status: VS_OK and *row; VS_EINPUT. */
VS_MUST_USE vs_status mdl_row(mdl_model *m, const mdl_given *given, size_t n_given,
                              const mdl_env *env, diag_span where, const char *who, int32_t *row);
/* Rows that are as `row` but for the number that a card gives `param` (mdl_kin.c): the first row
 * costs what it costs, the others little. -1: this module or this parameter does not lend itself to
 * it. mdl_kin_row: the row with that number, made if it is new; -1: mdl_row has to be asked, which
 * makes the row or says what is wrong with it. */
int32_t mdl_kin(mdl_model *m, int32_t row, int32_t param);
int32_t mdl_kin_row(mdl_model *m, int32_t kin, double value);
/* A circuit has the rows that it needs: frees what finds those of kins by their numbers. Whoever
 * asks for one has it made again. */
void mdl_put_away(mdl_lib *lib);
int32_t mdl_n_row(const mdl_model *m);
/* true once for each row: the first time. */
bool mdl_row_is_new(mdl_model *m, int32_t row);
/* Forgets the rows of models that have more than `most`: there must be no circuit that uses them. A
 * sweep needs the rows of one point; variants and kernels stay. */
void mdl_drop_rows(mdl_lib *lib, int32_t most);
/* The caller no longer uses this row. The library keeps the rows released last, since their values
 * may come back; older ones are freed, and their numbers are given to new rows. */
void mdl_row_release(mdl_model *m, int32_t row);
/* Everything that determines a row, as numbers: the values given and the environment, key
 * [mdl_key_len]. */
size_t mdl_key_len(const mdl_model *m);
void mdl_row_key(const mdl_model *m, int32_t row, double *key);
bool mdl_row_has_key(const mdl_model *m, int32_t row, const double *key);
/* The row of a key that mdl_row_key gave, made again if it was freed. Status: VS_OK; VS_EINPUT
 * (message). */
VS_MUST_USE vs_status mdl_row_of_key(mdl_model *m, const double *key, int32_t *row);
/* Value of a parameter in a row after defaults. */
double mdl_row_param(const mdl_model *m, int32_t row, int32_t param);
/* Static topology of a row: for each unknown the unknown that it is one with after node collapse
 * (itself if none, -1: the reference node), or -2: not in use, or MDL_HELD: a port at a node of its
 * own that is 0 whatever the other unknowns are; of its row and column only the entry in both is
 * left. Array [mdl_n_unknown], owned by the row. Ports are never replaced by internal nodes. */
const int32_t *mdl_row_topology(mdl_model *m, int32_t row);
/* Whether with some parameters the row holds the port at 0 if nothing else is at its node. */
bool mdl_may_hold(mdl_model *m, int32_t port);
/* Setup-time effects ($strobe, $warning, $error of static code) of a row, as lines. */
typedef struct mdl_message {
    ir_eff_kind kind;
    const char *text;
} mdl_message;
const mdl_message *mdl_row_messages(const mdl_model *m, int32_t row, size_t *n);
bool mdl_any_message(const mdl_lib *lib); /* a row has, or had, one */
/* The next message that mdl_setup found: of code that is static in a variant alone, because
 * parameters decide a branch beside one that depends on voltages. Each once for a row; false: no
 * more. */
bool mdl_next_message(mdl_lib *lib, mdl_model **m, int32_t *row, mdl_message *say);

/* -- variants -- */
typedef struct mdl_out { /* one number that the kernel writes per instance */
    uint8_t kind; /* RES REACT G C J NOISE_PSD NOISE_EXP NOISE_GAIN NOISE_GAINC LIMITED BOUND_STEP
                      OPVAR */
    uint8_t still, by_gmin; /* as in ir_out */
    int32_t a, b; /* as in ir_out. Rows and columns of unknowns that are one with another by
                    * the topology of the row are added to it and those not in use left out
                    * (not with no_specialize: there jit_batch.map does both). Node rows, and
                    * with them the gains, are those of m devices in parallel; the m independent
                    * noise sources have PSD / m. */
} mdl_out;
typedef struct mdl_variant {
    const mdl_model *model;
    mdl_form_kind form;
    ir_fn setup, eval;
    jit_layout lay;
    jit_kernel kernel[2]; /* by row_per_lane; NULL: not asked for, or interpret */
    mdl_out *out;         /* [lay.n_out] what out[k] is */
    bool has_effects;     /* dynamic $strobe, $finish: run the interpreter at accepted points */
    bool has_state;
    /* figures for `explain` and tests */
    ir_sccp_stats stats;
    ir_ifconv_stats ifconv;
    size_t code_bytes;      /* of the kernels compiled so far */
    double compile_seconds; /* in the code generator, of one thread */
    bool from_cache;        /* a kernel was found on disk */
    int32_t n_row;          /* rows that use it */
} mdl_variant;
/* Tells the library of m that no group of the circuit has more than n instances, which decides the
 * lanes of kernels. Only the first call counts; it comes before the first kernel is asked for.
 * Existing variants get these lanes. */
void mdl_largest_group(const mdl_model *m, int32_t n);
/* The variant for a row in a form, made if it is new. Variants of a row in different forms are
 * independent. Status: VS_OK, VS_EUNSUPPORTED (message in d). */
VS_MUST_USE vs_status mdl_variant_get(mdl_model *m, int32_t row, mdl_form_kind form,
                                      mdl_variant **variant);
/* The variant specialised by what is known in all of the rows, made if it is new: each of the rows
 * may use it. *variant NULL: the rows collapse nodes differently, or the library does not
 * specialise. Status: as mdl_variant_get. */
VS_MUST_USE vs_status mdl_variant_meet(mdl_model *m, const int32_t *row, size_t n,
                                       mdl_form_kind form, mdl_variant **variant);
/* Like mdl_variant_get and mdl_variant_meet, but load headers only: v->eval has just `in` and
 * `out`, v->setup is empty. Call mdl_variant_use before evaluating. */
VS_MUST_USE vs_status mdl_plan_get(mdl_model *m, int32_t row, mdl_form_kind form,
                                   mdl_variant **variant);
VS_MUST_USE vs_status mdl_plan_meet(mdl_model *m, const int32_t *row, size_t n, mdl_form_kind form,
                                    mdl_variant **variant);
/* A hash of everything that its kernels are made of: variants with equal code have equal hashes, in
 * any process. */
hash128 mdl_variant_code(const mdl_variant *v);
size_t mdl_variant_values(const mdl_variant *v); /* of v->eval */
void mdl_variant_use(mdl_variant *v);
/* Fills cache[lay.n_cache] for a row. */
void mdl_setup(const mdl_variant *v, int32_t row, double *cache);
/* Asks for the kernel for packs of one row each, or with a row per lane. */
void mdl_want(mdl_variant *v, bool row_per_lane);
/* Compiles, at the same time, all kernels of the model's library that mdl_want asked for and that
 * do not exist yet. */
void mdl_compile_wanted(const mdl_model *m);
/* mdl_want and mdl_compile_wanted for one kernel. */
void mdl_prepare(mdl_variant *v, bool row_per_lane);
/* Kernel or interpreter over the packs [begin, end) of v->lay.lanes instances. */
VS_MUST_USE vs_status mdl_eval(const mdl_variant *v, bool row_per_lane, const jit_batch *b,
                               int64_t begin, int64_t end);
/* Which instances of a pack have effects at all: a kernel of its own, made when this was asked
 * often. false: not known, each must be asked; else flag [W], 0: none. */
bool mdl_flagged(const mdl_variant *v, bool row_per_lane, const jit_batch *b, double *flag);
typedef struct mdl_curve { /* d(of)/d(unknown by) */
    mdl_out of;            /* G, C, NOISE_PSD, NOISE_EXP, NOISE_GAIN, NOISE_GAINC */
    int32_t by;
    double value;
} mdl_curve;
/* How these numbers of instance i (as below) change with its unknowns, to the vec; those that never
 * do are not named. v: of MDL_AC. By the interpreter. Status: VS_OK, VS_NOCONV. */
VS_MUST_USE vs_status mdl_curves(const mdl_variant *v, bool row_per_lane, const jit_batch *b,
                                 int64_t i, mdl_curve **to);
/* Runs the interpreter for instance i (lane i % W of pack i / W) and reports each effect as a
 * formatted line.
 *   what  out  OR of 1: $finish, 2: $stop, 4: $fatal or $error */
vs_status mdl_effects(const mdl_variant *v, bool row_per_lane, const jit_batch *b, int64_t i,
                      const char *who, void (*line)(void *user, ir_eff_kind kind, const char *text),
                      void *user, int *what);

/* -- one device at one point (mdl_point.c) -- */
typedef struct mdl_at {
    const double *x;     /* [1 + unknowns of the circuit] */
    const int32_t *map;  /* [mdl_n_unknown]; 0: reference or not in use */
    const double *dyn;   /* [IR_N_DYN] */
    const double *state; /* [n_state], NULL: 0 */
} mdl_at;
/* Every output of the equation form (kinds of MDL_FULL), limiting off: values and what they are are
 * appended to vecs. By the interpreter, not specialised: unknowns that are one keep outputs of
 * their own.
 *   param  in  a parameter to be changed for this evaluation, -1: none
 * Status: VS_OK; VS_EINPUT: the value is not in the parameter's range (no message); VS_NOCONV. */
VS_MUST_USE vs_status mdl_point(mdl_model *m, int32_t row, int32_t param, double param_value,
                                const mdl_at *at, double **value, mdl_out **what);

const jit_stat *mdl_jit_stats(const mdl_lib *lib);
bool mdl_own_code(const mdl_lib *lib); /* after a fork: jit_own_code */
/* Loads a compiled OSDI library; its modules live as long as this library. Status: as osdi_load. */
VS_MUST_USE vs_status mdl_load_osdi(mdl_lib *lib, const char *path, diag_span at);
/* The module of a loaded OSDI library; NULL: none. */
const osdi_module *mdl_find_osdi(const mdl_lib *lib, const char *name);

#endif
