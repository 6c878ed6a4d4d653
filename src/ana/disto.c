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
    slopes f2_x;                  /* F''[X, .] */
    slopes f3_xx;                 /* F'''[X, X, .] */
    slopes f2_yc;                 /* F''[Y*, .]; Y and so this are the same at all frequencies */
    cplx *x, *y;                  /* [n+1] X, Y */
    cplx *y_conj;                 /* [n+1] Y* */
    cplx *x2;                     /* [n+1] X2, on the way to T */
    cplx *product[MOST_PRODUCTS]; /* [n+1] what is written: X2, X3; of two tones P, M, T */
    cplx *written[MOST_PRODUCTS]; /* vecs: each product at all frequencies, [n+1] for each */
} disto;

static bool has_two_tones(const disto *d) { return d->o->ratio > 0; }
static int n_product(const disto *d) { return has_two_tones(d) ? 3 : 2; }

/* -- one linear system: clear the right side z, subtract terms from it, solve for z in place -- */

static void clear(const disto *d, cplx *z) { memset(z, 0, ((size_t)d->s.a->n + 1) * sizeof *z); }

/* z -= by (slopes.g + j omega slopes.c) v, one term of an equation above. */
static void subtract(const disto *d, cplx *z, double by, const slopes *term, double omega,
                     const cplx *v)
{
    const csc *j = d->s.a->jac;
    for (int32_t c = 0; c < j->n; c++) {
        const cplx x = by * v[c + 1];
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++)
            z[j->row[p] + 1] -= (term->g[p] + I * omega * term->c[p]) * x;
    }
}

/* z = A(omega)^-1 z; refused where gmin alone carries some of z. */
static vs_status solve(disto *d, double omega, cplx *z)
{
    const vs_status st = small_factor(&d->s, omega);
    if (st != VS_OK)
        return st;
    small_solve(&d->s, (double *)z);
    return small_refuse_fed(&d->s, (double *)z, fabs(omega) / (2 * acos(-1)));
}

/* -- the equations -- */

/* A(omega) z = b of the sources' distof1 (tone 0) or distof2 (tone 1). */
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

/* A(2 w1) X2 = -1/4 F''[X, X] */
static vs_status second_harmonic(disto *d, double w1, cplx *x2)
{
    clear(d, x2);
    subtract(d, x2, 0.25, &d->f2_x, 2 * w1, d->x);
    return solve(d, 2 * w1, x2);
}

/* A(3 w1) X3 = -1/2 F''[X, X2] - 1/24 F'''[X, X, X] */
static vs_status third_harmonic(disto *d, double w1, const cplx *x2, cplx *x3)
{
    const double w = 3 * w1;
    clear(d, x3);
    subtract(d, x3, 0.5, &d->f2_x, w, x2);
    subtract(d, x3, 1. / 24, &d->f3_xx, w, d->x);
    return solve(d, w, x3);
}

/* A(w1 + w2) P = -1/2 F''[X, Y]; with Y* the same at w1 - w2 is M. */
static vs_status second_order(disto *d, double w, const cplx *y, cplx *z)
{
    clear(d, z);
    subtract(d, z, 0.5, &d->f2_x, w, y);
    return solve(d, w, z);
}

/* A(2 w1 - w2) T = -1/2 F''[Y*, X2] - 1/8 F'''[X, X, Y*] - 1/2 F''[X, M] */
static vs_status third_order(disto *d, double w, const cplx *x2, const cplx *m, cplx *t)
{
    clear(d, t);
    subtract(d, t, 0.5, &d->f2_yc, w, x2);
    subtract(d, t, 0.125, &d->f3_xx, w, d->y_conj);
    subtract(d, t, 0.5, &d->f2_x, w, m);
    return solve(d, w, t);
}

static vs_status harmonics(disto *d, double w1)
{
    const vs_status st = second_harmonic(d, w1, d->product[0]);
    return st == VS_OK ? third_harmonic(d, w1, d->product[0], d->product[1]) : st;
}

static vs_status intermodulation(disto *d, double w1, double w2)
{
    cplx *const p = d->product[0], *const m = d->product[1], *const t = d->product[2];
    vs_status st = second_harmonic(d, w1, d->x2);
    if (st == VS_OK)
        st = second_order(d, w1 - w2, d->y_conj, m);
    if (st == VS_OK)
        st = third_order(d, 2 * w1 - w2, d->x2, m, t);
    return st == VS_OK ? second_order(d, w1 + w2, d->y, p) : st;
}

/* -- all frequencies -- */

static double omega_2(const disto *d) { return 2 * acos(-1) * d->o->ratio * d->o->freq.from; }

static vs_status at_frequency(void *work, double f)
{
    disto *d = work;
    const double w1 = 2 * acos(-1) * f;
    const size_t n1 = (size_t)d->s.a->n + 1;
    vs_status st = respond(d, 0, w1, d->x);
    if (st == VS_OK)
        st = slopes_of(&d->work, d->x, &d->f2_x, &d->f3_xx);
    if (st == VS_OK)
        st = has_two_tones(d) ? intermodulation(d, w1, omega_2(d)) : harmonics(d, w1);
    for (int k = 0; k < n_product(d) && st == VS_OK; k++) {
        const size_t at = vec_len(d->written[k]);
        vec_extend(d->written[k], n1);
        memcpy(d->written[k] + at, d->product[k], n1 * sizeof(cplx));
    }
    return st;
}

/* The response to the second tone, whose frequency is fixed, and its F''. */
static vs_status second_tone(disto *d)
{
    vs_status st = respond(d, 1, omega_2(d), d->y);
    for (int32_t i = 0; i <= d->s.a->n; i++)
        d->y_conj[i] = conj(d->y[i]);
    if (st == VS_OK)
        st = slopes_of(&d->work, d->y_conj, &d->f2_yc, NULL);
    return st;
}

/* A plot for each product, its points in the order of the frequencies f. */
static vs_status deliver(const disto *d, const double *f, const ana_sink *sink)
{
    static const char *const name[2][MOST_PRODUCTS] = {
        {"DISTORTION - 2nd harmonic", "DISTORTION - 3rd harmonic", NULL},
        {"DISTORTION - IM: f1+f2", "DISTORTION - IM: f1-f2", "DISTORTION - IM: 2f1-f2"}};
    const size_t n1 = (size_t)d->s.a->n + 1;
    vs_status st = VS_OK;
    for (int k = 0; k < n_product(d) && st == VS_OK; k++) {
        st = d->o->plot(sink->user, name[has_two_tones(d)][k]);
        for (size_t i = 0; i < vec_len(d->written[k]) / n1 && st == VS_OK; i++)
            st = sink->zpoint(sink->user, f[i], d->s.x, (const double *)(d->written[k] + i * n1));
    }
    return st;
}

static vs_status allocate(disto *d)
{
    const size_t n1 = (size_t)d->s.a->n + 1;
    cplx **const of_unknowns[] = {&d->x,          &d->y,          &d->y_conj,    &d->x2,
                                  &d->product[0], &d->product[1], &d->product[2]};
    const vs_status st = slopes_begin(&d->work, &d->s);
    for (size_t k = 0; k < VS_COUNT(of_unknowns); k++)
        *of_unknowns[k] = vs_calloc(n1, sizeof(cplx));
    slopes_new(&d->work, &d->f2_x);
    slopes_new(&d->work, &d->f3_xx);
    slopes_new(&d->work, &d->f2_yc);
    return st;
}

static void release(disto *d)
{
    void *const own[] = {d->x, d->y, d->y_conj, d->x2, d->product[0], d->product[1], d->product[2]};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    for (int k = 0; k < MOST_PRODUCTS; k++)
        vec_free(d->written[k]);
    slopes_free(&d->f2_x);
    slopes_free(&d->f3_xx);
    slopes_free(&d->f2_yc);
    slopes_end(&d->work);
    small_fini(&d->s);
}

vs_status ana_disto(ana *a, const ana_disto_opt *o, const ana_sink *sink)
{
    disto d = {.o = o};
    double *f = ana_frequencies(&o->freq);
    vs_status st = small_begin(&d.s, a, false);
    if (st == VS_OK)
        st = allocate(&d);
    if (st == VS_OK && has_two_tones(&d))
        st = second_tone(&d);
    if (st == VS_OK)
        st = freq_run(a, &(freq_sweep){f, vec_len(f), at_frequency, &d}, sink);
    const vs_status put = deliver(&d, f, sink);
    release(&d);
    vec_free(f);
    return st == VS_OK ? put : st;
}
