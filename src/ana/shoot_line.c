/* shoot_line.c - shooting: transmission lines and delays.
 *
 * In a periodic state a wave that arrives at t left the other port at t - delay, modulo the period:
 * both are times of one period. The waves at the ends of all steps are unknowns beside x_0. A pass
 * takes waves from them, and its own where it has been already; what it makes of them has to be
 * what they were. Between points waves are polynomials, which do not reach over corners.
 *
 * All of it is linear in waves, so the same functions carry their changes. With T the delay is
 * another part of the period: a wave at tau - delay/T changes by slope delay/T dlnT.
 *
 * The waves of lossy lines are A of rlgc.h; what else they remember is in shoot_lossy.h. */
#include <math.h>
#include <string.h>

#include "shoot_lossy.h"
#include "vec.h"

enum { MOST_POINTS = 6 };
static const double same = 1e-9;  /* periods */
static const double still = 1e-9; /* a delay that changes by less, relative, is constant */

typedef struct grid {      /* of waves: t_0 and the ends of steps */
    double *at;            /* vec, in periods */
    int32_t *first, *last; /* vecs: points at the ends of the piece that a step is in */
} grid;

typedef struct device {
    nat_memory m;
    int32_t n_wave, wave; /* 1 or 2; the number of the first */
    shoot_lossy *loss;    /* NULL: none */
    size_t tail;          /* of a lossy one: where its part behind the waves begins */
} device;

struct shoot_track {       /* the pass, or changes that are carried through it */
    double *wave, *before; /* [n_wave][n_point] made, and taken for those that are not made yet */
    int32_t made;          /* points up to this one are */
    double *in;            /* [n_wave] of the stage: the wave that arrives from the port */
    nat_now *now;          /* [devices] their equations in the stage */
    shoot_filters **loss;  /* [devices] NULL: has none */
};

struct shoot_lines {
    device *all; /* vec */
    int32_t n_wave;
    size_t n_more; /* unknowns behind the waves */
    grid g;
    shoot_track pass, change;
    double *size;   /* [n_wave] largest value */
    double *missed; /* [n_wave][n_point] of filters, at the ends of steps */
};

static size_t n_point(const shoot_lines *l) { return vec_len(l->g.at); }

/* -- the grid -- */

static int32_t step_of(const grid *g, double at)
{
    int32_t lo = 0, hi = (int32_t)vec_len(g->at) - 1;
    while (hi - lo > 1) {
        const int32_t mid = (lo + hi) / 2;
        if (g->at[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void make_grid(const ana_shot *s, grid *g)
{
    const int32_t n = (int32_t)vec_len(s->step);
    *g = (grid){0};
    vec_push(g->at, 0);
    for (int32_t k = 0; k < n; k++)
        vec_push(g->at, s->step[k].end);
    vec_extend(g->first, (size_t)n);
    vec_extend(g->last, (size_t)n);
    for (int32_t k = 0; k < n; k++)
        g->first[k] = k && !s->step[k].fresh ? g->first[k - 1] : k;
    for (int32_t k = n - 1; k >= 0; k--)
        g->last[k] = k + 1 < n && !s->step[k + 1].fresh ? g->last[k + 1] : k + 1;
}

static void free_grid(grid *g)
{
    vec_free(g->at);
    vec_free(g->first);
    vec_free(g->last);
}

typedef struct place { /* between points: value = sum of w times those from `from` on */
    int n;
    int32_t from;
    double w[MOST_POINTS], slope[MOST_POINTS]; /* slope: of the value, by periods */
} place;

/* Lagrange's polynomials through n points from `from` on. */
static void polynomials(const grid *g, double at, bool slopes, place *p)
{
    const double *t = g->at + p->from;
    for (int j = 0; j < p->n; j++) {
        p->w[j] = 1;
        p->slope[j] = 0;
        for (int m = 0; m < p->n; m++)
            p->w[j] *= m == j ? 1 : (at - t[m]) / (t[j] - t[m]);
        for (int l = 0; slopes && l < p->n; l++) {
            double one = 1;
            for (int m = 0; m < p->n; m++)
                one *= m == j || l == j ? 1 : (m == l ? 1 : at - t[m]) / (t[j] - t[m]);
            p->slope[j] += l == j ? 0 : one;
        }
    }
}

/* Around `at`, from the piece that `middle` is in if `at` is in it or at its end. */
static place find_place(const grid *g, double at, double middle, int most, bool slopes)
{
    int32_t k = step_of(g, at);
    const int32_t of = step_of(g, fmin(fmax(middle, 0), 1));
    if (middle >= 0 && middle <= 1 && at >= g->at[g->first[of]] - same &&
        at <= g->at[g->last[of]] + same)
        k = k < g->first[of] ? g->first[of] : k >= g->last[of] ? g->last[of] - 1 : k;
    const int32_t first = g->first[k], last = g->last[k];
    place p = {.n = last - first + 1 < most ? last - first + 1 : most};
    p.from = k - (p.n / 2 - 1);
    p.from = p.from < first ? first : p.from + p.n - 1 > last ? last - p.n + 1 : p.from;
    polynomials(g, at, slopes, &p);
    return p;
}

static int points_for(const ana_shot *s) { return s->rule == ANA_SHOOT_SDIRK4 ? 6 : 4; }

/* -- setting up -- */

static double voltage(const device *d, int p, const double *x)
{
    return x[d->m.node[2 * p]] - x[d->m.node[2 * p + 1]];
}

/* What leaves a port, if there are no losses. */
static double wave_of(const device *d, int p, const double *x)
{
    return d->n_wave == 1 ? x[d->m.node[0]] : voltage(d, p, x) + d->m.z * x[d->m.k[p]];
}

/* The delay of an absdelay is what its unknown is; over the recorded period it has to stay. */
static vs_status constant_delay(ana_shot *s, device *d)
{
    const int32_t u = d->m.node[2];
    const double *x = s->c.x, at = x[u];
    for (size_t k = 0; k < vec_len(s->c.t); k++)
        if (!(fabs(x[k * s->n1 + (size_t)u] - at) <= still * fabs(at))) {
            diag_error(s->a->d, s->o.span,
                       "shooting is not possible: the delay %s changes with time",
                       ana_unknown_text(s->a, u));
            return VS_EINPUT;
        }
    d->m.delay = fmax(at, 0);
    return VS_OK;
}

static void track_make(const shoot_lines *l, shoot_track *t)
{
    const size_t n = vec_len(l->all);
    t->in = vs_calloc((size_t)l->n_wave, sizeof *t->in);
    t->now = vs_calloc(n, sizeof *t->now);
    t->loss = vs_calloc(n, sizeof *t->loss);
    for (size_t i = 0; i < n; i++)
        if (l->all[i].loss)
            t->loss[i] = shoot_filters_new(l->all[i].loss);
}

static void track_free(const shoot_lines *l, shoot_track *t)
{
    for (size_t i = 0; t->loss && i < vec_len(l->all); i++)
        shoot_filters_free(&t->loss[i]);
    vs_free(t->loss);
    vs_free(t->now);
    vs_free(t->wave);
    vs_free(t->before);
    vs_free(t->in);
}

vs_status shoot_lines_make(ana_shot *s)
{
    const int32_t n = ckt_n_memory(s->a->c);
    vs_status st = VS_OK;
    if (!n)
        return VS_OK;
    shoot_lines *l = s->lines = vs_calloc(1, sizeof *l);
    for (int32_t i = 0; i < n && st == VS_OK; i++) {
        device d = {.m = ckt_memory(s->a->c, i), .wave = l->n_wave};
        d.n_wave = d.m.name ? 2 : 1;
        st = d.m.name ? VS_OK : constant_delay(s, &d);
        if (d.m.loss) {
            d.loss = shoot_lossy_new(d.m.loss, s->period);
            d.tail = l->n_more;
            l->n_more += shoot_lossy_n_tail(d.loss);
        }
        l->n_wave += d.n_wave;
        vec_push(l->all, d);
    }
    track_make(l, &l->pass);
    track_make(l, &l->change);
    l->size = vs_calloc((size_t)l->n_wave, sizeof *l->size);
    return st;
}

void shoot_lines_free(shoot_lines **lines)
{
    shoot_lines *l = *lines;
    *lines = NULL;
    if (!l)
        return;
    track_free(l, &l->pass);
    track_free(l, &l->change);
    for (size_t i = 0; i < vec_len(l->all); i++)
        shoot_lossy_free(&l->all[i].loss);
    vec_free(l->all);
    free_grid(&l->g);
    vs_free(l->size);
    vs_free(l->missed);
    vs_free(l);
}

/* -- the unknowns -- */

/* First values of a lossy line. */
static void first_lossy(const ana_shot *s, const device *d, double *to)
{
    const shoot_lines *l = s->lines;
    const size_t np = n_point(l), n_waves = (size_t)l->n_wave * np;
    double *x = vs_malloc((s->n1 + 4 * np) * sizeof *x), *v[2] = {x + s->n1, x + s->n1 + np},
           *zi[2] = {x + s->n1 + 2 * np, x + s->n1 + 3 * np};
    double *a[2] = {to + (size_t)d->wave * np, to + (size_t)(d->wave + 1) * np};
    size_t at = 0;
    for (size_t k = 0; k < np; k++) {
        cycle_at(&s->c, s->n1, s->c.begin + l->g.at[k] * s->c.period, &at, x);
        for (int p = 0; p < 2; p++) {
            v[p][k] = voltage(d, p, x);
            zi[p][k] = d->m.z * x[d->m.k[p]];
        }
    }
    shoot_lossy_first(d->loss, s->c.period, np, l->g.at, v, zi, a, to + n_waves + d->tail);
    vs_free(x);
}

/* First values: waves of the recorded period. */
static void first_tail(ana_shot *s, double *to)
{
    shoot_lines *l = s->lines;
    const size_t np = n_point(l);
    double *x = vs_malloc(s->n1 * sizeof *x);
    size_t at = 0;
    for (size_t k = 0; k < np; k++) {
        cycle_at(&s->c, s->n1, s->c.begin + l->g.at[k] * s->c.period, &at, x);
        for (size_t i = 0; i < vec_len(l->all); i++)
            for (int p = 0; p < l->all[i].n_wave; p++)
                to[(size_t)(l->all[i].wave + p) * np + k] = wave_of(&l->all[i], p, x);
    }
    for (size_t i = 0; i < vec_len(l->all); i++)
        if (l->all[i].loss)
            first_lossy(s, &l->all[i], to);
    vs_free(x);
}

/* Waves of the old points at those of the grid. */
static void carry(const ana_shot *s, const grid *old, const double *from, double *to)
{
    const shoot_lines *l = s->lines;
    const size_t np = n_point(l), n_old = vec_len(old->at);
    for (size_t k = 0; k < np; k++) {
        const place p = find_place(old, l->g.at[k], l->g.at[k], points_for(s), false);
        for (size_t w = 0; w < (size_t)l->n_wave; w++) {
            double sum = 0;
            for (int j = 0; j < p.n; j++)
                sum += p.w[j] * from[w * n_old + (size_t)(p.from + j)];
            to[w * np + k] = sum;
        }
    }
    memcpy(to + (size_t)l->n_wave * np, from + (size_t)l->n_wave * n_old, l->n_more * sizeof *to);
}

void shoot_lines_place(ana_shot *s)
{
    shoot_lines *l = s->lines;
    if (!l)
        return;
    grid old = l->g;
    double *from = s->tail;
    make_grid(s, &l->g);
    s->n_tail = (size_t)l->n_wave * n_point(l) + l->n_more;
    s->tail = vs_calloc(s->n_tail, sizeof *s->tail);
    if (from)
        carry(s, &old, from, s->tail);
    else
        first_tail(s, s->tail);
    vs_free(from);
    free_grid(&old);
    shoot_track *const all[] = {&l->pass, &l->change};
    for (size_t i = 0; i < VS_COUNT(all); i++) {
        all[i]->wave = vs_realloc(all[i]->wave, s->n_tail * sizeof(double));
        all[i]->before = vs_realloc(all[i]->before, s->n_tail * sizeof(double));
    }
    l->missed = vs_realloc(l->missed, s->n_tail * sizeof(double));
    memset(l->missed, 0, s->n_tail * sizeof(double));
    for (size_t i = 0; i < vec_len(l->all); i++)
        if (l->all[i].loss)
            shoot_lossy_span(s, l->all[i].loss);
}

/* The wave that tail[k] is measured with. */
static size_t wave_at(const shoot_lines *l, size_t k)
{
    const size_t n_waves = (size_t)l->n_wave * n_point(l);
    size_t i = vec_len(l->all);
    if (k < n_waves)
        return k / n_point(l);
    do
        i--;
    while (!l->all[i].loss || l->all[i].tail > k - n_waves);
    return (size_t)l->all[i].wave;
}

double shoot_lines_tolerance(const ana_shot *s, size_t k)
{
    return s->reltol * s->lines->size[wave_at(s->lines, k)] + s->a->opt.vntol;
}

/* -- passes -- */

shoot_track *shoot_lines_pass(ana_shot *s) { return s->lines ? &s->lines->pass : NULL; }

shoot_track *shoot_lines_change(ana_shot *s) { return s->lines ? &s->lines->change : NULL; }

void shoot_lines_begin(ana_shot *s, shoot_track *t, const double *tail)
{
    if (!t)
        return;
    memcpy(t->before, tail, s->n_tail * sizeof *tail);
    memcpy(t->wave, tail, s->n_tail * sizeof *tail);
    t->made = 0;
    const shoot_lines *l = s->lines;
    for (size_t i = 0; i < vec_len(l->all); i++) {
        if (!t->loss[i])
            continue;
        if (t == &l->pass && s->o.osc)
            shoot_lossy_span(s, l->all[i].loss);
        shoot_filters_begin(t->loss[i], tail + (size_t)l->n_wave * n_point(l) + l->all[i].tail,
                            t == &l->pass && s->o.osc);
    }
}

void shoot_lines_end(ana_shot *s, shoot_track *t, double *tail)
{
    if (!t)
        return;
    const size_t np = n_point(s->lines);
    for (size_t w = 0; w < (size_t)s->lines->n_wave; w++)
        t->wave[w * np] = t->wave[w * np + np - 1];
    memcpy(tail, t->wave, (size_t)s->lines->n_wave * np * sizeof *tail);
    for (size_t i = 0; i < vec_len(s->lines->all); i++)
        if (t->loss[i])
            shoot_filters_end(t->loss[i],
                              tail + (size_t)s->lines->n_wave * np + s->lines->all[i].tail);
}

void shoot_lines_measure(ana_shot *s)
{
    shoot_lines *l = s->lines;
    const size_t np = l ? n_point(l) : 0;
    for (int32_t w = 0; l && w < l->n_wave; w++) {
        l->size[w] = 0;
        for (size_t k = 0; k < np; k++)
            l->size[w] = fmax(l->size[w], fabs(l->pass.wave[(size_t)w * np + k]));
    }
    /* what filters hold may be larger than waves, which tend to 0 at 0 Hz */
    for (size_t i = 0; l && i < vec_len(l->all); i++) {
        const device *d = &l->all[i];
        const double *z = s->tail + (size_t)l->n_wave * np + d->tail;
        for (size_t k = 0; d->loss && k < shoot_lossy_n_tail(d->loss); k++)
            l->size[d->wave] = fmax(l->size[d->wave], fabs(z[k]));
        if (d->loss)
            l->size[d->wave] = l->size[d->wave + 1] = fmax(l->size[d->wave], l->size[d->wave + 1]);
    }
}

/* The waves that arrive at the stage. */
static void look_back(const ana_shot *s, shoot_track *t, const device *d, const shoot_stage *g,
                      int32_t step, double dlnt)
{
    const shoot_lines *l = s->lines;
    const size_t np = n_point(l);
    const double part = d->m.delay / s->period, raw = g->part - part, back = floor(raw),
                 middle = 0.5 * (l->g.at[step] + l->g.at[step + 1]) - part - back;
    const place p = find_place(&l->g, raw - back, middle, points_for(s), dlnt != 0);
    for (int32_t w = d->wave; w < d->wave + d->n_wave; w++) {
        t->in[w] = 0;
        for (int j = 0; j < p.n; j++) {
            const size_t at = (size_t)w * np + (size_t)(p.from + j);
            t->in[w] += p.w[j] * (back == 0 && p.from + j <= t->made ? t->wave : t->before)[at] +
                        dlnt * part * p.slope[j] * l->pass.wave[at];
        }
    }
}

/* The wave that arrives at a port. */
static double wave_in(const shoot_track *t, const device *d, int p)
{
    return t->in[d->wave + (d->n_wave == 1 ? 0 : 1 - p)];
}

void shoot_lines_stage(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step, double dlnt)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        look_back(s, t, d, g, step, dlnt);
        t->now[i] = (nat_now){.cv = d->n_wave - 1, .ci = d->n_wave - 1};
        for (int p = 0; p < d->n_wave; p++)
            t->now[i].s[p] = -wave_in(t, d, p);
        if (t->loss[i])
            shoot_filters_stage(t->loss[i], g, s->period, t->in + d->wave, dlnt, &t->now[i]);
    }
}

void shoot_lines_hold(ana_shot *s, const shoot_track *t)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++)
        ckt_hold(s->a->c, (int32_t)i, &t->now[i]);
}

void shoot_lines_drive(ana_shot *s, const shoot_track *t, double *rhs)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        for (int p = 0; p < d->n_wave; p++)
            rhs[d->n_wave == 1 ? d->m.node[1] : d->m.k[p]] -= t->now[i].s[p];
    }
}

/* What leaves the ports of a lossy line; its integrals go on. */
static void advance_lossy(ana_shot *s, shoot_track *t, size_t i, const shoot_stage *g, int32_t step,
                          const double *x, double a[2])
{
    shoot_lines *l = s->lines;
    const device *d = &l->all[i];
    double v[2], zi[2];
    for (int p = 0; p < 2; p++) {
        v[p] = voltage(d, p, x);
        zi[p] = d->m.z * x[d->m.k[p]];
    }
    shoot_filters_advance(t->loss[i], g, v, zi, a);
    if (t == &l->pass && g->ends && g->number == SHOOT_STAGES - 1)
        l->missed[(size_t)d->wave * n_point(l) + (size_t)step] = shoot_filters_error(t->loss[i], g);
}

void shoot_lines_advance(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step,
                         const double *x)
{
    if (!t)
        return;
    const shoot_lines *l = s->lines;
    if (g->ends)
        t->made = step + 1;
    for (size_t i = 0; i < vec_len(l->all); i++) {
        const device *d = &l->all[i];
        double a[2] = {0};
        if (t->loss[i])
            advance_lossy(s, t, i, g, step, x, a);
        for (int p = 0; p < d->n_wave && g->ends; p++)
            t->wave[(size_t)(d->wave + p) * n_point(l) + (size_t)t->made] =
                t->loss[i] ? a[p] : wave_of(d, p, x);
    }
}

/* What arrived at a port is what x says. */
void shoot_lines_rest(ana_shot *s, const shoot_stage *g, const double *x)
{
    for (size_t i = 0; s->lines && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        nat_now now = {.cv = d->n_wave - 1, .ci = d->n_wave - 1};
        double left[2] = {0};
        if (d->loss)
            shoot_lossy_rest(d->loss, g->alpha, &now);
        for (int p = 0; p < d->n_wave && d->n_wave == 2; p++)
            left[p] = now.cv * voltage(d, p, x) - now.ci * d->m.z * x[d->m.k[p]];
        for (int p = 0; p < d->n_wave; p++)
            now.s[p] = d->n_wave == 1 ? -x[d->m.node[1]] : -left[p];
        if (d->loss)
            for (int p = 0; p < 2; p++)
                now.s[p] +=
                    now.k * (now.cv * voltage(d, 1 - p, x) + now.ci * d->m.z * x[d->m.k[1 - p]]);
        ckt_hold(s->a->c, (int32_t)i, &now);
    }
}

/* What polynomials of fewer points give in the middle of steps, in tolerances. */
void shoot_lines_estimate(ana_shot *s)
{
    const shoot_lines *l = s->lines;
    for (size_t k = 0; l && k + 1 < n_point(l); k++) {
        const double middle = 0.5 * (l->g.at[k] + l->g.at[k + 1]);
        const place a = find_place(&l->g, middle, middle, MOST_POINTS, false),
                    b = find_place(&l->g, middle, middle, a.n < MOST_POINTS ? a.n - 1 : a.n - 2,
                                   false);
        for (int32_t w = 0; w < l->n_wave; w++) {
            const double *v = l->pass.wave + (size_t)w * n_point(l);
            double d = 0;
            for (int j = 0; j < a.n; j++)
                d += a.w[j] * v[a.from + j];
            for (int j = 0; j < b.n; j++)
                d -= b.w[j] * v[b.from + j];
            d = fmax(fabs(d), l->missed[(size_t)w * n_point(l) + k]);
            s->step[k].error =
                fmax(s->step[k].error, d / shoot_lines_tolerance(s, (size_t)w * n_point(l)));
        }
    }
}
