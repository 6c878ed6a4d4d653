/* meas_cycle.c - times for which a curve is on and off: it is on from where it rises through ON
 * until it falls through OFF, and off from there on; before the first such place it is neither,
 * unless it begins beyond one of them. Between two points the straight line counts.
 * Source: Xyce Reference Guide, ".MEASURE", DUTY, FREQ, ON_TIME, OFF_TIME. */
#include <math.h>

#include "meas_priv.h"

enum { NEITHER, ON, OFF };

/* rises: it has a place where it goes on, and does not begin so */
static void enter(meas_cycle *s, int state, double t, bool rises)
{
    s->state = state;
    s->since = t;
    s->n_on += state == ON;
    s->n_off += state == OFF;
    if (state == ON && rises) {
        s->first_on = s->n_rise++ ? s->first_on : t;
        s->last_on = t;
    }
}

static void leave(meas_cycle *s, double t)
{
    if (s->state != NEITHER)
        *(s->state == ON ? &s->on_time : &s->off_time) += t - s->since;
}

/* Where the line from the last point to (x, y) has the value v. */
static double place(const meas_cycle *s, double x, double y, double v)
{
    return s->x + (x - s->x) * ((v - s->y) / (y - s->y));
}

void meas_cycle_add(meas_cycle *s, double on, double off, double x, double y)
{
    const bool first = s->n++ == 0, rises = first || s->y < on, falls = first || s->y > off;
    if (first)
        s->begin = x;
    if (s->state != ON && y >= on && rises) {
        const double t = first ? x : place(s, x, y, on);
        leave(s, t);
        enter(s, ON, t, !first);
    } else if (s->state != OFF && y <= off && falls) {
        const double t = first ? x : place(s, x, y, off);
        leave(s, t);
        enter(s, OFF, t, false);
    }
    s->x = x;
    s->y = y;
}

const char *meas_cycle_tell(meas_cycle *s, cycle_kind kind, double *value)
{
    leave(s, s->x);
    s->since = s->x;
    switch (kind) {
    case CYCLE_ON_TIME: *value = s->on_time / s->n_on; return s->n_on ? NULL : "it is never on";
    case CYCLE_OFF_TIME:
        *value = s->off_time / s->n_off;
        return s->n_off ? NULL : "it is never off";
    case CYCLE_DUTY:
        *value = s->on_time / (s->x - s->begin);
        return s->x > s->begin ? NULL : "it has one point";
    case CYCLE_FREQ: break;
    }
    *value = (s->n_rise - 1) / (s->last_on - s->first_on);
    return s->n_rise > 1 ? NULL : "it goes on less than twice";
}
