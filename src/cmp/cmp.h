/* cmp.h - do two results agree? By signal: values over any axis, edges by the times of crossings,
 * oscillations by period and phase.
 * Use:    cmp_init; cmp_plots for each pair of plots; c.found and cmp_worst; cmp_fini.
 * Tolerance of a signal: abstol + reltol times its greatest modulus; over a frequency that of each
 * point. Curves may have other points: between its points a curve is taken for straight, and what
 * its curvature makes of that is no difference. */
#ifndef CMP_H
#define CMP_H

#include "plot.h"

typedef struct cmp_opt {
    double reltol;     /* 0.005 */
    double abstol;     /* in the signal's unit; NAN: 1 uV, 1 nA, 1e-9 of others */
    double time_shift; /* s: edges may be so much apart, 0 */
    bool common;       /* signals of one result alone do not count */
} cmp_opt;
cmp_opt cmp_defaults(void);

typedef enum cmp_kind {
    CMP_SAME,
    CMP_VALUE,  /* size: difference at `at` */
    CMP_OFFSET, /* b is higher by `size` throughout */
    CMP_EDGE,   /* edge number `index` (from 1) at `at` is later in b by `size`, s */
    CMP_EDGES,  /* n_a edges against n_b; `at`: the first without a partner */
    CMP_PERIOD, /* size: relative difference; period_a, period_b in s */
    CMP_PHASE,  /* the same period; b later by `size`, s */
    CMP_NAN,    /* not a number at `at` in one of them */
    CMP_SHAPE,  /* real against complex */
    CMP_END,    /* the axes: a ends at `at`, b at `size` */
    CMP_ONLY_A, /* b has no such signal */
    CMP_ONLY_B
} cmp_kind;

typedef struct cmp_found {
    cmp_kind kind;
    const post_plot *plot_a, *plot_b; /* NULL: none */
    const post_vec *a, *b;            /* NULL: none; CMP_END: the axes */
    double at, size, tolerance;       /* size is signed but for CMP_VALUE */
    double period_a, period_b;
    int64_t n_a, n_b, index;
    bool rise;
} cmp_found;

typedef struct cmp {
    cmp_opt o;
    int64_t n_same;
    cmp_found *found; /* vec: differences, in the order of the signals */
} cmp;

void cmp_init(cmp *c, const cmp_opt *o);
void cmp_fini(cmp *c);
/* Every signal of two plots. Either may be NULL: all of the other are missing there. */
void cmp_plots(cmp *c, const post_plot *a, const post_plot *b);
/* The difference that is most above its tolerance; NULL: none that can be drawn. */
const cmp_found *cmp_worst(const cmp *c);
/* "edge 3 (rise) at 12 ns is 0.1 ns late", without the signal's name. */
void cmp_text(const cmp_found *f, char *buf, size_t size);

/* "edge": what CMP_EDGE is called for programs. */
const char *cmp_kind_word(cmp_kind kind);

#endif
