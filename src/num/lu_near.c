/* lu_near.c - see lu_near.h. In units of the tolerances, with D = diag(1 / tol), the system is
 * B u = u_0, B = D M^-1 A D^-1, u = D x, u_0 = D M^-1 b; v_0 .. v_k are an orthonormal basis of
 * u_0, B u_0 ... Threads share vectors by pieces and the product by rows. Sums of products are made
 * in LANES parts of each piece, whatever the machine, and added piece after piece. */
#include "lu_near.h"

#include <math.h>
#include <string.h>

enum { LANES = 8, PIECE = 2048 /* elements */ };

struct lu_near {
    int32_t n, n_piece;
    pool *pool;
    const csc_cut *cut;
    double *v[LU_NEAR_MOST + 1];   /* [n] v_k times a number */
    double unit[LU_NEAR_MOST + 1]; /* which makes v_k of v[k] */
    double *sum;                   /* [n_piece] of products */
    int32_t *order, *home;         /* [n_piece] pieces by homes; [parts + 1] where those
                                      begin; NULL: there are more parts than threads */
};

typedef struct turned { /* Hessenberg's matrix, made triangular by rotations */
    double r[LU_NEAR_MOST][LU_NEAR_MOST + 1]; /* column after column */
    double cos[LU_NEAR_MOST], sin[LU_NEAR_MOST];
    double g[LU_NEAR_MOST + 1]; /* the right side; |g[k]|: what is left after k steps */
} turned;

/* What a job does with a piece or a part; not all is used by each. */
typedef struct job {
    lu_near *s;
    const csc *a;
    const double *tol;
    double *x;
    const double *v, *with;
    double factor;
    const double *factors;
    int n;
} job;

/* A job by pieces, which are at home with those that have most of their rows in the product. */
typedef void (*job_fn)(const job *j, int32_t piece);
typedef struct homes {
    const job *j;
    job_fn fn;
} homes;

static void at_home(void *user, int32_t i, int worker)
{
    const homes *h = user;
    (void)worker;
    h->fn(h->j, h->j->s->order[i]);
}

static void anywhere(void *user, int32_t i, int worker)
{
    const homes *h = user;
    (void)worker;
    h->fn(h->j, i);
}

/* The part that has most of a piece's rows. count [parts]: work */
static int32_t home_of(const lu_near *s, int32_t piece, int32_t *count)
{
    const int32_t end = (piece + 1) * PIECE < s->n ? (piece + 1) * PIECE : s->n;
    int32_t best = 0;
    memset(count, 0, sizeof *count * (size_t)s->cut->n_part);
    for (int32_t i = piece * PIECE; i < end; i++)
        count[csc_cut_part(s->cut, i)]++;
    for (int32_t w = 1; w < s->cut->n_part; w++)
        best = count[w] > count[best] ? w : best;
    return best;
}

static void list_homes(lu_near *s)
{
    const int32_t n_part = s->cut->n_part;
    int32_t *of = vs_malloc(((size_t)s->n_piece + 1) * sizeof *of),
            *count = vs_malloc((size_t)n_part * sizeof *count), n = 0;
    s->order = vs_malloc(((size_t)s->n_piece + 1) * sizeof *s->order);
    s->home = vs_malloc(((size_t)n_part + 1) * sizeof *s->home);
    for (int32_t i = 0; i < s->n_piece; i++)
        of[i] = home_of(s, i, count);
    for (int32_t w = 0; w < n_part; w++) {
        s->home[w] = n;
        for (int32_t i = 0; i < s->n_piece; i++)
            if (of[i] == w)
                s->order[n++] = i;
    }
    s->home[n_part] = n;
    vs_free(of);
    vs_free(count);
}

lu_near *lu_near_new(int32_t n, pool *p, const csc_cut *cut)
{
    lu_near *s = vs_calloc(1, sizeof *s);
    s->n = n;
    s->n_piece = (n + PIECE - 1) / PIECE;
    s->pool = cut ? p : NULL;
    s->cut = cut;
    for (int k = 0; k <= LU_NEAR_MOST; k++)
        s->v[k] = vs_calloc((size_t)n + 1, sizeof(double));
    s->sum = vs_calloc((size_t)s->n_piece + 1, sizeof(double));
    if (cut && cut->n_part <= pool_size(p))
        list_homes(s);
    return s;
}

void lu_near_free(lu_near **ps)
{
    lu_near *s = *ps;
    if (!s)
        return;
    for (int k = 0; k <= LU_NEAR_MOST; k++)
        vs_free(s->v[k]);
    vs_free(s->sum);
    vs_free(s->order);
    vs_free(s->home);
    vs_free(s);
    *ps = NULL;
}

VS_CLONES static double product_of(const double *a, const double *b, int32_t n)
{
    double sum[LANES] = {0};
    int32_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[i % LANES] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

VS_CLONES static void subtract(double *restrict x, double factor, const double *restrict y,
                               int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] -= factor * y[i];
}

VS_CLONES static void multiply(double *restrict x, const double *restrict by, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] *= by[i];
}

VS_CLONES static void divide(double *restrict x, const double *restrict by, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] /= by[i];
}

static int32_t length_of(const lu_near *s, int32_t piece)
{
    const int32_t left = s->n - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static void each_piece(const job *j, job_fn fn)
{
    const lu_near *s = j->s;
    homes h = {j, fn};
    if (s->home)
        pool_run_homes(s->pool, POOL_SOLVE, s->n_piece, s->home, s->cut->n_part, at_home, &h);
    else
        pool_run(s->pool, POOL_SOLVE, s->n_piece, anywhere, &h);
}

/* Their sums too. */
static double sum_of_each(const job *j, job_fn fn)
{
    const lu_near *s = j->s;
    double sum = 0;
    each_piece(j, fn);
    for (int32_t i = 0; i < s->n_piece; i++)
        sum += s->sum[i];
    return sum;
}

/* x /= tol; sum of x * with, which may be x */
static void weigh_piece(const job *j, int32_t i)
{
    const int32_t at = i * PIECE, n = length_of(j->s, i);
    divide(j->x + at, j->tol + at, n);
    j->s->sum[i] = product_of(j->x + at, j->with + at, n);
}

/* As weigh_piece of x = v. */
static void begin_piece(const job *j, int32_t i)
{
    const int32_t at = i * PIECE;
    memcpy(j->x + at, j->v + at, sizeof *j->x * (size_t)length_of(j->s, i));
    weigh_piece(j, i);
}

/* x -= factor * v; sum of x * with, which may be x */
static void subtract_piece(const job *j, int32_t i)
{
    const int32_t at = i * PIECE, n = length_of(j->s, i);
    subtract(j->x + at, j->factor, j->v + at, n);
    j->s->sum[i] = product_of(j->x + at, j->with + at, n);
}

/* x = tol * (sum of factors[k] * v[k]) */
static void combine_piece(const job *j, int32_t i)
{
    const int32_t at = i * PIECE, n = length_of(j->s, i);
    double *x = j->x + at;
    memset(x, 0, sizeof *x * (size_t)n);
    for (int k = 0; k < j->n; k++)
        subtract(x, -j->factors[k], j->s->v[k] + at, n);
    multiply(x, j->tol + at, n);
}

/* Of a column: x += val * z for its entries [from, end). */
static inline void add_entries(const csc *a, int32_t from, int32_t end, double z,
                               double *restrict x)
{
    for (int32_t k = from; k < end; k++)
        x[a->row[k]] += a->val[k] * z;
}

/* x = A (factor * v * tol), the rows of a part */
static void product_part(void *user, int32_t part, int worker)
{
    const job j = *(const job *)user;
    const csc_cut *cut = j.s->cut;
    (void)worker;
    for (const csc_run *r = cut->run + cut->run_at[part], *end = cut->run + cut->run_at[part + 1];
         r < end; r++)
        memset(j.x + r->begin, 0, sizeof *j.x * (size_t)(r->end - r->begin));
    for (const csc_piece *p = cut->piece + cut->piece_at[part],
                         *end = cut->piece + cut->piece_at[part + 1];
         p < end; p++)
        add_entries(j.a, p->from, p->end, j.factor * j.v[p->col] * j.tol[p->col], j.x);
}

static void product(const job *j)
{
    const int32_t n = j->s->n;
    memset(j->x, 0, sizeof *j->x * (size_t)n);
    for (int32_t k = 0; k < n; k++)
        add_entries(j->a, j->a->colptr[k], j->a->colptr[k + 1], j->factor * j->v[k] * j->tol[k],
                    j->x);
}

/* v[k + 1] = M^-1 A D^-1 v_k */
static void apply(lu_near *s, lu_solver *lu, const csc *a, const lu_near_opt *o, int k)
{
    double *to = s->v[k + 1];
    job j = {.s = s, .a = a, .tol = o->tol, .x = to, .v = s->v[k], .factor = s->unit[k]};
    if (s->cut)
        pool_run_each(s->pool, POOL_SOLVE, s->cut->n_part, product_part, &j);
    else
        product(&j);
    if (o->coarse)
        lu_solve_coarse(lu, to, to);
    else
        lu_solve(lu, to, to);
}

/* Makes v_k+1, which is B v_k but for D, orthogonal to those before, and column k of the
 * triangle. */
static void add_column(lu_near *s, turned *t, int k, const double *tol)
{
    double *r = t->r[k];
    job j = {.s = s, .tol = tol, .x = s->v[k + 1], .with = s->v[0]};
    r[0] = sum_of_each(&j, weigh_piece) * s->unit[0];
    for (int i = 0; i <= k; i++) {
        j.factor = r[i] * s->unit[i];
        j.v = s->v[i];
        j.with = s->v[i + 1]; /* at last, itself */
        r[i + 1] = sum_of_each(&j, subtract_piece) * (i < k ? s->unit[i + 1] : 1);
    }
    const double size = sqrt(r[k + 1]);
    s->unit[k + 1] = size > 0 ? 1 / size : 1;
    for (int i = 0; i < k; i++) {
        const double upper = r[i], lower = r[i + 1];
        r[i] = t->cos[i] * upper + t->sin[i] * lower;
        r[i + 1] = t->cos[i] * lower - t->sin[i] * upper;
    }
    const double h = hypot(r[k], size);
    t->cos[k] = h == 0 ? 1 : r[k] / h; /* of NaN: NaN */
    t->sin[k] = h == 0 ? 0 : size / h;
    r[k] = h;
    t->g[k + 1] = -t->sin[k] * t->g[k];
    t->g[k] *= t->cos[k];
}

/* x = D^-1 (v_0 .. v_n-1) y, the triangle being R y = g. */
static void combine(lu_near *s, const turned *t, int n, const double *tol, double *x)
{
    double y[LU_NEAR_MOST];
    job j = {.s = s, .tol = tol, .x = x, .factors = y, .n = n};
    for (int i = n - 1; i >= 0; i--) {
        y[i] = t->g[i];
        for (int k = i + 1; k < n; k++)
            y[i] -= t->r[k][i] * y[k];
        y[i] /= t->r[i][i];
    }
    for (int i = 0; i < n; i++)
        y[i] *= s->unit[i];
    each_piece(&j, combine_piece);
}

vs_status lu_near_solve(lu_near *s, lu_solver *lu, const csc *a, const lu_near_opt *o, double *x,
                        int *n_step, double *first)
{
    turned t;
    const job j = {.s = s, .tol = o->tol, .x = s->v[0], .v = x, .with = s->v[0]};
    const double size = sqrt(sum_of_each(&j, begin_piece));
    *n_step = 0;
    if (!(size > 0) || size == INFINITY)
        return size == 0 ? VS_OK : VS_NOCONV;
    s->unit[0] = 1 / size;
    t.g[0] = size;
    for (int k = 0; k < o->most; k++) {
        apply(s, lu, a, o, k);
        add_column(s, &t, k, o->tol);
        *n_step = k + 1;
        const double left = fabs(t.g[k + 1]);
        if (k == 0)
            *first = left / size;
        if (!(left < INFINITY) || t.r[k][k] == 0)
            return VS_NOCONV;
        if (left <= o->part * size || left <= o->least) {
            combine(s, &t, k + 1, o->tol, x);
            return VS_OK;
        }
    }
    return VS_NOCONV;
}
