/* shoot_cyclo.c - outputs on the orbit that shooting found, what sources and noise give to them, in
 * time.
 *
 * With z(t) = sum_r lambda_r w_sr of the output (shoot_small.h), w_sr and S_s of source s as in
 * orbit_noise.h, of a source that drives a charge z = lambda' w - j omega lambda w, its density at
 * the output is
 *   sum_p |H_p|^2 S_s(|f + p f_0|),   H_p = integral of z exp(j p omega_0 t)
 * which of white sources is S_s T integral of |z|^2: from all sidebands. Of others it is summed
 * over p, until what |z|^2 has beyond is nothing; if that is more than the steps resolve, it has
 * the density of the last p.
 * An output of sideband k is the mean of the envelope of f + k f_0. */
#include "cyclo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vec.h"

/* What sidebands beyond the last that is summed may have of the power. */
static const double beyond = 1e-10;

/* Of an output: `by` times the mean of the envelope of f + k f_0, or a sample. */
typedef struct side {
    hb_cplx *lambda; /* [points][n] */
    hb_cplx *direct; /* [n] of a sample, NULL: it is none */
    int32_t k;
    hb_cplx by;
    double omega;                /* of the envelope */
    small_feeds feeds;           /* without a lambda of its own: */
    hb_cplx *fed, *fed_directly; /* as lambda and direct, of what gmin alone carries */
} side;

typedef struct slot {
    side side[CYCLO_SIDES];
    int32_t n_side;
    cyclo_view view; /* of which it is */
} slot;

struct shoot_cyclo {
    shoot_small e;
    const cyclo_plan *p;
    orbit_noise noise;  /* empty without noise */
    bool *white;        /* vec, of each source: its density is that at 1 Hz everywhere */
    slot *slot;         /* [n_view] */
    hb_cplx *z, *slope; /* [CYCLO_SIDES][points], [points] scratch */
};

static size_t n_point(const shoot_cyclo *w) { return vec_len(w->e.quad.point); }

static double square(hb_cplx z) { return creal(z) * creal(z) + cimag(z) * cimag(z); }

/* -- the sources -- */

/* All sources at point i. */
static vs_status take_point(shoot_cyclo *w, size_t i)
{
    ana_shot *s = w->e.s;
    const shoot_point *p = &w->e.quad.point[i];
    const ckt_env env = {.mode = CKT_TRAN,
                         .time = s->t0 + p->part * s->period,
                         .alpha = 1 / s->period,
                         .gmin = s->a->opt.gmin,
                         .srcfact = 1,
                         .iter = 1};
    const vs_status st = ckt_load_ac(s->a->c, &env, s->xs + (size_t)p->node * s->n1, true, w->e.one,
                                     w->e.one + s->nnz + 1);
    if (st != VS_OK)
        return shoot_small_tell(&w->e, p->part, st);
    orbit_noise_take(&w->noise, i);
    return VS_OK;
}

static vs_status find_sources(shoot_cyclo *w)
{
    vs_status st = VS_OK;
    orbit_noise_end(&w->noise);
    vec_clear(w->white);
    w->noise.n_point = n_point(w);
    for (size_t i = 0; i < n_point(w) && w->p->noise && st == VS_OK; i++)
        st = take_point(w, i);
    for (size_t k = 0; k < vec_len(w->noise.source) && st == VS_OK; k++) {
        const double at_1 = orbit_noise_density(&w->noise, k, 1);
        bool white = true;
        for (double f = 1e-3; f < 1e13; f *= 3.7)
            white &= orbit_noise_density(&w->noise, k, f) == at_1;
        vec_push(w->white, white);
    }
    return st;
}

/* -- outputs -- */

static bool same_parts(const cyclo_view *a, const cyclo_view *b)
{
    bool same = a->n_at == b->n_at && a->sample == b->sample;
    for (int32_t i = 0; i < a->n_at && same; i++)
        same = a->at[i] == b->at[i] && a->by[i] == b->by[i];
    return same;
}

/* The same output and envelope in a slot before; NULL: there is none. */
static const side *solved(const shoot_cyclo *w, int32_t at, const cyclo_view *v, double omega)
{
    for (int32_t i = 0; i < at; i++)
        for (int32_t k = 0; k < w->slot[i].n_side && same_parts(&w->slot[i].view, v); k++)
            if (w->slot[i].side[k].omega == omega)
                return &w->slot[i].side[k];
    return NULL;
}

static vs_status solve_feeds(shoot_cyclo *w, side *s, double fc, const hb_cplx *weight,
                             const side *other)
{
    const size_t n = (size_t)w->e.n, all = n_point(w) * n;
    s->fed = vs_realloc(s->fed, (all + 1) * sizeof *s->fed);
    if (s->direct && !s->fed_directly)
        s->fed_directly = vs_calloc(n + 1, sizeof *s->fed_directly);
    if (!other)
        return shoot_small_feeds(&w->e, fc, weight, s->direct, s->lambda, &s->feeds,
                                 s->fed_directly, s->fed);
    s->feeds = other->feeds;
    memcpy(s->fed, other->fed, all * sizeof *s->fed);
    return VS_OK;
}

vs_status shoot_cyclo_solve(shoot_cyclo *w, int32_t at, const cyclo_view *v, double f)
{
    slot *to = &w->slot[at];
    const size_t n = (size_t)w->e.n;
    hb_cplx *weight = vs_calloc(n + 1, sizeof *weight);
    vs_status st = VS_OK;
    for (int32_t i = 0; i < v->n_at; i++)
        weight[v->at[i] - 1] += v->by[i];
    to->n_side = v->sample ? 1 : v->n_side;
    for (int32_t k = 0; k < to->n_side && st == VS_OK; k++) {
        side *s = &to->side[k];
        s->k = v->sample ? 0 : v->side[k];
        s->by = v->sample ? 1 : v->gain[k];
        const double fc = f + s->k / w->e.s->period;
        s->omega = 2 * M_PI * fc;
        s->lambda = vs_realloc(s->lambda, (n_point(w) * n + 1) * sizeof *s->lambda);
        if (v->sample && !s->direct)
            s->direct = vs_calloc(n + 1, sizeof *s->direct);
        const side *other = solved(w, at, v, s->omega);
        if (other)
            memcpy(s->lambda, other->lambda, n_point(w) * n * sizeof *s->lambda);
        else
            st = shoot_small_adjoint(&w->e, fc, weight, s->direct, s->lambda);
        if (st == VS_OK && w->e.levels)
            st = solve_feeds(w, s, fc, weight, other);
    }
    to->view = *v;
    vs_free(weight);
    return st;
}

/* z of one source for a side of an output, [points]. */
static void modulate(const shoot_cyclo *w, size_t source, const side *s, hb_cplx *z)
{
    const orbit_source *c = &w->noise.source[source];
    const size_t n = (size_t)w->e.n, np = n_point(w);
    memset(z, 0, np * sizeof *z);
    for (size_t g = c->first; g < c->end; g++) {
        const orbit_row *m = &w->noise.row[g];
        const hb_cplx *lambda = s->lambda + m->row - 1;
        if (m->rate)
            shoot_quad_slopes(&w->e.quad, lambda, n, w->slope);
        for (size_t i = 0; i < np; i++)
            z[i] += m->w[i] * (m->rate ? w->slope[i] / w->e.s->period - I * s->omega * lambda[i * n]
                                       : lambda[i * n]);
    }
}

/* The sum of all sides at point i, in the envelope of f. */
static hb_cplx joined(const shoot_cyclo *w, const slot *o, const hb_cplx *z, size_t i)
{
    const size_t np = n_point(w);
    hb_cplx sum = 0;
    if (o->n_side == 1) /* its turn does not change the size */
        return o->side[0].by * z[i];
    for (int32_t k = 0; k < o->n_side; k++)
        sum += o->side[k].by * z[(size_t)k * np + i] *
               cexp(-2 * M_PI * I * o->side[k].k * w->e.quad.point[i].part);
    return sum;
}

static hb_cplx sum_of(shoot_quad *q, int32_t p, const hb_cplx *z, size_t stride)
{
    const hb_cplx *to = shoot_quad_fourier(q, p);
    hb_cplx sum = 0;
    for (size_t i = 0; i < vec_len(q->point); i++)
        sum += to[i] * z[i * stride];
    return sum;
}

/* H_p of an output. *known: the steps resolve it. */
static hb_cplx transfer(const shoot_cyclo *w, const slot *o, const hb_cplx *z, int32_t p,
                        bool *known)
{
    shoot_quad *q = (shoot_quad *)&w->e.quad; /* makes weights at their first use */
    hb_cplx h = 0;
    for (int32_t k = 0; k < o->n_side; k++) {
        *known &= abs(p - o->side[k].k) <= q->most;
        if (*known)
            h += o->side[k].by * sum_of(q, p - o->side[k].k, z + (size_t)k * n_point(w), 1);
    }
    return h;
}

/* 0, 1, -1, 2, -2, ... */
static int32_t sideband(int32_t k) { return k % 2 ? (k + 1) / 2 : -k / 2; }

double shoot_cyclo_density(const shoot_cyclo *w, size_t source, int32_t at, double f)
{
    const slot *o = &w->slot[at];
    const size_t np = n_point(w);
    double power = 0, sum = 0, last = 0;
    for (int32_t k = 0; k < o->n_side; k++)
        modulate(w, source, &o->side[k], w->z + (size_t)k * np);
    for (size_t i = 0; i < np; i++)
        power += w->e.quad.weight[i] * square(joined(w, o, w->z, i));
    if (w->white[source])
        return fmax(power, 0) * orbit_noise_density(&w->noise, source, 1);
    double rest = power;
    bool known = true;
    for (int32_t k = 0; rest > beyond * power; k++) {
        const int32_t p = sideband(k);
        const hb_cplx h = transfer(w, o, w->z, p, &known);
        if (!known)
            break;
        last = orbit_noise_sideband(&w->noise, source, f, p / w->e.s->period);
        sum += square(h) * last;
        rest -= square(h);
    }
    return sum + fmax(rest, 0) * last;
}

/* The correlation of two outputs by one source, of which z are at `zi` and `zj`. */
static hb_cplx correlate(const shoot_cyclo *w, size_t source, const slot *oi, const hb_cplx *zi,
                         const slot *oj, const hb_cplx *zj, double f)
{
    hb_cplx power = 0, sum = 0;
    double size = 0, last = 0;
    for (size_t i = 0; i < n_point(w); i++) {
        const hb_cplx turn =
            cexp(-2 * M_PI * I * (oi->side[0].k - oj->side[0].k) * w->e.quad.point[i].part);
        const hb_cplx a = joined(w, oi, zi, i), b = joined(w, oj, zj, i);
        power += w->e.quad.weight[i] * a * conj(b) * turn;
        size += w->e.quad.weight[i] * (square(a) + square(b)) / 2;
    }
    if (w->white[source])
        return power * orbit_noise_density(&w->noise, source, 1);
    bool known = true;
    for (int32_t k = 0; size > 0; k++) {
        const int32_t p = sideband(k);
        const hb_cplx a = transfer(w, oi, zi, p, &known), b = transfer(w, oj, zj, p, &known);
        if (!known || (k > 8 && cabs(power) < beyond * size))
            break;
        last = orbit_noise_sideband(&w->noise, source, f, p / w->e.s->period);
        sum += a * conj(b) * last;
        power -= a * conj(b);
    }
    return sum + power * last;
}

void shoot_cyclo_correlation(const shoot_cyclo *w, int32_t n, double f, hb_cplx *to)
{
    const size_t np = n_point(w);
    hb_cplx *z = vs_calloc((size_t)n * np + 1, sizeof *z);
    memset(to, 0, (size_t)n * (size_t)n * sizeof *to);
    for (size_t s = 0; s < vec_len(w->noise.source); s++) {
        for (int32_t i = 0; i < n; i++)
            modulate(w, s, &w->slot[i].side[0], z + (size_t)i * np);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++)
                to[i * n + j] += correlate(w, s, &w->slot[i], z + (size_t)i * np, &w->slot[j],
                                           z + (size_t)j * np, f);
    }
    vs_free(z);
}

static void drive(const shoot_cyclo *w, const slot *o, int32_t number)
{
    const ckt_source_facts v = ckt_source_at(w->e.s->a->c, number);
    for (int32_t k = 0; k < o->n_side; k++)
        for (size_t i = 0; i < n_point(w); i++)
            w->z[(size_t)k * n_point(w) + i] =
                cyclo_of_source(&v, o->side[k].lambda + i * (size_t)w->e.n, 1);
}

hb_cplx shoot_cyclo_gain(const shoot_cyclo *w, int32_t at, int32_t number, int32_t k)
{
    bool known = true;
    const slot *o = &w->slot[at];
    const ckt_source_facts v = ckt_source_at(w->e.s->a->c, number);
    drive(w, o, number);
    hb_cplx h = transfer(w, o, w->z, k, &known);
    if (o->view.sample)
        h += cyclo_of_source(&v, o->side[0].direct, 1) * cexp(2 * M_PI * I * k * o->view.part);
    return h;
}

double shoot_cyclo_gains(const shoot_cyclo *w, int32_t at, int32_t number)
{
    double sum = 0;
    drive(w, &w->slot[at], number);
    for (size_t i = 0; i < n_point(w); i++)
        sum += w->e.quad.weight[i] * square(joined(w, &w->slot[at], w->z, i));
    return sum;
}

/* -- what gmin alone carries -- */

double shoot_cyclo_gain_share(const shoot_cyclo *w, int32_t at, int32_t number, int32_t k)
{
    shoot_quad *q = (shoot_quad *)&w->e.quad; /* makes weights at their first use */
    const slot *o = &w->slot[at];
    const ckt_source_facts v = ckt_source_at(w->e.s->a->c, number);
    const size_t n = (size_t)w->e.n;
    small_feeds_sum sum = {0};
    for (int32_t m = 0; m < o->n_side; m++) {
        const side *s = &o->side[m];
        if (!s->feeds.any || abs(k - s->k) > q->most)
            continue;
        const hb_cplx *to = shoot_quad_fourier(q, k - s->k);
        for (size_t i = 0; i < n_point(w); i++)
            cyclo_add_source(&sum, &s->feeds, &v, s->fed + i * n, 1, s->by * to[i]);
        if (s->direct)
            cyclo_add_source(&sum, &s->feeds, &v, s->fed_directly, 1,
                             cexp(2 * M_PI * I * k * o->view.part));
    }
    return small_feeds_share(&sum);
}

/* Of one source at point i, per root of its density: by its rows, whose charges turn with omega. */
static double share_at(const shoot_cyclo *w, size_t source, const slot *o, size_t i)
{
    const orbit_source *c = &w->noise.source[source];
    small_feeds_sum sum = {0};
    for (int32_t k = 0; k < o->n_side; k++) {
        const side *s = &o->side[k];
        const hb_cplx turn =
            o->n_side > 1 ? cexp(-2 * M_PI * I * s->k * w->e.quad.point[i].part) : 1;
        for (size_t g = c->first; g < c->end && s->feeds.any; g++) {
            const orbit_row *m = &w->noise.row[g];
            const hb_cplx b = s->by * turn * m->w[i] * (m->rate ? -I * s->omega : 1);
            small_feeds_add_term(&sum, (const double *)(s->fed + i * (size_t)w->e.n + m->row - 1),
                                 creal(b), cimag(b), s->feeds.least);
        }
    }
    return small_feeds_share(&sum);
}

double shoot_cyclo_noise_share(const shoot_cyclo *w, int32_t at, double f)
{
    double all = 0;
    for (size_t s = 0; s < vec_len(w->noise.source); s++) {
        double power = 0;
        for (size_t i = 0; i < n_point(w); i++) {
            const double share = share_at(w, s, &w->slot[at], i);
            power += w->e.quad.weight[i] * share * share;
        }
        if (power > 0)
            all += power * orbit_noise_density(&w->noise, s, fabs(f) > 0 ? fabs(f) : 1);
    }
    return sqrt(all);
}

int32_t shoot_cyclo_fed_node(const shoot_cyclo *w, int32_t at)
{
    const slot *o = &w->slot[at];
    int32_t node = 0;
    for (int32_t k = 0; k < o->n_side; k++)
        node = node ? node : o->side[k].feeds.node;
    return node;
}

static bool is_open(const shoot_cyclo *w, int32_t at, int32_t number)
{
    return w->e.levels && small_feeds_are_all(shoot_cyclo_gain_share(w, at, number, 0),
                                              cabs(shoot_cyclo_gain(w, at, number, 0)));
}

/* -- steps -- */

static double integral(const shoot_cyclo *w, const double *g)
{
    double sum = 0;
    for (size_t i = 0; i < n_point(w); i++)
        sum += w->e.quad.weight[i] * g[i];
    return sum;
}

/* Raises the errors of steps by what their cubics and those through one point less differ, of the
 * integral of g [points] over the period; least: of it, of which the tolerance is a part. */
static void judge(const shoot_cyclo *w, const double *g, double least)
{
    const shoot_quad *q = &w->e.quad;
    const size_t n = vec_len(q->rule);
    const double tol = w->e.s->reltol * fmax(integral(w, g), least) / (double)n;
    for (size_t k = 0; k < n && tol > 0; k++) {
        const shoot_rule *r = &q->rule[k];
        double miss = 0;
        for (int32_t m = 0; m < r->n; m++)
            miss += (r->whole[m] - r->less[m]) * g[r->from + m];
        w->e.s->step[k].error = fmax(w->e.s->step[k].error, fabs(miss) / tol);
    }
}

/* The largest that a source anywhere could give: of a voltage (its row is that of a current), else
 * of a current. */
static double largest_gain(const shoot_cyclo *w, const slot *o, bool is_v, double *g)
{
    const ckt_unknown *u = w->e.s->a->u;
    const size_t n = (size_t)w->e.n, np = n_point(w);
    double most = 0;
    for (size_t r = 0; r < n; r++) {
        if ((u[r + 1].kind == CKT_CURRENT) != is_v)
            continue;
        for (int32_t k = 0; k < o->n_side; k++)
            for (size_t i = 0; i < np; i++)
                w->z[(size_t)k * np + i] = o->side[k].lambda[i * n + r];
        for (size_t i = 0; i < np; i++)
            g[i] = square(joined(w, o, w->z, i));
        most = fmax(most, integral(w, g));
    }
    return most;
}

static void judge_gains(const shoot_cyclo *w, int32_t at, double *g)
{
    const slot *o = &w->slot[at];
    const double least = w->p->least * w->p->least;
    double most[2];
    for (int is_v = 0; is_v < 2; is_v++)
        most[is_v] = least > 0 ? least * largest_gain(w, o, is_v, g) : 0;
    for (int32_t k = 0; k < w->p->n_in; k++) {
        if (is_open(w, at, w->p->source[k])) /* no gain, whose steps could be too long */
            continue;
        drive(w, o, w->p->source[k]);
        for (size_t i = 0; i < n_point(w); i++)
            g[i] = square(joined(w, o, w->z, i));
        judge(w, g, most[ckt_source_at(w->e.s->a->c, w->p->source[k]).is_v]);
    }
}

/* What a slot has of noise, if sources keep their density at f, and of gains. */
static void judge_slot(const shoot_cyclo *w, int32_t at, double f)
{
    const slot *o = &w->slot[at];
    const size_t np = n_point(w);
    double *g = vs_calloc(np + 1, sizeof *g);
    for (size_t s = 0; s < vec_len(w->noise.source); s++) {
        for (int32_t k = 0; k < o->n_side; k++)
            modulate(w, s, &o->side[k], w->z + (size_t)k * np);
        const double by = orbit_noise_density(&w->noise, s, fabs(f) > 0 ? fabs(f) : 1);
        for (size_t i = 0; i < np; i++)
            g[i] += by * square(joined(w, o, w->z, i));
    }
    judge(w, g, 0);
    judge_gains(w, at, g);
    vs_free(g);
}

/* White noise that a sample follows at once has no bound. */
static void tell_direct(const shoot_cyclo *w)
{
    static const double much = 1e-3; /* of what the last step before the sample has */
    const slot *o = &w->slot[0];
    const shoot_small *e = &w->e;
    size_t at = 0;
    if (!w->p->view[0].sample)
        return;
    while (w->e.quad.point[at].node != e->sample)
        at++;
    const double h = w->e.quad.point[at].part - w->e.quad.point[at - 1].part;
    for (size_t i = 0; i < vec_len(w->noise.source); i++) {
        double direct = 0, before = 0;
        const orbit_source *c = &w->noise.source[i];
        for (size_t g = c->first; g < c->end; g++) {
            const size_t r = (size_t)w->noise.row[g].row - 1;
            const double by = fabs(w->noise.row[g].w[at]);
            direct += by * cabs(o->side[0].direct[r]);
            before += by * cabs(o->side[0].lambda[at * (size_t)e->n + r]) * h;
        }
        if (direct <= much * before || w->noise.row[c->first].rate)
            continue;
        diag_warning(
            e->s->a->d, w->p->span,
            "noise of %s is in the samples with no capacitance before them, so that it has "
            "no bound: only what capacitors hold is counted",
            w->noise.origin[w->noise.origin[w->noise.origin_of[i]].owner].name);
        return;
    }
}

static vs_status judge_at(shoot_cyclo *w, double f)
{
    vs_status st = VS_OK;
    for (int32_t v = 0; v < w->p->n_view && st == VS_OK; v++) {
        st = shoot_cyclo_solve(w, v, &w->p->view[v], f);
        if (st == VS_OK)
            judge_slot(w, v, f);
    }
    return st;
}

static void make_room(shoot_cyclo *w)
{
    const size_t np = n_point(w);
    w->z = vs_realloc(w->z, (CYCLO_SIDES * np + 1) * sizeof *w->z);
    w->slope = vs_realloc(w->slope, (np + 1) * sizeof *w->slope);
}

/* Parts of the tolerance add up to that of the integral. */
static double mean_error(const shoot_cyclo *w)
{
    const shoot_step *step = w->e.s->step;
    double sum = 0;
    for (size_t k = 0; k < vec_len(step); k++)
        sum += step[k].error;
    return sum / (double)vec_len(step);
}

static vs_status refine(shoot_cyclo *w)
{
    bool done = false;
    vs_status st = VS_OK;
    while (st == VS_OK && !done) {
        make_room(w);
        st = find_sources(w);
        for (size_t k = 0; k < vec_len(w->e.s->step); k++)
            w->e.s->step[k].error = 0;
        if (st == VS_OK)
            st = judge_at(w, w->p->from);
        if (st == VS_OK && w->p->to != w->p->from)
            st = judge_at(w, w->p->to);
        if (st == VS_OK)
            st = shoot_small_refine(&w->e, mean_error(w), &done);
    }
    if (st == VS_OK)
        tell_direct(w);
    return st;
}

vs_status shoot_cyclo_begin(shoot_cyclo **to, ana_shot *s, const cyclo_plan *p, const small *levels)
{
    shoot_cyclo *w = *to = vs_calloc(1, sizeof *w);
    const bool sample = p->n_view > 0 && p->view[0].sample;
    w->p = p;
    w->noise.a = s->a;
    w->slot = vs_calloc((size_t)p->n_view + 1, sizeof *w->slot);
    const vs_status st = shoot_small_begin(&w->e, s, p->t, sample ? p->view[0].part : NAN);
    ckt_level l;
    for (size_t i = 0; levels && small_next_level(levels, &i, &l);)
        w->e.n_level++;
    w->e.levels = levels;
    return st == VS_OK ? refine(w) : st;
}

void shoot_cyclo_end(shoot_cyclo **to)
{
    shoot_cyclo *w = *to;
    *to = NULL;
    if (!w)
        return;
    for (int32_t v = 0; v < w->p->n_view; v++)
        for (int32_t k = 0; k < CYCLO_SIDES; k++) {
            vs_free(w->slot[v].side[k].lambda);
            vs_free(w->slot[v].side[k].direct);
            vs_free(w->slot[v].side[k].fed);
            vs_free(w->slot[v].side[k].fed_directly);
        }
    vs_free(w->slot);
    orbit_noise_end(&w->noise);
    vec_free(w->white);
    shoot_small_end(&w->e);
    vs_free(w->z);
    vs_free(w->slope);
    vs_free(w);
}

const orbit_noise *shoot_cyclo_noise(const shoot_cyclo *w) { return &w->noise; }

/* -- the state -- */

static double output_of(const ana_shot *s, const ana_output *out, size_t node)
{
    const double *x = s->xs + node * s->n1;
    return x[out->hi] - x[out->lo];
}

hb_cplx shoot_cyclo_phasor(const ana_shot *s, const ana_output *out, int32_t k, double *most)
{
    shoot_quad q;
    hb_cplx *v = NULL;
    *most = 0;
    for (size_t i = 0; i <= vec_len(s->step); i++) {
        vec_push(v, (hb_cplx)output_of(s, out, i));
        *most = fmax(*most, fabs(creal(vec_last(v))));
    }
    shoot_quad_begin(&q, s, -1, abs(k));
    const hb_cplx z = sum_of(&q, -k, v, 1);
    shoot_quad_end(&q);
    vec_free(v);
    return z;
}

/* On the cubic of the step. */
double shoot_cyclo_output_at(const ana_shot *s, const ana_output *out, double part, double *slope)
{
    enum { N = SHOOT_STENCIL };
    const int32_t n = (int32_t)vec_len(s->step), k = shoot_node_at(s, part > 0 ? part : 1) - 1;
    int32_t first = k, last = k + 1;
    while (first > k - 2 && first > 0 && !s->step[first].fresh)
        first--;
    while (last < first + N - 1 && last < n && !s->step[last].fresh)
        last++;
    first = last - first >= N ? last - N + 1 : first;
    double t[N], value[N], rate[N], v = 0;
    for (int32_t m = first; m <= last; m++)
        t[m - first] = m ? s->step[m - 1].end : 0;
    shoot_weights(t, last - first + 1, part > 0 ? part : 1, value, rate, NULL);
    *slope = 0;
    for (int32_t m = first; m <= last; m++) {
        v += value[m - first] * output_of(s, out, (size_t)m);
        *slope += rate[m - first] * output_of(s, out, (size_t)m) / s->period;
    }
    return v;
}
