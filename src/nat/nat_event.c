/* nat_event.c - see nat_event.h. */
#include "nat_bidi.h"

#include <math.h>
#include <string.h>

/* A crossing is found if it lies this part of the longest step so far before the end of a step, and
 * a quarter of the delay behind it at most; but nothing is asked for below the last part. */
#define FOUND 1e-4
#define FOUND_OF_DELAY 0.25
#define NO_BETTER 1e-9
#define LEAST_PART 0.01  /* of a step that is asked for in its place */
#define FOUND_PHASE 1e-7 /* periods: an edge of an osc */

enum {
    AHEAD = 256,       /* times with events from one breakpoint to the next */
    ALTERNATIONS = 100 /* of analog and digital solutions of an operating point */
};

typedef struct adc {
    nat_adc o;
    int32_t level;  /* one bit: EVT_0, EVT_U, EVT_1; else the code */
    double v;       /* at the last accepted point */
    double longest; /* s, step so far */
} adc;

typedef struct ramp { /* from (t, v) in a straight line to (end, to), which is held */
    double t, v, end, to;
} ramp;

typedef struct dac {
    nat_dac o;
    ramp *ramp;      /* vec; by time; the first holds at the committed time. Static: none */
    double used;     /* value in the last static load */
    int32_t slot[4]; /* (p,k) (n,k) (k,p) (k,n) */
} dac;

typedef struct osc {
    nat_osc o;
    bool high;
    double part; /* of a period since the last edge, at the last accepted point, */
    double v;    /* and the control there */
} osc;

typedef struct shown {
    int32_t node, unknown, slot;
    double used;
} shown;

typedef struct events {
    nat_set set;
    evt *e;
    adc *adc;
    dac *dac;
    bidi *bidi;
    osc *osc;
    shown *show;
    bool started;    /* a transient has begun */
    bool finished;   /* the evt is complete */
    double t;        /* of the last accepted point */
    int n_again;     /* static: solutions of this operating point */
    vs_status wrong; /* the digital part could not go on; a message was not given yet */
} events;

static events *events_of(const nat_set *s) { return (events *)(uintptr_t)s; }

/* -- building -- */

static events *need(nat_list *l)
{
    events *s = (events *)nat_need(l, NAT_EVENT, sizeof *s);
    if (!s->e)
        s->e = evt_new();
    return s;
}

evt *nat_event_of(nat_list *l, bool make)
{
    if (!l->set[NAT_EVENT] && !make)
        return NULL;
    return need(l)->e;
}

static void *own(nat_list *l, const void *from, size_t bytes)
{
    void *to = arena_alloc(l->host.mem, bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

void nat_event_adc(nat_list *l, const nat_adc *a)
{
    adc x = {.o = *a};
    x.o.driver = own(l, a->driver, (size_t)a->n_bit * sizeof *a->driver);
    vec_push(need(l)->adc, x);
}

void nat_event_dac(nat_list *l, const nat_dac *d)
{
    events *s = need(l);
    dac x = {.o = *d};
    x.o.pin = own(l, d->pin, (size_t)d->n_bit * sizeof *d->pin);
    for (int32_t i = 0; i < d->n_bit; i++)
        evt_watch(s->e, d->pin[i].node, false);
    vec_push(s->dac, x);
}

void nat_event_bidi(nat_list *l, const nat_bidi *b)
{
    events *s = need(l);
    evt_watch(s->e, b->node, true);
    if (b->dir.node >= 0)
        evt_watch(s->e, b->dir.node, false);
    vec_push(s->bidi, (bidi){.o = *b});
}

void nat_event_osc(nat_list *l, const nat_osc *o)
{
    osc x = {.o = *o};
    x.o.control = own(l, o->control, (size_t)o->n * sizeof *o->control);
    x.o.value = own(l, o->value, (size_t)o->n * sizeof *o->value);
    vec_push(need(l)->osc, x);
}

void nat_event_show(nat_list *l, int32_t node, int32_t unknown)
{
    vec_push(need(l)->show, (shown){.node = node, .unknown = unknown});
}

static void free_events(nat_set *set)
{
    events *s = events_of(set);
    for (size_t i = 0; i < vec_len(s->dac); i++)
        vec_free(s->dac[i].ramp);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        vec_free(s->bidi[i].turn);
    vec_free(s->adc);
    vec_free(s->dac);
    vec_free(s->bidi);
    vec_free(s->osc);
    vec_free(s->show);
    evt_free(&s->e);
}

static int32_t count(const nat_set *set)
{
    const events *s = events_of(set);
    return (int32_t)(vec_len(s->dac) + vec_len(s->bidi) + vec_len(s->adc) + vec_len(s->osc));
}

static nat_device at(const nat_set *set, int32_t i)
{
    const events *s = events_of(set);
    const int32_t n_dac = (int32_t)vec_len(s->dac), n_bidi = (int32_t)vec_len(s->bidi),
                  n_adc = (int32_t)vec_len(s->adc);
    if (i < n_dac)
        return (nat_device){s->dac[i].o.name, s->dac[i].o.span, s->dac[i].o.out, 2, false, false};
    i -= n_dac;
    if (i < n_bidi)
        return (nat_device){
            s->bidi[i].o.name, s->bidi[i].o.span, s->bidi[i].o.out, 2, false, false};
    i -= n_bidi;
    if (i < n_adc)
        return (nat_device){s->adc[i].o.name, s->adc[i].o.span, s->adc[i].o.in, 2, false, false};
    i -= n_adc;
    return (nat_device){s->osc[i].o.name, s->osc[i].o.span, s->osc[i].o.in, 2, false, false};
}

/* -- pattern: sources, and a diagonal for each node that is shown -- */

static csc_entry entry(const dac *d, int i)
{
    return i < 2 ? csc_entry_of(d->o.out[i], d->o.k) : csc_entry_of(d->o.k, d->o.out[i - 2]);
}

static csc_entry bidi_entry(const bidi *b, int i)
{
    return csc_entry_of(b->o.out[i / 2], b->o.out[i % 2]);
}

static void entries(const nat_set *set, bool reactive, csc_entry **e)
{
    const events *s = events_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(s->dac); i++)
        for (int k = 0; k < 4 && s->dac[i].o.k; k++)
            vec_push(*e, entry(&s->dac[i], k));
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        for (int k = 0; k < 4; k++)
            vec_push(*e, bidi_entry(&s->bidi[i], k));
    for (size_t i = 0; i < vec_len(s->show); i++)
        vec_push(*e, csc_entry_of(s->show[i].unknown, s->show[i].unknown));
}

static void place(nat_set *set, const csc *a, bool reactive)
{
    events *s = events_of(set);
    (void)reactive;
    for (size_t i = 0; i < vec_len(s->dac); i++)
        for (int k = 0; k < 4; k++)
            s->dac[i].slot[k] = s->dac[i].o.k ? csc_slot(a, entry(&s->dac[i], k)) : csc_nnz(a);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        for (int k = 0; k < 4; k++)
            s->bidi[i].slot[k] = csc_slot(a, bidi_entry(&s->bidi[i], k));
    for (size_t i = 0; i < vec_len(s->show); i++)
        s->show[i].slot = csc_slot(a, csc_entry_of(s->show[i].unknown, s->show[i].unknown));
    if (!s->finished)
        evt_finish(s->e);
    s->finished = true;
}

/* -- dac -- */

static int state_of(const events *s, evt_pin pin)
{
    const int state = evt_state((evt_value)evt_now(s->e, pin.node));
    return pin.invert && state != EVT_U ? !state : state;
}

static bool takes_number(const events *s, const dac *d)
{
    return evt_node_kind(s->e, d->o.pin[0].node) == EVT_NUMBER;
}

/* What it tends to, as the nodes are now. */
static double target(const events *s, const dac *d)
{
    double part = 0;
    if (takes_number(s, d)) {
        const double v = evt_now(s->e, d->o.pin[0].node);
        return d->o.gain * (d->o.pin[0].invert ? -v : v);
    }
    if (d->o.n_bit == 1) {
        const int state = state_of(s, d->o.pin[0]);
        return state == EVT_1 ? d->o.high : state == EVT_0 ? d->o.low : d->o.undef;
    }
    for (int32_t i = d->o.n_bit; i-- > 0;) {
        const int state = state_of(s, d->o.pin[i]);
        part = (part + (state == EVT_1 ? 1 : state == EVT_U ? 0.5 : 0)) / 2;
    }
    return d->o.low + part * (d->o.high - d->o.low);
}

static double ramp_at(const ramp *r, double t)
{
    return t >= r->end ? r->to
           : t <= r->t ? r->v
                       : r->v + (r->to - r->v) * (t - r->t) / (r->end - r->t);
}

static double dac_at(const dac *d, double t)
{
    size_t i = vec_len(d->ramp) - 1;
    while (i > 0 && d->ramp[i].t > t)
        i--;
    return ramp_at(&d->ramp[i], t);
}

static double dac_value(const events *s, const dac *d, const nat_env *env)
{
    const bool runs = env->mode == NAT_TRAN && s->started;
    return env->srcfact * (runs ? dac_at(d, env->time) : target(s, d));
}

/* What drives the curve of a bidi. */
static evt_value drive_of(const events *s, const bidi *b)
{
    const bool off = b->o.senses || (b->o.dir.node >= 0 && state_of(s, b->o.dir) == EVT_1);
    return off ? evt_of(EVT_U, EVT_HIZ) : evt_others(s->e, b->o.node, b->o.output);
}

/* Time t has come, at which nodes changed. */
static void turn(events *s, double t)
{
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        bidi_turn(&s->bidi[i], drive_of(s, &s->bidi[i]), t);
    for (size_t i = 0; i < vec_len(s->dac); i++) {
        dac *d = &s->dac[i];
        const double to = target(s, d), from = dac_at(d, t), whole = d->o.high - d->o.low;
        if (to == vec_last(d->ramp).to)
            continue;
        if (takes_number(s, d)) {
            vec_push(d->ramp, (ramp){t, from, t + d->o.ramp[0], to});
            continue;
        }
        const bool up = (to > from) == (whole > 0);
        const double length =
            whole != 0 ? d->o.ramp[up] * fabs((to - from) / whole) : d->o.ramp[up];
        vec_push(d->ramp, (ramp){t, from, t + length, to});
    }
}

/* -- the digital part in time -- */

/* Runs it up to t, at most so many times with events. *turned: the last dac that changed did so at
 * the horizon. */
static void run_to(events *s, double t, int most, bool *turned)
{
    const vs_status st = evt_run(s->e, t, most, turned);
    if (st != VS_OK)
        s->wrong = st;
    if (*turned)
        turn(s, evt_horizon(s->e));
}

/* Whether it has not run up to t. */
static bool is_behind(const events *s, double t)
{
    return !s->wrong && (evt_next(s->e) <= t || evt_horizon(s->e) < t);
}

static void advance(events *s, double t)
{
    bool turned;
    while (is_behind(s, t))
        run_to(s, t, AHEAD, &turned);
}

static void go_back(events *s, double t)
{
    evt_rollback(s->e, t);
    for (size_t i = 0; i < vec_len(s->dac); i++)
        while (vec_len(s->dac[i].ramp) > 1 && vec_last(s->dac[i].ramp).t > t)
            (void)vec_pop(s->dac[i].ramp);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        bidi_go_back(&s->bidi[i], t);
    s->wrong = VS_OK;
}

/* Besides ramps: the next time at which a dac turns, or up to which the digital part has not looked
 * ahead yet. */
static double next_break(nat_set *set, double t)
{
    events *s = events_of(set);
    double best = INFINITY;
    bool turned;
    if (!s->started)
        return INFINITY;
    for (size_t i = 0; i < vec_len(s->dac); i++)
        for (size_t k = 0; k < vec_len(s->dac[i].ramp); k++) {
            const ramp *r = &s->dac[i].ramp[k];
            best = r->t > t ? fmin(best, r->t) : best;
            best = r->end > t ? fmin(best, r->end) : best;
        }
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        best = fmin(best, bidi_next(&s->bidi[i], t));
    while (!s->wrong && evt_horizon(s->e) <= t && evt_next(s->e) <= best) {
        run_to(s, best, AHEAD, &turned);
        if (turned && evt_horizon(s->e) > t)
            return evt_horizon(s->e);
        if (!isfinite(evt_next(s->e)))
            break;
    }
    if (s->wrong)
        return fmin(best, fmax(evt_blame(s->e).time, nextafter(t, INFINITY)));
    return fmin(best, fmax(evt_next(s->e), nextafter(t, INFINITY)));
}

/* -- adc -- */

static double read_in(const int32_t in[2], const double *x) { return x[in[0]] - x[in[1]]; }

static int32_t level_of(const nat_adc *o, double v, int32_t before)
{
    if (o->n_bit > 1) {
        const double part = (v - o->low) / (o->high - o->low), n = (double)(1 << o->n_bit);
        return (int32_t)fmin(fmax(floor(part * n), 0), n - 1);
    }
    if (o->low > o->high)
        return v >= o->low ? EVT_1 : v <= o->high ? EVT_0 : before;
    return v >= o->high ? EVT_1 : v <= o->low ? EVT_0 : EVT_U;
}

/* Where the level ends in the direction of v. */
static double edge_of(const nat_adc *o, int32_t level, bool up)
{
    if (o->n_bit > 1)
        return o->low + (o->high - o->low) * (level + (up == (o->high > o->low))) / (1 << o->n_bit);
    if (o->low > o->high)
        return up ? o->low : o->high;
    return level == EVT_0 ? o->low : level == EVT_1 ? o->high : up ? o->high : o->low;
}

/* When the voltage came to a level's end on the way to v at t, by a straight line from the last
 * accepted point at t0. */
static double crossing(const adc *a, double edge, double t0, double v, double t)
{
    const double part = (edge - a->v) / (v - a->v);
    return t0 + (part > 0 ? fmin(part, 1) : 0) * (t - t0);
}

/* The length that a step should have had; infinite: this one. */
static double asked_by_adc(const events *s, const adc *a, const nat_env *env, const double *x)
{
    const double v = read_in(a->o.in, x), t = env->time, h = t - s->t;
    if (!(h > 0) || level_of(&a->o, v, a->level) == a->level || v == a->v)
        return INFINITY;
    const double longest = fmax(a->longest, FOUND * h),
                 delay = fmin(a->o.delay[0], a->o.delay[1]) + a->o.behind;
    const double tol = fmax(fmin(FOUND * longest, FOUND_OF_DELAY * delay), NO_BETTER * longest);
    const double at = crossing(a, edge_of(&a->o, a->level, v > a->v), s->t, v, t);
    return t - at > tol ? fmax(at - s->t + tol / 2, LEAST_PART * h) : INFINITY;
}

static evt_value bit_of(const adc *a, int32_t level, int32_t i)
{
    const int state = a->o.n_bit == 1 ? level : level >> (a->o.n_bit - 1 - i) & 1;
    return evt_of(state, EVT_STRONG);
}

static double delay_to(const adc *a, int state)
{
    const bool up = state == EVT_1 || (state == EVT_U && a->level == EVT_0);
    return a->o.delay[up];
}

/* The point at t is accepted: levels that changed go to the digital part. */
static void take_level(events *s, adc *a, double v, double t)
{
    const int32_t level = level_of(&a->o, v, a->level);
    if (level == a->level)
        return;
    const double at = crossing(a, edge_of(&a->o, a->level, v > a->v), s->t, v, t);
    go_back(s, t);
    for (int32_t i = 0; i < a->o.n_bit; i++) {
        const evt_value to = bit_of(a, level, i);
        if (to != bit_of(a, a->level, i))
            evt_post(s->e, a->o.driver[i], to, fmax(at + delay_to(a, evt_state(to)), t));
    }
    a->level = level;
}

/* -- osc -- */

static double osc_value(const osc *o, double v)
{
    const nat_osc *p = &o->o;
    int32_t i = 0;
    while (i < p->n - 2 && p->control[i + 1] <= v)
        i++;
    const double slope = (p->value[i + 1] - p->value[i]) / (p->control[i + 1] - p->control[i]);
    return p->value[i] + (v - p->control[i]) * slope;
}

static double osc_rate(const osc *o, double v)
{
    return o->o.pwm ? o->o.frequency : fmax(osc_value(o, v), 1e-16);
}

/* The integral of the lines from the first point to v. */
static double osc_area(const osc *o, double v)
{
    const nat_osc *p = &o->o;
    double sum = 0;
    int32_t i = 0;
    for (; i < p->n - 2 && p->control[i + 1] <= v; i++)
        sum += 0.5 * (p->value[i] + p->value[i + 1]) * (p->control[i + 1] - p->control[i]);
    return sum + 0.5 * (p->value[i] + osc_value(o, v)) * (v - p->control[i]);
}

/* The mean frequency while the control goes along a straight line to v. */
static double osc_mean(const osc *o, double v)
{
    const double far = fabs(v - o->v), whole = o->o.control[o->o.n - 1] - o->o.control[0];
    if (o->o.pwm || far < 1e-6 * whole)
        return 0.5 * (osc_rate(o, o->v) + osc_rate(o, v));
    return fmax((osc_area(o, v) - osc_area(o, o->v)) / (v - o->v), 1e-16);
}

/* The part of a period from the last edge to the next. */
static double osc_need(const osc *o, double v, bool high)
{
    const double duty = o->o.pwm ? fmin(fmax(osc_value(o, v), 0.01), 0.99) : o->o.duty;
    return high ? duty : 1 - duty;
}

typedef struct edge { /* of an osc in a step: */
    double part;      /* of a period at the end of the step, since the last edge */
    double left;      /* s, from there to the edge; < 0: it was within the step */
} edge;

static edge osc_step(const osc *o, double v, double h)
{
    const double mean = osc_mean(o, v), part = o->part + mean * h,
                 left = osc_need(o, v, o->high) - part;
    return (edge){part, left / (left < 0 ? mean : osc_rate(o, v))};
}

static double asked_by_osc(const events *s, const osc *o, const nat_env *env, const double *x,
                           double *bound)
{
    const double h = env->time - s->t, v = read_in(o->o.in, x), rate = osc_rate(o, v);
    const edge e = osc_step(o, v, h);
    const bool over = e.left < FOUND_PHASE / rate;
    *bound = fmin(*bound, over ? osc_need(o, v, !o->high) / rate : e.left);
    return h > 0 && e.left < -FOUND_PHASE / rate ? fmax(h + e.left, 0.1 * h) : INFINITY;
}

static void take_edge(events *s, osc *o, double v, double t)
{
    const double rate = osc_rate(o, v);
    const edge e = osc_step(o, v, t - s->t);
    o->part = e.part;
    o->v = v;
    if (e.left >= FOUND_PHASE / rate)
        return;
    go_back(s, t);
    o->high = !o->high;
    o->part = -e.left * rate;
    evt_post(s->e, o->o.driver, evt_of(o->high, EVT_STRONG), fmax(t + e.left, t));
}

static void begin_osc(osc *o, double v)
{
    const double low = osc_need(o, v, false);
    o->high = o->o.phase > low;
    o->part = o->high ? o->o.phase - low : o->o.phase;
    o->v = v;
}

/* -- static -- */

/* The number by which results have a value of a node. */
static double number(const events *s, int32_t node, double v)
{
    if (evt_node_kind(s->e, node) == EVT_NUMBER)
        return v;
    const int state = evt_state((evt_value)v);
    return state == EVT_U ? 0.5 : state;
}

static double number_now(const events *s, int32_t node)
{
    return number(s, node, evt_now(s->e, node));
}

static double number_at(const events *s, int32_t node, double t)
{
    return number(s, node, evt_before(s->e, node, t));
}

/* x NULL: the analog circuit is at 0. */
static void drive_all(events *s, const double *x)
{
    for (size_t i = 0; i < vec_len(s->adc); i++) {
        adc *a = &s->adc[i];
        a->level = level_of(&a->o, x ? read_in(a->o.in, x) : 0, a->level);
        for (int32_t k = 0; k < a->o.n_bit; k++)
            evt_drive(s->e, a->o.driver[k], bit_of(a, a->level, k));
    }
    for (size_t i = 0; i < vec_len(s->osc); i++) {
        osc *o = &s->osc[i];
        begin_osc(o, x ? read_in(o->o.in, x) : 0);
        evt_drive(s->e, o->o.driver, evt_of(o->high, EVT_STRONG));
    }
}

static void zero(nat_set *set)
{
    events *s = events_of(set);
    evt_begin(s->e);
    s->started = false;
    s->wrong = VS_OK;
    s->n_again = 0;
    s->t = 0;
    for (size_t i = 0; i < vec_len(s->adc); i++) {
        s->adc[i].level = s->adc[i].o.low > s->adc[i].o.high ? EVT_U : EVT_0;
        s->adc[i].longest = 0;
    }
    for (size_t i = 0; i < vec_len(s->dac); i++)
        vec_clear(s->dac[i].ramp);
    drive_all(s, NULL);
    s->wrong = evt_settle(s->e);
    for (size_t i = 0; i < vec_len(s->bidi); i++) {
        s->bidi[i].walks = false;
        bidi_rest(&s->bidi[i], drive_of(s, &s->bidi[i]));
    }
}

/* Says why the digital part does not go on. */
static vs_status refuse(events *s)
{
    const evt_culprit c = evt_blame(s->e);
    const bool still = !s->started;
    if (c.program)
        diag_error(s->set.host->d, DIAG_NOWHERE, "at %.9g s: %s: the program '%s' %s", c.time,
                   c.part, c.file, c.program);
    else if (c.queue)
        diag_error(s->set.host->d, DIAG_NOWHERE,
                   "at %.9g s there are more digital events on their way than memory is meant for",
                   c.time);
    else if (c.overflow)
        diag_error(s->set.host->d, DIAG_NOWHERE,
                   "at %.9g s the numbers at the node '%s' have become too large for a double",
                   c.time, c.node);
    else if (still)
        diag_error(s->set.host->d, DIAG_NOWHERE,
                   "operating point: the digital node '%s' does not come to rest: a loop through "
                   "'%s' changes it again and again",
                   c.node ? c.node : "?", c.part ? c.part : "?");
    else
        diag_error(s->set.host->d, DIAG_NOWHERE,
                   "at %.9g s the digital node '%s' changes again and again without delay: a loop "
                   "through '%s'",
                   c.time, c.node ? c.node : "?", c.part ? c.part : "?");
    return VS_EINPUT;
}

static bool has_changed(const events *s)
{
    bool changed = false;
    for (size_t i = 0; i < vec_len(s->dac); i++)
        changed |= s->dac[i].used != target(s, &s->dac[i]);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        changed |= s->bidi[i].used != drive_of(s, &s->bidi[i]);
    for (size_t i = 0; i < vec_len(s->show); i++)
        changed |= s->show[i].used != number_now(s, s->show[i].node);
    return changed;
}

static vs_status settle(nat_set *set, const double *x)
{
    events *s = events_of(set);
    if (s->started)
        zero(set);
    if (s->wrong)
        return refuse(s);
    drive_all(s, x);
    if ((s->wrong = evt_settle(s->e)) != VS_OK)
        return refuse(s);
    if (!has_changed(s)) {
        s->n_again = 0;
        return VS_OK;
    }
    if (++s->n_again < ALTERNATIONS)
        return VS_REJECT;
    s->n_again = 0;
    diag_error(
        set->host->d, DIAG_NOWHERE,
        "operating point: the analog and the digital part change each other again and again; "
        "after %d solutions in turn they do not agree",
        ALTERNATIONS);
    for (size_t i = 0; i < vec_len(s->dac); i++)
        if (s->dac[i].used != target(s, &s->dac[i])) {
            diag_note(set->host->d, s->dac[i].o.span, "'%s' is one that still changes",
                      s->dac[i].o.name);
            break;
        }
    diag_note(set->host->d, DIAG_NOWHERE,
              "a loop that oscillates has none: uic on the .tran card begins without it");
    return VS_EINPUT;
}

void nat_event_shown(nat_list *l, double t, double *x)
{
    events *s = events_of(l->set[NAT_EVENT]);
    for (size_t i = 0; i < vec_len(s->show); i++)
        x[s->show[i].unknown] = number_at(s, s->show[i].node, t);
}

/* -- loads -- */

static double shown_value(events *s, const shown *w, const nat_env *env)
{
    const bool runs = env->mode == NAT_TRAN && s->started;
    return env->srcfact * (runs ? number_at(s, w->node, env->time) : number_now(s, w->node));
}

static void load_dac(events *s, dac *d, const nat_env *env, const double *x, nat_sums *to)
{
    const double e = dac_value(s, d, env);
    const int32_t *n = d->o.out, k = d->o.k;
    if (env->mode == NAT_STATIC)
        d->used = target(s, d);
    if (!k) {
        nat_add(to->f, to->fmax, n[0], d->o.m * e);
        nat_add(to->f, to->fmax, n[1], -d->o.m * e);
        return;
    }
    const double i = d->o.m * x[k];
    nat_add(to->f, to->fmax, n[0], i);
    nat_add(to->f, to->fmax, n[1], -i);
    to->f[k] += x[n[0]] - x[n[1]] - e;
    to->fmax[k] = fmax(fabs(x[n[0]]), fmax(fabs(x[n[1]]), fabs(e)));
}

static void put_slope(const bidi *b, double g, double *val)
{
    val[b->slot[0]] += g;
    val[b->slot[1]] -= g;
    val[b->slot[2]] -= g;
    val[b->slot[3]] += g;
}

/* On Newton's way a corner of the curve is a place to stop. */
static void load_bidi(events *s, bidi *b, const nat_env *env, const double *x, nat_sums *to)
{
    const bool runs = env->mode == NAT_TRAN && s->started;
    const int32_t *n = b->o.out;
    const double v = read_in(n, x);
    double i, g;
    if (!runs) {
        b->used = drive_of(s, b);
        bidi_rest(b, (evt_value)b->used);
    }
    const double at = bidi_walk(b, runs ? env->time : 0, v, &i, &g);
    to->limited |= at != v;
    b->walks = true;
    b->v = at;
    i += g * (v - at);
    nat_add(to->f, to->fmax, n[0], b->o.m * i);
    nat_add(to->f, to->fmax, n[1], -b->o.m * i);
    put_slope(b, b->o.m * g, to->val);
}

static void stamp(const events *s, double *val)
{
    for (size_t i = 0; i < vec_len(s->dac); i++) {
        const dac *d = &s->dac[i];
        if (!d->o.k)
            continue;
        val[d->slot[0]] += d->o.m;
        val[d->slot[1]] -= d->o.m;
        val[d->slot[2]] += 1;
        val[d->slot[3]] -= 1;
    }
    for (size_t i = 0; i < vec_len(s->show); i++)
        val[s->show[i].slot] += 1;
}

static void load(nat_set *set, const nat_env *env, const double *x, nat_sums *to)
{
    events *s = events_of(set);
    const bool runs = env->mode == NAT_TRAN && s->started;
    if (env->mode == NAT_STATIC && s->started)
        zero(set);
    if (runs)
        advance(s, env->time);
    for (size_t i = 0; i < vec_len(s->dac); i++)
        load_dac(s, &s->dac[i], env, x, to);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        load_bidi(s, &s->bidi[i], env, x, to);
    for (size_t i = 0; i < vec_len(s->show); i++) {
        shown *w = &s->show[i];
        const double v = shown_value(s, w, env);
        if (env->mode == NAT_STATIC)
            w->used = number_now(s, w->node);
        to->f[w->unknown] += x[w->unknown] - v;
        to->fmax[w->unknown] = fmax(fabs(x[w->unknown]), fabs(v));
    }
    stamp(s, to->val);
    for (size_t i = 0; i < vec_len(s->adc) && runs; i++)
        to->asked = fmin(to->asked, asked_by_adc(s, &s->adc[i], env, x));
    for (size_t i = 0; i < vec_len(s->osc) && env->mode == NAT_TRAN; i++)
        to->asked = fmin(to->asked, asked_by_osc(s, &s->osc[i], env, x, &to->bound));
}

static void terms(nat_set *set, const nat_env *env, double *to)
{
    events *s = events_of(set);
    if (env->mode == NAT_TRAN && s->started)
        advance(s, env->time);
    for (size_t i = 0; i < vec_len(s->dac); i++) {
        const dac *d = &s->dac[i];
        const double e = dac_value(s, d, env);
        if (d->o.k) {
            to[d->o.k] -= e;
        } else {
            to[d->o.out[0]] += d->o.m * e;
            to[d->o.out[1]] -= d->o.m * e;
        }
    }
    for (size_t i = 0; i < vec_len(s->show); i++)
        to[s->show[i].unknown] -= shown_value(s, &s->show[i], env);
}

static void load_ac(nat_set *set, const nat_env *env, const double *x, nat_ac *to)
{
    const events *s = events_of(set);
    (void)env;
    stamp(s, to->g);
    for (size_t i = 0; i < vec_len(s->bidi); i++) {
        double g;
        (void)bidi_current(&s->bidi[i], s->started ? s->t : 0, read_in(s->bidi[i].o.out, x), &g);
        put_slope(&s->bidi[i], s->bidi[i].o.m * g, to->g);
    }
}

static double share(nat_set *set, const nat_env *env, const double *x, int32_t device, int32_t row)
{
    const events *s = events_of(set);
    const int32_t n_dac = (int32_t)vec_len(s->dac);
    if (device >= n_dac && device < n_dac + (int32_t)vec_len(s->bidi)) {
        const bidi *b = &s->bidi[device - n_dac];
        double g;
        return !row || (b->o.out[0] != row && b->o.out[1] != row)
                   ? -1
                   : fabs(b->o.m *
                          bidi_current(b, s->started ? env->time : 0, read_in(b->o.out, x), &g));
    }
    if (device >= n_dac)
        return -1;
    const dac *d = &s->dac[device];
    if (!row || (d->o.out[0] != row && d->o.out[1] != row))
        return -1;
    return fabs(d->o.k ? d->o.m * x[d->o.k] : d->o.m * dac_value(s, d, env));
}

/* -- accepted points -- */

static void start(events *s, const double *x)
{
    evt_start(s->e);
    s->started = true;
    s->t = 0;
    for (size_t i = 0; i < vec_len(s->adc); i++) {
        s->adc[i].v = read_in(s->adc[i].o.in, x);
        s->adc[i].longest = 0;
    }
    for (size_t i = 0; i < vec_len(s->osc); i++)
        begin_osc(&s->osc[i], read_in(s->osc[i].o.in, x));
    for (size_t i = 0; i < vec_len(s->dac); i++) {
        const double v = target(s, &s->dac[i]);
        vec_clear(s->dac[i].ramp);
        vec_push(s->dac[i].ramp, (ramp){0, v, 0, v});
    }
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        bidi_rest(&s->bidi[i], drive_of(s, &s->bidi[i]));
}

/* Ramps before the one that holds at t go. */
static void forget_ramps(dac *d, double t)
{
    size_t first = 0;
    const size_t n = vec_len(d->ramp);
    while (first + 1 < n && d->ramp[first + 1].t <= t)
        first++;
    if (first) {
        memmove(d->ramp, d->ramp + first, (n - first) * sizeof *d->ramp);
        vec_head_of(d->ramp)->len = n - first;
    }
}

static vs_status accept(nat_set *set, const nat_env *env, const double *x, bool corner)
{
    events *s = events_of(set);
    const double t = env->time;
    (void)corner;
    if (env->mode != NAT_TRAN)
        return VS_OK;
    if (env->initial_step) {
        start(s, x);
        return VS_OK;
    }
    advance(s, t);
    for (size_t i = 0; i < vec_len(s->adc); i++) {
        adc *a = &s->adc[i];
        const double v = read_in(a->o.in, x);
        take_level(s, a, v, t);
        a->v = v;
        a->longest = fmax(a->longest, t - s->t);
    }
    for (size_t i = 0; i < vec_len(s->osc); i++)
        take_edge(s, &s->osc[i], read_in(s->osc[i].o.in, x), t);
    s->t = t;
    advance(s, t);
    if (s->wrong && evt_blame(s->e).time <= t)
        return refuse(s);
    evt_commit(s->e, t);
    for (size_t i = 0; i < vec_len(s->dac); i++)
        forget_ramps(&s->dac[i], t);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        bidi_forget(&s->bidi[i], t);
    return VS_OK;
}

/* Newton starts afresh. */
static void reset(nat_set *set)
{
    events *s = events_of(set);
    for (size_t i = 0; i < vec_len(s->bidi); i++)
        s->bidi[i].walks = false;
}

static void fresh(nat_set *set) { zero(set); }

/* -- a run that goes on elsewhere -- */

/* Looks ahead again up to t; false: it is farther than anybody looks. */
static bool look_ahead(events *s, double t)
{
    bool turned;
    for (int n = 0; n < 2 * AHEAD && is_behind(s, t); n++)
        run_to(s, t, 1, &turned);
    return !is_behind(s, t);
}

/* What is before the last accepted point; the digital part then looks ahead as far as it had, on
 * both sides: the next step ends where it would have ended. */
static void take_image(nat_set *set, image *im)
{
    events *s = events_of(set);
    double ahead = s->started ? evt_horizon(s->e) : 0;
    if (s->started && !im->giving)
        go_back(s, s->t);
    IMAGE_ONE(im, s->started);
    IMAGE_WITHIN(im, s->t, 0, INFINITY);
    IMAGE_WITHIN(im, ahead, s->t, INFINITY);
    evt_image(s->e, im);
    for (size_t i = 0; i < vec_len(s->adc); i++) {
        adc *a = &s->adc[i];
        IMAGE_WITHIN(im, a->level, 0, a->o.n_bit > 1 ? (1 << a->o.n_bit) - 1 : EVT_U);
        IMAGE_ONE(im, a->v);
        IMAGE_ONE(im, a->longest);
    }
    for (size_t i = 0; i < vec_len(s->osc); i++) {
        IMAGE_ONE(im, s->osc[i].high);
        IMAGE_ONE(im, s->osc[i].part);
        IMAGE_ONE(im, s->osc[i].v);
    }
    for (size_t i = 0; i < vec_len(s->dac); i++) {
        IMAGE_VEC(im, s->dac[i].ramp);
        if (s->started && !vec_len(s->dac[i].ramp)) /* a damaged one */
            vec_push(s->dac[i].ramp, (ramp){0});
    }
    for (size_t i = 0; i < vec_len(s->bidi); i++) {
        bidi *b = &s->bidi[i];
        IMAGE_ONE(im, b->walks); /* the next step's Newton starts from there */
        IMAGE_ONE(im, b->v);
        IMAGE_VEC(im, b->turn);
        if (im->giving && !bidi_is_sound(b)) {
            image_refuse(im);
            bidi_rest(b, evt_of(EVT_U, EVT_HIZ));
        }
    }
    if (s->started && !im->wrong && !look_ahead(s, ahead))
        image_refuse(im);
}

static void identity(const nat_set *set, image *im)
{
    static const char other[] = "it is of a circuit with other bridges to digital nodes";
    const events *s = events_of(set);
    const uint64_t n[] = {vec_len(s->adc), vec_len(s->dac), vec_len(s->bidi), vec_len(s->osc),
                          vec_len(s->show)};
    IMAGE_SAME(im, n, other);
    for (size_t i = 0; i < vec_len(s->adc) && !im->wrong; i++) {
        const nat_adc *o = &s->adc[i].o;
        const double v[] = {o->low, o->high, o->delay[0], o->delay[1]};
        const int32_t k[] = {o->in[0], o->in[1], o->n_bit};
        IMAGE_SAME(im, v, other);
        IMAGE_SAME(im, k, other);
    }
    for (size_t i = 0; i < vec_len(s->dac) && !im->wrong; i++) {
        const nat_dac *o = &s->dac[i].o;
        const double v[] = {o->low, o->high, o->undef, o->gain, o->ramp[0], o->ramp[1], o->m};
        const int32_t k[] = {o->out[0], o->out[1], o->k, o->n_bit};
        IMAGE_SAME(im, v, other);
        IMAGE_SAME(im, k, other);
    }
    for (size_t i = 0; i < vec_len(s->bidi) && !im->wrong; i++) {
        const nat_bidi *o = &s->bidi[i].o;
        const double v[] = {o->low,         o->high,        o->limit[0],  o->limit[1],
                            o->r_strong[0], o->r_strong[1], o->r_weak[0], o->r_weak[1],
                            o->ramp[0],     o->ramp[1],     o->m};
        const int32_t k[] = {o->out[0],   o->out[1],     o->node,  o->output,
                             o->dir.node, o->dir.invert, o->senses};
        IMAGE_SAME(im, v, other);
        IMAGE_SAME(im, k, other);
    }
    for (size_t i = 0; i < vec_len(s->osc) && !im->wrong; i++) {
        const nat_osc *o = &s->osc[i].o;
        const double v[] = {o->frequency, o->duty, o->phase};
        const int32_t k[] = {o->in[0], o->in[1], o->n, o->pwm};
        const hash128 h[] = {hash128_of(o->control, (size_t)o->n * sizeof *o->control),
                             hash128_of(o->value, (size_t)o->n * sizeof *o->value)};
        IMAGE_SAME(im, v, other);
        IMAGE_SAME(im, k, other);
        IMAGE_SAME(im, h, other);
    }
    evt_identity(s->e, im);
}

const nat_kind nat_event_kind = {
    .name = "digital",
    .no_redo = "digital parts",
    .free = free_events,
    .count = count,
    .at = at,
    .entries = entries,
    .place = place,
    .load = load,
    .terms = terms,
    .load_ac = load_ac,
    .share = share,
    .zero = zero,
    .settle = settle,
    .accept = accept,
    .next_break = next_break,
    .reset = reset,
    .fresh = fresh,
    .image = take_image,
    .identity = identity,
};
