/* ckt_group.c - the groups of a circuit, for reports. */
#include "ckt_priv.h"

int32_t ckt_n_group(const ckt *c)
{
    return (int32_t)vec_len(c->group);
}

ckt_group_facts ckt_group(const ckt *c, int32_t i)
{
    const dev_group *g = &c->group[i];
    ckt_group_facts f = {.model = g->model, .n_instance = g->nb, .n_row = g->n_row, .row = g->row[0],
                         .first = c->inst[g->inst[0]].name, .n_eval = g->n_eval, .n_bypass = g->n_bypass,
                         .s_eval = g->s_eval};
    for (int k = 0; k < MDL_N_FORM; k++)
        f.variant[k] = g->form[k].evaluated ? g->form[k].variant : NULL;
    return f;
}
