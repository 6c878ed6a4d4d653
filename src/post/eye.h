/* eye.h - the card .eye: a curve over time folded by its unit interval, and what an eye is measured
 * by.
 * Use:    post_eye_read, post_eye_make, post_eye_print for a card; post_eye_figure for forms of
 *         .meas (meas.h); post_eye_of for points from elsewhere.
 * Between two points of a curve the straight line counts, as for .meas. Definitions:
 *   threshold  middle of the levels of 1 and 0, found again until it stays (three times); before
 *              there are levels, middle of the least and the greatest value
 *   edge       the curve passes the threshold, and goes on for a twentieth of the distance of the
 *              levels on each side. If it crosses 2 m + 1 times on its way, at t1, t2, ..., the
 *              edge is at t1 - t2 + t3 ...: the step with the same integral
 *   clock      n ui + offset; least squares over all edges for what is not given, for ui with an
 *              offset of rising edges and one of falling ones
 *   window     from 0.4 to 0.6 of each unit interval, which is a 1 if its mean there is above the
 *              threshold. Means and deviations are integrals over the windows of all 1, all 0
 *   jitter     of all edges against the clock, without their mean
 *   level      where the mean edges, rising and falling, cross
 * Source: EXFO, PSO-100 User Guide, "Measurement Definitions"; Keysight 86100 help, "Eye mode
 *         measurements"; Tektronix, "Eye Height", "Q-factor"; ITU-T G.957 (1 to 0: extinction
 *         ratio). */
#ifndef POST_EYE_H
#define POST_EYE_H

#include <stdio.h>

#include "expr.h"

/* name, which is also the word of .meas; words and unit of the report */
#define POST_EYE_FIGURES(X)                               \
    X(UI, "ui", "unit interval", "s")                     \
    X(RATE, "rate", "rate", "bit/s")                      \
    X(ONE, "one", "level of 1", "")                       \
    X(ZERO, "zero", "level of 0", "")                     \
    X(AMPLITUDE, "amplitude", "eye amplitude", "")        \
    X(HEIGHT, "height", "eye height, 3 sigma", "")        \
    X(OPENHEIGHT, "openheight", "eye height, open", "")   \
    X(Q, "q", "Q factor", "")                             \
    X(ER, "er", "extinction ratio", "dB")                 \
    X(LEVEL, "level", "crossing level", "")               \
    X(CROSSING, "crossing", "crossing", "%")              \
    X(WIDTH, "width", "eye width, 3 sigma", "s")          \
    X(OPENWIDTH, "openwidth", "eye width, open", "s")     \
    X(JITTER, "jitter", "jitter, rms", "s")               \
    X(JITTERPP, "jitterpp", "jitter, peak to peak", "s")  \
    X(DCD, "dcd", "duty-cycle distortion", "s")           \
    X(RISE, "rise", "rise time, 20 to 80 %", "s")         \
    X(FALL, "fall", "fall time, 20 to 80 %", "s")         \
    X(OFFSET, "offset", "a unit interval begins at", "s") \
    X(THRESHOLD, "threshold", "threshold", "")
#define X(id, name, words, unit) POST_EYE_##id,
typedef enum post_eye_name { POST_EYE_FIGURES(X) POST_N_EYE } post_eye_name;
#undef X
extern const char *const post_eye_word[POST_N_EYE];

typedef struct post_eye_card {
    const char *expr;
    double ui;        /* s; NAN: from the edges */
    double from, to;  /* s; NAN: of the transient */
    double offset;    /* s, where a unit interval begins; NAN: from the edges */
    double threshold; /* NAN: middle of the levels */
    double low, high; /* levels for threshold, crossing, rise and fall; NAN: those of the eye */
    double n;         /* points of a unit interval */
    int periods;      /* unit intervals that a trace shows, 1 or 2 */
} post_eye_card;

/* Reads "v(out) ui=1n start=10n ...".  at  place of the text, for messages
 * false: a message was given. */
VS_MUST_USE bool post_eye_read(post_env *e, const char *text, diag_span at, post_eye_card *c);
/* Makes a new plot "eye" from the current plot, a transient, and makes it current. Its axis is the
 * time from the beginning of the unit interval; the other vector has the traces one behind the
 * other, each of periods n points and one, and NAN behind it, which is a gap in pictures. p->eye
 * has the figures; one that is not there is NAN. false: a message was given. */
VS_MUST_USE bool post_eye_make(post_env *e, const post_eye_card *c, post_plot **p);
/* The same of points x[n], y[n], which it may move; n >= 2. */
VS_MUST_USE bool post_eye_of(post_env *e, const post_eye_card *c, double *x, double *y, int64_t n,
                             const char *name, const char *type, post_plot **p);
void post_eye_print(const post_plot *p, FILE *out);
/* A figure of the newest eye of an expression.  k  which
 * NULL: *x is set; else a sentence in e->mem that says why not. */
const char *post_eye_figure(post_env *e, const char *expr, size_t k, double *x);

#endif
