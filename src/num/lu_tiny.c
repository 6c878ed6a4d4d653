/* lu_tiny.c - see lu_tiny.h.
 * i, j, k count pivots: entry (i, j) is row p[i], column q[j] of the matrix.
 *   l_ik = (a_ik - sum_{m<k} l_im u_mk) / u_kk,  k < i
 *   u_ij =  a_ij - sum_{m<i} l_im u_mj,          j >= i
 * Values: L row by row, then U without its diagonal from the last row to the first: the order in
 * which a solution reads them. The diagonal is kept as its reciprocal. The lists of operations
 * are run from tables, or, where straight.h knows the machine, as code without tables: the same
 * operations in the same order, so the same numbers. Where the processor has it, a product and its
 * difference round once, in both. */
#include "lu_tiny.h"

#include <math.h>
#include <string.h>

#include "hot.h"
#include "bits.h"
#include "straight.h"
#include "vec.h"

enum {
    MAX_CODE_PAIRS = 4096
}; /* beyond, tables are fetched as fast, and are made in a quarter of the time */

typedef struct entry { /* one value of L or U: val[dst] = (a[src] - sum of n products) [*
                          inv[scale]] */
    int32_t src;       /* index into the values of the matrix, -1: fill */
    int32_t dst;       /* index into val, -1: the pivot of the row */
    int32_t n;         /* the next n of pair */
    int32_t scale;     /* l_ik: k, else -1 */
} entry;

typedef struct pair { /* val[l] * val[u] */
    int32_t l, u;
} pair;

struct lu_tiny {
    int32_t n, n_val;
    int32_t *p, *q;                     /* [n] */
    entry *entry;                       /* vec: row by row, columns ascending */
    int32_t *end;                       /* [n] one behind the last entry of row i */
    pair *pair;                         /* vec: of all entries, one behind the other */
    int32_t *l_end;                     /* [n] row i of L: values l_end[i-1] .. l_end[i] */
    int32_t *u_end;                     /* [n+1] row i of U: values u_end[i+1] .. u_end[i] */
    int32_t *col;                       /* [n_val] column of each value */
    double *work;                       /* val, inv, weight, y, extreme in one piece */
    double *val;                        /* [n_val] */
    double *inv;                        /* [n] 1 / u_kk */
    double *weight;                     /* [n] 1 / scale */
    double *y;                          /* [n] */
    double *extreme;                    /* [3] least and largest |u_kk| over scale; infinity */
    bool fused;                         /* a - l u rounds once */
    straight *factor_code, *solve_code; /* NULL: tables */
    straight_fn factor, solve;
};

/* What planning knows of the permuted pattern: columns of row i of L and U, with its pivot, in
 * col[begin[i]] .. col[begin[i + 1]], ascending; the pivot at pivot[i]. */
typedef struct plan {
    int32_t *begin, *pivot, *col;     /* begin, pivot [n + 1]; col vec */
    int32_t *a_begin, *a_col, *a_src; /* the rows of the matrix, unsorted; indices into it */
    uint64_t *set;                    /* [n / 64 + 1] columns of a row */
    int32_t *at; /* [n] of the columns of a row: index into the matrix, then products so far */
} plan;

static void free_plan(plan *s)
{
    int32_t *const ints[] = {s->begin, s->pivot, s->a_begin, s->a_col, s->a_src, s->at};
    for (size_t k = 0; k < VS_COUNT(ints); k++)
        vs_free(ints[k]);
    vec_free(s->col);
    vs_free(s->set);
}

static int32_t *ints(int32_t n) { return vs_calloc((size_t)n + 1, sizeof(int32_t)); }

/* The matrix by rows, in the order of pivots. */
static void read_pattern(const lu_tiny *t, const csc *a, plan *s)
{
    const int32_t n = t->n;
    int32_t *i_of = ints(n);
    for (int32_t i = 0; i < n; i++)
        i_of[t->p[i]] = i;
    for (int32_t k = 0; k < csc_nnz(a); k++)
        s->a_begin[i_of[a->row[k]] + 1]++;
    for (int32_t i = 0; i < n; i++)
        s->a_begin[i + 1] += s->a_begin[i];
    int32_t *next = ints(n);
    memcpy(next, s->a_begin, (size_t)n * sizeof *next);
    for (int32_t j = 0; j < n; j++)
        for (int32_t k = a->colptr[t->q[j]]; k < a->colptr[t->q[j] + 1]; k++) {
            const int32_t at = next[i_of[a->row[k]]]++;
            s->a_col[at] = j;
            s->a_src[at] = k;
        }
    vs_free(i_of);
    vs_free(next);
}

/* Row i: that of the matrix, its pivot, and right of each entry below the diagonal what that row
 * has there. */
static void fill_row(plan *s, int32_t n, int32_t i)
{
    memset(s->set, 0, bits_words((size_t)n) * sizeof *s->set);
    bits_set(s->set, (size_t)i);
    for (int32_t k = s->a_begin[i]; k < s->a_begin[i + 1]; k++)
        bits_set(s->set, (size_t)s->a_col[k]);
    for (int32_t w = 0; w * 64 < n; w++)
        for (uint64_t done = 0, left; (left = s->set[w] & ~done) != 0;) {
            const int32_t k = w * 64 + __builtin_ctzll(left);
            done |= left & -left;
            if (k == i)
                s->pivot[i] = (int32_t)vec_len(s->col);
            vec_push(s->col, k);
            for (int32_t m = k < i ? s->pivot[k] + 1 : 0, end = k < i ? s->begin[k + 1] : 0;
                 m < end; m++)
                bits_set(s->set, (size_t)s->col[m]);
        }
    s->begin[i + 1] = (int32_t)vec_len(s->col);
}

/* Places of values: L by rows, then U from the last row to the first, what was solved last first.
 */
static void place(lu_tiny *t, const plan *s)
{
    const int32_t n = t->n;
    t->n_val = (int32_t)vec_len(s->col) - n;
    t->col = ints(t->n_val);
    int32_t at = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = s->begin[i]; k < s->pivot[i]; k++)
            t->col[at++] = s->col[k];
        t->l_end[i] = at;
    }
    t->u_end[n] = at;
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = s->begin[i + 1] - 1; k > s->pivot[i]; k--)
            t->col[at++] = s->col[k];
        t->u_end[i] = at;
    }
}

/* Where the k-th entry of row i, counted as s->col, is in val; -1: a pivot. */
static int32_t place_of_entry(const lu_tiny *t, const plan *s, int32_t i, int32_t k)
{
    return k < s->pivot[i]   ? t->l_end[i] - (s->pivot[i] - k)
           : k > s->pivot[i] ? t->u_end[i] - (k - s->pivot[i])
                             : -1;
}

/* The entries of row i and their products, in the order of the rows above. */
static void plan_row(lu_tiny *t, plan *s, int32_t i)
{
    const int32_t begin = s->begin[i], end = s->begin[i + 1];
    const size_t first = vec_len(t->entry);
    int32_t n_pair = (int32_t)vec_len(t->pair);
    for (int32_t k = begin; k < end; k++) {
        const int32_t j = s->col[k];
        vec_push(t->entry, (entry){-1, place_of_entry(t, s, i, k), 0, j < i ? j : -1});
        s->at[j] = (int32_t)first + k - begin;
    }
    for (int32_t k = s->a_begin[i]; k < s->a_begin[i + 1]; k++)
        t->entry[s->at[s->a_col[k]]].src = s->a_src[k];
    for (int32_t k = begin; k < s->pivot[i]; k++)
        for (int32_t m = s->col[k], u = s->pivot[m] + 1; u < s->begin[m + 1]; u++)
            t->entry[s->at[s->col[u]]].n++;
    for (int32_t k = begin; k < end; k++) { /* from here on s->at: where the next product goes */
        s->at[s->col[k]] = n_pair;
        n_pair += t->entry[first + (size_t)(k - begin)].n;
    }
    vec_extend(t->pair, (size_t)n_pair - vec_len(t->pair));
    for (int32_t k = begin; k < s->pivot[i]; k++)
        for (int32_t m = s->col[k], u = s->pivot[m] + 1; u < s->begin[m + 1]; u++)
            t->pair[s->at[s->col[u]]++] =
                (pair){place_of_entry(t, s, i, k), place_of_entry(t, s, m, u)};
    t->end[i] = (int32_t)vec_len(t->entry);
}

/* false: too many products. */
static bool plan_all(lu_tiny *t, const csc *a, int32_t max_pairs)
{
    const int32_t n = t->n, nnz = csc_nnz(a);
    plan s = {.begin = ints(n),
              .pivot = ints(n),
              .a_begin = ints(n),
              .a_col = ints(nnz),
              .a_src = ints(nnz),
              .set = vs_calloc(bits_words((size_t)n) + 1, sizeof(uint64_t)),
              .at = ints(n)};
    read_pattern(t, a, &s);
    int64_t pairs = 0;
    for (int32_t i = 0; i < n && pairs <= max_pairs; i++) {
        fill_row(&s, n, i);
        for (int32_t k = s.begin[i]; k < s.pivot[i]; k++)
            pairs += s.begin[s.col[k] + 1] - s.pivot[s.col[k]] - 1;
    }
    if (pairs <= max_pairs) {
        place(t, &s);
        for (int32_t i = 0; i < n; i++)
            plan_row(t, &s, i);
    }
    free_plan(&s);
    return pairs <= max_pairs;
}

static void allocate(lu_tiny *t)
{
    const size_t n = (size_t)t->n, nv = (size_t)t->n_val;
    t->work = vs_calloc(nv + 3 * n + 3, sizeof(double));
    t->val = t->work;
    t->inv = t->val + nv;
    t->weight = t->inv + n;
    t->y = t->weight + n;
    t->extreme = t->y + n;
    t->extreme[2] = INFINITY;
}

/* -- code -- */

/* Values that were found or read last stay in registers, the way through memory being as long as an
 * operation: a factorisation has a chain of them from pivot to pivot. */
enum { SIZE, PRODUCT, LEAST, MOST, FIRST_KEPT, N_KEPT = STRAIGHT_MAX_REGISTERS - FIRST_KEPT };
enum { WORK, MATRIX, RESULT = 2, RIGHT = 1 }; /* arrays */

typedef struct kept { /* what is in registers FIRST_KEPT and up */
    straight *l;
    bool fused;
    int32_t place[N_KEPT]; /* in the work array; -1: nothing */
    int32_t used[N_KEPT];  /* when, the last time */
    int32_t now;
} kept;

static int32_t place_of(const lu_tiny *t, const double *at) { return (int32_t)(at - t->work); }

/* The register of a place, -1: none. */
static int find_kept(kept *k, int32_t place)
{
    for (int i = 0; i < N_KEPT; i++)
        if (k->place[i] == place) {
            k->used[i] = ++k->now;
            return FIRST_KEPT + i;
        }
    return -1;
}

/* The register used longest ago, for a place. */
static int room_for(kept *k, int32_t place)
{
    int oldest = 0;
    for (int i = 1; i < N_KEPT; i++)
        if (k->used[i] < k->used[oldest])
            oldest = i;
    k->place[oldest] = place;
    k->used[oldest] = ++k->now;
    return FIRST_KEPT + oldest;
}

/* r -= s work[place]; in: the register that has it, -1: none. */
static void write_less(straight *l, bool fused, int r, int s, int32_t place, int in)
{
    if (fused && in >= 0) {
        straight_minus_product(l, r, s, in);
    } else if (fused) {
        straight_minus_product_mem(l, r, s, WORK, place);
    } else {
        if (in >= 0)
            straight_from(l, STRAIGHT_MUL, PRODUCT, s, in);
        else
            straight_from_mem(l, STRAIGHT_MUL, PRODUCT, s, WORK, place);
        straight_reg(l, STRAIGHT_SUB, r, PRODUCT);
    }
}

/* r -= work[a] work[b] */
static void write_product(kept *k, int r, int32_t a, int32_t b)
{
    int in_a = find_kept(k, a);
    const int in_b = find_kept(k, b);
    if (in_a < 0 && in_b >= 0) {
        write_less(k->l, k->fused, r, in_b, a, -1);
        return;
    }
    if (in_a < 0) {
        in_a = room_for(k, a);
        straight_load(k->l, in_a, WORK, a);
    }
    write_less(k->l, k->fused, r, in_a, b, in_b);
}

/* r: u_ii, which goes. */
static void write_pivot(const lu_tiny *t, kept *k, int r, int32_t i)
{
    const int32_t at = place_of(t, t->inv + i);
    straight *l = k->l;
    straight_copy(l, SIZE, r);
    straight_inverse(l, r, r);
    straight_store(l, r, WORK, at);
    k->place[r - FIRST_KEPT] = at;
    straight_abs(l, SIZE);
    straight_mem(l, STRAIGHT_MUL, SIZE, WORK, place_of(t, t->weight + i));
    straight_from(l, STRAIGHT_MIN, LEAST, SIZE, LEAST);
    straight_from(l, STRAIGHT_MAX, MOST, SIZE, MOST);
}

static void write_entry(const lu_tiny *t, kept *k, const entry *e, const pair *f, int32_t i)
{
    straight *l = k->l;
    const int r = room_for(k, -1);
    k->used[r - FIRST_KEPT] = INT32_MAX; /* it stays until it is done */
    if (e->src >= 0)
        straight_load(l, r, MATRIX, e->src);
    else
        straight_zero(l, r);
    for (const pair *last = f + e->n; f < last; f++)
        write_product(k, r, f->l, f->u);
    if (e->scale >= 0) {
        const int32_t at = place_of(t, t->inv + e->scale);
        const int in = find_kept(k, at);
        if (in >= 0)
            straight_reg(l, STRAIGHT_MUL, r, in);
        else
            straight_mem(l, STRAIGHT_MUL, r, WORK, at);
    }
    k->used[r - FIRST_KEPT] = ++k->now;
    if (e->dst >= 0) {
        straight_store(l, r, WORK, e->dst);
        k->place[r - FIRST_KEPT] = e->dst;
    } else {
        write_pivot(t, k, r, i);
    }
}

static void write_factor(lu_tiny *t, straight *l)
{
    const entry *e = t->entry;
    const pair *f = t->pair;
    kept k = {.l = l, .fused = t->fused};
    for (int i = 0; i < N_KEPT; i++)
        k.place[i] = -1;
    straight_load(l, LEAST, WORK, place_of(t, t->extreme + 2));
    straight_zero(l, MOST);
    for (int32_t i = 0; i < t->n; i++)
        for (const entry *end = t->entry + t->end[i]; e < end; f += e->n, e++)
            write_entry(t, &k, e, f, i);
    straight_store(l, LEAST, WORK, place_of(t, t->extreme));
    straight_store(l, MOST, WORK, place_of(t, t->extreme + 1));
}

/* The y found last stay in registers. */
enum { FIRST_Y = PRODUCT + 1, N_Y = STRAIGHT_MAX_REGISTERS - FIRST_Y };

static int y_register(int32_t i) { return FIRST_Y + i % N_Y; }

/* r -= val[k] y_j, y_j found `ago` steps before. */
static void write_step(const lu_tiny *t, straight *l, int r, int32_t k, int32_t j, int32_t ago)
{
    if (ago < N_Y) {
        write_less(l, t->fused, r, y_register(j), k, -1);
    } else {
        straight_load(l, SIZE, WORK, k);
        write_less(l, t->fused, r, SIZE, place_of(t, t->y + j), -1);
    }
}

static void write_solve(lu_tiny *t, straight *l)
{
    const int32_t y = place_of(t, t->y), n = t->n;
    const bool stay = n <= N_Y; /* all in registers */
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        const int r = y_register(i);
        straight_load(l, r, RIGHT, t->p[i]);
        for (; k < t->l_end[i]; k++)
            write_step(t, l, r, k, t->col[k], i - t->col[k]);
        if (!stay)
            straight_store(l, r, WORK, y + i);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const int r = y_register(i);
        if (n - i > N_Y) /* it made room for a later one */
            straight_load(l, r, WORK, y + i);
        for (; k < t->u_end[i]; k++)
            write_step(t, l, r, k, t->col[k], t->col[k] - i);
        straight_mem(l, STRAIGHT_MUL, r, WORK, place_of(t, t->inv + i));
        if (!stay)
            straight_store(l, r, WORK, y + i);
        straight_store(l, r, RESULT, t->q[i]);
    }
}

static void write_code(lu_tiny *t, bool fused)
{
    t->factor_code = straight_new();
    t->solve_code = straight_new();
    if (!t->factor_code || !t->solve_code)
        return;
    t->fused = fused && straight_fuses(t->factor_code);
    if (vec_len(t->pair) > MAX_CODE_PAIRS)
        return;
    write_factor(t, t->factor_code);
    write_solve(t, t->solve_code);
    t->factor = straight_done(t->factor_code);
    t->solve = straight_done(t->solve_code);
}

lu_tiny *lu_tiny_new(const csc *a, const int32_t *p, const int32_t *q, const double *scale,
                     int32_t max_pairs)
{
    if (a->n > LU_TINY_MAX_N)
        return NULL;
    lu_tiny *t = vs_calloc(1, sizeof *t);
    t->n = a->n;
    t->p = ints(a->n);
    t->q = ints(a->n);
    t->end = ints(a->n);
    t->l_end = ints(a->n);
    t->u_end = ints(a->n);
    for (int32_t k = 0; k < a->n; k++) {
        t->p[k] = p[k];
        t->q[k] = q[k];
    }
    if (!plan_all(t, a, max_pairs)) {
        lu_tiny_free(&t);
        return NULL;
    }
    allocate(t);
    lu_tiny_set_scale(t, scale);
    write_code(t, true);
    return t;
}

bool lu_tiny_fits(const lu_tiny *t, const int32_t *p, const int32_t *q)
{
    const size_t n = (size_t)t->n;
    return !memcmp(t->p, p, n * sizeof *p) && !memcmp(t->q, q, n * sizeof *q);
}

void lu_tiny_free(lu_tiny **p)
{
    lu_tiny *t = *p;
    if (!t)
        return;
    int32_t *const list[] = {t->p, t->q, t->end, t->l_end, t->u_end, t->col};
    for (size_t k = 0; k < VS_COUNT(list); k++)
        vs_free(list[k]);
    vec_free(t->entry);
    vec_free(t->pair);
    vs_free(t->work);
    straight_free(&t->factor_code);
    straight_free(&t->solve_code);
    vs_free(t);
    *p = NULL;
}

void lu_tiny_set_scale(lu_tiny *t, const double *scale)
{
    for (int32_t k = 0; k < t->n; k++)
        t->weight[k] = 1 / scale[k];
}

void lu_tiny_use_tables(lu_tiny *t) { t->factor = t->solve = NULL; }

void lu_tiny_round_twice(lu_tiny *t)
{
    straight_free(&t->factor_code);
    straight_free(&t->solve_code);
    t->factor = t->solve = NULL;
    write_code(t, false);
}

/* By tables, for processors that fuse and for those that do not. */
#define BY_TABLE static inline __attribute__((always_inline))
#if defined(__x86_64__)
#define FUSES __attribute__((target("fma"), noinline))
#else
#define FUSES __attribute__((noinline))
#endif

BY_TABLE double less(double v, double a, double b, const bool fused)
{
    return fused ? fma(-a, b, v) : v - a * b;
}

BY_TABLE double factor_by_table(lu_tiny *t, const double *av, const bool fused)
{
    const entry *e = t->entry;
    const pair *f = t->pair;
    double *restrict val = t->val, *restrict inv = t->inv, least = INFINITY, most = 0;
    for (int32_t i = 0; i < t->n; i++) {
        double pivot = 0;
        for (const entry *end = t->entry + t->end[i]; e < end; e++) {
            double v = e->src >= 0 ? av[e->src] : 0;
            for (const pair *last = f + e->n; f < last; f++)
                v = less(v, val[f->l], val[f->u], fused);
            if (e->scale >= 0)
                val[e->dst] = v * inv[e->scale];
            else if (e->dst >= 0)
                val[e->dst] = v;
            else
                pivot = v;
        }
        if (pivot == 0)
            return 0;
        inv[i] = 1 / pivot;
        double size = fabs(pivot) * t->weight[i];
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    return t->n ? least / most : 1;
}

BY_TABLE void solve_by_table(lu_tiny *t, const double *b, double *x, const bool fused)
{
    const double *restrict val = t->val, *restrict inv = t->inv;
    const int32_t *restrict col = t->col;
    const int32_t n = t->n;
    double *restrict y = t->y;
    int32_t k = 0;
    for (int32_t i = 0; i < n; i++) {
        double v = b[t->p[i]];
        for (const int32_t end = t->l_end[i]; k < end; k++)
            v = less(v, val[k], y[col[k]], fused);
        y[i] = v;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        double v = y[i];
        for (const int32_t end = t->u_end[i]; k < end; k++)
            v = less(v, val[k], y[col[k]], fused);
        y[i] = v * inv[i];
        x[t->q[i]] = y[i];
    }
}

FUSES static double factor_fused(lu_tiny *t, const double *av)
{
    return factor_by_table(t, av, true);
}
__attribute__((noinline)) static double factor_twice_rounded(lu_tiny *t, const double *av)
{
    return factor_by_table(t, av, false);
}
FUSES static void solve_fused(lu_tiny *t, const double *b, double *x)
{
    solve_by_table(t, b, x, true);
}
__attribute__((noinline)) static void solve_twice_rounded(lu_tiny *t, const double *b, double *x)
{
    solve_by_table(t, b, x, false);
}

VS_HOT double lu_tiny_factor(lu_tiny *t, const csc *a)
{
    if (t->factor) {
        t->factor(t->work, a->val, NULL, NULL, NULL, NULL);
        return t->n ? t->extreme[0] / t->extreme[1] : 1;
    }
    return t->fused ? factor_fused(t, a->val) : factor_twice_rounded(t, a->val);
}

VS_HOT void lu_tiny_solve(lu_tiny *t, const double *b, double *x)
{
    if (t->solve)
        t->solve(t->work, b, x, NULL, NULL, NULL);
    else if (t->fused)
        solve_fused(t, b, x);
    else
        solve_twice_rounded(t, b, x);
}

int32_t lu_tiny_nnz(const lu_tiny *t) { return t->n_val + 2 * t->n; }

int32_t lu_tiny_pairs(const lu_tiny *t) { return (int32_t)vec_len(t->pair); }

int32_t lu_tiny_weakest(const lu_tiny *t)
{
    int32_t at = -1;
    for (int32_t k = 0; k < t->n; k++)
        if (at < 0 || t->inv[k] * t->inv[k] * t->weight[at] * t->weight[at] >
                          t->inv[at] * t->inv[at] * t->weight[k] * t->weight[k])
            at = k;
    return at < 0 ? -1 : t->q[at];
}
