/* conv_parquet.c - Apache Parquet: a table of plots of one kind, the values of a sweep in front.
 * Source: Apache Parquet format 2.10 (parquet.thrift, "File format", "Encodings"), and Thrift's
 *         compact protocol.
 * Written: row groups of up to GROUP rows, a page for each column, PLAIN, uncompressed, required
 *         doubles and UTF-8 texts; complex vectors as NAME.re and NAME.im; title, plot and the
 *         types of vectors as key-value metadata "vsim.*".
 * Read:   flat columns of numbers, PLAIN and uncompressed, required or optional (no value: NaN),
 *         pages of version 1. Rows with other values of a sweep are a plot each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conv_priv.h"
#include "stream.h"

enum { GROUP = 1 << 20 };
enum { T_BOOLEAN, T_INT32, T_INT64, T_INT96, T_FLOAT, T_DOUBLE, T_BYTE_ARRAY, T_FIXED };
/* types of Thrift's compact protocol */
enum {
    C_TRUE = 1,
    C_FALSE,
    C_BYTE,
    C_I16,
    C_I32,
    C_I64,
    C_DOUBLE,
    C_BINARY,
    C_LIST,
    C_SET,
    C_MAP,
    C_STRUCT
};

/* -- writing Thrift -- */

typedef struct thrift {
    FILE *fp;
    int last[8], depth; /* the last field of each struct that is open */
} thrift;

static void put_varint(FILE *fp, uint64_t x)
{
    for (; x > 127; x >>= 7)
        fputc((int)(x & 127) | 128, fp);
    fputc((int)x, fp);
}

static void put_zigzag(FILE *fp, int64_t x)
{
    put_varint(fp, (uint64_t)x << 1 ^ (uint64_t)(x >> 63));
}

static void field(thrift *t, int id, int type)
{
    fputc((id - t->last[t->depth]) << 4 | type, t->fp);
    t->last[t->depth] = id;
}

static void put_i32(thrift *t, int id, int64_t x)
{
    field(t, id, C_I32);
    put_zigzag(t->fp, x);
}

static void put_i64(thrift *t, int id, int64_t x)
{
    field(t, id, C_I64);
    put_zigzag(t->fp, x);
}

static void put_binary(FILE *fp, const char *s)
{
    put_varint(fp, strlen(s));
    fputs(s, fp);
}

static void put_string(thrift *t, int id, const char *s)
{
    field(t, id, C_BINARY);
    put_binary(t->fp, s);
}

static void put_list(thrift *t, int id, int type, size_t n)
{
    field(t, id, C_LIST);
    fputc((n < 15 ? (int)n : 15) << 4 | type, t->fp);
    if (n >= 15)
        put_varint(t->fp, n);
}

static void open_struct(thrift *t) { t->last[++t->depth] = 0; }

static void close_struct(thrift *t)
{
    fputc(0, t->fp);
    t->depth--;
}

/* -- columns -- */

typedef struct column {
    char *name;
    size_t vec;   /* of each plot */
    int part;     /* 0: real, 1: imaginary; -1: a value of the sweep, -2: one that is text */
    size_t value; /* which */
} column;

typedef struct chunk {
    int64_t at, bytes;
} chunk;

typedef struct table {
    conv_job *j;
    arena mem;
    column *col;    /* vec */
    int64_t *first; /* [n + 1] rows in front of plot i */
    chunk *chunk;   /* vec: groups by columns */
} table;

/* Bytes beyond UTF-8 have no place in a schema. */
static char *clean(arena *mem, const char *s)
{
    char *to = arena_alloc(mem, strlen(s) + 1), *at = to;
    for (; *s; s++)
        *at++ = (unsigned char)*s >= 128 ? '?' : *s;
    return to;
}

static bool same_vectors(const post_plot *a, const post_plot *b)
{
    bool same = vec_len(a->vec) == vec_len(b->vec);
    for (size_t i = 0; same && i < vec_len(a->vec); i++)
        same =
            !strcmp(a->vec[i]->name, b->vec[i]->name) && a->vec[i]->complex == b->vec[i]->complex;
    return same;
}

static vs_status choose_columns(table *t)
{
    conv_job *j = t->j;
    const post_plot *p = j->plot[0];
    conv_value v;
    for (size_t k = 0; j->n > 1 && conv_value_of(p, k, &v); k++) {
        bool numbers = true;
        for (size_t i = 0; i < j->n; i++)
            numbers &= conv_value_of(j->plot[i], k, &v) && v.number;
        (void)conv_value_of(p, k, &v);
        vec_push(t->col, (column){clean(&t->mem, v.name), 0, numbers ? -1 : -2, k});
    }
    for (size_t i = 0; i < vec_len(p->vec); i++)
        for (int part = 0; part <= p->vec[i]->complex; part++) {
            const char *name = clean(&t->mem, p->vec[i]->name);
            vec_push(
                t->col,
                (column){arena_printf(&t->mem, p->vec[i]->complex ? part ? "%s.im" : "%s.re" : "%s",
                                      name),
                         i, part, 0});
        }
    for (size_t i = 1; i < j->n; i++)
        if (!same_vectors(p, j->plot[i]))
            return conv_fail(j,
                             "is one table, and '%s' has other vectors than '%s': choose one with "
                             "--plot N",
                             j->plot[i]->what, p->what);
    return VS_OK;
}

/* Calls for each row of [from, to): the plot, and the row in it. */
static size_t plot_of_row(const table *t, int64_t row)
{
    size_t lo = 0, hi = t->j->n;
    while (hi - lo > 1) {
        const size_t middle = (lo + hi) / 2;
        if (t->first[middle] <= row)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static void put_values(const table *t, const column *c, int64_t from, int64_t to, FILE *fp)
{
    size_t i = plot_of_row(t, from);
    conv_value v = {0};
    if (c->part < 0)
        (void)conv_value_of(t->j->plot[i], c->value, &v);
    for (int64_t k = from; k < to; k++) {
        while (k >= t->first[i + 1]) {
            i++;
            if (c->part < 0)
                (void)conv_value_of(t->j->plot[i], c->value, &v);
        }
        const post_vec *x = t->j->plot[i]->vec[c->vec];
        if (c->part == -2) {
            conv_put(fp, strlen(v.text), 4);
            fputs(v.text, fp);
        } else {
            conv_put_double(fp, c->part < 0   ? v.x
                                : c->part > 0 ? conv_im(x, k - t->first[i])
                                              : conv_re(x, k - t->first[i]));
        }
    }
}

static int64_t value_bytes(const table *t, const column *c, int64_t from, int64_t to)
{
    if (c->part != -2)
        return 8 * (to - from);
    char *text = NULL;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    put_values(t, c, from, to, fp);
    stream_close(fp);
    vs_free(text);
    return (int64_t)n;
}

static void put_chunk(table *t, const column *c, int64_t from, int64_t to)
{
    thrift h = {.fp = t->j->fp};
    const int64_t at = ftello(h.fp), bytes = value_bytes(t, c, from, to);
    put_i32(&h, 1, 0); /* a data page */
    put_i32(&h, 2, bytes);
    put_i32(&h, 3, bytes);
    field(&h, 5, C_STRUCT);
    open_struct(&h);
    put_i32(&h, 1, to - from);
    put_i32(&h, 2, 0); /* PLAIN */
    put_i32(&h, 3, 3); /* RLE, of levels that a required column does not have */
    put_i32(&h, 4, 3);
    close_struct(&h);
    fputc(0, h.fp);
    put_values(t, c, from, to, h.fp);
    vec_push(t->chunk, (chunk){at, ftello(h.fp) - at});
}

static void put_schema(thrift *h, const table *t)
{
    put_list(h, 2, C_STRUCT, vec_len(t->col) + 1);
    open_struct(h);
    put_string(h, 4, "schema");
    put_i32(h, 5, (int64_t)vec_len(t->col));
    close_struct(h);
    for (size_t i = 0; i < vec_len(t->col); i++) {
        const bool text = t->col[i].part == -2;
        open_struct(h);
        put_i32(h, 1, text ? T_BYTE_ARRAY : T_DOUBLE);
        put_i32(h, 3, 0); /* required */
        put_string(h, 4, t->col[i].name);
        if (text)
            put_i32(h, 6, 0); /* UTF8 */
        close_struct(h);
    }
}

static void put_group(thrift *h, const table *t, size_t g, int64_t rows)
{
    const size_t n = vec_len(t->col);
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += t->chunk[g * n + i].bytes;
    open_struct(h);
    put_list(h, 1, C_STRUCT, n);
    for (size_t i = 0; i < n; i++) {
        const chunk *c = &t->chunk[g * n + i];
        open_struct(h);
        put_i64(h, 2, c->at);
        field(h, 3, C_STRUCT);
        open_struct(h);
        put_i32(h, 1, t->col[i].part == -2 ? T_BYTE_ARRAY : T_DOUBLE);
        put_list(h, 2, C_I32, 2);
        put_zigzag(h->fp, 0);
        put_zigzag(h->fp, 3);
        put_list(h, 3, C_BINARY, 1);
        put_binary(h->fp, t->col[i].name);
        put_i32(h, 4, 0); /* uncompressed */
        put_i64(h, 5, rows);
        put_i64(h, 6, c->bytes);
        put_i64(h, 7, c->bytes);
        put_i64(h, 9, c->at);
        close_struct(h);
        close_struct(h);
    }
    put_i64(h, 2, bytes);
    put_i64(h, 3, rows);
    close_struct(h);
}

static void put_note(thrift *h, const char *key, const char *value)
{
    open_struct(h);
    put_string(h, 1, key);
    put_string(h, 2, value);
    close_struct(h);
}

static void put_footer(table *t, int64_t rows, size_t groups)
{
    thrift h = {.fp = t->j->fp};
    const post_plot *p = t->j->plot[0];
    const char *comma = strstr(p->what, ", ");
    char *types = NULL, *what = clean(&t->mem, p->what);
    FILE *fp = stream_text(&types, NULL);
    for (size_t i = 0; i < vec_len(t->col); i++)
        fprintf(fp, "%s\n", t->col[i].part < 0 ? "sweep" : p->vec[t->col[i].vec]->type);
    stream_close(fp);
    if (t->j->n > 1 && comma)
        what[comma - p->what] = 0;
    put_i32(&h, 1, 1);
    put_schema(&h, t);
    put_i64(&h, 3, rows);
    put_list(&h, 4, C_STRUCT, groups);
    for (size_t g = 0; g < groups; g++) {
        const int64_t from = (int64_t)g * GROUP, to = from + GROUP < rows ? from + GROUP : rows;
        put_group(&h, t, g, to - from);
    }
    put_list(&h, 5, C_STRUCT, 4);
    put_note(&h, "vsim.title", clean(&t->mem, p->title));
    put_note(&h, "vsim.plot", what);
    put_note(&h, "vsim.types", clean(&t->mem, types));
    put_note(&h, "vsim.axis", p->scale ? clean(&t->mem, p->scale->name) : "");
    put_string(&h, 6, "vsim");
    fputc(0, h.fp);
    vs_free(types);
}

vs_status conv_write_parquet(conv_job *j)
{
    table t = {.j = j, .first = vs_calloc(j->n + 1, sizeof *t.first)};
    arena_init(&t.mem);
    for (size_t i = 0; i < j->n; i++)
        t.first[i + 1] = t.first[i] + conv_points(j->plot[i]);
    const int64_t rows = t.first[j->n];
    vs_status st = choose_columns(&t);
    size_t groups = 0;
    if (!st)
        fputs("PAR1", j->fp);
    for (int64_t from = 0; from < rows && !st; from += GROUP, groups++)
        for (size_t i = 0; i < vec_len(t.col); i++)
            put_chunk(&t, &t.col[i], from, from + GROUP < rows ? from + GROUP : rows);
    if (!st) {
        const int64_t at = ftello(j->fp);
        put_footer(&t, rows, groups);
        conv_put(j->fp, (uint64_t)(ftello(j->fp) - at), 4);
        fputs("PAR1", j->fp);
    }
    vec_free(t.col);
    vec_free(t.chunk);
    vs_free(t.first);
    arena_fini(&t.mem);
    return st;
}

/* -- reading Thrift: values of all fields of a struct as a tree would be more than is asked for; a
 *    reader walks the fields and skips what it does not know -- */

typedef struct walker {
    const unsigned char *s, *end;
    bool bad;
    int depth;
} walker;

static uint64_t get_varint(walker *w)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 64 && w->s < w->end; shift += 7) {
        const unsigned char c = *w->s++;
        x |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return x;
    }
    w->bad = true;
    return 0;
}

static int64_t get_zigzag(walker *w)
{
    const uint64_t x = get_varint(w);
    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

/* The next field; 0: the struct's end. */
static int next_field(walker *w, int *id)
{
    if (w->bad || w->s >= w->end) {
        w->bad = true;
        return 0;
    }
    const unsigned char c = *w->s++;
    if (!c)
        return 0;
    *id = c >> 4 ? *id + (c >> 4) : (int)get_zigzag(w);
    return c & 15;
}

static const char *get_binary(walker *w, arena *mem)
{
    const uint64_t n = get_varint(w);
    if (w->bad || n > (uint64_t)(w->end - w->s)) {
        w->bad = true;
        return "";
    }
    const char *s = mem ? arena_strndup(mem, (const char *)w->s, n) : "";
    w->s += n;
    return s;
}

/* The type of a list's elements, and how many. */
static int get_list(walker *w, uint64_t *n)
{
    if (w->s >= w->end) {
        w->bad = true;
        return *n = 0;
    }
    const unsigned char c = *w->s++;
    *n = c >> 4 < 15 ? c >> 4 : get_varint(w);
    if (*n > (uint64_t)(w->end - w->s)) { /* each has a byte at least */
        w->bad = true;
        *n = 0;
    }
    return c & 15;
}

static void skip(walker *w, int type)
{
    uint64_t n;
    int id = 0, of;
    if (w->bad || ++w->depth > 30) {
        w->bad = true;
        return;
    }
    switch (type) {
    case C_TRUE:
    case C_FALSE: break;
    case C_BYTE: w->s += w->s < w->end; break;
    case C_I16:
    case C_I32:
    case C_I64: get_varint(w); break;
    case C_DOUBLE:
        w->bad |= w->end - w->s < 8;
        w->s += w->bad ? 0 : 8;
        break;
    case C_BINARY: get_binary(w, NULL); break;
    case C_LIST:
    case C_SET:
        of = get_list(w, &n);
        for (uint64_t i = 0; i < n && !w->bad; i++)
            skip(w, of == C_TRUE || of == C_FALSE ? C_BYTE : of);
        break;
    case C_STRUCT:
        while ((of = next_field(w, &id)))
            skip(w, of);
        break;
    default: w->bad = true;
    }
    w->depth--;
}

/* -- reading the footer -- */

typedef struct leaf {
    const char *name;
    int type, repetition;
    double *x;         /* vec */
    const char **text; /* vec, of byte arrays */
} leaf;

typedef struct reader {
    conv_job *j;
    const unsigned char *file;
    size_t n;
    arena mem;
    leaf *leaf; /* vec */
    int64_t rows;
    const char *title, *plot, *types, *axis;
    vs_status st;
} reader;

static vs_status refuse(reader *r, const char *what)
{
    if (!r->st)
        r->st = conv_fail(r->j, "%s", what);
    return r->st;
}

static void read_schema(reader *r, walker *w)
{
    uint64_t n;
    (void)get_list(w, &n);
    for (uint64_t i = 0; i < n && !w->bad; i++) {
        leaf l = {.name = "", .type = -1};
        int id = 0, type;
        while ((type = next_field(w, &id)))
            if (id == 1 && type == C_I32)
                l.type = (int)get_zigzag(w);
            else if (id == 3 && type == C_I32)
                l.repetition = (int)get_zigzag(w);
            else if (id == 4 && type == C_BINARY)
                l.name = get_binary(w, &r->mem);
            else
                skip(w, type);
        if (i && (l.type < 0 || l.repetition > 1))
            refuse(r, "has columns inside of columns, or lists");
        if (i)
            vec_push(r->leaf, l);
    }
}

static void read_notes(reader *r, walker *w)
{
    uint64_t n;
    (void)get_list(w, &n);
    for (uint64_t i = 0; i < n && !w->bad; i++) {
        const char *key = "", *value = "";
        int id = 0, type;
        while ((type = next_field(w, &id)))
            if (id <= 2 && type == C_BINARY)
                *(id == 1 ? &key : &value) = get_binary(w, &r->mem);
            else
                skip(w, type);
        const char **to = !strcmp(key, "vsim.title")   ? &r->title
                          : !strcmp(key, "vsim.plot")  ? &r->plot
                          : !strcmp(key, "vsim.types") ? &r->types
                          : !strcmp(key, "vsim.axis")  ? &r->axis
                                                       : NULL;
        if (to)
            *to = value;
    }
}

/* -- reading columns -- */

/* The levels of an optional column: 1 where there is a value (hybrid of runs and bits, width 1). */
static bool *read_levels(walker *w, int64_t n)
{
    bool *there = vs_calloc((size_t)n + 1, 1);
    if (w->end - w->s < 4 || conv_u32(w->s) > (uint64_t)(w->end - w->s - 4)) {
        w->bad = true;
        return there;
    }
    walker in = {.s = w->s + 4, .end = w->s + 4 + conv_u32(w->s)};
    for (int64_t k = 0; k < n && !in.bad;) {
        const uint64_t head = get_varint(&in);
        const int64_t run = (int64_t)((head >> 1) < (uint64_t)n ? head >> 1 : (uint64_t)n);
        if (head & 1) {
            for (int64_t i = 0; i < 8 * run && k < n && in.s + i / 8 < in.end; i++)
                there[k++] = in.s[i / 8] >> i % 8 & 1;
            in.bad |= in.end - in.s < run || !run;
            in.s += in.bad ? 0 : run;
        } else if (in.s < in.end) {
            const bool value = *in.s++ & 1;
            for (int64_t i = 0; i < run && k < n; i++)
                there[k++] = value;
            in.bad |= !run;
        } else {
            in.bad = true;
        }
    }
    w->bad |= in.bad;
    w->s = in.end;
    return there;
}

static void take_value(reader *r, leaf *l, walker *w, bool there)
{
    static const int width[] = {0, 4, 8, 12, 4, 8};
    if (l->type == T_BYTE_ARRAY) {
        const uint32_t n = there && w->end - w->s >= 4 ? conv_u32(w->s) : 0;
        w->bad |= there && (w->end - w->s < 4 || n > (uint64_t)(w->end - w->s - 4));
        vec_push(l->text,
                 !there || w->bad ? "" : arena_strndup(&r->mem, (const char *)w->s + 4, n));
        w->s += !there || w->bad ? 0 : 4 + n;
        return;
    }
    double x = NAN;
    if (there && w->end - w->s >= width[l->type]) {
        const uint64_t u = width[l->type] == 8 ? conv_u64(w->s) : conv_u32(w->s);
        const uint32_t u32 = (uint32_t)u;
        float f;
        memcpy(&f, &u32, sizeof f);
        if (l->type == T_DOUBLE)
            memcpy(&x, &u, sizeof x);
        else
            x = l->type == T_FLOAT   ? (double)f
                : l->type == T_INT32 ? (int32_t)u32
                                     : (double)(int64_t)u;
        w->s += width[l->type];
    } else {
        w->bad |= there;
    }
    vec_push(l->x, x);
}

static void read_page(reader *r, leaf *l, walker *w, int64_t n, int64_t bytes)
{
    walker in = {.s = w->s, .end = w->s + bytes};
    bool *there = l->repetition ? read_levels(&in, n) : NULL;
    for (int64_t k = 0; k < n && !in.bad; k++)
        take_value(r, l, &in, !there || there[k]);
    if (in.bad)
        refuse(r, "has a damaged page");
    vs_free(there);
    w->s += bytes;
}

/* The pages of a chunk, `values` in all. */
static void read_pages(reader *r, leaf *l, int64_t at, int64_t values)
{
    if (l->type == T_BOOLEAN || l->type == T_INT96 || l->type > T_BYTE_ARRAY) {
        refuse(r, "has a column that is neither of numbers nor of text");
        return;
    }
    walker w = {.s = r->file + at, .end = r->file + r->n};
    if (at < 0 || (uint64_t)at > r->n)
        w.bad = true;
    while (values > 0 && !w.bad && !r->st) {
        int id = 0, type, page = -1, encoding = -1;
        int64_t bytes = -1, n = 0;
        while ((type = next_field(&w, &id)))
            if (id == 1 && type == C_I32) {
                page = (int)get_zigzag(&w);
            } else if (id == 3 && type == C_I32) {
                bytes = get_zigzag(&w);
            } else if (id == 5 && type == C_STRUCT) {
                int inner = 0, of;
                while ((of = next_field(&w, &inner)))
                    if (inner <= 2 && of == C_I32)
                        *(inner == 1 ? &n : &(int64_t){0}) =
                            inner == 1 ? get_zigzag(&w) : (encoding = (int)get_zigzag(&w));
                    else
                        skip(&w, of);
            } else {
                skip(&w, type);
            }
        if (w.bad || bytes < 0 || bytes > w.end - w.s || n < 0 || n > values ||
            (uint64_t)n > 64 * r->n) /* runs of missing values may be longer than their bytes */
            refuse(r, "is damaged");
        else if (page != 0 || encoding != 0)
            refuse(r, "has dictionaries or pages of version 2: write it plainly "
                      "(pyarrow: use_dictionary=False, compression='none')");
        else
            read_page(r, l, &w, n, bytes);
        values -= n;
        if (!n)
            break;
    }
    if (w.bad)
        refuse(r, "is damaged");
}

static void read_chunk(reader *r, walker *w, leaf *l)
{
    int id = 0, type;
    int64_t at = -1, values = 0, codec = 0, dictionary = -1;
    while ((type = next_field(w, &id))) {
        int inner = 0, of;
        if (id != 3 || type != C_STRUCT) {
            skip(w, type);
            continue;
        }
        while ((of = next_field(w, &inner)))
            if (of == C_I32 && inner == 4)
                codec = get_zigzag(w);
            else if (of == C_I64 && inner == 5)
                values = get_zigzag(w);
            else if (of == C_I64 && inner == 9)
                at = get_zigzag(w);
            else if (of == C_I64 && inner == 11)
                dictionary = get_zigzag(w);
            else
                skip(w, of);
    }
    if (w->bad)
        return;
    if (codec || dictionary > 0)
        refuse(r, codec ? "is compressed: write it without (pyarrow: compression='none', "
                          "use_dictionary=False)"
                        : "has dictionaries: write it without (pyarrow: use_dictionary=False)");
    else
        read_pages(r, l, at, values);
}

static void read_groups(reader *r, walker *w)
{
    uint64_t n, columns;
    (void)get_list(w, &n);
    for (uint64_t g = 0; g < n && !w->bad && !r->st; g++) {
        int id = 0, type;
        while ((type = next_field(w, &id)) && !r->st) {
            if (id != 1 || type != C_LIST) {
                skip(w, type);
                continue;
            }
            (void)get_list(w, &columns);
            if (columns != vec_len(r->leaf))
                refuse(r, "is damaged");
            for (uint64_t i = 0; i < columns && !w->bad && !r->st; i++)
                read_chunk(r, w, &r->leaf[i]);
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
        const leaf *l = &r->leaf[i];
        if (l->text ? strcmp(l->text[a], l->text[b]) != 0 : l->x[a] < l->x[b] || l->x[a] > l->x[b])
            return true;
    }
    return false;
}

static void take_rows(reader *r, size_t sweeps, int64_t from, int64_t to)
{
    char *values = arena_printf(&r->mem, "%s", "");
    for (size_t i = 0; i < sweeps; i++) {
        const leaf *l = &r->leaf[i];
        values = l->text ? arena_printf(&r->mem, "%s%s%s=%s", values, i ? " " : ", ", l->name,
                                        l->text[from])
                         : arena_printf(&r->mem, "%s%s%s=%.15g", values, i ? " " : ", ", l->name,
                                        l->x[from]);
    }
    post_plot *p =
        post_plot_new(r->j->set, *r->plot ? post_word_of(r->plot) : "table", r->title,
                      arena_printf(&r->mem, "%s%s", *r->plot ? r->plot : "Table", values));
    for (size_t i = sweeps; i < vec_len(r->leaf); i++) {
        const leaf *l = &r->leaf[i], *next = i + 1 < vec_len(r->leaf) ? l + 1 : NULL;
        const size_t n = strlen(l->name);
        const bool complex = next && n > 3 && !strcmp(l->name + n - 3, ".re") &&
                             strlen(next->name) == n && !strncmp(l->name, next->name, n - 3) &&
                             !strcmp(next->name + n - 3, ".im") && l->x && next->x;
        if (!l->x)
            continue; /* text */
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
    for (size_t i = 0; i < vec_len(r->leaf); i++) {
        const int64_t n =
            (int64_t)(r->leaf[i].text ? vec_len(r->leaf[i].text) : vec_len(r->leaf[i].x));
        if (rows >= 0 && n != rows)
            refuse(r, "has columns of different lengths");
        rows = n;
        sweeps += i == sweeps && !strcmp(type_of(r, i), "sweep");
    }
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
    reader r = {.j = j,
                .file = (unsigned char *)bytes,
                .n = n,
                .title = "",
                .plot = "",
                .types = "",
                .axis = ""};
    arena_init(&r.mem);
    const uint64_t footer =
        n >= 12 && !memcmp(bytes + n - 4, "PAR1", 4) ? conv_u32(r.file + n - 8) : UINT64_MAX;
    if (footer > n - 12) {
        refuse(&r, "is cut off: Parquet has its table of contents at the end");
    } else { /* the schema first, the notes behind the groups are needed at the end alone */
        walker w = {.s = r.file + n - 8 - footer, .end = r.file + n - 8};
        int id = 0, type;
        while ((type = next_field(&w, &id)) && !r.st)
            if (id == 2 && type == C_LIST)
                read_schema(&r, &w);
            else if (id == 4 && type == C_LIST)
                read_groups(&r, &w);
            else if (id == 5 && type == C_LIST)
                read_notes(&r, &w);
            else
                skip(&w, type);
        if (w.bad)
            refuse(&r, "is damaged");
        if (!r.st)
            make_plots(&r);
    }
    for (size_t i = 0; i < vec_len(r.leaf); i++) {
        vec_free(r.leaf[i].x);
        vec_free(r.leaf[i].text);
    }
    vec_free(r.leaf);
    arena_fini(&r.mem);
    vs_free(bytes);
    return r.st;
}
