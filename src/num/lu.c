/* lu.c - chooses the method, recognises values that did not change, counts. See lu.h. */
#include "lu_priv.h"
#include "lu_tiny.h"
#include "pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/btf.h>

/* When LU_AUTO leaves KLU, measured on random, grid and circuit matrices (bench/RESULTS.md, LU
 * methods). It takes a dense matrix from this size on if KLU's work is above this share of
 * n^3/3. */
enum { DENSE_MIN_N = 100, DENSE_MAX_N = 5000 };
static const double DENSE_SHARE = 0.2;
/* From so many on entries of 0 are left out at rest. */
enum { REST_MIN_N = 1000 };

static const char *const kind_name[] = {
#define X(id, name) name,
    LU_KIND_LIST(X)
#undef X
};

const char *lu_kind_name(lu_kind k) { return kind_name[k]; }

int lu_kind_of(const char *name)
{
    for (int k = 0; k < LU_N_KIND; k++)
        if (!strcmp(kind_name[k], name))
            return k;
    return -1;
}

void lu_init(lu_solver *lu, const lu_opt *opt)
{
    *lu = (lu_solver){.opt = {.pivot_tol = 1e-3,
                              .rcond_drop = 1e-3,
                              .growth_min = 1e-8,
                              .share_from = 2e5,
                              .coarse_from = 2e6,
                              .cholesky_from = 5000}};
    if (opt)
        lu->opt = *opt;
    lu->stat.singular = -1;
    lu->stat.method = "";
}

static void drop(lu_fac **fac)
{
    lu_fac *f = *fac;
    if (!f)
        return;
    double *val = f->val;
    f->method->free(f);
    vs_free(val);
    *fac = NULL;
}

void lu_fini(lu_solver *lu) { drop(&lu->fac); }

int32_t lu_unmatched_column(const csc *a)
{
    size_t n = (size_t)a->n;
    int32_t *match = vs_malloc(sizeof(int32_t) * n), *work = vs_malloc(sizeof(int32_t) * 5 * n);
    bool *matched = vs_calloc(n + 1, sizeof(bool));
    int32_t col = 0;
    double flops;
    btf_maxtrans(a->n, a->n, a->colptr, a->row, 0, &flops, match, work);
    for (size_t i = 0; i < n; i++)
        if (match[i] >= 0)
            matched[match[i]] = true;
    while (col < a->n && matched[col])
        col++;
    vs_free(match);
    vs_free(work);
    vs_free(matched);
    return col < a->n ? col : -1;
}

/* Innards of a method for the pattern of a, in *fac. */
static vs_status start_method(lu_solver *lu, const lu_method *m, const csc *a, lu_fac **fac)
{
    *fac = NULL;
    const vs_status st = m->analyze(lu, a, fac);
    if (!*fac)
        return st;
    (*fac)->method = m;
    (*fac)->val = vs_malloc(sizeof(double) * (size_t)(csc_nnz(a) + 1));
    if (st != VS_OK)
        drop(fac);
    return st;
}

vs_status lu_analyze(lu_solver *lu, const csc *a)
{
    lu_fini(lu);
    if (lu->opt.brief && lu->opt.kind == LU_AUTO && a->n <= LU_TINY_MAX_N)
        lu->opt.kind = LU_KLU;
    const lu_method *m = lu->opt.kind == LU_UMFPACK    ? &lu_method_umfpack
                         : lu->opt.kind == LU_DENSE    ? &lu_method_dense
                         : lu->opt.kind == LU_CHOLESKY ? &lu_method_cholesky
                                                       : &lu_method_klu;
    const vs_status st = start_method(lu, m, a, &lu->fac);
    if (st == VS_ENOMEM)
        vs_no_memory();
    lu->stat.method = m->name;
    if (st == VS_ESINGULAR)
        lu->stat.singular = lu_unmatched_column(a);
    return st;
}

bool lu_can_restart(const lu_solver *lu)
{
    return lu->fac && lu->fac->method->forget &&
           (lu->opt.kind == LU_AUTO || lu->opt.kind == LU_KLU || lu->opt.kind == LU_TINY);
}

bool lu_restart(lu_solver *lu)
{
    lu_fac *f = lu->fac;
    if (!lu_can_restart(lu))
        return false;
    f->method->forget(f);
    f->have = f->spare = false;
    return true;
}

/* Factors that nothing went before are those that the next run would make from the same values: in
 * a linear circuit whose sources change. */
bool lu_forget(lu_solver *lu)
{
    lu_fac *f = lu->fac;
    const bool first = f && f->have && lu->stat.n_factor <= 1 && lu->stat.n_refactor == 0;
    if (first && f->method->forget) {
        f->have = false;
        f->spare = true;
        if (lu->stat.n_factor)
            f->first = lu->stat;
    }
    if (!(f && f->spare) && !lu_restart(lu))
        return false;
    lu->stat = (lu_stat){.singular = -1, .method = f->method->name};
    return true;
}

/* The values that are factored. */
static const double *factored_values(const lu_fac *f)
{
    const double *own = f->method->values ? f->method->values(f) : NULL;
    return own ? own : f->val;
}

static bool take_spare(lu_solver *lu, const csc *a)
{
    lu_fac *f = lu->fac;
    const size_t size = sizeof(double) * (size_t)csc_nnz(a);
    const bool same = f->spare && !memcmp(factored_values(f), a->val, size);
    if (f->spare && !same)
        f->method->forget(f);
    f->spare = false;
    if (!same)
        return false;
    lu_stat now = f->first;
    now.n_factor = lu->stat.n_factor;
    now.n_refactor = lu->stat.n_refactor;
    now.n_reuse = lu->stat.n_reuse + 1;
    now.n_solve = lu->stat.n_solve;
    lu->stat = now;
    return f->have = true;
}

/* There are factors of a; unless the method keeps its values, they come into f->val. */
static void remember_values(lu_fac *f, const csc *a)
{
    if (factored_values(f) == f->val)
        memcpy(f->val, a->val, sizeof(double) * (size_t)csc_nnz(a));
    f->have = true;
}

/* The method that suits KLU's first factors better; NULL: none. */
static const lu_method *better_method(const lu_solver *lu, const csc *a)
{
    const double n = a->n, dense = n * n * n / 3;
    if (lu->opt.kind != LU_AUTO || lu->fac->method != &lu_method_klu)
        return NULL;
    if (a->n >= DENSE_MIN_N && a->n <= DENSE_MAX_N && lu->stat.work > DENSE_SHARE * dense &&
        lu_load_lapack())
        return &lu_method_dense;
    if (lu->stat.work > LU_UMFPACK_WORK * lu->stat.nnz_lu && lu_load_umfpack())
        return &lu_method_umfpack;
    return NULL;
}

/* Goes over to another method if there is a better one and it can, also as to memory. */
static void reconsider(lu_solver *lu, const csc *a)
{
    const lu_method *m = better_method(lu, a);
    lu_fac *other;
    if (!m || start_method(lu, m, a, &other) != VS_OK)
        return;
    const lu_stat before = lu->stat;
    if (m->factor(lu, other, a) == VS_OK) {
        drop(&lu->fac);
        lu->fac = other;
    } else {
        lu->stat = before;
        drop(&other);
    }
}

/* Whether no diagonal is negative: a look that costs nothing, before CHOLMOD is asked. The diagonal
 * of a node at which there is nothing but a voltage source is 0. */
static bool may_be_definite(const csc *a)
{
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            if (a->row[k] == j && !(a->val[k] >= 0))
                return false;
    return true;
}

/* LU_AUTO, before the first factors of a large matrix: Cholesky if it can. True: there are its
 * factors. KLU's ordering stays until then. */
static bool try_cholesky(lu_solver *lu, const csc *a)
{
    lu_fac *f = lu->fac, *other;
    if (lu->opt.kind != LU_AUTO || f->method != &lu_method_klu || f->no_chol || lu->opt.lopsided ||
        a->n < lu->opt.cholesky_from)
        return false;
    f->no_chol = true; /* tried */
    if (!may_be_definite(a) || start_method(lu, &lu_method_cholesky, a, &other) != VS_OK)
        return false;
    const lu_stat before = lu->stat;
    if (other->method->factor(lu, other, a) != VS_OK) {
        lu->stat = before;
        drop(&other);
        return false;
    }
    lu->fac = other;
    drop(&f);
    return true;
}

/* Leaves Cholesky for KLU: the values are no longer symmetric or positive definite. */
static vs_status back_to_klu(lu_solver *lu, const csc *a)
{
    drop(&lu->fac);
    const vs_status st = start_method(lu, &lu_method_klu, a, &lu->fac);
    if (st != VS_OK)
        return st;
    lu->fac->no_chol = true;
    return lu->fac->method->factor(lu, lu->fac, a);
}

void lu_plan(lu_solver *lu, const csc *a)
{
    lu_fac *f = lu->fac;
    const bool chol = lu->opt.kind == LU_AUTO && !f->no_chol && !lu->opt.lopsided;
    if (pool_size(lu->opt.pool) > 1 && !pool_is_as_if(lu->opt.pool) &&
        f->method == &lu_method_klu && !f->have && !f->spare &&
        !(chol && a->n >= lu->opt.cholesky_from))
        lu_klu_plan(lu, f, a);
}

/* Back to the innards for the whole matrix, as lu_at_rest found them. */
static void leave_rest(lu_solver *lu)
{
    lu_fac *whole = lu_rest_whole(lu->fac);
    drop(&lu->fac);
    lu->fac = whole;
    lu->stat.method = whole->method->name;
}

void lu_at_rest(lu_solver *lu, const csc *a, bool yes)
{
    lu_fac *f = lu->fac;
    if (f->method == &lu_method_rest && !yes)
        leave_rest(lu);
    if (!yes || lu->opt.kind != LU_AUTO || f->method != &lu_method_klu || a->n < REST_MIN_N)
        return;
    if (!f->spare)
        (void)lu_restart(lu);
    lu->fac = lu_rest_new(lu);
    lu->fac->method = &lu_method_rest;
    lu->fac->val = vs_malloc(sizeof(double) * (size_t)(csc_nnz(a) + 1));
}

/* The first factors of this many unknowns may take a second or more, and further ones of this many
 * multiplications a tenth of it. */
enum { MANY_UNKNOWNS = 2000 };
static const double MUCH_WORK = 1e8;

static bool takes_long(const lu_solver *lu, const csc *a)
{
    return lu->opt.long_work &&
           (lu->stat.work > MUCH_WORK || (!lu->stat.n_factor && a->n >= MANY_UNKNOWNS));
}

static void tell(const lu_solver *lu, bool takes_long, bool begins)
{
    if (takes_long)
        lu->opt.long_work(lu->opt.long_user, begins);
}

/* By the present method, or by one that takes its place. */
static vs_status factor_somehow(lu_solver *lu, const csc *a)
{
    vs_status st = VS_EUNSUPPORTED;
    lu->fac->have = false;
    if (lu->fac->method == &lu_method_rest) {
        st = lu->fac->method->factor(lu, lu->fac, a);
        if (st != VS_EUNSUPPORTED)
            return st;
        leave_rest(lu);
        (void)lu_restart(lu);
    }
    if (try_cholesky(lu, a))
        return VS_OK;
    st = lu->fac->method->factor(lu, lu->fac, a);
    if ((st == VS_ESINGULAR || st == VS_EUNSUPPORTED) && lu->opt.kind == LU_AUTO &&
        lu->fac->method == &lu_method_cholesky)
        st = back_to_klu(lu, a);
    return st;
}

static vs_status factor_anew(lu_solver *lu, const csc *a)
{
    lu->stat.n_factor++;
    lu->stat.n_column += a->n;
    lu->stat.singular = -1;
    const vs_status st = factor_somehow(lu, a);
    if (st == VS_ENOMEM)
        vs_no_memory();
    if (st == VS_NOCONV)
        lu->stat.n_factor--; /* refused: there are none */
    if (st != VS_OK)
        return st;
    reconsider(lu, a);
    remember_values(lu->fac, a);
    return VS_OK;
}

vs_status lu_factor(lu_solver *lu, const csc *a)
{
    assert(lu->fac);
    if (lu->fac->method == &lu_method_rest && !lu_rest_suits(lu->fac, a))
        leave_rest(lu);
    if (take_spare(lu, a))
        return VS_OK;
    const bool takes = takes_long(lu, a);
    tell(lu, takes, true);
    const vs_status st = factor_anew(lu, a);
    tell(lu, takes, false);
    return st;
}

/* Whether the values of a are those that are factored; else they come into f->val, unless the
 * method keeps them. */
static bool same_values(lu_fac *f, const csc *a)
{
    const int32_t n = csc_nnz(a);
    const double *val = factored_values(f);
    int32_t k = f->other < n && val[f->other] != a->val[f->other] ? f->other : 0;
    while (k < n && val[k] == a->val[k])
        k++;
    if (k == n)
        return true;
    if (k == f->other) /* what is before it was not compared */
        k = 0;
    else
        f->other = k;
    if (val == f->val)
        memcpy(f->val + k, a->val + k, sizeof(double) * (size_t)(n - k));
    return false;
}

static vs_status factor_again(lu_solver *lu, lu_fac *f, const csc *a)
{
    const vs_status st = f->method->factor(lu, f, a);
    if (st == VS_ENOMEM)
        vs_no_memory();
    return st == VS_OK ? VS_OK : VS_REPIVOT; /* lu_factor says why, or takes another method */
}

/* The factors of a, whose values are taken. */
static vs_status refactor_all(lu_solver *lu, const csc *a)
{
    lu_fac *f = lu->fac;
    f->made = a->n;
    const bool takes = takes_long(lu, a), kept = factored_values(f) != f->val;
    tell(lu, takes, true);
    const vs_status st =
        f->method->refactor ? f->method->refactor(lu, f, a) : factor_again(lu, f, a);
    tell(lu, takes, false);
    f->have = st == VS_OK;
    if (kept && f->have)
        remember_values(f, a);
    lu->stat.n_refactor += f->made > 0;
    lu->stat.n_column += f->made;
    return st;
}

vs_status lu_refactor(lu_solver *lu, const csc *a)
{
    lu_fac *f = lu->fac;
    assert(f);
    if (!f->have)
        return VS_REPIVOT;
    if (same_values(f, a)) {
        lu->stat.n_reuse++;
        return VS_OK;
    }
    return refactor_all(lu, a);
}

/* Gives lu innards of the method of this name, unless it has them. */
static vs_status take_method(lu_solver *lu, const csc *a, const char *name)
{
    static const lu_method *const all[] = {&lu_method_klu, &lu_method_umfpack, &lu_method_dense,
                                           &lu_method_cholesky};
    lu_fac *other;
    if (!strcmp(lu->fac->method->name, name))
        return VS_OK;
    for (size_t i = 0; i < VS_COUNT(all); i++)
        if (!strcmp(all[i]->name, name)) {
            const vs_status st = start_method(lu, all[i], a, &other);
            if (st != VS_OK)
                return st;
            drop(&lu->fac);
            lu->fac = other;
            return VS_OK;
        }
    return VS_EUNSUPPORTED;
}

static vs_status give_factors(lu_solver *lu, const csc *a, image *im)
{
    lu_fac *f = lu->fac;
    csc now = *a;
    now.val = f->val;
    f->have = f->spare = false;
    if (im->giving && !f->method->image)
        return f->method->factor(lu, f, &now);
    return f->method->image ? f->method->image(lu, f, &now, im) : VS_OK;
}

vs_status lu_image(lu_solver *lu, const csc *a, image *im)
{
    static const char none[] = "the matrix cannot be factored by the same method here";
    lu_stat stat = lu->stat;
    bool have = lu->fac->have, no_chol = lu->fac->no_chol;
    char *name = image_text(im, lu->fac->method->name);
    IMAGE_ONE(im, have);
    IMAGE_ONE(im, no_chol);
    IMAGE_COUNTED(im, stat.n_factor);
    IMAGE_COUNTED(im, stat.n_refactor);
    IMAGE_COUNTED(im, stat.n_reuse);
    IMAGE_COUNTED(im, stat.n_solve);
    IMAGE_ONE(im, stat.rcond);
    vs_status st = im->giving && name ? take_method(lu, a, name) : VS_OK;
    vs_free(name);
    if (st == VS_OK && have) {
        if (!im->giving && factored_values(lu->fac) != lu->fac->val)
            memcpy(lu->fac->val, factored_values(lu->fac), sizeof(double) * (size_t)csc_nnz(a));
        IMAGE_ARRAY(im, lu->fac->val, csc_nnz(a));
        st = im->wrong ? VS_OK : give_factors(lu, a, im);
    }
    lu->fac->have = have && st == VS_OK && !im->wrong;
    lu->fac->no_chol = no_chol;
    if (st != VS_OK && !im->wrong)
        im->wrong = none;
    stat.method = lu->stat.method;
    stat.nnz_lu = lu->stat.nnz_lu;
    stat.work = lu->stat.work;
    lu->stat = stat;
    return im->wrong ? VS_EINPUT : VS_OK;
}

void lu_solve(lu_solver *lu, const double *b, double *x)
{
    lu_fac *f = lu->fac;
    assert(f && f->have);
    lu->stat.n_solve++;
    f->method->solve(f, b, x);
}

void lu_solve_coarse(lu_solver *lu, const double *b, double *x)
{
    lu_fac *f = lu->fac;
    if (!f->method->solve_coarse || lu->stat.nnz_lu < lu->opt.coarse_from) {
        lu_solve(lu, b, x);
        return;
    }
    assert(f->have);
    lu->stat.n_solve++;
    f->method->solve_coarse(f, b, x);
}

vs_status lu_refactor_part(lu_solver *lu, const csc *a, const lu_part *p)
{
    lu_fac *f = lu->fac;
    if (!f->have || !f->method->refactor_part)
        return lu_refactor(lu, a);
    f->val[0] = NAN; /* a whole refactorisation finds other values */
    if (!f->method->refactor_part(lu, f, a, p)) {
        remember_values(f, a);
        return refactor_all(lu, a); /* also where the method has all values of a: they failed */
    }
    lu->stat.n_refactor++;
    lu->stat.n_column += f->made;
    return VS_OK;
}

/* Solves for all unknowns, where the method knows no parts. */
static void solve_all(lu_solver *lu, lu_part *p, const double *b, double *x, int32_t n)
{
    memset(p->work, 0, sizeof *p->work * (size_t)n);
    for (int32_t k = 0; k < p->n; k++)
        if (p->column[k] >= 0)
            p->work[p->column[k]] = b[k];
    lu->fac->method->solve(lu->fac, p->work, p->work);
    for (int32_t j = 0; j < n; j++)
        if (!p->in[j] && !(fabs(p->work[j]) <= p->drop[j])) {
            p->value[p->n_found] = p->work[j];
            p->found[p->n_found++] = j;
        }
    for (int32_t k = 0; k < p->n; k++)
        x[k] = p->column[k] >= 0 ? p->work[p->column[k]] : 0;
}

void lu_solve_part(lu_solver *lu, lu_part *p, const double *b, double *x)
{
    lu_fac *f = lu->fac;
    assert(f && f->have);
    lu->stat.n_solve++;
    p->n_found = 0;
    if (!f->method->solve_part || !f->method->solve_part(f, p, b, x))
        solve_all(lu, p, b, x, p->n_column);
}

bool lu_is_ready(const lu_solver *lu) { return lu->fac && lu->fac->have; }

int32_t lu_weakest(const lu_solver *lu)
{
    const lu_fac *f = lu->fac;
    return f && f->have ? f->method->weakest(f) : -1;
}

bool lu_is_cholesky(const lu_solver *lu)
{
    const lu_fac *f = lu->fac;
    return f && (f->method == &lu_method_cholesky ||
                 (f->method == &lu_method_rest && lu_rest_is_cholesky(f)));
}
