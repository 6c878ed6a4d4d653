/* nat_bidi.c - see nat_bidi.h. */
#include "nat_bidi.h"

#include <math.h>
#include <string.h>

#define LEAK 1e-12     /* siemens, so that a node of its own has a voltage */
#define SOURCE_OFF 0.3 /* parts of the way at which the drivers are off: */
#define SINK_OFF 0.7

enum { LOW, HIGH }; /* of r_strong, r_weak, limit */
enum { MOST_CORNERS = 2 };

/* -- what a drive tends to -- */

static double target(const nat_bidi *o, int32_t drive)
{
    switch (evt_state((evt_value)drive)) {
    case EVT_0: return 0;
    case EVT_1: return 1;
    default: break;
    }
    if (evt_strength((evt_value)drive) == EVT_HIZ)
        return 0.5;
    if (evt_strength((evt_value)drive) == EVT_STRONG) /* both drivers are on: */
        return o->limit[HIGH] > o->limit[LOW] ? 1 : o->limit[HIGH] < o->limit[LOW] ? 0 : 0.5;
    return o->r_weak[LOW] / (o->r_weak[LOW] + o->r_weak[HIGH]);
}

/* s, of the way from low to high */
static double length(const nat_bidi *o, bool up) { return o->ramp[up]; }

static double part_at(const nat_bidi *o, const bidi_turning *k, double t)
{
    const double to = target(o, k->drive), way = fmax(t - k->t, 0) / length(o, to > k->s);
    return to > k->s ? fmin(k->s + way, to) : fmax(k->s - way, to);
}

/* When that is reached. */
static double part_end(const nat_bidi *o, const bidi_turning *k)
{
    const double to = target(o, k->drive);
    return k->t + fabs(to - k->s) * length(o, to > k->s);
}

/* s, in which the curve before fades. */
static double fading(const nat_bidi *o, const bidi_turning *k)
{
    const int state = evt_state((evt_value)k->drive);
    return state == EVT_U ? fmin(o->ramp[0], o->ramp[1]) : length(o, state == EVT_1);
}

/* -- a curve -- */

typedef struct curve { /* at s: i = i0 + g (v - v0) between its corners, monotone */
    int n;
    double corner[MOST_CORNERS];
    double v0[MOST_CORNERS + 1], i0[MOST_CORNERS + 1], g[MOST_CORNERS + 1];
} curve;

static void piece(curve *c, int k, double v0, double i0, double g)
{
    c->v0[k] = v0;
    c->i0[k] = i0;
    c->g[k] = g;
}

static curve strong(const nat_bidi *o, int state, double s)
{
    curve c = {.n = 2};
    const double voc = o->low + (o->high - o->low) * s,
                 most = fmax(o->limit[HIGH] * (s - SOURCE_OFF) / (1 - SOURCE_OFF), 0),
                 least = fmax(o->limit[LOW] * (SINK_OFF - s) / SINK_OFF, 0);
    const double g =
        (state != EVT_1 ? 1 / o->r_strong[LOW] : 0) + (state != EVT_0 ? 1 / o->r_strong[HIGH] : 0);
    c.corner[0] = voc - most / g;
    c.corner[1] = voc + least / g;
    piece(&c, 0, voc, -most, 0);
    piece(&c, 1, voc, 0, g);
    piece(&c, 2, voc, least, 0);
    return c;
}

static curve weak(const nat_bidi *o, int state, double s)
{
    curve c = {.n = 1};
    const double voc = o->low + (o->high - o->low) * s, down = 1 / o->r_weak[LOW],
                 up = 1 / o->r_weak[HIGH];
    if (state != EVT_U) { /* one resistor, behind a diode */
        c.corner[0] = voc;
        piece(&c, 0, voc, 0, state == EVT_1 ? up : 0);
        piece(&c, 1, voc, 0, state == EVT_0 ? down : 0);
        return c;
    }
    c.n = 2;
    c.corner[0] = o->low;
    c.corner[1] = o->high;
    piece(&c, 0, o->high, 0, up);
    piece(&c, 1, voc, 0, up + down);
    piece(&c, 2, o->low, 0, down);
    return c;
}

static curve curve_of(const nat_bidi *o, int32_t drive, double s)
{
    const int state = evt_state((evt_value)drive);
    switch (evt_strength((evt_value)drive)) {
    case EVT_STRONG: return strong(o, state, s);
    case EVT_HIZ: return (curve){0};
    default: return weak(o, state, s);
    }
}

/* up: in a corner its piece above. */
static double along(const curve *c, double v, bool up, double *g)
{
    int k = 0;
    while (k < c->n && (up ? v >= c->corner[k] : v > c->corner[k]))
        k++;
    *g = c->g[k];
    return c->i0[k] + c->g[k] * (v - c->v0[k]);
}

/* -- in time -- */

static const bidi_turning *last_at(const bidi *b, double t)
{
    size_t k = vec_len(b->turn) - 1;
    while (k > 0 && b->turn[k].t > t)
        k--;
    return &b->turn[k];
}

/* Curve k is there by 1 - (what the later ones leave of it); k 0: the first. */
static double weight(const bidi *b, size_t k, double t)
{
    return k ? fmin((t - b->turn[k].t) / fading(&b->o, &b->turn[k]), 1) : 1;
}

static double sum(const bidi *b, double t, double v, bool up, double *slope)
{
    const bidi_turning *last = last_at(b, t);
    const double s = part_at(&b->o, last, t);
    double i = 0;
    *slope = LEAK;
    for (const bidi_turning *k = b->turn; k <= last; k++) {
        const double w = weight(b, (size_t)(k - b->turn), t);
        const curve c = curve_of(&b->o, k->drive, s);
        double g;
        const double own = along(&c, v, up, &g);
        i = w * own + (1 - w) * i;
        *slope = w * (g + LEAK) + (1 - w) * *slope;
    }
    return i + LEAK * v;
}

double bidi_current(const bidi *b, double t, double v, double *slope)
{
    return sum(b, t, v, true, slope);
}

double bidi_walk(const bidi *b, double t, double v, double *current, double *slope)
{
    const bidi_turning *last = last_at(b, t);
    const double s = part_at(&b->o, last, t);
    const bool up = v > b->v;
    double to = v;
    for (const bidi_turning *k = b->turn; k <= last && b->walks; k++) {
        const curve c = curve_of(&b->o, k->drive, s);
        for (int i = 0; i < c.n; i++)
            if (up ? c.corner[i] > b->v && c.corner[i] < to
                   : c.corner[i] < b->v && c.corner[i] > to)
                to = c.corner[i];
    }
    *current = sum(b, t, to, up || !b->walks, slope);
    return to;
}

void bidi_rest(bidi *b, evt_value drive)
{
    vec_clear(b->turn);
    vec_push(b->turn, (bidi_turning){0, target(&b->o, drive), drive});
}

void bidi_turn(bidi *b, evt_value drive, double t)
{
    const bidi_turning *last = &vec_last(b->turn);
    if (last->drive != drive)
        vec_push(b->turn, (bidi_turning){t, part_at(&b->o, last, t), drive});
}

void bidi_go_back(bidi *b, double t)
{
    while (vec_len(b->turn) > 1 && vec_last(b->turn).t > t)
        (void)vec_pop(b->turn);
}

void bidi_forget(bidi *b, double t)
{
    const size_t n = vec_len(b->turn);
    size_t first = 0;
    for (size_t k = 1; k < n && b->turn[k].t <= t; k++)
        if (weight(b, k, t) >= 1)
            first = k;
    if (first) {
        memmove(b->turn, b->turn + first, (n - first) * sizeof *b->turn);
        vec_head_of(b->turn)->len = n - first;
    }
}

double bidi_next(const bidi *b, double t)
{
    double best = INFINITY;
    for (size_t k = 0; k < vec_len(b->turn); k++) {
        const double at[] = {b->turn[k].t, b->turn[k].t + fading(&b->o, &b->turn[k]),
                             part_end(&b->o, &b->turn[k])};
        for (size_t i = 0; i < VS_COUNT(at); i++)
            best = at[i] > t ? fmin(best, at[i]) : best;
    }
    return best;
}

bool bidi_is_sound(const bidi *b)
{
    double t = 0;
    for (size_t k = 0; k < vec_len(b->turn); k++) {
        const bidi_turning *x = &b->turn[k];
        if (!(x->t >= t && isfinite(x->t) && x->s >= 0 && x->s <= 1 && x->drive >= 0 &&
              x->drive < EVT_N_VALUE))
            return false;
        t = x->t;
    }
    return vec_len(b->turn) > 0;
}
