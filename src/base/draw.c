/* draw.c - random numbers from keys. */
#include "draw.h"

#include <math.h>
#include <string.h>

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

uint64_t draw_add(uint64_t key, uint64_t word)
{
    return mix(key * 0x9e3779b97f4a7c15u + word + 0x632be59bd9b4e019u);
}

uint64_t draw_number(uint64_t key, double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return draw_add(key, word);
}

uint64_t draw_text(uint64_t key, const char *s)
{
    uint64_t w = 0xcbf29ce484222325u;
    for (; *s; s++)
        w = (w ^ (unsigned char)*s) * 0x100000001b3u;
    return draw_add(key, w);
}

uint64_t draw_seed(uint64_t seed, int64_t sample)
{
    return draw_add(mix(seed + 1), (uint64_t)sample);
}

double draw_even(uint64_t key) { return ((double)(key >> 11) + 0.5) * 0x1p-52 - 1; }

/* ln x for 0 < x < 1: the library's may differ in the last bit from machine to machine. */
static double natural_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    static const double inverse[] = {1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17,
                                     1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,
                                     1.0 / 5,  1.0 / 3,  1};
    const double z = (m - 1) / (m + 1), z2 = z * z;
    double sum = 0;
    for (size_t k = 0; k < VS_COUNT(inverse); k++)
        sum = sum * z2 + inverse[k];
    return 2 * z * sum + e * 0.69314718055994531;
}

double draw_normal(uint64_t key)
{
    for (uint64_t k = 0;; k += 2) {
        const double u = draw_even(draw_add(key, k)), v = draw_even(draw_add(key, k + 1)),
                     s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * natural_log(s) / s);
    }
}

double draw_exponential(uint64_t key) { return -natural_log(0.5 * draw_even(key) + 0.5); }

/* Events of rate 1 up to `mean`: the sum of the intervals between them passes it. */
int32_t draw_poisson(uint64_t key, double mean)
{
    int32_t n = 0;
    for (double t = draw_exponential(draw_add(key, 0)); t < mean; n++)
        t += draw_exponential(draw_add(key, (uint64_t)n + 1));
    return n;
}
