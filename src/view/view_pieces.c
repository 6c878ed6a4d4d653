/* view_pieces.c - expressions over large plots: piece by piece, of which the points that a picture
 * shows are kept. Memory is that of a piece, whatever the points. */
#include <math.h>
#include <string.h>

#include "reduce.h"
#include "vec.h"
#include "view_priv.h"

enum { PIECE = 1 << 16 }; /* points */

typedef struct pieces {
    view_file *f;
    size_t plot;
    post_env *e;
    const view_question *q;
    const post_vec *own; /* the vector whose very name was asked for; NULL: an expression */
    size_t *place;       /* vec: vectors that are needed, the axis first */
    int64_t from, to;    /* points */
    double x0, x1;       /* their ends */
    bool rises;
    view_thin *out;
} pieces;

static bool add_place(pieces *s, const post_vec *v)
{
    post_vec *const *all = s->f->set.plot[s->plot]->vec;
    size_t k = 0;
    while (k < vec_len(all) && all[k] != v)
        k++;
    for (size_t i = 0; i < vec_len(s->place); i++)
        if (s->place[i] == k)
            return true;
    if (k < vec_len(all))
        vec_push(s->place, k);
    return k < vec_len(all);
}

/* Finds the vectors that the expression needs. false: it names something else than vectors of the
 * plot. */
static bool find_places(pieces *s)
{
    post_plot *p = s->f->set.plot[s->plot];
    const char **list = NULL;
    str_pool names;
    bool all = add_place(s, p->scale);
    if (s->own)
        return add_place(s, s->own);
    str_pool_init(&names);
    post_names(&names, s->e->line, &list);
    for (size_t k = 0; k < vec_len(list) && all; k++) {
        const post_vec *v = post_plot_find(p, list[k]);
        all = v && add_place(s, v);
    }
    vec_free(list);
    str_pool_fini(&names);
    return all;
}

/* Computes the piece's values. *parts true: they are that part of the whole. false: a message was
 * given. */
static bool value_of(pieces *s, bool *parts, post_val *y)
{
    bool whole = false;
    *parts = true;
    if (s->own) {
        *y = (post_val){
            .complex = s->own->complex, .n = s->own->n, .v = s->own->v, .type = s->own->type};
        return true;
    }
    s->e->whole = &whole;
    s->e->ranges = true;
    const bool good = post_eval(s->e, s->e->line, y);
    s->e->whole = NULL;
    s->e->ranges = false;
    *parts = !whole;
    return good;
}

/* The picture's columns that the piece fills. */
static int64_t columns_of(const pieces *s, const double *x, int64_t n)
{
    const double part =
        s->rises ? (x[n - 1] - x[0]) / (s->x1 - s->x0) : (double)n / (double)(s->to - s->from);
    const double c = ceil((double)s->q->columns * part);
    return c >= 1 ? (int64_t)c : 1;
}

static void keep_points(pieces *s, const post_val *y, const double *x)
{
    view_thin *t = s->out;
    arena *mem = s->e->mem;
    int64_t *at = arena_array(mem, int64_t, y->n + 1);
    double *size = arena_array(mem, double, y->complex ? y->n + 1 : 1);
    for (int64_t k = 0; k < y->n && y->complex; k++)
        size[k] = hypot(y->v[2 * k], y->v[2 * k + 1]);
    const int64_t n = reduce_points(x, y->complex ? size : y->v, y->n, columns_of(s, x, y->n), at);
    for (int64_t i = 0; i < n; i++, t->n++) {
        t->x[t->n] = x[at[i]];
        t->y[t->n] = y->v[y->complex ? 2 * at[i] : at[i]];
        if (y->complex)
            t->im[t->n] = y->v[2 * at[i] + 1];
    }
}

/* Makes room for the points of all pieces together. */
static void make_room(pieces *s, bool complex)
{
    const int64_t n_piece = (s->to - s->from + PIECE - 1) / PIECE,
                  most = 4 * (s->q->columns + n_piece) + 6 * n_piece + 8;
    arena *mem = s->e->mem;
    s->out->x = arena_array(mem, double, most);
    s->out->y = arena_array(mem, double, most);
    s->out->im = complex ? arena_array(mem, double, most) : NULL;
}

/* Adds a piece. *parts false: the value of a part is not that part of the value; nothing is kept.
 */
static bool do_piece(pieces *s, int64_t from, bool *parts, const char **why)
{
    post_val y;
    const int64_t n = s->to - from < PIECE ? s->to - from : PIECE;
    const arena_pos before = arena_mark(s->e->mem);
    if (!view_load_part(s->f, s->plot, s->place, vec_len(s->place), from, n, why) ||
        !value_of(s, parts, &y))
        return false;
    *parts &= y.n == n;
    if (*parts && from == s->from) {
        s->out->type = y.type;
        arena_release(s->e->mem, before); /* the room stays */
        make_room(s, y.complex);
        const arena_pos mark = arena_mark(s->e->mem);
        if (!value_of(s, parts, &y))
            return false;
        keep_points(s, &y, s->f->set.plot[s->plot]->scale->v);
        arena_release(s->e->mem, mark);
        return true;
    }
    if (*parts)
        keep_points(s, &y, s->f->set.plot[s->plot]->scale->v);
    arena_release(s->e->mem, before);
    return true;
}

static bool find_range(pieces *s, const char **why)
{
    static const int32_t axis = 0;
    idx *x = s->f->x;
    const int32_t plot = (int32_t)s->plot;
    return !idx_range(x, plot, s->q->x0, s->q->x1, &s->from, &s->to, &s->rises, why) &&
           s->to > s->from && !idx_read(x, plot, &axis, 1, s->from, 1, &s->x0, why) &&
           !idx_read(x, plot, &axis, 1, s->to - 1, 1, &s->x1, why);
}

bool view_pieces(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to,
                 bool *thin, const char **why)
{
    pieces s = {.f = f, .plot = plot, .e = e, .q = q, .out = to};
    post_plot *p = f->set.plot[plot];
    for (size_t k = 0; k < vec_len(p->vec); k++)
        if (!strcmp(p->vec[k]->name, q->expr))
            s.own = p->vec[k];
    *to = (view_thin){0};
    *why = "";
    view_forget_plot(f, plot);
    e->set->current = p;
    *thin = find_places(&s);
    bool good = !*thin || find_range(&s, why);
    for (int64_t at = s.from; at < s.to && good && *thin; at += PIECE)
        good = do_piece(&s, at, thin, why);
    to->part = s.to - s.from;
    view_forget_plot(f, plot);
    vec_free(s.place);
    return good;
}
