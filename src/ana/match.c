/* match.c - how an output moves with random numbers of the circuit's elements, by the adjoint
 * method: one solution a point, whatever their number. F(x, p) = 0 at the operating point x.
 * dc:  F_x' y = c (c the output's unit vector), dv/dp = -y' F_p.
 * ac:  A z = b, A = G + j omega C, A' y = c, v = c' z. A changes with p, and with x, which p moves:
 *      dv/dp = -y' A_p z + w' F_p,   F_x' w = g,   g_i = sum_kl y_k dA_kl/dx_i z_l.
 *      The derivatives dA_kl/dx_i of each device are made once (ckt_curve.h).
 * Source: Director & Rohrer, IEEE Trans. Circuit Theory 16(3), 1969; Oehm & Schumacher, IEEE J.
 *         Solid-State Circuits 28(10), 1993. */
#include <math.h>
#include <string.h>

#include "ckt_curve.h"
#include "small.h"
#include "vec.h"

#include "cplx.h" /* last */

typedef struct match {
    const ana_match_opt *o;
    small s, dc;           /* of the frequencies; of the static equations */
    cplx *y, *z, *w;       /* [n+1] */
    double *part;          /* [n+1] */
    double *sum;           /* [n_param] */
    ckt_vary_entry *entry; /* vec: A_p */
    ckt_curve *curve;      /* vec: A_x */
    cplx *row;             /* [1 + n_param] */
} match;

/* sum [n_param] = f' F_p, f [n+1] */
static vs_status pair(match *m, const double *f)
{
    ana *a = m->dc.a;
    const ckt_env env = small_env(a);
    const ckt_pairing with = {f, NULL};
    memset(m->sum, 0, (m->o->n_param + 1) * sizeof *m->sum);
    const vs_status st = ckt_vary_sum(m->o->vary, &env, m->dc.x, &with, 1, m->o->n_param, m->sum);
    if (st == VS_NOCONV)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives no finite value with its parameters a little off");
    for (size_t i = 0; i < m->o->n_push && st == VS_OK; i++) {
        const ana_push *p = &m->o->push[i];
        const ckt_source_facts v = ckt_source_at(a->c, p->source);
        m->sum[p->param] += p->by * (v.is_v ? -f[v.k] : (v.p ? f[v.p] : 0) - (v.n ? f[v.n] : 0));
    }
    return st;
}

/* row [1 + p] += sign w' F_p */
static vs_status add_paired(match *m, const cplx *w, double sign)
{
    vs_status st = VS_OK;
    for (int k = 0; k < 2 && st == VS_OK; k++) {
        double any = 0;
        for (int32_t i = 0; i <= m->dc.a->n; i++) {
            m->part[i] = k ? cimag(w[i]) : creal(w[i]);
            any += fabs(m->part[i]);
        }
        if (any == 0)
            continue;
        st = pair(m, m->part);
        for (size_t p = 0; p < m->o->n_param && st == VS_OK; p++)
            m->row[1 + p] += sign * m->sum[p] * (k ? I : 1);
    }
    return st;
}

static void clear(const match *m) { memset(m->row, 0, (m->o->n_param + 1) * sizeof *m->row); }

static vs_status at_dc(match *m)
{
    const ana_output *out = &m->o->out;
    vs_status st = small_factor(&m->dc, 0);
    if (st != VS_OK)
        return st;
    small_adjoint(&m->dc, out, (double *)m->y);
    small_solve_t(&m->dc, (double *)m->y);
    clear(m);
    m->row[0] = m->dc.x[out->hi] - (out->lo ? m->dc.x[out->lo] : 0);
    return add_paired(m, m->y, -1);
}

/* w of the head of this file. */
static void follow_point(match *m, double omega)
{
    memset(m->w, 0, ((size_t)m->dc.a->n + 1) * sizeof *m->w);
    for (size_t k = 0; k < vec_len(m->curve); k++) {
        const ckt_curve *e = &m->curve[k];
        m->w[e->by] += m->y[e->row] * (e->g + I * omega * e->c) * m->z[e->col];
    }
    small_solve_t(&m->dc, (double *)m->w);
}

static vs_status at_frequency(void *work, double f)
{
    match *m = work;
    const double omega = 2 * acos(-1) * f;
    const ana_output *out = &m->o->out;
    vs_status st = small_factor(&m->s, omega);
    if (st != VS_OK)
        return st;
    small_adjoint(&m->s, out, (double *)m->y);
    small_solve_t(&m->s, (double *)m->y);
    ckt_ac_drive(m->s.a->c, (double *)m->z);
    small_solve(&m->s, (double *)m->z);
    clear(m);
    m->row[0] = m->z[out->hi] - m->z[out->lo];
    follow_point(m, omega);
    st = add_paired(m, m->w, 1);
    for (size_t k = 0; k < vec_len(m->entry); k++) {
        const ckt_vary_entry *e = &m->entry[k];
        m->row[1 + e->param] -= m->y[e->row] * (e->g + I * omega * e->c) * m->z[e->col];
    }
    return st == VS_OK ? m->o->row(m->o->user, f, (const double *)m->row) : st;
}

static vs_status sweep(match *m, const ana_sink *sink)
{
    double *f = ana_frequencies(m->o->freq);
    vs_status st = small_factor(&m->dc, 0);
    if (st == VS_OK)
        st = freq_run(m->s.a, &(freq_sweep){f, vec_len(f), at_frequency, m}, sink);
    vec_free(f);
    return st;
}

static vs_status begin_ac(match *m, ana *a)
{
    const ckt_env env = small_env(a);
    vs_status st = small_begin(&m->s, a, false);
    if (st == VS_OK && m->s.by_freq) {
        diag_error(a->d, DIAG_NOWHERE,
                   ".acmatch: expressions of hertz have no derivative by the operating point here");
        st = VS_EUNSUPPORTED;
    }
    if (st != VS_OK)
        return st;
    small_loosen(&m->s, false);
    st = ckt_vary_entries(m->o->vary, &env, m->s.x, false, &m->entry);
    if (st == VS_OK)
        st = ckt_curves(a->c, &env, m->s.x, &m->curve, NULL);
    if (st == VS_NOCONV)
        diag_error(a->d, DIAG_NOWHERE,
                   "a device gives no finite value with its parameters a little off, or no finite "
                   "derivative");
    return st;
}

vs_status ana_match(ana *a, const ana_match_opt *o, const ana_sink *sink)
{
    match m = {.o = o};
    const size_t n1 = (size_t)a->n + 1;
    cplx **const of_unknowns[] = {&m.y, &m.z, &m.w};
    for (size_t k = 0; k < VS_COUNT(of_unknowns); k++)
        *of_unknowns[k] = vs_calloc(n1, sizeof(cplx));
    m.part = vs_calloc(n1, sizeof *m.part);
    m.sum = vs_calloc(o->n_param + 1, sizeof *m.sum);
    m.row = vs_calloc(o->n_param + 1, sizeof *m.row);
    vs_status st = small_begin_static(&m.dc, a);
    if (st == VS_OK && o->freq)
        st = begin_ac(&m, a);
    if (st == VS_OK && o->freq)
        st = sweep(&m, sink);
    else if (st == VS_OK)
        st = at_dc(&m);
    if (st == VS_OK && !o->freq) {
        a->st.points_accepted++;
        st = o->row(o->user, 0, (const double *)m.row);
    }
    small_fini(&m.dc);
    if (o->freq)
        small_fini(&m.s);
    void *const own[] = {m.y, m.z, m.w, m.part, m.sum, m.row};
    for (size_t k = 0; k < VS_COUNT(own); k++)
        vs_free(own[k]);
    vec_free(m.entry);
    vec_free(m.curve);
    return st;
}
