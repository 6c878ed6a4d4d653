/* nat_event.h - native devices: bridges between the analog circuit and its digital part (evt.h).
 *
 *   adc   reads a voltage (or another unknown) and drives a digital node by its level
 *   dac   a source whose value follows digital nodes, or one of numbers, along ramps
 *   bidi  a conductor whose curve follows what drives a digital node
 *   osc   drives a digital node with a period or a duty cycle that a voltage gives
 *   show  an unknown whose value is 0, 1 or 0.5 as the state of a digital node is, or the number of
 *         a node of numbers
 *
 * One set has all of them, and the evt. In static analyses nat_settle lets levels pass through the
 * digital part after each solution; whoever solves repeats it until nothing changes. In transients
 * the digital part runs ahead of the analog one up to the next change of a dac's input, which is a
 * breakpoint, like the end of its ramp. An adc whose level changes within a step asks for a shorter
 * one until the crossing is near the end of the step. When that point is accepted, the digital part
 * goes back to its time and gets the new level, at the time of the crossing plus the adc's delay.
 */
#ifndef NAT_EVENT_H
#define NAT_EVENT_H

#include "evt.h"
#include "nat.h"

typedef struct nat_adc {
    const char *name; /* outlives the circuit, as all names here */
    diag_span span;
    int32_t in[2];    /* unknowns: reads x[in[0]] - x[in[1]] */
    double low, high; /* one bit: up to low 0, from high on 1, U between. low > high: from low on 1,
                       * up to high 0, between as before */
    double delay[2];  /* s, of a change to 0, to 1 */
    double behind;    /* s, the least delay of the digital parts that read it alone */
    const int32_t
        *driver; /* [n_bit] of the evt; several bits: (x - low)/(high - low) in binary, the
                            * first bit is 1/2 */
    int32_t n_bit;
} nat_adc;

typedef struct nat_dac {
    const char *name;
    diag_span span;
    int32_t out[2]; /* unknowns of its nodes */
    int32_t k;      /* unknown of its current; 0: it is a current source from out[0] to out[1] */
    double low, high, undef;
    double gain;        /* V or A of the number 1, where the pin is a node of numbers */
    double ramp[2];     /* s, down, up, of the whole way from low to high; > 0. Of numbers: [0] is
                         * the length of any way */
    const evt_pin *pin; /* [n_bit] several bits: a fraction of high - low, the first bit is 1/2 */
    int32_t n_bit;
    double m; /* devices in parallel */
} nat_dac;

typedef struct nat_bidi {
    const char *name;
    diag_span span;
    int32_t out[2];     /* unknowns of its nodes */
    int32_t node;       /* of the evt: its current follows what drives this node, but for */
    int32_t output;     /* its own output there */
    evt_pin dir;        /* 1: it has no current. node -1: none */
    bool senses;        /* it never has a current */
    double low, high;   /* V */
    double limit[2];    /* A, largest current of the drivers to low, to high; >= 0 */
    double r_strong[2]; /* ohm, > 0, of the drivers to low, to high */
    double r_weak[2];
    double ramp[2]; /* s, down, up, of the whole way; > 0 */
    double m;
} nat_bidi;

typedef struct nat_osc {
    const char *name;
    diag_span span;
    int32_t in[2];
    int32_t driver;
    const double *control, *value; /* [n] points of lines: Hz, or with `pwm` duty cycles */
    int32_t n;
    bool pwm;
    double frequency; /* Hz, of pwm */
    double duty;      /* of the others */
    double phase;     /* 0 .. 1, at the start */
} nat_osc;

/* The evt of a circuit, made if there is none; NULL: there is none and `make` is false. */
evt *nat_event_of(nat_list *l, bool make);
void nat_event_adc(nat_list *l, const nat_adc *a); /* lists are copied */
void nat_event_dac(nat_list *l, const nat_dac *d);
void nat_event_bidi(nat_list *l, const nat_bidi *b);
void nat_event_osc(nat_list *l, const nat_osc *o);
void nat_event_show(nat_list *l, int32_t node, int32_t unknown);
/* Sets the unknowns that show nodes to their values at a time up to the accepted one, changes at
 * just that time left out. */
void nat_event_shown(nat_list *l, double t, double *x);

#endif
