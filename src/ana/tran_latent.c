/* tran_latent.c - parts of a circuit in which nothing moves fall asleep and cost nothing, until
 * something beside them moves. docs/design.md, 4; docs/numerics.md, 12.
 *
 * While t->a->latent is set, all vectors of the analysis have the unknowns in slots (ckt_latent.h):
 * those of cells that are awake come first, and n and m are their number, so that every loop over
 * vectors covers the awake part only. Values of latent cells stand behind them. They do not change,
 * and are the same in all past points, so the history need not be shifted for them.
 *
 * A cell falls asleep when in QUIET points in a row none of its unknowns moved by more than PART of
 * its tolerance, and dq/dt of its rows moves none by as much in the next LOOK steps. It wakes
 * - when an unknown beside it has moved (ckt_latent_moved);
 * - when a solution moves one of its unknowns by more than PART of its tolerance;
 * - when dq/dt, as it was when it fell asleep, would have moved one of them by so much ("due").
 * Waking, it gets the charge dq/dt times the time that it slept: no charge is lost. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "pool.h"
#include "tran_priv.h"

#define PART 0.05 /* as BYPASS_PART of tran_step.c, of the tolerances of unknowns */
#define FAR 0.5   /* of a tolerance: devices at a latent cell are looked at when one moves so far */
enum { QUIET = 3, LOOK = 8, MOST_VECTORS = 80 };
/* Where for BUSY points at least 3 of 4 cells are awake, looking after them costs more than it
 * saves: PAUSE points are made without, and AGAIN more until a step leaves so many at rest that
 * some may sleep. One of 4 where older factors serve (near.c), since while parts are latent all
 * factors are new. */
enum { BUSY = 8, PAUSE = 64, AGAIN = 16 };

typedef struct latent_cell {
    double since, due; /* s: when it fell asleep; when it is to wake */
    int quiet;         /* points in a row without motion, while awake */
} latent_cell;

/* Of an unknown that sleeps: what all points of the history have of it, as long as it does. */
typedef struct latent_kept {
    double x, q, qlo, f, dq;
} latent_kept;

struct ana_latent {
    tran *t;
    int32_t n, m; /* of the analysis when all are awake */
    int n_vector;
    double *vector[MOST_VECTORS]; /* all that have a value for each unknown */
    latent_kept *kept;            /* [places of cells] */
    double **other;               /* [threads] scratch: a vector in the other order */
    uint8_t *other_class;
    int32_t *place;    /* [n + 1] scratch: of unknowns */
    latent_cell *cell; /* [n_cell] */
    double next_due;   /* s, no later than the first */
    int busy, pause;   /* points in a row that were busy; points still to make without cells */
    double *far;       /* [m] how far an unknown may move before neighbours are told */
    double *point;     /* [m] see tran_latent_point */
    tran_region region;
    int changes; /* cells that fell asleep or woke since the last point */
    tran_scene scene;
    lu_part part;    /* of the present factors */
    int32_t *column; /* [places] */
    uint8_t *in;     /* [n] of the circuit's unknowns, from 0; the scene has its own */
    double *drop;
    int32_t *found;
    double *value, *work;
};

static double *element(double *v, int32_t slot) { return v + (size_t)slot * CKT_CELL; }

/* -- places -- */

int32_t ana_latent_unknown(const ana *a, int32_t i)
{
    const int32_t cell = ckt_latent_cells(a->c)[i / CKT_CELL];
    const int32_t unknown = ckt_latent_unknowns(a->c)[cell * CKT_CELL + i % CKT_CELL];
    return unknown > 0 ? unknown : 0;
}

static void set_size(ana *a)
{
    ana_latent *l = a->latent;
    const int32_t awake = ckt_latent_n_awake(a->c);
    ana_set_size(a, awake * CKT_CELL - 1, awake * CKT_CELL);
    l->part.n = a->n;
}

/* The column of an unknown in the matrix that has factors, -1: none. */
static int32_t column_of(const ana_latent *l, int32_t unknown)
{
    return tran_scene_is(&l->scene) ? l->scene.column[unknown] : unknown - 1;
}

static int32_t unknown_of(const ana_latent *l, int32_t column)
{
    return tran_scene_is(&l->scene) ? l->scene.unknown[column] : column + 1;
}

/* Which columns of the matrix a slot's unknowns have, for lu_part: column [k - 1] belongs to place
 * k. */
static void set_columns(ana *a, int32_t slot, bool awake)
{
    ana_latent *l = a->latent;
    for (int32_t at = slot * CKT_CELL; at < (slot + 1) * CKT_CELL; at++) {
        const int32_t unknown = ana_latent_unknown(a, at), column = column_of(l, unknown);
        if (at > 0)
            l->column[at - 1] = column;
        if (unknown > 0)
            l->in[unknown - 1] = awake;
        if (column >= 0 && tran_scene_is(&l->scene))
            l->scene.in[column] = awake;
    }
}

/* How far a solution may move an unknown. */
static void set_drop(ana_latent *l, int32_t unknown, double drop)
{
    l->drop[unknown - 1] = drop;
    if (tran_scene_is(&l->scene) && l->scene.column[unknown] >= 0)
        l->scene.drop[l->scene.column[unknown]] = drop;
}

/* The present factors are those of the scene, or of the whole circuit. */
static void set_part(ana *a)
{
    ana_latent *l = a->latent;
    const tran_scene *s = &l->scene;
    const int32_t n = l->part.n;
    l->part = (lu_part){.n = n,
                        .n_column = l->n,
                        .column = l->column,
                        .in = l->in,
                        .drop = l->drop,
                        .found = l->found,
                        .value = l->value,
                        .work = l->work};
    if (tran_scene_is(s)) {
        l->part.n_column = s->a.n;
        l->part.in = s->in;
        l->part.drop = s->drop;
        l->part.found = s->found;
        l->part.value = s->value;
        l->part.work = s->work;
    }
    for (int32_t k = 0; k < s->a.n; k++) {
        s->in[k] = l->in[s->unknown[k] - 1];
        s->drop[k] = l->drop[s->unknown[k] - 1];
    }
    for (int32_t slot = 0; slot < ckt_latent_n_awake(a->c); slot++)
        set_columns(a, slot, true);
}

static void swap_slots(ana *a, ckt_swap s)
{
    const ana_latent *l = a->latent;
    double one[CKT_CELL];
    uint8_t class[CKT_CELL], *const of = l->t->lte_class;
    if (s.a == s.b)
        return;
    for (int i = 0; i < l->n_vector; i++) {
        memcpy(one, element(l->vector[i], s.a), sizeof one);
        memcpy(element(l->vector[i], s.a), element(l->vector[i], s.b), sizeof one);
        memcpy(element(l->vector[i], s.b), one, sizeof one);
    }
    memcpy(class, of + s.a * CKT_CELL, sizeof class);
    memcpy(of + s.a * CKT_CELL, of + s.b * CKT_CELL, sizeof class);
    memcpy(of + s.b * CKT_CELL, class, sizeof class);
}

/* A vector that says something only about a step under way, or about points before the last. */
static bool is_history(const tran *t, const double *v)
{
    const double *const of_step[] = {t->dq[0],  t->hist,      t->fix,       t->pred,    t->stage,
                                     t->k1,     t->a->f_prev, t->a->q_prev, t->a->fmax, t->a->qmax,
                                     t->a->ref, t->a->size,   t->a->dx,     t->a->r};
    for (size_t i = 0; i < VS_COUNT(of_step); i++)
        if (v == of_step[i])
            return true;
    for (int p = 0; p <= TRAN_KEEP; p++)
        if (p != 1 && (v == t->x[p] || v == t->q[p] || v == t->qlo[p] || v == t->f[p]))
            return true;
    return false;
}

/* Vectors from the order of the circuit to that of slots, or back. */
typedef struct permuting {
    const ana_latent *l;
    size_t n;
    const int32_t *place; /* [n + 1] of the circuit's unknowns */
    bool to_slots, with_history;
} permuting;

/* Without the history its memory is not touched: of it only elements that belong to no unknown
 * become 0. */
static void permute_vector(void *user, int32_t i, int worker)
{
    const permuting *p = user;
    const ana_latent *l = p->l;
    double *v = l->vector[i], *other = l->other[worker];
    if (!p->with_history && is_history(l->t, v)) {
        for (int32_t k = l->n + 1; k < l->m; k++)
            v[k] = 0;
        v[0] = 0;
        return;
    }
    memcpy(other, v, sizeof *v * p->n);
    memset(v, 0, sizeof *v * p->n);
    if (p->to_slots)
        for (int32_t k = 1; k <= l->n; k++)
            v[p->place[k]] = other[k];
    else
        for (int32_t k = 1; k <= l->n; k++)
            v[k] = other[p->place[k]];
}

static void permute(ana *a, bool to_slots, bool with_history)
{
    ana_latent *l = a->latent;
    const size_t n = (size_t)ckt_latent_n_cell(a->c) * CKT_CELL;
    uint8_t *const class = l->t->lte_class;
    permuting p = {l, n, l->place, to_slots, with_history};
    for (int32_t k = 1; k <= l->n; k++)
        l->place[k] = ana_place(l->t->a, k);
    pool_run(ckt_shares_vectors(a->c, l->m) ? ckt_pool(a->c) : NULL, POOL_VECTOR, l->n_vector,
             permute_vector, &p);
    memcpy(l->other_class, class, n);
    memset(class, LTE_NEVER, n);
    for (int32_t k = 1; k <= l->n; k++)
        class[to_slots ? l->place[k] : k] = l->other_class[to_slots ? k : l->place[k]];
    for (int32_t k = 0; k < l->t->n_flow; k++) /* in pinned cells */
        l->t->flow[k] =
            to_slots ? ana_place(l->t->a, l->t->flow[k]) : ana_latent_unknown(a, l->t->flow[k]);
}

/* -- begin and end -- */

static void list_vectors(ana_latent *l, ana *a)
{
    tran *t = l->t;
    double *const of_ana[] = {a->f,  a->q,     a->fmax,  a->qmax,   a->r,      a->ref, a->size,
                              a->dx, a->tol_x, a->tol_r, a->f_prev, a->q_prev, l->far};
    double *const of_tran[] = {t->dq[0],  t->dq[1],   t->hist,          t->fix,          t->pred,
                               t->stage,  t->k1,      t->src,           t->xmax,         t->rmax,
                               t->weight, t->lte_tol, t->lte_weight[0], t->lte_weight[1]};
    for (size_t i = 0; i < VS_COUNT(of_ana); i++)
        l->vector[l->n_vector++] = of_ana[i];
    for (size_t i = 0; i < VS_COUNT(of_tran); i++)
        l->vector[l->n_vector++] = of_tran[i];
    for (int i = 0; i <= TRAN_KEEP; i++) {
        double *const v[] = {t->x[i], t->q[i], t->qlo[i], t->f[i]};
        for (size_t k = 0; k < VS_COUNT(v); k++)
            l->vector[l->n_vector++] = v[k];
    }
    assert(l->n_vector <= MOST_VECTORS);
}

static ana_latent *make_latent(tran *t)
{
    ana *a = t->a;
    ana_latent *l = arena_new(&a->mem, ana_latent);
    const int32_t all = CKT_SEATS(a->n);
    *l = (ana_latent){.t = t,
                      .kept = arena_array(&a->mem, latent_kept, all),
                      .other = arena_array(&a->mem, double *, pool_size(ckt_pool(a->c))),
                      .other_class = arena_array(&a->mem, uint8_t, all),
                      .place = arena_array(&a->mem, int32_t, a->n + 1),
                      .cell = arena_array(&a->mem, latent_cell, all / CKT_CELL),
                      .column = arena_array(&a->mem, int32_t, all),
                      .in = arena_array(&a->mem, uint8_t, all)};
    double **v[] = {&l->far, &l->point, &l->drop, &l->value, &l->work};
    ana_vectors(a, v, VS_COUNT(v));
    for (int w = 0; w < pool_size(ckt_pool(a->c)); w++)
        l->other[w] = ana_vector(a);
    l->found = arena_array(&a->mem, int32_t, all);
    list_vectors(l, a);
    return l;
}

static double tolerance(const tran *t, int32_t place)
{
    return t->a->opt.reltol * t->xmax[place] + t->a->tol_x[place];
}

/* How far unknowns may move before neighbours wake: FAR tolerances, which grow with their sizes. */
static void set_far(tran *t)
{
    for (int32_t i = 0; i < t->a->m; i++)
        t->a->latent->far[i] = FAR * tolerance(t, i);
}

void tran_latent_begin(tran *t)
{
    ana *a = t->a;
    if (t->noise || a->verify || t->sink->kept || t->imaged || a->opt.rshunt > 0 ||
        (a->watch && a->watch->loaded) || !ckt_latent_begin(a->c, t->x[1]))
        return;
    if (!t->latent)
        t->latent = make_latent(t);
    ana_latent *l = a->latent = t->latent;
    const int32_t n_cell = ckt_latent_n_cell(a->c);
    l->n = a->n;
    l->m = a->m;
    memset(l->cell, 0, sizeof *l->cell * (size_t)n_cell);
    memcpy(l->point, t->x[1], sizeof *l->point * (size_t)(a->n + 1));
    l->next_due = INFINITY;
    l->busy = l->pause = l->changes = 0;
    tran_region_reset(&l->region);
    permute(a, true, t->t > 0); /* at the first point there is no history yet */
    tran_scene_reset(&l->scene);
    set_part(a);
    for (int32_t i = 0; i < n_cell * CKT_CELL; i++)
        if (ana_latent_unknown(a, i) == 0)
            a->tol_x[i] = a->tol_r[i] = 1; /* of no unknown: 0 is small */
    set_size(a);
    set_far(t);
}

/* -- waking -- */

/* An element of a slot gets what was kept of it; `slept` s later all past points have the charge
 * that flowed since, while q itself stays, see ckt_charge_rest. The history term of the present
 * attempt is that of the coefficients in use. */
static void give_back(ana *a, int32_t i, const latent_kept *kept, double slept)
{
    tran *t = a->latent->t;
    for (int p = 0; p <= TRAN_KEEP; p++) {
        t->x[p][i] = kept->x;
        t->q[p][i] = kept->q;
        t->qlo[p][i] = kept->qlo + (p > 0 ? kept->dq * slept : 0);
        t->f[p][i] = kept->f;
    }
    t->dq[0][i] = t->dq[1][i] = t->k1[i] = kept->dq;
    t->stage[i] = t->pred[i] = kept->x;
    a->f_prev[i] = a->f[i];
    a->q_prev[i] = a->q[i];
    a->ref[i] = a->fmax[i] = t->rmax[i];
    t->hist[i] = t->cc.b * kept->dq;
    a->dx[i] = a->r[i] = a->size[i] = t->fix[i] = 0;
}

static void wake_one(ana *a, int32_t cell)
{
    ana_latent *l = a->latent;
    tran *t = l->t;
    l->changes++;
    const ckt_swap s = ckt_latent_wake(a->c, cell);
    const double slept = t->t - l->cell[cell].since;
    swap_slots(a, s);
    set_columns(a, s.b, true);
    set_size(a);
    l->cell[cell].quiet = 0;
    for (int32_t k = 0; k < CKT_CELL; k++) {
        const int32_t i = s.b * CKT_CELL + k;
        if (ana_latent_unknown(a, i) > 0)
            set_drop(l, ana_latent_unknown(a, i), 0);
        give_back(a, i, &l->kept[cell * CKT_CELL + k], slept);
        l->far[i] = FAR * tolerance(t, i);
    }
}

/* The cells that sleep together with `cell`: [begin, end). */
static void cells_with(const ana *a, int32_t cell, int32_t *begin, int32_t *end)
{
    *begin = *end = ckt_latent_first(a->c, cell);
    while (*end < ckt_latent_n_cell(a->c) && ckt_latent_first(a->c, *end) == *begin)
        ++*end;
}

/* New pivots: of the scene where there is one or is to be one, else of the whole circuit. */
static vs_status factor_awake(ana *a)
{
    ana_latent *l = a->latent;
    tran_scene *s = &l->scene;
    if (!s->wanted && tran_scene_is(s) && tran_scene_factor(s, a) == VS_OK)
        return VS_OK;
    const bool scene = s->wanted && tran_scene_begin(s, a, l->n);
    s->wanted = false;
    if (!scene)
        tran_scene_end(s);
    set_part(a);
    return scene ? VS_OK : lu_factor(&a->lu, a->jac);
}

static vs_status refactor_awake(ana *a)
{
    ana_latent *l = a->latent;
    if (l->scene.wanted)
        return VS_REPIVOT;
    return tran_scene_is(&l->scene) ? tran_scene_refactor(&l->scene, a, &l->part)
                                    : lu_refactor_part(&a->lu, a->jac, &l->part);
}

/* There are no factors, until newton_factor is called: no point is predicted with older ones. */
static void lose_factors(ana *a)
{
    a->repivot = true;
    a->alpha_lu = NAN;
}

/* The region is none any more: the circuit's own matrix and factors become those of its last
 * ones. */
static void leave_region(ana *a)
{
    ana_latent *l = a->latent;
    if (!tran_region_is(&l->region))
        return;
    tran_region_end(&l->region, a);
    if (a->repivot)
        return;
    vs_status st = refactor_awake(a);
    if (st == VS_REPIVOT)
        st = factor_awake(a);
    if (st != VS_OK)
        lose_factors(a);
}

/* A cell outside of the scene wakes. */
static void widen_scene(ana *a, int32_t cell)
{
    ana_latent *l = a->latent;
    bool has = true;
    for (int32_t i = cell * CKT_CELL; i < (cell + 1) * CKT_CELL; i++) {
        const int32_t unknown = ckt_latent_unknowns(a->c)[i];
        has &= unknown <= 0 || column_of(l, unknown) >= 0;
    }
    if (has)
        return;
    l->scene.wanted = true;
    lose_factors(a);
}

static void wake(ana *a, int32_t cell)
{
    int32_t k, end;
    if (ckt_latent_slots(a->c)[cell] < ckt_latent_n_awake(a->c))
        return;
    widen_scene(a, cell);
    leave_region(a);
    for (cells_with(a, cell, &k, &end); k < end; k++)
        wake_one(a, k);
}

static void end_latent(ana *a, bool with_history)
{
    ana_latent *l = a->latent;
    if (tran_scene_is(&l->scene))
        lose_factors(a);
    tran_scene_reset(&l->scene);
    permute(a, false, with_history);
    ckt_latent_end(a->c);
    a->latent = NULL;
    ana_set_size(a, l->n, l->m);
}

void tran_latent_end(tran *t)
{
    ana *a = t->a;
    ana_latent *l = a->latent;
    if (!l)
        return;
    leave_region(a);
    while (ckt_latent_n_awake(a->c) < ckt_latent_n_cell(a->c))
        wake(a, ckt_latent_cells(a->c)[ckt_latent_n_awake(a->c)]);
    end_latent(a, true);
}

void tran_latent_finish(tran *t)
{
    ana *a = t->a;
    ana_latent *l = a->latent;
    if (!l)
        return;
    if (tran_region_is(&l->region))
        tran_region_end(&l->region, a);
    lose_factors(a);
    for (int32_t s = ckt_latent_n_awake(a->c); s < ckt_latent_n_cell(a->c); s++)
        for (int32_t k = 0; k < CKT_CELL; k++)
            t->x[1][s * CKT_CELL + k] = l->kept[ckt_latent_cells(a->c)[s] * CKT_CELL + k].x;
    end_latent(a, false);
}

/* Parts of a voltage that rounding may take from what is extrapolated, by units of the weights'
 * sum: that of the weights themselves, which are products of quotients, among it. */
#define ROUNDED (8 * DBL_EPSILON)

/* An update of a supply by the rounding of the residual of its prediction (tran_step.c) is none:
 * all that hangs at the supply would be visited for it. */
static void drop_rounding(tran *t, int n_weight)
{
    const ana *a = t->a;
    double weights = 15; /* of MOST_ORDER there: 4 + 6 + 4 + 1 */
    for (int k = 0; k < n_weight; k++)
        weights += fabs(t->pc.w[k]);
    for (int32_t i = 1; i < ckt_latent_n_pinned(a->c) * CKT_CELL; i++) {
        const int32_t unknown = ana_latent_unknown(a, i);
        if (unknown > 0)
            set_drop(a->latent, unknown, ROUNDED * weights * fabs(t->x[1][i]));
    }
}

void tran_latent_hold(const tran *t, double *x, int n)
{
    for (int32_t i = 1; i < ckt_latent_n_pinned(t->a->c) * CKT_CELL; i++) {
        int k = 2;
        while (k <= n && t->x[k][i] == t->x[1][i])
            k++;
        x[i] = k > n ? t->x[1][i] : x[i];
    }
}

void tran_latent_predicted(tran *t)
{
    const int n = t->have_pred ? t->pc.order + 1 : 0;
    drop_rounding(t, n);
    if (n)
        tran_latent_hold(t, t->pred, n);
}

void tran_latent_due(tran *t)
{
    ana *a = t->a;
    ana_latent *l = a->latent;
    if (t->t_new < l->next_due)
        return;
    l->next_due = INFINITY;
    for (int32_t s = ckt_latent_n_awake(a->c); s < ckt_latent_n_cell(a->c); s++) {
        const int32_t cell = ckt_latent_cells(a->c)[s];
        if (l->cell[cell].due <= t->t_new)
            wake(a, cell); /* those that sleep on come to places before s, or are seen again */
        else
            l->next_due = fmin(l->next_due, l->cell[cell].due);
    }
}

void ana_latent_load(ana *a, const double *x)
{
    const int32_t *cell = ckt_latent_moved(a->c, x, a->latent->far);
    for (size_t k = 0; k < vec_len(cell); k++)
        wake(a, cell[k]);
}

/* Updates of pinned unknowns that count as none. */
static void hold_supplies(const ana *a, double *x)
{
    for (int32_t i = 1; i < ckt_latent_n_pinned(a->c) * CKT_CELL; i++) {
        const int32_t unknown = ana_latent_unknown(a, i);
        if (unknown > 0 && fabs(x[i]) <= a->latent->drop[unknown - 1])
            x[i] = 0;
    }
}

void ana_latent_solve(ana *a, const double *b, double *x)
{
    ana_latent *l = a->latent;
    if (tran_region_is(&l->region)) {
        tran_region_solve(&l->region, a, b, x);
        hold_supplies(a, x);
        return;
    }
    if (l->scene.wanted) {
        a->repivot = factor_awake(a) != VS_OK;
        for (int32_t i = 1; a->repivot && i <= a->n; i++)
            x[i] = NAN; /* no update is good; newton_factor will say why */
        if (a->repivot)
            return;
    }
    if (tran_scene_is(&l->scene)) {
        tran_scene_solve(&l->scene, a, &l->part, b + 1, x + 1);
        hold_supplies(a, x); /* a small matrix has no supernodes, which leave them out */
    } else {
        lu_solve_part(&a->lu, &l->part, b + 1, x + 1);
    }
    for (int32_t k = 0; x == a->dx && k < l->part.n_found; k++)
        wake(a, ckt_latent_seats(a->c)[unknown_of(l, l->part.found[k])] / CKT_CELL);
    for (int32_t k = 0; x == a->dx && k < l->part.n_found; k++)
        x[ana_place(l->t->a, unknown_of(l, l->part.found[k]))] = l->part.value[k];
}

vs_status ana_latent_refactor(ana *a)
{
    ana_latent *l = a->latent;
    if (tran_region_is(&l->region)) {
        if (tran_region_refactor(&l->region, a) == VS_OK)
            return VS_OK;
        leave_region(a); /* who has no pivot is told of the whole matrix */
    }
    return refactor_awake(a);
}

vs_status ana_latent_factor(ana *a) { return factor_awake(a); }

/* -- falling asleep -- */

/* Whether the unknowns in a slot are quiet; *due: when dq/dt will have moved one, at the earliest.
 */
static bool is_quiet(const tran *t, int32_t slot, double *due)
{
    const ana *a = t->a;
    double rate = 0; /* tolerances per second */
    for (int32_t i = slot * CKT_CELL; i < (slot + 1) * CKT_CELL; i++) {
        const double tol = PART * tolerance(t, i), flow = fabs(t->dq[1][i]);
        double g, c;
        if (!(fabs(t->x[1][i] - t->x[2][i]) <= tol))
            return false;
        if (flow == 0) /* empty seats have none */
            continue;
        ckt_latent_own(a->c, ana_latent_unknown(a, i), &g, &c);
        rate = fmax(rate, flow / (tol * c));
    }
    *due = t->t + 1 / rate;
    return rate * LOOK * t->past[0] < 1;
}

static void fall_asleep(tran *t, int32_t slot)
{
    ana *a = t->a;
    ana_latent *l = a->latent;
    const int32_t cell = ckt_latent_cells(a->c)[slot];
    double tol[CKT_CELL];
    l->changes++;
    for (int32_t k = 0; k < CKT_CELL; k++) {
        const int32_t i = slot * CKT_CELL + k, unknown = ana_latent_unknown(a, i);
        l->kept[cell * CKT_CELL + k] =
            (latent_kept){t->x[1][i], t->q[1][i], t->qlo[1][i], t->f[1][i], t->dq[1][i]};
        tol[k] = PART * tolerance(t, i);
        if (unknown == 0)
            continue;
        l->point[unknown] = t->x[1][i];
        set_drop(l, unknown, tol[k]);
    }
    l->cell[cell].since = t->t;
    l->next_due = fmin(l->next_due, l->cell[cell].due);
    const ckt_swap s = ckt_latent_sleep(a->c, cell, element(t->x[1], slot), tol);
    swap_slots(a, s);
    set_columns(a, s.a, true);
    set_columns(a, s.b, false);
    set_size(a);
}

/* A cell may sleep when all that sleep with it may. */
static bool all_quiet(const ana *a, int32_t begin, int32_t end)
{
    while (begin < end && a->latent->cell[begin].quiet >= QUIET)
        begin++;
    return begin == end;
}

/* From the last one on: where most fall asleep, they mostly stand at the end already. */
static void sleep_where_quiet(tran *t)
{
    ana *a = t->a;
    for (int32_t s = ckt_latent_n_awake(a->c) - 1; s >= ckt_latent_n_pinned(a->c); s--) {
        const int32_t cell = ckt_latent_cells(a->c)[s];
        int32_t k, end;
        if (ckt_latent_first(a->c, cell) != cell)
            continue;
        cells_with(a, cell, &k, &end);
        if (!all_quiet(a, k, end))
            continue;
        while (end > k)
            fall_asleep(t, ckt_latent_slots(a->c)[--end]);
        s = s < ckt_latent_n_awake(a->c) ? s + 1 : ckt_latent_n_awake(a->c);
    }
}

/* Is the slot at rest by the operating point's word? Its rows' residuals are what still flows: it
 * charges their capacitances as dq/dt does, or moves unknowns no further than over their own
 * conductance. */
static bool is_at_rest(tran *t, int32_t slot, double *due)
{
    const ana *a = t->a;
    double rate = 0; /* tolerances per second */
    for (int32_t i = slot * CKT_CELL; i < (slot + 1) * CKT_CELL; i++) {
        const int32_t unknown = ana_latent_unknown(a, i);
        const double tol = PART * tolerance(t, i), flow = unknown > 0 ? fabs(a->f[i]) : 0;
        double g, c;
        if (flow == 0)
            continue;
        ckt_latent_own(a->c, unknown, &g, &c);
        if (!(flow <= fabs(g) * tol))
            rate = fmax(rate, flow / (tol * fabs(c)));
        t->dq[1][i] = c != 0 ? -a->f[i] : 0;
    }
    *due = t->t + 1 / rate;
    return rate * LOOK * t->h < 1;
}

void tran_latent_start(tran *t)
{
    ana *a = t->a;
    if (!a->latent || t->o.uic)
        return;
    const int32_t n_pinned = ckt_latent_n_pinned(a->c), n_cell = ckt_latent_n_cell(a->c);
    ckt_latent_fill(a->c, 1 / (INTEG_SDIRK_GAMMA * t->h));
    for (int32_t k = n_pinned; k < n_cell; k++) {
        latent_cell *cell = &a->latent->cell[k];
        cell->quiet = is_at_rest(t, k, &cell->due) ? QUIET : 0;
    }
    sleep_where_quiet(t);
    a->latent->scene.wanted = true;
}

void tran_latent_pause(tran *t)
{
    tran_latent_end(t);
    t->latent->pause = PAUSE;
}

static void count_quiet(tran *t)
{
    const ana *a = t->a;
    for (int32_t s = ckt_latent_n_pinned(a->c); s < ckt_latent_n_awake(a->c); s++) {
        latent_cell *k = &a->latent->cell[ckt_latent_cells(a->c)[s]];
        k->quiet = t->n_piece > 1 && is_quiet(t, s, &k->due) ? k->quiet + 1 : 0;
    }
}

static bool are_busy(const ana *a, int32_t n_cell)
{
    return 4 * n_cell > (near_is_worth_it(a) ? 1 : 3) * ckt_latent_n_cell(a->c);
}

/* Cells that are awake, in the order of their numbers: the region's vectors then have neighbours
 * side by side. */
static void sort_slots(ana *a)
{
    const int32_t *cell = ckt_latent_cells(a->c), n_awake = ckt_latent_n_awake(a->c);
    int32_t s = ckt_latent_n_pinned(a->c);
    for (int32_t k = s; k < ckt_latent_n_cell(a->c); k++) {
        const ckt_swap to = {s, ckt_latent_slots(a->c)[k]};
        if (to.b >= n_awake)
            continue;
        if (cell[s] != k) {
            ckt_latent_exchange(a->c, to);
            swap_slots(a, to);
            set_columns(a, to.a, true);
            set_columns(a, to.b, true);
        }
        s++;
    }
}

/* Is most of the region still moving? */
static bool is_region_busy(const tran *t)
{
    const ckt *c = t->a->c;
    const int32_t n_pinned = ckt_latent_n_pinned(c), n_awake = ckt_latent_n_awake(c);
    int32_t n = 0;
    for (int32_t s = n_pinned; s < n_awake; s++) {
        bool moves = false;
        for (int32_t i = s * CKT_CELL; i < (s + 1) * CKT_CELL; i++)
            moves |= !(fabs(t->x[1][i] - t->x[2][i]) <= PART * tolerance(t, i));
        n += moves;
    }
    return 4 * n >= 3 * (n_awake - n_pinned);
}

/* With a region nothing is looked at for sleep until it is asked again. */
static void rest_in_region(tran *t)
{
    ana_latent *l = t->a->latent;
    if (++l->region.points % AGAIN == 0 && t->n_piece > 1 && !is_region_busy(t))
        leave_region(t->a);
}

void tran_latent_rest(tran *t)
{
    ana *a = t->a;
    ana_latent *l = a->latent;
    set_far(t);
    if (tran_region_is(&l->region)) {
        rest_in_region(t);
        l->changes = 0;
        return;
    }
    count_quiet(t);
    sleep_where_quiet(t);
    l->busy = are_busy(a, ckt_latent_n_awake(a->c)) ? l->busy + 1 : 0;
    if (l->busy >= BUSY)
        tran_latent_pause(t);
    else if (tran_region_is_due(&l->region, l->changes) &&
             ckt_latent_n_awake(a->c) < ckt_latent_n_cell(a->c)) {
        sort_slots(a);
        tran_region_begin(&l->region, a);
    }
    l->changes = 0;
}

/* During a pause: the cells that the last step would have kept awake. */
static int32_t count_moving(tran *t)
{
    const ckt *c = t->a->c;
    const int32_t n_cell = ckt_latent_n_cell(c);
    double *moved = t->latent->other[0];
    int32_t n = 0;
    memset(moved, 0, sizeof *moved * (size_t)n_cell);
    for (int32_t i = 1; i <= t->a->n; i++)
        if (!(fabs(t->x[1][i] - t->x[2][i]) <= PART * tolerance(t, i)))
            moved[ckt_latent_first(c, ckt_latent_seats(c)[i] / CKT_CELL)] = 1;
    for (int32_t k = 0; k < n_cell; k++)
        n += k < ckt_latent_n_pinned(c) || moved[ckt_latent_first(c, k)] > 0;
    return n;
}

void tran_latent_again(tran *t)
{
    if (t->a->latent || t->latent->pause == 0 || --t->latent->pause > 0)
        return;
    if (are_busy(t->a, count_moving(t)))
        t->latent->pause = AGAIN;
    else
        tran_latent_begin(t);
}

const double *tran_latent_point(tran *t, const double *x)
{
    const ana *a = t->a;
    ana_latent *l = a->latent;
    for (int32_t i = 1; i <= a->n; i++)
        l->point[ana_latent_unknown(a, i)] = x[i];
    l->point[0] = 0;
    return l->point;
}
