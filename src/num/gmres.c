/* gmres.c - see gmres.h. */
#include "gmres.h"

#include <math.h>
#include <string.h>

#include "cplx.h"

typedef struct work {
    const gmres_opt *o;
    cplx *v;       /* [restart + 1][n] orthonormal basis */
    cplx *h;       /* [restart + 1][restart] Hessenberg matrix, column by column */
    cplx *s, *rhs; /* [restart + 1] Givens rotations; the right side */
    double *c;     /* [restart + 1] */
    cplx *z, *r;   /* [n] */
    int32_t products;
} work;

static double norm(const cplx *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
    return sqrt(sum);
}

static cplx dot(const cplx *a, const cplx *b, int64_t n)
{
    cplx sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += conj(a[i]) * b[i];
    return sum;
}

/* r = b - A x; its norm. */
static double residual(work *w, const cplx *b, const cplx *x)
{
    const int64_t n = w->o->n;
    w->o->product(w->o->user, (const double *)x, (double *)w->r);
    w->products++;
    for (int64_t i = 0; i < n; i++)
        w->r[i] = b[i] - w->r[i];
    return norm(w->r, n);
}

/* Column j of the basis and of h: A M^-1 v_j, made orthogonal to those before (twice, against
 * rounding). */
static void extend(work *w, int32_t j)
{
    const gmres_opt *o = w->o;
    const int64_t n = o->n;
    cplx *h = &w->h[(size_t)j * (size_t)(o->restart + 1)], *next = &w->v[(j + 1) * n];
    o->precondition(o->user, (const double *)&w->v[j * n], (double *)w->z);
    o->product(o->user, (const double *)w->z, (double *)next);
    w->products++;
    memset(h, 0, (size_t)(o->restart + 1) * sizeof *h);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i <= j; i++) {
            const cplx *v = &w->v[i * n];
            const cplx a = dot(v, next, n);
            h[i] += a;
            for (int64_t k = 0; k < n; k++)
                next[k] -= a * v[k];
        }
    const double size = norm(next, n);
    h[j + 1] = size;
    for (int64_t k = 0; k < n && size > 0; k++)
        next[k] /= size;
}

/* The rotations so far on column j, and the one that removes h[j + 1]. */
static void rotate(work *w, int32_t j)
{
    cplx *h = &w->h[(size_t)j * (size_t)(w->o->restart + 1)];
    for (int32_t i = 0; i < j; i++) {
        const cplx t = w->c[i] * h[i] + w->s[i] * h[i + 1];
        h[i + 1] = -conj(w->s[i]) * h[i] + w->c[i] * h[i + 1];
        h[i] = t;
    }
    const double a = cabs(h[j]), b = cabs(h[j + 1]), size = hypot(a, b);
    const cplx phase = a > 0 ? h[j] / a : 1;
    w->c[j] = size > 0 ? a / size : 1;
    w->s[j] = size > 0 ? phase * conj(h[j + 1]) / size : 0;
    h[j] = phase * size;
    h[j + 1] = 0;
    w->rhs[j + 1] = -conj(w->s[j]) * w->rhs[j];
    w->rhs[j] *= w->c[j];
}

/* x += M^-1 V y with the upper triangle of the first m columns. */
static void update(work *w, int32_t m, cplx *x)
{
    const int64_t n = w->o->n;
    const size_t ld = (size_t)(w->o->restart + 1);
    for (int32_t i = m - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < m; j++)
            w->rhs[i] -= w->h[(size_t)j * ld + (size_t)i] * w->rhs[j];
        const cplx d = w->h[(size_t)i * ld + (size_t)i];
        w->rhs[i] = d != 0 ? w->rhs[i] / d : 0;
    }
    memset(w->r, 0, (size_t)n * sizeof *w->r);
    for (int32_t i = 0; i < m; i++)
        for (int64_t k = 0; k < n; k++)
            w->r[k] += w->rhs[i] * w->v[i * n + k];
    w->o->precondition(w->o->user, (const double *)w->r, (double *)w->z);
    for (int64_t k = 0; k < n; k++)
        x[k] += w->z[k];
}

/* One round of at most `restart` vectors, from the residual w->r of size `size`. Returns its size
 * then, but for rounding. */
static double cycle(work *w, double size, double target, cplx *x)
{
    const gmres_opt *o = w->o;
    int32_t m = 0;
    memset(w->rhs, 0, (size_t)(o->restart + 1) * sizeof *w->rhs);
    w->rhs[0] = size;
    for (int64_t k = 0; k < o->n; k++)
        w->v[k] = w->r[k] / size;
    while (m < o->restart && w->products < o->most) {
        extend(w, m);
        rotate(w, m);
        m++;
        if (!(cabs(w->rhs[m]) > 0.5 * target))
            break;
    }
    const double left = cabs(w->rhs[m]);
    update(w, m, x);
    return left;
}

vs_status gmres(const gmres_opt *o, const double *b, double *x, int32_t *products)
{
    const size_t n = (size_t)o->n, m = (size_t)o->restart + 1;
    work w = {.o = o};
    w.v = vs_malloc(m * n * sizeof *w.v);
    w.h = vs_calloc(m * m, sizeof *w.h);
    w.s = vs_calloc(m, sizeof *w.s);
    w.rhs = vs_calloc(m, sizeof *w.rhs);
    w.c = vs_calloc(m, sizeof *w.c);
    w.z = vs_calloc(n, sizeof *w.z);
    w.r = vs_calloc(n, sizeof *w.r);
    const double target = o->tol * norm((const cplx *)b, o->n);
    double size, before = INFINITY;
    if (o->believe) {
        memcpy(w.r, b, n * sizeof *w.r);
        size = norm(w.r, o->n);
    } else {
        size = residual(&w, (const cplx *)b, (cplx *)x);
    }
    while (size > target && size < 0.99 * before && w.products < o->most) {
        before = size;
        size = cycle(&w, size, target, (cplx *)x);
        if (!o->believe || size > target)
            size = residual(&w, (const cplx *)b, (cplx *)x);
    }
    *products = w.products;
    vs_free(w.v);
    vs_free(w.h);
    vs_free(w.s);
    vs_free(w.rhs);
    vs_free(w.c);
    vs_free(w.z);
    vs_free(w.r);
    return size <= target ? VS_OK : VS_NOCONV;
}
