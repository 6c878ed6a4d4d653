/* cyclo.c - see cyclo.h: the choice between harmonics and time. */
#include "cyclo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/* -- facts -- */

cyclo_facts cyclo_facts_of(ana_steady on)
{
    if (on.shot)
        return (cyclo_facts){on.shot->a, 1 / on.shot->period, 1, on.shot->o.osc};
    return (cyclo_facts){on.orbit->a, on.orbit->o.tone[0], on.orbit->o.n_tone, on.orbit->o.osc};
}

static vs_status check_harmonic(const ana_orbit *h, int32_t k, diag_span span)
{
    if (hb_sideband(h, k) >= 0)
        return VS_OK;
    diag_error(h->a->d, span, "sideband %d: the orbit has %d harmonics%s", (int)k,
               (int)h->o.harm[0], h->o.n_tone > 1 ? " of its first tone" : "");
    diag_note(h->a->d, h->o.span, "the number of harmonics is given here");
    return VS_EINPUT;
}

vs_status ana_check_sideband(ana_steady on, int32_t k, diag_span span)
{
    if (on.orbit)
        return check_harmonic(on.orbit, k, span);
    const int32_t most = on.shot->n_sample / 4;
    if (abs(k) <= most)
        return VS_OK;
    diag_error(on.shot->a->d, span, "sideband %d: the orbit's steps are made for %d harmonics",
               (int)k, (int)most);
    diag_note(on.shot->a->d, on.shot->o.span, "more harmonics of .pss make them shorter");
    return VS_EINPUT;
}

vs_status ana_check_frequencies(ana_steady on, const ana_freq *freq, diag_span span)
{
    static const double rounding = 1e-12;
    const cyclo_facts facts = cyclo_facts_of(on);
    if (!facts.osc)
        return VS_OK;
    double *f = ana_frequencies(freq);
    vs_status st = VS_OK;
    for (size_t i = 0; i < vec_len(f) && st == VS_OK; i++)
        if (fabs(remainder(f[i], facts.tone)) <= rounding * fmax(f[i], facts.tone)) {
            diag_error(facts.a->d, span,
                       "at %.9g Hz, a harmonic of the oscillator of %.9g Hz or 0, sources move its "
                       "phase without bound",
                       f[i], facts.tone);
            st = VS_EINPUT;
        }
    vec_free(f);
    return st;
}

hb_cplx cyclo_phasor(ana_steady on, const ana_output *out, int32_t k, double *most)
{
    if (on.shot)
        return shoot_cyclo_phasor(on.shot, out, k, most);
    const ana_orbit *h = on.orbit;
    const size_t nk = (size_t)h->n_k, at = (size_t)hb_sideband(h, k);
    const hb_cplx *hi = h->x + (size_t)out->hi * nk, *lo = h->x + (size_t)out->lo * nk;
    *most = 0;
    for (size_t i = 0; i < nk; i++)
        *most = fmax(*most, fmax(cabs(hi[i]), cabs(lo[i])));
    return hi[at] - lo[at];
}

double cyclo_output_at(ana_steady on, const ana_output *out, double part, double *slope)
{
    return on.shot ? shoot_cyclo_output_at(on.shot, out, part, slope)
                   : hb_output_at(on.orbit, out, part, slope);
}

/* -- outputs -- */

cyclo_view cyclo_view_of(const ana_output *out, int32_t k)
{
    cyclo_view v = {.n_side = 1, .side = {k}, .gain = {1}};
    const int32_t at[] = {out->hi, out->lo};
    for (int i = 0; i < 2; i++)
        if (at[i] > 0) {
            v.at[v.n_at] = at[i];
            v.by[v.n_at++] = i ? -1 : 1;
        }
    return v;
}

static void weigh(const ana_orbit *h, const cyclo_view *v, hb_cplx *y, int32_t k, hb_cplx by)
{
    for (int32_t i = 0; i < v->n_at; i++)
        y[(size_t)(v->at[i] - 1) * (size_t)h->n_k + (size_t)k] += by * v->by[i];
}

/* A level that an output sees is lost in what GMRES leaves, if it is this part of the adjoint. */
static const double gmres_left = 1e-8;

static double largest(const ckt_level *l, const hb_cplx *y, size_t nk)
{
    double most = 0;
    for (int32_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < nk; k++)
            most = fmax(most, cabs(y[(size_t)(l->of[i] - 1) * nk + k]));
    return most;
}

vs_status cyclo_find_feeds(cyclo *w, small_feeds *to, const hb_cplx *y_of, double f)
{
    const size_t nk = (size_t)w->on.orbit->n_k, all = (size_t)w->on.orbit->n * nk + 1;
    const double *y = (const double *)y_of;
    ckt_level l;
    if (!to->lambda)
        to->lambda = vs_calloc(2 * all, sizeof *to->lambda);
    memset(to->lambda, 0, 2 * all * sizeof *to->lambda);
    small_feeds_clear(to);
    for (size_t i = 0; small_next_level(&w->levels, &i, &l);) {
        const double unknown = w->on.orbit->blocks ? gmres_left * largest(&l, y_of, nk) : 0;
        for (size_t k = 0; k < nk; k++) {
            static const double none[2] = {0, 0};
            const bool known = cabs(y_of[(size_t)(l.node - 1) * nk + k]) > unknown;
            (void)small_feeds_seed(to, &w->levels, &l, y + 2 * k, 2 * nk, known ? NULL : none,
                                   to->lambda + 2 * ((size_t)(l.node - 1) * nk + k));
        }
    }
    return to->any ? hb_cyclo_adjoint(&w->hb, f, (hb_cplx *)to->lambda) : VS_OK;
}

vs_status cyclo_solve(cyclo *w, int32_t slot, const cyclo_view *v, double f)
{
    w->f = f;
    if (w->shot)
        return shoot_cyclo_solve(w->shot, slot, v, f);
    const ana_orbit *h = w->on.orbit;
    hb_cplx *y = w->y[slot];
    memset(y, 0, ((size_t)h->n * (size_t)h->n_k + 1) * sizeof *y);
    for (int32_t k = 0; k < h->n_k && v->sample; k++)
        weigh(h, v, y, k, cexp(2 * M_PI * I * h->index[k][0] * v->part));
    for (int32_t k = 0; k < v->n_side && !v->sample; k++)
        weigh(h, v, y, hb_sideband(h, v->side[k]), v->gain[k]);
    const vs_status st = hb_cyclo_adjoint(&w->hb, f, y);
    return st == VS_OK && w->feeds ? cyclo_find_feeds(w, &w->feeds[slot], y, f) : st;
}

double cyclo_density(const cyclo *w, size_t source, int32_t slot, double f)
{
    return w->shot ? shoot_cyclo_density(w->shot, source, slot, f)
                   : hb_cyclo_density(&w->hb, source, w->y[slot], f);
}

double cyclo_total(const cyclo *w, int32_t slot, double f)
{
    double sum = 0;
    for (size_t i = 0; i < vec_len(w->noise->source); i++)
        sum += cyclo_density(w, i, slot, f);
    return sum;
}

void cyclo_correlation(const cyclo *w, int32_t n, double f, hb_cplx *to)
{
    if (w->shot)
        shoot_cyclo_correlation(w->shot, n, f, to);
    else
        hb_cyclo_correlation(&w->hb, w->y[0], n, f, to);
}

hb_cplx cyclo_of_source(const ckt_source_facts *v, const hb_cplx *y, size_t stride)
{
    hb_cplx g = 0;
    if (v->is_v)
        return y[(size_t)(v->k - 1) * stride];
    g -= v->p > 0 ? v->m * y[(size_t)(v->p - 1) * stride] : 0;
    g += v->n > 0 ? v->m * y[(size_t)(v->n - 1) * stride] : 0;
    return g;
}

static hb_cplx gain_at(const cyclo *w, int32_t slot, int32_t source, int32_t k)
{
    const ckt_source_facts v = ckt_source_at(w->a->c, source);
    return cyclo_of_source(&v, w->y[slot] + k, (size_t)w->on.orbit->n_k);
}

hb_cplx cyclo_gain(const cyclo *w, int32_t slot, int32_t source, int32_t k)
{
    if (w->shot)
        return shoot_cyclo_gain(w->shot, slot, source, k);
    const int32_t at = hb_sideband(w->on.orbit, k);
    return at < 0 ? 0 : gain_at(w, slot, source, at);
}

double cyclo_gains(const cyclo *w, int32_t slot, int32_t source)
{
    double sum = 0;
    if (w->shot)
        return shoot_cyclo_gains(w->shot, slot, source);
    for (int32_t k = 0; k < w->on.orbit->n_k; k++) {
        const hb_cplx z = gain_at(w, slot, source, k);
        sum += creal(z) * creal(z) + cimag(z) * cimag(z);
    }
    return sum;
}

/* -- what gmin alone carries -- */

static void add_row(small_feeds_sum *sum, const small_feeds *feeds, const hb_cplx *at, hb_cplx b)
{
    small_feeds_add_term(sum, (const double *)at, creal(b), cimag(b), feeds->least);
}

void cyclo_add_source(small_feeds_sum *sum, const small_feeds *feeds, const ckt_source_facts *v,
                      const hb_cplx *lambda, size_t stride, hb_cplx b)
{
    if (v->is_v)
        add_row(sum, feeds, lambda + (size_t)(v->k - 1) * stride, b);
    if (!v->is_v && v->p)
        add_row(sum, feeds, lambda + (size_t)(v->p - 1) * stride, -v->m * b);
    if (!v->is_v && v->n)
        add_row(sum, feeds, lambda + (size_t)(v->n - 1) * stride, v->m * b);
}

small cyclo_levels(ana_steady on, ckt_env *env)
{
    *env = on.shot ? shoot_small_env(on.shot) : hb_env(on.orbit, 0);
    return (small){.a = cyclo_facts_of(on).a, .env = env};
}

vs_status cyclo_refuse_fed(small *levels, ana_steady on, const hb_cplx *z, int32_t most, double f)
{
    const double tone = cyclo_facts_of(on).tone;
    const int32_t n = 2 * most + 1;
    vs_status st = VS_OK;
    for (int32_t s = 0; s < n && st == VS_OK; s++)
        st = small_refuse_fed_among(levels, (const double *)z, (size_t)n, (size_t)s,
                                    f + (s - most) * tone);
    return st;
}

double cyclo_gain_share(const cyclo *w, int32_t slot, int32_t source, int32_t k)
{
    const ckt_source_facts v = ckt_source_at(w->a->c, source);
    const small_feeds *feeds = w->feeds ? &w->feeds[slot] : NULL;
    small_feeds_sum sum = {0};
    if (feeds && w->shot)
        return shoot_cyclo_gain_share(w->shot, slot, source, k);
    if (!feeds || !feeds->any)
        return 0;
    const int32_t at = hb_sideband(w->on.orbit, k);
    if (at >= 0)
        cyclo_add_source(&sum, feeds, &v, (const hb_cplx *)feeds->lambda + at,
                         (size_t)w->on.orbit->n_k, 1);
    return small_feeds_share(&sum);
}

double cyclo_noise_share(const cyclo *w, int32_t slot, double f)
{
    const small_feeds *feeds = w->feeds ? &w->feeds[slot] : NULL;
    if (feeds && w->shot)
        return shoot_cyclo_noise_share(w->shot, slot, f);
    return feeds && feeds->any ? sqrt(hb_cyclo_shares(&w->hb, feeds, f)) : 0;
}

static int32_t node_of(const cyclo *w, int32_t slot)
{
    return w->shot ? shoot_cyclo_fed_node(w->shot, slot) : w->feeds[slot].node;
}

vs_status cyclo_judge(cyclo *w, int32_t slot, double value, double share, const char *what)
{
    if (!(share > 0))
        return VS_OK;
    const small_answer v = {
        .f = w->f, .value = value, .share = share, .node = node_of(w, slot), .what = what};
    return small_feeds_judge(&w->feeds[0], &w->levels, &v);
}

void cyclo_tell_level(cyclo *w, const ana_output *out)
{
    if (w->feeds)
        small_feeds_tell_level(&w->feeds[0], &w->levels, out, NULL);
}

bool cyclo_is_open(cyclo *w, int32_t slot, int32_t source, int32_t k, double size)
{
    const double share = cyclo_gain_share(w, slot, source, k);
    if (!(share > 0))
        return false;
    w->feeds[slot].node = node_of(w, slot);
    const small_answer v = {.f = w->f,
                            .value = size,
                            .share = share,
                            .node = w->feeds[slot].node,
                            .what = "the gain from"};
    return small_feeds_is_none(&w->feeds[slot], &w->levels, &v,
                               ckt_source_at(w->a->c, source).name);
}

/* -- beginning and end -- */

static void begin_feeds(cyclo *w)
{
    w->levels = cyclo_levels(w->on, &w->env);
    if (small_has_levels(&w->levels))
        w->feeds = vs_calloc((size_t)w->n_slot + 1, sizeof *w->feeds);
}

vs_status cyclo_begin(cyclo *w, ana_steady on, const cyclo_plan *p)
{
    const cyclo_facts facts = cyclo_facts_of(on);
    vs_status st;
    *w = (cyclo){.on = on, .a = facts.a, .tone = facts.tone, .n_slot = p->n_view};
    begin_feeds(w);
    if (on.shot) {
        st = shoot_cyclo_begin(&w->shot, on.shot, p, w->feeds ? &w->levels : NULL);
        w->noise = shoot_cyclo_noise(w->shot);
        return st;
    }
    const size_t all = (size_t)on.orbit->n * (size_t)on.orbit->n_k + 1;
    st = hb_cyclo_begin(&w->hb, on.orbit, p->noise);
    w->noise = &w->hb.noise;
    w->y = vs_calloc((size_t)p->n_view + 1, sizeof(hb_cplx *));
    hb_cplx *y = vs_calloc((size_t)p->n_view * all + 1, sizeof *y);
    for (int32_t k = 0; k <= p->n_view; k++)
        w->y[k] = y + (size_t)k * all; /* one array: hb_cyclo_correlation */
    return st;
}

void cyclo_end(cyclo *w)
{
    shoot_cyclo_end(&w->shot);
    if (w->y)
        vs_free(w->y[0]);
    vs_free(w->y);
    for (int32_t k = 0; k < w->n_slot && w->feeds; k++)
        small_feeds_fini(&w->feeds[k]);
    vs_free(w->feeds);
    if (w->hb.h)
        hb_cyclo_end(&w->hb);
    *w = (cyclo){0};
}
