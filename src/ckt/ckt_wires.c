/* ckt_wires.c - wires: which unknowns resistors join, those inside of devices among them (union by
 * the least, halved paths). */
#include <string.h>

#include "ckt_priv.h"

/* Resistors inside of a device are of wires from this conductance on, S: 0.05 of the usual vntol is
 * 5 % of the usual abstol there. A smaller one may lie beside a channel that is off. */
#define LEAST_INSIDE 1e-6

/* The least unknown of the wire that i is in. */
static int32_t least_of(int32_t *to, int32_t i)
{
    while (to[i] != i)
        i = to[i] = to[to[i]];
    return i;
}

static void join(int32_t *to, int32_t a, int32_t b)
{
    a = least_of(to, a);
    b = least_of(to, b);
    if (a < b)
        to[b] = a;
    else
        to[a] = b;
}

static void join_inside(const ckt *c, const bool *pinned, int32_t *to)
{
    int32_t *ends = NULL; /* vec */
    for (size_t gi = 0; gi < vec_len(c->group); gi++) {
        const dev_group *g = &c->group[gi];
        for (int32_t i = 0; g->lin && i < g->nb; i++) {
            vec_clear(ends);
            dev_lin_resistances(g, i, LEAST_INSIDE, &ends);
            for (size_t k = 0; k < vec_len(ends); k += 2)
                if (!pinned[ends[k]] && !pinned[ends[k + 1]])
                    join(to, ends[k], ends[k + 1]);
        }
    }
    vec_free(ends);
}

static void join_all(const ckt *c, const bool *pinned, int32_t *to)
{
    int32_t n;
    const ckt_pair_at *p = ckt_pairs_list(c, &n);
    for (int32_t i = 0; i <= ckt_n(c); i++)
        to[i] = i;
    for (int32_t k = 0, resistors = ckt_pairs_n_resistor(c); k < resistors; k++)
        if (!pinned[p[k].p] && !pinned[p[k].n])
            join(to, p[k].p, p[k].n);
    join_inside(c, pinned, to);
}

int32_t ckt_wires(const ckt *c, const bool *pinned, int32_t *order, int32_t *size)
{
    const int32_t n1 = ckt_n(c) + 1;
    int32_t *to = vs_malloc((size_t)n1 * sizeof *to), *at = vs_malloc((size_t)n1 * sizeof *at);
    int32_t n = 0, n_wire = 0;
    join_all(c, pinned, to);
    memset(at, 0, (size_t)n1 * sizeof *at);
    for (int32_t i = 0; i < n1; i++)
        at[least_of(to, i)] += !pinned[i];
    for (int32_t i = 0; i < n1; i++) /* from sizes to places in `order` */
        if (at[i]) {
            const int32_t of = size[n_wire++] = at[i];
            at[i] = n;
            n += of;
        }
    for (int32_t i = 0; i < n1; i++)
        if (!pinned[i])
            order[at[least_of(to, i)]++] = i;
    vs_free(to);
    vs_free(at);
    return n;
}
