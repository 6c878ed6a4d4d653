/* swp_merge.c - the results of a sweep's shards, as one. The journals beside them say where those
 * of each point begin and end. */
#include "swp_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shard {
    const char *path;
    swp_journal j;
    int fd;
} shard;

static vs_status refuse(char why[300], const char *path, const char *what)
{
    snprintf(why, 300, "'%s' %s", path, what);
    return VS_EINPUT;
}

static vs_status open_shard(shard *p, const char *path, arena *mem, char why[300])
{
    p->path = path;
    (void)files_input(path);
    if (!swp_journal_open(&p->j, arena_printf(mem, "%s.journal", path), mem))
        return refuse(why, path, "has no journal beside it: it is no result of --shard");
    p->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (p->fd >= 0)
        return VS_OK;
    snprintf(why, 300, "'%s' cannot be read: %s", path, strerror(errno));
    return VS_EIO;
}

/* Sorts them by number. Status: VS_EINPUT: one is missing or there twice. */
static vs_status sort_shards(shard *p, size_t n, char why[300])
{
    for (size_t i = 0; i < n; i++) {
        const swp_journal *a = &p[0].j, *b = &p[i].j;
        if (b->id != a->id || b->total != a->total || b->n_shard != a->n_shard ||
            b->format != a->format || vec_len(b->meas) != vec_len(a->meas) ||
            vec_len(b->step) != vec_len(a->step))
            return refuse(why, p[i].path, "belongs to another sweep than the first part");
    }
    if ((size_t)p[0].j.n_shard != n) {
        snprintf(why, 300, "the sweep has %d shards, %zu were given", p[0].j.n_shard, n);
        return VS_EINPUT;
    }
    for (size_t i = 0; i < n; i++)
        while ((size_t)p[i].j.shard != i) {
            const size_t to = (size_t)p[i].j.shard;
            if ((size_t)p[to].j.shard == to)
                return refuse(why, p[i].path, "is a shard that was given twice");
            shard t = p[i];
            p[i] = p[to];
            p[to] = t;
        }
    return VS_OK;
}

/* Checks that nothing follows the last point, in the file and in its journal. */
static vs_status check_end(shard *p, char why[300])
{
    struct stat sb;
    if (!fstat(p->fd, &sb) && S_ISREG(sb.st_mode) && sb.st_size != p->j.end)
        return refuse(why, p->path, "is longer than its journal says");
    if (fgetc(p->j.fp) != EOF)
        return refuse(why, p->path, "has a journal with something behind the last point");
    return VS_OK;
}

static vs_status add_points(swp_book *b, shard *p, size_t n, char why[300])
{
    vs_status st = VS_OK;
    for (int64_t k = 0; k < b->total && !st; k++) {
        shard *q = &p[k % (int64_t)n];
        if (!swp_journal_next(&q->j, &b->mem) || q->j.rec.point != k) {
            snprintf(why, 300, "'%s' is not finished: point %lld is missing (go on with --resume)",
                     q->path, (long long)k + 1);
            return VS_EINPUT;
        }
        if (!swp_sum_is(q->fd, q->j.start, q->j.end, q->j.sum)) {
            snprintf(why, 300,
                     "the results of point %lld in '%s' are not those that were written "
                     "(--resume computes them again)",
                     (long long)k + 1, q->path);
            return VS_EINPUT;
        }
        st = swp_book_copy(b, &q->j, q->fd, NULL, 0, true);
        if (st)
            snprintf(why, 300, "%s", b->why);
    }
    for (size_t i = 0; i < n && !st; i++)
        st = check_end(&p[i], why);
    return st;
}

vs_status swp_merge(const char *out, const char *measures, const char *const *path, size_t n,
                    FILE *log, FILE *say, vs_status *worst, char why[300])
{
    arena mem;
    arena_init(&mem);
    shard *p = arena_array(&mem, shard, n + 1);
    vs_status st = VS_OK;
    *worst = VS_OK;
    for (size_t i = 0; i < n; i++)
        p[i].fd = -1;
    for (size_t i = 0; i < n && !st; i++)
        st = open_shard(&p[i], path[i], &mem, why);
    if (!st)
        st = sort_shards(p, n, why);
    if (!st) {
        swp_journal *j = &p[0].j;
        swp_book b = {.path = out,
                      .measures = measures,
                      .csv = j->format == OUT_CSV,
                      .table = vec_len(j->meas) > 0,
                      .format = j->format,
                      .total = j->total,
                      .n_mine = j->total,
                      .mc = j->mc,
                      .n_shard = 1,
                      .id = j->id,
                      .step = j->step,
                      .meas = j->meas,
                      .min = j->min,
                      .max = j->max,
                      .log = log,
                      .say = say};
        int64_t next;
        swp_book_init(&b);
        st = swp_book_open(&b, false, &next);
        if (st)
            snprintf(why, 300, "%s", b.why);
        if (!st)
            st = add_points(&b, p, n, why);
        const vs_status end = swp_book_close(&b, !st);
        if (end && !st)
            snprintf(why, 300, "%s", b.why);
        st = st ? st : end;
        *worst = b.worst;
        if (!st)
            fprintf(log, "sweep: %lld points, %lld failed\n", (long long)b.n_done,
                    (long long)b.n_failed);
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i].fd >= 0)
            close(p[i].fd);
        swp_journal_close(&p[i].j);
    }
    arena_fini(&mem);
    return st;
}
