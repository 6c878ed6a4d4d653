/* fuzz_matrix.c - the target `matrix`: sparse matrices as circuits have them, whose values change
 * as in a run, given to every method of src/num. Sizes are small, so that thousands run in a
 * minute; supernodes and lists are also called by themselves, with given pivots, below the sizes
 * from which lu.c takes them.
 * Input:  a head of 8 bytes (shape, size, values, pivots, options), a seed of 4, then changes of 4
 *         bytes each (what, where, how many, how).
 * With given pivots a solution must satisfy the equations row by row as elimination in any order
 * of sums does: |b - A x| <= gamma |L||U||x| (Higham, Accuracy and Stability of Numerical
 * Algorithms, th. 9.4), with L and U from an elimination of the target's own that carries bounds of
 * its errors. Of lu.h's solver the same statuses and bits with one, two and three threads, after
 * lu_restart those of a new solver, and after lu_image those of the solver that was taken; what has
 * no pivots by its structure is told, and what is diagonally dominant has factors. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "csc_cut.h"
#include "fuzz.h"
#include "image.h"
#include "lu_near.h"
#include "lu_priv.h"
#include "lu_super.h"
#include "lu_tiny.h"
#include "lu_z.h"
#include "norm.h"

/* -- the matrix: elements that stamp, as a circuit's -- */

enum {
    MOST_CHANGES = 40,
    MOST_SMALL = 90, /* unknowns, of dense references */
    MOST_LARGE = 1400
};

typedef enum shape { TREE, MESH, HUB, CLIQUES, GATES, ONEWAY, FULL, SOURCES, N_SHAPE } shape;

/* g at (a, a) and (b, b), -g at (a, b) and (b, a); ONE: g at (a, b); LINK: 1 at (a, b), (b, a). */
typedef enum element_kind { ONE, CONDUCTANCE, LINK } element_kind;
typedef struct element {
    element_kind kind;
    int32_t a, b;
    double g, start;
} element;

typedef struct matrix {
    csc m;
    element *e; /* vec */
    int32_t n;
    uint32_t seed;
    bool wild; /* values from 1e-20 to 1e20 */
} matrix;

static uint32_t draw(matrix *x, uint32_t below)
{
    x->seed = x->seed * 1664525u + 1013904223u;
    return below ? (uint32_t)((uint64_t)(x->seed >> 4) * below >> 28) : 0;
}

static int32_t node(matrix *x, int32_t below) { return (int32_t)draw(x, (uint32_t)below); }

static double some_value(matrix *x)
{
    const double v = 0.1 + draw(x, 1 << 16) / (double)(1 << 16);
    return x->wild ? v * pow(10, (double)draw(x, 41) - 20) : v;
}

static void put(matrix *x, element_kind kind, int32_t a, int32_t b)
{
    const double g = kind == LINK ? 1 : some_value(x);
    if (a != b || kind == ONE)
        vec_push(x->e, ((element){kind, a, b, g, g}));
}

static void put_shape(matrix *x, shape s)
{
    const int32_t n = x->n, w = (int32_t)ceil(sqrt(n)), part = n < 300 ? n / 3 + 2 : 44;
    for (int32_t i = 0; i < n; i++) {
        if (s == TREE && i)
            put(x, CONDUCTANCE, i, node(x, i));
        if (s == MESH && i % w)
            put(x, CONDUCTANCE, i, i - 1);
        if (s == MESH && i >= w)
            put(x, CONDUCTANCE, i, i - w);
        if (s == HUB && i)
            put(x, CONDUCTANCE, i, i % 3 ? i - 1 : node(x, n < 4 ? 1 : 4));
        if (s == CLIQUES && i % part)
            for (int32_t j = i / part * part; j < i; j += 1 + (i + j) % 2)
                put(x, CONDUCTANCE, i, j);
        if (s == CLIQUES && i >= part && !(i % part))
            put(x, CONDUCTANCE, i, node(x, i));
        if (s == GATES && i)
            put(x, ONE, i, i - 1);
        if (s == ONEWAY)
            put(x, ONE, i, node(x, n));
        for (int32_t j = 0; s == FULL && j < n && n <= MOST_SMALL; j++)
            if (draw(x, 3))
                put(x, ONE, i, j);
        if (s == SOURCES && i + 2 < n && i % 3 == 0) { /* a node, the next, the current between */
            put(x, LINK, i, i + 2);
            put(x, CONDUCTANCE, i, i + 1);
            put(x, CONDUCTANCE, i + 1, i > 2 ? i - 2 : i);
        }
    }
}

/* extra  bits: 1 entries without a mirror, 2 a loop of gates, 4 sources at random nodes, 8
 *        diagonals that miss, 16 a row that is another one, 32 charges, which are 0 at first, 64
 *        (make_matrix) currents of sources behind the nodes */
static void put_extras(matrix *x, shape s, unsigned extra)
{
    const int32_t n = x->n;
    for (int32_t k = 0; extra & 1 && k < n / 4 + 1; k++)
        put(x, ONE, node(x, n), node(x, n));
    if (extra & 2)
        put(x, ONE, 0, n - 1);
    for (int32_t k = 0; extra & 4 && k < n / 9 + 1; k++)
        put(x, LINK, node(x, n), node(x, n));
    for (int32_t i = 0; i < n; i++)
        if (!(extra & 8 && i % 5 == 2) && !(s == SOURCES && i % 3 == 2))
            put(x, ONE, i, i);
    for (int32_t k = 0; extra & 32 && k < n / 2 + 1; k++) {
        put(x, CONDUCTANCE, node(x, n), node(x, n));
        if (vec_len(x->e))
            vec_last(x->e).g = 0;
    }
    for (int32_t k = 0; extra & 16 && n > 1 && k < 4; k++) {
        put(x, ONE, 0, node(x, n));
        put(x, ONE, 1, vec_last(x->e).b);
    }
}

static int by_place(const void *a, const void *b)
{
    const csc_entry *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Places of an element's entries, columns in the upper half so that they sort as CSC. */
static int entries_of(const element *e, csc_entry at[4])
{
    at[0] = csc_entry_of(e->b, e->a);
    if (e->kind == ONE)
        return 1;
    at[1] = csc_entry_of(e->a, e->b);
    at[2] = csc_entry_of(e->a, e->a);
    at[3] = csc_entry_of(e->b, e->b);
    return e->kind == LINK ? 2 : 4;
}

static void make_pattern(matrix *x)
{
    csc_entry *all = NULL, at[4];
    for (size_t i = 0; i < vec_len(x->e); i++)
        for (int k = 0, n = entries_of(&x->e[i], at); k < n; k++)
            vec_push(all, at[k]);
    const size_t n_all = vec_len(all);
    if (n_all)
        qsort(all, n_all, sizeof *all, by_place);
    x->m.n = x->n;
    x->m.colptr = vs_calloc((size_t)x->n + 1, sizeof(int32_t));
    x->m.row = vs_calloc(n_all + 1, sizeof(int32_t));
    x->m.val = vs_calloc(n_all + 1, sizeof(double));
    int32_t nnz = 0;
    for (size_t i = 0; i < n_all; i++) {
        if (i && all[i] == all[i - 1])
            continue;
        x->m.row[nnz++] = csc_entry_col(all[i]);
        x->m.colptr[csc_entry_row(all[i]) + 1] = nnz;
    }
    for (int32_t j = 0; j < x->n; j++)
        if (x->m.colptr[j + 1] < x->m.colptr[j])
            x->m.colptr[j + 1] = x->m.colptr[j];
    vec_free(all);
}

static void stamp(matrix *x)
{
    const int32_t nnz = csc_nnz(&x->m);
    csc_entry at[4];
    memset(x->m.val, 0, sizeof(double) * (size_t)(nnz + 1));
    for (size_t i = 0; i < vec_len(x->e); i++)
        for (int k = 0, n = entries_of(&x->e[i], at); k < n; k++) {
            const int32_t slot = csc_find(&x->m, csc_entry_col(at[k]), csc_entry_row(at[k]));
            const bool minus = x->e[i].kind == CONDUCTANCE && k < 2;
            x->m.val[slot] += minus ? -x->e[i].g : x->e[i].g;
        }
}

static void make_matrix(matrix *x, shape s, int32_t n, unsigned extra, bool wild, uint32_t seed)
{
    const int32_t nodes = extra & 64 && n > 2 ? n - n / 20 - 1 : n;
    *x = (matrix){.n = nodes, .seed = seed, .wild = wild};
    put_shape(x, s);
    put_extras(x, s, extra);
    for (int32_t i = nodes; i < n; i++)
        put(x, LINK, i, (i - nodes) * 7 % nodes);
    x->n = n;
    make_pattern(x);
    stamp(x);
}

static void drop_matrix(matrix *x)
{
    vs_free(x->m.colptr);
    vs_free(x->m.row);
    vs_free(x->m.val);
    vec_free(x->e);
}

/* A change: elements from a place on get other values. */
static void change(matrix *x, const unsigned char c[4])
{
    const size_t n = vec_len(x->e), from = n ? c[1] * n / 256 : 0;
    const size_t some = c[2] < 128 ? (size_t)c[2] % 8 + 1 : n;
    for (size_t i = from; i < n && i < from + some; i++) {
        element *e = &x->e[i];
        if (e->kind == LINK)
            continue;
        switch (c[0] % 7) {
        case 0: e->g *= 1 + 0.05 * (c[3] / 255.0); break;
        case 1: e->g = e->start; break;
        case 2: e->g = 0; break;
        case 3: e->g = e->start * pow(10, c[3] % 41 - 20.0); break;
        case 4: e->g = -e->g; break;
        case 5: e->g = e->start * (1 + draw(x, 1000) / 1e3); break;
        case 6: e->g = c[3] % 5 - 2.0; break;
        }
        if (fabs(e->g) > 1e30)
            e->g = e->start;
    }
    stamp(x);
}

/* -- what must be so -- */

/* Whether a set of pivots exists: by paths that swap. */
static bool find_row(const csc *a, int32_t col, int32_t *col_of, uint8_t *seen, int depth)
{
    for (int32_t k = a->colptr[col]; k < a->colptr[col + 1]; k++) {
        const int32_t row = a->row[k];
        if (seen[row])
            continue;
        seen[row] = 1;
        if (col_of[row] < 0 || find_row(a, col_of[row], col_of, seen, depth + 1)) {
            col_of[row] = col;
            return true;
        }
    }
    return false;
}

static bool has_pivots(const csc *a)
{
    int32_t *col_of = vs_malloc(sizeof(int32_t) * (size_t)a->n), col = 0;
    uint8_t *seen = vs_malloc((size_t)a->n);
    memset(col_of, 0xff, sizeof(int32_t) * (size_t)a->n);
    for (bool ok = true; ok && col < a->n; col += ok) {
        memset(seen, 0, (size_t)a->n);
        ok = find_row(a, col, col_of, seen, 0);
    }
    vs_free(col_of);
    vs_free(seen);
    return col == a->n;
}

/* Each diagonal above the sum of its row and of its column, and not by rounding alone. */
#define MORE 1.001
static bool is_dominant(const csc *a)
{
    double *rest = vs_calloc(2 * (size_t)a->n, sizeof *rest), *diag = rest + a->n;
    bool yes = true;
    for (int32_t j = 0; j < a->n; j++) {
        double col = 0;
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            if (a->row[k] == j) {
                diag[j] = fabs(a->val[k]);
            } else {
                rest[a->row[k]] += fabs(a->val[k]);
                col += fabs(a->val[k]);
            }
        yes &= diag[j] > MORE * col && diag[j] > 0;
    }
    for (int32_t i = 0; i < a->n; i++)
        yes &= diag[i] > MORE * rest[i] && diag[i] < INFINITY;
    vs_free(rest);
    return yes;
}

static bool is_empty_column(const csc *a)
{
    for (int32_t j = 0; j < a->n; j++) {
        bool any = false;
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            any |= a->val[k] != 0;
        if (!any)
            return true;
    }
    return false;
}

static void right_side(double *b, int32_t n, unsigned how)
{
    for (int32_t i = 0; i < n; i++)
        b[i] = how % 4 == 0   ? sin(i + how)
               : how % 4 == 1 ? i == (int32_t)how % n
               : how % 4 == 2 ? 1
                              : (i % 11 ? 0 : -2.5);
}

static bool same_bits(const double *x, const double *y, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

/* -- an elimination of our own, pivots given, with bounds of its errors -- */

typedef struct reference {
    int32_t n;
    int32_t *p, *q;       /* rows and columns of pivots */
    const int32_t *block; /* [n_block + 1]; entries above the blocks stay as they are */
    int32_t n_block;
    double *v, *err; /* [n][n] L below the diagonal, U and entries above the blocks; errors */
    double *size;    /* [n] largest entry of a row, in the order of pivots */
    bool sure;       /* errors are small beside the pivots, and nothing leaves the range */
} reference;

static reference new_reference(const csc *a, const int32_t *p, const int32_t *q,
                               const int32_t *block, int32_t n_block)
{
    const size_t n = (size_t)a->n;
    reference r = {.n = a->n, .block = block, .n_block = n_block};
    r.p = vs_malloc(sizeof *r.p * n);
    r.q = vs_malloc(sizeof *r.q * n);
    memcpy(r.p, p, sizeof *p * n);
    memcpy(r.q, q, sizeof *q * n);
    r.v = vs_malloc(sizeof *r.v * n * n);
    r.err = vs_malloc(sizeof *r.err * n * n);
    r.size = vs_malloc(sizeof *r.size * n);
    return r;
}

static void drop_reference(reference *r)
{
    void *all[] = {r->p, r->q, r->v, r->err, r->size};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
}

static void take_values(reference *r, const csc *a)
{
    const size_t n = (size_t)r->n;
    int32_t *place = vs_malloc(sizeof *place * n);
    for (int32_t k = 0; k < r->n; k++)
        place[r->p[k]] = k;
    memset(r->v, 0, sizeof *r->v * n * n);
    memset(r->err, 0, sizeof *r->err * n * n);
    memset(r->size, 0, sizeof *r->size * n);
    for (size_t k = 0; k < n; k++)
        for (int32_t t = a->colptr[r->q[k]]; t < a->colptr[r->q[k] + 1]; t++) {
            const size_t row = (size_t)place[a->row[t]];
            r->v[row * n + k] = a->val[t];
            r->size[row] = fmax(r->size[row], fabs(a->val[t]));
        }
    for (size_t k = 0; k < n; k++)
        r->size[k] = r->size[k] > 0 ? r->size[k] : 1; /* as KLU's */
    vs_free(place);
}

static bool in_range(double v) { return v == 0 || (fabs(v) < 1e250 && fabs(v) > 1e-250); }

/* Row i minus its part of row k, k < i, in columns up to `end`. */
static void eliminate_row(reference *r, size_t i, size_t k, size_t end)
{
    const size_t n = (size_t)r->n;
    double *vi = r->v + i * n, *ei = r->err + i * n;
    const double *vk = r->v + k * n, *ek = r->err + k * n;
    if (vi[k] == 0 && ei[k] == 0)
        return;
    const double l = vi[k] / vk[k];
    ei[k] = (ei[k] + fabs(l) * (ek[k] + DBL_EPSILON * fabs(vk[k]))) / fabs(vk[k]);
    vi[k] = l;
    for (size_t j = k + 1; j < end; j++) {
        const double d = l * vk[j];
        ei[j] += fabs(l) * ek[j] + ei[k] * (fabs(vk[j]) + ek[j]) + DBL_EPSILON * fabs(d);
        vi[j] -= d;
        ei[j] += DBL_EPSILON * fabs(vi[j]);
    }
}

static void eliminate(reference *r, const csc *a)
{
    const size_t n = (size_t)r->n;
    take_values(r, a);
    r->sure = true;
    for (int32_t b = 0; b < r->n_block; b++)
        for (size_t i = (size_t)r->block[b]; i < (size_t)r->block[b + 1] && r->sure; i++) {
            for (size_t k = (size_t)r->block[b]; k < i && r->sure; k++)
                eliminate_row(r, i, k, (size_t)r->block[b + 1]);
            /* other orders of sums err as much; n of them */
            r->sure = r->v[i * n + i] != 0 &&
                      (double)n * r->err[i * n + i] < 0.01 * fabs(r->v[i * n + i]);
        }
    for (size_t k = 0; k < n * n && r->sure; k++)
        r->sure = in_range(r->v[k]) && isfinite(r->err[k]);
}

/* |b - A x| row by row against (|L||U| + |entries above|) |x|, `eps` a unit of rounding. */
static void check_rows(const reference *r, const csc *a, const double *b, const double *x,
                       double eps, const char *what)
{
    const size_t n = (size_t)r->n;
    double *left = vs_malloc(sizeof *left * 3 * n), *u = left + n, *most = u + n;
    memcpy(left, b, sizeof *b * n);
    for (size_t j = 0; j < n; j++)
        for (int32_t t = a->colptr[j]; t < a->colptr[j + 1]; t++)
            left[a->row[t]] -= a->val[t] * x[j];
    for (int32_t c = 0; c < r->n_block; c++) {
        const size_t from = (size_t)r->block[c], end = (size_t)r->block[c + 1];
        for (size_t i = from; i < end; i++) {
            u[i] = most[i] = 0;
            for (size_t j = i; j < n; j++) {
                const double size = (fabs(r->v[i * n + j]) + r->err[i * n + j]) * fabs(x[r->q[j]]);
                *(j < end ? &u[i] : &most[i]) += size;
            }
        }
        for (size_t i = from; i < end; i++) {
            most[i] += u[i] + fabs(b[r->p[i]]);
            for (size_t k = from; k < i; k++)
                most[i] += (fabs(r->v[i * n + k]) + r->err[i * n + k]) * u[k];
        }
    }
    for (size_t i = 0; i < n; i++)
        if (isfinite(most[i]) && most[i] < 1e250 &&
            !(fabs(left[r->p[i]]) <= 1.5 * (3 * (double)n + 8) * eps * most[i] + 1e-250))
            finding("%s: row %d of %d leaves %g, elimination at most %g", what, r->p[i], r->n,
                    left[r->p[i]], 1.5 * (3 * (double)n + 8) * eps * most[i]);
    vs_free(left);
}

/* min|u_kk| / max|u_kk|, rows divided by their sizes. */
static double ratio_of_pivots(const reference *r)
{
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < (size_t)r->n; k++) {
        const double u = fabs(r->v[k * (size_t)r->n + k]) / r->size[k];
        least = fmin(least, u);
        most = fmax(most, u);
    }
    return least / most;
}

/* The least pivot as part of the largest entry of its column below it, rows divided by sizes. */
static double least_pivot(const reference *r)
{
    const size_t n = (size_t)r->n;
    double least = 1;
    for (int32_t c = 0; c < r->n_block; c++)
        for (size_t k = (size_t)r->block[c]; k < (size_t)r->block[c + 1]; k++)
            for (size_t i = k + 1; i < (size_t)r->block[c + 1]; i++)
                if (r->v[i * n + k] != 0)
                    least = fmin(least, r->size[i] / (fabs(r->v[i * n + k]) * r->size[k]));
    return least;
}

/* -- supernodes and lists with given pivots -- */

enum { N_POOL = 3 };
static pool *pools[N_POOL]; /* one, two, three threads */

/* Threads are real for one input of four. Else this thread does the pieces of all, since waiting
 * for threads on a busy machine takes longer than all that they do. */
static void take_pools(bool real)
{
    static pool *all[2][N_POOL];
    for (int k = 1; k < N_POOL; k++) {
        if (!all[real][k]) {
            all[real][k] = pool_new(k + 1);
            if (!real)
                pool_as_if(all[real][k]);
        }
        pools[k] = all[real][k];
    }
}

typedef struct given {
    klu_common common;
    klu_symbolic *sym;
    reference ref, whole;
    int32_t ends[2]; /* of `whole` */
    lu_super *super[N_POOL];
    lu_tiny *tiny[2]; /* machine code, tables */
    double *x[N_POOL + 2], *b;
} given;

/* An ordering as lu_klu.c asks for, and pivots: on the diagonal of it, or KLU's own. */
static bool begin_given(given *g, const csc *a, bool by_klu, bool trees)
{
    const size_t n = (size_t)a->n;
    lu_ordering work = {0};
    *g = (given){.ends = {0, a->n}};
    klu_defaults(&g->common);
    g->common.ordering = 3;
    g->common.user_order = lu_order;
    g->common.user_data = &work;
    g->common.scale = 2;
    g->sym = klu_analyze(a->n, a->colptr, a->row, &g->common);
    if (!g->sym || g->sym->structural_rank < a->n) {
        klu_free_symbolic(&g->sym, &g->common);
        return false;
    }
    klu_numeric *num = by_klu ? klu_factor(a->colptr, a->row, a->val, g->sym, &g->common) : NULL;
    const int32_t *p = num ? num->Pnum : g->sym->P;
    double *scale = vs_malloc(sizeof *scale * n);
    for (size_t k = 0; k < n; k++)
        scale[k] = 1;
    g->ref = new_reference(a, p, g->sym->Q, g->sym->R, g->sym->nblocks);
    g->whole = new_reference(a, p, g->sym->Q, g->ends, 1);
    for (int k = 0; k < N_POOL; k++)
        g->super[k] = lu_super_new(a, g->sym, p, (csc_team){.pool = pools[k]}, 0, trees);
    for (int k = 0; k < 2; k++)
        g->tiny[k] = lu_tiny_new(a, p, g->sym->Q, scale, LU_TINY_MAX_PAIRS);
    if (g->tiny[1])
        lu_tiny_use_tables(g->tiny[1]);
    for (int k = 0; k < N_POOL + 2; k++)
        g->x[k] = vs_calloc(n, sizeof(double));
    g->b = vs_calloc(n, sizeof(double));
    klu_free_numeric(&num, &g->common);
    vs_free(scale);
    return true;
}

static void end_given(given *g)
{
    for (int k = 0; k < N_POOL; k++)
        lu_super_free(&g->super[k]);
    for (int k = 0; k < 2; k++)
        lu_tiny_free(&g->tiny[k]);
    for (int k = 0; k < N_POOL + 2; k++)
        vs_free(g->x[k]);
    vs_free(g->b);
    drop_reference(&g->ref);
    drop_reference(&g->whole);
    klu_free_symbolic(&g->sym, &g->common);
}

static void check_ratio(const reference *r, double ratio, const char *what)
{
    const double want = ratio_of_pivots(r);
    if (!(ratio > 0.9 * want && ratio < 1.1 * want))
        finding("%s: pivots' ratio is %g, not %g", what, ratio, want);
}

/* tol > 0: with a check of the pivots. false: there are no factors. */
static bool factor_super(given *g, const csc *a, double tol)
{
    double ratio[N_POOL];
    eliminate(&g->ref, a);
    for (int k = 0; k < N_POOL; k++) {
        lu_super_set_scale(g->super[k], a);
        ratio[k] =
            tol > 0 ? lu_super_factor_with(g->super[k], a, tol) : lu_super_factor(g->super[k], a);
        if (!same_bits(&ratio[k], &ratio[0], 1))
            finding("supernodes: pivots' ratio is %g with %d threads, %g with one", ratio[k], k + 1,
                    ratio[0]);
    }
    if (g->ref.sure && tol > 0) {
        const double least = least_pivot(&g->ref);
        if ((ratio[0] > 0) != (least > tol) && !(least > tol * 0.9 && least < tol * 1.1))
            finding("supernodes: pivots of %g of their columns are %s with tolerance %g", least,
                    ratio[0] > 0 ? "taken" : "refused", tol);
    } else if (g->ref.sure) {
        check_ratio(&g->ref, ratio[0], "supernodes");
    }
    return ratio[0] > 0;
}

static void check_super(given *g, const csc *a, unsigned how)
{
    for (int k = 0; k < N_POOL; k++) {
        memcpy(g->x[k], g->b, sizeof(double) * (size_t)a->n);
        lu_super_solve(g->super[k], g->x[k], g->x[k]);
        if (!same_bits(g->x[k], g->x[0], a->n))
            finding("supernodes: another solution with %d threads", k + 1);
        const int32_t weakest = lu_super_weakest(g->super[k]);
        if (weakest < 0 || weakest >= a->n)
            finding("supernodes: the weakest pivot is of column %d", weakest);
    }
    const bool sure = g->ref.sure && norm_finite(g->x[0], a->n);
    if (sure)
        check_rows(&g->ref, a, g->b, g->x[0], DBL_EPSILON, "supernodes");
    if (how % 3)
        return;
    for (int k = 0; k < N_POOL; k++) {
        lu_super_solve_coarse(g->super[k], g->b, g->x[k]);
        if (!same_bits(g->x[k], g->x[0], a->n))
            finding("rounded supernodes: another solution with %d threads", k + 1);
    }
}

static void check_tiny(given *g, const csc *a)
{
    double *const x[] = {g->x[N_POOL], g->x[N_POOL + 1]};
    double ratio[2];
    if (!g->tiny[0])
        return;
    eliminate(&g->whole, a);
    for (int k = 0; k < 2; k++) {
        lu_tiny_set_scale(g->tiny[k], g->whole.size);
        ratio[k] = lu_tiny_factor(g->tiny[k], a);
        if ((ratio[k] > 0 || ratio[0] > 0) && !same_bits(&ratio[k], &ratio[0], 1))
            finding("lists: pivots' ratio is %g by tables, %g by code", ratio[1], ratio[0]);
        if (ratio[k] > 0)
            lu_tiny_solve(g->tiny[k], g->b, x[k]);
    }
    if (!(ratio[0] > 0))
        return;
    if (!same_bits(x[1], x[0], a->n))
        finding("lists: another solution by tables");
    if (!g->whole.sure)
        return;
    check_ratio(&g->whole, ratio[0], "lists");
    if (norm_finite(x[0], a->n))
        check_rows(&g->whole, a, g->b, x[0], DBL_EPSILON, "lists");
}

typedef struct some_part {
    lu_part p;
    int32_t *column;
    uint8_t *in;
    double *room;
} some_part;

/* Columns that changed are in the part; others may be. b becomes 0 outside of it. */
static some_part take_part(const csc *a, const double *before, unsigned how, double *b)
{
    const size_t n = (size_t)a->n;
    some_part s = {.column = vs_malloc(sizeof *s.column * 2 * n),
                   .in = vs_calloc(n, 1),
                   .room = vs_calloc(3 * n, sizeof *s.room)};
    for (int32_t j = 0; j < a->n; j++) {
        s.column[j] = j;
        s.in[j] = (j + (int32_t)how) % 5 == 0;
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++)
            s.in[j] |= a->val[k] != before[k];
        if (!s.in[j])
            b[j] = 0;
    }
    s.p = (lu_part){.n = a->n,
                    .n_column = a->n,
                    .column = s.column,
                    .found = s.column + n,
                    .in = s.in,
                    .drop = s.room,
                    .value = s.room + n,
                    .work = s.room + 2 * n};
    return s;
}

static void drop_part(some_part *s)
{
    vs_free(s->column);
    vs_free(s->in);
    vs_free(s->room);
}

/* What is found outside of the part belongs to the solution. */
static void add_found(const lu_part *p, double *x)
{
    for (int32_t k = 0; k < p->n_found; k++)
        x[p->found[k]] = p->value[k];
}

/* The factors must be those of the whole. */
static void check_part(given *g, const csc *a, const double *before, unsigned how)
{
    const int32_t n = a->n;
    some_part s = take_part(a, before, how, g->b);
    const double some = lu_super_factor_part(g->super[1], a, &s.p);
    const double all = lu_super_factor(g->super[0], a);
    if ((some > 0 || all > 0) && !same_bits(&some, &all, 1))
        finding("a part: pivots' ratio is %g, of all %g", some, all);
    if (all > 0) {
        lu_super_solve(g->super[0], g->b, g->x[0]);
        lu_super_solve(g->super[1], g->b, g->x[1]);
        if (!same_bits(g->x[0], g->x[1], n))
            finding("a part: factors other than those of all columns");
        lu_super_solve_part(g->super[1], &s.p, g->b, g->x[2]);
        eliminate(&g->ref, a);
        add_found(&s.p, g->x[2]);
        if (g->ref.sure && norm_finite(g->x[2], n))
            check_rows(&g->ref, a, g->b, g->x[2], DBL_EPSILON, "a part");
    }
    drop_part(&s);
}

static const unsigned char no_change[4];

/* With the matrix as it is, then after each change of c [n_change][4]. */
static void run_given(matrix *x, bool by_klu, bool trees, const unsigned char *c, size_t n_change)
{
    static const double tol[] = {0, 1e-3, 0.1, 1};
    given g;
    if (!begin_given(&g, &x->m, by_klu, trees))
        return;
    double *before = vs_malloc(sizeof *before * (size_t)(csc_nnz(&x->m) + 1));
    bool have = factor_super(&g, &x->m, 0);
    for (size_t i = 0; g.super[0] && i <= n_change; i++) {
        const unsigned char *by = i ? c + 4 * (i - 1) : no_change;
        const unsigned how = by[0] / 7u;
        memcpy(before, x->m.val, sizeof *before * (size_t)csc_nnz(&x->m));
        if (i)
            change(x, by);
        right_side(g.b, x->n, how);
        if (have && how % 4 == 3) {
            check_part(&g, &x->m, before, how);
            right_side(g.b, x->n, how);
            lu_super_forget(g.super[1]);
        }
        have = factor_super(&g, &x->m, tol[how % 4]);
        if (have)
            check_super(&g, &x->m, how);
        check_tiny(&g, &x->m);
    }
    vs_free(before);
    end_given(&g);
}

/* -- the solver of lu.h -- */

typedef struct trio { /* with one, two and three threads */
    lu_solver lu[N_POOL];
    bool have, current, rest; /* rest: the circuit's, which has no image */
    double *x[N_POOL + 2], *b;
    arena mem;
    csc_cut *cut;
    bool dominant; /* all values since the pivots were chosen */
} trio;

static void set_up(lu_solver *lu, pool *p, unsigned options)
{
    static const lu_kind kinds[] = {LU_AUTO,    LU_AUTO,  LU_AUTO, LU_KLU,
                                    LU_UMFPACK, LU_DENSE, LU_TINY, LU_CHOLESKY};
    lu_init(lu, NULL);
    lu->opt.kind = kinds[options % 8];
    lu->opt.brief = options & 8;
    lu->opt.refuse_fill = options & 16;
    lu->opt.lopsided = options & 32;
    lu->opt.share_from = 0;
    lu->opt.coarse_from = 0;
    if (options & 64)
        lu->opt.cholesky_from = 2;
    lu->opt.pool = p;
}

static bool begin_trio(trio *t, matrix *x, unsigned options)
{
    vs_status st = VS_OK;
    *t = (trio){.have = false};
    const bool pivots = has_pivots(&x->m);
    for (int k = 0; k < N_POOL; k++) {
        set_up(&t->lu[k], pools[k], options);
        st = lu_analyze(&t->lu[k], &x->m);
        if (st != VS_OK && st != VS_ESINGULAR && st != VS_EUNSUPPORTED)
            finding("analysis: status %d", st);
        if (st == VS_ESINGULAR && pivots)
            finding("a matrix that has pivots is refused by its structure");
    }
    const lu_kind kind = t->lu[0].opt.kind;
    if (st == VS_OK && !pivots && (kind == LU_AUTO || kind == LU_KLU || kind == LU_TINY))
        finding("a matrix without pivots is not refused by its structure");
    if (st != VS_OK) {
        for (int k = 0; k < N_POOL; k++)
            lu_fini(&t->lu[k]);
        return false;
    }
    for (int k = 0; k < N_POOL + 2; k++)
        t->x[k] = vs_calloc((size_t)(k > N_POOL ? csc_nnz(&x->m) + 1 : x->n), sizeof(double));
    t->b = vs_calloc((size_t)x->n, sizeof(double));
    arena_init(&t->mem);
    t->cut = csc_cut_new(&t->mem, &x->m, NULL, 3);
    return true;
}

static void end_trio(trio *t)
{
    for (int k = 0; k < N_POOL; k++)
        lu_fini(&t->lu[k]);
    for (int k = 0; k < N_POOL + 2; k++)
        vs_free(t->x[k]);
    vs_free(t->b);
    arena_fini(&t->mem);
}

/* As Newton's iteration asks: old pivots if they serve. */
static vs_status renew(lu_solver *lu, const csc *a, bool anew)
{
    vs_status st = anew ? VS_REPIVOT : lu_refactor(lu, a);
    if (st == VS_REPIVOT)
        st = lu_factor(lu, a);
    return st;
}

static void check_status(const trio *t, const csc *a, vs_status st)
{
    const lu_solver *lu = &t->lu[0];
    if (st == VS_ESINGULAR && is_dominant(a) && lu->opt.kind != LU_CHOLESKY)
        finding("%s: a dominant matrix is singular (column %d)", lu->stat.method,
                lu->stat.singular);
    if (st == VS_OK && is_empty_column(a))
        finding("%s: a matrix with an empty column has factors", lu->stat.method);
    if (st == VS_ESINGULAR && (lu->stat.singular < -1 || lu->stat.singular >= a->n))
        finding("%s: column %d is singular", lu->stat.method, lu->stat.singular);
    const bool refused = st == VS_EUNSUPPORTED && lu->opt.kind == LU_CHOLESKY;
    if (st != VS_OK && st != VS_ESINGULAR && st != VS_NOCONV && !refused)
        finding("%s: status %d", lu->stat.method, st);
    if (st == VS_OK && !lu_is_cholesky(lu) && !(lu_weakest(lu) >= 0 && lu_weakest(lu) < a->n))
        finding("%s: the weakest pivot is of column %d", lu->stat.method, lu_weakest(lu));
}

static void factor_trio(trio *t, const csc *a, bool anew)
{
    vs_status first = VS_OK;
    for (int k = 0; k < N_POOL; k++) {
        const int64_t n_factor = t->lu[k].stat.n_factor;
        const vs_status st = renew(&t->lu[k], a, anew);
        if (!k) {
            first = st;
            t->dominant = is_dominant(a) && (t->dominant || t->lu[0].stat.n_factor > n_factor);
        }
        if (st != first || t->lu[k].stat.n_factor != t->lu[0].stat.n_factor ||
            strcmp(t->lu[k].stat.method, t->lu[0].stat.method) != 0)
            finding("%s: status %d with %d threads, %d with one", t->lu[k].stat.method, st, k + 1,
                    first);
    }
    check_status(t, a, first);
    t->have = first == VS_OK;
}

/* |b - A x| in the largest norm: |L||U| of dominant matrices of n unknowns is at most (2n - 1) |A|,
 * whatever the order of pivots on the diagonal (Higham, th. 9.9 and problem 9.12). */
static double dominant_bound(int32_t n) { return 3.0 * n * DBL_EPSILON * (2.0 * n - 1); }

static void check_dominant(const trio *t, const csc *a)
{
    const double *x = t->x[0];
    double *left = vs_malloc(sizeof *left * 2 * (size_t)a->n), *sum = left + a->n;
    double most = 0, worst = 0, norm = 0, right = 0;
    for (int32_t i = 0; i < a->n; i++) {
        left[i] = t->b[i];
        sum[i] = 0;
        most = fmax(most, fabs(x[i]));
        right = fmax(right, fabs(t->b[i]));
    }
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            left[a->row[k]] -= a->val[k] * x[j];
            sum[a->row[k]] += fabs(a->val[k]);
        }
    for (int32_t i = 0; i < a->n; i++) {
        worst = fmax(worst, fabs(left[i]));
        norm = fmax(norm, sum[i]);
    }
    if (!(worst <= dominant_bound(a->n) * (norm * most + right)))
        finding("%s: a dominant matrix of %d unknowns leaves %g of %g", t->lu[0].stat.method, a->n,
                worst, norm * most + right);
    vs_free(left);
}

static void solve_trio(trio *t, const csc *a, bool coarse)
{
    for (int k = 0; k < N_POOL; k++) {
        memcpy(t->x[k], t->b, sizeof(double) * (size_t)a->n);
        (coarse ? lu_solve_coarse : lu_solve)(&t->lu[k], t->x[k], t->x[k]);
        if (!same_bits(t->x[k], t->x[0], a->n))
            finding("%s: another %ssolution with %d threads", t->lu[k].stat.method,
                    coarse ? "rounded " : "", k + 1);
    }
    if (t->dominant && !coarse && t->lu[0].opt.kind != LU_CHOLESKY)
        check_dominant(t, a);
}

/* What lu_restart leaves behind must be what a new solver is: bits, counters apart. */
static void check_restart(trio *t, const csc *a, unsigned options)
{
    lu_solver fresh;
    bool restarted = true;
    for (int k = 0; k < N_POOL; k++)
        restarted &= lu_restart(&t->lu[k]);
    if (!restarted)
        return;
    factor_trio(t, a, true);
    set_up(&fresh, NULL, options);
    const vs_status st = lu_analyze(&fresh, a), made = st ? st : lu_factor(&fresh, a);
    if ((made == VS_OK) != t->have)
        finding("%s after restart: status %d of a new solver", t->lu[0].stat.method, made);
    if (t->have && !strcmp(fresh.stat.method, t->lu[0].stat.method)) {
        solve_trio(t, a, false);
        lu_solve(&fresh, t->b, t->x[N_POOL]);
        if (!same_bits(t->x[0], t->x[N_POOL], a->n))
            finding("%s after restart: another solution than of a new solver", fresh.stat.method);
    }
    lu_fini(&fresh);
}

static void check_image(trio *t, const csc *a, unsigned options)
{
    lu_solver other;
    if (!t->have || t->rest)
        return;
    image take = image_take();
    if (lu_image(&t->lu[0], a, &take))
        finding("%s: no image: %s", t->lu[0].stat.method, take.wrong);
    set_up(&other, NULL, options);
    image give = image_give(take.bytes, image_size(&take));
    if (lu_analyze(&other, a) || lu_image(&other, a, &give))
        finding("%s: the image does not fit: %s", t->lu[0].stat.method, give.wrong);
    lu_solve(&other, t->b, t->x[N_POOL]);
    lu_solve(&t->lu[0], t->b, t->x[0]);
    if (!same_bits(t->x[0], t->x[N_POOL], a->n))
        finding("%s: another solution by an image", other.stat.method);
    lu_fini(&other);
    vec_free(take.bytes);
}

/* The present matrix by the factors of the one before. */
static void check_near(trio *t, const csc *a, unsigned how)
{
    const size_t n = (size_t)a->n;
    double *tol = vs_malloc(sizeof *tol * n), first[N_POOL] = {0};
    vs_status st[N_POOL];
    for (size_t i = 0; i < n; i++)
        tol[i] = 1e-3 * (1 + (double)(i % 3));
    const lu_near_opt o = {.tol = tol,
                           .part = how % 2 ? 1e-3 : 1e-1,
                           .least = how % 8 < 4 ? 0 : 1e-6,
                           .most = 1 + (int)(how / 2 % LU_NEAR_MOST),
                           .coarse = how % 3 == 0};
    for (int k = 0; k < N_POOL; k++) {
        int steps = 0;
        lu_near *s = lu_near_new(a->n, pools[k], k ? t->cut : NULL);
        (o.coarse ? lu_solve_coarse : lu_solve)(&t->lu[k], t->b, t->x[k]);
        memcpy(t->x[N_POOL], t->x[k], sizeof(double) * n);
        st[k] = lu_near_solve(s, &t->lu[k], a, &o, t->x[k], &steps, &first[k]);
        if (st[k] != VS_OK && !same_bits(t->x[k], t->x[N_POOL], a->n))
            finding("near: x is another after status %d", st[k]);
        if (steps < 0 || steps > o.most)
            finding("near: %d products of %d", steps, o.most);
        if (st[k] != st[0] || !same_bits(t->x[k], t->x[0], a->n) ||
            !same_bits(&first[k], &first[0], 1))
            finding("near: another solution with %d threads", k + 1);
        lu_near_free(&s);
    }
    vs_free(tol);
}

/* A part of the unknowns moves. */
static void check_solver_part(trio *t, const csc *a, const double *before, unsigned how)
{
    vs_status first = VS_OK;
    for (int k = 0; k < N_POOL; k++) {
        some_part s = take_part(a, before, how, t->b);
        const vs_status st = lu_refactor_part(&t->lu[k], a, &s.p);
        first = k ? first : st;
        if (st != first)
            finding("a part: status %d with %d threads, %d with one", st, k + 1, first);
        if (st == VS_OK) {
            lu_solve_part(&t->lu[k], &s.p, t->b, t->x[k]);
            add_found(&s.p, t->x[k]);
            if (!same_bits(t->x[k], t->x[0], a->n))
                finding("%s, a part: another solution with %d threads", t->lu[k].stat.method,
                        k + 1);
        }
        drop_part(&s);
    }
    t->have = first == VS_OK;
    t->dominant &= is_dominant(a);
    if (t->have && t->dominant && t->lu[0].opt.kind != LU_CHOLESKY)
        check_dominant(t, a);
}

static void step(trio *t, matrix *x, const unsigned char c[4], unsigned options)
{
    const csc *a = &x->m;
    const unsigned what = c[0] / 7u % 12;
    double *before = t->x[N_POOL + 1];
    right_side(t->b, x->n, c[3]);
    memcpy(before, a->val, sizeof *before * (size_t)csc_nnz(a));
    if (what == 0 && t->have) { /* the factors stay, the matrix moves */
        change(x, c);
        check_near(t, a, c[3]);
    } else {
        change(x, c);
    }
    if (what == 8 && t->have && t->current) {
        check_solver_part(t, a, before, c[3]);
        right_side(t->b, x->n, c[3]);
    }
    if (what == 1) {
        for (int k = 0; k < N_POOL; k++)
            lu_at_rest(&t->lu[k], a, c[3] & 1);
        t->rest = c[3] & 1;
        t->have = false;
    }
    if (what == 2)
        check_restart(t, a, options);
    if (what == 3)
        for (int k = 0; k < N_POOL; k++)
            t->have &= !lu_forget(&t->lu[k]);
    if (what == 4 && csc_nnz(a)) /* once */
        x->m.val[c[3] % csc_nnz(a)] = c[2] & 1 ? NAN : INFINITY;
    factor_trio(t, a, what == 5);
    if (t->have)
        solve_trio(t, a, what == 6);
    if (what == 7)
        check_image(t, a, options);
    if (what == 4)
        stamp(x);
    t->current = what != 4; /* the factors are those of the values */
}

static void run_trio(matrix *x, unsigned options, const unsigned char *c, size_t n_change)
{
    trio t;
    if (!begin_trio(&t, x, options))
        return;
    right_side(t.b, x->n, options);
    factor_trio(&t, &x->m, false);
    if (t.have)
        solve_trio(&t, &x->m, false);
    for (size_t i = 0; i < n_change; i++)
        step(&t, x, c + 4 * i, options);
    end_trio(&t);
}

/* -- complex ones -- */

/* (a + j b) (c + j d) added to *to */
static void add_product(double *to, const double *v, const double *x)
{
    to[0] += v[0] * x[0] - v[1] * x[1];
    to[1] += v[0] * x[1] + v[1] * x[0];
}

/* As check_dominant; a complex product has four real ones. */
static void check_complex(const csc *a, const double *val, const double *b, const double *x,
                          bool turned)
{
    const size_t n = (size_t)a->n;
    double *left = vs_calloc(3 * n, sizeof *left), *sum = left + 2 * n;
    double worst = 0, norm = 0, most = 0, right = 0;
    for (int32_t j = 0; j < a->n; j++)
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            const int32_t to = turned ? j : a->row[k], from = turned ? a->row[k] : j;
            add_product(left + 2 * to, val + 2 * k, x + 2 * from);
            sum[to] += fabs(val[2 * k]) + fabs(val[2 * k + 1]);
        }
    for (size_t i = 0; i < 2 * n; i++) {
        worst = fmax(worst, fabs(left[i] - b[i]));
        most = fmax(most, fabs(x[i]));
        right = fmax(right, fabs(b[i]));
    }
    for (size_t i = 0; i < n; i++)
        norm = fmax(norm, sum[i]);
    if (!(worst <= 4 * dominant_bound(a->n) * (norm * most + right)))
        finding("complex%s: %d unknowns leave %g of %g", turned ? ", transposed" : "", a->n, worst,
                norm * most + right);
    vs_free(left);
}

static void run_complex(matrix *x, bool by_umfpack, const unsigned char *c, size_t n_change)
{
    const csc *a = &x->m;
    const size_t n = (size_t)a->n, nnz = (size_t)csc_nnz(a);
    lu_z lu;
    lu_z_init(&lu);
    lu.umfpack_from = by_umfpack ? 0 : lu.umfpack_from;
    const vs_status begun = lu_z_analyze(&lu, a);
    if (begun != (has_pivots(a) ? VS_OK : VS_ESINGULAR))
        finding("complex: analysis gives %d", begun);
    double *val = vs_calloc(2 * nnz + 1, sizeof *val), *b = vs_calloc(4 * n, sizeof *b);
    double *y = b + 2 * n;
    bool dominant = is_dominant(a);
    for (size_t i = 0; begun == VS_OK && i <= n_change; i++) {
        const unsigned char *by = i ? c + 4 * (i - 1) : no_change;
        const double omega = i ? pow(10, by[3] % 21 - 10.0) : 1e-3;
        if (i)
            change(x, by);
        dominant &= is_dominant(a); /* and so is |re| + |im|, with one omega for all */
        for (size_t k = 0; k < nnz; k++) {
            val[2 * k] = a->val[k];
            val[2 * k + 1] = omega * a->val[k];
        }
        right_side(b, 2 * a->n, by[2]);
        const vs_status st = lu_z_factor(&lu, val);
        if (st != VS_OK && (st != VS_ESINGULAR || dominant))
            finding("complex: factors give %d", st);
        for (int turned = 0; turned < 2 && st == VS_OK; turned++) {
            memcpy(y, b, sizeof *b * 2 * n);
            (turned ? lu_z_solve_t : lu_z_solve)(&lu, y);
            if (dominant)
                check_complex(a, val, b, y, turned);
        }
    }
    vs_free(val);
    vs_free(b);
    lu_z_fini(&lu);
}

void fuzz_matrix(const char *text, size_t n)
{
    enum { HEAD = 12 };
    unsigned char h[HEAD] = {0};
    matrix x;
    memcpy(h, text, n < HEAD ? n : HEAD);
    take_pools(h[7] % 4 == 3);
    const unsigned char *c = (const unsigned char *)text + HEAD;
    size_t n_change = n > HEAD ? (n - HEAD) / 4 : 0;
    if (n_change > MOST_CHANGES)
        n_change = MOST_CHANGES;
    const bool large = h[0] & 64;
    const int32_t size = 1 + (h[1] + 256 * h[2]) % (large ? MOST_LARGE : MOST_SMALL);
    const uint32_t seed = h[8] + 256u * h[9] + 65536u * h[10] + 16777216u * h[11];
    make_matrix(&x, (shape)(h[0] % 8 % N_SHAPE), size, h[3], h[4] & 1, seed);
    if (h[5] % 3 == 0 && !large)
        run_given(&x, h[4] & 2, !(h[4] & 4), c, n_change);
    else if (h[5] % 3 == 1)
        run_complex(&x, h[6] & 1, c, n_change);
    else
        run_trio(&x, h[6], c, n_change);
    drop_matrix(&x);
}
