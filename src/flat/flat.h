/* flat.h - a deck without hierarchy: every subcircuit expanded, every parameter evaluated.
 * Use:    net_read (net.h) gives the deck of cards; flat_build expands it; src/elab binds devices.
 * It knows element letters and their terminals, but no device model. */
#ifndef FLAT_H
#define FLAT_H

#include "net.h"
#include "vec.h"

typedef struct flat_param {
    const char *name; /* lower case, interned; "c[0]", "c[1]", ... for c=[...] of a model card */
    double value;
    const char *str; /* string value ("..." or a bare word that is no number), else NULL */
    diag_span span;  /* of the value */
} flat_param;

typedef struct flat_model { /* one evaluated .model card */
    const char *name;       /* as written (lower case, interned); local ones are found in scope */
    const char *type;       /* lower case: "nmos", "d", "r", "psp103va", ... */
    flat_param *param;      /* vec */
    diag_span span;
} flat_model;

typedef enum flat_wave_kind {
    FLAT_DC,
    FLAT_PULSE,
    FLAT_SIN,
    FLAT_EXP,
    FLAT_PWL,
    FLAT_SFFM,
    FLAT_AM,
    FLAT_TRNOISE,
    FLAT_TRRANDOM
} flat_wave_kind;
typedef struct flat_source { /* V and I elements */
    double dc;
    bool dc_given;
    double ac_mag, ac_phase;             /* degrees */
    double disto_mag[2], disto_phase[2]; /* distof1, distof2; degrees */
    flat_wave_kind wave;
    double *arg; /* vec; as written, in the order of the ngspice manual, ch. 4.1; PWL: t, v pairs */
    double pwl_repeat; /* PWL r=: time to repeat from, -1: no repeat */
    double pwl_delay;  /* PWL td= */
    double draw;       /* TRNOISE, TRRANDOM: -1 to 1, drawn by seed and sample; 0 without a seed */
    int32_t port;      /* V: portnum, from 1; 0: no port */
    double z0;         /* ohm, in series with a port; 50. With pwr= the wave is its SIN */
    bool external;     /* a host gives its value */
    diag_span span;
} flat_source;

/* The words of an A element between its name and its model, in order. Only the code model tells
 * which of its ports they connect. */
typedef enum flat_conn_kind {
    FLAT_CONN_NODE, /* index: in flat_inst.node */
    FLAT_CONN_REF,  /* behind %vnam; index: in flat_inst.ref */
    FLAT_CONN_NULL, /* the word null */
    FLAT_CONN_TYPE, /* type: behind the %, "vd" */
    FLAT_CONN_OPEN,
    FLAT_CONN_CLOSE, /* [ ] */
    FLAT_CONN_INVERT /* ~ */
} flat_conn_kind;
typedef struct flat_conn {
    flat_conn_kind kind;
    int32_t index;
    const char *type;
    diag_span span;
} flat_conn;

/* A digital part that a U element of PSpice stands for. */
enum { FLAT_PIN_OPEN = -1 };
typedef struct flat_gate_pin {
    int32_t at; /* index in flat_inst.node; OPEN: not connected; -2 - k: inner node k */
    bool invert;
    diag_span span;
} flat_gate_pin;
typedef enum flat_gate_delay {
    FLAT_DELAY_NONE,
    FLAT_DELAY_LEAST, /* the shortest that ngspice has, 1 ps */
    FLAT_DELAY_MODEL, /* of the timing model */
    FLAT_DELAY_GIVEN
} flat_gate_delay;
typedef struct flat_gate {
    const char *type;   /* of the code model: "d_nand" */
    flat_gate_pin *pin; /* vec, in the order of the code model's ports */
    int32_t n_vector;   /* pins of the port in front if it is a vector, else 0 */
    flat_gate_delay timing;
    double delay; /* GIVEN: s */
} flat_gate;
typedef struct flat_logic {
    const char *device; /* "nand" */
    const char *timing; /* type of its timing model: "ugate"; NULL: it has none */
    flat_gate *gate;    /* vec */
    const char **inner; /* vec: names of the nodes within, behind that of the element */
} flat_logic;
/* What PSpice's least, typical and greatest time (negative: not given) come to: the typical one,
 * else the mean, else the one there is; negative: none. */
double flat_typical(double least, double typical, double most);

/* What few elements have. */
typedef struct flat_rare {
    const flat_model *model; /* NULL: none */
    const flat_model **
        bin; /* vec; with a plan: the bins among which its length and width choose, NULL: no bins */
    const char
        *word; /* the word where a model or value was expected, if it is neither (for messages) */
    flat_source *source; /* V, I */
    /* B: its v= or i= expression; E, G with VALUE/VOL/CUR={..}; R, C, L with one that depends on
     * voltages. Parameters in it are numbers: leaves are numbers, node voltages, branch currents,
     * time, temper, hertz */
    const net_expr *expr;
    const char **ref;      /* vec; names of other elements with path: F, H: the controlling source;
                              K: the inductors; A: sources of %vnam; poly: param "poly" */
    const flat_conn *conn; /* vec; A */
    const flat_logic *logic; /* U: a digital device; NULL: an RC line */
    double *poly;            /* vec; coefficients of POLY(n) E F G H */
    bool ic_given;
    bool shared; /* several elements have it, and the list of parameters beside it */
    int32_t n_ic;
    double ic[4];
    diag_span *node_span; /* [n_node] */
    diag_span model_span;
    const char *plain; /* not NULL: the element is a flat_plain and has none of the above; the name
                          of its one parameter, "value" */
} flat_rare;
/* Of elements that have none of it. */
extern const flat_rare flat_no_rare;

/* The value of an R, C or L that has nothing else. */
typedef struct flat_plain {
    double value;
    uint32_t off, len; /* its place, in the file of the card */
    int32_t node[2];   /* flat_inst.node */
} flat_plain;

enum { FLAT_MOST_NODES = (1 << 21) - 1 };
/* A deck may have a million of them. */
typedef struct flat_inst {
    const char *name; /* with its path: "x1.x2.m3" (lower case) */
    int32_t *node;    /* [n_node] indices of flat->node */
    union {
        flat_param *param; /* vec; key=value pairs, repeated ones last wins (a warning was given);
                              a positional value is the parameter "value" (linear E F G H: "gain").
                              Of R, C and L flat_params tells it */
        const flat_plain *plain; /* rare->plain is not NULL */
    };
    const flat_rare *rare; /* never NULL; flat_own_rare makes it writable */
    double m;              /* product of all m along the hierarchy, the instance's own included */
    diag_span span;        /* the card; name span = first word */
    uint32_t letter : 8;   /* lower case */
    uint32_t n_node : 21;  /* up to FLAT_MOST_NODES */
    uint32_t off : 1;
    uint32_t expr_is_v : 1; /* B, E: the expression is a voltage */
    uint32_t is_row : 1;    /* B made for a shared expression: the row v(node[0]) - expression = 0,
                             * no current */
} flat_inst;
/* Its parameters: a vec, x->param, or that of a plain element, made in `room`. */
typedef struct flat_room {
    vec_head head;
    flat_param param;
} flat_room;
const flat_param *flat_params(const flat_inst *x, flat_room *room);
/* x->rare as the element's own: if others have it too it is copied to mem, and so are the
 * parameters. The element is not plain afterwards. */
flat_rare *flat_own_rare(arena *mem, flat_inst *x);

typedef struct flat_ic { /* .ic, .nodeset */
    int32_t node;
    double value;
    diag_span span;
} flat_ic;

typedef enum flat_ana_kind {
    FLAT_OP,
    FLAT_DCSWEEP,
    FLAT_TRAN,
    FLAT_AC,
    FLAT_NOISE,
    FLAT_TF,
    FLAT_SENS,
    FLAT_PZ,
    FLAT_SP,
    FLAT_HB, /* .hb .hbosc .pss */
    FLAT_HBAC,
    FLAT_HBNOISE, /* .hbnoise .phasenoise */
    FLAT_HBSP,
    FLAT_HBXF,
    FLAT_LSTB,
    FLAT_ACXF, /* transfer from all sources: .acxf, .dcxf */
    FLAT_DCXF,
    FLAT_DISTO,
    FLAT_DCMATCH, /* what random numbers do to an output */
    FLAT_ACMATCH,
    FLAT_N_ANA
} flat_ana_kind;
typedef enum flat_grid { FLAT_DEC, FLAT_OCT, FLAT_LIN, FLAT_LIST } flat_grid;
enum { FLAT_LOOPS = 4, FLAT_COLUMNS = 32 }; /* of .dc; of a table of .data */
typedef struct flat_sweep {                 /* one variable of .dc, or one column of a table */
    const char *name; /* element with path, "temp", "param:NAME" for a parameter, "frequency" */
    enum {
        FLAT_SWEEP_SOURCE,
        FLAT_SWEEP_TEMP,
        FLAT_SWEEP_PARAM,
        FLAT_SWEEP_INST,
        FLAT_SWEEP_FREQ
    } what;
    const char
        *param;    /* parameter name for PARAM; instance parameter for INST ("r1[resistance]") */
    double *value; /* vec; all values in order */
    diag_span span;
} flat_sweep;
enum { FLAT_TONES = 10 };
typedef struct flat_hb {     /* HB HBAC HBNOISE HBSP HBXF LSTB */
    const char *word;        /* of the card: "hb", "hbosc", "pss", "phasenoise" */
    double tone[FLAT_TONES]; /* Hz, > 0 */
    int32_t harm[FLAT_TONES], n_tone;
    int32_t intmod; /* 0: not given */
    double tstab;   /* s, 0: not given */
    int64_t points; /* of the waveform over a period, 0: not given */
    bool shooting;  /* .pss: not by harmonic balance; */
    enum { FLAT_SDIRK4, FLAT_TRAP, FLAT_GEAR, FLAT_EULER } rule; /* its integration */
    int32_t halvings; /* of its steps at most, -1: not given */
    enum { FLAT_BY_ANY, FLAT_BY_HB, FLAT_BY_SHOOTING } small; /* HBAC HBNOISE HBSP HBXF: method */
    bool told;        /* that small signals are solved in harmonics */
    bool after_hb;    /* from the orbit that harmonic balance finds, without a transient */
    int32_t sideband; /* HBNOISE, HBXF: of the output */
    int32_t most;     /* HBAC, HBXF: highest sideband that is written */
    bool modulated;   /* HBNOISE: both sidebands, AM and PM */
    enum { FLAT_UNSAMPLED, FLAT_STROBE, FLAT_CROSS } sampled; /* HBNOISE */
    double at;                                                /* STROBE: s; CROSS: the level */
    int32_t edge;             /* CROSS: n, the n-th rise; -n: the n-th fall */
    const int32_t *port_harm; /* [n_port_harm] HBSP: harmonics of ports 1, 2, ..., and whose each
                               * is, from 1, rising; ports behind have 0 */
    const int32_t *port_of;
    int32_t n_port_harm;
    const char *source[2]; /* LSTB: the probes, with path */
    enum { FLAT_LSTB_SINGLE, FLAT_LSTB_DIFF, FLAT_LSTB_COMM } mode;
} flat_hb;
typedef struct flat_trannoise { /* .trannoise: noise of devices in every .tran */
    bool on;
    double fmax;  /* Hz; 0: not given */
    double scale; /* of amplitudes */
    bool seed_given;
    uint64_t seed;
    diag_span span; /* the card */
} flat_trannoise;
typedef struct flat_gradient { /* SENS: of measures of a run of the deck by parameters */
    flat_ana_kind of;          /* TRAN, AC, NOISE, OP, DCSWEEP */
    const char **meas;         /* [n_meas]; none: no gradient */
    int32_t n_meas, n_by;
    struct flat_target *by; /* [n_by] */
    double memory;          /* bytes for solutions of the run; 0: not given */
} flat_gradient;
typedef struct flat_ana {
    flat_ana_kind kind;
    flat_sweep sweep[FLAT_COLUMNS]; /* DCSWEEP: [0] is the inner (fastest) one. AC, NOISE with the
                                       grid LIST: [0] are the frequencies, all have a value a row */
    int32_t n_sweep;
    bool rows; /* DCSWEEP: its sweeps are the columns of a table, all have a value a row */
    double tstep, tstop, tstart, tmax; /* TRAN; tmax 0: not given */
    bool uic;
    bool has_freq; /* AC, NOISE, SP always; SENS: of the ac response */
    flat_grid grid;
    int64_t n_freq;      /* points per decade or octave; LIN, LIST: in all */
    double f_from, f_to; /* Hz */
    int32_t out[2]; /* NOISE TF SENS PZ: nodes of the output voltage; [1]: 0 if none is given */
    const char *out_branch;     /* element whose current is the output, NULL */
    const char *out_name;       /* "v(out)", "i(v1)" */
    const char *source;         /* NOISE, TF: the input, with path */
    int64_t summary;            /* NOISE: points per summary, 0: not given */
    int32_t in[2];              /* PZ: nodes of the input */
    bool voltage, poles, zeros; /* PZ */
    bool donoise;               /* SP */
    double ratio;               /* DISTO: f2 over the first f1, 0: not given */
    double threshold;           /* DCMATCH, ACMATCH: least share of the variance that is said */
    flat_hb hb;
    flat_gradient gradient;
    flat_trannoise noise; /* TRAN, of a program: instead of the deck's */
    diag_span span;
} flat_ana;

/* -- families of runs: .step, .mc, .limits (docs/sweeps.md) -- */
typedef enum flat_target_kind {
    FLAT_SET_PARAM,
    FLAT_SET_TEMP,
    FLAT_SET_INST,
    FLAT_SET_MODEL,
    FLAT_SET_OPTION,
    FLAT_SET_LIB,
    FLAT_SET_ALTER
} flat_target_kind;
typedef struct flat_target { /* what a step, or a derivative, changes */
    flat_target_kind kind;
    const char *name;  /* parameter, element with path, model, option; LIB: the file as written */
    const char *param; /* INST, MODEL; "" the main value */
    const char *text;  /* as results call it: "r", "temp", "@m1[w]", "nm(vto)" */
    diag_span span;
} flat_target;
typedef struct flat_step {
    enum { FLAT_STEP_LINEAR, FLAT_STEP_LOG, FLAT_STEP_VALUES, FLAT_STEP_WORDS } form;
    flat_target *target; /* vec; one, or one for each column of a file */
    int64_t n;           /* points */
    double from, step;   /* LINEAR: from + i step; LOG: from * step^(i / per) */
    double per;
    double *value;     /* vec, VALUES: [n][targets] */
    const char **word; /* vec, WORDS: sections of a library; runs of .alter */
    diag_span span;
} flat_step;
typedef struct flat_limit { /* .limits measure min=.. max=.. */
    const char *name;
    double min, max; /* -INFINITY, INFINITY: none */
    diag_span span;
} flat_limit;

typedef struct flat_correlate { /* .correlate: each two of these numbers have this correlation */
    const char **name;          /* vec; relative to any instance: "dvt", "x1.dvt", "x1.dvt#2" */
    diag_span *at;              /* vec as name */
    bool *met;                  /* vec as name: some statistical function is it */
    double cc;                  /* -1 to 1 */
    diag_span span;
} flat_correlate;

typedef struct flat_option {
    const char *name; /* lower case */
    const char *str;  /* text of the value, "" for a flag */
    double value;     /* its number, 1 for a flag, NaN if it is none */
    diag_span span;
} flat_option;

typedef struct flat_save { /* .save, .probe */
    enum {
        FLAT_SAVE_ALL,
        FLAT_SAVE_ALLI /* currents inside devices too */,
        FLAT_SAVE_V,
        FLAT_SAVE_I,
        FLAT_SAVE_PARAM,
        FLAT_SAVE_EXPR
    } what;
    int32_t node[2];            /* V; -1: none */
    const char *device, *param; /* I, PARAM (@dev[param]); of I only during the expansion: a
                                 * terminal of the device, "power" of it; NULL: its own current */
    const net_expr *expr;
    const char *text; /* as written, the vector's name */
    const char *as;   /* V, I: another name of the vector, of .probe; NULL */
    diag_span span;
} flat_save;

/* What a card or command of results asks for beside .save and is not there: metered of net_deck. */
typedef struct flat_lack {
    const char *device, *param; /* as there */
    const char *note;           /* what is there */
} flat_lack;

/* Who knows names of terminals that no card tells.
 *   t  in/out  [in->n_node], zeroed; name: as the module or code model has it, in any case, NULL:
 *              none; of vectors and arrays the same several times */
typedef struct flat_terminal {
    const char *name;
    bool is_digital; /* no current flows there */
} flat_terminal;
typedef struct flat_terminals {
    void (*names)(void *of, const flat_inst *in, flat_terminal *t);
    void *of;
} flat_terminals;

typedef struct flat {
    arena *mem;
    const char *title;
    bool xyce;          /* a deck of Xyce's: levels of models, ic= of elements count as there */
    const char **node;  /* vec; [0] is "0"; names with path: "x1.out" (lower case) */
    bool *gone;         /* [nodes] true: the owner has removed all elements there; NULL: none */
    flat_inst *inst;    /* vec */
    int32_t n_external; /* sources among them whose value a host gives */
    flat_model **model; /* vec; all evaluated model cards */
    const char *
        *model_name; /* vec; every model card of the top level, used or not: for suggestions */
    flat_ic *ic, *nodeset; /* vec */
    flat_ana *ana;         /* vec, in order of the deck */
    flat_option *option;   /* vec, last wins */
    flat_save *save;       /* vec */
    flat_lack *lack;       /* vec */
    flat_step *step;       /* vec; the first varies fastest */
    flat_limit *limit;     /* vec */
    int64_t mc;            /* samples, 0: no .mc */
    uint64_t mc_seed;
    diag_span mc_span;
    bool drew;                 /* some statistical function drew a number */
    bool nominal;              /* some gave its nominal value, because no seed was given */
    flat_correlate *correlate; /* vec; a later one counts where two are of the same numbers */
    const char **used;         /* vec; parameters of the top level that something depends on */
    double vcc;            /* parameter of the top level, NaN: none, or no A elements: the supply of
                                * automatic bridges to digital nodes */
    const net_card **post; /* vec; .meas .four .print .plot .width, in order of the deck */
    flat_trannoise trannoise;
    double *temp;     /* vec; .temp values, degrees Celsius */
    const char **hdl; /* vec; .hdl/.load/pre_osdi files, path resolved to the file that names it */
    diag_span *hdl_span;             /* vec */
    const flat_terminals *terminals; /* NULL: terminals of modules have numbers only */
} flat;

/* A parameter set from outside (command line, sweep) that wins over the deck's .param of that name;
 * "sub.name" wins over the parameter of a subcircuit, in all its instances. */
typedef net_define flat_override;

/* -- what depends on what (flat_redo.c) -- */
/* A knob is something outside of the deck that its values depend on: a parameter from outside (by
 * its number), the temperature, the sample of statistical functions. */
typedef struct flat_plan flat_plan;
enum { FLAT_KNOB_TEMPER = 61, FLAT_KNOB_DRAW };
typedef enum flat_owner_kind {
    FLAT_OWNER_INST,
    FLAT_OWNER_MODEL,
    FLAT_OWNER_IC,
    FLAT_OWNER_ANA
} flat_owner_kind;
typedef struct flat_owner { /* values that flat_redo_owner evaluates together */
    flat_owner_kind kind;
    int32_t inst;            /* INST: index */
    const flat_model *model; /* MODEL */
    uint64_t mask;           /* bits 1 << knob that they depend on */
    int32_t begin, end;      /* its slots, private */
} flat_owner;
/* An empty plan, for flat_build to fill. flat_plan_owners: [*n], valid until the next redo. */
flat_plan *flat_plan_new(void);
void flat_plan_free(flat_plan **p);
const flat_owner *flat_plan_owners(const flat_plan *p, size_t *n);
/* Bits 1 << knob of the knobs that decide more than values: which elements there are, or what the
 * analyses are. */
uint64_t flat_plan_structure(const flat_plan *p);
/* Before flat_build: the parameter of the top level (interned, lower case) is a knob too, and keeps
 * its definition in the deck while it has no value from outside. Of so many the plan can tell what
 * depends on which; of more, several have one knob: if one of them moves, what depends on any of
 * them is evaluated again. */
void flat_plan_watch(flat_plan *p, const char *name);
size_t flat_plan_most_watched(size_t n_over);
/* The knob of a parameter from outside, or of one that is watched; -1: it was none when the deck
 * was expanded. */
int flat_plan_knob(const flat_plan *p, const char *name);
/* To call when the owner of the netlist has copied the parameters of an instance or model card to
 * another list, without the parameter `gone` and perhaps others. From then on flat_redo_owner
 * writes values to the new list, and none for parameters that it lacks. */
void flat_plan_moved(flat_plan *p, const flat_param *old, flat_param *list, const char *gone);
/* The number of a parameter of the top level. false: there is none of that name. */
bool flat_plan_param(flat_plan *p, const char *name, double *value);
/* To call when knobs have other values: flat_redo_begin, flat_redo_owner for each owner that
 * depends on one of them, flat_redo_end.
 *   over     [n_over] all parameters from outside, with their present values
 *   temper   degrees Celsius
 *   changed  bits 1 << knob
 *   moved    out: one of the owner's values is another one now
 * Status: VS_OK; VS_REJECT: the caller must expand the deck anew, which also gives the messages. */
void flat_redo_begin(flat_plan *p, const flat_override *over, size_t n_over, double temper,
                     uint64_t changed);
VS_MUST_USE vs_status flat_redo_owner(flat_plan *p, size_t owner, bool *moved);
VS_MUST_USE vs_status flat_redo_end(flat_plan *p);

/* After flat_redo_end: the instances (paths that end with a dot) that were expanded again, because
 * an .if in them is now decided otherwise. If there are any, the numbers of nodes, elements and
 * owners have changed, and the circuit must be built anew. */
const char *const *flat_plan_again(const flat_plan *p, size_t *n);

/* Expands a deck. All memory from `mem`.
 *   temper   circuit temperature in degrees Celsius that expressions see
 *   over     [n_over] parameters from outside
 *   plan     NULL, or filled with what depends on what; f, deck, d, names and mem must outlive it
 *   t        NULL, or who knows names of terminals; outlives f
 * Status: VS_OK (warnings possible), VS_EINPUT with messages in d. */
VS_MUST_USE vs_status flat_build(flat *f, const net_deck *deck, diag *d, str_pool *names,
                                 arena *mem, double temper, const flat_override *over,
                                 size_t n_over, flat_plan *plan, const flat_terminals *t);
/* Whether @device[param] of an element of that letter is a current through a charge, which no model
 * computes. To save it, the expansion puts a source in series (flat_probe.c). */
bool flat_is_metered(char letter, const char *param);
/* Whether the current of an element of this letter is none of the unknowns. */
bool flat_has_no_branch(char letter);
/* Reads one more card (an analysis, a .save of .control) for a deck that was expanded into f. Its
 * contents are in *out, whose nodes and elements are those of f. Memory from `mem`. Status: VS_OK,
 * VS_EINPUT. */
VS_MUST_USE vs_status flat_card(flat *out, const flat *f, const net_deck *deck, diag *d,
                                str_pool *names, arena *mem, double temper,
                                const flat_override *over, size_t n_over, const net_card *card);
/* The number of a parameter of the top level. false: there is none of that name. */
bool flat_param_value(const flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem,
                      double temper, const flat_override *over, size_t n_over, const char *name,
                      double *value);
/* Reads only the .option and .temp cards of a deck, into f->option and f->temp: flat_build needs
 * the temperature that they give. It says no errors, since flat_build reads the same cards again.
 */
void flat_options(flat *f, const net_deck *deck, diag *d, str_pool *names, arena *mem);
/* A draw of a statistical function: the same for the same arguments, on every machine, whatever
 * else was drawn.
 *   seed, sample   of the deck (.option seed), of one run among many (0: the only one)
 *   path, name     of the instance ("x1.x2.", "" at top level), of the parameter, element or model
 *   in it
 *   draw           0, 1, 2 ...: several in one expression
 * Returns of the standard normal distribution; evenly from -1 to 1; or -1 or 1. */
typedef enum flat_dist { FLAT_NORMAL, FLAT_UNIFORM, FLAT_SIGN } flat_dist;
double flat_random(uint64_t seed, int64_t sample, const char *path, const char *name, int32_t draw,
                   flat_dist kind);
/* The name of the k-th random number of what a deck calls `name` in an instance: "x1.dvt", and
 * "x1.dvt#2" for k = 1. */
const char *flat_draw_name(str_pool *names, const char *path, const char *name, int32_t k);
typedef struct flat_partner { /* a number that another one is correlated with */
    const char *name;         /* interned */
    double cc;
} flat_partner;
/* Pushes on vec *to the names with which .correlate connects this one; it need not have numbers of
 * all of these names. */
void flat_partners(const flat *f, str_pool *names, const char *name, flat_partner **to);
/* The k-th value of column `col` of a step that has numbers (not WORDS). */
double flat_step_value(const flat_step *w, int64_t k, size_t col);
/* Text form for --dump=circuit. */
void flat_print(const flat *f, FILE *out);

/* A node where capacitors sum up to less than 0 and resistors conduct (flat_grow.c). */
typedef struct flat_grower {
    int32_t node;
    double farad, siemens;
    const flat_inst *negative; /* a negative capacitor there */
} flat_grower;
/* All of them, where nothing else holds the node's voltage: a vec, the caller frees it. NULL: none,
 * or no capacitor is negative. */
flat_grower *flat_growers(const flat *f);
/* A transient that is longer than this many of the times in which such a voltage grows by e would
 * be all growth of rounding errors: ln(1/2.2e-16). */
#define FLAT_GROWTHS 36
/* A resistor that such a transient has in series with a negative capacitor at a node that grows. */
typedef struct flat_damper {
    int32_t inst; /* the capacitor */
    flat_grower at;
    double ohm; /* negative, for a multiplicity of 1 */
} flat_damper;
/* Those of a transient until tstop: a vec, the caller frees it. NULL: none. */
flat_damper *flat_dampers(const flat *f, double tstop);

#endif
