/* ac.c - small-signal response over frequency: (G + j omega C) z = b with b of the ac sources. */
#include <math.h>

#include "small.h"

typedef struct response {
    small s;
    const ana_sink *sink;
    double *z; /* [2 (n+1)] */
} response;

/* What gmin carries from a part is refused above `least`, A, and `least_share` of the currents
 * between its nodes: feeds in balance leave rounding there, and gmin of devices. */
static const double least = 1e-12, least_share = 1e-6;

/* What gmin carries from a part. */
static double current_of_gmin(const response *w, const ckt_firm *k)
{
    return ckt_shunt(w->s.a->opt.gmin) * hypot(w->z[2 * k->node], w->z[2 * k->node + 1]);
}

/* The sum of currents between the nodes of a part, by differences to its level. in [n+1]: false
 * before and afterwards. */
static double currents_of(const response *w, const ckt_firm *k, bool *in)
{
    const csc *m = w->s.a->jac;
    const double *z = w->z, *val = w->s.val;
    double all = 0;
    int32_t n;
    const int32_t *node = ckt_part(w->s.a->c, k, &n);
    for (int32_t i = 0; i < n; i++)
        in[node[i]] = true;
    for (int32_t i = 0; i < n; i++) {
        const double v =
            hypot(z[2 * node[i]] - z[2 * k->node], z[2 * node[i] + 1] - z[2 * k->node + 1]);
        for (int32_t p = m->colptr[node[i] - 1]; p < m->colptr[node[i]]; p++)
            all += in[m->row[p] + 1] ? hypot(val[2 * p], val[2 * p + 1]) * v : 0;
    }
    for (int32_t i = 0; i < n; i++)
        in[node[i]] = false;
    return all;
}

/* A part into which more flows than out of it. */
static vs_status refuse_feeds(const response *w, double f)
{
    ana *a = w->s.a;
    const ckt_firm *k;
    bool *in = NULL;
    vs_status st = VS_OK;
    for (size_t i = 0; st == VS_OK && (k = ckt_next_firm(a->c, &i)) != NULL;) {
        const double current = current_of_gmin(w, k);
        if (!in)
            in = vs_calloc((size_t)a->n + 1, sizeof *in);
        if (current <= least || !op_is_seen(a, k) || current <= least_share * currents_of(w, k, in))
            continue;
        diag_error(a->d, DIAG_NOWHERE,
                   "no solution at %.6g Hz: %s would be at %.3g V, where gmin alone carries the "
                   "current (%.3g A)",
                   f, ana_unknown_text(a, k->node), current / ckt_shunt(a->opt.gmin), current);
        diag_note(a->d, DIAG_NOWHERE,
                  "what flows into the nodes that are joined to it has no way back: their feeds "
                  "are not in balance");
        st = VS_ESINGULAR;
    }
    vs_free(in);
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    response *w = work;
    ana *a = w->s.a;
    vs_status st = small_factor(&w->s, 2 * acos(-1) * f);
    if (st != VS_OK)
        return st;
    ckt_ac_drive(a->c, w->z);
    small_solve(&w->s, w->z);
    st = refuse_feeds(w, f);
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
