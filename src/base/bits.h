/* bits.h - fixed-size bit set in caller's words.
 * Use:    uint64_t *b = arena_array(a, uint64_t, bits_words(n)); */
#ifndef BITS_H
#define BITS_H

#include "vs.h"

#define bits_words(n) (((size_t)(n) + 63) / 64)
static inline bool bits_get(const uint64_t *b, size_t i) { return b[i >> 6] >> (i & 63) & 1; }
static inline void bits_set(uint64_t *b, size_t i) { b[i >> 6] |= (uint64_t)1 << (i & 63); }
static inline void bits_clear(uint64_t *b, size_t i) { b[i >> 6] &= ~((uint64_t)1 << (i & 63)); }
/* a |= b; true if a changed */
static inline bool bits_or(uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t diff = 0;
    for (size_t i = 0; i < words; i++) {
        diff |= b[i] & ~a[i];
        a[i] |= b[i];
    }
    return diff != 0;
}

#endif
