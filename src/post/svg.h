/* svg.h - curves as a picture: axes with rounded numbers, grid, legend, linear or logarithmic
 * scales. */
#ifndef POST_SVG_H
#define POST_SVG_H

#include <stdio.h>

#include "expr.h"

typedef struct post_picture {
    const char *title, *xlabel, *ylabel; /* NULL: from the vectors */
    double xlo, xhi, ylo, yhi;           /* NAN: from the data */
    bool xlog, ylog;
    bool points;       /* dots instead of lines */
    int width, height; /* pixels, 0: 800 x 500 */
} post_picture;

/* v[n] against `axis` (NULL: each vector's own). Complex values are drawn by their magnitude.
 * false: a message was given (nothing to draw), or writing failed (errno). */
bool post_svg(post_env *e, const post_val *v, size_t n, const post_val *axis, const post_picture *p,
              FILE *out);

#endif
