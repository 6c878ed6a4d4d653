/* idx_priv.h - between the files of src/idx:
 *     idx.c        files, plots, values; what became of a file
 *     idx_store.c  the index as a file: head, parts, sums
 *     idx_build.c  its cells, from the values
 *     idx_look.c   windows and cursors */
#ifndef IDX_PRIV_H
#define IDX_PRIV_H

#include "idx.h"
#include "hash.h"
#include "out.h"
#include "str.h"

/* Points of a cell of the lowest level, cells of a level in one of the next, levels above. */
enum {
    IDX_BLOCK = 64,
    IDX_FAN = 8,
    IDX_UPPER = 1 + IDX_FAN + IDX_FAN * IDX_FAN, /* cells of a chunk above the lowest level */
    IDX_BASE = IDX_FAN * IDX_FAN * IDX_FAN,      /* and of it */
    IDX_CHUNK = IDX_BLOCK * IDX_BASE,            /* points */
    IDX_STRIP = 128                              /* columns that are built at once */
};

typedef struct idx_cell {
    double first, lo, hi, last; /* lo > hi: none is finite */
} idx_cell;

/* Of a chunk and a column. Cells in the order of the points; those behind the last point are 0. */
typedef struct idx_record {
    uint64_t sum_upper, sum_base; /* of what stands from n to `base`, and of `base` */
    int64_t n;                    /* points */
    int64_t rises;                /* no value is less than the one before */
    idx_cell upper[IDX_UPPER];    /* 1, then 8, then 64 */
    idx_cell base[IDX_BASE];
} idx_record;

typedef struct idx_part {
    idx_plot p;
    int64_t head, at;  /* bytes: the header in the file; the points in it, or in the copy */
    int64_t index_at;  /* bytes: in the index; 0: not yet there */
    int64_t n_indexed; /* points */
    bool rises;        /* the axis, as far as it was looked at: */
    int64_t n_rises;   /* points */
    double last_x;     /* the axis at the last of them */
} idx_part;

struct idx {
    char *path;
    out_reader *r;
    int fd;   /* of the file, the reader's */
    int copy; /* values of text in binary; -1: none */
    int64_t copied;
    double *copy_row; /* vec: rows that wait for being written */
    arena mem;
    str_pool names;
    idx_part *part; /* vec */
    const char *damage;
    int64_t size, mtime_s, mtime_ns; /* of the file, as far as it was read */
    bool grew;                       /* since it was opened */
    hash128 mark;                    /* of its first bytes and its last known row */
    int64_t mark_n, mark_at, mark_row;
    /* the index */
    int index;   /* -1: none */
    bool keep;   /* wanted beside the file, whatever its size */
    bool beside; /* it has its name */
    bool readonly;
    bool found;
    int64_t index_end; /* bytes */
};

/* -- idx.c -- */
int32_t idx_n_col(const idx_part *p);     /* columns as idx.h counts them */
int64_t idx_row_bytes(const idx_part *p); /* bytes of a point, 8 for each column */
/* All n bytes at `at`. false: there are fewer, or an error. */
bool idx_pread(int fd, void *to, size_t n, int64_t at);
bool idx_pwrite(int fd, const void *from, size_t n, int64_t at);
/* As idx_read, of the part. */
bool idx_values(const idx *x, const idx_part *p, const int32_t *col, int32_t n_col, int64_t from,
                int64_t n, double *out);

/* -- idx_store.c -- */
/* A file without a name, if possible in the file's folder (beside), or else where short-lived ones
 * are; -1: errno. */
int idx_nameless(const idx *x, bool beside);
/* Takes an index that stands beside the file and holds for it. */
void idx_store_find(idx *x);
/* A new one, empty. false: errno. */
bool idx_store_new(idx *x);
/* All that there is is indexed: it gets its head, and its name. */
void idx_store_finish(idx *x);
/* Closes the index; it is to be found or made again. One that is not whole has no name yet. */
void idx_store_drop(idx *x);
bool idx_worth(const idx_part *p); /* has it points for an index? */
/* Bytes of all records of n_point points; where in the index a chunk's record of a column
 * stands. */
int64_t idx_chunks_bytes(const idx_part *p, int64_t n_point);
int64_t idx_record_at(const idx_part *p, int64_t chunk, int32_t col);
/* Sets the sums of a record that is complete. */
void idx_record_seal(idx_record *r);
/* Reads a record's upper levels, or the lowest one, into r. false: it cannot be read, or is
 * damaged. */
bool idx_record_upper(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_record *r);
bool idx_record_base(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_record *r);

/* -- idx_build.c -- */
/* a becomes the cell of its points and those of b, which follow. */
void idx_cell_join(idx_cell *a, const idx_cell *b);

#endif
