/* run_ranks.c - the processes that an MPI launcher started: joining them, waiting for rank 0. */

#include "run_priv.h"
#include "vec.h"

bool vsim_inside_launched(const char *(*variable)(void *user, const char *name), void *user,
                          int *rank, int *size)
{
    return rank_look(variable, user, rank, size);
}

vsim_status vsim_inside_join(vsim_inside_ranks **out, int rank, int size, const char *plugins,
                             double silence, char why[300])
{
    /* no guard stands around this call: vs_calloc could not return */
    vsim_inside_ranks *r = vs_try_realloc(NULL, sizeof *r);
    *out = NULL;
    if (!r)
        return VSIM_ENOMEM;
    *r = (vsim_inside_ranks){0};
    const rank_opt o = {.rank = rank, .size = size, .plugin_dir = plugins, .silence = silence};
    const vs_status st = rank_begin(&r->link, &o, why);
    if (st)
        vs_free(r);
    else
        *out = r;
    return (vsim_status)st;
}

int vsim_inside_rank(const vsim_inside_ranks *r) { return r->link.rank; }

void vsim_inside_leave(vsim_inside_ranks **r)
{
    if (*r)
        vec_free((*r)->link.data);
    vs_free(*r);
    *r = NULL;
}

bool run_go(rank_link *l)
{
    if (l->go == 0)
        l->go = rank_receive(l) && l->head.kind == RANK_GO ? 1 : -1;
    return l->go > 0;
}

void run_wait_for_go(void *link) { (void)run_go(link); }
