/* tran_lte.c - local truncation error of a step and the step it suggests.
 * error_i = (corrected - predicted)_i c/(c + p), c and p the error constants of corrector and
 * predictor; tolerance_i = trtol max(reltol max_t |x_i|, abstol_i). The tolerance of a voltage
 * inside of a device follows from the device's other voltages, see tran_widen.
 * Source: Brayton, Gustavson & Hachtel 1972; the reference |x| is that of VACASK's default
 *         (per unknown, largest so far) and Kundert's (4.57); filter of zigzag: VACASK's idea. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "tran_priv.h"

#include "hot.h"

#define EPSILON 2.2e-16
#define NOISE 4 /* past points of the predictor have their own rounding */
/* A current without memory carries no error to later points, and the charge under lines through its
 * points is right however few they are. The test of such a current only asks for enough points to
 * show its course, for which this reltol is enough: the rule's own error of dq/dt, of order h^2,
 * falls more slowly than the test's h^3 (docs/numerics.md, 4). */
#define FLOW_RELTOL 1e-3
/* Part of the largest such current of the circuit that another one counts as, at least: what flows
 * into the gates behind a control voltage is nothing beside the supply's. */
#define FLOW_PART 0.1
/* In large circuits all of them count as the largest, a supply's, and have so many times reltol:
 * currents of a hundred inputs would decide steps of which nothing else wants to know. */
#define FLOW_LARGE 10
/* Part of the largest voltage of its device that an inner voltage counts as, at least; and of the
 * supply's that each one does in a large circuit. */
#define INNER_PART 0.1
/* Points from one look at these voltages to the next; among the first, each is looked at. */
#define WIDEN_EVERY 16
/* A first step from given values is made again if it is so many times longer than the best one. */
#define GIVEN_RATIO 2.5

/* The voltages of a device, those inside first; none, if none is inside. */
static tran_device voltages_of(const tran *t, int32_t device, int32_t **all)
{
    int32_t n;
    const int32_t *unknown = ckt_device_unknowns(t->a->c, device, &n);
    tran_device d = {.begin = (int32_t)vec_len(*all)};
    for (int inside = 1; inside >= 0; inside--) {
        for (int32_t u = 0; u < n && (inside || d.others > d.begin); u++) {
            const int32_t i = unknown[u];
            if (i > 0 && t->a->u[i].kind == CKT_VOLTAGE && t->a->u[i].internal == inside)
                vec_push(*all, i);
        }
        *(inside ? &d.others : &d.end) = (int32_t)vec_len(*all);
    }
    return d;
}

void tran_list_devices(tran *t)
{
    int32_t *all = NULL;
    tran_device *device = NULL;
    for (int32_t k = 0; k < ckt_n_device(t->a->c); k++) {
        const tran_device d = voltages_of(t, k, &all);
        if (d.others > d.begin)
            vec_push(device, d);
    }
    t->n_device = (int32_t)vec_len(device);
    t->device = arena_array(&t->a->mem, tran_device, t->n_device + 1);
    t->of_device = arena_array(&t->a->mem, int32_t, vec_len(all) + 1);
    for (int32_t k = 0; k < t->n_device; k++)
        t->device[k] = device[k];
    for (size_t k = 0; k < vec_len(all); k++)
        t->of_device[k] = all[k];
    vec_free(all);
    vec_free(device);
}

/* In large circuits, which are logic in the main, a voltage near 0 V counts as a part of the
 * supply, as one near the supply does by itself. It may be that of ground behind resistors, or of a
 * gate that is low: it moves by millivolts, and acts on devices at which volts stand. Relative to
 * its own size it would decide most of the steps. */
static void widen_voltages(tran *t)
{
    const ana *a = t->a;
    const double tol = a->n < TRAN_LARGE ? 0 : INNER_PART * a->opt.reltol * ckt_least_supply(a->c);
    for (int32_t i = 1; i <= a->n && tol > 0; i++)
        if (a->u[i].kind == CKT_VOLTAGE)
            t->lte_tol[i] = norm_max(t->lte_tol[i], tol);
}

/* The test looks at unknowns with a charge or flux in their row always, and at others only when the
 * predictor no longer uses the corner, where they may jump. Currents without memory (of voltage
 * sources) contain dq/dt, which may zigzag under the trapezoidal rule, so the test filters them
 * (see below). */
void tran_classify(tran *t)
{
    t->n_flow = 0;
    for (int32_t i = 1; i <= t->a->n; i++) {
        const ckt_unknown *u = &t->a->u[i];
        const bool never = u->kind == CKT_CURRENT || u->digital;
        t->lte_class[i] = u->has_q ? LTE_STATE : never ? LTE_NEVER : LTE_ALGEBRAIC;
        t->lte_weight[0][i] = t->lte_class[i] == LTE_STATE;
        t->lte_weight[1][i] = t->lte_class[i] != LTE_NEVER;
        if (!u->has_q && u->kind == CKT_CURRENT)
            t->flow[t->n_flow++] = i;
    }
    memcpy(t->lte_tol, t->a->tol_x, (size_t)(t->a->n + 1) * sizeof *t->lte_tol);
    widen_voltages(t);
    t->n_widened = 0;
}

/* A voltage inside of a device acts through the device, together with the voltages of the
 * terminals: the node below the gate may move by 1 mV while its neighbours move by 1 V. So its
 * tolerance refers to their size and not to its own. Sizes only grow, so an old one is safe. */
VS_HOT void tran_widen(tran *t)
{
    const double part = INNER_PART * t->a->opt.reltol;
    if (!t->n_device || (t->n_widened++ >= WIDEN_EVERY && t->n_widened % WIDEN_EVERY))
        return;
    for (int32_t k = 0; k < t->n_device; k++) {
        const tran_device *d = &t->device[k];
        double most = 0;
        for (int32_t i = d->begin; i < d->end; i++)
            most = norm_max(most, t->xmax[ana_place(t->a, t->of_device[i])]);
        for (int32_t i = d->begin; i < d->others; i++) {
            double *tol = &t->lte_tol[ana_place(t->a, t->of_device[i])];
            *tol = norm_max(*tol, part * most);
        }
    }
}

/* Rounding of charges: relative errors of the machine precision, over the step, are currents that
 * move the unknowns by z. All of one sign: what hangs on a small conductance to ground gets their
 * sum. One solution with the last factors. */
static const double *rounding_noise(const tran *t)
{
    ana *a = t->a;
    double *z = a->size;
    for (int32_t i = 1; i <= a->n; i++)
        z[i] = NOISE * EPSILON * t->cc.alpha * a->qmax[i];
    ana_solve(a, z, z);
    return z;
}

static double above(double miss, double noise) { return norm_max(fabs(miss) - fabs(noise), 0); }

/* Below this ratio of error to tolerance the step grows by as much as it may. */
static double unseen_ratio(const tran *t)
{
    const double g = t->a->opt.maxgrowth;
    return 1 / (g * g * g);
}

/* The current of unknown i at the attempt without its zigzag: with e the distance of point 2 from
 * the line through points 1 and 3 (0 the attempt), half of e is the amplitude, and points 0 and 2
 * lie on the same side. Of a smooth function it takes O(h^2), the same from each point. */
static double without_zigzag(const tran *t, int32_t i)
{
    const double *h = t->past, x1 = t->x[1][i], x2 = t->x[2][i], x3 = t->x[3][i];
    if (!tran_by_trap(t))
        return t->x[0][i];
    return t->x[0][i] - (x2 - (x3 + (x1 - x3) * h[1] / (h[0] + h[1]))) / 2;
}

/* The same error test on the filtered currents, once all values in it are filtered. */
VS_HOT static void worst_flow(tran *t, double factor, const double *noise)
{
    const double *w = t->pc.w, scale = factor / t->a->opt.trtol;
    const bool large = t->a->n >= TRAN_LARGE;
    const double part = large ? 1 : FLOW_PART;
    const double reltol = norm_max((large ? FLOW_LARGE : 1) * t->a->opt.reltol, FLOW_RELTOL);
    double least = 0;
    for (int32_t k = 0; k < t->n_flow && t->n_flow > 1; k++)
        least = norm_max(least, part * t->xmax[t->flow[k]]);
    for (int32_t k = 0; k < t->n_flow; k++) {
        int32_t i = t->flow[k];
        double y = t->y[0][k] = t->n_piece >= 4 ? without_zigzag(t, i) : t->x[0][i];
        if (t->n_piece < 8 || t->pc.order != 2)
            continue;
        double miss = y - (w[0] * t->y[1][k] + w[1] * t->y[2][k] + w[2] * t->y[3][k]);
        double most = norm_max(norm_max(t->xmax[i], fabs(t->x[0][i])), least);
        double tol = norm_max(reltol * most, t->lte_tol[i]);
        double size = (noise ? above(miss, noise[i]) : fabs(miss)) * scale;
        if (size > t->lte.ratio * tol) {
            t->lte.ratio = size / tol;
            t->lte.worst = i;
            t->lte.miss = miss;
            t->lte.size = fabs(miss) / tol;
        }
    }
}

const double *tran_seen(const tran *t) { return t->lte_weight[t->n_piece > t->pc.order + 1]; }

double tran_unseen_miss(const tran *t, double factor)
{
    return unseen_ratio(t) / (factor / t->a->opt.trtol);
}

static bool is_unseen(const tran *t, const double *weight, double limit)
{
    const ana *a = t->a;
    if (ana_shares(a))
        return vop_share_miss_is_small(ana_team(a), t->x[0], t->pred, t->xmax, t->lte_tol, weight,
                                       a->opt.reltol, limit, a->m);
    return vop_miss_is_small(t->x[0], t->pred, t->xmax, t->lte_tol, weight, a->opt.reltol, limit,
                             a->m);
}

/* The unknown with the largest |x - x_pred| scale / tolerance, the first of equals. */
typedef struct worst_job {
    const tran *t;
    double scale;
    int max_class;
    const double *noise;
    _Atomic int32_t at; /* 0: none has more than 0 */
} worst_job;

static double scaled_miss(const worst_job *j, int32_t i)
{
    const double miss = j->t->x[0][i] - j->t->pred[i];
    return (j->noise ? above(miss, j->noise[i]) : fabs(miss)) * j->scale;
}

static double miss_tol(const tran *t, int32_t i)
{
    return norm_max(t->a->opt.reltol * norm_max(t->xmax[i], fabs(t->x[0][i])), t->lte_tol[i]);
}

static double ratio_at(const worst_job *j, int32_t i)
{
    return i ? scaled_miss(j, i) / miss_tol(j->t, i) : 0;
}

static void note_worst(worst_job *j, int32_t i, double ratio)
{
    int32_t was = atomic_load_explicit(&j->at, memory_order_relaxed);
    for (;;) {
        const double before = ratio_at(j, was);
        if (ratio < before || (ratio == before && i > was))
            return;
        if (atomic_compare_exchange_weak_explicit(&j->at, &was, i, memory_order_relaxed,
                                                  memory_order_relaxed))
            return;
    }
}

static void worst_part(void *user, int32_t k, int32_t m)
{
    worst_job *j = user;
    const tran *t = j->t;
    const int32_t end = k + m <= t->a->n ? k + m : t->a->n + 1;
    double most = 0;
    int32_t at = 0;
    for (int32_t i = k > 0 ? k : 1; i < end; i++) {
        const double miss = scaled_miss(j, i), tol = miss_tol(t, i);
        if (!(miss >= most * tol) || t->lte_class[i] == LTE_NEVER || t->lte_class[i] > j->max_class)
            continue;
        const double ratio = miss / tol;
        at = ratio > most ? i : at;
        most = ratio > most ? ratio : most;
    }
    if (at)
        note_worst(j, at, most);
}

/* noise [n+1]: the part of the miss that rounding explains, NULL: none. */
static void worst_ratio(tran *t, double factor, int max_class, const double *noise)
{
    const ana *a = t->a;
    worst_job j = {t, factor / a->opt.trtol, max_class, noise, 0};
    if (noise || a->watch || /* but in the usual case nothing is seen of it */
        !is_unseen(t, t->lte_weight[max_class == LTE_ALGEBRAIC], unseen_ratio(t) / j.scale))
        ana_each_part(a, worst_part, &j);
    t->lte.worst = j.at;
    t->lte.ratio = ratio_at(&j, j.at);
    if (j.at) {
        t->lte.miss = t->x[0][j.at] - t->pred[j.at];
        t->lte.size = fabs(t->lte.miss) / miss_tol(t, j.at);
    }
}

/* First step of a piece: the line through corner and stage against the step, states only.
 * miss = (1/2 - g) h^2 x'', compared as the error h^2/2 x'' of backward Euler would be. */
static void estimate_sdirk(tran *t)
{
    const double g = INTEG_SDIRK_GAMMA;
    const double *x1 = t->x[1], *s = t->stage;
    for (int32_t i = 1; i <= t->a->n; i++)
        t->pred[i] = x1[i] + (s[i] - x1[i]) / g;
    worst_ratio(t, 0.5 / (0.5 - g), LTE_STATE, NULL);
    t->lte.order = 1;
}

/* What states of this kind may miss in the first step from given values. One that begins at 0 has
 * no size yet: the largest of the kind counts. */
static double most_miss(const tran *t, ckt_kind kind)
{
    const ana *a = t->a;
    double size = 0, least = 0;
    for (int32_t i = 1; i <= a->n; i++)
        if (a->u[ana_unknown_at(a, i)].kind == kind && t->lte_class[i] == LTE_STATE) {
            size = norm_max(size, norm_max(t->xmax[i], fabs(t->x[0][i])));
            least = norm_max(least, t->lte_tol[i]);
        }
    return a->opt.trtol * norm_max(a->opt.reltol * size, least);
}

/* From given values nothing tells how they go on. What moves by no more than a few tolerances, the
 * error being at most half of it, may stay. */
static bool moves_far(const tran *t, const double *most)
{
    for (int32_t i = 1; i <= t->a->n; i++) {
        const double moved = fabs(t->x[0][i] - t->x[1][i]);
        if (t->lte_class[i] == LTE_STATE &&
            !(moved <= 2 * GIVEN_RATIO * GIVEN_RATIO * most[t->a->u[ana_unknown_at(t->a, i)].kind]))
            return true;
    }
    return false;
}

/* A long attempt h and a short one s that left x_0 give (x - x_0)/h = x' + h x'' and the same of s,
 * backward Euler's error being h^2/2 x''. What moves as far in the short one jumps, whatever the
 * step. Returns the best step. */
static double given_best(tran *t, double h, const double *moved, const double *most)
{
    const double s = t->h;
    double best = h;
    for (int32_t i = 1; i <= t->a->n; i++) {
        const double now = t->x[0][i] - t->x[1][i];
        const double curved = fabs(moved[i] / h - now / s) / (h - s);
        const double tol = most[t->a->u[ana_unknown_at(t->a, i)].kind];
        const bool jumps = fabs(now) >= 0.5 * fabs(moved[i]);
        if (t->lte_class[i] != LTE_STATE || jumps || !(0.5 * best * best * curved > tol))
            continue;
        best = sqrt(2 * tol / curved);
        t->lte.worst = i;
        t->lte.miss = 0.5 * h * h * curved;
        t->lte.ratio = t->lte.size = t->lte.miss / tol;
    }
    return best;
}

double tran_given_best(tran *t)
{
    enum { SHORT = 8, LEAST = 1000 };
    double *moved = t->stage;
    const double most[] = {most_miss(t, CKT_VOLTAGE), most_miss(t, CKT_CURRENT),
                           most_miss(t, CKT_OTHER)};
    t->lte = (tran_lte){0};
    switch (t->lte_fails) {
    case 0:
        if (!moves_far(t, most))
            return t->h;
        vop_subtract(moved, t->x[0], t->x[1], t->a->m);
        t->first_h = t->h;
        return t->h / SHORT;
    case 1: {
        const double best = given_best(t, t->first_h, moved, most);
        return best >= t->h ? t->h : norm_max(best, t->first_h / LEAST);
    }
    default: return t->h;
    }
}

VS_HOT void tran_estimate(tran *t)
{
    t->lte = (tran_lte){0};
    if (t->kind == TRAN_SDIRK) {
        estimate_sdirk(t);
        return;
    }
    if (!t->have_pred)
        return;
    int order = t->pc.order;
    const integ_coef *c = &t->cc;
    integ_coef line;
    if (c->order != order) { /* all there is yet: its miss, read as backward Euler's error */
        integ_corrector(INTEG_TRAP, order, t->h, t->past, &line);
        c = &line;
    }
    bool corner_gone = t->n_piece > order + 1;
    double factor = t->same_rule ? t->factor : integ_lte_factor(c, &t->pc);
    const int seen = corner_gone ? LTE_ALGEBRAIC : LTE_STATE;
    t->lte.order = order;
    if (!t->unseen)
        worst_ratio(t, factor, seen, NULL);
    worst_flow(t, factor, NULL);
    if (t->lte.ratio > 1) { /* the step would shrink: for a reason? */
        const double *noise = rounding_noise(t);
        worst_ratio(t, factor, seen, noise);
        worst_flow(t, factor, noise);
    }
}

/* Whether the bit k of a number that belongs to row i is set: as good as a toss. */
static bool is_tossed(int32_t i, int k)
{
    uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) >> k & 1;
}

/* What rounding of charges and currents may do to unknown i: several times the mean of solutions
 * for errors with tossed signs. Errors of opposite signs count in closely coupled windings, whose
 * leakage alone is in their way. */
static double tossed_noise(const tran *t, int32_t i)
{
    enum { TOSSES = 8, SIGMAS = 3 };
    ana *a = t->a;
    double *z = a->size, sum = 0;
    for (int k = 0; k < TOSSES; k++) {
        for (int32_t j = 1; j <= a->n; j++) {
            const double error = NOISE * EPSILON * (t->cc.alpha * a->qmax[j] + a->fmax[j]);
            z[j] = is_tossed(j, k) ? error : -error;
        }
        ana_solve(a, z, z);
        sum += z[i] * z[i];
    }
    return SIGMAS * sqrt(sum / TOSSES);
}

static void tell_rounding(const tran *t, int32_t i, double noise)
{
    ana *a = t->a;
    const double asked = norm_max(a->opt.reltol * t->xmax[i], t->lte_tol[i]);
    diag_warning(a->d, DIAG_NOWHERE,
                 "transient: rounding leaves about %.2g of %s open at t = %.9g s, where tolerances "
                 "ask for %.2g: from here on its truncation error may be as large as the rounding",
                 noise, ana_unknown_text(a, ana_unknown_at(a, i)), t->t, asked);
    diag_note(
        a->d, DIAG_NOWHERE,
        "hint: .options reltol and abstol (vntol for voltages) that double precision can meet");
}

bool tran_is_rounding(tran *t)
{
    enum { MOST_TOLD = 3 };
    const int32_t i = t->lte.worst;
    const double noise = i ? tossed_noise(t, i) : 0;
    if (!(fabs(t->lte.miss) <= noise) || noise <= t->lte_tol[i])
        return false;
    if (t->n_told++ < MOST_TOLD)
        tell_rounding(t, i, noise);
    t->lte_tol[i] = noise;
    tran_estimate(t);
    return true;
}

double tran_states_best(tran *t)
{
    const tran_lte was = t->lte;
    integ_coef c = t->cc;
    if (c.order != t->pc.order)
        integ_corrector(INTEG_TRAP, t->pc.order, t->h, t->past, &c);
    worst_ratio(t, integ_lte_factor(&c, &t->pc), LTE_STATE, rounding_noise(t));
    const double best = tran_best_step(t);
    t->lte = was;
    return best;
}

VS_HOT double tran_best_step(const tran *t)
{
    const double growth = t->a->opt.maxgrowth;
    const int power = t->lte.order + 1;
    if (t->lte.order == 0)
        return INFINITY;
    if (t->lte.ratio * (power == 3 ? growth : 1) * growth * growth <= 1)
        return growth * t->h; /* the usual case, without pow */
    return t->h * pow(t->lte.ratio, -1.0 / power);
}

/* Slopes of the last four steps, the attempt included, alternate around their mean. */
bool tran_rings(const tran *t)
{
    int32_t i = t->lte.worst;
    if (t->kind != TRAN_MAIN || !tran_by_trap(t) || t->n_piece < 5 || i == 0)
        return false;
    double s[4], h[4] = {t->h, t->past[0], t->past[1], t->past[2]};
    for (int k = 0; k < 4; k++)
        s[k] = (t->x[k][i] - t->x[k + 1][i]) / h[k];
    double d0 = s[0] - s[1], d1 = s[1] - s[2], d2 = s[2] - s[3];
    return d0 * d1 < 0 && d1 * d2 < 0 && fabs(d1) < 4 * fabs(d2) && fabs(d2) < 4 * fabs(d1);
}
