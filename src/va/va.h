/* va.h - Verilog-A front end: text to modules with SSA functions.
 * Use:    va_compile on a file; read the modules of the unit; va_unit_fini.
 * Source: Verilog-AMS LRM 2.4/2023, Annex C (analog subset).
 *
 * Conventions of the lowered functions
 *   Unknowns of a module, in this order: ports, internal nodes, branch currents (of branches with a
 *   potential contribution or a flow probe that needs one), implicit equations (idt). Row r is the
 *   equation of unknown r: for a node Kirchhoff's current law (currents INTO the device, leaving
 *   the node, are positive); for a branch current V(branch) - contribution = 0.
 *   eval: inputs of every kind but CACHE; outputs RES (each row that has one), DDT_ARG, NOISE_PSD,
 *   NOISE_EXP, STATE, LIMNEW, LIMITED, BOUND_STEP, OPVAR, ISPOT, COLLAPSE, DROP, all values visible
 *   at the end. ddt(q) is IN DDT k with OUT DDT_ARG k = q; a noise call is IN NOISE k (both are
 *   symbols, value 0 for the interpreter; src/mdl resolves them). A negative BOUND_STEP says that
 *   the step just made should have been this long. $mfactor is applied by src/mdl.
 *   params: inputs PARAM, GIVEN, MFACTOR, TEMP, SIMPARAM; outputs PARAM and PARAM_OK of each
 *   parameter in order of declaration; a parameter that is not given gets its default expression.
 *   Values are carried in the parameter's own type. */
#ifndef VA_H
#define VA_H

#include "diag.h"
#include "ir.h"
#include "map.h"

typedef enum va_type { VA_REAL, VA_INTEGER, VA_STRING } va_type;

typedef enum va_unknown_kind { VA_PORT, VA_NODE, VA_CURRENT, VA_IMPLICIT } va_unknown_kind;
typedef struct va_unknown {
    const char *name; /* node name, "flow(branch)" or "idt1" */
    va_unknown_kind kind;
    const char *discipline; /* "electrical", "thermal", ... or NULL */
    const char *unit;       /* of the unknown: "V", "A", "K" */
    double abstol;          /* of the unknown's nature; 0 if it declares none */
    double res_abstol;      /* of the row's nature */
} va_unknown;

typedef struct va_probe { /* value = x[hi] - x[lo]; -1 is the reference node */
    int32_t hi, lo;
} va_probe;

typedef struct va_branch {
    const char *name; /* declared name or "(a,b)" */
    int32_t hi, lo;   /* unknowns; lo -1: reference */
    int32_t current;  /* its current unknown, or -1 */
} va_branch;

typedef struct va_param {
    const char *name;   /* as declared; found without regard to case by va_find_param */
    const char **alias; /* vec of aliasparam names */
    va_type type;
    bool inst;               /* (* type="instance" *) */
    bool local;              /* localparam: cannot be given */
    const char *desc, *unit; /* "" if none */
    const char *dflt;        /* text of the default expression, for people */
    const char *range;       /* text of the ranges as written, or "" */
    diag_span span;
} va_param;

typedef struct va_opvar {
    const char *name, *desc, *unit;
    va_type type;
} va_opvar;

typedef enum va_noise_kind { VA_WHITE, VA_FLICKER, VA_TABLE } va_noise_kind;
typedef struct va_noise {
    const char *name; /* "" if the source has none */
    va_noise_kind kind;
    double *table; /* vec of f, psd pairs (VA_TABLE); scaled by NOISE_PSD = 1 */
    bool log_table;
} va_noise;

/* Equations that an SSA function cannot express; the circuit adds them, on unknowns of the module
 * (implicit equations, -1: none).
 *   VA_DELAY  adds y - u(t - d) to the row of y, which has nothing else; d is taken as it is at t,
 *             at least 0 and at most `most`; unknowns u, y, d, most
 *   VA_WRAP   after an accepted point z is moved by a multiple of m (if that is above 0) to 0 <= z
 *             < m; the equations see z modulo m only; unknowns z, m */
typedef enum va_native_kind { VA_DELAY, VA_WRAP } va_native_kind;
enum { VA_NATIVE_UNKNOWNS = 4 };
typedef struct va_native {
    va_native_kind kind;
    int32_t unknown[VA_NATIVE_UNKNOWNS];
} va_native;

typedef struct va_module {
    const char *name;
    diag_span span;
    const char *desc;
    int32_t n_port;      /* the first unknowns */
    va_unknown *unknown; /* vec */
    va_probe *probe;     /* vec; IN PROBE k */
    va_branch *branch;   /* vec; ISPOT, COLLAPSE k */
    va_param *param;     /* vec; IN PARAM k */
    va_opvar *opvar;     /* vec; OUT OPVAR k */
    va_noise *noise;     /* vec; IN NOISE k */
    int32_t *lim_probe;  /* vec; LIMIT k acts on probe lim_probe[k] */
    va_native *native;   /* vec */
    int32_t n_ddt, n_state;
    ir_fn eval, params;
} va_module;

typedef struct va_unit {
    arena mem;
    str_pool *names;     /* not owned */
    va_module **module;  /* vec; paramsets are resolved into modules of their own */
    const char **absent; /* vec; interned paths where an included file was looked for in vain */
} va_unit;

typedef struct va_opt {
    const char *const *include; /* folders searched after the including file's own [n_include] */
    size_t n_include;
    const char *const *define; /* "NAME" or "NAME=text" [n_define]; NAME alone is 1 */
    size_t n_define;
} va_opt;

/* Compiles the file at `path` (text read through `d`); constants.vams and disciplines.vams come
 * from the include folders and otherwise from the copies built into the library. Names are interned
 * in `names`; a string value is the I32 str_id of the interned string.
 * Status: VS_OK (warnings possible), VS_EINPUT (messages in d), VS_EIO (message in d). */
VS_MUST_USE vs_status va_compile(va_unit *u, diag *d, str_pool *names, const char *path,
                                 const va_opt *opt);
/* The same for a text in memory, shown as `name` in messages. */
VS_MUST_USE vs_status va_compile_text(va_unit *u, diag *d, str_pool *names, const char *name,
                                      const char *text, size_t len, const va_opt *opt);
void va_unit_fini(va_unit *u);
/* The text of a built-in file, by its name ("disciplines.vams") or by the name that diag shows for
 * it ("<built-in>/disciplines.vams"); NULL: there is none. [*len], static. */
const char *va_builtin_text(const char *name, size_t *len);
#define VA_OPTIONS_FILE \
    "<options>" /* diag's name for the texts of macros that were set from outside */

/* Index of a parameter by name or alias, ASCII case ignored; an exact match wins. -1 if none. */
int32_t va_find_param(const va_module *m, const char *name);
/* Like va_find_param, for callers that look up many names: an index of a module's names.
 * va_param_index_fini frees it. */
typedef struct va_param_index {
    map first; /* hash of a name in lower case -> entry */
    struct va_param_entry {
        int32_t param, next;
    } *entry; /* vec; next: the next entry with this hash, -1; numbers do not fall */
} va_param_index;
void va_param_index_init(va_param_index *x, const va_module *m);
void va_param_index_fini(va_param_index *x);
int32_t va_param_index_find(const va_param_index *x, const va_module *m, const char *name);

#endif
