/* rep_explain.c - `vsim explain DECK`: what the model compiler made of each group of devices.
 * How to read it: docs/explain.md. */
#include "map.h"
#include "mdl_count.h"
#include "rep.h"
#include "vec.h"

static const char *const form_name[MDL_N_FORM] = {
    "dc", "tran", "ac", "tran", "back", "asked", "full"}; /* with bypass APART is the transient */

/* Figures of a form, in the order of the report.
 * X(key, label, value): an integer of mdl_figures f */
/* clang-format off */
#define FIGURE_LIST(X) \
    X("variant", "variant", f->number) \
    X("blocks_before", "blocks before", f->blocks_before) \
    X("blocks_dead", "  cannot run", f->blocks_dead) \
    X("blocks_after", "  after", f->blocks_after) \
    X("branches_total", "branches", f->before.total) \
    X("branches_model", "  by model parameters", f->before.model) \
    X("branches_instance", "  by instance parameters", f->before.inst) \
    X("branches_temperature", "  by temperature", f->before.temp) \
    X("branches_voltage", "  by voltages or time", f->before.dynamic) \
    X("loops", "  loops among them", f->before.loops) \
    X("branches_decided", "branches decided", f->branches_decided) \
    X("branches_select", "  now conditions of selects", f->branches_select) \
    X("branches_left", "  left as branches", f->branches_left) \
    X("selects", "selects left", f->selects) \
    X("values_before", "values before", f->values_before) \
    X("values_setup", "  computed at setup", f->values_setup) \
    X("values_after", "  after", f->values_after) \
    X("derivatives_before", "derivative entries before", f->derivatives_before) \
    X("derivatives_after", "  after", f->derivatives_after) \
    X("constants_propagated", "constants propagated", f->constants) \
    X("setup_values", "setup values cached", f->setup_values) \
    X("divisions", "divisions left", f->divisions) \
    X("square_roots", "square roots left", f->roots) \
    X("functions", "exp, ln, pow, ... left", f->functions) \
    X("unknowns_before", "unknowns per instance before", f->unknowns_before) \
    X("unknowns_after", "  after", f->unknowns_after) \
    X("split_setup_values", "split first: setup values", f->split.setup_values) \
    X("split_branches", "  static branches", f->split.branches_static) \
    X("split_branches_decided", "  ifs decided on the way taken",f->split.branches_decided) \
    X("split_blocks", "  blocks", f->split.blocks) \
    X("split_blocks_dead", "  blocks that cannot run", f->split.blocks_dead) \
    X("split_constants", "  constants", f->split.constants) \
    X("code_bytes", "code, bytes", f->code_bytes)
/* clang-format on */

const char **rep_group_models(const sim *s, const ckt_group_facts *g)
{
    const char **model = NULL;
    map in_group = {0}, seen = {0};
    for (int32_t i = 0; i < g->n_instance; i++)
        map_set(&in_group,
                map_key(str_intern0(sim_names(s), ckt_instance_name(sim_ckt(s), g->inst[i]))), i);
    for (size_t i = 0; i < vec_len(sim_flat(s)->inst); i++) {
        const flat_inst *in = &sim_flat(s)->inst[i];
        if (!in->rare->model || map_get(&in_group, map_key(in->name), -1) < 0 ||
            map_get(&seen, map_key(in->rare->model->name), 0))
            continue;
        map_set(&seen, map_key(in->rare->model->name), 1);
        vec_push(model, in->rare->model->name);
    }
    map_free(&in_group);
    map_free(&seen);
    return model;
}

/* -- as text -- */

static void print_head(const sim *s, const ckt_group_facts *g, FILE *out)
{
    fprintf(out, "\n%s: %d instance%s of %d parameter row%s, first '%s'\n",
            mdl_module(g->model)->name, (int)g->n_instance, g->n_instance == 1 ? "" : "s",
            (int)g->n_row, g->n_row == 1 ? "" : "s", ckt_instance_name(sim_ckt(s), g->inst[0]));
    if (g->n_variant <= 1)
        return;
    const char **model = rep_group_models(s, g);
    fprintf(out, "  %d variants as one, of what is known in all of them", (int)g->n_variant);
    for (size_t k = 0; k < vec_len(model); k++)
        fprintf(out, "%s%s", k ? ", " : ": models ", model[k]);
    fputc('\n', out);
    vec_free(model);
}

static void print_reduction(const sim_reduced *r, FILE *out)
{
    if (!(r->tolerance > 0))
        return;
    fprintf(out,
            "rcreduce=%g: %lld of %lld nodes taken out, %lld elements for %lld, %lld of them new; "
            "error at most %.3g of the capacitive admittance to %g Hz\n",
            r->tolerance, (long long)r->nodes, (long long)r->nodes_before, (long long)r->elements,
            (long long)r->elements_before, (long long)r->made, r->bound, r->freq);
}

static void print_text(const sim *s, FILE *out)
{
    const ckt *c = sim_ckt(s);
    print_reduction(sim_reduction(s), out);
    static const char *const label[] = {
#define X(key, text, value) text,
        FIGURE_LIST(X)
#undef X
    };
    for (int32_t i = 0; i < ckt_n_group(c); i++) {
        const ckt_group_facts g = ckt_group(c, i);
        mdl_figures fig[MDL_N_FORM];
        long long value[MDL_N_FORM][VS_COUNT(label)];
        print_head(s, &g, out);
        fprintf(out, "  %-28s", "");
        for (int k = 0; k < MDL_N_FORM; k++) {
            if (!g.variant[k])
                continue;
            mdl_figures *f = &fig[k];
            mdl_figure(g.model, g.variant[k], g.row, f);
            size_t n = 0;
#define X(key, text, v) value[k][n++] = (long long)(v);
            FIGURE_LIST(X)
#undef X
            fprintf(out, " %10s", form_name[k]);
        }
        for (size_t n = 0; n < VS_COUNT(label); n++) {
            fprintf(out, "\n  %-28s", label[n]);
            for (int k = 0; k < MDL_N_FORM; k++)
                if (g.variant[k])
                    fprintf(out, " %10lld", value[k][n]);
        }
        fprintf(out, "\n  %-28s", "compiled in, ms");
        for (int k = 0; k < MDL_N_FORM; k++)
            if (g.variant[k] && fig[k].from_cache)
                fprintf(out, " %10s", "cached");
            else if (g.variant[k])
                fprintf(out, " %10.1f", 1e3 * fig[k].compile_seconds);
        fputs("\n", out);
    }
}

/* -- as JSON -- */

static void print_entry(const ckt_group_facts *g, int form, FILE *out)
{
    mdl_figures figures, *f = &figures;
    mdl_figure(g->model, g->variant[form], g->row, f);
    fprintf(out,
            "    {\"module\": \"%s\", \"form\": \"%s\", \"instances\": %d, \"rows\": %d, "
            "\"joined\": %d",
            mdl_module(g->model)->name, form_name[form], (int)g->n_instance, (int)g->n_row,
            (int)g->n_variant);
#define X(key, text, value) fprintf(out, ",\n     \"%s\": %lld", key, (long long)(value));
    FIGURE_LIST(X)
#undef X
    fprintf(out, ",\n     \"compile_seconds\": %.6f,\n     \"from_cache\": %s}", f->compile_seconds,
            f->from_cache ? "true" : "false");
}

static void print_json(const sim *s, FILE *out)
{
    const ckt *c = sim_ckt(s);
    const sim_reduced *r = sim_reduction(s);
    bool first = true;
    fprintf(out, "{\n  \"unknowns\": %d,\n  \"matrix_entries\": %d,\n", (int)ckt_n(c),
            (int)csc_nnz(ckt_pattern(c)));
    if (r->tolerance > 0)
        fprintf(out,
                "  \"rcreduce\": {\"tolerance\": %g, \"frequency\": %g, \"bound\": %.6g, "
                "\"nodes\": %lld, \"taken_out\": %lld, \"elements_before\": %lld, "
                "\"elements\": %lld, \"made\": %lld},\n",
                r->tolerance, r->freq, r->bound, (long long)r->nodes_before, (long long)r->nodes,
                (long long)r->elements_before, (long long)r->elements, (long long)r->made);
    fputs("  \"groups\": [\n", out);
    for (int32_t i = 0; i < ckt_n_group(c); i++) {
        const ckt_group_facts g = ckt_group(c, i);
        for (int k = 0; k < MDL_N_FORM; k++) {
            if (!g.variant[k])
                continue;
            fputs(first ? "" : ",\n", out);
            print_entry(&g, k, out);
            first = false;
        }
    }
    fputs("\n  ]\n}\n", out);
}

void rep_explain(const sim *s, bool json, FILE *out)
{
    if (json)
        print_json(s, out);
    else
        print_text(s, out);
}
