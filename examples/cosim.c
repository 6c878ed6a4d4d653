/* cosim.c - a digital simulator beside the analog one.
 * The analog side is an RC integrator that a gate drives; the digital side is an inverter with
 * hysteresis and a delay: a relaxation oscillator. The host tells the analog side when its output
 * will change next (next_event), and is told every accepted point. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vsim/vsim.h>

static const char deck[] = "RC behind a gate of the host\n"
                           "vgate g 0 0\n"
                           "r1 g c 10k\n"
                           "c1 c 0 1n ic=0\n"
                           ".end\n";

typedef struct gate {
    double level;       /* V, its output now */
    double event, next; /* s, when it changes, INFINITY: not; to which level */
    size_t input;       /* unknown of the capacitor */
    int edges;
    double first, last; /* s, of edges */
} gate;

/* The output rises or falls within RAMP behind the event. */
#define RAMP 1e-9
#define DELAY 50e-9

static double gate_value(void *user, double t)
{
    const gate *g = user;
    if (t <= g->event)
        return g->level;
    return t < g->event + RAMP ? g->level + (g->next - g->level) * ((t - g->event) / RAMP)
                               : g->next;
}

static double gate_event(void *user, double t)
{
    const gate *g = user;
    return t < g->event ? g->event : t < g->event + RAMP ? g->event + RAMP : INFINITY;
}

static vsim_action on_point(void *user, const vsim_point *p)
{
    gate *g = user;
    const double v = p->x[g->input], t = p->axis;
    if (t >= g->event + RAMP) { /* the change is done */
        g->level = g->next;
        g->event = INFINITY;
    }
    const double want = v > 2.0 ? 0 : v < 1.0 ? 3 : g->level;
    if (isinf(g->event) && want != g->level) {
        g->event = t + DELAY;
        g->next = want;
        g->first = g->edges ? g->first : g->event;
        g->last = g->event;
        g->edges++;
    }
    return VSIM_GO_ON;
}

static vsim_status simulate(vsim *s, gate *g)
{
    vsim_deck *d;
    vsim_run *r;
    const vsim_host_source source = {gate_value, gate_event, g};
    vsim_run_options o;
    vsim_run_options_init(&o);
    o.point = on_point;
    o.user = g;
    vsim_status st = vsim_deck_text(s, "oscillator", deck, strlen(deck), NULL, &d);
    if (!st)
        st = vsim_set_host_source(d, "vgate", &source);
    if (!st)
        st = vsim_unknown_find(d, "c", &g->input);
    if (!st)
        st = vsim_run_card(d, "tran 100n 200u 0 100n uic", &o, &r);
    return st ? st : vsim_run_go(r);
}

int main(void)
{
    vsim *s;
    gate g = {.level = 3, .next = 3, .event = INFINITY};
    vsim_status st = vsim_new(&s, NULL);
    if (!st)
        st = simulate(s, &g);
    /* Between 1 and 2 V with 3 V behind 10 us: RC ln 2 each way, and what the delay adds. */
    if (!st)
        printf("%s edges, period %.1f us\n", g.edges > 20 ? "many" : "few",
               1e6 * 2 * (g.last - g.first) / (g.edges - 1));
    vsim_free(&s);
    return st != VSIM_OK;
}
