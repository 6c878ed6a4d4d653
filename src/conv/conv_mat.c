/* conv_mat.c - MATLAB files of level 5: a struct for each plot, tran1.v_out.
 * Source: MathWorks, "MAT-File Format", version 5: a header of 128 bytes, then elements of a tag
 *         (type, bytes) and data, which begin at multiples of 8; up to 4 bytes of data stand in the
 *         tag (small elements). Written in the byte order of the writer, "IM" for the least first.
 * Fields: one for each vector (a column of doubles), whose name has _ in place of what no name of
 *         MATLAB has; names and types, cells with the names and types as they are; title, plot,
 *         axis. Read back: numeric fields of structs, and numeric variables as a table; the columns
 *         of a matrix A are A_1, A_2, ... The notes have what is no array of numbers. */
#include <string.h>

#include "conv_priv.h"
#include "stream.h"

enum {
    MI_INT8 = 1,
    MI_UINT8,
    MI_INT16,
    MI_UINT16,
    MI_INT32,
    MI_UINT32,
    MI_SINGLE,
    MI_DOUBLE = 9,
    MI_INT64 = 12,
    MI_UINT64,
    MI_MATRIX,
    MI_COMPRESSED,
    MI_UTF8,
    MI_UTF16
};
enum {
    MX_CELL = 1,
    MX_STRUCT,
    MX_OBJECT,
    MX_CHAR,
    MX_SPARSE,
    MX_DOUBLE,
    MX_UINT64 = 15,
    MX_FUNCTION,
    MX_OPAQUE
};
enum {
    FIELD = 64,
    COMPLEX_FLAG = 0x0800,
    MOST_BYTES = 1 << 30 /* of a compressed variable */
};

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
    put_head(fp, vector_bytes(v), MX_DOUBLE | (v->complex ? COMPLEX_FLAG : 0), (uint32_t)v->n, 1,
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

/* -- reading -- */

typedef struct element {
    uint32_t type;
    const unsigned char *data;
    uint64_t n; /* bytes */
} element;

/* The element at *at, which is moved behind it; false: it is not whole. */
static bool next_element(const unsigned char **at, const unsigned char *end, element *e)
{
    const unsigned char *s = *at;
    if (end - s < 8)
        return false;
    const uint32_t tag = conv_u32(s);
    if (tag >> 16) { /* small */
        *e = (element){tag & 0xffff, s + 4, tag >> 16};
        *at = s + 8;
        return e->n <= 4;
    }
    *e = (element){tag, s + 8, conv_u32(s + 4)};
    if (e->n > (uint64_t)(end - s - 8))
        return false;
    const uint64_t all = tag == MI_COMPRESSED ? e->n : padded(e->n);
    *at = all > (uint64_t)(end - s - 8) ? end : s + 8 + all;
    return true;
}

typedef struct matrix {
    uint32_t class;
    bool complex;
    uint64_t n, rows; /* elements; in the first dimension that is longer than 1 */
    element name;
    const unsigned char *rest, *end;
} matrix;

static bool is_number(const matrix *m) { return m->class >= MX_DOUBLE && m->class <= MX_UINT64; }

/* Objects of MATLAB's classes have no dimensions. In structs and cells [] has no bytes at all. */
static bool open_matrix(const element *e, matrix *m)
{
    const unsigned char *at = e->data, *end = at + e->n;
    element flags, dims = {0};
    *m = (matrix){.class = MX_DOUBLE, .rest = end, .end = end};
    if (e->type == MI_MATRIX && !e->n)
        return true;
    if (e->type != MI_MATRIX || !next_element(&at, end, &flags) || flags.n < 8)
        return false;
    m->class = conv_u32(flags.data) & 0xff;
    m->complex = conv_u32(flags.data) & COMPLEX_FLAG;
    if ((m->class != MX_OPAQUE && !next_element(&at, end, &dims)) ||
        !next_element(&at, end, &m->name))
        return false;
    m->n = dims.n >= 4;
    m->rows = 1;
    for (uint64_t i = 0; i + 4 <= dims.n && m->n <= e->n; i += 4) {
        m->n *= conv_u32(dims.data + i);
        m->rows = m->rows > 1 ? m->rows : conv_u32(dims.data + i);
    }
    m->rest = at;
    return m->class == MX_SPARSE || m->n <= e->n; /* each has a byte at least */
}

static int width_of(uint32_t type)
{
    static const int width[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    return type < VS_COUNT(width) ? width[type] : 0;
}

static double number_at(const element *e, uint64_t k)
{
    const unsigned char *s = e->data + k * (uint64_t)width_of(e->type);
    const uint64_t u = width_of(e->type) == 8 ? conv_u64(s) : 0;
    const uint32_t w = width_of(e->type) == 4 ? conv_u32(s) : 0;
    double x;
    float f;
    memcpy(&x, &u, sizeof x);
    memcpy(&f, &w, sizeof f);
    switch (e->type) {
    case MI_INT8: return (int8_t)s[0];
    case MI_UINT8: return s[0];
    case MI_INT16: return (int16_t)(s[0] | s[1] << 8);
    case MI_UINT16: return s[0] | s[1] << 8;
    case MI_INT32: return (int32_t)w;
    case MI_UINT32: return w;
    case MI_SINGLE: return (double)f;
    case MI_INT64: return (double)(int64_t)u;
    case MI_UINT64: return (double)u;
    default: return x;
    }
}

/* What a variable is that is no array of numbers. */
static const char *word_of(const matrix *m)
{
    switch (m->class) {
    case MX_CELL: return "a cell array";
    case MX_STRUCT: return "a struct";
    case MX_CHAR: return "text";
    case MX_SPARSE: return "a sparse matrix";
    case MX_FUNCTION: return "a function";
    default: return "an object";
    }
}

/* Adds a vector, or one for each column of a matrix, in the order of the file. Status: VS_OK;
 * VS_EINPUT: the numbers are not whole, with j->why. */
static vs_status take_numbers(conv_job *j, arena *mem, post_plot *p, const matrix *m,
                              const char *name, const char *type, bool axis)
{
    const unsigned char *at = m->rest;
    element part[2];
    for (int i = 0; i <= m->complex && m->n; i++)
        if (!next_element(&at, m->end, &part[i]) || !width_of(part[i].type) ||
            part[i].n / (uint64_t)width_of(part[i].type) < m->n)
            return conv_fail(j, "has a variable whose numbers are damaged: '%.60s'", name);
    const uint64_t rows = m->n ? m->rows : 0, columns = m->n ? m->n / rows : 1;
    if (columns > CONV_MOST_COLUMNS) {
        conv_left_out(j, "'%.60s' has %llu columns, and is not read: %d are the most", name,
                      (unsigned long long)columns, CONV_MOST_COLUMNS);
        return VS_OK;
    }
    for (uint64_t c = 0; c < columns; c++) {
        post_vec *v = post_plot_append(
            j->set, p, columns > 1 ? conv_column_name(mem, name, c) : name, type, m->complex);
        for (uint64_t k = c * rows; k < (c + 1) * rows; k++)
            post_vec_push(v, number_at(&part[0], k), m->complex ? number_at(&part[1], k) : 0);
        if (axis && !c)
            p->scale = v;
    }
    return VS_OK;
}

/* Reads letters; one that needs more than a byte becomes '?'. */
static char *text_of(arena *mem, const matrix *m)
{
    const unsigned char *at = m->rest;
    element e;
    char *s = arena_alloc(mem, m->n + 1);
    if (m->class != MX_CHAR || !next_element(&at, m->end, &e) ||
        !width_of(e.type == MI_UTF8    ? MI_UINT8
                  : e.type == MI_UTF16 ? MI_UINT16
                                       : e.type))
        return s;
    const uint64_t w = e.type == MI_UTF8 ? 1 : e.type == MI_UTF16 ? 2 : (uint64_t)width_of(e.type);
    for (uint64_t k = 0; k < m->n && (k + 1) * w <= e.n; k++)
        s[k] = w == 1 || !e.data[k * w + 1] ? (char)e.data[k * w] : '?';
    return s;
}

/* The texts of a cell: a vec. */
static char **texts_of(arena *mem, const matrix *m)
{
    const unsigned char *at = m->rest;
    char **out = NULL;
    element e;
    matrix one;
    for (uint64_t k = 0; m->class == MX_CELL && k < m->n && next_element(&at, m->end, &e); k++)
        vec_push(out, open_matrix(&e, &one) ? text_of(mem, &one) : "");
    return out;
}

typedef struct fields {
    char **name; /* vec, of the file */
    matrix *m;   /* vec */
} fields;

static const matrix *find(const fields *f, const char *name)
{
    for (size_t i = 0; i < vec_len(f->name); i++)
        if (!strcmp(f->name[i], name))
            return &f->m[i];
    return NULL;
}

static bool read_fields(arena *mem, const matrix *m, fields *f)
{
    const unsigned char *at = m->rest;
    element length, names, e;
    if (!next_element(&at, m->end, &length) || length.n < 4 || !next_element(&at, m->end, &names))
        return false;
    const uint32_t n = conv_u32(length.data);
    for (uint64_t k = 0; n && (k + 1) * n <= names.n; k++) {
        matrix one;
        const char *s = (const char *)names.data + k * n;
        if (!next_element(&at, m->end, &e) || !open_matrix(&e, &one))
            return false;
        vec_push(f->name, arena_strndup(mem, s, strnlen(s, n)));
        vec_push(f->m, one);
    }
    return true;
}

/* Reads the fields of a struct that are numbers into a plot. */
static vs_status take_fields(conv_job *j, arena *mem, const fields *f, const char *name)
{
    static const char *const own[] = {"title", "plot", "axis", "names", "types"};
    const matrix *of[VS_COUNT(own)];
    char word[64];
    vs_status st = VS_OK;
    for (size_t i = 0; i < VS_COUNT(own); i++) {
        of[i] = find(f, own[i]);
        of[i] = of[i] && of[i]->class == (i < 3 ? MX_CHAR : MX_CELL) ? of[i] : NULL;
    }
    snprintf(word, sizeof word, "%s", name);
    word[strcspn(word, "0123456789")] = 0;
    post_plot *p = post_plot_new(j->set, *word ? word : "table", of[0] ? text_of(mem, of[0]) : "",
                                 of[1] ? text_of(mem, of[1]) : name);
    const char *axis = of[2] ? text_of(mem, of[2]) : "";
    char **real = of[3] ? texts_of(mem, of[3]) : NULL, **type = of[4] ? texts_of(mem, of[4]) : NULL;
    for (size_t i = 0; i < vec_len(f->m) && !st; i++) {
        const matrix *m = &f->m[i];
        const char *called = i < vec_len(real) ? real[i] : f->name[i];
        bool known = false;
        for (size_t k = 0; k < VS_COUNT(own); k++)
            known |= m == of[k];
        if (is_number(m))
            st = take_numbers(j, mem, p, m, called, i < vec_len(type) ? type[i] : "notype",
                              *axis && !strcmp(called, axis));
        else if (!known)
            conv_left_out(j, "'%.60s.%.60s' is %s, and is not read", name, f->name[i], word_of(m));
    }
    vec_free(real);
    vec_free(type);
    return st;
}

static vs_status take_struct(conv_job *j, arena *mem, const matrix *m, const char *name)
{
    fields f = {0};
    vs_status st = VS_OK;
    if (m->n != 1)
        conv_left_out(j, "'%.60s' is an array of %llu structs, and is not read", name,
                      (unsigned long long)m->n);
    else if (!read_fields(mem, m, &f))
        st = conv_fail(j, "has a struct whose fields are damaged: '%.60s'", name);
    else
        st = take_fields(j, mem, &f, name);
    vec_free(f.name);
    vec_free(f.m);
    return st;
}

/* Reads a variable.  loose  in/out  the table of variables in no struct, made at the first one */
static vs_status take_variable(conv_job *j, arena *mem, const element *e, post_plot **loose)
{
    matrix m;
    if (!open_matrix(e, &m))
        return conv_fail(j, "has a variable that makes no sense");
    const char *name = arena_strndup(mem, (const char *)m.name.data, m.name.n);
    if (!*name) /* what MATLAB itself keeps about its objects */
        return VS_OK;
    if (m.class == MX_STRUCT)
        return take_struct(j, mem, &m, name);
    if (!is_number(&m)) {
        conv_left_out(j, "'%.60s' is %s, and is not read", name, word_of(&m));
        return VS_OK;
    }
    if (!*loose)
        *loose = post_plot_new(j->set, "table", j->path, "Table");
    return take_numbers(j, mem, *loose, &m, name, "notype", false);
}

/* Reads a variable that zlib compressed. */
static vs_status take_compressed(conv_job *j, arena *mem, const element *e, post_plot **loose)
{
    size_t n = 0;
    unsigned char *bytes = conv_inflate(e->data, e->n, CONV_ZLIB, MOST_BYTES, &n);
    const unsigned char *at = bytes;
    element inner;
    vs_status st;
    if (!bytes || !next_element(&at, bytes + n, &inner))
        st = conv_fail(j, "has a compressed variable that is damaged");
    else
        st = take_variable(j, mem, &inner, loose);
    vs_free(bytes);
    return st;
}

vs_status conv_read_mat(conv_job *j)
{
    size_t n;
    char *bytes = conv_bytes(j->path, &n);
    if (!bytes)
        return conv_fail(j, "cannot be read");
    arena mem;
    arena_init(&mem);
    const unsigned char *at = (const unsigned char *)bytes + 128,
                        *end = (const unsigned char *)bytes + n;
    vs_status st = VS_OK;
    post_plot *loose = NULL;
    if (n >= 7 && memcmp(bytes, "MATLAB ", 7) != 0)
        st = conv_fail(j, "is no MATLAB file of level 5: save it with -v6 or -v7");
    else if (n < 128 || memcmp(bytes + 126, "IM", 2) != 0)
        st = conv_fail(j, "is a MATLAB file of another byte order, or cut off");
    while (!st && at < end) {
        element e;
        if (!next_element(&at, end, &e))
            st = conv_fail(j, "ends in the middle of a variable");
        else if (e.type == MI_COMPRESSED)
            st = take_compressed(j, &mem, &e, &loose);
        else
            st = take_variable(j, &mem, &e, &loose);
    }
    arena_fini(&mem);
    vs_free(bytes);
    return st;
}
