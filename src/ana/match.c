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
    small s, dc;             /* of the frequencies; of the static equations */
    cplx *y, *z, *w;         /* [n+1] */
    double *part;            /* [n+1] */
    double *sum;             /* [n_param] */
    ckt_vary_entry *entry;   /* vec: A_p */
    ckt_curve *curve;        /* vec: A_x */
    cplx *row;               /* [1 + n_param] */
    small_feeds feeds[2];    /* of the output: of rows of A, of F_p */
    small_shares share;      /* of dv/dp */
    ckt_vary_entry *current; /* vec: F_p; made when they are needed */
    bool has_current;
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

/* -- what gmin alone carries (feeds.c) --
 * lambda in place of y: the share of dv/dp is -lambda' A_p z + (w_lambda + lambda_w)' F_p, where
 * F_x' w_lambda = g of lambda, and lambda_w has the feeds of w. */

static vs_status find_currents(match *m)
{
    const ckt_env env = small_env(m->dc.a);
    m->has_current = true;
    return ckt_vary_currents(m->o->vary, &env, m->dc.x, &m->current);
}

/* sign * F_p, by feeds[1] */
static vs_status share_currents(match *m, double sign)
{
    const vs_status st = m->feeds[1].any && !m->has_current ? find_currents(m) : VS_OK;
    if (st == VS_OK)
        small_shares_add(
            &m->share, &m->feeds[1], &m->dc,
            &(small_moved){
                .sign = sign, .entry = m->current, .push = m->o->push, .n_push = m->o->n_push});
    return st;
}

static double size_of(cplx z) { return hypot(creal(z), cimag(z)); }

/* dv/dp, or what gmin has of it. */
static cplx part_of(const match *m, size_t p, bool share)
{
    double re, im;
    if (!share)
        return m->row[1 + p];
    small_shares_value(&m->share, p, &re, &im);
    return re + I * im;
}

/* The output's deviation. *loudest: of a number that has most of it. */
static double deviation(const match *m, bool share, size_t *loudest)
{
    double sum = 0, most = 0;
    for (size_t k = 0; k < m->o->n_variance; k++) {
        const ana_variance *v = &m->o->variance[k];
        const double d = v->w * creal(conj(part_of(m, v->i, share)) * part_of(m, v->j, share));
        sum += d;
        *loudest = v->i == v->j && d > most ? v->i : *loudest;
        most = v->i == v->j ? fmax(most, d) : most;
    }
    return sum > 0 ? sqrt(sum) : 0;
}

/* Numbers of which gmin has it all, where that matters beside the deviation; they may be in balance
 * with others. */
static void find_none(match *m, small *s, double sigma)
{
    small_feeds *w = &m->feeds[0];
    for (size_t k = 0; k < m->o->n_variance; k++) {
        const ana_variance *v = &m->o->variance[k];
        const double share = size_of(part_of(m, v->i, true)),
                     all = size_of(part_of(m, v->i, false));
        if (v->i == v->j && small_feeds_are_all(share, all) &&
            sqrt(v->w) * share > m->dc.a->opt.reltol * sigma) {
            m->o->none[v->i] = true;
            w->node = m->share.node[v->i];
            small_feeds_tell_none(w, s, NULL, m->o->name[v->i]);
        }
    }
}

static vs_status judge(match *m, small *s, double f)
{
    size_t loudest = 0, by = 0;
    const double share = deviation(m, true, &by), value = deviation(m, false, &loudest);
    const small_answer v = {
        .f = f,
        .value = value,
        .share = share,
        .node = m->share.node[by],
        .what = arena_printf(&s->a->d->mem, "the deviation by '%s' and the like", m->o->name[by])};
    const vs_status st = share > 0 ? small_feeds_judge(&m->feeds[0], s, &v) : VS_OK;
    if (st == VS_OK)
        find_none(m, s, value);
    return st;
}

static void begin_shares(match *m)
{
    small_shares_end(&m->share);
    small_shares_begin(&m->share, m->o->n_param);
}

static vs_status judge_dc(match *m)
{
    small_feeds_tell_level(&m->feeds[1], &m->dc, &m->o->out, (double *)m->y);
    if (!small_feeds_of(&m->feeds[1], &m->dc, (double *)m->y))
        return VS_OK;
    begin_shares(m);
    const vs_status st = share_currents(m, 1);
    return st == VS_OK ? judge(m, &m->dc, 0) : st;
}

/* -- the operating point -- */

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
    st = add_paired(m, m->y, -1);
    return st == VS_OK ? judge_dc(m) : st;
}

/* -- frequencies -- */

/* w of the head of this file. */
static void follow_point(match *m, const cplx *y, double omega)
{
    memset(m->w, 0, ((size_t)m->dc.a->n + 1) * sizeof *m->w);
    for (size_t k = 0; k < vec_len(m->curve); k++) {
        const ckt_curve *e = &m->curve[k];
        m->w[e->by] += y[e->row] * (e->g + I * omega * e->c) * m->z[e->col];
    }
    small_solve_t(&m->dc, (double *)m->w);
}

/* w: of y. */
static vs_status judge_ac(match *m, double f)
{
    const double omega = 2 * acos(-1) * f;
    small_feeds *of_a = &m->feeds[0], *of_f = &m->feeds[1];
    small_feeds_tell_level(of_a, &m->s, &m->o->out, (double *)m->y);
    const bool by_a = small_feeds_of(of_a, &m->s, (double *)m->y),
               by_f = small_feeds_of(of_f, &m->dc, (double *)m->w);
    if (!by_a && !by_f)
        return VS_OK;
    begin_shares(m);
    if (by_a) {
        follow_point(m, (const cplx *)of_a->lambda, omega);
        small_feeds_follow(of_f, &m->dc, (double *)m->w);
        small_shares_add(
            &m->share, of_a, &m->s,
            &(small_moved){
                .sign = 1, .entry = m->entry, .omega = omega, .z = (const double *)m->z});
    }
    const vs_status st = share_currents(m, -1);
    return st == VS_OK ? judge(m, &m->s, f) : st;
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
    st = small_refuse_fed(&m->s, (double *)m->z, f);
    if (st != VS_OK)
        return st;
    clear(m);
    m->row[0] = m->z[out->hi] - m->z[out->lo];
    follow_point(m, m->y, omega);
    st = add_paired(m, m->w, 1);
    for (size_t k = 0; k < vec_len(m->entry); k++) {
        const ckt_vary_entry *e = &m->entry[k];
        m->row[1 + e->param] -= m->y[e->row] * (e->g + I * omega * e->c) * m->z[e->col];
    }
    if (st == VS_OK)
        st = judge_ac(m, f);
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
    for (int k = 0; k < 2; k++)
        small_feeds_fini(&m.feeds[k]);
    small_shares_end(&m.share);
    vec_free(m.current);
    vec_free(m.entry);
    vec_free(m.curve);
    return st;
}
