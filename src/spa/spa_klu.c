/* spa_klu.c - what KLU really makes of a matrix: numeric factors with a given order of each block.
 */
#include "spa.h"

#include <string.h>
#include <suitesparse/klu.h>

typedef struct orders { /* hands the blocks' orders to KLU, which asks in the order of the blocks */
    const spa_report *r;
    const int32_t *perm;
    int32_t block;
} orders;

static int order_block(int n, int *colptr, int *row, int *perm, klu_common *common)
{
    (void)row;
    orders *o = common->user_data;
    const int32_t *start = o->r->block;
    while (o->block < o->r->n_block && start[o->block + 1] - start[o->block] <= 3)
        o->block++; /* KLU does not ask for these */
    if (o->block == o->r->n_block || start[o->block + 1] - start[o->block] != n)
        return 0;
    const int32_t lo = start[o->block++];
    for (int k = 0; k < n; k++)
        perm[k] = o->perm[lo + k] - lo;
    return colptr[n] + 1; /* an estimate, more than 0 */
}

/* Values for a pattern: no two sums cancel, and the diagonal of the block form is the pivot. */
static double made_up(int32_t row, int32_t col, bool diagonal)
{
    uint64_t h = ((uint64_t)(uint32_t)row << 32 | (uint32_t)col) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
    const double v = 0.5 + (double)(h * 0xbf58476d1ce4e5b9u >> 11) * 0x1p-53;
    return diagonal ? 1e3 * v : -v;
}

static double *values_of(const spa_report *r, arena *scratch)
{
    const csc *a = r->a;
    if (a->val)
        return a->val;
    double *v = arena_array(scratch, double, r->nnz + 1);
    int32_t *at_row = arena_array(scratch, int32_t, r->n);
    for (int32_t k = 0; k < r->n; k++)
        at_row[r->q[k]] = r->p[k];
    for (int32_t j = 0; j < r->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            v[k] = made_up(a->row[k], j, at_row[j] == a->row[k]);
    return v;
}

void spa_factor(spa_fill *f, const spa_report *r, const int32_t *perm, const spa_opt *opt,
                arena *scratch)
{
    f->klu = (spa_klu){.state = SPA_KLU_LARGE};
    if (f->flops > opt->klu_flops || (double)f->nnz_lu > opt->klu_nnz)
        return;
    f->klu.state = SPA_KLU_SINGULAR;
    if (r->rank < r->n)
        return;
    const csc *a = r->a;
    orders o = {r, perm, 0};
    klu_common c;
    klu_defaults(&c);
    c.ordering = 3;
    c.user_order = order_block;
    c.user_data = &o;
    c.scale = 2;
    const arena_pos mark = arena_mark(scratch);
    double *val = values_of(r, scratch);
    klu_symbolic *sym = klu_analyze(a->n, a->colptr, a->row, &c);
    klu_numeric *num = sym ? klu_factor(a->colptr, a->row, val, sym, &c) : NULL;
    if (num) {
        klu_flops(sym, num, &c);
        f->klu = (spa_klu){.state = SPA_KLU_DONE,
                           .lnz = num->lnz,
                           .unz = num->unz,
                           .off = num->nzoff,
                           .off_diagonal = c.noffdiag,
                           .flops = c.flops};
    } else if (c.status != KLU_SINGULAR) {
        f->klu.state = SPA_KLU_FAILED;
    }
    if (num)
        klu_free_numeric(&num, &c);
    if (sym)
        klu_free_symbolic(&sym, &c);
    arena_release(scratch, mark);
}
