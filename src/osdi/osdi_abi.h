/* osdi_abi.h - the binary interface of compiled device models: OSDI 0.3 to 0.5.
 * Source: the OSDI specification of the OpenVAF project, versions 0.3 to 0.5. Field order and types
 * are the interface; version 0.4 appends to the descriptor of 0.3, and a library tells the size of
 * its descriptors (OSDI_DESCRIPTOR_SIZE), so that fields behind that size are not there.
 * Ownership: all texts and tables are the library's and live as long as it is loaded. An instance
 *         is inst_size bytes, a model model_size, of the simulator, zeroed before setup. Offsets
 *         count bytes from the beginning of the instance; UINT32_MAX: the thing does not exist.
 * Nodes:  an instance's unknowns are numbered 0 .. n_node - 1, terminals first. node_map and the
 *         pointers of Jacobian entries, both in the instance, say where load functions add what;
 *         they add to what is there. n_node as a node is the reference.
 * Units:  residuals A (or the node's residual_unit) into the device, charges A s, alpha 1/s. */
#ifndef OSDI_ABI_H
#define OSDI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* osdi_abi_param.flags */
       OSDI_TYPE_MASK = 3,
       OSDI_TYPE_REAL = 0,
       OSDI_TYPE_INT = 1,
       OSDI_TYPE_STRING = 2
};
#define OSDI_KIND_MASK 0xc0000000u
#define OSDI_KIND_MODEL 0u
#define OSDI_KIND_INST 0x40000000u
#define OSDI_KIND_OPVAR 0x80000000u

enum { OSDI_ACCESS_READ = 0, OSDI_ACCESS_SET = 1, OSDI_ACCESS_INST = 4 };

enum { /* osdi_abi_jacobian.flags */
       OSDI_JAC_RESIST_CONST = 1,
       OSDI_JAC_REACT_CONST = 2,
       OSDI_JAC_RESIST = 4,
       OSDI_JAC_REACT = 8
};

enum { /* osdi_abi_info.flags: what eval() has to compute, and for which analysis */
       OSDI_CALC_RESIST_RES = 1,
       OSDI_CALC_REACT_RES = 2,
       OSDI_CALC_RESIST_JAC = 4,
       OSDI_CALC_REACT_JAC = 8,
       OSDI_CALC_NOISE = 16,
       OSDI_CALC_OP = 32,
       OSDI_CALC_RESIST_LIM = 64,
       OSDI_CALC_REACT_LIM = 128,
       OSDI_ENABLE_LIM = 256,
       OSDI_INIT_LIM = 512,
       OSDI_ANALYSIS_NOISE = 1024,
       OSDI_ANALYSIS_DC = 2048,
       OSDI_ANALYSIS_AC = 4096,
       OSDI_ANALYSIS_TRAN = 8192,
       OSDI_ANALYSIS_IC = 16384,
       OSDI_ANALYSIS_STATIC = 32768,
       OSDI_ANALYSIS_NODESET = 65536
};

enum {
    OSDI_RET_LIM = 1,
    OSDI_RET_FATAL = 2,
    OSDI_RET_FINISH = 4,
    OSDI_RET_STOP = 8
}; /* of eval() */

enum { /* level of a message */
       OSDI_LOG_MASK = 7,
       OSDI_LOG_DEBUG = 0,
       OSDI_LOG_DISPLAY = 1,
       OSDI_LOG_INFO = 2,
       OSDI_LOG_WARN = 3,
       OSDI_LOG_ERR = 4,
       OSDI_LOG_FATAL = 5,
       OSDI_LOG_UNFORMATTED = 16
};

enum { OSDI_INIT_OUT_OF_BOUNDS = 1 };
enum { OSDI_ATTR_STRING = 0, OSDI_ATTR_INT = 1, OSDI_ATTR_REAL = 2 };
enum {
    OSDI_NATURE_NONE = 0,
    OSDI_NATURE = 1,
    OSDI_NATURE_FLOW_OF = 2,
    OSDI_NATURE_POTENTIAL_OF = 3
};

typedef struct osdi_abi_limiter { /* filled by the simulator: a function for $limit */
    char *name;
    uint32_t n_arg;
    void *fn;
} osdi_abi_limiter;

typedef struct osdi_abi_simparam { /* lists end with a NULL name */
    char **name;
    double *value;
    char **name_str;
    char **value_str;
} osdi_abi_simparam;

typedef struct osdi_abi_info { /* what eval() is given */
    osdi_abi_simparam simparam;
    double abstime;                  /* s */
    double *prev_solve;              /* unknowns by node_map; */
    double *prev_state, *next_state; /* by the instance's state numbers; next_state is written */
    uint32_t flags;                  /* OSDI_CALC_.., OSDI_ANALYSIS_.. */
    void *history;                   /* of newer 0.4 libraries with absdelay */
    double (*past)(void *history, uint32_t delay, double time, double now);
} osdi_abi_info;

typedef struct osdi_abi_init_error {
    uint32_t code, param;
} osdi_abi_init_error;

typedef struct osdi_abi_init {  /* what a setup function says */
    uint32_t flags, n_error;    /* OSDI_RET_..; */
    osdi_abi_init_error *error; /* malloc'ed by the library */
} osdi_abi_init;

typedef struct osdi_abi_pair { /* two nodes */
    uint32_t a, b;
} osdi_abi_pair;

typedef struct osdi_abi_jacobian {
    osdi_abi_pair nodes;    /* row, column */
    uint32_t react_ptr_off; /* double * in the instance: where dq/dx goes, if it goes elsewhere */
    uint32_t flags;         /* OSDI_JAC_.. */
} osdi_abi_jacobian;

typedef struct osdi_abi_node {
    char *name, *unit, *residual_unit;
    uint32_t resist_off, react_off; /* doubles in the instance: f, q; what limiting adds to both */
    uint32_t resist_limit_off, react_limit_off;
    bool is_flow; /* the unknown is a current */
} osdi_abi_node;

typedef struct osdi_abi_param {
    char **name; /* [1 + n_alias] */
    uint32_t n_alias;
    char *description, *unit;
    uint32_t flags, len; /* len 0: a scalar */
} osdi_abi_param;

typedef struct osdi_abi_noise {
    char *name;
    osdi_abi_pair nodes; /* its current goes from a to b inside of the device */
} osdi_abi_noise;

typedef struct osdi_abi_nature_ref {
    uint32_t kind, index;
} osdi_abi_nature_ref;

typedef struct osdi_abi_descriptor {
    char *name;
    uint32_t n_node, n_terminal;
    osdi_abi_node *node;
    uint32_t n_jacobian;
    osdi_abi_jacobian *jacobian;
    uint32_t n_collapsible;
    osdi_abi_pair *collapsible; /* pairs that setup_inst may make one node */
    uint32_t collapsed_off;     /* bool [n_collapsible] in the instance */
    osdi_abi_noise *noise;
    uint32_t n_noise;
    uint32_t n_param, n_inst_param, n_opvar;
    osdi_abi_param *param; /* instance parameters, model parameters, operating-point variables */
    uint32_t node_map_off; /* uint32_t [n_node] in the instance */
    uint32_t jac_ptr_off;  /* double * [n_jacobian] in the instance */
    uint32_t n_state, state_off; /* uint32_t [n_state] in the instance */
    uint32_t bound_step_off;     /* double in the instance, UINT32_MAX: none */
    uint32_t inst_size, model_size;
    /* Address of parameter or variable `id`, for double, int32_t or char *; flags OSDI_ACCESS_..:
     * SET also marks it as given. inst NULL: of the model. NULL: there is none of this number. */
    void *(*access)(void *inst, void *model, uint32_t id, uint32_t flags);
    /* Sets defaults, checks bounds and computes what follows from parameters; `handle` comes back
     * in messages. kelvin: temperature of the instance; n_terminal: connected terminals. */
    void (*setup_model)(void *handle, void *model, osdi_abi_simparam *sim, osdi_abi_init *res);
    void (*setup_inst)(void *handle, void *inst, void *model, double kelvin, uint32_t n_terminal,
                       osdi_abi_simparam *sim, osdi_abi_init *res);
    /* Evaluates; returns OSDI_RET_... The functions below hand out what the last call computed. */
    uint32_t (*eval)(void *handle, void *inst, void *model, osdi_abi_info *info);
    /* density[n_noise] at freq Hz, A^2/Hz (of flows). */
    void (*load_noise)(void *inst, void *model, double freq, double *density);
    /* dst[unknowns of the circuit] += f; q; what limiting adds to both. */
    void (*load_residual_resist)(void *inst, void *model, double *dst);
    void (*load_residual_react)(void *inst, void *model, double *dst);
    void (*load_limit_resist)(void *inst, void *model, double *dst);
    void (*load_limit_react)(void *inst, void *model, double *dst);
    /* The right side of companion models, prev: the present solution; not used here. */
    void (*load_spice_rhs_dc)(void *inst, void *model, double *dst, double *prev);
    void (*load_spice_rhs_tran)(void *inst, void *model, double *dst, double *prev, double alpha);
    /* To where the instance's pointers lead: += G; += alpha C; += G + alpha C. */
    void (*load_jacobian_resist)(void *inst, void *model);
    void (*load_jacobian_react)(void *inst, void *model, double alpha);
    void (*load_jacobian_tran)(void *inst, void *model, double alpha);
    /* from 0.4 on */
    /* Was the parameter given? */
    uint32_t (*given_model)(void *model, uint32_t id);
    uint32_t (*given_inst)(void *inst, uint32_t id);
    /* How many entries have OSDI_JAC_RESIST, _REACT; dst[so many] = their G, C, in order. */
    uint32_t n_resist_jacobian, n_react_jacobian;
    void (*write_jacobian_resist)(void *inst, void *model, double *dst);
    void (*write_jacobian_react)(void *inst, void *model, double *dst);
    uint32_t n_input;
    osdi_abi_pair *input; /* voltages that the model reads */
    void (*load_jacobian_with_offset_resist)(void *inst, void *model, size_t offset);
    void (*load_jacobian_with_offset_react)(void *inst, void *model, size_t offset);
    osdi_abi_nature_ref *unknown_nature, *residual_nature;
    /* of newer libraries of 0.4 */
    uint32_t *noise_type; /* [n_noise] */
    /* [n_noise] A^2/Hz at 1 Hz, and the exponent of 1/f. */
    void (*load_noise_params)(void *inst, void *model, double *power, double *exponent);
    uint32_t module_flags;
    uint32_t n_delay;
    void *delay;
} osdi_abi_descriptor;

typedef struct osdi_abi_nature {
    char *name;
    uint32_t parent_kind, parent, ddt, idt, attr_start, n_attr;
} osdi_abi_nature;

typedef struct osdi_abi_discipline {
    char *name;
    uint32_t flow, potential, domain, attr_start, n_flow_attr, n_potential_attr, n_user_attr;
} osdi_abi_discipline;

typedef struct osdi_abi_attribute {
    char *name;
    uint32_t type;
    union {
        char *string;
        int32_t integer;
        double real;
    } value;
} osdi_abi_attribute;

#endif
