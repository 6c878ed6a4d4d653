/* conv_zstd.c - bytes that zstd compressed, for Parquet. The plug-in: nothing else of vsim knows of
 * libzstd. */
#include <zstd.h>
#include <zstd_errors.h>

#include "conv_build.h"
#include "conv_priv.h"

extern const conv_codec_table conv_zstd;

static ptrdiff_t done(size_t code)
{
    if (!ZSTD_isError(code))
        return (ptrdiff_t)code;
    return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? -1 : 0;
}

/* Level 3, the library's own default. */
static ptrdiff_t pack(unsigned char *to, size_t room, const unsigned char *s, size_t n)
{
    return done(ZSTD_compress(to, room, s, n, 3));
}

static ptrdiff_t unpack(unsigned char *to, size_t room, const unsigned char *s, size_t n)
{
    return done(ZSTD_decompress(to, room, s, n));
}

static size_t bound(size_t n) { return ZSTD_compressBound(n); }

__attribute__((visibility("default")))
const conv_codec_table conv_zstd = {CONV_VERSION, bound, pack, unpack};
