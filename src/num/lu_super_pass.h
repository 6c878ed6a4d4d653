/* lu_super_pass.h - the substitutions of lu_super_solve.c for values of type VALUE. Whoever
 * includes it defines VALUE, SUMS(name), the name of a function for this type, and LOWER and UPPER,
 * the values of L and U in *s; all are undefined again at the end. */
#include "lu_super_sums.h"

/* The columns of supernode o: its own rows, then those below up to `end`, whose places in y are
 * those of `target`. t: work [n] */
static inline void SUMS(lower_supernode)(const lu_super *s, const int32_t *target, int32_t o,
                                         int32_t end, double *restrict y, double *restrict t)
{
    const int32_t c0 = s->start[o], m = s->start[o + 1] - c0, ld = s->ip[o + 1] - s->ip[o];
    const VALUE *l = LOWER + s->lp[o];
    SUMS(solve_triangle)(y + c0, l, ld, m);
    if (end > m)
        SUMS(subtract_product)(y, target + s->ip[o] + m, l + m, ld, end - m, y + c0, m, t);
}

/* The rows of supernode o, from which what later columns do has been subtracted. j, u: the segments
 * of its own columns. */
static inline void SUMS(upper_own)(const lu_super *s, int32_t o, int32_t j, const VALUE *restrict u,
                                   double *restrict y)
{
    const int32_t first = s->start[o];
    for (int32_t k = s->start[o + 1] - 1; k >= first; k--) {
        const double yk = y[k] /= s->diag[k];
        if (j == s->row_at[o] || s->column[j] != k)
            continue;
        for (int32_t r = first + s->skip[j++]; r < k; r++)
            y[r] -= *u++ * yk;
    }
}

static inline void SUMS(upper_supernode)(const lu_super *s, int32_t o, double *restrict y)
{
    const VALUE *restrict u = UPPER + s->value_at[o + 1];
    const int32_t first = s->start[o];
    if (s->start[o + 1] - first == 1) {
        double sum = y[first];
        for (int32_t j = s->row_at[o + 1]; j < s->row_at[o]; j++)
            sum -= *u++ * y[s->column[j]];
        y[first] = sum / s->diag[first];
        return;
    }
    const int32_t own = own_segments(s, o);
    u = SUMS(subtract_rows)(s, o, s->row_at[o + 1], own, u, y);
    SUMS(upper_own)(s, o, own, u, y);
}

/* A block of BTF that is not in units: supernodes [from, end). */
static void SUMS(solve_block)(const lu_super *s, int32_t from, int32_t end, double *y)
{
    for (int32_t o = from; o < end; o++)
        SUMS(lower_supernode)(s, s->idx, o, s->ip[o + 1] - s->ip[o], y, s->t);
    for (int32_t o = end - 1; o >= from; o--)
        SUMS(upper_supernode)(s, o, y);
}

/* The columns of unit u, and rows below: of a part all, of a joining unit its own or, if only one
 * thread solves, also those of others. */
static void SUMS(lower_columns)(lu_units *h, int32_t u, double *restrict t)
{
    const lu_super *s = h->s;
    const bool all = is_part(h, u) || !h->shared;
    for (const range *r = h->range + h->range_at[u]; r < h->range + h->range_at[u + 1]; r++)
        for (int32_t o = r->from; o < r->end; o++) {
            const int32_t end = all ? s->ip[o + 1] - s->ip[o] : h->own_end[o];
            SUMS(lower_supernode)(s, h->target, o, end, h->y, t);
        }
}

/* What blocks of other joining units do to rows of joining unit u. */
static void SUMS(fetch_rows)(lu_units *h, int32_t u, int worker, double *restrict t)
{
    const lu_super *s = h->s;
    for (const run *f = h->from + h->from_at[u]; f < h->from + h->from_at[u + 1]; f++) {
        const int32_t o = f->super, c0 = s->start[o], ld = s->ip[o + 1] - s->ip[o];
        await(h, h->unit[o], worker);
        SUMS(subtract_product)(h->y, s->idx + s->ip[o] + f->begin, LOWER + s->lp[o] + f->begin, ld,
                               f->end - f->begin, h->y + c0, s->start[o + 1] - c0, t);
    }
}

static void SUMS(lower_unit)(void *user, int32_t i, int worker)
{
    lu_units *h = user;
    const int32_t u = h->below[i], w = h->with[u];
    double *t = h->s->t + (size_t)worker * (size_t)h->s->n;
    load_unit(h, u);
    if (is_part(h, u)) {
        clear_copies(h, u);
        SUMS(lower_columns)(h, u, t);
        finish(h, u);
        count(h);
    } else {
        if (w < 0)
            await_all(h, h->split.n_task, worker);
        else
            await_home(h, h->home_below[w], h->joins[w], worker);
        add_copies(h, u);
        SUMS(fetch_rows)(h, u, worker, t);
        SUMS(lower_columns)(h, u, t);
        finish(h, u);
    }
}

/* All units by one thread: what blocks of joining units do to rows of others is subtracted at once,
 * which is the same order. */
static void SUMS(lower_alone)(lu_units *h)
{
    for (int32_t u = 0; u < h->n_unit; u++)
        load_unit(h, u);
    memset(h->y + h->s->n, 0, sizeof *h->y * (size_t)h->copy_at[h->split.n_task]);
    for (int32_t u = 0; u < h->n_unit; u++) {
        if (u == h->split.n_task)
            for (int32_t v = u; v < h->n_unit; v++)
                add_copies(h, v);
        SUMS(lower_columns)(h, u, h->s->t);
    }
}

/* How far a supernode of a joining unit is: which of its segments come next, their values, and
 * those of which unit. */
typedef struct SUMS(progress) {
    int32_t o, j, own; /* own: where segments of its own columns begin */
    const VALUE *v;
    const turn *t;
} SUMS(progress);

static inline void SUMS(take_turn)(lu_units *h, SUMS(progress) * p)
{
    const int32_t end = p->t->end < p->own ? p->t->end : p->own;
    if (p->j < end)
        p->v = SUMS(subtract_rows)(h->s, p->o, p->j, end, p->v, h->y);
    p->j = p->t++->end;
}

/* What units that are done do to the rows of all supernodes of unit u: when the one before it ends,
 * nothing but what that one does is left. A pool "as if" does not say what is done. */
static int SUMS(take_ready)(lu_units *h, int32_t u, SUMS(progress) * p)
{
    const lu_super *s = h->s;
    int n = 0;
    for (int32_t m = h->at[u + 1] - 1; m >= h->at[u]; m--) {
        const int32_t o = h->split.list[m];
        p[n] = (SUMS(progress)){o, s->row_at[o + 1], own_segments(s, o), UPPER + s->value_at[o + 1],
                                h->turn + h->turn_at[o]};
        while (!h->as_if && p[n].j < s->row_at[o] && p[n].t->unit != u && is_done(h, p[n].t->unit))
            SUMS(take_turn)(h, &p[n]);
        n++;
    }
    return n;
}

static void SUMS(upper_joining)(lu_units *h, int32_t u, int worker)
{
    SUMS(progress) all[JOINED_COLUMNS];
    const int n = SUMS(take_ready)(h, u, all);
    for (SUMS(progress) *p = all; p < all + n; p++) {
        while (p->j < h->s->row_at[p->o]) {
            if (p->t->unit != u)
                await(h, p->t->unit, worker);
            SUMS(take_turn)(h, p);
        }
        SUMS(upper_own)(h->s, p->o, p->own, p->v, h->y);
    }
}

static void SUMS(upper_unit)(void *user, int32_t i, int worker)
{
    lu_units *h = user;
    const int32_t u = h->above[i], w = h->with[u];
    if (!is_part(h, u)) {
        SUMS(upper_joining)(h, u, worker);
        finish(h, u);
        if (w < 0)
            count(h);
    } else {
        await_all(h, h->n_shared, worker);
        await_home(h, h->joins[w], h->home_below[w + 1], worker);
        for (const range *r = h->range + h->range_at[u + 1]; r-- > h->range + h->range_at[u];)
            for (int32_t o = r->end - 1; o >= r->from; o--)
                SUMS(upper_supernode)(h->s, o, h->y);
    }
    store_unit(h, u);
}

#undef VALUE
#undef SUMS
#undef LOWER
#undef UPPER
