/* norm.c - see norm.h. */
#include "norm.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

VS_CLONES bool norm_finite(const double *v, int32_t n)
{
    four s = {0}; /* x * 0 is 0 or NaN */
    int32_t i = 1;
    for (; i + 3 <= n; i += 4)
        s += *(const four *)(v + i) * 0.0;
    if (i <= n && n >= 4) { /* the last four overlap */
        s += *(const four *)(v + n - 3) * 0.0;
        i = n + 1;
    }
    for (; i <= n; i++)
        s[0] += v[i] * 0.0;
    return s[0] + s[1] + s[2] + s[3] == 0;
}
