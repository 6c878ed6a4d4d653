/* cli_models.c - `vsim models` and `vsim compile`: what the model compiler knows of a module. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "mdl_count.h"
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

static void print_counts(mdl_model *model, FILE *out)
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

static int list_models(cli_base *b)
{
    const char **name = mdl_names(b->lib);
    for (size_t i = 0; i < vec_len(name); i++)
        fprintf(b->log, "%s\n", name[i]);
    return CLI_OK;
}

static int show_model(cli_base *b, const char *name)
{
    mdl_model *m = mdl_find(b->lib, name);
    if (m) {
        print_module(mdl_module(m), b->log);
        return CLI_OK;
    }
    if (!b->d.n_error) {
        const char **known = mdl_names(b->lib);
        diag_error(&b->d, DIAG_NOWHERE, "no model '%s'", name);
        diag_suggest(&b->d, name, known, vec_len(known));
    }
    return CLI_INPUT;
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
static int branch_table(cli_base *b, bool json)
{
    const char **name = mdl_names(b->lib);
    const mdl_model **seen = NULL;
    if (json)
        fputs("{\n  \"modules\": [\n", b->log);
    else
        fprintf(b->log, "%-16s %9s %9s %9s %11s %9s %9s %9s\n", "module", "branches", "model",
                "instance", "temperature", "voltage", "loops", "values");
    for (size_t i = 0; i < vec_len(name); i++) {
        mdl_model *m = mdl_find(b->lib, name[i]);
        bool again = !m;
        for (size_t k = 0; k < vec_len(seen); k++)
            again |= seen[k] == m;
        if (again)
            continue;
        print_branch_row(m, json, !vec_len(seen), b->log);
        vec_push(seen, m);
    }
    if (json)
        fputs("\n  ]\n}\n", b->log);
    vec_free(seen);
    return b->d.n_error ? CLI_INPUT : CLI_OK;
}

int cli_models(const cli_opt *o)
{
    cli_base b;
    int code = CLI_IO;
    if (!cli_base_init(&b, o)) {
        code = cli_open_models(&b, o) ? CLI_INPUT
               : o->branches          ? branch_table(&b, o->json)
               : vec_len(o->arg)      ? show_model(&b, o->arg[0])
                                      : list_models(&b);
        cli_flush_messages(&b);
    }
    if (cli_base_fini(&b) && code == CLI_OK)
        code = CLI_IO;
    return code;
}

int cli_compile(const cli_opt *o)
{
    cli_base b;
    if (cli_base_init(&b, o)) {
        (void)cli_base_fini(&b);
        return CLI_IO;
    }
    double t0 = vs_seconds();
    vs_status st = cli_open_models(&b, o);
    size_t n_before = st ? 0 : mdl_n_loaded(b.lib);
    if (!st)
        st = mdl_load(b.lib, o->arg[0]);
    double t1 = vs_seconds();
    for (size_t i = n_before; !st && i < mdl_n_loaded(b.lib); i++)
        print_counts(mdl_loaded(b.lib, i), b.log);
    if (!st)
        fprintf(b.log, "compiled in %.1f ms\n", 1e3 * (t1 - t0));
    if (!st && o->strict && b.d.n_warning)
        st = VS_EINPUT;
    cli_flush_messages(&b);
    if (cli_base_fini(&b) && st == VS_OK)
        st = VS_EIO;
    return st == VS_OK ? CLI_OK : st == VS_EIO ? CLI_IO : CLI_INPUT;
}
