/* result.h - what runs computed: plots of vectors, and measures of them.
 * Arrays are given without a copy. They live until the run goes on (an array may move when points
 * are added) or is freed. */
#ifndef VSIM_RESULT_H
#define VSIM_RESULT_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vsim_plot vsim_plot;

typedef struct vsim_vector {
    const char *name; /* "time", "v(out)", "i(v1)", "onoise_spectrum" */
    const char *kind; /* "time", "voltage", "current", "frequency", "notype", ... */
    const char *unit; /* "s", "V", "A", "Hz", ""; */
    bool complex_values;
    size_t n;        /* values */
    const double *v; /* [n]; complex: [2 n], real and imaginary part in turn */
} vsim_vector;

/* A run has one plot; noise and sensitivities may have several, a run without points none. */
VSIM_API size_t vsim_run_plot_count(const vsim_run *r);
VSIM_API const vsim_plot *vsim_run_plot(const vsim_run *r, size_t i); /* NULL: i is too large */
VSIM_API const char *vsim_plot_name(const vsim_plot *p);              /* "Transient Analysis" */
VSIM_API const char *vsim_plot_id(const vsim_plot *p);                /* "tran1" */
VSIM_API const char *vsim_plot_title(const vsim_plot *p);             /* of the deck */
VSIM_API const char *vsim_plot_date(const vsim_plot *p);              /* when it began */
VSIM_API size_t vsim_plot_vector_count(const vsim_plot *p);
/* The i-th vector, the axis (if there is one) first. false: i is too large. */
VSIM_API bool vsim_plot_vector(const vsim_plot *p, size_t i, vsim_vector *v);
/* By name, also in ngspice's forms "out" and "v1#branch". false: none. */
VSIM_API bool vsim_plot_find(const vsim_plot *p, const char *name, vsim_vector *v);
VSIM_API bool vsim_plot_axis(const vsim_plot *p, vsim_vector *v); /* false: there is no axis */

/* Of the first plot of a run that has it: vsim_plot_find, and a single value. Status:
 * VSIM_OK; VSIM_EINPUT: no such vector (message). */
VSIM_MUST_USE vsim_status vsim_run_vector(vsim_run *r, const char *name, vsim_vector *v);
VSIM_MUST_USE vsim_status vsim_run_value(vsim_run *r, const char *name, double *value); /* last */

/* A measure of the run's first plot that has one of its vectors, else of the first, as a .meas card
 * has it behind the analysis: "tr TRIG v(in)
 * VAL=0.5 RISE=1 TARG v(out) VAL=0.5 RISE=1", "p AVG v(out) FROM=1u TO=2u". The vectors that it
 * names must have been kept. *value is NaN if the curve has no such value; why, then, is a
 * warning. Status: VSIM_OK; VSIM_EINPUT: the text is no measure. */
VSIM_MUST_USE vsim_status vsim_run_measure(vsim_run *r, const char *text, double *value);
/* The deck's own .meas cards for this kind of analysis, evaluated when the run has finished. */
typedef struct vsim_measured {
    const char *name;
    double value; /* NaN: failed */
} vsim_measured;
VSIM_API size_t vsim_run_measured_count(const vsim_run *r);
VSIM_API bool vsim_run_measured(const vsim_run *r, size_t i, vsim_measured *m);

#ifdef __cplusplus
}
#endif
#endif
