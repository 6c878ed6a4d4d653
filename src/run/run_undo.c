/* run_undo.c - what a block adds to files behind a checkpoint (>>, appendwrite) is taken away when
 * a run goes on from it: the commands that did so run again.
 * File: X.checkpoint.files beside X.checkpoint, a line for each file and checkpoint: the number of
 * the checkpoint, the bytes that the file had (-1: there was none), its path. A line is written
 * before the file is made longer, so that a kill at any time leaves what is needed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "io.h"
#include "run_priv.h"
#include "stream.h"
#include "vec.h"

static const char *notes_path(run *r)
{
    return arena_printf(&r->mem, "%s.files", run_checkpoint_path(r));
}

static bool noted(const run *r, const char *path)
{
    for (size_t i = 0; i < vec_len(r->longer); i++)
        if (!strcmp(r->longer[i], path))
            return true;
    return false;
}

void run_append(void *user, const char *path)
{
    run *r = user;
    struct stat sb;
    const bool there = !stat(path, &sb);
    if (!r->n_kept || noted(r, path) || (there && !S_ISREG(sb.st_mode)) || strchr(path, '\n'))
        return;
    vec_push(r->longer, arena_strndup(&r->mem, path, strlen(path)));
    FILE *f = stream_append(notes_path(r), FILES_CHECKPOINT);
    if (f)
        fprintf(f, "%d %lld %s\n", r->n_kept, there ? (long long)sb.st_size : -1LL, path);
    if (!f || stream_close(f))
        diag_warning(&r->d, DIAG_NOWHERE,
                     "'%s' cannot be written: %s; a restart will add to '%s' what is there",
                     notes_path(r), files_why(errno), path);
}

void run_undo_first(run *r)
{
    struct stat sb;
    if (!r->n_kept && !stat(notes_path(r), &sb))
        run_undo_end(r);
}

void run_undo_kept(run *r)
{
    r->kept = true;
    r->n_kept++;
    vec_clear(r->longer);
}

static vs_status cut(run *r, const char *path, long long size)
{
    struct stat sb;
    if (stat(path, &sb) || !S_ISREG(sb.st_mode))
        return VS_OK;
    FILE *f = stream_append(path, FILES_BLOCK);
    const bool ok = f && (sb.st_size <= size || !ftruncate(fileno(f), size > 0 ? size : 0));
    const int why = errno;
    if (f)
        (void)stream_close(f);
    if (!ok) {
        diag_error(&r->d, DIAG_NOWHERE,
                   "'%s' cannot be made as long as it was at the checkpoint: %s", path,
                   files_why(why));
        return f || why < FILES_IS_INPUT ? VS_EIO : VS_EINPUT;
    }
    if (size < 0)
        unlink(path);
    return VS_OK;
}

/* The notes as a vec that ends with 0; NULL: there are none. */
static char *read_notes(run *r)
{
    const char *path = notes_path(r);
    char *text = NULL;
    struct stat sb;
    const int fd = files_claim(path, FILES_CHECKPOINT) ? io_open(path, O_RDONLY) : -1;
    if (fd >= 0 && !fstat(fd, &sb) && S_ISREG(sb.st_mode)) {
        vec_extend(text, (size_t)sb.st_size + 1);
        text[io_read(fd, text, (size_t)sb.st_size) ? sb.st_size : 0] = 0;
    }
    if (fd >= 0)
        (void)io_close(fd);
    return text;
}

vs_status run_undo(run *r)
{
    char *text = read_notes(r);
    vs_status st = VS_OK;
    /* a last line without its end does not count: nothing was appended yet */
    for (char *line = text, *end; line && !st && (end = strchr(line, '\n')); line = end + 1) {
        int number, at = 0;
        long long size;
        *end = 0;
        if (sscanf(line, "%d %lld %n", &number, &size, &at) == 2 && at && number == r->n_kept)
            st = cut(r, line + at, size);
    }
    vec_free(text);
    return st;
}

/* The notes go last: a kill in between leaves no checkpoint that lacks them. */
void run_undo_end(run *r)
{
    unlink(run_checkpoint_path(r));
    unlink(notes_path(r));
}
