/* shoot.c - periodic states by shooting: Newton on the state at the beginning of the period, of
 * oscillators also on the period. See shoot.h. */
#include "shoot.h"

#include "ckt_vary.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "fft.h"
#include "full.h"
#include "gmres.h"
#include "vec.h"

enum { MOST_ITERATIONS = 40, MOST_HALVINGS = 10, MOST_HALVED = 6, FIRST_SAMPLES = 128 };
enum { MOST_PRODUCTS = 600 };
/* What steps of the second grid may be estimated to miss, in tolerances; of the next 1/16 of it. */
static const double first_error = 1;
/* Newton inside of a step ends at this part of the user's tolerances. */
static const double tight = 1e-2;
/* The search ends when the update is below `strict` of the tolerances and ln T changes by less than
 * `strict_turn`. */
static const double strict = 1e-2, strict_turn = 1e-9;
/* An update below this is no reason for another pass. */
static const double nothing = 1e-3;
/* Samples may miss this part of the tolerances, as changes by the last levels tell; else steps are
 * halved again. */
static const double grid_error = 0.1;
/* GMRES may leave `left` of the right side, or `little` tolerances, and need not go below
 * `smallest`. */
static const double left = 1e-4, little = 1e-3, smallest = 1e-10;
/* Less than this, in tolerances, is no oscillation. */
static const double least_swing = 100;
/* A multiplier of M as near to 1 as this is 1. */
static const double free_multiplier = 1e-10;

/* -- norms -- */

static double tolerance(const ana_shot *s, int32_t i)
{
    return s->reltol * s->x_max[i] + s->tol_x[i];
}

/* The largest of v [n+1 + n_tail] over the unknowns of the state, in tolerances. *worst: an
 * unknown, 0: what a line remembers. */
static double size_of(const ana_shot *s, const double *v, int32_t *worst)
{
    double most = 0;
    for (size_t k = 0; k < s->n_tail; k++) {
        const double t = fabs(v[s->n1 + k]) / shoot_lines_tolerance(s, k);
        if (!(t <= most)) {
            most = t;
            *worst = 0;
        }
    }
    for (size_t k = 0; k < vec_len(s->state); k++) {
        const int32_t i = s->state[k];
        const double t = fabs(v[i]) / tolerance(s, i);
        if (!(t <= most)) {
            most = t;
            *worst = i;
        }
    }
    return most;
}

static double probe(const ana_shot *s, const double *x)
{
    return x[s->o.probe.hi] - x[s->o.probe.lo];
}

static double probe_tolerance(const ana_shot *s)
{
    return tolerance(s, s->o.probe.hi ? s->o.probe.hi : s->o.probe.lo);
}

/* -- the linear system: (1 - M) d - x_T dlnT = r, of an oscillator also the probe of
 *    M d + x_T dlnT = level - probe of x_N -- */

typedef struct update {
    double *dx; /* [n+1 + n_tail] */
    double turn;
} update;

static vs_status not_unique(ana_shot *s, int32_t unknown)
{
    diag_error(s->a->d, s->o.span,
               "a period leaves %s as it is, whatever it is: the periodic state is not unique",
               ana_unknown_text(s->a, unknown));
    diag_note(s->a->d, s->o.span,
              "a node that only capacitors reach keeps any voltage, a loop of inductors and "
              "sources any current: a resistor there decides it");
    return VS_ESINGULAR;
}

/* The column of the smallest pivot that full_solve left, and the pivot. */
static double weakest(const double *a, int32_t m, int32_t *column)
{
    double least = INFINITY;
    for (int32_t k = 0; k < m; k++)
        if (!(fabs(a[k * m + k]) >= least)) {
            least = fabs(a[k * m + k]);
            *column = k;
        }
    return least;
}

/* Unknown of column or row k of the system below, in what it is measured: tolerances. */
static double unit(const ana_shot *s, int32_t k)
{
    const int32_t n = (int32_t)vec_len(s->state);
    return k < n ? tolerance(s, s->state[k]) : s->reltol;
}

static void fill_dense(const ana_shot *s, const double *r, double *a, double *b)
{
    const shoot_wave *w = &s->wave;
    const int32_t n = (int32_t)vec_len(s->state), m = w->n_column;
    const double swing = s->o.osc ? probe_tolerance(s) : 1;
    for (int32_t row = 0; row < m; row++) {
        const double of = row < n ? unit(s, row) : swing;
        for (int32_t col = 0; col < m; col++) {
            const double *x = w->x + (size_t)col * s->n1;
            const double v = row == n ? probe(s, x) : (row == col) - x[s->state[row]];
            a[row * m + col] = v * unit(s, col) / of;
        }
        b[row] = (row < n ? r[s->state[row]] : s->level - probe(s, shoot_end(s))) / of;
    }
}

static vs_status solve_dense(ana_shot *s, const double *r, update *u)
{
    const shoot_wave *w = &s->wave;
    const int32_t n = (int32_t)vec_len(s->state), m = w->n_column;
    int32_t column = 0;
    double *a = vs_calloc((size_t)m * (size_t)m + 1, sizeof *a),
           *b = vs_calloc((size_t)m + 1, sizeof *b);
    fill_dense(s, r, a, b);
    const bool good = full_solve(a, b, m) && weakest(a, m, &column) > free_multiplier;
    memcpy(u->dx, r, s->n1 * sizeof *r);
    for (int32_t col = 0; col < m; col++)
        for (size_t i = 1; i < s->n1; i++)
            u->dx[i] += w->x[(size_t)col * s->n1 + i] * b[col] * unit(s, col);
    u->turn = s->o.osc ? b[n] * unit(s, n) : 0;
    const bool of_state = !good && m && (weakest(a, m, &column), column < n);
    vs_free(a);
    vs_free(b);
    return good ? VS_OK : not_unique(s, of_state ? s->state[column] : 0);
}

typedef struct krylov {
    ana_shot *s;
    double *in, *out; /* [n+1 + n_tail] */
    double *unit;     /* [n + n_tail] tolerances */
    double *kept;     /* [2 n_equation] what a product leaves of the state */
    vs_status st;
} krylov;

static size_t n_equation(const ana_shot *s)
{
    return (size_t)s->n + s->n_tail + (s->o.osc ? 1 : 0);
}

/* Unknowns 1 .. n, the tail, then ln T, all in tolerances. */
static void multiply(void *user, const double *x, double *y)
{
    krylov *k = user;
    ana_shot *s = k->s;
    const size_t n = (size_t)s->n + s->n_tail;
    for (size_t i = 0; i < n; i++)
        k->in[i + 1] = x[2 * i] * k->unit[i];
    const double turn = s->o.osc ? x[2 * n] * s->reltol : 0;
    if (k->st == VS_OK)
        k->st = shoot_product(s, k->in, turn, k->out);
    if (k->st != VS_OK) { /* the identity ends GMRES */
        memcpy(y, x, 2 * n_equation(s) * sizeof *x);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        y[2 * i] = x[2 * i] - k->out[i + 1] / k->unit[i];
        y[2 * i + 1] = 0;
    }
    if (s->o.osc) {
        y[2 * n] = probe(s, k->out) / probe_tolerance(s);
        y[2 * n + 1] = 0;
    }
    for (size_t i = 0; i < 2 * n_equation(s); i++)
        k->kept[i] = x[i] - y[i];
    recycle_add(&s->known, x, k->kept);
}

/* Products with M on other steps, or before an update, are near to those of now. */
static void precondition(void *user, const double *x, double *y)
{
    const krylov *k = user;
    recycle_apply(&k->s->known, x, y);
}

static void make_preconditioner(ana_shot *s)
{
    static const double as_it_is[2] = {1, 0};
    if (s->known.n != (int64_t)n_equation(s)) {
        recycle_end(&s->known);
        recycle_begin(&s->known, (int64_t)n_equation(s));
    }
    recycle_prepare(&s->known, as_it_is);
}

static vs_status solve_krylov(ana_shot *s, const double *r, update *u)
{
    const size_t n = (size_t)s->n + s->n_tail;
    krylov k = {.s = s};
    gmres_opt o = {.n = (int64_t)n_equation(s),
                   .restart = s->lines ? MOST_PRODUCTS : 100,
                   .most = MOST_PRODUCTS,
                   .believe = true,
                   .product = multiply,
                   .precondition = precondition,
                   .user = &k};
    double *b = vs_calloc(4 * (n + 2), sizeof *b), *x = b + 2 * (n + 2), size = 0;
    int32_t made;
    make_preconditioner(s);
    k.kept = vs_malloc(2 * (n + 1) * sizeof *k.kept);
    k.in = vs_calloc(3 * (n + 1), sizeof *k.in);
    k.out = k.in + n + 1;
    k.unit = k.out + n + 1;
    for (size_t i = 0; i < n; i++) {
        k.unit[i] = i < (size_t)s->n ? tolerance(s, (int32_t)i + 1)
                                     : shoot_lines_tolerance(s, i - (size_t)s->n);
        b[2 * i] = r[i + 1] / k.unit[i];
    }
    if (s->o.osc)
        b[2 * n] = (s->level - probe(s, shoot_end(s))) / probe_tolerance(s);
    for (size_t i = 0; i <= n; i++)
        size += b[2 * i] * b[2 * i];
    o.tol = fmax(smallest, fmin(0.1, fmax(left, little / sqrt(size))));
    const vs_status st = size > 0 ? gmres(&o, b, x, &made) : VS_OK;
    for (size_t i = 0; i < n; i++)
        u->dx[i + 1] = x[2 * i] * k.unit[i];
    u->turn = s->o.osc ? x[2 * n] * s->reltol : 0;
    vs_free(b);
    vs_free(k.in);
    vs_free(k.kept);
    return k.st ? k.st : st;
}

/* -- Newton -- */

typedef struct report {
    int iterations;
    int32_t worst;
    double r, dx; /* tolerances */
} report;

/* The state, [n+1 + n_tail], for the caller to free. */
static double *state_of(const ana_shot *s)
{
    double *x = vs_malloc((s->n1 + s->n_tail) * sizeof *x);
    memcpy(x, s->x0, s->n1 * sizeof *x);
    for (size_t i = 0; i < s->n_tail; i++)
        x[s->n1 + i] = s->tail[i];
    return x;
}

static void move(ana_shot *s, const double *from, double period, const update *u, double by)
{
    for (size_t i = 1; i < s->n1; i++)
        s->x0[i] = from[i] + by * u->dx[i];
    for (size_t i = 0; i < s->n_tail; i++)
        s->tail[i] = from[s->n1 + i] + by * u->dx[s->n1 + i];
    s->period = period * exp(by * u->turn);
}

/* The longest of `first`, half of it, ... after which a pass ends and the residual has not grown
 * much. */
static vs_status search(ana_shot *s, const update *u, double first, double before, double *r)
{
    double *from = state_of(s), part = first;
    const double period = s->period;
    int32_t worst;
    vs_status st = VS_NOCONV;
    for (int k = 0; k < MOST_HALVINGS && st == VS_NOCONV; k++, part *= 0.5) {
        move(s, from, period, u, part);
        st = shoot_pass(s, true);
        if (st != VS_OK)
            continue;
        shoot_residual(s, r);
        if (!(size_of(s, r, &worst) <= (k < 3 ? 2 : 10) * before + 1))
            st = VS_NOCONV;
    }
    vs_free(from);
    return st;
}

static vs_status died(ana_shot *s)
{
    diag_error(s->a->d, s->o.span, "the oscillation died away: only the operating point is left");
    diag_note(s->a->d, s->o.span,
              "let the transient before it run longer, from a start that is not at rest (.ic, "
              "uic)");
    return VS_EINPUT;
}

static double swing(const ana_shot *s)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t at = 0; at < vec_len(s->xs); at += s->n1) {
        lo = fmin(lo, probe(s, s->xs + at));
        hi = fmax(hi, probe(s, s->xs + at));
    }
    return hi - lo;
}

/* -- circuits that forget -- */

/* Of a change of the state, less than `forgotten` is left after a period; a period leaves no more
 * than `falls` of what the one before left, until that is `gone`. */
static const double forgotten = 0.3, falls = 0.5, gone = 1e-3;

static shoot_memory memory_of(const ana_shot *s)
{
    if (!s->probes)
        return s->memory;
    return s->left <= gone || (s->left <= forgotten && s->left <= falls * s->left_before)
               ? SHOOT_FORGETS
               : SHOOT_REMEMBERS;
}

enum { MOST_PAIRS = 4 };
typedef struct secants { /* what changes of the state did to the residual, newest last */
    int n;
    double *dx[MOST_PAIRS], *dr[MOST_PAIRS]; /* [n+1] */
} secants;

static double dot(const ana_shot *s, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < vec_len(s->state); k++) {
        const int32_t i = s->state[k];
        const double tol = tolerance(s, i);
        sum += a[i] / tol * (b[i] / tol);
    }
    return sum;
}

static void subtract(const ana_shot *s, double *a, double by, const double *b)
{
    for (size_t i = 1; i < s->n1; i++)
        a[i] -= by * b[i];
}

/* The pair of the last two states joins the others, whose oldest may leave. */
static void add_pair(const ana_shot *s, secants *p, const double *x, const double *r,
                     const double *x_before, const double *r_before)
{
    if (p->n == MOST_PAIRS) {
        double *const dx = p->dx[0], *const dr = p->dr[0];
        memmove(p->dx, p->dx + 1, (MOST_PAIRS - 1) * sizeof *p->dx);
        memmove(p->dr, p->dr + 1, (MOST_PAIRS - 1) * sizeof *p->dr);
        p->dx[MOST_PAIRS - 1] = dx;
        p->dr[MOST_PAIRS - 1] = dr;
        p->n--;
    }
    for (size_t i = 0; i < s->n1; i++) {
        p->dx[p->n][i] = x[i] - x_before[i];
        p->dr[p->n][i] = r[i] - r_before[i];
    }
    p->n++;
}

/* x += r - sum theta_j (dx_j + dr_j), with theta for the smallest |r - sum theta_j dr_j|: what a
 * period does next, but for what the pairs know better (Anderson 1965; Walker & Ni, SIAM J. Numer.
 * Anal. 49(4), 2011). r is overwritten. */
static void go_on(const ana_shot *s, const secants *p, double *r, double *x)
{
    static const double independent = 1e-6; /* of its length, of a dr beside the others */
    double *const both = vs_malloc(2 * MOST_PAIRS * s->n1 * sizeof *both);
    double *dx[MOST_PAIRS], *dr[MOST_PAIRS];
    for (int j = p->n - 1, m = 0; j >= 0; j--) { /* newest first, made orthogonal */
        dx[m] = both + 2 * (size_t)m * s->n1;
        dr[m] = dx[m] + s->n1;
        memcpy(dx[m], p->dx[j], s->n1 * sizeof *r);
        memcpy(dr[m], p->dr[j], s->n1 * sizeof *r);
        const double size = dot(s, dr[m], dr[m]);
        for (int i = 0; i < m; i++) {
            const double by = dot(s, dr[i], dr[m]) / dot(s, dr[i], dr[i]);
            subtract(s, dr[m], by, dr[i]);
            subtract(s, dx[m], by, dx[i]);
        }
        const double own = dot(s, dr[m], dr[m]);
        if (!(own > independent * independent * size))
            continue;
        const double theta = dot(s, dr[m], r) / own;
        subtract(s, r, theta, dr[m]);
        subtract(s, x, theta, dx[m]);
        m++;
    }
    subtract(s, x, -1, r);
    vs_free(both);
}

/* A state that comes again later, as that of a divider, and how many periods ago it was taken: each
 * time twice as many as before (Brent, BIT 20(2), 1980). */
typedef struct again {
    double *x, *off; /* [n+1]; scratch */
    int taken, next;
} again;

/* After a period of which r tolerances are missing: after how many periods the state comes again;
 * 0: it is not known. */
static int comes_again(const ana_shot *s, again *a, int period, double r)
{
    static const double same = 1e-3; /* of what one period changes, which is no small thing: */
    static const double much = 30;
    int32_t worst;
    for (size_t i = 0; i < s->n1; i++)
        a->off[i] = s->x0[i] - a->x[i];
    if (a->taken && r > much && size_of(s, a->off, &worst) <= same * r)
        return period - a->taken;
    if (period >= a->next) {
        memcpy(a->x, s->x0, s->n1 * sizeof *a->x);
        a->taken = period;
        a->next = 2 * period;
    }
    return 0;
}

static vs_status repeats_later(ana_shot *s, int periods)
{
    diag_error(s->a->d, s->o.span, "the state repeats after %d periods of %.9g Hz, not after one",
               periods, 1 / s->period);
    diag_note(s->a->d, s->o.span, "as a divider or a counter does: give %.9g Hz",
              1 / (periods * s->period));
    return VS_EINPUT;
}

/* One pass after the other from state to state until it repeats. Where nothing is left of a change
 * that is small, only large ones move the state, as bits from flip-flop to flip-flop: what a period
 * makes of it is the next state then, for as many periods as that may take, and else what pairs
 * make of that. */
static vs_status follow_on(ana_shot *s, report *rep, secants *p, bool *closed)
{
    enum { MOST_PERIODS = 10, MOST_OF_LOGIC = 1000 };
    double *own = vs_calloc(6 * s->n1, sizeof *own), *r = own, *r_before = own + s->n1,
           *x_before = own + 2 * s->n1, *step = own + 3 * s->n1;
    again a = {.x = own + 4 * s->n1, .off = own + 5 * s->n1, .next = 1};
    vs_status st = VS_OK;
    double before = INFINITY;
    for (int it = 1; st == VS_OK && memory_of(s) == SHOOT_FORGETS; it++) {
        const bool logic = s->left <= gone;
        shoot_residual(s, r);
        *rep = (report){.iterations = it};
        rep->r = rep->dx = size_of(s, r, &rep->worst);
        *closed = rep->r <= strict && !(s->probes && it == 1);
        if (*closed || it > (logic ? MOST_OF_LOGIC : MOST_PERIODS))
            break;
        const int periods = logic ? comes_again(s, &a, it, rep->r) : 0;
        if (periods)
            st = repeats_later(s, periods);
        if (st != VS_OK)
            break;
        if (!logic && !(rep->r <= 2 * before)) {
            memcpy(s->x0, x_before, s->n1 * sizeof *r);
            break;
        }
        if (it > 1 && !logic)
            add_pair(s, p, s->x0, r, x_before, r_before);
        memcpy(x_before, s->x0, s->n1 * sizeof *r);
        memcpy(r_before, r, s->n1 * sizeof *r);
        memcpy(step, r, s->n1 * sizeof *r);
        go_on(s, p, step, s->x0);
        before = rep->r;
        s->follows = true;
        st = shoot_pass(s, false);
        s->follows = false;
    }
    s->memory = *closed ? SHOOT_FORGETS : SHOOT_REMEMBERS;
    if (st == VS_NOCONV)
        memcpy(s->x0, x_before, s->n1 * sizeof *r);
    vs_free(own);
    return st == VS_NOCONV ? VS_OK : st;
}

/* Logic forgets its state within a period: then a pass, without any derivative, ends nearer to the
 * periodic state than it began, by what an update of Newton's method that takes M for 0 does, and
 * the next one ends where it comes together with the last. The passes of the first grid carry
 * changes of all of the state along, which tell whether that is so: a slow state, of which a
 * residual shows nothing, would be left. *closed: the state repeats; if not, Newton's method goes
 * on. */
static vs_status follow(ana_shot *s, report *rep, bool *closed)
{
    s->probes = s->memory == SHOOT_UNKNOWN;
    vs_status st = shoot_pass(s, false);
    if (st == VS_OK && memory_of(s) == SHOOT_FORGETS) {
        secants p = {0};
        double *room = vs_malloc(2 * MOST_PAIRS * s->n1 * sizeof *room);
        for (int j = 0; j < MOST_PAIRS; j++) {
            p.dx[j] = room + 2 * (size_t)j * s->n1;
            p.dr[j] = p.dx[j] + s->n1;
        }
        st = follow_on(s, rep, &p, closed);
        vs_free(room);
    } else if (st == VS_OK) {
        s->memory = SHOOT_REMEMBERS;
    }
    s->probes = false;
    return st;
}

/* From how many unknowns with charges on; of fewer, Newton's method needs few columns. */
enum { MANY_STATES = 20 };
static bool may_forget(const ana_shot *s)
{
    int32_t n = 0;
    for (int32_t i = 1; i <= s->n; i++)
        n += s->a->u[i].has_q;
    return n > MANY_STATES && !s->o.osc && !s->lines && s->memory != SHOOT_REMEMBERS;
}

/* Until an update is below `small` tolerances, which is the last one. */
static vs_status newton(ana_shot *s, double small, report *rep)
{
    update u = {.dx = vs_calloc(s->n1 + s->n_tail, sizeof(double))};
    double *r = vs_calloc(s->n1 + s->n_tail, sizeof *r);
    vs_status st = shoot_pass(s, true);
    *rep = (report){0};
    for (int it = 1; st == VS_OK; it++) {
        if (s->o.osc && swing(s) < least_swing * s->tol_x[s->o.probe.hi]) {
            st = died(s);
            break;
        }
        shoot_residual(s, r);
        rep->iterations = it;
        rep->r = size_of(s, r, &rep->worst);
        st = s->dense ? solve_dense(s, r, &u) : solve_krylov(s, r, &u);
        if (st != VS_OK)
            break;
        rep->dx = size_of(s, u.dx, &rep->worst);
        if (!(rep->dx <= DBL_MAX && fabs(u.turn) <= DBL_MAX)) {
            st = VS_NOCONV;
            break;
        }
        if (rep->dx <= small && fabs(u.turn) <= strict_turn) {
            double *from = state_of(s);
            move(s, from, s->period, &u, 1);
            vs_free(from);
            if (rep->dx > nothing)
                st = shoot_pass(s, false);
            break;
        }
        st = it == MOST_ITERATIONS
                 ? VS_NOCONV
                 : search(s, &u, fabs(u.turn) > 0.1 ? 0.1 / fabs(u.turn) : 1, rep->r, r);
    }
    vs_free(u.dx);
    vs_free(r);
    return st;
}

static vs_status close_period(ana_shot *s, report *rep)
{
    bool closed = false;
    const vs_status st = may_forget(s) ? follow(s, rep, &closed) : VS_OK;
    return st != VS_OK || closed ? st : newton(s, strict, rep);
}

/* -- the grid is fine enough -- */

/* Samples of the last pass [n_sample][n+1]. */
static void take_samples(const ana_shot *s, double *to)
{
    for (int32_t m = 0; m < s->n_sample; m++) {
        const int32_t k = m ? s->sample_at[m - 1] + 1 : 0;
        memcpy(to + (size_t)m * s->n1, (k ? s->xs + (size_t)k * s->n1 : shoot_end(s)),
               s->n1 * sizeof *to);
    }
}

/* Currents that only slopes of charges determine are of one order less: they are weighted by
 * this. */
static const double flow_part = 0.1;

static bool is_flow(const ana_shot *s, size_t i)
{
    return s->a->u[i].kind == CKT_CURRENT && !s->a->u[i].has_q;
}

/* The largest difference of samples in tolerances. */
static double compare(const ana_shot *s, const double *a, const double *b, int32_t *worst)
{
    double most = 0;
    for (size_t i = 1; i < s->n1; i++) {
        double d = 0;
        for (size_t m = 0; m < (size_t)s->n_sample; m++)
            d = fmax(d, fabs(a[m * s->n1 + i] - b[m * s->n1 + i]));
        d *= (is_flow(s, i) ? flow_part : 1) / tolerance(s, (int32_t)i);
        if (!(d <= most)) {
            most = d;
            *worst = (int32_t)i;
        }
    }
    return most;
}

/* What a level misses that changed samples by `now`, the one before by `before`: changes fall as a
 * geometric series, whose rest is ratio/(1 - ratio) of the last one. The ratio is taken for no less
 * than the rule's, and without a second change for that of order 2. */
static double rest(const ana_shot *s, double now, double before)
{
    const double known = s->rule == ANA_SHOOT_EULER ? 0.5 : 0.25,
                 rule = s->rule == ANA_SHOOT_SDIRK4 ? 1. / 16 : known, usual = known / (1 - known),
                 ratio = before < INFINITY ? fmax(rule, now / before) : known;
    return now * (ratio < known ? ratio / (1 - ratio) : usual);
}

/* Each level halves the steps of the one before: SDIRK4's where its estimate asks for it. */
static vs_status solve_grid(ana_shot *s, int level, bool known, report *rep)
{
    shoot_leave_grid(s, known);
    if (known && s->rule == ANA_SHOOT_SDIRK4)
        shoot_split(s, first_error * pow(16, 1 - level));
    else
        shoot_make_grid(s, level);
    shoot_lines_place(s);
    vs_status st = close_period(s, rep);
    if (st == VS_OK)
        shoot_lines_estimate(s);
    if (st == VS_OK && s->rule == ANA_SHOOT_SDIRK4)
        st = shoot_improve(s);
    return st;
}

static vs_status refine(ana_shot *s, report *rep)
{
    const size_t bytes = (size_t)s->n_sample * s->n1 * sizeof(double);
    double *last = vs_malloc(bytes), *now = vs_malloc(bytes), miss = INFINITY, change = INFINITY,
           turn = INFINITY, period = 0;
    int32_t worst = 0;
    vs_status st = VS_NOCONV;
    for (int level = 0; level <= s->halvings; level++) {
        const bool known = st == VS_OK;
        if (known && 2 * vec_len(s->step) > SHOOT_MOST_STEPS)
            break;
        st = solve_grid(s, level, known, rep);
        if (st != VS_OK && (known || st != VS_NOCONV || level > 2))
            break; /* shorter steps may do what long ones did not */
        if (st != VS_OK)
            continue;
        double *t = last;
        last = now;
        now = t;
        take_samples(s, now);
        const double changed = known ? compare(s, now, last, &worst) : INFINITY,
                     turned = known ? fabs(log(s->period / period)) : INFINITY;
        miss = rest(s, changed, change);
        if (miss <= grid_error && rest(s, turned, turn) <= grid_error * s->reltol)
            break;
        change = changed;
        turn = turned;
        period = s->period;
    }
    if (st == VS_OK && !(miss <= 1) && !s->limited)
        diag_warning(s->a->d, s->o.span, "%zu steps leave an error of about %.2g tolerances in %s",
                     vec_len(s->step), miss, ana_unknown_text(s->a, worst));
    vs_free(last);
    vs_free(now);
    return st;
}

/* -- what gmin alone carries -- */

/* Of a voltage that twice gmin takes, if gmin carries it: half. */
static const double least_share = 0.3;

static double gmin_current(const ana_shot *s, int32_t i)
{
    return s->a->gdiag[i] && !s->a->u[i].internal ? op_most_gmin(s->a) * s->x_max[i] : 0;
}

/* How the state moves for twice gmin, to u: an update of Newton's method from here. */
static vs_status move_by_gmin(ana_shot *s, update *u)
{
    const double gmin = s->a->opt.gmin;
    double *r = vs_calloc(s->n1 + s->n_tail, sizeof *r);
    s->a->opt.gmin = 2 * gmin;
    vs_status st = shoot_pass(s, true);
    if (st == VS_OK) {
        shoot_residual(s, r);
        st = s->dense ? solve_dense(s, r, u) : solve_krylov(s, r, u);
    }
    s->a->opt.gmin = gmin;
    vs_free(r);
    return st;
}

static vs_status tell_gmin(ana_shot *s, int32_t node)
{
    ana *a = s->a;
    diag_error(a->d, s->o.span,
               "no periodic solution: %s would be at %.3g V, where gmin alone carries the current "
               "(%.3g A)",
               ana_unknown_text(a, node), s->x0[node], gmin_current(s, node));
    diag_note(a->d, s->o.span,
              "perhaps a current has no path in the mean over a period; a resistor to ground of "
              "at most 1e9 ohm gives it one");
    return VS_ESINGULAR;
}

/* Is the state, of the last pass, one of the circuit? Transients before it do not tell: they may be
 * on a ramp into a charge. */
static vs_status judge(ana_shot *s)
{
    update u = {0};
    int32_t node = 0;
    bool look = false;
    for (size_t i = 1; i < s->n1; i++)
        look |= gmin_current(s, (int32_t)i) > OP_GMIN_CURRENT;
    if (!look || !(s->a->opt.gmin > 0) || s->o.osc)
        return VS_OK;
    u.dx = vs_calloc(s->n1 + s->n_tail, sizeof *u.dx);
    vs_status st = move_by_gmin(s, &u);
    for (size_t k = 0; k < vec_len(s->state) && st == VS_OK; k++) {
        const int32_t i = s->state[k];
        const double current = gmin_current(s, i);
        if (current > OP_GMIN_CURRENT && fabs(u.dx[i]) > least_share * s->x_max[i] &&
            (!node || current > gmin_current(s, node)))
            node = i;
    }
    vs_free(u.dx);
    if (node)
        return tell_gmin(s, node);
    return shoot_pass(s, false);
}

static vs_status refine_and_judge(ana_shot *s, report *rep)
{
    const vs_status st = refine(s, rep);
    return st == VS_OK ? judge(s) : st;
}

/* -- beginning and end -- */

static vs_status refuse(const ana_shot *s)
{
    ana *a = s->a;
    double by;
    const char *who = ckt_vary_refuses(a->c);
    const int32_t wrapped = who ? -1 : ckt_wrapped(a->c, 0, s->x0, &by);
    if (!who && wrapped < 0)
        return VS_OK;
    const char *what = who ? who : wrapped > 0 ? ana_unknown_text(a, wrapped) : NULL;
    diag_error(a->d, s->o.span,
               "shooting is not possible%s%s: its state is not among the circuit's unknowns",
               what ? " with " : "", what ? what : "");
    diag_note(a->d, s->o.span, "harmonic balance may be: .hb, or method=hb");
    return VS_EINPUT;
}

static void explain(ana_shot *s, const report *rep)
{
    ana *a = s->a;
    diag_error(a->d, s->o.span, "no periodic solution was found by shooting");
    if (!rep->iterations)
        diag_note(a->d, s->o.span, "Newton did not converge within the period, at t = %.9g s",
                  s->failed_at);
    else if (rep->worst > 0)
        diag_note(a->d, s->o.span,
                  "after %d iterations %s misses its own value a period later by %.3g tolerances",
                  rep->iterations, ana_unknown_text(a, rep->worst), rep->r);
    if (s->o.osc)
        diag_note(a->d, s->o.span,
                  "an oscillation that dies away, or grows too slowly to be seen within tstab, has "
                  "no period: a larger start (.ic, uic, a pulse) or a longer tstab shows which");
    diag_note(a->d, s->o.span,
              "a longer tstab begins nearer; a divider repeats after several periods of its input: "
              "give that frequency; a circuit may have no periodic state (chaos, two frequencies)");
}

static int32_t samples_for(int32_t harmonics)
{
    int32_t n = FIRST_SAMPLES;
    while (n < 4 * harmonics + 2)
        n *= 2;
    return n;
}

static void allocate(ana_shot *s)
{
    s->stride = (size_t)s->a->m + CKT_PADDING;
    s->n_sample = samples_for(s->o.harm[0]);
    s->sample_at = vs_calloc((size_t)s->n_sample, sizeof *s->sample_at);
    s->shown_at = vs_calloc((size_t)s->n_shown + 1, sizeof *s->shown_at);
    s->x0 = vs_calloc(s->stride, sizeof *s->x0);
    s->scale = vs_calloc(s->n1, sizeof *s->scale);
    s->x_max = vs_calloc(s->stride, sizeof *s->x_max);
    s->r_max = vs_calloc(s->stride, sizeof *s->r_max);
    s->tol_x = vs_calloc(s->n1, sizeof *s->tol_x);
    s->c0 = vs_calloc((size_t)s->nnz + 1, sizeof *s->c0);
    s->row_max = vs_calloc(s->stride, sizeof *s->row_max);
    s->weight = vs_calloc(s->stride, sizeof *s->weight);
}

void ana_shot_free(ana_shot **shot)
{
    ana_shot *s = *shot;
    *shot = NULL;
    if (!s)
        return;
    shoot_pass_free(s);
    shoot_lines_free(&s->lines);
    recycle_end(&s->known);
    vs_free(s->tail);
    cycle_fini(&s->c);
    vec_free(s->corner);
    vec_free(s->step);
    vec_free(s->xs);
    vec_free(s->qs);
    vec_free(s->state);
    void *const own[] = {s->sample_at, s->shown_at, s->x0,    s->scale,
                         s->x_max,     s->r_max,    s->tol_x, s->c0};
    for (size_t i = 0; i < VS_COUNT(own); i++)
        vs_free(own[i]);
    vs_free(s);
}

/* `look` with other tolerances of Newton's method inside of steps. */
static vs_status tightly(ana_shot *s, vs_status (*look)(ana_shot *, report *), report *rep)
{
    ana *a = s->a;
    double *tol_r = vs_malloc(s->n1 * sizeof *tol_r);
    memcpy(tol_r, a->tol_r, s->n1 * sizeof *tol_r);
    a->opt.reltol *= tight;
    for (size_t i = 0; i < s->n1; i++) {
        a->tol_x[i] *= tight;
        a->tol_r[i] *= tight;
    }
    const vs_status st = look(s, rep);
    a->opt.reltol = s->reltol;
    memcpy(a->tol_x, s->tol_x, s->n1 * sizeof *tol_r);
    memcpy(a->tol_r, tol_r, s->n1 * sizeof *tol_r);
    vs_free(tol_r);
    return st;
}

/* Where echoes of corners are is known from transients only. */
static vs_status refuse_echoes(const ana_shot *s)
{
    if (!s->lines || !vec_len(s->corner))
        return VS_OK;
    diag_error(s->a->d, s->o.span,
               "start=hb is not possible with lines or delays and sources that have corners");
    diag_note(s->a->d, s->o.span, "echoes of corners are found by a transient: start=tran");
    return VS_EINPUT;
}

static vs_status begin(ana_shot *s, const ana_orbit *from)
{
    if (!from)
        return cycle_record(s->a, &s->o, s->sink, s->o.tstab, &s->c);
    const int32_t n = 8 * s->o.harm[0];
    cycle_of_orbit(from, &s->o, s->o.tstab, n > FIRST_SAMPLES ? n : FIRST_SAMPLES, &s->c);
    return VS_OK;
}

/* -- a state that was found before -- */

enum {
    N_FACT = 7
}; /* of the image: unknowns, steps, corners, t_0, the period, the level, and how
                      * many products with M are known */

void ana_shot_state(const ana_shot *s, double **to)
{
    const size_t ns = vec_len(s->step), nc = vec_len(s->corner);
    const int32_t nb = s->known.n == s->n ? s->known.n_basis : 0;
    const double fact[N_FACT] = {(double)s->n, (double)ns, (double)nc, s->t0,
                                 s->period,    s->level,   nb};
    vec_clear(*to);
    for (int k = 0; k < N_FACT; k++)
        vec_push(*to, fact[k]);
    for (size_t i = 0; i < s->n1; i++) {
        vec_push(*to, s->x0[i]);
        vec_push(*to, s->scale[i]);
    }
    for (size_t k = 0; k < ns; k++)
        vec_push(*to, s->step[k].fresh ? -s->step[k].end : s->step[k].end);
    for (size_t k = 0; k < nc; k++)
        vec_push(*to, s->corner[k]);
    for (size_t i = 0; i < (size_t)nb * (size_t)s->n; i++) { /* they are real */
        vec_push(*to, s->known.v[2 * i]);
        vec_push(*to, s->known.w[2 * i]);
    }
}

/* Sources have no corners but those of the image. */
static bool has_corners(const ana_shot *s, const double *corner, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < vec_len(s->corner); i++) {
        while (k < n && corner[k] < s->corner[i] - 1e-9)
            k++;
        if (k == n || corner[k] > s->corner[i] + 1e-9)
            return false;
    }
    return true;
}

/* Goes on from the image; false: it is of another circuit, or its steps do not serve. */
static bool take_up(ana_shot *s, const double *from, size_t n_from)
{
    if (n_from < N_FACT || from[0] != s->n)
        return false;
    const size_t ns = (size_t)from[1], nc = (size_t)from[2], nb = (size_t)from[6];
    const double *x = from + N_FACT, *end = x + 2 * s->n1, *corner = end + ns, *known = corner + nc;
    assert(n_from == N_FACT + 2 * s->n1 + ns + nc + 2 * nb * (size_t)s->n);
    s->t0 = from[3];
    s->period = from[4];
    s->level = from[5];
    if (shoot_find_corners(s) != VS_OK || !has_corners(s, corner, nc))
        return false;
    for (size_t i = 0; i < s->n1; i++) {
        s->x0[i] = x[2 * i];
        s->scale[i] = x[2 * i + 1];
    }
    vec_clear(s->corner);
    for (size_t k = 0; k < nc; k++)
        vec_push(s->corner, corner[k]);
    shoot_take_steps(s, end, ns);
    recycle_begin(&s->known, s->n);
    for (size_t i = 0; i < nb * (size_t)s->n; i++) {
        s->known.v[2 * i] = known[2 * i];
        s->known.w[2 * i] = known[2 * i + 1];
        s->known.v[2 * i + 1] = s->known.w[2 * i + 1] = 0;
    }
    s->known.n_basis = (int32_t)nb;
    s->known.changed = true;
    return true;
}

static vs_status settle(ana_shot *s, report *rep)
{
    static const double small = 0.1; /* what follows would be a part of it */
    const vs_status st = newton(s, small, rep);
    return st == VS_OK ? shoot_improve(s) : st;
}

vs_status shoot_settle(ana_shot *s)
{
    report rep = {0};
    s->rule = ANA_SHOOT_SDIRK4;
    const vs_status st = tightly(s, settle, &rep);
    if (st == VS_NOCONV)
        explain(s, &rep);
    return st;
}

static vs_status find(ana_shot *s, const ana_shoot_opt *o, report *rep)
{
    const ana_orbit *from = o->from;
    size_t k = 0;
    vs_status st = refuse(s);
    if (st == VS_OK && take_up(s, o->again, o->n_again)) {
        s->rule = ANA_SHOOT_SDIRK4;
        st = tightly(s, settle, rep);
        if (st != VS_NOCONV)
            return st;
        s->rule = o->rule;
        st = VS_OK;
    }
    if (st == VS_OK)
        st = begin(s, from);
    if (st != VS_OK)
        return st;
    s->t0 = s->c.begin;
    s->period = s->c.period;
    cycle_at(&s->c, s->n1, s->t0, &k, s->x0);
    s->level = probe(s, s->x0);
    for (size_t i = 0; i < vec_len(s->c.x); i++)
        s->scale[i % s->n1] = fmax(s->scale[i % s->n1], fabs(s->c.x[i]));
    st = shoot_lines_make(s);
    if (st == VS_OK)
        st = shoot_find_corners(s);
    if (st == VS_OK && from)
        st = refuse_echoes(s);
    if (st == VS_OK) {
        shoot_keep_cycle(s);
        st = tightly(s, refine_and_judge, rep);
    }
    if (st == VS_NOCONV)
        explain(s, rep);
    return st;
}

vs_status ana_shoot(ana_shot **shot, ana *a, const ana_hb_opt *o, const ana_shoot_opt *w,
                    const ana_sink *sink)
{
    *shot = NULL;
    if (ana_refuses_digital(a, "shooting"))
        return VS_EUNSUPPORTED;
    ana_shot *s = vs_calloc(1, sizeof *s);
    report rep = {0};
    s->a = a;
    s->o = *o;
    s->rule = w->rule;
    s->n_shown = w->points;
    s->limited = w->halvings >= 0;
    s->halvings = w->halvings < 0 ? MOST_HALVED : w->halvings;
    s->sink = sink;
    s->n = a->n;
    s->n1 = (size_t)a->n + 1;
    s->nnz = csc_nnz(a->jac);
    allocate(s);
    s->reltol = a->opt.reltol;
    memcpy(s->tol_x, a->tol_x, s->n1 * sizeof *s->tol_x);
    const vs_status st = find(s, w, &rep);
    if (st != VS_OK)
        ana_shot_free(&s);
    *shot = s;
    return st;
}

/* -- facts -- */

const char *ana_shot_refuses(const ana_shot *s)
{
    return s->o.osc ? "of an oscillator" : s->lines ? "with lines or delays" : NULL;
}

double ana_shot_period(const ana_shot *s) { return s->period; }

int64_t ana_shot_steps(const ana_shot *s) { return (int64_t)vec_len(s->step); }

double ana_shot_point(const ana_shot *s, int64_t k, double *x)
{
    const int32_t at = s->shown_at[k] + 1;
    memcpy(x, s->xs + (size_t)at * s->n1, s->n1 * sizeof *x);
    return s->period * (double)k / (double)(s->n_shown - 1);
}

void ana_shot_spectrum(const ana_shot *s, double *to)
{
    const size_t nm = (size_t)s->n_sample, nh = (size_t)s->o.harm[0], nk = 2 * nh + 1;
    double *grid = vs_malloc(2 * nm * sizeof *grid),
           *samples = vs_malloc(nm * s->n1 * sizeof *samples);
    take_samples(s, samples);
    memset(to, 0, 2 * nk * sizeof *to);
    for (size_t i = 1; i < s->n1; i++) {
        for (size_t m = 0; m < nm; m++) {
            grid[2 * m] = samples[m * s->n1 + i];
            grid[2 * m + 1] = 0;
        }
        fft(grid, (int64_t)nm, false);
        for (size_t k = 0; k < nk; k++) {
            const double *z = grid + 2 * ((k + nm - nh) % nm);
            to[2 * (i * nk + k)] = z[0] / (double)nm;
            to[2 * (i * nk + k) + 1] = z[1] / (double)nm;
        }
    }
    vs_free(grid);
    vs_free(samples);
}
