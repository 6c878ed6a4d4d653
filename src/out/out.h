/* out.h - result files, written as the points are accepted.
 * Use:    out_open; per analysis out_plot_begin, out_point..., out_plot_end; out_close.
 * Format: SPICE raw file (ngspice manual, "Spice3f5 raw file"): a header of text lines and then the
 *         points, one plot behind the other; binary doubles in the machine's byte order or text.
 * The point count in a plot's header has a fixed width and is renewed with every flush, after its
 * points: what a reader finds is complete at every moment. A flush happens when the buffer is full,
 * OUT_FLUSH_SECONDS after the last one, and at the end. Memory does not grow with the points. */
#ifndef OUT_H
#define OUT_H

#include "vs.h"

#define OUT_FLUSH_SECONDS 0.05

typedef enum out_format { OUT_RAW, OUT_ASCII, OUT_CSV } out_format;

typedef struct out_vector {
    const char *name; /* "time", "v(out)", "i(v1)" */
    const char *type; /* "time", "voltage", "current", "temp-sweep", ... as ngspice names them */
} out_vector;

typedef struct out_file out_file;

/* Opens `path` ("-" is standard output) for writing; an existing file is replaced.
 * Status: VS_OK; VS_EIO with errno set. */
VS_MUST_USE vs_status out_open(out_file **f, const char *path, out_format format);

/* The same for a file that is open: the place is its start; fd stays the caller's. */
VS_MUST_USE vs_status out_open_fd(out_file **f, int fd, out_format format);
/* What each plot carries besides: a fixed date in place of now; columns in front of each line of
 * CSV, as text
 * ("r,temp", "1000,27"). Texts are the caller's and must stay. NULL: none. */
typedef struct out_stamp {
    int64_t date;
    const char *names, *values;
} out_stamp;
void out_set_stamp(out_file *f, const out_stamp *stamp);

/* Starts a plot of n vectors; the names are copied.
 *   title    the deck's title line       plot   "Transient Analysis", "Operating Point", ...
 *   complex  every value, the axis included, is a real and an imaginary part
 * In CSV a second plot starts after an empty line with a header row of its own. */
VS_MUST_USE vs_status out_plot_begin(out_file *f, const char *title, const char *plot,
                                     const out_vector *vec, int32_t n, bool complex);
/* One point: value[n], complex: [2 n], real and imaginary part in turn. Allocates nothing. Status:
 * VS_OK; VS_EIO (disk full, ...). */
VS_MUST_USE vs_status out_point(out_file *f, const double *value);
VS_MUST_USE vs_status out_plot_end(out_file *f);
/* Flushes and closes; *f is NULL afterwards. Status of the writes; *why (or NULL): errno of the
 * first that failed. */
vs_status out_close(out_file **f, int *why);

/* Touchstone 1.1: S-parameters of n ports with reference resistances z0 [n]; if these differ, S is
 * renormalised to z0[0]. s [n][n] row by row, re and im in turn. Status: VS_OK; VS_EIO with errno
 * set. */
typedef struct out_touchstone out_touchstone;
VS_MUST_USE vs_status out_touchstone_open(out_touchstone **f, const char *path, const double *z0,
                                          int32_t n);
VS_MUST_USE vs_status out_touchstone_point(out_touchstone *f, double hz, const double *s);
vs_status out_touchstone_close(out_touchstone **f); /* *f is NULL afterwards */

/* Reader, for tests and comparison: one plot of a binary or ASCII raw file, or a CSV file. */
typedef struct out_plot {
    char *title, *plot;
    int32_t n_vec;
    bool complex;
    char **name, **type; /* [n_vec] */
    int64_t n_point;     /* complete points found: the header's count, or fewer if the file ends */
    double *data; /* [n_point * n_vec], point by point; complex: twice that, re and im in turn */
} out_plot;
/* The k-th plot (from 0) of a file. Status: VS_OK; VS_EIO: no file; VS_EINPUT: *why says what is
 * wrong with it (static text). */
VS_MUST_USE vs_status out_read(out_plot *p, const char *path, int32_t k, const char **why);
void out_plot_free(out_plot *p);

#endif
