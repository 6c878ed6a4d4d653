/* nat_bidi.h - inside src/nat: the analog side of a bidirectional bridge, a conductor of current
 * whose curve follows what drives the digital node.
 * Use:    bidi_rest in static analyses and at time 0, bidi_turn at changes in time, bidi_current.
 * Source: ngspice manual, "Bidirectional digital/analog node bridge". Its current goes to a new
 *         value at a limited rate from step to step; here the curve before a change fades into the
 *         one behind it, so that the current is a function of time and voltage alone. */
#ifndef NAT_BIDI_H
#define NAT_BIDI_H

#include "nat_event.h"

typedef struct bidi_turning { /* from t on */
    double t;
    double s;      /* at t: the open-circuit voltage between low and high, as a part from 0 to 1 */
    int32_t drive; /* an evt_value */
} bidi_turning;

typedef struct bidi {
    nat_bidi o;
    bidi_turning *turn; /* vec; by time. The first holds at the committed time, or fades */
    int32_t used;       /* drive in the last static load */
    bool walks;         /* Newton has begun, and was */
    double v;           /* here */
    int32_t slot[4];    /* (p,p) (p,n) (n,p) (n,n) */
} bidi;

/* It has been driven like this for long. */
void bidi_rest(bidi *b, evt_value drive);
void bidi_turn(bidi *b, evt_value drive, double t);
/* Changes behind t are taken back. */
void bidi_go_back(bidi *b, double t);
/* No time before t will be asked for. */
void bidi_forget(bidi *b, double t);
/* Whether what it remembers can be. */
bool bidi_is_sound(const bidi *b);
/* The first time after t at which the curve begins or ends to move; +inf: none. */
double bidi_next(const bidi *b, double t);
/* The current from out[0] to out[1] of one device at v volt, and its slope there. */
double bidi_current(const bidi *b, double t, double v, double *slope);
/* The voltage to evaluate at on Newton's way from b->v to v: the first corner of the curve between
 * them, or v. *slope: of the curve behind it. */
double bidi_walk(const bidi *b, double t, double v, double *current, double *slope);

#endif
