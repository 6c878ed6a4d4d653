/* api_host.c - sources whose values the host gives (deck.h). */
#include <math.h>
#include <string.h>

#include "api_priv.h"

/* One source of the host; it lives as long as the deck, because circuits refer to it. */
struct api_source {
    vsim_deck *d;
    api_source *next;
    const char *name; /* interned */
    vsim_host_source h;
};

static void wrong(api_source *s, const char *what, double t)
{
    if (!s->d->host_wrong)
        diag_error(&s->d->s->d, DIAG_NOWHERE, "the host's source '%s' gives %s at t = %.9g s",
                   s->name, what, t);
    s->d->host_wrong = true;
}

static double ask_value(void *user, double t)
{
    api_source *s = user;
    api_leave_to_host(s->d->s);
    const double v = s->h.value(s->h.user, t);
    api_back_from_host(s->d->s);
    if (isfinite(v))
        return v;
    wrong(s, "a value that is not finite", t);
    return 0;
}

static double ask_event(void *user, double t)
{
    api_source *s = user;
    api_leave_to_host(s->d->s);
    const double e = s->h.next_event(s->h.user, t);
    api_back_from_host(s->d->s);
    if (e > t)
        return e;
    wrong(s, "an event that does not lie behind the time", t);
    return INFINITY;
}

static api_source *source_of(vsim_deck *d, const char *name)
{
    api_source *s = d->source;
    while (s && s->name != name)
        s = s->next;
    if (s)
        return s;
    s = arena_new(&d->mem, api_source);
    s->d = d;
    s->name = name;
    s->next = d->source;
    return d->source = s;
}

static vs_status do_set(void *arg)
{
    const api_args *a = arg;
    vsim_deck *d = a->d;
    const vsim_host_source *h = a->in;
    const vs_status st =
        api_may_change(d->s, "vsim_set_host_source") ? api_need_list(d) : VS_EINPUT;
    const flat_inst *in = st ? NULL : api_find_device(d, a->name);
    if (!in)
        return st ? st : VS_EINPUT;
    if (!in->rare->source || (h && !h->value)) {
        diag_error(&d->s->d, DIAG_NOWHERE,
                   in->rare->source ? "the host's source '%s' has no function that gives its value"
                                    : "'%s' is no V or I source",
                   in->name);
        return VS_EINPUT;
    }
    if (d->active) {
        diag_error(&d->s->d, DIAG_NOWHERE, "a run is under way; its sources stay");
        return VS_EINPUT;
    }
    api_source *s = source_of(d, in->name);
    s->h = h ? *h : (vsim_host_source){0};
    const nat_wave w = {ask_value, s->h.next_event ? ask_event : NULL, s};
    sim_set_wave(d->sim, in->name, h ? &w : NULL);
    return VS_OK;
}

vsim_status vsim_set_host_source(vsim_deck *d, const char *name, const vsim_host_source *h)
{
    api_args a = {.d = d, .name = name, .in = h};
    return api_enter(d->s, do_set, &a);
}
