/* flat_grow.c - nodes whose voltage grows by itself: their capacitors sum up to less than 0, and
 * resistors conduct there. While the nodes around rest, C dv/dt + G v = 0 with C < 0 < G: v grows
 * by e each |C|/G. Macro models have such nodes, and mean steps far above that time. */
#include "flat.h"

#include <math.h>
#include <string.h>

#include "vec.h"

static double value_of(const flat_inst *in, const char *own)
{
    for (size_t k = 0; k < vec_len(in->param) && !in->rare->expr; k++)
        if (!in->param[k].str &&
            (!strcmp(in->param[k].name, "value") || !strcmp(in->param[k].name, own)))
            return in->param[k].value;
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
