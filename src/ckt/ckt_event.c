/* ckt_event.c - the circuit's digital part: its bridges and the unknowns that show its nodes. */
#include "ckt_priv.h"
#include "nat_event.h"

#include <assert.h>

struct evt *ckt_digital(ckt *c, bool make) { return nat_event_of(&c->nat, make); }

bool ckt_is_digital(const ckt *c) { return c->nat.set[NAT_EVENT] != NULL; }

const char *ckt_keep_name(ckt *c, const char *name) { return ckt_own_name(c, name); }

int32_t ckt_show(ckt *c, int32_t node)
{
    assert(!c->finished);
    const int32_t k = ckt_unknown_of_event(c, evt_node_name(ckt_digital(c, true), node));
    nat_event_show(&c->nat, node, k);
    return k;
}

void ckt_add_adc(ckt *c, const nat_adc *a)
{
    nat_adc own = *a;
    own.name = ckt_own_name(c, a->name);
    nat_event_adc(&c->nat, &own);
}

void ckt_add_dac(ckt *c, const nat_dac *d, bool current)
{
    nat_dac own = *d;
    own.name = ckt_own_name(c, d->name);
    own.k = current ? 0 : ckt_branch_of_event(c, own.name);
    nat_event_dac(&c->nat, &own);
}

void ckt_add_bidi(ckt *c, const nat_bidi *b)
{
    nat_bidi own = *b;
    own.name = ckt_own_name(c, b->name);
    nat_event_bidi(&c->nat, &own);
}

void ckt_add_osc(ckt *c, const nat_osc *o)
{
    nat_osc own = *o;
    own.name = ckt_own_name(c, o->name);
    nat_event_osc(&c->nat, &own);
}

vs_status ckt_settle(ckt *c, const double *x) { return nat_settle(&c->nat, x); }

double ckt_change_from(ckt *c, double t) { return evt_change_from(ckt_digital(c, true), t); }

void ckt_show_at(ckt *c, double t, double *x) { nat_event_shown(&c->nat, t, x); }
