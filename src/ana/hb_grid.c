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
/* So many tones have that search: it lists differences, which for more are too many. */
enum { FEW_TONES = 4 };
/* Of any grid; of 50000 harmonics, all of a box, none has more. Of a lattice for many tones. */
enum { MOST_ALL = 1 << 22, MOST_SPREAD = 1 << 20 };

static int32_t least_of(int32_t a, int32_t b) { return a < b ? a : b; }

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

/* -- of many tones, or of such that have no grid --
 * The same rule with the box as it is and not the grid, which protects orders up to 3 harm_t of
 * tone t. Turns are chosen one after the other, each the least that goes with those before: with
 * the least order of the differences that fall on each cell, a turn is tried in a few steps.
 * Source: Cools, Kuo & Nuyens, SIAM J. Sci. Comput. 28(6), 2006 (component by component). */
typedef struct spread {
    int32_t order;            /* of differences that must not be 0 */
    int32_t reach[ANA_TONES]; /* the highest harmonic of differences; */
    int32_t
        longer[ANA_TONES]; /* of those that are long in one tone alone, their order without it: */
    int32_t beside;
    /* [n_m] the least order of a difference of the tones so far that falls there; [s]: s not
     * counted, up to longer[s] */
    int16_t *near, *near_but[ANA_TONES], *scratch;
    int32_t n_tone; /* so far */
} spread;

static spread spread_make(const ana_orbit *h)
{
    spread w = {.beside = h->o.intmod + 1};
    int32_t most = 0;
    for (int32_t t = 0; t < h->o.n_tone; t++) {
        const int32_t harm = least_of(h->o.harm[t], h->o.intmod);
        most = most < harm ? harm : most;
        w.reach[t] = 3 * harm;
        w.longer[t] = LONG * h->dim[t] - 1;
    }
    w.order = h->o.intmod + 2 * most;
    return w;
}

static void spread_begin(spread *w, const ana_orbit *h)
{
    const size_t room = (size_t)h->n_m * sizeof(int16_t);
    w->n_tone = 0;
    w->near = vs_realloc(w->near, room);
    w->scratch = vs_realloc(w->scratch, room);
    for (int32_t t = 0; t < h->o.n_tone; t++)
        w->near_but[t] = vs_realloc(w->near_but[t], room);
    for (int32_t m = 0; m < h->n_m; m++)
        w->near[m] = (int16_t)(m ? w->order + 1 : 0);
}

static void spread_end(spread *w)
{
    vs_free(w->near);
    vs_free(w->scratch);
    for (int32_t t = 0; t < ANA_TONES; t++)
        vs_free(w->near_but[t]);
}

/* Does the next tone go with the turn z? n_m is a power of two. */
static bool goes(const spread *w, int32_t n_m, int32_t z)
{
    const int32_t t = w->n_tone, mask = n_m - 1;
    int32_t at = 0;
    for (int32_t k = 1; k <= w->longer[t]; k++) {
        at = (at + z) & mask;
        if (k <= w->reach[t] && k + w->near[at] <= w->order)
            return false;
        if (at && w->near[at] <= w->beside)
            return false;
        for (int32_t s = 0; s < t && k <= w->beside; s++)
            if (k + w->near_but[s][at] <= w->beside)
                return false;
    }
    return true;
}

/* to[m] = the least of from[m + k z] + |k| by, |k| up to most */
static void widen(const int16_t *from, int32_t n_m, int32_t z, int32_t most, int32_t by,
                  int16_t *to)
{
    const int32_t mask = n_m - 1;
    memcpy(to, from, (size_t)n_m * sizeof *to);
    for (int32_t k = 1; k <= most; k++) {
        const int32_t shift = (int32_t)((int64_t)k * z & mask), add = k * by;
        for (int32_t m = 0; m < n_m; m++) {
            const int32_t up = from[(m + shift) & mask], down = from[(m - shift) & mask];
            const int32_t v = (up < down ? up : down) + add;
            to[m] = (int16_t)(v < to[m] ? v : to[m]);
        }
    }
}

/* Gives the next tone the turn z. */
static void add_turn(spread *w, int32_t n_m, int32_t z)
{
    const int32_t t = w->n_tone++;
    for (int32_t s = 0; s <= t; s++) {
        int16_t **table = s < t ? &w->near_but[s] : &w->near, *was = *table;
        if (s == t)
            widen(was, n_m, z, w->longer[t], 0, w->near_but[t]);
        widen(was, n_m, z, least_of(w->reach[t], s < t ? w->beside : w->order), 1, w->scratch);
        *table = w->scratch;
        w->scratch = was;
    }
}

/* Turns of all tones among n_m cells, if there are such. */
static bool find_turns(spread *w, ana_orbit *h)
{
    spread_begin(w, h);
    for (int32_t t = 0; t < h->o.n_tone; t++) {
        int32_t z = 1;
        while (z <= h->n_m / 2 && !goes(w, h->n_m, z))
            z++;
        if (z > h->n_m / 2)
            return false;
        h->turn[t] = z;
        add_turn(w, h->n_m, z);
    }
    return true;
}

/* No lattice has fewer samples than there are orders whose differences are kept apart: those to
 * half of each limit. Returns MOST_SPREAD + 1 for all that are more. */
static int32_t fewest(const spread *w, int32_t n_tone)
{
    const int32_t half = w->order / 2;
    double *of = vs_calloc((size_t)half + 1, sizeof *of), all = 0; /* of each order */
    of[0] = 1;
    for (int32_t t = 0; t < n_tone; t++)
        for (int32_t s = half; s > 0; s--)
            for (int32_t k = 1; k <= least_of(s, w->reach[t] / 2); k++)
                of[s] += 2 * of[s - k];
    for (int32_t s = 0; s <= half; s++)
        all += of[s];
    vs_free(of);
    return all > MOST_SPREAD ? MOST_SPREAD + 1 : (int32_t)all;
}

/* As find_lattice, up to `most` samples. */
static bool find_spread(ana_orbit *h, int32_t most)
{
    spread w = spread_make(h);
    const int32_t least = fewest(&w, h->o.n_tone);
    bool found = false;
    h->n_dim = 1;
    h->n_m = power_of_two(least < h->n_k ? h->n_k : least);
    while (h->n_m <= most && !(found = find_turns(&w, h)))
        h->n_m *= 2;
    spread_end(&w);
    if (found)
        h->dim[0] = h->n_m;
    return found;
}

/* -- the choice -- */

/* Samples of the grid, which sets dim; 0: more than MOST_ALL. */
static int32_t size_grid(ana_orbit *h, bool many)
{
    const ana_hb_opt *o = &h->o;
    int64_t n_m = 1;
    for (int32_t t = 0; t < o->n_tone; t++) {
        const int32_t harm = many ? least_of(o->harm[t], o->intmod) : o->harm[t],
                      least = o->n_tone == 1 ? 4 * harm + 2 : 3 * harm + 1;
        h->dim[t] = power_of_two(least);
        n_m = n_m > MOST_ALL ? n_m : n_m * h->dim[t];
    }
    return n_m > MOST_ALL ? 0 : (int32_t)n_m;
}

static bool choose_grid(ana_orbit *h)
{
    const ana_hb_opt *o = &h->o;
    int32_t box = 0;
    for (int32_t t = 0; t < o->n_tone; t++)
        box += o->harm[t];
    const bool cut = o->intmod > 0 && o->intmod < box;
    int32_t n_m = size_grid(h, false);
    const bool large = !n_m || (o->n_tone > 2 && n_m > MOST_SAMPLES);
    if (cut && (large || o->n_tone > FEW_TONES)) {
        n_m = size_grid(h, true);
        if (find_spread(h, n_m && n_m <= MOST_SPREAD ? n_m / 2 : MOST_SPREAD))
            return true;
    } else if (cut && o->n_tone > 2) {
        h->n_m = n_m;
        if (find_lattice(h))
            return true;
    }
    h->n_dim = o->n_tone;
    h->n_m = n_m;
    return n_m > 0;
}

vs_status hb_make_grid(ana_orbit *h)
{
    if (!choose_grid(h)) {
        diag_error(h->a->d, h->o.span,
                   "%d tones with products up to order %d take more than %d samples",
                   (int)h->o.n_tone, (int)h->o.intmod, MOST_SPREAD);
        diag_note(h->a->d, h->o.span, "smaller nharms= or intmodmax= take fewer");
        return VS_EINPUT;
    }
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
    return VS_OK;
}
