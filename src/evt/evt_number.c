/* evt_number.c - parts whose nodes carry numbers: sampled filters.
 * Source: ngspice manual, sections on d_to_real, real_gain and real_delay; XSPICE adds the numbers
 *         of several drivers, ~ turns the sign. */
#include "evt_priv.h"

enum { ZERO, ONE, BRIDGE_DELAY };                     /* numbers of d_to_real */
enum { IN_OFFSET, GAIN, OUT_OFFSET, GAIN_DELAY, IC }; /* of real_gain */
enum { CLOCK };                                       /* word of real_delay */

/* Without an enable input it is on. */
static void call_bridge(evt *e, const part *p)
{
    const int in = evt_in(e, p, 0, 0);
    const bool on = !p->n[1] || evt_in(e, p, 1, 0) == EVT_1;
    const double zero = p->par[ZERO], one = p->par[ONE],
                 to = in == EVT_0   ? zero
                      : in == EVT_1 ? one
                                    : (zero + one) / 2;
    evt_put(e, p, 2, 0, on ? to : 0, p->par[BRIDGE_DELAY]);
}

/* Operating points have its initial value; it begins to work one delay behind time 0. */
static void call_gain(evt *e, const part *p)
{
    const double *k = p->par;
    const double to = k[GAIN] * (evt_in_number(e, p, 0) + k[IN_OFFSET]) + k[OUT_OFFSET];
    evt_put(e, p, 1, 0, e->is_static ? k[IC] : to, k[GAIN_DELAY]);
}

static void start_gain(evt *e, const part *p) { evt_wake(e, p, p->par[GAIN_DELAY]); }

/* A sample at each edge of the clock to 1; 0 before the first. */
static void call_delay(evt *e, const part *p)
{
    const int clock = evt_in(e, p, 1, 0);
    const bool edge = clock == EVT_1 && evt_get_word(e, p, CLOCK) != EVT_1;
    evt_set_word(e, p, CLOCK, clock);
    if (edge && !e->is_static)
        evt_put(e, p, 2, 0, evt_in_number(e, p, 0), p->par[0]);
}

const evt_code evt_number_code[] = {{.type = "d_to_real", .call = call_bridge},
                                    {.type = "real_gain", .call = call_gain, .start = start_gain},
                                    {.type = "real_delay", .call = call_delay},
                                    {0}};
