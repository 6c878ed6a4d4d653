/* op.c - operating point: Newton, then homotopies, each from the start value.
 *   gmin stepping       a conductance from every node to ground shrinks to nothing
 *   source stepping     all independent sources grow from 0
 *   pseudo-transient    a capacitor at every node, backward Euler with growing steps
 * Large circuits first get a start that follows their logic (op_levels.c).
 * Source: ngspice manual ch. "Convergence"; Kelley & Keyes, SIAM J. Numer. Anal. 35(2), 1998. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "ana_priv.h"

#define FORCE_CONDUCTANCE 1e7 /* S: 1 A shifts a forced node by 0.1 uV */

newton_eq ana_static_eq(const ana *a, bool tran_op)
{
    newton_eq eq = {
        .env = {.mode = CKT_STATIC,
                .gmin = a->opt.gmin,
                .srcfact = 1,
                .limit = true,
                .initial_step = true,
                .tran_op = tran_op},
        .gshunt = a->opt.rshunt > 0 ? 1 / a->opt.rshunt : 0,
        .gforce = FORCE_CONDUCTANCE,
        .itl = a->opt.itl1,
        .damp = true,
    };
    if (tran_op) {
        eq.force = a->ic;
        eq.n_force = vec_len(a->ic);
    }
    return eq;
}

static void copy(const ana *a, double *to, const double *from)
{
    memcpy(to, from, sizeof(double) * (size_t)(a->n + 1));
}

/* How far each method came, for the message. */
typedef struct op_progress {
    double gmin, source, pseudo; /* S; 0..1; S. < 0: no solution at all */
    double limited;              /* 0: there was one */
    newton_report first;         /* of plain Newton */
    int32_t doubtful;        /* node that makes a->x_doubtful no point of the circuit, 0: none */
    bool by_gmin;            /* it is carried by gmin; else by an absurd current */
    double doubtful_current; /* A, there */
    double doubtful_v;       /* V, there */
    const char *doubtful_method; /* that found it */
} op_progress;

/* -- points that solve the equations and are none of the circuit -- */

/* Solutions without a meaning. Junctions have gmin across them, so a loop with gain may have a
 * solution at -1e10 V, where gmin carries the current of the sources; such voltages are
 * proportional to 1/gmin. Models continue their exponentials as straight lines above some current,
 * and a loop may have a solution there too. */
#define GMIN_SHARE 0.5   /* -d ln v / d ln gmin of a node that gmin carries */
#define FAR_GMIN 1e-12   /* S; OSDI devices may have a gmin of their own, that no option changes: */
#define FAR_SHARE 0.1    /* a node of theirs moves by so much of itself for FAR_GMIN to ground, */
                         /* which is then all that ten junctions conduct there */
#define OUTSIDE 3        /* times the largest voltage source and a volt: far outside of supplies */
#define JUNCTIONS 1      /* V */
#define MOST_CURRENT 1e6 /* A; no device of a circuit has more */

static double gmin_current(const ana *a, const double *x, int32_t i)
{
    return a->gdiag[i] ? ckt_shunt(a->opt.gmin) * fabs(x[i]) : 0;
}

/* The same of a node of an OSDI device, whose own gmin counts. */
static double far_current(const ana *a, const double *x, int32_t i)
{
    return a->gdiag[i] ? fmax(a->opt.gmin, FAR_GMIN) * fabs(x[i]) : 0;
}

double op_most_gmin(const ana *a)
{
    const double gmin = ckt_shunt(a->opt.gmin);
    return vec_len(a->far) ? fmax(gmin, FAR_GMIN) : gmin;
}

/* f, q and what devices remember at x. false: not finite. */
static bool load_at(ana *a, const newton_eq *base, double gmin, const double *x)
{
    bool limited;
    ckt_env env = base->env;
    env.iter = 2;
    env.gmin = gmin;
    return ckt_load(a->c, &env, x, a->f, a->q, a->fmax, a->qmax, &limited) == VS_OK;
}

bool op_load_at(ana *a, const newton_eq *base, const double *x)
{
    return load_at(a, base, base->env.gmin, x);
}

/* Loads at x; r gets what another gmin adds to the currents of nodes there: x moves by -J^-1 r for
 * it. Without gmin there are only the shunts of nodes that have no other path. */
static bool load_gmin_currents(ana *a, const newton_eq *base, const double *x)
{
    const double gmin = base->env.gmin;
    if (gmin > 0 && !load_at(a, base, 2 * gmin, x))
        return false;
    memcpy(a->r, a->f, sizeof(double) * (size_t)a->m);
    if (!load_at(a, base, gmin, x))
        return false;
    for (int32_t i = 1; i <= a->n; i++)
        a->r[i] = gmin > 0 ? a->r[i] - a->f[i] : 0;
    if (!(gmin > 0))
        ckt_add_shunts(a->c, &base->env, x, a->r);
    return true;
}

int32_t op_carried_by_gmin(ana *a, const newton_eq *base, const double *x)
{
    int32_t node = 0;
    bool look = false;
    for (int32_t i = 1; i <= a->n && !look; i++)
        look = gmin_current(a, x, i) > OP_GMIN_LOOK * a->opt.abstol;
    for (size_t k = 0; k < vec_len(a->far) && !look; k++)
        look = far_current(a, x, a->far[k]) > OP_GMIN_CURRENT;
    if (!look || !load_gmin_currents(a, base, x))
        return 0;
    for (int32_t i = 1; i <= a->n; i++)
        if (a->gdiag[i])
            *a->gdiag[i] += base->gshunt;
    for (size_t k = 0; k < vec_len(a->far); k++) {
        const int32_t i = a->far[k];
        const double more = far_current(a, x, i);
        if (more > OP_GMIN_CURRENT && more > fabs(a->r[i]))
            a->r[i] = copysign(more, x[i]);
    }
    for (size_t k = 0; k < base->n_force; k++)
        if (a->gdiag[base->force[k].unknown])
            *a->gdiag[base->force[k].unknown] += base->gforce;
    near_forget(a);
    a->alpha_lu = NAN;
    if (lu_factor(&a->lu, a->jac) != VS_OK)
        return 0;
    lu_solve(&a->lu, a->r + 1, a->dx + 1);
    for (int32_t i = 1; i <= a->n; i++)
        if (gmin_current(a, x, i) > OP_GMIN_LOOK * a->opt.abstol &&
            fabs(a->dx[i]) > GMIN_SHARE * fabs(x[i]) &&
            (!node || gmin_current(a, x, i) > gmin_current(a, x, node)))
            node = i;
    for (size_t k = 0; k < vec_len(a->far); k++) {
        const int32_t i = a->far[k];
        if (far_current(a, x, i) > OP_GMIN_CURRENT && fabs(a->dx[i]) > FAR_SHARE * fabs(x[i]) &&
            (!node || far_current(a, x, i) > far_current(a, x, node)))
            node = i;
    }
    return node;
}

/* The largest node voltage. */
static double node_range(const ana *a, const double *x)
{
    double most = 0;
    for (int32_t i = 1; i <= a->n; i++)
        if (a->gdiag[i] && !a->u[i].internal) /* those of devices may be temperatures */
            most = fmax(most, fabs(x[i]));
    return most;
}

/* Newton at eq from x_good; x_good moves only on success, and not to outside of a->inside. */
static vs_status attempt(ana *a, newton_eq *eq, newton_report *rep)
{
    copy(a, a->x_try, a->x_good);
    vs_status st = newton_run(a, eq, a->x_try, rep);
    if (st == VS_OK && node_range(a, a->x_try) > a->inside)
        st = VS_NOCONV;
    if (st == VS_OK)
        copy(a, a->x_good, a->x_try);
    return st;
}

/* Conductance of node rows from 1 mS (more if need be) down to nothing, in steps that follow the
 * effort: quick success makes them longer, failure shorter. */
static vs_status gmin_stepping(ana *a, const newton_eq *base, double *reached)
{
    const double first = 1e-3, most = 1e2, least = 1e-15, max_factor = 10, min_factor = 1.00005;
    newton_eq eq = *base;
    newton_report rep;
    double g = first, g_good = -1, factor = max_factor;
    *reached = -1;
    for (int step = 0; step < 400; step++) {
        eq.gshunt = base->gshunt + g;
        vs_status st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = g_good = g;
            if (g == 0)
                return VS_OK;
            if (rep.iter <= a->opt.itl1 / 4)
                factor = fmin(factor * sqrt(factor), max_factor);
            else if (rep.iter > a->opt.itl1 * 3 / 4)
                factor = fmax(sqrt(factor), min_factor);
            g = g <= least ? 0 : g / factor;
        } else if (g_good < 0) {
            g *= 10;
            if (g > most * 1.001)
                return VS_NOCONV;
        } else {
            if (g == 0 || factor < min_factor)
                return VS_NOCONV;
            factor = sqrt(sqrt(factor));
            g = g_good / factor;
        }
    }
    return VS_NOCONV;
}

static vs_status source_stepping(ana *a, const newton_eq *base, double *reached)
{
    const double first = 0.01, scale = 3, least = 1e-7;
    newton_eq eq = *base;
    newton_report rep;
    double ignored, s_good = 0, step = first;
    *reached = -1;
    eq.env.srcfact = 0;
    vs_status st = attempt(a, &eq, &rep);
    if (st == VS_NOCONV)
        st = gmin_stepping(a, &eq, &ignored);
    if (st != VS_OK)
        return st;
    *reached = 0;
    for (int i = 0; i < 1000 && step >= least; i++) {
        eq.env.srcfact = fmin(s_good + step, 1);
        st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = s_good = eq.env.srcfact;
            if (s_good >= 1)
                return VS_OK;
            if (rep.iter <= a->opt.itl1 / 4)
                step *= scale;
        } else {
            step /= scale;
        }
    }
    return VS_NOCONV;
}

/* g = C/h of the pseudo capacitors falls as the pseudo time step h grows. Steps that long damp more
 * than the circuit would: where there are several solutions, the one found may be unstable. */
static vs_status pseudo_transient(ana *a, const newton_eq *base, double *reached)
{
    const double first = 1e-2, most = 1e6, least = 1e-14;
    newton_eq eq = *base;
    newton_report rep;
    double factor = 2;
    *reached = -1;
    eq.gpt = first;
    eq.xref = a->x_start;
    for (int step = 0; step < 2000; step++) {
        copy(a, a->x_start, a->x_good);
        vs_status st = attempt(a, &eq, &rep);
        if (st < 0)
            return st;
        if (st == VS_OK) {
            *reached = eq.gpt;
            if (eq.gpt < least) {
                eq.gpt = 0;
                return attempt(a, &eq, &rep);
            }
            factor = rep.iter <= 6 ? fmin(factor * 1.5, 10) : rep.iter > 20 ? 1.2 : 2;
            eq.gpt /= factor;
        } else {
            eq.gpt *= 4;
            factor = 1.2;
            if (eq.gpt > most)
                return VS_NOCONV;
        }
    }
    return VS_NOCONV;
}

/* Newton without gmin whose nodes move by at most 0.3 V at a time, then with it. Where all devices
 * are off, gmin decides in which direction a loop with gain goes. Without gmin the small
 * conductances of the devices decide, and short updates stop where they turn on. */
static vs_status limited_newton(ana *a, const newton_eq *base, double *reached)
{
    newton_eq eq = *base;
    newton_report rep;
    eq.env.gmin = 0;
    eq.most_move = 0.3;
    eq.damp = false;
    eq.itl = 4 * a->opt.itl1;
    *reached = -1;
    vs_status st = attempt(a, &eq, &rep);
    eq = *base;
    if (st == VS_OK)
        st = attempt(a, &eq, &rep);
    if (st == VS_OK)
        *reached = 0;
    return st;
}

static void start_value(ana *a, double *x)
{
    memset(x, 0, sizeof(double) * (size_t)(a->n + 1));
    for (size_t i = 0; i < vec_len(a->nodeset); i++)
        x[a->nodeset[i].unknown] = a->nodeset[i].value;
}

/* Releases the held nodes gradually. Released at once, the output of a gate that was held above its
 * supply is an open circuit to Newton, whose update throws it, and the latch behind it, anywhere. x
 * stays at the last solution. */
static vs_status release_slowly(ana *a, newton_eq *eq, double *x)
{
    static const double hold[] = {1e-2, 1e-4, 1e-6}; /* S */
    newton_report rep;
    vs_status st = VS_OK;
    for (size_t k = 0; k < VS_COUNT(hold) && st == VS_OK; k++) {
        eq->gforce = hold[k];
        copy(a, a->x_start, x);
        st = newton_run(a, eq, a->x_start, &rep);
        if (st == VS_OK)
            copy(a, x, a->x_start);
    }
    return st < 0 ? st : VS_OK;
}

/* A solution with the .nodeset nodes held is the start; if there is none, the values alone are. */
static vs_status solve_with_nodeset(ana *a, const newton_eq *base, double *x)
{
    newton_eq eq = *base;
    newton_report rep;
    ana_node_value *both = NULL;
    for (size_t i = 0; i < vec_len(a->nodeset); i++)
        vec_push(both, a->nodeset[i]);
    for (size_t i = 0; i < base->n_force; i++)
        vec_push(both, base->force[i]);
    eq.force = both;
    eq.n_force = vec_len(both);
    vs_status st = newton_run(a, &eq, x, &rep);
    if (st == VS_OK && !base->n_force) /* what .ic holds is not let go */
        st = release_slowly(a, &eq, x);
    vec_free(both);
    if (st == VS_NOCONV)
        start_value(a, x);
    return st < 0 ? st : VS_OK;
}

static vs_status plain_newton(ana *a, const newton_eq *base, double *x, bool warm,
                              newton_report *rep)
{
    newton_eq eq = *base;
    ckt_reset_limits(a->c);
    if (warm) {
        eq.itl = a->opt.itl2;
        vs_status st = newton_run(a, &eq, x, rep);
        if (st != VS_NOCONV)
            return st;
        eq.itl = base->itl;
        ckt_reset_limits(a->c);
    }
    start_value(a, x);
    if (vec_len(a->nodeset)) {
        vs_status st = solve_with_nodeset(a, &eq, x);
        if (st != VS_OK)
            return st;
    }
    return newton_run(a, &eq, x, rep);
}

/* Newton gets this many iterations before the levels of logic are looked for, in circuits of so
 * many unknowns: in smaller ones the search costs more than it saves. */
enum { PATIENCE = 20, LEVELS_FROM = 256 };

/* Newton from the levels of logic (op_levels.c). plainly: only if the circuit has no loops, and
 * therefore the same point as from anywhere else. */
static vs_status newton_from_levels(ana *a, const newton_eq *base, double *x, bool plainly)
{
    newton_report ignored;
    newton_eq eq = *base;
    start_value(a, x);
    op_levels *l = op_levels_new(a, base, x);
    const bool may = l && !(plainly && op_levels_have_loops(l));
    if (may)
        op_levels_solve(l, x, &eq.most_move);
    op_levels_free(&l);

    ckt_reset_limits(a->c);
    const vs_status st = may ? newton_run(a, &eq, x, &ignored) : VS_NOCONV;
    if (st == VS_OK)
        a->st.op_method = "levels";
    return st;
}

/* Plain Newton's first iterations, from nothing. Where gains of gates in a row multiply, its
 * matrices need pivots that fill the factors, and its updates lead nowhere: in a circuit without
 * loops levels take its place before such factors are made. In others, which may have several
 * points, it goes on as if nothing had been looked at. */
static vs_status begin_newton(ana *a, const newton_eq *eq, const newton_eq *few, double *x,
                              newton_report *rep)
{
    a->lu.opt.refuse_fill = true;
    vs_status st = plain_newton(a, few, x, false, rep);
    a->lu.opt.refuse_fill = false;
    if (!rep->refused)
        return st;
    st = newton_from_levels(a, eq, x, true);
    if (st != VS_NOCONV)
        return st;
    lu_at_rest(&a->lu, a->jac, false);
    lu_at_rest(&a->lu, a->jac, true);
    return plain_newton(a, few, x, false, rep);
}

/* Plain Newton; in large circuits in which it takes long, from levels. */
static vs_status first_newton(ana *a, const newton_eq *eq, double *x, bool warm, newton_report *rep)
{
    if (a->n < LEVELS_FROM || a->only_newton)
        return plain_newton(a, eq, x, warm, rep);
    newton_eq few = *eq;
    few.itl = eq->itl < PATIENCE ? eq->itl : PATIENCE;
    const bool named = vec_len(a->nodeset) > 0; /* what the user says decides */
    vs_status st =
        warm || named ? plain_newton(a, &few, x, warm, rep) : begin_newton(a, eq, &few, x, rep);
    if (st == VS_NOCONV)
        st = newton_from_levels(a, eq, x, false);
    if (st == VS_NOCONV && few.itl < eq->itl)
        st = plain_newton(a, eq, x, false, rep);
    return st;
}

static const char *how_far(const ana *a, double down_to)
{
    return down_to < 0    ? "no solution at all"
           : down_to == 0 ? "none in the last step"
                          : arena_printf(&a->d->mem, "solutions down to %.3g S", down_to);
}

static void note_homotopies(ana *a, const op_progress *p)
{
    const char *s = p->source < 0 ? "no solution at all"
                                  : arena_printf(&a->d->mem, "up to %.4g %% of the sources",
                                                 fmin(100 * p->source, 99.99));
    diag_note(a->d, DIAG_NOWHERE,
              "tried: Newton (%d iterations), gmin stepping (%s), source stepping (%s), "
              "pseudo-transient (%s)",
              p->first.iter, how_far(a, p->gmin), s, how_far(a, p->pseudo));
}

/* Plain Newton is made again: its iterations are what can be understood. */
static void explain_failure(ana *a, const newton_eq *eq, const op_progress *p)
{
    ana_log log;
    newton_report rep = p->first;
    ana_log_begin(&log, a);
    const vs_status again = plain_newton(a, eq, a->x_try, false, &rep);
    diag_error(a->d, DIAG_NOWHERE, "no operating point found");
    ana_note_newton(a, &rep);
    if (again == VS_NOCONV)
        ana_note_iterations(&log);
    if (!a->only_newton)
        note_homotopies(a, p);
    ana_hint_static(&log, &rep, a->x_try, p->gmin);
    ana_log_end(&log);
}

int32_t op_node_of_absurd_current(const ana *a, const double *size)
{
    int32_t node = 0;
    for (int32_t i = 1; i <= a->n; i++)
        if (a->gdiag[i] && size[i] > (node ? size[node] : MOST_CURRENT))
            node = i;
    return node;
}

vs_status op_follow(ana *a, const newton_eq *base, double *x, newton_report *rep)
{
    newton_eq eq = *base;
    double ignored;
    eq.fix = NULL;
    eq.solved = eq.leaves = false;
    eq.damp = true;
    eq.itl = a->opt.itl1;
    copy(a, a->x_good, x);
    vs_status st = pseudo_transient(a, &eq, &ignored);
    if (st == VS_NOCONV) {
        copy(a, a->x_good, x);
        st = gmin_stepping(a, &eq, &ignored);
    }
    if (st == VS_OK &&
        (op_carried_by_gmin(a, &eq, a->x_good) || op_node_of_absurd_current(a, a->fmax)))
        st = VS_NOCONV;
    if (st != VS_OK)
        return st;
    copy(a, x, a->x_good);
    *rep = (newton_report){.iter = eq.itl};
    return VS_OK;
}

bool op_is_seen(const ana *a, const ckt_firm *k)
{
    int32_t n;
    const int32_t *node = ckt_part(a->c, k, &n);
    bool seen = false;
    for (int32_t i = 0; i < n; i++)
        seen |= !a->u[node[i]].internal;
    return seen;
}

double op_gmin_current(const ana *a, const double *x, int32_t node)
{
    for (size_t k = 0; k < vec_len(a->far); k++)
        if (a->far[k] == node)
            return far_current(a, x, node);
    return gmin_current(a, x, node);
}

double op_part_sum(const ana *a, const ckt_firm *k, const double *v, const double *of, double *size)
{
    int32_t n;
    const int32_t *node = ckt_part(a->c, k, &n);
    double sum = 0;
    *size = 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = ana_place(a, node[i]);
        if (at > a->n)
            continue;
        sum += v[at];
        *size += fabs(of[at]);
    }
    return sum;
}

enum { ROUNDINGS = 1000 }; /* a sum of currents may have, of all of them */

/* A node of a part that gmin of devices alone joins to ground, if more feeds the part, and what; 0:
 * none. */
static int32_t carried_by_held(ana *a, const newton_eq *eq, const double *x, double *current)
{
    const ckt_firm *k;
    int32_t node = 0;
    for (size_t i = 0; !node && (k = ckt_next_firm(a->c, &i)) != NULL;) {
        const double firm = CKT_FIRM_SIEMENS * x[k->node];
        double size;
        if (!k->held || fabs(firm) <= OP_GMIN_CURRENT)
            continue;
        if (load_at(a, eq, 0, x)) {
            *current = fabs(op_part_sum(a, k, a->f, a->fmax, &size) - firm);
            node = *current > OP_GMIN_CURRENT + ROUNDINGS * DBL_EPSILON * size ? k->node : 0;
        }
        (void)load_at(a, eq, eq->env.gmin, x);
    }
    return node;
}

/* A node whose firm shunt carries, at rest, a current that only gmin could carry, and what; 0:
 * none. */
static int32_t carried_by_firm(ana *a, const newton_eq *eq, const double *x, double *current)
{
    const int32_t node = ckt_most_stiff(a->c, x);
    const double rounding = ROUNDINGS * DBL_EPSILON * a->fmax[node];
    *current = CKT_FIRM_SIEMENS * fabs(x[node]);
    return *current > OP_GMIN_CURRENT + rounding ? node : carried_by_held(a, eq, x, current);
}

/* Is the solution x one of the circuit? If not, the best one such is kept (rather a large current
 * than gmin's), and the status is VS_NOCONV: another solution is looked for. */
static vs_status judge(ana *a, const newton_eq *eq, const double *x, op_progress *p)
{
    double current;
    const int32_t firm = carried_by_firm(a, eq, x, &current);
    const int32_t carried = firm ? firm : op_carried_by_gmin(a, eq, x);
    const int32_t node = carried ? carried : op_node_of_absurd_current(a, a->fmax);
    if (!node)
        return VS_OK;
    if (!p->doubtful || (p->by_gmin && !carried)) {
        p->doubtful = node;
        p->by_gmin = carried;
        p->doubtful_method = a->st.op_method;
        p->doubtful_current = firm      ? current
                              : carried ? op_gmin_current(a, x, node)
                                        : a->fmax[node];
        p->doubtful_v = firm ? copysign(current / ckt_shunt(a->opt.gmin), x[node]) : x[node];
        copy(a, a->x_doubtful, x);
    }
    return VS_NOCONV;
}

void op_tell_absurd_current(ana *a, const char *where, int32_t node, double current, double v)
{
    diag_warning(a->d, DIAG_NOWHERE,
                 "%s: a current of %.3g A flows at %s, %.4g V: a short, or a junction far up "
                 "(models continue their exponentials as straight lines there)",
                 where, current, ana_unknown_text(a, node), v);
}

/* No method found another point than a->x_doubtful. Leakage or a short it may be, and is told. */
static vs_status settle(ana *a, const op_progress *p, double *x)
{
    const int32_t i = p->doubtful;
    const char *who = ana_unknown_text(a, i);
    if (p->by_gmin && p->doubtful_current > OP_GMIN_CURRENT) {
        diag_error(a->d, DIAG_NOWHERE,
                   "no operating point found: %s would be at %.3g V, where gmin alone carries the "
                   "current (%.3g A)",
                   who, p->doubtful_v, p->doubtful_current);
        diag_note(a->d, DIAG_NOWHERE,
                  "perhaps a current source or a loop of gain has no path for its current there; "
                  ".nodeset names a point nearby");
        return VS_NOCONV;
    }
    if (p->by_gmin)
        diag_warning(a->d, DIAG_NOWHERE,
                     "operating point: %s is at %.4g V because gmin carries %.3g A there", who,
                     a->x_doubtful[i], p->doubtful_current);
    else if (!a->told_current)
        op_tell_absurd_current(a, "operating point", i, p->doubtful_current, a->x_doubtful[i]);
    a->told_current |= !p->by_gmin;
    copy(a, x, a->x_doubtful);
    a->st.op_method = p->doubtful_method;
    return VS_OK;
}

/* Where a function has no value at the start, as acosh at 0 V, what it gives is left out until the
 * nodes that it depends on have come near enough; then the point is one of all equations. A
 * derivative alone may be infinite there (acosh at 1 V). */
static vs_status finite_newton(ana *a, const newton_eq *base, double *reached)
{
    newton_eq eq = *base;
    newton_report rep;
    (void)reached;
    eq.env.finite = true;
    return newton_run(a, &eq, a->x_good, &rep);
}

typedef struct homotopy {
    const char *name;
    vs_status (*run)(ana *, const newton_eq *, double *reached);
} homotopy;

/* The last may find what is not stable. */
enum { N_HOMOTOPY = 4, N_STABLE = 3 };
static const homotopy infinite_start = {"finite Newton", finite_newton};
static const homotopy homotopies[N_HOMOTOPY] = {{"limited Newton", limited_newton},
                                                {"gmin stepping", gmin_stepping},
                                                {"source stepping", source_stepping},
                                                {"pseudo-transient", pseudo_transient}};

/* From the start value to a->x_good. */
static vs_status run_homotopy(ana *a, const newton_eq *eq, const homotopy *m, double *reached)
{
    start_value(a, a->x_good);
    ckt_reset_limits(a->c);
    return m->run(a, eq, reached);
}

/* The same, and whether what it finds is a point of the circuit. */
static vs_status try_homotopy(ana *a, const newton_eq *eq, const homotopy *m, double *reached,
                              op_progress *p)
{
    const vs_status st = run_homotopy(a, eq, m, reached);
    a->st.op_method = m->name;
    return st == VS_OK ? judge(a, eq, a->x_good, p) : st;
}

/* Each method from the start value, until one finds a point of the circuit. Limited Newton comes
 * first if plain Newton found one that is none, and last otherwise. */
static vs_status try_homotopies(ana *a, const newton_eq *eq, double *x, op_progress *p)
{
    double *const reached[N_HOMOTOPY] = {&p->limited, &p->gmin, &p->source, &p->pseudo};
    const size_t first = p->doubtful ? 0 : 1;
    vs_status st = VS_NOCONV;
    for (size_t i = 0; i < N_HOMOTOPY && st == VS_NOCONV; i++) {
        const size_t k = (first + i) % N_HOMOTOPY;
        st = try_homotopy(a, eq, &homotopies[k], reached[k], p);
    }
    if (st == VS_NOCONV && p->first.nonfinite && !p->doubtful)
        st = try_homotopy(a, eq, &infinite_start, NULL, p);
    if (st == VS_OK)
        copy(a, x, a->x_good);
    return st;
}

/* The largest value of a voltage source. */
static double source_range(ana *a, const newton_eq *eq)
{
    double most = 0;
    ckt_source_terms(a->c, &eq->env, a->size);
    for (int32_t i = 1; i <= a->n; i++)
        if (!a->gdiag[i])
            most = fmax(most, fabs(a->size[i]));
    return most;
}

/* The first homotopy that ends inside of a range, with points inside of it alone, to a->x_good; its
 * name to st.op_method. */
static vs_status find_inside(ana *a, const newton_eq *eq, double range)
{
    vs_status st = VS_NOCONV;
    a->inside = range;
    for (int k = 0; k < N_STABLE && st == VS_NOCONV && !a->stopped; k++) {
        double ignored;
        st = run_homotopy(a, eq, &homotopies[k], &ignored);
        if (st == VS_OK && op_carried_by_gmin(a, eq, a->x_good))
            st = VS_NOCONV;
        if (st == VS_OK)
            a->st.op_method = homotopies[k].name;
    }
    a->inside = INFINITY;
    return st;
}

/* A point far outside of the supplies may be one with all junctions of a loop of gain conducting,
 * although there is one inside. If x is outside and a homotopy finds one with less than half the
 * range, x becomes that one. */
static vs_status look_inside(ana *a, const newton_eq *eq, double *x)
{
    const double supply = source_range(a, eq), range = node_range(a, x);
    const double outside = OUTSIDE * (supply + JUNCTIONS);
    if (supply == 0 || range <= outside)
        return VS_OK;
    const vs_status st = find_inside(a, eq, fmin(outside, range / 2));
    if (st == VS_OK)
        copy(a, x, a->x_good);
    if (st != VS_NOCONV)
        return st;
    ckt_reset_limits(a->c);
    return load_at(a, eq, eq->env.gmin, x) ? VS_OK : VS_NOCONV;
}

/* Lines get gmin across an end. */
static bool leak_at(ana *a, int32_t node)
{
    if (!ckt_leak(a->c, a->opt.gmin))
        return false;
    diag_warning(a->d, DIAG_NOWHERE,
                 "no dc path to ground from %s but lines with open ends; gmin across an end of "
                 "each line is added at rest",
                 ana_unknown_text(a, node));
    return true;
}

static vs_status search(ana *a, double *x, bool warm, bool tran_op)
{
    double t0 = vs_seconds();
    newton_eq eq = ana_static_eq(a, tran_op);
    op_progress p = {.gmin = -1, .source = -1, .pseudo = -1, .limited = -1};
    a->st.op_method = "Newton";
    a->st.n_op++;
    a->stopped = false;
    a->inside = INFINITY; /* a run that found no memory did not come to set these */
    a->lu.opt.refuse_fill = false;
    if (!warm)
        (void)ckt_stiffen(a->c, false);
    vs_status st = first_newton(a, &eq, x, warm, &p.first);
    if (st == VS_NOCONV && p.first.singular && ckt_stiffen(a->c, true))
        st = first_newton(a, &eq, x, false, &p.first);
    if (st == VS_OK)
        st = judge(a, &eq, x, &p);
    a->homotopy = st == VS_NOCONV;
    if (st == VS_NOCONV && !a->only_newton && !a->stopped)
        st = try_homotopies(a, &eq, x, &p);
    a->homotopy = st == VS_OK;
    if (st == VS_OK && !warm && !a->only_newton)
        st = look_inside(a, &eq, x);
    a->homotopy = false;
    if (a->stopped) {
        a->st.s_op += vs_seconds() - t0;
        return VS_STOP;
    }
    /* a node that only its OSDI device connects, or lines that are open at both ends: once more,
     * with gmin there */
    if (st == VS_NOCONV && !p.doubtful && p.first.singular &&
        (ckt_anchor(a->c, p.first.singular) || leak_at(a, p.first.singular)))
        return search(a, x, false, tran_op);
    const bool doubtful = st == VS_NOCONV && p.doubtful;
    if (doubtful)
        st = settle(a, &p, x);
    a->st.s_op += vs_seconds() - t0;
    watch_phase(a->watch, ANA_IN_OTHER);
    x[0] = 0;
    if (st == VS_NOCONV && !doubtful)
        explain_failure(a, &eq, &p);
    return st;
}

/* The points of a sweep of values keep their pivots. */
vs_status op_solve(ana *a, double *x, bool warm, bool tran_op)
{
    const bool alone = !warm || tran_op;
    if (alone)
        lu_at_rest(&a->lu, a->jac, true);
    vs_status st = search(a, x, warm, tran_op);
    while (st == VS_OK && (st = ckt_settle(a->c, x)) == VS_REJECT)
        st = search(a, x, true, tran_op);
    if (alone)
        lu_at_rest(&a->lu, a->jac, false);
    if (st == VS_OK) {
        const newton_eq eq = ana_static_eq(a, tran_op);
        op_settle_given(a, &eq, x);
    }
    return st;
}

/* -- operating points that are there already -- */

void ana_set_memo(ana *a, ana_memo *op, ana_memo *tran_op)
{
    a->memo[0] = op;
    a->memo[1] = tran_op;
}

void ana_memo_fini(ana_memo *k)
{
    vs_free(k->x);
    vs_free(k->state);
    *k = (ana_memo){0};
}

void ana_begin_from(ana *a, const double *op, const double *tran_op)
{
    a->begin[0] = op;
    a->begin[1] = tran_op;
}

/* Sets x to the initial guess; false: the client gave none. */
static bool begin_at(const ana *a, bool tran_op, double *x)
{
    if (a->begin[tran_op])
        copy(a, x, a->begin[tran_op]);
    return a->begin[tran_op] != NULL;
}

/* Takes the memo's point; not while a watcher looks on, who is to see how each one is found. */
static bool take_over(ana *a, const ana_memo *k, double *x)
{
    if (!k || !k->valid || k->n != a->n || a->watch)
        return false;
    copy(a, x, k->x);
    ckt_state_load(a->c, k->state);
    a->st.op_method = k->method;
    a->st.n_op_taken++;
    return true;
}

static void memorize(ana *a, ana_memo *k, const double *x)
{
    size_t n_state;
    if (!k || !ckt_state_size(a->c, &n_state))
        return;
    ana_memo_fini(k);
    k->n = a->n;
    k->x = vs_malloc(((size_t)a->n + 1) * sizeof *k->x);
    k->state = vs_malloc((n_state + 1) * sizeof *k->state);
    k->valid = k->x && k->state;
    if (!k->valid)
        return;
    copy(a, k->x, x);
    ckt_state_save(a->c, k->state);
    k->method = a->st.op_method;
}

vs_status op_of_tran(ana *a, double *x)
{
    if (take_over(a, a->memo[1], x))
        return VS_OK;
    ckt_state_zero(a->c);
    a->told_current = false;
    const vs_status st = op_solve(a, x, begin_at(a, true, x), true);
    a->alpha_lu = NAN;
    a->repivot = false;
    if (lu_restart(&a->lu) && st == VS_OK)
        memorize(a, a->memo[1], x);
    return st;
}

/* Whether an operating point just found from nothing is also what op_of_tran would find: the same
 * equations from the same start, and factors that can be forgotten as there. */
static bool serves_transients(const ana *a)
{
    return a->memo[1] && !a->memo[1]->valid && !a->begin[0] && !a->begin[1] && !vec_len(a->ic) &&
           lu_can_restart(&a->lu) && ckt_same_start(a->c);
}

vs_status ana_op(ana *a, double *x, bool warm, bool tran_op)
{
    ana_memo *k = warm || tran_op ? NULL : a->memo[0];
    if (take_over(a, k, x))
        return VS_OK;
    if (!warm)
        ckt_state_zero(a->c);
    a->told_current &= warm;
    newton_eq eq = ana_static_eq(a, tran_op);
    vs_status st = op_solve(a, x, warm || begin_at(a, tran_op, x), tran_op);
    const ana_step done = {.is_static = true, .columns = a->lu.stat.n_column};
    if (st == VS_OK)
        watch_step(a->watch, &done);
    if (st == VS_OK && k && serves_transients(a))
        memorize(a, a->memo[1], x);
    if (st == VS_OK)
        st = ckt_accept(a->c, &eq.env, x);
    if (st == VS_OK)
        memorize(a, k, x);
    return st;
}
