/* view_pieces.c - expressions over large plots: piece by piece, of which the points that a picture
 * shows are kept. Functions of the whole curve carry on from piece to piece (carry.h); what they
 * found is kept for the next window. Memory is that of a piece, and of the points that delays reach
 * to, WIDEST at most, whatever the points. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "carry.h"
#include "reduce.h"
#include "vec.h"
#include "view_priv.h"

enum {
    PIECE =
        1 << 16, /* points at most; fewer, down to SMALL, of rows that have more bytes together */
    PIECE_BYTES = 1 << 24,
    SMALL = 1 << 12,
    WIDEST = 4 * PIECE, /* that delays may add to a piece */
    MOST_FIRST = 2000   /* columns of a first answer */
};

typedef struct pieces {
    view_file *f;
    size_t plot;
    post_env *e;
    const view_question *q;
    const post_vec *own; /* the vector whose very name was asked for; NULL: an expression */
    size_t *place;       /* vec: vectors that are needed, the axis first */
    int64_t size;        /* points of a piece */
    int64_t all;         /* points there are */
    int64_t from, to;    /* those in sight */
    double x0, x1;       /* their ends */
    bool rises;
    post_carry carry;  /* functions of the whole curve */
    view_known *known; /* what they have found */
    view_thin *out;
    post_sampler *samples; /* NULL: points that are shown are wanted */
    view_progress done;
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

/* What an earlier question has found; NULL: nothing. */
static view_known *known_of(const pieces *s)
{
    for (int i = 0; i < VIEW_KNOWN; i++) {
        view_known *k = &s->f->known[i];
        if (k->expr && k->plot == s->plot && k->all == s->all && !strcmp(k->expr, s->q->expr))
            return k;
    }
    return NULL;
}

static bool recall(pieces *s)
{
    s->known = known_of(s);
    if (s->known)
        post_carry_copy(&s->carry, s->known->site, s->known->n_site);
    return s->known != NULL;
}

/* Keeps the state in front of a piece, if it is the next one. */
static void note(pieces *s, int64_t from)
{
    view_known *k = s->known;
    if (!k || from % s->size || (size_t)(from / s->size) * k->n_site != vec_len(k->site))
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
    const int64_t n_piece = (s->to - s->from + s->size - 1) / s->size + 1,
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

/* -- the order of work -- */

/* From the points in sight on, or from where running functions know their state. */
static void begin_show(pieces *s)
{
    s->done.phase = VIEW_SHOW;
    s->done.at = s->from;
    s->done.runs = s->known && post_carry_runs(&s->carry);
    if (!s->done.runs)
        return;
    const int64_t there = (int64_t)(vec_len(s->known->site) / s->known->n_site) - 1,
                  at = s->from / s->size < there ? s->from / s->size : there;
    post_carry_copy(&s->carry, s->known->site + (size_t)at * s->known->n_site, s->known->n_site);
    s->done.at = at * s->size;
}

/* Behind a pass, or the probe: a pass over all points for what functions of the whole curve find,
 * or the points that are shown. */
static void begin_pass(pieces *s, bool probed)
{
    s->done.phase = VIEW_PASS;
    s->done.at = 0;
    if (post_carry_pass(&s->carry, probed)) {
        s->done.passed = true;
        return;
    }
    if (vec_len(s->carry.site))
        begin_notes(s);
    begin_show(s);
}

/* Evaluates a few points: tells the functions of the whole curve. */
static bool probe(pieces *s, bool *parts, const char **why)
{
    enum { PROBE = 64 };
    post_val y;
    const piece few = {0, PROBE, 0, PROBE};
    if (s->own || recall(s)) {
        begin_show(s);
        return true;
    }
    if (!compute(s, &few, parts, &y, why))
        return false;
    if (*parts)
        begin_pass(s, true);
    return true;
}

static bool pass_piece(pieces *s, bool *parts, const char **why)
{
    post_val y;
    piece p;
    const arena_pos before = arena_mark(s->e->mem);
    const int64_t at = s->done.at, end = at + s->size < s->all ? at + s->size : s->all;
    const bool good = piece_of(s, at, end, &p, why) && compute(s, &p, parts, &y, why);
    arena_release(s->e->mem, before);
    s->done.at = end;
    if (good && *parts && end == s->all)
        begin_pass(s, false);
    return good;
}

static bool show_piece(pieces *s, bool *parts, const char **why)
{
    const int64_t at = s->done.at;
    int64_t end = at + s->size < s->all ? at + s->size : s->all;
    if (!s->done.runs)
        end = end < s->to ? end : s->to;
    piece p;
    note(s, at);
    s->done.at = at + s->size;
    const bool good = piece_of(s, at, end, &p, why) && do_piece(s, &p, parts, why);
    if (s->done.at >= s->to || s->out->single)
        s->done.phase = VIEW_DONE;
    return good;
}

/* Does the next piece of work. *parts false: the value of a part is not that part of the value.
 * false: a message was given, or *why. */
static bool advance(pieces *s, bool *parts, const char **why)
{
    return s->done.phase == VIEW_BEGIN  ? probe(s, parts, why)
           : s->done.phase == VIEW_PASS ? pass_piece(s, parts, why)
                                        : show_piece(s, parts, why);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Works to the end, or, `soon`, for a while: a piece at least. */
static bool work(pieces *s, bool soon, bool *parts, const char **why)
{
    const double end = soon ? seconds() + VIEW_SOON : INFINITY;
    bool good;
    do {
        good = advance(s, parts, why);
    } while (good && *parts && s->done.phase != VIEW_DONE && (!soon || seconds() < end));
    return good;
}

/* The part of the work that is done. */
static double part_done(const pieces *s)
{
    const double all = (double)s->all,
                 shown = (double)(s->done.at - s->from) / (double)(s->to - s->from + 1);
    return s->done.phase == VIEW_DONE    ? 1
           : s->done.phase == VIEW_PASS  ? 0.5 * (double)s->done.at / all
           : s->done.phase == VIEW_BEGIN ? 0
           : s->done.passed              ? 0.5 + 0.5 * fmax(0, shown)
                                         : fmax(0, shown);
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

/* Points of a piece: as many for each question about a plot. */
static int64_t size_of(const view_file *f, size_t plot)
{
    const idx_plot *p = idx_plot_of(f->x, (int32_t)plot);
    const int64_t row = (int64_t)p->n_vec * (1 + p->complex) * (int64_t)sizeof(double);
    int64_t n = PIECE;
    while (n > SMALL && n * row > PIECE_BYTES)
        n /= 2;
    return n;
}

static pieces begin(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to)
{
    pieces s = {.f = f, .plot = plot, .e = e, .q = q, .out = to, .all = view_n_point(f, plot)};
    post_plot *p = f->set.plot[plot];
    s.size = size_of(f, plot);
    for (size_t k = 0; k < vec_len(p->vec); k++)
        if (!strcmp(p->vec[k]->name, q->expr))
            s.own = p->vec[k];
    *to = (view_thin){.done = 1};
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

/* -- the first answer of several -- */

/* Reads one point of each column. */
static bool read_columns(pieces *s, int64_t *n, const char **why)
{
    const bool pairs = idx_plot_of(s->f->x, (int32_t)s->plot)->complex;
    const int32_t w = 1 + pairs, n_col = w * (int32_t)vec_len(s->place);
    const int64_t columns = s->q->columns < MOST_FIRST ? s->q->columns : MOST_FIRST;
    const idx_window window = {
        .lo = s->q->x0, .hi = s->q->x1, .width = (int32_t)columns, .quick = true};
    int32_t *col = arena_array(s->e->mem, int32_t, n_col);
    idx_view v;
    for (int32_t k = 0; k < n_col; k++)
        col[k] = w * (int32_t)s->place[k / w] + k % w;
    if (idx_look(s->f->x, (int32_t)s->plot, &window, col, n_col, &v, why)) {
        idx_view_fini(&v);
        return false;
    }
    double *all = arena_array(s->e->mem, double, v.n *n_col + 1);
    for (int32_t k = 0; k < n_col; k++)
        for (int64_t i = 0; i < v.n; i++)
            all[k * v.n + i] = v.y[(i * n_col + k) * 4];
    view_set_part(s->f, s->plot, s->place, vec_len(s->place), all, v.n);
    *n = v.n;
    idx_view_fini(&v);
    return true;
}

/* One value of the curve for each column of the picture, where each value depends on the values of
 * its point alone; else none. */
static bool sketch(pieces *s, const char **why)
{
    view_thin *t = s->out;
    post_val y;
    bool parts;
    int64_t n = 0;
    if (!read_columns(s, &n, why))
        return false;
    post_carry_piece(&s->carry, 0, n, 0, n);
    if (!value_of(s, &parts, &y))
        return false;
    const bool points = parts && !vec_len(s->carry.site) && y.n == n && n > 0;
    const double *x = s->f->set.plot[s->plot]->scale->v;
    t->type = y.type ? y.type : "notype";
    t->complex = points && y.complex;
    t->x = arena_array(s->e->mem, double, n + 1);
    t->y = arena_array(s->e->mem, double, n + 1);
    t->im = arena_array(s->e->mem, double, n + 1);
    for (int64_t k = 0; k < n && points; k++, t->n++) {
        t->x[k] = x[k];
        t->y[k] = y.v[y.complex ? 2 * k : k];
        t->im[k] = y.complex ? y.v[2 * k + 1] : 0;
    }
    return true;
}

/* Goes on with a question where the last answer ended, or begins it. The first answer about more
 * than a piece is a sketch. */
static bool go_on(pieces *s, bool *parts, const char **why)
{
    view_job *j = view_job_of(s->f, s->plot, s->all, s->q);
    if (!j) {
        j = view_job_new(s->f, s->plot, s->all, s->q);
        if (s->to - s->from > s->size) {
            s->out->done = 0;
            return sketch(s, why);
        }
    }
    make_room(s);
    view_job_take(j, &s->done, &s->carry, s->out);
    if (s->done.phase != VIEW_BEGIN)
        s->known = known_of(s);
    const bool good = work(s, true, parts, why);
    s->out->done = part_done(s);
    if (!good || !*parts || s->done.phase == VIEW_DONE) {
        view_job_end(j);
        s->out->done = 1;
        return good;
    }
    view_job_keep(j, &s->done, &s->carry, s->out);
    s->out->n = 0;
    s->out->type = s->out->type ? s->out->type : "notype";
    return true;
}

bool view_pieces(view_file *f, size_t plot, post_env *e, const view_question *q, view_thin *to,
                 bool *thin, const char **why)
{
    pieces s = begin(f, plot, e, q, to);
    *why = "";
    *thin = find_places(&s);
    bool good = !*thin || (find_range(&s, why) &&
                           (q->columns || view_may_be_whole(e->d, e->span, s.to - s.from)));
    if (good && *thin && q->soon && q->columns > 0) {
        good = go_on(&s, thin, why);
    } else if (good && *thin) {
        make_room(&s);
        good = work(&s, false, thin, why);
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
    bool good = !*done || find_range(&s, why);
    if (good && *done) {
        s.from = s.from > NEIGHBOURS ? s.from - NEIGHBOURS : 0;
        s.to = s.all - s.to > NEIGHBOURS ? s.to + NEIGHBOURS : s.all;
        good = work(&s, false, done, why);
    }
    *type = t.type;
    end(&s);
    return good;
}
