/* ckt_wait.c - see ckt_wait.h. */
#include "ckt_wait.h"

#include <math.h>
#include <string.h>

/* How far an unknown may go from the point where its device waits, of its largest size, if that is
 * below 1, and count as there: derivatives change by 1e-8 V / 26 mV, 4e-7 of themselves, where they
 * are exponential in a voltage. */
#define STAYS 1e-8
/* How far it may go while derivatives follow it along a line, in V and of its largest size: what a
 * line misses of an exponential is (1e-6 V / 26 mV)^2, 1.5e-9, at most. A measure may be the small
 * difference of large sums: 3e-5 V, 1e-6 of each, were 4e-3 of a swing of 15 mV behind 3 V. */
#define NEAR 1e-6
#define NEAR_PART 1e-3
/* A step longer than this part of that is not worth a line, which takes an evaluation for each
 * unknown that moved. */
#define SHORT 0.125

void ckt_wait_sizes(ckt_sizes *s, const ckt *c, arena *mem)
{
    const size_t n1 = vec_len(c->unknown);
    s->most = arena_array(mem, double, n1);
    s->stays = arena_array(mem, double, n1);
    s->near = arena_array(mem, double, n1);
}

void ckt_wait_see(ckt_sizes *s, const ckt *c, const double *x)
{
    for (size_t u = 1; u < vec_len(c->unknown); u++) {
        const double size = fabs(x[u]);
        if (!(size > s->most[u]))
            continue;
        s->most[u] = size;
        s->stays[u] = STAYS * fmin(size, 1);
        s->near[u] = fmin(NEAR_PART * size, NEAR);
    }
}

/* Which entries of the environment an evaluation reads. */
static void find_read(ckt_wait *w, const mdl_variant *v)
{
    for (size_t i = 0; i < vec_len(v->eval.in); i++) {
        const ir_input *in = &v->eval.in[i];
        if (in->kind == IR_IN_DYN)
            w->read[in->k] = 1;
        if (in->kind == IR_IN_ABSTIME)
            w->read[IR_DYN_ABSTIME] = 1;
    }
}

/* The first unknown of the device that is this one of the circuit. */
static int32_t first_same(const int32_t *unknown, int32_t k)
{
    int32_t j = 0;
    while (unknown[j] != unknown[k])
        j++;
    return j;
}

/* Each device has unknowns of its own: devices wait at different points. */
static void add_wires(ckt_wait *w, arena *mem, int32_t i, const int32_t *unknown)
{
    const int32_t n_u = (int32_t)w->n_u;
    int32_t *own = arena_array(mem, int32_t, n_u + 1), n = w->wire_of[i];
    for (int32_t k = 0; k < n_u; k++) {
        const int32_t first = first_same(unknown, k);
        own[k] = unknown[k] > 0 ? 1 + i * n_u + first : unknown[k];
        if (unknown[k] > 0 && first == k)
            w->wire[n++] = (ckt_wire){k, unknown[k]};
    }
    w->unknown[i] = own;
    w->wire_of[i + 1] = n;
    w->most = n - w->wire_of[i] > w->most ? n - w->wire_of[i] : w->most;
}

void ckt_wait_init(ckt_wait *w, const ckt *c, arena *mem, const mdl_variant *v,
                   const int32_t *device, int32_t n)
{
    const size_t n_u = (size_t)mdl_n_unknown(c->inst[device[0]].model);
    *w = (ckt_wait){.nb = n, .n_u = n_u, .lines = true};
    w->wire = arena_array(mem, ckt_wire, (size_t)n * n_u + 1);
    w->wire_of = arena_array(mem, int32_t, n + 1);
    w->unknown = arena_array(mem, const int32_t *, n);
    for (int32_t i = 0; i < n; i++)
        add_wires(w, mem, i, &c->unk[c->inst[device[i]].first]);
    w->x = arena_array(mem, double, (size_t)n *n_u + 1);
    w->last = arena_array(mem, double, w->wire_of[n] + 1);
    w->aside = arena_array(mem, double, w->wire_of[n] + 1);
    w->share = arena_array(mem, ckt_share, w->most + 1);
    w->gone = arena_array(mem, int32_t, n);
    w->read = arena_array(mem, uint8_t, IR_N_DYN);
    find_read(w, v);
}

static bool other_environment(const ckt_wait *w, const double *dyn)
{
    bool other = !w->begun;
    for (int k = 0; k < IR_N_DYN; k++)
        other |= w->read[k] && dyn[k] != w->dyn[k];
    return other;
}

/* Whether device i has left the point where it waits. Only short steps follow a line. */
static bool has_left(const ckt_wait *w, const ckt_sizes *s, int32_t i, const double *x)
{
    const double *at = w->x + 1 + (size_t)i * w->n_u;
    for (int32_t k = w->wire_of[i]; k < w->wire_of[i + 1]; k++) {
        const ckt_wire e = w->wire[k];
        const double far = fabs(x[e.place] - at[e.of]), near = s->near[e.place];
        if (far <= s->stays[e.place])
            continue;
        if (!w->lines || !(far <= near) || !(fabs(x[e.place] - w->last[k]) <= SHORT * near))
            return true;
    }
    return false;
}

bool ckt_wait_left(ckt_wait *w, const ckt_sizes *s, const double *dyn, const double *x)
{
    const bool all = !x || other_environment(w, dyn);
    w->n_gone = 0;
    for (int32_t i = 0; i < w->nb; i++)
        if (all || has_left(w, s, i, x))
            w->gone[w->n_gone++] = i;
    return w->n_gone > 0;
}

void ckt_wait_here(ckt_wait *w, const double *dyn, const double *x)
{
    for (int32_t j = 0; j < w->n_gone; j++) {
        const int32_t i = w->gone[j];
        double *at = w->x + 1 + (size_t)i * w->n_u;
        for (int32_t k = w->wire_of[i]; k < w->wire_of[i + 1]; k++) {
            at[w->wire[k].of] = x[w->wire[k].place];
            w->aside[k] = 0;
        }
    }
    memcpy(w->dyn, dyn, sizeof w->dyn);
    w->begun = true;
}

int32_t ckt_wait_shares(ckt_wait *w, const ckt_sizes *s, int32_t i, const double *x)
{
    const double *at = w->x + 1 + (size_t)i * w->n_u;
    const int32_t first = w->wire_of[i];
    int32_t n = 1;
    double rest = 1;
    for (int32_t k = first; k < w->wire_of[i + 1] && w->lines; k++) {
        const ckt_wire e = w->wire[k];
        const double away = x[e.place] - at[e.of];
        w->last[k] = x[e.place];
        if (fabs(away) <= s->stays[e.place])
            continue;
        if (w->aside[k] == 0)
            w->aside[k] = copysign(s->near[e.place], away);
        w->share[n] = (ckt_share){k - first, away / w->aside[k]};
        rest -= w->share[n++].part;
    }
    w->share[0] = (ckt_share){-1, rest};
    return n;
}

void ckt_wait_beside(ckt_wait *w, int32_t i, int32_t j)
{
    const int32_t k = w->wire_of[i] + j;
    double *x = &w->x[1 + (size_t)i * w->n_u + (size_t)w->wire[k].of];
    w->last[k] = *x; /* nobody asks for it before the next ckt_wait_shares */
    *x += w->aside[k];
}

void ckt_wait_back(ckt_wait *w, int32_t i, int32_t j)
{
    const int32_t k = w->wire_of[i] + j;
    w->x[1 + (size_t)i * w->n_u + (size_t)w->wire[k].of] = w->last[k];
}
