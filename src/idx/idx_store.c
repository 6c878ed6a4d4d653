/* idx_store.c - the index as a file: a head of IDX_HEAD bytes, then the chunks of each plot that
 * has points for it, and of each chunk a record for each column. Where a record stands follows from
 * the numbers of columns and points alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "idx_priv.h"
#include "io.h"
#include "vec.h"

enum { IDX_HEAD = 4096 };

/* The number at the end of the magic is the version: of the cells, their order and this. */
typedef struct head {
    char magic[8];
    uint64_t one; /* 1 in the byte order of the machine that wrote it */
    int64_t size, mtime_s, mtime_ns, n_plot;
    hash128 plots; /* place, points and columns of each */
    hash128 sum;   /* of what is in front of it */
} head;
static const char magic[8] = "vsimidx3";

bool idx_worth(const idx_part *p) { return p->p.n_point > IDX_FEW; }

int64_t idx_record_bytes(const idx_part *p)
{
    return (int64_t)(idx_has_fine(p) ? sizeof(idx_record) : offsetof(idx_record, fine));
}

int64_t idx_chunks_bytes(const idx_part *p, int64_t n_point)
{
    const int64_t chunks = (n_point + idx_chunk(p) - 1) / idx_chunk(p);
    return idx_worth(p) ? chunks * idx_n_col(p) * idx_record_bytes(p) : 0;
}

int64_t idx_record_at(const idx_part *p, int64_t chunk, int32_t col)
{
    return p->index_at + (chunk * idx_n_col(p) + col) * idx_record_bytes(p);
}

static char *name_of(const idx *x) { return vs_text("%s.idx", x->path); }

static hash128 hash_plots(const idx *x)
{
    const size_t n = vec_len(x->part);
    int64_t *word = vs_calloc(3 * n + 1, sizeof *word);
    for (size_t k = 0; k < n; k++) {
        word[3 * k] = x->part[k].at;
        word[3 * k + 1] = x->part[k].p.n_point;
        word[3 * k + 2] = idx_n_col(&x->part[k]);
    }
    const hash128 h = hash128_of(word, 3 * n * sizeof *word);
    vs_free(word);
    return h;
}

static head head_of(const idx *x)
{
    head h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    h.one = 1;
    h.size = x->size;
    h.mtime_s = x->mtime_s;
    h.mtime_ns = x->mtime_ns;
    h.n_plot = (int64_t)vec_len(x->part);
    h.plots = hash_plots(x);
    h.sum = hash128_of(&h, offsetof(head, sum));
    return h;
}

/* Sets the places of each plot's chunks, once all points are known. */
static int64_t place_chunks(idx *x, bool indexed)
{
    int64_t at = IDX_HEAD;
    for (size_t k = 0; k < vec_len(x->part); k++) {
        idx_part *p = &x->part[k];
        p->index_at = at;
        p->n_indexed = indexed && idx_worth(p) ? p->p.n_point : 0;
        at += idx_chunks_bytes(p, p->p.n_point);
    }
    return at;
}

void idx_store_find(idx *x)
{
    char *name = x->copy < 0 ? name_of(x) : NULL;
    head h, want = head_of(x);
    struct stat sb;
    int fd = name ? io_open(name, O_RDWR) : -1;
    x->readonly = fd < 0;
    if (name && fd < 0)
        fd = io_open(name, O_RDONLY);
    vs_free(name);
    if (fd < 0)
        return;
    x->readonly |= !file_lock(fd);
    const bool fits = !fstat(fd, &sb) && S_ISREG(sb.st_mode) && idx_pread(fd, &h, sizeof h, 0) &&
                      !memcmp(&h, &want, sizeof h);
    if (!fits || (int64_t)sb.st_size != place_chunks(x, true)) {
        io_close(fd);
        return;
    }
    x->index = fd;
    x->index_end = (int64_t)sb.st_size;
    x->noted = h.sum;
    x->found = x->beside = true;
}

/* -- files without a name -- */

static int nameless_in(const char *folder)
{
    int fd = io_open(folder, O_RDWR | O_TMPFILE);
    if (fd >= 0)
        return fd;
    char *name = vs_text("%s/vsim-XXXXXX", folder);
    fd = io_nameless(name); /* for file systems without nameless files */
    vs_free(name);
    return fd;
}

int idx_nameless(const idx *x, bool beside)
{
    char *own = vs_strdup(x->path), *slash = strrchr(own, '/');
    if (slash)
        slash[slash == own] = 0;
    const char *folder[] = {P_tmpdir, slash ? own : "."};
    int fd = nameless_in(folder[beside]);
    if (fd < 0)
        fd = nameless_in(folder[!beside]);
    vs_free(own);
    return fd;
}

static bool wants_name(const idx *x) { return x->copy < 0 && (x->keep || x->size > IDX_LARGE); }

bool idx_store_new(idx *x)
{
    idx_store_drop(x);
    x->beside = x->readonly = false;
    x->noted = (hash128){0};
    x->index = idx_nameless(x, wants_name(x));
    x->index_end = IDX_HEAD;
    return x->index >= 0;
}

/* Gives a file without a name its name, in place of an old file. */
static bool give_name(idx *x)
{
    char from[64], *name = name_of(x), *part = vs_text("%s.part-%ld", name, (long)getpid());
    snprintf(from, sizeof from, "/proc/self/fd/%d", x->index);
    const bool ok = files_claim(name, FILES_INDEX) &&
                    !linkat(AT_FDCWD, from, AT_FDCWD, part, AT_SYMLINK_FOLLOW) &&
                    (!rename(part, name) || (unlink(part), false));
    vs_free(part);
    vs_free(name);
    return ok;
}

void idx_store_finish(idx *x)
{
    if (x->index < 0 || x->readonly || !wants_name(x))
        return;
    const head h = head_of(x);
    if (!memcmp(&h.sum, &x->noted, sizeof h.sum) || !idx_pwrite(x->index, &h, sizeof h, 0))
        return;
    x->noted = h.sum;
    if (!x->beside)
        x->beside = give_name(x) && file_lock(x->index);
}

void idx_store_drop(idx *x)
{
    if (x->index >= 0)
        io_close(x->index);
    x->index = -1;
    x->found = false;
    for (size_t k = 0; k < vec_len(x->part); k++) {
        idx_part *p = &x->part[k];
        p->index_at = p->n_indexed = p->n_rises = 0;
        vec_clear(p->begin);
    }
}

/* -- records -- */

static uint64_t sum_of(const void *p, size_t n) { return hash128_of(p, n).w[0]; }

static uint64_t upper_sum(const idx_record *r)
{
    return sum_of(&r->n, offsetof(idx_record, base) - offsetof(idx_record, n));
}

/* Where sections of a level stand in a record, and their sums. */
typedef struct shelf {
    size_t at, size; /* bytes; size: of a section */
    const uint64_t *sum;
} shelf;

static shelf shelf_of(const idx_record *r, idx_level of)
{
    return of == IDX_AT_BASE
               ? (shelf){offsetof(idx_record, base), IDX_SECTION * sizeof *r->base, r->sum_base}
               : (shelf){offsetof(idx_record, fine), IDX_SECTION * IDX_FINE * sizeof *r->fine,
                         r->sum_fine};
}

void idx_record_seal(idx_record *r, bool fine)
{
    for (int k = 0; k < IDX_FAN; k++) {
        r->sum_base[k] = sum_of(r->base + k * IDX_SECTION, IDX_SECTION * sizeof *r->base);
        r->sum_fine[k] = fine ? sum_of(r->fine + k * IDX_SECTION * IDX_FINE,
                                       IDX_SECTION * IDX_FINE * sizeof *r->fine)
                              : 0;
    }
    r->sum_upper = upper_sum(r);
}

static int64_t points_of(const idx_part *p, int64_t chunk)
{
    const int64_t n = p->n_indexed - chunk * idx_chunk(p);
    return n < idx_chunk(p) ? n : idx_chunk(p);
}

void idx_record_ask(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_level of)
{
    static const size_t end[] = {offsetof(idx_record, base), offsetof(idx_record, fine),
                                 sizeof(idx_record)};
    const size_t from = of ? end[of - 1] : 0, to = end[of];
    (void)posix_fadvise(x->index, (off_t)(idx_record_at(p, chunk, col) + (int64_t)from),
                        (off_t)(to - from), POSIX_FADV_WILLNEED);
}

bool idx_record_upper(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_record *r)
{
    return idx_pread(x->index, r, offsetof(idx_record, base), idx_record_at(p, chunk, col)) &&
           r->sum_upper == upper_sum(r) && r->n == points_of(p, chunk);
}

bool idx_record_sections(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_level of,
                         int from, int to, idx_record *r)
{
    const shelf s = shelf_of(r, of);
    const size_t at = s.at + (size_t)from * s.size;
    bool ok = idx_pread(x->index, (char *)r + at, (size_t)(to - from) * s.size,
                        idx_record_at(p, chunk, col) + (int64_t)at);
    for (int k = from; k < to && ok; k++)
        ok = s.sum[k] == sum_of((char *)r + s.at + (size_t)k * s.size, s.size);
    return ok;
}
