/* lu_near.c - see lu_near.h. In units of the tolerances, with D = diag(1 / tol), the system is
 * B u = u_0, B = D M^-1 A D^-1, u = D x, u_0 = D M^-1 b; v_0 .. v_k are an orthonormal basis of
 * u_0, B u_0 ... Sums of products are made in LANES parts, whatever the machine. */
#include "lu_near.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

struct lu_near {
    int32_t n;
    double *v[LU_NEAR_MOST + 1]; /* [n] */
    double *z;                   /* [n] */
};

typedef struct turned { /* Hessenberg's matrix, made triangular by rotations */
    double r[LU_NEAR_MOST][LU_NEAR_MOST + 1]; /* column after column */
    double cos[LU_NEAR_MOST], sin[LU_NEAR_MOST];
    double g[LU_NEAR_MOST + 1]; /* the right side; |g[k]|: what is left after k steps */
} turned;

lu_near *lu_near_new(int32_t n)
{
    lu_near *s = vs_calloc(1, sizeof *s);
    s->n = n;
    for (int k = 0; k <= LU_NEAR_MOST; k++)
        s->v[k] = vs_calloc((size_t)n + 1, sizeof(double));
    s->z = vs_calloc((size_t)n + 1, sizeof(double));
    return s;
}

void lu_near_free(lu_near **ps)
{
    lu_near *s = *ps;
    if (!s)
        return;
    for (int k = 0; k <= LU_NEAR_MOST; k++)
        vs_free(s->v[k]);
    vs_free(s->z);
    vs_free(s);
    *ps = NULL;
}

VS_CLONES static double product_of(const double *a, const double *b, int32_t n)
{
    double sum[LANES] = {0};
    int32_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[i % LANES] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

VS_CLONES static void subtract(double *restrict x, double factor, const double *restrict y,
                               int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] -= factor * y[i];
}

VS_CLONES static void multiply(double *restrict to, const double *restrict x,
                               const double *restrict y, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        to[i] = x[i] * y[i];
}

VS_CLONES static void divide(double *restrict x, const double *restrict by, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] /= by[i];
}

VS_CLONES static void scale(double *x, double factor, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* to = B v */
static void apply(lu_near *s, lu_solver *lu, const csc *a, const lu_near_opt *o, const double *v,
                  double *restrict to)
{
    const double *tol = o->tol;
    double *restrict z = s->z;
    multiply(z, v, tol, s->n);
    memset(to, 0, sizeof *to * (size_t)s->n);
    for (int32_t j = 0; j < s->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            to[a->row[k]] += a->val[k] * z[j];
    if (o->coarse)
        lu_solve_coarse(lu, to, to);
    else
        lu_solve(lu, to, to);
    divide(to, tol, s->n);
}

/* Makes v_k+1, which is B v_k, orthogonal to those before, and column k of the triangle. */
static void add_column(lu_near *s, turned *t, int k)
{
    double *w = s->v[k + 1], *r = t->r[k];
    for (int i = 0; i <= k; i++) {
        r[i] = product_of(w, s->v[i], s->n);
        subtract(w, r[i], s->v[i], s->n);
    }
    const double size = sqrt(product_of(w, w, s->n));
    if (size > 0)
        scale(w, 1 / size, s->n);
    for (int i = 0; i < k; i++) {
        const double upper = r[i], lower = r[i + 1];
        r[i] = t->cos[i] * upper + t->sin[i] * lower;
        r[i + 1] = t->cos[i] * lower - t->sin[i] * upper;
    }
    const double h = hypot(r[k], size);
    t->cos[k] = h == 0 ? 1 : r[k] / h; /* of NaN: NaN */
    t->sin[k] = h == 0 ? 0 : size / h;
    r[k] = h;
    t->g[k + 1] = -t->sin[k] * t->g[k];
    t->g[k] *= t->cos[k];
}

/* x = D^-1 (v_0 .. v_n-1) y, the triangle being R y = g. */
static void combine(lu_near *s, const turned *t, int n, const double *tol, double *x)
{
    double y[LU_NEAR_MOST];
    for (int i = n - 1; i >= 0; i--) {
        y[i] = t->g[i];
        for (int j = i + 1; j < n; j++)
            y[i] -= t->r[j][i] * y[j];
        y[i] /= t->r[i][i];
    }
    memset(s->z, 0, sizeof *s->z * (size_t)s->n);
    for (int i = 0; i < n; i++)
        subtract(s->z, -y[i], s->v[i], s->n);
    multiply(x, s->z, tol, s->n);
}

vs_status lu_near_solve(lu_near *s, lu_solver *lu, const csc *a, const lu_near_opt *o, double *x,
                        int *n_step, double *first)
{
    turned t;
    memcpy(s->v[0], x, sizeof *x * (size_t)s->n);
    divide(s->v[0], o->tol, s->n);
    const double size = sqrt(product_of(s->v[0], s->v[0], s->n));
    *n_step = 0;
    if (!(size > 0) || size == INFINITY)
        return size == 0 ? VS_OK : VS_NOCONV;
    scale(s->v[0], 1 / size, s->n);
    t.g[0] = size;
    for (int k = 0; k < o->most; k++) {
        apply(s, lu, a, o, s->v[k], s->v[k + 1]);
        add_column(s, &t, k);
        *n_step = k + 1;
        const double left = fabs(t.g[k + 1]);
        if (k == 0)
            *first = left / size;
        if (!(left < INFINITY) || t.r[k][k] == 0)
            return VS_NOCONV;
        if (left <= o->part * size || left <= o->least) {
            combine(s, &t, k + 1, o->tol, x);
            return VS_OK;
        }
    }
    return VS_NOCONV;
}
