/* hb_instant.c - instants of the period of an orbit: the output there, and where it passes a level.
 */
#include "cyclo.h"

#include <math.h>
#include <stdlib.h>

#include "vec.h"

double hb_output_at(const ana_orbit *h, const ana_output *out, double part, double *slope)
{
    const size_t nk = (size_t)h->n_k;
    const hb_cplx *hi = h->x + (size_t)out->hi * nk, *lo = h->x + (size_t)out->lo * nk;
    hb_cplx value = 0, rate = 0;
    for (size_t k = 0; k < nk; k++) {
        const hb_cplx z = (hi[k] - lo[k]) * cexp(2 * M_PI * I * h->index[k][0] * part);
        value += z;
        rate += I * h->omega[k] * z;
    }
    *slope = creal(rate);
    return creal(value);
}

/* The root between two parts of the period that have the level between them: bisection, to the last
 * bit. */
static double root(ana_steady on, const ana_output *out, double level, double lo, double hi)
{
    double slope;
    const bool above = cyclo_output_at(on, out, lo, &slope) >= level;
    for (;;) {
        const double mid = lo + (hi - lo) / 2;
        if (!(mid > lo && mid < hi))
            return hi;
        if ((cyclo_output_at(on, out, mid, &slope) >= level) == above)
            lo = mid;
        else
            hi = mid;
    }
}

/* Pieces of the period in which an output passes a level no more than once: a harmonic has 32 of
 * them, of shooting the steps. Where piece m ends. */
static int32_t n_piece(ana_steady on)
{
    return on.shot ? (int32_t)vec_len(on.shot->step) : 32 * on.orbit->o.harm[0];
}

static double end_of(ana_steady on, int32_t m, int32_t n)
{
    return on.shot && m > 0 ? on.shot->step[m - 1].end : (double)m / n;
}

vs_status cyclo_instant(ana_steady on, const ana_output *out, double level, int32_t edge,
                        diag_span span, double *part)
{
    const int32_t n = n_piece(on);
    double slope, least = INFINITY, most = -INFINITY;
    int32_t seen = 0;
    double was = cyclo_output_at(on, out, 0, &slope);
    for (int32_t m = 1; m <= n; m++) {
        const double now = cyclo_output_at(on, out, end_of(on, m, n), &slope);
        least = fmin(least, now);
        most = fmax(most, now);
        if ((edge > 0 ? was < level && now >= level : was >= level && now < level) &&
            ++seen == abs(edge)) {
            *part = root(on, out, level, end_of(on, m - 1, n), end_of(on, m, n));
            return VS_OK;
        }
        was = now;
    }
    diag_error(cyclo_facts_of(on).a->d, span,
               "%s moves from %.6g to %.6g and %s through %.6g %d times in a period: %s=%d is not "
               "there",
               out->name, least, most, edge > 0 ? "rises" : "falls", level, (int)seen,
               edge > 0 ? "rise" : "fall", abs(edge));
    return VS_EINPUT;
}
