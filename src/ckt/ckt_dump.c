/* ckt_dump.c - what a circuit is made of, as text. */
#include "ckt_priv.h"

static const char *const form_name[MDL_N_FORM] = {"dc",   "tran",  "ac",  "apart",
                                                  "back", "asked", "full"};

static void dump_form(const dev_group *g, mdl_form_kind form, FILE *out, bool ir)
{
    const dev_form *f = &g->form[form];
    if (!f->variant)
        return;
    int32_t count[IR_N_OUT] = {0};
    for (int32_t k = 0; k < f->n_out; k++)
        count[f->variant->out[k].kind]++;
    fprintf(out, "  %-4s  %d cached values, %d res, %d react, %d jacobian, %zu instructions%s%s\n",
            form_name[form], (int)f->n_cache, (int)count[IR_OUT_RES], (int)count[IR_OUT_REACT],
            (int)(count[IR_OUT_G] + count[IR_OUT_J]), vec_len(f->variant->eval.inst),
            f->variant->kernel[g->row_per_lane] ? "" : ", interpreted",
            f->variant->has_effects ? ", effects" : "");
    if (ir)
        ir_print(&f->variant->eval, out);
}

void ckt_dump_groups(const ckt *c, FILE *out, bool ir)
{
    fprintf(out, "%d unknowns, %d matrix entries, %zu sources, %zu groups\n", (int)ckt_n(c),
            (int)csc_nnz(&c->a), vec_len(c->sources->all), vec_len(c->group));
    for (size_t i = 0; i < vec_len(c->group); i++) {
        const dev_group *g = &c->group[i];
        fprintf(out, "group %zu: %s, %d instances, %d rows, first '%s'\n", i,
                mdl_module(g->model)->name, (int)g->nb, (int)g->n_row, c->inst[g->inst[0]].name);
        for (int f = 0; f < MDL_N_FORM; f++)
            dump_form(g, f, out, ir);
    }
}
