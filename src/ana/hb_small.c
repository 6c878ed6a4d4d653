/* hb_small.c - small signals on a periodic orbit: response to ac sources, noise, phase noise.
 *
 * Noise source s drives row r with w_sr(t) xi_s(t): xi_s is stationary with the source's dependence
 * on frequency, w_sr^2 its power (and gain) along the orbit, of Fourier coefficients W_sr. With the
 * adjoint y of the output (row r at harmonic k) its density at the output is
 *   sum_p |sum_rk y_rk W_sr,k-p|^2 S_s(|f + p f_0|)
 * Source: Telichevesky, Kundert & White, DAC 1996 (noise on periodic orbits); Demir, Mehrotra &
 *         Roychowdhury, IEEE Trans. Circuits Syst. I 47(5), 2000, and Demir, ibid. 49(12), 2002
 *         (phase noise by projection; sources of 1/f noise). */
#include <math.h>
#include <string.h>

#include "hb.h"
#include "small.h"

/* -- common -- */

static bool tick(ana_orbit *h, const ana_table *t, double fraction, double f)
{
    h->a->st.points_accepted++;
    return ana_tick(h->a, &h->next_progress, fraction, f, t->progress, t->stop, t->user);
}

/* The harmonic (s, 0, ...), -1: not kept. */
static int32_t sideband(const ana_orbit *h, int32_t s)
{
    for (int32_t k = 0; k < h->n_k; k++) {
        bool hit = h->index[k][0] == s;
        for (int32_t t = 1; t < h->o.n_tone; t++)
            hit = hit && h->index[k][t] == 0;
        if (hit)
            return k;
    }
    return -1;
}

static vs_status check_sideband(ana_orbit *h, int32_t s)
{
    if (sideband(h, s) >= 0)
        return VS_OK;
    diag_error(h->a->d, h->o.span, "sideband %d: the orbit has %d harmonics", (int)s,
               (int)h->o.harm[0]);
    return VS_EINPUT;
}

/* -- response -- */

vs_status ana_hbac(ana_orbit *h, const ana_hbac_opt *o, const ana_table *t)
{
    const size_t n1 = (size_t)h->n + 1, nk = (size_t)h->n_k, ns = 2 * (size_t)o->most + 1;
    double *f = ana_frequencies(&o->freq);
    double *drive = vs_calloc(2 * n1, sizeof *drive);
    hb_cplx *b = vs_calloc(n1 * nk + 1, sizeof *b), *z = vs_calloc(ns * n1, sizeof *z);
    vs_status st = check_sideband(h, o->most);
    const int32_t zero = sideband(h, 0);
    h->m.factored = false;
    ckt_ac_drive(h->a->c, drive);
    for (size_t k = 0; k < vec_len(f) && st == VS_OK; k++) {
        memset(b, 0, (n1 * nk + 1) * sizeof *b);
        for (size_t i = 1; i < n1; i++)
            b[(i - 1) * nk + (size_t)zero] = drive[2 * i] + I * drive[2 * i + 1];
        st = hb_solve(h, 2 * M_PI * f[k], b);
        for (size_t s = 0; s < ns; s++) {
            const int32_t at = sideband(h, (int32_t)s - o->most);
            for (size_t i = 1; i < n1; i++)
                z[s * n1 + i] = b[(i - 1) * nk + (size_t)at];
        }
        if (st == VS_OK)
            st = o->point(t->user, f[k], (const double *)z);
        if (tick(h, t, (double)(k + 1) / (double)vec_len(f), f[k]) && st == VS_OK)
            st = VS_STOP;
    }
    vs_free(b);
    vs_free(z);
    vs_free(drive);
    vec_free(f);
    return st;
}

/* -- noise sources along the orbit -- */

typedef struct modulated { /* one row that a source drives */
    int32_t row;
    bool rate;
    hb_cplx *w; /* [n_m] W; {w_0, 0 ...}: it does not change */
} modulated;

typedef struct cyclo {
    ckt_noise unit;    /* of power 1, for the dependence on frequency */
    size_t first, end; /* of modulated */
} cyclo;

typedef struct noise {
    ana_orbit *h;
    const ana_hbnoise_opt *o;
    const ana_table *t;
    cyclo *source;         /* vec */
    modulated *mod;        /* vec */
    noise_part *part;      /* vec */
    int32_t *part_of;      /* vec */
    hb_cplx *y;            /* [n n_k + 1] adjoint */
    hb_cplx *ppv;          /* the same of the orbit's phase; NULL: no oscillator */
    hb_cplx *miss, *along; /* [n n_k + 1], NULL: no oscillator; see find_miss */
    double total, gain2, carrier, white;
    double *row; /* vec */
} noise;

static void list_sources(noise *w)
{
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_noise *s = ckt_noises(w->h->a->c, &n, &gain);
    for (size_t i = 0; i < n; i++) {
        cyclo one = {.unit = s[i], .first = vec_len(w->mod)};
        for (int32_t k = s[i].first; k < s[i].end; k++)
            vec_push(w->mod, ((modulated){gain[k].row, gain[k].rate,
                                          vs_calloc((size_t)w->h->n_m, sizeof(hb_cplx))}));
        one.end = vec_len(w->mod);
        vec_push(w->source, one);
    }
    noise_parts(w->h->a, &w->part, &w->part_of);
}

/* OSDI libraries tell densities only: that at 1 Hz is taken as the power. */
static bool is_native(const noise *w, const ckt_noise *s)
{
    return s->device >= ckt_n_device(w->h->a->c);
}

/* One sample of every source. */
static vs_status take_sample(noise *w, int32_t m)
{
    ana_orbit *h = w->h;
    size_t n;
    const ckt_noise_gain *gain;
    const ckt_env env = hb_env(h, m);
    const size_t nz = (size_t)h->nnz + 1;
    const vs_status st = ckt_load_ac(h->a->c, &env, h->xs + (size_t)m * h->stride, true,
                                     h->gs + (size_t)m * nz, h->cs + (size_t)m * nz);
    if (st != VS_OK)
        return st;
    const ckt_noise *s = ckt_noises(h->a->c, &n, &gain);
    if (m == 0)
        list_sources(w);
    for (size_t i = 0; i < n; i++) {
        cyclo *c = &w->source[i];
        const double power =
            is_native(w, &s[i]) ? ckt_noise_density(h->a->c, &s[i], 1) : fabs(s[i].psd);
        if (power > 0) {
            c->unit = s[i];
            c->unit.psd = 1;
        }
        for (size_t k = c->first; k < c->end; k++)
            w->mod[k].w[m] = sqrt(power) * gain[s[i].first + (int32_t)(k - c->first)].gain;
    }
    return VS_OK;
}

static vs_status find_sources(noise *w)
{
    ana_orbit *h = w->h;
    vs_status st = VS_OK;
    for (int32_t m = 0; m < h->n_m && st == VS_OK; m++)
        st = take_sample(w, m);
    for (size_t k = 0; k < vec_len(w->mod) && st == VS_OK; k++) {
        hb_cplx *z = w->mod[k].w;
        fft_grid((double *)z, h->dim, h->o.n_tone, false);
        for (int32_t m = 0; m < h->n_m; m++)
            z[m] /= h->n_m;
    }
    if (st == VS_OK)
        st = hb_load(h, true); /* the Jacobian of the response, without analysis("noise") */
    return st;
}

static double density(const noise *w, const cyclo *c, double f)
{
    const double s = ckt_noise_density(w->h->a->c, &c->unit, f);
    if (!is_native(w, &c->unit))
        return s;
    const double at_1 = ckt_noise_density(w->h->a->c, &c->unit, 1);
    return at_1 > 0 ? s / at_1 : 0;
}

/* What the source gives to the output whose adjoint is y, at f. */
static double contribution(noise *w, const cyclo *c, const hb_cplx *y, double f)
{
    const ana_orbit *h = w->h;
    const size_t nk = (size_t)h->n_k;
    const double f0 = 1 / (2 * M_PI);
    double sum = 0;
    for (int32_t p = 0; p < h->n_k; p++) {
        hb_cplx to = 0;
        for (size_t g = c->first; g < c->end; g++) {
            const modulated *m = &w->mod[g];
            const hb_cplx *yr = y + (size_t)(m->row - 1) * nk;
            for (int32_t k = 0; k < h->n_k; k++) {
                const hb_cplx wk = m->w[hb_difference(h, k, p)];
                if (wk != 0)
                    to += yr[k] * wk * (m->rate ? I * (2 * M_PI * f + h->omega[k]) : 1);
            }
        }
        const double size = creal(to) * creal(to) + cimag(to) * cimag(to);
        const double at = fabs(f + h->omega[p] * f0);
        if (size > 0 && at > 0)
            sum += size * density(w, c, at);
    }
    return sum;
}

/* -- oscillators --
 * A shift in time is another orbit: A u = 0 for omega = 0 and the tangent u = j omega_k X_k. With
 * finitely many harmonics A u = m is small but not 0, which would stop the growth of noise towards
 * the carrier. A - m w', with w = conj(u) / |u|^2, has the null vector; Sherman and Morrison's
 * formula solves with it. */
static void find_miss(noise *w)
{
    ana_orbit *h = w->h;
    const size_t nk = (size_t)h->n_k, all = (size_t)h->n * nk;
    double size = 0;
    w->miss = vs_calloc(all + 1, sizeof *w->miss);
    w->along = vs_calloc(all + 1, sizeof *w->along);
    for (size_t i = 0; i < all; i++)
        w->along[i] = I * h->omega[i % nk] * h->x[nk + i];
    hb_product(h, 0, w->along, w->miss);
    for (size_t i = 0; i < all; i++)
        size += creal(w->along[i] * conj(w->along[i]));
    for (size_t i = 0; i < all; i++)
        w->along[i] = conj(w->along[i]) / size;
}

/* y solves A' y = b: becomes the solution with the corrected A. */
static vs_status correct(noise *w, double f)
{
    const size_t all = (size_t)w->h->n * (size_t)w->h->n_k;
    hb_cplx *z = vs_malloc((all + 1) * sizeof *z), my = 0, mz = 0;
    memcpy(z, w->along, (all + 1) * sizeof *z);
    const vs_status st = hb_solve_t(w->h, 2 * M_PI * f, z);
    for (size_t i = 0; i < all && st == VS_OK; i++) {
        my += w->miss[i] * w->y[i];
        mz += w->miss[i] * z[i];
    }
    for (size_t i = 0; i < all && st == VS_OK; i++)
        w->y[i] += z[i] * my / (1 - mz);
    vs_free(z);
    return st;
}

/* -- one frequency -- */

static vs_status respond(noise *w, double f)
{
    ana_orbit *h = w->h;
    const size_t nk = (size_t)h->n_k;
    const int32_t k = sideband(h, w->o->sideband), zero = sideband(h, 0);
    memset(w->y, 0, ((size_t)h->n * nk + 1) * sizeof *w->y);
    if (w->o->out.hi > 0)
        w->y[(size_t)(w->o->out.hi - 1) * nk + (size_t)k] += 1;
    if (w->o->out.lo > 0)
        w->y[(size_t)(w->o->out.lo - 1) * nk + (size_t)k] -= 1;
    vs_status st = hb_solve_t(h, 2 * M_PI * f, w->y);
    if (st == VS_OK && w->miss)
        st = correct(w, f);
    if (st != VS_OK)
        return st;
    w->gain2 = 0;
    if (w->o->source >= 0) {
        const ckt_source_facts v = ckt_source_at(h->a->c, w->o->source);
        hb_cplx g = 0;
        if (v.is_v) {
            g = w->y[(size_t)(v.k - 1) * nk + (size_t)zero];
        } else {
            g -= v.p > 0 ? v.m * w->y[(size_t)(v.p - 1) * nk + (size_t)zero] : 0;
            g += v.n > 0 ? v.m * w->y[(size_t)(v.n - 1) * nk + (size_t)zero] : 0;
        }
        w->gain2 = creal(g) * creal(g) + cimag(g) * cimag(g);
    }
    return VS_OK;
}

static void add_up(noise *w, double f)
{
    w->total = 0;
    for (size_t i = 0; i < vec_len(w->part); i++)
        w->part[i].now = 0;
    for (size_t i = 0; i < vec_len(w->source); i++) {
        noise_part *p = &w->part[w->part_of[i]];
        const double d = contribution(w, &w->source[i], w->y, f);
        p->now += d;
        w->part[p->owner].now += d;
        w->total += d;
    }
}

/* Density of the phase's rate of change from all sources, both sides: 1/Hz. */
static double rate_density(noise *w, double f)
{
    double c = 0;
    for (size_t i = 0; i < vec_len(w->source); i++)
        c += contribution(w, &w->source[i], w->ppv, f) / 2;
    return c;
}

static double decibel(double x) { return x > 0 ? 10 * log10(x) : -INFINITY; }

static vs_status put(noise *w, double f)
{
    vec_clear(w->row);
    vec_push(w->row, f);
    if (w->o->phase) {
        const double f0 = w->h->o.tone[0], c = rate_density(w, f);
        const double a = M_PI * f0 * f0 * w->white;
        vec_push(w->row, decibel(w->total / (w->carrier * w->carrier / 2)));
        vec_push(w->row, decibel(f0 * f0 * c / (a * a + f * f)));
    }
    for (size_t i = 0; w->o->summary && i < vec_len(w->part); i++)
        vec_push(w->row, sqrt(w->part[i].now));
    vec_push(w->row, sqrt(w->total));
    if (w->o->source >= 0)
        vec_push(w->row, w->gain2 > 0 ? sqrt(w->total / w->gain2) : 0);
    return w->t->row(w->t->user, w->row);
}

static vs_status begin_plot(noise *w)
{
    ana_column *col = NULL;
    arena *mem = &w->h->a->mem;
    const char *type = w->o->out.current ? "current-density" : "voltage-density";
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    if (w->o->phase) {
        vec_push(col, ((ana_column){"phnoise", "decibel"}));
        vec_push(col, ((ana_column){"phnoise_ppv", "decibel"}));
    }
    for (size_t i = 0; w->o->summary && i < vec_len(w->part); i++)
        vec_push(col, ((ana_column){arena_printf(mem, "onoise_%s", w->part[i].name), type}));
    vec_push(col, ((ana_column){"onoise_spectrum", type}));
    if (w->o->source >= 0) {
        const bool v = ckt_source_at(w->h->a->c, w->o->source).is_v;
        vec_push(col, ((ana_column){"inoise_spectrum", v ? "voltage-density" : "current-density"}));
    }
    const vs_status st = w->t->begin(w->t->user, w->o->phase ? "Phase Noise" : "Periodic Noise",
                                     col, (int32_t)vec_len(col), false);
    vec_free(col);
    return st;
}

/* -- phase -- */

/* The left null vector of the orbit, of size 1 along it. */
static vs_status find_ppv(noise *w)
{
    ana_orbit *h = w->h;
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
    for (size_t i = 0; i < vec_len(w->source); i++)
        if (w->source[i].unit.exponent == 0)
            w->white += contribution(w, &w->source[i], w->ppv, 0) / 2;
}

static vs_status put_oscillator(noise *w)
{
    static const ana_column col[] = {{"frequency0", "frequency"},
                                     {"amplitude", "notype"},
                                     {"diffusion", "time"},
                                     {"linewidth", "frequency"},
                                     {"period_jitter", "time"}};
    const double f0 = w->h->o.tone[0], white = w->white;
    const double row[] = {f0, w->carrier, white, 2 * M_PI * f0 * f0 * white, sqrt(white / f0)};
    vs_status st = w->t->begin(w->t->user, "Oscillator", col, VS_COUNT(col), false);
    if (st == VS_OK)
        st = w->t->row(w->t->user, row);
    const vs_status closing = w->t->end(w->t->user);
    return st == VS_OK ? closing : st;
}

static double carrier(const noise *w)
{
    const ana_orbit *h = w->h;
    const size_t k = (size_t)sideband(h, 1), nk = (size_t)h->n_k;
    return 2 * cabs(h->x[(size_t)w->o->out.hi * nk + k] - h->x[(size_t)w->o->out.lo * nk + k]);
}

static vs_status sweep(noise *w, const double *f, size_t n)
{
    vs_status st = begin_plot(w);
    if (st != VS_OK)
        return st;
    for (size_t k = 0; k < n && st == VS_OK; k++) {
        st = respond(w, f[k]);
        if (st != VS_OK)
            break;
        add_up(w, f[k]);
        st = put(w, f[k]);
        if (tick(w->h, w->t, (double)(k + 1) / (double)n, f[k]) && st == VS_OK)
            st = VS_STOP;
    }
    const vs_status closing = w->t->end(w->t->user);
    return st == VS_OK ? closing : st;
}

static vs_status check(const noise *w)
{
    ana_orbit *h = w->h;
    if (!w->o->phase || h->o.osc)
        return check_sideband(h, w->o->sideband);
    diag_error(h->a->d, h->o.span,
               "phase noise is that of an oscillator: its orbit comes from "
               ".hbosc or .pss");
    return VS_EINPUT;
}

vs_status ana_hbnoise(ana_orbit *h, const ana_hbnoise_opt *o, const ana_table *t)
{
    noise w = {.h = h, .o = o, .t = t};
    double *f = ana_frequencies(&o->freq);
    vs_status st = check(&w);
    w.y = vs_calloc((size_t)h->n * (size_t)h->n_k + 1, sizeof *w.y);
    h->m.factored = false;
    if (st == VS_OK)
        st = find_sources(&w);
    if (st == VS_OK && h->o.osc)
        find_miss(&w);
    if (st == VS_OK && o->phase)
        st = find_ppv(&w);
    if (st == VS_OK) {
        w.carrier = carrier(&w);
        if (o->phase)
            find_white(&w);
        st = sweep(&w, f, vec_len(f));
    }
    if (st == VS_OK && o->phase)
        st = put_oscillator(&w);
    for (size_t i = 0; i < vec_len(w.mod); i++)
        vs_free(w.mod[i].w);
    vec_free(w.mod);
    vec_free(w.source);
    vec_free(w.part);
    vec_free(w.part_of);
    vec_free(w.row);
    vs_free(w.y);
    vs_free(w.ppv);
    vs_free(w.miss);
    vs_free(w.along);
    vec_free(f);
    return st;
}
