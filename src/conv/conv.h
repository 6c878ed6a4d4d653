/* conv.h - results in the file formats of other programs.
 * Use:    conv_format_of(path, &f); conv_read(set, path, ...) makes plots of a file of any of them;
 *         conv_write(plot, n, path, f, ...).
 * Formats: raw (binary, text) and CSV (src/out); HDF5 in a plug-in (libvsim-hdf5.so); Apache
 *         Parquet (zstd in a plug-in, libvsim-zstd.so), MATLAB level 5, Touchstone 1 and 2, PSF as
 *         text, VCD here.
 * Numbers keep every bit, but in VCD, where they are times of crossings. */
#ifndef CONV_H
#define CONV_H

#include "plot.h"

typedef enum conv_format {
    CONV_RAW,
    CONV_ASCII,
    CONV_CSV,
    CONV_HDF5,
    CONV_PARQUET,
    CONV_MAT,
    CONV_TOUCHSTONE,  /* version 1: .s1p, .s2p, ... */
    CONV_TOUCHSTONE2, /* .ts */
    CONV_PSF,
    CONV_VCD
} conv_format;
/* The format that the ending of a file's name means; false: none. conv_endings: all endings, for
 * messages. */
bool conv_format_of(const char *path, conv_format *f);
extern const char conv_endings[];
/* How many plots a file of this format holds: one; those of one family, with the values of the
 * sweep as columns in front (Parquet); or any number. */
typedef enum conv_room { CONV_ONE, CONV_FAMILY, CONV_MANY } conv_room;
conv_room conv_room_of(conv_format f);

typedef struct conv_opt {
    double low, high; /* V, VCD: a signal is 0 below low, 1 above high, and as before between.
                          * NAN: the middle of all voltages */
    const double *z0; /* [n_z0] ohm, of ports; the last one is that of all others; n_z0 0: 50 */
    size_t n_z0;
    int64_t late;        /* bytes: larger raw and CSV files are read by post_load_late, values when
                          * they are needed; 0: none are */
    bool zstd;           /* Parquet: compressed; otherwise as it is */
    const char *plugins; /* folder of libvsim-hdf5.so, libvsim-zstd.so; NULL: where they are
                          * installed */
} conv_opt;

enum { CONV_WHY = 400 };
/* Adds the plots of a file to the set. Its first bytes decide the format, else the ending of its
 * name. Of a damaged file the plots in front of the damage are added.
 *   why  out  what is wrong: the end of a sentence about the file
 * Status: VS_OK, VS_EIO, VS_EINPUT, VS_EUNSUPPORTED. */
VS_MUST_USE vs_status conv_read(post_set *s, const char *path, const conv_opt *o,
                                char why[CONV_WHY]);
/* Writes plots [n] to a new file, which replaces an old one when it is whole. Status: as conv_read.
 */
VS_MUST_USE vs_status conv_write(post_plot *const *plot, size_t n, const char *path, conv_format f,
                                 const conv_opt *o, char why[CONV_WHY]);
/* The middle of all voltages of a plot in V, the threshold of VCD if none is given. */
double conv_middle(const post_plot *p);

#endif
