/* hb_sp.c - scattering on a periodic orbit, from ports to ports at other frequencies.
 *
 * Port i stands behind z_i at all frequencies. It is looked at where the frequency is f + h_i f_0.
 * With the adjoint y_i of the wave b_i = (v_i - z_i i_i) / (2 sqrt z_i) that leaves it there, a
 * wave into port j at f + k f_0, of the source of 1 V at that sideband, gives
 *   S_ij(k) = y_i (row of source j, harmonic k) 2 sqrt z_j
 * Noise figures are from port 1 at h_1 to port 2 at h_2. N is the wave that the circuit's own noise
 * sends out of port 2 (the ports' resistances are without noise), T_0 = 290 K:
 *   NF       (N + sum_k kT_0 |S_21(k)|^2) / (kT_0 |S_21(h_1)|^2)
 *   NFieee   (N + kT_0 |S_21(h_1)|^2) / (kT_0 |S_21(h_1)|^2)
 *   NFdsb    (N + sum_k kT_0 |S_21(k)|^2) / (kT_0 (|S_21(h_1)|^2 + |S_21(2 h_2 - h_1)|^2))
 * Y, Z and noise parameters are those of the matrix S_ij(h_j) (ports.h): at all other sidebands the
 * ports stay behind their z. NFmin is the least NFieee.
 * Source: Maas, "Microwave mixers", 2nd ed., 1993, ch. 3 and 5; IRE Standards, Proc. IRE 48(1),
 *         1960 (noise figure: of the source, only what is in the signal's band counts below). */
#include <math.h>
#include <string.h>

#include "hb_cyclo.h"
#include "ports.h"

static const double boltzmann = 1.380649e-23, t0_kelvin = 290;

typedef struct scatter {
    hb_cyclo s;
    ana_orbit *h;
    const ana_hbsp_opt *o;
    const ana_table *t;
    ports net;
    hb_cplx *y;   /* [n_port][n n_k + 1] adjoints of the waves that leave */
    hb_cplx *row; /* vec */
} scatter;

static hb_cplx *adjoint_of(const scatter *w, int32_t port)
{
    return w->y + (size_t)port * ((size_t)w->h->n * (size_t)w->h->n_k + 1);
}

/* y of the wave that leaves port i. */
static vs_status find_adjoint(scatter *w, int32_t i, double f)
{
    const ana_port *p = &w->o->port[i];
    const ckt_source_facts v = ckt_source_at(w->h->a->c, p->source);
    const size_t nk = (size_t)w->h->n_k, at = (size_t)hb_sideband(w->h, w->o->harm[i]);
    const double r = 2 * sqrt(p->z0);
    hb_cplx *y = adjoint_of(w, i);
    memset(y, 0, ((size_t)w->h->n * nk + 1) * sizeof *y);
    if (p->p > 0)
        y[(size_t)(p->p - 1) * nk + at] += 1 / r;
    if (p->n > 0)
        y[(size_t)(p->n - 1) * nk + at] -= 1 / r;
    y[(size_t)(v.k - 1) * nk + at] += v.m * p->z0 / r;
    return hb_cyclo_adjoint(&w->s, f, y);
}

/* S_ij for waves into port j at harmonic number k, 0 .. n_k - 1. */
static hb_cplx s_of(const scatter *w, int32_t i, int32_t j, int32_t k)
{
    const ana_port *p = &w->o->port[j];
    const ckt_source_facts v = ckt_source_at(w->h->a->c, p->source);
    return adjoint_of(w, i)[(size_t)(v.k - 1) * (size_t)w->h->n_k + (size_t)k] * 2 * sqrt(p->z0);
}

static double square(hb_cplx z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

static bool has_figures(const scatter *w) { return w->o->noise && w->o->n_port > 1; }

/* Of what lies between two ports. */
static bool has_parameters(const scatter *w) { return w->o->noise && w->o->n_port == 2; }

static void push_figures(scatter *w, double f)
{
    const ana_orbit *h = w->h;
    const int32_t in = hb_sideband(h, w->o->harm[0]),
                  mirror = hb_sideband(h, 2 * w->o->harm[1] - w->o->harm[0]);
    const double kt0 = boltzmann * t0_kelvin, own = hb_cyclo_total(&w->s, adjoint_of(w, 1), f);
    double all = 0;
    for (int32_t k = 0; k < h->n_k; k++)
        all += square(s_of(w, 1, 0, k));
    const double wanted = square(s_of(w, 1, 0, in));
    const double other = mirror >= 0 && mirror != in ? square(s_of(w, 1, 0, mirror)) : 0;
    vec_push(w->row, (hb_cplx)(10 * log10((own + kt0 * all) / (kt0 * wanted))));
    vec_push(w->row, (hb_cplx)(10 * log10((own + kt0 * wanted) / (kt0 * wanted))));
    vec_push(w->row, (hb_cplx)(10 * log10((own + kt0 * all) / (kt0 * (wanted + other)))));
    if (!has_parameters(w))
        return;
    hb_cplx figure[PORTS_N_FIGURE];
    (void)ports_figures(&w->net, figure);
    for (int k = 0; k < PORTS_N_FIGURE; k++)
        vec_push(w->row, figure[k]);
}

static vs_status begin_plot(scatter *w)
{
    static const ana_column figure[] = {{"NF", "decibel"},    {"NFieee", "decibel"},
                                        {"NFdsb", "decibel"}, {"SOpt", "notype"},
                                        {"NFmin", "decibel"}, {"Rn", "impedance"}};
    static const char *const kind[] = {"S", "Y", "Z", "Cy"};
    static const char *const type[] = {"s-param", "admittance", "impedance", "current"};
    ana_column *col = NULL;
    vec_push(col, ((ana_column){"frequency", "frequency"}));
    for (int k = 0; k < (w->o->noise ? 4 : 3); k++)
        ports_columns(w->h->a, w->o->n_port, kind[k], type[k], &col);
    for (size_t k = 0; k < VS_COUNT(figure); k++)
        if (k < 3 ? has_figures(w) : has_parameters(w))
            vec_push(col, figure[k]);
    const vs_status st =
        w->t->begin(w->t->user, "Periodic SP Analysis", col, (int32_t)vec_len(col), true);
    vec_free(col);
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    scatter *w = work;
    const int32_t n = w->o->n_port;
    for (int32_t i = 0; i < n; i++) {
        const vs_status st = find_adjoint(w, i, f);
        if (st != VS_OK)
            return st;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            w->net.S[i * n + j] = s_of(w, i, j, hb_sideband(w->h, w->o->harm[j]));
    ports_y_z(&w->net);
    if (w->o->noise) {
        hb_cyclo_correlation(&w->s, w->y, n, f, w->net.Cs);
        ports_cy(&w->net);
    }
    const hb_cplx *m[] = {w->net.S, w->net.Y, w->net.Z, w->net.Cy};
    vec_clear(w->row);
    vec_push(w->row, (hb_cplx)f);
    for (int k = 0; k < (w->o->noise ? 4 : 3); k++)
        for (int32_t i = 0; i < n * n; i++)
            vec_push(w->row, m[k][i]);
    if (has_figures(w))
        push_figures(w, f);
    return w->t->row(w->t->user, (const double *)w->row);
}

vs_status ana_hbsp(ana_orbit *h, const ana_hbsp_opt *o, const ana_table *t)
{
    scatter w = {.h = h, .o = o, .t = t};
    double *f = ana_frequencies(&o->freq);
    const size_t all = (size_t)h->n * (size_t)h->n_k + 1;
    vs_status st = VS_OK;
    for (int32_t i = 0; i < o->n_port && st == VS_OK; i++)
        st = hb_check_sideband(h, o->harm[i]);
    if (st == VS_OK)
        st = hb_cyclo_begin(&w.s, h, o->noise);
    w.y = vs_calloc((size_t)o->n_port * all, sizeof *w.y);
    ports_begin(&w.net, o->port, o->n_port);
    if (st == VS_OK)
        st = begin_plot(&w);
    if (st == VS_OK)
        st = freq_plot(h->a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    hb_cyclo_end(&w.s);
    ports_end(&w.net);
    vec_free(w.row);
    vs_free(w.y);
    vec_free(f);
    return st;
}
