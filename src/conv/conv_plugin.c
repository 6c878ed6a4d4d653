/* conv_plugin.c - plug-ins of src/conv, each of which knows a library that vsim does without. */
#include <dlfcn.h>
#include <string.h>

#include "conv_build.h"
#include "conv_priv.h"
#include "io.h"

vs_status conv_plugin_table(conv_job *j, const conv_plugin *of, const void **table)
{
    static const char *const place[] = {".",           "vsim",      CONV_FROM_BIN, "src/conv",
                                        "../src/conv", CONV_LIBDIR, NULL};
    if (!of->built) {
        snprintf(j->why, CONV_WHY, "is %s, which this vsim was built without (%s-dev)", of->format,
                 of->library);
        return VS_EUNSUPPORTED;
    }
    void *lib = plugin_open(of->file, j->o->plugins, place, false);
    const char *const *version = lib ? dlsym(lib, of->symbol) : NULL;
    *table = version;
    if (version && !strcmp(*version, CONV_VERSION))
        return VS_OK;
    if (version)
        snprintf(j->why, CONV_WHY, "is %s, and %s is of another version", of->format, of->file);
    else
        snprintf(j->why, CONV_WHY, "is %s: %s cannot be loaded: it, or %s, is missing", of->format,
                 of->file, of->library);
    return VS_EUNSUPPORTED;
}

vs_status conv_codec_open(conv_job *j, conv_codec codec, const conv_codec_table **t)
{
    static const conv_plugin plugin[CONV_CODECS] = {
        [CONV_ZSTD] = {.built = CONV_HAVE_ZSTD,
                       .format = "Parquet with zstd",
                       .file = "libvsim-zstd.so",
                       .library = "libzstd",
                       .symbol = "conv_zstd"},
        [CONV_BROTLI] = {.built = CONV_HAVE_BROTLI,
                         .format = "Parquet with Brotli",
                         .file = "libvsim-brotli.so",
                         .library = "libbrotli",
                         .symbol = "conv_brotli"}};
    const void *table = NULL;
    const vs_status st = conv_plugin_table(j, &plugin[codec], &table);
    *t = table;
    return st;
}
