/* cli_sweep.c - sweeps from the command line, ranks of MPI, and `vsim merge`. */
#include <string.h>

#include "cli.h"
#include "rank.h"
#include "swp.h"
#include "vec.h"

vs_status cli_sweep(const cli_opt *o, sim *s, const char *out, double worker_start, FILE *log)
{
    const net_opt read = {.include = o->include, .n_include = vec_len(o->include)};
    const swp_opt so = {.deck = o->arg[0],
                        .read = &read,
                        .log = log,
                        .out = out,
                        .format = o->format,
                        .measures = o->command == CMD_RUN ? o->measures : NULL,
                        .jobs = o->jobs,
                        .worker_start = worker_start,
                        .link = o->link,
                        .shard = o->shard,
                        .n_shard = o->n_shard,
                        .resume = o->resume,
                        .quiet = o->quiet,
                        .allow_shell = o->allow_shell,
                        .version = VSIM_VERSION,
                        .redo = o->redo};
    return swp_run(s, &so);
}

bool cli_join(cli_opt *o, rank_link *l, int *code)
{
    int rank = -1, size = 0;
    char why[300];
    *code = CLI_OK;
    if (o->command != CMD_RUN || o->mpi < 0 || o->n_shard > 1 ||
        (!rank_look(cli_variable, NULL, &rank, &size) && !o->mpi))
        return true;
    const char *wrong = !strcmp(o->arg[0], "/dev/stdin")
                            ? "a deck from standard input reaches one rank only: give a file"
                            : NULL;
    if (!wrong && rank_begin(l,
                             &(rank_opt){.rank = rank,
                                         .size = size,
                                         .plugin_dir = o->plugins,
                                         .silence = o->rank_silence},
                             why))
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
    o->link = l;
    if (l->rank == 0)
        return true;
    o->log = o->stats = o->touchstone = NULL;
    return true;
}

bool cli_go(rank_link *l)
{
    if (l->go == 0)
        l->go = rank_receive(l) && l->head.kind == RANK_GO ? 1 : -1;
    return l->go > 0;
}

void cli_wait_for_go(void *link) { (void)cli_go(link); }

int cli_merge(const cli_opt *o)
{
    char why[300];
    vs_status worst, st = swp_merge(o->arg[0], o->measures, o->arg + 1, vec_len(o->arg) - 1, stdout,
                                    &worst, why);
    if (st)
        fprintf(stderr, "vsim: %s\n", why);
    return cli_exit_code(st ? st : worst);
}
