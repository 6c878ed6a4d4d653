/* swp_stat.c - statistics of the samples of .mc: mean, deviation, quantiles, histogram, yield,
 * worst cases.
 * Source: quantiles: linear between order statistics (type 7 of Hyndman & Fan, "Sample quantiles in
 *         statistical packages", The American Statistician 50, 1996); interval of the yield:
 *         Wilson, J. Amer. Statist. Assoc. 22, 1927. Sums run over the sorted values: the same for
 *         any order of the points. */
#include "swp_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 10, BAR = 40, WORST = 3 };

static double quantile(const vec_placed *v, int64_t n, double p)
{
    const double h = (double)(n - 1) * p, k = floor(h);
    const int64_t i = (int64_t)k;
    return i + 1 < n ? v[i].x + (h - k) * (v[i + 1].x - v[i].x) : v[n - 1].x;
}

static void histogram(const vec_placed *v, int64_t n, FILE *log)
{
    const double lo = v[0].x, width = (v[n - 1].x - lo) / BINS;
    int64_t count[BINS] = {0}, most = 0;
    if (!(width > 0) || !isfinite(width))
        return;
    for (int64_t i = 0; i < n; i++) {
        const double k = floor((v[i].x - lo) / width);
        count[k >= BINS ? BINS - 1 : (int)k]++;
    }
    for (int i = 0; i < BINS; i++)
        most = count[i] > most ? count[i] : most;
    for (int i = 0; i < BINS; i++) {
        fprintf(log, "    %12.5g .. %-12.5g %7lld ", lo + i * width, lo + (i + 1) * width,
                (long long)count[i]);
        for (int64_t k = 0; k < (count[i] * BAR + most - 1) / most; k++)
            fputc('#', log);
        fputc('\n', log);
    }
}

static void worst(const vec_placed *v, int64_t n, FILE *log)
{
    fputs("    lowest:", log);
    for (int64_t i = 0; i < WORST && i < n; i++)
        fprintf(log, " %.6g (sample %lld)", v[i].x, (long long)v[i].at);
    fputs("; highest:", log);
    for (int64_t i = 0; i < WORST && i < n; i++)
        fprintf(log, " %.6g (sample %lld)", v[n - 1 - i].x, (long long)v[n - 1 - i].at);
    fputc('\n', log);
}

static void one_measure(const swp_book *b, size_t k, vec_placed *v, FILE *log)
{
    const size_t n_meas = vec_len(b->meas);
    int64_t n = 0, out = 0;
    for (int64_t i = 0; i < b->n_sample; i++) {
        const double y = b->sample[(size_t)i * n_meas + k];
        out += isnan(y) || y < b->min[k] || y > b->max[k];
        if (isfinite(y))
            v[n++] = (vec_placed){y, b->who[i].number};
    }
    fprintf(log, "  %s: %lld samples, %lld failed", b->meas[k], (long long)b->n_sample,
            (long long)(b->n_sample - n));
    if (isfinite(b->min[k]) || isfinite(b->max[k]))
        fprintf(log, ", %lld outside [%g, %g]", (long long)out, b->min[k], b->max[k]);
    fputc('\n', log);
    if (!n)
        return;
    qsort(v, (size_t)n, sizeof *v, vec_by_placed);
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        mean += (v[i].x - mean) / (double)(i + 1);
    for (int64_t i = 0; i < n; i++)
        square += (v[i].x - mean) * (v[i].x - mean);
    fprintf(log, "    mean %.7g, sigma %.7g, min %.7g, max %.7g\n", mean,
            n > 1 ? sqrt(square / (double)(n - 1)) : 0, v[0].x, v[n - 1].x);
    static const double p[] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};
    fputs("    quantiles", log);
    for (size_t i = 0; i < VS_COUNT(p); i++)
        fprintf(log, "%s %g%%: %.6g", i ? "," : "", 100 * p[i], quantile(v, n, p[i]));
    fputc('\n', log);
    histogram(v, n, log);
    worst(v, n, log);
}

/* A sample is good if it was computed, all measures exist, and all are inside their limits. */
static void yield(const swp_book *b, FILE *log)
{
    const size_t n_meas = vec_len(b->meas);
    int64_t good = 0;
    for (int64_t i = 0; i < b->n_sample; i++) {
        bool ok = !b->who[i].failed;
        for (size_t k = 0; k < n_meas; k++) {
            const double y = b->sample[(size_t)i * n_meas + k];
            ok &= y >= b->min[k] && y <= b->max[k];
        }
        good += ok;
    }
    const double n = (double)b->n_sample, p = (double)good / n, z = 1.959963984540054, z2 = z * z;
    const double mid = (p + z2 / (2 * n)) / (1 + z2 / n),
                 half = z / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    fprintf(log, "  yield: %lld of %lld, %.4g %% (95 %% interval %.4g to %.4g %%)\n",
            (long long)good, (long long)b->n_sample, 100 * p, 100 * fmax(0, mid - half),
            100 * fmin(1, mid + half));
}

void swp_statistics(const swp_book *b, const char *label, FILE *log)
{
    vec_placed *v = vs_malloc(((size_t)b->n_sample + 1) * sizeof *v);
    fprintf(log, "statistics%s%s\n", *label ? " at " : "", label);
    for (size_t k = 0; k < vec_len(b->meas); k++)
        one_measure(b, k, v, log);
    yield(b, log);
    vs_free(v);
}
