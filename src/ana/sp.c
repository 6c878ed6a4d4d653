/* sp.c - scattering parameters of the ports, and what follows from them. Port j is a source behind
 * z_j. With 1 V at port j alone, a_j = 1 / (2 sqrt z_j) and
 *   S_ij = b_i / a_j,  b_i = (v_i - z_i i_i) / (2 sqrt z_i),  i_i into the circuit.
 * The rest is in ports.h. */
#include <math.h>
#include <string.h>

#include "small.h"

#include "ports.h" /* last: it brings `complex`, a name in headers */

typedef ports_cplx cplx;

typedef struct spar {
    small s;
    ports net;
    const ana_port *port;
    int32_t np;
    bool noise;
    const ana_sp_opt *opt;
    const ana_table *t;
    vs_status (*take_s)(void *user, double f, const double *s); /* as ana_sp; NULL: nobody */
    void *user;
    cplx *z;     /* [n+1] solution of the last port driven */
    cplx *adj;   /* [np][n+1] adjoints of the waves leaving the ports, for noise */
    double *out; /* [np] noise that leaves each port, 1/Hz */
    cplx *b;     /* [n+1] what drives a port, or a source of noise */
    cplx *row;   /* vec */
    small_feeds feeds;
    bool has_levels, told_fed;
    int32_t fed, fed_by; /* a node that gmin alone joins to ground, 0: none is fed; port, from 0 */
} spar;

/* b_i of the solution z */
static cplx wave_out(const spar *w, int32_t i, const cplx *z)
{
    const ana_port *p = &w->port[i];
    const ckt_source_facts v = ckt_source_at(w->s.a->c, p->source);
    const cplx u = z[p->p] - z[p->n], cur = -v.m * z[v.k];
    return (u - p->z0 * cur) / (2 * sqrt(p->z0));
}

/* What gmin alone carries while port j is driven; of several ports the last is named. */
static void look_at_fed(spar *w, int32_t j)
{
    double current;
    const int32_t node = w->has_levels ? small_fed(&w->s, (double *)w->z, &current) : 0;
    if (!node)
        return;
    w->fed = node;
    w->fed_by = j;
}

static void find_s(spar *w)
{
    w->fed = 0;
    for (int32_t j = 0; j < w->np; j++) {
        small_drive(&w->s, w->port[j].source, (double *)w->z);
        small_solve(&w->s, (double *)w->z);
        look_at_fed(w, j);
        for (int32_t i = 0; i < w->np; i++)
            w->net.S[i * w->np + j] = wave_out(w, i, w->z) * 2 * sqrt(w->port[j].z0);
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

/* Cy, through the correlation Cs of the waves. */
static void find_cy(spar *w, double f)
{
    const int32_t n = w->np;
    const size_t n1 = (size_t)w->s.a->n + 1;
    const double omega = 2 * acos(-1) * f;
    size_t n_src;
    const ckt_noise_gain *gain;
    const ckt_noise *src = ckt_noises(w->s.a->c, &n_src, &gain);
    cplx *cs = w->net.Cs;
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
    for (int32_t i = 0; i < n; i++)
        w->out[i] = creal(cs[i * n + i]);
    ports_cy(&w->net);
}

static void push_figures(spar *w)
{
    cplx figure[PORTS_N_FIGURE];
    vec_push(w->row, (cplx)(10 * log10(ports_figures(&w->net, figure))));
    for (int k = 0; k < PORTS_N_FIGURE; k++)
        vec_push(w->row, figure[k]);
}

/* -- what gmin alone carries -- */

/* Of the wave that leaves port i, which is driven at port j. */
static vs_status judge_s(spar *w, double f, int32_t i, int32_t j)
{
    const double r = 2 * sqrt(w->port[j].z0);
    small_drive(&w->s, w->port[j].source, (double *)w->b);
    const double share = r * small_feeds_share_of(&w->feeds, &w->s, (double *)w->b);
    if (!(share > 0))
        return VS_OK;
    return small_feeds_judge(
        &w->feeds, &w->s,
        &(small_answer){.f = f,
                        .value = cabs(w->net.S[i * w->np + j]),
                        .share = share,
                        .b = (double *)w->b,
                        .what = arena_printf(&w->s.a->d->mem, "S_%d_%d", (int)i + 1, (int)j + 1)});
}

/* Of the noise that leaves port i. */
static vs_status judge_noise(spar *w, double f, int32_t i)
{
    const small_answer all = {
        .f = f,
        .value = sqrt(w->out[i]),
        .what = arena_printf(&w->s.a->d->mem, "the noise at port %d", (int)i + 1)};
    return small_feeds_judge_noise(&w->feeds, &w->s, &all, (double *)w->b);
}

/* Other voltages than those of S, which are written for the last port. */
static void warn_of_fed(spar *w, double f)
{
    if (!w->fed || w->told_fed)
        return;
    w->told_fed = true;
    diag_warning(w->s.a->d, DIAG_NOWHERE,
                 "at %.6g Hz what port %d feeds into %s has no way back but gmin: voltages there "
                 "are none of the circuit",
                 f, (int)w->fed_by + 1, ana_unknown_text(w->s.a, w->fed));
}

/* Of all that is written for the frequency. */
static vs_status judge(spar *w, double f)
{
    const size_t n1 = (size_t)w->s.a->n + 1;
    vs_status st = VS_OK;
    if (!w->has_levels)
        return VS_OK;
    if (!w->noise)
        find_adjoints(w);
    for (int32_t i = 0; i < w->np && st == VS_OK; i++) {
        if (!small_feeds_of(&w->feeds, &w->s, (double *)(w->adj + (size_t)i * n1)))
            continue;
        for (int32_t j = 0; j < w->np && st == VS_OK; j++)
            st = judge_s(w, f, i, j);
        if (st == VS_OK && w->noise)
            st = judge_noise(w, f, i);
    }
    if (st == VS_OK)
        warn_of_fed(w, f);
    return st;
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
        ports_columns(w->s.a, w->np, kind[k], type[k], &col);
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
    const cplx *m[] = {w->net.S, w->net.Y, w->net.Z, w->net.Cy};
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
    ports_y_z(&w->net);
    if (w->noise)
        find_cy(w, f);
    st = judge(w, f);
    if (st != VS_OK)
        return st;
    st = put(w, f);
    return st == VS_OK && w->take_s ? w->take_s(w->user, f, (const double *)w->net.S) : st;
}

static void allocate(spar *w)
{
    const size_t n1 = (size_t)w->s.a->n + 1, np = (size_t)w->np;
    w->has_levels = small_has_levels(&w->s);
    w->z = vs_calloc(n1, sizeof *w->z);
    w->b = vs_calloc(n1, sizeof *w->b);
    w->out = vs_calloc(np, sizeof *w->out);
    w->adj = vs_calloc(np * n1, sizeof *w->adj);
    ports_begin(&w->net, w->port, w->np);
}

static void release(spar *w)
{
    ports_end(&w->net);
    vs_free(w->z);
    vs_free(w->adj);
    vs_free(w->b);
    vs_free(w->out);
    small_feeds_fini(&w->feeds);
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
