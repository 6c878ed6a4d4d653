/* run_index.c - the index of a result file, made while a run writes it (src/idx/idx.h). */
#include <time.h>
#include <unistd.h>

#include "idx.h"
#include "run_priv.h"

enum { STEP = 64 << 20 }; /* bytes of values at once */

typedef struct indexing {
    const vsim_settings *set;
    const vsim_inside_streams *s;
    const char *path;
    bool (*ended)(void *user);
    void *user;
} indexing;

static void wait_a_little(void) { nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); }

/* Indexes the values that the file has by now. If its name now means another file, opens that. */
static vs_status follow(const indexing *w, idx **x, const char **why)
{
    double done = 0;
    if (*x && (int)idx_refresh(*x) >= IDX_REPLACED)
        idx_close(x);
    vs_status st = *x ? VS_OK : idx_open(x, w->path, true, why);
    if (!st)
        st = idx_build(*x, STEP, &done, why);
    return st;
}

static vs_status finish(idx *x, const char **why)
{
    double done = 0;
    vs_status st = VS_OK;
    idx_whole(x);
    while (!st && done < 1)
        st = idx_build(x, STEP, &done, why);
    return st;
}

static vs_status make_index(void *arg)
{
    const indexing *w = arg;
    const char *why = "";
    idx *x = NULL;
    diag d;
    diag_init(&d);
    while (!w->ended(w->user)) { /* there may be no file yet, or no whole header */
        (void)!follow(w, &x, &why);
        wait_a_little();
    }
    vs_status st = follow(w, &x, &why);
    if (!st)
        st = finish(x, &why);
    idx_close(&x);
    if (st && access(w->path, F_OK))
        st = VS_OK; /* the run itself has said why there are no results */
    if (st)
        diag_error(&d, DIAG_NOWHERE, "no index of the results: '%s' %s", w->path, why);
    run_tell(&d, w->s);
    diag_fini(&d);
    return st;
}

vsim_status vsim_inside_index(const vsim_settings *set, const vsim_inside_streams *s,
                              const char *path, bool (*ended)(void *user), void *user)
{
    indexing w = {.set = set, .s = s, .path = path, .ended = ended, .user = user};
    const run_guard g = {.memory = set->memory, .streams = s, .body = make_index};
    return (vsim_status)run_guarded(&g, &w);
}
