/* hb_start.c - harmonic balance begins from the last period of a transient. */
#include <math.h>
#include <string.h>

#include "cycle.h"
#include "hb.h"

/* Samples at begin + period m / n_m; their transform. */
static void sample(ana_orbit *h, const cycle *c)
{
    const size_t n1 = (size_t)h->n + 1;
    size_t k = 0;
    for (int32_t m = 0; m < h->n_m; m++)
        cycle_at(c, n1, c->begin + c->period * m / h->n_m, &k, h->xs + (size_t)m * h->stride);
    for (size_t i = 1; i < n1; i++) {
        memset(h->part[1], 0, (size_t)h->n_m * sizeof *h->part[1]);
        for (int32_t m = 0; m < h->n_m; m++)
            h->part[0][m] = h->xs[(size_t)m * h->stride + i];
        hb_forward_real(h, h->part[0], h->part[1], h->x + i * (size_t)h->n_k, NULL);
    }
}

/* Turns the state in time until the probe's fundamental is real and positive. */
static void turn(ana_orbit *h)
{
    const size_t nk = (size_t)h->n_k;
    hb_cplx first = 0;
    for (size_t k = 0; k < nk; k++)
        if (h->index[k][0] == 1)
            first = h->x[(size_t)h->o.probe.hi * nk + k] - h->x[(size_t)h->o.probe.lo * nk + k];
    const double angle = carg(first);
    for (size_t i = 1; i <= (size_t)h->n; i++)
        for (size_t k = 0; k < nk; k++)
            h->x[i * nk + k] *= cexp(-I * angle * h->index[k][0]);
}

vs_status hb_from_transient(ana_orbit *h, double tstab)
{
    cycle c;
    const vs_status st = cycle_record(h->a, &h->o, &h->sink, tstab, &c);
    if (st == VS_OK)
        sample(h, &c);
    if (st == VS_OK && h->o.osc) {
        hb_set_tone(h, 1 / c.period);
        turn(h);
    }
    cycle_fini(&c);
    return st;
}
