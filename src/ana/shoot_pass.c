/* shoot_pass.c - shooting: one pass over the period, and products with its derivative. */
#include <math.h>
#include <string.h>

#include "shoot.h"
#include "vec.h"

/* Differences of x below this, in tolerances, are none. */
static const double nothing = 1e-3;
/* Devices whose voltages moved little may leave this part of the tolerances in a row. */
static const double held_part = 0.05;

typedef struct now {                           /* where the pass is */
    double *q, *lo, *d, *q_before, *lo_before; /* [stride] q_n and what rounding took; k_n; q_n-1 */
    double *x, *f, *hist, *k[SHOOT_STAGES], *dx; /* [stride] */
    double part, length;                         /* of the period: where x is; of the step */
    size_t at;                                   /* in s->old_t */
    double *before;                              /* [stride] x of the last stage */
    double
        moved; /* by the last stage's iteration from its guess, in parts of what one update may */
    int together; /* steps up to here at whose ends x was that of the pass that this one follows */
} now;

/* -- linearisations -- */

static shoot_lin *lin_at(ana_shot *s, int32_t stage)
{
    return stage < s->n_kept ? &s->kept[stage] : &s->lin;
}

static void lin_begin(ana_shot *s, shoot_lin *l)
{
    const csc *j = s->a->jac;
    const size_t nz = (size_t)s->nnz + 1;
    lu_opt o = s->a->lu.opt;
    if (l->g)
        return;
    o.brief = l != &s->lin; /* one of thousands of a pass */
    l->g = vs_calloc(nz, sizeof *l->g);
    l->c = vs_calloc(nz, sizeof *l->c);
    l->m = (csc){
        .n = j->n, .colptr = j->colptr, .row = j->row, .val = vs_calloc(nz, sizeof *l->m.val)};
    lu_init(&l->lu, &o);
}

static void lin_end(shoot_lin *l)
{
    if (!l->g)
        return;
    lu_fini(&l->lu);
    vs_free(l->g);
    vs_free(l->c);
    vs_free(l->m.val);
    *l = (shoot_lin){0};
}

static vs_status singular(const ana_shot *s, const shoot_lin *l, double part)
{
    diag_error(s->a->d, s->o.span, "the matrix of a step is singular at %s, t = %.9g s",
               l->lu.stat.singular >= 0 ? ana_unknown_text(s->a, l->lu.stat.singular + 1)
                                        : "some node",
               s->t0 + part * s->period);
    return VS_ESINGULAR;
}

static ckt_env env_at(const ana_shot *s, const shoot_stage *g)
{
    return (ckt_env){.mode = CKT_TRAN,
                     .time = s->t0 + g->part * s->period,
                     .alpha = g->alpha,
                     .gmin = s->a->opt.gmin,
                     .srcfact = 1,
                     .iter = 1,
                     .held = s->lines != NULL};
}

/* G, C at x and the factors of G + alpha C. loaded: the last load was at x. */
static vs_status linearise(ana_shot *s, const shoot_stage *g, const double *x, bool loaded,
                           shoot_lin *l)
{
    ana *a = s->a;
    const ckt_env env = env_at(s, g);
    lin_begin(s, l);
    watch_phase(a->watch, ANA_IN_LOAD);
    vs_status st = loaded ? ckt_load_slopes(a->c, &env, x, l->g, l->c)
                          : ckt_load_ac(a->c, &env, x, false, l->g, l->c);
    watch_phase(a->watch, ANA_IN_REFACTOR);
    if (st != VS_OK)
        return st;
    for (int32_t i = 1; i <= a->n && a->opt.rshunt > 0; i++)
        if (a->gdiag[i])
            l->g[a->gdiag[i] - a->jac->val] += 1 / a->opt.rshunt;
    for (int32_t p = 0; p < s->nnz; p++)
        l->m.val[p] = l->g[p] + g->alpha * l->c[p];
    if (!l->analyzed) {
        st = lu_analyze(&l->lu, &l->m);
        l->analyzed = st == VS_OK;
    }
    if (st == VS_OK)
        st = l->factored ? lu_refactor(&l->lu, &l->m) : VS_REPIVOT;
    if (st == VS_REPIVOT) {
        watch_phase(a->watch, ANA_IN_FACTOR);
        st = lu_factor(&l->lu, &l->m);
    }
    watch_phase(a->watch, ANA_IN_TEST);
    l->factored = st == VS_OK;
    if (st == VS_EUNSUPPORTED)
        ana_say_refused(s->a, &l->lu);
    return st == VS_ESINGULAR ? singular(s, l, g->part) : st;
}

/* y += by A v with values in the circuit's pattern; vectors from 1. */
static void add_product(const ana_shot *s, const double *val, double by, const double *v, double *y)
{
    const csc *j = s->a->jac;
    for (int32_t c = 0; c < j->n; c++) {
        const double w = by * v[c + 1];
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1] && w != 0; p++)
            y[j->row[p] + 1] += val[p] * w;
    }
}

/* -- columns -- */

static void wave_make(ana_shot *s, int32_t n_column)
{
    shoot_wave *w = &s->wave;
    double **const v[] = {&w->q,    &w->q_before, &w->d,    &w->k[0], &w->k[1],
                          &w->k[2], &w->k[3],     &w->k[4], &w->x};
    w->n_column = n_column;
    w->dlnt = vs_realloc(w->dlnt, (size_t)(n_column + 1) * sizeof(double));
    memset(w->dlnt, 0, (size_t)(n_column + 1) * sizeof(double));
    for (size_t i = 0; i < VS_COUNT(v); i++) {
        const size_t bytes = (size_t)(n_column + 1) * s->n1 * sizeof(double);
        *v[i] = vs_realloc(*v[i], bytes);
        memset(*v[i], 0, bytes);
    }
}

/* One stage: the columns at its end, from those of the steps before. turn [n+1]: NULL if no column
 * has dlnt. With r the right side without what lines do, -G dx and that is alpha C dx - r. */
static void propagate(ana_shot *s, const shoot_stage *g, shoot_lin *l, const double *turn)
{
    shoot_wave *w = &s->wave;
    const shoot_track *lines = shoot_lines_change(s);
    watch_phase(s->a->watch, ANA_IN_PRODUCT);
    for (int32_t col = 0; col < w->n_column; col++) {
        const size_t at = (size_t)col * s->n1;
        double *q = w->q + at, *before = w->q_before + at, *d = w->d + at, *x = w->x + at,
               *k = w->k[g->number] + at;
        for (size_t i = 1; i < s->n1; i++) {
            x[i] = g->alpha * q[i] - g->b * d[i] + g->a * (q[i] - before[i]);
            for (int32_t j = 0; j < g->number; j++)
                x[i] -= g->w[j] * w->k[j][at + i];
            if (turn)
                x[i] += w->dlnt[col] * turn[i];
            k[i] = -x[i];
        }
        shoot_lines_drive(s, lines, x);
        lu_solve(&l->lu, x + 1, x + 1);
        add_product(s, l->c, g->alpha, x, k);
        if (!g->ends)
            continue;
        memcpy(before, q, s->n1 * sizeof *q);
        memset(q, 0, s->n1 * sizeof *q);
        add_product(s, l->c, 1, x, q);
        memcpy(d, k, s->n1 * sizeof *k);
    }
    watch_phase(s->a->watch, ANA_IN_OTHER);
}

/* The columns at t_0: those of C for the unknowns of the state, and one for ln T. */
static void begin_columns(ana_shot *s)
{
    const csc *j = s->a->jac;
    const int32_t n = (int32_t)vec_len(s->state);
    wave_make(s, n + (s->o.osc ? 1 : 0));
    for (int32_t col = 0; col < n; col++) {
        const int32_t c = s->state[col] - 1;
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++)
            s->wave.q[(size_t)col * s->n1 + (size_t)j->row[p] + 1] += s->c0[p];
    }
    s->wave.dlnt[n] = s->o.osc ? 1 : 0;
}

/* The changes of the state that are carried along: first of one tolerance in each unknown, all of
 * one sign, or of signs as a generator of random numbers says, of which slow states of every shape
 * have a part. Later, what the pass before left of them. */
static void begin_probe(ana_shot *s)
{
    wave_make(s, SHOOT_PROBES);
    if (!s->probe) {
        uint32_t random = 1;
        s->probe = vs_calloc(SHOOT_PROBES * s->n1, sizeof *s->probe);
        for (size_t k = 0; k < vec_len(s->state); k++) {
            const int32_t i = s->state[k];
            const double tol = s->reltol * s->scale[i] + s->tol_x[i];
            random = random * 1664525u + 1013904223u;
            s->probe[i] = tol;
            s->probe[s->n1 + (size_t)i] = random >> 31 ? tol : -tol;
        }
        s->left = 1;
    }
    for (size_t col = 0; col < SHOOT_PROBES; col++)
        add_product(s, s->c0, 1, s->probe + col * s->n1, s->wave.q + col * s->n1);
}

static void end_probe(ana_shot *s)
{
    memcpy(s->probe, s->wave.x, SHOOT_PROBES * s->n1 * sizeof *s->probe);
    s->left_before = s->left;
    s->left = 0;
    for (size_t k = 0; k < SHOOT_PROBES * vec_len(s->state); k++) {
        const size_t i = (size_t)s->state[k / SHOOT_PROBES];
        const double size =
            fabs(s->probe[k % SHOOT_PROBES * s->n1 + i]) / (s->reltol * s->scale[i] + s->tol_x[i]);
        s->left = size <= s->left ? s->left : size;
    }
}

vs_status shoot_product(ana_shot *s, const double *v, double dlnt, double *to)
{
    shoot_stage g[SHOOT_STAGES];
    shoot_track *lines = shoot_lines_change(s);
    int32_t at = 0;
    vs_status st = VS_OK;
    wave_make(s, 1);
    shoot_lines_begin(s, lines, v + s->n1);
    s->wave.dlnt[0] = dlnt;
    add_product(s, s->c0, 1, v, s->wave.q);
    for (size_t k = 0; k < vec_len(s->step) && st == VS_OK; k++) {
        const int32_t n = shoot_stages(s, (int32_t)k, g);
        if (s->sink->stop && s->sink->stop(s->sink->user))
            st = VS_STOP;
        for (int32_t i = 0; i < n && st == VS_OK; i++, at++) {
            shoot_lin *l = lin_at(s, at);
            shoot_lines_stage(s, lines, &g[i], (int32_t)k, dlnt);
            if (at >= s->n_kept) {
                shoot_lines_hold(s, lines);
                st = linearise(s, &g[i], s->xk + (size_t)at * s->n1, false, l);
            }
            if (st == VS_OK)
                propagate(s, &g[i], l, dlnt != 0 ? s->turn + (size_t)at * s->n1 : NULL);
            shoot_lines_advance(s, lines, &g[i], (int32_t)k, s->wave.x);
        }
    }
    memcpy(to, s->wave.x, s->n1 * sizeof *to);
    shoot_lines_end(s, lines, to + s->n1);
    return st;
}

/* -- the pass -- */

static now now_make(const ana_shot *s)
{
    now w = {.part = 0};
    double **const v[] = {&w.q,    &w.lo,   &w.d,      &w.q_before, &w.lo_before,
                          &w.x,    &w.f,    &w.before, &w.hist,     &w.dx,
                          &w.k[0], &w.k[1], &w.k[2],   &w.k[3],     &w.k[4]};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        *v[i] = vs_calloc(s->stride, sizeof(double));
    return w;
}

static void now_free(now *w)
{
    double *const v[] = {w->q,    w->lo,   w->d,      w->q_before, w->lo_before,
                         w->x,    w->f,    w->before, w->hist,     w->dx,
                         w->k[0], w->k[1], w->k[2],   w->k[3],     w->k[4]};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        vs_free(v[i]);
}

/* All terms of k but alpha (q - q_n); those that a period of another length leaves alone to
 * `still`. */
static void set_history(const ana_shot *s, const now *w, const shoot_stage *g, double *still)
{
    for (size_t i = 1; i < s->n1; i++) {
        still[i] = g->b * w->d[i];
        for (int32_t j = 0; j < g->number; j++)
            still[i] += g->w[j] * w->k[j][i];
        w->hist[i] = still[i] - g->a * ((w->q[i] - w->q_before[i]) + (w->lo[i] - w->lo_before[i]));
    }
}

static newton_eq equation(const ana_shot *s, const now *w, const shoot_stage *g, bool patient)
{
    const option_set *o = &s->a->opt;
    enum { MORE = 10 };
    newton_eq eq = {.env = env_at(s, g),
                    .q_n = w->q,
                    .qlo_n = w->lo,
                    .hist = w->hist,
                    .gshunt = o->rshunt > 0 ? 1 / o->rshunt : 0,
                    .xmax = s->x_max,
                    .rmax = s->r_max,
                    .itl = (patient ? MORE : 1) * (o->itl4 > 10 ? o->itl4 : 10),
                    .itl_more = 3 * MORE * o->itl4};
    eq.env.limit = true;
    eq.env.weight = s->weight[1] > 0 ? s->weight : NULL;
    eq.env.blur = ana_blur(s->a, held_part);
    return eq;
}

/* x += by times x at a time of the pass before; *k: stages before it were looked at. */
static void add_old(const ana_shot *s, double part, size_t *k, double by, double *x)
{
    const size_t n = vec_len(s->old_t);
    while (*k + 2 < n && s->old_t[*k + 1] <= part)
        ++*k;
    while (*k > 0 && s->old_t[*k] > part)
        --*k;
    const double f = fmin((part - s->old_t[*k]) / (s->old_t[*k + 1] - s->old_t[*k]), 1);
    const float *a = s->old + *k * s->n1, *b = a + s->n1;
    for (size_t i = 1; i < s->n1; i++)
        x[i] += by * (a[i] + f * ((double)b[i] - a[i]));
}

/* -- where Newton's method begins -- */

/* What stages of SDIRK4 are away from the solution, by h^2 x'': sum a_ij c_j - c_i^2 / 2. */
static const double stage_miss[SHOOT_STAGES] = {1. / 32, 1. / 32, 33. / 800, 31. / 680, 0};

/* The points of the last grid, of which 0 is t_0, that a polynomial around its step j goes through:
 * up to four, between corners. Returns how many, the first one to *from. */
enum { THROUGH = 4 };
static int32_t ends_around(const ana_shot *s, int32_t j, int32_t *from)
{
    const shoot_step *step = s->last_step;
    const int32_t n = (int32_t)vec_len(step);
    int32_t first = j, last = j + 1;
    if (!step[j].fresh)
        first--;
    if (last < n && !step[last].fresh)
        last++;
    while (last - first + 1 < THROUGH && first > 0 && !step[first].fresh && first > j - 2)
        first--;
    while (last - first + 1 < THROUGH && last < n && !step[last].fresh && last < j + 3)
        last++;
    *from = first;
    return last - first + 1;
}

/* x += by (x of the last grid at `part` + what a stage misses by, in `bend` = h^2 of periods). */
static void add_last(const ana_shot *s, double part, size_t *k, double by, double bend, double *x)
{
    const shoot_step *step = s->last_step;
    double t[THROUGH] = {0}, value[THROUGH], second[THROUGH];
    int32_t from;
    while (*k + 1 < vec_len(step) && step[*k].end < part)
        ++*k;
    while (*k > 0 && step[*k - 1].end >= part)
        --*k;
    const int32_t n = ends_around(s, (int32_t)*k, &from);
    for (int32_t i = 0; i < n; i++)
        t[i] = from + i ? step[from + i - 1].end : 0;
    shoot_weights(t, n, part, value, NULL, second);
    for (int32_t i = 0; i < n; i++) {
        const double w = by * (value[i] + bend * second[i]);
        const double *p = s->last_xs + (size_t)(from + i) * s->n1;
        for (size_t u = 1; u < s->n1; u++)
            x[u] += w * p[u];
    }
}

/* From the last x on, what the pass before did; or, if that had other steps, what the solution on
 * those did. */
static void guess(const ana_shot *s, now *w, const shoot_stage *g)
{
    if (vec_len(s->old_t) > 1) {
        add_old(s, w->part, &w->at, -1, w->x);
        add_old(s, g->part, &w->at, 1, w->x);
    } else if (vec_len(s->last_step)) {
        const bool sdirk = s->rule == ANA_SHOOT_SDIRK4;
        const double bend = sdirk ? w->length * w->length : 0;
        add_last(s, w->part, &w->at, -1, g->number ? bend * stage_miss[g->number - 1] : 0, w->x);
        add_last(s, g->part, &w->at, 1, bend * stage_miss[g->number], w->x);
    }
    w->part = g->part;
}

/* Newton from the guess, where it is. If it fails, from the last point with new starts of the
 * devices' limits. */
static vs_status iterate(ana_shot *s, now *w, const shoot_stage *g)
{
    ana *a = s->a;
    newton_eq eq = equation(s, w, g, false);
    vs_status st = newton_run(a, &eq, w->x, &s->rep);
    if (st != VS_NOCONV)
        return st;
    memcpy(w->x, w->before, s->n1 * sizeof *w->x);
    ckt_reset_limits(a->c);
    eq = equation(s, w, g, true);
    st = newton_run(a, &eq, w->x, &s->rep);
    s->failed_at = eq.env.time;
    return st;
}

/* One update with the exact matrix from what was loaded at x, to w->dx. Sets w->k and the charges
 * of the stage into a->q, w->f (what rounding took), as they are before it. */
static vs_status find_update(ana_shot *s, now *w, const shoot_stage *g, shoot_lin *l)
{
    ana *a = s->a;
    const double shunt = a->opt.rshunt > 0 ? 1 / a->opt.rshunt : 0, *rest = ckt_charge_rest(a->c);
    double *k = w->k[g->number], *lo = w->f;
    memcpy(lo, rest, s->n1 * sizeof *lo);
    for (size_t i = 1; i < s->n1; i++) {
        k[i] = g->alpha * ((a->q[i] - w->q[i]) + (lo[i] - w->lo[i])) + w->hist[i];
        w->dx[i] = a->f[i] + k[i] + (a->gdiag[i] ? shunt * w->x[i] : 0);
    }
    const vs_status st = linearise(s, g, w->x, true, l);
    watch_phase(a->watch, ANA_IN_SOLVE);
    if (st == VS_OK)
        lu_solve(&l->lu, w->dx + 1, w->dx + 1);
    watch_phase(a->watch, ANA_IN_TEST);
    return st;
}

/* The update, of which charges follow by C: what is left is of second order. */
static void apply_update(ana_shot *s, now *w, const shoot_stage *g, const shoot_lin *l)
{
    ana *a = s->a;
    double *k = w->k[g->number], *lo = w->f;
    for (size_t i = 1; i < s->n1; i++)
        w->x[i] -= w->dx[i];
    add_product(s, l->c, -1, w->dx, lo);
    for (size_t i = 1; i < s->n1; i++)
        k[i] = g->alpha * ((a->q[i] - w->q[i]) + (lo[i] - w->lo[i])) + w->hist[i];
}

/* The largest of v [n+1] in parts of an update after which no other one is needed: it is below
 * `near` tolerances, and for a node's voltage v what an exponential leaves, v^2 / 2 Vt, is below
 * `leaves` of them. */
static double size_for_one(const ana_shot *s, const double *v)
{
    static const double near = 0.3, leaves = 2e-3, vt = 0.025;
    double most = 0;
    for (size_t i = 1; i < s->n1; i++) {
        const double tol = s->reltol * s->scale[i] + s->tol_x[i];
        double one = near * tol;
        if (s->a->u[i].kind != CKT_CURRENT)
            one = fmin(one, sqrt(2 * vt * leaves * tol));
        const double size = fabs(v[i]) / one;
        most = size <= most ? most : size;
    }
    return most;
}

/* Updates with exact matrices, one evaluation each, from a guess that is near, until no other one
 * is needed. *done: that is so, and the last one is still to be applied. */
static vs_status update_few(ana_shot *s, now *w, const shoot_stage *g, shoot_lin *l, bool *done)
{
    enum { MOST_UPDATES = 3 };
    static const double far = 64, falls = 0.25; /* in parts of what one update may */
    ana *a = s->a;
    double before = INFINITY;
    *done = false;
    if (!vec_len(s->last_step) || !(w->moved < far))
        return VS_OK;
    const newton_eq eq = equation(s, w, g, false);
    for (int k = 0; k < MOST_UPDATES; k++) {
        bool limited = true;
        watch_phase(a->watch, ANA_IN_LOAD);
        vs_status st = ckt_load(a->c, &eq.env, w->x, a->f, a->q, a->fmax, a->qmax, &limited);
        watch_phase(a->watch, ANA_IN_TEST);
        if (st == VS_OK && !limited)
            st = find_update(s, w, g, l);
        if (st != VS_OK || limited) {
            w->moved = INFINITY;
            return st == VS_NOCONV || st == VS_OK ? VS_OK : st;
        }
        a->st.iterations++;
        const double size = size_for_one(s, w->dx);
        if (k == 0)
            w->moved = size;
        *done = size <= 1;
        if (*done || !(size <= far) || !(size <= falls * before))
            break;
        for (size_t i = 1; i < s->n1; i++)
            w->x[i] -= w->dx[i];
        before = size;
    }
    return VS_OK;
}

/* A solution of the stage's equation: w->x, w->k, charges as find_update. */
static vs_status solve(ana_shot *s, now *w, const shoot_stage *g, shoot_lin *l)
{
    bool done;
    memcpy(w->before, w->x, s->n1 * sizeof *w->x);
    guess(s, w, g);
    vs_status st = update_few(s, w, g, l, &done);
    if (st == VS_OK && !done) {
        double *from = w->f; /* until there is an update */
        memcpy(from, w->x, s->n1 * sizeof *from);
        st = iterate(s, w, g);
        for (size_t i = 1; i < s->n1 && st == VS_OK; i++)
            from[i] -= w->x[i];
        w->moved = st == VS_OK ? size_for_one(s, from) : INFINITY;
        if (st == VS_OK)
            st = find_update(s, w, g, l);
    }
    if (st == VS_OK)
        apply_update(s, w, g, l);
    return st;
}

/* SDIRK4: the difference to the embedded method of order 3 (Hairer & Wanner), as a change of x. */
static void estimate(ana_shot *s, now *w, shoot_lin *l, int32_t step)
{
    double *d = w->hist, most = 0;
    for (size_t i = 1; i < s->n1; i++) {
        d[i] = 0;
        for (int j = 0; j < SHOOT_STAGES; j++)
            d[i] += shoot_embedded[j] * w->k[j][i];
    }
    lu_solve(&l->lu, d + 1, d + 1);
    for (size_t i = 1; i < s->n1; i++)
        if (s->a->u[i].kind != CKT_CURRENT || s->a->u[i].has_q)
            most = fmax(most, fabs(d[i]) / (s->reltol * s->scale[i] + s->tol_x[i]));
    s->step[step].error = most;
}

/* The stages of a step are not in the order of time. */
static void keep_path(ana_shot *s, const now *w, const shoot_stage *g)
{
    const size_t n = vec_len(s->path_t), n1 = s->n1;
    size_t at = n;
    vec_push(s->path_t, g->part);
    vec_extend(s->path, n1);
    for (; at > 0 && s->path_t[at - 1] > g->part; at--)
        s->path_t[at] = s->path_t[at - 1];
    s->path_t[at] = g->part;
    memmove(s->path + (at + 1) * n1, s->path + at * n1, (n - at) * n1 * sizeof *s->path);
    for (size_t i = 0; i < n1; i++)
        s->path[at * n1 + i] = (float)w->x[i];
}

/* The largest difference of x to that of the last pass at the same step, in tolerances. */
static double off_last(const ana_shot *s, const double *x, const double *last)
{
    double most = 0;
    for (size_t i = 1; i < s->n1; i++) {
        const double d = fabs(x[i] - last[i]) / (s->reltol * s->scale[i] + s->tol_x[i]);
        most = d <= most ? most : d;
    }
    return most;
}

/* What held linearisations may leave out, as far as the rows' sizes are known. */
static void weigh_rows(ana_shot *s)
{
    const ana *a = s->a;
    for (size_t i = 1; i < s->n1; i++) {
        s->row_max[i] = fmax(s->row_max[i], s->r_max[i]);
        s->weight[i] = 1 / (held_part * (a->opt.reltol * s->row_max[i] + a->tol_r[i]));
    }
}

static void end_step(ana_shot *s, now *w, const shoot_stage *g, int32_t step)
{
    double *q = w->q_before, *lo = w->lo_before;
    w->q_before = w->q;
    w->lo_before = w->lo;
    w->q = q;
    w->lo = lo;
    memcpy(w->q, s->a->q, s->n1 * sizeof *q);
    memcpy(w->lo, w->f, s->n1 * sizeof *lo);
    memcpy(w->d, w->k[g->number], s->n1 * sizeof *q);
    const size_t at = (size_t)(step + 1) * s->n1;
    if (s->follows) {
        w->together = !s->probes && off_last(s, w->x, s->xs + at) <= nothing ? w->together + 1 : 0;
    } else {
        vec_extend(s->xs, s->n1);
        vec_extend(s->qs, s->n1);
    }
    memcpy(s->xs + at, w->x, s->n1 * sizeof *q);
    for (size_t i = 0; i < s->n1; i++) {
        s->qs[at + i] = w->q[i] + w->lo[i];
        s->x_max[i] = fmax(s->x_max[i], fabs(w->x[i]));
        s->r_max[i] = fmax(s->r_max[i], s->a->fmax[i]);
    }
    if (!s->weighed)
        weigh_rows(s);
}

/* What a product needs of the stage. */
static void keep_stage(ana_shot *s, const now *w, const shoot_stage *g, const double *still)
{
    size_t at = vec_len(s->xk);
    vec_extend(s->xk, s->n1);
    memcpy(s->xk + at, w->x, s->n1 * sizeof *w->x);
    if (!s->o.osc)
        return;
    at = vec_len(s->turn);
    vec_extend(s->turn, s->n1);
    for (size_t i = 0; i < s->n1; i++)
        s->turn[at + i] = w->k[g->number][i] - still[i];
}

static vs_status one_stage(ana_shot *s, now *w, const shoot_stage *g, int32_t step, int32_t number,
                           bool derive, double *still)
{
    shoot_lin *l = derive ? lin_at(s, number) : &s->lin;
    shoot_track *lines = shoot_lines_pass(s);
    shoot_lines_stage(s, lines, g, step, 0);
    shoot_lines_hold(s, lines);
    watch_phase(s->a->watch, ANA_IN_PREDICT);
    set_history(s, w, g, still);
    const vs_status st = solve(s, w, g, l);
    watch_phase(s->a->watch, ANA_IN_OTHER);
    if (st != VS_OK)
        return st;
    if (s->probes) {
        propagate(s, g, l, NULL);
    } else if (derive && s->dense) {
        for (size_t i = 0; i < s->n1; i++)
            still[i] = w->k[g->number][i] - still[i];
        propagate(s, g, l, s->o.osc ? still : NULL);
    } else if (derive) {
        keep_stage(s, w, g, still);
    }
    shoot_lines_advance(s, lines, g, step, w->x);
    keep_path(s, w, g);
    if (s->keeps_stages)
        memcpy(s->stage + ((size_t)step * SHOOT_STAGES + (size_t)g->number) * s->n1, w->x,
               s->n1 * sizeof *w->x);
    if (g->ends && g->number == SHOOT_STAGES - 1)
        estimate(s, w, l, step);
    if (g->ends)
        end_step(s, w, g, step);
    return VS_OK;
}

/* The path of a pass that came to its end is where guesses of the next one on this grid are from.
 */
static void begin_path(ana_shot *s)
{
    if (s->path_grid != s->grid) {
        vec_free(s->old_t);
        vec_free(s->old);
        s->old_t = NULL;
        s->old = NULL;
    } else if (vec_len(s->path_t) && vec_last(s->path_t) == 1) {
        double *const t = s->old_t;
        float *const x = s->old;
        s->old_t = s->path_t;
        s->old = s->path;
        s->path_t = t;
        s->path = x;
    }
    s->path_grid = s->grid;
    vec_clear(s->path_t);
    vec_clear(s->path);
    vec_push(s->path_t, 0);
    vec_extend(s->path, s->n1);
    for (size_t i = 0; i < s->n1; i++)
        s->path[i] = (float)s->x0[i];
}

/* The pass has come together with the one that it follows: the rest is that one's. */
static void end_path(ana_shot *s)
{
    const size_t n = vec_len(s->old_t), n1 = s->n1;
    size_t k = 0, at = vec_len(s->path);
    while (k < n && s->old_t[k] <= vec_last(s->path_t))
        k++;
    vec_extend(s->path, (n - k) * n1);
    memcpy(s->path + at, s->old + k * n1, (n - k) * n1 * sizeof *s->path);
    for (; k < n; k++)
        vec_push(s->path_t, s->old_t[k]);
}

void shoot_keep_cycle(ana_shot *s)
{
    const cycle *c = &s->c;
    size_t corner = 0;
    double from = 0;
    vec_extend(s->last_xs, s->n1);
    memcpy(s->last_xs, s->x0, s->n1 * sizeof *s->x0);
    for (size_t k = 0; k < vec_len(c->t); k++) {
        static const double same = 1e-10;
        const double part = (c->t[k] - s->t0) / s->period;
        if (part <= from + same)
            continue;
        while (corner < vec_len(s->corner) && s->corner[corner] < from - same)
            corner++;
        const bool fresh =
            from == 0 || (corner < vec_len(s->corner) && s->corner[corner] <= from + same);
        vec_push(s->last_step, ((shoot_step){part, fresh, -1}));
        const size_t at = vec_len(s->last_xs);
        vec_extend(s->last_xs, s->n1);
        memcpy(s->last_xs + at, c->x + k * s->n1, s->n1 * sizeof *s->x0);
        from = part;
    }
}

void shoot_leave_grid(ana_shot *s, bool solved)
{
    s->grid++;
    if (!solved)
        return;
    double *const x = s->last_xs;
    s->last_xs = s->xs;
    s->xs = x;
    vec_clear(s->last_step);
    const size_t n = vec_len(s->step);
    vec_extend(s->last_step, n);
    memcpy(s->last_step, s->step, n * sizeof *s->step);
}

/* Charges, C and the state's unknowns at t_0. */
static vs_status begin_pass(ana_shot *s, now *w)
{
    ana *a = s->a;
    const csc *j = a->jac;
    bool limited;
    const shoot_stage g = {.alpha = 1 / s->period};
    ckt_env env = env_at(s, &g);
    memcpy(w->x, s->x0, s->n1 * sizeof *w->x);
    ckt_reset_limits(a->c);
    vs_status st = ckt_load(a->c, &env, w->x, a->f, w->q, a->fmax, a->qmax, &limited);
    if (st == VS_OK) {
        memcpy(w->lo, ckt_charge_rest(a->c), s->n1 * sizeof *w->lo);
        st = ckt_load_slopes(a->c, &env, w->x, s->lin.g, s->c0);
    }
    if (st != VS_OK) {
        s->failed_at = s->t0;
        s->rep = (newton_report){.nonfinite = true};
        return st;
    }
    vec_clear(s->state);
    for (int32_t c = 0; c < j->n; c++) {
        bool any = false;
        for (int32_t p = j->colptr[c]; p < j->colptr[c + 1]; p++)
            any |= s->c0[p] != 0;
        if (any)
            vec_push(s->state, c + 1);
    }
    if (!s->follows) {
        vec_clear(s->xs);
        vec_extend(s->xs, s->n1);
        vec_clear(s->qs);
        vec_extend(s->qs, s->n1);
    }
    if (s->keeps_stages && !s->follows) {
        vec_clear(s->stage);
        vec_extend(s->stage, vec_len(s->step) * SHOOT_STAGES * s->n1);
    }
    memcpy(s->xs, w->x, s->n1 * sizeof *w->x);
    memcpy(s->qs, w->q, s->n1 * sizeof *w->x);
    vec_clear(s->xk);
    vec_clear(s->turn);
    shoot_lines_begin(s, shoot_lines_pass(s), s->tail);
    begin_path(s);
    for (size_t i = 0; i < s->n1 && !s->follows; i++) {
        s->x_max[i] = fabs(w->x[i]);
        s->r_max[i] = a->fmax[i];
    }
    return VS_OK;
}

/* Columns of all states cost a solution each at a stage. Products of GMRES, tens of them, cost one
 * too where the linearisation is kept, else some 25, by the evaluation and the factors. Those of
 * the first stages are kept, as many as the user gives room. */
enum { DENSE_STATES = 100, DENSE_IF_NOT_KEPT = 1000 };
static void plan_memory(ana_shot *s, bool derive)
{
    const int32_t n = shoot_n_stage(s);
    const double each = 8.0 * (4.0 * s->nnz + 2.0 * fmax(s->a->lu.stat.nnz_lu, s->nnz)),
                 room = fmin(n, s->a->opt.pssmem / each);
    const size_t n_state = vec_len(s->state);
    s->dense = !s->lines && (double)n_state <=
                                DENSE_STATES + (DENSE_IF_NOT_KEPT - DENSE_STATES) * (1 - room / n);
    s->n_kept = s->dense ? 0 : (int32_t)room;
    while (derive && vec_len(s->kept) < (size_t)s->n_kept)
        vec_push(s->kept, ((shoot_lin){0}));
    for (size_t i = (size_t)s->n_kept; i < vec_len(s->kept); i++)
        lin_end(&s->kept[i]);
}

static bool asked_to_stop(ana_shot *s, double part)
{
    const ana_sink *k = s->sink;
    return ana_tick(s->a, &s->next_progress, part, s->t0 + part * s->period, k->progress, k->stop,
                    k->user);
}

vs_status shoot_pass(ana_shot *s, bool derive)
{
    enum { TOGETHER = 2 }; /* steps: rules of order 2 have a past */
    shoot_stage g[SHOOT_STAGES];
    now w = now_make(s);
    double *still = vs_calloc(s->n1, sizeof *still);
    int32_t number = 0;
    lin_begin(s, &s->lin);
    vs_status st = begin_pass(s, &w);
    if (st == VS_OK) {
        plan_memory(s, derive);
        if (s->probes)
            begin_probe(s);
        else if (derive && s->dense)
            begin_columns(s);
    }
    for (size_t k = 0; k < vec_len(s->step) && st == VS_OK && w.together < TOGETHER; k++) {
        const int32_t n = shoot_stages(s, (int32_t)k, g);
        w.length = s->step[k].end - (k ? s->step[k - 1].end : 0);
        for (int32_t i = 0; i < n && st == VS_OK; i++)
            st = one_stage(s, &w, &g[i], (int32_t)k, number++, derive, still);
        s->a->st.points_accepted++;
        if (st == VS_OK && asked_to_stop(s, s->step[k].end))
            st = VS_STOP;
    }
    if (st == VS_OK && w.together == TOGETHER)
        end_path(s);
    if (st == VS_OK && s->probes)
        end_probe(s);
    s->weighed = s->weighed || st == VS_OK;
    shoot_lines_measure(s);
    now_free(&w);
    vs_free(still);
    return st;
}

void shoot_residual(ana_shot *s, double *to)
{
    const double *end = shoot_end(s);
    for (size_t i = 0; i < s->n1; i++)
        to[i] = end[i] - s->x0[i];
    shoot_lines_end(s, shoot_lines_pass(s), to + s->n1);
    for (size_t i = 0; i < s->n_tail; i++)
        to[s->n1 + i] -= s->tail[i];
}

const double *shoot_end(const ana_shot *s) { return s->xs + vec_len(s->xs) - s->n1; }

/* -- slopes of charges -- */

/* The stencil of point k, up to five of its piece first .. last. */
enum { STENCIL = 5 };
static int stencil(const ana_shot *s, int32_t k, int32_t first, int32_t last, int32_t *from,
                   double *w)
{
    double t[STENCIL];
    const int n = last - first + 1 < STENCIL ? last - first + 1 : STENCIL;
    *from = k - n / 2;
    *from = *from < first ? first : *from + n - 1 > last ? last - n + 1 : *from;
    for (int j = 0; j < n; j++)
        t[j] = (*from + j ? s->step[*from + j - 1].end : 0) * s->period;
    shoot_weights(t, n, t[k - *from], NULL, w, NULL);
    return n;
}

/* Point k: x changes by A^-1 of what f + dq/dt is short of. */
static vs_status improve_point(ana_shot *s, int32_t k, int32_t first, int32_t last)
{
    ana *a = s->a;
    double w[STENCIL], *x = s->xs + (size_t)k * s->n1, *r = s->wave.x;
    int32_t from;
    bool limited;
    const int n = stencil(s, k, first, last, &from, w);
    const double length = s->step[k - 1].end - (k > 1 ? s->step[k - 2].end : 0);
    const shoot_stage g = {.part = s->step[k - 1].end, .alpha = 1e6 / (length * s->period)};
    ckt_env env = env_at(s, &g);
    env.weight = s->weight;
    env.blur = ana_blur(a, held_part);
    shoot_lines_rest(s, &g, x);
    vs_status st = ckt_load(a->c, &env, x, a->f, a->q, a->fmax, a->qmax, &limited);
    if (st == VS_OK)
        st = linearise(s, &g, x, true, &s->lin);
    for (size_t i = 1; i < s->n1; i++) {
        r[i] = a->f[i] + (a->gdiag[i] && a->opt.rshunt > 0 ? x[i] / a->opt.rshunt : 0);
        for (int j = 0; j < n; j++)
            r[i] += w[j] * s->qs[(size_t)(from + j) * s->n1 + i];
    }
    if (st != VS_OK)
        return st;
    lu_solve(&s->lin.lu, r + 1, r + 1);
    for (size_t i = 1; i < s->n1; i++)
        x[i] -= r[i];
    return VS_OK;
}

/* The stages of SDIRK4 are of lower order than its steps, and so are slopes of charges at their
 * ends. Where they determine a current, as that of a source across a capacitor, it is made anew
 * from slopes of order 4 through the points around; alpha is taken so large that charges stay. */
vs_status shoot_improve(ana_shot *s)
{
    const int32_t n = (int32_t)vec_len(s->step);
    vs_status st = VS_OK;
    wave_make(s, 1);
    for (int32_t first = 0, last; first < n && st == VS_OK; first = last) {
        last = first + 1;
        while (last < n && !s->step[last].fresh)
            last++;
        for (int32_t k = first + 1; k <= last && st == VS_OK; k++)
            st = improve_point(s, k, first, last);
    }
    memcpy(s->xs, shoot_end(s), s->n1 * sizeof *s->xs);
    return st;
}

void shoot_pass_free(ana_shot *s)
{
    shoot_wave *w = &s->wave;
    double *const v[] = {w->dlnt, w->q,    w->q_before, w->d,    w->k[0],
                         w->k[1], w->k[2], w->k[3],     w->k[4], w->x};
    for (size_t i = 0; i < VS_COUNT(v); i++)
        vs_free(v[i]);
    lin_end(&s->lin);
    for (size_t i = 0; i < vec_len(s->kept); i++)
        lin_end(&s->kept[i]);
    vec_free(s->kept);
    vec_free(s->xk);
    vec_free(s->turn);
    vec_free(s->path_t);
    vec_free(s->path);
    vec_free(s->stage);
    vec_free(s->old_t);
    vec_free(s->old);
    vec_free(s->last_step);
    vec_free(s->last_xs);
    vs_free(s->probe);
    vs_free(s->row_max);
    vs_free(s->weight);
}
