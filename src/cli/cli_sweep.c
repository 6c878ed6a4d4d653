/* cli_sweep.c - sweeps from the command line, and `vsim merge`. */
#include "cli.h"
#include "swp.h"
#include "vec.h"

vs_status cli_sweep(const cli_opt *o, sim *s, const char *out, FILE *log)
{
    const net_opt read = {.include = o->include, .n_include = vec_len(o->include)};
    const swp_opt so = {.deck = o->arg[0], .read = &read, .log = log, .out = out, .format = o->format,
                        .measures = o->command == CMD_RUN ? o->measures : NULL, .jobs = o->jobs, .shard = o->shard,
                        .n_shard = o->n_shard, .resume = o->resume, .quiet = o->quiet, .allow_shell = o->allow_shell,
                        .version = VSIM_VERSION, .redo = o->redo};
    return swp_run(s, &so);
}

int cli_merge(const cli_opt *o)
{
    char why[300];
    switch (swp_merge(o->arg[0], o->measures, o->arg + 1, vec_len(o->arg) - 1, stdout, why)) {
    case VS_OK: return CLI_OK;
    case VS_EINPUT: fprintf(stderr, "vsim: %s\n", why); return CLI_INPUT;
    default: fprintf(stderr, "vsim: %s\n", why); return CLI_IO;
    }
}
