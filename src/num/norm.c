/* norm.c - see norm.h. */
#include "norm.h"

#include "hot.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Adds 0 for each number of v, NaN for one that is not finite: x * 0. The last four of v may
 * overlap those before them. */
static inline __attribute__((always_inline)) void add_zeros(four *s, const double *v, int32_t n)
{
    if (n < 4) {
        for (int32_t i = 0; i < n; i++)
            (*s)[0] += v[i] * 0.0;
        return;
    }
    for (int32_t i = 0; i < n - 4; i += 4)
        *s += *(const four *)(v + i) * 0.0;
    *s += *(const four *)(v + n - 4) * 0.0;
}

static inline __attribute__((always_inline)) bool is_zero(const four *s)
{
    return (*s)[0] + (*s)[1] + (*s)[2] + (*s)[3] == 0;
}

VS_HOT_CLONES bool norm_finite(const double *v, int32_t n)
{
    four s = {0};
    add_zeros(&s, v, n);
    return is_zero(&s);
}

VS_HOT_CLONES bool norm_finite_all(const double *v, const double *w, int32_t n, const double *a,
                                   int32_t n_a)
{
    four s = {0};
    add_zeros(&s, v, n);
    if (w)
        add_zeros(&s, w, n);
    add_zeros(&s, a, n_a);
    return is_zero(&s);
}
