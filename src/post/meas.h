/* meas.h - .measure: what a curve says in one number (ngspice manual, ch. "Measurements").
 * Use:    post_measure on the plot env->set->current, with the text behind the analysis' name:
 *             delay TRIG v(in) VAL=0.5 RISE=1 TARG v(out) VAL=0.5 RISE=1
 *             bw WHEN vdb(out)=-3          p FIND v(out) AT=2u        a AVG v(out) FROM=1u TO=2u
 *             s DERIV v(out) AT=1u         x PARAM='delay*2'
 * Between two points of a curve the straight line counts, for crossings, values and integrals. */
#ifndef POST_MEAS_H
#define POST_MEAS_H

#include <stdio.h>

#include "expr.h"

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
/* The names of the vectors that it needs. */
void post_measure_names(str_pool *names, const char *text, const char ***list);
/* Whether the word text[n] begins a form: "avg", "param", ... */
bool post_measure_form(const char *text, size_t n);
/* A line as ngspice prints it. */
void post_measure_print(const post_meas *m, FILE *out);

#endif
