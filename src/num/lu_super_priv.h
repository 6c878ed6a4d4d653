/* lu_super_priv.h - the plan and the factors of lu_super.c, for the files that compute with them.
 * Everything is in the order of pivots: row k and column k are those of pivot k. */
#ifndef LU_SUPER_PRIV_H
#define LU_SUPER_PRIV_H

#include <stdatomic.h>

#include "lu_super.h"

/* Supernodes in parts that do not depend on each other, and those that join the parts. */
typedef struct lu_split {
    int32_t n_task, n_top, n_home;
    int32_t *task; /* [n_task + 1] parts, in list */
    int32_t *list; /* supernodes of the parts, then those that join them; ascending in each */
    /* of lu_split_for_homes: pieces by homes (pool_run_homes), parts or, -1 - k, supernode k */
    int32_t *home;  /* [n_home + 1] */
    int32_t *order; /* [n_task + n_top] */
} lu_split;

typedef struct lu_units lu_units;
typedef struct lu_trees lu_trees;

/* What a tree of lu_super_tree.c leaves to a column above: value[i] is to be added to row[i], a row
 * of the crown. */
typedef struct lu_tree_part {
    const double *value;
    const int32_t *row;
    int32_t n;
    int32_t root; /* the supernode that has it */
} lu_tree_part;
typedef struct lu_tree_parts {
    const lu_tree_part *from, *end;
} lu_tree_parts;

/* The loops over the rows of a block, for each vector width; without fused operations all give the
 * same bits. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

enum { LU_PARTS_PER_THREAD = 6 };

typedef struct lu_tail { /* of a thread's part of the columns, after a factorisation */
    int32_t made;        /* columns made anew */
    bool fails;          /* a pivot is none */
    double least, most;  /* of |u_kk| over scale */
} lu_tail;

struct lu_super {
    int32_t n, n_super, n_block;
    const int32_t *colptr; /* of A, the caller's */
    int32_t *start;        /* [n_super + 1] first column */
    int32_t *of;           /* [n] supernode of a column */
    int32_t *ip;           /* [n_super + 1] its rows in idx: its own columns, then those below */
    int32_t *idx;
    int64_t *lp; /* [n_super + 1] its block in lx, columns of ip[s + 1] - ip[s] rows */
    double *lx;
    int32_t *gp;  /* [n + 1] segments of a column of U in seg: runs of rows in one supernode, to its
                     end */
    int32_t *seg; /* first row */
    int32_t *place; /* of its values in ux */
    int32_t *rest;  /* [n] of a column's segments the first that is in no tree: others are before it
                     */
    lu_trees *trees;
    int32_t n_head, *head; /* supernodes in no tree, and roots of trees */
    int32_t
        n_crown; /* columns in no tree, which are numbered, since work on them reaches no others */
    int32_t *crown; /* as idx, for supernodes in no tree and below roots of trees: these numbers */
    /* U as a solution reads it: the rows of the last supernode, then those of the one before; in
     * each the segments of columns, from the last one on */
    int32_t *row_at;   /* [n_super + 1] in column and skip; of o: from [o + 1] to [o] */
    int32_t *column;   /* of a segment */
    uint8_t *skip;     /* rows of the supernode before it */
    int32_t *value_at; /* [n_super + 1] a supernode's values in ux, from [o + 1] to [o] */
    double *ux, *diag; /* diag [n] u_kk */
    int32_t *ap, *apos,
        *arow;   /* [n + 1] entries of A in the blocks of a column, but for those of trees: place in
                  a->val, row in the crown */
    double *val; /* [nnz of A] values in the last factorisation */
    uint8_t *changed;   /* [n] columns of L and U that this factorisation made anew */
    int32_t made;       /* how many */
    double tol;         /* of lu_super_factor_with, during it; else 0 */
    atomic_bool failed; /* a pivot is below it: the others need not be made */
    bool have;          /* there is a last factorisation */
    /* the same above the blocks, by rows */
    int32_t *fp, *fcol, *fpos; /* fp [n + 1] */
    double *fx;
    int32_t *frow;
    int32_t *above_at, *above; /* [n + 1] and by columns: place in fx */
    int32_t *block;            /* [n_block + 1] first column of the diagonal blocks */
    int32_t *p, *q;            /* [n] row and column of A */
    double *scale;             /* [n] */
    int64_t n_lower, n_entry;  /* entries of L; of L and U, both with their diagonal */
    double work;               /* multiplications, as KLU counts them */
    double *x, *t;             /* [threads][n_crown] work, x zero; [threads][n] */
    /* panels: the columns of a supernode, if there are MIN_PANEL */
    int32_t *step_at; /* [n_super + 1] in step; NULL: no panels */
    struct panel_step *step;
    int32_t n_octet; /* of the widest panel */
    double *px; /* [threads][n_octet][n_crown + 1][LU_OCTET], zero between panels; the first begins
                        at a line of the cache */
    bool unclean;                 /* factors failed: px may be other than zero, */
    bool *had_panels;             /* [threads] but where a thread had no panel yet */
    float *coarse_lx, *coarse_ux; /* lx and ux rounded; NULL: not asked for yet */
    enum { LU_NOT_MADE, LU_MADE, LU_OUT_OF_RANGE } coarse; /* of the present factors */
    /* threads */
    pool *pool;
    bool parallel, as_if; /* as_if: of the pool, in the present factorisation */
    lu_split split;
    lu_tail *tail;          /* [threads] */
    int32_t *with;          /* [n_super] with which thread it is at home, -1: nobody */
    _Atomic uint32_t *done; /* [n_super] number of the factorisation that has them */
    uint32_t round;
    const csc *a;          /* of the present factorisation */
    struct partly *partly; /* what parts need; NULL: none was asked for yet */
    lu_units *units;       /* of solutions */
};

typedef struct lu_graph { /* supernodes [from, end), and those among them that each depends on */
    int32_t from, end;
    const int32_t *at, *needs; /* needs [at[o] .. at[o + 1]), all below o or o itself */
    const int32_t *near;       /* [end] the thread that has what o works on; -1, or NULL: none */
} lu_graph;

/* A vote for a home. In *near, -1 before the first vote, is the home that more than half of the
 * weight was for, if there is one; else one of those that some was for. *lead: 0 at first. (Boyer &
 * Moore 1981) */
static inline void lu_vote(int32_t *near, double *lead, int32_t home, double weight)
{
    *lead += *near == home ? weight : -weight;
    if (*lead < 0) {
        *near = home;
        *lead = -*lead;
    }
}

/* lu_fill.c: from ap and arow the supernodes, their rows and U's segments: n_super, start, of, ip,
 * idx, gp, seg; and the entries and work. False: more than the numbers count. expected: entries of
 * L and U. Allocates. */
bool lu_super_fill(lu_super *s, double expected);

/* Splits the supernodes of a graph. weight [end]: the work of each; limit: of a part. Small parts
 * are put together: what a part needs is in it. Allocates. */
void lu_super_split(const lu_graph *g, const double *weight, double limit, lu_split *to);
/* The same for n_home threads, each of which is at home with some of the parts and with supernodes
 * that join these: those that need no others. Where the work stays even, they are those near it.
 *   with  [g->end] out: the thread that a supernode is at home with, -1: none
 * Allocates. */
void lu_split_for_homes(const lu_graph *g, const double *weight, double limit, int n_home,
                        int32_t *with, lu_split *to);
int32_t *lu_nobody(int32_t n); /* [n] -1, for lu_vote; allocated */
/* Shares out a graph without cutting it first: with as above. Allocates. */
void lu_share_out(const lu_graph *g, const double *weight, int n_home, int32_t *with);
void lu_split_free(lu_split *to);

/* lu_super_tree.c: plans the trees, if there are to be any, and puts them into s->trees. What they
 * take over of A leaves ap, and segments of their supernodes move to the begin of each column's.
 * Allocates. */
void lu_trees_new(lu_super *s, bool any);
void lu_trees_free(lu_trees **h);
int32_t lu_tree_of(const lu_super *s, int32_t o);      /* of a supernode; -1: none */
int32_t lu_tree_root(const lu_super *s, int32_t t);    /* the supernode that all others are below */
int32_t lu_tree_root_of(const lu_super *s, int32_t o); /* of its tree; itself, if it is in none */
int32_t lu_tree_first(const lu_super *s, int32_t t);   /* and the first one */
lu_tree_parts lu_tree_parts_of(const lu_super *s, int32_t k); /* in the order of trees */
/* Makes all columns of a tree anew, or none, and sets s->changed: if one of its entries of A in val
 * is another one than in s->val, which gets it; val NULL: in any case, with those of s->val. */
bool lu_tree_factor(lu_super *s, int32_t t, const double *val, int worker);
/* Takes the values of a tree's entries into s->val, if their columns count; whether one is another.
 *   column  in  [nnz of A] column of L of an entry
 *   counts  in  [n] columns whose entries are taken: 1 */
bool lu_tree_take(lu_super *s, int32_t t, const double *val, const int32_t *column,
                  const uint8_t *counts);

/* lu_super_solve.c: how solutions are cut into units, which does not depend on threads. They are
 * done by those of s->pool if the largest block of BTF has `least` entries. Allocates. */
lu_units *lu_units_new(const lu_super *s, double least);
void lu_units_free(lu_units **h);

/* The last row of the segment that begins with row f, in column k. */
static inline int32_t segment_end(const lu_super *s, int32_t f, int32_t k)
{
    const int32_t end = s->start[s->of[f] + 1];
    return (end < k ? end : k) - 1;
}

/* The first segment of supernode o that is in one of its own columns. */
static inline int32_t own_segments(const lu_super *s, int32_t o)
{
    int32_t j = s->row_at[o];
    while (j > s->row_at[o + 1] && s->column[j - 1] < s->start[o + 1])
        j--;
    return j;
}

#endif
