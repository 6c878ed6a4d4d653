/* four.h - Fourier series and spectra of curves over time (.four; fourier, fft, psd, spec,
 * linearize).
 * Source: ngspice manual, ".FOUR", "FFT", "PSD", "SPEC"; Harris, Proc. IEEE 66(1), 1978 (windows).
 */
#ifndef POST_FOUR_H
#define POST_FOUR_H

#include <stdio.h>

#include "expr.h"

typedef struct post_four {
    int n;            /* harmonics, the constant part included */
    int grid;         /* points of the last period */
    double freq, thd; /* Hz, percent */
    double *mag,
        *phase; /* [n] amplitude and degrees, of a sine from the start of the period; env->mem */
} post_four;

/* Fourier series of the last period of v.
 *   freq  Hz
 *   n     harmonics with the constant part, 0: 10
 *   grid  equally spaced points to which lines between the points of v are sampled, 0: 200
 * false: a message was given. */
bool post_fourier(post_env *e, const post_val *v, double freq, int n, int grid, post_four *f);
/* The table that ngspice prints. */
void post_fourier_print(const post_four *f, const char *name, FILE *out);

/* Values of `window`: "none" "rectangular" "bartlet" "triangle" "hanning" "hamming" "blackman"
 * "harris" "flattop"; "gaussian" "kaiser" (of this order); HSPICE's "rect" "bart" "hann" "hamm"
 * "black" "gauss". NULL: hanning. */
typedef struct post_window {
    const char *name;
    double order;
} post_window;

/* Samples vectors v [n] of the current plot at equal steps, into a new plot, which becomes the
 * current one. false: a message was given.
 *   step      0: mean step of the axis
 *   from, to  NAN: the ends of the axis */
bool post_linearize(post_env *e, const post_val *v, size_t n, double step, double from, double to);
/* Makes a new plot "sp" with the amplitude spectra of v [n] at the frequencies k / span, k = 0 ..
 * (points - 1) / 2. The last point counts as the first of the next period. false: a message was
 * given.
 *   psd  powers, smoothed over `average` lines to each side */
bool post_fft(post_env *e, const post_val *v, size_t n, post_window w, bool psd, int average);
/* The same at the frequencies from, from + step, ... to, in Hz. */
bool post_spec(post_env *e, const post_val *v, size_t n, post_window w, double from, double to,
               double step);

#endif
