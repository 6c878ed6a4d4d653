/* conv_brotli.c - bytes that Brotli compressed, in Parquet. The plug-in: nothing else of vsim knows
 * of libbrotlidec. */
#include <brotli/decode.h>

#include "conv_build.h"
#include "conv_priv.h"

extern const conv_codec_table conv_brotli;

static bool lacks_memory(BrotliDecoderErrorCode code)
{
    return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
           code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

static ptrdiff_t unpack(unsigned char *to, size_t room, const unsigned char *s, size_t n)
{
    BrotliDecoderState *d = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!d)
        return -1;
    size_t left = room;
    const BrotliDecoderResult r = BrotliDecoderDecompressStream(d, &n, &s, &left, &to, NULL);
    const bool memory =
        r != BROTLI_DECODER_RESULT_ERROR || !lacks_memory(BrotliDecoderGetErrorCode(d));
    BrotliDecoderDestroyInstance(d);
    return !memory ? -1 : r == BROTLI_DECODER_RESULT_SUCCESS && !n ? (ptrdiff_t)(room - left) : 0;
}

__attribute__((visibility("default")))
const conv_codec_table conv_brotli = {CONV_VERSION, NULL, NULL, unpack};
