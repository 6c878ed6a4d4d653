/* nat_complex.h - inside src/nat: the values that at_omega adds to. */
#ifndef NAT_COMPLEX_H
#define NAT_COMPLEX_H

#include <complex.h>

#include "csc.h"

static inline void nat_add_complex(const csc *a, double *val, int32_t slot, double complex x)
{
    if (slot >= csc_nnz(a)) /* what is discarded has no place here */
        return;
    val[2 * slot] += creal(x);
    val[2 * slot + 1] += cimag(x);
}

#endif
