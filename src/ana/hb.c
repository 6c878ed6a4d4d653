/* hb.c - harmonic balance: the lattice of harmonics and samples, the values of sources on it,
 * Newton. */
#include "hb.h"
#include "vec.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ITERATIONS = 60, MOST_HALVINGS = 12, MOST_STAGES = 60 };
/* Newton's method ends when the update is below this part of the tolerances. */
static const double strict = 1e-3;
/* What GMRES may leave of an update, where it makes one. */
static const double newton_left = 1e-8, small_left = 1e-12;
/* A source repeats if its values at so many times of a period return in the next one, within this
 * relative difference. */
enum { PROBES = 97 };
static const double repeats = 1e-6;

/* -- the lattice -- */

/* The highest harmonic of tone t beside those of the tones before it in k. */
static int32_t highest(const ana_hb_opt *o, const int32_t *k, int32_t t)
{
    int32_t left = o->intmod;
    for (int32_t s = 0; s < t; s++)
        left -= k[s] < 0 ? -k[s] : k[s];
    return o->intmod > 0 && left < o->harm[t] ? left : o->harm[t];
}

/* All harmonics that are kept, the last tone fastest. Those that are not are never looked at: a box
 * of ten tones has more than anyone can count. */
static void list_harmonics(ana_orbit *h)
{
    const ana_hb_opt *o = &h->o;
    const int32_t nt = o->n_tone;
    int32_t k[ANA_TONES] = {0};
    for (int32_t t = 0; t < nt; t++)
        k[t] = -highest(o, k, t);
    for (;;) {
        vec_extend(h->index, 1);
        memcpy(vec_last(h->index), k, sizeof k);
        int32_t t = nt - 1;
        while (t >= 0 && k[t] == highest(o, k, t))
            t--;
        if (t < 0)
            break;
        k[t]++;
        while (++t < nt)
            k[t] = -highest(o, k, t);
    }
    h->n_k = (int32_t)vec_len(h->index);
}

static void place_harmonics(ana_orbit *h)
{
    h->cell = vs_calloc((size_t)h->n_k, sizeof *h->cell);
    h->minus = vs_calloc((size_t)h->n_k, sizeof *h->minus);
    h->omega = vs_calloc((size_t)h->n_k, sizeof *h->omega);
    for (int32_t i = 0; i < h->n_k; i++) {
        h->cell[i] = hb_cell(h, h->index[i]);
        h->minus[i] = h->n_k - 1 - i; /* the order is symmetric */
    }
    hb_set_tone(h, h->o.tone[0]);
}

/* One of each pair k, -k: those of positive frequency, sorted. */
static void list_lines(ana_orbit *h)
{
    vec_clear(h->line);
    for (int32_t k = 0; k < h->n_k; k++)
        if (h->omega[k] > 0 || (h->omega[k] == 0 && k <= h->minus[k]))
            vec_push(h->line, k);
    for (size_t i = 1; i < vec_len(h->line); i++)
        for (size_t j = i; j > 0 && h->omega[h->line[j]] < h->omega[h->line[j - 1]]; j--) {
            const int32_t t = h->line[j];
            h->line[j] = h->line[j - 1];
            h->line[j - 1] = t;
        }
}

static void allocate(ana_orbit *h)
{
    const size_t n1 = (size_t)h->n + 1, nk = (size_t)h->n_k, nm = (size_t)h->n_m,
                 nz = (size_t)h->nnz + 1;
    h->stride = (size_t)h->a->m + CKT_PADDING;
    h->x = vs_calloc(n1 * nk, sizeof *h->x);
    h->xs = vs_calloc(nm * h->stride, sizeof *h->xs);
    h->fs = vs_calloc(nm * h->stride, sizeof *h->fs);
    h->qs = vs_calloc(nm * h->stride, sizeof *h->qs);
    h->drive = vs_calloc((nm + 1) * h->stride, sizeof *h->drive);
    h->size = vs_calloc(n1, sizeof *h->size);
    h->row = vs_calloc(2 * nz, sizeof *h->row);
    h->g0 = vs_calloc(nz, sizeof *h->g0);
    h->c0 = vs_calloc(nz, sizeof *h->c0);
    h->varying = vs_calloc(nz, sizeof *h->varying);
    for (size_t p = 0; p < nz; p++)
        h->varying[p] = -1;
    h->n_varying_made = -1;
    h->r = vs_calloc((size_t)h->n * nk + 1, sizeof *h->r);
    h->dx = vs_calloc((size_t)h->n * nk + 1, sizeof *h->dx);
    for (int i = 0; i < 2; i++)
        h->part[i] = vs_calloc(nm, sizeof *h->part[i]);
    ana_lu_z_init(h->a, &h->m.lu);
}

void ana_orbit_free(ana_orbit **orbit)
{
    ana_orbit *h = *orbit;
    if (!h)
        return;
    hb_matrix_free(h);
    fft_plan_free(&h->plan);
    void *const own[] = {h->cell,    h->minus,   h->omega,   h->x,   h->xs,      h->fs,
                         h->qs,      h->drive,   h->size,    h->row, h->varying, h->g,
                         h->c,       h->g0,      h->c0,      h->y,   h->r,       h->dx,
                         h->part[0], h->part[1], h->opposite};
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
    vec_free(h->index);
    vec_free(h->gs);
    vec_free(h->cs);
    vec_free(h->line);
    vec_free(h->tone_of);
    vs_free(h);
    *orbit = NULL;
}

/* -- sources -- */

/* The source at `part` of a period of tone t, after `skip` periods. */
static double source_at(const ana_orbit *h, int32_t source, int32_t t, double skip, double part)
{
    return ckt_source_value(h->a->c, source, (skip + part) / h->o.tone[t]);
}

/* Does the source repeat with tone t, `skip` periods after time 0? moves: it is no constant then.
 */
static bool repeats_with(const ana_orbit *h, int32_t source, int32_t t, double skip, bool *moves)
{
    double lo = INFINITY, hi = -INFINITY, miss = 0;
    for (int k = 0; k < PROBES; k++) {
        const double part = (k + 0.381966) / PROBES;
        const double v = source_at(h, source, t, skip, part);
        const double w = source_at(h, source, t, skip + 1, part);
        const double u = source_at(h, source, t, skip + 7, part);
        lo = fmin(lo, fmin(v, w));
        hi = fmax(hi, fmax(v, w));
        miss = fmax(miss, fmax(fabs(v - w), fabs(v - u)));
    }
    *moves = hi > lo;
    return miss <= repeats * (hi - lo);
}

static vs_status bad_source(ana_orbit *h, int32_t source)
{
    const ckt_source_facts v = ckt_source_at(h->a->c, source);
    char tones[400] = "";
    for (int32_t t = 0; t < h->o.n_tone; t++)
        snprintf(tones + strlen(tones), sizeof tones - strlen(tones), "%s%.9g Hz", t ? ", " : "",
                 h->o.tone[t]);
    if (h->o.osc)
        diag_error(h->a->d, v.span,
                   "'%s' moves: an oscillator's frequency is free only if no source gives another; "
                   "use .hb for a driven circuit",
                   v.name);
    else
        diag_error(h->a->d, v.span, "'%s' does not repeat with %s %s", v.name,
                   h->o.n_tone > 1 ? "one of the tones" : "the tone", tones);
    if (!h->o.osc)
        diag_note(
            h->a->d, h->o.span,
            "the tones are given here: each source that moves needs its frequency among them, "
            "and sources whose frequencies have a common divisor may share that");
    return VS_EINPUT;
}

/* The first tone that the source repeats with, -1: none; how many periods after time 0 (what only
 * starts a circuit is over then). */
static double find_tone(const ana_orbit *h, int32_t source, int32_t *tone, bool *moves)
{
    double skip = h->o.osc ? ceil(h->o.tstab * h->o.tone[0]) : 0;
    for (; skip < 1e7; skip = skip > 0 ? 4 * skip : 1)
        for (int32_t t = 0; t < h->o.n_tone; t++)
            if (repeats_with(h, source, t, skip, moves)) {
                *tone = t;
                return skip;
            }
    *tone = -1;
    return 0;
}

/* Finds each source's tone; the drive on the grid. */
static vs_status find_drive(ana_orbit *h)
{
    ana *a = h->a;
    bool used[ANA_TONES] = {false};
    double *mean = h->drive + (size_t)h->n_m * h->stride;
    for (int32_t s = 0; s < ckt_n_source(a->c); s++) {
        bool moves = false;
        int32_t tone = -1;
        const double skip = find_tone(h, s, &tone, &moves);
        if (tone < 0 || (moves && h->o.osc))
            return bad_source(h, s);
        used[tone] |= moves;
        const ckt_source_facts v = ckt_source_at(a->c, s);
        for (int32_t m = 0; m < h->n_m; m++) {
            const double e = source_at(h, s, tone, skip, moves ? hb_phase(h, m, tone) : 0);
            double *d = h->drive + (size_t)m * h->stride;
            d[v.is_v ? v.k : v.p] += v.is_v ? -e : v.m * e;
            d[v.is_v ? 0 : v.n] -= v.is_v ? 0 : v.m * e;
        }
    }
    for (int32_t i = 1; i <= h->n; i++) {
        mean[i] = 0;
        for (int32_t m = 0; m < h->n_m; m++)
            mean[i] += h->drive[(size_t)m * h->stride + (size_t)i] / h->n_m;
        for (int32_t m = 0; m < h->n_m; m++)
            h->drive[(size_t)m * h->stride + (size_t)i] -= mean[i];
    }
    for (int32_t t = 0; t < h->o.n_tone && !h->o.osc; t++)
        if (!used[t]) {
            diag_error(a->d, h->o.span, "no source drives the tone of %.9g Hz", h->o.tone[t]);
            diag_note(a->d, h->o.span,
                      "give a source this frequency, or leave the tone out; the frequency of a "
                      "circuit that oscillates by itself is found by .hbosc");
            return VS_EINPUT;
        }
    return VS_OK;
}

/* -- Newton -- */

static bool tick(ana_orbit *h, double fraction)
{
    const ana_sink *s = &h->sink;
    return ana_tick(h->a, &h->next_progress, fraction, h->o.tone[0], s->progress, s->stop, s->user);
}

/* The residual in tolerances: the norm over the harmonics of each row, and of these the largest. */
static double residual_size(const ana_orbit *h, int32_t *worst)
{
    const size_t nk = (size_t)h->n_k;
    double most = 0;
    for (int32_t i = 1; i <= h->n; i++) {
        double sum = 0;
        for (size_t k = 0; k < nk; k++) {
            const hb_cplx r = h->r[(size_t)(i - 1) * nk + k];
            sum += creal(r) * creal(r) + cimag(r) * cimag(r);
        }
        const double s = sqrt(sum) / (h->a->opt.reltol * h->size[i] + h->a->tol_r[i]);
        if (!(s <= most)) {
            most = s;
            *worst = i;
        }
    }
    return most;
}

/* The largest change of a sample that the update makes, in tolerances of its unknown. */
static void update_size(ana_orbit *h, double *tolerances, int32_t *worst)
{
    const size_t nk = (size_t)h->n_k;
    *tolerances = 0;
    for (int32_t i = 1; i <= h->n; i++) {
        const int32_t own = (i - 1) % 2; /* two at once; the last one may be alone */
        const hb_cplx *dx = h->dx + (size_t)(i - 1) * nk;
        if (!own)
            hb_inverse_real(h, dx, dx + (i < h->n ? nk : 0), h->part[0], h->part[1]);
        double most = 0, x = 0;
        for (int32_t m = 0; m < h->n_m; m++) {
            most = fmax(most, fabs(h->part[own][m]));
            x = fmax(x, fabs(h->xs[(size_t)m * h->stride + (size_t)i]));
        }
        const double t = most / (h->a->opt.reltol * x + h->a->tol_x[i]);
        if (!(t <= *tolerances)) {
            *tolerances = t;
            *worst = i;
        }
    }
}

/* X_-k is the conjugate of X_k: what rounding of large residuals took from that is put back. */
static void move(ana_orbit *h, double by)
{
    const size_t nk = (size_t)h->n_k, n = (size_t)h->n;
    for (size_t k = 0; k < n * nk; k++)
        h->x[nk + k] -= by * h->dx[k];
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 0; 2 * k < nk; k++) {
            hb_cplx *a = &h->x[i * nk + k], *b = &h->x[i * nk + nk - 1 - k];
            *a = 0.5 * (*a + conj(*b));
            *b = conj(*a);
        }
    if (h->bordered)
        hb_set_tone(h, h->o.tone[0] * exp(-by * creal(h->dx[n * nk])));
}

/* Line search along -dx: takes the longest of the steps 1, 1/2, ... after which the residual is
 * finite and not much larger than before. */
static vs_status search(ana_orbit *h, double first, double before)
{
    double part = first, moved = 0;
    int32_t worst;
    for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
        move(h, part - moved);
        moved = part;
        if (hb_load(h, true) == VS_OK && residual_size(h, &worst) <= (k < 3 ? 1.5 : 4) * before)
            return VS_OK;
    }
    move(h, -moved);
    return VS_NOCONV;
}

typedef struct hb_report {
    int iterations;
    int32_t row, unknown; /* with the largest residual, update */
    double r, dx;         /* these, in tolerances */
} hb_report;

static vs_status newton(ana_orbit *h, hb_report *rep)
{
    const size_t all = (size_t)h->n * (size_t)h->n_k;
    vs_status st = hb_load(h, true);
    *rep = (hb_report){0};
    h->left = newton_left;
    for (int it = 1; it <= MOST_ITERATIONS && st == VS_OK; it++) {
        rep->iterations = it;
        rep->r = residual_size(h, &rep->row);
        h->a->st.iterations++;
        memcpy(h->dx, h->r, all * sizeof *h->dx);
        h->dx[all] = 0; /* the phase holds since the start */
        st = hb_factor(h, 0);
        if (st == VS_OK)
            st = hb_solve(h, 0, h->dx);
        if (st != VS_OK)
            return st;
        update_size(h, &rep->dx, &rep->unknown);
        const double turn = h->bordered ? fabs(creal(h->dx[all])) : 0;
        if (!(rep->dx <= DBL_MAX))
            return VS_NOCONV;
        if (tick(h, 0.5))
            return VS_STOP;
        if (rep->dx <= strict && rep->r <= 1 && turn <= 1e-9) {
            move(h, 1);
            return hb_load(h, true);
        }
        st = search(h, turn > 0.1 ? 0.1 / turn : 1, rep->r);
    }
    return VS_NOCONV;
}

/* -- ways to the solution -- */

static void begin_at(ana_orbit *h, const double *x)
{
    const size_t nk = (size_t)h->n_k;
    memset(h->x, 0, ((size_t)h->n + 1) * nk * sizeof *h->x);
    for (int32_t i = 1; i <= h->n; i++)
        h->x[(size_t)i * nk + nk / 2] = x[i]; /* the middle one is 0 Hz */
}

/* Continuation: raises h->lambda, the factor of the sources' moving part, from 0 to 1. */
static vs_status grow(ana_orbit *h, const double *x_op, hb_report *rep)
{
    const size_t bytes = ((size_t)h->n + 1) * (size_t)h->n_k * sizeof *h->x;
    hb_cplx *good = vs_malloc(bytes);
    double reached = 0, step = 0.1;
    vs_status st = VS_NOCONV;
    begin_at(h, x_op);
    memcpy(good, h->x, bytes);
    for (int k = 0; k < MOST_STAGES && reached < 1 && step > 1e-4; k++) {
        h->lambda = fmin(1, reached + step);
        st = newton(h, rep);
        if (st < 0 || st == VS_STOP)
            break;
        if (st == VS_OK) {
            reached = h->lambda;
            step *= rep->iterations < 8 ? 2 : 1;
            memcpy(good, h->x, bytes);
        } else {
            step *= 0.4;
            memcpy(h->x, good, bytes);
        }
    }
    vs_free(good);
    h->lambda = 1;
    return st < 0 || st == VS_STOP ? st : reached >= 1 ? VS_OK : VS_NOCONV;
}

static vs_status driven(ana_orbit *h, hb_report *rep)
{
    ana *a = h->a;
    double *x = vs_calloc((size_t)a->m + CKT_PADDING, sizeof *x);
    vs_status st = VS_NOCONV;
    if (h->o.tstab > 0) {
        st = hb_from_transient(h, h->o.tstab);
        if (st == VS_OK)
            st = newton(h, rep);
    }
    if (st == VS_NOCONV) {
        st = ana_op(a, x, false, true);
        if (st == VS_OK) {
            ckt_begin_shunts(a->c, x, a->opt.gmin, OP_GMIN_LOOK * a->opt.abstol);
            begin_at(h, x);
            h->lambda = 1;
            st = newton(h, rep);
            if (st == VS_NOCONV)
                st = grow(h, x, rep);
            if (st == VS_NOCONV && h->o.n_tone == 1 && !(h->o.tstab > 0)) {
                st = hb_from_transient(h, 20 / h->o.tone[0]);
                if (st == VS_OK)
                    st = newton(h, rep);
            }
        }
    }
    vs_free(x);
    return st;
}

/* The fundamental of the probe, as an amplitude. */
static double swing(const ana_orbit *h)
{
    double most = 0;
    for (int32_t k = 0; k < h->n_k; k++)
        if (h->index[k][0] == 1)
            most = 2 * cabs(h->x[(size_t)h->o.probe.hi * (size_t)h->n_k + (size_t)k] -
                            h->x[(size_t)h->o.probe.lo * (size_t)h->n_k + (size_t)k]);
    return most;
}

static vs_status oscillator(ana_orbit *h, hb_report *rep)
{
    vs_status st = hb_from_transient(h, h->o.tstab);
    if (st != VS_OK)
        return st;
    h->bordered = true;
    st = newton(h, rep);
    if (st == VS_OK && swing(h) < 100 * h->a->opt.vntol) {
        diag_error(h->a->d, h->o.span,
                   "the oscillation died away: only the operating point is left");
        diag_note(h->a->d, h->o.span,
                  "let the transient before it run longer (tstab=...), from a start that is not at "
                  "rest (.ic, uic)");
        return VS_EINPUT;
    }
    return st;
}

/* Warns where the highest harmonics of an unknown are not small beside its largest one: more
 * harmonics are needed. */
static void warn_truncation(ana_orbit *h)
{
    double most = 0;
    int32_t who = 0;
    for (int32_t i = 1; i <= h->n; i++) {
        double edge = 0, all = 0;
        for (int32_t k = 0; k < h->n_k; k++) {
            bool at_edge = false;
            for (int32_t t = 0; t < h->o.n_tone; t++)
                at_edge |= h->index[k][t] == h->o.harm[t];
            const double size = cabs(h->x[(size_t)i * (size_t)h->n_k + (size_t)k]);
            all = fmax(all, h->omega[k] != 0 ? size : 0);
            edge = fmax(edge, at_edge ? size : 0);
        }
        if (all > 1e3 * h->a->tol_x[i] && edge / all > most) {
            most = edge / all;
            who = i;
        }
    }
    if (most > 0.01 && h->o.harm[0] > 1)
        diag_warning(
            h->a->d, h->o.span,
            "the highest harmonic of %s is still %.2g of its largest: more harmonics would "
            "change the result",
            ana_unknown_text(h->a, who), most);
}

static void explain(ana_orbit *h, const hb_report *rep)
{
    ana *a = h->a;
    diag_error(a->d, h->o.span, "no periodic solution was found");
    if (rep->row > 0)
        diag_note(a->d, h->o.span, "after %d iterations the residual of %s is %.3g tolerances",
                  rep->iterations, ana_unknown_text(a, rep->row), rep->r);
    if (rep->unknown > 0)
        diag_note(a->d, h->o.span, "and %s still moves by %.3g", ana_unknown_text(a, rep->unknown),
                  rep->dx);
    if (h->o.osc)
        diag_note(a->d, h->o.span,
                  "an oscillation that dies away, or grows too slowly to be seen within tstab, has "
                  "no period: a larger start (.ic, uic, a pulse) or a longer tstab shows which");
    diag_note(
        a->d, h->o.span,
        "more harmonics follow sharper edges; a transient before it (tstab=...) starts nearer; "
        "a circuit may also have no solution of this period (dividers, chaos)");
}

static vs_status find(ana_orbit *h)
{
    hb_report rep = {0};
    vs_status st = find_drive(h);
    bool found = false;
    if (st == VS_OK && h->o.from && h->o.n_from == 2 * ((size_t)h->n + 1) * (size_t)h->n_k) {
        memcpy(h->x, h->o.from, ((size_t)h->n + 1) * (size_t)h->n_k * sizeof *h->x);
        h->bordered = h->o.osc;
        hb_set_tone(h, h->o.from_tone);
        found = newton(h, &rep) == VS_OK && (!h->o.osc || swing(h) > 100 * h->a->opt.vntol);
    }
    if (st == VS_OK && !found)
        st = h->o.osc ? oscillator(h, &rep) : driven(h, &rep);
    if (st == VS_NOCONV)
        explain(h, &rep);
    if (st == VS_OK)
        st = hb_refuse(h);
    h->bordered = false;
    h->left = small_left;
    if (st == VS_OK) {
        list_lines(h);
        warn_truncation(h);
    }
    return st;
}

vs_status ana_orbit_find(ana_orbit **orbit, ana *a, const ana_hb_opt *o, const ana_sink *sink)
{
    *orbit = NULL;
    if (ana_refuses_digital(a, "harmonic balance"))
        return VS_EUNSUPPORTED;
    ana_orbit *h = vs_calloc(1, sizeof *h);
    h->a = a;
    h->o = *o;
    h->sink = *sink;
    h->n = a->n;
    h->nnz = csc_nnz(a->jac);
    h->lambda = 1;
    h->left = small_left;
    list_harmonics(h);
    vs_status st = hb_make_grid(h);
    if (st == VS_OK) {
        place_harmonics(h);
        allocate(h);
        st = find(h);
    }
    if (st != VS_OK)
        ana_orbit_free(&h);
    *orbit = h;
    return st;
}

/* -- facts -- */

int32_t ana_orbit_lines(const ana_orbit *o) { return (int32_t)vec_len(o->line); }

double ana_orbit_freq(const ana_orbit *o, int32_t k) { return o->omega[o->line[k]] / (2 * M_PI); }

void ana_orbit_phasors(const ana_orbit *o, int32_t k, double *z)
{
    const int32_t line = o->line[k];
    const double scale = o->minus[line] == line ? 1 : 2;
    for (int32_t i = 0; i <= o->n; i++) {
        const hb_cplx x = scale * o->x[(size_t)i * (size_t)o->n_k + (size_t)line];
        z[2 * i] = creal(x);
        z[2 * i + 1] = cimag(x);
    }
}

void ana_orbit_at(const ana_orbit *o, double part, double *x)
{
    for (int32_t i = 0; i <= o->n; i++) {
        hb_cplx sum = 0;
        for (int32_t k = 0; k < o->n_k; k++)
            sum += o->x[(size_t)i * (size_t)o->n_k + (size_t)k] *
                   cexp(2 * M_PI * I * o->index[k][0] * part);
        x[i] = creal(sum);
    }
}

const double *ana_orbit_state(const ana_orbit *o, size_t *n)
{
    *n = 2 * ((size_t)o->n + 1) * (size_t)o->n_k;
    return (const double *)o->x;
}

double ana_orbit_period(const ana_orbit *o) { return 1 / o->o.tone[0]; }
