/* view.h - answers the requests of the viewer's page from result files.
 * Use:    view_new; view_add for each file; view_build; per request view_index, view_curve,
 *         view_measure, view_point, view_spectrum or view_eye_of; view_refresh now and then: files
 *         may grow; view_free.
 * Plots of one file that differ in nothing but the values of a sweep are one group, a family; a
 * request may ask for all its members at once.
 * Answers: JSON, or numbers behind a head of JSON: 4 bytes with the length of the head (a multiple
 *         of 8, less 4), the head, doubles; the lowest byte comes first. */
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "conv.h"
#include "expr.h"

typedef struct view view;

/* plugins: as in conv_opt; must outlive the view. */
view *view_new(const char *plugins);
void view_free(view **v);

/* Adds a file, of a damaged one the plots in front of the damage.
 *   path  outlives the view
 *   live  a run is writing the file: it grows, and need not exist yet
 *   why   out  what is wrong, also where VS_OK means that plots in front of damage were added: the
 *         end of a sentence about the file; else ""
 * Status: as conv_read. */
VS_MUST_USE vs_status view_add(view *v, const char *path, bool live, char why[CONV_WHY]);
/* What of the k-th file was not read; NULL: nothing of it. */
const conv_notes *view_notes(const view *v, size_t k);
/* Makes the indices of large files, in steps. Between steps it calls more(user, path, done), done
 * from 0 to 1, which returns false to stop. A request for a curve makes an index that is missing.
 * Status: VS_OK; VS_EIO with *why. */
VS_MUST_USE vs_status view_build(view *v, bool (*more)(void *user, const char *path, double done),
                                 void *user, const char **why);
/* Reads again the files that have changed. true: at least one had. */
bool view_refresh(view *v);
/* A count of the changes of files: as long as it stays, so do the answers to a question. */
int64_t view_generation(const view *v);

/* Writes all files, groups and signals as JSON. program: its name and version. */
void view_index(const view *v, const char *program, FILE *out);

typedef struct view_question {
    int64_t group;
    const char *expr;
    const char *over; /* an expression for x; NULL: the axis */
    double x0, x1;    /* NAN: from the ends of the axis */
    int64_t columns;  /* of the picture; 0: every point, of 2^20 at most */
    int64_t member;   /* -1: all */
    bool soon;        /* answer at once; the caller asks again while the head says "done" < 1 */
} view_question;
/* Writes a curve for each member: its points from x0 to x1 and one more on either side. Of a curve
 * with more than four points a column it writes the first, least, greatest and last point of each
 * column. Where `soon` is set and an expression over many points takes long, the head has "done",
 * the part of the work that is done: the first such answer has values of the curve at some points,
 * those that follow have none, and one without "done" has the curve. false: the answer is JSON with
 * the message. */
bool view_curve(view *v, const view_question *q, FILE *out);

/* Writes measures of one member between x0 and x1 (x1 NAN: at x0 alone) as a JSON object of
 * numbers, null where there is none:
 *   a, b                     values at x0 and x1
 *   min, max, mean, rms      of the curve between them, straight from point to point
 *   period, duty, rise, fall duty in %; rise and fall from 10 % to 90 % of min to max and back
 *   part, points             points between x0 and x1; points that the measures use: fewer if there
 *                            are more than four a column, then the extremes of each column. a and b
 *                            are exact then, too.
 *   done                     alone, where `soon` is set and there is more to compute
 * false: the answer is JSON with the message. */
bool view_measure(view *v, const view_question *q, FILE *out);

/* Writes the value of each signal of a member at a point, in the order of the index; of complex
 * signals the modulus.
 *   k  the point; -1: the last one
 *   x  NAN, or a place on the axis, which goes before k: values are interpolated linearly there
 * false: as view_curve. */
bool view_point(view *v, int64_t group, int64_t member, int64_t k, double x, FILE *out);

typedef struct view_fft {
    int64_t group, member;
    const char *expr;
    double from, to; /* s; NAN: all */
    int64_t n;       /* samples, a power of two */
    const char *window;
} view_fft;
/* Writes the amplitudes of a signal over frequency as one curve, with the figures of its largest
 * tone in the head. false: as view_curve. */
bool view_spectrum(view *v, const view_fft *q, FILE *out);

typedef struct view_eye {
    int64_t group, member;
    const char *expr;
    double from, to;   /* s; NAN: all */
    double ui, offset; /* s; NAN: from the edges */
} view_eye;
/* Writes the eye diagram of a signal as one curve, with NAN between its traces, and its figures
 * (eye.h) in the head. false: as view_curve. */
bool view_eye_of(view *v, const view_eye *q, FILE *out);

#endif
