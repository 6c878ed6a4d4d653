/* spectrum.h - the card .fft: the spectrum of a curve over time, and its figures of distortion.
 * Use:    post_fft_read, post_fft_make, post_fft_print for a card; post_tone_of, also as forms of
 *         .meas (meas.h), for the figures of a tone in any plot of a spectrum.
 * Definitions, with P_k half the square of the amplitude of line k (a constant: its square):
 *   tone       the lines at most `lobe` from the fundamental's, which its window spreads it over
 *   harmonics  the same around its multiples
 *   rest       all lines from fmin to fmax without the tone, and without what the window spreads
 *              the constant over
 *   THD  = sqrt(harmonics / tone)    SNDR = 10 lg (tone / rest)
 *   SNR  = 10 lg (tone / (rest - harmonics))    ENOB = (SNDR - 10 lg 1.5) / (20 lg 2)
 *   SFDR = 20 lg (amplitude of the fundamental / largest amplitude in the rest)
 * Samples are rounded to 53 bits: what is left of less than DBL_EPSILON^2 of the power of all lines
 * (-313 dB) is rounding, and counts as that much.
 * Source: HSPICE manual, ".FFT"; Xyce Reference Guide, ".FFT", ".MEASURE FFT"; IEEE Std 1241-2010,
 *         sec. 4 (definitions; ENOB of a full-scale sine); Harris, Proc. IEEE 66(1), 1978. */
#ifndef POST_SPECTRUM_H
#define POST_SPECTRUM_H

#include <stdio.h>

#include "expr.h"

typedef struct post_fft_card {
    const char *expr;
    const char *window; /* a name of four.h */
    double from, to;    /* s; NAN: of the transient */
    double freq;        /* Hz, the fundamental; 0: the largest line */
    double fmin, fmax;  /* Hz; NAN: all lines but the constant */
    double alfa;        /* of gauss and kaiser */
    int64_t n;          /* samples, a power of two */
    bool as_they_are;   /* format=unorm: the table has amplitudes, not shares of the largest */
} post_fft_card;

/* Reads "v(out) start=1u stop=2u np=1024 window=hann ...".  at  place of the text, for messages
 * false: a message was given. */
VS_MUST_USE bool post_fft_read(post_env *e, const char *text, diag_span at, post_fft_card *c);
/* Makes a new plot "fft" from the current plot, a transient, and makes it current. Its axis is the
 * frequency; its values are complex amplitudes of cosines, whose phases count from time 0. false: a
 * message was given. */
VS_MUST_USE bool post_fft_make(post_env *e, const post_fft_card *c, post_plot **p);
/* The same of a curve whose points are not in memory at once: post_sampler_begin; post_sampler_feed
 * for each run of points, in order; post_fft_of; post_sampler_end. The samples are those of all
 * points at once, bit by bit. */
typedef struct post_sampler {
    double first, last; /* s, ends of the axis */
    double from, span;  /* s, of the samples */
    double *out;        /* [n] in env->mem, [i] so far */
    int64_t n, i;
    double *x, *y; /* vecs: points that the next samples need */
    int64_t k;     /* the one of these in front of the next sample */
} post_sampler;
/* false: a message was given. */
VS_MUST_USE bool post_sampler_begin(post_env *e, const post_fft_card *c, double first, double last,
                                    post_sampler *s);
/*   x      in  [n] the axis
 *   final  no points follow */
void post_sampler_feed(post_sampler *s, const double *x, const double *y, int64_t n, bool final);
void post_sampler_end(post_sampler *s);
/* As post_fft_make. */
VS_MUST_USE bool post_fft_of(post_env *e, const post_fft_card *c, const post_sampler *s,
                             const char *name, const char *type, post_plot **p);
/* Prints the table of the spectral lines (of the harmonics alone if the card has a fundamental),
 * and the figures. */
void post_fft_print(post_env *e, const post_fft_card *c, const post_plot *p, FILE *out);

/* Appends the names of the vectors that a card .fft or .eye needs to the vec *list, interned. */
void post_first_names(str_pool *names, const char *text, const char ***list);

/* How the figures of a spectrum are taken. */
typedef struct post_tone_opt {
    double freq;       /* Hz; 0: the largest line */
    double fmin, fmax; /* Hz; NAN: all lines but the constant */
    int lobe;          /* lines on each side that belong to a tone */
    int n_harm;        /* highest harmonic; 0: all up to fmax */
} post_tone_opt;

typedef struct post_tone {
    int64_t line; /* of the fundamental */
    double freq, amplitude;
    double thd;                   /* a ratio, not percent */
    double snr, sndr, sfdr, enob; /* dB, dB, dB, bits; NAN where no line is left */
    double rounding;              /* dB; snr, sndr and sfdr of this much are at least that */
} post_tone;

/* Computes the figures of a tone.
 *   v  a spectrum over equally spaced frequencies from 0 on
 * NULL: *t is set; else a sentence in e->mem that says why not. */
const char *post_tone_of(post_env *e, const post_val *v, const post_tone_opt *o, post_tone *t);

#endif
