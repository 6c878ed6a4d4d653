/* conv_mat.c - writes MATLAB files of level 5: a struct for each plot, tran1.v_out.
 * Source: MathWorks, "MAT-File Format", version 5: a header of 128 bytes, then elements of a tag
 *         (type, bytes) and data, which begin at multiples of 8; up to 4 bytes of data stand in the
 *         tag (small elements).
 * Fields: one for each vector (a column of doubles), whose name has _ in place of what no name of
 *         MATLAB has; names and types, cells with the names and types as they are; title, plot,
 *         axis. */
#include <string.h>

#include "conv_mat.h"
#include "conv_priv.h"
#include "stream.h"

enum { FIELD = 64 };

/* -- writing: the size of an element stands in front of it, so it is computed first -- */

static uint64_t padded(uint64_t n) { return (n + 7) / 8 * 8; }
/* flags, dimensions, name of n letters */
static uint64_t head_bytes(size_t name) { return 16 + 16 + 8 + padded(name); }
static uint64_t text_bytes(const char *s) { return head_bytes(0) + 8 + padded(2 * strlen(s)); }
static uint64_t vector_bytes(const post_vec *v)
{
    return head_bytes(0) + (1 + v->complex) * (8 + 8 * (uint64_t)v->n);
}

static void put_pad(FILE *fp, uint64_t n) { conv_put(fp, 0, (int)(padded(n) - n)); }

static void put_head(FILE *fp, uint64_t bytes, uint32_t class, uint32_t rows, uint32_t columns,
                     const char *name)
{
    const size_t n = strlen(name);
    conv_put(fp, MI_MATRIX, 4);
    conv_put(fp, bytes, 4);
    conv_put(fp, MI_UINT32, 4);
    conv_put(fp, 8, 4);
    conv_put(fp, class, 4);
    conv_put(fp, 0, 4);
    conv_put(fp, MI_INT32, 4);
    conv_put(fp, 8, 4);
    conv_put(fp, rows, 4);
    conv_put(fp, columns, 4);
    conv_put(fp, MI_INT8, 4);
    conv_put(fp, n, 4);
    fwrite(name, 1, n, fp);
    put_pad(fp, n);
}

static void put_text(FILE *fp, const char *s)
{
    const size_t n = strlen(s);
    put_head(fp, text_bytes(s), MX_CHAR, n ? 1 : 0, (uint32_t)n, "");
    conv_put(fp, MI_UINT16, 4);
    conv_put(fp, 2 * n, 4);
    for (size_t i = 0; i < n; i++)
        conv_put(fp, (unsigned char)s[i], 2);
    put_pad(fp, 2 * n);
}

/* Writes a vector. late: only its frame; its values are written later, at[0] and at[1] on. */
static void put_vector(FILE *fp, const post_vec *v, bool late, int64_t at[2])
{
    put_head(fp, vector_bytes(v), MX_DOUBLE | (v->complex ? MX_COMPLEX_FLAG : 0), (uint32_t)v->n, 1,
             "");
    for (int part = 0; part <= v->complex; part++) {
        conv_put(fp, MI_DOUBLE, 4);
        conv_put(fp, 8 * (uint64_t)v->n, 4);
        if (late) {
            at[part] = ftello(fp);
            (void)fseeko(fp, (off_t)(8 * v->n), SEEK_CUR);
        }
        for (int64_t k = 0; k < v->n && !late; k++)
            conv_put_double(fp, part ? conv_im(v, k) : conv_re(v, k));
    }
}

/* Writes the values of vectors [first, first + n_vec).  at  in  [n_vec][2] their places in the file
 */
static vs_status put_batch(conv_job *j, const post_plot *p, size_t first, size_t n_vec,
                           int64_t (*at)[2], double *x)
{
    const int64_t points = conv_points(p), run = conv_run(conv_n_column(p, first, n_vec));
    vs_status st = VS_OK;
    for (int64_t from = 0; from < points && !st; from += run) {
        const int64_t n = points - from < run ? points - from : run;
        const double *column = x;
        st = conv_part(j, p, first, n_vec, from, n, x);
        for (size_t i = 0; i < n_vec && !st; i++)
            for (int part = 0; part <= p->vec[first + i]->complex; part++, column += n) {
                (void)fseeko(j->fp, (off_t)(at[i][part] + 8 * from), SEEK_SET);
                conv_put_doubles(j->fp, column, n);
            }
    }
    return st;
}

/* Writes the values that stand in a file into the frames of their vectors. */
static vs_status put_late(conv_job *j, const post_plot *p, int64_t (*at)[2])
{
    const off_t end = ftello(j->fp);
    double *x = vs_malloc((CONV_PIECE + 1) * sizeof *x);
    vs_status st = VS_OK;
    for (size_t first = 0; first < vec_len(p->vec) && !st; first += CONV_VECTORS)
        st = put_batch(j, p, first, conv_batch(p, first), at + first, x);
    vs_free(x);
    (void)fseeko(j->fp, end, SEEK_SET);
    return st;
}

/* Names or types of all vectors. */
static uint64_t cell_bytes(const post_plot *p, bool types)
{
    uint64_t n = head_bytes(0);
    for (size_t i = 0; i < vec_len(p->vec); i++)
        n += 8 + text_bytes(types ? p->vec[i]->type : p->vec[i]->name);
    return n;
}

static void put_cell(FILE *fp, const post_plot *p, bool types)
{
    put_head(fp, cell_bytes(p, types), MX_CELL, (uint32_t)vec_len(p->vec), 1, "");
    for (size_t i = 0; i < vec_len(p->vec); i++)
        put_text(fp, types ? p->vec[i]->type : p->vec[i]->name);
}

/* A name of MATLAB: letters, digits and _, first a letter; another for each vector. */
static void field_name(char to[FIELD], const char *name, size_t k, char (*taken)[FIELD])
{
    static const char *const own[] = {"title", "plot", "axis", "names", "types"};
    size_t n = 0;
    for (const char *s = name; *s && n < FIELD - 12; s++) {
        const bool ok =
            (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (!n && !(ok && (*s < '0' || *s > '9')))
            to[n++] = 'x';
        if (ok || (n && to[n - 1] != '_'))
            to[n++] = ok ? *s : '_';
    }
    while (n && to[n - 1] == '_')
        n--;
    if (!n)
        to[n++] = 'x';
    to[n] = 0;
    bool twice = false;
    for (size_t i = 0; i < VS_COUNT(own); i++)
        twice |= !strcmp(to, own[i]);
    for (size_t i = k > 2000 ? k : 0; i < k && !twice; i++)
        twice = !strcmp(to, taken[i]);
    if (twice || k > 2000)
        snprintf(to + n, FIELD - n, "_%zu", k + 1);
}

static vs_status put_struct(conv_job *j, const post_plot *p)
{
    static const char *const own[] = {"title", "plot", "axis", "names", "types"};
    const size_t n = vec_len(p->vec), fields = n + VS_COUNT(own);
    const char *axis = p->scale ? p->scale->name : "";
    uint64_t bytes = head_bytes(strlen(p->name)) + 8 + 8 + FIELD * fields;
    bytes += 8 + text_bytes(p->title) + 8 + text_bytes(p->what) + 8 + text_bytes(axis);
    bytes += 8 + cell_bytes(p, false) + 8 + cell_bytes(p, true);
    for (size_t i = 0; i < n; i++)
        bytes += 8 + vector_bytes(p->vec[i]);
    if (bytes > UINT32_MAX - 64)
        return conv_fail(j, "would have more than the 4 GB that MATLAB's level 5 has room for: "
                            "write .h5");
    char(*field)[FIELD] = vs_calloc(fields + 1, FIELD);
    put_head(j->fp, bytes, MX_STRUCT, 1, 1, p->name);
    conv_put(j->fp, 4 << 16 | MI_INT32, 4); /* a small element: the length of names */
    conv_put(j->fp, FIELD, 4);
    conv_put(j->fp, MI_INT8, 4);
    conv_put(j->fp, FIELD * fields, 4);
    for (size_t i = 0; i < n; i++)
        field_name(field[i], p->vec[i]->name, i, field);
    for (size_t i = 0; i < VS_COUNT(own); i++)
        snprintf(field[n + i], FIELD, "%s", own[i]);
    fwrite(field, FIELD, fields, j->fp);
    vs_free(field);
    const bool late = conv_late(p);
    int64_t(*at)[2] = vs_calloc(n + 1, sizeof *at);
    for (size_t i = 0; i < n; i++)
        put_vector(j->fp, p->vec[i], late, at[i]);
    put_text(j->fp, p->title);
    put_text(j->fp, p->what);
    put_text(j->fp, axis);
    put_cell(j->fp, p, false);
    put_cell(j->fp, p, true);
    const vs_status st = late ? put_late(j, p, at) : VS_OK;
    vs_free(at);
    return st;
}

vs_status conv_write_mat(conv_job *j)
{
    fprintf(j->fp, "%-116s", "MATLAB 5.0 MAT-file, written by vsim");
    conv_put(j->fp, 0, 8);
    conv_put(j->fp, 0x0100, 2);
    fputs("IM", j->fp);
    vs_status st = VS_OK;
    for (size_t i = 0; i < j->n && !st; i++)
        st = put_struct(j, j->plot[i]);
    return st;
}
