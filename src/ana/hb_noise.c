/* hb_noise.c - noise on a periodic orbit: at a sideband, as modulation of a harmonic, of samples,
 * and phase noise of oscillators.
 *
 * Let V_u, V_l be the parts of the output's noise at f + k f_0 and f - k f_0, and X the output's
 * harmonic k (x(t) has X exp(j k omega_0 t) and its conjugate). Noise of the relative amplitude a
 * and of the phase p makes X (1 + a + j p) of X, so that
 *   a = (V_u / X + V_l / X*) / 2,   p = (V_u / X - V_l / X*) / (2 j)
 * A sample at the time t of each period is sum_k V_k exp(j k omega_0 t). Each is a sum of
 * sidebands: one adjoint solution gives its density from all sources. Where the output passes a
 * level with slope s, the time of passing moves by -v / s.
 * Source: Demir, Mehrotra & Roychowdhury, IEEE Trans. Circuits Syst. I 47(5), 2000, and Demir,
 *         ibid. 49(12), 2002 (phase noise by projection; sources of 1/f noise); IEEE Std 1139-2008
 *         (L(f) is half of the density of the phase); Phillips & Kundert, CICC 2000 (samples). */
#include <math.h>
#include <string.h>

#include "cyclo.h"

#include "vec.h"

/* Outputs that are looked at. */
typedef enum view {
    MAIN, /* the sideband, or the samples */
    LSB,
    AM,
    PM,
    N_VIEW
} view;

/* Densities of AM and PM from one origin, and their integrals. */
typedef struct part {
    double now[N_VIEW], last[N_VIEW], sum[N_VIEW];
} part;

typedef struct noise {
    cyclo s;
    ana_steady on;
    ana *a;
    double tone; /* Hz, of the orbit */
    const ana_hbnoise_opt *o;
    const ana_table *t;
    int32_t n_view;
    cyclo_view what[N_VIEW];                       /* of n_view views */
    double now[N_VIEW], last[N_VIEW], sum[N_VIEW]; /* densities here, before, and integrals */
    double f_last;
    size_t n_done;              /* frequencies */
    hb_cplx *ppv;               /* adjoint of the orbit's phase; NULL: not PHASE */
    small_feeds ppv_feeds;      /* of it */
    hb_cplx phasor;             /* of the output's harmonic: X */
    double phase, value, slope; /* SAMPLED, CROSSING: of the period; the output there, its slope */
    double gain2, white;
    part *part;  /* [origins]; NULL: no points, or not modulated */
    double *row; /* vec */
} noise;

static bool is_sampled(const noise *w)
{
    return w->o->form == ANA_HBNOISE_SAMPLED || w->o->form == ANA_HBNOISE_CROSSING;
}

static bool is_modulated(const noise *w)
{
    return w->o->form == ANA_HBNOISE_MODULATED || w->o->form == ANA_HBNOISE_PHASE;
}

/* -- one frequency -- */

static void set_view(noise *w, view v)
{
    cyclo_view *to = &w->what[v];
    const int32_t k = w->o->sideband;
    const hb_cplx half = 0.5 / w->phasor;
    *to = cyclo_view_of(&w->o->out, k);
    to->side[1] = -k;
    switch (v) {
    case MAIN:
        to->sample = is_sampled(w);
        to->part = w->phase;
        break;
    case LSB: to->side[0] = -k; break;
    case AM:
        to->n_side = 2;
        to->gain[0] = half;
        to->gain[1] = conj(half);
        break;
    default:
        to->n_side = 2;
        to->gain[0] = -I * half;
        to->gain[1] = I * conj(half);
        break;
    }
}

static vs_status respond(noise *w, double f)
{
    vs_status st = VS_OK;
    for (int32_t v = 0; v < w->n_view && st == VS_OK; v++)
        st = cyclo_solve(&w->s, v, &w->what[v], f);
    w->gain2 = 0;
    if (st == VS_OK && w->o->source >= 0) { /* from the source at f to the first view */
        const hb_cplx g = cyclo_gain(&w->s, MAIN, w->o->source, 0);
        w->gain2 = creal(g) * creal(g) + cimag(g) * cimag(g);
    }
    return st;
}

static void add_up(noise *w, double f)
{
    cyclo *s = &w->s;
    w->now[MAIN] = 0;
    for (size_t i = 0; i < vec_len(s->noise->origin); i++)
        s->noise->origin[i].now = 0;
    for (size_t i = 0; i < vec_len(s->noise->source); i++) {
        noise_origin *p = &s->noise->origin[s->noise->origin_of[i]];
        const double d = cyclo_density(s, i, MAIN, f);
        p->now += d;
        s->noise->origin[p->owner].now += d;
        w->now[MAIN] += d;
    }
    for (int32_t v = 1; v < w->n_view; v++)
        w->now[v] = cyclo_total(s, v, f);
}

/* What each device and each of its sources has of AM and PM. */
static void divide(noise *w, double f)
{
    for (int v = AM; v <= PM; v++) {
        for (size_t i = 0; i < vec_len(w->s.noise->origin); i++)
            w->part[i].now[v] = 0;
        for (size_t i = 0; i < vec_len(w->s.noise->source); i++) {
            const int32_t o = w->s.noise->origin_of[i];
            const double d = cyclo_density(&w->s, i, v, f);
            w->part[o].now[v] += d;
            w->part[w->s.noise->origin[o].owner].now[v] += d;
        }
        for (size_t i = 0; i < vec_len(w->s.noise->origin); i++) {
            part *p = &w->part[i];
            if (w->n_done > 0)
                p->sum[v] += noise_integral(p->last[v], p->now[v], w->f_last, f);
            p->last[v] = p->now[v];
        }
    }
}

static void integrate(noise *w, double f)
{
    if (w->part)
        divide(w, f);
    for (int32_t v = 0; v < w->n_view; v++) {
        if (w->n_done > 0)
            w->sum[v] += noise_integral(w->last[v], w->now[v], w->f_last, f);
        w->last[v] = w->now[v];
    }
    w->f_last = f;
    w->n_done++;
}

static double decibel(double x) { return x > 0 ? 10 * log10(x) : -INFINITY; }

/* The harmonic's frequency, Hz. */
static double carrier(const noise *w) { return w->o->sideband * w->tone; }

/* dBc/Hz of the phase by projection. */
static double projected(noise *w, double f)
{
    const double fc = carrier(w), c = hb_cyclo_total(&w->s.hb, w->ppv, f) / 2;
    const double a = M_PI * fc * fc * w->white;
    return decibel(fc * fc * c / (a * a + f * f));
}

static vs_status put(noise *w, double f)
{
    const double power = 2 * creal(w->phasor * conj(w->phasor)); /* of the harmonic */
    vec_clear(w->row);
    vec_push(w->row, f);
    if (w->o->form == ANA_HBNOISE_PHASE) {
        vec_push(w->row, decibel(w->now[MAIN] / power));
        vec_push(w->row, projected(w, f));
        vec_push(w->row, decibel(w->now[LSB] / power));
    }
    if (w->o->form == ANA_HBNOISE_MODULATED)
        vec_push(w->row, sqrt(w->now[LSB]));
    if (is_modulated(w)) {
        vec_push(w->row, decibel(w->now[AM] / 2));
        vec_push(w->row, decibel(w->now[PM] / 2));
    }
    if (w->o->form == ANA_HBNOISE_CROSSING)
        vec_push(w->row, sqrt(w->now[MAIN]) / fabs(w->slope));
    for (size_t i = 0; w->o->summary && i < vec_len(w->s.noise->origin); i++) {
        vec_push(w->row, sqrt(w->s.noise->origin[i].now));
        for (int v = AM; v <= PM && w->part; v++)
            vec_push(w->row, decibel(w->part[i].now[v] / 2));
    }
    vec_push(w->row, sqrt(w->now[MAIN]));
    if (w->o->source >= 0)
        vec_push(w->row, w->gain2 > 0 ? sqrt(w->now[MAIN] / w->gain2) : 0);
    return w->t->row(w->t->user, w->row);
}

/* -- plots -- */

static void add_columns(const noise *w, ana_column **col, const char *type)
{
    if (w->o->form == ANA_HBNOISE_PHASE) {
        vec_push(*col, ((ana_column){"phnoise", "decibel"}));
        vec_push(*col, ((ana_column){"phnoise_ppv", "decibel"}));
        vec_push(*col, ((ana_column){"phnoise_lsb", "decibel"}));
    }
    if (w->o->form == ANA_HBNOISE_MODULATED)
        vec_push(*col, ((ana_column){"onoise_lsb", type}));
    if (is_modulated(w)) {
        vec_push(*col, ((ana_column){"amnoise", "decibel"}));
        vec_push(*col, ((ana_column){"pmnoise", "decibel"}));
    }
    if (w->o->form == ANA_HBNOISE_CROSSING)
        vec_push(*col, ((ana_column){"jitter_spectrum", "notype"}));
}

static vs_status begin_plot(noise *w)
{
    static const char *const title[] = {[ANA_HBNOISE_SIDEBAND] = "Periodic Noise",
                                        [ANA_HBNOISE_MODULATED] = "Periodic Noise, Modulation",
                                        [ANA_HBNOISE_PHASE] = "Phase Noise",
                                        [ANA_HBNOISE_SAMPLED] = "Periodic Noise, Samples",
                                        [ANA_HBNOISE_CROSSING] = "Periodic Noise, Samples"};
    ana_column *col = NULL;
    arena *mem = &w->a->mem;
    const char *type = w->o->out.current ? "current-density" : "voltage-density";
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    add_columns(w, &col, type);
    for (size_t i = 0; w->o->summary && i < vec_len(w->s.noise->origin); i++) {
        const char *name = w->s.noise->origin[i].name;
        vec_push(col, ((ana_column){arena_printf(mem, "onoise_%s", name), type}));
        if (!w->part)
            continue;
        vec_push(col, ((ana_column){arena_printf(mem, "amnoise_%s", name), "decibel"}));
        vec_push(col, ((ana_column){arena_printf(mem, "pmnoise_%s", name), "decibel"}));
    }
    vec_push(col, ((ana_column){"onoise_spectrum", type}));
    if (w->o->source >= 0) {
        const bool v = ckt_source_at(w->a->c, w->o->source).is_v;
        vec_push(col, ((ana_column){"inoise_spectrum", v ? "voltage-density" : "current-density"}));
    }
    const vs_status st =
        w->t->begin(w->t->user, title[w->o->form], col, (int32_t)vec_len(col), false);
    vec_free(col);
    return st;
}

static vs_status put_numbers(noise *w, const char *plot, const ana_column *col, const double *row,
                             size_t n)
{
    vs_status st = w->t->begin(w->t->user, plot, col, (int32_t)n, false);
    if (st == VS_OK)
        st = w->t->row(w->t->user, row);
    const vs_status closing = w->t->end(w->t->user);
    return st == VS_OK ? closing : st;
}

/* Numbers of the carrier, and with points the parts of devices and sources in the integrals. A
 * part's integral has a power of f between points, as the total's has. */
static vs_status put_parts(noise *w, const char *plot, const ana_column *col, const double *row,
                           size_t n)
{
    ana_column *all = NULL;
    double *value = NULL;
    for (size_t i = 0; i < n; i++) {
        vec_push(all, col[i]);
        vec_push(value, row[i]);
    }
    for (size_t i = 0; w->part && i < vec_len(w->s.noise->origin); i++) {
        const char *name = w->s.noise->origin[i].name;
        arena *mem = &w->a->mem;
        vec_push(all, ((ana_column){arena_printf(mem, "am_total_%s", name), "notype"}));
        vec_push(value, sqrt(w->part[i].sum[AM]));
        vec_push(all, ((ana_column){arena_printf(mem, "pm_total_%s", name), "phase"}));
        vec_push(value, sqrt(w->part[i].sum[PM]));
    }
    const vs_status st = put_numbers(w, plot, all, value, vec_len(all));
    vec_free(all);
    vec_free(value);
    return st;
}

static vs_status put_oscillator(noise *w)
{
    static const ana_column col[] = {{"frequency0", "frequency"}, {"amplitude", "notype"},
                                     {"diffusion", "time"},       {"linewidth", "frequency"},
                                     {"period_jitter", "time"},   {"am_total", "notype"},
                                     {"pm_total", "phase"},       {"jitter", "time"}};
    const double f0 = w->tone, white = w->white, pm = sqrt(w->sum[PM]);
    const double row[] = {f0,
                          2 * cabs(w->phasor),
                          white,
                          2 * M_PI * f0 * f0 * white,
                          sqrt(white / f0),
                          sqrt(w->sum[AM]),
                          pm,
                          pm / (2 * M_PI * carrier(w))};
    return put_parts(w, "Oscillator", col, row, VS_COUNT(col));
}

static vs_status put_modulation(noise *w)
{
    static const ana_column col[] = {{"carrier", "frequency"},
                                     {"amplitude", "notype"},
                                     {"am_total", "notype"},
                                     {"pm_total", "phase"},
                                     {"jitter", "time"}};
    const double pm = sqrt(w->sum[PM]);
    const double row[] = {carrier(w), 2 * cabs(w->phasor), sqrt(w->sum[AM]), pm,
                          pm / (2 * M_PI * carrier(w))};
    return put_parts(w, "Modulation", col, row, VS_COUNT(col));
}

static vs_status put_samples(noise *w)
{
    const char *unit = w->o->out.current ? "current" : "voltage";
    const ana_column col[] = {{"instant", "time"},
                              {"value", unit},
                              {"slope", "notype"},
                              {"onoise_total", unit},
                              {"jitter", "time"}};
    const double rms = sqrt(w->sum[MAIN]);
    const double row[] = {w->phase / w->tone, w->value, w->slope, rms, rms / fabs(w->slope)};
    const bool crossing = w->o->form == ANA_HBNOISE_CROSSING;
    return put_numbers(w, "Sampled Noise", col, row, VS_COUNT(col) - !crossing);
}

static vs_status put_whole(noise *w)
{
    switch (w->o->form) {
    case ANA_HBNOISE_PHASE: return put_oscillator(w);
    case ANA_HBNOISE_MODULATED: return put_modulation(w);
    case ANA_HBNOISE_SAMPLED:
    case ANA_HBNOISE_CROSSING: return put_samples(w);
    default: return VS_OK;
    }
}

/* -- phase -- */

/* The left null vector of the orbit, of size 1 along it. */
static vs_status find_ppv(noise *w)
{
    ana_orbit *h = w->on.orbit;
    const size_t all = (size_t)h->n * (size_t)h->n_k;
    w->ppv = vs_calloc(all + 1, sizeof *w->ppv);
    w->ppv[all] = 1;
    h->bordered = true;
    h->m.factored = false;
    const vs_status st = hb_solve_t(h, 0, w->ppv);
    h->bordered = false;
    h->m.factored = false;
    return st;
}

/* The rate's density from white sources alone: what makes the line wide. */
static void find_white(noise *w)
{
    const hb_cyclo *s = &w->s.hb;
    for (size_t i = 0; i < vec_len(s->noise.source); i++)
        if (isfinite(orbit_noise_density(&s->noise, i, 0)))
            w->white += hb_cyclo_density(s, i, w->ppv, 0) / 2;
}

/* -- the whole -- */

static vs_status check_modulated(noise *w)
{
    const ana_output *out = &w->o->out;
    double most = 0;
    if (w->o->form == ANA_HBNOISE_PHASE && !cyclo_facts_of(w->on).osc) {
        diag_error(w->a->d, w->o->span,
                   "phase noise is that of an oscillator: its orbit comes from "
                   ".hbosc or .pss; of a driven circuit it is .hbnoise with 'modulated'");
        return VS_EINPUT;
    }
    if (w->o->sideband < 1) {
        diag_error(w->a->d, w->o->span,
                   "sideband=%d: noise modulates a harmonic, sideband=1 or more",
                   (int)w->o->sideband);
        return VS_EINPUT;
    }
    w->phasor = cyclo_phasor(w->on, out, w->o->sideband, &most);
    if (cabs(w->phasor) > 1e-12 * most)
        return VS_OK;
    diag_error(w->a->d, w->o->span, "%s has no harmonic %d that noise could modulate", out->name,
               (int)w->o->sideband);
    return VS_EINPUT;
}

static vs_status check_sampled(noise *w)
{
    const int32_t n_tone = cyclo_facts_of(w->on).n_tone;
    const double half = w->tone / 2;
    if (n_tone > 1) {
        diag_error(w->a->d, w->o->span, "samples are taken once a period: the orbit has %d tones",
                   (int)n_tone);
        return VS_EINPUT;
    }
    if (w->o->freq.to > half * (1 + 1e-9)) {
        diag_error(w->a->d, w->o->span,
                   "noise of samples goes to half of the orbit's frequency: %.9g Hz", half);
        return VS_EINPUT;
    }
    if (w->o->form == ANA_HBNOISE_CROSSING)
        return cyclo_instant(w->on, &w->o->out, w->o->at, w->o->edge, w->o->span, &w->phase);
    w->phase = w->o->at * w->tone;
    w->phase -= floor(w->phase);
    return VS_OK;
}

static vs_status check(noise *w)
{
    w->phasor = 1;
    vs_status st = ana_check_sideband(w->on, w->o->sideband, w->o->span);
    if (st == VS_OK && is_modulated(w))
        st = check_modulated(w);
    if (st == VS_OK && is_sampled(w))
        st = check_sampled(w);
    return st;
}

/* What of the noise, and of the gain from the input, gmin alone carries. */
static vs_status judge(noise *w, double f)
{
    static const char *const what[N_VIEW] = {
        [MAIN] = "the noise at the output",
        [LSB] = "the noise at the lower sideband",
        [AM] = "the noise of the amplitude",
        [PM] = "the noise of the phase",
    };
    vs_status st = VS_OK;
    for (int32_t v = 0; v < w->n_view && st == VS_OK; v++)
        st = cyclo_judge(&w->s, v, sqrt(w->now[v]), cyclo_noise_share(&w->s, v, f), what[v]);
    if (st == VS_OK && w->o->source >= 0)
        st =
            cyclo_judge(&w->s, MAIN, sqrt(w->gain2), cyclo_gain_share(&w->s, MAIN, w->o->source, 0),
                        "the gain from the input to the output");
    return st;
}

/* The same of the phase by projection: what moves an oscillator's frequency may be lost in the
 * noise of its output. */
static vs_status judge_projection(noise *w, double f)
{
    cyclo *s = &w->s;
    if (!w->ppv || !s->feeds)
        return VS_OK;
    const vs_status st = cyclo_find_feeds(s, &w->ppv_feeds, w->ppv, f);
    if (st != VS_OK || !w->ppv_feeds.any)
        return st;
    const small_answer v = {.f = f,
                            .value = sqrt(hb_cyclo_total(&s->hb, w->ppv, f)),
                            .share = sqrt(hb_cyclo_shares(&s->hb, &w->ppv_feeds, f)),
                            .node = w->ppv_feeds.node,
                            .what = "the noise of the phase by projection"};
    return v.share > 0 ? small_feeds_judge(&s->feeds[0], &s->levels, &v) : VS_OK;
}

static vs_status at_frequency(void *work, double f)
{
    noise *w = work;
    vs_status st = respond(w, f);
    if (st != VS_OK)
        return st;
    add_up(w, f);
    st = judge(w, f);
    if (st == VS_OK)
        st = judge_projection(w, f);
    if (st != VS_OK)
        return st;
    integrate(w, f);
    return put(w, f);
}

/* views and plan: of cyclo_begin, stay with w. */
static vs_status begin(noise *w, cyclo_plan *plan)
{
    vs_status st = check(w);
    if (st != VS_OK)
        return st;
    w->n_view = is_modulated(w) ? N_VIEW : 1;
    for (int32_t v = 0; v < w->n_view; v++)
        set_view(w, (view)v);
    *plan = (cyclo_plan){.view = w->what,
                         .n_view = w->n_view,
                         .source = &w->o->source,
                         .n_in = w->o->source >= 0 ? 1 : 0,
                         .noise = true,
                         .from = w->o->freq.from,
                         .to = w->o->freq.to,
                         .t = w->t,
                         .span = w->o->span};
    st = cyclo_begin(&w->s, w->on, plan);
    if (st == VS_OK)
        cyclo_tell_level(&w->s, &w->o->out);
    if (st == VS_OK && is_sampled(w))
        w->value = cyclo_output_at(w->on, &w->o->out, w->phase, &w->slope);
    if (is_modulated(w) && w->o->summary)
        w->part = vs_calloc(vec_len(w->s.noise->origin) + 1, sizeof *w->part);
    if (st == VS_OK && w->o->form == ANA_HBNOISE_PHASE) {
        st = find_ppv(w);
        if (st == VS_OK)
            find_white(w);
    }
    return st;
}

vs_status ana_hbnoise(ana_steady on, const ana_hbnoise_opt *o, const ana_table *t)
{
    const cyclo_facts facts = cyclo_facts_of(on);
    noise w = {.on = on, .a = facts.a, .tone = facts.tone, .o = o, .t = t};
    cyclo_plan plan;
    double *f = ana_frequencies(&o->freq);
    vs_status st = begin(&w, &plan);
    if (st == VS_OK)
        st = begin_plot(&w);
    if (st == VS_OK)
        st = freq_plot(w.a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    if (st == VS_OK)
        st = put_whole(&w);
    cyclo_end(&w.s);
    vec_free(w.row);
    vs_free(w.part);
    vs_free(w.ppv);
    small_feeds_fini(&w.ppv_feeds);
    vec_free(f);
    return st;
}
