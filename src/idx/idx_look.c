/* idx_look.c - windows and cursors: the cells of an index that a picture of some pixels needs, and
 * values where cells are wider than a pixel.
 * The axis alone decides which cells these are, so all columns of a window have the same ones. A
 * cell that is no wider than a pixel is taken as it is; else those of the level below are asked,
 * and below the lowest the points themselves. So no more points are read than IDX_BLOCK for a
 * pixel; of a quick look, which takes rounded cells too, a quarter of these. */
#include <math.h>
#include <string.h>

#include "idx_priv.h"
#include "vec.h"

enum { RAW_AT_ONCE = 8192 };
static const char damaged[] = "";
static const char cut_off[] = "ends earlier than it did";

/* State of the present window. */
typedef struct look {
    idx *x;
    const idx_part *p;
    const int32_t *col; /* [n_col] */
    int32_t n_col;
    int64_t a, b; /* points [a, b) */
    double pixel; /* its width on the axis, in logarithms if the window is logarithmic */
    bool log;
    bool single;              /* each cell is a single point */
    double lo, hi;            /* least and greatest value of the axis in the last cell */
    int64_t raw_from, raw_to; /* points to read, which take part one by one */
    idx_record *rec;          /* [1 + n_col] of the chunk: the axis, then the columns */
    int lowest;               /* the level below which points are read */
    idx_cell *cell;           /* [1 + n_col] of the present cell */
    unsigned char
        *have; /* [1 + n_col][2] bit k: section k of the lowest level, of the rounded cells */
    idx_view *v;
    const char *why; /* NULL: all is well; `damaged`: the index is damaged */
} look;

static double place(const look *l, double x) { return l->log ? log(x) : x; }

/* Is a run of points whose axis is in [lo, hi] no wider than a pixel? */
static bool fits(const look *l, double lo, double hi)
{
    return !l->single && (lo > hi || place(l, hi) - place(l, lo) <= l->pixel);
}

/* c[0] is the axis, c[1 + i] column i. */
static void emit(look *l, int64_t from, int64_t count, const idx_cell *c)
{
    idx_view *v = l->v;
    const double lo = v->n ? fmin(l->lo, c->lo) : c->lo, hi = v->n ? fmax(l->hi, c->hi) : c->hi;
    if (v->n && fits(l, lo, hi)) {
        double *y = v->y + (v->n - 1) * 4 * l->n_col;
        v->count[v->n - 1] += count;
        v->x[2 * v->n - 1] = c->last;
        for (int32_t i = 0; i < l->n_col; i++, y += 4) {
            idx_cell t = {y[0], y[1], y[2], y[3]};
            idx_cell_join(&t, &c[1 + i]);
            memcpy(y, &t, sizeof t);
        }
        l->lo = lo;
        l->hi = hi;
        return;
    }
    v->n++;
    vec_push(v->from, from);
    vec_push(v->count, count);
    vec_push(v->x, c->first);
    vec_push(v->x, c->last);
    for (int32_t i = 0; i < l->n_col; i++) {
        vec_push(v->y, c[1 + i].first);
        vec_push(v->y, c[1 + i].lo);
        vec_push(v->y, c[1 + i].hi);
        vec_push(v->y, c[1 + i].last);
    }
    l->lo = c->lo;
    l->hi = c->hi;
}

static idx_cell point(double y)
{
    const bool finite = isfinite(y);
    return (idx_cell){y, finite ? y : INFINITY, finite ? y : -INFINITY, y};
}

/* Reads the points that wait and adds them one by one. */
static void emit_points(look *l)
{
    const int32_t n_col = l->n_col;
    int64_t from = l->raw_from > l->a ? l->raw_from : l->a;
    const int64_t to = l->raw_to < l->b ? l->raw_to : l->b;
    l->raw_from = l->raw_to = -1;
    if (from >= to)
        return;
    int32_t *col = vs_calloc((size_t)n_col + 1, sizeof *col);
    idx_cell *c = vs_calloc((size_t)n_col + 1, sizeof *c);
    const int64_t step = to - from < RAW_AT_ONCE ? to - from : RAW_AT_ONCE;
    double *v = vs_malloc((size_t)(step * (n_col + 1)) * sizeof *v);
    memcpy(col + 1, l->col, (size_t)n_col * sizeof *col);
    for (; from < to && !l->why; from += step) {
        const int64_t n = to - from < step ? to - from : step;
        if (!idx_values(l->x, l->p, col, n_col + 1, from, n, v))
            l->why = cut_off;
        for (int64_t k = 0; k < n && !l->why; k++) {
            for (int32_t i = 0; i <= n_col; i++)
                c[i] = point(v[i * n + k]);
            if (!l->p->p.axis)
                c[0] = point((double)(from + k));
            emit(l, from + k, 1, c);
        }
    }
    vs_free(v);
    vs_free(c);
    vs_free(col);
}

static void add_raw(look *l, int64_t from, int64_t to)
{
    if (l->raw_to != from) {
        emit_points(l);
        l->raw_from = from;
    }
    l->raw_to = to;
    if (l->raw_to - l->raw_from >= RAW_AT_ONCE)
        emit_points(l);
}

/* -- chunks -- */

/* The levels of a record: where their cells begin, how many a chunk has, and how many of the next
 * level are in one. */
static const struct {
    int32_t at; /* its first cell in `upper`; BASE and FINE have arrays of their own */
    int64_t n_cell;
    int64_t fan;
} level[] = {{0, 1, IDX_FAN},
             {1, IDX_FAN, IDX_FAN},
             {1 + IDX_FAN, IDX_FAN *IDX_FAN, IDX_BASE_FAN},
             {0, IDX_BASE, IDX_FINE},
             {0, IDX_BASE *IDX_FINE, 0}};
enum { BASE = 3, FINE = 4 };

static int64_t points_in(const look *l, int lev) { return idx_chunk(l->p) / level[lev].n_cell; }

/* Tells the system that this level of the chunk comes next, and that of the chunk behind it
 * probably, so that the disk serves many at once. */
static void ask_for(const look *l, int64_t chunk, idx_level of)
{
    const int64_t most = idx_chunk(l->p);
    const int64_t end = l->b < l->p->n_indexed ? l->b : l->p->n_indexed;
    for (int64_t c = chunk; c < chunk + 2 && c * most < end; c++)
        for (int k = 0; k <= l->n_col; k++)
            idx_record_ask(l->x, l->p, c, k ? l->col[k - 1] : 0, of);
}

/* Reads the section that has cell i of the lowest level or of the rounded cells, and those behind
 * it as far as the window goes, unless they are there. */
static bool need(look *l, int64_t chunk, int k, int lev, int64_t i)
{
    const idx_level of = lev == FINE ? IDX_AT_FINE : IDX_AT_BASE;
    unsigned char *have = &l->have[2 * k + (lev == FINE)];
    const int64_t each = level[lev].n_cell / IDX_FAN, begin = chunk * idx_chunk(l->p),
                  last = (l->b < begin + l->rec[0].n ? l->b : begin + l->rec[0].n) - 1 - begin;
    const int section = (int)(i / each), end = (int)(last / points_in(l, lev) / each) + 1;
    if (*have >> section & 1)
        return true;
    if (!k && !*have)
        ask_for(l, chunk, of);
    if (!idx_record_sections(l->x, l->p, chunk, k ? l->col[k - 1] : 0, of, section, end,
                             &l->rec[k])) {
        l->why = damaged;
        return false;
    }
    *have |= (unsigned char)((1U << end) - (1U << section));
    return true;
}

/* Cell i of a level, of the axis (0) or of a column. A plot without an axis counts its points. */
static bool cell_of(look *l, int64_t chunk, int k, int lev, int64_t i, idx_cell *c)
{
    idx_record *r = &l->rec[k];
    if ((lev == FINE && !need(l, chunk, k, BASE, i / IDX_FINE)) ||
        (lev >= BASE && !need(l, chunk, k, lev, i)))
        return false;
    *c = lev == FINE   ? idx_unround(&r->base[i / IDX_FINE], &r->fine[i])
         : lev == BASE ? r->base[i]
                       : r->upper[level[lev].at + i];
    if (!k && !l->p->p.axis) {
        const int64_t n = points_in(l, lev);
        const int64_t from = chunk * idx_chunk(l->p) + i * n;
        const int64_t end = chunk * idx_chunk(l->p) + r->n, to = from + n;
        c->first = c->lo = (double)from;
        c->last = c->hi = (double)((to < end ? to : end) - 1);
    }
    return true;
}

static void take_cell(look *l, int64_t chunk, int lev, int64_t i, int64_t from, int64_t n)
{
    bool ok = true;
    emit_points(l);
    for (int k = 0; k <= l->n_col && ok; k++)
        ok = cell_of(l, chunk, k, lev, i, &l->cell[k]);
    if (ok && !l->why)
        emit(l, from, n, l->cell);
}

static void walk(look *l, int64_t chunk, int lev, int64_t i)
{
    const int64_t n = points_in(l, lev);
    const int64_t from = chunk * idx_chunk(l->p) + i * n;
    const int64_t end = chunk * idx_chunk(l->p) + l->rec[0].n;
    const int64_t to = from + n < end ? from + n : end;
    idx_cell axis;
    if (l->why || from >= to || to <= l->a || from >= l->b || !cell_of(l, chunk, 0, lev, i, &axis))
        return;
    if (fits(l, axis.lo, axis.hi))
        take_cell(l, chunk, lev, i, from, to - from);
    else if (lev == l->lowest || (lev == BASE && (from < l->a || to > l->b)))
        add_raw(l, from, to); /* the extremes of a part of a cell are not exact in rounded ones */
    else
        for (int64_t k = 0; k < level[lev].fan; k++)
            walk(l, chunk, lev + 1, i * level[lev].fan + k);
}

static void walk_chunk(look *l, int64_t chunk)
{
    bool ok = true;
    for (int k = 0; k <= l->n_col && ok; k++) {
        l->have[2 * k] = l->have[2 * k + 1] = 0;
        ok = idx_record_upper(l->x, l->p, chunk, k ? l->col[k - 1] : 0, &l->rec[k]);
    }
    if (ok)
        walk(l, chunk, 0, 0);
    else
        l->why = damaged;
}

/* Tells the system which upper levels come next, so that the disk serves many at once. */
static void ask_for_uppers(const look *l, int64_t end)
{
    const int64_t most = idx_chunk(l->p);
    for (int64_t c = l->a / most; c * most < end; c++)
        for (int k = 0; k <= l->n_col && end - l->a > most; k++)
            idx_record_ask(l->x, l->p, c, k ? l->col[k - 1] : 0, IDX_AT_UPPER);
}

static void walk_all(look *l)
{
    const int64_t indexed = l->single ? 0 : l->p->n_indexed;
    l->raw_from = l->raw_to = -1;
    l->rec = vs_malloc((size_t)(l->n_col + 1) * sizeof *l->rec);
    l->have = vs_calloc(2 * (size_t)l->n_col + 2, sizeof *l->have);
    l->cell = vs_calloc((size_t)l->n_col + 1, sizeof *l->cell);
    const int64_t most = idx_chunk(l->p);
    ask_for_uppers(l, indexed < l->b ? indexed : l->b);
    for (int64_t c = l->a / most; c * most < l->b && c * most < indexed && !l->why; c++)
        walk_chunk(l, c);
    if (indexed < l->b && !l->why)
        add_raw(l, l->a > indexed ? l->a : indexed, l->b);
    if (!l->why)
        emit_points(l);
    vs_free(l->cell);
    vs_free(l->have);
    vs_free(l->rec);
}

/* -- the axis -- */

static bool axis_at(const idx *x, const idx_part *p, int64_t k, double *v)
{
    static const int32_t col = 0;
    *v = (double)k;
    return !p->p.axis || idx_values(x, p, &col, 1, k, 1, v);
}

/* Looks at points of the axis that are not indexed. */
static const char *rise_raw(const idx *x, idx_part *p, int64_t to)
{
    static const int32_t col = 0;
    double *v = vs_malloc(RAW_AT_ONCE * sizeof *v);
    const char *why = NULL;
    while (p->n_rises < to && p->rises && !why) {
        const int64_t left = to - p->n_rises, n = left < RAW_AT_ONCE ? left : (int64_t)RAW_AT_ONCE;
        if (!idx_values(x, p, &col, 1, p->n_rises, n, v)) {
            why = cut_off;
            break;
        }
        for (int64_t i = 0; i < n; i++) {
            p->rises &= v[i] == v[i] && (!(p->n_rises + i) || v[i] >= p->last_x);
            if ((p->n_rises + i) % idx_chunk(p) == 0)
                vec_push(p->begin, v[i]);
            p->last_x = v[i];
        }
        p->n_rises += n;
    }
    vs_free(v);
    return why;
}

/* Does the axis rise, as far as the file goes? */
static const char *look_at_axis(const idx *x, idx_part *p)
{
    const char *why = NULL;
    idx_record *r = vs_malloc(sizeof *r);
    for (int64_t at = p->n_rises; p->p.axis && p->rises && at < p->n_indexed; at += idx_chunk(p))
        idx_record_ask(x, p, at / idx_chunk(p), 0, IDX_AT_UPPER);
    while (p->p.axis && p->rises && p->n_rises < p->p.n_point && !why) {
        const int64_t chunk = p->n_rises / idx_chunk(p), from = chunk * idx_chunk(p),
                      end = from + idx_chunk(p);
        if (p->n_rises != from || from >= p->n_indexed) {
            why = rise_raw(x, p, end < p->p.n_point ? end : p->p.n_point);
        } else if (!idx_record_upper(x, p, chunk, 0, r)) {
            why = damaged;
        } else {
            p->rises = r->rises && (!from || r->upper[0].first >= p->last_x);
            vec_push(p->begin, r->upper[0].first);
            p->last_x = r->upper[0].last;
            p->n_rises += r->n;
        }
    }
    vs_free(r);
    return why;
}

/* Where the first point is whose axis is at or (above) beyond v: not in front of lo, at most at hi.
 */
typedef struct search {
    double v;
    bool above;
    int64_t lo, hi;
} search;

static bool is_before(const search *s, double at) { return at < s->v || (s->above && at == s->v); }

/* Looks at n values of the axis, `stride` apart: of points from, from + step, ... */
static void narrow(search *s, const double *at, int64_t n, int64_t stride, int64_t from,
                   int64_t step)
{
    int64_t lo = 0, hi = n;
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        *(is_before(s, at[mid * stride]) ? &lo : &hi) = mid + is_before(s, at[mid * stride]);
    }
    const int64_t first = lo ? from + (lo - 1) * step + 1 : s->lo, end = from + lo * step;
    s->lo = first > s->lo ? first : s->lo;
    s->hi = lo < n && end < s->hi ? end : s->hi;
}

/* Asks the index of the chunk with s->lo, which it has: two reads. */
static const char *narrow_chunk(const idx *x, const idx_part *p, search *s)
{
    enum { STRIDE = sizeof(idx_cell) / sizeof(double) };
    const int64_t chunk = s->lo / idx_chunk(p), begin = chunk * idx_chunk(p),
                  wide = idx_chunk(p) / level[BASE - 1].n_cell, block = idx_block(p);
    idx_record *r = vs_malloc(sizeof *r);
    bool ok = idx_record_upper(x, p, chunk, 0, r);
    if (ok) {
        narrow(s, &r->upper[level[BASE - 1].at].first, (r->n + wide - 1) / wide, STRIDE, begin,
               wide);
        /* s->lo stands behind the first point of a cell */
        const int64_t cell = (s->lo - begin) / wide, left = r->n - cell * wide,
                      n = left < wide ? left : wide;
        const int section = (int)(cell * IDX_BASE_FAN / IDX_SECTION);
        ok = idx_record_sections(x, p, chunk, 0, IDX_AT_BASE, section, section + 1, r);
        if (ok && n > 0)
            narrow(s, &r->base[cell * IDX_BASE_FAN].first, (n + block - 1) / block, STRIDE,
                   begin + cell * wide, block);
    }
    vs_free(r);
    return ok ? NULL : damaged;
}

/* The first point whose axis is at or (above) beyond v; all of them rise. */
static const char *find(const idx *x, const idx_part *p, double v, bool above, int64_t *k)
{
    search s = {v, above, 0, p->p.n_point};
    narrow(&s, p->begin, (int64_t)vec_len(p->begin), 1, 0, idx_chunk(p));
    const char *why = s.lo && s.lo / idx_chunk(p) * idx_chunk(p) < p->n_indexed && s.lo < s.hi
                          ? narrow_chunk(x, p, &s)
                          : NULL;
    while (s.lo < s.hi && !why) {
        const int64_t mid = s.lo + (s.hi - s.lo) / 2;
        double m;
        if (s.hi - s.lo <= IDX_BLOCK && p->p.axis) {
            static const int32_t axis = 0;
            double all[IDX_BLOCK];
            const int64_t from = s.lo, n = s.hi - s.lo;
            if (!idx_values(x, p, &axis, 1, from, n, all))
                return cut_off;
            narrow(&s, all, n, 1, from, 1);
            break;
        }
        if (!axis_at(x, p, mid, &m))
            return cut_off;
        *(is_before(&s, m) ? &s.lo : &s.hi) = mid + is_before(&s, m);
    }
    *k = s.lo;
    return why;
}

/* Like find, but drops an index that turns out to be damaged. */
static const char *find_anyway(idx *x, const idx_part *p, double v, bool above, int64_t *k)
{
    const char *why = find(x, p, v, above, k);
    if (why == damaged) {
        idx_store_drop(x);
        why = find(x, p, v, above, k);
    }
    return why;
}

/* The least and the greatest value of an axis that goes to and fro. */
static const char *span(const idx *x, const idx_part *p, double *lo, double *hi)
{
    static const int32_t col = 0;
    const char *why = NULL;
    idx_record *r = vs_malloc(sizeof *r);
    double *v = vs_malloc(RAW_AT_ONCE * sizeof *v);
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int64_t c = 0; c * idx_chunk(p) < p->n_indexed && !why; c++) {
        if (!idx_record_upper(x, p, c, 0, r))
            why = damaged;
        *lo = fmin(*lo, r->upper[0].lo);
        *hi = fmax(*hi, r->upper[0].hi);
    }
    for (int64_t at = p->n_indexed; at < p->p.n_point && !why; at += RAW_AT_ONCE) {
        const int64_t left = p->p.n_point - at, n = left < RAW_AT_ONCE ? left : RAW_AT_ONCE;
        if (!idx_values(x, p, &col, 1, at, n, v))
            why = cut_off;
        for (int64_t i = 0; i < n && !why; i++)
            if (isfinite(v[i])) {
                *lo = fmin(*lo, v[i]);
                *hi = fmax(*hi, v[i]);
            }
    }
    vs_free(v);
    vs_free(r);
    return why;
}

/* Points [a, b) of the window, one more on each side, and the width of a pixel. */
static const char *set_range(look *l, const idx_window *w)
{
    const idx_part *p = l->p;
    const char *why = NULL;
    double lo = w->lo, hi = w->hi, first = 0, last = 0;
    l->a = 0;
    l->b = p->p.n_point;
    if (!l->b)
        return NULL;
    if (!p->rises)
        why = span(l->x, p, &first, &last);
    else if (!axis_at(l->x, p, 0, &first) || !axis_at(l->x, p, l->b - 1, &last))
        why = cut_off;
    if (why)
        return why;
    if (p->rises && lo == lo && !(why = find(l->x, p, lo, false, &l->a)))
        l->a -= l->a > 0;
    if (p->rises && hi == hi && !why && !(why = find(l->x, p, hi, true, &l->b)))
        l->b += l->b < p->p.n_point;
    lo = lo == lo ? lo : first;
    hi = hi == hi ? hi : last;
    l->log = w->log && lo > 0 && hi > 0;
    l->pixel = fabs(place(l, hi) - place(l, lo)) / (w->width > 0 ? w->width : 1);
    l->single = l->b - l->a <= 2 * (int64_t)w->width;
    l->lowest = w->quick && idx_has_fine(p) ? FINE : BASE;
    return why;
}

/* -- calls -- */

static const char *look_once(look *l, const idx_window *w)
{
    double done;
    const char *why;
    if (idx_build(l->x, INT64_MAX, &done, &why))
        return why;
    if ((why = look_at_axis(l->x, (idx_part *)l->p)) || (why = set_range(l, w)))
        return why;
    walk_all(l);
    return l->why;
}

void idx_view_fini(idx_view *v)
{
    vec_free(v->from);
    vec_free(v->count);
    vec_free(v->x);
    vec_free(v->y);
    *v = (idx_view){0};
}

vs_status idx_look(idx *x, int32_t plot, const idx_window *w, const int32_t *col, int32_t n_col,
                   idx_view *v, const char **why)
{
    *v = (idx_view){.n_col = n_col};
    *why = NULL;
    for (int tries = 0; tries < 2; tries++) {
        look l = {.x = x, .p = &x->part[plot], .col = col, .n_col = n_col, .v = v};
        *why = look_once(&l, w);
        if (*why != damaged)
            break;
        idx_store_drop(x); /* so that it is made again */
        idx_view_fini(v);
        v->n_col = n_col;
        *why = "has an index that is damaged again and again";
    }
    return *why ? VS_EIO : VS_OK;
}

/* idx_at on an axis that goes to and fro. */
static const char *nearest(const idx *x, const idx_part *p, double at, int64_t *k)
{
    static const int32_t col = 0;
    double *v = vs_malloc(RAW_AT_ONCE * sizeof *v), best = INFINITY;
    const char *why = NULL;
    *k = 0;
    for (int64_t from = 0; from < p->p.n_point && !why; from += RAW_AT_ONCE) {
        const int64_t left = p->p.n_point - from, n = left < RAW_AT_ONCE ? left : RAW_AT_ONCE;
        if (!idx_values(x, p, &col, 1, from, n, v))
            why = cut_off;
        for (int64_t i = 0; i < n && !why; i++)
            if (fabs(v[i] - at) < best) {
                best = fabs(v[i] - at);
                *k = from + i;
            }
    }
    vs_free(v);
    return why;
}

/* Like look_at_axis, but drops an index that turns out to be damaged. */
static const char *know_axis(idx *x, idx_part *p)
{
    const char *why = look_at_axis(x, p);
    if (why == damaged) {
        idx_store_drop(x);
        why = look_at_axis(x, p);
    }
    return why;
}

vs_status idx_range(idx *x, int32_t plot, double lo, double hi, int64_t *from, int64_t *to,
                    bool *rises, const char **why)
{
    idx_part *p = &x->part[plot];
    const int64_t n = p->p.n_point;
    *from = 0;
    *to = n;
    *why = know_axis(x, p);
    *rises = p->p.axis && p->rises;
    if (!*why && *rises && !isnan(lo))
        *why = find_anyway(x, p, lo, false, from);
    if (!*why && *rises && !isnan(hi))
        *why = find_anyway(x, p, hi, true, to);
    *from -= *from > 0;
    *to += *to < n;
    *to = *to < *from ? *from : *to;
    return *why ? VS_EIO : VS_OK;
}

vs_status idx_at(idx *x, int32_t plot, double at, const int32_t *col, int32_t n_col, int64_t *k,
                 double axis[2], double *out, const char **why)
{
    idx_part *p = &x->part[plot];
    const int64_t n = p->p.n_point;
    *why = "has no points there";
    *k = 0;
    if (!n)
        return VS_EINPUT;
    *why = know_axis(x, p);
    if (!*why)
        *why = p->rises ? find_anyway(x, p, at, true, k) : nearest(x, p, at, k);
    if (*why)
        return VS_EIO;
    *k -= p->rises && *k > 0;
    const int64_t next = *k + (p->rises && *k + 1 < n);
    *why = cut_off;
    for (int side = 0; side < 2; side++) {
        const int64_t here = side ? next : *k;
        bool ok = axis_at(x, p, here, &axis[side]);
        for (int32_t i = 0; i < n_col && ok; i++)
            ok = idx_values(x, p, &col[i], 1, here, 1, &out[2 * i + side]);
        if (!ok)
            return VS_EIO;
    }
    *why = NULL;
    return VS_OK;
}
