/* draw.h - random numbers without a state: a draw is a function of its key, and of nothing else.
 * Use:    key = draw_add(draw_text(draw_seed(seed, sample), name), number); draw_normal(key).
 * Any draw can be had at any time in any order, and equal keys give equal numbers on every machine:
 * only additions, products, quotients and square roots are used, which are rounded alike
 * everywhere.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11 (counters instead of a
 *         state);
 * Appleby's MurmurHash3 finaliser; Marsaglia & Bray, "A convenient method for generating normal
 * variables", SIAM Review 6, 1964. */
#ifndef DRAW_H
#define DRAW_H

#include "vs.h"

/* The first key: of a seed and the sample of a family of runs. */
uint64_t draw_seed(uint64_t seed, int64_t sample);
/* A key and one word, a text more. */
uint64_t draw_add(uint64_t key, uint64_t word);
uint64_t draw_text(uint64_t key, const char *s);
uint64_t draw_number(uint64_t key, double x);
double draw_even(uint64_t key);        /* evenly from -1 to 1, 2^53 values, never an end */
double draw_normal(uint64_t key);      /* standard normal */
double draw_exponential(uint64_t key); /* mean 1 */
/* Poisson distribution with mean 0 to 700: time grows with the mean. */
int32_t draw_poisson(uint64_t key, double mean);

#endif
