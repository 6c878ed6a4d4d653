/* load.c - result files as plots in memory. */
#include <string.h>

#include "out.h"
#include "out_name.h"
#include "plot.h"
#include "vec.h"

const char *post_word_of(const char *what)
{
    static const char *const word[][2] = {
        {"tran", "tran"},   {"ac", "ac"},     {"dc", "dc"},   {"oper", "op"}, {"noise", "noise"},
        {"integ", "noise"}, {"sens", "sens"}, {"pole", "pz"}, {"sp ", "sp"},  {"transf", "tf"}};
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
