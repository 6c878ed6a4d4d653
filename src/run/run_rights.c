/* run_rights.c - what the author of the deck may do (SECURITY.md): the folders that blocks write
 * to, the folders whose native code is loaded, and the sandbox that holds the same against code
 * that does not ask. */
#include <string.h>

#include "files.h"
#include "run_priv.h"
#include "sandbox.h"
#include "store.h"
#include "vec.h"

/* The folder of a file that may not exist yet. */
static const char *folder_of(run *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash          ? "."
           : slash == path ? "/"
                           : arena_printf(&r->mem, "%.*s", (int)(slash - path), path);
}

/* The user's home folder; NULL: not known. */
static const char *home_of(run *r)
{
    const char *home = diag_variable(&r->d, "HOME");
    return home && *home ? home : NULL;
}

/* Folders that blocks may write below. vec. */
static const char **folders_of_blocks(run *r)
{
    const vsim_inside_job *j = r->j;
    const char **folder = NULL, *home = home_of(r);
    if (strncmp(j->deck, "/dev/", 5) != 0)
        vec_push(folder, folder_of(r, j->deck));
    if (j->raw && strcmp(j->raw, "-") != 0)
        vec_push(folder, folder_of(r, j->raw));
    if (home &&
        !files_above(".", home)) /* neither the home folder, where shells start, nor one above */
        vec_push(folder, ".");
    for (size_t i = 0; i < j->n_writable; i++)
        vec_push(folder, j->writable[i]);
    return folder;
}

static void confine_blocks(run *r, const char *const *folder)
{
    const vsim_inside_job *j = r->j;
    files_confine();
    for (size_t i = 0; i < vec_len(folder); i++)
        files_allow(folder[i]);
    for (size_t i = 0; i < j->n_trust; i++)
        files_trust(j->trust[i]);
    if (j->allow_native)
        files_trust("/");
}

/* -- the sandbox -- */

/* Adds the folders of the files that the run itself writes. */
static const char **add_outputs(run *r, const char **folder)
{
    const vsim_inside_job *j = r->j;
    const char *const path[] = {
        j->streams.log_path, j->measures, j->stats, j->svg, j->mtx, j->trace, j->steps,
        j->touchstone,       j->limit_log};
    for (size_t i = 0; i < VS_COUNT(path); i++)
        if (path[i] && strcmp(path[i], "-") != 0)
            vec_push(folder, folder_of(r, path[i]));
    if (!j->raw && !j->no_output)
        vec_push(folder, ".");
    return folder;
}

/* Adds the cache's folder unless strangers' native code may run: later runs execute what is there.
 */
static const char **add_cache(run *r, const char **folder)
{
    const vsim_settings *set = &r->j->set;
    const char *why;
    store cache;
    if (r->j->allow_native || r->j->permissive || !set->cache)
        return folder;
    store_open(&cache, set->cache, &why);
    if (!why)
        vec_push(folder, set->cache);
    store_close(&cache);
    return folder;
}

/* Refuses the home folder as one to write to: it has the start-up files of other programs. */
static vs_status refuse_home(run *r, const char *const *folder)
{
    const char *home = home_of(r);
    for (size_t i = 0; i < vec_len(folder); i++)
        if (files_above(folder[i], home ? home : "/")) {
            diag_error(&r->d, DIAG_NOWHERE,
                       "the sandbox would not hold: files may be written below '%s', which is the "
                       "home folder or above it; put the deck and its results into a folder of "
                       "their own",
                       folder[i]);
            return VS_EINPUT;
        }
    return VS_OK;
}

static void tell_sandbox(run *r, const char *const *folder)
{
    fputs("sandbox: no programs, no connections; files are written below", r->log);
    for (size_t i = 0; i < vec_len(folder); i++) {
        bool told = false;
        for (size_t k = 0; k < i && !told; k++)
            told = !strcmp(folder[i], folder[k]);
        if (!told)
            fprintf(r->log, " %s", folder[i]);
    }
    fputc('\n', r->log);
}

static vs_status enter_sandbox(run *r, const char *const *folder)
{
    char why[SANDBOX_WHY];
    vs_status st = refuse_home(r, folder);
    if (st)
        return st;
    st = sandbox_enter(folder, vec_len(folder), why);
    if (st)
        diag_error(&r->d, DIAG_NOWHERE, "no sandbox: %s; nothing was run", why);
    else if (r->j->streams.notes)
        tell_sandbox(r, folder);
    return st;
}

vs_status run_confine(run *r)
{
    const char **folder = folders_of_blocks(r);
    vs_status st = VS_OK;
    if (!r->j->permissive)
        confine_blocks(r, folder);
    if (r->j->sandbox) {
        folder = add_cache(r, add_outputs(r, folder));
        st = enter_sandbox(r, folder);
    }
    vec_free(folder);
    return st;
}
