/* lu_chol.c - Cholesky factors of what is symmetric and positive definite: meshes of resistors and
 * capacitors. CHOLMOD orders and analyzes; supernodes are factored by lu_ll.c, sparser factors by
 * CHOLMOD. See lu.h.
 *
 * Sources of voltage make rows and columns with one unknown: by block triangular form these stand
 * before and behind the mesh and are substituted. What is left must be one block whose rows and
 * columns are the same unknowns. That takes half of the work and memory of an LU, in dense fronts.
 * Source: Chen, Davis, Hager & Rajamanickam, "Algorithm 887: CHOLMOD", ACM TOMS 35(3), 2008. */
#include <math.h>
#include <string.h>
#include <suitesparse/btf.h>
#include <suitesparse/cholmod.h>

#include "heap.h"
#include "lu_kept.h"
#include "lu_ll.h"

#define SYMMETRIC (4 * 2.2e-16) /* relative difference of an entry and its mirror */

typedef struct chol {
    lu_fac head;
    const lu_chol_calls *lib;
    const csc *a;          /* the pattern; values are those of head.val */
    int32_t n, begin, end; /* columns [begin, end) of the order below are the block */
    int32_t *row, *col;    /* [n] row and column of the k-th pivot */
    int32_t *place;        /* [n] k of a row */
    int32_t *from;         /* [entries of the block's lower half] into the values, */
    int32_t *mirror;       /* and the place of each one's mirror */
    double *y, *b;         /* [n] */
    cholmod_common common;
    cholmod_sparse s;  /* lower half of the block; its arrays are ours */
    cholmod_factor *l; /* symbolic, if ll is in use */
    bool has_ll;
    lu_ll ll;
    lu_kept kept;               /* of other matrices, if has_ll */
    int32_t *to;                /* places in ll.val of what `from` lists */
    cholmod_dense *x, *work[2]; /* of solutions */
    bool started;
    heap_owned own; /* what CHOLMOD allocated */
} chol;

static void drop(void *what, size_t n)
{
    chol *c = what;
    (void)n;
    if (!c->started)
        return;
    c->lib->free_factor(&c->l, &c->common);
    c->lib->free_dense(&c->x, &c->common);
    for (int k = 0; k < 2; k++)
        c->lib->free_dense(&c->work[k], &c->common);
    c->lib->finish(&c->common);
    c->started = false;
}

static void chol_free(lu_fac *fac)
{
    chol *c = (chol *)fac;
    void *all[] = {c->row, c->col, c->place, c->from, c->mirror, c->y,
                   c->b,   c->s.p, c->s.i,   c->s.x,  c->to};
    heap_disown(&c->own);
    lu_ll_fini(&c->ll);
    lu_kept_fini(&c->kept);
    drop(c, 0);
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vs_free(c);
}

/* Order of the pivots; false: the matrix does not have the form that is told above. */
static bool find_block(chol *c)
{
    const int32_t n = c->n;
    int32_t *bounds = vs_malloc(sizeof(int32_t) * ((size_t)n + 2));
    int32_t *work = vs_malloc(sizeof(int32_t) * (5 * (size_t)n + 1)), matched, large = 0;
    double flops;
    const int32_t blocks =
        btf_order(n, c->a->colptr, c->a->row, 0, &flops, c->row, c->col, bounds, &matched, work);
    for (int32_t k = 0; k < blocks; k++)
        if (bounds[k + 1] - bounds[k] > 1) {
            large++;
            c->begin = bounds[k];
            c->end = bounds[k + 1];
        }
    bool good = matched == n && large == 1;
    /* the same unknowns in rows and columns, then each row at its column's place */
    memset(work, 0, sizeof(int32_t) * (size_t)n);
    for (int32_t k = c->begin; k < c->end && good; k++)
        work[c->col[k]] = 1;
    for (int32_t k = c->begin; k < c->end && good; k++)
        good = work[c->row[k]] == 1;
    for (int32_t k = c->begin; k < c->end && good; k++)
        c->row[k] = c->col[k];
    for (int32_t k = 0; k < n && good; k++)
        c->place[c->row[k]] = k;
    vs_free(bounds);
    vs_free(work);
    return good;
}

/* The lower half of the block. false: its pattern is not symmetric. */
static bool make_half(chol *c)
{
    const csc *a = c->a;
    const size_t size = (size_t)(c->end - c->begin), most = (size_t)csc_nnz(a) + 1;
    int32_t *p = c->s.p = vs_calloc(size + 1, sizeof *p), nnz = 0, above = 0, below = 0;
    int32_t *i = c->s.i = vs_malloc(most * sizeof *i);
    c->from = vs_malloc(most * sizeof *c->from);
    c->mirror = vs_malloc(most * sizeof *c->mirror);
    for (int32_t j = c->begin; j < c->end; j++) {
        for (int32_t k = a->colptr[c->col[j]]; k < a->colptr[c->col[j] + 1]; k++) {
            const int32_t r = c->place[a->row[k]];
            above += r >= c->begin && r < j;
            if (r < j || r >= c->end)
                continue;
            below += r > j;
            const int32_t m = csc_find(a, c->col[j], c->col[r]);
            if (m < 0)
                return false;
            i[nnz] = r - c->begin;
            c->from[nnz] = k;
            c->mirror[nnz++] = m;
        }
        p[j - c->begin + 1] = nnz;
    }
    if (above != below) /* each below has its mirror; some above have none */
        return false;
    c->s.x = vs_malloc(((size_t)nnz + 1) * sizeof(double));
    c->s.nrow = c->s.ncol = size;
    c->s.nzmax = (size_t)nnz;
    c->s.stype = -1;
    c->s.itype = CHOLMOD_INT;
    c->s.xtype = CHOLMOD_REAL;
    c->s.dtype = CHOLMOD_DOUBLE;
    c->s.packed = 1;
    return true;
}

/* Supernodes, where CHOLMOD has found that they pay. */
static void make_blocks(chol *c)
{
    const cholmod_factor *l = c->l;
    if (!l->is_super || l->itype != CHOLMOD_INT || l->xsize > INT32_MAX)
        return;
    lu_ll_init(&c->ll, (int32_t)l->n, (int32_t)l->nsuper, l->super, l->pi, l->s, l->px, l->maxcsize,
               &c->lib->dense);
    c->has_ll = true;
    lu_kept_init(&c->kept, (size_t)csc_nnz(c->a), lu_ll_size(&c->ll));
    const int32_t *perm = l->Perm, *p = c->s.p, *i = c->s.i;
    int32_t *at = vs_malloc((l->n + 1) * sizeof *at); /* in the order of the factors */
    for (int32_t k = 0; k < (int32_t)l->n; k++)
        at[perm[k]] = k;
    c->to = vs_malloc((c->s.nzmax + 1) * sizeof *c->to);
    for (int32_t j = 0; j < (int32_t)l->n; j++)
        for (int32_t k = p[j]; k < p[j + 1]; k++) {
            const int32_t a = at[i[k]], b = at[j];
            c->to[k] = lu_ll_at(&c->ll, a > b ? a : b, a > b ? b : a);
        }
    vs_free(at);
}

static vs_status chol_analyze(lu_solver *lu, const csc *a, lu_fac **fac)
{
    const size_t n = (size_t)a->n;
    const lu_chol_calls *lib = lu_load_cholmod();
    lu->stat.why = NULL;
    if (!lib)
        return VS_EUNSUPPORTED;
    chol *c = vs_calloc(1, sizeof *c);
    *fac = &c->head;
    c->lib = lib;
    c->a = a;
    c->n = a->n;
    c->row = vs_malloc((n + 1) * sizeof *c->row);
    c->col = vs_malloc((n + 1) * sizeof *c->col);
    c->place = vs_malloc((n + 1) * sizeof *c->place);
    c->y = vs_malloc((n + 1) * sizeof *c->y);
    c->b = vs_malloc((n + 1) * sizeof *c->b);
    heap_own(&c->own, drop, c);
    if (!find_block(c))
        lu->stat.why = "it is not one symmetric block beside rows of one unknown";
    else if (!make_half(c))
        lu->stat.why = "it is not symmetric";
    return lu->stat.why ? VS_EUNSUPPORTED : VS_OK;
}

/* CHOLMOD's order and supernodes, for the first matrix whose values suit. */
static vs_status begin_factors(chol *c)
{
    c->lib->start(&c->common);
    c->started = true;
    c->common.print = 0;
    c->l = c->lib->analyze(&c->s, &c->common);
    if (!c->l)
        return VS_ENOMEM;
    make_blocks(c);
    return VS_OK;
}

/* Whether the values are symmetric, the block's diagonal positive and no other pivot 0. Status:
 * VS_OK; VS_EUNSUPPORTED, with stat.why; VS_ESINGULAR. */
static vs_status values_suit(lu_solver *lu, const chol *c, const csc *a)
{
    const char *why = NULL;
    for (size_t k = 0; k < c->s.nzmax; k++) {
        const double v = a->val[c->from[k]], m = a->val[c->mirror[k]];
        if (!isfinite(v) || !isfinite(m))
            return VS_ESINGULAR;
        if (!(fabs(v - m) <= SYMMETRIC * fabs(v)))
            why = "it is not symmetric";
        else if (c->from[k] == c->mirror[k] && !(v > 0) && !why)
            why = "it is not positive definite";
    }
    lu->stat.why = why;
    if (why)
        return VS_EUNSUPPORTED;
    for (int32_t k = 0; k < c->n; k++) /* pivots of one unknown */
        if (k < c->begin || k >= c->end) {
            const int32_t at = csc_find(a, c->row[k], c->col[k]);
            if (at < 0 || !(fabs(a->val[at]) > 0))
                return VS_ESINGULAR;
        }
    return VS_OK;
}

/* The values suit, and their factors do not exist. */
static vs_status not_definite(lu_solver *lu)
{
    lu->stat.why = "it is not positive definite";
    return VS_EUNSUPPORTED;
}

/* Values of the lower half. */
static void take_values(const chol *c, const csc *a)
{
    double *x = c->has_ll ? c->ll.val : c->s.x;
    if (c->has_ll)
        memset(x, 0, (size_t)c->ll.val_at[c->ll.n_super] * sizeof *x);
    for (size_t k = 0; k < c->s.nzmax; k++)
        x[c->has_ll ? (size_t)c->to[k] : k] = a->val[c->from[k]];
}

static vs_status factor_blocks(lu_solver *lu, chol *c, const csc *a)
{
    if (lu_kept_take(&c->kept, a->val, &c->ll.val, &lu->stat.rcond)) {
        c->head.made = 0;
        return VS_OK;
    }
    const vs_status st = values_suit(lu, c, a);
    if (st != VS_OK)
        return st;
    take_values(c, a);
    lu_blas_begin(c->lib->blas);
    const bool ok = lu_ll_factor(&c->ll, &lu->stat.rcond);
    lu_blas_end(c->lib->blas);
    if (!ok)
        return not_definite(lu);
    lu_kept_made(&c->kept, a->val, c->ll.val, lu->stat.rcond);
    return VS_OK;
}

static vs_status factor_sparse(lu_solver *lu, chol *c, const csc *a)
{
    const vs_status st = values_suit(lu, c, a);
    if (st != VS_OK)
        return st;
    take_values(c, a);
    const int levels = lu_team_begin(c->lib->team);
    lu_blas_begin(c->lib->blas);
    c->lib->factorize(&c->s, c->l, &c->common);
    lu_blas_end(c->lib->blas);
    lu_team_end(c->lib->team, levels);
    if (c->common.status == CHOLMOD_OUT_OF_MEMORY)
        return VS_ENOMEM;
    if (c->common.status != CHOLMOD_OK || c->l->minor < c->l->n)
        return not_definite(lu);
    lu->stat.rcond = c->lib->rcond(c->l, &c->common);
    return VS_OK;
}

static vs_status chol_factor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    chol *c = (chol *)fac;
    vs_status st = c->started ? VS_OK : values_suit(lu, c, a);
    if (st == VS_OK && !c->started)
        st = begin_factors(c);
    if (st != VS_OK)
        return st;
    st = c->has_ll ? factor_blocks(lu, c, a) : factor_sparse(lu, c, a);
    if (st != VS_OK)
        return st;
    lu->stat.nnz_lu = (int32_t)fmin(c->common.lnz, INT32_MAX);
    lu->stat.work = c->common.fl / 2;
    lu->stat.method = "cholesky";
    return VS_OK;
}

/* Subtracts from b what column k contributes with x. */
static void substitute(const chol *c, int32_t k, double x)
{
    const csc *a = c->a;
    for (int32_t e = a->colptr[c->col[k]]; e < a->colptr[c->col[k] + 1] && x != 0; e++)
        c->b[c->place[a->row[e]]] -= c->head.val[e] * x;
}

static void solve_one(const chol *c, int32_t k)
{
    const double pivot = c->head.val[csc_find(c->a, c->row[k], c->col[k])];
    c->y[k] = c->b[k] / pivot;
    substitute(c, k, c->y[k]);
}

static void solve_blocks(chol *c)
{
    const int32_t *perm = c->l->Perm, n = c->ll.n;
    double *x = c->s.x;              /* its place as values of the matrix is not in use */
    assert(c->s.nzmax >= (size_t)n); /* each diagonal is there, and positive */
    for (int32_t k = 0; k < n; k++)
        x[k] = c->b[c->begin + perm[k]];
    lu_ll_solve(&c->ll, x);
    for (int32_t k = 0; k < n; k++)
        c->y[c->begin + perm[k]] = x[k];
}

static void solve_sparse(chol *c)
{
    cholmod_dense rhs = {.nrow = c->s.nrow,
                         .ncol = 1,
                         .nzmax = c->s.nrow,
                         .d = c->s.nrow,
                         .x = c->b + c->begin,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    lu_blas_begin(c->lib->blas);
    const int ok = c->lib->solve(CHOLMOD_A, c->l, &rhs, NULL, &c->x, NULL, &c->work[0], &c->work[1],
                                 &c->common);
    lu_blas_end(c->lib->blas);
    if (!ok)
        vs_no_memory();
    memcpy(c->y + c->begin, c->x->x, sizeof(double) * c->s.nrow);
}

/* From the last pivot to the first: columns behind have no entry in rows in front. */
static void chol_solve(lu_fac *fac, const double *b, double *x)
{
    chol *c = (chol *)fac;
    for (int32_t k = 0; k < c->n; k++)
        c->b[k] = b[c->row[k]];
    for (int32_t k = c->n - 1; k >= c->end; k--)
        solve_one(c, k);
    c->has_ll ? solve_blocks(c) : solve_sparse(c);
    for (int32_t k = c->end - 1; k >= c->begin && c->begin > 0; k--)
        substitute(c, k, c->y[k]);
    for (int32_t k = c->begin - 1; k >= 0; k--)
        solve_one(c, k);
    for (int32_t k = 0; k < c->n; k++)
        x[c->col[k]] = c->y[k];
}

static int32_t chol_weakest(const lu_fac *fac)
{
    (void)fac; /* a matrix that is positive definite has no unknown to blame */
    return -1;
}

const lu_method lu_method_cholesky = {"cholesky",   chol_analyze, chol_factor, NULL, chol_solve,
                                      chol_weakest, chol_free,    NULL,        NULL, NULL,
                                      NULL,         NULL,         NULL};
