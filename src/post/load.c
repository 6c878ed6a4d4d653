/* load.c - result files as plots in memory: whole, or with vectors that are read when they are
 * needed. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "idx.h"
#include "out.h"
#include "out_name.h"
#include "plot.h"
#include "post_priv.h"
#include "vec.h"

const char *post_word_of(const char *what)
{
    static const char *const word[][2] = {{"tran", "tran"}, {"ac", "ac"},       {"dc", "dc"},
                                          {"oper", "op"},   {"noise", "noise"}, {"integ", "noise"},
                                          {"sens", "sens"}, {"pole", "pz"},     {"sp ", "sp"},
                                          {"transf", "tf"}, {"eye", "eye"}};
    for (size_t i = VS_COUNT(word); i-- > 0;) /* "transf" before "tran" */
        if (!str_ncasecmp(what, word[i][0], strlen(word[i][0])))
            return word[i][1];
    return "unknown";
}

static void take(post_set *s, const out_plot *from, const char *title)
{
    const char *what = from->plot ? from->plot : "Table";
    const bool table = !from->plot; /* its first column is what the others are drawn over */
    post_plot *p = post_plot_new(s, from->plot ? post_word_of(what) : "table",
                                 from->title ? from->title : title, what);
    const int64_t n = from->n_point, w = 1 + from->complex;
    for (int32_t i = 0; i < from->n_vec; i++) {
        char own[OUT_NAME];
        const bool axis = !i && (table || out_is_axis(from->name[i], from->type[i]));
        const char *name = out_own_name(own, from->name[i]);
        post_vec *v =
            post_plot_append(s, p, name, out_own_type(name, from->type[i]), from->complex && !axis);
        const int64_t step = (int64_t)from->n_vec * w;
        const double *x = from->data + (int64_t)i * w;
        v->v = vs_malloc((size_t)n * (1 + v->complex) * sizeof *v->v + 1);
        v->n = v->cap = n;
        for (int64_t k = 0; k < n && !v->complex; k++)
            v->v[k] = x[k * step];
        for (int64_t k = 0; k < n && v->complex; k++)
            memcpy(&v->v[2 * k], &x[k * step], 2 * sizeof *x);
        if (axis)
            p->scale = v;
    }
    post_plot_index(p);
}

vs_status post_load(post_set *s, const char *path, bool tables, const char **why)
{
    out_reader *r;
    out_plot p;
    int n = 0;
    vs_status st = out_read_open(&r, path, why);
    while (!st && !(st = out_read_next(r, &p, why))) {
        const bool known = p.plot || tables;
        if (known)
            take(s, &p, path);
        else
            *why = "is no raw file";
        out_plot_free(&p);
        n += known;
        st = known ? VS_OK : VS_EINPUT;
    }
    out_read_close(&r);
    if (n && st == VS_EINPUT && !strcmp(*why, OUT_NO_PLOT))
        return VS_OK;
    if (!n && st == VS_EINPUT && !strcmp(*why, OUT_NO_PLOT))
        *why = "is empty";
    return st;
}

/* -- values when they are needed -- */

struct post_source {
    idx *x;
    const char *path, *why; /* why NULL: all is well */
};

static void late_vector(post_set *s, post_plot *p, const idx_plot *from, int32_t i)
{
    const bool axis = !i && from->axis;
    post_vec *v = post_plot_append(s, p, from->name[i], from->type[i], from->complex && !axis);
    v->n = from->n_point;
    if (axis)
        p->scale = v;
}

static void take_late(post_set *s, post_source *src, int32_t k, bool axes)
{
    const idx_plot *from = idx_plot_of(src->x, k);
    const bool table = !strcmp(from->what, "Table");
    post_plot *p =
        post_plot_new(s, table ? "table" : post_word_of(from->what), from->title, from->what);
    p->from = src;
    p->place = k;
    for (int32_t i = 0; i < from->n_vec; i++)
        late_vector(s, p, from, i);
    post_plot_index(p);
    if (p->scale && axes)
        post_fetch(p, &p->scale, 1);
}

vs_status post_load_late(post_set *s, const char *path, int64_t small, bool axes, const char **why)
{
    struct stat sb;
    if (stat(path, &sb) || !S_ISREG(sb.st_mode) || (int64_t)sb.st_size <= small)
        return post_load(s, path, true, why);
    post_source *src = vs_calloc(1, sizeof *src);
    const vs_status st = idx_open(&src->x, path, false, why);
    if (st) {
        vs_free(src);
        return st;
    }
    src->path = str_intern0(s->names, path);
    vec_push(s->source, src);
    for (int32_t k = 0; k < idx_n_plot(src->x); k++)
        take_late(s, src, k, axes);
    *why = idx_damage(src->x);
    return *why ? VS_EINPUT : VS_OK;
}

/* From `at` on, where it is mostly the next. */
static int32_t place_of(const post_plot *p, const post_vec *v, int32_t at)
{
    const int32_t n = (int32_t)vec_len(p->vec);
    while (p->vec[at = at < n ? at : 0] != v)
        at++;
    return at;
}

/* From columns to vectors: col has one for each real vector, two for each complex one. */
static void spread(post_vec *const *v, size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t points = v[i]->n, w = 1 + v[i]->complex;
        v[i]->v = vs_malloc((size_t)(points * w) * sizeof *x + 1);
        v[i]->cap = points;
        for (int64_t part = 0; part < w; part++, x += points)
            for (int64_t k = 0; k < points; k++)
                v[i]->v[k * w + part] = x[k];
    }
}

static void fetch(const post_plot *p, post_vec *const *v, size_t n)
{
    post_source *src = p->from;
    const bool complex = idx_plot_of(src->x, p->place)->complex;
    int32_t *col = NULL, at = -1;
    for (size_t i = 0; i < n; i++) {
        at = place_of(p, v[i], at + 1);
        vec_push(col, complex ? 2 * at : at);
        if (v[i]->complex)
            vec_push(col, 2 * at + 1);
    }
    const size_t n_col = vec_len(col), values = n_col * (size_t)v[0]->n;
    double *x = vs_malloc(values * sizeof *x + 1);
    const char *why = NULL;
    if (idx_read(src->x, p->place, col, (int32_t)n_col, 0, v[0]->n, x, &why)) {
        src->why = why;
        for (size_t i = 0; i < values; i++)
            x[i] = NAN;
    }
    spread(v, n, x);
    vs_free(x);
    vec_free(col);
}

/* In groups, so that what is read and what is kept are not both of all. */
void post_fetch(const post_plot *p, post_vec *const *v, size_t n)
{
    enum { GROUP_BYTES = 64 << 20 };
    post_vec **want = NULL;
    if (!p->from)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!v[i]->v)
            vec_push(want, v[i]);
        const size_t bytes = vec_len(want) * (size_t)v[i]->n * 2 * sizeof(double);
        if (vec_len(want) && (bytes >= GROUP_BYTES || i + 1 == n)) {
            fetch(p, want, vec_len(want));
            vec_clear(want);
        }
    }
    vec_free(want);
}

void post_fetch_all(const post_plot *p) { post_fetch(p, p->vec, vec_len(p->vec)); }

void post_let_go(const post_plot *p, post_vec *const *v, size_t n)
{
    for (size_t i = 0; i < n && p->from; i++)
        if (v[i] != p->scale) {
            vs_free(v[i]->v);
            v[i]->v = NULL;
            v[i]->cap = 0;
        }
}

bool post_rows(const post_plot *p, int64_t from, int64_t n, double *row)
{
    const char *why;
    if (!idx_read_rows(p->from->x, p->place, from, n, row, &why))
        return true;
    p->from->why = why;
    return false;
}

bool post_part(const post_plot *p, size_t first, size_t n_vec, int64_t from, int64_t n, double *out)
{
    const post_source *src = p->from;
    const bool pairs = idx_plot_of(src->x, p->place)->complex;
    const char *why;
    int32_t *col = NULL;
    for (size_t i = first; i < first + n_vec; i++)
        for (int part = 0; part <= p->vec[i]->complex; part++)
            vec_push(col, (int32_t)i * (1 + pairs) + part);
    const vs_status st = idx_read(src->x, p->place, col, (int32_t)vec_len(col), from, n, out, &why);
    vec_free(col);
    if (st)
        p->from->why = why;
    return !st;
}

const char *post_trouble(const post_set *s, const char **path)
{
    for (size_t i = 0; i < vec_len(s->source); i++)
        if (s->source[i]->why) {
            *path = s->source[i]->path;
            return s->source[i]->why;
        }
    return NULL;
}

void post_close_sources(post_set *s)
{
    for (size_t i = 0; i < vec_len(s->source); i++) {
        idx_close(&s->source[i]->x);
        vs_free(s->source[i]);
    }
    vec_free(s->source);
}
