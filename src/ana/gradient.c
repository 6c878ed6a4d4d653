/* gradient.c - gradients of measures of an ac or a noise analysis, by the adjoint method: two
 * solutions for each measure and frequency that it looks at, whatever the number of parameters.
 * F(x, p) = 0 at the operating point x; A = G + j omega C there.
 * ac:     A z = b, dM = Re(c' dz):  A' y = c,  dM = Re(y' db - y' dA z).
 * noise:  A' y = c (c the output's unit vector), source s has density D_s and the gain
 *         u_s = a_s' y, S = sum_s D_s |u_s|^2; the input has the gain h = b' y. Then
 *             dS = sum_s (|u_s|^2 dD_s + 2 D_s Re(u_s* y' da_s)) - Re(y' dA v),
 *             A v = sum_s 2 D_s u_s* a_s,         and d|h|^2 = -Re(y' dA v) with A v = 2 h* b;
 *         one v has both, weighted with dM/dS and dM/d|h|^2.
 * A, D and a change with p, and with x, which p moves: dx = -F_x^-1 F_p dp. By x,
 *     y' dA v = g' dx,  g_i = sum_kl y_k dA_kl/dx_i v_l,
 * with dA_kl/dx_i of each device, made once (ckt_curve.h). The sum over all frequencies, w, then is
 * one more right side: F_x' l = w, dM += l' F_p.
 * Source: Director & Rohrer, IEEE Trans. Circuit Theory 16(3), 1969; docs/analyses.md. */
#include <math.h>
#include <string.h>

#include "ckt_curve.h"
#include "small.h"
#include "vec.h"

#include "cplx.h" /* last */

typedef struct gradient {
    const ana_gradient_opt *o;
    small s, dc; /* of the frequencies; of the static equations */
    double omega;
    cplx *y, *v;                 /* [n+1] */
    cplx *drive;                 /* [n+1] noise: the unit of the input */
    double **w;                  /* [n_measure] [n+1] */
    ckt_vary_entry *entry;       /* vec: A_p */
    ckt_curve *curve;            /* vec: A_x */
    ckt_noise *noise;            /* vec, as ckt_noises */
    ckt_noise_gain *gain;        /* vec */
    ckt_vary_noise *by_p;        /* vec: of noise sources with parameters, */
    ckt_vary_noise *by_x;        /* vec: with unknowns */
    double *to;                  /* [n_measure][n_param] */
    size_t n_taken;              /* seeds of the frequencies so far */
    small_feeds feeds, feeds_dc; /* of the solution at hand; of l */
    small_shares *share;         /* [n_measure] */
    cplx **share_w;              /* [n_measure] [n+1] as w, with lambda for y; NULL: nothing */
    ckt_vary_entry *current;     /* vec: F_p; made when they are needed */
    bool has_current;
} gradient;

/* Adds -Re(y' dA v) to measure m. */
static void add_matrix(gradient *w, int32_t m)
{
    double *to = w->to + (size_t)m * w->o->n_param;
    for (size_t k = 0; k < vec_len(w->entry); k++) {
        const ckt_vary_entry *e = &w->entry[k];
        to[e->param] -= creal(w->y[e->row] * (e->g + I * w->omega * e->c) * w->v[e->col]);
    }
    for (size_t k = 0; k < vec_len(w->curve); k++) {
        const ckt_curve *e = &w->curve[k];
        w->w[m][e->by] += creal(w->y[e->row] * (e->g + I * w->omega * e->c) * w->v[e->col]);
    }
    for (size_t i = 0; i < w->o->n_line; i++)
        to[w->o->line[i]] -=
            creal(ckt_line_side_phasor(w->s.a->c, (int32_t)i, w->omega, w->y, w->v));
    ckt_delay_phasors(w->s.a->c, w->omega, w->y, w->v, w->w[m]);
}

/* What of y' dA v gmin alone carries (feeds.c): with lambda in place of y, by `feeds`. */
static void share_matrix(gradient *w, int32_t m, const small_feeds *feeds, const cplx *v,
                         bool drives)
{
    const cplx *lambda = (const cplx *)feeds->lambda;
    small_shares_add(&w->share[m], feeds, &w->s,
                     &(small_moved){.sign = 1,
                                    .entry = w->entry,
                                    .omega = w->omega,
                                    .z = (const double *)v,
                                    .drive = w->o->drive,
                                    .n_drive = drives ? w->o->n_drive : 0});
    if (!w->share_w[m])
        w->share_w[m] = vs_calloc((size_t)w->s.a->n + 1, sizeof **w->share_w);
    for (size_t k = 0; k < vec_len(w->curve); k++) {
        const ckt_curve *e = &w->curve[k];
        w->share_w[m][e->by] += lambda[e->row] * (e->g + I * w->omega * e->c) * v[e->col];
    }
}

/* -- ac -- */

static void add_drives(gradient *w, int32_t m)
{
    for (size_t i = 0; i < w->o->n_drive; i++) {
        const ana_gradient_drive *d = &w->o->drive[i];
        const ckt_source_facts f = ckt_source_at(w->s.a->c, d->source);
        const cplx y = f.is_v ? w->y[f.k] : w->y[f.n] - w->y[f.p];
        w->to[(size_t)m * w->o->n_param + (size_t)d->param] += creal(y * (d->re + I * d->im));
    }
}

/* Measures of one frequency, whose seeds are seed[0..n). */
static vs_status ac_at(gradient *w, const ana_spectral_seed *seed, size_t n)
{
    const vs_status st = small_factor(&w->s, w->omega);
    if (st != VS_OK)
        return st;
    ckt_ac_drive(w->s.a->c, (double *)w->v);
    small_solve(&w->s, (double *)w->v);
    for (size_t i = 0; i < n;) {
        const int32_t m = seed[i].measure;
        memset(w->y, 0, ((size_t)w->s.a->n + 1) * sizeof *w->y);
        for (; i < n && seed[i].measure == m; i++)
            w->y[seed[i].unknown] += seed[i].re - I * seed[i].im;
        small_solve_t(&w->s, (double *)w->y);
        add_matrix(w, m);
        add_drives(w, m);
        if (small_feeds_of(&w->feeds, &w->s, (const double *)w->y))
            share_matrix(w, m, &w->feeds, w->v, true);
    }
    return st;
}

/* -- noise -- */

/* How a row of the equations sees a gain. */
static cplx gain_of(const gradient *w, bool rate) { return rate ? I * w->omega : 1; }

static cplx heard(const gradient *w, const ckt_noise *s)
{
    cplx u = 0;
    for (int32_t k = s->first; k < s->end; k++)
        u += gain_of(w, w->gain[k].rate) * w->gain[k].gain * w->y[w->gain[k].row];
    return u;
}

typedef struct loud {       /* densities at a frequency */
    double f, out, gain2;   /* V^2/Hz; |output / input|^2 */
    double by_out, by_gain; /* of a measure by these */
} loud;

static loud densities(const gradient *w, double f)
{
    loud l = {.f = f};
    cplx h = 0;
    for (size_t i = 0; i < vec_len(w->noise); i++) {
        const cplx u = heard(w, &w->noise[i]);
        l.out += ckt_noise_density(w->s.a->c, &w->noise[i], f) *
                 (creal(u) * creal(u) + cimag(u) * cimag(u));
    }
    for (int32_t i = 1; i <= w->s.a->n; i++)
        h += w->drive[i] * w->y[i];
    l.gain2 = creal(h) * creal(h) + cimag(h) * cimag(h);
    return l;
}

/* Of sqrt(out) and sqrt(out / gain2); what is 0 stays 0. */
static void take_seed(loud *l, const ana_spectral_seed *seed)
{
    if (!(l->out > 0) || (seed->unknown && !(l->gain2 > 0)))
        return;
    const double by = seed->unknown ? seed->re / sqrt(l->gain2) : seed->re;
    l->by_out += by / (2 * sqrt(l->out));
    if (seed->unknown)
        l->by_gain -= by * sqrt(l->out) / (2 * l->gain2);
}

static void solve_forward(gradient *w, const loud *l)
{
    cplx h = 0;
    memset(w->v, 0, ((size_t)w->s.a->n + 1) * sizeof *w->v);
    for (size_t i = 0; i < vec_len(w->noise); i++) {
        const ckt_noise *s = &w->noise[i];
        const cplx by = 2 * l->by_out * ckt_noise_density(w->s.a->c, s, l->f) * conj(heard(w, s));
        for (int32_t k = s->first; k < s->end; k++)
            w->v[w->gain[k].row] += by * gain_of(w, w->gain[k].rate) * w->gain[k].gain;
    }
    for (int32_t i = 1; i <= w->s.a->n; i++)
        h += w->drive[i] * w->y[i];
    for (int32_t i = 1; i <= w->s.a->n; i++)
        w->v[i] += 2 * l->by_gain * conj(h) * w->drive[i];
    small_solve(&w->s, (double *)w->v);
}

/* NULL: the source drives nothing. */
static const ckt_noise *source_of(const gradient *w, const ckt_vary_noise *d)
{
    size_t lo = 0, hi = vec_len(w->noise);
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        const ckt_noise *s = &w->noise[mid];
        if (s->device < d->device || (s->device == d->device && s->source < d->source))
            lo = mid + 1;
        else
            hi = mid;
    }
    const ckt_noise *s = lo < vec_len(w->noise) ? &w->noise[lo] : NULL;
    return s && s->device == d->device && s->source == d->source ? s : NULL;
}

/* d S by a change of a noise source with y held. */
static double slope_of(const gradient *w, const ckt_vary_noise *d, double f)
{
    const ckt_noise *s = source_of(w, d);
    double by_psd, by_exponent;
    if (!s)
        return 0;
    const cplx u = heard(w, s);
    if (d->gain != 0)
        return 2 * ckt_noise_density(w->s.a->c, s, f) *
               creal(conj(u) * gain_of(w, d->rate) * d->gain * w->y[d->row]);
    ckt_noise_slopes(w->s.a->c, s, f, &by_psd, &by_exponent);
    return (creal(u) * creal(u) + cimag(u) * cimag(u)) *
           (by_psd * d->psd + (d->exponent != 0 ? by_exponent * d->exponent : 0));
}

static void add_sources(gradient *w, const loud *l, int32_t m)
{
    double *to = w->to + (size_t)m * w->o->n_param;
    for (size_t i = 0; i < vec_len(w->by_p) && l->by_out != 0; i++)
        to[w->by_p[i].of] += l->by_out * slope_of(w, &w->by_p[i], l->f);
    for (size_t i = 0; i < vec_len(w->by_x) && l->by_out != 0; i++)
        w->w[m][w->by_x[i].of] -= l->by_out * slope_of(w, &w->by_x[i], l->f);
}

/* u_s of the source with lambda in place of y; 0 if that is nothing. */
static cplx heard_share(const gradient *w, const ckt_noise *s)
{
    small_feeds_sum sum = {0};
    for (int32_t k = s->first; k < s->end; k++) {
        const cplx a = gain_of(w, w->gain[k].rate) * w->gain[k].gain;
        small_feeds_add(&w->feeds, w->gain[k].row, creal(a), cimag(a), &sum);
    }
    return small_feeds_share(&sum) > 0 ? sum.re + I * sum.im : 0;
}

/* v of gmin's part of u and h. */
static void solve_share(gradient *w, const loud *l, cplx *v)
{
    const cplx *lambda = (const cplx *)w->feeds.lambda;
    cplx h = 0;
    for (size_t i = 0; i < vec_len(w->noise); i++) {
        const ckt_noise *s = &w->noise[i];
        const cplx by =
            2 * l->by_out * ckt_noise_density(w->s.a->c, s, l->f) * conj(heard_share(w, s));
        for (int32_t k = s->first; k < s->end; k++)
            v[w->gain[k].row] += by * gain_of(w, w->gain[k].rate) * w->gain[k].gain;
    }
    for (int32_t i = 1; i <= w->s.a->n; i++)
        h += w->drive[i] * lambda[i];
    for (int32_t i = 1; i <= w->s.a->n; i++)
        v[i] += 2 * l->by_gain * conj(h) * w->drive[i];
    small_solve(&w->s, (double *)v);
}

/* All of it is of second degree in y: each y at a time is lambda's. */
static void share_noise(gradient *w, const loud *l, int32_t m)
{
    if (!small_feeds_of(&w->feeds, &w->s, (const double *)w->y))
        return;
    cplx *v = vs_calloc((size_t)w->s.a->n + 1, sizeof *v);
    const small_feeds as_it_is = {.lambda = (double *)w->y, .any = true};
    share_matrix(w, m, &w->feeds, w->v, false);
    solve_share(w, l, v);
    share_matrix(w, m, &as_it_is, v, false);
    vs_free(v);
    for (size_t i = 0; i < vec_len(w->by_p) && l->by_out != 0; i++) {
        const ckt_vary_noise *d = &w->by_p[i];
        const ckt_noise *s = source_of(w, d);
        const cplx u = s ? heard(w, s) : 0;
        if (u != 0)
            small_shares_add_value(&w->share[m], (size_t)d->of,
                                   2 * creal(heard_share(w, s) / u) * l->by_out *
                                       slope_of(w, d, l->f));
    }
}

static vs_status noise_at(gradient *w, const ana_spectral_seed *seed, size_t n)
{
    const vs_status st = small_factor(&w->s, w->omega);
    if (st != VS_OK)
        return st;
    small_adjoint(&w->s, &w->o->noise->out, (double *)w->y);
    small_solve_t(&w->s, (double *)w->y);
    const loud quiet = densities(w, w->o->f[seed->row]);
    for (size_t i = 0; i < n;) {
        const int32_t m = seed[i].measure;
        loud l = quiet;
        for (; i < n && seed[i].measure == m; i++)
            take_seed(&l, &seed[i]);
        solve_forward(w, &l);
        add_matrix(w, m);
        add_sources(w, &l, m);
        share_noise(w, &l, m);
    }
    return st;
}

/* The sources are copied: later loads have theirs. */
static vs_status begin_noise(gradient *w)
{
    size_t n, most = 0;
    const ckt_noise_gain *gain;
    const ckt_env env = small_env(w->s.a);
    const ckt_noise *s = ckt_noises(w->s.a->c, &n, &gain);
    for (size_t i = 0; i < n; i++) {
        vec_push(w->noise, s[i]);
        most = (size_t)s[i].end > most ? (size_t)s[i].end : most;
    }
    for (size_t i = 0; i < most; i++)
        vec_push(w->gain, gain[i]);
    small_drive(&w->s, w->o->noise->source, (double *)w->drive);
    return ckt_vary_noises(w->o->vary, &env, w->s.x, &w->by_p);
}

/* -- the operating point -- */

static void say_if_not_finite(const ana *a, vs_status st)
{
    if (st == VS_NOCONV)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives no finite value with its parameters a little off, or no finite "
                   "derivative");
}

/* l is in y. */
static vs_status share_point(gradient *w, size_t m)
{
    const ckt_env env = small_env(w->dc.a);
    (void)small_feeds_of(&w->feeds_dc, &w->dc, (const double *)w->y);
    if (w->share_w[m]) {
        small_solve_t(&w->dc, (double *)w->share_w[m]);
        small_feeds_follow(&w->feeds_dc, &w->dc, (const double *)w->share_w[m]);
    }
    vs_status st = VS_OK;
    if (w->feeds_dc.any && !w->has_current) {
        w->has_current = true;
        st = ckt_vary_currents(w->o->vary, &env, w->dc.x, &w->current);
    }
    if (st == VS_OK)
        small_shares_add(
            &w->share[m], &w->feeds_dc, &w->dc,
            &(small_moved){
                .sign = -1, .entry = w->current, .push = w->o->push, .n_push = w->o->n_push});
    return st;
}

/* F_x' l = w, then l' F_p. */
static vs_status add_point(gradient *w)
{
    const size_t n1 = (size_t)w->dc.a->n + 1;
    const ckt_env env = small_env(w->dc.a);
    ckt_pairing *with = vs_calloc(w->o->n_measure + 1, sizeof *with);
    vs_status st = small_factor(&w->dc, 0);
    for (size_t m = 0; m < w->o->n_measure && st == VS_OK; m++) {
        double *l = w->w[m];
        for (size_t i = 0; i < n1; i++)
            w->y[i] = l[i];
        small_solve_t(&w->dc, (double *)w->y);
        for (size_t i = 0; i < n1; i++)
            l[i] = creal(w->y[i]);
        st = share_point(w, m);
        with[m] = (ckt_pairing){l, NULL};
        for (size_t i = 0; i < w->o->n_push; i++) {
            const ana_push *p = &w->o->push[i];
            const ckt_source_facts f = ckt_source_at(w->dc.a->c, p->source);
            w->to[m * w->o->n_param + (size_t)p->param] +=
                p->by * (f.is_v ? -l[f.k] : l[f.p] - l[f.n]);
        }
        for (size_t i = 0; i < w->o->n_line; i++)
            w->to[m * w->o->n_param + w->o->line[i]] +=
                ckt_line_side_sum(w->dc.a->c, (int32_t)i, w->dc.x, NULL, false, l);
    }
    if (st == VS_OK)
        st = ckt_vary_sum(w->o->vary, &env, w->dc.x, with, w->o->n_measure, w->o->n_param, w->to);
    vs_free(with);
    say_if_not_finite(w->dc.a, st);
    for (size_t m = 0; m < w->o->n_measure && st == VS_OK; m++)
        small_shares_judge(&w->share[m], &w->s, w->o->name, w->to + m * w->o->n_param);
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    gradient *w = work;
    const ana_spectral_seed *seed = w->o->seed + w->n_taken;
    size_t n = 1;
    while (w->n_taken + n < w->o->n_seed && seed[n].row == seed->row)
        n++;
    w->n_taken += n;
    w->omega = 2 * acos(-1) * f;
    return w->o->noise ? noise_at(w, seed, n) : ac_at(w, seed, n);
}

static vs_status sweep(gradient *w, const ana_sink *sink)
{
    const ana_gradient_opt *o = w->o;
    double *f = NULL;
    for (size_t i = 0; i < o->n_seed; i++)
        if (!i || o->seed[i].row != o->seed[i - 1].row)
            vec_push(f, o->f[o->seed[i].row]);
    const vs_status st = freq_run(w->s.a, &(freq_sweep){f, vec_len(f), at_frequency, w}, sink);
    vec_free(f);
    return st;
}

static vs_status linearise(gradient *w, ana *a)
{
    const ckt_env env = small_env(a);
    vs_status st = small_begin(&w->s, a, w->o->noise != NULL);
    if (st == VS_OK && w->s.by_freq) {
        diag_error(a->d, DIAG_NOWHERE,
                   ".sens: expressions of hertz have no derivative by the operating point here");
        st = VS_EUNSUPPORTED;
    }
    if (st != VS_OK)
        return st;
    st = ckt_vary_entries(w->o->vary, &env, w->s.x, w->o->noise != NULL, &w->entry);
    if (st == VS_OK && w->o->noise)
        st = begin_noise(w);
    if (st == VS_OK)
        st = ckt_curves(a->c, &env, w->s.x, &w->curve, w->o->noise ? &w->by_x : NULL);
    say_if_not_finite(a, st);
    return st;
}

static void end(gradient *w)
{
    small_fini(&w->s);
    small_fini(&w->dc);
    for (size_t m = 0; m < w->o->n_measure; m++) {
        vs_free(w->w[m]);
        vs_free(w->share_w[m]);
        small_shares_end(&w->share[m]);
    }
    small_feeds_fini(&w->feeds);
    small_feeds_fini(&w->feeds_dc);
    void *const own[] = {w->y, w->v, w->drive, w->w, w->share, w->share_w};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    vec_free(w->current);
    vec_free(w->entry);
    vec_free(w->curve);
    vec_free(w->noise);
    vec_free(w->gain);
    vec_free(w->by_p);
    vec_free(w->by_x);
}

vs_status ana_gradient(ana *a, const ana_gradient_opt *o, const ana_sink *sink, double *to)
{
    gradient w = {.o = o, .to = to};
    const size_t n1 = (size_t)a->n + 1;
    cplx **const of_unknowns[] = {&w.y, &w.v, &w.drive};
    for (size_t k = 0; k < VS_COUNT(of_unknowns); k++)
        *of_unknowns[k] = vs_calloc(n1, sizeof(cplx));
    w.w = vs_calloc(o->n_measure + 1, sizeof *w.w);
    w.share = vs_calloc(o->n_measure + 1, sizeof *w.share);
    w.share_w = vs_calloc(o->n_measure + 1, sizeof *w.share_w);
    for (size_t m = 0; m < o->n_measure; m++) {
        w.w[m] = vs_calloc(n1, sizeof **w.w);
        small_shares_begin(&w.share[m], o->n_param);
    }
    vs_status st = small_begin_static(&w.dc, a);
    if (st == VS_OK)
        st = linearise(&w, a);
    if (st == VS_OK)
        st = sweep(&w, sink);
    if (st == VS_OK)
        st = add_point(&w);
    end(&w);
    return st;
}
