/* ana.h - analyses of a circuit: operating point, dc sweep, transient, small signals.
 * Use:    ana_new; ana_op / ana_dc / ana_tran / ana_ac ...; ana_free. Results go to a sink as they
 *         are accepted.
 * Source: Nagel, SPICE2 (ERL-M520); Kundert, The Designer's Guide to SPICE and Spectre, ch. 4;
 *         docs/numerics.md has the formulas of predictor, corrector and truncation error. */
#ifndef ANA_H
#define ANA_H

#include "ckt.h"
#include "option.h"

typedef enum ana_method { ANA_TRAP, ANA_GEAR } ana_method; /* as option method has them */

typedef struct ana_stat {
    int64_t points_accepted, points_rejected, iterations;
    double s_op, s_tran, s_factor, s_solve, s_output;
    int64_t n_factor, n_refactor, n_reuse, n_solve; /* n_reuse: of factors of the same values */
    int64_t n_symbolic;                             /* orderings made: 0 if the circuit had one */
    int64_t n_op, n_op_taken; /* operating points found; taken over (ana_set_memo) */
    const char
        *op_method; /* "Newton", "gmin stepping", "source stepping", "pseudo-transient", "uic" */
} ana_stat;

/* Accepted points, in order; in a transient also a row just behind a corner at which the current of
 * a source jumps. axis: time, or the inner sweep value. x[n+1].
 * Returns VS_OK to go on, VS_STOP to end the analysis in order, < 0 to abort; in a transient also
 * VS_PAUSED. */
typedef struct ana_sink {
    vs_status (*point)(void *user, double axis, const double *x); /* NULL: of a transient none */
    /* dc sweep: the point `axis` has no solution; may be NULL */
    vs_status (*gap)(void *user, double axis);
    /* ac: phasors z [2 (n+1)], re and im in turn, and the operating point x [n+1]; may be NULL */
    vs_status (*zpoint)(void *user, double axis, const double *x, const double *z);
    /* called every few milliseconds at most, for a progress display: fraction 0..1; may be NULL */
    void (*progress)(void *user, double fraction, double axis, const ana_stat *st);
    /* asked between points: true stops the run (Ctrl-C); may be NULL */
    bool (*stop)(void *user);
    /* asked between the points of a transient (of a small circuit after every 64th): true makes it
     * pause there; may be NULL */
    bool (*pause)(void *user);
    /* the client takes images of the transient at times of its own choice. Then no part is latent,
     * or the results would depend on where it pauses */
    bool kept;
    /* A transient tried a step of `last` to `time`; refused: it will be shorter. *h is how long the
     * next one may be, and may be made smaller. true: undo the step and try *h, at most `last`,
     * instead. last = 0: `time` was accepted (or is the start), *h is planned. May be NULL. */
    bool (*sync)(void *user, double time, double *h, double last, bool refused);
    /* The first time after t that the client wants a step to end at, INFINITY: none; asked at the
     * start and after each point. May be NULL. */
    double (*next)(void *user, double t);
    /* The first time after t at which the client wants a point though nothing jumps there,
     * INFINITY: none; asked when the last one was met and when the run goes on. May be NULL. */
    double (*mark)(void *user, double t);
    void *user;
} ana_sink;

typedef struct ana ana;
/* The circuit must outlive it; the options are copied. Status: VS_OK, VS_ESINGULAR
 * (structurally; message). */
VS_MUST_USE vs_status ana_new(ana **a, ckt *c, const option_set *opt, diag *d);
void ana_free(ana **a);
/* For tests: operating points by plain Newton alone, without gmin stepping and the methods after
 * it. */
void ana_only_newton(ana *a);
const ana_stat *ana_stats(const ana *a);

/* Node values for .nodeset (start) and .ic (forced during the transient's operating point). */
typedef struct ana_node_value {
    int32_t unknown;
    double value;
} ana_node_value;
void ana_set_nodeset(ana *a, const ana_node_value *v, size_t n);
void ana_set_ic(ana *a, const ana_node_value *v, size_t n);

/* Asked in each iteration of operating points that plain Newton did not find: true ends them with
 * VS_STOP. NULL: never. */
void ana_set_stop(ana *a, bool (*stop)(void *user), void *user);
/* Hears of factors that may take seconds, which nothing can interrupt: when they are begun and when
 * they are made (lu_opt). NULL: nobody. */
void ana_set_long_work(ana *a, void (*long_work)(void *user, bool begins), void *user);

/* Operating point into x[n+1] (start value on entry if `warm`). tran_op: sources at t = 0, .ic
 * forced.
 * Status: VS_OK; VS_NOCONV with messages naming the worst unknowns and devices and what was tried.
 */
VS_MUST_USE vs_status ana_op(ana *a, double *x, bool warm, bool tran_op);

/* An operating point that was found, with the state of devices there. While nothing that it depends
 * on changes, no other one need be found: x and all that follows are the same to the last bit. The
 * owner (sim_memo.c) knows when something changes and clears `valid`. */
typedef struct ana_memo {
    bool valid;
    int32_t n;         /* unknowns */
    double *x, *state; /* [n+1]; ckt_state_save */
    const char *method;
} ana_memo;
/* op: the memo of ana_op without an initial guess, and of small-signal analyses; tran_op: that of
 * ana_tran. NULL: none. If both are given and the two points are the same for this circuit
 * (ckt_same_start), ana_op writes its point to both. */
void ana_set_memo(ana *a, ana_memo *op, ana_memo *tran_op);
void ana_memo_fini(ana_memo *k);
/* Initial guesses, x [n+1], for ana_op and for the operating point of ana_tran; owned by the
 * caller. If Newton's method fails from there it starts again from zero. NULL: start from zero. */
void ana_begin_from(ana *a, const double *op, const double *tran_op);

/* What the points of nested sweeps have in common; all 0 at the start. */
typedef struct ana_sweep {
    bool warm;         /* x is the solution of a point nearby */
    bool lost;         /* the last point had no solution: for the next one Newton alone is tried */
    int64_t n, n_lost; /* points; those without solution, of which the first has messages */
} ana_sweep;

/* Nested sweep over sources. values [n], the outer loops are the caller's; every point to the sink,
 * and a gap for one without solution, behind which the sweep goes on. The source has its old value
 * afterwards. Status: VS_OK, also with gaps; VS_STOP: on request of the sink or of a device. */
VS_MUST_USE vs_status ana_dc(ana *a, int32_t source, const double *value, size_t n, double *x,
                             ana_sweep *w, const ana_sink *sink);
/* A point of a sweep that is no source's: as ana_op, and a lost one is counted. */
VS_MUST_USE vs_status ana_dc_op(ana *a, double value, double *x, ana_sweep *w);

typedef struct ana_tran_opt {
    double tstep, tstop, tstart, tmax; /* s; tmax 0: min(tstep, (tstop-tstart)/50) as ngspice */
    bool uic;
    double noise_fmax;  /* Hz, highest of the devices' noise; 0: none. Needs form MDL_AC */
    double noise_scale; /* of its amplitudes */
    uint64_t noise_key; /* of the draws (draw.h) */
} ana_tran_opt;
/* Whether a sweep has told of a current that no circuit has; what goes on with it in a circuit that
 * was made anew tells no more of it. */
bool ana_told_current(const ana *a);
void ana_tell_no_current(ana *a);
/* Points from tstart to exactly tstop go to the sink; all corners of sources are among the steps.
 * Status: VS_OK; VS_STOP: on request of the sink or of a device; VS_EINPUT: impossible times;
 * VS_NOCONV: no operating point; VS_ESTEP: step too small. The last three with messages. */
VS_MUST_USE vs_status ana_tran(ana *a, const ana_tran_opt *opt, const ana_sink *sink);
/* Results of the second look at transients (tran_verify.c), for ana_set_verify; NULL: no second
 * look. Ratios are to what is allowed: above 1, or not a number, is wrong. Counts add up over
 * transients, ratios are the worst so far. */
typedef struct ana_verified {
    int64_t n_eval, n_point, n_sum; /* evaluations, points, Kirchhoff's sums */
    double worst_sum, at;           /* of them, and when, s */
    const char *node;               /* its node, NULL: none */
    double worst_charge;            /* of balances of charge over the run */
    const char *charge_node;
} ana_verified;
void ana_set_verify(ana *a, ana_verified *v);
/* ana_tran with pauses, which change no step. ana_tran_begin finds the first point;
 * ana_tran_go accepts points up to the first at or behind `until` s, or to one that the sink
 * answers with VS_PAUSED (both: VS_PAUSED), or to the end; ana_tran_end takes the status of the
 * last ana_tran_go. The sink must stay as long. */
VS_MUST_USE vs_status ana_tran_begin(ana *a, const ana_tran_opt *opt, const ana_sink *sink);
VS_MUST_USE vs_status ana_tran_go(ana *a, double until);
void ana_tran_end(ana *a, vs_status st);
/* x [n+1] of the last accepted point, and its time in s; the analysis' own. */
const double *ana_tran_point(const ana *a, double *time);
/* A transient that rests goes on in another circuit, that of the same elements with other values
 * (tran_carry.c): ana_tran_leave takes its point along, for ana_tran_left_free; ana_tran_enter is
 * called in place of ana_tran_begin and goes on from there as from a corner. Charges of rows stay
 * what they were, so that voltages may jump where capacitances change.
 *   from  in  [n+1] which unknown of the other circuit each one was
 * Status: VS_OK; VS_NOCONV: not finite there. ana_tran_leave returns NULL if the transient has
 * noise, which belongs to the devices as they are. */
typedef struct ana_tran_left ana_tran_left;

ana_tran_left *ana_tran_leave(const ana *a);
void ana_tran_left_free(ana_tran_left **l);
VS_MUST_USE vs_status ana_tran_enter(ana *a, const ana_tran_left *l, const int32_t *from,
                                     const ana_sink *sink);
/* To go on with a transient of another process: ana_tran_ready does what ana_tran_begin does,
 * without finding the first point; ana_tran_identity and ana_tran_image (image.h) then put the
 * state of the paused transient into it, and ana_tran_go reaches the same points, bit by bit.
 * Status: VS_OK; VS_EINPUT: im->wrong, or messages about times. */
VS_MUST_USE vs_status ana_tran_ready(ana *a, const ana_tran_opt *opt, const ana_sink *sink);
void ana_tran_identity(const ana *a, image *im);
VS_MUST_USE vs_status ana_tran_image(ana *a, image *im);

/* -- a transient that is recorded, and its adjoint (tran_tape.c; docs/analyses.md) -- */
typedef struct ana_tape ana_tape;
typedef struct ana_seed { /* d measure / d x[unknown] in a row that the sink got */
    int64_t row;          /* from 0; rows of a list ascend */
    int32_t measure, unknown;
    double weight;
    double behind; /* what of it belongs to the piece behind the row's node; NAN: as in a sum of
                    * trapezia */
    double pulse;  /* by the area, in s, of a pulse of x[unknown] behind the row */
} ana_seed;
/* Rows first to first + n - 1, and the solutions [n+1] of those beside them (NULL: there is none).
 */
typedef struct ana_tape_part {
    int64_t first, n;
    const double *before, *behind;
    double axis_before, axis_behind;
} ana_tape_part;
/* A run whose steps do not fit into memory is cut into parts. The sink gets the rows of the run; a
 * part that is computed again gives its rows to `row`. */
typedef struct ana_tape_rows {
    size_t bytes;                  /* which the client needs for each row of a part */
    vs_status (*full)(void *user); /* in the run: the rows since the last call were a part's, and
                                    * others follow; another status than VS_OK ends the run */
    void (*begin)(void *user);     /* rows of a part follow, those before are not needed */
    vs_status (*row)(void *user, double axis, const double *x);
    /* The seeds by the rows of the part that came last, to the vec. */
    vs_status (*seeds)(void *user, const ana_tape_part *part, ana_seed **seed);
    void *user;
} ana_tape_rows;
/* Runs the transient and records its steps, in about `memory` bytes: a part of it, and states from
 * which other parts are computed again. At least 256 steps are kept, and 16 states. The sink gets
 * the same rows as from ana_tran; sink and rows must stay as long as the tape. The points of the
 * run are those of one without latent parts.
 * Status: as ana_tran; *tape is NULL then. */
VS_MUST_USE vs_status ana_tape_run(ana_tape **tape, ana *a, const ana_tran_opt *opt,
                                   const ana_sink *sink, const ana_tape_rows *rows, size_t memory);
void ana_tape_free(ana_tape **tape);

/* A point at which parameters enter. With F the resistive and Q the charge part of the rows, d
 * measure k / dp is the sum over all points of f_k dF/dp - q_k dQ/dp. */
typedef struct ana_adjoint {
    ckt_env env;            /* mode CKT_STATIC: the operating point at the start; then q is 0 */
    double force;           /* S, between nodes of .ic and their values, at the operating point */
    bool behind;            /* a corner: f meets the jumps of sources' derivatives alone, */
    bool after;             /* or sources have the derivatives of the piece behind it */
    bool given;             /* the start with uic: x itself is what was given; */
    const double *x;        /* [n+1] */
    const double *noted;    /* of ckt_note there; NULL: of no point behind the start */
    const double *const *f; /* [n_measure] [n+1]; given: d measure / dx. With ana_tape_feeds */
    const double *const *q; /* as many more: sums of these are what gmin alone carries */
} ana_adjoint;
/* Whether the circuit has parts that nothing joins to ground. */
bool ana_tape_feeds(const ana_tape *t);
/* After ana_tape_back: derivatives [n] of a measure by parameters that have the values at [n]
 * become nan where gmin alone carries them, with a warning. share [n]: their sums over the feeds.
 */
void ana_tape_judge(const ana_tape *t, size_t n, const char *const *name, const double *at,
                    const double *share, double *value);
/* The adjoint of the run for n_measure measures at once, from the last step to the first.
 *   visit  in  called for each point; another status than VS_OK ends the run
 *   jumps  in  whether a source's derivative by a parameter jumps at a corner
 * Status: VS_OK; VS_ESINGULAR, VS_NOCONV (messages); VS_STOP: the sink wants it; that of visit. */
VS_MUST_USE vs_status ana_tape_back(ana_tape *t, int32_t n_measure,
                                    bool (*jumps)(void *user, double t),
                                    vs_status (*visit)(void *user, const ana_adjoint *at),
                                    void *user);

/* -- small-signal analyses: about an operating point that they find themselves (docs/analyses.md)
 * -- */
/* Form MDL_AC is needed but for ana_tf and ana_sens without frequencies. Status of all: VS_OK;
 * VS_STOP: on request; VS_NOCONV: no operating point; VS_ESINGULAR; what the sink
 * returns. With messages. */
typedef enum ana_grid { ANA_DEC, ANA_OCT, ANA_LIN, ANA_LIST } ana_grid;
typedef struct ana_freq { /* hertz */
    ana_grid grid;
    int64_t n;       /* points per decade or octave; lin, list: in all */
    double from, to; /* dec, oct: 0 < from <= to */
    const double *f; /* [n], list; 0 or more, in any order */
} ana_freq;
double *ana_frequencies(const ana_freq *f); /* vec */

/* Every phasor of the circuit to sink->zpoint. */
VS_MUST_USE vs_status ana_ac(ana *a, const ana_freq *f, const ana_sink *sink);

/* Harmonics of what distof1 of the sources drives at f, of second and third order; with ratio > 0
 * the products f + f2, f - f2, 2 f - f2 with what distof2 drives at f2 = ratio freq.from
 * (disto.c). Points are amplitudes, as of ana_ac; those of a product follow its call of `plot`. */
typedef struct ana_disto_opt {
    ana_freq freq;
    double ratio;                                    /* 0: harmonics */
    vs_status (*plot)(void *user, const char *name); /* user: of the sink */
} ana_disto_opt;
VS_MUST_USE vs_status ana_disto(ana *a, const ana_disto_opt *o, const ana_sink *sink);

/* The other analyses give plots of named columns, each plot between begin and end. */
typedef struct ana_column {
    const char *name, *type;
} ana_column; /* "frequency", "voltage", ... */
typedef struct ana_table {
    vs_status (*begin)(void *user, const char *plot, const ana_column *col, int32_t n,
                       bool complex);
    vs_status (*row)(void *user, const double *v); /* [n]; complex: [2n], re and im in turn */
    vs_status (*end)(void *user);
    void (*progress)(void *user, double fraction, double axis,
                     const ana_stat *st); /* as ana_sink */
    bool (*stop)(void *user);
    void *user;
} ana_table;

typedef struct ana_output { /* x[hi] - x[lo]; a current: its unknown, and 0 */
    int32_t hi, lo;
    bool current;
    const char *name; /* "v(out)"; of a current: its element, "v1" */
} ana_output;

typedef struct ana_noise_opt {
    ana_output out;
    int32_t source; /* the input: what onoise is referred to */
    ana_freq freq;
    int64_t summary; /* 0: totals only; k: every k-th point, with the parts of every device */
} ana_noise_opt;
VS_MUST_USE vs_status ana_noise(ana *a, const ana_noise_opt *o, const ana_table *t);

/* A plot of one row: dc gain from the source to the output, output and input resistance. */
VS_MUST_USE vs_status ana_tf(ana *a, const ana_output *out, int32_t source, const ana_table *t);

/* Derivatives of the output by every parameter that is not 0. freq NULL: of the dc value. */
VS_MUST_USE vs_status ana_sens(ana *a, const ana_output *out, const ana_freq *freq,
                               const ana_table *t);

/* How an output moves with n_param random numbers: rows of its value and its derivatives by each,
 * [2 (1 + n_param)] re and im in turn (match.c). */
typedef struct ana_push { /* a source whose value moves with a random number or parameter */
    int32_t source, param;
    double by; /* V or A per unit of it */
} ana_push;
typedef struct ana_variance { /* the output's: the sum of w Re((dv/dp_i)* dv/dp_j) of all */
    size_t i, j;
    double w;
} ana_variance;
typedef struct ana_match_opt {
    ana_output out;
    const ana_freq *freq;  /* NULL: of the operating point */
    struct ckt_vary *vary; /* devices that random numbers reach; not made ready */
    size_t n_param, n_push, n_variance;
    const ana_push *push;         /* [n_push] */
    const ana_variance *variance; /* [n_variance]; each number's own, with i = j, is among them */
    const char *const *name;      /* [n_param] */
    bool *none; /* [n_param] out: at some point gmin alone carries what the number does */
    vs_status (*row)(void *user, double f, const double *v);
    void *user; /* of row */
} ana_match_opt;
/* Status: VS_OK; those of ana_ac and ckt_vary_sum; VS_EUNSUPPORTED (message).
 *   sink  in  progress and stop; its points are not used */
VS_MUST_USE vs_status ana_match(ana *a, const ana_match_opt *o, const ana_sink *sink);

/* -- gradients of measures of ac and noise analyses (gradient.c) -- */
typedef struct
    ana_spectral_seed { /* of a measure by the phasor z of an unknown: Re((re - j im) dz) */
    int64_t row;        /* of ana_gradient_opt.f; rows of a list ascend, */
    int32_t measure;    /* and measures in a row */
    int32_t unknown;    /* noise: 0 the density at the output, V/sqrt(Hz), 1 that at the input */
    double re, im;      /* noise: im 0 */
} ana_spectral_seed;
typedef struct ana_gradient_drive { /* a source whose ac value moves with a parameter */
    int32_t source, param;
    double re, im; /* V or A (all of m in parallel) per unit of it */
} ana_gradient_drive;
typedef struct ana_gradient_opt {
    const ana_noise_opt *noise;      /* whose `out` and `source` count; NULL: of ac */
    const double *f;                 /* hertz, of the rows */
    const ana_spectral_seed *seed;   /* [n_seed] */
    struct ckt_vary *vary;           /* devices that parameters reach; not made ready */
    const ana_push *push;            /* [n_push] */
    const ana_gradient_drive *drive; /* [n_drive] */
    const size_t *line;              /* [n_line] the parameter of each ckt_line_side */
    size_t n_seed, n_measure, n_param, n_push, n_drive, n_line;
    const char *const *name; /* [n_param] */
} ana_gradient_opt;
/* Adds d measure / d parameter to to[measure * n_param + parameter]; NAN, with a warning, where
 * gmin alone carries it.
 *   sink  in  progress and stop; its points are not used
 * Status: VS_OK; those of ana_ac and ckt_vary_sum; VS_EUNSUPPORTED (message). */
VS_MUST_USE vs_status ana_gradient(ana *a, const ana_gradient_opt *o, const ana_sink *sink,
                                   double *to);

/* -- gradients of measures of operating points and sweeps (gradient_dc.c) -- */
typedef struct ana_static_opt {
    const double *x;      /* solutions; [n+1] that of a row begins at x + at[row] */
    const size_t *at;     /* [rows] */
    const int32_t *swept; /* [n_swept] sources that are swept, */
    int32_t n_swept;
    const double *level;   /* [rows][n_swept] and their values */
    const ana_seed *seed;  /* [n_seed] those of a row and measure together */
    struct ckt_vary *vary; /* devices that parameters reach; may be made ready */
    const ana_push *push;  /* [n_push]; those of swept sources do not count */
    const size_t *line;    /* [n_line] the parameter of each ckt_line_side */
    size_t n_seed, n_measure, n_param, n_push, n_line;
    const char *const *name; /* [n_param] */
} ana_static_opt;
/* As ana_gradient. */
VS_MUST_USE vs_status ana_gradient_static(ana *a, const ana_static_opt *o, const ana_sink *sink,
                                          double *to);

/* The output per unit of each independent source. freq NULL: of the static equations. */
VS_MUST_USE vs_status ana_xf(ana *a, const ana_output *out, const ana_freq *freq,
                             const ana_table *t);

typedef struct ana_pz_opt {
    int32_t in[2], out[2]; /* nodes; 0: the reference */
    bool voltage; /* transfer function output voltage / input voltage, else / input current */
    bool poles, zeros;
} ana_pz_opt;
VS_MUST_USE vs_status ana_pz(ana *a, const ana_pz_opt *o, const ana_table *t);

typedef struct ana_port { /* source behind a resistance z0 between nodes p and n */
    int32_t p, n, source;
    double z0; /* ohm */
} ana_port;
typedef struct ana_sp_watch { /* a column: factor * (z[hi] - z[lo]) */
    ana_column col;
    int32_t hi, lo;
    double factor;
} ana_sp_watch;
typedef struct ana_sp_opt {
    const ana_port *port; /* [n_port] */
    int32_t n_port;
    ana_freq freq;
    bool noise;                /* also the noise current correlation matrix Cy and, of two ports, NF
                             * NFmin Rn SOpt */
    const ana_sp_watch *watch; /* [n_watch] columns behind the parameters: z while the last port
                             * has 1 V behind its resistance and the others 0 V */
    int32_t n_watch;
} ana_sp_opt;
/* S, Y, Z parameters.
 *   s  out  called for each frequency with S [n_port^2], row by row, re and im in turn; may be NULL
 */
VS_MUST_USE vs_status ana_sp(ana *a, const ana_sp_opt *o, const ana_table *t,
                             vs_status (*s)(void *user, double f, const double *s), void *user);

/* Loop gain at probes, voltage sources of 0 V (lstb.c); a plot of the gain, then one of the
 * margins: degrees, Hz, dB, Hz, NAN where there is none in the range. */
typedef enum ana_lstb_mode { ANA_LSTB_SINGLE, ANA_LSTB_DIFF, ANA_LSTB_COMM } ana_lstb_mode;
typedef struct ana_lstb_opt {
    int32_t probe[2], n_probe; /* DIFF and COMM: two sources, in the branches of a pair */
    ana_lstb_mode mode;
    ana_freq freq;
    diag_span span; /* of messages */
} ana_lstb_opt;
VS_MUST_USE vs_status ana_lstb(ana *a, const ana_lstb_opt *o, const ana_table *t);

/* -- periodic and quasi-periodic states (hb.h; docs/analyses.md) --
 * Forms MDL_TRAN and MDL_AC are needed. */
enum { ANA_TONES = 10 };
typedef struct ana_hb_opt {
    int32_t n_tone;
    double tone[ANA_TONES];  /* Hz; of an oscillator the first guess, 0: none */
    int32_t harm[ANA_TONES]; /* highest harmonic of each */
    int32_t intmod;          /* |k_1| + |k_2| + ... at most; 0: no such limit */
    bool osc;                /* no source moves: the frequency is unknown; one tone */
    ana_output probe;        /* osc: the fundamental of this output has phase 0 */
    double tstab;       /* s, of a transient that the state is looked for behind; 0: none is run
                              * before it is needed */
    bool uic;           /* of this transient */
    diag_span span;     /* for messages */
    const double *from; /* [n+1][harmonics][2] of ana_orbit_state of such an orbit; NULL */
    size_t n_from;      /* of these numbers; another circuit's are not used */
    double from_tone;
} ana_hb_opt;

/* A state that repeats, found by harmonic balance. It lives in the analysis object. */
typedef struct ana_orbit ana_orbit;
/* Status: VS_OK; VS_NOCONV, VS_EINPUT, VS_ESINGULAR with messages; VS_STOP. orbit NULL unless
 * VS_OK.
 *   sink  in  progress and stop; its points are not used */
VS_MUST_USE vs_status ana_orbit_find(ana_orbit **orbit, ana *a, const ana_hb_opt *o,
                                     const ana_sink *sink);
void ana_orbit_free(ana_orbit **orbit);
/* Lines of the spectrum from 0 Hz on, frequencies rising; line k in hertz; its phasors z [2 (n+1)]:
 * x(t) = z_0 + sum_k Re(z_k exp(2 pi i f_k t)), so |z_k| is the amplitude. */
int32_t ana_orbit_lines(const ana_orbit *o);
double ana_orbit_freq(const ana_orbit *o, int32_t k);
void ana_orbit_phasors(const ana_orbit *o, int32_t k, double *z);
/* One tone: x [n+1] at a part of the period, 0 .. 1; the period, s. */
void ana_orbit_at(const ana_orbit *o, double part, double *x);
double ana_orbit_period(const ana_orbit *o);
/* The state as numbers, and how many: where a later search for the same orbit begins. */
const double *ana_orbit_state(const ana_orbit *o, size_t *n);

/* -- the same of one tone by shooting (shoot.h) -- */
typedef enum ana_shoot_rule {
    ANA_SHOOT_SDIRK4, /* order 4 */
    ANA_SHOOT_TRAP,
    ANA_SHOOT_GEAR, /* order 2 */
    ANA_SHOOT_EULER
} ana_shoot_rule;
typedef struct ana_shoot_opt {
    ana_shoot_rule rule;
    int64_t points; /* to be written, both ends of the period among them, at least 2 */
    int halvings; /* of the steps at most, which are the transient's if 0; -1: as tolerances ask */
    const ana_orbit *from; /* where it begins, instead of behind a transient; NULL */
    const double *again;   /* [n_again] of ana_shot_state: the steps and the state of a run before,
                            * for small signals, which find the orbit from there. Not used if it
                            * is another circuit's, or corners of sources moved; NULL */
    size_t n_again;
} ana_shoot_opt;
typedef struct ana_shot ana_shot;
/* Begins behind a transient of o->tstab, or at w->from, of the same circuit and tone, which is used
 * in this call alone; o->from is not used. Form MDL_AC is needed.
 * Status: VS_OK; VS_NOCONV, VS_EINPUT, VS_ESINGULAR with messages; VS_STOP. *shot is NULL unless
 * VS_OK. The sink must stay as long. */
VS_MUST_USE vs_status ana_shoot(ana_shot **shot, ana *a, const ana_hb_opt *o,
                                const ana_shoot_opt *w, const ana_sink *sink);
void ana_shot_free(ana_shot **shot);
double ana_shot_period(const ana_shot *s); /* s */
int64_t ana_shot_steps(const ana_shot *s); /* of the period, as they are now */
/* x [n+1] of point k, 0 .. points - 1; its time from the beginning of the period, s. */
double ana_shot_point(const ana_shot *s, int64_t k, double *x);
/* to [n+1][2 harmonics + 1][2], from the highest harmonic below 0 to the highest above: the
 * numbers of ana_orbit_state, from where harmonic balance may go on. */
void ana_shot_spectrum(const ana_shot *s, double *to);
/* Steps and state, to the vec. */
void ana_shot_state(const ana_shot *s, double **to);
/* Why small signals in time are not possible on this orbit, "with lines ..."; NULL: they are. */
const char *ana_shot_refuses(const ana_shot *s);

/* A periodic state, of one of both; the other is NULL. Small signals on an orbit of harmonic
 * balance are solved in its harmonics, on that of shooting in time (cyclo.h), which changes the
 * shot's steps. */
typedef struct ana_steady {
    ana_orbit *orbit;
    ana_shot *shot; /* ana_shot_refuses has no objection */
} ana_steady;
/* Small signals on an orbit. Sideband k of a signal at f is its part at f + k f_0, with f_0 the
 * first tone; 0 is f itself. Status as the other small-signal analyses. */
/* Status: VS_OK; VS_EINPUT with a message at `span`: the state does not have sideband k. */
VS_MUST_USE vs_status ana_check_sideband(ana_steady on, int32_t k, diag_span span);
/* At its own harmonics an oscillator has no response: what moves its phase there goes on moving it.
 * Status: VS_OK; VS_EINPUT with a message at `span`: one of the frequencies is such a harmonic. */
VS_MUST_USE vs_status ana_check_frequencies(ana_steady on, const ana_freq *freq, diag_span span);
/* What the ac values of the sources drive at f: phasors of the sidebands -most .. most, which the
 * state has, to `point`, z [2 most + 1][2 (n+1)]. */
typedef struct ana_hbac_opt {
    ana_freq freq;
    int32_t most;
    vs_status (*point)(void *user, double f, const double *z);
} ana_hbac_opt;
VS_MUST_USE vs_status ana_hbac(ana_steady on, const ana_hbac_opt *w, const ana_table *t);
/* Noise at f + sideband f_0 of the output from all sources of all devices, folded from every
 * harmonic; referred to the input source at f. */
typedef enum ana_hbnoise_form {
    ANA_HBNOISE_SIDEBAND,
    ANA_HBNOISE_MODULATED, /* also at the sideband below the harmonic, and as its AM and PM */
    ANA_HBNOISE_PHASE,     /* the same of an oscillator, and the phase by projection on the orbit */
    ANA_HBNOISE_SAMPLED,   /* of samples of the output, one a period: f up to f_0 / 2 */
    ANA_HBNOISE_CROSSING   /* of samples where the output passes a level, and the time's jitter */
} ana_hbnoise_form;
typedef struct ana_hbnoise_opt {
    ana_output out;
    int32_t source; /* -1: none */
    ana_freq freq;
    ana_hbnoise_form form;
    int32_t sideband; /* SIDEBAND; MODULATED, PHASE: the harmonic, 1 or more */
    double at;        /* SAMPLED: s from the beginning of the period; CROSSING: level, the output's
                       * unit */
    int32_t edge;     /* CROSSING: n > 0 the n-th rise in the period, n < 0 the n-th fall */
    int64_t summary;  /* as ana_noise_opt */
    diag_span span;   /* for messages */
} ana_hbnoise_opt;
/* A plot over frequency, and one of what belongs to the whole. Densities of AM and PM are dBc/Hz:
 * half of the power density of the relative amplitude and of the phase. */
VS_MUST_USE vs_status ana_hbnoise(ana_steady on, const ana_hbnoise_opt *w, const ana_table *t);
/* The output at f + sideband f_0 per unit of every independent source at f + m f_0, m from -most to
 * most: one plot. */
typedef struct ana_hbxf_opt {
    ana_output out;
    ana_freq freq;
    int32_t sideband, most;
    diag_span span; /* for messages */
} ana_hbxf_opt;
VS_MUST_USE vs_status ana_hbxf(ana_steady on, const ana_hbxf_opt *w, const ana_table *t);
/* Scattering between ports, each at a sideband of its own: S_ij is the wave that leaves port i at
 * f + harm[i] f_0 for one into port j at f + harm[j] f_0. */
typedef struct ana_hbsp_opt {
    const ana_port *port; /* [n_port]; one that is looked at where it has several: so many times */
    const int32_t *harm;  /* [n_port] */
    int32_t n_port;
    ana_freq freq;
    bool noise;     /* also noise figures from port 1 to port 2, of which there are */
    diag_span span; /* for messages */
} ana_hbsp_opt;
/* s: as of ana_sp. */
VS_MUST_USE vs_status ana_hbsp(ana_steady on, const ana_hbsp_opt *w, const ana_table *t,
                               vs_status (*s)(void *user, double f, const double *s), void *user);

#endif
