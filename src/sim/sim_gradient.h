/* sim_gradient.h - what gradients of all analyses share (.sens tran, ac, noise, op, dc).
 * sim_gradient.c reads measures and parameters, sim_gradient_tran.c, sim_gradient_small.c and
 * sim_gradient_dc.c run, measure and add the derivatives up. */
#ifndef SIM_GRADIENT_H
#define SIM_GRADIENT_H

#include "meas.h"
#include "sim_vary.h"

typedef struct gradient_side { /* the circuit with a parameter a little off */
    double value;
    sim_vary_side at; /* what differs from the circuit as it is */
    double *ic;       /* vec: of .ic; with uic all start values [n+1]; NULL: as in the base */
    double *number;   /* vec: what measures call by name; NULL: as in the base */
} gradient_side;

typedef struct gradient_by { /* a parameter */
    flat_target t;
    double value;
    gradient_side side[2];
} gradient_by;

typedef struct gradient_card { /* a measure of the deck */
    const char *name, *text;
    diag_span at;
    bool wanted;
    post_measured got;
} gradient_card;

typedef struct gradient {
    sim *s;
    arena mem;
    flat_ana run;        /* the analysis that is measured */
    size_t memory;       /* bytes for solutions of a transient */
    const char **meas;   /* vec: wanted */
    gradient_by *by;     /* vec */
    gradient_card *card; /* vec: the measures of the deck's run */
    const char **number; /* vec: parameters that they name, */
    const double *value; /* [numbers] and what they are now */
    sim_vary now;        /* the circuit as it is */
    gradient_side base;
    diag_span span;
    post_set plots;
    int32_t *ic_node; /* vec */
    double *to;       /* [measures][parameters] */
} gradient;

/* The measure of this name; NULL: there is none. */
const gradient_card *sim_gradient_find_card(const gradient *g, const char *name);

/* What was moved, as parameters of *vary, which is made; the circuit may not be built again.
 * Status: VS_OK; those of ckt_vary_add. */
vs_status sim_gradient_vary(gradient *g, ckt_vary **vary);
/* The wanted measures of the run in g->plots, with their derivatives by its rows.
 * Status: VS_OK; VS_EINPUT (message). */
vs_status sim_gradient_measure(gradient *g);
/* The vector of the plot that a slope is by; NULL (message): a value inside a device. */
const elab_out *sim_gradient_vector(const gradient *g, const gradient_card *c, const post_slope *p);

/* The derivatives of the wanted measures by unknowns, to a vec in the order of rows, in these of
 * measures. Status: VS_OK; VS_EINPUT (message). */
vs_status sim_gradient_seeds(const gradient *g, ana_seed **seed);
typedef struct gradient_source { /* a source that a parameter moves */
    size_t p;
    int32_t source;
} gradient_source;
/* All of them, to a vec, in the order of parameters. */
void sim_gradient_sources(const gradient *g, gradient_source **to);

/* Runs g->run with its plot in g->plots, measures, and adds derivatives to g->to: all but those by
 * parameters that texts of measures name.
 * Status: VS_OK; those of the run; VS_EINPUT, VS_EUNSUPPORTED (messages). */
vs_status sim_gradient_of_tran(gradient *g);
vs_status sim_gradient_of_small(gradient *g);
vs_status sim_gradient_of_static(gradient *g);
/* Whether what small signals and operating points cannot move is there: VS_EUNSUPPORTED (message).
 */
VS_MUST_USE vs_status sim_gradient_refuse_small(const gradient *g);

#endif
