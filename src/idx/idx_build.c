/* idx_build.c - the cells of an index, from the values: chunk by chunk, and of a chunk IDX_STRIP
 * columns at once, row by row as they stand in the file. */
#include <math.h>
#include <string.h>

#include "idx_priv.h"
#include "vec.h"

void idx_cell_join(idx_cell *a, const idx_cell *b)
{
    a->lo = b->lo < a->lo ? b->lo : a->lo;
    a->hi = b->hi > a->hi ? b->hi : a->hi;
    a->last = b->last;
}

/* The rows of a strip of columns. */
typedef struct strip {
    const double *v;  /* [n][width] */
    int64_t n, block; /* rows; of a cell */
    int32_t width;
    double lo[IDX_STRIP], hi[IDX_STRIP];
} strip;

VS_CLONES static void extremes(const double *v, int64_t n, int32_t width, double *restrict lo,
                               double *restrict hi)
{
    for (int32_t c = 0; c < width; c++) {
        lo[c] = INFINITY;
        hi[c] = -INFINITY;
    }
    for (int64_t i = 0; i < n; i++)
        for (int32_t c = 0; c < width; c++) {
            const double y = v[i * width + c];
            const bool finite = fabs(y) <= 1.7976931348623157e308; /* DBL_MAX; NaN: false */
            lo[c] = finite && y < lo[c] ? y : lo[c];
            hi[c] = finite && y > hi[c] ? y : hi[c];
        }
}

/* Computes the lowest level of each column's record. */
static void fill_base(strip *s, idx_record *r)
{
    for (int64_t at = 0, b = 0; at < s->n; at += s->block, b++) {
        const int64_t n = s->n - at < s->block ? s->n - at : s->block;
        const double *v = s->v + at * s->width;
        extremes(v, n, s->width, s->lo, s->hi);
        for (int32_t c = 0; c < s->width; c++)
            r[c].base[b] = (idx_cell){v[c], s->lo[c], s->hi[c], v[(n - 1) * s->width + c]};
    }
}

/* Computes the cells of a level from the n cells of the one below, `fan` in one. Returns their
 * number. */
static int64_t fill_level(idx_cell *to, const idx_cell *from, int64_t n, int64_t fan)
{
    for (int64_t i = 0; i < n; i++)
        if (i % fan)
            idx_cell_join(&to[i / fan], &from[i]);
        else
            to[i / fan] = from[i];
    return (n + fan - 1) / fan;
}

static bool rises(const strip *s, int32_t c)
{
    bool all = s->v[c] == s->v[c]; /* no NaN */
    for (int64_t i = 1; i < s->n && all; i++)
        all = s->v[i * s->width + c] >= s->v[(i - 1) * s->width + c];
    return all;
}

static void fill_record(const strip *s, int32_t c, idx_record *r)
{
    int64_t n = (s->n + s->block - 1) / s->block;
    r->n = s->n;
    r->rises = rises(s, c);
    n = fill_level(r->upper + 1 + IDX_FAN, r->base, n, IDX_BASE_FAN);
    n = fill_level(r->upper + 1, r->upper + 1 + IDX_FAN, n, IDX_FAN);
    fill_level(r->upper, r->upper + 1, n, IDX_FAN);
    idx_record_seal(r);
}

/* Buffers for a strip. */
typedef struct room {
    double *v;       /* [points of a chunk][IDX_STRIP] */
    idx_record *rec; /* [IDX_STRIP] */
} room;

/* Reads columns [c0, c0 + width) of the rows; whole rows if these are all columns. */
static bool read_strip(const idx *x, const idx_part *p, int64_t from, int64_t n, int32_t c0,
                       int32_t width, double *v)
{
    const int fd = x->copy >= 0 ? x->copy : x->fd;
    const int64_t row = idx_row_bytes(p), at = p->at + from * row;
    const size_t bytes = (size_t)width * sizeof *v;
    bool ok = true;
    if (width == idx_n_col(p))
        return idx_pread(fd, v, (size_t)(n * row), at);
    for (int64_t i = 0; i < n && ok; i++)
        ok = idx_pread(fd, v + i * width, bytes, at + i * row + c0 * (int64_t)sizeof *v);
    return ok;
}

static const char *build_chunk(idx *x, const idx_part *p, int64_t chunk, const room *to)
{
    const int64_t from = chunk * idx_chunk(p), left = p->p.n_point - from;
    const int64_t n = left < idx_chunk(p) ? left : idx_chunk(p);
    for (int32_t c0 = 0; c0 < idx_n_col(p); c0 += IDX_STRIP) {
        const int32_t more = idx_n_col(p) - c0, width = more < IDX_STRIP ? more : IDX_STRIP;
        strip s = {.v = to->v, .n = n, .block = idx_block(p), .width = width};
        const size_t bytes = (size_t)width * sizeof *to->rec;
        if (!read_strip(x, p, from, n, c0, width, to->v))
            return "ends earlier than it did";
        memset(to->rec, 0, bytes);
        fill_base(&s, to->rec);
        for (int32_t c = 0; c < width; c++)
            fill_record(&s, c, &to->rec[c]);
        if (!idx_pwrite(x->index, to->rec, bytes, idx_record_at(p, chunk, c0)))
            return "has no index: it cannot be written";
    }
    return NULL;
}

/* Points of a plot that are not yet indexed and should be. */
static int64_t missing(const idx_part *p) { return idx_worth(p) ? p->p.n_point - p->n_indexed : 0; }

/* Whether it pays to index the last plot now: one that grows waits for whole chunks. */
static bool waits(const idx *x, size_t k)
{
    const int64_t n = missing(&x->part[k]);
    return !n || (x->grew && k + 1 == vec_len(x->part) && x->part[k].n_indexed && n < IDX_FEW);
}

static const char *begin_part(idx *x, idx_part *p)
{
    if ((x->index < 0 || x->readonly) && !idx_store_new(x))
        return "has no index: no file can be made for it";
    if (!p->index_at)
        p->index_at = x->index_end;
    return NULL;
}

static const char *build_some(idx *x, int64_t bytes, room *to)
{
    const char *why = NULL;
    for (size_t k = 0; k < vec_len(x->part) && bytes > 0 && !why; k++) {
        idx_part *p = &x->part[k];
        if (waits(x, k))
            continue;
        if ((why = begin_part(x, p)))
            break;
        while (bytes > 0 && p->n_indexed < p->p.n_point && !why) {
            const int64_t chunk = p->n_indexed / idx_chunk(p), end = (chunk + 1) * idx_chunk(p);
            why = build_chunk(x, p, chunk, to);
            if (why)
                break;
            p->n_indexed = end < p->p.n_point ? end : p->p.n_point;
            bytes -= idx_chunk(p) * idx_row_bytes(p);
        }
        const int64_t here = p->index_at + idx_chunks_bytes(p, p->n_indexed);
        x->index_end = here > x->index_end ? here : x->index_end;
    }
    return why;
}

static bool is_whole(const idx *x)
{
    for (size_t k = 0; k < vec_len(x->part); k++)
        if (missing(&x->part[k]))
            return false;
    return true;
}

vs_status idx_build(idx *x, int64_t bytes, double *done, const char **why)
{
    double all = 0, there = 0;
    bool work = false;
    *why = NULL;
    for (size_t k = 0; k < vec_len(x->part); k++)
        work |= !waits(x, k);
    if (work) {
        room r = {vs_malloc((size_t)IDX_BLOCK * IDX_BASE * IDX_STRIP * sizeof *r.v),
                  vs_malloc(IDX_STRIP * sizeof *r.rec)};
        *why = build_some(x, bytes, &r);
        vs_free(r.v);
        vs_free(r.rec);
    }
    if (!*why && is_whole(x)) /* without work: a short plot came */
        idx_store_finish(x);
    for (size_t k = 0; k < vec_len(x->part); k++) {
        const idx_part *p = &x->part[k];
        all += idx_worth(p) ? (double)p->p.n_point * (double)idx_row_bytes(p) : 0;
        there += (double)p->n_indexed * (double)idx_row_bytes(p);
        if (idx_worth(p) && waits(x, k))
            there += (double)missing(p) * (double)idx_row_bytes(p);
    }
    *done = all > 0 ? there / all : 1;
    return *why ? VS_EIO : VS_OK;
}
