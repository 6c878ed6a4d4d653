/* mdl_count.h - figures about a module and its variants as the model compiler made them.
 * Use:    mdl_count for a module without a circuit; mdl_figure for a variant in use.
 * How branches are counted, and what the numbers mean: docs/explain.md. */
#ifndef MDL_COUNT_H
#define MDL_COUNT_H

#include "mdl.h"

/* Places where a function chooses: each `if`, each loop, and the selects, those with one condition
 * counted once. model + inst + temp + dynamic = total; a condition counts for the last of them that
 * it depends on. */
typedef struct mdl_branches {
    int total;
    int model, inst,
        temp;           /* decided by model parameters; instance parameters; temperature, options */
    int dynamic;        /* by a voltage, the time, the state of the iteration */
    int loops, selects; /* of total: loops; distinct conditions of selects */
} mdl_branches;

/* A module: its function as lowered and after ir_opt, the equation form, the transient form. */
typedef struct mdl_counts {
    int values_lowered, values_opt, derivatives;
    mdl_branches branches; /* as lowered */
    int setup_values, unknowns, params, noise_sources;
} mdl_counts;
void mdl_count(mdl_model *m, mdl_counts *c);

/* A variant beside the unspecialised function of its form ("before"). Values are instructions that
 * compute something: no constants, inputs, markers. */
typedef struct mdl_figures {
    int32_t number; /* of the variant among those of the module in its form, from 1 */
    mdl_branches before;
    int blocks_before, blocks_after; /* of the control flow graph: a region has three */
    int blocks_dead;                 /* of blocks_before: cannot run with these parameters */
    int branches_decided;            /* before.total less those that follow */
    int branches_select;             /* distinct conditions of selects left */
    int branches_left;               /* ifs and loops left */
    int selects;                     /* select instructions left */
    int values_before, values_after;
    int values_setup; /* computed once per parameter row, by the interpreter */
    int derivatives_before, derivatives_after; /* entries of G, C and J that are written */
    int constants;                             /* values found to be constant */
    int setup_values;                          /* kept per parameter row */
    int divisions, roots, functions;           /* left; functions: exp, ln, pow and the like */
    int unknowns_before, unknowns_after;       /* per instance, terminals among them */
    /* The evaluation part alone, setup split off before specialisation, then every setup value of
     * the row taken as a constant: how others count (bench/RESULTS.md). */
    struct {
        int setup_values, branches_static, blocks, blocks_dead;
        int branches_decided; /* ifs and loops on the way that is taken */
        int constants;
    } split;
    size_t code_bytes;
    double compile_seconds; /* 0: from the cache, or not compiled */
    bool from_cache;
} mdl_figures;
/* row: one that uses v. */
void mdl_figure(mdl_model *m, const mdl_variant *v, int32_t row, mdl_figures *f);

#endif
