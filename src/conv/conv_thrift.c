/* conv_thrift.c - reads Thrift's compact protocol.
 * Source: Apache Thrift, "Thrift Compact protocol encoding". */
#include "conv_parquet.h"

uint64_t conv_thrift_varint(conv_thrift *w)
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

int64_t conv_thrift_zigzag(conv_thrift *w)
{
    const uint64_t x = conv_thrift_varint(w);
    return (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
}

int conv_thrift_field(conv_thrift *w, int *id)
{
    if (w->bad || w->s >= w->end) {
        w->bad = true;
        return 0;
    }
    const unsigned char c = *w->s++;
    if (!c)
        return 0;
    const int64_t next = c >> 4 ? *id + (c >> 4) : conv_thrift_zigzag(w);
    w->bad |= next < INT16_MIN || next > INT16_MAX;
    *id = w->bad ? 0 : (int)next;
    return w->bad ? 0 : c & 15;
}

const char *conv_thrift_binary(conv_thrift *w, arena *mem)
{
    const uint64_t n = conv_thrift_varint(w);
    if (w->bad || n > (uint64_t)(w->end - w->s)) {
        w->bad = true;
        return "";
    }
    const char *s = mem ? arena_strndup(mem, (const char *)w->s, n) : "";
    w->s += n;
    return s;
}

int conv_thrift_list(conv_thrift *w, uint64_t *n)
{
    if (w->s >= w->end) {
        w->bad = true;
        return *n = 0;
    }
    const unsigned char c = *w->s++;
    *n = c >> 4 < 15 ? c >> 4 : conv_thrift_varint(w);
    if (*n > (uint64_t)(w->end - w->s)) { /* each has a byte at least */
        w->bad = true;
        *n = 0;
    }
    return c & 15;
}

void conv_thrift_skip(conv_thrift *w, int type)
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
    case C_I64: conv_thrift_varint(w); break;
    case C_DOUBLE:
        w->bad |= w->end - w->s < 8;
        w->s += w->bad ? 0 : 8;
        break;
    case C_BINARY: conv_thrift_binary(w, NULL); break;
    case C_LIST:
    case C_SET:
        of = conv_thrift_list(w, &n);
        for (uint64_t i = 0; i < n && !w->bad; i++)
            conv_thrift_skip(w, of == C_TRUE || of == C_FALSE ? C_BYTE : of);
        break;
    case C_STRUCT:
        while ((of = conv_thrift_field(w, &id)))
            conv_thrift_skip(w, of);
        break;
    default: w->bad = true;
    }
    w->depth--;
}
