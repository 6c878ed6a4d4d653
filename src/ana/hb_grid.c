/* hb_grid.c - harmonic balance: where the samples of several tones are.
 * A grid with a dimension for each tone has no alias of harmonics within a box. Where only products
 * up to an order are kept, a lattice of rank one, whose sample m is at m turn_t / n_m of tone t's
 * period, keeps the orders apart that the grid does, with fewer samples; its transform has one
 * dimension. Source: Sloan & Joe, "Lattice methods for multiple integration", 1994; Cools & Lyness,
 * Math. Comp. 70(236), 2001 (the dual lattice in the norm |k_1| + |k_2| + ...). */
#include <stdlib.h>
#include <string.h>

#include "hb.h"
#include "vec.h"

/* Of a grid beside which a lattice is looked for, which takes up to a second. */
enum { MOST_SAMPLES = 1 << 17 };

static int32_t power_of_two(int32_t least)
{
    int32_t n = 1;
    while (n < least)
        n *= 2;
    return n;
}

int32_t hb_cell(const ana_orbit *h, const int32_t *k)
{
    int64_t at = 0;
    if (h->n_dim < h->o.n_tone) {
        for (int32_t t = 0; t < h->o.n_tone; t++)
            at += (int64_t)k[t] * h->turn[t];
        return (int32_t)((at % h->n_m + h->n_m) % h->n_m);
    }
    for (int32_t t = 0; t < h->n_dim; t++)
        at = at * h->dim[t] + (k[t] % h->dim[t] + h->dim[t]) % h->dim[t];
    return (int32_t)at;
}

double hb_phase(const ana_orbit *h, int32_t sample, int32_t tone)
{
    if (h->n_dim < h->o.n_tone)
        return (double)((int64_t)sample * h->turn[tone] % h->n_m) / h->n_m;
    int32_t rest = sample;
    for (int32_t t = h->n_dim - 1; t > tone; t--)
        rest /= h->dim[t];
    return (double)(rest % h->dim[tone]) / h->dim[tone];
}

/* Differences of a kept harmonic and one that must not fall on it, up to the sign: what the grid
 * keeps apart, of the order that is kept and the highest that the grid protects together; and as
 * a strong tone's harmonics and their sidebands must not reach weak products at all, those that are
 * long in one tone alone. */
enum { LONG = 2 }; /* times the grid's dimension */

static bool must_differ(const ana_orbit *h, const int32_t *k, int32_t order)
{
    int32_t sum = 0, most = 0, first = 0;
    bool inside = true;
    for (int32_t t = h->o.n_tone - 1; t >= 0; t--) {
        const int32_t size = abs(k[t]);
        sum += size;
        most = most < size ? size : most;
        first = k[t] ? k[t] : first;
        inside &= size < h->dim[t];
    }
    const int32_t others = sum - most;
    return first > 0 && ((inside && sum <= order) || (others > 0 && others <= h->o.intmod + 1));
}

static int32_t (*list_differences(const ana_orbit *h))[ANA_TONES]
{
    int32_t(*all)[ANA_TONES] = NULL, k[ANA_TONES], order = 0;
    const int32_t nt = h->o.n_tone;
    for (int32_t t = 0; t < nt; t++) {
        const int32_t protects = h->dim[t] - h->o.harm[t] - 1;
        order = order < protects ? protects : order;
        k[t] = 1 - LONG * h->dim[t];
    }
    order += h->o.intmod;
    for (;;) {
        int32_t t = nt - 1;
        if (must_differ(h, k, order)) {
            vec_extend(all, 1);
            memcpy(vec_last(all), k, sizeof k);
        }
        while (t >= 0 && k[t] == LONG * h->dim[t] - 1)
            k[t] = 1 - LONG * h->dim[t], t--;
        if (t < 0)
            return all;
        k[t]++;
    }
}

/* Turns 1, g, g^2 + j, ... modulo n_m: do they keep all differences from 0? */
static bool keeps_apart(ana_orbit *h, int32_t g, int32_t j, int32_t (*all)[ANA_TONES])
{
    h->turn[0] = 1;
    for (int32_t t = 1; t < h->o.n_tone; t++)
        h->turn[t] = (int32_t)(((int64_t)h->turn[t - 1] * g + (t > 1 ? j : 0)) % h->n_m);
    for (size_t i = 0; i < vec_len(all); i++)
        if (hb_cell(h, all[i]) == 0)
            return false;
    return true;
}

/* The fewest samples, a power of two below those of the grid; false: there are none. */
static bool find_lattice(ana_orbit *h)
{
    enum { OFFSETS = 64 };
    const int32_t most = h->n_m;
    int32_t(*all)[ANA_TONES] = list_differences(h);
    bool found = false;
    h->n_dim = 1;
    for (h->n_m = power_of_two(h->n_k); h->n_m < most; h->n_m *= 2) {
        for (int32_t i = 0; i < h->n_m * OFFSETS && !found; i++)
            found = keeps_apart(h, i / OFFSETS, i % OFFSETS, all);
        if (found)
            break;
    }
    vec_free(all);
    if (found)
        h->dim[0] = h->n_m;
    return found;
}

static void choose_grid(ana_orbit *h)
{
    const ana_hb_opt *o = &h->o;
    int32_t box = 0;
    h->n_m = 1;
    h->n_dim = o->n_tone;
    for (int32_t t = 0; t < o->n_tone; t++) {
        const int32_t least = o->n_tone == 1 ? 4 * o->harm[t] + 2 : 3 * o->harm[t] + 1;
        h->dim[t] = power_of_two(least);
        h->n_m *= h->dim[t];
        box += o->harm[t];
    }
    const int32_t n_m = h->n_m;
    const bool cut = o->intmod > 0 && o->intmod < box;
    if (o->n_tone > 2 && n_m <= MOST_SAMPLES && cut && !find_lattice(h)) {
        h->n_dim = o->n_tone;
        h->n_m = n_m;
    }
}

void hb_make_grid(ana_orbit *h)
{
    choose_grid(h);
    h->plan = fft_plan_make(h->dim, h->n_dim);
    h->opposite = vs_malloc((size_t)h->n_m * sizeof *h->opposite);
    for (int32_t m = 0; m < h->n_m; m++) {
        int32_t rest = m, to = 0, by = 1;
        for (int32_t t = h->n_dim - 1; t >= 0; t--) {
            to += (h->dim[t] - rest % h->dim[t]) % h->dim[t] * by;
            rest /= h->dim[t];
            by *= h->dim[t];
        }
        h->opposite[m] = to;
    }
}
