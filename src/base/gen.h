/* gen.h - what was made from what: generation counters.
 * Use:    gen_node for each input and each object derived from inputs, gen_edge, gen_seal; then
 *         gen_change when an input is set, gen_current to ask whether an object is up to date,
 *         gen_rebuilt when it was made again. gen_next gives the objects that changes have reached,
 *         each once.
 * Each node has two counters: `due`, the moment of the last change that reached it, and `made`, the
 * moment it was made. A change goes along the edges once, when it happens, and only to what depends
 * on it; a question is one comparison of integers. Values are never compared. */
#ifndef GEN_H
#define GEN_H

#include "vs.h"

/* What a node is: id, word of reports. */
/* clang-format off */
#define GEN_KIND_LIST(X) \
    X(INPUT, "inputs")       /* parameter, temperature, option, sample, value that was altered */ \
    X(NETLIST, "netlists")   /* the flat netlist as a whole */ \
    X(PART, "subcircuits")   /* what one instance of a subcircuit gives to it, expanded again */ \
    X(VALUE, "values")       /* numbers of an instance or a model card in the flat netlist */ \
    X(DEVICE, "devices")     /* which row an instance has */ \
    X(ROW, "rows")           /* parameter row of devices with its setup values */ \
    X(SOURCE, "sources")     /* value and waveform of an independent source */ \
    X(START, "starts")       /* initial conditions */ \
    X(PATTERN, "patterns")   /* circuit: unknowns, pattern, places of stamps */ \
    X(SYMBOLIC, "symbolic")  /* ordering of the matrix */ \
    X(FACTORS, "factors")    /* numeric factors; here values are compared (lu.c) */ \
    X(LINEAR, "linear")      /* conductances and capacitances in place of kernels (ckt_small.c) */ \
    X(OP, "points")          /* operating point */
/* clang-format on */
typedef enum gen_kind {
#define X(id, text) GEN_##id,
    GEN_KIND_LIST(X)
#undef X
        GEN_N_KIND
} gen_kind;
const char *gen_kind_name(gen_kind k);

typedef struct gen_count {
    int64_t lookups, invalid, rebuilt; /* questions; objects that became out of date; made again */
} gen_count;

typedef struct gen_node_data {
    uint64_t due, made;
    int32_t kind,
        first; /* first: of its dependents in gen.to; those end where the next node's begin */
} gen_node_data;

typedef struct gen {
    uint64_t tick;
    gen_node_data *node; /* vec; one more behind the last when sealed */
    int32_t *to;         /* vec; dependents */
    int32_t *edge;       /* vec of pairs, before gen_seal */
    int32_t *reached;    /* vec: queue of gen_next */
    size_t next;
    bool sealed;
    gen_count count[GEN_N_KIND];
} gen;

/* An empty graph, whose counts are 0. */
void gen_init(gen *g);
void gen_fini(gen *g);
/* Forgets nodes and edges; the counts stay. */
void gen_clear(gen *g);
/* The number of a new node, from 0 on in order. Nodes and edges are made before gen_seal. */
int32_t gen_node(gen *g, gen_kind kind);
/* `to` depends on `from`. */
void gen_edge(gen *g, int32_t from, int32_t to);
/* Nodes and edges are complete; everything counts as up to date. */
void gen_seal(gen *g);
/* The input has another value: everything that depends on it, also through others, is out of date.
 * Costs what depends on it. Allocates only room for the queue. */
void gen_change(gen *g, int32_t node);
/* The object is out of date by itself, for an input that has no node; so is what depends on it. */
void gen_outdate(gen *g, int32_t node);
/* The next node (not an input) that changes have reached since the last call, -1: no more. */
int32_t gen_next(gen *g);
/* The object was made anew: it is up to date, and counted. */
void gen_rebuilt(gen *g, int32_t node);

/* Whether the object is up to date; counts the question. */
static inline bool gen_current(gen *g, int32_t node)
{
    const gen_node_data *n = &g->node[node];
    g->count[n->kind].lookups++;
    return n->made >= n->due;
}

#endif
