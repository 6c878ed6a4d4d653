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

#include "cyclo.h"
#include "ports.h"

static const double boltzmann = 1.380649e-23, t0_kelvin = 290;

typedef struct scatter {
    cyclo s;
    ana_steady on;
    ana *a;
    const ana_hbsp_opt *o;
    const ana_table *t;
    ports net;
    vs_status (*take_s)(void *user, double f, const double *s); /* as ana_sp; NULL: nobody */
    void *user;
    cyclo_view *wave; /* [n_port] the waves that leave */
    int32_t *source;  /* [n_port] */
    hb_cplx *row;     /* vec */
} scatter;

/* The wave that leaves port i. */
static cyclo_view wave_of(const scatter *w, int32_t i)
{
    const ana_port *p = &w->o->port[i];
    const ckt_source_facts v = ckt_source_at(w->a->c, p->source);
    const double r = 2 * sqrt(p->z0);
    const int32_t at[] = {p->p, p->n, v.k};
    const double by[] = {1 / r, -1 / r, v.m * p->z0 / r};
    cyclo_view to = {.n_side = 1, .side = {w->o->harm[i]}, .gain = {1}};
    for (int k = 0; k < 3; k++)
        if (at[k] > 0) {
            to.at[to.n_at] = at[k];
            to.by[to.n_at++] = by[k];
        }
    return to;
}

/* S_ij for waves into port j at sideband k. */
static hb_cplx s_of(const scatter *w, int32_t i, int32_t j, int32_t k)
{
    const ana_port *p = &w->o->port[j];
    return cyclo_gain(&w->s, i, p->source, k) * 2 * sqrt(p->z0);
}

static double square(hb_cplx z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

static bool has_figures(const scatter *w) { return w->o->noise && w->o->n_port > 1; }

/* Of what lies between two ports. */
static bool has_parameters(const scatter *w) { return w->o->noise && w->o->n_port == 2; }

static void push_figures(scatter *w, double f)
{
    const int32_t in = w->o->harm[0], mirror = 2 * w->o->harm[1] - in;
    const double kt0 = boltzmann * t0_kelvin, own = cyclo_total(&w->s, 1, f);
    const double all = 4 * w->o->port[0].z0 * cyclo_gains(&w->s, 1, w->o->port[0].source);
    const double wanted = square(s_of(w, 1, 0, in));
    const double other = mirror != in ? square(s_of(w, 1, 0, mirror)) : 0;
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
        ports_columns(w->a, w->o->n_port, kind[k], type[k], &col);
    for (size_t k = 0; k < VS_COUNT(figure); k++)
        if (k < 3 ? has_figures(w) : has_parameters(w))
            vec_push(col, figure[k]);
    const vs_status st =
        w->t->begin(w->t->user, "Periodic SP Analysis", col, (int32_t)vec_len(col), true);
    vec_free(col);
    return st;
}

/* What of S, and of the noise that leaves the ports, gmin alone carries. */
static vs_status judge(scatter *w, double f)
{
    const int32_t n = w->o->n_port;
    arena *mem = &w->a->d->mem;
    vs_status st = VS_OK;
    for (int32_t i = 0; i < n && st == VS_OK && w->s.feeds; i++) {
        for (int32_t j = 0; j < n && st == VS_OK; j++)
            st = cyclo_judge(&w->s, i, cabs(w->net.S[i * n + j]),
                             2 * sqrt(w->o->port[j].z0) *
                                 cyclo_gain_share(&w->s, i, w->o->port[j].source, w->o->harm[j]),
                             arena_printf(mem, "S_%d_%d", (int)i + 1, (int)j + 1));
        if (st == VS_OK && w->o->noise)
            st = cyclo_judge(&w->s, i, sqrt(creal(w->net.Cs[i * n + i])),
                             cyclo_noise_share(&w->s, i, f),
                             arena_printf(mem, "the noise at port %d", (int)i + 1));
    }
    return st;
}

static vs_status at_frequency(void *work, double f)
{
    scatter *w = work;
    const int32_t n = w->o->n_port;
    for (int32_t i = 0; i < n; i++) {
        const vs_status st = cyclo_solve(&w->s, i, &w->wave[i], f);
        if (st != VS_OK)
            return st;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            w->net.S[i * n + j] = s_of(w, i, j, w->o->harm[j]);
    ports_y_z(&w->net);
    if (w->o->noise)
        cyclo_correlation(&w->s, n, f, w->net.Cs);
    vs_status st = judge(w, f);
    if (st != VS_OK)
        return st;
    if (w->o->noise)
        ports_cy(&w->net);
    const hb_cplx *m[] = {w->net.S, w->net.Y, w->net.Z, w->net.Cy};
    vec_clear(w->row);
    vec_push(w->row, (hb_cplx)f);
    for (int k = 0; k < (w->o->noise ? 4 : 3); k++)
        for (int32_t i = 0; i < n * n; i++)
            vec_push(w->row, m[k][i]);
    if (has_figures(w))
        push_figures(w, f);
    st = w->t->row(w->t->user, (const double *)w->row);
    return st == VS_OK && w->take_s ? w->take_s(w->user, f, (const double *)w->net.S) : st;
}

static vs_status begin(scatter *w, cyclo_plan *plan)
{
    const int32_t n = w->o->n_port;
    vs_status st = VS_OK;
    w->wave = vs_calloc((size_t)n + 1, sizeof *w->wave);
    w->source = vs_calloc((size_t)n + 1, sizeof *w->source);
    for (int32_t i = 0; i < n && st == VS_OK; i++) {
        st = ana_check_sideband(w->on, w->o->harm[i], w->o->span);
        w->wave[i] = wave_of(w, i);
        w->source[i] = w->o->port[i].source;
    }
    if (st == VS_OK)
        st = ana_check_frequencies(w->on, &w->o->freq, w->o->span);
    *plan = (cyclo_plan){.view = w->wave,
                         .n_view = n,
                         .source = w->source,
                         .n_in = n,
                         .noise = w->o->noise,
                         .from = w->o->freq.from,
                         .to = w->o->freq.to,
                         .t = w->t,
                         .span = w->o->span};
    return st == VS_OK ? cyclo_begin(&w->s, w->on, plan) : st;
}

vs_status ana_hbsp(ana_steady on, const ana_hbsp_opt *o, const ana_table *t,
                   vs_status (*s)(void *user, double f, const double *s), void *user)
{
    scatter w = {.on = on, .a = cyclo_facts_of(on).a, .o = o, .t = t, .take_s = s, .user = user};
    cyclo_plan plan;
    double *f = ana_frequencies(&o->freq);
    vs_status st = begin(&w, &plan);
    ports_begin(&w.net, o->port, o->n_port);
    if (st == VS_OK)
        st = begin_plot(&w);
    if (st == VS_OK)
        st = freq_plot(w.a, &(freq_sweep){f, vec_len(f), at_frequency, &w}, t);
    cyclo_end(&w.s);
    ports_end(&w.net);
    vec_free(w.row);
    vs_free(w.wave);
    vs_free(w.source);
    vec_free(f);
    return st;
}
