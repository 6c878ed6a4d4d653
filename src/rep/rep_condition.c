/* rep_condition.c - how far rounding of the equations moves an operating point.
 * Method: relative changes of up to u = 2^-53 of each entry of G move x by up to u |G^-1| |G| |x|,
 *         unknown by unknown, to first order (Skeel, J. ACM 26(3), 1979). It does not depend on
 *         units of rows. The largest of these, in tolerances, is the norm |D G^-1 R| by rows, D of
 *         1/tolerance, R of |G| |x|. It is found by a few solutions with G and its transpose
 *         (Hager, SIAM J. Sci. Stat. Comput. 5(2), 1984; Higham, ACM TOMS 14(4), 1988). It may miss
 *         the largest one; what it tells is the true bound of the unknown that it names. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lu.h"
#include "rep_condition.h"

enum { MOST_TURNS = 5 };

typedef struct work {
    int32_t n;
    csc g, gt; /* the matrix, its transpose */
    lu_solver lu, lut;
    double *reach;   /* [n] |G| |x| */
    double *per_tol; /* [n] 1/tolerance; 0: it has none */
    double *v, *y;   /* [n] */
} work;

static void transpose(work *w, arena *mem)
{
    const csc *g = &w->g;
    const int32_t n = g->n, nnz = csc_nnz(g);
    w->gt = (csc){.n = n,
                  .colptr = arena_array(mem, int32_t, (size_t)n + 2),
                  .row = arena_array(mem, int32_t, (size_t)nnz + 1),
                  .val = arena_array(mem, double, (size_t)nnz + 1)};
    int32_t *at = w->gt.colptr + 1; /* place of a column's next entry; at the end, of its end */
    for (int32_t p = 0; p < nnz; p++)
        if (g->row[p] + 1 < n)
            at[g->row[p] + 1]++;
    for (int32_t j = 1; j < n; j++)
        at[j] += at[j - 1];
    for (int32_t col = 0; col < n; col++)
        for (int32_t p = g->colptr[col]; p < g->colptr[col + 1]; p++) {
            const int32_t to = at[g->row[p]]++;
            w->gt.row[to] = col;
            w->gt.val[to] = g->val[p];
        }
}

static double tolerance(const option_set *o, const ckt *c, int32_t unknown, double x)
{
    const double declared = ckt_tolerance_of(c, unknown).x;
    const ckt_kind kind = ckt_unknowns(c)[unknown].kind;
    const double least = declared > 0          ? declared
                         : kind == CKT_VOLTAGE ? o->vntol
                         : kind == CKT_CURRENT ? o->abstol
                                               : INFINITY;
    return o->reltol * fabs(x) + least;
}

static vs_status begin(work *w, sim *s, arena *mem)
{
    sim_linear l;
    vs_status st = sim_linearise(s, NULL, &l);
    if (st)
        return st;
    w->n = l.pattern->n;
    w->g = *l.pattern;
    w->g.val = arena_array(mem, double, (size_t)csc_nnz(&w->g) + 1);
    memcpy(w->g.val, l.g, (size_t)csc_nnz(&w->g) * sizeof *l.g);
    double **list[] = {&w->reach, &w->per_tol, &w->v, &w->y};
    for (size_t i = 0; i < VS_COUNT(list); i++)
        *list[i] = arena_array(mem, double, (size_t)w->n + 1);
    for (int32_t col = 0; col < w->n; col++) {
        for (int32_t p = w->g.colptr[col]; p < w->g.colptr[col + 1]; p++)
            w->reach[w->g.row[p]] += fabs(w->g.val[p] * l.x[col + 1]);
        w->per_tol[col] = 1 / tolerance(sim_option(s), sim_ckt(s), col + 1, l.x[col + 1]);
    }
    transpose(w, mem);
    st = lu_analyze(&w->lu, &w->g);
    st = st ? st : lu_factor(&w->lu, &w->g);
    st = st ? st : lu_analyze(&w->lut, &w->gt);
    return st ? st : lu_factor(&w->lut, &w->gt);
}

/* y = M v, M = R G^-T D; returns the sum of |y|, by which unknown j moves if v = e_j. */
static double forward(work *w)
{
    double sum = 0;
    for (int32_t i = 0; i < w->n; i++)
        w->y[i] = w->per_tol[i] * w->v[i];
    lu_solve(&w->lut, w->y, w->y);
    for (int32_t i = 0; i < w->n; i++) {
        w->y[i] *= w->reach[i];
        sum += fabs(w->y[i]);
    }
    return sum;
}

/* The index at which M^T sign(y) is largest. */
static int32_t steepest(work *w)
{
    int32_t best = 0;
    for (int32_t i = 0; i < w->n; i++)
        w->y[i] = copysign(w->reach[i], w->y[i]);
    lu_solve(&w->lu, w->y, w->y);
    for (int32_t i = 1; i < w->n; i++)
        if (fabs(w->per_tol[i] * w->y[i]) > fabs(w->per_tol[best] * w->y[best]))
            best = i;
    return best;
}

static void search(work *w, rep_condition *c)
{
    double most = 0;
    for (int32_t i = 0; i < w->n; i++)
        w->v[i] = 1.0 / w->n;
    (void)forward(w);
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        const int32_t j = steepest(w);
        memset(w->v, 0, (size_t)w->n * sizeof *w->v);
        w->v[j] = 1;
        const double moved = forward(w);
        if (!(moved > most) || !(w->per_tol[j] > 0))
            return;
        most = moved;
        *c = (rep_condition){.unknown = j + 1,
                             .moved = moved * DBL_EPSILON / 2 / w->per_tol[j],
                             .tol = 1 / w->per_tol[j]};
    }
}

vs_status rep_condition_find(sim *s, rep_condition *c)
{
    work w = {0};
    arena mem;
    arena_init(&mem);
    lu_init(&w.lu, NULL);
    lu_init(&w.lut, NULL);
    *c = (rep_condition){0};
    const vs_status st = begin(&w, s, &mem);
    if (!st)
        search(&w, c);
    lu_fini(&w.lut);
    lu_fini(&w.lu);
    arena_fini(&mem);
    return st;
}
