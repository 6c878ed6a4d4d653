/* osdi_priv.h - what the files of src/osdi share. */
#ifndef OSDI_PRIV_H
#define OSDI_PRIV_H

#include "map.h"
#include "osdi.h"

enum {
    OSDI_N_DYN = 3
}; /* $simparam names with values that change: gmin, sourceScaleFactor, iteration */

struct osdi_file {
    int64_t asked; /* number of the last osdi_load for it; 0: none since osdi_forget_loads */
    vs_status st;  /* of loading it */
    char *path;
    void *handle;
    uint32_t minor;
    uint32_t size; /* of a descriptor */
    uint32_t n_nature, n_discipline, n_attribute;
    const osdi_abi_nature *nature;
    const osdi_abi_discipline *discipline;
    const osdi_abi_attribute *attribute;
};

typedef struct osdi_own { /* a module with what instances share */
    osdi_module pub;
    map param_of;       /* lower-case name in lib->names -> id */
    double *g, *c;      /* [n_jacobian] all instances' Jacobian entries go here */
    double *work;       /* [n_node] */
    osdi_model **model; /* vec */
} osdi_own;

/* The first argument of a library's functions, which its messages give back. */
typedef struct osdi_handle {
    osdi_lib *lib;
    const char *who;
    diag *d; /* NULL: to the line sink */
    diag_span at;
} osdi_handle;

struct osdi_model {
    osdi_own *own;
    void *data;
    osdi_set *set; /* vec */
    double simparam[IR_N_SIMPARAM];
    osdi_handle handle;
};

typedef struct osdi_inst_own {
    osdi_inst pub;
    osdi_handle handle;
} osdi_inst_own;

struct osdi_lib {
    arena mem;
    str_pool names;
    osdi_file **file;     /* vec */
    int64_t n_asked;      /* calls of osdi_load */
    osdi_own **module;    /* vec */
    osdi_inst_own **inst; /* vec */
    char *sim_name[IR_N_SIMPARAM + OSDI_N_DYN + 1];
    double sim_value[IR_N_SIMPARAM + OSDI_N_DYN + 1];
    char *sim_none[1];
    void (*line)(void *user, const char *who, const char *text, int level);
    void *line_user;
};

/* Does the descriptor reach as far as a field? */
#define osdi_has(file, field) \
    ((file)->size >=          \
     offsetof(osdi_abi_descriptor, field) + sizeof(((osdi_abi_descriptor *)0)->field))

/* osdi_elf.c: why the file at a path cannot be a whole library (static text); NULL: its headers and
 * its length agree. */
const char *osdi_elf_fault(const char *path);
/* osdi_limit.c: the function for a name and number of arguments, NULL: not known. */
void *osdi_limiter(const char *name, uint32_t n_arg);

#endif
