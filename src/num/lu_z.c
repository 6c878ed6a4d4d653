/* lu_z.c - see lu_z.h. */
#include "lu_z.h"

#include <suitesparse/klu.h>

#include "heap.h"

static const double growth_min = 1e-6; /* old pivots are good above this reciprocal growth */

struct lu_z_fac {
    klu_common common;
    klu_symbolic *sym;
    klu_numeric *num;
    const csc *a;
    heap_owned own; /* sym, num */
};

void lu_z_init(lu_z *lu) { *lu = (lu_z){.singular = -1}; }

/* What KLU allocated, in the memory of the process. */
static void drop(void *what, size_t n)
{
    struct lu_z_fac *f = what;
    (void)n;
    if (f->num)
        klu_z_free_numeric(&f->num, &f->common);
    if (f->sym)
        klu_free_symbolic(&f->sym, &f->common);
}

void lu_z_fini(lu_z *lu)
{
    struct lu_z_fac *f = lu->fac;
    if (!f)
        return;
    heap_disown(&f->own);
    drop(f, 0);
    vs_free(f);
    lu->fac = NULL;
}

vs_status lu_z_analyze(lu_z *lu, const csc *a)
{
    lu_z_fini(lu);
    struct lu_z_fac *f = lu->fac = vs_calloc(1, sizeof *f);
    heap_own(&f->own, drop, f);
    klu_defaults(&f->common);
    f->common.tol = 1e-3; /* as lu.h */
    f->common.scale = 2;
    f->a = a;
    f->sym = klu_analyze(a->n, a->colptr, a->row, &f->common);
    if (!f->sym && f->common.status != KLU_SINGULAR)
        vs_no_memory();
    if (!f->sym)
        return VS_ESINGULAR;
    return f->sym->structural_rank >= 0 && f->sym->structural_rank < a->n ? VS_ESINGULAR : VS_OK;
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

vs_status lu_z_factor(lu_z *lu, const double *values)
{
    struct lu_z_fac *f = lu->fac;
    double *val = (double *)(uintptr_t)values; /* KLU does not change it */
    assert(f && f->sym);
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

void lu_z_solve(lu_z *lu, double *x)
{
    struct lu_z_fac *f = lu->fac;
    assert(f && f->num);
    klu_z_solve(f->sym, f->num, f->sym->n, 1, x, &f->common);
}

void lu_z_solve_t(lu_z *lu, double *x)
{
    struct lu_z_fac *f = lu->fac;
    assert(f && f->num);
    klu_z_tsolve(f->sym, f->num, f->sym->n, 1, x, 0, &f->common);
}
