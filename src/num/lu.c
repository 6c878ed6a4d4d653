/* lu.c - see lu.h. */
#include "lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "lu_tiny.h"

struct lu_fac {
    klu_common common;
    klu_symbolic *sym;
    klu_numeric *num;
    lu_tiny *tiny;      /* not NULL: its factors are the present ones; num has the pivots */
    double *val;        /* [nnz] the values that are factored */
    double rcond_pivot; /* rcond when the pivots were chosen, or last found good */
};

void lu_init(lu_solver *lu, const lu_opt *opt)
{
    *lu = (lu_solver){.opt = {.pivot_tol = 1e-3, .rcond_drop = 1e-3, .growth_min = 1e-8}};
    if (opt)
        lu->opt = *opt;
    lu->stat.singular = -1;
}

static void free_numeric(struct lu_fac *f)
{
    lu_tiny_free(&f->tiny);
    if (f->num)
        klu_free_numeric(&f->num, &f->common);
}

void lu_fini(lu_solver *lu)
{
    struct lu_fac *f = lu->fac;
    if (!f)
        return;
    free_numeric(f);
    if (f->sym)
        klu_free_symbolic(&f->sym, &f->common);
    free(f->val);
    free(f);
    lu->fac = NULL;
}

/* The first column that a maximum matching of columns with rows leaves out; -1 if none or no memory. */
static int32_t unmatched_column(const csc *a)
{
    size_t n = (size_t)a->n;
    int32_t *match = malloc(sizeof(int32_t) * n), *work = malloc(sizeof(int32_t) * 5 * n);
    bool *matched = calloc(n + 1, sizeof(bool));
    int32_t col = -1;
    if (match && work && matched) {
        double flops;
        btf_maxtrans(a->n, a->n, a->colptr, a->row, 0, &flops, match, work);
        for (size_t i = 0; i < n; i++)
            if (match[i] >= 0)
                matched[match[i]] = true;
        col = 0;
        while (col < a->n && matched[col])
            col++;
        if (col == a->n)
            col = -1;
    }
    free(match);
    free(work);
    free(matched);
    return col;
}

vs_status lu_analyze(lu_solver *lu, const csc *a)
{
    lu_fini(lu);
    struct lu_fac *f = lu->fac = calloc(1, sizeof *f);
    if (!f)
        return VS_ENOMEM;
    klu_defaults(&f->common);
    f->common.tol = lu->opt.pivot_tol;
    f->common.scale = 2; /* rows by their largest entry: currents and voltages differ by decades */
    f->val = malloc(sizeof(double) * (size_t)(csc_nnz(a) + 1));
    f->sym = klu_analyze(a->n, a->colptr, a->row, &f->common);
    if (!f->sym || !f->val)
        return f->common.status == KLU_SINGULAR ? VS_ESINGULAR : VS_ENOMEM;
    if (f->sym->structural_rank >= 0 && f->sym->structural_rank < a->n) {
        lu->stat.singular = unmatched_column(a);
        return VS_ESINGULAR;
    }
    return VS_OK;
}

static void remember_values(struct lu_fac *f, const csc *a)
{
    memcpy(f->val, a->val, sizeof(double) * (size_t)csc_nnz(a));
}

vs_status lu_factor(lu_solver *lu, const csc *a)
{
    struct lu_fac *f = lu->fac;
    assert(f && f->sym && f->sym->n == a->n);
    free_numeric(f);
    f->num = klu_factor(a->colptr, a->row, a->val, f->sym, &f->common);
    lu->stat.n_factor++;
    if (!f->num) {
        if (f->common.status != KLU_SINGULAR)
            return VS_ENOMEM;
        int col = f->common.singular_col;
        lu->stat.singular = col >= 0 && col < a->n ? col : -1;
        return VS_ESINGULAR;
    }
    remember_values(f, a);
    klu_rcond(f->sym, f->num, &f->common);
    lu->stat.rcond = f->rcond_pivot = f->common.rcond;
    lu->stat.nnz_lu = f->num->lnz + f->num->unz;
    if (!lu->opt.no_tiny)
        f->tiny = lu_tiny_new(a, f->num->Pnum, f->sym->Q, f->num->Rs);
    if (f->tiny && !(lu_tiny_factor(f->tiny, a) > 0))
        lu_tiny_free(&f->tiny);
    return VS_OK;
}

/* The old pivots are good if the diagonal of U did not become much more uneven, or else if its
 * entries are not much larger than those of A (reciprocal growth). */
static bool pivots_are_good(lu_solver *lu, const csc *a)
{
    struct lu_fac *f = lu->fac;
    klu_rcond(f->sym, f->num, &f->common);
    lu->stat.rcond = f->common.rcond;
    if (!(f->common.rcond > 0))
        return false;
    if (f->common.rcond >= lu->opt.rcond_drop * f->rcond_pivot)
        return true;
    klu_rgrowth(a->colptr, a->row, a->val, f->sym, f->num, &f->common);
    if (!(f->common.rgrowth >= lu->opt.growth_min))
        return false;
    f->rcond_pivot = f->common.rcond;
    return true;
}

/* Takes the values of a into f->val; true if they are those that were there. */
static bool same_values(struct lu_fac *f, const csc *a)
{
    const int32_t n = csc_nnz(a);
    int32_t k = 0;
    while (k < n && f->val[k] == a->val[k])
        k++;
    if (k == n)
        return true;
    memcpy(f->val + k, a->val + k, sizeof(double) * (size_t)(n - k));
    return false;
}

/* Whether the list of operations gave factors whose pivots need no closer look. */
static bool tiny_is_good(lu_solver *lu, const csc *a)
{
    struct lu_fac *f = lu->fac;
    if (!f->tiny)
        return false;
    lu->stat.rcond = lu_tiny_factor(f->tiny, a);
    if (!(lu->stat.rcond > 0))
        lu_tiny_free(&f->tiny);
    return lu->stat.rcond > 0 && lu->stat.rcond >= lu->opt.rcond_drop * f->rcond_pivot;
}

vs_status lu_refactor(lu_solver *lu, const csc *a)
{
    struct lu_fac *f = lu->fac;
    assert(f && f->sym && f->sym->n == a->n);
    if (!f->num)
        return VS_REPIVOT;
    if (same_values(f, a)) {
        lu->stat.n_reuse++;
        return VS_OK;
    }
    lu->stat.n_refactor++;
    if (tiny_is_good(lu, a))
        return VS_OK;
    int ok = klu_refactor(a->colptr, a->row, a->val, f->sym, f->num, &f->common);
    if (!ok || f->common.status != KLU_OK || !pivots_are_good(lu, a)) {
        free_numeric(f);
        return VS_REPIVOT;
    }
    if (f->tiny)
        lu_tiny_set_scale(f->tiny, f->num->Rs);
    return VS_OK;
}

void lu_solve(lu_solver *lu, const double *b, double *x)
{
    struct lu_fac *f = lu->fac;
    assert(f && f->num);
    lu->stat.n_solve++;
    if (f->tiny) {
        lu_tiny_solve(f->tiny, b, x);
        return;
    }
    if (x != b)
        memcpy(x, b, sizeof(double) * (size_t)f->sym->n);
    klu_solve(f->sym, f->num, f->sym->n, 1, x, &f->common);
}

int32_t lu_weakest(const lu_solver *lu)
{
    const struct lu_fac *f = lu->fac;
    if (!f || !f->num)
        return -1;
    if (f->tiny)
        return lu_tiny_weakest(f->tiny);
    const double *u = f->num->Udiag;
    int32_t at = -1;
    for (int32_t k = 0; k < f->sym->n; k++)
        if (at < 0 || fabs(u[k]) < fabs(u[at]))
            at = k;
    return at < 0 ? -1 : f->sym->Q[at];
}
