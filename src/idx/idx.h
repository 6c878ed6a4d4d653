/* idx.h - result files that are too large to be loaded: where the values of each signal stand, and
 * an index with the least and greatest value of ever longer runs of points.
 * Use:    idx_open; idx_n_plot, idx_plot_of: signals; idx_look for a picture, idx_at for a cursor,
 *         idx_read for values; each idx_refresh tells whether the file grew; idx_close.
 *         idx_build in steps, where somebody waits for progress; idx_look does what is left of it.
 * Files:  raw, binary and text, and CSV; several plots. Values of binary files are read where they
 *         stand; those of text are copied once, in binary, to a file without a name.
 * Index:  of plots with more than IDX_FEW points: cells of 32 points, of 16 of these, of 8 of
 *         those, up to chunks of 32768 points. A cell has the first, least, greatest and last of
 *         its values; what is not finite counts for neither of the middle two. Below the cells of
 *         32 points are rounded ones of 8, of 8 bytes each. It takes 4/15 of the values' bytes; of
 *         rows above 4 kB, where each value is a page to read, cells have 8 points, chunks 8192,
 *         none are rounded, and it takes 8/15. It is a file NAME.idx beside the file, if that
 *         is larger than IDX_LARGE or `keep` is set, and its folder can be written; else a file
 *         without a name. It has the size and time of change of the file, a version, and a checksum
 *         for each part. If one of these does not fit, the index is made again.
 * Memory: names, and buffers of at most some 40 MB, whatever the number of points.
 * Threads: one at a time.
 * Errors: *why is a static text, the end of a sentence: "'a.raw' ...".
 * Columns: those of a real plot are its vectors; in a complex plot 2 k and 2 k + 1 are the real and
 *         the imaginary part of vector k. */
#ifndef IDX_H
#define IDX_H

#include "vs.h"

enum { IDX_FEW = 4096, IDX_LARGE = 256 << 20 };

typedef struct idx idx;

typedef struct idx_plot {
    const char *title, *what; /* "Transient Analysis"; of a table: the path, "Table" */
    int32_t n_vec;
    const char *const *name; /* [n_vec] as plot.h calls them: "v(out)" */
    const char *const *type; /* [n_vec] */
    bool complex;
    bool axis;       /* vector 0 is the axis of the others */
    int64_t n_point; /* whole points that the file has */
} idx_plot;

/* Opens a file and reads the headers of its plots.
 *   x     out  idx_close by the caller; NULL on failure
 *   keep  put the index beside the file, whatever its size
 * Status: VS_OK, also if plots behind the first are damaged (idx_damage); VS_EIO; VS_EINPUT: it is
 * no raw file or CSV, or nothing of it can be read. */
VS_MUST_USE vs_status idx_open(idx **x, const char *path, bool keep, const char **why);
/* Closes the file; *x becomes NULL, and may be NULL. An unfinished index leaves no file. */
void idx_close(idx **x);
/* What is wrong with the file behind the last plot that could be read; NULL: nothing. */
const char *idx_damage(const idx *x);
int32_t idx_n_plot(const idx *x);
const idx_plot *idx_plot_of(const idx *x, int32_t k); /* until the next idx_refresh */
/* Whether idx_open found an index that fits the file. */
bool idx_found(const idx *x);

/* Goes on with the index for about `bytes` bytes of values. *done: the finished part, 0 to 1.
 * Status: VS_OK; VS_EIO: the file ends earlier than it did, or the index cannot be written. */
VS_MUST_USE vs_status idx_build(idx *x, int64_t bytes, double *done, const char **why);

/* To call when the file grows no more: the next idx_build then also indexes the last points, which
 * do not fill a cell. */
void idx_whole(idx *x);

/* Whether the file has changed since it was opened, or since the last call. GREW: it has more
 * points. REPLACED: it is another file, or was cut off, and all that was read is void: the caller
 * closes and opens it again. GONE: nothing has its name any more. */
typedef enum idx_change { IDX_SAME, IDX_GREW, IDX_REPLACED, IDX_GONE } idx_change;
idx_change idx_refresh(idx *x);

typedef struct idx_window {
    double lo,
        hi; /* of the axis; NAN: to its end. Of a plot without axis: of the points' numbers */
    int32_t width; /* pixels, 1 or more */
    bool log;      /* pixels are of equal ratios */
    bool quick;    /* cells of 8 points may be rounded; see idx_look */
} idx_window;
/* A window's cells: runs of consecutive points, each at most a pixel wide, or single points. With
 * at most 2 points a pixel all cells are single points. One point on each side of the window is
 * added, where there is one. */
typedef struct idx_view {
    int64_t n;      /* cells */
    int64_t *from;  /* vec [n] number of a cell's first point */
    int64_t *count; /* vec [n] number of its points */
    double *x;      /* vec [n][2] the axis at its first and its last point */
    double *y;      /* vec [n][n_col][4] its first, least, greatest and last value; least >
                       greatest: none is finite */
    int32_t n_col;
} idx_view;
/* Computes the cells of columns col[n_col] of a plot in a window. Of a quick look, cells of at
 * least 8 points have values that are rounded to 1/65000 of the range of the 32 points around
 * them: least downwards and greatest upwards. The least and the greatest value of the whole window
 * are exact.
 *   v  out  idx_view_fini by the caller, on failure too
 * Status: as idx_build. */
VS_MUST_USE vs_status idx_look(idx *x, int32_t plot, const idx_window *w, const int32_t *col,
                               int32_t n_col, idx_view *v, const char **why);
void idx_view_fini(idx_view *v);

/* The points [*from, *to) that show lo to hi of the axis (NAN: its ends), with one more on each
 * side. If the axis does not rise (*rises), these are all points. Status: as idx_build. */
VS_MUST_USE vs_status idx_range(idx *x, int32_t plot, double lo, double hi, int64_t *from,
                                int64_t *to, bool *rises, const char **why);

/* The points on both sides of place `at` on the axis; of an axis that goes to and fro, the nearest
 * point.
 *   k     out  the left point; the right one follows it (at the ends they are the same)
 *   axis  out  the axis at both
 *   out   out  [n_col][2] the columns at both
 * Status: VS_OK; VS_EIO; VS_EINPUT: there are no points. */
VS_MUST_USE vs_status idx_at(idx *x, int32_t plot, double at, const int32_t *col, int32_t n_col,
                             int64_t *k, double axis[2], double *out, const char **why);

/* Points [from, from + n), which must be there: out[n_col][n]. Status: VS_OK; VS_EIO: the file was
 * cut off. */
VS_MUST_USE vs_status idx_read(idx *x, int32_t plot, const int32_t *col, int32_t n_col,
                               int64_t from, int64_t n, double *out, const char **why);
/* Like idx_read for all columns, point by point: out[n][columns]. */
VS_MUST_USE vs_status idx_read_rows(idx *x, int32_t plot, int64_t from, int64_t n, double *out,
                                    const char **why);

#endif
