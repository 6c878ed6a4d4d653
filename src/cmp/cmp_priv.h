/* cmp_priv.h - between the files of src/cmp:
 *     cmp.c       plots, signals, words
 *     cmp_line.c  curves between their points, values over an axis
 *     cmp_edge.c  crossings, periods, phases */
#ifndef CMP_PRIV_H
#define CMP_PRIV_H

#include "cmp.h"
#include "vec.h"

/* A real curve: x rises (points at one x are a jump). */
typedef struct cmp_line {
    const double *x, *y; /* [n] */
    int64_t n;
} cmp_line;

/* Times of b that belong to times of a: straight between pairs, a shift outside. n 0: the same. */
typedef struct cmp_warp {
    const double *a, *b; /* [n], rising */
    int64_t n;
} cmp_warp;

/* Value at x, NAN outside; *chord: how far the curve may be from the straight line there; *slope:
 * the greatest of its modulus nearby. *at: where to look first, any number. */
double cmp_value_at(const cmp_line *l, double x, int64_t *at, double *chord, double *slope);

/* Each point of one curve against the other one, both ways; b is raised by `lift`. false: the
 * greatest difference above its tolerance is in *f. */
bool cmp_values(const cmp_line *a, const cmp_line *b, const cmp_warp *w, double lift,
                double tolerance, double time_shift, cmp_found *f);

/* Edges of both against each other. CMP_SAME: they agree, and pair_a, pair_b (vecs) have their
 * times. tolerance: of values. */
void cmp_edges(const cmp_line *a, const cmp_line *b, const cmp_opt *o, double tolerance,
               cmp_found *f, double **pair_a, double **pair_b);

#endif
