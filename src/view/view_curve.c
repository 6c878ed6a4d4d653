/* view_curve.c - curves, measures and spectra of expressions, as the page asks for them. */
#include <math.h>
#include <string.h>

#include "eye.h"
#include "fig.h"
#include "page.h"
#include "reduce.h"
#include "spectrum.h"
#include "stream.h"
#include "vec.h"
#include "view_priv.h"

/* State of the present answer. */
typedef struct work {
    view *v;
    const view_group *g;
    view_file *f;
    diag d;
    arena mem;
    post_env e;
    diag_span whole; /* of the expression */
    FILE *out;
} work;

static bool begin(work *w, view *v, int64_t group, const char *expr, FILE *out)
{
    *w = (work){.v = v, .out = out};
    diag_init(&w->d);
    arena_init(&w->mem);
    if (group < 0 || (size_t)group >= vec_len(v->group)) {
        diag_error(&w->d, DIAG_NOWHERE, "there is no such plot any more");
        return false;
    }
    w->g = &v->group[group];
    w->f = &v->file[w->g->file];
    view_forget_values(w->f);
    const int32_t file = diag_add_file(&w->d, "expression", expr, strlen(expr), DIAG_NOWHERE);
    w->whole = (diag_span){file, 0, (uint32_t)strlen(expr)};
    w->e = (post_env){.set = &w->f->set,
                      .d = &w->d,
                      .span = w->whole,
                      .line = diag_text(&w->d, file),
                      .line_at = w->whole,
                      .mem = &w->mem};
    return true;
}

/* Answers with the first message and the part of the expression that it is about. true: there is no
 * message. */
static bool end(work *w)
{
    const bool good = !w->d.n_error;
    if (!good) {
        const diag_msg *m = w->d.msg;
        fputs("{\"error\":", w->out);
        page_string(w->out, m->text);
        fprintf(w->out, ",\"from\":%u,\"length\":%u", m->span.off, m->span.len);
        fputs(",\"note\":", w->out);
        page_string(w->out, vec_len(w->d.msg) > 1 && m[1].level == DIAG_NOTE ? m[1].text : "");
        fputs("}", w->out);
    }
    arena_fini(&w->mem);
    diag_fini(&w->d);
    return good;
}

/* Writes the head of an answer: its length, its text, blanks up to a multiple of 8. */
static void put_head(FILE *out, const char *text, size_t n)
{
    const uint32_t size = (uint32_t)((n + 4 + 7) / 8 * 8 - 4);
    const unsigned char b[4] = {(unsigned char)size, (unsigned char)(size >> 8),
                                (unsigned char)(size >> 16), (unsigned char)(size >> 24)};
    fwrite(b, 1, 4, out);
    fwrite(text, 1, n, out);
    for (size_t k = n; k < size; k++)
        fputc(' ', out);
}

static bool fail(work *w, const char *why)
{
    diag_error(&w->d, DIAG_NOWHERE, "'%s' %s", w->f->path, why);
    return false;
}

static post_vec *vector_of(const post_plot *p, const char *name)
{
    for (size_t k = 0; k < vec_len(p->vec); k++)
        if (!strcmp(p->vec[k]->name, name))
            return p->vec[k];
    return NULL;
}

/* Whether an expression that needs all points at once has more of them than memory is meant for.
 * true: a message was given. */
static bool is_too_large(work *w, size_t plot, const char *text)
{
    enum { MOST = 1 << 30, EACH = 2 * sizeof(double), OPERATIONS = 3 };
    const char **list = NULL;
    str_pool names;
    if (!w->f->x)
        return false;
    str_pool_init(&names);
    post_names(&names, text, &list);
    const int64_t n = view_n_point(w->f, plot),
                  bytes = EACH * n * (int64_t)(vec_len(list) + OPERATIONS);
    vec_free(list);
    str_pool_fini(&names);
    if (bytes > MOST)
        diag_error(&w->d, w->whole,
                   "the expression needs all %lld points at once, which takes %lld MB; it may take "
                   "%d MB",
                   (long long)n, (long long)(bytes >> 20), MOST >> 20);
    return bytes > MOST;
}

/* Evaluates the text: as the vector that has this very name, else as an expression. (Names may have
 * any letters.) */
static bool value_of(work *w, size_t plot, const char *text, post_val *v)
{
    const char *why = "";
    post_plot *p = w->f->set.plot[plot];
    post_vec *x = vector_of(p, text);
    w->e.set->current = p;
    if (!x && is_too_large(w, plot, text))
        return false;
    if (!x)
        return view_need_all(w->f, plot, text, &why) ? post_eval(&w->e, text, v) : fail(w, why);
    if (!view_need(w->f, plot, x, &why) || (p->scale && !view_need(w->f, plot, p->scale, &why)))
        return fail(w, why);
    *v = (post_val){
        .complex = x->complex, .n = x->n, .v = x->v, .plot = p, .type = x->type, .name = x->name};
    return true;
}

/* The real part of a value; a real value's own numbers, not copied. */
static const double *real_of(arena *mem, const double *v, bool complex, int64_t n)
{
    if (!complex)
        return v;
    double *re = arena_array(mem, double, n + 1);
    for (int64_t k = 0; k < n; k++)
        re[k] = v[2 * k];
    return re;
}

/* -- curves -- */

typedef struct curve {
    post_val y;      /* of a curve that the index gave: its type alone */
    const double *x; /* [n] */
    int64_t n;       /* points there are */
    double x0, x1;   /* the ends of the axis */
    double *px, *py; /* [n_at] what is drawn, or, */
    double *pim;     /* its imaginary part; NULL: 0 */
    int64_t *at;     /* if they are NULL, [n_at] which points */
    int64_t n_at;
    int64_t part; /* points in sight */
    double done;  /* as in view_thin */
    const char *axis, *axis_type;
    size_t member;
} curve;

static void index_axis(work *w, curve *c)
{
    double *x = arena_array(&w->mem, double, c->n + 1);
    for (int64_t k = 0; k < c->n; k++)
        x[k] = (double)k;
    c->x = x;
    c->axis = "index";
    c->axis_type = "notype";
}

/* false: a message was given. */
static bool find_axis(work *w, const view_question *q, size_t plot, curve *c)
{
    post_val over;
    const post_vec *a = post_axis(&c->y);
    c->n = c->y.n;
    if (q->over) {
        const char *line = w->e.line;
        w->e.line = NULL; /* messages point to the whole expression */
        const bool good = value_of(w, plot, q->over, &over);
        w->e.line = line;
        if (!good)
            return false;
        c->n = over.n < c->n ? over.n : c->n;
        c->x = real_of(&w->mem, over.v, over.complex, over.n);
        c->axis = q->over;
        c->axis_type = over.type;
    } else if (a) {
        c->x = real_of(&w->mem, a->v, a->complex, a->n);
        c->axis = a->name;
        c->axis_type = a->type;
    } else {
        index_axis(w, c);
    }
    return true;
}

/* false: a message was given. */
static bool choose_points(work *w, const view_question *q, curve *c)
{
    int64_t from = 0, to = c->n;
    if (!q->over)
        reduce_part(c->x, c->n, q->x0, q->x1, &from, &to);
    const int64_t n = to - from;
    c->part = n;
    if (!q->columns && !view_may_be_whole(&w->d, w->whole, n))
        return false;
    double *size = NULL;
    if (c->y.complex) {
        size = arena_array(&w->mem, double, n + 1);
        for (int64_t k = 0; k < n; k++)
            size[k] = hypot(c->y.v[2 * (from + k)], c->y.v[2 * (from + k) + 1]);
    }
    c->x0 = c->n ? c->x[0] : NAN;
    c->x1 = c->n ? c->x[c->n - 1] : NAN;
    const int64_t most = q->columns > 0 && 4 * q->columns + 2 < n ? 4 * q->columns + 2 : n;
    c->at = arena_array(&w->mem, int64_t, most + 1);
    c->n_at = reduce_points(c->x + from, size ? size : c->y.v + from, n, q->columns, c->at);
    for (int64_t k = 0; k < c->n_at; k++)
        c->at[k] += from;
    return true;
}

/* -- windows of large plots, by their index -- */

/* Adds a cell as its first, least, greatest and last value. The order of the middle two is chosen
 * so that the line is short: their places are known to a pixel only. */
static void put_cell(curve *c, const double x[2], const double y[4], int64_t count)
{
    const bool falls = y[0] > y[3];
    const double py[] = {y[0], falls ? y[2] : y[1], falls ? y[1] : y[2], y[3]},
                 px[] = {x[0], (x[0] + x[1]) / 2, (x[0] + x[1]) / 2, x[1]};
    const bool none = y[1] > y[2]; /* no value is finite */
    for (int k = 0; k < (count == 1 ? 1 : 4); k++)
        if (k == 0 || k == 3 || !none) {
            c->px[c->n_at] = px[k];
            c->py[c->n_at++] = py[k];
        }
}

/* Whether the question is over the axis of a large plot. */
static bool is_large(const work *w, const view_question *q, size_t plot)
{
    enum { MANY = 1 << 16 };
    return w->f->x && !q->over && w->f->set.plot[plot]->scale && view_n_point(w->f, plot) > MANY;
}

/* Whether the expression is a vector, which the index has, and a picture is to be made. */
static bool by_index(const work *w, const view_question *q, size_t plot)
{
    const post_vec *y = vector_of(w->f->set.plot[plot], q->expr);
    return q->columns > 0 && is_large(w, q, plot) && y && !y->complex && !y->v;
}

/* The ends of the axis; false: *why. */
static bool find_ends(const work *w, size_t plot, curve *c, const char **why)
{
    static const int32_t first = 0;
    const post_plot *p = w->f->set.plot[plot];
    c->axis = p->scale->name;
    c->axis_type = p->scale->type;
    c->n = view_n_point(w->f, plot);
    return !idx_read(w->f->x, (int32_t)plot, &first, 1, 0, 1, &c->x0, why) &&
           !idx_read(w->f->x, (int32_t)plot, &first, 1, c->n - 1, 1, &c->x1, why);
}

/* Computes other expressions piece by piece. *done false: this one needs all points at once. false:
 * a message was given. */
static bool thin_out(work *w, const view_question *asked, size_t plot, curve *c, bool *done)
{
    view_question one = *asked;
    const view_question *q = &one;
    view_thin t;
    one.soon &= vec_len(w->g->member) == 1 || q->member >= 0; /* there is one such curve */
    const char *why = "";
    if (!view_pieces(w->f, plot, &w->e, q, &t, done, &why) ||
        (*done && !find_ends(w, plot, c, &why)))
        return w->d.n_error ? false : fail(w, why);
    if (!*done)
        return true;
    c->px = t.x;
    c->py = t.y;
    c->pim = t.complex ? t.im : NULL;
    c->n_at = t.n;
    c->part = t.part;
    c->done = t.done;
    c->y = (post_val){.type = t.type, .plot = w->f->set.plot[plot], .complex = t.complex};
    if (t.single) {
        c->n = 1;
        c->x0 = c->x1 = 0;
        index_axis(w, c);
    }
    return true;
}

/* false: a message was given. */
static bool look(work *w, const view_question *q, size_t plot, curve *c)
{
    post_plot *p = w->f->set.plot[plot];
    const post_vec *y = vector_of(p, q->expr);
    const idx_window window = {.lo = q->x0,
                               .hi = q->x1,
                               .width = (int32_t)(q->columns < 1 << 20 ? q->columns : 1 << 20),
                               .quick = true};
    int32_t col = 0;
    idx_view cells;
    const char *why = "";
    while (p->vec[col] != y)
        col++;
    c->y = (post_val){.type = y->type, .plot = p, .name = y->name};
    const vs_status st = idx_look(w->f->x, (int32_t)plot, &window, &col, 1, &cells, &why);
    if (!st) {
        c->px = arena_array(&w->mem, double, 4 * cells.n + 1);
        c->py = arena_array(&w->mem, double, 4 * cells.n + 1);
        for (int64_t k = 0; k < cells.n; k++) {
            put_cell(c, &cells.x[2 * k], &cells.y[4 * k], cells.count[k]);
            c->part += cells.count[k];
        }
    }
    idx_view_fini(&cells);
    return (!st && find_ends(w, plot, c, &why)) || fail(w, why);
}

/* The points of a member that are drawn. false: a message was given. */
static bool find_points(work *w, const view_question *q, size_t plot, curve *c)
{
    bool done = false;
    if (by_index(w, q, plot))
        return look(w, q, plot, c);
    if (is_large(w, q, plot) && !thin_out(w, q, plot, c, &done))
        return false;
    if (done)
        return true;
    return value_of(w, plot, w->e.line, &c->y) && find_axis(w, q, plot, c) &&
           choose_points(w, q, c);
}

/* Answers for all members. One that lacks a vector is left out if another has it. */
static curve *curves_of(work *w, const view_question *q)
{
    curve *all = NULL;
    diag_mark before = diag_try(&w->d);
    for (size_t k = 0; k < vec_len(w->g->member); k++) {
        curve c = {.member = k, .done = 1};
        if (q->member >= 0 && (size_t)q->member != k)
            continue;
        const size_t plot = w->g->member[k];
        if (!find_points(w, q, plot, &c)) {
            if (all)
                diag_take_back(&w->d, before);
            continue;
        }
        if (!all) { /* members in front of this one lack the vector */
            diag_take_back(&w->d, before);
            before = diag_try(&w->d);
        }
        vec_push(all, c);
    }
    return all;
}

static void put_curve_head(const curve *all, const work *w, FILE *out)
{
    bool complex = false;
    char buf[24];
    for (size_t k = 0; k < vec_len(all); k++)
        complex |= all[k].y.complex;
    fputs("{\"unit\":", out);
    page_string(out, fig_unit(all[0].y.type));
    fputs(",\"type\":", out);
    page_string(out, all[0].y.type);
    fputs(",\"axis\":", out);
    page_string(out, all[0].axis);
    fputs(",\"axisUnit\":", out);
    page_string(out, fig_axis_unit(all[0].axis, all[0].axis_type));
    if (all[0].done < 1)
        fprintf(out, ",\"done\":%.4f", all[0].done);
    fprintf(out, ",\"complex\":%s,\"members\":[", complex ? "true" : "false");
    for (size_t k = 0; k < vec_len(all); k++) {
        const curve *c = &all[k];
        fprintf(out, "%s{\"member\":%zu,\"label\":", k ? "," : "", c->member);
        page_string(out, view_member_name(w->v, w->g, c->member, buf));
        fprintf(out, ",\"n\":%lld,\"all\":%lld,\"part\":%lld,\"x0\":", (long long)c->n_at,
                (long long)c->n, (long long)c->part);
        page_number(out, c->x0);
        fputs(",\"x1\":", out);
        page_number(out, c->x1);
        fputc('}', out);
    }
    fputs("]}", out);
}

/* Writes x, y and, of complex answers, the imaginary part. */
static void put_numbers(const curve *c, bool complex, FILE *out)
{
    for (int part = 0; part < 2 + complex; part++)
        for (int64_t k = 0; k < c->n_at; k++) {
            const int64_t i = c->px ? k : c->at[k];
            const double y = c->px          ? (!part       ? c->px[i]
                                               : part == 1 ? c->py[i]
                                               : c->pim    ? c->pim[i]
                                                           : 0)
                             : !part        ? c->x[i]
                             : c->y.complex ? c->y.v[2 * i + (part == 2)]
                             : part == 1    ? c->y.v[i]
                                            : 0;
            fwrite(&y, sizeof y, 1, out);
        }
}

static void put_curves(const curve *all, const work *w)
{
    char *head;
    size_t n;
    bool complex = false;
    FILE *text = stream_text(&head, &n);
    put_curve_head(all, w, text);
    stream_close(text);
    put_head(w->out, head, n);
    vs_free(head);
    for (size_t k = 0; k < vec_len(all); k++)
        complex |= all[k].y.complex;
    for (size_t k = 0; k < vec_len(all); k++)
        put_numbers(&all[k], complex, w->out);
}

bool view_curve(view *v, const view_question *q, FILE *out)
{
    work w;
    if (begin(&w, v, q->group, q->expr, out)) {
        curve *all = curves_of(&w, q);
        if (!all && !w.d.n_error)
            diag_error(&w.d, DIAG_NOWHERE, "the plot has no member %lld", (long long)q->member + 1);
        if (all)
            put_curves(all, &w);
        vec_free(all);
    }
    return end(&w);
}

/* -- single points -- */

/* The real or imaginary parts of all vectors at point k, as the file has them. */
static bool read_point(work *w, size_t plot, int64_t k, double *row)
{
    const post_plot *p = w->f->set.plot[plot];
    const char *why = "";
    if (w->f->x)
        return !idx_read_rows(w->f->x, (int32_t)plot, k, 1, row, &why) || fail(w, why);
    for (size_t i = 0, at = 0; i < vec_len(p->vec); i++) {
        const post_vec *v = p->vec[i];
        const int64_t here = k < v->n ? k : v->n - 1;
        for (int part = 0; part < 1 + v->complex; part++)
            row[at++] = here < 0 ? NAN : v->v[v->complex ? 2 * here + part : here];
    }
    return true;
}

/* The point k whose axis is not above x, and how far x is on the way to the next one: 0 to 1. */
static bool find_point(work *w, size_t plot, double x, int64_t *k, double *part)
{
    post_vec *a = w->f->set.plot[plot]->scale;
    const int64_t n = view_n_point(w->f, plot);
    const char *why = "";
    double ends[2] = {NAN, NAN};
    if (!a || n < 1)
        return fail(w, "has no axis there");
    if (w->f->x) {
        if (idx_at(w->f->x, (int32_t)plot, x, NULL, 0, k, ends, NULL, &why))
            return fail(w, why);
    } else {
        const int64_t w2 = 1 + a->complex;
        const bool falls = a->v[(n - 1) * w2] < a->v[0];
        int64_t lo = 0, hi = n - 1;
        while (hi - lo > 1) {
            const int64_t mid = lo + (hi - lo) / 2;
            *((a->v[mid * w2] <= x) != falls ? &lo : &hi) = mid;
        }
        *k = lo;
        ends[0] = a->v[lo * w2];
        ends[1] = a->v[hi * w2];
    }
    const double way = (x - ends[0]) / (ends[1] - ends[0]);
    *part = ends[1] != ends[0] && way > 0 && *k + 1 < n ? fmin(way, 1) : 0;
    return true;
}

static void put_point(const post_plot *p, const double *row, const double *next, double part,
                      bool pairs, FILE *out)
{
    for (size_t i = 0, from = 0; i < vec_len(p->vec); i++) {
        const bool complex = p->vec[i]->complex;
        double y[2] = {row[from], complex ? row[from + 1] : 0};
        for (int c = 0; c < 1 + complex && part > 0; c++)
            y[c] += part * (next[from + (size_t)c] - y[c]);
        const double size = complex ? hypot(y[0], y[1]) : y[0];
        fwrite(&size, sizeof size, 1, out);
        from += 1 + (complex || pairs);
    }
}

bool view_point(view *v, int64_t group, int64_t member, int64_t k, double x, FILE *out)
{
    work w;
    if (begin(&w, v, group, "", out)) {
        const bool there = member >= 0 && (size_t)member < vec_len(w.g->member);
        const size_t plot = w.g->member[there ? member : 0];
        const post_plot *p = w.f->set.plot[plot];
        const size_t n = vec_len(p->vec);
        const int64_t last = view_n_point(w.f, plot) - 1;
        int64_t at = k < 0 || k > last ? last : k;
        double *row = arena_array(&w.mem, double, 2 * n + 1),
               *next = arena_array(&w.mem, double, 2 * n + 1), part = 0;
        const bool pairs = w.f->x && idx_plot_of(w.f->x, (int32_t)plot)->complex;
        const bool found = isnan(x) || find_point(&w, plot, x, &at, &part);
        if (found && at >= 0 && read_point(&w, plot, at, row) &&
            (!(part > 0) || read_point(&w, plot, at + 1, next))) {
            char head[64];
            const int size = snprintf(head, sizeof head, "{\"n\":%zu}", n);
            put_head(out, head, (size_t)size);
            put_point(p, row, next, part, pairs, out);
        } else if (at < 0) {
            (void)fail(&w, "has no points there");
        }
    }
    return end(&w);
}

/* -- spectra -- */

/* Answers with numbers named in the head, and the points of a plot's second vector over its axis,
 * of complex values the modulus. */
static void put_made(work *w, const post_plot *p, const char *unit, const char *const *name,
                     const double *value, size_t n_value)
{
    const post_vec *y = p->vec[1], *x = p->vec[0];
    char *head;
    size_t n;
    FILE *text = stream_text(&head, &n);
    fputs("{\"unit\":", text);
    page_string(text, unit);
    fputs(",\"type\":", text);
    page_string(text, y->type);
    fputs(",\"axis\":", text);
    page_string(text, x->name);
    fputs(",\"axisUnit\":", text);
    page_string(text, fig_axis_unit(x->name, x->type));
    fprintf(text, ",\"n\":%lld", (long long)y->n);
    for (size_t k = 0; k < n_value; k++) {
        fprintf(text, ",\"%s\":", name[k]);
        page_number(text, value[k]);
    }
    fputs("}", text);
    stream_close(text);
    put_head(w->out, head, n);
    vs_free(head);
    for (int64_t k = 0; k < y->n; k++) {
        const double at = x->complex ? x->v[2 * k] : x->v[k];
        fwrite(&at, sizeof at, 1, w->out);
    }
    for (int64_t k = 0; k < y->n; k++) {
        const double a = y->complex ? hypot(y->v[2 * k], y->v[2 * k + 1]) : y->v[k];
        fwrite(&a, sizeof a, 1, w->out);
    }
}

static void put_spectrum(work *w, const post_plot *p, const char *unit)
{
    const post_vec *y = p->vec[1];
    const post_val v = {
        .complex = y->complex, .n = y->n, .v = y->v, .plot = p, .type = y->type, .name = y->name};
    const post_tone_opt o = {.fmin = p->band[0], .fmax = p->band[1], .lobe = p->lobe};
    post_tone t;
    const bool tone = !post_tone_of(&w->e, &v, &o, &t);
    const char *const name[] = {"freq", "amplitude", "thd",  "snr",
                                "sndr", "sfdr",      "enob", "rounding"};
    const double value[] = {t.freq, t.amplitude, t.thd, t.snr, t.sndr, t.sfdr, t.enob, t.rounding};
    put_made(w, p, unit, name, value, tone ? VS_COUNT(name) : 0);
}

/* Samples of a large curve, by its pieces. *done false: the curve is not large, or the expression
 * needs all points at once. The caller ends the sampler. false: a message was given. */
static bool sample_pieces(work *w, const post_fft_card *card, size_t plot, post_sampler *s,
                          const char **type, bool *done)
{
    const view_question part = {.expr = card->expr, .x0 = card->from, .x1 = card->to},
                        whole = {.expr = card->expr};
    const char *why = "";
    curve ends = {0};
    *s = (post_sampler){0};
    *done = false;
    if (!is_large(w, &whole, plot))
        return true;
    if (!find_ends(w, plot, &ends, &why))
        return fail(w, why);
    w->e.set->current = w->f->set.plot[plot];
    if (!post_sampler_begin(&w->e, card, ends.x0, ends.x1, s))
        return false;
    const bool good = view_samples(w->f, plot, &w->e, &part, s, type, done, &why);
    return good || (w->d.n_error ? false : fail(w, why));
}

/* false: a message was given. */
static bool make_spectrum(work *w, const view_fft *q, size_t plot, post_plot **made,
                          const char **type)
{
    const post_fft_card card = {.expr = q->expr,
                                .window = q->window,
                                .from = q->from,
                                .to = q->to,
                                .fmin = NAN,
                                .fmax = NAN,
                                .alfa = 3,
                                .n = q->n};
    bool done;
    post_val y;
    post_sampler s;
    bool good = sample_pieces(w, &card, plot, &s, type, &done);
    if (good && done)
        good = post_fft_of(&w->e, &card, &s, q->expr, *type, made);
    post_sampler_end(&s);
    if (done || !good)
        return good;
    if (!value_of(w, plot, q->expr, &y))
        return false;
    *type = y.type;
    return post_fft_make(&w->e, &card, made);
}

static size_t plot_of_member(const work *w, int64_t member)
{
    const size_t n = vec_len(w->g->member);
    return w->g->member[member >= 0 && (size_t)member < n ? member : 0];
}

bool view_spectrum(view *v, const view_fft *q, FILE *out)
{
    work w;
    if (begin(&w, v, q->group, q->expr, out)) {
        post_plot *made = NULL;
        const char *type = NULL;
        if (make_spectrum(&w, q, plot_of_member(&w, q->member), &made, &type))
            put_spectrum(&w, made, fig_unit(type));
        if (made)
            post_plot_destroy(w.e.set, made);
    }
    return end(&w);
}

/* -- eyes -- */

/* Of a large curve by SAMPLES samples of it. false: a message was given. */
static bool make_eye(work *w, const view_eye *q, size_t plot, post_plot **made, const char **type)
{
    enum { SAMPLES = 1 << 22 };
    const post_eye_card card = {.expr = q->expr,
                                .ui = q->ui,
                                .from = q->from,
                                .to = q->to,
                                .offset = q->offset,
                                .threshold = NAN,
                                .low = NAN,
                                .high = NAN,
                                .n = 64,
                                .periods = 2};
    const post_fft_card samples = {.expr = q->expr, .from = q->from, .to = q->to, .n = SAMPLES};
    bool done;
    post_val y;
    post_sampler s;
    bool good = sample_pieces(w, &samples, plot, &s, type, &done);
    if (good && done) {
        double *x = arena_array(&w->mem, double, SAMPLES);
        for (int64_t k = 0; k < SAMPLES; k++)
            x[k] = s.from + s.span * ((double)k / SAMPLES);
        post_eye_card all = card;
        all.from = all.to = NAN;
        good = post_eye_of(&w->e, &all, x, s.out, SAMPLES, q->expr, *type, made);
    }
    post_sampler_end(&s);
    if (done || !good)
        return good;
    if (!value_of(w, plot, q->expr, &y))
        return false;
    *type = y.type;
    return post_eye_make(&w->e, &card, made);
}

bool view_eye_of(view *v, const view_eye *q, FILE *out)
{
    work w;
    if (begin(&w, v, q->group, q->expr, out)) {
        post_plot *made = NULL;
        const char *type = NULL;
        if (make_eye(&w, q, plot_of_member(&w, q->member), &made, &type))
            put_made(&w, made, fig_unit(type), post_eye_word, made->eye, POST_N_EYE);
        if (made)
            post_plot_destroy(w.e.set, made);
    }
    return end(&w);
}

/* -- what stands between two cursors -- */

/* All points of the range, or the extremes of its columns: x[n], y[n], of complex values the
 * modulus. false: a message was given. */
static bool points_between(work *w, const view_question *q, size_t plot, curve *c, double **y)
{
    bool done = by_index(w, q, plot);
    if (done ? !look(w, q, plot, c) : is_large(w, q, plot) && !thin_out(w, q, plot, c, &done))
        return false;
    if (!done && (!value_of(w, plot, w->e.line, &c->y) || !find_axis(w, q, plot, c)))
        return false;
    if (!done)
        c->part = c->n_at = c->n;
    *y = arena_array(&w->mem, double, c->n_at + 1);
    for (int64_t k = 0; k < c->n_at; k++)
        (*y)[k] = done           ? c->pim ? hypot(c->py[k], c->pim[k]) : c->py[k]
                            : c->y.complex ? hypot(c->y.v[2 * k], c->y.v[2 * k + 1])
                                 : c->y.v[k];
    if (done)
        c->x = c->px;
    return true;
}

/* The value at x alone: of the points on both sides of it. */
static double value_near(work *w, const view_question *q, size_t plot, double x)
{
    view_question here = *q;
    curve c = {0};
    double *y;
    here.x0 = here.x1 = x;
    here.soon = false;
    return !isnan(x) && points_between(w, &here, plot, &c, &y)
               ? view_measure_of(c.x, y, c.n_at, x, x).a
               : NAN;
}

static void put_measures(const view_measures *m, const curve *c, FILE *out)
{
    static const char *const name[] = {"a",   "b",      "min",  "max",  "mean",
                                       "rms", "period", "duty", "rise", "fall"};
    const double value[] = {m->a,   m->b,      m->min,  m->max,  m->mean,
                            m->rms, m->period, m->duty, m->rise, m->fall};
    fprintf(out, "{\"part\":%lld,\"points\":%lld", (long long)c->part, (long long)c->n_at);
    for (size_t k = 0; k < VS_COUNT(name); k++) {
        fprintf(out, ",\"%s\":", name[k]);
        page_number(out, value[k]);
    }
    fputc('}', out);
}

bool view_measure(view *v, const view_question *q, FILE *out)
{
    work w;
    if (begin(&w, v, q->group, q->expr, out)) {
        const bool there = q->member >= 0 && (size_t)q->member < vec_len(w.g->member);
        const size_t plot = w.g->member[there ? q->member : 0];
        view_question part = *q;
        curve c = {.done = 1};
        double *y;
        part.x0 = fmin(q->x0, q->x1);
        part.x1 = fmax(q->x0, q->x1);
        const bool good = points_between(&w, &part, plot, &c, &y);
        if (good && c.done < 1) {
            fprintf(w.out, "{\"done\":%.4f}", c.done);
        } else if (good) {
            view_measures m = view_measure_of(c.x, y, c.n_at, q->x0, q->x1);
            if (c.part > c.n_at) { /* the extremes of columns do not tell these */
                m.a = value_near(&w, &part, plot, q->x0);
                m.b = value_near(&w, &part, plot, q->x1);
            }
            put_measures(&m, &c, out);
        }
    }
    return end(&w);
}
