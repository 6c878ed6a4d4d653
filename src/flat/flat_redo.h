/* flat_redo.h - between flat_redo.c (values again) and flat_again.c (subcircuit instances again):
 * the plan. */
#ifndef FLAT_REDO_H
#define FLAT_REDO_H

#include "flat_priv.h"

enum {
    MAX_TREES = 16 << 20
}; /* bytes of trees that redos may make; with more the deck is expanded anew */

typedef struct slot {
    flat_slot_at at;
    uint64_t mask;
    scope *s;
    const rhs *v;
    int32_t inst;   /* owner; -1: none */
    busy before;    /* the count of statistical functions before its evaluation */
    int32_t n_draw; /* and behind it */
} slot;

typedef struct fact { /* decided once per scope; in the order of the extent */
    enum { FACT_GUARDS, FACT_M } what;
    uint64_t mask;
    scope *s;
    const rhs *m; /* M: NULL: as its caller's */
} fact;

/* The entries of the flat netlist that a subcircuit instance made: from .. to of each list, with
 * those of the instances inside it. */
typedef enum made_list {
    MADE_NODE,
    MADE_INST,
    MADE_MODEL,
    MADE_IC,
    MADE_NODESET,
    MADE_SAVE,
    MADE_N_LIST
} made_list;
typedef struct extent {
    scope *s;
    const elem *e;
    int32_t n_extent; /* itself and those inside it, which follow it */
    int32_t from[MADE_N_LIST], to[MADE_N_LIST];
} extent;
typedef struct aim { /* a name that something outside looked up; path: of the scope it stands in */
    const char *path, *name;
} aim;

struct flat_plan {
    fact *fact;         /* vec */
    extent *extent;     /* vec; in the order of the extent */
    aim *aim;           /* vec; names that were looked up after all elements had been made */
    scope **dirty;      /* vec: scopes to expand again */
    const char **again; /* vec: paths of those that the present redo has expanded again */
    bool own;           /* node, inst, model, ic and nodeset of the netlist are vecs of the plan */
    slot *slot;         /* vec; in the order of owners when kept */
    pval **param;       /* vec; parameters that depend on knobs, */
    uint64_t *mask;     /* vec; and their masks, if `masked` says that these are known */
    bool masked;
    pval **anew; /* vec; parameters that the present redo evaluates */
    uint64_t structure;
    flat_owner *owner;  /* vec */
    const char **knob;  /* vec; names of parameters from outside, then those of watch */
    map knob_of;        /* name -> place in it */
    const char **watch; /* vec; interned, lower case */
    flat_ctx c;         /* of the extent */
    arena trees;
    bool kept, shares;
    uint64_t changed;     /* of the present redo */
    bool any_tree, moved; /* moved: of the owner under way */
    arena_pos scratch;
};

/* flat_redo.c: sorts the slots by owner and makes the list of owners. */
void flat_sort_slots(flat_plan *p);

/* -- flat_again.c -- */
/* Is s one of the scopes to expand again, or inside one? */
bool flat_is_dirty(const flat_plan *p, const scope *s);
/* Notes which names the expansion looked up, before its tables are freed. */
void flat_note_aims(flat_plan *p, const flat_ctx *c);
/* Expands the dirty scopes again and replaces their elements, nodes and models by the new ones.
 * false: the result might differ from that of a whole expansion. */
bool flat_redo_instances(flat_plan *p);

#endif
