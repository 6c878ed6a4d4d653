/* cplx.h - complex numbers of double precision. Included last: <complex.h> makes `complex` and `I`
 * names of its own. */
#ifndef CPLX_H
#define CPLX_H

#include <complex.h>

typedef double _Complex cplx;
#ifndef CMPLX /* glibc's for gcc alone */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

/* a b, without the checks for infinity of the language. */
static inline cplx cplx_times(cplx a, cplx b)
{
    const double ar = creal(a), ai = cimag(a), br = creal(b), bi = cimag(b);
    return CMPLX(ar * br - ai * bi, ar * bi + ai * br);
}

#endif
