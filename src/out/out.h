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

/* The results of a run: opens `path` ("-" is standard output), whose contents are replaced, so that
 * readers may look on, and locks it.
 * Status: VS_OK; VS_EIO with errno set, for files_why. */
VS_MUST_USE vs_status out_open(out_file **f, const char *path, out_format format);
/* The same for files of a block: one that gets its name when it is closed (file_begin); at the end
 * of what is there. */
VS_MUST_USE vs_status out_create(out_file **f, const char *path, out_format format);
VS_MUST_USE vs_status out_append(out_file **f, const char *path, out_format format);

/* Opens and locks a file that another process wrote, without changing it; out_image then goes on
 * with it. */
VS_MUST_USE vs_status out_go_on(out_file **f, const char *path, out_format format);
/* Taking: notes the length of the file and a checksum of its contents, after they have reached the
 * disk. Giving back, after out_go_on: further points go to that place, and the first one cuts off
 * what stood behind it. Status: VS_OK; VS_EIO: errno, or the file is a pipe; VS_EINPUT: im->wrong:
 * the file does not begin with what was written. */
VS_MUST_USE vs_status out_image(out_file *f, image *im);

/* A new file STEM.part.raw, or, if there is one, STEM.part-2.raw ...: *path, for vs_free. */
VS_MUST_USE vs_status out_unique(out_file **f, const char *stem, char **path);

/* Like out_open for an open file: writing starts at its present place; fd stays the caller's. */
VS_MUST_USE vs_status out_open_fd(out_file **f, int fd, out_format format);
/* What each plot carries besides: a fixed date in place of now; columns in front of each line of
 * CSV, as text
 * ("r,temp", "1000,27"). Texts are the caller's and must stay. NULL: none. */
typedef struct out_stamp {
    int64_t date;
    const char *names, *values;
} out_stamp;
void out_set_stamp(out_file *f, const out_stamp *stamp);
/* How raw files speak of themselves and of their vectors. Readers of ngspice's files ask for the
 * first (spicelib for the line, vlsirtools for its place), Xschem's annotator for the second. */
typedef struct out_manner {
    const char *program; /* "vsim 0.1", in the line "Command:"; NULL: no such line */
    const char *server;  /* lines in front of the first plot of `ngspice -s`; NULL: a file */
    bool ngspice;        /* names and types as in ngspice's files (out_name.h), no line "Date:" */
} out_manner;
void out_set_manner(out_file *f, const out_manner *m);

/* The place in the file where the count of the last plot's points stands, and the count: `ngspice
 * -s` tells both after its results. */
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
/* Called again and again while no point comes: flushes points that have waited for longer than
 * OUT_FLUSH_SECONDS, so that a kill loses no more than these seconds. The next call returns a
 * failure. */
void out_tick(out_file *f);
/* What waits is written. A failure is told by the next call. */
void out_flush(out_file *f);
VS_MUST_USE vs_status out_plot_end(out_file *f);
/* From now on each flush waits until the disk has it. */
void out_set_sync(out_file *f, bool on);
/* Closes a file in which nothing was written; what out_create had begun is removed. */
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
/* The plots one behind the other. The file stays mapped, or in memory where it is no regular one.
 * Status of opening: VS_OK; VS_EIO. Of out_read_next as out_read; p is then empty. */
VS_MUST_USE vs_status out_read_open(out_reader **r, const char *path, const char **why);
VS_MUST_USE vs_status out_read_next(out_reader *r, out_plot *p, const char **why);
/* The same without memory for the points: those of a binary plot are passed over, those of text go
 * to `row`, one after the other. */
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
/* The open file. */
int out_read_fd(const out_reader *r);
/* The next plot is the one whose header is at `head`. Status: VS_OK, VS_EIO. */
VS_MUST_USE vs_status out_read_from(out_reader *r, int64_t head);
void out_read_close(out_reader **r);
/* The k-th plot (from 0) of a file. Status: VS_OK; VS_EIO: no file; VS_EINPUT: *why says what is
 * wrong with it (static text), OUT_NO_PLOT behind the last. */
VS_MUST_USE vs_status out_read(out_plot *p, const char *path, int32_t k, const char **why);
void out_plot_free(out_plot *p);

#endif
