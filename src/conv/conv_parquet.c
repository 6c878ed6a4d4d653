/* conv_parquet.c - writes Apache Parquet: a table of plots of one kind, the values of a sweep in
 *         front.
 * Source: Apache Parquet format 2.10 (parquet.thrift, "File format"), and Thrift's compact
 *         protocol.
 * Layout: row groups of up to GROUP rows, fewer where there are many columns; their values are in
 *         memory, or those of a part of their columns. A column has one page in each: PLAIN, all
 *         values present (doubles or UTF-8 texts), compressed with zstd or not at all. Where the
 *         values of the sweep do not tell two plots apart, a column "plot" counts them. A complex
 *         vector is two columns, NAME.re and NAME.im. Title, plot, axis and the types of vectors
 *         are key-value metadata, "vsim.*". */
#include <string.h>

#include "conv_parquet.h"
#include "stream.h"

enum { GROUP = 1 << 20, LEAST_GROUP = 1 << 14, LOT = 1 << 10 }; /* rows: of groups; read at once */

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
    const char *name;
    size_t vec;   /* which vector of each plot; part >= 0 */
    int part;     /* 0: real, 1: imaginary; -1: a value of the sweep, -2: one that is text;
                   * -3: the number of the plot */
    size_t value; /* which value of the sweep; part < 0 */
} column;

typedef struct chunk {
    int64_t at, bytes; /* in the file */
    int64_t whole;     /* bytes before compression */
} chunk;

typedef struct table {
    conv_job *j;
    arena mem;
    column *col;                  /* vec */
    int64_t *first;               /* [n + 1] rows in front of plot i */
    int64_t group;                /* rows of a group */
    double *cell;                 /* [CONV_PIECE] values of some columns of a group */
    chunk *chunk;                 /* vec: the chunks of each group, one a column */
    const conv_codec_table *zstd; /* NULL: nothing is compressed */
} table;

/* A copy in mem with '?' for each byte that is not ASCII: a schema may have nothing but UTF-8. */
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

/* Do the values of the sweep differ between all plots that stand one behind the other? */
static bool told_apart(const conv_job *j)
{
    bool apart = true;
    for (size_t i = 1; i < j->n && apart; i++) {
        conv_value a, b;
        apart = false;
        for (size_t k = 0; !apart && conv_value_of(j->plot[i], k, &a); k++)
            apart = !conv_value_of(j->plot[i - 1], k, &b) || strcmp(a.text, b.text) != 0;
    }
    return apart;
}

static vs_status choose_columns(table *t)
{
    conv_job *j = t->j;
    const post_plot *p = j->plot[0];
    conv_value v;
    if (!told_apart(j))
        vec_push(t->col, (column){"plot", 0, -3, 0});
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

/* The plot that a row is in: the last i with first[i] <= row. */
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

/* Writes a value of the sweep for each of rows [from, to). */
static void put_sweep(const table *t, const column *c, int64_t from, int64_t to, FILE *fp)
{
    size_t i = plot_of_row(t, from);
    conv_value v = {0};
    (void)conv_value_of(t->j->plot[i], c->value, &v);
    for (int64_t k = from; k < to; k++) {
        while (k >= t->first[i + 1])
            (void)conv_value_of(t->j->plot[++i], c->value, &v);
        if (c->part == -3) {
            conv_put_double(fp, (double)i + 1);
        } else if (c->part == -2) {
            conv_put(fp, strlen(v.text), 4);
            fputs(v.text, fp);
        } else {
            conv_put_double(fp, v.x);
        }
    }
}

/* How many vectors, from `first` on, have room in t->cell with so many rows: one at least. */
static size_t batch_of(const post_plot *p, size_t first, int64_t rows)
{
    const size_t room = (size_t)(CONV_PIECE / (rows < LOT ? LOT : rows));
    size_t n = 1, columns = 1 + p->vec[first]->complex;
    for (; first + n < vec_len(p->vec) && columns <= room; n++)
        columns += 1 + p->vec[first + n]->complex;
    return n > 1 && columns > room ? n - 1 : n;
}

/* Reads rows [from, to) of vectors [first, first + n_vec), of all plots that have some, to t->cell:
 * column after column. */
static vs_status read_cells(table *t, size_t first, size_t n_vec, int64_t from, int64_t to)
{
    const size_t columns = conv_n_column(t->j->plot[0], first, n_vec);
    double *part = vs_malloc(columns * LOT * sizeof *part);
    vs_status st = VS_OK;
    for (int64_t row = from; row < to && !st;) {
        const size_t i = plot_of_row(t, row);
        int64_t end = row + LOT < to ? row + LOT : to;
        end = end < t->first[i + 1] ? end : t->first[i + 1];
        const int64_t n = end - row;
        st = conv_part(t->j, t->j->plot[i], first, n_vec, row - t->first[i], n, part);
        for (size_t c = 0; c < columns && !st; c++)
            memcpy(t->cell + (int64_t)c * (to - from) + (row - from), part + (int64_t)c * n,
                   (size_t)n * sizeof *part);
        row = end;
    }
    vs_free(part);
    return st;
}

/* Replaces *text [*n] by what zstd makes of it; for vs_free. Status: VS_OK; VS_ENOMEM: zstd has no
 * memory; VS_EINPUT: it refuses. */
static vs_status pack(table *t, char **text, size_t *n)
{
    const size_t room = t->zstd->bound(*n);
    unsigned char *to = vs_malloc(room + 1);
    const ptrdiff_t got = t->zstd->pack(to, room, (unsigned char *)*text, *n);
    vs_free(*text);
    *text = (char *)to;
    *n = got > 0 ? (size_t)got : 0;
    if (got <= 0)
        snprintf(t->j->why, CONV_WHY,
                 got < 0 ? "is not written: zstd is out of memory"
                         : "is not written: zstd cannot compress it");
    return got > 0 ? VS_OK : got < 0 ? VS_ENOMEM : VS_EINPUT;
}

/* Writes rows [from, to) of a column as one page behind its head.
 *   x  in  their values; NULL: the column is one of the sweep */
static vs_status put_chunk(table *t, const column *c, const double *x, int64_t from, int64_t to)
{
    thrift h = {.fp = t->j->fp};
    const int64_t at = ftello(h.fp);
    char *text = NULL;
    size_t n;
    FILE *fp = stream_text(&text, &n);
    if (x)
        conv_put_doubles(fp, x, to - from);
    else
        put_sweep(t, c, from, to, fp);
    stream_close(fp);
    const size_t whole = n;
    const vs_status st = t->zstd ? pack(t, &text, &n) : VS_OK;
    put_i32(&h, 1, 0); /* a data page */
    put_i32(&h, 2, (int64_t)whole);
    put_i32(&h, 3, (int64_t)n);
    field(&h, 5, C_STRUCT);
    open_struct(&h);
    put_i32(&h, 1, to - from);
    put_i32(&h, 2, 0); /* PLAIN */
    put_i32(&h, 3, 3); /* RLE, of levels that a required column does not have */
    put_i32(&h, 4, 3);
    close_struct(&h);
    fputc(0, h.fp);
    fwrite(text, 1, n, h.fp);
    vs_free(text);
    const int64_t bytes = ftello(h.fp) - at;
    vec_push(t->chunk, (chunk){at, bytes, bytes + (int64_t)whole - (int64_t)n});
    return st;
}

/* Writes rows [from, to): the columns of the sweep, then those of vectors, as many at once as there
 * is room for. */
static vs_status put_rows(table *t, int64_t from, int64_t to)
{
    const post_plot *p = t->j->plot[0];
    const column *c = t->col;
    vs_status st = VS_OK;
    for (; c < t->col + vec_len(t->col) && c->part < 0 && !st; c++)
        st = put_chunk(t, c, NULL, from, to);
    for (size_t first = 0, n = 0; first < vec_len(p->vec) && !st; first += n) {
        n = batch_of(p, first, to - from);
        const size_t columns = conv_n_column(p, first, n);
        st = read_cells(t, first, n, from, to);
        for (size_t i = 0; i < columns && !st; i++, c++)
            st = put_chunk(t, c, t->cell + (int64_t)i * (to - from), from, to);
    }
    return st;
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
    int64_t whole = 0;
    for (size_t i = 0; i < n; i++)
        whole += t->chunk[g * n + i].whole;
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
        put_i32(h, 4, t->zstd ? CODEC_ZSTD : CODEC_NONE);
        put_i64(h, 5, rows);
        put_i64(h, 6, c->whole);
        put_i64(h, 7, c->bytes);
        put_i64(h, 9, c->at);
        close_struct(h);
        close_struct(h);
    }
    put_i64(h, 2, whole);
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
        const int64_t left = rows - (int64_t)g * t->group;
        put_group(&h, t, g, left < t->group ? left : t->group);
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
    if (!st && j->o->zstd)
        st = conv_codec_open(j, CONV_ZSTD, &t.zstd);
    if (!st) {
        t.group = conv_run(vec_len(t.col));
        t.group = t.group < LEAST_GROUP ? LEAST_GROUP : t.group > GROUP ? GROUP : t.group;
        t.cell = vs_malloc(CONV_PIECE * sizeof *t.cell);
        fputs("PAR1", j->fp);
    }
    size_t groups = 0;
    for (int64_t from = 0; from < rows && !st; from += t.group, groups++)
        st = put_rows(&t, from, from + t.group < rows ? from + t.group : rows);
    if (!st) {
        const int64_t at = ftello(j->fp);
        put_footer(&t, rows, groups);
        conv_put(j->fp, (uint64_t)(ftello(j->fp) - at), 4);
        fputs("PAR1", j->fp);
    }
    vs_free(t.cell);
    vec_free(t.col);
    vec_free(t.chunk);
    vs_free(t.first);
    arena_fini(&t.mem);
    return st;
}
