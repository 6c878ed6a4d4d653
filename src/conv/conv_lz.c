/* conv_lz.c - bytes that Snappy or LZ4 compressed: letters as they are, and copies of what came
 * before.
 * Source: google/snappy, format_description.txt; lz4/lz4, doc/lz4_Block_format.md. */
#include <string.h>

#include "conv_parquet.h"

typedef struct lz {
    const unsigned char *s, *end;
    unsigned char *out; /* [most] */
    size_t n, most;     /* written; at the end */
    bool bad;
} lz;

/* The next `bytes` bytes as a number, the least first. */
static size_t take(lz *z, int bytes)
{
    size_t x = 0;
    z->bad |= z->end - z->s < bytes;
    for (int k = 0; k < bytes && !z->bad; k++)
        x |= (size_t)*z->s++ << 8 * k;
    return x;
}

static void letters(lz *z, size_t n)
{
    z->bad |= n > (size_t)(z->end - z->s) || n > z->most - z->n;
    if (z->bad)
        return;
    memcpy(z->out + z->n, z->s, n);
    z->s += n;
    z->n += n;
}

static void copy_back(lz *z, size_t distance, size_t n)
{
    z->bad |= !distance || distance > z->n || n > z->most - z->n;
    for (size_t k = 0; k < n && !z->bad; k++, z->n++) /* it may be what was just written */
        z->out[z->n] = z->out[z->n - distance];
}

/* Unpacks into n_out bytes; NULL: damaged.  grow  most bytes that one byte can become */
static bool begin(lz *z, const unsigned char *s, size_t n, size_t n_out, size_t grow)
{
    *z = (lz){.s = s, .end = s + n, .most = n_out};
    if (n_out / grow > n)
        return false;
    z->out = vs_calloc(n_out + 1, 1);
    return true;
}

static unsigned char *end(lz *z)
{
    if (!z->bad && z->n == z->most)
        return z->out;
    vs_free(z->out);
    return NULL;
}

static void snappy_element(lz *z)
{
    const size_t tag = take(z, 1), kind = tag & 3;
    size_t n = (tag >> 2) + 1;
    switch (kind) {
    case 0:
        if (n > 60)
            n = take(z, (int)n - 60) + 1;
        letters(z, n);
        break;
    case 1: copy_back(z, (tag >> 5) << 8 | take(z, 1), (tag >> 2 & 7) + 4); break;
    default: copy_back(z, take(z, kind == 2 ? 2 : 4), n);
    }
}

unsigned char *conv_snappy(const unsigned char *s, size_t n, size_t n_out)
{
    lz z;
    size_t told = 0;
    if (!begin(&z, s, n, n_out, 64))
        return NULL;
    for (int shift = 0; shift < 35 && !z.bad; shift += 7) {
        const size_t c = take(&z, 1);
        told |= (c & 127) << shift;
        if (c < 128)
            break;
    }
    z.bad |= told != n_out;
    while (!z.bad && z.s < z.end)
        snappy_element(&z);
    return end(&z);
}

/* A length: 4 bits, and further bytes are added while they are 255. */
static size_t lz4_length(lz *z, size_t n)
{
    size_t c = n == 15 ? 255 : 0;
    while (c == 255 && !z->bad)
        n += c = take(z, 1);
    return n;
}

unsigned char *conv_lz4(const unsigned char *s, size_t n, size_t n_out)
{
    lz z;
    if (!begin(&z, s, n, n_out, 256))
        return NULL;
    while (!z.bad && z.s < z.end) {
        const size_t token = take(&z, 1);
        letters(&z, lz4_length(&z, token >> 4));
        if (z.bad || z.s == z.end) /* the last sequence has literals only */
            break;
        const size_t distance = take(&z, 2);
        copy_back(&z, distance, lz4_length(&z, token & 15) + 4);
    }
    return end(&z);
}
