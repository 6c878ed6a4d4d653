/* lu_super_priv.h - the plan and the factors of lu_super.c, for the files that compute with them.
 * Everything is in the order of pivots: row k and column k are those of pivot k. */
#ifndef LU_SUPER_PRIV_H
#define LU_SUPER_PRIV_H

#include <stdatomic.h>

#include "lu_super.h"

/* Supernodes in parts that do not depend on each other, and those that join the parts. */
typedef struct lu_split {
    int32_t n_task, n_top;
    int32_t *task; /* [n_task + 1] parts, in list */
    int32_t *list; /* supernodes of the parts, then those that join them; ascending in each */
} lu_split;

typedef struct lu_share lu_share;

enum { LU_PARTS_PER_THREAD = 6 };

struct lu_super {
    int32_t n, n_super, n_block;
    int32_t *start; /* [n_super + 1] first column */
    int32_t *of;    /* [n] supernode of a column */
    int32_t *ip;    /* [n_super + 1] its rows in idx: its own columns, then those below */
    int32_t *idx;
    int64_t *lp; /* [n_super] its block in lx, columns of ip[s + 1] - ip[s] rows */
    double *lx;
    int32_t *gp;  /* [n + 1] segments of a column of U in seg: runs of rows in one supernode, to its
                     end */
    int32_t *seg; /* first row */
    int32_t *place; /* of its values in ux */
    /* U as a solution reads it: the rows of the last supernode, then those of the one before; in
     * each the segments of columns, from the last one on */
    int32_t *row_at;   /* [n_super + 1] in column and skip; of o: from [o + 1] to [o] */
    int32_t *column;   /* of a segment */
    uint8_t *skip;     /* rows of the supernode before it */
    int32_t *value_at; /* [n_super + 1] a supernode's values in ux, from [o + 1] to [o] */
    double *ux, *diag; /* diag [n] u_kk */
    int32_t *ap, *apos,
        *arow;        /* [n + 1] entries of A in the blocks of a column: place in a->val, row */
    double *av;       /* their values in the last factorisation */
    uint8_t *changed; /* [n] columns of L and U that this factorisation made anew */
    int32_t made;     /* how many */
    bool have;        /* there is a last factorisation */
    int32_t *fp, *fpos, *frow; /* the same above the blocks */
    double *fx;
    int32_t *block; /* [n_block + 1] first column of the diagonal blocks */
    int32_t *p, *q; /* [n] row and column of A */
    double *scale;  /* [n] */
    double *x, *t;  /* [threads][n] work, x zero; [threads][n] */
    /* panels: the columns of a supernode, if there are MIN_PANEL */
    int32_t *step_at; /* [n_super + 1] in step; NULL: no panels */
    struct panel_step *step;
    int32_t n_octet; /* of the widest panel */
    double *px;      /* [threads][n_octet][n + 1][LU_OCTET], zero between panels; the first begins
                        at a line of the cache */
    double *y;       /* [n] right side */
    /* threads */
    pool *pool;
    bool parallel, as_if; /* as_if: of the pool, in the present factorisation */
    lu_split split;
    _Atomic uint32_t *done; /* [n_super] number of the factorisation that has them */
    uint32_t round;
    const csc *a;          /* of the present factorisation */
    struct partly *partly; /* what parts need; NULL: none was asked for yet */
    lu_share *share;       /* solutions by several threads; NULL: by one */
};

typedef struct lu_graph { /* supernodes [from, end), and those among them that each depends on */
    int32_t from, end;
    const int32_t *at, *needs; /* needs [at[o] .. at[o + 1]), all below o or o itself */
} lu_graph;

/* Splits the supernodes of a graph. weight [end]: the work of each; limit: of a part. Small parts
 * are put together: what a part needs is in it. Allocates. */
void lu_super_split(const lu_graph *g, const double *weight, double limit, lu_split *to);
void lu_split_free(lu_split *to);

/* lu_super_share.c: the largest block of BTF is substituted by several threads, each row's sums in
 * the order of one. NULL: the block has fewer than `least` entries. Allocates. */
lu_share *lu_share_new(const lu_super *s, pool *p, double least);
void lu_share_free(lu_share **h);
/* The block that it is about. */
int32_t lu_share_block(const lu_share *h);
/* Solves the block in place, in its rows of s->y. */
void lu_share_solve(lu_share *h, lu_super *s);

/* t[r] = sum_c l[c * ld + r] u[c], 0 <= r < rows, m > 0 columns. */
void lu_super_multiply(const double *restrict l, int32_t ld, int32_t rows, const double *restrict u,
                       int32_t m, double *restrict t);

/* The last row of the segment that begins with row f, in column k. */
static inline int32_t segment_end(const lu_super *s, int32_t f, int32_t k)
{
    const int32_t end = s->start[s->of[f] + 1];
    return (end < k ? end : k) - 1;
}

/* y[r] -= sum of u_rk y_k over segments [j, end) of supernode o; u: their values. Returns where
 * those end. */
const double *lu_super_subtract_rows(const lu_super *s, int32_t o, int32_t j, int32_t end,
                                     const double *restrict u, double *restrict y);

/* The first segment of supernode o that is in one of its own columns. */
static inline int32_t own_segments(const lu_super *s, int32_t o)
{
    int32_t j = s->row_at[o];
    while (j > s->row_at[o + 1] && s->column[j - 1] < s->start[o + 1])
        j--;
    return j;
}

/* The rows of supernode o: what later columns do to them is subtracted. j, u: its own segments. */
static inline void solve_own_upper(const lu_super *s, int32_t o, int32_t j,
                                   const double *restrict u, double *restrict y)
{
    const int32_t first = s->start[o];
    for (int32_t k = s->start[o + 1] - 1; k >= first; k--) {
        const double yk = y[k] /= s->diag[k];
        if (j == s->row_at[o] || s->column[j] != k)
            continue;
        for (int32_t r = first + s->skip[j++]; r < k; r++)
            y[r] -= *u++ * yk;
    }
}

/* The rows of supernode o by U. */
static inline void solve_upper_rows(const lu_super *s, int32_t o, double *restrict y)
{
    const double *restrict u = s->ux + s->value_at[o + 1];
    const int32_t first = s->start[o];
    if (s->start[o + 1] - first == 1) {
        double sum = y[first];
        for (int32_t j = s->row_at[o + 1]; j < s->row_at[o]; j++)
            sum -= *u++ * y[s->column[j]];
        y[first] = sum / s->diag[first];
        return;
    }
    const int32_t own = own_segments(s, o);
    u = lu_super_subtract_rows(s, o, s->row_at[o + 1], own, u, y);
    solve_own_upper(s, o, own, u, y);
}

/* x[id[r]] -= that; t: work [rows] */
static inline void subtract_product(double *restrict x, const int32_t *restrict id,
                                    const double *restrict l, int32_t ld, int32_t rows,
                                    const double *restrict u, int32_t m, double *restrict t)
{
    const double u0 = u[0];
    if (m == 1) {
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= l[r] * u0;
    } else if (m == 2) {
        const double u1 = u[1], *restrict l1 = l + ld;
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= l[r] * u0 + l1[r] * u1;
    } else {
        lu_super_multiply(l, ld, rows, u, m, t);
        for (int32_t r = 0; r < rows; r++)
            x[id[r]] -= t[r];
    }
}

/* The unit triangle of m columns of a supernode is solved for y [m]. */
static inline void solve_triangle(double *restrict y, const double *restrict l, int32_t ld,
                                  int32_t m)
{
    for (int32_t c = 0; c + 1 < m; c++) {
        const double u = y[c];
        const double *restrict col = l + (size_t)c * (size_t)ld;
        for (int32_t r = c + 1; r < m; r++)
            y[r] -= col[r] * u;
    }
}

#endif
