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
    bool held; /* a sweep sets it: nothing is moved */
    gradient_side side[2];
} gradient_by;

typedef struct gradient_card { /* a measure of the deck */
    const char *name, *text;
    diag_span at;
    bool wanted;
    struct {
        post_meas m;
        post_slope *slope; /* vec: by the points of a piece of the run */
    } got;
} gradient_card;

typedef struct gradient_flow { /* measures of a run that comes in pieces, */
    const double *number;      /* with these values of g->number */
    post_flow *flow;
} gradient_flow;

typedef struct gradient {
    sim *s;
    arena mem;
    flat_ana run;        /* the analysis that is measured */
    size_t memory;       /* bytes for the steps of a transient, */
    double first_end;    /* s, up to which they were enough */
    const char **meas;   /* vec: wanted */
    gradient_by *by;     /* vec */
    gradient_card *card; /* vec: the measures of the deck's run */
    const char **number; /* vec: parameters that they name, */
    const double *value; /* [numbers] and what they are now */
    post_slopes *slopes; /* of the wanted cards, in their order */
    gradient_flow
        *flow;    /* vec: NULL: the run is one piece. First as it is, then with other numbers */
    sim_vary now; /* the circuit as it is */
    gradient_side base;
    diag_span span;
    post_set plots;
    int32_t *ic_node; /* vec */
    double *to;       /* [measures][parameters] */
} gradient;

/* The measure of this name; NULL: there is none. */
const gradient_card *sim_gradient_find_card(const gradient *g, const char *name);

/* Moves each parameter to both sides, and notes what differs, in g->now, g->base and g->by; those
 * of the circuit as it was before are freed by the second function.
 * Status: VS_OK; VS_EINPUT and those of building the circuit (messages). */
VS_MUST_USE vs_status sim_gradient_move(gradient *g);
void sim_gradient_unmove(gradient *g);
/* What was moved, as parameters of *vary, which is made; the circuit may not be built again.
 * Status: VS_OK; those of ckt_vary_add. */
vs_status sim_gradient_vary(gradient *g, ckt_vary **vary);
/* The wanted measures of the run in g->plots, with their derivatives by its rows.
 * Status: VS_OK; VS_EINPUT (message). */
vs_status sim_gradient_measure(gradient *g);
/* The same of a run that comes in pieces, if it does: sim_gradient_piece for each, with its rows in
 * the plot; sim_gradient_values, with those of the last; sim_gradient_slopes, for rows [from, to)
 * of a piece that begins with row `first`. */
vs_status sim_gradient_piece(gradient *g);
vs_status sim_gradient_values(gradient *g);
vs_status sim_gradient_slopes(gradient *g, int64_t first, int64_t from, int64_t to);
/* The vector of the plot that a slope is by; NULL (message): a value inside a device. */
const elab_out *sim_gradient_vector(const gradient *g, const gradient_card *c, const post_slope *p);

/* Says that the measure looks at a value inside a device: VS_EINPUT. */
vs_status sim_gradient_no_detail(const gradient *g, const gradient_card *c, const elab_out *o);

/* The derivatives of the wanted measures by unknowns, to a vec in the order of rows, in these of
 * measures. Status: VS_OK; VS_EINPUT (message). */
vs_status sim_gradient_seeds(const gradient *g, ana_seed **seed);
/* Puts lines with other numbers beside those that parameters move (ckt_line_side), whose parameters
 * go to the vec; ckt_line_no_sides takes them away. Status: VS_OK; VS_EUNSUPPORTED (message). */
VS_MUST_USE vs_status sim_gradient_lines(gradient *g, size_t **of);
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
/* [parameters] of what they are called. Free it. */
const char **sim_gradient_names(const gradient *g);
/* Whether what small signals and operating points cannot move is there: VS_EUNSUPPORTED (message).
 */
VS_MUST_USE vs_status sim_gradient_refuse_small(const gradient *g);

#endif
