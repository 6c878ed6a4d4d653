/* conv_late.c - files made from values that stand in another file: a piece of these is in memory at
 * a time, and what is made of them goes to the new file at once.
 * Piece:  CONV_PIECE values, runs of points of up to CONV_VECTORS vectors. Of long rows, which a
 *         piece has few of, it has a part alone: bytes that stand together are read once. */
#include <errno.h>
#include <string.h>

#include "conv_priv.h"
#include "stream.h"

bool conv_late(const post_plot *p)
{
    bool late = false;
    for (size_t i = 0; i < vec_len(p->vec) && p->from && !late; i++)
        late = !p->vec[i]->v;
    return late;
}

/* -- values -- */

size_t conv_n_column(const post_plot *p, size_t first, size_t n_vec)
{
    size_t n = 0;
    for (size_t i = first; i < first + n_vec; i++)
        n += 1 + p->vec[i]->complex;
    return n;
}

size_t conv_batch(const post_plot *p, size_t first)
{
    const size_t left = vec_len(p->vec) - first;
    return left < CONV_VECTORS ? left : CONV_VECTORS;
}

int64_t conv_run(size_t columns) { return CONV_PIECE / (int64_t)(columns ? columns : 1); }

static void copy_part(const post_plot *p, size_t first, size_t n_vec, int64_t from, int64_t n,
                      double *out)
{
    for (size_t i = first; i < first + n_vec; i++)
        for (int part = 0; part <= p->vec[i]->complex; part++)
            for (int64_t k = 0; k < n; k++)
                *out++ = part ? conv_im(p->vec[i], from + k) : conv_re(p->vec[i], from + k);
}

vs_status conv_part(conv_job *j, const post_plot *p, size_t first, size_t n_vec, int64_t from,
                    int64_t n, double *out)
{
    if (!conv_late(p))
        copy_part(p, first, n_vec, from, n, out);
    else if (!post_part(p, first, n_vec, from, n, out))
        return conv_fail(j, "is not written: what it is made from ended meanwhile");
    return VS_OK;
}

void conv_put_doubles(FILE *fp, const double *x, int64_t n)
{
    enum { LOT = 512 };
    unsigned char b[LOT * 8];
    for (int64_t at = 0; at < n; at += LOT) {
        const int64_t k = n - at < LOT ? n - at : LOT;
        for (int64_t i = 0; i < k; i++) {
            uint64_t u;
            memcpy(&u, &x[at + i], sizeof u);
            for (int c = 0; c < 8; c++)
                b[8 * i + c] = (unsigned char)(u >> 8 * c);
        }
        fwrite(b, 8, (size_t)k, fp);
    }
}

/* -- the new file -- */

typedef struct target {
    heap_owned own;
    file_new to;
    FILE *fp;
} target;

static void drop_target(void *what, size_t n)
{
    (void)n;
    (void)file_end(&((target *)what)->to, false);
}

/* false: errno */
static bool begin_target(target *t, const char *path)
{
    if (!file_begin(&t->to, path, FILES_RESULTS))
        return false;
    heap_own(&t->own, drop_target, t);
    t->fp = stream_to(t->to.fd);
    if (t->fp)
        return true;
    const int why = errno;
    heap_disown(&t->own);
    (void)file_end(&t->to, false);
    errno = why;
    return false;
}

/* The file gets its name if `keep`, and all of it is written. false: errno. */
static bool end_target(target *t, bool keep)
{
    heap_disown(&t->own);
    const bool bad = ferror(t->fp) != 0, lost = stream_close(t->fp) || bad;
    const int why = errno ? errno : ENOSPC;
    const bool ended = file_end(&t->to, keep && !lost);
    errno = lost ? why : errno;
    return ended && !lost;
}

vs_status conv_write_late(conv_job *j, conv_write_fn *write)
{
    target *t = vs_calloc(1, sizeof *t);
    errno = 0;
    if (!begin_target(t, j->path)) {
        snprintf(j->why, CONV_WHY, "%s", files_why(errno));
        vs_free(t);
        return VS_EIO;
    }
    j->fp = t->fp;
    j->part = t->to.part;
    for (size_t i = 0; i < j->n && !j->part; i++) /* a pipe: there is no way back in it */
        post_fetch_all(j->plot[i]);
    vs_status st = write(j);
    if (!end_target(t, !st) && !st) {
        snprintf(j->why, CONV_WHY, "%s", files_why(errno));
        st = VS_EIO;
    }
    vs_free(t);
    return st;
}
