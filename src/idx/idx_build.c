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
    bool fine;                                      /* with rounded cells */
    double lo[IDX_STRIP], hi[IDX_STRIP];            /* of the present block */
    const double *first[IDX_FINE], *last[IDX_FINE]; /* rows of its parts */
    double part_lo[IDX_FINE][IDX_STRIP], part_hi[IDX_FINE][IDX_STRIP];
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

/* -- rounded cells -- */

static double unround(const idx_cell *of, uint16_t part)
{
    const double t = (double)part / IDX_PARTS, v = of->lo * (1 - t) + of->hi * t;
    return v < of->lo ? of->lo : v > of->hi ? of->hi : v;
}

/* The part that is next to v, not above it or not below it where `side` is -1 or 1. */
static uint16_t round_to(const idx_cell *of, double v, int side)
{
    if (!isfinite(v))
        return isnan(v) ? IDX_NAN : v > 0 ? IDX_ABOVE : IDX_BELOW;
    const double wide = of->hi / 2 - of->lo / 2; /* halves: hi - lo may be too large for a number */
    const double t = wide > 0 ? (v / 2 - of->lo / 2) / wide * IDX_PARTS : 0;
    int k = (int)(side < 0 ? floor(t) : side > 0 ? ceil(t) : t + 0.5);
    k = k < 0 ? 0 : k > IDX_PARTS ? IDX_PARTS : k;
    while (side < 0 && k > 0 && unround(of, (uint16_t)k) > v)
        k--;
    while (side > 0 && k < IDX_PARTS && unround(of, (uint16_t)k) < v)
        k++;
    return (uint16_t)k;
}

static idx_fine round_cell(const idx_cell *of, const idx_cell *part)
{
    idx_fine f = {.lo = 1, .hi = 0};
    f.first = round_to(of, part->first, 0);
    f.last = round_to(of, part->last, 0);
    if (part->lo <= part->hi) {
        f.lo = round_to(of, part->lo, -1);
        f.hi = round_to(of, part->hi, 1);
    }
    return f;
}

static double any_value(const idx_cell *of, uint16_t part)
{
    return part == IDX_NAN     ? (double)NAN
           : part == IDX_ABOVE ? (double)INFINITY
           : part == IDX_BELOW ? (double)-INFINITY
                               : unround(of, part);
}

idx_cell idx_unround(const idx_cell *of, const idx_fine *part)
{
    idx_cell c = {any_value(of, part->first), INFINITY, -INFINITY, any_value(of, part->last)};
    if (part->lo <= part->hi) {
        c.lo = unround(of, part->lo);
        c.hi = unround(of, part->hi);
    }
    return c;
}

/* -- levels -- */

enum { OFTEN = 1 << 20 };
static const double barely = 1e-3;

/* Parts of a block's range at v[width], `more` above: 0 to IDX_PARTS. */
VS_CLONES static void parts_of(const double *v, const double *restrict lo,
                               const double *restrict scale, int32_t width, double more,
                               uint16_t *restrict to)
{
    for (int32_t c = 0; c < width; c++) {
        double t = (v[c] - lo[c]) * scale[c] + more;
        t = t > 0 ? t : 0;
        t = t < IDX_PARTS ? t : IDX_PARTS;
        to[c] = (uint16_t)(int32_t)t;
    }
}

/* Parts over the range, for parts_of; 0 if it is a single value. `plain`: all values are finite,
 * and the parts are so wide, beside the values, that what is rounded in them is far below `barely`.
 */
VS_CLONES static void scales_of(const double *restrict lo, const double *restrict hi,
                                const double *restrict finite, int32_t width,
                                double *restrict scale, double *restrict plain)
{
    for (int32_t c = 0; c < width; c++) {
        const double wide = hi[c] - lo[c], size = fmax(fabs(lo[c]), fabs(hi[c]));
        const bool some = wide * OFTEN > size && wide > 1e-290 && wide < 1e300;
        scale[c] = some ? IDX_PARTS / wide : 0;
        plain[c] = finite[c] == 0 && (some || wide == 0);
    }
}

/* The n rows of a block in parts of `step` rows: the first and last row of each, its extremes, and
 * those of all. */
static int split_block(strip *s, const double *v, int64_t n, int64_t step)
{
    int k = 0;
    for (int64_t at = 0; at < n; at += step, k++) {
        const int64_t rows = n - at < step ? n - at : step;
        s->first[k] = v + at * s->width;
        s->last[k] = s->first[k] + (rows - 1) * s->width;
        extremes(s->first[k], rows, s->width, s->part_lo[k], s->part_hi[k]);
        for (int32_t c = 0; c < s->width; c++) {
            s->lo[c] = k && s->lo[c] < s->part_lo[k][c] ? s->lo[c] : s->part_lo[k][c];
            s->hi[c] = k && s->hi[c] > s->part_hi[k][c] ? s->hi[c] : s->part_hi[k][c];
        }
    }
    return k;
}

/* Computes the rounded cells of a block that was split into n. */
static void fill_fine(strip *s, int n, int64_t b, idx_record *r)
{
    double scale[IDX_STRIP], plain[IDX_STRIP], finite[IDX_STRIP] = {0};
    uint16_t to[4][IDX_STRIP];
    for (int k = 0; k < n; k++) /* 0 times what is not finite is NaN */
        for (int32_t c = 0; c < s->width; c++)
            finite[c] += 0 * s->first[k][c] + 0 * s->last[k][c];
    scales_of(s->lo, s->hi, finite, s->width, scale, plain);
    for (int k = 0; k < n; k++) {
        parts_of(s->first[k], s->lo, scale, s->width, 0.5, to[0]);
        parts_of(s->part_lo[k], s->lo, scale, s->width, -barely, to[1]);
        parts_of(s->part_hi[k], s->lo, scale, s->width, 1 + barely, to[2]);
        parts_of(s->last[k], s->lo, scale, s->width, 0.5, to[3]);
        for (int32_t c = 0; c < s->width; c++) {
            const idx_cell part = {s->first[k][c], s->part_lo[k][c], s->part_hi[k][c],
                                   s->last[k][c]};
            r[c].fine[b * IDX_FINE + k] = plain[c] != 0
                                              ? (idx_fine){to[0][c], to[1][c], to[2][c], to[3][c]}
                                              : round_cell(&r[c].base[b], &part);
        }
    }
}

/* Computes a cell of the lowest level of each column's record from n rows, and its rounded cells if
 * there are any. */
static void fill_block(strip *s, const double *v, int64_t n, int64_t b, idx_record *r)
{
    const int parts = split_block(s, v, n, s->fine ? s->block / IDX_FINE : s->block);
    for (int32_t c = 0; c < s->width; c++)
        r[c].base[b] = (idx_cell){s->first[0][c], s->lo[c], s->hi[c], s->last[parts - 1][c]};
    if (s->fine)
        fill_fine(s, parts, b, r);
}

/* Computes the lowest level of each column's record. */
static void fill_base(strip *s, idx_record *r)
{
    for (int64_t at = 0, b = 0; at < s->n; at += s->block, b++)
        fill_block(s, s->v + at * s->width, s->n - at < s->block ? s->n - at : s->block, b, r);
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
    idx_record_seal(r, s->fine);
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

static bool write_records(const idx *x, const idx_part *p, int64_t chunk, int32_t c0, int32_t width,
                          const idx_record *r)
{
    const size_t bytes = (size_t)idx_record_bytes(p);
    bool ok = true;
    if (bytes == sizeof *r) /* they stand in the file as they stand here */
        return idx_pwrite(x->index, r, (size_t)width * bytes, idx_record_at(p, chunk, c0));
    for (int32_t c = 0; c < width && ok; c++)
        ok = idx_pwrite(x->index, &r[c], bytes, idx_record_at(p, chunk, c0 + c));
    return ok;
}

static const char *build_chunk(idx *x, const idx_part *p, int64_t chunk, const room *to)
{
    const int64_t from = chunk * idx_chunk(p), left = p->p.n_point - from;
    const int64_t n = left < idx_chunk(p) ? left : idx_chunk(p);
    for (int32_t c0 = 0; c0 < idx_n_col(p); c0 += IDX_STRIP) {
        const int32_t more = idx_n_col(p) - c0, width = more < IDX_STRIP ? more : IDX_STRIP;
        strip s = {
            .v = to->v, .n = n, .block = idx_block(p), .width = width, .fine = idx_has_fine(p)};
        if (!read_strip(x, p, from, n, c0, width, to->v))
            return "ends earlier than it did";
        memset(to->rec, 0, (size_t)width * sizeof *to->rec);
        fill_base(&s, to->rec);
        for (int32_t c = 0; c < width; c++)
            fill_record(&s, c, &to->rec[c]);
        if (!write_records(x, p, chunk, c0, width, to->rec))
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
