/* idx.h - result files that are too large to be loaded: where the values of each signal stand, and
 * an index with the least and greatest value of ever longer runs of points.
 * Use:    idx_open; idx_n_plot, idx_plot_of: signals; idx_look for a picture, idx_at for a cursor,
 *         idx_read for values; each idx_refresh tells whether the file grew; idx_close.
 *         idx_build in steps, where somebody waits for progress; idx_look does what is left of it.
 * Files:  raw, binary and text, and CSV; several plots. Values of binary files are read where they
 *         stand; those of text are copied once, in binary, to a file without a name.
 * Index:  of plots with more than IDX_FEW points: cells of 64 points, and of 8 cells of the level
 *         below, up to chunks of 32768 points. A cell has the first, least, greatest and last of
 *         its values; what is not finite counts for neither of the middle two. It takes 1/15 of the
 *         values' bytes. It stands beside the file, NAME.idx, if the file is larger than IDX_LARGE
 *         or `keep` is set, and a file can be made there; else in a file without a name. It notes
 * the size and time of change of the file, has a version, and a checksum for each part; where
 * something does not fit, it is made again. Memory: names, and buffers of some 40 MB at most,
 * whatever the points. One thread at a time. *why is a static text, the end of a sentence: "'a.raw'
 * ...". Columns: of a real plot its vectors; of a complex one 2 k and 2 k + 1 are real and
 * imaginary part of vector k. */
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
    bool axis;       /* vector 0 is what the others are drawn over */
    int64_t n_point; /* whole points that the file has */
} idx_plot;

/* Status: VS_OK, also when plots behind the first are damaged (idx_damage); VS_EIO; VS_EINPUT: no
 * raw file or CSV, or nothing of it can be read. keep: the index stands beside the file whatever
 * its size. */
VS_MUST_USE vs_status idx_open(idx **x, const char *path, bool keep, const char **why);
/* *x becomes NULL; NULL is allowed. An index that is not whole leaves no file. */
void idx_close(idx **x);
/* What is wrong with the file behind the plots that are there; NULL: nothing. */
const char *idx_damage(const idx *x);
int32_t idx_n_plot(const idx *x);
const idx_plot *idx_plot_of(const idx *x, int32_t k); /* until the next idx_refresh */
/* Was an index found that holds for the file? */
bool idx_found(const idx *x);

/* Goes on with the index for about so many bytes of values. *done: the part that there is, 1: all.
 * Status: VS_OK; VS_EIO: the file ends earlier than it did, or the index cannot be written. */
VS_MUST_USE vs_status idx_build(idx *x, int64_t bytes, double *done, const char **why);

/* The caller says that the file grows no more: the next idx_build also indexes the points at its
 * end that wait for others. */
void idx_whole(idx *x);

/* Whether the file changed since it was opened, or since the last call. REPLACED: another file, or
 * one that was cut off: nothing that was read holds; close, and open again. GONE: its name is. */
typedef enum idx_change { IDX_SAME, IDX_GREW, IDX_REPLACED, IDX_GONE } idx_change;
idx_change idx_refresh(idx *x);

typedef struct idx_window {
    double lo,
        hi; /* of the axis; NAN: to its end. Of a plot without axis: of the points' numbers */
    int32_t width; /* pixels, 1 or more */
    bool log;      /* pixels are of equal ratios */
} idx_window;
/* Cells: runs of points that follow one another, each at most a pixel wide, or a single point.
 * Where the window has no more than 2 points for a pixel, each is a single point. One point more on
 * each side, where there is one. */
typedef struct idx_view {
    int64_t n;      /* cells */
    int64_t *from;  /* vec [n] the first point of each, */
    int64_t *count; /* vec [n] how many they are */
    double *x;      /* vec [n][2] the axis at the first and the last of them */
    double *y;      /* vec [n][n_col][4] first, least, greatest, last; least > greatest: none is
                       finite */
    int32_t n_col;
} idx_view;
/* The columns col[n_col] of a plot; *v is for idx_view_fini in any case. Status: as idx_build. */
VS_MUST_USE vs_status idx_look(idx *x, int32_t plot, const idx_window *w, const int32_t *col,
                               int32_t n_col, idx_view *v, const char **why);
void idx_view_fini(idx_view *v);

/* The points [*from, *to) that show lo to hi of the axis (NAN: from its ends), one on each side
 * included; all of an axis that does not rise. *rises: whether it does. Status: as idx_build. */
VS_MUST_USE vs_status idx_range(idx *x, int32_t plot, double lo, double hi, int64_t *from,
                                int64_t *to, bool *rises, const char **why);

/* The points on both sides of `at`: *k the left one, the right one behind it (the same at ends).
 * Axes that go to and fro: the nearest point. out[n_col][2]: the columns at both; axis[2].
 * Status: VS_OK; VS_EIO; VS_EINPUT: there are no points. */
VS_MUST_USE vs_status idx_at(idx *x, int32_t plot, double at, const int32_t *col, int32_t n_col,
                             int64_t *k, double axis[2], double *out, const char **why);

/* Points [from, from + n), which must be there: out[n_col][n]. Status: VS_OK; VS_EIO: the file was
 * cut off. */
VS_MUST_USE vs_status idx_read(idx *x, int32_t plot, const int32_t *col, int32_t n_col,
                               int64_t from, int64_t n, double *out, const char **why);
/* The same of all columns, point by point: out[n][columns]. */
VS_MUST_USE vs_status idx_read_rows(idx *x, int32_t plot, int64_t from, int64_t n, double *out,
                                    const char **why);

#endif
