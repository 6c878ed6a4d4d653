/* va_lower_time.c - operators that shape a signal in time: transition, slew, laplace_nd and its
 * kin, idtmod, absdelay, last_crossing; the events cross, above and timer.
 * Source: Verilog-AMS LRM 2.4, 4.5.5 (idtmod), 4.5.7 (absdelay), 4.5.8 (transition), 4.5.9 (slew),
 *         4.5.10
 * (last_crossing), 4.5.11 (Laplace transform filters), 5.10.3 (events).
 *
 * transition and slew remember what was at the last accepted point in hidden states; the laplace
 * filters are linear equations of unknowns of their own (controllable form, scaled by w =
 * |d_0/d_n|^(1/n) so that all have the size of
 * the signal):  (1/w) dz_i/dt = z_{i+1},  (1/w) dz_n/dt = (x - sum_{i<n} d_i w^i z_{i+1})/(d_n
 * w^n). */
#include "va_lower.h"

#include <math.h>

enum {
    PENDING = 8
}; /* changes of transition() on their way through its delay; more replace the last one */
#define SHORTEST 1e-12 /* seconds of a ramp that is given as 0 or not at all */
#define NEAR 1e-6      /* part of a ramp or a delay that is as good as its end */
#define FOUND \
    1e-4 /* part of the longest step so far: a crossing that is as near as this has been found */
#define FOUND_FIRST 1e-5 /* part of the step itself, for the first one */
#define NO_BETTER \
    1e-9 /* of the longest step: nearer than this is not asked for, whatever the value is */
#define SAME_TIME 1e-14 /* times this far apart, relative, are the same */

#define ADD(a, b) lw_bin(L, IR_ADD, a, b)
#define SUB(a, b) lw_bin(L, IR_SUB, a, b)
#define MUL(a, b) lw_bin(L, IR_MUL, a, b)
#define DIV(a, b) lw_bin(L, IR_DIV, a, b)
#define MIN(a, b) lw_bin(L, IR_MIN, a, b)
#define MAX(a, b) lw_bin(L, IR_MAX, a, b)
#define LE(a, b) lw_bin(L, IR_FLE, a, b)
#define LT(a, b) lw_bin(L, IR_FLT, a, b)
#define OR(a, b) lw_bin(L, IR_BOR, a, b)
#define ABS(a) lw_un(L, IR_ABS, a)
#define FLOOR(a) lw_un(L, IR_FLOOR, a)
#define AND(a, b) lw_bin(L, IR_BAND, a, b)
#define NOT(a) lw_un(L, IR_BNOT, a)
#define SEL(c, a, b) lw_sel(L, c, a, b)

static ir_val now(lw *L) { return ir_in(L->fn, IR_IN_ABSTIME, 0, IR_F64, false); }

/* A value that lasts from one accepted point to the next, also if the operator is not evaluated
 * there: its slot has the old value until lw_set. A pass that needs more such values than it read
 * at its start is repeated. */
static int32_t new_state(lw *L)
{
    const int32_t k = (int32_t)vec_len(L->state);
    if (k >= L->most_state) {
        L->most_state = k + 1;
        L->again = true;
    }
    const bool known = k < (int32_t)vec_len(L->state_in);
    const int32_t slot = lw_new_slot(L, IR_F64, known ? L->state_in[k] : L->zero_f);
    vec_push(L->state, slot);
    return slot;
}

/* Whether the operator returns its argument itself: at the start, in dc and small-signal analyses.
 */
static ir_val passes(lw *L)
{
    const ir_val tran = lw_bool(L, lw_dyn(L, IR_DYN_IS_TRAN)),
                 still = lw_bool(L, lw_dyn(L, IR_DYN_IS_STATIC));
    const ir_val first = lw_bool(L, lw_dyn(L, IR_DYN_INITIAL_STEP));
    return lw_bin(L, IR_BOR, NOT(tran), lw_bin(L, IR_BOR, still, first));
}

static ir_val number(lw *L, const va_expr *e, int i, ir_val absent)
{
    return e->n_arg > i && e->arg[i]->kind != EX_NULL ? lw_real(L, lw_expr(L, e->arg[i])) : absent;
}

static bool is_static(lw *L, ir_val v)
{
    uint8_t *cls = arena_alloc(&L->c->mem, vec_len(L->fn->inst) + 1);
    ir_classes(L->fn, cls);
    return ir_class_static(cls[v]);
}

/* -- transition -- */

typedef struct ramp { /* from ya at ta to yb at tb, in slots */
    int32_t ya, ta, yb, tb;
} ramp;

static ir_val on_ramp(lw *L, const ramp *r, ir_val t)
{
    const ir_val ya = L->cur[r->ya], ta = L->cur[r->ta], yb = L->cur[r->yb], tb = L->cur[r->tb];
    const ir_val span = MAX(SUB(tb, ta), lw_f(L, SHORTEST * NEAR));
    const ir_val part = MIN(MAX(DIV(SUB(t, ta), span), lw_f(L, 0)), lw_f(L, 1));
    return ADD(ya, MUL(part, SUB(yb, ya)));
}

/* If `starts` holds, begins the ramp to y at time t, from the value that the present ramp has then.
 */
static void start_ramp(lw *L, const ramp *r, ir_val starts, ir_val t, ir_val y, ir_val rise,
                       ir_val fall)
{
    const ir_val from = on_ramp(L, r, t), end = ADD(t, SEL(LE(from, y), rise, fall));
    lw_set(L, r->ya, SEL(starts, from, L->cur[r->ya]));
    lw_set(L, r->ta, SEL(starts, t, L->cur[r->ta]));
    lw_set(L, r->yb, SEL(starts, y, L->cur[r->yb]));
    lw_set(L, r->tb, SEL(starts, end, L->cur[r->tb]));
}

typedef struct queue { /* changes that have not arrived, the next one first; t = inf: none */
    int32_t t[PENDING], y[PENDING];
} queue;

static void push(lw *L, queue *q, ir_val changed, ir_val t, ir_val y)
{
    ir_val left = changed; /* true while the change has found no place */
    for (int k = 0; k < PENDING; k++) {
        const ir_val empty = LE(lw_f(L, HUGE_VAL), L->cur[q->t[k]]);
        const ir_val here = AND(left, k + 1 < PENDING ? empty : lw_b(L, true));
        lw_set(L, q->t[k], SEL(here, t, L->cur[q->t[k]]));
        lw_set(L, q->y[k], SEL(here, y, L->cur[q->y[k]]));
        left = AND(left, NOT(here));
    }
}

static void pop(lw *L, queue *q, ir_val taken)
{
    for (int k = 0; k < PENDING; k++) {
        const bool last = k + 1 == PENDING;
        lw_set(L, q->t[k],
               SEL(taken, last ? lw_f(L, HUGE_VAL) : L->cur[q->t[k + 1]], L->cur[q->t[k]]));
        lw_set(L, q->y[k], SEL(taken, last ? lw_f(L, 0) : L->cur[q->y[k + 1]], L->cur[q->y[k]]));
    }
}

/* The next step ends at `at`, if that is ahead by more than `near`. */
static void stop_at(lw *L, ir_val hold, ir_val at, ir_val near)
{
    const ir_val left = SUB(at, now(L)), ahead = AND(NOT(hold), NOT(LE(left, near)));
    L->bound_used = true;
    lw_set(L, L->bound, MIN(L->cur[L->bound], SEL(ahead, left, lw_f(L, HUGE_VAL))));
}

/* transition(x, delay, rise, fall): changes of x become ramps. */
static ir_val lower_transition(lw *L, const va_expr *e)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0])), t = now(L), hold = passes(L);
    const ir_val delay = MAX(number(L, e, 1, L->zero_f), lw_f(L, 0));
    const ir_val rise = MAX(number(L, e, 2, lw_f(L, SHORTEST)), lw_f(L, SHORTEST));
    const ir_val fall = MAX(number(L, e, 3, rise), lw_f(L, SHORTEST));
    const int32_t last = new_state(L);
    ramp r;
    r.ya = new_state(L);
    r.ta = new_state(L);
    r.yb = new_state(L);
    r.tb = new_state(L);
    const ir_val changed = AND(NOT(hold), lw_bin(L, IR_FNE, x, L->cur[last]));
    double none;
    if (lw_konst(L, delay, &none) && none == 0) {
        start_ramp(L, &r, changed, t, x, rise, fall);
    } else {
        queue q;
        for (int k = 0; k < PENDING; k++) {
            q.t[k] = new_state(L);
            q.y[k] = new_state(L);
        }
        push(L, &q, changed, ADD(t, delay), x);
        for (int k = 0; k < PENDING; k++) {
            const ir_val due =
                AND(NOT(hold), LE(SUB(L->cur[q.t[0]], t), MUL(lw_f(L, NEAR), delay)));
            start_ramp(L, &r, due, L->cur[q.t[0]], L->cur[q.y[0]], rise, fall);
            pop(L, &q, due);
        }
        for (int k = 0; k < PENDING; k++)
            lw_set(L, q.t[k], SEL(hold, lw_f(L, HUGE_VAL), L->cur[q.t[k]]));
        stop_at(L, hold, L->cur[q.t[0]], MUL(lw_f(L, NEAR), delay));
    }
    lw_set(L, last, x);
    lw_set(L, r.ya, SEL(hold, x, L->cur[r.ya]));
    lw_set(L, r.yb, SEL(hold, x, L->cur[r.yb]));
    stop_at(L, hold, L->cur[r.tb], MUL(lw_f(L, NEAR), SUB(L->cur[r.tb], L->cur[r.ta])));
    return SEL(hold, x, on_ramp(L, &r, t));
}

/* -- slew -- */

/* slew(x, rise, fall): dy/dt between fall (negative) and rise. */
static ir_val lower_slew(lw *L, const va_expr *e)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0])), hold = passes(L);
    if (e->n_arg < 2)
        return x;
    const ir_val up = number(L, e, 1, lw_f(L, HUGE_VAL)),
                 down = number(L, e, 2, lw_un(L, IR_NEG, up));
    const int32_t y = new_state(L), t = new_state(L);
    const ir_val dt = SUB(now(L), L->cur[t]), old = L->cur[y];
    const ir_val limited = MIN(MAX(x, ADD(old, MUL(down, dt))), ADD(old, MUL(up, dt)));
    lw_set(L, y, SEL(hold, x, limited));
    lw_set(L, t, now(L));
    return L->cur[y];
}

/* -- laplace filters -- */

typedef struct poly {
    ir_val *c; /* vec, by power of s */
} poly;

static poly coefficients(lw *L, const va_expr *list)
{
    poly p = {0};
    for (int i = 0; i < list->n_arg; i++)
        vec_push(p.c, lw_real(L, lw_expr(L, list->arg[i])));
    return p;
}

/* The product of 1 - s/r over roots r given as real and imaginary parts in turn; s for a root at 0.
 * Conjugates come in pairs, so the imaginary parts cancel. */
static poly from_roots(lw *L, const va_expr *list)
{
    poly p = {0}, q = {0}; /* real and imaginary part */
    vec_push(p.c, lw_f(L, 1));
    vec_push(q.c, lw_f(L, 0));
    for (int i = 0; i + 1 < list->n_arg; i += 2) {
        const ir_val re = lw_real(L, lw_expr(L, list->arg[i])),
                     im = lw_real(L, lw_expr(L, list->arg[i + 1]));
        const ir_val size = ADD(MUL(re, re), MUL(im, im)), zero = LE(size, lw_f(L, 0));
        const ir_val safe = SEL(zero, lw_f(L, 1), size), one = SEL(zero, lw_f(L, 0), lw_f(L, 1));
        const ir_val a =
            SEL(zero, lw_f(L, 1), DIV(lw_un(L, IR_NEG, re), safe)); /* -1/r = (-re + j im)/size */
        const ir_val b = SEL(zero, lw_f(L, 0), DIV(im, safe));
        const size_t n = vec_len(p.c);
        vec_push(p.c, lw_f(L, 0));
        vec_push(q.c, lw_f(L, 0));
        for (size_t k = n + 1; k-- > 0;) {
            const ir_val pk = MUL(one, p.c[k]), qk = MUL(one, q.c[k]);
            p.c[k] = k ? ADD(pk, SUB(MUL(a, p.c[k - 1]), MUL(b, q.c[k - 1]))) : pk;
            q.c[k] = k ? ADD(qk, ADD(MUL(a, q.c[k - 1]), MUL(b, p.c[k - 1]))) : qk;
        }
    }
    vec_free(q.c);
    return p;
}

static void drop_zeros(const lw *L, poly *p)
{
    double x;
    while (vec_len(p->c) > 1 && lw_konst(L, vec_last(p->c), &x) && x == 0)
        (void)vec_pop(p->c);
}

/* p_i w^i */
static ir_val scaled(lw *L, const poly *p, size_t i, const ir_val *power)
{
    return i < vec_len(p->c) ? MUL(p->c[i], power[i]) : lw_f(L, 0);
}

static ir_val filter(lw *L, ir_val x, const poly *num, const poly *den)
{
    const size_t n = vec_len(den->c) - 1;
    if (n == 0)
        return DIV(MUL(num->c[0], x), den->c[0]);
    const ir_val first = lw_un(L, IR_ABS, den->c[0]), last = lw_un(L, IR_ABS, den->c[n]);
    const ir_val both = NOT(LE(MIN(first, last), lw_f(L, 0)));
    const ir_val ratio = DIV(SEL(both, first, lw_f(L, 1)), SEL(both, last, lw_f(L, 1)));
    const ir_val w = lw_bin(L, IR_POW, ratio, lw_f(L, 1 / (double)n));
    ir_val *power = NULL, *z = NULL, sum = x, y = lw_f(L, 0);
    lw_equation *eq = NULL;
    for (size_t i = 0; i <= n; i++)
        vec_push(power, i ? MUL(power[i - 1], w) : lw_f(L, 1));
    for (size_t i = 0; i < n; i++) {
        vec_push(eq, lw_new_equation(L));
        vec_push(z, eq[i].y);
        sum = SUB(sum, MUL(scaled(L, den, i, power), z[i]));
    }
    const ir_val top = DIV(sum, scaled(L, den, n, power)); /* (1/w) dz_n/dt */
    for (size_t i = 0; i < n; i++) {
        lw_set(L, eq[i].arg, DIV(z[i], w));
        lw_set(L, eq[i].res, SUB(eq[i].dy, i + 1 < n ? z[i + 1] : top));
        y = ADD(y, MUL(scaled(L, num, i, power), z[i]));
    }
    if (vec_len(num->c) > n)
        y = ADD(y, MUL(scaled(L, num, n, power), top));
    vec_free(power);
    vec_free(z);
    vec_free(eq);
    return y;
}

/* laplace_nd and kin: z, p: lists of roots; n, d: of coefficients. */
static ir_val lower_laplace(lw *L, const va_expr *e)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0]));
    const char *form = e->name + 8; /* behind "laplace_" */
    poly num = form[0] == 'z' ? from_roots(L, e->arg[1]) : coefficients(L, e->arg[1]);
    poly den = form[1] == 'p' ? from_roots(L, e->arg[2]) : coefficients(L, e->arg[2]);
    ir_val y = L->zero_f;
    drop_zeros(L, &num);
    drop_zeros(L, &den);
    if (vec_len(num.c) > vec_len(den.c))
        lw_error(L, e->at, e->macro,
                 "'%s' has more zeros than poles, which is a derivative: use ddt()", e->name);
    else
        y = filter(L, x, &num, &den);
    vec_free(num.c);
    vec_free(den.c);
    return y;
}

/* -- idtmod, absdelay: with the help of the circuit (va_native) -- */

/* The number of a new unknown whose value is v. */
static int32_t unknown_of(lw *L, ir_val v)
{
    const lw_equation q = lw_new_equation(L);
    lw_set(L, q.res, SUB(q.y, v));
    return q.k;
}

/* 0 <= z - k m < m; z itself if m is not above 0. */
static ir_val wrapped(lw *L, ir_val z, ir_val m)
{
    const ir_val some = LT(lw_f(L, 0), m);
    return SUB(z, SEL(some, MUL(m, FLOOR(DIV(z, SEL(some, m, lw_f(L, 1))))), lw_f(L, 0)));
}

/* idtmod(x, ic, modulus, offset): z = integral - offset is the unknown; static analyses have y =
 * ic. */
static ir_val lower_idtmod(lw *L, const va_expr *e)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0])), ic = number(L, e, 1, L->zero_f);
    const ir_val m = number(L, e, 2, L->zero_f), offset = number(L, e, 3, L->zero_f);
    const ir_val hold = lw_bool(L, lw_dyn(L, IR_DYN_IS_STATIC));
    const lw_equation q = lw_new_equation(L);
    lw_set(L, q.arg, q.y);
    const ir_val start = SUB(q.y, wrapped(L, SUB(ic, offset), m));
    lw_set(L, q.res,
           ADD(q.dy, SEL(hold, start, lw_un(L, IR_NEG, x)))); /* dy is 0 in static analyses */
    vec_push(L->native, (lw_native){VA_WRAP, {q.k, unknown_of(L, m), -1, -1}});
    return ADD(offset, wrapped(L, q.y, m));
}

/* absdelay(x, td, most): without `most` a delay that changes stays what it was at the first point.
 */
static ir_val lower_absdelay(lw *L, const va_expr *e)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0])), td = lw_real(L, lw_expr(L, e->arg[1]));
    const bool has_most = e->n_arg > 2 && e->arg[2]->kind != EX_NULL;
    ir_val d = td;
    if (!has_most && !is_static(L, td)) {
        const int32_t first = new_state(L);
        d = SEL(passes(L), td, L->cur[first]);
        lw_set(L, first, d);
    }
    lw_native n = {VA_DELAY, {unknown_of(L, x), -1, unknown_of(L, d), -1}};
    if (has_most)
        n.eq[3] = unknown_of(L, lw_real(L, lw_expr(L, e->arg[2])));
    const lw_equation q = lw_new_equation(L);
    n.eq[1] = q.k;
    vec_push(L->native, n);
    return q.y;
}

/* -- crossings and events -- */

/* If c holds, asks for the step to be made again with this length. */
static void ask_for_step(lw *L, ir_val c, ir_val length)
{
    const ir_val asked = lw_un(L, IR_NEG, MAX(length, lw_f(L, 1e-300)));
    L->bound_used = true;
    lw_set(L, L->bound, MIN(L->cur[L->bound], SEL(c, asked, lw_f(L, HUGE_VAL))));
}

typedef struct crossing {
    ir_val hit,
        at; /* since the last point x came to 0 from the other side; when: by a straight line */
    ir_val x, t0; /* x now; time of the last point */
} crossing;

/* Finds a crossing.  up, down  the directions that count */
static crossing find_crossing(lw *L, ir_val x, ir_val up, ir_val down)
{
    const int32_t last = new_state(L), time = new_state(L);
    const ir_val old = L->cur[last], zero = lw_f(L, 0);
    const ir_val rises = AND(up, AND(LT(old, zero), LE(zero, x))),
                 falls = AND(down, AND(LT(zero, old), LE(x, zero)));
    crossing c = {.hit = AND(NOT(passes(L)), OR(rises, falls)), .x = x, .t0 = L->cur[time]};
    const ir_val part = DIV(old, SEL(c.hit, SUB(old, x), lw_f(L, 1)));
    c.at = ADD(c.t0, MUL(part, SUB(now(L), c.t0)));
    lw_set(L, last, x);
    lw_set(L, time, now(L));
    return c;
}

static crossing crossing_of(lw *L, const va_expr *e, bool has_direction)
{
    const ir_val x = lw_real(L, lw_expr(L, e->arg[0])), zero = lw_f(L, 0);
    const ir_val dir = has_direction ? number(L, e, 1, zero) : lw_f(L, 1);
    return find_crossing(L, x, LE(zero, dir), LE(dir, zero));
}

/* last_crossing(x, direction): no event, no influence on steps. */
static ir_val lower_last_crossing(lw *L, const va_expr *e)
{
    const crossing c = crossing_of(L, e, true);
    const int32_t at = new_state(L);
    lw_set(L, at, SEL(passes(L), lw_f(L, -1), SEL(c.hit, c.at, L->cur[at])));
    return L->cur[at];
}

/* Makes the step again if it ends too late: more than `time_tol` behind the crossing or, where
 * expr_tol is given, with x beyond it. */
static void place_point(lw *L, const crossing *c, ir_val time_tol, ir_val expr_tol)
{
    const int32_t longest = new_state(L);
    const ir_val h = SUB(now(L), c->t0),
                 ref = MAX(L->cur[longest], MUL(lw_f(L, FOUND_FIRST / FOUND), h));
    const ir_val tol = time_tol >= 0 ? MAX(time_tol, lw_f(L, 0)) : MUL(lw_f(L, FOUND), ref);
    const ir_val behind = SUB(now(L), c->at);
    ir_val late = LT(tol, behind);
    if (expr_tol >= 0)
        late = OR(late, AND(LT(expr_tol, ABS(c->x)), LT(MUL(lw_f(L, NO_BETTER), ref), behind)));
    ask_for_step(L, AND(c->hit, late), ADD(SUB(c->at, c->t0), MUL(lw_f(L, 0.5), MIN(tol, behind))));
    lw_set(L, longest, SEL(passes(L), lw_f(L, 0), MAX(L->cur[longest], h)));
}

/* cross(x, direction, time_tol, expr_tol), above(x, time_tol, expr_tol) */
static ir_val lower_crossing(lw *L, const va_expr *e)
{
    const bool above = e->op == FN_ABOVE;
    const int first = above ? 1 : 2;
    const crossing c = crossing_of(L, e, !above);
    place_point(L, &c, number(L, e, first, IR_NONE), number(L, e, first + 1, IR_NONE));
    return above ? OR(c.hit, AND(passes(L), LT(lw_f(L, 0), c.x))) : c.hit;
}

/* timer(start, period, time_tol). `next` is when it happens next; a start that changes begins anew.
 */
static ir_val lower_timer(lw *L, const va_expr *e)
{
    const ir_val zero = lw_f(L, 0), one = lw_f(L, 1), never = lw_f(L, HUGE_VAL), t = now(L);
    const ir_val start = lw_real(L, lw_expr(L, e->arg[0])), period = number(L, e, 1, zero),
                 again = LT(zero, period);
    const ir_val p = SEL(again, period, one),
                 near = MAX(number(L, e, 2, zero), MUL(lw_f(L, SAME_TIME), ABS(t)));
    const ir_val still =
        OR(NOT(lw_bool(L, lw_dyn(L, IR_DYN_IS_TRAN))), lw_bool(L, lw_dyn(L, IR_DYN_IS_STATIC)));
    const ir_val first = lw_bool(L, lw_dyn(L, IR_DYN_INITIAL_STEP));
    const int32_t given = new_state(L), next = new_state(L), time = new_state(L);
    const ir_val from = SEL(first, SUB(SUB(t, near), lw_f(L, 1e-300)),
                            L->cur[time]); /* the time up to which events have happened */
    const ir_val fresh =
        is_static(L, start) ? first : OR(first, lw_bin(L, IR_FNE, start, L->cur[given]));
    const ir_val later = ADD(start, MUL(p, ADD(one, FLOOR(DIV(ADD(SUB(from, start), near), p)))));
    const ir_val begin = SEL(LE(start, from), SEL(again, later, never), start);
    const ir_val at = SEL(fresh, begin, L->cur[next]);
    const ir_val due = AND(NOT(still), LE(SUB(at, t), near)), passed = SUB(t, at);
    ask_for_step(L, AND(due, AND(NOT(first), LT(near, passed))), SUB(at, from));
    const ir_val ahead =
        ADD(at, MUL(p, ADD(one, FLOOR(DIV(MAX(SEL(due, passed, zero), zero), p)))));
    lw_set(L, given, start);
    lw_set(L, time, t);
    lw_set(L, next, SEL(due, SEL(again, ahead, never), at));
    stop_at(L, still, L->cur[next], near);
    return due;
}

ir_val lw_event(lw *L, const va_expr *e)
{
    if (lw_refuse_in_loop(L, e))
        return L->zero_b;
    return e->op == FN_TIMER ? lower_timer(L, e) : lower_crossing(L, e);
}

ir_val lw_time_operator(lw *L, const va_expr *e)
{
    switch (e->op) {
    case FN_IDTMOD: return lower_idtmod(L, e);
    case FN_ABSDELAY: return lower_absdelay(L, e);
    case FN_LAST_CROSSING: return lower_last_crossing(L, e);
    case FN_LAPLACE: return lower_laplace(L, e);
    case FN_SLEW: return lower_slew(L, e);
    default: return lower_transition(L, e);
    }
}
