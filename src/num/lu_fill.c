/* lu_fill.c - where L and U have entries for pivots that are known, found without numbers: the
 * supernodes of lu_super.c, their rows, and U's columns as segments.
 *
 * Column k of L has the rows of A's column k and those of all columns j of L with u_jk in the
 * pattern; row k of U likewise has what rows j with l_kj have. Once a column s has both l_sj and
 * u_js, all that j would give to later ones comes to them from s (symmetric reduction): where the
 * pattern is symmetric, each column is merged into one other. So the cost is that of reading the
 * pattern of the factors a few times.
 * Source: Eisenstat & Liu, SIAM J. Matrix Anal. Appl. 13(1), 1992. */
#include <string.h>

#include "lu_panel.h"
#include "lu_super_priv.h"
#include "vec.h"

typedef struct link { /* of a list of columns */
    int32_t column;
    int32_t next; /* in link; -1: none */
} link;

typedef struct fill {
    lu_super *s;
    int32_t *rp, *rcol; /* [n + 1] entries of A in a row, within its block */
    int64_t *lp, *up;   /* [n + 1] in li, ui */
    int32_t *li, *ui;   /* vec; rows of L's columns and columns of U's rows, without the diagonal */
    int32_t *l_mark, *u_mark; /* [n] the last column (row) that has this row (column), + 1 */
    int32_t *l_from, *u_from; /* [n] in link: columns to merge into one of L, rows into one of U */
    link *link;               /* vec */
    bool *continues;          /* [n] L has the rows of the column before, without that one's own */
    bool too_many;            /* entries for the numbers that count them */
} fill;

/* A by rows. */
static void turn(fill *f)
{
    const lu_super *s = f->s;
    for (int32_t i = 0; i < s->ap[s->n]; i++)
        f->rp[s->arow[i]]++;
    (void)csc_begins(f->rp, s->n);
    for (int32_t k = 0; k < s->n; k++)
        for (int32_t i = s->ap[k]; i < s->ap[k + 1]; i++)
            f->rcol[f->rp[s->arow[i]]++] = k;
    csc_ends_to_begins(f->rp, s->n);
}

/* A set of rows or columns behind k that grows at the end of a vec. */
typedef struct set {
    int32_t *to, *mark;
    size_t len;
    int32_t k, before; /* before: how many of them the set of k - 1 has too */
} set;

static inline void put(set *v, const int32_t *from, const int32_t *end)
{
    for (; from < end; from++) {
        const int32_t r = *from, had = v->mark[r];
        if (r <= v->k || had == v->k + 1)
            continue;
        v->before += had == v->k;
        v->mark[r] = v->k + 1;
        v->to[v->len++] = r;
    }
}

/* Those of A's entries [a, a_end), and of the columns (rows) j in the list from `first` on. A set
 * has less than n members. */
static set merge(fill *f, int32_t **to, const int64_t *at, int32_t *mark, int32_t k, int32_t first,
                 const int32_t *a, const int32_t *a_end)
{
    vec_reserve(*to, f->s->n - k);
    set v = {.to = *to, .mark = mark, .len = vec_len(*to), .k = k};
    put(&v, a, a_end);
    for (int32_t i = first; i >= 0; i = f->link[i].next) {
        const int32_t j = f->link[i].column;
        put(&v, *to + at[j], *to + at[j + 1]);
    }
    vec_head_of(*to)->len = v.len;
    return v;
}

static void add_link(fill *f, int32_t *first, int32_t column)
{
    const int32_t at = (int32_t)vec_len(f->link); /* fewer than entries of L and U */
    vec_push(f->link, (link){column, *first});
    *first = at;
}

/* Those that column and row k are to be merged into. */
static void reduce(fill *f, int32_t k)
{
    int32_t both = INT32_MAX; /* the first that has l and u */
    for (int64_t i = f->up[k]; i < f->up[k + 1]; i++)
        if (f->ui[i] < both && f->l_mark[f->ui[i]] == k + 1)
            both = f->ui[i];
    for (int64_t i = f->up[k]; i < f->up[k + 1]; i++)
        if (f->ui[i] <= both)
            add_link(f, &f->l_from[f->ui[i]], k);
    for (int64_t i = f->lp[k]; i < f->lp[k + 1]; i++)
        if (f->li[i] <= both)
            add_link(f, &f->u_from[f->li[i]], k);
}

static void find_column(fill *f, int32_t k)
{
    const lu_super *s = f->s;
    const bool in_before = k > 0 && f->l_mark[k] == k; /* column k - 1 has row k */
    const set l = merge(f, &f->li, f->lp, f->l_mark, k, f->l_from[k], s->arow + s->ap[k],
                        s->arow + s->ap[k + 1]);
    f->lp[k + 1] = (int64_t)l.len;
    (void)merge(f, &f->ui, f->up, f->u_mark, k, f->u_from[k], f->rcol + f->rp[k],
                f->rcol + f->rp[k + 1]);
    f->up[k + 1] = (int64_t)vec_len(f->ui);
    const int64_t len = f->lp[k + 1] - f->lp[k];
    f->too_many |= f->lp[k + 1] + f->up[k + 1] > INT32_MAX - 2 * (int64_t)s->n;
    f->continues[k] = in_before && l.before == len && f->lp[k] - f->lp[k - 1] == len + 1;
    reduce(f, k);
}

static void find_columns(fill *f)
{
    const lu_super *s = f->s;
    for (int32_t b = 0; b < s->n_block; b++)
        for (int32_t k = s->block[b]; k < s->block[b + 1] && !f->too_many; k++)
            find_column(f, k);
}

/* Splits the columns into supernodes. */
static void find_supernodes(fill *f)
{
    lu_super *s = f->s;
    int32_t rows = 0;
    for (int32_t b = 0; b < s->n_block; b++)
        for (int32_t k = s->block[b]; k < s->block[b + 1];) {
            int32_t end = k + 1;
            while (end < s->block[b + 1] && end - k < LU_PANEL && f->continues[end])
                end++;
            s->start[s->n_super] = k;
            s->ip[s->n_super] = rows;
            for (int32_t j = k; j < end; j++)
                s->of[j] = s->n_super;
            s->n_super++;
            rows += (int32_t)(f->lp[k + 1] - f->lp[k]) + 1;
            k = end;
        }
    s->start[s->n_super] = s->n;
    s->ip[s->n_super] = rows;
}

/* Their rows, ascending: each supernode's go to lists by row, and come back. */
static void list_rows(fill *f)
{
    lu_super *s = f->s;
    int32_t *at = vs_calloc((size_t)s->n + 1, sizeof *at),
            *has = vs_malloc(sizeof *has * ((size_t)s->ip[s->n_super] + 1));
    for (int32_t o = 0; o < s->n_super; o++)
        for (int64_t i = f->lp[s->start[o]]; i < f->lp[s->start[o] + 1]; i++)
            at[f->li[i]]++;
    (void)csc_begins(at, s->n);
    for (int32_t o = 0; o < s->n_super; o++) {
        for (int64_t i = f->lp[s->start[o]]; i < f->lp[s->start[o] + 1]; i++)
            has[at[f->li[i]]++] = o;
        s->idx[s->ip[o]++] = s->start[o];
    }
    for (int32_t r = 0, i = 0; r < s->n; r++)
        for (; i < at[r]; i++) /* up to its end, to which it has moved */
            s->idx[s->ip[has[i]]++] = r;
    csc_ends_to_begins(s->ip, s->n_super);
    vs_free(at);
    vs_free(has);
}

/* The first rows that columns of U have in each supernode; they have all up to its end, for a row
 * of U has what the rows before it in a supernode have. To NULL: they are counted in s->gp. */
static void each_segment(fill *f, int32_t *seen, int32_t *to)
{
    lu_super *s = f->s;
    memset(seen, 0, sizeof *seen * (size_t)s->n);
    for (int32_t j = 0; j < s->n; j++)
        for (int64_t i = f->up[j]; i < f->up[j + 1]; i++) {
            const int32_t k = f->ui[i];
            if (seen[k] == s->of[j] + 1)
                continue;
            seen[k] = s->of[j] + 1;
            if (to)
                to[s->gp[k]] = j;
            s->gp[k]++;
        }
}

static void find_segments(fill *f)
{
    lu_super *s = f->s;
    int32_t *seen = f->l_mark;
    each_segment(f, seen, NULL);
    s->seg = vs_calloc((size_t)csc_begins(s->gp, s->n) + 1, sizeof *s->seg);
    each_segment(f, seen, s->seg);
    csc_ends_to_begins(s->gp, s->n);
}

/* Entries and multiplications, as KLU counts them. */
static void count(fill *f)
{
    lu_super *s = f->s;
    s->n_lower = f->lp[s->n] + s->n;
    s->n_entry = s->n_lower + f->up[s->n] + s->n;
    for (int32_t k = 0; k < s->n; k++) {
        const double len = (double)(f->lp[k + 1] - f->lp[k]);
        s->work += len * (double)(f->up[k + 1] - f->up[k]) + len / 2;
    }
}

static void free_fill(fill *f)
{
    void *const all[] = {f->rp,     f->rcol,   f->lp,     f->up,       f->l_mark,
                         f->u_mark, f->l_from, f->u_from, f->continues};
    for (size_t i = 0; i < VS_COUNT(all); i++)
        vs_free(all[i]);
    vec_free(f->li);
    vec_free(f->ui);
    vec_free(f->link);
}

bool lu_super_fill(lu_super *s, double expected)
{
    const size_t n = (size_t)s->n + 1;
    fill f = {.s = s,
              .rp = vs_calloc(n, sizeof(int32_t)),
              .rcol = vs_malloc(sizeof(int32_t) * ((size_t)s->ap[s->n] + 1)),
              .lp = vs_calloc(n, sizeof(int64_t)),
              .up = vs_calloc(n, sizeof(int64_t)),
              .l_mark = vs_calloc(n, sizeof(int32_t)),
              .u_mark = vs_calloc(n, sizeof(int32_t)),
              .l_from = vs_malloc(n * sizeof(int32_t)),
              .u_from = vs_malloc(n * sizeof(int32_t)),
              .continues = vs_calloc(n, sizeof(bool))};
    memset(f.l_from, 0xff, n * sizeof(int32_t)); /* -1 */
    memset(f.u_from, 0xff, n * sizeof(int32_t));
    if (expected < INT32_MAX) { /* it takes no memory before it is written */
        vec_reserve(f.li, expected / 2);
        vec_reserve(f.ui, expected / 2);
    }
    turn(&f);
    find_columns(&f);
    s->start = vs_calloc(n, sizeof *s->start);
    s->of = vs_calloc(n, sizeof *s->of);
    s->ip = vs_calloc(n, sizeof *s->ip);
    s->gp = vs_calloc(n, sizeof *s->gp);
    if (!f.too_many) {
        find_supernodes(&f);
        s->idx = vs_calloc((size_t)s->ip[s->n_super] + 1, sizeof *s->idx);
        list_rows(&f);
        find_segments(&f);
        count(&f);
    }
    free_fill(&f);
    return !f.too_many;
}
