/* reduce.c - see reduce.h. */
#include <math.h>

#include "reduce.h"

bool reduce_rises(const double *x, int64_t n)
{
    for (int64_t k = 1; k < n; k++)
        if (!(x[k] >= x[k - 1]))
            return false;
    return n > 0 && isfinite(x[0]) && isfinite(x[n - 1]);
}

/* The first k with x[k] >= at. */
static int64_t lower_bound(const double *x, int64_t n, double at)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        if (x[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void reduce_part(const double *x, int64_t n, double x0, double x1, int64_t *from, int64_t *to)
{
    *from = 0;
    *to = n;
    if (!reduce_rises(x, n))
        return;
    if (!isnan(x0)) {
        *from = lower_bound(x, n, x0);
        *from -= *from > 0;
    }
    if (!isnan(x1)) {
        int64_t k = lower_bound(x, n, x1);
        while (k < n && x[k] <= x1)
            k++;
        *to = k < n ? k + 1 : n;
    }
    if (*to < *from)
        *to = *from;
}

typedef struct column {
    int64_t first, least, most, last; /* -1: no finite value */
} column;

static void put_column(const column *c, int64_t *at, int64_t *n)
{
    const int64_t a = c->least < c->most ? c->least : c->most,
                  b = c->least < c->most ? c->most : c->least, four[] = {c->first, a, b, c->last};
    for (int k = 0; k < 4; k++)
        if (four[k] >= 0 && (!*n || four[k] > at[*n - 1]))
            at[(*n)++] = four[k];
}

int64_t reduce_points(const double *x, const double *y, int64_t n, int64_t columns, int64_t *at)
{
    int64_t out = 0;
    if (n <= 4 * columns || columns < 1) {
        for (; out < n; out++)
            at[out] = out;
        return out;
    }
    const bool rises = x && reduce_rises(x, n) && x[n - 1] > x[0];
    const double span = rises ? x[n - 1] - x[0] : 0;
    column c = {0};
    for (int64_t k = 0, now = -1; k < n; k++) {
        double part = rises ? (x[k] - x[0]) / span * (double)columns
                            : (double)k / (double)n * (double)columns;
        const int64_t in = part < (double)columns ? (int64_t)part : columns - 1;
        if (in != now) {
            if (now >= 0)
                put_column(&c, at, &out);
            c = (column){k, -1, -1, k};
            now = in;
        }
        c.last = k;
        if (!isnan(y[k])) {
            c.least = c.least < 0 || y[k] < y[c.least] ? k : c.least;
            c.most = c.most < 0 || y[k] > y[c.most] ? k : c.most;
        }
    }
    put_column(&c, at, &out);
    return out;
}
