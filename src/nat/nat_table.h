/* nat_table.h - native devices: currents that stand in a table over two or three voltages.
 *
 * Between the points of its grid the current is linear in each of the voltages (bilinear or
 * trilinear), beyond the grid that of the nearest point of its border. Its slopes are those of this
 * function, on a line of the grid those above it. */
#ifndef NAT_TABLE_H
#define NAT_TABLE_H

#include "nat.h"

enum { NAT_TABLE_AXES = 3 };

typedef struct nat_table {              /* must outlive the circuit */
    int32_t n_axis;                     /* 2 or 3 */
    int32_t n[NAT_TABLE_AXES];          /* points of an axis, 2 or more */
    const double *axis[NAT_TABLE_AXES]; /* [n] volt (or the unit of the unknowns), rising */
    const double *value;                /* [n[2]][n[1]][n[0]] ampere */
} nat_table;

typedef struct nat_table_opt {
    const char *name; /* outlives the circuit */
    diag_span span;
    int32_t in[NAT_TABLE_AXES][2]; /* unknowns: axis k is x[in[k][0]] - x[in[k][1]] */
    int32_t out[2];                /* the current goes from out[0] through the device to out[1] */
    double gain, offset;           /* of the current: gain value + offset */
    const nat_table *table;
} nat_table_opt;

void nat_table_add(nat_list *l, const nat_table_opt *o);

#endif
