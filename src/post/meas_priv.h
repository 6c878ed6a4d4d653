/* meas_priv.h - between meas.c, which measures whole curves, and meas_flow.c, to which the points
 * of a curve come one after the other. */
#ifndef MEAS_PRIV_H
#define MEAS_PRIV_H

#include "meas.h"

typedef enum edge { EDGE_CROSS, EDGE_RISE, EDGE_FALL } edge;

typedef struct clause { /* a place on the axis */
    const char *expr, *val;
    double at, td, from, to; /* NAN: not given */
    edge edge;
    int number; /* the k-th such edge, from 1; -1: the last one */
    bool edge_given;
} clause;

typedef enum range_kind {
    R_AVG,
    R_RMS,
    R_INTEG,
    R_MIN,
    R_MAX,
    R_PP,
    R_MIN_AT,
    R_MAX_AT
} range_kind;

/* The form of a measure. */
typedef enum meas_kind {
    MEAS_OTHER, /* no measure, or a form that needs the whole curve */
    MEAS_PARAM,
    MEAS_DELAY, /* b - a */
    MEAS_FIND,  /* expr at a */
    MEAS_WHEN,  /* a */
    MEAS_RANGE  /* of expr from a.from to a.to */
} meas_kind;
typedef struct meas_plan {
    meas_kind kind;
    range_kind range;
    const char *expr;
    clause a, b;
} meas_plan;
/* Reads the text, evaluates no curve. Status: as post_measure. */
VS_MUST_USE vs_status meas_read(post_env *e, const char *text, diag_span at, post_meas *m,
                                meas_plan *plan);

/* Finds where a curve crosses 0 while its points are added. */
typedef struct meas_crossing {
    bool any;    /* a point was added */
    double x, y; /* the last point */
    int n;       /* crossings so far that the clause counts */
    double t;    /* place of the last of these crossings */
} meas_crossing;
/* Adds a point. true: there is a new crossing, at s->t. */
bool meas_crossing_add(meas_crossing *s, const clause *c, double x, double y);
static inline bool meas_crossing_found(const meas_crossing *s, const clause *c)
{
    return s->n && (c->number < 0 || s->n == c->number);
}
/* A sentence in mem that says why there is no such crossing.  n  crossings that there are */
const char *meas_no_crossing(arena *mem, const clause *c, int n);

/* Sums over points that are added from left to right. */
typedef struct meas_sum {
    int64_t n;
    double first[2], last[2], lo[2], hi[2]; /* points: x, y */
    double area, square;
} meas_sum;
void meas_sum_add(meas_sum *s, double x, double y);
void meas_sum_tell(const meas_sum *s, range_kind kind, post_meas *m);

/* How long a curve is on and off: points are added from left to right, with the same on >= off. */
typedef enum cycle_kind { CYCLE_ON_TIME, CYCLE_OFF_TIME, CYCLE_DUTY, CYCLE_FREQ } cycle_kind;
typedef struct meas_cycle {
    int64_t n;
    int state;       /* 0 before the first point */
    double x, y;     /* the last point */
    double begin;    /* x of the first one */
    double since;    /* when the state began */
    int n_on, n_off; /* times it went on, off */
    int n_rise;      /* places where it went on, without a begin: */
    double first_on, last_on;
    double on_time, off_time;
} meas_cycle;
void meas_cycle_add(meas_cycle *s, double on, double off, double x, double y);
/* NULL, or a sentence that says why there is no such value: mean time on, mean time off, part of
 * the time that it is on, turns per unit from the first to the last place where it goes on. */
const char *meas_cycle_tell(meas_cycle *s, cycle_kind kind, double *value);

/* Why a curve from first to last has no part from FROM to TO (NAN: not given), a sentence in mem;
 * NULL: it has. */
const char *meas_no_part(arena *mem, double from, double to, double first, double last);
/* "t is outside the curve, ..." */
const char *meas_outside(arena *mem, double t, double first, double last);
void meas_part(post_meas *m, const char *name, double value);
/* Sets m->ok to false if the value is not finite. */
void meas_check(post_meas *m);

#endif
