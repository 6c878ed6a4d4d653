/* freq.c - the frequencies of an analysis: their list, and the run over them. */
#include <math.h>

#include "ana_priv.h"

/* As ngspice's grids: dec and oct stretch the step so that the last point is the end; oct counts
 * whole steps of the octave's fraction. */
double *ana_frequencies(const ana_freq *f)
{
    double *v = NULL;
    if (f->grid == ANA_LIST) {
        for (int64_t k = 0; k < f->n; k++)
            vec_push(v, f->f[k]);
        return v;
    }
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

vs_status freq_run(ana *a, const freq_sweep *s, const ana_sink *sink)
{
    vs_status st = VS_OK;
    double next_progress = 0;
    for (size_t k = 0; k < s->n && st == VS_OK; k++) {
        st = s->at(s->work, s->f[k]);
        if (st != VS_OK)
            break;
        a->st.points_accepted++;
        if (ana_tick(a, &next_progress, (double)(k + 1) / (double)s->n, s->f[k], sink->progress,
                     sink->stop, sink->user))
            st = VS_STOP;
    }
    return st;
}

vs_status freq_run_table(ana *a, const freq_sweep *s, const ana_table *t)
{
    const ana_sink sink = {.progress = t->progress, .stop = t->stop, .user = t->user};
    return freq_run(a, s, &sink);
}

vs_status freq_plot(ana *a, const freq_sweep *s, const ana_table *t)
{
    const vs_status st = freq_run_table(a, s, t), closing = t->end(t->user);
    return st == VS_OK ? closing : st;
}

vs_status freq_plot_of(ana *a, const ana_freq *freq, vs_status (*at)(void *work, double f),
                       void *work, const ana_table *t)
{
    const double dc = 0;
    double *f = freq ? ana_frequencies(freq) : NULL;
    const freq_sweep s = {freq ? f : &dc, freq ? vec_len(f) : 1, at, work};
    const vs_status st = freq_plot(a, &s, t);
    vec_free(f);
    return st;
}
