/* run.h - analyses of a deck: whole, or in pieces.
 * Use:   vsim_run_card("tran 1n 1u"), vsim_run_deck_card(0) or vsim_run_analysis(&struct) make a
 *        run, vsim_run_go does it; vsim_run_plot (result.h) has what it computed; vsim_run_free.
 *        Transients in pieces: vsim_run_until(t), look, vsim_run_until(later), ..., vsim_run_go.
 *
 * A deck has one run under way at a time; finished runs are only their results and may be kept in
 * any number. Pieces do not change results: they are those of the whole run to the last bit. */
#ifndef VSIM_RUN_H
#define VSIM_RUN_H

#include "deck.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vsim_run vsim_run;

typedef enum vsim_kind {
    VSIM_OP,
    VSIM_DC,
    VSIM_TRAN,
    VSIM_AC,
    VSIM_NOISE,
    VSIM_TF,
    VSIM_SENS,
    VSIM_PZ,
    VSIM_SP,
    VSIM_HB,      /* periodic states: .hb, .hbosc, .pss */
    VSIM_HBAC,    /* these two on the orbit that the deck found last, */
    VSIM_HBNOISE, /* or of its first card of that kind; .phasenoise too */
    VSIM_LSTB,
    VSIM_ACXF,    /* the output per unit of every independent source, over frequency; */
    VSIM_DCXF,    /* at the operating point */
    VSIM_DISTO,   /* distortion of small signals */
    VSIM_DCMATCH, /* what the random numbers of the deck do to an output: at the operating point; */
    VSIM_ACMATCH, /* over frequency */
    VSIM_HBSP,    /* scattering on the orbit, from ports to ports at other frequencies; */
    VSIM_HBXF     /* the output per unit of every independent source at each of its sidebands */
} vsim_kind;
typedef enum vsim_grid { VSIM_DEC, VSIM_OCT, VSIM_LIN } vsim_grid;
typedef enum vsim_integration { /* of shooting */
                                VSIM_SDIRK4,
                                VSIM_TRAP,
                                VSIM_GEAR,
                                VSIM_EULER
} vsim_integration;
/* The loop of LSTB: at one probe; of the difference or of the common part of two. */
typedef enum vsim_loop { VSIM_LOOP_SINGLE, VSIM_LOOP_DIFF, VSIM_LOOP_COMM } vsim_loop;

/* What HBNOISE tells: the output at one sideband; both sidebands of a harmonic, AM and PM; samples
 * of the output at a time of the period; at a crossing of a level, with the jitter of its time. */
typedef enum vsim_noise_form {
    VSIM_NOISE_SIDEBAND,
    VSIM_NOISE_MODULATED,
    VSIM_NOISE_STROBE,
    VSIM_NOISE_CROSS
} vsim_noise_form;

typedef struct vsim_dc_sweep {
    const char *name;    /* "v1"; "temp"; "param:NAME"; "r1", "m1[w]" */
    const double *value; /* [n] in the order of the points */
    size_t n;
} vsim_dc_sweep;

/* An analysis as a struct. Fields that `kind` does not name are not looked at. */
typedef struct vsim_analysis {
    size_t size;
    vsim_kind kind;
    /* DC: sweep[0] varies fastest; 1 to 4 of them */
    vsim_dc_sweep sweep[4];
    size_t n_sweep;
    /* TRAN, seconds; tmax 0: min(tstep, (tstop - tstart) / 50) */
    double tstep, tstop, tstart, tmax;
    bool uic;
    /* AC, NOISE, SP, HBAC, HBNOISE, HBSP, HBXF, ACXF, DISTO; SENS, LSTB and ACMATCH if n_freq > 0
     * (LSTB and ACMATCH without: those of the deck's .ac): points per decade or octave; LIN: in
     * all */
    vsim_grid grid;
    int64_t n_freq;
    double f_from, f_to; /* hertz */
    /* NOISE, HBNOISE, HBXF, TF, SENS, PZ, ACXF, DCXF, DCMATCH, ACMATCH: "v(out)", "v(a,b)",
     * "i(v1)"; SENS also gradients of the deck's transient, "tran MEASURE... param=P...", of its ac
     * or noise analysis, operating point or dc sweep, "ac MEASURE... param=P..."; NOISE, HBNOISE,
     * TF: the input source, "vin" */
    const char *out, *source;
    int64_t summary; /* NOISE, HBNOISE: parts of all devices at every summary-th point; 0: totals */
    /* PZ: input nodes p and n; out: "v(p,n)" */
    const char *in[2];
    bool current_input; /* the transfer function is output voltage / input current */
    bool no_poles, no_zeros;
    bool noise; /* SP, HBSP: noise too */
    /* HB: n_tone tones of 1 to 4 (more: `tones`), hertz, and harmonics of each, 0: 10 of one tone,
     * 7 of each of several; intmodmax: highest order of products that are kept, 0: all; tstab: a
     * transient of so many s comes first (with `uic`: from the initial conditions); points: of the
     * waveform over a period, 0: enough for its harmonics */
    double tone[4];
    int64_t harmonics[4];
    size_t n_tone;
    int64_t intmodmax, points;
    double tstab;
    /* HB of an oscillator: tone[0] is a first guess, and probe the node, or two, that oscillates.
     * LSTB: probe are voltage sources of 0 V in the loop, one, or two for DIFF and COMM */
    bool oscillator;
    const char *probe[2];
    vsim_loop loop;
    int64_t sideband; /* HBAC: the highest that is written, 0: the answer at f alone; HBNOISE, HBXF:
                       * of the output; of phase noise the harmonic, else the first */
    bool phase;       /* HBNOISE: phase noise of an oscillator; no source */
    /* TRAN: noise of all devices up to noise_fmax hertz (0: 1/(2 tstep)), amplitudes times
     * noise_scale (0: 1), draws of noise_seed (0: that of .option seed), as .trannoise */
    bool device_noise;
    double noise_fmax, noise_scale;
    uint64_t noise_seed;
    /* HB of one tone by shooting, as .pss method=shooting; a driven circuit has no probe, an
     * oscillator one node */
    bool shooting;
    vsim_integration integration;
    double f2_over_f1; /* DISTO: products with distof2 at so many times f_from, 0: harmonics */
    double threshold;  /* DCMATCH, ACMATCH: least share of the variance that has a vector */
    /* HBNOISE without `phase`: STROBE: noise_at seconds from the beginning of the period; CROSS:
     * where the output passes the level noise_at, for the noise_edge-th time upwards (0: the
     * first), of -n the n-th time downwards */
    vsim_noise_form noise_form;
    double noise_at;
    int64_t noise_edge;
    const int64_t *port_harmonic; /* HBSP: [n_port_harmonic] of ports 1, 2, ...; others have 0 */
    size_t n_port_harmonic;
    /* HB by shooting: every step is halved so many times, 0: as often as the tolerances ask for,
     * -1: never; start_hb: it begins from the orbit that harmonic balance finds */
    int64_t halvings;
    bool start_hb;
    /* HBSP: NULL: port_harmonic has one of each port; else [n_port_harmonic] the port of each, from
     * 1, rising without gaps: a port at several harmonics is so many ports of the results */
    const int64_t *harmonic_port;
    int64_t sidebands; /* HBXF: the highest of the sources' that is written, 0: that at f alone */
    /* HB: NULL: tone and harmonics have them; else [n_tone] of 1 to 10, in the place of these two;
     * tone_harmonics NULL: 0 of each */
    const double *tones;
    const int64_t *tone_harmonics;
} vsim_analysis;
VSIM_API void vsim_analysis_init_size(vsim_analysis *a, vsim_kind kind, size_t size);
static inline void vsim_analysis_init(vsim_analysis *a, vsim_kind kind)
{
    vsim_analysis_init_size(a, kind, sizeof *a);
}

/* A point that was accepted. Arrays live until the callback returns. */
typedef struct vsim_point {
    double axis;     /* s, Hz, or the value of the innermost .dc sweep; 0 if there is no axis */
    const double *x; /* [n+1] unknowns (vsim_unknown_at), x[0] = 0; ac: of the operating point.
                        * NULL for noise, tf, sens, pz, sp, hbac, hbnoise, hbsp, hbxf, lstb */
    /* ac, hb, disto: [2 (n+1)] phasors, real and imaginary part in turn; else NULL */
    const double *z;
    const double *row; /* those of which x is NULL: [n_row] values in the order of the plot's
                        * vectors, complex ones as two; else NULL */
    size_t n_row;
} vsim_point;
typedef enum vsim_action { VSIM_GO_ON, VSIM_DO_PAUSE, VSIM_DO_STOP } vsim_action;

typedef enum vsim_keep {                   /* vectors that results keep in memory */
                         VSIM_KEEP_SAVED,  /* what the deck's .save cards say; without one all
                                              voltages and currents */
                         VSIM_KEEP_NAMED,  /* those of `name` alone */
                         VSIM_KEEP_NOTHING /* memory does not grow with the run */
} vsim_keep;

typedef struct vsim_progress {
    double fraction; /* 0 to 1 */
    double axis;
    const char *unit; /* of the axis, "" if none */
    int64_t points, iterations;
} vsim_progress;

typedef struct vsim_run_options {
    size_t size;
    vsim_keep keep;
    const char *const *name; /* [n_name] "v(out)", "i(v1)", "@m1[gm]" */
    size_t n_name;
    /* Each accepted point, in order; of a transient those from tstart on, and a row just behind
     * corners at which a source's current jumps, and rows around changes of digital nodes.
     * VSIM_DO_PAUSE acts in transients, behind the rows of the step; elsewhere it is an error. */
    vsim_action (*point)(void *user, const vsim_point *p);
    /* At most some 20 times a second. */
    void (*progress)(void *user, const vsim_progress *p);
    /* Asked between points: true ends the run in order, with VSIM_STOP. */
    bool (*stop)(void *user);
    void *user; /* of these four */
    /* As stop, but asked at most some 20 times a second: for hosts that need long to answer, as
     * interpreters that look for signals. */
    bool (*poll)(void *user);
} vsim_run_options;
static inline void vsim_run_options_init(vsim_run_options *o)
{
    vsim_run_options none = {
        sizeof(vsim_run_options), VSIM_KEEP_SAVED, NULL, 0, NULL, NULL, NULL, NULL, NULL};
    *o = none;
}

/* A run of an analysis: of a card's text without its dot ("tran 1n 1u", "ac dec 10 1 1meg"), of the
 * deck's i-th analysis card, of a struct. Nothing is computed yet. o: copied, NULL for defaults.
 *   r   out  NULL unless VSIM_OK; free with vsim_run_free
 * Status: VSIM_OK; VSIM_EINPUT: no such analysis, or another run of this deck is under way;
 * VSIM_ENOMEM; those of building the circuit. */
VSIM_MUST_USE vsim_status vsim_run_card(vsim_deck *d, const char *card, const vsim_run_options *o,
                                        vsim_run **r);
VSIM_MUST_USE vsim_status vsim_run_deck_card(vsim_deck *d, size_t i, const vsim_run_options *o,
                                             vsim_run **r);
VSIM_MUST_USE vsim_status vsim_run_analysis(vsim_deck *d, const vsim_analysis *a,
                                            const vsim_run_options *o, vsim_run **r);
/* Analysis cards of the deck, and what the i-th is. */
VSIM_API size_t vsim_deck_card_count(const vsim_deck *d);
VSIM_API vsim_kind vsim_deck_card_kind(const vsim_deck *d, size_t i);

/* To the end. Status: VSIM_OK: done; VSIM_PAUSED: the point callback paused it; VSIM_STOP; an
 * error, with messages. What was accepted before it is among the results. */
VSIM_MUST_USE vsim_status vsim_run_go(vsim_run *r);
/* A transient to its first accepted point at or behind `t` seconds (the steps are those of the
 * whole run: no point is put at t). Status: VSIM_PAUSED: there; VSIM_OK: the run's end came first;
 * else as vsim_run_go; VSIM_EINPUT: the analysis has no time. */
VSIM_MUST_USE vsim_status vsim_run_until(vsim_run *r, double t);
/* Writes a paused transient to a file, from which vsim_run_restart goes on. The transient stays
 * paused. docs/checkpoint.md tells what is in such files. Status: VSIM_OK; VSIM_EINPUT: it is not a
 * paused transient; VSIM_EIO, with messages. */
VSIM_MUST_USE vsim_status vsim_run_checkpoint(vsim_run *r, const char *path);
/* Gives a new run of the same analysis of the same deck, in any process, the state in the file. It
 * is then paused, has the results so far, and goes on to the same points, bit by bit, as the run
 * that wrote the file. Status: VSIM_PAUSED; VSIM_EINPUT: the file does not fit or is damaged, or
 * the deck has an output file, whose points before are not in the checkpoint; VSIM_EIO; those of
 * building. After an error the run has ended. */
VSIM_MUST_USE vsim_status vsim_run_restart(vsim_run *r, const char *path);
/* Ends a run that is paused; its results stay. Another run may then start. */
VSIM_MUST_USE vsim_status vsim_run_stop(vsim_run *r);
/* With its results; stops it if it is under way. *r is NULL afterwards; NULL is allowed. */
VSIM_API void vsim_run_free(vsim_run **r);

/* State of a run that was begun: time or axis of its last accepted point, and the point itself,
 * x [n+1], until the run goes on; NULL: none yet, or an analysis whose points have none. */
VSIM_API double vsim_run_axis(const vsim_run *r);
VSIM_API const double *vsim_run_point(const vsim_run *r);

/* Counts of a run so far. */
typedef struct vsim_run_stat {
    int64_t accepted, rejected, iterations, evaluations, bypasses;
    const char *op_method; /* "Newton", "gmin stepping", ...; NULL: none was looked for */
    double seconds;        /* spent in this run */
} vsim_run_stat;
VSIM_API void vsim_run_stats(const vsim_run *r, vsim_run_stat *st);

/* A result file of the deck: every run from now on also writes there as points are accepted.
 * format "raw" (binary), "ascii" (raw as text) or "csv". vsim_deck_close_output also tells whether
 * all could be written. Status: VSIM_OK, VSIM_EIO, VSIM_EINPUT. */
VSIM_MUST_USE vsim_status vsim_deck_output(vsim_deck *d, const char *path, const char *format);
VSIM_MUST_USE vsim_status vsim_deck_close_output(vsim_deck *d);

#ifdef __cplusplus
}
#endif
#endif
