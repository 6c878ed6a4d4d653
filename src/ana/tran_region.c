/* tran_region.c - the cells that are awake as a matrix of their own (ckt_latent.h, "region"), with
 * factors of their own: an iteration then costs what it would cost if the rest of the circuit were
 * not there. Pivots are chosen anew for it, so it has to last for some time. Its solutions leave
 * latent unknowns where they are; who moves far enough to move them wakes them before the next load
 * (ckt_latent_moved), and that is the end of the region. */
#include "tran_priv.h"

/* A region costs some 30 factorisations with old pivots. After WAIT points without a change it is
 * begun. One that ends before SHORT points doubles what the next one waits, up to LONGEST. */
enum { WAIT = 4, SHORT = 32, LONGEST = 256 };

void tran_region_reset(tran_region *r)
{
    r->calm = r->points = 0;
    r->wait = WAIT;
}

bool tran_region_is_due(tran_region *r, int changes)
{
    r->calm = changes ? 0 : r->calm + 1;
    return r->calm >= r->wait;
}

void tran_move_counts(lu_solver *lu, ana *a)
{
    lu_stat *from = &lu->stat, *to = &a->lu.stat;
    to->n_factor += from->n_factor;
    to->n_refactor += from->n_refactor;
    to->n_reuse += from->n_reuse;
    to->n_solve += from->n_solve;
    to->n_column += from->n_column;
    from->n_factor = from->n_refactor = from->n_reuse = from->n_solve = from->n_column = 0;
}

void tran_region_begin(tran_region *r, ana *a)
{
    r->jac = ckt_region_begin(a->c);
    r->points = 0;
    lu_init(&r->lu, &a->lu.opt);
    vs_status st = lu_analyze(&r->lu, r->jac);
    if (st == VS_OK)
        st = lu_factor(&r->lu, r->jac);
    tran_move_counts(&r->lu, a);
    if (st != VS_OK)
        tran_region_end(r, a);
}

void tran_region_end(tran_region *r, ana *a)
{
    lu_fini(&r->lu);
    ckt_region_end(a->c);
    r->jac = NULL;
    r->wait = r->points >= SHORT ? WAIT : r->wait < LONGEST ? 2 * r->wait : LONGEST;
    r->calm = 0;
}

vs_status tran_region_refactor(tran_region *r, ana *a)
{
    vs_status st = lu_refactor(&r->lu, r->jac);
    if (st == VS_REPIVOT)
        st = lu_factor(&r->lu, r->jac);
    tran_move_counts(&r->lu, a);
    return st;
}

void tran_region_solve(tran_region *r, ana *a, const double *b, double *x)
{
    lu_solve(&r->lu, b + 1, x + 1);
    tran_move_counts(&r->lu, a);
}
