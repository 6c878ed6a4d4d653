/* orbit_noise.c - see orbit_noise.h. */
#include "orbit_noise.h"

#include <math.h>

#include "vec.h"

static void list(orbit_noise *s, const ckt_noise *all, size_t n, const ckt_noise_gain *gain)
{
    for (size_t i = 0; i < n; i++) {
        orbit_source one = {.unit = all[i], .first = vec_len(s->row)};
        for (int32_t k = all[i].first; k < all[i].end; k++)
            vec_push(s->row, ((orbit_row){gain[k].row, gain[k].rate,
                                          vs_calloc(s->n_point, sizeof(double))}));
        one.end = vec_len(s->row);
        vec_push(s->source, one);
    }
    noise_origins(s->a, &s->origin, &s->origin_of);
}

/* OSDI libraries tell densities only: that at 1 Hz is taken as the power. */
static bool is_native(const orbit_noise *s, const ckt_noise *one)
{
    return one->device >= ckt_n_device(s->a->c);
}

void orbit_noise_take(orbit_noise *s, size_t point)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *all = ckt_noises(s->a->c, &n, &gain);
    if (point == 0)
        list(s, all, n, gain);
    for (size_t i = 0; i < n; i++) {
        orbit_source *c = &s->source[i];
        const double power =
            is_native(s, &all[i]) ? ckt_noise_density(s->a->c, &all[i], 1) : fabs(all[i].psd);
        if (power > 0) {
            c->unit = all[i];
            c->unit.psd = 1;
        }
        for (size_t k = c->first; k < c->end; k++)
            s->row[k].w[point] = sqrt(power) * gain[all[i].first + (int32_t)(k - c->first)].gain;
    }
}

void orbit_noise_end(orbit_noise *s)
{
    for (size_t i = 0; i < vec_len(s->row); i++)
        vs_free(s->row[i].w);
    vec_free(s->row);
    vec_free(s->source);
    vec_free(s->origin);
    vec_free(s->origin_of);
}

double orbit_noise_density(const orbit_noise *s, size_t source, double f)
{
    const ckt_noise *unit = &s->source[source].unit;
    const double d = ckt_noise_density(s->a->c, unit, f);
    if (!is_native(s, unit))
        return d;
    const double at_1 = ckt_noise_density(s->a->c, unit, 1);
    return at_1 > 0 ? d / at_1 : 0;
}

double orbit_noise_sideband(const orbit_noise *s, size_t source, double f, double shift)
{
    static const double rounding = 1e-12;
    const double at = fabs(f + shift);
    const double d = orbit_noise_density(s, source, at > rounding * fabs(shift) ? at : 0);
    return isfinite(d) ? d : 0;
}
