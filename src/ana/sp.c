/* sp.c - scattering parameters of the ports, and what follows from them. Port j is a source behind
 * z_j. With 1 V at port j alone, a_j = 1 / (2 sqrt z_j) and
 *   S_ij = b_i / a_j,  b_i = (v_i - z_i i_i) / (2 sqrt z_i),  i_i into the circuit.
 *   Y = z^-1/2 (1 - S)(1 + S)^-1 z^-1/2,  Z = z^1/2 (1 - S)^-1 (1 + S) z^1/2   (z diagonal)
 * Noise: each source drives currents n_i into the shorted ports; Cy = sum of S n n^H. In waves:
 * what reaches port i, loaded with all z, is c_i; n = -z^-1/2 (1 + S)^-1 2 c.
 * Source: Kurokawa, IEEE Trans. Microwave Theory Tech. 13(2), 1965; Hillbrand & Russer, IEEE Trans.
 *         Circuits Syst. 23(4), 1976 (noise correlation matrices). */
#include <math.h>
#include <string.h>

#include "small.h"

#include <complex.h> /* last: `complex` is a name in headers */

typedef double complex cplx;

static const double boltzmann = 1.380649e-23, t0_kelvin = 290; /* IEEE reference of noise figures */

typedef struct spar {
    small s;
    const ana_port *port;
    int32_t np;
    bool noise;
    const ana_sp_opt *opt;
    const ana_table *t;
    vs_status (*take_s)(void *user, double f, const double *s); /* as ana_sp; NULL: nobody */
    void *user;
    cplx *z;              /* [n+1] solution of the last port driven */
    cplx *adj;            /* [np][n+1] adjoints of the waves leaving the ports, for noise */
    cplx *S, *Y, *Z, *Cy; /* [np][np] */
    cplx *m, *rhs;        /* [np][np] scratch */
    cplx *row;            /* vec */
} spar;

/* m X = b for square m and b [n][n], in place of b; NaN if m is singular. Gauss with row pivots. */
static void solve_dense(int32_t n, cplx *m, cplx *b)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++)
            if (cabs(m[i * n + k]) > cabs(m[p * n + k]))
                p = i;
        for (int32_t j = 0; j < n && p != k; j++) {
            const cplx t = m[k * n + j], u = b[k * n + j];
            m[k * n + j] = m[p * n + j];
            m[p * n + j] = t;
            b[k * n + j] = b[p * n + j];
            b[p * n + j] = u;
        }
        const bool singular = cabs(m[k * n + k]) < 1e-13; /* entries are of the size of 1 */
        for (int32_t i = 0; i < n; i++) {
            if (i == k)
                continue;
            const cplx f = singular ? NAN : m[i * n + k] / m[k * n + k];
            for (int32_t j = 0; j < n; j++) {
                m[i * n + j] -= f * m[k * n + j];
                b[i * n + j] -= f * b[k * n + j];
            }
        }
        if (singular)
            m[k * n + k] = NAN;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            b[i * n + j] /= m[i * n + i];
}

/* b_i of the solution z */
static cplx wave_out(const spar *w, int32_t i, const cplx *z)
{
    const ana_port *p = &w->port[i];
    const ckt_source_facts v = ckt_source_at(w->s.a->c, p->source);
    const cplx u = z[p->p] - z[p->n], cur = -v.m * z[v.k];
    return (u - p->z0 * cur) / (2 * sqrt(p->z0));
}

static void find_s(spar *w)
{
    for (int32_t j = 0; j < w->np; j++) {
        small_drive(&w->s, w->port[j].source, (double *)w->z);
        small_solve(&w->s, (double *)w->z);
        for (int32_t i = 0; i < w->np; i++)
            w->S[i * w->np + j] = wave_out(w, i, w->z) * 2 * sqrt(w->port[j].z0);
    }
}

static void find_y_and_z(spar *w)
{
    const int32_t n = w->np;
    for (int pass = 0; pass < 2; pass++) {
        const double sign = pass ? -1 : 1; /* (1 + S)^-1 (1 - S) commute: Y; then Z */
        cplx *to = pass ? w->Z : w->Y;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                w->m[i * n + j] = (i == j) + sign * w->S[i * n + j];
                to[i * n + j] = (i == j) - sign * w->S[i * n + j];
            }
        solve_dense(n, w->m, to);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                const double r = sqrt(w->port[i].z0 * w->port[j].z0);
                to[i * n + j] *= pass ? r : 1 / r;
            }
    }
}

/* -- noise -- */

/* adj_i = the response of wave i to a unit in each row */
static void find_adjoints(spar *w)
{
    const size_t n1 = (size_t)w->s.a->n + 1;
    for (int32_t i = 0; i < w->np; i++) {
        const ana_port *p = &w->port[i];
        const ckt_source_facts v = ckt_source_at(w->s.a->c, p->source);
        cplx *y = w->adj + (size_t)i * n1;
        const double r = 2 * sqrt(p->z0);
        memset(y, 0, n1 * sizeof *y);
        y[p->p] += 1 / r;
        y[p->n] -= 1 / r;
        y[v.k] += v.m * p->z0 / r;
        small_solve_t(&w->s, (double *)y);
    }
}

static cplx gain_to(const cplx *y, const ckt_noise *s, const ckt_noise_gain *gain, double omega)
{
    cplx h = 0;
    for (int32_t k = s->first; k < s->end; k++)
        h -= gain[k].gain * (gain[k].rate ? I * omega : 1) * y[gain[k].row];
    return h;
}

/* Cy, through the correlation Cs of the waves: Cy = A Cs A^H with A = 2 z^-1/2 (1 + S)^-1 */
static void find_cy(spar *w, double f)
{
    const int32_t n = w->np;
    const size_t n1 = (size_t)w->s.a->n + 1;
    const double omega = 2 * acos(-1) * f;
    size_t n_src;
    const ckt_noise_gain *gain;
    const ckt_noise *src = ckt_noises(w->s.a->c, &n_src, &gain);
    cplx *cs = w->rhs;
    find_adjoints(w);
    memset(cs, 0, (size_t)(n * n) * sizeof *cs);
    for (size_t k = 0; k < n_src; k++) {
        const double d = ckt_noise_density(w->s.a->c, &src[k], f);
        for (int32_t i = 0; i < n; i++) {
            const cplx hi = gain_to(w->adj + (size_t)i * n1, &src[k], gain, omega);
            for (int32_t j = 0; j < n; j++)
                cs[i * n + j] +=
                    d * hi * conj(gain_to(w->adj + (size_t)j * n1, &src[k], gain, omega));
        }
    }
    for (int pass = 0; pass < 2;
         pass++) { /* (1 + S)^-1 Cs, then the same on the other side of it */
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                w->m[i * n + j] = (i == j) + w->S[i * n + j];
        solve_dense(n, w->m, cs);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                w->Cy[j * n + i] = conj(cs[i * n + j]);
        memcpy(cs, w->Cy, (size_t)(n * n) * sizeof *cs);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            w->Cy[i * n + j] = 4 * cs[i * n + j] / sqrt(w->port[i].z0 * w->port[j].z0);
}

/* Two-port noise parameters from the chain representation: u = -n_2 / y_21, i = n_1 - n_2 y_11 /
 * y_21. rn = |u|^2 / 4kT0, y_opt and F_min as in Hillbrand & Russer. */
static void push_figures(spar *w)
{
    const cplx *y = w->Y, *c = w->Cy;
    const double kt4 = 4 * boltzmann * t0_kelvin;
    const cplx y11 = y[0], y21 = y[2];
    const double uu = creal(c[3]) / (cabs(y21) * cabs(y21));
    const cplx ui = -c[2] / y21 + c[3] * conj(y11) / (y21 * conj(y21)); /* <u i*> */
    const double ii = creal(c[0]) - 2 * creal(c[2] * (y11 / y21)) +
                      creal(c[3]) * cabs(y11) * cabs(y11) / (cabs(y21) * cabs(y21));
    const double rn = uu / kt4, im = cimag(ui) / uu, gg = ii / uu - im * im;
    const cplx yopt = sqrt(gg > 0 ? gg : 0) + I * im;
    const double fmin = 1 + (2 / kt4) * (creal(ui) + uu * creal(yopt));
    const double ys = 1 / w->port[0].z0, f = fmin + rn / ys * cabs(ys - yopt) * cabs(ys - yopt);
    vec_push(w->row, (cplx)(10 * log10(f)));
    vec_push(w->row, (ys - yopt) / (ys + yopt));
    vec_push(w->row, (cplx)(10 * log10(fmin)));
    vec_push(w->row, (cplx)rn);
}

/* -- plots -- */

static vs_status begin(spar *w)
{
    ana_column *col = NULL;
    static const char *const kind[] = {"S", "Y", "Z", "Cy"};
    static const char *const type[] = {"s-param", "admittance", "impedance", "current"};
    static const ana_column figure[] = {
        {"NF", "decibel"}, {"SOpt", "notype"}, {"NFmin", "decibel"}, {"Rn", "impedance"}};
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (int k = 0; k < (w->noise ? 4 : 3); k++)
        for (int32_t i = 0; i < w->np; i++)
            for (int32_t j = 0; j < w->np; j++)
                vec_push(col, ((ana_column){arena_printf(&w->s.a->mem, "%s_%d_%d", kind[k],
                                                         (int)i + 1, (int)j + 1),
                                            type[k]}));
    for (size_t k = 0; k < VS_COUNT(figure) && w->noise && w->np == 2; k++)
        vec_push(col, figure[k]);
    for (int32_t k = 0; k < w->opt->n_watch; k++)
        vec_push(col, w->opt->watch[k].col);
    const vs_status st = w->t->begin(w->t->user, "SP Analysis", col, (int32_t)vec_len(col), true);
    vec_free(col);
    return st;
}

static vs_status put(spar *w, double f)
{
    const cplx *m[] = {w->S, w->Y, w->Z, w->Cy};
    vec_clear(w->row);
    vec_push(w->row, (cplx)f);
    for (int k = 0; k < (w->noise ? 4 : 3); k++)
        for (int32_t i = 0; i < w->np * w->np; i++)
            vec_push(w->row, m[k][i]);
    if (w->noise && w->np == 2)
        push_figures(w);
    for (int32_t k = 0; k < w->opt->n_watch; k++) {
        const ana_sp_watch *o = &w->opt->watch[k];
        vec_push(w->row, o->factor * (w->z[o->hi] - w->z[o->lo]));
    }
    return w->t->row(w->t->user, (const double *)w->row);
}

static vs_status at_frequency(void *work, double f)
{
    spar *w = work;
    vs_status st = small_factor(&w->s, 2 * acos(-1) * f);
    if (st != VS_OK)
        return st;
    find_s(w);
    find_y_and_z(w);
    if (w->noise)
        find_cy(w, f);
    st = put(w, f);
    return st == VS_OK && w->take_s ? w->take_s(w->user, f, (const double *)w->S) : st;
}

static void allocate(spar *w)
{
    const size_t n1 = (size_t)w->s.a->n + 1, np = (size_t)w->np;
    cplx **m[] = {&w->S, &w->Y, &w->Z, &w->Cy, &w->m, &w->rhs};
    w->z = vs_calloc(n1, sizeof *w->z);
    w->adj = vs_calloc(np * n1, sizeof *w->adj);
    for (size_t k = 0; k < VS_COUNT(m); k++)
        *m[k] = vs_calloc(np * np, sizeof **m[k]);
}

static void release(spar *w)
{
    cplx *m[] = {w->S, w->Y, w->Z, w->Cy, w->m, w->rhs, w->z, w->adj};
    for (size_t k = 0; k < VS_COUNT(m); k++)
        vs_free(m[k]);
    vec_free(w->row);
    small_fini(&w->s);
}

vs_status ana_sp(ana *a, const ana_sp_opt *o, const ana_table *t,
                 vs_status (*s)(void *user, double f, const double *s), void *user)
{
    spar w = {.port = o->port,
              .np = o->n_port,
              .noise = o->noise,
              .opt = o,
              .t = t,
              .take_s = s,
              .user = user};
    double *f = ana_frequencies(&o->freq);
    vs_status st = small_begin(&w.s, a, o->noise);
    if (st == VS_OK)
        allocate(&w);
    if (st == VS_OK)
        st = begin(&w);
    if (st == VS_OK)
        st = freq_plot(a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    release(&w);
    vec_free(f);
    return st;
}
