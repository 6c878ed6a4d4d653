/* tran_tape.c - a transient that is recorded, and the discrete adjoint of its accepted steps.
 * A node is a point at which the equations were solved: the end of a step, or the stage of SDIRK2.
 * With the coefficients that the integration had there (integ.h), s one of the nodes before it,
 *     F_k = f(x_k) + d_k = 0,    d_k = alpha_k q(x_k) + sum_j a_j q(x_{k-j}) + b_k d_s.
 * For a measure M(x_0 ... x_N) the multipliers lambda of F, mu of d solve, from the last node on,
 *     (G_k + alpha_k C_k)' lambda_k = -dM/dx_k + C_k' (alpha_k B_k + S_k),   mu_k = B_k - lambda_k,
 * where S_k sums a_j mu and B_k sums b mu over the later nodes that use q_k and d_k. Then
 *     dM/dp = sum_k lambda_k' df/dp - (alpha_k mu_k + S_k)' dq/dp,
 * and the operating point at the start adds G_0' lambda_0 = -dM/dx_0 + C_0' S_0 with its own
 * equations. Times are held.
 * Source: Cao, Li, Petzold & Serban, SIAM J. Sci. Comput. 24(3), 2003; Griewank &
 *         Walther, Evaluating Derivatives, ch. 12 (states in between); docs/analyses.md. */
#include <math.h>
#include <string.h>

#include "tran_priv.h"

enum { N_AHEAD = 3 }; /* a node, and those before it that its step used */

typedef struct tape_node {
    double t;        /* s */
    double alpha, b; /* of d at this node */
    double a[2];     /* of q at the last one and two ends of steps before */
    bool stage, final;
} tape_node;

typedef struct tape_row {
    int64_t node;
    int64_t jump; /* a row just behind a corner: place in ana_tape.jump; -1: the node itself */
} tape_row;

typedef struct tape_state { /* from which a part is computed again */
    int64_t node;           /* the last one before it */
    uint8_t *bytes;         /* vec */
} tape_state;

struct ana_tape {
    ana *a;
    ana_tran_opt o;
    const ana_sink *sink; /* the client's */
    ana_sink own;
    tape_node *node; /* vec */
    tape_row *row;   /* vec */
    uint8_t *jump;   /* vec, [n+1] for each corner: 1 where the row shows a jump */
    double *x;       /* vec: [n+1] of the nodes first, first + 1, ... */
    int64_t first, most;
    tape_state *state; /* vec: where parts begin; the first part begins at node 0 */
    bool again;        /* a part is computed again: */
    int64_t at, end;   /* its next node; behind its last */
};

/* -- the run -- */

/* Given values as they were before the sources were switched on: the charges are theirs. */
static void keep_given(ana_tape *t)
{
    ana *a = t->a;
    double *x = t->x;
    ckt_uic(a->c, x);
    for (size_t k = 0; k < vec_len(a->ic); k++)
        x[a->ic[k].unknown] = a->ic[k].value;
    x[0] = 0;
}

static size_t stride(const ana_tape *t) { return (size_t)t->a->n + 1; }

static void keep(ana_tape *t, const double *x)
{
    const size_t n = vec_len(t->x);
    vec_extend(t->x, stride(t));
    memcpy(t->x + n, x, stride(t) * sizeof *x);
}

static void add_node(ana_tape *t, tape_node k, const double *x)
{
    if (!t->again)
        vec_push(t->node, k);
    t->at++;
    keep(t, x);
}

void tran_tape_step(const tran *t)
{
    ana_tape *tape = t->tape;
    const integ_coef *c = &t->cc;
    tape_node k = {.t = t->t_new,
                   .alpha = c->alpha,
                   .b = c->b,
                   .a = {c->a[0], c->n_past > 1 ? c->a[1] : 0},
                   .final = t->t_new == t->o.tstop};
    if (t->kind == TRAN_SDIRK) {
        tape_node stage = k;
        stage.t = t->t + INTEG_SDIRK_GAMMA * t->h;
        stage.b = 0;
        stage.stage = true;
        stage.final = false;
        add_node(tape, stage, t->stage);
    }
    add_node(tape, k, t->x[0]);
}

void tran_tape_row(const tran *t, const double *x, bool corner)
{
    ana_tape *tape = t->tape;
    const size_t n1 = stride(tape);
    if (tape->again)
        return;
    tape_row r = {(int64_t)vec_len(tape->node) - 1, -1};
    if (corner) {
        r.jump = (int64_t)vec_len(tape->jump);
        vec_extend(tape->jump, n1);
        for (size_t i = 1; i < n1; i++)
            tape->jump[(size_t)r.jump + i] =
                x[i] != t->x[2][i] + TRAN_BEHIND * (t->x[1][i] - t->x[2][i]);
    }
    vec_push(tape->row, r);
}

static vs_status pass_point(void *user, double axis, const double *x)
{
    const ana_tape *t = user;
    return t->again ? VS_OK : t->sink->point(t->sink->user, axis, x);
}

static void pass_progress(void *user, double fraction, double axis, const ana_stat *st)
{
    const ana_tape *t = user;
    if (t->sink->progress && !t->again)
        t->sink->progress(t->sink->user, fraction, axis, st);
}

static bool pass_stop(void *user)
{
    const ana_tape *t = user;
    return t->sink->stop && t->sink->stop(t->sink->user);
}

/* The run pauses when there is no room for more, or where the part that is computed again ends. */
static bool is_full(void *user)
{
    const ana_tape *t = user;
    return t->again ? t->at >= t->end : t->at - t->first >= t->most;
}

static void take_state(ana_tape *t)
{
    image im = image_take();
    if (ana_tran_image(t->a, &im) == VS_OK)
        vec_push(t->state, ((tape_state){(int64_t)vec_len(t->node) - 1, im.bytes}));
}

static vs_status march(ana_tape *t)
{
    vs_status st;
    while ((st = ana_tran_go(t->a, INFINITY)) == VS_PAUSED) {
        take_state(t);
        t->first = (int64_t)vec_len(t->node);
        vec_clear(t->x);
    }
    return st;
}

static vs_status begin_run(ana_tape *t)
{
    ana *a = t->a;
    const vs_status st = ana_tran_begin(a, &t->o, &t->own);
    if (st != VS_OK)
        return st;
    a->tran->tape = t;
    add_node(t, (tape_node){0}, a->tran->x[1]);
    if (t->o.uic)
        keep_given(t);
    return VS_OK;
}

vs_status ana_tape_run(ana_tape **tape, ana *a, const ana_tran_opt *opt, const ana_sink *sink,
                       size_t memory)
{
    ana_tape *t = vs_calloc(1, sizeof *t);
    *t = (ana_tape){.a = a, .o = *opt, .sink = sink};
    t->own = (ana_sink){.point = pass_point,
                        .progress = pass_progress,
                        .stop = pass_stop,
                        .pause = is_full,
                        .kept = true,
                        .user = t};
    t->most = (int64_t)(memory / (sizeof(double) * ((size_t)a->n + 1)));
    t->most = t->most < 256 ? 256 : t->most;
    vs_status st = begin_run(t);
    if (st == VS_OK)
        st = march(t);
    ana_tran_end(a, st);
    *tape = t;
    if (st != VS_OK)
        ana_tape_free(tape);
    return st;
}

void ana_tape_free(ana_tape **tape)
{
    ana_tape *t = *tape;
    *tape = NULL;
    if (!t)
        return;
    if (t->a->tran)
        t->a->tran->tape = NULL;
    for (size_t i = 0; i < vec_len(t->state); i++)
        vec_free(t->state[i].bytes);
    vec_free(t->state);
    vec_free(t->node);
    vec_free(t->row);
    vec_free(t->jump);
    vec_free(t->x);
    vs_free(t);
}

/* -- a part once more -- */

/* Solutions of part i, whose nodes are those behind state i - 1. Status: VS_OK; VS_EINPUT
 * (message). */
static vs_status compute_again(ana_tape *t, size_t i)
{
    ana *a = t->a;
    const tape_state *from = &t->state[i - 1];
    const int64_t end = i < vec_len(t->state) ? t->state[i].node + 1 : (int64_t)vec_len(t->node);
    image im = image_give(from->bytes, vec_len(from->bytes));
    vs_status st = ana_tran_ready(a, &t->o, &t->own);
    if (st == VS_OK && !lu_forget(&a->lu))
        st = lu_analyze(&a->lu, a->jac);
    if (st == VS_OK)
        st = ana_tran_image(a, &im);
    t->first = t->at = from->node + 1;
    t->end = end;
    t->again = true;
    vec_clear(t->x);
    a->tran->tape = t;
    if (st == VS_OK)
        st = ana_tran_go(a, INFINITY);
    t->again = false;
    a->tran->tape = NULL;
    if (st == VS_PAUSED)
        st = VS_OK;
    if (st == VS_OK && t->at >= end)
        return VS_OK;
    diag_error(a->d, DIAG_NOWHERE, "a part of the transient could not be computed again%s%s",
               im.wrong ? ": " : "", im.wrong ? im.wrong : "");
    return st < 0 ? st : VS_EINPUT;
}

/* The first part once more: from the operating point. */
static vs_status compute_first(ana_tape *t)
{
    ana *a = t->a;
    const int64_t end = t->state[0].node + 1;
    t->again = true;
    t->first = t->at = 0;
    t->end = end;
    vec_clear(t->x);
    ckt_fresh(a->c);
    vs_status st = begin_run(t);
    if (st == VS_OK)
        st = ana_tran_go(a, INFINITY);
    a->tran->tape = NULL;
    t->again = false;
    return st == VS_PAUSED ? VS_OK : st;
}

/* x [n+1] of a node, its part being computed if need be. */
static vs_status solution(ana_tape *t, int64_t node, const double **x)
{
    const size_t n1 = stride(t);
    vs_status st = VS_OK;
    if (node < t->first) {
        size_t part = vec_len(t->state);
        while (part > 0 && t->state[part - 1].node >= node)
            part--;
        st = part ? compute_again(t, part) : compute_first(t);
    }
    *x = t->x + (size_t)(node - t->first) * n1;
    return st;
}

/* -- backwards -- */

typedef struct ahead { /* of one measure at one node */
    double *s, *b, *m; /* [n+1] S, B, dM/dx */
    double *r;         /* [n+1] what of dM/dx belongs to the piece behind the node */
} ahead;

typedef struct back {
    ana_tape *t;
    int32_t n_measure;
    ahead *sum[N_AHEAD],
        *stage;       /* [n_measure] of the node, one and two ends before it; its stage */
    double **f, **q;  /* [n_measure] [n+1] lambda, alpha mu + S */
    double *rhs, *mu; /* [n+1] */
    double *g, *c;    /* [nnz+1] G + alpha C; C */
    csc at;           /* the transposed matrix, */
    int32_t *place;   /* [nnz] where an entry stands in it */
    lu_solver lu;
    bool factored;
    const ana_seed *seed; /* [n_seed] not taken yet */
    size_t n_seed;
    vs_status (*visit)(void *user, const ana_adjoint *at);
    void *user;
    double next_progress;
    arena mem;
} back;

static ahead *make_ahead(back *w)
{
    ahead *k = arena_array(&w->mem, ahead, w->n_measure);
    for (int32_t i = 0; i < w->n_measure; i++) {
        k[i].s = arena_array(&w->mem, double, stride(w->t));
        k[i].b = arena_array(&w->mem, double, stride(w->t));
        k[i].m = arena_array(&w->mem, double, stride(w->t));
        k[i].r = arena_array(&w->mem, double, stride(w->t));
    }
    return k;
}

static void clear_ahead(const back *w, ahead *k)
{
    const size_t bytes = stride(w->t) * sizeof(double);
    for (int32_t i = 0; i < w->n_measure; i++) {
        memset(k[i].s, 0, bytes);
        memset(k[i].b, 0, bytes);
        memset(k[i].m, 0, bytes);
        memset(k[i].r, 0, bytes);
    }
}

static void make_transposed(back *w)
{
    const csc *j = w->t->a->jac;
    const int32_t n = j->n, nnz = csc_nnz(j);
    int32_t *next = arena_array(&w->mem, int32_t, n + 1);
    w->at = (csc){.n = n,
                  .colptr = arena_array(&w->mem, int32_t, n + 1),
                  .row = arena_array(&w->mem, int32_t, nnz + 1),
                  .val = arena_array(&w->mem, double, nnz + 1)};
    w->place = arena_array(&w->mem, int32_t, nnz + 1);
    for (int32_t k = 0; k < nnz; k++)
        w->at.colptr[j->row[k] + 1]++;
    for (int32_t c = 0; c < n; c++) {
        w->at.colptr[c + 1] += w->at.colptr[c];
        next[c] = w->at.colptr[c];
    }
    for (int32_t c = 0; c < n; c++)
        for (int32_t k = j->colptr[c]; k < j->colptr[c + 1]; k++) {
            const int32_t to = w->place[k] = next[j->row[k]]++;
            w->at.row[to] = c;
        }
}

static vs_status singular(const back *w, double t)
{
    ana *a = w->t->a;
    diag_error(
        a->d, DIAG_NOWHERE, "the matrix of the adjoint is singular at %s, t = %.9g s",
        w->lu.stat.singular >= 0 ? ana_unknown_text(a, w->lu.stat.singular + 1) : "some node", t);
    return VS_ESINGULAR;
}

static vs_status begin(back *w, ana_tape *t, int32_t n_measure)
{
    const size_t n1 = stride(t), nnz = (size_t)csc_nnz(t->a->jac) + 1;
    arena_init(&w->mem);
    w->t = t;
    w->n_measure = n_measure;
    for (int i = 0; i < N_AHEAD; i++)
        w->sum[i] = make_ahead(w);
    w->stage = make_ahead(w);
    w->f = arena_array(&w->mem, double *, n_measure);
    w->q = arena_array(&w->mem, double *, n_measure);
    for (int32_t i = 0; i < n_measure; i++) {
        w->f[i] = arena_array(&w->mem, double, n1);
        w->q[i] = arena_array(&w->mem, double, n1);
    }
    w->rhs = arena_array(&w->mem, double, n1);
    w->mu = arena_array(&w->mem, double, n1);
    w->g = arena_array(&w->mem, double, nnz);
    w->c = arena_array(&w->mem, double, nnz);
    make_transposed(w);
    const lu_opt o = t->a->lu.opt;
    lu_init(&w->lu, &o);
    return lu_analyze(&w->lu, &w->at) == VS_OK ? VS_OK : singular(w, t->o.tstop);
}

static vs_status not_finite(const back *w, const ckt_env *env, vs_status st)
{
    diag_error(w->t->a->d, DIAG_NOWHERE, "a device gives a value that is not finite at t = %.9g s",
               env->time);
    return st < 0 ? st : VS_NOCONV;
}

/* The Jacobian of a load at x into val [nnz+1]. */
static vs_status load(back *w, const ckt_env *env, const double *x, double *val)
{
    ana *a = w->t->a;
    bool limited;
    const vs_status st = ckt_load(a->c, env, x, a->f, a->q, a->fmax, a->qmax, &limited);
    if (st != VS_OK)
        return not_finite(w, env, st);
    memcpy(val, a->jac->val, (size_t)csc_nnz(a->jac) * sizeof *val);
    return VS_OK;
}

/* w->g = G + alpha C, w->c = C. */
static vs_status linearise(back *w, const ckt_env *env, const double *x)
{
    ana *a = w->t->a;
    const vs_status st = ckt_load_apart(a->c, env, x, w->g, w->c);
    for (int32_t k = 0; k < csc_nnz(a->jac); k++)
        w->g[k] += env->alpha * w->c[k];
    return st == VS_OK ? VS_OK : not_finite(w, env, st);
}

static void add_diagonal(back *w, int32_t unknown, double g)
{
    const ana *a = w->t->a;
    if (a->gdiag[unknown])
        w->g[a->gdiag[unknown] - a->jac->val] += g;
}

static vs_status factor(back *w, double t)
{
    const ana *a = w->t->a;
    vs_status st = VS_REPIVOT;
    if (a->opt.rshunt > 0)
        for (int32_t i = 1; i <= a->n; i++)
            add_diagonal(w, i, 1 / a->opt.rshunt);
    for (int32_t k = 0; k < csc_nnz(a->jac); k++)
        w->at.val[w->place[k]] = w->g[k];
    if (w->factored)
        st = lu_refactor(&w->lu, &w->at);
    if (st == VS_REPIVOT)
        st = lu_factor(&w->lu, &w->at);
    w->factored = st == VS_OK;
    return st == VS_OK ? VS_OK : singular(w, t);
}

/* to += C' v */
static void add_charge(const back *w, const double *v, double *to)
{
    const csc *j = w->t->a->jac;
    for (int32_t c = 0; c < j->n; c++)
        for (int32_t k = j->colptr[c]; k < j->colptr[c + 1]; k++)
            to[c + 1] += w->c[k] * v[j->row[k] + 1];
}

/* lambda and alpha mu + S of measure i; mu [n+1] out. */
static void solve(back *w, const tape_node *k, const ahead *h, int32_t i)
{
    const size_t n1 = stride(w->t);
    for (size_t j = 1; j < n1; j++) {
        w->mu[j] = k->alpha * h[i].b[j] + h[i].s[j];
        w->rhs[j] = -h[i].m[j];
    }
    add_charge(w, w->mu, w->rhs);
    lu_solve(&w->lu, w->rhs + 1, w->f[i] + 1);
    for (size_t j = 1; j < n1; j++) {
        w->mu[j] = h[i].b[j] - w->f[i][j];
        w->q[i][j] = k->alpha * w->mu[j] + h[i].s[j];
    }
}

static void add_scaled(double *to, double by, const double *v, size_t n1)
{
    for (size_t j = 1; j < n1 && by != 0; j++)
        to[j] += by * v[j];
}

static ckt_env env_of(const back *w, const tape_node *k)
{
    return (ckt_env){.mode = CKT_TRAN,
                     .time = k->t,
                     .alpha = k->alpha,
                     .gmin = w->t->a->opt.gmin,
                     .srcfact = 1,
                     .iter = 1,
                     .final_step = k->final,
                     .reltol = w->t->a->opt.reltol};
}

typedef enum shown { POINT, BEHIND, GIVEN } shown;

static vs_status show(back *w, const ckt_env *env, const double *x, shown what)
{
    const ana_adjoint at = {.env = *env,
                            .force = ana_static_eq(w->t->a, true).gforce,
                            .behind = what == BEHIND,
                            .given = what == GIVEN,
                            .x = x,
                            .f = (const double *const *)w->f,
                            .q = (const double *const *)w->q};
    return w->visit(w->user, &at);
}

/* Goes back over one node. The sums [n_measure] that it fills: h, of this node; before and two,
 * of the ends of steps one and two before it; flow, of the node whose dq/dt its coefficient b
 * takes. */
static vs_status step_back(back *w, int64_t node, ahead *h, ahead *before, ahead *two, ahead *flow)
{
    const tape_node *k = &w->t->node[node];
    const ckt_env env = env_of(w, k);
    const double *x;
    vs_status st = solution(w->t, node, &x);
    if (st == VS_OK)
        st = linearise(w, &env, x);
    if (st == VS_OK)
        st = factor(w, k->t);
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        solve(w, k, h, i);
        add_scaled(before[i].s, k->a[0], w->mu, stride(w->t));
        add_scaled(two[i].s, k->a[1], w->mu, stride(w->t));
        add_scaled(flow[i].b, k->b, w->mu, stride(w->t));
    }
    return st == VS_OK ? show(w, &env, x, POINT) : st;
}

/* -- what rows say of nodes -- */

/* How much of the row's part in a sum of trapezia lies behind it: that of a corner has there the
 * derivatives of the piece behind. */
static double share_behind(const back *w, const tape_row *r)
{
    const ana_tape *t = w->t;
    const tape_row *end = t->row + vec_len(t->row);
    if (r + 1 >= end)
        return 0;
    const double here = t->node[r->node].t, next = t->node[r[1].node].t;
    const double later = (r[1].jump < 0 ? 1 : TRAN_BEHIND) * (next - here);
    const double since = r > t->row ? here - t->node[r[-1].node].t : 0;
    return later / (later + since);
}

static void seed_row(back *w, const ana_seed *s, const tape_row *r)
{
    const int32_t m = s->measure, i = s->unknown;
    ahead *here = &w->sum[0][m], *before = &w->sum[1][m], *stage = &w->stage[m];
    if (r->jump < 0) {
        here->m[i] += s->weight;
        here->r[i] += s->weight * share_behind(w, r);
    } else if (w->t->jump[r->jump + i]) {
        const double part = 2 * (1 - INTEG_SDIRK_GAMMA);
        here->m[i] += s->weight * (1 - part);
        stage->m[i] += s->weight * part;
    } else {
        here->m[i] += s->weight * TRAN_BEHIND;
        before->m[i] += s->weight * (1 - TRAN_BEHIND);
        before->r[i] += s->weight * (1 - TRAN_BEHIND);
    }
}

static void take_seeds(back *w, int64_t node)
{
    while (w->n_seed && w->t->row[w->seed[w->n_seed - 1].row].node == node) {
        const ana_seed *s = &w->seed[--w->n_seed];
        seed_row(w, s, &w->t->row[s->row]);
    }
}

/* Just behind a node, charges are those at the node, and what has none follows the sources: to the
 * order of the step, as the step behind it has it, whose factors are still there. Where a corner
 * moves, derivatives of sources jump, and this is what the measures see of it. */
static vs_status show_behind(back *w, int64_t node, const double *x)
{
    const tape_node *k = &w->t->node[node];
    bool any = false;
    if (node + 1 >= (int64_t)vec_len(w->t->node) || !k[1].stage)
        return VS_OK;
    for (int32_t i = 0; i < w->n_measure; i++) {
        const double *r = w->sum[0][i].r;
        bool some = false;
        for (size_t j = 1; j < stride(w->t); j++) {
            w->rhs[j] = -r[j];
            some |= r[j] != 0;
        }
        memset(w->q[i], 0, stride(w->t) * sizeof(double));
        memset(w->f[i], 0, stride(w->t) * sizeof(double));
        if (some)
            lu_solve(&w->lu, w->rhs + 1, w->f[i] + 1);
        any |= some;
    }
    const ckt_env env = env_of(w, k);
    return any ? show(w, &env, x, BEHIND) : VS_OK;
}

/* -- the start -- */

/* The charges at t = 0 are what the first steps began with. */
static vs_status back_to_charge(back *w, const double *x)
{
    const tape_node *k = &w->t->node[0];
    ckt_env env = env_of(w, k);
    env.alpha = w->t->node[1].alpha; /* any: C alone is wanted */
    env.initial_step = true;
    vs_status st = linearise(w, &env, x);
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        memset(w->f[i], 0, stride(w->t) * sizeof(double));
        memcpy(w->q[i], w->sum[0][i].s, stride(w->t) * sizeof(double));
    }
    return st == VS_OK ? show(w, &env, x, POINT) : st;
}

static vs_status back_to_start(back *w, const double *x)
{
    ana *a = w->t->a;
    const newton_eq eq = ana_static_eq(a, true);
    ckt_env env = eq.env;
    vs_status st = VS_OK;
    env.limit = false;
    env.iter = 1;
    if (!w->t->o.uic) {
        st = load(w, &env, x, w->g);
        for (size_t k = 0; k < eq.n_force; k++)
            add_diagonal(w, eq.force[k].unknown, eq.gforce);
        if (st == VS_OK)
            st = factor(w, 0);
    }
    for (int32_t i = 0; i < w->n_measure && st == VS_OK; i++) {
        const double sign = w->t->o.uic ? 1 : -1;
        for (size_t j = 1; j < stride(w->t); j++) {
            w->rhs[j] = sign * w->sum[0][i].m[j];
            w->mu[j] = -sign * w->sum[0][i].s[j];
            w->q[i][j] = 0;
        }
        add_charge(w, w->mu, w->rhs);
        if (w->t->o.uic)
            memcpy(w->f[i], w->rhs, stride(w->t) * sizeof(double));
        else
            lu_solve(&w->lu, w->rhs + 1, w->f[i] + 1);
    }
    return st == VS_OK ? show(w, &env, x, w->t->o.uic ? GIVEN : POINT) : st;
}

static vs_status back_at_start(back *w)
{
    const double *x;
    vs_status st = solution(w->t, 0, &x);
    take_seeds(w, 0);
    if (st == VS_OK)
        st = show_behind(w, 0, x);
    if (st == VS_OK)
        st = back_to_charge(w, x);
    return st == VS_OK ? back_to_start(w, x) : st;
}

static void rotate(back *w)
{
    ahead *was = w->sum[0];
    w->sum[0] = w->sum[1];
    w->sum[1] = w->sum[2];
    w->sum[2] = was;
    clear_ahead(w, was);
    clear_ahead(w, w->stage);
}

static vs_status run_back(back *w)
{
    vs_status st = VS_OK;
    const double n = (double)vec_len(w->t->node);
    for (int64_t k = (int64_t)vec_len(w->t->node) - 1; k > 0 && st == VS_OK; k--) {
        const bool staged = w->t->node[k - 1].stage;
        const double *x;
        take_seeds(w, k);
        st = solution(w->t, k, &x);
        if (st == VS_OK)
            st = show_behind(w, k, x);
        if (st == VS_OK)
            st = step_back(w, k, w->sum[0], w->sum[1], w->sum[2], staged ? w->stage : w->sum[1]);
        if (staged && st == VS_OK)
            st = step_back(w, --k, w->stage, w->sum[1], w->sum[2], w->sum[1]);
        rotate(w);
        if (ana_tick(w->t->a, &w->next_progress, 1 - (double)k / n, w->t->node[k].t,
                     w->t->sink->progress, w->t->sink->stop, w->t->sink->user) &&
            st == VS_OK)
            st = VS_STOP;
    }
    return st == VS_OK ? back_at_start(w) : st;
}

vs_status ana_tape_back(ana_tape *t, const ana_seed *seed, size_t n_seed, int32_t n_measure,
                        vs_status (*visit)(void *user, const ana_adjoint *at), void *user)
{
    back w = {.seed = seed, .n_seed = n_seed, .visit = visit, .user = user};
    t->a->tran->tape = NULL;
    vs_status st = begin(&w, t, n_measure);
    if (st == VS_OK)
        st = run_back(&w);
    lu_fini(&w.lu);
    arena_fini(&w.mem);
    return st;
}
