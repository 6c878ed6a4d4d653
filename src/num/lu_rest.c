/* lu_rest.c - factors of a matrix with many entries that are 0 as long as the circuit rests. See
 * lu.h.
 *
 * The pattern of a circuit with charges has entries that only dq/dt fills. At rest they are 0, and
 * without them gates of transistors see their inputs one after the other: by block triangular form
 * the matrix falls apart into small blocks. With them it is one block, in which the gains of a
 * chain of gates multiply, and the pivots that bear this fill the factors. So entries that were
 * never other than 0 are left out, and the rest is factored by a solver of its own. */
#include <string.h>

#include "lu_priv.h"

/* Fewer entries of 0 than 1 / this of all are not worth an ordering of its own. */
enum { LEAST_PART = 16 };
/* Entries that become other than 0 ask for another ordering: so often. */
enum { ORDERINGS = 6 };

typedef struct rest {
    lu_fac head;
    lu_solver whole; /* innards for the whole pattern, as they were */
    lu_solver lu;    /* of m */
    csc m;           /* the entries that were other than 0, */
    int32_t *from;   /* [nnz of m] their places in the whole matrix, */
    bool *is_in;     /* [nnz] and which they are; NULL: there is no m */
    int n_ordering;
} rest;

static void rest_free(lu_fac *fac)
{
    rest *r = (rest *)fac;
    void *all[] = {r->m.colptr, r->m.row, r->m.val, r->from, r->is_in};
    lu_fini(&r->lu);
    lu_fini(&r->whole);
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vs_free(r);
}

lu_fac *lu_rest_new(const lu_solver *lu)
{
    rest *r = vs_calloc(1, sizeof *r);
    lu_opt o = lu->opt;
    r->whole = *lu;
    o.long_work = NULL; /* lu.c tells */
    o.at_rest = true;
    lu_init(&r->lu, &o);
    return &r->head;
}

lu_fac *lu_rest_whole(lu_fac *fac)
{
    rest *r = (rest *)fac;
    lu_fac *whole = r->whole.fac;
    r->whole.fac = NULL;
    return whole;
}

bool lu_rest_is_cholesky(const lu_fac *fac) { return lu_is_cholesky(&((const rest *)fac)->lu); }

/* Whether all entries other than 0 are in m. */
static bool covers(const rest *r, const csc *a)
{
    const int32_t nnz = csc_nnz(a);
    int32_t k = 0;
    while (r->is_in && k < nnz && (r->is_in[k] || a->val[k] == 0))
        k++;
    return r->is_in && k == nnz;
}

static void allocate(rest *r, const csc *a)
{
    const size_t nnz = (size_t)csc_nnz(a) + 1;
    r->m.n = a->n;
    r->m.colptr = vs_calloc((size_t)a->n + 1, sizeof *r->m.colptr);
    r->m.row = vs_malloc(nnz * sizeof *r->m.row);
    r->m.val = vs_malloc(nnz * sizeof *r->m.val);
    r->from = vs_malloc(nnz * sizeof *r->from);
    r->is_in = vs_calloc(nnz, sizeof *r->is_in);
}

bool lu_rest_suits(const lu_fac *fac, const csc *a)
{
    const int32_t nnz = csc_nnz(a);
    int32_t zeros = 0;
    for (int32_t k = 0; k < nnz; k++)
        zeros += a->val[k] == 0;
    return ((const rest *)fac)->is_in || zeros >= nnz / LEAST_PART;
}

/* m gets the entries that are other than 0 now, beside those that it has. */
static vs_status widen(rest *r, const csc *a)
{
    int32_t n = 0;
    if (!r->is_in)
        allocate(r, a);
    if (++r->n_ordering > ORDERINGS)
        return VS_EUNSUPPORTED;
    lu_fini(&r->lu);
    for (int32_t j = 0; j < a->n; j++) {
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            r->is_in[k] |= a->val[k] != 0;
            if (!r->is_in[k])
                continue;
            r->m.row[n] = a->row[k];
            r->from[n++] = k;
        }
        r->m.colptr[j + 1] = n;
    }
    return lu_analyze(&r->lu, &r->m);
}

static void take_values(rest *r, const csc *a)
{
    const int32_t n = csc_nnz(&r->m);
    for (int32_t k = 0; k < n; k++)
        r->m.val[k] = a->val[r->from[k]];
}

static void take_figures(lu_solver *lu, const rest *r)
{
    lu->stat.rcond = r->lu.stat.rcond;
    lu->stat.nnz_lu = r->lu.stat.nnz_lu;
    lu->stat.work = r->lu.stat.work;
    lu->stat.method = r->lu.stat.method;
}

static vs_status rest_factor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    rest *r = (rest *)fac;
    vs_status st = covers(r, a) ? VS_OK : widen(r, a);
    if (st == VS_OK) {
        take_values(r, a);
        r->lu.opt.refuse_fill = lu->opt.refuse_fill;
        st = lu_factor(&r->lu, &r->m);
    }
    if (st == VS_OK)
        take_figures(lu, r);
    return st == VS_ESINGULAR ? VS_EUNSUPPORTED : st; /* the whole matrix tells which unknown */
}

static vs_status rest_refactor(lu_solver *lu, lu_fac *fac, const csc *a)
{
    rest *r = (rest *)fac;
    const int64_t before = r->lu.stat.n_column;
    if (!covers(r, a))
        return VS_REPIVOT;
    take_values(r, a);
    const vs_status st = lu_refactor(&r->lu, &r->m);
    fac->made = (int32_t)(r->lu.stat.n_column - before);
    take_figures(lu, r);
    return st;
}

static void rest_solve(lu_fac *fac, const double *b, double *x)
{
    lu_solve(&((rest *)fac)->lu, b, x);
}

static int32_t rest_weakest(const lu_fac *fac) { return lu_weakest(&((const rest *)fac)->lu); }

const lu_method lu_method_rest = {.name = "rest",
                                  .factor = rest_factor,
                                  .refactor = rest_refactor,
                                  .solve = rest_solve,
                                  .weakest = rest_weakest,
                                  .free = rest_free};
