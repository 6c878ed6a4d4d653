/* lstb.c - loop gain at a probe: a voltage source of 0 V in the loop, which nothing cuts.
 * The circuit on both sides of the probe, a (its p) and b (its n), is a two-port Y. The loop gain
 * is the return ratio of both directions at once,
 *   T = (Y12 + Y21) / (Y11 + Y22),  1 + T = Y / (Y11 + Y22) with Y the sum of all four.
 * Two responses give it. 1 V in the probe: voltage v at b, current i from a to b; 1 A into b with
 * the probe as a short: voltage u, current j:
 *   1 + T = 1 / (1 + j + v + 2 (j v - i u))
 * Negative feedback has T > 0 where its phase is 0; the phase margin is 180 degrees + arg T where
 * |T| = 1. Two probes in the branches of a symmetric pair: the same of differences (V1 - V2,
 * (I1 - I2) / 2), or of common parts ((V1 + V2) / 2, I1 + I2).
 * Source: Tian, Visvanathan, Hantgan & Kundert, IEEE Circuits Devices Mag. 17(1), 2001. */
#include <math.h>
#include <string.h>

#include "small.h"

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex cplx;

#define NO_LOOP 1e-13

typedef struct margins {
    double pm, f_pm, gm, f_gm; /* degrees, Hz, dB, Hz; NAN: there is none */
    double f, mag, phase;      /* of the point before: log |T|, radians, unwrapped */
    bool any;
} margins;

typedef struct lstb {
    small s;
    const ana_lstb_opt *o;
    double e[2], i[2];   /* of each probe: its part of 1 V; of 1 A into b */
    int32_t ref[2];      /* what counts as ground there: a node of an isolated part, or 0 */
    double wv[2], wi[2]; /* what its voltage and current count in the mode's */
    cplx *z;             /* [n+1] */
    const ana_table *t;
    margins m;   /* up to the last frequency */
    double most; /* |T| */
} lstb;

static void choose_mode(lstb *w)
{
    const bool two = w->o->n_probe == 2, diff = two && w->o->mode == ANA_LSTB_DIFF;
    const double second = diff ? -1 : 1;
    for (int p = 0; p < 2; p++) {
        const double sign = p ? second : 1, used = p && !two ? 0 : 1;
        w->e[p] = used * sign * (diff ? 0.5 : 1);
        w->i[p] = used * sign * (two && !diff ? 0.5 : 1);
        w->wv[p] = used * sign * (two && !diff ? 0.5 : 1);
        w->wi[p] = used * sign * (diff ? 0.5 : 1);
    }
}

/* A part that nothing joins to ground has a ground of its own: where its level comes from. */
static void find_references(lstb *w)
{
    ana *a = w->s.a;
    for (int32_t p = 0; p < w->o->n_probe; p++) {
        const ckt_source_facts s = ckt_source_at(a->c, w->o->probe[p]);
        w->ref[p] = small_level_of(&w->s, s.n);
        if (w->ref[p])
            diag_warning(a->d, w->o->span,
                         "'%s' is in a part that nothing joins to ground: %s counts as ground",
                         s.name, ana_unknown_text(a, w->ref[p]));
    }
}

/* Response to 1 V in the probes, or 1 A into their second nodes: the mode's voltage and current. */
static void respond(lstb *w, bool current, cplx *v, cplx *i)
{
    ana *a = w->s.a;
    memset(w->z, 0, ((size_t)a->n + 1) * sizeof *w->z);
    for (int32_t p = 0; p < w->o->n_probe; p++) {
        const ckt_source_facts s = ckt_source_at(a->c, w->o->probe[p]);
        if (current) {
            w->z[s.n] += w->i[p];
            w->z[w->ref[p]] -= w->i[p];
        } else
            w->z[s.k] += w->e[p];
        w->z[0] = 0;
    }
    small_solve(&w->s, (double *)w->z);
    *v = *i = 0;
    for (int32_t p = 0; p < w->o->n_probe; p++) {
        const ckt_source_facts s = ckt_source_at(a->c, w->o->probe[p]);
        *v += w->wv[p] * (w->z[s.n] - w->z[w->ref[p]]);
        *i += w->wi[p] * s.m * w->z[s.k];
    }
}

/* -- margins -- */

/* Where a + (b - a) t passes `at`, as a frequency on a logarithmic axis. */
static double crossing(double f0, double f1, double a, double b, double at, double *part)
{
    *part = (at - a) / (b - a);
    return f0 > 0 ? f0 * pow(f1 / f0, *part) : f0 + (f1 - f0) * *part;
}

static void follow(margins *m, double f, cplx t)
{
    const double mag = log(cabs(t));
    double phase = carg(t), part;
    if (m->any) {
        phase += 2 * M_PI * round((m->phase - phase) / (2 * M_PI));
        if ((m->mag > 0) != (mag > 0) && isnan(m->pm)) {
            m->f_pm = crossing(m->f, f, m->mag, mag, 0, &part);
            m->pm = 180 + (m->phase + part * (phase - m->phase)) * 180 / M_PI;
        }
        /* odd multiples of 180 degrees */
        const double n0 = floor((m->phase + M_PI) / (2 * M_PI)),
                     n1 = floor((phase + M_PI) / (2 * M_PI));
        if (n0 != n1 && isnan(m->gm)) {
            const double at = 2 * M_PI * fmax(n0, n1) - M_PI;
            m->f_gm = crossing(m->f, f, m->phase, phase, at, &part);
            m->gm = -(m->mag + part * (mag - m->mag)) * 20 / log(10);
        }
    }
    *m = (margins){m->pm, m->f_pm, m->gm, m->f_gm, f, mag, phase, true};
}

static vs_status put_margins(const margins *m, const ana_table *t)
{
    static const ana_column col[] = {{"phase_margin", "notype"},
                                     {"phase_margin_freq", "frequency"},
                                     {"gain_margin", "decibel"},
                                     {"gain_margin_freq", "frequency"}};
    const double row[] = {m->pm, m->f_pm, m->gm, m->f_gm};
    vs_status st = t->begin(t->user, "Stability Margins", col, VS_COUNT(col), false);
    if (st == VS_OK)
        st = t->row(t->user, row);
    const vs_status closing = t->end(t->user);
    return st == VS_OK ? closing : st;
}

static vs_status at_frequency(void *work, double f)
{
    lstb *w = work;
    cplx v, i, u, j;
    const vs_status st = small_factor(&w->s, 2 * M_PI * f);
    if (st != VS_OK)
        return st;
    respond(w, false, &v, &i);
    respond(w, true, &u, &j);
    const cplx y = j + v + 2 * (j * v - i * u);
    const cplx row[2] = {f, -y / (1 + y)};
    follow(&w->m, f, row[1]);
    w->most = fmax(w->most, cabs(row[1]));
    return w->t->row(w->t->user, (const double *)row);
}

static vs_status sweep(lstb *w, const double *f, size_t n)
{
    static const ana_column col[] = {{"frequency", "frequency"}, {"loopgain", "notype"}};
    const vs_status st = w->t->begin(w->t->user, "Loop Stability", col, VS_COUNT(col), true);
    return st == VS_OK ? freq_plot(w->s.a, &(freq_sweep){f, n, at_frequency, w}, w->t) : st;
}

/* T of no loop is what rounding leaves of 0; that of a real one is above that somewhere. */
static void warn_without_loop(const lstb *w)
{
    if (!(w->most < NO_LOOP))
        return;
    diag_warning(w->s.a->d, w->o->span,
                 "the loop gain is 0 at all frequencies: '%s' lies in no loop",
                 ckt_source_at(w->s.a->c, w->o->probe[0]).name);
    diag_note(w->s.a->d, DIAG_NOWHERE,
              "the probe belongs into the wire through which all of the signal that is fed back "
              "passes, and a loop that a switched-off device interrupts has no gain");
}

vs_status ana_lstb(ana *a, const ana_lstb_opt *o, const ana_table *t)
{
    lstb w = {.o = o, .t = t, .m = {.pm = NAN, .f_pm = NAN, .gm = NAN, .f_gm = NAN}};
    double *f = ana_frequencies(&o->freq);
    choose_mode(&w);
    vs_status st = small_begin(&w.s, a, false);
    w.z = vs_calloc((size_t)a->n + 1, sizeof *w.z);
    if (st == VS_OK)
        find_references(&w);
    if (st == VS_OK)
        st = sweep(&w, f, vec_len(f));
    if (st == VS_OK)
        warn_without_loop(&w);
    if (st == VS_OK)
        st = put_margins(&w.m, t);
    small_fini(&w.s);
    vs_free(w.z);
    vec_free(f);
    return st;
}
