/* shoot_small.c - small signals in time, on the orbit that shooting found. See shoot_small.h. */
#include "shoot_small.h"

#include <math.h>
#include <string.h>

#include "ckt.h"
#include "full.h"
#include "gmres.h"
#include "vec.h"

/* Linearisations, and factors, of all stages are kept if they fit into so many bytes. */
static const double most_bytes = 1e9;
enum { MOST_ROWS = 1000, MOST_PRODUCTS = 600, RESTART = 100, MOST_LEVELS = 6 };
/* Products of one solution that GMRES may well need without a preconditioner. */
enum { FEW = 8 };
/* What GMRES leaves of a right side; of the first one, what may be left in the end, and while steps
 * are looked for. */
static const double left = 1e-8, nothing = 1e-13, enough = 1e-9, rough = 1e-4;
/* A product whose factors are made for it costs as much as so many others. */
enum { FACTORS = 25 };
/* Where charges alone are to stay, alpha is this many times 1/h. */
static const double stiff = 1e6;
/* Steps may miss this part of reltol. */
static const double step_error = 0.1;
static const double weight[SHOOT_STAGES] = {25. / 24, -49. / 48, 125. / 16, -85. / 12, 1. / 4};

/* y += by C v, or its transpose, of C at entries with charge. */
static void add_charges(const shoot_small *e, const double *c, double by, const hb_cplx *v,
                        hb_cplx *y)
{
    for (int32_t k = 0; k < e->n_entry; k++)
        y[e->at_row[k]] += by * c[k] * v[e->at_col[k]];
}

static void add_charges_t(const shoot_small *e, const double *c, double by, const hb_cplx *v,
                          hb_cplx *y)
{
    for (int32_t k = 0; k < e->n_entry; k++)
        y[e->at_col[k]] += by * c[k] * v[e->at_row[k]];
}

/* -- linearisations -- */

static int32_t nnz_of(const shoot_small *e) { return e->s->nnz; }

/* x [n+1] at stage i of step k. */
static const double *stage_x(const shoot_small *e, int32_t k, int32_t i)
{
    return e->s->stage + ((size_t)k * SHOOT_STAGES + (size_t)i) * e->s->n1;
}

vs_status shoot_small_tell(const shoot_small *e, double part, vs_status st)
{
    if (st == VS_NOCONV)
        diag_error(e->s->a->d, e->s->o.span,
                   "a device gives a conductance, capacitance or noise that is not finite on the "
                   "orbit, t = %.9g s",
                   e->s->t0 + part * e->s->period);
    return st;
}

ckt_env shoot_small_env(const ana_shot *s)
{
    return (ckt_env){.mode = CKT_TRAN, .gmin = s->a->opt.gmin, .srcfact = 1, .iter = 1};
}

static vs_status load(shoot_small *e, int32_t k, const shoot_stage *st, double *g, double *c)
{
    ana_shot *s = e->s;
    ana *a = s->a;
    ckt_env env = shoot_small_env(s);
    env.time = s->t0 + st->part * s->period;
    env.alpha = st->alpha;
    const vs_status got = ckt_load_ac(a->c, &env, stage_x(e, k, st->number), false, g, c);
    for (int32_t i = 1; i <= a->n && a->opt.rshunt > 0; i++)
        if (a->gdiag[i])
            g[a->gdiag[i] - a->jac->val] += 1 / a->opt.rshunt;
    return shoot_small_tell(e, st->part, got);
}

/* G [nnz], C [n_entry] of a stage, where they are kept or made again. */
static vs_status values(shoot_small *e, int32_t k, const shoot_stage *st, const double **g,
                        const double **c)
{
    const size_t nnz = (size_t)nnz_of(e), at = (size_t)k * SHOOT_STAGES + (size_t)st->number;
    *g = e->g ? e->g + at * nnz : e->one;
    *c = e->g ? e->c + at * (size_t)e->n_entry : e->one + nnz + 1;
    return e->g ? VS_OK : load(e, k, st, e->one, e->one + nnz + 1);
}

static vs_status singular(const shoot_small *e, const lu_z *lu, double part, double omega)
{
    ana *a = e->s->a;
    diag_error(a->d, e->s->o.span,
               "the small-signal matrix of a step is singular at %s, t = %.9g s, %.6g Hz",
               lu->singular >= 0 ? ana_unknown_text(a, lu->singular + 1) : "some node",
               e->s->t0 + part * e->s->period, omega / (2 * M_PI));
    return VS_ESINGULAR;
}

/* Factors of G + (j omega + alpha) C. */
static vs_status factor(shoot_small *e, lu_z *lu, const double *g, const double *c, double alpha,
                        double omega, double part)
{
    for (int32_t p = 0; p < nnz_of(e); p++) {
        e->val[2 * p] = g[p];
        e->val[2 * p + 1] = 0;
    }
    for (int32_t k = 0; k < e->n_entry; k++) {
        e->val[2 * e->entry[k]] += alpha * c[k];
        e->val[2 * e->entry[k] + 1] = omega * c[k];
    }
    if (!lu->fac) {
        ana_lu_z_init(e->s->a, lu);
        lu_z_share(lu, &e->order);
    }
    const vs_status st = lu_z_factor(lu, e->val);
    return st == VS_ESINGULAR ? singular(e, lu, part, omega) : st;
}

/* A stage of step k at omega: its G, C and factors. */
typedef struct stage {
    const double *g, *c;
    lu_z *lu;
} stage;

static vs_status prepare(shoot_small *e, int32_t k, const shoot_stage *st, double omega, stage *to)
{
    const int32_t at = k * SHOOT_STAGES + st->number;
    const bool own = e->n_lu > 1;
    to->lu = &e->lu[own ? at : 0];
    vs_status got = values(e, k, st, &to->g, &to->c);
    if (got != VS_OK || (own && e->at[at] == omega))
        return got;
    got = factor(e, to->lu, to->g, to->c, st->alpha, omega, st->part);
    if (own)
        e->at[at] = got == VS_OK ? omega : NAN;
    return got;
}

static bool stopped(const shoot_small *e) { return e->t->stop && e->t->stop(e->t->user); }

/* -- forwards -- */

typedef struct carried {
    hb_cplx *k[SHOOT_STAGES], *u; /* [m][n] */
} carried;

static carried carried_make(const shoot_small *e, int32_t m)
{
    carried w;
    const size_t all = (size_t)m * (size_t)e->n + 1;
    for (int i = 0; i < SHOOT_STAGES; i++)
        w.k[i] = vs_calloc(all, sizeof(hb_cplx));
    w.u = vs_calloc(all, sizeof(hb_cplx));
    return w;
}

static void carried_free(carried *w)
{
    for (int i = 0; i < SHOOT_STAGES; i++)
        vs_free(w->k[i]);
    vs_free(w->u);
}

/* One column at a stage: u and k = -B u - s from q_n. b: what sources give, -s; NULL: nothing. */
static void step_column(const shoot_small *e, const shoot_stage *st, const stage *now,
                        const hb_cplx *q, const hb_cplx *b, carried *w, size_t at)
{
    const size_t n = (size_t)e->n;
    hb_cplx *u = w->u + at, *k = w->k[st->number] + at;
    for (size_t i = 0; i < n; i++) {
        u[i] = st->alpha * q[i];
        for (int32_t j = 0; j < st->number; j++)
            u[i] -= st->w[j] * w->k[j][at + i];
        k[i] = -u[i]; /* and alpha C u */
        u[i] += b ? b[i] : 0;
    }
    lu_z_solve(now->lu, (double *)u);
    add_charges(e, now->c, st->alpha, u, k);
}

/* What the step of u missed by the method of order 3, as a change of u, in its tolerances [n]. */
static double missed(const shoot_small *e, const stage *now, const carried *w, const double *tol)
{
    const size_t n = (size_t)e->n;
    hb_cplx *d = vs_calloc(n + 1, sizeof *d);
    double most = 0;
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < SHOOT_STAGES; j++)
            d[i] += shoot_embedded[j] * w->k[j][i];
    lu_z_solve(now->lu, (double *)d);
    for (size_t i = 0; i < n; i++)
        most = fmax(most, tol[i] > 0 ? cabs(d[i]) / tol[i] : 0);
    vs_free(d);
    return most;
}

/* Takes m columns q [m][n] through the period. b: of the first column; u [n_step + 1][n] its
 * envelope at ends of steps, tol [n]: its errors to s->step; NULL: not wanted. */
static vs_status forwards(shoot_small *e, double omega, int32_t m, hb_cplx *q, const hb_cplx *b,
                          hb_cplx *u, const double *tol)
{
    const size_t n = (size_t)e->n;
    shoot_stage g[SHOOT_STAGES];
    stage now = {0};
    carried w = carried_make(e, m);
    vs_status st = VS_OK;
    for (int32_t k = 0; k < e->n_step && st == VS_OK; k++) {
        shoot_stages(e->s, k, g);
        for (int32_t i = 0; i < SHOOT_STAGES && st == VS_OK; i++) {
            st = prepare(e, k, &g[i], omega, &now);
            for (int32_t c = 0; c < m && st == VS_OK; c++)
                step_column(e, &g[i], &now, q + (size_t)c * n, c ? NULL : b, &w, (size_t)c * n);
        }
        if (st != VS_OK)
            break;
        if (tol)
            e->s->step[k].error = missed(e, &now, &w, tol);
        memset(q, 0, (size_t)m * n * sizeof *q);
        for (int32_t c = 0; c < m; c++)
            add_charges(e, now.c, 1, w.u + (size_t)c * n, q + (size_t)c * n);
        if (u)
            memcpy(u + (size_t)(k + 1) * n, w.u, n * sizeof *u);
        if (stopped(e))
            st = VS_STOP;
    }
    if (u)
        memcpy(u, u + (size_t)e->n_step * n, n * sizeof *u);
    carried_free(&w);
    return st;
}

/* -- backwards -- */

/* d output / du at a stage, without what goes through q behind the step. */
static double weight_of(const shoot_small *e, const shoot_stage *st, int32_t k, bool sample)
{
    const double from = k ? e->s->step[k - 1].end : 0;
    return sample ? (st->ends && k + 1 == e->sample ? 1 : 0)
                  : weight[st->number] * (e->s->step[k].end - from);
}

static hb_cplx *seeds_at(const shoot_small *e, int32_t k, int32_t i)
{
    return e->seed + ((size_t)k * SHOOT_STAGES + (size_t)i) * (size_t)e->n_level;
}

/* What y, the derivative by what flows into rows, of an output with the weights by v, makes of its
 * feeds: seed of each part, from to[0] on or, by rows, at its shunt's. */
static void find_seeds(const shoot_small *e, const double *g, const hb_cplx *v, double by,
                       const hb_cplx *y, small_feeds *feeds, bool rows, hb_cplx *to)
{
    const double *part[2] = {(const double *)y, (const double *)y + 1};
    small_columns col = {.jac = e->s->a->jac, .g = g, .scale = by};
    ckt_level l;
    for (size_t at = 0, k = 0; small_next_level(e->levels, &at, &l); k++) {
        double level[2];
        for (int i = 0; i < 2; i++) {
            col.v = v ? (const double *)v + i : NULL;
            level[i] = small_feeds_level(&l, &col, e->inside, part[i], 2);
        }
        (void)small_feeds_seed(feeds, e->levels, &l, part[0], 2, level,
                               (double *)(to + (rows ? (size_t)(l.node - 1) : k)));
    }
}

static void weigh_seeds(const shoot_small *e, int32_t k, int32_t i, hb_cplx *u)
{
    ckt_level l;
    const hb_cplx *s = seeds_at(e, k, i);
    for (size_t at = 0; small_next_level(e->levels, &at, &l); s++)
        u[l.node - 1] += *s;
}

/* eta [n], the output's derivative by q at the end, becomes that by q at the start. v: the output's
 * weights, NULL: none, or those of e->seed, of its feeds. eta_at [n_step][n]: eta at the starts of
 * steps, NULL: not wanted. */
static vs_status backwards(shoot_small *e, double omega, const hb_cplx *v, bool sample, bool feeds,
                           hb_cplx *eta, hb_cplx *eta_at)
{
    const size_t n = (size_t)e->n;
    shoot_stage g[SHOOT_STAGES];
    stage now = {0};
    carried w = carried_make(e, 1); /* k: derivatives by right sides of stages */
    hb_cplx *u = w.u, *dk = vs_calloc(n + 1, sizeof *dk);
    small_feeds of_stages = {0}; /* whose units are none of densities */
    vs_status st = VS_OK;
    for (int32_t k = e->n_step - 1; k >= 0 && st == VS_OK; k--) {
        shoot_stages(e->s, k, g);
        for (int32_t i = SHOOT_STAGES - 1; i >= 0 && st == VS_OK; i--) {
            st = prepare(e, k, &g[i], omega, &now);
            if (st != VS_OK)
                break;
            hb_cplx *to = w.k[i];
            const double by = weight_of(e, &g[i], k, sample);
            memset(to, 0, n * sizeof *to);
            if (v)
                for (size_t r = 0; r < n; r++)
                    to[r] = by * v[r];
            if (feeds)
                weigh_seeds(e, k, i, to);
            /* d output / dk takes -B' to u; with that and alpha C' dk - dk follows */
            memset(dk, 0, n * sizeof *dk);
            for (int32_t l = i + 1; l < SHOOT_STAGES; l++)
                for (size_t r = 0; r < n; r++)
                    dk[r] -= g[l].w[i] * w.k[l][r];
            for (size_t r = 0; r < n; r++)
                u[r] = g[i].alpha * dk[r] + (g[i].ends ? eta[r] : 0);
            add_charges_t(e, now.c, 1, u, to);
            lu_z_solve_t(now.lu, (double *)to);
            if (v && e->levels)
                find_seeds(e, now.g, v, by, to, &of_stages, false, seeds_at(e, k, i));
            for (size_t r = 0; r < n; r++)
                to[r] -= dk[r];
        }
        memset(eta, 0, n * sizeof *eta);
        for (int i = 0; i < SHOOT_STAGES && st == VS_OK; i++)
            for (size_t r = 0; r < n; r++)
                eta[r] += g[0].alpha * w.k[i][r];
        if (eta_at)
            memcpy(eta_at + (size_t)k * n, eta, n * sizeof *eta);
        if (st == VS_OK && stopped(e))
            st = VS_STOP;
    }
    vs_free(dk);
    carried_free(&w);
    return st;
}

/* -- what repeats: (1 - P) q = r -- */

typedef struct krylov {
    shoot_small *e;
    double omega;
    bool transposed;
    hb_cplx *full, *still; /* [n]; P x turned to omega = 0 */
    vs_status st;
} krylov;

static int32_t n_row(const shoot_small *e) { return (int32_t)vec_len(e->row); }

/* Rows with charge are measured in `unit`, derivatives by them in 1 / unit. */
static void spread(const krylov *k, const hb_cplx *x, hb_cplx *full)
{
    const shoot_small *e = k->e;
    memset(full, 0, (size_t)e->n * sizeof *full);
    for (int32_t i = 0; i < n_row(e); i++)
        full[e->row[i]] = k->transposed ? x[i] / e->unit[i] : x[i] * e->unit[i];
}

static void gather(const krylov *k, const hb_cplx *full, hb_cplx *x)
{
    const shoot_small *e = k->e;
    for (int32_t i = 0; i < n_row(e); i++)
        x[i] = k->transposed ? full[e->row[i]] * e->unit[i] : full[e->row[i]] / e->unit[i];
}

/* P at omega is that of 0 with this factor, but for errors of the steps. */
static hb_cplx turn_at(const shoot_small *e, double omega)
{
    return cexp(-I * fmod(omega * e->s->period, 2 * M_PI));
}

static void multiply(void *user, const double *x, double *y)
{
    krylov *k = user;
    shoot_small *e = k->e;
    const hb_cplx *from = (const hb_cplx *)x, back = conj(turn_at(e, k->omega));
    hb_cplx *to = (hb_cplx *)y;
    spread(k, from, k->full);
    if (k->st == VS_OK)
        k->st = k->transposed ? backwards(e, k->omega, NULL, false, false, k->full, NULL)
                              : forwards(e, k->omega, 1, k->full, NULL, NULL, NULL);
    gather(k, k->full, to);
    if (k->st != VS_OK) { /* the identity ends GMRES */
        memcpy(y, x, (size_t)n_row(e) * sizeof *to);
        return;
    }
    for (int32_t i = 0; i < n_row(e); i++)
        k->still[i] = cplx_times(back, to[i]);
    recycle_add(&e->known[k->transposed], x, (const double *)k->still);
    for (int32_t i = 0; i < n_row(e); i++)
        to[i] = from[i] - to[i];
}

static void precondition(void *user, const double *x, double *y)
{
    const krylov *k = user;
    const shoot_small *e = k->e;
    if (!e->m) {
        recycle_apply(&e->known[k->transposed], x, y);
        return;
    }
    memcpy(y, x, (size_t)n_row(e) * sizeof(hb_cplx));
    if (k->transposed)
        full_z_solve_t(e->pre, e->pivot, n_row(e), (hb_cplx *)y);
    else
        full_z_solve(e->pre, e->pivot, n_row(e), (hb_cplx *)y);
}

static vs_status no_convergence(const shoot_small *e, double omega)
{
    diag_error(e->s->a->d, e->s->o.span,
               "small signals at %.6g Hz on the orbit: GMRES did not get to an end in %d products",
               omega / (2 * M_PI), (int)MOST_PRODUCTS);
    diag_note(e->s->a->d, e->s->o.span, "method=hb solves the equations of harmonic balance");
    return VS_NOCONV;
}

/* Passes that the columns take: two real ones go as one complex one. */
static int32_t n_pair(const shoot_small *e) { return (n_row(e) + 1) / 2; }

/* Products up to as many as the columns take are tried without them: that is at most twice the work
 * of the better way. */
static int32_t products_left(const shoot_small *e)
{
    const int32_t trial = e->n_lu > 1 ? n_pair(e) : n_pair(e) / FACTORS;
    return e->m || n_row(e) > MOST_ROWS ? MOST_PRODUCTS : trial - e->n_product;
}

/* P of omega = 0, which is real, all columns at once. Those of the first steps that need them
 * precondition on others, too. */
static vs_status find_columns(shoot_small *e)
{
    const size_t nr = (size_t)n_row(e), n = (size_t)e->n, pairs = (size_t)n_pair(e);
    hb_cplx *q = vs_calloc(pairs * n + 1, sizeof *q);
    for (size_t i = 0; i < nr; i++)
        q[i / 2 * n + (size_t)e->row[i]] = i % 2 ? I * e->unit[i] : e->unit[i];
    const vs_status st = forwards(e, 0, (int32_t)pairs, q, NULL, NULL, NULL);
    if (st == VS_OK) {
        e->m = vs_calloc(nr * nr + 1, sizeof *e->m);
        e->pre = vs_calloc(nr * nr + 1, sizeof *e->pre);
        e->pivot = vs_calloc(nr + 1, sizeof *e->pivot);
        for (size_t i = 0; i < nr; i++)
            for (size_t k = 0; k < nr; k++) {
                const hb_cplx z = q[i / 2 * n + (size_t)e->row[k]];
                e->m[k * nr + i] = (i % 2 ? cimag(z) : creal(z)) / e->unit[k];
            }
    }
    vs_free(q);
    return st;
}

static void forget_columns(shoot_small *e)
{
    vs_free(e->m);
    vs_free(e->pre);
    vs_free(e->pivot);
    e->m = e->pre = NULL;
    e->pivot = NULL;
}

static vs_status make_preconditioner(shoot_small *e, double omega, bool transposed)
{
    const size_t n = (size_t)n_row(e);
    const hb_cplx turn = turn_at(e, omega);
    if (!e->m) {
        recycle_prepare(&e->known[transposed], (const double *)&turn);
        return VS_OK;
    }
    for (size_t i = 0; i < n * n; i++)
        e->pre[i] = (i / n == i % n) - cplx_times(turn, e->m[i]);
    return full_z_factor(e->pre, e->pivot, (int32_t)n, 0) ? VS_OK : no_convergence(e, omega);
}

/* A pass from q, or from eta, with sources or weights; to where it ends. */
typedef struct sweep {
    shoot_small *e;
    double omega;
    bool transposed;
    const hb_cplx *b; /* sources, weights [n] */
    hb_cplx *to;      /* u, eta at ends of steps */
    bool sample;
    bool feeds; /* weights are those of e->seed */
} sweep;

static vs_status pass(const sweep *w, hb_cplx *state)
{
    return w->transposed ? backwards(w->e, w->omega, w->b, w->sample, w->feeds, state, w->to)
                         : forwards(w->e, w->omega, 1, state, w->b, w->to, NULL);
}

static double size_of(const hb_cplx *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += creal(x[i] * conj(x[i]));
    return sqrt(sum);
}

/* The columns, if it is time for them, and what preconditions at omega. */
static vs_status get_ready(shoot_small *e, double omega, bool transposed)
{
    const bool columns = !e->m && products_left(e) < FEW && n_row(e) > 0;
    const vs_status st = columns ? find_columns(e) : VS_OK;
    return st == VS_OK ? make_preconditioner(e, omega, transposed) : st;
}

/* The state that a pass leaves as it was. Each round solves for what the last pass missed, so that
 * small parts are as exact as large ones; the last pass is the answer. */
static vs_status repeat(const sweep *w)
{
    enum { LEAST = 2, ROUNDS = 4 };
    shoot_small *e = w->e;
    const int32_t n = n_row(e);
    krylov k = {.e = e, .omega = w->omega, .transposed = w->transposed};
    gmres_opt o = {.n = n,
                   .restart = RESTART,
                   .believe = true,
                   .product = multiply,
                   .precondition = precondition,
                   .user = &k};
    hb_cplx *x = vs_calloc(3 * (size_t)n + 3, sizeof *x), *r = x + n + 1, *dx = r + n + 1,
            *state = vs_calloc((size_t)e->n + 1, sizeof *state);
    double first = 0, rest = 0;
    vs_status st = VS_OK;
    k.full = vs_calloc((size_t)e->n + 1, sizeof *k.full);
    k.still = vs_calloc((size_t)n + 1, sizeof *k.still);
    e->n_product = 0;
    for (int round = 0; st == VS_OK; round++) {
        spread(&k, x, state);
        st = pass(w, state);
        gather(&k, state, r);
        for (int32_t i = 0; i < n; i++)
            r[i] -= x[i];
        rest = size_of(r, n);
        first = first > 0 ? first : rest;
        const double target = (e->draft ? rough : nothing) * first;
        if (st != VS_OK || rest == 0 || (rest <= target && (e->draft || round >= LEAST)) ||
            round == ROUNDS)
            break;
        st = get_ready(e, w->omega, w->transposed);
        if (st != VS_OK)
            break;
        int32_t made;
        o.most = products_left(e);
        o.tol = fmin(fmax(left, 0.5 * target / rest), 0.1);
        memset(dx, 0, (size_t)n * sizeof *dx);
        const vs_status got = gmres(&o, (const double *)r, (double *)dx, &made);
        st = got == VS_NOCONV ? k.st : got; /* `rest` says how far it got */
        const bool trial = !e->m && got == VS_NOCONV;
        /* Where GMRES is stuck, more products do not help. */
        e->n_product = trial ? n_pair(e) : e->n_product + made;
        for (int32_t i = 0; i < n; i++)
            x[i] += dx[i];
        round -= trial && n <= MOST_ROWS;
    }
    vs_free(k.full);
    vs_free(k.still);
    vs_free(state);
    vs_free(x);
    return st != VS_OK || rest <= (e->draft ? rough : enough) * first ? st
                                                                      : no_convergence(e, w->omega);
}

/* -- answers -- */

vs_status shoot_small_ac(shoot_small *e, double f, const hb_cplx *b, hb_cplx *u)
{
    return repeat(&(sweep){.e = e, .omega = 2 * M_PI * f, .b = b, .to = u});
}

/* Of largest values; what is small beside others of its kind may miss more, and currents that only
 * slopes of charges determine do not count (0). */
static double *tolerances_of(const shoot_small *e, const hb_cplx *u)
{
    static const double minor = 1e-3;
    const ana *a = e->s->a;
    const size_t n = (size_t)e->n;
    double *tol = vs_calloc(n + 1, sizeof *tol), most[2] = {0, 0};
    for (size_t k = 0; k < (size_t)e->n_step * n; k++)
        tol[k % n] = fmax(tol[k % n], cabs(u[k]));
    for (size_t i = 0; i < n; i++) {
        double *m = &most[a->u[i + 1].kind == CKT_CURRENT];
        *m = fmax(*m, tol[i]);
    }
    for (size_t i = 0; i < n; i++) {
        const ckt_unknown *w = &a->u[i + 1];
        const bool flow = w->kind == CKT_CURRENT;
        tol[i] =
            flow && !w->has_q ? 0 : step_error * e->s->reltol * fmax(tol[i], minor * most[flow]);
    }
    return tol;
}

/* Raises the errors of steps by what their cubics and those through one point less differ: u may
 * follow the orbit at once, without the rule. */
static void judge(const shoot_small *e, const hb_cplx *u, const double *tol)
{
    const shoot_quad *q = &e->quad;
    const size_t n = (size_t)e->n, ns = (size_t)e->n_step;
    for (size_t k = 0; k < ns; k++) {
        const shoot_rule *r = &q->rule[k];
        for (size_t i = 0; i < n; i++) {
            hb_cplx miss = 0;
            for (int32_t m = 0; m < r->n; m++)
                miss += (r->whole[m] - r->less[m]) * u[(size_t)(r->from + m) * n + i];
            if (tol[i] > 0)
                e->s->step[k].error = fmax(e->s->step[k].error, cabs(miss) * (double)ns / tol[i]);
        }
    }
}

vs_status shoot_small_errors(shoot_small *e, double f, const hb_cplx *b, const hb_cplx *u)
{
    const double omega = 2 * M_PI * f;
    const size_t n = (size_t)e->n;
    shoot_stage g[SHOOT_STAGES];
    stage now = {0};
    hb_cplx *q = vs_calloc(n + 1, sizeof *q);
    double *tol = tolerances_of(e, u);
    shoot_stages(e->s, e->n_step - 1, g);
    vs_status st = prepare(e, e->n_step - 1, &g[SHOOT_STAGES - 1], omega, &now);
    if (st == VS_OK) {
        add_charges(e, now.c, 1, u, q);
        st = forwards(e, omega, 1, q, b, NULL, tol);
    }
    if (st == VS_OK)
        judge(e, u, tol);
    vs_free(q);
    vs_free(tol);
    return st;
}

/* lambda T at the end of step k (the start of the period: that of the last one) from mu = C' eta,
 * with the density v of the output's weights, NULL: none. */
static vs_status density_at(shoot_small *e, double omega, int32_t k, const hb_cplx *v,
                            const hb_cplx *eta, hb_cplx *lambda)
{
    const size_t n = (size_t)e->n;
    shoot_stage g[SHOOT_STAGES];
    const double *gv, *cv;
    shoot_stages(e->s, k, g);
    const shoot_stage *end = &g[SHOOT_STAGES - 1];
    const double alpha = stiff * end->alpha;
    const bool own = e->n_node > 1;
    lu_z *lu = &e->node[own ? k : 0];
    vs_status st = values(e, k, end, &gv, &cv);
    if (st == VS_OK && !(own && lu->fac))
        st = factor(e, lu, gv, cv, alpha, 0, end->part);
    if (st != VS_OK)
        return st;
    memset(lambda, 0, n * sizeof *lambda);
    add_charges_t(e, cv, 1, eta, lambda);
    for (size_t i = 0; i < n; i++) /* alpha mu - j omega mu + v / T, all times T */
        lambda[i] = cplx_times(CMPLX(alpha, -omega), lambda[i]) * e->s->period + (v ? v[i] : 0);
    lu_z_solve_t(lu, (double *)lambda);
    return st;
}

/* The same just before a sample, which weighs v at the end of step k. direct [n]: what of v has no
 * charge between. */
static vs_status density_before(shoot_small *e, int32_t k, const hb_cplx *v, hb_cplx *direct,
                                hb_cplx *lambda)
{
    const size_t n = (size_t)e->n;
    shoot_stage g[SHOOT_STAGES];
    hb_cplx *mu = vs_calloc(n + 1, sizeof *mu);
    const double *gv, *cv;
    lu_z *lu = &e->node[e->n_node > 1 ? k : 0];
    shoot_stages(e->s, k, g);
    const double alpha = stiff * g[SHOOT_STAGES - 1].alpha;
    const vs_status st = values(e, k, &g[SHOOT_STAGES - 1], &gv, &cv);
    memcpy(direct, v, n * sizeof *v);
    lu_z_solve_t(lu, (double *)direct);
    if (st == VS_OK) { /* what v weighs of charges */
        add_charges_t(e, cv, alpha, direct, mu);
        for (size_t i = 0; i < n; i++)
            mu[i] *= alpha * e->s->period;
        lu_z_solve_t(lu, (double *)mu);
        for (size_t i = 0; i < n; i++)
            lambda[i] += mu[i];
    }
    vs_free(mu);
    return st;
}

static int32_t step_before(const shoot_small *e, int32_t node)
{
    return (node ? node : e->n_step) - 1;
}

vs_status shoot_small_adjoint(shoot_small *e, double f, const hb_cplx *v, hb_cplx *direct,
                              hb_cplx *lambda)
{
    const bool sample = direct != NULL;
    const double omega = 2 * M_PI * f;
    const size_t n = (size_t)e->n;
    hb_cplx *at = vs_malloc(((size_t)e->n_step * n + 1) * sizeof *at);
    if (e->levels && !e->seed) {
        e->inside = vs_calloc(n + 1, sizeof *e->inside);
        e->seed =
            vs_calloc((size_t)e->n_step * SHOOT_STAGES * (size_t)e->n_level + 1, sizeof *e->seed);
    }
    vs_status st = repeat(
        &(sweep){.e = e, .omega = omega, .transposed = true, .b = v, .to = at, .sample = sample});
    const shoot_point *p = e->quad.point;
    for (size_t i = 0; i < vec_len(p) && st == VS_OK; i++) {
        const int32_t node = p[i].node, k = step_before(e, node);
        const bool before =
            sample && node == e->sample && (i + 1 == vec_len(p) || p[i + 1].node == node);
        st = density_at(e, omega, k, sample ? NULL : v, at + (size_t)(node % e->n_step) * n,
                        lambda + i * n);
        if (st == VS_OK && before)
            st = density_before(e, k, v, direct, lambda + i * n);
    }
    vs_free(at);
    return st;
}

/* to [n]: seeds at the end of step k, of lambda, or of direct. */
static vs_status seeds_of(shoot_small *e, int32_t k, const hb_cplx *v, const hb_cplx *y,
                          small_feeds *feeds, hb_cplx *to)
{
    shoot_stage g[SHOOT_STAGES];
    const double *gv, *cv;
    shoot_stages(e->s, k, g);
    const vs_status st = values(e, k, &g[SHOOT_STAGES - 1], &gv, &cv);
    memset(to, 0, (size_t)e->n * sizeof *to);
    if (st == VS_OK)
        find_seeds(e, gv, v, 1, y, feeds, true, to);
    return st;
}

vs_status shoot_small_feeds(shoot_small *e, double f, const hb_cplx *v, const hb_cplx *direct,
                            const hb_cplx *lambda, small_feeds *feeds, hb_cplx *feeds_direct,
                            hb_cplx *feeds_lambda)
{
    const hb_cplx *spread = direct ? NULL : v; /* over the period */
    const double omega = 2 * M_PI * f;
    const size_t n = (size_t)e->n;
    hb_cplx *at = vs_malloc(((size_t)e->n_step * n + 1) * sizeof *at),
            *seed = vs_calloc(n + 1, sizeof *seed);
    const shoot_point *p = e->quad.point;
    vs_status st = VS_OK;
    small_feeds_clear(feeds);
    for (size_t i = 0; i < vec_len(p) && st == VS_OK; i++)
        st = seeds_of(e, step_before(e, p[i].node), spread, lambda + i * n, feeds, seed);
    if (feeds->any && st == VS_OK)
        st = repeat(&(sweep){.e = e, .omega = omega, .transposed = true, .to = at, .feeds = true});
    for (size_t i = 0; i < vec_len(p) && st == VS_OK && feeds->any; i++) {
        const int32_t node = p[i].node, k = step_before(e, node);
        const bool before =
            direct && node == e->sample && (i + 1 == vec_len(p) || p[i + 1].node == node);
        st = seeds_of(e, k, spread, lambda + i * n, feeds, seed);
        if (st == VS_OK)
            st = density_at(e, omega, k, seed, at + (size_t)(node % e->n_step) * n,
                            feeds_lambda + i * n);
        if (st == VS_OK && before)
            st = seeds_of(e, k, v, direct, feeds, seed);
        if (st == VS_OK && before)
            st = density_before(e, k, seed, feeds_direct, feeds_lambda + i * n);
    }
    vs_free(at);
    vs_free(seed);
    return st;
}

vs_status shoot_small_mean(shoot_small *e, double omega, double *val)
{
    shoot_stage st[SHOOT_STAGES];
    const double *g, *c;
    vs_status got = VS_OK;
    memset(val, 0, 2 * (size_t)nnz_of(e) * sizeof *val);
    for (int32_t k = 0; k < e->n_step && got == VS_OK; k++) {
        shoot_stages(e->s, k, st);
        got = values(e, k, &st[SHOOT_STAGES - 1], &g, &c);
        for (int32_t p = 0; p < nnz_of(e) && got == VS_OK; p++)
            val[2 * p] += g[p] / e->n_step;
        for (int32_t p = 0; p < e->n_entry && got == VS_OK; p++)
            val[2 * e->entry[p] + 1] += omega * c[p] / e->n_step;
    }
    return got;
}

/* -- beginning and end -- */

static void forget(shoot_small *e)
{
    for (int32_t k = 0; k < e->n_lu; k++)
        lu_z_fini(&e->lu[k]);
    for (int32_t k = 0; k < e->n_node; k++)
        lu_z_fini(&e->node[k]);
    void *const own[] = {e->g,    e->c,  e->one,   e->val,    e->lu,    e->node,
                         e->unit, e->at, e->entry, e->at_row, e->at_col};
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
    vs_free(e->seed);
    vs_free(e->inside);
    e->seed = NULL;
    e->inside = NULL;
    vec_free(e->row);
    shoot_quad_end(&e->quad);
}

void shoot_small_end(shoot_small *e)
{
    forget(e);
    forget_columns(e);
    lu_z_fini(&e->order);
    recycle_end(&e->known[0]);
    recycle_end(&e->known[1]);
    *e = (shoot_small){0};
}

/* The entries of the matrix that have charge at a stage: c [stages][nnz], which becomes
 * [stages][n_entry]; NULL: any may have. */
static void find_entries(shoot_small *e, double *c, size_t stages)
{
    const csc *j = e->s->a->jac;
    const size_t nnz = (size_t)nnz_of(e);
    bool *any = vs_calloc(nnz + 1, sizeof *any);
    for (size_t at = 0; at < stages * nnz && c; at++)
        any[at % nnz] |= c[at] != 0;
    e->entry = vs_calloc(nnz + 1, sizeof *e->entry);
    e->at_row = vs_calloc(nnz + 1, sizeof *e->at_row);
    e->at_col = vs_calloc(nnz + 1, sizeof *e->at_col);
    e->n_entry = 0;
    for (int32_t col = 0; col < j->n; col++)
        for (int32_t p = j->colptr[col]; p < j->colptr[col + 1]; p++)
            if (!c || any[p]) {
                e->entry[e->n_entry] = p;
                e->at_row[e->n_entry] = j->row[p];
                e->at_col[e->n_entry++] = col;
            }
    for (size_t k = 0, to = 0; k < stages && c; k++)
        for (int32_t i = 0; i < e->n_entry; i++)
            c[to++] = c[k * nnz + (size_t)e->entry[i]];
    vs_free(any);
}

/* G, C of all stages, if there is room. */
static vs_status load_all(shoot_small *e)
{
    const size_t nnz = (size_t)nnz_of(e), all = (size_t)e->n_step * SHOOT_STAGES;
    shoot_stage st[SHOOT_STAGES];
    vs_status got = VS_OK;
    if (16.0 * (double)nnz * (double)all > most_bytes) {
        find_entries(e, NULL, 0);
        return VS_OK;
    }
    double *g = vs_malloc((nnz * all + 1) * sizeof *g), *c = vs_calloc(nnz * all + 1, sizeof *c);
    for (int32_t k = 0; k < e->n_step && got == VS_OK; k++) {
        shoot_stages(e->s, k, st);
        for (int32_t i = 0; i < SHOOT_STAGES && got == VS_OK; i++) {
            const size_t at = ((size_t)k * SHOOT_STAGES + (size_t)i) * nnz;
            got = load(e, k, &st[i], e->one, e->one + nnz + 1);
            memcpy(g + at, e->one, nnz * sizeof *g);
            memcpy(c + at, e->one + nnz + 1, nnz * sizeof *c);
        }
    }
    find_entries(e, c, all);
    e->g = g;
    e->c = vs_realloc(c, (all * (size_t)e->n_entry + 1) * sizeof *c);
    return got;
}

/* Rows that have charge at t_0, and how much of it the tolerances of unknowns are. */
static vs_status find_rows(shoot_small *e)
{
    shoot_stage st[SHOOT_STAGES];
    const double *g, *c;
    double *size = vs_calloc((size_t)e->n + 1, sizeof *size), *unit = NULL;
    shoot_stages(e->s, e->n_step - 1, st);
    const vs_status got = values(e, e->n_step - 1, &st[SHOOT_STAGES - 1], &g, &c);
    for (int32_t k = 0; k < e->n_entry && got == VS_OK; k++)
        size[e->at_row[k]] += fabs(c[k]) * e->s->tol_x[e->at_col[k] + 1];
    for (int32_t i = 0; i < e->n; i++)
        if (size[i] > 0) {
            vec_push(e->row, i);
            vec_push(unit, size[i]);
        }
    e->unit = vs_calloc(vec_len(e->row) + 1, sizeof *e->unit);
    for (size_t i = 0; i < vec_len(e->row); i++)
        e->unit[i] = unit[i];
    vec_free(unit);
    vs_free(size);
    return got;
}

/* All for the orbit and the steps as they are. */
static vs_status make(shoot_small *e)
{
    ana_shot *s = e->s;
    const size_t nnz = (size_t)nnz_of(e);
    const int32_t rows = n_row(e);
    forget(e);
    e->g = e->c = NULL;
    e->n_step = (int32_t)vec_len(s->step);
    const double each = e->n_step * lu_z_bytes(&e->order);
    e->n_lu = SHOOT_STAGES * each > most_bytes ? 1 : e->n_step * SHOOT_STAGES;
    e->n_node = (SHOOT_STAGES + 1) * each > most_bytes ? 1 : e->n_step;
    e->one = vs_calloc(2 * (nnz + 1), sizeof *e->one);
    e->val = vs_calloc(2 * (nnz + 1), sizeof *e->val);
    e->lu = vs_calloc((size_t)e->n_lu, sizeof *e->lu);
    e->node = vs_calloc((size_t)e->n_node, sizeof *e->node);
    e->at = vs_calloc((size_t)e->n_lu, sizeof *e->at);
    for (int32_t k = 0; k < e->n_lu; k++)
        e->at[k] = NAN;
    shoot_quad_begin(&e->quad, s, e->sample, s->n_sample / 4);
    vs_status st = load_all(e);
    if (st == VS_OK)
        st = find_rows(e);
    if (n_row(e) != rows)
        forget_columns(e);
    for (int k = 0; k < 2 && e->known[k].n != n_row(e); k++) {
        recycle_end(&e->known[k]);
        recycle_begin(&e->known[k], n_row(e));
    }
    return st;
}

vs_status shoot_small_begin(shoot_small *e, ana_shot *s, const ana_table *t, double sample)
{
    *e = (shoot_small){.s = s, .t = t, .n = s->n, .sample = -1, .draft = true};
    s->keeps_stages = true;
    shoot_leave_grid(s, true);
    shoot_grade(s, sample);
    if (sample == sample)
        e->sample = shoot_node_at(s, sample);
    vs_status st = shoot_settle(s);
    if (st == VS_OK) {
        ana_lu_z_init(s->a, &e->order);
        st = lu_z_analyze(&e->order, s->a->jac);
        st = st == VS_ESINGULAR ? singular(e, &e->order, 0, 0) : st;
    }
    return st == VS_OK ? make(e) : st;
}

vs_status shoot_small_refine(shoot_small *e, double error, bool *done)
{
    ana_shot *s = e->s;
    const double part = e->sample > 0 ? s->step[e->sample - 1].end : NAN;
    const int last = s->limited ? 0 : MOST_LEVELS;
    *done = error <= 1 || e->level >= last || 2 * vec_len(s->step) > SHOOT_MOST_STEPS;
    if (*done) {
        if (error > 1 && !s->limited)
            diag_warning(s->a->d, s->o.span,
                         "small signals: %zu steps leave an error of about %.2g tolerances",
                         vec_len(s->step), error);
        e->draft = false;
        return VS_OK;
    }
    e->level++;
    shoot_leave_grid(s, true);
    shoot_split(s, 1);
    shoot_grade(s, part);
    if (e->sample >= 0)
        e->sample = shoot_node_at(s, part);
    const vs_status st = shoot_settle(s);
    return st == VS_OK ? make(e) : st;
}
