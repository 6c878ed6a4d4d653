/* idx.c - files, plots, values; finds out whether a file changed. See idx.h. */
#define _GNU_SOURCE
#include "idx_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io.h"
#include "out_name.h"
#include "vec.h"

enum { READ_BYTES = 1 << 17, COPY_BYTES = 1 << 20, MARK_BYTES = 4096 };

int32_t idx_n_col(const idx_part *p) { return p->p.n_vec * (1 + p->p.complex); }
int64_t idx_row_bytes(const idx_part *p) { return (int64_t)idx_n_col(p) * (int64_t)sizeof(double); }
int64_t idx_block(const idx_part *p)
{
    return idx_row_bytes(p) > IDX_LONG_ROW ? IDX_BLOCK_LONG : IDX_BLOCK;
}
int64_t idx_chunk(const idx_part *p) { return idx_block(p) * IDX_BASE; }
bool idx_has_fine(const idx_part *p) { return idx_block(p) == IDX_BLOCK; }

bool idx_pread(int fd, void *to, size_t n, int64_t at)
{
    for (char *s = to; n;) {
        const ssize_t k = pread(fd, s, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
        at += k;
    }
    return true;
}

bool idx_pwrite(int fd, const void *from, size_t n, int64_t at)
{
    for (const char *s = from; n;) {
        const ssize_t k = pwrite(fd, s, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
        at += k;
    }
    return true;
}

/* -- plots -- */

static bool same_names(const idx_plot *a, const idx_plot *b)
{
    const size_t n = (size_t)a->n_vec;
    return a->n_vec == b->n_vec && !memcmp(a->name, b->name, n * sizeof *a->name) &&
           !memcmp(a->type, b->type, n * sizeof *a->type);
}

/* The names of a plot. Those of a family are the same and are stored once. */
static void take_names(idx *x, idx_plot *p, const out_plot *from)
{
    const arena_pos before = arena_mark(&x->mem);
    const char **name = arena_array(&x->mem, const char *, from->n_vec + 1),
               **type = arena_array(&x->mem, const char *, from->n_vec + 1);
    for (int32_t i = 0; i < from->n_vec; i++) {
        char own[OUT_NAME];
        const char *s = out_own_name(own, from->name[i]);
        name[i] = str_intern0(&x->names, s);
        type[i] = str_intern0(&x->names, out_own_type(s, from->type[i]));
    }
    p->n_vec = from->n_vec;
    p->name = name;
    p->type = type;
    const size_t n = vec_len(x->part);
    if (n && same_names(&x->part[n - 1].p, p)) {
        arena_release(&x->mem, before);
        p->name = x->part[n - 1].p.name;
        p->type = x->part[n - 1].p.type;
    }
}

static void take_plot(idx *x, const out_plot *from, const out_place *place)
{
    const bool table = !from->plot;
    const int64_t row = (int64_t)from->n_vec * (1 + from->complex) * (int64_t)sizeof(double);
    idx_part p = {.head = place->head, .at = place->at, .rises = true};
    p.p.title = str_intern0(&x->names, from->title ? from->title : x->path);
    p.p.what = str_intern0(&x->names, table ? "Table" : from->plot);
    p.p.complex = from->complex;
    p.p.n_point = from->n_point;
    take_names(x, &p.p, from);
    p.p.axis = p.p.n_vec && (table || out_is_axis(from->name[0], from->type[0]));
    if (!place->binary)
        p.at = x->copied - from->n_point * row;
    vec_push(x->part, p);
}

/* -- text, copied in binary -- */

static bool flush_copy(idx *x)
{
    const size_t n = vec_len(x->copy_row) * sizeof *x->copy_row;
    const bool ok = !n || idx_pwrite(x->copy, x->copy_row, n, x->copied - (int64_t)n);
    vec_clear(x->copy_row);
    return ok;
}

typedef struct copying {
    idx *x;
    int64_t n_value;
} copying;

static bool begin_copy(void *user, int64_t n_value)
{
    copying *c = user;
    c->n_value = n_value;
    if (c->x->copy < 0)
        c->x->copy = idx_nameless(c->x, false);
    return c->x->copy >= 0;
}

static bool copy_row(void *user, const double *value)
{
    copying *c = user;
    idx *x = c->x;
    const size_t at = vec_len(x->copy_row), n = (size_t)c->n_value;
    vec_extend(x->copy_row, n);
    memcpy(x->copy_row + at, value, n * sizeof *value);
    x->copied += c->n_value * (int64_t)sizeof *value;
    return vec_len(x->copy_row) < COPY_BYTES / sizeof *value || flush_copy(x);
}

/* -- reading all headers -- */

/* Reads the headers of the plots from the reader's place on. */
static const char *read_plots(idx *x)
{
    const char *why = NULL;
    out_plot p;
    out_place place;
    copying c = {x, 0};
    const out_sink sink = {begin_copy, copy_row, &c};
    while (!out_read_place(x->r, &p, &place, &sink, &why)) {
        take_plot(x, &p, &place);
        out_plot_free(&p);
    }
    if (!flush_copy(x))
        why = OUT_GIVEN_UP;
    return why && strcmp(why, OUT_NO_PLOT) ? why : NULL;
}

static bool look_at_file(const idx *x, struct stat *sb) { return !fstat(x->fd, sb); }

static void note_time(idx *x, const struct stat *sb)
{
    x->size = (int64_t)sb->st_size;
    x->mtime_s = (int64_t)sb->st_mtim.tv_sec;
    x->mtime_ns = (int64_t)sb->st_mtim.tv_nsec;
}

/* Hash of the first bytes, up to the count of points, and of the last row that is known. */
static hash128 mark_of(const idx *x)
{
    char buf[MARK_BYTES + sizeof(hash128)];
    size_t n = (size_t)x->mark_n;
    if (n && !idx_pread(x->fd, buf, n, 0))
        n = 0;
    const int64_t row = x->mark_row < MARK_BYTES ? x->mark_row : MARK_BYTES;
    hash128 head = hash128_of(buf, n), sum;
    memcpy(buf, &head, sizeof head);
    n = sizeof head;
    if (row && idx_pread(x->fd, buf + n, (size_t)row, x->mark_at))
        n += (size_t)row;
    sum = hash128_of(buf, n);
    return sum;
}

static void set_mark(idx *x)
{
    char head[MARK_BYTES + 1];
    int64_t n = x->size < MARK_BYTES ? x->size : MARK_BYTES;
    if (!idx_pread(x->fd, head, (size_t)n, 0))
        n = 0;
    head[n] = 0;
    const char *count = memmem(head, (size_t)n, "No. Points:", 11);
    x->mark_n = count ? count - head : 0;
    x->mark_row = 0;
    const size_t k = vec_len(x->part);
    const idx_part *p = k ? &x->part[k - 1] : NULL;
    if (p && x->copy < 0 && p->p.n_point) {
        x->mark_row = idx_row_bytes(p);
        x->mark_at = p->at + (p->p.n_point - 1) * x->mark_row;
    }
    x->mark = mark_of(x);
}

static const char *read_all(idx *x)
{
    struct stat sb;
    if (!look_at_file(x, &sb) || !S_ISREG(sb.st_mode))
        return "is no regular file";
    note_time(x, &sb);
    const char *why = read_plots(x);
    if (!vec_len(x->part))
        return why ? why : "is empty";
    x->damage = why;
    set_mark(x);
    return NULL;
}

vs_status idx_open(idx **to, const char *path, bool keep, const char **why)
{
    idx *x = vs_calloc(1, sizeof *x);
    *to = NULL;
    x->path = vs_strdup(path);
    x->copy = x->index = -1;
    x->keep = keep;
    arena_init(&x->mem);
    str_pool_init(&x->names);
    vs_status st = out_read_open(&x->r, path, why);
    if (!st) {
        x->fd = out_read_fd(x->r);
        *why = read_all(x);
        st = *why ? VS_EINPUT : VS_OK;
    }
    if (st)
        idx_close(&x);
    else
        idx_store_find(x);
    *to = x;
    return st;
}

static void forget_parts(idx *x)
{
    for (size_t k = 0; k < vec_len(x->part); k++)
        vec_free(x->part[k].begin);
    vec_clear(x->part);
}

void idx_close(idx **to)
{
    idx *x = *to;
    if (!x)
        return;
    idx_store_drop(x);
    out_read_close(&x->r);
    if (x->copy >= 0)
        io_close(x->copy);
    vec_free(x->copy_row);
    forget_parts(x);
    vec_free(x->part);
    str_pool_fini(&x->names);
    arena_fini(&x->mem);
    vs_free(x->path);
    vs_free(x);
    *to = NULL;
}

const char *idx_damage(const idx *x) { return x->damage; }
int32_t idx_n_plot(const idx *x) { return (int32_t)vec_len(x->part); }
const idx_plot *idx_plot_of(const idx *x, int32_t k) { return &x->part[k].p; }
bool idx_found(const idx *x) { return x->found; }

/* -- what became of it -- */

/* Reads the last plot once more, and the plots behind it. false: it is another plot now. */
static bool read_on(idx *x)
{
    const size_t k = vec_len(x->part) - 1;
    const idx_part last = x->part[k];
    if (out_read_from(x->r, last.head))
        return false;
    (void)vec_pop(x->part);
    x->damage = read_plots(x);
    if (vec_len(x->part) <= k) {
        vec_push(x->part, last);
        return false;
    }
    idx_part *p = &x->part[k];
    p->begin = last.begin;
    if (p->at != last.at || p->p.n_vec != last.p.n_vec || p->p.complex != last.p.complex ||
        p->p.n_point < last.p.n_point)
        return false;
    p->index_at = last.index_at;
    p->n_indexed = last.n_indexed;
    p->rises = last.rises;
    p->n_rises = last.n_rises;
    p->last_x = last.last_x;
    return true;
}

/* Reads a file of text again from its beginning. */
static bool copy_again(idx *x)
{
    const size_t n = vec_len(x->part);
    const int64_t before = x->part[n - 1].p.n_point;
    idx_store_drop(x);
    forget_parts(x);
    x->copied = 0;
    if (out_read_from(x->r, 0))
        return false;
    x->damage = read_plots(x);
    const size_t now = vec_len(x->part);
    return now > n || (now == n && x->part[n - 1].p.n_point >= before);
}

idx_change idx_refresh(idx *x)
{
    struct stat sb, here;
    if (stat(x->path, &sb))
        return errno == ENOENT ? IDX_GONE : IDX_REPLACED;
    if (!look_at_file(x, &here) || sb.st_ino != here.st_ino || sb.st_dev != here.st_dev ||
        (int64_t)here.st_size < x->size)
        return IDX_REPLACED;
    if ((int64_t)here.st_size == x->size && (int64_t)here.st_mtim.tv_sec == x->mtime_s &&
        (int64_t)here.st_mtim.tv_nsec == x->mtime_ns)
        return IDX_SAME;
    const hash128 mark = mark_of(x);
    if (memcmp(&mark, &x->mark, sizeof mark) != 0)
        return IDX_REPLACED;
    const size_t k = vec_len(x->part) - 1;
    const int64_t before = x->part[k].p.n_point;
    note_time(x, &here);
    if (!(x->copy >= 0 ? copy_again(x) : read_on(x)))
        return IDX_REPLACED;
    set_mark(x);
    if (vec_len(x->part) == k + 1 && x->part[k].p.n_point == before)
        return IDX_SAME;
    x->grew = true;
    return IDX_GREW;
}

void idx_whole(idx *x) { x->grew = false; }

/* -- values -- */

/* Reads whole rows, where these are short, and takes the columns out of them. */
static bool pick_rows(int fd, const idx_part *p, const int32_t *col, int32_t n_col, int64_t from,
                      int64_t n, double *out)
{
    const int64_t row = idx_row_bytes(p), width = idx_n_col(p);
    const int64_t most = READ_BYTES / row < 1 ? 1 : READ_BYTES / row, step = n < most ? n : most;
    double *buf = vs_malloc((size_t)(step * row) + 1);
    bool ok = true;
    for (int64_t at = 0; at < n && ok; at += step) {
        const int64_t k = n - at < step ? n - at : step;
        ok = idx_pread(fd, buf, (size_t)(k * row), p->at + (from + at) * row);
        for (int32_t c = 0; c < n_col && ok; c++)
            for (int64_t i = 0; i < k; i++)
                out[c * n + at + i] = buf[i * width + col[c]];
    }
    vs_free(buf);
    return ok;
}

/* Reads a part of each row, and takes the columns out of it: these rise. */
static bool pick_parts(int fd, const idx_part *p, const int32_t *col, int32_t n_col, int64_t from,
                       int64_t n, double *out)
{
    const int64_t row = idx_row_bytes(p), skip = col[0] * (int64_t)sizeof *out;
    const size_t width = (size_t)(col[n_col - 1] - col[0] + 1);
    double *buf = vs_malloc(width * sizeof *buf);
    bool ok = true;
    for (int64_t i = 0; i < n && ok; i++) {
        ok = idx_pread(fd, buf, width * sizeof *buf, p->at + (from + i) * row + skip);
        for (int32_t c = 0; c < n_col && ok; c++)
            out[c * n + i] = buf[col[c] - col[0]];
    }
    vs_free(buf);
    return ok;
}

/* Whether the columns rise and stand beside each other, or nearly. */
static bool are_near(const int32_t *col, int32_t n_col)
{
    bool rise = true;
    for (int32_t c = 1; c < n_col && rise; c++)
        rise = col[c] > col[c - 1];
    return rise && col[n_col - 1] - col[0] < 2 * n_col;
}

/* Reads a value of each of n <= LOT rows, the first one at offset `at`. Of those that are not in
 * memory all are asked for before the first is waited for: the disk serves many at once. */
enum { LOT = 1024 };
static bool pick_lot(int fd, int64_t at, int64_t row, int64_t n, double *out)
{
    int16_t waits[LOT];
    int n_wait = 0;
    bool ok = true;
    for (int64_t i = 0; i < n; i++) {
        const struct iovec to = {&out[i], sizeof *out};
        if (n > 1 && preadv2(fd, &to, 1, (off_t)(at + i * row), RWF_NOWAIT) == sizeof *out)
            continue;
        if (n > 1)
            (void)posix_fadvise(fd, (off_t)(at + i * row), sizeof *out, POSIX_FADV_WILLNEED);
        waits[n_wait++] = (int16_t)i;
    }
    for (int k = 0; k < n_wait && ok; k++)
        ok = idx_pread(fd, &out[waits[k]], sizeof *out, at + waits[k] * row);
    return ok;
}

bool idx_values(const idx *x, const idx_part *p, const int32_t *col, int32_t n_col, int64_t from,
                int64_t n, double *out)
{
    enum { FEW_COLUMNS = 64 };
    const int fd = x->copy >= 0 ? x->copy : x->fd;
    const int64_t row = idx_row_bytes(p);
    bool ok = true;
    if (row > IDX_LONG_ROW && n_col > FEW_COLUMNS && are_near(col, n_col))
        return pick_parts(fd, p, col, n_col, from, n, out);
    if (row * n > IDX_LONG_ROW && (row <= IDX_LONG_ROW || n_col > FEW_COLUMNS))
        return pick_rows(fd, p, col, n_col, from, n, out);
    for (int32_t c = 0; c < n_col; c++)
        for (int64_t i = 0; i < n && ok; i += LOT)
            ok = pick_lot(fd, p->at + (from + i) * row + (int64_t)col[c] * (int64_t)sizeof *out,
                          row, n - i < LOT ? n - i : LOT, &out[c * n + i]);
    return ok;
}

static const char cut_off[] = "ends earlier than it did";

vs_status idx_read(idx *x, int32_t plot, const int32_t *col, int32_t n_col, int64_t from, int64_t n,
                   double *out, const char **why)
{
    *why = cut_off;
    return idx_values(x, &x->part[plot], col, n_col, from, n, out) ? VS_OK : VS_EIO;
}

vs_status idx_read_rows(idx *x, int32_t plot, int64_t from, int64_t n, double *out,
                        const char **why)
{
    const idx_part *p = &x->part[plot];
    const int64_t row = idx_row_bytes(p);
    *why = cut_off;
    return idx_pread(x->copy >= 0 ? x->copy : x->fd, out, (size_t)(n * row), p->at + from * row)
               ? VS_OK
               : VS_EIO;
}
