/* mdl_priv.h - between the files of src/mdl. */
#ifndef MDL_PRIV_H
#define MDL_PRIV_H

#include "store.h"
#include "mdl.h"

/* The function with the outputs of one analysis form, and what specialisation must know of it.
 * FORM_TOPOLOGY: ISPOT, COLLAPSE, DROP and the effects of static code. FORM_IDLE: RES and REACT of
 * the unknowns that may be idle. */
enum { FORM_TOPOLOGY = MDL_N_FORM, FORM_IDLE, N_FORM };
enum { QUIET = 1, MAY_IDLE = 2 };
typedef struct form_fn {
    bool made;
    bool kept; /* all arrays lie in a mapped file */
    ir_fn fn;
    uint8_t *cls;   /* [n_inst] dependence classes */
    ir_val *decide; /* vec; static values that the key of a variant holds, in order */
    uint8_t *how;   /* vec like decide; `known` of ir_sccp if the value is decided: 1 or 2 */
    ir_static row;  /* what mdl_decide evaluates from its second call on; inst NULL: not made */
    bool decided;   /* mdl_decide was called */
} form_fn;

/* ON_DISK: there is nothing of it yet but its part of a record (of a variant's eval: in and out).
 */
typedef enum fn_state { FN_MADE, FN_MAPPED, FN_ON_DISK } fn_state;
/* A part of a record on disk, mapped, that is summed when it is read. */
typedef struct stored_part {
    const char *data;
    size_t size;
    hash128 sum;
} stored_part;

/* The part of a row's key that most rows of a model share: which parameters are given, and the
 * environment. */
typedef struct row_rest {
    int32_t n_user;
    double v[]; /* [key_len - n_param] */
} row_rest;

/* One parameter set. A million resistors of different values are a million rows: a row is one block
 * of memory. Its key is `given` and `rest`, one behind the other. */
typedef struct row_data {
    row_rest *rest;
    double *given;                        /* [n_param] values, 0: not given */
    double *param;                        /* [n_param] after defaults */
    int32_t *topology;                    /* [n_unknown] */
    mdl_message *message;                 /* vec; texts in the model's arena */
    mdl_variant *variant[MDL_N_FORM];     /* NULL until asked for */
    const uint8_t *decisions[MDL_N_FORM]; /* vecs of the model (mdl_known_key); what the variant
                                             was found by; NULL: not asked for */
    bool keep;                            /* it is to be written to disk */
    bool on_disk; /* there is a record of it, with the decisions of stored_forms */
    unsigned stored_forms;
    bool released; /* nobody has it */
    uint64_t hash;
    int32_t next; /* row with the same hash, -1; of rows that belong to no kin */
} row_data;

/* Where a row is. A row of a kin (mdl_kin.c) is only the number that it does not share with the
 * others, until somebody asks for more than they have in common. */
typedef struct row_kin row_kin;
typedef struct row_place {
    union {
        row_data *full; /* NULL: the number of this row is free */
        double value;   /* is_number: of the parameter in which the kin differs */
    };
    int32_t kin; /* -1: none */
    bool is_number;
    bool seen;     /* of mdl_row_is_new */
    uint8_t asked; /* is_number: bits 1 << form, of the variants that were asked for */
} row_place;

enum { FN_SETUP, FN_EVAL, FN_KERNEL, N_FN }; /* functions of a variant */
typedef struct variant_data {
    mdl_variant v;       /* first member */
    const uint8_t **key; /* vec of the model's vecs: decisions that lead here, then topology */
    ir_fn kernel_fn;     /* eval without effects and branches: what is compiled */
    ir_fn effects;       /* eval without outputs; empty until mdl_effects is called */
    ir_fn flag;          /* does any of them happen? made by the FLAG_CALLS-th mdl_flagged */
    ir_fn curve;         /* of MDL_AC, made by the first mdl_curves: derivatives of eval's */
    int32_t *curve_by;   /* vec like curve.out: by which unknown */
    bool curve_made;
    jit_kernel flag_kernel[2]; /* by row_per_lane */
    int32_t n_flag[2];
    bool asked[2]; /* for the kernel; by row_per_lane */
    fn_state fn[N_FN];
    stored_part part[N_FN];  /* MAPPED and ON_DISK */
    size_t n_eval;           /* values of eval */
    int64_t n_call;          /* of kernels, while they are compared (under its lock) */
    hash128 id;              /* of setup and eval: equal code has equal ones */
    hash128 kernel_key;      /* jit_fn_key of kernel_fn */
    int32_t *hi, *lo, *slot; /* vecs behind v.lay */
} variant_data;

typedef struct stored_text { /* what a record says of a source text */
    int64_t len;
    hash128 sum;
} stored_text;

typedef struct lib_unit { /* one Verilog-A text and what came of it */
    va_unit u;
    const char *path; /* interned; NULL: a text of the program, which is not kept */
    int32_t first_file, n_file, first_msg, n_msg; /* in diag */
    int n_warning_before;
    int64_t begun;      /* when, as time() tells, before any of its texts was read */
    size_t first_model; /* its modules in lib->model, in order */
    bool client; /* some of its texts may be the client's, not those on disk: it is not kept */
    bool keep;   /* its parts may be kept on disk */
    int64_t
        asked; /* when mdl_load was asked for it last, -1: since mdl_forget_loads not; 0: never */
    bool kept; /* there is a record of it, with every equation form made so far */
    hash128 key, text; /* of the record; of all source text */
    stored_text *file; /* vec [n_file] */
    va_unit
        again; /* compiled again because its record was damaged; its modules gave what was needed */
    bool compiled_again;
    store_item item; /* what the functions of the modules point into; empty: made from source */
} lib_unit;

enum {
    MOD_INTERFACE,
    MOD_PARAMS,
    MOD_EVAL,
    MOD_FULL,
    N_MOD
}; /* parts of a module's record; see mdl_need */
struct mdl_model {
    mdl_lib *lib;
    lib_unit *home; /* NULL: a module of its own, which is not kept on disk */
    const va_module *mod;
    arena mem;
    va_unknown *unknown; /* vec; those of the module, then the implicit ones of ddt */
    va_probe *probe;     /* vec; those of the module, then one per implicit unknown */
    ir_fn full;          /* equation form with every output */
    size_t n_full;       /* values of full */
    fn_state part_state[N_MOD];
    stored_part part[N_MOD]; /* MAPPED and ON_DISK */
    uint8_t *quiet; /* vec [n_unknown] QUIET: a node that is 0 unless noise moves it; MAY_IDLE: with
                     * some parameters it belongs to a part of the module that nothing drives */
    int n_derivative; /* entries of G and C that are not zero for certain */
    form_fn form[N_FORM];
    row_place *row;             /* vec */
    row_kin **kin;              /* vec */
    int32_t *free_row;          /* vec: numbers to be given again */
    int32_t *released;          /* vec: rows that nobody has, the oldest first */
    map row_of_hash;            /* those of no kin */
    map param_of;               /* interned name -> parameter, -1: none; as they are asked for */
    va_param_index param_index; /* made at the first question */
    double *scratch;            /* [key_len]; NULL: no row was asked for */
    row_rest *last_rest;        /* of the last new row; the model is a user; NULL: none */
    arena work;                 /* of one evaluation, see mdl_work */
    int n_kept_row;             /* rows so far that were looked for on disk */
    uint32_t simparam_used;
    bool temp_used;
    variant_data **variant; /* vec */
    uint8_t **key;          /* vec of vecs: different decisions of rows and variants */
};

typedef struct lib_file { /* one file of the standard folder */
    const char *path;     /* interned */
    const char **name; /* vec; interned, lower case: what it may be asked for; [0] the file's own */
    bool loaded;
    mdl_model *first; /* first module in it once loaded, or NULL */
} lib_file;

typedef struct mdl_compare mdl_compare;
struct mdl_lib {
    diag *d;
    str_pool *names;
    mdl_opt opt;
    jit *jit;         /* NULL: interpret */
    int lanes;        /* of kernels; 0: not decided yet */
    bool any_message; /* of a row */
    bool noted_interpret;
    mdl_compare *compare; /* NULL: kernels are not compared */
    struct want {         /* a kernel that was asked for and is not made yet */
        variant_data *d;
        bool row_per_lane;
    } *want;      /* vec */
    struct late { /* a message of setup that nobody has asked for yet: mdl_next_message */
        mdl_model *m;
        int32_t row;
        mdl_message say;
    } *late;          /* vec */
    size_t n_told;    /* those of it that were given out */
    char *dir;        /* standard folder, NULL: none */
    lib_unit **unit;  /* vec */
    store cache;      /* of prepared models */
    store_item *item; /* vec; mapped forms and variants */
    char cpu[256];
    mdl_model **model;         /* vec, in order of loading */
    lib_file *file;            /* vec */
    osdi_lib *osdi;            /* NULL: none was loaded */
    int64_t n_asked;           /* calls of mdl_load */
    bool indexed, store_index; /* the index is made; it may be kept on disk */
    hash128 index_key;
    const char **all; /* vec behind mdl_names */
};

/* Layout of a row's key: values, then what stands in row_data.rest. */
#define key_given(m) vec_len((m)->mod->param)
#define key_temp(m) (2 * vec_len((m)->mod->param))
#define key_mfactor(m) (key_temp(m) + 1)
#define key_simparam(m) (key_temp(m) + 2)
#define key_no_noise(m) (key_simparam(m) + IR_N_SIMPARAM)
#define key_port(m) (key_no_noise(m) + 1)
#define key_len(m) (key_port(m) + (size_t)(m)->mod->n_port)

/* mdl_form.c: fills unknown, probe, full of a model whose mod is set. */
void mdl_form_build(mdl_model *m);
/* The function of one form, made at the first call. */
form_fn *mdl_form_get(mdl_model *m, int form);
void mdl_form_free(form_fn *f);
/* Reduces idle[n_unknown] to the unknowns that are 0 whatever the others are: removes from it those
 * whose rows are not 0 when all unknowns of idle[] are 0. fn: RES and REACT of at least these. val,
 * ran: static values known (ir_interp_static), with cls; NULL: each static branch may go the way
 * that suits. */
void mdl_form_idle(const mdl_model *m, const ir_fn *fn, const uint8_t *cls, const ir_num *val,
                   const uint8_t *ran, uint8_t *idle);

/* mdl_lib.c: takes a module (not owned) into the library. */
mdl_model *mdl_add_module(mdl_lib *lib, const va_module *mod);
/* Reads a part of a module from its record: MOD_INTERFACE: all of mod but its functions, and what
 * mdl_ready makes, but not `full`; MOD_PARAMS, MOD_EVAL: functions of mod; MOD_FULL. Does nothing
 * if the module was compiled in this run or the part was read before. */
void mdl_need(mdl_model *m, int part);
/* Makes the equation form if it is not made yet. */
mdl_model *mdl_ready(mdl_model *m);
/* Takes the models of the unit added last out of the library, and empties the unit. */
void mdl_drop_unit(mdl_lib *lib, lib_unit *lu);
/* Contents of a file, a vec with a 0 behind them; "" if it cannot be read. */
char *mdl_read_text(const char *path);

/* mdl_store.c: prepared models on disk.
 * A unit from its record, with its texts in diag and its messages given again; false: it is to be
 * compiled. lu has path, first_... set. */
bool mdl_store_load_unit(mdl_lib *lib, lib_unit *lu, const char *const *dir, size_t n_dir);
/* A part of a module that is ON_DISK; false: it is damaged. */
bool mdl_store_load_part(mdl_model *m, int part);
/* After a unit was compiled: notes the lengths and hashes of its source texts, for its record. */
void mdl_store_note_unit(mdl_lib *lib, lib_unit *lu);
/* Writes the record of a unit as it is now. */
void mdl_store_unit(mdl_lib *lib, lib_unit *lu);
/* The index of the standard folder, which holds the files of the vec list: lib->file from its
 * record; false: to be made. Then mdl_store_index writes it. */
bool mdl_store_load_index(mdl_lib *lib, const char *const *list);
void mdl_store_index(mdl_lib *lib);
bool mdl_store_load_form(mdl_model *m, int form, form_fn *f);
void mdl_store_form(mdl_model *m, int form, const form_fn *f);
/* decisions: the vec that the variant is found by. Fills all but the functions, which are ON_DISK.
 */
bool mdl_store_load_variant(mdl_model *m, const uint8_t *decisions, variant_data *d, int *n_cache);
void mdl_store_variant(mdl_model *m, const uint8_t *decisions, const variant_data *d);
/* A function of a variant that is ON_DISK; false: it is damaged, and to be made again. */
bool mdl_store_load_fn(variant_data *d, int fn);
void mdl_store_note_damage(const mdl_lib *lib);
/* A row whose key is set: parameters, topology and some of its decisions from its record; false: to
 * be made. */
bool mdl_store_load_row(mdl_model *m, row_data *r);
/* Writes the records of rows with `keep` set of which the library knows more than their records
 * say. */
void mdl_store_rows(mdl_lib *lib);
/* ir_fn_fini for a function that points into a mapped file. */
void mdl_store_drop_fn(ir_fn *fn);

/* -- mdl_row.c -- */
/* All of a row. */
row_data *mdl_row_data(mdl_model *m, int32_t row);
row_data *mdl_row_alone(mdl_model *m,
                        const double *key); /* with this key; the rest is to be made */
/* The number of a new row. */
int32_t mdl_row_add(mdl_model *m, row_place at);
void mdl_row_unhash(mdl_model *m, int32_t row);
/* Row k is wanted again if nobody had it. */
void mdl_row_take(mdl_model *m, int32_t row);
/* -- mdl_kin.c -- */
/* The kin that a row with this key belongs to; -1: none. */
int32_t mdl_kin_of_key(const mdl_model *m, const double *key);
/* What a key says of the parameter in which the kin differs. */
double mdl_kin_value(const mdl_model *m, int32_t kin, const double *key);
/* A row that is new in the kin. */
void mdl_kin_enter(mdl_model *m, int32_t kin, int32_t row, double value);
void mdl_kin_forget(mdl_model *m, int32_t row); /* takes it out of its kin */
void mdl_kin_clear(mdl_model *m);               /* no kin has rows any more */
void mdl_kin_free(mdl_model *m);
const row_data *mdl_kin_like(const mdl_model *m, int32_t kin);
void mdl_kin_key(const mdl_model *m, int32_t row, double *key);
/* Of a row that is only a number: a parameter after defaults; its variant, NULL: it has decisions
 * of its own; its setup values, false: they are to be computed by mdl_row_data. */
double mdl_kin_param(const mdl_model *m, int32_t row, int32_t param);
VS_MUST_USE vs_status mdl_kin_variant(mdl_model *m, int32_t row, mdl_form_kind form,
                                      mdl_variant **variant);
bool mdl_kin_setup(mdl_model *m, const mdl_variant *v, int32_t row, double *cache);
/* Where evaluations of static code allocate; arena_release(&m->work, ...) when done. */
arena_pos mdl_work(mdl_model *m);
void mdl_key_of(const mdl_model *m, const row_data *r, double *key); /* key [key_len] */
/* The inputs of fn for a row, in their types: input [vec_len(fn->in)]; those that are not static
 * are 0. */
void mdl_row_inputs(const mdl_model *m, const row_data *r, const ir_fn *fn, ir_num *input);
/* The same for the params function: of what is given. */
void mdl_given_inputs(const mdl_model *m, const row_data *r, const ir_fn *fn, ir_num *input);
ir_num mdl_as_input(double x, int type); /* as an input of this ir_type */
void mdl_row_free(row_data *r);
void mdl_rest_free(row_rest *rest); /* one user less; NULL is allowed */
/* A copy of a row with another value of one parameter, not among the model's rows; the caller frees
 * it.
 * Status: VS_OK; VS_EINPUT: out of range (no message). */
VS_MUST_USE vs_status mdl_row_vary(mdl_model *m, int32_t row, int32_t param, double value,
                                   row_data **out);

/* mdl_effect.c: text of an effect (without newline) appended to *text, a vec of char. */
void mdl_effect_text(const str_pool *names, const ir_fn *fn, const ir_effect *eff,
                     const ir_num *val, const char *who, char **text);

/* mdl_compare.c */
mdl_compare *mdl_compare_new(void);
void mdl_compare_free(mdl_compare *c);

/* mdl_pass.c: "dc", "tran", ...; NULL: of the module */
const char *mdl_form_name(int form);

/* mdl_variant.c */
/* The variant of a row; it is not counted as a user. */
VS_MUST_USE vs_status mdl_variant_of_row(mdl_model *m, row_data *r, mdl_form_kind form,
                                         mdl_variant **variant);
const ir_fn *mdl_kernel_fn(const mdl_variant *v);
void mdl_variant_free(variant_data *v);
/* The model's own copy of a vector of decisions; equal vectors give the same pointer. Takes over
 * the vec `key`. */
const uint8_t *mdl_known_key(mdl_model *m, uint8_t *key);

#endif
