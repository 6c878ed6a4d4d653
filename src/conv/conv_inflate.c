/* conv_inflate.c - bytes that another program compressed with zlib or gzip.
 * Source: RFC 1950 (zlib), RFC 1951 (deflate), RFC 1952 (gzip).
 * Codes of deflate are read bit by bit, by the number of codes of each length (canonical Huffman
 * codes): files of results are small enough for that. */
#include <string.h>

#include "conv_priv.h"

enum { MOST_BITS = 15, SYMBOLS = 288, DISTANCES = 30 };

typedef struct inflate {
    const unsigned char *s, *end;
    uint32_t bits; /* read and not yet used, from the lowest */
    int n_bits;
    unsigned char *out; /* [n] of room cap */
    size_t n, cap, most;
    bool bad;
} inflate;

static uint32_t take(inflate *f, int n)
{
    while (f->n_bits < n) {
        f->bad |= f->s >= f->end;
        f->bits |= (f->bad ? 0u : *f->s++) << f->n_bits;
        f->n_bits += 8;
    }
    const uint32_t x = f->bits & ((1u << n) - 1);
    f->bits >>= n;
    f->n_bits -= n;
    return x;
}

static bool room(inflate *f, size_t more)
{
    f->bad |= more > f->most - f->n;
    if (!f->bad && f->cap - f->n < more) {
        f->cap = 2 * f->cap + more + 4096;
        f->out = vs_realloc(f->out, f->cap);
    }
    return !f->bad;
}

typedef struct code {
    int count[MOST_BITS + 1]; /* codes of each length */
    int symbol[SYMBOLS];      /* by length, then by value */
} code;

static void make_code(code *c, const unsigned char *length, int n)
{
    int at[MOST_BITS + 2] = {0};
    memset(c, 0, sizeof *c);
    for (int k = 0; k < n; k++)
        c->count[length[k]]++;
    c->count[0] = 0;
    for (int k = 1; k <= MOST_BITS; k++)
        at[k + 1] = at[k] + c->count[k];
    for (int k = 0; k < n; k++)
        if (length[k])
            c->symbol[at[length[k]]++] = k;
}

static int decode(inflate *f, const code *c)
{
    int value = 0, first = 0, index = 0; /* of the codes of one length */
    for (int k = 1; k <= MOST_BITS && !f->bad; k++) {
        value |= (int)take(f, 1);
        if (value - first < c->count[k])
            return c->symbol[index + value - first];
        index += c->count[k];
        first = 2 * (first + c->count[k]);
        value *= 2;
    }
    f->bad = true;
    return 0;
}

static void copy_back(inflate *f, size_t distance, size_t n)
{
    f->bad |= distance > f->n;
    if (!room(f, n))
        return;
    for (size_t k = 0; k < n; k++, f->n++) /* what is copied may be what was just written */
        f->out[f->n] = f->out[f->n - distance];
}

static void inflate_codes(inflate *f, const code *letters, const code *distances)
{
    static const unsigned short length[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                            15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                            67, 83, 99, 115, 131, 163, 195, 227, 258},
                                length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    for (;;) {
        const int s = decode(f, letters);
        if (f->bad || s == 256)
            return;
        if (s < 256) {
            if (room(f, 1))
                f->out[f->n++] = (unsigned char)s;
            continue;
        }
        f->bad |= s - 257 >= (int)VS_COUNT(length);
        if (f->bad)
            return;
        const size_t n = length[s - 257] + take(f, length_bits[s - 257]);
        const int d = decode(f, distances), bits = d < 2 ? 0 : d / 2 - 1;
        f->bad |= d >= DISTANCES;
        if (f->bad)
            return;
        const size_t base = d < 2 ? (size_t)d + 1 : ((size_t)(2 + d % 2) << bits) + 1;
        copy_back(f, base + take(f, bits), n);
    }
}

static void fixed_codes(code *letters, code *distances)
{
    unsigned char length[SYMBOLS];
    for (int k = 0; k < SYMBOLS; k++)
        length[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
    make_code(letters, length, SYMBOLS);
    memset(length, 5, DISTANCES);
    make_code(distances, length, DISTANCES);
}

static void read_codes(inflate *f, code *letters, code *distances)
{
    static const unsigned char order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char length[SYMBOLS + 32] = {0};
    const int n_letter = 257 + (int)take(f, 5), n_distance = 1 + (int)take(f, 5),
              n_order = 4 + (int)take(f, 4);
    for (int k = 0; k < n_order; k++)
        length[order[k]] = (unsigned char)take(f, 3);
    make_code(letters, length, 19);
    memset(length, 0, sizeof length);
    f->bad |= n_letter > 286 || n_distance > DISTANCES;
    for (int k = 0; k < n_letter + n_distance && !f->bad;) {
        const int s = decode(f, letters);
        int times = 1, value = s;
        if (s == 16) { /* repeats the length before */
            f->bad |= !k;
            value = k ? length[k - 1] : 0;
            times = 3 + (int)take(f, 2);
        } else if (s > 16) {
            value = 0;
            times = s == 17 ? 3 + (int)take(f, 3) : 11 + (int)take(f, 7);
        }
        f->bad |= k + times > n_letter + n_distance;
        for (; times > 0 && !f->bad; times--)
            length[k++] = (unsigned char)value;
    }
    f->bad |= !length[256];
    make_code(distances, length + n_letter, n_distance);
    make_code(letters, length, n_letter);
}

static void stored(inflate *f)
{
    f->s -= f->n_bits / 8; /* whole bytes that were read ahead */
    f->bits = 0;
    f->n_bits = 0;
    if (f->end - f->s < 4) {
        f->bad = true;
        return;
    }
    const size_t n = (size_t)(f->s[0] | f->s[1] << 8), not = (size_t)(f->s[2] | f->s[3] << 8);
    f->s += 4;
    f->bad |= (n ^ not) != 0xffff || n > (size_t)(f->end - f->s);
    if (n && room(f, n)) {
        memcpy(f->out + f->n, f->s, n);
        f->n += n;
        f->s += n;
    }
}

/* The sum behind zlib's bytes: Adler's, the highest byte first. */
static bool adler_is(const inflate *f, const unsigned char *s)
{
    uint32_t a = 1, b = 0;
    for (size_t k = 0; k < f->n; k++) {
        a = (a + f->out[k]) % 65521;
        b = (b + a) % 65521;
    }
    return s[0] == b >> 8 && s[1] == (b & 255) && s[2] == a >> 8 && s[3] == (a & 255);
}

/* The sum behind gzip's bytes: CRC-32, the lowest byte first. */
static bool crc_is(const inflate *f, const unsigned char *s)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t k = 0; k < VS_COUNT(table); k++) {
        table[k] = k;
        for (int bit = 0; bit < 8; bit++)
            table[k] = table[k] >> 1 ^ (table[k] & 1 ? 0xedb88320u : 0);
    }
    for (size_t k = 0; k < f->n; k++)
        crc = crc >> 8 ^ table[(crc ^ f->out[k]) & 255];
    return conv_u32(s) == ~crc;
}

static bool sum_is_right(const inflate *f, conv_wrap wrap)
{
    const unsigned char *s = f->s - f->n_bits / 8; /* whole bytes that were read ahead */
    if (wrap == CONV_ZLIB)
        return f->end - s >= 4 && adler_is(f, s);
    return f->end - s >= 8 && crc_is(f, s) && conv_u32(s + 4) == (uint32_t)f->n;
}

/* zlib: deflate, a window of up to 32 KB, no dictionary. */
static void zlib_head(inflate *f)
{
    const unsigned char *s = f->s;
    f->bad |=
        f->end - s < 6 || (s[0] & 15) != 8 || s[0] >> 4 > 7 || (s[0] << 8 | s[1]) % 31 || s[1] & 32;
    f->s += f->bad ? 0 : 2;
}

/* Passes over a gzip header: fields of known length, two texts that end with 0, and a checksum. */
static void gzip_head(inflate *f)
{
    enum { HAS_SUM = 2, HAS_WORDS = 4, HAS_NAME = 8, HAS_COMMENT = 16, OTHERS = 0xe0 };
    const unsigned char *s = f->s;
    f->bad |= f->end - s < 18 || s[0] != 0x1f || s[1] != 0x8b || s[2] != 8 || s[3] & OTHERS;
    if (f->bad)
        return;
    const int flags = s[3];
    f->s += 10;
    if (flags & HAS_WORDS) {
        const ptrdiff_t n = 2 + (f->s[0] | f->s[1] << 8);
        f->bad |= n > f->end - f->s;
        f->s += f->bad ? 0 : n;
    }
    for (int k = !!(flags & HAS_NAME) + !!(flags & HAS_COMMENT); k > 0 && !f->bad; k--) {
        const unsigned char *zero = memchr(f->s, 0, (size_t)(f->end - f->s));
        f->bad |= !zero;
        f->s = zero ? zero + 1 : f->end;
    }
    f->bad |= f->end - f->s < 2;
    f->s += flags & HAS_SUM && !f->bad ? 2 : 0;
}

unsigned char *conv_inflate(const unsigned char *s, size_t n, conv_wrap wrap, size_t most,
                            size_t *n_out)
{
    inflate f = {.s = s, .end = s + n, .most = most};
    code *c = vs_calloc(2, sizeof *c);
    bool last = false;
    if (wrap == CONV_ZLIB)
        zlib_head(&f);
    else
        gzip_head(&f);
    while (!last && !f.bad) {
        last = take(&f, 1);
        switch (take(&f, 2)) {
        case 0: stored(&f); break;
        case 1:
            fixed_codes(&c[0], &c[1]);
            inflate_codes(&f, &c[0], &c[1]);
            break;
        case 2:
            read_codes(&f, &c[0], &c[1]);
            if (!f.bad)
                inflate_codes(&f, &c[0], &c[1]);
            break;
        default: f.bad = true;
        }
    }
    vs_free(c);
    if (f.bad || !sum_is_right(&f, wrap)) {
        vs_free(f.out);
        return NULL;
    }
    *n_out = f.n;
    return f.out ? f.out : vs_calloc(1, 1);
}
