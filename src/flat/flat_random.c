/* flat_random.c - the draws of gauss, agauss, unif, aunif and limit.
 * A draw is a function of the seed, the sample and the name of what is drawn: a device more or
 * less, another order of evaluation or another machine leave all other draws as they are. */
#include "draw.h"
#include "flat.h"

double flat_random(uint64_t seed, int64_t sample, const char *path, const char *name, int32_t draw,
                   flat_dist kind)
{
    uint64_t key = draw_seed(seed, sample);
    key = draw_add(draw_text(draw_text(key, path), name), (uint64_t)draw);
    switch (kind) {
    case FLAT_NORMAL: return draw_normal(key);
    case FLAT_UNIFORM: return draw_even(key);
    case FLAT_SIGN: return draw_even(key) < 0 ? -1 : 1;
    }
    return 0;
}
