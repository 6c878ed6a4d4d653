/* hash.c - MurmurHash3 x64 128 (A. Appleby, public domain). */
#include "hash.h"

#include <string.h>

static uint64_t rotl(uint64_t x, int r) { return x << r | x >> (64 - r); }

static uint64_t mix(uint64_t k)
{
    k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdu;
    k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53u;
    return k ^ (k >> 33);
}

hash128 hash128_of(const void *bytes, size_t n)
{
    const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;
    const unsigned char *p = bytes;
    uint64_t h1 = 0, h2 = 0;
    for (size_t i = 0; i + 16 <= n; i += 16) {
        uint64_t k1, k2;
        memcpy(&k1, p + i, 8);
        memcpy(&k2, p + i + 8, 8);
        h1 = (rotl(h1 ^ rotl(k1 * c1, 31) * c2, 27) + h2) * 5 + 0x52dce729;
        h2 = (rotl(h2 ^ rotl(k2 * c2, 33) * c1, 31) + h1) * 5 + 0x38495ab5;
    }
    unsigned char tail[16] = {0};
    uint64_t k1, k2;
    if (n % 16)
        memcpy(tail, p + n - n % 16, n % 16);
    memcpy(&k1, tail, 8);
    memcpy(&k2, tail + 8, 8);
    h2 ^= rotl(k2 * c2, 33) * c1;
    h1 ^= rotl(k1 * c1, 31) * c2;
    h1 ^= n;
    h2 ^= n;
    h1 += h2;
    h2 += h1;
    h1 = mix(h1);
    h2 = mix(h2);
    h1 += h2;
    return (hash128){{h1, h2 + h1}};
}
