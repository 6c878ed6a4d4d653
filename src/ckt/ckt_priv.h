/* ckt_priv.h - what the files of src/ckt share: the circuit itself. */
#ifndef CKT_PRIV_H
#define CKT_PRIV_H

#include "ckt.h"
#include "csc_cut.h"
#include "dev_lin.h"
#include "map.h"
#include "nat_source.h"
#include "pool.h"

typedef struct ckt_inst { /* there may be a million of them */
    const char *name;
    mdl_model *model;
    int32_t row, first; /* first: its unknowns are unk[first .. + mdl_n_unknown) */
    uint32_t off;       /* of its place: see ckt_inst_span */
    uint16_t file, len; /* file: + 1; 0: no place is known */
} ckt_inst;
static inline diag_span ckt_inst_span(const ckt_inst *in)
{
    return in->file ? (diag_span){in->file - 1, in->off, in->len} : DIAG_NOWHERE;
}

typedef struct ckt_names { /* open table of unknowns by their interned names */
    int32_t *slot;         /* [cap] unknown + 1; 0: free */
    size_t cap, n;
} ckt_names;

typedef struct ckt_wrap { /* an unknown z that counts modulo m (idtmod) */
    int32_t z, m;
} ckt_wrap;

typedef struct ckt_ic {
    int32_t p, n;
    double value;
} ckt_ic;

typedef struct ckt_sets { /* sets of nodes: that of k is node[at[k]] to node[at[k + 1] - 1] */
    int32_t *at, *node;   /* vecs; NULL: there is none */
} ckt_sets;

typedef struct ckt_fix { /* what the topology check adds to make dc solvable */
    enum {
        CKT_FIX_SHUNT,  /* gmin from a node to ground, in static loads and, if `always`, in all: */
                        /* CKT_FIRM_SIEMENS in the others, if `firm` and not `loose`, and at rest */
                        /* if `stiff` or `held` */
        CKT_FIX_SERIES, /* loop_ohm (ckt_stamp.c) in a branch, in static loads */
        CKT_FIX_UNIT    /* x = 0 for an unknown that is not in any static equation */
    } kind;
    int32_t unknown;
    bool always, firm;
    bool fed;      /* a current may come from outside: a firm one must not carry it */
    bool held;     /* gmin of devices alone joins the part to ground: firm at rest, too */
    bool loose;    /* at the operating point it does, by gmin: gmin in time, too */
    bool stiff;    /* gmin is rounding beside the conductances of the part */
    bool second;   /* another one has the level of the part in time: not firm there */
    bool soft;     /* every node has a resistor to ground: gmin, which holds nothing, everywhere */
    int32_t set;   /* of c->still whose level it holds at rest; 0: that of a part, or of its node */
    int32_t whole; /* the part, of c->moving: shunts of one have the same number */
    int32_t slot;
} ckt_fix;

/* What the topology of a row says of all its devices. */
typedef struct ckt_shape {
    const mdl_model *model; /* NULL: of none yet */
    int32_t *topo;          /* vec, [unknowns] mdl_row_topology */
    bool only_current;      /* one of its unknowns is a current */
    int32_t *root;          /* vec, [unknowns] the one each is: -1 reference, -2 not in use */
    bool *is_usual;         /* vec, [ports] tolerances are those of options */
} ckt_shape;

struct ckt {
    arena mem;
    str_pool own_names; /* unless opt.names is given */
    str_pool *names;
    diag *d;
    ckt_opt opt;
    ckt_unknown *unknown; /* vec; [0] reference */
    ckt_tolerance *tol;   /* vec; [0] zeros; few differ */
    ckt_names by_name;
    map source_by_name;
    ckt_inst *inst;       /* vec */
    int32_t *unk;         /* vec; from ckt_make_groups on group by group */
    ckt_shape shape[8];   /* of devices that were added, */
    uint32_t n_shape;     /* and how many were made */
    nat_list nat;         /* native devices */
    nat_sources *sources; /* those of nat that are independent sources */
    bool has_own;         /* one has, or had, a waveform of the client */
    ckt_wrap *wrap;       /* vec */
    ckt_ic *ic;           /* vec */
    bool finished;
    unsigned forms;
    dev_group *group;  /* vec */
    double last_break; /* what ckt_next_break said last */
    ckt_fix *fix;      /* vec */
    ckt_firm *firm;    /* vec */
    ckt_sets still;    /* those without a path to ground at rest, by a root each */
    ckt_sets moving;   /* isolated parts */
    csc a;
    int32_t *diag_slot; /* [n+1], -1: none */
    double *out;        /* [n_buffer][out_size] outputs of batches */
    size_t out_size;
    int32_t n_buffer;
    pool *pool;          /* NULL: one thread */
    double parallel_min; /* operations of a group's evaluation, above which threads share it */
    bool loaded;         /* there was a load; what follows is of the last one */
    ckt_env env;         /* where small_has_env, ckt_small_env has it */
    bool small_has_env;  /* a copy would wait at each load, see hot.h */
    double dyn[IR_N_DYN];
    double *qlo;         /* [n+1] rounding of the sums of q, of the last load */
    double *x;           /* [n+1] */
    double bound, asked; /* largest next step; length that this one should have had; +inf */
    ckt_stat stat;
    bool time_all;                  /* every load is timed, also those of small circuits */
    double s_clock;                 /* seconds that reading the clock takes */
    bool has_effects;               /* a device, or a source, has state or effects */
    int32_t n_heavy;                /* in circuits of few devices: those whose evaluation is long */
    bool has_limits;                /* a device has limited voltages */
    bool asks_weight;               /* a group holds linearisations */
    struct ckt_bypass_work *bypass; /* groups keep linearisations; else NULL */
    struct csc_cut *rows;           /* parts of sums for threads; NULL: one thread sums */
    arena rows_mem;                 /* of `rows`, and of entries that groups hold */
    int32_t *piece_home;            /* [parts + 1] pieces of each thread of what moved in a group */
    struct ckt_pairs *pairs;        /* resistors and capacitors, ckt_pairs.c; NULL: none yet */
    bool is_latent;                 /* cells of it are in use */
    struct ckt_latent *latent;      /* parts that do not move (ckt_latent.h); NULL: not yet asked */
    struct ckt_small *small;        /* small circuits: how TRAN loads are made; else NULL */
    void (*line)(void *user, const char *text);
    void *line_user;
    const char **said;          /* vec; lines for a sink that is not there yet */
    ckt_noise *noise;           /* vec; of the last ckt_load_ac */
    ckt_noise_gain *noise_gain; /* vec */
    map inst_by_name;           /* device name -> number; made at the first question */
    lu_solver spare;            /* ordering that no analysis has at present; fac NULL: none */
    struct ckt_redo *redo;      /* NULL: nothing was done again yet */
    bool redoing;               /* ckt_add_... compare */
};

/* The form that loads evaluate. A circuit that has a transient needs no second set of kernels for
 * its operating point: with alpha = 0 the transient form has J = G, and its charges are left out.
 */
static inline mdl_form_kind ckt_form_of(const ckt *c, ckt_mode mode)
{
    return mode == CKT_STATIC && !(c->forms >> MDL_TRAN & 1) ? MDL_DC : MDL_TRAN;
}

/* Whether loads need matrix entries of charges (some form other than MDL_DC is in use). */
static inline bool ckt_is_reactive(const ckt *c) { return (c->forms & ~(1u << MDL_DC)) != 0; }

/* The same of a group: those that hold linearisations have no kernel of the form TRAN. */
static inline mdl_form_kind ckt_group_form(const ckt *c, const dev_group *g, ckt_mode mode)
{
    return g->lin ? MDL_APART : ckt_form_of(c, mode);
}

/* Details of sources: ckt_detail.k */
enum {
    CKT_SOURCE_DC,
    CKT_SOURCE_ACMAG,
    CKT_SOURCE_ACPHASE,
    CKT_SOURCE_I,
    CKT_SOURCE_V,
    CKT_SOURCE_P,
    CKT_SOURCE_ACREAL,
    CKT_SOURCE_ACIMAG
};
/* ckt_asked.c. What ngspice tells of elements, beside variables and parameters of their models. */
bool ckt_asked_find(const ckt *c, int32_t device, const char *name, ckt_detail *d);
char ckt_letter_of(const char *device); /* of the element it comes from: 'r' of "x1.r1" */
void ckt_asked_names(const ckt *c, int32_t device, const char ***names); /* to the vec */
/* Of a detail that is a voltage or a flux. */
VS_MUST_USE vs_status ckt_asked_value(ckt *c, const ckt_env *env, const double *x,
                                      const ckt_detail *d, double *value);
/* The source in series that measures a detail: a current, or the power of a capacitor; in
 * transients also a variable of a model that is a current without charges. -1: there is none. */
int32_t ckt_asked_meter(const ckt *c, bool transient, const ckt_detail *d);
double ckt_asked_by_meter(const ckt *c, const double *x, const ckt_detail *d, int32_t source);
typedef struct ckt_outputs { /* of one device; rows are unknowns of the model */
    const double *v;
    const mdl_out *what;
    size_t n;
} ckt_outputs;
/* Whether the outputs of its device give a detail, RES, REACT and OPVAR; its value from them. */
bool ckt_asked_of_outputs(const ckt_detail *d);
double ckt_asked_from(const ckt *c, const ckt_env *env, const double *x, const ckt_detail *d,
                      const ckt_outputs *o);
/* As ckt_device_outputs; rows and columns are unknowns of the model. */
VS_MUST_USE vs_status ckt_device_point(ckt *c, const ckt_env *env, const double *x, int32_t device,
                                       int32_t param, double value, double **out, mdl_out **what);

const char *ckt_own_name(const ckt *c, const char *name); /* interned in the circuit's pool */
/* Unknowns for ckt_event.c: of a digital node, of the current of a dac. */
int32_t ckt_unknown_of_event(ckt *c, const char *name);
int32_t ckt_branch_of_event(ckt *c, const char *name);

/* ckt_group.c. The name of an instance, for dev_group.who; the groups, with their kernels. */
const char *ckt_name_for(const void *c, int32_t inst);
VS_MUST_USE vs_status ckt_make_groups(ckt *c);
/* Whether the circuit would have the same groups on the same variants if its instances had the rows
 * row[instances].
 *   in     in  [instances] those of models that may be concerned; all of a model, or none
 *   group  in  [instances] */
bool ckt_same_groups(const ckt *c, const int32_t *row, const uint8_t *in, const int32_t *group);
/* Sets in[instances] for models of which ckt_make_groups may put rows with different variants on
 * one. */
void ckt_mark_small(const ckt *c, uint8_t *in);
/* How many batches may be evaluated and not yet stamped. */
int ckt_buffers_of(const ckt *c);
/* ckt_stamp.c: what `analysis()` and its kin see. */
/* Begins c->rows beside the caller (pool_aside), if there are enough entries for threads; after the
 * pattern. */
void ckt_rows_begin(ckt *c);
/* What a load does with all rows and entries, by threads where there are parts. */
typedef struct ckt_all {
    const double *x;
    double *f, *q, *fmax, *qmax; /* [n+1] */
    bool charges;                /* q and qmax too */
    bool held, paired;           /* which sums there are: of linearisations; of R and C */
    bool matrix;                 /* of R and C the matrix alone */
    double alpha;
} ckt_all;
/* Also c->qlo; c->x becomes x. The matrix becomes that of R and C. */
void ckt_clear_all(ckt *c, const ckt_all *l);
void ckt_clear_rows(ckt *c, double *v);        /* v [n+1] */
void ckt_sum_all(ckt *c, const ckt_all *l);    /* adds the rest of the sums */
bool ckt_finite_all(ckt *c, const ckt_all *l); /* f, q and the matrix are finite */

void ckt_fill_dyn(double *dyn, const ckt_env *env);
/* An output BOUND_STEP of a model. */
static inline void ckt_take_bound(double v, double *bound, double *asked)
{
    if (v > 0)
        *bound = v < *bound ? v : *bound;
    else if (v < 0)
        *asked = -v < *asked ? -v : *asked;
}
/* ckt_topo.c. Messages and c->fix. Status: VS_OK, VS_EINPUT (loop of voltage sources). */
VS_MUST_USE vs_status ckt_check_topology(ckt *c);
/* ckt_pattern.c. Entries of all devices in a form, unsorted, to the end of *e. */
void ckt_device_entries(const ckt *c, mdl_form_kind form, csc_entry **e);
void ckt_rest_entries(const ckt *c, csc_entry **e); /* the same, static ones that act at rest */
void ckt_own_entries(const ckt *c, csc_entry **e);  /* and would without gmin */
/* Whether instance i has another row than the one before it, and so perhaps another variant. */
bool ckt_has_own_row(const dev_group *g, int32_t i);
/* Which outputs of instance i are 0 where gmin is, out [n_out]. */
void ckt_outputs_by_gmin(const dev_group *g, mdl_form_kind form, int32_t i, bool *out);
/* Whether a current or a charge of instance i follows the probe, though gmin be 0. */
bool ckt_looks_at(const dev_group *g, mdl_form_kind form, int32_t i, int32_t probe);
bool ckt_has_still(const ckt *c); /* these differ: some static ones are 0 at rest */
void ckt_sort_entries(const ckt *c, csc_entry *e);                /* sorts the vec, drops copies */
bool ckt_has_entry(const csc_entry *e, int32_t row, int32_t col); /* e sorted */
void ckt_make_pattern(ckt *c); /* c->a, c->diag_slot, all slots */

void ckt_fill_dyn(double *dyn, const ckt_env *env); /* what `analysis()` and its kin see */
/* The same of small signals; limiting is off. */
void ckt_fill_dyn_ac(double *dyn, const ckt_env *env, bool noise);
double ckt_fix_value(const ckt_fix *k, const ckt_env *env); /* its conductance, or 1 */
/* The same of one that is there always, in small signals. */
double ckt_fix_ac_value(const ckt_fix *k, const ckt_env *env);
/* ckt_bypass.c. The groups with linearisations (dev_lin.h), in a load: _begin, _eval for each, _sum
 * for all together; then nothing of them is stamped. timed: 0, or what measured seconds are
 * multiplied by. _make at the end of ckt_finish, if there are any. */
void ckt_bypass_make(ckt *c);
void ckt_bypass_fresh(ckt *c); /* the sums are to be made anew */
void ckt_bypass_begin(ckt *c, const dev_lin_at *at);
/* Evaluates the instances of g that moved, and adds to the sums what that changed. many: by the
 * circuit's threads. Status: as dev_eval. */
VS_MUST_USE vs_status ckt_bypass_eval(ckt *c, dev_group *g, bool many, const dev_lin_at *at,
                                      int timed);
/* Adds to f, q, c->qlo and the matrix in the rows of a part, -1: in all. */
void ckt_bypass_sum(ckt *c, const ckt_all *l, int32_t part);
/* The entries that the sums have: columns and rows, and the place of each in the circuit's
 * matrix. */
const csc *ckt_bypass_held(const ckt *c, const int32_t **place);
const struct csc_cut *ckt_bypass_held_rows(const ckt *c); /* in the parts of c->rows, or NULL */
/* fmax, qmax of what was evaluated. */
void ckt_bypass_sizes(ckt *c, double *fmax, double *qmax);
bool ckt_bypass_is_fresh(const ckt *c);            /* this load makes the sums anew */
const dev_lin_sums *ckt_bypass_sums(const ckt *c); /* the circuit's, as of the last load */
/* Since ckt_bypass_begin limiting moved a voltage of a device. */
bool ckt_bypass_limited(const ckt *c);
void ckt_bypass_accept(ckt *c);           /* the last load's point was accepted */
void ckt_bypass_image(ckt *c, image *im); /* the sums, and how old they are */
/* ckt_linear.c. f and q of degree 1 in the probes, the Jacobian of setup values and alpha alone. */
bool ckt_fn_is_linear(const ir_fn *fn);
/* ckt_small.c. Two-terminal elements with a constant conductance or capacitance. */
typedef struct ckt_pair {
    int32_t p, n;    /* value (x_p - x_n) into p, the opposite into n */
    int32_t at;      /* ckt_small.c: where they stand, one after the other */
    double value;    /* S or F */
    int32_t slot[4]; /* (p,p) (p,n) (n,p) (n,n) */
} ckt_pair;
/* Appends all instances of a group of such elements as pairs to the vec *to; false: the group
 * cannot be written as pairs, and its kernel has to run. *charge: they are capacitances. */
bool ckt_take_pairs(ckt *c, dev_group *g, ckt_pair **to, bool *charge);
/* ckt_pairs.c: these in large circuits, TRAN only. */
typedef struct ckt_pair_at { /* those between two unknowns, p > n, together */
    int32_t p, n;
    double y;    /* S or F */
    double most; /* |y| of the largest one */
} ckt_pair_at;
void ckt_pairs_make(ckt *c);  /* before each load; does nothing if they are made */
void ckt_pairs_fresh(ckt *c); /* values may be others */
void ckt_pairs_free(ckt *c);
bool ckt_is_paired(const ckt *c, size_t group); /* its instances are in the list, no kernel runs */
/* All pairs, [*n]; resistors first, then capacitors, each by p, then n. NULL: none. */
const ckt_pair_at *ckt_pairs_list(const ckt *c, int32_t *n);
int32_t ckt_pairs_n_resistor(const ckt *c);   /* the first of that list */
const double *ckt_pairs_sums(const ckt *c);   /* [2 (nnz + 1)] G and C in turn; NULL: no pairs */
void ckt_pairs_visit(ckt *c, uint8_t *visit); /* [n + 8] which are loaded; NULL: all */
/* Adds to f, q, c->qlo, fmax, qmax: in all rows; in those of a part. */
void ckt_pairs_load(const ckt *c, const double *x, double *f, double *q, double *fmax,
                    double *qmax);
void ckt_pairs_load_part(const ckt *c, int32_t part, const double *x, double *f, double *q,
                         double *fmax, double *qmax);
/* ckt_wires.c. A wire is a set of unknowns that paired resistors join, or one unknown without.
 *   pinned  in   [n+1] these belong to none, and join none
 *   order   out  [n+1] all others, wire by wire; ascending within one, wires by their first
 *   size    out  [n+1] unknowns of each wire
 * Returns how many are in `order`. */
int32_t ckt_wires(const ckt *c, const bool *pinned, int32_t *order, int32_t *size);
/* ckt_latent.c: a load while parts are latent. Its vectors in the order of the circuit are those of
 * ckt_latent_scatter, x is c->x. */
typedef struct ckt_latent ckt_latent;
typedef struct ckt_load_sums {
    double *f, *q, *fmax, *qmax; /* [n+1]; the rest of q in c->qlo */
    const double *weight;
} ckt_load_sums;
int32_t ckt_latent_n_latent(const ckt *c); /* unknowns that are */
/* Between ckt_latent_begin and _end. */
static inline bool ckt_is_latent(const ckt *c) { return c->is_latent; }
/* c->x and the weights of unknowns that are awake, from x and weight (NULL: 0) in slots of
 * cells. Returns the sums for the load to add to: qlo, fmax and qmax of rows that are awake are 0
 * now; their f and q are set by ckt_latent_sum. */
ckt_load_sums ckt_latent_scatter(ckt *c, const double *x, const double *weight);
/* Sets f, q and matrix entries of rows that are awake; the rest is added. fresh: the sums were made
 * anew. */
void ckt_latent_sum(ckt *c, const dev_lin_at *at, bool fresh);
/* Before a load: makes the sums anew, but of rows of pinned unknowns, to which evaluated devices
 * added since they were made. false: these are most, so that all had better be made anew. */
bool ckt_latent_renew(ckt *c, const dev_lin_sums *s);
/* Adds what pairs give at x [n+1], by the rows of threads where these share what is awake. */
void ckt_latent_pairs(ckt *c, const double *x);
/* The sums of rows that are awake, in slots of cells. */
void ckt_latent_gather(ckt *c, double *f, double *q, double *fmax, double *qmax);
/* [n+1] what is added to q to be exact, as c->qlo, in slots of cells. */
const double *ckt_latent_rest(const ckt *c);
/* As ckt_source_terms, in slots of cells. */
void ckt_latent_source_terms(ckt *c, const ckt_env *env, double *to);
void ckt_latent_free(ckt *c);
/* ckt_redo.c: ckt_add_... while redoing: the same devices, sources and .ic come in the same order.
 * Rows of devices are noted until ckt_redo_end, sources and .ic take their values at once. Where
 * something is another, ckt_redo_fails keeps the first reason, a static text, and the redo ends
 * with it. Status: VS_OK; VS_REJECT: it has failed. */
VS_MUST_USE vs_status ckt_redo_device(ckt *c, const mdl_model *m, int32_t row,
                                      const int32_t *terminal);
VS_MUST_USE vs_status ckt_redo_source(ckt *c, bool is_v, int32_t p, int32_t n, const wave *w,
                                      double m);
void ckt_redo_ic(ckt *c, int32_t p, int32_t n, double value);
void ckt_redo_fails(ckt *c, const char *why);
void ckt_redo_free(ckt *c);
/* ckt_small.c. Values of groups that have pairs are others; false: it must be made anew. */
bool ckt_small_refresh(ckt *c);
/* Its instances are loaded as conductances or capacitances, no kernel runs. */
bool ckt_small_has_pairs(const ckt *c, int32_t group);
void ckt_small_fresh(ckt *c); /* what the last load left is not to be used by the next one */
/* ckt_small.c. Whether the circuit is small enough; _make: c->small, at the end of ckt_finish. */
typedef struct ckt_small ckt_small;
bool ckt_small_suits(const ckt *c);
/* When the groups are made: whether the circuit is to be loaded so. */
bool ckt_small_pays(const ckt *c);
void ckt_small_make(ckt *c);
void ckt_small_drop(ckt *c); /* c->small is NULL again: loads go the way of large circuits */
/* The part of ckt_load between its preparation and its test for finite values, TRAN only.
 * timed: 0, or what measured seconds are multiplied by. */
VS_MUST_USE vs_status ckt_small_load(ckt *c, const ckt_env *env, const double *x, double *f,
                                     double *q, double *fmx, double *qmx, bool *limited, int timed);
ckt_env ckt_small_env(const ckt *c); /* of the last such load: what devices see of it */
/* Its test: whether f, q and the matrix of the load are finite, or, where these are fewer, the
 * contributions that they are sums of: kernels write them by vectors, for which a look by vectors
 * need not wait. */
bool ckt_small_is_finite(const ckt *c, const double *f, const double *q);

#endif
