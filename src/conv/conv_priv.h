/* conv_priv.h - between the files of src/conv:
 *     conv.c             formats, values, bytes; raw and CSV
 *     conv_hdf5.c        HDF5; the plug-in
 *     conv_hdf5_use.c    and what it reads and writes
 *     conv_inflate.c     bytes that zlib or gzip compressed
 *     conv_late.c        files that are written piece by piece
 *     conv_mat.c         MATLAB level 5, written
 *     conv_mat_read.c    and read, with level 4
 *     conv_parquet*.c    Apache Parquet; with conv_thrift.c and conv_lz.c (conv_parquet.h)
 *     conv_plugin.c      plug-ins that are loaded when a file needs them
 *     conv_psf.c         PSF as text
 *     conv_touchstone.c  Touchstone
 *     conv_vcd.c         value change dumps, written
 *     conv_vcd_read.c    and read
 *     conv_zstd.c        zstd; the plug-in
 *     conv_brotli.c      Brotli; the plug-in */
#ifndef CONV_PRIV_H
#define CONV_PRIV_H

#include <stdio.h>

#include "conv.h"
#include "heap.h"
#include "vec.h"

/* One file to be read or written. */
typedef struct conv_job {
    post_set *set;          /* to read into */
    post_plot *const *plot; /* [n] to write */
    size_t n;
    const char *path;
    const conv_opt *o;
    FILE *fp;
    const char *part; /* of conv_write_late: path of the file that fp writes; NULL: fp alone can
                       * be written to, and not go back */
    conv_format format;
    char *why; /* [CONV_WHY] */
} conv_job;

/* Prints to j->why; returns VS_EINPUT. */
vs_status conv_fail(conv_job *j, const char *fmt, ...) VS_PRINTF(2, 3);
/* Adds to the notes that something of the file was not read: fmt is a sentence about it. */
void conv_left_out(const conv_job *j, const char *fmt, ...) VS_PRINTF(2, 3);
/* The name of column k, from 0, of a matrix, in mem: "a_1". */
const char *conv_column_name(arena *mem, const char *matrix, uint64_t k);
enum { CONV_MOST_COLUMNS = 1 << 20 }; /* of a matrix that is read */
/* Value k of a vector, behind its end the last one; of a vector without values NAN and 0. */
double conv_re(const post_vec *v, int64_t k);
double conv_im(const post_vec *v, int64_t k);
/* The name of a vector for other programs, in mem: "v(x1.out)" -> "x1.out"; other names stay. */
const char *conv_node(arena *mem, const post_vec *v);
typedef struct conv_value {
    char name[64], text[128];
    double x;    /* the text as a number */
    bool number; /* is the text one? */
} conv_value;
/* Reads value i of those that a sweep gave a plot: "r=1000 temp=27" behind the comma of p->what.
 * false: there are fewer. */
bool conv_value_of(const post_plot *p, size_t i, conv_value *v);

/* Reads a whole file: *n bytes and a 0 behind them, for vs_free. NULL: errno says why not. */
char *conv_bytes(const char *path, size_t *n);
static inline uint32_t conv_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t conv_u64(const unsigned char *p)
{
    return conv_u32(p) | (uint64_t)conv_u32(p + 4) << 32;
}
/* Write the lowest byte first. */
void conv_put(FILE *fp, uint64_t x, int bytes);
void conv_put_double(FILE *fp, double x);

/* -- values that stand in a file -- */

enum { CONV_PIECE = 2 << 20, CONV_VECTORS = 512 }; /* values, vectors that are in memory at once */
/* Whether values of the plot are still in its file (post_load_late). */
bool conv_late(const post_plot *p);
/* Columns of vectors [first, first + n_vec): two of each complex one. */
size_t conv_n_column(const post_plot *p, size_t first, size_t n_vec);
/* How many vectors, from `first` on, to read at once; and how many points of their columns. */
size_t conv_batch(const post_plot *p, size_t first);
int64_t conv_run(size_t columns);
/* Points [from, from + n) of vectors [first, first + n_vec), from memory or from the file.
 *   out  out  [columns][n]
 * Status: VS_OK; VS_EINPUT: the file ended, with j->why. */
VS_MUST_USE vs_status conv_part(conv_job *j, const post_plot *p, size_t first, size_t n_vec,
                                int64_t from, int64_t n, double *out);
void conv_put_doubles(FILE *fp, const double *x, int64_t n); /* as conv_put_double, n of them */

typedef vs_status conv_write_fn(conv_job *j);
/* Writes a file of plots some of which are late: `write` writes to j->fp, or to a file at j->part.
 * Status: that of write; VS_EIO. The old file stays unless all is well. */
VS_MUST_USE vs_status conv_write_late(conv_job *j, conv_write_fn *write);

/* Unpacks s [n], which zlib or gzip compressed: *n_out bytes, for vs_free. NULL: s is damaged, or
 * has more than `most` bytes. */
typedef enum conv_wrap { CONV_ZLIB, CONV_GZIP } conv_wrap;
unsigned char *conv_inflate(const unsigned char *s, size_t n, conv_wrap wrap, size_t most,
                            size_t *n_out);

/* Read the file j->path, or write to j->fp, in each format. Status: VS_OK; VS_EINPUT with j->why;
 * of HDF5 and Parquet also VS_EUNSUPPORTED (no plug-in, with j->why), of Parquet VS_ENOMEM. */
vs_status conv_read_hdf5(conv_job *j);
vs_status conv_write_hdf5(conv_job *j);
/* The byte order of a file of level 5 that begins with head [n]: '<', the lowest byte comes first;
 * '>'. 0: it is none. */
char conv_mat_order(const char *head, size_t n);
vs_status conv_read_mat(conv_job *j);
vs_status conv_write_mat(conv_job *j);
vs_status conv_read_parquet(conv_job *j);
vs_status conv_write_parquet(conv_job *j);
vs_status conv_read_touchstone(conv_job *j);
vs_status conv_write_touchstone(conv_job *j);
vs_status conv_read_psf(conv_job *j);
vs_status conv_write_psf(conv_job *j);
vs_status conv_write_vcd(conv_job *j);
vs_status conv_read_vcd(conv_job *j);

/* -- plug-ins -- */
typedef struct conv_plugin {
    bool built;          /* had the build its library? */
    const char *format;  /* "HDF5" */
    const char *file;    /* "libvsim-hdf5.so" */
    const char *library; /* "libhdf5" */
    const char *symbol;  /* of its table, whose first member is the version */
} conv_plugin;
/* Loads a plug-in and gives its table. Status: VS_OK; VS_EUNSUPPORTED: j->why says what is missing.
 * */
VS_MUST_USE vs_status conv_plugin_table(conv_job *j, const conv_plugin *of, const void **table);

/* What the plug-in of a codec offers. pack and unpack read s [n], write at most `room` bytes to
 * `to`, and return how many; 0: s is damaged, or needs more room; -1: no memory. It does not use
 * our heap. */
typedef struct conv_codec_table {
    const char *version;
    /* the room that n bytes may need when they are packed; Brotli's: NULL, as pack */
    size_t (*bound)(size_t n);
    ptrdiff_t (*pack)(unsigned char *to, size_t room, const unsigned char *s, size_t n);
    ptrdiff_t (*unpack)(unsigned char *to, size_t room, const unsigned char *s, size_t n);
} conv_codec_table;
typedef enum conv_codec { CONV_ZSTD, CONV_BROTLI, CONV_CODECS } conv_codec;
/* Loads it. Status: as conv_plugin_table. */
VS_MUST_USE vs_status conv_codec_open(conv_job *j, conv_codec codec, const conv_codec_table **t);

/* Where HDF5's plug-in puts what it reads. It does not use our heap, and calls these functions only
 * between its calls of HDF5. */
typedef struct conv_hdf5_sink {
    void *user;
    void (*plot)(void *user, const char *name, const char *title, const char *what);
    /* Room for n values (complex: 2 n); axis: the plot's. column  from 0, of a matrix of that name;
     * -1: it is none */
    double *(*vector)(void *user, const char *name, int64_t column, const char *type, int64_t n,
                      bool complex, bool axis);
    /* Something of the file is not read. group "": it is in none; what  in  "is text" */
    void (*left_out)(void *user, const char *group, const char *name, const char *what);
    /* From now on the heap closes the file if memory is missing. file NULL: no longer. */
    void (*own)(void *user, void *file);
} conv_hdf5_sink;
typedef struct conv_hdf5_vector {
    const char *name, *type;
    int64_t n;
    bool complex, axis;
} conv_hdf5_vector;
/* Reads a file. false: why says what is wrong. */
typedef bool conv_hdf5_read_fn(const char *path, const conv_hdf5_sink *to, char why[CONV_WHY]);
/* The plug-in's functions. A file is written by begin; for each plot group, and for each part of
 * its vectors open, put, shut; end. NULL or false: why says what is wrong, and drop is due, but
 * after end. */
typedef struct conv_hdf5_table {
    const char *version;
    conv_hdf5_read_fn *read;
    /* path NULL: in memory, and end writes its bytes to `out` */
    void *(*begin)(const char *path, char why[CONV_WHY]);
    bool (*group)(void *file, const char *name, const char *title, const char *what,
                  char why[CONV_WHY]);
    /* Makes up to CONV_VECTORS vectors, still without values. */
    bool (*open)(void *file, const conv_hdf5_vector *v, size_t n, char why[CONV_WHY]);
    /* Writes values [from, from + n) of the k-th of these; complex: pairs. */
    bool (*put)(void *file, size_t k, int64_t from, int64_t n, const double *x, char why[CONV_WHY]);
    void (*shut)(void *file);
    /* Also lets the file go. */
    bool (*end)(void *file, FILE *out, char why[CONV_WHY]);
    heap_drop *drop;       /* a file that is being written */
    heap_drop *close_read; /* one that is being read */
} conv_hdf5_table;
#define CONV_HDF5_SYMBOL "conv_hdf5"

#endif
