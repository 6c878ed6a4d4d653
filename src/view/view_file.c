/* view_file.c - files, and their values, which are read when a request needs them. */
#include <string.h>

#include "vec.h"
#include "view_priv.h"

enum { MOST_LOADED = 96 << 20 }; /* bytes of values that are kept from one answer to the next */

void view_file_close(view_file *f)
{
    if (f->open) {
        post_set_fini(&f->set);
        str_pool_fini(&f->names);
    }
    view_forget_known(f);
    view_forget_jobs(f);
    idx_close(&f->x);
    vs_free(f->notes);
    f->notes = NULL;
    f->open = false;
    f->loaded = 0;
}

/* Adds the plots that the index has to the set, without values. */
static void make_plots(view_file *f)
{
    for (int32_t k = 0; k < idx_n_plot(f->x); k++) {
        const idx_plot *from = idx_plot_of(f->x, k);
        const bool table = !strcmp(from->what, "Table");
        post_plot *p = post_plot_new(&f->set, table ? "table" : post_word_of(from->what),
                                     from->title, from->what);
        for (int32_t i = 0; i < from->n_vec; i++) {
            const bool axis = !i && from->axis;
            post_vec *v =
                post_plot_append(&f->set, p, from->name[i], from->type[i], from->complex && !axis);
            if (axis)
                p->scale = v;
        }
        post_plot_index(p);
    }
}

static void begin_set(view_file *f)
{
    str_pool_init(&f->names);
    post_set_init(&f->set, &f->names);
    f->open = true;
    f->loaded = 0;
}

/* By its ending: formats that are read as a whole. */
static bool is_foreign(const char *path)
{
    conv_format f;
    return conv_format_of(path, &f) && f != CONV_RAW && f != CONV_ASCII && f != CONV_CSV;
}

vs_status view_file_open(view_file *f, const char *plugins)
{
    const char *why = "";
    view_file_close(f);
    begin_set(f);
    f->why[0] = 0;
    memset(&f->seen, 0, sizeof f->seen);
    (void)stat(f->path, &f->seen);
    vs_status st = is_foreign(f->path) ? VS_EINPUT : idx_open(&f->x, f->path, false, &why);
    if (st == VS_EINPUT) {
        f->notes = vs_calloc(1, sizeof *f->notes);
        const conv_opt o = {.plugins = plugins, .notes = f->notes};
        return conv_read(&f->set, f->path, &o, f->why);
    }
    if (!st) {
        make_plots(f);
        why = idx_damage(f->x);
    }
    snprintf(f->why, sizeof f->why, "%s", why ? why : "");
    return st;
}

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool view_file_refresh(view_file *f, const char *plugins)
{
    struct stat now;
    if (stat(f->path, &now) || same_state(&now, &f->seen))
        return false;
    if (f->x && idx_refresh(f->x) == IDX_GREW) {
        view_forget_jobs(f);
        post_set_fini(&f->set);
        str_pool_fini(&f->names);
        begin_set(f);
        make_plots(f);
        f->seen = now;
        return true;
    }
    /* plots in front of damage are used, and the file may still grow: f->why has the damage */
    if (view_file_open(f, plugins))
        f->seen = now;
    return true;
}

int64_t view_n_point(const view_file *f, size_t plot)
{
    const post_plot *p = f->set.plot[plot];
    return f->x ? idx_plot_of(f->x, (int32_t)plot)->n_point : vec_len(p->vec) ? p->vec[0]->n : 0;
}

/* -- values -- */

/* The columns of a vector: one, or two in a complex plot, whose axis has no imaginary part. */
static bool read_vector(view_file *f, size_t plot, post_vec *v, size_t place, const char **why)
{
    const idx_plot *from = idx_plot_of(f->x, (int32_t)plot);
    const int64_t n = from->n_point;
    const int32_t first = (int32_t)place * (1 + from->complex), col[] = {first, first + 1};
    double *part = vs_malloc((size_t)n * (1 + v->complex) * sizeof *part + 1);
    if (idx_read(f->x, (int32_t)plot, col, 1 + v->complex, 0, n, part, why)) {
        vs_free(part);
        return false;
    }
    v->v = part;
    if (v->complex) {
        v->v = vs_malloc((size_t)n * 2 * sizeof *part + 1);
        for (int64_t k = 0; k < n; k++) {
            v->v[2 * k] = part[k];
            v->v[2 * k + 1] = part[n + k];
        }
        vs_free(part);
    }
    v->n = v->cap = n;
    f->loaded += n * (1 + v->complex) * (int64_t)sizeof *v->v;
    return true;
}

bool view_need(view_file *f, size_t plot, post_vec *v, const char **why)
{
    if (!f->x || v->v)
        return true;
    post_vec *const *all = f->set.plot[plot]->vec;
    size_t k = 0;
    while (all[k] != v)
        k++;
    return read_vector(f, plot, v, k, why);
}

/* "tran2.v(a)" is one of another plot. */
static bool need_name(view_file *f, size_t plot, const char *name, const char **why)
{
    post_vec *v = post_plot_find(f->set.plot[plot], name);
    const char *dot = strchr(name, '.');
    for (size_t k = 0; !v && dot && k < vec_len(f->set.plot); k++) {
        const char *own = f->set.plot[k]->name;
        if (strlen(own) != (size_t)(dot - name) || str_ncasecmp(own, name, strlen(own)))
            continue;
        post_vec *axis = f->set.plot[k]->scale;
        v = post_plot_find(f->set.plot[k], dot + 1);
        return !v || (view_need(f, k, v, why) && (!axis || view_need(f, k, axis, why)));
    }
    return !v || view_need(f, plot, v, why);
}

bool view_need_all(view_file *f, size_t plot, const char *expr, const char **why)
{
    const char **list = NULL;
    str_pool names;
    if (!f->x)
        return true;
    str_pool_init(&names);
    post_names(&names, expr, &list);
    bool good = !f->set.plot[plot]->scale || view_need(f, plot, f->set.plot[plot]->scale, why);
    for (size_t k = 0; k < vec_len(list) && good; k++)
        good = need_name(f, plot, list[k], why);
    vec_free(list);
    str_pool_fini(&names);
    return good;
}

static int64_t bytes_of(const post_vec *v)
{
    return v->cap * (1 + v->complex) * (int64_t)sizeof *v->v;
}

bool view_load_part(view_file *f, size_t plot, const size_t *place, size_t n_place, int64_t from,
                    int64_t n, const char **why)
{
    const bool pairs = idx_plot_of(f->x, (int32_t)plot)->complex;
    const int32_t w = 1 + pairs;
    int32_t *col = vs_calloc(w * n_place + 1, sizeof *col);
    for (size_t i = 0; i < n_place; i++)
        for (int32_t k = 0; k < w; k++)
            col[w * (int32_t)i + k] = w * (int32_t)place[i] + k;
    double *all = vs_malloc((size_t)n * n_place * (size_t)w * sizeof *all + 1);
    const bool ok = !idx_read(f->x, (int32_t)plot, col, w * (int32_t)n_place, from, n, all, why);
    if (ok)
        view_set_part(f, plot, place, n_place, all, n);
    vs_free(all);
    vs_free(col);
    return ok;
}

void view_set_part(view_file *f, size_t plot, const size_t *place, size_t n_place,
                   const double *all, int64_t n)
{
    const int32_t w = 1 + idx_plot_of(f->x, (int32_t)plot)->complex;
    for (size_t i = 0; i < n_place; i++) {
        post_vec *v = f->set.plot[plot]->vec[place[i]];
        const double *re = all + (int64_t)i * w * n;
        f->loaded -= v->v ? bytes_of(v) : 0;
        v->v = vs_realloc(v->v, (size_t)n * (1 + v->complex) * sizeof *v->v + 1);
        for (int64_t k = 0; k < n && v->complex; k++) {
            v->v[2 * k] = re[k];
            v->v[2 * k + 1] = re[n + k];
        }
        if (!v->complex)
            memcpy(v->v, re, (size_t)n * sizeof *v->v);
        v->n = v->cap = n;
        f->loaded += bytes_of(v);
    }
}

void view_forget_plot(view_file *f, size_t plot)
{
    post_plot *p = f->set.plot[plot];
    for (size_t i = 0; i < vec_len(p->vec) && f->x; i++) {
        post_vec *v = p->vec[i];
        f->loaded -= v->v ? bytes_of(v) : 0;
        vs_free(v->v);
        v->v = NULL;
        v->n = v->cap = 0;
    }
}

void view_forget_values(view_file *f)
{
    if (!f->x || f->loaded < MOST_LOADED)
        return;
    for (size_t k = 0; k < vec_len(f->set.plot); k++)
        view_forget_plot(f, k);
}
