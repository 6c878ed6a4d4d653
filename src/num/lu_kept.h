/* lu_kept.h - factors that are kept for when their matrix comes back. The matrix of a linear
 * circuit depends on the step alone, and steps repeat: one length behind corners, another between
 * them.
 * Nothing is kept until a matrix has come back.
 * Use:    lu_kept_take before a factorisation; if it says false, factor into *l, then lu_kept_made;
 *         lu_kept_fini */
#ifndef LU_KEPT_H
#define LU_KEPT_H

#include "vs.h"

enum { LU_KEPT = 2, LU_SEEN = 16 };

typedef struct lu_kept_set {
    double *a, *l; /* [n_a] the matrix, NULL: there is none; [n_l] its factors */
    double rcond;
    uint64_t mark; /* fingerprint of a */
    int64_t used;  /* when */
} lu_kept_set;

typedef struct lu_kept {
    size_t n_a, n_l;
    uint64_t seen[LU_SEEN]; /* fingerprints of the last matrices that were factored */
    int64_t n_seen, clock;
    bool recurs; /* a matrix came back */
    lu_kept_set now, set[LU_KEPT];
} lu_kept;

/* n_l: numbers of a matrix' factors. */
void lu_kept_init(lu_kept *k, size_t n_a, size_t n_l);
void lu_kept_fini(lu_kept *k);

/* Looks for the factors of a [n_a]. true: *l has them, and *rcond is theirs; what *l had is kept.
 * false: there are none, and *l is where they are to be made (it may be other memory, for the
 * present factors may be kept). Allocates where factors are kept for the first time. */
bool lu_kept_take(lu_kept *k, const double *a, double **l, double *rcond);
/* *l has the factors of a now, for which lu_kept_take had none a moment ago. */
void lu_kept_made(lu_kept *k, const double *a, double *l, double rcond);

#endif
