/* conv_parquet_page.c - reads the pages of a column of Parquet.
 * Source: Apache Parquet format 2.10, "Encodings", "Compression", parquet.thrift (PageHeader).
 * Read: flat columns; pages of version 1 and 2; PLAIN, dictionaries, RLE of booleans, the three
 *       DELTA encodings, BYTE_STREAM_SPLIT; Snappy, gzip, LZ4, zstd and
 *       Brotli (by plug-ins) or nothing. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "conv_parquet.h"

enum { DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_2 };
enum {
    PLAIN,
    PLAIN_DICTIONARY = 2,
    RLE,
    DELTA_BINARY_PACKED = 5,
    DELTA_LENGTH_BYTE_ARRAY,
    DELTA_BYTE_ARRAY,
    RLE_DICTIONARY,
    BYTE_STREAM_SPLIT
};
static const char *const codec_names[] = {"", "", "", "LZO", "", "Hadoop's LZ4", "", ""};
static const char *const encoding_names[] = {
    "PLAIN",         "encoding 1",          "PLAIN_DICTIONARY",        "RLE",
    "BIT_PACKED",    "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY"};
typedef struct page {
    int kind, encoding;
    int64_t bytes, whole; /* bytes of the page: in the file; uncompressed, with its levels */
    int64_t n, levels;    /* values; bytes of levels in front, in pages of version 2 */
    bool packed;          /* the codec compressed the bytes behind the levels */
} page;

typedef struct chunk {
    conv_pages *p;
    conv_column *c;
    int codec;
    conv_column words; /* the dictionary: values as those of a column */
} chunk;

static vs_status damaged(const chunk *k)
{
    return conv_fail(k->p->j, "has a damaged page in column '%s'", k->c->name);
}

/* -- heads of pages -- */

/* Fields of DataPageHeader (1, 2), DictionaryPageHeader (1, 2) or DataPageHeaderV2 (1, 4 to 7). */
static void read_inner(conv_thrift *w, page *g, int head)
{
    int id = 0, type;
    while ((type = conv_thrift_field(w, &id)))
        if (id == 1 && type == C_I32)
            g->n = conv_thrift_zigzag(w);
        else if (id == (head == 8 ? 4 : 2) && type == C_I32)
            g->encoding = (int)conv_thrift_zigzag(w);
        else if (head == 8 && (id == 5 || id == 6) && type == C_I32)
            g->levels += conv_thrift_zigzag(w) & INT32_MAX;
        else if (head == 8 && id == 7)
            g->packed = type == C_TRUE;
        else
            conv_thrift_skip(w, type);
}

static page read_head(conv_thrift *w)
{
    page g = {.kind = -1, .encoding = -1, .bytes = -1, .whole = -1, .n = -1, .packed = true};
    int id = 0, type;
    while ((type = conv_thrift_field(w, &id)))
        if (id <= 3 && type == C_I32)
            *(id == 1   ? &(int64_t){0}
              : id == 2 ? &g.whole
                        : &g.bytes) =
                id == 1 ? g.kind = (int)conv_thrift_zigzag(w) : conv_thrift_zigzag(w);
        else if ((id == 5 || id == 7 || id == 8) && type == C_STRUCT)
            read_inner(w, &g, id);
        else
            conv_thrift_skip(w, type);
    return g;
}

/* -- levels and indices: a hybrid of runs and of bits -- */

/* Reads n numbers of `bits` bits each; for vs_free. */
static uint32_t *read_hybrid(conv_thrift *in, int bits, int64_t n)
{
    uint32_t *to = vs_calloc((size_t)n + 1, sizeof *to);
    const int bytes = (bits + 7) / 8;
    in->bad |= bits > 32;
    for (int64_t k = 0; k < n && !in->bad;) {
        const uint64_t head = conv_thrift_varint(in);
        const int64_t run = (int64_t)(head >> 1 < (uint64_t)n ? head >> 1 : (uint64_t)n);
        in->bad |= !run;
        if (head & 1) { /* groups of eight, the lowest bit first */
            const int64_t left = in->end - in->s;
            for (int64_t i = 0; i < 8 * run && k < n; i++, k++)
                for (int b = 0; b < bits; b++) {
                    const int64_t at = i * bits + b;
                    in->bad |= at / 8 >= left;
                    to[k] |= in->bad ? 0 : (uint32_t)(in->s[at / 8] >> at % 8 & 1) << b;
                }
            in->s += run * bits < left ? run * bits : left;
        } else if (in->end - in->s >= bytes) {
            uint32_t value = 0;
            for (int b = 0; b < bytes; b++)
                value |= (uint32_t)*in->s++ << 8 * b;
            for (int64_t i = 0; i < run && k < n; i++)
                to[k++] = value;
        } else {
            in->bad = true;
        }
    }
    return to;
}

/* A reader of the next `bytes` bytes alone; `in` goes on behind them. */
static conv_thrift part(conv_thrift *in, uint64_t bytes)
{
    if (bytes > (uint64_t)(in->end - in->s)) {
        in->bad = true;
        bytes = 0;
    }
    conv_thrift w = {.s = in->s, .end = in->s + bytes, .bad = in->bad};
    in->s += bytes;
    return w;
}

static conv_thrift part_with_length(conv_thrift *in)
{
    conv_thrift length = part(in, 4);
    return part(in, length.bad ? 0 : conv_u32(length.s));
}

/* -- differences -- */

/* n bits, 64 at most, from bit `at` on; the lowest comes first. */
static uint64_t bits_at(const unsigned char *s, uint64_t at, int n)
{
    uint64_t x = 0;
    for (int got = 0, take; got < n; got += take, at += (uint64_t)take) {
        const int skip = (int)(at % 8);
        take = 8 - skip < n - got ? 8 - skip : n - got;
        x |= (uint64_t)(s[at / 8] >> skip & ((1 << take) - 1)) << got;
    }
    return x;
}

/* Reads n numbers of DELTA_BINARY_PACKED, modulo 2^64; for vs_free. Blocks have their least
 * difference, then the differences above it in miniblocks of a number of bits each. */
static uint64_t *read_deltas(conv_thrift *in, int64_t n)
{
    uint64_t *to = vs_calloc((size_t)n + 1, sizeof *to);
    if (!n)
        return to;
    const uint64_t block = conv_thrift_varint(in), minis = conv_thrift_varint(in),
                   count = conv_thrift_varint(in), most = INT32_MAX;
    to[0] = (uint64_t)conv_thrift_zigzag(in);
    in->bad |= count != (uint64_t)n || !minis || minis > most || block > most || block % minis ||
               block / minis % 8;
    const uint64_t each = in->bad ? 0 : block / minis;
    in->bad |= !each;
    for (int64_t k = 1; k < n && !in->bad;) {
        const uint64_t least = (uint64_t)conv_thrift_zigzag(in);
        const conv_thrift width = part(in, minis);
        for (uint64_t m = 0; m < minis && k < n && !in->bad; m++) {
            const int bits = width.s[m];
            in->bad |= bits > 64;
            const conv_thrift mini = part(in, in->bad ? 0 : each / 8 * (uint64_t)bits);
            for (uint64_t i = 0; i < each && k < n && !in->bad; i++, k++)
                to[k] = to[k - 1] + least + bits_at(mini.s, i * (uint64_t)bits, bits);
        }
    }
    return to;
}

/* -- values -- */

/* 16 bits: a sign, 5 of the exponent, 10 of the number. */
static double half(uint32_t u)
{
    const int exponent = u >> 10 & 31, bits = u & 1023;
    const double x = exponent == 31
                         ? (bits ? NAN : INFINITY)
                         : ldexp(exponent ? 1024 + bits : bits, exponent ? exponent - 25 : -24);
    return u >> 15 ? -x : x;
}

/* A whole number, the highest byte first; of many digits the last ones are lost. */
static double whole_number(const unsigned char *s, int bytes, size_t apart)
{
    double x = (int8_t)s[0];
    for (int i = 1; i < bytes; i++)
        x = 256 * x + s[(size_t)i * apart];
    return x;
}

/* The number whose bytes stand at s, s + apart, s + 2 apart, ... */
static double number(const conv_kind *kind, const unsigned char *s, size_t apart)
{
    unsigned char b[8] = {0};
    double x;
    float f;
    for (int i = 0; i < kind->width && i < 8; i++)
        b[i] = s[(size_t)i * apart];
    const uint64_t u = conv_u64(b);
    const uint32_t u32 = (uint32_t)u;
    memcpy(&x, &u, sizeof x);
    memcpy(&f, &u32, sizeof f);
    switch (kind->type) {
    case T_INT32: x = kind->has_no_sign ? u32 : (double)(int32_t)u32; break;
    case T_INT64: x = kind->has_no_sign ? (double)u : (double)(int64_t)u; break;
    case T_FLOAT: return (double)f;
    case T_FIXED: x = kind->decimal ? whole_number(s, kind->width, apart) : half(u32); break;
    default: break;
    }
    return kind->scale ? x / pow(10, kind->scale) : x;
}

static void put_missing(conv_column *c)
{
    if (c->kind.type == T_BYTE_ARRAY)
        vec_push(c->text, "");
    else
        vec_push(c->x, NAN);
}

/* Appends value i of a page without dictionary. */
static void put_plain(chunk *k, conv_column *c, conv_thrift *in, int64_t i)
{
    if (c->kind.type == T_BYTE_ARRAY) {
        const conv_thrift text = part_with_length(in);
        vec_push(c->text,
                 arena_strndup(k->p->mem, (const char *)text.s, (size_t)(text.end - text.s)));
    } else if (c->kind.type == T_BOOLEAN) {
        in->bad |= i / 8 >= in->end - in->s;
        vec_push(c->x, in->bad ? NAN : in->s[i / 8] >> i % 8 & 1);
    } else {
        const conv_thrift x = part(in, (uint64_t)c->kind.width);
        vec_push(c->x, x.bad ? NAN : number(&c->kind, x.s, 1));
    }
}

static void put_plains(chunk *k, conv_column *c, conv_thrift *in, const uint32_t *there, int64_t n)
{
    for (int64_t i = 0, m = 0; i < n && !in->bad; i++)
        if (!there || there[i])
            put_plain(k, c, in, m++);
        else
            put_missing(c);
}

/* Appends n values, `present` of which are there: indices of words of the dictionary, or booleans,
 * which are their own values. */
static void put_indices(chunk *k, conv_thrift *in, int bits, const uint32_t *there, int64_t n,
                        int64_t present)
{
    conv_column *c = k->c;
    const bool text = c->kind.type == T_BYTE_ARRAY, words = c->kind.type != T_BOOLEAN;
    const size_t size = text ? vec_len(k->words.text) : vec_len(k->words.x);
    uint32_t *index = read_hybrid(in, bits, present);
    for (int64_t i = 0, m = 0; i < n && !in->bad; i++) {
        if (there && !there[i]) {
            put_missing(c);
            continue;
        }
        const uint32_t at = index[m++];
        in->bad |= words && at >= size;
        if (in->bad)
            break;
        if (text)
            vec_push(c->text, k->words.text[at]);
        else
            vec_push(c->x, words ? k->words.x[at] : at);
    }
    vs_free(index);
}

static void put_deltas(chunk *k, conv_thrift *in, const uint32_t *there, int64_t n, int64_t present)
{
    conv_column *c = k->c;
    in->bad |= c->kind.type != T_INT32 && c->kind.type != T_INT64;
    uint64_t *x = in->bad ? NULL : read_deltas(in, present);
    for (int64_t i = 0, m = 0; i < n && !in->bad; i++) {
        if (there && !there[i]) {
            put_missing(c);
            continue;
        }
        unsigned char b[8];
        for (int at = 0; at < 8; at++)
            b[at] = (unsigned char)(x[m] >> 8 * at);
        vec_push(c->x, number(&c->kind, b, 1));
        m++;
    }
    vs_free(x);
}

/* Appends values that are n bytes at s; `same`: those of the value before. */
static void put_bytes(chunk *k, conv_column *c, const unsigned char *s, size_t n, bool same)
{
    if (c->kind.type == T_FIXED) {
        vec_push(c->x, number(&c->kind, s, 1));
    } else {
        const char *text = same ? vec_last(c->text) : arena_strndup(k->p->mem, (const char *)s, n);
        vec_push(c->text, text);
    }
}

/* Appends values from DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes; of DELTA_BYTE_ARRAY in
 * front of these how many bytes each has in common with the one before. What a value repeats counts
 * as values that are read: a few bytes could stand for very many. */
static void put_arrays(chunk *k, conv_thrift *in, const uint32_t *there, int64_t n, int64_t present,
                       bool prefixes)
{
    conv_column *c = k->c;
    const bool fixed = c->kind.type == T_FIXED;
    in->bad |= c->kind.type != T_BYTE_ARRAY && !(fixed && prefixes);
    uint64_t *prefix = prefixes && !in->bad ? read_deltas(in, present) : NULL;
    uint64_t *length = in->bad ? NULL : read_deltas(in, present);
    unsigned char *last = NULL; /* vec */
    for (int64_t i = 0, m = 0; i < n && !in->bad; i++) {
        if (there && !there[i]) {
            put_missing(c);
            continue;
        }
        const uint64_t had = vec_len(last), common = prefix ? prefix[m] : 0;
        const conv_thrift rest = part(in, length[m]);
        const bool same = m && common == had && rest.s == rest.end && !(there && !there[i - 1]);
        const int64_t cost = fixed || same ? 0 : (int64_t)(common / sizeof(double));
        in->bad |= common > had || (fixed && common + length[m] != (uint64_t)c->kind.width) ||
                   cost > k->p->room;
        if (in->bad)
            break;
        k->p->room -= cost;
        if (last)
            vec_head_of(last)->len = (size_t)common;
        for (const unsigned char *s = rest.s; s < rest.end; s++)
            vec_push(last, *s);
        put_bytes(k, c, last ? last : (const unsigned char *)"", vec_len(last), same);
        m++;
    }
    vec_free(last);
    vs_free(prefix);
    vs_free(length);
}

/* Appends values from BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, ...
 * */
static void put_split(chunk *k, conv_thrift *in, const uint32_t *there, int64_t n, int64_t present)
{
    conv_column *c = k->c;
    in->bad |= !c->kind.width || present > (in->end - in->s) / c->kind.width;
    for (int64_t i = 0, m = 0; i < n && !in->bad; i++)
        if (!there || there[i])
            vec_push(c->x, number(&c->kind, in->s + m++, (size_t)present));
        else
            put_missing(c);
}

/* -- pages -- */

static vs_status put_values(chunk *k, const page *g, conv_thrift *in, const uint32_t *there)
{
    int64_t present = 0;
    for (int64_t i = 0; i < g->n; i++)
        present += !there || there[i];
    if (g->encoding == PLAIN) {
        put_plains(k, k->c, in, there, g->n);
    } else if (g->encoding == PLAIN_DICTIONARY || g->encoding == RLE_DICTIONARY) {
        const conv_thrift bits = part(in, in->s < in->end); /* empty: all values are missing */
        in->bad |= present && bits.s == bits.end;
        put_indices(k, in, bits.s < bits.end ? *bits.s : 0, there, g->n, present);
    } else if (g->encoding == RLE && k->c->kind.type == T_BOOLEAN) {
        conv_thrift w = part_with_length(in);
        put_indices(k, &w, 1, there, g->n, present);
        in->bad |= w.bad;
    } else if (g->encoding == DELTA_BINARY_PACKED) {
        put_deltas(k, in, there, g->n, present);
    } else if (g->encoding == DELTA_LENGTH_BYTE_ARRAY || g->encoding == DELTA_BYTE_ARRAY) {
        put_arrays(k, in, there, g->n, present, g->encoding == DELTA_BYTE_ARRAY);
    } else if (g->encoding == BYTE_STREAM_SPLIT) {
        put_split(k, in, there, g->n, present);
    } else {
        const bool known = g->encoding >= 0 && g->encoding < (int)VS_COUNT(encoding_names);
        return conv_fail(k->p->j,
                         "has column '%s' as %s: write it as PLAIN or with dictionaries (pyarrow: "
                         "without column_encoding)",
                         k->c->name, known ? encoding_names[g->encoding] : "an unknown encoding");
    }
    return in->bad ? damaged(k) : VS_OK;
}

static vs_status read_values(chunk *k, const page *g, const unsigned char *levels,
                             const unsigned char *s, size_t n)
{
    conv_thrift in = {.s = s, .end = s + n};
    uint32_t *there = NULL;
    if (g->kind == DICTIONARY_PAGE) {
        vec_free(k->words.x);
        vec_free(k->words.text);
        k->words = (conv_column){.kind = k->c->kind};
        put_plains(k, &k->words, &in, NULL, g->n);
        return in.bad ? damaged(k) : VS_OK;
    }
    if (k->c->optional) {
        conv_thrift w = {.s = levels, .end = levels + g->levels};
        if (g->kind == DATA_PAGE)
            w = part_with_length(&in);
        there = read_hybrid(&w, 1, g->n);
        in.bad |= w.bad;
    }
    const vs_status st = in.bad ? damaged(k) : put_values(k, g, &in, there);
    vs_free(there);
    return st;
}

/* false: no plug-in is needed. */
static bool plugin_of(int codec, conv_codec *by)
{
    *by = codec == CODEC_ZSTD ? CONV_ZSTD : CONV_BROTLI;
    return codec == CODEC_ZSTD || codec == CODEC_BROTLI;
}

/* Unpacks s [n] to `whole` bytes, for vs_free. NULL: damaged, or out of memory (*memory is false).
 * A block has 3 bytes at least (zstd), or 2 (Brotli), and holds 128 KiB at most, or 16 MiB: more
 * than that is damage. */
static unsigned char *unpacked_by(const conv_codec_table *t, conv_codec codec,
                                  const unsigned char *s, size_t n, size_t whole, bool *memory)
{
    const size_t block = codec == CONV_ZSTD ? 1 << 17 : 1 << 24;
    if (whole > (n / (codec == CONV_ZSTD ? 3 : 2) + 1) * block)
        return NULL;
    unsigned char *out = vs_malloc(whole + 1);
    const ptrdiff_t got = t->unpack(out, whole, s, n);
    *memory = got >= 0;
    if (got == (ptrdiff_t)whole)
        return out;
    vs_free(out);
    return NULL;
}

/* The same for the other codecs. */
static unsigned char *unpacked(int codec, const unsigned char *s, size_t n, size_t whole)
{
    size_t got = 0;
    if (codec == CODEC_SNAPPY)
        return conv_snappy(s, n, whole);
    if (codec == CODEC_LZ4)
        return conv_lz4(s, n, whole);
    assert(codec == CODEC_GZIP);
    unsigned char *out = conv_inflate(s, n, CONV_GZIP, whole, &got);
    if (out && got != whole) {
        vs_free(out);
        return NULL;
    }
    return out;
}

static vs_status read_page(chunk *k, const page *g, const unsigned char *s)
{
    const size_t n = (size_t)(g->bytes - g->levels), whole = (size_t)(g->whole - g->levels);
    if (!k->codec || !g->packed || !n)
        return read_values(k, g, s, s + g->levels, n);
    bool memory = true;
    conv_codec by;
    unsigned char *out = plugin_of(k->codec, &by)
                             ? unpacked_by(k->p->codec[by], by, s + g->levels, n, whole, &memory)
                             : unpacked(k->codec, s + g->levels, n, whole);
    if (!memory)
        return VS_ENOMEM;
    const vs_status st = out ? read_values(k, g, s, out, whole) : damaged(k);
    vs_free(out);
    return st;
}

static vs_status read_pages(chunk *k, const conv_chunk *from)
{
    conv_thrift w = {.s = k->p->file + from->at, .end = k->p->file + k->p->n};
    int64_t values = from->values;
    while (values > 0) {
        const page g = read_head(&w);
        if (w.bad || g.bytes < 0 || g.bytes > w.end - w.s || g.whole < g.levels ||
            g.bytes < g.levels || g.whole > INT32_MAX)
            return damaged(k);
        if (g.kind == DATA_PAGE || g.kind == DATA_PAGE_2 || g.kind == DICTIONARY_PAGE) {
            const bool data = g.kind != DICTIONARY_PAGE;
            if (g.n > k->p->room)
                return conv_fail(k->p->j, "has more values than a file of its size is read with");
            if (g.n < !!data || (data && g.n > values) ||
                (!data && g.encoding != PLAIN && g.encoding != PLAIN_DICTIONARY))
                return damaged(k);
            k->p->room -= g.n;
            values -= data ? g.n : 0;
            const vs_status st = read_page(k, &g, w.s);
            if (st)
                return st;
        }
        w.s += g.bytes;
    }
    return VS_OK;
}

vs_status conv_parquet_chunk(conv_pages *p, conv_column *c, const conv_chunk *from)
{
    const bool known = from->codec >= 0 && from->codec < (int)VS_COUNT(codec_names);
    chunk k = {.p = p, .c = c, .codec = from->codec};
    if (!known || *codec_names[from->codec])
        return conv_fail(p->j,
                         "is compressed with %s: write it with Snappy, gzip, LZ4, zstd, Brotli "
                         "or without "
                         "(pyarrow: compression='snappy')",
                         known ? codec_names[from->codec] : "what is not known here");
    if (from->at < 0 || (uint64_t)from->at > p->n)
        return damaged(&k);
    conv_codec by;
    vs_status st = VS_OK;
    if (plugin_of(k.codec, &by) && !p->codec[by])
        st = conv_codec_open(p->j, by, &p->codec[by]);
    if (!st)
        st = read_pages(&k, from);
    vec_free(k.words.x);
    vec_free(k.words.text);
    return st;
}
