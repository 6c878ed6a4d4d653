/* conv.h - results in the file formats of other programs.
 * Use:    conv_format_of(path, &f); conv_read(set, path, ...) makes plots of a file of any of them;
 *         conv_write(plot, n, path, f, ...).
 * Formats: raw (binary, text) and CSV (src/out); HDF5 in a plug-in (libvsim-hdf5.so); Apache
 *         Parquet (zstd in a plug-in, libvsim-zstd.so), MATLAB level 5 (also level 4 is read),
 *         Touchstone 1 and 2, PSF as text, VCD here.
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
/* Sets *f to the format that the ending of a file's name stands for; false: it stands for none.
 * conv_endings lists all endings, for messages. */
bool conv_format_of(const char *path, conv_format *f);
extern const char conv_endings[];
/* How many plots a file of this format holds: one; those of one family, with the values of the
 * sweep as columns in front (Parquet); or any number. */
typedef enum conv_room { CONV_ONE, CONV_FAMILY, CONV_MANY } conv_room;
conv_room conv_room_of(conv_format f);

enum { CONV_WHY = 400, CONV_NOTES = 20 };
/* What a file has that is no curve, and was not read: sentences about the file. */
typedef struct conv_notes {
    size_t n; /* may be greater than CONV_NOTES */
    char text[CONV_NOTES][CONV_WHY];
} conv_notes;
/* Writes note k, from 0, the last of which counts those that have no text. false: there are fewer.
 */
bool conv_note(const conv_notes *n, size_t k, char text[CONV_WHY]);

typedef struct conv_opt {
    double low, high; /* V, VCD: a signal is 0 below low, 1 above high, and as before between.
                          * NAN: conv_middle */
    const double *z0; /* [n_z0] ohm, of the ports; the last one serves all further ports. n_z0 is
                       * 0: 50 */
    size_t n_z0;
    int64_t late;        /* bytes: of a larger raw or CSV file post_load_late reads values when they
                          * are needed; 0: all files are read at once */
    bool axes_late;      /* also those of the axes, for conv_write alone */
    bool zstd;           /* Parquet: zstd compresses what is written */
    const char *plugins; /* folder of libvsim-hdf5.so, libvsim-zstd.so, ...; NULL: where they are
                          * installed */
    conv_notes *notes;   /* conv_read adds to it; NULL: nobody asks */
} conv_opt;

/* The number of points of a plot: that of its longest vector. */
int64_t conv_points(const post_plot *p);
/* Adds the plots of a file to the set. Its first bytes decide the format, or else the ending of its
 * name. Of a damaged file it adds the plots in front of the damage.
 *   why  out  what is wrong: the end of a sentence about the file
 * Status: VS_OK, VS_EIO, VS_EINPUT, VS_EUNSUPPORTED (no plug-in), VS_ENOMEM (zstd; why is not set).
 */
VS_MUST_USE vs_status conv_read(post_set *s, const char *path, const conv_opt *o,
                                char why[CONV_WHY]);
/* Writes plots [n] to a new file, which replaces an old one once it is complete. Of plots whose
 * values stand in a file (late) raw, CSV, HDF5, Parquet and MATLAB have a piece in memory at a
 * time, the others all values. Status: as conv_read. */
VS_MUST_USE vs_status conv_write(post_plot *const *plot, size_t n, const char *path, conv_format f,
                                 const conv_opt *o, char why[CONV_WHY]);
/* V, halfway between the least and the greatest voltage of a plot: the threshold of VCD if none is
 * given. NAN: there are no voltages. */
double conv_middle(const post_plot *p);

#endif
