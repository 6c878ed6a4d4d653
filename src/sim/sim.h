/* sim.h - the run engine: a deck read once, its circuit built at need, analyses run in any order.
 * Use:    sim_new; sim_read, sim_read_options; sim_opts(s)->lib = models; sim_build; sim_run for
 *         each analysis of sim_todo; sim_free. Between runs sim_set_param, sim_set_temp, sim_alter,
 *         sim_set_option change the circuit: the next sim_run makes what depends on the change
 *         again and keeps the rest. Sweeps, Monte Carlo and .control work that way.
 *         The clients are the run of a deck (src/run), sweeps (src/swp) and .control (src/ctl).
 * Points of an analysis go to the file `out` as they are accepted. A plot in memory gets them only
 * if `keep` asks for it, so the memory of a plain run does not grow with its length. */
#ifndef SIM_H
#define SIM_H

#include "ana.h"
#include "ana_trace.h"
#include "elab.h"
#include "gen.h"
#include "out.h"
#include "plot.h"

/* What the client hears of a run; every function may be NULL. */
typedef struct sim_hook {
    void (*line)(void *user, const char *text);  /* a line that a model prints */
    void (*begin)(void *user, const char *what); /* a longer analysis begins: "tran", "dc" */
    void (*progress)(void *user, double fraction, double axis, const char *unit,
                     const ana_stat *st);
    void (*end)(void *user);                                   /* of its points */
    void (*value)(void *user, const char *name, double value); /* of an operating point */
    /* Its variables of a device, n of them. */
    void (*device)(void *user, const char *device, const char *const *name, const double *value,
                   size_t n);
    bool (*stop)(void *user); /* Ctrl-C */
    /* Work of perhaps seconds begins that cannot be interrupted, or is done; before it begins, all
     * points are written. */
    void (*long_work)(void *user, bool begins);
    /* Between points of a transient, `due` says whether a checkpoint is to be written, from which
     * another process can go on. Then `keep` is called while the transient rests. ending: `stop`
     * ends the run. A client sets both or none. */
    bool (*due)(void *user, bool ending);
    void (*keep)(void *user);
    /* How the client influences the steps of transients: see ana_sink (ana.h). */
    bool (*sync)(void *user, double time, double *h, double last, bool refused);
    double (*next)(void *user, double t);
    double (*mark)(void *user, double t);
    /* A point that was accepted and kept: x [n+1], ac: the operating point, and phasors z [2
     * (n+1)], else NULL. VS_OK to go on; VS_PAUSED (of sim_tran_go alone), VS_STOP, < 0 to end. */
    vs_status (*point)(void *user, double axis, const double *x, const double *z);
    /* The same for analyses whose points are not solutions (noise, poles, ...): row [n]. */
    vs_status (*row)(void *user, const double *row, size_t n);
    void *user;
    bool kept; /* images will be taken, see ana_sink */
} sim_hook;

enum { SIM_PIECE = 4096 };
typedef enum sim_keep { SIM_KEEP_NOTHING, SIM_KEEP_NAMED, SIM_KEEP_ALL } sim_keep;

/* A value that replaces one of the deck, by the name of an instance or model of the flat netlist.
 */
typedef struct sim_change {
    const char *name; /* interned lower case: "r1", "x1.m2", "nmos1" */
    bool model;
    const char *param;   /* interned; "" the main value */
    const double *value; /* [n] */
    int32_t n;           /* more than one: arguments of a waveform */
    diag_span span;
    int32_t node; /* in sim.gen; -1: none; the engine's */
} sim_change;

/* Counts that add up over runs and processes. Of transients: points accepted and rejected,
 * iterations, evaluations, bypasses, and how often an unknown was latent in a load. written: rows
 * of output. expanded, built: flat netlists and circuits made. redone: changes of values in place,
 * with the rows of devices and the sources that they reached. symbolic: orderings of matrices. ops,
 * ops_taken: operating points found, and taken over from a memo. Seconds: `other` is that of
 * analyses that are neither operating points nor transients; from `evaluate` on they are parts of
 * op, tran and other, some estimated from samples. */
/* clang-format off */
#define SIM_SECONDS(X) \
    X(parse) X(elaborate) X(compile) X(op) X(tran) X(other) \
    X(evaluate) X(stamp) X(factor) X(solve) X(output)
#define SIM_COUNTS(X) \
    X(accepted) X(rejected) X(iterations) X(evaluations) X(bypasses) X(latent) X(written) \
    X(expanded) X(built) X(redone) X(rows) X(sources) X(symbolic) X(ops) X(ops_taken)
/* clang-format on */
typedef struct sim_stat {
    struct {
#define X(name) double name;
        SIM_SECONDS(X)
#undef X
    } s; /* seconds */
#define X(name) int64_t name;
    SIM_COUNTS(X)
#undef X
    int32_t unknowns;
    const char *op_method;
    /* Small signals on the last orbit: steps of its period, if in time, else harmonics. */
    int64_t small_steps, small_harmonics;
    int n_compiled, n_from_cache; /* kernels, by other processes (sim_figures_add) */
    int workers;                  /* processes that this one started for points of a sweep */
} sim_stat;

/* The client's settings. It may change any of them between analyses (sim_opts). Pointers stay the
 * client's; the engine frees the vecs. */
typedef struct sim_opt {
    sim_hook hook;
    mdl_lib *lib;           /* set before sim_build */
    bool shared_models;     /* circuits of other engines use lib too */
    int threads;            /* 0: as option threads says */
    double parallel_min;    /* of ckt_opt; 0: its default */
    int lu;                 /* lu_kind + 1; 0: as option lu says */
    const ana_watch *watch; /* looks on at every analysis; NULL: nobody */
    out_file *out;          /* NULL: no result file */
    out_manner manner;      /* of raw files, and of names that commands print */
    const char *label;      /* behind the name of each plot in the file: "r=1000"; NULL: nothing */
    const char *part; /* long analyses whose plots are in memory alone write what these have to
                         PART.tran1.part.raw; NULL: no */
    const char *touchstone; /* S-parameters also go to FILE.sNp, on an orbit to FILE.hbsp.sNp, those
                               of later analyses to FILE.sp2.sNp and so on; NULL: no */
    bool fsync;             /* Touchstone files are on disk when their analysis ends */
    FILE *limit_log; /* lines about devices beyond limits (option warn); NULL: they are warnings */
    sim_keep keep;
    const char **keep_name; /* vec, SIM_KEEP_NAMED: vectors as expressions name them, "v(out)" */
    /* For transients whose plot in memory nobody needs as a whole. It is called each time the plot
     * has SIM_PIECE points; if it returns true it has used them, and the plot is emptied; if false,
     * the plot grows from then on. The points after the last piece, at least one, stay in the plot.
     * NULL: plots stay whole. */
    bool (*piece)(void *user, post_plot *plot);
    void *piece_user;
    const char **save; /* vec: vectors instead of the deck's .save (control); "all": these too */
    post_set *plots;   /* where plots go; NULL: to the engine's own */
    const child_host *programs; /* of d_process; NULL: none are started */
    ana_verified *verify;       /* transients are looked at once more; NULL: no */
    /* the next transient goes on from a checkpoint. The image stands before what sim_tran_image
     * wrote; the result file is open, the plot is the current one. NULL: none. The engine sets it
     * back to NULL */
    image *take_up;
} sim_opt;

typedef struct sim_reduced {                 /* what option rcreduce did */
    double tolerance, freq;                  /* the options; tolerance 0: nothing */
    double bound;                            /* the part of the tolerance that was needed */
    int64_t nodes_before, nodes;             /* of the netlist; those that were taken out */
    int64_t elements_before, elements, made; /* before and now; those among them that are new */
} sim_reduced;

typedef struct sim sim;
typedef struct sim_saved sim_saved;

/* d and names stay the caller's and outlive the engine. */
sim *sim_new(diag *d, str_pool *names);
void sim_free(sim **s);
sim_opt *sim_opts(sim *s);
const sim_stat *sim_stats(const sim *s);
const sim_reduced *sim_reduction(const sim *s); /* of the present netlist */

/* Reads the deck and its options. Status: VS_OK, VS_EINPUT, VS_EIO. */
VS_MUST_USE vs_status sim_read(sim *s, const char *path, const net_opt *opt);
VS_MUST_USE vs_status sim_read_text(sim *s, const char *name, const char *text, size_t len,
                                    const net_opt *opt);
/* The engine works with another deck from now on, e.g. with other sections of a library. The deck
 * stays the caller's and must outlive this use. Status: that of reading its options. */
VS_MUST_USE vs_status sim_use_deck(sim *s, const net_deck *deck);
/* The engine works with the deck of sim_read again, with its own options and those of
 * sim_set_option, and with the sample that it has by itself. Status: that of reading its options.
 */
VS_MUST_USE vs_status sim_use_read_deck(sim *s);
/* Reads the options again, as the flat netlist (sim_flatten) has them. */
VS_MUST_USE vs_status sim_read_options(sim *s);
/* The flat netlist with the present parameters; sim_build does it when something changed. */
VS_MUST_USE vs_status sim_flatten(sim *s);
/* The circuit, if there is none or something changed. Status: VS_OK, VS_EINPUT, VS_EUNSUPPORTED. */
VS_MUST_USE vs_status sim_build(sim *s);

/* Like sim_build, and compiles the forms of the models that analyses of this kind need. */
VS_MUST_USE vs_status sim_build_for(sim *s, flat_ana_kind kind);

/* One analysis, of the deck or of sim_parse. Status: as of the analysis; messages in d. */
VS_MUST_USE vs_status sim_run(sim *s, const flat_ana *a);
/* Seconds of all analyses. */
double sim_analysing(const sim_stat *st);
/* A transient with pauses, which change no point: sim_tran_begin; sim_tran_go to the first
 * point at or behind `until` seconds (VS_PAUSED), to a point whose hook pauses, or to the end;
 * sim_tran_end with the last status, also after a failure. Between them the circuit may not be
 * built again. Status: as sim_run; VS_PAUSED. */
VS_MUST_USE vs_status sim_tran_begin(sim *s, const flat_ana *a);
VS_MUST_USE vs_status sim_tran_go(sim *s, double until);
VS_MUST_USE vs_status sim_tran_end(sim *s, vs_status st);
/* Between two sim_tran_go: the changes since the last build take effect in the transient that
 * rests. If they cannot, all values return to those of `before`, and the transient is as it was.
 * Status: VS_OK; VS_EINPUT with a message; VS_STOP: the transient is lost (message), sim_tran_end
 * is the only call left. */
VS_MUST_USE vs_status sim_tran_change(sim *s, const sim_saved *before, diag_span at);
/* Copies the engine's part of a resting transient to or from an image; sim_opt.take_up makes
 * another engine go on from it. Status: VS_OK; VS_EINPUT: im->wrong. */
VS_MUST_USE vs_status sim_tran_image(sim *s, image *im);
/* What commands have changed of the deck: parameters, values, temperature, options, the sample,
 * what is saved. Given back, the next build makes that circuit. Another deck is im->wrong. */
void sim_changes_image(sim *s, image *im);
/* Files of such images. Status: VS_OK; VS_EIO: errno, for files_why, or *why; VS_EINPUT: *why, a
 * static sentence. *bytes: vec that im points into. */
VS_MUST_USE vs_status sim_checkpoint_write(const image *im, const char *path);
VS_MUST_USE vs_status sim_checkpoint_read(image *im, uint8_t **bytes, const char *path,
                                          const char **why);
/* "operating point", "dc sweep", "transient", ... */
const char *sim_analysis_name(const flat_ana *a);
/* The word of its cards and plots: "op", "dc", "tran", ... */
const char *sim_analysis_word(flat_ana_kind kind);
/* -- cards of results (.meas .print .plot), which begin with a word for an analysis -- */
/* The i-th word that they know: those of sim_analysis_word, "pss", "hbosc", "phasenoise". NULL:
 * there are no more. */
const char *sim_result_word(size_t i);
/* Whether a card with this word looks at what the analysis gave. */
bool sim_result_of(const flat_ana *a, const char *word);
/* The word in the names of the plots that such a card looks at: "hbnoise" for "phasenoise". */
const char *sim_result_plots(const char *word);
/* Reads an analysis given as a card without its dot: "tran 1n 10u". *a is valid until the next
 * sim_parse.
 *   text, from   the words; the place that messages show as their origin
 * Status: VS_OK, VS_EINPUT with messages. */
VS_MUST_USE vs_status sim_parse(sim *s, flat_ana *a, const char *text, diag_span from);

/* -- access to the engine's objects; they stay the engine's, and are valid until the next call that
 * changes them -- */
diag *sim_diag(const sim *s);
str_pool *sim_names(const sim *s);
const net_deck *sim_deck(const sim *s);
const flat *sim_flat(const sim *s); /* of the present circuit; mem NULL: none yet */
ckt *sim_ckt(const sim *s);         /* NULL: none yet, or it must be built again */
ana *sim_ana(const sim *s);         /* of the last analysis; NULL: none */
post_set *sim_plots(sim *s);
const option_set *sim_option(const sim *s);
const flat_ana *sim_todo(const sim *s, size_t *n); /* [*n] the deck's analyses, in its order */
flat_override *sim_params(const sim *s); /* vec: values given to .params; readers mark them used */
double sim_temp(const sim *s);           /* degrees Celsius */
double sim_build_seconds(const sim *s);  /* of the last circuit, without compiling */
/* For reports: the names of what changed, a text that grows with each change until the client cuts
 * it to `len` bytes. */
const char *sim_why(const sim *s);
void sim_why_cut(sim *s, size_t len);

/* Frees the analysis object, after adding its figures to the statistics. */
void sim_end_analysis(sim *s);
/* Tells again what setup warns of in the present circuit, if there is one (elab_tell_setup). */
void sim_tell_setup(sim *s);
/* Frees the plots in memory. */
void sim_forget_plots(sim *s);
/* Removes the files of plots in memory (sim_opt.part); keep: they stay, and a message names them.
 */
void sim_part_end(sim *s, bool keep);

/* -- changes; the next sim_run or sim_build sees them -- */
void sim_set_param(sim *s, const char *name, double value); /* name interned lower case */
/* Status: VS_OK; VS_EINPUT: below absolute zero (message at `span`). */
VS_MUST_USE vs_status sim_set_temp(sim *s, double celsius, diag_span span);
/* The number of an element in the flat netlist, name interned; -1: it is not there. */
int32_t sim_instance(const sim *s, const char *name);
/* Whether the flat netlist has a model card of this name, interned. */
bool sim_has_card(sim *s, const char *name);
/* The element of the netlist that is called so, also in ngspice's form "r.x1.r1"; `name` itself if
 * there is none. */
const char *sim_element_name(sim *s, const char *name);
/* The numbers of `c` are copied. A name that the netlist lacks is a message of the next build. */
void sim_alter(sim *s, const sim_change *c);
/* The client will ask for the vector "@c1[i]", or "i(r1)". If its value needs a source in series
 * with the device, the next circuit has one. true: the circuit must be built again for that. */
bool sim_meter(sim *s, const char *name);
/* What a user may have meant who asked for the current or power `name`, which is not there: a text
 * for a note. NULL: nobody knows. */
const char *sim_lack(sim *s, const char *name);
/* Statistical functions draw for this sample. */
void sim_set_sample(sim *s, uint64_t seed, int64_t sample);
/* A number among the options. Status: VS_OK; VS_EINPUT with a message. */
VS_MUST_USE vs_status sim_set_option_number(sim *s, const char *name, double value, diag_span span);
/* Values will change again and again: the next build notes what depends on what. */
void sim_many(sim *s);
/* If something changed, the next build also reads the cards of analyses again: their values may
 * depend on what is stepped. */
void sim_retake_analyses(sim *s);
/* The next build expands the netlist again; `what` names the reason (sim_why). */
void sim_deep(sim *s, const char *what);
/* Frees the circuit; the next sim_build makes it from the netlist that is there. */
void sim_drop_circuit(sim *s);
/* Finds the operating point of the present values, from which all later operating points start
 * (tran: those of transients). If there is none, no message is given, and they start from zero. */
void sim_find_first(sim *s, bool tran);
/* Like sim_drop_circuit, and frees the flat netlist. Called before the deck that it was made from
 * is freed. */
void sim_drop_netlist(sim *s);
/* The next analysis starts as if the circuit had just been built. */
void sim_fresh(sim *s);
/* Back to the deck as it was read, with its temperature and without changes; parameters get the
 * values of `over` [n]. */
void sim_reset(sim *s, const flat_override *over, size_t n);
/* A copy of all values that clients may change, to restore them if a change turns out to be wrong.
 * The caller frees it with sim_saved_free. */
sim_saved *sim_save(const sim *s);
void sim_restore(sim *s, const sim_saved *saved);
void sim_saved_free(sim_saved **saved);
/* The client gives the waveform of a source (by its name in the netlist, interned) from the next
 * analysis on; NULL: the netlist does again. *w is copied. */
void sim_set_wave(sim *s, const char *name, const nat_wave *w);
/* An .option card as text: "reltol=1e-5". Status: VS_OK, VS_EINPUT. */
VS_MUST_USE vs_status sim_set_option(sim *s, const char *text, diag_span from);

/* The text of a card from token `first` on, with blanks where comments, line ends and their '+'
 * were, so that places in it are places in the file, from *at. The same of a piece of the deck. In
 * `mem`. */
const char *sim_card_text(const sim *s, arena *mem, const net_card *c, int32_t first,
                          diag_span *at);
/* The same of a card of a definition, from its first word. */
const char *sim_line_text(const sim *s, arena *mem, const net_line *l, diag_span *at);
const char *sim_span_text(const sim *s, arena *mem, diag_span at);

/* How often objects of kind k were asked for, out of date, and made again. */
gen_count sim_gen_count(const sim *s, gen_kind k);

/* The figures of a run, as one process sends them to another to be added up. */
typedef struct sim_figures {
    sim_stat st; /* op_method: see below */
    char op_method[24];
    gen_count gen[GEN_N_KIND];
    int n_compiled, n_from_cache; /* kernels */
} sim_figures;
void sim_figures_now(const sim *s, sim_figures *f);
void sim_figures_less(sim_figures *f, const sim_figures *before);
/* Whether all are numbers that a run can have: what another process sent may be damaged. */
bool sim_figures_sane(const sim_figures *f);
/* Adds those of another process, which are sane, to this engine's. */
void sim_figures_add(sim *s, const sim_figures *f);
/* One more process computes points of a sweep of s. */
void sim_figures_hired(sim *s);

/* The value "@m1[gm]" at the last operating point or, if the last analysis was a transient, at its
 * last point. false: there is no such point or no such value. */
bool sim_device_value(sim *s, const char *name, double *value);
/* Everything that a device's model has computed there: vec that the caller frees; NAN where there
 * is no value. NULL or empty: nothing. */
typedef struct sim_detail {
    const char *name, *unit; /* "gm", "S" or ""; as long as the circuit */
    double value;
} sim_detail;
sim_detail *sim_device_computed(sim *s, const char *device);
/* A value inside a device at the point x [n+1] of time `time`, of a transient that is under way; x
 * NULL: at the last operating point. false: there is none, or it has no such value. */
bool sim_detail_value(sim *s, const ckt_detail *d, double time, const double *x, double *value);

/* The equations at a point (vsim/linear.h): arrays of the engine, valid until its next call. */
typedef struct sim_linear {
    const csc *pattern;
    const double *g, *c; /* [nnz] */
    const double *f, *q; /* [n+1] */
    const double *x;     /* [n+1] */
} sim_linear;
/* The unknowns of the last operating point of the circuit as it is, [n+1], until the next analysis;
 * NULL: there is none. */
const double *sim_last_op(const sim *s);
/* x [n+1]; NULL: the operating point, which is looked for. Status: VS_OK, those of building and of
 * the operating point; VS_NOCONV: a value is not finite (message). */
VS_MUST_USE vs_status sim_linearise(sim *s, const double *x, sim_linear *l);
/* The value of a parameter of the deck's top level. false: none of that name. */
bool sim_param(sim *s, const char *name, double *value);

#endif
