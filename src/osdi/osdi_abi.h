/* osdi_abi.h - the binary interface of compiled device models: OSDI 0.3 to 0.5.
 * Source: the OSDI specification of the OpenVAF project, versions 0.3 to 0.5. Field order and types
 * are the interface; version 0.4 appends to the descriptor of 0.3, and a library tells the size of
 * its descriptors (OSDI_DESCRIPTOR_SIZE), so that fields behind that size are not there. */
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

typedef struct osdi_abi_info {
    osdi_abi_simparam simparam;
    double abstime;
    double *prev_solve, *prev_state, *next_state;
    uint32_t flags;
    void *history; /* of newer 0.4 libraries with absdelay */
    double (*past)(void *history, uint32_t delay, double time, double now);
} osdi_abi_info;

typedef struct osdi_abi_init_error {
    uint32_t code, param;
} osdi_abi_init_error;

typedef struct osdi_abi_init {
    uint32_t flags, n_error;
    osdi_abi_init_error *error; /* malloc'ed by the library */
} osdi_abi_init;

typedef struct osdi_abi_pair {
    uint32_t a, b;
} osdi_abi_pair;

typedef struct osdi_abi_jacobian {
    osdi_abi_pair nodes; /* row, column */
    uint32_t react_ptr_off, flags;
} osdi_abi_jacobian;

typedef struct osdi_abi_node {
    char *name, *unit, *residual_unit;
    uint32_t resist_off, react_off, resist_limit_off, react_limit_off;
    bool is_flow;
} osdi_abi_node;

typedef struct osdi_abi_param {
    char **name; /* [1 + n_alias] */
    uint32_t n_alias;
    char *description, *unit;
    uint32_t flags, len; /* len 0: a scalar */
} osdi_abi_param;

typedef struct osdi_abi_noise {
    char *name;
    osdi_abi_pair nodes;
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
    osdi_abi_pair *collapsible;
    uint32_t collapsed_off; /* bool [n_collapsible] in the instance */
    osdi_abi_noise *noise;
    uint32_t n_noise;
    uint32_t n_param, n_inst_param, n_opvar;
    osdi_abi_param *param; /* instance parameters, model parameters, operating-point variables */
    uint32_t node_map_off; /* uint32_t [n_node] in the instance */
    uint32_t jac_ptr_off;  /* double * [n_jacobian] in the instance */
    uint32_t n_state, state_off; /* uint32_t [n_state] in the instance */
    uint32_t bound_step_off;     /* double in the instance, UINT32_MAX: none */
    uint32_t inst_size, model_size;
    void *(*access)(void *inst, void *model, uint32_t id, uint32_t flags);
    void (*setup_model)(void *handle, void *model, osdi_abi_simparam *sim, osdi_abi_init *res);
    void (*setup_inst)(void *handle, void *inst, void *model, double kelvin, uint32_t n_terminal,
                       osdi_abi_simparam *sim, osdi_abi_init *res);
    uint32_t (*eval)(void *handle, void *inst, void *model, osdi_abi_info *info);
    void (*load_noise)(void *inst, void *model, double freq, double *density);
    void (*load_residual_resist)(void *inst, void *model, double *dst);
    void (*load_residual_react)(void *inst, void *model, double *dst);
    void (*load_limit_resist)(void *inst, void *model, double *dst);
    void (*load_limit_react)(void *inst, void *model, double *dst);
    void (*load_spice_rhs_dc)(void *inst, void *model, double *dst, double *prev);
    void (*load_spice_rhs_tran)(void *inst, void *model, double *dst, double *prev, double alpha);
    void (*load_jacobian_resist)(void *inst, void *model);
    void (*load_jacobian_react)(void *inst, void *model, double alpha);
    void (*load_jacobian_tran)(void *inst, void *model, double alpha);
    /* from 0.4 on */
    uint32_t (*given_model)(void *model, uint32_t id);
    uint32_t (*given_inst)(void *inst, uint32_t id);
    uint32_t n_resist_jacobian, n_react_jacobian;
    void (*write_jacobian_resist)(void *inst, void *model, double *dst);
    void (*write_jacobian_react)(void *inst, void *model, double *dst);
    uint32_t n_input;
    osdi_abi_pair *input;
    void (*load_jacobian_with_offset_resist)(void *inst, void *model, size_t offset);
    void (*load_jacobian_with_offset_react)(void *inst, void *model, size_t offset);
    osdi_abi_nature_ref *unknown_nature, *residual_nature;
    /* of newer libraries of 0.4 */
    uint32_t *noise_type;
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
