/* meas.h - .measure: numbers computed from curves (ngspice manual, ch. "Measurements").
 * Use:    post_measure on the plot env->set->current, with the text behind the analysis' name:
 *             delay TRIG v(in) VAL=0.5 RISE=1 TARG v(out) VAL=0.5 RISE=1
 *             bw WHEN vdb(out)=-3          p FIND v(out) AT=2u        a AVG v(out) FROM=1u TO=2u
 *             s DERIV v(out) AT=1u         x PARAM='delay*2'
 * Between two points of a curve the straight line counts, for crossings, values and integrals. */
#ifndef POST_MEAS_H
#define POST_MEAS_H

#include <stdio.h>

#include "expr.h"
#include "image.h"

typedef struct post_meas {
    const char *name; /* interned lower case; NULL: the text has none */
    bool ok;          /* false: the curve has no such value, or why says what else */
    double value;
    int n_part; /* further numbers: targ, trig; at; with; from, to */
    const char *part[2];
    double part_value[2];
    const char *why;
} post_meas;

/* Status: VS_OK: look at m->ok; VS_EINPUT: the text is no measure (message). Texts in env->mem.
 *   at   where the text stands in its file; its length is that of the text if columns agree */
VS_MUST_USE vs_status post_measure(post_env *e, const char *text, diag_span at, post_meas *m);
/* The derivative of a measure by one point of a vector. */
typedef struct post_slope {
    size_t vec;    /* of the plot */
    int64_t point; /* of the vector */
    double by;
} post_slope;
typedef struct post_measured {
    post_meas m;
    post_slope *slope; /* vec, the caller's */
} post_measured;
/* post_measure with the derivatives of its value by the points of the vectors of a plot that has
 * just these and, behind them, the results of the measures `before` [n]. The axis is held.
 * Status: VS_OK; VS_EINPUT, with a message: the measure failed, or has no derivatives. */
VS_MUST_USE vs_status post_measure_slope(post_env *e, const char *text, diag_span at,
                                         const post_measured *before, size_t n, post_measured *out);
/* The names of the vectors that it needs. */
void post_measure_names(str_pool *names, const char *text, const char ***list);
/* Whether the word text[n] begins a form: "avg", "param", ... */
bool post_measure_form(const char *text, size_t n);
/* A line as ngspice prints it. */
void post_measure_print(const post_meas *m, FILE *out);

/* Measures of a transient whose points are not kept: post_flow_new and, when the first piece of the
 * waveforms is there, post_flow_add for each measure; post_flow_take for each piece, the first
 * included; post_flow_result. Results are those of post_measure on the whole, bit by bit. If add or
 * the first take says no, the waveforms have to be kept. */
typedef struct post_flow post_flow;
post_flow *post_flow_new(void);
void post_flow_free(post_flow **f);
/* e->set->current is the plot with the first piece; later: vec of names that are not known before
 * the end, those of measures. false: the measure needs the whole curve, or is none. */
bool post_flow_add(post_flow *f, const post_env *e, const char *text, diag_span at,
                   const char *const *later);
/* The next points: e->set->current has these alone. false (for the first piece only): an expression
 * cannot be told from a piece. */
bool post_flow_take(post_flow *f, const post_env *e);
/* After the last piece, of the text that stands at `at`; texts in mem. false: it was not added, or
 * needs no points. */
bool post_flow_result(post_flow *f, diag_span at, arena *mem, post_meas *m);
/* Copies the state after the points so far to or from the image. It is given back to a post_flow to
 * which the same measures were added. */
void post_flow_image(post_flow *f, image *im);

#endif
