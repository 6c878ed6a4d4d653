/* lu_super_split.c - parts of a factorisation that threads compute independently of each other, by
 * joining each supernode with all that it depends on while the work is below a limit. */
#include <math.h>

#include "lu_super_priv.h"

/* Parts of less than a SMALL-th of the limit are put together with those behind them. */
enum { SMALL = 2 };

typedef struct parts { /* union-find of supernodes into parts of limited work */
    const lu_graph *g;
    int32_t *up;    /* [end] */
    double *work;   /* [end] of a root; < 0: joins parts, in none */
    int32_t *seen;  /* [end] the last supernode that asked for this root, + 1 */
    int32_t *piece; /* [end] of a root: its number in the split */
    double limit;
} parts;

static int32_t root(int32_t *up, int32_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* Work of the parts that sn depends on; infinite if one of these joins parts. */
static double needs(parts *v, int32_t sn)
{
    double sum = 0;
    for (int32_t i = v->g->at[sn]; i < v->g->at[sn + 1]; i++) {
        const int32_t r = root(v->up, v->g->needs[i]);
        if (v->work[r] < 0)
            return INFINITY;
        if (r == sn || v->seen[r] == sn + 1)
            continue;
        sum += v->work[r];
        v->seen[r] = sn + 1;
    }
    return sum;
}

/* Puts sn into the part of all that it depends on, if the work of the union fits. */
static void place(parts *v, int32_t sn, double work)
{
    v->up[sn] = sn;
    v->work[sn] = 0;
    const double sum = needs(v, sn) + work;
    if (sum > v->limit) {
        v->work[sn] = -1;
        return;
    }
    for (int32_t i = v->g->at[sn]; i < v->g->at[sn + 1]; i++)
        v->up[root(v->up, v->g->needs[i])] = sn;
    v->work[sn] = sum;
}

/* Numbers the pieces, in the order of the parts' last supernodes. */
static int32_t number(parts *v, int32_t from, int32_t end)
{
    int32_t n = 0;
    double sum = INFINITY; /* of the last piece */
    for (int32_t k = from; k < end; k++) {
        if (root(v->up, k) != k || v->work[k] < 0)
            continue;
        if (sum + v->work[k] > v->limit || sum > v->limit / SMALL) {
            n++;
            sum = 0;
        }
        v->piece[k] = n - 1;
        sum += v->work[k];
    }
    return n;
}

static void list(parts *v, int32_t from, int32_t end, lu_split *to)
{
    int32_t at = 0;
    for (int32_t k = from; k < end; k++) {
        const int32_t r = root(v->up, k);
        if (v->work[r] >= 0)
            to->task[v->piece[r]]++;
    }
    for (int32_t i = 0; i < to->n_task; i++) {
        const int32_t len = to->task[i];
        to->task[i] = at;
        at += len;
    }
    to->n_top = end - from - at;
    for (int32_t k = from; k < end; k++) {
        const int32_t r = root(v->up, k);
        to->list[v->work[r] >= 0 ? to->task[v->piece[r]]++ : at++] = k;
    }
    csc_ends_to_begins(to->task, to->n_task);
}

void lu_super_split(const lu_graph *g, const double *weight, double limit, lu_split *to)
{
    const int32_t from = g->from, end = g->end;
    const size_t n = (size_t)end + 1;
    parts v = {.g = g,
               .up = vs_calloc(n, sizeof(int32_t)),
               .work = vs_calloc(n, sizeof(double)),
               .seen = vs_calloc(n, sizeof(int32_t)),
               .piece = vs_calloc(n, sizeof(int32_t)),
               .limit = limit};
    for (int32_t k = from; k < end; k++)
        place(&v, k, weight[k]);
    to->n_task = number(&v, from, end);
    to->task = vs_calloc((size_t)to->n_task + 1, sizeof(int32_t));
    to->list = vs_calloc((size_t)(end - from) + 1, sizeof(int32_t));
    list(&v, from, end, to);
    vs_free(v.up);
    vs_free(v.work);
    vs_free(v.seen);
    vs_free(v.piece);
}

void lu_split_free(lu_split *to)
{
    vs_free(to->task);
    vs_free(to->list);
    *to = (lu_split){0};
}
