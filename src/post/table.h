/* table.h - values as text: print, wrdata; and as raw files: write. */
#ifndef POST_TABLE_H
#define POST_TABLE_H

#include <stdio.h>

#include "expr.h"
#include "out.h"

typedef struct post_table {
    int digits;      /* numdgt; 0: 6 */
    int width;       /* characters a line; 0: 80 */
    bool as_line;    /* print line: one line a vector; else columns unless all are single values */
    bool as_columns; /* print col */
    bool no_index;
} post_table;

/* As ngspice's print. */
void post_print(const post_val *v, size_t n, const post_plot *plot, const post_table *t, FILE *out);
/* As ngspice's wrdata: each vector with its axis beside it, complex ones in two columns. */
bool post_write_data(const post_val *v, size_t n, bool one_axis, bool names, int digits, FILE *out);
/* Vectors, all of one length, as a plot of a raw file; the axis comes first. Status as out_*. */
VS_MUST_USE vs_status post_write_raw(post_env *e, const post_val *v, size_t n,
                                     const post_plot *plot, out_file *f);

#endif
