/* view.h - answers the requests of the viewer's page from result files.
 * Use:    view_init; view_add for each file; per request view_index, view_curve, view_measure,
 *         view_point or view_spectrum; view_refresh now and then: files may grow; view_fini.
 * Plots of one file that differ by the values of a sweep alone are one group, a family; its members
 * are asked for together. Answers are JSON, or numbers behind a head of JSON: 4 bytes with the
 * length of the head (a multiple of 8, less 4), the head, doubles, all from the lowest byte. */
#ifndef VIEW_H
#define VIEW_H

#include <stdio.h>

#include "conv.h"
#include "expr.h"

typedef struct view view;

/* plugins: as in conv_opt; must outlive the view. */
view *view_new(const char *plugins);
void view_free(view **v);

/* Adds a file. Of a damaged one the plots in front of the damage are used.
 *   live  a run is writing it: it need not exist yet, and grows
 *   why   out  what is wrong, also if the file is damaged: the end of a sentence about it; else ""
 * Status: VS_OK, VS_EIO, VS_EINPUT, VS_EUNSUPPORTED. */
VS_MUST_USE vs_status view_add(view *v, const char *path, bool live, char why[CONV_WHY]);
/* Makes the indices of large files, in steps. Between steps it calls more(path, done), which
 * returns false to stop. Without this call the first request for a curve makes the index.
 * Status: VS_OK; VS_EIO with *why. */
VS_MUST_USE vs_status view_build(view *v, bool (*more)(void *user, const char *path, double done),
                                 void *user, const char **why);
/* Reads files again that have changed. true: one had. */
bool view_refresh(view *v);
/* How often files have changed. Answers to a question may differ if this number does. */
int64_t view_generation(const view *v);

/* All files, groups and signals, as JSON; program: its name and version. */
void view_index(const view *v, const char *program, FILE *out);

typedef struct view_question {
    int64_t group;
    const char *expr;
    const char *over; /* an expression for x; NULL: the axis */
    double x0, x1;    /* NAN: from the ends of the axis */
    int64_t columns;  /* of the picture; 0: every point */
    int64_t member;   /* -1: all */
} view_question;
/* Writes a curve for each member. A curve of more than four points a column is reduced to the
 * first, least, greatest and last point of each column. One point more on either side of the range
 * is part of it. false: the answer is JSON with the message. */
bool view_curve(view *v, const view_question *q, FILE *out);

/* What stands between x0 and x1 (NAN: at x0 alone) of one member, as an object of numbers (null:
 * there is none): a and b, the values there; min, max, mean, rms, period, duty in %, rise, fall;
 * part, the points between them, and points, of how many it is: of fewer if there are more than
 * four a column, of which it takes the extremes of columns; a and b are exact then, too. false:
 * the answer is JSON with the message. */
bool view_measure(view *v, const view_question *q, FILE *out);

/* Writes the value of each signal of a member at a point, in the order of the index; of complex
 * signals the modulus.
 *   k  the point; -1: the last one
 *   x  NAN; else the place on the axis, in place of k: values are those of the line between the
 *      points on both sides
 * false: as view_curve. */
bool view_point(view *v, int64_t group, int64_t member, int64_t k, double x, FILE *out);

typedef struct view_fft {
    int64_t group, member;
    const char *expr;
    double from, to; /* s; NAN: all */
    int64_t n;       /* samples, a power of two */
    const char *window;
} view_fft;
/* Writes amplitudes over frequencies as one curve, with the figures of its largest tone in the
 * head. false: as view_curve. */
bool view_spectrum(view *v, const view_fft *q, FILE *out);

#endif
