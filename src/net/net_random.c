/* net_random.c - the draws of gauss, agauss, unif, aunif and limit.
 * A draw is a function of the seed, the sample and the name of what is drawn, and of nothing else: a device more
 * or less, another order of evaluation or another machine leave all other draws as they are. Only additions,
 * products, quotients and square roots are used, which are rounded alike everywhere.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11 (counters instead of a state);
 * Appleby's MurmurHash3 finaliser; Marsaglia & Bray, "A convenient method for generating normal variables",
 * SIAM Review 6, 1964. */
#include <math.h>

#include "flat.h"

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static uint64_t add_word(uint64_t h, uint64_t w)
{
    return mix(h * 0x9e3779b97f4a7c15u + w + 0x632be59bd9b4e019u);
}

static uint64_t add_text(uint64_t h, const char *s)
{
    uint64_t w = 0xcbf29ce484222325u;
    for (; *s; s++)
        w = (w ^ (unsigned char)*s) * 0x100000001b3u;
    return add_word(h, w);
}

/* -1 to 1, 2^53 values, never an end. */
static double uniform(uint64_t h)
{
    return ((double)(h >> 11) + 0.5) * 0x1p-52 - 1;
}

/* ln x for 0 < x < 1: the library's may differ in the last bit from machine to machine. */
static double natural_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    const double z = (m - 1) / (m + 1), z2 = z * z;
    double sum = 0;
    for (int k = 25; k >= 1; k -= 2)
        sum = sum * z2 + 1.0 / k;
    return 2 * z * sum + e * 0.69314718055994531;
}

static double normal(uint64_t key)
{
    for (uint64_t k = 0;; k += 2) {
        const double u = uniform(add_word(key, k)), v = uniform(add_word(key, k + 1)), s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * natural_log(s) / s);
    }
}

double flat_random(uint64_t seed, int64_t sample, const char *path, const char *name, int32_t draw,
                   flat_dist kind)
{
    uint64_t key = add_word(mix(seed + 1), (uint64_t)sample);
    key = add_word(add_text(add_text(key, path), name), (uint64_t)draw);
    switch (kind) {
    case FLAT_NORMAL: return normal(key);
    case FLAT_UNIFORM: return uniform(key);
    case FLAT_SIGN: return uniform(key) < 0 ? -1 : 1;
    }
    return 0;
}
