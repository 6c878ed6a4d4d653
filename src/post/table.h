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

/* Prints values as ngspice's print does. */
void post_print(const post_val *v, size_t n, const post_plot *plot, const post_table *t, FILE *out);
/* Writes values as ngspice's wrdata does: each vector with its axis beside it, complex ones in two
 * columns. false: errno says why it cannot. */
bool post_write_data(const post_val *v, size_t n, bool one_axis, bool names, int digits, FILE *out);
/* Writes vectors v [n], as long as the longest of them, as a plot of a raw file with the axis
 * first. Status as out_*. */
VS_MUST_USE vs_status post_write_raw(post_env *e, const post_val *v, size_t n,
                                     const post_plot *plot, out_file *f);

#endif
