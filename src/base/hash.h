/* hash.h - a hash of bytes that may stand for them: 128 bits, so that among all that this program
 * ever hashes no two are equal by accident. For keys and sums of files on disk; not against those
 * who make files to deceive.
 * Use:    hash128 key = hash128_of(bytes, n); compared as bytes. */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct hash128 {
    uint64_t w[2];
} hash128;
hash128 hash128_of(const void *bytes, size_t n);

#endif
