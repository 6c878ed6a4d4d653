/* ng_source.c - external sources, steps and breakpoints of the host (ngSpice_Init_Sync). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ng_priv.h"

int ngSpice_Init_Sync(ng_get_source *voltage, ng_get_source *current, ng_get_sync *sync, int *ident,
                      void *user)
{
    ng_enter();
    ng.voltage = voltage;
    ng.current = current;
    ng.sync = sync;
    if (ident)
        ng.ident = *ident;
    if (user)
        ng.sync_user = user;
    ng_leave();
    return 0;
}

double ng_source_value(void *user, const char *name, double t)
{
    (void)user;
    char copy[400];
    double value = 0;
    ng_get_source *get = (name[0] | 0x20) == 'i' ? ng.current : ng.voltage;
    if (!get)
        return 0;
    snprintf(copy, sizeof copy, "%s", name);
    const int depth = ng_out();
    (void)get(&value, t, copy, ng.ident, ng.sync_user);
    ng_back(depth);
    return value;
}

/* Tells the host of a step. ngspice's `place` is 0 for an accepted point, 1 for an attempt. A
 * refused step is undone before the host hears of it, so the time is that before the step. */
bool ng_take_step(void *user, double time, double *h, double last, bool refused)
{
    (void)user;
    if (!ng.sync)
        return false;
    const int depth = ng_out();
    const double now = refused ? time - last : time;
    const int again = ng.sync(now, h, last, refused, ng.ident, last > 0, ng.sync_user);
    ng_back(depth);
    return again;
}

bool ngSpice_SetBkpt(double time)
{
    ng_enter();
    const bool there = ng.session && vsim_session_deck(ng.session);
    if (!there)
        ng_sayf("stderr", "Error: no circuit loaded.");
    const bool good = there && isfinite(time) && time >= 0 && vsim_session_break(ng.session, time);
    ng_leave();
    return good;
}
