/* spa.h - predicts from the pattern of a sparse matrix what a direct solver will need: blocks,
 * fill-in, flops and parallelism under several orderings. Also Matrix Market files and pictures.
 * Use:    spa_mm_read or a csc of your own; spa_analyze; read spa_report; everything lives in an
 *         arena.
 * Method: as KLU does: A is permuted to block triangular form, each diagonal block is ordered for
 *         itself and factored without pivoting in the symmetrised pattern B + B'. Positions k =
 *         0..n-1 count along the permuted diagonal, block after block.
 * Source: Davis, Direct Methods for Sparse Linear Systems, SIAM 2006; Liu, SIAM J. Matrix Anal.
 *         Appl. 11(1), 1990 (elimination trees); Gilbert, Ng & Peyton, same journal 15(4), 1994
 *         (counts). */
#ifndef SPA_H
#define SPA_H

#include "csc.h"
#include "diag.h"

/* clang-format off */
#define SPA_ORDER_LIST(X)                                            \
    X(SPA_AMD, "amd", "approximate minimum degree of B + B'")        \
    X(SPA_COLAMD, "colamd", "column minimum degree, any pivoting")   \
    X(SPA_NATURAL, "natural", "the order of the columns as given")   \
    X(SPA_RCM, "rcm", "reverse Cuthill-McKee")                       \
    X(SPA_ND, "nd", "nested dissection by level sets")
/* clang-format on */
typedef enum spa_order {
#define X(name, text, long_text) name,
    SPA_ORDER_LIST(X)
#undef X
        SPA_N_ORDER
} spa_order;
const char *spa_order_name(spa_order o);
const char *spa_order_text(spa_order o);

/* -- Matrix Market (spa_mm.c) -- */
typedef enum spa_field { SPA_REAL, SPA_COMPLEX, SPA_INTEGER, SPA_PATTERN } spa_field;
typedef enum spa_sym { SPA_GENERAL, SPA_SYMMETRIC, SPA_SKEW, SPA_HERMITIAN } spa_sym;
typedef struct spa_mm {
    bool array; /* dense format: entries that are 0 are no part of the pattern */
    spa_field field;
    spa_sym sym;
    int64_t n_given;  /* entries in the file */
    int64_t n_double; /* entries given more than once: their values are added */
} spa_mm;
/* Reads a square matrix; a's arrays live in mem, rows ascending, both triangles; val NULL for a
 * pattern, the absolute values of a complex matrix. Status: VS_OK; VS_EIO, VS_EINPUT with messages.
 */
VS_MUST_USE vs_status spa_mm_read(csc *a, spa_mm *info, diag *d, const char *path, arena *mem);
/* Whether a file says that it is one, by its first line. */
bool spa_mm_is(const char *path);
/* coordinate real general; name [n] or NULL: a comment for each column. Errors: ferror(fp). */
void spa_mm_write(const csc *a, const char *title, const char *const *name, FILE *fp);

/* -- analysis -- */
enum { SPA_N_WORKERS = 4 };
extern const int spa_workers[SPA_N_WORKERS]; /* 2 4 8 16 */

typedef struct spa_level { /* columns whose subtrees are equally high: they can be made together */
    int32_t n;
    double flops, max_flops; /* of all, of the largest column */
} spa_level;

typedef struct spa_super { /* runs of columns with the same structure below them */
    int32_t n, widest;
    int64_t zeros; /* entries stored in vain, in L */
} spa_super;

typedef struct spa_klu { /* what KLU makes of the values with this ordering */
    enum { SPA_KLU_DONE, SPA_KLU_LARGE, SPA_KLU_SINGULAR, SPA_KLU_FAILED } state;
    int64_t lnz, unz;     /* entries of L and U in the blocks, both with the diagonal */
    int64_t off;          /* entries outside the blocks */
    int32_t off_diagonal; /* pivots taken off the diagonal */
    double flops;
} spa_klu;

typedef struct spa_fill { /* one ordering */
    spa_order order;
    bool bound;             /* COLAMD: the counts hold for any choice of pivots */
    int32_t *perm;          /* [n] index in the block form at position k */
    int32_t *parent;        /* [n] elimination forest, parent[k] > k; -1: root */
    int32_t *count;         /* [n] entries of column k of L with the diagonal */
    int64_t lnz, nnz_lu;    /* L with diagonal; L + U + entries outside the blocks, diagonal once */
    double flops, critical; /* all; on the heaviest path from a leaf to a root */
    int32_t n_leaf, n_level;
    spa_level *level;              /* [n_level] leaves first */
    double speedup[SPA_N_WORKERS]; /* bound with that many workers and a barrier after each level */
    spa_super fundamental, relaxed;
    spa_klu klu;
} spa_fill;

typedef struct spa_report {
    const csc *a;
    int32_t n, nnz, n_diag;      /* n_diag: diagonal entries that are there */
    int32_t max_col, max_row;    /* entries of the fullest column and row */
    int32_t n_zero;              /* entries with the value 0 */
    int32_t rank;                /* structural: pivots that any values can give */
    int64_t n_off, n_mirror;     /* entries off the diagonal, of them with a partner across it */
    int64_t n_equal, n_opposite; /* partners with the same value, with its negative */
    int32_t n_block, largest, n_single; /* blocks, rows of the largest, blocks of one row */
    int32_t *block;                     /* [n_block+1] first position of each */
    int32_t *p, *q;                     /* [n] row and column at position k of the block form */
    int32_t n_outside;                  /* entries outside the diagonal blocks */
    int32_t bandwidth, bandwidth_rcm;   /* max |i - j| of A + A' as given and after RCM */
    int64_t profile, profile_rcm; /* sum of the distances from the diagonal to the first entry */
    spa_fill fill[SPA_N_ORDER];
} spa_report;

typedef struct spa_opt {
    double klu_flops; /* no factorisation where the symbolic count is higher; 0: none at all */
    double klu_nnz;
} spa_opt;
/* Columns in CSC with ascending rows, 1 <= n, nnz < 2^30. Values may be missing (a->val NULL): KLU
 * then gets made-up ones with a heavy diagonal. A structurally singular matrix is one block as
 * given.
 * Status: VS_OK, VS_ENOMEM. */
VS_MUST_USE vs_status spa_analyze(spa_report *r, const csc *a, const spa_opt *opt, arena *mem);

/* -- inner parts, for spa*.c and tests -- */
typedef struct spa_graph { /* undirected, without loops; both directions stored */
    int32_t n;
    int32_t *ptr, *adj; /* [n+1], [ptr[n]] */
} spa_graph;
/* Of the entries of a whose ends, renumbered by row_at and col_at [n], lie in one block (block_of
 * [n] by new number; NULL: all in one). */
spa_graph spa_graph_of(const csc *a, const int32_t *row_at, const int32_t *col_at,
                       const int32_t *block_of, arena *mem);
/* Orders of all vertices into perm [n]. */
void spa_rcm(const spa_graph *g, int32_t *perm, arena *scratch);
void spa_dissect(const spa_graph *g, int32_t *perm, arena *scratch);
/* Elimination forest, counts, levels, supernodes of g in the order f->perm, which becomes a
 * postorder. */
void spa_eliminate(spa_fill *f, const spa_graph *g, arena *mem);
/* KLU's figures with the orders of all blocks as in f->perm (perm of the ordering before
 * postorder). */
void spa_factor(spa_fill *f, const spa_report *r, const int32_t *perm, const spa_opt *opt,
                arena *scratch);

/* -- pictures (spa_svg.c) -- */
/* The pattern as given and in the permuted order of f; large ones as shades of a coarse grid. */
void spa_svg(const spa_report *r, const spa_fill *f, const char *title, FILE *fp);

#endif
