/* ac.c - small-signal response over frequency: (G + j omega C) z = b with b of the ac sources. */
#include <math.h>

#include "small.h"

typedef struct response {
    small s;
    const ana_sink *sink;
    double *z; /* [2 (n+1)] */
} response;

static vs_status at_frequency(void *work, double f)
{
    response *w = work;
    ana *a = w->s.a;
    vs_status st = small_factor(&w->s, 2 * acos(-1) * f);
    if (st != VS_OK)
        return st;
    ckt_ac_drive(a->c, w->z);
    small_solve(&w->s, w->z);
    st = small_refuse_fed(&w->s, w->z, f);
    if (st != VS_OK)
        return st;
    const double t0 = vs_seconds();
    st = w->sink->zpoint ? w->sink->zpoint(w->sink->user, f, w->s.x, w->z) : VS_OK;
    a->st.s_output += vs_seconds() - t0;
    return st;
}

vs_status ana_ac(ana *a, const ana_freq *freq, const ana_sink *sink)
{
    response w = {.sink = sink};
    double *f = ana_frequencies(freq);
    vs_status st = small_begin(&w.s, a, false);
    w.z = vs_calloc(2 * ((size_t)a->n + 1), sizeof *w.z);
    if (st == VS_OK)
        st = freq_run(a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, sink);
    a->st.n_factor += w.s.lu.n_factor;
    a->st.n_refactor += w.s.lu.n_refactor;
    small_fini(&w.s);
    vs_free(w.z);
    vec_free(f);
    return st;
}
