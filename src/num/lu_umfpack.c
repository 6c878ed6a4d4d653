/* lu_umfpack.c - LU by UMFPACK: a front of dense blocks, pivots chosen each time. See lu.h. */
#include <math.h>
#include <string.h>
#include <suitesparse/umfpack.h>

#include "heap.h"
#include "lu_priv.h"

typedef struct umfpack {
    lu_fac head;
    const lu_umf_calls *lib;
    const csc *a; /* the pattern; its values at a solution are not used */
    void *sym, *num;
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    double *x, *w;  /* [n], [n] */
    int *wi;        /* [n] */
    heap_owned own; /* sym, num */
} umfpack;

void lu_umf_settings(void (*defaults)(double *control), double pivot_tol, double *control)
{
    defaults(control);
    control[UMFPACK_SCALE] = UMFPACK_SCALE_MAX;
    control[UMFPACK_SYM_PIVOT_TOLERANCE] = pivot_tol;
    control[UMFPACK_IRSTEP] = 0; /* Newton and GMRES refine */
}

int32_t lu_umf_weakest(int32_t n, const double *size, const int *column)
{
    int32_t at = -1;
    for (int32_t k = 0; k < n && !(at >= 0 && isnan(size[at])); k++)
        if (at < 0 || !(size[k] >= size[at]))
            at = k;
    return at < 0 ? -1 : column[at];
}

/* What UMFPACK allocated, in the memory of the process. */
static void drop(void *what, size_t n)
{
    umfpack *u = what;
    (void)n;
    if (u->num)
        u->lib->free_numeric(&u->num);
    if (u->sym)
        u->lib->free_symbolic(&u->sym);
}

static void umf_free(lu_fac *fac)
{
    umfpack *u = (umfpack *)fac;
    heap_disown(&u->own);
    drop(u, 0);
    vs_free(u->x);
    vs_free(u->w);
    vs_free(u->wi);
    vs_free(u);
}

static vs_status umf_analyze(lu_solver *lu, const csc *a, lu_fac **fac)
{
    const size_t n = (size_t)a->n;
    const lu_umf_calls *lib = lu_load_umfpack();
    lu->stat.why = NULL;
    if (!lib)
        return VS_EUNSUPPORTED;
    umfpack *u = vs_calloc(1, sizeof *u);
    *fac = &u->head;
    u->lib = lib;
    heap_own(&u->own, drop, u);
    u->a = a;
    u->x = vs_malloc(sizeof(double) * (n + 1));
    u->w = vs_malloc(sizeof(double) * (n + 1));
    u->wi = vs_malloc(sizeof(int) * (n + 1));
    lu_umf_settings(lib->defaults, lu->opt.pivot_tol, u->control);
    if (lu_unmatched_column(a) >= 0)
        return VS_ESINGULAR;
    const int st = lib->symbolic(a->n, a->n, a->colptr, a->row, NULL, &u->sym, u->control, u->info);
    return st == UMFPACK_OK ? VS_OK : VS_ENOMEM;
}

/* The column whose |u_kk| is least; -1: there are no factors. */
static int32_t umf_weakest(const lu_fac *fac)
{
    umfpack *u = (umfpack *)(uintptr_t)fac; /* its calls take no const */
    const int n = u->a->n;
    double *d = vs_malloc(sizeof(double) * ((size_t)n + 1));
    int *q = vs_malloc(sizeof(int) * ((size_t)n + 1));
    int recip;
    int32_t at = -1;
    if (u->num && u->lib->get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, q, d, &recip, NULL,
                                      u->num) == UMFPACK_OK) {
        for (int32_t k = 0; k < n; k++)
            d[k] = fabs(d[k]);
        at = lu_umf_weakest(n, d, q);
    }
    vs_free(d);
    vs_free(q);
    return at;
}

static vs_status umf_factor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    umfpack *u = (umfpack *)fac;
    if (u->num)
        u->lib->free_numeric(&u->num);
    lu_blas_begin(u->lib->blas);
    const int st = u->lib->numeric(a->colptr, a->row, a->val, u->sym, &u->num, u->control, u->info);
    lu_blas_end(u->lib->blas);
    if (st < 0)
        return VS_ENOMEM;
    lu->stat.rcond = u->info[UMFPACK_RCOND];
    if (st != UMFPACK_OK || !(lu->stat.rcond > 0)) {
        lu->stat.singular = umf_weakest(fac);
        return VS_ESINGULAR;
    }
    lu->stat.nnz_lu = (int32_t)fmin(u->info[UMFPACK_LNZ] + u->info[UMFPACK_UNZ], INT32_MAX);
    lu->stat.work = u->info[UMFPACK_FLOPS] / 2;
    lu->stat.method = "umfpack";
    return VS_OK;
}

static void umf_solve(lu_fac *fac, const double *b, double *x)
{
    umfpack *u = (umfpack *)fac;
    lu_blas_begin(u->lib->blas);
    u->lib->wsolve(UMFPACK_A, u->a->colptr, u->a->row, u->a->val, u->x, b, u->num, u->control,
                   u->info, u->wi, u->w);
    lu_blas_end(u->lib->blas);
    memcpy(x, u->x, sizeof(double) * (size_t)u->a->n);
}

const lu_method lu_method_umfpack = {"umfpack",   umf_analyze, umf_factor, NULL, umf_solve,
                                     umf_weakest, umf_free,    NULL,       NULL, NULL,
                                     NULL,        NULL,        NULL};
