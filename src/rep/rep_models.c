/* rep_models.c - `vsim models` and `vsim compile`: what the model compiler knows of a module. */
#include <string.h>

#include "mdl_count.h"
#include "rep.h"
#include "vec.h"

static const char *const type_name[] = {"real", "integer", "string"};

static void print_params(const va_module *m, FILE *out)
{
    for (int inst = 1; inst >= 0; inst--) {
        int n = 0;
        for (size_t i = 0; i < vec_len(m->param); i++)
            n += m->param[i].inst == inst && !m->param[i].local;
        if (!n)
            continue;
        fprintf(out, "\n%s parameters (%d)\n  %-14s %-8s %-8s %-16s %-22s %s\n",
                inst ? "Instance" : "Model", n, "name", "type", "unit", "default", "range",
                "description");
        for (size_t i = 0; i < vec_len(m->param); i++) {
            const va_param *p = &m->param[i];
            if (p->inst != inst || p->local)
                continue;
            fprintf(out, "  %-14s %-8s %-8s %-16s %-22s %s", p->name, type_name[p->type], p->unit,
                    p->dflt, p->range, p->desc);
            for (size_t k = 0; k < vec_len(p->alias); k++)
                fprintf(out, "%s%s", k ? ", " : "  (also ", p->alias[k]);
            fputs(vec_len(p->alias) ? ")\n" : "\n", out);
        }
    }
}

static void print_module(const va_module *m, FILE *out)
{
    fprintf(out, "%s", m->name);
    for (int32_t i = 0; i < m->n_port; i++)
        fprintf(out, "%s%s", i ? ", " : " (", m->unknown[i].name);
    fprintf(out, ")%s%s\n", *m->desc ? "  " : "", m->desc);
    print_params(m, out);
    if (vec_len(m->opvar))
        fprintf(out, "\nOperating-point variables (%zu)\n", vec_len(m->opvar));
    for (size_t i = 0; i < vec_len(m->opvar); i++)
        fprintf(out, "  %-14s %-8s %s\n", m->opvar[i].name, m->opvar[i].unit, m->opvar[i].desc);
}

void rep_module(mdl_model *model, FILE *out)
{
    const va_module *m = mdl_module(model);
    mdl_counts c = {0};
    mdl_count(model, &c);
    fprintf(out, "module %s\n  ports      ", m->name);
    for (int32_t i = 0; i < m->n_port; i++)
        fprintf(out, " %s", m->unknown[i].name);
    fprintf(out, "\n  unknowns    %d:", c.unknowns);
    for (int32_t i = 0; i < mdl_n_unknown(model); i++)
        fprintf(out, " %s", mdl_unknown(model, i)->name);
    fprintf(
        out,
        "\n  parameters  %d\n  noise       %d sources\n  SSA         %d values as lowered, %d "
        "after "
        "value numbering\n  branches    %d: %d decided by model, %d by instance parameters, %d by "
        "temperature,\n              %d by voltages or time; %d loops among them\n"
        "  derivatives %d entries of the Jacobian\n  setup       %d values computed once per "
        "parameter set\n",
        c.params, c.noise_sources, c.values_lowered, c.values_opt, c.branches.total,
        c.branches.model, c.branches.inst, c.branches.temp, c.branches.dynamic, c.branches.loops,
        c.derivatives, c.setup_values);
}

void rep_models(mdl_lib *lib, FILE *out)
{
    const char **name = mdl_names(lib);
    for (size_t i = 0; i < vec_len(name); i++)
        fprintf(out, "%s\n", name[i]);
}

vs_status rep_model(mdl_lib *lib, diag *d, const char *name, FILE *out)
{
    mdl_model *m = mdl_find(lib, name);
    if (m) {
        print_module(mdl_module(m), out);
        return VS_OK;
    }
    if (!d->n_error) {
        const char **known = mdl_names(lib);
        diag_error(d, DIAG_NOWHERE, "no model '%s'", name);
        diag_suggest(d, name, known, vec_len(known));
    }
    return VS_EINPUT;
}

/* -- branch table -- */

static void print_branch_row(mdl_model *m, bool json, bool first, FILE *out)
{
    mdl_counts c;
    mdl_count(m, &c);
    const mdl_branches *b = &c.branches;
    fprintf(out,
            json ? "%s    {\"module\": \"%s\", \"branches_total\": %d, \"branches_model\": %d, "
                   "\"branches_instance\": %d, \"branches_temperature\": %d, "
                   "\"branches_voltage\": %d, \"loops\": %d, \"values\": %d}"
                 : "%s%-16s %9d %9d %9d %11d %9d %9d %9d\n",
            json && !first ? ",\n" : "", mdl_module(m)->name, b->total, b->model, b->inst, b->temp,
            b->dynamic, b->loops, c.values_opt);
}

/* Each module of the library: what its branches depend on. */
vs_status rep_branches(mdl_lib *lib, const diag *d, bool json, FILE *out)
{
    const char **name = mdl_names(lib);
    const mdl_model **seen = NULL;
    if (json)
        fputs("{\n  \"modules\": [\n", out);
    else
        fprintf(out, "%-16s %9s %9s %9s %11s %9s %9s %9s\n", "module", "branches", "model",
                "instance", "temperature", "voltage", "loops", "values");
    for (size_t i = 0; i < vec_len(name); i++) {
        mdl_model *m = mdl_find(lib, name[i]);
        bool again = !m;
        for (size_t k = 0; k < vec_len(seen); k++)
            again |= seen[k] == m;
        if (again)
            continue;
        print_branch_row(m, json, !vec_len(seen), out);
        vec_push(seen, m);
    }
    if (json)
        fputs("\n  ]\n}\n", out);
    vec_free(seen);
    return d->n_error ? VS_EINPUT : VS_OK;
}
