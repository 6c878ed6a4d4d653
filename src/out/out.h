/* out.h - result files, written as the points are accepted.
 * Use:    out_open, out_create or out_append; per analysis out_plot_begin, out_point...,
 *         out_plot_end; out_close.
 * Format: SPICE raw file (ngspice manual, "Spice3f5 raw file"): a header of text lines and then the
 *         points, one plot behind the other; binary doubles in the machine's byte order or text.
 * The point count in a plot's header has a fixed width. A flush writes points first and then the
 * count, so a reader finds a complete file at every moment. A flush happens when the buffer is
 * full, OUT_FLUSH_SECONDS after the last one (when a point or out_tick comes), and at the end.
 * Memory does not grow with the points. If a point could not be written as a whole, the file ends
 * with the point before it, and its header says so. */
#ifndef OUT_H
#define OUT_H

#include <stdio.h>

#include "files.h"
#include "image.h"

#define OUT_FLUSH_SECONDS 0.05

typedef enum out_format { OUT_RAW, OUT_ASCII, OUT_CSV } out_format;

typedef struct out_vector {
    const char *name; /* "time", "v(out)", "i(v1)" */
    const char *type; /* "time", "voltage", "current", "temp-sweep", ... as ngspice names them */
} out_vector;

typedef struct out_file out_file;

/* Opens and locks a file for the results of a run; `path` "-" is standard output. The contents are
 * replaced in place, so that a reader that has the file open sees the new results grow.
 *   f  out  out_close or out_drop by the caller; NULL on failure
 * Status: VS_OK; VS_EIO with errno set, for files_why. */
VS_MUST_USE vs_status out_open(out_file **f, const char *path, out_format format);
/* Like out_open, for files that a block writes: out_create makes a file that gets its name when it
 * is closed (file_begin); out_append writes behind the contents of a file. */
VS_MUST_USE vs_status out_create(out_file **f, const char *path, out_format format);
VS_MUST_USE vs_status out_append(out_file **f, const char *path, out_format format);

/* Opens and locks a file that another process wrote, without changing it; out_image then goes on
 * with it. */
VS_MUST_USE vs_status out_go_on(out_file **f, const char *path, out_format format);
/* Copies the place in the file to or from an image. To: notes the length of the file and a checksum
 * of its contents, after they have reached the disk. From, after out_go_on: points are written from
 * that length on, and the first one cuts off what the file has behind it.
 * Status: VS_OK; VS_EIO: errno, or the file is a pipe; VS_EINPUT: the file does not begin with what
 * was written (im->wrong). */
VS_MUST_USE vs_status out_image(out_file *f, image *im);

/* Opens a new file STEM.part.raw or, if that exists, STEM.part-2.raw ...
 *   path  out  its name, for vs_free
 * Status: as out_open. */
VS_MUST_USE vs_status out_unique(out_file **f, const char *stem, char **path);

/* Like out_open for an open file: writing starts at its present place; fd stays the caller's. */
VS_MUST_USE vs_status out_open_fd(out_file **f, int fd, out_format format);
/* Further text of each plot. Texts belong to the caller and must outlive the file.
 *   date           seconds since 1970, in place of the present time
 *   names, values  columns in front of each line of CSV, as text ("r,temp", "1000,27"); NULL: none
 */
typedef struct out_stamp {
    int64_t date;
    const char *names, *values;
} out_stamp;
void out_set_stamp(out_file *f, const out_stamp *stamp);
/* What raw files say beside the results, for programs that read ngspice's: spicelib looks for a
 * line "Command:", vlsirtools for its place, Xschem's annotator for names as ngspice writes them.
 */
typedef struct out_manner {
    const char *program; /* "vsim 0.1", in the line "Command:"; NULL: no such line */
    const char *server;  /* lines in front of the first plot of `ngspice -s`; NULL: a file */
    bool ngspice;        /* names and types as in ngspice's files (out_name.h), no line "Date:" */
} out_manner;
void out_set_manner(out_file *f, const out_manner *m);

/* The count of the last plot's points, and its offset in the file: `ngspice -s` prints both after
 * its results. */
void out_last_count(const out_file *f, int64_t *place, int64_t *n);

/* Starts a plot of n vectors; the names are copied.
 *   title    the deck's title line       plot   "Transient Analysis", "Operating Point", ...
 *   complex  every value, the axis included, is a real and an imaginary part
 * In CSV a second plot starts after an empty line with a header row of its own. */
VS_MUST_USE vs_status out_plot_begin(out_file *f, const char *title, const char *plot,
                                     const out_vector *vec, int32_t n, bool complex);
/* One point: value[n], complex: [2 n], real and imaginary part in turn. Allocates nothing. Status:
 * VS_OK; VS_EIO (disk full, ...). */
VS_MUST_USE vs_status out_point(out_file *f, const double *value);
/* To call often while no point comes: flushes points that have waited for longer than
 * OUT_FLUSH_SECONDS, so that a kill loses no more than these seconds. If that fails, the next
 * out_point or out_plot_end returns the failure. */
void out_tick(out_file *f);
/* Writes all points so far. If that fails, the next out_point or out_plot_end returns the failure.
 */
void out_flush(out_file *f);
VS_MUST_USE vs_status out_plot_end(out_file *f);
/* From now on each flush waits until the disk has it. */
void out_set_sync(out_file *f, bool on);
/* Closes a file that nothing was written to; the file of out_create is removed. */
void out_drop(out_file **f);
/* Flushes and closes; *f is NULL afterwards. Status of the writes; *why (or NULL): errno of the
 * first that failed. */
vs_status out_close(out_file **f, int *why);

/* Touchstone 1.1: S-parameters of n ports with reference resistances z0 [n]; if these differ, S is
 * renormalised to z0[0]. s [n][n] row by row, re and im in turn. Status: VS_OK; VS_EIO with errno
 * set. */
typedef struct out_touchstone out_touchstone;
VS_MUST_USE vs_status out_touchstone_open(out_touchstone **f, const char *path, const double *z0,
                                          int32_t n);
/* The same on a stream, which stays the caller's and open. */
out_touchstone *out_touchstone_stream(FILE *fp, const double *z0, int32_t n);
/* A line of comment before the first point. */
void out_touchstone_comment(out_touchstone *f, const char *fmt, ...) VS_PRINTF(2, 3);
VS_MUST_USE vs_status out_touchstone_point(out_touchstone *f, double hz, const double *s);
vs_status out_touchstone_close(out_touchstone **f); /* *f is NULL afterwards */

/* Reader: the plots of a binary or ASCII raw file, or of a CSV file. */
typedef struct out_plot {
    char *title, *plot; /* NULL: a table of text has none */
    int32_t n_vec;
    bool complex;        /* of a table: columns NAME.re and NAME.im in turn are one vector */
    char **name, **type; /* [n_vec] */
    int64_t n_point;     /* complete points found: the header's count, or fewer if the file ends */
    double *data; /* [n_point * n_vec], point by point; complex: twice that, re and im in turn */
} out_plot;
#define OUT_NO_PLOT "has no such plot"
typedef struct out_reader out_reader;
/* Reads the plots of a file one behind the other.
 *   r    out  out_read_close by the caller
 *   p    out  out_plot_free by the caller; empty on failure
 *   why  out  what is wrong (static text)
 * Status of out_read_open: VS_OK, VS_EIO; of out_read_next: as out_read. */
VS_MUST_USE vs_status out_read_open(out_reader **r, const char *path, const char **why);
VS_MUST_USE vs_status out_read_next(out_reader *r, out_plot *p, const char **why);
/* Like out_read_next, but keeps no points in memory: out_read_place passes over those of a binary
 * plot and says where they are, and gives those of a text plot to `text->row`, one after the other.
 */
typedef struct out_place {
    bool binary;
    int64_t head, at; /* bytes: where the header and the points begin; binary alone */
} out_place;
typedef struct out_sink {
    bool (*begin)(void *user, int64_t n_value); /* of each row; false: give up, as row does */
    bool (*row)(void *user, const double *value);
    void *user;
} out_sink;
#define OUT_GIVEN_UP "cannot be kept"
VS_MUST_USE vs_status out_read_place(out_reader *r, out_plot *p, out_place *place,
                                     const out_sink *text, const char **why);
/* Descriptor of the open file, the reader's. */
int out_read_fd(const out_reader *r);
/* Goes to the plot whose header is at offset `head`, the next to read. Status: VS_OK, VS_EIO. */
VS_MUST_USE vs_status out_read_from(out_reader *r, int64_t head);
void out_read_close(out_reader **r);
/* Reads the k-th plot (from 0) of a file.
 *   p    out  out_plot_free by the caller
 *   why  out  what is wrong (static text); OUT_NO_PLOT: there are fewer
 * Status: VS_OK; VS_EIO: no file; VS_EINPUT. */
VS_MUST_USE vs_status out_read(out_plot *p, const char *path, int32_t k, const char **why);
void out_plot_free(out_plot *p);

#endif
