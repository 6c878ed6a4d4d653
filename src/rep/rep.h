/* rep.h - reports about a deck, its matrix, its models and the machine: in words and figures for
 * people, as JSON and CSV for programs. One .c file for each report. The caller opens the stream
 * that a report is written to; messages go to a diag. The public functions on them are those of
 * vsim/inside.h (src/run). */
#ifndef REP_H
#define REP_H

#include <stdio.h>

#include "sim.h"

/* -- rep_explain.c: what the model compiler made of each group of devices (docs/explain.md) -- */
void rep_explain(const sim *s, bool json, FILE *out);
/* Names of the deck's model cards that the instances of a group have, each once, in their order; a
 * vec. */
const char **rep_group_models(const sim *s, const ckt_group_facts *g);

/* -- rep_analyze.c: what a matrix promises a solver (docs/analyze.md) -- */
typedef struct rep_analyze_opt {
    const char *deck;      /* or a file with a matrix; names the report */
    const char *at;        /* "op", or a time in seconds as text; NULL: the last point */
    const char *order;     /* whose forest is shown and drawn; NULL: amd */
    const char *svg, *mtx; /* files to write, NULL: none */
    bool json, csv;
} rep_analyze_opt;
/* Watches the loads of a run. Use: rep_survey_begin before it; the caller ends the run early once
 * rep_survey_done returns true (the values that `at` asks for are there); rep_survey_report;
 * rep_survey_free. The circuit may be freed after the report. NULL of _begin: a message in the diag
 * of s. Status of _report: VS_OK, VS_EINPUT, VS_EIO (message). */
typedef struct rep_survey rep_survey;
rep_survey *rep_survey_begin(const rep_analyze_opt *o, sim *s);
bool rep_survey_done(const rep_survey *v);
VS_MUST_USE vs_status rep_survey_report(rep_survey *v, FILE *out);
void rep_survey_free(rep_survey *v);
/* The same report for a file in Matrix Market format. */
bool rep_is_matrix(const char *path);
VS_MUST_USE vs_status rep_matrix(diag *d, const rep_analyze_opt *o, FILE *out);

/* -- rep_profile.c: where the time of a run goes (docs/profile.md) -- */
typedef struct rep_profile_opt {
    const char *deck;  /* names the report */
    const char *trace; /* file for events, NULL: none */
    const char *svg;   /* file for a picture of the activity (rep_activity.h), NULL: none */
    const char *steps; /* result file for the steps (rep_steps), NULL: none */
    bool json;
    bool as_if; /* threads are modelled: pool_as_if */
} rep_profile_opt;
/* Watches the phases and steps of a run. rep_profile_end frees the profile and prints the report
 * unless out is NULL; the circuit must still exist. NULL of _begin: a message in the diag of s. */
typedef struct rep_profile rep_profile;
rep_profile *rep_profile_begin(const rep_profile_opt *o, sim *s);
VS_MUST_USE vs_status rep_profile_end(rep_profile *p, FILE *out);

/* -- rep_steps.c: the steps of transients as a result file -- */
/* Per transient a plot "Step History": over the time of each accepted point the step that led there
 * (s), the Newton iterations since the point before, the error of the step over its tolerance, and
 * how many attempts were rejected since the point before, in all and because Newton did not
 * converge. path and title are the caller's. NULL: a message. */
typedef struct rep_steps rep_steps;
rep_steps *rep_steps_open(diag *d, const char *path, const char *title);
/* iterations: of this attempt, of all of its Newton runs. */
void rep_steps_see(rep_steps *s, const ana_step *step, int iterations);
/* *s is NULL afterwards. Status: VS_OK; VS_EIO with a message. */
vs_status rep_steps_close(rep_steps **s);

/* -- rep_doctor.c: what makes a deck hard (docs/doctor.md) -- */
/* Looks at the deck of s, whose circuit is built, and at its operating point. Each finding is a
 * warning with advice in the diag of s. Prints their number to out, or with `json` all findings.
 * Status: that of sim_run for the operating point. */
VS_MUST_USE vs_status rep_doctor(sim *s, bool json, FILE *out);

/* -- rep_models.c: what the model compiler knows of modules -- */
void rep_models(mdl_lib *lib, FILE *out); /* their names */
/* A module with its parameters. Status: VS_OK; VS_EINPUT with a message. */
VS_MUST_USE vs_status rep_model(mdl_lib *lib, diag *d, const char *name, FILE *out);
/* For each module, what its branches depend on. Status: VS_OK, VS_EINPUT. */
VS_MUST_USE vs_status rep_branches(mdl_lib *lib, const diag *d, bool json, FILE *out);
void rep_module(mdl_model *model, FILE *out); /* counts of a compiled module */

/* -- rep_cache.c: the compiled models in folder `dir`. what: "list", "clear", "path". Status:
 * VS_OK; VS_EIO with a sentence in *why, static -- */
VS_MUST_USE vs_status rep_cache(const char *dir, const char *what, FILE *out, const char **why);

/* -- rep_tune.c: from what size on threads and processes pay on this machine -- */
/* Measures both and writes the figures to the cache folder `dir`. Starts threads and processes.
 * Status: VS_OK; VS_EIO with a sentence in why [size]. */
VS_MUST_USE vs_status rep_tune(const char *dir, FILE *out, char *why, size_t size);
/* Reads the figures in folder `dir`. Returns the least number of operations of an evaluation that
 * pays for threads; 0: not measured.
 *   notes   stream for a note about the file, NULL: none
 *   worker  out  s, to start a process; 0: not measured */
double rep_tuned(const char *dir, FILE *notes, double *worker);

/* -- rep_text.c -- */
/* "1.53 k", "26.0 M": three digits with an SI prefix, into buf[16]. */
const char *rep_si(char buf[16], double x, const char *unit);
void rep_json_string(FILE *out, const char *s); /* quoted */
/* Opens a file to write. NULL: a message was given. rep_close: VS_EIO with a message. */
FILE *rep_create(diag *d, const char *path, files_role role);
VS_MUST_USE vs_status rep_close(diag *d, FILE *fp, const char *path);

#endif
