/* cli_other.c - commands that need no deck: models, compile, cache, tune, merge; joining an MPI
 * launcher. */
#include <string.h>

#include "cli.h"

static int end(cli_out *out, vsim_status st)
{
    const bool told = cli_out_close(out);
    const int code = st == VSIM_OK ? CLI_OK : st == VSIM_EIO ? CLI_IO : CLI_INPUT;
    return code == CLI_OK && !told ? CLI_IO : code;
}

int cli_models(const cli_opt *o)
{
    cli_out out;
    const vsim_settings set = cli_settings(o);
    if (!cli_out_open(&out, o))
        return CLI_IO;
    return end(&out, o->branches
                         ? vsim_inside_branches(&set, &out.streams, o->json)
                         : vsim_inside_models(&set, &out.streams, o->n_arg ? o->arg[0] : NULL));
}

int cli_compile(const cli_opt *o)
{
    cli_out out;
    const vsim_settings set = cli_settings(o);
    if (!cli_out_open(&out, o))
        return CLI_IO;
    return end(&out, vsim_inside_compile(&set, &out.streams, o->arg[0], o->strict, &o->debug));
}

static bool has_cache(const cli_opt *o)
{
    if (!o->cache_dir)
        fprintf(stderr, "vsim: no folder for compiled models: neither XDG_CACHE_HOME nor HOME is "
                        "set; --cache-dir DIR names one\n");
    return o->cache_dir != NULL;
}

int cli_cache(const cli_opt *o)
{
    const char *why = "";
    if (!has_cache(o))
        return CLI_IO;
    if (vsim_inside_cache(o->cache_dir, o->n_arg ? o->arg[0] : "list", stdout, &why) == VSIM_OK)
        return CLI_OK;
    fprintf(stderr, "vsim: kernel cache '%s': %s\n", o->cache_dir, why);
    return CLI_IO;
}

int cli_tune(const cli_opt *o)
{
    char why[4200];
    if (!has_cache(o))
        return CLI_IO;
    const vsim_status st = vsim_inside_tune(o->cache_dir, stdout, why, sizeof why);
    if (st)
        fprintf(stderr, "vsim: %s\n", st == VSIM_ENOMEM ? "out of memory" : why);
    return cli_exit_code(st);
}

int cli_merge(const cli_opt *o)
{
    char why[300];
    vsim_status worst;
    const vsim_status st = vsim_inside_merge(o->arg[0], o->measures, o->arg + 1, o->n_arg - 1,
                                             stdout, stderr, &worst, why);
    if (st)
        fprintf(stderr, "vsim: %s\n", why);
    return cli_exit_code(st ? st : worst);
}

bool cli_join(cli_opt *o, int *code)
{
    int rank = -1, size = 0;
    char why[300];
    *code = CLI_OK;
    if (o->command != CMD_RUN || o->mpi < 0 || o->n_shard > 1 ||
        (!vsim_inside_launched(cli_variable, NULL, &rank, &size) && !o->mpi))
        return true;
    const char *wrong = !strcmp(o->arg[0], "/dev/stdin")
                            ? "a deck from standard input reaches one rank only: give a file"
                        : o->sandbox ? "a sandbox has no connections, which its processes need"
                                     : NULL;
    if (!wrong && vsim_inside_join(&o->ranks, rank, size, o->plugins, o->rank_silence, why))
        wrong = why;
    if (wrong) {
        *code = CLI_USAGE;
        if (rank <= 0)
            fprintf(stderr,
                    "vsim: started by an MPI launcher, but %s (--no-mpi: each process works on its "
                    "own)\n",
                    wrong);
        return false;
    }
    if (vsim_inside_rank(o->ranks) > 0)
        o->log = o->stats = o->touchstone = NULL;
    return true;
}
