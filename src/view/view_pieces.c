/* view_pieces.c - expressions over large plots: piece by piece, of which the points that a picture
 * shows are kept. Functions of the whole curve carry on from piece to piece (carry.h); what they
 * found is kept for the next window. Memory is that of a piece, and of the points that delays reach
 * to, WIDEST at most, whatever the points. */
#include <math.h>
#include <string.h>

#include "carry.h"
#include "reduce.h"
#include "vec.h"
#include "view_priv.h"

enum {
    PIECE = 1 << 16,   /* points */
    WIDEST = 4 * PIECE /* that delays may add to a piece */
};

typedef struct pieces {
    view_file *f;
    size_t plot;
    post_env *e;
    const view_question *q;
    const post_vec *own; /* the vector whose very name was asked for; NULL: an expression */
    size_t *place;       /* vec: vectors that are needed, the axis first */
    int64_t all;         /* points there are */
    int64_t from, to;    /* those in sight */
    double x0, x1;       /* their ends */
    bool rises;
    post_carry carry;  /* functions of the whole curve */
    view_known *known; /* what they have found */
    view_thin *out;
    post_sampler *samples; /* NULL: points that are shown are wanted */
} pieces;

/* Points [from, to), of which the vectors have [lo, lo + n). */
typedef struct piece {
    int64_t from, to, lo, n;
} piece;

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
    s->e->carry = &s->carry;
    *y = (post_val){0};
    const diag_mark before = diag_try(s->e->d);
    bool good = post_eval(s->e, s->e->line, y);
    if (!good &&
        whole) { /* what is wrong with a part may be right with all points: v(a)[0,70000] */
        diag_take_back(s->e->d, before);
        good = true;
    }
    s->e->whole = NULL;
    s->e->ranges = false;
    s->e->carry = NULL;
    *parts = !whole && !s->carry.lost;
    return good;
}

static void add_margin(const pieces *s, int64_t *lo, int64_t *hi)
{
    const int64_t more = post_carry_margin(&s->carry);
    *lo = *lo > more ? *lo - more : 0;
    *hi = s->all - *hi > more ? *hi + more : s->all;
}

/* Moves *lo and *hi by the longest delays. false: *why. */
static bool add_delay(const pieces *s, double back, double ahead, int64_t *lo, int64_t *hi,
                      const char **why)
{
    static const int32_t axis = 0;
    const int32_t plot = (int32_t)s->plot;
    double x0, x1;
    bool rises;
    return !idx_read(s->f->x, plot, &axis, 1, *lo, 1, &x0, why) &&
           !idx_read(s->f->x, plot, &axis, 1, *hi - 1, 1, &x1, why) &&
           !idx_range(s->f->x, plot, x0 - back, x1 + ahead, lo, hi, &rises, why);
}

/* The points, and as many on both sides as functions of the curve need: in whatever order delays
 * and functions of neighbours stand inside each other, each delay may be the longest one, with all
 * neighbours around it. false: *why. */
static bool piece_of(const pieces *s, int64_t from, int64_t to, piece *p, const char **why)
{
    double back, ahead;
    int64_t lo = from, hi = to;
    bool good = true;
    add_margin(s, &lo, &hi);
    for (int n = post_carry_delays(&s->carry, &back, &ahead); n > 0 && good && s->rises; n--) {
        good = add_delay(s, back, ahead, &lo, &hi, why);
        add_margin(s, &lo, &hi);
    }
    *p = (piece){from, to, lo, hi - lo};
    return good;
}

/* Whether a delay needs more than a piece may have, or the axis does not rise. */
static bool is_too_wide(const pieces *s, const piece *p)
{
    double back, ahead;
    return post_carry_delays(&s->carry, &back, &ahead) &&
           (!s->rises || p->n - (p->to - p->from) > WIDEST);
}

/* Reads and computes a piece. *parts false: the value of a part is not that part of the value.
 * false: a message was given, or *why. */
static bool compute(pieces *s, const piece *at, bool *parts, post_val *y, const char **why)
{
    *y = (post_val){0};
    *parts = !is_too_wide(s, at);
    if (!*parts)
        return true;
    post_carry_piece(&s->carry, at->from, at->to, at->lo, at->n);
    return view_load_part(s->f, s->plot, s->place, vec_len(s->place), at->lo, at->n, why) &&
           value_of(s, parts, y);
}

/* -- functions of the whole curve -- */

static void forget(view_known *k)
{
    vs_free(k->expr);
    vec_free(k->site);
    *k = (view_known){0};
}

void view_forget_known(view_file *f)
{
    for (int k = 0; k < VIEW_KNOWN; k++)
        forget(&f->known[k]);
}

/* What an earlier question has found; false: nothing. */
static bool recall(pieces *s)
{
    for (int i = 0; i < VIEW_KNOWN; i++) {
        view_known *k = &s->f->known[i];
        if (!k->expr || k->plot != s->plot || k->all != s->all || strcmp(k->expr, s->q->expr))
            continue;
        s->known = k;
        post_carry_copy(&s->carry, k->site, k->n_site);
        return true;
    }
    return false;
}

/* Keeps the state in front of a piece, if it is the next one. */
static void note(pieces *s, int64_t from)
{
    view_known *k = s->known;
    if (!k || from % PIECE || (size_t)(from / PIECE) * k->n_site != vec_len(k->site))
        return;
    for (size_t i = 0; i < k->n_site; i++)
        vec_push(k->site, s->carry.site[i]);
}

static void begin_notes(pieces *s)
{
    s->known = &s->f->known[s->f->next_known];
    s->f->next_known = (s->f->next_known + 1) % VIEW_KNOWN;
    forget(s->known);
    *s->known = (view_known){.expr = vs_strdup(s->q->expr),
                             .plot = s->plot,
                             .n_site = vec_len(s->carry.site),
                             .all = s->all};
    note(s, 0);
}

/* One pass over all points for what functions of the whole curve find. */
static bool pass(pieces *s, bool *parts, const char **why)
{
    bool good = true;
    for (int64_t at = 0; at < s->all && good && *parts; at += PIECE) {
        post_val y;
        piece p;
        const arena_pos before = arena_mark(s->e->mem);
        good = piece_of(s, at, at + PIECE < s->all ? at + PIECE : s->all, &p, why) &&
               compute(s, &p, parts, &y, why);
        arena_release(s->e->mem, before);
    }
    return good;
}

/* Lets the functions of the whole curve find their values. */
static bool prepare(pieces *s, bool *parts, const char **why)
{
    enum { PROBE = 64 };
    post_val y;
    const piece few = {0, PROBE, 0, PROBE};
    if (s->own || recall(s))
        return true;
    if (!compute(s, &few, parts, &y, why))
        return false;
    bool good = true, again = post_carry_pass(&s->carry, true);
    while (again && good && *parts) {
        good = pass(s, parts, why);
        again = post_carry_pass(&s->carry, false);
    }
    if (good && *parts && vec_len(s->carry.site))
        begin_notes(s);
    return good;
}

/* -- points that are shown -- */

/* The picture's columns that the piece fills. */
static int64_t columns_of(const pieces *s, const double *x, int64_t n)
{
    const double part =
        s->rises ? (x[n - 1] - x[0]) / (s->x1 - s->x0) : (double)n / (double)(s->to - s->from);
    const double c = ceil((double)s->q->columns * part);
    return c >= 1 ? (int64_t)c : 1;
}

static int64_t every_point(int64_t n, int64_t *at)
{
    for (int64_t k = 0; k < n; k++)
        at[k] = k;
    return n;
}

static void keep_points(pieces *s, const piece *p, const post_val *y)
{
    view_thin *t = s->out;
    arena *mem = s->e->mem;
    const int64_t from = p->from > s->from ? p->from : s->from, to = p->to < s->to ? p->to : s->to,
                  n = to - from;
    if (n < 1)
        return;
    const double *x = s->f->set.plot[s->plot]->scale->v + (from - p->lo),
                 *v = y->v + (from - p->lo) * (1 + y->complex);
    int64_t *at = arena_array(mem, int64_t, n + 1);
    double *size = arena_array(mem, double, y->complex ? n + 1 : 1);
    for (int64_t k = 0; k < n && y->complex; k++)
        size[k] = hypot(v[2 * k], v[2 * k + 1]);
    const int64_t kept = s->q->columns
                             ? reduce_points(x, y->complex ? size : v, n, columns_of(s, x, n), at)
                             : every_point(n, at);
    for (int64_t i = 0; i < kept; i++, t->n++) {
        t->x[t->n] = x[at[i]];
        t->y[t->n] = v[y->complex ? 2 * at[i] : at[i]];
        if (y->complex)
            t->im[t->n] = v[2 * at[i] + 1];
    }
}

/* Gives the real parts of the piece's points in sight to the sampler. */
static void feed_samples(pieces *s, const piece *p, const post_val *y)
{
    const int64_t from = p->from > s->from ? p->from : s->from, to = p->to < s->to ? p->to : s->to,
                  n = to - from, w = 1 + y->complex;
    if (n < 1)
        return;
    double *re = arena_array(s->e->mem, double, n);
    for (int64_t k = 0; k < n; k++)
        re[k] = y->v[(from - p->lo + k) * w];
    post_sampler_feed(s->samples, s->f->set.plot[s->plot]->scale->v + (from - p->lo), re, n,
                      to == s->to);
}

/* Makes room for the points of all pieces together. Of all points there are few
 * (view_may_be_whole). */
static void make_room(pieces *s)
{
    const int64_t n_piece = (s->to - s->from + PIECE - 1) / PIECE + 1,
                  most = s->q->columns ? 4 * (s->q->columns + n_piece) + 6 * n_piece + 8
                                       : s->to - s->from + 1;
    s->out->x = arena_array(s->e->mem, double, most);
    s->out->y = arena_array(s->e->mem, double, most);
    s->out->im = arena_array(s->e->mem, double, most);
}

/* An expression that is one number, without an axis. */
static void keep_number(pieces *s, const post_val *y)
{
    view_thin *t = s->out;
    t->n = 1;
    t->single = true;
    t->x[0] = 0;
    t->y[0] = y->v[0];
    t->im[0] = y->complex ? y->v[1] : 0;
}

/* Adds a piece. *parts false: the value of a part is not that part of the value. */
static bool do_piece(pieces *s, const piece *p, bool *parts, const char **why)
{
    post_val y;
    view_thin *t = s->out;
    const arena_pos before = arena_mark(s->e->mem);
    if (!compute(s, p, parts, &y, why))
        return false;
    if (!t->type) {
        t->type = y.type;
        t->complex = y.complex;
    }
    *parts &= (y.n == p->n || (y.n == 1 && !s->samples)) && y.complex == t->complex;
    if (*parts && s->samples)
        feed_samples(s, p, &y);
    else if (*parts && y.n == p->n)
        keep_points(s, p, &y);
    else if (*parts)
        keep_number(s, &y);
    arena_release(s->e->mem, before);
    return true;
}

/* From the points in sight on, or from where running functions know their state. */
static bool do_pieces(pieces *s, bool *parts, const char **why)
{
    int64_t at = s->from;
    bool good = true;
    const bool runs = s->known && post_carry_runs(&s->carry);
    if (runs) {
        const int64_t there = (int64_t)(vec_len(s->known->site) / s->known->n_site) - 1;
        at = at / PIECE < there ? at / PIECE : there;
        post_carry_copy(&s->carry, s->known->site + (size_t)at * s->known->n_site,
                        s->known->n_site);
        at *= PIECE;
    }
    for (; at < s->to && good && *parts && !s->out->single; at += PIECE) {
        int64_t end = at + PIECE < s->all ? at + PIECE : s->all;
        if (!runs)
            end = end < s->to ? end : s->to;
        piece p;
        note(s, at);
        good = piece_of(s, at, end, &p, why) && do_piece(s, &p, parts, why);
    }
    return good;
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

bool view_may_be_whole(diag *d, diag_span at, int64_t n)
{
    if (n > VIEW_WHOLE)
        diag_error(
            d, at,
            "there are %lld points in sight, and at most %d are given one by one: zoom in, or "
            "write all with 'vsim convert'",
            (long long)n, VIEW_WHOLE);
    return n <= VIEW_WHOLE;
}

static pieces begin(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to)
{
    pieces s = {.f = f, .plot = plot, .e = e, .q = q, .out = to, .all = view_n_point(f, plot)};
    post_plot *p = f->set.plot[plot];
    for (size_t k = 0; k < vec_len(p->vec); k++)
        if (!strcmp(p->vec[k]->name, q->expr))
            s.own = p->vec[k];
    *to = (view_thin){0};
    view_forget_plot(f, plot);
    e->set->current = p;
    post_carry_init(&s.carry, s.all);
    return s;
}

static void end(pieces *s)
{
    view_forget_plot(s->f, s->plot);
    post_carry_fini(&s->carry);
    vec_free(s->place);
}

bool view_pieces(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to,
                 bool *thin, const char **why)
{
    pieces s = begin(f, plot, e, q, to);
    *why = "";
    *thin = find_places(&s);
    bool good = !*thin || (find_range(&s, why) &&
                           (q->columns || view_may_be_whole(e->d, e->span, s.to - s.from)) &&
                           prepare(&s, thin, why));
    if (good && *thin) {
        make_room(&s);
        good = do_pieces(&s, thin, why);
    }
    to->part = to->single ? 1 : s.to - s.from;
    end(&s);
    return good;
}

bool view_samples(view_file *f, size_t plot, post_env *e, const view_question *q, post_sampler *to,
                  const char **type, bool *done, const char **why)
{
    enum { NEIGHBOURS = 2 }; /* of a sample's points, which the curve between them depends on */
    view_thin t;
    pieces s = begin(f, plot, e, q, &t);
    s.samples = to;
    *why = "";
    *done = find_places(&s);
    bool good = !*done || (find_range(&s, why) && prepare(&s, done, why));
    if (good && *done) {
        s.from = s.from > NEIGHBOURS ? s.from - NEIGHBOURS : 0;
        s.to = s.all - s.to > NEIGHBOURS ? s.to + NEIGHBOURS : s.all;
        good = do_pieces(&s, done, why);
    }
    *type = t.type;
    end(&s);
    return good;
}
