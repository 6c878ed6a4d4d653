/* swp_again.c - points that failed for want of memory, or with the processes that computed them,
 * are computed again by a run with --resume. Results stand in the order of the points, so the files
 * are written anew: what the run before wrote is put aside, and its other points are copied.
 * Files:  RESULTS.before, RESULTS.journal.before, LIMITS.before
 * They stay until all points are written, so that an interruption loses nothing: the next run goes
 * on with both. The journal gets its new name first; where it has one and the results do not, a
 * kill came between. The table of measures follows from the journal. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "io.h"
#include "stream.h"
#include "swp_priv.h"

static char *aside_name(const char *path) { return path ? vs_text("%s.before", path) : NULL; }

static bool is_there(const char *path) { return path && !access(path, F_OK); }

static vs_status fail(swp_book *b, const char *path, const char *why, const char *more)
{
    snprintf(b->why, sizeof b->why, "'%s' %s%s", path, why, more);
    return VS_EIO;
}

/* The files that are put aside, the journal first. NULL: there is none. */
static void list_files(const swp_book *b, const char *file[3])
{
    const bool results = b->path && strcmp(b->path, "-") != 0,
               limits = b->limits && strcmp(b->limits, "-") != 0;
    file[0] = b->journal;
    file[1] = results ? b->path : NULL;
    file[2] = limits ? b->limits : NULL;
}

/* Gives the files their other names. Those that have it keep it. */
static vs_status put_aside(swp_book *b)
{
    const char *file[3];
    vs_status st = VS_OK;
    list_files(b, file);
    for (int i = 0; i < 3 && !st; i++) {
        char *to = aside_name(file[i]);
        if (is_there(file[i]) && !is_there(to) && rename(file[i], to))
            st = fail(b, file[i], "cannot be renamed: ", strerror(errno));
        vs_free(to);
    }
    return st;
}

static void remove_aside(const swp_book *b)
{
    const char *file[3];
    list_files(b, file);
    for (int i = 3; i-- > 0;) { /* the journal last: without it nobody knows the others */
        char *name = aside_name(file[i]);
        if (is_there(name))
            unlink(name);
        vs_free(name);
    }
}

bool swp_is_again(int status) { return status == VS_ENOMEM || status == VS_EDIED; }

vs_status swp_again_find(swp_book *b, bool resume)
{
    const char *file[3];
    vs_status st = VS_OK;
    list_files(b, file);
    char *name[3];
    for (int i = 0; i < 3; i++) {
        name[i] = aside_name(file[i]);
        if (!st && name[i] && !files_claim(name[i], FILES_JOURNAL)) /* before it is read */
            st = fail(b, name[i], "cannot be written: ", files_why(errno));
    }
    const bool ours = is_there(name[0]) && swp_is_journal(name[0]);
    for (int i = 0; i < 3; i++) {
        if (!st && !ours && is_there(name[i]))
            st = fail(b, name[i], "would be overwritten: it is none of this sweep", "");
        vs_free(name[i]);
    }
    b->old.there = !st && ours && resume;
    if (!st && ours && !resume)
        remove_aside(b);
    if (b->old.there && !is_there(b->journal))
        st = put_aside(b);
    return st;
}

bool swp_again_wanted(const swp_book *b, const char *path)
{
    swp_journal j;
    arena mem;
    bool any = false;
    arena_init(&mem);
    if (swp_journal_open(&j, path, &mem)) {
        if (swp_is_journal_of(&j, b))
            while (!any && swp_journal_next(&j, &mem))
                any = swp_is_again(j.rec.status);
        swp_journal_close(&j);
    }
    arena_fini(&mem);
    return any;
}

vs_status swp_again_begin(swp_book *b)
{
    b->old.there = true;
    return put_aside(b);
}

/* Which points are good, and which are to be computed again. */
static void look_through(swp_book *b, const char *journal, const char *results)
{
    swp_old *o = &b->old;
    swp_journal j;
    arena mem;
    bool same = true;
    arena_init(&mem);
    if (swp_journal_open(&j, journal, &mem)) {
        while (swp_journal_next(&j, &mem) &&
               (same = b->fd < 0 || (o->fd >= 0 && swp_sum_is(o->fd, j.start, j.end, j.sum)))) {
            if (swp_is_again(j.rec.status))
                vec_push(o->again, o->n);
            o->n++;
        }
        swp_journal_close(&j);
    }
    arena_fini(&mem);
    if (!same && b->say)
        fprintf(b->say, "vsim: '%s' is damaged behind point %lld of this run\n", results,
                (long long)o->n);
}

vs_status swp_again_open(swp_book *b)
{
    swp_old *o = &b->old;
    char *journal = aside_name(b->journal), *results = aside_name(b->path),
         *limits = aside_name(b->limits);
    vs_status st = VS_OK;
    o->fd = is_there(results) ? io_open(results, O_RDONLY) : -1;
    if (is_there(limits))
        o->limits = stream_open(limits);
    if (!swp_journal_open(&o->j, journal, &b->mem) || !swp_is_journal_of(&o->j, b))
        st = fail(b, journal, "belongs to another sweep: the deck or the options have changed", "");
    else
        look_through(b, journal, results ? results : journal);
    vs_free(journal);
    vs_free(results);
    vs_free(limits);
    return st;
}

/* Index of the first of the points to be computed again from turn k on. */
static size_t first_again(const swp_old *o, int64_t k)
{
    size_t from = 0, to = vec_len(o->again);
    while (from < to) {
        const size_t mid = (from + to) / 2;
        if (o->again[mid] < k)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

bool swp_again_has(const swp_book *b, int64_t k)
{
    const swp_old *o = &b->old;
    const size_t i = first_again(o, k);
    return k < o->n && (i == vec_len(o->again) || o->again[i] != k);
}

int64_t swp_again_left(const swp_book *b, int64_t k)
{
    const swp_old *o = &b->old;
    const int64_t behind = b->n_mine - (k > o->n ? k : o->n);
    return behind + (int64_t)(vec_len(o->again) - first_again(o, k));
}

/* The lines of the log of limits for this point; a vec. */
static char *limits_of(swp_old *o, int64_t point)
{
    char *text = NULL;
    while (o->limits) {
        if (!o->n_line && (o->n_line = stream_line(&o->line, &o->cap, o->limits)) <= 0)
            break;
        long long number;
        if (sscanf(o->line, SWP_POINT_LINE "%lld:", &number) == 1)
            o->of = number - 1;
        else
            for (ssize_t i = 0; i < o->n_line && o->of == point; i++)
                vec_push(text, o->line[i]);
        if (o->of > point)
            break;
        o->n_line = 0;
    }
    return text;
}

vs_status swp_again_copy(swp_book *b, int64_t k)
{
    swp_old *o = &b->old;
    const int64_t point = b->shard + k * b->n_shard;
    do
        if (!swp_journal_next(&o->j, &b->mem))
            return fail(b, b->journal, "has changed: what was put aside is not whole", "");
    while (o->j.rec.point < point);
    char *limit = limits_of(o, point);
    const vs_status st = swp_book_copy(b, &o->j, o->fd, limit, vec_len(limit), false);
    vec_free(limit);
    return st;
}

void swp_again_close(swp_book *b, bool finished)
{
    swp_old *o = &b->old;
    if (o->j.fp)
        swp_journal_close(&o->j);
    if (o->limits)
        stream_close(o->limits);
    if (o->fd >= 0 && o->there)
        (void)io_close(o->fd);
    vs_free(o->line);
    vec_free(o->again);
    if (finished && o->there)
        remove_aside(b);
    *o = (swp_old){.fd = -1};
}
