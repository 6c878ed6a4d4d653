/* fig_page.c - curves as the data of a page that stands alone: an index as that of src/view, the
 * curves with their points, what is shown at first. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fig_priv.h"
#include "files.h"
#include "page.h"
#include "reduce.h"
#include "vec.h"

/* A curve of more points is reduced to those that so many columns show: a window of 2000 columns
 * can then zoom in four times without a difference. */
enum { COLUMNS = 8192 };

static void field(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    page_string(out, text ? text : "");
}

static const fig_value *value_of(const fig *f, int32_t expression, int32_t member)
{
    for (size_t k = 0; k < vec_len(f->value); k++)
        if (f->value[k].expression == expression && f->value[k].member == member)
            return &f->value[k];
    return NULL;
}

/* The name of a plot without the values of a sweep. */
static void put_kind(const post_plot *of, FILE *out)
{
    const char *family = of ? fig_family(of) : NULL;
    char what[128];
    snprintf(what, sizeof what, "%.*s", family ? (int)(family - of->what) - 2 : 127,
             of ? of->what : "");
    field(out, "what", what);
}

static void put_index(const fig *f, const char *title, const fig_request *r, FILE *out)
{
    const fig_value *first = &f->value[0];
    const post_plot *of = first->v.plot;
    fputs("\"index\":{\"program\":\"vsim\",\"generation\":0,\"files\":[{\"name\":", out);
    page_string(out, title);
    fputs(",\"why\":\"\",\"notes\":[", out);
    for (size_t k = 0; k < r->n_note; k++) {
        fputs(k ? "," : "", out);
        page_string(out, r->note[k]);
    }
    fputs("]}],\"groups\":[{\"id\":0,\"file\":0", out);
    field(out, "word", of ? post_word_of(of->what) : "");
    put_kind(of, out);
    field(out, "title", title);
    field(out, "axis", first->over.name ? first->over.name : first->axis ? first->axis->name : "");
    fputs(",\"members\":[", out);
    for (int32_t m = 0; m < f->n_member; m++) {
        const fig_value *v = value_of(f, 0, m);
        fputs(m ? ",[" : "[", out);
        page_string(out, v && v->family ? v->family : "");
        fprintf(out, ",%lld]", v ? (long long)v->v.n : 0);
    }
    fputs("],\"names\":[", out);
    for (int32_t k = 0; k < f->n_expression; k++) {
        const fig_value *v = value_of(f, k, 0);
        fputs(k ? "," : "", out);
        page_string(out, v ? v->v.name : "");
    }
    fputs("],\"type\":[", out);
    for (int32_t k = 0; k < f->n_expression; k++)
        fprintf(out, "%s%d", k ? "," : "", k);
    fputs("],\"complex\":[", out);
    for (int32_t k = 0; k < f->n_expression; k++) {
        const fig_value *v = value_of(f, k, 0);
        fprintf(out, "%s%d", k ? "," : "", v && v->v.complex);
    }
    fputs("],\"types\":[", out);
    for (int32_t k = 0; k < f->n_expression; k++) {
        const fig_value *v = value_of(f, k, 0);
        fputs(k ? ",[" : "[", out);
        page_string(out, v ? v->v.type : "");
        fputc(',', out);
        page_string(out, v ? fig_unit(v->v.type) : "");
        fputc(']', out);
    }
    fputs("]}]}", out);
}

/* -- points -- */

typedef struct points {
    double *x, *y, *im; /* [n] */
    int64_t n;
} points;

static double axis_at(const fig_value *v, int64_t k)
{
    if (v->over.name) {
        const int64_t at = k < v->over.n ? k : v->over.n - 1;
        return v->over.v[v->over.complex ? 2 * at : at];
    }
    return v->axis ? v->axis->v[v->axis->complex ? 2 * k : k] : (double)k;
}

static points points_of(arena *mem, const fig_value *v)
{
    const int64_t n = v->over.name && !v->over.n ? 0 : v->v.n;
    double *x = arena_array(mem, double, n + 1), *size = arena_array(mem, double, n + 1);
    for (int64_t k = 0; k < n; k++) {
        x[k] = axis_at(v, k);
        size[k] = v->v.complex ? hypot(v->v.v[2 * k], v->v.v[2 * k + 1]) : v->v.v[k];
    }
    int64_t *at = arena_array(mem, int64_t, n + 1);
    points p = {.n = reduce_points(x, size, n, COLUMNS, at)};
    p.x = arena_array(mem, double, p.n + 1);
    p.y = arena_array(mem, double, p.n + 1);
    p.im = v->v.complex ? arena_array(mem, double, p.n + 1) : NULL;
    for (int64_t k = 0; k < p.n; k++) {
        p.x[k] = x[at[k]];
        p.y[k] = v->v.v[v->v.complex ? 2 * at[k] : at[k]];
        if (p.im)
            p.im[k] = v->v.v[2 * at[k] + 1];
    }
    return p;
}

static void put_member(arena *mem, const fig_value *v, bool first, FILE *out)
{
    const arena_pos mark = arena_mark(mem);
    const points p = points_of(mem, v);
    fprintf(out, "%s{\"member\":%d", first ? "" : ",", (int)v->member);
    field(out, "label", v->family);
    fprintf(out, ",\"all\":%lld,\"x\":", (long long)v->v.n);
    page_numbers(out, p.x, p.n);
    fputs(",\"y\":", out);
    page_numbers(out, p.y, p.n);
    if (p.im) {
        fputs(",\"im\":", out);
        page_numbers(out, p.im, p.n);
    }
    fputc('}', out);
    arena_release(mem, mark);
}

static void put_curve(const fig *f, arena *mem, int32_t expression, FILE *out)
{
    const fig_value *v = value_of(f, expression, 0);
    if (!v)
        return;
    const char *axis = v->over.name ? v->over.name
                       : v->axis    ? v->axis->name
                                    : "index",
               *type = v->over.name ? v->over.type
                       : v->axis    ? v->axis->type
                                    : "";
    fprintf(out, "%s{\"group\":0", expression ? "," : "");
    field(out, "expr", v->v.name);
    field(out, "unit", fig_unit(v->v.type));
    field(out, "type", v->v.type);
    field(out, "axis", axis);
    field(out, "axisUnit", fig_axis_unit(axis, type));
    fprintf(out, ",\"complex\":%s,\"members\":[", v->v.complex ? "true" : "false");
    bool first = true;
    for (int32_t m = 0; m < f->n_member; m++) {
        const fig_value *w = value_of(f, expression, m);
        if (w)
            put_member(mem, w, first, out);
        first &= !w;
    }
    fputs("]}", out);
}

static void put_wish(const fig_request *r, FILE *out)
{
    static const char *const kind[] = {"xy", "bode", "smith", "polar"};
    fprintf(out, "\"wish\":{\"kind\":\"%s\",\"stack\":%s,\"dark\":%s,\"xlog\":%s,\"ylog\":%s",
            kind[r->kind], r->stack ? "true" : "false", r->dark ? "true" : "false",
            r->xlog ? "true" : "false", r->ylog ? "true" : "false");
    field(out, "xlabel", r->xlabel);
    field(out, "ylabel", r->ylabel);
    const double limit[] = {r->xlo, r->xhi, r->ylo, r->yhi};
    static const char *const name[] = {"xlo", "xhi", "ylo", "yhi"};
    for (int k = 0; k < 4; k++) {
        fprintf(out, ",\"%s\":", name[k]);
        page_number(out, limit[k]);
    }
    fputc('}', out);
}

vs_status fig_page(const fig *f, post_env *e, const fig_request *r, FILE *out, const char **why)
{
    if (!vec_len(f->value)) {
        *why = "there is nothing to draw";
        return VS_EINPUT;
    }
    const post_plot *of = f->value[0].v.plot;
    const char *title = r->title ? r->title : of && of->title && *of->title ? of->title : "vsim";
    page_begin(out, title);
    fputc('{', out);
    put_index(f, title, r, out);
    fputs(",\"curves\":[", out);
    for (int32_t k = 0; k < f->n_expression; k++)
        put_curve(f, e->mem, k, out);
    fputs("],", out);
    put_wish(r, out);
    fputc('}', out);
    page_end(out);
    if (!ferror(out))
        return VS_OK;
    *why = files_why(errno);
    return VS_EIO;
}
