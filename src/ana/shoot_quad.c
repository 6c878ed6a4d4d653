/* shoot_quad.c - integrals over the period: between corners, cubics through ends of steps. Weights
 * of Fourier coefficients take exp(2 pi i p t) exactly. */
#include "shoot_small.h"

#include <math.h>
#include <string.h>

/* Gauss and Legendre's points and weights on -1 .. 1. */
enum { GAUSS = 8 };
static const double gauss_at[GAUSS / 2] = {0.1834346424956498049, 0.5255324099163289858,
                                           0.7966664774136267396, 0.9602898564975362317},
                                     gauss_weight[GAUSS / 2] = {
                                         0.3626837833783619830, 0.3137066458778872873,
                                         0.2223810344533744705, 0.1012285362903762591};

static double gauss(int k, double *at)
{
    *at = k % 2 ? -gauss_at[k / 2] : gauss_at[k / 2];
    return gauss_weight[k / 2];
}

/* Weights of n points from p in the polynomial's value at t, and in its derivative. */
static void weights(const shoot_point *p, int32_t n, double t, double *value, double *rate)
{
    double part[SHOOT_STENCIL];
    for (int32_t j = 0; j < n; j++)
        part[j] = p[j].part;
    shoot_weights(part, n, t, value, rate, NULL);
}

/* Step k goes from point first_of(k) to the next. */
static int32_t first_of(const shoot_quad *q, int32_t k)
{
    return k + (q->jump >= 0 && k >= q->jump ? 1 : 0);
}

/* Integral over the step of each polynomial through n points from `from`. */
static void weigh(const shoot_quad *q, int32_t i, int32_t from, int32_t n, double *to)
{
    const shoot_point *p = q->point;
    const double half = (p[i + 1].part - p[i].part) / 2, mid = p[i].part + half;
    memset(to, 0, (size_t)n * sizeof *to);
    for (int k = 0; k < GAUSS; k++) {
        double at, value[SHOOT_STENCIL];
        const double w = gauss(k, &at) * half;
        weights(p + from, n, mid + half * at, value, NULL);
        for (int32_t m = 0; m < n; m++)
            to[m] += w * value[m];
    }
}

/* The stencil of the step behind point i, within the piece first .. last. */
static shoot_rule rule_of(const shoot_quad *q, int32_t i, int32_t first, int32_t last)
{
    const int32_t all = last - first + 1, n = all < SHOOT_STENCIL ? all : SHOOT_STENCIL;
    shoot_rule r = {.from = i - 1, .n = n};
    r.from = r.from < first ? first : r.from + n - 1 > last ? last - n + 1 : r.from;
    weigh(q, i, r.from, n, r.whole);
    if (n > 2) {
        const int32_t skip = i + 1 == r.from + n - 1 ? 1 : 0; /* the point that is left out */
        weigh(q, i, r.from + skip, n - 1, r.less + skip);
    } else {
        memcpy(r.less, r.whole, sizeof r.less);
    }
    return r;
}

/* Points, and the pieces between corners: a corner ends one and begins the next. */
static void make_rules(shoot_quad *q, const ana_shot *s)
{
    const int32_t n = (int32_t)vec_len(s->step);
    vec_push(q->point, ((shoot_point){0, 0}));
    for (int32_t k = 0; k < n; k++) {
        vec_push(q->point, ((shoot_point){k + 1, s->step[k].end}));
        if (k + 1 == q->jump)
            vec_push(q->point, ((shoot_point){k + 1, s->step[k].end}));
    }
    for (int32_t k = 0, next; k < n; k = next) {
        for (next = k + 1; next < n && !s->step[next].fresh;)
            next++;
        const int32_t first = first_of(q, k), last = first + next - k;
        for (int32_t i = first; i < last; i++)
            vec_push(q->rule, rule_of(q, i, first, last));
    }
}

void shoot_quad_begin(shoot_quad *q, const ana_shot *s, int32_t jump, int32_t most)
{
    *q = (shoot_quad){.most = most,
                      .jump = jump > 0 && jump < (int32_t)vec_len(s->step) ? jump : -1};
    make_rules(q, s);
    q->weight = vs_calloc(vec_len(q->point), sizeof *q->weight);
    q->fourier = vs_calloc(2 * (size_t)most + 1, sizeof(hb_cplx *));
    for (size_t k = 0; k < vec_len(q->rule); k++)
        for (int32_t m = 0; m < q->rule[k].n; m++)
            q->weight[q->rule[k].from + m] += q->rule[k].whole[m];
}

void shoot_quad_end(shoot_quad *q)
{
    for (int32_t p = 0; q->fourier && p <= 2 * q->most; p++)
        vs_free(q->fourier[p]);
    vs_free(q->fourier);
    vs_free(q->weight);
    vec_free(q->point);
    vec_free(q->rule);
    *q = (shoot_quad){0};
}

const hb_cplx *shoot_quad_fourier(shoot_quad *q, int32_t p)
{
    hb_cplx **const place = &q->fourier[p + q->most];
    if (*place)
        return *place;
    hb_cplx *to = *place = vs_calloc(vec_len(q->point), sizeof *to);
    for (size_t k = 0; k < vec_len(q->rule); k++) {
        const shoot_rule *r = &q->rule[k];
        const int32_t i = first_of(q, (int32_t)k);
        const double half = (q->point[i + 1].part - q->point[i].part) / 2,
                     mid = q->point[i].part + half;
        for (int g = 0; g < GAUSS; g++) {
            double at, value[SHOOT_STENCIL];
            const double w = gauss(g, &at) * half, t = mid + half * at;
            const hb_cplx z = w * cexp(2 * M_PI * I * p * t);
            weights(q->point + r->from, r->n, t, value, NULL);
            for (int32_t m = 0; m < r->n; m++)
                to[r->from + m] += z * value[m];
        }
    }
    return to;
}

void shoot_quad_slopes(const shoot_quad *q, const hb_cplx *v, size_t stride, hb_cplx *to)
{
    for (size_t k = 0; k < vec_len(q->rule); k++) {
        const shoot_rule *r = &q->rule[k];
        const int32_t i = first_of(q, (int32_t)k);
        for (int32_t end = i; end <= i + 1; end++) { /* the next step has the same, or a corner */
            double rate[SHOOT_STENCIL];
            weights(q->point + r->from, r->n, q->point[end].part, NULL, rate);
            to[end] = 0;
            for (int32_t m = 0; m < r->n; m++)
                to[end] += v[(size_t)(r->from + m) * stride] * rate[m];
        }
    }
}
