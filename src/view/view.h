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

/* plugins: conv.h. */
view *view_new(const char *plugins);
void view_free(view **v);

/* One more file. live: it need not be there yet, and grows. Status: VS_OK, what stands in front of
 * damage is used; VS_EIO, VS_EINPUT, VS_EUNSUPPORTED; why: the end of a sentence about the file, in
 * the first case too if there is damage. */
VS_MUST_USE vs_status view_add(view *v, const char *path, bool live, char why[CONV_WHY]);
/* Makes what the indices of large files lack, in steps. Between steps it calls more(path, done),
 * which returns false to stop. Status: VS_OK; VS_EIO with *why. Without this call the first request
 * for a curve makes the index. */
VS_MUST_USE vs_status view_build(view *v, bool (*more)(void *user, const char *path, double done),
                                 void *user, const char **why);
/* Looks whether files changed and reads those again; true: one did. */
bool view_refresh(view *v);
/* How often files changed: answers of different numbers may differ. */
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
/* A curve for each member: of more points than four a column, the first, least, greatest and last
 * one of each. A point on either side of the range is part of it. false: the answer is JSON with
 * the message. */
bool view_curve(view *v, const view_question *q, FILE *out);

/* What stands between x0 and x1 (NAN: at x0 alone) of one member, as an object of numbers (null:
 * there is none): a and b, the values there; min, max, mean, rms, period, duty in %, rise, fall;
 * part, the points between them, and points, of how many it is: of fewer if there are more than
 * four a column, of which it takes the extremes of columns; a and b are exact then, too. false:
 * the answer is JSON with the message. */
bool view_measure(view *v, const view_question *q, FILE *out);

/* The k-th point of a member, k -1: the last one: a value for each signal in the order of the
 * index; of complex ones the modulus. x, unless NAN: where the axis is x instead, on the line
 * between the points on both sides. */
bool view_point(view *v, int64_t group, int64_t member, int64_t k, double x, FILE *out);

typedef struct view_fft {
    int64_t group, member;
    const char *expr;
    double from, to; /* s; NAN: all */
    int64_t n;       /* samples, a power of two */
    const char *window;
} view_fft;
/* Amplitudes over frequencies as one curve, with the figures of its largest tone in the head. */
bool view_spectrum(view *v, const view_fft *q, FILE *out);

#endif
