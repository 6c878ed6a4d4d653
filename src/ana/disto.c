/* disto.c - distortion of small signals: harmonics and products of one or two tones, of the second
 * and third order, by Volterra's series about the operating point.
 *
 * F(x) = f(x) + d/dt q(x) = b; phasors are x = Re X exp(j omega t), and A(omega) = G + j omega C:
 *   A(w1) X = b1,  A(w2) Y = b2
 *   A(2 w1) X2 = -1/4 F''[X, X]              A(3 w1) X3 = -1/2 F''[X, X2] - 1/24 F'''[X, X, X]
 *   A(w1 + w2) P = -1/2 F''[X, Y]            A(w1 - w2) M = -1/2 F''[X, Y*]
 *   A(2 w1 - w2) T = -1/2 F''[X, M] - 1/2 F''[Y*, X2] - 1/8 F'''[X, X, Y*]
 * where F'' and F''' at a frequency are f'' + j omega q'' and so on. They are differences along the
 * real and the imaginary part of X of the exact G and C, of order 8 from eight points around: with
 * steps of 3 mV at the node that moves most, and exponentials of 25 mV, to 1e-10.
 * Source: Weiner & Spina, "Sinusoidal analysis and modeling of weakly nonlinear circuits", 1980;
 *         Chisholm & Nagel, IEEE J. Solid-State Circuits 8(1), 1973; ngspice manual, ".DISTO". */
#include <math.h>
#include <string.h>

#include "small.h"
#include "vec.h"

/* After the headers: `complex` is a name in some. */
#include <complex.h>

typedef double complex cplx;

static const double step = 3e-3; /* V, A */
enum { REACH = 4, MOST_PRODUCTS = 3 };
/* Weights of differences to the values 1, 2, ... steps away; the first derivative's are odd. */
static const double first[REACH] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
static const double second[REACH] = {8. / 5, -1. / 5, 8. / 315, -1. / 560};

typedef struct slopes { /* of G and C along a direction, [nnz + 1] */
    cplx *g, *c;
} slopes;

typedef struct disto {
    small s;
    const ana_disto_opt *o;
    int32_t nnz;
    double *x, *w, *g,
        *c;              /* [n+1] a point near the operating point; a direction; [nnz + 1] there */
    double *along[3][4]; /* [nnz + 1] along re X, im X and their sum: G', C', G'', C'' */
    double *g0, *c0;     /* [nnz + 1] at the operating point */
    slopes once, twice;  /* F'' with X in one place, F''' with X in two */
    slopes conj;         /* F'' with Y* */
    cplx *in[2];         /* [n+1] X, Y */
    cplx *z[4];          /* [n+1] solutions of a frequency */
    cplx *put[MOST_PRODUCTS]; /* vecs: [n+1] of each frequency */
} disto;

/* -- derivatives along directions -- */

/* Of the direction: of nodes, whose voltages are what devices bend with (slopes of voltages, which
 * models may have as unknowns, are larger by omega); or of all. */
static double largest(const disto *d, bool of_nodes)
{
    double most = 0;
    for (int32_t i = 1; i <= d->s.a->n; i++)
        if (!of_nodes || d->s.a->u[i].node)
            most = fmax(most, fabs(d->w[i]));
    return most;
}

/* G', C', G'', C'' along w. Status: VS_OK; VS_NOCONV (message). */
static vs_status differentiate(disto *d, double *const to[4])
{
    ana *a = d->s.a;
    const ckt_env env = small_env(a);
    const size_t nz = (size_t)d->nnz;
    const double most = largest(d, true) > 0 ? largest(d, true) : largest(d, false);
    for (int k = 0; k < 4; k++)
        memset(to[k], 0, (nz + 1) * sizeof(double));
    const double h = most > 0 ? step / most : 0;
    for (int i = 0; i < 2 * REACH && h > 0; i++) {
        const int k = i < REACH ? i - REACH : i - REACH + 1, reach = k > 0 ? k : -k;
        const double odd = first[reach - 1] / (k > 0 ? h : -h), even = second[reach - 1] / (h * h);
        for (int32_t j = 1; j <= a->n; j++)
            d->x[j] = d->s.x[j] + k * h * d->w[j];
        const vs_status st = ckt_load_ac(a->c, &env, d->x, false, d->g, d->c);
        if (st != VS_OK) {
            diag_error(a->d, DIAG_NOWHERE,
                       "a device gives a conductance or capacitance that is not finite within %g V "
                       "of the operating point",
                       REACH * step);
            return st;
        }
        for (size_t p = 0; p < nz; p++) {
            const double g = d->g[p] - d->g0[p], c = d->c[p] - d->c0[p]; /* 0 where linear */
            to[0][p] += odd * g;
            to[1][p] += odd * c;
            to[2][p] += even * g;
            to[3][p] += even * c;
        }
    }
    return VS_OK;
}

/* once and, unless NULL, twice of x [n+1]; `sign` -1: of its conjugate. */
static vs_status take_slopes(disto *d, const cplx *x, double sign, const slopes *once,
                             const slopes *twice)
{
    vs_status st = VS_OK;
    for (int k = 0; k < (twice ? 3 : 2) && st == VS_OK; k++) {
        for (int32_t i = 0; i <= d->s.a->n; i++)
            d->w[i] = (k == 1 ? 0 : creal(x[i])) + (k == 0 ? 0 : sign * cimag(x[i]));
        st = differentiate(d, d->along[k]);
    }
    double *const *re = d->along[0], *const *im = d->along[1], *const *sum = d->along[2];
    for (int32_t p = 0; p < d->nnz && st == VS_OK; p++) {
        once->g[p] = re[0][p] + I * im[0][p];
        once->c[p] = re[1][p] + I * im[1][p];
        if (!twice)
            continue;
        twice->g[p] = re[2][p] - im[2][p] + I * (sum[2][p] - re[2][p] - im[2][p]);
        twice->c[p] = re[3][p] - im[3][p] + I * (sum[3][p] - re[3][p] - im[3][p]);
    }
    return st;
}

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
        st = take_slopes(d, d->in[0], 1, &d->once, &d->twice);
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

static void allocate(disto *d)
{
    const size_t n1 = (size_t)d->s.a->n + 1, nz = (size_t)csc_nnz(d->s.a->jac) + 1;
    cplx **const of_unknowns[] = {&d->in[0], &d->in[1], &d->z[0], &d->z[1], &d->z[2], &d->z[3]};
    cplx **const of_entries[] = {&d->once.g,  &d->once.c, &d->twice.g,
                                 &d->twice.c, &d->conj.g, &d->conj.c};
    d->nnz = csc_nnz(d->s.a->jac);
    d->x = vs_calloc(n1, sizeof *d->x);
    d->w = vs_calloc(n1, sizeof *d->w);
    d->g = vs_calloc(nz, sizeof *d->g);
    d->c = vs_calloc(nz, sizeof *d->c);
    d->g0 = vs_calloc(nz, sizeof *d->g0);
    d->c0 = vs_calloc(nz, sizeof *d->c0);
    for (int k = 0; k < 12; k++)
        d->along[k / 4][k % 4] = vs_calloc(nz, sizeof(double));
    for (int k = 0; k < 6; k++) {
        *of_unknowns[k] = vs_calloc(n1, sizeof(cplx));
        *of_entries[k] = vs_calloc(nz, sizeof(cplx));
    }
}

static void release(disto *d)
{
    void *const own[] = {d->g0,     d->c0,     d->x,       d->w,       d->g,      d->c,
                         d->in[0],  d->in[1],  d->z[0],    d->z[1],    d->z[2],   d->z[3],
                         d->once.g, d->once.c, d->twice.g, d->twice.c, d->conj.g, d->conj.c};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    for (int k = 0; k < 12; k++)
        vs_free(d->along[k / 4][k % 4]);
    for (int k = 0; k < MOST_PRODUCTS; k++)
        vec_free(d->put[k]);
    small_fini(&d->s);
}

vs_status ana_disto(ana *a, const ana_disto_opt *o, const ana_sink *sink)
{
    disto d = {.o = o};
    double *f = ana_frequencies(&o->freq);
    const double two_pi = 2 * acos(-1), w2 = two_pi * o->ratio * o->freq.from;
    vs_status st = small_begin(&d.s, a, false);
    allocate(&d);
    if (st == VS_OK) {
        const ckt_env env = small_env(a);
        st = ckt_load_ac(a->c, &env, d.s.x, false, d.g0, d.c0);
    }
    if (st == VS_OK && w2 > 0)
        st = respond(&d, 1, w2, d.in[1]);
    if (st == VS_OK && w2 > 0)
        st = take_slopes(&d, d.in[1], -1, &d.conj, NULL);
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
