/* ac.c - small-signal response over frequency: (G + j omega C) z = b with b of the ac sources. */
#include <math.h>
#include <string.h>

#include "small.h"

/* As ngspice's grids: dec and oct stretch the step so that the last point is the end; oct counts
 * whole steps of the octave's fraction. */
double *ana_frequencies(const ana_freq *f)
{
    double *v = NULL;
    if (f->grid == ANA_LIN) {
        const double step = f->n > 1 ? (f->to - f->from) / (double)(f->n - 1) : 0;
        for (int64_t k = 0; k < f->n; k++)
            vec_push(v, f->from + (double)k * step);
        return v;
    }
    const double span = log(f->to / f->from), one = log(f->grid == ANA_DEC ? 10 : 2) / (double)f->n;
    const double n = floor(span / one * (1 + 1e-12) + 1e-9);
    const double step = f->grid == ANA_DEC && n > 0 ? span / n : one;
    for (int64_t k = 0; k <= (int64_t)n; k++)
        vec_push(v,
                 k == (int64_t)n && f->grid == ANA_DEC ? f->to : f->from * exp((double)k * step));
    return v;
}

static vs_status sweep(small *s, const double *f, size_t n, double *z, const ana_sink *sink)
{
    ana *a = s->a;
    vs_status st = VS_OK;
    for (size_t k = 0; k < n && st == VS_OK; k++) {
        st = small_factor(s, 2 * acos(-1) * f[k]);
        if (st != VS_OK)
            break;
        ckt_ac_drive(a->c, z);
        small_solve(s, z);
        const double t0 = vs_seconds();
        st = sink->zpoint ? sink->zpoint(sink->user, f[k], s->x, z) : VS_OK;
        a->st.s_output += vs_seconds() - t0;
        if (small_tick(s, (double)(k + 1) / (double)n, f[k], sink->progress, sink->stop,
                       sink->user) &&
            st == VS_OK)
            st = VS_STOP;
    }
    return st;
}

vs_status ana_ac(ana *a, const ana_freq *freq, const ana_sink *sink)
{
    small s;
    double *f = ana_frequencies(freq);
    double *z = vs_calloc(2 * ((size_t)a->n + 1), sizeof *z);
    vs_status st = small_begin(&s, a, false);
    if (st == VS_OK)
        st = sweep(&s, f, vec_len(f), z, sink);
    a->st.n_factor += s.lu.n_factor;
    a->st.n_refactor += s.lu.n_refactor;
    small_fini(&s);
    vs_free(z);
    vec_free(f);
    return st;
}
