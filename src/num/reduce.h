/* reduce.h - chooses the points of a curve that a picture draws.
 * Use:    reduce_part for the points in sight; reduce_points for those of them that are drawn.
 * Source: Jugel, Jerzak, Hackenbroich & Markl, "M4: A Visualization-Oriented Time Series Data
 *         Aggregation", PVLDB 7(10), 2014: first, least, greatest and last point of each column of
 *         pixels draw what all points draw. */
#ifndef REDUCE_H
#define REDUCE_H

#include "vs.h"

/* Does x [n] never fall, from a finite value to a finite one? */
bool reduce_rises(const double *x, int64_t n);
/* The points [*from, *to) of the rising x [n] that show x0 to x1 (NAN: from its ends), one on each
 * side included. All, where x does not rise. */
void reduce_part(const double *x, int64_t n, double x0, double x1, int64_t *from, int64_t *to);
/* Which points of y [n] over x [n] are drawn in so many columns: indices, rising, in at, which has
 * room for 4 columns + 2, or n if that is less. Columns 0: all points. Where x does not rise,
 * columns have equally many points. A NaN is neither least nor greatest.
 * Returns how many. */
int64_t reduce_points(const double *x, const double *y, int64_t n, int64_t columns, int64_t *at);

#endif
