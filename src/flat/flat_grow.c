/* flat_grow.c - nodes whose voltage grows by itself: their capacitors sum up to less than 0, and
 * resistors conduct there. While the nodes around rest, C dv/dt + G v = 0 with C < 0 < G: v grows
 * by e each T = |C|/G. Macro models have such nodes, and mean signals far slower than T.
 * With R = 2 T / C_k in series with each negative capacitor C_k at the node, its current becomes
 * s C_k / (1 + 2 s T), and the node's equation, C_p being its positive capacitors,
 *   2 T C_p s^2 + (2 G T + C_p + sum C_k) s + G = 0, in which 2 G T + C_p + sum C_k = G T:
 * no root is in the right half plane. What resistors drive, by 1 / (1 - s T), becomes (1 + 2 s T) /
 * (1 + s T), what the capacitor does, by -s T / (1 - s T), becomes -s T / (1 + s T): both differ by
 * 2 (s T)^2 (docs/numerics.md, 2). */
#include "flat.h"

#include <math.h>
#include <string.h>

#include "vec.h"

static double value_of(const flat_inst *in, const char *own)
{
    flat_room room;
    const flat_param *p = flat_params(in, &room);
    for (size_t k = 0; k < vec_len(p) && !in->rare->expr; k++)
        if (!p[k].str && (!strcmp(p[k].name, "value") || !strcmp(p[k].name, own)))
            return p[k].value;
    return NAN;
}

static bool has_negative(const flat *f)
{
    for (size_t i = 0; i < vec_len(f->inst); i++)
        if (f->inst[i].letter == 'c' && value_of(&f->inst[i], "c") < 0)
            return true;
    return false;
}

typedef struct sums {
    double farad, siemens;
    bool other; /* something else may hold the voltage */
    const flat_inst *negative;
} sums;

static void add(sums *n, const flat_inst *in)
{
    const double c = in->letter == 'c' ? value_of(in, "c") : NAN,
                 r = in->letter == 'r' ? value_of(in, "r") : NAN;
    if (!isnan(c))
        n->farad += c * in->m;
    else if (r > 0)
        n->siemens += in->m / r;
    else
        n->other = true;
    n->negative = c < 0 ? in : n->negative;
}

flat_grower *flat_growers(const flat *f)
{
    sums *node = NULL;
    flat_grower *found = NULL;
    if (!has_negative(f))
        return NULL;
    vec_extend(node, vec_len(f->node));
    for (size_t i = 0; i < vec_len(f->inst); i++) {
        const flat_inst *in = &f->inst[i];
        const bool senses = strchr("efgh", in->letter) != NULL; /* behind the first two nodes */
        for (int32_t k = 0; k < in->n_node && !(senses && k >= 2); k++)
            add(&node[in->node[k]], in);
    }
    for (size_t k = 1; k < vec_len(node); k++)
        if (node[k].negative && !node[k].other && node[k].farad < 0 && node[k].siemens > 0)
            vec_push(found,
                     ((flat_grower){(int32_t)k, node[k].farad, node[k].siemens, node[k].negative}));
    vec_free(node);
    return found;
}

static double time_of(const flat_grower *g) { return -g->farad / g->siemens; }

/* The one of both ends that grows more slowly; NULL: none is among those of from, by node. */
static const flat_grower *end_of(const flat_inst *in, const flat_grower *g, const int32_t *from)
{
    const flat_grower *slow = NULL;
    for (int32_t k = 0; k < in->n_node; k++) {
        const int32_t at = from[in->node[k]];
        if (at && (!slow || time_of(&g[at - 1]) > time_of(slow)))
            slow = &g[at - 1];
    }
    return slow;
}

flat_damper *flat_dampers(const flat *f, double tstop)
{
    flat_grower *g = flat_growers(f);
    flat_damper *found = NULL;
    int32_t *from = NULL; /* node -> index + 1 in g */
    bool any = false;
    if (!g)
        return NULL;
    vec_extend(from, vec_len(f->node));
    for (size_t k = 0; k < vec_len(g); k++)
        if (tstop > FLAT_GROWTHS * time_of(&g[k])) {
            from[g[k].node] = (int32_t)k + 1;
            any = true;
        }
    for (size_t i = 0; i < vec_len(f->inst) && any; i++) {
        const flat_inst *in = &f->inst[i];
        const double c = in->letter == 'c' ? value_of(in, "c") : NAN;
        const flat_grower *at = c < 0 ? end_of(in, g, from) : NULL;
        if (at)
            vec_push(found, ((flat_damper){(int32_t)i, *at, 2 * time_of(at) / c}));
    }
    vec_free(from);
    vec_free(g);
    return found;
}
