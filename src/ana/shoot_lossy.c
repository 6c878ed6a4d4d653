/* shoot_lossy.c - see shoot_lossy.h. */
#include "shoot_lossy.h"

#include <math.h>
#include <string.h>

#include "rlgc.h"
#include "vec.h"

/* What is slower than this, in periods, is the same at all harmonics; what is faster than this,
 * 1/period, is at once: (w/1e8 period)^1.5 of y is wrong at w. */
static const double long_time = 10, fast = 1e8;

typedef struct integral {
    double start;                             /* its value at t_0 */
    double y, before, slope, k[SHOOT_STAGES]; /* value less that at t_n, t_n-1; slopes */
    double h;                                 /* of the stage */
} integral;

struct shoot_lossy {
    rlgc r;
    arena mem;
    double *span;                  /* [n] y(1) */
    double mine_v, mine_zi, v, zi; /* the static equation: of the port, of the other one */
    double *turn;                  /* vec: [n_all] of all stages of the last pass */
};

/* Integrals of a port: of u [n], of a [n], then these. The last two are not part of the state. */
enum { U, MEAN_V, MEAN_ZI, N_OTHER };

struct shoot_filters {
    shoot_lossy *line;
    integral *all; /* [2][2 n + N_OTHER] */
    double c[2], in[2];
    double y, rest[2]; /* of the stage: y*u = y u + rest */
    double period;
    size_t stage;
    bool records;
};

static size_t n_port(const shoot_lossy *l) { return 2 * (size_t)l->r.n + N_OTHER; }
static size_t n_kept(const shoot_lossy *l) { return 2 * (size_t)l->r.n + 1; }

/* -- lines -- */

static void set_static(shoot_lossy *l)
{
    const rlgc *r = &l->r;
    double complex a, b;
    rlgc_hyperbolic(rlgc_lambda(r, 0), &a, &b);
    const double far = -creal(b) / creal(a);
    if (r->r > 0) {
        l->mine_v = 1;
        l->mine_zi = -r->r / (creal(a) * r->z);
        l->v = far;
    } else {
        l->mine_v = r->g * r->z / creal(a);
        l->mine_zi = -1;
        l->zi = far;
    }
}

static void leave_out_fast(rlgc *r, double fastest)
{
    const int32_t n = r->n;
    r->n = 0;
    for (int32_t k = 0; k < n; k++) {
        if (r->sigma[k] > fastest) {
            r->direct += r->m[k] / r->sigma[k];
            r->gain += r->w[k] / r->sigma[k];
            continue;
        }
        r->sigma[r->n] = r->sigma[k];
        r->m[r->n] = r->m[k];
        r->w[r->n++] = r->w[k];
    }
}

shoot_lossy *shoot_lossy_new(const rlgc *r, double period)
{
    shoot_lossy *l = vs_calloc(1, sizeof *l);
    arena_init(&l->mem);
    rlgc_make(&l->r, r->r, r->l, r->g, r->c, long_time * period, &l->mem);
    leave_out_fast(&l->r, fast / period);
    l->span = arena_array(&l->mem, double, l->r.n + 1);
    set_static(l);
    return l;
}

void shoot_lossy_free(shoot_lossy **line)
{
    shoot_lossy *l = *line;
    *line = NULL;
    if (!l)
        return;
    vec_free(l->turn);
    arena_fini(&l->mem);
    vs_free(l);
}

size_t shoot_lossy_n_tail(const shoot_lossy *l) { return 2 * (n_kept(l) + 1); }

/* -- integrals -- */

/* h of the stage. */
static void look_back(integral *z, const shoot_stage *g, double turn)
{
    z->h = g->alpha * z->y - g->b * z->slope + g->a * (z->y - z->before) + turn;
    for (int32_t j = 0; j < g->number; j++)
        z->h -= g->w[j] * z->k[j];
}

/* The stage ends with the value y. Returns what ln T multiplies: the change of h by it. */
static double go_on(integral *z, const shoot_stage *g, double y)
{
    const double turn = g->alpha * (y - z->y) - g->a * (z->y - z->before);
    z->k[g->number] = g->alpha * y - z->h;
    if (g->ends) {
        z->before = z->y;
        z->y = y;
        z->slope = z->k[g->number];
    }
    return turn;
}

static double low_pass(const integral *z, const shoot_stage *g, double sigma, double in)
{
    return (sigma * (in - z->start) + z->h) / (g->alpha + sigma);
}

void shoot_lossy_span(ana_shot *s, shoot_lossy *l)
{
    shoot_stage g[SHOOT_STAGES];
    integral *all = vs_calloc((size_t)l->r.n + 1, sizeof *all);
    for (size_t k = 0; k < vec_len(s->step); k++) {
        const int32_t n = shoot_stages(s, (int32_t)k, g);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < l->r.n; j++) {
                look_back(&all[j], &g[i], 0);
                go_on(&all[j], &g[i], low_pass(&all[j], &g[i], l->r.sigma[j], 1));
            }
    }
    for (int32_t j = 0; j < l->r.n; j++)
        l->span[j] = all[j].y;
    vs_free(all);
}

/* -- passes -- */

shoot_filters *shoot_filters_new(shoot_lossy *l)
{
    shoot_filters *f = vs_calloc(1, sizeof *f);
    f->line = l;
    f->all = vs_calloc(2 * n_port(l), sizeof *f->all);
    return f;
}

void shoot_filters_free(shoot_filters **filters)
{
    shoot_filters *f = *filters;
    *filters = NULL;
    if (!f)
        return;
    vs_free(f->all);
    vs_free(f);
}

static integral *port(const shoot_filters *f, int p)
{
    return f->all + (size_t)p * n_port(f->line);
}

void shoot_filters_begin(shoot_filters *f, const double *tail, bool records)
{
    const size_t kept = n_kept(f->line);
    memset(f->all, 0, 2 * n_port(f->line) * sizeof *f->all);
    for (int p = 0; p < 2; p++) {
        for (size_t k = 0; k < kept; k++)
            port(f, p)[k].start = tail[(size_t)p * (kept + 1) + k];
        f->c[p] = tail[(size_t)p * (kept + 1) + kept];
    }
    f->stage = 0;
    f->records = records;
    if (records)
        vec_clear(f->line->turn);
}

void shoot_filters_end(shoot_filters *f, double *tail)
{
    const shoot_lossy *l = f->line;
    const size_t n = (size_t)l->r.n, kept = n_kept(l);
    for (int p = 0; p < 2; p++) {
        const integral *z = port(f, p), *other = port(f, 1 - p) + 2 * n;
        double *to = tail + (size_t)p * (kept + 1);
        for (size_t k = 0; k < 2 * n; k++)
            to[k] = z[k].start + z[k].y / l->span[k % n];
        z += 2 * n;
        to[2 * n] = z[U].start + z[U].y;
        to[kept] = f->c[p] + l->mine_v * z[MEAN_V].y + l->mine_zi * z[MEAN_ZI].y +
                   l->v * other[MEAN_V].y + l->zi * other[MEAN_ZI].y;
    }
}

/* y and rest of a port: y*u = y u + rest. */
static double respond(const shoot_lossy *l, const shoot_stage *g, const integral *z, double *rest)
{
    const rlgc *r = &l->r;
    const integral *u = z + 2 * r->n + U;
    double y = r->y0 + r->direct * g->alpha;
    *rest = -r->direct * (g->alpha * u->start + u->h);
    for (int32_t k = 0; k < r->n; k++) {
        y += r->m[k] * g->alpha / (g->alpha + r->sigma[k]);
        *rest -= r->m[k] * (z[k].start + low_pass(&z[k], g, r->sigma[k], 0));
    }
    return y;
}

/* e*A of the wave a one delay before. Of a line without delay the equation has it. */
static double arrive(const shoot_lossy *l, const shoot_stage *g, const integral *z, double a)
{
    const rlgc *r = &l->r;
    double sum = r->delay > 0 ? r->gain * a : 0;
    for (int32_t k = 0; k < r->n; k++)
        sum += r->w[k] == 0
                   ? 0
                   : r->w[k] / r->sigma[k] * (z[k].start + low_pass(&z[k], g, r->sigma[k], a));
    return sum;
}

static nat_now equation(const rlgc *r, double y)
{
    return (nat_now){
        .cv = r->on_current ? 1 : y, .ci = r->on_current ? y : 1, .k = r->delay > 0 ? 0 : r->gain};
}

void shoot_filters_stage(shoot_filters *f, const shoot_stage *g, double period, const double in[2],
                         double dlnt, nat_now *eq)
{
    const shoot_lossy *l = f->line;
    const size_t n = (size_t)l->r.n, all = n_port(l);
    f->period = period;
    for (size_t k = 0; k < 2 * all; k++)
        look_back(&f->all[k], g, dlnt != 0 ? dlnt * l->turn[f->stage * 2 * all + k] : 0);
    for (int p = 0; p < 2; p++) {
        f->in[p] = in[1 - p];
        f->y = respond(l, g, port(f, p), &f->rest[p]);
    }
    *eq = equation(&l->r, f->y);
    for (int p = 0; p < 2; p++)
        eq->s[p] = (l->r.on_current ? -f->rest[p] : f->rest[p]) -
                   arrive(l, g, port(f, p) + n, f->in[p]) + f->c[p];
}

void shoot_filters_advance(shoot_filters *f, const shoot_stage *g, const double v[2],
                           const double zi[2], double a[2])
{
    shoot_lossy *l = f->line;
    const size_t n = (size_t)l->r.n, all = n_port(l);
    double *turn = NULL;
    if (f->records) {
        vec_extend(l->turn, 2 * all);
        turn = l->turn + vec_len(l->turn) - 2 * all;
    }
    for (int p = 0; p < 2; p++) {
        integral *z = port(f, p);
        const double u = l->r.on_current ? zi[p] : v[p], other = l->r.on_current ? v[p] : zi[p];
        a[p] = f->y * u + f->rest[p] + other;
        for (size_t k = 0; k < all; k++) {
            const double mean = k == 2 * n + MEAN_V ? v[p] : zi[p];
            const double y = k < 2 * n ? low_pass(&z[k], g, l->r.sigma[k % n], k < n ? u : f->in[p])
                             : k == 2 * n ? u - z[k].start
                                          : (mean / f->period + z[k].h) / g->alpha;
            const double by = go_on(&z[k], g, y);
            if (turn) /* a mean is one of time in periods */
                turn[(size_t)p * all + k] = by - (k > 2 * n ? z[k].k[g->number] : 0);
        }
    }
    f->stage++;
}

double shoot_filters_error(const shoot_filters *f, const shoot_stage *g)
{
    const rlgc *r = &f->line->r;
    double most = 0;
    for (int p = 0; p < 2; p++) {
        const integral *z = port(f, p), *w = z + r->n;
        double sum = 0;
        for (int32_t k = 0; k < r->n; k++) {
            double one = 0;
            for (int j = 0; j < SHOOT_STAGES; j++)
                one +=
                    shoot_embedded[j] * (r->w[k] / r->sigma[k] * w[k].k[j] - r->m[k] * z[k].k[j]);
            sum += one / (g->alpha + r->sigma[k]);
        }
        most = fmax(most, fabs(sum));
    }
    return most;
}

void shoot_lossy_rest(const shoot_lossy *l, double alpha, nat_now *eq)
{
    const shoot_stage g = {.alpha = alpha};
    double y = l->r.y0 + l->r.direct * g.alpha;
    for (int32_t k = 0; k < l->r.n; k++)
        y += l->r.m[k] * alpha / (alpha + l->r.sigma[k]);
    *eq = equation(&l->r, y);
}

/* -- first values: of straight lines between points -- */

/* What a low-pass filter of `in` [np] is at all points of a periodic state, to z [np]. */
static void fold(double sigma, double period, size_t np, const double *at, const double *in,
                 double *z)
{
    double sum = 0, start = 0;
    for (int pass = 0; pass < 2; pass++) {
        z[0] = start;
        for (size_t i = 1; i < np; i++) {
            const double x = sigma * period * (at[i] - at[i - 1]), step = rlgc_step(x),
                         ramp = rlgc_ramp(x);
            z[i] = (1 - x * step) * z[i - 1] + x * (in[i - 1] * (step - ramp) + in[i] * ramp);
        }
        sum = z[np - 1];
        if (pass == 0)
            start = sum / -expm1(-sigma * period);
    }
}

/* The value at a time of the period, on straight lines. */
static double value_at(size_t np, const double *at, const double *z, double part)
{
    size_t k = 0;
    while (k + 2 < np && at[k + 1] <= part)
        k++;
    return z[k] + (part - at[k]) / (at[k + 1] - at[k]) * (z[k + 1] - z[k]);
}

void shoot_lossy_first(const shoot_lossy *l, double period, size_t np, const double *at,
                       double *const v[2], double *const zi[2], double *const a[2], double *tail)
{
    const rlgc *r = &l->r;
    const size_t n = (size_t)r->n, kept = n_kept(l);
    const double ago = r->delay / period, part = ceil(ago) - ago;
    double *z = vs_malloc(np * sizeof *z);
    memset(tail, 0, shoot_lossy_n_tail(l) * sizeof *tail);
    for (int p = 0; p < 2; p++) {
        const double *u = r->on_current ? zi[p] : v[p], *other = r->on_current ? v[p] : zi[p];
        double *to = tail + (size_t)p * (kept + 1);
        for (size_t i = 0; i < np; i++)
            a[p][i] = r->y0 * u[i] + other[i];
        for (size_t k = 0; k < n; k++) {
            fold(r->sigma[k], period, np, at, u, z);
            to[k] = z[0];
            for (size_t i = 0; i < np; i++)
                a[p][i] += r->m[k] * (u[i] - z[i]);
        }
        to[2 * n] = u[0];
    }
    for (int p = 0; p < 2; p++)
        for (size_t k = 0; k < n; k++) {
            fold(r->sigma[k], period, np, at, a[1 - p], z);
            tail[(size_t)p * (kept + 1) + n + k] = value_at(np, at, z, part);
        }
    vs_free(z);
}
