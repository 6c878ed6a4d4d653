/* norm.c - see norm.h. */
#include "norm.h"

#include "hot.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Multiplies 0 by each number of v: NaN from the first one on that is not finite. The last four may
 * overlap those before them. One instruction takes four numbers, and two products wait for half as
 * many of them as one. */
static inline __attribute__((always_inline)) void multiply(four *s, four *t, const double *v,
                                                           int32_t n)
{
    int32_t i = 0;
    if (n < 4) {
        for (; i < n; i++)
            (*s)[0] *= v[i];
        return;
    }
    for (; i < n - 8; i += 8) {
        *s *= *(const four *)(v + i);
        *t *= *(const four *)(v + i + 4);
    }
    if (i < n - 4)
        *s *= *(const four *)(v + i);
    *t *= *(const four *)(v + n - 4);
}

static inline __attribute__((always_inline)) bool is_zero(four s, four t)
{
    s *= t;
    return s[0] + s[1] + s[2] + s[3] == 0;
}

VS_HOT_CLONES bool norm_finite(const double *v, int32_t n)
{
    four s = {0}, t = {0};
    multiply(&s, &t, v, n);
    return is_zero(s, t);
}

VS_HOT_CLONES bool norm_finite_all(const double *v, const double *w, int32_t n, const double *a,
                                   int32_t n_a)
{
    four s = {0}, t = {0};
    multiply(&s, &t, v, n);
    if (w)
        multiply(&s, &t, w, n);
    multiply(&s, &t, a, n_a);
    return is_zero(s, t);
}
