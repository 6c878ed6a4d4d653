/* conv_mat_read.c - reads MATLAB files of level 5 and 4, of either byte order.
 * Source: MathWorks, "MAT-File Format", version 5, also for level 4. Level 5: conv_mat.c; "IM" at
 *         byte 126 says that the lowest byte comes first, "MI" the highest. Level 4: for each
 *         variable five numbers of 4 bytes (1000 M + 10 P + T; rows; columns; is it complex? bytes
 *         of the name), the name, real parts, imaginary parts. M: the machine, 0 or 1 of IEEE, with
 *         the lowest or highest byte first; P: the type of numbers; T: numbers, text, sparse.
 * Read: numeric fields of structs, and numeric variables as a table; the columns of a matrix A are
 *       A_1, A_2, ... The notes have what is no array of numbers. */
#include <string.h>

#include "conv_mat.h"
#include "conv_priv.h"

enum { MOST_BYTES = 1 << 30 /* of a compressed variable */ };

/* -- bytes -- */

static uint64_t padded(uint64_t n) { return (n + 7) / 8 * 8; }

/* A whole number of `width` bytes, whose lowest or, big, highest byte comes first. */
static uint64_t whole(const unsigned char *s, int width, bool big)
{
    uint64_t x = 0;
    for (int i = 0; i < width; i++)
        x = x << 8 | s[big ? i : width - 1 - i];
    return x;
}

typedef struct element {
    uint32_t type;
    bool big; /* the highest byte comes first */
    const unsigned char *data;
    uint64_t n; /* bytes */
} element;

/* The element at *at, which is moved behind it; false: it is not whole. */
static bool next_element(const unsigned char **at, const unsigned char *end, bool big, element *e)
{
    const unsigned char *s = *at;
    if (end - s < 8)
        return false;
    const uint32_t tag = (uint32_t)whole(s, 4, big);
    if (tag >> 16) { /* small */
        *e = (element){tag & 0xffff, big, s + 4, tag >> 16};
        *at = s + 8;
        return e->n <= 4;
    }
    *e = (element){tag, big, s + 8, whole(s + 4, 4, big)};
    if (e->n > (uint64_t)(end - s - 8))
        return false;
    const uint64_t all = tag == MI_COMPRESSED ? e->n : padded(e->n);
    *at = all > (uint64_t)(end - s - 8) ? end : s + 8 + all;
    return true;
}

typedef struct matrix {
    uint32_t class;
    bool complex, big;
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
    *m = (matrix){.class = MX_DOUBLE,
                  .big = e->big,
                  .name = {.data = (const unsigned char *)""},
                  .rest = end,
                  .end = end};
    if (e->type == MI_MATRIX && !e->n)
        return true;
    if (e->type != MI_MATRIX || !next_element(&at, end, e->big, &flags) || flags.n < 8)
        return false;
    m->class = (uint32_t)whole(flags.data, 4, e->big) & 0xff;
    m->complex = whole(flags.data, 4, e->big) & MX_COMPLEX_FLAG;
    if ((m->class != MX_OPAQUE && !next_element(&at, end, e->big, &dims)) ||
        !next_element(&at, end, e->big, &m->name))
        return false;
    m->n = dims.n >= 4;
    m->rows = 1;
    for (uint64_t i = 0; i + 4 <= dims.n && m->n <= e->n; i += 4) {
        m->n *= whole(dims.data + i, 4, e->big);
        m->rows = m->rows > 1 ? m->rows : whole(dims.data + i, 4, e->big);
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
    const int width = width_of(e->type);
    const uint64_t u = whole(e->data + k * (uint64_t)width, width, e->big);
    const uint32_t w = (uint32_t)u;
    double x;
    float f;
    memcpy(&x, &u, sizeof x);
    memcpy(&f, &w, sizeof f);
    switch (e->type) {
    case MI_INT8: return (int8_t)u;
    case MI_INT16: return (int16_t)u;
    case MI_INT32: return (int32_t)u;
    case MI_INT64: return (double)(int64_t)u;
    case MI_SINGLE: return (double)f;
    case MI_DOUBLE: return x;
    default: return (double)u;
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

/* Adds a vector of `part`, real and imaginary parts of n numbers each, or one for each column of a
 * matrix, in the order of the file. */
static void add_columns(conv_job *j, arena *mem, post_plot *p, const element part[2],
                        const matrix *m, const char *name, const char *type, bool axis)
{
    const uint64_t rows = m->n ? m->rows : 0, columns = m->n ? m->n / rows : 1;
    if (columns > CONV_MOST_COLUMNS) {
        conv_left_out(j, "'%.60s' has %llu columns, and is not read: %d are the most", name,
                      (unsigned long long)columns, CONV_MOST_COLUMNS);
        return;
    }
    for (uint64_t c = 0; c < columns; c++) {
        post_vec *v = post_plot_append(
            j->set, p, columns > 1 ? conv_column_name(mem, name, c) : name, type, m->complex);
        for (uint64_t k = c * rows; k < (c + 1) * rows; k++)
            post_vec_push(v, number_at(&part[0], k), m->complex ? number_at(&part[1], k) : 0);
        if (axis && !c)
            p->scale = v;
    }
}

/* Status: VS_OK; VS_EINPUT: the numbers are not whole, with j->why. */
static vs_status take_numbers(conv_job *j, arena *mem, post_plot *p, const matrix *m,
                              const char *name, const char *type, bool axis)
{
    const unsigned char *at = m->rest;
    element part[2];
    for (int i = 0; i <= m->complex && m->n; i++)
        if (!next_element(&at, m->end, m->big, &part[i]) || !width_of(part[i].type) ||
            part[i].n / (uint64_t)width_of(part[i].type) < m->n)
            return conv_fail(j, "has a variable whose numbers are damaged: '%.60s'", name);
    add_columns(j, mem, p, part, m, name, type, axis);
    return VS_OK;
}

/* One that needs more than a byte becomes '?'. */
static char letter(uint64_t code) { return code < 256 ? (char)(unsigned char)code : '?'; }

static char *text_of(arena *mem, const matrix *m)
{
    const unsigned char *at = m->rest;
    element e;
    char *s = arena_alloc(mem, m->n + 1);
    if (m->class != MX_CHAR || !next_element(&at, m->end, m->big, &e) ||
        !width_of(e.type == MI_UTF8    ? MI_UINT8
                  : e.type == MI_UTF16 ? MI_UINT16
                                       : e.type))
        return s;
    const uint64_t w = e.type == MI_UTF8 ? 1 : e.type == MI_UTF16 ? 2 : (uint64_t)width_of(e.type);
    for (uint64_t k = 0; k < m->n && (k + 1) * w <= e.n; k++)
        s[k] = letter(whole(e.data + k * w, (int)w, e.big));
    return s;
}

/* The texts of a cell: a vec. */
static char **texts_of(arena *mem, const matrix *m)
{
    const unsigned char *at = m->rest;
    char **out = NULL;
    element e;
    matrix one;
    for (uint64_t k = 0; m->class == MX_CELL && k < m->n && next_element(&at, m->end, m->big, &e);
         k++)
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
    if (!next_element(&at, m->end, m->big, &length) || length.n < 4 ||
        !next_element(&at, m->end, m->big, &names))
        return false;
    const uint32_t n = (uint32_t)whole(length.data, 4, m->big);
    for (uint64_t k = 0; n && (k + 1) * n <= names.n; k++) {
        matrix one;
        const char *s = (const char *)names.data + k * n;
        if (!next_element(&at, m->end, m->big, &e) || !open_matrix(&e, &one))
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

static post_plot *table_of(conv_job *j, post_plot **loose)
{
    if (!*loose)
        *loose = post_plot_new(j->set, "table", j->path, "Table");
    return *loose;
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
    return take_numbers(j, mem, table_of(j, loose), &m, name, "notype", false);
}

/* Reads a variable that zlib compressed. */
static vs_status take_compressed(conv_job *j, arena *mem, const element *e, post_plot **loose)
{
    size_t n = 0;
    unsigned char *bytes = conv_inflate(e->data, e->n, CONV_ZLIB, MOST_BYTES, &n);
    const unsigned char *at = bytes;
    element inner;
    vs_status st;
    if (!bytes || !next_element(&at, bytes + n, e->big, &inner))
        st = conv_fail(j, "has a compressed variable that is damaged");
    else
        st = take_variable(j, mem, &inner, loose);
    vs_free(bytes);
    return st;
}

static vs_status read_level_5(conv_job *j, arena *mem, const unsigned char *at,
                              const unsigned char *end, bool big)
{
    vs_status st = VS_OK;
    post_plot *loose = NULL;
    while (!st && at < end) {
        element e;
        if (!next_element(&at, end, big, &e))
            st = conv_fail(j, "ends in the middle of a variable");
        else if (e.type == MI_COMPRESSED)
            st = take_compressed(j, mem, &e, &loose);
        else
            st = take_variable(j, mem, &e, &loose);
    }
    return st;
}

/* -- level 4 -- */

enum { HEAD_4 = 20 };
enum { NUMBERS_4, TEXT_4, SPARSE_4 };
typedef struct head_4 {
    bool big;
    uint32_t machine, type, kind; /* machine 0 and 1: numbers of IEEE; MI_*; *_4 */
    uint64_t rows, columns, name; /* name: bytes, with the 0 behind it */
    bool complex;
} head_4;

/* false: what stands at s [HEAD_4] is no head. */
static bool read_head_4(const unsigned char *s, head_4 *h)
{
    static const uint32_t types[] = {MI_DOUBLE, MI_SINGLE, MI_INT32, MI_INT16, MI_UINT16, MI_UINT8};
    h->big = whole(s, 4, false) >= 5000;
    const uint64_t mopt = whole(s, 4, h->big), type = mopt / 10 % 10, kind = mopt % 10,
                   imaginary = whole(s + 12, 4, h->big);
    if (mopt >= 5000 || mopt / 100 % 10 || type >= VS_COUNT(types) || kind > SPARSE_4 ||
        imaginary > 1)
        return false;
    h->machine = (uint32_t)(mopt / 1000);
    h->type = types[type];
    h->kind = (uint32_t)kind;
    h->rows = whole(s + 4, 4, h->big);
    h->columns = whole(s + 8, 4, h->big);
    h->complex = imaginary;
    h->name = whole(s + 16, 4, h->big);
    return h->rows <= INT32_MAX && h->columns <= INT32_MAX && h->name && h->name <= INT32_MAX;
}

/* Reads the variable at *at, which is moved behind it. */
static vs_status take_variable_4(conv_job *j, arena *mem, const unsigned char **at,
                                 const unsigned char *end, post_plot **loose)
{
    static const char *const word[] = {"", "text", "a sparse matrix"};
    head_4 h;
    const unsigned char *s = *at;
    if (end - s < HEAD_4 || !read_head_4(s, &h))
        return conv_fail(j, end - s < HEAD_4 ? "ends in the middle of a variable"
                                             : "has a variable that makes no sense");
    const uint64_t left = (uint64_t)(end - s - HEAD_4), n = h.rows * h.columns,
                   width = (uint64_t)width_of(h.type), most = left / (width << h.complex);
    if (h.name > left || n > most || (n * width << h.complex) > left - h.name)
        return conv_fail(j, "ends in the middle of a variable");
    const char *name = arena_strndup(mem, (const char *)s + HEAD_4, h.name - 1);
    const unsigned char *data = s + HEAD_4 + h.name;
    *at = data + (n * width << h.complex);
    if (h.machine > 1)
        return conv_fail(j, "has numbers of a VAX or Cray: '%.60s'", name);
    if (h.kind != NUMBERS_4) {
        conv_left_out(j, "'%.60s' is %s, and is not read", name, word[h.kind]);
        return VS_OK;
    }
    const element part[2] = {{h.type, h.big, data, n * width},
                             {h.type, h.big, data + n * width, n * width}};
    const matrix m = {
        .class = MX_DOUBLE, .complex = h.complex, .n = n, .rows = h.rows > 1 ? h.rows : h.columns};
    add_columns(j, mem, table_of(j, loose), part, &m, name, "notype", false);
    return VS_OK;
}

static vs_status read_level_4(conv_job *j, arena *mem, const unsigned char *at,
                              const unsigned char *end)
{
    vs_status st = VS_OK;
    post_plot *loose = NULL;
    while (!st && at < end)
        st = take_variable_4(j, mem, &at, end, &loose);
    return st;
}

/* -- files -- */

char conv_mat_order(const char *head, size_t n)
{
    return n < 128                            ? 0
           : !memcmp(head + 124, "\0\1IM", 4) ? '<'
           : !memcmp(head + 124, "\1\0MI", 4) ? '>'
                                              : 0;
}

vs_status conv_read_mat(conv_job *j)
{
    size_t n;
    char *bytes = conv_bytes(j->path, &n);
    if (!bytes)
        return conv_fail(j, "cannot be read");
    arena mem;
    arena_init(&mem);
    const unsigned char *at = (const unsigned char *)bytes, *end = at + n;
    const char order = conv_mat_order(bytes, n);
    head_4 h;
    vs_status st;
    if (order)
        st = read_level_5(j, &mem, at + 128, end, order == '>');
    else if (n >= 7 && !memcmp(bytes, "MATLAB ", 7))
        st = conv_fail(j, "is a MATLAB file without its head of level 5, or cut off");
    else if (n < HEAD_4 || !read_head_4(at, &h))
        st = conv_fail(j, "is no MATLAB file of level 4, 5 or 7.3");
    else
        st = read_level_4(j, &mem, at, end);
    arena_fini(&mem);
    vs_free(bytes);
    return st;
}
