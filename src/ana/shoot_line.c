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
 * A lossy line has integrals of its waves besides, and at 0 Hz the equations of its waves (rlgc.h)
 * leave v_1 - v_2 = R i open, if there is no G: it is refused. */
#include <math.h>
#include <string.h>

#include "shoot.h"
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
} device;

struct shoot_track {       /* the pass, or changes that are carried through it */
    double *wave, *before; /* [n_wave][n_point] made, and taken for those that are not made yet */
    int32_t made;          /* points up to this one are */
    double *in;            /* [n_wave] of the stage: the wave that arrives from the port */
};

struct shoot_lines {
    device *all; /* vec */
    int32_t n_wave;
    grid g;
    shoot_track pass, change;
    double *size; /* [n_wave] largest value */
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

static double wave_of(const device *d, int p, const double *x)
{
    const nat_memory *m = &d->m;
    if (d->n_wave == 1)
        return x[m->node[0]];
    return x[m->node[2 * p]] - x[m->node[2 * p + 1]] + m->z * x[m->k[p]];
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

static void track_free(shoot_track *t)
{
    vs_free(t->wave);
    vs_free(t->before);
    vs_free(t->in);
}

static vs_status lossy(const ana_shot *s, const device *d)
{
    diag_error(s->a->d, s->o.span,
               "shooting is not possible with '%s': a line with losses remembers more than waves",
               d->m.name);
    diag_note(s->a->d, s->o.span, "harmonic balance is: .hb, or method=hb");
    return VS_EINPUT;
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
        st = d.m.loss ? lossy(s, &d) : d.m.name ? VS_OK : constant_delay(s, &d);
        l->n_wave += d.n_wave;
        vec_push(l->all, d);
    }
    l->pass.in = vs_calloc((size_t)l->n_wave, sizeof *l->pass.in);
    l->change.in = vs_calloc((size_t)l->n_wave, sizeof *l->change.in);
    l->size = vs_calloc((size_t)l->n_wave, sizeof *l->size);
    return st;
}

void shoot_lines_free(shoot_lines **lines)
{
    shoot_lines *l = *lines;
    *lines = NULL;
    if (!l)
        return;
    vec_free(l->all);
    free_grid(&l->g);
    track_free(&l->pass);
    track_free(&l->change);
    vs_free(l->size);
    vs_free(l);
}

/* -- the unknowns -- */

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
}

void shoot_lines_place(ana_shot *s)
{
    shoot_lines *l = s->lines;
    if (!l)
        return;
    grid old = l->g;
    double *from = s->tail;
    make_grid(s, &l->g);
    s->n_tail = (size_t)l->n_wave * n_point(l);
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
}

double shoot_lines_tolerance(const ana_shot *s, size_t k)
{
    return s->reltol * s->lines->size[k / n_point(s->lines)] + s->a->opt.vntol;
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
}

void shoot_lines_end(ana_shot *s, shoot_track *t, double *tail)
{
    if (!t)
        return;
    const size_t np = n_point(s->lines);
    for (size_t w = 0; w < (size_t)s->lines->n_wave; w++)
        t->wave[w * np] = t->wave[w * np + np - 1];
    memcpy(tail, t->wave, s->n_tail * sizeof *tail);
}

void shoot_lines_measure(ana_shot *s)
{
    shoot_lines *l = s->lines;
    for (int32_t w = 0; l && w < l->n_wave; w++) {
        l->size[w] = 0;
        for (size_t k = 0; k < n_point(l); k++)
            l->size[w] = fmax(l->size[w], fabs(l->pass.wave[(size_t)w * n_point(l) + k]));
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

void shoot_lines_stage(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step, double dlnt)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++)
        look_back(s, t, &s->lines->all[i], g, step, dlnt);
}

/* The wave that arrives at a port. */
static double wave_in(const shoot_track *t, const device *d, int p)
{
    return t->in[d->wave + (d->n_wave == 1 ? 0 : 1 - p)];
}

void shoot_lines_hold(ana_shot *s, const shoot_track *t)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        nat_now now = {.cv = d->n_wave - 1, .ci = d->n_wave - 1};
        for (int p = 0; p < d->n_wave; p++)
            now.s[p] = -wave_in(t, d, p);
        ckt_hold(s->a->c, (int32_t)i, &now);
    }
}

void shoot_lines_drive(ana_shot *s, const shoot_track *t, double *rhs)
{
    for (size_t i = 0; t && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        for (int p = 0; p < d->n_wave; p++)
            rhs[d->n_wave == 1 ? d->m.node[1] : d->m.k[p]] += wave_in(t, d, p);
    }
}

void shoot_lines_advance(ana_shot *s, shoot_track *t, const shoot_stage *g, int32_t step,
                         const double *x)
{
    if (!t || !g->ends)
        return;
    const shoot_lines *l = s->lines;
    t->made = step + 1;
    for (size_t i = 0; i < vec_len(l->all); i++)
        for (int p = 0; p < l->all[i].n_wave; p++)
            t->wave[(size_t)(l->all[i].wave + p) * n_point(l) + (size_t)t->made] =
                wave_of(&l->all[i], p, x);
}

/* The wave that arrived at a port is what x says. */
void shoot_lines_rest(ana_shot *s, const double *x)
{
    for (size_t i = 0; s->lines && i < vec_len(s->lines->all); i++) {
        const device *d = &s->lines->all[i];
        nat_now now = {.cv = d->n_wave - 1, .ci = d->n_wave - 1};
        for (int p = 0; p < d->n_wave; p++)
            now.s[p] =
                d->n_wave == 1 ? -x[d->m.node[1]] : 2 * d->m.z * x[d->m.k[p]] - wave_of(d, p, x);
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
            s->step[k].error =
                fmax(s->step[k].error, fabs(d) / shoot_lines_tolerance(s, (size_t)w * n_point(l)));
        }
    }
}
