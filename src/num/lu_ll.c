/* lu_ll.c - see lu_ll.h. */
#include "lu_ll.h"

#include <math.h>
#include <string.h>

/* Below these, calls of the BLAS cost more than they save: multiplications of an update, columns of
 * a block. */
enum { UPDATE_SMALL = 8000, BLOCK_SMALL = 12 };

typedef double word __attribute__((vector_size(32), aligned(8), may_alias));

void lu_ll_init(lu_ll *l, int32_t n, int32_t n_super, const int32_t *first, const int32_t *row_at,
                const int32_t *row, const int32_t *val_at, size_t n_c, const lu_dense_calls *dense)
{
    int32_t most = 0;
    *l = (lu_ll){.n = n,
                 .n_super = n_super,
                 .first = first,
                 .row_at = row_at,
                 .row = row,
                 .val_at = val_at,
                 .dense = dense};
    l->val = vs_calloc(lu_ll_size(l), sizeof *l->val);
    l->owner = vs_malloc(((size_t)n + 1) * sizeof *l->owner);
    l->local = vs_malloc(((size_t)n + 1) * sizeof *l->local);
    l->head = vs_malloc(((size_t)n_super + 1) * sizeof *l->head);
    l->next = vs_malloc(((size_t)n_super + 1) * sizeof *l->next);
    l->begin = vs_malloc(((size_t)n_super + 1) * sizeof *l->begin);
    for (int32_t s = 0; s < n_super; s++) {
        const int32_t rows = row_at[s + 1] - row_at[s];
        most = rows > most ? rows : most;
        for (int32_t k = first[s]; k < first[s + 1]; k++)
            l->owner[k] = s;
    }
    l->c = vs_malloc((n_c + 4) * sizeof *l->c);
    l->t = vs_malloc(((size_t)most + 4) * sizeof *l->t);
}

size_t lu_ll_size(const lu_ll *l) { return (size_t)l->val_at[l->n_super] + 4; }

void lu_ll_fini(lu_ll *l)
{
    void *all[] = {l->val, l->owner, l->local, l->head, l->next, l->begin, l->c, l->t};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    *l = (lu_ll){0};
}

int32_t lu_ll_at(const lu_ll *l, int32_t row, int32_t col)
{
    const int32_t s = l->owner[col], rows = l->row_at[s + 1] - l->row_at[s];
    const int32_t *of = &l->row[l->row_at[s]];
    int32_t lo = 0, hi = rows;
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (of[mid] <= row)
            lo = mid;
        else
            hi = mid;
    }
    assert(of[lo] == row);
    return l->val_at[s] + (col - l->first[s]) * rows + lo;
}

/* -- factors -- */

/* c [m][n] = a a' of the first n of m rows, k columns of length ld; the lower half of it. */
VS_CLONES static void small_update(const double *restrict a, int32_t ld, int32_t m, int32_t n,
                                   int32_t k, double *restrict c)
{
    for (int32_t j = 0; j < n; j++) {
        double *restrict to = c + (size_t)j * (size_t)m;
        for (int32_t i = j; i < m; i++)
            to[i] = 0;
        for (int32_t p = 0; p < k; p++) {
            const double *restrict from = a + (size_t)p * (size_t)ld, x = from[j];
            for (int32_t i = j; i < m; i++)
                to[i] += from[i] * x;
        }
    }
}

static void update(const lu_ll *l, const double *a, int32_t ld, int32_t m, int32_t n, int32_t k)
{
    const double one = 1, zero = 0;
    const int32_t below = m - n;
    if ((double)m * n * k < UPDATE_SMALL) {
        small_update(a, ld, m, n, k, l->c);
        return;
    }
    l->dense->syrk("L", "N", &n, &k, &one, a, &ld, &zero, l->c, &m, 1, 1);
    if (below)
        l->dense->gemm("N", "T", &below, &n, &k, &one, a + n, &ld, a, &ld, &zero, l->c + n, &m, 1,
                       1);
}

/* Puts block d into the list of the block whose columns its rows from `begin` on are. */
static void enlist(lu_ll *l, int32_t d, int32_t begin)
{
    l->begin[d] = begin;
    if (l->row_at[d] + begin >= l->row_at[d + 1])
        return;
    const int32_t to = l->owner[l->row[l->row_at[d] + begin]];
    l->next[d] = l->head[to];
    l->head[to] = d;
}

/* Subtracts from block s what block d contributes to its columns. */
static void subtract(lu_ll *l, int32_t s, int32_t d)
{
    const int32_t ld = l->row_at[d + 1] - l->row_at[d], k = l->first[d + 1] - l->first[d],
                  begin = l->begin[d], m = ld - begin, rows = l->row_at[s + 1] - l->row_at[s];
    const int32_t *row = &l->row[l->row_at[d] + begin];
    double *to = &l->val[l->val_at[s]];
    int32_t n = 0;
    while (n < m && row[n] < l->first[s + 1])
        n++;
    update(l, &l->val[l->val_at[d] + begin], ld, m, n, k);
    for (int32_t j = 0; j < n; j++) {
        double *restrict col = to + (size_t)(row[j] - l->first[s]) * (size_t)rows;
        const double *restrict c = l->c + (size_t)j * (size_t)m;
        for (int32_t i = j; i < m; i++)
            col[l->local[row[i]]] -= c[i];
    }
    enlist(l, d, begin + n);
}

/* The columns of a block of few. false: a pivot is not positive. */
VS_CLONES static bool small_block(double *restrict a, int32_t rows, int32_t n)
{
    for (int32_t k = 0; k < n; k++) {
        double *restrict from = a + (size_t)k * (size_t)rows;
        if (!(from[k] > 0))
            return false;
        const double root = sqrt(from[k]);
        for (int32_t i = k; i < rows; i++)
            from[i] /= root;
        for (int32_t j = k + 1; j < n; j++) {
            double *restrict to = a + (size_t)j * (size_t)rows;
            const double x = from[j];
            for (int32_t i = j; i < rows; i++)
                to[i] -= from[i] * x;
        }
    }
    return true;
}

static bool factor_block(const lu_ll *l, double *a, int32_t rows, int32_t n)
{
    const int32_t below = rows - n;
    const double one = 1;
    int32_t info = 0;
    if (n < BLOCK_SMALL)
        return small_block(a, rows, n);
    l->dense->potrf("L", &n, a, &rows, &info, 1);
    if (info)
        return false;
    if (below)
        l->dense->trsm("R", "L", "T", "N", &below, &n, &one, a, &rows, a + n, &rows, 1, 1, 1, 1);
    return true;
}

bool lu_ll_factor(lu_ll *l, double *rcond)
{
    double least = INFINITY, most = 0;
    memset(l->head, 0xff, (size_t)l->n_super * sizeof *l->head);
    for (int32_t s = 0; s < l->n_super; s++) {
        const int32_t rows = l->row_at[s + 1] - l->row_at[s], n = l->first[s + 1] - l->first[s];
        double *a = &l->val[l->val_at[s]];
        for (int32_t i = 0; i < rows; i++)
            l->local[l->row[l->row_at[s] + i]] = i;
        for (int32_t d = l->head[s], next; d >= 0; d = next) {
            next = l->next[d];
            subtract(l, s, d);
        }
        if (!factor_block(l, a, rows, n))
            return false;
        enlist(l, s, n);
        for (int32_t k = 0; k < n; k++) {
            const double pivot = a[(size_t)k * (size_t)rows + (size_t)k];
            if (!(pivot > 0)) /* not a number */
                return false;
            least = fmin(least, pivot);
            most = fmax(most, pivot);
        }
    }
    *rcond = (least / most) * (least / most);
    return true;
}

/* -- substitution: t [rows] has the unknowns of the block's columns, then those of its other rows.
 * Four columns of the block are read at a time. */

VS_CLONES static void forward(const double *restrict a, int32_t rows, int32_t n, double *restrict t)
{
    int32_t k = 0;
    for (; k + 4 <= n; k += 4) {
        const double *restrict p = a + (size_t)k * (size_t)rows, *restrict q = p + rows,
                               *restrict r = q + rows, *restrict s = r + rows;
        const double w = t[k] / p[k], x = (t[k + 1] - p[k + 1] * w) / q[k + 1],
                     y = (t[k + 2] - p[k + 2] * w - q[k + 2] * x) / r[k + 2],
                     z = (t[k + 3] - p[k + 3] * w - q[k + 3] * x - r[k + 3] * y) / s[k + 3];
        t[k] = w;
        t[k + 1] = x;
        t[k + 2] = y;
        t[k + 3] = z;
        for (int32_t i = k + 4; i < rows; i++)
            t[i] -= (p[i] * w + q[i] * x) + (r[i] * y + s[i] * z);
    }
    for (; k < n; k++) {
        const double *restrict p = a + (size_t)k * (size_t)rows;
        const double w = t[k] /= p[k];
        for (int32_t i = k + 1; i < rows; i++)
            t[i] -= p[i] * w;
    }
}

/* The sum of p[i] t[i], i in [from, to). */
static inline __attribute__((always_inline)) double
dot(const double *restrict p, const double *restrict t, int32_t from, int32_t to)
{
    word sum = {0};
    int32_t i = from;
    for (; i + 4 <= to; i += 4)
        sum += *(const word *)(p + i) * *(const word *)(t + i);
    double rest = 0;
    for (; i < to; i++)
        rest += p[i] * t[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

VS_CLONES static void backward(const double *restrict a, int32_t rows, int32_t n,
                               double *restrict t)
{
    int32_t k = n;
    for (; k % 4; k--) {
        const double *p = a + (size_t)(k - 1) * (size_t)rows;
        t[k - 1] = (t[k - 1] - dot(p, t, k, rows)) / p[k - 1];
    }
    for (; k > 0; k -= 4) {
        const double *restrict p = a + (size_t)(k - 4) * (size_t)rows, *restrict q = p + rows,
                               *restrict r = q + rows, *restrict s = r + rows;
        word sp = {0}, sq = {0}, sr = {0}, ss = {0};
        double *x = t + k - 4;
        int32_t i = k;
        for (; i + 4 <= rows; i += 4) {
            const word v = *(const word *)(t + i);
            sp += *(const word *)(p + i) * v;
            sq += *(const word *)(q + i) * v;
            sr += *(const word *)(r + i) * v;
            ss += *(const word *)(s + i) * v;
        }
        for (int32_t e = 0; i < rows; i++, e++) {
            sp[e] += p[i] * t[i];
            sq[e] += q[i] * t[i];
            sr[e] += r[i] * t[i];
            ss[e] += s[i] * t[i];
        }
        const int32_t d = k - 4;
        x[3] = (x[3] - ((ss[0] + ss[1]) + (ss[2] + ss[3]))) / s[d + 3];
        x[2] = (x[2] - ((sr[0] + sr[1]) + (sr[2] + sr[3])) - r[d + 3] * x[3]) / r[d + 2];
        x[1] = (x[1] - ((sq[0] + sq[1]) + (sq[2] + sq[3])) - q[d + 3] * x[3] - q[d + 2] * x[2]) /
               q[d + 1];
        x[0] = (x[0] - ((sp[0] + sp[1]) + (sp[2] + sp[3])) - p[d + 3] * x[3] - p[d + 2] * x[2] -
                p[d + 1] * x[1]) /
               p[d];
    }
}

void lu_ll_solve(const lu_ll *l, double *x)
{
    double *restrict t = l->t;
    for (int32_t s = 0; s < l->n_super; s++) {
        const int32_t rows = l->row_at[s + 1] - l->row_at[s], n = l->first[s + 1] - l->first[s];
        const int32_t *row = &l->row[l->row_at[s]];
        double *own = x + l->first[s];
        memcpy(t, own, (size_t)n * sizeof *t);
        memset(t + n, 0, (size_t)(rows - n) * sizeof *t);
        forward(&l->val[l->val_at[s]], rows, n, t);
        memcpy(own, t, (size_t)n * sizeof *t);
        for (int32_t i = n; i < rows; i++)
            x[row[i]] += t[i];
    }
    for (int32_t s = l->n_super; s-- > 0;) {
        const int32_t rows = l->row_at[s + 1] - l->row_at[s], n = l->first[s + 1] - l->first[s];
        const int32_t *row = &l->row[l->row_at[s]];
        double *own = x + l->first[s];
        memcpy(t, own, (size_t)n * sizeof *t);
        for (int32_t i = n; i < rows; i++)
            t[i] = x[row[i]];
        backward(&l->val[l->val_at[s]], rows, n, t);
        memcpy(own, t, (size_t)n * sizeof *t);
    }
}
