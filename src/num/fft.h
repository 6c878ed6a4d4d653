/* fft.h - discrete Fourier transforms of complex vectors, also over several dimensions.
 * Values are pairs of doubles, re and im in turn. Forward: X_k = sum_m x_m exp(-2 pi i k m / n);
 * inverse: the same with +, without the factor 1 / n.
 * Source: Cooley & Tukey, Math. Comp. 19(90), 1965; Bluestein, IEEE Trans. Audio Electroacoust.
 *         18(4), 1970 (lengths that are no power of two). */
#ifndef FFT_H
#define FFT_H

#include "vs.h"

/* x [2 n] in place; any n >= 0. */
void fft(double *x, int64_t n, bool inverse);
/* x [2 dim_0 dim_1 ...] in place, the last dimension contiguous; each a power of two. */
void fft_grid(double *x, const int32_t *dim, int32_t n_dim, bool inverse);

#endif
