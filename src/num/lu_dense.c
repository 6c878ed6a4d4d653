/* lu_dense.c - LU of a full matrix by LAPACK, rows divided by their largest entry. See lu.h. */
#include <math.h>
#include <string.h>

#include "lu_priv.h"

enum { MAX_N = 20000 }; /* 3.2 GB */

typedef struct dense {
    lu_fac head;
    const lu_lapack *lib;
    int n;
    double *a;     /* [n * n] columns; the factors */
    double *scale; /* [n] 1 / largest entry of the row */
    double *y;     /* [n] right side */
    int *piv;      /* [n] */
} dense;

static void dense_free(lu_fac *fac)
{
    dense *d = (dense *)fac;
    vs_free(d->a);
    vs_free(d->scale);
    vs_free(d->y);
    vs_free(d->piv);
    vs_free(d);
}

static vs_status dense_analyze(lu_solver *lu, const csc *a, lu_fac **fac)
{
    const size_t n = (size_t)a->n;
    const lu_lapack *lib = lu_load_lapack();
    lu->stat.why = lib && a->n > MAX_N ? "it has too many unknowns" : NULL;
    if (!lib || a->n > MAX_N)
        return VS_EUNSUPPORTED;
    dense *d = vs_calloc(1, sizeof *d);
    *fac = &d->head;
    d->lib = lib;
    d->n = a->n;
    d->a = vs_try_realloc(NULL, sizeof(double) * (n * n + 1));
    if (!d->a)
        return VS_ENOMEM;
    d->scale = vs_malloc(sizeof(double) * (n + 1));
    d->y = vs_malloc(sizeof(double) * (n + 1));
    d->piv = vs_malloc(sizeof(int) * (n + 1));
    return lu_unmatched_column(a) >= 0 ? VS_ESINGULAR : VS_OK;
}

static void fill(dense *d, const csc *a)
{
    const size_t n = (size_t)d->n;
    memset(d->a, 0, sizeof(double) * n * n);
    memset(d->scale, 0, sizeof(double) * n);
    for (int32_t k = 0; k < csc_nnz(a); k++)
        if (!(fabs(a->val[k]) <= d->scale[a->row[k]]))
            d->scale[a->row[k]] = fabs(a->val[k]);
    for (size_t i = 0; i < n; i++)
        d->scale[i] = 1 / d->scale[i];
    for (size_t j = 0; j < n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            d->a[j * n + (size_t)a->row[k]] = a->val[k] * d->scale[a->row[k]];
}

static double pivot(const dense *d, int32_t k)
{
    return fabs(d->a[(size_t)k * (size_t)d->n + (size_t)k]);
}

static vs_status dense_factor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    dense *d = (dense *)fac;
    int info = 0;
    fill(d, a);
    lu_blas_begin(d->lib->blas);
    d->lib->getrf(&d->n, &d->n, d->a, &d->n, d->piv, &info);
    lu_blas_end(d->lib->blas);
    double least = INFINITY, most = 0;
    lu->stat.singular = info > 0 ? info - 1 : -1;
    for (int32_t k = 0; k < d->n; k++) {
        const double u = pivot(d, k);
        if (!(u > 0 && u < INFINITY)) {
            lu->stat.singular = lu->stat.singular < 0 ? k : lu->stat.singular;
            return VS_ESINGULAR;
        }
        least = fmin(least, u);
        most = fmax(most, u);
    }
    lu->stat.rcond = d->n ? least / most : 1;
    lu->stat.nnz_lu = (int32_t)fmin((double)d->n * (d->n + 1), INT32_MAX);
    lu->stat.work = (double)d->n * d->n * d->n / 3;
    lu->stat.method = "dense";
    return VS_OK;
}

static void dense_solve(lu_fac *fac, const double *b, double *x)
{
    dense *d = (dense *)fac;
    const int one = 1;
    int info;
    for (int32_t i = 0; i < d->n; i++)
        d->y[i] = b[i] * d->scale[i];
    lu_blas_begin(d->lib->blas);
    d->lib->getrs("N", &d->n, &one, d->a, &d->n, d->piv, d->y, &d->n, &info, 1);
    lu_blas_end(d->lib->blas);
    memcpy(x, d->y, sizeof(double) * (size_t)d->n);
}

static int32_t dense_weakest(const lu_fac *fac)
{
    const dense *d = (const dense *)fac;
    int32_t at = -1;
    for (int32_t k = 0; k < d->n; k++)
        if (at < 0 || pivot(d, k) < pivot(d, at))
            at = k;
    return at;
}

const lu_method lu_method_dense = {"dense",       dense_analyze, dense_factor, NULL, dense_solve,
                                   dense_weakest, dense_free,    NULL,         NULL, NULL,
                                   NULL,          NULL,          NULL};
