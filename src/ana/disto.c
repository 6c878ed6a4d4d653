/* disto.c - distortion of small signals: harmonics and products of one or two tones, of the second
 * and third order, by Volterra's series about the operating point.
 *
 * F(x) = f(x) + d/dt q(x) = b; phasors are x = Re X exp(j omega t), and A(omega) = G + j omega C:
 *   A(w1) X = b1,  A(w2) Y = b2
 *   A(2 w1) X2 = -1/4 F''[X, X]              A(3 w1) X3 = -1/2 F''[X, X2] - 1/24 F'''[X, X, X]
 *   A(w1 + w2) P = -1/2 F''[X, Y]            A(w1 - w2) M = -1/2 F''[X, Y*]
 *   A(2 w1 - w2) T = -1/2 F''[X, M] - 1/2 F''[Y*, X2] - 1/8 F'''[X, X, Y*]
 * where F'' and F''' at a frequency are f'' + j omega q'' and so on (slopes.h).
 * Source: Weiner & Spina, "Sinusoidal analysis and modeling of weakly nonlinear circuits", 1980;
 *         Chisholm & Nagel, IEEE J. Solid-State Circuits 8(1), 1973; ngspice manual, ".DISTO". */
#include <math.h>
#include <string.h>

#include "slopes.h"
#include "vec.h"

enum { MOST_PRODUCTS = 3 };

typedef struct disto {
    small s;
    const ana_disto_opt *o;
    slopes_work work;
    slopes once, twice;       /* F'' with X in one place, F''' with X in two */
    slopes conj;              /* F'' with Y* */
    cplx *in[2];              /* [n+1] X, Y */
    cplx *z[4];               /* [n+1] solutions of a frequency */
    cplx *put[MOST_PRODUCTS]; /* vecs: [n+1] of each frequency */
} disto;

/* to -= by (slopes at omega) v; `sign` -1: v's conjugate */
static void subtract(const disto *d, cplx *to, double by, const slopes *s, double omega,
                     const cplx *v, double sign)
{
    const csc *j = d->s.a->jac;
    for (int32_t c = 0; c < j->n; c++) {
        const cplx x = by * (sign < 0 ? conj(v[c + 1]) : v[c + 1]);
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++)
            to[j->row[p] + 1] -= (s->g[p] + I * omega * s->c[p]) * x;
    }
}

/* -- frequencies -- */

static void clear(const disto *d, cplx *z) { memset(z, 0, ((size_t)d->s.a->n + 1) * sizeof *z); }

static vs_status solve(disto *d, double omega, cplx *z)
{
    const vs_status st = small_factor(&d->s, omega);
    if (st == VS_OK)
        small_solve(&d->s, (double *)z);
    return st;
}

/* The response to distof1 (0) or distof2 (1). */
static vs_status respond(disto *d, int tone, double omega, cplx *z)
{
    const ckt *c = d->s.a->c;
    clear(d, z);
    for (int32_t i = 0; i < ckt_n_source(c); i++) {
        const ckt_source_facts v = ckt_source_at(c, i);
        const cplx e = v.disto_mag[tone] * cexp(I * v.disto_phase[tone] * (acos(-1) / 180));
        if (v.is_v) {
            z[v.k] += e;
        } else {
            z[v.p] -= v.m * e;
            z[v.n] += v.m * e;
        }
    }
    return solve(d, omega, z);
}

/* X2 into d->z[1]. */
static vs_status second_harmonic(disto *d, double w1)
{
    clear(d, d->z[1]);
    subtract(d, d->z[1], 0.25, &d->once, 2 * w1, d->in[0], 1);
    return solve(d, 2 * w1, d->z[1]);
}

static vs_status harmonics(disto *d, double w1)
{
    vs_status st = second_harmonic(d, w1);
    if (st != VS_OK)
        return st;
    clear(d, d->z[2]);
    subtract(d, d->z[2], 0.5, &d->once, 3 * w1, d->z[1], 1);
    subtract(d, d->z[2], 1. / 24, &d->twice, 3 * w1, d->in[0], 1);
    return solve(d, 3 * w1, d->z[2]);
}

/* P, M, T into d->z[1] .. d->z[3]. */
static vs_status products(disto *d, double w1, double w2)
{
    const cplx *y = d->in[1];
    const double w3 = 2 * w1 - w2;
    vs_status st = second_harmonic(d, w1);
    clear(d, d->z[3]);
    subtract(d, d->z[3], 0.5, &d->conj, w3, d->z[1], 1);
    subtract(d, d->z[3], 0.125, &d->twice, w3, y, -1);
    clear(d, d->z[2]);
    subtract(d, d->z[2], 0.5, &d->once, w1 - w2, y, -1);
    if (st == VS_OK)
        st = solve(d, w1 - w2, d->z[2]);
    subtract(d, d->z[3], 0.5, &d->once, w3, d->z[2], 1);
    if (st == VS_OK)
        st = solve(d, w3, d->z[3]);
    clear(d, d->z[1]);
    subtract(d, d->z[1], 0.5, &d->once, w1 + w2, y, 1);
    return st == VS_OK ? solve(d, w1 + w2, d->z[1]) : st;
}

static int n_product(const disto *d) { return d->o->ratio > 0 ? 3 : 2; }

static vs_status one_frequency(disto *d, double w1, double w2)
{
    const size_t n1 = (size_t)d->s.a->n + 1;
    vs_status st = respond(d, 0, w1, d->in[0]);
    if (st == VS_OK)
        st = slopes_of(&d->work, d->in[0], 1, &d->once, &d->twice);
    if (st == VS_OK)
        st = w2 > 0 ? products(d, w1, w2) : harmonics(d, w1);
    for (int k = 0; k < n_product(d) && st == VS_OK; k++) {
        const size_t at = vec_len(d->put[k]);
        vec_extend(d->put[k], n1);
        memcpy(d->put[k] + at, d->z[k + 1], n1 * sizeof(cplx));
    }
    return st;
}

/* -- all -- */

static vs_status deliver(const disto *d, const double *f, const ana_sink *sink)
{
    static const char *const name[2][MOST_PRODUCTS] = {
        {"DISTORTION - 2nd harmonic", "DISTORTION - 3rd harmonic", NULL},
        {"DISTORTION - IM: f1+f2", "DISTORTION - IM: f1-f2", "DISTORTION - IM: 2f1-f2"}};
    const size_t n1 = (size_t)d->s.a->n + 1;
    vs_status st = VS_OK;
    for (int k = 0; k < n_product(d) && st == VS_OK; k++) {
        st = d->o->plot(sink->user, name[n_product(d) - 2][k]);
        for (size_t i = 0; i < vec_len(d->put[k]) / n1 && st == VS_OK; i++)
            st = sink->zpoint(sink->user, f[i], d->s.x, (const double *)(d->put[k] + i * n1));
    }
    return st;
}

static vs_status allocate(disto *d)
{
    const size_t n1 = (size_t)d->s.a->n + 1;
    cplx **const of_unknowns[] = {&d->in[0], &d->in[1], &d->z[0], &d->z[1], &d->z[2], &d->z[3]};
    const vs_status st = slopes_begin(&d->work, &d->s);
    for (size_t k = 0; k < VS_COUNT(of_unknowns); k++)
        *of_unknowns[k] = vs_calloc(n1, sizeof(cplx));
    slopes_new(&d->work, &d->once);
    slopes_new(&d->work, &d->twice);
    slopes_new(&d->work, &d->conj);
    return st;
}

static void release(disto *d)
{
    void *const own[] = {d->in[0], d->in[1], d->z[0], d->z[1], d->z[2], d->z[3]};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    for (int k = 0; k < MOST_PRODUCTS; k++)
        vec_free(d->put[k]);
    slopes_free(&d->once);
    slopes_free(&d->twice);
    slopes_free(&d->conj);
    slopes_end(&d->work);
    small_fini(&d->s);
}

vs_status ana_disto(ana *a, const ana_disto_opt *o, const ana_sink *sink)
{
    disto d = {.o = o};
    double *f = ana_frequencies(&o->freq);
    const double two_pi = 2 * acos(-1), w2 = two_pi * o->ratio * o->freq.from;
    vs_status st = small_begin(&d.s, a, false);
    if (st == VS_OK)
        st = allocate(&d);
    if (st == VS_OK && w2 > 0)
        st = respond(&d, 1, w2, d.in[1]);
    if (st == VS_OK && w2 > 0)
        st = slopes_of(&d.work, d.in[1], -1, &d.conj, NULL);
    for (size_t k = 0; k < vec_len(f) && st == VS_OK; k++) {
        st = one_frequency(&d, two_pi * f[k], w2);
        if (small_tick(&d.s, (double)(k + 1) / (double)vec_len(f), f[k], sink->progress, sink->stop,
                       sink->user) &&
            st == VS_OK)
            st = VS_STOP;
    }
    const vs_status put = deliver(&d, f, sink);
    release(&d);
    vec_free(f);
    return st == VS_OK ? put : st;
}
