/* fft.h - discrete Fourier transforms, also over several dimensions.
 * Forward: X_k = sum_m x_m exp(-2 pi i k m / n); inverse: the same with +, without 1 / n.
 * Use:    fft for one transform of any length; a plan for many of the same shape.
 * Source: Cooley & Tukey, Math. Comp. 19(90), 1965; Bluestein, IEEE Trans. Audio Electroacoust.
 *         18(4), 1970 (lengths that are no power of two). */
#ifndef FFT_H
#define FFT_H

#include "vs.h"

/* x [2 n] in place, re and im in turn; any n >= 0. */
void fft(double *x, int64_t n, bool inverse);

typedef struct fft_plan fft_plan;
/* For transforms of dim_0 dim_1 ... values, the last dimension contiguous; each a power of two. */
fft_plan *fft_plan_make(const int32_t *dim, int32_t n_dim);
void fft_plan_free(fft_plan **plan);
/* re, im [dim_0 dim_1 ...] in place. */
void fft_run(const fft_plan *p, double *re, double *im, bool inverse);

#endif
