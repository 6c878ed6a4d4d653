/* lu_super.c - see lu_super.h. Everything is in the order of pivots: row k and column k are those
 * of pivot k. */
#include "lu_super.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "lu_panel.h"
#include "lu_super_priv.h"

#define VALUE double
#define SUMS(name) name
#include "lu_super_sums.h"

enum {
    MAX_WIDTH =
        LU_PANEL, /* columns of a supernode: a later part of a run need not wait for all of it */
    MIN_PARALLEL = 400000, /* multiplications, below which threads cost more than they give */
    ASK_AHEAD = 2,         /* columns, by which memory of U is asked for early, */
    FAR = 32,              /* and entries of A, by which theirs is */
    MIN_PANEL = 3,  /* columns of a supernode made anew in a row, from which a panel is faster */
    PANEL_WORK = 32 /* multiplications per entry of its block, below which one does not pay */
};

/* A run of rows above its supernode that columns of a panel have as a segment. */
typedef struct panel_step {
    int32_t first;
    uint32_t members; /* bit j: column j of the panel */
} panel_step;

/* Factorisations and solutions of parts. Marks are bytes of 0 or 1, one byte more than supernodes;
 * all are 0 between calls. */
typedef struct partly {
    int32_t *pinv, *qinv;           /* [n] pivots of rows and columns of A */
    int32_t *below_at;              /* [n_super + 1] in `below` */
    int32_t *below;                 /* other supernodes that have rows of a supernode's block; NULL:
                                       no solution was asked for yet */
    int32_t *user_at;               /* [n_super + 1] in `user` */
    int32_t *user;                  /* other supernodes whose columns use a supernode */
    int32_t *used_at;               /* [n_super + 1] in `used` */
    int32_t *used;                  /* other supernodes that its columns use */
    _Atomic uint8_t *look;          /* [n_super + 1] supernodes that a factorisation looks at */
    uint8_t *need;                  /* [n_super + 1] those that a solution visits */
    int32_t *column;                /* [nnz of A] that an entry is in */
    uint8_t *counts;                /* [n] columns of the part */
    int32_t *wide;                  /* vec: columns with many entries above their block: supplies */
    double *z;                      /* [n] right side, then solution; zero between calls */
    double *least, *most;           /* [n_super] of |u_kk| over scale */
    double *span_least, *span_most; /* of SPAN supernodes each */
    uint8_t *span_new;
    bool fresh; /* `changed` is zero, and least and most are those of the factors */
} partly;

/* -- plan -- */

static void *array(size_t n, size_t size) { return vs_calloc(n + 1, size); }

/* Counts by supernode become places, the last supernode's first. */
static void add_up_from_end(int32_t *at, int32_t n)
{
    int32_t sum = 0;
    for (int32_t o = n; o > 0; o--) {
        const int32_t count = at[o - 1];
        at[o] = sum;
        sum += count;
    }
    at[0] = sum;
}

/* The segments by rows, and places of their values. */
static void list_rows(lu_super *s)
{
    const size_t supers = (size_t)s->n_super + 1;
    s->row_at = array(supers, sizeof(int32_t));
    s->value_at = array(supers, sizeof(int32_t));
    for (int32_t k = 0; k < s->n; k++)
        for (int32_t g = s->gp[k]; g < s->gp[k + 1]; g++) {
            s->row_at[s->of[s->seg[g]]]++;
            s->value_at[s->of[s->seg[g]]] += segment_end(s, s->seg[g], k) + 1 - s->seg[g];
        }
    add_up_from_end(s->row_at, s->n_super);
    add_up_from_end(s->value_at, s->n_super);
    const size_t segments = (size_t)s->gp[s->n];
    s->place = array(segments, sizeof *s->place);
    s->column = array(segments, sizeof *s->column);
    s->skip = array(segments, sizeof *s->skip);
    s->ux = array((size_t)s->value_at[0], sizeof *s->ux);
    int32_t *next = array(supers, sizeof *next), *value = array(supers, sizeof *value);
    memcpy(next, s->row_at + 1, sizeof *next * (size_t)s->n_super);
    memcpy(value, s->value_at + 1, sizeof *value * (size_t)s->n_super);
    for (int32_t k = s->n - 1; k >= 0; k--)
        for (int32_t g = s->gp[k]; g < s->gp[k + 1]; g++) {
            const int32_t o = s->of[s->seg[g]], at = next[o]++;
            s->column[at] = k;
            s->skip[at] = (uint8_t)(s->seg[g] - s->start[o]);
            s->place[g] = value[o];
            value[o] += segment_end(s, s->seg[g], k) + 1 - s->seg[g];
        }
    vs_free(next);
    vs_free(value);
}

/* Places of the values of U and of L. */
static void place_values(lu_super *s)
{
    const size_t n = (size_t)s->n;
    int64_t values = 0;
    s->lp = array((size_t)s->n_super + 1, sizeof(int64_t));
    for (int32_t o = 0; o < s->n_super; o++) {
        s->lp[o] = values;
        values += (int64_t)(s->ip[o + 1] - s->ip[o]) * (s->start[o + 1] - s->start[o]);
    }
    s->lp[s->n_super] = values;
    s->lx = array((size_t)values, sizeof(double));
    s->diag = array(n, sizeof(double));
    list_rows(s);
}

/* Entries above the blocks by rows, those of the last block first, and by columns. first [n]: of a
 * column's block. */
static void list_above(lu_super *s, const csc *a, const int32_t *pinv, const int32_t *first)
{
    const size_t n = (size_t)s->n, nnz = (size_t)csc_nnz(a);
    s->fp = array(n + 1, sizeof(int32_t));
    s->above_at = array(n + 1, sizeof(int32_t));
    for (int32_t k = 0; k < s->n; k++)
        for (int32_t i = a->colptr[s->q[k]]; i < a->colptr[s->q[k] + 1]; i++)
            if (pinv[a->row[i]] < first[k]) {
                s->fp[pinv[a->row[i]]]++;
                s->above_at[k]++;
            }
    const size_t all = (size_t)csc_begins(s->fp, s->n);
    (void)csc_begins(s->above_at, s->n);
    assert(all <= nnz);
    s->fcol = array(all, sizeof(int32_t));
    s->fpos = array(all, sizeof(int32_t));
    s->fx = array(all, sizeof(double));
    s->above = array(all, sizeof(int32_t));
    s->frow = array(all, sizeof(int32_t));
    int32_t *next = array(n, sizeof *next);
    memcpy(next, s->fp, n * sizeof *next);
    for (int32_t b = s->n_block - 1; b >= 0; b--)
        for (int32_t k = s->block[b]; k < s->block[b + 1]; k++)
            for (int32_t i = a->colptr[s->q[k]], j = s->above_at[k]; i < a->colptr[s->q[k] + 1];
                 i++) {
                const int32_t row = pinv[a->row[i]];
                if (row >= first[k])
                    continue;
                const int32_t at = next[row]++;
                s->fcol[at] = k;
                s->fpos[at] = i;
                s->above[j++] = at;
                s->frow[at] = row;
            }
    vs_free(next);
}

/* [n] the pivot of a row of A */
static int32_t *rows_to_pivots(const lu_super *s)
{
    int32_t *pinv = array((size_t)s->n, sizeof *pinv);
    for (int32_t k = 0; k < s->n; k++)
        pinv[s->p[k]] = k;
    return pinv;
}

/* [n] the first column of a column's block */
static int32_t *first_columns(const lu_super *s)
{
    int32_t *first = array((size_t)s->n, sizeof *first);
    for (int32_t b = 0; b < s->n_block; b++)
        for (int32_t k = s->block[b]; k < s->block[b + 1]; k++)
            first[k] = s->block[b];
    return first;
}

/* Where the entries of A go: into the column's block, or above it. */
static void find_entries(lu_super *s, const csc *a)
{
    const size_t n = (size_t)s->n, nnz = (size_t)csc_nnz(a);
    int32_t *pinv = rows_to_pivots(s), *first = first_columns(s);
    s->ap = array(n + 1, sizeof(int32_t));
    s->apos = array(nnz, sizeof(int32_t));
    s->arow = array(nnz, sizeof(int32_t));
    int32_t na = 0;
    for (int32_t k = 0; k < s->n; k++) {
        s->ap[k] = na;
        for (int32_t i = a->colptr[s->q[k]]; i < a->colptr[s->q[k] + 1]; i++)
            if (pinv[a->row[i]] >= first[k]) {
                s->apos[na] = i;
                s->arow[na++] = pinv[a->row[i]];
            }
    }
    s->ap[n] = na;
    s->val = array(nnz, sizeof(double));
    list_above(s, a, pinv, first);
    vs_free(pinv);
    vs_free(first);
}

/* -- plan of panels -- */

/* The steps of supernode o's panel, ascending; to NULL: they are counted. */
static int32_t merge_segments(const lu_super *s, int32_t o, panel_step *to)
{
    const int32_t own = s->start[o], width = s->start[o + 1] - own;
    int32_t at[LU_PANEL], n = 0; /* the next segment of each column */
    memcpy(at, s->rest + own, sizeof *at * (size_t)width);
    for (;; n++) {
        panel_step least = {.first = own};
        for (int32_t j = 0; j < width; j++) {
            const int32_t f = at[j] < s->gp[own + j + 1] ? s->seg[at[j]] : own;
            if (f < least.first)
                least = (panel_step){.first = f};
            least.members |= (uint32_t)(f == least.first) << j;
        }
        if (least.first == own)
            return n;
        for (int32_t j = 0; j < width; j++)
            at[j] += least.members >> j & 1;
        if (to)
            to[n] = least;
    }
}

/* Whether the columns of supernode o are to be a panel. weight: multiplications of each. */
static bool suits_panel(const lu_super *s, int32_t o, const double *weight)
{
    const int32_t width = s->start[o + 1] - s->start[o];
    return width >= MIN_PANEL && lu_tree_of(s, o) < 0 &&
           weight[o] >= PANEL_WORK * (double)((s->ip[o + 1] - s->ip[o]) * width);
}

/* Steps of all panels into s->step, and where each panel's begin; s->step NULL: only that. */
static void each_panel(lu_super *s, const double *weight)
{
    int32_t n = 0;
    for (int32_t o = 0; o < s->n_super; o++) {
        s->step_at[o] = n;
        if (suits_panel(s, o, weight))
            n += merge_segments(s, o, s->step ? s->step + n : NULL);
    }
    s->step_at[s->n_super] = n;
}

/* Numbers from an octet of a thread's part of s->px to the next one. */
static inline size_t octet_size(const lu_super *s) { return ((size_t)s->n_crown + 1) * LU_OCTET; }

static void plan_panels(lu_super *s, const double *weight)
{
    int32_t most = 0;
    for (int32_t o = 0; o < s->n_super; o++)
        if (suits_panel(s, o, weight) && s->start[o + 1] - s->start[o] > most)
            most = s->start[o + 1] - s->start[o];
    if (!most)
        return;
    s->n_octet = (most + LU_OCTET - 1) / LU_OCTET;
    s->step_at = array((size_t)s->n_super + 1, sizeof *s->step_at);
    each_panel(s, weight);
    s->step = array((size_t)s->step_at[s->n_super], sizeof *s->step);
    each_panel(s, weight);
    s->px = array(octet_size(s) * (size_t)(s->n_octet * pool_size(s->pool)) + 2 * LU_OCTET,
                  sizeof(double));
}

/* -- plan of threads -- */

/* Multiplications in a supernode's columns. */
static double work_of(const lu_super *s, int32_t sn)
{
    double w = 0;
    for (int32_t k = s->start[sn]; k < s->start[sn + 1]; k++)
        for (int32_t g = s->gp[k]; g < s->gp[k + 1]; g++) {
            const int32_t f = s->seg[g], o = s->of[f], len = segment_end(s, f, k) - f + 1;
            w += (double)len * (s->ip[o + 1] - s->ip[o] - (f - s->start[o]));
        }
    return w + s->ip[sn + 1] - s->ip[sn];
}

/* Supernodes that are computed by themselves, or with a tree. */
static void list_heads(lu_super *s)
{
    s->head = array((size_t)s->n_super, sizeof *s->head);
    for (int32_t o = 0; o < s->n_super; o++)
        if (lu_tree_root_of(s, o) == o)
            s->head[s->n_head++] = o;
}

/* Whoever has a tree's root computes all of it. */
static void give_work_to_roots(const lu_super *s, double *weight)
{
    for (int32_t o = 0; o < s->n_super; o++) {
        const int32_t root = lu_tree_root_of(s, o);
        if (root != o) {
            weight[root] += weight[o];
            weight[o] = 0;
        }
    }
}

/* Of each supernode the thread that has most of its columns' rows; a tree has one at its root. */
static int32_t *near_rows(const lu_super *s, const csc_cut *rows)
{
    int32_t *near = lu_nobody(s->n_super);
    double *lead = array((size_t)s->n_super, sizeof *lead);
    for (int32_t o = 0; o < s->n_super; o++) {
        const int32_t root = lu_tree_root_of(s, o);
        for (int32_t k = s->start[o]; k < s->start[o + 1]; k++)
            lu_vote(&near[root], &lead[root], csc_cut_part(rows, s->q[k]), 1);
    }
    vs_free(lead);
    return near;
}

static void plan_threads(lu_super *s, const double *weight, double work, const csc_cut *rows)
{
    const int threads = pool_size(s->pool);
    if (threads < 2 || work < MIN_PARALLEL)
        return;
    s->parallel = true;
    s->done = array((size_t)s->n_super, sizeof *s->done);
    int32_t *at = array((size_t)s->n_super + 1, sizeof *at),
            *needs = array((size_t)s->gp[s->n], sizeof *needs);
    for (int32_t g = 0; g < s->gp[s->n]; g++)
        needs[g] = s->of[s->seg[g]];
    for (int32_t o = 0; o <= s->n_super; o++)
        at[o] = s->gp[s->start[o]];
    int32_t *near = rows && rows->n == s->n && rows->n_part == threads ? near_rows(s, rows) : NULL;
    const lu_graph g = {0, s->n_super, at, needs, near};
    s->with = array((size_t)s->n_super, sizeof *s->with);
    lu_split_for_homes(&g, weight, work / (threads * LU_PARTS_PER_THREAD), threads, s->with,
                       &s->split);
    vs_free(near);
    vs_free(at);
    vs_free(needs);
}

/* -- new values -- */

/* A segment of a column: its m rows of x become U's part u [m], and rows below are updated. l: the
 * supernode's block from the segment's first column and row on, id: its rows from there on, `rows`
 * of them. */
static inline void eliminate(double *restrict x, const int32_t *restrict id,
                             const double *restrict l, int32_t ld, int32_t rows, double *restrict u,
                             int32_t m, double *restrict t)
{
    const int32_t f = *id;
    if (m == 1) {
        const double u0 = u[0] = x[f];
        x[f] = 0;
        for (int32_t r = 1; r < rows; r++)
            x[id[r]] -= l[r] * u0;
        return;
    }
    solve_triangle(x + f, l, ld, m);
    for (int32_t r = 0; r < m; r++) {
        u[r] = x[f + r];
        x[f + r] = 0;
    }
    subtract_product(x, id + m, l + m, ld, rows - m, u, m, t);
}

/* A thread that factors. */
typedef struct shift {
    int worker;
    bool waits; /* for supernodes that others may still have in work */
} shift;

static void await(lu_super *s, int32_t o, int worker)
{
    if (s->as_if) {
        pool_need(s->pool, o);
        return;
    }
    const double paused = pool_pause(s->pool);
    for (int n = 0; atomic_load_explicit(&s->done[o], memory_order_acquire) != s->round; n++)
        pool_wait(n);
    pool_resume(s->pool, worker, paused);
}

/* Supernode o is used by supernode `by`. */
static inline void use(lu_super *s, int32_t o, int32_t by, shift w)
{
    if (w.waits && o != by &&
        (s->as_if || atomic_load_explicit(&s->done[o], memory_order_acquire) != s->round))
        await(s, o, w.worker);
}

/* Only parts change: values of other columns do not count. */
static inline bool is_in_parts(const lu_super *s) { return s->partly && s->partly->fresh; }

/* Column k's own values of A, which are in no tree; whether one changed. */
static inline bool take_column(lu_super *s, int32_t k, const double *restrict val)
{
    bool yes = false;
    for (int32_t i = s->ap[k]; i < s->ap[k + 1]; i++) {
        const int32_t at = s->apos[i];
        yes |= val[at] != s->val[at];
        s->val[at] = val[at];
    }
    return yes;
}

/* Whether column k of L and U has to be made anew: its entries of A changed, or a column that it
 * uses did. */
static inline bool must_change(lu_super *s, int32_t k, const double *restrict val, shift w)
{
    bool yes = !s->have;
    if (!is_in_parts(s) || s->partly->counts[k])
        yes |= take_column(s, k, val);
    const lu_tree_parts parts = lu_tree_parts_of(s, k);
    for (const lu_tree_part *t = parts.from; t < parts.end && !yes; t++) {
        use(s, t->root, s->of[k], w);
        yes = s->changed[s->start[t->root]];
    }
    for (int32_t g = s->rest[k]; g < s->gp[k + 1] && !yes; g++) {
        use(s, s->of[s->seg[g]], s->of[k], w);
        for (int32_t f = s->seg[g], end = segment_end(s, f, k); f <= end && !yes; f++)
            yes = s->changed[f];
    }
    return yes;
}

/* A column's values of U stand in rows far from each other: their memory is asked for early. */
static inline void ask_for_upper(const lu_super *s, int32_t k)
{
    for (int32_t g = k < s->n ? s->rest[k] : 0, end = k < s->n ? s->gp[k + 1] : 0; g < end; g++)
        __builtin_prefetch(s->ux + s->place[g], 1);
}

/* Column k of A, and what trees leave to it, into x [n_crown][step]. */
static inline void begin_column(lu_super *s, int32_t k, int64_t step, double *restrict x, shift w)
{
    const lu_tree_parts parts = lu_tree_parts_of(s, k);
    for (int32_t i = s->ap[k]; i < s->ap[k + 1]; i++)
        x[s->arow[i] * step] = s->val[s->apos[i]];
    for (const lu_tree_part *t = parts.from; t < parts.end; t++) {
        use(s, t->root, s->of[k], w);
        for (int32_t r = 0; r < t->n; r++)
            x[t->row[r] * step] += t->value[r];
    }
}

/* Column k of L and U, which is in no tree. */
static void factor_column(lu_super *s, int32_t k, shift w)
{
    double *restrict x = s->x + (size_t)w.worker * (size_t)s->n_crown, *restrict t =
                                                                           s->t + (size_t)w.worker *
                                                                                      (size_t)s->n;
    ask_for_upper(s, k + ASK_AHEAD);
    begin_column(s, k, 1, x, w);
    for (int32_t g = s->rest[k]; g < s->gp[k + 1]; g++) {
        const int32_t f = s->seg[g], o = s->of[f], skip = f - s->start[o],
                      m = segment_end(s, f, k) + 1 - f;
        const int32_t ld = s->ip[o + 1] - s->ip[o];
        const double *l = s->lx + s->lp[o] + (size_t)skip * (size_t)(ld + 1);
        use(s, o, s->of[k], w);
        eliminate(x, s->crown + s->ip[o] + skip, l, ld, ld - skip, s->ux + s->place[g], m, t);
    }
    const int32_t o = s->of[k], pos = k - s->start[o], ld = s->ip[o + 1] - s->ip[o];
    const int32_t *restrict id = s->crown + s->ip[o];
    double *restrict l = s->lx + s->lp[o] + (size_t)pos * (size_t)ld;
    const double by = 1 / (s->diag[k] = x[id[pos]]);
    x[id[pos]] = 0;
    for (int32_t r = pos + 1; r < ld; r++) {
        l[r] = x[id[r]] * by;
        x[id[r]] = 0;
    }
}

/* The part of a thread in s->px. */
static inline double *panel_work(const lu_super *s, int worker)
{
    return vs_at_line(s->px + octet_size(s) * (size_t)s->n_octet * (size_t)worker);
}

/* U's part that a step found goes to the columns' values: segments g of each. */
static void store_upper(lu_super *s, uint32_t members, int32_t m, const double *u, int32_t *g)
{
    for (; members; members &= members - 1) {
        const int j = __builtin_ctz(members);
        const double *uj = u + (int64_t)(j / LU_OCTET) * m * LU_OCTET + j % LU_OCTET;
        double *restrict to = s->ux + s->place[g[j]++];
        for (int32_t c = 0; c < m; c++)
            to[c] = uj[c * LU_OCTET];
    }
}

/* The steps of supernode sn for those of its columns that are to be made anew. */
static void eliminate_above(lu_super *s, int32_t sn, uint32_t anew, double *x, shift w)
{
    _Alignas(64) double u[MAX_WIDTH * LU_PANEL];
    int32_t g[LU_PANEL]; /* the next segment of each column */
    memcpy(g, s->rest + s->start[sn], sizeof *g * (size_t)(s->start[sn + 1] - s->start[sn]));
    for (int32_t i = s->step_at[sn]; i < s->step_at[sn + 1]; i++) {
        const int32_t f = s->step[i].first, o = s->of[f], skip = f - s->start[o],
                      m = s->start[o + 1] - f, ld = s->ip[o + 1] - s->ip[o];
        const uint32_t members = s->step[i].members & anew;
        if (!members)
            continue;
        use(s, o, sn, w);
        lu_panel_eliminate(s->crown + s->ip[o] + skip,
                           s->lx + s->lp[o] + (size_t)skip * (size_t)(ld + 1), ld, ld - skip, m,
                           members, (int64_t)octet_size(s), x, u);
        store_upper(s, members, m, u, g);
    }
}

/* What is left of column k, in x [n_crown] of an octet: its supernode's rows. t: work [n]. */
WIDE static void end_column(lu_super *s, int32_t k, double *restrict x, double *restrict t)
{
    const int32_t o = s->of[k], pos = k - s->start[o], ld = s->ip[o + 1] - s->ip[o];
    const int32_t *restrict id = s->crown + s->ip[o];
    const double *restrict block = s->lx + s->lp[o];
    double *restrict y = s->lx + s->lp[o] + (size_t)pos * (size_t)ld; /* in L's column itself */
    for (int32_t r = 0; r < ld; r++) {
        y[r] = x[id[r] * (int64_t)LU_OCTET];
        x[id[r] * (int64_t)LU_OCTET] = 0;
    }
    const int32_t last = s->gp[k + 1] - 1, f = last >= s->rest[k] ? s->seg[last] : k;
    const int32_t skip = f - s->start[o], m = k - f;
    if (skip >= 0 && m > 0) { /* the last segment is in the supernode */
        const double *restrict l = block + (size_t)skip * (size_t)(ld + 1);
        double *restrict u = s->ux + s->place[last];
        solve_triangle(y + skip, l, ld, m);
        memcpy(u, y + skip, sizeof *u * (size_t)m);
        multiply(l + m, ld, ld - pos, u, m, t);
        for (int32_t r = pos; r < ld; r++)
            y[r] -= t[r - pos];
    }
    const double by = 1 / (s->diag[k] = y[pos]);
    for (int32_t r = pos + 1; r < ld; r++)
        y[r] *= by;
}

/* As factor_column for some columns of supernode sn: bit j of `anew`. */
static void factor_panel(lu_super *s, int32_t sn, uint32_t anew, shift w)
{
    const int32_t k = s->start[sn];
    double *x = panel_work(s, w.worker), *t = s->t + (size_t)w.worker * (size_t)s->n, *xj[LU_PANEL];
    if (!s->had_panels[w.worker])
        s->had_panels[w.worker] = true;
    for (uint32_t left = anew; left; left &= left - 1) {
        const int j = __builtin_ctz(left);
        xj[j] = x + octet_size(s) * (size_t)(j / LU_OCTET) + j % LU_OCTET;
        begin_column(s, k + j, LU_OCTET, xj[j], w);
    }
    eliminate_above(s, sn, anew, x, w);
    for (uint32_t left = anew; left; left &= left - 1)
        end_column(s, k + __builtin_ctz(left), xj[__builtin_ctz(left)], t);
}

static bool factor_one_by_one(lu_super *s, int32_t sn, shift w)
{
    bool any = false;
    for (int32_t k = s->start[sn]; k < s->start[sn + 1]; k++) {
        s->changed[k] = must_change(s, k, s->a->val, w);
        any |= s->changed[k];
        if (s->changed[k])
            factor_column(s, k, w);
    }
    return any;
}

/* l [rows] below a pivot: is one of them times each [rows] above `most`, or no number? */
WIDE static bool any_above(const double *restrict l, const double *restrict each, int32_t rows,
                           double most)
{
    uint64_t no = 0;
    for (int32_t r = 0; r < rows; r++)
        no |= !(fabs(l[r]) * each[r] <= most);
    return no;
}

/* Whether a pivot of supernode sn is below s->tol times an entry of L below it. t: work [n]. */
static bool a_pivot_fails(const lu_super *s, int32_t sn, double *restrict t)
{
    const int32_t ld = s->ip[sn + 1] - s->ip[sn], width = s->start[sn + 1] - s->start[sn];
    for (int32_t r = 0; r < ld; r++)
        t[r] = 1 / s->scale[s->idx[s->ip[sn] + r]];
    for (int32_t c = 0; c < width; c++)
        if (any_above(s->lx + s->lp[sn] + (int64_t)c * ld + c + 1, t + c + 1, ld - c - 1,
                      1 / (s->tol * s->scale[s->start[sn] + c])))
            return true;
    return false;
}

static bool factor_tree(lu_super *s, int32_t t, int worker)
{
    const partly *v = s->partly;
    if (!is_in_parts(s))
        return lu_tree_factor(s, t, s->a->val, worker);
    return lu_tree_take(s, t, s->a->val, v->column, v->counts) &&
           lu_tree_factor(s, t, NULL, worker);
}

/* True if one of its columns was made anew. The root of a tree does all of it. */
static bool factor_supernode(lu_super *s, int32_t sn, shift w)
{
    const int32_t k = s->start[sn], width = s->start[sn + 1] - k, t = lu_tree_of(s, sn);
    if (t >= 0)
        return lu_tree_root(s, t) == sn && factor_tree(s, t, w.worker);
    if (!s->step_at || s->step_at[sn] == s->step_at[sn + 1])
        return factor_one_by_one(s, sn, w);
    uint32_t anew = 0;
    for (int32_t j = 0; j < width; j++) {
        s->changed[k + j] = must_change(s, k + j, s->a->val, w);
        anew |= (uint32_t)s->changed[k + j] << j;
    }
    if (__builtin_popcount(anew) >= MIN_PANEL)
        factor_panel(s, sn, anew, w);
    else
        for (uint32_t left = anew; left; left &= left - 1)
            factor_column(s, k + __builtin_ctz(left), w);
    return anew != 0;
}

/* The same while only parts change: a supernode that nobody told to look is left alone, and one
 * that changed tells those that use it. They come later, and may have begun because another told
 * them. */
static void look_at_supernode(lu_super *s, int32_t sn, shift w)
{
    const partly *v = s->partly;
    if (!atomic_load_explicit(&v->look[sn], memory_order_relaxed) || !factor_supernode(s, sn, w))
        return;
    for (int32_t i = v->user_at[sn]; i < v->user_at[sn + 1]; i++)
        atomic_store_explicit(&v->look[v->user[i]], 1, memory_order_relaxed);
}

/* Whether no pivot fails of those that are there once supernode sn is: all of a tree with its root.
 */
static bool factors_pass(const lu_super *s, int32_t sn, double *restrict t)
{
    const int32_t tree = lu_tree_of(s, sn);
    if (tree < 0)
        return !a_pivot_fails(s, sn, t);
    if (lu_tree_root(s, tree) != sn)
        return true;
    for (int32_t o = lu_tree_first(s, tree); o <= sn; o++)
        if (lu_tree_of(s, o) == tree && a_pivot_fails(s, o, t))
            return false;
    return true;
}

/* A supernode where all change. */
static void factor_whole(lu_super *s, int32_t sn, shift w)
{
    if (s->tol > 0 && atomic_load_explicit(&s->failed, memory_order_relaxed))
        return;
    (void)factor_supernode(s, sn, w);
    if (s->tol > 0 && !factors_pass(s, sn, s->t + (size_t)w.worker * (size_t)s->n))
        atomic_store_explicit(&s->failed, true, memory_order_relaxed);
}

/* While only parts change, those that a supernode uses may tell it to look: it waits until one
 * did, or for all. */
static void do_supernode(lu_super *s, int32_t sn, shift w)
{
    if (is_in_parts(s)) {
        const _Atomic uint8_t *told = &s->partly->look[sn];
        for (int32_t g = s->gp[s->start[sn]]; w.waits && g < s->gp[s->start[sn + 1]] &&
                                              !atomic_load_explicit(told, memory_order_relaxed);
             g++)
            use(s, s->of[s->seg[g]], sn, w);
        look_at_supernode(s, sn, w);
    } else {
        factor_whole(s, sn, w);
    }
    atomic_store_explicit(&s->done[sn], s->round, memory_order_release);
    if (s->as_if)
        pool_made(s->pool, sn);
}

/* Pieces are the parts, each of which has what it needs, then the supernodes that join them: those
 * of one home there, at last the others. Such a one is begun while others that it uses are in work,
 * and waits where it comes to them. They have been started: pieces of a home begin in order, and
 * before those that follow all homes. */
static void run_piece(void *user, int32_t i, int worker)
{
    lu_super *s = user;
    const lu_split *p = &s->split;
    const int32_t t = p->order[i];
    if (t < 0)
        do_supernode(s, -1 - t, (shift){worker, true});
    for (int32_t k = t < 0 ? 0 : p->task[t]; t >= 0 && k < p->task[t + 1]; k++)
        do_supernode(s, p->list[k], (shift){worker, false});
}

static void factor_by_threads(lu_super *s)
{
    s->round++;
    s->as_if = pool_is_as_if(s->pool);
    pool_run_homes(s->pool, POOL_FACTOR, s->split.n_task + s->split.n_top, s->split.home,
                   s->split.n_home, run_piece, s);
}

/* After factors that are not finite: products of them may stand in rows that no column of a panel
 * has. */
static void clear_panels(lu_super *s)
{
    const size_t each = octet_size(s) * (size_t)s->n_octet;
    for (int w = 0; s->px && w < pool_size(s->pool); w++)
        if (s->had_panels[w]) /* the pages of others are not there yet */
            memset(panel_work(s, w), 0, each * sizeof *s->px);
    s->unclean = false;
}

/* The least and the largest |u_kk| of a range, rows over their size; whether one is no pivot. */
typedef struct pivot_range {
    double least, most;
    bool fails;
} pivot_range;

WIDE static pivot_range measure_pivots(const double *restrict diag, const double *restrict scale,
                                       int32_t n)
{
    enum { LANES = 8 };
    double low[LANES], high[LANES];
    pivot_range r = {INFINITY, 0, false};
    uint64_t no[LANES] = {0}, any = 0;
    for (int i = 0; i < LANES; i++) {
        low[i] = INFINITY;
        high[i] = 0;
    }
    int32_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int i = 0; i < LANES; i++) {
            const double u = fabs(diag[k + i]) / scale[k + i];
            no[i] |= !(u > 0) | !(u < INFINITY);
            low[i] = u < low[i] ? u : low[i];
            high[i] = u > high[i] ? u : high[i];
        }
    for (int i = 0; k < n; k++, i++) {
        const double u = fabs(diag[k]) / scale[k];
        no[i] |= !(u > 0) | !(u < INFINITY);
        low[i] = u < low[i] ? u : low[i];
        high[i] = u > high[i] ? u : high[i];
    }
    for (int i = 0; i < LANES; i++) {
        any |= no[i];
        r.least = low[i] < r.least ? low[i] : r.least;
        r.most = high[i] > r.most ? high[i] : r.most;
    }
    r.fails = any != 0;
    return r;
}

/* What follows all supernodes: entries above the blocks; how many columns were made anew; pivots.
 * Threads have a part of each. */
typedef struct tail {
    lu_super *s;
    const double *val;
    int32_t n_part;
    lu_tail *part;
} tail;

/* Entries above the blocks, [begin, end). */
static void take_above(lu_super *s, const double *restrict val, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++) {
        const int32_t at = s->fpos[i], later = s->fpos[i + FAR < end ? i + FAR : i];
        __builtin_prefetch(val + later, 0);
        __builtin_prefetch(s->val + later, 1);
        s->fx[i] = s->val[at] = val[at];
    }
}

static void end_factors(void *user, int32_t i, int worker)
{
    const tail *t = user;
    lu_super *s = t->s;
    const int32_t begin = pool_part(s->n, i, t->n_part), end = pool_part(s->n, i + 1, t->n_part);
    int32_t made = 0;
    (void)worker;
    take_above(s, t->val, pool_part(s->fp[s->n], i, t->n_part),
               pool_part(s->fp[s->n], i + 1, t->n_part));
    for (int32_t k = begin; k < end; k++)
        made += s->changed[k];
    const pivot_range r = measure_pivots(s->diag + begin, s->scale + begin, end - begin);
    t->part[i] = (lu_tail){.made = made, .fails = r.fails, .least = r.least, .most = r.most};
}

/* min |u_kk| / max |u_kk|; 0 if one is no pivot. */
static double end_all(lu_super *s, const double *val)
{
    tail t = {s, val, s->parallel ? pool_size(s->pool) : 1, s->tail};
    double least = INFINITY, most = 0;
    bool fails = false;
    pool_run(s->parallel ? s->pool : NULL, POOL_FACTOR, t.n_part, end_factors, &t);
    s->made = 0;
    for (int32_t i = 0; i < t.n_part; i++) {
        s->made += t.part[i].made;
        fails |= t.part[i].fails;
        least = t.part[i].least < least ? t.part[i].least : least;
        most = t.part[i].most > most ? t.part[i].most : most;
    }
    return fails ? 0 : s->n ? least / most : 1;
}

double lu_super_factor(lu_super *s, const csc *a)
{
    s->a = a;
    s->coarse = LU_NOT_MADE;
    if (s->unclean)
        clear_panels(s);
    if (s->partly)
        s->partly->fresh = false;
    if (s->parallel) {
        factor_by_threads(s);
    } else {
        for (int32_t i = 0; i < s->n_head; i++)
            factor_whole(s, s->head[i], (shift){0});
    }
    s->have = false; /* until it turns out well */
    const double pivots = end_all(s, a->val), rcond = s->failed ? 0 : pivots;
    s->have = rcond > 0;
    s->unclean = !s->have;
    return rcond;
}

double lu_super_factor_with(lu_super *s, const csc *a, double tol)
{
    s->tol = tol;
    const double rcond = lu_super_factor(s, a);
    s->tol = 0;
    s->failed = false;
    return rcond;
}

/* -- pivots -- */

/* The largest of A's entries in column k from row `first` on, each over the size of its row. */
static double largest_entry(const lu_super *s, int32_t k, int32_t first, const int32_t *pinv)
{
    const csc *a = s->a;
    double most = 0;
    for (int32_t i = a->colptr[s->q[k]]; i < a->colptr[s->q[k] + 1]; i++) {
        const int32_t row = pinv[a->row[i]];
        const double v = row < first ? 0 : fabs(a->val[i]) / s->scale[row];
        most = v > most ? v : most;
    }
    return most;
}

/* Whether an entry of column k of U is above `most`; each [n]: one over the sizes of rows. */
static bool upper_is_above(const lu_super *s, int32_t k, const double *each, double most)
{
    if (!(fabs(s->diag[k]) * each[k] <= most))
        return true;
    for (int32_t g = s->gp[k]; g < s->gp[k + 1]; g++) {
        const int32_t f = s->seg[g], len = segment_end(s, f, k) + 1 - f;
        if (any_above(s->ux + s->place[g], each + f, len, most))
            return true;
    }
    return false;
}

bool lu_super_grows_beyond(const lu_super *s, double least)
{
    double *restrict each = s->t;
    int32_t *pinv = rows_to_pivots(s);
    bool yes = false;
    for (int32_t k = 0; k < s->n; k++)
        each[k] = 1 / s->scale[k];
    for (int32_t b = 0; b < s->n_block; b++)
        for (int32_t k = s->block[b]; k < s->block[b + 1] && !yes; k++)
            yes = upper_is_above(s, k, each, largest_entry(s, k, s->block[b], pinv) / least);
    vs_free(pinv);
    return yes;
}

int32_t lu_super_made(const lu_super *s) { return s->made; }

/* -- parts -- */

enum { SPAN = 64 };

/* Lists by supernode: to[at[sn] .. at[sn + 1]). Pairs come by `each`, twice. */
typedef struct pairs {
    const lu_super *s;
    int32_t *at, *to, *last; /* to NULL: they are counted */
} pairs;

static void take_pair(pairs *p, int32_t of, int32_t other)
{
    if (of == other || p->last[of] == other + 1)
        return;
    p->last[of] = other + 1;
    if (p->to)
        p->to[p->at[of]] = other;
    p->at[of]++;
}

/* Supernodes that have rows of a block: each block's own list, in ascending order. */
static void each_below(pairs *p)
{
    const lu_super *s = p->s;
    for (int32_t o = 0; o < s->n_super; o++) {
        int32_t before = o;
        for (int32_t i = s->ip[o]; i < s->ip[o + 1]; i++) {
            const int32_t t = s->of[s->idx[i]];
            if (t != before)
                take_pair(p, o, t);
            before = t;
        }
    }
}

/* Of a tree only the root has users, which are those of all. */
static void each_user(pairs *p)
{
    const lu_super *s = p->s;
    for (int32_t k = 0; k < s->n; k++) {
        const lu_tree_parts parts = lu_tree_parts_of(s, k);
        for (const lu_tree_part *t = parts.from; t < parts.end; t++)
            take_pair(p, t->root, s->of[k]);
        for (int32_t g = s->rest[k]; g < s->gp[k + 1]; g++)
            take_pair(p, s->of[s->seg[g]], s->of[k]);
    }
}

static void each_used(pairs *p)
{
    const lu_super *s = p->s;
    int32_t *seen = array((size_t)s->n_super, sizeof *seen);
    for (int32_t k = 0; k < s->n; k++)
        for (int32_t g = s->gp[k]; g < s->gp[k + 1]; g++) {
            const int32_t o = s->of[s->seg[g]];
            if (seen[o] != s->of[k] + 1)
                take_pair(p, s->of[k], o);
            seen[o] = s->of[k] + 1;
        }
    vs_free(seen);
}

static int32_t *list_pairs(const lu_super *s, void (*each)(pairs *), int32_t *at)
{
    const size_t n = (size_t)s->n_super;
    pairs p = {.s = s, .at = at, .last = array(n, sizeof(int32_t))};
    each(&p);
    p.to = array((size_t)csc_begins(at, s->n_super), sizeof(int32_t));
    memset(p.last, 0, n * sizeof *p.last);
    each(&p);
    csc_ends_to_begins(at, s->n_super);
    vs_free(p.last);
    return p.to;
}

static bool is_wide(const lu_super *s, int32_t k)
{
    enum { MANY = 8192 }; /* entries: what threads share */
    return s->above_at[k + 1] - s->above_at[k] >= MANY;
}

static partly *make_partly(const lu_super *s)
{
    const size_t n = (size_t)s->n, ns = (size_t)s->n_super + 1;
    partly *v = vs_calloc(1, sizeof *v);
    *v = (partly){.pinv = rows_to_pivots(s),
                  .qinv = array(n, sizeof(int32_t)),
                  .below_at = array(ns, sizeof(int32_t)),
                  .user_at = array(ns, sizeof(int32_t)),
                  .used_at = array(ns, sizeof(int32_t)),
                  .look = array(ns, 1),
                  .need = array(ns, 1),
                  .column = array((size_t)s->colptr[s->n], sizeof(int32_t)),
                  .counts = array(n, 1),
                  .z = array(n, sizeof(double)),
                  .least = array(ns, sizeof(double)),
                  .most = array(ns, sizeof(double)),
                  .span_least = array(ns / SPAN + 1, sizeof(double)),
                  .span_most = array(ns / SPAN + 1, sizeof(double)),
                  .span_new = array(ns / SPAN + 1, 1)};
    for (int32_t k = 0; k < s->n; k++) {
        const int32_t col = s->q[k];
        v->qinv[col] = k;
        for (int32_t i = s->colptr[col]; i < s->colptr[col + 1]; i++)
            v->column[i] = k;
    }
    v->user = list_pairs(s, each_user, v->user_at);
    for (int32_t k = 0; k < s->n; k++)
        if (is_wide(s, k))
            vec_push(v->wide, k);
    return v;
}

static void free_partly(partly *v)
{
    if (!v)
        return;
    void *const all[] = {v->pinv,         v->qinv,      v->below_at, v->below,  v->user_at,
                         v->user,         v->used_at,   v->used,     v->column, v->counts,
                         (void *)v->look, v->need,      v->z,        v->least,  v->most,
                         v->span_least,   v->span_most, v->span_new};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vec_free(v->wide);
    vs_free(v);
}

/* The first mark in [from, end); end: none. */
static inline int32_t next_mark(const uint8_t *mark, int32_t from, int32_t end)
{
    if (from < end && mark[from]) /* mostly they are neighbours */
        return from;
    const uint8_t *at = from < end ? memchr(mark + from, 1, (size_t)(end - from)) : NULL;
    return at ? (int32_t)(at - mark) : end;
}

/* The last mark in [begin, end); begin - 1: none. */
static inline int32_t mark_before(const uint8_t *mark, int32_t begin, int32_t end)
{
    int32_t i = end;
    if (i > begin && mark[i - 1])
        return i - 1;
    for (uint64_t word; i - begin >= 8; i -= 8) {
        memcpy(&word, mark + i - 8, sizeof word);
        if (word)
            break;
    }
    while (--i >= begin && !mark[i])
        ;
    return i;
}

static void measure_supernode(lu_super *s, int32_t sn)
{
    double least = INFINITY, most = 0;
    for (int32_t k = s->start[sn]; k < s->start[sn + 1]; k++) {
        const double u = fabs(s->diag[k]) / s->scale[k];
        least = u > 0 && u < INFINITY ? (u < least ? u : least) : 0;
        most = u > most ? u : most;
        if (least == 0)
            break;
    }
    s->partly->least[sn] = least;
    s->partly->most[sn] = most;
    s->partly->span_new[sn / SPAN] = 1;
}

/* min |u_kk| / max |u_kk| of all, 0 if one is no pivot. */
static double measure_all(lu_super *s)
{
    partly *v = s->partly;
    double least = INFINITY, most = 0;
    for (int32_t b = 0; b * SPAN < s->n_super; b++) {
        if (v->span_new[b]) {
            const int32_t end = (b + 1) * SPAN < s->n_super ? (b + 1) * SPAN : s->n_super;
            v->span_least[b] = INFINITY;
            v->span_most[b] = v->span_new[b] = 0;
            for (int32_t sn = b * SPAN; sn < end; sn++) {
                v->span_least[b] = fmin(v->span_least[b], v->least[sn]);
                v->span_most[b] = fmax(v->span_most[b], v->most[sn]);
            }
        }
        least = v->span_least[b] < least ? v->span_least[b] : least;
        most = v->span_most[b] > most ? v->span_most[b] : most;
    }
    return s->n ? least / most : 1;
}

static void prepare_parts(lu_super *s)
{
    if (!s->partly)
        s->partly = make_partly(s);
    if (s->partly->fresh)
        return;
    s->partly->fresh = true;
    memset(s->changed, 0, (size_t)s->n);
    for (int32_t sn = 0; sn < s->n_super; sn++)
        measure_supernode(s, sn);
}

static void factor_looked_at(lu_super *s)
{
    const uint8_t *look = (const uint8_t *)s->partly->look; /* one thread */
    for (int32_t sn = 0; (sn = next_mark(look, sn, s->n_super)) < s->n_super; sn++)
        look_at_supernode(s, sn, (shift){0});
}

/* What comes after the factors of a supernode that was looked at, or is in a tree that was. */
static void end_supernode(lu_super *s, int32_t sn)
{
    for (int32_t k = s->start[sn]; k < s->start[sn + 1]; k++) {
        s->made += s->changed[k];
        s->changed[k] = 0;
    }
    measure_supernode(s, sn);
}

/* Marks are taken back. */
static void end_part(lu_super *s)
{
    uint8_t *look = (uint8_t *)s->partly->look;
    s->made = 0;
    for (int32_t sn = 0; (sn = next_mark(look, sn, s->n_super)) < s->n_super; sn++) {
        const int32_t t = lu_tree_of(s, sn);
        for (int32_t o = t < 0 ? sn : lu_tree_first(s, t); o <= sn; o++)
            if (lu_tree_of(s, o) == t)
                end_supernode(s, o);
        look[sn] = 0;
    }
}

static void look_at(const lu_super *s, int32_t sn)
{
    atomic_store_explicit(&s->partly->look[sn], 1, memory_order_relaxed);
}

/* Entries [begin, end) of those above their blocks. */
static void copy_above(lu_super *s, const csc *a, int32_t begin, int32_t end)
{
    for (int32_t j = begin; j < end; j++) {
        const int32_t at = s->above[j];
        s->fx[at] = s->val[s->fpos[at]] = a->val[s->fpos[at]];
    }
}

/* Column k may have new values: its own supernode's, and those of trees that have entries of it. */
static void look_at_column(lu_super *s, const csc *a, int32_t k)
{
    const partly *v = s->partly;
    const lu_tree_parts parts = lu_tree_parts_of(s, k);
    v->counts[k] = 1;
    look_at(s, lu_tree_root_of(s, s->of[k]));
    for (const lu_tree_part *t = parts.from; t < parts.end; t++)
        look_at(s, t->root);
    if (!is_wide(s, k))
        copy_above(s, a, s->above_at[k], s->above_at[k + 1]);
}

/* The columns of a part, cut for threads: each has its own, and its piece of each wide one. */
typedef struct columns {
    lu_super *s;
    const csc *a;
    const lu_part *p;
    int32_t n_piece;
} columns;

static void look_at_piece(void *user, int32_t i, int worker)
{
    const columns *c = user;
    const lu_part *p = c->p;
    const int32_t end = pool_part(p->n, i + 1, c->n_piece);
    (void)worker;
    for (int32_t k = pool_part(p->n, i, c->n_piece); k < end; k++)
        if (p->column[k] >= 0)
            look_at_column(c->s, c->a, c->s->partly->qinv[p->column[k]]);
}

static void copy_piece(void *user, int32_t i, int worker)
{
    const columns *c = user;
    const partly *v = c->s->partly;
    (void)worker;
    for (size_t w = 0; w < vec_len(v->wide); w++) {
        const int32_t k = v->wide[w], begin = c->s->above_at[k], n = c->s->above_at[k + 1] - begin;
        if (v->counts[k])
            copy_above(c->s, c->a, begin + pool_part(n, i, c->n_piece),
                       begin + pool_part(n, i + 1, c->n_piece));
    }
}

static void look_at_columns(lu_super *s, const csc *a, const lu_part *p)
{
    enum { MANY = 4096 }; /* columns: what threads share */
    const int32_t threads = s->parallel ? pool_size(s->pool) : 1;
    columns c = {s, a, p, p->n >= MANY ? threads : 1};
    pool_run_each(c.n_piece > 1 ? s->pool : NULL, POOL_FACTOR, c.n_piece, look_at_piece, &c);
    c.n_piece = threads;
    if (vec_len(s->partly->wide))
        pool_run_each(threads > 1 ? s->pool : NULL, POOL_FACTOR, threads, copy_piece, &c);
}

double lu_super_factor_part(lu_super *s, const csc *a, const lu_part *p)
{
    if (!s->have)
        return 0;
    s->a = a;
    s->coarse = LU_NOT_MADE;
    prepare_parts(s);
    look_at_columns(s, a, p);
    if (s->parallel) {
        factor_by_threads(s);
    } else {
        factor_looked_at(s);
    }
    end_part(s);
    for (int32_t i = 0; i < p->n; i++)
        if (p->column[i] >= 0)
            s->partly->counts[s->partly->qinv[p->column[i]]] = 0;
    const double rcond = measure_all(s);
    s->have = rcond > 0;
    s->unclean = !s->have;
    return rcond;
}

static void mark_list(uint8_t *mark, const int32_t *at, const int32_t *to, int32_t sn)
{
    for (int32_t i = at[sn]; i < at[sn + 1]; i++)
        mark[to[i]] = 1;
}

static void lower_supernode(const lu_super *s, int32_t o, double *restrict z)
{
    const int32_t c0 = s->start[o], m = s->start[o + 1] - c0, ld = s->ip[o + 1] - s->ip[o];
    const double *restrict l = s->lx + s->lp[o];
    solve_triangle(z + c0, l, ld, m);
    if (ld > m)
        subtract_product(z, s->idx + s->ip[o] + m, l + m, ld, ld - m, z + c0, m, s->t);
}

/* Supernodes [from, end) are those of a block of BTF. */
static void lower_part(lu_super *s, int32_t from, int32_t end)
{
    const partly *v = s->partly;
    for (int32_t o = from; (o = next_mark(v->need, o, end)) < end; o++) {
        lower_supernode(s, o, v->z);
        mark_list(v->need, v->below_at, v->below, o);
    }
}

/* The update of a column, if it is too large to be left out; else 0. */
static double update_of(const lu_super *s, lu_part *p, int32_t k, double x)
{
    const int32_t col = s->q[k];
    if (fabs(x) <= p->drop[col])
        return 0;
    if (p->in[col])
        return x;
    p->value[p->n_found] = x;
    p->found[p->n_found++] = col;
    return x;
}

/* The rows of supernode o; whether one changes others. */
static bool upper_rows(lu_super *s, lu_part *p, int32_t o)
{
    double *restrict z = s->partly->z;
    const int32_t first = s->start[o];
    int32_t j = own_segments(s, o);
    const double *restrict u =
        subtract_rows(s, o, s->row_at[o + 1], j, s->ux + s->value_at[o + 1], z);
    bool any = false;
    for (int32_t k = s->start[o + 1] - 1; k >= first; k--) {
        const double zk = z[k] = update_of(s, p, k, z[k] / s->diag[k]);
        any |= zk != 0;
        if (j == s->row_at[o] || s->column[j] != k)
            continue;
        for (int32_t r = first + s->skip[j++]; r < k; r++)
            z[r] -= *u++ * zk;
    }
    return any;
}

static void upper_part(lu_super *s, lu_part *p, int32_t from, int32_t end)
{
    const partly *v = s->partly;
    for (int32_t o = end; (o = mark_before(v->need, from, o)) >= from;) {
        if (upper_rows(s, p, o))
            mark_list(v->need, v->used_at, v->used, o);
    }
    for (int32_t o = from; (o = next_mark(v->need, o, end)) < end; o++)
        for (int32_t k = s->start[o]; k < s->start[o + 1]; k++)
            for (int32_t j = s->above_at[k]; v->z[k] != 0 && j < s->above_at[k + 1]; j++) {
                const int32_t at = s->above[j], row = s->frow[at];
                v->z[row] -= s->fx[at] * v->z[k];
                v->need[s->of[row]] = 1;
            }
}

void lu_super_solve_part(lu_super *s, lu_part *p, const double *b, double *x)
{
    prepare_parts(s);
    partly *v = s->partly;
    if (!v->below) {
        v->below = list_pairs(s, each_below, v->below_at);
        v->used = list_pairs(s, each_used, v->used_at);
    }
    for (int32_t i = 0; i < p->n; i++)
        if (p->column[i] >= 0 && b[i] != 0) {
            const int32_t k = v->pinv[p->column[i]];
            v->z[k] = b[i];
            v->need[s->of[k]] = 1;
        }
    for (int32_t i = s->n_block - 1; i >= 0; i--) {
        const int32_t from = s->of[s->block[i]], end = s->of[s->block[i + 1] - 1] + 1;
        if (next_mark(v->need, from, end) == end)
            continue;
        lower_part(s, from, end);
        upper_part(s, p, from, end);
    }
    for (int32_t i = 0; i < p->n; i++)
        x[i] = p->column[i] < 0 ? 0 : v->z[v->qinv[p->column[i]]];
    for (int32_t o = 0; (o = next_mark(v->need, o, s->n_super)) < s->n_super; o++) {
        memset(v->z + s->start[o], 0, sizeof(double) * (size_t)(s->start[o + 1] - s->start[o]));
        v->need[o] = 0;
    }
}

int32_t lu_super_weakest(const lu_super *s)
{
    int32_t at = -1;
    for (int32_t k = 0; k < s->n; k++)
        if (at < 0 || fabs(s->diag[k]) / s->scale[k] < fabs(s->diag[at]) / s->scale[at])
            at = k;
    return at < 0 ? -1 : s->q[at];
}

/* -- life -- */

void lu_super_set_scale(lu_super *s, const csc *a)
{
    double *size = s->t; /* by rows of A */
    memset(size, 0, sizeof(double) * (size_t)s->n);
    for (int32_t i = 0, nnz = csc_nnz(a); i < nnz; i++) {
        const double v = fabs(a->val[i]);
        size[a->row[i]] = size[a->row[i]] > v ? size[a->row[i]] : v;
    }
    for (int32_t k = 0; k < s->n; k++)
        s->scale[k] = size[s->p[k]] == 0 ? 1 : size[s->p[k]];
    if (s->partly)
        s->partly->fresh = false;
}

static void make_work(lu_super *s)
{
    const size_t n = (size_t)s->n, threads = (size_t)pool_size(s->pool);
    s->scale = array(n, sizeof(double));
    s->x = array((size_t)s->n_crown * threads, sizeof(double));
    s->t = array(n * threads, sizeof(double));
    s->changed = array(n, 1);
    s->tail = array(threads, sizeof *s->tail);
    s->had_panels = array(threads, sizeof *s->had_panels);
}

static int32_t *copy(const int32_t *from, size_t n)
{
    int32_t *to = array(n, sizeof *to);
    memcpy(to, from, sizeof *to * n);
    return to;
}

lu_super *lu_super_new(const csc *a, const klu_symbolic *sym, const int32_t *p, csc_team team,
                       double share_from, bool trees)
{
    const size_t n = (size_t)a->n;
    lu_super *s = vs_calloc(1, sizeof *s);
    s->n = a->n;
    s->colptr = a->colptr;
    s->n_block = sym->nblocks;
    s->pool = team.pool;
    s->p = copy(p, n);
    s->q = copy(sym->Q, n);
    s->block = copy(sym->R, (size_t)sym->nblocks + 1);
    find_entries(s, a);
    if (!lu_super_fill(s, sym->lnz + sym->unz)) {
        lu_super_free(&s);
        return NULL;
    }
    place_values(s);
    lu_trees_new(s, trees);
    list_heads(s);
    make_work(s);
    double work = 0, *weight = array((size_t)s->n_super, sizeof *weight);
    for (int32_t k = 0; k < s->n_super; k++)
        work += weight[k] = work_of(s, k);
    give_work_to_roots(s, weight);
    plan_panels(s, weight);
    plan_threads(s, weight, work, team.rows);
    s->units = lu_units_new(s, share_from);
    vs_free(weight);
    return s;
}

bool lu_super_fits(const lu_super *s, const int32_t *p)
{
    return !memcmp(s->p, p, sizeof(int32_t) * (size_t)s->n);
}

void lu_super_forget(lu_super *s) { s->have = false; }
const int32_t *lu_super_rows(const lu_super *s) { return s->p; }
const double *lu_super_values(const lu_super *s) { return s->val; }
const double *lu_super_scale(const lu_super *s) { return s->scale; }
int64_t lu_super_entries(const lu_super *s) { return s->n_entry; }
double lu_super_work(const lu_super *s) { return s->work; }

void lu_super_free(lu_super **ps)
{
    lu_super *s = *ps;
    if (!s)
        return;
    lu_split_free(&s->split);
    lu_units_free(&s->units);
    lu_trees_free(&s->trees);
    if (s->crown != s->idx)
        vs_free(s->crown);
    void *const all[] = {s->place,        s->rest,    s->head,      s->row_at,
                         s->column,       s->skip,    s->value_at,  s->start,
                         s->of,           s->ip,      s->idx,       s->lp,
                         s->lx,           s->gp,      s->seg,       s->ux,
                         s->diag,         s->ap,      s->apos,      s->arow,
                         s->fp,           s->fpos,    s->fcol,      s->above_at,
                         s->above,        s->frow,    s->coarse_lx, s->coarse_ux,
                         s->fx,           s->block,   s->p,         s->q,
                         s->scale,        s->x,       s->t,         s->val,
                         s->changed,      s->step_at, s->step,      s->px,
                         (void *)s->done, s->with,    s->tail,      s->had_panels};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    free_partly(s->partly);
    vs_free(s);
    *ps = NULL;
}
