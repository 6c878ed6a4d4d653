/* conv_parquet_read.c - reads Apache Parquet: the table of contents at the end of the file, then
 *     columns of numbers and texts (conv_parquet_page.c). Where the values of the sweep change from
 *     one row to the next, another plot begins. NAME.re and NAME.im make one complex vector.
 * Source: Apache Parquet format 2.10, parquet.thrift. */
#include <string.h>

#include "conv_parquet.h"

/* A file may have FREE_VALUES values, however small it is, since a run of equal values takes a few
 * bytes, and VALUES_PER_BYTE more for each of its bytes. */
enum { FREE_VALUES = 1 << 24, VALUES_PER_BYTE = 64 };

typedef struct reader {
    conv_job *j;
    conv_pages pages;
    arena mem;
    conv_column *column; /* vec */
    const char *title, *plot, *types, *axis;
    vs_status st;
} reader;

static vs_status refuse(reader *r, const char *what)
{
    if (!r->st)
        r->st = conv_fail(r->j, "%s", what);
    return r->st;
}

/* -- the schema: a tree, written from its root; its leaves are the columns of the file -- */

/* What an element of the schema says of its values (ConvertedType, LogicalType). */
enum { OLD_DECIMAL = 5, OLD_UINT_8 = 11, OLD_UINT_64 = 14 };
enum { DECIMAL = 5, INTEGER = 10, FLOAT16 = 15 };

typedef struct schema {
    conv_column c;
    int64_t repetition, children, length, scale;
    bool half; /* FLOAT16 */
} schema;

/* DecimalType { scale, precision }, IntType { bits, is it signed? } */
static void read_kind(conv_thrift *w, schema *e, int kind)
{
    int id = 0, type;
    e->half |= kind == FLOAT16;
    e->c.kind.decimal |= kind == DECIMAL;
    while ((type = conv_thrift_field(w, &id)))
        if (kind == DECIMAL && id == 1 && type == C_I32)
            e->scale = conv_thrift_zigzag(w);
        else if (kind == INTEGER && id == 2)
            e->c.kind.has_no_sign = type == C_FALSE;
        else
            conv_thrift_skip(w, type);
}

static void read_element(reader *r, conv_thrift *w, schema *e)
{
    int id = 0, type, inner = 0, of;
    int64_t *const number[] = {NULL, NULL,         &e->length, &e->repetition,
                               NULL, &e->children, NULL,       &e->scale};
    while ((type = conv_thrift_field(w, &id)))
        if (id == 1 && type == C_I32) {
            e->c.kind.type = (int)conv_thrift_zigzag(w);
        } else if (id == 4 && type == C_BINARY) {
            e->c.name = conv_thrift_binary(w, &r->mem);
        } else if (id == 6 && type == C_I32) {
            const int64_t old = conv_thrift_zigzag(w);
            e->c.kind.decimal |= old == OLD_DECIMAL;
            e->c.kind.has_no_sign |= old >= OLD_UINT_8 && old <= OLD_UINT_64;
        } else if (id > 0 && id < (int)VS_COUNT(number) && number[id] && type == C_I32) {
            *number[id] = conv_thrift_zigzag(w);
        } else if (id == 10 && type == C_STRUCT) {
            for (inner = 0; (of = conv_thrift_field(w, &inner));)
                if (of == C_STRUCT)
                    read_kind(w, e, inner);
                else
                    conv_thrift_skip(w, of);
        } else {
            conv_thrift_skip(w, type);
        }
}

/* Finds out how to read a column's values, or what they are that is not read. */
static void judge_column(schema *e, bool nested)
{
    static const int width[] = {0, 4, 8, 0, 4, 8, 0, 0};
    conv_column *c = &e->c;
    const bool fixed = c->kind.type == T_FIXED, bytes = c->kind.type == T_BYTE_ARRAY;
    c->optional = e->repetition == 1;
    if (nested || e->repetition == 2)
        c->other = "a list, or in a struct";
    else if (c->kind.type == T_INT96)
        c->other = "a date of 96 bits";
    else if (c->kind.type < 0 || c->kind.type > T_FIXED)
        c->other = "of a type that is not known here";
    else if (bytes && c->kind.decimal)
        c->other = "of decimals of any length";
    else if (fixed && !(c->kind.decimal && e->length > 0 && e->length <= 64) &&
             !(e->half && e->length == 2))
        c->other = "of bytes";
    else
        c->kind.width = fixed ? (int)e->length : width[c->kind.type];
    c->kind.scale = c->kind.decimal && e->scale > 0 && e->scale < 300 ? (int)e->scale : 0;
}

static void read_schema(reader *r, conv_thrift *w)
{
    uint64_t n, inside = 0; /* elements that are still inside of one of the first level */
    (void)conv_thrift_list(w, &n);
    for (uint64_t i = 0; i < n && !w->bad; i++) {
        schema e = {.c = {.name = "", .kind.type = -1}};
        read_element(r, w, &e);
        const bool nested = inside > 0, parent = i && e.children > 0;
        inside -= nested;
        inside += parent ? (uint64_t)e.children & INT32_MAX : 0;
        if (i && !parent)
            judge_column(&e, nested);
        else
            e.c.other = "a list or a struct";
        if (i && !nested && e.c.other)
            conv_left_out(r->j, "column '%.60s' is %s, and is not read", e.c.name, e.c.other);
        if (i && !parent)
            vec_push(r->column, e.c);
    }
}

static void read_notes(reader *r, conv_thrift *w)
{
    uint64_t n;
    (void)conv_thrift_list(w, &n);
    for (uint64_t i = 0; i < n && !w->bad; i++) {
        const char *key = "", *value = "";
        int id = 0, type;
        while ((type = conv_thrift_field(w, &id)))
            if (id <= 2 && type == C_BINARY)
                *(id == 1 ? &key : &value) = conv_thrift_binary(w, &r->mem);
            else
                conv_thrift_skip(w, type);
        const char **to = !strcmp(key, "vsim.title")   ? &r->title
                          : !strcmp(key, "vsim.plot")  ? &r->plot
                          : !strcmp(key, "vsim.types") ? &r->types
                          : !strcmp(key, "vsim.axis")  ? &r->axis
                                                       : NULL;
        if (to)
            *to = value;
    }
}

/* -- columns -- */

static void read_chunk(reader *r, conv_thrift *w, conv_column *c)
{
    conv_chunk from = {.at = -1};
    int64_t dictionary = -1;
    int id = 0, type;
    while ((type = conv_thrift_field(w, &id))) {
        int inner = 0, of;
        if (id != 3 || type != C_STRUCT) {
            conv_thrift_skip(w, type);
            continue;
        }
        while ((of = conv_thrift_field(w, &inner)))
            if (of == C_I32 && inner == 4)
                from.codec = (int)conv_thrift_zigzag(w);
            else if (of == C_I64 && inner == 5)
                from.values = conv_thrift_zigzag(w);
            else if (of == C_I64 && inner == 9)
                from.at = conv_thrift_zigzag(w);
            else if (of == C_I64 && inner == 11)
                dictionary = conv_thrift_zigzag(w);
            else
                conv_thrift_skip(w, of);
    }
    if (dictionary > 0 && dictionary < from.at)
        from.at = dictionary;
    if (!w->bad && !r->st && !c->other)
        r->st = conv_parquet_chunk(&r->pages, c, &from);
}

static void read_groups(reader *r, conv_thrift *w)
{
    uint64_t n, columns;
    (void)conv_thrift_list(w, &n);
    for (uint64_t g = 0; g < n && !w->bad && !r->st; g++) {
        int id = 0, type;
        while ((type = conv_thrift_field(w, &id)) && !r->st) {
            if (id != 1 || type != C_LIST) {
                conv_thrift_skip(w, type);
                continue;
            }
            (void)conv_thrift_list(w, &columns);
            if (columns != vec_len(r->column))
                refuse(r, "is damaged");
            for (uint64_t i = 0; i < columns && !w->bad && !r->st; i++)
                read_chunk(r, w, &r->column[i]);
        }
    }
}

/* -- plots of the table -- */

static const char *type_of(reader *r, size_t i)
{
    const char *s = r->types;
    for (; i && *s; i--)
        s += strcspn(s, "\n") + (strchr(s, '\n') != NULL);
    const size_t n = strcspn(s, "\n");
    return n ? arena_strndup(&r->mem, s, n) : "notype";
}

/* Do the values of the sweep differ between two rows? */
static bool other_point(const reader *r, size_t sweeps, int64_t a, int64_t b)
{
    for (size_t i = 0; i < sweeps; i++) {
        const conv_column *l = &r->column[i];
        if (l->text ? strcmp(l->text[a], l->text[b]) != 0 : l->x[a] < l->x[b] || l->x[a] > l->x[b])
            return true;
    }
    return false;
}

static bool is_curve(const conv_column *c) { return !c->other && c->kind.type != T_BYTE_ARRAY; }

static void take_rows(reader *r, size_t sweeps, int64_t from, int64_t to)
{
    char *values = arena_printf(&r->mem, "%s", "");
    for (size_t i = 0; i < sweeps; i++) {
        const conv_column *l = &r->column[i];
        values = l->text ? arena_printf(&r->mem, "%s%s%s=%s", values, i ? " " : ", ", l->name,
                                        l->text[from])
                         : arena_printf(&r->mem, "%s%s%s=%.15g", values, i ? " " : ", ", l->name,
                                        l->x[from]);
    }
    post_plot *p =
        post_plot_new(r->j->set, *r->plot ? post_word_of(r->plot) : "table", r->title,
                      arena_printf(&r->mem, "%s%s", *r->plot ? r->plot : "Table", values));
    for (size_t i = sweeps; i < vec_len(r->column); i++) {
        const conv_column *l = &r->column[i], *next = i + 1 < vec_len(r->column) ? l + 1 : NULL;
        const size_t n = strlen(l->name);
        const bool complex = next && n > 3 && !strcmp(l->name + n - 3, ".re") &&
                             strlen(next->name) == n && !strncmp(l->name, next->name, n - 3) &&
                             !strcmp(next->name + n - 3, ".im") && is_curve(l) && is_curve(next);
        if (!is_curve(l))
            continue;
        post_vec *v = post_plot_append(r->j->set, p,
                                       complex ? arena_strndup(&r->mem, l->name, n - 3) : l->name,
                                       type_of(r, i), complex);
        for (int64_t k = from; k < to; k++)
            post_vec_push(v, l->x[k], complex ? next->x[k] : 0);
        i += complex;
        if (!strcmp(v->name, r->axis))
            p->scale = v;
    }
}

static void make_plots(reader *r)
{
    size_t sweeps = 0;
    int64_t rows = -1, from = 0;
    for (size_t i = 0; i < vec_len(r->column); i++) {
        const int64_t n =
            (int64_t)(r->column[i].text ? vec_len(r->column[i].text) : vec_len(r->column[i].x));
        if (r->column[i].other)
            continue;
        if (rows >= 0 && n != rows)
            refuse(r, "has columns of different lengths");
        rows = n;
        sweeps += i == sweeps && !strcmp(type_of(r, i), "sweep");
    }
    for (size_t i = sweeps; i < vec_len(r->column); i++)
        if (!r->column[i].other && !is_curve(&r->column[i]))
            conv_left_out(r->j, "column '%.60s' is text, and is not read", r->column[i].name);
    for (int64_t k = 1; k <= rows && !r->st; k++)
        if (k == rows || other_point(r, sweeps, k, k - 1)) {
            take_rows(r, sweeps, from, k);
            from = k;
        }
    if (!rows && !r->st)
        take_rows(r, 0, 0, 0);
}

vs_status conv_read_parquet(conv_job *j)
{
    size_t n;
    char *bytes = conv_bytes(j->path, &n);
    if (!bytes)
        return conv_fail(j, "cannot be read");
    reader r = {.j = j, .title = "", .plot = "", .types = "", .axis = ""};
    const unsigned char *file = (unsigned char *)bytes;
    arena_init(&r.mem);
    r.pages = (conv_pages){.j = j,
                           .file = file,
                           .n = n,
                           .mem = &r.mem,
                           .room = FREE_VALUES + VALUES_PER_BYTE * (int64_t)n};
    const bool whole = n >= 12 && !memcmp(bytes + n - 4, "PAR1", 4);
    const uint32_t footer = whole ? conv_u32(file + n - 8) : 0;
    if (!whole || footer > n - 12) {
        refuse(&r, "is cut off: Parquet has its table of contents at the end");
    } else { /* key-value metadata behind the row groups */
        conv_thrift w = {.s = file + n - 8 - footer, .end = file + n - 8};
        int id = 0, type;
        while ((type = conv_thrift_field(&w, &id)) && !r.st)
            if (id == 2 && type == C_LIST)
                read_schema(&r, &w);
            else if (id == 4 && type == C_LIST)
                read_groups(&r, &w);
            else if (id == 5 && type == C_LIST)
                read_notes(&r, &w);
            else
                conv_thrift_skip(&w, type);
        if (w.bad)
            refuse(&r, "is damaged");
        if (!r.st)
            make_plots(&r);
    }
    for (size_t i = 0; i < vec_len(r.column); i++) {
        vec_free(r.column[i].x);
        vec_free(r.column[i].text);
    }
    vec_free(r.column);
    arena_fini(&r.mem);
    vs_free(bytes);
    return r.st;
}
