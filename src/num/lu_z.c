/* lu_z.c - see lu_z.h. */
#include "lu_z.h"

#include <math.h>
#include <string.h>
#include <suitesparse/klu.h>
#include <suitesparse/umfpack.h>

#include "heap.h"
#include "lu_priv.h"

static const double growth_min = 1e-6; /* old pivots are good above this reciprocal growth */
static const double much_work = 2e7;   /* multiplications that may take a tenth of a second */

struct lu_z_fac {
    klu_common common;
    klu_symbolic *sym, *own_sym; /* that may be another one's; NULL then */
    klu_numeric *num;
    const csc *a;
    const lu_umfz_calls *umf; /* NULL: KLU */
    void *umf_sym, *umf_num;
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    double *x, *w;  /* [2n], [8n] for UMFPACK's solutions */
    int *wi;        /* [n] */
    heap_owned own; /* sym, num, umf_sym, umf_num */
};

void lu_z_init(lu_z *lu) { *lu = (lu_z){.singular = -1, .umfpack_from = LU_UMFPACK_WORK}; }

/* What the libraries allocated, in the memory of the process. */
static void drop(void *what, size_t n)
{
    struct lu_z_fac *f = what;
    (void)n;
    if (f->umf_num)
        f->umf->free_numeric(&f->umf_num);
    if (f->umf_sym)
        f->umf->free_symbolic(&f->umf_sym);
    if (f->num)
        klu_z_free_numeric(&f->num, &f->common);
    if (f->own_sym)
        klu_free_symbolic(&f->own_sym, &f->common);
}

void lu_z_fini(lu_z *lu)
{
    struct lu_z_fac *f = lu->fac;
    if (!f)
        return;
    heap_disown(&f->own);
    drop(f, 0);
    vs_free(f->x);
    vs_free(f->w);
    vs_free(f->wi);
    vs_free(f);
    lu->fac = NULL;
}

/* Multiplications of factors with pivots on the diagonal. */
static double expected_work(const struct lu_z_fac *f) { return f->sym->est_flops / 2; }

/* -- UMFPACK -- */

static void start_umfpack(struct lu_z_fac *f)
{
    const size_t n = (size_t)f->a->n;
    f->umf = lu_load_umfpack_z();
    if (!f->umf)
        return;
    f->x = vs_malloc(sizeof(double) * (2 * n + 1));
    f->w = vs_malloc(sizeof(double) * (8 * n + 1));
    f->wi = vs_malloc(sizeof(int) * (n + 1));
    lu_umf_settings(f->umf->defaults, f->common.tol, f->control);
    f->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC; /* patterns of circuits nearly are */
    if (f->umf->symbolic(f->a->n, f->a->n, f->a->colptr, f->a->row, NULL, NULL, &f->umf_sym,
                         f->control, f->info) != UMFPACK_OK)
        vs_no_memory();
}

/* The column whose |u_kk| is least; -1: there are no factors. */
static int32_t weakest(struct lu_z_fac *f)
{
    const int32_t n = f->a->n;
    double *d = vs_malloc(2 * sizeof(double) * ((size_t)n + 1));
    int *q = vs_malloc(sizeof(int) * ((size_t)n + 1));
    int recip;
    int32_t at = -1;
    if (f->umf_num && f->umf->get_numeric(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, q,
                                          d, NULL, &recip, NULL, f->umf_num) == UMFPACK_OK) {
        for (int32_t k = 0; k < n; k++)
            d[k] = hypot(d[2 * k], d[2 * k + 1]);
        at = lu_umf_weakest(n, d, q);
    }
    vs_free(d);
    vs_free(q);
    return at;
}

static vs_status factor_umfpack(lu_z *lu, const double *val)
{
    struct lu_z_fac *f = lu->fac;
    if (f->umf_num)
        f->umf->free_numeric(&f->umf_num);
    lu_blas_begin(f->umf->blas);
    const int st = f->umf->numeric(f->a->colptr, f->a->row, val, NULL, f->umf_sym, &f->umf_num,
                                   f->control, f->info);
    lu_blas_end(f->umf->blas);
    if (st < 0)
        vs_no_memory();
    lu->n_factor++;
    if (st == UMFPACK_OK && f->info[UMFPACK_RCOND] > 0)
        return VS_OK;
    lu->singular = weakest(f);
    return VS_ESINGULAR;
}

static void solve_umfpack(struct lu_z_fac *f, int system, double *x)
{
    lu_blas_begin(f->umf->blas);
    f->umf->wsolve(system, NULL, NULL, NULL, NULL, f->x, NULL, x, NULL, f->umf_num, f->control,
                   f->info, f->wi, f->w);
    lu_blas_end(f->umf->blas);
    memcpy(x, f->x, 2 * sizeof(double) * (size_t)f->a->n);
}

/* -- KLU -- */

static struct lu_z_fac *make(lu_z *lu, const csc *a)
{
    lu_z_fini(lu);
    struct lu_z_fac *f = lu->fac = vs_calloc(1, sizeof *f);
    heap_own(&f->own, drop, f);
    klu_defaults(&f->common);
    f->common.tol = 1e-3; /* as lu.h */
    f->common.scale = 2;
    f->a = a;
    return f;
}

vs_status lu_z_analyze(lu_z *lu, const csc *a)
{
    struct lu_z_fac *f = make(lu, a);
    f->sym = f->own_sym = klu_analyze(a->n, a->colptr, a->row, &f->common);
    if (!f->sym && f->common.status != KLU_SINGULAR)
        vs_no_memory();
    if (!f->sym || (f->sym->structural_rank >= 0 && f->sym->structural_rank < a->n))
        return VS_ESINGULAR;
    if (expected_work(f) > lu->umfpack_from * (f->sym->lnz + f->sym->unz))
        start_umfpack(f);
    return VS_OK;
}

void lu_z_share(lu_z *lu, const lu_z *of)
{
    struct lu_z_fac *f = make(lu, of->fac->a);
    f->sym = of->fac->sym;
    if (of->fac->umf)
        start_umfpack(f);
}

double lu_z_bytes(const lu_z *lu)
{
    /* KLU: values with an index each; those outside of blocks; vectors, also for scratch */
    const struct lu_z_fac *f = lu->fac;
    return 20.0 * (f->sym->lnz + f->sym->unz) + 16.0 * f->a->colptr[f->a->n] + 130.0 * f->a->n;
}

/* New values, old pivots; false: the pivots are no longer good. */
static bool refactor(struct lu_z_fac *f, double *val)
{
    if (!f->num)
        return false;
    return klu_z_refactor(f->a->colptr, f->a->row, val, f->sym, f->num, &f->common) &&
           f->common.status == KLU_OK &&
           klu_z_rgrowth(f->a->colptr, f->a->row, val, f->sym, f->num, &f->common) &&
           f->common.rgrowth >= growth_min;
}

/* New pivots: on the diagonal where they do not grow there, else the largest of each column. */
static void choose_pivots(struct lu_z_fac *f, double *val)
{
    const double usual = f->common.tol;
    for (int pass = 0; pass < 2; pass++) {
        if (f->num)
            klu_z_free_numeric(&f->num, &f->common);
        f->common.tol = pass ? 1 : usual;
        f->num = klu_z_factor(f->a->colptr, f->a->row, val, f->sym, &f->common);
        if (!f->num || !klu_z_rgrowth(f->a->colptr, f->a->row, val, f->sym, f->num, &f->common) ||
            f->common.rgrowth >= growth_min)
            break;
    }
    f->common.tol = usual;
}

static vs_status factor_klu(lu_z *lu, const double *values)
{
    struct lu_z_fac *f = lu->fac;
    double *val = (double *)(uintptr_t)values; /* KLU does not change it */
    if (refactor(f, val)) {
        lu->n_refactor++;
        return VS_OK;
    }
    choose_pivots(f, val);
    lu->n_factor++;
    if (f->num)
        return VS_OK;
    if (f->common.status != KLU_SINGULAR)
        vs_no_memory();
    lu->singular = f->common.singular_col >= 0 && f->common.singular_col < f->a->n
                       ? f->common.singular_col
                       : -1;
    return VS_ESINGULAR;
}

vs_status lu_z_factor(lu_z *lu, const double *val)
{
    const struct lu_z_fac *f = lu->fac;
    assert(f && f->sym);
    const bool takes_long = lu->long_work && expected_work(f) > much_work;
    if (takes_long)
        lu->long_work(lu->long_user, true);
    const vs_status st = f->umf ? factor_umfpack(lu, val) : factor_klu(lu, val);
    if (takes_long)
        lu->long_work(lu->long_user, false);
    return st;
}

void lu_z_solve(lu_z *lu, double *x)
{
    struct lu_z_fac *f = lu->fac;
    assert(f && (f->num || f->umf_num));
    if (f->umf)
        solve_umfpack(f, UMFPACK_A, x);
    else
        klu_z_solve(f->sym, f->num, f->sym->n, 1, x, &f->common);
}

void lu_z_solve_t(lu_z *lu, double *x)
{
    struct lu_z_fac *f = lu->fac;
    assert(f && (f->num || f->umf_num));
    if (f->umf)
        solve_umfpack(f, UMFPACK_Aat, x);
    else
        klu_z_tsolve(f->sym, f->num, f->sym->n, 1, x, 0, &f->common);
}
