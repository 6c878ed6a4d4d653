/* lu_ll.h - Cholesky factors L L' in supernodes: columns with the same rows below them are one
 * dense block, so that factors and substitutions read a list of rows per block, not per entry.
 * Use:    lu_ll_init on a symbolic analysis; lu_ll_at tells where an entry of the matrix belongs in
 *         l->val; set these, all others to 0; lu_ll_factor, lu_ll_solve; lu_ll_fini.
 * CHOLMOD computes the same with a parallel region of OpenMP for each supernode: with one thread
 * that is a system call and an allocation, for blocks that mostly have a few hundred entries.
 * Source: Ng & Peyton, "Block sparse Cholesky algorithms on advanced uniprocessor computers", SIAM
 *         J. Sci. Comput. 14(5), 1993: left-looking, by supernodes. */
#ifndef LU_LL_H
#define LU_LL_H

#include "lu_priv.h"

typedef struct lu_ll {
    int32_t n, n_super;
    const int32_t *first;         /* [n_super + 1] first column; not owned, as the next three */
    const int32_t *row_at, *row;  /* [n_super + 1] into row: rows of a block, ascending; its columns
                                     are the first */
    const int32_t *val_at;        /* [n_super + 1] into val: blocks by columns, all rows of each */
    double *val;                  /* L; before lu_ll_factor the lower half of the matrix */
    int32_t *owner, *local;       /* [n] block of a column; work: place of a row in a block */
    int32_t *head, *next, *begin; /* [n_super] blocks whose next rows are columns of this one */
    double *c;                    /* work: an update */
    double *t;                    /* work: [rows of the largest block] */
    const lu_dense_calls *dense;
} lu_ll;

/* n_c: entries of the largest update. The arrays of the analysis must outlive l. */
void lu_ll_init(lu_ll *l, int32_t n, int32_t n_super, const int32_t *first, const int32_t *row_at,
                const int32_t *row, const int32_t *val_at, size_t n_c, const lu_dense_calls *dense);
void lu_ll_fini(lu_ll *l);
size_t lu_ll_size(const lu_ll *l); /* numbers in val; some at its end belong to no block */
/* Place of the entry (row, col), row >= col, in l->val. */
int32_t lu_ll_at(const lu_ll *l, int32_t row, int32_t col);
/* false: the matrix is not positive definite. *rcond: an estimate, from the diagonal. */
bool lu_ll_factor(lu_ll *l, double *rcond);
void lu_ll_solve(const lu_ll *l, double *x); /* [n] right side, then the solution */

#endif
