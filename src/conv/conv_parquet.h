/* conv_parquet.h - between the files of Parquet and of Thrift's compact protocol:
 *     conv_parquet.c       writes
 *     conv_parquet_read.c  reads the table of contents and makes plots
 *     conv_parquet_page.c  reads the pages of a column
 *     conv_thrift.c        reads Thrift
 *     conv_lz.c            bytes that Snappy or LZ4 compressed */
#ifndef CONV_PARQUET_H
#define CONV_PARQUET_H

#include "conv_priv.h"

enum { CODEC_NONE, CODEC_SNAPPY, CODEC_GZIP, CODEC_BROTLI = 4, CODEC_ZSTD = 6, CODEC_LZ4 };
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
    C_STRUCT = 12
};

/* -- reading Thrift -- */

/* The caller walks through the fields and skips those that it does not need, since a tree of all
 * values would be large. After damage all functions return 0, conv_thrift_binary "". */
typedef struct conv_thrift {
    const unsigned char *s, *end; /* what is left */
    bool bad;
    int depth; /* structs and lists being skipped that stand in each other */
} conv_thrift;

uint64_t conv_thrift_varint(conv_thrift *w);
int64_t conv_thrift_zigzag(conv_thrift *w); /* i16, i32, i64 */
/* Reads the head of the next field and returns its type; 0: the struct ends.
 *   id  in/out  0 before the first field; then the field's number */
int conv_thrift_field(conv_thrift *w, int *id);
/* Reads a text into mem. mem NULL: skips it. */
const char *conv_thrift_binary(conv_thrift *w, arena *mem);
/* Reads the head of a list: returns the type of its elements. *n: how many, no more than bytes are
 * left. */
int conv_thrift_list(conv_thrift *w, uint64_t *n);
void conv_thrift_skip(conv_thrift *w, int type);

/* -- columns -- */
/* How the values of a column, and those of its dictionary, are read. */
typedef struct conv_kind {
    int type;         /* T_* */
    int width;        /* bytes of a value; T_BOOLEAN, T_BYTE_ARRAY: 0 */
    int scale;        /* > 0: decimals, times 10 to this power */
    bool decimal;     /* T_FIXED: a whole number, the highest byte first; else 16 bits of float */
    bool has_no_sign; /* T_INT32, T_INT64 */
} conv_kind;
typedef struct conv_column {
    const char *name;
    conv_kind kind;
    bool optional;     /* values may be missing */
    const char *other; /* what it is that is not read; NULL: numbers or text */
    double *x;         /* vec: values, NaN: missing */
    const char **text; /* vec: of T_BYTE_ARRAY instead; "": missing */
} conv_column;

/* A column's part in a group of rows. */
typedef struct conv_chunk {
    int64_t at, values; /* place in the file, in bytes; number of values, missing ones too */
    int codec;          /* Parquet's number: 0 none, 1 Snappy, 2 gzip, 4 Brotli, 6 zstd, 7 LZ4 */
} conv_chunk;

typedef struct conv_pages {
    conv_job *j;
    const unsigned char *file; /* [n] */
    size_t n;
    arena *mem;
    int64_t room; /* values that may still be read: a small file must not fill the memory */
    const conv_codec_table *codec[CONV_CODECS]; /* NULL: no chunk needed it yet */
} conv_pages;

/* Appends the values of a chunk to the column. Status: VS_OK; VS_EINPUT, VS_EUNSUPPORTED (no
 * plug-in for the codec) with j->why; VS_ENOMEM. */
vs_status conv_parquet_chunk(conv_pages *p, conv_column *c, const conv_chunk *from);

/* Unpack s [n], which Snappy (raw format) or LZ4 (block format) compressed, to n_out bytes, for
 * vs_free. NULL: s is damaged, or does not unpack to n_out bytes. */
unsigned char *conv_snappy(const unsigned char *s, size_t n, size_t n_out);
unsigned char *conv_lz4(const unsigned char *s, size_t n, size_t n_out);

#endif
