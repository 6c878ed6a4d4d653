/* hb_instant.c - instants of the period of an orbit: the output there, and where it passes a level.
 */
#include "hb_cyclo.h"

#include <math.h>
#include <stdlib.h>

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
static double root(const ana_orbit *h, const ana_output *out, double level, double lo, double hi)
{
    double slope;
    const bool above = hb_output_at(h, out, lo, &slope) >= level;
    for (;;) {
        const double mid = lo + (hi - lo) / 2;
        if (!(mid > lo && mid < hi))
            return hi;
        if ((hb_output_at(h, out, mid, &slope) >= level) == above)
            lo = mid;
        else
            hi = mid;
    }
}

vs_status hb_instant(const ana_orbit *h, const ana_output *out, double level, int32_t edge,
                     diag_span span, double *part)
{
    const int32_t n = 32 * h->o.harm[0]; /* a harmonic of the output has 32 pieces */
    double slope, least = INFINITY, most = -INFINITY;
    int32_t seen = 0;
    double was = hb_output_at(h, out, 0, &slope);
    for (int32_t m = 1; m <= n; m++) {
        const double now = hb_output_at(h, out, (double)m / n, &slope);
        least = fmin(least, now);
        most = fmax(most, now);
        if ((edge > 0 ? was < level && now >= level : was >= level && now < level) &&
            ++seen == abs(edge)) {
            *part = root(h, out, level, (double)(m - 1) / n, (double)m / n);
            return VS_OK;
        }
        was = now;
    }
    diag_error(h->a->d, span,
               "%s moves from %.6g to %.6g and %s through %.6g %d times in a period: %s=%d is not "
               "there",
               out->name, least, most, edge > 0 ? "rises" : "falls", level, (int)seen,
               edge > 0 ? "rise" : "fall", abs(edge));
    return VS_EINPUT;
}
