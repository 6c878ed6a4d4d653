/* table.c - see table.h. */
#include "table.h"

#include <math.h>
#include <string.h>

#include "post_priv.h"

/* A number in `digits` significant places behind the point; a sign costs one of them. */
static int number_text(char *s, size_t size, double x, int digits)
{
    return snprintf(s, size, "%.*e", signbit(x) ? digits - 1 : digits, x);
}

static void print_single(const post_val *v, int digits, FILE *out)
{
    char re[64], im[64];
    cplx x = post_at(v, 0);
    number_text(re, sizeof re, creal(x), digits);
    number_text(im, sizeof im, cimag(x), digits);
    fprintf(out, v->complex ? "%s = %s,%s\n" : "%s = %s\n", v->name, re, im);
}

static void print_line(const post_val *v, int digits, FILE *out)
{
    char s[64];
    fprintf(out, "%s = (  ", v->name);
    for (int64_t k = 0; k < v->n; k++) {
        number_text(s, sizeof s, creal(post_at(v, k)), digits);
        fputs(s, out);
        if (v->complex) {
            number_text(s, sizeof s, cimag(post_at(v, k)), digits);
            fprintf(out, ",%s", s);
        }
        fputc('\t', out);
    }
    fputs(")\n", out);
}

static void centred(const char *text, int width, FILE *out)
{
    int pad = (width - (int)strlen(text)) / 2;
    fprintf(out, "%*s%s\n", pad > 0 ? pad : 0, "", text);
}

static void print_row(const post_val *v, int64_t k, int digits, FILE *out)
{
    char s[64];
    if (k >= v->n) {
        fputs(v->complex ? "\t\t" : "\t", out);
        return;
    }
    number_text(s, sizeof s, creal(post_at(v, k)), digits);
    fprintf(out, v->complex ? "%s,\t" : "%s\t", s);
    if (v->complex) {
        number_text(s, sizeof s, cimag(post_at(v, k)), digits);
        fprintf(out, "%s\t", s);
    }
}

static void print_group(const post_val *v, size_t n, const post_val *axis, const post_plot *plot,
                        const post_table *t, int digits, int width, FILE *out)
{
    char what[256];
    int64_t rows = n ? 0 : axis->n;
    snprintf(what, sizeof what, "%s  %s", plot ? plot->what : "", plot ? plot->date : "");
    centred(plot ? plot->title : "", width, out);
    centred(what, width, out);
    for (int i = 0; i < width; i++)
        fputc('-', out);
    fputs(t->no_index ? "\n" : "\nIndex   ", out);
    if (axis)
        fprintf(out, "%-16s", axis->name);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%-*s", v[i].complex ? 32 : 16, v[i].name);
        rows = v[i].n > rows ? v[i].n : rows;
    }
    fputc('\n', out);
    for (int i = 0; i < width; i++)
        fputc('-', out);
    fputc('\n', out);
    for (int64_t k = 0; k < rows; k++) {
        if (!t->no_index)
            fprintf(out, "%lld\t", (long long)k);
        if (axis)
            print_row(axis, k, digits, out);
        for (size_t i = 0; i < n; i++)
            print_row(&v[i], k, digits, out);
        fputc('\n', out);
    }
    fputc('\n', out);
}

void post_print(const post_val *v, size_t n, const post_plot *plot, const post_table *t, FILE *out)
{
    int digits = t->digits > 0 ? t->digits : 6, width = t->width > 0 ? t->width : 80;
    bool single = !t->as_columns;
    for (size_t i = 0; i < n; i++)
        single &= v[i].n == 1;
    if (single || t->as_line) {
        for (size_t i = 0; i < n; i++)
            v[i].n == 1 ? print_single(&v[i], digits, out) : print_line(&v[i], digits, out);
        return;
    }
    post_val axis;
    const post_vec *a = NULL;
    for (size_t i = 0; i < n && !a; i++)
        a = post_axis(&v[i]);
    if (a)
        axis = (post_val){.complex = false, .n = a->n, .v = a->v, .name = a->name, .type = a->type};
    post_val *column = NULL; /* the axis is the first one anyway */
    for (size_t i = 0; i < n; i++)
        if (!a || v[i].v != a->v)
            vec_push(column, v[i]);
    if (!vec_len(column) && a)
        print_group(NULL, 0, &axis, plot, t, digits, width, out);
    for (size_t at = 0, end; at < vec_len(column); at = end) {
        int used = 8 + (a ? 16 : 0);
        for (end = at; end < vec_len(column) &&
                       (end == at || used + (column[end].complex ? 32 : 16) <= width);
             end++)
            used += column[end].complex ? 32 : 16;
        print_group(column + at, end - at, a ? &axis : NULL, plot, t, digits, width, out);
    }
    vec_free(column);
}

/* `x` in a column, or as much room without a number. */
static void data_cell(bool there, double x, int digits, FILE *out)
{
    if (there)
        fprintf(out, "% .*e ", digits, x);
    else
        fprintf(out, "%*s", digits + 8, "");
}

static void data_names(const post_val *v, size_t n, bool one_axis, int digits, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        const post_vec *a = post_axis(&v[i]);
        if (!i || !one_axis)
            fprintf(out, " %-*s", digits + 7, a ? a->name : "index");
        for (int w = 0; w <= v[i].complex; w++)
            fprintf(out, " %-*s", digits + 7, v[i].name);
    }
    fputc('\n', out);
}

bool post_write_data(const post_val *v, size_t n, bool one_axis, bool names, int digits, FILE *out)
{
    int64_t rows = 0;
    digits = digits > 0 ? digits : 8;
    for (size_t i = 0; i < n; i++)
        rows = v[i].n > rows ? v[i].n : rows;
    if (names)
        data_names(v, n, one_axis, digits, out);
    for (int64_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < n; i++) {
            const bool there = k < v[i].n;
            const cplx x = post_at(&v[i], k);
            if (!i || !one_axis)
                data_cell(there, there ? post_axis_at(&v[i], k) : NAN, digits, out);
            data_cell(there, creal(x), digits, out);
            if (v[i].complex)
                data_cell(there, cimag(x), digits, out);
        }
        fputc('\n', out);
    }
    return !ferror(out);
}

/* Shorter vectors, such as results of measures, go on with their last value. */
vs_status post_write_raw(post_env *e, const post_val *v, size_t n, const post_plot *plot,
                         out_file *f)
{
    out_vector *col = NULL;
    bool complex = false;
    int64_t rows = 0;
    for (size_t i = 0; i < n; i++) {
        complex |= v[i].complex;
        rows = v[i].n > rows ? v[i].n : rows;
        if (!v[i].n) {
            post_fail(e, "'%s' has no values", v[i].name);
            return VS_EINPUT;
        }
    }
    const post_vec *axis = plot && plot->scale && plot->scale->n == rows ? plot->scale : NULL;
    if (axis)
        vec_push(col, (out_vector){axis->name, axis->type});
    for (size_t i = 0; i < n; i++)
        if (!axis || strcmp(v[i].name, axis->name))
            vec_push(col, (out_vector){v[i].name, v[i].type});
    int w = 1 + complex;
    double *row = arena_array(e->mem, double, vec_len(col) * (size_t)w);
    vs_status st = out_plot_begin(f, plot ? plot->title : "", plot ? plot->what : "", col,
                                  (int32_t)vec_len(col), complex);
    for (int64_t k = 0; k < rows && !st; k++) {
        size_t at = 0;
        if (axis) {
            row[0] = axis->complex ? axis->v[2 * k] : axis->v[k];
            at += (size_t)w;
        }
        for (size_t i = 0; i < n; i++) {
            if (axis && !strcmp(v[i].name, axis->name))
                continue;
            row[at] = creal(post_at(&v[i], k));
            if (complex)
                row[at + 1] = cimag(post_at(&v[i], k));
            at += (size_t)w;
        }
        st = out_point(f, row);
    }
    vec_free(col);
    return st ? st : out_plot_end(f);
}
