/* sim_priv.h - the engine itself, and what is between its files:
 *     sim.c             deck, netlist, circuit
 *     sim_ana.c         a function for each analysis card
 *     sim_small.c       small-signal analyses
 *     sim_hb.c          periodic states, and small signals on them
 *     sim_gradient*.c   .sens tran, ac, noise, op, dc: derivatives of measures
 *     sim_match.c       .dcmatch, .acmatch: spread by random numbers
 *     sim_vary.c        which devices and sources a number reaches (sim_vary.h)
 *     sim_out.c         results: to the result file, to plots in memory
 *     sim_part.c        files beside long runs whose plots are in memory
 *     sim_card.c        cards that come after the deck
 *     sim_client.c      what hosts ask for besides runs
 *     sim_alter.c       values that were altered, in the netlist or beside it
 *     sim_redo.c        changed values, into the netlist and circuit there are
 *     sim_carry.c       the same while a transient rests
 *     sim_limit.c       limits of safe operation
 *     sim_memo.c        operating points that outlive their analysis
 *     sim_reduce.c      .option rcreduce
 *     sim_checkpoint.c  checkpoints of transients
 *     sim_figures.c     figures of a run, as workers send them */
#ifndef SIM_PRIV_H
#define SIM_PRIV_H

#include "ckt_kept.h"
#include "sim.h"

/* A file with the points of a plot in memory (sim_opt.part). */
typedef struct sim_part {
    const post_plot *plot;
    out_file *file;
    char *path; /* heap */
} sim_part;

/* Option interp: a transient's results are written at multiples of tstep. */
typedef struct sim_grid {
    double start, step; /* step 0: every point is written */
    int64_t next;       /* multiple not written yet */
    double *before;     /* [2 n] the row of the point before, and one at work */
} sim_grid;

/* Numbers that results depend on, in a circuit that stays. */
typedef enum sim_number {
    SIM_OF_CIRCUIT, /* all, and there is another circuit */
    SIM_OF_DEVICES,
    SIM_OF_DC,
    SIM_OF_START,   /* what static loads see of devices; of sources, in dc and at time 0 */
    SIM_OF_LINEAR,  /* of resistors and capacitors in small circuits */
    SIM_OF_ICS,     /* .ic, .nodeset */
    SIM_OF_OPTIONS, /* of analyses */
    SIM_N_NUMBER
} sim_number;

typedef struct sim_wave { /* a source whose waveform the client gives */
    const char *name;     /* interned */
    nat_wave w;           /* value NULL: no more */
} sim_wave;

typedef struct sim_limits sim_limits;

typedef struct sim_points { /* solutions of circuits whose size may change on the way */
    double *x;              /* vec: [n+1] each, */
    size_t *at;             /* vec: from here on */
} sim_points;

/* Model cards of the flat netlist, and the elements that may have them, by the cards' names.
 * Several cards may have one name: those that instances of a subcircuit evaluated apart. */
typedef struct sim_user {
    int32_t inst, next;
} sim_user;
typedef struct sim_cards {
    map first;      /* of a name the number of its first card; empty: not made yet */
    int32_t *next;  /* vec: of each card the next of its name, -1: none */
    map first_user; /* of a name a number in user; empty: not made yet */
    sim_user *user; /* vec: by instances, ascending; next -1: none */
} sim_cards;

/* Where the changes of an element or a model stand in the list of changes. */
typedef struct sim_places {
    map last;        /* of each the place of its last change; empty: not made yet */
    int32_t *before; /* vec: of each change the place of the one before of the same, -1: none */
} sim_places;

struct sim {
    diag *d;
    str_pool *names;
    sim_opt opt;
    post_set plots;

    arena mem;      /* the deck and its first flat netlist */
    arena card_mem; /* the card that sim_parse read last */
    arena ckt_mem;  /* flat netlists that came later, one at a time */
    net_deck deck;
    net_deck as_read; /* the deck of sim_read, which may be another than `deck` (sim_use_deck) */
    size_t text_from, text_to; /* files of s->d: the deck's and those that it includes */
    flat flat;                 /* of the present circuit */
    elab_names terminal_of;    /* of flat.terminals */
    flat_terminals terminals;
    flat_ana *todo; /* [n_todo] the deck's analyses, in its order */
    size_t n_todo;
    option_set option;
    const char **option_text;       /* vec, in mem: what sim_set_option was given */
    double simparam[IR_N_SIMPARAM]; /* of option, for models */
    flat_override *over;            /* vec: values of .params */
    sim_change *change;             /* vec */
    sim_places places;              /* of these */
    const char **watch;             /* vec: parameters that the next plan watches */
    sim_wave *wave;                 /* vec: of the client */
    double *linear;                 /* vec: numbers of sim_linearise */
    double temp;                    /* degrees Celsius */
    bool stale;                     /* something changed: the circuit is to be brought up to date */
    bool deep;       /* more than values, or not known what: the netlist must be expanded again */
    char why[160];   /* what changed since the client cleared it, for reports */
    flat_plan *plan; /* NULL: dependences are not known */
    bool plan_taken; /* the plan's expansion left .dc out */
    elab *elab;      /* bindings of ckt; NULL: none are kept */
    sim_cards cards;
    gen gen; /* what is made from what, if there is a plan */
    int32_t knob_node[64], ambient_node, option_node, owner_node, whole[GEN_N_KIND];
    gen numbers; /* of the circuit, and what is computed from them alone (sim_memo.c) */
    int32_t number_node[SIM_N_NUMBER], op_node[2], linear_node;
    ana_memo memo[2];  /* operating points: of .op and small signals, of .tran */
    ana_memo first[2]; /* what those of a sweep's points begin from (sim_find_first) */
    uint64_t first_names,
        names_now; /* of the unknowns of first, and of those of the circuit that was built as */
    int64_t names_built;          /* the names_built-th */
    gen_count others[GEN_N_KIND]; /* of other processes */
    uint64_t changed;             /* knobs that are not in the netlist yet */
    bool not_knobs;               /* something else is not in the circuit yet */
    bool built;                   /* there was a circuit before */
    bool numbers_move;            /* elab_opt's */
    bool damped;                  /* the circuit has the resistors of flat_dampers; */
    bool told_damped;             /* they were told */
    double s_build;               /* seconds that the last circuit took, without compiling */
    double time[2];               /* s, tstep and tstop of a transient, 0: of the deck's first */
    unsigned forms;               /* of models, besides those that the deck's analyses need */
    ckt *ckt;
    ana *ana;
    double *x; /* [n_x + 1] last static solution */
    int32_t n_x;
    bool x_valid;
    double *last;     /* vec: [n + 1] the point where the last analysis, a transient, ended or */
    double last_time; /* paused, and its time; empty: the last one was another */
    sim_stat st;
    sim_reduced reduced; /* the present netlist */

    flat_ana hb;            /* the card of the last orbit; hb.hb.n_tone 0: none */
    double *hb_from;        /* vec: where the search for it may begin */
    double *hb_shot;        /* vec: the same of shooting, its steps with it */
    const char *hb_refuses; /* why small signals in time are not possible, NULL: they are */
    double hb_tone;         /* Hz, found with it */

    /* of the analysis under way */
    elab_out *vec;        /* vec: what is written */
    elab_out *mem_vec;    /* vec: what is kept */
    ckt_detail *detail;   /* vec: those of vec and mem_vec; hi of these is the index */
    double n_same;        /* points with one circuit that the plot has; INFINITY: many */
    ckt_kept *kept;       /* kernels of details, see sim_details_at */
    double *detail_value; /* vec: at the point under way */
    double *detail_imag;  /* vec: of phasors (.ac); else 0 */
    double omega;         /* .ac: rad/s of the phasors; else 0 */
    bool transient;       /* details are those of a point in time */
    const double *op_x;   /* ac: the operating point behind the phasors */
    const double *z;      /* ac: [2 (n+1)] the phasors of the point */
    sim_points *solution; /* the points of the plot go there too; NULL: nowhere */
    ana_sink sink;        /* of a transient */
    bool due;             /* it pauses to be kept */
    int32_t n_own;        /* numbers in a row of the analysis' own vectors */
    double *row;
    sim_part *part;      /* vec: files of plots in memory (sim_part.c) */
    out_file *part_file; /* of the analysis under way, NULL: none yet */
    double *part_row;
    double part_begun; /* s */
    int part_wait;     /* points until the next look at the clock; 0: there will be no file */
    sim_grid grid;
    const char *unit; /* of the axis, NULL: none */
    bool own_axis;    /* the axis is `axis`, not the analysis' own (sweeps by elaboration) */
    double axis;
    bool complex;
    post_plot *plot;          /* NULL: nothing is kept */
    sim_limits *limits;       /* of safe operation (sim_limit.c); NULL: none are looked at */
    uint32_t n_touchstone[2]; /* files so far, of .sp and .hbsp */
    char *touchstone;         /* name of the one under way */
};

/* -- sim_ana.c -- */
/* A sweep of .dc that is none of a source: its variable becomes v, and the circuit is to be built.
 * Status: VS_OK; VS_EINPUT (message). */
VS_MUST_USE vs_status sim_dc_put(sim *s, const flat_sweep *w, double v);
/* What a sweep changes, as it was before. Restoring frees it; `why` tells that the circuit is to be
 * built anew, NULL: it is not. */
typedef struct sim_before {
    flat_override *over; /* vec */
    sim_change *change;  /* vec; their numbers, into which the sweep writes, in `value`, */
    double *value;       /* vec: one after the other */
    double temp;
} sim_before;
void sim_before_keep(sim *s, sim_before *b);
void sim_before_restore(sim *s, sim_before *b, const char *why);
/* The columns of a table in this row, those of sources' values too or not. *anew: the circuit is to
 * be built. Status: VS_OK; VS_EINPUT (message). */
VS_MUST_USE vs_status sim_row_put(sim *s, const flat_ana *a, size_t row, bool sources, bool *anew);

/* -- sim.c -- */
/* The circuit as this analysis needs it. */
VS_MUST_USE vs_status sim_ready(sim *s, const flat_ana *a);
/* The analysis object for the present circuit, with options, .ic and .nodeset. */
VS_MUST_USE vs_status sim_start(sim *s);
/* Adds the figures of the analysis object to those of the run. Called before it is freed, and
 * before the figures are read. */
void sim_count(sim *s);
/* The circuit at the present parameters and temperature, and its analysis object: inside a sweep.
 */
VS_MUST_USE vs_status sim_rebuild(sim *s);
/* s->x with room for the circuit; *warm: it holds a solution of a circuit of this size. */
void sim_solution(sim *s, double **x, bool *warm);
/* Whether the client asked the analysis under way to stop. */
bool sim_stopped(const sim *s);

/* Takes a value from outside back: the parameter has its definition in the deck. */
void sim_unset_param(sim *s, const char *name);

/* -- sim_alter.c -- */
/* The changes of alter, put into the flat netlist. Status: VS_OK, VS_EINPUT. */
VS_MUST_USE vs_status sim_apply_changes(sim *s);
/* Cards of a name: for (int32_t i = sim_card(s, name); i >= 0; i = s->cards.next[i]). */
int32_t sim_card(sim *s, const char *name);
/* Elements that may have them: for (k = sim_card_user(s, name); k >= 0; k = user[k].next). */
int32_t sim_card_user(sim *s, const char *name);
void sim_forget_cards(sim *s);   /* the netlist changes */
void sim_forget_changes(sim *s); /* called by who changes the list of changes in another way */
/* Of each element that is altered its number in the flat netlist, by name; -1: it is not there. */
void sim_instances(const sim *s, map *of);
/* One more change, tried: until sim_aside_end the circuit's notes (ckt_redo_noted) say which rows
 * its devices would have, and sources have the waveforms of the change. Netlist, plan and rows stay
 * as they are. What it costs is what the change reaches. sim_aside_end after any status.
 * Status: VS_OK; VS_REJECT: more than values would change, or there is no plan; VS_EINPUT
 * (message). */
typedef struct sim_aside sim_aside;
VS_MUST_USE vs_status sim_aside_begin(sim_aside **a, sim *s, const sim_change *c);
VS_MUST_USE vs_status sim_aside_end(sim_aside **a);

/* -- sim_reduce.c: option rcreduce, on a netlist that was expanded -- */
void sim_reduce(sim *s);

/* -- sim_redo.c: values in place -- */
/* Called after the circuit was built: makes the graph of what depends on what. */
void sim_plan_ready(sim *s);
/* Forgets plan and graph: the next change expands the netlist. */
void sim_plan_drop(sim *s);
hash128 sim_text(const sim *s); /* of the texts of the deck and what it includes */
void sim_change_deck(sim *s, const net_deck *deck); /* that of the next expansion */
/* Note what changed, so that the next sim_redo makes anew what depends on it; `name` is for the
 * sentence that says why (sim_stat). A knob of the plan, -1: none (everything is made anew); a
 * .param; the temperature (temper) or an option that devices read; an alter. */
void sim_knob_changed(sim *s, int knob, const char *name);
void sim_param_changed(sim *s, const char *name);
void sim_ambient_changed(sim *s, const char *name, bool temper);
void sim_change_changed(sim *s, const sim_change *c);
void sim_analysis_changed(sim *s, const char *name); /* an option that no device reads */
/* Status: VS_OK: netlist and circuit are up to date, or the circuit is gone and to be built;
 * VS_REJECT: the netlist must be expanded again. */
VS_MUST_USE vs_status sim_redo(sim *s);
/* Counts that an analysis asks for the circuit's object of this kind, which it makes if it is out
 * of date. */
void sim_ask(sim *s, gen_kind kind);

/* -- sim_memo.c: what is computed from numbers alone, and outlives an analysis -- */
/* Operating points and factors of linear circuits, and the graph of the numbers they follow
 * from. */
void sim_memo_init(sim *s);
void sim_memo_fini(sim *s);
/* Numbers of this kind changed: memos that follow from them are out of date. */
void sim_number_changed(sim *s, sim_number k);
/* The same for all kinds that a redo of the circuit touched. */
void sim_numbers_redone(sim *s, const ckt_redone *what);
/* Like sim_start, for an analysis that begins with an operating point without an initial guess.
 * tran: that of a transient, with .ic and the sources at time 0. */
VS_MUST_USE vs_status sim_start_op(sim *s, bool tran);
/* As sim_start_op for .op; the next .tran may take over the point that is found. */
VS_MUST_USE vs_status sim_start_both(sim *s);
/* The initial guess of operating points, [n+1]; NULL: start from zero. */
const double *sim_begin(sim *s, bool tran);
/* Adds the figures of an analysis object to the counts of operating points and factors, and marks
 * the memos that it filled as up to date. */
void sim_memo_count(sim *s, const ana_stat *a);

/* -- sim_out.c: results -- */
typedef struct sim_axis {
    const char *name; /* "time", "frequency", "v-sweep" */
    const char *type; /* "time", "frequency", "voltage" */
    const char *unit; /* "s", "Hz", "V" */
} sim_axis;
/* A plot of the usual vectors (.save, or all voltages and currents).
 *   word, what   "tran", "Transient Analysis"     axis   NULL: a single point
 * Status: VS_OK, VS_EIO. */
VS_MUST_USE vs_status sim_plot_begin(sim *s, const char *word, const char *what,
                                     const sim_axis *axis, bool complex);
/* A vector at x, once sim_plot_point was there (values inside devices). */
double sim_value(const sim *s, const elab_out *o, const double *x);
/* What a load sees at a point of the analysis under way. */
ckt_env sim_env(const sim *s, double time);
/* A point of it, x[n+1]; xi: imaginary parts, NULL for a real plot. */
VS_MUST_USE vs_status sim_plot_point(sim *s, double axis, const double *x, const double *xi);
/* A point of a dc sweep without solution: all vectors but the axis are NaN. */
VS_MUST_USE vs_status sim_plot_gap(sim *s, double axis);
/* Values of details d [n] at a point of the plot, to value [n]. *kept: NULL at first; kernels of
 * the details if the plot has so many values that they are worth it. Status: VS_OK, VS_NOCONV. */
VS_MUST_USE vs_status sim_details_at(sim *s, ckt_kept **kept, double axis, const double *x,
                                     const ckt_detail *d, size_t n, double *value);
/* A row of a point of the past to p, whose vectors are those of sim_plot_begin. */
void sim_plot_again(sim *s, post_plot *p, double axis, const double *x);
/* A plot of vectors of the analysis' own (noise densities, poles, ...), the axis first if there is
 * one. */
VS_MUST_USE vs_status sim_plot_begin_own(sim *s, const char *word, const char *what,
                                         const out_vector *v, int32_t n, const sim_axis *axis,
                                         bool complex);
/* -- sim_limit.c: option warn. Called when the plot of an analysis begins, got a point, follows a
 * circuit that was built anew, has all points. -- */
void sim_limits_begin(sim *s, const char *word, const char *axis);
VS_MUST_USE vs_status sim_limits_point(sim *s, double axis, const double *x);
void sim_limits_follow(sim *s);
void sim_limits_end(sim *s);
void sim_limits_free(sim *s);
/* -- sim_part.c: called when the plot of an analysis begins, got a point, has all points -- */
void sim_part_begin(sim *s);
void sim_part_point(sim *s);
void sim_part_flush(sim *s);
void sim_long_work(void *s, bool begins); /* an analysis'; the points that there are get written */

/* With option interp, points between these two calls are written at multiples of tstep. */
void sim_grid_begin(sim *s, const flat_ana *a);
void sim_grid_end(sim *s);
/* A row of a plot begun by sim_plot_begin_own: row[n], complex [2 n]. Status: VS_OK, VS_EIO. */
VS_MUST_USE vs_status sim_plot_row(sim *s, const double *row);
/* Ends the plot; st: how the analysis went. Status: st, or that of writing. */
VS_MUST_USE vs_status sim_plot_end(sim *s, vs_status st);
/* The sink that passes points of a real analysis on, with progress and stop. */
const ana_sink *sim_sink(sim *s, ana_sink *sink);
bool sim_asked_to_stop(void *s); /* the sink's */
/* Before a transient goes on: s->sink gets no points where nothing takes them (no result file, no
 * vectors kept, no limits). */
void sim_sink_points(sim *s);
/* After another circuit was built within a sweep: finds the plot's columns in it, which must all
 * exist still. */
VS_MUST_USE vs_status sim_plot_follow(sim *s, diag_span span);

/* -- sim_client.c: what clients give and ask -- */
/* Before an analysis: sources of the circuit get the client's waveforms. Status: VS_OK; VS_EINPUT:
 * one that is external has none (message). */
VS_MUST_USE vs_status sim_put_waves(sim *s);

/* -- the analyses, by the files that run them: entries of sim_kind. Each makes its operating point,
 * writes its plots and counts its figures. Status: that of ana.h; VS_EINPUT with a message; VS_EIO;
 * VS_STOP: the client asked to stop. -- */
/* sim_small.c: .ac .noise .tf .sens .pz .sp .xf .lstb .disto */
vs_status sim_run_disto(sim *s, const flat_ana *a);
vs_status sim_run_ac(sim *s, const flat_ana *a);
vs_status sim_run_noise(sim *s, const flat_ana *a);
vs_status sim_run_tf(sim *s, const flat_ana *a);
vs_status sim_run_sens(sim *s, const flat_ana *a);
vs_status sim_run_pz(sim *s, const flat_ana *a);
vs_status sim_run_sp(sim *s, const flat_ana *a);
vs_status sim_run_xf(sim *s, const flat_ana *a);
vs_status sim_run_lstb(sim *s, const flat_ana *a);
/* Plots of named columns, for analyses that give such. t lives as long as what is returned. */
typedef struct sim_table {
    sim *s;
    const char *word; /* of the plots in memory */
    ana_sink base;    /* progress and stop */
} sim_table;
ana_table sim_table_of(sim_table *t, sim *s, const char *word);
/* The frequencies of the card, Hz. */
ana_freq sim_grid_of(const flat_ana *a);
/* The sweep of the card, or that of the deck's .ac. Status: VS_OK; VS_EINPUT (message). */
VS_MUST_USE vs_status sim_grid_or_ac(sim *s, const flat_ana *a, ana_freq *f);
/* The card's output, a voltage between nodes or the current of a branch. Status: VS_OK; VS_EINPUT:
 * the current is no unknown (message). */
VS_MUST_USE vs_status sim_output_of(sim *s, const flat_ana *a, ana_output *o);
/* The number of the independent source of this name. Status: VS_OK; VS_EINPUT: none (message). */
VS_MUST_USE vs_status sim_source_of(sim *s, const char *name, diag_span span, int32_t *source);

/* The deck's ports 1 .. n, of voltage sources with `portnum`: to the vec. Status: VS_OK; VS_EINPUT:
 * there is none, or one is missing or there twice (message). */
VS_MUST_USE vs_status sim_ports_of(sim *s, const flat_ana *a, ana_port **port);
/* Option touchstone: opens the analysis' file for the ports of the vec; *file stays NULL without
 * the option. Points go to sim_touchstone_put; closing gives `st`, or the error of writing if that
 * is VS_OK. Messages are given. */
VS_MUST_USE vs_status sim_touchstone_open(sim *s, flat_ana_kind kind, const ana_port *port,
                                          out_touchstone **file);
vs_status sim_touchstone_put(void *file, double f, const double *v);
VS_MUST_USE vs_status sim_touchstone_close(sim *s, out_touchstone **file, vs_status st);

/* sim_match.c: .dcmatch .acmatch */
vs_status sim_run_match(sim *s, const flat_ana *a);

/* sim_gradient.c: .sens tran, ac, noise */
vs_status sim_run_gradient(sim *s, const flat_ana *a);

/* sim_hb.c: .hb .hbosc .pss .hbac .hbnoise .phasenoise .hbsp .hbxf */
vs_status sim_run_hb(sim *s, const flat_ana *a);
vs_status sim_run_hbac(sim *s, const flat_ana *a);
vs_status sim_run_hbnoise(sim *s, const flat_ana *a);
vs_status sim_run_hbsp(sim *s, const flat_ana *a);
vs_status sim_run_hbxf(sim *s, const flat_ana *a);

/* -- sim_ana.c -- */
/* Times of a transient; noise is none. */
ana_tran_opt sim_tran_options(const sim *s, const flat_ana *a);

/* -- sim_checkpoint.c -- */
/* In place of ana_tran_begin, for a transient that goes on from the checkpoint in sim_opt.take_up.
 */
VS_MUST_USE vs_status sim_tran_take_up(sim *s, const ana_tran_opt *o);
bool sim_is_due(void *s); /* ana_sink's: the transient is to pause for a checkpoint */

/* -- sim_ana.c -- */
typedef struct sim_kind {
    const char *word, *name;
    unsigned forms; /* of the models, as in elab_opt */
    vs_status (*run)(sim *s, const flat_ana *a);
} sim_kind;
/* From the table of all kinds; never NULL. */
const sim_kind *sim_kind_of(flat_ana_kind kind);

#endif
