/* hash.h - a 128-bit hash of bytes, used as a key in their place: so long that two texts that this
 * program hashes never agree by accident. For keys and checksums of files on disk. It does not
 * protect against files made to deceive.
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
