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

/* The last period of v, on `grid` points joined by straight lines. n 0: 10; grid 0: 200.
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

/* Vectors of the current plot onto equal steps: a new plot, which becomes the current one.
 *   v [n]   step 0: mean step of the axis; from, to NAN: the axis' ends */
bool post_linearize(post_env *e, const post_val *v, size_t n, double step, double from, double to);
/* Amplitude spectra on k / span, k = 0 .. (points - 1) / 2: a new plot "sp". The last point is that
 * of the next period. psd: powers, smoothed over `average` lines. */
bool post_fft(post_env *e, const post_val *v, size_t n, post_window w, bool psd, int average);
/* Spectra on from, from + step, ... to. */
bool post_spec(post_env *e, const post_val *v, size_t n, post_window w, double from, double to,
               double step);

#endif
