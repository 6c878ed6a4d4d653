/* hb_xf.c - transfer on a periodic orbit from every independent source, at each of its sidebands,
 * to one sideband of an output, by one adjoint solution a frequency: with the adjoint y of the
 * output at f + k f_0, a source that drives the rows b at f + m f_0 gives b' y_m (cyclo.h), in
 * harmonics or in time.
 * Source: Okumura, Tanimoto, Itakura & Sugawara, IEEE Trans. CAD 12(5), 1993; Telichevesky, Kundert
 *         & White, DAC 1996. */
#include "cyclo.h"

#include <math.h>
#include <stdlib.h>

#include "vec.h"

/* Sources that give nothing, by symmetry, have gains of rounding. */
static const double least = 1e-5;

typedef struct transfer {
    cyclo s;
    ana *a;
    const ana_hbxf_opt *o;
    const ana_table *t;
    cyclo_view view;
    int32_t *source; /* vec: all of them */
    hb_cplx *row;    /* vec */
} transfer;

/* All sidebands of a source, then the next source; sideband 0 has the source's own name. */
static vs_status begin_plot(const transfer *w)
{
    ana_column *col = NULL;
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (size_t i = 0; i < vec_len(w->source); i++) {
        const char *name = ckt_source_at(w->a->c, w->source[i]).name;
        for (int32_t m = -w->o->most; m <= w->o->most; m++)
            vec_push(col, ((ana_column){m ? arena_printf(&w->a->mem, "%s[%d]", name, (int)m) : name,
                                        w->o->out.current ? "current" : "voltage"}));
    }
    const vs_status st =
        w->t->begin(w->t->user, "Periodic Transfer Functions", col, (int32_t)vec_len(col), true);
    vec_free(col);
    return st;
}

/* nan, with a warning, where gmin alone carries what the source feeds into a part. */
static hb_cplx gain_of(transfer *w, int32_t source, int32_t m)
{
    const hb_cplx gain = cyclo_gain(&w->s, 0, source, m);
    return cyclo_is_open(&w->s, 0, source, m, cabs(gain)) ? CMPLX(NAN, NAN) : gain;
}

static vs_status at_frequency(void *work, double f)
{
    transfer *w = work;
    const vs_status st = cyclo_solve(&w->s, 0, &w->view, f);
    if (st != VS_OK)
        return st;
    vec_clear(w->row);
    vec_push(w->row, (hb_cplx)f);
    for (size_t i = 0; i < vec_len(w->source); i++)
        for (int32_t m = -w->o->most; m <= w->o->most; m++)
            vec_push(w->row, gain_of(w, w->source[i], m));
    return w->t->row(w->t->user, (const double *)w->row);
}

/* In time a gain is a Fourier coefficient of the adjoint: of m - k periods in one. */
static vs_status check(const transfer *w, ana_steady on)
{
    const ana_hbxf_opt *o = w->o;
    const int32_t reach = o->most + abs(o->sideband);
    vs_status st = ana_check_sideband(on, o->sideband, o->span);
    if (st == VS_OK)
        st = ana_check_sideband(on, o->most, o->span);
    if (st == VS_OK && on.shot && ana_check_sideband(on, reach, o->span) != VS_OK) {
        diag_note(w->a->d, o->span,
                  "%d is from sideband %d of a source to sideband %d of the output", (int)reach,
                  (int)(o->sideband > 0 ? -o->most : o->most), (int)o->sideband);
        st = VS_EINPUT;
    }
    return st;
}

static vs_status begin(transfer *w, ana_steady on, cyclo_plan *plan)
{
    vs_status st = check(w, on);
    if (st == VS_OK)
        st = ana_check_frequencies(on, &w->o->freq, w->o->span);
    for (int32_t i = 0; i < ckt_n_source(w->a->c); i++)
        vec_push(w->source, i);
    if (st == VS_OK && !vec_len(w->source)) {
        diag_error(w->a->d, w->o->span, "the circuit has no independent source");
        st = VS_EINPUT;
    }
    *plan = (cyclo_plan){.view = &w->view,
                         .n_view = 1,
                         .source = w->source,
                         .n_in = (int32_t)vec_len(w->source),
                         .least = least,
                         .from = w->o->freq.from,
                         .to = w->o->freq.to,
                         .t = w->t,
                         .span = w->o->span};
    if (st == VS_OK)
        st = cyclo_begin(&w->s, on, plan);
    if (st == VS_OK)
        cyclo_tell_level(&w->s, &w->o->out);
    return st;
}

vs_status ana_hbxf(ana_steady on, const ana_hbxf_opt *o, const ana_table *t)
{
    transfer w = {
        .a = cyclo_facts_of(on).a, .o = o, .t = t, .view = cyclo_view_of(&o->out, o->sideband)};
    cyclo_plan plan;
    double *f = ana_frequencies(&o->freq);
    vs_status st = begin(&w, on, &plan);
    if (st == VS_OK)
        st = begin_plot(&w);
    if (st == VS_OK)
        st = freq_plot(w.a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    cyclo_end(&w.s);
    vec_free(w.source);
    vec_free(w.row);
    vec_free(f);
    return st;
}
