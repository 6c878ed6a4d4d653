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
    bool ok;          /* false: there is no such value; `why` says why, NULL: the curve lacks it */
    double value;
    int n_part; /* further numbers: targ, trig; at; with; from, to */
    const char *part[2];
    double part_value[2];
    const char *why;
} post_meas;

/* Computes a measure. Its texts are in e->mem.
 *   at  place of the text in its file; as long as the text if columns agree
 * Status: VS_OK: m->ok says whether there is a value; VS_EINPUT: the text is no measure (message).
 */
VS_MUST_USE vs_status post_measure(post_env *e, const char *text, diag_span at, post_meas *m);
/* The derivative of a measure by one point of a vector. */
typedef struct post_slope {
    size_t vec;    /* of the plot */
    int64_t point; /* of the vector */
    double by;     /* by its value, or the real part of it */
    double by_im;  /* by the imaginary part */
    double behind; /* what of `by` belongs to what follows the point, where the vector has a corner;
                    * NAN: as much as of a sum of trapezia */
    double pulse;  /* by the area of a pulse of it there: of integrals */
} post_slope;
/* Derivatives of measures by each point of the vectors, with the axis held.
 * Use:    post_slopes_new; post_slopes_add for each measure, with the vectors as the only ones of
 *         the current plot at the first of them; post_slopes_take for each piece of the points, the
 *         plot having these alone; post_slopes_end, when the results of all measures stand behind
 *         the vectors, in the order in which they were added; post_slopes_of, for any piece;
 *         post_slopes_free. The pieces may be others each time: no bit depends on them.
 *         AT, FROM and the like may name measures before, if there is one piece.
 * Status of all: VS_OK; VS_EINPUT (message): the measure has no derivatives, or an expression needs
 *         all points while there are several pieces. The measure itself must not have failed. */
typedef struct post_slopes post_slopes;
post_slopes *post_slopes_new(void);
void post_slopes_free(post_slopes **s);
VS_MUST_USE vs_status post_slopes_add(post_slopes *s, const post_env *e, const char *text,
                                      diag_span at);
VS_MUST_USE vs_status post_slopes_take(post_slopes *s, const post_env *e);
VS_MUST_USE vs_status post_slopes_end(post_slopes *s, const post_env *e);
/* Whether a message was that an expression needs points of other pieces. */
bool post_slopes_need_all(const post_slopes *s);
/* Of one measure, from 0, by points [from, to), to a vec. The plot has those from `first` on:
 * these, and one more on each side where there is one. */
VS_MUST_USE vs_status post_slopes_of(post_slopes *s, const post_env *e, size_t measure,
                                     int64_t first, int64_t from, int64_t to, post_slope **list);
/* Appends the names of the vectors that a measure needs to the vec *list, interned. */
void post_measure_names(str_pool *names, const char *text, const char ***list);
/* Whether the word text[n] is the first of a form of measure: "avg", "param", ... */
bool post_measure_form(const char *text, size_t n);
/* Prints a measure as ngspice does, a line. */
void post_measure_print(const post_meas *m, FILE *out);

/* Measures of a transient whose points come in pieces that nobody stores. Use: post_flow_new;
 * post_flow_add for each measure, when the first piece has come; post_flow_take for each piece,
 * the first included; post_flow_result. Results have the same bits as post_measure on the whole. If
 * post_flow_add or the first post_flow_take returns false, the caller must store the waveforms. */
typedef struct post_flow post_flow;
post_flow *post_flow_new(void);
void post_flow_free(post_flow **f);
/* Adds a measure; e->set->current is the plot with the first piece.
 *   later  vec of names whose values are known at the end only, those of measures
 * false: the measure needs the whole curve, or the text is none. */
bool post_flow_add(post_flow *f, const post_env *e, const char *text, diag_span at,
                   const char *const *later);
/* Takes the next piece; e->set->current has its points alone. false, for the first piece only: an
 * expression cannot be computed piece by piece. */
bool post_flow_take(post_flow *f, const post_env *e);
/* The result of the measure at `at`, after the last piece; texts in mem. false: it was not added,
 * or needs no points. */
bool post_flow_result(post_flow *f, diag_span at, arena *mem, post_meas *m);
/* Copies the state after the points so far to an image, or from one to a post_flow to which the
 * same measures were added. */
void post_flow_image(post_flow *f, image *im);

#endif
