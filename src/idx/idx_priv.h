/* idx_priv.h - between the files of src/idx:
 *     idx.c        files, plots, values; changes of a file
 *     idx_store.c  the index as a file: head, parts, sums
 *     idx_build.c  its cells, from the values
 *     idx_look.c   windows and cursors */
#ifndef IDX_PRIV_H
#define IDX_PRIV_H

#include "idx.h"
#include "hash.h"
#include "out.h"
#include "str.h"

/* A chunk's cells. Rows that are longer than IDX_LONG_ROW bytes are read at the cost of a page for
 * each value, so cells of the lowest level have fewer of them. */
enum {
    IDX_FAN = 8,                                 /* cells of an upper level in one above it */
    IDX_UPPER = 1 + IDX_FAN + IDX_FAN * IDX_FAN, /* cells above the lowest level */
    IDX_SECTION = 128,                           /* cells of the lowest level with one checksum */
    IDX_BASE = IDX_SECTION * IDX_FAN,            /* cells of the lowest level */
    IDX_BASE_FAN = IDX_BASE / (IDX_FAN * IDX_FAN),
    IDX_FINE = 4,        /* rounded cells in one of the lowest level */
    IDX_BLOCK = 32,      /* points of a cell of the lowest level, */
    IDX_BLOCK_LONG = 8,  /* of long rows */
    IDX_LONG_ROW = 4096, /* bytes */
    IDX_STRIP = 128      /* columns that are built at once */
};

typedef struct idx_cell {
    double first, lo, hi, last; /* lo > hi: none is finite */
} idx_cell;

/* A rounded cell: parts of 1/IDX_PARTS of the way from lo to hi of the cell that it is a part of.
 * lo is rounded down and hi up, by little more than a part at most, so that no point is left out;
 * the least lo and the greatest hi of all parts of a cell are exact. */
enum { IDX_PARTS = 65532, IDX_NAN, IDX_ABOVE, IDX_BELOW }; /* the last three: not finite */
typedef struct idx_fine {
    uint16_t first, lo, hi, last; /* lo > hi: none is finite */
} idx_fine;

/* The cells of a chunk and a column, in the order of the points; those behind the last point are 0.
 */
typedef struct idx_record {
    uint64_t sum_upper;                 /* checksum: of n, rises, sum_base, sum_fine and `upper` */
    int64_t n;                          /* points */
    int64_t rises;                      /* no value is less than the one before */
    uint64_t sum_base[IDX_FAN];         /* of each section of `base` */
    uint64_t sum_fine[IDX_FAN];         /* of each section of `fine`; 0: it has none */
    idx_cell upper[IDX_UPPER];          /* 1, then 8, then 64 */
    idx_cell base[IDX_BASE];            /* sections of IDX_SECTION */
    idx_fine fine[IDX_BASE * IDX_FINE]; /* sections of IDX_SECTION * IDX_FINE; not in the file where
                                         * rows are long */
} idx_record;

typedef struct idx_part {
    idx_plot p;
    int64_t head, at;  /* offsets of the header in the file, of the points in it or in the copy */
    int64_t index_at;  /* offset of its chunks in the index; 0: it has none yet */
    int64_t n_indexed; /* points */
    bool rises;        /* does the axis rise over its first n_rises points? */
    int64_t n_rises;
    double last_x; /* the axis at the last of these points */
    double *begin; /* vec: the axis at the first point of each chunk, as far as these are indexed
                    * and it rises */
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
    hash128 mark;                    /* hash of its first bytes and its last known row */
    int64_t mark_n, mark_at, mark_row;
    /* the index */
    int index;   /* -1: none */
    bool keep;   /* put it beside the file, whatever its size */
    bool beside; /* it is the file NAME.idx */
    bool readonly;
    bool found;
    hash128 noted;     /* the sum of its head; 0: it has none */
    int64_t index_end; /* bytes */
};

/* -- idx.c -- */
int32_t idx_n_col(const idx_part *p);     /* columns as idx.h counts them */
int64_t idx_row_bytes(const idx_part *p); /* bytes of a point, 8 for each column */
int64_t idx_block(const idx_part *p);     /* points of a cell of the lowest level, of a chunk */
int64_t idx_chunk(const idx_part *p);
bool idx_has_fine(const idx_part *p); /* are there rounded cells? */
/* Read or write all n bytes at offset `at`. false: an error, or the file has fewer. */
bool idx_pread(int fd, void *to, size_t n, int64_t at);
bool idx_pwrite(int fd, const void *from, size_t n, int64_t at);
/* Like idx_read for a plot's part; false: the file was cut off. */
bool idx_values(const idx *x, const idx_part *p, const int32_t *col, int32_t n_col, int64_t from,
                int64_t n, double *out);

/* -- idx_store.c -- */
/* Makes a file without a name: if `beside`, in the file's folder if possible, else in the folder of
 * temporary files. -1: errno says why it cannot. */
int idx_nameless(const idx *x, bool beside);
/* Takes the index beside the file, if there is one that fits it. */
void idx_store_find(idx *x);
/* Makes a new, empty index. false: errno says why it cannot. */
bool idx_store_new(idx *x);
/* To call when all points are indexed: writes the head, unless it stands there already, and gives
 * the index its name. */
void idx_store_finish(idx *x);
/* Closes the index, so that it is found or made again. One that is not whole has no name yet. */
void idx_store_drop(idx *x);
bool idx_worth(const idx_part *p); /* has it enough points for an index? */
/* Bytes of a record; of all records of n_point points; offset in the index of a chunk's record of a
 * column. */
int64_t idx_record_bytes(const idx_part *p);
int64_t idx_chunks_bytes(const idx_part *p, int64_t n_point);
int64_t idx_record_at(const idx_part *p, int64_t chunk, int32_t col);
/* Sets the checksums of a complete record. */
void idx_record_seal(idx_record *r, bool fine);
/* Lets the system begin to read a level of a record. */
typedef enum idx_level { IDX_AT_UPPER, IDX_AT_BASE, IDX_AT_FINE } idx_level;
void idx_record_ask(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_level of);
/* Reads a record's upper levels, or sections [from, to) of the lowest one or of the rounded cells,
 * into r. false: it cannot be read, or is damaged. */
bool idx_record_upper(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_record *r);
bool idx_record_sections(const idx *x, const idx_part *p, int64_t chunk, int32_t col, idx_level of,
                         int from, int to, idx_record *r);

/* -- idx_build.c -- */
/* a becomes the cell of its points and those of b, which follow. */
void idx_cell_join(idx_cell *a, const idx_cell *b);
/* The cell that a rounded one stands for, which is a part of `of`. */
idx_cell idx_unround(const idx_cell *of, const idx_fine *part);

#endif
