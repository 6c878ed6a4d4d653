/* conv_hdf5_use.c - HDF5, by the plug-in (conv_hdf5.c): plots of what it reads, and values for it
 * to write, all at once or piece by piece. */
#include <errno.h>
#include <string.h>

#include "conv_build.h"
#include "conv_priv.h"
#include "files.h"
#include "heap.h"

static vs_status open_hdf5(conv_job *j, const conv_hdf5_table **t)
{
    static const conv_plugin plugin = {.built = CONV_HAVE_HDF5,
                                       .format = "HDF5",
                                       .file = "libvsim-hdf5.so",
                                       .library = "libhdf5",
                                       .symbol = CONV_HDF5_SYMBOL};
    const void *table = NULL;
    const vs_status st = conv_plugin_table(j, &plugin, &table);
    *t = table;
    return st;
}

typedef struct hdf5_reader {
    conv_job *j;
    post_plot *p;
    const conv_hdf5_table *t;
    arena mem; /* names of columns */
    heap_owned owned;
} hdf5_reader;

static void take_plot(void *user, const char *name, const char *title, const char *what)
{
    hdf5_reader *r = user;
    char word[64];
    snprintf(word, sizeof word, "%s", name);
    word[strcspn(word, "0123456789")] = 0;
    r->p = post_plot_new(r->j->set, *word ? word : "table", title, what);
}

static double *take_vector(void *user, const char *name, int64_t column, const char *type,
                           int64_t n, bool complex, bool axis)
{
    hdf5_reader *r = user;
    if (column >= 0)
        name = conv_column_name(&r->mem, name, (uint64_t)column);
    post_vec *v = post_plot_append(r->j->set, r->p, name, type, complex);
    v->v = vs_calloc((size_t)n + 1, (1 + complex) * sizeof *v->v);
    v->n = v->cap = n;
    if (axis)
        r->p->scale = v;
    return v->v;
}

static void leave_out(void *user, const char *group, const char *name, const char *what)
{
    const hdf5_reader *r = user;
    conv_left_out(r->j, *group ? "'%.60s/%.60s' %s" : "'%.0s%.60s' %s", group, name, what);
}

static void own_file(void *user, void *file)
{
    hdf5_reader *r = user;
    if (file)
        heap_own(&r->owned, r->t->close_read, file);
    else
        heap_disown(&r->owned);
}

vs_status conv_read_hdf5(conv_job *j)
{
    const conv_hdf5_table *t;
    vs_status st = open_hdf5(j, &t);
    if (st)
        return st;
    if (!files_input(j->path)) {
        snprintf(j->why, CONV_WHY, "%s", files_why(errno));
        return VS_EIO;
    }
    hdf5_reader *r = vs_calloc(1, sizeof *r);
    *r = (hdf5_reader){.j = j, .t = t};
    arena_init(&r->mem);
    const conv_hdf5_sink to = {r, take_plot, take_vector, leave_out, own_file};
    st = t->read(j->path, &to, j->why) ? VS_OK : VS_EINPUT;
    arena_fini(&r->mem);
    vs_free(r);
    return st;
}

/* -- writing -- */

typedef struct hdf5_writer {
    conv_job *j;
    const conv_hdf5_table *t;
    void *file;
    double *x, *pair; /* [CONV_PIECE + 1], a piece; and one of its vectors as pairs, or NULL */
    heap_owned owned;
} hdf5_writer;

/* Real values as they are, complex ones as pairs. */
static const double *values_of(hdf5_writer *w, const double *x, int64_t n, bool complex)
{
    if (!complex)
        return x;
    for (int64_t k = 0; k < n; k++) {
        w->pair[2 * k] = x[k];
        w->pair[2 * k + 1] = x[n + k];
    }
    return w->pair;
}

/* Writes n points of vectors [first, first + n_vec), which stand in a file. */
static vs_status put_part(hdf5_writer *w, const post_plot *p, size_t first, size_t n_vec,
                          int64_t from, int64_t n)
{
    const vs_status st = conv_part(w->j, p, first, n_vec, from, n, w->x);
    const double *x = w->x;
    for (size_t k = 0; k < n_vec && !st; k++) {
        const bool complex = p->vec[first + k]->complex;
        if (!w->t->put(w->file, k, from, n, values_of(w, x, n, complex), w->j->why))
            return VS_EINPUT;
        x += n * (1 + complex);
    }
    return st;
}

static vs_status put_batch(hdf5_writer *w, const post_plot *p, size_t first, size_t n_vec)
{
    const int64_t points = conv_points(p), run = conv_run(conv_n_column(p, first, n_vec));
    vs_status st = VS_OK;
    if (conv_late(p)) {
        for (int64_t from = 0; from < points && !st; from += run)
            st = put_part(w, p, first, n_vec, from, points - from < run ? points - from : run);
        return st;
    }
    for (size_t k = 0; k < n_vec; k++) {
        const post_vec *v = p->vec[first + k];
        if (!w->t->put(w->file, k, 0, v->n, v->v, w->j->why))
            return VS_EINPUT;
    }
    return VS_OK;
}

static vs_status put_group(hdf5_writer *w, const post_plot *p)
{
    conv_hdf5_vector v[CONV_VECTORS];
    vs_status st = w->t->group(w->file, p->name, p->title, p->what, w->j->why) ? VS_OK : VS_EINPUT;
    for (size_t first = 0; first < vec_len(p->vec) && !st; first += CONV_VECTORS) {
        const size_t n = conv_batch(p, first);
        for (size_t k = 0; k < n; k++) {
            const post_vec *from = p->vec[first + k];
            v[k] = (conv_hdf5_vector){from->name, from->type, from->n, from->complex,
                                      from == p->scale};
        }
        st = w->t->open(w->file, v, n, w->j->why) ? put_batch(w, p, first, n) : VS_EINPUT;
        w->t->shut(w->file);
    }
    return st;
}

vs_status conv_write_hdf5(conv_job *j)
{
    hdf5_writer *w = vs_calloc(1, sizeof *w);
    bool late = false;
    w->j = j;
    vs_status st = open_hdf5(j, &w->t);
    for (size_t i = 0; i < j->n; i++)
        late |= conv_late(j->plot[i]);
    if (late) {
        w->x = vs_malloc((CONV_PIECE + 1) * sizeof *w->x);
        w->pair = vs_malloc((CONV_PIECE + 1) * sizeof *w->pair);
    }
    if (!st && !(w->file = w->t->begin(late ? j->part : NULL, j->why)))
        st = VS_EINPUT;
    if (w->file)
        heap_own(&w->owned, w->t->drop, w->file);
    for (size_t i = 0; i < j->n && !st; i++)
        st = put_group(w, j->plot[i]);
    if (w->file)
        heap_disown(&w->owned);
    if (!st && !w->t->end(w->file, j->fp, j->why))
        st = VS_EINPUT;
    else if (st && w->file)
        w->t->drop(w->file, 0);
    vs_free(w->pair);
    vs_free(w->x);
    vs_free(w);
    return st;
}
