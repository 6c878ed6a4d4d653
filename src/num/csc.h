/* csc.h - compressed sparse column matrix. Columns and rows from 0; rows ascending in a column. */
#ifndef CSC_H
#define CSC_H

#include "vs.h"

typedef struct csc {
    int32_t n;       /* square */
    int32_t *colptr; /* [n+1] */
    int32_t *row;    /* [nnz] */
    double *val;     /* [nnz + 1]; the last one takes discarded stamps */
} csc;
static inline int32_t csc_nnz(const csc *a) { return a->colptr[a->n]; }

#endif
